//! Tenants.

use std::sync::Arc;

/// A tenant: the customer whose data a request uses.
///
/// Requirements: COL-02, AUT-02.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tenant(Arc<str>);

impl Tenant {
    /// Creates a tenant with this name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the number that the tenant was created from, if its name is a number in canonical
    /// form.
    ///
    /// `007` is not canonical, so no two tenants have the same number.
    #[must_use]
    pub fn as_number(&self) -> Option<i64> {
        self.0
            .parse()
            .ok()
            .filter(|number: &i64| *number.to_string() == *self.0)
    }
}

impl From<i64> for Tenant {
    /// Creates a tenant from its number in the tables of the vendor.
    fn from(number: i64) -> Self {
        Self::new(number.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::Tenant;

    #[test]
    fn col_02_no_two_tenants_have_one_number() {
        assert_eq!(Tenant::from(7).as_number(), Some(7));
        assert_eq!(Tenant::from(-7).as_number(), Some(-7));
        for other in ["007", "+7", "-0", "7 ", "seven", "", "9223372036854775808"] {
            assert_eq!(Tenant::new(other).as_number(), None, "{other}");
        }
    }
}
