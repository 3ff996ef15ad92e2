//! The columns of a table of records.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use svc_core::json::{Json, Object};
use svc_core::model::Kind;
use svc_core::schema::{COMMON, FieldSpec, LinkSpec, LinkTarget, ObjectSchema, ValueType};

use super::{Cell, ExportError, ExportRecord};
use crate::member::MOST_ENTRIES;
use crate::table::MAX_COLUMNS;
use crate::values::joined;

/// The fields of a person that are first in every table of people and of their actions.
const FIRST_OF_PERSON: [&str; 3] = ["given_name", "family_name", "email_addresses[1].address"];

/// The position of the common fields that follow those of the kind.
const LAST: usize = 1_000;

/// A step from a record to a value in it. The order is that of the columns.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// A member, with its position in its table.
    Member(usize, &'static str),
    /// An entry of a list, from 0.
    Entry(usize),
    /// A member of an object with arbitrary names.
    Key(String),
}

/// Where the value of a column is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    Id,
    /// The id of the container of an action.
    Container(&'static str),
    PersonId(&'static str),
    OfPerson(Vec<Step>),
    Tags,
    Lists,
    Field(Vec<Step>),
}

/// A column of a table of records. Its name is written as an import reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportColumn {
    name: String,
    source: Source,
}

impl ExportColumn {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// A name that is not the name of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownColumn {
    /// The name.
    pub name: String,
    /// The names of columns. A number in brackets can be another one.
    pub allowed: Vec<String>,
}

impl fmt::Display for UnknownColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let allowed = self.allowed.join(", ");
        write!(
            f,
            "`{}` is not a column; allowed are {allowed}, and other numbers of entries",
            self.name
        )
    }
}

impl std::error::Error for UnknownColumn {}

/// The columns of a table of records of one kind.
#[derive(Debug, Clone)]
pub struct ExportColumns {
    columns: Vec<ExportColumn>,
    /// The system name of the identifiers that only the server itself understands.
    namespace: Option<String>,
}

impl ExportColumns {
    /// Returns the columns with these names, in this order.
    ///
    /// A column of a person is a field, such as `given_name`, a member of an entry, such as
    /// `email_addresses[2].address`, a custom field, such as `custom_fields.shoe size`, `tags`, or `lists`. Columns
    /// of other kinds begin with the name of the kind, such as `donation.amount`. Each kind has `id`. Actions also
    /// have `person.id`, `given_name`, `family_name` and `email_addresses[1].address` of their person, and the id of
    /// their container, such as `petition.id`.
    ///
    /// # Errors
    ///
    /// Returns an error if a name is not one of these.
    pub fn chosen<'n>(
        kind: Kind,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Self, UnknownColumn> {
        let column = |name: &str| {
            column(kind, name.trim()).ok_or_else(|| UnknownColumn {
                name: name.to_owned(),
                allowed: all_names(kind),
            })
        };
        Ok(Self {
            columns: names.into_iter().map(column).collect::<Result<_, _>>()?,
            namespace: None,
        })
    }

    /// Leaves out identifiers with this system name, which no other server understands.
    #[must_use]
    pub fn without_namespace(mut self, namespace: Option<String>) -> Self {
        self.namespace = namespace;
        self
    }

    /// Returns the columns in their order.
    #[must_use]
    pub fn columns(&self) -> &[ExportColumn] {
        &self.columns
    }

    /// Whether there is a column with the tags of a person.
    #[must_use]
    pub fn has_tags(&self) -> bool {
        self.has(&Source::Tags)
    }

    /// Whether there is a column with the lists of a person.
    #[must_use]
    pub fn has_lists(&self) -> bool {
        self.has(&Source::Lists)
    }

    /// Whether a column needs the person of an action.
    #[must_use]
    pub fn has_person(&self) -> bool {
        let mut columns = self.columns.iter();
        columns.any(|column| matches!(column.source, Source::OfPerson(_)))
    }

