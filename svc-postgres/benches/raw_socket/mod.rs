//! A plain socket to the server: the minimum cost of a query and its result for a client.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

/// A blocking connection without a client library.
pub(crate) struct Bare {
    socket: TcpStream,
    answer: Vec<u8>,
}

impl Bare {
    /// Connects to a server that trusts every client.
    pub(crate) fn connect(port: u16) -> Self {
        let socket = TcpStream::connect(("127.0.0.1", port)).expect("a server");
        socket.set_nodelay(true).expect("no delay");
        let mut bare = Self {
            socket,
            answer: vec![0; 65_536],
        };
        let mut start = 196_608_u32.to_be_bytes().to_vec();
        start.extend_from_slice(b"user\0svc\0database\0postgres\0\0");
        bare.send(&start);
        bare.wait();
        bare
    }

    /// Queries `bytes` bytes, and reads them.
    pub(crate) fn ask(&mut self, bytes: u32) {
        let question = format!("SELECT repeat('x', {bytes})\0");
        // The message type precedes the length.
        let length = u32::try_from(question.len() + 4)
            .expect("a short query")
            .to_be_bytes();
        let whole = [b"Q", &length[..], question.as_bytes()].concat();
        self.socket.write_all(&whole).expect("the query is sent");
        self.wait();
    }

    fn send(&mut self, body: &[u8]) {
        let length = u32::try_from(body.len() + 4)
            .expect("a short message")
            .to_be_bytes();
        self.socket
            .write_all(&[&length[..], body].concat())
            .expect("the message is sent");
    }

    /// Waits until the server is ready for the next query.
    fn wait(&mut self) {
        let mut end = 0;
        while !self
            .answer
            .get(..end)
            .is_some_and(|answer| answer.ends_with(b"Z\0\0\0\x05I"))
        {
            let read = self
                .socket
                .read(&mut self.answer[end..])
                .expect("a response");
            assert!(
                read > 0,
                "the server has closed the connection, or the response does not fit the buffer"
            );
            end += read;
        }
    }
}
