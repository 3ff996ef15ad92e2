//! The explorer: a page, its script and its style, embedded as they stand beside this file.

use maud::{DOCTYPE, html};
use svc_core::{Base, api::Api, link::Target};

use super::files::{self, Source};
use crate::{documents::forms::ROUTES, response::Media};

/// The files besides the page.
pub(super) const FILES: &[Source] = &[
    ("explorer.css", Media::Css, include_str!("explorer.css")),
    ("explorer.js", Media::Script, include_str!("explorer.js")),
    ("dom.js", Media::Script, include_str!("dom.js")),
    ("form.js", Media::Script, include_str!("form.js")),
    ("guards.js", Media::Script, include_str!("guards.js")),
    ("http.js", Media::Script, include_str!("http.js")),
    ("routes.js", Media::Script, include_str!("routes.js")),
    ("query.js", Media::Script, include_str!("query.js")),
    ("view.js", Media::Script, include_str!("view.js")),
];

/// The page: all that the script is told stands in attributes.
pub(super) fn page(api: &Api, base: &Base) -> String {
    let href = |target: &Target| api.href(base, target);
    let file = |name: &str| href(&files::target(name));
    let title = format!("Explorer – {}", api.vendor().product_name());
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" type="image/svg+xml" href=(file("icon.svg"));
                link rel="stylesheet" href=(file("explorer.css"));
                script type="module" src=(file("explorer.js")) {}
            }
            body data-base=(base.as_str()) data-routes=(href(&Target::Form(ROUTES.into()))) data-docs=(href(&Target::Docs))
                data-about-keys=(href(&Target::DocsPage("authentication".into()))) {
                main id="main" { h1 { "Explorer" } p { "The explorer needs JavaScript. The " a href=(href(&Target::Docs)) { "documentation" } " does not." } }
            }
        }
    };
    markup.into_string()
}
