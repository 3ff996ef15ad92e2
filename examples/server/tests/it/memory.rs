//! Memory of a server whose clients withhold the end of their bodies.
//!
//! Requirements: UND-43.

#![cfg(target_os = "linux")]

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpSocket;
use tokio::task::JoinSet;

use crate::support::program::{KEY, Program};
use crate::support::{Raw, TestResult};

/// Maximum resident memory of the demo, in KiB.
const MOST_RESIDENT: u64 = 160 * 1024;

/// Number of bytes of a body that its client never sends.
const WITHHELD: usize = 8;

/// Clients that send a body and withhold its end.
struct Hanging {
    what: &'static str,
    clients: u16,
    length: usize,
    head: String,
}

impl Hanging {
    /// Returns all groups of clients.
    fn all(base_path: &str, helper: &str) -> [Self; 4] {
        let key = format!("SVC-API-Token: {KEY}\r\n");
        let head = |path: &str, more: &str, length: usize| {
            format!(
                "POST {base_path}{path} HTTP/1.1\r\nHost: x\r\n{more}Content-Length: {length}\r\n\r\n"
            )
        };
        let (least, small, large) = (1 << 16, 1 << 20, 8 << 20);
        let batch = head("people/person_signup/batch", &key, large);
        [
            Self {
                what: "anonymous, 64 KiB",
                clients: 900,
                length: least,
                head: head(helper, "", least),
            },
            Self {
                what: "anonymous, 1 MiB",
                clients: 900,
                length: small,
                head: head(helper, "", small),
            },
            Self {
                what: "with a key, 1 MiB",
                clients: 900,
                length: small,
                head: head("people", &key, small),
            },
            Self {
                what: "with a key, batches of 8 MiB",
                clients: 100,
                length: large,
                head: batch,
            },
        ]
    }

    /// Sends until every byte is in the sockets or rejected, from as many addresses as the limit
    /// for one address requires. Returns the open connections.
    async fn send(&self, address: SocketAddr) -> TestResult<Vec<tokio::net::TcpStream>> {
        let mut clients = JoinSet::new();
        for number in 0..self.clients {
            let (head, length) = (self.head.clone(), self.length - WITHHELD);
            clients.spawn(async move {
                let socket = TcpSocket::new_v4()?;
                let [_, source] = (2 + number / 200).to_be_bytes();
                socket.bind((Ipv4Addr::new(127, 0, 0, source), 0).into())?;
                let mut stream = socket.connect(address).await?;
                stream.write_all(head.as_bytes()).await?;
                let part = [b' '; 16 * 1024];
                let mut left = length;
                while left > 0 {
                    left -= stream.write(&part[..left.min(part.len())]).await?;
                }
                Ok::<_, io::Error>(stream)
            });
        }
        let mut open = Vec::new();
        while let Some(client) = clients.join_next().await {
            // The server closes the connection of a rejected body.
            open.extend(client?.ok());
        }
        Ok(open)
    }
}

/// Returns the resident memory of a process in KiB: now, and the maximum since its start.
fn resident(program: &Program) -> TestResult<(u64, u64)> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", program.id()))?;
    let value = |name: &str| -> TestResult<u64> {
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .ok_or("no such line")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    };
    Ok((value("VmRSS:")?, value("VmHWM:")?))
}

/// Waits until the server has read all data: two reads of its metrics return the same.
async fn settle(address: SocketAddr) -> TestResult {
    let mut last = String::new();
    loop {
        let mut raw = Raw::connect(address).await?;
        raw.send("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").await?;
        let text = raw.answer().await?.text();
        let bodies: String = text
            .lines()
            .filter(|line| line.starts_with("svc_bod"))
            .collect();
        if bodies == last {
            return Ok(());
        }
        last = bodies;
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// Returns the maximum resident memory in KiB of a demo with this budget and one group of clients,
/// and checks that other clients are served.
async fn attacked(budget: &str, group: usize) -> TestResult<u64> {
    let folder = tempfile::tempdir()?;
    let program = Program::demo(
        &folder.path().join("a.db"),
        &["--seed-people", "100", "--body-budget", budget],
    )?;
    let address = program.address()?;
    let mut raw = Raw::connect(address).await?;
    raw.send(format!(
        "GET /api/v1/petitions HTTP/1.1\r\nHost: x\r\nSVC-API-Token: {KEY}\r\n\r\n"
    ))
    .await?;
    let page = raw.answer().await?.text();
    let helper = page
        .split_once("/record_signature_helper\"")
        .ok_or("no helper")?
        .0
        .rsplit_once("/api/v1/");
    let helper = format!("{}/record_signature_helper", helper.ok_or("no path")?.1);
    let group = Hanging::all("/api/v1/", &helper)
        .into_iter()
        .nth(group)
        .ok_or("no such group")?;
    let before = resident(&program)?.0;
    let _open = group.send(address).await?;
    settle(address).await?;
    let (now, most) = resident(&program)?;
    // Another client reads and writes, with small and larger bodies.
    let mut served = 0;
    for length in [100, 10_000, 30_000] {
        let body = format!(
            "{{\"given_name\":\"Ada\",\"unknown\":\"{}\"}}",
            "x".repeat(length)
        );
        let mut other = Raw::connect(address).await?;
        let head = format!(
            "POST /api/v1/people HTTP/1.1\r\nHost: x\r\nSVC-API-Token: {KEY}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        other.send(head).await?;
        // In two parts, so that the body is incomplete for a short time.
        let (first, second) = body.split_at(length / 2);
        other.send(first).await?;
        other.send(second).await?;
        served += u32::from(other.answer().await?.status == 201);
    }
    println!(
        "budget {budget:>7} MiB, {} {:<30} {:>4} MiB before, {:>4} MiB now, {:>4} MiB at most; {served} of 3 served",
        group.clients,
        group.what,
        before / 1024,
        now / 1024,
        most / 1024,
    );
    assert_eq!(served, 3, "other clients are served");
    Ok(most)
}

#[tokio::test]
#[ignore = "takes minutes: .ci/ignored memory::"]
async fn und_43_bodies_without_an_end_leave_memory_small() -> TestResult {
    for group in 0..4 {
        attacked("1000000", group).await?;
        let most = attacked("64", group).await?;
        assert!(most < MOST_RESIDENT, "{most} KiB");
    }
    Ok(())
}
