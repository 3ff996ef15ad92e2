//! The schemas of webhooks (HOOK-01 to HOOK-10).

use serde_json::{Value, json};
use svc_core::{model::Kind, ops::What};

use super::{Definitions, Members, set};

/// Statuses that a webhook can be given.
const GIVEN: [&str; 2] = ["active", "paused"];

fn kinds() -> Value {
    let kinds: Vec<&str> = Kind::ALL.iter().map(|kind| kind.singular()).collect();
    json!({ "type": "array", "minItems": 1, "items": { "type": "string", "enum": kinds } })
}

fn events() -> Value {
    json!({ "type": "array", "minItems": 1, "items": { "type": "string", "enum": What::ALL.map(What::as_str) } })
}

fn url() -> Value {
    json!({ "type": "string", "format": "uri", "maxLength": 2048 })
}

impl Definitions<'_> {
    /// A reference to a webhook; `has_secret` where it is new or has another secret.
    pub(in crate::documents) fn webhook(&mut self, has_secret: bool) -> Value {
        self.refer(if has_secret { "webhook.secret" } else { "webhook" }, |all| {
            let moment = || json!({ "type": ["string", "null"], "format": "date-time" });
            let count = || json!({ "type": "integer", "minimum": 0 });
            let mut webhook = Members::default();
            webhook.require("url", url());
            if has_secret {
                webhook.require("secret", json!({ "type": "string", "pattern": "^whsec_[A-Za-z0-9+/]+=*$" }));
            }
            webhook.require("kinds", kinds());
            webhook.require("events", events());
            webhook.require("status", json!({ "type": "string", "enum": [GIVEN[0], GIVEN[1], "ended"] }));
            webhook.require("is_failing", json!({ "type": "boolean" }));
            for name in ["total_delivered", "total_waiting", "total_given_up"] {
                webhook.require(name, count());
            }
            for name in ["failing_since", "next_attempt", "created_date", "modified_date"] {
                webhook.require(name, moment());
            }
            let mut last = Members::default();
            last.require("at", moment());
            last.require("status", json!({ "type": ["integer", "null"] }));
            last.require("error", json!({ "type": ["string", "null"] }));
            webhook.require("last_attempt", json!({ "anyOf": [last.into_schema(), { "type": "null" }] }));
            webhook.require("cursor", json!({ "type": ["string", "null"] }));
            let mut links = Members::default();
            links.require("self", all.link());
            for name in ["redeliver", "rotate_secret"] {
                links.require(all.api.dialect().relation(name), all.link());
            }
            links.insert("curies", all.curies());
            webhook.require("_links", links.into_schema());
            webhook.into_schema()
        })
    }

    /// A reference to the webhooks of a tenant.
    pub(in crate::documents) fn webhooks(&mut self) -> Value {
        self.refer("webhooks", |all| {
            let relation = all.api.webhooks_relation();
            let mut links = Members::default();
            links.require("self", all.link());
            links.require("curies", all.curies());
            links.require(relation.clone(), json!({ "type": "array", "items": all.link() }));
            let mut embedded = Members::default();
            embedded.require(relation, json!({ "type": "array", "items": all.webhook(false) }));
            let mut page = Members::default();
            page.require("_links", links.into_schema());
            page.require("_embedded", embedded.into_schema());
            page.into_schema()
        })
    }

    /// A reference to what a client sends to make or to change one.
    pub(in crate::documents) fn webhook_body(&mut self, is_new: bool) -> Value {
        self.refer(if is_new { "webhook.create" } else { "webhook.update" }, |_| {
            let mut body = Members::default();
            body.insert("url", url());
            body.insert("kinds", kinds());
            body.insert("events", events());
            body.insert("status", json!({ "type": "string", "enum": GIVEN }));
            body.required.extend(is_new.then(|| "url".to_owned()));
            let mut schema = body.into_schema();
            // What was read may be sent back.
            set(&mut schema, "additionalProperties", json!(!is_new));
            schema
        })
    }

    /// A reference to from where on a webhook sends again.
    pub(in crate::documents) fn redelivery(&mut self) -> Value {
        self.refer("redelivery", |_| {
            let mut body = Members::default();
            body.insert("after", json!({ "type": ["string", "null"], "pattern": "^[A-Za-z0-9_\\-]{1,256}$" }));
            body.into_schema()
        })
    }
}
