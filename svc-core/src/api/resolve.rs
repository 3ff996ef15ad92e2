//! Resolved requests and their authorization.
//!
//! Requirements: AUT-03 to AUT-08, UND-39.

use std::{fmt, sync::Arc};

use http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode, header::ALLOW};

use super::{Api, AuthorizedRequest, OfferedOperation, Request, RequestTarget, Response};
use crate::{
    auth::{Caller, Credentials, Identity, Principal},
    context::{Context, Tenant},
    error::{Error, ErrorCode, Result},
    link::{RecordAddress, Scope, Target},
    operation::KeyRequirement,
    value::Timestamp,
};

/// A request with its resolved target and operation.
///
/// Both can be missing: the URL may be unknown, and the operation may not be offered. The response
/// to that depends on the caller and is returned by [`ResolvedRequest::authorize`].
///
/// Requirements: UND-35, ERR-07.
pub struct ResolvedRequest<'a> {
    api: &'a Api,
    request: Request<'a>,
    target: Option<Arc<Target>>,
    operation: Option<OfferedOperation>,
}

impl Api {
    /// Resolves the target and the operation of a request.
    ///
    /// This makes no authorization decision and does not read the body.
    #[must_use]
    pub fn resolve<'a>(&'a self, mut request: Request<'a>) -> ResolvedRequest<'a> {
        let target = match std::mem::replace(&mut request.target, RequestTarget::Unknown) {
            RequestTarget::Path(path) => self.route(path),
            RequestTarget::Target(target) => Some(target),
            RequestTarget::Unknown => None,
        };
        let target = target.map(Arc::new);
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

    /// Returns the identity of the caller, as determined by the authenticator.
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
            Some(principal) => Identity::Authenticated(principal),
            None if key.is_some() => Identity::InvalidKey,
            None => Identity::Anonymous,
        })
    }

    /// Returns the identity that the caller of an earlier request has now.
    pub(super) async fn identity_now(&self, cx: &Context, headers: &HeaderMap) -> Result<Identity> {
        self.identity(
            headers,
            cx.extensions(),
            cx.received_at().saturating_add(cx.started_at().elapsed()),
        )
        .await
    }

    /// Returns the response to a request without a valid key.
    ///
    /// Requirements: AUT-03, AUT-07.
    pub(super) fn unauthorized(&self, target: &Target) -> Response {
        self.error_response(
            Some(target),
            ErrorCode::KeyInvalid,
            "The API key is missing or not valid.",
        )
    }

    /// Executes a request of a caller: [resolves](Api::resolve),
    /// [authorizes](ResolvedRequest::authorize) and [executes](AuthorizedRequest::execute) it.
    ///
    /// A `HEAD` request returns the body of `GET`; the HTTP layer must not send it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use svc_core::{Api, Tenant, api::{Response, Request}, auth::{Caller, Identity, Principal, Rights}};
    /// # async fn people(api: &Api) -> Response {
    /// let identity = Identity::Authenticated(Principal::new(Tenant::new("acme"), Caller::with_rights(Rights::read_only())));
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
    /// Returns the target, or `None` if the URL is unknown. An HTTP layer can keep it beyond the
    /// request.
    ///
    /// Requirements: UND-35.
    #[must_use]
    pub fn target(&self) -> Option<&Arc<Target>> {
        self.target.as_ref()
    }

    /// Returns the operation, or `None` if this server does not offer it.
    ///
    /// Requirements: ERR-07.
    #[must_use]
    pub fn operation(&self) -> Option<&OfferedOperation> {
        self.operation.as_ref()
    }

    /// Returns the request, without its target.
    #[must_use]
    pub fn request(&self) -> &Request<'a> {
        &self.request
    }

    /// Returns the response if it does not depend on the caller.
    ///
    /// An unknown URL gets a 404 response, and `OPTIONS` a 204 response with `Allow`. All other
    /// requests return `None`.
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

    /// Determines the caller with the authenticator, from the key header and the request extensions
    /// of the vendor's layers.
    ///
    /// # Errors
    ///
    /// Returns the error response if the authenticator fails.
    ///
    /// Requirements: AUT-01.
    pub async fn authenticate(&mut self) -> Result<Identity, Response> {
        let now = *self.request.received_at.get_or_insert_with(Timestamp::now);
        let identity = self
            .api
            .identity(self.request.headers, &self.request.extensions, now)
            .await;
        let identity = identity.map_err(|error| {
            self.api
                .backend_error_response(self.target.as_deref(), error)
        })?;
        // Only requests for the change feed last long enough to be authenticated again.
        if self.target.as_deref() == Some(&Target::Changes) {
            self.request.identified_as = Some(Box::new(identity.clone()));
        }
        Ok(identity)
    }

    /// Decides whether the request may be executed.
    ///
    /// The checks are, in this order: an unknown URL, `OPTIONS`, the key, the operation, the right.
    /// The body is not read.
    ///
    /// # Errors
    ///
    /// Returns the response to a request that may not be executed:
    ///
    /// - the [immediate response](ResolvedRequest::immediate_response), which is the same for every
    ///   caller;
    /// - 401 for an invalid key, or for a missing key that is required;
    /// - 500 `NOT_IMPLEMENTED` if the operation is not offered, or 404 if the addressed record does
    ///   not exist either;
    /// - 403 for a key without the right, and on the change feed for a key that may read no kind;
    /// - 403 for a filter by members or a container that the key may not read;
    /// - 500 or 503 if a backend failed.
    ///
    /// Requirements: AUT-03, AUT-07, ERR-07, AUT-04, SYN-06, UND-39.
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
            Identity::Authenticated(principal) => Some(principal),
            Identity::Anonymous => None,
        };
        let with_key = known
            .as_ref()
            .is_some_and(|known| !known.caller.is_anonymous());
        let Some(operation) = operation else {
            return Err(match known {
                Some(principal) if with_key => Box::pin(call.not_offered(principal)).await,
                _ => call.unauthorized(),
            });
        };
        match (operation.right(), known) {
            (None, known) if operation.key_requirement() == KeyRequirement::None => {
                let principal =
                    known.unwrap_or_else(|| Principal::new(Tenant::new(""), Caller::anonymous()));
                Ok(call.admitted(operation, principal))
            }
            (right, Some(principal)) if with_key => {
                let caller = &principal.caller;
                // Only `RequiredRight::ReadAny` has no single right.
                if !right.map_or_else(|| caller.may_read_any(), |right| caller.has_right(right)) {
                    return Err(call.refused(
                        ErrorCode::KeyNotAllowed,
                        "This API key does not have the required permission.",
                    ));
                }
                let query = call.request.query;
                match api.hidden_members(caller, &call.target, query) {
                    Some(text) => Err(call.refused(ErrorCode::KeyNotAllowed, &text)),
                    None => Ok(call.admitted(operation, principal)),
                }
            }
            _ if operation.key_requirement() != KeyRequirement::Optional => {
                Err(call.unauthorized())
            }
            (_, Some(principal)) => Ok(call.admitted(operation, principal)),
            (_, None) => Box::pin(call.without_key(operation)).await,
        }
    }
}

