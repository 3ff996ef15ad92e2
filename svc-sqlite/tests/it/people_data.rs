//! The data of people as clients send it: one form for equal values, and a reason for each value that
//! is not accepted.

use serde_json::{Value, json};
use svc_core::{
    Context,
    auth::{Caller, Operation, Right, Rights},
    helper::HelperName,
    model::Kind,
    value::Timestamp,
};

use crate::server::Server;

fn with_addresses(addresses: &[&str]) -> Value {
    let list: Vec<Value> = addresses
        .iter()
        .map(|address| json!({ "address": address }))
        .collect();
    json!({ "email_addresses": list })
}

async fn sign_up(server: &Server, person: &Value) -> Value {
    let body = json!({ "person": person });
    let answer = server.post("people/person_signup", body).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    answer.json
}

/// UND-46, HLP-04: an address in another notation finds the same person, in matching and in filters.
#[tokio::test]
async fn und_46_notations_of_one_address_are_one_person() {
    let server = Server::start().await;
    let notations = [
        "ada@münchen.example",
        " Ada@MÜNCHEN.example",
        "ada@xn--mnchen-3ya.example",
        "ADA@mu\u{308}nchen.example\u{feff}",
    ];
    let mut people = Vec::new();
    for notation in notations {
        let person = sign_up(&server, &with_addresses(&[notation])).await;
        assert_eq!(
            person["email_addresses"],
            json!([{ "address": "ada@münchen.example" }]),
            "HLP-04: a known address keeps its notation"
        );
        people.push(person["_links"]["self"]["href"].clone());
        let filter = format!(
            "people?filter=email_address%20eq%20%27{}%27",
            notation.trim()
        );
        assert_eq!(server.total(&filter).await, 1, "FLT-06: {notation}");
    }
    assert!(
        people.iter().all(|person| *person == people[0]),
        "{people:?}"
    );
    // A letter that only looks like k is another one.
    sign_up(&server, &with_addresses(&["kim@example.org"])).await;
    sign_up(&server, &with_addresses(&["\u{212a}im@example.org"])).await;
    assert_eq!(server.total("people").await, 3, "UND-46");
}

/// RES-email_address-03: a text that is not one address is rejected with the reason, in creates,
/// updates and helpers.
#[tokio::test]
async fn res_email_address_03_a_text_that_is_not_one_address_has_a_reason() {
    let server = Server::start().await;
    let person = server.make("people", with_addresses(&["a@x.org"])).await;
    let before = server.get(&person).await.json;
    for (address, reason) in [
        ("a@x.org, b@x.org", "several addresses"),
        ("a@x.org;b@x.org", "several addresses"),
        ("a b@x.org", "white space"),
        ("a@@x.org", "more than one `@`"),
        ("a@x..org", "empty part"),
        ("Ada <a@x.org>", "white space"),
        ("nobody", "no `@`"),
    ] {
        let body = with_addresses(&[address]);
        for answer in [
            server.post("people", body.clone()).await,
            server.put(&person, body.clone()).await,
            server
                .post("people/person_signup", json!({ "person": body }))
                .await,
        ] {
            assert_eq!(answer.status, 400, "{address}: {}", answer.json);
            let text = answer.json.to_string();
            assert!(text.contains(reason), "{address}: {text}");
            assert!(
                text.contains("email_addresses[0].address"),
                "{address}: {text}"
            );
        }
    }
    assert_eq!(server.get(&person).await.json, before);
    assert_eq!(server.total("people").await, 1);
}

