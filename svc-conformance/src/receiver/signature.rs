//! Secrets and signatures of Standard Webhooks 1.0, as a receiver verifies them.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::Value;
use sha2::Sha256;

use super::Message;

/// Base64 with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The secret of a webhook.
#[derive(Clone)]
pub(crate) struct Secret {
    text: String,
    key: Vec<u8>,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Secret {
    /// Parses a secret of the form `whsec_` and base64.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let key = BASE64.decode(text.strip_prefix("whsec_")?).ok()?;
        Some(Self {
            text: text.to_owned(),
            key,
        })
    }

    /// Whether one of the `v1` signatures of the message is made with this secret over
    /// `<id>.<timestamp>.<body>`. Signatures of other versions are ignored.
    pub(crate) fn signs(&self, message: &Message) -> bool {
        let [id, at, body] = signed_parts(message);
        has(message, &mac(&self.key, &[id, b".", at, b".", body]))
    }

    /// Returns the common mistake that explains why this secret does not sign a message, if there
    /// is one.
    pub(crate) fn mistake(&self, message: &Message) -> Option<&'static str> {
        let [id, at, body] = signed_parts(message);
        let other_body = serde_json::from_slice::<Value>(body)
            .map(|json| json.to_string())
            .unwrap_or_default();
        let mistakes: [Mistake<'_>; 6] = [
            ("it signs only the body", &self.key, &[body]),
            (
                "it signs `<webhook-id>.<body>`: the timestamp is not signed",
                &self.key,
                &[id, b".", body],
            ),
            (
                "it signs `<webhook-timestamp>.<body>`: the id is not signed",
                &self.key,
                &[at, b".", body],
            ),
            (
                "it signs other bytes than it sends",
                &self.key,
                &[id, b".", at, b".", other_body.as_bytes()],
            ),
            (
                "its key is the text of the secret; it must be the decoded base64",
                self.text.as_bytes(),
                &[id, b".", at, b".", body],
            ),
            (
                "its key is the base64 text of the secret; it must be decoded",
                self.text.trim_start_matches("whsec_").as_bytes(),
                &[id, b".", at, b".", body],
            ),
        ];
        mistakes
            .iter()
            .find(|(_, key, parts)| has(message, &mac(key, parts)))
            .map(|(mistake, ..)| *mistake)
    }
}

/// A mistake in words, with the key and the parts that are signed with it.
type Mistake<'m> = (&'static str, &'m [u8], &'m [&'m [u8]]);

/// Returns the id, timestamp and body of a message, as they were sent.
fn signed_parts(message: &Message) -> [&[u8]; 3] {
    let header = |name| {
        message
            .headers
            .get(name)
            .map_or(&[][..], http::HeaderValue::as_bytes)
    };
    [
        header("webhook-id"),
        header("webhook-timestamp"),
        message.body.as_deref().unwrap_or_default(),
    ]
}

/// Returns the HMAC-SHA256 of the joined parts.
fn mac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let Ok(mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return Vec::new();
    };
    parts
        .iter()
        .fold(mac, hmac::Mac::chain_update)
        .finalize()
        .into_bytes()
        .to_vec()
}

/// Whether one of the `v1` signatures of a message is this one.
fn has(message: &Message, mac: &[u8]) -> bool {
    let all = message.headers.get_all("webhook-signature");
    let mut all = all
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(str::split_ascii_whitespace);
    all.any(|one| {
        one.strip_prefix("v1,")
            .and_then(|one| BASE64.decode(one).ok())
            .is_some_and(|one| one == mac)
    })
}

#[cfg(test)]
mod tests {
    use super::{Message, Secret};

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const AT: &str = "1614265330";
    const BODY: &str = r#"{"test": 2432232314}"#;
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    fn message(at: &str, body: &str, signatures: &str) -> Message {
        Message::of(
            &[
                ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
                ("webhook-timestamp", at),
                ("webhook-signature", signatures),
            ],
            body,
        )
    }

    /// The example of the verifiers of the standard is valid. With another timestamp, body or
    /// secret it is not.
    #[test]
    fn hook_08_the_example_of_the_standard_verifies() {
        let secret = Secret::read(SECRET).expect("a secret");
        assert!(secret.signs(&message(AT, BODY, SIGNATURE)));
        assert!(!secret.signs(&message("1614265331", BODY, SIGNATURE)));
        assert!(!secret.signs(&message(AT, r#"{"test":2432232314}"#, SIGNATURE)));
        let other = Secret::read("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD").expect("a secret");
        assert!(!other.signs(&message(AT, BODY, SIGNATURE)));
        assert!(!format!("{secret:?}").contains("MfKQ"));
    }

    /// One header contains several signatures, including versions that this suite does not support.
    #[test]
    fn hook_08_one_signature_of_several_is_enough() {
        let secret = Secret::read(SECRET.trim_end_matches('=')).expect("a secret");
        for signatures in [
            format!("v1a,abc v2,x {SIGNATURE}"),
            format!("v1,AAAA {SIGNATURE}"),
            format!(" {SIGNATURE}  v1,?"),
        ] {
            assert!(
                secret.signs(&message(AT, BODY, &signatures)),
                "{signatures}"
            );
        }
        for signatures in [
            "",
            "v1,",
            SIGNATURE.trim_start_matches("v1,"),
            &SIGNATURE.replace("v1,", "v2,"),
        ] {
            assert!(
                !secret.signs(&message(AT, BODY, signatures)),
                "{signatures}"
            );
        }
    }

    #[test]
    fn hook_08_common_mistakes_are_named() {
        use super::{BASE64, mac};
        use base64::Engine as _;

        let secret = Secret::read(SECRET).expect("a secret");
        let signed = |key: &[u8], parts: &[&[u8]]| format!("v1,{}", BASE64.encode(mac(key, parts)));
        let mistake = |signature: &str| {
            secret
                .mistake(&message(AT, BODY, signature))
                .unwrap_or_default()
        };
        let id = b"msg_p5jXN8AQM9LWM0D4loKWxJek".as_slice();
        assert!(
            mistake(&signed(&secret.key, &[id, b".", BODY.as_bytes()]))
                .contains("timestamp is not signed")
        );
        assert!(mistake(&signed(&secret.key, &[BODY.as_bytes()])).contains("only the body"));
        let parts = [id, b".", AT.as_bytes(), b".", BODY.as_bytes()];
        assert!(mistake(&signed(SECRET.as_bytes(), &parts)).contains("text of the secret"));
        assert_eq!(mistake(SIGNATURE), "");
    }
}
