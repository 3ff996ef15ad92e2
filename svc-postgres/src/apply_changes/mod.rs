//! Collects the changes of the rules over all requests of a transaction. One statement writes each
//! table, however many requests there are.

mod records;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use records::{RowInserts, RowUpdates, place};
use svc_core::{
    backend::{ChangeKind, OutboxEntry},
    model::Kind,
    store::{
        Change, ChangeTarget, IndexValues, InsertRecord, MergeRecord, RecordSet, ReplaceRecord,
        RestoredPerson, StoredRecord, StoredResponse, Totals,
    },
    value::{Id, Timestamp},
};
use svc_store::{duplicates::DuplicateIndex, feed::FeedChange, lookup};
use uuid::Uuid;

use crate::{
    database::DatabaseHandle,
    duplicates::sort,
    error::{Result, StoreError},
    pipeline::{SqlQuery, SqlValue, columns, of_tenant, values},
    record_layout::{ALL, layout},
    record_sets::Removal,
    rows::{code, try_parse},
    statements::Texts,
};

/// The person id of the row that has the stored response itself.
const NOBODY: Uuid = Uuid::nil();

/// The collected changes of a transaction.
pub(crate) struct ChangeApplier<'a> {
    texts: &'a Texts,
    schema: &'a str,
    index: &'a DuplicateIndex,
    tenant: i64,
    /// The number of the last new record.
    seq: i64,
    /// Numbers of the records that this transaction inserts.
    made: HashMap<(Kind, Id), i64>,
    inserts: RowInserts,
    updates: RowUpdates,
    /// The final owner of each identifier and address that was changed.
    identifiers: BTreeMap<(i16, Uuid), Option<i64>>,
    emails: BTreeMap<(Uuid, i64), bool>,
    /// Each key of a person that was changed, by kind, hash and record, and whether the record now has
    /// it.
    keys: BTreeMap<(i16, i64, i64), bool>,
    /// Each text that was changed, by field, text and record, and whether the record now has it.
    texts_of_records: BTreeMap<(String, String, i64), bool>,
    /// The count deltas of each collection, by members, and kind and id of the owner.
    counts: BTreeMap<(i16, i16, Uuid), CollectionDelta>,
    sums: BTreeMap<(i16, i16, Uuid), Totals>,
    parts: BTreeMap<(Uuid, String), Totals>,
    /// Person, attendance and ticket.
    holders: Vec<(Uuid, i64, i64)>,
    /// Key, person, time and response.
    kept: Vec<(String, Uuid, i64, Option<Vec<u8>>)>,
    outbox: Vec<OutboxRow>,
    /// Whether outbox entries are added.
    pub(crate) sends: bool,
    told: Vec<FeedRow>,
    /// The id of a deleted record, what is deleted with it, and the time of the feed entries, unless
    /// they are in `told`. It is written after all steps.
    removal: Option<(Uuid, Removal, Option<Timestamp>)>,
    /// Statements that must be executed in this order.
    steps: Vec<(String, Vec<SqlValue>)>,
}

/// The count delta of a collection, and whether jumps must reload it: see `page_jumps`.
#[derive(Default)]
struct CollectionDelta {
    records: i64,
    is_moved: bool,
}

/// An entry of the change feed.
struct FeedRow {
    seq: i64,
    step: i64,
    kind: i16,
    id: Uuid,
    parent: Option<Uuid>,
    what: i16,
    at: i64,
    target: Option<Uuid>,
}

/// A new outbox entry.
struct OutboxRow {
    seq: i64,
    person: Option<Uuid>,
    message: Option<Uuid>,
    due: i64,
    body: String,
}

impl<'a> ChangeApplier<'a> {
    pub(crate) fn new(database: &'a DatabaseHandle, tenant: i64, seq: i64) -> Result<Self> {
        Ok(Self {
            texts: &database.texts,
            schema: &database.options.schema,
            index: database.duplicate_index()?,
            tenant,
            seq,
            made: HashMap::new(),
            inserts: RowInserts::default(),
            updates: RowUpdates::default(),
            identifiers: BTreeMap::new(),
            emails: BTreeMap::new(),
            keys: BTreeMap::new(),
            texts_of_records: BTreeMap::new(),
            counts: BTreeMap::new(),
            sums: BTreeMap::new(),
            parts: BTreeMap::new(),
            holders: Vec::new(),
            kept: Vec::new(),
            outbox: Vec::new(),
            sends: false,
            told: Vec::new(),
            removal: None,
            steps: Vec::new(),
        })
    }