    /// Returns the link from an action to its person, by its name; `None` for other kinds.
    #[must_use]
    pub fn person_link(kind: Kind) -> Option<&'static str> {
        person_link(kind)
    }

    fn has(&self, source: &Source) -> bool {
        self.columns.iter().any(|column| column.source == *source)
    }

    /// Returns the row with the names of the columns.
    #[must_use]
    pub fn head(&self) -> Vec<Cell<'_>> {
        let names = self.columns.iter();
        names
            .map(|column| Cell::Plain((&*column.name).into()))
            .collect()
    }

    /// Returns the cells of a record.
    #[must_use]
    pub fn row<'r>(&self, record: &'r ExportRecord) -> Vec<Cell<'r>> {
        let cells = self.columns.iter().map(|column| {
            let cell = match &column.source {
                Source::Id => record.id().map(|id| Cell::Plain(id.into())),
                Source::Container(link) | Source::PersonId(link) => {
                    ExportRecord::linked(&record.record, link).map(|id| Cell::Plain(id.into()))
                }
                Source::OfPerson(path) => self.cell(&record.person, path),
                Source::Field(path) => self.cell(&record.record, path),
                Source::Tags => Some(Cell::Text(joined(&record.tags).into())),
                Source::Lists => Some(Cell::Text(joined(&record.lists).into())),
            };
            cell.unwrap_or(Cell::EMPTY)
        });
        cells.collect()
    }

    fn cell<'r>(&self, record: &'r Object, path: &[Step]) -> Option<Cell<'r>> {
        let value = value_at(record, path)?;
        Some(match value {
            Json::Null => return None,
            Json::String(text) => Cell::Text(text.into()),
            Json::Number(number) => Cell::Plain(number.as_str().into()),
            Json::Bool(value) => Cell::Plain(if *value { "true" } else { "false" }.into()),
            Json::Array(items) => {
                let texts: Vec<Cow<'_, str>> = items
                    .iter()
                    .filter_map(|item| match item {
                        Json::String(text) => Some(Cow::from(text)),
                        Json::Number(number) => Some(number.as_str().into()),
                        _ => None,
                    })
                    .filter(|text| !self.is_own(path, text))
                    .collect();
                Cell::Text(joined(&texts).into())
            }
            Json::Object(object) => Cell::Plain(whole_date(object)?.into()),
        })
    }

    /// Whether a text is an identifier of the server itself.
    fn is_own(&self, path: &[Step], text: &str) -> bool {
        let namespace = self.namespace.as_deref();
        is_own_identifier(namespace, path, text)
    }
}

fn is_own_identifier(namespace: Option<&str>, path: &[Step], text: &str) -> bool {
    matches!(path, [Step::Member(_, "identifiers")])
        && text.split_once(':').map(|(system, _)| system) == namespace
}

/// The columns that records need.
#[derive(Debug)]
pub struct UsedColumns {
    kind: Kind,
    namespace: Option<String>,
    paths: BTreeSet<Vec<Step>>,
    has_tags: bool,
    has_lists: bool,
    /// The path of the record that is added.
    path: Vec<Step>,
    error: Option<ExportError>,
}

impl UsedColumns {
    /// Creates the columns of no record. Identifiers with the namespace are left out.
    #[must_use]
    pub fn new(kind: Kind, namespace: Option<String>) -> Self {
        Self {
            kind,
            namespace,
            paths: BTreeSet::new(),
            has_tags: false,
            has_lists: false,
            path: Vec::new(),
            error: None,
        }
    }

    /// Adds the columns that a record needs.
    pub fn add(&mut self, record: &ExportRecord) {
        for (place, field) in top_fields(self.kind) {
            if let Some(value) = record.record.get(field.name) {
                self.add_field(place, field, value);
            }
        }
        self.has_tags |= !record.tags.is_empty();
        self.has_lists |= !record.lists.is_empty();
    }

