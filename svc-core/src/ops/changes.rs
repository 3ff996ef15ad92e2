//! The change feed: what was created, changed and deleted since a client last looked.
//!
//! Requirements: SYN-01 to SYN-12.

use std::{fmt, sync::Arc};

use async_trait::async_trait;

use super::Subscription;
use crate::{context::Context, error::Result, link::RecordAddress, model::Kind, value::Timestamp};

/// Tells what was created, changed and deleted since a cursor;
/// [`ApiBuilder::change_feed`](crate::ApiBuilder::change_feed) offers it.
///
/// # Behaviour
///
/// - Every change of a record that a [`List`](crate::List) or a [`Get`](crate::Get) shows to the
///   tenant is told: that it was created, that its `modified_date` is another one, that it was
///   deleted. Those that go with a deleted record are told, too.
/// - Entries come in the order of the commits, and never later behind a cursor that was given
///   already: who follows the cursors misses nothing, however many processes write. The time of
///   receipt is no such order; a number that is given under a lock of the tenant is one.
/// - Only changes of `cx.tenant` are told.
/// - A cursor is shown to every key that may read a kind. If it contains a number, as in the
///   example, it shows how many changes there are.
///
/// # Examples
///
/// A table of changes that triggers fill, as a vendor may have it:
///
/// ```
/// use std::sync::Mutex;
///
/// use async_trait::async_trait;
/// use svc_core::{ChangeFeed, FeedRequest, Context, Error, FeedResponse, Result, ops::{RecordChange, FeedPage, FeedEntry}};
///
/// /// Changes by the number that the database gave them under the tenant's lock.
/// struct Crm { log: Mutex<Vec<RecordChange>> }
///
/// #[async_trait]
/// impl ChangeFeed for Crm {
///     async fn read(&self, _: &Context, request: &FeedRequest) -> Result<FeedResponse> {
///         let log = self.log.lock().map_err(|_| Error::unexpected("poisoned"))?;
///         let after = match request.after.as_deref().map(str::parse::<usize>) {
///             None => 0,
///             Some(Ok(after)) if after <= log.len() => after,
///             Some(_) => return Ok(FeedResponse::UnknownCursor),
///         };
///         let size = request.size as usize;
///         let part = log.iter().skip(after).take(size);
///         let next = after.saturating_add(part.len());
///         let entries = part.enumerate().map(|(place, change)| {
///             FeedEntry::new(after.saturating_add(place).to_string(), change.clone())
///         });
///         let entries = entries.filter(|entry| request.kinds.contains(&entry.change.record.kind)).collect();
///         Ok(FeedResponse::Page(FeedPage::new(entries, next.to_string(), log.len().to_string(), next < log.len())))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not tell its changes",
    label = "missing `impl ChangeFeed for {Self}`",
    note = "implement `svc_core::ChangeFeed` for it, or leave `.change_feed(...)` out: there is no change feed then"
)]
#[async_trait]
pub trait ChangeFeed: Send + Sync {
    /// What was changed behind a cursor: at most so many entries as are asked for, and of no other
    /// kinds than those.
    ///
    /// The result depends on the tenant and the request alone, not on the caller: equal requests
    /// that wait share it.
    async fn read(&self, cx: &Context, request: &FeedRequest) -> Result<FeedResponse>;

    /// Begins to listen for what is committed from here on: [`Notifier`](super::Notifier) does it.
    /// A backend that does not say is asked again after a second, as long as somebody waits.
    ///
    /// Requirements: SYN-11.
    async fn subscribe(&self, cx: &Context) -> Result<Subscription> {
        let _ = cx;
        Ok(Subscription::closed())
    }
}

#[async_trait]
impl<T: ChangeFeed + ?Sized> ChangeFeed for Arc<T> {
    async fn read(&self, cx: &Context, request: &FeedRequest) -> Result<FeedResponse> {
        (**self).read(cx, request).await
    }

    async fn subscribe(&self, cx: &Context) -> Result<Subscription> {
        (**self).subscribe(cx).await
    }
}

/// Which changes are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FeedRequest {
    /// The cursor that the client was given; `None` for the beginning of the feed. It is 1 to 256
    /// of `[A-Za-z0-9_-]`.
    pub after: Option<String>,
    /// The kinds that may be told: those that the caller's key may read.
    pub kinds: Vec<Kind>,
    /// The most entries.
    pub size: u32,
}

impl FeedRequest {
    /// So many changes of these kinds behind a cursor.
    #[must_use]
    pub fn new(after: Option<String>, kinds: Vec<Kind>, size: u32) -> Self {
        Self { after, kinds, size }
    }
}

/// What a feed answers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum FeedResponse {
    /// What was changed.
    Page(FeedPage),
    /// The cursor is none that this feed gave to the tenant (400, SYN-07).
    UnknownCursor,
    /// What follows the cursor is not kept any more, or the feed has begun anew (410, SYN-08).
    ExpiredCursor,
}

/// A part of a feed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FeedPage {
    /// The changes, in the order of their commits. There may be fewer than asked for, and none,
    /// though more follow.
    pub entries: Vec<FeedEntry>,
    /// The cursor behind them: 1 to 256 of `[A-Za-z0-9_-]`.
    pub next_cursor: String,
    /// The cursor behind all that there is now.
    pub last_cursor: String,
    /// Whether more is there behind `next` already.
    pub has_more: bool,
}

impl FeedPage {
    /// Entries, the cursor behind them and the one behind all, and whether more follows.
    #[must_use]
    pub fn new(entries: Vec<FeedEntry>, next: String, last: String, has_more: bool) -> Self {
        Self {
            entries,
            next_cursor: next,
            last_cursor: last,
            has_more,
        }
    }
}

/// An entry of the feed: a change, and the cursor from which the feed begins with it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FeedEntry {
    /// The cursor directly in front of it: 1 to 256 of `[A-Za-z0-9_-]`. The link `self` of the
    /// entry contains it. It must be the same on every page, and expire with the entry.
    ///
    /// Requirements: SYN-03.
    pub after: String,
    /// What was changed.
    pub change: RecordChange,
}

impl FeedEntry {
    /// A change and the cursor directly in front of it.
    #[must_use]
    pub fn new(after: impl Into<String>, change: RecordChange) -> Self {
        Self {
            after: after.into(),
            change,
        }
    }
}

/// One change of one record. Of a deleted record there is no more than its address.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordChange {
    /// What became of it.
    pub what: ChangeKind,
    /// When: the record's `modified_date`, unless it was changed again or its change was taken over
    /// from elsewhere.
    pub at: Timestamp,
    /// The record.
    pub record: RecordAddress,
}

impl RecordChange {
    /// A change.
    #[must_use]
    pub fn new(what: ChangeKind, at: Timestamp, record: RecordAddress) -> Self {
        Self { what, at, record }
    }
}

/// What became of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// It is new.
    Created,
    /// Its `modified_date` is another one.
    Changed,
    /// It was deleted, by itself or with what it belonged to.
    Deleted,
}

impl ChangeKind {
    /// Each, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Created, Self::Changed, Self::Deleted];

    /// The word on the wire.
    ///
    /// Requirements: SYN-03.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
        }
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
