//! Documents that are the same for everybody, made once for each address of the entry point (UND-40).

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue,
    header::{ETAG, IF_NONE_MATCH},
};
use svc_core::api::{EntityTag, EntityTags};

use crate::response::{Answer, Media};

/// Bytes that are kept at most: those of a server are less than a million for each name that proxies call it by.
const MOST: usize = 8 << 20;

/// The documents that were made so far.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<Made>);

#[derive(Debug, Default)]
struct Made {
    by_address: HashMap<String, Document>,
    bytes: usize,
}

/// A document as it is sent.
#[derive(Debug, Clone)]
struct Document {
    body: Bytes,
    /// Its entity tag.
    tag: HeaderValue,
}

impl Document {
    fn new(body: Bytes) -> Self {
        let tag = tag_of(&body);
        Self { body, tag }
    }
}

impl Kept {
    /// The answer with the document at an address, which is made if this is the first time; 304 for who has it. `None`
    /// where there is no such document.
    pub(crate) fn answer(
        &self,
        address: String,
        media: Media,
        asked: &HeaderMap,
        make: impl FnOnce() -> Option<String>,
    ) -> Option<Answer> {
        let Document { body, tag } = match self.get(&address) {
            Some(document) => document,
            None => self.keep(address, Document::new(make()?.into())),
        };
        let mut answer = if has(asked, &tag) { Answer::not_modified() } else { Answer::page(media, body) };
        answer.more.insert(ETAG, tag);
        Some(answer)
    }

    fn get(&self, address: &str) -> Option<Document> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).by_address.get(address).cloned()
    }

    fn keep(&self, address: String, document: Document) -> Document {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = made.bytes.saturating_add(document.body.len());
        // Names that somebody made up do not keep the server's own out for good.
        if bytes > MOST {
            *made = Made::default();
        }
        made.bytes = made.bytes.saturating_add(document.body.len());
        if let Some(before) = made.by_address.insert(address, document.clone()) {
            made.bytes = made.bytes.saturating_sub(before.body.len());
        }
        document
    }
}

/// The same document with its tag; 304 for who has it.
pub(crate) fn unless_known(answer: Answer, asked: &HeaderMap) -> Answer {
    let Some(body) = answer.body.bytes() else { return answer };
    let tag = tag_of(body);
    let mut answer = answer;
    if has(asked, &tag) {
        let more = std::mem::take(&mut answer.more);
        answer = Answer::not_modified();
        answer.more = more;
    }
    answer.more.insert(ETAG, tag);
    answer
}

fn tag_of(body: &[u8]) -> HeaderValue {
    // Hexadecimal digits in quotes are a header's value.
    EntityTag::of(body).to_header().unwrap_or_else(|| HeaderValue::from_static("\"\""))
}

/// Whether a request names this tag, or any, as one that its client has; weak or strong is no matter (RFC 9110, 13.1.2).
fn has(asked: &HeaderMap, tag: &HeaderValue) -> bool {
    EntityTags::of(asked, &IF_NONE_MATCH).is_some_and(|named| named.has_like(tag.as_bytes()))
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;

    fn asked(tags: &str) -> HeaderMap {
        HeaderMap::from_iter([(IF_NONE_MATCH, HeaderValue::from_str(tags).unwrap())])
    }

    #[test]
    fn und_40_a_document_is_made_once_and_not_sent_to_who_has_it() {
        let kept = Kept::default();
        let mut times = 0;
        let mut ask = |address: &str, headers: &HeaderMap| {
            let made = kept.answer(address.to_owned(), Media::Hal, headers, || {
                times += 1;
                Some(format!("{{\"at\":\"{address}\"}}"))
            });
            made.unwrap()
        };
        let first = ask("a", &HeaderMap::new());
        let tag = first.more[ETAG].to_str().unwrap().to_owned();
        assert_eq!((first.status, &first.body.bytes().unwrap()[..]), (StatusCode::OK, &br#"{"at":"a"}"#[..]));
        for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
            let again = ask("a", &asked(&known));
            assert_eq!((again.status, again.body.bytes().unwrap().len()), (StatusCode::NOT_MODIFIED, 0), "{known}");
            assert_eq!(again.more[ETAG].to_str().unwrap(), tag);
        }
        assert_eq!(ask("a", &asked("\"x\"")).status, StatusCode::OK);
        let other = ask("b", &asked(&tag));
        assert_eq!(other.status, StatusCode::OK, "another address has another document");
        assert_eq!(times, 2);
        assert!(kept.answer("none".to_owned(), Media::Hal, &HeaderMap::new(), || None).is_none());
    }

    #[test]
    fn und_40_what_is_kept_is_bounded() {
        let (kept, long) = (Kept::default(), "x".repeat(MOST / 10));
        for number in 0..25 {
            kept.answer(number.to_string(), Media::Hal, &HeaderMap::new(), || Some(long.clone())).unwrap();
            let made = kept.0.lock().unwrap();
            assert_eq!(made.bytes, made.by_address.len() * long.len());
            assert!(made.bytes <= MOST && made.by_address.contains_key(&number.to_string()), "{number}");
        }
    }
}