/// RES-person-29, UND-46: entries of one list with the same address are merged, and the strictest
/// status remains.
#[tokio::test]
async fn und_46_equal_addresses_of_a_list_are_merged() {
    let server = Server::start().await;
    let list = json!([
        { "address": "ada@example.org", "status": "subscribed", "primary": true },
        { "address": "bob@example.org" },
        { "address": " ADA@Example.org", "status": "unsubscribed", "primary": true, "address_type": "work" },
        { "address": "Ada@example.org", "status": "subscribed" },
    ]);
    let merged = json!([
        { "address": "ada@example.org", "status": "unsubscribed", "primary": true, "address_type": "work" },
        { "address": "bob@example.org" },
    ]);
    let person = json!({ "email_addresses": list });
    let created = server.post("people", person.clone()).await;
    assert_eq!(created.json["email_addresses"], merged, "{}", created.json);
    let other = server.make("people", json!({"given_name": "Ada"})).await;
    let changed = server.put(&other, person.clone()).await;
    assert_eq!(changed.json["email_addresses"], merged);
    let signed_up = sign_up(&server, &person).await;
    assert_eq!(signed_up["email_addresses"], merged);
    // What was read can be sent back.
    let again = server
        .put(
            &other,
            json!({ "email_addresses": changed.json["email_addresses"] }),
        )
        .await;
    assert_eq!(again.json["email_addresses"], merged);
}

/// UND-46, HLP-04: an address with a name in quotes, a dot after its domain, or `+` is found by its form.
#[tokio::test]
async fn und_46_an_address_is_found_by_its_form() {
    let server = Server::start().await;
    let people = [
        ("\"Ada\"@example.org", "ada@EXAMPLE.org"),
        ("JOSÉ@example.org", "jose\u{301}@example.org"),
        ("jose@example.org", "Jose@example.org"),
        ("ada+news@example.org", "ADA+news@example.org"),
        ("ada@straße.example", "ada@xn--strae-oqa.example"),
    ];
    for (place, (address, other)) in (1..).zip(people) {
        let first = sign_up(&server, &with_addresses(&[address])).await;
        let again = sign_up(&server, &with_addresses(&[other])).await;
        assert_eq!(again["_links"]["self"], first["_links"]["self"], "{other}");
        assert_eq!(
            again["email_addresses"],
            json!([{ "address": address }]),
            "{other}"
        );
        assert_eq!(server.total("people").await, place, "{other}");
    }
    let quoted = json!({ "email_addresses": [
        { "address": "\"eve\"@example.org" },
        { "address": "Eve@example.org", "status": "unsubscribed" },
    ]});
    let created = server.post("people", quoted).await;
    assert_eq!(
        created.json["email_addresses"],
        json!([{ "address": "\"eve\"@example.org", "status": "unsubscribed" }]),
    );
    let filter = "people?filter=email_address%20eq%20%27EVE@example.org%27";
    assert_eq!(server.total(filter).await, 1, "FLT-06");
}

