//! The change feed of a store: its entries and its pages.

use std::collections::HashSet;

use sha2::{Digest, Sha256};
use svc_core::store::{Change, ChangeTarget, RecordSet};
use svc_core::{
    backend::{ChangeKind, FeedEntry, FeedPage, FeedRequest, FeedResponse, RecordChange},
    context::Tenant,
    link::RecordAddress,
    model::Kind,
    value::{Id, Timestamp, short_digest},
};

use crate::{
    cursor::{CursorCodec, CursorKind},
    hex,
};

/// Determines the feed entries of one write request: one entry for each record that was created or
/// deleted, or whose `modified_date` changed. Use a new recorder for each request.
#[derive(Debug, Default)]
pub struct FeedRecorder {
    told: HashSet<(Kind, Id)>,
    /// A merged person, who is deleted next, and the person that remains.
    merged: Option<(Id, Id)>,
}

impl FeedRecorder {
    /// Returns the feed entry of a change. Call it before the change is applied, because deleted
    /// records cannot be read afterwards.
    ///
    /// A record whose container is part of its address is deleted at its old address when it moves. This
    /// entry and that of a merged person also have the new address.
    ///
    /// Changes of computed fields other than the dates of a schedule, cleared links to deleted records,
    /// and totals have no entry, because the modification date stays the same.
    ///
    /// Requirements: TYP-16.
    pub fn record<'c>(&mut self, change: &'c Change) -> Option<FeedChange<'c>> {
        let (what, record) = match change {
            Change::Insert(insert) => (ChangeKind::Created, insert.record.address()),
            Change::Replace(replace) => {
                let parent = replace.parent.clone();
                (
                    ChangeKind::Changed,
                    RecordAddress::new(replace.target.kind, replace.target.id.clone(), parent),
                )
            }
            Change::SetSchedule { at, .. } => (
                ChangeKind::Changed,
                RecordAddress::without_parent(at.kind, at.id.clone()),
            ),
            Change::Delete(set) => return Some(self.deleted(set)),
            Change::SetLink { at, link, from, to } => {
                let record = left_address(at, link, from.as_ref())?;
                return Some(match to {
                    Some(to) => FeedChange::Merged(record, to.clone()),
                    None => FeedChange::Record(ChangeKind::Deleted, record),
                });
            }
            Change::ForwardPerson { from, to } => {
                self.merged = Some((from.clone(), to.clone()));
                return None;
            }
            _ => return None,
        };
        self.told
            .insert((record.kind, record.id.clone()))
            .then_some(FeedChange::Record(what, record))
    }

    fn deleted<'c>(&mut self, set: &'c RecordSet) -> FeedChange<'c> {
        let merged = match (set, &self.merged) {
            (RecordSet::One(at, _), Some((from, to)))
                if at.kind == Kind::Person && at.id == *from =>
            {
                Some((at, to.clone()))
            }
            _ => None,
        };
        match merged {
            Some((at, to)) => {
                let record = RecordAddress::without_parent(at.kind, at.id.clone());
                FeedChange::Merged(record, to)
            }
            None => FeedChange::DeletedSet(set),
        }
    }
}

/// Returns the address that a record leaves when a link has a new target.
fn left_address(at: &ChangeTarget, link: &str, from: Option<&Id>) -> Option<RecordAddress> {
    let schema = at.kind.schema();
    let is_address = schema.path_parent.is_some() && schema.parent == Some(link);
    let parent = from.filter(|_| is_address)?;
    Some(RecordAddress::new(
        at.kind,
        at.id.clone(),
        Some(parent.clone()),
    ))
}

/// The feed entries of one change.
#[derive(Debug)]
#[non_exhaustive]
pub enum FeedChange<'c> {
    /// A record was created or changed.
    Record(ChangeKind, RecordAddress),
    /// All records of a set are deleted.
    DeletedSet(&'c RecordSet),
    /// A record is deleted at its address, because it was merged into this person, or belongs to this
    /// person now: see [`merged_into`].
    Merged(RecordAddress, Id),
}

