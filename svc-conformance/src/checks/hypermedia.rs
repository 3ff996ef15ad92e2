//! The targets of links are what the links name.
//!
//! Requirements: HAL-05, HAL-06, HAL-12, HAL-14 to HAL-17, ENT-08, ENT-27.

use std::collections::BTreeMap;

use super::helper_calls::{declared_helpers, ignored, new_person};
use super::prelude::*;
use super::record_comparison;
use crate::linked_resources::{LinkedResource, meaning};
use crate::values::is_unset;

pub(super) const CHECKS: &[Check] = &[
    check!(
        "hal/self",
        [HAL_06, HAL_12, HAL_16, HAL_17, COL_03, ERR_10],
        own
    )
    .needs("*.read"),
    check!("hal/links", [HAL_14, HAL_15], links).needs("*.read"),
    check!("hal/any-link", [HAL_15], entry_links)
        .needs("not helpers_only")
        .only_reads(),
    check!("ent/namespace", [ENT_08, ENT_27], namespace).needs("field:entry_point.namespace"),
];

/// Returns the kinds whose records can be created without a container, and read.
fn tops(cx: &CheckContext) -> Vec<CatalogueKind> {
    let declared = cx.declared();
    let fits = |kind: &CatalogueKind| {
        declared.offers(kind.one, "create") && declared.offers(kind.one, "read")
    };
    declared
        .kinds()
        .filter(|kind| kind.under.is_none())
        .filter(fits)
        .collect()
}

/// The target of the URL in the response to a create is the record itself, without an envelope. The
/// same is true of the `self` link found there.
async fn own(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let mut each = SubjectLoop::default();
    for of in old_tops(cx) {
        each.took(old(cx, &api, of).await)?;
    }
    for of in tops(cx) {
        each.took(Ok(()))?;
        let body = record_comparison::filled(cx, of.one);
        let made = [
            api.make(of.one, &body).await?,
            api.make(of.one, &json!({})).await?,
        ];
        other_way_round(cx, &api, &made).await?;
        for record in &made {
            let answer = api.get(&record.self_url()?).await?;
            let alone = answer.record();
            let right = answer.status == 200 && is_one(&alone, record);
            holds(
                cx,
                &[
                    ids::HAL_06,
                    ids::HAL_12,
                    ids::HAL_16,
                    ids::COL_03,
                    ids::ERR_10,
                ],
                right,
                || format!("the target of `self` of a new {} is {answer}", of.one),
            );
            let lost = missing(record, &alone);
            holds(
                cx,
                &[ids::HAL_17, ids::COL_03],
                answer.status == 200 && lost.is_empty(),
                || {
                    format!(
                        "a {} read alone lacks {lost:?} of {}: {answer}",
                        of.one,
                        record.short()
                    )
                },
            );
            let Some(url) = alone.link("self").filter(|_| right) else {
                continue;
            };
            let again = api.get(&url).await?;
            cx.observe(
                ids::HAL_16,
                again.status == 200 && is_one(&again.record(), record),
                || format!("the target of `self` of {} is {again}", alone.short()),
            );
        }
    }
    each.end()
}

/// Returns the kinds whose records can be read, but only created by the server.
fn old_tops(cx: &CheckContext) -> Vec<CatalogueKind> {
    let declared = cx.declared();
    let fits =
        |kind: &CatalogueKind| declared.offers(kind.one, "read") && !declared.makes_alone(kind.one);
    declared
        .kinds()
        .filter(|kind| kind.under.is_none())
        .filter(fits)
        .collect()
}

/// An existing record: the target of `self` is the record itself, and so is the target of `self`
/// found there.
async fn old(cx: &CheckContext, api: &CheckClient<'_>, of: CatalogueKind) -> Result<(), CheckStop> {
    let mut record = api.make(of.one, &json!({})).await?;
    for _ in 0..2 {
        let answer = api.get(&record.self_url()?).await?;
        let alone = answer.record();
        let right = answer.status == 200 && is_one(&alone, &record);
        holds(
            cx,
            &[
                ids::HAL_06,
                ids::HAL_12,
                ids::HAL_16,
                ids::COL_03,
                ids::ERR_10,
            ],
            right,
            || format!("the target of `self` of {} is {answer}", record.short()),
        );
        if !right {
            break;
        }
        record = alone;
    }
    Ok(())
}

/// The target of `self` of a record that was read after another one is the record itself, not the
/// one read before.
async fn other_way_round(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    made: &[Representation; 2],
) -> Result<(), CheckStop> {
    let mut read = Vec::new();
    for record in made {
        read.push(api.get(&record.self_url()?).await?.record());
    }
    for (alone, record) in read.iter().zip(made) {
        let Some(url) = alone.link("self").filter(|_| is_one(alone, record)) else {
            continue;
        };
        let again = api.get(&url).await?;
        cx.observe(
            ids::HAL_16,
            again.status == 200 && is_one(&again.record(), record),
            || format!("the target of `self` of {} is {again}", alone.short()),
        );
    }
    Ok(())
}

/// Returns the set members of one representation that another lacks.
fn missing(record: &Representation, alone: &Representation) -> Vec<String> {
    let members = record.json.as_object().into_iter().flatten();
    let set = members.filter(|(name, value)| !name.starts_with('_') && !is_unset(Some(value)));
    set.filter(|(name, _)| is_unset(alone.json.get(name.as_str())))
        .map(|(name, _)| name.clone())
        .collect()
}

