//! The schemas of merges of two people.
//!
//! Requirements: MRG-02, MRG-20.

use serde_json::{Value, json};
use svc_core::model::Kind;

use super::{Definitions, Members, SchemaVariant, addresses::address_of, list_of, set, values};

/// The name of the body, as the relation of the operation.
const BODY: &str = "merge_helper";
/// The relation of the URL that undoes a merge.
const UNDO: &str = "undo_merge_helper";

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
            if all.api.previews_merges() {
                let text = "Whether the response shows the result and nothing is changed.";
                body.insert(
                    "preview",
                    json!({ "type": ["boolean", "null"], "default": false, "description": text }),
                );
            }
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
            all.merged_records(&mut merge);
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
            let mut links = all.link_members(&["merged"]);
            if all.api.undo_period().is_some() {
                // A preview and a repeated merge lack them.
                merge.insert("undo_until", date_time());
                links.insert(all.api.dialect().relation(UNDO), all.link());
            }
            merge.require("_links", links.into_schema());
            merge.into_schema()
        });
        with_member(&person, &relation, &member)
    }

    /// Returns a reference to the list of the merges into a person.
    pub(in crate::documents) fn merges(&mut self) -> Value {
        self.refer("merges", |all| {
            let mut merge = Members::default();
            merge.require("created_date", date_time());
            merge.require("created_by", json!({ "type": ["string", "null"] }));
            merge.require("undo_until", date_time());
            let mut links = all.link_members(&["merged"]);
            links.insert(all.api.dialect().relation(UNDO), all.link());
            merge.require("_links", links.into_schema());
            let mut embedded = Members::default();
            let relation = all.api.dialect().relation("merges");
            embedded.require(relation, list_of(&merge.into_schema()));
            let mut links = Members::default();
            links.require("self", all.link());
            links.require("curies", all.curies());
            let mut page = Members::default();
            page.require("_links", links.into_schema());
            page.require("_embedded", embedded.into_schema());
            page.into_schema()
        })
    }

    /// Returns a reference to the body that undoes a merge: an empty object.
    pub(in crate::documents) fn undo_merge_body(&mut self) -> Value {
        self.refer(UNDO, |_| Members::default().into_schema())
    }

    /// Returns the schema of the response to an undone merge: the remaining person, with what was undone.
    pub(in crate::documents) fn undone_merge(&mut self) -> Value {
        let relation = self.api.dialect().relation("undone_merge");
        let person = self.kind(Kind::Person, SchemaVariant::Read);
        let member = self.refer("undone_merge", |all| {
            let mut undone = Members::default();
            all.merged_records(&mut undone);
            let text = "The properties that were changed after the merge, and stay as they are.";
            let mut left = list_of(&json!({ "type": "string" }));
            set(&mut left, "description", text);
            undone.require("left", left);
            undone.require("_links", all.link_members(&["restored"]).into_schema());
            undone.into_schema()
        });
        with_member(&person, &relation, &member)
    }

    /// Adds the numbers of moved records, and the pairs of folded records.
    fn merged_records(&mut self, members: &mut Members) {
        let count = json!({ "type": "integer", "minimum": 1 });
        let counts = json!({ "type": "object", "additionalProperties": count });
        members.require("moved", counts);
        let mut pair = Members::default();
        pair.require("kind", json!({ "type": "string" }));
        let links = self.link_members(&["remaining", "merged"]);
        pair.require("_links", links.into_schema());
        members.require("folded", list_of(&pair.into_schema()));
    }

    /// Returns these links as required members.
    fn link_members(&mut self, names: &[&str]) -> Members {
        let mut links = Members::default();
        for name in names {
            links.require(self.api.dialect().relation(name), self.link());
        }
        links
    }
}

/// Returns the schema of a person with a further member.
fn with_member(person: &Value, relation: &str, member: &Value) -> Value {
    let with_member =
        json!({ "type": "object", "required": [relation], "properties": { relation: member } });
    json!({ "allOf": [person, with_member] })
}

fn date_time() -> Value {
    json!({ "type": "string", "format": "date-time" })
}