/// UND-46, HLP-04: a sign-up merges a phone number that is written differently, and keeps its notation. A
/// number with another extension is another number.
#[tokio::test]
async fn und_46_a_number_with_another_extension_is_another_number() {
    let server = Server::start().await;
    let with = |number: Value| {
        json!({
            "email_addresses": [{ "address": "ada@example.org" }],
            "phone_numbers": [number],
        })
    };
    let extension = json!({ "number": "12025550100", "extension": "12" });
    sign_up(&server, &with(extension.clone())).await;
    let other = json!({ "number": "+1 202 555 0100", "extension": "7", "number_type": "Work" });
    let person = sign_up(&server, &with(other)).await;
    let other = json!({ "number": "12025550100", "extension": "7", "number_type": "Work" });
    assert_eq!(person["phone_numbers"], json!([extension, other]));
    let same = json!({ "number": "12025550100", "extension": "012", "operator": "A" });
    let person = sign_up(&server, &with(same)).await;
    let same = json!({ "number": "12025550100", "extension": "12", "operator": "A" });
    assert_eq!(person["phone_numbers"], json!([same, other]));
    // It is not known which of the two is meant, so this is the number without an extension.
    let bare = json!({ "number": "12025550100" });
    let person = sign_up(&server, &with(bare.clone())).await;
    assert_eq!(person["phone_numbers"], json!([same, other, bare]));
    let trunk = json!({ "number": "4401632960001" });
    sign_up(&server, &with(trunk.clone())).await;
    let person = sign_up(&server, &with(json!({ "number": "+44 1632 960-001" }))).await;
    assert_eq!(person["phone_numbers"], json!([same, other, bare, trunk]));
    let extended = json!({ "number": "4401632960001", "extension": "3" });
    let person = sign_up(&server, &with(extended.clone())).await;
    assert_eq!(
        person["phone_numbers"],
        json!([same, other, bare, extended])
    );
    // A body with both entries stores both.
    let both = json!({ "phone_numbers": [extension, other] });
    let created = server.post("people", both.clone()).await;
    assert_eq!(
        created.json["phone_numbers"], both["phone_numbers"],
        "{}",
        created.json
    );
    // So does a sign-up with both, in any order.
    for order in [["switchboard", "desk"], ["desk", "switchboard"]] {
        let name = order.concat();
        let person = |numbers: Value| {
            let address = json!([{ "address": format!("{name}@example.org") }]);
            json!({ "email_addresses": address, "phone_numbers": numbers })
        };
        let entry = |role: &str| match role {
            "desk" => json!({ "number": "12025550101", "extension": "7", "description": role }),
            _ => json!({ "number": "12025550101", "description": role }),
        };
        sign_up(&server, &person(json!([entry("switchboard")]))).await;
        let signed = sign_up(&server, &person(json!(order.map(entry)))).await;
        let expected = json!([entry("switchboard"), entry("desk")]);
        assert_eq!(signed["phone_numbers"], expected, "{order:?}");
    }
}

/// HLP-04: postal addresses are the same if their lines differ in case, punctuation and accents only.
#[tokio::test]
async fn hlp_04_lines_of_an_address_are_compared_without_punctuation() {
    let server = Server::start().await;
    let with = |line: &str| {
        json!({
            "email_addresses": [{ "address": "ada@example.org" }],
            "postal_addresses": [{ "address_lines": [line], "locality": "Paris" }],
        })
    };
    sign_up(&server, &with("12 Rue de l’Église")).await;
    let person = sign_up(&server, &with("12, rue de l'eglise")).await;
    let expected = json!([{ "address_lines": ["12 Rue de l’Église"], "locality": "Paris" }]);
    assert_eq!(person["postal_addresses"], expected);
    let person = sign_up(&server, &with("13 Rue de l’Église")).await;
    assert_eq!(person["postal_addresses"].as_array().unwrap().len(), 2);
}

/// RES-postal_address-07, RES-postal_address-09: codes are stored in capitals. An unknown code is rejected,
/// and the message names the code that is probably meant.
#[tokio::test]
async fn res_postal_address_09_codes_have_one_form() {
    let server = Server::start().await;
    let at = |region: &str, country: &str| json!({ "postal_addresses": [{ "region": region, "country": country }] });
    for (region, country, stored) in [
        ("ny", "us", ("NY", "US")),
        ("idf", "fr", ("IDF", "FR")),
        ("13", "JP", ("13", "JP")),
        ("eng", "gb", ("ENG", "GB")),
    ] {
        let created = server.post("people", at(region, country)).await;
        let stored = at(stored.0, stored.1);
        assert_eq!(
            created.json["postal_addresses"], stored["postal_addresses"],
            "{}",
            created.json
        );
    }
    for (region, country, property, text) in [
        ("LND", "UK", "country", "Use GB."),
        ("X", "ZZ", "country", "country code"),
        ("New York", "US", "region", "ISO 3166-2"),
        ("NYC", "US", "region", "two letters in US"),
    ] {
        let refused = server.post("people", at(region, country)).await;
        assert_eq!(refused.status, 400, "{region} {country}");
        let description = refused.json.to_string();
        let property = format!("postal_addresses[0].{property}");
        assert!(
            description.contains(&property) && description.contains(text),
            "{region} {country}: {description}"
        );
    }
    let event = json!({
        "location": { "region": "Greater London", "country": "gb" },
        "start_date": "2026-12-01T18:00+01:00",
    });
    let event = server.post("events", event).await.json;
    assert_eq!(
        event["location"],
        json!({ "region": "Greater London", "country": "GB" }),
        "RES-event-35"
    );
    assert_eq!(event["start_date"], "2026-12-01T17:00:00Z", "TYP-06");
}

