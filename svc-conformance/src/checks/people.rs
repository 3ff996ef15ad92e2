//! The person of a helper request, and the sign-up helper.
//!
//! Requirements: HLP-03 to HLP-05, HLP-19 to HLP-21, RES-person-49.

use super::crud::is_page;
use super::helper_calls::{declared_helpers, new_person};
use super::prelude::*;
use super::record_comparison::identified;
use crate::fields;
use crate::generate::{self, BodyVariant};

pub(super) const CHECKS: &[Check] = &[
    check!("hlp/inline-person", [HLP_03], inline).needs("helper.*.with_person"),
    check!("hlp/matching-is-told", [HLP_05], told)
        .needs("helper.match_person")
        .only_reads(),
    check!(
        "hlp/signup",
        [HLP_19, HLP_20, HLP_21, HLP_06, RES_PERSON_49],
        signup
    )
    .needs("helper.person_signup"),
];

/// Everything that a person can have is read back from the recorded person.
///
/// Requirements: HLP-03.
async fn inline(cx: &CheckContext) -> Result<(), CheckStop> {
    let helpers = declared_helpers(cx)
        .into_iter()
        .filter(|name| *name != "record_canvass")
        .enumerate();
    let turns = cx.cases(1, 3, 10);
    each!((at, name, turn) in helpers.flat_map(|(at, name)| (0..turns).map(move |turn| (at, name, turn)))
        => inline_person(cx, name, turn.wrapping_mul(3).wrapping_add(at)))
}

async fn inline_person(
    cx: &CheckContext,
    name: &'static str,
    turn: usize,
) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = api.ready(name).await?;
    let token = cx.token(&format!("{name} {turn}"));
    let strategy = generate::body(cx.declared(), "person", BodyVariant::All(turn), &token);
    let person = strategy
        .and_then(|strategy| generate::sample(&strategy, cx.seed(&format!("{name} {turn}"))));
    let mut person = person.unwrap_or_else(|| json!({}));
    if cx.declared().matches_persons()
        && let Some(members) = person.as_object_mut()
    {
        // Removes values by which a server might match another person: the generator repeats
        // numbers and addresses.
        members.retain(|name, _| {
            !matches!(
                name.as_str(),
                "phone_numbers" | "postal_addresses" | "email_addresses"
            )
        });
        let mail = json!([{"address": format!("{token}@example.org")}]);
        members.extend(
            part(cx, "person", &json!({ "email_addresses": mail }))
                .as_object()
                .cloned()
                .unwrap_or_default(),
        );
    }
    let person = identified(cx, cx.marked(&person));
    let answer = api.post(&ready.url, &ready.body(cx, Some(&person))).await?;
    cx.must(
        ids::HLP_03,
        answer.is_created() && answer.json.is_object(),
        || answer.to_string(),
    )?;
    let read = api.about(&ready, &answer.record()).await?;
    let identifiers = person
        .get("identifiers")
        .cloned()
        .unwrap_or_else(|| json!([]));
    compare_stored(
        cx,
        &[ids::HLP_03],
        &json!({ "identifiers": identifiers }),
        &read,
    );
    let prefix = &cx.declared().text.custom_field_prefix;
    for (name, value) in person
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| *name != "identifiers")
    {
        let readable = cx
            .declared()
            .field("person", name)
            .is_some_and(|field| field.readable);
        let Some(field) = fields::find("person", name).filter(|_| readable) else {
            continue;
        };
        let same = generate::same(field, value, read.json.get(name), prefix);
        let found = || {
            format!(
                "the person's {name} was sent as {value}, is {}",
                read[name.as_str()]
            )
        };
        cx.observe_with_cause(ids::HLP_03, same, found, || {
            generate::lost(cx, "person", &json!({ name: value }), &read.json, &[])
        });
    }
    Ok(())
}

/// The declaration or the documentation states how people are matched.
///
/// Requirements: HLP-05.
async fn told(cx: &CheckContext) -> Result<(), CheckStop> {
    let text = cx
        .declared()
        .text
        .person_matching
        .as_deref()
        .unwrap_or_default();
    if !text.trim().is_empty() {
        cx.observe(ids::HLP_05, true, String::new);
        return Ok(());
    }
    let api = cx.api();
    let docs = match api.entry().await?.link("docs") {
        Some(docs) => Some(api.fetch(&docs).await?),
        None => None,
    };
    let found = docs
        .as_ref()
        .is_some_and(|docs| docs.status == 200 && docs.text().to_lowercase().contains("match"));
    cx.observe(ids::HLP_05, found, || {
        "neither the declaration nor the documentation states how people are matched".to_owned()
    });
    Ok(())
}

/// The collections of a person that a sign-up response links, each with its possible names.
///
/// Requirements: HLP-21.
const COLLECTIONS: &[(&str, &[&str])] = &[
    ("answers", &["answers"]),
    ("attendances", &["attendance", "attendances"]),
    ("signatures", &["signatures"]),
    ("submissions", &["submissions"]),
    ("donations", &["donations"]),
    ("outreaches", &["outreaches"]),
    ("taggings", &["taggings"]),
    ("items", &["items"]),
];

/// A sign-up returns the person, with its `id` and its links.
///
/// Requirements: HLP-19 to HLP-21, RES-person-49.
async fn signup(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let entry = api.entry().await?;
    let there = entry.href("person_signup_helper");
    let rows: &[&str] = &[ids::HLP_19, ids::RES_PERSON_49];
    must(cx, rows, there.is_some(), || {
        format!("no link person_signup_helper in {}", entry.short())
    })?;
    let person = new_person(cx);
    let answer = api
        .post(&there.unwrap_or_default(), &json!({ "person": person }))
        .await?;
    let rows: &[&str] = &[ids::HLP_19, ids::RES_PERSON_49, ids::HLP_06];
    must(
        cx,
        rows,
        answer.is_created() && answer.json.is_object(),
        || answer.to_string(),
    )?;
    let made = answer.record();
    compare_stored(cx, &[ids::HLP_19], &person, &made);
    cx.observe(
        ids::HLP_20,
        made["id"].as_str().is_some_and(|id| !id.is_empty()),
        || format!("id is {}", made["id"]),
    );
    if cx.declared().offers("person", "read") && made.link("self").is_some() {
        compare_stored(cx, &[ids::HLP_19], &person, &api.reread(&made).await?);
    }
    if cx.declared().helpers_only() {
        return Ok(());
    }
    cx.observe(ids::HLP_21, made.link("self").is_some(), || {
        format!("no link self in {}", made.short())
    });
    for (many, names) in COLLECTIONS {
        let declared = names
            .iter()
            .chain([many])
            .any(|name| cx.declared().links("person", name));
        // A server need not link what it does not support at all.
        if !declared {
            continue;
        }
        let href = names.iter().find_map(|name| made.href(name));
        if !cx.observe(ids::HLP_21, href.is_some(), || {
            format!("no link {names:?} in {}", made.short())
        }) {
            continue;
        }
        let answer: TestResponse = api.get(&href.unwrap_or_default()).await?;
        cx.observe(ids::HLP_21, is_page(&answer), || {
            format!("the target of the link {many} of a person is not a collection: {answer}")
        });
    }
    Ok(())
}
