//! Limits that a server enforces, and the capabilities that it declares.
//!
//! Requirements: LIM-04, LIM-05, CAP-01 to CAP-11, VER-02, VER-03.

use super::prelude::*;
use super::record_comparison;
use crate::fixtures::helper_address;
use crate::generate::with;
use crate::kinds::LIMITED;

/// The maximum number of places of a fixture that are filled.
const MOST_PLACES: u64 = 20;

pub(super) const CHECKS: &[Check] = &[
    check!("lim/capacity", [LIM_04], capacity)
        .needs("field:event.capacity and capacity_enforced and attendances.make"),
    check!("lim/tickets", [LIM_05], tickets)
        .needs("events.create and field:event.ticket_levels and ticket_limit_enforced"),
    check!(
        "cap/declared",
        [
            CAP_01, CAP_02, CAP_03, CAP_04, CAP_10, CAP_11, VER_02, VER_03
        ],
        declared
    )
    .only_reads(),
    check!("cap/helpers", [CAP_09, ENT_24], signup).needs("helper.person_signup"),
];

/// Returns the declared ways to create an attendance: by REST, or by the helper.
fn ways(cx: &CheckContext) -> Result<Vec<bool>, CheckStop> {
    let declared = cx.declared();
    let ways = [
        (false, declared.offers("attendance", "create")),
        (true, declared.helps("record_attendance")),
    ];
    let ways: Vec<bool> = ways
        .into_iter()
        .filter_map(|(by_helper, is_there)| is_there.then_some(by_helper))
        .collect();
    if ways.is_empty() {
        Err(none("no declared operation creates attendances"))
    } else {
        Ok(ways)
    }
}

/// Creates an attendance of an event, by REST or by the helper.
async fn attend(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    event: &Representation,
    fields: &Value,
    by_helper: bool,
) -> Result<TestResponse, CheckStop> {
    if !by_helper {
        let person = api.person().await?;
        let body = api.linked(&cx.marked(fields), "person", &person.self_url()?);
        return api.post(&event.require_link("attendances")?, &body).await;
    }
    let url = helper_address(event, "record_attendance")?;
    api.post(
        &url,
        &cx.marked(&with(fields, &json!({"person": cx.marked(&json!({}))}))),
    )
    .await
}

/// Creates an event with these fields.
async fn event(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    fields: &Value,
) -> Result<Representation, CheckStop> {
    needs(cx, "event", "create")?;
    api.make("event", fields).await
}

/// An event accepts as many attendances as it has places, even after the number of places was
/// reduced.
async fn capacity(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let accepted = json!({"status": "accepted"});
    if !cx.declared().offers("event", "create") {
        return last_place(cx, &api, &accepted).await;
    }
    for (by_helper, places) in ways(cx)?.into_iter().zip([2, 1]) {
        let event = event(cx, &api, &json!({ "capacity": places })).await?;
        for number in 1..=places + 1 {
            let answer = attend(cx, &api, &event, &accepted, by_helper).await?;
            let right = if number <= places {
                answer.is_created()
            } else {
                answer.is_refused()
            };
            cx.must(ids::LIM_04, right, || {
                format!("attendance {number} of an event with {places} places: {answer}")
            })?;
        }
    }
    let way = ways(cx)?.first().copied().unwrap_or_default();
    if cx.declared().offers("event", "update") {
        let event = event(cx, &api, &json!({"capacity": 2})).await?;
        api.change(&event, &json!({"capacity": 1})).await?;
        attend(cx, &api, &event, &accepted, way).await?;
        let answer = attend(cx, &api, &event, &accepted, way).await?;
        cx.observe(ids::LIM_04, answer.is_refused(), || {
            format!("attendance 2 after the number of places was reduced to 1: {answer}")
        });
    }
    Ok(())
}

