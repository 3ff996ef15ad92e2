//! A mapping against the live tables: what it means, or everything that is wrong with it and the SQL that mends it.

use super::{
    Engine, MappingError,
    live::{Class, Live, LiveColumn, LiveTable},
    mapping::{self, Mapping, Rows, Table, Whose as Named},
    own_tables,
    resolved::{Column, Link, Mapped, Member, Resolved, Stored, Whose},
    sql::quoted,
};
use crate::{
    model::Kind,
    read::nearest,
    schema::{Field, KindSchema, LinkTarget, ObjectSchema, Type},
};

/// Our own tables, which are looked up with the vendor's.
const OWN: [&str; 4] = ["svc_turns", "svc_identifiers", "svc_secrets", "svc_outbox"];

impl Mapping {
    /// Every table that it names, and ours.
    pub(super) fn table_names(&self) -> impl Iterator<Item = &str> {
        let tenants = match &self.tenants.0 {
            Named::Table { table, .. } => Some(table.as_str()),
            Named::One(_) => None,
        };
        let rows = self.tables.iter().flat_map(|table| table.lists.iter().map(|(_, rows)| rows.table.as_str()));
        tenants.into_iter().chain(self.tables.iter().map(|table| table.name.as_str())).chain(rows).chain(OWN)
    }
}

/// What a mapping means in these tables.
pub(super) fn resolve(mapping: &Mapping, engine: Engine, live: &Live) -> Result<Resolved, MappingError> {
    let mut check = Check { mapping, engine, live, problems: Vec::new() };
    check.own_tables();
    let tables: Vec<Mapped> = mapping.tables.iter().filter_map(|table| check.table(table)).collect();
    check.repeated();
    for (table, mapped) in
        mapping.tables.iter().filter_map(|it| Some((it, tables.iter().find(|of| of.kind == it.kind)?)))
    {
        check.indexes(table, mapped);
    }
    if !check.problems.is_empty() {
        return Err(MappingError::Tables(check.problems));
    }
    let only = match &mapping.tenants.0 {
        Named::One(name) => Some(name.clone()),
        Named::Table { .. } => None,
    };
    Ok(Resolved { engine, only, tables })
}

struct Check<'a> {
    mapping: &'a Mapping,
    engine: Engine,
    live: &'a Live,
    problems: Vec<String>,
}

impl<'a> Check<'a> {
    fn wrong(&mut self, problem: String) {
        self.problems.push(problem);
    }

    fn own_tables(&mut self) {
        let missing: Vec<&str> = OWN.into_iter().filter(|name| self.live.table(name).is_none()).collect();
        if missing.is_empty() {
            return;
        }
        let is_needed = |text: &&&str| missing.iter().any(|name| text.contains(name));
        let all = own_tables(self.engine);
        let sql: Vec<String> = all.iter().filter(is_needed).map(|text| format!("{text};")).collect();
        self.wrong(format!(
            "the tables of this library are missing: call `MappedStore::create_own_tables`, or run\n      {}",
            sql.join("\n      ")
        ));
    }

    /// Each kind has one table.
    fn repeated(&mut self) {
        for kind in Kind::ALL {
            let tables: Vec<&str> =
                self.mapping.tables.iter().filter(|it| it.kind == *kind).map(|it| it.name.as_str()).collect();
            if tables.len() > 1 {
                self.wrong(format!("{} are mapped to {}: a kind has one table", kind.plural(), tables.join(" and ")));
            }
        }
    }

