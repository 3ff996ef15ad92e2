//! A key with one right can use that right only: every operation on every kind, and every helper.
//!
//! Requirements: AUT-04, AUT-08.

use http::Method;
use serde_json::{Value, json};
use svc_core::auth::Right;
use svc_core::model::Kind;
use svc_sqlite::KeyOptions;

use crate::requirements::answer::Answer;
use crate::requirements::fixture::Fixture;
use crate::server::minimal;

/// The required right, method, address and body.
type Attempt = (String, Method, String, Value);

/// The kinds that are created below a container.
const BELOW: &str = "signature petitions submission forms donation fundraising_pages outreach advocacy_campaigns \
    attendance events answer questions tagging tags item lists";

/// Creates a record of a kind. Returns it, its collection, and the body for another one.
fn made(f: &Fixture, kind: Kind) -> (Value, String, Value) {
    let (one, many) = (kind.schema().singular, kind.schema().plural);
    let mut below = BELOW
        .split_ascii_whitespace()
        .skip_while(|word| *word != one);
    let Some(under) = below.nth(1) else {
        let collection = f.collection(many);
        let record = f.post(&collection, &minimal(many));
        return (record, collection, minimal(many));
    };
    let person = f.post(&f.collection("people"), &minimal("people"));
    let collection = f.href(&f.post(&f.collection(under), &minimal(under)), many);
    let body = json!({"value": "v", "_links": {"svc:person": person["_links"]["self"]}});
    (f.post(&collection, &body), collection, body)
}

/// Returns one request for each right.
fn attempts(f: &Fixture) -> Vec<Attempt> {
    let mut all = Vec::new();
    let own = |record: &Value| {
        record["_links"]["self"]["href"]
            .as_str()
            .expect("an address")
            .to_owned()
    };
    for kind in Kind::ALL
        .iter()
        .copied()
        .filter(|kind| !matches!(kind, Kind::Query | Kind::Canvass))
    {
        let many = kind.schema().plural;
        let (record, collection, body) = made(f, kind);
        let (lone, ..) = made(f, kind);
        all.push((
            format!("{many}.list"),
            Method::GET,
            collection.clone(),
            Value::Null,
        ));
        all.push((
            format!("{many}.read"),
            Method::GET,
            own(&record),
            Value::Null,
        ));
        all.push((
            format!("{many}.delete"),
            Method::DELETE,
            own(&lone),
            Value::Null,
        ));
        if !matches!(kind, Kind::Tagging | Kind::Item) {
            all.push((format!("{many}.create"), Method::POST, collection, body));
            all.push((
                format!("{many}.update"),
                Method::PUT,
                own(&record),
                json!({"identifiers": ["x:y"]}),
            ));
        }
        for (rel, link) in record["_links"].as_object().into_iter().flatten() {
            let Some(name) = rel
                .strip_prefix("svc:")
                .and_then(|rel| rel.strip_suffix("_helper"))
            else {
                continue;
            };
            let name = if name == "record_canvas" {
                "record_canvass"
            } else {
                name
            };
            let body = json!({"scheduled_start_date": "2026-03-01T12:00:00Z", "person": {"given_name": "Ada"}});
            let body = if name == "record_canvass" {
                json!({"canvass": {}})
            } else {
                body
            };
            all.push((
                format!("helper.{name}"),
                Method::POST,
                link["href"].as_str().expect("an address").into(),
                body,
            ));
        }
    }
    let signup = f.href(&f.get(&f.base), "person_signup_helper");
    all.push((
        "helper.person_signup".into(),
        Method::POST,
        signup,
        json!({"person": {"given_name": "Ada"}}),
    ));
    all
}

#[test]
fn every_right_is_one() {
    let f = Fixture::open(&[]);
    let all = attempts(&f);
    let rights: Vec<Right> = Right::all().collect();
    assert!(all.len() > 80, "{} requests", all.len());
    let send = |who: &str, (_, method, address, body): &Attempt| -> Answer {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        f.send(who, method, address, &[], &body)
    };
    for attempt in &all {
        let right: Right = attempt.0.parse().expect("a right");
        let others = KeyOptions::new("others")
            .rights(rights.iter().copied().filter(|other| *other != right));
        let refused = send(&f.issue("one", others).token, attempt);
        assert!(
            refused.status == 403 && refused.body.is_empty(),
            "without {right}: {} {}",
            refused.status,
            refused.text()
        );
        let reading = send("reader", attempt).status;
        assert_eq!(
            reading == 403,
            attempt.1 != Method::GET,
            "only the right {right} to read: {reading}"
        );
    }
    // Rejected requests have changed nothing: the same requests now succeed.
    for attempt in &all {
        let right: Right = attempt.0.parse().expect("a right");
        let done = send(
            &f.issue("one", KeyOptions::new("one").rights([right])).token,
            attempt,
        );
        assert!(
            matches!(done.status, 200..=204),
            "with only the right {right}: {} {}",
            done.status,
            done.text()
        );
    }
}
