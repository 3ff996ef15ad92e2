//! The change feed: which records were created, changed or deleted since a cursor.
//!
//! Requirements: SYN-01 to SYN-12.

use std::{fmt, sync::Arc};

use async_trait::async_trait;

use super::Subscription;
use crate::{context::Context, error::Result, link::RecordAddress, model::Kind, value::Timestamp};

/// Reads the change feed of a tenant. Register it with
/// [`ApiBuilder::change_feed`](crate::ApiBuilder::change_feed).
///
/// # Behaviour
///
/// - The feed has an entry for every record of a registered [`List`](crate::List) or
///   [`Get`](crate::Get) that was created or deleted, or whose `modified_date` changed. This
///   includes records that were deleted together with another one.
/// - Entries are in commit order. An entry never appears before a cursor that was already returned,
///   even if several processes write. Order entries by a number that is assigned under a lock of
///   the tenant; the time of receipt is not sufficient.
/// - Only entries of `cx.tenant()` are returned.
/// - Every key that may read a kind gets to see cursors. A cursor with a number, as in the example,
///   reveals how many changes there are.
///
/// # Examples
///
/// A table of changes that database triggers fill:
///
/// ```
/// use std::sync::Mutex;
///
/// use async_trait::async_trait;
/// use svc_core::{ChangeFeed, FeedRequest, Context, Error, FeedResponse, Result, backend::{RecordChange, FeedPage, FeedEntry}};
///
/// /// Changes, numbered by the database under a lock of the tenant.
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
///         let entries = entries.filter(|entry| request.kinds.contains(&entry.change.address.kind)).collect();
///         Ok(FeedResponse::Page(FeedPage::new(entries, next.to_string(), log.len().to_string(), next < log.len())))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no change feed",
    label = "missing `impl ChangeFeed for {Self}`",
    note = "implement `svc_core::ChangeFeed` for it, or do not call `.change_feed(...)`: the server then offers no change feed"
)]
#[async_trait]
pub trait ChangeFeed: Send + Sync {
    /// Returns the entries after a cursor: at most `request.size` entries, of the requested kinds
    /// only.
    ///
    /// The result depends only on the tenant and the request, not on the caller. Equal requests
    /// that wait share one result.
    async fn read(&self, cx: &Context, request: &FeedRequest) -> Result<FeedResponse>;

    /// Subscribes to the commits that follow, for example with a [`Notifier`](super::Notifier).
    ///
    /// By default the subscription is closed. The library then reads the feed again every second
    /// while a client waits.
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

/// A request for entries of the change feed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FeedRequest {
    /// The cursor that the client sent: 1 to 1 024 characters of `[A-Za-z0-9_-]`. `None` starts at
    /// the beginning of the feed.
    pub after: Option<String>,
    /// The kinds to return: those that the caller's key may read.
    pub kinds: Vec<Kind>,
    /// The maximum number of entries.
    pub size: u32,
}

impl FeedRequest {
    /// Requests up to `size` entries of these kinds after a cursor.
    #[must_use]
    pub fn new(after: Option<String>, kinds: Vec<Kind>, size: u32) -> Self {
        Self { after, kinds, size }
    }
}

/// The response of a change feed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum FeedResponse {
    /// The entries that were found.
    Page(FeedPage),
    /// The cursor does not belong to the feed of this tenant (400).
    ///
    /// Requirements: SYN-07.
    UnknownCursor,
    /// The entries after the cursor are no longer stored, or the feed was restarted (410).
    ///
    /// Requirements: SYN-08.
    ExpiredCursor,
}

/// A page of a feed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FeedPage {
    /// The entries, in commit order. There can be fewer than requested, or none, even if more
    /// follow.
    pub entries: Vec<FeedEntry>,
    /// The cursor after these entries: 1 to 1 024 characters of `[A-Za-z0-9_-]`.
    pub next_cursor: String,
    /// The cursor after the last entry of the whole feed.
    pub last_cursor: String,
    /// Whether there are already more entries after `next_cursor`.
    pub has_more: bool,
}

impl FeedPage {
    /// Creates a page from its entries, the cursor after them, the cursor after the last entry of
    /// the feed, and whether more entries follow.
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

/// An entry of the feed: a change, and the cursor directly before it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FeedEntry {
    /// The cursor directly before this entry: 1 to 1 024 characters of `[A-Za-z0-9_-]`. Reading from
    /// it returns this entry first. The link `self` of the entry contains it. It must be the same
    /// on every page, and expire with the entry.
    ///
    /// Requirements: SYN-03.
    pub after: String,
    /// The change.
    pub change: RecordChange,
}

impl FeedEntry {
    /// Creates an entry from the cursor directly before it and its change.
    #[must_use]
    pub fn new(after: impl Into<String>, change: RecordChange) -> Self {
        Self {
            after: after.into(),
            change,
        }
    }
}

/// A change of one record. For a deleted record, only its address is known, and the address of the
/// record that it was merged into.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordChange {
    /// What happened to the record.
    pub change: ChangeKind,
    /// When it happened. This is the record's `modified_date`, unless the record was changed again
    /// or the change was imported.
    pub changed_at: Timestamp,
    /// The record.
    pub address: RecordAddress,
    /// The record that a deleted record was merged into. This is the person that remains, or the new
    /// address of a record below that person.
    pub merged_into: Option<RecordAddress>,
}

impl RecordChange {
    /// Creates a change.
    #[must_use]
    pub fn new(change: ChangeKind, changed_at: Timestamp, address: RecordAddress) -> Self {
        Self {
            change,
            changed_at,
            address,
            merged_into: None,
        }
    }

    /// Sets the record that a deleted record was merged into.
    #[must_use]
    pub fn with_merged_into(mut self, into: Option<RecordAddress>) -> Self {
        self.merged_into = into;
        self
    }
}

/// What happened to a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// The record was created.
    Created,
    /// The `modified_date` of the record changed.
    Changed,
    /// The record was deleted, alone or together with the record that it belonged to.
    Deleted,
}

impl ChangeKind {
    /// All values, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Created, Self::Changed, Self::Deleted];

    /// Returns the word that is used in responses.
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
