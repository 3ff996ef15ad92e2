//! Helper requests of which a part failed, repeated with their `Idempotency-Key`.
//!
//! Requirements: IDM-02.

use super::functions::{any_helper, fresh_tag, note_rest};
use super::helper_calls::new_person;
use super::idempotency::{KEY, REPLAYED, key};
use super::prelude::*;

pub(super) const CHECKS: &[Check] = &[check!("idm/parts", [IDM_02], parts).needs(
    "idempotency_keys and helper.non_atomic and haf.add_tags and tags.create and tags.sub.taggings",
)];

/// A helper request with two tags, one of which is missing, sent four times with one key.
struct PartlyFailed<'c> {
    api: CheckClient<'c>,
    url: String,
    body: String,
    key: String,
    /// The URLs of the collections that show what is recorded: each with a name for messages.
    collections: Vec<(&'static str, String)>,
}

impl PartlyFailed<'_> {
    async fn send(&self) -> Result<TestResponse, CheckStop> {
        let headers = [(KEY, self.key.as_str())];
        self.api
            .send_with(
                http::Method::POST,
                &self.url,
                Some(self.body.clone()),
                &headers,
            )
            .await
    }

    /// Verifies that no part is recorded twice, and returns the totals. A function can fail as a
    /// whole, so that a part can also be recorded later.
    async fn recorded(
        &self,
        before: &[Option<u64>],
        after: &TestResponse,
    ) -> Result<Vec<Option<u64>>, CheckStop> {
        let mut totals = Vec::new();
        if self.api.cx.declared().behaves("totals_follow_later") {
            return Ok(totals);
        }
        for (place, (what, url)) in self.collections.iter().enumerate() {
            let total = self.api.total(url).await?;
            let least = before.get(place).copied().flatten().unwrap_or_default();
            let is_right = total.is_some_and(|total| (least..=1).contains(&total));
            self.api.cx.observe(ids::IDM_02, is_right, || {
                format!("{what} has {} members after {after}", json!(total))
            });
            totals.push(total);
        }
        Ok(totals)
    }
}

/// Whether a response is that of another request, byte for byte.
fn is_replay(one: &TestResponse, other: &TestResponse) -> bool {
    one.status == other.status
        && one.body == other.body
        && one.header("location") == other.header("location")
}

/// While no failed part can succeed, the response is replayed. Later a server replays it, or
/// executes the failed parts again. Nothing is recorded twice.
async fn parts(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = any_helper(&api).await?;
    let known = fresh_tag(&api)
        .await?
        .ok_or_else(|| none("no tag can be created that a function could add"))?;
    let person = new_person(cx);
    let missing = format!("no such tag {}", cx.unique());
    let mut body = ready.body(cx, Some(&person));
    put(&mut body, "add_tags", json!([known["name"], missing]));
    let mut collections = vec![("the tag that exists", known.require_link("taggings")?)];
    let is_new = |under| cx.declared().makes_alone(under);
    if ready.kind.under.is_some_and(is_new)
        && let Some(url) = api.home(ready.kind.one, ready.container.as_ref()).await?
    {
        collections.push(("the container of the action", url));
    }
    let request = PartlyFailed {
        url: ready.url.clone(),
        body: body.to_string(),
        key: key(cx),
        collections,
        api: api.clone(),
    };
    let first = request.send().await?;
    note_rest(&api, &ready, &first, &body, &person).await?;
    if first.status != 400 || first.error().is_none() {
        return Err(none(format!("a missing tag is not an error: {first}")));
    }
    let replayed = first.header(REPLAYED);
    cx.observe(ids::IDM_02, !is_marked(replayed), || {
        format!("{first} has the replay header {replayed:?} for a new key")
    });
    let recorded = request.recorded(&[], &first).await?;
    let second = request.send().await?;
    let replayed = second.header(REPLAYED);
    let is_right = is_replay(&first, &second) && replayed == Some("true");
    cx.observe(ids::IDM_02, is_right, || {
        format!("not replayed: {first}, and again {second}, with the replay header {replayed:?}")
    });
    let unchanged = request.recorded(&recorded, &second).await?;
    cx.observe(ids::IDM_02, unchanged == recorded, || {
        format!("a replayed request recorded {recorded:?} and then {unchanged:?}")
    });
    let created = api.make("tag", &json!({ "name": missing })).await?;
    let third = request.send().await?;
    let tagged = api.total(&created.require_link("taggings")?).await?;
    match third.header(REPLAYED) {
        Some("partial") => {
            cx.chose("a repeated helper request with failed parts", "is resumed");
            // The only failed part was the missing tag.
            let is_right = third.is_created() && tagged == Some(1);
            cx.observe(ids::IDM_02, is_right, || {
                format!("{} taggings after {third}", json!(tagged))
            });
        }
        replayed => {
            cx.chose("a repeated helper request with failed parts", "is replayed");
            let is_right = is_replay(&first, &third) && replayed == Some("true");
            cx.observe(ids::IDM_02, is_right && tagged == Some(0), || {
                format!(
                    "not replayed: {first}, and again {third}, with the replay header {replayed:?} and {} taggings",
                    json!(tagged)
                )
            });
        }
    }
    note_rest(&api, &ready, &third, &body, &person).await?;
    let recorded = request.recorded(&recorded, &third).await?;
    let fourth = request.send().await?;
    let replayed = fourth.header(REPLAYED);
    let is_known = is_replay(&third, &fourth) || is_replay(&first, &fourth);
    let is_right = is_known && replayed == Some("true");
    cx.observe(ids::IDM_02, is_right, || {
        format!("not replayed: {third}, and again {fourth}, with the replay header {replayed:?}")
    });
    request.recorded(&recorded, &fourth).await?;
    let tagged = api.total(&created.require_link("taggings")?).await?;
    cx.observe(ids::IDM_02, tagged.unwrap_or_default() <= 1, || {
        format!("{} taggings after {fourth}", json!(tagged))
    });
    Ok(())
}

/// Whether a response is marked as that of a repeated request.
fn is_marked(replayed: Option<&str>) -> bool {
    matches!(replayed, Some("true" | "partial"))
}
