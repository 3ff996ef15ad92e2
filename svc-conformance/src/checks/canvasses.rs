//! Canvasses, which only their helper creates.
//!
//! Requirements: HLP-16 to HLP-18, RES-canvass-06 to RES-canvass-12, RES-person-48.

use super::crud::is_page;
use super::helper_calls::{PreparedHelper, new_person, own_fields};
use super::nested_collections::only_member;
use super::prelude::*;
use crate::counted::may_be_of;
use crate::generate;

/// The requirements that a recorded canvass shows.
#[rustfmt::skip]
const RECORDED: &[&str] = &[
    ids::HLP_06, ids::HLP_16, ids::HLP_17, ids::RES_CANVASS_06, ids::RES_CANVASS_12, ids::RES_PERSON_48, ids::COL_23,
    ids::COL_28,
];

pub(super) const CHECKS: &[Check] = &[
    check!("hlp/record-canvass", RECORDED, canvass).needs("helper.record_canvass"),
    check!("hlp/canvasser", [RES_CANVASS_07, RES_CANVASS_12], canvasser)
        .needs("helper.record_canvass and field:canvass.canvasser"),
    check!(
        "hlp/canvass-answers",
        [
            RES_CANVASS_08,
            RES_CANVASS_09,
            RES_CANVASS_10,
            RES_CANVASS_11
        ],
        answers
    )
    .needs("helper.record_canvass and field:canvass.question_response"),
    check!("hlp/canvass-needs-its-object", [HLP_16], bare).needs("helper.record_canvass"),
    check!("hlp/canvass-takes-no-person", [HLP_18], no_person)
        .needs("helper.record_canvass and people.list"),
    check!("hlp/canvass-of-nobody", [HLP_17], canvass_of_missing_person)
        .needs("helper.record_canvass and people.delete"),
];

/// Returns the person who has the helper.
fn target(ready: &PreparedHelper) -> Result<&Representation, CheckStop> {
    ready
        .container
        .as_ref()
        .ok_or_else(|| none("no person has the helper"))
}

/// A canvass with its fields and links.
async fn canvass(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let person = api
        .container("person", "record_canvass", &json!({}))
        .await?;
    // If the URL of the helper is a fixture, the suite added the link.
    if cx.run.helper_fixture_at(&person.url).is_none() {
        let named = ["record_canvass_helper", "record_canvas_helper"]
            .iter()
            .any(|name| person.href(name).is_some());
        cx.must(ids::RES_PERSON_48, named, || {
            format!("no link to the canvass helper in {}", person.short())
        })?;
    }
    for code in ["9", ""] {
        let ready = api.ready("record_canvass").await?;
        let target = target(&ready)?;
        let mut fields = own_fields(cx, "canvass");
        if fields.get("status_code").is_some() {
            put(&mut fields, "status_code", code);
        }
        let sent = cx.marked(&fields);
        let made = api
            .call(
                &[ids::HLP_16, ids::HLP_06, ids::RES_PERSON_48],
                &ready,
                &json!({ "canvass": sent }),
            )
            .await?;
        let read = if cx.declared().offers("canvass", "read") {
            api.reread(&made).await?
        } else {
            made.clone()
        };
        for record in [&made, &read] {
            compare_stored(cx, &[ids::HLP_16], &sent, record);
            if fields.get("status_code").is_some() {
                let same = generate::restored(&json!(code), record.json.get("status_code"));
                cx.observe(ids::RES_CANVASS_06, same, || {
                    format!("status_code was {}: {}", json!(code), record.short())
                });
            }
            links(cx, &api, record, target).await?;
        }
        let listed = target
            .href("canvasses")
            .filter(|_| cx.declared().lists_below("person", "canvasses"));
        // A person that existed before may have other canvasses.
        let is_new = cx.declared().makes_alone("person");
        if let Some(url) = listed.filter(|_| is_new && !code.is_empty())
            && let Some(member) = api.find_in(&url, &made).await?
        {
            only_member(cx, &api, &url, &member, ready.kind).await?;
        }
    }
    Ok(())
}

/// `target` links to the person in the path, `answers` and `taggings` link to collections.
async fn links(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    made: &Representation,
    target: &Representation,
) -> Result<(), CheckStop> {
    let declared = cx.declared();
    if declared.helpers_only() {
        return Ok(());
    }
    cx.observe(ids::RES_CANVASS_12, made.link("self").is_some(), || {
        format!("no link self in {}", made.short())
    });
    if declared.links("canvass", "target") {
        api.check_link(
            &[ids::RES_CANVASS_12, ids::HLP_17],
            made,
            "target",
            target,
            "person",
        )
        .await?;
    }
    for name in ["answers", "taggings"]
        .into_iter()
        .filter(|name| declared.links("canvass", name))
    {
        let href = made.href(name);
        if cx.observe(ids::RES_CANVASS_12, href.is_some(), || {
            format!("no link {name} in {}", made.short())
        }) {
            let answer = api.get(&href.unwrap_or_default()).await?;
            cx.observe(ids::RES_CANVASS_12, is_page(&answer), || {
                format!("{name} is not a collection: {answer}")
            });
        }
    }
    Ok(())
}

/// The person who made the contact is linked.
async fn canvasser(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = api.ready("record_canvass").await?;
    let canvasser = api.person().await?;
    let mut sent = cx.marked(&own_fields(cx, "canvass"));
    put(&mut sent, "canvasser", canvasser.self_url()?);
    let read = api
        .as_read(
            "canvass",
            api.call(&[ids::RES_CANVASS_07], &ready, &json!({ "canvass": sent }))
                .await?,
        )
        .await?;
    api.check_link(
        &[ids::RES_CANVASS_07, ids::RES_CANVASS_12],
        &read,
        "canvasser",
        &canvasser,
        "person",
    )
    .await?;
    Ok(())
}

