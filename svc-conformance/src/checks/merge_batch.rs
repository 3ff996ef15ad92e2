//! Batches of merges into one person.
//!
//! Requirements: MRG-24.

use http::Method;
use http::header::IF_MATCH;

use super::merges::{created, etag, named, send, unchanged};
use super::prelude::*;
use crate::journal::JournalLine;

pub(super) const CHECKS: &[Check] = &[check!("mrg/batch", [MRG_24], batch)
    .needs("merge_people and batch and people.create and people.read")];

/// Three merges into one person, and one between them that is rejected.
async fn batch(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let remaining = created(&api, &named(cx)).await?;
    let own = remaining.self_url()?;
    let mut merged = Vec::new();
    for _ in 0..3 {
        merged.push(created(&api, &named(cx)).await?);
    }
    let alone = send(&api, &remaining, &own, &json!({}), &[]).await?;
    let mut urls = Vec::new();
    for person in &merged {
        urls.push(person.self_url()?);
    }
    urls.insert(1, own.clone());
    let is_strict = cx.declared().behaves("require_if_match");
    let mut entries = Vec::new();
    for url in &urls {
        let mut entry = json!({});
        // Requirements: ETG-09.
        if let Some(tag) = etag(&api, url).await?.filter(|_| is_strict) {
            put(&mut entry, "merged_etag", tag);
        }
        entries.push(api.linked(&entry, "person", url));
    }
    let entries = Value::from(entries).to_string();
    let tag = etag(&api, &own).await?.filter(|_| is_strict);
    let headers: Vec<_> = tag
        .as_deref()
        .map(|tag| (IF_MATCH, tag))
        .into_iter()
        .collect();
    let helper = cx.declared().extension_leads(&remaining, "merge_helper")?;
    let url = format!("{}/batch", helper.trim_end_matches('/'));
    if cx.declared().text.authentication.required {
        let answer = cx
            .anonymous()
            .send_with(Method::POST, &url, Some(entries.clone()), &headers)
            .await?;
        cx.observe(ids::MRG_24, answer.status == 401, || {
            format!("a batch of merges without a key: {answer}")
        });
        for person in &merged {
            unchanged(&api, ids::MRG_24, person, &answer).await?;
        }
    }
    let answer = api
        .send_with(Method::POST, &url, Some(entries), &headers)
        .await?;
    let results = answer["results"].as_array().cloned().unwrap_or_default();
    let is_batch = answer.status == 200 && results.len() == urls.len();
    cx.must(ids::MRG_24, is_batch, || {
        format!("a batch of merges: {answer}")
    })?;
    let person = api.reread(&remaining).await?;
    for (result, url) in results.iter().zip(&urls) {
        let status = result["status"].as_u64().unwrap_or_default();
        if *url == own {
            cx.observe(ids::MRG_24, status == u64::from(alone.status), || {
                format!("a merge with itself in a batch: {result}, alone: {alone}")
            });
            continue;
        }
        cx.observe(ids::MRG_24, status == 200, || {
            format!("a merge of {url} in a batch: {result}")
        });
        if status == 200 {
            cx.run
                .journal
                .write(JournalLine::Removed { own: url.clone() });
        }
        let before = merged
            .iter()
            .find(|it| it.self_url().ok().as_ref() == Some(url));
        let lost = before
            .into_iter()
            .flat_map(Representation::identifiers)
            .any(|identifier| !person.carries(identifier));
        cx.observe(ids::MRG_24, !lost, || {
            format!(
                "{} lacks identifiers of {url}, after {answer}",
                person.short()
            )
        });
        let read = api.get(url).await?;
        cx.observe(ids::MRG_24, read.status != 200, || {
            format!("{url} still exists after {answer}")
        });
    }
    Ok(())
}