    fn add_field(&mut self, place: usize, field: &FieldSpec, value: &Json) {
        self.path.push(Step::Member(place, field.name));
        self.add_value(field.ty, value);
        self.path.pop();
    }

    fn add_value(&mut self, ty: ValueType, value: &Json) {
        if value.is_empty_value() {
            return;
        }
        match (ty, ty.object(), value) {
            (ValueType::StringMap, _, Json::Object(members)) => {
                for (key, value) in members {
                    if !value.is_empty_value() {
                        self.path.push(Step::Key(key.to_owned()));
                        self.add_path();
                        self.path.pop();
                    }
                }
            }
            (ValueType::Object(_), Some(schema), Json::Object(object)) => {
                if is_birthdate(&self.path) && whole_date(object).is_some() {
                    self.add_path();
                } else {
                    self.add_members(schema, object);
                }
            }
            // One object in place of a list.
            (_, Some(schema), Json::Object(object)) => {
                self.path.push(Step::Entry(0));
                self.add_members(schema, object);
                self.path.pop();
            }
            (_, Some(schema), Json::Array(items)) => {
                for (number, item) in items.iter().enumerate() {
                    if let Json::Object(object) = item {
                        self.path.push(Step::Entry(number));
                        self.add_members(schema, object);
                        self.path.pop();
                    }
                }
            }
            // Lines of an address. A list of the record itself is one cell.
            (_, None, Json::Array(items)) if self.path.len() > 1 => {
                for number in 0..items.len() {
                    self.path.push(Step::Entry(number));
                    self.add_path();
                    self.path.pop();
                }
            }
            (_, None, Json::Array(items)) => {
                let (namespace, path) = (self.namespace.as_deref(), &self.path);
                let is_own = |item: &Json| {
                    let text = item.as_str();
                    text.is_some_and(|text| is_own_identifier(namespace, path, text))
                };
                if !items.iter().all(is_own) {
                    self.add_path();
                }
            }
            _ => self.add_path(),
        }
    }

    fn add_members(&mut self, schema: &'static ObjectSchema, object: &Object) {
        for (place, field) in schema.fields.iter().enumerate() {
            if let Some(value) = object.get(field.name) {
                self.add_field(place, field, value);
            }
        }
    }

    fn add_path(&mut self) {
        if self.paths.contains(self.path.as_slice()) || self.error.is_some() {
            return;
        }
        let is_too_far =
            |step: &Step| matches!(step, Step::Entry(number) if *number >= MOST_ENTRIES);
        if self.path.iter().any(is_too_far) {
            let name = name_of(self.kind, &self.path);
            self.error = Some(ExportError::TooManyEntries(name));
        } else if self.paths.len() >= MAX_COLUMNS {
            self.error = Some(ExportError::TooManyColumns);
        } else {
            self.paths.insert(self.path.clone());
        }
    }

    /// Returns the columns: the id, the names and the first address, followed by the other fields in the order of
    /// the documentation, the tags and the lists.
    ///
    /// # Errors
    ///
    /// Returns an error if a table cannot have as many columns.
    pub fn finish(self) -> Result<ExportColumns, ExportError> {
        let kind = self.kind;
        if let Some(error) = self.error {
            return Err(error);
        }
        let mut columns: Vec<ExportColumn> = first_names(kind)
            .iter()
            .filter_map(|name| column(kind, name))
            .collect();
        let (fields, last): (Vec<_>, Vec<_>) = self
            .paths
            .into_iter()
            .partition(|path| !matches!(path.first(), Some(Step::Member(LAST.., _))));
        let field = |path: Vec<Step>| ExportColumn {
            name: name_of(kind, &path),
            source: Source::Field(path),
        };
        for one in fields.into_iter().map(field) {
            if !columns.contains(&one) {
                columns.push(one);
            }
        }
        for (is_used, name) in [(self.has_tags, "tags"), (self.has_lists, "lists")] {
            columns.extend(column(kind, name).filter(|_| is_used));
        }
        columns.extend(last.into_iter().map(field));
        if columns.len() > MAX_COLUMNS {
            return Err(ExportError::TooManyColumns);
        }
        Ok(ExportColumns {
            columns,
            namespace: self.namespace,
        })
    }
}

