//! Pairs of people over the whole API, on the store in memory and on the store in a file.
//!
//! Requirements: DUP-01 to DUP-07.

use http::Method;
use serde_json::{Value, json};
use svc_core::{
    Tenant,
    api::{Api, ApiBuilder, Request, Vendor},
    auth::{Caller, Identity, Principal, Right, Rights},
    backend::{DeliveryOutcome, OutboxEntry},
};
use svc_sqlite::{SqliteOptions, SqliteStore};
use svc_store::memory::MemoryStore;

use crate::server::BASE;

/// An API that finds duplicates, on one of the stores.
struct Subject {
    api: Api,
    tenant: Tenant,
    other: Tenant,
}

/// A response with its parsed body.
#[derive(Debug)]
struct Answer {
    status: u16,
    json: Value,
    cache: Option<String>,
    location: Option<String>,
}

impl Answer {
    fn code(&self) -> &str {
        let problem = &self.json["svc:error"]["resource_status"][0]["error_descriptions"][0];
        problem["error_code"].as_str().unwrap_or_default()
    }

    fn entries(&self) -> &[Value] {
        let entries = self.json["_embedded"]["ext:duplicates"].as_array();
        entries.unwrap_or_else(|| panic!("{}", self.json))
    }

    fn next(&self) -> Option<&str> {
        let next = self.json["_links"]["next"]["href"].as_str();
        assert_eq!(self.json["has_more"], next.is_some());
        next
    }
}

fn configured(api: ApiBuilder) -> ApiBuilder {
    api.duplicates()
        .merge_people()
        .delivery(|_: &Tenant, _: &OutboxEntry| Ok(DeliveryOutcome::Sent))
        .base_url(BASE)
}

fn builder() -> ApiBuilder {
    Api::builder(Vendor::new("Test", "Test").namespace("here"))
}

/// Runs a check on both stores.
async fn each(check: impl AsyncFn(&Subject)) {
    crate::log::listen();
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(folder.path().join("data.db")).relaxed_durability();
    let file = SqliteStore::open(options).unwrap();
    let tenant = file.ensure_tenant("demo").await.unwrap();
    let other = file.ensure_tenant("other").await.unwrap();
    let memory = MemoryStore::new();
    let of_file = configured(file.register_all(builder()))
        .response_cache(file.clone())
        .authenticator(file.clone());
    let of_memory = configured(memory.register_all(builder())).authenticator(file.clone());
    for api in [of_file, of_memory] {
        let subject = Subject {
            api: api.build().unwrap(),
            tenant: tenant.clone(),
            other: other.clone(),
        };
        check(&subject).await;
    }
}

impl Subject {
    fn with(&self, rights: Rights) -> Identity {
        let caller = Caller::with_rights(rights);
        Identity::Authenticated(Principal::new(self.tenant.clone(), caller))
    }

    async fn send(
        &self,
        identity: Identity,
        method: Method,
        address: &str,
        body: &Value,
    ) -> Answer {
        let path = address.strip_prefix(BASE).unwrap_or(address);
        let (path, query) = path
            .split_once('?')
            .map_or((path, None), |(path, query)| (path, Some(query)));
        let body = if body.is_null() {
            Vec::new()
        } else {
            body.to_string().into_bytes()
        };
        let request = Request::new(&method, path)
            .with_query(query)
            .with_body(body);
        let response = self.api.handle(identity, request).await;
        let header = |name: &str| {
            let value = response.headers.get(name);
            value.map(|value| value.to_str().unwrap().to_owned())
        };
        Answer {
            status: response.status.as_u16(),
            cache: header("cache-control"),
            location: header("location"),
            json: serde_json::from_slice(&response.body).unwrap_or_default(),
        }
    }

    async fn call(&self, method: Method, address: &str, body: Value) -> Answer {
        self.send(self.with(Rights::all()), method, address, &body)
            .await
    }

    async fn get(&self, address: &str) -> Answer {
        let answer = self.call(Method::GET, address, Value::Null).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
        answer
    }

