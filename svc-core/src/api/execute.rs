//! Executes authorized requests: reads here, writes in `write.rs`.

use std::time::Duration;

use http::{HeaderValue, StatusCode, header::LOCATION};

use super::{
    Api, AuthorizedRequest, ContentType, Response,
    admitted::AuthorizedParts,
    extensions::{Extension, response_cache::CacheSlot},
    operation_store::with_operation,
    preferences::HandlingPreference,
    response::kind_of,
    shown::shown,
};
use crate::{
    auth::Operation,
    context::Context,
    error::{Error, Result},
    filter::{Filter, QueryPlan},
    hal::{self, CollectionView, EntryLink, EntryPointView},
    helper::HelperName,
    link::{RecordAddress, Scope, Target},
    model::Kind,
    operation::Handler,
    page::RawPage,
    record::RawRecord,
};

impl AuthorizedRequest<'_> {
    /// Returns how long the request may wait in addition to the usual timeout.
    ///
    /// This is the waiting time of a long poll or an event stream, [`Duration::MAX`] for a batch,
    /// and zero for all other requests.
    ///
    /// Requirements: SYN-11, BAT-07.
    #[must_use]
    pub fn max_wait(&self) -> Duration {
        self.0
            .extension()
            .map_or(Duration::ZERO, |extension| extension.extra_time(&self.0))
    }

    /// Executes the request and returns its response.
    ///
    /// The body is parsed and validated before the backend is called. A `HEAD` request returns the
    /// body of `GET`; the HTTP layer must drop it.
    ///
    /// Requirements: UND-28.
    pub async fn execute(mut self) -> Response {
        // The time that the client needed to send the body does not count.
        let deadline = self.0.request.deadline();
        self.0.context.set_deadline(deadline);
        if self.0.api.takes_sweep(self.0.context.received_at()) {
            Box::pin(self.0.api.sweep(self.0.context.received_at())).await;
        }
        let handler = self.0.operation.handler;
        if matches!(handler, Handler::Update | Handler::Delete)
            && let Some(reply) = self
                .0
                .api
                .require_if_match(&self.0.target, self.0.request.headers)
        {
            return reply;
        }
        let is_read = matches!(handler, Handler::List | Handler::Read);
        let is_shown = is_read || matches!(handler, Handler::EntryPoint | Handler::Capabilities);
        let conditions = self
            .0
            .api
            .conditions(self.0.request.headers)
            .filter(|_| is_shown);
        let (cx, target, query) = (&self.0.context, &*self.0.target, self.0.request.query);
        // The cached page may be the response to a query that strict handling rejects.
        let is_strict = query.is_some()
            && handler == Handler::List
            && HandlingPreference::of(self.0.request.headers) == HandlingPreference::Strict;
        let entry = match self
            .0
            .api
            .extensions()
            .response_cache
            .as_ref()
            .filter(|_| is_shown && !is_strict)
        {
            Some(cache) if is_read => {
                let variant = self.0.api.inner.relations.variant(cx.caller());
                cache.entry(cx, target, query, variant).await
            }
            // Documents do not depend on the query, so only the one without a query is cached.
            Some(cache) if query.is_none() => {
                Some(cache.entry_of_document(cx, target, u64::from(self.0.api.has_openapi)))
            }
            _ => None,
        };
        if let (Some(entry), Some(conditions)) = (&entry, &conditions)
            && let Some(known) = entry.validators(cx, target, query)
            && let Some(reply) = self.0.api.answered(target, conditions, &known)
        {
            return reply;
        }
        let reply = match &entry {
            Some(entry) => self.cached_or_new(entry).await,
            None => self.handle().await,
        };
        match &conditions {
            Some(conditions) => self.0.api.condition_response(target, conditions, reply),
            None => reply,
        }
    }

    /// Returns the cached response if nothing has changed since, else executes the request and
    /// caches its response.
    async fn cached_or_new(&self, entry: &CacheSlot<'_>) -> Response {
        let (cx, target, query) = (&self.0.context, &*self.0.target, self.0.request.query);
        if let Some((body, validators)) = entry.answer(cx, target, query) {
            let reply = Response::new(StatusCode::OK, ContentType::Hal, body);
            return match validators {
                Some(validators) => validators.on(reply),
                None => reply,
            };
        }
        let reply = self.handle().await;
        if reply.status == StatusCode::OK {
            entry.insert(cx, target, query, &reply);
        }
        reply
    }

    async fn handle(&self) -> Response {
        let AuthorizedParts {
            api,
            request,
            target,
            context: cx,
            ..
        } = &*self.0;
        let (target, body) = (&**target, self.0.body());
        let answer: Result<Response> = match (self.0.operation.handler, target) {
            _ if !self.0.has_container => Ok(api.no_container(cx, target, body)),
            (Handler::EntryPoint, _) => Ok(api.entry_point(cx)),
            (Handler::Capabilities, _) => Ok(api.capabilities_reply(cx)),
            // The HTTP layer serves documents itself.
            (Handler::Document, _) => Err(Error::not_found()),
            (Handler::Extension(_), _) => match self.0.extension() {
                Some(extension) => extension.answer(&self.0).await,
                None => Err(Error::not_implemented()),
            },
            (Handler::List, Target::Collection { kind, scope }) => {
                let handling = HandlingPreference::of(request.headers);
                let mut reply = api.list(cx, *kind, scope, request.query, handling).await;
                if let (HandlingPreference::Strict, Ok(reply)) = (handling, &mut reply) {
                    handling.mark(reply);
                }
                reply
            }
            (Handler::Create | Handler::Update | Handler::Call, target) => {
                // Boxed, because its future would make the future of every read as large.
                Ok(Box::pin(api.write(cx, target, body, request.headers)).await)
            }
            (Handler::Read, Target::Record(at)) => api.read(cx, at).await,
            (Handler::Delete, Target::Record(at)) => {
                api.delete(cx, target, at, request.headers).await
            }
            (
                Handler::Cancel,
                Target::Helper {
                    container: Some(message),
                    ..
                },
            ) => Box::pin(api.cancel(cx, target, message)).await,
            _ => Err(Error::not_implemented()),
        };
        let reply = answer.unwrap_or_else(|error| api.failed(cx, target, error));
        if reply.status != StatusCode::NOT_FOUND {
            return reply;
        }
        // Only a request that finds nothing has the cost of this lookup.
        match Box::pin(api.forwarded(&self.0)).await {
            Ok(forwarded) => forwarded.unwrap_or(reply),
            Err(error) => api.failed(cx, target, error),
        }
    }
}

