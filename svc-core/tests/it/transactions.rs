//! Write requests in transactions of the backend: they are all or nothing, take locks, and are
//! repeated after a rollback by the database.

use std::sync::Arc;

use http::Method;
use serde_json::json;
use svc_core::{
    Error, ErrorCode, LockKey, Problem, Tenant, api::Atomicity, backend::SavepointAction,
    helper::MatchKey, model::Kind, value::Identifier,
};

use crate::{
    composed::{Entry, assert_entries, signing},
    support::{
        server::{Server, builder, everything},
        typed_backend::Memory,
    },
};

/// Returns a server with everything of the specification, where each helper request is one
/// transaction.
fn in_transactions(atomic: bool) -> Server {
    let store = Arc::new(Memory::default());
    let api = everything(builder(), &store)
        .transactions(&store)
        .atomicity(if atomic {
            Atomicity::WholeCall
        } else {
            Atomicity::PerResource
        })
        .build()
        .unwrap();
    Server { api, store }
}

fn people_and_signatures(server: &Server) -> (usize, usize) {
    (
        server.store.count(Kind::Person),
        server.store.count(Kind::Signature),
    )
}

#[test]
fn err_34_a_helper_call_is_committed_once() {
    for atomic in [true, false] {
        let server = in_transactions(atomic);
        let helper = signing(&server);
        server.made("tags", r#"{"name":"t"}"#);
        server.store.ended();
        let signed = server.post(
            &helper,
            r#"{"person":{"given_name":"Ada"},"add_tags":["t"]}"#,
        );
        assert_eq!(signed.status, 200, "HLP-06: {}", signed.text);
        assert_eq!(
            server.store.ended(),
            [
                SavepointAction::Set.sql(),
                SavepointAction::Release.sql(),
                "committed"
            ],
            "ERR-34"
        );
        assert_eq!(people_and_signatures(&server), (1, 1), "HLP-11");
    }
}

#[test]
fn err_04_each_write_is_one_transaction_and_no_read_is() {
    let server = in_transactions(false);
    let made = server.post("tags", r#"{"name":"t"}"#);
    assert_eq!(
        (made.status, server.store.ended()),
        (201, vec!["committed"]),
        "CRU-13: {}",
        made.text
    );
    let tag = made.link("self").unwrap().to_owned();
    assert_eq!(server.get(&tag).status, 200, "COL-03");
    assert_eq!(server.get("tags").status, 200, "COL-01");
    assert_eq!(
        server.store.ended(),
        Vec::<&str>::new(),
        "reads use no transaction"
    );
    let changed = server.send(&Method::PUT, &tag, r#"{"description":"d"}"#);
    assert_eq!(
        (changed.status, server.store.ended()),
        (200, vec!["committed"]),
        "CRU-15: {}",
        changed.text
    );
    server.store.refuse(
        Kind::Tag,
        Problem::new(ErrorCode::NameInUse, "name", "Taken."),
    );
    for (method, to) in [(Method::POST, "tags"), (Method::PUT, tag.as_str())] {
        let refused = server.send(&method, to, r#"{"name":"u"}"#);
        assert_eq!(
            (refused.status, server.store.ended()),
            (400, vec!["rolled back"]),
            "ERR-04 {method}"
        );
    }
    let deleted = server.send(&Method::DELETE, &tag, "");
    assert_eq!(
        (deleted.status, server.store.ended()),
        (204, vec!["committed"]),
        "CRU-05: {}",
        deleted.text
    );
    assert_eq!(server.send(&Method::DELETE, &tag, "").status, 404, "UND-37");
}

#[test]
fn err_29_nothing_stays_of_an_entry_that_fails_alone() {
    let server = in_transactions(false);
    let helper = signing(&server);
    for name in ["one", "two"] {
        server.made("tags", &json!({ "name": name }).to_string());
    }
    server.store.ended();
    server.store.refuse_after(
        Kind::Tagging,
        Problem::for_request(ErrorCode::FieldInvalid, "Not this one."),
    );
    let answer = server.post(
        &helper,
        r#"{"person":{"given_name":"Ada"},"add_tags":["one","two"]}"#,
    );
    let refused: (&str, u64, &[&str]) = ("tagging", 400, &["FIELD_INVALID "]);
    assert_entries(
        &answer,
        "ERR-29",
        &[
            ("person", 201, &[]),
            ("signature", 201, &[]),
            refused,
            refused,
        ],
    );
    let [set, undo] = [SavepointAction::Set.sql(), SavepointAction::Rollback.sql()];
    assert_eq!(
        server.store.ended(),
        [set, undo, set, undo, "committed"],
        "ERR-29"
    );
    assert_eq!(
        (
            server.store.count(Kind::Tagging),
            people_and_signatures(&server)
        ),
        (0, (1, 1)),
        "ERR-29"
    );
}

#[test]
fn hlp_04_und_24_keys_are_locked_before_anything_is_looked_up() {
    let server = in_transactions(true);
    let helper = signing(&server);
    let body = json!({
        "identifiers": ["a:1"],
        "person": { "identifiers": ["p:1"], "email_addresses": [{"address": "B@example.org"}, {"address": "a@example.org"}] },
    });
    server.store.looks();
    assert_eq!(server.store.locked(), [], "nothing is locked without keys");
    assert_eq!(
        server.post(&helper, &body.to_string()).status,
        200,
        "HLP-06"
    );
    let locked = server.store.locked();
    let [(keys, looks)] = locked.as_slice() else {
        panic!("locked once: {locked:?}")
    };
    let [signature, person, one, other] = [
        (
            Kind::Signature,
            MatchKey::Identifier(Identifier::parse("a:1").unwrap()),
        ),
        (
            Kind::Person,
            MatchKey::Identifier(Identifier::parse("p:1").unwrap()),
        ),
        (Kind::Person, MatchKey::Email("b@example.org".to_owned())),
        (Kind::Person, MatchKey::Email("a@example.org".to_owned())),
    ]
    .map(|(kind, key)| LockKey::new(Tenant::new("one"), kind, key));
    let mut expected = vec![signature, person, one, other];
    expected.sort_by_key(LockKey::advisory_lock_id);
    assert_eq!(
        (keys, *looks),
        (&expected, 0),
        "HLP-04, UND-24: ordered by number, before the first lookup"
    );
    server.made(
        "people",
        r#"{"identifiers":["p:2"],"email_addresses":[{"address":"c@example.org"}]}"#,
    );
    let locked: Vec<usize> = server
        .store
        .locked()
        .iter()
        .map(|(keys, _)| keys.len())
        .collect();
    assert_eq!(
        locked,
        [1],
        "UND-24: a create matches no person, and stores an identifier"
    );
}

#[test]
fn und_36_a_call_that_others_undid_runs_again_a_few_times() {
    let store = Arc::new(Memory::default());
    let is_undone = |error: &(dyn std::error::Error + 'static)| {
        let error = error.downcast_ref::<std::io::Error>()?;
        (error.kind() == std::io::ErrorKind::Interrupted).then(Error::rolled_back)
    };
    let api = everything(builder(), &store)
        .transactions(&store)
        .map_errors(is_undone)
        .build()
        .unwrap();
    let server = Server { api, store };
    let helper = signing(&server);
    server.store.ended();
    let signing =
        r#"{"person":{"given_name":"Ada","email_addresses":[{"address":"a@example.org"}]}}"#;
    for (path, body, row) in [
        (helper.as_str(), signing, "HLP-06"),
        ("people", r#"{"given_name":"Bob"}"#, "CRU-01"),
    ] {
        server.store.undo_commits(3);
        let done = server.post(path, body);
        assert!([200, 201].contains(&done.status), "{row}: {}", done.text);
        assert_eq!(
            server.store.ended(),
            ["undone", "undone", "undone", "committed"],
            "{row}"
        );
    }
    assert_eq!(
        people_and_signatures(&server),
        (2, 1),
        "each record was created once"
    );
    server.store.undo_commits(100);
    let given_up = server.post("people", r#"{"given_name":"Eve"}"#);
    assert_eq!(
        (given_up.status, given_up.retry_after.as_deref()),
        (503, Some("1")),
        "UND-36: {}",
        given_up.text
    );
    assert_eq!(
        (server.store.ended().len(), server.store.count(Kind::Person)),
        (10, 2),
        "UND-36"
    );
}

#[test]
fn err_34_hlp_10_a_refused_action_leaves_nobody() {
    let refusal = || Problem::new(ErrorCode::FieldInvalid, "comments", "Not this.");
    for atomic in [true, false] {
        let server = in_transactions(atomic);
        let helper = signing(&server);
        server.store.ended();
        server.store.refuse(Kind::Signature, refusal());
        let answer = server.post(&helper, r#"{"comments":"c","person":{"given_name":"Ada"}}"#);
        assert_eq!(
            (answer.status, answer.problems()),
            (400, vec!["FIELD_INVALID comments".to_owned()]),
            "HLP-10"
        );
        assert_eq!(answer.json["svc:error"]["request_type"], "atomic", "ERR-20");
        assert_eq!(server.store.ended(), ["rolled back"], "ERR-34");
        assert_eq!(people_and_signatures(&server), (0, 0), "ERR-34, HLP-10");
    }
}

#[test]
fn err_34_what_fails_alone_fails_the_call_where_helpers_are_atomic() {
    let body = r#"{"person":{"given_name":"Ada"},"add_tags":["no"]}"#;
    let server = in_transactions(true);
    let helper = signing(&server);
    server.store.ended();
    let answer = server.post(&helper, body);
    assert_eq!(
        (answer.status, answer.problems()),
        (400, vec!["TAG_NAME_DOES_NOT_EXIST add_tags".to_owned()]),
        "ERR-34"
    );
    assert_eq!(
        (server.store.ended(), people_and_signatures(&server)),
        (vec!["rolled back"], (0, 0)),
        "ERR-34"
    );
    let declared = |server: &Server| server.get("docs/capabilities").json["behaviours"].to_string();
    assert!(!declared(&server).contains("helper.non_atomic"), "CAP-04");

    let server = in_transactions(false);
    let expected: [Entry<'_>; 3] = [
        ("person", 201, &[]),
        ("signature", 201, &[]),
        ("tagging", 400, &["TAG_NAME_DOES_NOT_EXIST add_tags"]),
    ];
    let helper = signing(&server);
    server.store.ended();
    assert_entries(&server.post(&helper, body), "ERR-29", &expected);
    assert_eq!(
        (server.store.ended(), people_and_signatures(&server)),
        (vec!["committed"], (1, 1)),
        "ERR-29"
    );
    assert!(declared(&server).contains("helper.non_atomic"), "CAP-04");
}

#[test]
fn err_05_trouble_of_the_backend_leaves_nobody() {
    for kind in [Kind::Signature, Kind::Tagging] {
        let server = in_transactions(false);
        let helper = signing(&server);
        server.made("tags", r#"{"name":"t"}"#);
        server.store.ended();
        server.store.fail(kind);
        let answer = server.post(
            &helper,
            r#"{"person":{"given_name":"Ada"},"add_tags":["t"]}"#,
        );
        assert_eq!(
            (answer.status, server.store.ended().pop()),
            (500, Some("rolled back")),
            "ERR-05: {}",
            answer.text
        );
        assert_eq!(people_and_signatures(&server), (0, 0), "ERR-04 {kind:?}");
    }
}

#[test]
fn err_34_composed_helpers_are_atomic_in_transactions_only() {
    let store = Arc::new(Memory::default());
    assert!(
        everything(builder(), &store)
            .atomicity(Atomicity::WholeCall)
            .transactions(&store)
            .build()
            .is_ok(),
        "ERR-34"
    );
    let found = everything(builder(), &store)
        .atomicity(Atomicity::WholeCall)
        .build()
        .expect_err("a contradiction");
    let found = found.problems();
    let says = |helper: &str| {
        found
            .iter()
            .any(|it| it.contains(helper) && it.contains("call `.transactions(...)`"))
    };
    assert!(
        says("person_signup") && says("record_signature") && says("record_canvass"),
        "ERR-34: {found:?}"
    );
}

#[test]
fn hlp_04_what_is_known_beforehand_is_looked_up_at_once() {
    let server = in_transactions(true);
    let helper = signing(&server);
    for name in ["one", "two", "three"] {
        server.made("tags", &json!({ "name": name }).to_string());
    }
    let body = json!({
        "identifiers": ["a:1"],
        "person": {
            "identifiers": ["p:1", "p:2"],
            "email_addresses": [{"address": "a@example.org"}, {"address": "b@example.org"}],
        },
        "add_tags": ["one", "two", "three"],
    })
    .to_string();
    server.store.looks();
    assert_eq!(server.post(&helper, &body).status, 200, "HLP-06");
    let looks = server.store.looks();
    // The lookups: two identifiers, two addresses and three tags. Signatures cannot be looked up
    // here.
    assert_eq!(
        (looks.all, looks.rounds, looks.in_transaction),
        (7, 1, 7),
        "HLP-04: {looks:?}"
    );
    assert_eq!(
        server.post(&helper, &body.replace("a:1", "a:2")).status,
        200,
        "HLP-04"
    );
    assert_eq!(
        server.store.looks().rounds,
        1,
        "HLP-04: one round for a known person"
    );
    assert_eq!(server.store.count(Kind::Person), 1, "HLP-04");
}
