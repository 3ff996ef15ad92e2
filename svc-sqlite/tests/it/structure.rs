//! The source of this crate decides no rule of the API, and its modules import each other in one direction.

use crate::layers::{Source, circle, flat, rules, sources, uses};

/// What a file may take from `svc_core`: plain data, how a store is asked, and nothing that decides anything. Whatever
/// begins with one of these paths.
const DATA: [&str; 44] = [
    "Revision",
    "Context",
    "Error",
    "ErrorKind",
    "ListRequest",
    "Result",
    "Tenant",
    "api::ApiBuilder",
    "auth",
    "context::Context",
    "error::Error",
    "error::Result",
    "fair_queue",
    "filter",
    "helper::PersonMatching",
    "helper::StockMatching",
    "link::Address",
    "link::Scope",
    "link::ShareNames",
    "mapped",
    "model::Kind",
    "model::PerKind",
    "ops::Bells",
    "ops::ChangedRecord",
    "ops::Changes",
    "ops::ChangesRequest",
    "ops::Dispatch",
    "ops::Feed",
    "ops::Listening",
    "ops::StoredWebhook",
    "ops::WebhookWrite",
    "ops::Webhooks",
    "ops::What",
    "raw::RawPage",
    "raw::RawRecord",
    "record",
    "rules::Repair",
    "rules::decide",
    "schema::Reference",
    "schema::Source",
    "store",
    "value",
    "webhook::MOST_WEBHOOKS",
    "webhook::disable_webhooks",
];

/// Every rule of the interface is in `svc-core`: no file has what a rule needs, and none but those that speak SQL knows one
/// kind from another.
#[test]
fn no_file_decides_a_rule() {
    assert_eq!(rules(&sources(), &DATA), Vec::<String>::new());
}

#[test]
fn no_module_leads_back_to_itself() {
    let sources = sources();
    let uses = uses(&sources);
    assert_eq!(circle(&uses), Vec::<&str>::new());
    assert!(uses["store"].contains("writer") && uses["writer"].contains("batch"), "{uses:?}");
}

#[test]
fn the_checks_can_fail() {
    let rule = Source::new(
        "people.rs",
        "use svc_core::{Error, helper::{PersonMatching, merge}, store::Call};\n\
         fn refuse() -> Error { Error::invalid(Problem::new(Code::NameInUse, \"name\", \"\")) }\n\
         // Kind::Person in a comment\nfn is(kind: Kind) -> bool { kind == Kind::Person }\n",
    );
    let found = rules(&[rule], &DATA);
    let expected = ["svc_core::helper::merge", "Problem", "Code::", "Error::invalid", "knows one kind from another"];
    assert_eq!(found, expected.map(|what| format!("people.rs: {what}")));
    // A file that speaks SQL may name a kind; a whole path in the code counts as an import does.
    let sql = Source::new("fetch.rs", "const A: &str = \"SELECT 1\";\nlet k = Kind::Tag; svc_core::rules::known(k);");
    assert_eq!(rules(&[sql], &DATA), ["fetch.rs: svc_core::rules::known"]);

    let source = |name, text| Source::new(name, text);
    let files = [
        source("a.rs", "use crate::{b::{B, Other}, d};"),
        source("b.rs", "fn f() { crate::c::g() }"),
        source("c/inner.rs", "use super::C;\nuse crate::a::A;"),
        source("d.rs", "use std::fmt;\n#[cfg(test)]\nmod tests { use crate::a::A; }"),
        source("e.rs", "use crate::a;"),
    ];
    assert_eq!(circle(&uses(&files)), ["a", "b", "c", "e"]);
    assert_eq!(circle(&uses(&[source("a.rs", "use crate::d::D;"), source("d.rs", "")])), Vec::<&str>::new());
    assert_eq!(flat("a::{b, c::{d, e as f}, self}; more"), ["a::b", "a::c::d", "a::c::e", "a::self"]);
}
