//! Passive checks of the pages of collections.
//!
//! Requirements: COL-20 to COL-28, LIM-01.

use serde_json::{Value, json};

use crate::catalogue::Encounter;
use crate::check::CheckContext;
use crate::ids;
use crate::linked_resources::LinkedResource;
use crate::response::TestResponse;

/// Checks one page of a collection.
pub(crate) fn check_page(cx: &CheckContext, answer: &TestResponse, known: Option<LinkedResource>) {
    let page = &answer.json;
    let number = |name: &str| page[name].as_u64();
    let (pages, size, at, total) = (
        number("total_pages"),
        number("per_page"),
        number("page"),
        number("total_records"),
    );
    let lists = page["_embedded"].as_object();
    let rel = match known {
        Some(LinkedResource::Collection(of)) => Some(format!("{}:{}", answer.prefix, of.many)),
        _ => lists.and_then(|lists| lists.keys().next().cloned()),
    };
    let members = rel
        .as_ref()
        .and_then(|rel| lists?.get(rel))
        .and_then(Value::as_array);
    let count = members.map_or(0, |members| {
        u64::try_from(members.len()).unwrap_or(u64::MAX)
    });
    let ceiling = match (total, size) {
        (Some(total), Some(size)) if size > 0 => Some(total.div_ceil(size)),
        _ => None,
    };
    let fits = pages.is_some_and(|pages| {
        ceiling.is_none_or(|ceiling| pages == ceiling || (total == Some(0) && pages <= 1))
    });
    cx.observe(ids::COL_20, fits, || {
        format!(
            "total_pages is {}, but by the other two it is {}: {answer}",
            json!(pages),
            json!(ceiling)
        )
    });
    cx.observe(
        ids::COL_21,
        size.is_some_and(|size| size >= 1 && count <= size),
        || format!("per_page is {} on a page of {count}: {answer}", json!(size)),
    );
    cx.observe(ids::COL_22, at.is_some_and(|at| at >= 1), || {
        format!("page is {}: {answer}", json!(at))
    });
    cx.observe(
        ids::COL_23,
        total.is_some_and(|total| total >= count),
        || {
            format!(
                "total_records is {} with {count} members on the page: {answer}",
                json!(total)
            )
        },
    );
    if total == Some(0) {
        cx.run.met.add(Encounter::EmptyCollection);
        let empty = lists.is_none_or(|lists| {
            lists
                .values()
                .all(|list| list.as_array().is_some_and(Vec::is_empty))
        });
        cx.observe(ids::COL_30, empty, || {
            format!("there are no records: {answer}")
        });
    }
    if let Some(most) = cx.run.page_limit() {
        let held = count <= most && size.is_none_or(|size| size <= most);
        cx.observe(ids::LIM_01, held, || {
            format!(
                "max_pagesize is {most}, but the page has {count} of {}: {answer}",
                json!(size)
            )
        });
        cx.observe(ids::COL_21, size.is_none_or(|size| size <= most), || {
            format!("max_pagesize is {most}: {answer}")
        });
    }
    let Some(rel) = rel else { return };
    let links = page["_links"].get(&rel).unwrap_or(&Value::Null);
    let own = |member: &Value| {
        member
            .pointer("/_links/self/href")
            .and_then(Value::as_str)
            .map(ToOwned::to_owned)
    };
    let listed = links.as_array().map_or(&[][..], Vec::as_slice);
    let hrefs: Vec<_> = listed
        .iter()
        .map(|link| link["href"].as_str().map(ToOwned::to_owned))
        .collect();
    let owns: Vec<_> = members
        .map_or(&[][..], Vec::as_slice)
        .iter()
        .map(own)
        .collect();
    // If only helpers are offered, members need no URL of their own.
    let has_no_addresses = cx.declared().helpers_only() && owns.iter().all(Option::is_none);
    let is_empty = (count == 0 && links.is_null()) || (has_no_addresses && hrefs.is_empty());
    cx.observe(
        ids::COL_25,
        is_empty || (links.is_array() && hrefs == owns),
        || {
            format!(
                "the links of the members are {}, but their own URLs are {}",
                json!(hrefs),
                json!(owns)
            )
        },
    );
}
