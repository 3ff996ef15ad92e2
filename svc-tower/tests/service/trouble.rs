//! When the backend fails (ERR-05, ERR-06, UND-36), and what the log holds then (UND-42).

use std::{
    fmt::{Debug, Write as _},
    sync::{Arc, Mutex},
    time::Duration,
};

use http::StatusCode;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

use crate::client::{Answer, HEADER, exchange, read, service, with_key, without_key};

fn reference(answer: &Answer) -> String {
    let (_, rest) = answer.text().split_once("\"reference_code\":\"").unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}

#[tokio::test]
async fn err_05_a_panic_is_one_500_and_the_service_lives_on() {
    let service = service();
    let panics = with_key("GET", "/tags/panics");
    let in_the_authenticator = without_key("GET", "/tags").header(HEADER, "panics");
    for request in [panics, in_the_authenticator] {
        let answer = exchange(&service, request, "").await;
        assert_eq!((answer.status, answer.code().as_str()), (StatusCode::INTERNAL_SERVER_ERROR, "UNEXPECTED_ERROR"));
        assert!(!reference(&answer).is_empty() && !answer.text().contains("planted"), "ERR-06");
        assert_eq!(exchange(&service, with_key("GET", "/tags/t1"), "").await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn und_36_a_busy_store_is_503_with_retry_after() {
    let service = service();
    let busy = exchange(&service, with_key("GET", "/tags/busy"), "").await;
    assert_eq!((busy.status, busy.header("retry-after")), (StatusCode::SERVICE_UNAVAILABLE, Some("7")));
    assert_eq!(busy.code(), "UNAVAILABLE");
    let keys = exchange(&service, without_key("GET", "/tags").header(HEADER, "trouble"), "").await;
    assert_eq!((keys.status, keys.header("retry-after")), (StatusCode::SERVICE_UNAVAILABLE, Some("3")));
    let unsupported = exchange(&service, with_key("POST", "/tags/busy"), "").await;
    assert_eq!(unsupported.status, StatusCode::SERVICE_UNAVAILABLE, "UND-39 asks the store");
}

#[tokio::test]
async fn und_36_what_is_not_let_through_is_answered_as_the_interface_does() {
    let service = service().under("/api");
    for (method, path, resource) in [("GET", "/api/tags/t1", "svc:tag"), ("POST", "/api/nothing", "svc:error")] {
        let request = without_key(method, path).body(()).unwrap();
        let answer = read(service.unavailable(&request, Duration::from_secs(10))).await;
        assert_eq!((answer.status, answer.header("retry-after")), (StatusCode::SERVICE_UNAVAILABLE, Some("10")));
        assert_eq!(
            (answer.code().as_str(), answer.header("content-type")),
            ("UNAVAILABLE", Some("application/hal+json"))
        );
        assert_eq!(answer.header("connection"), None);
        let announced = without_key(method, path).header("content-length", "2").body(()).unwrap();
        let answer_to_body = read(service.unavailable(&announced, Duration::from_secs(10))).await;
        assert_eq!(answer_to_body.header("connection"), Some("close"), "UND-17: nobody reads that body");
        assert!(!reference(&answer).is_empty() && answer.text().contains(resource), "ERR-21 {}", answer.text());
    }
    let head =
        read(service.unavailable(&without_key("HEAD", "/api/tags").body(()).unwrap(), Duration::from_secs(10))).await;
    assert!(head.status == StatusCode::SERVICE_UNAVAILABLE && head.body.is_empty(), "UND-28");
}

#[tokio::test]
async fn err_05_the_text_of_an_error_stays_in_the_log() {
    let answer = exchange(&service(), with_key("GET", "/tags/broken"), "").await;
    assert_eq!((answer.status, answer.code().as_str()), (StatusCode::INTERNAL_SERVER_ERROR, "UNEXPECTED_ERROR"));
    assert!(!answer.text().contains("secret"));
}

/// Writes everything that spans and events hold.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0.lock().unwrap(), "{field}={value:?} ");
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("svc_")
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut self.clone());
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn und_42_the_log_has_route_status_tenant_and_reference_but_no_key_query_id_or_body() {
    let log = Log::default();
    let watching = tracing::subscriber::set_default(log.clone());
    let service = service();
    let planted = "{\"name\":\"planted-value\"}";
    exchange(&service, with_key("PUT", "/tags/t1?planted-query=1").header("host", "planted-host"), planted).await;
    exchange(&service, without_key("GET", "/tags/planted-id").header(HEADER, "planted-key"), "").await;
    exchange(&service, with_key("PLANTED-METHOD", "/planted-path"), "").await;
    let broken = exchange(&service, with_key("GET", "/tags/broken"), "").await;
    let panicked = exchange(&service, with_key("GET", "/tags/panics"), "").await;
    drop(watching);
    let log = log.0.lock().unwrap();
    for expected in
        ["method=PUT", "route=tags/{id}", "tenant=\"a\"", "status=200", "status=401", "status=404", "status=500"]
    {
        assert!(log.contains(expected), "{expected} is not in {log}");
    }
    for answer in [broken, panicked] {
        assert!(log.contains(&reference(&answer)), "{log}");
    }
    assert!(log.contains("tags.read: planted /var/lib/secret.db"), "the line names the operation: {log}");
    let leaks = [
        "planted-value",
        "planted-query",
        "planted-host",
        "planted-id",
        "planted-key",
        "PLANTED-METHOD",
        "planted-path",
        "good|key",
    ];
    for leak in leaks {
        assert!(!log.contains(leak), "{leak} is in {log}");
    }
}
