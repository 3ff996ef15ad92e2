//! The explorer: a page, its script and its style, embedded as they stand beside this file.

use maud::{DOCTYPE, html};
use svc_core::{Base, api::Api, link::Target};

use super::{compare, map};
use crate::response::{Answer, Media};

/// The files besides the page.
const FILES: &[(&str, Media, &str)] = &[
    ("explorer.css", Media::Css, include_str!("explorer.css")),
    ("explorer.js", Media::Script, include_str!("explorer.js")),
    ("dom.js", Media::Script, include_str!("dom.js")),
    ("form.js", Media::Script, include_str!("form.js")),
    ("guards.js", Media::Script, include_str!("guards.js")),
    ("http.js", Media::Script, include_str!("http.js")),
    ("query.js", Media::Script, include_str!("query.js")),
    ("view.js", Media::Script, include_str!("view.js")),
    ("map.css", Media::Css, map::STYLE),
    ("picture.js", Media::Script, include_str!("../map/picture.js")),
    ("map.js", Media::Script, include_str!("../map/map.js")),
    ("neighbours.js", Media::Script, include_str!("../map/neighbours.js")),
    ("days.js", Media::Script, include_str!("../map/days.js")),
    ("icon.svg", Media::Svg, include_str!("icon.svg")),
];

/// The page of the explorer, or one of its files.
pub(super) fn file(api: &Api, base: &Base, name: &str) -> Option<Answer> {
    if name.is_empty() {
        return Some(Answer::page(Media::App, page(api, base)));
    }
    if name == "map.svg" {
        return Some(Answer::page(Media::Svg, map::file(api, &|target| api.href(base, target))));
    }
    let (_, media, text) = FILES.iter().chain(compare::FILES).find(|(known, ..)| *known == name)?;
    Some(Answer::page(*media, (*text).to_owned()))
}

/// The page: all that the script is told stands in attributes.
fn page(api: &Api, base: &Base) -> String {
    let href = |target: &Target| api.href(base, target);
    let file = |name: &'static str| href(&Target::Explorer(name.into()));
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
            body data-base=(base.as_str()) data-capabilities=(href(&Target::Capabilities)) data-docs=(href(&Target::Docs))
                data-about-keys=(href(&Target::DocsPage("authentication".into()))) {
                main id="main" { h1 { "Explorer" } p { "The explorer needs JavaScript. The " a href=(href(&Target::Docs)) { "documentation" } " does not." } }
            }
        }
    };
    markup.into_string()
}
