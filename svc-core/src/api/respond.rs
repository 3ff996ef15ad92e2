//! Answers requests: reads here, writes in the file beside.

use bytes::Bytes;
use http::{Method, StatusCode};

use super::{Api, ContentType, Reply, query};
use crate::{
    auth::Operation,
    context::Context,
    error::{Error, Result},
    export,
    hal::{self, CollectionView, EntryPointView},
    helper::HelperName,
    link::{Address, Scope, Target},
    model::Kind,
    page::RawPage,
    record::RawRecord,
};

impl Api {
    /// Answers a request whose verdict was not [`Verdict::NotImplemented`](super::Verdict::NotImplemented) and whose
    /// caller has the right. `query` is the text behind the question mark; `body` is empty for none.
    ///
    /// `HEAD` is answered as `GET`: the caller drops the body (UND-28).
    pub async fn respond(
        &self,
        cx: &Context,
        method: &Method,
        target: &Target,
        query: Option<&str>,
        body: Bytes,
    ) -> Reply {
        let method = self.method(method);
        let is_read = method == Method::GET && matches!(target, Target::Collection { .. } | Target::Record(_));
        let place = self.inner.kept.as_ref().filter(|_| is_read).and_then(|kept| kept.place(cx, target, query));
        let Some(place) = place else { return self.answer(cx, &method, target, query, body).await };
        if let Some(body) = place.body(cx, target, query) {
            return Reply::new(StatusCode::OK, ContentType::Hal, body);
        }
        let reply = self.answer(cx, &method, target, query, body).await;
        if reply.status == StatusCode::OK {
            place.keep(cx, target, query, &reply.body);
        }
        reply
    }

    async fn answer(&self, cx: &Context, method: &Method, target: &Target, query: Option<&str>, body: Bytes) -> Reply {
        let answer = match (method, target) {
            (&Method::GET, Target::EntryPoint) => Ok(self.entry_point(cx)),
            (&Method::GET, Target::Capabilities) => Ok(self.capabilities_reply(cx)),
            (&Method::GET, Target::OpenApi) => Ok(json(&export::openapi(self, &cx.base))),
            (&Method::GET, Target::JsonSchema(name)) => match export::json_schema(self, &cx.base, name) {
                Some(document) => Ok(json(&document)),
                None => Err(Error::NotFound),
            },
            (&Method::GET, Target::Collection { kind, scope }) => self.list(cx, *kind, scope, query).await,
            (&Method::GET, Target::Record(at)) => self.read(cx, at).await,
            (&Method::POST, Target::Collection { kind, scope }) => self.create(cx, *kind, scope, &body).await,
            (&Method::PUT, Target::Record(at)) => self.update(cx, at, &body).await,
            (&Method::DELETE, Target::Record(at)) => self.delete(cx, at).await,
            (&Method::POST, Target::Helper { helper, container }) => {
                self.help(cx, *helper, container.as_ref(), &body).await
            }
            (&Method::DELETE, Target::Helper { helper: HelperName::Schedule, container: Some(message) }) => {
                self.cancel(cx, message).await
            }
            _ => Err(Error::NotImplemented),
        };
        answer.unwrap_or_else(|error| self.error_reply(Some(target), error))
    }

    /// Whether what a target addresses exists for the caller's tenant: an unsupported operation on a missing record is
    /// 404 (UND-39). A record of a kind that cannot be read counts as there.
    ///
    /// # Errors
    ///
    /// What the backend says.
    pub async fn exists(&self, cx: &Context, target: &Target) -> Result<bool> {
        match target {
            Target::Record(at)
            | Target::Collection { scope: Scope::Under(at), .. }
            | Target::Helper { container: Some(at), .. } => self.record_exists(cx, at).await,
            _ => Ok(true),
        }
    }

