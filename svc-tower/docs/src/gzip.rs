//! Compressed copies of documents that are the same for every client. Responses with personal data
//! are never compressed: an attacker who can add text to them could infer the rest from the length.

use std::io::Write as _;

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::{
    HeaderMap, HeaderValue,
    header::{ACCEPT_ENCODING, CONTENT_ENCODING},
};
use svc_tower::DocsAnswer;

use crate::quality::qualities;

/// Returns the compressed document; `None` if it is not smaller.
pub(crate) fn compressed(body: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).ok()?;
    let gzip = encoder.finish().ok()?;
    (gzip.len() < body.len()).then(|| gzip.into())
}

/// Returns whether a client accepts the compressed form and does not prefer the plain one.
pub(crate) fn accepts_gzip(asked: &HeaderMap) -> bool {
    let (mut gzip, mut any, mut plain) = (None, None, None);
    for (coding, quality) in qualities(asked, &ACCEPT_ENCODING) {
        match coding.as_str() {
            "gzip" | "x-gzip" => gzip = Some(quality),
            "identity" => plain = Some(quality),
            "*" => any = Some(quality),
            _ => {}
        }
    }
    let gzip = gzip.or(any).unwrap_or(0);
    gzip > 0 && gzip >= plain.unwrap_or(0)
}

/// Returns the response with the headers for compressed content.
pub(crate) fn marked(mut answer: DocsAnswer) -> DocsAnswer {
    // A response without a body has no content coding.
    if !answer.body.is_empty() {
        answer
            .headers
            .insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    answer
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn point_9_the_compressed_form_is_sent_to_who_takes_it() {
        let takes = |text: &str| {
            accepts_gzip(&HeaderMap::from_iter([(
                ACCEPT_ENCODING,
                text.parse().unwrap(),
            )]))
        };
        for taken in [
            "gzip",
            "gzip, deflate, br, zstd",
            "x-gzip",
            "br;q=1, GZIP;q=0.2",
            "*",
            "identity;q=0.5, gzip",
        ] {
            assert!(takes(taken), "{taken}");
        }
        for not in [
            "",
            "br",
            "identity",
            "gzip;q=0",
            "gzip;q=0, *",
            "*;q=0",
            "identity, gzip;q=0.5",
        ] {
            assert!(!takes(not), "{not}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }

    proptest! {
        #![proptest_config(crate::testing::config())]

        #[test]
        fn point_9_the_compressed_form_has_the_same_content(text in "[a-c]{0,400}|.{0,40}") {
            if let Some(gzip) = compressed(text.as_bytes()) {
                prop_assert!(gzip.len() < text.len());
                prop_assert_eq!(&gzip, &compressed(text.as_bytes()).unwrap(), "the bytes must not depend on the time");
                let mut plain = String::new();
                GzDecoder::new(&gzip[..]).read_to_string(&mut plain).unwrap();
                prop_assert_eq!(plain, text);
            }
        }
    }
}
