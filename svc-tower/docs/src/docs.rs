//! The documentation as a service answers with it.

use std::fmt::Write as _;

use http::{
    Method, StatusCode,
    header::{ACCEPT, VARY},
};
use svc_core::{api::Request, auth::Identity, link::Target};
use svc_tower::{DocsAnswer, DocsFuture, DocsRequest, Documentation};

use crate::{
    documents::{self, DocPage, DocPages},
    document_cache::DocumentCache,
    media::MediaType,
    pages::{self, MAP, SEARCH_INDEX},
};

/// The documentation for a service: [`with_docs`](svc_tower::SvcService::with_docs) takes it.
///
/// It answers at the capability document and below `docs/` with the [`documents`], with HTML pages
/// for people and HAL documents for machines, and with the explorer. A browser gets HTML pages also
/// at the entry point, and at addresses that lead to nothing.
///
/// It makes a document when a client first asks for it, and keeps up to 16 MiB of documents. Use
/// one value for each API.
///
/// Requirements: ENT-22, UND-40.
#[derive(Debug, Default)]
pub struct Docs {
    kept: DocumentCache,
}

impl Docs {
    /// Returns documentation that has made no document yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Documentation for Docs {
    fn has_openapi(&self) -> bool {
        true
    }

    fn document(&self, request: DocsRequest<'_>, target: &Target) -> Option<DocsAnswer> {
        self.asked(request).document(target)
    }

    fn entry_page<'a>(&'a self, request: DocsRequest<'a>) -> Option<DocsFuture<'a>> {
        let asked = self.asked(request);
        pages::wants_html(request.headers).then(|| Box::pin(asked.entry_page()) as DocsFuture<'a>)
    }

    fn missing_page(&self, request: DocsRequest<'_>, path: &str) -> Option<DocsAnswer> {
        pages::wants_html(request.headers).then(|| self.asked(request).missing_page(path))
    }
}

impl Docs {
    fn asked<'a>(&'a self, request: DocsRequest<'a>) -> Asked<'a> {
        Asked {
            kept: &self.kept,
            request,
        }
    }
}

/// A request, and the documents that were made before.
#[derive(Debug, Clone, Copy)]
struct Asked<'a> {
    kept: &'a DocumentCache,
    request: DocsRequest<'a>,
}

impl<'a> Asked<'a> {
    /// Returns the answer to a target that is a document, or `None` if there is no such document.
    fn document(self, target: &Target) -> Option<DocsAnswer> {
        let DocsRequest { api, base, .. } = self.request;
        match target {
            Target::Capabilities => self.once(target, MediaType::Hal, || {
                text(&documents::capabilities(api, base))
            }),
            Target::OpenApi => self.once(target, MediaType::Json, || {
                text(&documents::openapi(api, base))
            }),
            Target::JsonSchema(name) => self.once(target, MediaType::Json, || {
                text(&documents::json_schema(api, base, name)?)
            }),
            Target::Docs => self.page(target, || Some(self.pages().start())),
            Target::DocsPage(name) => {
                // With and without the prefix it is one page.
                let plain = api.dialect().strip_prefix(name).unwrap_or(name);
                self.page(&Target::DocsPage(plain.to_owned().into()), || {
                    self.pages().page(plain)
                })
            }
            Target::Form(name) => self.once(target, MediaType::Json, || {
                text(&documents::forms::form(api, base, name)?)
            }),
            Target::Explorer(name) if name.is_empty() => {
                self.once(target, MediaType::App, || Some(pages::explorer(api, base)))
            }
            Target::Explorer(name) if name == MAP => {
                self.once(target, MediaType::Svg, || Some(pages::map(api, base)))
            }
            Target::Explorer(name) if name == SEARCH_INDEX => {
                self.once(target, MediaType::Json, || {
                    text(&documents::search::index(&self.pages()))
                })
            }
            Target::Explorer(name) => {
                let file = pages::file(name)?;
                let mut answer = self.once(&file.place(), file.media, || Some(file.contents()))?;
                answer.immutable = file.is_version;
                Some(answer)
            }
            _ => None,
        }
    }

    /// A page in the form that the client asks for.
    fn page(self, target: &Target, page: impl FnOnce() -> Option<DocPage>) -> Option<DocsAnswer> {
        let mut answer = if pages::wants_machine_form(self.request.headers) {
            self.once(target, MediaType::Hal, || {
                Some(self.pages().machine_form(&page()?).to_string())
            })
        } else {
            // It is kept next to the document of the same address.
            let make = || Some(self.html(&page()?));
            self.kept.answer(
                self.place_of_html(target),
                MediaType::Html,
                self.request.headers,
                make,
            )
        }?;
        answer.headers.append(VARY, ACCEPT.into());
        Some(answer)
    }

    /// The page of the entry point. It is the same for all callers, and conditions of the request
    /// are about the page.
    async fn entry_page(self) -> DocsAnswer {
        let DocsRequest {
            api, base, headers, ..
        } = self.request;
        let place = self.place_of_html(&Target::EntryPoint);
        if let Some(answer) = self.kept.cached_response(&place, MediaType::Html, headers) {
            return answer;
        }
        let request = Request::new(&Method::GET, Target::EntryPoint).with_base_url(base.clone());
        let hal = api.handle(Identity::Anonymous, request).await;
        let page = self.html(&self.pages().entry_point(&hal.body));
        self.kept.make(place, MediaType::Html, headers, page)
    }

    fn missing_page(self, path: &str) -> DocsAnswer {
        let DocsRequest { api, base, .. } = self.request;
        let mut answer = MediaType::Html.answer(pages::missing(self.pages(), api, base, path));
        answer.status = StatusCode::NOT_FOUND;
        answer
    }

    /// A document that is the same for all who call the server by this address.
    fn once(
        self,
        target: &Target,
        media: MediaType,
        make: impl FnOnce() -> Option<String>,
    ) -> Option<DocsAnswer> {
        self.kept
            .answer(self.place(target), media, self.request.headers, make)
    }

    /// The name under which a document is kept: its address, and the settings that it may show.
    fn place(self, target: &Target) -> String {
        let DocsRequest {
            api,
            base,
            body_limit,
            anonymous_body_limit,
            ..
        } = self.request;
        let mut place = api.url(base, target);
        let _ = write!(place, " {body_limit} {anonymous_body_limit}");
        place
    }

    fn place_of_html(self, target: &Target) -> String {
        let mut place = self.place(target);
        place.push_str(" html");
        place
    }

    fn pages(self) -> DocPages<'a> {
        let DocsRequest {
            api,
            base,
            body_limit,
            ..
        } = self.request;
        DocPages::new(api, base, body_limit).anonymous_body_limit(self.request.anonymous_body_limit)
    }

    fn html(self, page: &DocPage) -> String {
        pages::html(self.pages(), self.request.api, self.request.base, page)
    }
}

/// A document of names, texts and flags has nothing that cannot be written.
fn text(document: &impl serde::Serialize) -> Option<String> {
    serde_json::to_string(document).ok()
}
