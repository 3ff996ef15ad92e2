//! The documentation under a mount path.
//!
//! Requirements: ENT-22, HAL-18, UND-40.
use std::collections::BTreeSet;

use http::StatusCode;
use svc_core::{
    ErrorCode,
    link::Dialect,
    model::Kind,
    schema::{ObjectSchema, ValueType},
};
use svc_docs::documents::DocPages;
use svc_tower::SvcService;

use crate::service::{
    backend::{Memory, api},
    client::{exchange, service, without_key},
};

/// The page that has its own script in addition to the search.
const COMPARE: &str = "/docs/v1/compare";

async fn page(service: &SvcService, path: &str) -> String {
    let answer = exchange(service, without_key("GET", path), "").await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (StatusCode::OK, Some("text/html; charset=utf-8")),
        "{path}"
    );
    let policy = concat!(
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; ",
        "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    );
    assert_eq!(answer.header("content-security-policy"), Some(policy));
    assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    answer.text().to_owned()
}

fn hrefs(page: &str) -> BTreeSet<String> {
    attributes(page, "href")
        .chain(attributes(page, "src"))
        .collect()
}

fn ids(page: &str) -> BTreeSet<String> {
    attributes(page, "id").collect()
}

/// Returns the values of an attribute, unescaped.
fn attributes<'p>(page: &'p str, name: &str) -> impl Iterator<Item = String> + use<'p> {
    let values = page
        .split(&format!(" {name}=\""))
        .skip(1)
        .map(|rest| rest.split_once('"').unwrap().0)
        .collect::<Vec<_>>();
    values.into_iter().map(|value| value.replace("&amp;", "&"))
}

#[tokio::test]
async fn ent_22_matching_capabilities_and_limits_are_published() {
    let service = service().body_limit(4321).anonymous_body_limit(1234);
    let start = page(&service, "/docs/").await;
    assert!(
        start.contains("href=\"/docs/capabilities\" rel=\"service-meta\""),
        "UND-40 {start}"
    );
    for expected in [
        "looked up first by each foreign identifier",
        "4321",
        "SVC-API-Token",
        "list, read, create, update, delete",
        "with or without a key",
        "add_tags",
    ] {
        assert!(start.contains(expected), "{expected}");
    }
    let matching = page(&service, "/docs/v1/matching").await;
    assert!(
        matching.contains("looked up first by each foreign identifier"),
        "HLP-05"
    );
    assert!(matching.contains("no prefix"), "RES-person-37");
    let limits = page(&service, "/docs/v1/limits").await;
    assert!(
        limits.contains("4321") && limits.contains("1234"),
        "UND-17, UND-43"
    );
    let errors = page(&service, "/docs/v1/error").await;
    for code in ErrorCode::ALL {
        assert!(errors.contains(&format!("\"/docs/v1/{code}\"")), "{code}");
    }
}