/// Returns the address that a record has since it belongs to a person, or the address of the person
/// that a person was merged into.
#[must_use]
pub fn merged_into(record: &RecordAddress, person: Id) -> RecordAddress {
    match record.kind.schema().path_parent {
        Some(_) => RecordAddress::new(record.kind, record.id.clone(), Some(person)),
        None => RecordAddress::without_parent(record.kind, person),
    }
}

/// A position in the feed of a tenant.
///
/// It includes the time of its entry. A store that was restored from a backup therefore does not
/// accept positions of later states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub struct FeedPosition {
    /// The number that was assigned under the tenant's lock; greater than 0.
    pub seq: i64,
    /// Distinguishes entries with the same number.
    pub row: i64,
    /// The time of the change, in microseconds.
    pub at: i64,
}

impl FeedPosition {
    /// The position before all entries.
    pub const START: Self = Self {
        seq: 0,
        row: 0,
        at: 0,
    };

    /// Creates a position.
    #[must_use]
    pub fn new(seq: i64, row: i64, at: i64) -> Self {
        Self { seq, row, at }
    }

    /// Returns the position directly before this one.
    fn before(self) -> Self {
        match self.row {
            1.. => Self {
                row: self.row.saturating_sub(1),
                ..self
            },
            _ => Self {
                seq: self.seq.saturating_sub(1),
                row: i64::MAX,
                at: 0,
            },
        }
    }
}

/// Encodes and decodes the cursors of a store's change feed.
///
/// The position in a cursor is authenticated and encrypted with the secret of the store, for one
/// tenant. A cursor also contains the id of the feed, which is the same in every cursor of the
/// store, and a checksum. These are not secret. They distinguish an expired cursor of another store
/// from text that is not a cursor.
#[derive(Debug, Clone)]
pub struct FeedCursors {
    cursors: CursorCodec,
    feed_id: String,
}

/// Whether a cursor is before or after an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// The page starts after the entry.
    After = 0,
    /// The page starts with the entry.
    Before = 1,
}

/// The number of digits of a feed id and of a checksum.
const DIGITS: usize = 16;

impl FeedCursors {
    /// Creates a codec from the secret of the store. The secret must stay the same as long as the
    /// data.
    #[must_use]
    pub fn new(secret: &[u8; 32]) -> Self {
        let digest = Sha256::new()
            .chain_update(b"feed")
            .chain_update(secret)
            .finalize();
        let feed_id = hex::encode(digest.get(..DIGITS / 2).unwrap_or_default());
        Self {
            cursors: CursorCodec::new(secret),
            feed_id,
        }
    }

    fn encode(&self, tenant: &Tenant, place: FeedPosition, side: Side) -> String {
        let numbers = [place.seq, place.row, place.at];
        let sealed = self.cursors.write(
            CursorKind::Feed,
            side as i64,
            tenant.as_str().as_bytes(),
            numbers,
        );
        let content = format!("{}{sealed}", self.feed_id);
        let checksum = checksum(tenant, &content);
        content + &checksum
    }

    /// Returns the position and side in a cursor, or the error response for an invalid cursor.
    fn decode(&self, tenant: &Tenant, cursor: &str) -> Result<(FeedPosition, Side), FeedResponse> {
        let split = cursor
            .len()
            .checked_sub(DIGITS)
            .and_then(|at| cursor.split_at_checked(at));
        let content = split
            .filter(|(content, rest)| *rest == checksum(tenant, content))
            .map(|(content, _)| content);
        let (feed_id, sealed) = content
            .and_then(|content| content.split_at_checked(DIGITS))
            .ok_or(FeedResponse::UnknownCursor)?;
        if feed_id != self.feed_id {
            return Err(FeedResponse::ExpiredCursor);
        }
        let read = |side: Side| {
            let numbers = self.cursors.read(
                CursorKind::Feed,
                side as i64,
                tenant.as_str().as_bytes(),
                sealed,
            );
            numbers.map(|[seq, row, at]| (FeedPosition::new(seq, row, at), side))
        };
        read(Side::After)
            .or_else(|| read(Side::Before))
            .ok_or(FeedResponse::UnknownCursor)
    }
}

