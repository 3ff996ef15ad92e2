//! The page about filters and orders of collections.
//!
//! Requirements: FLT-01 to FLT-12.

use svc_core::{
    error::ErrorCode,
    filter::{DEEPEST, FilterField, LONGEST, MOST_FOUND, MOST_VALUES, Operator},
    model::Kind,
};

use super::{DocLinkGroup, DocPage, DocPages, DocReference, DocTable, topic};

pub(super) fn page(docs: &DocPages<'_>) -> DocPage {
    let api = docs.api;
    if !api.has_filters() {
        let text = "This server filters and orders no collection: `filter` and `order` are parameters that it does not know.";
        return topic("filters", "Filters", text);
    }
    let text = "`?filter=...` shows the records of a collection that fit, `?order=...` orders them by a date.";
    let mut page = topic("filters", "Filters", text);
    page.notes = [
        "A comparison is a field, an operator and a value, such as `modified_date gt '2026-11-01T00:00:00Z'`. Values stand in \
         single quotes, a quote inside is doubled; a date may stand without quotes. `in` takes several values in parentheses: \
         `identifiers in ('crm:17', 'crm:18')`.",
        "Comparisons are joined by `and` and `or`, `and` first; parentheses join otherwise. Case does not matter but in values. \
         In an address, a space is `%20` or `+`.",
        "A field with several values, such as `identifiers`, has each of them: `eq` asks whether it has the value, `ne` whether \
         it has not. A date without a time is the first moment of that day in UTC.",
        "Nothing is answered that would need a look at every record. Possible are comparisons of one date joined by `and`, and \
         an identifier, e-mail address or name by `eq` or `in` in each alternative of `or`, with any other comparison joined \
         to it by `and`.",
        "A collection that is filtered by a date is ordered by it, records of one moment by their creation. `total_records` \
         counts the records that fit; the pages behind `next` keep the count of the first. Every link to a page keeps filter \
         and order.",
        "To read what was changed since the last time: `modified_date gt` the latest date that was seen. No record ever appears \
         later with an earlier date. What was deleted does not appear.",
        "The collections below a record, such as the signatures of a petition, have no filters.",
    ]
    .map(str::to_owned)
    .into();
    let names = |kind: Kind| {
        let fields = api
            .filter_fields(kind)
            .iter()
            .map(|field| format!("`{}`", field.as_str()));
        fields.collect::<Vec<_>>().join(", ")
    };
    let kinds = Kind::ALL
        .iter()
        .filter(|kind| !api.filter_fields(**kind).is_empty());
    let rows = kinds
        .clone()
        .map(|kind| (format!("`{}`", kind.plural()), names(*kind)))
        .collect();
    page.facts.push(DocTable {
        title: "Collections",
        rows,
    });
    let is_there = |field: &&FilterField| {
        kinds
            .clone()
            .any(|kind| api.filter_fields(*kind).contains(field))
    };
    let about = |field: &FilterField| {
        let operators: Vec<String> = field
            .operators()
            .map(|operator| format!("`{}`", operator.as_str()))
            .collect();
        (
            format!("`{}`", field.as_str()),
            format!(
                "{} By {}: `{}`.",
                field.text(),
                operators.join(", "),
                field.example()
            ),
        )
    };
    page.facts.push(DocTable {
        title: "Fields",
        rows: FilterField::ALL
            .iter()
            .filter(is_there)
            .map(about)
            .collect(),
    });
    let meaning = |operator: &Operator| {
        (
            format!("`{}`", operator.as_str()),
            operator.text().to_owned(),
        )
    };
    page.facts.push(DocTable {
        title: "Operators",
        rows: Operator::ALL.iter().map(meaning).collect(),
    });
    let most = [
        ("Bytes of a filter", LONGEST),
        ("Values of a filter", MOST_VALUES),
        ("Parentheses within each other", DEEPEST),
        ("Records that its e-mail addresses lead to", MOST_FOUND),
    ];
    let rows = most
        .map(|(what, most)| (what.to_owned(), most.to_string()))
        .into();
    page.facts.push(DocTable {
        title: "At most",
        rows,
    });
    page.lists.push(DocLinkGroup {
        title: "How it fails",
        entries: vec![docs.entry(ErrorCode::FilterInvalid.as_str())],
    });
    let entries: Vec<DocReference> = kinds.map(|kind| docs.relation(kind.plural())).collect();
    page.lists.push(DocLinkGroup {
        title: "See also",
        entries,
    });
    page
}
