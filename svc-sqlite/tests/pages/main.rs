//! The documentation held against the service that it describes: every request on every page is sent as it stands there, and
//! gets the status that the page states; every relation of every answer has a page (ENT-22, HAL-18).

mod parse;
mod reader;

use std::collections::BTreeSet;

use svc_core::{export::Docs, model::Kind};

use crate::{
    parse::{Shown, requests},
    reader::{Reader, Site},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ent_22_every_example_request_of_every_page_gets_the_status_that_the_page_states() {
    for style in ["table", "examples"] {
        let site = Site::open(style);
        let names = Docs::new(site.api(), site.api().base(), 0).names();
        let mut sent = BTreeSet::new();
        let mut largest = 0;
        for name in names.iter().map(AsRef::as_ref).chain([""]) {
            let page = site.page(name).await;
            largest = largest.max(page.len());
            assert!(page.len() < 20 * 1024, "{name}: {} bytes", page.len());
            // Each page is read by somebody whose data is their own.
            let mut reader = Reader::new(&site, &format!("{style}-{name}")).await;
            for shown in requests(&page) {
                let answer = reader.send(&shown).await;
                assert_eq!(answer.status, shown.status, "{style} {name}: {shown:?}: {}", answer.json);
                sent.insert(format!("{} {}", shown.method, shown.address));
            }
        }
        println!("{style}: the largest page has {largest} bytes");
        let methods: BTreeSet<&str> = sent.iter().filter_map(|it| it.split(' ').next()).collect();
        assert_eq!(methods, BTreeSet::from(["DELETE", "GET", "POST", "PUT"]));
        assert!(sent.len() > 90, "{style}: {}", sent.len());
        for kind in Kind::ALL {
            let of_kind = format!("/{}", kind.plural());
            assert!(sent.iter().any(|request| request.contains(&of_kind)), "{style}: no request for {kind:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ent_22_the_four_languages_of_an_example_say_the_same() {
    let site = Site::open("table");
    let person = requests(&site.page("people").await);
    let [list, create] = person.as_slice() else { panic!("{person:?}") };
    assert_eq!(
        (list.method.as_str(), list.body.as_ref(), list.key_header.as_deref()),
        ("GET", None, Some("SVC-API-Token"))
    );
    assert_eq!((create.method.as_str(), create.status), ("POST", 201));
    assert_eq!(create.body.as_ref().map(|body| body["given_name"].clone()), Some("Rosa".into()));
    assert!(requests(&site.page("capabilities").await).iter().all(|shown: &Shown| shown.key_header.is_none()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hal_18_every_relation_that_an_answer_has_leads_to_a_page() {
    let site = Site::open("table");
    let mut reader = Reader::new(&site, "relations").await;
    let mut relations = BTreeSet::new();
    let entry = site.read("", &reader).await;
    reader::relations(&entry.json, &mut relations);
    for kind in Kind::ALL {
        let address = reader.address_of(*kind).await;
        let answer = site.read(&address, &reader).await;
        assert_eq!(answer.status, 200, "{kind:?} {}", answer.json);
        reader::relations(&answer.json, &mut relations);
    }
    let template = entry.json["_links"]["curies"][0]["href"].as_str().unwrap_or_default().to_owned();
    assert!(relations.len() > 40, "{relations:?}");
    for relation in relations {
        let name = relation.strip_prefix("svc:").unwrap_or_else(|| panic!("{relation}"));
        let page = site.read(&template.replace("{rel}", name), &reader).await;
        assert_eq!(page.status, 200, "{relation}");
    }
}
