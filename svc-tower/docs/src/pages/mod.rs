//! The HTML pages of the documentation, the explorer, and the files of both.
//!
//! Requirements: ENT-22.

mod compare;
mod explorer;
mod frame;
mod html;
mod map;
mod negotiate;
mod not_found;
mod requests;
mod site;
mod static_files;
mod text;

use svc_core::{BaseUrl, api::Api, link::Target};

pub(crate) use self::{
    negotiate::{wants_hal, wants_html},
    static_files::RequestedFile,
};
use self::{site::HtmlRenderer, static_files::Files};
use crate::documents::{DocPage, DocPages};

/// The name of the search index, among the files of the pages.
pub(crate) const SEARCH_INDEX: &str = "search.json";

/// The name of the map for scripts, among the files of the pages.
pub(crate) const MAP: &str = "map.svg";

/// The files of the pages, of the explorer and of the comparison.
static FILES: Files = Files::new(&[frame::FILES, explorer::FILES, compare::FILES]);

/// A link at the top of each page.
#[derive(Debug)]
pub(crate) struct PageLink {
    pub(crate) title: String,
    pub(crate) href: String,
}

/// Returns a page as HTML.
pub(crate) fn html(
    docs: DocPages<'_>,
    api: &Api,
    base: &BaseUrl,
    links: &[PageLink],
    page: &DocPage,
) -> String {
    let site = HtmlRenderer {
        docs,
        api,
        base,
        files: &FILES,
        links,
    };
    frame::framed(site, page, &html::contents(site, page))
}

/// Returns the HTML page of an unknown address, with links to similar names.
pub(crate) fn missing(
    docs: DocPages<'_>,
    api: &Api,
    base: &BaseUrl,
    links: &[PageLink],
    path: &str,
) -> String {
    html(docs, api, base, links, &not_found::page(&docs, path))
}

/// Returns the page of the explorer.
pub(crate) fn explorer(api: &Api, base: &BaseUrl) -> String {
    explorer::page(&FILES, api, base)
}

/// Returns the map as SVG.
pub(crate) fn map(api: &Api, base: &BaseUrl) -> String {
    map::file(api, &|target: &Target| api.url(base, target))
}

/// Returns the file of this name, with its version or without.
pub(crate) fn file(name: &str) -> Option<RequestedFile> {
    FILES.find(name)
}
