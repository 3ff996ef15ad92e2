//! Authentication and authorization: keys, rights and callers.
//!
//! Requirements: AUT-01 to AUT-08.

mod cached;
mod fixed_keys;
mod tenant;

use std::{collections::BTreeSet, fmt, str::FromStr, sync::Arc};

use async_trait::async_trait;

pub use cached::CachedAuthenticator;
pub use fixed_keys::FixedKeys;
pub use tenant::Tenant;

pub use crate::names::Operation;
use crate::{
    link::RecordAddress,
    names::{HelperName, Kind},
    value::{Id, Timestamp, digest},
};

/// A permission of a key: an operation on a kind, a helper, the management of webhooks, or merges of
/// people.
///
/// Requirements: AUT-04.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Right {
    /// An operation on the records of a kind, written `people.create`.
    Operation(Kind, Operation),
    /// A helper, written `helper.record_signature`.
    Helper(HelperName),
    /// Creating, reading, changing and deleting webhooks, written `webhooks.manage`.
    ///
    /// Requirements: HOOK-03.
    Webhooks,
    /// Merging a person into another one, written `people.merge`.
    ///
    /// Requirements: MRG-01.
    MergePeople,
}

impl Right {
    /// Returns every right that the API defines.
    pub fn all() -> impl Iterator<Item = Right> {
        let on_kinds = Kind::ALL.iter().flat_map(|&kind| {
            Operation::ALL
                .iter()
                .map(move |&op| Right::Operation(kind, op))
        });
        on_kinds
            .chain(HelperName::ALL.iter().map(|&helper| Right::Helper(helper)))
            .chain([Right::Webhooks, Right::MergePeople])
    }

    /// Returns whether the right permits reading only.
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
            Self::MergePeople => f.write_str("people.merge"),
        }
    }
}

/// Error returned when a text is not the name of a right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no right has the name `{0}`: write `<collection>.<operation>` such as `people.create`, `helper.<name>`, `people.merge`, or `webhooks.manage`"
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

/// The rights of a caller.
///
/// Keys with few rights are used in web forms, so a response never contains data that its key may
/// not read. Without `people.read`, the response to a create, an update or a match contains only
/// id, dates and links. The report of a partly failed helper request then contains no person.
/// Without `people.update`, an existing person that a helper matches remains unchanged.
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
    /// The granted rights; `None` means all.
    only: Option<BTreeSet<Right>>,
    read_only: bool,
}

impl Rights {
    /// Grants every right.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// Grants every right that permits reading only.
    #[must_use]
    pub fn read_only() -> Self {
        Self {
            only: None,
            read_only: true,
        }
    }

    /// Grants only the given rights.
    pub fn only(rights: impl IntoIterator<Item = Right>) -> Self {
        Self {
            only: Some(rights.into_iter().collect()),
            read_only: false,
        }
    }

    /// Removes every right that permits changes.
    #[must_use]
    pub fn without_writes(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Returns whether the right is granted.
    #[must_use]
    pub fn contains(&self, right: Right) -> bool {
        (!self.read_only || right.is_read())
            && self.only.as_ref().is_none_or(|only| only.contains(&right))
    }
}

/// The party that sends a request: the owner of a key, or an anonymous caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    rights: Option<Rights>,
    person: Option<Id>,
    key: Option<Arc<str>>,
}

impl Caller {
    /// Creates an anonymous caller, which has no key.
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

    /// Creates a caller with a key that has these rights.
    #[must_use]
    pub fn with_rights(rights: Rights) -> Self {
        Self {
            rights: Some(rights),
            person: None,
            key: None,
        }
    }

    /// Sets the person that the key is bound to: the `creator` and `modified_by` of what it writes.
    ///
    /// Requirements: RES-petition-17.
    #[must_use]
    pub fn with_person(mut self, person: Option<Id>) -> Self {
        self.person = person;
        self
    }

    /// Sets a name of the key, such as its number. Never use the key itself.
    ///
    /// Responses stored under an `Idempotency-Key` are only returned to the key that sent the first
    /// request. Keys without names share stored responses with other unnamed keys of the same
    /// rights and person. A webhook shows the name of the key that created it, and
    /// `disable_webhooks` finds webhooks by this name.
    ///
    /// Requirements: IDM-07, HOOK-15.
    #[must_use]
    pub fn with_key_name(mut self, key: impl Into<Arc<str>>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Returns the name of the key, or `None` for an anonymous caller and for a key without a name.
    #[must_use]
    pub fn key_name(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Returns a text that differs for callers that may get different responses.
    ///
    /// The text has at most 64 bytes and contains no space.
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

    /// Returns whether the caller has no key.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.rights.is_none()
    }

    /// Returns the person that the key is bound to.
    #[must_use]
    pub fn person(&self) -> Option<&Id> {
        self.person.as_ref()
    }

    /// Returns whether the caller has the right.
    ///
    /// An anonymous caller has no rights. The service decides about anonymous helper requests.
    #[must_use]
    pub fn has_right(&self, right: Right) -> bool {
        self.rights
            .as_ref()
            .is_some_and(|rights| rights.contains(right))
    }

    /// Returns whether the caller may read the records of at least one kind.
    #[must_use]
    pub fn may_read_any(&self) -> bool {
        Kind::ALL
            .iter()
            .any(|kind| self.has_right(Right::Operation(*kind, Operation::Read)))
    }
}

/// A known caller, and the tenant whose data it uses.
///
/// Requirements: AUT-02.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The tenant.
    pub tenant: Tenant,
    /// The caller.
    pub caller: Caller,
}

