//! What is sent is read back: every declared field of every kind, whole bodies and parts of them.
//!
//! Requirements: CAP-06, CAP-08, CRU-15 to CRU-19.

use super::changes;
use super::prelude::*;
use super::subject::{body, is_default, subject};
use crate::cause::{Cause, CauseKind};
use crate::diagnosis;
use crate::fields;
use crate::generate::{self, BodyVariant, FieldValue};
use crate::kinds::ACTIONS;
use crate::passive::row_of;
use crate::values::{instant, is_unset};

/// The requirements of every field of a kind, and of the shared objects that any kind can contain.
macro_rules! fields_of {
    ($own:literal) => {
        &[
            $own,
            "field:postal_address.",
            "field:email_address.",
            "field:phone_number.",
            "field:referrer_data.",
            "field:share_options.",
            "field:target.",
            "field:*.referrer_data",
            "field:*.share_options",
            ids::RES_TARGET_01,
            ids::HAL_11,
            ids::TYP_01,
            ids::TYP_02,
            ids::TYP_03,
            ids::TYP_04,
            ids::TYP_05,
            ids::TYP_06,
            ids::TYP_07,
            ids::TYP_08,
            ids::TYP_09,
            ids::TYP_10,
            ids::TYP_11,
            ids::TYP_12,
            ids::ERR_13,
            ids::HAL_16,
            ids::LIM_03,
        ]
    };
}

macro_rules! checks {
    ($($one:literal $own:literal $whole:literal $parts:literal $changes:literal $nothing:literal $arrays:literal;)*) => {
        pub(super) const CHECKS: &[Check] = &[$(
            check!($whole, fields_of!($own), whole).about($one).needs("<kind>.send"),
            check!($parts, &[ids::CAP_08, ids::ERR_13], parts).about($one).needs("<kind>.omit"),
            check!($changes, changes::ROWS, changes::changes).about($one).needs("<kind>.change"),
            check!($nothing, &[ids::CRU_17, ids::ERR_15], changes::nothing).about($one).needs("<kind>.empty"),
            check!($arrays, &[ids::CRU_18, ids::TYP_12, ids::ERR_15], changes::arrays).about($one).needs("<kind>.arrays"),
        )*
            check!("cru/changes-of-tag", changes::ROWS, changes::changes).about("tag").needs("<kind>.change"),
            check!("cru/null-in-tag", &[ids::CRU_17, ids::ERR_15], changes::nothing).about("tag").needs("<kind>.empty"),
            check!("cru/changes-of-list", changes::ROWS, changes::changes).about("list").needs("<kind>.change"),
            check!("cru/null-in-list", &[ids::CRU_17, ids::ERR_15], changes::nothing).about("list").needs("<kind>.empty"),
            check!("typ/dates-in-helpers", [TYP_17, HLP_06], dates_in_helpers)
                .needs("helper.*.with_person"),
        ];
    };
}

checks! {
    "person" "field:person." "typ/person" "cap/parts-of-person" "cru/changes-of-person" "cru/null-in-person" "cru/arrays-of-person";
    "petition" "field:petition." "typ/petition" "cap/parts-of-petition" "cru/changes-of-petition" "cru/null-in-petition" "cru/arrays-of-petition";
    "event" "field:event." "typ/event" "cap/parts-of-event" "cru/changes-of-event" "cru/null-in-event" "cru/arrays-of-event";
    "form" "field:form." "typ/form" "cap/parts-of-form" "cru/changes-of-form" "cru/null-in-form" "cru/arrays-of-form";
    "fundraising_page" "field:fundraising_page." "typ/fundraising_page" "cap/parts-of-fundraising_page" "cru/changes-of-fundraising_page" "cru/null-in-fundraising_page" "cru/arrays-of-fundraising_page";
    "question" "field:question." "typ/question" "cap/parts-of-question" "cru/changes-of-question" "cru/null-in-question" "cru/arrays-of-question";
    "share_page" "field:share_page." "typ/share_page" "cap/parts-of-share_page" "cru/changes-of-share_page" "cru/null-in-share_page" "cru/arrays-of-share_page";
    "advocacy_campaign" "field:advocacy_campaign." "typ/advocacy_campaign" "cap/parts-of-advocacy_campaign" "cru/changes-of-advocacy_campaign" "cru/null-in-advocacy_campaign" "cru/arrays-of-advocacy_campaign";
    "signature" "field:signature." "typ/signature" "cap/parts-of-signature" "cru/changes-of-signature" "cru/null-in-signature" "cru/arrays-of-signature";
    "submission" "field:submission." "typ/submission" "cap/parts-of-submission" "cru/changes-of-submission" "cru/null-in-submission" "cru/arrays-of-submission";
    "donation" "field:donation." "typ/donation" "cap/parts-of-donation" "cru/changes-of-donation" "cru/null-in-donation" "cru/arrays-of-donation";
    "outreach" "field:outreach." "typ/outreach" "cap/parts-of-outreach" "cru/changes-of-outreach" "cru/null-in-outreach" "cru/arrays-of-outreach";
    "attendance" "field:attendance." "typ/attendance" "cap/parts-of-attendance" "cru/changes-of-attendance" "cru/null-in-attendance" "cru/arrays-of-attendance";
    "canvass" "field:canvass." "typ/canvass" "cap/parts-of-canvass" "cru/changes-of-canvass" "cru/null-in-canvass" "cru/arrays-of-canvass";
}

