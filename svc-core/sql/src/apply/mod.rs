//! Converts changes of the rules to statements over the tables.

mod entries;
mod lists;
mod merges;

use std::collections::HashMap;

use entries::EntryList;
pub(super) use entries::ListPlaces;
pub(super) use merges::in_order;

use svc_core::{
    error::{Error, Result},
    json::{Json, Object},
    link::ShareNames,
    model::Kind,
    store::{Change, ChangeTarget, InsertRecord, LookupKey, RecordSet, ReplaceRecord},
    value::{Id, Identifier, Timestamp, plain_name},
};

use super::{
    dialect::SqlDialect,
    outbox,
    resolved_mapping::{
        FieldStorage, ResolvedColumn, ResolvedDeletion, ResolvedField, ResolvedLink,
        ResolvedMapping, ResolvedTable,
    },
    row::at,
    select::{IDENTIFIERS, id_value},
    sql::{SqlBuilder, read},
    statement::Statement,
    value_checks::check_values,
};

/// The fields of a record in the tables, and the columns of its list entries.
#[derive(Debug, Default)]
pub(super) struct StoredFields {
    pub(super) fields: Object,
    pub(super) places: Vec<ListPlaces>,
}

impl StoredFields {
    fn of_list(&self, list: &EntryList<'_>) -> Option<&ListPlaces> {
        self.places.iter().find(|places| places.name == list.name)
    }

    /// Returns the entries of a list, each with the position of its columns.
    fn entries(&self, list: &EntryList<'_>) -> Vec<(usize, &Object)> {
        let places = self.of_list(list).map(|places| places.entries.as_slice());
        let entries = lists::entries(self.fields.get(list.name));
        places
            .unwrap_or_default()
            .iter()
            .copied()
            .zip(entries)
            .collect()
    }
}

/// The maximum length of a slug.
const MAX_SLUG: usize = 100;

/// The statements of a transaction, in order.
pub(super) struct StatementBuilder<'a> {
    mapping: &'a ResolvedMapping,
    tenant: &'a str,
    /// The time of the transaction.
    now: Timestamp,
    /// Whether the transaction merges two people.
    is_merge: bool,
    pub(super) statements: Vec<Statement>,
    /// The fields of the records that this transaction has written.
    written: HashMap<(Kind, Id), StoredFields>,
}

impl<'a> StatementBuilder<'a> {
    pub(super) fn new(mapping: &'a ResolvedMapping, tenant: &'a str, now: Timestamp) -> Self {
        Self {
            mapping,
            tenant,
            now,
            is_merge: false,
            statements: Vec::new(),
            written: HashMap::new(),
        }
    }

    fn sql(&self) -> SqlBuilder {
        SqlBuilder::changing(self.mapping.dialect, self.tenant)
    }

    /// Adds the statements of a change. `known` returns the fields that a record had before.
    pub(super) fn add(
        &mut self,
        change: &Change,
        known: impl Fn(&ChangeTarget) -> Option<StoredFields>,
    ) -> Result<()> {
        let written = &mut self.written;
        let mut before = |at: &ChangeTarget| {
            written
                .remove(&(at.kind, at.id.clone()))
                .or_else(|| known(at))
        };
        match change {
            Change::Insert(insert) => self.insert(insert)?,
            Change::Replace(replace) => {
                let before = before(&replace.target);
                self.replace(replace, before.as_ref())?;
            }
            Change::SetFields { at, fields } => {
                let fields = svc_core::record::RawRecord::from_wire(
                    at.kind,
                    svc_core::record::Meta::new(at.id.clone(), Timestamp::MIN),
                    fields.clone(),
                );
                let before = before(at);
                let fields = fields.to_fields(&ShareNames::default())?;
                self.update(at, fields, before.as_ref(), None)?;
            }
            Change::SetLink { at, link, to, .. } => self.set_link(at, link, to.as_ref()),
            Change::Delete(set) => self.delete(set),
            Change::ClearLink { kind, link, to } => {
                self.clear_link(&RecordSet::Under(*kind, link, Box::new(to.clone())), link);
            }
            Change::ErasePersonTraces(person) => {
                let mut sql = self.sql();
                sql.push("DELETE FROM svc_dispatches WHERE tenant = ")
                    .tenant(None)
                    .push(" AND person = ")
                    .text(person.as_str());
                self.statements.push(sql.finish());
                self.forget_forwards(person);
            }
            Change::Enqueue(dispatch) => {
                let sql = self.sql();
                self.statements.push(outbox::put(sql, dispatch));
            }
            Change::ForwardPerson { from, to } => {
                self.is_merge = true;
                self.forward_person(from, to);
            }
            // A mapping undoes no merges and finds no duplicates.
            Change::StoreMerge(_) | Change::RestorePerson(_) | Change::SetApart(_) => {
                return Err(Error::not_implemented());
            }
            // A mapping cannot contain scheduled messages, tickets or stored responses. Sums are
            // counted when they are read.
            Change::AddIndexValues { .. }
            | Change::SetTotals { .. }
            | Change::SetPartTotals { .. }
            | Change::SetSchedule { .. }
            | Change::CancelMessage(_)
            | Change::AddTicketHolder { .. }
            | Change::MoveTicketHolders { .. }
            | Change::StoreResponse(_) => {}
        }
        Ok(())
    }

