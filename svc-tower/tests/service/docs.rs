//! The documentation inside the mount (ENT-22, HAL-18, UND-40).

use std::collections::BTreeSet;

use http::StatusCode;
use svc_core::{
    Code,
    link::Dialect,
    model::Kind,
    schema::{ObjectSchema, Type},
};
use svc_tower::SvcService;

use crate::{
    backend::{Memory, api},
    client::{exchange, service, without_key},
};

async fn page(service: &SvcService, path: &str) -> String {
    let answer = exchange(service, without_key("GET", path), "").await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (StatusCode::OK, Some("text/html; charset=utf-8")),
        "{path}"
    );
    let policy = "default-src 'none'; style-src 'self'; frame-ancestors 'none'";
    assert_eq!(answer.header("content-security-policy"), Some(policy));
    answer.text().to_owned()
}

fn hrefs(page: &str) -> BTreeSet<String> {
    page.split("href=\"").skip(1).map(|rest| rest.split_once('"').unwrap().0.to_owned()).collect()
}

#[tokio::test]
async fn ent_22_the_start_page_publishes_matching_capabilities_and_limits() {
    let start = page(&service().body_limit(4321), "/docs/").await;
    assert!(start.contains("looked up first by each foreign identifier"), "HLP-05");
    assert!(start.contains("rel=\"svc:capabilities\" href=\"http://localhost/docs/capabilities\""), "UND-40");
    assert!(start.contains("no prefix"), "RES-person-37");
    for expected in ["4321", "SVC-API-Token", "list, read, create, update, delete", "with or without a key", "add_tags"]
    {
        assert!(start.contains(expected), "{expected}");
    }
    for code in Code::ALL {
        assert!(start.contains(&format!("http://localhost/docs/v1/{code}\"")), "{code}");
    }
}

#[tokio::test]
async fn ent_22_every_link_of_every_page_leads_somewhere() {
    let service = service();
    let mut waiting = vec!["http://localhost/docs/".to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(address) = waiting.pop() {
        if !seen.insert(address.clone()) {
            continue;
        }
        let answer = exchange(&service, without_key("GET", &address), "").await;
        // Collections need a key.
        assert!(matches!(answer.status.as_u16(), 200 | 401), "{address}: {}", answer.status);
        if answer.header("content-type").is_some_and(|media| media.starts_with("text/html")) {
            waiting.extend(hrefs(answer.text()).into_iter().filter(|href| !href.starts_with('#')));
        }
    }
    assert!(seen.len() > Code::ALL.len() + 2 * Kind::ALL.len(), "{}", seen.len());
}

#[tokio::test]
async fn hal_18_every_relation_has_a_page_with_its_fields_and_values() {
    let service = service();
    for kind in Kind::ALL {
        let schema = kind.schema();
        for relation in schema.links.iter().map(|link| link.name).chain([schema.singular, schema.plural]) {
            page(&service, &format!("/docs/v1/{relation}")).await;
            page(&service, &format!("/docs/v1/svc:{relation}")).await;
        }
        let page = page(&service, &format!("/docs/v1/{}", schema.singular)).await;
        assert_fields(&page, "", schema.fields);
    }
}

fn assert_fields(page: &str, section: &str, schema: &ObjectSchema) {
    let section = if section.is_empty() { page } else { page.split(&format!("<h2 id=\"{section}\">")).nth(1).unwrap() };
    for field in schema.fields {
        let Some((_, row)) = section.split_once(&format!("<tr><td><code>{}</code></td>", field.name)) else {
            panic!("{}.{} is not on the page", schema.name, field.name);
        };
        let row = row.split_once("</tr>").unwrap().0;
        if let Type::Enum(values) | Type::FlexEnum(values) = field.ty {
            assert!(values.iter().all(|value| row.contains(&format!("<code>{value}</code>"))), "{}", field.name);
        }
        assert_eq!(row.contains("<td>system</td>"), field.is_computed(), "{}.{}", schema.name, field.name);
        if let Some(inner) = field.ty.object() {
            let (_, part) = row.split_once("<a href=\"#").unwrap();
            assert_fields(page, part.split_once('"').unwrap().0, inner);
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
    let donation = page(&service, "/docs/v1/record_donation_helper").await;
    assert!(donation.contains("<code>svc:attendance</code>"), "HLP-13");
    let attendance = page(&service, "/docs/v1/attendance").await;
    assert!(attendance.contains("a link of this name leads to"), "HLP-21");
    let schedule = page(&service, "/docs/v1/schedule_helper").await;
    assert!(
        schedule.contains("scheduled_start_date")
            && !schedule.contains("add_tags")
            && schedule.contains("does not offer it")
    );
    let canvass = page(&service, "/docs/v1/record_canvas_helper").await;
    assert!(canvass.contains("<code>canvass</code>: an object"));
}

#[tokio::test]
async fn ent_22_each_error_code_has_a_page() {
    let service = service();
    for code in Code::ALL {
        let page = page(&service, &format!("/docs/v1/{code}")).await;
        assert!(page.contains(&code.status().to_string()), "{code}");
    }
    assert!(page(&service, "/docs/v1/error").await.contains("resource_status"));
}

#[tokio::test]
async fn ent_22_an_unknown_relation_is_404() {
    let service = service();
    for name in ["nothing", "svc:nothing", "abc:person", "PERSON", "self", "-"] {
        let answer = exchange(&service, without_key("GET", &format!("/docs/v1/{name}")), "").await;
        assert_eq!((answer.status, answer.code().as_str()), (StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND"), "{name}");
    }
}

#[tokio::test]
async fn ent_22_the_style_sheet_is_the_services_own() {
    let service = service();
    let style = "http://localhost/docs/v1/style";
    assert!(page(&service, "/docs").await.contains(&format!("<link rel=\"stylesheet\" href=\"{style}\">")));
    let answer = exchange(&service, without_key("GET", style), "").await;
    assert_eq!((answer.status, answer.header("content-type")), (StatusCode::OK, Some("text/css; charset=utf-8")));
}

#[tokio::test]
async fn hal_09_the_pages_speak_the_dialect() {
    let dialect = Dialect::with_prefix("abc").unwrap();
    let service = SvcService::new(api(&Memory::new()).dialect(dialect).build().unwrap());
    for path in [
        "/docs",
        "/docs/v1/person",
        "/docs/v1/people",
        "/docs/v1/error",
        "/docs/v1/record_signature_helper",
        "/docs/v1/creator",
    ] {
        let page = page(&service, path).await;
        assert!(page.contains("abc:") && !page.contains("svc:") && !page.contains("SVC-API"), "{path}");
    }
    let refused = exchange(&service, without_key("GET", "/tags"), "").await;
    assert_eq!(refused.header("www-authenticate"), Some("ApiKey header=\"ABC-API-Token\""));
    assert_eq!(refused.header("vary"), Some("abc-api-token"));
}