/// All fields together in several variants, so that every listed value and every type of text is
/// sent.
async fn whole(cx: &CheckContext) -> Result<(), CheckStop> {
    let one = subject(cx)?;
    let api = cx.api();
    for turn in 0..cx.cases(3, 9, 14) {
        let sent = body(cx, BodyVariant::All(turn), &format!("turn {turn}"))?;
        let Ok(record) = api.make(one, &sent).await else {
            return alone(cx, &api, &sent).await;
        };
        let read = api.as_read(one, record).await?;
        compare(cx, &sent, &read);
    }
    for case in 0..cx.cases(0, 6, 40) {
        let sent = body(cx, BodyVariant::Some, &format!("case {case}"))?;
        let record = api.make(one, &sent).await?;
        let read = api.as_read(one, record).await?;
        compare(cx, &sent, &read);
    }
    Ok(())
}

/// After a whole body was rejected, sends each field alone, to find the rejected ones.
async fn alone(cx: &CheckContext, api: &CheckClient<'_>, sent: &Value) -> Result<(), CheckStop> {
    let one = cx.check.subject;
    let (mut refused, mut taken) = (Vec::new(), 0_usize);
    for (name, value) in sent.as_object().into_iter().flatten() {
        let Some(field) = fields::find(one, name) else {
            continue;
        };
        match api.make(one, &json!({ name: value })).await {
            Err(CheckStop::Failed) => refused.push((field, value, cx.span().1)),
            _ => taken = taken.saturating_add(1),
        }
    }
    for (field, value, exchange) in refused {
        let found = || format!("a {one} with only {} {value} is rejected", field.path);
        // If all of them are rejected, the field is not the reason.
        let cause = || {
            let exchange = cx.run.recorder.between(exchange, exchange);
            let needed = exchange
                .first()
                .and_then(|exchange| diagnosis::needed(&cx.run, exchange));
            // If others are accepted, only the value of the field itself can be the reason.
            let inside = format!("{one}.{}", field.path);
            let is_meant = |cause: &Cause| {
                taken == 0
                    || cause
                        .subject
                        .strip_prefix(&inside)
                        .is_some_and(|rest| rest.starts_with(['.', '[']))
            };
            if let Some(needed) = needed.filter(is_meant) {
                return Some(needed);
            }
            if taken > 0 {
                Some(Cause::of_field(CauseKind::Refused, field))
            } else {
                diagnosis::seen(&cx.run, ids::ERR_13, cx.span().1)
            }
        };
        cx.observe_with_cause(field.row, false, found, cause);
    }
    Err(CheckStop::Failed)
}

/// Compares every sent value with what was read.
fn compare(cx: &CheckContext, sent: &Value, read: &Representation) {
    let declared = cx.declared();
    let one = cx.check.subject;
    let prefix = &declared.text.custom_field_prefix;
    for shown in generate::described_values(declared, one, sent) {
        let top = shown.place.split(['.', '[']).next().unwrap_or_default();
        if declared
            .field(one, top)
            .is_some_and(|field| !field.readable)
        {
            continue;
        }
        // A member that the server sets itself.
        if shown.field.way != fields::ObservationMethod::RoundTrip {
            continue;
        }
        let got = shown.in_another(&read.json);
        let same = generate::same(shown.field, shown.sent, got, prefix);
        for row in rows(&shown) {
            cx.observe_with_cause(
                row,
                same,
                || message(&shown, got, read),
                || generate::lost(cx, one, sent, &read.json, &shown.way),
            );
        }
    }
}

