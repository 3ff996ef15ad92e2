//! The records of one tenant with their indexes and totals.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use svc_core::{
    backend::{ChangeKind, RecordChange},
    duplicates::ComparedPerson,
    filter::name_key,
    link::{LinkValue, RecordAddress, Scope},
    model::Kind,
    record::{ComputedValue, RawRecord},
    schema::{ComputedSource, ReferenceSpec},
    store::{
        ApartPeople, Change, DuplicatesPage, HeldTickets, InsertRecord, LookupKey, LookupSource,
        MergeRecord, RecordLocation, RecordSet, ReplaceRecord, RestoredPerson, RuleError,
        StoredMerge, StoredRecord, StoredResponse, Totals, person_links,
    },
    value::{Id, Identifier, Timestamp, forms},
};

use super::outbox::QueuedEntry;
use crate::{
    duplicates::{DuplicateIndex, DuplicatesQuery, HashedKey, MAX_KEYS, SharedKey},
    feed::{FeedChange, FeedPosition, FeedQuery, FeedRows, merged_into},
};

/// A collection: all records of a kind, or those whose link (or hidden reference) has one record as
/// its target.
type TableCollection = (Kind, Option<(&'static str, Id)>);

/// The data of one tenant. A row is the position of a record in the creation order of all kinds.
#[derive(Default, Clone)]
pub(super) struct TenantTables {
    /// The time of the last transaction, in microseconds.
    pub(super) clock: i64,
    /// The outbox, in the order of the requests.
    pub(super) outbox: BTreeMap<i64, QueuedEntry>,
    sent: i64,
    /// The feed entries, in order.
    pub(super) feed: Vec<(FeedPosition, RecordChange)>,
    youngest: i64,
    /// Each record with its keys other than the id.
    rows: HashMap<i64, (RawRecord, Vec<LookupKey>)>,
    ids: HashMap<(Kind, Id), i64>,
    keys: HashMap<LookupKey, BTreeSet<i64>>,
    /// The people with each key, for duplicates.
    people_of_keys: BTreeMap<HashedKey, BTreeSet<i64>>,
    /// The keys of each person, for duplicates.
    keys_of_people: HashMap<i64, BTreeSet<HashedKey>>,
    collections: HashMap<TableCollection, BTreeSet<i64>>,
    sums: HashMap<(Kind, Id), Totals>,
    parts: HashMap<(Kind, Id), BTreeMap<String, Totals>>,
    /// The people recorded as ticket holders, the attendance, and the position of the ticket if it
    /// is known.
    holders: BTreeSet<(Id, i64, Option<i64>)>,
    /// The person that remains, for the id of each merged person.
    aliases: BTreeMap<Id, Id>,
    /// The stored merges, oldest first.
    merges: Vec<MergeRecord>,
    /// The people who are not the same person, since when.
    apart: BTreeMap<[Id; 2], Timestamp>,
    /// The stored responses, by key.
    kept: HashMap<Arc<str>, StoredResponse>,
}

/// Returns the reference by which records of `kind` are listed under records of `of`.
fn scope(kind: Kind, of: Kind) -> Option<&'static ReferenceSpec> {
    kind.schema()
        .references()
        .iter()
        .find(|reference| reference.is_scope && reference.kind == of)
}

/// Returns the keys of a record other than the id.
fn keys(
    kind: Kind,
    name: Option<&String>,
    identifiers: &[Identifier],
    emails: &[String],
) -> Vec<LookupKey> {
    let name = name.map(|name| LookupKey::Name(kind, name.clone()));
    let identifiers = identifiers
        .iter()
        .map(|identifier| LookupKey::Identifier(kind, identifier.clone()));
    name.into_iter()
        .chain(identifiers)
        .chain(emails.iter().cloned().map(LookupKey::Email))
        .collect()
}

// Lookups.
impl TenantTables {
    /// Returns the row of the record with a key. Of several records, the oldest.
    pub(super) fn row(&self, key: &LookupKey) -> Option<i64> {
        match key {
            LookupKey::Id(kind, id) => self.ids.get(&(*kind, id.clone())).copied(),
            LookupKey::Link(kind, id, name) => self.row(
                &self
                    .rows
                    .get(&self.row(&LookupKey::Id(*kind, id.clone()))?)?
                    .0
                    .link(name)?
                    .into(),
            ),
            LookupKey::Email(address) => self
                .keys
                .get(&LookupKey::Email(forms::match_form(address).into_owned()))?
                .first()
                .copied(),
            LookupKey::Name(kind, name) => {
                let exactly = self.keys.get(key).and_then(|rows| rows.first().copied());
                exactly.or_else(|| self.row_with_same_name(*kind, name))
            }
            LookupKey::Identifier(..) => self.keys.get(key)?.first().copied(),
        }
    }

    /// Returns the row of the oldest record whose name has the same key as another name.
    fn row_with_same_name(&self, kind: Kind, name: &str) -> Option<i64> {
        let sought = name_key(kind, name)?;
        let is_same = |key: &LookupKey| match key {
            LookupKey::Name(_, name) => name_key(kind, name).as_ref() == Some(&sought),
            _ => false,
        };
        let mut rows = self.collections.get(&(kind, None))?.iter();
        rows.find(|row| {
            let found = self.rows.get(row);
            found.is_some_and(|(_, keys)| keys.iter().any(is_same))
        })
        .copied()
    }

    /// Returns the record in a row in its current state.
    pub(super) fn in_row(&self, row: i64) -> Option<StoredRecord> {
        let mut record = self.rows.get(&row)?.0.clone();
        for source in record
            .kind()
            .schema()
            .fields
            .fields
            .iter()
            .filter_map(svc_core::schema::FieldSpec::source)
        {
            if let ComputedSource::Count(members) = source {
                let count = self.count(members, record.kind(), &record.meta().id);
                record.set_computed(
                    source,
                    Some(ComputedValue::Count(
                        i64::try_from(count).unwrap_or(i64::MAX),
                    )),
                );
            }
        }
        Some(StoredRecord::new(row, record))
    }

    /// Returns the rows of a collection in creation order. `None` if the collection or the
    /// container does not exist.
    pub(super) fn collection(&self, kind: Kind, of: &Scope) -> Option<&BTreeSet<i64>> {
        static NOTHING: BTreeSet<i64> = BTreeSet::new();
        let under = match of {
            Scope::All => None,
            Scope::Under(address) => {
                let container = &self.rows.get(&self.row(&LookupKey::from(address))?)?.0;
                let link = scope(kind, address.kind)
                    .filter(|_| address.matches_parent(container.parent()))?;
                Some((link.name, address.id.clone()))
            }
        };
        Some(self.collections.get(&(kind, under)).unwrap_or(&NOTHING))
    }

    fn under(&self, kind: Kind, link: &'static str, id: &Id) -> impl Iterator<Item = i64> + '_ {
        self.collections
            .get(&(kind, Some((link, id.clone()))))
            .into_iter()
            .flatten()
            .copied()
    }

    fn count(&self, kind: Kind, of: Kind, id: &Id) -> u64 {
        scope(kind, of).map_or(0, |link| self.under(kind, link.name, id).count()) as u64
    }

    /// Returns the kind and id of the record with a key.
    fn named(&self, key: &LookupKey) -> Option<(Kind, Id)> {
        let (record, _) = self.rows.get(&self.row(key)?)?;
        Some((record.kind(), record.meta().id.clone()))
    }

    fn ids(&self, keys: &[LookupKey]) -> BTreeSet<Id> {
        keys.iter()
            .filter_map(|key| Some(self.named(key)?.1))
            .collect()
    }

    /// Returns the person into whom a person was merged.
    pub(super) fn forwarded_person(&self, id: &Id) -> Option<Id> {
        self.aliases.get(id).cloned()
    }

    /// Returns the newest stored merges into a person, newest first.
    pub(super) fn merges(&self, remaining: &Id) -> Vec<StoredMerge> {
        let merges = self.merges.iter().rev();
        let merges = merges.filter(|it| it.merge.remaining == *remaining);
        let merges = merges.take(StoredMerge::MAX_LISTED as usize);
        let mut merges: Vec<StoredMerge> = merges.map(|it| it.merge.clone()).collect();
        for (place, merge) in merges.iter_mut().enumerate() {
            merge.is_latest = place == 0;
        }
        merges
    }

    fn stored_merge(&self, remaining: &Id, id: &Id) -> Option<MergeRecord> {
        let mut merges = self.merges.iter().rev();
        let mut merges = merges
            .by_ref()
            .filter(|it| it.merge.remaining == *remaining);
        let (place, found) = merges
            .by_ref()
            .enumerate()
            .find(|(_, it)| it.merge.id == *id)?;
        let mut found = found.clone();
        found.merge.is_latest = place == 0;
        Some(found)
    }

    /// Returns whether two people are dismissed as a pair.
    pub(super) fn is_apart(&self, [one, other]: [&Id; 2]) -> bool {
        let people = ApartPeople::new(one.clone(), other.clone(), None).people;
        self.apart.contains_key(&people)
    }

    /// Updates the keys of the person that a change has affected. They are computed from the record, not
    /// taken from the change.
    pub(super) fn index_keys(&mut self, change: &Change, index: &DuplicateIndex) {
        let row = match change {
            Change::Insert(insert) if insert.record.kind() == Kind::Person => Some(self.youngest),
            Change::Replace(replace) if replace.target.kind == Kind::Person => {
                self.row(&LookupKey::Id(Kind::Person, replace.target.id.clone()))
            }
            Change::SetFields { at, .. } if at.kind == Kind::Person => {
                self.row(&LookupKey::Id(Kind::Person, at.id.clone()))
            }
            _ => None,
        };
        let Some((row, (record, _))) = row.and_then(|row| Some((row, self.rows.get(&row)?))) else {
            return;
        };
        let keys = ComparedPerson::of_record(record).keys();
        let keys: BTreeSet<HashedKey> = keys.iter().map(|key| index.hash(key)).collect();
        self.forget_keys(row);
        for key in &keys {
            self.people_of_keys.entry(*key).or_default().insert(row);
        }
        self.keys_of_people.insert(row, keys);
    }

    fn forget_keys(&mut self, row: i64) {
        for key in self.keys_of_people.remove(&row).into_iter().flatten() {
            if let Some(people) = self.people_of_keys.get_mut(&key) {
                people.remove(&row);
                if people.is_empty() {
                    self.people_of_keys.remove(&key);
                }
            }
        }
    }

    /// Returns a page of people who may be the same person.
    pub(super) fn duplicates(&self, query: &DuplicatesQuery<'_>) -> DuplicatesPage {
        let people = &self.people_of_keys;
        let shared = |key: &HashedKey| {
            let people = people.get(key).map_or(0, BTreeSet::len);
            SharedKey::new(*key, u64::try_from(people).unwrap_or(u64::MAX))
        };
        let keys = match query.keys_of_person() {
            Some(keys) => keys.iter().map(shared).collect(),
            None => people
                .range(query.first_key()..)
                .map(|(key, _)| shared(key))
                .filter(|shared| shared.people > 1)
                .take(MAX_KEYS.saturating_add(1))
                .collect(),
        };
        let mut selected = query.select(keys);
        let compared: Vec<HashedKey> = selected.compared_keys().collect();
        for key in compared {
            for row in people.get(&key).into_iter().flatten() {
                selected.add(key, *row);
            }
        }
        let rows = selected.rows();
        let records: Vec<StoredRecord> = rows
            .into_iter()
            .filter_map(|row| self.in_row(row))
            .collect();
        let pairs = query.compare(&selected, &records);
        let other_keys: Vec<SharedKey> = pairs.other_keys().iter().map(shared).collect();
        let apart = pairs
            .people()
            .filter(|people| self.apart.contains_key(people))
            .collect();
        query.page(pairs, &other_keys, &apart)
    }

    /// Returns the records of a kind that connect one of these people with one of these groups.
    fn tied(&self, kind: Kind, groups: &[LookupKey], people: &[LookupKey]) -> Vec<StoredRecord> {
        let (groups, people) = (self.ids(groups), self.ids(people));
        let of_people = people
            .iter()
            .flat_map(|person| self.under(kind, "person", person));
        let tied = of_people.filter_map(|row| self.in_row(row));
        tied.filter(|it| {
            it.record
                .parent()
                .is_some_and(|group| groups.contains(group))
        })
        .collect()
    }
}

/// Executes lookups directly on the data.
pub(super) struct MemoryLookups<'a>(pub(super) &'a TenantTables);

impl LookupSource for MemoryLookups<'_> {
    fn find(&mut self, key: &LookupKey) -> Result<Option<RecordLocation>, RuleError> {
        Ok(self.record(key)?.map(|stored| stored.location()))
    }

    fn record(&mut self, key: &LookupKey) -> Result<Option<StoredRecord>, RuleError> {
        Ok(self.0.row(key).and_then(|row| self.0.in_row(row)))
    }

    fn members(
        &mut self,
        kind: Kind,
        groups: &[LookupKey],
        people: &[LookupKey],
    ) -> Result<Vec<StoredRecord>, RuleError> {
        Ok(self.0.tied(kind, groups, people))
    }

    fn answers(
        &mut self,
        people: &[LookupKey],
        questions: &[LookupKey],
    ) -> Result<Vec<StoredRecord>, RuleError> {
        Ok(self.0.tied(Kind::Answer, questions, people))
    }

    fn count(&mut self, kind: Kind, of: &LookupKey) -> Result<u64, RuleError> {
        let owner = self.0.named(of);
        Ok(owner.map_or(0, |(of, id)| self.0.count(kind, of, &id)))
    }

    fn totals(&mut self, of: &LookupKey) -> Result<Totals, RuleError> {
        let sum = self.0.named(of).and_then(|of| self.0.sums.get(&of));
        Ok(sum.cloned().unwrap_or_default())
    }

    fn part_totals(&mut self, of: &LookupKey) -> Result<Vec<(String, Totals)>, RuleError> {
        let parts = self.0.named(of).and_then(|of| self.0.parts.get(&of));
        let parts = parts.into_iter().flatten();
        Ok(parts
            .map(|(name, sum)| (name.clone(), sum.clone()))
            .collect())
    }

    fn held_tickets(&mut self, person: &Id) -> Result<Vec<HeldTickets>, RuleError> {
        let mut holdings: BTreeMap<i64, Vec<Option<i64>>> = BTreeMap::new();
        let held = self.0.holders.iter();
        for (_, row, place) in held.filter(|(holder, ..)| holder == person) {
            holdings.entry(*row).or_default().push(*place);
        }
        let found = holdings.into_iter().filter_map(|(row, positions)| {
            Some(HeldTickets {
                attendance: self.0.in_row(row)?,
                positions,
            })
        });
        Ok(found.collect())
    }

    fn linked(
        &mut self,
        kind: Kind,
        link: &'static str,
        person: &Id,
        most: u32,
    ) -> Result<Vec<StoredRecord>, RuleError> {
        let rows = self.0.under(kind, link, person).take(most as usize);
        Ok(rows.filter_map(|row| self.0.in_row(row)).collect())
    }

    fn linked_count(&mut self, person: &Id, most: u32) -> Result<u64, RuleError> {
        let held = self.0.holders.iter();
        let held = held.filter(|(holder, ..)| holder == person);
        let linked = person_links().flat_map(|(kind, link)| self.0.under(kind, link, person));
        let mut seen = BTreeSet::new();
        let rows = linked.chain(held.map(|(_, row, _)| *row));
        let rows = rows.filter(|row| seen.insert(*row)).take(most as usize);
        Ok(u64::try_from(rows.count()).unwrap_or(most.into()))
    }

    fn forwarded_person(&mut self, id: &Id) -> Result<Option<Id>, RuleError> {
        Ok(self.0.forwarded_person(id))
    }

    fn forwarded_to(&mut self, id: &Id) -> Result<Vec<Id>, RuleError> {
        let forwarded = self.0.aliases.iter().filter(|(_, to)| *to == id);
        Ok(forwarded.map(|(from, _)| from.clone()).collect())
    }

    fn stored_merge(
        &mut self,
        remaining: &Id,
        merge: &Id,
    ) -> Result<Option<MergeRecord>, RuleError> {
        Ok(self.0.stored_merge(remaining, merge))
    }

    fn email_holders(&mut self, address: &str) -> Result<Vec<RecordLocation>, RuleError> {
        let rows = self.0.keys.get(&LookupKey::Email(address.to_owned()));
        let oldest = rows.into_iter().flatten().take(2);
        Ok(oldest
            .filter_map(|row| Some(self.0.in_row(*row)?.location()))
            .collect())
    }

    fn stored_response(&mut self, key: &Arc<str>) -> Result<Option<StoredResponse>, RuleError> {
        Ok(self.0.kept.get(key).cloned())
    }
}

