//! The tables in words: types, rules, who sets a field.

use svc_core::{
    api::Api,
    export::type_name,
    model::Kind,
    schema::{COMMON, Field, LinkTarget, LinkWrite, Mode, ObjectSchema, Rule, Type},
};

use super::html::{Cell, Page};

/// A doc comment of the tables without the requirement row at its end.
pub(super) fn without_row(doc: &str) -> &str {
    let doc = doc.trim();
    let row = doc.rsplit_once(" (").filter(|(_, row)| row.ends_with(").") && row.contains('-'));
    row.map_or(doc, |(text, _)| text)
}

/// A type, with its values when it lists any.
fn type_text(ty: &Type) -> String {
    let listed = |values: &[&str]| values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ");
    let item = if let Type::Array(item) = ty { item } else { ty };
    match item {
        Type::Enum(values) => format!("{}: {}", type_name(ty), listed(values)),
        Type::FlexEnum(values) => format!("{}: {}, or any other", type_name(ty), listed(values)),
        Type::StringMap => "object with string values".to_owned(),
        _ => type_name(ty),
    }
}

/// A rule beyond the type; empty where the type or the text says it.
fn rule_text(rule: &Rule) -> String {
    match rule {
        Rule::Between(least, most) => format!("from {least} to {most}"),
        Rule::NotNegative => "not below zero".to_owned(),
        Rule::Email => "has an `@`".to_owned(),
        Rule::CountryCode => "two letters".to_owned(),
        Rule::CurrencyCode => "three letters".to_owned(),
        Rule::PhoneNumber => "digits; the usual separators are removed".to_owned(),
        Rule::WithoutAt => "a leading `@` is removed".to_owned(),
        Rule::Unique => "duplicates are collapsed".to_owned(),
        Rule::OnePrimary => "at most one is `primary`".to_owned(),
        Rule::ResponseKey => "letters and digits only".to_owned(),
        Rule::ResponseName => "letters, digits and underscore only".to_owned(),
        Rule::UniqueKeys => "different keys".to_owned(),
        _ => String::new(),
    }
}

/// Who sets a field.
fn mode_text(mode: Mode) -> String {
    match mode {
        Mode::Stored => "client".to_owned(),
        Mode::Required => "client, required".to_owned(),
        Mode::Default(value) => format!("client, else `{value}`"),
        Mode::ReceiptTime => "client, else the time of receipt".to_owned(),
        Mode::Computed => "system".to_owned(),
    }
}

/// When a client may send a link.
pub(super) fn write_text(target: LinkTarget) -> &'static str {
    match target {
        LinkTarget::One { write: LinkWrite::Create, .. } => "client, on create",
        LinkTarget::One { write: LinkWrite::Required, .. } => "client, required on create",
        LinkTarget::One { write: LinkWrite::Update, .. } => "client",
        _ => "system",
    }
}

/// Writes fields as tables, and behind them the tables of the objects nested in them, each once.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    api: &'a Api,
    /// The nested objects, each with the first path under which it came.
    nested: Vec<(String, &'static ObjectSchema)>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(api: &'a Api) -> Self {
        Self { api, nested: Vec::new() }
    }

    /// The fields of a kind that this server sends or takes, the common ones first.
    pub(super) fn of_kind(&mut self, page: &mut Page, kind: Kind) {
        let common = COMMON.fields.iter().map(|field| (field, true));
        let own = kind.schema().fields.fields.iter().enumerate().filter_map(|(place, field)| {
            let is_writable = self.api.is_writable(kind, place);
            (is_writable || self.api.is_readable(kind, place)).then_some((field, is_writable))
        });
        let fields: Vec<_> = common.chain(own).collect();
        self.table(page, "", &fields);
    }

    /// The fields of a kind that a client may send.
    pub(super) fn sendable(&mut self, page: &mut Page, kind: Kind) {
        let own = kind.schema().fields.fields.iter().enumerate();
        let sent = own.filter(|(place, field)| !field.is_computed() && self.api.is_writable(kind, *place));
        let identifiers = COMMON.fields.iter().filter(|field| !field.is_computed());
        let fields: Vec<_> = identifiers.chain(sent.map(|(_, field)| field)).map(|field| (field, true)).collect();
        self.table(page, "", &fields);
    }

    /// Fields of an object that is no record.
    pub(super) fn of_object(&mut self, page: &mut Page, fields: impl IntoIterator<Item = &'static Field>) {
        let fields: Vec<_> = fields.into_iter().map(|field| (field, true)).collect();
        self.table(page, "", &fields);
    }

    /// The tables of every nested object.
    pub(super) fn nested(mut self, page: &mut Page) {
        let mut place = 0;
        while let Some((path, schema)) = self.nested.get(place).cloned() {
            place = place.saturating_add(1);
            page.heading(&path, &format!("Object `{path}`"));
            let fields: Vec<_> = schema.fields.iter().map(|field| (field, true)).collect();
            self.table(page, &path, &fields);
        }
    }

    /// Writes the fields of the object at a path, which is empty for the record itself.
    fn table(&mut self, page: &mut Page, path: &str, fields: &[(&'static Field, bool)]) {
        let api = self.api;
        let names = api.dialect().share_names();
        let row = |(field, is_writable): &(&'static Field, bool)| {
            let name = names.to_wire(field.name);
            let ty = match field.ty.object() {
                Some(schema) => Cell::Part(type_name(&field.ty), self.path_of(path, name, schema)),
                None => Cell::Prose(type_text(&field.ty)),
            };
            let rules = field.rules.iter().map(rule_text).filter(|text| !text.is_empty());
            let meaning = std::iter::once(field.text().to_owned()).chain(rules).collect::<Vec<_>>().join("; ");
            let set_by = if *is_writable { mode_text(field.mode) } else { "not taken from clients".to_owned() };
            [Cell::Code(name.to_owned()), ty, Cell::Prose(set_by), Cell::Prose(meaning)]
        };
        let rows: Vec<_> = fields.iter().map(row).collect();
        page.table(["Field", "Type", "Set by", "Meaning"], rows);
    }

    /// The path under which a nested object is described.
    fn path_of(&mut self, path: &str, name: &str, schema: &'static ObjectSchema) -> String {
        if let Some((known, _)) = self.nested.iter().find(|(_, known)| std::ptr::eq(*known, schema)) {
            return known.clone();
        }
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        self.nested.push((path.clone(), schema));
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ent_22_rows_are_left_out_of_the_text() {
        assert_eq!(without_row(" The canvass helper (RES-person-48)."), "The canvass helper");
        assert_eq!(without_row(" The body came too slowly (UND-17)."), "The body came too slowly");
        assert_eq!(without_row("A message (or two)."), "A message (or two).");
    }
}
