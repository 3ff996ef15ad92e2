//! The documents of a service without documentation: the capability document, and a short HAL
//! document at `docs/` and for each relation.

use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{ETAG, IF_NONE_MATCH},
};
use serde_json::{Value, json};
use svc_core::{
    api::{Api, EntityTag, EntityTagCondition, capabilities},
    capability::Declaration,
    helper::HelperName,
    link::Target,
    model::Kind,
};

use crate::documentation::{DocsAnswer, DocsRequest};

/// The relations that no table of `svc-core` describes.
const OTHERS: &[(&str, &str)] = &[
    ("capabilities", "What this server supports."),
    ("changes", "Records that were created, changed and deleted."),
    ("error", "Why a request failed."),
    ("redeliver", "Sends changes to a webhook again."),
    ("rotate_secret", "Gives a webhook a new secret."),
    ("warnings", "Properties of a request that were not used."),
    ("webhooks", "Receivers of messages about changes."),
];

/// Returns the document of a target, or `None` if there is none without documentation.
pub(crate) fn document(request: DocsRequest<'_>, target: &Target) -> Option<DocsAnswer> {
    let api = request.api;
    let text = match target {
        Target::Capabilities => serde_json::to_string(&declaration(request)).ok()?,
        Target::Docs => {
            let title = api.vendor().product_name();
            let summary = "The capability document describes what this server supports.";
            page(request, &Target::Docs, title, summary).to_string()
        }
        Target::DocsPage(name) => {
            let plain = api.dialect().without_prefix(name).unwrap_or(name);
            let target = Target::DocsPage(plain.to_owned().into());
            let title = api.dialect().relation(plain);
            page(request, &target, &title, &summary(api, plain)?).to_string()
        }
        _ => return None,
    };
    Some(answer(request.headers, text))
}

/// Returns the capability document without the addresses of documents that are not there.
fn declaration(request: DocsRequest<'_>) -> Declaration {
    let mut declaration = capabilities(request.api, request.base);
    declaration.openapi = None;
    declaration.schemas.clear();
    declaration
}

fn page(request: DocsRequest<'_>, target: &Target, title: &str, summary: &str) -> Value {
    let link = |target: &Target| json!({ "href": request.api.href(request.base, target) });
    json!({
        "title": title,
        "summary": summary,
        "_links": { "self": link(target), "service-meta": link(&Target::Capabilities) },
    })
}

/// Returns what a relation is, or `None` if the interface has no such relation.
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
        return Some(helper.text().to_owned());
    }
    let link = kinds.find_map(|kind| kind.schema().links.iter().find(|link| link.name == name));
    let other = || OTHERS.iter().find(|(other, _)| *other == name);
    let text = link
        .map(|link| link.doc)
        .or_else(|| other().map(|(_, text)| *text));
    text.map(|text| text.trim().to_owned())
}

/// Returns the answer with a HAL document, or 304 if the client has it.
fn answer(headers: &HeaderMap, text: String) -> DocsAnswer {
    let tag = EntityTag::of(text.as_bytes()).to_header();
    let mut answer = DocsAnswer::new(HeaderValue::from_static("application/hal+json"), text);
    if let Some(tag) = tag {
        let known = EntityTagCondition::of(headers, &IF_NONE_MATCH);
        if known.is_some_and(|known| known.has_like(tag.as_bytes())) {
            answer.status = StatusCode::NOT_MODIFIED;
            answer.body.clear();
        }
        answer.headers.insert(ETAG, tag);
    }
    answer
}
