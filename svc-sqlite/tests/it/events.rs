//! Seats and tickets of events.
//!
//! Requirements: RES-event-15 to RES-event-20, RES-event-27, RES-attendance-05, RES-attendance-08.

use crate::server::{Answer, Server};
use serde_json::{Value, json};

fn tickets(titles: &[&str]) -> Value {
    json!({"tickets": titles.iter().map(|title| json!({"title": title})).collect::<Vec<_>>()})
}

async fn ticketed(server: &Server, more: Value) -> (String, String) {
    let mut event = json!({"type": "ticketed", "ticket_levels": [
        {"title": "Hall", "amount": 10.50, "currency": "EUR", "limit": 3},
        {"title": "Box", "amount": 99.9, "currency": "EUR"}]});
    event
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let event = server.make("events", event).await;
    let helper = server
        .get(&event)
        .await
        .link("svc:record_attendance_helper");
    (event, helper)
}

/// UND-22: the totals of a level are those of its title, also if the levels have another order.
#[tokio::test]
async fn levels_can_be_sent_back() {
    let server = Server::start().await;
    let (event, helper) = ticketed(&server, json!({})).await;
    server
        .post(&helper, tickets(&["Hall", "Box", "Hall"]))
        .await;
    let mut read = server.get(&event).await.json;
    assert_eq!(read["ticket_levels"][0]["total_tickets"], 2);
    read["ticket_levels"].as_array_mut().unwrap().reverse();
    read["ticket_levels"][0]["total_amount"] = json!(99.900);
    let back = server.put(&event, read.clone()).await;
    assert_eq!((back.status, back.warnings), (200, Value::Null));
    read["modified_date"] = back.json["modified_date"].clone();
    read["ticket_levels"][1]["total_tickets"] = json!(3);
    read["total_amount"] = json!(1);
    let changed = server.put(&event, read).await;
    let named: Vec<&Value> = changed
        .warnings
        .as_array()
        .into_iter()
        .flatten()
        .map(|warning| &warning["properties"][0])
        .collect();
    assert_eq!(named, ["total_amount", "ticket_levels[1].total_tickets"]);
}

