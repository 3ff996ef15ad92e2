//! Collections: members, pages, totals, and the links of the entry point to them.
//!
//! Requirements: COL-01 to COL-31, LIM-02.

use std::collections::BTreeSet;

use super::nested_collections::container;
use super::pages::same_page;
use super::prelude::*;
use super::record_comparison;
use crate::address;
use crate::catalogue::Encounter;

/// The maximum number of records that a check creates to get a second page.
const MOST: u64 = 130;
/// The number of pages in which a new record is searched.
const FIRST: usize = 4;
/// The requirements that the pages of a collection show.
#[rustfmt::skip]
const PAGES: &[&str] = &[
    ids::COL_20, ids::COL_21, ids::COL_22, ids::COL_23, ids::COL_24, ids::COL_25, ids::COL_26, ids::COL_27, ids::COL_28,
    ids::COL_31, ids::COL_29, ids::LIM_01, ids::LIM_02, ids::RES_PETITION_10, ids::RES_FORM_10,
    ids::RES_FUNDRAISING_PAGE_09, ids::RES_ADVOCACY_CAMPAIGN_12,
];

pub(super) const CHECKS: &[Check] = &[
    check!("col/pages", PAGES, paged).needs("*.list"),
    check!(
        "col/members",
        [COL_01, COL_03, COL_28, COL_31, ERR_10, HAL_17],
        members
    )
    .needs("*.list"),
    check!("col/paths", [COL_19], paths).only_reads(),
];

/// The collection whose pages are read.
pub(super) struct PagedCollection {
    pub(super) url: String,
    pub(super) kind: CatalogueKind,
    /// The container and its kind, if no other client writes there.
    container: Option<Representation>,
}

/// Returns a collection in which records can be created and listed, in a new container if possible.
pub(super) async fn place(
    cx: &CheckContext,
    api: &CheckClient<'_>,
) -> Result<PagedCollection, CheckStop> {
    let declared = cx.declared();
    if record_comparison::can_make(cx, "person") {
        for one in [
            "signature",
            "outreach",
            "donation",
            "submission",
            "attendance",
            "tagging",
            "item",
        ] {
            let Some(kind) = kind(one) else { continue };
            let under = kind.under.unwrap_or_default();
            let fits = declared.offers(one, "create") && declared.lists_below(under, kind.many);
            if fits && declared.offers(under, "create") {
                let (container, url) = container(api, kind).await?;
                return Ok(PagedCollection {
                    url,
                    kind,
                    container: Some(container),
                });
            }
        }
    }
    for one in [
        "tag",
        "list",
        "share_page",
        "petition",
        "form",
        "event",
        "question",
        "message",
        "person",
    ] {
        let Some(kind) = kind(one) else { continue };
        if declared.offers(one, "list") && declared.offers(one, "create") {
            return Ok(PagedCollection {
                url: api.collection(kind.many).await?,
                kind,
                container: None,
            });
        }
    }
    let listed = declared.first_with(&["list"]);
    let kind = listed.ok_or_else(|| none("no collection is linked"))?;
    Ok(PagedCollection {
        url: api.collection(kind.many).await?,
        kind,
        container: None,
    })
}

impl PagedCollection {
    pub(super) async fn add(
        &self,
        cx: &CheckContext,
        api: &CheckClient<'_>,
    ) -> Result<Representation, CheckStop> {
        let fields = record_comparison::filled(cx, self.kind.one);
        let Some(container) = &self.container else {
            return api.make(self.kind.one, &fields).await;
        };
        let person = api.person().await?;
        api.act(
            container,
            self.kind.one,
            &person,
            &cx.marked(&crate::fixtures::full(cx, self.kind.one, &fields)),
        )
        .await
    }
}