// The change feed.
impl TenantTables {
    /// Adds the feed entries of a change that is about to be made at this time.
    pub(super) fn add_feed_entries(&mut self, told: &FeedChange<'_>, time: Timestamp) {
        match told {
            FeedChange::Record(what, record) => {
                self.note(RecordChange::new(*what, time, record.clone()));
            }
            FeedChange::Merged(record, person) => {
                let into = merged_into(record, person.clone());
                let entry = RecordChange::new(ChangeKind::Deleted, time, record.clone());
                self.note(entry.with_merged_into(Some(into)));
            }
            FeedChange::DeletedSet(set) => {
                for row in self.rows_of(set) {
                    if let Some((record, _)) = self.rows.get(&row) {
                        self.note(RecordChange::new(
                            ChangeKind::Deleted,
                            time,
                            record.address(),
                        ));
                    }
                }
            }
        }
    }

    /// Replaces the person that feed entries of merged records name, or removes it.
    fn redirect_entries(&mut self, person: &Id, to: Option<&Id>) {
        let names = |into: &RecordAddress| match into.kind.schema().path_parent {
            Some(_) => into.parent.as_ref() == Some(person),
            None => into.id == *person,
        };
        for (_, entry) in &mut self.feed {
            if entry.merged_into.as_ref().is_some_and(names) {
                entry.merged_into = to.map(|to| merged_into(&entry.address, to.clone()));
            }
        }
    }

