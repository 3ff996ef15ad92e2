//! Where the pages of every collection lead, and pages that nobody links to (COL-20 to COL-27, LIM-01).
//!
//! Every collection has a second page where the server lets a client choose how many records a page has; where it does not,
//! those with many records have one. Most collections below a container are checked in `below`, with the records made there.

use super::below::{container, pages_of_container};
use super::collections::same_page;
use super::compare;
use super::prelude::*;
use crate::address;
use crate::catalogue::Encounter;
use crate::kinds::KINDS;

pub(super) const CHECKS: &[Check] = &[
    check!("col/places", [COL_21, COL_22, COL_23, COL_24, COL_27], listed)
        .needs("*.list")
        .only_reads()
        .sends_what_is_missing(),
    check!("col/places-below", [COL_21, COL_22, COL_23, COL_24, COL_27], below),
    check!("col/odd-pages", [COL_22, COL_23, COL_24, LIM_01, ERR_01], odd).needs("*.list").only_reads(),
];

/// The first two pages of each collection of the entry point; what has no second page gets the records for it.
async fn listed(cx: &Cx) -> Result<(), Stop> {
    let api = cx.api();
    let entry = api.entry().await?;
    let mut each = Each::default();
    for of in cx.declared().kinds().filter(|of| cx.declared().offers(of.one, "list")) {
        let Some(url) = entry.href(of.many) else { continue };
        if cx.run.settings.writes && cx.declared().offers(of.one, "create") {
            for _ in api.total(&url).await?.unwrap_or_default()..3 {
                api.make(of.one, &json!({})).await?;
            }
        }
        each.took(two_pages(cx, &api, &url, 2).await)?;
    }
    each.end()
}

/// The two pages of each collection below a container with two members, unless `below` checks them.
async fn below(cx: &Cx) -> Result<(), Stop> {
    let api = cx.api();
    // The collection of signatures is walked to its end elsewhere.
    let fits = |of: &Kind| {
        of.one != "signature"
            && of.under.is_some_and(|under| cx.declared().offers(under, "create"))
            && cx.declared().offers(of.one, "create")
            && !pages_of_container(cx, *of)
    };
    let kinds: Vec<Kind> = KINDS.iter().copied().filter(fits).collect();
    if kinds.is_empty() {
        return Ok(());
    }
    let people = [api.person().await?, api.person().await?];
    let mut each = Each::default();
    for of in kinds {
        each.took(two_members(cx, &api, of, &people).await)?;
    }
    each.end()
}

async fn two_members(cx: &Cx, api: &Client<'_>, of: Kind, people: &[Record]) -> Result<(), Stop> {
    let (container, url) = container(api, of).await?;
    for person in people {
        let body = cx.marked(&crate::fixtures::full(cx, of.one, &json!({})));
        api.act(&container, of.one, person, &body).await?;
    }
    two_pages(cx, api, &url, 1).await
}

/// Compares the second page with the first: its number, its total, its members, and its address.
pub(super) async fn two_pages(cx: &Cx, api: &Client<'_>, url: &str, size: u64) -> Result<(), Stop> {
    let small = api.get(&address::with_parameter(url, "per_page", &size.to_string())).await?;
    // A server may refuse the parameter.
    let first = if small.status == 200 { small } else { api.get(url).await? }.record();
    let (size, total) = (first["per_page"].as_u64().unwrap_or(1), first["total_records"].as_u64().unwrap_or(0));
    if total <= size {
        return Err(none("no collection has a second page"));
    }
    cx.run.met.add(Encounter::SecondPage);
    let next = first.link("next");
    cx.must(row::COL_24, next.is_some(), || {
        format!("{total} records on pages of {size}, and no `next`: {}", first.short())
    })?;
    let next = next.unwrap_or_default();
    cx.holds(row::COL_24, address::parameter(&next, "page") == Some("2"), || {
        format!("`next` of the first page is {next}")
    });
    let answer = api.get(&next).await?;
    cx.must(row::COL_24, answer.status == 200, || format!("`next` leads to {answer}"))?;
    let second = answer.record();
    cx.holds(row::COL_22, second["page"] == 2, || format!("`next` of the first page leads to {answer}"));
    cx.holds(row::COL_21, second["per_page"] == size, || format!("the first page has per_page {size}: {answer}"));
    let (one, other) = (first.embedded(), second.embedded());
    let left = total.saturating_sub(size).min(size);
    let counted = |members: &[Record]| u64::try_from(members.len()).unwrap_or(u64::MAX);
    let right = second["total_records"] == total && counted(&one) == size && counted(&other) == left;
    if !right && api.get(url).await?["total_records"] != total {
        return Err(none("another client writes to the collection"));
    }
    cx.holds(row::COL_23, second["total_records"] == total, || format!("the first page counts {total}: {answer}"));
    for (page, expected, members) in [(1, size, &one), (2, left, &other)] {
        let count = counted(members);
        cx.holds(row::COL_23, count == expected, || {
            format!("page {page} of {total} records has {count} members, with {size} on a page it must have {expected}")
        });
    }
    let both = other.iter().find(|member| one.iter().any(|known| is_one(known, member)));
    cx.holds(row::COL_24, both.is_none(), || format!("on two pages: {}", both.map(Record::short).unwrap_or_default()));
    let last = total <= size.saturating_mul(2);
    let ends = second.link("next").is_none();
    cx.holds(row::COL_24, ends == last, || format!("page 2 of {total} records: {answer}"));
    same_page(cx, api, &second).await
}

/// Pages that nobody links to: before the first, after the last, larger than the limit. A server may refuse them; what it
/// shows is a page.
async fn odd(cx: &Cx) -> Result<(), Stop> {
    let api = cx.api();
    let of = cx
        .declared()
        .kinds()
        .find(|of| of.under.is_none() && cx.declared().offers(of.one, "list") && compare::can_make(cx, of.one));
    let of = of.or_else(|| cx.declared().first_with(&["list"]));
    let url = api.collection(of.ok_or_else(|| none("no collection is listed"))?.many).await?;
    let total = api.total(&url).await?;
    if let Some(most) = cx.run.page_limit() {
        let size = most.saturating_mul(10).to_string();
        api.get(&address::with_parameter(&url, "per_page", &size)).await?;
    }
    for page in ["0", "-1", "99999"] {
        let answer = api.get(&address::with_parameter(&url, "page", page)).await?;
        if page != "99999" || answer.status != 200 || answer["page"] != 99_999 {
            continue;
        }
        let page = answer.record();
        let right = page.link("next").is_none() && page.embedded().is_empty();
        cx.holds(row::COL_24, right, || format!("a page after the last: {answer}"));
        if api.total(&url).await? == total {
            let same = answer["total_records"].as_u64() == total;
            cx.holds(row::COL_23, same, || format!("there are {} records: {answer}", json!(total)));
        }
    }
    Ok(())
}
