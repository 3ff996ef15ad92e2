//! Authentication.
//!
//! Requirements: AUT-01 to AUT-08.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use http::{HeaderValue, StatusCode};
use svc_core::{
    Result, Tenant,
    auth::{Authenticator, Caller, Credentials, Principal, Rights},
};
use svc_tower::SvcService;

use crate::service::{
    backend::{KEY, Memory, OTHER, READER, api},
    client::{HEADER, exchange, service, with_key, without_key},
};

#[tokio::test]
async fn aut_01_the_header_name_has_no_case_and_a_key_may_have_a_bar() {
    let service = service();
    for name in ["svc-api-token", "SVC-API-TOKEN", "Svc-Api-Token"] {
        let answer = exchange(&service, without_key("GET", "/tags").header(name, KEY), "").await;
        assert_eq!(answer.status, StatusCode::OK, "{name}");
    }
}

#[tokio::test]
async fn aut_02_a_tenant_sees_its_own_records_only() {
    let service = service();
    let own = exchange(&service, with_key("GET", "/tags"), "").await;
    let others = exchange(
        &service,
        without_key("GET", "/tags").header(HEADER, OTHER),
        "",
    )
    .await;
    assert_eq!(
        (
            own.object().get("total_records").unwrap().as_i64(),
            others.object().get("total_records").unwrap().as_i64()
        ),
        (Some(2), Some(1))
    );
    let missing = exchange(
        &service,
        without_key("GET", "/tags/t1").header(HEADER, OTHER),
        "",
    )
    .await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn aut_03_a_bad_key_is_401_everywhere() {
    let service = service();
    let bad: [&[u8]; 4] = [b"wrong", b"", b"\xff\xfe", "schl\u{fc}ssel".as_bytes()];
    for path in [
        "/",
        "/tags",
        "/tags/t1",
        "/docs",
        "/docs/v1/tag",
        "/docs/capabilities",
        "/petitions/p1/record_signature_helper",
    ] {
        for method in ["GET", "POST", "PUT", "DELETE", "HEAD"] {
            for key in bad {
                let request =
                    without_key(method, path).header(HEADER, HeaderValue::from_bytes(key).unwrap());
                let answer = exchange(&service, request, "{}").await;
                assert_eq!(
                    answer.status,
                    StatusCode::UNAUTHORIZED,
                    "{method} {path} {key:?}"
                );
                assert_eq!(
                    answer.header("www-authenticate"),
                    Some("ApiKey header=\"SVC-API-Token\"")
                );
                assert!(answer.body.is_empty());
                assert_eq!(answer.header("content-type"), None);
            }
        }
    }
}

#[tokio::test]
async fn aut_04_and_aut_08_a_key_that_may_only_read_changes_nothing() {
    let memory = Memory::new();
    let service = SvcService::new(api(&memory).build().unwrap());
    let reader = |method: &str, path: &str| without_key(method, path).header(HEADER, READER);
    assert_eq!(
        exchange(&service, reader("GET", "/tags/t1"), "")
            .await
            .status,
        StatusCode::OK
    );
    let writes = [
        ("POST", "/tags"),
        ("PUT", "/tags/t1"),
        ("DELETE", "/tags/t1"),
        ("POST", "/people/person_signup"),
        ("POST", "/petitions/p1/record_signature_helper"),
    ];
    for (method, path) in writes {
        let answer = exchange(&service, reader(method, path), "{\"name\":\"x\"}").await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{method} {path}");
        assert!(answer.body.is_empty() && answer.header("www-authenticate").is_none());
    }
    assert_eq!((memory.count(), *memory.signatures.lock().unwrap()), (3, 0));
}

#[tokio::test]
async fn aut_05_error_bodies_everywhere_give_401_and_403_a_body() {
    let service = SvcService::new(
        api(&Memory::new())
            .error_bodies(svc_core::api::ErrorBodies::Everywhere)
            .build()
            .unwrap(),
    );
    let refused = exchange(&service, without_key("GET", "/tags"), "").await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (StatusCode::UNAUTHORIZED, "KEY_INVALID")
    );
    assert_eq!(refused.header("content-type"), Some("application/hal+json"));
    let forbidden = exchange(
        &service,
        without_key("DELETE", "/tags/t1").header(HEADER, READER),
        "",
    )
    .await;
    assert_eq!(
        (forbidden.status, forbidden.code().as_str()),
        (StatusCode::FORBIDDEN, "KEY_NOT_ALLOWED")
    );
}

