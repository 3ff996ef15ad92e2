//! The documentation inside the mount (ENT-22): the pages of `svc_core::export::Docs` as HTML for people and as HAL for
//! machines, and the explorer.

#[cfg(feature = "pages")]
mod accept;
#[cfg(feature = "pages")]
mod explorer;
#[cfg(feature = "pages")]
mod html;

#[cfg(feature = "pages")]
use http::HeaderMap;
use http::{
    HeaderValue,
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

impl<'a> Pages<'a> {
    /// The answer to a target of the documentation; `None` for any other, and for a page that there is not.
    pub(crate) fn answer(self, target: &Target) -> Option<Answer> {
        match target {
            Target::Docs => Some(self.page(&self.docs().start())),
            #[cfg(feature = "pages")]
            Target::DocsPage(name) if name == STYLE => {
                Some(Answer::page(Media::Css, include_str!("style.css").to_owned()))
            }
            Target::DocsPage(name) => Some(self.page(&self.docs().page(name)?)),
            #[cfg(feature = "pages")]
            Target::Explorer(file) => explorer::file(self.api, self.base, file),
            _ => None,
        }
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
            return Answer::page(Media::Html, html::page(self.api, self.base, page));
        }
        Answer::page(Media::Hal, self.docs().machine_form(page).to_string())
    }
}
