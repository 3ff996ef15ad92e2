//! The schemas of fields and their types: the allowed values in each variant.
//!
//! Requirements: TYP-01 to TYP-13.

use serde_json::{Value, json};
use svc_core::{
    schema::{FieldRule, ValueType},
    value::Amount,
};

use super::{Definitions, SchemaVariant, set};
use crate::documents::{effective_field::EffectiveField, example};

impl<'a> Definitions<'a> {
    /// Returns the schema of a field, with its rules and the constraints of this server.
    pub(super) fn field(
        &mut self,
        own: EffectiveField<'a>,
        form: SchemaVariant,
        owner: &str,
    ) -> Value {
        let field = own.field;
        let mut schema = self.value(&field.ty, field.rules, own, form, owner);
        if form != SchemaVariant::Read {
            let narrow = own.narrow.and_then(|narrow| narrow.max_items);
            let narrow = narrow.and_then(|most| usize::try_from(most).ok());
            let most = self.api.limits().content.max_entries(field.name);
            let most = narrow.map_or(most, |narrow| narrow.min(most));
            match &field.ty {
                ValueType::Array(_) => set(&mut schema, "maxItems", most),
                ValueType::StringMap => set(&mut schema, "maxProperties", most),
                _ => {}
            }
        }
        // `null` means absent on create and clears on update; a required field always has a value.
        if form != SchemaVariant::Read && !own.is_required() {
            schema = or_null(schema);
        }
        set(&mut schema, "description", field.doc);
        if field.ty.object().is_none() && schema.get("$ref").is_none() {
            set(
                &mut schema,
                "examples",
                json!([example::of_field(own, owner)]),
            );
        }
        if let Some(default) = own.default().filter(|_| form == SchemaVariant::Create) {
            set(&mut schema, "default", default_of(&field.ty, default));
        }
        if field.is_computed() {
            set(&mut schema, "readOnly", true);
        }
        schema
    }

    fn value(
        &mut self,
        ty: &ValueType,
        rules: &[FieldRule],
        own: EffectiveField<'a>,
        form: SchemaVariant,
        owner: &str,
    ) -> Value {
        let mut schema = self.value_of_type(ty, rules, own, form, owner);
        let Some(narrow) = own.narrow else {
            return schema;
        };
        match ty {
            ValueType::String | ValueType::FlexEnum(_) => {
                if let Some(longest) = narrow.max_length {
                    set(&mut schema, "maxLength", longest);
                }
            }
            ValueType::Integer | ValueType::Amount => {
                for (name, bound) in [("minimum", narrow.min), ("maximum", narrow.max)] {
                    if let Some(bound) = bound {
                        set(&mut schema, name, number(bound));
                    }
                }
            }
            _ => {}
        }
        schema
    }

    fn value_of_type(
        &mut self,
        ty: &ValueType,
        rules: &[FieldRule],
        own: EffectiveField<'a>,
        form: SchemaVariant,
        owner: &str,
    ) -> Value {
        match ty {
            ValueType::Enum(_) | ValueType::FlexEnum(_) if own.values().is_some() => {
                json!({ "type": "string", "enum": own.values() })
            }
            ValueType::String => string(rules, form),
            ValueType::Integer => integer(rules),
            ValueType::Float => bounded(json!({ "type": "number", "format": "double" }), rules),
            ValueType::Amount if form == SchemaVariant::Read => json!({ "type": "number" }),
            // JSON Schema cannot count digits.
            ValueType::Amount => {
                json!({ "type": "number", "minimum": 0, "exclusiveMaximum": 1e16, "x-max-decimals": 6 })
            }
            ValueType::Boolean => json!({ "type": "boolean" }),
            ValueType::Timestamp => json!({ "type": "string", "format": "date-time" }),
            ValueType::Date => json!({ "type": "string", "format": "date" }),
            ValueType::Enum(values) => json!({ "type": "string", "enum": values }),
            ValueType::FlexEnum(values) => {
                json!({ "anyOf": [{ "type": "string", "enum": values }, { "type": "string" }] })
            }
            ValueType::Flag if form == SchemaVariant::Read => {
                json!({ "type": "string", "enum": ["true", "false"] })
            }
            ValueType::Flag => {
                json!({ "type": ["string", "boolean"], "enum": ["true", "false", true, false] })
            }
            ValueType::Reference if form == SchemaVariant::Read => json!({ "type": "string" }),
            ValueType::Reference => {
                json!({ "anyOf": [{ "type": "string" }, href(&json!({ "type": "string" }))] })
            }
            ValueType::StringMap if form == SchemaVariant::Read => {
                json!({ "type": "object", "additionalProperties": { "type": "string" } })
            }
            ValueType::StringMap => {
                json!({ "type": "object", "additionalProperties": { "type": ["string", "null"] } })
            }
            ValueType::Array(item) => self.array(item, rules, own, form, owner),
            ValueType::OneOrMany(item) => {
                let one = self.value(item, rules, own, form, owner);
                json!({ "anyOf": [one, self.array(item, rules, own, form, owner)] })
            }
            ValueType::Object(schema) => self.object(schema, own.members(), form, owner),
        }
    }

