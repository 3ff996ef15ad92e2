//! Resolves a mapping against the live tables. The result is the resolved mapping, or every problem
//! with the SQL that fixes it.

mod indexes;
mod members;
mod merges;

use svc_core::{model::Kind, read::nearest, schema::LinkTarget};

use super::{
    MappingError, SqlDialect,
    dialect::ColumnType,
    introspect::{DatabaseColumn, DatabaseTable, DatabaseTables},
    mapping::{DeletionMark, LinkMapping, Mapping, TableMapping, TenantSource as Named},
    resolved_mapping::{
        FieldStorage, ResolvedColumn, ResolvedDeletion, ResolvedField, ResolvedLink,
        ResolvedMapping, ResolvedTable, RowTenant, TenantTable,
    },
};

/// Returns the names of the tables of the library, which are read together with those of the vendor.
fn library_tables<'m>(dialect: &'static dyn SqlDialect) -> impl Iterator<Item = &'m str> {
    let created = dialect.library_tables().iter();
    created.filter_map(|sql| {
        let rest = sql.strip_prefix("CREATE TABLE IF NOT EXISTS ")?;
        rest.split_once(' ').map(|(name, _)| name)
    })
}

impl Mapping {
    /// Returns the names of all tables that the mapping names, and those of the library.
    pub(super) fn table_names<'m>(
        &'m self,
        dialect: &'static dyn SqlDialect,
    ) -> impl Iterator<Item = &'m str> {
        let tenants = match &self.tenants.0 {
            Named::Table { table, .. } => Some(table.as_str()),
            Named::One(_) => None,
        };
        let rows = self
            .tables
            .iter()
            .flat_map(|table| table.lists.iter().map(|(_, rows)| rows.table.as_str()));
        tenants
            .into_iter()
            .chain(self.tables.iter().map(|table| table.name.as_str()))
            .chain(rows)
            .chain(self.moved.iter().map(|(table, _)| table.as_str()))
            .chain(self.ignored.iter().map(String::as_str))
            .chain(library_tables(dialect))
    }
}

/// Resolves a mapping against these tables.
pub(super) fn resolve(
    mapping: &Mapping,
    dialect: &'static dyn SqlDialect,
    live: &DatabaseTables,
) -> Result<ResolvedMapping, MappingError> {
    let mut check = MappingChecker {
        mapping,
        dialect,
        live,
        problems: Vec::new(),
    };
    check.check_library_tables();
    let tables: Vec<ResolvedTable> = mapping
        .tables
        .iter()
        .filter_map(|table| check.table(table))
        .collect();
    check.repeated();
    mapping.tables.iter().for_each(|table| check.lookups(table));
    let moved = check.moved_in_merges();
    if !check.problems.is_empty() {
        return Err(MappingError::InvalidMapping(check.problems));
    }
    let only = match &mapping.tenants.0 {
        Named::One(name) => Some(name.clone()),
        Named::Table { .. } => None,
    };
    Ok(ResolvedMapping {
        dialect,
        only,
        tables,
        moved,
        merge_problems: check.merge_problems(),
    })
}

struct MappingChecker<'a> {
    mapping: &'a Mapping,
    dialect: &'static dyn SqlDialect,
    live: &'a DatabaseTables,
    problems: Vec<String>,
}

impl<'a> MappingChecker<'a> {
    /// Reports a problem once.
    fn wrong(&mut self, problem: String) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn check_library_tables(&mut self) {
        let missing: Vec<&str> = library_tables(self.dialect)
            .filter(|name| self.live.table(name).is_none())
            .collect();
        if missing.is_empty() {
            return;
        }
        let is_needed = |text: &&&str| missing.iter().any(|name| text.contains(name));
        let all = self.dialect.library_tables();
        let sql: Vec<String> = all
            .iter()
            .filter(is_needed)
            .map(|text| format!("{text};"))
            .collect();
        self.wrong(format!(
            "the tables of this library are missing: call `MappedStore::create_library_tables`, or run\n      {}",
            sql.join("\n      ")
        ));
    }

    /// Checks that each kind has one table.
    fn repeated(&mut self) {
        for kind in Kind::ALL {
            let tables: Vec<&str> = self
                .mapping
                .tables
                .iter()
                .filter(|it| it.kind == *kind)
                .map(|it| it.name.as_str())
                .collect();
            if tables.len() > 1 {
                self.wrong(format!(
                    "{} are mapped to {}, but a kind must have one table",
                    kind.plural(),
                    tables.join(" and ")
                ));
            }
        }
    }

