//! The pages for programs: HAL documents with the same content.
//!
//! Requirements: ENT-22.

use serde_json::{Map, Value, json};
use svc_core::{link::Target, read::Json};

use super::{DocPage, DocPages, DocReference, DocSubject};
use crate::documents::example::ExampleRequest;

impl DocPages<'_> {
    /// Returns a page as a HAL document. `_links` contains the page itself, the start page, and
    /// each linked page.
    #[must_use]
    pub fn to_hal(&self, page: &DocPage) -> Value {
        let own = match page.subject {
            DocSubject::Start => self.api.url(self.base, &Target::Docs),
            _ => self.href(&page.name),
        };
        let related: Vec<Value> = page
            .link_groups
            .iter()
            .flat_map(|list| &list.entries)
            .map(link)
            .collect();
        let facts: Map<String, Value> = page
            .tables
            .iter()
            .map(|facts| {
                (
                    facts.title.to_owned(),
                    facts
                        .rows
                        .iter()
                        .cloned()
                        .map(|(name, text)| (name, text.into()))
                        .collect::<Map<_, _>>()
                        .into(),
                )
            })
            .collect();
        json!({
            "title": page.title,
            "subject": page.subject,
            "summary": page.summary,
            "notes": page.notes,
            "facts": facts,
            "operations": page.operations,
            "fields": page.fields,
            "links": page.links,
            "requests": page.requests.iter().map(request).collect::<Vec<_>>(),
            "example": page.example.as_ref().map(value),
            "_links": {
                "self": { "href": own },
                "start": { "href": self.api.url(self.base, &Target::Docs) },
                "related": related,
            },
        })
    }
}

fn link(entry: &DocReference) -> Value {
    json!({ "href": entry.href, "title": entry.name })
}

fn request(request: &ExampleRequest) -> Value {
    json!({
        "title": request.title,
        "method": request.method,
        "address": request.address,
        "key_header": request.key_header,
        "body": request.body.as_ref().map(value),
        "status": request.status,
        "parameters": request.parameters.iter().cloned().map(|(name, text)| (name, text.into())).collect::<Map<_, _>>(),
        "errors": request.refusals.iter().map(|code| code.as_str()).collect::<Vec<_>>(),
        "answer": request.answer.as_ref().map(value),
    })
}

fn value(json: &Json) -> Value {
    serde_json::from_slice(&json.to_vec()).unwrap_or_default()
}