/// RES-phone_number-03, RES-phone_number-04: a number is stored as its digits, however it is written.
#[tokio::test]
async fn res_phone_number_03_numbers_are_stored_as_digits() {
    let server = Server::start().await;
    for (sent, stored) in [
        (
            json!({"number": "00491701234567"}),
            json!({"number": "491701234567"}),
        ),
        (
            json!({"number": "+49 170/123 45 67"}),
            json!({"number": "491701234567"}),
        ),
        (
            json!({"number": "tel:+1-555-010-0199"}),
            json!({"number": "15550100199"}),
        ),
        (
            json!({"number": "+1\u{a0}555\u{2011}010\u{2011}0199"}),
            json!({"number": "15550100199"}),
        ),
        (
            json!({"number": "+44 (0)1632 960001 x12", "country": "gb"}),
            json!({"number": "441632960001", "extension": "12", "country": "GB"}),
        ),
        (
            json!({"number": "12025550100x12", "extension": "7"}),
            json!({"number": "12025550100", "extension": "7"}),
        ),
        (
            json!({"number": 12_025_550_100_u64}),
            json!({"number": "12025550100"}),
        ),
    ] {
        let created = server
            .post("people", json!({ "phone_numbers": [sent] }))
            .await;
        assert_eq!(
            created.json["phone_numbers"],
            json!([stored]),
            "{}",
            created.json
        );
    }
    for (sent, reason) in [
        ("1-800-FLOWERS", "`F`"),
        ("12345", "5 digits"),
        ("0170 1234567 or 030 1234567", "`o`"),
    ] {
        let body = json!({ "phone_numbers": [{ "number": sent }] });
        let refused = server.post("people", body).await;
        assert_eq!(refused.status, 400, "{sent}");
        assert!(
            refused.json.to_string().contains(reason),
            "{}",
            refused.json
        );
    }
}

/// UND-47: an empty text for a value that has none counts as omitted in creates and helpers. Callers
/// get a warning, and an error if they want one.
#[tokio::test]
async fn und_47_an_empty_text_is_no_value() {
    let server = Server::start().await;
    let person = json!({
        "given_name": "Ada",
        "additional_name": "",
        "gender": "",
        "party_identification": " ",
        "preferred_language": "",
        "languages_spoken": [""],
        "ethnicities": ["", "a"],
        "birthdate": { "day": "", "month": "", "year": "" },
        "email_addresses": [{ "address": "", "primary": true }, { "address": "ada@example.org" }],
        "phone_numbers": [{ "number": "\u{a0}", "number_type": "Mobile" }],
        "postal_addresses": [{ "address_lines": [""], "region": "", "country": "" }, { "country": "", "locality": "Paris" }],
    });
    let ignored = [
        "gender",
        "party_identification",
        "languages_spoken[0]",
        "preferred_language",
        "birthdate.month",
        "birthdate.day",
        "birthdate.year",
        "postal_addresses[0].address_lines[0]",
        "postal_addresses[0].region",
        "postal_addresses[0].country",
        "postal_addresses[1].country",
        "email_addresses[0].address",
        "phone_numbers[0].number",
    ];
    let created = server.post("people", person.clone()).await;
    assert_eq!(created.status, 201, "{}", created.json);
    for person in [created.json.clone(), sign_up(&server, &person).await] {
        let stored = &person;
        assert_eq!(stored["additional_name"], "", "a name can be empty");
        assert_eq!(stored["languages_spoken"], Value::Null);
        assert_eq!(
            stored["ethnicities"],
            json!(["", "a"]),
            "a text can be empty"
        );
        assert_eq!(
            stored["email_addresses"],
            json!([{ "address": "ada@example.org" }])
        );
        assert_eq!(stored["postal_addresses"], json!([{ "locality": "Paris" }]));
        for absent in ["gender", "birthdate", "phone_numbers", "preferred_language"] {
            assert_eq!(stored[absent], Value::Null, "{absent}");
        }
    }
    let properties = |problems: &Value| -> Vec<String> {
        let problems = problems.as_array().into_iter().flatten();
        let empty = problems.filter(|problem| problem["error_code"] == "PROPERTY_EMPTY");
        let path = empty.filter_map(|problem| problem["properties"][0].as_str());
        path.map(str::to_owned).collect()
    };
    let mut warned = properties(&created.warnings);
    let mut all = ignored.map(str::to_owned).to_vec();
    warned.sort();
    all.sort();
    assert_eq!(warned, all);
    let own = created.json["_links"]["self"]["href"].as_str();
    let own = own.expect("a link").to_owned();
    for body in [
        json!({ "gender": "" }),
        json!({ "phone_numbers": [{ "number": "" }] }),
    ] {
        let changed = server.put(&own, body).await;
        assert_eq!(changed.status, 400, "{}", changed.json);
    }
}