#[tokio::test]
async fn aut_06_record_helpers_may_be_called_without_a_key() {
    let memory = Memory::new();
    let service = SvcService::new(api(&memory).build().unwrap());
    let helper = "/petitions/p1/record_signature_helper";
    let answer = exchange(&service, without_key("POST", helper), "{}").await;
    assert_eq!(
        (answer.status, answer.text()),
        (StatusCode::OK, "{}"),
        "HLP-07"
    );
    assert_eq!(*memory.signatures.lock().unwrap(), 1);
    let elsewhere = exchange(
        &service,
        without_key("POST", "/petitions/p2/record_signature_helper"),
        "{}",
    )
    .await;
    assert_eq!(
        (elsewhere.status, elsewhere.code().as_str()),
        (StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND"),
        "HLP-09"
    );
    let other = without_key("POST", helper).header(HEADER, OTHER);
    assert_eq!(
        exchange(&service, other, "{}").await.status,
        StatusCode::NOT_FOUND,
        "UND-37"
    );
}

#[tokio::test]
async fn aut_07_everything_else_needs_a_key() {
    let service = service();
    for (method, path) in [
        ("GET", "/tags"),
        ("POST", "/tags"),
        ("GET", "/tags/t1"),
        ("POST", "/people/person_signup"),
        ("GET", "/petitions/p1/record_signature_helper"),
        ("POST", "/"),
    ] {
        let answer = exchange(&service, without_key(method, path), "{}").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{method} {path}");
    }
    for path in ["/", "/docs", "/docs/", "/docs/v1/tag", "/docs/capabilities"] {
        assert_eq!(
            exchange(&service, without_key("GET", path), "")
                .await
                .status,
            StatusCode::OK,
            "{path}"
        );
    }
}

#[tokio::test]
async fn aut_07_without_anonymous_helpers_they_need_a_key_too() {
    let memory = Memory::new();
    let builder = svc_core::api::Api::builder(
        svc_core::api::Vendor::new("Example", "Test").namespace("test"),
    )
    .base_url("http://localhost/")
    .authenticator(crate::service::backend::Keys)
    .helper::<svc_core::helper::RecordSignature>(&memory);
    let service = SvcService::new(builder.build().unwrap());
    let helper = "/petitions/p1/record_signature_helper";
    assert_eq!(
        exchange(&service, without_key("POST", helper), "{}")
            .await
            .status,
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(
        exchange(&service, with_key("POST", helper), "{}")
            .await
            .status,
        StatusCode::OK
    );
}

/// Recognises people without a key by the session that another layer has found.
struct Sessions;

#[derive(Clone)]
struct Session(Caller);

#[async_trait]
impl Authenticator for Sessions {
    async fn authenticate(&self, _: Credentials<'_>) -> Result<Option<Principal>> {
        Ok(None)
    }

    async fn authenticate_without_key(
        &self,
        credentials: Credentials<'_>,
    ) -> Result<Option<Principal>> {
        Ok(credentials
            .extensions
            .get()
            .map(|Session(caller)| Principal::new(Tenant::new("a"), caller.clone())))
    }
}

#[tokio::test]
async fn aut_01_an_authenticator_may_know_callers_without_a_key() {
    let service = SvcService::new(api(&Memory::new()).authenticator(Sessions).build().unwrap());
    let by = |caller: Caller, method, path| without_key(method, path).extension(Session(caller));
    let member = || Caller::with_rights(Rights::read_only());
    assert_eq!(
        exchange(&service, by(member(), "GET", "/tags"), "")
            .await
            .status,
        StatusCode::OK
    );
    assert_eq!(
        exchange(&service, by(member(), "DELETE", "/tags/t1"), "")
            .await
            .status,
        StatusCode::FORBIDDEN
    );
    let helper = "/petitions/p1/record_signature_helper";
    assert_eq!(
        exchange(&service, by(Caller::anonymous(), "GET", "/tags"), "")
            .await
            .status,
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(
        exchange(&service, by(Caller::anonymous(), "POST", helper), "")
            .await
            .text(),
        "{}"
    );
    assert_eq!(
        exchange(&service, without_key("GET", "/tags"), "")
            .await
            .status,
        StatusCode::UNAUTHORIZED
    );
}

/// HLP-07: a response to a request without a key is delayed to the next multiple of the quantum,
/// whatever its status is. Other responses are not delayed.
#[tokio::test]
async fn hlp_07_answers_without_a_key_come_at_even_times() {
    const EVERY: Duration = Duration::from_secs(60 * 60);
    let waited: Arc<Mutex<Vec<Duration>>> = Arc::default();
    let waits = Arc::clone(&waited);
    let service = service().response_time_quantum(EVERY, move |time| {
        waits.lock().unwrap().push(time);
        std::future::ready(())
    });
    let helper = "/petitions/p1/record_signature_helper";
    for request in [
        with_key("POST", helper),
        with_key("GET", "/tags"),
        without_key("GET", "/"),
        without_key("GET", "/tags"),
    ] {
        exchange(&service, request, "{}").await;
    }
    assert_eq!(*waited.lock().unwrap(), []);
    for (path, body) in [
        (helper, "{}"),
        (helper, "no JSON"),
        ("/petitions/p9/record_signature_helper", "{}"),
    ] {
        exchange(&service, without_key("POST", path), body).await;
    }
    let waited = waited.lock().unwrap();
    assert_eq!(waited.len(), 3);
    assert!(
        waited
            .iter()
            .all(|time| *time > Duration::ZERO && *time <= EVERY),
        "{waited:?}"
    );
}
