//! The continuation in a `next` link: where a page ended, readable only by the file that wrote it (UND-14).

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::hex;

/// Bytes of the tag that proves a continuation, and of the row id it hides.
const TAG: usize = 12;
const SEQ: usize = 8;

/// Writes and reads the continuations of one data file.
///
/// A continuation is bound to its tenant and its collection. Elsewhere, or when a single character was changed, it
/// reads as nothing. The row id is hidden, so that nobody learns how many records other tenants have.
#[derive(Clone)]
pub(crate) struct Continuations {
    /// HMAC-SHA-256 after its two pads.
    inner: Sha256,
    outer: Sha256,
}

impl Continuations {
    /// With the secret of a data file.
    pub(crate) fn new(secret: &[u8; 32]) -> Self {
        let padded = |pad: u8| {
            let mut block = [pad; 64];
            for (byte, of_secret) in block.iter_mut().zip(secret) {
                *byte ^= of_secret;
            }
            Sha256::new().chain_update(block)
        };
        Self { inner: padded(0x36), outer: padded(0x5C) }
    }

    /// The continuation behind the record in row `seq`: letters and digits only.
    pub(crate) fn write(&self, tenant: i64, collection: &[u8], seq: i64) -> String {
        let tag = self.tag(tenant, collection, seq);
        let hidden = seq.to_be_bytes();
        let mut bytes = [0; TAG + SEQ];
        let hide = self.hide(tenant, collection, tag);
        for (byte, value) in bytes.iter_mut().zip(tag.into_iter().chain(hidden.iter().zip(hide).map(|(a, b)| a ^ b))) {
            *byte = value;
        }
        hex::encode(&bytes)
    }

    /// The row id in a continuation; `None` when it is damaged, or of another tenant, collection or file.
    pub(crate) fn read(&self, tenant: i64, collection: &[u8], text: &str) -> Option<i64> {
        let bytes: [u8; TAG + SEQ] = hex::decode(text)?;
        let (tag, hidden) = bytes.split_first_chunk::<TAG>()?;
        let mut seq = *hidden.first_chunk::<SEQ>()?;
        for (byte, hide) in seq.iter_mut().zip(self.hide(tenant, collection, *tag)) {
            *byte ^= hide;
        }
        let seq = i64::from_be_bytes(seq);
        bool::from(self.tag(tenant, collection, seq).ct_eq(tag)).then_some(seq)
    }

    fn tag(&self, tenant: i64, collection: &[u8], seq: i64) -> [u8; TAG] {
        first(self.mac(b't', tenant, collection, &seq.to_be_bytes()))
    }

    fn hide(&self, tenant: i64, collection: &[u8], tag: [u8; TAG]) -> [u8; SEQ] {
        first(self.mac(b'h', tenant, collection, &tag))
    }

    /// All parts but the collection have a fixed length for each purpose, so no two messages are alike.
    fn mac(&self, purpose: u8, tenant: i64, collection: &[u8], end: &[u8]) -> [u8; 32] {
        let mut inner = self.inner.clone();
        inner.update([purpose]);
        inner.update(tenant.to_be_bytes());
        inner.update(collection);
        inner.update(end);
        self.outer.clone().chain_update(inner.finalize()).finalize().into()
    }
}

fn first<const N: usize>(mac: [u8; 32]) -> [u8; N] {
    std::array::from_fn(|index| mac.get(index).copied().unwrap_or_default())
}

impl fmt::Debug for Continuations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Continuations")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: [u8; 32] = [7; 32];

    /// The MAC is HMAC-SHA-256: RFC 4231, test case 2 with its key filled with zeros as HMAC does.
    #[test]
    fn the_mac_is_hmac() {
        let mut key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        let file = Continuations::new(&key);
        let mut inner = file.inner.clone();
        inner.update(b"what do ya want for nothing?");
        let mac = file.outer.clone().chain_update(inner.finalize()).finalize();
        assert_eq!(hex::encode(&mac), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn neighbours_look_unrelated() {
        let file = Continuations::new(&SECRET);
        let (one, two) = (file.write(1, b"people", 1), file.write(1, b"people", 2));
        let alike = one.bytes().zip(two.bytes()).filter(|(one, two)| one == two).count();
        assert!(alike < 12, "{one} {two}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(14), ..ProptestConfig::default() })]

        /// UND-14: it reads back in its own collection, and nowhere else.
        #[test]
        fn bound_to_its_collection(tenant: i64, collection: Vec<u8>, seq: i64, other: i64, elsewhere: Vec<u8>) {
            let file = Continuations::new(&SECRET);
            let text = file.write(tenant, &collection, seq);
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric()));
            prop_assert_eq!(file.read(tenant, &collection, &text), Some(seq));
            prop_assert_eq!(Continuations::new(&[8; 32]).read(tenant, &collection, &text), None);
            if other != tenant {
                prop_assert_eq!(file.read(other, &collection, &text), None);
            }
            if elsewhere != collection {
                prop_assert_eq!(file.read(tenant, &elsewhere, &text), None);
            }
        }

        /// UND-14: one that was damaged reads as nothing.
        #[test]
        fn damage_is_seen(seq: i64, place in 0_usize..40, text in "\\PC*", digit in "[0-9a-f]") {
            let file = Continuations::new(&SECRET);
            let whole = file.write(1, b"people", seq);
            let mut damaged = whole.clone();
            damaged.replace_range(place..=place, &digit);
            if damaged != whole {
                prop_assert_eq!(file.read(1, b"people", &damaged), None);
            }
            prop_assert_eq!(file.read(1, b"people", &text), None);
        }
    }
}
