//! The schemas of webhooks.
//!
//! Requirements: HOOK-01 to HOOK-10.

use serde_json::{Value, json};
use svc_core::{backend::EventType, model::Kind};

use super::{Definitions, Members, set};

/// The statuses that a client can set.
const GIVEN: [&str; 2] = ["active", "paused"];
/// The statuses that a webhook can have.
const STATUSES: [&str; 4] = ["active", "paused", "ended", "disabled"];

fn kinds() -> Value {
    let kinds: Vec<&str> = Kind::ALL.iter().map(|kind| kind.singular()).collect();
    json!({ "type": "array", "minItems": 1, "items": { "type": "string", "enum": kinds } })
}

fn events() -> Value {
    json!({ "type": "array", "minItems": 1, "items": { "type": "string", "enum": EventType::ALL.map(EventType::as_str) } })
}

fn url() -> Value {
    json!({ "type": "string", "format": "uri", "maxLength": 2048 })
}

impl Definitions<'_> {
    /// Returns a reference to a webhook; `has_secret` if the response contains a new secret.
    pub(in crate::documents) fn webhook(&mut self, has_secret: bool) -> Value {
        let name = if has_secret {
            "webhook.secret"
        } else {
            "webhook"
        };
        self.refer(name, |all| {
            all.members_of_a_webhook(has_secret).into_schema()
        })
    }

    fn members_of_a_webhook(&mut self, has_secret: bool) -> Members {
        let all = self;
        let moment = || json!({ "type": ["string", "null"], "format": "date-time" });
        let count = || json!({ "type": "integer", "minimum": 0 });
        let mut webhook = Members::default();
        webhook.require("url", url());
        if has_secret {
            webhook.require(
                "secret",
                json!({ "type": "string", "pattern": "^whsec_[A-Za-z0-9+/]+=*$" }),
            );
        }
        webhook.require("kinds", kinds());
        webhook.require("events", events());
        webhook.require("status", json!({ "type": "string", "enum": STATUSES }));
        webhook.require("is_failing", json!({ "type": "boolean" }));
        for name in ["total_delivered", "total_waiting", "total_given_up"] {
            webhook.require(name, count());
        }
        for name in [
            "failing_since",
            "next_attempt",
            "created_date",
            "modified_date",
        ] {
            webhook.require(name, moment());
        }
        let mut last = Members::default();
        last.require("at", moment());
        last.require("status", json!({ "type": ["integer", "null"] }));
        last.require("error", json!({ "type": ["string", "null"] }));
        webhook.require(
            "last_attempt",
            json!({ "anyOf": [last.into_schema(), { "type": "null" }] }),
        );
        webhook.require("cursor", json!({ "type": ["string", "null"] }));
        let name = || json!({ "type": ["string", "null"] });
        webhook.require("created_by", name());
        let mut change = Members::default();
        change.require("key", name());
        change.require("at", moment());
        webhook.require(
            "changed_by",
            json!({ "anyOf": [change.into_schema(), { "type": "null" }] }),
        );
        let mut links = Members::default();
        links.require("self", all.link());
        for name in ["redeliver", "rotate_secret"] {
            links.require(all.api.dialect().relation(name), all.link());
        }
        links.insert("curies", all.curies());
        webhook.require("_links", links.into_schema());
        webhook
    }

    /// Returns a reference to the webhooks of a tenant.
    pub(in crate::documents) fn webhooks(&mut self) -> Value {
        self.refer("webhooks", |all| {
            let relation = all.api.webhooks_relation();
            let mut links = Members::default();
            links.require("self", all.link());
            links.require("curies", all.curies());
            let webhook = all.webhook(false);
            all.page_of(relation, links, Members::default(), &webhook)
        })
    }

    /// Returns a reference to the body that creates or changes a webhook.
    pub(in crate::documents) fn webhook_body(&mut self, is_new: bool) -> Value {
        self.refer(
            if is_new {
                "webhook.create"
            } else {
                "webhook.update"
            },
            |all| {
                // A client may send back what it has read. Members that only the server sets are
                // ignored, unless the client asks for strict handling (UND-22).
                let mut body = Members::default();
                for (name, _) in all.members_of_a_webhook(true).properties {
                    body.insert(name, json!(true));
                }
                body.insert("url", url());
                body.insert("kinds", kinds());
                body.insert("events", events());
                // A client may send back a status that the server has set.
                let statuses = if is_new { &GIVEN[..] } else { &STATUSES };
                body.insert("status", json!({ "type": "string", "enum": statuses }));
                body.required.extend(is_new.then(|| "url".to_owned()));
                let mut schema = body.into_schema();
                set(&mut schema, "additionalProperties", json!(false));
                schema
            },
        )
    }

    /// Returns a reference to the body of a redelivery: where it starts.
    pub(in crate::documents) fn redelivery(&mut self) -> Value {
        self.refer("redelivery", |_| {
            let mut body = Members::default();
            body.insert(
                "after",
                json!({ "type": ["string", "null"], "pattern": "^[A-Za-z0-9_\\-]{1,256}$" }),
            );
            let mut schema = body.into_schema();
            set(&mut schema, "additionalProperties", json!(false));
            schema
        })
    }
}