    fn insert(&mut self, insert: &InsertRecord) -> Result<()> {
        let record = &insert.record;
        let Some(table) = self.mapping.of(record.kind()) else {
            return Ok(());
        };
        let (meta, fields) = (record.meta(), record.to_fields(&ShareNames::default())?);
        let dialect = self.mapping.dialect;
        check_values(dialect, table, &fields)?;
        let mut columns: Vec<(&ResolvedColumn, InsertValue)> = vec![
            (&table.id, InsertValue::Text(id_value(&table.id, &meta.id))),
            (
                &table.created,
                InsertValue::Text(Some(meta.created.to_string())),
            ),
        ];
        if table.modified != table.created {
            columns.push((
                &table.modified,
                InsertValue::Text(Some(meta.modified.to_string())),
            ));
        }
        let mut places = Vec::new();
        for member in &table.members {
            let mut values = Vec::new();
            if let FieldStorage::Column(stored) = &member.stored {
                values.push((&stored.column, stored.text(dialect, at(&fields, member))));
            }
            if let Some(list) = EntryList::of(member) {
                let now = lists::entries(at(&fields, member));
                let found = list.places(&now, &[], &[], &[])?;
                let entries: Vec<_> = found.iter().copied().zip(now).collect();
                values.extend(list.changed(dialect, &entries, Some(&[]), false));
                places.push(ListPlaces {
                    name: list.name,
                    entries: found,
                    unread: Vec::new(),
                });
            }
            let written = values
                .into_iter()
                .filter(|(column, value)| is_written(column, value.as_deref()));
            columns.extend(written.map(|(column, value)| (column, InsertValue::Text(value))));
        }
        if let Some(column) = &table.slug {
            let text = slug(&fields, &meta.id, column.longest);
            columns.push((column, InsertValue::Text(Some(text))));
        }
        for (column, value) in &table.constants {
            if !columns.iter().any(|(written, _)| *written == column) {
                columns.push((column, InsertValue::Text(Some(value.clone()))));
            }
        }
        for link in &table.links {
            if let Some(to) = record.link(link.name) {
                columns.push((&link.column, InsertValue::Target(link, LookupKey::from(to))));
            }
        }
        let mut sql = self.sql();
        sql.push("INSERT INTO ").push(&table.name).push(" (");
        if let super::resolved_mapping::RowTenant::Column { column, .. } = &table.whose {
            sql.push(&column.name).push(", ");
        }
        let names: Vec<&str> = columns
            .iter()
            .map(|(column, _)| column.name.as_str())
            .collect();
        sql.push(&names.join(", ")).push(")");
        if table.has_numbers() {
            sql.push(dialect.with_given_ids());
        }
        sql.push(" VALUES (");
        if let super::resolved_mapping::RowTenant::Column { column, via } = &table.whose {
            match via {
                None => _ = sql.tenant(Some(column)),
                Some(via) => {
                    sql.push("(SELECT ")
                        .push(&via.key.name)
                        .push(" FROM ")
                        .push(&via.table)
                        .push(" WHERE ");
                    sql.push(&via.name.name)
                        .push(" = ")
                        .tenant(Some(&via.name))
                        .push(")");
                }
            }
            sql.push(", ");
        }
        for (place, (column, value)) in columns.into_iter().enumerate() {
            if place > 0 {
                sql.push(", ");
            }
            match value {
                InsertValue::Text(text) => _ = sql.value(column, text),
                InsertValue::Target(link, key) => match self.mapping.of(link.kind) {
                    Some(target) => self.mapping.target_of(&mut sql, link, target, &key),
                    None => _ = sql.push("NULL"),
                },
            }
        }
        sql.push(")");
        self.statements.push(sql.finish());
        for member in &table.members {
            self.rows(table, &meta.id, member, None, at(&fields, member));
        }
        self.tie(table, &meta.id, &insert.identifiers);
        self.written.insert(
            (table.kind, meta.id.clone()),
            StoredFields { fields, places },
        );
        Ok(())
    }

