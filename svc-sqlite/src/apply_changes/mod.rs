//! Applies the changes of the rules to the file, in the transaction of the writer.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use rusqlite::{Connection, ToSql};
use svc_core::{
    duplicates::{PersonKey, PersonKeyKind},
    filter::TextKey,
    model::Kind,
    record::Identifiers,
    store::{
        Change, ChangeTarget, IndexValues, InsertRecord, RecordSet, ReplaceRecord, StoredRecord,
        Totals,
    },
    value::{Id, Identifier, Timestamp},
};
use svc_store::{
    TenantDeltas,
    duplicates::{DuplicateIndex, HashedKey},
    lookup,
    offset_index::{MembershipChange, collection_key},
};

use crate::{
    aliases, duplicates,
    error::{Result, StoreError},
    lookups::{ANY, holders},
    merges, metadata, outbox,
    record_id::RecordId,
    record_sets,
    schema::{SqliteTable, table},
    stored_responses,
    tenant_deltas::store_counts,
};

/// Applies the changes of write requests, and collects which rows join and leave collections.
pub(crate) struct ChangeApplier<'a> {
    file: &'a Connection,
    tenant: i64,
    pub(crate) tally: &'a mut TenantDeltas,
    /// Rows that this transaction has inserted, the newest last.
    made: Vec<(Id, i64)>,
    moves: Vec<MembershipChange>,
    /// The hashes of keys. Unless it is given, it is read with the first key.
    index: Option<Cow<'a, DuplicateIndex>>,
}

impl<'a> ChangeApplier<'a> {
    pub(crate) fn new(file: &'a Connection, tenant: i64, tally: &'a mut TenantDeltas) -> Self {
        Self {
            file,
            tenant,
            tally,
            made: Vec::new(),
            moves: Vec::new(),
            index: None,
        }
    }

    /// Hashes keys with this index, instead of the secret of the file.
    pub(crate) fn with_index(mut self, index: &'a DuplicateIndex) -> Self {
        self.index = Some(Cow::Borrowed(index));
        self
    }

    /// Returns which rows joined and left collections.
    pub(crate) fn into_moves(self) -> Vec<MembershipChange> {
        self.moves
    }

    pub(crate) fn change(&mut self, change: &Change) -> Result<()> {
        match change {
            Change::Insert(insert) => self.insert(insert),
            Change::Replace(replace) => self.replace(replace),
            Change::SetFields { at, fields } => {
                let sql = &table(at.kind).sql.set_body;
                self.run(sql, &[&self.tenant, &self.row(at)?, &fields.as_ref()])
            }
            Change::SetLink { at, link, from, to } => self.set_link(at, link, from.as_ref(), to.as_ref()),
            Change::SetSchedule { at, modified, start, stop } => self.run(
                "UPDATE messages SET modified = ?3, scheduled_start = ?4, scheduled_stop = ?5 WHERE tenant = ?1 AND seq = ?2",
                &[
                    &self.tenant,
                    &self.row(at)?,
                    &modified.as_micros(),
                    &start.map(Timestamp::as_micros),
                    &stop.map(Timestamp::as_micros),
                ],
            ),
            Change::Delete(set) => self.delete(set),
            Change::ClearLink { kind, link, to } => self.clear_link(table(*kind), link, to),
            Change::AddIndexValues { at, added } => {
                let row = self.row(at)?;
                self.tie_values(added, row)
            }
            Change::SetTotals { of, sum } => self.set_sum(of, sum),
            Change::SetPartTotals { of: (_, id), name, sum } => self.run(
                "INSERT INTO part (tenant, owner, name, measures) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET measures = excluded.measures",
                &[&self.tenant, &RecordId::try_parse(id)?, name, &sum.to_text()],
            ),
            Change::AddTicketHolder { at, place, person } => self.add_ticket_holder(self.row(at)?, *place, RecordId::try_parse(person)?),
            Change::MoveTicketHolders { at, places } => self.move_holders(self.row(at)?, places),
            Change::ErasePersonTraces(id) => {
                let person = RecordId::try_parse(id)?;
                self.run("DELETE FROM holder WHERE tenant = ?1 AND person = ?2", &[&self.tenant, &person])?;
                outbox::forget(self.file, self.tenant, person)?;
                merges::forget(self.file, self.tenant, person)?;
                aliases::forget(self.file, self.tenant, person)?;
                duplicates::forget(self.file, self.tenant, person)?;
                stored_responses::forget(self.file, self.tenant, id)
            }
            Change::ForwardPerson { from, to } => {
                let (from, to) = (RecordId::try_parse(from)?, RecordId::try_parse(to)?);
                duplicates::forward(self.file, self.tenant, from, to)?;
                aliases::forward(self.file, self.tenant, from, to)
            }
            Change::StoreMerge(record) => merges::put(self.file, self.tenant, record),
            Change::RestorePerson(restored) => {
                let tickets = restored.tickets.iter();
                let tickets = tickets.map(|(at, place)| Ok((self.row(at)?, *place)));
                let tickets = tickets.collect::<Result<Vec<_>>>()?;
                merges::restore(self.file, self.tenant, restored, &tickets)
            }
            Change::SetApart(apart) => duplicates::set_apart(self.file, self.tenant, apart),
            Change::StoreResponse(kept) => stored_responses::put(self.file, self.tenant, kept),
            Change::Enqueue(dispatch) => outbox::put(self.file, self.tenant, dispatch),
            Change::CancelMessage(message) => outbox::recall(self.file, self.tenant, message),
        }
    }

