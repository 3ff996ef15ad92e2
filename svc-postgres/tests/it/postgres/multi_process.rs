//! Two processes on one database ("It must show" 5), as two stores. Each has connections and queues
//! of its own, and they communicate only through the database.

use super::support;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use super::server::{Server, options};
use serde_json::{Value, json};
use svc_core::{
    Tenant,
    backend::{DeliveryOutcome, OutboxEntry},
    value::{Amount, Timestamp},
};
use tokio::task::JoinSet;

/// Returns two servers of one tenant.
async fn two() -> [Arc<Server>; 2] {
    two_in(&support::server().schema()).await
}

/// Returns the same, with their tables in this schema.
async fn two_in(schema: &str) -> [Arc<Server>; 2] {
    let options = options(&support::server().url()).schema(schema);
    [
        Arc::new(Server::open(options.clone()).await),
        Arc::new(Server::open(options).await),
    ]
}

/// HLP-04: 64 equal sign-ups over two processes create one person, in 100 rounds.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn equal_sign_ups_make_one_person() {
    let servers = two().await;
    for round in 0..100 {
        let mut calls = JoinSet::new();
        for caller in 0..64 {
            let server = Arc::clone(&servers[caller / 2 % 2]);
            calls.spawn(async move {
                let address = format!(
                    "{}{round}@example.org",
                    if caller % 2 == 0 { "ada" } else { "ADA" }
                );
                let person = json!({"person": {"email_addresses": [{"address": address}]}});
                let answer = server.post("people/person_signup", person).await;
                assert_eq!(answer.status, 200, "{}", answer.json);
                answer.self_link()
            });
        }
        let links: BTreeSet<String> = calls.join_all().await.into_iter().collect();
        assert_eq!(links.len(), 1, "HLP-04: round {round}");
        assert_eq!(
            servers[round % 2].total("people").await,
            round as u64 + 1,
            "HLP-04: round {round}"
        );
    }
}

/// RES-event-15, RES-event-27: the last ticket and the last seat are sold once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn the_last_ticket_is_sold_once() {
    let servers = two().await;
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
        let event = servers[0].make("events", event).await;
        let mut calls = JoinSet::new();
        for caller in 0..64 {
            let (server, body) = (Arc::clone(&servers[caller % 2]), body.clone());
            let helper = format!("{event}/record_attendance_helper");
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
            servers[0].total(&format!("{event}/attendances")).await,
            places as u64,
            "RES-event-27"
        );
        assert_eq!(
            servers[1].get(&event).await.json["total_accepted"],
            json!(places),
            "RES-event-18"
        );
    }
}

/// COL-23, RES-petition-10: totals are exact after five writers wrote and deleted 3 200 times each,
/// over two processes.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn totals_after_mixed_writes() {
    let servers = two().await;
    let [one, other] = &servers;
    let petition = one.make("petitions", json!({})).await;
    let page = one.make("fundraising_pages", json!({})).await;
    let event = other.make("events", json!({"type": "open"})).await;
    other.make("lists", json!({"name": "l"})).await;
    let steps: u32 = if cfg!(debug_assertions) { 800 } else { 3_200 };
    let mut calls = JoinSet::new();
    for caller in 0..5_u32 {
        let server = Arc::clone(&servers[caller as usize % 2]);
        let (petition, page, event) = (petition.clone(), page.clone(), event.clone());
        calls.spawn(async move {
            let mut made: Vec<String> = Vec::new();
            for step in 0..steps {
                let person =
                    json!({"email_addresses": [{"address": format!("p{}@example.org", (caller * 7 + step) % 40)}]});
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
                assert_eq!(answer.status, if what > 5 { 204 } else { 200 }, "{}", answer.json);
                if what < 4 {
                    made.push(answer.self_link());
                }
            }
            made.len()
        });
    }
    let left: usize = calls.join_all().await.into_iter().sum();
    let signatures = one
        .walk(&format!("{petition}/signatures?per_page=100"))
        .await;
    let donations = other.walk(&format!("{page}/donations?per_page=100")).await;
    let attendances = one.walk(&format!("{event}/attendances?per_page=100")).await;
    assert_eq!(
        signatures.len() + donations.len() + attendances.len(),
        left,
        "CRU-22, ERR-17"
    );
    assert_eq!(
        one.get(&petition).await.json["total_signatures"],
        json!(signatures.len()),
        "RES-petition-10"
    );
    let page = other.get(&page).await.json;
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
        one.get(&event).await.json["total_accepted"],
        json!(attendances.len()),
        "RES-event-18"
    );
    let people = one.walk("people?per_page=7").await;
    assert_eq!(other.total("people").await, people.len() as u64, "COL-23");
    assert_eq!(people.len(), 40, "HLP-04");
    let mut of_people = 0;
    for person in &people {
        let own = format!(
            "{}/signatures",
            person["_links"]["self"]["href"].as_str().unwrap()
        );
        let (total, members) = (one.total(&own).await, other.walk(&own).await.len());
        assert_eq!(total, members as u64, "COL-23");
        of_people += members;
    }
    assert_eq!(of_people, signatures.len(), "COL-14");
}

