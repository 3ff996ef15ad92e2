//! A simple receiver of messages. It stores them, and its responses are configurable.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};

/// A received message.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
}

impl Message {
    pub(crate) fn id(&self) -> &str {
        &self.headers["webhook-id"]
    }

    /// Returns whether the signature is that of a secret, computed like a verifier does.
    pub(crate) fn is_signed_by(&self, secret: &svc_core::webhooks::WebhookSecret) -> bool {
        let seconds = self.headers["webhook-timestamp"].parse().unwrap();
        let signed = secret.sign(self.id(), seconds, self.body.as_bytes());
        self.headers["webhook-signature"]
            .split(' ')
            .any(|one| one == signed)
    }
}

/// Function that returns the response to the message with a number; `None` means no response.
type Answer = Arc<dyn Fn(usize) -> Option<String> + Send + Sync>;

/// The receiver.
#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    messages: Arc<Mutex<Vec<Message>>>,
    came: Arc<Semaphore>,
}

/// Returns a response with a status and further headers.
#[expect(
    clippy::unnecessary_wraps,
    reason = "it is one of the possible responses"
)]
pub(crate) fn status(status: u16, more: &str) -> Option<String> {
    Some(format!(
        "HTTP/1.1 {status} Said\r\n{more}Content-Length: 0\r\n\r\n"
    ))
}

impl Receiver {
    pub(crate) async fn start(
        answer: impl Fn(usize) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(Duration::ZERO, answer).await
    }

    /// Starts a receiver that responds 200 after a delay.
    pub(crate) async fn slow(time: Duration) -> Self {
        Self::start_with(time, |_| status(200, "")).await
    }

    async fn start_with(
        time: Duration,
        answer: impl Fn(usize) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = Self {
            address: listener.local_addr().unwrap(),
            messages: Arc::default(),
            came: Arc::new(Semaphore::new(0)),
        };
        let (own, answer): (_, Answer) = (receiver.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(own.clone().serve(stream, time, Arc::clone(&answer)));
            }
        });
        receiver
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    async fn serve(self, mut stream: TcpStream, time: Duration, answer: Answer) {
        let mut text = String::new();
        let mut part = [0; 4_096];
        let message = loop {
            let Ok(read) = stream.read(&mut part).await else {
                return;
            };
            text.push_str(&String::from_utf8_lossy(&part[..read]));
            if read == 0 {
                return;
            }
            let Some((head, body)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            let lines = head
                .lines()
                .skip(1)
                .filter_map(|line| line.split_once(": "));
            let headers: HashMap<_, _> = lines
                .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
                .collect();
            let length: usize = headers["content-length"].parse().unwrap();
            if body.len() >= length {
                break Message {
                    body: body.to_owned(),
                    headers,
                };
            }
        };
        let number = {
            let mut messages = self.messages.lock().unwrap();
            messages.push(message);
            messages.len() - 1
        };
        self.came.add_permits(1);
        tokio::time::sleep(time).await;
        match answer(number) {
            Some(text) => _ = stream.write_all(text.as_bytes()).await,
            // It hangs until the client disconnects.
            None => while matches!(stream.read(&mut part).await, Ok(1..)) {},
        }
    }

    /// Waits for `more` messages since the last call. Returns all messages received so far.
    pub(crate) async fn messages(&self, more: u32) -> Vec<Message> {
        self.came.acquire_many(more).await.unwrap().forget();
        self.messages.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.messages.lock().unwrap().len()
    }
}
