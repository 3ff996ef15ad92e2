//! A deleted person is erased from every record, every lookup, and the file.
//!
//! Requirements: UND-26.

use crate::server::Server;
use serde_json::{Value, json};

/// Part of every personal value of the test.
const PLANTED: &str = "PLANTEDVALUE";

/// Returns how often the planted text is in the files of a store.
fn planted(server: &Server) -> usize {
    let folder = server.store.path().parent().unwrap();
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    let times = |bytes: Vec<u8>| {
        bytes
            .windows(PLANTED.len())
            .filter(|window| *window == PLANTED.as_bytes())
            .count()
    };
    files.map(times).sum()
}

fn ada() -> Value {
    json!({"identifiers": [format!("crm:{PLANTED}1")], "given_name": format!("{PLANTED} Ada"),
        "family_name": format!("{PLANTED} L"), "custom_fields": {"note": format!("{PLANTED} {}", "x".repeat(9000))},
        "email_addresses": [{"address": format!("{PLANTED}@example.org"), "primary": true}],
        "phone_numbers": [{"number": "15550100001"}]})
}

/// UND-26, "It must show" 13: what is erased, what remains, and that no planted value remains in
/// the file.
#[tokio::test]
async fn a_person_is_erased() {
    let server = Server::start().await;
    for number in 0..50 {
        server
            .make(
                "people",
                json!({"given_name": format!("Somebody {number}")}),
            )
            .await;
    }
    server.make("tags", json!({"name": "t"})).await;
    let list = server.make("lists", json!({"name": "l"})).await;
    let question = server
        .make("questions", json!({"question_type": "Paragraph"}))
        .await;
    let signup = json!({"person": ada(), "add_tags": ["t"], "add_lists": ["l"],
        "add_questions_responses_uri": [{"question": question, "value": format!("{PLANTED} answer")}],
        "triggers": {"autoresponse": {"enabled": true, "identifiers": [format!("mail:{PLANTED}")]}}});
    let person = server
        .post("people/person_signup", signup)
        .await
        .self_link();
    let other = server.make("people", json!({"given_name": "Other"})).await;

    let mut actions = Vec::new();
    for (container, members, total) in [
        ("petitions", "signatures", "total_signatures"),
        ("forms", "submissions", "total_submissions"),
        ("fundraising_pages", "donations", "total_donations"),
        ("events", "attendances", "total_accepted"),
        ("advocacy_campaigns", "outreaches", "total_outreaches"),
    ] {
        let owner = server.make(container, json!({})).await;
        let link = json!({"_links": {"svc:person": {"href": person}}});
        let action = server.make(&format!("{owner}/{members}"), link).await;
        actions.push((action, owner, total));
    }
    let created = server
        .call_as(&server.bound(&person), "POST", "petitions", json!({}))
        .await
        .self_link();
    let organized = server
        .make(
            "events",
            json!({"_links": {"svc:organizer": {"href": person}}}),
        )
        .await;
    let canvass = json!({"canvass": {"status_code": PLANTED}});
    let canvass = server
        .post(&format!("{person}/record_canvass_helper"), canvass)
        .await
        .self_link();
    let by_person = json!({"canvass": {"canvasser": person}});
    let by_person = server
        .post(&format!("{other}/record_canvass_helper"), by_person)
        .await
        .self_link();
    let event = server
        .make(
            "events",
            json!({"type": "ticketed", "ticket_levels": [{"title": "T"}]}),
        )
        .await;
    let mut holder = ada();
    holder.as_object_mut().unwrap().remove("identifiers");
    let bought = json!({"person": {"given_name": "Buyer"}, "tickets": [
        {"title": "T", "person": {"given_name": "Guest"}}, {"title": "T", "person": holder}]});
    let bought = server
        .post(&format!("{event}/record_attendance_helper"), bought)
        .await;
    let swapped = json!({"tickets": [bought.json["tickets"][1], bought.json["tickets"][0]]});
    assert_eq!(server.put(&bought.self_link(), swapped).await.status, 200);
    // A change of a person leaves no trace of the old values.
    server
        .put(
            &person,
            json!({"source": format!("{PLANTED} source"), "custom_fields": {"note": "short"}}),
        )
        .await;
    // Rows that grow move between pages, and their neighbours make the pages split.
    for round in 0..40 {
        let grown = json!({"custom_fields": {"grows": PLANTED.repeat(round * 5)}});
        assert_eq!(server.put(&person, grown).await.status, 200);
        server
            .make(
                "people",
                json!({"given_name": "neighbour", "source": "n".repeat(round * 40)}),
            )
            .await;
    }
    server.store.checkpoint().await.unwrap();
    assert!(planted(&server) > 5);

    let dates: Vec<Value> = {
        let mut dates = Vec::new();
        for (action, ..) in &actions {
            dates.push(server.get(action).await.json["modified_date"].clone());
        }
        dates
    };
    assert_eq!(server.delete(&person).await.status, 204);
    for ((action, owner, total), date) in actions.iter().zip(dates) {
        let action = server.get(action).await.json;
        assert!(
            action["_links"].get("svc:person").is_none(),
            "UND-26: {action}"
        );
        assert_eq!(action["modified_date"], date, "UND-26");
        assert_eq!(server.get(owner).await.json[total], 1, "UND-26: {total}");
    }
    assert_eq!(server.get(&list).await.json["total_items"], 0, "UND-26");
    assert_eq!(
        server.total(&format!("{question}/answers")).await,
        0,
        "UND-26"
    );
    assert_eq!(server.get(&canvass).await.status, 404, "UND-26");
    assert!(
        server.get(&by_person).await.json["_links"]
            .get("svc:canvasser")
            .is_none(),
        "UND-26"
    );
    assert!(
        server.get(&created).await.json["_links"]
            .get("svc:creator")
            .is_none(),
        "UND-26"
    );
    assert!(
        server.get(&created).await.json["_links"]
            .get("svc:modified_by")
            .is_none(),
        "UND-26"
    );
    assert!(
        server.get(&organized).await.json["_links"]
            .get("svc:organizer")
            .is_none(),
        "UND-26"
    );
    let tickets = server.get(&bought.self_link()).await.json["tickets"].clone();
    assert_eq!(tickets[0], json!({"title": "T"}), "UND-26");
    assert_eq!(tickets[1]["person"]["given_name"], "Guest", "UND-26");
    for members in ["signatures", "taggings", "canvasses"] {
        assert_eq!(
            server.get(&format!("{person}/{members}")).await.status,
            404,
            "UND-37"
        );
    }
    // Lookups that found the person no longer do.
    let again = server
        .post("people/person_signup", json!({"person": ada()}))
        .await;
    assert_ne!(again.self_link(), person, "UND-26");
    assert_eq!(server.delete(&again.self_link()).await.status, 204);

    server.store.checkpoint().await.unwrap();
    let left = planted(&server);
    if left > 0 {
        server.store.compact().await.unwrap();
    }
    assert_eq!(planted(&server), 0, "UND-26");
    assert_eq!(left, 0, "UND-26: a checkpoint is sufficient for these rows");
}

