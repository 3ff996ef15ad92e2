//! Pairs of people over the whole API, on the store in memory and on the store in a file.
//!
//! Requirements: DUP-01 to DUP-07.

use http::Method;
use serde_json::{Value, json};
use svc_core::{api::ApiBuilder, auth::Identity, model::Kind, schema::Constraints};

use crate::both_stores::{self, Subject, rights};
use crate::server::{BASE, builder};

fn entries(page: &Value) -> &[Value] {
    let entries = page["_embedded"]["ext:duplicates"].as_array();
    entries.unwrap_or_else(|| panic!("{page}"))
}

fn next(page: &Value) -> Option<&str> {
    let next = page["_links"]["next"]["href"].as_str();
    assert_eq!(page["has_more"], next.is_some());
    next
}

/// Returns the address of the first pair.
async fn first_pair(subject: &Subject) -> String {
    let page = subject.read("duplicates").await;
    let pair = &entries(&page)[0]["_links"]["self"]["href"];
    pair.as_str().unwrap().to_owned()
}

/// Runs a check on both stores.
async fn each(check: impl AsyncFn(&Subject)) {
    both_stores::each(|api| api.duplicates().merge_people(), check).await;
}

impl Subject {
    async fn person(&self, name: &str, address: &str) -> String {
        let body = json!({"given_name": name, "family_name": "Lovelace", "email_addresses": [{"address": address}]});
        self.make("people", body).await
    }
}

