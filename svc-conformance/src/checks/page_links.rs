//! The links between the pages of every collection, and pages without links.
//!
//! Every collection has a second page if the client can choose the page size. Otherwise, only
//! collections with many records have one. `below` checks most collections of a container, with the
//! records created there.
//!
//! Requirements: COL-20 to COL-27, LIM-01.

use super::nested_collections::{container, pages_of_container};
use super::pages::two_pages;
use super::prelude::*;
use super::record_comparison;
use crate::address;
use crate::kinds::KINDS;

pub(super) const CHECKS: &[Check] = &[
    check!(
        "col/places",
        [COL_21, COL_22, COL_23, COL_24, COL_27],
        listed
    )
    .needs("*.list")
    .only_reads()
    .sends_what_is_missing(),
    check!(
        "col/places-below",
        [COL_21, COL_22, COL_23, COL_24, COL_27],
        below
    ),
    check!(
        "col/odd-pages",
        [COL_22, COL_23, COL_24, LIM_01, ERR_01],
        odd
    )
    .needs("*.list")
    .only_reads(),
];

/// The first two pages of each collection of the entry point. A collection without a second page
/// gets more records.
async fn listed(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let entry = api.entry().await?;
    let mut each = SubjectLoop::default();
    for of in cx
        .declared()
        .kinds()
        .filter(|of| cx.declared().offers(of.one, "list"))
    {
        let Some(url) = entry.href(of.many) else {
            continue;
        };
        if cx.run.settings.writes && cx.declared().offers(of.one, "create") {
            for _ in api.total(&url).await?.unwrap_or_default()..3 {
                api.make(of.one, &json!({})).await?;
            }
        }
        each.took(two_pages(cx, &api, &url, 2).await)?;
    }
    each.end()
}

/// The two pages of each collection of a container with two members, unless `below` checks them.
async fn below(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    // Another check reads all pages of the signatures.
    let fits = |of: &CatalogueKind| {
        of.one != "signature"
            && of
                .under
                .is_some_and(|under| cx.declared().offers(under, "create"))
            && cx.declared().offers(of.one, "create")
            && !pages_of_container(cx, *of)
    };
    let kinds: Vec<CatalogueKind> = KINDS.iter().copied().filter(fits).collect();
    if kinds.is_empty() {
        return Ok(());
    }
    let people = [api.person().await?, api.person().await?];
    let mut each = SubjectLoop::default();
    for of in kinds {
        each.took(two_members(cx, &api, of, &people).await)?;
    }
    each.end()
}

async fn two_members(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    of: CatalogueKind,
    people: &[Representation],
) -> Result<(), CheckStop> {
    let (container, url) = container(api, of).await?;
    for person in people {
        let body = cx.marked(&crate::fixtures::full(cx, of.one, &json!({})));
        api.act(&container, of.one, person, &body).await?;
    }
    two_pages(cx, api, &url, 1).await
}

/// Pages without links: before the first, after the last, larger than the limit. A server may
/// reject them; what it returns must be a page.
async fn odd(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let of = cx.declared().kinds().find(|of| {
        of.under.is_none()
            && cx.declared().offers(of.one, "list")
            && record_comparison::can_make(cx, of.one)
    });
    let of = of.or_else(|| cx.declared().first_with(&["list"]));
    let url = api
        .collection(of.ok_or_else(|| none("no collection is linked"))?.many)
        .await?;
    let total = api.total(&url).await?;
    if let Some(most) = cx.run.page_limit() {
        let size = most.saturating_mul(10).to_string();
        api.get(&address::with_parameter(&url, "per_page", &size))
            .await?;
    }
    for page in ["0", "-1", "99999"] {
        let answer = api
            .get(&address::with_parameter(&url, "page", page))
            .await?;
        if page != "99999" || answer.status != 200 || answer["page"] != 99_999 {
            continue;
        }
        let page = answer.record();
        let right = page.link("next").is_none() && page.embedded().is_empty();
        cx.observe(ids::COL_24, right, || {
            format!("a page after the last: {answer}")
        });
        if api.total(&url).await? == total {
            let same = answer["total_records"].as_u64() == total;
            cx.observe(ids::COL_23, same, || {
                format!("there are {} records: {answer}", json!(total))
            });
        }
    }
    Ok(())
}