/// Chosen keys and free text are read back, in the canvass or as its answer.
async fn answers(cx: &CheckContext) -> Result<(), CheckStop> {
    each!(sort in ["MultiChoice", "Paragraph"] => answer(cx, sort))
}

async fn answer(cx: &CheckContext, sort: &str) -> Result<(), CheckStop> {
    let api = cx.api();
    let (member, row, value) = match sort {
        "Paragraph" => ("value", ids::RES_CANVASS_10, json!("Because I said so")),
        _ => ("responses", ids::RES_CANVASS_11, json!(["b2"])),
    };
    if cx
        .declared()
        .field("canvass", &format!("question_response.{member}"))
        .is_none()
    {
        return Err(none(format!("question_response.{member} is not declared")));
    }
    let question = super::answers::question(&api, sort).await?;
    let ready = api.ready("record_canvass").await?;
    let mut sent = cx.marked(&own_fields(cx, "canvass"));
    put(
        &mut sent,
        "question_response",
        json!({ "question": question.self_url()?, member: value }),
    );
    let read = api
        .as_read(
            "canvass",
            api.call(&[ids::RES_CANVASS_08], &ready, &json!({ "canvass": sent }))
                .await?,
        )
        .await?;
    let shown = match &read["question_response"] {
        Value::Array(list) => list.first().cloned().unwrap_or_default(),
        other => other.clone(),
    };
    let readable = cx
        .declared()
        .field("canvass", "question_response")
        .is_some_and(|field| field.readable);
    let mut looked = false;
    if readable || shown.is_object() {
        looked = true;
        cx.must(ids::RES_CANVASS_08, shown.is_object(), || {
            format!("question_response is {shown}: {}", read.short())
        })?;
        let same = generate::restored(&value, shown.get(member));
        cx.observe(row, same, || {
            format!("{member} was {value}: {}", read.short())
        });
        asked(
            cx,
            &api,
            &read,
            shown.get("question").unwrap_or(&Value::Null),
            &question,
        )
        .await?;
    }
    let Some(url) = read
        .href("answers")
        .filter(|_| cx.declared().lists_below("canvass", "answers"))
    else {
        return if looked {
            Ok(())
        } else {
            Err(none("the response cannot be read"))
        };
    };
    let found = api.members(&url).await?;
    if looked && found.is_empty() {
        return Ok(());
    }
    cx.must(ids::RES_CANVASS_08, found.len() == 1, || {
        format!("{} answers of {}", found.len(), read.short())
    })?;
    let Some(found) = found.first() else {
        return Ok(());
    };
    if cx
        .declared()
        .field("answer", member)
        .is_some_and(|field| field.readable)
    {
        let same = generate::restored(&value, found.json.get(member));
        cx.observe(row, same, || {
            format!("{member} was {value}: {}", found.short())
        });
    }
    if cx.declared().links("answer", "question") {
        api.check_link(
            &[ids::RES_CANVASS_09],
            found,
            "question",
            &question,
            "question",
        )
        .await?;
    }
    Ok(())
}

/// Returns the question of a response in a canvass: a URL, an identifier, or a link.
///
/// Requirements: RES-canvass-09.
async fn asked(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    read: &Representation,
    shown: &Value,
    question: &Representation,
) -> Result<(), CheckStop> {
    let text = shown["href"]
        .as_str()
        .or_else(|| shown.as_str())
        .unwrap_or_default();
    let mut right = question.carries(text);
    if let (false, Some(url)) = (right, crate::address::resolve(&read.url, text))
        && cx.declared().offers("question", "read")
    {
        let answer = api.get(&url).await?;
        right = answer.status == 200 && is_one(&answer.record(), question);
    }
    cx.observe(ids::RES_CANVASS_09, right, || {
        format!("{shown} is not the question {}", question.short())
    });
    Ok(())
}

/// Without the object that contains them, the fields of a canvass would be lost without an error.
///
/// Requirements: HLP-16.
async fn bare(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = api.ready("record_canvass").await?;
    let answer = api
        .post(&ready.url, &cx.marked(&own_fields(cx, "canvass")))
        .await?;
    if let (true, Some(own)) = (answer.is_created(), answer.record().link("self")) {
        // It may also have lost its marker.
        cx.run.journal.created_at(own, None, 0);
    }
    cx.observe(ids::HLP_16, answer.is_refused(), || {
        format!("without `canvass`: {answer}")
    });
    Ok(())
}

/// A person in the body is not created.
///
/// Requirements: HLP-18.
async fn no_person(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    needs(cx, "person", "list")?;
    let ready = api.ready("record_canvass").await?;
    let people = api.collection("people").await?;
    let before = api.total(&people).await?;
    let mut body = ready.body(cx, None);
    let person = new_person(cx);
    put(&mut body, "person", person.clone());
    let answer = api.post(&ready.url, &body).await?;
    cx.observe(
        ids::HLP_18,
        answer.is_created() || answer.status == 400,
        || answer.to_string(),
    );
    let grown = api
        .has_grown_by(&people, before, may_be_of(cx, &[person]))
        .await?;
    cx.observe(ids::HLP_18, !grown, || {
        format!("the person in the body was created: {answer}")
    });
    Ok(())
}

/// The person in the path must exist.
///
/// Requirements: HLP-17.
async fn canvass_of_missing_person(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    needs(cx, "person", "delete")?;
    let ready = api.ready("record_canvass").await?;
    api.remove(target(&ready)?).await?;
    let answer = api.post(&ready.url, &ready.body(cx, None)).await?;
    cx.observe(ids::HLP_17, matches!(answer.status, 400 | 404), || {
        format!("the person was deleted: {answer}")
    });
    Ok(())
}
