//! What a browser shows at the entry point, and where there is nothing.
//!
//! Requirements: ENT-01, UND-35.

use svc_core::{
    link::Target,
    read::{Json, JsonLimits},
};

use super::{
    DocLinkGroup, DocPage, DocPages, DocReference, DocSubject, open, relation::operations_at,
};

/// The entry point for people: `answer` is what programs get there.
pub(super) fn page(docs: &DocPages<'_>, answer: &[u8]) -> DocPage {
    let title = format!("{}: the entry point", docs.api.vendor().product_name());
    let summary =
        "An HTTP interface begins at this address: programs read it and follow its links.";
    let mut page = open("", DocSubject::EntryPoint, title, summary);
    page.notes.push(
        "You see this page because a browser asks for `text/html`. A program that asks for `application/hal+json`, or for \
         nothing in particular, gets the JSON below."
            .to_owned(),
    );
    let mut begin = begin(docs);
    begin
        .entries
        .retain(|entry| entry.href != docs.api.url(docs.base, &Target::EntryPoint));
    page.lists.push(begin);
    page.operations = operations_at(docs, &Target::EntryPoint);
    let answer = Json::read(answer, &JsonLimits::default()).ok();
    page.example = answer;
    page
}

/// An address at which there is nothing.
pub(super) fn missing(docs: &DocPages<'_>, near: Vec<DocReference>) -> DocPage {
    let summary =
        "There is nothing at this address. It may be mistyped, or what was there may be gone.";
    let mut page = open("", DocSubject::Missing, "Nothing here".to_owned(), summary);
    page.notes.push(
        "Addresses of this server are not put together by hand: follow links from the entry point."
            .to_owned(),
    );
    page.lists.push(DocLinkGroup {
        title: "Perhaps you meant",
        entries: near,
    });
    page.lists.push(begin(docs));
    page
}

/// Where people begin.
fn begin(docs: &DocPages<'_>) -> DocLinkGroup {
    let to = |target: &Target, name: &str, text: &str| {
        DocReference::new(docs.api.url(docs.base, target), name).text(text)
    };
    let entries = vec![
        to(
            &Target::Docs,
            "Documentation",
            "what there is, and how to use it",
        ),
        to(
            &Target::Explorer("".into()),
            "Explorer",
            "follows the links, and fills in the forms",
        ),
        to(&Target::EntryPoint, "Entry point", "where programs begin"),
        to(
            &Target::Capabilities,
            "Capabilities",
            "what this server supports, for machines",
        ),
        to(
            &Target::OpenApi,
            "OpenAPI 3.1",
            "every route, method and body",
        ),
    ];
    DocLinkGroup {
        title: "Begin here",
        entries,
    }
}