#[tokio::test]
async fn ent_22_every_link_of_every_page_leads_somewhere() {
    let service = service();
    let mut waiting = vec!["/docs/".to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(address) = waiting.pop() {
        if !seen.insert(address.clone()) {
            continue;
        }
        let answer = exchange(&service, without_key("GET", &address), "").await;
        assert_eq!(answer.status.as_u16(), 200, "{address}");
        if answer
            .header("content-type")
            .is_some_and(|media| media.starts_with("text/html"))
        {
            let parts = ids(answer.text());
            for href in hrefs(answer.text()) {
                match href.strip_prefix('#') {
                    Some(part) => assert!(parts.contains(part), "{address}: #{part}"),
                    None => waiting.push(href),
                }
            }
        }
    }
    let docs = DocPages::new(service.api(), service.api().base_url(), 0);
    for name in docs.names() {
        assert!(
            seen.contains(&format!("/docs/v1/{name}")),
            "nothing links to {name}"
        );
    }
}

#[tokio::test]
async fn ent_22_every_page_is_small_and_can_be_used_without_eyes_and_mouse() {
    let service = service();
    let names = DocPages::new(service.api(), service.api().base_url(), 0).names();
    let paths = names
        .iter()
        .map(|name| format!("/docs/v1/{name}"))
        .chain(["/docs".to_owned()]);
    for path in paths {
        let page = page(&service, &path).await;
        // The navigation is a third of it.
        assert!(page.len() < 40 * 1024, "{path}: {} bytes", page.len());
        assert!(
            page.starts_with("<!DOCTYPE html><html lang=\"en\">"),
            "{path}"
        );
        assert!(
            page.contains("<a class=\"skip\" href=\"#main\">")
                && page.contains("<main id=\"main\" tabindex=\"-1\">"),
            "{path}"
        );
        assert_eq!(page.matches("<h1>").count(), 1, "{path}");
        assert_eq!(
            page.matches("<table").count(),
            page.matches("<caption>").count(),
            "{path}"
        );
        assert_eq!(
            page.matches("<th>").count(),
            0,
            "{path}: every table header must have a scope"
        );
        assert_eq!(
            page.matches("<pre").count(),
            page.matches("<pre tabindex=\"0\" role=\"group\" aria-label=")
                .count()
        );
        let scripts = page.split("<script").skip(1).collect::<Vec<_>>();
        assert_eq!(scripts.len(), 1 + usize::from(path == COMPARE), "{path}");
        assert!(
            scripts.iter().all(|script| script.contains("></script>")),
            "{path}: its content is empty"
        );
        assert!(
            !page.contains(" style=") && !page.contains(" onclick="),
            "{path}"
        );
        let hosts = page.matches("//").count();
        assert_eq!(
            hosts,
            page.matches("http://localhost/").count()
                + page.matches("https://www.example.org").count(),
            "{path}"
        );
    }
}

#[tokio::test]
async fn ent_22_the_same_address_has_a_form_for_machines() {
    let service = service();
    let names = DocPages::new(service.api(), service.api().base_url(), 0).names();
    let paths = names
        .iter()
        .map(|name| format!("/docs/v1/{name}"))
        .chain(["/docs/".to_owned()]);
    for path in paths {
        let request = without_key("GET", &path).header("accept", "application/hal+json");
        let answer = exchange(&service, request, "").await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("content-type")),
            (200, Some("application/hal+json")),
            "{path}"
        );
        let vary: Vec<&str> = answer
            .headers
            .get_all("vary")
            .iter()
            .map(|value| value.to_str().unwrap())
            .collect();
        assert_eq!(vary, ["svc-api-token", "accept-encoding", "accept"]);
        let document = answer.object();
        assert!(
            document.get("title").is_some() && document.get("_links").is_some(),
            "{path}"
        );
    }
}

#[tokio::test]
async fn hal_18_every_relation_has_a_page_with_its_fields_and_values() {
    let service = service();
    for kind in Kind::ALL {
        let schema = kind.schema();
        for relation in schema
            .links
            .iter()
            .map(|link| link.name)
            .chain([schema.singular, schema.plural])
        {
            page(&service, &format!("/docs/v1/{relation}")).await;
            page(&service, &format!("/docs/v1/svc:{relation}")).await;
        }
        assert_fields(
            &service,
            &format!("/docs/v1/{}", schema.singular),
            schema.fields,
        )
        .await;
    }
}

/// Checks the table of a kind or of a nested object: every field with its type, its values, and who
/// sets it.
async fn assert_fields(service: &SvcService, path: &str, schema: &'static ObjectSchema) {
    let page = page(service, path).await;
    for field in schema.fields {
        let Some((_, row)) =
            page.split_once(&format!("<th scope=\"row\"><code>{}</code>", field.name))
        else {
            panic!("{path}: {} is not on the page", field.name);
        };
        let row = row.split_once("</tr>").unwrap().0;
        if let ValueType::Enum(values) | ValueType::FlexEnum(values) = field.ty {
            assert!(
                values
                    .iter()
                    .all(|value| row.contains(&format!("<code>{value}</code>"))),
                "{path} {}",
                field.name
            );
        }
        assert_eq!(
            row.contains("<td data-head=\"Write\">by the server</td>"),
            field.is_computed(),
            "{path} {}",
            field.name
        );
        let ty = row
            .split_once("<a href=\"")
            .unwrap()
            .1
            .split_once('"')
            .unwrap()
            .0;
        if let Some(inner) = field.ty.object() {
            Box::pin(assert_fields(service, ty, inner)).await;
        }
    }
}

