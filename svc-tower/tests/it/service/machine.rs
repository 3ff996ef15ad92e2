//! The documentation without its HTML: the machine form at the same addresses (ENT-22).
use http::StatusCode;

use crate::service::client::{exchange, service, without_key};

#[tokio::test]
async fn ent_22_without_pages_the_machine_form_is_all_there_is() {
    let service = service();
    for (path, title) in [
        ("/docs/", ""),
        ("/docs/v1/svc:person", "svc:person"),
        ("/docs/v1/limits", "Limits"),
    ] {
        let answer = exchange(
            &service,
            without_key("GET", path).header("accept", "text/html"),
            "",
        )
        .await;
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (StatusCode::OK, Some("application/hal+json")),
            "{path}"
        );
        let found = answer
            .object()
            .get("title")
            .and_then(|title| title.as_str())
            .map(str::to_owned);
        assert!(
            found.is_some_and(|found| found == title || title.is_empty()),
            "{path}"
        );
    }
    for path in [
        "/docs/explorer",
        "/docs/explorer/explorer.js",
        "/docs/v1/nothing",
    ] {
        assert_eq!(
            exchange(&service, without_key("GET", path), "")
                .await
                .status,
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
}

#[cfg(not(feature = "openapi"))]
#[tokio::test]
async fn und_40_without_openapi_its_addresses_are_404_and_nothing_leads_there() {
    let service = service();
    for path in ["/docs/openapi.json", "/docs/schemas/person.json"] {
        let answer = exchange(&service, without_key("GET", path), "").await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND"),
            "{path}"
        );
    }
    let entry = exchange(&service, without_key("GET", "/"), "").await;
    assert!(
        entry.text().contains("\"service-meta\":") && !entry.text().contains("service-desc"),
        "{}",
        entry.text()
    );
    let about = exchange(&service, without_key("GET", "/docs/capabilities"), "")
        .await
        .object();
    assert!(
        about.get("openapi").is_none()
            && about.get("schemas").is_none()
            && about.get("collections").is_some()
    );
    for name in service_pages() {
        let page = exchange(&service, without_key("GET", &name), "").await;
        let text = page.text();
        assert!(
            !text.contains("docs/openapi") && !text.contains("docs/schemas/"),
            "{name}: {text}"
        );
    }
}

/// The paths of all pages.
#[cfg(not(feature = "openapi"))]
fn service_pages() -> Vec<String> {
    let service = service();
    let names = svc_tower::documents::Docs::new(service.api(), service.api().base(), 0).names();
    names
        .iter()
        .map(|name| format!("/docs/v1/{name}"))
        .chain(["/docs/".to_owned()])
        .collect()
}

#[cfg(feature = "openapi")]
#[tokio::test]
async fn und_35_without_pages_the_open_api_document_has_neither_html_nor_the_explorer() {
    let entry = exchange(&service(), without_key("GET", "/"), "").await;
    assert!(
        entry.text().contains("\"service-desc\":"),
        "{}",
        entry.text()
    );
    let answer = exchange(&service(), without_key("GET", "/docs/openapi.json"), "").await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (StatusCode::OK, Some("application/json"))
    );
    let document: serde_json::Value = serde_json::from_str(answer.text()).unwrap();
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.contains_key("/docs/v1/{relation}") && !paths.contains_key("/docs/explorer"));
    let page = &paths["/docs/v1/{relation}"]["get"]["responses"]["200"]["content"];
    assert!(
        page.get("application/hal+json").is_some() && !answer.text().contains("text/html"),
        "{page}"
    );
}
