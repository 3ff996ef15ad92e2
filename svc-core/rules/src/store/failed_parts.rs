//! The failed parts of a helper request, which a repeated request executes again.
//!
//! Requirements: IDM-02, ERR-29.

use std::fmt;

use super::WriteOutcome;
use crate::{
    helper::{ActionFunctions, EntryStatus},
    model::Kind,
    record::RawRecord,
    value::Id,
};

/// The parts of a helper request that failed, and the records that it has written.
///
/// A [`ResponseRecorder`](super::ResponseRecorder) stores it with the response.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedParts {
    /// The person of the request.
    pub person: Option<WrittenRecord>,
    /// The action of the request.
    pub action: Option<WrittenRecord>,
    /// Whether each tag of the request failed.
    pub tags: Vec<bool>,
    /// Whether each list of the request failed.
    pub lists: Vec<bool>,
    /// Whether each answer of the request failed.
    pub answers: Vec<bool>,
    /// The people whose data the response may contain.
    ///
    /// Requirements: IDM-08.
    pub people: Vec<Id>,
}

/// A record that a helper request has written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrittenRecord {
    /// The id.
    pub id: Id,
    /// Whether the request created it.
    pub is_new: bool,
}

impl FailedParts {
    /// Returns the failed parts of an outcome with the people of its response, or `None` if nothing
    /// failed.
    pub(super) fn from_outcome(outcome: &WriteOutcome, people: &[Id]) -> Option<Self> {
        let (WriteOutcome::HelperDone(outcome) | WriteOutcome::Resumed(outcome)) = outcome else {
            return None;
        };
        let are_failed = |kind| {
            let entries = outcome.entries.iter().filter(|entry| entry.kind == kind);
            entries
                .map(|entry| matches!(entry.status, EntryStatus::Failed(_)))
                .collect()
        };
        let written = |record: &RawRecord| WrittenRecord {
            id: record.meta().id.clone(),
            is_new: outcome.was_created(record.kind()),
        };
        let parts = Self {
            person: outcome.person.as_ref().map(written),
            action: outcome.action.as_ref().map(written),
            tags: are_failed(Kind::Tagging),
            lists: are_failed(Kind::Item),
            answers: are_failed(Kind::Answer),
            people: people.to_vec(),
        };
        outcome.has_failures().then_some(parts)
    }

    /// Parses the text form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let [person, action, tags, lists, answers, people] = std::array::from_fn(|_| words.next());
        let written = |text: &str| {
            let (id, is_new) = match text.strip_prefix('+') {
                Some(id) => (id, true),
                None => (text, false),
            };
            Id::new(id).map(|id| WrittenRecord { id, is_new })
        };
        let written = |text: &str| match text {
            "" => Some(None),
            text => written(text).map(Some),
        };
        let flags = |text: &str| text.bytes().map(|flag| flag == b'1').collect();
        Some(Self {
            person: written(person?)?,
            action: written(action?)?,
            tags: flags(tags?),
            lists: flags(lists?),
            answers: flags(answers?),
            people: people?
                .split_terminator(',')
                .map(Id::new)
                .collect::<Option<_>>()?,
        })
    }

    /// Returns the kind of each part and whether it failed, in the order of a report.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Kind, bool)> {
        let parts = [
            (Kind::Tagging, &self.tags),
            (Kind::Item, &self.lists),
            (Kind::Answer, &self.answers),
        ];
        parts
            .into_iter()
            .flat_map(|(kind, flags)| flags.iter().map(move |flag| (kind, *flag)))
    }

    /// Returns those functions of the request that failed. `None` if the request has other
    /// functions, because the server supports others than before.
    pub(crate) fn select(&self, functions: &ActionFunctions) -> Option<ActionFunctions> {
        let mut failed = ActionFunctions::default();
        failed.tags = select(&functions.tags, &self.tags)?;
        failed.lists = select(&functions.lists, &self.lists)?;
        failed.responses = select(&functions.responses, &self.answers)?;
        Some(failed)
    }
}

fn select<T: Clone>(all: &[T], are_failed: &[bool]) -> Option<Vec<T>> {
    let failed = all.iter().zip(are_failed).filter(|(_, failed)| **failed);
    (all.len() == are_failed.len()).then(|| failed.map(|(part, _)| part.clone()).collect())
}

impl fmt::Display for FailedParts {
    /// Writes the text form, with a space between two fields: the two ids, with `+` before that of a
    /// new record, a digit for each part, `1` if it failed, and the people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for written in [&self.person, &self.action] {
            if let Some(WrittenRecord { id, is_new }) = written {
                write!(f, "{}{}", if *is_new { "+" } else { "" }, id.as_str())?;
            }
            write!(f, " ")?;
        }
        let digits = |flags: &[bool]| -> String {
            let digit = |failed: &bool| if *failed { '1' } else { '0' };
            flags.iter().map(digit).collect()
        };
        let (tags, lists) = (digits(&self.tags), digits(&self.lists));
        write!(f, "{tags} {lists} {} ", digits(&self.answers))?;
        self.people
            .iter()
            .try_for_each(|person| write!(f, "{},", person.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        helper::{GroupRef, RawHelperOutcome},
        record::Meta,
        value::Timestamp,
    };

    fn outcome(entries: &[(Kind, EntryStatus)]) -> WriteOutcome {
        let meta = Meta::new(7.into(), Timestamp::from_micros(0));
        let mut outcome = RawHelperOutcome::default();
        outcome.person = Some(RawRecord::from_wire(
            Kind::Person,
            meta,
            bytes::Bytes::new(),
        ));
        for (kind, status) in entries {
            outcome.entry(*kind, status.clone());
        }
        WriteOutcome::HelperDone(outcome)
    }

    fn failed() -> EntryStatus {
        EntryStatus::Failed(Vec::new())
    }

    #[test]
    fn idm_02_failed_functions_are_failed_parts() {
        let (person, done) = ((Kind::Person, EntryStatus::Created), EntryStatus::Existing);
        let outcome = |entries: &[(Kind, EntryStatus)]| {
            let outcome = outcome(&[std::slice::from_ref(&person), entries].concat());
            FailedParts::from_outcome(&outcome, &[7.into(), 8.into()])
        };
        let parts = outcome(&[
            (Kind::Tagging, done.clone()),
            (Kind::Tagging, failed()),
            (Kind::Answer, failed()),
        ])
        .unwrap();
        assert_eq!(parts.to_string(), "+7  01  1 7,8,");
        assert_eq!(FailedParts::parse(&parts.to_string()), Some(parts));
        assert_eq!(outcome(&[(Kind::Tagging, done)]), None, "nothing failed");
        let parts = FailedParts::parse("7 +8 1   7,").unwrap();
        let is_new = |written: Option<WrittenRecord>| written.unwrap().is_new;
        assert_eq!((is_new(parts.person), is_new(parts.action)), (false, true));
        for damaged in ["", "7", "7  01  1", "?  01  1 7,", "+  01  1 7,"] {
            assert_eq!(FailedParts::parse(damaged), None, "{damaged}");
        }
    }

    #[test]
    fn idm_02_only_failed_functions_are_selected() {
        let parts = FailedParts::parse("7  01   ").unwrap();
        let mut functions = ActionFunctions::default();
        functions.tags = vec!["a".into(), "b".into()];
        let selected = parts.select(&functions).unwrap();
        assert_eq!(selected.tags, [GroupRef::from("b")]);
        functions.lists = vec!["c".into()];
        assert!(parts.select(&functions).is_none(), "lists were unsupported");
    }
}
