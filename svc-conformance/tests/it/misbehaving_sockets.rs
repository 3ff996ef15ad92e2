//! A server that closes its port, does not use HTTP, stalls, or sends without end gets a finding.
//! The suite does not crash or hang.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use svc_conformance::{
    Declaration, Keys, Remote, Report, RequirementOutcome, Suite, read_declaration,
};

use crate::between::Between;

/// What a server does with a request that has a key. A request without a key gets an entry point.
type Answer = fn(&mut TcpStream) -> std::io::Result<()>;

/// Serves a connection until the server closes it.
fn serve(mut stream: TcpStream, answer: Answer) -> std::io::Result<()> {
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"))
            .map_or("0", str::trim);
        let mut body = vec![0; length.parse().expect("a length")];
        stream.read_exact(&mut body)?;
        if head.contains("svc-api-token") {
            return answer(&mut stream);
        }
        stream.write_all(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/hal+json\r\nContent-Length: 2\r\n\r\n{}",
        )?;
    }
}

fn start(answer: Answer) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that disconnects is not an error.
            thread::spawn(move || drop(serve(stream, answer)));
        }
    });
    address
}

fn declaration() -> Declaration {
    let text = r#"
        declaration_version = 1
        [entry_point]
        fields = ["motd"]
        [collections.people]
        singular = "person"
        operations = ["list", "read", "create"]
        links = []
        [collections.people.fields.given_name]
        type = "string"
    "#;
    read_declaration(text).expect("a declaration")
}

/// Only a test of a response that never arrives uses this long timeout.
const LONG: Duration = Duration::from_secs(10 * 60);

async fn run(answer: Answer, timeout: Duration) -> Report {
    let target = Remote::new(format!("http://{}/", start(answer))).expect("an address");
    // Timeout for the entry point without a key, which also suffices on a slow machine.
    let target = Between::new(target, |request, timeout| {
        ControlFlow::Continue(if request.headers().contains_key("svc-api-token") {
            timeout
        } else {
            LONG
        })
    });
    let suite = Suite::new(target)
        .declaration(declaration())
        .keys(Keys::primary("k-one"));
    let suite = suite
        .timeout(timeout)
        .stop_at_failure_of(Vec::<String>::new());
    suite.run().await.expect("a report")
}

/// Returns the failed requirements with their reasons, after a check of how the run ended.
fn failures(report: &Report) -> String {
    assert_eq!(
        (report.exit_code(), report.count(RequirementOutcome::Error)),
        (1, 0),
        "{report}"
    );
    let failed = report
        .rows
        .iter()
        .filter(|row| row.outcome == RequirementOutcome::Fail);
    let said = failed.flat_map(|row| {
        row.findings
            .iter()
            .map(|finding| format!("{}: {}\n", row.id, finding.message))
    });
    said.collect()
}

/// Waits until the client gives up.
fn stall(stream: &mut TcpStream) -> std::io::Result<()> {
    match stream.read(&mut [0]) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => Err(error),
        _ => Ok(()),
    }
}

#[tokio::test]
async fn a_connection_that_closes_is_a_finding() {
    let forms: [Answer; 3] = [
        |_| Ok(()),
        |stream| stream.write_all(b"HTTP/1.1 200 OK\r\nContent-"),
        |stream| stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"motd\":"),
    ];
    for form in forms {
        let said = failures(&run(form, LONG).await);
        assert!(
            said.contains("ERR-01: ")
                && said.contains("the response was interrupted or is not HTTP"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn what_is_no_http_is_a_finding() {
    const OTHER: &str = "does not use HTTP/1.1 at this URL";
    const BROKEN: &str = "the response was interrupted or is not HTTP";
    let forms: [(Answer, &str); 4] = [
        (
            |stream| stream.write_all(b"220 mail.example.org ESMTP\r\n"),
            OTHER,
        ),
        (
            |stream| stream.write_all(&[0, 159, 146, 150, 13, 10, 13, 10]),
            OTHER,
        ),
        (
            |stream| stream.write_all(b"HTTP/1.1 two hundred\r\n\r\n"),
            BROKEN,
        ),
        (
            |stream| {
                stream.write_all(
                    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n",
                )
            },
            BROKEN,
        ),
    ];
    for (form, expected) in forms {
        let said = failures(&run(form, LONG).await);
        assert!(
            said.contains("ERR-01: ") && said.contains(expected),
            "{said}"
        );
    }
}

#[tokio::test]
async fn headers_without_end_are_a_finding() {
    let form: Answer = |stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
        loop {
            stream.write_all(b"X-More: and more\r\n")?;
        }
    };
    let said = failures(&run(form, LONG).await);
    assert!(
        said.contains("ERR-01: ") && said.contains("the response was interrupted or is not HTTP"),
        "{said}"
    );
}

#[tokio::test]
async fn a_stall_is_a_finding() {
    let forms: [Answer; 3] = [
        stall,
        |stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
            stall(stream)
        },
        |stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"motd\":")?;
            stall(stream)
        },
    ];
    for form in forms {
        let said = failures(&run(form, Duration::from_secs(1)).await);
        assert!(
            said.contains("ERR-01: ") && said.contains("no complete response within 1s"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn a_body_of_100_mb_is_a_finding() {
    const CHUNK: &[u8] = &[b' '; 64 * 1024];
    let forms: [Answer; 2] = [
        |stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n")?;
            (0..1600).try_for_each(|_| stream.write_all(CHUNK))
        },
        // Without a length, and without an end.
        |stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
            loop {
                stream.write_all(CHUNK)?;
            }
        },
    ];
    for form in forms {
        let said = failures(&run(form, LONG).await);
        assert!(
            said.contains("HAL-02: ") && said.contains("the response has more than 8388608 bytes"),
            "{said}"
        );
    }
}
