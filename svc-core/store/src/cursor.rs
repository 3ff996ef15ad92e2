//! The cursor in a `next` link. It contains the end of a page, and only the store that created it
//! can read it. Cursors of the change feed use the same encryption.
//!
//! Requirements: UND-14, SYN-07.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use svc_core::{
    filter::{Filter, FilterField, SortKey},
    page::{ListRequest, NextPage, PageRequest, RawPage},
};

use super::hex;

/// The number of bytes of the authentication tag, and of each encrypted number.
const TAG: usize = 12;
const NUMBER: usize = 8;
/// The number of bytes of one block of the key stream.
const BLOCK: usize = 32;

/// The start of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageStart {
    /// After this row; 0 is the start of the collection.
    AfterRow(i64),
    /// At this position, counted from 0: see [`OffsetIndex`](super::offset_index::OffsetIndex).
    ///
    /// Requirements: COL-22.
    Offset(u64),
}

/// How often a store reads a page again if its records and its total do not agree.
pub const REREADS: u32 = 3;

impl PageStart {
    /// Returns whether the number of records of a page and its `next` link agree with its total.
    ///
    /// They may disagree if records and total were read at different times. A page from a cursor
    /// always agrees, because it has no position to compare with the total.
    ///
    /// Requirements: COL-23, COL-28.
    #[must_use]
    pub fn agrees(self, page: &PageRequest, found: &RawPage) -> bool {
        let skipped = match self {
            Self::Offset(position) => position,
            Self::AfterRow(0) => 0,
            Self::AfterRow(_) => return true,
        };
        let rest = found.total.saturating_sub(skipped);
        let size = u64::from(page.size);
        let has_next = match found.next {
            NextPage::Cursor(_) => true,
            NextPage::None => false,
            NextPage::Number => rest > size,
        };
        u64::try_from(found.records.len()).is_ok_and(|records| records == rest.min(size))
            && has_next == (rest > size)
    }
}

/// The start of a page of an ordered collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderedPageStart {
    /// After this record. The cursor contains the total from the first page.
    After(OrderedPosition),
    /// At this position, counted from 0.
    Offset(u64),
}

/// The position of a record in an ordered collection: by its sort key, then by row.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OrderedPosition {
    /// The date or text of the record.
    pub key: SortKey,
    /// The row of the record.
    pub row: i64,
    /// The number of records when the first page was read.
    pub total: u64,
}

impl OrderedPosition {
    /// Creates a position.
    #[must_use]
    pub fn new(key: SortKey, row: i64, total: u64) -> Self {
        Self { key, row, total }
    }
}

/// The purpose of a cursor. Its tag and its encryption depend on it.
#[derive(Clone, Copy)]
pub(super) enum CursorKind {
    /// A row in a collection in creation order.
    Row,
    /// A position in an ordered or filtered collection.
    Mark,
    /// A position in the change feed of the tenant.
    Feed,
    /// A position in the pairs of people who may be the same person.
    Pair,
}

impl CursorKind {
    const fn tag(self) -> u8 {
        match self {
            Self::Row => b't',
            Self::Mark => b'T',
            Self::Feed => b'f',
            Self::Pair => b'p',
        }
    }

    const fn hide(self) -> u8 {
        match self {
            Self::Row => b'h',
            Self::Mark => b'H',
            Self::Feed => b'F',
            Self::Pair => b'P',
        }
    }
}

/// Encodes and decodes the cursors of one store.
///
/// A cursor is bound to its tenant, collection, page number and page size. With other values, or
/// after any change of its text, it is ignored. The row is encrypted, so that the number of records
/// of other tenants is not visible.
#[derive(Clone)]
pub struct CursorCodec {
    mac: Hmac<Sha256>,
}

impl CursorCodec {
    /// Creates a codec with the secret of the store. The secret must stay the same as long as the
    /// data.
    #[must_use]
    pub fn new(secret: &[u8; 32]) -> Self {
        // HMAC pads a key with zeros to the block size.
        let mut block = [0; 64];
        for (byte, of_secret) in block.iter_mut().zip(secret) {
            *byte = *of_secret;
        }
        Self {
            mac: Hmac::new(&block.into()),
        }
    }

    /// Returns the start of a page. A cursor for another page or collection is ignored, because it
    /// would return records for a wrong page number.
    #[must_use]
    pub fn decode(&self, tenant: i64, collection: &[u8], page: &PageRequest) -> PageStart {
        let after = page
            .cursor
            .as_deref()
            .and_then(|text| self.read(CursorKind::Row, tenant, &binding(collection, page), text));
        match after {
            Some([row]) => PageStart::AfterRow(row),
            None if page.number <= 1 => PageStart::AfterRow(0),
            None => PageStart::Offset(page.records_before()),
        }
    }

