//! The documentation inside the mount (ENT-22): the pages of `svc_core::export::Docs` as HTML for people and as HAL for
//! machines, and the explorer.

#[cfg(feature = "pages")]
mod accept;
#[cfg(feature = "pages")]
mod explorer;
#[cfg(feature = "pages")]
mod html;

#[cfg(feature = "pages")]
use http::{
    HeaderMap, HeaderValue,
    header::{ACCEPT, VARY},
};
use svc_core::{
    Base,
    api::Api,
    export::{DocPage, Docs},
    link::Target,
};

use crate::response::{Answer, Media};

/// The name of the style sheet among the pages; no relation has it.
#[cfg(feature = "pages")]
const STYLE: &str = "style";

/// What a request for a page is answered from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pages<'a> {
    pub(crate) api: &'a Api,
    pub(crate) base: &'a Base,
    pub(crate) body_limit: usize,
    /// The headers of the request: `Accept` decides between HTML and HAL.
    #[cfg(feature = "pages")]
    pub(crate) headers: &'a HeaderMap,
}

impl Pages<'_> {
    /// The answer to a target of the documentation; `None` for any other, and for a page that there is not.
    pub(crate) fn answer(self, target: &Target) -> Option<Answer> {
        let docs = Docs::new(self.api, self.base, self.body_limit);
        match target {
            Target::Docs => Some(self.page(docs, &docs.start())),
            #[cfg(feature = "pages")]
            Target::DocsPage(name) if name == STYLE => {
                Some(Answer::page(Media::Css, include_str!("style.css").to_owned()))
            }
            Target::DocsPage(name) => Some(self.page(docs, &docs.page(name)?)),
            #[cfg(feature = "pages")]
            Target::Explorer(file) => explorer::file(self.api, self.base, file),
            _ => None,
        }
    }

    #[cfg(feature = "pages")]
    fn page(self, docs: Docs<'_>, page: &DocPage) -> Answer {
        let mut answer = if accept::wants_machine_form(self.headers) {
            Answer::page(Media::Hal, docs.machine_form(page).to_string())
        } else {
            Answer::page(Media::Html, html::page(self.api, self.base, page))
        };
        answer.headers.append(VARY, HeaderValue::from_name(ACCEPT));
        answer
    }

    #[cfg(not(feature = "pages"))]
    fn page(self, docs: Docs<'_>, page: &DocPage) -> Answer {
        Answer::page(Media::Hal, docs.machine_form(page).to_string())
    }
}
