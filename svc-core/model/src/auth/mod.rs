//! Who may do what: keys, rights and callers.
//!
//! Requirements: AUT-01 to AUT-08.

mod fixed_keys;
mod remembered;
mod tenant;

use std::{collections::BTreeSet, fmt, str::FromStr, sync::Arc};

use async_trait::async_trait;

pub use fixed_keys::FixedKeys;
pub use remembered::CachedAuthenticator;
pub use tenant::Tenant;

pub use crate::names::Operation;
use crate::{
    link::RecordAddress,
    names::{HelperName, Kind},
    value::{Id, Timestamp, digest},
};

/// One thing that a key may be allowed to do: an operation on a kind, a helper, or webhooks.
///
/// Requirements: AUT-04.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Right {
    /// An operation on the records of a kind, written `people.create`.
    Operation(Kind, Operation),
    /// A helper, written `helper.record_signature`.
    Helper(HelperName),
    /// Making, seeing, changing and deleting webhooks, written `webhooks.manage`.
    ///
    /// Requirements: HOOK-03.
    Webhooks,
}

impl Right {
    /// Every right that the interface knows.
    pub fn all() -> impl Iterator<Item = Right> {
        let on_kinds = Kind::ALL.iter().flat_map(|&kind| {
            Operation::ALL
                .iter()
                .map(move |&op| Right::Operation(kind, op))
        });
        on_kinds
            .chain(HelperName::ALL.iter().map(|&helper| Right::Helper(helper)))
            .chain([Right::Webhooks])
    }

    /// Whether it changes nothing.
    #[must_use]
    pub const fn is_read(self) -> bool {
        matches!(self, Self::Operation(_, operation) if operation.is_read())
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operation(kind, operation) => {
                write!(f, "{}.{}", kind.plural(), operation.as_str())
            }
            Self::Helper(helper) => write!(f, "helper.{}", helper.as_str()),
            Self::Webhooks => f.write_str("webhooks.manage"),
        }
    }
}

/// A text that names no right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no right has the name `{0}`: write `<collection>.<operation>` such as `people.create`, `helper.<name>`, or `webhooks.manage`"
)]
pub struct ParseRightError(String);

impl FromStr for Right {
    type Err = ParseRightError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::all()
            .find(|right| right.to_string() == text)
            .ok_or_else(|| ParseRightError(text.to_owned()))
    }
}

/// What a caller may do.
///
/// Keys of few rights stand in web forms, so no answer shows what its key may not read: without
/// `people.read` a create, an update or a match answers with id, dates and links alone, and a
/// report of a partly failed call has no person in it. Without `people.update` an inline person who
/// is known stays as it is.
///
/// # Examples
///
/// ```
/// use svc_core::auth::{Operation, Right, Rights};
/// use svc_core::model::Kind;
///
/// let read: Right = "people.read".parse()?;
/// let sign: Right = "helper.record_signature".parse()?;
/// assert_eq!(read, Right::Operation(Kind::Person, Operation::Read));
///
/// let rights = Rights::only([read, sign]);
/// assert!(rights.contains(read) && rights.contains(sign));
/// assert!(!rights.contains("people.delete".parse()?));
/// assert!(!rights.without_writes().contains(sign));
/// # Ok::<(), svc_core::auth::ParseRightError>(())
/// ```
///
/// Requirements: AUT-04, ERR-32, UND-31.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rights {
    /// Only these; all when `None`.
    only: Option<BTreeSet<Right>>,
    read_only: bool,
}

impl Rights {
    /// Everything.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// Everything that changes nothing.
    #[must_use]
    pub fn read_only() -> Self {
        Self {
            only: None,
            read_only: true,
        }
    }

    /// Only these.
    pub fn only(rights: impl IntoIterator<Item = Right>) -> Self {
        Self {
            only: Some(rights.into_iter().collect()),
            read_only: false,
        }
    }

    /// The same without everything that changes something.
    #[must_use]
    pub fn without_writes(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Whether this may be done.
    #[must_use]
    pub fn contains(&self, right: Right) -> bool {
        (!self.read_only || right.is_read())
            && self.only.as_ref().is_none_or(|only| only.contains(&right))
    }
}

/// Who asks: the bearer of a key, or somebody without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    rights: Option<Rights>,
    person: Option<Id>,
    key: Option<Arc<str>>,
}