    /// Returns the link to the next page. `last` is the row of the last record if more records
    /// follow.
    #[must_use]
    pub fn encode_next(
        &self,
        tenant: i64,
        collection: &[u8],
        page: &PageRequest,
        last: Option<i64>,
    ) -> NextPage {
        let next = PageRequest::new(page.number.saturating_add(1), page.size);
        last.map_or(NextPage::None, |row| {
            NextPage::Cursor(self.write(
                CursorKind::Row,
                tenant,
                &binding(collection, &next),
                [row],
            ))
        })
    }

    /// Returns the start of a page of a filtered or ordered collection. A cursor of another filter
    /// or order is ignored.
    ///
    /// Requirements: FLT-08.
    #[must_use]
    pub fn decode_ordered(
        &self,
        tenant: i64,
        collection: &[u8],
        request: &ListRequest,
    ) -> OrderedPageStart {
        let page = &request.page;
        let place = || ordered(collection, request, page.number);
        let read = page.cursor.as_deref().and_then(|text| {
            let shown = self.open(CursorKind::Mark, tenant, &place(), text)?;
            let ([time, row, total], text) = split(&shown)?;
            let key = match text {
                [] => SortKey::Date(time),
                text => SortKey::Text(String::from_utf8(text.to_vec()).ok()?),
            };
            let total = u64::try_from(total).unwrap_or_default();
            Some(OrderedPosition::new(key, row, total))
        });
        read.map_or_else(
            || OrderedPageStart::Offset(page.records_before()),
            OrderedPageStart::After,
        )
    }

    /// Returns the link to the next page of a filtered or ordered collection. `last` is the last
    /// record of the page if more records follow.
    #[must_use]
    pub fn encode_next_ordered(
        &self,
        tenant: i64,
        collection: &[u8],
        request: &ListRequest,
        last: Option<OrderedPosition>,
    ) -> NextPage {
        let Some(OrderedPosition { key, row, total }) = last else {
            return NextPage::None;
        };
        let (time, text) = match key {
            SortKey::Date(time) => (time, String::new()),
            SortKey::Text(text) => (0, text),
        };
        let place = ordered(collection, request, request.page.number.saturating_add(1));
        let total = i64::try_from(total).unwrap_or(i64::MAX);
        let shown = [bytes([time, row, total]), text.into_bytes()].concat();
        NextPage::Cursor(self.seal(CursorKind::Mark, tenant, &place, &shown))
    }

    /// Encodes numbers in a cursor that consists of letters and digits.
    pub(super) fn write<const N: usize>(
        &self,
        purpose: CursorKind,
        tenant: i64,
        place: &[u8],
        numbers: [i64; N],
    ) -> String {
        self.seal(purpose, tenant, place, &bytes(numbers))
    }

    /// Returns the numbers in a cursor. `None` if the cursor is damaged or has another tenant,
    /// place, purpose or store.
    pub(super) fn read<const N: usize>(
        &self,
        purpose: CursorKind,
        tenant: i64,
        place: &[u8],
        text: &str,
    ) -> Option<[i64; N]> {
        let shown = self.open(purpose, tenant, place, text)?;
        let (numbers, rest) = split(&shown)?;
        rest.is_empty().then_some(numbers)
    }

    /// Encodes bytes in a cursor that consists of letters and digits.
    fn seal(&self, purpose: CursorKind, tenant: i64, place: &[u8], shown: &[u8]) -> String {
        let tag = self.tag(purpose, tenant, place, shown);
        let hidden = self.hidden(purpose, tenant, place, tag, shown);
        hex::encode(&[&tag[..], &hidden].concat())
    }

    /// Returns the bytes in a cursor: see [`Self::read`].
    fn open(&self, purpose: CursorKind, tenant: i64, place: &[u8], text: &str) -> Option<Vec<u8>> {
        let bytes = hex::decode_all(text)?;
        let (tag, hidden) = bytes.split_first_chunk::<TAG>()?;
        let shown = self.hidden(purpose, tenant, place, *tag, hidden);
        let is_own = bool::from(self.tag(purpose, tenant, place, &shown).ct_eq(tag));
        is_own.then_some(shown)
    }

    fn tag(&self, purpose: CursorKind, tenant: i64, place: &[u8], hidden: &[u8]) -> [u8; TAG] {
        first(&self.mac(purpose.tag(), tenant, place, hidden))
    }

