//! Bodies of a kind, generated from the fields that it declares.

use std::collections::BTreeMap;

use proptest::prelude::{Just, Strategy};
use proptest::strategy::BoxedStrategy;
use serde_json::{Map, Value, json};
use svc_declaration::DeclaredField;

use super::constraints;
use super::field_value::{ValuePosition, leaf};
use crate::declared::DeclaredApi;
use crate::fields::{self, CheckedField, ValueShape};

/// The variant of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyVariant {
    /// Every field, each with the value of this variant. All variants together contain every listed
    /// value.
    All(usize),
    /// Some of the fields, with any values.
    Some,
}

/// Generates the bodies of a kind.
struct BodyGenerator<'m> {
    declared: &'m DeclaredApi,
    turn: BodyVariant,
    unique: &'m str,
    /// The length of each list of objects at the top level, if it is given.
    length: Option<usize>,
}

/// Returns a valid body of a kind with some of its fields. `None` if none of them is writable.
pub(crate) fn part(
    declared: &DeclaredApi,
    one: &str,
    names: &[&str],
    unique: &str,
) -> Option<BoxedStrategy<Value>> {
    let maker = BodyGenerator {
        declared,
        turn: BodyVariant::Some,
        unique,
        length: None,
    };
    let mut fields = declared.fields(one)?.clone();
    fields.retain(|name, _| names.contains(&name.as_str()));
    // A requested field is always sent.
    for field in fields.values_mut() {
        field.required = true;
    }
    let one = one.to_owned();
    let whole = maker.object(&fields, &one, "", "", 0)?;
    Some(
        whole
            .prop_map(move |body| consistent(&one, BodyVariant::Some, body))
            .boxed(),
    )
}

/// Returns a valid body of a kind. `None` if the kind has no writable field.
pub(crate) fn body(
    declared: &DeclaredApi,
    one: &str,
    turn: BodyVariant,
    unique: &str,
) -> Option<BoxedStrategy<Value>> {
    let maker = BodyGenerator {
        declared,
        turn,
        unique,
        length: None,
    };
    let fields = declared.fields(one)?;
    let one = one.to_owned();
    let whole = maker.object(fields, &one, "", "", 0)?;
    Some(
        whole
            .prop_map(move |body| consistent(&one, turn, body))
            .boxed(),
    )
}

/// Returns a list of a kind with one entry more than declared. `None` if there is no maximum, or such
/// a list cannot be generated.
///
/// Requirements: CAP-04.
pub(super) fn overlong(
    declared: &DeclaredApi,
    one: &str,
    name: &str,
    unique: &str,
) -> Option<BoxedStrategy<Value>> {
    let field = declared.fields(one)?.get(name)?;
    let length = constraints::max_items(field).checked_add(1)?;
    if length > MOST_ENTRIES || (one, name) == ("attendance", "tickets") {
        return None;
    }
    let maker = BodyGenerator {
        declared,
        turn: BodyVariant::All(0),
        unique,
        length: Some(length),
    };
    let mut field = field.clone();
    field.max_items = None;
    let list = maker.field(name, &field, one, "", "", 0)?;
    let shortened = list.prop_map(move |list| match list {
        Value::Array(list) => list.into_iter().take(length).collect(),
        other => other,
    });
    Some(shortened.boxed())
}

/// The maximum length of a list that is generated to be too long.
const MOST_ENTRIES: usize = 50;