impl Caller {
    /// Somebody without a key.
    ///
    /// Requirements: HLP-07.
    #[must_use]
    pub fn anonymous() -> Self {
        Self {
            rights: None,
            person: None,
            key: None,
        }
    }

    /// The bearer of a key.
    #[must_use]
    pub fn with_rights(rights: Rights) -> Self {
        Self {
            rights: Some(rights),
            person: None,
            key: None,
        }
    }

    /// With the person that the key is bound to: the `creator` and `modified_by` of what it writes.
    ///
    /// Requirements: RES-petition-17.
    #[must_use]
    pub fn with_person(mut self, person: Option<Id>) -> Self {
        self.person = person;
        self
    }

    /// With a name of the key, such as its number; never the key itself. Answers that are kept
    /// under `Idempotency-Key` are given to the key that had them first; keys without names share
    /// them with those that may do the same. Webhooks show the name of the key that created them,
    /// and `disable_webhooks` finds them by it.
    ///
    /// Requirements: IDM-07, HOOK-15.
    #[must_use]
    pub fn with_key_name(mut self, key: impl Into<Arc<str>>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// The name of the key; `None` for an anonymous caller and for a key without a name.
    #[must_use]
    pub fn key_name(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// What tells this caller from those to whom other answers may be due: without a space, at most
    /// 64 bytes.
    pub fn scope(&self) -> String {
        match (&self.rights, &self.key) {
            (None, _) => "anybody".to_owned(),
            (_, Some(key)) => format!("key:{:032x}", digest(key.as_bytes())),
            (Some(rights), None) => {
                let person = self.person.as_ref().map_or("", Id::as_str);
                let rights: String = Right::all()
                    .map(|right| if rights.contains(right) { '1' } else { '0' })
                    .collect();
                format!(
                    "rights:{:032x}",
                    digest(format!("{rights} {person}").as_bytes())
                )
            }
        }
    }

    /// Whether there is no key.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.rights.is_none()
    }

    /// The person that the key is bound to.
    #[must_use]
    pub fn person(&self) -> Option<&Id> {
        self.person.as_ref()
    }

    /// Whether the caller may do this. Without a key: never; anonymous helper calls are a matter of
    /// the service.
    #[must_use]
    pub fn has_right(&self, right: Right) -> bool {
        self.rights
            .as_ref()
            .is_some_and(|rights| rights.contains(right))
    }

    /// Whether the caller may read the records of at least one kind.
    #[must_use]
    pub fn may_read_any(&self) -> bool {
        Kind::ALL
            .iter()
            .any(|kind| self.has_right(Right::Operation(*kind, Operation::Read)))
    }
}

/// Who a request comes from, as far as its key tells.
///
/// Requirements: AUT-03.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// Somebody the authenticator knows: whose data the request works on, and who asks.
    Authenticated(Tenant, Caller),
    /// Somebody without a key.
    Anonymous,
    /// The bearer of a key that is not valid.
    InvalidKey,
}

/// What an authenticator sees of a request: never its body.
///
/// Requirements: UND-39.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Credentials<'a> {
    /// The value of the key header, when there is one.
    pub key: Option<&'a str>,
    /// All headers.
    pub headers: &'a http::HeaderMap,
    /// What the vendor's own layers attached to the request.
    pub extensions: &'a http::Extensions,
    /// The time of receipt.
    pub now: Timestamp,
}

impl<'a> Credentials<'a> {
    /// What came with a request at this time.
    #[must_use]
    pub fn new(
        key: Option<&'a str>,
        headers: &'a http::HeaderMap,
        extensions: &'a http::Extensions,
        now: Timestamp,
    ) -> Self {
        Self {
            key,
            headers,
            extensions,
            now,
        }
    }
}

impl fmt::Debug for Credentials<'_> {
    /// Without the key, and without headers, where it stands, too.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("has_key", &self.key.is_some())
            .finish_non_exhaustive()
    }
}

impl Credentials<'_> {
    /// Whether nothing is there that could authenticate the request.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.key.is_none()
    }
}

