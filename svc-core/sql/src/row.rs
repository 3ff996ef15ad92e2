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
    apply::ListPlaces,
    column::Conversion,
    database::TextRow,
    dialect::{ColumnType, SqlDialect},
    resolved_mapping::{FieldStorage, ResolvedField, ResolvedMapping, ResolvedTable, StoredColumn},
};

/// The number of columns of a record before its links: row, id, dates, and identifiers.
const HEAD: usize = 5;

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
        let texts: Vec<Option<&str>> = columns.collect();
        let members = with_texts(&table.members, &texts);
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

    /// Returns the columns of each entry of the lists in a row of
    /// [`ResolvedMapping::records`](super::resolved_mapping::ResolvedMapping::records).
    pub(super) fn entry_places(&self, table: &ResolvedTable, row: &TextRow) -> Vec<ListPlaces> {
        let has_entries =
            |member: &&ResolvedField| matches!(member.stored, FieldStorage::Entries(_));
        if !table.members.iter().any(|member| has_entries(&member)) {
            return Vec::new();
        }
        let links = table.links.iter();
        let links = links.filter(|link| self.of(link.kind).is_some()).count();
        let texts: Vec<Option<&str>> = row.iter().map(Option::as_deref).collect();
        let texts = texts.get(HEAD.saturating_add(links)..).unwrap_or_default();
        let members = with_texts(&table.members, texts);
        let places = |(member, texts): &MemberTexts<'_>| {
            let FieldStorage::Entries(entries) = &member.stored else {
                return None;
            };
            let mut list = ListPlaces {
                name: member.field()?.name,
                entries: Vec::new(),
                unread: Vec::new(),
            };
            let mut rest = *texts;
            let used = used_entries(entries, texts).enumerate();
            for ((place, used), members) in used.zip(entries) {
                let width = members.iter().map(ResolvedField::width).sum();
                let (own, others) = rest.split_at_checked(width).unwrap_or_default();
                rest = others;
                let own = with_texts(members, own);
                let has_text = own.iter().any(|(member, texts)| {
                    let mut texts = texts.iter().flatten();
                    member.shows_entry() && texts.any(|text| !text.trim().is_empty())
                });
                if used.is_some() {
                    list.entries.push(place);
                } else if has_text {
                    list.unread.push(place);
                }
            }
            Some(list)
        };
        members.iter().filter_map(places).collect()
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
        write_value(self.dialect, table.member(field)?, &[Some(text)], &mut out)?;
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

/// A member with the texts of its columns.
type MemberTexts<'r> = (&'r ResolvedField, &'r [Option<&'r str>]);

/// Returns each member with its part of the texts.
fn with_texts<'r>(
    members: &'r [ResolvedField],
    texts: &'r [Option<&'r str>],
) -> Vec<MemberTexts<'r>> {
    let mut rest = texts;
    let take = |member: &'r ResolvedField| {
        let (own, rest_after) = rest.split_at_checked(member.width()).unwrap_or_default();
        rest = rest_after;
        (member, own)
    };
    members.iter().map(take).collect()
}

