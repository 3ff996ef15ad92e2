//! The lookup results that a store has fetched for one request or transaction. Used by stores that
//! cannot perform lookups while a rule runs.

use std::{collections::HashMap, sync::Arc};

use super::{
    HeldTickets, Lookup, LookupKey, LookupSource, MergeRecord, RecordLocation, RuleError,
    StoredRecord, StoredResponse, Totals,
};
use crate::{model::Kind, value::Id};

/// Fetched lookup results, available under every key of their records.
///
/// See [`run_rules`](crate::rules::run_rules).
#[derive(Debug, Default)]
pub struct LookupCache {
    /// The id for each key that is not an id itself.
    ids: HashMap<LookupKey, Option<Id>>,
    records: HashMap<(Kind, Id), Option<StoredRecord>>,
    places: HashMap<(Kind, Id), Option<RecordLocation>>,
    /// The results of [`Lookup::Members`], [`Lookup::Answers`] and [`Lookup::Linked`].
    related: HashMap<Lookup, Vec<StoredRecord>>,
    counts: HashMap<LookupKey, Vec<(Kind, u64)>>,
    totals: HashMap<LookupKey, Totals>,
    part_totals: HashMap<LookupKey, Vec<(String, Totals)>>,
    held_tickets: HashMap<Id, Vec<HeldTickets>>,
    linked_counts: HashMap<(Id, u32), u64>,
    forwarded_people: HashMap<Id, Option<Id>>,
    forwarded_to: HashMap<Id, Vec<Id>>,
    stored_merges: HashMap<(Id, Id), Option<MergeRecord>>,
    email_holders: HashMap<String, Vec<RecordLocation>>,
    stored_responses: HashMap<Arc<str>, Option<StoredResponse>>,
}

impl LookupCache {
    /// Inserts the location of a record, or that it does not exist.
    pub fn insert_location(&mut self, key: &LookupKey, found: Option<&RecordLocation>) {
        self.set_target(key, found);
    }

    /// Inserts a record, or that it does not exist.
    pub fn insert_record(&mut self, key: &LookupKey, stored: Option<StoredRecord>) {
        let found = stored.as_ref().map(StoredRecord::location);
        self.set_target(key, found.as_ref());
        if let (Some(kind), Some(id)) = (key.kind(), self.id_of(key)) {
            self.records.insert((kind, id), stored);
        }
    }

    /// Inserts the results of [`Lookup::Members`], [`Lookup::Answers`] or [`Lookup::Linked`].
    pub fn insert_related(&mut self, question: Lookup, found: Vec<StoredRecord>) {
        self.related.insert(question, found);
    }

    /// Inserts the number of records of a kind under a record.
    pub fn insert_count(&mut self, kind: Kind, of: &LookupKey, count: u64) {
        let counts = self.counts.entry(of.clone()).or_default();
        counts.retain(|(known, _)| *known != kind);
        counts.push((kind, count));
    }

    /// Inserts the totals of a record.
    pub fn insert_totals(&mut self, of: &LookupKey, totals: Totals) {
        self.totals.insert(of.clone(), totals);
    }

    /// Inserts the totals of the parts of a record, sorted by name.
    pub fn insert_part_totals(&mut self, of: &LookupKey, parts: Vec<(String, Totals)>) {
        self.part_totals.insert(of.clone(), parts);
    }

    /// Inserts the attendances whose tickets name a person.
    pub fn insert_held_tickets(&mut self, person: &Id, held: Vec<HeldTickets>) {
        self.held_tickets.insert(person.clone(), held);
    }

    /// Inserts the number of records that name a person, which was counted up to `most`.
    pub fn insert_linked_count(&mut self, person: &Id, most: u32, count: u64) {
        self.linked_counts.insert((person.clone(), most), count);
    }

    /// Inserts the person into whom a person was merged, or that there is none.
    pub fn insert_forwarded_person(&mut self, id: &Id, to: Option<Id>) {
        self.forwarded_people.insert(id.clone(), to);
    }

    /// Inserts the ids of everyone who was merged into a person.
    pub fn insert_forwarded_to(&mut self, id: &Id, from: Vec<Id>) {
        self.forwarded_to.insert(id.clone(), from);
    }

    /// Inserts the stored merge with an id into a person, or that there is none.
    pub fn insert_stored_merge(&mut self, remaining: &Id, merge: &Id, stored: Option<MergeRecord>) {
        let key = (remaining.clone(), merge.clone());
        self.stored_merges.insert(key, stored);
    }

    /// Inserts the oldest people with an e-mail address.
    pub fn insert_email_holders(&mut self, address: &str, found: Vec<RecordLocation>) {
        self.email_holders.insert(address.to_owned(), found);
    }

    /// Inserts the stored response for a key, or that there is none.
    pub fn insert_stored_response(&mut self, key: &Arc<str>, stored: Option<StoredResponse>) {
        self.stored_responses.insert(Arc::clone(key), stored);
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

    /// Returns the value for a key of the same record.
    fn of_record<'m, T>(
        &self,
        values: &'m HashMap<LookupKey, T>,
        key: &LookupKey,
    ) -> Option<&'m T> {
        values.get(key).or_else(|| {
            let mut values = values.iter();
            values
                .find(|(known, _)| self.same(known, key))
                .map(|(_, value)| value)
        })
    }

    /// Returns the result of a lookup whose result contains that of this one.
    fn related(&self, question: &Lookup) -> Option<&Vec<StoredRecord>> {
        self.related.get(question).or_else(|| {
            let mut fetched = self.related.iter();
            fetched
                .find(|(fetched, _)| self.is_contained(question, fetched))
                .map(|(_, found)| found)
        })
    }

    fn is_contained(&self, asked: &Lookup, fetched: &Lookup) -> bool {
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
            _ => false,
        }
    }
}

