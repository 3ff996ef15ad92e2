//! The pages as HTML. The template escapes every text.

use maud::{Markup, html};
use svc_core::{Base, api::Api, link::Target};

use super::{
    frame,
    text::{Prose, code_block, title},
};
use crate::documents::{
    DocField, DocLink, DocOperation, DocPage, DocRule, Entry, ExampleRequest, Facts, Language, Listing, Subject,
    indented,
};

/// A page as HTML.
pub(super) fn page(api: &Api, base: &Base, page: &DocPage) -> String {
    let site = Site { api, base };
    frame::framed(site, page, &site.contents(page))
}

/// Where links lead: within this server without its scheme and host.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) api: &'a Api,
    pub(super) base: &'a Base,
}

impl Site<'_> {
    pub(super) fn href(self, target: &Target) -> String {
        self.local(&self.api.href(self.base, target)).to_owned()
    }

    pub(super) fn page(self, name: &str) -> String {
        self.href(&Target::DocsPage(name.to_owned().into()))
    }

    /// An address of this server as a path.
    pub(super) fn local(self, href: &str) -> &str {
        let host_end = |address: &str| {
            let start = address.find("://")?.checked_add(3)?;
            start.checked_add(address.get(start..)?.find('/')?)
        };
        match host_end(self.base.as_str()) {
            Some(end) if self.base.as_str().get(..end) == href.get(..end) => href.get(end..).unwrap_or(href),
            _ => href,
        }
    }

    fn contents(self, page: &DocPage) -> Markup {
        let is_start = page.subject == Subject::Start;
        // These lead on before they show anything.
        let leads_on = matches!(page.subject, Subject::Start | Subject::EntryPoint | Subject::Missing);
        html! {
            h1 { (title(&page.title)) }
            p class="summary" { (Prose(&page.summary)) }
            @for note in &page.notes { p { (Prose(note)) } }
            @if is_start {
                p { "Try it in the " a href=(self.href(&Target::Explorer("".into()))) { "explorer" } ": it follows the links, and fills in the forms." }
            }
            @if leads_on { @for list in &page.lists { (self.list(list)) } }
            @if !is_start { (facts_tables(&page.facts)) }
            (self.operations(&page.operations))
            (self.fields(page))
            (self.links(&page.links))
            @if !is_start { (self.requests(&page.requests)) }
            @if let Some(example) = &page.example {
                section id="example" { h2 { "Example" } (code_block("An example", "json", &indented(example))) }
            }
            @if !leads_on { @for list in &page.lists { (self.list(list)) } }
            @if is_start { (facts_tables(&page.facts)) (self.requests(&page.requests)) }
        }
    }

    fn requests(self, requests: &[ExampleRequest]) -> Markup {
        let has_key = requests.iter().any(|request| request.key_header.is_some());
        let has_id = requests.iter().any(|request| request.address.split('/').any(|part| part.ends_with("_ID")));
        html! {
            @if !requests.is_empty() {
                section id="requests" {
                    h2 { "Requests" }
                    @if has_key {
                        p class="note" {
                            code { (ExampleRequest::KEY) } " stands for a key"
                            @if has_id { ", and a word such as " code { "PERSON_ID" } " for an id: follow links to real ones" }
                            "."
                        }
                    }
                    @for request in requests { (self.request(request)) }
                }
            }
        }
    }

    fn operations(self, operations: &[DocOperation]) -> Markup {
        html! {
            @if !operations.is_empty() {
                section id="operations" {
                    h2 { "Operations" }
                    div class="wide" tabindex="0" role="region" aria-label="Operations" {
                        table {
                            caption { "What this server does" }
                            thead { tr { th scope="col" { "Operation" } th scope="col" { "Request" } th scope="col" { "Key" } } }
                            tbody {
                                @for operation in operations {
                                    tr {
                                        th scope="row" { (operation.name) }
                                        td { code { (operation.method) " " (self.local(&operation.address)) } }
                                        td { (operation.key) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn fields(self, page: &DocPage) -> Markup {
        // The body of a helper is sent and never read.
        let is_read = page.fields.iter().any(|field| field.readable);
        let about = if is_read {
            "Each field, and whether this server sends and takes it"
        } else {
            "Each field, and whether this server takes it"
        };
        html! {
            @if !page.fields.is_empty() {
                section id="fields" {
                    h2 { (page.fields_title) }
                    div class="wide" tabindex="0" role="region" aria-label=(page.fields_title) {
                        table {
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
        }
    }

    fn field(self, field: &DocField, is_read: bool) -> Markup {
        let write = match field {
            DocField { computed: true, .. } => "by the server",
            DocField { writable: false, .. } => "no",
            DocField { required: true, .. } => "required",
            _ => "yes",
        };
        html! {
            tr {
                th scope="row" { code { (field.name) } }
                td {
                    a href=(self.local(&field.type_href)) { (type_text(field)) }
                    @for (place, value) in field.values.iter().enumerate() {
                        @if place == 0 { ": " } @else { ", " }
                        code { (value) }
                    }
                }
                @if is_read { td { @if field.readable { "yes" } @else { "no" } } }
                td { (write) @if let Some(default) = &field.default { ", else " (default) } }
                td { (Prose(&field.text)) (rule(field.rule.as_ref())) }
            }
        }
    }

    fn links(self, links: &[DocLink]) -> Markup {
        let has_owner = links.iter().any(|link| link.of.is_some());
        html! {
            @if !links.is_empty() {
                section id="links" {
                    h2 { "Links" }
                    div class="wide" tabindex="0" role="region" aria-label="Links" {
                        table {
                            caption { "Under " code { "_links" } }
                            thead {
                                tr {
                                    @if has_owner { th scope="col" { "Link of" } }
                                    @for head in ["Relation", "Leads to", "Set by", "Meaning"] { th scope="col" { (head) } }
                                }
                            }
                            tbody {
                                @for link in links {
                                    tr {
                                        @if has_owner { td { @if let Some(of) = &link.of { (self.entry(of)) } } }
                                        th scope="row" { (self.entry(&link.relation)) }
                                        td { (self.entry(&link.target)) }
                                        td { (link.set_by) }
                                        td { (Prose(&link.text)) (rule(link.rule.as_ref())) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn request(self, request: &ExampleRequest) -> Markup {
        html! {
            h3 { (Prose(&request.title)) }
            p { code { (request.method) " " (self.local(&request.address)) } " is answered with " strong class="status" { (request.status) } "." }
            @for (place, language) in Language::ALL.into_iter().enumerate() {
                details open[place == 0] {
                    summary { (language.as_str()) }
                    (code_block(language.as_str(), &language.as_str().to_ascii_lowercase(), &request.snippet(language)))
                }
            }
            @if let Some(answer) = request.answer_text() {
                details open { summary { "Answer" } (code_block("Answer", "json", &answer)) }
            }
        }
    }

    fn list(self, list: &Listing) -> Markup {
        let id = list.title.to_ascii_lowercase().replace(' ', "-");
        let is_index = list.entries.iter().all(|entry| entry.text.is_empty());
        html! {
            @if !list.entries.is_empty() {
                section id=(id) {
                    h2 { (list.title) }
                    ul class=[is_index.then_some("index")] {
                        @for entry in &list.entries {
                            li { (self.entry(entry)) @if !entry.text.is_empty() { ": " (Prose(&entry.text)) } }
                        }
                    }
                }
            }
        }
    }

    fn entry(self, entry: &Entry) -> Markup {
        html! { a href=(self.local(&entry.href)) rel=[entry.rel.as_deref()] { (entry.name) } }
    }
}

/// The row that a field or link answers, linked to its page.
fn rule(rule: Option<&DocRule>) -> Markup {
    html! { @if let Some(rule) = rule { " (" a href=(rule.href) { (rule.id) } ")" } }
}

/// A type in words; of an object, with the name of its page.
fn type_text(field: &DocField) -> String {
    match field.type_href.rsplit_once("type-") {
        Some((_, object)) if field.type_name.starts_with("object") && object != "map" => {
            field.type_name.replacen("object", object, 1)
        }
        _ => field.type_name.clone(),
    }
}

fn facts_tables(tables: &[Facts]) -> Markup {
    html! {
        @for facts in tables {
            table class="facts" {
                caption { (facts.title) }
                tbody {
                    @for (name, text) in &facts.rows { tr { th scope="row" { (Prose(name)) } td { (Prose(text)) } } }
                }
            }
        }
    }
}