    /// Adds the feed entry of a change that is added next.
    pub(crate) fn add_feed_entries(
        &mut self,
        told: &FeedChange<'_>,
        time: Timestamp,
    ) -> Result<()> {
        let (what, record, person) = match told {
            FeedChange::Record(what, record) => (*what, record, None),
            FeedChange::Merged(record, person) => (ChangeKind::Deleted, record, Some(person)),
            FeedChange::DeletedSet(set) => {
                *self.removal(set)?.1 = Some(time);
                return Ok(());
            }
            other => {
                return Err(StoreError::unexpected(format!(
                    "this store has no feed entry for {other:?}"
                )));
            }
        };
        self.remove();
        let seq = self.next();
        self.told.push(FeedRow {
            seq,
            step: 0,
            kind: code(record.kind),
            id: try_parse(&record.id)?,
            parent: record.parent.as_ref().map(try_parse).transpose()?,
            what: what as i16,
            at: time.as_micros(),
            target: person.map(try_parse).transpose()?,
        });
        Ok(())
    }

    /// Adds a change of a request.
    pub(crate) fn change(&mut self, change: &Change) -> Result<()> {
        if !matches!(
            change,
            Change::Delete(_) | Change::ClearLink { .. } | Change::ErasePersonTraces(_)
        ) {
            self.remove();
        }
        match change {
            Change::Insert(insert) => self.insert(insert)?,
            Change::Replace(replace) => self.replace(replace)?,
            Change::SetFields { at, fields } => {
                self.edit(at, |row| row.body = Some(fields.to_vec()))?;
            }
            Change::SetLink { at, link, from, to } => {
                self.set_link(at, link, from.as_ref(), to.as_ref())?;
            }
            Change::SetSchedule {
                at,
                modified,
                start,
                stop,
            } => {
                let (start, stop) = (
                    start.map(Timestamp::as_micros),
                    stop.map(Timestamp::as_micros),
                );
                self.edit(at, |row| {
                    row.modified = Some(modified.as_micros());
                    row.schedule(start, stop);
                })?;
            }
            Change::Delete(set) => {
                self.removal(set)?.0.delete(set);
                if let RecordSet::One(at, index) = set {
                    let row = self.row(at)?;
                    self.set_keys(index, row, false);
                }
            }
            Change::ClearLink { kind, link, to } => {
                let (_, column) = layout(*kind).column(link).ok_or_else(no_link)?;
                self.removal(to)?.0.clear(*kind, column, to);
            }
            Change::AddIndexValues { at, added } => {
                let row = self.row(at)?;
                self.set_values(added, row, true);
            }
            Change::SetTotals { of, sum } => {
                let members = layout(of.0).table.counts.ok_or_else(|| {
                    StoreError::unexpected("a record without measures has totals")
                })?;
                self.sums
                    .insert((code(members), code(of.0), try_parse(&of.1)?), sum.clone());
            }
            Change::SetPartTotals {
                of: (_, id),
                name,
                sum,
            } => {
                self.parts
                    .insert((try_parse(id)?, name.clone()), sum.clone());
            }
            Change::AddTicketHolder { at, place, person } => {
                let held = (try_parse(person)?, self.row(at)?, *place);
                self.holders.push(held);
            }
            Change::MoveTicketHolders { at, places } => {
                let row = self.row(at)?;
                let (old, now): (Vec<i64>, Vec<i64>) = places.iter().copied().unzip();
                self.finish();
                self.step(
                    &self.texts.lift_holders,
                    values![self.tenant, row, old, now],
                );
                self.step(&self.texts.drop_holders, values![self.tenant, row]);
                self.step(&self.texts.lower_holders, values![self.tenant, row]);
            }
            Change::ErasePersonTraces(person) => self.removal_with(try_parse(person)?).0.forget(),
            Change::SetApart(apart) => {
                self.finish();
                let (text, values) = self.texts.duplicates.apart_change(self.tenant, apart)?;
                self.step(text, values);
            }
            Change::StoreMerge(record) => {
                let MergeRecord { merge, body, .. } = &**record;
                let [id, remaining, merged] =
                    [&merge.id, &merge.remaining, &merge.merged].map(try_parse);
                let (id, remaining, merged) = (id?, remaining?, merged?);
                let (at, until) = (merge.at.as_micros(), merge.until.as_micros());
                let (key_name, body) = (merge.key_name.clone(), body.to_vec());
                let (texts, tenant) = (self.texts, self.tenant);
                self.finish();
                let earlier = values![tenant, remaining, at, until];
                self.step(&texts.merges.limit_merges, earlier);
                let stored = values![tenant, id, remaining, merged, at, until, key_name, body];
                self.step(&texts.merges.insert_merge, stored);
            }
            Change::RestorePerson(restored) => self.restore(restored)?,
            Change::ForwardPerson { from, to } => self.forward(try_parse(from)?, try_parse(to)?),
            Change::StoreResponse(kept) => self.store_response(kept)?,
            Change::Enqueue(dispatch) => self.outbox(dispatch)?,
            Change::CancelMessage(message) => {
                let message = try_parse(message)?;
                self.finish();
                self.step(&self.texts.recall_outbox, values![self.tenant, message]);
            }
        }
        Ok(())
    }

