//! Converts lookups of the rules to statements, and rows to lookup results.

use std::collections::BTreeMap;

use svc_core::{
    error::{Error, Result},
    helper::MatchKey,
    json::Json,
    link::ShareNames,
    model::{Kind, Person, Resource as _},
    record::RawRecord,
    schema::{Measure, MeasureCondition, MeasureParts, ValueType},
    store::{ChangeTarget, Lookup, LookupCache, LookupKey, StoredRecord, Totals},
    value::{self, Amount, Id, Timestamp},
};

use super::{
    apply::{ListPlaces, StoredFields},
    database::TextRow,
    dialect::RowLock,
    resolved_mapping::{ResolvedLink, ResolvedMapping, ResolvedTable},
    select::{FORWARDS, id_value},
    sql::{SqlBuilder, read},
    statement::Statement,
};

/// The members of a donation that select the totals of its page.
const CURRENCY: &str = "currency";
const VOIDED: &str = "voided";
/// The measure that counts the donations in a currency.
const TOTAL_DONATIONS: &str = "total_donations";

/// The lookup results of a transaction, and the records before its changes.
#[derive(Default)]
pub(super) struct FetchedRecords {
    pub(super) results: LookupCache,
    records: Vec<(RawRecord, Vec<ListPlaces>)>,
}

impl FetchedRecords {
    /// Returns the fields that a record had before.
    pub(super) fn fields(&self, at: &ChangeTarget) -> Option<StoredFields> {
        let is_meant = |record: &RawRecord| record.kind() == at.kind && record.meta().id == at.id;
        let (record, places) = self.records.iter().find(|(record, _)| is_meant(record))?;
        let fields = record.to_fields(&ShareNames::default()).ok()?;
        Some(StoredFields {
            fields,
            places: places.clone(),
        })
    }

