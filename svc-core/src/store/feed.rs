//! The change feed of a store: what is told of a change, and how a part of the feed becomes a page.

use std::collections::HashSet;

#[cfg(feature = "store")]
use sha2::{Digest, Sha256};

use super::{Change, Set};
use crate::{
    context::Tenant,
    link::Address,
    model::Kind,
    ops::{ChangedRecord, ChangesPage, ChangesRequest, Feed, What},
    value::{Id, Timestamp, short_digest},
};

/// What the feed tells of the changes of one call: each record that is created, deleted, or has another `modified_date`,
/// once. A new one for each call.
#[derive(Debug, Default)]
pub struct Telling {
    told: HashSet<(Kind, Id)>,
}

impl Telling {
    /// What is told of a change; written before the change is made, because a deleted set is not there any more afterwards.
    ///
    /// Computed members, links that go with what they led to, and totals are no change of a record: its date stays (TYP-16).
    pub fn tell<'c>(&mut self, change: &'c Change) -> Option<Told<'c>> {
        let (what, record) = match change {
            Change::Insert(insert) => (What::Created, insert.record.address()),
            Change::Replace(replace) => {
                let parent = replace.parent.clone();
                (What::Changed, Address::new(replace.at.kind, replace.at.id.clone(), parent))
            }
            Change::Delete(set) => return Some(Told::Gone(set)),
            _ => return None,
        };
        self.told.insert((record.kind, record.id.clone())).then_some(Told::One(what, record))
    }
}

/// What is told of one change.
#[derive(Debug)]
#[non_exhaustive]
pub enum Told<'c> {
    /// A record was created or changed.
    One(What, Address),
    /// Every record of a set is deleted.
    Gone(&'c Set),
}

/// A place in a tenant's feed, with the moment of the entry there: so that a store that went back to an older state does not
/// take a later place for its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub struct FeedPlace {
    /// The number that was given under the tenant's lock; above 0.
    pub seq: i64,
    /// Tells entries of one number apart.
    pub row: i64,
    /// The moment of the change, in microseconds.
    pub at: i64,
}

/// Digits of a number in a cursor.
const DIGITS: usize = 16;

impl FeedPlace {
    /// Before everything.
    pub const START: Self = Self { seq: 0, row: 0, at: 0 };

    /// A place.
    #[must_use]
    pub fn new(seq: i64, row: i64, at: i64) -> Self {
        Self { seq, row, at }
    }

    fn numbers(self, feed: u64) -> [u64; 4] {
        [feed, self.seq.cast_unsigned(), self.row.cast_unsigned(), self.at.cast_unsigned()]
    }

    fn cursor(self, tenant: &Tenant, feed: u64) -> String {
        let numbers = self.numbers(feed);
        let tag = tag(tenant, numbers);
        let [feed, seq, row, at] = numbers;
        format!("{feed:016x}{seq:016x}{row:016x}{at:016x}{tag:016x}")
    }

    /// The place that a cursor names, and the feed that gave it; `None` for what no feed of the tenant has given.
    fn read(cursor: &str, tenant: &Tenant) -> Option<(Self, u64)> {
        let is_one = cursor.len() == 5 * DIGITS && cursor.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let number = |place: usize| {
            let start = place.saturating_mul(DIGITS);
            let digits = cursor.get(start..start.saturating_add(DIGITS)).filter(|_| is_one)?;
            u64::from_str_radix(digits, 16).ok()
        };
        let (feed, seq, row, at) = (number(0)?, number(1)?, number(2)?, number(3)?);
        let place = Self::new(seq.cast_signed(), row.cast_signed(), at.cast_signed());
        (number(4)? == tag(tenant, place.numbers(feed))).then_some((place, feed))
    }
}

/// Holds a cursor together and to its tenant. It keeps nobody out who wants in: a place in the own feed is no secret.
fn tag(tenant: &Tenant, numbers: [u64; 4]) -> u64 {
    let bytes: Vec<u8> = tenant.as_str().bytes().chain(numbers.into_iter().flat_map(u64::to_be_bytes)).collect();
    short_digest(&bytes)
}

/// How many entries are looked at for one page by a caller who may not see all kinds.
const WINDOW: u32 = 1_000;

/// A page that is asked for, of a store's own feed.
#[derive(Debug)]
pub struct FeedQuery<'a> {
    tenant: &'a Tenant,
    request: &'a ChangesRequest,
    feed: u64,
    /// Entries behind this place are asked for.
    pub after: FeedPlace,
    /// The most entries to read, whatever their kinds.
    pub limit: u32,
}

/// What a store has read for a page. `is_kept` has to be read with the entries or behind them.
#[derive(Debug, Default)]
pub struct FeedRead {
    /// Whether [`FeedQuery::after`] is [`FeedPlace::START`] or the exact place of an entry that is kept.
    pub is_kept: bool,
    /// The newest place that there is behind the asked one.
    pub last: Option<FeedPlace>,
    /// The entries behind the asked place, of all kinds, in their order.
    pub entries: Vec<(FeedPlace, ChangedRecord)>,
}

impl<'a> FeedQuery<'a> {
    /// Reads the cursor. `feed` is a number that no other store has: a cursor of another one has expired here.
    ///
    /// # Errors
    ///
    /// What is to be answered where there is no such place.
    pub fn new(tenant: &'a Tenant, request: &'a ChangesRequest, feed: u64) -> Result<Self, Feed> {
        let after = match request.after.as_deref().map(|cursor| FeedPlace::read(cursor, tenant)) {
            None => FeedPlace::START,
            Some(Some((place, of))) if of == feed => place,
            Some(Some(_)) => return Err(Feed::Expired),
            Some(None) => return Err(Feed::Unknown),
        };
        let is_all = Kind::ALL.iter().all(|kind| request.kinds.contains(kind));
        let limit = if is_all { request.size } else { WINDOW.max(request.size) };
        Ok(Self { tenant, request, feed, after, limit: limit.saturating_add(1) })
    }

