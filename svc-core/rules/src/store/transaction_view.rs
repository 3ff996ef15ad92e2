//! The lookup results that a rule sees: those of the store, combined with the pending changes.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use super::{
    Change, HeldTickets, Lookup, LookupKey, LookupSource, MergeRecord, PendingChanges,
    RecordLocation, RuleError, StoredRecord, StoredResponse, Totals,
};
use crate::{
    model::Kind,
    record::ComputedValue,
    schema::{ComputedSource, FieldSpec},
    value::Id,
};

/// The lookup results of one request, and its changes.
pub(crate) struct TransactionView<'a> {
    answers: &'a mut dyn LookupSource,
    before: &'a PendingChanges,
    /// The changes of this request only.
    own: PendingChanges,
    /// The records whose dates this request has set.
    dated: HashSet<(Kind, Id)>,
    /// The records that the store has found.
    found: HashMap<(Kind, Id), RecordLocation>,
    /// The e-mail addresses that no stored person has.
    unused_emails: HashSet<String>,
    pub(crate) changes: Vec<Change>,
}

impl<'a> TransactionView<'a> {
    pub(crate) fn new(answers: &'a mut dyn LookupSource, before: &'a PendingChanges) -> Self {
        Self {
            answers,
            before,
            own: PendingChanges::default(),
            dated: HashSet::new(),
            found: HashMap::new(),
            unused_emails: HashSet::new(),
            changes: Vec::new(),
        }
    }

    /// Adds a change.
    pub(crate) fn change(&mut self, change: Change) {
        match &change {
            Change::Insert(insert) => self
                .dated
                .insert((insert.record.kind(), insert.record.meta().id.clone())),
            Change::Replace(replace) => self
                .dated
                .insert((replace.target.kind, replace.target.id.clone())),
            Change::SetSchedule { at, .. } => self.dated.insert((at.kind, at.id.clone())),
            _ => false,
        };
        self.own.apply(&change);
        self.changes.push(change);
    }

    /// Returns the state of the changes, for [`restore`](Self::restore).
    pub(crate) fn save(&self) -> SavedChanges {
        SavedChanges {
            own: self.own.clone(),
            dated: self.dated.clone(),
            count: self.changes.len(),
        }
    }

    /// Discards the changes since a saved state.
    pub(crate) fn restore(&mut self, saved: SavedChanges) {
        self.own = saved.own;
        self.dated = saved.dated;
        self.changes.truncate(saved.count);
    }

    /// Remembers a record before it is changed, so that later lookups see its changes.
    pub(crate) fn note(&mut self, stored: &StoredRecord) {
        let key = (stored.record.kind(), stored.record.meta().id.clone());
        let without_won = self.counting(stored.clone(), i64::saturating_sub);
        self.own.records.entry(key).or_insert(Some(without_won));
    }

    /// Adds a record that a step of this request has changed, so that later lookups see it.
    pub(crate) fn see(&mut self, stored: &StoredRecord) {
        let key = (stored.record.kind(), stored.record.meta().id.clone());
        self.own.records.insert(key, Some(stored.clone()));
    }

    /// Returns whether this request has set the modification date of a record.
    pub(crate) fn has_dated(&self, kind: Kind, id: &Id) -> bool {
        self.dated.contains(&(kind, id.clone()))
    }

    fn layers(&self) -> [&PendingChanges; 2] {
        [&self.own, self.before]
    }

    fn is_plain(&self) -> bool {
        self.own.is_empty() && self.before.is_empty()
    }

    /// Returns the lookups of the store. Ends the run if their results would not include earlier
    /// changes.
    fn stored(&mut self) -> Result<&mut dyn LookupSource, RuleError> {
        if self.before.unsettled {
            Err(RuleError::UnflushedChanges)
        } else {
            Ok(&mut *self.answers)
        }
    }

