//! Validates bodies: each value is compared with the type that the catalogue gives its field.

use serde_json::{Map, Number, Value};
use svc_conformance::ids;

use super::answer::BodyProblem;
use super::dates;
use super::options::ServerOptions;
use crate::fields::{self, FieldShape, ObjectField};

/// How a body is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading<'o> {
    pub(super) options: &'o ServerOptions,
    /// Whether `null` empties a field instead of omitting it.
    pub(super) update: bool,
}

impl Reading<'_> {
    /// Returns the known fields of a body in canonical form, and adds what is wrong to the
    /// problems.
    pub(super) fn object(
        self,
        fields: &[ObjectField],
        body: &Map<String, Value>,
        path: &str,
        problems: &mut Vec<BodyProblem>,
    ) -> Map<String, Value> {
        if self.options.rejects_unknown {
            let known = |name: &str| {
                fields.iter().any(|field| field.name == name) || is_known_anywhere(name)
            };
            for name in body.keys().filter(|name| !known(name)) {
                let path = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                problems.push(BodyProblem::field(&path, "This member is unknown."));
            }
        }
        let mut read = Map::new();
        for field in fields {
            let Some(value) = body.get(&field.name) else {
                continue;
            };
            let path = if path.is_empty() {
                field.name.clone()
            } else {
                format!("{path}.{}", field.name)
            };
            if field.computed {
                if self.options.rejects_read_only {
                    problems.push(BodyProblem::field(&path, "This field is read-only."));
                }
                continue;
            }
            if value.is_null() {
                if self.update {
                    read.insert(field.name.clone(), Value::Null);
                }
                continue;
            }
            if let Some(value) = self.value(&field.shape, value, &path, problems) {
                let value = adjusted(field, value, &path, problems);
                read.insert(field.name.clone(), value);
            }
        }
        read
    }

    fn value(
        self,
        shape: &FieldShape,
        value: &Value,
        path: &str,
        problems: &mut Vec<BodyProblem>,
    ) -> Option<Value> {
        let kept = match shape {
            FieldShape::String | FieldShape::Flex(_) | FieldShape::Reference => text(value),
            FieldShape::Integer => integer(value),
            FieldShape::Float | FieldShape::Number => value.is_number().then(|| value.clone()),
            FieldShape::Boolean => value.is_boolean().then(|| value.clone()),
            FieldShape::Datetime => value
                .as_str()
                .and_then(dates::read)
                .map(|micros| dates::write(micros, false).into()),
            FieldShape::Date => value
                .as_str()
                .filter(|text| dates::is_date(text))
                .map(Into::into),
            FieldShape::Enum(values) => value
                .as_str()
                .filter(|text| values.iter().any(|value| value == text))
                .map(Into::into),
            FieldShape::Link => None,
            FieldShape::Texts => return self.texts(value, path, problems),
            FieldShape::Person => {
                let Some(body) = value.as_object() else {
                    problems.push(BodyProblem::field(path, "A person must be an object."));
                    return None;
                };
                return Some(Value::Object(self.nested(
                    fields::fields("person"),
                    body,
                    path,
                    problems,
                )));
            }
            FieldShape::Object(fields) => {
                let Some(body) = value.as_object() else {
                    problems.push(BodyProblem::field(path, "The value must be an object."));
                    return None;
                };
                return Some(Value::Object(self.nested(fields, body, path, problems)));
            }
            FieldShape::Array(item) => {
                let Some(list) = value.as_array() else {
                    problems.push(BodyProblem::field(path, "The value must be a list."));
                    return None;
                };
                let read = list.iter().enumerate().filter_map(|(at, value)| {
                    let path = format!("{path}[{at}]");
                    if value.is_null() {
                        problems.push(BodyProblem::field(&path, "A list must not contain null."));
                        return None;
                    }
                    self.value(item, value, &path, problems)
                });
                return Some(Value::Array(read.collect()));
            }
        };
        if kept.is_none() {
            problems.push(BodyProblem::field(
                path,
                format!(
                    "The value does not have the type of the field, {}.",
                    name(shape)
                ),
            ));
        }
        kept
    }

    /// Reads an object in a field. It is replaced as a whole, so that `null` omits a member.
    fn nested(
        self,
        fields: &[ObjectField],
        body: &Map<String, Value>,
        path: &str,
        problems: &mut Vec<BodyProblem>,
    ) -> Map<String, Value> {
        Reading {
            update: false,
            ..self
        }
        .object(fields, body, path, problems)
    }

    fn texts(self, value: &Value, path: &str, problems: &mut Vec<BodyProblem>) -> Option<Value> {
        let Some(body) = value.as_object() else {
            problems.push(BodyProblem::field(path, "The value must be an object."));
            return None;
        };
        let mut read = Map::new();
        let prefix = &self.options.custom_field_prefix;
        for (key, value) in body {
            match value {
                Value::String(_) => {
                    let key = if key.starts_with(prefix.as_str()) {
                        key.clone()
                    } else {
                        format!("{prefix}{key}")
                    };
                    read.insert(key, value.clone());
                }
                Value::Null => {}
                _ => problems.push(BodyProblem::field(
                    &format!("{path}.{key}"),
                    "The value must be text.",
                )),
            }
        }
        Some(Value::Object(read))
    }
}

