//! The pages that browsers get instead of HAL: the entry point, and the page of an unknown address.
use http::StatusCode;
use svc_core::{api::IfMatchPolicy, link::Dialect};
use svc_tower::SvcService;

use crate::service::{
    backend::{Memory, api},
    client::{Answer, exchange, service, with_key, without_key},
};

/// The `Accept` header of a browser.
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const HTML: Option<&str> = Some("text/html; charset=utf-8");
const HAL: Option<&str> = Some("application/hal+json");

async fn asked(service: &SvcService, path: &str, accept: &str) -> Answer {
    exchange(
        service,
        without_key("GET", path).header("accept", accept),
        "",
    )
    .await
}

fn vary(answer: &Answer) -> Vec<&str> {
    answer
        .headers
        .get_all("vary")
        .iter()
        .map(|value| value.to_str().unwrap())
        .collect()
}

#[tokio::test]
async fn f14_the_entry_point_is_a_page_for_browsers_and_hal_for_everybody_else() {
    let service = service();
    let plain = exchange(&service, without_key("GET", "/"), "").await;
    assert_eq!(
        (plain.status, plain.header("content-type")),
        (StatusCode::OK, HAL)
    );
    for accept in [
        "*/*",
        "application/hal+json",
        "application/json",
        "text/html;q=0.5, */*",
        "image/png",
    ] {
        let answer = asked(&service, "/", accept).await;
        assert_eq!(
            (answer.header("content-type"), &answer.body),
            (HAL, &plain.body),
            "{accept}: every byte must be the same"
        );
        assert_eq!(vary(&answer), ["svc-api-token", "accept"], "{accept}");
    }
    let page = asked(&service, "/", BROWSER).await;
    assert_eq!(
        (page.status, page.header("content-type")),
        (StatusCode::OK, HTML)
    );
    assert!(vary(&page).contains(&"accept"), "{:?}", vary(&page));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    for expected in [
        "<h1>",
        "href=\"/docs/\"",
        "href=\"/docs/explorer\"",
        "\"_links\": {",
        "rel=\"icon\"",
    ] {
        assert!(
            page.text().contains(expected),
            "{expected}: {}",
            page.text()
        );
    }
    let head = exchange(
        &service,
        without_key("HEAD", "/").header("accept", BROWSER),
        "",
    )
    .await;
    assert_eq!(
        (head.header("content-type"), head.header("content-length")),
        (HTML, page.header("content-length"))
    );
    // An invalid key is also rejected in a browser (ENT-01).
    let wrong = without_key("GET", "/")
        .header("accept", BROWSER)
        .header("svc-api-token", "wrong");
    assert_eq!(
        exchange(&service, wrong, "").await.status,
        StatusCode::UNAUTHORIZED
    );
}

#[tokio::test]
async fn f14_the_tags_of_both_forms_are_never_taken_for_each_other() {
    let conditional = api(&Memory::new())
        .conditional_requests(IfMatchPolicy::Optional)
        .build()
        .unwrap();
    let service = crate::service::served(conditional);
    // Twice: the cache of one form must not be used for the other.
    for _ in 0..2 {
        let (page, hal) = (
            asked(&service, "/", BROWSER).await,
            asked(&service, "/", "*/*").await,
        );
        assert_eq!(
            (page.header("content-type"), hal.header("content-type")),
            (HTML, HAL)
        );
        let (of_page, of_hal) = (page.header("etag").unwrap(), hal.header("etag").unwrap());
        assert_ne!(of_page, of_hal);
        // A cache on the way sends all tags that it has.
        let both = format!("{of_page}, {of_hal}");
        for (accept, tag) in [(BROWSER, of_page), ("*/*", of_hal)] {
            let known = without_key("GET", "/")
                .header("accept", accept)
                .header("if-none-match", &both);
            let known = exchange(&service, known, "").await;
            assert_eq!(
                (known.status, known.header("etag")),
                (StatusCode::NOT_MODIFIED, Some(tag)),
                "{accept}"
            );
            assert!(vary(&known).contains(&"accept"), "{accept}");
        }
        let other = without_key("GET", "/")
            .header("accept", BROWSER)
            .header("if-none-match", of_hal);
        assert_eq!(exchange(&service, other, "").await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn f14_where_there_is_nothing_a_browser_is_told_what_was_perhaps_meant() {
    let service = service();
    for (path, meant) in [
        ("/docs/v1/svc:persn", Some("/docs/v1/person")),
        ("/docs/v1/FIELD_INVALD", Some("/docs/v1/FIELD_INVALID")),
        (
            "/docs/v1/record-signature-helper",
            Some("/docs/v1/record_signature_helper"),
        ),
        ("/peple", Some("/docs/v1/people")),
        ("/docs/explorer/nothing.js", None),
        ("/qqqqqqqqqqqq", None),
    ] {
        let page = asked(&service, path, BROWSER).await;
        assert_eq!(
            (page.status, page.header("content-type")),
            (StatusCode::NOT_FOUND, HTML),
            "{path}"
        );
        assert!(vary(&page).contains(&"accept"), "{path}");
        assert!(
            page.text().contains("<h1>Page not found</h1>")
                && page.text().contains("href=\"/docs/\""),
            "{path}"
        );
        let near = page
            .text()
            .split_once("id=\"did-you-mean\"")
            .map(|(_, rest)| rest);
        let first = near.map(|rest| {
            rest.split_once("href=\"")
                .unwrap()
                .1
                .split_once('"')
                .unwrap()
                .0
        });
        assert_eq!(first, meant, "{path}");
        for accept in ["*/*", "application/hal+json"] {
            let answer = asked(&service, path, accept).await;
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND"),
                "{path}"
            );
            assert!(vary(&answer).contains(&"accept"), "{path}");
        }
    }
    // Requests other than reads get the usual response, which does not repeat any part of the
    // address.
    let posted = with_key("POST", "/nothing").header("accept", BROWSER);
    assert_eq!(
        exchange(&service, posted, "").await.code(),
        "RESOURCE_NOT_FOUND"
    );
    let hostile = asked(&service, "/evil.example", BROWSER).await;
    assert!(!hostile.text().contains("evil"), "{}", hostile.text());
    let under = service.mounted_at("/api/v1");
    assert_eq!(
        asked(&under, "/elsewhere", BROWSER)
            .await
            .header("content-type"),
        HTML
    );
    assert_eq!(
        asked(&under, "/elsewhere", "*/*").await.code(),
        "RESOURCE_NOT_FOUND"
    );
}

#[tokio::test]
async fn f14_the_page_speaks_the_dialect_and_every_page_has_an_icon() {
    let dialect = Dialect::with_prefix("abc").unwrap();
    let service = crate::service::served(api(&Memory::new()).dialect(dialect).build().unwrap());
    for path in ["/", "/docs", "/docs/v1/person", "/docs/v1/persn"] {
        let page = asked(&service, path, BROWSER).await;
        assert!(
            !page.text().contains("svc:") && !page.text().contains("SVC-API"),
            "{path}"
        );
        let icon = page
            .text()
            .split_once("<link rel=\"icon\" type=\"image/svg+xml\" href=\"")
            .unwrap()
            .1;
        let icon = exchange(
            &service,
            without_key("GET", icon.split_once('"').unwrap().0),
            "",
        )
        .await;
        assert_eq!(
            (icon.status, icon.header("content-type")),
            (StatusCode::OK, Some("image/svg+xml")),
            "{path}"
        );
    }
}