/// UND-47: an entry with another problem is reported, and nothing that is wrong is skipped.
#[tokio::test]
async fn und_47_an_entry_with_another_problem_is_reported() {
    let server = Server::start().await;
    for (person, property) in [
        (
            json!({ "phone_numbers": [{ "number": "", "do_not_call": 7 }] }),
            "phone_numbers[0].do_not_call",
        ),
        (
            json!({ "email_addresses": [{ "address": "" }, { "address": "x" }] }),
            "email_addresses[1].address",
        ),
        (json!({ "phone_numbers": "" }), "phone_numbers"),
        (json!({ "birthdate": "" }), "birthdate"),
    ] {
        let refused = server.post("people", person.clone()).await;
        assert_eq!(refused.status, 400, "{person}");
        assert!(
            refused.json.to_string().contains(property),
            "{}",
            refused.json
        );
    }
    assert_eq!(server.total("people").await, 0);
}

/// UND-49: white space at both ends of a text is removed, also in lists, and control characters are
/// rejected. What is stored can be sent back.
#[tokio::test]
async fn und_49_texts_have_one_form() {
    let server = Server::start().await;
    let person = json!({
        "given_name": " Ada\u{a0}",
        "family_name": "\u{feff}Smith  Jones\n",
        "additional_name": " ",
        "postal_addresses": [{ "address_lines": [" 1 Main Street ", "\tFloor 2"], "locality": "Paris " }],
        "custom_fields": { " size ": " 42 " },
    });
    let stored = json!({
        "given_name": "Ada",
        "family_name": "Smith  Jones",
        "additional_name": "",
        "postal_addresses": [{ "address_lines": ["1 Main Street", "Floor 2"], "locality": "Paris" }],
        "custom_fields": { " size ": " 42 " },
    });
    let agrees = |record: &Value| {
        for (name, value) in stored.as_object().expect("an object") {
            assert_eq!(record[name], *value, "{name}");
        }
    };
    let own = server.make("people", person.clone()).await;
    agrees(&server.get(&own).await.json);
    agrees(&sign_up(&server, &person).await);
    let changed = server
        .put(&own, json!({ "given_name": "\u{200b}Grace " }))
        .await;
    assert_eq!(changed.json["given_name"], "Grace");
    let wrong = json!({
        "given_name": "A\u{7}da",
        "email_addresses": [{ "address": "a\u{1b}@x.org" }],
        "postal_addresses": [{ "address_lines": ["one", "t\u{80}wo"] }],
    });
    for answer in [
        server.post("people", wrong.clone()).await,
        server.put(&own, wrong).await,
    ] {
        let told = answer.descriptions();
        let named: Vec<&Value> = told.iter().map(|one| &one["properties"][0]).collect();
        assert_eq!(
            named,
            [
                "given_name",
                "postal_addresses[0].address_lines[1]",
                "email_addresses[0].address"
            ],
            "{}",
            answer.json
        );
    }
    let event = server
        .make(
            "events",
            json!({ "title": "Picnic ", "description": "  one\n\n  two\n" }),
        )
        .await;
    let event = server.get(&event).await.json;
    assert_eq!(
        (&event["title"], &event["description"]),
        (&json!("Picnic"), &json!("one\n\n  two"))
    );
}