    /// Returns the schema of an array. Arrays are replaced as a whole, so their elements are
    /// written as new ones.
    ///
    /// Requirements: CRU-18.
    fn array(
        &mut self,
        item: &ValueType,
        rules: &[FieldRule],
        own: EffectiveField<'a>,
        form: SchemaVariant,
        owner: &str,
    ) -> Value {
        let form = if form == SchemaVariant::Update {
            SchemaVariant::Create
        } else {
            form
        };
        let mut items = self.value(item, &[], own, form, owner);
        if rules.contains(&FieldRule::Identifiers) {
            set(&mut items, "pattern", r"^[A-Za-z0-9_.\-]+:[\s\S]+$");
        }
        if rules.contains(&FieldRule::LanguageTag) {
            set(&mut items, "pattern", LANGUAGE_TAG);
        }
        let mut schema = json!({ "type": "array", "items": items });
        for rule in rules {
            match rule {
                FieldRule::OnePrimary => {
                    let primary = json!({ "required": ["primary"], "properties": { "primary": { "enum": [true, "true"] } } });
                    set(&mut schema, "contains", primary);
                    set(&mut schema, "minContains", 0);
                    set(&mut schema, "maxContains", 1);
                }
                // JSON Schema cannot require that elements differ in one member.
                FieldRule::UniqueKeys => set(&mut schema, "x-unique-by", "key"),
                // Duplicates are removed, not rejected.
                FieldRule::Unique if form == SchemaVariant::Read => {
                    set(&mut schema, "uniqueItems", true);
                }
                _ => {}
            }
        }
        schema
    }
}

/// Characters that end a line for some mailers, or that are invisible.
const UNSEEN: &str = concat!(
    r"\x00-\x1f\x7f-\x9f",
    "\u{ad}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{2064}\u{feff}"
);

/// A phone number with an extension. `{}` represents separators.
const PHONE: &str = concat!(
    r"^{}([Tt][Ee][Ll]:)?{}[+]?({}[0-9]){7,18}{}",
    r"((;[Ee][Xx][Tt]=|[Ee][Xx][Tt]([Ee][Nn][Ss][Ii][Oo][Nn]|\.)?|[Xx]\.?|#)[: ]*({}[0-9])+{})?$",
);

/// The separators of [`PHONE`]: white space, dashes, dots, slashes, brackets and zero-width characters.
const SEPARATORS: &str = concat!(
    r"[\s./()\[\]\-",
    "\u{2010}-\u{2015}\u{2212}\u{fe58}\u{fe63}\u{ff0d}",
    "\u{ad}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{2064}\u{feff}]*"
);

/// One e-mail address. `{edge}` represents the characters that are removed at both ends, and `{unseen}`
/// [`UNSEEN`].
const EMAIL: &str = concat!(
    r#"^{edge}("[^\s{unseen}",;<>@]*"|[^\s{unseen}",;<>@()\[\]:\\]+)@"#,
    r"(\[[A-Za-z0-9_:\-]+(\.[A-Za-z0-9_:\-]+)*\]|{part}([.\u3002\uff0e\uff61]{part})*){edge}$",
);

/// Characters that are removed at both ends of an address.
const EDGE: &str = concat!(
    r"[\s",
    "\u{ad}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{2064}\u{feff}]*"
);

