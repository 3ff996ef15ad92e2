//! Example requests and responses, generated from the schema. They are valid on the server that
//! shows them.

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
mod sample_text;
mod snippet;
mod values;

pub use snippet::SnippetLanguage;
pub(super) use values::{of_field, of_object, of_plain};

/// A request that this server accepts, with its response.
///
/// Ids in it are placeholders such as `PERSON_ID`, for the id of any record of that kind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExampleRequest {
    /// A short title.
    pub title: String,
    /// The method.
    pub method: &'static str,
    /// The absolute address.
    pub address: String,
    /// The header for the key, if the request needs one.
    pub key_header: Option<String>,
    /// The body.
    pub body: Option<Json>,
    /// The status of the response.
    pub status: u16,
    /// The query parameters: their names, each with its meaning.
    pub parameters: Vec<(String, String)>,
    /// The error codes that are specific to the request.
    pub refusals: Vec<ErrorCode>,
    /// The address in the explorer where the request can be sent, if there is one. For an address
    /// with ids, it is the address of a page with links to it.
    pub explorer: Option<String>,
    /// The body of the response, as this server writes it; `None` if it is empty or shown
    /// elsewhere.
    pub answer: Option<Json>,
}

impl ExampleRequest {
    /// The placeholder for a key.
    pub const KEY: &'static str = "YOUR_KEY";

    /// The placeholder for the id of a webhook.
    pub const WEBHOOK_ID: &'static str = "WEBHOOK_ID";
    /// The id of the person to merge in the paths of example requests.
    pub const MERGED_PERSON_ID: &'static str = "MERGED_PERSON_ID";
    /// The placeholder for the id of a merge.
    pub const MERGE_ID: &'static str = "MERGE_ID";

    /// Returns the placeholder for the id of a record of a kind, such as `PERSON_ID`.
    #[must_use]
    pub fn placeholder_id(kind: Kind) -> String {
        format!("{}_ID", kind.singular().to_ascii_uppercase())
    }

    /// Returns the response as indented JSON.
    #[must_use]
    pub fn response_text(&self) -> Option<String> {
        self.answer.as_ref().map(pretty_json::pretty)
    }
}

/// Returns indented JSON for people, with short values on one line.
#[must_use]
pub fn to_pretty_json(value: &Json) -> String {
    pretty_json::pretty(value)
}

/// Creates the examples of a server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Examples<'a> {
    pub(super) api: &'a Api,
    pub(super) base: &'a BaseUrl,
}

impl Examples<'_> {
    /// Returns the collection that lists records of a kind: all of them, or else those of the first
    /// record that has some.
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

/// Returns a record of a kind, with placeholders as ids.
pub(super) fn record(kind: Kind) -> Option<RecordAddress> {
    let own = Id::new(&ExampleRequest::placeholder_id(kind))?;
    Some(match kind.schema().path_parent {
        Some(home) => {
            RecordAddress::with_parent(kind, Id::new(&ExampleRequest::placeholder_id(home))?, own)
        }
        None => RecordAddress::without_parent(kind, own),
    })
}

/// Returns the collection in which records of a kind are created.
pub(super) fn created(kind: Kind) -> Option<Target> {
    let scope = match kind.schema().parent_kind() {
        Some(parent) => Scope::Under(record(parent)?),
        None => Scope::All,
    };
    Some(Target::Collection { kind, scope })
}