    fn note(&mut self, entry: RecordChange) {
        let seq = self
            .feed
            .last()
            .map_or(0, |(place, _)| place.seq)
            .saturating_add(1);
        self.feed.push((
            FeedPosition::new(seq, 0, entry.changed_at.as_micros()),
            entry,
        ));
    }

    /// Returns the rows for a page of the feed.
    pub(super) fn feed_after(&self, query: &FeedQuery<'_>) -> FeedRows {
        let FeedQuery {
            after,
            named,
            limit,
            ..
        } = *query;
        let behind = self
            .feed
            .iter()
            .skip_while(|(place, _)| (place.seq, place.row) <= (after.seq, after.row));
        FeedRows {
            is_position_valid: named == FeedPosition::START
                || self.feed.iter().any(|(place, _)| *place == named),
            last: self.feed.last().map(|(place, _)| *place),
            entries: behind.take(limit as usize).cloned().collect(),
        }
    }
}

// Changes.
impl TenantTables {
    /// Applies a change. A change of a nonexistent record has no effect.
    pub(super) fn apply(&mut self, change: &Change) {
        match change {
            Change::Insert(insert) => self.insert(insert),
            Change::Replace(replace) => self.replace(replace),
            Change::SetFields { at, fields } => {
                self.edit(at.kind, &at.id, |record| record.set_fields(fields.clone()));
            }
            Change::SetLink { at, link, to, .. } => {
                if let Some(row) = self.row(&LookupKey::Id(at.kind, at.id.clone())) {
                    self.set_link(row, link, to.as_ref());
                }
            }
            Change::SetSchedule {
                at,
                modified,
                start,
                stop,
            } => self.edit(at.kind, &at.id, |record| {
                record.meta_mut().modified = *modified;
                record.set_computed(
                    ComputedSource::ScheduledStart,
                    start.map(ComputedValue::Timestamp),
                );
                record.set_computed(
                    ComputedSource::ScheduledStop,
                    stop.map(ComputedValue::Timestamp),
                );
            }),
            Change::Delete(set) => self
                .rows_of(set)
                .into_iter()
                .for_each(|row| self.remove(row)),
            Change::ClearLink { kind, link, to } => {
                for row in self.rows_of(&RecordSet::Under(*kind, link, Box::new(to.clone()))) {
                    self.set_link(row, link, None);
                }
            }
            Change::SetTotals { of, sum } => {
                self.sums.insert(of.clone(), sum.clone());
                self.edit(of.0, &of.1, |record| sum.show_on(record));
            }
            Change::SetPartTotals { of, name, sum } => {
                self.parts
                    .entry(of.clone())
                    .or_default()
                    .insert(name.clone(), sum.clone());
            }
            Change::AddTicketHolder { at, place, person } => {
                let row = self.row(&LookupKey::Id(at.kind, at.id.clone()));
                self.holders.extend(row.map(|row| {
                    (
                        person.clone(),
                        row,
                        Some(*place).filter(|place| *place >= 0),
                    )
                }));
            }
            Change::MoveTicketHolders { at, places } => {
                let row = self.row(&LookupKey::Id(at.kind, at.id.clone()));
                let now = |place: Option<i64>| {
                    Some(places.iter().find(|(from, _)| Some(*from) == place)?.1)
                };
                let held = std::mem::take(&mut self.holders).into_iter();
                let is_moved = |attendance| Some(attendance) == row;
                self.holders = held
                    .map(|(who, of, at)| (who, of, if is_moved(of) { now(at) } else { at }))
                    .collect();
            }
            Change::ErasePersonTraces(person) => {
                self.holders.retain(|(holder, ..)| holder != person);
                self.outbox
                    .retain(|_, waiting| waiting.dispatch.recipient() != Some(person));
                self.kept.retain(|_, kept| !kept.people.contains(person));
                let is_own = |id: &Id| id == person || self.aliases.get(id) == Some(person);
                self.merges.retain(|it| !is_own(&it.merge.remaining));
                self.aliases.retain(|_, to| to != person);
                self.redirect_entries(person, None);
                self.apart.retain(|people, _| !people.contains(person));
            }
            Change::ForwardPerson { from, to } => self.forward(from, to),
            Change::StoreMerge(record) => self.store_merge(record),
            Change::RestorePerson(restored) => self.restore(restored),
            Change::SetApart(apart) => match apart.since {
                Some(since) => _ = self.apart.insert(apart.people.clone(), since),
                None => _ = self.apart.remove(&apart.people),
            },
            Change::StoreResponse(kept) => {
                self.kept
                    .retain(|_, known| known.created_at >= kept.expires_before());
                self.kept.insert(Arc::clone(&kept.key), (**kept).clone());
            }
            Change::Enqueue(dispatch) => {
                self.sent = self.sent.saturating_add(1);
                self.outbox
                    .insert(self.sent, QueuedEntry::new((**dispatch).clone()));
            }
            // A page evaluates each record.
            Change::AddIndexValues { .. } => {}
            Change::CancelMessage(message) => {
                self.outbox
                    .retain(|_, waiting| waiting.dispatch.message() != Some(message));
            }
        }
    }