/// One part of a domain: letters, digits, `-`, `_`, and characters outside of ASCII.
const DOMAIN_PART: &str = r"[^\s{unseen}\x21-\x2c./:-@\[-\^`\{-~\u3002\uff0e\uff61]+";

/// A well-formed language tag (RFC 5646), except those that were registered before the grammar
/// existed.
const LANGUAGE_TAG: &str = concat!(
    r"^(([A-Za-z]{2,3}(-[A-Za-z]{3}){0,3}|[A-Za-z]{4,8})(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?",
    r"(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*(-[0-9A-WY-Za-wy-z](-[A-Za-z0-9]{2,8})+)*(-[xX](-[A-Za-z0-9]{1,8})+)?|[xX](-[A-Za-z0-9]{1,8})+)$"
);

/// Returns the schema of a link: an object with `href`.
pub(super) fn href(address: &Value) -> Value {
    json!({ "type": "object", "required": ["href"], "properties": { "href": address } })
}

/// Returns a schema that also allows `null`.
pub(super) fn or_null(mut schema: Value) -> Value {
    if let Some(either) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        either.push(json!({ "type": "null" }));
        return schema;
    }
    if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        values.push(Value::Null);
    }
    match schema.get("type").cloned() {
        Some(Value::Array(mut types)) => {
            types.push("null".into());
            set(&mut schema, "type", types);
        }
        Some(ty) => set(&mut schema, "type", json!([ty, "null"])),
        None if schema.get("$ref").is_some() => {
            schema = json!({ "anyOf": [schema, { "type": "null" }] });
        }
        None => {}
    }
    schema
}

fn string(rules: &[FieldRule], form: SchemaVariant) -> Value {
    let pattern = |pattern: &str| json!({ "type": "string", "pattern": pattern });
    for rule in rules {
        match rule {
            FieldRule::Email => {
                let address = EMAIL.replace("{part}", DOMAIN_PART).replace("{edge}", EDGE);
                return pattern(&address.replace("{unseen}", UNSEEN));
            }
            FieldRule::OneLine => return pattern(&"^[^{}]*$".replace("{}", UNSEEN)),
            FieldRule::CountryCode => return pattern("^[A-Za-z]{2}$"),
            FieldRule::RegionCode => return pattern("^[A-Za-z0-9]{1,3}$"),
            FieldRule::CurrencyCode => return pattern("^[A-Za-z]{3}$"),
            FieldRule::LanguageCode => return pattern("^[A-Za-z]{2,3}$"),
            FieldRule::LanguageTag => return pattern(LANGUAGE_TAG),
            FieldRule::ResponseKey => return pattern("^[A-Za-z0-9]+$"),
            FieldRule::ResponseName => return pattern("^[A-Za-z0-9_]+$"),
            FieldRule::PhoneNumber if form == SchemaVariant::Read => return pattern("^[0-9]+$"),
            // A number is also accepted, and is read as its digits.
            FieldRule::PhoneNumber => {
                let separated = pattern(&PHONE.replace("{}", SEPARATORS));
                return json!({ "anyOf": [separated, { "type": "integer", "minimum": 1_000_000, "maximum": 999_999_999_999_999_u64 }] });
            }
            _ => {}
        }
    }
    json!({ "type": "string" })
}

/// Returns the value of a default, which is declared as text.
fn default_of(ty: &ValueType, text: &str) -> Value {
    let read = || serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    if matches!(
        ty,
        ValueType::Integer | ValueType::Float | ValueType::Amount | ValueType::Boolean
    ) {
        read()
    } else {
        Value::from(text)
    }
}

fn number(bound: Amount) -> Value {
    serde_json::from_str(&bound.to_string()).unwrap_or_default()
}

fn integer(rules: &[FieldRule]) -> Value {
    let whole =
        json!({ "type": "integer", "format": "int64", "minimum": i64::MIN, "maximum": i64::MAX });
    bounded(whole, rules)
}

fn bounded(mut number: Value, rules: &[FieldRule]) -> Value {
    for rule in rules {
        match rule {
            FieldRule::Between(least, most) => {
                set(&mut number, "minimum", *least);
                set(&mut number, "maximum", *most);
            }
            FieldRule::NotNegative => set(&mut number, "minimum", 0),
            _ => {}
        }
    }
    number
}