/// Turns a request into a caller and a tenant.
///
/// # Behaviour
///
/// - A key that is not valid gives `Ok(None)`, which becomes 401 everywhere, the entry point
///   included.
/// - It is called only when the request has a key, and [`Authenticator::authenticate_without_key`]
///   when it has none.
/// - An `Err` becomes 500 or 503; nothing of the key goes into it.
///
/// # Examples
///
/// ```
/// use std::collections::HashMap;
///
/// use svc_core::{Result, Tenant, auth::{Authenticator, Caller, Credentials, Rights}};
///
/// /// The companies by the digest of their keys, as the vendor has them.
/// struct Keys(HashMap<Vec<u8>, i64>);
/// # fn digest(key: &str) -> Vec<u8> { key.bytes().rev().collect() }
///
/// #[async_trait::async_trait]
/// impl Authenticator for Keys {
///     async fn authenticate(&self, credentials: Credentials<'_>) -> Result<Option<(Tenant, Caller)>> {
///         let company = credentials.key.and_then(|key| self.0.get(&digest(key)));
///         Ok(company.map(|company| (Tenant::new(company.to_string()), Caller::with_rights(Rights::all()))))
///     }
/// }
/// ```
///
/// Requirements: AUT-01 to AUT-07, AUT-03.
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an authenticator",
    label = "missing `impl Authenticator for {Self}`",
    note = "implement `svc_core::auth::Authenticator` for it: a key goes in, tenant and rights come out"
)]
pub trait Authenticator: Send + Sync {
    /// The tenant and the caller that the key stands for; `None` when it is not valid.
    async fn authenticate(
        &self,
        credentials: Credentials<'_>,
    ) -> crate::Result<Option<(Tenant, Caller)>>;

    /// The tenant and caller of a request without a key header; `None`, the usual answer, when it
    /// is nobody.
    async fn authenticate_without_key(
        &self,
        credentials: Credentials<'_>,
    ) -> crate::Result<Option<(Tenant, Caller)>> {
        let _ = credentials;
        Ok(None)
    }
}

/// Finds the tenant that an anonymous helper call works on: that of the container in its path.
///
/// # Examples
///
/// ```
/// use std::collections::HashMap;
///
/// use svc_core::{Result, Tenant, auth::TenantResolver, link::RecordAddress, model::Kind};
///
/// /// The companies by the numbers of their campaigns.
/// struct Campaigns(HashMap<i64, i64>);
///
/// #[async_trait::async_trait]
/// impl TenantResolver for Campaigns {
///     async fn tenant_of(&self, container: &RecordAddress) -> Result<Option<Tenant>> {
///         let number = container.id.number().filter(|_| container.kind == Kind::Petition);
///         Ok(number.and_then(|number| self.0.get(&number)).map(|company| Tenant::new(company.to_string())))
///     }
/// }
/// ```
///
/// Requirements: HLP-07.
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot find the tenant of an anonymous helper call",
    label = "missing `impl TenantResolver for {Self}`",
    note = "implement `svc_core::auth::TenantResolver` for it, or leave anonymous helpers disabled"
)]
pub trait TenantResolver: Send + Sync {
    /// The tenant that has this container; `None` when nobody has.
    async fn tenant_of(&self, container: &RecordAddress) -> crate::Result<Option<Tenant>>;
}

/// A vendor's own type that is shared is an authenticator as it is.
#[async_trait]
impl<T: Authenticator + ?Sized> Authenticator for Arc<T> {
    async fn authenticate(
        &self,
        credentials: Credentials<'_>,
    ) -> crate::Result<Option<(Tenant, Caller)>> {
        (**self).authenticate(credentials).await
    }

    async fn authenticate_without_key(
        &self,
        credentials: Credentials<'_>,
    ) -> crate::Result<Option<(Tenant, Caller)>> {
        (**self).authenticate_without_key(credentials).await
    }
}

#[async_trait]
impl<T: TenantResolver + ?Sized> TenantResolver for Arc<T> {
    async fn tenant_of(&self, container: &RecordAddress) -> crate::Result<Option<Tenant>> {
        (**self).tenant_of(container).await
    }
}