/// UND-48: a person of whom nothing is known is rejected, and the error names what is misspelt.
#[tokio::test]
async fn und_48_a_person_needs_some_data() {
    let server = Server::start().await;
    for (person, named) in [
        (json!({}), "a name"),
        (json!({ "email": "a@x.org" }), "`email_addresses[].address`"),
        (
            json!({ "First Name": "Ada", "gender": "Female" }),
            "`given_name`",
        ),
        (
            json!({ "email_addresses": [{ "address": "" }] }),
            "an e-mail address",
        ),
        (json!({ "custom_fields": { "a": " " } }), "a custom field"),
        (json!({ "profiles": [{}] }), "online profile"),
        (
            json!({ "email_addresses": [{ "status": "subscribed" }] }),
            "an e-mail address",
        ),
        (
            json!({ "favourite_colour": "red" }),
            "`favourite_colour` is not a known property.",
        ),
    ] {
        let helper = json!({ "person": person });
        for answer in [
            server.post("people", person.clone()).await,
            server.post("people/person_signup", helper).await,
        ] {
            assert_eq!(answer.status, 400, "{person}: {}", answer.json);
            let text = answer.json.to_string();
            assert!(text.contains("PERSON_EMPTY"), "{text}");
            assert!(text.contains(named), "{text}");
            assert!(!text.contains("a@x.org"), "{text}");
        }
    }
    assert_eq!(server.total("people").await, 0);
    for known in [
        json!({ "given_name": "Ada" }),
        json!({ "identifiers": ["shop:17"] }),
        json!({ "custom_fields": { "a": "b" } }),
        json!({ "postal_addresses": [{ "locality": "Paris" }] }),
    ] {
        let created = server.post("people", known.clone()).await;
        assert_eq!(created.status, 201, "{known}: {}", created.json);
    }
}

/// Sends a request with headers.
async fn send(
    server: &Server,
    headers: &[(&'static str, &'static str)],
    (method, address): (&str, &str),
    body: &Value,
) -> (u16, Value) {
    let method = method.parse().unwrap();
    let path = address.strip_prefix(crate::server::BASE).unwrap_or(address);
    let headers = headers.iter().map(|(name, value)| {
        let name = http::HeaderName::from_static(name);
        (name, http::HeaderValue::from_static(value))
    });
    let headers = headers.collect();
    let request = svc_core::api::Request::new(&method, path)
        .with_headers(&headers)
        .with_body(body.to_string());
    let reply = server.api.handle(server.identity(), request).await;
    let json = serde_json::from_slice(&reply.body).unwrap();
    (reply.status.as_u16(), json)
}

/// Returns the property and the other person of each warning about a shared address.
fn shared(warnings: &Value) -> Vec<(String, String)> {
    let all = warnings.as_array().into_iter().flatten();
    let shared = all.filter(|warning| warning["error_code"] == "ADDRESS_SHARED");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    shared
        .map(|warning| {
            let other = &warning["_links"]["svc:person"]["href"];
            (text(&warning["properties"][0]), text(other))
        })
        .collect()
}

fn warning(property: &str, other: &str) -> Vec<(String, String)> {
    vec![(property.to_owned(), other.to_owned())]
}