fn message(shown: &FieldValue<'_>, got: Option<&Value>, read: &Representation) -> String {
    let short = |value: &Value| value.to_string().chars().take(300).collect::<String>();
    let got = got.map_or_else(|| "nothing".to_owned(), short);
    let own = read.link("self").unwrap_or_default();
    format!(
        "{} was sent as {}, read back as {got} ({own})",
        shown.place,
        short(shown.sent)
    )
}

/// Returns the requirements that a value shows.
fn rows(shown: &FieldValue<'_>) -> Vec<&'static str> {
    let mut rows = vec![shown.field.row];
    // An object without members proves nothing about the types of its members.
    rows.extend(row_of(shown.field.shape));
    match shown.field.path {
        "referrer_data" => rows.push(ids::RES_REFERRER_DATA_01),
        "share_options" => rows.extend([ids::RES_SHARE_OPTIONS_01, ids::RES_SHARE_OPTIONS_02]),
        "targets" | "target_list" => rows.push(ids::RES_TARGET_01),
        "network_a_share" | "network_b_share" | "email_share" => rows.push(ids::HAL_11),
        "custom_fields" => rows.push(ids::RES_PERSON_37),
        "number" if shown.field.owner == "phone_number" => rows.push(ids::LIM_03),
        "type" if matches!(shown.field.owner, "outreach" | "advocacy_campaign") => {
            rows.push(ids::TYP_10);
        }
        _ => {}
    }
    rows
}

/// A field that a create omits is not set, or has its declared default.
///
/// Requirements: CAP-08.
async fn parts(cx: &CheckContext) -> Result<(), CheckStop> {
    let one = subject(cx)?;
    let api = cx.api();
    for case in 0..cx.cases(1, 3, 12) {
        let sent = if case == 0 {
            json!({})
        } else {
            body(cx, BodyVariant::Some, &format!("part {case}"))?
        };
        let record = api.make(one, &sent).await?;
        left_out(cx, one, &sent, &record);
        if cx.declared().offers(one, "read") {
            left_out(cx, one, &sent, &api.reread(&record).await?);
        }
    }
    Ok(())
}

/// Checks the fields that a create did not send in a representation.
fn left_out(cx: &CheckContext, one: &str, sent: &Value, shown: &Representation) {
    let least = generate::minimal_body(cx, one);
    for (name, field) in cx.declared().fields(one).into_iter().flatten() {
        let given = sent.get(name).is_some() || least.get(name).is_some();
        let follows = (name == "gender" && sent.get("gender_identity").is_some())
            || (name == "voided_date" && sent.get("voided").is_some_and(|voided| voided == true))
            || (one == "donation" && name == "amount" && sent.get("recipients").is_some());
        if given
            || follows
            || field.computed
            || !field.readable
            || one == "canvass" && name == "canvasser"
        {
            continue;
        }
        let got = shown.json.get(name);
        let default = field
            .default
            .as_deref()
            .is_some_and(|default| is_default(default, got));
        cx.observe(ids::CAP_08, is_unset(got) || default, || {
            format!(
                "{name} was left out and reads {}; the declared default is {}",
                json!(got),
                json!(field.default)
            )
        });
    }
}

/// Helpers accept no dates of the client: values sent for them have no effect.
///
/// Requirements: TYP-17.
async fn dates_in_helpers(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let old = "2001-02-03T04:05:06Z";
    let dates = json!({"created_date": old, "modified_date": old});
    let mut each = SubjectLoop::default();
    for one in ACTIONS.iter().chain(["person"].iter()) {
        let Some(kind) = kind(one) else { continue };
        let Some(helper) = kind.helper.filter(|helper| cx.declared().helps(helper)) else {
            continue;
        };
        let container = match kind.under {
            Some(under) => api.container(under, helper, &json!({})).await,
            None => api.entry().await,
        };
        let container = match container {
            Ok(container) => container,
            Err(stop) => {
                each.took(Err(stop))?;
                continue;
            }
        };
        each.took(Ok(()))?;
        let person = generate::with(
            &generate::minimal_body(cx, "person"),
            &part(cx, "person", &json!({"given_name": "Dates"})),
        );
        let person = cx.marked(&generate::with(&dates, &person));
        let body = match kind.under {
            Some(_) => cx.marked(&generate::with(&dates, &json!({ "person": person }))),
            None => json!({ "person": person }),
        };
        let record = api.help(&container, helper, &body).await?;
        for name in ["created_date", "modified_date"] {
            let got = record[name].as_str().and_then(instant);
            cx.observe(ids::TYP_17, got.is_none() || got != instant(old), || {
                format!("{helper} stored {name}: {}", record.short())
            });
        }
    }
    each.end()
}
