//! Secrets and signatures, as Standard Webhooks 1.0 has them.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::error::Result;

/// What every secret begins with.
const PREFIX: &str = "whsec_";
/// Random bytes of a secret.
const BYTES: usize = 32;

/// A secret of a webhook: who has it can tell that a message is from this server. Neither logs nor
/// lists show it.
///
/// Requirements: HOOK-08.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WebhookSecret(String);

impl WebhookSecret {
    /// A new one: 256 random bits.
    ///
    /// # Errors
    ///
    /// Where the system gives no random bytes.
    pub fn random() -> Result<Self> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(format!("{PREFIX}{}", STANDARD.encode(bytes))))
    }

    /// The secret in the form in which it is shown once: `whsec_` and base64.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The signature of a message: `v1,` and the base64 of HMAC-SHA256 over id, time in seconds and
    /// body.
    #[must_use]
    pub fn sign(&self, id: &str, seconds: i64, body: &[u8]) -> String {
        // What is kept was made by `random`. Of anything else nobody would know the signature.
        let key = self
            .0
            .strip_prefix(PREFIX)
            .and_then(|text| STANDARD.decode(text).ok())
            .unwrap_or_default();
        let Ok(mac) = Hmac::<Sha256>::new_from_slice(&key) else {
            return String::new();
        };
        let mac = mac
            .chain_update(format!("{id}.{seconds}."))
            .chain_update(body);
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HOOK-08: the example of the standard's own verifiers.
    #[test]
    fn a_signature_is_that_of_the_standard() {
        let secret = WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned());
        let signed = secret.sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            br#"{"test": 2432232314}"#,
        );
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn secrets_are_random_and_not_shown() {
        let (one, other) = (
            WebhookSecret::random().unwrap(),
            WebhookSecret::random().unwrap(),
        );
        assert!(one != other && one.reveal().starts_with("whsec_"));
        assert_eq!(
            STANDARD
                .decode(&one.reveal()[PREFIX.len()..])
                .map(|bytes| bytes.len()),
            Ok(BYTES)
        );
        assert_eq!(format!("{one:?}"), "Secret(..)");
    }
}
