//! Resolves the members of a record: fields in columns, lists in rows, and defaults.

use svc_core::{
    read::nearest,
    schema::{FieldRule, FieldSpec, KindSchema, ObjectSchema, ValueType},
};

use super::{MappingChecker, plain};
use crate::{
    column::Conversion,
    dialect::{ColumnType, SqlDialect},
    introspect::DatabaseTable,
    mapping::{EntryMapping, FieldMapping, ListMapping, TableMapping},
    resolved_mapping::{FieldStorage, ResolvedColumn, ResolvedField, StoredColumn},
    sql::quoted_table,
};

impl MappingChecker<'_> {
    pub(super) fn members(
        &mut self,
        table: &str,
        live: &DatabaseTable,
        fields: &[FieldMapping],
        schema: &'static ObjectSchema,
        plural: &str,
    ) -> Vec<ResolvedField> {
        let mut members = Vec::new();
        for field in fields {
            let Some((places, path)) = self.path(&field.path, schema, plural) else {
                continue;
            };
            let Some(last) = path.last().copied() else {
                continue;
            };
            let Some(column) = self.column(
                table,
                live,
                &field.column,
                self.dialect.column_type(&last.ty),
            ) else {
                continue;
            };
            if !self.is_stored_in(last, field, &column) {
                self.unfit(table, field, last, &column);
                continue;
            }
            self.listed(table, live, field, last);
            members.push(ResolvedField {
                places,
                path,
                stored: FieldStorage::Column(StoredColumn {
                    column,
                    conversion: field.conversion.clone(),
                }),
            });
        }
        members
    }

    /// Returns whether a column can store a field in the way that the mapping declares.
    fn is_stored_in(
        &self,
        field: &FieldSpec,
        mapping: &FieldMapping,
        column: &ResolvedColumn,
    ) -> bool {
        let is_enum = matches!(field.ty, ValueType::Enum(_) | ValueType::FlexEnum(_));
        match (&mapping.conversion, column.class) {
            (Conversion::Values(values), ColumnType::Boolean | ColumnType::Integer(_)) => {
                let is_truth =
                    |(_, stored): &(String, String)| matches!(stored.as_str(), "true" | "false");
                let has_truths =
                    column.class == ColumnType::Boolean || self.dialect.has_loose_types();
                is_enum && has_truths && values.iter().all(is_truth)
            }
            (Conversion::Scaled(_), class) => {
                matches!(field.ty, ValueType::Amount) && matches!(class, ColumnType::Integer(_))
            }
            (Conversion::Phone(_), ColumnType::Text) => {
                let has_rule = |rule: &FieldRule| matches!(rule, FieldRule::PhoneNumber);
                field.rules.iter().any(has_rule)
            }
            (Conversion::Joined(separator), class) => {
                !separator.trim_matches(' ').is_empty()
                    && matches!(field.ty, ValueType::Array(ValueType::String))
                    && class == ColumnType::Text
            }
            _ => is_compatible(&field.ty, column.class, self.dialect),
        }
    }

    /// Reports a column that cannot store a field.
    fn unfit(
        &mut self,
        table: &str,
        field: &FieldMapping,
        of: &FieldSpec,
        column: &ResolvedColumn,
    ) {
        let name = plain(self.dialect, &field.column);
        let path = &field.path;
        let text = format!(
            "`{table}.{name}` has the type {}, which cannot store `{path}`",
            column.sql_type
        );
        let is_number = matches!(column.class, ColumnType::Integer(_));
        self.wrong(match (&of.ty, &field.conversion) {
            // A new column in addition to the amounts of the program would be wrong for all existing rows.
            (ValueType::Amount, Conversion::None) if is_number => format!(
                "{text} with digits after the decimal point: if it contains cents, map it with \
                 `.field(\"{path}\", Column::new(\"{}\").scaled(2))`",
                field.column
            ),
            (ValueType::Enum(_) | ValueType::FlexEnum(_), Conversion::None)
                if column.class == ColumnType::Boolean =>
            {
                format!(
                    "{text}: map it with `.field(\"{path}\", Column::new(\"{}\").flag(..., ...))`, with the value for true and \
                     that for false",
                    field.column
                )
            }
            (_, Conversion::None) => format!(
                "{text}: run\n      ALTER TABLE {table} ADD COLUMN svc_{} {};",
                path.replace('.', "_"),
                self.dialect.column_type(&of.ty)
            ),
            _ => format!("{text} in this way: map it without `{}`", field.conversion.name()),
        });
    }

    /// Returns the defaults of fields. A field with a default must have a column.
    pub(super) fn defaults(
        &mut self,
        table: &TableMapping,
        schema: &'static KindSchema,
    ) -> Vec<(Vec<&'static str>, String)> {
        let mut defaults = Vec::new();
        for (path, value) in &table.defaults {
            let Some((_, fields)) = self.path(path, schema.fields, schema.plural) else {
                continue;
            };
            if table.fields.iter().any(|field| field.path == *path) {
                defaults.push((
                    fields.iter().map(|field| field.name).collect(),
                    value.clone(),
                ));
            } else {
                self.wrong(format!("`{path}` of {} has no column: add `.field(\"{path}\", ...)`, or remove `.default_value(\"{path}\", ...)`", schema.plural));
            }
        }
        defaults
    }

    /// Returns the positions and fields of a name with dots.
    fn path(
        &mut self,
        path: &str,
        schema: &'static ObjectSchema,
        plural: &str,
    ) -> Option<(Vec<usize>, Vec<&'static FieldSpec>)> {
        let (mut places, mut fields, mut object) = (Vec::new(), Vec::new(), Some(schema));
        for name in path.split('.') {
            let found = object.and_then(|object| {
                object
                    .fields
                    .iter()
                    .enumerate()
                    .find(|(_, field)| field.name == name)
            });
            let Some((place, field)) = found.filter(|(_, field)| !field.is_computed()) else {
                let known = object
                    .map_or(&[][..], |object| object.fields)
                    .iter()
                    .filter(|field| !field.is_computed());
                let meant = nearest(name, known.map(|field| field.name))
                    .map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
                self.wrong(format!("{plural} have no writable field `{path}`{meant}"));
                return None;
            };
            places.push(place);
            fields.push(field);
            object = match &field.ty {
                ValueType::Object(inner) => Some(*inner),
                _ => None,
            };
        }
        Some((places, fields))
    }

    /// Checks that a column with a list of allowed values accepts the values of the mapping.
    fn listed(&mut self, table: &str, live: &DatabaseTable, field: &FieldMapping, of: &FieldSpec) {
        let taken = live
            .column(&field.column)
            .and_then(|column| column.values.as_ref());
        let known: &[&str] = match of.ty {
            ValueType::Enum(known) | ValueType::FlexEnum(known) => known,
            _ => &[],
        };
        let (path, column) = (&field.path, plain(self.dialect, &field.column));
        let values = field.conversion.values();
        if let Some((unknown, _)) = values
            .iter()
            .find(|(value, _)| !known.contains(&value.as_str()))
        {
            self.wrong(format!(
                "`{unknown}` is not a value of `{path}`: use one of {}",
                known.join(", ")
            ));
        }
        let Some(taken) = taken else { return };
        let given: Vec<&str> = if values.is_empty() {
            known.to_vec()
        } else {
            values.iter().map(|(_, stored)| stored.as_str()).collect()
        };
        let refused: Vec<&str> = given
            .into_iter()
            .filter(|value| !taken.iter().any(|taken| taken == value))
            .collect();
        if !refused.is_empty() {
            let is_are = if refused.len() == 1 { "is" } else { "are" };
            self.wrong(format!(
                "`{table}.{column}` only accepts {}, so {} {is_are} rejected: map the values with `.field(\"{path}\", \
                 Column::new(\"{}\").values([(\"{}\", \"{}\"), ...]))`",
                taken.join(", "), refused.join(", "), field.column, known.first().unwrap_or(&"..."), taken.first().map_or("...", String::as_str)
            ));
        }
    }

    /// Returns the members of the entries of a list.
    fn entries_schema(
        &mut self,
        field: &str,
        path: &[&'static FieldSpec],
        plural: &str,
    ) -> Option<&'static ObjectSchema> {
        let entries = path.last().and_then(|field| match &field.ty {
            ValueType::Array(item) => item.object(),
            _ => None,
        });
        if entries.is_none() {
            self.wrong(format!(
                "`{field}` of {plural} is not a list of objects: use `.field(...)`"
            ));
        }
        entries
    }

    /// Returns a list in columns of the row.
    pub(super) fn entries(
        &mut self,
        table: &TableMapping,
        live: &DatabaseTable,
        (field, entries): &(String, Vec<EntryMapping>),
        schema: &'static KindSchema,
    ) -> Option<ResolvedField> {
        let (places, path) = self.path(field, schema.fields, schema.plural)?;
        let of_entries = self.entries_schema(field, &path, schema.plural)?;
        if entries.is_empty() {
            self.wrong(format!(
                "`{field}` of {} has no entries: add `EntryMapping::new()...`",
                schema.plural
            ));
        }
        let mut stored = Vec::new();
        for (number, entry) in (1_u32..).zip(entries) {
            for key in ["address", "number"] {
                let has_key = entry.fields.iter().any(|field| field.path == key);
                if of_entries.field(key).is_some() && !has_key && !entry.fields.is_empty() {
                    self.wrong(format!(
                        "entry {number} of `{field}` has no column for `{key}`: add `.field(\"{key}\", ...)`"
                    ));
                }
            }
            let mut members = self.members(&table.name, live, &entry.fields, of_entries, field);
            if entry.fields.is_empty() {
                self.wrong(format!(
                    "entry {number} of `{field}` has no column: add `.field(...)`, or remove the entry"
                ));
            }
            for (member, value) in &entry.constants {
                members.extend(self.constant(field, member, value, of_entries));
            }
            members.sort_by(|one, other| one.places.cmp(&other.places));
            let mut pairs = members.iter().zip(members.iter().skip(1));
            if pairs.any(|(one, next)| one.places == next.places) {
                self.wrong(format!(
                    "entry {number} of `{field}` has a member twice: remove all but one"
                ));
            }
            stored.push(members);
        }
        Some(ResolvedField {
            places,
            path,
            stored: FieldStorage::Entries(stored),
        })
    }

    /// Returns a member of an entry that has the same value in each row.
    fn constant(
        &mut self,
        list: &str,
        member: &str,
        value: &str,
        schema: &'static ObjectSchema,
    ) -> Option<ResolvedField> {
        let (places, path) = self.path(member, schema, list)?;
        let known: &[&str] = match path.last()?.ty {
            ValueType::Enum(known) => known,
            ValueType::Boolean | ValueType::Flag => &["true", "false"],
            _ => &[],
        };
        if !known.is_empty() && !known.contains(&value) {
            self.wrong(format!(
                "`{value}` is not a value of `{list}.{member}`: use one of {}",
                known.join(", ")
            ));
            return None;
        }
        Some(ResolvedField {
            places,
            path,
            stored: FieldStorage::Constant(value.to_owned()),
        })
    }

    pub(super) fn rows(
        &mut self,
        table: &TableMapping,
        field: &str,
        rows: &ListMapping,
        schema: &'static KindSchema,
    ) -> Option<ResolvedField> {
        let (places, path) = self.path(field, schema.fields, schema.plural)?;
        let entries = self.entries_schema(field, &path, schema.plural)?;
        let quoted = |name: &str| quoted_table(self.dialect, name);
        if quoted(&rows.table) == quoted(&table.name) {
            self.wrong(format!(
                "`{field}` of {} cannot be rows of `{}`, which contains one row for each record: map its columns with \
                 `.entries(\"{field}\", [EntryMapping::new()...])`",
                schema.plural, rows.table
            ));
            return None;
        }
        let live = self.live_table(&rows.table)?;
        let parent = self.column(&rows.table, live, &rows.parent, "bigint NOT NULL");
        let order = match &rows.order {
            Some(name) => self.column(&rows.table, live, name, "bigserial"),
            None => live.primary().map(|column| self.column_of(column)),
        };
        if order.is_none() && rows.order.is_none() {
            self.wrong(format!(
                "the rows of `{}` have no order: name a column with unique values with `.order_column(...)`, or run\n      \
                 ALTER TABLE {} ADD COLUMN svc_order bigserial UNIQUE;",
                rows.table, rows.table
            ));
        }
        if let Some(order) = order.as_ref() {
            let name = &*order.raw;
            let is_primary = live.primary().is_some_and(|primary| primary.name == name);
            if !live.is_unique(&[name]) || order.nullable && !is_primary {
                self.wrong(format!(
                    "`{}.{name}` orders the rows of a list, so it must be unique and NOT NULL: \
                     name another column with `.order_column(...)`",
                    rows.table
                ));
            }
        }
        let mut members = self.members(&rows.table, live, &rows.fields, entries, field);
        members.sort_by(|one, other| one.places.cmp(&other.places));
        let known = [
            Some(rows.parent.as_str()),
            rows.order
                .as_deref()
                .or(live.primary().map(|it| it.name.as_str())),
        ];
        let named = rows
            .fields
            .iter()
            .map(|field| field.column.as_str())
            .chain(known.into_iter().flatten());
        let of_list = format!(", which contains `{field}`");
        self.sourceless(&rows.table, &of_list, live, &named.collect::<Vec<_>>());
        if !live.finds_by(&[rows.parent.as_str()]) {
            self.index(
                &rows.table,
                &[&rows.parent],
                "the rows of a record are found by",
            );
        }
        let stored = FieldStorage::Rows {
            table: quoted_table(self.dialect, &rows.table),
            parent: parent?,
            order: order?,
            members,
        };
        Some(ResolvedField {
            places,
            path,
            stored,
        })
    }
}

/// Returns whether a column can store a field.
fn is_compatible(ty: &ValueType, class: ColumnType, dialect: &dyn SqlDialect) -> bool {
    match (ty, class) {
        (_, ColumnType::Json)
        | (ValueType::Integer, ColumnType::Integer(_) | ColumnType::Decimal)
        | (ValueType::Float | ValueType::Amount, ColumnType::Decimal)
        | (ValueType::Boolean | ValueType::Flag, ColumnType::Boolean)
        | (ValueType::Timestamp, ColumnType::Moment)
        | (ValueType::Date, ColumnType::Date)
        | (
            ValueType::String | ValueType::Enum(_) | ValueType::FlexEnum(_) | ValueType::Reference,
            ColumnType::Text,
        )
        | (ValueType::Array(ValueType::String), ColumnType::Texts) => true,
        (ValueType::Boolean | ValueType::Flag, ColumnType::Integer(_))
        | (ValueType::Timestamp | ValueType::Date, ColumnType::Text) => dialect.has_loose_types(),
        _ => false,
    }
}
