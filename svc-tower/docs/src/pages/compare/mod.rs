//! The page that compares this server with another one. Its scripts compare the capability
//! documents of both.
//!
//! Requirements: CAP-04.

use maud::{Markup, html};
use svc_core::link::Target;

use super::static_files::{Files, StaticFile};
use crate::media::MediaType;

/// The files of the page. They are stored with those of the explorer and use some of them.
pub(super) const FILES: &[StaticFile] = &[
    ("compare.css", MediaType::Css, include_str!("compare.css")),
    ("compare.js", MediaType::Script, include_str!("compare.js")),
    (
        "compare_diff.js",
        MediaType::Script,
        include_str!("compare_diff.js"),
    ),
    (
        "compare_read.js",
        MediaType::Script,
        include_str!("compare_read.js"),
    ),
    (
        "compare_view.js",
        MediaType::Script,
        include_str!("compare_view.js"),
    ),
];

/// Returns the element that the script fills, with the text for browsers without scripts.
pub(super) fn contents(files: &Files, href: &dyn Fn(&Target) -> String) -> Markup {
    let file = |name: &str| href(&files.target(name));
    let capabilities = href(&Target::Capabilities);
    html! {
        link rel="stylesheet" href=(file("compare.css"));
        div id="compare" class="compare" data-capabilities=(capabilities) {
            p { "The comparison needs JavaScript. Without JavaScript, read the " a href=(capabilities) { "capability document" } " of this server." }
        }
        script type="module" src=(file("compare.js")) {}
    }
}
