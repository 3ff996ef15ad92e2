//! Scheduling of messages (SCH) with their helper.

use super::prelude::*;
use crate::fixtures::helper_address;
use crate::generate;
use crate::values::is_unset;

const START: &str = "2037-03-01T12:00:00Z";
const STOP: &str = "2037-03-02T12:00:00Z";
/// The dates of a schedule in a message.
pub(super) const DATES: [&str; 2] = ["scheduled_start_date", "scheduled_stop_date"];

pub(super) const CHECKS: &[Check] = &[
    check!(
        "sch/schedule-and-cancel",
        &[
            ids::HLP_22,
            ids::SCH_01,
            ids::SCH_02,
            ids::SCH_04,
            ids::SCH_05,
            ids::SCH_07,
            ids::RES_MESSAGE_01,
            ids::RES_MESSAGE_02,
        ],
        schedule
    )
    .needs("helper.schedule")
    .has_side_effects(),
    check!("sch/again", [SCH_07, SCH_08], again)
        .needs("helper.schedule")
        .has_side_effects(),
    check!("sch/functions", [SCH_09], functions)
        .needs("helper.schedule and haf.add_tags and tags.create and tags.sub.taggings")
        .has_side_effects(),
    check!("sch/refused", [SCH_06], refused)
        .needs("helper.schedule")
        .has_side_effects(),
];

/// Creates a message, and returns it with the URL of its helper.
pub(super) async fn message(
    cx: &CheckContext,
    api: &CheckClient<'_>,
) -> Result<(Representation, String), CheckStop> {
    let fields = part(cx, "message", &json!({"subject": "Hello", "name": "Hello"}));
    let message = api.container("message", "schedule", &fields).await?;
    // If the URL of the helper is a fixture, the suite added the link.
    if cx.declared().links("message", "schedule_helper")
        && cx.run.helper_fixture_at(&message.url).is_none()
    {
        let there = message.href("schedule_helper").is_some();
        cx.must(ids::HLP_22, there, || {
            format!("no link schedule_helper in {}", message.short())
        })?;
    }
    let url = helper_address(&message, "schedule")?;
    Ok((message, url))
}

/// Returns the body that schedules a message.
pub(super) fn times() -> Value {
    json!({"scheduled_start_date": START, "scheduled_stop_date": STOP})
}

fn has_notice(answer: &TestResponse) -> bool {
    answer.status == 200
        && answer["notice"]
            .as_str()
            .is_some_and(|notice| !notice.is_empty())
}

/// Ends the check if the server has additional conditions for a schedule.
///
/// Requirements: SCH-03.
pub(super) fn on_condition(answer: &TestResponse) -> Result<(), CheckStop> {
    if answer.status == 400 && answer.error().is_some() {
        return Err(none(format!(
            "a condition specific to this server may not be met (SCH-03): {answer}"
        )));
    }
    Ok(())
}

/// Checks the two dates of a message, if they can be read.
async fn dates(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    rows: [&[&str]; 2],
    message: &Representation,
    expected: [Option<&str>; 2],
) -> Result<(), CheckStop> {
    if !cx.declared().offers("message", "read") {
        return Ok(());
    }
    let read = api.reread(message).await?;
    for ((name, expected), rows) in DATES.into_iter().zip(expected).zip(rows) {
        if !cx
            .declared()
            .field("message", name)
            .is_some_and(|field| field.readable)
        {
            continue;
        }
        let got = read.json.get(name);
        let right = match expected {
            Some(expected) => generate::restored(&json!(expected), got),
            None => is_unset(got),
        };
        holds(cx, rows, right, || {
            format!(
                "{name} is {} instead of {} in {}",
                read[name],
                json!(expected),
                read.short()
            )
        });
    }
    Ok(())
}

