//! The helpers that record an action of a person.
//!
//! Requirements: HLP-11 to HLP-15.

use super::helper_calls::{ignored, new_person, row};
use super::prelude::*;
use super::record_comparison::identified;
use crate::fixtures::{helper_address, ticketed};
use crate::generate::{self, with, without};

pub(super) const CHECKS: &[Check] = &[
    check!(
        "hlp/record-signature",
        [HLP_11, HLP_06, RES_SIGNATURE_08, CAP_09],
        record
    )
    .about("signature")
    .needs("helper.record_signature"),
    check!("hlp/record-submission", [HLP_12, HLP_06, CAP_09], record)
        .about("submission")
        .needs("helper.record_submission"),
    check!(
        "hlp/record-donation",
        [HLP_13, HLP_06, RES_DONATION_21, CAP_09],
        record
    )
    .about("donation")
    .needs("helper.record_donation"),
    check!(
        "hlp/record-outreach",
        [HLP_14, HLP_06, RES_OUTREACH_13, CAP_09],
        record
    )
    .about("outreach")
    .needs("helper.record_outreach"),
    check!(
        "hlp/record-attendance",
        [HLP_15, HLP_06, RES_ATTENDANCE_15, CAP_09],
        record
    )
    .about("attendance")
    .needs("helper.record_attendance"),
    check!("hlp/record-tickets", [HLP_15, RES_ATTENDANCE_05], tickets)
        .needs("helper.record_attendance and fixture.ticketed_event and field:attendance.tickets"),
    check!("hlp/donation-links", [RES_DONATION_22], donation_links)
        .needs("helper.record_donation and helper.record_donation.links"),
];

/// A record helper: what it accepts, what it returns, where the record can be read, and what it
/// counts.
///
/// Requirements: HLP-11 to HLP-15.
async fn record(cx: &CheckContext) -> Result<(), CheckStop> {
    let one = cx.check.subject;
    let Some((kind, name)) = kind(one).and_then(|kind| Some((kind, kind.helper?))) else {
        return Ok(());
    };
    let own: &[&str] = &[row(one)];
    let reached: &[&str] = match one {
        "signature" => &[ids::HLP_11, ids::HLP_06, ids::RES_SIGNATURE_08, ids::CAP_09],
        "outreach" => &[ids::HLP_14, ids::HLP_06, ids::RES_OUTREACH_13, ids::CAP_09],
        "submission" => &[ids::HLP_12, ids::HLP_06, ids::CAP_09],
        "donation" => &[ids::HLP_13, ids::HLP_06, ids::CAP_09],
        _ => &[ids::HLP_15, ids::HLP_06, ids::CAP_09],
    };
    let links: &[&str] = match one {
        "donation" => &[ids::HLP_13, ids::RES_DONATION_21],
        "attendance" => &[ids::HLP_15, ids::RES_ATTENDANCE_15],
        _ => own,
    };
    let api = cx.api();
    let ready = api.ready(name).await?;
    let (Some(container), Some(under)) = (&ready.container, kind.under) else {
        return Ok(());
    };
    let before = api.as_read(under, container.clone()).await?;
    let person = new_person(cx);
    let body = identified(cx, ready.body(cx, Some(&person)));
    let made = api.call(reached, &ready, &body).await?;
    compare_stored(cx, own, &body, &made);
    compare_stored(cx, &[ids::HLP_06], &body, &made);
    if !cx.declared().helpers_only() {
        must(cx, links, made.link("self").is_some(), || {
            format!("no link self in {}", made.short())
        })?;
    }
    if cx.declared().links(one, under) {
        api.check_link(links, &made, under, container, under)
            .await?;
    }
    if cx.declared().links(one, "person") {
        let is_shown = made.href("person").is_some() || made.embeds("person").is_some();
        must(cx, links, is_shown, || {
            format!(
                "neither a link to the person nor the person in {}",
                made.short()
            )
        })?;
        let who = api.person_of(&made, "person").await?;
        let right = is_one(&who, &who.beside(person));
        let rows: &[&str] = if one == "attendance" { own } else { links };
        holds(cx, rows, right, || {
            format!("{} is not the person that was sent", who.short())
        });
        api.is_listed(own, &who, "person", kind.many, &made).await?;
    }
    api.is_listed(own, container, under, kind.many, &made)
        .await?;
    if cx.declared().offers(one, "read") {
        let read = api.reread(&made).await?;
        compare_stored(cx, own, &body, &read);
        for (name, field) in cx
            .declared()
            .fields(one)
            .into_iter()
            .flatten()
            .filter(|(_, field)| field.readable)
        {
            let same =
                field.computed || generate::restored(&read[name.as_str()], made.json.get(name));
            cx.observe(ids::HLP_06, same, || {
                format!(
                    "{name} was returned as {}, but reads {}",
                    made[name.as_str()],
                    read[name.as_str()]
                )
            });
        }
    }
    for (path, more) in [
        (kind.counted.unwrap_or_default(), 1.0),
        ("total_amount", 12.5),
    ] {
        let counts = cx
            .declared()
            .field(under, path)
            .is_some_and(|field| field.readable)
            && cx.declared().offers(under, "read");
        let sums = path != "total_amount"
            || (one == "donation" && body.get("amount").is_some_and(Value::is_number));
        if counts
            && sums
            && (path != "total_accepted"
                || body
                    .get("status")
                    .is_some_and(|status| status == "accepted"))
        {
            api.total_is(
                own,
                container,
                path,
                before[path].as_f64().unwrap_or(0.0) + more,
            )
            .await?;
        }
    }
    Ok(())
}

