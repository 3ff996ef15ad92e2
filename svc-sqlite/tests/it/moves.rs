//! Actions that an update moves to another person or page by their links.
//!
//! Requirements: CRU-16, AUT-04, UND-38, RES-donation-06, SYN-02.

use std::{sync::Arc, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::{Value, json};
use svc_core::{
    Api, ApiBuilder, Tenant, Vendor,
    api::{IfMatchPolicy, Request},
    auth::{Caller, FixedKeys, Identity, Operation, Principal, Right, Rights},
    model::Kind,
};
use svc_sqlite::{SqliteOptions, SqliteStore};
use svc_store::memory::MemoryStore;

use crate::server::{BASE, without_warnings};

const STRICT: (&str, &str) = ("prefer", "handling=strict");

/// An API over one of the stores.
struct Service {
    name: &'static str,
    api: Api,
    tenant: Tenant,
    _folder: Option<tempfile::TempDir>,
}

/// A response with its parsed body.
#[derive(Debug)]
struct Reply {
    status: u16,
    json: Value,
    warnings: Vec<String>,
    tag: Option<String>,
}

/// Returns the same API over `SQLite` and in memory.
async fn services() -> [Service; 2] {
    crate::log::listen();
    let folder = tempfile::tempdir().unwrap();
    let options =
        SqliteOptions::new(folder.path().join("data.db")).busy_timeout(Duration::from_secs(60));
    let store = SqliteStore::open(options).unwrap();
    let tenant = store.ensure_tenant("demo").await.unwrap();
    let finish = |api: ApiBuilder| {
        let api = api.base_url(BASE).authenticator(FixedKeys::new());
        let api = api.conditional_requests(IfMatchPolicy::Optional);
        api.build().unwrap()
    };
    let builder = || Api::builder(Vendor::new("Test", "Test").namespace("here"));
    let api = store.register_all(builder());
    let sqlite = Service {
        name: "SQLite",
        api: finish(api.change_feed(&Arc::new(store.clone()))),
        tenant,
        _folder: Some(folder),
    };
    let store = MemoryStore::new();
    let api = store.register_all(builder());
    let memory = Service {
        name: "memory",
        api: finish(api.change_feed(&Arc::new(store.clone()))),
        tenant: Tenant::new("demo"),
        _folder: None,
    };
    [sqlite, memory]
}

impl Service {
    async fn send(
        &self,
        rights: Rights,
        method: Method,
        address: &str,
        body: &Value,
        headers: &[(&str, &str)],
    ) -> Reply {
        let path = address.strip_prefix(BASE).unwrap_or(address);
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| {
                let name = HeaderName::try_from(*name).unwrap();
                (name, HeaderValue::from_str(value).unwrap())
            })
            .collect();
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let caller = Caller::with_rights(rights);
        let identity = Identity::Authenticated(Principal::new(self.tenant.clone(), caller));
        let request = Request::new(&method, path)
            .with_headers(&headers)
            .with_body(body);
        let reply = self.api.handle(identity, request).await;
        let mut json: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let warnings = without_warnings(&mut json);
        let warnings = warnings.as_array().into_iter().flatten();
        Reply {
            status: reply.status.as_u16(),
            warnings: warnings.map(problem).collect(),
            tag: reply.header("etag").map(str::to_owned),
            json,
        }
    }

    async fn get(&self, address: &str) -> Reply {
        self.send(Rights::all(), Method::GET, address, &Value::Null, &[])
            .await
    }

    async fn post(&self, address: &str, body: Value) -> Reply {
        let reply = self
            .send(Rights::all(), Method::POST, address, &body, &[])
            .await;
        assert!(matches!(reply.status, 200 | 201), "{address}: {reply:?}");
        reply
    }

    async fn put(&self, address: &str, body: &Value) -> Reply {
        self.send(Rights::all(), Method::PUT, address, body, &[])
            .await
    }

    async fn delete(&self, address: &str) -> u16 {
        let reply = self.send(Rights::all(), Method::DELETE, address, &Value::Null, &[]);
        reply.await.status
    }

    async fn make(&self, collection: &str, body: Value) -> String {
        self.post(collection, body).await.link("self")
    }

    async fn person(&self, name: &str) -> String {
        self.make("people", json!({ "given_name": name })).await
    }

    /// Returns the addresses of the members of a collection. Its total is their number.
    async fn members(&self, collection: &str) -> Vec<String> {
        let page = self.get(collection).await.json;
        let embedded = page["_embedded"].as_object().expect("a page");
        let members: Vec<String> = embedded
            .values()
            .flat_map(|members| members.as_array().unwrap())
            .map(|member| {
                member["_links"]["self"]["href"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            })
            .collect();
        assert_eq!(page["total_records"], members.len(), "{collection}");
        members
    }

    /// Returns the kind and the address of each entry of the change feed.
    async fn feed(&self) -> Vec<(String, String)> {
        let page = self.get("changes").await.json;
        let entries = page["_embedded"]["ext:changes"].as_array().expect("a feed");
        let entry = |entry: &Value| {
            let links = entry["_links"].as_object().unwrap();
            let mut records = links.iter().filter(|(name, _)| name.starts_with("svc:"));
            let record = records.next().map(|(_, link)| link["href"].clone());
            let record = record.unwrap_or_default();
            let what = entry["what"].as_str().unwrap().to_owned();
            (what, record.as_str().unwrap_or_default().to_owned())
        };
        entries.iter().map(entry).collect()
    }

    /// Creates an action of a person below a container.
    async fn action(&self, action: &Action, person: &str) -> (String, String) {
        let container = self.make(action.containers, action.container.clone()).await;
        let mut body = action.body.clone();
        body["_links"] = link("person", person)["_links"].clone();
        let made = self
            .make(&format!("{container}/{}", action.collection), body)
            .await;
        (container, made)
    }
}

impl Reply {
    fn link(&self, name: &str) -> String {
        let link = self.json["_links"][name]["href"].as_str();
        link.unwrap_or_else(|| panic!("no {name}: {self:?}"))
            .to_owned()
    }

    /// Returns the code and the properties of each problem.
    fn problems(&self) -> Vec<String> {
        let entries = self.json["svc:error"]["resource_status"].as_array();
        let entries = entries.into_iter().flatten();
        let problems = entries.filter_map(|entry| entry["error_descriptions"].as_array());
        problems.flatten().map(problem).collect()
    }
}

fn problem(json: &Value) -> String {
    let properties = json["properties"].as_array().into_iter().flatten();
    let properties: Vec<&str> = properties.filter_map(Value::as_str).collect();
    format!(
        "{} {}",
        json["error_code"].as_str().unwrap(),
        properties.join(",")
    )
}

fn link(name: &str, href: &str) -> Value {
    json!({ "_links": { format!("svc:{name}"): { "href": href } } })
}

/// A kind of action.
struct Action {
    kind: Kind,
    containers: &'static str,
    container: Value,
    collection: &'static str,
    body: Value,
    /// The total of the container that counts the actions.
    total: Option<&'static str>,
}

/// Returns every kind that can be moved to another person.
fn actions() -> [Action; 6] {
    let action = |kind: Kind, containers, container, body, total| Action {
        kind,
        containers,
        container,
        collection: kind.plural(),
        body,
        total,
    };
    let levels = json!({"type": "ticketed", "ticket_levels": [{"title": "A", "amount": 5, "currency": "EUR"}]});
    [
        action(
            Kind::Signature,
            "petitions",
            json!({}),
            json!({"comments": "Yes"}),
            Some("total_signatures"),
        ),
        action(
            Kind::Submission,
            "forms",
            json!({}),
            json!({}),
            Some("total_submissions"),
        ),
        action(
            Kind::Donation,
            "fundraising_pages",
            json!({"currency": "EUR"}),
            json!({"amount": 5, "currency": "EUR"}),
            Some("total_donations"),
        ),
        action(
            Kind::Attendance,
            "events",
            levels,
            json!({"status": "accepted", "tickets": [{"title": "A"}]}),
            Some("total_accepted"),
        ),
        action(
            Kind::Outreach,
            "advocacy_campaigns",
            json!({}),
            json!({}),
            Some("total_outreaches"),
        ),
        action(
            Kind::Answer,
            "questions",
            json!({"question_type": "Paragraph"}),
            json!({"value": "Yes"}),
            None,
        ),
    ]
}

/// CRU-16, SYN-02, CRU-19: each kind of action moves to another person with its collections, and a
/// second move to the same person changes nothing.
#[tokio::test]
async fn cru_16_each_action_moves_to_another_person() {
    for service in services().await {
        let (ada, eve) = (service.person("Ada").await, service.person("Eve").await);
        for action in actions() {
            let what = format!("{}, {:?}", service.name, action.kind);
            let (container, made) = service.action(&action, &ada).await;
            let (before, counted) = (service.get(&made).await, service.get(&container).await);
            let entries = service.feed().await.len();
            let moved = service
                .send(
                    Rights::all(),
                    Method::PUT,
                    &made,
                    &link("person", &eve),
                    &[STRICT],
                )
                .await;
            assert_eq!(moved.status, 200, "{what}: {moved:?}");
            assert_eq!(moved.link("svc:person"), eve, "{what}");
            assert_eq!(moved.warnings, [""; 0], "{what}");
            let read = service.get(&made).await;
            assert_eq!(read.json, moved.json, "{what}: CRU-22");
            assert_ne!(read.tag, before.tag, "{what}: ETG-01");
            assert!(
                read.json["modified_date"].as_str() > before.json["modified_date"].as_str(),
                "{what}: CRU-19"
            );
            let mut other = read.json.clone();
            other["_links"]["svc:person"] = before.json["_links"]["svc:person"].clone();
            other["modified_date"] = before.json["modified_date"].clone();
            assert_eq!(other, before.json, "{what}: nothing else changes");
            let of = |person: &str| format!("{person}/{}", action.collection);
            assert_eq!(service.members(&of(&ada)).await, [""; 0], "{what}");
            assert_eq!(service.members(&of(&eve)).await, [made.as_str()], "{what}");
            assert_eq!(
                service
                    .members(&format!("{container}/{}", action.collection))
                    .await,
                [made.as_str()],
                "{what}"
            );
            let after = service.get(&container).await.json;
            assert_eq!(after, counted.json, "{what}: the container");
            if let Some(total) = action.total {
                assert_eq!(after[total], 1, "{what}");
            }
            let feed = service.feed().await;
            assert_eq!(
                feed[entries..],
                [("changed".to_owned(), made.clone())],
                "{what}: SYN-02"
            );
            let again = service.put(&made, &link("person", &eve)).await;
            assert_eq!(
                (again.status, &again.json),
                (200, &read.json),
                "{what}: CRU-19"
            );
            assert_eq!(service.feed().await.len(), feed.len(), "{what}: CRU-19");
            // The earlier person has nothing to do with it.
            assert_eq!(
                service.put(&made, &before.json).await.link("svc:person"),
                ada
            );
            assert_eq!(service.members(&of(&ada)).await, [made.as_str()], "{what}");
            assert_eq!(service.members(&of(&eve)).await, [""; 0], "{what}");
        }
        assert_eq!(service.delete(&eve).await, 204);
        for action in actions() {
            let total = service
                .members(&format!("{ada}/{}", action.collection))
                .await;
            assert_eq!(total.len(), 1, "{:?}: UND-26", action.kind);
        }
    }
}

/// CRU-16: an unknown target and `null` are errors as in a create, and nothing changes.
#[tokio::test]
async fn cru_16_an_unknown_target_moves_nothing() {
    for service in services().await {
        let ada = service.person("Ada").await;
        for action in actions() {
            let what = format!("{}, {:?}", service.name, action.kind);
            let (container, made) = service.action(&action, &ada).await;
            let before = service.get(&made).await.json;
            let unknown = format!("{BASE}people/01980000-0000-7000-8000-000000000000");
            for href in [
                unknown.as_str(),
                container.as_str(),
                "https://other.example/people/1",
            ] {
                let mut body = link("person", href);
                body["origin_system"] = json!("changed");
                let refused = service.put(&made, &body).await;
                assert_eq!(refused.status, 400, "{what}");
                assert_eq!(
                    refused.problems(),
                    ["PERSON_NOT_FOUND _links.svc:person"],
                    "{what}"
                );
            }
            let cleared = json!({"_links": {"svc:person": null}});
            assert_eq!(
                service.put(&made, &cleared).await.problems(),
                ["PERSON_NOT_FOUND _links.svc:person"],
                "{what}"
            );
            assert_eq!(service.get(&made).await.json, before, "{what}: CRU-21");
            assert_eq!(
                service
                    .members(&format!("{ada}/{}", action.collection))
                    .await,
                [made],
                "{what}"
            );
        }
    }
}

/// AUT-04: without the right to create the kind, the link is read-only.
#[tokio::test]
async fn aut_04_a_move_needs_the_right_to_create() {
    for service in services().await {
        let (ada, eve) = (service.person("Ada").await, service.person("Eve").await);
        for action in actions() {
            let what = format!("{}, {:?}", service.name, action.kind);
            let (_, made) = service.action(&action, &ada).await;
            let right = |operation| Right::Operation(action.kind, operation);
            let changes = [right(Operation::Read), right(Operation::Update)];
            let send = async |rights: &[Right], body: &Value, headers: &[(&str, &str)]| {
                let rights = Rights::only(rights.iter().copied());
                service
                    .send(rights, Method::PUT, &made, body, headers)
                    .await
            };
            let ignored = send(&changes, &link("person", &eve), &[]).await;
            assert_eq!(
                (ignored.status, ignored.link("svc:person")),
                (200, ada.clone()),
                "{what}"
            );
            assert_eq!(
                ignored.warnings,
                ["PROPERTY_READ_ONLY _links.svc:person"],
                "{what}: STR-06"
            );
            let refused = send(&changes, &link("person", &eve), &[STRICT]).await;
            assert_eq!(
                (refused.status, refused.problems()),
                (400, vec!["PROPERTY_READ_ONLY _links.svc:person".to_owned()]),
                "{what}: STR-06"
            );
            let same = send(&changes, &link("person", &ada), &[STRICT]).await;
            assert_eq!((same.status, same.warnings.len()), (200, 0), "{what}");
            let creates = [right(Operation::Create)];
            assert_eq!(send(&creates, &link("person", &eve), &[]).await.status, 403);
            let all = [changes.as_slice(), &creates].concat();
            let moved = send(&all, &link("person", &eve), &[STRICT]).await;
            assert_eq!(
                (moved.status, moved.link("svc:person")),
                (200, eve.clone()),
                "{what}"
            );
        }
    }
}

/// ETG-07: a move based on an earlier state moves nothing.
#[tokio::test]
async fn etg_07_a_move_of_an_earlier_state_is_refused() {
    for service in services().await {
        let (ada, eve) = (service.person("Ada").await, service.person("Eve").await);
        let [signature, ..] = actions();
        let (_, made) = service.action(&signature, &ada).await;
        let old = service.get(&made).await.tag.unwrap();
        service.put(&made, &json!({"comments": "No"})).await;
        let send = async |tag: &str| {
            let (body, tag) = (link("person", &eve), [("if-match", tag)]);
            service
                .send(Rights::all(), Method::PUT, &made, &body, &tag)
                .await
        };
        assert_eq!(send(&old).await.status, 412, "{}", service.name);
        assert_eq!(service.get(&made).await.link("svc:person"), ada);
        let new = service.get(&made).await.tag.unwrap();
        assert_eq!(send(&new).await.link("svc:person"), eve, "{}", service.name);
    }
}

/// CRU-16, RES-donation-06, RES-fundraising_page-09: a donation moves to another page with its
/// currency, and the totals of both pages follow.
#[tokio::test]
async fn res_donation_06_a_donation_moves_to_another_page() {
    for service in services().await {
        let ada = service.person("Ada").await;
        let eve = service.person("Eve").await;
        let page =
            |currency: Value| service.make("fundraising_pages", json!({ "currency": currency }));
        let (one, other, dollars) = (
            page(json!("EUR")).await,
            page(json!("EUR")).await,
            page(json!("USD")).await,
        );
        let empty = service.make("fundraising_pages", json!({})).await;
        let give = async |amount: Value| {
            let mut body = link("person", &ada);
            body["amount"] = amount;
            body["currency"] = json!("EUR");
            service.make(&format!("{one}/donations"), body).await
        };
        let (first, second) = (give(json!(5)).await, give(json!(2.5)).await);
        let totals = async |page: &str| {
            let page = service.get(page).await.json;
            (
                page["total_donations"].clone(),
                page["total_amount"].clone(),
            )
        };
        let to = |page: &str| link("fundraising_page", page);
        let moved = service.put(&first, &to(&other)).await;
        assert_eq!(moved.link("svc:fundraising_page"), other, "{moved:?}");
        assert_eq!(service.get(&first).await.json, moved.json, "CRU-22");
        assert_eq!(
            totals(&one).await,
            (json!(1), json!(2.5)),
            "{}",
            service.name
        );
        assert_eq!(
            totals(&other).await,
            (json!(1), json!(5)),
            "{}",
            service.name
        );
        assert_eq!(
            service.members(&format!("{one}/donations")).await,
            [second.as_str()]
        );
        assert_eq!(
            service.members(&format!("{other}/donations")).await,
            [first.as_str()]
        );
        let refused = service.put(&first, &to(&dollars)).await;
        assert_eq!(
            refused.problems(),
            ["FIELD_INVALID currency"],
            "RES-donation-06"
        );
        assert_eq!(totals(&other).await, (json!(1), json!(5)), "CRU-21");
        assert_eq!(totals(&dollars).await, (json!(0), json!(0)), "CRU-21");
        // The amount, the page and the person change together, and the new page has no currency.
        let mut body = to(&empty);
        body["amount"] = json!(7);
        body["_links"]["svc:person"] = json!({ "href": eve });
        let moved = service.put(&first, &body).await;
        assert_eq!(moved.link("svc:person"), eve);
        assert_eq!(
            totals(&other).await,
            (json!(0), json!(0)),
            "{}",
            service.name
        );
        assert_eq!(
            totals(&empty).await,
            (json!(1), json!(7)),
            "{}",
            service.name
        );
        assert_eq!(
            service.get(&empty).await.json["currency"],
            "EUR",
            "RES-fundraising_page-11"
        );
        assert_eq!(
            service.members(&format!("{eve}/donations")).await,
            [first.as_str()]
        );
        // A voided donation counts nowhere.
        service.put(&second, &json!({"voided": true})).await;
        service.put(&second, &to(&other)).await;
        assert_eq!(totals(&one).await, (json!(0), json!(0)), "RES-donation-16");
        assert_eq!(
            totals(&other).await,
            (json!(0), json!(0)),
            "RES-donation-16"
        );
        service.put(&second, &json!({"voided": false})).await;
        assert_eq!(
            totals(&other).await,
            (json!(1), json!(2.5)),
            "RES-donation-16"
        );
        assert_eq!(
            service.delete(&one).await,
            204,
            "UND-26: no donation is left"
        );
        assert_eq!(service.delete(&other).await, 400, "UND-26");
        let gone = service.put(&first, &to(&one)).await;
        assert_eq!(
            gone.problems(),
            ["LINK_NOT_FOUND _links.svc:fundraising_page"]
        );
        let refused = service
            .put(&first, &json!({"_links": {"svc:fundraising_page": null}}))
            .await;
        assert_eq!(
            refused.problems(),
            ["LINK_NOT_FOUND _links.svc:fundraising_page"]
        );
        assert_eq!(totals(&empty).await, (json!(1), json!(7)), "CRU-21");
    }
}

/// CRU-16: concurrent moves to one page and back leave totals that equal the members.
#[tokio::test]
async fn cru_16_concurrent_moves_are_counted() {
    for service in services().await {
        let ada = service.person("Ada").await;
        let (one, other) = (
            service.make("fundraising_pages", json!({})).await,
            service.make("fundraising_pages", json!({})).await,
        );
        let mut donations = Vec::new();
        for _ in 0..4 {
            let mut body = link("person", &ada);
            body["amount"] = json!(1);
            donations.push(service.make(&format!("{one}/donations"), body).await);
        }
        let [a, b, c, d] = donations.as_slice() else {
            panic!("four donations");
        };
        let (there, back) = (
            link("fundraising_page", &other),
            link("fundraising_page", &one),
        );
        tokio::join!(
            service.put(a, &there),
            service.put(b, &there),
            service.put(c, &there),
            async {
                service.put(d, &there).await;
                service.put(d, &back).await;
            }
        );
        for (page, number) in [(&one, 1), (&other, 3)] {
            let json = service.get(page).await.json;
            let members = service.members(&format!("{page}/donations")).await;
            assert_eq!(members.len(), number, "{}", service.name);
            assert_eq!(json["total_donations"], number, "{}", service.name);
            assert_eq!(json["total_amount"], number, "{}", service.name);
        }
    }
}

/// RES-attendance-14: a moved attendance keeps its tickets and their holders, also if the earlier
/// person is one of them.
#[tokio::test]
async fn res_attendance_14_a_moved_attendance_keeps_its_tickets() {
    for service in services().await {
        let (ada, eve) = (service.person("Ada").await, service.person("Eve").await);
        let event = json!({"type": "ticketed", "ticket_levels": [{"title": "A", "amount": 5, "currency": "EUR", "limit": 3}]});
        let event = service.make("events", event).await;
        let own = format!("here:{}", ada.rsplit('/').next().unwrap());
        let holder = json!({"given_name": "Ada", "identifiers": [own]});
        let mut body = link("person", &ada);
        body["tickets"] = json!([{"title": "A", "person": holder}, {"title": "A"}]);
        let made = service.make(&format!("{event}/attendances"), body).await;
        let (before, sold) = (
            service.get(&made).await.json,
            service.get(&event).await.json,
        );
        assert_eq!(
            before["tickets"][0]["person"]["identifiers"],
            json!([own]),
            "{before}"
        );
        let moved = service.put(&made, &link("person", &eve)).await.json;
        assert_eq!(moved["tickets"], before["tickets"], "{}", service.name);
        assert_eq!(service.get(&event).await.json, sold, "{}", service.name);
        // The tickets are still found by their holder, who is forgotten.
        assert_eq!(service.delete(&ada).await, 204);
        let left = service.get(&made).await;
        assert!(
            left.json["tickets"][0].get("person").is_none(),
            "{:?}",
            left.json
        );
        assert_eq!(left.link("svc:person"), eve);
    }
}

/// CRU-16: a record stays in the container that is part of its address.
#[tokio::test]
async fn cru_16_the_container_of_an_address_does_not_change() {
    for service in services().await {
        let ada = service.person("Ada").await;
        for action in actions().into_iter().filter(|it| it.kind != Kind::Donation) {
            let (container, made) = service.action(&action, &ada).await;
            let other = service
                .make(action.containers, action.container.clone())
                .await;
            let name = action.kind.schema().parent.unwrap();
            let ignored = service.put(&made, &link(name, &other)).await;
            assert_eq!(
                (ignored.status, ignored.link(&format!("svc:{name}"))),
                (200, container)
            );
            assert_eq!(
                ignored.warnings,
                [format!("PROPERTY_READ_ONLY _links.svc:{name}")],
                "{}",
                service.name
            );
        }
    }
}

/// CRU-16, UND-38: the canvasser of a canvass changes and is cleared; a move leaves answers with
/// their person.
#[tokio::test]
async fn und_38_the_canvasser_changes() {
    for service in services().await {
        let (ada, eve) = (service.person("Ada").await, service.person("Eve").await);
        let body = json!({"canvass": {"success": true, "canvasser": ada}});
        let canvass = service
            .post(&format!("{ada}/record_canvass_helper"), body)
            .await;
        let at = canvass.link("self");
        // The right to create canvasses is not needed.
        let rights =
            [Operation::Read, Operation::Update].map(|it| Right::Operation(Kind::Canvass, it));
        let body = link("canvasser", &eve);
        let moved = service
            .send(Rights::only(rights), Method::PUT, &at, &body, &[STRICT])
            .await;
        assert_eq!(
            (moved.status, moved.link("svc:canvasser")),
            (200, eve.clone()),
            "{moved:?}"
        );
        assert_eq!(service.get(&at).await.json, moved.json, "CRU-22");
        let cleared = service
            .put(&at, &json!({"_links": {"svc:canvasser": null}}))
            .await;
        assert!(
            cleared.json["_links"].get("svc:canvasser").is_none(),
            "{cleared:?}"
        );
        assert!(
            cleared.json["modified_date"].as_str() > moved.json["modified_date"].as_str(),
            "{}",
            service.name
        );
        assert_eq!(service.get(&at).await.json, cleared.json, "CRU-22");
        let refused = service.put(&at, &link("canvasser", &at)).await;
        assert_eq!(
            refused.problems(),
            ["PERSON_NOT_FOUND _links.svc:canvasser"]
        );
        let target = service.put(&at, &link("target", &eve)).await;
        assert_eq!(target.warnings, ["PROPERTY_READ_ONLY _links.svc:target"]);
        let form = service.make("forms", json!({})).await;
        let question = service
            .make("questions", json!({"question_type": "Paragraph"}))
            .await;
        let body = json!({"person": {"given_name": "Kim"}, "add_questions_responses_uri": [{"question": question, "value": "Yes"}]});
        let submission = service
            .post(&format!("{form}/record_submission_helper"), body)
            .await;
        let (at, kim) = (submission.link("self"), submission.link("svc:person"));
        assert_eq!(
            service
                .put(&at, &link("person", &eve))
                .await
                .link("svc:person"),
            eve
        );
        assert_eq!(
            service.members(&format!("{at}/answers")).await.len(),
            1,
            "RES-submission-07"
        );
        assert_eq!(
            service.members(&format!("{kim}/answers")).await.len(),
            1,
            "UND-38"
        );
    }
}
