//! Formats results of a store as text that is equal for equal stores. Ids and dates are replaced by
//! numbers, in the order of their first appearance.

use std::{collections::HashMap, fmt::Write as _, sync::Arc};

use svc_core::{
    error::{Error, ErrorKind, PropertyPath},
    helper::EntryStatus,
    link::{RecordAddress, ShareNames},
    record::RawRecord,
    schema::ComputedSource,
    store::WriteOutcome,
    value::{Id, Timestamp},
};

use super::coverage::{Exclusion, Exclusions, in_name_order};

/// The numbers for the ids and dates that one store has returned for one tenant.
#[derive(Debug, Default, Clone)]
pub(super) struct Ordinals {
    ids: HashMap<Id, usize>,
    /// The numbers of dates; with [`Exclusion::SharedDates`], of the dates of each record.
    dates: HashMap<(Option<Id>, Timestamp), usize>,
    pub(super) exclusions: Arc<Exclusions>,
}

impl Ordinals {
    fn id(&mut self, id: &Id) -> usize {
        let next = self.ids.len();
        *self.ids.entry(id.clone()).or_insert(next)
    }

    fn date(&mut self, of: &Id, date: Timestamp) -> usize {
        let next = self.dates.len();
        let of = self
            .exclusions
            .has(Exclusion::SharedDates)
            .then(|| of.clone());
        *self.dates.entry((of, date)).or_insert(next)
    }

    fn address(&mut self, at: &RecordAddress) -> String {
        let parent = at
            .parent
            .as_ref()
            .map(|parent| format!(" in #{}", self.id(parent)));
        format!(
            "{} #{}{}",
            at.kind.singular(),
            self.id(&at.id),
            parent.unwrap_or_default()
        )
    }

    /// Formats a record with everything that a response contains.
    pub(super) fn record(&mut self, record: &RawRecord) -> String {
        let meta = record.meta();
        let (at, created, modified) = (
            self.address(&record.address()),
            self.date(&meta.id, meta.created),
            self.date(&meta.id, meta.modified),
        );
        let mut fields: Vec<String> = record
            .to_fields_lossy(&ShareNames::default())
            .iter()
            .map(|(name, value)| {
                if self.exclusions.has(Exclusion::MemberOrder) {
                    format!("{name}: {}", in_name_order(value))
                } else {
                    format!("{name}: {value}")
                }
            })
            .collect();
        fields.sort_unstable();
        let mut text = format!(
            "{at} ({created}, {modified}) [{}] {{{}}}",
            meta.identifiers.as_json(),
            fields.join(", ")
        );
        let schema = record.kind().schema();
        let exclusions = Arc::clone(&self.exclusions);
        for reference in schema.references().iter().filter(|reference| {
            reference.is_link && exclusions.compares_reference(record.kind(), reference)
        }) {
            if let Some(to) = record.link(reference.name) {
                let to = self.address(to);
                // Writing to a string cannot fail.
                _ = write!(text, " {} -> {to}", reference.name);
            }
        }
        for source in schema
            .fields
            .fields
            .iter()
            .filter_map(svc_core::schema::FieldSpec::source)
        {
            if source != ComputedSource::Clock
                && exclusions.compares_computed(source)
                && let Some(value) = record.computed_value(source)
            {
                _ = write!(text, " {value:?}");
            }
        }
        text
    }

    pub(super) fn found(&mut self, record: Option<&RawRecord>) -> String {
        record.map_or_else(|| "nothing".to_owned(), |record| self.record(record))
    }

    pub(super) fn outcome(&mut self, outcome: &Result<WriteOutcome, Error>) -> String {
        match outcome {
            Ok(outcome) => self.success(outcome),
            Err(error) => refusal(error),
        }
    }