/// Returns whether a member of a body is not a field of its kind but has a meaning.
pub(super) fn is_known_anywhere(name: &str) -> bool {
    let known = [
        "_links",
        "_embedded",
        "id",
        "identifiers",
        "created_date",
        "modified_date",
        "person",
        "canvass",
        "canvasser",
    ];
    known.contains(&name) || name == "triggers" || name.starts_with("add_")
}

fn text(value: &Value) -> Option<Value> {
    match value {
        Value::String(_) => Some(value.clone()),
        _ => None,
    }
}

fn integer(value: &Value) -> Option<Value> {
    let number = value.as_number()?;
    if number.is_i64() || number.is_u64() {
        return Some(value.clone());
    }
    let float = number.as_f64()?;
    let whole = format!("{float:.0}").parse::<i64>().ok()?;
    #[expect(
        clippy::cast_precision_loss,
        reason = "a loss of precision makes the comparison fail"
    )]
    let same = (whole as f64).to_bits() == float.to_bits();
    same.then(|| Value::Number(Number::from(whole)))
}

/// Validates the rules that the catalogue gives single fields.
fn adjusted(
    field: &ObjectField,
    value: Value,
    path: &str,
    problems: &mut Vec<BodyProblem>,
) -> Value {
    match (field.row.as_str(), value) {
        (ids::RES_PHONE_NUMBER_03, Value::String(text)) => {
            let digits: String = text
                .chars()
                .filter(|one| !matches!(one, '+' | ' ' | '-' | '.' | '(' | ')'))
                .collect();
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                problems.push(BodyProblem::field(
                    path,
                    "A phone number must consist of digits.",
                ));
            }
            digits.into()
        }
        (ids::RES_PERSON_35, Value::String(text)) => text.trim_start_matches('@').into(),
        (ids::RES_PERSON_16 | ids::RES_PERSON_17, Value::Array(list)) => unique(list).into(),
        (_, value) => value,
    }
}

/// Returns a list without repeated values.
pub(super) fn unique(list: Vec<Value>) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::with_capacity(list.len());
    for value in list {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

/// Reads the foreign identifiers of a body.
///
/// Requirements: TYP-13, TYP-14.
pub(super) fn identifiers(
    body: &Map<String, Value>,
    path: &str,
    problems: &mut Vec<BodyProblem>,
) -> Option<Vec<String>> {
    let value = body.get("identifiers")?;
    if value.is_null() {
        return Some(Vec::new());
    }
    let path = if path.is_empty() {
        "identifiers".to_owned()
    } else {
        format!("{path}.identifiers")
    };
    let Some(list) = value.as_array() else {
        problems.push(BodyProblem::field(&path, "The value must be a list."));
        return None;
    };
    let mut read: Vec<String> = Vec::new();
    for (at, value) in list.iter().enumerate() {
        let parts = value.as_str().and_then(|text| text.split_once(':'));
        match (value.as_str(), parts) {
            (Some(text), Some((system, id))) if !system.is_empty() && !id.is_empty() => {
                if !read.iter().any(|known| known == text) {
                    read.push(text.to_owned());
                }
            }
            _ => problems.push(BodyProblem::field(
                &format!("{path}[{at}]"),
                "An identifier must have the form `<system>:<id>`.",
            )),
        }
    }
    Some(read)
}

/// Validates the rules of a person that involve several fields, such as one primary value of each
/// kind.
///
/// Requirements: RES-person-08, RES-person-09.
pub(super) fn finish_person(person: &mut Map<String, Value>) {
    for list in ["postal_addresses", "email_addresses", "phone_numbers"] {
        let mut seen = false;
        for member in person
            .get_mut(list)
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            let Some(primary) = member.get_mut("primary") else {
                continue;
            };
            let is_primary =
                matches!(primary, Value::Bool(true)) || primary.as_str() == Some("true");
            if is_primary && seen {
                *primary = if primary.is_boolean() {
                    false.into()
                } else {
                    "false".into()
                };
            }
            seen |= is_primary;
        }
    }
    let Some(identity) = person.get("gender_identity").and_then(Value::as_str) else {
        return;
    };
    let words: Vec<String> = identity
        .split(|character: char| !character.is_alphanumeric())
        .map(str::to_lowercase)
        .collect();
    let has = |one: &str| words.iter().any(|word| word == one);
    let gender = match identity {
        "Female" | "Male" => Some(identity),
        _ if person.contains_key("gender") => None,
        _ if has("female") => Some("Female"),
        _ if has("male") => Some("Male"),
        _ => None,
    };
    if let Some(gender) = gender {
        let gender = gender.to_owned();
        person.insert("gender".to_owned(), gender.into());
    }
}