fn checksum(tenant: &Tenant, content: &str) -> String {
    format!(
        "{:016x}",
        short_digest(format!("{}{content}", tenant.as_str()).as_bytes())
    )
}

/// The maximum number of entries to read for one page if the caller may not read all kinds.
const WINDOW: u32 = 1_000;

/// A request for a page of a store's own feed.
#[derive(Debug)]
pub struct FeedQuery<'a> {
    tenant: &'a Tenant,
    request: &'a FeedRequest,
    cursors: &'a FeedCursors,
    /// The position after which entries are requested.
    pub after: FeedPosition,
    /// The position in the cursor.
    pub named: FeedPosition,
    /// The maximum number of entries to read, of all kinds.
    pub limit: u32,
}

/// The rows that a store has read for a page. Read `is_kept` together with the entries or after
/// them.
#[derive(Debug, Default)]
pub struct FeedRows {
    /// Whether [`FeedQuery::named`] is [`FeedPosition::START`] or the exact position of a stored
    /// entry.
    pub is_position_valid: bool,
    /// The newest position after the requested one.
    pub last: Option<FeedPosition>,
    /// The entries after the requested position, of all kinds and in order.
    pub entries: Vec<(FeedPosition, RecordChange)>,
}

impl<'a> FeedQuery<'a> {
    /// Decodes the cursor of a request. A cursor of another store has expired here.
    ///
    /// # Errors
    ///
    /// Returns the response to send if the cursor is not valid.
    pub fn new(
        tenant: &'a Tenant,
        request: &'a FeedRequest,
        cursors: &'a FeedCursors,
    ) -> Result<Self, FeedResponse> {
        let cursor = request.after.as_deref();
        let start = (FeedPosition::START, Side::After);
        let (named, side) = cursor.map_or(Ok(start), |cursor| cursors.decode(tenant, cursor))?;
        let after = if side == Side::Before {
            named.before()
        } else {
            named
        };
        let is_all = Kind::ALL.iter().all(|kind| request.kinds.contains(kind));
        let limit = if is_all {
            request.size
        } else {
            WINDOW.max(request.size)
        };
        Ok(Self {
            tenant,
            request,
            cursors,
            after,
            named,
            limit: limit.saturating_add(1),
        })
    }

    /// Creates the page from the rows.
    #[must_use]
    pub fn page(&self, read: FeedRows) -> FeedResponse {
        if !read.is_position_valid {
            return FeedResponse::ExpiredCursor;
        }
        let (limit, size) = (
            self.limit.saturating_sub(1) as usize,
            self.request.size as usize,
        );
        let mut has_more = read.entries.len() > limit;
        let newest = read
            .entries
            .last()
            .map_or(self.after, |(place, _)| *place)
            .max(read.last.unwrap_or_default());
        let cursor = |place, side| self.cursors.encode(self.tenant, place, side);
        let (mut next, mut entries) = (self.after, Vec::new());
        for (place, change) in read.entries.into_iter().take(limit) {
            if self.request.kinds.contains(&change.address.kind) {
                if entries.len() >= size {
                    has_more = true;
                    break;
                }
                entries.push(FeedEntry::new(cursor(place, Side::Before), change));
            }
            next = place;
        }
        FeedResponse::Page(FeedPage::new(
            entries,
            cursor(next, Side::After),
            cursor(newest, Side::After),
            has_more,
        ))
    }
}

/// Returns the feed entry for stored data: the number of a [`ChangeKind`], a time, and the person of
/// [`FeedChange::Merged`]. `None` if the data is not valid.
#[must_use]
pub fn feed_entry(
    what: i64,
    at: i64,
    record: RecordAddress,
    person: Option<Id>,
) -> Option<RecordChange> {
    let what = usize::try_from(what)
        .ok()
        .and_then(|what| ChangeKind::ALL.get(what).copied())?;
    let into = person.map(|person| merged_into(&record, person));
    let change = RecordChange::new(what, Timestamp::from_micros(at), record);
    Some(change.with_merged_into(into))
}

#[cfg(test)]
mod tests {
    use super::*;
    use svc_core::page::is_token;