#[tokio::test]
async fn hal_18_helpers_show_their_bodies() {
    let service = service();
    let signature = page(&service, "/docs/v1/record_signature_helper").await;
    for expected in ["comments", "person", "add_tags", "with or without a key"] {
        assert!(signature.contains(expected), "{expected}");
    }
    // The table contains the whole body: the person, the action and its functions.
    for field in ["person", "comments", "add_tags"] {
        assert!(
            signature.contains(&format!("<th scope=\"row\"><code>{field}</code>")),
            "{field}"
        );
    }
    // A body that is only sent has no column for reading.
    let read = "<th scope=\"col\">Read</th>";
    assert!(!signature.contains(read) && page(&service, "/docs/v1/signature").await.contains(read));
    let donation = page(&service, "/docs/v1/record_donation_helper").await;
    assert!(donation.contains(">svc:attendance</a>"), "HLP-13");
    let attendance = page(&service, "/docs/v1/attendance").await;
    assert!(
        attendance.contains("the target of a link of this name is"),
        "HLP-21"
    );
    let schedule = page(&service, "/docs/v1/schedule_helper").await;
    // The navigation contains all pages.
    let schedule = schedule.split_once("<main").unwrap().1;
    assert!(
        schedule.contains("scheduled_start_date")
            && !schedule.contains("add_tags")
            && schedule.contains("does not offer it")
    );
    let canvass = page(&service, "/docs/v1/record_canvas_helper").await;
    for field in ["contact_type", "canvasser"] {
        let row = format!("<th scope=\"row\"><code>canvass.{field}</code>");
        assert!(canvass.contains(&row), "{field}");
    }
}

#[tokio::test]
async fn ent_22_each_error_code_has_a_page() {
    let service = service();
    for code in ErrorCode::ALL {
        let page = page(&service, &format!("/docs/v1/{code}")).await;
        let row = |name: &str| page.contains(&format!("<tr><th scope=\"row\">{name}</th><td>"));
        assert!(
            page.contains(&code.status().to_string()) && row("Cause") && row("How to fix it"),
            "{code}"
        );
    }
    // Each example shows the code as it occurs: with the properties that have the problem, and in a
    // report if it belongs to a part of a helper call.
    let invalid = page(&service, "/docs/v1/FIELD_INVALID").await;
    assert!(
        invalid.contains("\"properties\": [\"gender\"]") && invalid.contains("\"svc:person\""),
        "{invalid}"
    );
    let unknown = page(&service, "/docs/v1/TAG_NAME_DOES_NOT_EXIST").await;
    assert!(
        unknown.contains("\"non-atomic\"") && unknown.contains("\"svc:tagging\""),
        "{unknown}"
    );
    assert!(
        page(&service, "/docs/v1/error")
            .await
            .contains("resource_status")
    );
}

#[tokio::test]
async fn ent_22_an_unknown_relation_is_404() {
    let service = service();
    for name in [
        "nothing",
        "svc:nothing",
        "abc:person",
        "PERSON",
        "self",
        "-",
    ] {
        let answer = exchange(
            &service,
            without_key("GET", &format!("/docs/v1/{name}")),
            "",
        )
        .await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND"),
            "{name}"
        );
    }
}

#[tokio::test]
async fn ent_22_the_style_sheet_is_the_services_own() {
    let service = service();
    let start = page(&service, "/docs").await;
    let style = start
        .split_once("<link rel=\"stylesheet\" href=\"")
        .unwrap()
        .1
        .split_once('"')
        .unwrap()
        .0;
    let answer = exchange(&service, without_key("GET", style), "").await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (StatusCode::OK, Some("text/css; charset=utf-8"))
    );
}

