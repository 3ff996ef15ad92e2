//! The documents of a service without documentation: the capability document, and a short HAL
//! document at `docs/` and for each relation.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{ETAG, IF_NONE_MATCH},
};
use serde_json::{Value, json};
use svc_core::{
    BaseUrl,
    api::{Api, EntityTag, EntityTagCondition, capabilities},
    capability::Declaration,
    helper::HelperName,
    link::Target,
    model::Kind,
};

use crate::documentation::{DocsAnswer, DocsRequest};

/// The relations that no table of `svc-core` describes.
const OTHERS: &[(&str, &str)] = &[
    ("capabilities", "The features of this server."),
    ("changes", "Records that were created, changed and deleted."),
    ("duplicates", "People who may be the same person."),
    ("error", "Why a request failed."),
    ("merge", "What a merge of two people changed."),
    ("merge_helper", "Merges another person into a person."),
    ("merged", "The record that a merge has removed."),
    (
        "merged_into",
        "The record that a deleted record was merged into.",
    ),
    ("merges", "The merges of other people into a person."),
    ("redeliver", "Sends changes to a webhook again."),
    ("remaining", "The record that remains after a merge."),
    ("restored", "The person that exists again after an undo."),
    ("rotate_secret", "Replaces the secret of a webhook."),
    ("undo_merge_helper", "Undoes a merge of two people."),
    ("undone_merge", "What was undone of a merge of two people."),
    (
        "warnings",
        "Ignored members of a request, and shared addresses.",
    ),
    (
        "webhooks",
        "Registrations of URLs that receive messages about changes.",
    ),
];

/// The largest total size of cached capability documents, in bytes.
const MAX_CACHED: usize = 1 << 20;

/// A cache of rendered capability documents, one for each base URL.
#[derive(Debug, Default)]
pub(crate) struct CapabilityCache(Mutex<CachedDocuments>);

#[derive(Debug, Default)]
struct CachedDocuments {
    by_base: HashMap<String, Document>,
    bytes: usize,
}

/// A rendered document and its entity tag.
#[derive(Debug, Clone)]
struct Document {
    body: Bytes,
    tag: Option<HeaderValue>,
}

/// Returns the document of a target, or `None` if there is none without documentation.
pub(crate) fn document(
    request: DocsRequest<'_>,
    target: &Target,
    cache: &CapabilityCache,
) -> Option<DocsAnswer> {
    let api = request.api;
    let text = match target {
        Target::Capabilities => {
            let render = || serde_json::to_string(&declaration(request)).ok();
            let document = cache.get_or_render(request.base, render)?;
            return Some(document.answer(request.headers));
        }
        Target::Docs => {
            let title = api.vendor().product_name();
            let summary = "The capability document describes what this server supports.";
            page(request, &Target::Docs, title, summary).to_string()
        }
        Target::DocsPage(name) => {
            let plain = api.dialect().strip_prefix(name).unwrap_or(name);
            let target = Target::DocsPage(plain.to_owned().into());
            let title = api.dialect().relation(plain);
            page(request, &target, &title, &summary(api, plain)?).to_string()
        }
        _ => return None,
    };
    Some(Document::new(text).answer(request.headers))
}

/// Returns the capability document without links to documents that this service does not have.
fn declaration(request: DocsRequest<'_>) -> Declaration {
    let mut declaration = capabilities(request.api, request.base);
    declaration.openapi = None;
    declaration.schemas.clear();
    declaration
}

fn page(request: DocsRequest<'_>, target: &Target, title: &str, summary: &str) -> Value {
    let link = |target: &Target| json!({ "href": request.api.url(request.base, target) });
    json!({
        "title": title,
        "summary": summary,
        "_links": { "self": link(target), "service-meta": link(&Target::Capabilities) },
    })
}

