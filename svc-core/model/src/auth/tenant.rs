//! Tenants.

use std::sync::Arc;

/// A tenant: the customer whose data a request works on.
///
/// Requirements: COL-02, AUT-02.
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

    /// The number that it was made from, where a vendor's tenants are numbers. `007` is not made
    /// from one: no two tenants have the same number.
    #[must_use]
    pub fn as_number(&self) -> Option<i64> {
        self.0
            .parse()
            .ok()
            .filter(|number: &i64| *number.to_string() == *self.0)
    }
}

impl From<i64> for Tenant {
    /// The tenant with this number in the vendor's own tables.
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
