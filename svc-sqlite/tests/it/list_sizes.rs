//! A maximum number of entries of a list: creates and changes with more entries are rejected, and
//! helpers store the entries that fit, on the store in memory and on the store in a file.
//!
//! Requirements: CAP-04, HLP-04.

use http::Method;
use serde_json::{Value, json};
use svc_core::{
    api::ApiBuilder,
    auth::{Caller, Identity, Principal},
    model::Kind,
    schema::Constraints,
};

use crate::both_stores::{self, Answer, Subject};

fn limited(api: ApiBuilder) -> ApiBuilder {
    let mut people = Constraints::default();
    people.entry(&["email_addresses"]).max_items = Some(2);
    people.entry(&["phone_numbers"]).max_items = Some(2);
    people.entry(&["postal_addresses"]).max_items = Some(1);
    people
        .entry(&["postal_addresses", "address_lines"])
        .max_items = Some(2);
    people.entry(&["languages_spoken"]).max_items = Some(2);
    api.constraints(Kind::Person, people)
        .merge_people()
        .batches()
}

async fn each(check: impl AsyncFn(&Subject)) {
    both_stores::each(limited, check).await;
}

/// Entries of a list of addresses. `*` marks the primary one.
fn emails(addresses: &[&str]) -> Value {
    let entry = |text: &&str| match text.strip_suffix('*') {
        Some(name) => json!({"address": format!("{name}@example.org"), "primary": true}),
        None => json!({"address": format!("{text}@example.org")}),
    };
    addresses.iter().map(entry).collect()
}

/// Returns the addresses of a person, as [`emails`] reads them.
fn addresses(person: &Value) -> Vec<String> {
    let list = person["email_addresses"].as_array();
    let text = |entry: &Value| {
        let address = entry["address"].as_str().unwrap();
        let mark = if entry["primary"] == true { "*" } else { "" };
        format!("{}{mark}", address.strip_suffix("@example.org").unwrap())
    };
    list.into_iter().flatten().map(text).collect()
}

/// Returns the warnings of a response about omitted entries, each with its properties.
fn omitted(answer: &Answer) -> Vec<(&str, &str)> {
    let warnings = answer.json["ext:warnings"].as_array();
    warnings
        .into_iter()
        .flatten()
        .filter(|it| it["error_code"] == "ENTRIES_OMITTED")
        .map(|it| {
            assert_eq!(it["properties"].as_array().map(Vec::len), Some(1));
            (
                it["properties"][0].as_str().unwrap(),
                it["description"].as_str().unwrap(),
            )
        })
        .collect()
}

const ONE_EMAIL: (&str, &str) = (
    "person.email_addresses",
    "1 entry of `person.email_addresses` was omitted. The list can have at most 2.",
);

impl Subject {
    async fn signs(&self, petition: &str, person: Value) -> Answer {
        let helper = format!("{petition}/record_signature_helper");
        let body = json!({"person": person, "comments": "Yes"});
        let answer = self.call(Method::POST, &helper, &body).await;
        assert_eq!(answer.status, 200, "{}: {}", self.name, answer.json);
        answer
    }

    /// Returns the person of a signature.
    async fn signer(&self, signature: &Answer) -> Value {
        let person = &signature.json["_links"]["svc:person"]["href"];
        self.read(person.as_str().unwrap()).await
    }
}

/// CAP-04: a create and a change with more entries than declared are rejected with both numbers.
#[tokio::test]
async fn cap_04_more_entries_than_declared_are_rejected() {
    each(async |subject| {
        let person = json!({"email_addresses": emails(&["a", "b", "c"])});
        let answer = subject.call(Method::POST, "people", &person).await;
        answer.assert_rejected(400, "FIELD_INVALID", &["email_addresses"]);
        let status = &answer.json["svc:error"]["resource_status"][0];
        assert_eq!(
            status["error_descriptions"][0]["description"],
            "`email_addresses` has 3 entries, but can have at most 2."
        );
        let lines = json!({"postal_addresses": [{"address_lines": ["1 Main St", "Floor 2", "Room 3"]}]});
        let answer = subject.call(Method::POST, "people", &lines).await;
        answer.assert_rejected(400, "FIELD_INVALID", &["postal_addresses[0].address_lines"]);
        // An empty entry and a repeated one are not stored, and do not count.
        let person = json!({"email_addresses": [
            {"address": "a@example.org"}, {"address": ""}, {"address": "b@example.org"}, {"address": "A@example.org"},
        ]});
        let at = subject.make("people", person).await;
        assert_eq!(addresses(&subject.read(&at).await), ["a", "b"]);
        let more = json!({"email_addresses": emails(&["a", "b", "c"])});
        let answer = subject.call(Method::PUT, &at, &more).await;
        answer.assert_rejected(400, "FIELD_INVALID", &["email_addresses"]);
        let answer = subject
            .call(Method::PUT, &at, &json!({"email_addresses": emails(&["c", "d"])}))
            .await;
        assert_eq!((answer.status, addresses(&answer.json)), (200, vec!["c".to_owned(), "d".to_owned()]));
    })
    .await;
}