/// Writes `"name":value` pairs separated by commas, without empty members. Members of one object
/// are adjacent.
fn write_members(
    dialect: &'static dyn SqlDialect,
    members: &[MemberTexts<'_>],
    depth: usize,
    out: &mut Vec<u8>,
) {
    let mut rest = members;
    while let [(first, texts), ..] = rest {
        let Some(field) = first.path.get(depth) else {
            return;
        };
        let same = |(other, _): &&MemberTexts<'_>| {
            other
                .path
                .get(depth)
                .is_some_and(|it| it.name == field.name)
        };
        let width = rest.iter().take_while(same).count();
        let (group, rest_after) = rest.split_at_checked(width).unwrap_or((rest, &[]));
        rest = rest_after;
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
            write_value(dialect, first, texts, out).is_some()
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
    texts: &[Option<&str>],
    out: &mut Vec<u8>,
) -> Option<()> {
    let ty = &member.field()?.ty;
    let stored = match &member.stored {
        FieldStorage::Rows { members, .. } => {
            return write_rows(dialect, members, texts.first().copied()??, out);
        }
        FieldStorage::Entries(entries) => return write_entries(dialect, entries, texts, out),
        FieldStorage::Constant(value) => return write_text(ty, value, out),
        FieldStorage::Column(stored) => stored,
    };
    let text = texts.first().copied()??;
    if matches!(stored.column.class, ColumnType::Json | ColumnType::Texts) {
        let mut json = Json::read_kept(text.as_bytes()).filter(|json| !json.is_null())?;
        normalize_zeros(ty, &mut json);
        json.write(out);
        return Some(());
    }
    if let Conversion::Joined(separator) = &stored.conversion {
        let parts = text.split(separator.trim_matches(' ')).map(str::trim);
        let parts: Vec<Json> = parts
            .filter(|part| !part.is_empty())
            .map(Json::from)
            .collect();
        if parts.is_empty() {
            return None;
        }
        Json::Array(parts).write(out);
        return Some(());
    }
    // A boolean value has another text in each database.
    let text = match (stored.conversion.values(), truth(text)) {
        ([], _) | (_, None) => text,
        (_, Some(_)) if !stored.is_boolean() => text,
        (_, Some(truth)) => TRUTHS.get(usize::from(truth)).copied()?,
    };
    write_text(ty, &stored.conversion.read(text)?, out)
}

/// Writes the value with this text in a type.
fn write_text(ty: &ValueType, text: &str, out: &mut Vec<u8>) -> Option<()> {
    match ty {
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
        ValueType::Enum(known) => known.contains(&text).then(|| write_string(text, out))?,
        // Many tables have an empty text in place of NULL.
        _ if text.is_empty() => return None,
        _ => write_string(text, out),
    }
    Some(())
}

/// Writes the entries of a list in columns of the row.
fn write_entries(
    dialect: &'static dyn SqlDialect,
    entries: &[Vec<ResolvedField>],
    texts: &[Option<&str>],
    out: &mut Vec<u8>,
) -> Option<()> {
    out.push(b'[');
    let begin = out.len();
    for (members, texts) in entries.iter().zip(used_entries(entries, texts)) {
        let Some(texts) = texts else { continue };
        if out.len() > begin {
            out.push(b',');
        }
        out.push(b'{');
        write_members(dialect, &with_texts(members, texts), 0, out);
        out.push(b'}');
    }
    out.push(b']');
    (out.len() > begin.saturating_add(1)).then_some(())
}

/// Returns the texts of each entry, or `None` if the row does not have it.
///
/// The row has an entry if one of its columns has a value, apart from columns with a list of values,
/// which another entry can share.
pub(super) fn used_entries<'r>(
    entries: &'r [Vec<ResolvedField>],
    texts: &'r [Option<&'r str>],
) -> impl Iterator<Item = Option<&'r [Option<&'r str>]>> {
    let mut rest = texts;
    entries.iter().map(move |members| {
        let width = members.iter().map(ResolvedField::width).sum();
        let (own, rest_after) = rest.split_at_checked(width).unwrap_or_default();
        rest = rest_after;
        let columns = members.iter().filter(|member| member.width() > 0);
        let is_used = columns.zip(own).any(|(member, text)| {
            let text = text.unwrap_or_default().trim();
            let has_value = |stored: &StoredColumn| {
                let value = stored.conversion.read(text);
                value.is_some_and(|value| !["", "[]", "{}", "null"].contains(&&*value))
            };
            member.shows_entry() && member.columns().any(has_value)
        });
        is_used.then_some(own)
    })
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
        let texts: Vec<Option<&str>> = columns.iter().map(Json::as_str).collect();
        out.push(b'{');
        write_members(dialect, &with_texts(members, &texts), 0, out);
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

/// The texts of false and true in a mapping.
const TRUTHS: [&str; 2] = ["false", "true"];

impl StoredColumn {
    /// Returns whether the column has boolean values, of which the API has other values.
    fn is_boolean(&self) -> bool {
        let mut values = self.conversion.values().iter();
        values.all(|(_, stored)| TRUTHS.contains(&stored.as_str()))
            && matches!(
                self.column.class,
                ColumnType::Boolean | ColumnType::Integer(_)
            )
    }

    /// Returns the text of the column for an API value. `None` for no value, and for one that the column
    /// cannot store: see `value_checks.rs`.
    pub(super) fn text(
        &self,
        dialect: &'static dyn SqlDialect,
        value: Option<&Json>,
    ) -> Option<String> {
        let value = value.filter(|value| !value.is_null())?;
        let json = |value: &Json| {
            let mut text = Vec::new();
            value.write(&mut text);
            String::from_utf8(text).ok()
        };
        if self.column.class == ColumnType::Json {
            return json(value);
        }
        let has_numbers = matches!(
            self.column.class,
            ColumnType::Boolean | ColumnType::Integer(_)
        );
        match value {
            Json::Bool(truth) => Some(dialect.boolean(*truth).to_owned()),
            Json::Number(number) => self.conversion.write(number.as_str()),
            Json::String(text) if self.is_boolean() && !self.conversion.values().is_empty() => {
                let stored = self.conversion.write(text)?;
                Some(dialect.boolean(stored == "true").to_owned())
            }
            Json::String(text) if has_numbers && self.conversion == Conversion::None => {
                Some(dialect.boolean(text == "true").to_owned())
            }
            Json::String(text) => self.conversion.write(text),
            Json::Array(list) if self.column.class == ColumnType::Texts => Some(braces(list)),
            Json::Array(list) if let Conversion::Joined(separator) = &self.conversion => {
                let parts: Vec<&str> = list.iter().filter_map(Json::as_str).collect();
                let mark = separator.trim_matches(' ');
                let is_part = |part: &&str| !part.contains(mark) && !part.trim().is_empty();
                parts.iter().all(is_part).then(|| parts.join(separator))
            }
            other => json(other),
        }
    }
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
