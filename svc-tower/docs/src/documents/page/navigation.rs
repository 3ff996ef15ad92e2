//! The navigation next to each page.

use svc_core::{error::ErrorCode, model::Kind, value::ClosedEnum};

use super::{DocLinkGroup, DocPage, DocPages, DocReference, DocSubject, topics, types};
use crate::documents::graph::in_words;

/// Returns the pages that people search for, in groups.
pub(super) fn groups(docs: &DocPages<'_>, page: &DocPage) -> Vec<DocLinkGroup> {
    let api = docs.api;
    let called = |name: &str, words: &str| DocReference {
        name: in_words(words),
        ..docs.entry(name)
    };
    let guides = topics::every_request(docs)
        .into_iter()
        .map(|entry| DocReference {
            text: String::new(),
            ..entry
        });
    let kinds = Kind::ALL.iter().filter(|kind| api.shows_kind(**kind));
    let helpers = api
        .helpers()
        .map(|helper| called(helper.relation(), helper.as_str()));
    let functions = api
        .action_functions()
        .iter()
        .map(|function| docs.entry(function.as_str()));
    let errors = ErrorCode::ALL.iter().map(|code| docs.entry(code.as_str()));
    let mut groups = vec![
        ("Guides", guides.collect::<Vec<_>>()),
        (
            "Resources",
            kinds
                .map(|kind| called(kind.singular(), kind.singular()))
                .collect(),
        ),
        ("Helpers", helpers.collect()),
        ("Action functions", functions.collect()),
        ("Errors", errors.collect()),
    ];
    // A page of a type also links to the other types. The guides have a list of them.
    if page.subject == DocSubject::Type {
        groups.push((
            "Types",
            types::lists(docs)
                .into_iter()
                .flat_map(|list| list.entries)
                .collect(),
        ));
    }
    groups
        .into_iter()
        .map(|(title, entries)| DocLinkGroup { title, entries })
        .collect()
}

/// Returns the page that represents a page in the navigation. A collection is represented by its
/// kind.
pub(super) fn place(docs: &DocPages<'_>, page: &DocPage) -> String {
    let kind = Kind::ALL
        .iter()
        .find(|kind| page.subject == DocSubject::Collection && kind.plural() == page.name);
    docs.href(kind.map_or(&page.name, |kind| kind.singular()))
}