/// HLP-04: creates and changes store an address of another person, and the response warns. A change
/// warns only about the addresses that it adds.
#[tokio::test]
async fn hlp_04_creates_and_changes_warn_of_an_address_of_another_person() {
    let server = Server::start().await;
    let ada = server
        .make("people", with_addresses(&["ada@example.org"]))
        .await;
    let created = server
        .post(
            "people",
            with_addresses(&["bob@example.org", " ADA@example.org"]),
        )
        .await;
    assert_eq!(
        shared(&created.warnings),
        warning("email_addresses[1].address", &ada)
    );
    let bob = created.self_link();
    let again = server.put(&bob, created.json.clone()).await;
    assert_eq!(again.warnings, Value::Null, "nothing is added");
    let same = server.put(&ada, with_addresses(&["Ada@example.org"])).await;
    assert_eq!(
        same.warnings,
        Value::Null,
        "the same address in another notation"
    );
    let body = with_addresses(&["ada@example.org", "eve@example.org", "bob@example.org"]);
    let changed = server.put(&ada, body.clone()).await;
    assert_eq!(
        shared(&changed.warnings),
        warning("email_addresses[2].address", &bob)
    );
    let named = server.put(&ada, json!({ "given_name": "Ada" })).await;
    assert_eq!(named.warnings, Value::Null);
    // Next to other warnings, at the position in the body.
    let body = json!({ "person": { "email": "x", "email_addresses": [
        { "address": "kim@example.org" }, { "address": "KIM@example.org" }, { "address": "ada@example.org" },
    ] } });
    let kim = server.make("people", json!({ "given_name": "Kim" })).await;
    let changed = server.put(&kim, body).await;
    assert_eq!(
        shared(&changed.warnings),
        warning("person.email_addresses[2].address", &ada)
    );
    assert_eq!(changed.warnings[0]["error_code"], "PROPERTY_UNKNOWN");
    assert_eq!(changed.warnings.as_array().map(Vec::len), Some(2));
    let body = json!({ "email_addresses": [{ "address": "" }, { "address": "kim@example.org" }] });
    let created = server.post("people", body).await;
    assert_eq!(
        shared(&created.warnings),
        warning("email_addresses[1].address", &kim)
    );
    let body = json!({ "email_addresses": [
        { "address_type": "work" }, { "address": "kim@example.org" }, { "address": "new@example.org" },
    ] });
    let created = server.post("people", body).await;
    assert_eq!(
        shared(&created.warnings),
        warning("email_addresses[1].address", &kim)
    );
    // Families share addresses, so strict handling does not reject them.
    let strict = [("prefer", "handling=strict")];
    let (status, json) = send(
        &server,
        &strict,
        ("POST", "people"),
        &with_addresses(&["ada@example.org"]),
    )
    .await;
    assert_eq!(status, 201, "{json}");
    assert_eq!(
        shared(&json["ext:warnings"]),
        warning("email_addresses[0].address", &ada)
    );
}

/// HLP-04: a sign-up with the addresses of two people goes to the older one, and no person loses an
/// address.
#[tokio::test]
async fn hlp_04_a_sign_up_with_the_addresses_of_two_people_warns() {
    let server = Server::with(|options| options, svc_core::ApiBuilder::batches).await;
    let ada = server
        .make("people", with_addresses(&["ada@example.org"]))
        .await;
    let bob = server
        .make("people", with_addresses(&["bob@example.org"]))
        .await;
    let before = server.get(&bob).await.json;
    let both = json!({ "person": with_addresses(&["bob@example.org", "ada@example.org"]) });
    for _ in 0..2 {
        let answer = server.post("people/person_signup", both.clone()).await;
        assert_eq!(answer.self_link(), ada);
        assert_eq!(
            answer.json["email_addresses"],
            with_addresses(&["ada@example.org", "bob@example.org"])["email_addresses"]
        );
        assert_eq!(
            shared(&answer.warnings),
            warning("person.email_addresses[0].address", &bob),
            "also if nothing changes: the address matches both people"
        );
        assert_eq!(server.get(&bob).await.json, before);
    }
    // Actions of helpers, and entries of batches.
    let petition = server.make("petitions", json!({})).await;
    let answer = server
        .post(&format!("{petition}/record_signature_helper"), both.clone())
        .await;
    assert_eq!(
        shared(&answer.warnings),
        warning("person.email_addresses[0].address", &bob)
    );
    let other = json!({ "person": with_addresses(&["kim@example.org"]) });
    let batch = server
        .post("people/person_signup/batch", json!([both, other, both]))
        .await;
    let results = batch.json["results"].as_array().into_iter().flatten();
    let of_entry = results.map(|result| shared(&result["body"]["ext:warnings"]).len());
    assert_eq!(of_entry.collect::<Vec<_>>(), [1, 0, 1], "{}", batch.json);
}