/// TYP-16: no record becomes visible later with an earlier date. A reader that polls by
/// `modified_date` misses nothing while eight writers of two processes write, and others hold
/// transactions of up to 0.2 s.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn polling_by_modified_date_misses_nothing() {
    let database = support::server();
    let schema = database.schema();
    let servers = two_in(&schema).await;
    let done = Arc::new(AtomicBool::new(false));
    let mut writers = JoinSet::new();
    for writer in 0..8 {
        let server = Arc::clone(&servers[writer % 2]);
        writers.spawn(async move {
            for round in 0..12 {
                let made = server
                    .make("tags", json!({"name": format!("{writer} {round}")}))
                    .await;
                if round % 3 == 0 {
                    assert_eq!(
                        server
                            .put(&made, json!({"description": "changed"}))
                            .await
                            .status,
                        200
                    );
                }
            }
        });
    }
    // Transactions of another program lock the row of the tenant from time to time.
    let holder = tokio::task::spawn_blocking({
        let done = Arc::clone(&done);
        move || {
            while !done.load(Ordering::Acquire) {
                database.psql(&format!(
                    "BEGIN; SELECT 1 FROM {schema}.ledger FOR UPDATE; SELECT pg_sleep(0.2); COMMIT"
                ));
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    });
    let reader = tokio::spawn({
        let (server, done) = (Arc::clone(&servers[1]), Arc::clone(&done));
        async move {
            let (mut seen, mut newest) = (BTreeMap::new(), String::new());
            loop {
                let is_last = done.load(Ordering::Acquire);
                let mut next = newest.clone();
                // One page, because several pages are not of one snapshot.
                for tag in server.walk("tags?per_page=100").await {
                    let modified = tag["modified_date"].as_str().unwrap().to_owned();
                    // A poller reads records that are newer than the newest that it has, and
                    // ignores the others.
                    if modified > newest {
                        seen.insert(link(&tag), modified.clone());
                        next = next.max(modified);
                    }
                }
                newest = next;
                if is_last {
                    return seen;
                }
            }
        }
    });
    writers.join_all().await;
    done.store(true, Ordering::Release);
    let seen = reader.await.unwrap();
    holder.await.unwrap();
    let all: BTreeMap<String, String> = servers[0]
        .walk("tags?per_page=100")
        .await
        .iter()
        .map(|tag| (link(tag), tag["modified_date"].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(seen, all, "TYP-16");
    let dates: BTreeSet<&String> = all.values().collect();
    assert_eq!(dates.len(), all.len(), "each transaction has its own time");
}

/// COL-24, UND-19, UND-20: paging visits each record once while two processes write. Jumps of
/// either process find every record.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn paging_while_others_write() {
    let servers = two().await;
    let mut standing = Vec::new();
    for number in 0..120 {
        standing.push(
            servers[number % 2]
                .make("tags", json!({"name": format!("{number}")}))
                .await,
        );
    }
    let mut writers = JoinSet::new();
    for writer in 0..4 {
        let server = Arc::clone(&servers[writer % 2]);
        writers.spawn(async move {
            for round in 0..40 {
                let made = server
                    .make("tags", json!({"name": format!("w{writer} {round}")}))
                    .await;
                if round % 2 == 0 {
                    assert_eq!(server.delete(&made).await.status, 204);
                }
            }
        });
    }
    for size in [3, 25] {
        let members = servers[1].walk(&format!("tags?per_page={size}")).await;
        let links: Vec<String> = members.iter().map(link).collect();
        assert_eq!(
            links.iter().collect::<BTreeSet<_>>().len(),
            links.len(),
            "COL-24: {size}"
        );
        assert!(links.starts_with(&standing), "UND-20: {size}");
    }
    writers.join_all().await;
    let check = async |server: &Server| {
        let all = server.walk("tags").await;
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
    };
    check(&servers[0]).await;
    check(&servers[1]).await;
    // The jumps of one process follow the writes of the other: a deletion, and new members after
    // it.
    assert_eq!(servers[0].delete(&standing[0]).await.status, 204);
    check(&servers[1]).await;
    servers[0].make("tags", json!({"name": "new"})).await;
    check(&servers[1]).await;
    check(&servers[0]).await;
}

fn link(record: &Value) -> String {
    record["_links"]["self"]["href"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// HAF-11: each triggered response is delivered by exactly one of two processes.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn what_is_triggered_is_sent_by_one_of_them() {
    const CALLS: usize = 200;
    let servers = two().await;
    // The clock of both is after all requests. A claimed entry is not due again.
    let now = Timestamp::now().saturating_add(Duration::from_secs(60 * 60));
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let mut running = JoinSet::new();
    for server in &servers {
        let tell = tell.clone();
        let deliver = move |_: &Tenant, dispatch: &OutboxEntry| {
            tell.send(dispatch.id.clone())
                .map_err(svc_core::Error::unexpected)?;
            Ok(DeliveryOutcome::Sent)
        };
        let api = server
            .store
            .register_all(super::server::builder())
            .authenticator(server.store.clone())
            .delivery(deliver);
        let service = svc_tower::SvcService::new(api.build().unwrap()).clock(move || now);
        running.spawn(service.delivery_worker().unwrap().run());
    }
    for call in 0..CALLS {
        let person = json!({"person": {"given_name": "Ada"}, "triggers": {"autoresponse": {"enabled": true}}});
        let answer = servers[call % 2].post("people/person_signup", person).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
    }
    let mut sent = Vec::new();
    let outgoing = servers[0].api.outbox().unwrap().0;
    let later = now.saturating_add(Duration::from_secs(60 * 60));
    // Until no entry is left: a claimed one remains until it is acknowledged.
    while sent.len() < CALLS
        || outgoing
            .claim_due(Timestamp::MIN, later, 1)
            .await
            .unwrap()
            .next_due
            .is_some()
    {
        if let Ok(Some(id)) = tokio::time::timeout(Duration::from_millis(50), told.recv()).await {
            sent.push(id);
        }
    }
    let distinct: BTreeSet<_> = sent.iter().collect();
    assert_eq!(
        (sent.len(), distinct.len()),
        (CALLS, CALLS),
        "each is delivered by one of them"
    );
}
