//! `kill -9` under clients that send what was not answered again with its `Idempotency-Key`:
//! nothing is done twice, nothing is lost, and answers that are given again are the first ones byte
//! for byte.
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

/// How often the server is killed.
const KILLS: usize = 10;

/// How many clients write at a time.
const CLIENTS: usize = 8;

/// How many posts are answered before a kill, at least.
const POSTS: usize = 100;

/// A donation that was sent, and the answer to it where there was one. Nothing in it tells it from
/// another one of its donor.
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

    /// Sends it; an answer that was given before has to be the same.
    async fn send(&mut self, connection: &mut Client, helper: &str) -> TestResult {
        let answer = connection.post_again(helper, &self.body, &self.key).await?;
        assert_eq!(answer.status, 200, "{}", answer.text());
        match &self.answer {
            Some(first) => {
                assert!(
                    answer.body == *first,
                    "IDM-02: another answer to {}: {}",
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

/// Posts until the server is gone.
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

/// Starts the server, sends again what was not answered and some of what was, lets clients write,
/// and kills the server under them.
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
        "the server was killed under nobody"
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
            "IDM-01: {} was answered",
            sent.key
        );
    }
    program.terminate()
}