/// RES-event-15 to RES-event-20: sold tickets are counted, priced and limited. A change or a
/// deletion returns them.
#[tokio::test]
async fn tickets_are_sold_and_given_back() {
    let server = Server::start().await;
    let (event, helper) = ticketed(&server, json!({})).await;
    let modified = server.get(&event).await.json["modified_date"].clone();
    let sold = server
        .post(&helper, tickets(&["Hall", "Box", "Hall"]))
        .await;
    assert_eq!(sold.status, 200, "{}", sold.json);
    assert_eq!(
        sold.json["tickets"][0],
        json!({"title": "Hall", "amount": 10.50, "currency": "EUR"}),
        "RES-event-15"
    );
    let read = server.get(&event).await.json;
    let level = |read: &Value, place: usize| read["ticket_levels"][place].clone();
    assert_eq!(level(&read, 0)["limit"], 1, "RES-event-15");
    assert_eq!(
        (
            &level(&read, 0)["total_tickets"],
            &level(&read, 0)["total_amount"]
        ),
        (&json!(2), &json!(21.00))
    );
    assert_eq!(
        (
            &level(&read, 1)["total_tickets"],
            &level(&read, 1)["total_amount"]
        ),
        (&json!(1), &json!(99.9))
    );
    assert!(level(&read, 1).get("limit").is_none(), "RES-event-15");
    assert_eq!(
        (&read["total_tickets"], &read["total_amount"]),
        (&json!(3), &json!(120.9)),
        "RES-event-19, 20"
    );
    assert_eq!(read["total_accepted"], 1, "RES-event-18");
    assert_eq!(read["modified_date"], modified, "TYP-16");

    let many = server.post(&helper, tickets(&["Hall", "Hall"])).await;
    assert_eq!(
        (many.status, many.codes()),
        (400, vec!["TICKET_LIMIT_EXCEEDED".to_owned()]),
        "RES-event-15"
    );
    let none = server.post(&helper, tickets(&["Stalls"])).await;
    assert_eq!(
        none.codes(),
        ["TICKET_LEVEL_DOES_NOT_EXIST"],
        "RES-event-15"
    );
    let other = json!({"tickets": [{"title": "Hall", "currency": "USD"}]});
    assert_eq!(
        server.post(&helper, other).await.codes(),
        ["FIELD_INVALID"],
        "RES-event-15"
    );
    assert_eq!(
        server.total(&format!("{event}/attendances")).await,
        1,
        "CRU-21"
    );
    assert_eq!(server.get(&event).await.json, read, "ERR-04");

    let attendance = sold.self_link();
    server.put(&attendance, json!({"status": "declined"})).await;
    let declined = server.get(&event).await.json;
    assert_eq!(
        (&declined["total_tickets"], &declined["total_accepted"]),
        (&json!(0), &json!(0)),
        "RES-event-15"
    );
    assert_eq!(level(&declined, 0)["limit"], 3, "RES-event-15");
    server.put(&attendance, json!({"status": "accepted"})).await;
    assert_eq!(
        level(&server.get(&event).await.json, 0)["limit"],
        1,
        "RES-event-15"
    );
    server.put(&attendance, tickets(&["Hall"])).await;
    assert_eq!(
        level(&server.get(&event).await.json, 0)["limit"],
        2,
        "RES-event-15"
    );

    let levels =
        json!({"ticket_levels": [{"title": "Hall", "limit": 0}, {"title": "New", "limit": 1}]});
    let put = server.put(&event, levels).await.json;
    assert_eq!(
        (&level(&put, 0)["limit"], &level(&put, 0)["total_tickets"]),
        (&json!(0), &json!(1)),
        "RES-event-15"
    );
    assert_eq!(
        server.post(&helper, tickets(&["Hall"])).await.codes(),
        ["TICKET_LIMIT_EXCEEDED"],
        "RES-event-15"
    );
    assert_eq!(server.delete(&attendance).await.status, 204);
    let read = server.get(&event).await.json;
    assert_eq!(
        (&read["total_tickets"], &level(&read, 0)["limit"]),
        (&json!(0), &json!(1)),
        "RES-event-15"
    );
}

/// RES-event-27: capacity counts attendances of an open event and tickets of a ticketed one.
#[tokio::test]
async fn capacity() {
    let server = Server::start().await;
    let event = server
        .make("events", json!({"type": "open", "capacity": 2}))
        .await;
    let helper = server
        .get(&event)
        .await
        .link("svc:record_attendance_helper");
    let one = server.post(&helper, json!({"attended": true})).await;
    assert_eq!(
        (one.status, &one.json["attended"]),
        (200, &json!(true)),
        "RES-attendance-04"
    );
    let maybe = server.post(&helper, json!({"status": "tentative"})).await;
    assert_eq!(
        server
            .post(&helper, json!({"status": "accepted"}))
            .await
            .status,
        200
    );
    let full = server.post(&helper, json!({})).await;
    assert_eq!(
        (full.status, full.codes()),
        (400, vec!["CAPACITY_EXCEEDED".to_owned()]),
        "RES-event-27"
    );
    assert_eq!(
        server
            .put(&maybe.self_link(), json!({"status": null}))
            .await
            .codes(),
        ["CAPACITY_EXCEEDED"]
    );
    assert_eq!(
        server
            .put(&one.self_link(), json!({"comment": "c"}))
            .await
            .status,
        200,
        "further attendances are rejected"
    );
    assert_eq!(
        server.put(&event, json!({"capacity": 1})).await.status,
        200,
        "RES-event-27"
    );
    server.delete(&one.self_link()).await;
    assert_eq!(
        server.post(&helper, json!({})).await.codes(),
        ["CAPACITY_EXCEEDED"],
        "RES-event-27"
    );
    let ticket = server.post(&helper, tickets(&["Hall"])).await;
    assert!(
        ticket.codes().contains(&"TICKETS_NOT_ALLOWED".to_owned()),
        "RES-attendance-08"
    );

    let (_, helper) = ticketed(&server, json!({"capacity": 2})).await;
    let sold = server
        .post(
            &helper,
            json!({"attended": true, "tickets": [{"title": "Box"}]}),
        )
        .await;
    assert!(sold.json.get("attended").is_none(), "RES-attendance-05");
    assert_eq!(
        server.post(&helper, tickets(&["Box", "Box"])).await.codes(),
        ["CAPACITY_EXCEEDED"],
        "RES-event-27"
    );
    assert_eq!(
        server.post(&helper, tickets(&["Box"])).await.status,
        200,
        "RES-event-27"
    );
}

