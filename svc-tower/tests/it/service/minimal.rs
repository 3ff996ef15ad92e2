//! A service without documentation: the capability document, and a short document for each
//! relation.

use http::StatusCode;

use crate::service::client::{exchange, service, without_key};

#[tokio::test]
async fn ent_22_without_docs_a_relation_has_a_short_document() {
    let service = service();
    for (path, title, summary) in [
        ("/docs/", "Test", "The capability document"),
        ("/docs/v1/svc:person", "svc:person", ""),
        (
            "/docs/v1/people",
            "svc:people",
            "A collection of `svc:person`.",
        ),
        (
            "/docs/v1/record_signature_helper",
            "svc:record_signature_helper",
            "",
        ),
        ("/docs/v1/creator", "svc:creator", ""),
        ("/docs/v1/error", "svc:error", "Why a request failed."),
    ] {
        let request = without_key("GET", path).header("accept", "text/html");
        let answer = exchange(&service, request, "").await;
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (StatusCode::OK, Some("application/hal+json")),
            "{path}"
        );
        let document: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(document["title"], title, "{path}");
        let text = document["summary"].as_str().unwrap();
        assert!(!text.is_empty() && text.contains(summary), "{path}: {text}");
        let links = &document["_links"];
        assert_eq!(
            links["service-meta"]["href"],
            "http://localhost/docs/capabilities"
        );
        let plain = path.replace("svc:", "");
        assert_eq!(links["self"]["href"], format!("http://localhost{plain}"));
    }
}

#[tokio::test]
async fn und_40_without_docs_nothing_leads_to_other_documents() {
    let service = service();
    for path in [
        "/docs/openapi.json",
        "/docs/schemas/person.json",
        "/docs/explorer",
        "/docs/explorer/explorer.js",
        "/docs/forms/people.json",
        "/docs/v1/nothing",
        "/docs/v1/limits",
    ] {
        let request = without_key("GET", path).header("accept", "text/html");
        let answer = exchange(&service, request, "").await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND"),
            "{path}"
        );
        assert_eq!(answer.header("vary"), Some("svc-api-token"), "{path}");
    }
    let request = without_key("GET", "/").header("accept", "text/html");
    let entry = exchange(&service, request, "").await;
    assert_eq!(entry.header("content-type"), Some("application/hal+json"));
    assert!(
        entry.text().contains("\"service-meta\":") && !entry.text().contains("service-desc"),
        "{}",
        entry.text()
    );
    let about = exchange(&service, without_key("GET", "/docs/capabilities"), "").await;
    let about = about.object();
    assert!(
        about.get("openapi").is_none()
            && about.get("schemas").is_none()
            && about.get("collections").is_some()
    );
}

#[tokio::test]
async fn und_40_without_docs_the_capability_document_is_rendered_once() {
    let service = service();
    let first = exchange(&service, without_key("GET", "/docs/capabilities"), "").await;
    let again = exchange(
        &service.clone(),
        without_key("GET", "/docs/capabilities"),
        "",
    )
    .await;
    assert_eq!(first.body, again.body);
    assert_eq!(first.body.as_ptr(), again.body.as_ptr());
    let tag = first.header("etag").unwrap();
    let known = without_key("GET", "/docs/capabilities").header("if-none-match", tag);
    let unchanged = exchange(&service, known, "").await;
    assert_eq!(
        (unchanged.status, unchanged.body.len()),
        (StatusCode::NOT_MODIFIED, 0)
    );
    let docs = service.clone().with_docs(svc_docs::Docs::new());
    let with_docs = exchange(&docs, without_key("GET", "/docs/capabilities"), "").await;
    assert!(with_docs.object().get("openapi").is_some());
}