    fn live_table(&mut self, name: &str) -> Option<&'a LiveTable> {
        let found = self.live.table(name);
        if found.is_none() {
            self.wrong(format!("there is no table `{name}`: correct its name, or create it"));
        }
        found
    }

    /// A column, or the problem that there is none.
    fn column(&mut self, table: &str, live: &LiveTable, name: &str, sql_type: &str) -> Option<Column> {
        let Some(found) = live.column(name) else {
            let names = live.columns.iter().map(|column| column.name.as_str());
            let meant = nearest(name, names).map(|meant| format!("did you mean `{meant}`? Or ")).unwrap_or_default();
            self.wrong(format!(
                "`{table}` has no column `{name}`: {meant}run\n      ALTER TABLE {table} ADD COLUMN {} {sql_type};",
                plain(name)
            ));
            return None;
        };
        Some(self.column_of(found))
    }

    fn column_of(&self, found: &LiveColumn) -> Column {
        Column {
            name: quoted(&found.name),
            sql_type: found.sql_type.clone(),
            class: found.class,
            nullable: found.nullable,
            has_default: found.has_default,
            default: found.default.clone(),
            longest: found.longest,
            most: found.most(self.engine),
        }
    }

    fn table(&mut self, table: &Table) -> Option<Mapped> {
        let live = self.live_table(&table.name)?;
        let schema = table.kind.schema();
        let before = self.problems.len();
        let moment =
            if self.engine == Engine::Postgres { "timestamptz NOT NULL DEFAULT now()" } else { "TEXT NOT NULL" };
        let key = match &table.key {
            Some(name) => self.column(&table.name, live, name, "bigint"),
            None => live.primary().map(|column| self.column_of(column)),
        };
        let order = match &table.order {
            Some(name) => self.column(&table.name, live, name, "bigserial"),
            None => live.primary().filter(|it| matches!(it.class, Class::Integer(_))).map(|it| self.column_of(it)),
        };
        if order.is_none() && table.order.is_none() {
            let fix = match self.engine {
                Engine::Postgres => "ADD COLUMN svc_order bigserial UNIQUE;",
                Engine::Sqlite => "ADD COLUMN svc_order INTEGER; -- and fill it from rowid",
            };
            self.wrong(format!(
                "`{}` has no primary key of whole numbers that rise from record to record (UND-20): name such a column with \
                 `.order(...)`, or run\n      ALTER TABLE {} {fix}",
                table.name, table.name
            ));
        }
        let key = key.or_else(|| order.clone());
        let id = self.id(table, live);
        let created = self.column(&table.name, live, &table.created, moment);
        let modified = self.column(&table.name, live, &table.modified, moment);
        let links = self.links(table, live);
        let whose = self.whose(table, live, &links);
        let mut members = self.members(&table.name, live, &table.fields, schema.fields, schema.plural);
        for (field, rows) in &table.lists {
            members.extend(self.rows(field, rows, schema));
        }
        members.sort_by(|one, other| one.places.cmp(&other.places));
        let constants: Vec<(Column, String)> = table
            .constants
            .iter()
            .filter_map(|(name, value)| Some((self.column(&table.name, live, name, "text")?, value.clone())))
            .collect();
        let defaults = self.defaults(table, schema);
        self.sources(table, live);
        if self.problems.len() > before {
            return None;
        }
        Some(Mapped {
            kind: table.kind,
            name: super::sql::quoted_table(&table.name),
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
        })
    }

    /// The column with the ids that clients see: nobody else has one, and it is given before the row is there.
    fn id(&mut self, table: &Table, live: &LiveTable) -> Option<Column> {
        let (name, id) = (&table.name, plain(&table.id));
        let sql_type = match self.engine {
            Engine::Postgres => "uuid NOT NULL UNIQUE DEFAULT gen_random_uuid()",
            Engine::Sqlite => "TEXT; -- and fill it, different in every row",
        };
        let column = self.column(name, live, &table.id, sql_type)?;
        if !matches!(column.class, Class::Uuid | Class::Text) {
            self.wrong(format!(
                "the ids of {} are given before a row is made, so `{name}.{id}` has to be a uuid or a text, not {}: name \
                 another column with `.id(...)`, or run\n      ALTER TABLE {name} ADD COLUMN svc_id {sql_type};",
                table.kind.plural(),
                column.sql_type
            ));
        } else if !live.is_unique(&[table.id.as_str()]) {
            self.wrong(format!(
                "two rows of `{name}` may have the same `{id}` (UND-41): run\n      CREATE UNIQUE INDEX ON {name} ({id});"
            ));
        }
        Some(column)
    }

    fn links(&mut self, table: &Table, live: &LiveTable) -> Vec<Link> {
        let mut links = Vec::new();
        let schema = table.kind.schema();
        for (name, column) in &table.links {
            let known = schema.links.iter().filter_map(|link| match link.target {
                LinkTarget::One { kind, .. } => Some((link.name, kind)),
                _ => None,
            });
            let Some((link, kind)) = known.clone().find(|(known, _)| known == name) else {
                let names: Vec<&str> = known.map(|(name, _)| name).collect();
                self.wrong(format!("{} have no link `{name}`: use one of {}", schema.plural, names.join(", ")));
                continue;
            };
            if kind.schema().home.is_some() {
                self.wrong(format!(
                    "the link `{name}` of {} leads below another record, which a mapping cannot follow: leave it out",
                    schema.plural
                ));
            } else if !self.mapping.tables.iter().any(|table| table.kind == kind) {
                self.wrong(format!(
                    "the link `{name}` of {} leads to {}, which have no table: map them, too, or leave it out",
                    schema.plural,
                    kind.plural()
                ));
            } else if let Some(column) = self.column(&table.name, live, column, "bigint") {
                links.push(Link { name: link, kind, column });
            }
        }
        // A record without what it is created under, or without the person that it needs, cannot be made.
        for link in schema.links {
            let is_needed = Some(link.name) == schema.parent
                || matches!(link.target, LinkTarget::One { write: crate::schema::LinkWrite::Required, .. });
            if is_needed && !table.links.iter().any(|(name, _)| name == link.name) {
                self.wrong(format!(
                    "{} need the link `{}`: name its column with `.link(\"{}\", ...)`",
                    schema.plural, link.name, link.name
                ));
            }
        }
        links
    }

    fn whose(&mut self, table: &Table, live: &LiveTable, links: &[Link]) -> Option<Whose> {
        let named = match &self.mapping.tenants.0 {
            Named::One(_) => return Some(Whose::Only),
            Named::Table { table, key, name } => (table, key, name),
        };
        let Some(column) = &table.tenant else {
            let container = links.iter().position(|link| Some(link.name) == table.kind.schema().parent);
            if container.is_none() {
                self.wrong(format!(
                    "nothing says whose the rows of `{}` are (COL-02): name the column with `.tenant(...)`",
                    table.name
                ));
            }
            return container.map(Whose::Container);
        };
        let column = self.column(&table.name, live, column, "bigint NOT NULL")?;
        let (tenants, key, name) = named;
        if key == name {
            return Some(Whose::Column { column, via: None });
        }
        let found = self.live_table(tenants)?;
        let (key, name) = (self.column(tenants, found, key, "bigserial")?, self.column(tenants, found, name, "text")?);
        Some(Whose::Column { column, via: Some((super::sql::quoted_table(tenants), key, name)) })
    }

    fn members(
        &mut self,
        table: &str,
        live: &LiveTable,
        fields: &[mapping::Field],
        schema: &'static ObjectSchema,
        plural: &str,
    ) -> Vec<Member> {
        let mut members = Vec::new();
        for field in fields {
            let Some((places, path)) = self.path(&field.path, schema, plural) else { continue };
            let Some(last) = path.last().copied() else { continue };
            let Some(column) = self.column(table, live, &field.column, wanted(&last.ty, self.engine)) else { continue };
            if !fits(&last.ty, column.class, self.engine) {
                self.wrong(format!(
                    "`{table}.{}` is {}, which cannot hold `{}`: run\n      ALTER TABLE {table} ADD COLUMN svc_{} {};",
                    plain(&field.column),
                    column.sql_type,
                    field.path,
                    field.path.replace('.', "_"),
                    wanted(&last.ty, self.engine)
                ));
                continue;
            }
            self.listed(table, live, field, last);
            members.push(Member { places, path, stored: Stored::Column { column, values: field.values.clone() } });
        }
        members
    }

    /// What fields are that nobody sends: of those that have a column.
    fn defaults(&mut self, table: &Table, schema: &'static KindSchema) -> Vec<(Vec<&'static str>, String)> {
        let mut defaults = Vec::new();
        for (path, value) in &table.defaults {
            let Some((_, fields)) = self.path(path, schema.fields, schema.plural) else { continue };
            if table.fields.iter().any(|field| field.path == *path) {
                defaults.push((fields.iter().map(|field| field.name).collect(), value.clone()));
            } else {
                self.wrong(format!("`{path}` of {} has no column: add `.field(\"{path}\", ...)`, or leave `.otherwise(\"{path}\", ...)` out", schema.plural));
            }
        }
        defaults
    }

    /// The places and fields that a name with dots leads through.
    fn path(
        &mut self,
        path: &str,
        schema: &'static ObjectSchema,
        plural: &str,
    ) -> Option<(Vec<usize>, Vec<&'static Field>)> {
        let (mut places, mut fields, mut object) = (Vec::new(), Vec::new(), Some(schema));
        for name in path.split('.') {
            let found =
                object.and_then(|object| object.fields.iter().enumerate().find(|(_, field)| field.name == name));
            let Some((place, field)) = found.filter(|(_, field)| !field.is_computed()) else {
                let known = object.map_or(&[][..], |object| object.fields).iter().filter(|field| !field.is_computed());
                let meant = nearest(name, known.map(|field| field.name))
                    .map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
                self.wrong(format!("{plural} have no field `{path}` that could be written{meant}"));
                return None;
            };
            places.push(place);
            fields.push(field);
            object = match &field.ty {
                Type::Object(inner) => Some(*inner),
                _ => None,
            };
        }
        Some((places, fields))
    }

    /// The values of a column that takes a few only are those of the mapping.
    fn listed(&mut self, table: &str, live: &LiveTable, field: &mapping::Field, of: &Field) {
        let taken = live.column(&field.column).and_then(|column| column.values.as_ref());
        let known: &[&str] = match of.ty {
            Type::Enum(known) | Type::FlexEnum(known) => known,
            _ => &[],
        };
        let (path, column) = (&field.path, plain(&field.column));
        if let Some((unknown, _)) = field.values.iter().find(|(value, _)| !known.contains(&value.as_str())) {
            self.wrong(format!("`{unknown}` is no value of `{path}`: use {}", known.join(", ")));
        }
        let Some(taken) = taken else { return };
        let given: Vec<&str> = match field.values.is_empty() {
            true => known.to_vec(),
            false => field.values.iter().map(|(_, stored)| stored.as_str()).collect(),
        };
        let refused: Vec<&str> = given.into_iter().filter(|value| !taken.iter().any(|taken| taken == value)).collect();
        if !refused.is_empty() {
            let is_are = if refused.len() == 1 { "is" } else { "are" };
            self.wrong(format!(
                "`{table}.{column}` takes only {}, so {} {is_are} refused: say what stands for what with `.values(\"{path}\", \
                 \"{}\", [(\"{}\", \"{}\"), ...])`",
                taken.join(", "), refused.join(", "), field.column, known.first().unwrap_or(&"..."), taken.first().map_or("...", String::as_str)
            ));
        }
    }

    fn rows(&mut self, field: &str, rows: &Rows, schema: &'static KindSchema) -> Option<Member> {
        let (places, path) = self.path(field, schema.fields, schema.plural)?;
        let entries = path.last().and_then(|field| match &field.ty {
            Type::Array(item) => item.object(),
            _ => None,
        });
        let Some(entries) = entries else {
            self.wrong(format!("`{field}` of {} is no list of objects: use `.field(...)`", schema.plural));
            return None;
        };
        let live = self.live_table(&rows.table)?;
        let parent = self.column(&rows.table, live, &rows.parent, "bigint NOT NULL");
        let order = match &rows.order {
            Some(name) => self.column(&rows.table, live, name, "bigserial"),
            None => live.primary().map(|column| self.column_of(column)),
        };
        if order.is_none() && rows.order.is_none() {
            self.wrong(format!(
                "the rows of `{}` have no order: name a column that is different in each of them with `.order(...)`, or run\n      \
                 ALTER TABLE {} ADD COLUMN svc_order bigserial UNIQUE;",
                rows.table, rows.table
            ));
        }
        let mut members = self.members(&rows.table, live, &rows.fields, entries, field);
        members.sort_by(|one, other| one.places.cmp(&other.places));
        let known = [Some(rows.parent.as_str()), rows.order.as_deref().or(live.primary().map(|it| it.name.as_str()))];
        let named = rows.fields.iter().map(|field| field.column.as_str()).chain(known.into_iter().flatten());
        self.sourceless(&rows.table, live, &named.collect::<Vec<_>>());
        if !live.finds_by(&[rows.parent.as_str()]) {
            self.index(&rows.table, &[&rows.parent], "the rows of a record are");
        }
        let stored =
            Stored::Rows { table: super::sql::quoted_table(&rows.table), parent: parent?, order: order?, members };
        Some(Member { places, path, stored })
    }

    /// Columns that have to be filled, and that nothing fills.
    fn sources(&mut self, table: &Table, live: &LiveTable) {
        let fixed =
            [Some(&table.id), Some(&table.created), Some(&table.modified), table.tenant.as_ref(), table.order.as_ref()];
        let named = fixed.into_iter().flatten().map(String::as_str);
        let named = named.chain(table.fields.iter().map(|field| field.column.as_str()));
        let named = named.chain(table.links.iter().map(|(_, column)| column.as_str()));
        let named: Vec<&str> = named.chain(table.constants.iter().map(|(column, _)| column.as_str())).collect();
        self.sourceless(&table.name, live, &named);
    }

    fn sourceless(&mut self, table: &str, live: &LiveTable, named: &[&str]) {
        for column in
            live.columns.iter().filter(|it| !it.nullable && !it.has_default && !named.contains(&it.name.as_str()))
        {
            if live.primary().is_some_and(|primary| primary.name == column.name) && self.engine == Engine::Sqlite {
                continue;
            }
            let name = plain(&column.name);
            self.wrong(format!(
                "`{table}.{name}` must not be empty, and nothing fills it: map it, set it with `.new_rows_have(\"{}\", ...)`, or \
                 run\n      ALTER TABLE {table} ALTER COLUMN {name} SET DEFAULT ...;",
                column.name
            ));
        }
    }

    /// What is looked up has an index.
    fn indexes(&mut self, table: &Table, mapped: &Mapped) {
        let Some(live) = self.live.table(&table.name) else { return };
        let (name, kind) = (&table.name, table.kind);
        let order = mapped.order.name.trim_matches('"').to_owned();
        if let Some(tenant) = &table.tenant
            && !live.finds_by(&[tenant])
        {
            self.index(name, &[tenant, &order], &format!("{} are listed by", kind.plural()));
        }
        for (link, column) in &table.links {
            let is_scope = kind.schema().references().iter().any(|it| it.name == link && it.is_scope);
            if is_scope && !live.finds_by(&[column]) {
                self.index(name, &[column, &order], &format!("{} are listed by", kind.plural()));
            }
        }
        if let Some((_, _, address)) = mapped.emails()
            && let Some((_, rows)) = table.lists.iter().find(|(field, _)| field == "email_addresses")
        {
            let address = address.name.trim_matches('"');
            let expression = format!("lower({address})");
            let found = self.live.table(&rows.table).is_some_and(|live| {
                live.finds_by(&[&expression])
                    || self.engine == Engine::Sqlite
                        && live.indexes.iter().any(|it| it.columns.first().is_some_and(String::is_empty))
            });
            if !found {
                self.index(&rows.table, &[&expression], "people are matched (HLP-04) by");
            }
        }
        self.unique(table, live);
    }

    /// What the interface has once, the tables have once: another program may write at the same moment.
    fn unique(&mut self, table: &Table, live: &LiveTable) {
        let (name, kind) = (&table.name, table.kind);
        let unique_name =
            kind.schema().unique_name().and_then(|unique| table.fields.iter().find(|it| it.path == unique.name));
        if let Some(field) = unique_name {
            let columns: Vec<&str> = table.tenant.as_deref().into_iter().chain([field.column.as_str()]).collect();
            if !live.is_unique(&columns) {
                self.wrong(format!(
                    "two {} may have one name (UND-02, UND-03): run\n      CREATE UNIQUE INDEX ON {name} ({});",
                    kind.plural(),
                    columns.join(", ")
                ));
            }
        }
        let of = |link: &str| table.links.iter().find(|(name, _)| name == link).map(|(_, column)| column.as_str());
        let parent = kind.schema().parent.and_then(of);
        if (kind.schema().unique_links().is_some() || table.once_per_person)
            && let (Some(group), Some(person)) = (parent, of("person"))
            && !live.is_unique(&[group, person])
        {
            self.wrong(format!(
                "two {} may tie one person to one {} (UND-38): run\n      CREATE UNIQUE INDEX ON {name} ({group}, {person});",
                kind.plural(), kind.schema().parent.unwrap_or("record")
            ));
        }
        let is_unique =
            |pair: Option<(&str, &str)>| pair.is_some_and(|(group, person)| live.is_unique(&[group, person]));
        if !table.once_per_person && kind.schema().unique_links().is_none() && is_unique(parent.zip(of("person"))) {
            self.wrong(format!(
                "`{name}` has one row for each person: say so with `.once_per_person()`, so that a second call changes it"
            ));
        }
    }

    fn index(&mut self, table: &str, columns: &[&str], what: &str) {
        let columns =
            columns.iter().map(|column| if column.contains('(') { (*column).to_owned() } else { plain(column) });
        let columns = columns.collect::<Vec<_>>().join(", ");
        let name = match self.engine {
            Engine::Postgres => String::new(),
            Engine::Sqlite => format!(
                " svc_{}_{}",
                table.replace('.', "_"),
                columns.replace([',', ' ', '(', ')'], "_").trim_matches('_')
            ),
        };
        self.wrong(format!("{what} `{columns}`, and `{table}` has no index for it: run\n      CREATE INDEX{name} ON {table} ({columns});"));
    }
}

