//! JSON Schemas (draft 2020-12) of what this server returns and accepts, generated from the tables
//! that validate it.

mod addresses;
mod bodies;
mod declaration;
mod documents;
mod duplicates;
mod merges;
mod values;
mod webhooks;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use svc_core::{
    api::Api,
    context::BaseUrl,
    model::Kind,
    schema::{Constraints, ObjectSchema},
};

use super::{effective_field::EffectiveField, is_same};
pub(super) use addresses::{record, template};
pub(super) use bodies::helper_needs_body;
pub use documents::json_schema;

/// The variants of a record or an object that are described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SchemaVariant {
    /// As this server returns it.
    Read,
    /// As a client sends it to create a record; `null` counts as absent.
    ///
    /// Requirements: CRU-16.
    Create,
    /// As a client sends it to change a record; `null` clears a field.
    ///
    /// Requirements: CRU-17.
    Update,
}

impl SchemaVariant {
    /// Returns the suffix of the name of a definition.
    const fn suffix(self) -> &'static str {
        match self {
            Self::Read => "",
            Self::Create => ".create",
            Self::Update => ".update",
        }
    }
}

/// The definitions that the schemas of one document need, each created once.
#[derive(Debug)]
pub(super) struct Definitions<'a> {
    pub(super) api: &'a Api,
    pub(super) base: &'a BaseUrl,
    /// The pointer to the definitions in the document, such as `#/$defs/`.
    place: &'static str,
    made: BTreeMap<String, Value>,
    /// The nested objects that already have a name, each with the constraints of this server.
    named: Vec<(String, &'static ObjectSchema, Option<&'a Constraints>)>,
}

impl<'a> Definitions<'a> {
    pub(super) fn new(api: &'a Api, base: &'a BaseUrl, place: &'static str) -> Self {
        Self {
            api,
            base,
            place,
            made: BTreeMap::new(),
            named: Vec::new(),
        }
    }

    /// Returns the definitions by name.
    pub(super) fn finish(self) -> Map<String, Value> {
        self.made.into_iter().collect()
    }

    /// Returns a reference to a definition, which `make` creates unless it exists.
    fn refer(&mut self, name: &str, make: impl FnOnce(&mut Self) -> Value) -> Value {
        if self.announce(name) {
            let schema = make(self);
            self.made.insert(name.to_owned(), schema);
        }
        json!({ "$ref": format!("{}{name}", self.place) })
    }

    /// Reserves the name of a definition, and returns whether it must be created. The name is
    /// reserved first, so that the recursion ends for an object that contains itself.
    fn announce(&mut self, name: &str) -> bool {
        let is_new = !self.made.contains_key(name);
        if is_new {
            self.made.insert(name.to_owned(), Value::Bool(true));
        }
        is_new
    }

    /// Returns the name of a nested object: that of its schema. The name of the owner is prepended
    /// if two schemas share the name, and a number is added if that is not unique either.
    fn name_of(
        &mut self,
        schema: &'static ObjectSchema,
        narrowing: Option<&'a Constraints>,
        owner: &str,
    ) -> String {
        let is_it = |known: &ObjectSchema, other: Option<&Constraints>| {
            is_same(known, schema) && other == narrowing
        };
        if let Some((name, ..)) = self
            .named
            .iter()
            .find(|(_, known, other)| is_it(known, *other))
        {
            return name.clone();
        }
        let is_free = |name: &String| {
            Kind::ALL.iter().all(|kind| kind.singular() != name)
                && self.named.iter().all(|(known, ..)| known != name)
        };
        let behind = format!("{owner}.{}", schema.name);
        let numbered = (2..).map(|number: u32| format!("{behind}.{number}"));
        let name = [schema.name.to_owned(), behind.clone()]
            .into_iter()
            .chain(numbered)
            .find(is_free)
            .unwrap_or_default();
        self.named.push((name.clone(), schema, narrowing));
        name
    }

    /// Returns a reference to the schema of a nested object.
    fn object(
        &mut self,
        schema: &'static ObjectSchema,
        narrowing: Option<&'a Constraints>,
        form: SchemaVariant,
        owner: &str,
    ) -> Value {
        let name = self.name_of(schema, narrowing, owner);
        self.refer(&format!("{name}{}", form.suffix()), |all| {
            let is_in = |own: &EffectiveField<'_>| {
                if form == SchemaVariant::Read {
                    own.is_readable()
                } else {
                    own.is_writable()
                }
            };
            let fields: Vec<_> = EffectiveField::in_table(schema, narrowing)
                .filter(is_in)
                .collect();
            let mut object = Members::default();
            all.fields(&mut object, &fields, form, schema.name);
            object.into_schema()
        })
    }

    /// Adds fields to an object.
    fn fields(
        &mut self,
        object: &mut Members,
        fields: &[EffectiveField<'a>],
        form: SchemaVariant,
        owner: &str,
    ) {
        for own in fields {
            let wire = self
                .api
                .dialect()
                .share_names()
                .to_wire(own.field.name)
                .to_owned();
            if form == SchemaVariant::Create && own.is_required() {
                object.required.push(wire.clone());
            }
            let schema = self.field(*own, form, owner);
            object.properties.insert(wire, schema);
        }
    }
}

/// The members of an object schema under construction.
#[derive(Debug, Default)]
struct Members {
    properties: Map<String, Value>,
    required: Vec<String>,
}

impl Members {
    fn insert(&mut self, name: impl Into<String>, schema: Value) {
        self.properties.insert(name.into(), schema);
    }

    fn require(&mut self, name: impl Into<String>, schema: Value) {
        let name = name.into();
        self.required.push(name.clone());
        self.properties.insert(name, schema);
    }

    fn into_schema(self) -> Value {
        let mut schema = json!({ "type": "object", "properties": self.properties });
        if !self.required.is_empty() {
            set(&mut schema, "required", self.required);
        }
        schema
    }
}

/// Returns the schema of a list.
fn list_of(items: &Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// Sets a member of a schema that is an object.
fn set(schema: &mut Value, name: &str, value: impl Into<Value>) {
    if let Some(members) = schema.as_object_mut() {
        members.insert(name.to_owned(), value.into());
    }
}
