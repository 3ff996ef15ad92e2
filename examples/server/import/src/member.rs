//! What a column of a table sets.

use std::fmt;

use svc_core::model::Kind;
use svc_core::schema::{FieldMode, FieldRule, FieldSpec, ObjectSchema, ValueType};
use svc_core::value::Identifier;

use crate::action::ActionKind;

/// What a column sets, as it is written in the table of synonyms and in options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Member {
    /// Nothing; the column is left out without a message.
    Ignored,
    /// The names of a person in one cell.
    FullName,
    /// The names of tags.
    Tags,
    /// The names of lists.
    Lists,
    /// Identifiers, of one system if it is given.
    Identifiers(Option<String>),
    /// The custom field with this key.
    Custom(String),
    /// A field of the person.
    Field(RecordField),
    /// Identifiers of an action, of one system if it is given.
    ActionIdentifiers(ActionKind, Option<String>),
    /// A field of an action.
    Action(ActionKind, RecordField),
}

/// A field of a person or of an action, or a member of an object or of an entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordField {
    /// The field of the record.
    pub(crate) field: &'static str,
    /// The entry, if the field is a list of objects.
    pub(crate) entry: Option<EntryKey>,
    /// The member of the object or of the entry.
    pub(crate) member: Option<&'static str>,
    /// The member of the object in the member.
    pub(crate) inner: Option<&'static str>,
    /// The place in the member, from 0, if it is a list of texts.
    pub(crate) line: Option<usize>,
    /// How a cell is read.
    pub(crate) format: ValueFormat,
    /// Whether the column has objections instead of consents.
    pub(crate) is_reversed: bool,
    /// Whether the cell is added to the text of another column.
    pub(crate) is_added: bool,
}

/// An entry of a list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EntryKey {
    /// Its number, from 1.
    Number(usize),
    /// The value of the member with the type of entries.
    Type(&'static str, String),
    /// All entries of the row, written as `*`. Only consents have it.
    All,
}

/// How a cell is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueFormat {
    Text,
    Texts,
    Integer,
    Float,
    Boolean,
    Birthdate,
    Email,
    Phone,
    Country,
    Region,
    Language,
    Amount,
    Currency,
    Timestamp,
    /// One of these values.
    Listed(&'static [&'static str]),
    /// One of these values, or any other text.
    ListedOrOther(&'static [&'static str]),
}

/// The largest number of an entry or line.
pub(crate) const MOST_ENTRIES: usize = 50;