    /// Encrypts or decrypts the bytes of a cursor with a key stream. Its first block depends on the
    /// tag, each further block also on its number.
    fn hidden(
        &self,
        purpose: CursorKind,
        tenant: i64,
        place: &[u8],
        tag: [u8; TAG],
        bytes: &[u8],
    ) -> Vec<u8> {
        let mut hidden = Vec::with_capacity(bytes.len());
        for (number, block) in (0_u64..).zip(bytes.chunks(BLOCK)) {
            let mut end = tag.to_vec();
            if number > 0 {
                end.extend(number.to_be_bytes());
            }
            let key = self.mac(purpose.hide(), tenant, place, &end);
            hidden.extend(block.iter().zip(key).map(|(byte, key)| byte ^ key));
        }
        hidden
    }

    /// Different inputs give different messages: a cursor has one form for each place, and so have
    /// the blocks of its key stream.
    fn mac(&self, purpose: u8, tenant: i64, place: &[u8], end: &[u8]) -> [u8; 32] {
        let mut mac = self.mac.clone();
        mac.update(&[purpose]);
        mac.update(&tenant.to_be_bytes());
        mac.update(place);
        mac.update(end);
        mac.finalize().into_bytes().into()
    }
}

/// Returns the bytes that a cursor to a page of a collection is bound to.
fn binding(collection: &[u8], page: &PageRequest) -> Vec<u8> {
    [
        collection,
        &page.number.to_be_bytes(),
        &page.size.to_be_bytes(),
    ]
    .concat()
}

/// Returns the bytes that a cursor to a page of a filtered or ordered collection is bound to. They
/// include filter and order with their lengths, so that different inputs give different bytes.
fn ordered(collection: &[u8], request: &ListRequest, number: u64) -> Vec<u8> {
    let filter = request
        .filter
        .as_ref()
        .map(Filter::text)
        .unwrap_or_default()
        .as_bytes();
    let order = request
        .order
        .map(FilterField::as_str)
        .unwrap_or_default()
        .as_bytes();
    let length = |part: &[u8]| (part.len() as u64).to_be_bytes();
    let page = binding(&[], &PageRequest::new(number, request.page.size));
    let parts: [&[u8]; 7] = [
        &length(collection),
        collection,
        &length(filter),
        filter,
        &length(order),
        order,
        &page,
    ];
    parts.concat()
}

/// Returns the bytes of numbers.
fn bytes<const N: usize>(numbers: [i64; N]) -> Vec<u8> {
    numbers.iter().flat_map(|one| one.to_be_bytes()).collect()
}

/// Returns the numbers at the start, and the bytes after them; `None` if there are not enough bytes.
fn split<const N: usize>(bytes: &[u8]) -> Option<([i64; N], &[u8])> {
    let (start, rest) = bytes.split_at_checked(N.saturating_mul(NUMBER))?;
    let mut numbers = [0; N];
    for (number, bytes) in numbers.iter_mut().zip(start.chunks_exact(NUMBER)) {
        *number = i64::from_be_bytes(first(bytes));
    }
    Some((numbers, rest))
}

fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|index| bytes.get(index).copied().unwrap_or_default())
}

