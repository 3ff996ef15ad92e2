//! Helpers (HLP): requirements for all helpers.

use http::Method;

use super::helper_calls::{declared_helpers, ignored, new_person};
use super::prelude::*;
use crate::generate::with;

pub(super) const CHECKS: &[Check] = &[
    check!("hlp/methods", [HLP_01], methods).needs("helper.*"),
    check!("hlp/bodies", [HLP_02], bodies).needs("helper.*.but_schedule"),
];

/// Helpers accept only POST.
///
/// Requirements: HLP-01.
async fn methods(cx: &CheckContext) -> Result<(), CheckStop> {
    each!(name in declared_helpers(cx) => method(cx, name))
}

async fn method(cx: &CheckContext, name: &'static str) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = api.ready(name).await?;
    let person = new_person(cx);
    let answer = api.post(&ready.url, &ready.body(cx, Some(&person))).await?;
    cx.must(ids::HLP_01, answer.is_created(), || answer.to_string())?;
    api.about(&ready, &answer.record())
        .await
        .map(drop)
        .or_else(ignored)?;
    let own = ready
        .container
        .as_ref()
        .and_then(|container| container.link("self"));
    if own.as_deref() == Some(ready.url.as_str()) {
        // The record has the same URL, so another method would change or delete it.
        return Ok(());
    }
    for method in [Method::PUT, Method::DELETE] {
        let answer = api.send(method, &ready.url, Some("{}".to_owned())).await?;
        cx.observe(ids::HLP_01, answer.status >= 400, || {
            format!("{name} is not a method of the helper: {answer}")
        });
    }
    Ok(())
}

/// Only the person, then fields and the person, then both with an action function.
///
/// Requirements: HLP-02.
async fn bodies(cx: &CheckContext) -> Result<(), CheckStop> {
    let functions = super::functions::simple(cx).await?;
    each!(name in declared_helpers(cx) => with_bodies(cx, name, &functions))
}

async fn with_bodies(
    cx: &CheckContext,
    name: &'static str,
    functions: &[(&str, Value)],
) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = api.ready(name).await?;
    for with_fields in [false, true] {
        for function in functions.iter().map(Some).chain([None]) {
            let person = new_person(cx);
            let mut body = ready.body(cx, Some(&person));
            if !with_fields && name != "person_signup" {
                body = match name {
                    "record_canvass" => json!({ "canvass": cx.marked(&json!({})) }),
                    _ => with(&cx.marked(&json!({})), &json!({ "person": person })),
                };
            }
            if let Some((function, value)) = function {
                put(&mut body, function, value.clone());
            }
            let answer = api.post(&ready.url, &body).await?;
            cx.observe(ids::HLP_02, answer.is_created(), || {
                format!("{name} with {body}: {answer}")
            });
            if answer.is_created() {
                api.about(&ready, &answer.record())
                    .await
                    .map(drop)
                    .or_else(ignored)?;
            }
        }
    }
    Ok(())
}