/// UND-26, RES-attendance-14: a holder that an update wrote into a ticket is erased with the
/// person, whatever identified the holder.
#[tokio::test]
async fn a_holder_that_an_update_wrote_is_erased() {
    let server = Server::start().await;
    let person =
        json!({"identifiers": ["crm:1"], "email_addresses": [{"address": "ada@example.org"}]});
    let ada = server.make("people", person).await;
    let own = server.get(&ada).await.json["identifiers"][0].clone();
    let buyer = server.make("people", json!({"given_name": "Ada"})).await;
    let levels = json!([{"title": "T"}]);
    let event = server
        .make(
            "events",
            json!({"type": "ticketed", "ticket_levels": levels}),
        )
        .await;
    let link = json!({"_links": {"svc:person": {"href": buyer}}});
    let attendance = server.make(&format!("{event}/attendances"), link).await;
    let ticket = |person: Value| json!({"title": "T", "person": person});
    let written = json!({"tickets": [
        ticket(json!({"given_name": PLANTED, "email_addresses": [{"address": "ADA@example.org"}]})),
        ticket(json!({"given_name": PLANTED, "identifiers": ["crm:1"]})),
        ticket(json!({"given_name": PLANTED, "identifiers": [own]})),
        ticket(json!({"given_name": "Somebody else", "identifiers": ["crm:2"]})),
    ]});
    assert_eq!(server.put(&attendance, written).await.status, 200);
    let kept = server.get(&attendance).await.json["tickets"].clone();
    let identifiers = |place: usize| kept[place]["person"]["identifiers"].clone();
    assert_eq!(
        identifiers(0),
        json!([own]),
        "RES-attendance-14: the identifier of the person"
    );
    assert_eq!(identifiers(1), json!([own, "crm:1"]), "RES-attendance-14");
    assert_eq!(identifiers(3), json!(["crm:2"]), "RES-attendance-14");
    // Tickets that are sent back as they were read, also in another order, change nothing.
    let turned: Vec<&Value> = kept.as_array().unwrap().iter().rev().collect();
    assert_eq!(
        server.put(&attendance, json!({"tickets": kept})).await.json["tickets"],
        kept,
        "RES-attendance-14"
    );
    assert_eq!(
        server
            .put(&attendance, json!({"tickets": turned}))
            .await
            .json["tickets"],
        json!(turned)
    );
    // The person now has other addresses and identifiers.
    let other = json!({"identifiers": [], "email_addresses": [{"address": "new@example.org"}]});
    assert_eq!(server.put(&ada, other).await.status, 200);
    assert_eq!(server.delete(&ada).await.status, 204);
    let tickets = server.get(&attendance).await.json["tickets"].clone();
    let bare = json!({"title": "T"});
    assert_eq!(tickets, json!([kept[3], bare, bare, bare]), "UND-26");
    server.store.checkpoint().await.unwrap();
    assert_eq!(planted(&server), 0, "UND-26");
}