impl fmt::Debug for CursorCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cursors")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: [u8; 32] = [7; 32];

    /// The MAC is HMAC as in RFC 4231, test case 2 with a zero-padded key, so that cursors of older
    /// versions stay valid.
    ///
    /// Requirements: UND-14.
    #[test]
    fn the_mac_is_hmac() {
        let mut key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        let mac = CursorCodec::new(&key)
            .mac
            .chain_update(b"what do ya want for nothing?")
            .finalize()
            .into_bytes();
        assert_eq!(
            hex::encode(&mac),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    /// A cursor identifies its own page. For another page, the page number is used.
    ///
    /// Requirements: UND-14, UND-19, COL-22.
    #[test]
    fn a_page_begins_where_the_one_before_ended() {
        let cursors = CursorCodec::new(&SECRET);
        let page = |number, size, after: Option<&str>| {
            let page = PageRequest::new(number, size);
            after.map_or(page.clone(), |after| page.with_cursor(after))
        };
        let NextPage::Cursor(after) =
            cursors.encode_next(1, b"people", &page(2, 25, None), Some(77))
        else {
            panic!("no cursor")
        };
        let start = |number, size, after: &str| {
            cursors.decode(1, b"people", &page(number, size, Some(after)))
        };
        assert_eq!(start(3, 25, &after), PageStart::AfterRow(77));
        assert_eq!(start(4, 25, &after), PageStart::Offset(75));
        assert_eq!(start(3, 10, &after), PageStart::Offset(20));
        assert_eq!(
            cursors.decode(2, b"people", &page(3, 25, Some(&after))),
            PageStart::Offset(50)
        );
        assert_eq!(
            cursors.decode(1, b"tags", &page(3, 25, Some(&after))),
            PageStart::Offset(50)
        );
        assert_eq!(start(1, 25, "damaged"), PageStart::AfterRow(0));
        assert_eq!(
            cursors.decode(1, b"people", &page(1, 25, None)),
            PageStart::AfterRow(0)
        );
        assert_eq!(
            cursors.encode_next(1, b"people", &page(2, 25, None), None),
            NextPage::None
        );
    }

    /// A cursor of a filter by text contains the text, encrypted, whatever its length.
    ///
    /// Requirements: FLT-08, FLT-14.
    #[test]
    fn flt_14_a_page_begins_after_a_text() {
        let cursors = CursorCodec::new(&SECRET);
        let filter = Filter::parse("family_name sw 'a'", &[FilterField::FamilyName], "x").unwrap();
        let request = |page| ListRequest::all(page).with_filter(filter.clone());
        for text in ["a", "larsson", &"\u{1f600}".repeat(64)] {
            let place = OrderedPosition::new(SortKey::Text(text.to_owned()), 7, 100);
            let first = request(PageRequest::new(1, 25));
            let next = cursors.encode_next_ordered(1, b"people", &first, Some(place.clone()));
            let NextPage::Cursor(after) = next else {
                panic!("no cursor")
            };
            assert!(svc_core::page::is_token(&after), "{}", after.len());
            assert!(!after.contains(&hex::encode(text.as_bytes())), "{after}");
            let start = |tenant, number| {
                let page = PageRequest::new(number, 25).with_cursor(after.clone());
                cursors.decode_ordered(tenant, b"people", &request(page))
            };
            assert_eq!(start(1, 2), OrderedPageStart::After(place));
            assert_eq!(start(2, 2), OrderedPageStart::Offset(25));
            assert_eq!(start(1, 3), OrderedPageStart::Offset(50));
        }
    }

    #[test]
    fn neighbours_look_unrelated() {
        let file = CursorCodec::new(&SECRET);
        let (one, two) = (
            file.write(CursorKind::Row, 1, b"people", [1]),
            file.write(CursorKind::Row, 1, b"people", [2]),
        );
        let alike = one
            .bytes()
            .zip(two.bytes())
            .filter(|(one, two)| one == two)
            .count();
        assert!(alike < 12, "{one} {two}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(14), ..ProptestConfig::default() })]

        /// A cursor can only be decoded in its own collection.
        ///
        /// Requirements: UND-14.
        #[test]
        fn bound_to_its_collection(tenant: i64, collection: Vec<u8>, row: i64, other: i64, elsewhere: Vec<u8>) {
            let file = CursorCodec::new(&SECRET);
            let text = file.write(CursorKind::Row, tenant, &collection, [row]);
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric()));
            prop_assert_eq!(file.read(CursorKind::Row, tenant, &collection, &text), Some([row]));
            prop_assert_eq!(file.read::<1>(CursorKind::Mark, tenant, &collection, &text), None);
            prop_assert_eq!(CursorCodec::new(&[8; 32]).read::<1>(CursorKind::Row, tenant, &collection, &text), None);
            if other != tenant {
                prop_assert_eq!(file.read::<1>(CursorKind::Row, other, &collection, &text), None);
            }
            if elsewhere != collection {
                prop_assert_eq!(file.read::<1>(CursorKind::Row, tenant, &elsewhere, &text), None);
            }
        }

        /// A damaged cursor is not decoded.
        ///
        /// Requirements: UND-14.
        #[test]
        fn damage_is_seen(row: i64, place in 0_usize..40, text in "\\PC*", digit in "[0-9a-f]") {
            let file = CursorCodec::new(&SECRET);
            let whole = file.write(CursorKind::Row, 1, b"people", [row]);
            let mut damaged = whole.clone();
            damaged.replace_range(place..=place, &digit);
            if damaged != whole {
                prop_assert_eq!(file.read::<1>(CursorKind::Row, 1, b"people", &damaged), None);
            }
            prop_assert_eq!(file.read::<1>(CursorKind::Row, 1, b"people", &text), None);
        }
    }
}