    /// Records that a person was merged into another one, who then has everything that names the
    /// merged person.
    fn forward(&mut self, from: &Id, to: &Id) {
        for known in self.aliases.values_mut().filter(|known| *known == from) {
            *known = to.clone();
        }
        self.aliases.insert(from.clone(), to.clone());
        self.redirect_entries(from, Some(to));
        let renamed = |id: Id| if id == *from { to.clone() } else { id };
        self.holders = std::mem::take(&mut self.holders)
            .into_iter()
            .map(|(person, attendance, place)| (renamed(person), attendance, place))
            .collect();
        for (people, since) in std::mem::take(&mut self.apart) {
            let [one, other] = people.map(renamed);
            if one != other {
                let people = ApartPeople::new(one, other, None).people;
                self.apart.entry(people).or_insert(since);
            }
        }
        for waiting in self.outbox.values_mut() {
            if waiting.dispatch.recipient() == Some(from) {
                waiting.dispatch = waiting.dispatch.clone().with_recipient(to);
            }
        }
        for kept in self.kept.values_mut() {
            if kept.people.contains(from) {
                kept.people.retain(|person| person != from && person != to);
                kept.people.push(to.clone());
            }
        }
    }

    /// Gives a restored person what the other person has since the merge.
    fn restore(&mut self, restored: &RestoredPerson) {
        let RestoredPerson {
            person, remaining, ..
        } = restored;
        self.merges.retain(|it| it.merge.id != restored.merge);
        self.aliases.remove(person);
        for id in &restored.forwarded {
            if let Some(to) = self.aliases.get_mut(id).filter(|to| *to == remaining) {
                *to = person.clone();
            }
        }
        for (_, entry) in &mut self.feed {
            let is_forwarded = entry.address.kind == Kind::Person
                && restored.forwarded.contains(&entry.address.id);
            let into = entry.merged_into.as_mut().filter(|_| is_forwarded);
            if let Some(into) = into.filter(|into| into.id == *remaining) {
                into.id = person.clone();
            }
        }
        for (attendance, place) in &restored.tickets {
            let row = self.row(&LookupKey::Id(attendance.kind, attendance.id.clone()));
            let Some(row) = row else { continue };
            if self.holders.remove(&(remaining.clone(), row, Some(*place))) {
                self.holders.insert((person.clone(), row, Some(*place)));
            }
        }
        for waiting in self.outbox.values_mut() {
            let action = waiting.dispatch.action();
            if waiting.dispatch.recipient() == Some(remaining)
                && action.is_some_and(|action| restored.actions.contains(action))
            {
                waiting.dispatch = waiting.dispatch.clone().with_recipient(person);
            }
        }
        for kept in self.kept.values_mut() {
            if kept.people.contains(remaining) && !kept.people.contains(person) {
                kept.people.push(person.clone());
            }
        }
    }

