//! The URL of a merged person: reads, writes, links, and what is left after the remaining person is
//! deleted.
//!
//! Requirements: MRG-09 to MRG-11, MRG-22, MRG-23.

use super::crud::is_page;
use super::idempotency::{KEY, REPLAYED, key};
use super::merges::{Pair, created, named, redirected, unchanged};
use super::prelude::*;
use crate::fixtures::full;
use crate::kinds::KINDS;

/// The requirements that the URL of a merged person shows.
#[rustfmt::skip]
const ADDRESSES: &[&str] = &[ids::MRG_09, ids::MRG_10, ids::MRG_11];

pub(super) const CHECKS: &[Check] = &[
    check!("mrg/addresses", ADDRESSES, addresses)
        .needs("merge_people and people.create and people.read"),
    check!("mrg/repeats", [MRG_23], repeats)
        .needs("merge_people and idempotency_keys and people.create and people.read"),
    check!("mrg/erased", [MRG_22], erased)
        .needs("merge_people and people.create and people.read and people.delete"),
];

async fn addresses(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let pair = Pair::named(&api).await?;
    let answer = pair.merge(&api).await?;
    if cx.declared().behaves("merge_people.forwards") {
        reads(&api, &pair).await?;
        linked(&api, &pair).await?;
    }
    // An action may change a total of the person.
    let before = api.reread(&pair.remaining).await?;
    let text = json!({ "given_name": cx.unique() });
    let text = part(cx, "person", &text);
    if cx.declared().offers("person", "update") {
        let put = api.put(&pair.old, &text).await?;
        cx.observe(ids::MRG_10, !put.is_success(), || {
            format!("{put}, after {answer}")
        });
        unchanged(&api, ids::MRG_10, &before, &put).await?;
    }
    if cx.declared().offers("person", "delete") {
        let deleted = api.delete(&pair.old).await?;
        cx.observe(ids::MRG_10, !deleted.is_success(), || {
            format!("{deleted}, after {answer}")
        });
        unchanged(&api, ids::MRG_10, &before, &deleted).await?;
    }
    Ok(())
}

/// Reads of the merged person and of a collection below are redirected.
async fn reads(api: &CheckClient<'_>, pair: &Pair) -> Result<(), CheckStop> {
    let cx = api.cx;
    let read = api.get(&pair.old).await?;
    let target = redirected(api, &read).await?;
    let is_remaining = target.as_ref().is_some_and(|it| pair.is_remaining(it));
    cx.observe(ids::MRG_09, is_remaining, || {
        format!("the URL of the merged person: {read}, {target:?}")
    });
    let below = KINDS.iter().find_map(|kind| {
        let url = pair.merged.href(kind.many)?;
        cx.declared()
            .lists_below("person", kind.many)
            .then_some(url)
    });
    if let Some(url) = below {
        let read = api.get(&url).await?;
        let target = redirected(api, &read).await?;
        cx.observe(ids::MRG_09, target.as_ref().is_some_and(is_page), || {
            format!("a collection of the merged person: {read}, {target:?}")
        });
    }
    Ok(())
}

/// A link to the merged person is a link to the remaining one.
async fn linked(api: &CheckClient<'_>, pair: &Pair) -> Result<(), CheckStop> {
    let cx = api.cx;
    let declared = cx.declared();
    let able = |kind: &&CatalogueKind| {
        declared.offers_all(kind.one, &["create", "read"])
            && declared.links(kind.one, "person")
            && kind
                .under
                .is_some_and(|under| declared.makes_alone(under) && under != "person")
    };
    let Some(kind) = KINDS.iter().find(able) else {
        return Ok(());
    };
    let container = api.make(kind.under.unwrap_or_default(), &json!({})).await?;
    let body = full(cx, kind.one, &cx.marked(&json!({})));
    let url = container.require_link(kind.many)?;
    let answer = api
        .post(&url, &api.linked(&body, "person", &pair.old))
        .await?;
    cx.must(ids::MRG_11, answer.is_created(), || {
        format!("a link to the merged person: {answer}")
    })?;
    let person = api.follow(&answer.record(), "person").await?;
    cx.observe(ids::MRG_11, is_one(&person, &pair.remaining), || {
        format!("{answer} does not link to the remaining person")
    });
    Ok(())
}

/// Requests from before a merge, and the merge itself, are sent again.
async fn repeats(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let remaining = created(&api, &named(cx)).await?;
    let url = api.collection("people").await?;
    let body = cx.marked(&full(cx, "person", &named(cx)));
    let [create, merge] = [key(cx), key(cx)];
    let send = async || api.post_with(&url, &body, &[(KEY, create.as_str())]).await;
    let first = send().await?;
    if !first.is_created() {
        return Err(none(format!(
            "no person can be created with a key: {first}"
        )));
    }
    let merged = api.reread(&first.record()).await?;
    let pair = Pair {
        old: merged.self_url()?,
        remaining,
        merged,
    };
    let headers = [(KEY, merge.as_str())];
    let answer = pair.send(&api, &json!({}), &headers).await?;
    pair.succeeded(&api, &answer)?;
    let again = send().await?;
    same(cx, &first, &again);
    // With `require_if_match`, the tags in the body would be others.
    if !cx.declared().behaves("require_if_match") {
        let again = pair.send(&api, &json!({}), &headers).await?;
        same(cx, &answer, &again);
    }
    Ok(())
}

/// A repeated request gets its first response.
fn same(cx: &CheckContext, first: &TestResponse, again: &TestResponse) {
    let is_replayed = again.header(REPLAYED) == Some("true");
    let is_same = again.status == first.status && again.body == first.body;
    cx.observe(ids::MRG_23, is_same && is_replayed, || {
        format!("after a merge, {again} instead of {first}")
    });
}

/// Nothing is left of two people after the remaining one is deleted.
async fn erased(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let pair = Pair::named(&api).await?;
    let key = key(cx);
    let headers = [(KEY, key.as_str())];
    let headers: &[_] = if cx.declared().behaves("idempotency_keys") {
        &headers
    } else {
        &[]
    };
    let answer = pair.send(&api, &json!({}), headers).await?;
    pair.succeeded(&api, &answer)?;
    let own = pair.remaining.self_url()?;
    let deleted = api.delete(&own).await?;
    if !deleted.is_removal() {
        return Err(none(format!(
            "the remaining person cannot be deleted: {deleted}"
        )));
    }
    let names: Vec<&str> = [&pair.remaining, &pair.merged]
        .into_iter()
        .filter_map(|person| person["family_name"].as_str())
        .collect();
    let shows = |answer: &TestResponse| {
        let text = answer.text();
        names.iter().any(|name| text.contains(name))
    };
    for url in [&own, &pair.old] {
        let read = api.get(url).await?;
        let is_gone = matches!(read.status, 404 | 410) && !shows(&read);
        cx.observe(ids::MRG_22, is_gone, || {
            format!("after the remaining person was deleted: {read}")
        });
    }
    if !headers.is_empty() && !cx.declared().behaves("require_if_match") {
        let again = pair.send(&api, &json!({}), headers).await?;
        cx.observe(ids::MRG_22, !shows(&again), || {
            format!("after the remaining person was deleted, the merge again: {again}")
        });
    }
    for (text, page, found) in pair.by_identifier(&api, ids::MRG_22).await? {
        cx.observe(ids::MRG_22, found.is_empty(), || {
            format!("filter={text} returns {}", page.short())
        });
    }
    Ok(())
}