    fn place(seq: i64) -> FeedPosition {
        FeedPosition::new(seq, 0, seq * 10)
    }

    fn entry(seq: i64, kind: Kind) -> (FeedPosition, RecordChange) {
        let record = RecordAddress::without_parent(
            kind,
            uuid::Uuid::from_u128(seq.unsigned_abs().into()).into(),
        );
        (
            place(seq),
            RecordChange::new(
                ChangeKind::Created,
                Timestamp::from_micros(seq * 10),
                record,
            ),
        )
    }

    /// A cursor is only valid for its tenant and its feed, and a change of any digit makes it
    /// invalid.
    ///
    /// Requirements: SYN-07.
    #[test]
    fn a_cursor_is_read_by_its_own_feed_only() {
        let (one, other) = (Tenant::new("one"), Tenant::new("other"));
        let (own, foreign) = (FeedCursors::new(&[5; 32]), FeedCursors::new(&[6; 32]));
        let cursor = own.encode(&one, place(7), Side::After);
        assert!(is_token(&cursor), "SYN-05: {cursor}");
        assert_eq!(
            own.decode(&one, &cursor).ok(),
            Some((place(7), Side::After))
        );
        assert!(matches!(
            foreign.decode(&one, &cursor),
            Err(FeedResponse::ExpiredCursor)
        ));
        assert!(matches!(
            own.decode(&other, &cursor),
            Err(FeedResponse::UnknownCursor)
        ));
        for at in 0..cursor.len() {
            let other = if cursor.as_bytes()[at] == b'0' {
                "1"
            } else {
                "0"
            };
            let damaged = format!("{}{other}{}", &cursor[..at], &cursor[at + 1..]);
            assert!(
                matches!(own.decode(&one, &damaged), Err(FeedResponse::UnknownCursor)),
                "{at}"
            );
        }
        for wrong in [
            "",
            "0",
            "nothing",
            "é",
            &cursor[1..],
            &cursor.to_uppercase(),
            &format!("{cursor}0"),
        ] {
            assert!(
                matches!(own.decode(&one, wrong), Err(FeedResponse::UnknownCursor)),
                "{wrong}"
            );
        }
    }

    /// A cursor cannot be created without the secret, even if the checksum, the tenant and a
    /// position are known.
    ///
    /// Requirements: SYN-07.
    #[test]
    fn syn_07_a_cursor_cannot_be_forged() {
        let (tenant, own) = (Tenant::new("one"), FeedCursors::new(&[5; 32]));
        let cursor = own.encode(&tenant, place(7), Side::Before);
        let (content, _) = cursor.split_at(cursor.len() - DIGITS);
        for at in DIGITS..content.len() {
            let other = if content.as_bytes()[at] == b'0' {
                "1"
            } else {
                "0"
            };
            let forged = format!("{}{other}{}", &content[..at], &content[at + 1..]);
            let forged = format!("{forged}{}", checksum(&tenant, &forged));
            assert!(
                matches!(
                    own.decode(&tenant, &forged),
                    Err(FeedResponse::UnknownCursor)
                ),
                "{at}"
            );
        }
    }

    /// A cursor reveals neither the number nor the time of changes. Except for the feed id, cursors
    /// of neighbouring entries have equal digits only by chance.
    ///
    /// Requirements: SYN-07.
    #[test]
    fn syn_07_a_cursor_reveals_neither_count_nor_time() {
        let (tenant, own) = (Tenant::new("one"), FeedCursors::new(&[5; 32]));
        let cursors: Vec<String> = (1..=65)
            .map(|seq| own.encode(&tenant, place(seq), Side::After))
            .collect();
        let alike = |one: &str, two: &str| {
            one.bytes()
                .zip(two.bytes())
                .filter(|(one, two)| one == two)
                .count()
        };
        let alike: usize = cursors
            .windows(2)
            .map(|two| alike(&two[0][DIGITS..], &two[1][DIGITS..]))
            .sum();
        // 64 pairs of 88 digits, of which one in 16 is equal: 352, with a standard deviation of 18.
        assert!((250..450).contains(&alike), "{alike}");
        let other = own.encode(&Tenant::new("other"), place(1), Side::After);
        assert_ne!(cursors[0][DIGITS..DIGITS + 24], other[DIGITS..DIGITS + 24]);
    }

