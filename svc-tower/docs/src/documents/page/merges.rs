//! The pages of merges of two people.
//!
//! Requirements: MRG-01 to MRG-21.

use svc_core::{error::ErrorCode, link::Target, model::Kind, value::Id};

use super::{DocLinkGroup, DocPage, DocPages, DocSubject, DocTable, open, relation::operations_at};
use crate::documents::example::{ExampleRequest, record};

/// The relation of the operation, without prefix.
pub(super) const MERGE_HELPER: &str = "merge_helper";
/// That relation, and those of its response.
pub(super) const NAMES: [&str; 8] = [
    MERGE_HELPER,
    "merge",
    "remaining",
    "merged",
    MERGES,
    UNDO,
    "undone_merge",
    "restored",
];
/// The relation of the merges into a person.
const MERGES: &str = "merges";
/// The relation of the URL that undoes a merge.
const UNDO: &str = "undo_merge_helper";

/// Returns the page of one of these; `None` for another name.
pub(super) fn page(docs: &DocPages<'_>, name: &str) -> Option<DocPage> {
    let (api, name) = (docs.api, NAMES.into_iter().find(|known| *known == name)?);
    let summary = match name {
        MERGE_HELPER => "Merges another person into the person that has this link.",
        "merge" => "What a merge of two people changed.",
        "remaining" => "The record that remains after a merge of two people.",
        MERGES => "The newest 100 merges of other people into a person.",
        UNDO => "Undoes a merge of two people.",
        "undone_merge" => "What was undone of a merge of two people.",
        "restored" => "The person that exists again after a merge was undone.",
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
    let is_of_undo = [MERGES, UNDO, "undone_merge", "restored"].contains(&name);
    if is_of_undo && api.undo_period().is_none() {
        let text = "Merges cannot be undone on this server.".to_owned();
        page.notes.push(text);
        return Some(page);
    }
    match name {
        MERGE_HELPER => helper(docs, &mut page),
        "merge" => response(docs, &mut page),
        MERGES => list(docs, &mut page),
        UNDO => undo(docs, &mut page),
        "undone_merge" => undone(&mut page),
        _ => {}
    }
    if name != MERGE_HELPER {
        let see = if is_of_undo && name != UNDO {
            UNDO
        } else {
            MERGE_HELPER
        };
        page.link_groups.push(DocLinkGroup {
            title: "See",
            entries: vec![docs.relation(see)],
        });
    }
    Some(page)
}

fn helper(docs: &DocPages<'_>, page: &mut DocPage) {
    let person = record(Kind::Person).map(Target::Merge);
    page.operations = person.map_or_else(Vec::new, |target| operations_at(docs, &target));
    let batch = record(Kind::Person).map(Target::MergeBatch);
    let batch = batch.map_or_else(Vec::new, |target| operations_at(docs, &target));
    let is_batched = !batch.is_empty();
    page.operations.extend(batch);
    let previews = docs.api.previews_merges();
    let forwards = docs.api.forwards_merged_people();
    let notes = [
        (
            true,
            "A key needs the right `people.merge`; only such a key gets the link. The person in the address remains.",
        ),
        (
            previews,
            "Send `preview: true` first: the response shows the result, and nothing is changed.",
        ),
        (
            true,
            "The remaining person keeps its values, and gets those that it does not have. Lists such as e-mail addresses contain the entries \
         of both people. An address has the stricter status of the two people.",
        ),
        (
            true,
            "Actions, taggings and list items of the merged person move to the remaining one. If both people have the same tag or are \
         on the same list, the older record remains.",
        ),
        (
            forwards,
            "The address of the merged person then finds the remaining one: reads get 301, changes get 410 with a link. \
         As a link in a body, it means the remaining person.",
        ),
        (
            forwards,
            "A repeated merge changes nothing: `already` is true.",
        ),
        (
            !forwards,
            "The address of the merged person then finds nothing.",
        ),
        (is_batched, BATCH),
    ];
    let notes = notes.iter().filter(|(is_shown, _)| *is_shown);
    page.notes = notes.map(|(_, note)| (*note).to_owned()).collect();
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
    ];
    if previews {
        members.push(("preview", "`true`: nothing is changed"));
    }
    if docs.api.if_match_policy().is_some() {
        let text = "the `ETag` of the person to merge, as `If-Match` is that of the remaining one";
        members.insert(1, ("merged_etag", text));
    }
    page.tables.push(DocTable::of_names("Body", members));
    page.requests = docs.examples().of_merges();
    let mut entries = vec![
        docs.relation(Kind::Person.singular()),
        docs.relation("merge"),
    ];
    if docs.api.undo_period().is_some() {
        entries.push(docs.relation(UNDO));
    }
    entries.extend(is_batched.then(|| docs.entry("batch")));
    page.link_groups.push(DocLinkGroup {
        title: "See also",
        entries,
    });
    page.link_groups.push(docs.errors(&[
        ErrorCode::PersonMerged,
        ErrorCode::MergeSamePerson,
        ErrorCode::MergeConflict,
        ErrorCode::MergeTooLarge,
        ErrorCode::PersonNotFound,
    ]));
}

