//! Converts rows to records, and values of records to columns.

use svc_core::{
    error::{Error, Result},
    json::{Json, Number, Object, write_string},
    link::{LinkValue, RecordAddress},
    record::{ComputedValue, Identifiers, Meta, RawRecord},
    schema::{ComputedSource, ValueType},
    store::{RecordLocation, StoredRecord as Placed},
    value::{Id, Timestamp},
};

use super::{
    database::TextRow,
    dialect::{ColumnType, SqlDialect},
    resolved_mapping::{
        FieldStorage, ResolvedColumn, ResolvedField, ResolvedMapping, ResolvedTable,
    },
};

impl ResolvedMapping {
    /// Returns the record in a row of
    /// [`ResolvedMapping::records`](super::resolved_mapping::ResolvedMapping::records).
    pub(super) fn record(&self, table: &ResolvedTable, row: &TextRow) -> Result<Placed> {
        let mut columns = row.iter().map(Option::as_deref);
        let mut next = || columns.next().flatten();
        let (place, id) = head(next(), next())?;
        // A row without a creation date counts as the oldest.
        let created = moment(next()).unwrap_or(Timestamp::from_micros(0));
        let modified = moment(next()).unwrap_or(created);
        let mut meta = Meta::new(id, created).with_modified(modified.max(created));
        if let Some(list) = next() {
            let inner = list
                .trim()
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'));
            meta.identifiers = Identifiers::from_stored(inner.unwrap_or_default().to_owned());
        }
        let links: Vec<(&'static str, LinkValue)> = table
            .links
            .iter()
            .filter(|link| self.of(link.kind).is_some())
            .filter_map(|link| {
                let to = next()?;
                Some((
                    link.name,
                    LinkValue::Local(RecordAddress::without_parent(link.kind, Id::new(to)?)),
                ))
            })
            .collect();
        let mut fields = Vec::with_capacity(256);
        let members: Vec<(&ResolvedField, Option<&str>)> = table
            .members
            .iter()
            .map(|member| (member, next()))
            .collect();
        write_members(self.dialect, &members, 0, &mut fields);
        let mut record = RawRecord::from_wire(table.kind, meta, fields);
        for (name, to) in links {
            record.add_link(name, to);
        }
        for field in table.kind.schema().fields.fields {
            if let Some(ComputedSource::Relation(kind)) = field.source() {
                record.add_computed(field.name, ComputedValue::Relation(kind));
            }
        }
        Ok(Placed::new(place, record))
    }

    /// Returns the value of a top-level field from the text of its column. `None` if the table has no
    /// column for it, or if it is not a valid value of the API.
    pub(super) fn field_value(
        &self,
        table: &ResolvedTable,
        field: &str,
        text: &str,
    ) -> Option<Json> {
        let mut out = Vec::new();
        write_value(self.dialect, table.member(field)?, text, &mut out)?;
        Json::read_kept(&out)
    }

    /// Returns the location in a row of
    /// [`ResolvedMapping::heads`](super::resolved_mapping::ResolvedMapping::heads).
    pub(super) fn found(&self, table: &ResolvedTable, row: &TextRow) -> Result<RecordLocation> {
        let mut columns = row.iter().map(Option::as_deref);
        let mut next = || columns.next().flatten();
        let (place, id) = head(next(), next())?;
        let mut parent = None;
        for link in table
            .links
            .iter()
            .filter(|link| self.of(link.kind).is_some())
        {
            let to = next();
            if Some(link.name) == table.kind.schema().parent {
                parent = to.and_then(Id::new);
            }
        }
        Ok(RecordLocation::new(table.kind, id, place, parent))
    }
}

fn head(place: Option<&str>, id: Option<&str>) -> Result<(i64, Id)> {
    let place = place.and_then(|place| place.parse().ok());
    let id = id.and_then(Id::new);
    place
        .zip(id)
        .ok_or_else(|| Error::unexpected("a row of a mapped table has no order or no valid id"))
}

/// Parses a timestamp: microseconds since 1970, or text from the database or another program.
fn moment(text: Option<&str>) -> Option<Timestamp> {
    let text = text?;
    if let Ok(micros) = text.parse() {
        return Some(Timestamp::from_micros(micros));
    }
    Timestamp::parse(text).or_else(|| Timestamp::parse(&format!("{}Z", text.replacen(' ', "T", 1))))
}

/// Writes `"name":value` pairs separated by commas, without empty members. Members of one object
/// are adjacent.
fn write_members(
    dialect: &'static dyn SqlDialect,
    members: &[(&ResolvedField, Option<&str>)],
    depth: usize,
    out: &mut Vec<u8>,
) {
    let mut rest = members;
    while let [(first, text), ..] = rest {
        let Some(field) = first.path.get(depth) else {
            return;
        };
        let same = |(other, _): &&(&ResolvedField, Option<&str>)| {
            other
                .path
                .get(depth)
                .is_some_and(|it| it.name == field.name)
        };
        let width = rest.iter().take_while(same).count();
        let (group, behind) = rest.split_at_checked(width).unwrap_or((rest, &[]));
        rest = behind;
        let begin = out.len();
        if begin > 0 && out.last() != Some(&b'{') {
            out.push(b',');
        }
        write_string(field.name, out);
        out.push(b':');
        let written = if first.path.len() > depth.saturating_add(1) {
            out.push(b'{');
            let empty = out.len();
            write_members(dialect, group, depth.saturating_add(1), out);
            let has_some = out.len() > empty;
            out.push(b'}');
            has_some
        } else {
            text.is_some_and(|text| write_value(dialect, first, text, out).is_some())
        };
        if !written {
            out.truncate(begin);
        }
    }
}

/// Writes a value as in a response. `None` if it is not a valid value of the API.
fn write_value(
    dialect: &'static dyn SqlDialect,
    member: &ResolvedField,
    text: &str,
    out: &mut Vec<u8>,
) -> Option<()> {
    let (column, values) = match &member.stored {
        FieldStorage::Rows { members, .. } => return write_rows(dialect, members, text, out),
        FieldStorage::Column { column, values } => (column, values),
    };
    if column.class == ColumnType::Json || column.class == ColumnType::Texts {
        let mut json = Json::read_kept(text.as_bytes()).filter(|json| !json.is_null())?;
        normalize_zeros(&member.field()?.ty, &mut json);
        json.write(out);
        return Some(());
    }
    match member.field()?.ty {
        ValueType::Boolean => out.extend_from_slice(if truth(text)? { b"true" } else { b"false" }),
        ValueType::Flag => write_string(if truth(text)? { "true" } else { "false" }, out),
        ValueType::Integer | ValueType::Float => {
            out.extend_from_slice(Number::parse(text)?.as_str().as_bytes());
        }
        ValueType::Amount => {
            let number = Number::parse(text)?.with_plain_zero();
            out.extend_from_slice(number.as_str().as_bytes());
        }
        ValueType::Timestamp => write_string(&moment(Some(text))?.to_string(), out),
        ValueType::Enum(known) => {
            let value = from_column(values, text);
            known.contains(&value).then(|| write_string(value, out))?;
        }
        _ => write_string(from_column(values, text), out),
    }
    Some(())
}

fn write_rows(
    dialect: &'static dyn SqlDialect,
    members: &[ResolvedField],
    text: &str,
    out: &mut Vec<u8>,
) -> Option<()> {
    let Some(Json::Array(entries)) = Json::read_kept(text.as_bytes()) else {
        return None;
    };
    if entries.is_empty() {
        return None;
    }
    out.push(b'[');
    for (place, entry) in entries.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        let columns = entry.as_array().unwrap_or_default();
        let members: Vec<(&ResolvedField, Option<&str>)> = members
            .iter()
            .enumerate()
            .map(|(place, member)| (member, columns.get(place).and_then(Json::as_str)))
            .collect();
        out.push(b'{');
        write_members(dialect, &members, 0, out);
        out.push(b'}');
    }
    out.push(b']');
    Some(())
}