/// HLP-04, IDM-02: a repeated request gets the same warnings, also if the address is no longer shared.
/// IDM-08: a stored response does not name the other person.
#[tokio::test]
async fn hlp_04_a_repeated_request_gets_the_same_warnings() {
    let server = Server::start().await;
    let ada = server
        .make("people", with_addresses(&["ada@example.org"]))
        .await;
    let mut body = with_addresses(&["ada@example.org"]);
    body["no_such_field"] = json!(1);
    let key = [("idempotency-key", "one")];
    let first = send(&server, &key, ("POST", "people"), &body).await;
    assert_eq!(
        first.1["ext:warnings"].as_array().map(Vec::len),
        Some(2),
        "{}",
        first.1
    );
    assert_eq!(
        shared(&first.1["ext:warnings"]),
        warning("email_addresses[0].address", "")
    );
    server.put(&ada, with_addresses(&["a@example.org"])).await;
    assert_eq!(send(&server, &key, ("POST", "people"), &body).await, first);
    // It also gets them after the other person was deleted, and creates no second person.
    server.delete(&ada).await;
    assert_eq!(send(&server, &key, ("POST", "people"), &body).await, first);
}

/// HLP-04, AUT-04, HLP-07: only a key that may read people learns who else has an address.
#[tokio::test]
async fn hlp_04_no_warning_reveals_an_address_without_the_right_to_read() {
    let server = Server::start().await;
    server
        .make("people", with_addresses(&["ada@example.org"]))
        .await;
    let bob = server
        .make("people", with_addresses(&["bob@example.org"]))
        .await;
    let key_for = |operations: &[Operation]| {
        let rights = operations
            .iter()
            .map(|operation| Right::Operation(Kind::Person, *operation));
        let rights = Rights::only(rights.chain([Right::Helper(HelperName::PersonSignup)]));
        Context::new(
            server.tenant.clone(),
            Caller::with_rights(rights),
            Timestamp::now(),
        )
    };
    let both = with_addresses(&["bob@example.org", "ada@example.org"]);
    let signup = json!({ "person": both });
    let (writes, reads) = (
        key_for(&[Operation::Create, Operation::Update]),
        key_for(&[Operation::Create, Operation::Update, Operation::Read]),
    );
    for (cx, is_warned) in [(&writes, false), (&reads, true)] {
        for (method, address, body) in [
            ("PUT", bob.as_str(), &both),
            ("POST", "people", &both),
            ("POST", "people/person_signup", &signup),
        ] {
            server.put(&bob, with_addresses(&["bob@example.org"])).await;
            let answer = server.call_as(cx, method, address, body.clone()).await;
            assert!(answer.status < 300, "{method} {address}: {}", answer.json);
            assert_eq!(answer.warnings.is_array(), is_warned, "{method} {address}");
        }
    }
    let petition = server.make("petitions", json!({ "title": "p" })).await;
    let helper = format!("{petition}/record_signature_helper");
    for addresses in [
        ["bob@example.org", "ada@example.org"],
        ["new@example.org", "x@example.org"],
    ] {
        let body = json!({ "person": with_addresses(&addresses) });
        let answer = server
            .call_as(&server.stranger(), "POST", &helper, body)
            .await;
        assert_eq!(
            (answer.status, answer.json, answer.warnings),
            (200, json!({}), Value::Null)
        );
    }
}
