//! A service with custom documentation: what the service adds to its responses.

use http::{HeaderMap, HeaderValue, StatusCode, header::ACCEPT};
use svc_core::link::Target;
use svc_tower::{DocsAnswer, DocsFuture, DocsRequest, Documentation, SvcService};

use crate::service::client::{Answer, exchange, service, without_key};

/// Documentation with short texts.
#[derive(Debug)]
struct Words;

fn is_browser(headers: &HeaderMap) -> bool {
    headers
        .get(ACCEPT)
        .is_some_and(|accept| accept == "text/html")
}

fn answer(text: String) -> DocsAnswer {
    DocsAnswer::new(HeaderValue::from_static("text/plain"), text)
}

impl Documentation for Words {
    fn document(&self, request: DocsRequest<'_>, target: &Target) -> Option<DocsAnswer> {
        match target {
            Target::Docs => Some(answer(format!("at most {} bytes", request.body_limit))),
            Target::Explorer(file) if file == "lasting.js" => {
                let mut answer = answer("lasting".to_owned());
                answer.immutable = true;
                Some(answer)
            }
            _ => None,
        }
    }

    fn entry_page<'a>(&'a self, request: DocsRequest<'a>) -> Option<DocsFuture<'a>> {
        let page = async move { answer(format!("Welcome to {}", request.base.as_str())) };
        is_browser(request.headers).then(|| Box::pin(page) as DocsFuture<'a>)
    }

    fn missing_page(&self, request: DocsRequest<'_>, path: &str) -> Option<DocsAnswer> {
        is_browser(request.headers).then(|| answer(format!("nothing at {path}")))
    }
}

async fn asked(service: &SvcService, method: &str, path: &str, accept: &str) -> Answer {
    let request = without_key(method, path).header("accept", accept);
    exchange(service, request, "").await
}

fn vary(answer: &Answer) -> Vec<&str> {
    let values = answer.headers.get_all("vary").iter();
    values.map(|value| value.to_str().unwrap()).collect()
}

#[tokio::test]
async fn ent_22_documents_have_the_headers_of_every_answer() {
    let service = service().with_docs(Words).body_limit(4321);
    let page = asked(&service, "GET", "/docs", "*/*").await;
    assert_eq!(page.text(), "at most 4321 bytes");
    assert_eq!(
        [page.header("content-type"), page.header("content-length")],
        [Some("text/plain"), Some("18")]
    );
    assert_eq!(
        page.header("cache-control"),
        Some("max-age=0, private, must-revalidate")
    );
    assert_eq!(vary(&page), ["svc-api-token"]);
    let head = asked(&service, "HEAD", "/docs", "*/*").await;
    assert_eq!((&head.headers, head.body.len()), (&page.headers, 0));
    let lasting = asked(&service, "GET", "/docs/explorer/lasting.js", "*/*").await;
    assert_eq!(
        lasting.header("cache-control"),
        Some("max-age=31536000, immutable")
    );
}

#[tokio::test]
async fn ent_22_browsers_get_pages_at_the_entry_point_and_where_nothing_is() {
    let service = service().with_docs(Words);
    let page = asked(&service, "GET", "/", "text/html").await;
    assert_eq!(page.text(), "Welcome to http://localhost/");
    let hal = asked(&service, "GET", "/", "application/hal+json").await;
    assert!(!hal.text().contains("\"service-desc\":"), "{}", hal.text());
    let capabilities = asked(&service, "GET", "/docs/capabilities", "text/html").await;
    assert!(capabilities.text().contains("\"declaration_version\":1"));
    let missing = asked(&service, "GET", "/docs/v1/person", "text/html").await;
    assert_eq!(missing.text(), "nothing at /docs/v1/person");
    let error = asked(&service, "GET", "/nothing", "application/hal+json").await;
    assert_eq!(error.code(), "RESOURCE_NOT_FOUND");
    for answer in [&page, &hal, &missing, &error] {
        assert_eq!(vary(answer), ["svc-api-token", "accept"]);
    }
    for answer in [&missing, &error] {
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
    }
    let post = asked(&service, "POST", "/nothing", "text/html").await;
    assert_eq!(vary(&post), ["svc-api-token"]);
}
