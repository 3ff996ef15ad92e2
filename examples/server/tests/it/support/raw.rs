//! Raw sockets, which send exactly the given bytes.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

pub(crate) type TestResult<T = ()> = Result<T, Box<dyn Error>>;

/// A connection to a server under test.
pub(crate) struct Raw {
    stream: TcpStream,
    waiting: Vec<u8>,
}

/// A response, unchanged.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Raw {
    pub(crate) async fn connect(address: SocketAddr) -> TestResult<Self> {
        Ok(Self {
            stream: TcpStream::connect(address).await?,
            waiting: Vec::new(),
        })
    }

    /// Connects from this address. On Linux, all of 127.0.0.0/8 are addresses of this machine.
    pub(crate) async fn connect_from(
        source: impl Into<IpAddr>,
        address: SocketAddr,
    ) -> TestResult<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((source.into(), 0).into())?;
        Ok(Self {
            stream: socket.connect(address).await?,
            waiting: Vec::new(),
        })
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) -> TestResult {
        Ok(self.stream.write_all(bytes.as_ref()).await?)
    }

    /// Reads one response with `Content-Length`, or one without a body according to its status or
    /// length.
    pub(crate) async fn answer(&mut self) -> TestResult<Answer> {
        let end = loop {
            if let Some(end) = self
                .waiting
                .windows(4)
                .position(|window| window == b"\r\n\r\n")
            {
                break end + 4;
            }
            if self.more().await? == 0 {
                let so_far = String::from_utf8_lossy(&self.waiting).into_owned();
                return Err(format!(
                    "the connection ended before a response was complete: {so_far:?}"
                )
                .into());
            }
        };
        let head = String::from_utf8(self.waiting.drain(..end).collect())?;
        let status = head.split(' ').nth(1).ok_or("no status")?.parse()?;
        let mut answer = Answer {
            status,
            head,
            body: Vec::new(),
        };
        if status < 200 {
            return Ok(answer);
        }
        let length: usize = answer.header("content-length").unwrap_or("0").parse()?;
        while self.waiting.len() < length {
            if self.more().await? == 0 {
                return Err("the connection ended inside a body".into());
            }
        }
        answer.body = self.waiting.drain(..length).collect();
        Ok(answer)
    }

    /// Reads until the server closes the connection. Returns the data after the responses that were
    /// already read.
    pub(crate) async fn rest(&mut self) -> TestResult<Vec<u8>> {
        while self.more().await? > 0 {}
        Ok(std::mem::take(&mut self.waiting))
    }

    /// Reads this number of bytes.
    pub(crate) async fn next(&mut self, length: usize) -> TestResult<Vec<u8>> {
        while self.waiting.len() < length {
            if self.more().await? == 0 {
                return Err("the connection ended early".into());
            }
        }
        Ok(self.waiting.drain(..length).collect())
    }

    async fn more(&mut self) -> TestResult<usize> {
        Ok(self.stream.read_buf(&mut self.waiting).await?)
    }
}
