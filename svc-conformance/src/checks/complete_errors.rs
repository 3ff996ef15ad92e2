//! Requests with an invalid body that also refer to missing records. The response reports all
//! problems.
//!
//! Requirements: ERR-39.

use super::functions::{any_helper, note_rest};
use super::helper_calls::new_person;
use super::invalid_bodies::is_named;
use super::prelude::*;
use super::record_comparison;
use crate::generate::{self, InvalidBody, with};
use crate::kinds::ACTIONS;

pub(super) const CHECKS: &[Check] = &[
    check!("err/relation-beside-field", [ERR_39], links).needs("*.create and rule.one"),
    check!("err/function-beside-field", [ERR_39], functions)
        .needs("haf.add_tags and helper.*.with_person and rule.one"),
];

/// Returns the invalid fields of a kind, closed lists first.
fn faults(cx: &CheckContext, one: &str) -> Vec<InvalidBody> {
    let mut faults = generate::faults(cx, one);
    faults.retain(|fault| !fault.property.contains(['.', '[']));
    faults.sort_by_key(|fault| !fault.is_list);
    faults
}

/// Verifies that each of these properties is reported, with its own description.
fn told(cx: &CheckContext, answer: &TestResponse, properties: &[String]) {
    let all = answer.problems().len() >= properties.len()
        && properties.iter().all(|name| is_named(answer, name));
    cx.observe(ids::ERR_39, answer.is_refused() && all, || {
        format!("{properties:?} are wrong: {answer}")
    });
}

/// An action with an invalid field, whose person does not exist.
async fn links(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let missing_person = api
        .missing_person()
        .await?
        .ok_or_else(|| none("no URL of a missing record is known"))?;
    let kinds = ACTIONS
        .iter()
        .filter_map(|one| kind(one))
        .filter(|kind| cx.declared().offers(kind.one, "create"));
    each!(kind in kinds.take(cx.cases(2, 6, 6)) => linked(cx, &api, kind.one, &missing_person))
}

async fn linked(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    one: &str,
    missing_person: &str,
) -> Result<(), CheckStop> {
    let Some((kind, under)) = kind(one).and_then(|kind| Some((kind, kind.under?))) else {
        return Ok(());
    };
    let fault = faults(cx, one).into_iter().next();
    let fault = fault
        .filter(|_| record_comparison::can_make(cx, under))
        .ok_or_else(|| none(format!("no invalid body for a {one}")))?;
    let container = api.make(under, &json!({})).await?;
    let body = api.linked(&cx.marked(&fault.body), "person", missing_person);
    let answer = api.post(&container.require_link(kind.many)?, &body).await?;
    // A missing record may be named only by the relation.
    let person = answer
        .problems()
        .into_iter()
        .flat_map(|problem| problem.properties);
    let person = person
        .into_iter()
        .find(|name| name.contains("person"))
        .unwrap_or_else(|| "_links".to_owned());
    told(cx, &answer, &[fault.property, person]);
    Ok(())
}

/// A helper request with a person with invalid fields, an invalid field of its own, and a tag and a
/// list that do not exist.
async fn functions(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = any_helper(&api).await?;
    let (mut person, mut properties) = (new_person(cx), Vec::new());
    let of_person = faults(cx, "person");
    for fault in of_person.first().into_iter().chain(of_person.last()) {
        person = with(&person, &super::invalid_bodies::only(fault));
        properties.push(format!("person.{}", fault.property));
    }
    let mut body = ready.body(cx, Some(&person));
    if let Some(fault) = faults(cx, ready.kind.one)
        .into_iter()
        .next()
        .filter(|_| ready.container.is_some())
    {
        body = with(&body, &super::invalid_bodies::only(&fault));
        properties.push(fault.property);
    }
    if properties.is_empty() {
        return Err(none("no field of a person or of an action can be invalid"));
    }
    for function in ["add_tags", "add_lists"]
        .into_iter()
        .filter(|function| cx.declared().acts(function))
    {
        put(
            &mut body,
            function,
            json!([format!("not there {}", cx.unique())]),
        );
        properties.push(function.to_owned());
    }
    properties.dedup();
    let answer = api.post(&ready.url, &body).await?;
    note_rest(&api, &ready, &answer, &body, &person).await?;
    told(cx, &answer, &properties);
    Ok(())
}
