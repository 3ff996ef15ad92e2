//! The transfer size of pages, documents and files: tags, compressed copies, permanent addresses.
use std::io::Read as _;

use flate2::read::GzDecoder;
use http::StatusCode;
use svc_tower::SvcService;

use crate::service::client::{Answer, exchange, service, with_key, without_key};

/// One example of each type: pages in both forms, the explorer, a file, each document.
const PATHS: &[(&str, &str)] = &[
    ("/docs", "text/html"),
    ("/docs/v1/person", "text/html"),
    ("/docs/v1/person", "application/hal+json"),
    ("/docs/explorer", "text/html"),
    ("/docs/explorer/explorer.js", "*/*"),
    ("/docs/explorer/style.css", "*/*"),
    ("/docs/capabilities", "*/*"),
    ("/docs/openapi.json", "*/*"),
    ("/docs/schemas/tag.json", "*/*"),
    ("/", "text/html"),
];

async fn asked(service: &SvcService, path: &str, accept: &str, encoding: &str) -> Answer {
    let request = without_key("GET", path)
        .header("accept", accept)
        .header("accept-encoding", encoding);
    exchange(service, request, "").await
}

fn plain(gzip: &Answer) -> String {
    let mut plain = String::new();
    GzDecoder::new(&gzip.body[..])
        .read_to_string(&mut plain)
        .unwrap();
    plain
}

fn varies(answer: &Answer) -> bool {
    answer
        .headers
        .get_all("vary")
        .iter()
        .any(|value| value == "accept-encoding")
}

#[tokio::test]
async fn point_9_pages_documents_and_files_are_compressed_for_who_takes_it() {
    let service = service();
    for (path, accept) in PATHS {
        let whole = exchange(
            &service,
            without_key("GET", path).header("accept", *accept),
            "",
        )
        .await;
        assert_eq!(
            (whole.status, whole.header("content-encoding")),
            (StatusCode::OK, None),
            "{path}"
        );
        let gzip = asked(&service, path, accept, "gzip, deflate, br").await;
        assert_eq!(
            (gzip.status, gzip.header("content-encoding")),
            (StatusCode::OK, Some("gzip")),
            "{path}"
        );
        assert_eq!(
            gzip.header("content-type"),
            whole.header("content-type"),
            "{path}"
        );
        assert_eq!(
            gzip.header("content-length"),
            Some(&*gzip.body.len().to_string()),
            "{path}"
        );
        assert_eq!(
            plain(&gzip),
            whole.text(),
            "{path}: the content must be the same"
        );
        // A small document compresses less well.
        let most = if whole.body.len() > 2000 {
            whole.body.len() / 2
        } else {
            whole.body.len()
        };
        assert!(
            gzip.body.len() < most,
            "{path}: {} of {}",
            gzip.body.len(),
            whole.body.len()
        );
        assert!(varies(&gzip) && varies(&whole), "{path}");
        assert_eq!(
            asked(&service, path, accept, "gzip").await.body,
            gzip.body,
            "{path}: the bytes must be the same again"
        );
        for not in ["identity", "br", "gzip;q=0, *"] {
            assert_eq!(
                asked(&service, path, accept, not).await.body,
                whole.body,
                "{path}: {not}"
            );
        }
    }
    // Responses that may contain personal data are never compressed: the length would reveal
    // something about the data.
    for (path, accept) in [("/", "*/*"), ("/tags", "*/*"), ("/tags/t1", "text/html")] {
        let request = with_key("GET", path)
            .header("accept", accept)
            .header("accept-encoding", "gzip");
        let answer = exchange(&service, request, "").await;
        assert_eq!(
            (answer.status, answer.header("content-encoding")),
            (StatusCode::OK, None),
            "{path}"
        );
    }
}

#[tokio::test]
async fn point_9_each_form_has_a_tag_of_its_own_and_is_sent_once() {
    let service = service();
    for (path, accept) in PATHS {
        let [whole, gzip] = [
            asked(&service, path, accept, "identity").await,
            asked(&service, path, accept, "gzip").await,
        ];
        let tag = |answer: &Answer| {
            answer
                .header("etag")
                .unwrap_or_else(|| panic!("{path} has no tag"))
                .to_owned()
        };
        assert_ne!(tag(&whole), tag(&gzip), "{path}");
        for (encoding, answer, other) in [("identity", &whole, &gzip), ("gzip", &gzip, &whole)] {
            let with = |tag: String| {
                let request = without_key("GET", path)
                    .header("accept", *accept)
                    .header("accept-encoding", encoding);
                request.header("if-none-match", tag)
            };
            let known = exchange(&service, with(tag(answer)), "").await;
            assert_eq!(
                (known.status, known.body.len()),
                (StatusCode::NOT_MODIFIED, 0),
                "{path}"
            );
            assert_eq!(known.header("etag"), Some(&*tag(answer)), "{path}");
            assert_eq!(
                (
                    known.header("content-encoding"),
                    known.header("content-length")
                ),
                (None, None),
                "{path}"
            );
            assert!(varies(&known), "{path}");
            assert_eq!(
                exchange(&service, with(tag(other)), "").await.status,
                StatusCode::OK,
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn point_9_a_file_lasts_at_the_address_of_its_version_and_nothing_else_does() {
    let service = service();
    let page = asked(&service, "/docs/explorer", "text/html", "identity").await;
    let script = page
        .text()
        .split_once("src=\"")
        .unwrap()
        .1
        .split_once('"')
        .unwrap()
        .0;
    let script = script.strip_prefix("http://localhost").unwrap_or(script);
    let lasting = asked(&service, script, "*/*", "identity").await;
    assert_eq!(
        lasting.header("cache-control"),
        Some("max-age=31536000, immutable"),
        "{script}"
    );
    assert!(lasting.header("etag").is_some(), "{script}");
    let known = without_key("GET", script).header("accept-encoding", "identity");
    let known = exchange(
        &service,
        known.header("if-none-match", lasting.header("etag").unwrap()),
        "",
    )
    .await;
    assert_eq!(known.status, StatusCode::NOT_MODIFIED);
    assert_eq!(
        known.header("cache-control"),
        lasting.header("cache-control")
    );
    let usual = Some("max-age=0, private, must-revalidate");
    let (stem, ending) = script.rsplit_once('.').unwrap();
    let before = format!("{}.00000000.{ending}", stem.rsplit_once('.').unwrap().0);
    for path in [
        &*before,
        "/docs/explorer/explorer.js",
        "/docs/explorer",
        "/docs/v1/person",
        "/docs/openapi.json",
    ] {
        let answer = asked(&service, path, "*/*", "identity").await;
        assert_eq!(
            (answer.status, answer.header("cache-control")),
            (StatusCode::OK, usual),
            "{path}"
        );
    }
    assert_eq!(
        asked(&service, &format!("{stem}x.{ending}"), "*/*", "gzip")
            .await
            .status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn point_9_what_is_set_later_is_on_the_pages() {
    let first = service();
    let page = asked(&first, "/docs/v1/limits", "text/html", "gzip").await;
    let second = first.clone().body_limit(4321);
    assert!(plain(&asked(&second, "/docs/v1/limits", "text/html", "gzip").await).contains("4321"));
    assert_eq!(
        asked(&first, "/docs/v1/limits", "text/html", "gzip")
            .await
            .body,
        page.body
    );
}
