//! The targets of the links in pages.

use maud::{Markup, html};
use svc_core::{BaseUrl, api::Api, link::Target};

use super::{PageLink, static_files::Files};
use crate::documents::{DocPages, DocReference};

/// Links are relative to this server, without scheme and host.
#[derive(Debug, Clone, Copy)]
pub(super) struct HtmlRenderer<'a> {
    pub(super) docs: DocPages<'a>,
    pub(super) api: &'a Api,
    pub(super) base: &'a BaseUrl,
    pub(super) files: &'a Files,
    pub(super) links: &'a [PageLink],
}

impl HtmlRenderer<'_> {
    pub(super) fn href(self, target: &Target) -> String {
        self.local(&self.api.url(self.base, target)).to_owned()
    }

    pub(super) fn page(self, name: &str) -> String {
        self.href(&Target::DocsPage(name.to_owned().into()))
    }

    /// Returns an address of this server as a path.
    pub(super) fn local(self, href: &str) -> &str {
        let host_end = |address: &str| {
            let start = address.find("://")?.checked_add(3)?;
            start.checked_add(address.get(start..)?.find('/')?)
        };
        match host_end(self.base.as_str()) {
            Some(end) if self.base.as_str().get(..end) == href.get(..end) => {
                href.get(end..).unwrap_or(href)
            }
            _ => href,
        }
    }

    pub(super) fn entry(self, entry: &DocReference) -> Markup {
        html! { a href=(self.local(&entry.href)) rel=[entry.rel.as_deref()] { (entry.name) } }
    }
}

/// Returns a title as the id of a section.
pub(super) fn slug(title: &str) -> String {
    let letters = title.chars().filter(|letter| *letter != '`');
    letters
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect()
}