    fn success(&mut self, outcome: &WriteOutcome) -> String {
        match outcome {
            WriteOutcome::Created { record, is_new } => {
                format!("created ({is_new}) {}", self.record(record))
            }
            WriteOutcome::Updated(record) => format!("updated {}", self.found(record.as_ref())),
            WriteOutcome::Deleted(is_gone) => format!("deleted {is_gone}"),
            WriteOutcome::Merged(merged) => {
                let mut text = format!(
                    "merged {} (preview {}, repeated {}) {}; moved {:?}",
                    self.address(&merged.merged),
                    merged.is_preview,
                    merged.is_repeated,
                    self.record(&merged.person),
                    merged.moved,
                );
                for pair in &merged.folded {
                    let (one, other) = (self.address(&pair.remaining), self.address(&pair.merged));
                    _ = write!(text, "; {other} folded into {one}");
                }
                let overruled = merged.overruled.iter().map(|it| it.property.to_string());
                let tightened = merged.tightened.iter().map(|it| it.property.to_string());
                let mut all: Vec<String> = overruled.chain(tightened).collect();
                if self.exclusions.has(Exclusion::MemberOrder) {
                    all.sort_unstable();
                }
                let undo = merged.undo.as_ref().map(|it| (&it.key_name, it.is_latest));
                format!("{text}; {all:?}; {undo:?}")
            }
            WriteOutcome::MergeUndone(undone) => {
                let mut text = format!(
                    "merge undone {}; {}; moved {:?}",
                    self.record(&undone.person),
                    self.record(&undone.restored),
                    undone.moved,
                );
                for pair in &undone.folded {
                    let (one, other) = (self.address(&pair.remaining), self.address(&pair.merged));
                    _ = write!(text, "; {other} separated from {one}");
                }
                let left: Vec<String> = undone.left.iter().map(PropertyPath::to_string).collect();
                format!("{text}; left {left:?}")
            }
            WriteOutcome::Replayed(answer) => {
                format!("stored response: {}", String::from_utf8_lossy(answer))
            }
            WriteOutcome::Warned(outcome, warnings) => {
                let mut text = self.success(outcome);
                for warning in warnings {
                    let other = warning.other.as_ref().map(|other| self.address(other));
                    _ = write!(
                        text,
                        "; {} {:?} {other:?}",
                        warning.code, warning.properties
                    );
                }
                text
            }
            WriteOutcome::HelperDone(helped) | WriteOutcome::Resumed(helped) => {
                let mut text = String::from("helped");
                for entry in &helped.entries {
                    let status = match &entry.status {
                        EntryStatus::Failed(problems) => {
                            let codes: Vec<String> = problems
                                .iter()
                                .map(|problem| {
                                    format!("{} {:?}", problem.code.as_str(), problem.properties)
                                })
                                .collect();
                            codes.join(", ")
                        }
                        other => format!("{other:?}"),
                    };
                    _ = write!(text, "; {}: {status}", entry.kind.singular());
                }
                let (person, action) = (
                    self.found(helped.person.as_ref()),
                    self.found(helped.action.as_ref()),
                );
                format!("{text}; {person}; {action}")
            }
        }
    }
}

/// What separates the problems of a rejection.
pub(super) const PROBLEM_SEPARATOR: &str = " | ";

/// Formats a rejection with its problems. Other errors have no details.
pub(super) fn refusal(error: &Error) -> String {
    match error.kind() {
        ErrorKind::Invalid(problems) => {
            let codes = problems
                .iter()
                .map(|problem| format!("{} {:?}", problem.code.as_str(), problem.properties));
            format!(
                "rejected {}",
                codes.collect::<Vec<_>>().join(PROBLEM_SEPARATOR)
            )
        }
        ErrorKind::NotFound => "not found".to_owned(),
        _ => "error".to_owned(),
    }
}

/// Formats an outcome without ids, because each store assigns its own.
pub(super) fn in_short(outcome: &WriteOutcome) -> String {
    match outcome.without_warnings() {
        WriteOutcome::Created { is_new, .. } => format!("created ({is_new})"),
        WriteOutcome::HelperDone(helped) | WriteOutcome::Resumed(helped) => {
            format!("helped {:?}", helped.entries)
        }
        _ => "other".to_owned(),
    }
}

/// Returns the first line in which two texts differ.
pub(super) fn difference(told: &str, meant: &str) -> Option<String> {
    difference_by(told, meant, |told, meant| told == meant)
}

/// Returns the first line in which two texts differ, with a function that compares lines.
pub(super) fn difference_by(
    told: &str,
    meant: &str,
    is_same: impl Fn(&str, &str) -> bool,
) -> Option<String> {
    let end = |lines: Option<&str>| lines.unwrap_or("end of text").to_owned();
    let (mut told, mut meant) = (told.lines(), meant.lines());
    loop {
        match (told.next(), meant.next()) {
            (None, None) => return None,
            (Some(told), Some(meant)) if is_same(told, meant) => {}
            (told, meant) => {
                return Some(format!(
                    "\n    actual: {}\n  expected: {}",
                    end(told),
                    end(meant)
                ));
            }
        }
    }
}