    /// Stores a merge. Earlier merges into the person cannot be undone for longer.
    fn store_merge(&mut self, record: &MergeRecord) {
        let merge = &record.merge;
        let same = |it: &&mut MergeRecord| it.merge.remaining == merge.remaining;
        for earlier in self.merges.iter_mut().filter(same) {
            earlier.merge.until = earlier.merge.until.min(merge.until);
        }
        self.merges.push(record.clone());
    }

    /// Deletes the responses that were stored before a time, and the merges that could be undone until
    /// before it.
    ///
    /// Requirements: IDM-06.
    pub(super) fn sweep(&mut self, before: Timestamp) {
        self.merges.retain(|it| it.merge.until >= before);
        self.kept.retain(|_, kept| kept.created_at >= before);
    }

    fn edit(&mut self, kind: Kind, id: &Id, edit: impl FnOnce(&mut RawRecord)) {
        if let Some((record, _)) = self
            .ids
            .get(&(kind, id.clone()))
            .and_then(|row| self.rows.get_mut(row))
        {
            edit(record);
        }
    }

    fn insert(&mut self, insert: &InsertRecord) {
        self.youngest = self.youngest.saturating_add(1);
        let (row, kind, id) = (
            self.youngest,
            insert.record.kind(),
            insert.record.meta().id.clone(),
        );
        self.rows.insert(row, (insert.record.clone(), Vec::new()));
        self.ids.insert((kind, id), row);
        if kind.schema().has_collection() {
            self.collections
                .entry((kind, None))
                .or_default()
                .insert(row);
        }
        for reference in kind.schema().references() {
            self.set_link(
                row,
                reference.name,
                insert.record.link(reference.name).map(|to| &to.id),
            );
        }
        self.find_by(
            row,
            &[],
            keys(
                kind,
                insert.name.as_ref(),
                &insert.identifiers,
                &insert.index.emails,
            ),
        );
    }

