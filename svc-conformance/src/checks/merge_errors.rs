//! Merges that are rejected: invalid ones, concurrent ones, and those of an outdated state.
//!
//! Requirements: MRG-14, MRG-16, MRG-17.

use http::header::IF_MATCH;

use super::merges::{Pair, created, etag, named, send, unchanged};
use super::prelude::*;
use super::subject::touch;

pub(super) const CHECKS: &[Check] = &[
    check!("mrg/tags", [MRG_14], tags).needs(
        "merge_people and conditional_requests and people.create and people.read and people.change",
    ),
    check!("mrg/rejected", [MRG_16], rejected)
        .needs("merge_people and people.create and people.read"),
    check!("mrg/crossing", [MRG_17], crossing)
        .needs("merge_people and people.create and people.read"),
];

/// A merge with the tag of an earlier state of one of the people.
async fn tags(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let mut pair = Pair::named(&api).await?;
    let own = pair.remaining.self_url()?;
    for outdated in ["remaining", "merged"] {
        let before = (etag(&api, &own).await?, etag(&api, &pair.old).await?);
        let changed = match outdated {
            "remaining" => &pair.remaining,
            _ => &pair.merged,
        };
        touch(&api, "person", changed)
            .await?
            .ok_or_else(|| none("no text of a person can be changed"))?;
        pair.remaining = api.reread(&pair.remaining).await?;
        pair.merged = api.reread(&pair.merged).await?;
        let now = (etag(&api, &own).await?, etag(&api, &pair.old).await?);
        let tags = match outdated {
            "remaining" => (before.0, now.1),
            _ => (now.0, before.1),
        };
        let (Some(tag), Some(merged)) = tags else {
            return Err(none("people have no ETag"));
        };
        let body = json!({ "merged_etag": merged });
        let answer = pair.send(&api, &body, &[(IF_MATCH, &tag)]).await?;
        cx.must(ids::MRG_14, answer.status == 412, || {
            format!("an earlier tag of the {outdated} person: {answer}")
        })?;
        pair.unchanged(&api, ids::MRG_14, &answer).await?;
    }
    let (Some(tag), Some(merged)) = (etag(&api, &own).await?, etag(&api, &pair.old).await?) else {
        return Ok(());
    };
    let body = json!({ "merged_etag": merged });
    let answer = pair.send(&api, &body, &[(IF_MATCH, &tag)]).await?;
    cx.must(ids::MRG_14, answer.status == 200, || {
        format!("with the current tags: {answer}")
    })?;
    pair.note(&api);
    Ok(())
}

/// Merges that are not possible.
async fn rejected(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let pair = Pair::named(&api).await?;
    pair.merge(&api).await?;
    let first = api.reread(&pair.remaining).await?;
    let other = created(&api, &named(cx)).await?;
    let mut impossible = vec![
        ("with itself", &first, first.self_url()?),
        (
            "of a person who was merged into another one",
            &other,
            pair.old.clone(),
        ),
    ];
    if let Some(missing) = api.missing_person().await? {
        impossible.push(("of an unknown person", &first, missing));
    }
    let foreign = match cx.other() {
        Some(theirs) if cx.declared().offers("person", "create") => {
            let made = theirs.make("person", &named(cx)).await?;
            let read = theirs.reread(&made).await?;
            Some((theirs, read))
        }
        _ => None,
    };
    if let Some((_, person)) = &foreign {
        impossible.push(("of a person of another tenant", &first, person.self_url()?));
    }
    for (what, remaining, merged) in impossible {
        let answer = send(&api, remaining, &merged, &json!({}), &[]).await?;
        cx.observe(ids::MRG_16, answer.is_refused(), || {
            format!("a merge {what}: {answer}")
        });
        unchanged(&api, ids::MRG_16, remaining, &answer).await?;
        if let Some((theirs, person)) = foreign.as_ref().filter(|_| what.contains("tenant")) {
            unchanged(theirs, ids::MRG_16, person, &answer).await?;
        }
    }
    Ok(())
}

/// Two people are merged into each other by concurrent requests.
async fn crossing(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    for _ in 0..cx.cases(2, 4, 10) {
        let pair = Pair::named(&api).await?;
        let back = Pair {
            remaining: pair.merged.clone(),
            merged: pair.remaining.clone(),
            old: pair.remaining.self_url()?,
        };
        let none = json!({});
        let (one, other) = tokio::join!(pair.send(&api, &none, &[]), back.send(&api, &none, &[]));
        let answers = [one?, other?];
        let both = || {
            let [one, other] = &answers;
            format!("{one}; {other}")
        };
        let done = answers.iter().filter(|answer| answer.status == 200).count();
        let rejected = answers.iter().filter(|answer| answer.is_refused()).count();
        cx.must(ids::MRG_17, done == 1 && rejected == 1, || {
            format!(
                "two concurrent merges of two people into each other: {}",
                both()
            )
        })?;
        let [one, _] = &answers;
        let won = if one.status == 200 { &pair } else { &back };
        won.note(&api);
        let read = api.get(&won.remaining.self_url()?).await?;
        cx.must(ids::MRG_17, won.is_remaining(&read), || {
            format!("the remaining person is {read}, after {}", both())
        })?;
        let person = read.record();
        let lost = [&pair.remaining, &pair.merged].into_iter().any(|before| {
            before
                .identifiers()
                .into_iter()
                .any(|identifier| !person.carries(identifier))
        });
        cx.observe(ids::MRG_17, !lost, || {
            format!("{} lacks identifiers, after {}", person.short(), both())
        });
    }
    Ok(())
}