    fn run(&self, sql: &str, parameters: &[&dyn ToSql]) -> Result<()> {
        self.file.prepare_cached(sql)?.execute(parameters)?;
        Ok(())
    }

    /// Returns the row of the record that a change refers to.
    fn row(&self, at: &ChangeTarget) -> Result<i64> {
        if at.row != StoredRecord::UNSAVED_ROW {
            return Ok(at.row);
        }
        let made = self.made.iter().rev().find(|(id, _)| *id == at.id);
        made.map(|(_, row)| *row)
            .ok_or_else(|| StoreError::unexpected("a change refers to an unknown record"))
    }

    fn insert(&mut self, insert: &InsertRecord) -> Result<()> {
        let record = &insert.record;
        let table = table(record.kind());
        let meta = record.meta();
        let id = RecordId::try_parse(&meta.id)?;
        let links: Vec<Option<RecordId>> = table
            .columns
            .iter()
            .map(|column| {
                record
                    .link(column.name)
                    .map(|to| RecordId::try_parse(&to.id))
                    .transpose()
            })
            .collect::<Result<_>>()?;
        let (created, modified, identifiers) = (
            meta.created.as_micros(),
            meta.modified.as_micros(),
            meta.identifiers.as_json(),
        );
        let body = record.wire_fields();
        let mut values: Vec<&dyn ToSql> = Vec::with_capacity(table.columns.len().saturating_add(7));
        values.extend([
            &self.tenant as &dyn ToSql,
            &id,
            &created,
            &modified,
            &identifiers,
            &body,
        ]);
        values.extend(links.iter().map(|link| link as &dyn ToSql));
        if table.has_unique_name() {
            values.push(&insert.name);
        }
        self.run(&table.sql.insert, &values)?;
        let row = self.file.last_insert_rowid();
        self.made.push((meta.id.clone(), row));
        self.tie_identifiers(table, &insert.identifiers, row)?;
        self.tie_values(&insert.index, row)?;
        if table.kind.schema().has_collection() {
            self.change_membership(table, None, row, true)?;
        }
        for column in table.scopes() {
            if let Some(owner) = record.link(column.name) {
                self.change_membership(table, Some((column.kind, &owner.id)), row, true)?;
            }
        }
        Ok(())
    }