/// UND-26: erasing a person does not erase a namesake, even after the attendance was sent back as
/// it was read.
#[tokio::test]
async fn an_erased_holder_takes_no_namesake_along() {
    let server = Server::start().await;
    let levels = json!([{"title": "T", "amount": 5, "currency": "EUR"}]);
    let event = server
        .make(
            "events",
            json!({"type": "ticketed", "ticket_levels": levels}),
        )
        .await;
    let ticket = json!({"title": "T", "person": {"given_name": "Child"}});
    let helper = format!("{event}/record_attendance_helper");
    let sold = server
        .post(&helper, json!({"tickets": [ticket, ticket, ticket]}))
        .await;
    let read = server.get(&sold.self_link()).await.json;
    let put = server.put(&sold.self_link(), read.clone()).await;
    assert_eq!(
        (put.status, &put.json["tickets"]),
        (200, &read["tickets"]),
        "clients.md 12"
    );
    let turned: Vec<Value> = read["tickets"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .cloned()
        .collect();
    let put = server
        .put(&sold.self_link(), json!({"tickets": turned}))
        .await;
    assert_eq!(put.json["tickets"], json!(turned), "RES-attendance-14");
    let of = |place: usize| {
        turned[place]["person"]["identifiers"][0]
            .as_str()
            .unwrap()
            .split_once(':')
            .unwrap()
            .1
            .to_owned()
    };
    assert_eq!(
        server.delete(&format!("people/{}", of(1))).await.status,
        204
    );
    let left = server.get(&sold.self_link()).await.json["tickets"].clone();
    assert_eq!(
        (&left[0]["person"], &left[2]["person"]),
        (&turned[0]["person"], &turned[2]["person"]),
        "UND-26"
    );
    assert_eq!(left[1].get("person"), None, "UND-26");
    // A holder that is unknown, or ambiguous, is reported.
    let two = [
        of(0),
        of(2),
        "018f8d9e-0000-7000-8000-000000000009".to_owned(),
    ]
    .map(|id| format!("here:{id}"));
    for wrong in [&two[..2], &two[2..]] {
        let ticket = json!({"title": "T", "person": {"identifiers": wrong}});
        let put = server
            .put(&sold.self_link(), json!({"tickets": [ticket]}))
            .await;
        assert_eq!(put.codes(), ["IDENTIFIER_IN_USE"], "UND-24: {wrong:?}");
    }
}
