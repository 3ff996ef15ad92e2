//! Servers that are stopped or restarted during a run, or that close connections. No requirement
//! fails, unless a request ends the server each time.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Response};
use svc_conformance::{
    InProcess, Intensity, Keys, Report, RequirementOutcome, Suite, SuiteError, TargetError,
};
use svc_self_test::independent_server::ServerOptions;
use svc_self_test::subject::TestSubject;

use crate::between::Between;
use crate::support::{Server, ended, program};

type Sent = Result<Response<Bytes>, TargetError>;

/// A short run against a server that does not respond to some requests.
async fn run(
    mut fate: impl FnMut(&Method) -> Option<Sent> + Send + 'static,
) -> Result<Report, SuiteError> {
    let subject = TestSubject::second_server(ServerOptions::default());
    let (key, time) = (
        subject.key.clone(),
        subject.time.clone().unwrap_or_default(),
    );
    let server = InProcess::new(subject.wire)
        .base_url(subject.base)
        .on_wait(move |wait| time.pass(wait));
    let target = Between::new(server, move |request, timeout| {
        fate(request.method()).map_or(ControlFlow::Continue(timeout), ControlFlow::Break)
    });
    Suite::new(target)
        .keys(Keys::primary(key))
        .only(["ENT", "HAL", "ERR-01"])
        .intensity(Intensity::Quick)
        .run()
        .await
}

fn refused() -> Sent {
    Err(TargetError::Unreachable("connection refused".to_owned()))
}

fn broken() -> Sent {
    Err(TargetError::Broken("connection reset".to_owned()))
}

/// The result for a server that accepts connections and does not respond.
fn hangs() -> Sent {
    Err(TargetError::TimedOut(Duration::from_secs(30)))
}

/// The response of a gateway for a stopped server.
fn bad_gateway() -> Sent {
    let answer = Response::builder()
        .status(502)
        .body("<h1>502 Bad Gateway</h1>".into());
    answer.map_err(|error| TargetError::Broken(error.to_string()))
}

