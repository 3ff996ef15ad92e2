//! What every page has around its contents.

use maud::{DOCTYPE, Markup, html};
use svc_core::link::Target;

use super::{
    files::{self, ICON, STYLE},
    html::Site,
};
use crate::documents::{DocPage, Subject};

/// The whole page.
pub(super) fn framed(site: Site<'_>, page: &DocPage, contents: &Markup) -> String {
    let api = site.api;
    let title = page.title.replace('`', "");
    let is_start = page.subject == Subject::Start;
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) @if !is_start { " – " (api.vendor().product_name()) } }
                link rel="icon" type="image/svg+xml" href=(site.href(&files::target(ICON)));
                link rel="stylesheet" href=(site.href(&files::target(STYLE)));
            }
            body {
                a class="skip" href="#main" { "Skip to the content" }
                header {
                    nav aria-label="Documentation" {
                        ul {
                            li { a href=(site.href(&Target::Docs)) aria-current=[is_start.then_some("page")] { "Documentation" } }
                            li { a href=(site.href(&Target::Explorer("".into()))) { "Explorer" } }
                            li { a href=(site.page("relations")) { "Relations" } }
                            li { a href=(site.page("error")) { "Errors" } }
                        }
                    }
                }
                main id="main" { (contents) }
                footer { p { "Documentation of " code { (site.base.as_str()) } ", generated from the tables that route its requests." } }
            }
        }
    };
    markup.into_string()
}
