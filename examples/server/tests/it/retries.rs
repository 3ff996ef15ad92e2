//! `kill -9` with clients that repeat a request without a response with its `Idempotency-Key`.
//! Nothing is done twice or lost, and repeated responses are identical to the first ones.
//!
//! `SVC_RETRY_KILLS=200 cargo test -p svc-server --test it retries::` kills the server 200 times.
//!
//! Requirements: IDM-01 to IDM-03.

use std::collections::HashSet;
use std::env;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::support::TestResult;
use crate::support::client::{Client, link};
use crate::support::program::{KEY, Program};

/// Number of kills.
const KILLS: usize = 10;

/// Number of simultaneous clients.
const CLIENTS: usize = 8;

/// Minimum number of responses before a kill.
const POSTS: usize = 100;

/// A donation that was sent, and its response if there was one. Only its key differs from other
/// donations of its donor.
struct Sent {
    key: String,
    body: Value,
    answer: Option<Vec<u8>>,
}

impl Sent {
    fn new(cycle: usize, client: usize, number: usize) -> Self {
        let email = format!("donor.{client}@example.org");
        let person = json!({"given_name": "Ada", "email_addresses": [{"address": email}]});
        let body = json!({"amount": 1.1, "currency": "USD", "person": person});
        Self {
            key: format!("{cycle}-{client}-{number}"),
            body,
            answer: None,
        }
    }

    /// Sends the donation. A repeated response must be the same.
    async fn send(&mut self, connection: &mut Client, helper: &str) -> TestResult {
        let answer = connection.post_again(helper, &self.body, &self.key).await?;
        assert_eq!(answer.status, 200, "{}", answer.text());
        match &self.answer {
            Some(first) => {
                assert!(
                    answer.body == *first,
                    "IDM-02: another response to {}: {}",
                    self.key,
                    answer.text()
                );
                assert_eq!(
                    answer.header("idempotency-replayed"),
                    Some("true"),
                    "IDM-02"
                );
            }
            None => self.answer = Some(answer.body),
        }
        Ok(())
    }
}

/// Posts until the server ends.
async fn post(
    address: SocketAddr,
    helper: Arc<str>,
    (cycle, client): (usize, usize),
    done: Arc<Semaphore>,
) -> Vec<Sent> {
    let mut all = Vec::new();
    let Ok(mut connection) = Client::connect(address, Some(KEY)).await else {
        return all;
    };
    for number in 0.. {
        let mut sent = Sent::new(cycle, client, number);
        let ended = sent.send(&mut connection, &helper).await;
        all.push(sent);
        if ended.is_err() {
            break;
        }
        done.add_permits(1);
    }
    all
}

/// Starts the server, repeats all requests without a response and some others, lets clients write,
/// and kills the server.
async fn cycle(data: &Path, number: usize, all: &mut Vec<Sent>) -> TestResult {
    let mut program = Program::demo(data, &["--seed-people", "0"])?;
    let address = program.address()?;
    let mut client = Client::connect(address, Some(KEY)).await?;
    let page = client
        .walk("/api/v1/fundraising_pages")
        .await?
        .swap_remove(0);
    let helper: Arc<str> = link(&page, "svc:record_donation_helper")?.into();
    for (place, sent) in all.iter_mut().enumerate() {
        if sent.answer.is_none() || place % 7 == number % 7 {
            sent.send(&mut client, &helper).await?;
        }
    }
    let done = Arc::new(Semaphore::new(0));
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        clients.spawn(post(
            address,
            Arc::clone(&helper),
            (number, client),
            Arc::clone(&done),
        ));
    }
    done.acquire_many(u32::try_from(POSTS)?).await?.forget();
    program.kill()?;
    let new: Vec<Sent> = clients.join_all().await.into_iter().flatten().collect();
    assert!(
        new.iter().any(|sent| sent.answer.is_none()),
        "no request was in progress when the server was killed"
    );
    all.extend(new);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idm_01_what_is_sent_again_after_kill_9_is_done_once() -> TestResult {
    let kills = env::var("SVC_RETRY_KILLS").map_or(Ok(KILLS), |kills| kills.parse())?;
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("demo.db");
    let mut all = Vec::new();
    for number in 0..kills {
        cycle(&data, number, &mut all).await?;
    }
    let program = Program::demo(&data, &[])?;
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    let page = client
        .walk("/api/v1/fundraising_pages")
        .await?
        .swap_remove(0);
    let helper = link(&page, "svc:record_donation_helper")?;
    for sent in &mut all {
        sent.send(&mut client, &helper).await?;
    }
    let donations = client.walk(&link(&page, "svc:donations")?).await?;
    assert_eq!(donations.len(), all.len(), "IDM-01: each donation once");
    let path = |address: &str| address.splitn(4, '/').nth(3).map(str::to_owned);
    let kept = donations
        .iter()
        .map(|donation| Ok(path(&link(donation, "self")?)))
        .collect::<TestResult<HashSet<_>>>()?;
    for sent in &all {
        let answer: Value = serde_json::from_slice(sent.answer.as_deref().ok_or("no answer")?)?;
        assert!(
            kept.contains(&path(&link(&answer, "self")?)),
            "IDM-01: {} had a response",
            sent.key
        );
    }
    program.terminate()
}