/// HLP-04: the action of a new person is recorded, and the person has the entries that fit.
#[tokio::test]
async fn hlp_04_a_new_person_gets_the_entries_that_fit() {
    each(async |subject| {
        let petition = subject.make("petitions", json!({"title": "Trees"})).await;
        let signature = subject
            .signs(
                &petition,
                json!({
                    "given_name": "Ada",
                    "email_addresses": emails(&["ada", "ada.work", "ada.club*"]),
                    "postal_addresses": [{"address_lines": ["1 Main St", "Floor 2", "Room 3"]}, {"locality": "Paris"}],
                    "languages_spoken": ["en", "fr", "de", "es"],
                }),
            )
            .await;
        let mut warnings = omitted(&signature);
        warnings.sort_unstable();
        assert_eq!(
            warnings,
            [
                ONE_EMAIL,
                ("person.languages_spoken", "2 entries of `person.languages_spoken` were omitted. The list can have at most 2."),
                ("person.postal_addresses", "1 entry of `person.postal_addresses` was omitted. The list can have at most 1."),
                ("person.postal_addresses[0].address_lines", "1 entry of `person.postal_addresses[0].address_lines` was omitted. The list can have at most 2."),
            ],
            "{}",
            subject.name
        );
        let ada = subject.signer(&signature).await;
        assert_eq!(addresses(&ada), ["ada", "ada.club*"]);
        assert_eq!(ada["languages_spoken"], json!(["en", "fr"]));
        assert_eq!(ada["postal_addresses"], json!([{"address_lines": ["1 Main St", "Floor 2"]}]));
        assert_eq!(subject.read(&petition).await["total_signatures"], 1);
        // Entries that fit cause no warning.
        let person = json!({"email_addresses": emails(&["bob", "bob.work"])});
        let signature = subject.signs(&petition, person).await;
        assert_eq!(signature.json.get("ext:warnings"), None);
    })
    .await;
}

/// HLP-04: the action of an existing person is recorded, and the entries of the person remain.
#[tokio::test]
async fn hlp_04_an_existing_person_keeps_the_entries() {
    each(async |subject| {
        let petition = subject.make("petitions", json!({"title": "Trees"})).await;
        let one = subject
            .make("people", json!({"email_addresses": emails(&["ada*"]), "postal_addresses": [{"locality": "Paris", "primary": true}]}))
            .await;
        // The first new address fits.
        let posted = json!({"given_name": "Ada", "email_addresses": emails(&["ada", "ada.work", "ada.club"])});
        let signature = subject.signs(&petition, posted.clone()).await;
        assert_eq!(omitted(&signature), [ONE_EMAIL], "{}", subject.name);
        assert_eq!(signature.json["_links"]["svc:person"]["href"], one);
        let ada = subject.read(&one).await;
        assert_eq!(addresses(&ada), ["ada*", "ada.work"]);
        assert_eq!(ada["given_name"], "Ada");
        // The list is full: a new primary address and a new primary postal address do not fit.
        let posted = json!({
            "source": "web",
            "email_addresses": emails(&["ada.work", "ada.club*"]),
            "postal_addresses": [{"locality": "Lyon", "primary": true}],
        });
        let signature = subject.signs(&petition, posted.clone()).await;
        assert_eq!(omitted(&signature).len(), 2);
        let now = subject.read(&one).await;
        assert_eq!(addresses(&now), ["ada*", "ada.work"]);
        assert_eq!(now["postal_addresses"], ada["postal_addresses"]);
        assert_eq!(now["source"], "web");
        // A repeated request warns again, and changes nothing.
        let signature = subject.signs(&petition, posted).await;
        assert_eq!(omitted(&signature).len(), 2);
        assert_eq!(subject.read(&one).await, now);
        // A known address can become the primary one.
        let posted = json!({"email_addresses": emails(&["ada", "ada.work*"])});
        let signature = subject.signs(&petition, posted).await;
        assert_eq!(signature.json.get("ext:warnings"), None);
        assert_eq!(addresses(&subject.read(&one).await), ["ada", "ada.work*"]);
        assert_eq!(subject.read(&petition).await["total_signatures"], 4);
    })
    .await;
}