    fn replace(&mut self, replace: &ReplaceRecord) {
        let (kind, id) = (replace.target.kind, &replace.target.id);
        self.edit(kind, id, |record| {
            record.meta_mut().modified = replace.modified;
            record.meta_mut().identifiers = replace.identifiers.clone();
            record.set_fields(replace.fields.clone());
        });
        let Some(row) = self.row(&LookupKey::Id(kind, id.clone())) else {
            return;
        };
        if kind.schema().link("modified_by").is_some() {
            self.set_link(row, "modified_by", replace.modified_by.as_ref());
        }
        let mut freed = keys(
            kind,
            None,
            &replace.removed_identifiers,
            &replace.removed.emails,
        );
        let known = self.rows.get(&row).into_iter().flat_map(|(_, keys)| keys);
        freed.extend(
            known
                .filter(|key| matches!(key, LookupKey::Name(..)))
                .cloned(),
        );
        self.find_by(
            row,
            &freed,
            keys(
                kind,
                replace.name.as_ref(),
                &replace.added_identifiers,
                &replace.added.emails,
            ),
        );
    }

    /// Replaces keys of a record.
    fn find_by(&mut self, row: i64, freed: &[LookupKey], tied: Vec<LookupKey>) {
        for key in freed {
            self.keys
                .get_mut(key)
                .into_iter()
                .for_each(|rows| _ = rows.remove(&row));
        }
        for key in &tied {
            self.keys.entry(key.clone()).or_default().insert(row);
        }
        if let Some((_, keys)) = self.rows.get_mut(&row) {
            keys.retain(|key| !freed.contains(key));
            keys.extend(tied);
        }
    }

