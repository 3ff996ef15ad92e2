//! The hashes by which a store finds records. They do not reveal the original text.
//!
//! Requirements: UND-26.

use sha2::{Digest, Sha256};
use svc_core::value::{Identifier, forms};

/// The lookup hash of a text: the first half of its SHA-256.
pub type LookupHash = [u8; 16];

/// Returns the lookup hash of a foreign identifier.
///
/// Requirements: UND-24.
#[must_use]
pub fn hash_identifier(identifier: &Identifier) -> LookupHash {
    hash(identifier.as_str())
}

/// Returns the lookup hash of an e-mail address in the form in which it is compared.
///
/// Requirements: HLP-04.
#[must_use]
pub fn hash_email(address: &str) -> LookupHash {
    hash(&forms::match_form(address))
}

fn hash(text: &str) -> LookupHash {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    digest.first_chunk().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An e-mail address is found in every notation.
    ///
    /// Requirements: HLP-04.
    #[test]
    fn an_address_is_found_in_any_case() {
        assert_eq!(hash_email("Ada@Example.ORG"), hash_email("ada@example.org"));
        assert_ne!(hash_email("ada@example.org"), hash_email("eve@example.org"));
    }
}
