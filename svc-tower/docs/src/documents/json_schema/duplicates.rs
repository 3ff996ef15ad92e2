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
            let mut crowd = Members::default();
            crowd.require("crowd", json!({ "type": "integer", "minimum": 2 }));
            crowd.require("field", evidence());
            let pair = all.pair_members(true, false).into_schema();
            let entry = json!({ "anyOf": [pair, crowd.into_schema()] });
            let relation = all.api.duplicates_relation();
            all.cursor_page(relation, &["self", "first"], &entry)
        })
    }

    /// Returns a reference to a pair.
    pub(in crate::documents) fn duplicate_pair(&mut self) -> Value {
        self.refer("duplicates.pair", |all| {
            all.pair_members(false, true).into_schema()
        })
    }

    /// Returns the members of a pair. A pair on a page is complete. The document of a pair lacks members if
    /// the key may not read people, or if dismissed people are not likely the same person.
    fn pair_members(&mut self, is_complete: bool, is_top: bool) -> Members {
        let people = self.api.dialect().relation(Kind::Person.plural());
        let two =
            |items: Value| json!({ "type": "array", "items": items, "minItems": 2, "maxItems": 2 });
        let mut reason = Members::default();
        reason.require("field", evidence());
        reason.require("weight", json!({ "type": "integer" }));
        let mut links = Members::default();
        links.require("self", self.link());
        if is_top {
            links.require("curies", self.curies());
        }
        links.require(people.clone(), two(self.link()));
        let mut embedded = Members::default();
        embedded.require(people, two(self.kind(Kind::Person, SchemaVariant::Read)));
        let mut pair = Members::default();
        pair.require("dismissed", json!({ "type": "boolean" }));
        pair.require("_links", links.into_schema());
        for (name, schema) in [
            (
                "strength",
                json!({ "type": "string", "enum": ["strong", "weak"] }),
            ),
            ("score", json!({ "type": "integer" })),
            ("reasons", list_of(&reason.into_schema())),
            ("_embedded", embedded.into_schema()),
        ] {
            if is_complete {
                pair.require(name, schema);
            } else {
                pair.insert(name, schema);
            }
        }
        pair
    }

    /// Returns a reference to the body that dismisses a pair.
    pub(in crate::documents) fn duplicate_pair_body(&mut self) -> Value {
        self.refer("duplicates.dismissal", |_| {
            let mut body = Members::default();
            body.require("dismissed", json!({ "type": "boolean" }));
            for name in ["_links", "_embedded"] {
                body.insert(name, json!({ "type": "object" }));
            }
            body.insert("strength", json!({ "type": "string" }));
            body.insert("score", json!({ "type": "integer" }));
            body.insert("reasons", json!({ "type": "array" }));
            let mut schema = body.into_schema();
            set(&mut schema, "additionalProperties", json!(false));
            schema
        })
    }
}

/// Returns the schema of the name of evidence.
fn evidence() -> Value {
    let fields: Vec<&str> = Evidence::ALL.map(Evidence::as_str).into();
    json!({ "type": "string", "enum": fields })
}
