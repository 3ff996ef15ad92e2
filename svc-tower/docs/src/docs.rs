//! The documentation as a service serves it.

use std::fmt::Write as _;

use http::{
    Method, StatusCode,
    header::{ACCEPT, VARY},
};
use svc_core::{api::Request, auth::Identity, link::Target};
use svc_tower::{DocsAnswer, DocsFuture, DocsRequest, Documentation};

use crate::{
    document_cache::DocumentCache,
    documents::{self, DocPage, DocPages},
    media::MediaType,
    pages::{self, MAP, PageLink, SEARCH_INDEX},
};

/// The documentation of an API, for [`with_docs`](svc_tower::SvcService::with_docs).
///
/// It serves the capability document and, under `docs/`, the [`documents`], HTML pages for people,
/// HAL documents for programs, and the explorer. A browser also gets HTML pages at the entry point
/// and at unknown addresses.
///
/// A document is created when a client first requests it, and up to 16 MiB of documents are cached.
/// Use one value for each API.
///
/// Requirements: ENT-22, UND-40.
#[derive(Debug, Default)]
pub struct Docs {
    kept: DocumentCache,
    links: Vec<PageLink>,
}

impl Docs {
    /// Returns documentation with an empty cache.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the target of a style sheet, picture or script of the pages, such as `explorer.css`, for other pages
    /// of the same host; `None` if there is no such file. The content can change with every version.
    #[must_use]
    pub fn file(name: &str) -> Option<Target> {
        Some(pages::file(name)?.place())
    }

    /// Adds a link to the top of each page, after the one to the explorer. `href` is a URL, or a path of the same
    /// host such as `/import/`.
    #[must_use]
    pub fn link(mut self, title: impl Into<String>, href: impl Into<String>) -> Self {
        self.links.push(PageLink {
            title: title.into(),
            href: href.into(),
        });
        self
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
            docs: self,
            request,
        }
    }
}

/// A request, with the documentation that responds.
#[derive(Debug, Clone, Copy)]
struct Asked<'a> {
    docs: &'a Docs,
    request: DocsRequest<'a>,
}

impl<'a> Asked<'a> {
    /// Returns the response for a target that is a document, or `None` if there is no such
    /// document.
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
                // The name with the prefix and the name without it are the same page.
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

    /// Returns the response with a page, in the form that the client requests.
    fn page(self, target: &Target, page: impl FnOnce() -> Option<DocPage>) -> Option<DocsAnswer> {
        let mut answer = if pages::wants_hal(self.request.headers) {
            self.once(target, MediaType::Hal, || {
                Some(self.pages().to_hal(&page()?).to_string())
            })
        } else {
            // The two forms have the same address and are cached separately.
            let make = || Some(self.html(&page()?));
            self.docs.kept.answer(
                self.place_of_html(target),
                MediaType::Html,
                self.request.headers,
                make,
            )
        }?;
        answer.headers.append(VARY, ACCEPT.into());
        Some(answer)
    }

    /// Returns the page of the entry point. It is the same for all callers, and the conditions of
    /// the request apply to the page.
    async fn entry_page(self) -> DocsAnswer {
        let DocsRequest {
            api, base, headers, ..
        } = self.request;
        let place = self.place_of_html(&Target::EntryPoint);
        if let Some(answer) = self
            .docs
            .kept
            .cached_response(&place, MediaType::Html, headers)
        {
            return answer;
        }
        let request = Request::new(&Method::GET, Target::EntryPoint).with_base_url(base.clone());
        let hal = api.handle(Identity::Anonymous, request).await;
        let page = self.html(&self.pages().entry_point(&hal.body));
        self.docs.kept.make(place, MediaType::Html, headers, page)
    }

    fn missing_page(self, path: &str) -> DocsAnswer {
        let DocsRequest { api, base, .. } = self.request;
        let mut answer = MediaType::Html.answer(pages::missing(
            self.pages(),
            api,
            base,
            &self.docs.links,
            path,
        ));
        answer.status = StatusCode::NOT_FOUND;
        answer
    }

    /// Returns the response with a document that is the same for all clients that use this base
    /// URL.
    fn once(
        self,
        target: &Target,
        media: MediaType,
        make: impl FnOnce() -> Option<String>,
    ) -> Option<DocsAnswer> {
        self.docs
            .kept
            .answer(self.place(target), media, self.request.headers, make)
    }

    /// Returns the cache key of a document: its address, and the settings that it may contain.
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
        let DocsRequest { api, base, .. } = self.request;
        pages::html(self.pages(), api, base, &self.docs.links, page)
    }
}

/// Returns a document as text. A document of names, texts and flags can always be serialized.
fn text(document: &impl serde::Serialize) -> Option<String> {
    serde_json::to_string(document).ok()
}