/// Validates the rules of a question.
///
/// Requirements: ERR-35, ERR-36, ERR-40.
pub(super) fn question(question: &Map<String, Value>, problems: &mut Vec<BodyProblem>) {
    let responses = question
        .get("responses")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let kind = question.get("question_type").and_then(Value::as_str);
    if kind == Some("Paragraph") && !responses.is_empty() {
        problems.push(BodyProblem::new(
            "PARAGRAPH_CANNOT_HAVE_RESPONSES",
            "A Paragraph question must not have responses.",
            &["question_type", "responses"],
        ));
    }
    let mut keys: Vec<&str> = Vec::new();
    for (at, response) in responses.iter().enumerate() {
        let name = response.get("name").and_then(Value::as_str).unwrap_or("x");
        if name.is_empty()
            || !name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            let path = format!("responses[{at}].name");
            let mut problem = BodyProblem::new(
                "RESPONSE_NAME_INVALID",
                "The name contains a character that is not allowed.",
                &[&path],
            );
            problem.hint = Some("^[A-Za-z0-9_]+$".to_owned());
            problems.push(problem);
        }
        let Some(key) = response.get("key").and_then(Value::as_str) else {
            continue;
        };
        let path = format!("responses[{at}].key");
        if key.is_empty() || !key.chars().all(char::is_alphanumeric) {
            problems.push(BodyProblem::new(
                "KEY_NOT_ALPHANUMERIC",
                "A key must be alphanumeric.",
                &[&path],
            ));
        }
        if keys.contains(&key) {
            problems.push(BodyProblem::new(
                "KEY_REPEATED",
                "Another response has this key.",
                &[&path],
            ));
        }
        keys.push(key);
    }
}

/// Validates the order of the two dates of an event.
pub(super) fn event(event: &Map<String, Value>, problems: &mut Vec<BodyProblem>) {
    let date = |name: &str| {
        event
            .get(name)
            .and_then(Value::as_str)
            .and_then(dates::read)
    };
    if let (Some(start), Some(end)) = (date("start_date"), date("end_date"))
        && start > end
    {
        problems.push(BodyProblem::new(
            "START_DATE_AFTER_END_DATE",
            "The event must not end before it starts.",
            &["start_date", "end_date"],
        ));
    }
}

/// Returns the name of a type as the specification writes it.
pub(super) fn name(shape: &FieldShape) -> String {
    match shape {
        FieldShape::String => "string".to_owned(),
        FieldShape::Integer => "integer".to_owned(),
        FieldShape::Float => "float".to_owned(),
        FieldShape::Number => "number".to_owned(),
        FieldShape::Boolean => "boolean".to_owned(),
        FieldShape::Datetime => "datetime".to_owned(),
        FieldShape::Date => "date".to_owned(),
        FieldShape::Enum(_) => "enum".to_owned(),
        FieldShape::Flex(_) => "flexenum".to_owned(),
        FieldShape::Reference => "reference".to_owned(),
        FieldShape::Link => "link".to_owned(),
        FieldShape::Texts | FieldShape::Person | FieldShape::Object(_) => "object".to_owned(),
        FieldShape::Array(item) => format!("{}[]", name(item)),
    }
}