/// Checks pages at the start, after creates, after an update and after a delete.
async fn paged(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let place = place(cx, &api).await?;
    let one = place.kind.one;
    if !cx.declared().offers(one, "create") {
        let first = api.get(&place.url).await?;
        if let Some(size) = first["per_page"].as_u64() {
            cx.chose("records on a page", size.to_string());
            holds(cx, &[ids::COL_29, ids::LIM_02], true, String::new);
        }
        return walk(cx, &api, &place, &[]).await.map(drop);
    }
    let mut made = vec![place.add(cx, &api).await?];
    let first = api.get(&place.url).await?;
    let size = first["per_page"].as_u64().unwrap_or_default();
    cx.chose("records on a page", size.to_string());
    holds(cx, &[ids::COL_29, ids::LIM_02], true, String::new);
    let before = first["total_records"].as_u64();
    // One more than full pages, so that a deletion leaves full pages.
    let over = before
        .filter(|_| place.container.is_none())
        .unwrap_or(1)
        .checked_rem(size)
        .unwrap_or(1);
    let more = if size < MOST {
        size.saturating_add(1).saturating_sub(over).max(2)
    } else {
        3
    };
    for _ in 0..more {
        made.push(place.add(cx, &api).await?);
    }
    let total = walk(cx, &api, &place, &made).await?;
    if place.container.is_some() {
        let grown = before == Some(1) && total == Some(more.saturating_add(1));
        cx.observe(ids::COL_23, grown, || {
            format!(
                "{} records, then {more} more were created: {}",
                json!(before),
                json!(total)
            )
        });
    }
    if let (Some(container), Some(counted), Some(total)) =
        (&place.container, place.kind.counted, total)
        && cx
            .declared()
            .field(place.kind.under.unwrap_or_default(), counted)
            .is_some_and(|field| field.readable)
        && let Ok(total) = u32::try_from(total)
        && one != "attendance"
    {
        api.total_is(
            super::rules::counted(one),
            container,
            counted,
            f64::from(total),
        )
        .await?;
    }
    changed(cx, &api, &place, &mut made).await?;
    if !cx.declared().offers(one, "delete") {
        return Ok(());
    }
    let Some(gone) = made.pop() else {
        return Ok(());
    };
    api.remove(&gone).await?;
    let after = walk(cx, &api, &place, &made).await?;
    if place.container.is_some() {
        let shrunk = total.and_then(|total| total.checked_sub(1)) == after;
        cx.observe(ids::COL_23, shrunk, || {
            format!(
                "{} records before a delete, {} after it",
                json!(total),
                json!(after)
            )
        });
    }
    Ok(())
}

/// A member of a page equals its record after a change.
async fn changed(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    place: &PagedCollection,
    made: &mut [Representation],
) -> Result<(), CheckStop> {
    let one = place.kind.one;
    let field = cx.declared().field(one, "origin_system");
    let may = field.is_some_and(|field| field.writable && field.readable)
        && cx.declared().offers(one, "update");
    let Some(record) = made
        .first_mut()
        .filter(|_| may && place.container.is_some())
    else {
        return Ok(());
    };
    *record = api
        .change(record, &json!({ "origin_system": cx.unique() }))
        .await?;
    let page = api.get(&place.url).await?.record();
    let Some(member) = page
        .embedded()
        .into_iter()
        .find(|member| is_one(member, record))
    else {
        return Ok(());
    };
    record_comparison::compare(cx, api, &[ids::COL_28], &member, one).await
}

/// Follows `next` from the first page to the last, and returns how many records the pages count.
async fn walk(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    place: &PagedCollection,
    made: &[Representation],
) -> Result<Option<u64>, CheckStop> {
    let fresh = place.container.is_some();
    let before = api.total(&place.url).await?;
    if before > Some(2_000) && !fresh {
        return Err(none(
            "the collection has too many records to read all pages",
        ));
    }
    let pages = api.pages(&place.url).await?;
    if pages
        .first()
        .is_none_or(|page| page.json.as_object().is_none_or(serde_json::Map::is_empty))
    {
        return Err(none(
            "the collection is empty, and nothing can be created in it",
        ));
    }
    let after = api.total(&place.url).await?;
    let total = pages
        .first()
        .and_then(|page| page["total_records"].as_u64());
    // Another client may write to a collection of the entry point.
    let quiet = fresh || (before == after && before == total);
    let count = pages.first().and_then(|page| page["total_pages"].as_u64());
    let walked = u64::try_from(pages.len()).unwrap_or(u64::MAX);
    if quiet && let Some(count) = count {
        cx.observe(ids::COL_20, count.max(1) == walked, || {
            format!("total_pages is {count}, but `next` led to {walked} pages")
        });
        if count > 1 || walked > 1 {
            cx.run.met.add(Encounter::SecondPage);
            cx.observe(ids::COL_24, count.max(1) == walked, || {
                format!("{count} pages are counted, but `next` led to {walked}")
            });
        }
    }
    let mut number = 0_u64;
    for page in &pages {
        number = number.saturating_add(1);
        let at = page["page"].as_u64();
        cx.observe(ids::COL_22, at == Some(number), || {
            format!(
                "page {number} has the page number {}: {}",
                json!(at),
                page.short()
            )
        });
        if let Some(next) = page.link("next") {
            let parameter =
                address::parameter(&next, "page").and_then(|text| text.parse::<u64>().ok());
            cx.observe(ids::COL_24, parameter == number.checked_add(1), || {
                format!("`next` of page {number} is {next}")
            });
        }
        cx.observe(
            ids::COL_31,
            !page.embedded().is_empty() || total == Some(0),
            || {
                format!(
                    "page {number} of {} records has no members: {}",
                    json!(total),
                    page.short()
                )
            },
        );
    }
    let members: Vec<Representation> = pages.iter().flat_map(Representation::embedded).collect();
    if quiet {
        everyone(cx, &members, total, walked, made);
    }
    for page in pages.iter().take(3) {
        if quiet {
            same_page(cx, api, page).await?;
        }
        if cx.declared().offers(place.kind.one, "read") {
            for member in page.embedded().iter().take(2) {
                record_comparison::compare(cx, api, &[ids::COL_28], member, place.kind.one).await?;
            }
        }
    }
    Ok(total)
}

