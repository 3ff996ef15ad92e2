//! `kill -9` in the middle of writing: what was acknowledged is there, once, and totals are those of the members
//! ("It must show" 5).

mod server;

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use serde_json::json;
use server::Server;
use svc_sqlite::{Options, Store};

/// Where the child finds its file and its cycle; without them this test binary is the parent.
const FILE: &str = "SVC_SQLITE_KILL_FILE";
const CYCLE: &str = "SVC_SQLITE_KILL_CYCLE";
const CYCLES: usize = 20;
const CLIENTS: usize = 16;
const ACKNOWLEDGED: usize = 300;

async fn open(file: &Path) -> Server {
    let store = Store::open(Options::new(file)).unwrap();
    Server::on(store).await
}

/// The child: sixteen clients post signatures for ever and say what was acknowledged, until they are killed.
#[test]
fn child() {
    let (Ok(file), Ok(cycle)) = (std::env::var(FILE), std::env::var(CYCLE)) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    runtime.block_on(async {
        let server = Arc::new(open(Path::new(&file)).await);
        let petition = server.walk("petitions").await[0]["_links"]["self"]["href"].as_str().unwrap().to_owned();
        let mut clients = tokio::task::JoinSet::new();
        for client in 0..CLIENTS {
            let (server, cycle) = (Arc::clone(&server), cycle.clone());
            let helper = format!("{petition}/record_signature_helper");
            clients.spawn(async move {
                for number in 0.. {
                    let name = format!("kill:{cycle}-{client}-{number}");
                    let address = format!("p{}@example.org", (client * 31 + number) % 50);
                    let call = json!({"identifiers": [name], "person": {"email_addresses": [{"address": address}]}});
                    let answer = server.post(&helper, call).await;
                    assert_eq!(answer.status, 200, "{}", answer.json);
                    // One write, so that no line is cut unless the kill cuts it.
                    let line = format!("acknowledged {name}\n");
                    std::io::stdout().write_all(line.as_bytes()).unwrap();
                }
            });
        }
        clients.join_all().await;
    });
}

/// UND-36, ERR-04: twenty cycles.
#[tokio::test]
async fn what_was_acknowledged_survives() {
    if std::env::var(FILE).is_ok() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.db");
    let petition = {
        let server = open(&file).await;
        server.make("petitions", json!({})).await
    };
    let mut acknowledged: Vec<String> = Vec::new();
    for cycle in 0..CYCLES {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture", "--test-threads=1"])
            .env(FILE, &file)
            .env(CYCLE, cycle.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = Vec::new();
        let mut in_cycle = 0;
        while lines.read_until(b'\n', &mut line).unwrap() > 0 {
            let text = String::from_utf8_lossy(&line).into_owned();
            // The harness writes in front of the first line; the last one may be cut.
            if let Some((_, name)) = text.split_once("acknowledged ")
                && let Some(name) = name.strip_suffix('\n')
            {
                acknowledged.push(name.to_owned());
                in_cycle += 1;
            }
            line.clear();
            if in_cycle == ACKNOWLEDGED {
                // Requests are in flight: nobody told the clients to stop. This is SIGKILL.
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(in_cycle >= ACKNOWLEDGED, "cycle {cycle}: the child ended by itself after {in_cycle}");

        let server = open(&file).await;
        let members = server.walk(&format!("{petition}/signatures?per_page=100")).await;
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        for member in &members {
            let own = member["identifiers"].as_array().unwrap();
            *times.entry(own[1].as_str().unwrap()).or_default() += 1;
        }
        for name in &acknowledged {
            assert_eq!(times.get(name.as_str()), Some(&1), "cycle {cycle}: {name}");
        }
        assert!(times.values().all(|times| *times == 1), "cycle {cycle}: nothing is there twice");
        // At most what was in flight, and what the pipe lost, is there without having been acknowledged.
        let total = server.get(&petition).await.json["total_signatures"].as_u64().unwrap();
        assert_eq!(total, members.len() as u64, "RES-petition-10: cycle {cycle}");
        let people = server.walk("people?per_page=100").await;
        assert_eq!(server.total("people").await, people.len() as u64, "COL-23: cycle {cycle}");
        assert!(people.len() <= 50, "HLP-04: cycle {cycle}");
    }
}