    fn replace(&mut self, replace: &ReplaceRecord) -> Result<()> {
        let table = table(replace.target.kind);
        let row = self.row(&replace.target)?;
        let (modified, identifiers, body) = (
            replace.modified.as_micros(),
            replace.identifiers.as_json(),
            replace.fields.as_ref(),
        );
        let modified_by = replace
            .modified_by
            .as_ref()
            .map(RecordId::try_parse)
            .transpose()?;
        let mut values: Vec<&dyn ToSql> = vec![&self.tenant, &row, &modified, &identifiers, &body];
        if table.column("modified_by").is_some() {
            values.push(&modified_by);
        }
        if table.has_unique_name() {
            values.push(&replace.name);
        }
        self.run(&table.sql.update, &values)?;
        self.free_identifiers(table, &replace.removed_identifiers)?;
        self.tie_identifiers(table, &replace.added_identifiers, row)?;
        self.free_values(&replace.removed, row)?;
        self.tie_values(&replace.added, row)
    }

    fn set_link(
        &mut self,
        at: &ChangeTarget,
        link: &str,
        from: Option<&Id>,
        to: Option<&Id>,
    ) -> Result<()> {
        let (table, row) = (table(at.kind), self.row(at)?);
        let Some((place, column)) = table
            .columns
            .iter()
            .enumerate()
            .find(|(_, column)| column.name == link)
        else {
            return Err(StoreError::unexpected(
                "a change refers to a link that the kind does not have",
            ));
        };
        let sql = table.sql.set_column.get(place).map_or("", String::as_str);
        self.run(
            sql,
            &[
                &self.tenant,
                &row,
                &to.map(RecordId::try_parse).transpose()?,
            ],
        )?;
        for (owner, is_member) in [(from, false), (to, true)] {
            if let Some(owner) = owner.filter(|_| column.is_scope) {
                self.change_membership(table, Some((column.kind, owner)), row, is_member)?;
            }
        }
        Ok(())
    }

    /// Deletes records, with their index entries and totals.
    fn delete(&mut self, set: &RecordSet) -> Result<()> {
        let (table, id) = (table(set.kind()), bottom(set)?);
        // The totals of the collections under these records are deleted with them.
        store_counts(self.file, self.tally)?;
        let gone = self.leave_collections(table, set, id)?;
        if let RecordSet::One(at, index) = set {
            let row = self.row(at)?;
            self.free_values(index, row)?;
        }
        record_sets::delete_sql(table, set)
            .iter()
            .try_for_each(|sql| self.run(sql, &[&self.tenant, &id]))?;
        if table.kind.schema().has_collection() {
            self.tally
                .add_count(self.tenant, table.kind, None, gone.saturating_neg());
        }
        Ok(())
    }

    /// Removes records from every collection that they are in, and releases their identifiers.
    /// Returns how many records these are.
    fn leave_collections(
        &mut self,
        table: &SqliteTable,
        set: &RecordSet,
        id: RecordId,
    ) -> Result<i64> {
        let scopes: Vec<Kind> = table.scopes().map(|column| column.kind).collect();
        let mut statement = self
            .file
            .prepare_cached(&record_sets::select_set_sql(table, set))?;
        let mut rows = statement.query((self.tenant, id))?;
        let mut gone: i64 = 0;
        let mut identified = Vec::new();
        while let Some(row) = rows.next()? {
            let seq: i64 = row.get(0)?;
            gone = gone.saturating_add(1);
            let identifiers = row.get_ref(1)?.as_str()?;
            if !identifiers.is_empty() {
                identified.push(Identifiers::from_stored(identifiers.to_owned()));
            }
            if table.kind.schema().has_collection() {
                self.moves.push(moved(self.tenant, table, None, seq, false));
            }
            for (place, kind) in scopes.iter().enumerate() {
                if let Some(owner) = row.get::<_, Option<RecordId>>(place.saturating_add(2))? {
                    self.moves
                        .push(moved(self.tenant, table, Some((*kind, owner)), seq, false));
                }
            }
        }
        drop(rows);
        drop(statement);
        identified
            .iter()
            .try_for_each(|identifiers| self.free_identifiers(table, &identifiers.to_vec()))?;
        Ok(gone)
    }

