//! Resolves the members of a record: fields in columns, lists in rows, and defaults.

use svc_core::{
    read::nearest,
    schema::{FieldSpec, KindSchema, ObjectSchema, ValueType},
};

use super::{MappingChecker, plain};
use crate::{
    dialect::{ColumnType, SqlDialect},
    introspect::DatabaseTable,
    mapping::{self, ListMapping, TableMapping},
    resolved_mapping::{FieldStorage, ResolvedField},
    sql::quoted_table,
};

impl MappingChecker<'_> {
    pub(super) fn members(
        &mut self,
        table: &str,
        live: &DatabaseTable,
        fields: &[mapping::FieldMapping],
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
            if !is_compatible(&last.ty, column.class, self.dialect) {
                self.wrong(format!(
                    "`{table}.{}` has the type {}, which cannot store `{}`: run\n      ALTER TABLE {table} ADD COLUMN svc_{} {};",
                    plain(self.dialect, &field.column),
                    column.sql_type,
                    field.path,
                    field.path.replace('.', "_"),
                    self.dialect.column_type(&last.ty)
                ));
                continue;
            }
            self.listed(table, live, field, last);
            members.push(ResolvedField {
                places,
                path,
                stored: FieldStorage::Column {
                    column,
                    values: field.values.clone(),
                },
            });
        }
        members
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
                self.wrong(format!("`{path}` of {} has no column: add `.field(\"{path}\", ...)`, or remove `.otherwise(\"{path}\", ...)`", schema.plural));
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
    fn listed(
        &mut self,
        table: &str,
        live: &DatabaseTable,
        field: &mapping::FieldMapping,
        of: &FieldSpec,
    ) {
        let taken = live
            .column(&field.column)
            .and_then(|column| column.values.as_ref());
        let known: &[&str] = match of.ty {
            ValueType::Enum(known) | ValueType::FlexEnum(known) => known,
            _ => &[],
        };
        let (path, column) = (&field.path, plain(self.dialect, &field.column));
        if let Some((unknown, _)) = field
            .values
            .iter()
            .find(|(value, _)| !known.contains(&value.as_str()))
        {
            self.wrong(format!(
                "`{unknown}` is not a value of `{path}`: use one of {}",
                known.join(", ")
            ));
        }
        let Some(taken) = taken else { return };
        let given: Vec<&str> = if field.values.is_empty() {
            known.to_vec()
        } else {
            field
                .values
                .iter()
                .map(|(_, stored)| stored.as_str())
                .collect()
        };
        let refused: Vec<&str> = given
            .into_iter()
            .filter(|value| !taken.iter().any(|taken| taken == value))
            .collect();
        if !refused.is_empty() {
            let is_are = if refused.len() == 1 { "is" } else { "are" };
            self.wrong(format!(
                "`{table}.{column}` only accepts {}, so {} {is_are} rejected: map the values with `.values(\"{path}\", \
                 \"{}\", [(\"{}\", \"{}\"), ...])`",
                taken.join(", "), refused.join(", "), field.column, known.first().unwrap_or(&"..."), taken.first().map_or("...", String::as_str)
            ));
        }
    }

    pub(super) fn rows(
        &mut self,
        field: &str,
        rows: &ListMapping,
        schema: &'static KindSchema,
    ) -> Option<ResolvedField> {
        let (places, path) = self.path(field, schema.fields, schema.plural)?;
        let entries = path.last().and_then(|field| match &field.ty {
            ValueType::Array(item) => item.object(),
            _ => None,
        });
        let Some(entries) = entries else {
            self.wrong(format!(
                "`{field}` of {} is not a list of objects: use `.field(...)`",
                schema.plural
            ));
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
                "the rows of `{}` have no order: name a column with unique values with `.order(...)`, or run\n      \
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
                     name another column with `.order(...)`",
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
        self.sourceless(&rows.table, live, &named.collect::<Vec<_>>());
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