    /// Entries that a key may not read are skipped, and the cursors continue after them.
    ///
    /// Requirements: SYN-04, SYN-06.
    #[test]
    fn pages_go_on_behind_what_is_not_shown() {
        let (tenant, cursors) = (Tenant::new("one"), FeedCursors::new(&[5; 32]));
        let all: Vec<_> = (1..=2_500)
            .map(|seq| entry(seq, if seq % 50 == 0 { Kind::Tag } else { Kind::List }))
            .collect();
        let (mut after, mut seen, mut pages) = (None, Vec::new(), 0);
        loop {
            let request = FeedRequest::new(after.clone(), vec![Kind::Tag], 7);
            let query = FeedQuery::new(&tenant, &request, &cursors).ok().unwrap();
            let behind = all.iter().filter(|(place, _)| *place > query.after);
            let entries = behind.take(query.limit as usize).cloned().collect();
            let read = FeedRows {
                is_position_valid: true,
                last: all.last().map(|(place, _)| *place),
                entries,
            };
            let FeedResponse::Page(page) = query.page(read) else {
                panic!("no page")
            };
            seen.extend(
                page.entries
                    .iter()
                    .map(|entry| entry.change.changed_at.as_micros() / 10),
            );
            pages += 1;
            after = Some(page.next_cursor.clone());
            if !page.has_more {
                assert_eq!(page.next_cursor, page.last_cursor);
                break;
            }
        }
        assert_eq!(seen, (1..=50).map(|nth| nth * 50).collect::<Vec<_>>());
        assert!(pages > 7, "{pages}");
    }

    /// The cursor before an entry depends on that entry only.
    ///
    /// Requirements: SYN-03.
    #[test]
    fn syn_03_an_entry_has_one_cursor_on_every_page() {
        let (tenant, cursors) = (Tenant::new("one"), FeedCursors::new(&[5; 32]));
        let at = |seq, row| FeedPosition::new(seq, row, 1);
        let of = |place: FeedPosition| (place, entry(place.seq, Kind::Tag).1);
        let all: Vec<_> = [at(1, 0), at(1, 1), at(1, 2), at(4, 0)]
            .into_iter()
            .map(of)
            .collect();
        let page = |after: Option<String>, first: usize| {
            let request = FeedRequest::new(after, Kind::ALL.to_vec(), 10);
            let query = FeedQuery::new(&tenant, &request, &cursors).ok().unwrap();
            let kept = &all[first..];
            let is_kept = query.named == FeedPosition::START
                || kept.iter().any(|(place, _)| *place == query.named);
            let entries = kept
                .iter()
                .filter(|(place, _)| *place > query.after)
                .cloned()
                .collect();
            match query.page(FeedRows {
                is_position_valid: is_kept,
                last: all.last().map(|(place, _)| *place),
                entries,
            }) {
                FeedResponse::Page(page) => Some(page.entries),
                _ => None,
            }
        };
        let entries = page(None, 0).unwrap();
        for (number, entry) in entries.iter().enumerate() {
            let after = || Some(entry.after.clone());
            for first in 0..=number {
                assert_eq!(
                    page(after(), first).unwrap(),
                    entries[number..],
                    "{number} {first}"
                );
            }
            assert_eq!(page(None, number).unwrap(), entries[number..]);
            assert_eq!(
                page(after(), number + 1),
                None,
                "an entry that no longer exists"
            );
        }
    }

    /// A position that is no longer stored has expired.
    ///
    /// Requirements: SYN-08.
    #[test]
    fn a_place_that_is_gone_has_expired() {
        let (tenant, request) = (
            Tenant::new("one"),
            FeedRequest::new(None, Kind::ALL.to_vec(), 10),
        );
        let cursors = FeedCursors::new(&[5; 32]);
        let query = FeedQuery::new(&tenant, &request, &cursors).ok().unwrap();
        assert!(matches!(
            query.page(FeedRows::default()),
            FeedResponse::ExpiredCursor
        ));
    }
}