/// Returns a description of a relation, or `None` if the API has no such relation.
fn summary(api: &Api, name: &str) -> Option<String> {
    let mut kinds = Kind::ALL.iter().copied();
    if let Some(kind) = kinds.clone().find(|kind| kind.singular() == name) {
        return Some(kind.schema().doc.trim().to_owned());
    }
    if let Some(kind) = kinds.clone().find(|kind| kind.plural() == name) {
        let member = api.dialect().relation(kind.singular());
        return Some(format!("A collection of `{member}`."));
    }
    if let Some(helper) = HelperName::ALL
        .iter()
        .find(|helper| helper.relation() == name)
    {
        return Some(helper.description().to_owned());
    }
    let link = kinds.find_map(|kind| kind.schema().links.iter().find(|link| link.name == name));
    let other = || OTHERS.iter().find(|(other, _)| *other == name);
    let text = link
        .map(|link| link.doc)
        .or_else(|| other().map(|(_, text)| *text));
    text.map(|text| text.trim().to_owned())
}

impl CapabilityCache {
    /// Returns the document of a base URL. Calls `render` if it is not cached.
    fn get_or_render(
        &self,
        base: &BaseUrl,
        render: impl FnOnce() -> Option<String>,
    ) -> Option<Document> {
        let cached = self.lock(|documents| documents.by_base.get(base.as_str()).cloned());
        if cached.is_some() {
            return cached;
        }
        let document = Document::new(render()?);
        self.lock(|documents| documents.insert(base.as_str(), document.clone()));
        Some(document)
    }

    fn lock<T>(&self, access: impl FnOnce(&mut CachedDocuments) -> T) -> T {
        access(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl CachedDocuments {
    /// Adds a document. If the cache would exceed [`MAX_CACHED`], all other documents are removed
    /// first: proxies can send an unlimited number of base URLs.
    fn insert(&mut self, base: &str, document: Document) {
        let size = document.body.len();
        if self.bytes.saturating_add(size) > MAX_CACHED {
            *self = Self::default();
        }
        self.bytes = self.bytes.saturating_add(size);
        if let Some(replaced) = self.by_base.insert(base.to_owned(), document) {
            self.bytes = self.bytes.saturating_sub(replaced.body.len());
        }
    }
}

impl Document {
    fn new(text: String) -> Self {
        let body = Bytes::from(text);
        let tag = EntityTag::from_bytes(&body).to_header();
        Self { body, tag }
    }

    /// Returns the response with the HAL document, or 304 if the client has it.
    fn answer(self, headers: &HeaderMap) -> DocsAnswer {
        let Self { body, tag } = self;
        let mut answer = DocsAnswer::new(HeaderValue::from_static("application/hal+json"), body);
        if let Some(tag) = tag {
            let known = EntityTagCondition::from_headers(headers, &IF_NONE_MATCH);
            if known.is_some_and(|known| known.matches_weak(tag.as_bytes())) {
                answer.status = StatusCode::NOT_MODIFIED;
                answer.body.clear();
            }
            answer.headers.insert(ETAG, tag);
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(number: usize) -> BaseUrl {
        BaseUrl::new(&format!("https://{number}.example/")).unwrap()
    }

    #[test]
    fn und_40_a_capability_document_is_rendered_once_for_each_base() {
        let (cache, mut rendered) = (CapabilityCache::default(), 0);
        let mut body = |number| {
            let render = || {
                rendered += 1;
                Some(format!("{{\"at\":{number}}}"))
            };
            cache.get_or_render(&base(number), render).unwrap().body
        };
        let (first, other, again) = (body(1), body(2), body(1));
        assert_eq!(first.as_ptr(), again.as_ptr());
        assert_eq!(
            (&first[..], &other[..]),
            (&b"{\"at\":1}"[..], &b"{\"at\":2}"[..])
        );
        assert_eq!(rendered, 2);
    }

    #[test]
    fn und_40_the_cache_of_capability_documents_is_bounded() {
        let (cache, long) = (CapabilityCache::default(), "x".repeat(MAX_CACHED / 10));
        for number in 0..25 {
            cache
                .get_or_render(&base(number), || Some(long.clone()))
                .unwrap();
            cache.lock(|documents| {
                let sizes = documents
                    .by_base
                    .values()
                    .map(|document| document.body.len());
                assert_eq!(documents.bytes, sizes.sum::<usize>());
                assert!(documents.bytes <= MAX_CACHED);
                assert!(
                    documents.by_base.contains_key(base(number).as_str()),
                    "{number}"
                );
            });
        }
    }
}
