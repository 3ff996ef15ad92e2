//! The page about filters and orders of collections.
//!
//! Requirements: FLT-01 to FLT-14.

use svc_core::{
    error::ErrorCode,
    filter::{
        FilterField, FilterSource, MAX_DEPTH, MAX_FILTER_BYTES, MAX_KEY_MATCHES, MAX_TEXT,
        MAX_VALUES, Operator,
    },
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
    let kinds = Kind::ALL
        .iter()
        .filter(|kind| !api.filter_fields(**kind).is_empty());
    let is_there = |field: &&FilterField| {
        kinds
            .clone()
            .any(|kind| api.filter_fields(*kind).contains(field))
    };
    let fields = || FilterField::ALL.iter().filter(is_there);
    let has_texts = fields().any(|field| matches!(field.source(), FilterSource::Text { .. }));
    let has_members = fields().any(|field| field.membership().is_some());
    let of_texts = "One comparison of a text is also accepted, such as `family_name sw 'love'`. The collection is then ordered by \
                    the text. A comparison of a text with `eq`, `in` or `sw` can also be combined like one of an identifier: \
                    `family_name eq 'Lovelace' and created_date ge '2026-11-01'`.";
    let of_members = "A filter by the name of a tag or list is not combined with other comparisons. It returns the people in the \
                      order in which they were added. The key needs the permissions to list taggings or items, and to read tags \
                      or lists.";
    let notes = [
        "A comparison is a field, an operator and a value, such as `modified_date gt '2026-11-01T00:00:00Z'`. Put values in \
         single quotes, and double a quote inside a value; a date may be written without quotes. `in` accepts several values \
         in parentheses: `identifiers in ('crm:17', 'crm:18')`.",
        "Combine comparisons with `and` and `or`. `and` binds more tightly; use parentheses to group. Keywords and field names \
         are case-insensitive. Values are case-sensitive, except e-mail addresses and texts. In a URL, write a space as `%20` or `+`.",
        "For a field with several values, such as `identifiers`, `eq` matches if any value is equal, and `ne` matches if none \
         is. A date without a time is the start of that day in UTC.",
        "A filter that would need a scan of all records is rejected. Two forms are accepted: comparisons of one date, joined by \
         `and`, and comparisons of an identifier, e-mail address or name with `eq` or `in`, joined by `or`. Each comparison of \
         the second form can be joined to other comparisons by `and`.",
        if has_texts { of_texts } else { "" },
        if has_members { of_members } else { "" },
        "A collection that is filtered by a date is ordered by that date, and records with the same value by their creation. \
         `total_records` is the number of matching records; pages that are read by `next` repeat the number of the first page. \
         Every link to a page includes the filter and the order.",
        "To read the changes since your last request, use `modified_date gt` with the latest date that you have seen. No \
         record appears later with an earlier date. Deleted records do not appear.",
        "Collections of a record, such as the signatures of a petition, have no filters.",
    ];
    page.notes = notes
        .into_iter()
        .filter(|note| !note.is_empty())
        .map(str::to_owned)
        .collect();
    let names = |kind: Kind| {
        let fields = api
            .filter_fields(kind)
            .iter()
            .map(|field| format!("`{}`", field.as_str()));
        fields.collect::<Vec<_>>().join(", ")
    };
    let rows = kinds
        .clone()
        .map(|kind| (format!("`{}`", kind.plural()), names(*kind)))
        .collect();
    page.tables.push(DocTable {
        title: "Collections",
        rows,
    });
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
        rows: fields().map(about).collect(),
    });
    let meaning = |operator: &Operator| {
        (
            format!("`{}`", operator.as_str()),
            operator.text().to_owned(),
        )
    };
    page.tables.push(DocTable {
        title: "Operators",
        rows: Operator::ALL
            .iter()
            .filter(|operator| fields().any(|field| field.operators().any(|of| of == **operator)))
            .map(meaning)
            .collect(),
    });
    let most = [
        ("Bytes in a filter", MAX_FILTER_BYTES),
        ("Values in a filter", MAX_VALUES),
        ("Levels of nested parentheses", MAX_DEPTH),
        (
            "Records found by the e-mail addresses or texts of combined comparisons",
            MAX_KEY_MATCHES,
        ),
    ];
    let of_texts = has_texts.then_some(("Characters in a text", MAX_TEXT));
    let rows = most
        .into_iter()
        .chain(of_texts)
        .map(|(what, most)| (what.to_owned(), most.to_string()))
        .collect();
    page.tables.push(DocTable {
        title: "Limits",
        rows,
    });
    page.link_groups
        .push(docs.errors(&[ErrorCode::FilterInvalid]));
    let entries: Vec<DocReference> = kinds.map(|kind| docs.relation(kind.plural())).collect();
    page.link_groups.push(DocLinkGroup {
        title: "See also",
        entries,
    });
    page
}
