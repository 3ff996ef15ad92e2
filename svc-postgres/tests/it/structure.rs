//! What this crate is made of, read from its source: short, without a rule of the interface, and without a circle.

use crate::layers::{circle, rules, sources, uses};

/// Lines of code of this crate, at most: without unit tests, comments and blank lines. 3 500 are the store; 160 tell and read
/// the change feed, 160 are the statements about filters and orders by date, 60 keep the answers of calls that come again,
/// 80 what is to be sent, 110 webhooks, 20 let old changes go.
const LINES: usize = 4_100;

/// What a file may take from `svc_core`: plain data, how a store is asked, and nothing that decides anything. Whatever begins
/// with one of these paths.
const DATA: [&str; 37] = [
    "Revision",
    "Context",
    "Error",
    "ListRequest",
    "Result",
    "Tenant",
    "api::ApiBuilder",
    "auth",
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
    "rules::Decision",
    "rules::decide",
    "rules::first_questions",
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
    let lines: usize = sources.iter().filter(|source| source.name != DRIVER).map(|source| source.code).sum();
    let driver: usize = sources.iter().filter(|source| source.name == DRIVER).map(|source| source.code).sum();
    assert!((50..=LINES_OF_DRIVER).contains(&driver), "{driver} lines in {DRIVER}");
    println!("{lines} lines of code in {} files", sources.len());
    assert!(lines > 2_000, "the count is wrong: {lines}");
    assert!(lines <= LINES, "{lines} lines of code: what another store would write, too, belongs into svc-core");
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
    assert!(uses["store"].contains("turns") && uses["turns"].contains("turn"), "{uses:?}");
}
