//! Converts lookups of the rules to statements, and rows to lookup results.

use svc_core::{
    error::{Error, Result},
    json::Object,
    link::ShareNames,
    model::{Kind, Person, Resource as _, attendance::AttendanceStatus},
    record::RawRecord,
    store::{ChangeTarget, Lookup, LookupCache, LookupKey, StoredRecord, Totals},
    value::{Amount, ClosedEnum as _},
};

use super::{
    database::TextRow,
    resolved_mapping::{ResolvedMapping, ResolvedTable},
    sql::SqlBuilder,
    statement::Statement,
};

/// The lookup results of a transaction, and the records before its changes.
#[derive(Default)]
pub(super) struct FetchedRecords {
    pub(super) results: LookupCache,
    records: Vec<RawRecord>,
}

impl FetchedRecords {
    /// Returns the fields that a record had before.
    pub(super) fn fields(&self, at: &ChangeTarget) -> Option<Object> {
        let is_meant = |record: &&RawRecord| record.kind() == at.kind && record.meta().id == at.id;
        self.records
            .iter()
            .find(is_meant)
            .and_then(|record| record.to_fields(&ShareNames::default()).ok())
    }
}

impl ResolvedMapping {
    /// Returns the statement of a lookup. `None` if the tables contain nothing of the kind; no
    /// statement is then executed.
    pub(super) fn lookup_statement(
        &self,
        tenant: &str,
        question: &Lookup,
        is_locked: bool,
    ) -> Option<Statement> {
        let mut sql = SqlBuilder::new(self.dialect, tenant);
        match question {
            Lookup::Find(key) => self.one(&mut sql, key, false, is_locked)?,
            Lookup::Record(key) => self.one(&mut sql, key, true, is_locked)?,
            Lookup::Members {
                kind,
                groups,
                people,
            } => {
                let table = self.of(*kind)?;
                self.tied(&mut sql, table, groups, people)?;
            }
            Lookup::Answers { people, questions } => {
                let table = self.of(Kind::Answer)?;
                self.tied(&mut sql, table, questions, people)?;
            }
            Lookup::Count { kind, of } => {
                let table = self.of(*kind)?;
                sql.push("SELECT ").push(&self.dialect.as_text("count(*)"));
                self.under(&mut sql, table, of)?;
            }
            Lookup::Totals(of) => {
                let table = self.of(summed(of)?)?;
                self.accepted(&mut sql, table);
                self.under(&mut sql, table, of)?;
            }
            Lookup::PartTotals(_) | Lookup::HeldTickets(_) | Lookup::StoredResponse(_) => {
                return None;
            }
        }
        Some(sql.finish())
    }

    /// Adds the result of a lookup, from its rows, to a transaction. There are no rows if no
    /// statement was executed.
    pub(super) fn store_result(
        &self,
        question: &Lookup,
        rows: &[TextRow],
        fetched: &mut FetchedRecords,
    ) -> Result<()> {
        let number = || {
            rows.first()
                .and_then(|row| row.first()?.as_deref()?.parse::<i64>().ok())
                .unwrap_or_default()
        };
        let results = &mut fetched.results;
        match question {
            Lookup::Find(key) => {
                let found = rows.first().zip(key.kind().and_then(|kind| self.of(kind)));
                let found = found
                    .map(|(row, table)| self.found(table, row))
                    .transpose()?;
                results.insert_location(key, found.as_ref());
            }
            Lookup::Record(key) => {
                let stored = self.stored(key, rows)?;
                fetched
                    .records
                    .extend(stored.iter().map(|it| it.record.clone()));
                results.insert_record(key, stored);
            }
            Lookup::Members { kind, .. } => {
                let all = self.all(*kind, rows)?;
                fetched
                    .records
                    .extend(all.iter().map(|it| it.record.clone()));
                results.insert_related(question.clone(), all);
            }
            Lookup::Answers { .. } => {
                let all = self.all(Kind::Answer, rows)?;
                fetched
                    .records
                    .extend(all.iter().map(|it| it.record.clone()));
                results.insert_related(question.clone(), all);
            }
            Lookup::Count { kind, of } => {
                results.insert_count(*kind, of, u64::try_from(number()).unwrap_or_default());
            }
            Lookup::Totals(of) => {
                results.insert_totals(of, Totals::new(number(), 0, Amount::ZERO));
            }
            Lookup::PartTotals(of) => results.insert_part_totals(of, Vec::new()),
            Lookup::HeldTickets(person) => results.insert_held_tickets(person, Vec::new()),
            Lookup::StoredResponse(key) => results.insert_stored_response(key, None),
        }
        Ok(())
    }

