//! Example requests and answers, generated from the tables: valid on the server that shows them.

use svc_core::{
    api::Api,
    auth::Operation,
    context::BaseUrl,
    error::ErrorCode,
    link::{RecordAddress, Scope, Target},
    model::Kind,
    read::Json,
    value::Id,
};

mod answers;
mod moments;
mod pretty_json;
mod requests;
mod snippet;
mod values;
mod sample_text;

pub use snippet::SnippetLanguage;
pub(super) use values::{of_field, of_object, of_plain};

/// A request that this server takes, and what it answers.
///
/// Ids in it are words such as `PERSON_ID`, which stand for the id of any record of that kind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExampleRequest {
    /// What it does, in a few words.
    pub title: String,
    /// Its method.
    pub method: &'static str,
    /// Its absolute address.
    pub address: String,
    /// The header that carries the key, where it needs one.
    pub key_header: Option<String>,
    /// Its body.
    pub body: Option<Json>,
    /// The status that answers it.
    pub status: u16,
    /// What its query can have: names, and what each means.
    pub parameters: Vec<(String, String)>,
    /// The codes that are about it, when it is refused.
    pub refusals: Vec<ErrorCode>,
    /// Where the explorer does it, where there is one: at its own address, or at the one from which
    /// links lead there.
    pub explorer: Option<String>,
    /// What is answered, as this server would write it; without it the answer is empty, or shown
    /// elsewhere.
    pub answer: Option<Json>,
}

impl ExampleRequest {
    /// What stands for a key in an example.
    pub const KEY: &'static str = "YOUR_KEY";

    /// What stands for the id of any webhook.
    pub const WEBHOOK_ID: &'static str = "WEBHOOK_ID";

    /// What stands for the id of any record of a kind, such as `PERSON_ID`.
    #[must_use]
    pub fn placeholder_id(kind: Kind) -> String {
        format!("{}_ID", kind.singular().to_ascii_uppercase())
    }

    /// Its answer as indented JSON.
    #[must_use]
    pub fn response_text(&self) -> Option<String> {
        self.answer.as_ref().map(pretty_json::pretty)
    }
}

/// JSON for people: indented, with what is short on one line.
#[must_use]
pub fn to_pretty_json(value: &Json) -> String {
    pretty_json::pretty(value)
}

/// Makes the examples of one server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Examples<'a> {
    pub(super) api: &'a Api,
    pub(super) base: &'a BaseUrl,
}

impl Examples<'_> {
    /// Where records of a kind are listed: all of them, else those of the first record that has
    /// some.
    pub(super) fn listed(&self, kind: Kind) -> Option<Target> {
        if self.api.offers(kind, Operation::List) {
            return Some(Target::Collection {
                kind,
                scope: Scope::All,
            });
        }
        let parent = kind
            .schema()
            .scope_kinds()
            .find(|parent| self.api.offers_collection_under(kind, *parent))?;
        Some(Target::Collection {
            kind,
            scope: Scope::Under(record(parent)?),
        })
    }
}

/// A record of a kind whose ids stand for any.
pub(super) fn record(kind: Kind) -> Option<RecordAddress> {
    let own = Id::new(&ExampleRequest::placeholder_id(kind))?;
    Some(match kind.schema().path_parent {
        Some(home) => RecordAddress::with_parent(kind, Id::new(&ExampleRequest::placeholder_id(home))?, own),
        None => RecordAddress::without_parent(kind, own),
    })
}

/// Where records of a kind are created.
pub(super) fn created(kind: Kind) -> Option<Target> {
    let scope = match kind.schema().parent_kind() {
        Some(parent) => Scope::Under(record(parent)?),
        None => Scope::All,
    };
    Some(Target::Collection { kind, scope })
}
