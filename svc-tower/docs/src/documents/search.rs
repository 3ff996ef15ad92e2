//! What is searched: every page with its names, fields and text, from the same tables as the pages
//! (point 2 of the pages).

use serde_json::{Value, json};

use super::page::{DocPage, DocPages, DocSubject};

/// Every page as `[name, title, what it is, summary, [its fields], more text]`.
pub(crate) fn index(docs: &DocPages<'_>) -> Value {
    let names = docs.names();
    let pages = names.iter().filter_map(|name| docs.page(name));
    pages.map(|page| entry(&page)).collect()
}

fn entry(page: &DocPage) -> Value {
    // The fields of a page of records are the same everywhere.
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

/// What a page is about, in a word.
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
