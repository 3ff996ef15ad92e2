//! Batches of lines get one response line per entry while they arrive, and are not held in memory.
//!
//! Requirements: BAT-06, BAT-08.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use crate::server::Server;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Frame};
use serde_json::{Value, json};
use svc_sqlite::KeyOptions;
use svc_tower::{ResponseBody, SvcService};
use tokio::sync::mpsc;
use tower::ServiceExt;

const ADDRESS: &str = "/people/person_signup/batch";
const NDJSON: &str = "application/x-ndjson";

/// A server, its service, and a key for it.
struct Served {
    server: Server,
    service: SvcService,
    key: String,
}

impl Served {
    async fn start() -> Self {
        let server = Server::with(|options| options, svc_core::ApiBuilder::batches).await;
        let key = server
            .store
            .create_key(&server.tenant, KeyOptions::new("test"))
            .await
            .unwrap();
        let service = SvcService::new(server.api.clone()).body_limit(300);
        Self {
            server,
            service,
            key: key.token,
        }
    }

    async fn send<B>(
        &self,
        media: &str,
        idempotency: Option<&str>,
        body: B,
    ) -> Response<ResponseBody>
    where
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let request = Request::post(ADDRESS)
            .header("svc-api-token", &self.key)
            .header("content-type", media);
        let request = match idempotency {
            Some(key) => request.header("idempotency-key", key),
            None => request,
        };
        let Ok(response) = self
            .service
            .clone()
            .oneshot(request.body(body).unwrap())
            .await;
        response
    }

    /// Returns the response lines for a complete body.
    async fn lines(&self, idempotency: Option<&str>, body: String) -> Vec<Value> {
        let response = self
            .send(NDJSON, idempotency, Full::<Bytes>::from(body))
            .await;
        assert_eq!(response.status(), StatusCode::OK);
        lines(&response.into_body().collect().await.unwrap().to_bytes())
    }
}

fn lines(bytes: &[u8]) -> Vec<Value> {
    std::str::from_utf8(bytes)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn entry(place: usize) -> String {
    format!(
        "{}\n",
        json!({"person": {"given_name": format!("nobody {place}")}})
    )
}

fn totals(succeeded: usize, failed: usize) -> Value {
    json!({"total": succeeded + failed, "succeeded": succeeded, "failed": failed})
}

/// A body whose parts the test sends when it wants to. It counts the parts that were read.
struct Given(
    mpsc::UnboundedReceiver<Result<String, io::Error>>,
    Arc<AtomicUsize>,
);

impl Body for Given {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let next = std::task::ready!(self.0.poll_recv(cx));
        self.1
            .fetch_add(usize::from(next.is_some()), Ordering::SeqCst);
        Poll::Ready(next.map(|part| part.map(|part| Frame::data(part.into()))))
    }
}

fn given() -> (
    mpsc::UnboundedSender<Result<String, io::Error>>,
    Given,
    Arc<AtomicUsize>,
) {
    let (give, parts) = mpsc::unbounded_channel();
    let read = Arc::new(AtomicUsize::new(0));
    (give, Given(parts, Arc::clone(&read)), read)
}

async fn part(body: &mut ResponseBody) -> Vec<Value> {
    let Ok(frame) = body.frame().await.unwrap();
    lines(&frame.into_data().unwrap())
}

/// BAT-08: each entry gets a line, in order, with its position, status and address. The totals
/// follow.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bat_08_there_is_a_line_for_each_line() {
    let served = Served::start().await;
    let mut body: String = (0..700).map(entry).collect();
    body += "\n  \n{\"person\":{\"given_name\":7}}\n{broken\n";
    body += &json!({"person": {"given_name": "long".repeat(100)}}).to_string();
    let lines = served.lines(None, body).await;
    assert_eq!(lines.len(), 704);
    let (last, entries) = lines.split_last().unwrap();
    assert_eq!(*last, totals(700, 3));
    for (place, line) in entries.iter().enumerate() {
        assert_eq!(line["index"], place);
        assert_eq!(
            (
                line["status"] == 200,
                line["href"].is_string(),
                line["body"].is_object()
            ),
            {
                let is_good = place < 700;
                (is_good, is_good, !is_good)
            }
        );
    }
    let code = |line: &Value| {
        line["body"]["svc:error"]["resource_status"][0]["error_descriptions"][0]["error_code"]
            .clone()
    };
    assert_eq!(
        entries[700..].iter().map(code).collect::<Vec<_>>(),
        ["FIELD_INVALID", "JSON_INVALID", "BODY_TOO_LARGE"]
    );
    assert_eq!(served.server.total("people").await, 700);
    let first = served
        .server
        .get(entries[0]["href"].as_str().unwrap())
        .await;
    assert_eq!(first.json["given_name"], "nobody 0");
    assert_eq!(served.lines(None, "\n\n".to_owned()).await, [totals(0, 0)]);
}

