//! Requirements for the pages of any collection.
//!
//! Requirements: COL-21 to COL-24, COL-27.

use super::prelude::*;
use crate::address;
use crate::catalogue::Encounter;

/// Compares the second page with the first: its number, its total, its members, and its URL.
pub(super) async fn two_pages(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    url: &str,
    size: u64,
) -> Result<(), CheckStop> {
    let small = api
        .get(&address::with_parameter(url, "per_page", &size.to_string()))
        .await?;
    // A server may reject the parameter.
    let first = if small.status == 200 {
        small
    } else {
        api.get(url).await?
    }
    .record();
    let (size, total) = (
        first["per_page"].as_u64().unwrap_or(1),
        first["total_records"].as_u64().unwrap_or(0),
    );
    if total <= size {
        return Err(none("no collection has a second page"));
    }
    cx.run.met.add(Encounter::SecondPage);
    let next = first.link("next");
    cx.must(ids::COL_24, next.is_some(), || {
        format!(
            "{total} records on pages of {size}, but no `next`: {}",
            first.short()
        )
    })?;
    let next = next.unwrap_or_default();
    cx.observe(
        ids::COL_24,
        address::parameter(&next, "page") == Some("2"),
        || format!("`next` of the first page is {next}"),
    );
    let answer = api.get(&next).await?;
    cx.must(ids::COL_24, answer.status == 200, || {
        format!("the target of `next` is {answer}")
    })?;
    let second = answer.record();
    cx.observe(ids::COL_22, second["page"] == 2, || {
        format!("the target of `next` of the first page is {answer}")
    });
    cx.observe(ids::COL_21, second["per_page"] == size, || {
        format!("the first page has per_page {size}: {answer}")
    });
    let (one, other) = (first.embedded(), second.embedded());
    let left = total.saturating_sub(size).min(size);
    let counted = |members: &[Representation]| u64::try_from(members.len()).unwrap_or(u64::MAX);
    let right =
        second["total_records"] == total && counted(&one) == size && counted(&other) == left;
    if !right && api.get(url).await?["total_records"] != total {
        return Err(none("another client writes to the collection"));
    }
    cx.observe(ids::COL_23, second["total_records"] == total, || {
        format!("the first page counts {total}: {answer}")
    });
    for (page, expected, members) in [(1, size, &one), (2, left, &other)] {
        let count = counted(members);
        cx.observe(ids::COL_23, count == expected, || {
            format!("page {page} of {total} records has {count} members, but with {size} per page it must have {expected}")
        });
    }
    let both = other
        .iter()
        .find(|member| one.iter().any(|known| is_one(known, member)));
    cx.observe(ids::COL_24, both.is_none(), || {
        format!(
            "on two pages: {}",
            both.map(Representation::short).unwrap_or_default()
        )
    });
    let last = total <= size.saturating_mul(2);
    let ends = second.link("next").is_none();
    cx.observe(ids::COL_24, ends == last, || {
        format!("page 2 of {total} records: {answer}")
    });
    same_page(cx, api, &second).await
}

/// The target of `self` of a page is the same page.
pub(super) async fn same_page(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    page: &Representation,
) -> Result<(), CheckStop> {
    if page.json.as_object().is_some_and(serde_json::Map::is_empty) {
        return Ok(());
    }
    let Some(own) = page.link("self") else {
        cx.observe(ids::COL_27, false, || {
            format!("no link self in {}", page.short())
        });
        return Ok(());
    };
    let answer = api.get(&own).await?;
    let again = answer.record();
    let (one, other) = (page.embedded(), again.embedded());
    let same = one.len() == other.len()
        && one
            .iter()
            .zip(&other)
            .all(|(one, other)| is_one(one, other));
    cx.observe(
        ids::COL_27,
        answer.status == 200 && again["page"] == page["page"] && same,
        || {
            format!(
                "`self` of page {} is {own}, whose target is {answer}",
                page["page"]
            )
        },
    );
    Ok(())
}
