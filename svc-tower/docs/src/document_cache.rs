//! A cache of documents that are the same for every client. Each is created and compressed once for
//! each base URL.
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

/// The maximum number of cached bytes. A server with all its pages needs less than half of it for
/// each host name that proxies use for the server.
const MOST: usize = 16 << 20;

/// The documents that have been created.
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
    /// The compressed form, for clients that accept it (RFC 9110, 12.5.3).
    gzip: Option<EncodedDocument>,
}

/// The bytes of a form, and their entity tag. Each form has its own tag.
#[derive(Debug, Clone)]
struct EncodedDocument {
    body: Bytes,
    tag: HeaderValue,
}

impl From<Bytes> for EncodedDocument {
    fn from(body: Bytes) -> Self {
        // Quoted hexadecimal digits are always a valid header value.
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

    /// Returns the number of bytes of all forms.
    fn len(&self) -> usize {
        let more = self.gzip.as_ref().map_or(0, |form| form.body.len());
        self.plain.body.len().saturating_add(more)
    }

    /// Returns the response with the form that the client requests; 304 if the client already has
    /// it.
    fn answer(self, media: MediaType, asked: &HeaderMap) -> DocsAnswer {
        let mut answer = match self.gzip.filter(|_| gzip::accepts_gzip(asked)) {
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
    /// Returns the response with the document under a cache key, such as its address. The document
    /// is created on first use. The response is 304 if the client already has the document, and
    /// `None` if there is no such document.
    pub(crate) fn answer(
        &self,
        place: String,
        media: MediaType,
        asked: &HeaderMap,
        make: impl FnOnce() -> Option<String>,
    ) -> Option<DocsAnswer> {
        match self.cached_response(&place, media, asked) {
            Some(answer) => Some(answer),
            None => Some(self.make(place, media, asked, make()?)),
        }
    }

    /// Returns the response with a cached document.
    pub(crate) fn cached_response(
        &self,
        place: &str,
        media: MediaType,
        asked: &HeaderMap,
    ) -> Option<DocsAnswer> {
        Some(self.get(place)?.answer(media, asked))
    }

    /// Creates and caches a document, and returns the response with it.
    pub(crate) fn make(
        &self,
        place: String,
        media: MediaType,
        asked: &HeaderMap,
        text: String,
    ) -> DocsAnswer {
        self.insert(place, CachedDocument::new(text.into()))
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

    fn insert(&self, place: String, document: CachedDocument) -> CachedDocument {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = made.bytes.saturating_add(document.len());
        // Host names that clients invent must not fill the cache for good.
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

/// Returns whether the request lists this tag, or any tag, as one that the client has. Weak and
/// strong tags match alike (RFC 9110, 13.1.2).
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
            "each address has its own document"
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
