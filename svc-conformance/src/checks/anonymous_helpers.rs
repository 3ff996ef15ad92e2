//! Helpers that are called without a key, and helpers of deleted containers.
//!
//! Requirements: HLP-07 to HLP-09, HLP-23.

use http::Method;
use serde_json::Map;

use super::helper_calls::{declared_helpers, new_person};
use super::prelude::*;
use super::record_comparison::adopt;
use crate::clean_up::own_up;
use crate::counted::may_be_of;
use crate::generate::{restored, without};
use crate::kinds::KINDS;

pub(super) const CHECKS: &[Check] = &[
    check!("hlp/without-key", [HLP_07, HLP_08], anonymous).needs("helper.*.anonymous"),
    check!("hlp/without-key-fails", [HLP_09], anonymous_fails).needs("helper.*.anonymous"),
    check!("hlp/container-is-gone", [HLP_23], container_gone).needs("helper.*.of_removable"),
];

/// Without a key, a helper returns `{}` and has the same effect as with a key.
///
/// Requirements: HLP-07, HLP-08.
async fn anonymous(cx: &CheckContext) -> Result<(), CheckStop> {
    each!(name in declared_helpers(cx).into_iter().filter(|name| cx.declared().helps_anyone(name))
        => without_key(cx, name))
}

async fn without_key(cx: &CheckContext, name: &'static str) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = api.ready(name).await?;
    let person = new_person(cx);
    let mut body = ready.body(cx, Some(&person));
    let tag = if name == "person_signup" {
        super::functions::fresh_tag(&api).await?
    } else {
        None
    };
    if let Some(tag) = &tag {
        put(&mut body, "add_tags", json!([tag["name"]]));
    }
    let answer = cx.anonymous().post(&ready.url, &body).await?;
    let empty = answer.json.as_object().is_some_and(Map::is_empty);
    cx.must(ids::HLP_07, answer.is_created() && empty, || {
        format!("without a key: {answer}")
    })?;
    cx.observe(ids::HLP_08, true, String::new);
    let sent = if name == "record_canvass" {
        body.get("canvass").unwrap_or(&Value::Null)
    } else {
        &body
    };
    let wanted = answer.document.beside(if name == "person_signup" {
        person.clone()
    } else {
        sent.clone()
    });
    if wanted.identifiers().is_empty() {
        return Ok(());
    }
    let found = match (&ready.container, &tag) {
        (Some(container), _) => match container.href(ready.kind.many) {
            Some(url) => api.find_in(&url, &wanted).await?,
            // The target of a canvass may not be in any list.
            None => return Ok(()),
        },
        (None, Some(tag)) => tagged(&api, tag).await?,
        (None, None) if cx.declared().offers("person", "list") => {
            api.find_in(&api.collection("people").await?, &wanted)
                .await?
        }
        (None, None) => return Ok(()),
    };
    cx.must(ids::HLP_07, found.is_some(), || {
        format!("what was sent without a key does not exist: {body}")
    })?;
    let Some(found) = found else { return Ok(()) };
    adopt(cx, &found);
    if name == "person_signup" {
        return Ok(());
    }
    // A ticketed event or a matched person may show `attended` differently.
    compare_stored(
        cx,
        &[ids::HLP_07],
        &without(sent, &["add_tags", "attended"]),
        &found,
    );
    if found.href("person").is_some() && name != "record_canvass" {
        let who = api.person_of(&found, "person").await?;
        // The server may ignore identifiers of an anonymous caller.
        // Requirements: HLP-04.
        let shown = |name| {
            person
                .get(name)
                .is_some_and(|sent| restored(sent, who.json.get(name)))
        };
        let right = is_one(&who, &wanted.beside(person.clone()))
            || shown("family_name")
            || shown("email_addresses");
        if cx.observe(ids::HLP_07, right, || {
            format!("another person: {}", who.short())
        }) {
            own_up(cx, &who);
        }
    }
    Ok(())
}

/// Returns the only person with a new tag.
async fn tagged(
    api: &CheckClient<'_>,
    tag: &Representation,
) -> Result<Option<Representation>, CheckStop> {
    let Some(url) = tag.href("taggings") else {
        return Err(none("a tag has no link taggings"));
    };
    let members = api.members(&url).await?;
    match members.first() {
        Some(tagging) => api.follow(tagging, "person").await.map(Some),
        None => Ok(None),
    }
}

/// Without a key, a helper of a deleted container fails.
///
/// Requirements: HLP-09.
async fn anonymous_fails(cx: &CheckContext) -> Result<(), CheckStop> {
    each!(name in declared_helpers(cx).into_iter().filter(|name| cx.declared().helps_anyone(name))
        => fails(cx, name))
}

/// Calls a helper of a deleted container. If the container cannot be deleted, sends a body that is
/// not an object.
async fn fails(cx: &CheckContext, name: &'static str) -> Result<(), CheckStop> {
    let (api, anonymous) = (cx.api(), cx.anonymous());
    let of = KINDS
        .iter()
        .find(|of| of.helper == Some(name))
        .and_then(|of| of.under);
    if of.is_some_and(|under| {
        cx.declared().makes_alone(under) && cx.declared().offers(under, "delete")
    }) {
        return gone(cx, &anonymous, name, ids::HLP_09, &[]).await;
    }
    let ready = api.ready(name).await?;
    let answer = anonymous
        .send(Method::POST, &ready.url, Some("[]".to_owned()))
        .await?;
    cx.prefers(ids::HLP_09, answer.status >= 400, || {
        format!("a body that is not an object: {answer}")
    });
    Ok(())
}

/// Helpers of a deleted container fail, and nothing is created.
///
/// Requirements: HLP-23.
async fn container_gone(cx: &CheckContext) -> Result<(), CheckStop> {
    each!(name in declared_helpers(cx) => gone(cx, &cx.api(), name, ids::HLP_23, &[400, 404]))
}

async fn gone(
    cx: &CheckContext,
    caller: &CheckClient<'_>,
    name: &'static str,
    row: &'static str,
    expected: &[u16],
) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = api.ready(name).await?;
    let (Some(container), Some(under)) = (&ready.container, ready.kind.under) else {
        return Ok(());
    };
    if !cx.declared().offers(under, "delete") || !cx.declared().makes_alone(under) {
        return Err(none(format!("no {under} can be created and deleted")));
    }
    api.remove(container).await?;
    let before = api.people().await?;
    let person = new_person(cx);
    let answer = caller
        .post(&ready.url, &ready.body(cx, Some(&person)))
        .await?;
    let right = if expected.is_empty() {
        answer.status >= 400
    } else {
        expected.contains(&answer.status)
    };
    cx.prefers(row, right, || {
        format!("the container was deleted: {answer}")
    });
    if before.is_some() {
        let people = api.collection("people").await?;
        let grown = api
            .has_grown_by(&people, before, may_be_of(cx, &[person]))
            .await?;
        cx.prefers(row, !grown, || format!("the person was created: {answer}"));
    }
    Ok(())
}
