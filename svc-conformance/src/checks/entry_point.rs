//! The entry point.
//!
//! Requirements: ENT-01 to ENT-27, VER-01.

use super::prelude::*;
use crate::catalogue::Level;
use crate::fields::{self, ValueShape};
use crate::generate::without;
use crate::passive::is_shape;

/// The requirements that the entry point shows by itself.
#[rustfmt::skip]
const DOCUMENT: &[&str] = &[
    ids::ENT_01, ids::ENT_02, ids::ENT_03, ids::ENT_04, ids::ENT_05, ids::ENT_06, ids::ENT_07, ids::ENT_09, ids::ENT_25,
    ids::HAL_01, ids::VER_01, ids::TYP_01, ids::TYP_02,
];

/// The links of the entry point to collections.
#[rustfmt::skip]
const COLLECTIONS: &[&str] = &[
    ids::ENT_10, ids::ENT_11, ids::ENT_12, ids::ENT_13, ids::ENT_14, ids::ENT_15, ids::ENT_16, ids::ENT_17, ids::ENT_18,
    ids::ENT_19, ids::ENT_20, ids::ENT_21, ids::COL_01, ids::HAL_05,
];

pub(super) const CHECKS: &[Check] = &[
    check!("ent/document", DOCUMENT, document).only_reads(),
    check!("ent/collections", COLLECTIONS, collections)
        .needs("*.list")
        .only_reads(),
    check!("ent/docs", [ENT_22, ENT_23], docs)
        .needs("link:entry_point.docs")
        .only_reads(),
    check!("ent/signup-link", [ENT_24, HAL_05], signup_link)
        .needs("helper.person_signup")
        .only_reads(),
];

/// The fields of the entry point.
async fn document(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let entry = api.entry().await?;
    let declared = cx.declared();
    for field in fields::of("entry_point").filter(|field| field.shape == ValueShape::Text) {
        let value = &entry[declared.wire(field.path)];
        for row in [
            Some(field.row),
            Some(ids::TYP_01).filter(|_| !value.is_null()),
        ]
        .into_iter()
        .flatten()
        {
            cx.observe(row, value.is_string(), || {
                format!("{} is {value}", field.path)
            });
        }
    }
    let most = &entry["max_pagesize"];
    cx.observe(
        ids::ENT_03,
        most.as_u64().is_some_and(|most| most >= 1),
        || format!("max_pagesize is {most}"),
    );
    if most.is_number() {
        cx.observe(ids::TYP_02, is_shape(most, ValueShape::Integer), || {
            format!("max_pagesize is {most}")
        });
    }
    let version = &entry[declared.wire("svc_version")];
    let told = version.as_str().is_some_and(|text| !text.is_empty());
    cx.observe(ids::VER_01, told, || {
        format!("{} is {version}", declared.wire("svc_version"))
    });
    for (rel, link) in entry["_links"]
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(rel, _)| *rel != "curies")
    {
        let titled = link["title"]
            .as_str()
            .is_some_and(|title| !title.is_empty());
        cx.prefers(ids::ENT_25, titled, || {
            format!("the link {rel} has no title")
        });
    }
    if !declared.helpers_only() {
        let own = entry.link("self");
        cx.must(ids::ENT_09, own.is_some(), || {
            format!("no link self in {}", entry.short())
        })?;
        let again = api.get(&own.unwrap_or_default()).await?;
        let same = again.status == 200
            && without(&again.json, &["_links"]) == without(&entry.json, &["_links"]);
        cx.observe(ids::ENT_09, same, || {
            format!("the target of `self` of the entry point is something else: {again}")
        });
    }
    Ok(())
}

/// A collection is linked exactly if it is declared, and the target of the link is a collection.
async fn collections(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let entry = api.entry().await?;
    for (row, stated) in fields::links("entry_point").filter(|(_, link)| link.many) {
        let (row, many, may_lack) = (row.id.as_str(), &stated.name, row.level == Level::May);
        let listed = stated
            .target
            .as_deref()
            .is_some_and(|one| cx.declared().offers(one, "list"));
        let link = entry.href(many);
        cx.observe(
            row,
            link.is_some() == listed || (may_lack && link.is_none()),
            || {
                format!(
                    "{many}.list is {}declared, but the link is {}",
                    if listed { "" } else { "not " },
                    json!(link)
                )
            },
        );
        if listed && !may_lack {
            // Without a link, a client would have to construct the URL.
            cx.observe(ids::HAL_05, link.is_some(), || {
                format!("{many}.list is declared, but nothing links to it")
            });
        }
        let Some(href) = link.filter(|_| listed) else {
            continue;
        };
        let answer = api.get(&href).await?;
        let page = answer.status == 200
            && (answer["total_records"].is_number() || answer.text().trim() == "{}");
        holds(cx, &[row, ids::COL_01, ids::HAL_05], page, || {
            format!("the target of the link to {many} is not a collection: {answer}")
        });
    }
    Ok(())
}

async fn docs(cx: &CheckContext) -> Result<(), CheckStop> {
    let entry = cx.api().entry().await?;
    let links = &entry["_links"];
    let docs = &links["docs"];
    cx.must(
        ids::ENT_22,
        docs["href"].as_str().is_some_and(|href| !href.is_empty()),
        || format!("docs is {docs}"),
    )?;
    cx.observe(
        ids::ENT_23,
        docs["name"].is_string() && docs["index"].is_string(),
        || format!("docs is {docs}"),
    );
    Ok(())
}

async fn signup_link(cx: &CheckContext) -> Result<(), CheckStop> {
    let entry = cx.api().entry().await?;
    let there = entry.href("person_signup_helper").is_some();
    let declared = cx.declared().helps("person_signup");
    if declared {
        // Without a link, a client would have to construct the URL.
        cx.observe(ids::HAL_05, there, || {
            format!("nothing links to the sign-up helper: {}", entry.short())
        });
    }
    cx.observe(ids::ENT_24, there == declared, || {
        format!(
            "declared: {declared}, linked: {there}, in {}",
            entry.short()
        )
    });
    Ok(())
}