    /// Adds a row to a collection, or removes it.
    fn change_membership(
        &mut self,
        members: &SqliteTable,
        under: Option<(Kind, &Id)>,
        row: i64,
        is_member: bool,
    ) -> Result<()> {
        let owner = under
            .map(|(kind, id)| RecordId::try_parse(id).map(|id| (kind, id)))
            .transpose()?;
        self.tally.add_count(
            self.tenant,
            members.kind,
            under,
            if is_member { 1 } else { -1 },
        );
        self.moves
            .push(moved(self.tenant, members, owner, row, is_member));
        Ok(())
    }

    fn set_sum(&self, of: &(Kind, Id), sum: &Totals) -> Result<()> {
        let (owner, id) = (table(of.0), RecordId::try_parse(&of.1)?);
        let members = owner
            .counts
            .ok_or_else(|| StoreError::unexpected("a record without measures has totals"))?;
        self.run(
            "INSERT INTO total (tenant, kind, scope, owner, measures) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO UPDATE SET measures = excluded.measures",
            &[
                &self.tenant,
                &members.code(),
                &owner.code,
                &id,
                &sum.to_text(),
            ],
        )
    }

    fn tie_identifiers(
        &self,
        table: &SqliteTable,
        identifiers: &[Identifier],
        row: i64,
    ) -> Result<()> {
        identifiers.iter().try_for_each(|identifier| {
            let hash = lookup::hash_identifier(identifier);
            let sql = "INSERT INTO identifier (tenant, kind, hash, seq) VALUES (?1, ?2, ?3, ?4)";
            self.run(sql, &[&self.tenant, &table.code, &hash, &row])
        })
    }

    fn free_identifiers(&self, table: &SqliteTable, identifiers: &[Identifier]) -> Result<()> {
        identifiers.iter().try_for_each(|identifier| {
            let hash = lookup::hash_identifier(identifier);
            let sql = "DELETE FROM identifier WHERE tenant = ?1 AND kind = ?2 AND hash = ?3";
            self.run(sql, &[&self.tenant, &table.code, &hash])
        })
    }

    fn tie_values(&mut self, values: &IndexValues, row: i64) -> Result<()> {
        self.set_emails(values, row, true)?;
        let sql = "INSERT INTO text_key (tenant, field, text, seq) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
        self.texts(sql, &values.texts, row)?;
        self.set_keys(&values.keys, row, true)
    }

    /// Adds e-mail addresses of a person, or removes them. Those that are keys of the person are counted.
    fn set_emails(&self, values: &IndexValues, row: i64, is_tied: bool) -> Result<()> {
        let keys = values.keys.iter().filter(|key| is_address(key));
        let keys: HashSet<&str> = keys.map(|key| &*key.text).collect();
        for email in &values.emails {
            let hash = lookup::hash_email(email);
            let key = keys.contains(&**email).then(|| HashedKey::of_email(&hash));
            if is_tied {
                duplicates::add_address(self.file, self.tenant, &hash, row, key)?;
                continue;
            }
            let sql = "DELETE FROM email WHERE tenant = ?1 AND hash = ?2 AND seq = ?3";
            let mut remove = self.file.prepare_cached(sql)?;
            let removed = remove.execute((self.tenant, hash, row))?;
            if let Some(key) = key.filter(|_| removed > 0) {
                duplicates::count_one_less(self.file, self.tenant, key)?;
            }
        }
        Ok(())
    }