/// RES-attendance-14: a ticket holder is stored inline and is also a person. A PUT does not match
/// again.
#[tokio::test]
async fn ticket_holders() {
    let server = Server::start().await;
    let (_, helper) = ticketed(&server, json!({})).await;
    let holder = |name: &str| json!({"given_name": name, "email_addresses": [{"address": format!("{name}@example.org")}]});
    let buyer = holder("buyer");
    let sold = json!({"person": buyer, "tickets": [{"title": "Box", "person": holder("guest")}]});
    let sold = server.post(&helper, sold).await;
    assert_eq!(
        sold.json["tickets"][0]["person"]["given_name"], "guest",
        "RES-attendance-14"
    );
    assert_eq!(server.total("people").await, 2, "RES-attendance-14");
    let put = json!({"tickets": [{"title": "Box", "person": holder("third")}]});
    assert_eq!(server.put(&sold.self_link(), put).await.status, 200);
    assert_eq!(server.total("people").await, 2, "RES-attendance-14");
}

/// clients.md 12: a client can send back an attendance as it was read, even if the event has
/// changed in between.
#[tokio::test]
async fn tickets_that_come_back_as_they_were_are_not_checked_again() {
    let server = Server::start().await;
    let (event, helper) = ticketed(&server, json!({})).await;
    let mut declined = tickets(&["Hall"]);
    declined["status"] = json!("declined");
    let attendance = server.post(&helper, declined).await.self_link();
    // A holder and the members that the server has added are not in the order of a client.
    let with_holder = json!({"status": "declined", "tickets": [{"title": "Hall", "person": {"given_name": "Guest"}}]});
    let held = server.post(&helper, with_holder).await.self_link();
    for change in [
        json!({"ticket_levels": [{"title": "Box"}]}),
        json!({"type": "open"}),
    ] {
        assert_eq!(server.put(&event, change).await.status, 200);
        let read = server.get(&attendance).await.json;
        let put = server.put(&attendance, read.clone()).await;
        assert_eq!(
            (put.status, &put.json["tickets"]),
            (200, &read["tickets"]),
            "clients.md 12: {}",
            put.json
        );
        let read = server.get(&held).await.json;
        let put = server.put(&held, read.clone()).await;
        assert_eq!(
            (put.status, &put.json["tickets"]),
            (200, &read["tickets"]),
            "clients.md 12: {}",
            put.json
        );
        let sent = server.put(&attendance, tickets(&["Hall", "Hall"])).await;
        assert_eq!(sent.status, 400, "RES-event-15: other tickets are checked");
        let accepted = server.put(&attendance, json!({"status": "accepted"})).await;
        assert_eq!(accepted.status, 400, "RES-event-15: {}", accepted.json);
    }
}

/// Returns the error codes of a response, each with the first property.
fn refused(answer: &Answer) -> Vec<(String, Value)> {
    let properties = answer.descriptions();
    let properties = properties.iter().map(|one| one["properties"][0].clone());
    answer.codes().into_iter().zip(properties).collect()
}