    fn replace(&mut self, replace: &ReplaceRecord, before: Option<&StoredFields>) -> Result<()> {
        let Some(table) = self.mapping.of(replace.target.kind) else {
            return Ok(());
        };
        let meta = svc_core::record::Meta::new(replace.target.id.clone(), replace.modified);
        let fields = svc_core::record::RawRecord::from_wire(
            replace.target.kind,
            meta,
            replace.fields.clone(),
        );
        let fields = fields.to_fields(&ShareNames::default())?;
        check_values(self.mapping.dialect, table, &fields)?;
        self.update(&replace.target, fields, before, Some(replace.modified))?;
        if table.link("modified_by").is_some() {
            self.set_link(&replace.target, "modified_by", replace.modified_by.as_ref());
        }
        if !replace.removed_identifiers.is_empty() || !replace.added_identifiers.is_empty() {
            let mut sql = self.sql();
            sql.push(&format!(
                "DELETE FROM {IDENTIFIERS} WHERE kind = '{}' AND tenant = ",
                table.kind.singular()
            ));
            sql.tenant(None)
                .push(" AND record = ")
                .text(replace.target.id.as_str());
            self.statements.push(sql.finish());
            self.tie(table, &replace.target.id, &replace.identifiers.to_vec());
        }
        Ok(())
    }

    /// Writes the columns and list rows of a record.
    fn update(
        &mut self,
        record: &ChangeTarget,
        fields: Object,
        before: Option<&StoredFields>,
        modified: Option<Timestamp>,
    ) -> Result<()> {
        let Some(table) = self.mapping.of(record.kind) else {
            return Ok(());
        };
        let dialect = self.mapping.dialect;
        let modified = modified.filter(|_| table.modified != table.created);
        let mut columns = Vec::new();
        columns.extend(modified.map(|modified| (&table.modified, Some(modified.to_string()))));
        let before_fields = before.map(|before| &before.fields);
        columns.extend(changed(dialect, &table.members, &fields, before_fields));
        let mut places = Vec::new();
        for list in table.members.iter().filter_map(EntryList::of) {
            let was = before
                .map(|before| before.entries(&list))
                .unwrap_or_default();
            let now = lists::entries(fields.get(list.name));
            let (was_places, was_entries): (Vec<usize>, Vec<&Object>) = was.iter().copied().unzip();
            let unread = before.and_then(|before| before.of_list(&list));
            let mut unread = unread.map_or_else(Vec::new, |places| places.unread.clone());
            let found = if now == was_entries {
                was_places
            } else {
                list.places(&now, &was_entries, &was_places, &unread)?
            };
            let entries: Vec<_> = found.iter().copied().zip(now).collect();
            let known = before.map(|_| was.as_slice());
            columns.extend(list.changed(dialect, &entries, known, self.is_merge));
            unread.retain(|at| !found.contains(at));
            places.push(ListPlaces {
                name: list.name,
                entries: found,
                unread,
            });
        }
        let mut sql = self.sql();
        sql.push(&dialect.update(&table.name)).push(" SET ");
        let sets = assign(&mut sql, &table.constants, columns.into_iter());
        sql.push(" WHERE ");
        self.mapping.push_record_condition(&mut sql, table, "t");
        self.mapping.named(
            &mut sql,
            table,
            "t",
            &LookupKey::Id(record.kind, record.id.clone()),
        );
        if sets {
            self.statements.push(sql.finish());
        }
        for member in &table.members {
            self.rows(
                table,
                &record.id,
                member,
                before_fields,
                at(&fields, member),
            );
        }
        let key = (record.kind, record.id.clone());
        self.written.insert(key, StoredFields { fields, places });
        Ok(())
    }

    fn set_link(&mut self, record: &ChangeTarget, link: &str, to: Option<&Id>) {
        let Some((table, link)) = self
            .mapping
            .of(record.kind)
            .and_then(|table| Some((table, table.link(link)?)))
        else {
            return;
        };
        let mut sql = self.sql();
        sql.push(&self.mapping.dialect.update(&table.name))
            .push(" SET ")
            .push(&link.column.name)
            .push(" = ");
        match to.zip(self.mapping.of(link.kind)) {
            Some((to, target)) => {
                let key = LookupKey::Id(link.kind, to.clone());
                self.mapping.target_of(&mut sql, link, target, &key);
            }
            None => _ = sql.push("NULL"),
        }
        sql.push(" WHERE ");
        self.mapping.push_record_condition(&mut sql, table, "t");
        self.mapping.named(
            &mut sql,
            table,
            "t",
            &LookupKey::Id(record.kind, record.id.clone()),
        );
        self.statements.push(sql.finish());
    }