    /// Whether a record exists; one of a kind that cannot be read counts as there, and the store has the last word.
    pub(super) async fn record_exists(&self, cx: &Context, at: &Address) -> Result<bool> {
        match &self.slots(at.kind).get {
            Some(get) => Ok(get.get(cx, at).await?.is_some()),
            None => Ok(true),
        }
    }

    fn entry_point(&self, cx: &Context) -> Reply {
        let inner = &self.inner;
        let listed =
            |kind: &Kind| self.slots(*kind).offers(Operation::List) && inner.settings.entry_links.includes(*kind);
        let collections: Vec<Kind> = Kind::ALL.iter().copied().filter(listed).collect();
        let view = EntryPointView {
            motd: &inner.settings.vendor.motd,
            max_page_size: inner.settings.sizes.max_page,
            vendor_name: &inner.settings.vendor.name,
            product_name: &inner.settings.vendor.product_name,
            version: &inner.settings.vendor.version,
            collections: &collections,
            signup: inner.helpers.contains_key(&HelperName::PersonSignup),
        };
        let mut body = Vec::with_capacity(4096);
        hal::entry_point(&self.hal(&cx.base), &view, &mut body);
        Reply::hal(StatusCode::OK, body)
    }

    fn capabilities_reply(&self, cx: &Context) -> Reply {
        // A document of names and flags has nothing that serde_json refuses.
        let document = serde_json::to_string(&export::capabilities(self, &cx.base)).unwrap_or_default();
        Reply::new(StatusCode::OK, ContentType::Json, document)
    }

    async fn list(&self, cx: &Context, kind: Kind, scope: &Scope, query: Option<&str>) -> Result<Reply> {
        let asked = match query::page_query(query, self.inner.settings.sizes) {
            Ok(asked) => asked,
            Err(problems) => return Ok(self.invalid(Some(kind), &problems)),
        };
        let Some(list) = &self.slots(kind).list else { return Err(Error::NotImplemented) };
        let page: RawPage = match list.list(cx, scope, &asked.request).await {
            Err(Error::NotFound) => return Ok(self.nothing_to_read(kind)),
            page => page?,
        };
        let mut body = Vec::with_capacity(page.records.len().saturating_mul(128).saturating_add(1024));
        let view = CollectionView {
            kind,
            scope,
            request: &asked.request,
            names_page: asked.names_page,
            names_size: asked.names_size,
            page: &page,
            signup: kind == HelperName::PersonSignup.records()
                && *scope == Scope::All
                && self.inner.helpers.contains_key(&HelperName::PersonSignup),
        };
        hal::collection(&self.hal(&cx.base), &view, &mut body);
        Ok(Reply::hal(StatusCode::OK, body))
    }

    async fn read(&self, cx: &Context, at: &Address) -> Result<Reply> {
        let Some(get) = &self.slots(at.kind).get else { return Err(Error::NotImplemented) };
        match get.get(cx, at).await? {
            Some(record) => Ok(self.record_reply(cx, StatusCode::OK, &record)),
            None => Ok(self.nothing_to_read(at.kind)),
        }
    }

    /// A read of something that is not there has no body, unless error bodies are sent everywhere (ERR-11).
    fn nothing_to_read(&self, kind: Kind) -> Reply {
        if self.inner.settings.error_bodies { self.missing(Some(kind)) } else { Reply::empty(StatusCode::NOT_FOUND) }
    }

    /// A record as a top-level document (HAL-17).
    pub(super) fn record_reply(&self, cx: &Context, status: StatusCode, record: &RawRecord) -> Reply {
        let mut body = Vec::new();
        hal::record(&self.hal(&cx.base), record, true, &mut body);
        let mut reply = Reply::hal(status, body);
        if status == StatusCode::CREATED {
            reply.location = Some(self.hal(&cx.base).href(&Target::Record(record.address())));
        }
        reply
    }
}

fn json(document: &serde_json::Value) -> Reply {
    Reply::new(StatusCode::OK, ContentType::Json, document.to_string())
}
