//! The explorer: its page, and the scripts and styles that fill it. The files are embedded
//! unchanged.

use maud::{DOCTYPE, html};
use svc_core::{BaseUrl, api::Api, link::Target};

use super::{
    frame::head,
    map,
    static_files::{Files, StaticFile},
};
use crate::{documents::forms::ROUTES, media::MediaType};

/// The files of the explorer, without the page.
pub(super) const FILES: &[StaticFile] = &[
    ("explorer.css", MediaType::Css, include_str!("explorer.css")),
    (
        "explorer.js",
        MediaType::Script,
        include_str!("explorer.js"),
    ),
    ("body.js", MediaType::Script, include_str!("body.js")),
    ("columns.js", MediaType::Script, include_str!("columns.js")),
    (
        "declared.js",
        MediaType::Script,
        include_str!("declared.js"),
    ),
    ("dom.js", MediaType::Script, include_str!("dom.js")),
    (
        "exchange.js",
        MediaType::Script,
        include_str!("exchange.js"),
    ),
    (
        "exchanges.js",
        MediaType::Script,
        include_str!("exchanges.js"),
    ),
    ("export.js", MediaType::Script, include_str!("export.js")),
    ("form.js", MediaType::Script, include_str!("form.js")),
    ("frame.js", MediaType::Script, include_str!("frame.js")),
    ("go.js", MediaType::Script, include_str!("go.js")),
    ("guards.js", MediaType::Script, include_str!("guards.js")),
    ("http.js", MediaType::Script, include_str!("http.js")),
    ("journal.js", MediaType::Script, include_str!("journal.js")),
    ("json.js", MediaType::Script, include_str!("json.js")),
    (
        "json_view.js",
        MediaType::Script,
        include_str!("json_view.js"),
    ),
    ("key.js", MediaType::Script, include_str!("key.js")),
    (
        "languages.js",
        MediaType::Script,
        include_str!("languages.js"),
    ),
    (
        "problems.js",
        MediaType::Script,
        include_str!("problems.js"),
    ),
    ("merging.js", MediaType::Script, include_str!("merging.js")),
    ("query.js", MediaType::Script, include_str!("query.js")),
    (
        "resource.js",
        MediaType::Script,
        include_str!("resource.js"),
    ),
    ("sample.js", MediaType::Script, include_str!("sample.js")),
    ("save.js", MediaType::Script, include_str!("save.js")),
    ("server.js", MediaType::Script, include_str!("server.js")),
    ("steps.js", MediaType::Script, include_str!("steps.js")),
    ("table.js", MediaType::Script, include_str!("table.js")),
    ("map.css", MediaType::Css, map::STYLE),
    (
        "picture.js",
        MediaType::Script,
        include_str!("../map/picture.js"),
    ),
    ("map.js", MediaType::Script, include_str!("../map/map.js")),
    (
        "neighbours.js",
        MediaType::Script,
        include_str!("../map/neighbours.js"),
    ),
    (
        "counting.js",
        MediaType::Script,
        include_str!("../map/counting.js"),
    ),
    ("days.js", MediaType::Script, include_str!("../map/days.js")),
    ("values.js", MediaType::Script, include_str!("values.js")),
    ("walk.js", MediaType::Script, include_str!("walk.js")),
    (
        "walk_check.js",
        MediaType::Script,
        include_str!("walk_check.js"),
    ),
    (
        "walk_curl.js",
        MediaType::Script,
        include_str!("walk_curl.js"),
    ),
    (
        "walk_form.js",
        MediaType::Script,
        include_str!("walk_form.js"),
    ),
    (
        "walk_javascript.js",
        MediaType::Script,
        include_str!("walk_javascript.js"),
    ),
    (
        "walk_program.js",
        MediaType::Script,
        include_str!("walk_program.js"),
    ),
    (
        "walk_python.js",
        MediaType::Script,
        include_str!("walk_python.js"),
    ),
    (
        "walk_rust.js",
        MediaType::Script,
        include_str!("walk_rust.js"),
    ),
    (
        "walk_rust_test.js",
        MediaType::Script,
        include_str!("walk_rust_test.js"),
    ),
    ("write.js", MediaType::Script, include_str!("write.js")),
    ("written.js", MediaType::Script, include_str!("written.js")),
];

/// Returns the page. Its attributes contain all data that the script needs.
pub(super) fn page(files: &Files, api: &Api, base: &BaseUrl) -> String {
    let href = |target: &Target| api.url(base, target);
    let title = format!("Explorer – {}", api.vendor().product_name());
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            (head(&title, "explorer.css", "explorer.js", files, href))
            body data-base=(base.as_str()) data-routes=(href(&Target::Form(ROUTES.into()))) data-docs=(href(&Target::Docs))
                data-about-keys=(href(&Target::DocsPage("authentication".into()))) data-pages=(href(&Target::DocsPage("".into())))
                data-capabilities=(href(&Target::Capabilities)) {
                main id="main" { h1 { "Explorer" } p { "The explorer needs JavaScript; the " a href=(href(&Target::Docs)) { "documentation" } " does not." } }
            }
        }
    };
    markup.into_string()
}