/// A request whose URL has a target.
struct RoutedRequest<'a> {
    api: &'a Api,
    request: Request<'a>,
    target: Arc<Target>,
}

impl<'a> RoutedRequest<'a> {
    /// Authorizes an anonymous request for the tenant of the container that it addresses.
    ///
    /// Requirements: HLP-07.
    async fn without_key(
        self,
        operation: OfferedOperation,
    ) -> Result<AuthorizedRequest<'a>, Response> {
        let Target::Helper {
            container: Some(container),
            ..
        } = &*self.target
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
        let tenant = tenant.unwrap_or_else(|| Tenant::new(""));
        let admitted = self.admitted(operation, Principal::new(tenant, Caller::anonymous()));
        // As for a request with a key, the body is checked before the 404 for the container.
        Ok(if is_found {
            admitted
        } else {
            admitted.without_container()
        })
    }

    fn admitted(
        mut self,
        operation: OfferedOperation,
        principal: Principal,
    ) -> AuthorizedRequest<'a> {
        let context = self.request.context(self.api, principal);
        AuthorizedRequest::new(
            self.api,
            self.request,
            self.target,
            operation.spec(),
            context,
        )
    }

    /// Returns a 500 response, or a 404 response if the target does not exist for the caller's
    /// tenant.
    ///
    /// Requirements: UND-39.
    async fn not_offered(mut self, principal: Principal) -> Response {
        let context = self.request.context(self.api, principal);
        self.failed(match self.exists(&context).await {
            Ok(true) => Error::not_implemented(),
            Ok(false) => Error::not_found(),
            Err(error) => error,
        })
    }

    /// Returns whether the target exists for the caller's tenant.
    ///
    /// A record of a kind that cannot be read counts as existing.
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

/// Returns the record of a target, or the record that the target is below.
fn record_of(target: &Target) -> Option<&RecordAddress> {
    match target {
        Target::Record(at)
        | Target::Merge(at)
        | Target::MergeBatch(at)
        | Target::PersonMerges(at)
        | Target::UndoMerge(at, _)
        | Target::PersonDuplicates(at)
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
    /// Omits ids.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResolvedRequest")
            .field("request", &self.request)
            .field("operation", &self.operation)
            .finish_non_exhaustive()
    }
}
