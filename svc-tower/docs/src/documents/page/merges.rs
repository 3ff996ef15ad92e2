//! The pages of merges of two people.
//!
//! Requirements: MRG-01 to MRG-18.

use svc_core::{error::ErrorCode, link::Target, model::Kind};

use super::{DocLinkGroup, DocPage, DocPages, DocSubject, DocTable, open, relation::operations_at};
use crate::documents::example::record;

/// The relation of the operation, without prefix.
pub(super) const MERGE_HELPER: &str = "merge_helper";
/// That relation, and those of its response.
pub(super) const NAMES: [&str; 4] = [MERGE_HELPER, "merge", "remaining", "merged"];

/// Returns the page of one of these; `None` for another name.
pub(super) fn page(docs: &DocPages<'_>, name: &str) -> Option<DocPage> {
    let (api, name) = (docs.api, NAMES.into_iter().find(|known| *known == name)?);
    let summary = match name {
        MERGE_HELPER => "Merges another person into the person that has this link.",
        "merge" => "What a merge of two people changed.",
        "remaining" => "The record that remains after a merge of two people.",
        _ => "The record that a merge of two people has removed.",
    };
    let mut page = open(
        name,
        DocSubject::Link,
        api.dialect().relation(name),
        summary,
    );
    if !api.merges_people() {
        page.notes
            .push("This server does not merge people.".to_owned());
        return Some(page);
    }
    match name {
        MERGE_HELPER => helper(docs, &mut page),
        "merge" => response(&mut page),
        _ => {}
    }
    if name != MERGE_HELPER {
        page.link_groups.push(DocLinkGroup {
            title: "See",
            entries: vec![docs.relation(MERGE_HELPER)],
        });
    }
    Some(page)
}

fn helper(docs: &DocPages<'_>, page: &mut DocPage) {
    let person = record(Kind::Person).map(Target::Merge);
    page.operations = person.map_or_else(Vec::new, |target| operations_at(docs, &target));
    page.notes = [
        "A key needs the right `people.merge`; only such a key gets the link. The person in the address remains.",
        "Send `preview: true` first: the response shows the result, and nothing is changed.",
        "The remaining person keeps its values, and gets those that it does not have. Lists such as e-mail addresses contain the entries \
         of both people. An address has the stricter status of the two people.",
        "Actions, taggings and list items of the merged person move to the remaining one. If both people have the same tag or are \
         on the same list, the older record remains.",
        "The address of the merged person then finds the remaining one: reads get 301, changes get 410 with a link. \
         As a link in a body, it means the remaining person.",
        "A repeated merge changes nothing: `already` is true.",
    ]
    .map(str::to_owned)
    .into();
    let mut members = vec![
        (
            "_links",
            "required: the link `person` to the person to merge",
        ),
        (
            "person",
            "fields of the remaining person to set after the merge; needs the right `people.update`",
        ),
        (
            "consent",
            "`each`, or `strictest`: if one address of either person is unsubscribed or has complained, every subscribed one becomes unsubscribed",
        ),
        ("preview", "`true`: nothing is changed"),
    ];
    if docs.api.if_match_policy().is_some() {
        let text = "the `ETag` of the person to merge, as `If-Match` is that of the remaining one";
        members.insert(1, ("merged_etag", text));
    }
    page.tables.push(DocTable::of_names("Body", members));
    page.requests = docs.examples().of_merges();
    page.link_groups.push(DocLinkGroup {
        title: "See also",
        entries: vec![
            docs.relation(Kind::Person.singular()),
            docs.relation("merge"),
        ],
    });
    page.link_groups.push(docs.errors(&[
        ErrorCode::PersonMerged,
        ErrorCode::MergeSamePerson,
        ErrorCode::MergeConflict,
        ErrorCode::MergeTooLarge,
        ErrorCode::PersonNotFound,
    ]));
}

fn response(page: &mut DocPage) {
    page.notes.push(
        "A key sees values only with the right to read people, and records only with the right to read their kind.".to_owned(),
    );
    let members = [
        (
            "preview",
            "whether nothing was changed, because the request was a preview",
        ),
        (
            "already",
            "whether the person was already merged into this one",
        ),
        (
            "moved",
            "the number of records of each collection that now belong to the remaining person",
        ),
        (
            "folded",
            "pairs of records of which a container has only one for each person, with links to the one that remains and to the deleted one",
        ),
        (
            "overruled",
            "values of the merged person that the remaining one does not have, by their `property`",
        ),
        (
            "tightened",
            "statuses and `do_not_call` values that are stricter now, by their `property`",
        ),
    ];
    page.tables.push(DocTable::of_names("Members", members));
}
