//! Browser code of other origins.
//!
//! Requirements: HLP-08.

use http::{StatusCode, request::Builder};
use svc_tower::Cors;

use crate::service::client::{Answer, exchange, service, with_key, without_key};

const HELPER: &str = "/petitions/p1/record_signature_helper";

fn preflight(path: &str) -> Builder {
    let request = without_key("OPTIONS", path).header("origin", "https://act.example");
    request
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type")
}

fn has_cors(answer: &Answer) -> bool {
    answer
        .headers
        .keys()
        .any(|name| name.as_str().starts_with("access-control-"))
}

#[tokio::test]
async fn hlp_08_off_unless_configured() {
    let service = service();
    let answer = exchange(&service, preflight(HELPER), "").await;
    assert_eq!(
        (answer.status, has_cors(&answer), answer.header("vary")),
        (StatusCode::NO_CONTENT, false, Some("svc-api-token"))
    );
}

#[tokio::test]
async fn hlp_08_record_helpers_answer_preflights_and_nothing_else_does() {
    let service = service().cors(Cors::any());
    let answer = exchange(&service, preflight(HELPER), "").await;
    assert_eq!(
        (answer.status, answer.header("allow")),
        (StatusCode::NO_CONTENT, Some("POST, OPTIONS"))
    );
    assert!(answer.body.is_empty());
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert_eq!(answer.header("access-control-allow-methods"), Some("POST"));
    assert_eq!(
        answer.header("access-control-allow-headers"),
        Some("content-type, idempotency-key, if-match, if-none-match, prefer, svc-api-token")
    );
    for path in [
        "/",
        "/tags",
        "/tags/t1",
        "/petitions/p1",
        "/people/person_signup",
        "/docs",
        "/docs/capabilities",
        "/nothing",
    ] {
        assert!(
            !has_cors(&exchange(&service, preflight(path), "").await),
            "{path}"
        );
        let get = with_key("GET", path).header("origin", "https://act.example");
        assert!(!has_cors(&exchange(&service, get, "").await), "{path}");
    }
}

#[tokio::test]
async fn hlp_08_a_call_can_be_read_by_its_site_also_when_it_fails() {
    let service = service().cors(Cors::origins(["https://act.example"]));
    for (path, body, status) in [
        (HELPER, "{}", 200),
        (HELPER, "{", 400),
        ("/petitions/p2/record_signature_helper", "{}", 404),
    ] {
        let call = |origin: &str| {
            without_key("POST", path)
                .header("origin", origin)
                .header("content-type", "application/json")
        };
        let answer = exchange(&service, call("https://act.example"), body).await;
        assert_eq!(
            (
                answer.status.as_u16(),
                answer.header("access-control-allow-origin")
            ),
            (status, Some("https://act.example"))
        );
        let vary: Vec<&str> = answer
            .headers
            .get_all("vary")
            .iter()
            .map(|value| value.to_str().unwrap())
            .collect();
        assert_eq!(vary, ["svc-api-token", "origin"]);
        let other = exchange(&service, call("https://evil.example"), body).await;
        assert_eq!((other.status.as_u16(), has_cors(&other)), (status, false));
    }
}