impl BodyGenerator<'_> {
    /// Generates an object. `owner` is the resource or shared object of the catalogue, and `path`
    /// is the path of the object in it.
    fn object(
        &self,
        fields: &BTreeMap<String, DeclaredField>,
        owner: &str,
        path: &str,
        inside: &str,
        at: usize,
    ) -> Option<BoxedStrategy<Value>> {
        let members = fields
            .iter()
            .filter(|(_, field)| field.writable && !field.computed);
        let mut strategies: Vec<BoxedStrategy<Option<(String, Value)>>> = Vec::new();
        for (name, field) in members {
            let Some(value) = self.field(name, field, owner, path, inside, at) else {
                continue;
            };
            let name = name.clone();
            let value = value.prop_map(move |value| Some((name.clone(), value)));
            strategies.push(match self.turn {
                BodyVariant::All(_) => value.boxed(),
                BodyVariant::Some if field.required => value.boxed(),
                // At the top level, one member in three is sent, below it every second one.
                BodyVariant::Some if path.is_empty() => {
                    proptest::prop_oneof![2 => Just(None), 1 => value].boxed()
                }
                BodyVariant::Some => proptest::prop_oneof![1 => Just(None), 1 => value].boxed(),
            });
        }
        if strategies.is_empty() {
            return None;
        }
        let whole = strategies.prop_map(|members| {
            Value::Object(members.into_iter().flatten().collect::<Map<_, _>>())
        });
        Some(whole.boxed())
    }

    fn field(
        &self,
        wire: &str,
        field: &DeclaredField,
        owner: &str,
        path: &str,
        inside: &str,
        at: usize,
    ) -> Option<BoxedStrategy<Value>> {
        let name = neutral(self.declared, wire);
        let known = fields::find(owner, &format!("{path}{name}"));
        let shape = shape(field, known);
        let turn = match self.turn {
            BodyVariant::All(turn) => Some(turn),
            BodyVariant::Some => None,
        };
        if shape == ValueShape::Reference || (owner == "canvass" && name == "question_response") {
            // Needs records that exist. The checks of canvasses send it.
            return None;
        }
        // A person in a ticket is stored as sent. The checks of people check its fields.
        let inline = owner == "attendance" && name == "person";
        let Some(inner) = field.fields.as_ref().filter(|_| !inline) else {
            if matches!(shape, ValueShape::Object) {
                return Some(self.free(name));
            }
            let place = ValuePosition {
                owner,
                name,
                inside,
                at,
                turn,
                unique: self.unique,
            };
            let (any, field) = (
                leaf(place, shape, &constraints::values(field, known, shape)),
                field.clone(),
            );
            return Some(
                any.prop_map(move |value| constraints::fit(&field, value))
                    .boxed(),
            );
        };
        // In a shared object, paths start again.
        let (owner, path) = match fields::shared(name) {
            Some(shared) => (shared, String::new()),
            None if field.kind.ends_with("[]") && !field.kind.contains(" or ") => {
                (owner, format!("{path}{name}[]."))
            }
            None => (owner, format!("{path}{name}.")),
        };
        if !matches!(shape, ValueShape::Objects | ValueShape::OneOrMany) {
            return self.object(inner, owner, &path, name, 0);
        }
        // Many, two, none, one.
        let most = constraints::max_items(field);
        let lengths = [5, 2, 0, 1].map(|length: usize| length.min(most));
        let list = |length: usize| -> Option<BoxedStrategy<Value>> {
            let element = |at| self.object(inner, owner, &path, name, at);
            let elements: Option<Vec<_>> = (0..length).map(element).collect();
            let inner = inner.clone();
            let whole =
                elements?.prop_map(move |entries| constraints::fit_entries(&inner, entries));
            Some(whole.boxed())
        };
        if let Some(length) = self.length.filter(|_| inside.is_empty()) {
            list(length)
        } else if let Some(turn) = turn {
            list(lengths.get(turn % 4).copied().unwrap_or_default())
        } else {
            let some: Vec<_> = lengths.iter().filter_map(|length| list(*length)).collect();
            Some(proptest::strategy::Union::new(some).boxed())
        }
    }

    /// Generates an object with keys chosen by the client, or without declared members.
    ///
    /// Requirements: RES-person-36.
    fn free(&self, name: &str) -> BoxedStrategy<Value> {
        match name {
            "custom_fields" => {
                Just(json!({"Shoe size": "42", "\u{fc}": "a & b", self.unique: "x  y"})).boxed()
            }
            // An embedded person with at least a name.
            // Requirements: RES-attendance-14.
            "person" => Just(json!({"given_name": "Holder", "family_name": self.unique})).boxed(),
            _ => Just(json!({})).boxed(),
        }
    }
}