    /// The page, of what was read.
    #[must_use]
    pub fn page(&self, read: FeedRead) -> Feed {
        if !read.is_kept {
            return Feed::Expired;
        }
        let (limit, size) = (self.limit.saturating_sub(1) as usize, self.request.size as usize);
        let mut has_more = read.entries.len() > limit;
        let newest = read.entries.last().map_or(self.after, |(place, _)| *place).max(read.last.unwrap_or_default());
        let (mut next, mut entries) = (self.after, Vec::new());
        for (place, entry) in read.entries.into_iter().take(limit) {
            if self.request.kinds.contains(&entry.record.kind) {
                if entries.len() >= size {
                    has_more = true;
                    break;
                }
                entries.push(entry);
            }
            next = place;
        }
        let cursor = |place: FeedPlace| place.cursor(self.tenant, self.feed);
        Feed::Page(ChangesPage::new(entries, cursor(next), cursor(newest), has_more))
    }
}

/// The number of a feed, of a secret that its store has drawn and that stays one.
#[cfg(feature = "store")]
#[must_use]
pub fn feed_number(secret: &[u8]) -> u64 {
    let digest = Sha256::new().chain_update(b"feed").chain_update(secret).finalize();
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// An entry as a store keeps it: the number of [`What`], and a moment; `None` for what is no entry.
#[must_use]
pub fn told(what: i64, at: i64, record: Address) -> Option<ChangedRecord> {
    let what = usize::try_from(what).ok().and_then(|what| What::ALL.get(what).copied())?;
    Some(ChangedRecord::new(what, Timestamp::from_micros(at), record))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(seq: i64) -> FeedPlace {
        FeedPlace::new(seq, 0, seq * 10)
    }

    fn entry(seq: i64, kind: Kind) -> (FeedPlace, ChangedRecord) {
        let record = Address::top(kind, uuid::Uuid::from_u128(seq.unsigned_abs().into()).into());
        (place(seq), ChangedRecord::new(What::Created, Timestamp::from_micros(seq * 10), record))
    }

    /// SYN-07: a cursor belongs to its tenant and its feed, and no digit of it can be another one.
    #[test]
    fn a_cursor_is_read_by_its_own_feed_only() {
        let (one, other) = (Tenant::new("one"), Tenant::new("other"));
        let cursor = place(7).cursor(&one, 5);
        let ask = |cursor: &str, tenant: &Tenant, feed| {
            let request = ChangesRequest::new(Some(cursor.to_owned()), Kind::ALL.to_vec(), 10);
            FeedQuery::new(tenant, &request, feed).map(|query| query.after)
        };
        assert_eq!(ask(&cursor, &one, 5).ok(), Some(place(7)));
        assert!(matches!(ask(&cursor, &one, 6), Err(Feed::Expired)));
        assert!(matches!(ask(&cursor, &other, 5), Err(Feed::Unknown)));
        for at in 0..cursor.len() {
            let other = if cursor.as_bytes()[at] == b'0' { "1" } else { "0" };
            let damaged = format!("{}{other}{}", &cursor[..at], &cursor[at + 1..]);
            assert!(matches!(ask(&damaged, &one, 5), Err(Feed::Unknown)), "{at}");
        }
        for wrong in ["", "0", "nothing", &cursor[1..], &cursor.to_uppercase(), &format!("{cursor}0")] {
            assert!(wrong == cursor || matches!(ask(wrong, &one, 5), Err(Feed::Unknown)), "{wrong}");
        }
    }

    /// SYN-04, SYN-06: what a key may not read is passed over, and the cursors go on behind it.
    #[test]
    fn pages_go_on_behind_what_is_not_shown() {
        let tenant = Tenant::new("one");
        let all: Vec<_> =
            (1..=2_500).map(|seq| entry(seq, if seq % 50 == 0 { Kind::Tag } else { Kind::List })).collect();
        let (mut after, mut seen, mut pages) = (None, Vec::new(), 0);
        loop {
            let request = ChangesRequest::new(after.clone(), vec![Kind::Tag], 7);
            let query = FeedQuery::new(&tenant, &request, 1).ok().unwrap();
            let behind = all.iter().filter(|(place, _)| *place > query.after);
            let entries = behind.take(query.limit as usize).cloned().collect();
            let read = FeedRead { is_kept: true, last: all.last().map(|(place, _)| *place), entries };
            let Feed::Page(page) = query.page(read) else { panic!("no page") };
            seen.extend(page.entries.iter().map(|entry| entry.at.micros() / 10));
            pages += 1;
            after = Some(page.next.clone());
            if !page.has_more {
                assert_eq!(page.next, page.last);
                break;
            }
        }
        assert_eq!(seen, (1..=50).map(|nth| nth * 50).collect::<Vec<_>>());
        assert!(pages > 7, "{pages}");
    }

    /// SYN-08: a place that is not kept any more is told.
    #[test]
    fn a_place_that_is_gone_has_expired() {
        let (tenant, request) = (Tenant::new("one"), ChangesRequest::new(None, Kind::ALL.to_vec(), 10));
        let query = FeedQuery::new(&tenant, &request, 1).ok().unwrap();
        assert!(matches!(query.page(FeedRead::default()), Feed::Expired));
    }
}