    /// Returns the record of a key from the rows of its lookup.
    pub(super) fn stored(&self, key: &LookupKey, rows: &[TextRow]) -> Result<Option<StoredRecord>> {
        let found = rows.first().zip(key.kind().and_then(|kind| self.of(kind)));
        found
            .map(|(row, table)| self.record(table, row))
            .transpose()
    }

    fn all(&self, kind: Kind, rows: &[TextRow]) -> Result<Vec<StoredRecord>> {
        match self.of(kind) {
            Some(table) => rows.iter().map(|row| self.record(table, row)).collect(),
            None => Ok(Vec::new()),
        }
    }

    /// Selects one record or its location. If it is locked, other transactions can read it and
    /// refer to it, but not change it.
    pub(super) fn one(
        &self,
        sql: &mut SqlBuilder,
        key: &LookupKey,
        whole: bool,
        locked: bool,
    ) -> Option<()> {
        let table = self.of(key.kind()?)?;
        if whole {
            self.records(sql, table);
        } else {
            self.heads(sql, table);
        }
        self.named(sql, table, "t", key);
        sql.push(" ORDER BY t.")
            .push(&table.order.name)
            .push(" LIMIT 1");
        if locked {
            sql.push(self.dialect.lock(whole));
        }
        Some(())
    }

    /// Selects the memberships of one of these people in one of these groups.
    fn tied(
        &self,
        sql: &mut SqlBuilder,
        table: &ResolvedTable,
        groups: &[LookupKey],
        people: &[LookupKey],
    ) -> Option<()> {
        let (group, person) = (table.container()?, table.link(Person::SCHEMA.singular)?);
        self.records(sql, table);
        self.push_link_condition(sql, group, groups);
        self.push_link_condition(sql, person, people);
        sql.push(" ORDER BY t.").push(&table.order.name);
        Some(())
    }

    /// Adds `SELECT` of the number of accepted attendances, which includes those without a status.
    ///
    /// Requirements: RES-event-18.
    fn accepted(&self, sql: &mut SqlBuilder, table: &ResolvedTable) {
        let Some((column, values)) = table.column("status") else {
            sql.push("SELECT ").push(&self.dialect.as_text("count(*)"));
            return;
        };
        // Concatenation with an empty string converts a number to text.
        sql.push("SELECT '' || count(CASE");
        for status in AttendanceStatus::VALUES
            .iter()
            .filter(|status| **status != AttendanceStatus::Accepted.as_str())
        {
            let stored = values
                .iter()
                .find(|(value, _)| value == status)
                .map(|(_, stored)| stored.as_str());
            if let Some(stored) = stored.or(values.is_empty().then_some(*status)) {
                sql.push(" WHEN t.")
                    .push(&column.name)
                    .push(" = ")
                    .value(column, Some(stored.to_owned()))
                    .push(" THEN NULL");
            }
        }
        sql.push(" WHEN 1 = 1 THEN 1 END)");
    }

    /// Adds `FROM ... WHERE` for the records under the record with a key.
    fn under(&self, sql: &mut SqlBuilder, table: &ResolvedTable, of: &LookupKey) -> Option<()> {
        let link = table.scope(of.kind()?)?;
        sql.push(" FROM ").push(&table.name).push(" t WHERE ");
        self.push_tenant_condition(sql, table, "t");
        self.push_link_condition(sql, link, std::slice::from_ref(of));
        Some(())
    }
}

/// Returns the kind of the members for the totals of a record.
fn summed(of: &LookupKey) -> Option<Kind> {
    match of.kind()? {
        Kind::Event => Some(Kind::Attendance),
        _ => None,
    }
}

/// Returns the error for a missing result.
pub(super) fn unasked() -> Error {
    Error::unexpected("a database returned fewer results than there were statements")
}