/// Returns the value at the end of a path.
fn value_at<'r>(record: &'r Object, path: &[Step]) -> Option<&'r Json> {
    let (first, rest) = path.split_first()?;
    let name = match first {
        Step::Member(_, name) => name,
        Step::Key(key) => key.as_str(),
        Step::Entry(_) => return None,
    };
    rest.iter()
        .try_fold(record.get(name)?, |value, step| match (step, value) {
            (Step::Member(_, name), Json::Object(object)) => object.get(name),
            (Step::Key(key), Json::Object(object)) => object.get(key),
            (Step::Entry(number), Json::Array(items)) => items.get(*number),
            // One object in place of a list.
            (Step::Entry(0), Json::Object(_)) => Some(value),
            _ => None,
        })
}

/// Whether a path is that of the date of birth of the record.
fn is_birthdate(path: &[Step]) -> bool {
    matches!(path, [Step::Member(_, "birthdate")])
}

/// Returns a date in three members, if it has all of them.
fn whole_date(object: &Object) -> Option<String> {
    let part = |name: &str| object.get(name)?.as_i64();
    let (year, month, day) = (part("year")?, part("month")?, part("day")?);
    Some(format!("{year:04}-{month:02}-{day:02}"))
}

/// Returns the fields of a kind with their positions: its own, after the identifiers and before the dates.
fn top_fields(kind: Kind) -> impl Iterator<Item = (usize, &'static FieldSpec)> {
    let (dates, first): (Vec<_>, Vec<_>) = COMMON.fields.iter().partition(|it| it.is_computed());
    let own = kind.schema().fields.fields.iter();
    let first = first.into_iter().chain(own).enumerate();
    first.chain((LAST..).zip(dates))
}

/// Returns the link to the person of an action, by its name.
fn person_link(kind: Kind) -> Option<&'static str> {
    let schema = kind.schema();
    let named = schema.link("person");
    let parent = || schema.link(schema.parent?);
    let is_person = |link: &&'static LinkSpec| {
        matches!(
            link.target,
            LinkTarget::One {
                kind: Kind::Person,
                ..
            }
        )
    };
    let link = named.or_else(parent).filter(is_person)?;
    Some(link.name)
}

/// Returns the link to the container of an action, by its name.
fn container_link(kind: Kind) -> Option<&'static str> {
    let parent = kind.schema().parent?;
    (Some(parent) != person_link(kind)).then_some(parent)
}

/// Returns the columns that are first in every table of a kind.
fn first_names(kind: Kind) -> Vec<String> {
    let mut names = vec!["id".to_owned()];
    if kind == Kind::Person {
        names.extend(FIRST_OF_PERSON.map(str::to_owned));
    }
    if person_link(kind).is_some() {
        names.push("person.id".to_owned());
        names.extend(FIRST_OF_PERSON.map(str::to_owned));
    }
    names.extend(container_link(kind).map(|link| format!("{link}.id")));
    names
}