    /// Returns the records in the rows of a lookup, and remembers them.
    fn records(
        &mut self,
        mapping: &ResolvedMapping,
        kind: Kind,
        rows: &[TextRow],
    ) -> Result<Vec<StoredRecord>> {
        let Some(table) = mapping.of(kind) else {
            return Ok(Vec::new());
        };
        let mut all = Vec::with_capacity(rows.len());
        for row in rows {
            let stored = mapping.record(table, row)?;
            let places = mapping.entry_places(table, row);
            self.records.push((stored.record.clone(), places));
            all.push(stored);
        }
        Ok(all)
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
                let (members, measures) = counted(of.kind()?)?;
                let table = self.of(members)?;
                for (place, (_, measure)) in measures.into_iter().enumerate() {
                    sql.push(if place == 0 { "SELECT " } else { ", " });
                    count(&mut sql, table, measure);
                }
                self.under(&mut sql, table, of)?;
            }
            Lookup::EmailHolders(address) => {
                let table = self.of(Kind::Person)?;
                table.emails()?;
                self.heads(&mut sql, table);
                self.named(&mut sql, table, "t", &LookupKey::Email(address.clone()));
                sql.push(" ORDER BY t.")
                    .push(&table.order.name)
                    .push(" LIMIT 2");
            }
            Lookup::PartTotals(of) => self.donations_by_currency(&mut sql, of)?,
            Lookup::Linked {
                kind,
                link,
                person,
                most,
            } => {
                let table = self.of(*kind)?;
                let link = table.link(link)?;
                self.records(&mut sql, table);
                let person = LookupKey::Id(Kind::Person, person.clone());
                self.push_link_condition(&mut sql, link, &[person]);
                sql.push(" ORDER BY t.").push(&table.order.name);
                sql.push(" LIMIT ").limit(i64::from(*most));
                if is_locked {
                    sql.push(self.dialect.lock(RowLock::Change));
                }
            }
            Lookup::LinkedCount { person, most } => self.linked_count(&mut sql, person, *most)?,
            Lookup::ForwardedPerson(id) => self.forward(&mut sql, ["remaining", "person"], id)?,
            Lookup::ForwardedTo(id) => self.forward(&mut sql, ["person", "remaining"], id)?,
            Lookup::HeldTickets(_) | Lookup::StoredResponse(_) | Lookup::StoredMerge { .. } => {
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
                let first = rows.get(..1).unwrap_or_default();
                let stored = match key.kind() {
                    Some(kind) => fetched.records(self, kind, first)?.pop(),
                    None => None,
                };
                fetched.results.insert_record(key, stored);
            }
            Lookup::Members { kind, .. } | Lookup::Linked { kind, .. } => {
                let all = fetched.records(self, *kind, rows)?;
                fetched.results.insert_related(question.clone(), all);
            }
            Lookup::Answers { .. } => {
                let all = fetched.records(self, Kind::Answer, rows)?;
                fetched.results.insert_related(question.clone(), all);
            }
            Lookup::Count { kind, of } => {
                results.insert_count(*kind, of, u64::try_from(number()).unwrap_or_default());
            }
            Lookup::Totals(of) => {
                let measures = of.kind().and_then(counted).map(|(_, measures)| measures);
                let columns = rows.first().into_iter().flatten();
                let mut totals = Totals::default();
                for ((field, _), text) in measures.into_iter().flatten().zip(columns) {
                    let value = text.as_deref().and_then(Amount::parse);
                    totals.set(field, value.unwrap_or_default());
                }
                results.insert_totals(of, totals);
            }
            Lookup::PartTotals(of) => {
                results.insert_part_totals(of, self.currency_totals(rows));
            }
            Lookup::HeldTickets(person) => results.insert_held_tickets(person, Vec::new()),
            Lookup::LinkedCount { person, most } => {
                let count = u64::try_from(number()).unwrap_or_default();
                results.insert_linked_count(person, *most, count.min(u64::from(*most)));
            }
            Lookup::ForwardedPerson(id) => {
                results.insert_forwarded_person(id, ids(rows).next());
            }
            Lookup::ForwardedTo(id) => results.insert_forwarded_to(id, ids(rows).collect()),
            Lookup::StoredMerge { remaining, merge } => {
                results.insert_stored_merge(remaining, merge, None);
            }
            Lookup::EmailHolders(address) => {
                let people = match self.of(Kind::Person) {
                    Some(table) => rows.iter().map(|row| self.found(table, row)).collect(),
                    None => Ok(Vec::new()),
                };
                results.insert_email_holders(address, people?);
            }
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
            sql.push(self.dialect.lock(if whole {
                RowLock::Change
            } else {
                RowLock::Reference
            }));
        }
        Some(())
    }

    /// Returns the statement that restores the oldest deleted person with one of these e-mail addresses,
    /// if helpers restore people, and no other person matches the keys. A person who was merged into
    /// another one remains deleted.
    ///
    /// Requirements: HLP-04.
    pub(super) fn restore_statement(&self, tenant: &str, keys: &[MatchKey]) -> Option<Statement> {
        let table = self.of(Kind::Person).filter(|table| table.is_restored)?;
        let deleted = table.deleted.as_ref()?;
        let keys = keys.iter().map(|key| match key.clone() {
            MatchKey::Identifier(identifier) => LookupKey::Identifier(Kind::Person, identifier),
            MatchKey::Email(address) => LookupKey::Email(address),
        });
        let keys: Vec<LookupKey> = keys.collect();
        let is_address = |key: &&LookupKey| matches!(key, LookupKey::Email(_));
        let addresses: Vec<&LookupKey> = keys.iter().filter(is_address).collect();
        if addresses.is_empty() {
            return None;
        }
        let mut sql = SqlBuilder::changing(self.dialect, tenant);
        let update = self.dialect.update(&table.name);
        sql.push(&update)
            .push(" SET ")
            .push(&deleted.column.name)
            .push(" = ");
        match &deleted.restored {
            Some(value) => _ = sql.value(&deleted.column, Some(value.clone())),
            None => _ = sql.push("NULL"),
        }
        if table.modified != table.created && table.modified != deleted.column {
            let now = Timestamp::now().to_string();
            sql.push(", ").push(&table.modified.name).push(" = ");
            sql.value(&table.modified, Some(now));
        }
        let [before, after] = sql.subquery();
        let (key_column, order) = (&table.key.name, &table.order.name);
        sql.push(" WHERE ");
        self.push_deleted_condition(&mut sql, table, "t");
        sql.push(&format!(
            " AND t.{key_column} IN ({before}SELECT k.{key_column} FROM {} k WHERE ",
            table.name
        ));
        self.push_deleted_condition(&mut sql, table, "k");
        self.any_of(&mut sql, table, "k", &addresses);
        let id = read(sql.dialect(), "k", &table.id);
        sql.push(&format!(
            " AND NOT EXISTS (SELECT 1 FROM {FORWARDS} f WHERE f.tenant = "
        ))
        .tenant(None)
        .push(&format!(
            " AND f.person = {id}) AND NOT EXISTS (SELECT 1 FROM {} o WHERE ",
            table.name
        ));
        self.push_record_condition(&mut sql, table, "o");
        self.any_of(&mut sql, table, "o", &keys.iter().collect::<Vec<_>>());
        sql.push(&format!(") ORDER BY k.{order} LIMIT 1{after})"));
        Some(sql.finish())
    }

    /// Adds ` AND` with the condition that a row has one of several keys.
    fn any_of(
        &self,
        sql: &mut SqlBuilder,
        table: &ResolvedTable,
        alias: &str,
        keys: &[&LookupKey],
    ) {
        sql.push(" AND (1 = 0");
        for key in keys {
            sql.push(" OR (1 = 1");
            self.named(sql, table, alias, key);
            sql.push(")");
        }
        sql.push(")");
    }

    /// Adds the number of records with a link to a person. Each record counts once, and the database
    /// reads at most `most` records of each kind.
    fn linked_count(&self, sql: &mut SqlBuilder, person: &Id, most: u32) -> Option<()> {
        let people = self.of(Kind::Person)?;
        let person = LookupKey::Id(Kind::Person, person.clone());
        let of_people = |link: &&ResolvedLink| link.kind == Kind::Person;
        let tables = self.tables.iter().enumerate();
        let mut tables = tables
            .filter(|(_, table)| table.links.iter().any(|link| of_people(&link)))
            .peekable();
        tables.peek()?;
        // Concatenation with an empty string converts a number to text.
        sql.push("SELECT '' || (0");
        for (number, table) in tables {
            sql.push(" + (SELECT count(*) FROM (SELECT 1 FROM ")
                .push(&table.name)
                .push(" t WHERE ");
            self.push_record_condition(sql, table, "t");
            for (place, link) in table.links.iter().filter(of_people).enumerate() {
                sql.push(if place == 0 { " AND (t." } else { " OR t." })
                    .push(&link.column.name)
                    .push(" = ");
                self.target_of(sql, link, people, &person);
            }
            sql.push(") LIMIT ")
                .limit(i64::from(most))
                .push(&format!(") c{number})"));
        }
        sql.push(")");
        Some(())
    }

    /// Selects a column of the merged people whose other column has an id.
    fn forward(&self, sql: &mut SqlBuilder, [column, of]: [&str; 2], id: &Id) -> Option<()> {
        let id = id_value(&self.of(Kind::Person)?.id, id)?;
        sql.push(&format!(
            "SELECT f.{column} FROM {FORWARDS} f WHERE f.tenant = "
        ));
        sql.tenant(None).push(&format!(" AND f.{of} = ")).text(id);
        Some(())
    }

    /// Returns the statement that locks two people, before one of them is merged into the other one.
    /// Otherwise another program could refer to the merged person in the meantime.
    pub(super) fn lock_people(&self, tenant: &str, people: [&Id; 2]) -> Option<Statement> {
        let table = self.of(Kind::Person)?;
        let mut sql = SqlBuilder::new(self.dialect, tenant);
        sql.push("SELECT NULL FROM ")
            .push(&table.name)
            .push(" t WHERE ");
        self.push_record_condition(&mut sql, table, "t");
        sql.push(&format!(" AND t.{} IN (NULL", table.id.name));
        for id in people {
            sql.push(", ").value(&table.id, id_value(&table.id, id));
        }
        sql.push(") ORDER BY t.").push(&table.order.name);
        sql.push(self.dialect.lock(RowLock::Deletion));
        Some(sql.finish())
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

    /// Selects the currencies of the donations to a fundraising page, and the number of donations in
    /// each, for voided and other donations. No rows if the page has a currency of its own: the rules
    /// then read only that.
    ///
    /// Requirements: RES-donation-06.
    fn donations_by_currency(&self, sql: &mut SqlBuilder, page: &LookupKey) -> Option<()> {
        let pages = self.of(Kind::FundraisingPage)?;
        let donations = self.of(Kind::Donation)?;
        if page.kind()? != pages.kind {
            return None;
        }
        let dialect = sql.dialect();
        let currency = &donations.column(CURRENCY)?.column;
        sql.push("SELECT ")
            .push(&dialect.as_text("count(*)"))
            .push(", ")
            .push(&read(dialect, "t", currency));
        let voided = donations.column(VOIDED).map(|stored| &stored.column);
        if let Some(voided) = voided {
            sql.push(", ").push(&read(dialect, "t", voided));
        }
        self.under(sql, donations, page)?;
        if let Some(own) = pages.column(CURRENCY) {
            sql.push(" AND COALESCE(");
            self.value_of(sql, pages, &own.column, page);
            sql.push(", '') = ''");
        }
        sql.push(" GROUP BY t.").push(&currency.name);
        if let Some(voided) = voided {
            sql.push(", t.").push(&voided.name);
        }
        Some(())
    }

    /// Returns the number of donations that count in each currency, from the rows of
    /// [`Self::donations_by_currency`].
    fn currency_totals(&self, rows: &[TextRow]) -> Vec<(String, Totals)> {
        let Some(donations) = self.of(Kind::Donation) else {
            return Vec::new();
        };
        let mut counts: BTreeMap<String, i64> = BTreeMap::new();
        for row in rows {
            let mut columns = row.iter().map(Option::as_deref);
            let mut next = || columns.next().flatten();
            let count = next().and_then(|text| text.parse().ok()).unwrap_or(0);
            let mut value = |field| self.field_value(donations, field, next()?);
            let (currency, voided) = (value(CURRENCY), value(VOIDED));
            let currency = currency.as_ref().and_then(Json::as_str);
            // A text of another program that is not a code counts as no currency.
            if let Some(currency) = currency.and_then(value::currency)
                && voided != Some(Json::Bool(true))
            {
                let sum = counts.entry(currency.to_owned()).or_default();
                *sum = sum.saturating_add(count);
            }
        }
        let totals = counts.into_iter().map(|(currency, count)| {
            let mut totals = Totals::default();
            totals.set(TOTAL_DONATIONS, Amount::from(count));
            (currency, totals)
        });
        totals.collect()
    }

    /// Adds `FROM ... WHERE` for the records under the record with a key.
    fn under(&self, sql: &mut SqlBuilder, table: &ResolvedTable, of: &LookupKey) -> Option<()> {
        let link = table.scope(of.kind()?)?;
        sql.push(" FROM ").push(&table.name).push(" t WHERE ");
        self.push_record_condition(sql, table, "t");
        self.push_link_condition(sql, link, std::slice::from_ref(of));
        Some(())
    }
}

