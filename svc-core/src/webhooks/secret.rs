//! Secrets and signatures according to Standard Webhooks 1.0.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::error::Result;

/// The prefix of every secret.
const PREFIX: &str = "whsec_";
/// The number of random bytes in a secret.
const BYTES: usize = 32;

/// The secret of a webhook. A receiver uses it to verify that a message is from this server. Logs
/// and lists never contain it.
///
/// Requirements: HOOK-08.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WebhookSecret(String);

impl WebhookSecret {
    /// Creates a secret of 256 random bits.
    ///
    /// # Errors
    ///
    /// Returns an error if the system provides no random bytes.
    pub fn random() -> Result<Self> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(format!("{PREFIX}{}", STANDARD.encode(bytes))))
    }

    /// Returns the secret in the form in which it is shown once: `whsec_` and base64.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the signature of a message: `v1,` and the base64 of HMAC-SHA256 over the id, the
    /// time in seconds and the body.
    #[must_use]
    pub fn sign(&self, id: &str, seconds: i64, body: &[u8]) -> String {
        // Stored secrets come from `random`. Any other text has no valid signature.
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

    /// The example from the verifiers of the standard.
    ///
    /// Requirements: HOOK-08.
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