/// An attendance of a ticketed event: its tickets are read back, and it has no `attended` of its
/// own.
async fn tickets(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let event = api.ticketed_event(&part(cx, "event", &ticketed())).await?;
    let levels = event["ticket_levels"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let titles: Vec<&str> = levels
        .iter()
        .filter_map(|level| level["title"].as_str())
        .collect();
    let (first, last) = (
        titles.first().unwrap_or(&"Standard"),
        titles.last().unwrap_or(&"Balcony"),
    );
    let url = helper_address(&event, "record_attendance")?;
    let person = new_person(cx);
    let tickets = part(
        cx,
        "attendance",
        &json!({"status": "accepted", "attended": true, "tickets": [
        {"title": first, "description": "First row", "attended": true}, {"title": last}]}),
    );
    if !tickets.get("tickets").is_some_and(Value::is_array) {
        return Err(none("tickets are not declared"));
    }
    let body = with(&cx.marked(&tickets), &json!({ "person": person }));
    let mut answer = api.post(&url, &body).await?;
    if answer.status == 400 && body.get("attended").is_some() {
        // A server may reject a field that does not apply to a ticketed event.
        answer = api.post(&url, &without(&body, &["attended"])).await?;
    }
    cx.must(
        ids::HLP_15,
        answer.is_created() && answer.json.is_object(),
        || answer.to_string(),
    )?;
    let made = answer.record();
    compare_stored(cx, &[ids::HLP_15], &without(&body, &["attended"]), &made);
    let mut shown = vec![made.clone()];
    if cx.declared().offers("attendance", "read") {
        shown.push(api.reread(&made).await?);
    }
    for record in &shown {
        let lacks = record.json.get("attended").is_none_or(Value::is_null);
        cx.observe(ids::RES_ATTENDANCE_05, lacks, || {
            format!("an attendance of a ticketed event: {}", record.short())
        });
    }
    if cx.declared().links("attendance", "person") {
        let who = api.person_of(&made, "person").await?;
        let right = is_one(&who, &who.beside(person));
        cx.observe(ids::HLP_15, right, || {
            format!("{} is not the buyer", who.short())
        });
    }
    Ok(())
}

/// A donation links to the attendance or the submission to which it belongs.
///
/// Requirements: RES-donation-22.
async fn donation_links(cx: &CheckContext) -> Result<(), CheckStop> {
    each!(one in ["attendance", "submission"] => linked_donation(cx, one))
}

async fn linked_donation(cx: &CheckContext, one: &str) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = api.ready("record_donation").await?;
    let action = api.make(one, &json!({})).await?;
    let person = new_person(cx);
    let body = api.linked(&ready.body(cx, Some(&person)), one, &action.self_url()?);
    let answer = api.post(&ready.url, &body).await?;
    if !cx.prefers(ids::RES_DONATION_22, answer.is_created(), || {
        answer.to_string()
    }) {
        return Ok(());
    }
    let made = answer.record();
    api.about(&ready, &made).await.map(drop).or_else(ignored)?;
    let read = api.as_read("donation", made).await?;
    let found = match read.href(one) {
        Some(href) => Some(api.get(&href).await?),
        None => None,
    };
    let right = found
        .as_ref()
        .is_some_and(|found| found.status == 200 && is_one(&found.record(), &action));
    cx.prefers(ids::RES_DONATION_22, right, || {
        format!(
            "the target of the link {one} is not what was sent: {}",
            read.short()
        )
    });
    Ok(())
}
