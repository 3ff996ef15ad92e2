//! The page about filters and orders of collections.
//!
//! Requirements: FLT-01 to FLT-13.

use svc_core::{
    error::ErrorCode,
    filter::{FilterField, MAX_DEPTH, MAX_FILTER_BYTES, MAX_KEY_MATCHES, MAX_VALUES, Operator},
    model::Kind,
};

use super::{DocLinkGroup, DocPage, DocPages, DocReference, DocTable, topic};

pub(super) fn page(docs: &DocPages<'_>) -> DocPage {
    let api = docs.api;
    if !api.has_filters() {
        let text = "This server does not filter or order collections: `filter` and `order` are unknown parameters.";
        return topic("filters", "Filters", text);
    }
    let text = "`?filter=...` selects records of a collection, `?order=...` orders them by a date.";
    let mut page = topic("filters", "Filters", text);
    page.notes = [
        "A comparison is a field, an operator and a value, such as `modified_date gt '2026-11-01T00:00:00Z'`. Put values in \
         single quotes, and double a quote inside a value; a date may be written without quotes. `in` accepts several values \
         in parentheses: `identifiers in ('crm:17', 'crm:18')`.",
        "Combine comparisons with `and` and `or`. `and` binds more tightly; use parentheses to group. Keywords and field names \
         are case-insensitive; values are not. In a URL, write a space as `%20` or `+`.",
        "For a field with several values, such as `identifiers`, `eq` matches if any value is equal, and `ne` matches if none \
         is. A date without a time is the start of that day in UTC.",
        "A filter that would need a scan of all records is rejected. Two forms can be combined. The first is comparisons of one \
         date, combined by `and`. The second compares an identifier, e-mail address or name with `eq` or `in`, on each side \
         of an `or` if there is one; you can combine such a comparison with any other one by `and`.",
        "A filter by the name of a tag or of another container is not combined with other comparisons. It returns the records in \
         the order in which they were added to the container.",
        "A collection that is filtered by a date is ordered by that date, and records with the same date by their creation. \
         `total_records` is the number of matching records; pages that are read by `next` repeat the number of the first page. \
         Every link to a page includes the filter and the order.",
        "To read the changes since your last request, use `modified_date gt` with the latest date that you have seen. No \
         record appears later with an earlier date. Deleted records do not appear.",
        "Collections of a record, such as the signatures of a petition, have no filters.",
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
    page.tables.push(DocTable {
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
    page.tables.push(DocTable {
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
    page.tables.push(DocTable {
        title: "Operators",
        rows: Operator::ALL.iter().map(meaning).collect(),
    });
    let most = [
        ("Bytes in a filter", MAX_FILTER_BYTES),
        ("Values in a filter", MAX_VALUES),
        ("Levels of nested parentheses", MAX_DEPTH),
        ("Records found by its e-mail addresses", MAX_KEY_MATCHES),
    ];
    let rows = most
        .map(|(what, most)| (what.to_owned(), most.to_string()))
        .into();
    page.tables.push(DocTable {
        title: "Limits",
        rows,
    });
    page.link_groups.push(DocLinkGroup {
        title: "Errors",
        entries: vec![docs.entry(ErrorCode::FilterInvalid.as_str())],
    });
    let entries: Vec<DocReference> = kinds.map(|kind| docs.relation(kind.plural())).collect();
    page.link_groups.push(DocLinkGroup {
        title: "See also",
        entries,
    });
    page
}