/// RES-event-11: a renamed level keeps its sold tickets, which have a former title.
#[tokio::test]
async fn a_renamed_level_keeps_its_sold_tickets() {
    let server = Server::start().await;
    let (event, helper) = ticketed(&server, json!({})).await;
    let rename = async |titles: &[&str]| {
        let mut read = server.get(&event).await.json;
        for (place, title) in titles.iter().enumerate() {
            read["ticket_levels"][place]["title"] = json!(title);
        }
        server.put(&event, read).await
    };
    let renamed = rename(&["Hal"]).await;
    assert_eq!(renamed.json["ticket_levels"][0].get("former_titles"), None);
    let sold = server.post(&helper, tickets(&["Hal", "Hal"])).await;
    let attendance = sold.self_link();
    let unpaid = json!({"status": "needs action", "tickets": [{"title": "Box"}]});
    let unpaid = server.post(&helper, unpaid).await.self_link();

    let renamed = rename(&["Hall", "Balcony"]).await;
    assert_eq!((renamed.status, renamed.warnings), (200, Value::Null));
    let mut levels = json!([
        {"title": "Hall", "former_titles": ["Hal"], "amount": 10.5, "currency": "EUR", "limit": 1,
            "total_tickets": 2, "total_amount": 21.0},
        {"title": "Balcony", "former_titles": ["Box"], "amount": 99.9, "currency": "EUR",
            "total_tickets": 0, "total_amount": 0},
    ]);
    assert_eq!(renamed.json["ticket_levels"], levels);
    let read = server.get(&event).await.json;
    assert_eq!(read["ticket_levels"], levels);
    assert_eq!(read["total_tickets"], 2);

    // The tickets are those of the level, under each title.
    let paid = server.put(&unpaid, json!({"status": "accepted"})).await;
    assert_eq!(paid.status, 200, "{}", paid.json);
    let mut attended = server.get(&attendance).await.json;
    attended["tickets"][0]["attended"] = json!(true);
    assert_eq!(server.put(&attendance, attended).await.status, 200);
    let full = server.post(&helper, tickets(&["Hall", "Hal"])).await;
    assert_eq!(full.codes(), ["TICKET_LIMIT_EXCEEDED"]);
    let sold = server.post(&helper, tickets(&["Hall"])).await;
    assert_eq!(sold.json["tickets"][0]["amount"], 10.5);
    levels[0]["limit"] = json!(0);
    levels[0]["total_tickets"] = json!(3);
    levels[0]["total_amount"] = json!(31.5);
    levels[1]["total_tickets"] = json!(1);
    levels[1]["total_amount"] = json!(99.9);
    assert_eq!(server.get(&event).await.json["ticket_levels"], levels);

    // The former title cannot be that of another level.
    let mut other = levels.clone();
    other.as_array_mut().unwrap().push(json!({"title": "Hal"}));
    let other = server.put(&event, json!({"ticket_levels": other})).await;
    assert_eq!(
        refused(&other),
        [("HAS_DEPENDENTS".to_owned(), json!("ticket_levels[2].title"))]
    );
    let back = rename(&["Hal"]).await.json;
    assert_eq!(back["ticket_levels"][0]["former_titles"], json!(["Hall"]));
    assert_eq!(back["ticket_levels"][0]["total_tickets"], 3);
    assert_eq!(server.delete(&attendance).await.status, 204);
    assert_eq!(server.delete(&sold.self_link()).await.status, 204);
    let read = server.get(&event).await.json;
    assert_eq!(
        (
            &read["ticket_levels"][0]["limit"],
            &read["ticket_levels"][0]["total_tickets"]
        ),
        (&json!(3), &json!(0))
    );
}

