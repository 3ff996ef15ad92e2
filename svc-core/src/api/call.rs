//! A request whose address is resolved, and who may go on with it.
//!
//! Requirements: AUT-03 to AUT-08, UND-39.

use std::fmt;

use http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode, header::ALLOW};

use super::{Api, AuthorizedRequest, OfferedOperation, Request, RequestTarget, Response};
use crate::{
    auth::{Caller, Credentials, Identity},
    context::{Context, Tenant},
    error::{Error, ErrorCode, Result},
    link::{RecordAddress, Scope, Target},
    operation::KeyRequirement,
    value::Timestamp,
};

/// A request that is resolved: which target it addresses, and which operation it asks for there.
///
/// Neither has to be there: an address may lead to nothing, and an operation may not be offered.
/// What that is answered with depends on who asks; [`ResolvedRequest::authorize`] decides it.
///
/// Requirements: UND-35, ERR-07.
pub struct ResolvedRequest<'a> {
    api: &'a Api,
    request: Request<'a>,
    target: Option<Target>,
    operation: Option<OfferedOperation>,
}

impl Api {
    /// Finds out what a request addresses and asks for; nothing is decided yet, and nothing of its
    /// body is looked at.
    #[must_use]
    pub fn resolve<'a>(&'a self, mut request: Request<'a>) -> ResolvedRequest<'a> {
        let target = match std::mem::replace(&mut request.target, RequestTarget::Unknown) {
            RequestTarget::Path(path) => self.route(path),
            RequestTarget::Target(target) => Some(target),
            RequestTarget::Unknown => None,
        };
        let operation = target
            .as_ref()
            .and_then(|target| self.operation(request.method, target));
        ResolvedRequest {
            api: self,
            request,
            target,
            operation,
        }
    }

    /// Who sends a request, by the authenticator.
    ///
    /// Requirements: AUT-01.
    pub(super) async fn identity(
        &self,
        headers: &HeaderMap,
        extensions: &Extensions,
        now: Timestamp,
    ) -> Result<Identity> {
        let mut keys = headers.get_all(self.dialect().key_header()).iter();
        let key = match (
            keys.next()
                .map(|value| std::str::from_utf8(value.as_bytes())),
            keys.next(),
        ) {
            (None, _) => None,
            (Some(Ok(key)), None) if !key.is_empty() => Some(key),
            _ => return Ok(Identity::InvalidKey),
        };
        let Some(authenticator) = &self.inner.settings.authenticator else {
            return Ok(if key.is_some() {
                Identity::InvalidKey
            } else {
                Identity::Anonymous
            });
        };
        let credentials = Credentials::new(key, headers, extensions, now);
        let known = match key {
            Some(_) => authenticator.authenticate(credentials).await?,
            None => authenticator.authenticate_without_key(credentials).await?,
        };
        Ok(match known {
            Some((tenant, caller)) => Identity::Authenticated(tenant, caller),
            None if key.is_some() => Identity::InvalidKey,
            None => Identity::Anonymous,
        })
    }

    /// Who sends a request by now that came with these headers some time ago.
    pub(super) async fn identity_now(&self, cx: &Context, headers: &HeaderMap) -> Result<Identity> {
        self.identity(
            headers,
            &cx.extensions,
            cx.received_at.plus(cx.started_at.elapsed()),
        )
        .await
    }

    /// The response to a request without a valid key.
    ///
    /// Requirements: AUT-03, AUT-07.
    pub(super) fn unauthorized(&self, target: &Target) -> Response {
        self.error_response(
            Some(target),
            ErrorCode::KeyInvalid,
            "The API key is missing or not valid.",
        )
    }

    /// Answers a request of somebody: [resolves](Api::resolve) it,
    /// [admits](ResolvedRequest::authorize) it and [answers](AuthorizedRequest::execute) it. `HEAD`
    /// is answered as `GET`, with a body that is not to be sent.
    ///
    /// # Examples
    ///
    /// ```
    /// # use svc_core::{Api, Tenant, api::{Response, Request}, auth::{Caller, Identity, Rights}};
    /// # async fn people(api: &Api) -> Response {
    /// let identity = Identity::Authenticated(Tenant::new("acme"), Caller::with_rights(Rights::read_only()));
    /// api.handle(identity, Request::new(&http::Method::GET, "people")).await
    /// # }
    /// ```
    ///
    /// Requirements: UND-28.
    pub async fn handle(&self, identity: Identity, request: Request<'_>) -> Response {
        match self.resolve(request).authorize(identity).await {
            Ok(admitted) => admitted.execute().await,
            Err(reply) => reply,
        }
    }
}

