//! `kill -9` of the demo while it sends: each event is sent at least once, always with the same
//! `webhook-id`, and each event has its own id.
//!
//! `SVC_HOOK_KILLS=200 cargo test -p svc-server --test it webhooks::` kills the demo 200 times.
//!
//! Requirements: HOOK-07.

use std::collections::HashMap;
use std::env;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::support::TestResult;
use crate::support::client::{Client, link};
use crate::support::program::{KEY, Program};

/// Number of kills.
const KILLS: usize = 5;
/// Number of people who are created before each kill.
const PEOPLE: usize = 20;

/// The received messages: each body with all its ids.
#[derive(Clone)]
struct Receiver {
    url: String,
    came: Arc<Mutex<HashMap<String, Vec<String>>>>,
    messages: Arc<Semaphore>,
}

impl Receiver {
    async fn start() -> TestResult<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/", listener.local_addr()?);
        let receiver = Self {
            url,
            came: Arc::default(),
            messages: Arc::new(Semaphore::new(0)),
        };
        let own = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let own = own.clone();
                tokio::spawn(async move { own.take(stream).await });
            }
        });
        Ok(receiver)
    }

    /// Receives one message. An incomplete one is ignored.
    async fn take(&self, mut stream: TcpStream) -> Option<()> {
        let (mut text, mut part) = (String::new(), [0; 4_096]);
        let (id, body) = loop {
            let read = stream.read(&mut part).await.ok().filter(|read| *read > 0)?;
            text.push_str(std::str::from_utf8(&part[..read]).ok()?);
            let Some((head, body)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            let header = |name: &str| {
                head.lines()
                    .find_map(|line| line.strip_prefix(name))
                    .map(str::trim)
            };
            let length: usize = header("content-length:")?.parse().ok()?;
            if body.len() >= length {
                break (header("webhook-id:")?.to_owned(), body.to_owned());
            }
        };
        self.came.lock().ok()?.entry(body).or_default().push(id);
        self.messages.add_permits(1);
        stream
            .write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
            .await
            .ok()
    }
}

/// Creates people up to a number, and kills the demo once some of them are sent.
async fn cycle(mut program: Program, receiver: &Receiver, made: &mut Vec<String>) -> TestResult {
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    for _ in 0..PEOPLE {
        let person = client
            .post("/api/v1/people", &json!({"given_name": "Ada"}))
            .await?;
        made.push(link(&person, "self")?);
    }
    receiver.messages.acquire_many(5).await?.forget();
    program.kill()
}

fn path(address: &str) -> Option<&str> {
    address.splitn(4, '/').nth(3)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hook_07_what_was_changed_is_told_at_least_once_after_kill_9() -> TestResult {
    let kills = env::var("SVC_HOOK_KILLS").map_or(Ok(KILLS), |kills| kills.parse())?;
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("demo.db");
    let (receiver, mut made) = (Receiver::start().await?, Vec::new());
    let arguments = ["--seed-people", "0", "--allow-private-webhooks"];
    let mut program = Program::demo(&data, &arguments)?;
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    let body = json!({"url": receiver.url, "kinds": ["person"], "events": ["created"]});
    let webhook = link(&client.post("/api/v1/webhooks", &body).await?, "self")?;
    for _ in 0..kills {
        cycle(program, &receiver, &mut made).await?;
        program = Program::demo(&data, &arguments)?;
    }
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    let webhook = format!("/{}", path(&webhook).ok_or("no path")?);
    // Everything has arrived if there is no entry after the cursor.
    let all = loop {
        let state = client.get(&webhook).await?;
        let behind = client
            .get(&format!(
                "/api/v1/changes?after={}",
                state["cursor"].as_str().ok_or("no cursor")?
            ))
            .await?;
        let is_empty = behind["_embedded"]["ext:changes"]
            .as_array()
            .is_none_or(Vec::is_empty);
        if is_empty && state["total_waiting"] == 0 {
            break receiver.came.lock().map_err(|_| "poisoned")?.clone();
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    let mut ids: HashMap<String, &str> = HashMap::new();
    for (body, came) in &all {
        let told: Value = serde_json::from_str(body)?;
        let href = told["data"]["_links"]["svc:person"]["href"]
            .as_str()
            .ok_or("no person")?;
        assert!(
            came.iter().all(|id| *id == came[0]),
            "HOOK-07: {href} was received as {came:?}"
        );
        let before = ids.insert(path(href).ok_or("no path")?.to_owned(), &came[0]);
        assert!(
            before.is_none_or(|before| before == came[0]),
            "HOOK-07: {href} has two ids"
        );
    }
    for person in &made {
        assert!(
            ids.contains_key(path(person).ok_or("no path")?),
            "HOOK-07: {person} was never sent"
        );
    }
    let distinct: std::collections::HashSet<_> = ids.values().collect();
    assert_eq!(distinct.len(), made.len(), "HOOK-07: one id for two events");
    program.terminate()
}
