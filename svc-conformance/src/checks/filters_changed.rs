//! Filters and orders over changed records, and collections without declared filters.
//!
//! Requirements: FLT-01, FLT-02, FLT-04, FLT-06 to FLT-09, FLT-12.

use std::time::Duration;

use chrono::{DateTime, FixedOffset, Offset as _, SecondsFormat, Utc};

use super::filters::{
    DATES, FEW, OWN, addresses, enough, few, filtered, fits, found, made, quoted, shown, told_apart,
};
use super::nested_collections::container;
use super::prelude::*;
use super::record_comparison;
use super::subject::touch;
use crate::address::with_parameter;
use crate::values::instant;

pub(super) const CHECKS: &[Check] = &[
    check!("flt/dates", [FLT_01, FLT_02], dates)
        .needs("filter.created_date and *.create or filter.modified_date and *.create"),
    check!(
        "flt/changed-values",
        [FLT_01, FLT_06, FLT_07, FLT_12],
        values
    )
    .needs("filter.* and *.create and *.update"),
    check!("flt/changed-order", [FLT_08, FLT_09], order)
        .needs("filter.* and order.* and *.create and *.update"),
    check!("flt/below", [FLT_04], below).needs("filter.*"),
];

/// A record is found by its date, and not by the times around it.
async fn dates(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    each!(of in enough(cx, &DATES)? => dated(cx, &api, of))
}

async fn dated(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    of: CatalogueKind,
) -> Result<(), CheckStop> {
    let url = api.collection(of.many).await?;
    let mut record = made(cx, api, of).await?;
    // The date of the change must differ from that of the creation.
    if record_comparison::whole_seconds(&record) {
        cx.run.target.wait(Duration::from_millis(1100)).await;
    }
    if let Some(after) = touch(api, of.one, &record).await? {
        record = api.as_read(of.one, after).await?;
    }
    for field in DATES {
        if !cx.declared().filters(of).iter().any(|one| one == field) {
            continue;
        }
        let Some(date) = shown(&record, field).pop() else {
            continue;
        };
        let Some(moment) = instant(&date) else {
            continue;
        };
        let value = quoted(&date);
        let others = DATES
            .into_iter()
            .filter_map(|other| shown(&record, other).pop());
        let other = others
            .filter_map(|other| Some((instant(&other)?, other)))
            .find(|(other, _)| *other != moment);
        let mut texts = vec![
            (format!("{field} eq {value}"), moment, true),
            (
                format!("{field} ge {value} and {field} le {value}"),
                moment,
                true,
            ),
            (format!("{field} gt {value}"), moment, false),
            (
                format!("{field} ge {value} and {field} lt {value}"),
                moment,
                false,
            ),
        ];
        texts.extend(
            other.map(|(moment, date)| (format!("{field} eq {}", quoted(&date)), moment, false)),
        );
        // A server may accept dates only in the format that it returns.
        let elsewhere = format!("{field} eq {}", quoted(&with_offset(moment)));
        let is_taken = api.get(&filtered(&url, &elsewhere)).await?.status == 200;
        texts.extend(Some((elsewhere, moment, true)).filter(|_| is_taken));
        for (text, moment, expected) in texts {
            let (page, members) = found(cx, api, &url, &text, &[ids::FLT_02]).await?;
            let times = members
                .iter()
                .filter(|member| is_one(member, &record))
                .count();
            cx.observe(ids::FLT_02, times == usize::from(expected), || {
                format!(
                    "filter={text} returns {} {times} times: {}",
                    record.short(),
                    page.short()
                )
            });
            let later = text.contains(" gt ");
            let outside = members.iter().find(|member| {
                let date = shown(member, field).pop().and_then(|date| instant(&date));
                date.is_none_or(|date| {
                    if later {
                        date <= moment
                    } else {
                        date != moment
                    }
                })
            });
            cx.observe(ids::FLT_01, outside.is_none(), || {
                format!(
                    "filter={text} returns {}, which does not match",
                    outside.map(Representation::short).unwrap_or_default()
                )
            });
        }
    }
    Ok(())
}

/// Returns a timestamp with an offset of two hours.
fn with_offset(moment: DateTime<Utc>) -> String {
    let zone = FixedOffset::east_opt(7200).unwrap_or_else(|| Utc.fix());
    moment
        .with_timezone(&zone)
        .to_rfc3339_opts(SecondsFormat::AutoSi, false)
}

