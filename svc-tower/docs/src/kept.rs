//! Documents that are the same for everybody, made and compressed once for each address of the
//! entry point.
//!
//! Requirements: UND-40.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{ACCEPT_ENCODING, ETAG, IF_NONE_MATCH, VARY},
};
use svc_core::api::{EntityTag, EntityTagCondition};
use svc_tower::DocsAnswer;

use crate::{gzip, media::MediaType};

/// Bytes that are kept at most: those of a server with all its pages are less than half of it for
/// each name that proxies call it by.
const MOST: usize = 16 << 20;

/// The documents that were made so far.
#[derive(Debug, Default)]
pub(crate) struct DocumentCache(Mutex<CacheEntries>);

#[derive(Debug, Default)]
struct CacheEntries {
    by_place: HashMap<String, CachedDocument>,
    bytes: usize,
}

/// A document in the forms in which it is sent.
#[derive(Debug, Clone)]
struct CachedDocument {
    plain: EncodedDocument,
    /// The same in fewer bytes, for those who take it so (RFC 9110, 12.5.3).
    gzip: Option<EncodedDocument>,
}

/// Bytes as they are sent, and their entity tag: each form has one of its own.
#[derive(Debug, Clone)]
struct EncodedDocument {
    body: Bytes,
    tag: HeaderValue,
}

impl From<Bytes> for EncodedDocument {
    fn from(body: Bytes) -> Self {
        // Hexadecimal digits in quotes are a header's value.
        let tag = EntityTag::from_bytes(&body)
            .to_header()
            .unwrap_or_else(|| HeaderValue::from_static("\"\""));
        Self { body, tag }
    }
}

impl CachedDocument {
    fn new(body: Bytes) -> Self {
        Self {
            gzip: gzip::compressed(&body).map(EncodedDocument::from),
            plain: body.into(),
        }
    }

    /// The bytes of all its forms.
    fn len(&self) -> usize {
        let more = self.gzip.as_ref().map_or(0, |form| form.body.len());
        self.plain.body.len().saturating_add(more)
    }

    /// The answer with the form that the client asks for; 304 for who has it.
    fn answer(self, media: MediaType, asked: &HeaderMap) -> DocsAnswer {
        let mut answer = match self.gzip.filter(|_| gzip::is_taken(asked)) {
            Some(form) => gzip::marked(form.answer(media, asked)),
            None => self.plain.answer(media, asked),
        };
        answer.headers.append(VARY, ACCEPT_ENCODING.into());
        answer
    }
}

impl EncodedDocument {
    fn answer(self, media: MediaType, asked: &HeaderMap) -> DocsAnswer {
        let Self { body, tag } = self;
        let mut answer = if has(asked, &tag) {
            let mut answer = media.answer(Bytes::new());
            answer.status = StatusCode::NOT_MODIFIED;
            answer.headers.clear();
            answer
        } else {
            media.answer(body)
        };
        answer.headers.insert(ETAG, tag);
        answer
    }
}

impl DocumentCache {
    /// The answer with the document of a place, such as its address, which is made if this is the
    /// first time; 304 for who has it. `None` where there is no such document.
    pub(crate) fn answer(
        &self,
        place: String,
        media: MediaType,
        asked: &HeaderMap,
        make: impl FnOnce() -> Option<String>,
    ) -> Option<DocsAnswer> {
        match self.known(&place, media, asked) {
            Some(answer) => Some(answer),
            None => Some(self.make(place, media, asked, make()?)),
        }
    }

    /// The answer with the document of a place that was made before.
    pub(crate) fn known(
        &self,
        place: &str,
        media: MediaType,
        asked: &HeaderMap,
    ) -> Option<DocsAnswer> {
        Some(self.get(place)?.answer(media, asked))
    }

    /// The answer with a document that is kept from now on.
    pub(crate) fn make(
        &self,
        place: String,
        media: MediaType,
        asked: &HeaderMap,
        text: String,
    ) -> DocsAnswer {
        self.keep(place, CachedDocument::new(text.into()))
            .answer(media, asked)
    }

    fn get(&self, place: &str) -> Option<CachedDocument> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .by_place
            .get(place)
            .cloned()
    }

    fn keep(&self, place: String, document: CachedDocument) -> CachedDocument {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = made.bytes.saturating_add(document.len());
        // Names that somebody made up do not keep the server's own out for good.
        if bytes > MOST {
            *made = CacheEntries::default();
        }
        made.bytes = made.bytes.saturating_add(document.len());
        if let Some(before) = made.by_place.insert(place, document.clone()) {
            made.bytes = made.bytes.saturating_sub(before.len());
        }
        document
    }
}

/// Whether a request names this tag, or any, as one that its client has; weak or strong is no
/// matter (RFC 9110, 13.1.2).
fn has(asked: &HeaderMap, tag: &HeaderValue) -> bool {
    EntityTagCondition::from_headers(asked, &IF_NONE_MATCH)
        .is_some_and(|named| named.matches_weak(tag.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(tags: &str) -> HeaderMap {
        HeaderMap::from_iter([(IF_NONE_MATCH, HeaderValue::from_str(tags).unwrap())])
    }

    #[test]
    fn und_40_a_document_is_made_once_and_not_sent_to_who_has_it() {
        let kept = DocumentCache::default();
        let mut times = 0;
        let mut ask = |address: &str, headers: &HeaderMap| {
            let made = kept.answer(address.to_owned(), MediaType::Hal, headers, || {
                times += 1;
                Some(format!("{{\"at\":\"{address}\"}}"))
            });
            made.unwrap()
        };
        let first = ask("a", &HeaderMap::new());
        let tag = first.headers[ETAG].to_str().unwrap().to_owned();
        assert_eq!(
            (first.status, &first.body[..]),
            (StatusCode::OK, &br#"{"at":"a"}"#[..])
        );
        for known in [
            tag.clone(),
            format!("W/{tag}"),
            format!("\"x\", {tag}"),
            "*".to_owned(),
        ] {
            let again = ask("a", &asked(&known));
            assert_eq!(
                (again.status, again.body.len()),
                (StatusCode::NOT_MODIFIED, 0),
                "{known}"
            );
            assert_eq!(again.headers[ETAG].to_str().unwrap(), tag);
        }
        assert_eq!(ask("a", &asked("\"x\"")).status, StatusCode::OK);
        let other = ask("b", &asked(&tag));
        assert_eq!(
            other.status,
            StatusCode::OK,
            "another address has another document"
        );
        assert_eq!(times, 2);
        assert!(
            kept.answer("none".to_owned(), MediaType::Hal, &HeaderMap::new(), || {
                None
            })
            .is_none()
        );
    }

    #[test]
    fn und_40_what_is_kept_is_bounded() {
        let (kept, long) = (DocumentCache::default(), "x".repeat(MOST / 10));
        for number in 0..25 {
            kept.answer(
                number.to_string(),
                MediaType::Hal,
                &HeaderMap::new(),
                || Some(long.clone()),
            )
            .unwrap();
            let made = kept.0.lock().unwrap();
            assert_eq!(
                made.bytes,
                made.by_place
                    .values()
                    .map(CachedDocument::len)
                    .sum::<usize>()
            );
            assert!(
                made.bytes <= MOST && made.by_place.contains_key(&number.to_string()),
                "{number}"
            );
        }
    }
}
