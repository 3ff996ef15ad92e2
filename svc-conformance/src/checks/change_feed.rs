//! The change feed.
//!
//! Requirements: SYN-01 to SYN-12.

use std::collections::HashSet;

use super::prelude::*;
use super::subject::touch;
use crate::address;
use crate::values::instant;

/// The requirements that every page of the feed shows.
const PAGES: &[&str] = &[ids::SYN_01, ids::SYN_03, ids::SYN_05];

/// The requirements that a sequence of changes shows.
#[rustfmt::skip]
const TOLD: &[&str] = &[ids::SYN_01, ids::SYN_02, ids::SYN_03, ids::SYN_04, ids::SYN_05];

pub(super) const CHECKS: &[Check] = &[
    check!("syn/link", [SYN_01], link).only_reads(),
    check!("syn/told", TOLD, told).needs("changes and *.create and *.read and *.delete"),
    check!("syn/removed", [SYN_02, SYN_10], removed)
        .needs("changes and *.create and *.read and *.delete"),
    check!("syn/cursor", [SYN_05, SYN_07], cursor)
        .needs("changes")
        .only_reads(),
    check!("syn/key", [SYN_06], key).needs("changes and auth"),
    check!("syn/tenants", [SYN_09], tenants)
        .needs("changes and auth.multi_key and *.create and *.read"),
];

/// The maximum number of pages that are followed, because other clients may also write.
const MOST: usize = 200;

/// The feed is linked exactly if it is declared.
async fn link(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let entry = api.entry().await?;
    let (declared, link) = (
        cx.declared().behaves("changes"),
        cx.declared().extension_href(&entry, "changes"),
    );
    cx.observe(ids::SYN_01, link.is_some() == declared, || {
        format!(
            "changes are {}declared, but the link is {}",
            if declared { "" } else { "not " },
            json!(link)
        )
    });
    match link.filter(|_| declared) {
        Some(url) => page(&api, &url).await.map(drop),
        None => Ok(()),
    }
}

/// Returns the start of the feed.
async fn feed(api: &CheckClient<'_>) -> Result<String, CheckStop> {
    api.cx
        .declared()
        .extension_leads(&api.entry().await?, "changes")
}

/// Reads a page of the feed and verifies its structure.
pub(super) async fn page(api: &CheckClient<'_>, url: &str) -> Result<Representation, CheckStop> {
    let (cx, answer) = (api.cx, api.get(url).await?);
    let page = answer.record();
    let list = cx.declared().extension(&page, "_embedded", "changes");
    let listed = list.is_some_and(|list| page["_embedded"].get(list).is_some_and(Value::is_array));
    let formed = answer.status == 200 && listed && answer["has_more"].is_boolean();
    must(cx, PAGES, formed, || {
        format!("not a page of changes: {answer}")
    })?;
    let mut own = HashSet::new();
    for entry in page.embedded() {
        let kind = entry["kind"].as_str().unwrap_or_default();
        let dated = entry["at"].as_str().and_then(instant).is_some();
        let what = matches!(
            entry["what"].as_str(),
            Some("created" | "changed" | "deleted")
        );
        let is_linked = entry.href(kind).is_some()
            && entry
                .link("self")
                .is_some_and(|address| own.insert(address));
        cx.observe(ids::SYN_03, dated && what && is_linked, || {
            format!(
                "no `what`, `kind`, `at`, link of the kind or own `self` in {}",
                entry.short()
            )
        });
    }
    let (has_more, next) = (page["has_more"] == json!(true), page.link("next"));
    cx.must(ids::SYN_05, page.link("last").is_some(), || {
        format!("no link last in {}", page.short())
    })?;
    cx.must(ids::SYN_05, next.is_some() == has_more, || {
        format!(
            "has_more is {has_more}, but `next` is {next:?} in {}",
            page.short()
        )
    })?;
    let (size, count) = (page["per_page"].as_u64(), page.embedded().len());
    cx.observe(
        ids::SYN_05,
        size.and_then(|size| usize::try_from(size).ok())
            .is_some_and(|size| count <= size),
        || format!("{count} entries, but per_page is {}", page["per_page"]),
    );
    Ok(page)
}

/// Returns the current end of the feed.
pub(super) async fn end(api: &CheckClient<'_>) -> Result<String, CheckStop> {
    page(api, &feed(api).await?).await?.leads_to("last")
}

/// One change of one of the watched records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ObservedEntry {
    pub(super) what: String,
    /// The position of the record among the watched records.
    pub(super) record: usize,
}