/// The links of an action refer to its person and its container. Every other link refers to a
/// record of its kind.
async fn links(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let declared = cx.declared();
    for of in declared.kinds() {
        let Some(under) = of.under.filter(|_| declared.offers(of.one, "create")) else {
            continue;
        };
        if !record_comparison::can_make(cx, under) || !record_comparison::can_make(cx, "person") {
            continue;
        }
        if under == "person" {
            let record = api.make(of.one, &json!({})).await?;
            lead(cx, &api, &record, of, &BTreeMap::new()).await?;
            continue;
        }
        let (container, person) = (api.make(under, &json!({})).await?, api.person().await?);
        let body = cx.marked(&crate::generate::minimal_body(cx, of.one));
        let record = api
            .as_read(of.one, api.act(&container, of.one, &person, &body).await?)
            .await?;
        let known = BTreeMap::from([(under, &container), ("person", &person)]);
        lead(cx, &api, &record, of, &known).await?;
    }
    for of in tops(cx) {
        let record = api.reread(&api.make(of.one, &json!({})).await?).await?;
        lead(cx, &api, &record, of, &BTreeMap::new()).await?;
    }
    Ok(())
}

/// Follows every link of a record to one record.
async fn lead(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    record: &Representation,
    of: CatalogueKind,
    known: &BTreeMap<&str, &Representation>,
) -> Result<(), CheckStop> {
    let prefix = format!("{}:", record.prefix);
    for (rel, link) in record["_links"].as_object().into_iter().flatten() {
        let Some(name) = rel.strip_prefix(&prefix) else {
            continue;
        };
        let Some(LinkedResource::Record(to)) = meaning(name, Some(of)) else {
            continue;
        };
        if !link.is_object() || !cx.declared().offers(to.one, "read") {
            continue;
        }
        let Some(url) = record.href(name) else {
            continue;
        };
        let answer = api.get(&url).await?;
        let expected = known.get(name).copied();
        let found = answer.record();
        let right = answer.status == 200
            && answer.json.is_object()
            && answer.json.get("total_records").is_none()
            && expected.is_none_or(|expected| is_one(&found, expected));
        cx.observe(ids::HAL_15, right, || {
            format!("the target of the link {rel} of a {} is {answer}", of.one)
        });
        if answer.status == 200 {
            let single = answer.json.get("total_records").is_none();
            cx.observe(ids::HAL_14, single, || {
                format!(
                    "the target of the link {rel} of a {} is a collection: {answer}",
                    of.one
                )
            });
        }
    }
    Ok(())
}

/// The links of the entry point to collections have the plural of the kind as name.
async fn entry_links(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let entry = api.entry().await?;
    for of in cx.declared().kinds().filter(|kind| kind.under.is_none()) {
        let Some(url) = entry
            .href(of.many)
            .filter(|_| cx.declared().offers(of.one, "list"))
        else {
            continue;
        };
        let answer = api.get(&url).await?;
        cx.observe(
            ids::HAL_15,
            answer.status == 200 && answer.json.is_object(),
            || answer.to_string(),
        );
    }
    Ok(())
}

/// An identifier that the server assigns starts with its namespace. Relations of the specification
/// do not.
async fn namespace(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let entry = api.entry().await?;
    let namespace = entry["namespace"].as_str().unwrap_or_default().to_owned();
    let links = entry["_links"].as_object();
    let own = format!("{namespace}:");
    let used = links
        .into_iter()
        .flatten()
        .any(|(rel, _)| namespace != entry.prefix && rel.starts_with(&own));
    let curies = entry
        .json
        .pointer("/_links/curies")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let named = curies
        .iter()
        .any(|curie| curie["name"] == Value::String(namespace.clone()));
    cx.observe(ids::ENT_27, !used || named, || {
        format!("relations under {own} without a curie: {}", entry.short())
    });
    if !cx.run.settings.writes {
        return Ok(());
    }
    for of in tops(cx) {
        let record = api.make(of.one, &json!({})).await?;
        has_namespace(cx, &record, &own);
    }
    if !tops(cx).is_empty() || !cx.declared().has_identifiers() {
        return Ok(());
    }
    each!(name in declared_helpers(cx) => of_helper(cx, name, &own))
}

/// One identifier of a new record starts with the namespace, if it has any.
fn has_namespace(cx: &CheckContext, record: &Representation, own: &str) {
    if record.json.get("identifiers").is_none() {
        return;
    }
    let mut given = record.identifiers().into_iter();
    let right = given.any(|identifier| {
        identifier
            .strip_prefix(own)
            .is_some_and(|id| !id.is_empty())
    });
    cx.observe(ids::ENT_08, right, || {
        format!("no identifier of {} starts with {own}", record.short())
    });
}

/// The identifiers of records that a helper creates.
async fn of_helper(cx: &CheckContext, name: &'static str, own: &str) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = api.ready(name).await?;
    let made = api
        .call(
            &[ids::HLP_06],
            &ready,
            &ready.body(cx, Some(&new_person(cx))),
        )
        .await?;
    api.about(&ready, &made).await.map(drop).or_else(ignored)?;
    has_namespace(cx, &made, own);
    Ok(())
}
