//! Entity tags of documents, and what the documents describe about conditional requests.

use http::StatusCode;
use svc_tower::PeerAddr;

use crate::service::{
    backend::{Memory, api},
    client::{exchange, service, with_key, without_key},
    served,
};

/// UND-40: if a proxy is in front of the server, documents have the addresses that clients use.
#[tokio::test]
async fn und_40_each_base_has_its_own_documents() {
    let proxy = "10.0.0.1".parse().unwrap();
    let behind = service().trusted_proxies([proxy]);
    for path in [
        "/docs/capabilities",
        "/docs/openapi.json",
        "/docs/schemas/tag.json",
    ] {
        let own = exchange(&behind, without_key("GET", path), "").await;
        let request = without_key("GET", path)
            .header("x-forwarded-host", "public.example")
            .header("x-forwarded-proto", "https")
            .extension(PeerAddr(proxy));
        let public = exchange(&behind, request, "").await;
        assert!(public.text().contains("https://public.example"), "{path}");
        assert!(!own.text().contains("https://public.example"), "{path}");
    }
}

/// ETG-02: every page of the documentation has a tag, even if records have none.
#[tokio::test]
async fn etg_02_a_page_is_sent_once_to_who_keeps_it() {
    let service = service();
    for path in ["/docs", "/docs/v1/limits", "/docs/explorer"] {
        let first = exchange(&service, without_key("GET", path), "").await;
        let tag = first
            .header("etag")
            .unwrap_or_else(|| panic!("{path} has no tag"))
            .to_owned();
        let known = exchange(
            &service,
            without_key("GET", path).header("if-none-match", &tag),
            "",
        )
        .await;
        assert_eq!(
            (known.status, known.body.len()),
            (StatusCode::NOT_MODIFIED, 0),
            "{path}"
        );
        assert_eq!(
            (known.header("etag"), known.header("vary")),
            (Some(&*tag), first.header("vary")),
            "{path}"
        );
    }
    let machine = without_key("GET", "/docs").header("accept", "application/hal+json");
    let people = without_key("GET", "/docs").header("accept", "text/html");
    let (machine, people) = (
        exchange(&service, machine, "").await,
        exchange(&service, people, "").await,
    );
    assert_eq!(
        machine.body == people.body,
        machine.header("etag") == people.header("etag")
    );
    assert_eq!(
        exchange(&service, with_key("GET", "/tags/t1"), "")
            .await
            .header("etag"),
        None
    );
}

/// ETG-05: the documents describe the conditions that a method accepts.
#[tokio::test]
async fn etg_05_conditions_are_documented() {
    let memory = Memory::new();
    let api = api(&memory)
        .conditional_requests(svc_core::api::IfMatchPolicy::Required)
        .build()
        .unwrap();
    let service = served(api);
    let page = exchange(
        &service,
        without_key("GET", "/docs/v1/conditional_requests"),
        "",
    )
    .await;
    assert!(
        page.status == StatusCode::OK && page.text().contains("428"),
        "{}",
        page.text()
    );
    {
        let document = exchange(&service, without_key("GET", "/docs/openapi.json"), "").await;
        let document: serde_json::Value = serde_json::from_slice(&document.body).unwrap();
        let of = |method: &str| {
            let paths = document["paths"].as_object().unwrap();
            let is_tag = |path: &str| {
                path.starts_with("/tags/{") && path.ends_with('}') && path.matches('/').count() == 2
            };
            paths
                .iter()
                .find(|(path, _)| is_tag(path))
                .map(|(_, item)| item[method].clone())
                .unwrap()
        };
        let (get, put) = (of("get"), of("put"));
        assert_eq!(get["parameters"][0]["name"], "If-None-Match");
        assert!(
            get["responses"]["304"].is_object()
                && get["responses"]["200"]["headers"]["ETag"].is_object()
        );
        assert_eq!(
            (
                &put["parameters"][0]["name"],
                &put["parameters"][0]["required"]
            ),
            (&"If-Match".into(), &true.into())
        );
        assert!(put["responses"]["412"].is_object() && put["responses"]["428"].is_object());
    }
}
