//! The example requests of a page: each as a text to copy, with its response, its query parameters
//! and its errors.

use maud::{Markup, html};

use super::{
    site::{HtmlRenderer, slug},
    text::{Prose, code_block},
};
use crate::documents::{ExampleRequest, SnippetLanguage};

impl HtmlRenderer<'_> {
    pub(super) fn requests(self, requests: &[ExampleRequest]) -> Markup {
        let has_key = requests.iter().any(|request| request.key_header.is_some());
        let has_id = requests
            .iter()
            .any(|request| request.address.split('/').any(|part| part.ends_with("_ID")));
        html! {
            @if has_key {
                p class="note" {
                    code { (ExampleRequest::KEY) } " is a placeholder for your key"
                    @if has_id { ", and a word such as " code { "PERSON_ID" } " is a placeholder for an id: follow links to get real ones" }
                    "."
                }
            }
            @for request in requests { (self.request(request)) }
        }
    }

    fn request(self, request: &ExampleRequest) -> Markup {
        let title = request.title.replace('`', "");
        html! {
            h3 id=(slug(&request.title)) { (Prose(&request.title)) }
            p {
                code { (request.method) " " (self.local(&request.address)) } " returns " strong class="status" { (request.status) } "."
                @if let Some(explorer) = &request.explorer {
                    " " a class="try" href=(self.local(explorer)) aria-label={ "Try it in the explorer: " (title) } { "Try it" }
                }
            }
            @for (place, language) in SnippetLanguage::ALL.into_iter().enumerate() {
                details open[place == 0] {
                    summary { (language.as_str()) }
                    (code_block(language.as_str(), &language.as_str().to_ascii_lowercase(), &request.snippet(language)))
                }
            }
            @if let Some(answer) = request.response_text() {
                details open { summary { "Response" } (code_block("Response", "json", &answer)) }
            }
            @if !request.parameters.is_empty() {
                details {
                    summary { "Query" }
                    dl { @for (name, text) in &request.parameters { dt { code { (name) } } dd { (Prose(text)) } } }
                }
            }
            @if !request.refusals.is_empty() {
                p class="refusals" {
                    "Errors: "
                    @for (place, code) in request.refusals.iter().enumerate() {
                        @if place > 0 { ", " }
                        a href=(self.page(code.as_str())) { (code.as_str()) }
                    }
                }
            }
        }
    }
}
