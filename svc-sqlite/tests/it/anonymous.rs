//! Requests without a key on a file with existing people. They do not change these people, and
//! responses do not reveal them.
//!
//! Requirements: HLP-04, HLP-07, UND-24, UND-29.

use crate::generate::Dice;
use crate::server::{Answer, Server};
use serde_json::{Value, json};
use svc_core::{helper::HelperName, model::Kind, read::Json};

/// Number of bodies for each helper.
const BODIES: u64 = 200;
/// Existing people, by addresses of one length: an error may reveal the length of a value.
const KNOWN: [&str; 3] = [
    "ada-1@example.org",
    "bob-2@example.org",
    "eve-3@example.org",
];

/// People with many or few fields, their actions, and the containers of all helpers.
struct File {
    server: Server,
    /// Addresses of records that no anonymous caller may change.
    kept: Vec<String>,
    /// Identifiers in use, of people and of actions, including those of this server.
    taken: Vec<Value>,
    dice: Dice,
    fresh: u64,
}

impl File {
    async fn new() -> Self {
        let server = Server::start().await;
        server.make("tags", json!({"name": "known"})).await;
        server.make("lists", json!({"name": "known"})).await;
        server
            .make(
                "questions",
                json!({"question_type": "Paragraph", "identifiers": ["q:1"]}),
            )
            .await;
        let mut file = Self {
            server,
            kept: Vec::new(),
            taken: Vec::new(),
            dice: Dice::new(11),
            fresh: 0,
        };
        for (place, address) in KNOWN.into_iter().enumerate() {
            let mut person = match place {
                0 => file.generated(Kind::Person),
                _ => json!({}),
            };
            person["email_addresses"] = json!([{"address": address}]);
            person["identifiers"] = json!([format!("web:{place}")]);
            let person = file.server.make("people", person).await;
            file.keep(person).await;
        }
        file
    }

    async fn keep(&mut self, address: String) {
        let record = self.server.get(&address).await.json;
        self.taken
            .extend(record["identifiers"].as_array().unwrap().iter().cloned());
        self.kept.push(address);
    }

    /// Creates a container of a helper, with an action of an existing person in it.
    async fn container(&mut self, helper: HelperName) -> String {
        let container = helper.container_kind().unwrap();
        let address = match container {
            Kind::Person => self.kept[0].clone(),
            kind => self.server.make(kind.plural(), json!({})).await,
        };
        let url = self
            .server
            .get(&address)
            .await
            .link(&format!("svc:{}_helper", helper.as_str()));
        let mut body = match helper {
            HelperName::RecordCanvass => json!({"canvass": {"identifiers": ["act:1"]}}),
            _ => {
                json!({"identifiers": ["act:1"], "person": {"email_addresses": [{"address": KNOWN[0]}]}})
            }
        };
        if helper == HelperName::RecordDonation {
            body["amount"] = json!(5);
        }
        let action = self.server.post(&url, body).await;
        assert_eq!(action.status, 200, "{helper:?}: {}", action.json);
        self.keep(action.self_link()).await;
        url
    }

    fn generated(&mut self, kind: Kind) -> Value {
        let body = Json::Object(crate::generate::body(&mut self.dice, kind)).to_string();
        serde_json::from_str(&body).unwrap()
    }

    /// Returns identifiers that are in use or free.
    fn identifiers(&mut self) -> Vec<Value> {
        (0..self.dice.below(3))
            .map(|_| match self.dice.below(2) {
                0 => json!(format!("free:{}", self.dice.below(1_000_000))),
                _ => self.taken[self.dice.below(self.taken.len())].clone(),
            })
            .collect()
    }

    /// Returns the body of a helper request with a person of this address.
    fn body(&mut self, helper: HelperName) -> Value {
        let mut person = if self.dice.once_in(2) {
            self.generated(Kind::Person)
        } else {
            json!({})
        };
        let mark = json!({"primary": true, "status": "subscribed"});
        let mut address = if self.dice.once_in(2) {
            mark
        } else {
            json!({})
        };
        address["address"] = json!("<address>");
        let others =
            json!([address, {"address": "attacker@evil.example", "primary": self.dice.once_in(2)}]);
        person["email_addresses"] = if self.dice.once_in(2) {
            json!([address])
        } else {
            others
        };
        person["identifiers"] = json!(self.identifiers());
        let mut action = if self.dice.once_in(2) {
            self.generated(helper.recorded_kind())
        } else {
            json!({})
        };
        action["identifiers"] = json!(self.identifiers());
        if helper == HelperName::RecordDonation && action.get("amount").is_none() {
            action["amount"] = json!(7);
        }
        let mut body = if helper == HelperName::RecordCanvass {
            json!({"canvass": action})
        } else {
            action["person"] = person;
            action
        };
        for name in ["add_tags", "add_lists"] {
            if self.dice.once_in(3) {
                body[name] = if self.dice.once_in(4) {
                    json!(["unknown"])
                } else {
                    json!(["known"])
                };
            }
        }
        if self.dice.once_in(4) {
            body["add_questions_responses_uri"] = json!([{"question": "q:1", "value": "yes"}]);
        }
        body
    }

    async fn asked(&self, url: &str, body: &Value, address: &str) -> Answer {
        let body = body.to_string().replace("<address>", address);
        self.server
            .call_as(
                &self.server.stranger(),
                "POST",
                url,
                serde_json::from_str(&body).unwrap(),
            )
            .await
    }

    async fn all(&self) -> Vec<Value> {
        let mut all = Vec::new();
        for address in &self.kept {
            all.push(self.server.get(address).await.json);
        }
        all
    }
}

#[tokio::test]
async fn hlp_04_and_07_strangers_change_and_learn_nothing() {
    let mut file = File::new().await;
    for helper in HelperName::ALL
        .iter()
        .copied()
        .filter(|helper| helper.allows_anonymous())
    {
        let url = file.container(helper).await;
        let before = file.all().await;
        let (mut done, mut failed) = (0, 0);
        for number in 0..BODIES {
            let body = file.body(helper);
            let known = file
                .asked(&url, &body, KNOWN[usize::try_from(number % 3).unwrap()])
                .await;
            // A new person each time.
            file.fresh += 1;
            let unknown = file
                .asked(&url, &body, &format!("{:06}@example.org", file.fresh)[..17])
                .await;
            let shown = |answer: &Answer| {
                (
                    answer.status,
                    answer.json.to_string(),
                    answer.location.clone(),
                )
            };
            assert_eq!(shown(&known), shown(&unknown), "HLP-07: {helper:?} {body}");
            match known.status {
                200 => {
                    assert_eq!(known.json, json!({}), "HLP-07");
                    done += 1;
                }
                400 => failed += 1,
                other => panic!("{helper:?}: {other} {}", known.json),
            }
            if number % 20 == 19 {
                assert_eq!(
                    file.all().await,
                    before,
                    "HLP-04, UND-24: {helper:?} up to {number}"
                );
            }
        }
        assert!(
            done >= 50 && failed >= 10,
            "{helper:?}: {done} succeeded, {failed} failed"
        );
    }
    // Data from anonymous callers does not match an existing person.
    let found = json!({"person": {"email_addresses": [{"address": "attacker@evil.example"}]}});
    let found = file
        .server
        .post("people/person_signup", found)
        .await
        .self_link();
    assert!(!file.kept.contains(&found), "HLP-04");
}
