//! The explorer: its page, and the scripts and styles that fill it, embedded as they stand beside
//! this file.

use maud::{DOCTYPE, html};
use svc_core::{Base, api::Api, link::Target};

use super::{
    files::{Files, Source},
    frame::head,
    map,
};
use crate::{documents::forms::ROUTES, media::Media};

/// The files besides the page.
pub(super) const FILES: &[Source] = &[
    ("explorer.css", Media::Css, include_str!("explorer.css")),
    ("explorer.js", Media::Script, include_str!("explorer.js")),
    ("body.js", Media::Script, include_str!("body.js")),
    ("columns.js", Media::Script, include_str!("columns.js")),
    ("declared.js", Media::Script, include_str!("declared.js")),
    ("dom.js", Media::Script, include_str!("dom.js")),
    ("exchange.js", Media::Script, include_str!("exchange.js")),
    ("exchanges.js", Media::Script, include_str!("exchanges.js")),
    ("export.js", Media::Script, include_str!("export.js")),
    ("form.js", Media::Script, include_str!("form.js")),
    ("frame.js", Media::Script, include_str!("frame.js")),
    ("go.js", Media::Script, include_str!("go.js")),
    ("guards.js", Media::Script, include_str!("guards.js")),
    ("http.js", Media::Script, include_str!("http.js")),
    ("journal.js", Media::Script, include_str!("journal.js")),
    ("json.js", Media::Script, include_str!("json.js")),
    ("json_view.js", Media::Script, include_str!("json_view.js")),
    ("key.js", Media::Script, include_str!("key.js")),
    ("languages.js", Media::Script, include_str!("languages.js")),
    ("problems.js", Media::Script, include_str!("problems.js")),
    ("query.js", Media::Script, include_str!("query.js")),
    ("resource.js", Media::Script, include_str!("resource.js")),
    ("sample.js", Media::Script, include_str!("sample.js")),
    ("save.js", Media::Script, include_str!("save.js")),
    ("server.js", Media::Script, include_str!("server.js")),
    ("steps.js", Media::Script, include_str!("steps.js")),
    ("table.js", Media::Script, include_str!("table.js")),
    ("map.css", Media::Css, map::STYLE),
    (
        "picture.js",
        Media::Script,
        include_str!("../map/picture.js"),
    ),
    ("map.js", Media::Script, include_str!("../map/map.js")),
    (
        "neighbours.js",
        Media::Script,
        include_str!("../map/neighbours.js"),
    ),
    (
        "counting.js",
        Media::Script,
        include_str!("../map/counting.js"),
    ),
    ("days.js", Media::Script, include_str!("../map/days.js")),
    ("values.js", Media::Script, include_str!("values.js")),
    ("walk.js", Media::Script, include_str!("walk.js")),
    (
        "walk_check.js",
        Media::Script,
        include_str!("walk_check.js"),
    ),
    ("walk_curl.js", Media::Script, include_str!("walk_curl.js")),
    ("walk_form.js", Media::Script, include_str!("walk_form.js")),
    (
        "walk_javascript.js",
        Media::Script,
        include_str!("walk_javascript.js"),
    ),
    (
        "walk_program.js",
        Media::Script,
        include_str!("walk_program.js"),
    ),
    (
        "walk_python.js",
        Media::Script,
        include_str!("walk_python.js"),
    ),
    ("walk_rust.js", Media::Script, include_str!("walk_rust.js")),
    (
        "walk_rust_test.js",
        Media::Script,
        include_str!("walk_rust_test.js"),
    ),
    ("write.js", Media::Script, include_str!("write.js")),
    ("written.js", Media::Script, include_str!("written.js")),
];

/// The page: all that the script is told stands in attributes.
pub(super) fn page(files: &Files, api: &Api, base: &Base) -> String {
    let href = |target: &Target| api.href(base, target);
    let title = format!("Explorer – {}", api.vendor().product_name());
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            (head(&title, "explorer.css", "explorer.js", files, href))
            body data-base=(base.as_str()) data-routes=(href(&Target::Form(ROUTES.into()))) data-docs=(href(&Target::Docs))
                data-about-keys=(href(&Target::DocsPage("authentication".into()))) data-pages=(href(&Target::DocsPage("".into())))
                data-capabilities=(href(&Target::Capabilities)) {
                main id="main" { h1 { "Explorer" } p { "The explorer needs JavaScript. The " a href=(href(&Target::Docs)) { "documentation" } " does not." } }
            }
        }
    };
    markup.into_string()
}
