//! The responses and the log if the backend fails.
//!
//! Requirements: ERR-05, ERR-06, UND-36, UND-42.

use std::{
    fmt::{Debug, Write as _},
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use http::StatusCode;
use svc_core::{Error, ErrorCode, Problem};
use svc_tower::SvcService;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

use crate::service::backend::{Memory, api};
use crate::service::client::{Answer, HEADER, exchange, read, service, with_key, without_key};

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
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (StatusCode::INTERNAL_SERVER_ERROR, "UNEXPECTED_ERROR")
        );
        assert!(
            !reference(&answer).is_empty() && !answer.text().contains("planted"),
            "ERR-06"
        );
        assert_eq!(
            exchange(&service, with_key("GET", "/tags/t1"), "")
                .await
                .status,
            StatusCode::OK
        );
    }
}

#[tokio::test]
async fn und_36_a_busy_store_is_503_with_retry_after() {
    let service = service();
    let busy = exchange(&service, with_key("GET", "/tags/busy"), "").await;
    assert_eq!(
        (busy.status, busy.header("retry-after")),
        (StatusCode::SERVICE_UNAVAILABLE, Some("7"))
    );
    assert_eq!(busy.code(), "UNAVAILABLE");
    let keys = exchange(
        &service,
        without_key("GET", "/tags").header(HEADER, "trouble"),
        "",
    )
    .await;
    assert_eq!(
        (keys.status, keys.header("retry-after")),
        (StatusCode::SERVICE_UNAVAILABLE, Some("3"))
    );
    let unsupported = exchange(&service, with_key("POST", "/tags/busy"), "").await;
    assert_eq!(
        unsupported.status,
        StatusCode::SERVICE_UNAVAILABLE,
        "UND-39 asks the store"
    );
}

/// A lock that is never released, and an authenticator that does not respond: the timeout of
/// requests ends both.
#[cfg(feature = "tokio")]
#[tokio::test(start_paused = true)]
async fn und_36_a_backend_that_does_not_answer_in_time_is_503() {
    let limited = service().request_timeout(Some(Duration::from_secs(5)));
    let begun = tokio::time::Instant::now();
    let stuck = || with_key("GET", "/tags/stuck");
    for request in [stuck(), without_key("GET", "/tags").header(HEADER, "stuck")] {
        let answer = exchange(&limited, request, "").await;
        assert_eq!(
            (answer.status, answer.header("retry-after")),
            (StatusCode::SERVICE_UNAVAILABLE, Some("1"))
        );
        assert!(answer.code() == "UNAVAILABLE" && !reference(&answer).is_empty());
    }
    let passed = begun.elapsed();
    assert!(
        (Duration::from_secs(9)..Duration::from_secs(11)).contains(&passed),
        "{passed:?}"
    );
    assert_eq!(
        exchange(&limited, with_key("GET", "/tags/t1"), "")
            .await
            .status,
        StatusCode::OK
    );
    for endless in [
        service().request_timeout(None),
        service().request_timeout(Some(Duration::MAX)),
    ] {
        let day = Duration::from_secs(24 * 60 * 60);
        assert!(
            tokio::time::timeout(day, exchange(&endless, stuck(), ""))
                .await
                .is_err()
        );
    }
}

/// A runtime without a timer, as a program may have: the timer of the program limits requests.
/// Without a timer there is no timeout.
#[test]
fn und_36_the_timer_may_be_the_programs_own() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let own = service().timer(|time| {
            assert!(time <= Duration::from_secs(30));
            std::future::ready(())
        });
        let stuck = || with_key("GET", "/tags/stuck");
        assert_eq!(
            exchange(&own, stuck(), "").await.status,
            StatusCode::SERVICE_UNAVAILABLE
        );
        assert_eq!(
            exchange(&own, with_key("GET", "/tags/t1"), "").await.status,
            StatusCode::OK,
            "it never waits"
        );
        let without = service();
        tokio::select! {
            biased;
            answer = exchange(&without, stuck(), "") => panic!("{:?}", answer.status),
            () = tokio::task::yield_now() => {}
        }
        assert_eq!(
            exchange(&without, with_key("GET", "/tags/t1"), "")
                .await
                .status,
            StatusCode::OK
        );
    });
}