/// If no event can be created, the remaining places of the fixture are filled, and no more
/// attendances are accepted. Only an event that is named for this purpose is filled.
async fn last_place(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    accepted: &Value,
) -> Result<(), CheckStop> {
    let lacks = || {
        none(format!(
            "no event can be created, and none is named as a fixture ({LIMITED}) whose places may be filled"
        ))
    };
    let event = api.fixture(LIMITED).await?.ok_or_else(lacks)?;
    let by_helper = ways(cx)?.first().copied().unwrap_or_default();
    let (places, taken) = (event["capacity"].as_u64(), event["total_accepted"].as_u64());
    let Some(left) = places
        .zip(taken)
        .and_then(|(places, taken)| places.checked_sub(taken))
    else {
        let shows = "does not show `capacity` and `total_accepted`, so that the number of places left is unknown";
        return Err(none(format!("the fixture {LIMITED} {shows}")));
    };
    if left > MOST_PLACES {
        return Err(none(format!(
            "the fixture {LIMITED} has {left} places left: name an event with at most {MOST_PLACES}"
        )));
    }
    let mut came = Vec::new();
    for number in 1..=left.saturating_add(1) {
        let answer = attend(cx, api, &event, accepted, by_helper).await?;
        let right = if number <= left {
            answer.is_created()
        } else {
            answer.is_refused()
        };
        cx.observe(ids::LIM_04, right, || {
            format!("attendance {number} of an event with {left} places left: {answer}")
        });
        came.extend(Some(answer.record()).filter(|_| answer.is_created()));
    }
    // Other people may attend as soon as places are free.
    for record in came.iter().filter(|record| record.link("self").is_some()) {
        if cx.declared().offers("attendance", "delete") {
            api.remove(record).await?;
        }
    }
    Ok(())
}

/// As many tickets of each level are sold as exist, one by one or together.
async fn tickets(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let level = |title: &str, limit: u64| json!({"title": title, "amount": 2.5, "currency": "EUR", "limit": limit});
    let one = json!({"title": "Standard", "amount": 2.5, "currency": "EUR"});
    for by_helper in ways(cx)? {
        let levels = json!([level("Balcony", 5), level("Standard", 2)]);
        let event = event(
            cx,
            &api,
            &json!({"type": "ticketed", "ticket_levels": levels}),
        )
        .await?;
        let sell = async |count: usize| {
            let fields = json!({"status": "accepted", "tickets": vec![&one; count]});
            attend(cx, &api, &event, &fields, by_helper).await
        };
        let answer = sell(3).await?;
        cx.must(ids::LIM_05, answer.is_refused(), || {
            format!("three tickets of a level with 2: {answer}")
        })?;
        for number in 1..=3 {
            let answer = sell(1).await?;
            let right = if number <= 2 {
                answer.is_created()
            } else {
                answer.is_refused()
            };
            cx.must(ids::LIM_05, right, || {
                format!("ticket {number} of a level with 2: {answer}")
            })?;
        }
    }
    Ok(())
}

/// What is declared exists: each listed collection responds.
async fn declared(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let entry = api.entry().await?;
    let actions = [
        "signature",
        "submission",
        "donation",
        "attendance",
        "outreach",
        "answer",
        "canvass",
        "person",
    ];
    for of in cx.declared().kinds().filter(|kind| kind.under.is_none()) {
        if !cx.declared().offers(of.one, "list") {
            continue;
        }
        let Ok(url) = api.collection(of.many).await else {
            cx.observe(ids::CAP_04, false, || {
                format!("{} are declared but not linked: {}", of.many, entry.short())
            });
            continue;
        };
        let answer = api.get(&url).await?;
        let row = if actions.contains(&of.one) {
            ids::CAP_02
        } else {
            ids::CAP_03
        };
        holds(cx, &[row, ids::CAP_04], answer.status == 200, || {
            format!("{} are declared: {answer}", of.many)
        });
    }
    holds(
        cx,
        &[ids::CAP_01, ids::CAP_10, ids::VER_02, ids::VER_03],
        true,
        || entry.short(),
    );
    if cx.declared().helpers_only() {
        holds(cx, &[ids::CAP_04, ids::CAP_11], true, || entry.short());
    }
    cx.chose(
        "interface version",
        entry[cx.declared().wire("svc_version")]
            .as_str()
            .unwrap_or_default(),
    );
    Ok(())
}

/// The sign-up helper of the entry point accepts a person.
async fn signup(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let entry = api.entry().await?;
    let url = helper_address(&entry, "person_signup")?;
    let answer = api
        .post(
            &url,
            &json!({"person": cx.marked(&record_comparison::filled(cx, "person"))}),
        )
        .await?;
    holds(
        cx,
        &[ids::CAP_09, ids::ENT_24],
        answer.is_created() && answer.json.is_object(),
        || answer.to_string(),
    );
    Ok(())
}