/// POST schedules, DELETE cancels. Each returns a notice.
async fn schedule(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let (message, url) = message(cx, &api).await?;
    let answer = api.post(&url, &times()).await?;
    on_condition(&answer)?;
    must(
        cx,
        &[ids::HLP_22, ids::SCH_01, ids::SCH_07],
        answer.is_success(),
        || answer.to_string(),
    )?;
    cx.observe(ids::SCH_02, has_notice(&answer), || answer.to_string());
    let rows: [&[&str]; 2] = [
        &[ids::SCH_01, ids::RES_MESSAGE_01],
        &[ids::SCH_01, ids::SCH_07, ids::RES_MESSAGE_02],
    ];
    dates(cx, &api, rows, &message, [Some(START), Some(STOP)]).await?;
    let answer = api.delete(&url).await?;
    must(cx, &[ids::HLP_22, ids::SCH_04], answer.is_success(), || {
        answer.to_string()
    })?;
    cx.observe(ids::SCH_05, has_notice(&answer), || answer.to_string());
    dates(
        cx,
        &api,
        [&[ids::SCH_04], &[ids::SCH_04]],
        &message,
        [None, None],
    )
    .await
}

/// A cancelled message is scheduled again. The other name of the second date is tried.
///
/// Requirements: SCH-07, SCH-08.
async fn again(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let (message, url) = message(cx, &api).await?;
    let answer = api.post(&url, &times()).await?;
    on_condition(&answer)?;
    cx.must(ids::SCH_07, answer.is_success(), || answer.to_string())?;
    let cancelled = api.delete(&url).await?;
    cx.must(ids::SCH_08, cancelled.is_success(), || {
        cancelled.to_string()
    })?;
    let other = json!({"scheduled_start_date": START, "scheduled_end_date": STOP});
    let answer = api.post(&url, &other).await?;
    cx.chose(
        "the second date of a schedule",
        if answer.is_success() {
            "also scheduled_end_date"
        } else {
            "only scheduled_stop_date"
        },
    );
    if answer.is_success() {
        cx.observe(ids::SCH_08, true, String::new);
        dates(
            cx,
            &api,
            [&[ids::SCH_08], &[]],
            &message,
            [Some(START), Some(STOP)],
        )
        .await?;
        drop(api.delete(&url).await?);
    }
    Ok(())
}

/// Functions sent together with the dates are ignored or rejected. No person is tagged.
///
/// Requirements: SCH-09.
async fn functions(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let (_, url) = message(cx, &api).await?;
    let Some(tag) = super::functions::fresh_tag(&api).await? else {
        return Err(none("no tag can be created that a function could add"));
    };
    let body = json!({"scheduled_start_date": START, "scheduled_stop_date": STOP, "add_tags": [tag["name"]]});
    let answer = api.post(&url, &body).await?;
    let taggings = api
        .total(&tag.require_link("taggings")?)
        .await?
        .unwrap_or_default();
    cx.observe(ids::SCH_09, taggings == 0, || {
        format!("the tag has {taggings} taggings after {answer}")
    });
    if answer.is_success() {
        api.delete(&url).await?;
    }
    Ok(())
}

/// An invalid date and a missing message are errors.
///
/// Requirements: SCH-06.
async fn refused(cx: &CheckContext) -> Result<(), CheckStop> {
    let mut each = SubjectLoop::default();
    each.took(wrong_date(cx).await)?;
    each.took(missing(cx).await)?;
    each.end()
}

async fn wrong_date(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let (message, url) = message(cx, &api).await?;
    let answer = api
        .post(
            &url,
            &json!({"scheduled_start_date": "not a date", "scheduled_stop_date": STOP}),
        )
        .await?;
    cx.observe(ids::SCH_06, answer.status >= 400, || {
        format!("an invalid date: {answer}")
    });
    dates(
        cx,
        &api,
        [&[ids::SCH_06], &[ids::SCH_06]],
        &message,
        [None, None],
    )
    .await
}

async fn missing(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    if !cx.declared().offers("message", "create") || !cx.declared().offers("message", "delete") {
        return Err(none("no message can be created and deleted"));
    }
    let (message, url) = message(cx, &api).await?;
    api.remove(&message).await?;
    for answer in [api.post(&url, &times()).await?, api.delete(&url).await?] {
        cx.observe(ids::SCH_06, answer.status >= 400, || {
            format!("the message was deleted: {answer}")
        });
    }
    Ok(())
}