/// RES-event-09, RES-event-10, RES-event-14: levels with sold tickets are not removed, and keep
/// their currency.
#[tokio::test]
async fn levels_with_sold_tickets_are_not_removed() {
    let server = Server::start().await;
    let (event, helper) = ticketed(&server, json!({})).await;
    server.post(&helper, tickets(&["Hall", "Hall"])).await;
    let before = server.get(&event).await.json["ticket_levels"].clone();
    let euro = json!([{"title": "Hall", "currency": "USD"}, {"title": "Box"}]);
    for (change, property) in [
        (
            json!({"ticket_levels": [{"title": "Box"}]}),
            "ticket_levels",
        ),
        (json!({"ticket_levels": null}), "ticket_levels"),
        (json!({"type": "open"}), "type"),
        (json!({"ticket_levels": euro}), "ticket_levels[0].currency"),
    ] {
        let answer = server.put(&event, change.clone()).await;
        assert_eq!(
            refused(&answer),
            [("HAS_DEPENDENTS".to_owned(), json!(property))],
            "{change}"
        );
    }
    let gone = server.put(&event, json!({"ticket_levels": []})).await;
    assert_eq!(
        gone.descriptions()[0]["description"],
        r#"`ticket_levels` must contain the level "Hall", because 2 tickets were sold."#
    );
    // A level without a currency has that of its tickets, which the others and its price must fit.
    for (levels, property) in [
        (
            json!([{"title": "Hall"}, {"title": "Box", "currency": "USD"}]),
            "ticket_levels[1].currency",
        ),
        (
            json!([{"title": "Hall", "amount": 10.555}]),
            "ticket_levels[0].amount",
        ),
    ] {
        let answer = server
            .put(&event, json!({"ticket_levels": levels.clone()}))
            .await;
        assert_eq!(
            refused(&answer),
            [("FIELD_INVALID".to_owned(), json!(property))],
            "{levels}"
        );
    }
    assert_eq!(server.get(&event).await.json["ticket_levels"], before);
    // Without a currency, a level keeps that of its tickets.
    let levels = json!({"ticket_levels": [{"title": "Hall"}, {"title": "Box"}]});
    let levels = server.put(&event, levels).await.json;
    assert_eq!(
        levels["ticket_levels"][0]["currency"],
        before[0]["currency"]
    );
    // Levels without sold tickets can be removed, added and put in another order.
    let levels = json!([{"title": "Box"}, {"title": "Hall"}, {"title": "Stalls"}]);
    let levels = server.put(&event, json!({"ticket_levels": levels})).await;
    assert_eq!(levels.json["ticket_levels"][1]["total_tickets"], 2);
    let levels = json!({"ticket_levels": [{"title": "Hall"}]});
    let levels = server.put(&event, levels).await.json;
    assert_eq!(levels["ticket_levels"][0]["total_tickets"], 2);
    assert_eq!(levels["ticket_levels"][0].get("former_titles"), None);
    // A level gets its former title back, also if another one was added since.
    for titles in [json!(["Main"]), json!(["Main", "Box"]), json!(["Hall"])] {
        let titles = titles.as_array().into_iter().flatten();
        let levels: Vec<Value> = titles.map(|title| json!({ "title": title })).collect();
        let answer = server.put(&event, json!({ "ticket_levels": levels })).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
        assert_eq!(answer.json["ticket_levels"][0]["total_tickets"], 2);
    }
}

/// RES-event-15: the limit in an older document is that of its number of sold tickets.
#[tokio::test]
async fn an_older_document_sells_no_ticket_twice() {
    let server = Server::start().await;
    let (event, helper) = ticketed(&server, json!({})).await;
    let limit = async |limit: i64| {
        let hall = json!({"title": "Hall", "limit": limit});
        let levels = json!({"ticket_levels": [hall, {"title": "Box"}]});
        server.put(&event, levels).await;
    };
    let left = async || server.get(&event).await.json["ticket_levels"][0]["limit"].clone();
    limit(1).await;
    let mut older = server.get(&event).await.json;
    let sold = server.post(&helper, tickets(&["Hall"])).await;
    older["title"] = json!("Concert");
    older["ticket_levels"][0]["title"] = json!("Main hall");
    let put = server.put(&event, older.clone()).await;
    assert_eq!(put.json["title"], "Concert");
    assert_eq!(put.json["ticket_levels"][0]["total_tickets"], 1);
    assert_eq!(left().await, 0);
    let again = server.post(&helper, tickets(&["Main hall"])).await;
    assert_eq!(again.codes(), ["TICKET_LIMIT_EXCEEDED"]);

    // A new level has the limit that is sent with it.
    let level = json!({"title": "VIP", "limit": 10, "total_tickets": 90});
    let other = json!({"type": "ticketed", "ticket_levels": [{"title": "Hall"}]});
    let other = server.make("events", other).await;
    let levels = json!({"ticket_levels": [{"title": "Hall"}, level]});
    let levels = server.put(&other, levels).await.json;
    assert_eq!(levels["ticket_levels"][1]["limit"], 10);

    // Without the number of sold tickets, the limit is what remains.
    limit(2).await;
    server.post(&helper, tickets(&["Hall", "Hall"])).await;
    let closed = server.put(&event, older).await;
    assert_eq!(closed.json["ticket_levels"][0]["limit"], 0);
    // Cancelled tickets are added.
    let older = server.get(&event).await.json;
    assert_eq!(left().await, 0);
    server.delete(&sold.self_link()).await;
    server.put(&event, older).await;
    assert_eq!(left().await, 1);
}