/// HLP-04: also the sign-up helper, a create with a person, a batch and a preview warn. `handling=strict`
/// changes nothing.
#[tokio::test]
async fn hlp_04_each_way_to_post_a_person_stores_what_fits() {
    each(async |subject| {
        let person = |name: &str| {
            let all = [name, "second", "third"].map(|it| format!("{name}.{it}"));
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            json!({"person": {"email_addresses": emails(&all)}})
        };
        let helper = "people/person_signup_helper";
        let strict = &[("prefer", "handling=strict")];
        for (at, headers) in [(helper, &[][..]), (helper, strict), ("people", &[])] {
            let name = format!("n{}{}", at.len(), headers.len());
            let answer = subject
                .send(
                    subject.full_key(),
                    Method::POST,
                    at,
                    headers,
                    &person(&name),
                )
                .await;
            assert!([200, 201].contains(&answer.status), "{}", answer.json);
            assert_eq!(omitted(&answer), [ONE_EMAIL], "{at}: {}", answer.json);
            assert_eq!(addresses(&answer.json).len(), 2, "{at}");
        }
        let before = subject.read("people").await["total_records"].clone();
        for (query, name) in [("?preview=true", "preview"), ("", "batch")] {
            let entries = json!([person(name)]);
            let batch = format!("{helper}/batch{query}");
            let answer = subject.call(Method::POST, &batch, &entries).await;
            let entry = &answer.json["results"][0];
            assert_eq!(entry["status"], 200, "{}", answer.json);
            let warning = &entry["body"]["ext:warnings"][0];
            assert_eq!(warning["description"], ONE_EMAIL.1, "{}", answer.json);
            if name == "preview" {
                assert_eq!(subject.read("people").await["total_records"], before);
            }
        }
    })
    .await;
}

/// HLP-07: a caller without a key does not learn what is stored.
#[tokio::test]
async fn hlp_07_an_anonymous_caller_gets_no_warning() {
    each(async |subject| {
        let petition = subject.make("petitions", json!({"title": "Trees"})).await;
        let helper = format!("{petition}/record_signature_helper");
        let caller = Caller::anonymous();
        let identity = Identity::Authenticated(Principal::new(subject.tenant.clone(), caller));
        let person = json!({"email_addresses": emails(&["ada", "ada.work", "ada.club"])});
        let body = json!({"person": person});
        let answer = subject
            .send(identity, Method::POST, &helper, &[], &body)
            .await;
        assert_eq!((answer.status, &answer.json), (200, &json!({})));
        let people = subject.read("people").await;
        let ada = &people["_embedded"]["svc:people"][0];
        assert_eq!(addresses(ada), ["ada", "ada.work"]);
    })
    .await;
}

/// MRG-03: a merge of two people that have too many addresses together is rejected. The request can
/// contain those that remain.
#[tokio::test]
async fn mrg_03_a_merge_has_at_most_as_many_entries() {
    each(async |subject| {
        let one = subject
            .make("people", json!({"email_addresses": emails(&["a", "b"])}))
            .await;
        let other = subject
            .make(
                "people",
                json!({"email_addresses": emails(&["b.other", "c"])}),
            )
            .await;
        let helper = format!("{one}/merge_helper");
        let merge = json!({"_links": {"svc:person": {"href": other}}});
        let answer = subject.call(Method::POST, &helper, &merge).await;
        answer.assert_rejected(400, "FIELD_INVALID", &["email_addresses"]);
        let mut chosen = merge.clone();
        chosen["person"] = json!({"email_addresses": emails(&["a", "c"])});
        let answer = subject.call(Method::POST, &helper, &chosen).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
        assert_eq!(addresses(&answer.json), ["a", "c"]);
    })
    .await;
}