/// Returns the entries of these records after a cursor, and the cursor at their end.
pub(super) async fn behind(
    api: &CheckClient<'_>,
    url: &str,
    records: &[String],
) -> Result<(Vec<ObservedEntry>, Vec<Representation>, String), CheckStop> {
    let (cx, mut url, mut told, mut shown) = (api.cx, url.to_owned(), Vec::new(), Vec::new());
    // Entries of kinds that the caller may not read are hidden, so a page can be empty.
    let shows_all = cx
        .declared()
        .kinds()
        .all(|kind| cx.declared().offers(kind.one, "read"));
    for number in 0..MOST {
        let page = page(api, &url).await?;
        cx.observe(
            ids::SYN_05,
            number == 0 || !shows_all || !page.embedded().is_empty(),
            || {
                format!(
                    "the previous page announces more entries, but there are none: {}",
                    page.short()
                )
            },
        );
        for entry in page.embedded() {
            let own = entry["kind"].as_str().and_then(|kind| entry.href(kind));
            if let Some(record) = records
                .iter()
                .position(|record| Some(record) == own.as_ref())
            {
                let what = entry["what"].as_str().unwrap_or_default().to_owned();
                told.push(ObservedEntry { what, record });
                shown.push(entry);
            }
        }
        if page["has_more"] != json!(true) {
            return Ok((told, shown, page.leads_to("last")?));
        }
        let next = page.leads_to("next")?;
        cx.must(ids::SYN_05, next != url, || {
            format!("there are more entries, but `next` links to itself: {next}")
        })?;
        url = next;
    }
    Err(none(format!("more than {MOST} pages of changes")))
}

impl Representation {
    fn leads_to(&self, rel: &str) -> Result<String, CheckStop> {
        self.link(rel).ok_or_else(|| {
            CheckStop::Inconclusive(format!("there is no link {rel} in {}", self.short()))
        })
    }
}

/// Returns a kind whose records can be created and read, and that has the other required
/// operations.
pub(super) fn subject(cx: &CheckContext, operations: &[&str]) -> Result<CatalogueKind, CheckStop> {
    let declared = cx.declared();
    let wanted = [
        "person", "tag", "list", "form", "petition", "event", "question",
    ]
    .into_iter()
    .filter_map(kind);
    let mut able = wanted.filter(|of| {
        declared.offers_all(of.one, &["create", "read"]) && declared.offers_all(of.one, operations)
    });
    able.next().ok_or_else(|| {
        none(format!(
            "no kind has create, read, {}",
            operations.join(", ")
        ))
    })
}

/// Two records are created, changed and deleted. The feed must report each step after the previous
/// cursor.
async fn told(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let of = subject(cx, &["delete"])?;
    let start = end(&api).await?;
    let (mut at, mut all, mut own) = (start.clone(), Vec::new(), Vec::new());
    let mut expected = Vec::new();
    for _ in 0..2 {
        let made = api.reread(&api.make(of.one, &json!({})).await?).await?;
        own.push(made.self_url()?);
        all.push(made);
        at = step(
            &api,
            &at,
            &own,
            "created",
            own.len().saturating_sub(1),
            &mut expected,
        )
        .await?;
    }
    for (place, record) in all.iter().enumerate().rev() {
        if touch(&api, of.one, record).await?.is_some() {
            at = step(&api, &at, &own, "changed", place, &mut expected).await?;
        }
    }
    for (place, url) in own.iter().enumerate() {
        let answer = api.delete(url).await?;
        if !answer.is_removal() {
            return Err(none(format!("a {} cannot be deleted: {answer}", of.one)));
        }
        at = step(&api, &at, &own, "deleted", place, &mut expected).await?;
    }
    leads_to_itself(&api, &start, &own).await?;
    // No entry is repeated.
    let (again, ..) = behind(&api, &at, &own).await?;
    cx.observe(ids::SYN_04, again.is_empty(), || {
        format!("after the last cursor these entries are repeated: {again:?}")
    });
    for size in ["1", "2", "100"] {
        let (whole, shown, _) = behind(
            &api,
            &address::with_parameter(&start, "per_page", size),
            &own,
        )
        .await?;
        // Several changes of one record may be reported once.
        let last = |all: &[ObservedEntry]| -> Vec<ObservedEntry> {
            let is_last = |place: usize, one: &ObservedEntry| {
                all.iter()
                    .skip(place.saturating_add(1))
                    .all(|later| later.record != one.record)
            };
            all.iter()
                .enumerate()
                .filter(|(place, one)| is_last(*place, one))
                .map(|(_, one)| one.clone())
                .collect()
        };
        let times = |one: &ObservedEntry| whole.iter().filter(|other| *other == one).count();
        let repeated = whole
            .iter()
            .find(|one| one.what != "changed" && times(one) > 1);
        cx.observe(
            ids::SYN_04,
            last(&whole) == last(&expected) && repeated.is_none(),
            || format!("pages of {size} contain {whole:?}, but the changes were {expected:?}"),
        );
        let dates: Vec<_> = shown
            .iter()
            .filter_map(|entry| entry["at"].as_str().and_then(instant))
            .collect();
        cx.observe(ids::SYN_04, dates.is_sorted(), || {
            format!("the dates are not in order: {dates:?}")
        });
        let told_all = whole.len() >= last(&expected).len();
        cx.observe(ids::SYN_02, told_all, || {
            format!("pages of {size}: {whole:?}, but the changes were {expected:?}")
        });
    }
    Ok(())
}

