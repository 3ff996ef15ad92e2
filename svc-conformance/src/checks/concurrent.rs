//! Two concurrent callers, only with the intensity `deep`. The model must allow every observed
//! history.

use super::prelude::*;
use crate::settings::Intensity;
use crate::values::first;

pub(super) const CHECKS: &[Check] = &[
    check!("con/changes", [CRU_15, ERR_15], changes)
        .needs("*.update and *.read")
        .at(Intensity::Deep),
    check!("con/creates", [CRU_22, COL_23, ERR_13], creates)
        .needs("*.create")
        .at(Intensity::Deep),
];

/// Returns the first kind with two text fields that can be changed.
fn changeable(cx: &CheckContext) -> Option<(CatalogueKind, &'static str, &'static str)> {
    let pairs = [
        ("person", "given_name", "family_name"),
        ("petition", "title", "summary"),
        ("form", "title", "summary"),
    ];
    pairs.into_iter().find_map(|(one, left, right)| {
        let declared = cx.declared();
        let writable = |name: &str| {
            declared
                .field(one, name)
                .is_some_and(|field| field.writable && field.readable)
        };
        let offered = declared.offers_all(one, &["create", "read", "update"]);
        (offered && writable(left) && writable(right)).then_some((kind(one)?, left, right))
    })
}

/// Two concurrent changes of different fields are both stored. Of two changes of one field, one is
/// stored.
async fn changes(cx: &CheckContext) -> Result<(), CheckStop> {
    let Some((kind, left, right)) = changeable(cx) else {
        return Err(none(
            "no kind with two text fields that can be changed is declared",
        ));
    };
    let api = cx.api();
    let record = api
        .make(kind.one, &json!({ left: "before", right: "before" }))
        .await?;
    for round in 0..cx.cases(0, 0, 60) {
        let own = api.reread(&record).await?.self_url()?;
        let (one, other) = (format!("left {round}"), format!("right {round}"));
        let (first_body, second_body) = (json!({ left: one }), json!({ right: other }));
        let (done, too) = tokio::join!(api.put(&own, &first_body), api.put(&own, &second_body));
        let (done, too) = (done?, too?);
        let both = done.status == 200 && too.status == 200;
        cx.observe(ids::ERR_15, both, || {
            format!("two concurrent changes: {done} and {too}")
        });
        let after = api.reread(&record).await?;
        let kept = after[left] == one && after[right] == other;
        cx.observe(ids::CRU_15, !both || kept, || {
            format!(
                "{left} and {right} were changed concurrently to {one:?} and {other:?}: {}",
                after.short()
            )
        });
        // Of two changes of one field, either may be the last.
        let (first_body, second_body) = (json!({ left: "a" }), json!({ left: "b" }));
        let (done, too) = tokio::join!(api.put(&own, &first_body), api.put(&own, &second_body));
        let both = done?.status == 200 && too?.status == 200;
        let after = api.reread(&record).await?;
        let one_of = after[left] == "a" || after[left] == "b";
        cx.observe(ids::ERR_15, !both || one_of, || {
            format!("{left} was set to a and b, reads {}", after[left])
        });
        cx.observe(ids::CRU_15, after[right] == other, || {
            format!("{right} was not sent: {}", after.short())
        });
    }
    Ok(())
}

/// Records that are created concurrently all exist, each with its own identifier, and are counted.
async fn creates(cx: &CheckContext) -> Result<(), CheckStop> {
    let Some(kind) = cx.declared().first_with(&["create", "read", "list"]) else {
        return Err(none(
            "no kind that can be created, read and listed is declared",
        ));
    };
    let api = cx.api();
    let url = api.collection(kind.many).await?;
    let before = api.total(&url).await?;
    let rounds = cx.cases(0, 0, 30);
    let nothing = json!({});
    let mut made: Vec<Representation> = Vec::new();
    for _ in 0..rounds {
        let (one, other) = tokio::join!(api.make(kind.one, &nothing), api.make(kind.one, &nothing));
        made.extend([one?, other?]);
    }
    for record in &made {
        let read = api.reread(record).await?;
        let marker = first(&record.json, "identifiers[]")
            .cloned()
            .unwrap_or_default();
        let same = read
            .identifiers()
            .iter()
            .any(|identifier| marker == *identifier);
        cx.observe(ids::CRU_22, same, || {
            format!("created with {marker}, read as {}", read.short())
        });
    }
    let count = u64::try_from(made.len()).unwrap_or(u64::MAX);
    let after = api.total(&url).await?;
    if let (Some(before), Some(after), false) =
        (before, after, cx.declared().behaves("totals_follow_later"))
    {
        let mut fits = after >= before.saturating_add(count);
        if let Some(last) = made.last().filter(|_| !fits) {
            // Another client may have deleted records in between.
            let listed = api.listed(&url, &last.self_url()?).await?;
            fits = listed.is_none_or(|listed| listed.is_counted && listed.has_record);
        }
        cx.observe(ids::COL_23, fits, || {
            format!("total_records was {before}, {count} were created, but it is {after}")
        });
    }
    Ok(())
}
