//! A service without documentation, compared with one with documentation.

use http::StatusCode;
use svc_docs::documents::{DocPages, DocSubject};
use svc_tower::SvcService;

use crate::service::client::{exchange, service, without_key};

/// ENT-22: links of responses point to the pages of relations, with and without documentation.
#[tokio::test]
async fn ent_22_each_relation_with_a_page_has_a_short_document_without_docs() {
    let service = service();
    let bare = SvcService::new(service.api().clone());
    let docs = DocPages::new(service.api(), service.api().base_url(), 0);
    let mut relations = 0;
    for name in docs.names() {
        let page = docs.page(&name).unwrap();
        let is_relation = match page.subject {
            DocSubject::Resource
            | DocSubject::Collection
            | DocSubject::Helper
            | DocSubject::Link => true,
            DocSubject::ErrorObject => name == "error",
            _ => false,
        };
        let path = format!("/docs/v1/{name}");
        let status = exchange(&bare, without_key("GET", &path), "").await.status;
        if is_relation {
            relations += 1;
            assert_eq!(status, StatusCode::OK, "{path}");
        }
    }
    assert!(relations > 60, "{relations}");
}