impl<'a> ResolvedRequest<'a> {
    /// What it addresses; `None` where that is nothing of the interface.
    ///
    /// Requirements: UND-35.
    #[must_use]
    pub fn target(&self) -> Option<&Target> {
        self.target.as_ref()
    }

    /// The operation that it asks for; `None` where this server does not offer it.
    ///
    /// Requirements: ERR-07.
    #[must_use]
    pub fn operation(&self) -> Option<&OfferedOperation> {
        self.operation.as_ref()
    }

    /// The request, without its target.
    #[must_use]
    pub fn request(&self) -> &Request<'a> {
        &self.request
    }

    /// The answer that does not depend on who asks: 404 where the address leads to nothing, 204
    /// with `Allow` to `OPTIONS`. `None` for every other call.
    ///
    /// Requirements: UND-35, UND-28.
    #[must_use]
    pub fn immediate_response(&self) -> Option<Response> {
        let Some(target) = &self.target else {
            return Some(self.api.not_found_response());
        };
        if *self.request.method != Method::OPTIONS {
            return None;
        }
        let methods = self.api.allowed_methods(target);
        let names: Vec<&str> = methods.iter().map(Method::as_str).collect();
        let mut reply = Response::empty(StatusCode::NO_CONTENT);
        reply.insert(ALLOW, HeaderValue::try_from(names.join(", ")).ok());
        Some(reply)
    }

    /// Asks the authenticator who sends it, by the key header and what the vendor's layers
    /// attached.
    ///
    /// # Errors
    ///
    /// The answer, where the authenticator failed.
    ///
    /// Requirements: AUT-01.
    pub async fn authenticate(&mut self) -> Result<Identity, Response> {
        let now = *self.request.received_at.get_or_insert_with(Timestamp::now);
        let identity = self
            .api
            .identity(self.request.headers, &self.request.extensions, now)
            .await;
        let identity = identity
            .map_err(|error| self.api.backend_error_response(self.target.as_ref(), error))?;
        // Only requests for changes live long enough to be identified again.
        if self.target == Some(Target::Changes) {
            self.request.identified_as = Some(Box::new(identity.clone()));
        }
        Ok(identity)
    }

    /// Whether whoever sends it may go on, in the order of UND-39: an address of nothing,
    /// `OPTIONS`, the key, the operation, the right. Nothing of the body is looked at.
    ///
    /// # Errors
    ///
    /// The answer to a call that may not go on:
    ///
    /// - [immediately](ResolvedRequest::immediate_response), whoever asks;
    /// - 401 to a bad key, and where a key is needed and missing;
    /// - 500 `NOT_IMPLEMENTED` where the operation is not offered, and 404 where also the record
    ///   that it addresses is not there;
    /// - 403 to a key without the right, and on the change feed to a key that may read no kind;
    /// - 500 or 503 where a backend failed.
    ///
    /// Requirements: AUT-03, AUT-07, ERR-07, AUT-04, SYN-06.
    pub async fn authorize(self, identity: Identity) -> Result<AuthorizedRequest<'a>, Response> {
        if let Some(reply) = self.immediate_response() {
            return Err(reply);
        }
        let Self {
            api,
            request,
            target,
            operation,
        } = self;
        let Some(target) = target else {
            return Err(api.not_found_response());
        };
        let call = RoutedRequest {
            api,
            request,
            target,
        };
        let known = match identity {
            Identity::InvalidKey => return Err(call.unauthorized()),
            Identity::Authenticated(tenant, caller) => Some((tenant, caller)),
            Identity::Anonymous => None,
        };
        let with_key = known
            .as_ref()
            .is_some_and(|(_, caller)| !caller.is_anonymous());
        let Some(operation) = operation else {
            return Err(match known {
                Some((tenant, caller)) if with_key => {
                    Box::pin(call.not_offered(tenant, caller)).await
                }
                _ => call.unauthorized(),
            });
        };
        match (operation.right(), known) {
            (None, known) if operation.key_requirement() == KeyRequirement::NotNeeded => {
                let (tenant, caller) =
                    known.unwrap_or_else(|| (Tenant::new(""), Caller::anonymous()));
                Ok(call.admitted(operation, tenant, caller))
            }
            (right, Some((tenant, caller))) if with_key => {
                // Only `Need::ReadAny` has no single right.
                if right.map_or_else(|| caller.may_read_any(), |right| caller.has_right(right)) {
                    Ok(call.admitted(operation, tenant, caller))
                } else {
                    Err(call.refused(ErrorCode::KeyNotAllowed, "This API key may not do this."))
                }
            }
            _ if operation.key_requirement() != KeyRequirement::Optional => {
                Err(call.unauthorized())
            }
            (_, Some((tenant, caller))) => Ok(call.admitted(operation, tenant, caller)),
            (_, None) => Box::pin(call.without_key(operation)).await,
        }
    }
}