/// Returns the columns that a kind can have, each list with its first entry.
fn all_names(kind: Kind) -> Vec<String> {
    let mut names = first_names(kind);
    let prefix = prefix_of(kind);
    for (_, field) in top_fields(kind) {
        add_names(&format!("{prefix}{}", field.name), field.ty, 0, &mut names);
    }
    if kind == Kind::Person {
        names.extend(["tags", "lists"].map(str::to_owned));
    }
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

fn add_names(name: &str, ty: ValueType, depth: usize, names: &mut Vec<String>) {
    match (ty, ty.object()) {
        (ValueType::StringMap, _) => names.push(format!("{name}.<key>")),
        (_, Some(schema)) => {
            if name == "birthdate" {
                names.push(name.to_owned());
            }
            let entry = match ty {
                ValueType::Object(_) => "",
                _ => "[1]",
            };
            for field in schema.fields {
                let name = format!("{name}{entry}.{}", field.name);
                add_names(&name, field.ty, depth.saturating_add(1), names);
            }
        }
        (ValueType::Array(_) | ValueType::OneOrMany(_), None) if depth > 0 => {
            names.push(format!("{name}[1]"));
        }
        _ => names.push(name.to_owned()),
    }
}

/// Returns what the names of columns of a kind begin with.
fn prefix_of(kind: Kind) -> String {
    match kind {
        Kind::Person => String::new(),
        other => format!("{}.", other.singular()),
    }
}

/// Returns the column with a name.
fn column(kind: Kind, name: &str) -> Option<ExportColumn> {
    let named = |source| {
        let name = name.to_owned();
        Some(ExportColumn { name, source })
    };
    let person = person_link(kind);
    match (name, person) {
        ("id", _) => return named(Source::Id),
        ("tags", _) if kind == Kind::Person => return named(Source::Tags),
        ("lists", _) if kind == Kind::Person => return named(Source::Lists),
        ("person.id", Some(link)) => return named(Source::PersonId(link)),
        (name, Some(_)) if FIRST_OF_PERSON.contains(&name) => {
            return named(Source::OfPerson(path_of(Kind::Person, name)?));
        }
        _ => {}
    }
    if let Some(link) = container_link(kind)
        && name.strip_suffix(".id") == Some(link)
    {
        return named(Source::Container(link));
    }
    let path = path_of(kind, name.strip_prefix(&*prefix_of(kind))?)?;
    Some(ExportColumn {
        name: name_of(kind, &path),
        source: Source::Field(path),
    })
}

/// Returns the path of a name without its prefix.
fn path_of(kind: Kind, name: &str) -> Option<Vec<Step>> {
    let mut path = Vec::new();
    let field = |name: &str| top_fields(kind).find(|(_, field)| field.name == name);
    add_steps(&mut path, &field, name)?;
    Some(path)
}

fn add_steps(
    path: &mut Vec<Step>,
    field: &dyn Fn(&str) -> Option<(usize, &'static FieldSpec)>,
    name: &str,
) -> Option<()> {
    let (first, rest) = match name.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (name, None),
    };
    let (first, number) = match first.strip_suffix(']') {
        Some(first) => {
            let (first, number) = first.split_once('[')?;
            let number: usize = number.parse().ok()?;
            (first, Some(number.checked_sub(1)?))
        }
        None => (first, None),
    };
    let (place, field) = field(first)?;
    let is_inner = !path.is_empty();
    path.push(Step::Member(place, field.name));
    let inner = |schema: &'static ObjectSchema| {
        move |name: &str| {
            let mut fields = schema.fields.iter().enumerate();
            fields.find(|(_, field)| field.name == name)
        }
    };
    match (field.ty, field.ty.object(), rest) {
        (ValueType::StringMap, _, Some(key)) if number.is_none() && !key.is_empty() => {
            path.push(Step::Key(key.to_owned()));
        }
        (ValueType::Object(_), Some(schema), Some(rest)) if number.is_none() => {
            add_steps(path, &inner(schema), rest)?;
        }
        (ValueType::Object(_), Some(_), None) if number.is_none() && is_birthdate(path) => {}
        (ValueType::StringMap | ValueType::Object(_), ..) => return None,
        (_, Some(schema), Some(rest)) => {
            path.push(Step::Entry(number.unwrap_or_default()));
            add_steps(path, &inner(schema), rest)?;
        }
        (ValueType::Array(_) | ValueType::OneOrMany(_), None, None) if is_inner => {
            path.push(Step::Entry(number.unwrap_or_default()));
        }
        (_, None, None) if number.is_none() => {}
        _ => return None,
    }
    Some(())
}

