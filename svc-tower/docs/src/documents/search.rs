//! The search index: every page with its names, fields and text, generated from the same tables as
//! the pages.

use serde_json::{Value, json};

use super::page::{DocPage, DocPages, DocSubject};

/// Returns every page as `[name, title, subject, summary, [fields], more text]`.
pub(crate) fn index(docs: &DocPages<'_>) -> Value {
    let names = docs.names();
    let pages = names.iter().filter_map(|name| docs.page(name));
    pages.map(|page| entry(&page)).collect()
}

fn entry(page: &DocPage) -> Value {
    // The fields of a page of records are the same for every kind.
    let fields: Vec<&str> = match page.subject {
        DocSubject::Collection => Vec::new(),
        _ => page
            .fields
            .iter()
            .map(|field| field.name.as_str())
            .collect(),
    };
    let values = page
        .fields
        .iter()
        .flat_map(|field| field.values.iter().map(String::as_str));
    let facts = page.tables.iter().flat_map(|facts| {
        facts
            .rows
            .iter()
            .flat_map(|(name, text)| [name.as_str(), text])
    });
    let text: Vec<&str> = page
        .notes
        .iter()
        .map(String::as_str)
        .chain(facts)
        .chain(values)
        .collect();
    json!([
        page.name,
        page.title.replace('`', ""),
        sort_of(page.subject),
        page.summary,
        fields,
        text.join(" ")
    ])
}

/// Returns the subject of a page as a short label.
fn sort_of(subject: DocSubject) -> &'static str {
    match subject {
        DocSubject::Resource => "Resource",
        DocSubject::Collection => "Collection",
        DocSubject::Helper => "Helper",
        DocSubject::Link => "Link",
        DocSubject::Function => "Action function",
        DocSubject::ErrorCode => "Error",
        DocSubject::Type => "Type",
        _ => "Guide",
    }
}