/// Writes each amount of zero in a value as `0`. Another program may have stored its digits in JSON.
///
/// Requirements: TYP-03.
fn normalize_zeros(ty: &ValueType, value: &mut Json) {
    match (ty, value) {
        (ValueType::Amount, Json::Number(number)) => *number = number.clone().with_plain_zero(),
        (ValueType::Array(item) | ValueType::OneOrMany(item), Json::Array(items)) => {
            for value in items {
                normalize_zeros(item, value);
            }
        }
        (ValueType::OneOrMany(item), value) => normalize_zeros(item, value),
        (ValueType::Object(schema), Json::Object(object)) => {
            for field in schema.fields {
                if let Some(value) = object.get_mut(field.name) {
                    normalize_zeros(&field.ty, value);
                }
            }
        }
        _ => {}
    }
}

fn truth(text: &str) -> Option<bool> {
    match text {
        "true" | "t" | "1" => Some(true),
        "false" | "f" | "0" => Some(false),
        _ => None,
    }
}

/// Returns the API value for a column value.
fn from_column<'a>(values: &'a [(String, String)], text: &'a str) -> &'a str {
    values
        .iter()
        .find(|(_, stored)| stored == text)
        .map_or(text, |(value, _)| value)
}

/// Returns the column value for an API value.
pub(super) fn to_column(
    dialect: &'static dyn SqlDialect,
    column: &ResolvedColumn,
    values: &[(String, String)],
    value: Option<&Json>,
) -> Option<String> {
    let value = value.filter(|value| !value.is_null())?;
    if column.class == ColumnType::Json {
        let mut text = Vec::new();
        value.write(&mut text);
        return String::from_utf8(text).ok();
    }
    Some(match value {
        Json::Bool(truth) => dialect.boolean(*truth).to_owned(),
        Json::Number(number) => number.as_str().to_owned(),
        Json::String(text)
            if matches!(column.class, ColumnType::Boolean | ColumnType::Integer(_)) =>
        {
            dialect.boolean(text == "true").to_owned()
        }
        Json::String(text) => values
            .iter()
            .find(|(of, _)| of == text)
            .map_or_else(|| text.clone(), |(_, stored)| stored.clone()),
        Json::Array(list) if column.class == ColumnType::Texts => braces(list),
        other => {
            let mut text = Vec::new();
            other.write(&mut text);
            String::from_utf8(text).ok()?
        }
    })
}

/// Returns text values as an SQL array literal: `{"a","b"}`.
fn braces(list: &[Json]) -> String {
    let quote = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let items: Vec<String> = list.iter().filter_map(Json::as_str).map(quote).collect();
    format!("{{{}}}", items.join(","))
}

/// Returns the value at a path of a record's fields.
pub(super) fn at<'a>(fields: &'a Object, member: &ResolvedField) -> Option<&'a Json> {
    let (first, rest) = member.path.split_first()?;
    rest.iter()
        .try_fold(fields.get(first.name)?, |json, field| {
            json.as_object()?.get(field.name)
        })
}