/// A name as people write it in SQL.
fn plain(name: &str) -> String {
    let is_plain = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_';
    if name.bytes().all(is_plain) { name.to_owned() } else { quoted(name) }
}

/// The type of a column for a field.
fn wanted(ty: &Type, engine: Engine) -> &'static str {
    match (ty, engine) {
        (Type::Integer, Engine::Postgres) => "bigint",
        (Type::Integer, Engine::Sqlite) => "INTEGER",
        (Type::Float | Type::Amount, _) => "numeric",
        (Type::Boolean | Type::Flag, _) => "boolean",
        (Type::Timestamp, Engine::Postgres) => "timestamptz",
        (Type::Timestamp, Engine::Sqlite) => "TIMESTAMP",
        (Type::Date, _) => "date",
        (Type::Array(_) | Type::Object(_) | Type::OneOrMany(_) | Type::StringMap, Engine::Postgres) => "jsonb",
        (Type::Array(_) | Type::Object(_) | Type::OneOrMany(_) | Type::StringMap, Engine::Sqlite) => "JSON",
        _ => "text",
    }
}

/// Whether a column can hold a field.
fn fits(ty: &Type, class: Class, engine: Engine) -> bool {
    let sqlite = engine == Engine::Sqlite;
    match (ty, class) {
        (_, Class::Json) => true,
        (Type::Integer, Class::Integer(_) | Class::Decimal)
        | (Type::Float | Type::Amount, Class::Decimal | Class::Integer(_)) => true,
        (Type::Boolean | Type::Flag, Class::Boolean) => true,
        (Type::Boolean | Type::Flag, Class::Integer(_)) => sqlite,
        (Type::Timestamp, Class::Moment) | (Type::Date, Class::Date) => true,
        (Type::Timestamp | Type::Date, Class::Text) => sqlite,
        (Type::String | Type::Enum(_) | Type::FlexEnum(_) | Type::Reference, Class::Text) => true,
        (Type::Array(Type::String), Class::Texts) => true,
        _ => false,
    }
}
