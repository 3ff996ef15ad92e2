//! The frame of the pages: the navigation, the search, and the texts around each example request.
use std::collections::BTreeSet;

use http::StatusCode;
use serde_json::Value;
use svc_core::{ErrorCode, model::Kind};
use svc_docs::{
    Docs,
    documents::{DocPages, DocSubject},
};
use svc_tower::SvcService;

use crate::service::{
    backend,
    client::{exchange, service, without_key},
};

async fn page(service: &SvcService, path: &str) -> String {
    let answer = exchange(
        service,
        without_key("GET", path).header("accept", "text/html"),
        "",
    )
    .await;
    assert_eq!(answer.status, StatusCode::OK, "{path}");
    answer.text().to_owned()
}

#[tokio::test]
async fn a_server_adds_links_to_its_own_pages() {
    let api = backend::api(&backend::Memory::new());
    let api = api.build().expect("an API");
    let docs = Docs::new().link("Import <people>", "/import/?a&b");
    let service = SvcService::new(api).with_docs(docs);
    for path in ["/docs", "/docs/v1/person"] {
        let page = page(&service, path).await;
        let links = between(&page, "<nav aria-label=\"Main\">", "</nav>");
        assert!(
            links.ends_with("<li><a href=\"/import/?a&amp;b\">Import &lt;people&gt;</a></li></ul>"),
            "{path}: {links}"
        );
    }
    let target = Docs::file("explorer.css").expect("a file");
    let path = service.api().url(service.api().base_url(), &target);
    let path = format!("/{}", path.splitn(4, '/').nth(3).unwrap_or_default());
    let style = exchange(&service, without_key("GET", &path), "").await;
    assert_eq!(
        style.header("content-type"),
        Some("text/css; charset=utf-8")
    );
    assert!(Docs::file("no-such.css").is_none());
}

/// Returns the text between two texts.
fn between<'p>(page: &'p str, before: &str, after: &str) -> &'p str {
    let (_, rest) = page
        .split_once(before)
        .unwrap_or_else(|| panic!("no {before}"));
    rest.split_once(after)
        .unwrap_or_else(|| panic!("no {after}"))
        .0
}

fn paths(service: &SvcService) -> Vec<String> {
    let names = DocPages::new(service.api(), service.api().base_url(), 0).names();
    names
        .iter()
        .map(|name| format!("/docs/v1/{name}"))
        .collect()
}

#[tokio::test]
async fn point_2_every_page_leads_to_kinds_helpers_guides_and_errors() {
    let service = service();
    for path in paths(&service) {
        let page = page(&service, &path).await;
        let pages = between(
            &page,
            "<nav id=\"pages\" popover aria-label=\"Pages\">",
            "</nav>",
        );
        for name in [
            "tag",
            "petition",
            "record_signature_helper",
            "authentication",
            "error",
        ] {
            assert!(
                pages.contains(&format!("href=\"/docs/v1/{name}\"")),
                "{path}: {name}"
            );
        }
        for code in ErrorCode::ALL {
            assert!(
                pages.contains(&format!("href=\"/docs/v1/{code}\"")),
                "{path}: {code}"
            );
        }
        // The current page is marked and its group is open; nothing else is marked.
        assert!(
            pages.matches("aria-current=\"page\"").count() <= 1,
            "{path}"
        );
        assert_eq!(pages.matches("<details open>").count(), 1, "{path}");
        let is_listed = pages.contains(&format!("<a href=\"{path}\""));
        assert_eq!(
            pages.contains(&format!("<a href=\"{path}\" aria-current=\"page\">")),
            is_listed,
            "{path}"
        );
    }
    // A kind that the server does not support is not in the navigation.
    let start = page(&service, "/docs").await;
    assert!(!between(&start, "<nav id=\"pages\"", "</nav>").contains("/docs/v1/canvass\""));
    let people = page(&service, "/docs/v1/tags").await;
    assert!(
        between(&people, "<nav id=\"pages\"", "</nav>")
            .contains("<a href=\"/docs/v1/tag\" aria-current=\"page\">")
    );
}

