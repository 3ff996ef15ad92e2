//! The pages as HTML. The template escapes every text.

use maud::{Markup, html};
use svc_core::{error::ErrorCode, link::Target};

use super::{
    compare, map,
    site::{HtmlRenderer, slug},
    text::{Prose, code_block, title},
};
use crate::documents::{
    DocField, DocLink, DocLinkGroup, DocOperation, DocPage, DocRequirement, DocSubject, DocTable,
    ExampleRequest, to_pretty_json,
};

/// Returns the content of a page, without its frame.
pub(super) fn contents(site: HtmlRenderer<'_>, page: &DocPage) -> Markup {
    site.contents(page)
}

/// A section of a page, which the table of contents lists.
struct Section {
    id: String,
    title: &'static str,
    body: Markup,
}

impl Section {
    fn new(title: &'static str, body: Markup) -> Self {
        Self {
            id: slug(title),
            title,
            body,
        }
    }
}

impl HtmlRenderer<'_> {
    fn contents(self, page: &DocPage) -> Markup {
        let is_start = page.subject == DocSubject::Start;
        let sections = self.sections(page);
        html! {
            h1 { (title(&page.title)) }
            p class="summary" { (self.prose(&page.summary)) }
            @for note in &page.notes { p { (self.prose(note)) } }
            @if is_start {
                p { "Try it in the " a href=(self.href(&Target::Explorer("".into()))) { "explorer" } ", which has a form for every request." }
            }
            @if matches!(page.subject, DocSubject::Start | DocSubject::Map) { (map::figure(self.api, &|target| self.href(target), is_start.then(|| self.page("map")))) }
            @if page.subject == DocSubject::Compare { (compare::contents(self.files, &|target| self.href(target))) }
            @if sections.len() > 1 {
                nav class="contents" aria-label="On this page" {
                    ul { @for section in &sections { li { a href={ "#" (section.id) } { (section.title) } } } }
                }
            }
            @for section in &sections {
                section id=(section.id) { h2 { (section.title) } (section.body) }
            }
        }
    }

    /// Returns the sections of a page in their order. The start page and similar pages begin with
    /// links.
    fn sections(self, page: &DocPage) -> Vec<Section> {
        let facts = page
            .tables
            .iter()
            .map(|facts| Section::new(facts.title, self.facts(facts)));
        let lists = page
            .link_groups
            .iter()
            .filter(|list| !list.entries.is_empty());
        let lists = lists.map(|list| Section::new(list.title, self.list(list)));
        let mut own = Vec::new();
        if !page.operations.is_empty() {
            own.push(Section::new("Operations", self.operations(page)));
        }
        if !page.fields.is_empty() {
            own.push(Section {
                id: "fields".to_owned(),
                ..Section::new(page.fields_title, self.fields(page))
            });
        }
        if !page.links.is_empty() {
            own.push(Section::new("Links", self.links(&page.links)));
        }
        if !page.requests.is_empty() {
            own.push(Section::new("Requests", self.requests(&page.requests)));
        }
        if let Some(example) = &page.example {
            own.push(Section::new(
                "Example",
                code_block("Example", "json", &to_pretty_json(example)),
            ));
        }
        match page.subject {
            DocSubject::Start | DocSubject::EntryPoint | DocSubject::Missing => {
                lists.chain(facts).chain(own).collect()
            }
            _ => facts.chain(own).chain(lists).collect(),
        }
    }

    /// Returns prose in which error codes are links to their pages.
    fn prose(self, text: &str) -> Markup {
        Prose(text).linked(&|code| {
            ErrorCode::ALL
                .iter()
                .any(|known| known.as_str() == code)
                .then(|| self.page(code))
        })
    }

    fn operations(self, page: &DocPage) -> Markup {
        let shown = |operation: &DocOperation| {
            let is_it = |request: &&ExampleRequest| {
                request.method == operation.method
                    && request.address == operation.address
                    && request.status < 400
            };
            page.requests
                .iter()
                .find(is_it)
                .map(|request| format!("#{}", slug(&request.title)))
        };
        html! {
            div class="wide" tabindex="0" role="region" aria-label="Operations" {
                table {
                    caption { "Supported operations" }
                    thead { tr { th scope="col" { "Operation" } th scope="col" { "Request" } th scope="col" { "Key" } } }
                    tbody {
                        @for operation in &page.operations {
                            tr {
                                th scope="row" {
                                    @if let Some(sample) = shown(operation) { a href=(sample) { (operation.name) } } @else { (operation.name) }
                                }
                                td { code { (operation.method) " " (self.local(&operation.address)) } }
                                td { (operation.key) }
                            }
                        }
                    }
                }
            }
        }
    }

    fn fields(self, page: &DocPage) -> Markup {
        // The body of a helper is only sent, never read.
        let is_read = page.fields.iter().any(|field| field.readable);
        let about = if is_read {
            "Each field, and whether this server returns and accepts it"
        } else {
            "Each field, and whether this server accepts it"
        };
        html! {
            div class="wide" tabindex="0" role="region" aria-label=(page.fields_title) {
                table class="fields" {
                    caption { (about) }
                    thead {
                        tr {
                            @for head in ["Field", "Type"] { th scope="col" { (head) } }
                            @if is_read { th scope="col" { "Read" } }
                            @for head in ["Write", "Meaning"] { th scope="col" { (head) } }
                        }
                    }
                    tbody { @for field in &page.fields { (self.field(field, is_read)) } }
                }
            }
        }
    }

    fn field(self, field: &DocField, is_read: bool) -> Markup {
        let is_required = field.required && field.writable;
        let write = match field {
            DocField { computed: true, .. } => "by the server",
            DocField {
                writable: false, ..
            } => "no",
            DocField { required: true, .. } => "required",
            _ => "yes",
        };
        html! {
            tr id={ "field-" (field.name) } {
                th scope="row" { code { (field.name) } @if is_required { span class="star" aria-hidden="true" { " *" } } }
                td data-head="Type" {
                    a href=(self.local(&field.type_href)) { (type_text(field)) }
                    @for (place, value) in field.values.iter().enumerate() {
                        @if place == 0 { ": " } @else { ", " }
                        code { (value) }
                    }
                }
                @if is_read { td data-head="Read" { @if field.readable { "yes" } @else { "no" } } }
                td data-head="Write" { (write) @if let Some(default) = &field.default { ", default " (default) } }
                td {
                    (self.prose(&field.text)) (rule(field.rule.as_ref()))
                    @if let Some(example) = &field.example { span class="such" { "for example " code { (example) } } }
                }
            }
        }
    }

    fn links(self, links: &[DocLink]) -> Markup {
        let has_owner = links.iter().any(|link| link.of.is_some());
        html! {
            div class="wide" tabindex="0" role="region" aria-label="Links" {
                table class="links" {
                    caption { "Under " code { "_links" } }
                    thead {
                        tr {
                            th scope="col" { "Relation" }
                            @if has_owner { th scope="col" { "Link of" } }
                            @for head in ["Target", "Set by", "Meaning"] { th scope="col" { (head) } }
                        }
                    }
                    tbody {
                        @for link in links {
                            tr {
                                th scope="row" { (self.entry(&link.relation)) }
                                @if has_owner { td data-head="Link of" { @if let Some(of) = &link.of { (self.entry(of)) } } }
                                td data-head="Target" { (self.entry(&link.target)) }
                                td data-head="Set by" { (link.set_by) }
                                td { (self.prose(&link.text)) (rule(link.rule.as_ref())) }
                            }
                        }
                    }
                }
            }
        }
    }

    fn facts(self, facts: &DocTable) -> Markup {
        html! {
            table class="facts" {
                caption { (facts.title) }
                tbody {
                    @for (name, text) in &facts.rows { tr { th scope="row" { (Prose(name)) } td { (self.prose(text)) } } }
                }
            }
        }
    }

    fn list(self, list: &DocLinkGroup) -> Markup {
        let is_index = list.entries.iter().all(|entry| entry.text.is_empty());
        html! {
            ul class=[is_index.then_some("index")] {
                @for entry in &list.entries {
                    li { (self.entry(entry)) @if !entry.text.is_empty() { ": " (self.prose(&entry.text)) } }
                }
            }
        }
    }
}

/// Returns the requirement of a field or link, as a link to its page.
fn rule(rule: Option<&DocRequirement>) -> Markup {
    html! { @if let Some(rule) = rule { " (" a href=(rule.href) { (rule.id) } ")" } }
}

/// Returns the text of a type; for an object, with the name of its page.
fn type_text(field: &DocField) -> String {
    match field.type_href.rsplit_once("type-") {
        Some((_, object)) if field.type_name.starts_with("object") && object != "map" => {
            field.type_name.replacen("object", object, 1)
        }
        _ => field.type_name.clone(),
    }
}
