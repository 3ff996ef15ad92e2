//! The map of kinds, links and helpers, on its own page, on the start page, and for the explorer.
//!
//! Requirements: ENT-22.
use http::StatusCode;
use svc_core::{helper::HelperName, link::Dialect, model::Kind};
use svc_tower::SvcService;

use crate::service::{
    backend::{Memory, api},
    client::{exchange, service, without_key},
};

async fn text(service: &SvcService, path: &str) -> String {
    let answer = exchange(service, without_key("GET", path), "").await;
    assert_eq!(answer.status, StatusCode::OK, "{path}");
    answer.text().to_owned()
}

/// Returns the picture of a page.
fn picture(page: &str) -> &str {
    let (_, rest) = page.split_once("<div class=\"map-box\"").unwrap();
    rest.split_once("</figure>").unwrap().0
}

#[tokio::test]
async fn ent_22_the_map_is_on_a_page_of_its_own_and_on_the_start_page_with_a_link_to_each_kind() {
    let service = service();
    for path in ["/docs/v1/map", "/docs/"] {
        let page = text(&service, path).await;
        let picture = picture(&page);
        for kind in Kind::ALL {
            assert!(
                picture.contains(&format!("href=\"/docs/v1/{}\"", kind.singular())),
                "{path} {kind:?}"
            );
        }
        for helper in HelperName::ALL {
            assert!(
                picture.contains(&format!("href=\"/docs/v1/{}\"", helper.relation())),
                "{path} {helper:?}"
            );
        }
        // If the picture is wider than the window, it can be scrolled with the keyboard. Nothing in
        // it needs a script.
        assert!(
            picture.contains("tabindex=\"0\" role=\"region\" aria-label=\"Map of the API\""),
            "{path}"
        );
        assert!(
            !picture.contains("<script")
                && !picture.contains(" style=")
                && !picture.contains("<style"),
            "{path}"
        );
    }
    assert!(
        text(&service, "/docs/")
            .await
            .contains("<a href=\"/docs/v1/map\">The map as text</a>")
    );
}

#[tokio::test]
async fn cap_04_the_map_and_its_words_tell_what_this_server_does_not_have() {
    let service = service();
    let page = text(&service, "/docs/v1/map").await;
    // The server supports tags completely, petitions for reading, and no messages.
    assert!(
        page.contains("<a class=\"kind\" href=\"/docs/v1/tag\"><rect"),
        "{page}"
    );
    assert!(
        page.contains("<a class=\"kind off\" href=\"/docs/v1/message\" aria-label=\"Message: not on this server\">"),
        "{page}"
    );
    assert!(
        page.contains("<a class=\"helper\" href=\"/docs/v1/record_signature_helper\"><rect"),
        "{page}"
    );
    assert!(
        page.contains("aria-label=\"Record donation: not on this server\""),
        "{page}"
    );
    assert!(
        page.contains("not on this server</li></ul></figcaption>"),
        "the legend must explain faint entries: {page}"
    );
    let (_, words) = page.split_once("<h2>Kinds and their links</h2>").unwrap();
    assert!(
        words.contains(
            "<a href=\"/docs/v1/message\">Message</a>: not on this server; no links to other kinds"
        ),
        "{words}"
    );
    assert!(
        words
            .contains("<a href=\"/docs/v1/signature\">Signature</a>: links to <code>person</code>"),
        "{words}"
    );
    assert!(
        words.contains("Record signature</a>: of petitions, writes signature and person; action functions write more"),
        "{words}"
    );
    assert!(
        words.contains(
            "Record donation</a>: not on this server; of fundraising pages, writes donation"
        ),
        "{words}"
    );
}

#[tokio::test]
async fn ent_22_programs_get_the_words_of_the_map() {
    let request = without_key("GET", "/docs/v1/map").header("accept", "application/hal+json");
    let answer = exchange(&service(), request, "").await;
    assert_eq!(
        answer.object().get("subject").unwrap().as_str(),
        Some("map")
    );
    assert!(
        answer
            .text()
            .contains("\"href\":\"http://localhost/docs/v1/petition\""),
        "{}",
        answer.text()
    );
}

#[tokio::test]
async fn hal_09_the_picture_for_scripts_speaks_the_dialect() {
    let dialect = Dialect::with_prefix("osdi").unwrap();
    let service = crate::service::served(api(&Memory::new()).dialect(dialect).build().unwrap());
    let answer = exchange(&service, without_key("GET", "/docs/explorer/map.svg"), "").await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (StatusCode::OK, Some("image/svg+xml"))
    );
    let picture = answer.text();
    assert!(
        picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox="),
        "{picture}"
    );
    for kind in Kind::ALL {
        let of_kind = format!("data-kind=\"{0}\" data-rel=\"osdi:{0}\"", kind.plural());
        assert!(picture.contains(&of_kind), "{of_kind}");
    }
    for helper in HelperName::ALL {
        let of_helper = format!(
            "data-helper=\"{}\" data-rel=\"osdi:{}\"",
            helper.as_str(),
            helper.relation()
        );
        assert!(picture.contains(&of_helper), "{of_helper}");
    }
    assert!(!picture.contains("svc:"), "{picture}");
    // The picture contains no word of a dialect, and the targets of its links exist.
    let page = text(&service, "/docs/v1/map").await;
    assert!(!page.contains("svc:"), "{page}");
}
