//! Many simultaneous callers ("It must show" 4).

use std::sync::Arc;

use crate::server::Server;
use serde_json::{Value, json};
use svc_core::value::Amount;
use tokio::task::JoinSet;

/// HLP-04: 64 equal sign-ups create one person, in 100 rounds.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn equal_sign_ups_make_one_person() {
    let server = Arc::new(Server::start().await);
    for round in 0..100 {
        let mut calls = JoinSet::new();
        for caller in 0..64 {
            let server = Arc::clone(&server);
            calls.spawn(async move {
                let address = format!(
                    "{}{round}@example.org",
                    if caller % 2 == 0 { "ada" } else { "ADA" }
                );
                let person = json!({"person": {"email_addresses": [{"address": address}]}});
                let answer = server.post("people/person_signup", person).await;
                assert_eq!(answer.status, 200);
                answer.self_link()
            });
        }
        let links: std::collections::BTreeSet<String> =
            calls.join_all().await.into_iter().collect();
        assert_eq!(links.len(), 1, "HLP-04: round {round}");
        assert_eq!(
            server.total("people").await,
            round + 1,
            "HLP-04: round {round}"
        );
    }
}

/// COL-23, RES-petition-10: totals are exact after 16 callers wrote and deleted 200 times each.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn totals_after_mixed_writes() {
    let server = Arc::new(Server::start().await);
    let petition = server.make("petitions", json!({})).await;
    let page = server.make("fundraising_pages", json!({})).await;
    let event = server.make("events", json!({"type": "open"})).await;
    server.make("lists", json!({"name": "l"})).await;
    let mut calls = JoinSet::new();
    for caller in 0..16_u32 {
        let (server, petition, page, event) = (
            Arc::clone(&server),
            petition.clone(),
            page.clone(),
            event.clone(),
        );
        calls.spawn(async move {
            let mut made: Vec<String> = Vec::new();
            for step in 0..200_u32 {
                let person =
                    json!({"email_addresses": [{"address": format!("p{}@example.org", (caller * 7 + step) % 40)}]});
                // Every step writes: if nothing is left to change or delete, it records an action.
                let what = match (caller + step) % 8 {
                    what @ 5.. if made.is_empty() => what - 5,
                    what => what,
                };
                let answer = match what {
                    0 | 1 => {
                        server.post(&format!("{petition}/record_signature_helper"), json!({"person": person})).await
                    }
                    2 => {
                        let donation = json!({"person": person, "amount": 0.1});
                        server.post(&format!("{page}/record_donation_helper"), donation).await
                    }
                    3 => server.post(&format!("{event}/record_attendance_helper"), json!({"person": person})).await,
                    4 => server.post("people/person_signup", json!({"person": person, "add_lists": ["l"]})).await,
                    5 => server.put(made.last().unwrap(), json!({"origin_system": format!("{caller} {step}")})).await,
                    _ => server.delete(&made.pop().unwrap()).await,
                };
                let expected = if what > 5 { 204 } else { 200 };
                assert_eq!(answer.status, expected, "{}", answer.json);
                if what < 4 {
                    made.push(answer.self_link());
                }
            }
            made.len()
        });
    }
    let left: usize = calls.join_all().await.into_iter().sum();
    let signatures = server
        .walk(&format!("{petition}/signatures?per_page=100"))
        .await;
    let donations = server.walk(&format!("{page}/donations?per_page=100")).await;
    let attendances = server
        .walk(&format!("{event}/attendances?per_page=100"))
        .await;
    assert_eq!(
        signatures.len() + donations.len() + attendances.len(),
        left,
        "CRU-22, ERR-17"
    );
    let petition = server.get(&petition).await.json;
    assert_eq!(
        petition["total_signatures"],
        json!(signatures.len()),
        "RES-petition-10"
    );
    let page = server.get(&page).await.json;
    assert_eq!(
        page["total_donations"],
        json!(donations.len()),
        "RES-fundraising_page-09"
    );
    let tenths = Amount::new(i128::try_from(donations.len()).unwrap(), 1);
    assert_eq!(
        Amount::parse(&page["total_amount"].to_string()),
        tenths,
        "RES-fundraising_page-10"
    );
    assert_eq!(
        server.get(&event).await.json["total_accepted"],
        json!(attendances.len()),
        "RES-event-18"
    );
    let people = server.walk("people?per_page=7").await;
    assert_eq!(server.total("people").await, people.len() as u64, "COL-23");
    assert_eq!(people.len(), 40, "HLP-04");
    let mut of_people = 0;
    for person in &people {
        let own = format!(
            "{}/signatures",
            person["_links"]["self"]["href"].as_str().unwrap()
        );
        let (total, members) = (server.total(&own).await, server.walk(&own).await.len());
        assert_eq!(total, members as u64, "COL-23");
        of_people += members;
    }
    assert_eq!(of_people, signatures.len(), "COL-14");
    let list = server.walk("lists").await[0].clone();
    assert_eq!(
        list["total_items"],
        json!(
            server
                .walk(list["_links"]["svc:items"]["href"].as_str().unwrap())
                .await
                .len()
        )
    );
}

