//! Servers that are stopped or started again while they are judged, or that close connections: none is accused, unless a request
//! ends it each time.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Method, Request, Response};
use svc_conformance::{InProcess, Intensity, Keys, Outcome, Report, Suite, SuiteError, Target, TargetError};
use svc_self_test::second_server::Options;
use svc_self_test::subject::Subject;

use crate::support::{Server, ended, program};

/// What is decided of a request before the server sees it, by its method.
type Fate = Box<dyn FnMut(&Method) -> Result<(), TargetError> + Send>;

/// A server that can be stopped.
struct Stopping {
    server: Box<dyn Target>,
    fate: Mutex<Fate>,
}

impl std::fmt::Debug for Stopping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stopping")
    }
}

#[async_trait]
impl Target for Stopping {
    fn base(&self) -> &str {
        self.server.base()
    }

    fn is_local(&self) -> bool {
        true
    }

    async fn send(
        &self,
        request: Request<Bytes>,
        limit: usize,
        timeout: Duration,
    ) -> Result<Response<Bytes>, TargetError> {
        (self.fate.lock().expect("a fate"))(request.method())?;
        self.server.send(request, limit, timeout).await
    }

    async fn wait(&self, duration: Duration) {
        self.server.wait(duration).await;
    }
}

/// A short run against a server of which some requests get no answer.
async fn run(fate: impl FnMut(&Method) -> Result<(), TargetError> + Send + 'static) -> Result<Report, SuiteError> {
    let subject = Subject::second_server(Options::default());
    let (key, time) = (subject.key.clone(), subject.time.clone().unwrap_or_default());
    let server = InProcess::new(subject.wire).base(subject.base).on_wait(move |wait| time.pass(wait));
    let target = Stopping { server: Box::new(server), fate: Mutex::new(Box::new(fate)) };
    Suite::new(target).keys(Keys::primary(key)).only(["ENT", "HAL", "ERR-01"]).intensity(Intensity::Quick).run().await
}

fn refused() -> Result<(), TargetError> {
    Err(TargetError::Unreachable("connection refused".to_owned()))
}

fn broken() -> Result<(), TargetError> {
    Err(TargetError::Broken("connection reset".to_owned()))
}

#[tokio::test]
async fn a_server_that_is_stopped_is_not_judged() -> Result<(), Box<dyn Error>> {
    for last in [broken, refused] {
        let mut count = 0_usize;
        let report = run(move |_| {
            count += 1;
            match count {
                0..=100 => Ok(()),
                101 => last(),
                _ => refused(),
            }
        });
        let error = report.await.err().ok_or("a report")?;
        assert!(matches!(error, SuiteError::Gone(_)), "{error:?}");
        assert_eq!(error.exit_code(), 4);
        let said = error.to_string();
        assert!(said.starts_with("the server does not answer any more since request 101, of the check "), "{said}");
        assert!(said.contains("http://") && said.contains("Nothing is judged"), "{said}");
    }
    Ok(())
}

#[tokio::test]
async fn a_server_that_is_started_again_is_not_accused() -> Result<(), Box<dyn Error>> {
    let mut count = 0_usize;
    let report = run(move |_| {
        count += 1;
        if (101..105).contains(&count) { refused() } else { Ok(()) }
    });
    let report = report.await?;
    assert_eq!(report.count(Outcome::Fail), 0, "{report}");
    let row = report.row("ERR-01").ok_or("no row")?;
    assert!(row.outcome == Outcome::Inconclusive && row.reason.contains("failed once, not again"), "{row:?}");
    Ok(())
}

#[tokio::test]
async fn a_request_that_ends_the_server_each_time_is_a_finding() -> Result<(), Box<dyn Error>> {
    let mut down = 0_usize;
    let report = run(move |method| {
        if method == Method::POST {
            down = 3;
            return broken();
        }
        down = down.saturating_sub(1);
        if down > 0 { refused() } else { Ok(()) }
    });
    let report = report.await?;
    let row = report.row("ERR-01").ok_or("no row")?;
    assert_eq!(row.outcome, Outcome::Fail, "{row:?}");
    assert!(row.reason.contains("POST") && row.reason.contains("connection reset"), "{}", row.reason);
    Ok(())
}

/// The program keeps the journal of a run whose server is gone, and says how to remove what it created.
#[test]
fn what_was_created_can_be_removed_when_the_server_is_back() {
    let (server, folder) = (Server::good(), crate::support::folder());
    let before = server.records();
    let child = program(folder.path())
        .args(["run", &server.base, "--key", "k-one", "--quiet", "--intensity", "quick"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program");
    while server.records() == before {
        std::thread::yield_now();
    }
    drop(server);
    let (code, said) = ended(&child.wait_with_output().expect("its end"));
    assert_eq!((code, said.lines().count()), (4, 1), "{said}");
    let (_, journal) = said.trim().split_once("removed by: svc-conformance clean ").expect("a command");
    assert!(folder.path().join(journal).exists(), "{said}");
    assert!(!said.contains("k-one"), "{said}");
}

/// The next message on a connection: its first line, and all of it.
fn message(reader: &mut impl BufRead) -> std::io::Result<(String, Vec<u8>)> {
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") {
        let start = head.len();
        if reader.read_line(&mut head)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let line = head[start..].to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let first = head.lines().next().unwrap_or_default().to_owned();
    Ok((first, [head.into_bytes(), body].concat()))
}

/// Serves a connection from a server behind it, and closes it at a request other than the first of which `closes_at` is true.
fn pass_on(stream: TcpStream, server: SocketAddr, closes_at: fn(&str) -> bool) -> std::io::Result<()> {
    let (mut reader, mut stream) = (BufReader::new(stream.try_clone()?), stream);
    for number in 0.. {
        let (first, request) = message(&mut reader)?;
        if number > 0 && closes_at(&first) {
            return Ok(());
        }
        let mut behind = TcpStream::connect(server)?;
        behind.write_all(&request)?;
        let (_, answer) = message(&mut BufReader::new(behind))?;
        stream.write_all(&answer)?;
    }
    Ok(())
}

/// RFC 9112, section 9.3: a server may close a connection at any time, also when a request is on its way.
#[test]
fn a_server_may_close_connections_that_it_has_kept_open() {
    let all: fn(&str) -> bool = |_| true;
    for closes_at in [all, |first| !first.starts_with("GET")] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let base = format!("http://{}/rest/", listener.local_addr().expect("an address"));
        let server = Server::with(|_, answer| answer, |_| Options { base: base.clone(), ..Options::default() });
        let behind = server.address;
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that goes away is no trouble.
                thread::spawn(move || drop(pass_on(stream, behind, closes_at)));
            }
        });
        let arguments = ["run", &base, "--key", "k-one", "--quiet", "--timeout", "5m", "--intensity", "quick"];
        let folder = crate::support::folder();
        let mut program = program(folder.path());
        let only = ["--only", "ENT", "--only", "HAL", "--only", "ERR-01"];
        let (code, said) = ended(&program.args(arguments).args(only).output().expect("the program"));
        assert!(code == 0 && said.contains("RESULT conformant"), "{code} {said}");
    }
}
