//! What lies below `docs/` inside the mount (ENT-22, UND-40): the [documents](crate::documents), the pages of the
//! documentation as HTML for people and as HAL for machines, and the explorer.

#[cfg(feature = "pages")]
mod accept;
#[cfg(feature = "pages")]
mod compare;
#[cfg(feature = "pages")]
mod explorer;
#[cfg(feature = "pages")]
mod html;
#[cfg(feature = "pages")]
mod map;

use http::{
    HeaderMap, HeaderValue,
    header::{ACCEPT, VARY},
};
use svc_core::{Base, api::Api, link::Target};

use crate::{
    documents::{self, DocPage, Docs},
    kept::{Kept, unless_known},
    response::{Answer, Media},
};

/// The name of the style sheet among the pages; no relation has it.
#[cfg(feature = "pages")]
const STYLE: &str = "style";

/// What a request for a document is answered from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pages<'a> {
    pub(crate) api: &'a Api,
    pub(crate) base: &'a Base,
    pub(crate) body_limit: usize,
    /// The headers of the request: `Accept` decides between HTML and HAL, `If-None-Match` whether a document is sent.
    pub(crate) headers: &'a HeaderMap,
    pub(crate) kept: &'a Kept,
}

impl<'a> Pages<'a> {
    /// The answer to a target that is a document; `None` for one that there is not.
    pub(crate) fn answer(self, target: &Target) -> Option<Answer> {
        match target {
            Target::Capabilities => {
                self.once(target, Media::Hal, || text(&documents::capabilities(self.api, self.base)))
            }
            #[cfg(feature = "openapi")]
            Target::OpenApi => self.once(target, Media::Json, || text(&documents::openapi(self.api, self.base))),
            #[cfg(feature = "openapi")]
            Target::JsonSchema(name) => {
                self.once(target, Media::Json, || text(&documents::json_schema(self.api, self.base, name)?))
            }
            _ => Some(unless_known(self.anew(target)?, self.headers)),
        }
    }

    /// What is made for each request that asks for it.
    fn anew(self, target: &Target) -> Option<Answer> {
        match target {
            Target::Docs => Some(self.page(&self.docs().start())),
            #[cfg(feature = "pages")]
            Target::DocsPage(name) if name == STYLE => {
                Some(Answer::page(Media::Css, [include_str!("style.css"), map::STYLE].concat()))
            }
            Target::DocsPage(name) => Some(self.page(&self.docs().page(name)?)),
            #[cfg(feature = "pages")]
            Target::Explorer(file) => explorer::file(self.api, self.base, file),
            _ => None,
        }
    }

    /// A document that is the same for everybody who calls the server by this address.
    fn once(self, target: &Target, media: Media, make: impl FnOnce() -> Option<String>) -> Option<Answer> {
        self.kept.answer(self.api.href(self.base, target), media, self.headers, make)
    }

    fn docs(self) -> Docs<'a> {
        Docs::new(self.api, self.base, self.body_limit)
    }

    fn page(self, page: &DocPage) -> Answer {
        let mut answer = self.in_form(page);
        answer.more.append(VARY, HeaderValue::from_name(ACCEPT));
        answer
    }

    fn in_form(self, page: &DocPage) -> Answer {
        #[cfg(feature = "pages")]
        if !accept::wants_machine_form(self.headers) {
            // Its scripts are this server's.
            let media = if page.subject == documents::Subject::Compare { Media::App } else { Media::Html };
            return Answer::page(media, html::page(self.api, self.base, page));
        }
        Answer::page(Media::Hal, self.docs().machine_form(page).to_string())
    }
}

/// A document of names, texts and flags has nothing that cannot be written.
fn text(document: &impl serde::Serialize) -> Option<String> {
    serde_json::to_string(document).ok()
}