impl AuthorizedParts<'_> {
    /// Returns the extension that the operation belongs to.
    fn extension(&self) -> Option<&dyn Extension> {
        match self.operation.handler {
            Handler::Extension(name) => self.api.extensions().get(name),
            _ => None,
        }
    }
}

impl Api {
    /// Returns the response to an anonymous helper request whose container does not exist.
    ///
    /// As for a request with a key, the body is checked first.
    ///
    /// Requirements: UND-39.
    fn no_container(&self, cx: &Context, target: &Target, body: &[u8]) -> Response {
        let unreadable =
            kind_of(target).and_then(|kind| self.body_object(cx, kind, body, true).err());
        unreadable.unwrap_or_else(|| self.backend_error_response(Some(target), Error::not_found()))
    }

    /// Reads a record.
    pub(super) async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<RawRecord>> {
        let record = self.inner.store.get(cx, at).await;
        record.map_err(with_operation(at.kind, "read"))
    }

    /// Returns whether a record exists.
    ///
    /// A kind that cannot be read counts as existing; the store decides later. A merged person counts as
    /// existing, because what is recorded below its address is recorded for the remaining person.
    pub(super) async fn record_exists(&self, cx: &Context, at: &RecordAddress) -> Result<bool> {
        if !self
            .registered(at.kind)
            .backend
            .has(at.kind, Operation::Read)
        {
            return Ok(true);
        }
        if self.get(cx, at).await?.is_some() {
            return Ok(true);
        }
        if at.kind != Kind::Person || !self.merges_people() {
            return Ok(false);
        }
        let remaining = self.inner.store.forwarded_person(cx, &at.id).await?;
        Ok(remaining.is_some())
    }