impl Member {
    /// Returns the member with this notation: a field of a person, such as `given_name`, a member of an
    /// entry, such as `email_addresses[2].address`, `phone_numbers[Mobile].number` or
    /// `postal_addresses[1].location.latitude`, `tags`, `lists`, `identifiers`, `identifiers[<system>]`, `custom_fields.<key>`, `full_name`, or `ignored`. The members of an
    /// action follow its name: `donation.amount`, `donation.identifiers[<system>]`.
    ///
    /// `[*]` means all entries: `email_addresses[*].status`. `not ` before a consent is for a column of objections,
    /// such as `Do not email`. `+` after a line of an address adds the cell to the text of another column.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        match text {
            "ignored" => return Some(Self::Ignored),
            "full_name" => return Some(Self::FullName),
            "tags" => return Some(Self::Tags),
            "lists" => return Some(Self::Lists),
            "identifiers" => return Some(Self::Identifiers(None)),
            _ => {}
        }
        if let Some(key) = text.strip_prefix("custom_fields.") {
            return (!key.is_empty()).then(|| Self::Custom(key.to_owned()));
        }
        if let Some((kind, text)) = ActionKind::split(text) {
            return Self::parse_of_action(kind, text);
        }
        if let Some(system) = system_of_identifiers(text) {
            return Some(Self::Identifiers(Some(system.to_owned())));
        }
        let (is_reversed, text) = match text.strip_prefix("not ") {
            Some(text) => (true, text.trim_start()),
            None => (false, text),
        };
        let field = RecordField::parse(text, is_reversed, person_fields())?;
        Some(Self::Field(field))
    }

    /// Returns the member of an action with this notation after its name.
    pub(crate) fn parse_of_action(kind: ActionKind, text: &str) -> Option<Self> {
        if text == "identifiers" {
            return Some(Self::ActionIdentifiers(kind, None));
        }
        if let Some(system) = system_of_identifiers(text) {
            return Some(Self::ActionIdentifiers(kind, Some(system.to_owned())));
        }
        let field = RecordField::parse(text, false, kind.fields())?;
        // Only people have objects in entries, except for the people of tickets.
        (field.inner.is_none()).then_some(Self::Action(kind, field))
    }

    /// Returns all members that columns can set, in the notation of [`Member::parse`].
    #[must_use]
    pub fn all() -> Vec<String> {
        let mut all = notations(person_fields(), "", true);
        let others = [
            "full_name",
            "tags",
            "lists",
            "identifiers[<system>]",
            "custom_fields.<key>",
            "ignored",
        ];
        all.extend(others.map(str::to_owned));
        for kind in ActionKind::ALL {
            let prefix = format!("{}.", kind.singular());
            all.extend(notations(kind.fields(), &prefix, false));
            all.push(format!("{prefix}identifiers[<system>]"));
        }
        all
    }

    /// Returns the kind of the action that has the member; `None` for a member of the person.
    #[must_use]
    pub fn action(&self) -> Option<ActionKind> {
        match self {
            Self::ActionIdentifiers(kind, _) | Self::Action(kind, _) => Some(*kind),
            _ => None,
        }
    }

    /// Returns the same member of another entry, for an e-mail address and a phone number.
    pub(crate) fn of_entry(&self, number: usize) -> Option<Self> {
        match self {
            Self::Field(field)
                if matches!(field.entry, Some(EntryKey::Number(_)))
                    && matches!(field.format, ValueFormat::Email | ValueFormat::Phone) =>
            {
                let mut field = field.clone();
                field.entry = Some(EntryKey::Number(number));
                Some(Self::Field(field))
            }
            _ => None,
        }
    }

    /// Whether several columns can set the member.
    pub(crate) fn is_list(&self) -> bool {
        match self {
            Self::Ignored
            | Self::Tags
            | Self::Lists
            | Self::Identifiers(_)
            | Self::ActionIdentifiers(..) => true,
            // Such as the dates of several states of a donation.
            Self::Action(_, field) => field.format == ValueFormat::Timestamp,
            Self::Field(field) => {
                field.format == ValueFormat::Texts && field.line.is_none()
                    || field.entry == Some(EntryKey::All)
                    || field.is_added
            }
            Self::FullName | Self::Custom(_) => false,
        }
    }

    /// Whether a person can be found by the value.
    pub(crate) fn identifies(&self) -> bool {
        match self {
            Self::Identifiers(_) => true,
            Self::Field(field) => matches!(field.format, ValueFormat::Email | ValueFormat::Phone),
            _ => false,
        }
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ignored => f.write_str("ignored"),
            Self::FullName => f.write_str("full_name"),
            Self::Tags => f.write_str("tags"),
            Self::Lists => f.write_str("lists"),
            Self::Identifiers(None) => f.write_str("identifiers"),
            Self::Identifiers(Some(system)) => write!(f, "identifiers[{system}]"),
            Self::Custom(key) => write!(f, "custom_fields.{key}"),
            Self::Field(field) => field.fmt(f),
            Self::ActionIdentifiers(kind, None) => write!(f, "{}.identifiers", kind.singular()),
            Self::ActionIdentifiers(kind, Some(system)) => {
                write!(f, "{}.identifiers[{system}]", kind.singular())
            }
            Self::Action(kind, field) => write!(f, "{}.{field}", kind.singular()),
        }
    }
}

impl fmt::Display for RecordField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_reversed {
            f.write_str("not ")?;
        }
        f.write_str(self.field)?;
        match &self.entry {
            Some(EntryKey::Number(number)) => write!(f, "[{number}]")?,
            Some(EntryKey::Type(_, value)) => write!(f, "[{value}]")?,
            Some(EntryKey::All) => f.write_str("[*]")?,
            None => {}
        }
        if let Some(member) = self.member {
            write!(f, ".{member}")?;
        }
        if let Some(inner) = self.inner {
            write!(f, ".{inner}")?;
        }
        if let Some(line) = self.line {
            write!(f, "[{}]", line.saturating_add(1))?;
        }
        f.write_str(if self.is_added { "+" } else { "" })
    }
}

