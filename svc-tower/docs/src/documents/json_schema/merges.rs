//! The schemas of merges of two people.
//!
//! Requirements: MRG-02.

use serde_json::{Value, json};
use svc_core::model::Kind;

use super::{Definitions, Members, SchemaVariant, addresses::address_of, list_of, values};

/// The name of the body, as the relation of the operation.
const BODY: &str = "merge_helper";

impl Definitions<'_> {
    /// Returns a reference to the body of a merge: the person to merge, and how.
    pub(in crate::documents) fn merge_body(&mut self) -> Value {
        self.refer(BODY, |all| {
            let mut links = Members::default();
            let person = address_of(all.api, all.base, Kind::Person);
            let relation = all.api.dialect().relation(Kind::Person.singular());
            links.require(relation, values::href(&person));
            let mut body = Members::default();
            body.require("_links", links.into_schema());
            if all.api.if_match_policy().is_some() {
                let text = "The `ETag` of the person to merge, with or without its quotes: 412 if that person has changed since.";
                body.insert(
                    "merged_etag",
                    json!({ "type": ["string", "null"], "minLength": 1, "description": text }),
                );
            }
            let fields = all.kind(Kind::Person, SchemaVariant::Update);
            body.insert("person", values::or_null(fields));
            let text = "`strictest`: if one address of either person is unsubscribed or has complained, every subscribed one becomes unsubscribed.";
            body.insert(
                "consent",
                json!({ "enum": ["each", "strictest", null], "default": "each", "description": text }),
            );
            let text = "Whether the response shows the result and nothing is changed.";
            body.insert(
                "preview",
                json!({ "type": ["boolean", "null"], "default": false, "description": text }),
            );
            body.into_schema()
        })
    }

    /// Returns the schema of the response: the remaining person, with what the merge changed.
    pub(in crate::documents) fn merge_result(&mut self) -> Value {
        let relation = self.api.dialect().relation("merge");
        let person = self.kind(Kind::Person, SchemaVariant::Read);
        let member = self.refer("merge", |all| {
            let flag = || json!({ "type": "boolean" });
            let mut merge = Members::default();
            merge.require("preview", flag());
            merge.require("already", flag());
            let count = json!({ "type": "integer", "minimum": 1 });
            merge.require(
                "moved",
                json!({ "type": "object", "additionalProperties": count }),
            );
            let mut pair = Members::default();
            pair.require("kind", json!({ "type": "string" }));
            pair.require("_links", all.links_of(&["remaining", "merged"]));
            merge.require("folded", list_of(&pair.into_schema()));
            for (name, values) in [
                ("overruled", ["remaining", "merged"]),
                ("tightened", ["from", "to"]),
            ] {
                let mut entry = Members::default();
                entry.require("property", json!({ "type": "string" }));
                for value in values {
                    entry.require(value, json!(true));
                }
                merge.require(name, list_of(&entry.into_schema()));
            }
            merge.require("_links", all.links_of(&["merged"]));
            merge.into_schema()
        });
        let with_member =
            json!({ "type": "object", "required": [relation], "properties": { relation: member } });
        json!({ "allOf": [person, with_member] })
    }

    /// Returns the schema of an object with these links.
    fn links_of(&mut self, names: &[&str]) -> Value {
        let mut links = Members::default();
        for name in names {
            links.require(self.api.dialect().relation(name), self.link());
        }
        links.into_schema()
    }
}
