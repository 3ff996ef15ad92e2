//! The properties of a response that an observer receives.
//!
//! Requirements: UND-42.

use std::sync::{Arc, Mutex};

use svc_core::ErrorCode;
use svc_tower::SvcService;

use crate::service::{
    backend::{Memory, api},
    client::{exchange, with_key, without_key},
};

#[tokio::test]
async fn und_42_an_observer_is_told_templates_and_statuses() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&told);
    let service =
        SvcService::new(api(&Memory::new()).build().unwrap()).on_response(move |answered| {
            let line = format!(
                "{} {} {}",
                answered.method(),
                answered.route(),
                answered.status().as_u16()
            );
            seen.lock().unwrap().push(line);
            assert!(answered.duration() > std::time::Duration::ZERO);
        });
    exchange(&service, with_key("GET", "/tags/t1"), "").await;
    exchange(&service, with_key("GET", "/tags/panics"), "").await;
    exchange(&service, without_key("DELETE", "/tags/t1"), "").await;
    exchange(&service, with_key("BREW", "/secret/path"), "").await;
    let expected = [
        "GET tags/{id} 200",
        "GET tags/{id} 500",
        "DELETE tags/{id} 401",
        "other none 404",
    ];
    assert_eq!(*told.lock().unwrap(), expected);
}

#[tokio::test]
async fn err_07_what_is_not_supported_is_told_apart_from_what_went_wrong() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&told);
    let service =
        SvcService::new(api(&Memory::new()).build().unwrap()).on_response(move |answered| {
            let code = answered.error_code().map(ErrorCode::as_str);
            seen.lock().unwrap().push((
                answered.status().as_u16(),
                code,
                answered.is_unsupported(),
            ));
        });
    exchange(&service, with_key("POST", "/tags/t1"), "").await;
    exchange(&service, with_key("GET", "/tags/panics"), "").await;
    exchange(&service, with_key("POST", "/tags"), "{\"name\":5}").await;
    exchange(&service, without_key("GET", "/tags"), "").await;
    exchange(&service, with_key("GET", "/tags/t1"), "").await;
    let expected = [
        (500, Some("NOT_IMPLEMENTED"), true),
        (500, Some("UNEXPECTED_ERROR"), false),
        (400, Some("FIELD_INVALID"), false),
        (401, Some("KEY_INVALID"), false),
        (200, None, false),
    ];
    assert_eq!(*told.lock().unwrap(), expected);
}