    fn live_table(&mut self, name: &str) -> Option<&'a DatabaseTable> {
        let found = self.live.table(name);
        if found.is_none() {
            self.wrong(format!(
                "there is no table `{name}`: correct its name, or create it"
            ));
        }
        found
    }

    /// Returns a column, or reports that it does not exist.
    fn column(
        &mut self,
        table: &str,
        live: &DatabaseTable,
        name: &str,
        sql_type: &str,
    ) -> Option<ResolvedColumn> {
        let Some(found) = live.column(name) else {
            let names = live.columns.iter().map(|column| column.name.as_str());
            let meant = nearest(name, names)
                .map(|meant| format!("did you mean `{meant}`? Or "))
                .unwrap_or_default();
            self.wrong(format!(
                "`{table}` has no column `{name}`: {meant}run\n      ALTER TABLE {table} ADD COLUMN {} {sql_type};",
                plain(self.dialect, name)
            ));
            return None;
        };
        Some(self.column_of(found))
    }

    fn column_of(&self, found: &DatabaseColumn) -> ResolvedColumn {
        ResolvedColumn {
            name: self.dialect.quote(&found.name),
            raw: found.name.clone(),
            sql_type: found.sql_type.clone(),
            class: found.class,
            nullable: found.nullable,
            has_default: found.has_default,
            default: found.default.clone(),
            default_sql: found.default_sql.clone(),
            is_generated: found.is_generated,
            longest: found.longest,
            most: found.max_value(self.dialect),
        }
    }

    /// Returns the table with the columns for the order of its records, their dates, and their
    /// fields.
    ///
    /// Requirements: UND-20, TYP-15, TYP-16.
    fn table(&mut self, table: &TableMapping) -> Option<ResolvedTable> {
        let live = self.live_table(&table.name)?;
        let schema = table.kind.schema();
        let before = self.problems.len();
        if live.is_view && !table.is_view {
            self.wrong(format!(
                "`{}` is a view: declare this with `.view()`, and name its columns with `.key(...)` and `.order_column(...)`",
                table.name
            ));
            return None;
        }
        let moment = self.dialect.date_column();
        let key = match &table.key {
            Some(name) => self.column(&table.name, live, name, "bigint"),
            None => live.primary().map(|column| self.column_of(column)),
        };
        let order = match &table.order {
            Some(name) => self.column(&table.name, live, name, "bigserial UNIQUE"),
            None => live
                .primary()
                .filter(|it| matches!(it.class, ColumnType::Integer(_)))
                .map(|it| self.column_of(it)),
        };
        if order.is_none() && table.order.is_none() && !table.is_view {
            let name = &table.name;
            let fix = self.dialect.order_advice(name);
            self.wrong(format!(
                "`{name}` has no integer primary key with increasing values: {fix}"
            ));
        }
        let key = key.or_else(|| order.clone());
        if table.is_view && !self.dialect.changes_views() {
            self.wrong(format!(
                "`{}` is declared as a view, which {} cannot change: map a table",
                table.name,
                self.dialect.name()
            ));
        }
        if table.is_view && (table.key.is_none() || table.order.is_none()) {
            self.wrong(format!(
                "`{}` is a view, which has no primary key: name its columns with `.key(...)` and `.order_column(...)`",
                table.name
            ));
        }
        let own_key = key.as_ref().filter(|key| Some(*key) != order.as_ref());
        self.by_itself(table, live, own_key, "the key that other tables refer to");
        self.by_itself(table, live, order.as_ref(), "the order of records");
        if let Some(order) = order
            .as_ref()
            .filter(|order| !matches!(order.class, ColumnType::Integer(_)))
        {
            self.wrong(format!(
                "`{}.{}` is not an integer column: name another one with `.order_column(...)`",
                table.name, order.name
            ));
        }
        let id = self.id(table, live);
        let created = self.column(&table.name, live, &table.created, moment);
        let modified = self.column(&table.name, live, &table.modified, moment);
        for date in [&created, &modified].into_iter().flatten() {
            if date.class != ColumnType::Moment
                && !(date.class == ColumnType::Text && self.dialect.has_loose_types())
            {
                let (name, date_type) = (&date.raw, &date.sql_type);
                self.wrong(format!(
                    "`{}.{name}` has the type {date_type}, which cannot store a date and time: name another column with \
                     `.date_columns(...)`, or run\n      ALTER TABLE {} ADD COLUMN svc_{name} {moment};",
                    table.name, table.name
                ));
            }
        }
        let links = self.links(table, live);
        let whose = self.whose(table, live, &links);
        let mut members = self.members(
            &table.name,
            live,
            &table.fields,
            schema.fields,
            schema.plural,
        );
        for (field, rows) in &table.lists {
            members.extend(self.rows(table, field, rows, schema));
        }
        for entries in &table.entries {
            members.extend(self.entries(table, live, entries, schema));
        }
        members.sort_by(|one, other| one.places.cmp(&other.places));
        let constants: Vec<(ResolvedColumn, String)> = table
            .constants
            .iter()
            .filter_map(|(name, value)| {
                let column = self.column(&table.name, live, name, "text")?;
                let value = self.stored_truth(&column, value);
                Some((column, value))
            })
            .collect();
        let defaults = self.defaults(table, schema);
        let deleted = self.deleted(table, live);
        let slug = table.slug.as_ref();
        let slug = slug.and_then(|name| self.column(&table.name, live, name, "text"));
        if let Some(slug) = slug.as_ref().filter(|slug| slug.class != ColumnType::Text) {
            self.wrong(format!(
                "`{}.{}` has the type {}, but a slug is a text: name another column with `.slug(...)`",
                table.name, slug.raw, slug.sql_type
            ));
        }
        self.mapped_twice(table, &members);
        if !table.is_view {
            self.sources(table, live);
        }
        if self.problems.len() > before {
            return None;
        }
        Some(ResolvedTable {
            kind: table.kind,
            name: super::sql::quoted_table(self.dialect, &table.name),
            whose: whose?,
            key: key?,
            order: order?,
            id: id?,
            created: created?,
            modified: modified?,
            links,
            members,
            constants,
            once_per_person: table.once_per_person,
            defaults,
            deleted,
            is_restored: table.is_restored,
            slug,
        })
    }

    /// Checks that a column is NOT NULL and unique in the whole table, for all tenants.
    fn by_itself(
        &mut self,
        table: &TableMapping,
        live: &DatabaseTable,
        column: Option<&ResolvedColumn>,
        what: &str,
    ) {
        let Some(column) = column.filter(|_| !table.is_view) else {
            return;
        };
        let (table, name) = (&table.name, &*column.raw);
        let is_primary = live.primary().is_some_and(|primary| primary.name == name);
        if !live.is_unique(&[name]) {
            let sql = self.index_sql("UNIQUE INDEX", table, &[name]);
            self.wrong(format!(
                "`{table}.{name}` is {what}, but is not unique: run\n      {sql}"
            ));
        } else if column.nullable && !is_primary {
            let fix = self.not_null(table, name);
            self.wrong(format!(
                "`{table}.{name}` is {what}, but can be NULL: {fix}"
            ));
        }
    }

    /// Returns how to make a column NOT NULL.
    fn not_null(&self, table: &str, name: &str) -> String {
        self.dialect
            .not_null_advice(table, &plain(self.dialect, name))
    }

    /// Returns the column with the ids that clients see. It must be unique.
    ///
    /// Requirements: UND-41.
    fn id(&mut self, table: &TableMapping, live: &DatabaseTable) -> Option<ResolvedColumn> {
        let (name, id) = (&table.name, plain(self.dialect, &table.id));
        let sql_type = self.dialect.id_column(name, &id);
        let column = self.column(name, live, &table.id, &sql_type)?;
        let is_numbered = matches!(column.class, ColumnType::Integer(_));
        if !is_numbered && !matches!(column.class, ColumnType::Uuid | ColumnType::Text) {
            self.wrong(format!(
                "the ids of {} must be in an integer, uuid or text column, but `{name}.{id}` has the type {}: name another \
                 column with `.id(...)`, or run\n      ALTER TABLE {name} ADD COLUMN svc_id {sql_type};",
                table.kind.plural(),
                column.sql_type
            ));
        } else if is_numbered
            && !column.has_default
            && (table.is_view || !self.dialect.fills_primary_key())
        {
            self.wrong(format!(
                "the database does not number the column `{name}.{id}`: give it a default from a sequence, or name another \
                 column with `.id(...)`"
            ));
        } else if table.is_view {
            return Some(column);
        } else if !live.is_unique(&[table.id.as_str()]) {
            let sql = self.index_sql("UNIQUE INDEX", name, &[&table.id]);
            self.wrong(format!(
                "two rows of `{name}` can have the same `{id}`: run\n      {sql}"
            ));
        } else if column.nullable
            && !self.dialect.has_nullable_ids()
            && live
                .primary()
                .is_none_or(|primary| primary.name != table.id)
        {
            let fix = self.not_null(name, &table.id);
            self.wrong(format!(
                "`{name}.{id}` can be NULL, but every record needs an id: {fix}"
            ));
        }
        Some(column)
    }

    fn links(&mut self, table: &TableMapping, live: &DatabaseTable) -> Vec<ResolvedLink> {
        let mut links = Vec::new();
        let schema = table.kind.schema();
        for LinkMapping {
            name,
            column,
            target,
        } in &table.links
        {
            let known = schema.links.iter().filter_map(|link| match link.target {
                LinkTarget::One { kind, .. } => Some((link.name, kind)),
                _ => None,
            });
            let Some((link, kind)) = known.clone().find(|(known, _)| known == name) else {
                let names: Vec<&str> = known.map(|(name, _)| name).collect();
                self.wrong(format!(
                    "{} have no link `{name}`: use one of {}",
                    schema.plural,
                    names.join(", ")
                ));
                continue;
            };
            if kind.schema().path_parent.is_some() {
                self.wrong(format!(
                    "the link `{name}` of {} has a target below another record, which a mapping does not support: remove it",
                    schema.plural
                ));
            } else if !self.mapping.tables.iter().any(|table| table.kind == kind) {
                self.wrong(format!(
                    "the link `{name}` of {} has {} as targets, which have no table: map them, or remove the link",
                    schema.plural,
                    kind.plural()
                ));
            } else if let Some(column) = self.column(&table.name, live, column, "bigint")
                && let Some(target) = self.target_column(table, kind, target.as_deref())
            {
                self.check_classes(table, name, &column, &target);
                links.push(ResolvedLink {
                    name: link,
                    kind,
                    column,
                    target,
                });
            }
        }
        // A record cannot be created without its container, or without a required person.
        for link in schema.links {
            let is_needed = Some(link.name) == schema.parent
                || matches!(
                    link.target,
                    LinkTarget::One {
                        write: svc_core::schema::LinkWrite::Required,
                        ..
                    }
                );
            if is_needed && !table.links.iter().any(|it| it.name == link.name) {
                self.wrong(format!(
                    "{} need the link `{}`: name its column with `.link(\"{}\", ...)`",
                    schema.plural, link.name, link.name
                ));
            }
        }
        links
    }

    /// Reports a link whose column has values of another type than the column to which it refers.
    fn check_classes(
        &mut self,
        table: &TableMapping,
        link: &str,
        column: &ResolvedColumn,
        target: &ResolvedColumn,
    ) {
        let class = |column: &ResolvedColumn| match column.class {
            ColumnType::Integer(_) => ColumnType::Integer(i64::MAX),
            class => class,
        };
        if class(column) != class(target) && !self.dialect.has_loose_types() {
            self.wrong(format!(
                "`{}.{}` has the type {}, but the link `{link}` refers to `{}` of the type {}: name another column with \
                 `.link_by(...)`",
                table.name, column.raw, column.sql_type, target.raw, target.sql_type
            ));
        }
    }

    /// Returns the column of a table to which a link refers: the named one, or the key. Returns `None` if
    /// there is none; a missing table or key is reported elsewhere.
    fn target_column(
        &mut self,
        from: &TableMapping,
        kind: Kind,
        named: Option<&str>,
    ) -> Option<ResolvedColumn> {
        let mut tables = self.mapping.tables.iter();
        let target = tables.find(|table| table.kind == kind)?;
        let live = self.live.table(&target.name)?;
        let Some(named) = named else {
            return match target.key.as_ref().or(target.order.as_ref()) {
                Some(name) if target.key.is_some() || live.primary().is_none() => live.column(name),
                _ => live.primary(),
            }
            .map(|column| self.column_of(column));
        };
        let column = self.column(&target.name, live, named, "text")?;
        let has_tenants = matches!(self.mapping.tenants.0, Named::Table { .. });
        let tenants = from.tenant.as_deref().and(target.tenant.as_deref());
        let tenants = tenants.filter(|_| has_tenants);
        let unique: Vec<&str> = tenants.into_iter().chain([named]).collect();
        if !target.is_view && !live.is_unique(&unique) {
            let sql = self.index_sql("UNIQUE INDEX", &target.name, &unique);
            self.wrong(format!(
                "two rows of `{}` can have the same `{named}`, to which `{}` refers: run\n      {sql}",
                target.name, from.name
            ));
        }
        Some(column)
    }

    /// Returns the column that marks rows as deleted.
    fn deleted(&mut self, table: &TableMapping, live: &DatabaseTable) -> Option<ResolvedDeletion> {
        let mark = table.deleted.as_ref();
        if mark.is_none() && table.is_restored {
            self.wrong(format!(
                "`.restored_by_helpers()` has no effect on `{}`, whose rows are deleted: add `.deleted_at(...)` or \
                 `.deleted_if(...)`, or remove it",
                table.name
            ));
        }
        let (name, value) = match mark? {
            DeletionMark::Date(name) => (name, None),
            DeletionMark::Value(name, value) => (name, Some(value.clone())),
        };
        let column = self.column(&table.name, live, name, self.dialect.date_column())?;
        let is_date = column.class == ColumnType::Moment
            || column.class == ColumnType::Text && self.dialect.has_loose_types();
        if value.is_none() && (!is_date || !column.nullable) {
            self.wrong(format!(
                "`{}.{name}` must be NULL or a date and time for `.deleted_at(\"{name}\")`: name another column, or use \
                 `.deleted_if(...)`",
                table.name
            ));
        }
        if let Some(value) = value.as_deref() {
            self.check_mark(table, &column, value);
        }
        let restored = match (value.as_deref(), column.class) {
            (None, _) => None,
            (Some("true"), ColumnType::Boolean) => Some("false".to_owned()),
            (Some("false"), ColumnType::Boolean) => Some("true".to_owned()),
            (Some(value), _) => column.default.clone().filter(|default| default != value),
        };
        if table.is_restored && value.is_some() && restored.is_none() && !column.nullable {
            self.wrong(format!(
                "`{}.{name}` has no default for a person who is restored: give it one, or remove `.restored_by_helpers()`",
                table.name
            ));
        }
        let stored = |text: String| self.stored_truth(&column, &text);
        Some(ResolvedDeletion {
            value: value.map(stored),
            restored: restored.map(stored),
            column,
        })
    }

    /// Returns the text of a truth value as the database stores it in a column. Other texts remain.
    fn stored_truth(&self, column: &ResolvedColumn, text: &str) -> String {
        let is_truth = match column.class {
            ColumnType::Boolean => true,
            ColumnType::Integer(_) => self.dialect.has_loose_types(),
            _ => false,
        };
        match text {
            "true" if is_truth => self.dialect.boolean(true).to_owned(),
            "false" if is_truth => self.dialect.boolean(false).to_owned(),
            _ => text.to_owned(),
        }
    }

    /// Reports a mark of deleted rows that the column cannot have, or that each new row has.
    fn check_mark(&mut self, table: &TableMapping, column: &ResolvedColumn, value: &str) {
        let stored = self.stored_truth(column, value);
        let fits = match column.class {
            ColumnType::Boolean => matches!(value, "true" | "false"),
            ColumnType::Integer(_) => stored.parse::<i64>().is_ok(),
            _ => true,
        };
        let (name, raw) = (&table.name, &column.raw);
        if !fits {
            self.wrong(format!(
                "`{name}.{raw}` has the type {}, which cannot be `{value}`: correct the value of `.deleted_if(\"{raw}\", ...)`",
                column.sql_type
            ));
        }
        let constant = table.constants.iter().find(|(of, _)| of == raw);
        let of_new = constant.map(|(_, value)| value).or(column.default.as_ref());
        if of_new.is_some_and(|of_new| self.stored_truth(column, of_new) == stored) {
            self.wrong(format!(
                "each new row of `{name}` would be deleted, because its `{raw}` is `{value}`: set another value with \
                 `.insert_constant(\"{raw}\", ...)`"
            ));
        }
    }

    /// Reports a member that is mapped twice, and a column that a new row would have twice. The entries of
    /// a list can share the column of a member.
    fn mapped_twice(&mut self, table: &TableMapping, members: &[ResolvedField]) {
        let mut places: Vec<&[usize]> = Vec::new();
        for member in members {
            if places.contains(&member.places.as_slice()) {
                let path: Vec<&str> = member.path.iter().map(|field| field.name).collect();
                self.wrong(format!(
                    "`{}` of {} is mapped twice: remove all but one",
                    path.join("."),
                    table.kind.plural()
                ));
            }
            places.push(&member.places);
        }
        let own = [
            Some(&table.id),
            Some(&table.created),
            table.tenant.as_ref(),
            table.slug.as_ref(),
        ];
        let own = own.into_iter().flatten().map(String::as_str);
        let links = table.links.iter().map(|link| link.column.as_str());
        // Each name with the position of its member, which is empty for other columns.
        let none: [&[usize]; 2] = [&[], &[]];
        let mut seen: Vec<(&str, [&[usize]; 2])> = Vec::new();
        let mut twice: Vec<&str> = Vec::new();
        for name in own.chain(links) {
            if seen.iter().any(|(known, _)| *known == name) {
                twice.push(name);
            }
            seen.push((name, none));
        }
        let is_set = |name: &String| seen.iter().any(|(known, _)| known == name);
        let constants = table.constants.iter().map(|(name, _)| name);
        twice.extend(constants.filter(|name| is_set(name)).map(String::as_str));
        for member in members {
            let inner = match &member.stored {
                FieldStorage::Entries(entries) => entries.iter().flatten().collect(),
                _ => vec![member],
            };
            for field in inner {
                let at = [member.places.as_slice(), field.places.as_slice()];
                for stored in field.columns() {
                    let name = stored.column.raw.as_str();
                    if seen.iter().any(|(known, of)| *known == name && *of != at) {
                        twice.push(name);
                    }
                    seen.push((name, at));
                }
            }
        }
        for name in twice {
            self.wrong(format!(
                "`{}.{name}` is mapped twice: remove all but one, because a change of one would also change the other",
                table.name
            ));
        }
    }

    /// Returns how the tenant of a row is found.
    ///
    /// Requirements: COL-02.
    fn whose(
        &mut self,
        table: &TableMapping,
        live: &DatabaseTable,
        links: &[ResolvedLink],
    ) -> Option<RowTenant> {
        let named = match &self.mapping.tenants.0 {
            Named::One(_) => return Some(RowTenant::Fixed),
            Named::Table { table, key, name } => (table, key, name),
        };
        let Some(column) = &table.tenant else {
            let container = links
                .iter()
                .position(|link| Some(link.name) == table.kind.schema().parent);
            if container.is_none() {
                self.wrong(format!(
                    "the tenant of the rows of `{}` is unknown: name its column with `.tenant(...)`",
                    table.name
                ));
            }
            return container.map(RowTenant::Container);
        };
        let column = self.column(&table.name, live, column, "bigint NOT NULL")?;
        if column.nullable && !table.is_view {
            let fix = self.not_null(&table.name, &column.raw);
            self.wrong(format!(
                "the tenant of the rows of `{}` can be NULL: {fix}",
                table.name
            ));
        }
        let (tenants, key, name) = named;
        if key == name {
            return Some(RowTenant::Column { column, via: None });
        }
        let found = self.live_table(tenants)?;
        if !found.is_unique(&[name.as_str()]) {
            let sql = self.index_sql("UNIQUE INDEX", tenants, &[name]);
            self.wrong(format!(
                "two tenants can have the same name: run\n      {sql}"
            ));
        }
        let (key, name) = (
            self.column(tenants, found, key, "bigserial")?,
            self.column(tenants, found, name, "text")?,
        );
        Some(RowTenant::Column {
            column,
            via: Some(Box::new(TenantTable {
                table: super::sql::quoted_table(self.dialect, tenants),
                key,
                name,
            })),
        })
    }
}

/// Returns a name as it is usually written in SQL.
fn plain(dialect: &dyn SqlDialect, name: &str) -> String {
    let is_plain =
        |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_';
    if name.bytes().all(is_plain) {
        name.to_owned()
    } else {
        dialect.quote(name)
    }
}
