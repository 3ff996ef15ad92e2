//! Loading many records together, and share objects with other names.

use crate::server::Server;
use serde_json::json;
use svc_core::store::ImportedRecord;
use svc_core::{
    link::{Dialect, RecordAddress, ShareNames},
    model::Kind,
    raw::RawDraft,
    read::{Json, JsonLimits, Object},
    value::{Id, Identifier, Timestamp},
};

fn id(number: u32) -> Id {
    Id::new(&format!("01980000-0000-7000-8000-{number:012}")).unwrap()
}

fn fields(text: &str) -> Object {
    Json::read(text.as_bytes(), &JsonLimits::default())
        .unwrap()
        .into_object()
        .unwrap()
}

fn row(kind: Kind, number: u32, text: &str, links: &[(&'static str, Kind, u32)]) -> ImportedRecord {
    let links = links
        .iter()
        .map(|(name, kind, number)| (*name, RecordAddress::without_parent(*kind, id(*number))))
        .collect();
    let created = Timestamp::from_micros(1_767_603_600_000_000 + i64::from(number));
    ImportedRecord::new(
        id(number),
        created,
        RawDraft::empty(kind)
            .with_fields(fields(text))
            .with_links(links),
    )
}

/// Loaded records equal created ones, with their ids and dates: they are found, counted and linked.
#[tokio::test]
async fn a_load() {
    let server = Server::start().await;
    let mut answer = row(
        Kind::Answer,
        5,
        r#"{"value": "v"}"#,
        &[("question", Kind::Question, 4), ("person", Kind::Person, 1)],
    );
    answer.draft.recorded_by = Some(RecordAddress::with_parent(Kind::Submission, id(6), id(7)));
    let mut person = row(
        Kind::Person,
        1,
        r#"{"email_addresses": [{"address": "A@example.org"}]}"#,
        &[],
    );
    person.draft.identifiers = vec![Identifier::parse("x:1").unwrap()];
    let rows = vec![
        person,
        row(
            Kind::Query,
            2,
            r#"{"name": "q"}"#,
            &[("creator", Kind::Person, 1)],
        ),
        row(
            Kind::Message,
            3,
            r#"{"name": "m", "scheduled_start_date": "2026-03-01T12:00:00Z"}"#,
            &[],
        ),
        row(Kind::Question, 4, r#"{"question_type": "Paragraph"}"#, &[]),
        row(Kind::Form, 6, "{}", &[]),
        row(
            Kind::Submission,
            7,
            "{}",
            &[("form", Kind::Form, 6), ("person", Kind::Person, 1)],
        ),
        answer,
        row(
            Kind::Event,
            8,
            r#"{"type": "ticketed", "ticket_levels": [{"title": "T", "limit": 5, "amount": 2.50}]}"#,
            &[],
        ),
        row(
            Kind::Attendance,
            9,
            r#"{"tickets": [{"title": "T", "person": {"email_addresses": [{"address": "a@example.org"}]}},
                {"title": "T", "person": {"given_name": "Nobody"}}]}"#,
            &[("event", Kind::Event, 8), ("person", Kind::Person, 1)],
        ),
    ];
    server
        .store
        .import_records(&server.tenant, rows)
        .await
        .unwrap();
    let person = server.get(&format!("people/{}", id(1))).await;
    assert_eq!(
        person.json["identifiers"],
        json!([format!("here:{}", id(1)), "x:1"]),
        "TYP-13"
    );
    assert_eq!(
        person.json["created_date"], "2026-01-05T09:00:00.000001Z",
        "TYP-15"
    );
    assert_eq!(
        person.json["modified_date"], person.json["created_date"],
        "TYP-16"
    );
    assert_eq!(
        server.total("people").await,
        1,
        "the holder of a ticket does not become a person"
    );
    let query = server.get(&format!("queries/{}", id(2))).await;
    assert_eq!(
        (query.link("svc:creator"), query.json.get("total_results")),
        (person.self_link(), None),
        "UND-04"
    );
    assert_eq!(
        server
            .put(&query.self_link(), json!({"title": "t"}))
            .await
            .json["title"],
        "t",
        "UND-04"
    );
    let message = server.get(&format!("messages/{}", id(3))).await.json;
    assert_eq!(
        message["scheduled_start_date"], "2026-03-01T12:00:00Z",
        "RES-message-01"
    );
    let submission = server.get(&format!("submissions/{}", id(7))).await;
    assert_eq!(
        server.total(&submission.link("svc:answers")).await,
        1,
        "COL-10"
    );
    let event = server.get(&format!("events/{}", id(8))).await.json;
    assert_eq!(
        (&event["total_tickets"], &event["total_amount"]),
        (&json!(2), &json!(5.00)),
        "RES-event-19"
    );
    assert_eq!(event["ticket_levels"][0]["limit"], 3, "RES-event-15");
    let known = json!({"person": {"email_addresses": [{"address": "a@EXAMPLE.org"}]}});
    assert_eq!(
        server.post("people/person_signup", known).await.self_link(),
        person.self_link(),
        "HLP-04"
    );
    // A known holder is erased with the person.
    assert_eq!(server.delete(&person.self_link()).await.status, 204);
    let tickets = server
        .get(&format!("events/{}/attendances/{}", id(8), id(9)))
        .await
        .json["tickets"]
        .clone();
    assert!(
        tickets[0].get("person").is_none() && tickets[1].get("person").is_some(),
        "UND-26: {tickets}"
    );
}

/// A load that breaks a rule reports the record, and stores nothing.
#[tokio::test]
async fn a_load_that_is_refused() {
    let server = Server::start().await;
    let refuse = |rows: Vec<ImportedRecord>| {
        let (store, tenant) = (server.store.clone(), server.tenant.clone());
        async move { store.import_records(&tenant, rows).await.unwrap_err() }
    };
    let twice = vec![
        row(Kind::Tag, 1, r#"{"name": "t"}"#, &[]),
        row(Kind::Tag, 2, r#"{"name": "t"}"#, &[]),
    ];
    let problems = refuse(twice).await.into_problems().unwrap();
    assert!(
        problems[0].description().contains(id(2).as_str()),
        "{problems:?}"
    );
    let orphan = vec![row(
        Kind::Signature,
        3,
        "{}",
        &[("petition", Kind::Petition, 9), ("person", Kind::Person, 9)],
    )];
    assert!(refuse(orphan).await.is_unexpected());
    let mut spelled = row(Kind::Tag, 4, "{}", &[]);
    spelled.id = Id::new("tag-4").unwrap();
    assert!(refuse(vec![spelled]).await.is_unexpected());
    assert!(
        refuse(vec![
            row(Kind::Tag, 5, "{}", &[]),
            row(Kind::Tag, 5, "{}", &[])
        ])
        .await
        .is_unexpected()
    );
    assert_eq!(server.total("tags").await, 0, "ERR-04");
}

/// HAL-11: share objects are stored under the names of this file, and merged, completed and counted
/// under them.
#[tokio::test]
async fn other_share_names() {
    let names = || ShareNames::new("north_share", "south_share").unwrap();
    let dialect = Dialect::default().with_share_names(names());
    let server = Server::with(
        |options| options.share_names(names()),
        |api| api.dialect(dialect),
    )
    .await;
    let options = json!([{"north_share": {"title": "t"}, "south_share": {"message": "m"}, "network_a_share": {"title": "no"}}]);
    let petition = server
        .post("petitions", json!({"share_options": options}))
        .await;
    let stored = json!([{"north_share": {"title": "t", "total_shares": 0}, "south_share": {"message": "m", "total_shares": 0}}]);
    assert_eq!(
        petition.json["share_options"], stored,
        "HAL-11, RES-share_options-09"
    );
    let put = server
        .put(&petition.self_link(), json!({"title": "x"}))
        .await;
    assert_eq!(put.json["share_options"], stored, "CRU-15");
    let put = server
        .put(
            &petition.self_link(),
            json!({"share_options": [{"south_share": {"message": "n"}}]}),
        )
        .await;
    assert_eq!(
        put.json["share_options"],
        json!([{"south_share": {"message": "n", "total_shares": 0}}]),
        "CRU-18"
    );
    assert_eq!(
        server.get(&petition.self_link()).await.json,
        put.json,
        "HAL-11"
    );
}
