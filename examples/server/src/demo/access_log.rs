//! The access log. Each request is one aligned line: method, status, time, the last four characters
//! of the key, and the path without the query.
//!
//! A line never contains a body, a query or a whole key. A separate thread writes the lines, so
//! that no request waits for the terminal.
//!
//! Requirements: UND-42.

use std::fmt::Write as _;
use std::io::Write;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use http::{HeaderName, Method, Request, Response, StatusCode};
use svc_declaration::visible;
use tower_service::Service;

/// Maximum number of lines that wait for the thread. Further lines are dropped and counted.
const WAITING_LINES: usize = 8192;

/// Maximum length of a path that is shown completely.
const PATH_SHOWN: usize = 160;

/// Maximum number of bytes in one write.
const CHUNK: usize = 16 * 1024;

/// Time for which lines are collected after a write. Waking the thread for each line would cost
/// more than the line itself.
const PAUSE: Duration = Duration::from_millis(20);

/// The access log. Cheap to clone.
#[derive(Debug, Clone)]
pub struct AccessLog {
    shared: Arc<AccessLogInner>,
}

#[derive(Debug)]
struct AccessLogInner {
    lines: SyncSender<String>,
    left_out: Arc<AtomicU64>,
    key_header: HeaderName,
}

/// The thread that writes the log; [`LogWriter::finish`] waits until every line is written.
#[derive(Debug)]
pub struct LogWriter {
    thread: JoinHandle<()>,
}

impl LogWriter {
    /// Waits until every line is written. All clones of the log must be dropped before.
    pub fn finish(self) {
        // A panic of the thread loses only lines of the log.
        let _ = self.thread.join();
    }
}

impl AccessLog {
    /// Creates a log that writes to `out`. `key_header` is the header that contains the key.
    pub fn to(out: impl Write + Send + 'static, key_header: HeaderName) -> (Self, LogWriter) {
        let (lines, waiting) = mpsc::sync_channel(WAITING_LINES);
        let left_out = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&left_out);
        let thread = thread::spawn(move || write_lines(&waiting, out, &counter));
        (
            Self {
                shared: Arc::new(AccessLogInner {
                    lines,
                    left_out,
                    key_header,
                }),
            },
            LogWriter { thread },
        )
    }

    /// Returns a handle for lines that are not about requests.
    #[must_use]
    pub fn teller(&self) -> LogHandle {
        LogHandle(Arc::downgrade(&self.shared))
    }

    /// Wraps a service and logs its requests.
    #[must_use]
    pub fn before<S>(self, service: S) -> LoggedService<S> {
        LoggedService { log: self, service }
    }

    /// Starts the line of a request. It is written when the request ends, or when its client
    /// disconnects.
    fn begin<B>(&self, request: &Request<B>) -> LogLine {
        let head = head(request, &self.shared.key_header);
        LogLine {
            open: Some(OpenLog {
                shared: Arc::clone(&self.shared),
                head,
                since: Instant::now(),
            }),
        }
    }
}

impl AccessLogInner {
    /// Queues a line, or counts it as dropped if too many lines wait.
    fn write(&self, line: String) {
        if let Err(TrySendError::Full(_)) = self.lines.try_send(line) {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Writes lines that are not about requests. Without a log they are dropped.
#[derive(Debug, Clone, Default)]
pub struct LogHandle(Weak<AccessLogInner>);

impl LogHandle {
    /// Queues a line. Does not wait.
    pub fn tell(&self, line: &str) {
        if let Some(shared) = self.0.upgrade() {
            shared.write(format!("{line}\n"));
        }
    }
}

/// A service with an [`AccessLog`].
#[derive(Debug, Clone)]
pub struct LoggedService<S> {
    log: AccessLog,
    service: S,
}

impl<S, B, A> Service<Request<B>> for LoggedService<S>
where
    S: Service<Request<B>, Response = Response<A>>,
    S::Future: Unpin,
{
    type Response = Response<A>;
    type Error = S::Error;
    type Future = LoggedFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        LoggedFuture {
            line: self.log.begin(&request),
            answer: self.service.call(request),
        }
    }
}

/// A request that is being executed, and its line.
#[derive(Debug)]
pub struct LoggedFuture<F> {
    line: LogLine,
    answer: F,
}

impl<F, A, E> Future for LoggedFuture<F>
where
    F: Future<Output = Result<Response<A>, E>> + Unpin,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = ready!(Pin::new(&mut self.answer).poll(cx));
        if let Ok(response) = &answer {
            self.line.write(Some(response.status()));
        }
        Poll::Ready(answer)
    }
}

/// The line of a request that is being executed.
#[derive(Debug)]
struct LogLine {
    open: Option<OpenLog>,
}

