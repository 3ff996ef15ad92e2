//! The schemas of people who may be the same person.
//!
//! Requirements: DUP-02, DUP-06.

use serde_json::{Value, json};
use svc_core::{duplicates::Evidence, model::Kind};

use super::{Definitions, Members, SchemaVariant, list_of, set};

impl Definitions<'_> {
    /// Returns a reference to a page of pairs.
    pub(in crate::documents) fn duplicates(&mut self) -> Value {
        self.refer("duplicates.page", |all| {
            let fields: Vec<&str> = Evidence::ALL.map(Evidence::as_str).into();
            let field = json!({ "type": "string", "enum": fields });
            let mut crowd = Members::default();
            crowd.require("crowd", json!({ "type": "integer", "minimum": 2 }));
            crowd.require("field", field.clone());
            let mut reason = Members::default();
            reason.require("field", field);
            reason.require("weight", json!({ "type": "integer" }));
            let people = all.api.dialect().relation(Kind::Person.plural());
            let person = all.kind(Kind::Person, SchemaVariant::Read);
            let two = |items: Value| json!({ "type": "array", "items": items, "minItems": 2, "maxItems": 2 });
            let mut embedded = Members::default();
            embedded.require(people.clone(), two(person));
            let mut pair_links = Members::default();
            pair_links.require("self", all.link());
            pair_links.require(people, two(all.link()));
            let mut pair = Members::default();
            pair.require("strength", json!({ "type": "string", "enum": ["strong", "weak"] }));
            pair.require("score", json!({ "type": "integer" }));
            pair.require("reasons", list_of(&reason.into_schema()));
            pair.require("_links", pair_links.into_schema());
            pair.require("_embedded", embedded.into_schema());
            let entry = json!({ "anyOf": [pair.into_schema(), crowd.into_schema()] });
            let relation = all.api.duplicates_relation();
            all.cursor_page(relation, &["self", "first"], &entry)
        })
    }

    /// Returns a reference to a pair without its people.
    pub(in crate::documents) fn duplicate_pair(&mut self) -> Value {
        self.refer("duplicates.pair", |all| {
            let mut pair = Members::default();
            pair.require("dismissed", json!({ "type": "boolean" }));
            let people = all.api.dialect().relation(Kind::Person.plural());
            let mut links = Members::default();
            links.require("self", all.link());
            links.require("curies", all.curies());
            links.require(people, list_of(&all.link()));
            pair.require("_links", links.into_schema());
            pair.into_schema()
        })
    }

    /// Returns a reference to the body that dismisses a pair.
    pub(in crate::documents) fn duplicate_pair_body(&mut self) -> Value {
        self.refer("duplicates.dismissal", |_| {
            let mut body = Members::default();
            body.require("dismissed", json!({ "type": "boolean" }));
            body.insert("_links", json!({ "type": "object" }));
            let mut schema = body.into_schema();
            set(&mut schema, "additionalProperties", json!(false));
            schema
        })
    }
}
