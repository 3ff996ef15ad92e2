//! What this crate is made of, read from its source: short, without a rule of the interface, and without a circle.

use crate::layers::{Source, circle, flat, rules, sources, uses};

/// Lines of this crate without unit tests, at most: 4 250 are the store; 100 tell and read the change feed, 140 are the statements
/// about filters and orders by date, 60 keep the answers of calls that come again, 110 what is to be sent, 90 webhooks, 20 have
/// calls of one request share a sync, 50 have a request look at the file once.
const LINES: usize = 4_850;

/// What a file may take from `svc_core`: plain data, how a store is asked, and nothing that decides anything. Whatever
/// begins with one of these paths.
const DATA: [&str; 40] = [
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
];

/// What a mapped store speaks to the database through, and its lines at most.
const DRIVER: &str = "mapped.rs";
const LINES_OF_DRIVER: usize = 250;

#[test]
fn the_crate_is_small() {
    let sources = sources();
    // The driver of a mapping is no part of the store.
    let lines: usize = sources.iter().filter(|source| source.name != DRIVER).map(|source| source.lines).sum();
    let driver: usize = sources.iter().filter(|source| source.name == DRIVER).map(|source| source.lines).sum();
    assert!((50..=LINES_OF_DRIVER).contains(&driver), "{driver} lines in {DRIVER}");
    println!("{lines} lines in {} files, without unit tests", sources.len());
    assert!(lines > 2_000, "the count is wrong: {lines}");
    assert!(lines <= LINES, "{lines} lines: what another store would write, too, belongs into svc-core");
    for source in &sources {
        assert!(source.lines <= 400, "{}: {} lines", source.name, source.lines);
    }
}

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
    assert_eq!(source("a.rs", "one\ntwo\n#[cfg(test)]\nmod tests;\n").lines, 2);
}