/// RES-attendance-14, TYP-13, HLP-04: the holder of a ticket has identifiers, as every posted
/// person.
#[tokio::test]
async fn holders_of_tickets_are_known_by_their_identifiers() {
    let server = Server::start().await;
    let (_, helper) = ticketed(&server, json!({})).await;
    let known = server
        .make(
            "people",
            json!({"identifiers": ["crm:1"], "given_name": "Ada"}),
        )
        .await;
    let own = server.make("people", json!({"given_name": "Grace"})).await;
    let of = async |address: &str| server.get(address).await.json;
    let own_identifier = of(&own).await["identifiers"][0].clone();
    let ticket = |person: Value| json!({"title": "Box", "person": person});
    let bought = json!({"tickets": [
        ticket(json!({"identifiers": ["crm:1", "crm:2"], "family_name": "L"})),
        ticket(json!({"identifiers": [own_identifier, "crm:3"], "family_name": "H"})),
        ticket(json!({"identifiers": ["crm:4", "crm:4"]})),
        ticket(json!({"identifiers": []})),
    ]});
    let sold = server.post(&helper, bought).await;
    assert_eq!(sold.status, 200, "{}", sold.json);
    let shown = |place: usize| sold.json["tickets"][place]["person"]["identifiers"].clone();
    let ada = of(&known).await["identifiers"][0].clone();
    assert_eq!(
        shown(0),
        json!([ada, "crm:1", "crm:2"]),
        "TYP-13: its own identifier identifies the person"
    );
    assert_eq!(shown(1), json!([own_identifier, "crm:3"]), "TYP-13");
    assert_eq!(
        shown(2).as_array().unwrap()[1..],
        [json!("crm:4")],
        "TYP-14"
    );
    assert_eq!(
        of(&known).await["family_name"],
        "L",
        "HLP-04: matched by identifier"
    );
    assert_eq!(
        of(&known).await["identifiers"].as_array().unwrap().len(),
        3,
        "HLP-04: crm:2 now identifies the person"
    );
    assert_eq!(
        of(&own).await["family_name"],
        "H",
        "UND-24: its own identifier is that person's"
    );
    assert_eq!(
        server.total("people").await,
        3,
        "RES-attendance-14: one person is new"
    );
    let taken = server
        .post("people", json!({"identifiers": ["crm:4"]}))
        .await;
    assert_eq!(taken.codes(), ["IDENTIFIER_IN_USE"], "UND-24");

    let wrong = json!({"tickets": [ticket(json!({})), ticket(json!({"identifiers": ["crm:5", "no form"]}))]});
    let wrong = server.post(&helper, wrong).await.descriptions();
    assert_eq!(
        wrong[0]["properties"],
        json!(["tickets[1].person.identifiers[1]"]),
        "TYP-13"
    );
    let unknown = own_identifier_of_nobody(&of(&own).await);
    let unknown = json!({"tickets": [ticket(json!({"identifiers": ["crm:6", unknown]}))]});
    let unknown = server.post(&helper, unknown).await.descriptions();
    assert_eq!(
        unknown[0]["properties"],
        json!(["tickets[0].person.identifiers[1]"]),
        "UND-24"
    );
    assert_eq!(server.total("people").await, 3, "CRU-21");
}

