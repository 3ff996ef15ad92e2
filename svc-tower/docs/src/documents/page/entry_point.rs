//! The pages of the entry point and of unknown addresses.
//!
//! Requirements: ENT-01, UND-35.

use svc_core::{
    link::Target,
    read::{Json, JsonLimits},
};

use super::{
    DocLinkGroup, DocPage, DocPages, DocReference, DocSubject, open, relation::operations_at,
};

/// Returns the page of the entry point; `answer` is the response that programs get.
pub(super) fn page(docs: &DocPages<'_>, answer: &[u8]) -> DocPage {
    let title = format!("{}: the entry point", docs.api.vendor().product_name());
    let summary = "This is the entry point of the API: programs read it and follow its links.";
    let mut page = open("", DocSubject::EntryPoint, title, summary);
    page.notes.push(
        "You see this page because a browser requests `text/html`. A program that requests `application/hal+json`, or \
         has no preference, gets the JSON below."
            .to_owned(),
    );
    let mut begin = begin(docs);
    begin
        .entries
        .retain(|entry| entry.href != docs.api.url(docs.base, &Target::EntryPoint));
    page.link_groups.push(begin);
    page.operations = operations_at(docs, &Target::EntryPoint);
    let answer = Json::read(answer, &JsonLimits::default()).ok();
    page.example = answer;
    page
}

/// Returns the page of an unknown address.
pub(super) fn missing(docs: &DocPages<'_>, near: Vec<DocReference>) -> DocPage {
    let summary =
        "This URL does not exist. It may be mistyped, or the record may have been deleted.";
    let mut page = open(
        "",
        DocSubject::Missing,
        "Page not found".to_owned(),
        summary,
    );
    page.notes.push(
        "Do not construct URLs of this server yourself. Follow links from the entry point."
            .to_owned(),
    );
    page.link_groups.push(DocLinkGroup {
        title: "Did you mean",
        entries: near,
    });
    page.link_groups.push(begin(docs));
    page
}

/// Returns links to the first pages for people.
fn begin(docs: &DocPages<'_>) -> DocLinkGroup {
    let to = |target: &Target, name: &str, text: &str| {
        DocReference::new(docs.api.url(docs.base, target), name).text(text)
    };
    let entries = vec![
        to(
            &Target::Docs,
            "Documentation",
            "what the API offers, and how to use it",
        ),
        to(
            &Target::Explorer("".into()),
            "Explorer",
            "browse records and send requests, with a form for each",
        ),
        to(
            &Target::EntryPoint,
            "Entry point",
            "the first document of the API",
        ),
        to(
            &Target::Capabilities,
            "Capability document",
            "what this server supports, in machine-readable form",
        ),
        to(
            &Target::OpenApi,
            "OpenAPI 3.1",
            "every route, method and body",
        ),
    ];
    DocLinkGroup {
        title: "Get started",
        entries,
    }
}