/// A vendor defines the meaning of the errors of its driver once.
#[tokio::test]
async fn und_36_errors_are_what_the_vendor_says() {
    let meant =
        api(&Memory::new()).map_errors(|error| match error.downcast_ref::<io::Error>()?.kind() {
            io::ErrorKind::ConnectionRefused => Some(Error::unavailable(Duration::from_secs(2))),
            io::ErrorKind::AlreadyExists => Some(Error::invalid(Problem::new(
                ErrorCode::NameInUse,
                "name",
                "A tag with this name exists.",
            ))),
            _ => None,
        });
    let log = Log::default();
    let watching = tracing::subscriber::set_default(log.clone());
    let service = SvcService::new(meant.build().unwrap());
    for request in [
        with_key("GET", "/tags/away"),
        without_key("GET", "/tags").header(HEADER, "away"),
    ] {
        let answer = exchange(&service, request, "").await;
        assert_eq!(
            (answer.status, answer.header("retry-after")),
            (StatusCode::SERVICE_UNAVAILABLE, Some("2"))
        );
        assert!(!answer.text().contains("planted"), "ERR-05");
    }
    let taken = exchange(&service, with_key("POST", "/tags"), "{\"name\":\"taken\"}").await;
    assert_eq!(
        (taken.status, taken.code().as_str()),
        (StatusCode::BAD_REQUEST, "NAME_IN_USE")
    );
    assert!(
        taken.text().contains("\"properties\":[\"name\"]"),
        "ERR-26 {}",
        taken.text()
    );
    drop(watching);
    let log = log.0.lock().unwrap().clone();
    assert!(
        log.contains("tags.read") && log.contains("planted address"),
        "the cause is only in the log: {log}"
    );

    // An error without a definition is handled as usual.
    let plain = exchange(
        &crate::service::client::service(),
        with_key("GET", "/tags/away"),
        "",
    )
    .await;
    assert_eq!(plain.status, StatusCode::INTERNAL_SERVER_ERROR, "ERR-05");
    let broken = exchange(&service, with_key("GET", "/tags/broken"), "").await;
    assert_eq!(broken.status, StatusCode::INTERNAL_SERVER_ERROR, "ERR-05");
}

#[tokio::test]
async fn und_36_what_is_not_let_through_is_answered_as_the_interface_does() {
    let service = service().mounted_at("/api");
    for (method, path, resource) in [
        ("GET", "/api/tags/t1", "svc:tag"),
        ("POST", "/api/nothing", "svc:error"),
    ] {
        let request = without_key(method, path).body(()).unwrap();
        let answer = read(service.unavailable_response(&request, Duration::from_secs(10))).await;
        assert_eq!(
            (answer.status, answer.header("retry-after")),
            (StatusCode::SERVICE_UNAVAILABLE, Some("10"))
        );
        assert_eq!(
            (answer.code().as_str(), answer.header("content-type")),
            ("UNAVAILABLE", Some("application/hal+json"))
        );
        assert_eq!(answer.header("connection"), None);
        let announced = without_key(method, path)
            .header("content-length", "2")
            .body(())
            .unwrap();
        let answer_to_body =
            read(service.unavailable_response(&announced, Duration::from_secs(10))).await;
        assert_eq!(
            answer_to_body.header("connection"),
            Some("close"),
            "UND-17: the body is not read"
        );
        assert!(
            !reference(&answer).is_empty() && answer.text().contains(resource),
            "ERR-21 {}",
            answer.text()
        );
    }
    let head = read(service.unavailable_response(
        &without_key("HEAD", "/api/tags").body(()).unwrap(),
        Duration::from_secs(10),
    ))
    .await;
    assert!(
        head.status == StatusCode::SERVICE_UNAVAILABLE && head.body.is_empty(),
        "UND-28"
    );
}

#[tokio::test]
async fn err_05_the_text_of_an_error_stays_in_the_log() {
    let answer = exchange(&service(), with_key("GET", "/tags/broken"), "").await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (StatusCode::INTERNAL_SERVER_ERROR, "UNEXPECTED_ERROR")
    );
    assert!(!answer.text().contains("secret"));
}

/// Writes everything that spans and events contain.
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
    exchange(
        &service,
        with_key("PUT", "/tags/t1?planted-query=1").header("host", "planted-host"),
        planted,
    )
    .await;
    exchange(
        &service,
        without_key("GET", "/tags/planted-id").header(HEADER, "planted-key"),
        "",
    )
    .await;
    exchange(&service, with_key("PLANTED-METHOD", "/planted-path"), "").await;
    let broken = exchange(&service, with_key("GET", "/tags/broken"), "").await;
    let panicked = exchange(&service, with_key("GET", "/tags/panics"), "").await;
    drop(watching);
    let log = log.0.lock().unwrap();
    for expected in [
        "method=PUT",
        "route=tags/{id}",
        "tenant=\"a\"",
        "status=200",
        "status=401",
        "status=404",
        "status=500",
    ] {
        assert!(log.contains(expected), "{expected} is not in {log}");
    }
    for answer in [broken, panicked] {
        assert!(log.contains(&reference(&answer)), "{log}");
    }
    assert!(
        log.contains("tags.read: planted /var/lib/secret.db"),
        "the line names the operation: {log}"
    );
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