/// The target of the link `self` of an entry is the entry, alone or embedded in a page.
async fn leads_to_itself(
    api: &CheckClient<'_>,
    start: &str,
    own: &[String],
) -> Result<(), CheckStop> {
    let (_, shown, _) = behind(api, start, own).await?;
    for entry in shown.iter().rev().take(2) {
        let Some(url) = entry.link("self") else {
            continue;
        };
        let answer = api.get(&url).await?;
        let found = answer.record();
        let is_there = [found.clone()]
            .into_iter()
            .chain(found.embedded())
            .any(|found| {
                let kind = entry["kind"].as_str().unwrap_or_default();
                found["what"] == entry["what"]
                    && found.href(kind).is_some()
                    && found.href(kind) == entry.href(kind)
            });
        api.cx
            .observe(ids::SYN_03, answer.status == 200 && is_there, || {
                format!("the target of `self` of {} is {answer}", entry.short())
            });
    }
    Ok(())
}

/// Checks the entries of one step, and returns the cursor for the next one.
async fn step(
    api: &CheckClient<'_>,
    at: &str,
    own: &[String],
    what: &str,
    record: usize,
    expected: &mut Vec<ObservedEntry>,
) -> Result<String, CheckStop> {
    let cx = api.cx;
    let (told, _, next) = behind(api, at, own).await?;
    let one = ObservedEntry {
        what: what.to_owned(),
        record,
    };
    // A body may need more than one call, each of which changes the record.
    let fits = told.first() == Some(&one)
        && told
            .iter()
            .skip(1)
            .all(|more| more.record == record && more.what == "changed");
    cx.observe(ids::SYN_02, fits, || {
        format!(
            "{} was {what}, but the entries are {told:?}",
            own.get(record).map_or("", String::as_str)
        )
    });
    let moved = next != at;
    cx.observe(ids::SYN_05, moved, || {
        format!("the end before and after a change is {next}")
    });
    expected.push(one);
    Ok(next)
}

/// The members of an entry.
const MEMBERS: [&str; 4] = ["what", "kind", "at", "_links"];

/// Checks the entries of a deleted person, and of records that were deleted with another one.
async fn removed(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let of = subject(cx, &["delete"])?;
    let start = end(&api).await?;
    let made = api.reread(&api.make(of.one, &json!({})).await?).await?;
    let mut own = vec![made.self_url()?];
    let mut gone = vec![made.self_url()?];
    if let Some((container, member)) = membership(cx, &api).await? {
        own.extend([container.clone(), member]);
        gone.push(container);
    }
    for url in &gone {
        let answer = api.delete(url).await?;
        if !answer.is_removal() {
            return Err(none(format!("it cannot be deleted: {answer}")));
        }
    }
    let (told, shown, _) = behind(&api, &start, &own).await?;
    for (place, url) in own.iter().enumerate() {
        // The feed reports records that were deleted together with another one, and no others.
        let is_gone = gone.contains(url) || api.get(url).await?.status == 404;
        let last = told
            .iter()
            .rfind(|one| one.record == place)
            .map(|one| one.what.as_str());
        holds(
            cx,
            &[ids::SYN_02, ids::SYN_10],
            (last == Some("deleted")) == is_gone,
            || {
                format!(
                    "{url} is {}there, but its last entry is {}",
                    if is_gone { "not " } else { "" },
                    json!(last)
                )
            },
        );
    }
    for entry in shown.iter().filter(|entry| entry["what"] == "deleted") {
        let more = entry
            .json
            .as_object()
            .into_iter()
            .flat_map(|entry| entry.keys());
        let more: Vec<&String> = more
            .filter(|name| !MEMBERS.contains(&name.as_str()))
            .collect();
        let links = entry["_links"]
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(rel, _)| *rel != "self")
            .count();
        let bare = entry["_links"]
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(rel, _)| *rel != "self")
            .all(|(_, link)| {
                link.as_object()
                    .is_some_and(|link| link.keys().all(|name| name == "href"))
            });
        cx.observe(ids::SYN_10, more.is_empty() && links == 1 && bare, || {
            format!(
                "an entry of a deleted record contains more than its URL: {}",
                entry.short()
            )
        });
    }
    Ok(())
}