#[tokio::test]
async fn point_2_every_page_has_contents_and_landmarks_of_their_own() {
    let service = service();
    for path in paths(&service)
        .into_iter()
        .chain(["/docs".to_owned(), "/".to_owned()])
    {
        let page = page(&service, &path).await;
        let ids: Vec<&str> = page
            .split(" id=\"")
            .skip(1)
            .filter_map(|rest| Some(rest.split_once('"')?.0))
            .collect();
        let once: BTreeSet<&&str> = ids.iter().collect();
        assert_eq!(once.len(), ids.len(), "{path}: an id occurs twice: {ids:?}");
        // `landmark-unique`: each navigation and each region has a unique name.
        let mut names: Vec<&str> = Vec::new();
        for landmark in page
            .split("<nav ")
            .skip(1)
            .chain(page.split(" role=\"region\" ").skip(1))
        {
            names.push(between(landmark, "aria-label=\"", "\""));
        }
        assert_eq!(
            names.iter().collect::<BTreeSet<_>>().len(),
            names.len(),
            "{path}: {names:?}"
        );
        // `heading-order`: no level is skipped on the way down.
        let levels = page
            .match_indices("<h")
            .filter_map(|(at, _)| page.as_bytes().get(at + 2))
            .filter(|it| it.is_ascii_digit());
        let levels: Vec<u8> = levels.map(|digit| digit - b'0').collect();
        assert_eq!(levels.first(), Some(&1), "{path}");
        assert!(
            levels.windows(2).all(|pair| pair[1] <= pair[0] + 1),
            "{path}: {levels:?}"
        );
        let sections: Vec<&str> = page
            .split("<section id=\"")
            .skip(1)
            .filter_map(|it| Some(it.split_once('"')?.0))
            .collect();
        if sections.len() > 1 {
            let contents = between(&page, "aria-label=\"On this page\">", "</nav>");
            assert!(
                sections
                    .iter()
                    .all(|section| contents.contains(&format!("href=\"#{section}\""))),
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn point_2_every_request_has_its_sample_its_errors_and_a_way_to_try_it() {
    let service = service();
    let docs = DocPages::new(service.api(), service.api().base_url(), 0);
    let mut tried = 0;
    for name in docs.names() {
        let about = docs.page(&name).unwrap();
        let html = page(&service, &format!("/docs/v1/{name}")).await;
        for request in &about.requests {
            let title = request.title.replace('`', "");
            assert!(
                html.contains(&format!("aria-label=\"Try it in the explorer: {title}\""))
                    == request.explorer.is_some()
            );
            if let Some(explorer) = &request.explorer {
                tried += 1;
                assert!(
                    explorer.starts_with("http://localhost/docs/explorer#/")
                        && !explorer.contains("_ID"),
                    "{explorer}"
                );
            }
            // Any request that needs a key can be rejected because of the key.
            assert_eq!(
                request.refusals.contains(&ErrorCode::KeyInvalid),
                request.key_header.is_some(),
                "{name} {title}"
            );
            assert_eq!(
                request.refusals.iter().collect::<BTreeSet<_>>().len(),
                request.refusals.len(),
                "each code must be listed once"
            );
            for code in &request.refusals {
                assert!(
                    html.contains(&format!("<a href=\"/docs/v1/{code}\">{code}</a>")),
                    "{name}: {code}"
                );
            }
            for (parameter, _) in &request.parameters {
                assert!(
                    html.contains(&format!("<dt><code>{parameter}</code></dt>")),
                    "{name}: {parameter}"
                );
            }
            let is_list = request.title.starts_with("List ")
                && request.method == "GET"
                && about.subject != DocSubject::Topic;
            assert!(
                !is_list
                    || name == "webhooks"
                    || request.parameters.iter().any(|(it, _)| it == "per_page"),
                "{name}"
            );
        }
    }
    assert!(tried > 8, "{tried}");
    // The page of a kind shows how a record is created, and its table of operations links to that.
    let tag = page(&service, "/docs/v1/tag").await;
    assert!(
        tag.contains("<h3 id=\"create-a-tag\">Create a tag</h3>")
            && tag.contains("<a href=\"#create-a-tag\">create</a>")
    );
    assert!(
        between(&tag, "id=\"create-a-tag\"", "<h3").contains(">NAME_IN_USE</a>"),
        "{tag}"
    );
}

#[tokio::test]
async fn point_2_fields_that_have_to_be_there_have_a_star_and_plain_ones_an_example() {
    let service = service();
    let signature = page(&service, "/docs/v1/record_signature_helper").await;
    assert!(!signature.contains("class=\"star\""));
    let signup = page(&service, "/docs/v1/person_signup_helper").await;
    assert!(
        signup.contains("<code>person</code><span class=\"star\" aria-hidden=\"true\"> *</span>"),
        "{signup}"
    );
    let person = page(&service, "/docs/v1/person").await;
    assert!(
        between(&person, "id=\"field-given_name\"", "</tr>")
            .contains("for example <code>&quot;Rosa&quot;</code>"),
        "{person}"
    );
    // Error codes link to their pages wherever they occur.
    let capabilities = page(&service, "/docs/v1/capabilities").await;
    assert!(
        capabilities
            .contains("<a href=\"/docs/v1/NOT_IMPLEMENTED\"><code>NOT_IMPLEMENTED</code></a>")
    );
}

#[tokio::test]
async fn point_2_the_index_of_the_search_has_every_page_and_field_in_25_kb() {
    let service = service();
    let start = page(&service, "/docs").await;
    let address = between(&start, "data-index=\"", "\"");
    let gzip = exchange(
        &service,
        without_key("GET", address).header("accept-encoding", "gzip"),
        "",
    )
    .await;
    assert_eq!(
        (gzip.status, gzip.header("content-encoding")),
        (StatusCode::OK, Some("gzip"))
    );
    assert!(gzip.body.len() < 25_000, "compressed: {}", gzip.body.len());
    let plain = exchange(&service, without_key("GET", address), "").await;
    let index: Value = serde_json::from_slice(&plain.body).unwrap();
    let entries = index.as_array().unwrap();
    let names: BTreeSet<&str> = entries
        .iter()
        .filter_map(|entry| entry[0].as_str())
        .collect();
    let docs = DocPages::new(service.api(), service.api().base_url(), 0);
    assert_eq!(names.len(), entries.len());
    for name in docs.names() {
        assert!(names.contains(&*name), "{name}");
    }
    // Each field has an anchor.
    for entry in entries {
        let fields = entry[4].as_array().unwrap();
        if fields.is_empty() {
            continue;
        }
        let name = entry[0].as_str().unwrap();
        let html = page(&service, &format!("/docs/v1/{name}")).await;
        for field in fields {
            let id = format!("id=\"field-{}\"", field.as_str().unwrap());
            assert!(html.contains(&id), "{name}: {id}");
        }
    }
    let fields: Vec<&str> = Kind::Person
        .schema()
        .fields
        .fields
        .iter()
        .map(|field| field.name)
        .collect();
    let person = entries.iter().find(|entry| entry[0] == "person").unwrap()[4]
        .as_array()
        .unwrap();
    assert!(
        fields
            .iter()
            .all(|field| person.iter().any(|known| known == field)),
        "{person:?}"
    );
    // Without scripts, the search is hidden.
    assert!(start.contains("<button type=\"button\" id=\"search\" hidden"));
}
