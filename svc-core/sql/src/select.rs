//! Builds SELECT statements: the columns of a record, its tenant, and its keys.

use svc_core::{
    link::RecordAddress,
    store::LookupKey,
    value::{Id, email_notations},
};

use super::{
    resolved_mapping::{
        EmailColumns, FieldStorage, ResolvedColumn, ResolvedDeletion, ResolvedField, ResolvedLink,
        ResolvedMapping, ResolvedTable, RowTenant,
    },
    sql::{SqlBuilder, read},
};

/// A table of the library.
pub(super) const IDENTIFIERS: &str = "svc_identifiers";
/// A table of the library: the merged people, each with the person that remains.
pub(super) const FORWARDS: &str = "svc_forwards";

impl ResolvedMapping {
    /// Adds `SELECT ... FROM ...` of whole records: row, id, dates, identifiers, link targets, and
    /// members. A condition on `t` must follow.
    pub(super) fn records(&self, sql: &mut SqlBuilder, table: &ResolvedTable) {
        let dialect = sql.dialect();
        sql.push("SELECT ");
        for column in [&table.order, &table.id, &table.created, &table.modified] {
            sql.push(&read(dialect, "t", column)).push(", ");
        }
        Self::identifiers(sql, table);
        self.targets(sql, table);
        for member in &table.members {
            match &member.stored {
                FieldStorage::Rows { .. } => {
                    _ = sql.push(", ").push(&self.list_rows(member, table));
                }
                _ => member.columns().for_each(|stored| {
                    _ = sql.push(", ").push(&read(dialect, "t", &stored.column));
                }),
            }
        }
        self.from(sql, table);
    }

    /// Adds the same without identifiers and members: the location of a record.
    pub(super) fn heads(&self, sql: &mut SqlBuilder, table: &ResolvedTable) {
        let dialect = sql.dialect();
        sql.push("SELECT ")
            .push(&read(dialect, "t", &table.order))
            .push(", ")
            .push(&read(dialect, "t", &table.id));
        self.targets(sql, table);
        self.from(sql, table);
    }

    fn targets(&self, sql: &mut SqlBuilder, table: &ResolvedTable) {
        for (place, link) in table.links.iter().enumerate() {
            if let Some(target) = self.of(link.kind) {
                let column = read(sql.dialect(), &format!("l{place}"), &target.id);
                sql.push(", ").push(&column);
            }
        }
    }

    fn from(&self, sql: &mut SqlBuilder, table: &ResolvedTable) {
        sql.push(" FROM ").push(&table.name).push(" t");
        for (place, link) in table.links.iter().enumerate() {
            if let Some(target) = self.of(link.kind) {
                let alias = format!("l{place}");
                sql.push(" LEFT JOIN ")
                    .push(&target.name)
                    .push(" ")
                    .push(&alias);
                sql.push(" ON ")
                    .push(&link.joins("t", &alias, table, target));
                Self::push_live_condition(sql, target, &alias);
            }
        }
        sql.push(" WHERE ");
        self.push_record_condition(sql, table, "t");
    }

    /// Adds the condition that a row is a record of the tenant.
    pub(super) fn push_record_condition(
        &self,
        sql: &mut SqlBuilder,
        table: &ResolvedTable,
        alias: &str,
    ) {
        self.push_tenant_condition(sql, table, alias);
        Self::push_live_condition(sql, table, alias);
    }

    /// Adds the condition that a row of the tenant is deleted.
    pub(super) fn push_deleted_condition(
        &self,
        sql: &mut SqlBuilder,
        table: &ResolvedTable,
        alias: &str,
    ) {
        self.push_tenant_condition(sql, table, alias);
        match &table.deleted {
            None => _ = sql.push(" AND 1 = 0"),
            Some(ResolvedDeletion { column, value, .. }) => {
                sql.push(&format!(" AND {alias}.{}", column.name));
                match value {
                    None => _ = sql.push(" IS NOT NULL"),
                    Some(value) => _ = sql.push(" = ").value(column, Some(value.clone())),
                }
            }
        }
    }

