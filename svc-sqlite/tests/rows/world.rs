//! One record of every kind around one person, for tests that look at how records hang together.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::client::{Client, own};
use crate::kinds::{ACTIONS, kind, least};

/// One record of each kind but queries; every action is the person's.
pub(crate) struct World {
    pub(crate) records: BTreeMap<&'static str, Value>,
}

impl World {
    pub(crate) fn new(api: &Client) -> Self {
        let mut records = BTreeMap::new();
        let tops = ["person", "petition", "event", "form", "fundraising_page", "tag", "list", "question", "share_page"];
        for one in tops.into_iter().chain(["advocacy_campaign", "message"]) {
            records.insert(one, api.create(kind(one).many, &least(one)));
        }
        let mut world = Self { records };
        let person = world.get("person").clone();
        for (one, under, _) in ACTIONS {
            let made = api.act(world.get(under), kind(one).many, &person, &json!({}));
            world.records.insert(one, made);
        }
        for (one, under, body) in [
            ("answer", "question", json!({"responses": ["a1"]})),
            ("tagging", "tag", json!({})),
            ("item", "list", json!({})),
        ] {
            let made = api.act(world.get(under), kind(one).many, &person, &body);
            world.records.insert(one, made);
        }
        let canvasser = api.create("people", &json!({"given_name": "Canvasser"}));
        let body = json!({"canvass": {"contact_type": "in-person", "canvasser": own(&canvasser)}});
        let canvass = api.post(&api.href(&person, "record_canvass_helper"), &body).ok();
        world.records.insert("canvass", canvass);
        world
    }

    pub(crate) fn get(&self, one: &str) -> &Value {
        self.records.get(one).unwrap_or_else(|| panic!("no {one}"))
    }
}