fn hrefs(links: &Value) -> Vec<&str> {
    let links = links.as_array().unwrap().iter();
    links.map(|link| link["href"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn dup_01_the_entry_point_links_to_pairs() {
    each(async |subject| {
        let entry = subject.read("").await;
        let address = entry["_links"]["ext:duplicates"]["href"].as_str().unwrap();
        assert_eq!(address, format!("{BASE}duplicates"));
        let none = subject.read(address).await;
        assert_eq!(entries(&none), [] as [Value; 0]);
        assert_eq!(next(&none), None);
        let one = subject.person("Ada", "ada@example.org").await;
        let other = subject.person("ADA", "Ada@Example.org").await;
        let page = subject.get(address).await;
        assert_eq!(page.header("cache-control"), Some("no-store"), "DUP-03");
        let page = page.json;
        let [pair] = entries(&page) else {
            panic!("{page}")
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
        let own = people.iter().map(|it| &it["_links"]["self"]["href"]);
        assert_eq!(own.collect::<Vec<_>>(), [&*one, &*other]);
        assert_eq!(people[0]["given_name"], "Ada");
        let links = hrefs(&page["_links"]["ext:duplicates"]);
        assert_eq!(links, [pair["_links"]["self"]["href"].as_str().unwrap()]);
        let third = subject.person("Grace", "grace@example.org").await;
        let of_person = async |person| subject.read(&format!("{person}/duplicates")).await;
        assert_eq!(entries(&of_person(&one).await).len(), 1);
        assert_eq!(entries(&of_person(&third).await), [] as [Value; 0]);
    })
    .await;
}

#[tokio::test]
async fn dup_03_rights_are_required() {
    each(async |subject| {
        let one = subject.person("Ada", "ada@example.org").await;
        subject.person("Ada", "ada@example.org").await;
        let pair = first_pair(subject).await;
        let of_person = format!("{one}/duplicates");
        let dismissed = json!({"dismissed": true});
        for (address, method) in [
            ("duplicates", Method::GET),
            (&*of_person, Method::GET),
            (&*pair, Method::GET),
            (&*pair, Method::PUT),
        ] {
            let send = |identity| subject.send(identity, method.clone(), address, &[], &dismissed);
            assert_eq!(send(Identity::Anonymous).await.status, 401, "{address}");
            assert_eq!(send(Identity::InvalidKey).await.status, 401);
            let other = rights(&["petitions.read", "people.list", "people.create"]);
            assert_eq!(send(subject.key(other)).await.status, 403);
            let own = if method == Method::GET {
                "people.read"
            } else {
                "people.update"
            };
            assert_eq!(send(subject.key(rights(&[own]))).await.status, 200);
        }
        // Without the right to read people, the response has no person.
        let update = subject.key(rights(&["people.update"]));
        let answer = subject
            .send(update, Method::PUT, &pair, &[], &dismissed)
            .await;
        assert_eq!(answer.json.get("_embedded"), None);
        assert_eq!(answer.json.get("score"), None);
        let send =
            |method, address| subject.send(subject.other_key(), method, address, &[], &dismissed);
        let page = send(Method::GET, "duplicates").await;
        assert_eq!(entries(&page.json), [] as [Value; 0]);
        assert_eq!(send(Method::GET, &of_person).await.status, 404);
        assert_eq!(send(Method::GET, &pair).await.status, 404);
        assert_eq!(send(Method::PUT, &pair).await.status, 404);
    })
    .await;
}

#[tokio::test]
async fn dup_04_pages_contain_all_pairs() {
    each(async |subject| {
        for _ in 0..4 {
            subject.person("Ada", "ada@example.org").await;
        }
        let mut address = format!("{BASE}duplicates?per_page=2");
        let mut found = Vec::new();
        loop {
            let page = subject.read(&address).await;
            let pairs = entries(&page);
            assert!(pairs.len() <= 2);
            assert_eq!(page["per_page"], 2);
            found.extend(
                pairs
                    .iter()
                    .map(|it| it["_links"]["self"]["href"].to_string()),
            );
            let Some(next) = next(&page) else { break };
            assert!(next.contains("per_page=2"), "{next}");
            address = next.to_owned();
        }
        let all = found.len();
        found.sort_unstable();
        found.dedup();
        assert_eq!((found.len(), all), (6, 6));
        for wrong in ["after=0", "after=", "after=%20", "per_page=0"] {
            let address = format!("duplicates?{wrong}");
            let answer = subject.get(&address).await;
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
        let pair = first_pair(subject).await;
        let total = async || entries(&subject.read("duplicates").await).len();
        let put = async |body: Value| subject.call(Method::PUT, &pair, &body).await;
        let answer = put(json!({"dismissed": true})).await;
        assert_eq!(
            (answer.status, &answer.json["dismissed"]),
            (200, &json!(true))
        );
        assert_eq!(answer.url(), pair);
        assert_eq!(
            hrefs(&answer.json["_links"]["svc:people"]),
            [&*one, &*other]
        );
        assert_eq!(total().await, 0);
        assert_eq!(
            put(answer.json).await.status,
            200,
            "the response is accepted"
        );
        assert_eq!(put(json!({"dismissed": false})).await.status, 200);
        assert_eq!(total().await, 1);
        for (body, code) in [
            (Value::Null, "BODY_MISSING"),
            (json!({}), "FIELD_REQUIRED"),
            (json!({"dismissed": null}), "FIELD_INVALID"),
            (json!({"dismissed": "true"}), "FIELD_INVALID"),
            (json!({"dismissed": true, "x": 1}), "PROPERTY_UNKNOWN"),
        ] {
            let answer = put(body).await;
            assert_eq!((answer.status, &*answer.problems()[0].0), (400, code));
        }
        let ids: Vec<&str> = [&one, &other]
            .map(|it| it.rsplit('/').next().unwrap())
            .into();
        let swapped = format!("duplicates/{}.{}", ids[1], ids[0]);
        let dismissed = json!({"dismissed": true});
        let answer = subject.call(Method::PUT, &swapped, &dismissed).await;
        assert_eq!(answer.status, 200, "in any order");
        assert_eq!(total().await, 0);
        for unknown in [
            format!("duplicates/{}.{}", ids[0], ids[0]),
            format!("duplicates/{}.x", ids[0]),
        ] {
            let answer = subject.call(Method::PUT, &unknown, &dismissed).await;
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
        let page = subject.read("duplicates").await;
        assert_eq!(
            entries(&page),
            [json!({"crowd": 51, "field": "email_addresses"})]
        );
        assert_eq!(page["_links"]["ext:duplicates"], json!([]));
    })
    .await;
}

/// The capability document declares the pairs, and a store without them is a build error.
#[tokio::test]
async fn dup_07_pairs_are_declared() {
    each(async |subject| {
        let document = subject.read("docs/capabilities").await;
        let behaviours = document["behaviours"].as_array().unwrap();
        assert!(behaviours.contains(&json!("duplicates")));
    })
    .await;
    let api = builder().duplicates();
    let error = api.build().unwrap_err().to_string();
    assert!(error.contains("duplicates cannot be found"), "{error}");
}

/// A person has a link to its pairs. The one of a merged person redirects.
#[tokio::test]
async fn dup_01_people_link_to_their_pairs() {
    each(async |subject| {
        let one = subject.person("Ada", "ada@example.org").await;
        let other = subject.person("Grace", "ada@example.org").await;
        let document = subject.read(&one).await;
        let address = &document["_links"]["ext:duplicates"]["href"];
        assert_eq!(address, &json!(format!("{one}/duplicates")));
        let pairs = subject.read(address.as_str().unwrap()).await;
        assert_eq!(entries(&pairs).len(), 1);
        let few = subject.key(rights(&["people.read"]));
        let read = subject
            .send(few, Method::GET, &one, &[], &Value::Null)
            .await;
        assert_eq!(&read.json["_links"]["ext:duplicates"]["href"], address);

        let body = json!({"_links": {"svc:person": {"href": other}}});
        let merge = format!("{one}/merge_helper");
        let merged = subject.call(Method::POST, &merge, &body).await;
        assert_eq!(merged.status, 200, "{}", merged.json);
        let former = format!("{other}/duplicates?per_page=5");
        let former = subject.get(&former).await;
        let redirect = (former.status, former.header("location"));
        assert_eq!(redirect, (301, address.as_str()));
    })
    .await;
}

/// A pair is read at its address, and a pair that is sent back is accepted.
#[tokio::test]
async fn dup_06_a_pair_is_read_and_sent_back() {
    each(async |subject| {
        let one = subject.person("Ada", "ada@example.org").await;
        let other = subject.person("Ada", "ada@example.org").await;
        let third = subject.person("Grace", "grace@example.org").await;
        let page = subject.read("duplicates").await;
        let listed = entries(&page)[0].clone();
        let address = listed["_links"]["self"]["href"].as_str().unwrap();
        let read = subject.get(address).await;
        assert_eq!(read.header("cache-control"), Some("no-store"), "DUP-03");
        let read = read.json;
        let mut document = read.clone();
        let curies = document["_links"].as_object_mut().unwrap().remove("curies");
        assert!(curies.is_some());
        assert_eq!(document, listed, "the document is the same as on the page");
        assert_eq!(document["dismissed"], json!(false));
        let [one, other, third] = [&one, &other, &third].map(|it| it.rsplit('/').next().unwrap());
        let swapped = subject.read(&format!("duplicates/{other}.{one}")).await;
        assert_eq!(swapped, read, "in any order");
        for unknown in [
            format!("duplicates/{one}.{third}"),
            format!("duplicates/{one}.{one}"),
            format!("duplicates/{one}.x"),
        ] {
            assert_eq!(subject.get(&unknown).await.status, 404, "{unknown}");
        }

        // What the server sets may be sent back unchanged.
        let strict = [("prefer", "handling=strict")];
        let put = async |body: Value, headers: &[(&str, &str)]| {
            let key = subject.full_key();
            subject
                .send(key, Method::PUT, address, headers, &body)
                .await
        };
        for mut body in [listed.clone(), read.clone()] {
            body["dismissed"] = json!(true);
            let answer = put(body, &strict).await;
            assert_eq!(answer.status, 200, "{}", answer.json);
            assert_eq!(answer.json["dismissed"], json!(true));
            assert_eq!(subject.read(address).await, answer.json);
        }
        for (name, value) in [
            ("strength", json!("weak")),
            ("score", json!(1)),
            ("reasons", json!([])),
            ("_embedded", json!({})),
            ("_links", json!({"self": {"href": one}})),
        ] {
            let answer = put(json!({"dismissed": false, name: value}), &strict).await;
            let code = answer.problems()[0].0.clone();
            assert_eq!((answer.status, &*code), (400, "PROPERTY_READ_ONLY"));
            let problem = &answer.json["svc:error"]["resource_status"][0]["error_descriptions"][0];
            assert!(problem.to_string().contains(name), "{problem}");
        }
        assert_eq!(subject.read(address).await["dismissed"], json!(true));
        let answer = put(json!({"dismissed": false, "score": 1}), &[]).await;
        assert_eq!((answer.status, &answer.json["score"]), (200, &json!(22)));
        assert!(
            answer.json.to_string().contains("PROPERTY_READ_ONLY"),
            "a warning"
        );

        // People who share nothing are a pair as long as they are dismissed.
        let apart = format!("duplicates/{one}.{third}");
        let put = async |dismissed: bool| {
            let body = json!({"dismissed": dismissed});
            subject.call(Method::PUT, &apart, &body).await.status
        };
        assert_eq!(put(true).await, 200);
        let read = subject.read(&apart).await;
        assert_eq!(
            (&read["dismissed"], read.get("score")),
            (&json!(true), None)
        );
        assert_eq!(put(false).await, 200);
        assert_eq!(subject.get(&apart).await.status, 404);

        let person = format!("people/{other}");
        subject.call(Method::DELETE, &person, &Value::Null).await;
        let answer = subject.get(address).await;
        assert_eq!(answer.status, 404, "one of them is deleted");
    })
    .await;
}

/// Values that clients cannot read neither make a pair nor change one.
#[tokio::test]
async fn dup_03_hidden_values_are_not_compared() {
    for path in [&["email_addresses"][..], &["email_addresses", "address"]] {
        let hiding = |api: ApiBuilder| {
            let mut people = Constraints::default();
            people.entry(path).hidden = true;
            api.duplicates().constraints(Kind::Person, people)
        };
        both_stores::each(hiding, async |subject| {
            let person = async |name: &str, code: &str| {
                let body = json!({"given_name": name, "family_name": "Lovelace",
                    "email_addresses": [{"address": "ada@example.org"}], "postal_addresses": [{"postal_code": code}]});
                let own = subject.make("people", body).await;
                own.rsplit('/').next().unwrap().to_owned()
            };
            let one = person("Ada", "SW1A 1AA").await;
            let other = person("Grace", "SW1A 1AA").await;
            let page = subject.read("duplicates").await;
            assert_eq!(entries(&page), [] as [Value; 0], "only the address is equal");
            let pair = format!("duplicates/{one}.{other}");
            assert_eq!(subject.get(&pair).await.status, 404);
            person("Ada", "SW1A 1AA").await;
            let page = subject.read("duplicates").await;
            let [pair] = entries(&page) else { panic!("{page}") };
            assert_eq!((&pair["strength"], &pair["score"]), (&json!("weak"), &json!(14)));
            let own = pair["_links"]["self"]["href"].as_str().unwrap();
            assert_eq!(subject.read(own).await["strength"], "weak");
        })
        .await;
    }
}
