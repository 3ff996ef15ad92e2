//! A request's way from its head to its answer, check by check in the order of UND-39.

use std::{
    hash::{BuildHasher, RandomState},
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use http::{Method, request::Parts};
use svc_core::{
    Base, Code, Context, Error, Problem, Tenant,
    api::{Api, Verdict},
    auth::Caller,
    link::Target,
    read::Json,
    value::Timestamp,
};
use tracing::{Span, field};
use uuid::Uuid;

use crate::{
    authenticate::{Admission, admit, identify},
    base::{PeerAddr, base},
    body::{self, AnyBody, Refusal},
    cors::Cors,
    head,
    pages::Pages,
    response::Answer,
    route::{Route, method_name},
    settings::Settings,
};

/// A request and what is known of it before it is answered.
#[derive(Debug)]
pub(crate) struct Incoming<'a> {
    pub(crate) api: &'a Api,
    pub(crate) settings: &'a Settings,
    pub(crate) parts: Parts,
    /// What it addresses; `None` when that is nothing of the interface.
    pub(crate) target: Option<Target>,
    /// Whether the path lies in the mount at all.
    pub(crate) in_mount: bool,
    /// The address of the entry point in the answer's links.
    pub(crate) base: Base,
    /// Names the request in logs.
    pub(crate) request_id: Uuid,
    /// What the log says of the request (UND-42).
    pub(crate) span: Span,
}

/// A new id of version 4, made from a secret of this process and a count: asking the system for each costs more than
/// all else that is done with a head.
fn request_id() -> Uuid {
    static SECRET: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let [first, second] = [0_u8, 1].map(|half| u128::from(SECRET.hash_one((number, half))));
    uuid::Builder::from_u128((first << 64) | second)
        .with_version(uuid::Version::Random)
        .with_variant(uuid::Variant::RFC4122)
        .into_uuid()
}

impl<'a> Incoming<'a> {
    /// Finds out what a request addresses; nothing is decided yet.
    pub(crate) fn new(api: &'a Api, settings: &'a Settings, parts: Parts) -> Self {
        let path = settings.mount.strip(parts.uri.path());
        let peer = parts.extensions.get::<PeerAddr>().copied();
        let base = base(api.base(), &settings.trusted_proxies, peer, &parts.headers);
        let target = path.and_then(|path| api.route(path));
        let request_id = request_id();
        let span = tracing::info_span!(
            "request",
            method = %method_name(&parts.method),
            route = %Route(target.as_ref()),
            request_id = %request_id,
            tenant = field::Empty,
            status = field::Empty,
            reference_code = field::Empty,
        );
        Self { api, settings, target, in_mount: path.is_some(), base, request_id, span, parts }
    }

    /// Whether the head of the request is ambiguous, or addresses nothing (UND-34, UND-35).
    pub(crate) fn refused_by_head(&self) -> Option<Answer> {
        let is_tunnel = self.parts.method == Method::CONNECT;
        if !self.in_mount && !is_tunnel {
            return Some(self.nothing_here());
        }
        let key_header = self.api.dialect().key_header();
        if let Err(why) = head::check(&self.parts, key_header, &self.base, self.settings.host_needed) {
            return Some(self.failure(Code::RequestInvalid, why));
        }
        self.target.is_none().then(|| self.nothing_here())
    }

    pub(crate) fn nothing_here(&self) -> Answer {
        self.failure(Code::ResourceNotFound, "Nothing is found at this address.")
    }

    /// The error object of a code.
    pub(crate) fn failure(&self, code: Code, description: &str) -> Answer {
        self.api.failure(self.target.as_ref(), code, description).into()
    }

    fn error(&self, error: Error) -> Answer {
        self.api.error_reply(self.target.as_ref(), error).into()
    }

