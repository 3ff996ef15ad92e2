//! Counts of collections to which other clients may write at the same time.

use serde_json::Value;

use crate::check::CheckContext;
use crate::client::CheckClient;
use crate::outcome::CheckStop;
use crate::response::Representation;

/// The maximum number of times that a collection is read again if it changes while it is read.
const TRIES: usize = 5;
/// The maximum number of members of a collection that is read to verify its total.
const MOST_MEMBERS: u64 = 2_000;

/// What the pages of a collection show about its total and about one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Whether the total equals the number of members.
    pub(crate) is_counted: bool,
    /// Whether the record is among the members.
    pub(crate) has_record: bool,
}

impl CheckClient<'_> {
    /// Returns whether the total of a collection equals the number of its members, and whether the
    /// record with this URL is one of them. `None` if the collection changes each time it is read,
    /// or is too large.
    pub(crate) async fn listed(&self, url: &str, own: &str) -> Result<Option<Listed>, CheckStop> {
        for _ in 0..TRIES {
            let before = self.total(url).await?;
            if before > Some(MOST_MEMBERS) {
                break;
            }
            let members = self.members(url).await?;
            if self.total(url).await? == before {
                let is_counted = before == u64::try_from(members.len()).ok();
                let has_record = members
                    .iter()
                    .any(|member| member.link("self").as_deref() == Some(own));
                return Ok(Some(Listed {
                    is_counted,
                    has_record,
                }));
            }
        }
        Ok(None)
    }

    /// Whether a collection has more members than before, and one of them is such a record.
    pub(crate) async fn has_grown_by(
        &self,
        url: &str,
        before: Option<u64>,
        is_ours: impl Fn(&Representation) -> bool,
    ) -> Result<bool, CheckStop> {
        let (Some(before), Some(after)) = (before, self.total(url).await?) else {
            return Ok(false);
        };
        Ok(after > before && self.members(url).await?.iter().any(is_ours))
    }
}

/// Whether a record may have been created from one of these bodies: it has one of their markers, or
/// the server stores no markers.
pub(crate) fn may_be_of<'b>(
    cx: &'b CheckContext,
    bodies: &'b [Value],
) -> impl Fn(&Representation) -> bool + 'b {
    let marker = |body: &'b Value| body.pointer("/identifiers/0").and_then(Value::as_str);
    move |record| {
        !cx.declared().has_identifiers()
            || bodies
                .iter()
                .filter_map(marker)
                .any(|marker| record.carries(marker))
    }
}