    /// Adds ` WHERE` for the records of a set. Returns `false` if the tables contain none.
    fn of_set(
        &self,
        sql: &mut SqlBuilder,
        table: &ResolvedTable,
        alias: &str,
        set: &RecordSet,
    ) -> bool {
        self.mapping.push_record_condition(sql, table, alias);
        match set {
            RecordSet::One(at, _) => {
                self.mapping
                    .named(sql, table, alias, &LookupKey::Id(at.kind, at.id.clone()));
                true
            }
            RecordSet::Under(_, link, inner) => {
                let Some((link, of)) = table.link(link).zip(self.mapping.of(inner.kind())) else {
                    return false;
                };
                let within = format!("{alias}u");
                let [before, after] = sql.subquery();
                let begin = format!(
                    " AND {alias}.{} IN ({before}SELECT {within}.{} FROM {} {within} WHERE ",
                    link.column.name, link.target.name, of.name
                );
                sql.push(&begin);
                let holds = self.of_set(sql, of, &within, inner);
                sql.push(after).push(")");
                holds
            }
        }
    }

    fn delete(&mut self, set: &RecordSet) {
        let Some(table) = self.mapping.of(set.kind()) else {
            return;
        };
        // The identifiers of rows that foreign keys of other tables delete are not removed. They
        // match no record, and a later record can use them.
        let dialect = self.mapping.dialect;
        let mut free = self.sql();
        free.push(&dialect.delete_from(IDENTIFIERS)).push(&format!(
            " WHERE kind = '{}' AND tenant = ",
            table.kind.singular()
        ));
        free.tenant(None)
            .push(" AND record IN (SELECT ")
            .push(&read(dialect, "d", &table.id));
        free.push(" FROM ").push(&table.name).push(" d WHERE ");
        let has_any = self.of_set(&mut free, table, "d", set);
        free.push(")");
        if !has_any {
            return;
        }
        self.statements.push(free.finish());
        if let Some(deleted) = &table.deleted {
            self.mark_deleted(table, deleted, set);
            return;
        }
        for member in &table.members {
            if let FieldStorage::Rows {
                table: rows,
                parent,
                ..
            } = &member.stored
            {
                let mut sql = self.sql();
                sql.push(&dialect.delete_from(rows)).push(&format!(
                    " WHERE {} IN (SELECT d.{} FROM {} d WHERE ",
                    parent.name, table.key.name, table.name
                ));
                self.of_set(&mut sql, table, "d", set);
                sql.push(")");
                self.statements.push(sql.finish());
            }
        }
        let mut sql = self.sql();
        sql.push(&dialect.delete_from(&table.name)).push(" WHERE ");
        self.of_set(&mut sql, table, "t", set);
        self.statements.push(sql.finish());
    }

    /// Marks the records of a set as deleted. Their rows remain, with their lists and with the links to
    /// them.
    fn mark_deleted(&mut self, table: &ResolvedTable, deleted: &ResolvedDeletion, set: &RecordSet) {
        let now = Some(self.now.to_string());
        let value = deleted.value.clone().or_else(|| now.clone());
        let mut columns = vec![(&deleted.column, value)];
        if table.modified != table.created && table.modified != deleted.column {
            columns.push((&table.modified, now));
        }
        let mut sql = self.sql();
        sql.push(&self.mapping.dialect.update(&table.name))
            .push(" SET ");
        assign(&mut sql, &[], columns.into_iter());
        sql.push(" WHERE ");
        if self.of_set(&mut sql, table, "t", set) {
            self.statements.push(sql.finish());
        }
    }

    /// Clears a link. If its column cannot be NULL, the foreign key of the table decides about the
    /// row. A link to a row that only gets a mark remains, but is not read.
    fn clear_link(&mut self, set: &RecordSet, link: &str) {
        let Some((table, link)) = self
            .mapping
            .of(set.kind())
            .and_then(|table| Some((table, table.link(link)?)))
        else {
            return;
        };
        let target = self.mapping.of(link.kind);
        let remains = target.is_some_and(|target| target.deleted.is_some());
        if !link.column.nullable || remains {
            return;
        }
        let mut sql = self.sql();
        sql.push(&self.mapping.dialect.update(&table.name))
            .push(" SET ")
            .push(&link.column.name)
            .push(" = NULL WHERE ");
        if self.of_set(&mut sql, table, "t", set) {
            self.statements.push(sql.finish());
        }
    }