/// Returns the name of the column with a path.
fn name_of(kind: Kind, path: &[Step]) -> String {
    let mut name = prefix_of(kind);
    for (place, step) in path.iter().enumerate() {
        let dot = if place > 0 { "." } else { "" };
        match step {
            Step::Member(_, member) => name.extend([dot, member]),
            Step::Key(key) => name.extend([dot, key]),
            Step::Entry(number) => {
                // Writing to a text does not fail.
                let _ = write!(name, "[{}]", number.saturating_add(1));
            }
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::is_of_server;
    use crate::{ActionKind, Member};

    fn record(text: &str) -> ExportRecord {
        let Some(Json::Object(object)) = Json::read_kept(text.as_bytes()) else {
            panic!("{text}");
        };
        ExportRecord::new(object)
    }

    fn names(columns: &ExportColumns) -> Vec<&str> {
        columns.columns().iter().map(ExportColumn::name).collect()
    }

    fn texts(columns: &ExportColumns, record: &ExportRecord) -> Vec<String> {
        let row = columns.row(record);
        row.iter().map(|cell| cell.as_str().to_owned()).collect()
    }

    const ADA: &str = r#"{
        "identifiers": ["demo:1", "van:7", "van:8, 9"], "created_date": "2026-01-05T09:00:00Z",
        "family_name": "King", "ethnicities": ["a, \"b\"", "c"], "birthdate": {"month": 12, "day": 1, "year": 1815},
        "postal_addresses": [{"address_lines": ["1 Main St", "Unit 2"], "location": {"latitude": -0.10}}],
        "email_addresses": [{"address": "ada@example.org", "primary": true}, {"status": "unsubscribed"}],
        "custom_fields": {"z.x": "=1", "a": "02110", "none": ""}, "unknown": 1,
        "_links": {"self": {"href": "http://localhost/people/p1"}}
    }"#;

    #[test]
    fn columns_are_those_that_occur() {
        let namespace = Some("demo".to_owned());
        let mut used = UsedColumns::new(Kind::Person, namespace);
        let mut ada = record(ADA);
        ada.tags = vec!["host, local".to_owned(), "x".to_owned()];
        used.add(&ada);
        used.add(&record(
            r#"{"birthdate": {"year": 1990}, "given_name": "Bo"}"#,
        ));
        let columns = used.finish().expect("columns");
        let expected = [
            ("id", "p1"),
            ("given_name", ""),
            ("family_name", "King"),
            ("email_addresses[1].address", "ada@example.org"),
            ("identifiers", "van:7, \"van:8, 9\""),
            ("ethnicities", "\"a, \"\"b\"\"\", c"),
            ("birthdate", "1815-12-01"),
            ("birthdate.year", "1815"),
            ("postal_addresses[1].address_lines[1]", "1 Main St"),
            ("postal_addresses[1].address_lines[2]", "Unit 2"),
            ("postal_addresses[1].location.latitude", "-0.10"),
            ("email_addresses[1].primary", "true"),
            ("email_addresses[2].status", "unsubscribed"),
            ("custom_fields.a", "02110"),
            ("custom_fields.z.x", "=1"),
            ("tags", "\"host, local\", x"),
            ("created_date", "2026-01-05T09:00:00Z"),
        ];
        let (heads, cells): (Vec<_>, Vec<_>) = expected.into_iter().unzip();
        assert_eq!(names(&columns), heads);
        assert_eq!(texts(&columns, &ada), cells);
        // The same columns by their names.
        let chosen = ExportColumns::chosen(Kind::Person, heads.iter().copied()).expect("columns");
        let chosen = chosen.without_namespace(Some("demo".to_owned()));
        assert_eq!(texts(&chosen, &ada), cells);
    }

    /// An import reads every column of people except the id and the dates.
    #[test]
    fn an_import_reads_the_columns() {
        for name in all_names(Kind::Person) {
            let name = name.replace("<key>", "x");
            let is_read = Member::parse(&name).is_some_and(|member| member.to_string() == name);
            let is_ignored = ["id", "created_date", "modified_date"].contains(&&*name);
            assert!(is_read != is_ignored, "{name}");
        }
        // So it does of actions, except for the people of tickets.
        for kind in ActionKind::ALL {
            let names = all_names(kind.helper().recorded_kind());
            for name in names.iter().filter(|name| !name.contains("[1].person.")) {
                let is_read = Member::parse(name).is_some_and(|it| it.to_string() == *name);
                assert!(is_read || name == "id" || is_of_server(name), "{name}");
            }
        }
        for kind in Kind::ALL {
            for name in all_names(*kind) {
                let name = name.replace("<key>", "x");
                let column = column(*kind, &name).map(|column| column.name);
                assert_eq!(column.as_deref(), Some(&*name), "{kind:?}");
            }
        }
    }

    #[test]
    fn actions_have_their_person_and_container() {
        let mut donation = record(
            r#"{"amount": 10.50, "recipients": [{"amount": 1e2}], "payment": {"method": "Cash"}, "_links": {
                "self": {"href": "http://localhost/donations/d1/"}, "svc:person": {"href": "/people/p1?x=/y"},
                "svc:fundraising_page": {"href": "/fundraising_pages/f1"}}}"#,
        );
        donation.person = record(ADA).record;
        let mut used = UsedColumns::new(Kind::Donation, None);
        used.add(&donation);
        let columns = used.finish().expect("columns");
        let expected = [
            ("id", "d1"),
            ("person.id", "p1"),
            ("given_name", ""),
            ("family_name", "King"),
            ("email_addresses[1].address", "ada@example.org"),
            ("fundraising_page.id", "f1"),
            ("donation.amount", "10.50"),
            ("donation.recipients[1].amount", "1e2"),
            ("donation.payment.method", "Cash"),
        ];
        let (heads, cells): (Vec<_>, Vec<_>) = expected.into_iter().unzip();
        assert_eq!(names(&columns), heads);
        assert_eq!(texts(&columns, &donation), cells);
        let mut line = Vec::new();
        donation.line(&mut line);
        let read = ExportRecord::from_line(&line).expect("a record");
        assert_eq!(texts(&columns, &read), cells);
    }

    #[test]
    fn what_is_no_column_is_reported_with_the_columns() {
        for name in [
            "given name",
            "email_addresses",
            "email_addresses[0].address",
            "email_addresses[1]",
            "given_name[1]",
            "postal_addresses[1].address_lines[1].x",
            "custom_fields",
            "employer_address",
            "person.id",
            "",
        ] {
            let error = ExportColumns::chosen(Kind::Person, [name]).expect_err(name);
            assert_eq!(error.name, name);
            assert!(
                error
                    .allowed
                    .iter()
                    .any(|name| name == "phone_numbers[1].number")
            );
        }
    }

    #[test]
    fn too_many_columns_are_an_error() {
        let entry = r#"{"address": "a@example.org"},"#.repeat(MOST_ENTRIES + 1);
        let text = format!(
            r#"{{"email_addresses": [{}]}}"#,
            entry.trim_end_matches(',')
        );
        let mut used = UsedColumns::new(Kind::Person, None);
        used.add(&record(&text));
        let error = used.finish().expect_err("entries");
        assert!(
            error.to_string().contains("email_addresses[51].address"),
            "{error}"
        );
        let mut used = UsedColumns::new(Kind::Person, None);
        for number in 0..=MAX_COLUMNS {
            used.add(&record(&format!(
                r#"{{"custom_fields": {{"{number}": "x"}}}}"#
            )));
        }
        assert!(matches!(used.finish(), Err(ExportError::TooManyColumns)));
    }
}
