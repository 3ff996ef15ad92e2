//! Adds the remaining person to the entry of a merged one, in the change feed of a vendor whose operations
//! merge people.
//!
//! Requirements: MRG-12.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{
    backend::{ChangeFeed, ChangeKind, FeedRequest, FeedResponse, RecordChange, Subscription},
    context::Context,
    error::Result,
    link::RecordAddress,
    model::Kind,
    store::Store,
};

/// The change feed of a vendor.
pub(in crate::api) struct FeedOfMerges {
    pub(in crate::api) feed: Arc<dyn ChangeFeed>,
    pub(in crate::api) store: Arc<dyn Store>,
    /// The namespace of the server's own identifiers. The context of a webhook has none.
    pub(in crate::api) namespace: Arc<str>,
}

#[async_trait]
impl ChangeFeed for FeedOfMerges {
    async fn read(&self, cx: &Context, request: &FeedRequest) -> Result<FeedResponse> {
        let mut response = self.feed.read(cx, request).await?;
        if let FeedResponse::Page(page) = &mut response {
            let cx = cx.clone().with_namespace(Arc::clone(&self.namespace));
            for entry in &mut page.entries {
                let change = &mut entry.change;
                if is_deleted_person(change) {
                    let to = match self.store.forwarded_person(&cx, &change.address.id).await {
                        Ok(to) => to,
                        Err(error) if error.is_unavailable() => return Err(error),
                        // A person that cannot be read must not stop the feed.
                        Err(error) => {
                            tracing::warn!(%error, "the remaining person of a merge is not in the change feed");
                            None
                        }
                    };
                    change.merged_into =
                        to.map(|to| RecordAddress::without_parent(Kind::Person, to));
                }
            }
        }
        Ok(response)
    }

    async fn subscribe(&self, cx: &Context) -> Result<Subscription> {
        self.feed.subscribe(cx).await
    }
}

/// Returns whether an entry can be that of a merged person, without a link to the remaining one.
fn is_deleted_person(change: &RecordChange) -> bool {
    change.change == ChangeKind::Deleted
        && change.address.kind == Kind::Person
        && change.merged_into.is_none()
}