impl Principal {
    /// Creates the principal of a caller that uses the data of a tenant.
    #[must_use]
    pub const fn new(tenant: Tenant, caller: Caller) -> Self {
        Self { tenant, caller }
    }
}

/// The origin of a request, as determined by its key.
///
/// Requirements: AUT-03.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// A known caller.
    Authenticated(Principal),
    /// A caller without a key.
    Anonymous,
    /// A caller whose key is not valid.
    InvalidKey,
}

/// The parts of a request that an authenticator can use. The body is never among them.
///
/// Requirements: UND-39.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Credentials<'a> {
    /// The value of the key header, if present.
    pub key: Option<&'a str>,
    /// All headers.
    pub headers: &'a http::HeaderMap,
    /// Values that the layers of the vendor attached to the request.
    pub extensions: &'a http::Extensions,
    /// The time when the request was received.
    pub now: Timestamp,
}

impl<'a> Credentials<'a> {
    /// Creates the credentials of a request received at `now`.
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
    /// Omits the key and the headers, because they can contain the key.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("has_key", &self.key.is_some())
            .finish_non_exhaustive()
    }
}

impl Credentials<'_> {
    /// Returns whether the request contains nothing that could authenticate it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.key.is_none()
    }
}

/// Determines the principal of a request: its tenant and its caller.
///
/// # Behaviour
///
/// - Return `Ok(None)` for a key that is not valid. The response is then 401 for every URL,
///   including the entry point.
/// - The method is called only if the request has a key. Otherwise
///   [`Authenticator::authenticate_without_key`] is called.
/// - An `Err` becomes a 500 or 503 response. Do not include the key in the error.
///
/// # Examples
///
/// ```
/// use std::collections::HashMap;
///
/// use svc_core::{Result, Tenant, auth::{Authenticator, Caller, Credentials, Principal, Rights}};
///
/// // Maps the digest of a key to a company.
/// struct Keys(HashMap<Vec<u8>, i64>);
/// # fn digest(key: &str) -> Vec<u8> { key.bytes().rev().collect() }
///
/// #[async_trait::async_trait]
/// impl Authenticator for Keys {
///     async fn authenticate(&self, credentials: Credentials<'_>) -> Result<Option<Principal>> {
///         let company = credentials.key.and_then(|key| self.0.get(&digest(key)));
///         let caller = Caller::with_rights(Rights::all());
///         Ok(company.map(|company| Principal::new(Tenant::new(company.to_string()), caller)))
///     }
/// }
/// ```
///
/// Requirements: AUT-01 to AUT-07.
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an authenticator",
    label = "missing `impl Authenticator for {Self}`",
    note = "implement `svc_core::auth::Authenticator` for it: it gets a key and returns a `Principal`, which is a tenant and a caller"
)]
pub trait Authenticator: Send + Sync {
    /// Returns the tenant and the caller of the key, or `None` if the key is not valid.
    async fn authenticate(&self, credentials: Credentials<'_>) -> crate::Result<Option<Principal>>;

    /// Returns the tenant and the caller of a request without a key header.
    ///
    /// `None`, the default, means that the caller is anonymous.
    async fn authenticate_without_key(
        &self,
        credentials: Credentials<'_>,
    ) -> crate::Result<Option<Principal>> {
        let _ = credentials;
        Ok(None)
    }
}

/// Finds the tenant of an anonymous helper request by the container in its path.
///
/// # Examples
///
/// ```
/// use std::collections::HashMap;
///
/// use svc_core::{Result, Tenant, auth::TenantResolver, link::RecordAddress, model::Kind};
///
/// // Maps the number of a campaign to a company.
/// struct Campaigns(HashMap<i64, i64>);
///
/// #[async_trait::async_trait]
/// impl TenantResolver for Campaigns {
///     async fn tenant_of(&self, container: &RecordAddress) -> Result<Option<Tenant>> {
///         let number = container.id.as_number().filter(|_| container.kind == Kind::Petition);
///         Ok(number.and_then(|number| self.0.get(&number)).map(|company| Tenant::new(company.to_string())))
///     }
/// }
/// ```
///
/// Requirements: HLP-07.
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot find the tenant of an anonymous helper request",
    label = "missing `impl TenantResolver for {Self}`",
    note = "implement `svc_core::auth::TenantResolver` for it, or leave anonymous helpers disabled"
)]
pub trait TenantResolver: Send + Sync {
    /// Returns the tenant that owns the container, or `None` if it does not exist.
    async fn tenant_of(&self, container: &RecordAddress) -> crate::Result<Option<Tenant>>;
}

/// A shared authenticator is an authenticator.
#[async_trait]
impl<T: Authenticator + ?Sized> Authenticator for Arc<T> {
    async fn authenticate(&self, credentials: Credentials<'_>) -> crate::Result<Option<Principal>> {
        (**self).authenticate(credentials).await
    }

    async fn authenticate_without_key(
        &self,
        credentials: Credentials<'_>,
    ) -> crate::Result<Option<Principal>> {
        (**self).authenticate_without_key(credentials).await
    }
}

#[async_trait]
impl<T: TenantResolver + ?Sized> TenantResolver for Arc<T> {
    async fn tenant_of(&self, container: &RecordAddress) -> crate::Result<Option<Tenant>> {
        (**self).tenant_of(container).await
    }
}