    /// Adds keys of a person, or removes them, except of e-mail addresses.
    fn set_keys(&mut self, keys: &[PersonKey], row: i64, is_tied: bool) -> Result<()> {
        let mut keys = keys.iter().filter(|key| !is_address(key)).peekable();
        if keys.peek().is_none() {
            return Ok(());
        }
        let index = match self.index.take() {
            Some(index) => index,
            None => Cow::Owned(DuplicateIndex::new(&metadata::secret_within(self.file)?)),
        };
        let index = self.index.insert(index);
        let set = if is_tied {
            duplicates::add_key
        } else {
            duplicates::remove_key
        };
        keys.try_for_each(|key| set(self.file, self.tenant, index.hash(key), row))
    }

    fn free_values(&mut self, values: &IndexValues, row: i64) -> Result<()> {
        self.set_emails(values, row, false)?;
        let sql =
            "DELETE FROM text_key WHERE tenant = ?1 AND field = ?2 AND text = ?3 AND seq = ?4";
        self.texts(sql, &values.texts, row)?;
        self.set_keys(&values.keys, row, false)
    }

    fn texts(&self, sql: &str, texts: &[TextKey], row: i64) -> Result<()> {
        texts.iter().try_for_each(|key| {
            self.run(
                sql,
                &[&self.tenant, &key.field().as_str(), &key.text(), &row],
            )
        })
    }

    pub(crate) fn add_ticket_holder(
        &self,
        attendance: i64,
        place: i64,
        person: RecordId,
    ) -> Result<()> {
        self.run(
            "INSERT INTO holder (tenant, person, attendance, place) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
            &[&self.tenant, &person, &attendance, &place],
        )
    }

    /// Clears a link. Records that are listed under the target of the link leave those collections.
    fn clear_link(&mut self, table: &SqliteTable, link: &str, to: &RecordSet) -> Result<()> {
        let id = bottom(to)?;
        if let Some(column) = table.scopes().find(|column| column.name == link) {
            let mut statement = self
                .file
                .prepare_cached(&record_sets::select_by_link_sql(table, link, to))?;
            let mut rows = statement.query((self.tenant, id))?;
            while let Some(row) = rows.next()? {
                let of = Some((column.kind, row.get::<_, RecordId>(1)?));
                self.moves
                    .push(moved(self.tenant, table, of, row.get(0)?, false));
            }
        }
        self.run(
            &record_sets::clear_link_sql(table.kind, link, to),
            &[&self.tenant, &id],
        )
    }

    fn move_holders(&self, attendance: i64, places: &[(i64, i64)]) -> Result<()> {
        let held = holders(self.file, self.tenant, Kind::Attendance, attendance)?;
        if held.is_empty() {
            return Ok(());
        }
        self.run(
            "DELETE FROM holder WHERE tenant = ?1 AND attendance = ?2",
            &[&self.tenant, &attendance],
        )?;
        let places: HashMap<i64, i64> = places.iter().copied().collect();
        held.into_iter().try_for_each(|(place, person)| {
            self.add_ticket_holder(
                attendance,
                places.get(&place).copied().unwrap_or(ANY),
                person,
            )
        })
    }
}

/// Returns whether a key is an e-mail address, which has its own index.
fn is_address(key: &PersonKey) -> bool {
    key.kind == PersonKeyKind::Email
}

/// Returns the id of the root record of a set.
pub(crate) fn bottom(set: &RecordSet) -> Result<RecordId> {
    match set {
        RecordSet::One(at, _) => RecordId::try_parse(&at.id),
        RecordSet::Under(_, _, inner) => bottom(inner),
    }
}

/// Returns the change of the collections when a row joins or leaves the collection of its kind, or
/// the one under a record.
fn moved(
    tenant: i64,
    members: &SqliteTable,
    owner: Option<(Kind, RecordId)>,
    row: i64,
    is_member: bool,
) -> MembershipChange {
    let owner = owner.as_ref().map(|(kind, id)| (*kind, id.as_bytes()));
    MembershipChange::new(collection_key(tenant, members.kind, owner), row, is_member)
}

#[cfg(test)]
mod tests;