    /// Returns the pending state of the record with this id.
    fn pending_state(&self, kind: Kind, id: &Id) -> PendingState<'_> {
        let key = (kind, id.clone());
        match self
            .layers()
            .into_iter()
            .find_map(|layer| layer.records.get(&key))
        {
            Some(Some(stored)) => PendingState::Changed(stored),
            Some(None) => PendingState::Deleted,
            None => PendingState::Unchanged,
        }
    }

    /// Resolves a key after the pending changes.
    fn resolve_key(&self, key: &LookupKey) -> KeyResolution {
        if self.is_plain() {
            return KeyResolution::AsStored;
        }
        match key {
            LookupKey::Id(..) => KeyResolution::AsStored,
            // Only the store knows which names are free again.
            LookupKey::Name(..) if self.before.unsettled => KeyResolution::AsStored,
            LookupKey::Link(kind, id, name) => match self.pending_state(*kind, id) {
                PendingState::Changed(stored) => stored
                    .record
                    .link(name)
                    .map_or(KeyResolution::Nowhere, |to| {
                        KeyResolution::To(LookupKey::from(to))
                    }),
                PendingState::Deleted => KeyResolution::Nowhere,
                PendingState::Unchanged => KeyResolution::AsStored,
            },
            _ => match self.layers().into_iter().find_map(|layer| layer.keyed(key)) {
                Some(Some((kind, id))) => KeyResolution::To(LookupKey::Id(*kind, id.clone())),
                Some(None) => KeyResolution::Nowhere,
                None => KeyResolution::AsStored,
            },
        }
    }

    /// Returns the key to look up in the store, or `None` if its record is deleted or no longer has
    /// this key.
    fn current(&self, key: &LookupKey) -> Option<LookupKey> {
        match (key, self.resolve_key(key)) {
            // If a new person has the address, the store may still contain an older person with it.
            (LookupKey::Email(_), _) | (_, KeyResolution::AsStored) => Some(key.clone()),
            (_, KeyResolution::To(key)) => Some(key),
            (_, KeyResolution::Nowhere) => None,
        }
    }

    /// Returns the stored response for a key.
    pub(crate) fn stored_response(
        &mut self,
        key: &Arc<str>,
    ) -> Result<Option<StoredResponse>, RuleError> {
        if let Some(kept) = self
            .layers()
            .into_iter()
            .find_map(|layer| layer.kept.get(key))
        {
            return Ok(Some(kept.clone()));
        }
        self.stored()?.stored_response(key)
    }

    /// Returns the location of a record, or `None` if it does not exist. The id of a merged person
    /// finds the person that remains.
    pub(crate) fn find(&mut self, key: &LookupKey) -> Result<Option<RecordLocation>, RuleError> {
        match self.find_unmerged(key)? {
            None => match self.forwarded(key)? {
                Some(to) => self.find_unmerged(&to),
                None => Ok(None),
            },
            found => Ok(found),
        }
    }

    /// Returns the key of the person that remains if a key is the id of a merged person.
    fn forwarded(&mut self, key: &LookupKey) -> Result<Option<LookupKey>, RuleError> {
        let LookupKey::Id(Kind::Person, id) = key else {
            return Ok(None);
        };
        let to = self.stored()?.forwarded_person(id)?;
        Ok(to.map(|to| LookupKey::Id(Kind::Person, to)))
    }

    fn find_unmerged(&mut self, key: &LookupKey) -> Result<Option<RecordLocation>, RuleError> {
        let Some(key) = self.current(key) else {
            return Ok(None);
        };
        if let LookupKey::Id(kind, id) = &key {
            match self.pending_state(*kind, id) {
                PendingState::Changed(stored) => return Ok(Some(stored.location())),
                PendingState::Deleted => return Ok(None),
                PendingState::Unchanged => {}
            }
        }
        let found = self.find_stored(&key)?.filter(|found| {
            !matches!(
                self.pending_state(found.kind, &found.id),
                PendingState::Deleted
            )
        });
        let KeyResolution::To(LookupKey::Id(kind, id)) = self.resolve_key(&key) else {
            return Ok(found);
        };
        // If pending changes gave the address to a person, the older of the two people has it.
        let given = self.changed(kind, &id).map(StoredRecord::location);
        Ok(found.into_iter().chain(given).min_by_key(|found| found.row))
    }

    /// Returns the location of a record in the store, which is asked once for each record.
    fn find_stored(&mut self, key: &LookupKey) -> Result<Option<RecordLocation>, RuleError> {
        if let LookupKey::Id(kind, id) = key
            && let Some(found) = self.found.get(&(*kind, id.clone()))
        {
            return Ok(Some(found.clone()));
        }
        let found = self.stored()?.find(key)?;
        match (&found, key) {
            (Some(found), _) => {
                let at = (found.kind, found.id.clone());
                self.found.insert(at, found.clone());
            }
            (None, LookupKey::Email(address)) => {
                self.unused_emails.insert(address.clone());
            }
            (None, _) => {}
        }
        Ok(found)
    }

    /// Returns the record for a key. The id of a merged person finds the person that remains.
    pub(crate) fn record(&mut self, key: &LookupKey) -> Result<Option<StoredRecord>, RuleError> {
        let stored = match self.record_without_counts(key)? {
            None => match self.forwarded(key)? {
                Some(to) => self.record_without_counts(&to)?,
                None => None,
            },
            found => found,
        };
        let has_counts = self
            .layers()
            .into_iter()
            .any(|layer| !layer.counts.is_empty());
        Ok(stored.map(|stored| {
            if has_counts {
                self.counting(stored, i64::saturating_add)
            } else {
                stored
            }
        }))
    }

    fn record_without_counts(
        &mut self,
        key: &LookupKey,
    ) -> Result<Option<StoredRecord>, RuleError> {
        let Some(mut current) = self.current(key) else {
            return Ok(None);
        };
        if matches!(current, LookupKey::Email(_)) && !self.is_plain() {
            let Some(found) = self.find(&current)? else {
                return Ok(None);
            };
            current = LookupKey::Id(found.kind, found.id);
        }
        if let LookupKey::Id(kind, id) = &current {
            match self.pending_state(*kind, id) {
                PendingState::Changed(stored) => return Ok(Some(stored.clone())),
                PendingState::Deleted => return Ok(None),
                PendingState::Unchanged => {}
            }
        }
        let Some(stored) = self.stored()?.record(&current)? else {
            return Ok(None);
        };
        match self.pending_state(stored.record.kind(), &stored.record.meta().id) {
            PendingState::Changed(changed) => Ok(Some(changed.clone())),
            PendingState::Deleted => Ok(None),
            PendingState::Unchanged => Ok(Some(stored)),
        }
    }

    /// Returns the record with this id if the transaction has created or changed it.
    fn changed(&self, kind: Kind, id: &Id) -> Option<&StoredRecord> {
        match self.pending_state(kind, id) {
            PendingState::Changed(stored) => Some(stored),
            PendingState::Deleted | PendingState::Unchanged => None,
        }
    }

    /// Returns the membership of a person in a group, or the newest action of a person in a
    /// container.
    pub(crate) fn member(
        &mut self,
        kind: Kind,
        group: &Id,
        person: &Id,
    ) -> Result<Option<StoredRecord>, RuleError> {
        let Some(link) = kind.schema().parent else {
            return Ok(None);
        };
        let Some(of) = kind.schema().parent_kind() else {
            return Ok(None);
        };
        let ties = |stored: &&StoredRecord| {
            let leads = |link: &str, to: &Id| {
                stored
                    .record
                    .link(link)
                    .is_some_and(|address| address.id == *to)
            };
            leads(link, group) && leads(Kind::Person.singular(), person)
        };
        let made = (kind, group.clone(), person.clone());
        let made = self
            .layers()
            .into_iter()
            .find_map(|layer| layer.members.get(&made));
        let made = made.and_then(|id| self.changed(kind, id));
        if let Some(stored) = made.filter(ties) {
            return Ok(Some(stored.clone()));
        }
        let made_here = |of, id: &Id| {
            self.changed(of, id)
                .is_some_and(|stored| stored.row == StoredRecord::UNSAVED_ROW)
        };
        if made_here(of, group) || made_here(Kind::Person, person) {
            return Ok(None);
        }
        let groups = [LookupKey::Id(of, group.clone())];
        let people = [LookupKey::Id(Kind::Person, person.clone())];
        let members = self.stored()?.members(kind, &groups, &people)?;
        let newest = members.into_iter().filter(|stored| ties(&stored));
        let newest = newest.max_by_key(|stored| stored.row);
        Ok(newest.map(|stored| {
            let changed = self.changed(kind, &stored.record.meta().id).cloned();
            changed.unwrap_or(stored)
        }))
    }

    /// Returns the answers of a person to these questions, the oldest first. May include answers to
    /// other questions.
    pub(crate) fn answered(
        &mut self,
        person: &Id,
        questions: &[LookupKey],
    ) -> Result<Vec<StoredRecord>, RuleError> {
        let people = [LookupKey::Id(Kind::Person, person.clone())];
        let is_new = self
            .changed(Kind::Person, person)
            .is_some_and(|stored| stored.row == StoredRecord::UNSAVED_ROW);
        let mut answers = if is_new {
            Vec::new()
        } else {
            self.stored()?.answers(&people, questions)?
        };
        // Earlier requests of the transaction can have changed an answer.
        for answer in &mut answers {
            if let Some(changed) = self.changed(Kind::Answer, &answer.record.meta().id) {
                *answer = changed.clone();
            }
        }
        answers.sort_by_key(|answer| answer.row);
        for layer in [self.before, &self.own] {
            let made = layer.answers.get(person).into_iter().flatten();
            answers.extend(made.filter_map(|id| self.changed(Kind::Answer, id).cloned()));
        }
        answers.retain(|answer| {
            let target = answer.record.link(Kind::Person.singular());
            target.is_some_and(|to| to.id == *person)
        });
        Ok(answers)
    }

    /// Returns the number of records of a kind under a record.
    pub(crate) fn count(&mut self, kind: Kind, of: Kind, id: &Id) -> Result<u64, RuleError> {
        let under = LookupKey::Id(of, id.clone());
        let stored = self.stored()?.count(kind, &under)?;
        Ok(stored.saturating_add_signed(self.count_delta(kind, of, id)))
    }

    /// Returns how many records of a kind the transaction has added under a record.
    fn count_delta(&self, kind: Kind, of: Kind, id: &Id) -> i64 {
        let [own, before] = self
            .layers()
            .map(|layer| layer.counts.delta(kind, Some((of, id))));
        own.saturating_add(before)
    }

    /// Applies the count changes of the transaction to the member counts of a record.
    fn counting(&self, mut stored: StoredRecord, change: fn(i64, i64) -> i64) -> StoredRecord {
        let record = &mut stored.record;
        for source in record
            .kind()
            .schema()
            .fields
            .fields
            .iter()
            .filter_map(FieldSpec::source)
        {
            if let ComputedSource::Count(members) = source
                && let Some(ComputedValue::Count(count)) = record.computed_value(source)
            {
                let count = change(
                    *count,
                    self.count_delta(members, record.kind(), &record.meta().id),
                );
                record.set_computed(source, Some(ComputedValue::Count(count)));
            }
        }
        stored
    }

    /// Returns the totals of a record.
    pub(crate) fn sum(&mut self, of: Kind, id: &Id) -> Result<Totals, RuleError> {
        let key = (of, id.clone());
        if let Some(sum) = self
            .layers()
            .into_iter()
            .find_map(|layer| layer.sums.get(&key))
        {
            return Ok(sum.clone());
        }
        self.stored()?.totals(&LookupKey::Id(of, id.clone()))
    }

    /// Returns the totals of each part.
    pub(crate) fn parts(
        &mut self,
        of: Kind,
        id: &Id,
    ) -> Result<BTreeMap<String, Totals>, RuleError> {
        let stored = self.stored()?.part_totals(&LookupKey::Id(of, id.clone()))?;
        let mut parts: BTreeMap<String, Totals> = stored.into_iter().collect();
        let key = (of, id.clone());
        for layer in [self.before, &self.own] {
            for (name, sum) in layer.parts.get(&key).into_iter().flatten() {
                parts.insert(name.clone(), sum.clone());
            }
        }
        Ok(parts)
    }

    /// Returns the attendances whose tickets name a person.
    pub(crate) fn holdings(&mut self, person: &Id) -> Result<Vec<HeldTickets>, RuleError> {
        self.stored()?.held_tickets(person)
    }

    /// Returns the records of a kind whose link has a person as its target, at most `most` of them.
    pub(crate) fn linked(
        &mut self,
        kind: Kind,
        link: &'static str,
        person: &Id,
        most: u32,
    ) -> Result<Vec<StoredRecord>, RuleError> {
        self.without_earlier()?.linked(kind, link, person, most)
    }

    /// Returns the number of records that name a person, at most `most`.
    pub(crate) fn linked_count(&mut self, person: &Id, most: u32) -> Result<u64, RuleError> {
        self.without_earlier()?.linked_count(person, most)
    }

    /// Returns the ids of everyone who was merged into a person.
    pub(crate) fn forwarded_to(&mut self, person: &Id) -> Result<Vec<Id>, RuleError> {
        self.without_earlier()?.forwarded_to(person)
    }

    /// Returns the stored merge with an id into a person.
    pub(crate) fn stored_merge(
        &mut self,
        remaining: &Id,
        merge: &Id,
    ) -> Result<Option<MergeRecord>, RuleError> {
        self.without_earlier()?.stored_merge(remaining, merge)
    }

    /// Returns the lookups of the store. Ends the run if there are earlier changes: the store does not
    /// know which records they have linked to a person.
    fn without_earlier(&mut self) -> Result<&mut dyn LookupSource, RuleError> {
        if self.before.is_empty() {
            self.stored()
        } else {
            Err(RuleError::UnflushedChanges)
        }
    }

    /// Asks for records and totals, so that the store fetches all of them together.
    pub(crate) fn require(
        &mut self,
        lookups: impl IntoIterator<Item = Lookup>,
    ) -> Result<(), RuleError> {
        let mut missing = Vec::new();
        for lookup in lookups {
            let found = match &lookup {
                Lookup::Record(key) => self.record(key).map(drop),
                Lookup::Find(key) => self.find(key).map(drop),
                Lookup::ForwardedTo(person) => self.forwarded_to(person).map(drop),
                Lookup::Totals(LookupKey::Id(kind, id)) => self.sum(*kind, id).map(drop),
                Lookup::PartTotals(LookupKey::Id(kind, id)) => self.parts(*kind, id).map(drop),
                _ => Ok(()),
            };
            match found {
                Err(RuleError::MissingLookups(more)) => missing.extend(more),
                found => found?,
            }
        }
        if missing.is_empty() {
            Ok(())
        } else {
            Err(RuleError::MissingLookups(missing))
        }
    }

    /// Returns people with an e-mail address, the oldest first. If there are several, returns at
    /// least two.
    pub(crate) fn email_holders(
        &mut self,
        address: &str,
    ) -> Result<Vec<RecordLocation>, RuleError> {
        let mut holders = if self.unused_emails.contains(address) {
            Vec::new()
        } else {
            self.stored()?.email_holders(address)?
        };
        for layer in [self.before, &self.own] {
            let given = layer.email_holders.get(address).into_iter().flatten();
            let given = given.filter_map(|id| self.changed(Kind::Person, id));
            holders.extend(given.map(StoredRecord::location));
        }
        holders.sort_by_key(|holder| holder.row);
        Ok(holders)
    }
}

/// The state of the changes of a request at one time.
pub(crate) struct SavedChanges {
    own: PendingChanges,
    dated: HashSet<(Kind, Id)>,
    count: usize,
}

/// The pending state of a record.
enum PendingState<'a> {
    /// The transaction has not changed it.
    Unchanged,
    /// It is new or changed.
    Changed(&'a StoredRecord),
    /// It was deleted.
    Deleted,
}

/// The resolution of a key after the pending changes.
enum KeyResolution {
    /// The store resolves it.
    AsStored,
    /// It matches this record.
    To(LookupKey),
    /// It matches no record.
    Nowhere,
}