/// Returns the name of a field in the catalogue for its name in messages.
fn neutral<'n>(declared: &DeclaredApi, wire: &'n str) -> &'n str {
    let dialect = &declared.text.dialect;
    if wire == dialect.network_a_share {
        "network_a_share"
    } else if wire == dialect.network_b_share {
        "network_b_share"
    } else {
        wire
    }
}

/// Returns the shape of a field: that of the catalogue, or that of the declaration if the field is
/// not in the catalogue.
fn shape(field: &DeclaredField, known: Option<&CheckedField>) -> ValueShape {
    if let Some(known) = known {
        let is_closed = known.shape == ValueShape::Flexible && field.kind == "enum";
        return if is_closed {
            ValueShape::Enum
        } else {
            known.shape
        };
    }
    match field.kind.as_str() {
        "integer" => ValueShape::Integer,
        "float" => ValueShape::Float,
        "number" => ValueShape::Number,
        "boolean" => ValueShape::Boolean,
        "datetime" => ValueShape::Time,
        "date" => ValueShape::Date,
        "enum" => ValueShape::Enum,
        "flexenum" => ValueShape::Flexible,
        "object" => ValueShape::Object,
        "reference" => ValueShape::Reference,
        "string[]" => ValueShape::Texts,
        other if other.contains(" or ") && other.ends_with("[]") => ValueShape::OneOrMany,
        other if other.ends_with("[]") => ValueShape::Objects,
        _ => ValueShape::Text,
    }
}

/// Removes objects without members, which show nothing.
fn prune(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.values_mut().for_each(prune);
            members.retain(|_, value| value.as_object().is_none_or(|inner| !inner.is_empty()));
        }
        Value::Array(list) => {
            list.iter_mut().for_each(prune);
            list.retain(|value| value.as_object().is_none_or(|inner| !inner.is_empty()));
        }
        _ => {}
    }
}

/// Returns the same body without what rules between fields forbid.
fn consistent(one: &str, turn: BodyVariant, mut body: Value) -> Value {
    prune(&mut body);
    let Some(members) = body.as_object_mut() else {
        return body;
    };
    match one {
        "person"
            // Either may be derived from the other. Only one of them is judged here.
            // Requirements: RES-person-08, RES-person-09.
            if members.contains_key("gender") && members.contains_key("gender_identity") => {
                let at = if let BodyVariant::All(turn) = turn { turn } else { members.len() };
                let drop = if at.is_multiple_of(2) { "gender" } else { "gender_identity" };
                members.remove(drop);
            }
        "question" => match members.get("question_type").and_then(Value::as_str) {
            Some("Paragraph") => drop(members.remove("responses")),
            // The other types may need responses, each with its key.
            Some(_) => {
                let responses = members.entry("responses").or_insert_with(|| json!([]));
                if responses.as_array().is_some_and(Vec::is_empty) {
                    *responses = json!([{}]);
                }
                let responses = responses.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut);
                for (at, response) in responses.enumerate() {
                    response.entry("key").or_insert_with(|| json!(format!("k{at}")));
                }
            }
            None => {}
        },
        "event" => {
            let levels = members.get("ticket_levels").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
            if levels {
                members.insert("type".to_owned(), json!("ticketed"));
                titled(members, "ticket_levels");
            }
        }
        "donation"
            if members.get("voided").is_none_or(|voided| voided != true) => {
                members.remove("voided_date");
            }
        "attendance" => {
            let tickets = members.get("tickets").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
            if tickets {
                // On a ticketed event, the tickets contain it.
                // Requirements: RES-attendance-05.
                members.remove("attended");
                within_levels(members);
            } else {
                members.remove("tickets");
            }
        }
        _ => {}
    }
    body
}