    /// Adds ` AND` with the condition that a row is not deleted, if rows of the table can be.
    fn push_live_condition(sql: &mut SqlBuilder, table: &ResolvedTable, alias: &str) {
        let Some(deleted) = &table.deleted else {
            return;
        };
        let column = format!("{alias}.{}", deleted.column.name);
        match &deleted.value {
            None => _ = sql.push(&format!(" AND {column} IS NULL")),
            Some(value) => {
                sql.push(&format!(" AND ({column} IS NULL OR {column} <> "))
                    .value(&deleted.column, Some(value.clone()))
                    .push(")");
            }
        }
    }

    /// Adds the condition that a row belongs to the tenant.
    fn push_tenant_condition(&self, sql: &mut SqlBuilder, table: &ResolvedTable, alias: &str) {
        match &table.whose {
            RowTenant::Fixed => _ = sql.push("1 = 1"),
            RowTenant::Column { column, via: None } => {
                sql.push(alias)
                    .push(".")
                    .push(&column.name)
                    .push(" = ")
                    .tenant(Some(column));
            }
            RowTenant::Column {
                column,
                via: Some(via),
            } => {
                let (key, name) = (&via.key.name, &via.name.name);
                let of = format!(
                    "{alias}.{} = (SELECT {key} FROM {} WHERE {name} = ",
                    column.name, via.table
                );
                sql.push(&of).tenant(Some(&via.name)).push(")");
            }
            RowTenant::Container(place) => {
                let container = table
                    .links
                    .get(*place)
                    .and_then(|link| Some((link, self.of(link.kind)?)));
                let Some((link, container)) = container else {
                    sql.push("1 = 0");
                    return;
                };
                let inner = format!("{alias}c");
                let within = format!(
                    "EXISTS (SELECT 1 FROM {} {inner} WHERE {} AND ",
                    container.name,
                    link.joins(alias, &inner, table, container)
                );
                sql.push(&within);
                self.push_record_condition(sql, container, &inner);
                sql.push(")");
            }
        }
    }

    /// Adds `SELECT` of the tenant of a record, among all tenants. Returns `false` if the tables do
    /// not contain it.
    pub(super) fn owner(
        &self,
        sql: &mut SqlBuilder,
        table: &ResolvedTable,
        of: &RecordAddress,
    ) -> bool {
        let mut table = table;
        let mut from = format!(" FROM {} t", table.name);
        let (mut alias, first) = ("t".to_owned(), table);
        loop {
            match &table.whose {
                RowTenant::Fixed => return false,
                RowTenant::Column { column, via } => {
                    let name = match via {
                        None => read(self.dialect, &alias, column),
                        Some(via) => {
                            let on = format!("o.{} = {alias}.{}", via.key.name, column.name);
                            from = format!("{from} JOIN {} o ON {on}", via.table);
                            read(self.dialect, "o", &via.name)
                        }
                    };
                    sql.push("SELECT ")
                        .push(&name)
                        .push(&from)
                        .push(" WHERE 1 = 1");
                    self.named(sql, first, "t", &LookupKey::from(of));
                    return true;
                }
                RowTenant::Container(place) => {
                    let Some(link) = table.links.get(*place) else {
                        return false;
                    };
                    let Some(container) = self.of(link.kind) else {
                        return false;
                    };
                    let inner = format!("{alias}c");
                    from = format!(
                        "{from} JOIN {} {inner} ON {}",
                        container.name,
                        link.joins(&alias, &inner, table, container)
                    );
                    (alias, table) = (inner, container);
                }
            }
        }
    }

