//! Which names a store gives tenants.
//!
//! Requirements: AUT-02.

use svc_core::{
    context::Tenant,
    error::{Error, Result},
};

/// A tenant with a name that can stand in lists and command lines.
///
/// # Errors
///
/// A name that is empty, longer than 64 bytes, or has control characters or spaces.
pub fn new_tenant(name: &str) -> Result<Tenant> {
    let is_fit = |letter: char| !letter.is_control() && !letter.is_whitespace();
    if (1..=64).contains(&name.len()) && name.chars().all(is_fit) {
        Ok(Tenant::new(name))
    } else {
        Err(Error::unexpected(
            "a tenant's name has 1 to 64 bytes and neither spaces nor control characters",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AUT-02.
    #[test]
    fn names_are_short_and_visible() {
        for name in ["a", "acme", "Grüne", &"x".repeat(64)] {
            assert_eq!(new_tenant(name).unwrap().as_str(), name);
        }
        for name in ["", " ", "a b", "a\n", "\u{7f}", "a\u{a0}b", &"x".repeat(65)] {
            assert!(new_tenant(name).is_err(), "{name:?}");
        }
    }
}
