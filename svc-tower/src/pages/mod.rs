//! What lies below `docs/` inside the mount (ENT-22, UND-40): the [documents](crate::documents),
//! the pages of the documentation as HTML for people and as HAL for machines, and the explorer. A
//! browser gets pages also at the entry point, and where there is nothing.

#[cfg(feature = "pages")]
mod accept;
#[cfg(feature = "pages")]
mod compare;
#[cfg(feature = "pages")]
mod explorer;
#[cfg(feature = "pages")]
mod files;
#[cfg(feature = "pages")]
mod frame;
#[cfg(feature = "pages")]
mod html;
#[cfg(feature = "pages")]
mod map;
#[cfg(feature = "pages")]
mod missing;
#[cfg(feature = "pages")]
mod requests;
#[cfg(feature = "pages")]
mod text;

use http::{HeaderMap, header::ACCEPT};
use svc_core::{Base, api::Api, link::Target};

use crate::{
    documents::{self, DocPage, Docs},
    kept::Kept,
    response::{Answer, Media},
};

/// The name of what is searched, among the files of the pages.
#[cfg(feature = "pages")]
const SEARCH_INDEX: &str = "search.json";

/// The name of the map by itself, among the files of the pages: scripts show it.
#[cfg(feature = "pages")]
const MAP: &str = "map.svg";

/// What a request for a document is answered from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pages<'a> {
    pub(crate) api: &'a Api,
    pub(crate) base: &'a Base,
    pub(crate) body_limit: usize,
    pub(crate) anonymous_body_limit: usize,
    /// The headers of the request: `Accept` decides between HTML and HAL, `If-None-Match` whether a
    /// document is sent, `Accept-Encoding` in which form.
    pub(crate) headers: &'a HeaderMap,
    pub(crate) kept: &'a Kept,
}

impl<'a> Pages<'a> {
    /// The answer to a target that is a document; `None` for one that there is not.
    pub(crate) fn answer(self, target: &Target) -> Option<Answer> {
        match target {
            Target::Capabilities => self.once(target, Media::Hal, || {
                text(&documents::capabilities(self.api, self.base))
            }),
            #[cfg(feature = "openapi")]
            Target::OpenApi => self.once(target, Media::Json, || {
                text(&documents::openapi(self.api, self.base))
            }),
            #[cfg(feature = "openapi")]
            Target::JsonSchema(name) => self.once(target, Media::Json, || {
                text(&documents::json_schema(self.api, self.base, name)?)
            }),
            Target::Docs => self.page(target, || Some(self.docs().start())),
            Target::DocsPage(name) => {
                // With and without the prefix it is one page.
                let plain = self.api.dialect().without_prefix(name).unwrap_or(name);
                self.page(&Target::DocsPage(plain.to_owned().into()), || {
                    self.docs().page(plain)
                })
            }
            #[cfg(feature = "pages")]
            Target::Form(name) => self.once(target, Media::Json, || {
                text(&documents::forms::form(self.api, self.base, name)?)
            }),
            #[cfg(feature = "pages")]
            Target::Explorer(name) if name.is_empty() => self.once(target, Media::App, || {
                Some(explorer::page(self.api, self.base))
            }),
            #[cfg(feature = "pages")]
            Target::Explorer(name) if name == MAP => {
                let map = || map::file(self.api, &|target| self.api.href(self.base, target));
                self.once(target, Media::Svg, || Some(map()))
            }
            #[cfg(feature = "pages")]
            Target::Explorer(name) if name == SEARCH_INDEX => {
                self.once(target, Media::Json, || {
                    text(&documents::search::index(&self.docs()))
                })
            }
            #[cfg(feature = "pages")]
            Target::Explorer(name) => {
                let file = files::find(name)?;
                let mut answer = self.once(&file.place(), file.media, || Some(file.contents()))?;
                answer.is_lasting = file.is_version;
                Some(answer)
            }
            _ => None,
        }
    }

    /// A document that is the same for everybody who calls the server by this address.
    fn once(
        self,
        target: &Target,
        media: Media,
        make: impl FnOnce() -> Option<String>,
    ) -> Option<Answer> {
        self.kept
            .answer(self.api.href(self.base, target), media, self.headers, make)
    }

    fn docs(self) -> Docs<'a> {
        Docs::new(self.api, self.base, self.body_limit)
            .anonymous_body_limit(self.anonymous_body_limit)
    }

    /// A page in the form that is asked for.
    fn page(self, target: &Target, page: impl FnOnce() -> Option<DocPage>) -> Option<Answer> {
        Some(self.in_form(target, page)?.varying_by(ACCEPT))
    }

    fn in_form(self, target: &Target, page: impl FnOnce() -> Option<DocPage>) -> Option<Answer> {
        #[cfg(feature = "pages")]
        if !accept::wants_machine_form(self.headers) {
            return self.html(target, page);
        }
        self.once(target, Media::Hal, || {
            Some(self.docs().machine_form(&page()?).to_string())
        })
    }
}

#[cfg(feature = "pages")]
impl Pages<'_> {
    /// A page as HTML, which is kept beside the document of the same address.
    fn html(self, target: &Target, page: impl FnOnce() -> Option<DocPage>) -> Option<Answer> {
        let make = || Some(html::page(self.docs(), self.api, self.base, &page()?));
        self.kept
            .answer(self.place_of_html(target), Media::Html, self.headers, make)
    }

    fn place_of_html(self, target: &Target) -> String {
        format!("{}#html", self.api.href(self.base, target))
    }

    /// The entry point for people as it was made before; `None` where it has to be made.
    pub(crate) fn known_entry_point(self) -> Option<Answer> {
        let place = self.place_of_html(&Target::EntryPoint);
        self.kept.known(&place, Media::Html, self.headers)
    }

    /// The entry point for people: `entry_point` is what programs get there.
    pub(crate) fn entry_point(self, entry_point: &[u8]) -> Answer {
        let page = html::page(
            self.docs(),
            self.api,
            self.base,
            &self.docs().entry_point(entry_point),
        );
        self.kept.make(
            self.place_of_html(&Target::EntryPoint),
            Media::Html,
            self.headers,
            page,
        )
    }

    /// Whether HTML is asked for rather than what programs get.
    pub(crate) fn wants_html(self) -> bool {
        accept::wants_html(self.headers)
    }

    /// The page of an address at which there is nothing, which leads to what was perhaps meant.
    pub(crate) fn missing(self, path: &str) -> Answer {
        let page = missing::page(&self.docs(), path);
        Answer::missing(html::page(self.docs(), self.api, self.base, &page))
    }
}

/// A document of names, texts and flags has nothing that cannot be written.
fn text(document: &impl serde::Serialize) -> Option<String> {
    serde_json::to_string(document).ok()
}