    /// Adds the foreign identifiers of a record as a JSON array.
    fn identifiers(sql: &mut SqlBuilder, table: &ResolvedTable) {
        let dialect = sql.dialect();
        let of = format!(
            " AND i.kind = '{}' AND i.record = {}",
            table.kind.singular(),
            read(dialect, "t", &table.id)
        );
        let [before, after] = dialect.json_list("i.identifier", "i.place");
        sql.push(&before)
            .push(" FROM svc_identifiers i WHERE i.tenant = ")
            .tenant(None)
            .push(&of)
            .push(&after);
    }

    /// Returns the subquery with the rows of a list as JSON. Each entry is an array of its columns, which
    /// `row.rs` reads like the columns of a record.
    fn list_rows(&self, member: &ResolvedField, table: &ResolvedTable) -> String {
        let FieldStorage::Rows {
            table: rows,
            parent,
            order,
            members,
        } = &member.stored
        else {
            return String::new();
        };
        let columns: Vec<String> = members
            .iter()
            .flat_map(ResolvedField::columns)
            .map(|stored| read(self.dialect, "r", &stored.column))
            .collect();
        let (of, by) = (
            format!("r.{} = t.{}", parent.name, table.key.name),
            &order.name,
        );
        let columns = columns.join(", ");
        let [before, after] = self.dialect.json_rows(&columns, &format!("r.{by}"));
        format!("{before} FROM {rows} r WHERE {of}{after}")
    }

    /// Adds ` AND` with the condition that a row has a key. Of several rows, the oldest is the
    /// first by [`oldest`].
    pub(super) fn named(
        &self,
        sql: &mut SqlBuilder,
        table: &ResolvedTable,
        alias: &str,
        key: &LookupKey,
    ) {
        sql.push(" AND ");
        match key {
            LookupKey::Id(_, id) => {
                sql.has_id(alias, &table.id, id_value(&table.id, id).as_deref());
            }
            LookupKey::Name(kind, name) => match kind
                .schema()
                .unique_name()
                .and_then(|field| table.column(field.name))
            {
                Some(stored) => {
                    _ = sql
                        .push(alias)
                        .push(".")
                        .push(&stored.column.name)
                        .push(" = ")
                        .value(&stored.column, stored.conversion.write(name));
                }
                None => _ = sql.push("1 = 0"),
            },
            LookupKey::Identifier(kind, identifier) => {
                let record = self.dialect.cast_text("i.record", &table.id.sql_type);
                let of = format!(
                    "{alias}.{} = (SELECT {record} FROM {IDENTIFIERS} i WHERE i.kind = '{}' AND i.tenant = ",
                    table.id.name,
                    kind.singular()
                );
                sql.push(&of)
                    .tenant(None)
                    .push(" AND i.identifier = ")
                    .text(identifier.as_str())
                    .push(")");
            }
            LookupKey::Email(address) => match table.emails() {
                Some(EmailColumns::Rows {
                    table: rows,
                    parent,
                    column,
                }) => {
                    let of = format!(
                        "{alias}.{} IN (SELECT e.{} FROM {rows} e WHERE ",
                        table.key.name, parent.name
                    );
                    sql.push(&of)
                        .has_address("e", column, &email_notations(address))
                        .push(")");
                }
                Some(EmailColumns::Own(columns)) => {
                    let notations = email_notations(address);
                    for (place, column) in columns.into_iter().enumerate() {
                        sql.push(if place == 0 { "(" } else { " OR " })
                            .has_address(alias, column, &notations);
                    }
                    sql.push(")");
                }
                None => _ = sql.push("1 = 0"),
            },
            LookupKey::Link(kind, id, name) => match self
                .of(*kind)
                .and_then(|from| Some((from, from.link(name)?)))
            {
                Some((from, link)) => {
                    let of = format!(
                        "{alias}.{} = (SELECT f.{} FROM {} f WHERE ",
                        link.target.name, link.column.name, from.name
                    );
                    sql.push(&of);
                    self.push_record_condition(sql, from, "f");
                    self.named(sql, from, "f", &LookupKey::Id(*kind, id.clone()));
                    sql.push(")");
                }
                None => _ = sql.push("1 = 0"),
            },
        }
    }