    /// Changes the target of a link or hidden reference of a record.
    fn set_link(&mut self, row: i64, link: &'static str, to: Option<&Id>) {
        let Some(kind) = self.rows.get(&row).map(|(record, _)| record.kind()) else {
            return;
        };
        let reference = kind
            .schema()
            .references()
            .iter()
            .find(|reference| reference.name == link);
        let to = reference.zip(to).map(|(reference, id)| {
            let known = self
                .ids
                .get(&(reference.kind, id.clone()))
                .and_then(|row| self.rows.get(row));
            // In an import, the target can be a person that is imported later.
            known.map_or_else(
                || RecordAddress::without_parent(reference.kind, id.clone()),
                |(record, _)| record.address(),
            )
        });
        let Some((record, _)) = self.rows.get_mut(&row) else {
            return;
        };
        if let Some(before) = record.link(link) {
            self.collections
                .entry((kind, Some((link, before.id.clone()))))
                .or_default()
                .remove(&row);
        }
        if let Some(to) = &to {
            self.collections
                .entry((kind, Some((link, to.id.clone()))))
                .or_default()
                .insert(row);
        }
        record.set_link(link, to.map(LinkValue::Local));
    }

    fn rows_of(&self, set: &RecordSet) -> Vec<i64> {
        match set {
            RecordSet::One(at, _) => self
                .row(&LookupKey::Id(at.kind, at.id.clone()))
                .into_iter()
                .collect(),
            RecordSet::Under(kind, link, inner) => {
                let records = self
                    .rows_of(inner)
                    .into_iter()
                    .filter_map(|row| self.rows.get(&row));
                records
                    .flat_map(|(record, _)| self.under(*kind, link, &record.meta().id))
                    .collect()
            }
        }
    }

    /// Removes a record with its keys, counts and totals.
    fn remove(&mut self, row: i64) {
        let Some((record, keys)) = self.rows.get(&row).cloned() else {
            return;
        };
        let (kind, own) = (record.kind(), (record.kind(), record.meta().id.clone()));
        self.find_by(row, &keys, Vec::new());
        kind.schema()
            .references()
            .iter()
            .for_each(|reference| self.set_link(row, reference.name, None));
        self.collections
            .get_mut(&(kind, None))
            .into_iter()
            .for_each(|rows| _ = rows.remove(&row));
        self.holders.retain(|(_, attendance, _)| *attendance != row);
        self.forget_keys(row);
        self.rows.remove(&row);
        self.ids.remove(&own);
        self.sums.remove(&own);
        self.parts.remove(&own);
    }
}