impl RecordField {
    fn parse(text: &str, is_reversed: bool, schema: &'static ObjectSchema) -> Option<Self> {
        let (is_added, text) = match text.strip_suffix('+') {
            Some(text) => (true, text),
            None => (false, text),
        };
        let (first, rest) = match text.split_once('.') {
            Some((first, rest)) => (first, Some(rest)),
            None => (text, None),
        };
        let (name, key) = match in_brackets(first) {
            Some((name, key)) => (name, Some(key)),
            None => (first, None),
        };
        let field = members(schema).find(|field| field.name == name)?;
        let is_list = matches!(field.ty, ValueType::Array(_));
        let entry = match (field.ty.object().filter(|_| is_list), key) {
            (Some(entries), Some(key)) => Some(entry_key(entries, key)?),
            (Some(_), None) => Some(EntryKey::Number(1)),
            (None, None) => None,
            (None, Some(_)) => return None,
        };
        let (member, inner, leaf, line) = match (field.ty.object(), rest) {
            (Some(schema), Some(rest)) => {
                let (rest, inner) = match rest.split_once('.') {
                    Some((rest, inner)) => (rest, Some(inner)),
                    None => (rest, None),
                };
                let (name, line) = match in_brackets(rest) {
                    Some((name, line)) => (name, Some(number(line)?)),
                    None => (rest, None),
                };
                let member = members(schema).find(|member| member.name == name)?;
                let (inner, leaf) = match inner {
                    Some(inner) => {
                        let ValueType::Object(schema) = member.ty else {
                            return None;
                        };
                        let leaf = members(schema).find(|member| member.name == inner)?;
                        (Some(leaf.name), leaf)
                    }
                    None => (None, member),
                };
                let line = line.and_then(|line| line.checked_sub(1));
                (Some(member.name), inner, leaf, line)
            }
            (_, None) if entry.is_none() => (None, None, field, None),
            _ => return None,
        };
        let format = format_of(leaf)?;
        let line = match format {
            // A cell with an address is one line of it.
            ValueFormat::Texts if member.is_some() => Some(line.unwrap_or_default()),
            _ if line.is_some() => return None,
            _ => None,
        };
        let can_be_reversed = match format {
            ValueFormat::Boolean => true,
            ValueFormat::Listed(_) => member == Some("status"),
            _ => false,
        };
        // Only a line of an address has several columns.
        let is_wrong = is_reversed && !can_be_reversed
            || is_added && line.is_none()
            || entry == Some(EntryKey::All) && !leaf_is_consent(leaf);
        (!is_wrong).then_some(Self {
            field: field.name,
            entry,
            member,
            inner,
            line,
            format,
            is_reversed,
            is_added,
        })
    }
}

/// Whether a member of an entry is a consent or an objection.
fn leaf_is_consent(field: &FieldSpec) -> bool {
    matches!(field.name, "status" | "do_not_call" | "sms_capable")
}

fn entry_key(entries: &'static ObjectSchema, key: &str) -> Option<EntryKey> {
    if key == "*" {
        return Some(EntryKey::All);
    }
    if key.bytes().all(|one| one.is_ascii_digit()) {
        return number(key).map(EntryKey::Number);
    }
    let is_type = |field: &&FieldSpec| field.name.ends_with("_type") || field.name == "provider";
    let field = members(entries).find(is_type)?;
    let value = match format_of(field)? {
        ValueFormat::Listed(values) => *values.iter().find(|one| **one == key)?,
        ValueFormat::ListedOrOther(_) | ValueFormat::Text => key,
        _ => return None,
    };
    Some(EntryKey::Type(field.name, value.to_owned()))
}

/// Returns the number of an entry or line, from 1.
fn number(text: &str) -> Option<usize> {
    let number = text.parse().ok()?;
    (1..=MOST_ENTRIES).contains(&number).then_some(number)
}

/// Returns the parts of `name[key]`.
fn in_brackets(text: &str) -> Option<(&str, &str)> {
    text.strip_suffix(']')?.split_once('[')
}

/// Returns the system of `identifiers[<system>]`.
fn system_of_identifiers(text: &str) -> Option<&str> {
    let (name, system) = in_brackets(text)?;
    (name == "identifiers" && Identifier::is_system_name(system)).then_some(system)
}

/// Returns the notations of the fields that columns can set, each after a prefix. `has_inner` also returns the
/// members of objects in members.
fn notations(schema: &'static ObjectSchema, prefix: &str, has_inner: bool) -> Vec<String> {
    let mut all = Vec::new();
    for field in members(schema) {
        let name = format!("{prefix}{}", field.name);
        match (field.ty, field.ty.object()) {
            (ValueType::Array(_), Some(entries)) => {
                add_members(&format!("{name}[1]"), entries, has_inner, &mut all);
            }
            _ if format_of(field).is_some() => all.push(name),
            (_, Some(object)) => add_members(&name, object, has_inner, &mut all),
            _ => {}
        }
    }
    all
}

