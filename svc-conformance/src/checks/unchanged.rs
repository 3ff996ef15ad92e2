//! Schedules of messages, and updates that change nothing, in the date of the record and in the
//! change feed.
//!
//! Requirements: SYN-02, CRU-19.

use std::time::Duration;

use super::change_feed::{behind, end};
use super::prelude::*;
use super::record_comparison::whole_seconds;
use super::schedule::{DATES, message, on_condition, times};
use super::subject::changeable_text;
use crate::values::instant;

pub(super) const CHECKS: &[Check] = &[
    check!("syn/schedules", [SYN_02, CRU_19], schedules)
        .needs("changes and helper.schedule and messages.read")
        .has_side_effects(),
    check!("syn/unchanged", [SYN_02, CRU_19], unchanged)
        .needs("changes and *.create and *.read and *.update"),
];

/// A record before one request that may change it, and the end of the feed at that time.
struct Before {
    record: Representation,
    own: String,
    at: String,
}

impl Before {
    /// Reads a record. If its dates have whole seconds, waits for the next second.
    async fn read(api: &CheckClient<'_>, record: &Representation) -> Result<Self, CheckStop> {
        let record = api.reread(record).await?;
        if whole_seconds(&record) {
            api.cx.run.target.wait(Duration::from_millis(1100)).await;
        }
        let (own, at) = (record.self_url()?, end(api).await?);
        Ok(Self { record, own, at })
    }

    /// Compares the date of the record and the entries of the feed after a successful request.
    async fn compare(
        self,
        api: &CheckClient<'_>,
        is_changed: impl Fn(&Representation, &Representation) -> bool,
        what: &str,
    ) -> Result<(), CheckStop> {
        let (cx, before) = (api.cx, &self.record);
        let after = api.reread(before).await?;
        let (entries, ..) = behind(api, &self.at, std::slice::from_ref(&self.own)).await?;
        let date = |record: &Representation| record["modified_date"].as_str().and_then(instant);
        let (old, new) = (date(before), date(&after));
        let is_changed = is_changed(before, &after);
        let is_later = new > old || (!is_changed && new == old);
        cx.observe(ids::CRU_19, is_later, || {
            format!(
                "modified_date was {} and is {} after {what} of {}",
                before["modified_date"], after["modified_date"], self.own
            )
        });
        let are_changes = entries.iter().all(|entry| entry.what == "changed");
        // A server can also add an entry for a request that leaves the date unchanged.
        let is_listed = !entries.is_empty();
        let agrees = is_listed || (new == old && !is_changed);
        cx.observe(ids::SYN_02, are_changes && agrees, || {
            format!(
                "modified_date was {} and is {} after {what} of {}, whose entries are {entries:?}",
                before["modified_date"], after["modified_date"], self.own
            )
        });
        Ok(())
    }
}

/// A message is scheduled, and its schedule is cancelled. Each changes the message if it shows the
/// schedule.
async fn schedules(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let (message, url) = message(cx, &api).await?;
    let is_shown = |name: &&str| {
        let field = cx.declared().field("message", name);
        field.is_some_and(|field| field.readable)
    };
    let differs = |before: &Representation, after: &Representation| {
        let mut shown = DATES.into_iter().filter(is_shown);
        shown.any(|name| before.json.get(name) != after.json.get(name))
    };
    let before = Before::read(&api, &message).await?;
    let answer = api.post(&url, &times()).await?;
    on_condition(&answer)?;
    if !answer.is_success() {
        return Err(none(format!("a message cannot be scheduled: {answer}")));
    }
    before.compare(&api, differs, "a schedule").await?;
    let before = Before::read(&api, &message).await?;
    let answer = api.delete(&url).await?;
    if !answer.is_success() {
        return Err(none(format!("a schedule cannot be cancelled: {answer}")));
    }
    before.compare(&api, differs, "a cancelled schedule").await
}

/// Records are changed to the text that they have, and then to another one. After the first update,
/// `modified_date` may be the same or later.
async fn unchanged(cx: &CheckContext) -> Result<(), CheckStop> {
    let able = |kind: &CatalogueKind| {
        cx.declared().offers_all(kind.one, &["create", "read"])
            && changeable_text(cx, kind.one).is_some()
    };
    let kinds: Vec<CatalogueKind> = cx.declared().kinds().filter(able).collect();
    each!(kind in kinds.into_iter().take(cx.cases(3, 20, 20)) => unchanged_record(cx, kind))
}

async fn unchanged_record(cx: &CheckContext, kind: CatalogueKind) -> Result<(), CheckStop> {
    let api = cx.api();
    let Some(text) = changeable_text(cx, kind.one) else {
        return Ok(());
    };
    let made = api.make(kind.one, &json!({ text: cx.unique() })).await?;
    let before = Before::read(&api, &made).await?;
    let stored = before.record[text].clone();
    let other = json!(cx.unique());
    let after = api.change(&before.record, &json!({ text: stored })).await?;
    before
        .compare(&api, |_, _| false, "an update without another value")
        .await?;
    let before = Before::read(&api, &after).await?;
    api.change(&before.record, &json!({ text: other })).await?;
    before.compare(&api, |_, _| true, "an update").await
}