/// The note about batches.
const BATCH: &str = "`batch` accepts many merges into this person in one request, each executed on its own. With `If-Match`, each \
     merge requires the person as the merge before it left it.";

/// The note about what a key sees in a response.
const VISIBLE: &str = "A key sees values only with the right to read people, and records only with the right to read their kind.";

fn response(docs: &DocPages<'_>, page: &mut DocPage) {
    page.notes.push(VISIBLE.to_owned());
    let mut members = vec![
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
    if docs.api.undo_period().is_some() {
        let text = "until when the merge can be undone; missing for a preview and a repeated merge";
        members.push(("undo_until", text));
    }
    page.tables.push(DocTable::of_names("Members", members));
}

fn list(docs: &DocPages<'_>, page: &mut DocPage) {
    let person = record(Kind::Person).map(Target::PersonMerges);
    page.operations = person.map_or_else(Vec::new, |target| operations_at(docs, &target));
    page.notes = [
        "A key needs the right `people.merge`; only such a key gets the link. The list has no pages.",
        "The server deletes a merge from the list when the remaining person is deleted, or when the merge was undone.",
    ]
    .map(str::to_owned)
    .into();
    let undo = docs.api.dialect().relation(UNDO);
    let members = [
        ("created_date", "when the people were merged".to_owned()),
        (
            "created_by",
            "the name of the API key that merged them; `null` for a key without a name".to_owned(),
        ),
        (
            "undo_until",
            "until when the merge can be undone".to_owned(),
        ),
        (
            "_links",
            format!(
                "the former URL of the merged person, and `{undo}` if the merge can be undone now"
            ),
        ),
    ];
    page.tables.push(DocTable::of_names("Members", members));
    page.requests = docs.examples().of_merge_list().into_iter().collect();
    page.link_groups
        .push(docs.errors(&[ErrorCode::PersonMerged]));
}

fn undo(docs: &DocPages<'_>, page: &mut DocPage) {
    let merge = Id::new(ExampleRequest::MERGE_ID);
    let target = record(Kind::Person).zip(merge);
    let target = target.map(|(person, merge)| Target::UndoMerge(person, merge));
    page.operations = target.map_or_else(Vec::new, |target| operations_at(docs, &target));
    page.notes = [
        "The response to a merge has this link, and so does each entry of the list of merges that can be undone. A key needs the \
         right `people.merge`. Send an empty object, or no body.",
        "The merged person exists again at its former URL, with its id, fields, identifiers and records. Properties of the \
         remaining person and records that were changed after the merge stay as they are.",
        "If a consent was changed after the merge, both people get the stricter of the value before the merge and the current value.",
        "Of several merges into one person, the latest is undone first.",
    ]
    .map(str::to_owned)
    .into();
    if let Some(period) = docs.api.undo_period() {
        let text = match period.as_secs() / (24 * 60 * 60) {
            0 => "A merge can be undone for less than a day.".to_owned(),
            1 => "A merge can be undone for one day.".to_owned(),
            days => format!("A merge can be undone for {days} days."),
        };
        page.notes.push(text);
    }
    page.requests = docs.examples().of_undo().into_iter().collect();
    page.link_groups.push(DocLinkGroup {
        title: "See also",
        entries: [MERGES, "undone_merge"]
            .map(|name| docs.relation(name))
            .into(),
    });
    page.link_groups.push(docs.errors(&[
        ErrorCode::MergeNotUndoable,
        ErrorCode::PersonMerged,
        ErrorCode::ResourceNotFound,
    ]));
}

fn undone(page: &mut DocPage) {
    page.notes.push(VISIBLE.to_owned());
    let members = [
        (
            "moved",
            "the number of records of each collection that belong to the restored person again",
        ),
        (
            "folded",
            "pairs of records that both exist again, with links to the one that remained and to the other one",
        ),
        (
            "left",
            "the properties of the remaining person that were changed after the merge, and stay as they are",
        ),
        ("_links", "the URL of the restored person"),
    ];
    page.tables.push(DocTable::of_names("Members", members));
}