#[tokio::test]
async fn hal_09_the_pages_speak_the_dialect() {
    let dialect = Dialect::with_prefix("abc").unwrap();
    let service = crate::service::served(api(&Memory::new()).dialect(dialect).build().unwrap());
    for path in [
        "/docs",
        "/docs/v1/person",
        "/docs/v1/people",
        "/docs/v1/error",
        "/docs/v1/record_signature_helper",
        "/docs/v1/creator",
    ] {
        let page = page(&service, path).await;
        assert!(
            page.contains("abc") && !page.contains("svc:") && !page.contains("SVC-API"),
            "{path}"
        );
    }
    let refused = exchange(&service, without_key("GET", "/tags"), "").await;
    assert_eq!(
        refused.header("www-authenticate"),
        Some("ApiKey header=\"ABC-API-Token\"")
    );
    assert_eq!(refused.header("vary"), Some("abc-api-token"));
}

#[tokio::test]
async fn ent_22_the_explorer_is_small_and_everything_of_it_comes_from_this_server() {
    let service = service();
    let page = exchange(&service, without_key("GET", "/docs/explorer"), "").await;
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    let policy = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    assert_eq!(page.header("content-security-policy"), Some(policy));
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
    assert!(page.text().contains("data-base=\"http://localhost/\""));
    let compressed = |file: &str| without_key("GET", file).header("accept-encoding", "gzip");
    let mut total = exchange(&service, compressed("/docs/explorer"), "")
        .await
        .body
        .len();
    let mut waiting: Vec<String> = hrefs(page.text())
        .into_iter()
        .filter(|href| href.contains("/explorer/"))
        .collect();
    let mut seen = BTreeSet::new();
    // Files that are loaded on first use are also checked, but do not count.
    let (mut later, mut is_first) = (Vec::new(), true);
    loop {
        let Some(file) = waiting.pop() else {
            is_first = false;
            waiting.append(&mut later);
            if waiting.is_empty() {
                break;
            }
            continue;
        };
        if !seen.insert(file.clone()) {
            continue;
        }
        let answer = exchange(&service, without_key("GET", &file), "").await;
        let expected = match file.rsplit_once('.').unwrap().1 {
            "css" => "text/css; charset=utf-8",
            "svg" => "image/svg+xml",
            _ => "text/javascript; charset=utf-8",
        };
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (StatusCode::OK, Some(expected)),
            "{file}"
        );
        let text = answer.text();
        total += if is_first {
            exchange(&service, compressed(&file), "").await.body.len()
        } else {
            0
        };
        assert_eq!(
            text.matches("://").count(),
            text.matches("http://www.w3.org/2000/svg").count(),
            "{file}"
        );
        for word in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "cookie",
        ] {
            assert!(!text.contains(word), "{file}: {word}");
        }
        // The browser stores the columns of tables, and nothing else. The tab stores a key if the
        // user chooses that.
        assert_eq!(
            text.contains("localStorage"),
            file.contains("/columns."),
            "{file}"
        );
        assert_eq!(
            text.contains("sessionStorage"),
            file.contains("/key."),
            "{file}"
        );
        let (folder, _) = file.rsplit_once('/').unwrap();
        let named = |mark: &str| {
            let files = text
                .split(mark)
                .skip(1)
                .map(|rest| format!("{folder}/{}", rest.split_once('"').unwrap().0));
            files.collect::<Vec<_>>()
        };
        waiting.extend(named(" from \"./"));
        later.extend(named("import(\"./"));
    }
    let files = ["explorer", "map"].into_iter().flat_map(|folder| {
        let folder = format!("{}/src/pages/{folder}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
    });
    // The style of the map is also part of the pages, and is loaded with the picture.
    let besides = ["mod.rs", "layout.rs", "tests.rs", "map.css"];
    let files: BTreeSet<String> = files
        .filter(|name| !besides.contains(&name.as_str()))
        .collect();
    // `dom.0123abcd.js` is `dom.js`.
    let plain = |file: &String| {
        let parts: Vec<&str> = file.rsplit_once('/').unwrap().1.split('.').collect();
        format!("{}.{}", parts[0], parts.last().unwrap())
    };
    let seen: BTreeSet<String> = seen.iter().map(plain).collect();
    assert_eq!(seen, files, "every file must be used and served");
    assert!(
        (10_000..30_000).contains(&total),
        "{total} bytes, compressed"
    );
    let missing = exchange(
        &service,
        without_key("GET", "/docs/explorer/nothing.js"),
        "",
    )
    .await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
}
