//! What the rulebook changes, written into the file inside the writer's transaction.

use std::collections::HashMap;

use rusqlite::{Connection, ToSql};
use svc_core::{
    error::{Error, Result},
    model::Kind,
    schema::Source,
    store::{At, Change, Insert, Outbox, Replace, Set, Stored, Sum},
    value::{Id, Identifier, Timestamp},
};

use crate::{
    fetch::{ALL, ANY, hash},
    pages::{Change as Move, Collection},
    record_id::RecordId,
    schema::{Table, table},
};

/// Applies the changes of calls, and notes which rows join and leave collections.
pub(crate) struct Apply<'a> {
    file: &'a Connection,
    tenant: i64,
    /// Rows that this transaction's call has made, the youngest last.
    made: Vec<(Id, i64)>,
    moves: Vec<Move>,
}

impl<'a> Apply<'a> {
    pub(crate) fn new(file: &'a Connection, tenant: i64) -> Self {
        Self { file, tenant, made: Vec::new(), moves: Vec::new() }
    }

    /// Which rows joined and left collections.
    pub(crate) fn into_moves(self) -> Vec<Move> {
        self.moves
    }

    /// The moment of the tenant's last turn is kept: the next one is later.
    pub(crate) fn turn(&self, time: Timestamp) -> Result<()> {
        self.file
            .prepare_cached("UPDATE tenant SET clock = ?2 WHERE id = ?1")?
            .execute((self.tenant, time.micros()))?;
        Ok(())
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
            Change::SetSchedule { at, start, stop } => self.run(
                "UPDATE messages SET scheduled_start = ?3, scheduled_stop = ?4 WHERE tenant = ?1 AND seq = ?2",
                &[&self.tenant, &self.row(at)?, &start.map(Timestamp::micros), &stop.map(Timestamp::micros)],
            ),
            Change::Delete(set) => self.delete(set),
            Change::ClearLink { kind, link, to } => {
                let (leads, id) = (leads_to(link, to), bottom(to)?);
                let sql = format!("UPDATE {} SET {link} = NULL WHERE tenant = ?1 AND {leads}", table(*kind).name);
                self.run(&sql, &[&self.tenant, &id])
            }
            Change::SetSum { of, members, sum } => self.set_sum(of, *members, sum),
            Change::SetPart { of: (_, id), name, sum } => self.run(
                "INSERT INTO part (tenant, owner, name, tickets, amount) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT DO UPDATE SET tickets = excluded.tickets, amount = excluded.amount",
                &[&self.tenant, &known(id)?, name, &sum.tickets, &sum.amount.to_string()],
            ),
            Change::Hold { at, place, person } => self.hold(self.row(at)?, *place, known(person)?),
            Change::MoveHolders { at, places } => self.move_holders(self.row(at)?, places),
            Change::Forget(person) => {
                let person = known(person)?;
                self.run("DELETE FROM holder WHERE tenant = ?1 AND person = ?2", &[&self.tenant, &person])?;
                self.run("DELETE FROM outbox WHERE tenant = ?1 AND person = ?2", &[&self.tenant, &person])
            }
            Change::Outbox(outbox) => self.outbox(outbox),
            other => Err(Error::unexpected(format!("this store does not know the change {other:?}"))),
        }
    }

    fn run(&self, sql: &str, parameters: &[&dyn ToSql]) -> Result<()> {
        self.file.prepare_cached(sql)?.execute(parameters)?;
        Ok(())
    }

    /// The row of the record that a change is about.
    fn row(&self, at: &At) -> Result<i64> {
        if at.row != Stored::NEW {
            return Ok(at.row);
        }
        let made = self.made.iter().rev().find(|(id, _)| *id == at.id);
        made.map(|(_, row)| *row).ok_or_else(|| Error::unexpected("a change of a record that was not made"))
    }

    fn insert(&mut self, insert: &Insert) -> Result<()> {
        let record = &insert.record;
        let table = table(record.kind());
        let meta = record.meta();
        let id = known(&meta.id)?;
        let links: Vec<Option<RecordId>> = table
            .columns
            .iter()
            .map(|column| record.link(column.name).map(|to| known(&to.id)).transpose())
            .collect::<Result<_>>()?;
        let (created, modified, identifiers) =
            (meta.created.micros(), meta.modified.micros(), meta.identifiers.as_json());
        let body = record.stored_fields();
        let mut values: Vec<&dyn ToSql> = Vec::with_capacity(table.columns.len().saturating_add(7));
        values.extend([&self.tenant as &dyn ToSql, &id, &created, &modified, &identifiers, &body]);
        values.extend(links.iter().map(|link| link as &dyn ToSql));
        if table.has_unique_name() {
            values.push(&insert.name);
        }
        self.run(&table.sql.insert, &values)?;
        let row = self.file.last_insert_rowid();
        self.made.push((meta.id.clone(), row));
        self.tie_identifiers(table, &insert.identifiers, row)?;
        self.tie_emails(&insert.emails, row)?;
        if table.kind.schema().has_collection() {
            self.add_records(table, 0, ALL, 1)?;
            self.moves.push(Move { collection: collection(self.tenant, table, None), seq: row, is_member: true });
        }
        for (column, link) in table.columns.iter().zip(links) {
            if let Some(owner) = link.filter(|_| column.is_scope) {
                self.join(table, column.kind, owner, row, true)?;
            }
        }
        Ok(())
    }

    fn replace(&self, replace: &Replace) -> Result<()> {
        let table = table(replace.at.kind);
        let row = self.row(&replace.at)?;
        let (modified, identifiers, body) =
            (replace.modified.micros(), replace.identifiers.as_json(), replace.fields.as_ref());
        let modified_by = replace.modified_by.as_ref().map(known).transpose()?;
        let mut values: Vec<&dyn ToSql> = vec![&self.tenant, &row, &modified, &identifiers, &body];
        if table.column("modified_by").is_some() {
            values.push(&modified_by);
        }
        if table.has_unique_name() {
            values.push(&replace.name);
        }
        self.run(&table.sql.update, &values)?;
        self.free_identifiers(table, &replace.identifiers_freed)?;
        self.tie_identifiers(table, &replace.identifiers_tied, row)?;
        self.free_emails(&replace.emails_freed, row)?;
        self.tie_emails(&replace.emails_tied, row)
    }

    fn set_link(&mut self, at: &At, link: &str, from: Option<&Id>, to: Option<&Id>) -> Result<()> {
        let (table, row) = (table(at.kind), self.row(at)?);
        let Some((place, column)) = table.columns.iter().enumerate().find(|(_, column)| column.name == link) else {
            return Err(Error::unexpected("a change of a link that the kind does not have"));
        };
        let sql = table.sql.set_column.get(place).map_or("", String::as_str);
        self.run(sql, &[&self.tenant, &row, &to.map(known).transpose()?])?;
        for (owner, is_member) in [(from, false), (to, true)] {
            if let Some(owner) = owner.filter(|_| column.is_scope) {
                self.join(table, column.kind, known(owner)?, row, is_member)?;
            }
        }
        Ok(())
    }

    /// Removes records and all that finds and counts them.
    fn delete(&mut self, set: &Set) -> Result<()> {
        let table = table(set.kind());
        let (name, code) = (table.name, table.code);
        let (condition, id) = (condition(set), bottom(set)?);
        self.leave_all(table, &condition, id)?;
        if let Set::One(at, emails) = set {
            self.free_emails(emails, self.row(at)?)?;
        }
        let these = |column: &str| format!("(SELECT {column} FROM {name} WHERE tenant = ?1 AND {condition})");
        for members in Kind::ALL.iter().map(|kind| crate::schema::table(*kind)) {
            if members.scope(table.kind).is_some() {
                let (kind, ids) = (members.code, these("id"));
                let sql = format!(
                    "DELETE FROM total WHERE tenant = ?1 AND kind = {kind} AND scope = {code} AND owner IN {ids}"
                );
                self.run(&sql, &[&self.tenant, &id])?;
            }
        }
        if table.computed.iter().any(|(_, source)| matches!(source, Source::Tickets(_) | Source::Sum(_))) {
            let sql = format!("DELETE FROM part WHERE tenant = ?1 AND owner IN {}", these("id"));
            self.run(&sql, &[&self.tenant, &id])?;
        }
        if table.kind == Kind::Attendance {
            let sql = format!("DELETE FROM holder WHERE tenant = ?1 AND attendance IN {}", these("seq"));
            self.run(&sql, &[&self.tenant, &id])?;
        }
        self.run(&format!("DELETE FROM {name} WHERE tenant = ?1 AND {condition}"), &[&self.tenant, &id])
    }

    /// Takes records out of every collection that they are in, and frees their identifiers: one change a collection.
    fn leave_all(&mut self, table: &Table, condition: &str, id: RecordId) -> Result<()> {
        let scopes: Vec<_> = table.columns.iter().filter(|column| column.is_scope).collect();
        let columns: String = scopes.iter().map(|column| format!(", {}", column.name)).collect();
        let sql = format!("SELECT seq, identifiers{columns} FROM {} WHERE tenant = ?1 AND {condition}", table.name);
        let mut statement = self.file.prepare_cached(&sql)?;
        let mut rows = statement.query((self.tenant, id))?;
        let mut gone: i64 = 0;
        let mut left: HashMap<(Kind, RecordId), i64> = HashMap::new();
        let mut named = Vec::new();
        while let Some(row) = rows.next()? {
            let seq: i64 = row.get(0)?;
            gone = gone.saturating_add(1);
            let identifiers = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
            if !identifiers.is_empty() {
                named.push(svc_core::record::Identifiers::from_stored(identifiers.to_owned()));
            }
            if table.kind.schema().has_collection() {
                self.moves.push(Move { collection: collection(self.tenant, table, None), seq, is_member: false });
            }
            for (place, column) in scopes.iter().enumerate() {
                if let Some(owner) = row.get::<_, Option<RecordId>>(place.saturating_add(2))? {
                    let of = Some((crate::schema::table(column.kind), owner));
                    self.moves.push(Move { collection: collection(self.tenant, table, of), seq, is_member: false });
                    let number = left.entry((column.kind, owner)).or_default();
                    *number = number.saturating_add(1);
                }
            }
        }
        drop(rows);
        drop(statement);
        if table.kind.schema().has_collection() && gone > 0 {
            self.add_records(table, 0, ALL, gone.saturating_neg())?;
        }
        for ((kind, owner), number) in left {
            self.add_records(table, crate::schema::table(kind).code, owner.as_bytes(), number.saturating_neg())?;
        }
        for identifiers in named {
            self.free_identifiers(table, &identifiers.to_vec())?;
        }
        Ok(())
    }

    /// A row comes under a record, or leaves it.
    fn join(&mut self, members: &Table, kind: Kind, owner: RecordId, seq: i64, is_member: bool) -> Result<()> {
        let of = table(kind);
        self.add_records(members, of.code, owner.as_bytes(), if is_member { 1 } else { -1 })?;
        self.moves.push(Move { collection: collection(self.tenant, members, Some((of, owner))), seq, is_member });
        Ok(())
    }

    fn add_records(&self, members: &Table, scope: i64, owner: &[u8], by: i64) -> Result<()> {
        self.run(
            "INSERT INTO total (tenant, kind, scope, owner, records) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO UPDATE SET records = records + excluded.records",
            &[&self.tenant, &members.code, &scope, &owner, &by],
        )
    }

    fn set_sum(&self, of: &(Kind, Id), members: Kind, sum: &Sum) -> Result<()> {
        let (members, owner, id) = (table(members).code, table(of.0).code, known(&of.1)?);
        self.run(
            "INSERT INTO total (tenant, kind, scope, owner, accepted, tickets, amount)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE
             SET accepted = excluded.accepted, tickets = excluded.tickets, amount = excluded.amount",
            &[&self.tenant, &members, &owner, &id, &sum.accepted, &sum.tickets, &sum.amount.to_string()],
        )
    }

    fn tie_identifiers(&self, table: &Table, identifiers: &[Identifier], row: i64) -> Result<()> {
        identifiers.iter().try_for_each(|identifier| {
            let hash = hash(identifier.as_str());
            let sql = "INSERT INTO identifier (tenant, kind, hash, seq) VALUES (?1, ?2, ?3, ?4)";
            self.run(sql, &[&self.tenant, &table.code, &hash, &row])
        })
    }

    fn free_identifiers(&self, table: &Table, identifiers: &[Identifier]) -> Result<()> {
        identifiers.iter().try_for_each(|identifier| {
            let hash = hash(identifier.as_str());
            let sql = "DELETE FROM identifier WHERE tenant = ?1 AND kind = ?2 AND hash = ?3";
            self.run(sql, &[&self.tenant, &table.code, &hash])
        })
    }

    fn tie_emails(&self, emails: &[String], row: i64) -> Result<()> {
        emails.iter().try_for_each(|email| {
            let sql = "INSERT INTO email (tenant, hash, seq) VALUES (?1, ?2, ?3)";
            self.run(sql, &[&self.tenant, &hash(email), &row])
        })
    }

    fn free_emails(&self, emails: &[String], row: i64) -> Result<()> {
        emails.iter().try_for_each(|email| {
            let sql = "DELETE FROM email WHERE tenant = ?1 AND hash = ?2 AND seq = ?3";
            self.run(sql, &[&self.tenant, &hash(email), &row])
        })
    }

    fn hold(&self, attendance: i64, place: i64, person: RecordId) -> Result<()> {
        self.run(
            "INSERT INTO holder (tenant, person, attendance, place) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
            &[&self.tenant, &person, &attendance, &place],
        )
    }

    fn move_holders(&self, attendance: i64, places: &[(i64, i64)]) -> Result<()> {
        let mut statement =
            self.file.prepare_cached("SELECT person, place FROM holder WHERE tenant = ?1 AND attendance = ?2")?;
        let rows = statement.query_map((self.tenant, attendance), |row| Ok((row.get(0)?, row.get(1)?)))?;
        let held: Vec<(RecordId, i64)> = rows.collect::<rusqlite::Result<_>>()?;
        if held.is_empty() {
            return Ok(());
        }
        self.run("DELETE FROM holder WHERE tenant = ?1 AND attendance = ?2", &[&self.tenant, &attendance])?;
        held.into_iter().try_for_each(|(person, place)| {
            let now = places.iter().find(|(from, _)| *from == place).map_or(ANY, |(_, to)| *to);
            self.hold(attendance, now, person)
        })
    }

    fn outbox(&self, outbox: &Outbox) -> Result<()> {
        let person = outbox.person.as_ref().map(known).transpose()?;
        let action = outbox.action.as_ref().map(known).transpose()?;
        self.run(
            "INSERT INTO outbox (tenant, created, helper, person, action, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            &[
                &self.tenant,
                &outbox.received.micros(),
                &outbox.helper.as_str(),
                &person,
                &action,
                &outbox.body.as_ref(),
            ],
        )
    }
}