/// A call whose address leads somewhere.
struct RoutedRequest<'a> {
    api: &'a Api,
    request: Request<'a>,
    target: Target,
}

impl<'a> RoutedRequest<'a> {
    /// A call without a key works on the tenant of the container that it addresses.
    ///
    /// Requirements: HLP-07.
    async fn without_key(
        self,
        operation: OfferedOperation,
    ) -> Result<AuthorizedRequest<'a>, Response> {
        let Target::Helper {
            container: Some(container),
            ..
        } = &self.target
        else {
            return Err(self.unauthorized());
        };
        let Some(tenants) = &self.api.inner.settings.anonymous else {
            return Err(self.unauthorized());
        };
        let tenant = tenants
            .tenant_of(container)
            .await
            .map_err(|error| self.failed(error))?;
        let is_found = tenant.is_some();
        let admitted = self.admitted(
            operation,
            tenant.unwrap_or_else(|| Tenant::new("")),
            Caller::anonymous(),
        );
        // As with a key, its body is looked at before the missing container is told (UND-39).
        Ok(if is_found {
            admitted
        } else {
            admitted.without_container()
        })
    }

    fn admitted(
        mut self,
        operation: OfferedOperation,
        tenant: Tenant,
        caller: Caller,
    ) -> AuthorizedRequest<'a> {
        let context = self.request.context(self.api, tenant, caller);
        AuthorizedRequest::new(
            self.api,
            self.request,
            self.target,
            operation.spec(),
            context,
        )
    }

    /// 500, or 404 where what the call addresses does not exist for the caller's tenant.
    ///
    /// Requirements: UND-39.
    async fn not_offered(mut self, tenant: Tenant, caller: Caller) -> Response {
        let context = self.request.context(self.api, tenant, caller);
        self.failed(match self.exists(&context).await {
            Ok(true) => Error::not_implemented(),
            Ok(false) => Error::not_found(),
            Err(error) => error,
        })
    }

    /// Whether what it addresses exists for the caller's tenant. A record of a kind that cannot be
    /// read counts as there.
    async fn exists(&self, cx: &Context) -> Result<bool> {
        match record_of(&self.target) {
            Some(at) => self.api.record_exists(cx, at).await,
            None => Ok(true),
        }
    }

    fn unauthorized(&self) -> Response {
        self.api.unauthorized(&self.target)
    }

    fn refused(&self, code: ErrorCode, description: &str) -> Response {
        self.api
            .error_response(Some(&self.target), code, description)
    }

    fn failed(&self, error: Error) -> Response {
        self.api.backend_error_response(Some(&self.target), error)
    }
}

/// The record that a target is, or that it lies below.
fn record_of(target: &Target) -> Option<&RecordAddress> {
    match target {
        Target::Record(at)
        | Target::Collection {
            scope: Scope::Under(at),
            ..
        }
        | Target::Helper {
            container: Some(at),
            ..
        }
        | Target::Batch {
            container: Some(at),
            ..
        } => Some(at),
        _ => None,
    }
}

impl fmt::Debug for ResolvedRequest<'_> {
    /// Without ids.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("request", &self.request)
            .field("operation", &self.operation)
            .finish_non_exhaustive()
    }
}