/// Adds the members of an object or of an entry with this name.
fn add_members(name: &str, schema: &'static ObjectSchema, has_inner: bool, all: &mut Vec<String>) {
    for member in members(schema) {
        let name = format!("{name}.{}", member.name);
        match member.ty {
            ValueType::Object(inner) if has_inner => add_members(&name, inner, false, all),
            _ if format_of(member).is_some() => all.push(name),
            _ => {}
        }
    }
}

fn person_fields() -> &'static ObjectSchema {
    Kind::Person.schema().fields
}

fn members(schema: &'static ObjectSchema) -> impl Iterator<Item = &'static FieldSpec> {
    schema.fields.iter().filter(|field| !field.is_computed())
}

/// Returns how a cell with a field is read; `None` if one cell cannot contain it.
fn format_of(field: &FieldSpec) -> Option<ValueFormat> {
    for rule in field.rules {
        match rule {
            FieldRule::Email => return Some(ValueFormat::Email),
            FieldRule::PhoneNumber => return Some(ValueFormat::Phone),
            FieldRule::CountryCode => return Some(ValueFormat::Country),
            FieldRule::RegionCode => return Some(ValueFormat::Region),
            FieldRule::CurrencyCode => return Some(ValueFormat::Currency),
            FieldRule::LanguageTag if matches!(field.ty, ValueType::String) => {
                return Some(ValueFormat::Language);
            }
            _ => {}
        }
    }
    Some(match field.ty {
        // A timestamp is a usual value of such a text.
        ValueType::String if field.mode == FieldMode::ReceiptTime => ValueFormat::Timestamp,
        ValueType::Timestamp => ValueFormat::Timestamp,
        ValueType::Amount => ValueFormat::Amount,
        ValueType::String => ValueFormat::Text,
        ValueType::Integer => ValueFormat::Integer,
        ValueType::Float => ValueFormat::Float,
        ValueType::Boolean | ValueType::Flag => ValueFormat::Boolean,
        ValueType::Enum(values) => ValueFormat::Listed(values),
        ValueType::FlexEnum(values) => ValueFormat::ListedOrOther(values),
        ValueType::Array(ValueType::String) => ValueFormat::Texts,
        ValueType::Object(_) if field.name == "birthdate" => ValueFormat::Birthdate,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_written_as_they_are_read() {
        for text in [
            "given_name",
            "email_addresses[2].address",
            "not email_addresses[*].status",
            "email_addresses[1].status",
            "postal_addresses[1].address_lines[1]+",
            "phone_numbers[Mobile].number",
            "postal_addresses[Home].address_lines[2]",
            "birthdate",
            "birthdate.year",
            "postal_addresses[2].location.latitude",
            "employer_address.address_lines[2]",
            "parties[1].last_verified_date",
            "ethnicities",
            "profiles[twitter].handle",
            "tags",
            "identifiers[van]",
            "custom_fields.shoe size",
            "ignored",
            "donation.amount",
            "donation.recipients[2].amount",
            "donation.payment.method",
            "donation.identifiers",
            "donation.identifiers[actblue]",
            "signature.comments",
            "attendance.tickets[1].currency",
            "submission.referrer_data.source",
        ] {
            let member = Member::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(member.to_string(), text);
        }
        let first = Member::parse("email_addresses.address").expect("a member");
        assert_eq!(first.to_string(), "email_addresses[1].address");
    }

    #[test]
    fn what_no_column_can_set_is_no_member() {
        for text in [
            "created_date",
            "email_addresses",
            "email_addresses[0].address",
            "email_addresses[99].address",
            "email_addresses[1].adress",
            "postal_addresses[Castle].locality",
            "not given_name",
            "not gender",
            "given_name+",
            "postal_addresses[*].locality",
            "postal_addresses[1].location",
            "postal_addresses[1].locality.latitude",
            "postal_addresses[1].location.latitude.x",
            "given_name[1]",
            "custom_fields.",
            "identifiers[a b]",
            "donation.comments",
            "donation.identifiers[a b]",
            "donation.payment",
            "not donation.voided",
            "attendance.tickets[*].amount",
            "attendance.tickets[1].person",
            "petition.name",
            "",
        ] {
            assert_eq!(Member::parse(text), None, "{text}");
        }
        for text in Member::all() {
            let text = text.replace("<system>", "van").replace("<key>", "x");
            assert!(Member::parse(&text).is_some(), "{text}");
        }
    }
}