/// Every member is on one page, and their number equals the total.
fn everyone(
    cx: &CheckContext,
    members: &[Representation],
    total: Option<u64>,
    walked: u64,
    made: &[Representation],
) {
    let owns: BTreeSet<String> = members
        .iter()
        .filter_map(|member| member.link("self"))
        .collect();
    let links = members
        .iter()
        .filter(|member| member.link("self").is_some())
        .count();
    let count = u64::try_from(members.len()).unwrap_or(u64::MAX);
    let twice = links.saturating_sub(owns.len());
    cx.observe(ids::COL_23, total == Some(count) && twice == 0, || {
        format!(
            "total_records is {}, but the pages have {count} members, {twice} of them twice",
            json!(total)
        )
    });
    for record in made {
        let times = members
            .iter()
            .filter(|member| is_one(member, record))
            .count();
        let rows: &[&str] = if walked > 1 {
            &[ids::COL_24, ids::COL_23, ids::COL_31]
        } else {
            &[ids::COL_23, ids::COL_31]
        };
        holds(cx, rows, times == 1, || {
            format!("{} is {times} times on {walked} pages", record.short())
        });
    }
}

/// Returns the representation of a record in the first pages of a collection.
async fn in_first_pages(
    api: &CheckClient<'_>,
    url: &str,
    record: &Representation,
) -> Result<Option<Representation>, CheckStop> {
    let (mut found, mut pages) = (None, 0_usize);
    let walked = api.walk(url, |page| {
        pages = pages.saturating_add(1);
        found = page
            .embedded()
            .into_iter()
            .find(|member| is_one(member, record));
        found.is_none() && pages < FIRST
    });
    walked.await?;
    Ok(found)
}

/// Each member of a collection of the entry point equals its record. The new record has every
/// field.
async fn members(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let kinds: Vec<CatalogueKind> = cx
        .declared()
        .kinds()
        .filter(|kind| kind.under.is_none())
        .collect();
    for of in kinds {
        if !cx.declared().offers(of.one, "list") {
            continue;
        }
        let made = if cx.declared().offers(of.one, "create") && cx.run.settings.writes {
            Some(
                api.make(of.one, &record_comparison::filled(cx, of.one))
                    .await?,
            )
        } else {
            None
        };
        let url = api.collection(of.many).await?;
        let answer = api.get(&url).await?;
        cx.observe(ids::COL_01, answer.status == 200, || answer.to_string());
        let page = answer.record();
        if made.is_some() {
            let right = answer.status == 200 && !page.embedded().is_empty();
            cx.observe(ids::COL_31, right, || {
                format!("after a create in {}: {answer}", of.many)
            });
        }
        if !cx.declared().offers(of.one, "read") {
            if page["total_records"]
                .as_u64()
                .is_some_and(|total| total > 0)
            {
                let list = page["_embedded"]
                    .get(cx.declared().rel(of.many))
                    .and_then(Value::as_array);
                let right =
                    list.is_some_and(|list| !list.is_empty() && list.iter().all(Value::is_object));
                cx.observe(ids::COL_28, right, || {
                    format!("the members of {} are not embedded: {answer}", of.many)
                });
            }
            continue;
        }
        let found = match &made {
            Some(made) => in_first_pages(&api, &url, made).await?,
            None => None,
        };
        let more = if found.is_some() { 1 } else { 2 };
        for member in found
            .into_iter()
            .chain(page.embedded().into_iter().take(more))
        {
            record_comparison::compare(
                cx,
                &api,
                &[ids::COL_28, ids::COL_03, ids::ERR_10, ids::HAL_17],
                &member,
                of.one,
            )
            .await?;
        }
    }
    Ok(())
}

/// Any form of path is valid, because links are followed.
async fn paths(cx: &CheckContext) -> Result<(), CheckStop> {
    let entry = cx.api().entry().await?;
    cx.observe(ids::COL_19, true, || entry.short());
    Ok(())
}