/// Returns a fetched result, or the lookup that must be fetched.
fn fetched<T>(found: Option<T>, question: impl FnOnce() -> Lookup) -> Result<T, RuleError> {
    found.ok_or_else(|| RuleError::MissingLookups(vec![question()]))
}

impl LookupSource for LookupCache {
    fn find(&mut self, key: &LookupKey) -> Result<Option<RecordLocation>, RuleError> {
        if self.is_nothing(key) {
            return Ok(None);
        }
        let at = key.kind().zip(self.id_of(key));
        fetched(at.and_then(|at| self.places.get(&at)).cloned(), || {
            Lookup::Find(key.clone())
        })
    }

    fn record(&mut self, key: &LookupKey) -> Result<Option<StoredRecord>, RuleError> {
        if self.is_nothing(key) {
            return Ok(None);
        }
        let found = key.kind().zip(self.id_of(key)).and_then(|at| {
            match (self.records.get(&at), self.places.get(&at)) {
                (Some(stored), _) => Some(stored.clone()),
                (None, Some(None)) => Some(None),
                _ => None,
            }
        });
        fetched(found, || Lookup::Record(key.clone()))
    }

    fn members(
        &mut self,
        kind: Kind,
        groups: &[LookupKey],
        people: &[LookupKey],
    ) -> Result<Vec<StoredRecord>, RuleError> {
        let question = Lookup::Members {
            kind,
            groups: groups.to_vec(),
            people: people.to_vec(),
        };
        fetched(self.related(&question).cloned(), || question)
    }

    fn answers(
        &mut self,
        people: &[LookupKey],
        questions: &[LookupKey],
    ) -> Result<Vec<StoredRecord>, RuleError> {
        let question = Lookup::Answers {
            people: people.to_vec(),
            questions: questions.to_vec(),
        };
        fetched(self.related(&question).cloned(), || question)
    }

    fn count(&mut self, kind: Kind, of: &LookupKey) -> Result<u64, RuleError> {
        let counts = self.of_record(&self.counts, of).into_iter().flatten();
        let count = counts
            .filter(|(known, _)| *known == kind)
            .map(|(_, count)| *count)
            .next();
        fetched(count, || Lookup::Count {
            kind,
            of: of.clone(),
        })
    }

    fn totals(&mut self, of: &LookupKey) -> Result<Totals, RuleError> {
        fetched(self.of_record(&self.totals, of).cloned(), || {
            Lookup::Totals(of.clone())
        })
    }

    fn part_totals(&mut self, of: &LookupKey) -> Result<Vec<(String, Totals)>, RuleError> {
        fetched(self.of_record(&self.part_totals, of).cloned(), || {
            Lookup::PartTotals(of.clone())
        })
    }

    fn held_tickets(&mut self, person: &Id) -> Result<Vec<HeldTickets>, RuleError> {
        fetched(self.held_tickets.get(person).cloned(), || {
            Lookup::HeldTickets(person.clone())
        })
    }

    fn linked(
        &mut self,
        kind: Kind,
        link: &'static str,
        person: &Id,
        most: u32,
    ) -> Result<Vec<StoredRecord>, RuleError> {
        let question = Lookup::Linked {
            kind,
            link,
            person: person.clone(),
            most,
        };
        fetched(self.related(&question).cloned(), || question)
    }

    fn linked_count(&mut self, person: &Id, most: u32) -> Result<u64, RuleError> {
        let key = (person.clone(), most);
        fetched(self.linked_counts.get(&key).copied(), || {
            Lookup::LinkedCount {
                person: person.clone(),
                most,
            }
        })
    }

    fn forwarded_person(&mut self, id: &Id) -> Result<Option<Id>, RuleError> {
        fetched(self.forwarded_people.get(id).cloned(), || {
            Lookup::ForwardedPerson(id.clone())
        })
    }

    fn forwarded_to(&mut self, id: &Id) -> Result<Vec<Id>, RuleError> {
        fetched(self.forwarded_to.get(id).cloned(), || {
            Lookup::ForwardedTo(id.clone())
        })
    }

    fn stored_merge(
        &mut self,
        remaining: &Id,
        merge: &Id,
    ) -> Result<Option<MergeRecord>, RuleError> {
        let (remaining, merge) = (remaining.clone(), merge.clone());
        let key = (remaining.clone(), merge.clone());
        fetched(self.stored_merges.get(&key).cloned(), || {
            Lookup::StoredMerge { remaining, merge }
        })
    }

    fn email_holders(&mut self, address: &str) -> Result<Vec<RecordLocation>, RuleError> {
        fetched(self.email_holders.get(address).cloned(), || {
            Lookup::EmailHolders(address.to_owned())
        })
    }

    fn stored_response(&mut self, key: &Arc<str>) -> Result<Option<StoredResponse>, RuleError> {
        fetched(self.stored_responses.get(key).cloned(), || {
            Lookup::StoredResponse(Arc::clone(key))
        })
    }
}