#[derive(Debug)]
struct OpenLog {
    shared: Arc<AccessLogInner>,
    head: LogRequestHead,
    since: Instant,
}

impl LogLine {
    /// Writes the line with the status of the response, or without a status if there is no
    /// response.
    fn write(&mut self, status: Option<StatusCode>) {
        let Some(OpenLog {
            shared,
            head,
            since,
        }) = self.open.take()
        else {
            return;
        };
        shared.write(line(&head, status, since.elapsed()));
    }
}

impl Drop for LogLine {
    fn drop(&mut self) {
        self.write(None);
    }
}

/// The properties of the request that the line shows.
#[derive(Debug)]
struct LogRequestHead {
    method: Method,
    path: String,
    key: [u8; 4],
}

fn head<B>(request: &Request<B>, key_header: &HeaderName) -> LogRequestHead {
    let path = request.uri().path();
    LogRequestHead {
        method: request.method().clone(),
        path: match path.char_indices().nth(PATH_SHOWN) {
            Some((cut, _)) => format!("{}...", visible(path.get(..cut).unwrap_or_default())),
            None => visible(path).into_owned(),
        },
        key: request
            .headers()
            .get(key_header)
            .map_or(*b"-   ", |key| tail(key.as_bytes())),
    }
}

/// Returns the last four characters of a key. Of a short key, no character is shown.
fn tail(key: &[u8]) -> [u8; 4] {
    let last = key.last_chunk().filter(|_| key.len() >= 8);
    last.map_or(*b"....", |last: &[u8; 4]| {
        last.map(|byte| if byte.is_ascii_graphic() { byte } else { b'?' })
    })
}

fn line(head: &LogRequestHead, status: Option<StatusCode>, time: Duration) -> String {
    let status = status.as_ref().map_or("---", StatusCode::as_str);
    let tenths = (time.as_micros() + 50) / 100;
    let (whole, tenth, key) = (tenths / 10, tenths % 10, String::from_utf8_lossy(&head.key));
    let mut line = String::with_capacity(64 + head.path.len());
    // The path is last, because only its length varies.
    _ = writeln!(
        line,
        "{:<7.16} {status} {whole:>6}.{tenth} ms  {key}  {}",
        head.method.as_str(),
        head.path
    );
    line
}

/// Writes queued lines, several in one write if they are available.
fn write_lines(waiting: &Receiver<String>, mut out: impl Write, left_out: &AtomicU64) {
    let mut chunk = String::with_capacity(CHUNK);
    while let Ok(first) = waiting.recv() {
        chunk.push_str(&first);
        while chunk.len() < CHUNK
            && let Ok(line) = waiting.try_recv()
        {
            chunk.push_str(&line);
        }
        let missed = left_out.swap(0, Ordering::Relaxed);
        if missed > 0 {
            let _ = writeln!(
                chunk,
                "({missed} log lines were dropped because the output was too slow)"
            );
        }
        // The server continues if the terminal was closed.
        let _ = out.write_all(chunk.as_bytes()).and_then(|()| out.flush());
        let were_all = chunk.len() < CHUNK;
        chunk.clear();
        if were_all {
            thread::sleep(PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{head, line, tail};
    use std::time::Duration;

    use http::{HeaderName, Request, StatusCode};

    #[test]
    fn a_line_shows_no_query_no_body_and_four_characters_of_the_key() {
        let key = HeaderName::from_static("svc-api-token");
        let request = Request::get("http://localhost/people?email=ada@example.org")
            .header(&key, "svck_0123456789abcdef")
            .body("secret")
            .unwrap_or_default();
        let shown = line(
            &head(&request, &key),
            Some(StatusCode::OK),
            Duration::from_micros(1_250),
        );
        assert_eq!(shown, "GET     200      1.3 ms  cdef  /people\n");
    }

    #[test]
    fn short_keys_and_odd_characters_are_not_shown() {
        assert_eq!(&tail(b"1234567"), b"....");
        assert_eq!(&tail(b"01234567\x1b[2J"), b"?[2J");
    }

    #[test]
    fn invisible_characters_of_a_path_are_named() {
        let request = Request::get("/people/\u{9b}2J\u{202e}")
            .body(())
            .unwrap_or_default();
        let shown = line(
            &head(&request, &HeaderName::from_static("key")),
            None,
            Duration::ZERO,
        );
        assert!(shown.ends_with(" /people/[U+009B]2J[U+202E]\n"), "{shown}");
    }

    #[test]
    fn a_client_that_went_away_has_no_status() {
        let request = Request::get("/").body(()).unwrap_or_default();
        let shown = line(
            &head(&request, &HeaderName::from_static("key")),
            None,
            Duration::from_secs(30),
        );
        assert!(shown.contains(" --- "), "{shown}");
        assert!(shown.ends_with(" -     /\n"), "{shown}");
    }
}
