//! What a store finds records by: nothing of it can be read from the data.
//!
//! Requirements: UND-26.

use sha2::{Digest, Sha256};
use svc_core::{helper::normalize_email, value::Identifier};

/// What a text is looked up by: the first half of its SHA-256.
pub type LookupHash = [u8; 16];

/// What a foreign identifier is looked up by.
///
/// Requirements: UND-24.
#[must_use]
pub fn identifier(identifier: &Identifier) -> LookupHash {
    hash(identifier.as_str())
}

/// What an e-mail address is looked up by: compared without regard to the case of Latin letters.
///
/// Requirements: HLP-04.
#[must_use]
pub fn email(address: &str) -> LookupHash {
    hash(&normalize_email(address))
}

fn hash(text: &str) -> LookupHash {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    digest.first_chunk().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HLP-04: however an address is written, it is found.
    #[test]
    fn an_address_is_found_in_any_case() {
        assert_eq!(email("Ada@Example.ORG"), email("ada@example.org"));
        assert_ne!(email("ada@example.org"), email("eve@example.org"));
    }
}