fn own_identifier_of_nobody(person: &Value) -> String {
    let own = person["identifiers"][0].as_str().unwrap();
    let (namespace, _) = own.split_once(':').unwrap();
    format!("{namespace}:01980000-0000-7000-8000-000000000000")
}

/// RES-attendance-14, HLP-04: a ticket matches a person by an address that the same request has
/// added.
#[tokio::test]
async fn a_holder_is_known_by_an_address_of_the_same_call() {
    let server = Server::start().await;
    let (_, helper) = ticketed(&server, json!({})).await;
    let known = server
        .make(
            "people",
            json!({"identifiers": ["x:1"], "given_name": "Ada"}),
        )
        .await;
    let email = json!([{"address": "n@example.org"}]);
    let body = json!({
        "person": {"identifiers": ["x:1"], "email_addresses": email},
        "tickets": [{"title": "Hall", "person": {"email_addresses": email, "family_name": "Lovelace"}}],
    });
    let sold = server.post(&helper, body).await;
    assert_eq!(sold.status, 200, "{}", sold.json);
    assert_eq!(
        server.total("people").await,
        1,
        "HLP-04: no duplicate person"
    );
    assert_eq!(
        server.get(&known).await.json["family_name"],
        "Lovelace",
        "RES-attendance-14"
    );
}

/// RES-event-21: a cancelled event accepts no attendances, and no additional tickets.
#[tokio::test]
async fn a_cancelled_event_takes_nobody() {
    let server = Server::start().await;
    let event = server.make("events", json!({"type": "open"})).await;
    let helper = format!("{event}/record_attendance_helper");
    let coming = server
        .post(&helper, json!({"status": "accepted"}))
        .await
        .self_link();
    let unsure = server
        .post(&helper, json!({"status": "tentative"}))
        .await
        .self_link();
    server.put(&event, json!({"status": "cancelled"})).await;
    for body in [
        json!({}),
        json!({"status": "accepted"}),
        json!({"status": "tentative"}),
        json!({"status": "needs action"}),
    ] {
        let refused = server.post(&helper, body).await;
        assert_eq!(
            refused.descriptions()[0]["hint"],
            "declined",
            "RES-event-21"
        );
        assert_eq!(
            (refused.status, refused.codes()),
            (400, vec!["EVENT_CANCELLED".to_owned()]),
            "RES-event-21"
        );
    }
    assert_eq!(
        server
            .put(&unsure, json!({"status": "accepted"}))
            .await
            .codes(),
        ["EVENT_CANCELLED"],
        "RES-event-21"
    );
    assert_eq!(
        server
            .post(&helper, json!({"status": "declined"}))
            .await
            .status,
        200,
        "a rejected request creates no attendance"
    );
    assert_eq!(
        server.put(&coming, json!({"comment": "c"})).await.status,
        200,
        "recorded attendances remain"
    );
    assert_eq!(
        server
            .put(&coming, json!({"status": "declined"}))
            .await
            .status,
        200,
        "RES-event-21"
    );
    server.put(&event, json!({"status": "confirmed"})).await;
    assert_eq!(
        server
            .put(&unsure, json!({"status": "accepted"}))
            .await
            .status,
        200,
        "RES-event-21"
    );
    let (event, helper) = ticketed(&server, json!({})).await;
    let bought = server.post(&helper, tickets(&["Box"])).await.self_link();
    server.put(&event, json!({"status": "cancelled"})).await;
    let more = server.put(&bought, tickets(&["Box", "Box"])).await;
    assert_eq!(
        more.codes(),
        ["EVENT_CANCELLED"],
        "RES-event-21: no additional tickets"
    );
    assert_eq!(
        server.put(&bought, tickets(&[])).await.status,
        200,
        "RES-event-21: tickets can be returned"
    );
}
