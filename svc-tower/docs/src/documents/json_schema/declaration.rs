//! The schema of the capability document.
//!
//! Requirements: UND-40.

use serde_json::{Map, Value, json};
use svc_core::auth::Operation;

use super::{Definitions, Members, documents::CAPABILITIES};

impl Definitions<'_> {
    /// Returns a reference to the capability document.
    ///
    /// Requirements: UND-40.
    pub(in crate::documents) fn capabilities(&mut self) -> Value {
        self.refer(CAPABILITIES, |all| {
            let text = || json!({ "type": "string" });
            let texts =
                || json!({ "type": "array", "items": { "type": "string" }, "uniqueItems": true });
            let address = || json!({ "type": "string", "format": "uri" });
            let flag = || json!({ "type": "boolean" });
            let field = all.refer("field", |all| {
                let mut field = Members::default();
                field.require("type", text());
                for name in ["readable", "writable", "computed", "required"] {
                    field.require(name, flag());
                }
                field.insert("values", texts());
                field.insert("default", text());
                field.insert("minimum", text());
                field.insert("maximum", text());
                for name in ["max_length", "max_items"] {
                    field.insert(name, json!({ "type": "integer", "minimum": 1 }));
                }
                let dependent = ["same", "distinct", "first"];
                field.insert("in_entries", json!({ "type": "string", "enum": dependent }));
                let inner = json!({ "$ref": format!("{}field", all.place) });
                field.insert("fields", by_name(&inner));
                field.into_schema()
            });
            let mut collection = Members::default();
            collection.require("singular", text());
            let operations: Vec<&str> = Operation::ALL
                .iter()
                .map(|operation| operation.as_str())
                .collect();
            let operation = json!({ "type": "string", "enum": operations });
            collection.require(
                "operations",
                json!({ "type": "array", "items": operation, "uniqueItems": true }),
            );
            collection.require("sub", texts());
            collection.require("fields", by_name(&field));
            collection.require("links", texts());
            collection.insert("href", address());
            for name in ["filter", "order"] {
                collection.insert(name, texts());
            }
            let mut helper = Members::default();
            helper.require("relation", text());
            helper.require("anonymous", flag());
            let mut about = Members::default();
            about.require(
                "declaration_version",
                json!({ "type": "integer", "enum": [1] }),
            );
            for name in [
                "interface_version",
                "base_url",
                "namespace",
                "custom_field_prefix",
            ] {
                about.require(name, text());
            }
            about.insert("person_matching", json!({ "type": ["string", "null"] }));
            about.require(
                "dialect",
                members(
                    &[
                        "prefix",
                        "key_header",
                        "version_field",
                        "network_a_share",
                        "network_b_share",
                    ],
                    &text(),
                ),
            );
            about.require(
                "response_style",
                json!({ "type": "string", "enum": ["table", "examples"] }),
            );
            about.require(
                "limits",
                members(
                    &["max_pagesize", "per_page"],
                    &json!({ "type": "integer", "minimum": 1 }),
                ),
            );
            about.require("authentication", members(&["required"], &flag()));
            let entry_point = members(&["fields", "links"], &texts());
            about.insert(
                "entry_point",
                json!({ "anyOf": [entry_point, { "type": "null" }] }),
            );
            about.require("collections", by_name(&collection.into_schema()));
            about.require("helpers", by_name(&helper.into_schema()));
            about.insert("openapi", address());
            about.insert("schemas", by_name(&address()));
            about.insert("_links", by_name(&members(&["href"], &address())));
            about.require("action_functions", texts());
            about.require("behaviours", texts());
            about.into_schema()
        })
    }
}

/// Returns an object with these members, all of the same type.
fn members(names: &[&str], schema: &Value) -> Value {
    let properties: Map<String, Value> = names
        .iter()
        .map(|name| ((*name).to_owned(), schema.clone()))
        .collect();
    json!({ "type": "object", "required": names, "properties": properties })
}

/// Returns an object with free keys.
fn by_name(schema: &Value) -> Value {
    json!({ "type": "object", "additionalProperties": schema })
}