    async fn person(&self, name: &str, address: &str) -> String {
        let body = json!({"given_name": name, "family_name": "Lovelace", "email_addresses": [{"address": address}]});
        let made = self.call(Method::POST, "people", body).await;
        assert_eq!(made.status, 201, "{}", made.json);
        made.json["_links"]["self"]["href"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

fn rights(names: &[&str]) -> Rights {
    Rights::only(names.iter().map(|name| name.parse::<Right>().unwrap()))
}

fn hrefs(links: &Value) -> Vec<&str> {
    let links = links.as_array().unwrap().iter();
    links.map(|link| link["href"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn dup_01_the_entry_point_leads_to_pairs() {
    each(async |subject| {
        let entry = subject.get("").await;
        let address = entry.json["_links"]["ext:duplicates"]["href"]
            .as_str()
            .unwrap();
        assert_eq!(address, format!("{BASE}duplicates"));
        let none = subject.get(address).await;
        assert_eq!(none.entries(), [] as [Value; 0]);
        assert_eq!(none.next(), None);
        let one = subject.person("Ada", "ada@example.org").await;
        let other = subject.person("ADA", "Ada@Example.org").await;
        let page = subject.get(address).await;
        assert_eq!(page.cache.as_deref(), Some("no-store"), "DUP-03");
        let [pair] = page.entries() else {
            panic!("{}", page.json)
        };
        assert_eq!(
            (&pair["strength"], &pair["score"]),
            (&json!("strong"), &json!(22))
        );
        let reasons =
            json!([{"field": "email_addresses", "weight": 14}, {"field": "name", "weight": 8}]);
        assert_eq!(pair["reasons"], reasons, "DUP-02");
        assert_eq!(hrefs(&pair["_links"]["svc:people"]), [&*one, &*other]);
        let people = pair["_embedded"]["svc:people"].as_array().unwrap();
        let own = |person: &Value| {
            person["_links"]["self"]["href"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        assert_eq!(people.iter().map(own).collect::<Vec<_>>(), [&*one, &*other]);
        assert_eq!(people[0]["given_name"], "Ada");
        let links = hrefs(&page.json["_links"]["ext:duplicates"]);
        assert_eq!(links, [pair["_links"]["self"]["href"].as_str().unwrap()]);
        let third = subject.person("Grace", "grace@example.org").await;
        assert_eq!(
            subject
                .get(&format!("{one}/duplicates"))
                .await
                .entries()
                .len(),
            1
        );
        let none = subject.get(&format!("{third}/duplicates")).await;
        assert_eq!(none.entries(), [] as [Value; 0]);
    })
    .await;
}

#[tokio::test]
async fn dup_03_rights_are_required() {
    each(async |subject| {
        let one = subject.person("Ada", "ada@example.org").await;
        subject.person("Ada", "ada@example.org").await;
        let page = subject.get("duplicates").await;
        let pair = page.entries()[0]["_links"]["self"]["href"]
            .as_str()
            .unwrap()
            .to_owned();
        let of_person = format!("{one}/duplicates");
        let dismissed = json!({"dismissed": true});
        for (address, method) in [
            ("duplicates", Method::GET),
            (&*of_person, Method::GET),
            (&*pair, Method::PUT),
        ] {
            let send = |identity| subject.send(identity, method.clone(), address, &dismissed);
            assert_eq!(send(Identity::Anonymous).await.status, 401, "{address}");
            assert_eq!(send(Identity::InvalidKey).await.status, 401);
            let other = rights(&["petitions.read", "people.list", "people.create"]);
            assert_eq!(send(subject.with(other)).await.status, 403);
            let own = if method == Method::GET {
                "people.read"
            } else {
                "people.update"
            };
            assert_eq!(send(subject.with(rights(&[own]))).await.status, 200);
        }
        let caller = Caller::with_rights(Rights::all());
        let other =
            || Identity::Authenticated(Principal::new(subject.other.clone(), caller.clone()));
        let send = |method, address| subject.send(other(), method, address, &dismissed);
        assert_eq!(send(Method::GET, "duplicates").await.entries().len(), 0);
        assert_eq!(send(Method::GET, &of_person).await.status, 404);
        assert_eq!(send(Method::PUT, &pair).await.status, 404);
    })
    .await;
}

#[tokio::test]
async fn dup_04_pages_lead_to_all_pairs() {
    each(async |subject| {
        for _ in 0..4 {
            subject.person("Ada", "ada@example.org").await;
        }
        let mut address = format!("{BASE}duplicates?per_page=2");
        let mut found = Vec::new();
        loop {
            let page = subject.get(&address).await;
            assert!(page.entries().len() <= 2);
            assert_eq!(page.json["per_page"], 2);
            found.extend(
                page.entries()
                    .iter()
                    .map(|it| it["_links"]["self"]["href"].to_string()),
            );
            let Some(next) = page.next() else { break };
            assert!(next.contains("per_page=2"), "{next}");
            address = next.to_owned();
        }
        let all = found.len();
        found.sort_unstable();
        found.dedup();
        assert_eq!((found.len(), all), (6, 6));
        for wrong in ["after=0", "after=", "after=%20", "per_page=0"] {
            let address = format!("duplicates?{wrong}");
            let answer = subject.call(Method::GET, &address, Value::Null).await;
            assert_eq!(answer.status, 400, "{wrong}: {}", answer.json);
        }
    })
    .await;
}

#[tokio::test]
async fn dup_06_a_pair_is_dismissed() {
    each(async |subject| {
        let one = subject.person("Ada", "ada@example.org").await;
        let other = subject.person("Ada", "ada@example.org").await;
        let page = subject.get("duplicates").await;
        let pair = page.entries()[0]["_links"]["self"]["href"]
            .as_str()
            .unwrap()
            .to_owned();
        let put = |body: Value| subject.call(Method::PUT, &pair, body);
        let answer = put(json!({"dismissed": true})).await;
        assert_eq!(
            (answer.status, &answer.json["dismissed"]),
            (200, &json!(true))
        );
        assert_eq!(answer.json["_links"]["self"]["href"], *pair);
        assert_eq!(
            hrefs(&answer.json["_links"]["svc:people"]),
            [&*one, &*other]
        );
        assert_eq!(subject.get("duplicates").await.entries().len(), 0);
        assert_eq!(
            put(answer.json).await.status,
            200,
            "the response is accepted"
        );
        assert_eq!(put(json!({"dismissed": false})).await.status, 200);
        assert_eq!(subject.get("duplicates").await.entries().len(), 1);
        for (body, code) in [
            (Value::Null, "BODY_MISSING"),
            (json!({}), "FIELD_REQUIRED"),
            (json!({"dismissed": null}), "FIELD_INVALID"),
            (json!({"dismissed": "true"}), "FIELD_INVALID"),
            (json!({"dismissed": true, "x": 1}), "PROPERTY_UNKNOWN"),
        ] {
            let answer = put(body).await;
            assert_eq!((answer.status, answer.code()), (400, code));
        }
        let ids: Vec<&str> = [&one, &other]
            .map(|it| it.rsplit('/').next().unwrap())
            .into();
        let swapped = format!("duplicates/{}.{}", ids[1], ids[0]);
        let answer = subject
            .call(Method::PUT, &swapped, json!({"dismissed": true}))
            .await;
        assert_eq!(answer.status, 200, "in any order");
        assert_eq!(subject.get("duplicates").await.entries().len(), 0);
        for unknown in [
            format!("duplicates/{}.{}", ids[0], ids[0]),
            format!("duplicates/{}.x", ids[0]),
        ] {
            let answer = subject
                .call(Method::PUT, &unknown, json!({"dismissed": true}))
                .await;
            assert_eq!(answer.status, 404, "{unknown}");
        }
    })
    .await;
}

#[tokio::test]
async fn dup_05_a_crowd_has_one_entry() {
    each(async |subject| {
        for number in 0..51 {
            subject
                .person(&format!("Ada{number:02}"), "info@example.org")
                .await;
        }
        let page = subject.get("duplicates").await;
        assert_eq!(
            page.entries(),
            [json!({"crowd": 51, "field": "email_addresses"})]
        );
        assert_eq!(page.json["_links"]["ext:duplicates"], json!([]));
    })
    .await;
}

/// The capability document declares the pairs, and a store without them is a build error.
#[tokio::test]
async fn dup_07_pairs_are_declared() {
    each(async |subject| {
        let entry = subject.get("docs/capabilities").await;
        let behaviours = entry.json["behaviours"].as_array().unwrap();
        assert!(behaviours.contains(&json!("duplicates")));
    })
    .await;
    let api = builder().base_url(BASE).duplicates();
    let error = api.build().unwrap_err().to_string();
    assert!(error.contains("duplicates cannot be found"), "{error}");
}

/// A person has a link to its pairs. The one of a merged person redirects.
#[tokio::test]
async fn dup_01_people_link_to_their_pairs() {
    each(async |subject| {
        let one = subject.person("Ada", "ada@example.org").await;
        let other = subject.person("Grace", "ada@example.org").await;
        let document = subject.get(&one).await;
        let address = &document.json["_links"]["ext:duplicates"]["href"];
        assert_eq!(address, &json!(format!("{one}/duplicates")));
        let pairs = subject.get(address.as_str().unwrap()).await;
        assert_eq!(pairs.entries().len(), 1);
        let few = subject.with(rights(&["people.read"]));
        let read = subject.send(few, Method::GET, &one, &Value::Null).await;
        assert_eq!(&read.json["_links"]["ext:duplicates"]["href"], address);

        let body = json!({"_links": {"svc:person": {"href": other}}});
        let merge = format!("{one}/merge_helper");
        let merged = subject.call(Method::POST, &merge, body).await;
        assert_eq!(merged.status, 200, "{}", merged.json);
        let former = format!("{other}/duplicates?per_page=5");
        let former = subject.call(Method::GET, &former, Value::Null).await;
        let redirect = (former.status, former.location.as_deref());
        assert_eq!(redirect, (301, address.as_str()));
    })
    .await;
}