    /// Returns the statements to execute in order, and the new number of the ledger.
    pub(crate) fn take(&mut self) -> (i64, Vec<(String, Vec<SqlValue>)>) {
        self.remove();
        // Each transaction has a number, including one that inserts no record.
        let seq = self.next();
        self.finish();
        (seq, std::mem::take(&mut self.steps))
    }

    fn step(&mut self, text: &str, values: Vec<SqlValue>) {
        self.steps.push((text.to_owned(), values));
    }

    fn next(&mut self) -> i64 {
        self.seq = self.seq.saturating_add(1);
        self.seq
    }

    /// Returns the number of the record that a change refers to.
    fn row(&self, at: &ChangeTarget) -> Result<i64> {
        if at.row != StoredRecord::UNSAVED_ROW {
            return Ok(at.row);
        }
        let made = self.made.get(&(at.kind, at.id.clone()));
        made.copied()
            .ok_or_else(|| StoreError::unexpected("a change refers to an unknown record"))
    }

    fn edit(
        &mut self,
        at: &ChangeTarget,
        edit: impl FnOnce(&mut records::RowUpdate),
    ) -> Result<()> {
        let row = self.row(at)?;
        edit(self.updates.of(code(at.kind), row));
        Ok(())
    }

    fn count(
        &mut self,
        members: Kind,
        of: Option<(Kind, &Id)>,
        by: i64,
        is_moved: bool,
    ) -> Result<()> {
        let (scope, owner) = match of {
            Some((kind, id)) => (code(kind), try_parse(id)?),
            None => (0, ALL),
        };
        let won = self
            .counts
            .entry((code(members), scope, owner))
            .or_default();
        won.records = won.records.saturating_add(by);
        won.is_moved |= is_moved;
        Ok(())
    }

    fn insert(&mut self, insert: &InsertRecord) -> Result<()> {
        let (record, row) = (&insert.record, self.next());
        let kind = record.kind();
        self.inserts.push(insert, row)?;
        self.made.insert((kind, record.meta().id.clone()), row);
        for identifier in &insert.identifiers {
            self.identifiers.insert(
                (
                    code(kind),
                    Uuid::from_bytes(lookup::hash_identifier(identifier)),
                ),
                Some(row),
            );
        }
        self.set_values(&insert.index, row, true);
        if kind.schema().has_collection() {
            self.count(kind, None, 1, false)?;
        }
        for (reference, _) in layout(kind).scopes() {
            if let Some(owner) = record.link(reference.name) {
                self.count(kind, Some((reference.kind, &owner.id)), 1, false)?;
            }
        }
        Ok(())
    }

    fn replace(&mut self, replace: &ReplaceRecord) -> Result<()> {
        let (row, kind) = (self.row(&replace.target)?, code(replace.target.kind));
        let update = self.updates.of(kind, row);
        update.modified = Some(replace.modified.as_micros());
        update.identifiers = Some(replace.identifiers.as_json().to_owned());
        update.body = Some(replace.fields.to_vec());
        update.link(
            place("modified_by"),
            replace.modified_by.as_ref().map(try_parse).transpose()?,
        );
        update.name(replace.name.clone());
        for (identifiers, to) in [
            (&replace.removed_identifiers, None),
            (&replace.added_identifiers, Some(row)),
        ] {
            for identifier in identifiers {
                self.identifiers.insert(
                    (kind, Uuid::from_bytes(lookup::hash_identifier(identifier))),
                    to,
                );
            }
        }
        self.set_values(&replace.removed, row, false);
        self.set_values(&replace.added, row, true);
        Ok(())
    }