/// Records are found by the values that a change set, and no longer by those that it removed.
async fn values(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let able = |kind: &CatalogueKind| cx.declared().offers_all(kind.one, &["read", "update"]);
    each!(of in few(cx, &OWN).into_iter().filter(able) => value(cx, &api, of))
}

async fn value(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    of: CatalogueKind,
) -> Result<(), CheckStop> {
    let url = api.collection(of.many).await?;
    let before = made(cx, api, of).await?;
    let mut change = part(cx, of.one, &json!({ "name": cx.unique() }));
    if of.one == "person" && before["email_addresses"].is_array() {
        put(&mut change, "email_addresses", addresses(cx));
    }
    api.change(&before, &change).await?;
    let after = api.reread(&before).await?;
    for field in OWN
        .into_iter()
        .filter(|field| cx.declared().filters(of).iter().any(|one| one == field))
    {
        let row = if field == "email_address" {
            ids::FLT_06
        } else {
            ids::FLT_07
        };
        let (old, new) = (shown(&before, field), shown(&after, field));
        for (value, is_there) in old
            .iter()
            .filter(|old| !new.contains(old))
            .map(|old| (old, false))
            .chain(new.iter().map(|new| (new, true)))
        {
            let text = format!("{field} eq {}", quoted(value));
            fits(
                cx,
                api,
                &url,
                &text,
                &after,
                is_there,
                &[ids::FLT_01, row, ids::FLT_12],
            )
            .await?;
        }
    }
    Ok(())
}

/// The first of three records is changed. It is then the first by its creation, and the last by its
/// change.
async fn order(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let able = |kind: &CatalogueKind| {
        DATES
            .iter()
            .any(|date| cx.declared().orders(*kind).iter().any(|one| one == date))
    };
    each!(of in few(cx, &OWN).into_iter().filter(able).take(1) => ordered(cx, &api, of))
}

async fn ordered(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    of: CatalogueKind,
) -> Result<(), CheckStop> {
    let mut all = Vec::new();
    for _ in 0..3 {
        all.push(made(cx, api, of).await?);
    }
    let first = all.first().ok_or_else(|| none("no record"))?;
    let field = told_apart(cx, of, first)?;
    touch(api, of.one, first).await?;
    let values: Vec<String> = all
        .iter()
        .filter_map(|one| shown(one, field).first().map(|one| quoted(one)))
        .collect();
    let url = with_parameter(&api.collection(of.many).await?, "per_page", FEW);
    let url = filtered(&url, &format!("{field} in ({})", values.join(", ")));
    for date in cx.declared().orders(of) {
        let url = with_parameter(&url, "order", date);
        // A server may support no order with such a filter.
        if api.get(&url).await?.status == 400 {
            continue;
        }
        let members = api.members(&url).await?;
        let dates: Vec<_> = members
            .iter()
            .map(|one| shown(one, date).pop().and_then(|date| instant(&date)))
            .collect();
        cx.observe(ids::FLT_09, dates.is_sorted(), || {
            format!("in the order of {date} the dates are {dates:?}")
        });
        for record in &all {
            let times = members
                .iter()
                .filter(|member| is_one(member, record))
                .count();
            cx.observe(ids::FLT_08, times == 1, || {
                format!(
                    "in the order of {date}, {} is {times} times on the pages of {url}",
                    record.short()
                )
            });
        }
    }
    Ok(())
}

/// A filter of a nested collection is rejected if none is declared for its kind.
async fn below(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let has_none = |kind: &CatalogueKind| {
        let declared = cx.declared();
        let filters = declared
            .collection(kind.many)
            .is_some_and(|collection| !collection.filter.is_empty());
        !filters
            && kind
                .under
                .is_some_and(|under| declared.lists_below(under, kind.many))
    };
    let some: Vec<CatalogueKind> = cx
        .declared()
        .kinds()
        .filter(has_none)
        .take(cx.cases(2, 4, 20))
        .collect();
    each!(of in some => undeclared(cx, &api, of))
}

async fn undeclared(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    of: CatalogueKind,
) -> Result<(), CheckStop> {
    let (_, url) = container(api, of).await?;
    for text in [
        "identifiers eq 'x'",
        "created_date ge '2026-11-01T00:00:00Z'",
    ] {
        let answer = api.get(&filtered(&url, text)).await?;
        cx.observe(ids::FLT_04, answer.status == 400, || {
            format!("filter={text}, not declared: {answer}")
        });
    }
    Ok(())
}
