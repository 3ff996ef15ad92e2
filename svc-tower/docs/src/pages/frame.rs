//! The frame around the content of every page: the navigation, and a search over all pages.

use maud::{DOCTYPE, Markup, html};
use svc_core::link::Target;

use super::{
    SEARCH_INDEX,
    site::HtmlRenderer,
    static_files::{Files, StaticFile},
};
use crate::{
    documents::{DocLinkGroup, DocPage, DocSubject},
    media::MediaType,
};

const STYLE: &str = "style.css";
const SEARCH: &str = "search.js";
const ICON: &str = "icon.svg";

/// The files that every page uses.
pub(super) const FILES: &[StaticFile] = &[
    (
        STYLE,
        MediaType::Css,
        concat!(include_str!("style.css"), include_str!("map/map.css")),
    ),
    (ICON, MediaType::Svg, include_str!("explorer/icon.svg")),
    (SEARCH, MediaType::Script, include_str!("search.js")),
];

/// Returns the whole page.
pub(super) fn framed(site: HtmlRenderer<'_>, page: &DocPage, contents: &Markup) -> String {
    let product = site.api.vendor().product_name();
    let is_start = page.subject == DocSubject::Start;
    let title = page.title.replace('`', "");
    let title = if is_start {
        title
    } else {
        format!("{title} – {product}")
    };
    let place = site.docs.place(page);
    let groups = site.docs.navigation(page);
    let group = groups
        .iter()
        .find(|group| group.entries.iter().any(|entry| entry.href == place));
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            (head(&title, STYLE, SEARCH, site.files, |target| site.href(target)))
            body {
                a class="skip" href="#main" { "Skip to the content" }
                header class="top" {
                    nav aria-label="Main" {
                        ul {
                            li { a href=(site.href(&Target::Docs)) aria-current=[is_start.then_some("page")] { "Documentation" } }
                            li { a href=(site.href(&Target::Explorer("".into()))) { "Explorer" } }
                            @for link in site.links { li { a href=(link.href) { (link.title) } } }
                        }
                    }
                    // The search needs scripts; its button is hidden without them.
                    button type="button" id="search" hidden data-index=(site.href(&Target::Explorer(SEARCH_INDEX.into())))
                        data-pages=(site.page("")) aria-keyshortcuts="Control+K /" { "Search " kbd { "Ctrl K" } }
                    button type="button" class="menu" popovertarget="pages" { "Pages" }
                }
                div class="columns" {
                    nav id="pages" popover aria-label="Pages" {
                        button type="button" class="menu" popovertarget="pages" popovertargetaction="hide" { "Close" }
                        @for (number, listed) in groups.iter().enumerate() {
                            (pages(site, listed, &place, group.map_or(number == 0, |group| group.title == listed.title)))
                        }
                    }
                    main id="main" tabindex="-1" {
                        @if let Some(group) = group {
                            nav class="crumbs" aria-label="Breadcrumbs" {
                                ol { li { a href=(site.href(&Target::Docs)) { "Documentation" } } li { (group.title) } }
                            }
                        }
                        (contents)
                    }
                }
                footer { p { "Documentation of " code { (site.base.as_str()) } "." } }
            }
        }
    };
    markup.into_string()
}

/// Returns the head of a page with its style sheet and its script.
pub(super) fn head(
    title: &str,
    style: &str,
    script: &str,
    files: &Files,
    href: impl Fn(&Target) -> String,
) -> Markup {
    let file = |name: &str| href(&files.target(name));
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) }
            link rel="icon" type="image/svg+xml" href=(file(ICON));
            link rel="stylesheet" href=(file(style));
            @for imported in files.imported(script) { link rel="modulepreload" href=(file(imported)); }
            script type="module" src=(file(script)) {}
        }
    }
}

/// Returns a name that may be broken into lines after an underscore.
fn breakable(name: &str) -> Markup {
    html! { @for part in name.split_inclusive('_') { (part) @if part.ends_with('_') { wbr; } } }
}

/// Returns a group of pages in the navigation.
fn pages(site: HtmlRenderer<'_>, group: &DocLinkGroup, place: &str, is_open: bool) -> Markup {
    html! {
        @if !group.entries.is_empty() {
            details open[is_open] {
                summary { (group.title) }
                ul {
                    @for entry in &group.entries {
                        li { a href=(site.local(&entry.href)) aria-current=[(entry.href == place).then_some("page")] { (breakable(&entry.name)) } }
                    }
                }
            }
        }
    }
}