    /// Sets whether a record can be found by these values.
    fn set_values(&mut self, values: &IndexValues, row: i64, is_tied: bool) {
        for email in &values.emails {
            let hash = Uuid::from_bytes(lookup::hash_email(email));
            self.emails.insert((hash, row), is_tied);
        }
        self.set_keys(values, row, is_tied);
        for key in &values.texts {
            let (field, text) = (key.field().as_str().to_owned(), key.text().to_owned());
            self.texts_of_records.insert((field, text, row), is_tied);
        }
    }

    fn set_keys(&mut self, values: &IndexValues, row: i64, is_tied: bool) {
        for key in &values.keys {
            let key = self.index.hash(key);
            self.keys.insert((sort(key), key.hash, row), is_tied);
        }
    }

    fn set_link(
        &mut self,
        at: &ChangeTarget,
        link: &str,
        from: Option<&Id>,
        to: Option<&Id>,
    ) -> Result<()> {
        let (reference, column) = layout(at.kind).column(link).ok_or_else(no_link)?;
        let to_id = to.map(try_parse).transpose()?;
        self.edit(at, |row| row.link(place(column), to_id))?;
        if reference.is_scope {
            for (owner, by) in [(from, -1), (to, 1)] {
                if let Some(owner) = owner {
                    self.count(at.kind, Some((reference.kind, owner)), by, true)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the removal that a set belongs to. Consecutive sets with the same root record share
    /// one.
    fn removal(&mut self, set: &RecordSet) -> Result<(&mut Removal, &mut Option<Timestamp>)> {
        Ok(self.removal_with(bottom(set)?))
    }

    fn removal_with(&mut self, bottom: Uuid) -> (&mut Removal, &mut Option<Timestamp>) {
        if self
            .removal
            .as_ref()
            .is_some_and(|(other, ..)| *other != bottom)
        {
            self.remove();
        }
        if self.removal.is_none() {
            // Its statements see all earlier changes.
            self.finish();
        }
        let new = || (bottom, Removal::default(), None);
        let (_, removal, time) = self.removal.get_or_insert_with(new);
        (removal, time)
    }

    /// Adds the statements of the removal, if there is one.
    fn remove(&mut self) {
        let Some((bottom, removal, time)) = self.removal.take() else {
            return;
        };
        // A link to deleted records is cleared before they are deleted.
        if let Some(text) = removal.clear_link_sql(self.schema) {
            self.steps.push((text, values![self.tenant, bottom]));
        }
        let entries = time.and_then(|time| Some((removal.feed_sql(self.schema)?, time)));
        if let Some((text, time)) = entries {
            let first = self.seq.saturating_add(1);
            self.seq = self.seq.saturating_add(removal.numbers());
            self.steps
                .push((text, values![self.tenant, bottom, first, time.as_micros()]));
        }
        for text in [
            removal.discounting(self.schema),
            removal.delete_sql(self.schema),
        ]
        .into_iter()
        .flatten()
        {
            self.steps.push((text, values![self.tenant, bottom]));
        }
    }

    /// Records that a person was merged into another one, who then has everything that names the
    /// merged person.
    fn forward(&mut self, from: Uuid, to: Uuid) {
        self.finish();
        let (texts, tenant) = (self.texts, self.tenant);
        for text in [
            &texts.forward_aliases,
            &texts.add_alias,
            &texts.forward_holders,
            &texts.forward_kept,
            &texts.forward_feed,
            &texts.forward_outbox,
            &texts.duplicates.forward_apart,
        ] {
            self.step(text, values![tenant, from, to]);
        }
        for text in [
            &texts.leave_holders,
            &texts.leave_kept,
            &texts.duplicates.leave_apart,
            &texts.duplicates.leave_other_apart,
        ] {
            self.step(text, values![tenant, from]);
        }
    }

    /// Gives a restored person what the other person has since the merge, and deletes the stored merge.
    fn restore(&mut self, restored: &RestoredPerson) -> Result<()> {
        let [person, remaining, merge] =
            [&restored.person, &restored.remaining, &restored.merge].map(try_parse);
        let (person, remaining, merge) = (person?, remaining?, merge?);
        let forwarded = restored.forwarded.iter().map(try_parse);
        let forwarded = forwarded.collect::<Result<Vec<Uuid>>>()?;
        let tickets = restored.tickets.iter();
        let tickets = tickets.map(|(at, place)| Ok((self.row(at)?, *place)));
        let (rows, places): (Vec<i64>, Vec<i64>) =
            tickets.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let actions = restored.actions.iter().map(|id| format!("%{id}%"));
        let actions: Vec<String> = actions.collect();
        self.finish();
        let (texts, tenant) = (self.texts, self.tenant);
        self.step(&texts.merges.drop_merge, values![tenant, remaining, merge]);
        self.step(&texts.merges.drop_alias, values![tenant, person]);
        for text in [&texts.merges.return_aliases, &texts.merges.return_feed] {
            let values = values![tenant, remaining, person, forwarded.clone()];
            if !forwarded.is_empty() {
                self.step(text, values);
            }
        }
        if !rows.is_empty() {
            let values = values![tenant, remaining, person, rows.clone(), places.clone()];
            self.step(&texts.merges.return_holders, values);
            self.step(
                &texts.merges.release_holders,
                values![tenant, remaining, rows, places],
            );
        }
        if !actions.is_empty() {
            let values = values![tenant, remaining, person, actions];
            self.step(&texts.merges.return_outbox, values);
        }
        self.step(&texts.merges.share_kept, values![tenant, remaining, person]);
        Ok(())
    }

    fn store_response(&mut self, kept: &StoredResponse) -> Result<()> {
        if self.kept.is_empty() {
            self.step(
                &self.texts.expire_kept,
                values![self.tenant, kept.expires_before().as_micros()],
            );
        }
        let (key, at) = (kept.key.to_string(), kept.created_at.as_micros());
        // A repeated request of the same transaction replaces the response. One statement must not
        // write a row twice.
        self.kept.retain(|(other, ..)| *other != key);
        for person in &kept.people {
            self.kept.push((key.clone(), try_parse(person)?, at, None));
        }
        self.kept.push((key, NOBODY, at, Some(kept.body.to_vec())));
        Ok(())
    }

    fn outbox(&mut self, dispatch: &OutboxEntry) -> Result<()> {
        let seq = self.next();
        self.sends = true;
        self.outbox.push(OutboxRow {
            seq,
            person: dispatch.recipient().map(try_parse).transpose()?,
            message: dispatch.message().map(try_parse).transpose()?,
            due: dispatch.due_at().as_micros(),
            body: dispatch.serialize(),
        });
        Ok(())
    }
}

/// Creates the statements that write the collected changes: one per table.
impl ChangeApplier<'_> {
    fn finish(&mut self) {
        let (texts, tenant) = (self.texts, self.tenant);
        let (inserts, updates) = (
            std::mem::take(&mut self.inserts),
            std::mem::take(&mut self.updates),
        );
        // New records come first, because updates may refer to them. A name that an update releases
        // can be used from the next transaction on.
        if let Some(values) = inserts.values(tenant) {
            self.step(&texts.insert_records, values);
        }
        if let Some(values) = updates.values(tenant) {
            self.step(&texts.update_records, values);
        }
        let (tied, freed) = partition(
            std::mem::take(&mut self.identifiers)
                .into_iter()
                .map(|((kind, hash), row)| (row.is_some(), (kind, hash, row.unwrap_or_default()))),
        );
        self.rows(&texts.free_identifiers, freed, |rows| columns!(rows; 0, 1));
        self.rows(&texts.tie_identifiers, tied, |rows| columns!(rows; 0, 1, 2));
        let (tied, freed) = partition(
            std::mem::take(&mut self.emails)
                .into_iter()
                .map(|(email, is_tied)| (is_tied, email)),
        );
        self.rows(&texts.free_emails, freed, |rows| columns!(rows; 0, 1));
        self.rows(&texts.tie_emails, tied, |rows| columns!(rows; 0, 1));
        let (tied, freed) = partition(
            std::mem::take(&mut self.texts_of_records)
                .into_iter()
                .map(|(key, is_tied)| (is_tied, key)),
        );
        self.rows(&texts.free_texts, freed, |rows| columns!(rows; 0, 1, 2));
        self.rows(&texts.tie_texts, tied, |rows| columns!(rows; 0, 1, 2));
        let keys = std::mem::take(&mut self.keys);
        let of_key = |key: &(i16, i64, i64)| (key.0, key.1);
        let changed: BTreeSet<(i16, i64)> = keys.keys().map(of_key).collect();
        let (tied, freed) = partition(keys.into_iter().map(|(key, is_tied)| (is_tied, key)));
        let left: BTreeSet<(i16, i64)> = freed.iter().map(of_key).collect();
        let all = &texts.duplicates;
        self.rows(&all.free_keys, freed, |rows| columns!(rows; 0, 1, 2));
        self.rows(&all.tie_keys, tied, |rows| columns!(rows; 0, 1, 2));
        for (text, keys) in [(&all.unshare_keys, left), (&all.share_keys, changed)] {
            let keys = keys.into_iter().collect();
            self.rows(text, keys, |rows| columns!(rows; 0, 1));
        }
        let counts = std::mem::take(&mut self.counts).into_iter();
        let counts = counts
            .map(|((members, of, owner), won)| (members, of, owner, won.records, won.is_moved));
        let counts = counts.filter(|won| won.3 != 0 || won.4).collect();
        self.rows(&texts.count, counts, |rows| columns!(rows; 0, 1, 2, 3, 4));
        let sums = std::mem::take(&mut self.sums).into_iter();
        let sums = sums
            .map(|((members, of, owner), sum)| (members, of, owner, sum.to_text()))
            .collect();
        self.rows(&texts.set_sums, sums, |rows| columns!(rows; 0, 1, 2, 3));
        let parts = std::mem::take(&mut self.parts).into_iter();
        let parts = parts
            .map(|((owner, name), sum)| (owner, name, sum.to_text()))
            .collect();
        self.rows(&texts.set_parts, parts, |rows| columns!(rows; 0, 1, 2));
        let holders = std::mem::take(&mut self.holders);
        self.rows(&texts.hold, holders, |rows| columns!(rows; 0, 1, 2));
        let kept = std::mem::take(&mut self.kept);
        self.rows(&texts.keep, kept, |rows| columns!(rows; 0, 1, 2, 3));
        let outbox = std::mem::take(&mut self.outbox);
        let told = std::mem::take(&mut self.told);
        self.rows(
            &texts.tell,
            told,
            |rows| columns!(rows; seq, step, kind, id, parent, what, at, target),
        );
        self.rows(
            &texts.outbox,
            outbox,
            |rows| columns!(rows; seq, person, message, due, body),
        );
    }

    /// Adds one statement for the rows, if there are any.
    fn rows<T>(
        &mut self,
        text: &str,
        mut rows: Vec<T>,
        values: impl FnOnce(&mut Vec<T>) -> Vec<SqlValue>,
    ) {
        if !rows.is_empty() {
            self.step(text, of_tenant(self.tenant, [values(&mut rows)]));
        }
    }
}

/// Returns the marked items, and the others.
fn partition<T>(all: impl Iterator<Item = (bool, T)>) -> (Vec<T>, Vec<T>) {
    let (marked, others): (Vec<_>, Vec<_>) = all.partition(|(is_marked, _)| *is_marked);
    let bare = |all: Vec<(bool, T)>| all.into_iter().map(|(_, one)| one).collect();
    (bare(marked), bare(others))
}

/// Returns the id of the root record of a set.
fn bottom(set: &RecordSet) -> Result<Uuid> {
    match set {
        RecordSet::One(at, _) => try_parse(&at.id),
        RecordSet::Under(_, _, inner) => bottom(inner),
    }
}

fn no_link() -> StoreError {
    StoreError::unexpected("a change refers to a link that the kind does not have")
}

/// Converts statements to queries.
pub(crate) fn queries<'a>(all: Vec<(String, Vec<SqlValue>)>) -> impl Iterator<Item = SqlQuery<'a>> {
    all.into_iter()
        .map(|(text, values)| SqlQuery::new(text, values))
}
