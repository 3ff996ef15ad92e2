//! Checks the requirements for tables other than columns: indexes for lookups, and unique
//! constraints.

use super::{MappingChecker, plain};
use crate::{introspect::DatabaseTable, mapping::TableMapping};

impl MappingChecker<'_> {
    /// Reports columns that need a value and do not get one.
    pub(super) fn sources(&mut self, table: &TableMapping, live: &DatabaseTable) {
        let fixed = [
            Some(&table.id),
            Some(&table.created),
            Some(&table.modified),
            table.tenant.as_ref(),
            table.order.as_ref(),
            table.slug.as_ref(),
        ];
        let named = fixed.into_iter().flatten().map(String::as_str);
        let of_entries = table.entries.iter().flat_map(|(_, entries)| entries);
        let fields = of_entries.flat_map(|entry| &entry.fields);
        let fields = table.fields.iter().chain(fields);
        let named = named.chain(fields.map(|field| field.column.as_str()));
        let named = named.chain(table.links.iter().map(|link| link.column.as_str()));
        let named: Vec<&str> = named
            .chain(table.constants.iter().map(|(column, _)| column.as_str()))
            .collect();
        self.sourceless(&table.name, "", live, &named);
    }

    /// Reports columns of a table, or of a list in another one, that need a value and do not get one.
    pub(super) fn sourceless(
        &mut self,
        table: &str,
        of_list: &str,
        live: &DatabaseTable,
        named: &[&str],
    ) {
        for column in live
            .columns
            .iter()
            .filter(|it| !it.nullable && !it.has_default && !it.is_generated)
            .filter(|it| !named.contains(&it.name.as_str()))
        {
            if live
                .primary()
                .is_some_and(|primary| primary.name == column.name)
                && self.dialect.fills_primary_key()
            {
                continue;
            }
            let name = plain(self.dialect, &column.name);
            let sql = self
                .dialect
                .set_default(table, &name)
                .map(|sql| format!(", or run\n      {sql}"))
                .unwrap_or_default();
            let constant = match of_list {
                "" => format!(", set it with `.insert_constant(\"{}\", ...)`", column.name),
                _ => String::new(),
            };
            self.wrong(format!(
                "`{table}.{name}`{of_list} is NOT NULL and nothing sets it: map it{constant}{sql}"
            ));
        }
    }

    /// Checks that lookups have an index.
    pub(super) fn lookups(&mut self, table: &TableMapping) {
        let Some(live) = self.live.table(&table.name) else {
            return;
        };
        if table.is_view || live.is_view {
            return;
        }
        let (name, kind) = (&table.name, table.kind);
        let has = |column: &str| live.column(column).is_some();
        let order = table
            .order
            .as_deref()
            .or_else(|| live.primary().map(|column| column.name.as_str()));
        let order = order.unwrap_or("id");
        if let Some(tenant) = table.tenant.as_deref().filter(|tenant| has(tenant))
            && !live.finds_by(&[tenant])
        {
            self.index(
                name,
                &[tenant, order],
                &format!("{} are listed by", kind.plural()),
            );
        }
        for link in table.links.iter().filter(|link| has(&link.column)) {
            let is_scope = kind
                .schema()
                .references()
                .iter()
                .any(|it| it.name == link.name && it.is_scope);
            if is_scope && !live.finds_by(&[&link.column]) {
                self.index(
                    name,
                    &[&link.column, order],
                    &format!("{} are listed by", kind.plural()),
                );
            }
        }
        self.addresses(table);
        self.unique(table, live);
    }

    /// Checks the index on the e-mail addresses, by which people are matched.
    ///
    /// Requirements: HLP-04.
    fn addresses(&mut self, table: &TableMapping) {
        let is_addresses = |field: &str| field == "email_addresses";
        let rows = table.lists.iter().filter(|(field, _)| is_addresses(field));
        let rows = rows.map(|(_, rows)| (&rows.table, &rows.fields));
        let entries = table
            .entries
            .iter()
            .filter(|(field, _)| is_addresses(field));
        let entries = entries.flat_map(|(_, entries)| entries);
        let entries = entries.map(|entry| (&table.name, &entry.fields));
        for (name, fields) in rows.chain(entries) {
            let Some(field) = fields.iter().find(|field| field.path == "address") else {
                continue;
            };
            let live = self.live.table(name);
            let found = live.and_then(|live| Some((live, live.column(&field.column)?)));
            let Some((live, column)) = found else {
                continue;
            };
            let expression = self.dialect.address_index(&field.column, &column.sql_type);
            let knows_expressions = self.dialect.knows_expressions();
            let is_address =
                |column: &String| *column == expression || column.is_empty() && !knows_expressions;
            // A statement always compares the tenant.
            let is_tenant = |column: &String| table.tenant.as_ref() == Some(column);
            let mut begins = live.indexes.iter().filter_map(|index| {
                let mut columns = index.columns.iter();
                columns.find(|column| !(*name == table.name && is_tenant(column)))
            });
            if !begins.any(is_address) {
                self.index(name, &[&expression], "people are matched by");
            }
        }
    }

    /// Checks that values that must be unique are unique in the tables, because another program may
    /// write at the same time.
    ///
    /// Requirements: UND-02, UND-03, UND-38.
    fn unique(&mut self, table: &TableMapping, live: &DatabaseTable) {
        let (name, kind) = (&table.name, table.kind);
        let unique_name = kind
            .schema()
            .unique_name()
            .and_then(|unique| table.fields.iter().find(|it| it.path == unique.name));
        if let Some(field) = unique_name {
            let columns: Vec<&str> = table
                .tenant
                .as_deref()
                .into_iter()
                .chain([field.column.as_str()])
                .collect();
            if !live.is_unique(&columns) {
                let sql = self.index_sql("UNIQUE INDEX", name, &columns);
                self.wrong(format!(
                    "two {} can have the same name: run\n      {sql}",
                    kind.plural()
                ));
            }
        }
        let of = |link: &str| {
            let mut links = table.links.iter();
            let found = links.find(|it| it.name == link);
            found.map(|link| link.column.as_str())
        };
        let parent = kind.schema().parent.and_then(of);
        if (kind.schema().unique_links().is_some() || table.once_per_person)
            && let (Some(group), Some(person)) = (parent, of("person"))
            && !live.is_unique(&[group, person])
        {
            let (sql, of) = (
                self.index_sql("UNIQUE INDEX", name, &[group, person]),
                kind.schema().parent,
            );
            let of = of.unwrap_or("record");
            self.wrong(format!(
                "two {} can connect the same person with the same {of}: run\n      {sql}",
                kind.plural()
            ));
        }
        let is_unique = |pair: Option<(&str, &str)>| {
            pair.is_some_and(|(group, person)| live.is_unique(&[group, person]))
        };
        if !table.once_per_person
            && kind.schema().unique_links().is_none()
            && is_unique(parent.zip(of("person")))
        {
            self.wrong(format!(
                "`{name}` allows one row for each person: declare this with `.one_per_person()`, so that a second request changes it"
            ));
        }
    }

    pub(super) fn index(&mut self, table: &str, columns: &[&str], what: &str) {
        let sql = self.index_sql("INDEX", table, columns);
        self.wrong(format!(
            "{what} `{}`, but `{table}` has no index for it: run\n      {sql}",
            columns.join(", ")
        ));
    }

    /// Returns the SQL of an index.
    pub(super) fn index_sql(&self, what: &str, table: &str, columns: &[&str]) -> String {
        let columns = columns.iter().map(|column| {
            if column.contains('(') {
                (*column).to_owned()
            } else {
                plain(self.dialect, column)
            }
        });
        let columns = columns.collect::<Vec<_>>().join(", ");
        let name = match self.dialect.index_name(table, &columns) {
            name if name.is_empty() => name,
            name => format!(" {name}"),
        };
        format!("CREATE {what}{name} ON {table} ({columns});")
    }
}
