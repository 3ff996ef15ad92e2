//! A copy of a store in use can be opened, and its totals equal the number of its members ("It must
//! show" 10).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::server::Server;
use serde_json::json;
use svc_core::value::Amount;
use svc_sqlite::{SqliteOptions, SqliteStore};
use tokio::task::JoinSet;

const WRITERS: usize = 16;

/// UND-36, COL-23, RES-petition-10, RES-fundraising_page-10: copies under sixteen writers, each of
/// one snapshot.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn totals_of_a_copy_are_those_of_its_members() {
    let server = Arc::new(Server::start().await);
    let petition = server.make("petitions", json!({})).await;
    let page = server
        .make("fundraising_pages", json!({"currency": "USD"}))
        .await;
    server.make("lists", json!({"name": "l"})).await;
    let written = Arc::new(AtomicUsize::new(0));
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let (server, written) = (Arc::clone(&server), Arc::clone(&written));
        let (sign, donate) = (
            format!("{petition}/record_signature_helper"),
            format!("{page}/record_donation_helper"),
        );
        writers.spawn(async move {
            for number in 0.. {
                let person = json!({"email_addresses": [{"address": format!("p{writer}.{number}@example.org")}]});
                let made = match number % 3 {
                    0 => server.post(&donate, json!({"person": person, "amount": 0.1, "currency": "USD"})).await,
                    _ => server.post(&sign, json!({"person": person, "add_lists": ["l"]})).await,
                };
                assert_eq!(made.status, 200, "{}", made.json);
                if number % 5 == 4 {
                    assert_eq!(server.delete(&made.self_link()).await.status, 204);
                }
                written.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    let folder = server.store.path().parent().unwrap().to_owned();
    let mut copies = Vec::new();
    for number in 1..=4 {
        // Before each copy the writers are active, and they continue during it.
        while written.load(Ordering::Relaxed) < number * 100 {
            tokio::task::yield_now().await;
        }
        let copy = folder.join(format!("copy{number}.db"));
        server.store.backup(&copy).await.unwrap();
        copies.push(copy);
    }
    assert!(writers.try_join_next().is_none(), "a writer ended");
    writers.shutdown().await;
    let mut before = 0;
    for copy in copies {
        let copy = Server::on(SqliteStore::open(SqliteOptions::new(&copy)).unwrap()).await;
        let signatures = copy
            .walk(&format!("{petition}/signatures?per_page=100"))
            .await
            .len();
        let donations = copy
            .walk(&format!("{page}/donations?per_page=100"))
            .await
            .len();
        assert!(
            signatures > 0 && donations > 0 && signatures + donations > before,
            "a later copy has more records"
        );
        before = signatures + donations;
        assert_eq!(
            copy.get(&petition).await.json["total_signatures"],
            json!(signatures),
            "RES-petition-10"
        );
        let page = copy.get(&page).await.json;
        assert_eq!(
            page["total_donations"],
            json!(donations),
            "RES-fundraising_page-09"
        );
        let tenths = Amount::new(i128::try_from(donations).unwrap(), 1);
        assert_eq!(
            Amount::parse(&page["total_amount"].to_string()),
            tenths,
            "RES-fundraising_page-10"
        );
        let list = copy.walk("lists").await.swap_remove(0);
        let items = copy
            .walk(list["_links"]["svc:items"]["href"].as_str().unwrap())
            .await
            .len();
        assert_eq!(list["total_items"], json!(items), "UND-03");
        assert_eq!(
            copy.total("people").await,
            copy.walk("people?per_page=100").await.len() as u64,
            "COL-23"
        );
    }
}
