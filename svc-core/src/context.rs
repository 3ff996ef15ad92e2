//! Who asks, for which tenant, when, and under which address.

use std::{fmt, sync::Arc, time::Instant};

use crate::{auth::Caller, ops::Transactions, value::Timestamp};

/// A tenant: the customer whose data a request works on (COL-02, AUT-02).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tenant(Arc<str>);

impl Tenant {
    /// The tenant of this name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// Its name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number that it was made from, where a vendor's tenants are numbers. `007` is not made from one: no two tenants
    /// have the same number.
    #[must_use]
    pub fn number(&self) -> Option<i64> {
        self.0.parse().ok().filter(|number: &i64| *number.to_string() == *self.0)
    }
}

impl From<i64> for Tenant {
    /// The tenant with this number in the vendor's own tables.
    fn from(number: i64) -> Self {
        Self::new(number.to_string())
    }
}

/// What every operation of a backend is told besides its arguments.
#[derive(Debug, Clone)]
pub struct Context {
    /// Whose data the request works on. A backend never sees two tenants at once.
    pub tenant: Tenant,
    /// Who asks.
    pub caller: Caller,
    /// Names the request in logs.
    pub request_id: uuid::Uuid,
    /// The time of receipt.
    pub now: Timestamp,
    /// When the answer is no longer waited for.
    pub deadline: Option<Instant>,
    /// What the vendor's own layers attached to the request.
    pub extensions: http::Extensions,
    /// The address of the entry point under which the request came, with a slash at the end (HAL-01).
    pub base: Base,
}

impl Context {
    /// A context for a tenant at this moment, for tests and for programs that call a backend themselves.
    #[must_use]
    pub fn new(tenant: Tenant, caller: Caller, now: Timestamp) -> Self {
        Self {
            tenant,
            caller,
            request_id: uuid::Uuid::new_v4(),
            now,
            deadline: None,
            extensions: http::Extensions::new(),
            base: Base::default(),
        }
    }

    /// The transaction that this operation is a part of: that of a composed helper, where [`Transactions`] are registered.
    ///
    /// It is lent for the time of the operation: one that is kept longer cannot be committed.
    #[must_use]
    pub fn transaction<T: Transactions>(&self) -> Option<Arc<T::Open>> {
        self.extensions.get().map(Arc::clone)
    }

    /// Whether the request has no key (HLP-07).
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.caller.is_anonymous()
    }
}

/// The absolute address of the entry point, with a slash at the end (HAL-01).
#[derive(Clone, PartialEq, Eq)]
pub struct Base(Arc<str>);

impl Default for Base {
    fn default() -> Self {
        Self(Arc::from("http://localhost/"))
    }
}

impl Base {
    /// From an address; a missing slash at the end is added.
    ///
    /// `None` unless it is an absolute http or https address without query, fragment and user.
    #[must_use]
    pub fn new(url: &str) -> Option<Self> {
        let uri: http::Uri = url.parse().ok()?;
        let scheme = uri.scheme_str()?;
        let authority = uri.authority()?;
        let is_plain = uri.query().is_none() && !url.contains('#') && !authority.as_str().contains('@');
        if !matches!(scheme, "http" | "https") || authority.host().is_empty() || !is_plain {
            return None;
        }
        let slash = if uri.path().ends_with('/') { "" } else { "/" };
        Some(Self(format!("{scheme}://{authority}{}{slash}", uri.path()).into()))
    }

    /// The address, with a slash at the end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Tenant;

    #[test]
    fn col_02_no_two_tenants_have_one_number() {
        assert_eq!(Tenant::from(7).number(), Some(7));
        assert_eq!(Tenant::from(-7).number(), Some(-7));
        for other in ["007", "+7", "-0", "7 ", "seven", "", "9223372036854775808"] {
            assert_eq!(Tenant::new(other).number(), None, "{other}");
        }
    }
}