    /// Assigns these identifiers to a record.
    fn tie(&mut self, table: &ResolvedTable, id: &Id, identifiers: &[Identifier]) {
        for (place, identifier) in identifiers.iter().enumerate() {
            let mut sql = self.sql();
            let kind = table.kind.singular();
            sql.push(&format!(
                "INSERT INTO {IDENTIFIERS} (kind, tenant, identifier, record, place) VALUES ('{kind}', "
            ));
            sql.tenant(None)
                .push(", ")
                .text(identifier.as_str())
                .push(", ")
                .text(id.as_str())
                .push(", ");
            sql.number(i64::try_from(place).unwrap_or(i64::MAX));
            // The previous record is deleted. Otherwise the rules had rejected the change.
            let dialect = sql.dialect();
            let changes = ["record", "place"].map(|column| (column, dialect.proposed(column)));
            sql.push(")")
                .push(&dialect.upsert("tenant, kind, identifier", &changes));
            self.statements.push(sql.finish());
        }
    }
}

/// Returns the words of the title or name of a record with its id, in at most as many characters.
fn slug(fields: &Object, id: &Id, longest: Option<u32>) -> String {
    let texts = ["title", "name"].map(|name| fields.get(name).and_then(Json::as_str));
    let mut text = texts.into_iter().flatten();
    let text = text.find(|text| !text.is_empty()).unwrap_or_default();
    let words = text
        .split(|one: char| !one.is_alphanumeric())
        .map(plain_name);
    let longest = longest.and_then(|longest| usize::try_from(longest).ok());
    let room = longest.unwrap_or(MAX_SLUG).min(MAX_SLUG);
    let mut room = room.saturating_sub(id.as_str().len().saturating_add(1));
    let mut slug = String::new();
    for word in words.filter(|word| !word.is_empty() && word.is_ascii()) {
        let Some(rest) = room.checked_sub(word.len().saturating_add(1)) else {
            break;
        };
        room = rest;
        slug = slug + &word + "-";
    }
    slug + id.as_str()
}

/// Returns whether a new row names a column. Other columns get their default.
fn is_written(column: &ResolvedColumn, value: Option<&str>) -> bool {
    !column.is_generated && (value.is_some() || column.nullable && !column.has_default)
}

/// Returns the columns whose values have changed.
fn changed<'m>(
    dialect: &'static dyn SqlDialect,
    members: &'m [ResolvedField],
    now: &'m Object,
    before: Option<&'m Object>,
) -> impl Iterator<Item = (&'m ResolvedColumn, Option<String>)> {
    members
        .iter()
        .filter_map(move |member| match &member.stored {
            FieldStorage::Column(stored) => {
                let value = at(now, member);
                let is_same = before.is_some_and(|before| at(before, member) == value);
                (!is_same).then(|| (&stored.column, stored.text(dialect, value)))
            }
            _ => None,
        })
}

/// Adds the assignments after `SET`. Returns `false` if there are none.
///
/// A column that cannot be NULL is reset to its constant or its default.
fn assign<'m>(
    sql: &mut SqlBuilder,
    constants: &[(ResolvedColumn, String)],
    columns: impl Iterator<Item = (&'m ResolvedColumn, Option<String>)>,
) -> bool {
    let mut has_any = false;
    for (column, value) in columns.filter(|(column, _)| !column.is_generated) {
        sql.push(if has_any { ", " } else { "" })
            .push(&column.name)
            .push(" = ");
        let constant = constants.iter().find(|(of, _)| of == column);
        let constant = constant.map(|(_, value)| value.clone());
        let value = value.or_else(|| constant.filter(|_| !column.nullable));
        let default = if value.is_none() && !column.nullable {
            sql.dialect().default_value(column.default_sql.as_deref())
        } else {
            None
        };
        match default {
            Some(default) => _ = sql.push(&default),
            None => _ = sql.value(column, value),
        }
        has_any = true;
    }
    has_any
}

/// A value of a new row.
enum InsertValue<'m> {
    Text(Option<String>),
    /// The value by which a link refers to this record.
    Target(&'m ResolvedLink, LookupKey),
}