    /// Adds ` AND` with the condition that the target of a link is one of the records with these
    /// keys.
    pub(super) fn push_link_condition(
        &self,
        sql: &mut SqlBuilder,
        link: &ResolvedLink,
        keys: &[LookupKey],
    ) {
        let Some(target) = self.of(link.kind) else {
            sql.push(" AND 1 = 0");
            return;
        };
        sql.push(" AND t.")
            .push(&link.column.name)
            .push(" IN (NULL");
        for key in keys {
            sql.push(", ");
            self.target_of(sql, link, target, key);
        }
        sql.push(")");
    }

    /// Adds `(SELECT key ...)`: the key by which the rows of lists refer to a record.
    pub(super) fn key_of(&self, sql: &mut SqlBuilder, table: &ResolvedTable, key: &LookupKey) {
        let column = format!("k.{}", table.key.name);
        self.of_record(sql, table, &column, key);
    }

    /// Adds `(SELECT key ...)`: the value of the column of a link to a record.
    pub(super) fn target_of(
        &self,
        sql: &mut SqlBuilder,
        link: &ResolvedLink,
        table: &ResolvedTable,
        key: &LookupKey,
    ) {
        let column = format!("k.{}", link.target.name);
        self.of_record(sql, table, &column, key);
    }

    /// Adds `(SELECT column ...)`: the value of a column of a record as text.
    pub(super) fn value_of(
        &self,
        sql: &mut SqlBuilder,
        table: &ResolvedTable,
        column: &ResolvedColumn,
        key: &LookupKey,
    ) {
        let text = read(sql.dialect(), "k", column);
        self.of_record(sql, table, &text, key);
    }

    /// Adds `(SELECT expression ...)` of a record, which is `k` in the expression.
    pub(super) fn of_record(
        &self,
        sql: &mut SqlBuilder,
        table: &ResolvedTable,
        expression: &str,
        key: &LookupKey,
    ) {
        let [before, after] = sql.subquery();
        sql.push("(")
            .push(before)
            .push("SELECT ")
            .push(expression)
            .push(" FROM ")
            .push(&table.name)
            .push(" k WHERE ");
        self.push_record_condition(sql, table, "k");
        self.named(sql, table, "k", key);
        sql.push(" ORDER BY k.")
            .push(&table.order.name)
            .push(" LIMIT 1")
            .push(after)
            .push(")");
    }
}

impl ResolvedLink {
    /// Returns the condition that a row of `table` links to a row of `target`. A column that is only
    /// unique within a tenant refers to a row of the same tenant.
    fn joins(
        &self,
        alias: &str,
        of_target: &str,
        table: &ResolvedTable,
        target: &ResolvedTable,
    ) -> String {
        let on = format!(
            "{of_target}.{} = {alias}.{}",
            self.target.name, self.column.name
        );
        match (&table.whose, &target.whose) {
            (RowTenant::Column { column: own, .. }, RowTenant::Column { column: other, .. })
                if self.target != target.key =>
            {
                format!("{on} AND {of_target}.{} = {alias}.{}", other.name, own.name)
            }
            _ => on,
        }
    }
}

/// Returns the column value of an id, or `None` if no row can have this id.
pub(super) fn id_value(column: &ResolvedColumn, id: &Id) -> Option<String> {
    match column.class {
        super::dialect::ColumnType::Uuid => id.as_uuid().map(|uuid| uuid.to_string()),
        super::dialect::ColumnType::Integer(_) => {
            let number: i64 = id.as_str().parse().ok()?;
            // A number has one notation.
            let is_in_range = number.unsigned_abs() <= column.most.unsigned_abs();
            Some(number.to_string()).filter(|text| is_in_range && text == id.as_str())
        }
        _ => Some(id.as_str().to_owned()),
    }
}