    /// The cross-origin rules that hold for the target: only record helpers that may be called without a key have any.
    pub(crate) fn cors(&self) -> Option<&'a Cors> {
        let cors = self.settings.cors.as_ref()?;
        let target = self.target.as_ref().filter(|target| matches!(target, Target::Helper { .. }))?;
        match self.api.verdict(&Method::POST, target) {
            Verdict::Needs { anonymous: true, .. } => Some(cors),
            _ => None,
        }
    }

    /// Answers a request whose head is sound.
    pub(crate) async fn answer(&mut self, target: &Target, body: AnyBody) -> Answer {
        if self.parts.method == Method::OPTIONS {
            return Answer::options(&self.api.allowed_methods(target));
        }
        self.checked(target, body).await.unwrap_or_else(|refusal| refusal)
    }

    async fn checked(&mut self, target: &Target, body: AnyBody) -> Result<Answer, Answer> {
        let now = self.settings.clock.now();
        match self.admission(target, now).await? {
            Admission::Admitted { tenant, caller, takes_body } => {
                let mut context = self.context(tenant, caller, now);
                let body = if takes_body { self.body(body).await? } else { Bytes::new() };
                // The time that the client took to send the body does not count.
                context.deadline = self.settings.deadline();
                Ok(self.respond(&context, target, body).await)
            }
            Admission::KeyInvalid => Err(self.failure(Code::KeyInvalid, "The API key is missing or not valid.")),
            Admission::KeyNotAllowed => Err(self.failure(Code::KeyNotAllowed, "This API key may not do this.")),
            Admission::NoContainer => Err(self.no_container(body).await?),
            Admission::NotImplemented(tenant, caller) => {
                let context = self.context(tenant, caller, now);
                match self.api.exists(&context, target).await {
                    Ok(true) => Err(self.error(Error::NotImplemented)),
                    Ok(false) => Err(self.error(Error::NotFound)),
                    Err(error) => Err(self.error(error)),
                }
            }
        }
    }

    /// Whether the key and the right of a request suffice.
    async fn admission(&self, target: &Target, now: Timestamp) -> Result<Admission, Answer> {
        let identity = identify(self.api, &self.parts, now).await.map_err(|error| self.error(error))?;
        let verdict = self.api.verdict(&self.parts.method, target);
        admit(self.api, identity, verdict, target).await.map_err(|error| self.error(error))
    }

    /// What a call without a key gets where nobody has the container: as with a key, its body comes first (UND-39).
    async fn no_container(&self, body: AnyBody) -> Result<Answer, Answer> {
        let body = self.body(body).await?;
        let unreadable = match Json::read(&body, &self.api.sizes().json) {
            _ if body.iter().all(u8::is_ascii_whitespace) => None,
            Err(problems) => Some(problems),
            Ok(Json::Object(_)) => None,
            Ok(other) => {
                let text = format!("The body must be a JSON object, not {}.", other.kind_name());
                Some(vec![Problem::general(Code::JsonInvalid, text)])
            }
        };
        Ok(self.error(unreadable.map_or(Error::NotFound, Error::Invalid)))
    }

    fn context(&mut self, tenant: Tenant, caller: Caller, now: Timestamp) -> Context {
        self.span.record("tenant", tenant.as_str());
        Context {
            tenant,
            caller,
            request_id: self.request_id,
            now,
            deadline: self.settings.deadline(),
            extensions: std::mem::take(&mut self.parts.extensions),
            base: self.base.clone(),
        }
    }

    /// The body, or why it is not taken (UND-17, UND-27).
    async fn body(&self, body: AnyBody) -> Result<Bytes, Answer> {
        let limit = self.settings.body_limit;
        let refused = |refusal: Refusal| {
            let mut answer = self.failure(refusal.code(), &refusal.description(limit));
            answer.close = refusal.leaves_a_rest();
            answer
        };
        body::check_head(&self.parts.headers).map_err(refused)?;
        body::read(&self.parts.headers, body, limit).await.map_err(refused)
    }

    async fn respond(&self, context: &Context, target: &Target, body: Bytes) -> Answer {
        if let Target::Docs | Target::DocsPage(_) | Target::Explorer(_) = target {
            let body_limit = self.settings.body_limit;
            let pages = Pages {
                api: self.api,
                base: &self.base,
                body_limit,
                #[cfg(feature = "pages")]
                headers: &self.parts.headers,
            };
            return pages.answer(target).unwrap_or_else(|| self.nothing_here());
        }
        #[cfg(not(feature = "pages"))]
        if let Target::OpenApi = target {
            let document = svc_core::export::openapi_without_html(self.api, &self.base);
            return Answer::page(crate::response::Media::Json, document.to_string());
        }
        self.api.respond(context, &self.parts.method, target, self.parts.uri.query(), body).await.into()
    }
}
