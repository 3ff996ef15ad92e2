//! `watch`: a server that is fixed and restarted, or whose program changes, gets another run.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use svc_self_test::independent_server::ServerOptions;

use crate::loopback::own_loopback_address;
use crate::support::{Change, Server, program};

fn as_it_is(_: &Request<Bytes>, response: Response<Bytes>) -> Response<Bytes> {
    response
}

fn plain_text(_: &Request<Bytes>, mut response: Response<Bytes>) -> Response<Bytes> {
    response
        .headers_mut()
        .insert("content-type", "text/plain".parse().expect("a value"));
    response
}

fn options(address: SocketAddr) -> ServerOptions {
    ServerOptions {
        base: format!("http://{address}/rest/"),
        ..ServerOptions::default()
    }
}

/// Starts a server on a separate loopback address, so that its port stays free while it restarts.
fn start(change: Change) -> Server {
    Server::at(own_loopback_address(), change, options)
}

/// The program while it watches, and the lines of its output.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(folder: &Path, base: &str, arguments: &[&str]) -> Self {
        let little = [
            "--key",
            "k-one",
            "--quiet",
            "--timeout",
            "5m",
            "--only",
            "HAL-03",
            "--only",
            "ENT-09",
        ];
        let mut command = program(folder);
        let mut child = command
            .arg("watch")
            .arg(base)
            .args(little)
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it");
        let (send, lines) = channel();
        let out = BufReader::new(child.stdout.take().expect("its output"));
        std::thread::spawn(move || {
            out.lines()
                .map_while(Result::ok)
                .try_for_each(|line| send.send(line))
        });
        Self { child, lines }
    }

    /// Returns its output up to a line that begins with these words.
    fn until(&self, words: &str) -> String {
        let mut said = String::new();
        while !said
            .lines()
            .last()
            .is_some_and(|line| line.starts_with(words))
        {
            let line = self.lines.recv_timeout(Duration::from_secs(10 * 60));
            said +=
                &(line.unwrap_or_else(|error| panic!("{error} before `{words}`: {said}")) + "\n");
        }
        said
    }

    /// Ends it like Ctrl-C, and returns its exit code.
    #[cfg(unix)]
    fn interrupt(mut self) -> Option<i32> {
        let number = i32::try_from(self.child.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw)
            .expect("a process");
        rustix::process::kill_process(number, rustix::process::Signal::INT).expect("a signal");
        self.child.wait().expect("ended").code()
    }

    #[cfg(not(unix))]
    fn interrupt(mut self) -> Option<i32> {
        self.child.kill().expect("ended");
        None
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

/// HAL-03 fails, is fixed by a restart, and fails again after the next one.
#[test]
fn rows_turn_green_and_red_as_the_server_is_restarted() {
    let (mut server, folder) = (start(plain_text), tempfile::tempdir().expect("a folder"));
    let address = server.address;
    let watching = Watching::start(folder.path(), &server.base, &[]);
    let mut said = watching.until("waiting for the server to stop");
    assert!(
        said.contains("FAIL HAL-03") && said.contains("RESULT not conformant"),
        "{said}"
    );
    for (change, expected) in [
        (
            as_it_is as Change,
            &[
                "green HAL-03 (pass)",
                "Everything is run once more",
                "RESULT conformant",
            ][..],
        ),
        (as_it_is, &["RESULT conformant"]),
        (plain_text, &["FAIL HAL-03", "red   HAL-03 Content-Type"]),
        (plain_text, &["1 of 1 requirements still fail: HAL-03"]),
    ] {
        drop(server);
        watching.until("waiting for the server to start");
        server = Server::at(address, change, options);
        said = watching.until("waiting for the server to stop");
        for words in expected {
            assert!(said.contains(words), "{words}: {said}");
        }
    }
    assert!(matches!(watching.interrupt(), Some(1) | None));
}

/// A server that is replaced immediately is noticed, because the program holds a connection.
#[test]
fn a_restart_that_takes_no_time_is_seen() {
    let (server, folder) = (start(plain_text), tempfile::tempdir().expect("a folder"));
    let address = server.address;
    let watching = Watching::start(folder.path(), &server.base, &[]);
    watching.until("waiting for the server to stop");
    drop(server);
    let _server = Server::at(address, as_it_is, options);
    let said = watching.until("waiting for the server to stop");
    assert!(
        said.contains("green HAL-03 (pass)") && said.contains("RESULT conformant"),
        "{said}"
    );
}

#[test]
fn a_file_that_changes_is_waited_for_too() {
    let (server, folder) = (Server::good(), tempfile::tempdir().expect("a folder"));
    let watching = Watching::start(folder.path(), &server.base, &["--on-change", "server.bin"]);
    watching.until("waiting for a change of server.bin");
    fs::write(folder.path().join("server.bin"), "new").expect("written");
    let said = watching.until("waiting for a change of server.bin");
    assert!(said.contains("RESULT conformant"), "{said}");
    assert!(matches!(watching.interrupt(), Some(0) | None));
}
