//! A server offers, links and declares exactly what is registered.
//!
//! Requirements: CAP-04.

use std::sync::Arc;

use http::Method;
use svc_core::{
    Api, Vendor,
    api::{ApiLimits, Atomicity, EntryLinks, PatchMethod, ResourceConfig},
    auth::{Operation, Right},
    fields,
    helper::{HelperName, PersonSignup, RecordAttendance, RecordSignature, Schedule},
    link::{ConventionalLayout, Dialect, Layout, RecordAddress, Scope, Target},
    model::{Kind, Person, Petition, Signature},
    operation::KeyRequirement,
    value::Id,
    writable,
};

use crate::support::{
    server::{Door, Server, builder, everything},
    typed_backend::Memory,
};

fn problems(api: svc_core::ApiBuilder) -> Vec<String> {
    api.build().expect_err("contradictions").problems().to_vec()
}

fn record(kind: Kind) -> Target {
    Target::Record(RecordAddress::new(
        kind,
        Id::new("x").unwrap(),
        kind.schema().path_parent.and(Id::new("y")),
    ))
}

fn all(kind: Kind) -> Target {
    Target::Collection {
        kind,
        scope: Scope::All,
    }
}

/// Returns the methods of a target, as in `Allow`.
fn allowed(api: &Api, target: &Target) -> String {
    api.allowed_methods(target)
        .iter()
        .map(Method::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn cap_04_only_what_is_registered_exists() {
    let store = Arc::new(Memory::default());
    let api = builder()
        .resource::<Petition, _>(&store, |x| x.list().get())
        .build()
        .unwrap();
    assert_eq!(
        allowed(&api, &all(Kind::Petition)),
        "GET HEAD OPTIONS",
        "CAP-04, UND-28"
    );
    assert_eq!(
        allowed(&api, &record(Kind::Petition)),
        "GET HEAD OPTIONS",
        "CAP-04"
    );
    assert_eq!(allowed(&api, &record(Kind::Person)), "OPTIONS", "CAP-04");
    assert!(
        api.operation(&Method::POST, &all(Kind::Petition)).is_none(),
        "CAP-07"
    );
    assert_eq!(
        api.record_links(Kind::Petition),
        Vec::<&str>::new(),
        "CAP-04: links to missing collections are not sent"
    );
    let head = api
        .operation(&Method::HEAD, &record(Kind::Petition))
        .unwrap();
    assert_eq!(
        head.right(),
        Some(Right::Operation(Kind::Petition, Operation::Read)),
        "UND-28: HEAD is a GET"
    );
    assert_eq!(
        (head.key_requirement(), head.spec().accepts_body()),
        (KeyRequirement::Required, false),
        "UND-28"
    );
}

#[test]
fn cap_04_every_link_of_a_full_server_leads_somewhere() {
    let server = Server::with(|api| api);
    let entry = server.get("");
    let links = entry.json["_links"].as_object().unwrap();
    for (name, link) in links.iter().filter(|(name, _)| name.starts_with("svc:")) {
        let href = link["href"].as_str().unwrap();
        assert!(
            link["title"]
                .as_str()
                .is_some_and(|title| !title.is_empty()),
            "ENT-25 {name}"
        );
        if !name.ends_with("_helper") {
            assert_eq!(server.get(href).status, 200, "ENT-10 to ENT-21 {name}");
        }
    }
    for kind in Kind::ALL
        .iter()
        .filter(|kind| kind.schema().has_collection())
    {
        assert!(
            links.contains_key(&format!("svc:{}", kind.plural())),
            "COL-01 {kind:?}"
        );
    }
    assert!(
        links.contains_key("svc:person_signup_helper") && links.contains_key("service-meta"),
        "ENT-24, UND-40"
    );
}

#[test]
fn ent_21_listed_links_only() {
    let server = Server::with(|api| api.entry_links(EntryLinks::Listed));
    let entry = server.get("");
    assert!(entry.link("svc:people").is_some(), "ENT-10");
    assert_eq!(
        (
            entry.link("svc:advocacy_campaigns"),
            entry.link("svc:messages")
        ),
        (None, None),
        "ENT-21"
    );
    assert_eq!(
        server.get("advocacy_campaigns").status,
        200,
        "ENT-21: unlinked, not gone"
    );
}

/// A layout that writes paths but reads none.
#[derive(Debug)]
struct Nowhere;

impl Layout for Nowhere {
    fn path(&self, target: &Target, out: &mut String) {
        ConventionalLayout.path(target, out);
    }

    fn route(&self, _: &str) -> Option<Target> {
        None
    }
}

#[test]
fn build_reports_every_contradiction_at_once() {
    let store = Arc::new(Memory::default());
    let found = problems(
        Api::builder(Vendor::new("a", "b").namespace("no good"))
            .limits(ApiLimits::default().default_page_size(200))
            .dialect(Dialect::default().with_version_field("motd"))
            .layout(Nowhere)
            .resource::<Petition, _>(&store, ResourceConfig::list)
            .resource::<Petition, _>(&store, ResourceConfig::list)
            .resource::<Signature, _>(&store, |x| x.list_under::<Petition>().list())
            .resource::<svc_core::model::Question, _>(&store, |x| {
                x.create().writable_fields(writable!(question::{ name }))
            })
            .compose_helper::<PersonSignup>()
            .compose_helper::<PersonSignup>()
            .compose_helper::<RecordSignature>()
            .compose_helper::<Schedule>()
            .atomicity(Atomicity::WholeCall)
            .without_capability("petitions.read")
            .without_capability("haf.add_tags"),
    );
    for part in [
        "no base URL is set",
        "`.authenticator(...)`",
        "namespace `no good`",
        "the version field cannot be named `motd`",
        "does not read `` back as the same",
        "`page` (200) exceeds `max_page` (100)",
        "petitions are registered twice",
        "`person_signup` is registered twice",
        "signatures have no collection of their own",
        "signatures are listed under petitions, but petitions cannot be read",
        "`question_type` is required but not writable",
        "`record_signature` cannot be composed without petitions.get, signatures.create, people.create, people.update: register",
        "`schedule` cannot be composed",
        "`record_signature` is not atomic",
        "`petitions.read` is not a registered capability",
        "`haf.add_tags` is not a registered capability",
    ] {
        assert!(
            found.iter().any(|problem| problem.contains(part)),
            "`{part}` is missing in {found:#?}"
        );
    }
}

#[test]
fn build_refuses_a_create_that_no_address_leads_to() {
    let store = Arc::new(Memory::default());
    let found = problems(builder().resource::<Signature, _>(&store, |x| x.get().create()));
    assert_eq!(
        found,
        [
            "signatures are created under petitions, but petitions cannot be read: register `.get()` for petitions"
        ],
        "CAP-04"
    );
}

#[test]
fn build_says_what_is_wrong_with_a_base_url_once() {
    for wrong in [
        "crm.example.org",
        "ftp://x/",
        "http://x/?q",
        "http://user@x/",
        "",
        "http://x/#y",
    ] {
        let found = problems(builder().base_url(wrong));
        assert_eq!(found.len(), 1, "HAL-01 {wrong}: {found:?}");
        assert!(
            found[0].contains("is not a valid base URL"),
            "HAL-01 {wrong}"
        );
    }
}

#[test]
fn cap_10_helpers_only_wherever_the_call_stands() {
    let store = Arc::new(Memory::default());
    let before = everything(builder().helpers_only(), &store)
        .build()
        .unwrap();
    let after = everything(builder(), &store)
        .helpers_only()
        .build()
        .unwrap();
    for api in [before, after] {
        for &kind in Kind::ALL {
            assert_eq!(allowed(&api, &all(kind)), "OPTIONS", "CAP-10 {kind:?}");
            assert_eq!(allowed(&api, &record(kind)), "OPTIONS", "CAP-10 {kind:?}");
        }
        let petition = RecordAddress::without_parent(Kind::Petition, Id::new("x").unwrap());
        let helper = Target::Helper {
            helper: HelperName::RecordSignature,
            container: Some(petition),
        };
        assert_eq!(allowed(&api, &helper), "POST OPTIONS", "CAP-10");
    }
}

#[test]
fn cap_07_a_capability_can_be_taken_away() {
    let taken = [
        ("people.delete", Method::DELETE, record(Kind::Person)),
        ("people.create", Method::POST, all(Kind::Person)),
        ("events.update", Method::PUT, record(Kind::Event)),
        ("tags.list", Method::GET, all(Kind::Tag)),
        (
            "helper.person_signup",
            Method::POST,
            Target::Helper {
                helper: HelperName::PersonSignup,
                container: None,
            },
        ),
    ];
    for (capability, method, target) in taken {
        let server = Server::with(|api| api.without_capability(capability));
        assert!(
            server.api.operation(&method, &target).is_none(),
            "CAP-07 {capability}"
        );
        let document = server.get("docs/capabilities").json;
        let (area, name) = capability.split_once('.').unwrap();
        let declared = &document["collections"][area]["operations"];
        assert!(
            !declared
                .as_array()
                .is_some_and(|all| all.iter().any(|it| it == name)),
            "CAP-04 {capability}"
        );
        assert!(document["helpers"][name].is_null(), "CAP-04 {capability}");
    }
    let server = Server::with(|api| api.without_capability("petitions.sub.signatures"));
    let petition = server.made("petitions", "{}");
    assert_eq!(server.get(&petition).link("svc:signatures"), None, "CAP-04");
    assert_eq!(
        server.get(&format!("{petition}/signatures")).problems(),
        ["NOT_IMPLEMENTED "],
        "ERR-07"
    );
}

/// The order of the calls does not matter, and a repeated call has no further effect.
#[test]
fn cap_07_a_capability_is_taken_away_wherever_the_call_stands() {
    let store = Arc::new(Memory::default());
    let api = builder()
        .without_capability("petitions.list")
        .without_capability("petitions.list")
        .without_capability("helper.record_signature");
    let api = everything(api, &store).build().unwrap();
    assert!(
        api.operation(&Method::GET, &all(Kind::Petition)).is_none(),
        "CAP-07"
    );
    assert!(
        !api.helpers()
            .any(|helper| helper == HelperName::RecordSignature),
        "CAP-07"
    );
    assert!(
        problems(builder().without_capability("people.fly"))[0].contains("`people.fly`"),
        "CAP-07"
    );
}

#[test]
fn err_07_an_unsupported_method_is_500_and_a_missing_record_404() {
    let server = Server::with(|api| api);
    let tag = server.made("tags", r#"{"name":"a"}"#);
    let person = server.made("people", r#"{"given_name":"Ada"}"#);
    let tagging = server.made(
        &format!("{tag}/taggings"),
        &format!(r#"{{"_links":{{"svc:person":{{"href":"{person}"}}}}}}"#),
    );
    assert_eq!(
        server.put(&tagging, "{}").problems(),
        ["NOT_IMPLEMENTED "],
        "ERR-07"
    );
    assert_eq!(
        server.put(&format!("{tag}/taggings/none"), "{}").status,
        404,
        "UND-39"
    );
    assert_eq!(
        server.post("donations", "{}").problems(),
        ["NOT_IMPLEMENTED "],
        "COL-19"
    );
    assert_eq!(
        server.send(&Method::PATCH, &person, "{}").problems(),
        ["NOT_IMPLEMENTED "],
        "ERR-07"
    );
    let server = Server::with(|api| api.patch_method(PatchMethod::AsPut));
    let person = server.made("people", r#"{"given_name":"A","family_name":"B"}"#);
    let changed = server.send(&Method::PATCH, &person, r#"{"given_name":null}"#);
    assert_eq!(
        (changed.status, changed.json.get("given_name")),
        (200, None),
        "CRU-17"
    );
    assert_eq!(changed.json["family_name"], "B", "CRU-15");
}

#[test]
fn cap_06_only_readable_fields_leave_and_only_writable_ones_are_taken() {
    let store = Arc::new(Memory::default());
    let api = builder()
        .resource::<Person, _>(&store, |x| {
            x.list()
                .get()
                .create()
                .update()
                .readable_fields(fields!(person::{ given_name, source }))
                .writable_fields(writable!(person::{ given_name, family_name }))
        })
        .build()
        .unwrap();
    let server = Server { api, store };
    let sent =
        r#"{"given_name":"A","family_name":"B","source":"C","email_addresses":[{"address":5}]}"#;
    let made = server.post("people", sent);
    assert_eq!(
        made.status, 201,
        "CAP-06: a member that is not writable is not validated: {}",
        made.text
    );
    for shown in [
        made.json.clone(),
        server.get("people").json["_embedded"]["svc:people"][0].clone(),
    ] {
        assert_eq!(
            (
                shown["given_name"].as_str(),
                shown.get("family_name"),
                shown.get("source")
            ),
            (Some("A"), None, None)
        );
        assert!(
            shown["identifiers"].is_array() && shown["created_date"].is_string(),
            "TYP-13, TYP-15"
        );
    }
    let changed = server.put(
        made.link("self").unwrap(),
        r#"{"source":"D","given_name":"E"}"#,
    );
    assert_eq!(
        (
            changed.json["given_name"].as_str(),
            changed.json.get("source")
        ),
        (Some("E"), None),
        "CAP-06"
    );
    let document = server.get("docs/capabilities").json;
    let flags = |field: &str| {
        let field = &document["collections"]["people"]["fields"][field];
        (
            field["readable"].as_bool().unwrap(),
            field["writable"].as_bool().unwrap(),
        )
    };
    assert_eq!(
        (flags("given_name"), flags("family_name"), flags("source")),
        ((true, true), (false, true), (true, false))
    );
}

#[test]
fn res_computed_fields_are_ignored_when_sent() {
    let server = Server::with(|api| api);
    let made = server.post(
        "petitions",
        r#"{"total_signatures":"many","share_options":[{"email_share":{"total_shares":[]}}]}"#,
    );
    assert_eq!(
        (made.status, made.json.get("total_signatures")),
        (201, None),
        "CAP-06"
    );
}

#[test]
fn aut_06_anonymous_calls_are_a_switch() {
    let store = Arc::new(Memory::default());
    let signup = Target::Helper {
        helper: HelperName::PersonSignup,
        container: None,
    };
    let petition = RecordAddress::without_parent(Kind::Petition, Id::new("x").unwrap());
    let sign = Target::Helper {
        helper: HelperName::RecordSignature,
        container: Some(petition),
    };
    let api = everything(builder(), &store).build().unwrap();
    let key = |api: &Api, target: &Target| {
        api.operation(&Method::POST, target)
            .map(|offered| offered.key_requirement())
    };
    assert_eq!(
        (key(&api, &sign), key(&api, &signup)),
        (
            Some(KeyRequirement::Optional),
            Some(KeyRequirement::Required)
        ),
        "AUT-06, AUT-07"
    );
    let off = Api::builder(Vendor::new("a", "b"))
        .base_url("http://localhost/")
        .authenticator(Door);
    let off = everything(off, &store).build().unwrap();
    assert_eq!(key(&off, &sign), Some(KeyRequirement::Required), "AUT-06");
}

/// HLP-04: a helper of a store can have one action for each person, and declares it. Other helpers
/// cannot.
#[test]
fn hlp_04_one_action_of_a_person_needs_a_store() {
    let store = svc_store::memory::MemoryStore::new();
    let limited = |api: svc_core::ApiBuilder| {
        api.one_action_per_person::<RecordSignature>()
            .one_action_per_person::<RecordAttendance>()
            .one_action_per_person::<RecordAttendance>()
    };
    let declared = |api: svc_core::ApiBuilder| {
        let api = store.register_all(api).build().unwrap();
        let names = api.behaviours().into_iter();
        names
            .filter(|name| name.ends_with("one_action_per_person"))
            .collect::<Vec<_>>()
    };
    let both = [
        "helper.record_signature.one_action_per_person",
        "helper.record_attendance.one_action_per_person",
    ];
    assert_eq!(declared(limited(builder())), both);
    assert_eq!(declared(builder()), [""; 0]);
    let removed = limited(builder()).without_capability("helper.record_signature");
    assert_eq!(declared(removed), both[1..]);
    let operations = Arc::new(Memory::default());
    let wrong = problems(limited(everything(builder(), &operations)));
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    for (problem, helper) in wrong.iter().zip(["record_signature", "record_attendance"]) {
        assert!(problem.contains(&format!("`{helper}`")), "{problem}");
        assert!(problem.contains("register a store"), "{problem}");
    }
}

#[test]
fn memberships_have_no_update() {
    let api = Server::with(|api| api).api;
    assert_eq!(
        allowed(&api, &record(Kind::Tagging)),
        "GET HEAD DELETE OPTIONS",
        "UND-38"
    );
    assert_eq!(api.record_links(Kind::Tagging), ["person", "tag"], "UND-05");
}

/// ERR-07, HLP-19, UND-31: an inline person needs a helper. If the server does not offer it,
/// nothing is created.
#[test]
fn err_07_an_inline_person_needs_its_helper() {
    let server = Server::with(|api| {
        api.without_capability("helper.person_signup")
            .without_capability("helper.record_signature")
    });
    let petition = server.made("petitions", "{}");
    let person = server.made("people", r#"{"given_name":"Ada"}"#);
    let signatures = format!("{petition}/signatures");
    let inline = r#"{"person": {"given_name": "Ada"}}"#;
    for collection in ["people", &signatures] {
        let before = server.get(collection).json["total_records"].clone();
        let answer = server.post(collection, inline);
        assert_eq!(answer.status, 500, "ERR-07 {}", answer.text);
        assert!(
            answer.text.contains("NOT_IMPLEMENTED"),
            "ERR-07 {}",
            answer.text
        );
        assert_eq!(
            server.get(collection).json["total_records"],
            before,
            "CRU-21 {collection}"
        );
    }
    // A plain create works, and `null` is not a person.
    assert_eq!(
        server
            .post("people", r#"{"person": null, "given_name": "Ada"}"#)
            .status,
        201,
        "UND-22"
    );
    let linked = format!(r#"{{"_links": {{"svc:person": {{"href": "{person}"}}}}}}"#);
    assert_eq!(server.post(&signatures, &linked).status, 201, "CRU-01");
}
