//! JSON Schema (draft 2020-12) of what this server sends and takes, from the tables that validate
//! it.

mod bodies;
mod declaration;
mod documents;
mod place;
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

use super::{is_same, own::EffectiveField};
pub(super) use bodies::helper_needs_body;
pub use documents::json_schema;
pub(super) use place::{record, template};

/// Which of its forms a record or an object is described in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SchemaVariant {
    /// As this server sends it.
    Read,
    /// As a client sends it to create something; `null` counts as absent.
    ///
    /// Requirements: CRU-16.
    Create,
    /// As a client sends it to change something; `null` empties.
    ///
    /// Requirements: CRU-17.
    Update,
}

impl SchemaVariant {
    /// What stands behind the name of a definition.
    const fn suffix(self) -> &'static str {
        match self {
            Self::Read => "",
            Self::Create => ".create",
            Self::Update => ".update",
        }
    }
}

/// The definitions that the schemas of one document need, each made once.
#[derive(Debug)]
pub(super) struct Definitions<'a> {
    pub(super) api: &'a Api,
    pub(super) base: &'a BaseUrl,
    /// Where the document keeps them, such as `#/$defs/`.
    place: &'static str,
    made: BTreeMap<String, Value>,
    /// The nested objects that have a name already, each with what this server has narrower of it.
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

    /// What was made, by name.
    pub(super) fn finish(self) -> Map<String, Value> {
        self.made.into_iter().collect()
    }

    /// A reference to a definition that `make` writes unless it is there.
    fn refer(&mut self, name: &str, make: impl FnOnce(&mut Self) -> Value) -> Value {
        if self.announce(name) {
            let schema = make(self);
            self.made.insert(name.to_owned(), schema);
        }
        json!({ "$ref": format!("{}{name}", self.place) })
    }

    /// Whether this is still to be made. It stands there before it is made, so that an object that
    /// holds itself comes to an end.
    fn announce(&mut self, name: &str) -> bool {
        let is_new = !self.made.contains_key(name);
        if is_new {
            self.made.insert(name.to_owned(), Value::Bool(true));
        }
        is_new
    }

    /// The name of a nested object: that of its table, behind that of its owner where two tables
    /// share one, and with a number where even these are one.
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

    /// A reference to the schema of a nested object.
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

/// The members of an object schema while it is put together.
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

/// Sets a member of a schema that is an object.
fn set(schema: &mut Value, name: &str, value: impl Into<Value>) {
    if let Some(members) = schema.as_object_mut() {
        members.insert(name.to_owned(), value.into());
    }
}