/// Adds a new person to a group that can be deleted, and returns the group and the membership.
async fn membership(
    cx: &CheckContext,
    api: &CheckClient<'_>,
) -> Result<Option<(String, String)>, CheckStop> {
    let declared = cx.declared();
    for (group, one) in [("tag", "tagging"), ("list", "item")] {
        let able = declared.offers_all(group, &["create", "read", "delete"]);
        if !able || !declared.offers(one, "create") || !declared.offers("person", "create") {
            continue;
        }
        let container = api.reread(&api.make(group, &json!({})).await?).await?;
        let person = api.person().await?;
        let member = api
            .act(&container, one, &person, &cx.marked(&json!({})))
            .await?;
        if let (Some(container), Some(member)) = (container.link("self"), member.link("self")) {
            return Ok(Some((container, member)));
        }
    }
    Ok(None)
}

/// An invalid cursor.
async fn cursor(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let (url, last) = (feed(&api).await?, end(&api).await?);
    let given = address::parameter(&last, "after").unwrap_or_default();
    cx.must(ids::SYN_07, !given.is_empty(), || {
        format!("no cursor `after` in {last}")
    })?;
    for wrong in [
        format!("{given}zz"),
        "no-such-cursor".to_owned(),
        String::new(),
        "%20".to_owned(),
    ] {
        let answer = api
            .get(&address::with_parameter(&url, "after", &wrong))
            .await?;
        let problems = answer.problems();
        let named = problems
            .iter()
            .any(|problem| problem.properties.iter().any(|name| name == "after"));
        cx.observe(ids::SYN_07, answer.status == 400 && named, || {
            format!("with the cursor `{wrong}`: {answer}")
        });
    }
    Ok(())
}

/// Callers that may read nothing of the feed, or not everything.
async fn key(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let (url, start) = (feed(&api).await?, end(&api).await?);
    for (who, anonymous) in [
        ("without a key", cx.anonymous()),
        ("with an invalid key", cx.with_key("no-such-key-0000")),
    ] {
        let answer = anonymous.get(&url).await?;
        let refused = answer.status == 401 || (answer.status == 403 && who == "without a key");
        cx.observe(ids::SYN_06, refused, || format!("{who}: {answer}"));
    }
    let Some((key, _)) = cx.run.keys.restricted.clone() else {
        return Ok(());
    };
    let narrow = cx.with_key(&key);
    for one in ["person", "tag", "list", "petition", "form", "question"] {
        if cx.declared().offers(one, "create") {
            api.make(one, &json!({})).await?;
        }
    }
    let mut url = start;
    let mut kinds = std::collections::BTreeSet::new();
    for _ in 0..MOST {
        let page = page(&narrow, &url).await?;
        for entry in page.embedded() {
            let kind = entry["kind"].as_str().unwrap_or_default().to_owned();
            if let Some(record) = entry.href(&kind).filter(|_| kinds.insert(kind.clone())) {
                let answer = narrow.get(&record).await?;
                cx.observe(ids::SYN_06, !matches!(answer.status, 401 | 403), || {
                    format!("a key receives an entry of a {kind} that it may not read: {answer}")
                });
            }
        }
        if page["has_more"] != json!(true) {
            return Ok(());
        }
        url = page.leads_to("next")?;
    }
    Err(none(format!("more than {MOST} pages of changes")))
}

/// Another tenant receives no entries of this one, and its cursors are invalid here.
async fn tenants(cx: &CheckContext) -> Result<(), CheckStop> {
    let Some(other) = cx.other() else {
        return Ok(());
    };
    let api = cx.api();
    let of = subject(cx, &[])?;
    let (own, theirs) = (end(&api).await?, end(&other).await?);
    let made = api
        .reread(&api.make(of.one, &json!({})).await?)
        .await?
        .self_url()?;
    let (told, ..) = behind(&api, &own, std::slice::from_ref(&made)).await?;
    cx.observe(ids::SYN_09, !told.is_empty(), || {
        format!("its own tenant does not receive {made}")
    });
    let (leaked, ..) = behind(&other, &theirs, std::slice::from_ref(&made)).await?;
    cx.observe(ids::SYN_09, leaked.is_empty(), || {
        format!("another tenant receives {made}")
    });
    for (who, cursor) in [(&other, end(&api).await?), (&api, theirs)] {
        let answer = who.get(&cursor).await?;
        cx.observe(ids::SYN_09, answer.status == 400, || {
            format!("a cursor of another tenant: {answer}")
        });
    }
    Ok(())
}
