//! Compares the documentation of the demo with the demo over HTTP. Every link on every page
//! resolves. Every request on every page is sent unchanged, and gets the status and a response as
//! shown. Every relation in every response has a page.
//!
//! Requirements: ENT-22, HAL-18.

mod parse;
mod reader;

use std::collections::BTreeSet;

use serde_json::Value;
use svc_core::model::Kind;

use crate::pages::{
    parse::requests,
    reader::{Reader, Site, relations},
};
use crate::support::{TestResult, client::link};

/// Minimum number of pages with requests.
const PAGES: usize = 80;

#[tokio::test]
async fn ent_22_every_example_request_of_every_page_gets_the_status_that_the_page_states()
-> TestResult {
    for style in ["table", "examples"] {
        let site = Site::open(style, PAGES).await?;
        let mut sent = BTreeSet::new();
        let (mut largest, mut answers) = (0, 0);
        for (number, (name, page)) in site.with_requests().enumerate() {
            largest = largest.max(page.len());
            // Each page is read by a reader with separate data.
            let mut reader = Reader::new(&site, number).await?;
            for shown in requests(page) {
                let answer = reader.send(&shown).await?;
                assert_eq!(
                    answer.status,
                    shown.status,
                    "{style} {name}: {shown:?}: {}",
                    answer.text()
                );
                if let Some(expected) = &shown.answer {
                    answers += 1;
                    let real = serde_json::from_slice(&answer.body)?;
                    let mut other = Vec::new();
                    differences("", expected, &real, &mut other);
                    assert!(
                        other.is_empty(),
                        "{style} {name} {}: {other:?}",
                        shown.address
                    );
                }
                sent.insert(format!("{} {}", shown.method, shown.address));
            }
        }
        let pages = site.with_requests().count();
        println!(
            "{style}: {} requests on {pages} pages, the largest of {largest} bytes; {answers} answers",
            sent.len()
        );
        let methods: BTreeSet<&str> = sent.iter().filter_map(|it| it.split(' ').next()).collect();
        assert_eq!(methods, BTreeSet::from(["DELETE", "GET", "POST", "PUT"]));
        assert!(answers > 30, "{style}: {answers}");
        assert!(sent.len() > 90, "{style}: {}", sent.len());
        for kind in Kind::ALL {
            let of_kind = format!("/{}", kind.plural());
            assert!(
                sent.iter().any(|request| request.contains(&of_kind)),
                "{style}: no request for {kind:?}"
            );
        }
    }
    Ok(())
}

#[tokio::test]
async fn ent_22_the_pages_are_found_by_their_links_and_small_under_a_long_address() -> TestResult {
    let site = Site::open("table", 1).await?;
    assert!(site.pages().len() > 120, "{}", site.pages().len());
    for (name, page) in site.pages() {
        // With a long base URL, the navigation is half of the page; compressed it is a sixth.
        assert!(page.len() < 45 * 1024, "{name}: {} bytes", page.len());
    }
    Ok(())
}

#[tokio::test]
async fn ent_22_the_four_languages_of_an_example_say_the_same() -> TestResult {
    let site = Site::open("table", 1).await?;
    let people = requests(site.page("people")?);
    let [list, create] = people.as_slice() else {
        panic!("{people:?}")
    };
    assert_eq!(
        (
            list.method.as_str(),
            list.body.as_ref(),
            list.key_header.as_deref()
        ),
        ("GET", None, Some("SVC-API-Token"))
    );
    assert_eq!((create.method.as_str(), create.status), ("POST", 201));
    assert_eq!(
        create.body.as_ref().map(|body| body["given_name"].clone()),
        Some("Rosa".into())
    );
    assert!(
        requests(site.page("capabilities")?)
            .iter()
            .all(|shown| shown.key_header.is_none())
    );
    Ok(())
}

#[tokio::test]
async fn hal_18_every_relation_that_an_answer_has_leads_to_a_page() -> TestResult {
    let site = Site::open("table", 1).await?;
    let mut reader = Reader::new(&site, 0).await?;
    let mut found = BTreeSet::new();
    let entry = reader.read("").await?;
    relations(&entry, &mut found);
    for kind in Kind::ALL {
        let address = reader.address_of(*kind).await?;
        relations(&reader.read(&address).await?, &mut found);
    }
    let curies = entry["_links"]["curies"].as_array().ok_or("no curies")?;
    assert!(found.len() > 40, "{found:?}");
    assert!(link(&entry, "docs")?.starts_with(reader::BASE));
    for relation in found {
        let (prefix, name) = relation
            .split_once(':')
            .ok_or_else(|| format!("no prefix: {relation}"))?;
        let curie = curies
            .iter()
            .find(|curie| curie["name"] == prefix)
            .ok_or_else(|| format!("no curie: {relation}"))?;
        let template = curie["href"].as_str().ok_or("no template")?;
        reader.read_page(&template.replace("{rel}", name)).await?;
    }
    Ok(())
}

/// Returns differences between a response and the page: a member or a link that is not shown, or a
/// value of another type. A page shows every possible member, but only some members of nested
/// objects and of the records of a collection.
fn differences(path: &str, shown: &Value, real: &Value, found: &mut Vec<String>) {
    match (shown, real) {
        (Value::Object(shown), Value::Object(real)) => {
            for (name, real) in real {
                match shown.get(name) {
                    Some(shown) => differences(&format!("{path}/{name}"), shown, real, found),
                    None if !path.is_empty() && path != "/_links" => {}
                    None => found.push(format!("{path}/{name} is not shown")),
                }
            }
        }
        (Value::Array(shown), Value::Array(real)) => {
            for real in real {
                differences(
                    &format!("{path}/0"),
                    shown.first().unwrap_or(&Value::Null),
                    real,
                    found,
                );
            }
        }
        _ if std::mem::discriminant(shown) == std::mem::discriminant(real) => {}
        _ => found.push(format!(
            "{path}: the page shows {shown}, the response has {real}"
        )),
    }
}
