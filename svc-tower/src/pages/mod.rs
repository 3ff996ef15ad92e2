//! What lies below `docs/` inside the mount (ENT-22, UND-40): the [documents](crate::documents), the pages of the
//! documentation as HTML for people and as HAL for machines, and the explorer.

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
use svc_core::{Base, api::Api, link::Target};

use crate::{
    documents::{self, DocPage, Docs},
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
    /// The headers of the request: `Accept` decides between HTML and HAL.
    #[cfg(feature = "pages")]
    pub(crate) headers: &'a HeaderMap,
}

impl<'a> Pages<'a> {
    /// The answer to a target that is a document; `None` for one that there is not.
    pub(crate) fn answer(self, target: &Target) -> Option<Answer> {
        match target {
            Target::Capabilities => Some(json(&documents::capabilities(self.api, self.base))),
            #[cfg(feature = "openapi")]
            Target::OpenApi => Some(json(&documents::openapi(self.api, self.base))),
            #[cfg(feature = "openapi")]
            Target::JsonSchema(name) => documents::json_schema(self.api, self.base, name).map(|schema| json(&schema)),
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

/// A document of names, texts and flags has nothing that cannot be written.
fn json(document: &impl serde::Serialize) -> Answer {
    Answer::page(Media::Json, serde_json::to_string(document).unwrap_or_default())
}
