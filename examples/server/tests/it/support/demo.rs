//! The demo as a child process.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use super::TestResult;
use super::program::{KEY, Program};

/// Maximum number of requests to a demo that still loads its data. It delays each request by some
/// seconds.
const TRIES: usize = 60;

/// Returns a command that runs the demo, independent of the environment of the test.
pub(crate) fn demo(data: &Path) -> Command {
    let mut command = bare_demo();
    command.arg("--data").arg(data);
    command
}

/// Returns the same without the location of the data.
pub(crate) fn bare_demo() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svc-demo"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SVC_DEMO_") {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::null());
    command
}

impl Program {
    /// Starts the demo on a free port, with [`KEY`] for the tenant `demo`, and waits until its data
    /// is loaded.
    pub(crate) fn demo(data: &Path, arguments: &[&str]) -> TestResult<Self> {
        Self::loading_demo(data, arguments)?.loaded()
    }

    /// Starts the demo while its data is still loading.
    pub(crate) fn loading_demo(data: &Path, arguments: &[&str]) -> TestResult<Self> {
        let key = format!("demo={KEY}");
        let mut command = demo(data);
        command.args(["--port", "0", "--key", &key]).args(arguments);
        Self::start(&mut command)
    }

    /// Waits for the data of a demo as clients of the API do, with retries after 503.
    ///
    /// Requirements: UND-36.
    pub(crate) fn loaded(self) -> TestResult<Self> {
        let path = self.base_url.splitn(4, '/').nth(3).ok_or("no path")?;
        let request =
            format!("GET /{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let mut answer = String::new();
        for _ in 0..TRIES {
            let mut stream = TcpStream::connect(self.address()?)?;
            stream.write_all(request.as_bytes())?;
            answer.clear();
            stream.read_to_string(&mut answer)?;
            match answer.split(' ').nth(1) {
                Some("503") => {}
                Some("200") => return Ok(self),
                _ => break,
            }
        }
        Err(format!("{}: {answer}", self.base_url).into())
    }
}