/// RES-event-15, RES-event-27: the last ticket and the last seat are sold once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_last_ticket_is_sold_once() {
    let server = Arc::new(Server::start().await);
    let level =
        |limit| json!({"type": "ticketed", "ticket_levels": [{"title": "T", "limit": limit}]});
    let capacity = |capacity| json!({"type": "open", "capacity": capacity});
    let ticket = json!({"tickets": [{"title": "T"}]});
    for (event, body, places) in [
        (level(1), &ticket, 1),
        (level(20), &ticket, 20),
        (capacity(1), &json!({}), 1),
        (capacity(20), &json!({}), 20),
    ] {
        let event = server.make("events", event).await;
        let mut calls = JoinSet::new();
        for _ in 0..64 {
            let (server, body, helper) = (
                Arc::clone(&server),
                body.clone(),
                format!("{event}/record_attendance_helper"),
            );
            calls.spawn(async move { server.post(&helper, body).await.status });
        }
        let sold = calls
            .join_all()
            .await
            .into_iter()
            .filter(|status| *status == 200)
            .count();
        assert_eq!(sold, places, "RES-event-15, RES-event-27");
        assert_eq!(
            server.total(&format!("{event}/attendances")).await,
            places as u64,
            "RES-event-27"
        );
        assert_eq!(
            server.get(&event).await.json["total_accepted"],
            json!(places),
            "RES-event-18"
        );
    }
}

/// COL-24, UND-20: paging visits each record once while others write, both with `next` and with
/// jumps.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn paging_while_others_write() {
    let server = Arc::new(Server::start().await);
    let mut standing = Vec::new();
    for number in 0..120 {
        standing.push(
            server
                .make("tags", json!({"name": format!("{number}")}))
                .await,
        );
    }
    let mut writers = JoinSet::new();
    for writer in 0..4 {
        let server = Arc::clone(&server);
        writers.spawn(async move {
            for round in 0..60 {
                let made = server
                    .make("tags", json!({"name": format!("w{writer} {round}")}))
                    .await;
                if round % 2 == 0 {
                    assert_eq!(server.delete(&made).await.status, 204);
                }
            }
        });
    }
    for size in [1, 3, 7, 25] {
        let members = server.walk(&format!("tags?per_page={size}")).await;
        let links: Vec<&str> = members
            .iter()
            .map(|one| one["_links"]["self"]["href"].as_str().unwrap())
            .collect();
        let distinct: std::collections::BTreeSet<&&str> = links.iter().collect();
        assert_eq!(distinct.len(), links.len(), "COL-24: {size}");
        assert!(
            links.starts_with(&standing.iter().map(String::as_str).collect::<Vec<_>>()),
            "UND-20: {size}"
        );
    }
    writers.join_all().await;
    // Jumps find the same positions as `next`.
    let all: Vec<Value> = server.walk("tags").await;
    for number in [1, 2, 9, 17, 30] {
        let page = server
            .get(&format!("tags?per_page=8&page={number}"))
            .await
            .json;
        let expected: Vec<Value> = all.iter().skip((number - 1) * 8).take(8).cloned().collect();
        assert_eq!(
            page["_embedded"]["svc:tags"],
            json!(expected),
            "UND-19: page {number}"
        );
    }
    // After the members are loaded into memory, they follow writes.
    assert_eq!(server.delete(&standing[0]).await.status, 204);
    server.make("tags", json!({"name": "last"})).await;
    let page = server.get("tags?per_page=8&page=2").await.json;
    assert_eq!(page["_embedded"]["svc:tags"], json!(all[9..17]), "UND-19");
}