/// Gives levels different titles.
fn titled(members: &mut Map<String, Value>, list: &str) {
    for (at, level) in members
        .get_mut(list)
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .enumerate()
    {
        if let Some(level) = level.as_object_mut() {
            level.insert("title".to_owned(), json!(format!("Level {at}")));
        }
    }
}

/// Assigns tickets to a level of the event, with the price of the level.
fn within_levels(members: &mut Map<String, Value>) {
    for (at, ticket) in members
        .get_mut("tickets")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .enumerate()
    {
        if let Some(ticket) = ticket.as_object_mut() {
            ticket.insert(
                "title".to_owned(),
                json!(if at == 0 { "Standard" } else { "Balcony" }),
            );
        }
    }
}

/// A value of a body with the requirement of its field.
#[derive(Debug, Clone)]
pub(crate) struct FieldValue<'v> {
    pub(crate) field: &'static CheckedField,
    /// Its path in the body, for messages.
    pub(crate) place: String,
    /// Its path as names and positions.
    pub(crate) way: Vec<JsonPathStep>,
    pub(crate) sent: &'v Value,
}

/// One step into a representation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JsonPathStep {
    Name(String),
    At(usize),
}

impl FieldValue<'_> {
    /// Returns the value at the same path of another representation.
    pub(crate) fn in_another<'v>(&self, json: &'v Value) -> Option<&'v Value> {
        follow(&self.way, json)
    }

    /// Whether another representation has the object or the list that contains this value.
    pub(crate) fn has_place_in(&self, json: &Value) -> bool {
        self.way
            .split_last()
            .is_none_or(|(_, above)| follow(above, json).is_some_and(|value| !value.is_null()))
    }
}

fn follow<'v>(way: &[JsonPathStep], json: &'v Value) -> Option<&'v Value> {
    way.iter().try_fold(json, |at, step| match step {
        JsonPathStep::Name(name) => at.get(name),
        JsonPathStep::At(index) => at.get(index),
    })
}

/// Returns every value of a body whose field is in the catalogue, outer values before inner ones.
pub(crate) fn described_values<'v>(
    declared: &DeclaredApi,
    one: &str,
    body: &'v Value,
) -> Vec<FieldValue<'v>> {
    let mut out = Vec::new();
    walk(declared, one, "", body, &[], &mut out);
    out
}

fn walk<'v>(
    declared: &DeclaredApi,
    owner: &str,
    path: &str,
    object: &'v Value,
    way: &[JsonPathStep],
    out: &mut Vec<FieldValue<'v>>,
) {
    for (wire, value) in object.as_object().into_iter().flatten() {
        let name = neutral(declared, wire);
        let stands = format!("{path}{name}");
        let mut way = way.to_vec();
        way.push(JsonPathStep::Name(wire.clone()));
        if let Some(field) = fields::find(owner, &stands) {
            let place = way.iter().map(|step| match step {
                JsonPathStep::Name(name) => format!(".{name}"),
                JsonPathStep::At(at) => format!("[{at}]"),
            });
            let place = place.collect::<String>().trim_start_matches('.').to_owned();
            out.push(FieldValue {
                field,
                place,
                way: way.clone(),
                sent: value,
            });
        }
        let shared = fields::shared(name);
        let inner = |array: &str| match shared {
            Some(shared) => (shared.to_owned(), String::new()),
            None => (owner.to_owned(), format!("{stands}{array}.")),
        };
        match value {
            Value::Object(_) => {
                let (owner, path) = inner("");
                walk(declared, &owner, &path, value, &way, out);
            }
            Value::Array(list) => {
                let (owner, path) = inner("[]");
                for (at, element) in list.iter().enumerate() {
                    let mut way = way.clone();
                    way.push(JsonPathStep::At(at));
                    walk(declared, &owner, &path, element, &way, out);
                }
            }
            _ => {}
        }
    }
}
