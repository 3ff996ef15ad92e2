//! The page that compares two servers: the files that it loads, and its text without scripts.
//!
//! Requirements: CAP-04.
use std::collections::BTreeSet;

use http::StatusCode;
use svc_core::link::Dialect;

use crate::service::{
    backend::{Memory, api},
    client::{exchange, service, without_key},
};

const PAGE: &str = "/docs/v1/compare";

#[tokio::test]
async fn cap_04_the_page_says_what_it_needs_and_loads_nothing_of_others() {
    let service = service();
    let page = exchange(&service, without_key("GET", PAGE), "").await;
    assert_eq!(
        (page.status, page.header("content-type")),
        (StatusCode::OK, Some("text/html; charset=utf-8"))
    );
    let policy = concat!(
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; ",
        "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    );
    assert_eq!(
        page.header("content-security-policy"),
        Some(policy),
        "scripts and requests must only use this server"
    );
    let text = page.text();
    assert!(
        text.contains(
            "data-capabilities=\"/docs/capabilities\"><p>The comparison needs JavaScript."
        ),
        "{text}"
    );
    assert!(
        text.contains("<a href=\"/docs/capabilities\">capability document</a>"),
        "{text}"
    );
    // Every imported file exists. None of them can create markup from a text, or send a request to
    // another server.
    let files = text
        .split("=\"")
        .skip(1)
        .map(|rest| rest.split_once('"').unwrap().0);
    let mut waiting: Vec<_> = files
        .filter(|file| file.starts_with("/docs/explorer/compare."))
        .map(str::to_owned)
        .collect();
    assert_eq!(waiting.len(), 2, "a script and a style sheet: {text}");
    let mut seen = BTreeSet::new();
    while let Some(file) = waiting.pop() {
        if !seen.insert(file.clone()) {
            continue;
        }
        let answer = exchange(&service, without_key("GET", &file), "").await;
        assert_eq!(answer.status, StatusCode::OK, "{file}");
        let script = answer.text();
        for word in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "localStorage",
            "cookie",
        ] {
            assert!(!script.contains(word), "{file}: {word}");
        }
        assert_eq!(
            script.matches("://").count(),
            script.matches("\"http://www.w3.org/2000/svg\"").count(),
            "{file}"
        );
        let imported = script
            .split(" from \"./")
            .skip(1)
            .map(|rest| rest.split_once('"').unwrap().0);
        waiting.extend(imported.map(|name| format!("/docs/explorer/{name}")));
    }
    assert_eq!(seen.len(), 7, "{seen:?}");
}

#[tokio::test]
async fn hal_09_the_page_is_the_same_in_each_dialect() {
    let dialect = Dialect::with_prefix("osdi").unwrap();
    let other = crate::service::served(api(&Memory::new()).dialect(dialect).build().unwrap());
    let pages = [
        exchange(&other, without_key("GET", PAGE), "").await,
        exchange(&service(), without_key("GET", PAGE), "").await,
    ];
    assert_eq!(pages[0].text(), pages[1].text());
    let request = without_key("GET", PAGE).header("accept", "application/hal+json");
    assert_eq!(
        exchange(&other, request, "")
            .await
            .object()
            .get("subject")
            .unwrap()
            .as_str(),
        Some("compare")
    );
}
