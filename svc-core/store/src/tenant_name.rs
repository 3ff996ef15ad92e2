//! The rules for names of tenants.
//!
//! Requirements: AUT-02.

use svc_core::{
    context::Tenant,
    error::{Error, Result},
};

/// Creates a tenant with a name that can be used in lists and command lines.
///
/// # Errors
///
/// Returns an error if the name is empty, longer than 64 bytes, or contains control characters or
/// spaces.
pub fn parse_tenant(name: &str) -> Result<Tenant> {
    let is_fit = |letter: char| !letter.is_control() && !letter.is_whitespace();
    if (1..=64).contains(&name.len()) && name.chars().all(is_fit) {
        Ok(Tenant::new(name))
    } else {
        Err(Error::unexpected(
            "a tenant name must have 1 to 64 bytes, without spaces and control characters",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tenant names are limited in length and characters.
    ///
    /// Requirements: AUT-02.
    #[test]
    fn names_are_short_and_visible() {
        for name in ["a", "acme", "Grüne", &"x".repeat(64)] {
            assert_eq!(parse_tenant(name).unwrap().as_str(), name);
        }
        for name in ["", " ", "a b", "a\n", "\u{7f}", "a\u{a0}b", &"x".repeat(65)] {
            assert!(parse_tenant(name).is_err(), "{name:?}");
        }
    }
}
