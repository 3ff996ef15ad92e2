//! The lookup results that a store has fetched for one transaction. Used by stores that cannot
//! perform lookups while a rule runs.

use std::collections::HashMap;

use super::{
    Lookup, LookupKey, LookupResult, LookupSource, RecordLocation, RuleError, StoredRecord,
};
use crate::{model::Kind, value::Id};

/// Fetched lookup results, available under every key of their records.
///
/// ```text
/// let mut fetched = LookupCache::default();
/// let mut wanted = initial_lookups(&call, matching);
/// let decision = loop {
///     for (question, answer) in connection.fetch(wanted).await? {      // all of them in one round trip
///         fetched.insert(question, answer);
///     }
///     match decide(&call, &turn, &mut fetched, &overlay) {
///         Err(RuleError::MissingLookups(more)) => wanted = more,
///         decided => break decided?,
///     }
/// };
/// ```
#[derive(Debug, Default)]
pub struct LookupCache {
    answers: HashMap<Lookup, LookupResult>,
    /// The id for each key that is not an id itself.
    ids: HashMap<LookupKey, Option<Id>>,
    records: HashMap<(Kind, Id), Option<StoredRecord>>,
    places: HashMap<(Kind, Id), Option<RecordLocation>>,
}

impl LookupCache {
    /// Inserts a lookup result.
    pub fn insert(&mut self, question: Lookup, answer: LookupResult) {
        match (&question, &answer) {
            (Lookup::Record(key), LookupResult::Record(stored)) => {
                let found = stored.as_ref().map(StoredRecord::location);
                self.set_target(key, found.as_ref());
                if let (Some(kind), Some(id)) = (key.kind(), self.id_of(key)) {
                    self.records.insert((kind, id), stored.clone());
                }
            }
            (Lookup::Find(key), LookupResult::Location(found)) => {
                self.set_target(key, found.as_ref());
            }
            _ => {
                self.answers.insert(question, answer);
            }
        }
    }

    /// Returns whether a key is known to match no record.
    #[must_use]
    pub fn is_absent(&self, key: &LookupKey) -> bool {
        match key {
            LookupKey::Id(kind, id) => {
                matches!(self.places.get(&(*kind, id.clone())), Some(None))
            }
            key => self.is_nothing(key),
        }
    }

    /// Forgets a record, which was changed concurrently. Its keys stay known.
    pub fn forget(&mut self, kind: Kind, id: &Id) {
        let at = (kind, id.clone());
        self.records.remove(&at);
        self.places.remove(&at);
    }

    /// Forgets which records of a kind do not exist, because one was created concurrently.
    pub fn forget_absent(&mut self, kind: Kind) {
        self.ids
            .retain(|key, id| id.is_some() || key.kind() != Some(kind));
        self.records
            .retain(|(of, _), stored| stored.is_some() || *of != kind);
        self.places
            .retain(|(of, _), found| found.is_some() || *of != kind);
    }

    fn set_target(&mut self, key: &LookupKey, found: Option<&RecordLocation>) {
        if let LookupKey::Id(kind, id) = key {
            self.places.insert((*kind, id.clone()), found.cloned());
        } else {
            self.ids
                .insert(key.clone(), found.map(|found| found.id.clone()));
            if let Some(found) = found {
                self.places
                    .insert((found.kind, found.id.clone()), Some(found.clone()));
            }
        }
    }

    /// Returns the id for a key, if it is known.
    fn id_of(&self, key: &LookupKey) -> Option<Id> {
        match key {
            LookupKey::Id(_, id) => Some(id.clone()),
            key => self.ids.get(key).cloned().flatten(),
        }
    }

    /// Returns whether a key is known to match no record.
    fn is_nothing(&self, key: &LookupKey) -> bool {
        matches!(self.ids.get(key), Some(None))
    }

    fn same(&self, one: &LookupKey, other: &LookupKey) -> bool {
        one == other
            || one.kind() == other.kind()
                && self
                    .id_of(one)
                    .is_some_and(|id| Some(id) == self.id_of(other))
    }

    fn covers(&self, fetched: &[LookupKey], asked: &[LookupKey]) -> bool {
        asked
            .iter()
            .all(|asked| self.is_nothing(asked) || fetched.iter().any(|key| self.same(key, asked)))
    }

    /// Returns whether the result of one lookup contains that of another.
    fn answers_too(&self, fetched: &Lookup, asked: &Lookup) -> bool {
        match (fetched, asked) {
            (
                Lookup::Members {
                    kind,
                    groups,
                    people,
                },
                Lookup::Members {
                    kind: of,
                    groups: some_groups,
                    people: some_people,
                },
            ) => kind == of && self.covers(groups, some_groups) && self.covers(people, some_people),
            (
                Lookup::Answers { people, questions },
                Lookup::Answers {
                    people: some_people,
                    questions: some_questions,
                },
            ) => self.covers(people, some_people) && self.covers(questions, some_questions),
            (
                Lookup::Count { kind, of },
                Lookup::Count {
                    kind: asked,
                    of: under,
                },
            ) => kind == asked && self.same(of, under),
            (Lookup::Totals(key), Lookup::Totals(asked))
            | (Lookup::PartTotals(key), Lookup::PartTotals(asked)) => self.same(key, asked),
            _ => false,
        }
    }

    fn get(&self, question: &Lookup) -> Option<LookupResult> {
        match question {
            Lookup::Record(key) => {
                if self.is_nothing(key) {
                    return Some(LookupResult::Record(None));
                }
                let at = (key.kind()?, self.id_of(key)?);
                match (self.records.get(&at), self.places.get(&at)) {
                    (Some(stored), _) => Some(LookupResult::Record(stored.clone())),
                    (None, Some(None)) => Some(LookupResult::Record(None)),
                    _ => None,
                }
            }
            Lookup::Find(key) => {
                if self.is_nothing(key) {
                    return Some(LookupResult::Location(None));
                }
                let at = (key.kind()?, self.id_of(key)?);
                self.places
                    .get(&at)
                    .map(|found| LookupResult::Location(found.clone()))
            }
            question => {
                let same = self.answers.get(question);
                let other = || {
                    self.answers
                        .iter()
                        .find(|(fetched, _)| self.answers_too(fetched, question))
                };
                same.or_else(|| other().map(|(_, answer)| answer)).cloned()
            }
        }
    }
}

impl LookupSource for LookupCache {
    fn lookup(&mut self, question: &Lookup) -> Result<LookupResult, RuleError> {
        self.get(question)
            .ok_or_else(|| RuleError::MissingLookups(vec![question.clone()]))
    }
}