    fn entry_point(&self, cx: &Context) -> Response {
        let inner = &self.inner;
        let listed = |kind: &Kind| {
            self.registered(*kind).offers(*kind, Operation::List)
                && inner.settings.entry_links.includes(*kind)
        };
        let collections: Vec<Kind> = Kind::ALL.iter().copied().filter(listed).collect();
        let extensions: Vec<EntryLink> = self
            .extensions()
            .offered()
            .filter_map(Extension::entry_link)
            .collect();
        let view = EntryPointView {
            motd: &inner.settings.vendor.motd,
            max_page_size: inner.settings.sizes.max_page_size,
            vendor_name: &inner.settings.vendor.name,
            product_name: &inner.settings.vendor.product_name,
            version: &inner.settings.vendor.version,
            collections: &collections,
            signup: inner.helpers.contains_key(&HelperName::PersonSignup),
            openapi: self.has_openapi,
            extensions: &extensions,
        };
        let mut body = Vec::with_capacity(4096);
        hal::entry_point(&self.hal(cx.base()), &view, &mut body);
        self.tagged(Response::hal(StatusCode::OK, body))
    }

    fn capabilities_reply(&self, cx: &Context) -> Response {
        // The document has only names and flags, so serializing it cannot fail.
        let document =
            serde_json::to_string(&super::capabilities(self, cx.base())).unwrap_or_default();
        self.tagged(Response::new(StatusCode::OK, ContentType::Hal, document))
    }

    async fn list(
        &self,
        cx: &Context,
        kind: Kind,
        scope: &Scope,
        query: Option<&str>,
        handling: HandlingPreference,
    ) -> Result<Response> {
        let asked = match self.list_request(kind, scope, query, handling, cx.namespace()) {
            Ok(asked) => asked,
            Err(problems) => return Ok(self.invalid(Some(kind), &problems)),
        };
        let request = &asked.request;
        let members = match request.filter.as_ref().map(Filter::plan) {
            Some(Ok(QueryPlan::Members(key))) => Some(key),
            _ => None,
        };
        let page = match members {
            Some(key) => Box::pin(self.list_members(cx, kind, request.page.clone(), key)).await,
            None => self.inner.store.list(cx, kind, request).await,
        };
        let page: RawPage = match page {
            Err(error) if error.is_not_found() => return Ok(self.nothing_to_read(kind)),
            page => page.map_err(with_operation(kind, "list"))?,
        };
        page.records
            .iter()
            .try_for_each(|record| self.inner.stored_bodies.check(record))?;
        let mut body = Vec::new();
        let view = CollectionView {
            kind,
            scope,
            request: &request.page,
            names_page: asked.names_page,
            repeated: &asked.repeated,
            page: &page,
            signup: kind == HelperName::PersonSignup.recorded_kind()
                && *scope == Scope::All
                && self.inner.helpers.contains_key(&HelperName::PersonSignup),
        };
        hal::collection(&self.hal_for(cx), &view, &mut body);
        Ok(self.tagged(Response::hal(StatusCode::OK, body)))
    }

    async fn read(&self, cx: &Context, at: &RecordAddress) -> Result<Response> {
        match self.get(cx, at).await? {
            Some(record) => {
                self.inner.stored_bodies.check(&record)?;
                Ok(self.record_reply(cx, StatusCode::OK, &record))
            }
            None => Ok(self.nothing_to_read(at.kind)),
        }
    }

    /// Returns the 404 response of a read. It has no body, unless error bodies are sent everywhere.
    ///
    /// Requirements: ERR-11.
    fn nothing_to_read(&self, kind: Kind) -> Response {
        if self.sends_error_bodies() {
            self.missing(Some(kind))
        } else {
            Response::empty(StatusCode::NOT_FOUND)
        }
    }

    /// Returns the response with a record as a top-level document.
    ///
    /// Requirements: HAL-17.
    pub(super) fn record_reply(
        &self,
        cx: &Context,
        status: StatusCode,
        record: &RawRecord,
    ) -> Response {
        let mut body = Vec::new();
        hal::record(&self.hal_for(cx), &shown(cx, record), true, &mut body);
        let mut reply = self.tagged_record(Response::hal(status, body), record);
        if status == StatusCode::CREATED {
            let href = self.hal(cx.base()).href(&Target::Record(record.address()));
            reply.insert(LOCATION, HeaderValue::try_from(href).ok());
        }
        reply
    }
}