/// Returns the measures of a kind that [`count`] supports, with the kind of the counted records.
///
/// `count` counts rows, and selects them by the value of an enumeration. It has no SQL for elements
/// of lists, sums, parts, and conditions on flags. The rules read these totals only to check the
/// capacity of an event. Responses contain no totals, because a mapping has no computed totals.
fn counted(kind: Kind) -> Option<(Kind, Vec<(&'static str, Measure)>)> {
    let is_counted = |measure: &Measure| {
        measure.path.is_empty()
            && matches!(measure.parts, MeasureParts::Whole)
            && !matches!(measure.condition, MeasureCondition::Unless(_))
    };
    let measures = kind.schema().measures();
    let measures: Vec<_> = measures
        .filter(|(_, measure)| is_counted(measure))
        .collect();
    Some((measures.first()?.1.of, measures))
}

/// Adds the number of the rows that a measure counts. A value that is not mapped is read as no
/// value. Therefore, a measure that counts records without a value excludes the other values.
///
/// Requirements: RES-event-18.
fn count(sql: &mut SqlBuilder, table: &ResolvedTable, measure: Measure) {
    let (field, value, or_absent) = match measure.condition {
        MeasureCondition::Is {
            field,
            value,
            or_absent,
        } => (field, value, or_absent),
        MeasureCondition::All | MeasureCondition::Unless(_) => ("", "", true),
    };
    let values = match measure.of.schema().fields.field(field).map(|spec| spec.ty) {
        Some(ValueType::Enum(values)) => values,
        _ => &[],
    };
    let (listed, others) = if or_absent {
        (" THEN NULL", " WHEN 1 = 1 THEN 1 END)")
    } else {
        (" THEN 1", " WHEN 1 = 0 THEN 1 END)")
    };
    // Concatenation with an empty string converts a number to text.
    sql.push("'' || count(CASE");
    if let Some(stored) = table.column(field) {
        let column = &stored.column;
        let mapped = stored.conversion.values();
        let is_stored = |of: &str| mapped.is_empty() || mapped.iter().any(|(it, _)| it == of);
        for of in values.iter().filter(|of| (**of == value) != or_absent) {
            if is_stored(of) {
                let text = stored.text(sql.dialect(), Some(&Json::from(*of)));
                sql.push(" WHEN t.")
                    .push(&column.name)
                    .push(" = ")
                    .value(column, text)
                    .push(listed);
            }
        }
    }
    sql.push(others);
}

/// Returns the ids in the first column.
fn ids(rows: &[TextRow]) -> impl Iterator<Item = Id> {
    rows.iter()
        .filter_map(|row| Id::new(row.first()?.as_deref()?))
}

/// Returns the error for a missing result.
pub(super) fn unasked() -> Error {
    Error::unexpected("a database returned fewer results than there were statements")
}
