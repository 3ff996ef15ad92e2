//! The demo as a child process.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use super::TestResult;
use super::program::{KEY, Program};

/// How often a demo is asked that still loads its data; it holds each question back for some
/// seconds.
const TRIES: usize = 60;

/// A command that runs the demo, whatever the environment of the test says.
pub(crate) fn demo(data: &Path) -> Command {
    let mut command = bare_demo();
    command.arg("--data").arg(data);
    command
}

/// The same, not told where its data is.
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
    /// The demo on any free port, with [`KEY`] for the tenant `demo`, once its data are there.
    pub(crate) fn demo(data: &Path, arguments: &[&str]) -> TestResult<Self> {
        Self::loading_demo(data, arguments)?.loaded()
    }

    /// The same, while it may still load its data.
    pub(crate) fn loading_demo(data: &Path, arguments: &[&str]) -> TestResult<Self> {
        let key = format!("demo={KEY}");
        let mut command = demo(data);
        command.args(["--port", "0", "--key", &key]).args(arguments);
        Self::start(&mut command)
    }

    /// Waits for the data of a demo as the interface tells its clients to: who is put off comes
    /// again.
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
