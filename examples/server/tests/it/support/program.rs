//! A program as a child process.

use std::error::Error;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

use super::TestResult;

/// The key of the demo in tests.
pub(crate) const KEY: &str = "test-key-4711-of-the-demo";

/// A server that runs until it is stopped. A failing test ends it.
pub(crate) struct Program {
    child: Child,
    out: BufReader<ChildStdout>,
    /// The output after its `curl` command, as far as it was read.
    rest: String,
    /// Reads its errors and log to the end.
    errors: Option<JoinHandle<String>>,
    /// The URL of its entry point.
    pub(crate) base_url: String,
    /// The output before that.
    pub(crate) said: String,
}

impl Program {
    /// Starts a program and reads its output up to its `curl` command.
    pub(crate) fn start(command: &mut Command) -> TestResult<Self> {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut out = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut errors = child.stderr.take().ok_or("no errors")?;
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            // Only the output so far matters.
            let _ = errors.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let mut said = String::new();
        loop {
            let mut line = String::new();
            if out.read_line(&mut line)? == 0 {
                let errors = errors.join().unwrap_or_default();
                return Err(format!("{}: {said}{errors}", child.wait()?).into());
            }
            said.push_str(&line);
            if let Some(base_url) = line
                .trim()
                .strip_prefix("curl")
                .and_then(|rest| rest.split(' ').next_back())
            {
                let base_url = base_url.to_owned();
                return Ok(Self {
                    child,
                    out,
                    rest: String::new(),
                    errors: Some(errors),
                    base_url,
                    said,
                });
            }
        }
    }

    /// Returns its listening address.
    pub(crate) fn address(&self) -> TestResult<SocketAddr> {
        if let Some((_, rest)) = self.said.split_once("listens on ") {
            return Ok(rest.lines().next().ok_or("no address")?.parse()?);
        }
        let authority = self.base_url.split('/').nth(2).ok_or("no address")?;
        Ok(authority.parse()?)
    }

    /// Returns its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends the order to stop.
    pub(crate) fn terminate(&self) -> TestResult {
        self.signal(rustix::process::Signal::TERM)
    }

    /// Kills the process, as a power failure would.
    pub(crate) fn kill(&mut self) -> TestResult {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) -> TestResult {
        let id = i32::try_from(self.child.id())?;
        let id = rustix::process::Pid::from_raw(id).ok_or("no process")?;
        Ok(rustix::process::kill_process(id, signal)?)
    }

    /// Waits for its end. Returns its exit code, and all output after its `curl` command.
    pub(crate) fn end(mut self) -> TestResult<(ExitStatus, String)> {
        self.out.read_to_string(&mut self.rest)?;
        Ok((self.child.wait()?, self.rest.clone()))
    }

    /// Checks that the log has no key and no personal value.
    ///
    /// Requirements: UND-42.
    fn look_at_log(&mut self) {
        let _ = self.out.read_to_string(&mut self.rest);
        let errors = self
            .errors
            .take()
            .and_then(|errors| errors.join().ok())
            .unwrap_or_default();
        for secret in [
            KEY,
            "svck_",
            "other-key",
            "late-key",
            "@example.org",
            "PLANTED",
        ] {
            for log in [&self.rest, &errors] {
                let at = log.lines().find(|line| line.contains(secret));
                assert!(at.is_none(), "the log has {secret:?}: {at:?}");
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It has already ended if the test succeeded.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if !std::thread::panicking() {
            self.look_at_log();
        }
    }
}

/// Returns the exit code, output and errors of a program that ends by itself.
pub(crate) fn outcome(
    command: &mut Command,
) -> Result<(ExitStatus, String, String), Box<dyn Error>> {
    let output = command.output()?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((output.status, text(output.stdout), text(output.stderr)))
}