/// BAT-08: entries get results before more arrives, and the server does not read from a client that
/// does not read.
#[tokio::test]
async fn bat_08_a_stream_goes_both_ways() {
    let served = Served::start().await;
    let (give, body, read) = given();
    let answer = served.send(NDJSON, None, body).await;
    assert!(answer.headers().get("content-length").is_none());
    let mut answer = answer.into_body();
    give.send(Ok(entry(0))).unwrap();
    assert_eq!(part(&mut answer).await[0]["index"], 0);
    give.send(Ok(entry(1) + "{\"person\":")).unwrap();
    assert_eq!(part(&mut answer).await[0]["index"], 1);
    give.send(Ok("{\"given_name\":\"A\"}}\n".to_owned()))
        .unwrap();
    assert_eq!(
        part(&mut answer).await[0]["index"],
        2,
        "a line may arrive in parts"
    );
    // Ten thousand more, whose results no one reads.
    let before = read.load(Ordering::SeqCst);
    for place in 3..10_003 {
        give.send(Ok(entry(place))).unwrap();
    }
    drop(give);
    let mut many = 0;
    while many == 0 {
        many = part(&mut answer).await.len();
    }
    // The server waits for a client that does not read: further parts are not requested.
    assert!(
        read.load(Ordering::SeqCst) - before <= 256,
        "the server has read {} of 10 000 lines",
        read.load(Ordering::SeqCst)
    );
    assert!(served.server.total("people").await <= 256);
    let rest = lines(&answer.collect().await.unwrap().to_bytes());
    assert_eq!(rest.last(), Some(&totals(10_003, 0)));
    assert_eq!(rest.len() + many, 10_001);
}

/// BAT-06, BAT-08: an interrupted stream reports this and has no totals. With `Idempotency-Key` it
/// can be repeated, and no entry is executed twice.
#[tokio::test]
async fn bat_06_a_stream_that_broke_off_comes_again() {
    let served = Served::start().await;
    let key = Some("import-1");
    let (give, body, _) = given();
    for place in 0..200 {
        give.send(Ok(entry(place))).unwrap();
    }
    give.send(Ok("{\"person\": {\"given_na".to_owned()))
        .unwrap();
    give.send(Err(io::Error::other("reset"))).unwrap();
    let broken = served
        .send(NDJSON, key, body)
        .await
        .into_body()
        .collect()
        .await
        .unwrap()
        .to_bytes();
    let broken = lines(&broken);
    assert_eq!(broken.len(), 201);
    assert_eq!(
        (&broken[200]["index"], &broken[200]["status"]),
        (&json!(200), &json!(400))
    );
    assert!(
        broken.iter().all(|line| line.get("total").is_none()),
        "no totals: {:?}",
        broken.last()
    );
    assert_eq!(served.server.total("people").await, 200);
    let again = served.lines(key, (0..300).map(entry).collect()).await;
    assert_eq!(again.last(), Some(&totals(300, 0)));
    for (now, then) in again.iter().zip(&broken[..200]) {
        assert_eq!(now["href"], then["href"], "BAT-06: the stored result");
        assert_eq!([&now["effect"], &then["effect"]], ["unchanged", "created"]);
    }
    assert_eq!(
        served.server.total("people").await,
        300,
        "BAT-06: no entry is executed twice"
    );
    // The client disconnects during the response.
    let (give, body, _) = given();
    give.send(Ok((300..600).map(entry).collect())).unwrap();
    let mut answer = served
        .send(NDJSON, Some("import-2"), body)
        .await
        .into_body();
    part(&mut answer).await;
    drop(answer);
    let done = served.server.total("people").await - 300;
    assert!(
        (1..300).contains(&done),
        "some entries are executed: {done}"
    );
    assert_eq!(
        served
            .lines(Some("import-2"), (300..600).map(entry).collect())
            .await
            .last(),
        Some(&totals(300, 0))
    );
    assert_eq!(
        served.server.total("people").await,
        600,
        "BAT-06: no entry is executed twice"
    );
}

/// BAT-10: a caller without the right to call the helper is rejected before the body is read.
#[tokio::test]
async fn bat_10_nothing_is_read_of_a_stranger() {
    let mut served = Served::start().await;
    served.key = "wrong".to_owned();
    let (give, body, read) = given();
    give.send(Ok(entry(0))).unwrap();
    drop(give);
    assert_eq!(
        served.send(NDJSON, None, body).await.status(),
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(served.server.total("people").await, 0);
    assert_eq!(
        read.load(Ordering::SeqCst),
        1,
        "the rest of the body is dropped"
    );
}
