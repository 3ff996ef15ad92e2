//! Servers that run as separate processes, and a plain client. The resource use of the servers is
//! read from `/proc`.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const KEY: &str = "bench-key-of-the-demo";
/// Loading one million people takes minutes.
const PATIENCE: Duration = Duration::from_secs(30 * 60);

/// Additional environment variables of a process.
pub(crate) type Environment = [(&'static str, OsString)];

/// A server that runs as a separate process until this value is dropped.
pub(crate) struct Server {
    process: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts the demo with a data file, which is created if it does not exist. Returns when all
    /// data is loaded.
    pub(crate) fn demo(data: &Path, people: u32) -> Self {
        Self::start(data, people, &[], &[])
    }

    /// Starts the demo with more options.
    pub(crate) fn demo_with(data: &Path, people: u32, options: &[&str]) -> Self {
        Self::start(data, people, options, &[])
    }

    /// Starts the demo with additional environment variables.
    pub(crate) fn demo_on(data: &Path, people: u32, environment: &Environment) -> Self {
        Self::start(data, people, &[], environment)
    }

    fn start(data: &Path, people: u32, options: &[&str], environment: &Environment) -> Self {
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .and_then(|free| free.local_addr())
            .expect("a free port");
        let process = Command::new(env!("CARGO_BIN_EXE_svc-demo-bench"))
            .args([
                "--port",
                &address.port().to_string(),
                "--key",
                &format!("bench={KEY}"),
            ])
            .args(["--seed-people", &people.to_string()])
            .arg("--data")
            .arg(data)
            .args(options)
            .envs(environment.iter().cloned())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the demo");
        Self { process, address }.ready("/api/v1/people")
    }

    /// Starts this program with other arguments; it prints its address.
    pub(crate) fn again(arguments: &[&OsStr]) -> Self {
        Self::again_on(arguments, &[])
    }

    /// Starts this program with additional environment variables.
    pub(crate) fn again_on(arguments: &[&OsStr], environment: &Environment) -> Self {
        let mut process = own(arguments, environment)
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program");
        let mut line = String::new();
        let out = process.stdout.take().expect("its output");
        BufReader::new(out)
            .read_line(&mut line)
            .expect("its address");
        Self {
            process,
            address: line.trim().parse().expect("an address"),
        }
    }

    pub(crate) fn ready(self, path: &str) -> Self {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            let answer = TcpStream::connect(self.address)
                .ok()
                .and_then(|stream| Connection::over(stream).answer(path));
            match answer {
                Some(answer) if answer.starts_with(b"HTTP/1.1 200") => return self,
                // While the data is loading.
                Some(answer) if !answer.starts_with(b"HTTP/1.1 503") => {
                    panic!("{path}: {}", String::from_utf8_lossy(&answer))
                }
                _ => {}
            }
            thread::sleep(Duration::from_millis(100));
        }
        panic!("the server does not become ready");
    }

    pub(crate) fn get(&self, path: &str) -> Vec<u8> {
        Connection::open(self.address).ask(path)
    }

    /// Returns the CPU time of all threads of the process.
    pub(crate) fn cpu_nanoseconds(&self) -> u64 {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.process.id()))
            .expect("the threads of a process");
        let of_task = |task: std::io::Result<fs::DirEntry>| {
            let text = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<u64>().ok()
        };
        tasks.filter_map(of_task).sum()
    }

    pub(crate) fn anonymous_kib(&self) -> u32 {
        let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", self.process.id()))
            .expect("its memory");
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("Anonymous:"))
            .expect("a line");
        line.trim()
            .trim_end_matches(" kB")
            .parse()
            .expect("a number")
    }
}

/// Returns a command that runs this program with other arguments.
fn own(arguments: &[&OsStr], environment: &Environment) -> Command {
    let mut own = Command::new(std::env::current_exe().expect("this program"));
    own.args(arguments).envs(environment.iter().cloned());
    own
}

/// Returns the output of this program with other arguments, when it has ended.
pub(crate) fn told(arguments: &[&OsStr], environment: &Environment) -> String {
    let output = own(arguments, environment).output().expect("this program");
    String::from_utf8(output.stdout).expect("a text")
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nothing is being written; the loaded data is durable.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A connection that stays open.
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        Self::over(stream)
    }

    pub(crate) fn over(stream: TcpStream) -> Self {
        Self { stream }
    }

    /// Returns the whole response, which must be a success.
    pub(crate) fn ask(&mut self, path: &str) -> Vec<u8> {
        let answer = self.answer(path).expect("a response");
        assert!(
            answer.starts_with(b"HTTP/1.1 200"),
            "{path}: {}",
            String::from_utf8_lossy(&answer)
        );
        answer
    }

    /// Returns the whole response to a body, which must be a success.
    pub(crate) fn post(&mut self, path: &str, body: &str) -> Vec<u8> {
        let answer = self.send("POST", path, body);
        assert!(
            answer.starts_with(b"HTTP/1.1 200"),
            "{path}: {}",
            String::from_utf8_lossy(&answer)
        );
        answer
    }

    /// Returns the whole response to a body.
    pub(crate) fn send(&mut self, method: &str, path: &str, body: &str) -> Vec<u8> {
        let head = request(path).replacen("GET", method, 1);
        let head = head.trim_end();
        let length = body.len();
        let request = format!(
            "{head}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        self.stream
            .write_all(request.as_bytes())
            .expect("a request");
        self.read().expect("a response")
    }

    pub(crate) fn answer(&mut self, path: &str) -> Option<Vec<u8>> {
        self.stream.write_all(request(path).as_bytes()).ok()?;
        self.read()
    }

    pub(crate) fn read(&mut self) -> Option<Vec<u8>> {
        let mut answer = Vec::new();
        let mut part = vec![0; 64 * 1024];
        loop {
            let length = self
                .stream
                .read(&mut part)
                .ok()
                .filter(|length| *length > 0)?;
            answer.extend_from_slice(part.get(..length)?);
            let Some(head) = answer.windows(4).position(|four| four == b"\r\n\r\n") else {
                continue;
            };
            let text = String::from_utf8_lossy(answer.get(..head)?).to_ascii_lowercase();
            let length = text
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))?;
            if answer.len() >= head + 4 + length.parse::<usize>().ok()? {
                return Some(answer);
            }
        }
    }
}

pub(crate) fn request(path: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nSVC-API-Token: {KEY}\r\nAccept: application/hal+json\r\n\r\n"
    )
}

pub(crate) fn body(answer: &[u8]) -> &[u8] {
    let head = answer
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .expect("a head");
    answer.get(head + 4..).unwrap_or_default()
}