/// The id of a record of this file.
fn known(id: &Id) -> Result<RecordId> {
    RecordId::parse(id).ok_or_else(|| Error::unexpected(format!("{id} is no canonical UUID")))
}

/// What holds for the rows of a set: `?1` is the tenant, `?2` the id of the record that the set begins with.
fn condition(set: &Set) -> String {
    match set {
        Set::Under(_, link, inner) => leads_to(link, inner),
        _ => "id = ?2".to_owned(),
    }
}

/// What holds for rows whose column leads to a record of a set.
fn leads_to(column: &str, set: &Set) -> String {
    match set {
        Set::Under(kind, ..) => {
            let (name, condition) = (table(*kind).name, condition(set));
            format!("{column} IN (SELECT id FROM {name} WHERE tenant = ?1 AND {condition})")
        }
        _ => format!("{column} = ?2"),
    }
}

/// The id of the record that a set begins with.
fn bottom(set: &Set) -> Result<RecordId> {
    match set {
        Set::One(at, _) => known(&at.id),
        Set::Under(_, _, inner) => bottom(inner),
        other => Err(Error::unexpected(format!("this store does not know the set {other:?}"))),
    }
}

/// Names a collection: of all records of a kind, or of those under one record.
pub(crate) fn collection(tenant: i64, table: &Table, owner: Option<(&Table, RecordId)>) -> Collection {
    let mut key = Vec::with_capacity(26);
    key.extend_from_slice(&tenant.to_be_bytes());
    key.push(u8::try_from(table.code).unwrap_or_default());
    if let Some((of, id)) = owner {
        key.push(u8::try_from(of.code).unwrap_or_default());
        key.extend_from_slice(id.as_bytes());
    }
    key.into()
}
