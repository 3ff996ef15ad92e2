//! The source of this crate decides no rule of the API, and its modules import each other in one direction.

use crate::layers::{circle, rules, sources, uses};

/// What a file may take from `svc_core`: plain data, how a store is asked, and nothing that decides anything. Whatever begins
/// with one of these paths.
const DATA: [&str; 41] = [
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
    "ops::WebhookWrite",
    "ops::Webhooks",
    "ops::What",
    "raw::RawPage",
    "raw::RawRecord",
    "record",
    "rules::Decision",
    "rules::decide",
    "rules::first_questions",
    "rules::removal",
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
    assert!(uses["store"].contains("turns") && uses["turns"].contains("turn"), "{uses:?}");
}