#[tokio::test]
async fn a_server_that_is_stopped_is_not_judged() -> Result<(), Box<dyn Error>> {
    let cases: [[fn() -> Sent; 2]; 4] = [
        [broken, refused],
        [refused, refused],
        [bad_gateway, bad_gateway],
        [hangs, hangs],
    ];
    for [last, later] in cases {
        let mut count = 0_usize;
        let report = run(move |_| {
            count += 1;
            match count {
                0..=100 => None,
                101 => Some(last()),
                _ => Some(later()),
            }
        });
        let error = report.await.err().ok_or("a report")?;
        assert!(matches!(error, SuiteError::Gone(_)), "{error:?}");
        assert_eq!(error.exit_code(), 4);
        let said = error.to_string();
        assert!(
            said.starts_with("the server stopped responding at request 101 ("),
            "{said}"
        );
        assert!(
            said.contains("http://") && said.contains("Nothing is judged"),
            "{said}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_server_that_is_started_again_is_not_accused() -> Result<(), Box<dyn Error>> {
    let mut count = 0_usize;
    let report = run(move |_| {
        count += 1;
        if (101..105).contains(&count) {
            Some(refused())
        } else {
            None
        }
    });
    let report = report.await?;
    assert_eq!(report.count(RequirementOutcome::Fail), 0, "{report}");
    let row = report.requirement("ERR-01").ok_or("no row")?;
    assert!(
        row.outcome == RequirementOutcome::Inconclusive
            && row.reason.contains("failed once, but not again"),
        "{row:?}"
    );
    Ok(())
}

#[tokio::test]
async fn a_request_that_ends_the_server_each_time_is_a_finding() -> Result<(), Box<dyn Error>> {
    let mut down = 0_usize;
    let report = run(move |method| {
        if method == Method::POST {
            down = 3;
            return Some(broken());
        }
        down = down.saturating_sub(1);
        if down > 0 { Some(refused()) } else { None }
    });
    let report = report.await?;
    let row = report.requirement("ERR-01").ok_or("no row")?;
    assert_eq!(row.outcome, RequirementOutcome::Fail, "{row:?}");
    assert!(
        row.reason.contains("POST") && row.reason.contains("connection reset"),
        "{}",
        row.reason
    );
    Ok(())
}

/// The program does not delete the journal, and reports how to remove what was created.
#[test]
fn the_journal_of_a_run_whose_server_is_stopped_is_kept() {
    let (server, folder) = (Server::good(), crate::support::folder());
    let before = server.records();
    let mut child = program(folder.path())
        .args([
            "run",
            &server.base,
            "--key",
            "k-one",
            "--quiet",
            "--intensity",
            "quick",
        ])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program");
    while server.records() == before {
        assert!(
            child.try_wait().expect("the program").is_none(),
            "it created nothing"
        );
    }
    drop(server);
    let (code, said) = ended(&child.wait_with_output().expect("its end"));
    assert_eq!((code, said.lines().count()), (4, 1), "{said}");
    let (_, journal) = said
        .trim()
        .split_once(". To delete what the run created: svc-conformance clean-up ")
        .expect("a command");
    let lines = std::fs::read_to_string(folder.path().join(journal))
        .expect("a journal")
        .lines()
        .count();
    assert!(lines > 1, "{said}");
    assert!(!said.contains("k-one"), "{said}");
    let again = program(folder.path())
        .args(["clean-up", journal, "--key", "k-one"])
        .output()
        .expect("the program");
    let (code, said) = ended(&again);
    assert!(
        code == 4 && said.contains("cannot be reached"),
        "{code} {said}"
    );
    assert_eq!(
        std::fs::read_to_string(folder.path().join(journal))
            .expect("a journal")
            .lines()
            .count(),
        lines
    );
}

/// Returns the next message on a connection: its first line, and the whole message.
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

/// Whether a connection is closed at a request, by the number of the request on its connection and
/// its first line.
type ClosesAt = fn(usize, &str) -> bool;

/// Serves a connection with the responses of another server.
fn pass_on(stream: TcpStream, server: SocketAddr, closes_at: ClosesAt) -> std::io::Result<()> {
    let (mut reader, mut stream) = (BufReader::new(stream.try_clone()?), stream);
    for number in 0.. {
        let (first, request) = message(&mut reader)?;
        if closes_at(number, &first) {
            return Ok(());
        }
        let mut behind = TcpStream::connect(server)?;
        behind.write_all(&request)?;
        let (_, answer) = message(&mut BufReader::new(behind))?;
        stream.write_all(&answer)?;
    }
    Ok(())
}

/// RFC 9112, section 9.5: a server may close a connection at any time, also during a request. A
/// server that never responds to a request has a fault.
#[test]
fn a_server_may_close_connections_that_it_has_kept_open() {
    let cases: [(ClosesAt, i32); 3] = [
        (|number, _| number > 0, 0),
        (|number, first| number > 0 && !first.starts_with("GET"), 0),
        (|_, first| first.starts_with("POST"), 1),
    ];
    for (closes_at, expected) in cases {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let base = format!(
            "http://{}/rest/",
            listener.local_addr().expect("an address")
        );
        let server = Server::with(
            |_, answer| answer,
            |_| ServerOptions {
                base: base.clone(),
                ..ServerOptions::default()
            },
        );
        let behind = server.address;
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that disconnects is not an error.
                thread::spawn(move || drop(pass_on(stream, behind, closes_at)));
            }
        });
        let arguments = [
            "run",
            &base,
            "--key",
            "k-one",
            "--quiet",
            "--timeout",
            "5m",
            "--intensity",
            "quick",
        ];
        let folder = crate::support::folder();
        let mut program = program(folder.path());
        let only = ["--only", "ENT", "--only", "HAL", "--only", "ERR-01"];
        let (code, said) = ended(
            &program
                .args(arguments)
                .args(only)
                .output()
                .expect("the program"),
        );
        assert!(
            code == expected && said.contains("FAIL ERR-01") == (expected == 1),
            "{code} {said}"
        );
    }
}
