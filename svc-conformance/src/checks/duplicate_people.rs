//! People that are sent more than once, also concurrently, and people that only look similar.
//!
//! Requirements: HLP-03 to HLP-06, HLP-11 to HLP-15, HLP-19.

use std::collections::BTreeSet;

use super::functions::any_helper;
use super::helper_calls::{PreparedHelper, declared_helpers, new_person, row};
use super::prelude::*;
use super::record_comparison::{identified, whole_seconds};
use crate::generate::{restored, without};
use crate::values::{instant, is_unset};

/// The requirements that a person shows who is sent twice.
#[rustfmt::skip]
const TWICE: &[&str] = &[
    ids::HLP_03, ids::HLP_04, ids::HLP_06, ids::HLP_11, ids::HLP_12, ids::HLP_13, ids::HLP_14, ids::HLP_15, ids::HLP_19,
    ids::TYP_15, ids::TYP_16,
];

pub(super) const CHECKS: &[Check] = &[
    check!("hlp/twice", TWICE, twice).needs("helper.*.shows_person"),
    check!("hlp/alike", [HLP_03], lookalikes).needs("helper.*.with_person"),
    check!(
        "hlp/at-once",
        [
            HLP_04, HLP_05, HLP_11, HLP_12, HLP_13, HLP_14, HLP_15, HLP_19
        ],
        at_once
    )
    .needs("helper.match_person and helper.*.shows_person"),
];

async fn twice(cx: &CheckContext) -> Result<(), CheckStop> {
    each!(name in declared_helpers(cx).into_iter().filter(|name| *name != "record_canvass") => posted_twice(cx, name))
}

/// One person, sent again with later values: two actions, or one if that is declared. A person that is not matched is not
/// changed.
async fn posted_twice(cx: &CheckContext, name: &'static str) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = api.ready(name).await?;
    let person = new_person(cx);
    let made = api
        .call(
            &[row(ready.kind.one)],
            &ready,
            &ready.body(cx, Some(&person)),
        )
        .await?;
    let before = api.about(&ready, &made).await?;
    let later = json!({"given_name": "Grace", "family_name": "Hopper", "languages_spoken": ["en", "de"], "custom_fields": {"colour": "blue"}});
    let matches = cx.declared().matches_persons();
    let mut again = identified(
        cx,
        if matches {
            person.clone()
        } else {
            cx.marked(&json!({}))
        },
    );
    for (name, value) in part(cx, "person", &later).as_object().into_iter().flatten() {
        put(&mut again, name, value.clone());
    }
    if let Some(mails) = person.get("email_addresses") {
        put(&mut again, "email_addresses", mails.clone());
    }
    let second = api
        .call(
            &[row(ready.kind.one)],
            &ready,
            &ready.body(cx, Some(&again)),
        )
        .await?;
    let after = api.about(&ready, &second).await?;
    let is_same = are_same(&before, &after, &again);
    if !cx.declared().text.custom_field_prefix.is_empty() {
        again = without(&again, &["custom_fields"]);
    }
    if matches {
        cx.chose(
            "a person posted twice",
            if is_same {
                "is one person"
            } else {
                "is two persons"
            },
        );
        cx.prefers(ids::HLP_04, is_same, || {
            format!("{} and {} are two people", before.short(), after.short())
        });
    }
    if is_same {
        preferred(cx, &mut again, &before, &after);
    }
    let rows: &[&str] = match name {
        "person_signup" => &[ids::HLP_03, ids::HLP_06, ids::HLP_19],
        _ => &[ids::HLP_03],
    };
    compare_stored(cx, rows, &again, &after);
    if name != "person_signup" {
        actions(cx, &api, &ready, is_same, [&made, &second]).await?;
    }
    if !is_same {
        return unchanged(&api, &before).await;
    }
    cx.observe(ids::HLP_03, matches, || {
        format!(
            "people are not matched, but {} was changed by another request",
            before.short()
        )
    });
    let date = |record: &Representation, name: &str| record[name].as_str().and_then(instant);
    let (old, new) = (date(&before, "created_date"), date(&after, "created_date"));
    cx.observe(ids::TYP_15, old == new, || {
        format!(
            "created_date was {}, but of the matched person it is {}",
            before["created_date"], after["created_date"]
        )
    });
    let (old, new) = (
        date(&before, "modified_date"),
        date(&after, "modified_date"),
    );
    // A server may keep its values. A clock without fractions shows no change within a second.
    let may_be_equal = whole_seconds(&after) || !is_changed(cx, &before, &after);
    if !(may_be_equal && new == old) {
        cx.observe(ids::TYP_16, new > old, || {
            format!(
                "modified_date was {}, of the matched person: {}",
                before["modified_date"],
                after.short()
            )
        });
    }
    Ok(())
}

/// Whether the identifiers or a field of a person changed.
fn is_changed(cx: &CheckContext, before: &Representation, after: &Representation) -> bool {
    let mut fields = cx.declared().fields("person").into_iter().flatten();
    before.identifiers() != after.identifiers()
        || fields.any(|(name, field)| {
            field.readable && !field.computed && before.json.get(name) != after.json.get(name)
        })
}

/// A server that matches people may keep its value if a different one is sent; the later value is
/// only preferred. It must accept a value that it did not have.
///
/// Requirements: HLP-04.
fn preferred(cx: &CheckContext, sent: &mut Value, before: &Representation, after: &Representation) {
    let Some(fields) = sent.as_object_mut() else {
        return;
    };
    fields.retain(|name, value| {
        let known = before.json.get(name);
        let differs = name != "identifiers" && !is_unset(known) && !restored(value, known);
        if differs {
            cx.prefers(ids::HLP_04, restored(value, after.json.get(name)), || {
                format!(
                    "{name} was sent again as {value}, but is {} in {}",
                    after[name.as_str()],
                    after.short()
                )
            });
        }
        !differs
    });
}

/// Whether two representations are of one person: they have one URL, or share an identifier that
/// was not sent.
fn are_same(one: &Representation, other: &Representation, sent: &Value) -> bool {
    let sent = sent["identifiers"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let own = one
        .link("self")
        .filter(|own| other.link("self").as_ref() == Some(own));
    own.is_some()
        || one
            .identifiers()
            .iter()
            .any(|own| other.carries(own) && !sent.iter().any(|sent| sent == own))
}

/// Two calls create two actions, whether for one person or two. If the behaviour is declared, the
/// second call for one person may change the first action.
///
/// Requirements: HLP-04.
async fn actions(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    ready: &PreparedHelper,
    is_one_person: bool,
    made: [&Representation; 2],
) -> Result<(), CheckStop> {
    let rows: &[&str] = &[row(ready.kind.one)];
    let [first, second] = made;
    let may_be_one = is_one_person && cx.declared().has_one_action(ready.name);
    let is_unknown = first.link("self").is_none();
    let is_other = is_unknown || !is_one(first, second);
    if may_be_one && !is_unknown {
        let form = if is_other {
            "two actions"
        } else {
            "one action"
        };
        cx.chose("a person who acts twice", form);
        // An attendance with tickets can be a second one.
        let has_tickets = second["tickets"]
            .as_array()
            .is_some_and(|all| !all.is_empty());
        cx.prefers(ids::HLP_04, !is_other || has_tickets, || {
            format!(
                "{} and {} are two actions of one person",
                first.short(),
                second.short()
            )
        });
    } else if !may_be_one {
        holds(cx, rows, is_other, || {
            format!(
                "two calls created one {}: {}",
                ready.kind.one,
                second.short()
            )
        });
    }
    let (Some(container), Some(under)) = (&ready.container, ready.kind.under) else {
        return Ok(());
    };
    let Some(url) = container
        .href(ready.kind.many)
        .filter(|_| cx.declared().lists_below(under, ready.kind.many))
    else {
        return Ok(());
    };
    // Other clients may write to a container that was not created by the run.
    if !cx.declared().behaves("totals_follow_later") && cx.declared().makes_alone(under) {
        let expected = match (may_be_one, is_unknown) {
            (true, true) => 1..=2,
            (true, false) if !is_other => 1..=1,
            _ => 2..=2,
        };
        let total = api.total(&url).await?;
        let is_right = total.is_some_and(|total| expected.contains(&total));
        holds(cx, rows, is_right, || {
            format!(
                "{} {} instead of {} after two calls",
                json!(total),
                ready.kind.many,
                expected.end()
            )
        });
    }
    Ok(())
}

/// A person that no request was about is unchanged.
async fn unchanged(api: &CheckClient<'_>, before: &Representation) -> Result<(), CheckStop> {
    let cx = api.cx;
    if cx.declared().offers("person", "read") && before.link("self").is_some() {
        let now = api.reread(before).await?;
        compare_stored(cx, &[ids::HLP_03], &part(cx, "person", &before.json), &now);
    }
    Ok(())
}

async fn at_once(cx: &CheckContext) -> Result<(), CheckStop> {
    each!(name in declared_helpers(cx).into_iter().filter(|name| *name != "record_canvass") => posted_at_once(cx, name))
}

/// A new person sent by eight concurrent callers is one person, if two sequential requests create
/// one. The declared matching also applies to concurrent requests.
///
/// Requirements: HLP-05.
async fn posted_at_once(cx: &CheckContext, name: &'static str) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = api.ready(name).await?;
    let person = new_person(cx);
    let post = async |person: &Value| api.post(&ready.url, &ready.body(cx, Some(person))).await;
    let one = || post(&person);
    let answers = tokio::join!(one(), one(), one(), one(), one(), one(), one(), one());
    let (mut met, mut named): (Vec<Representation>, BTreeSet<String>) = Default::default();
    for answer in <[Result<TestResponse, CheckStop>; 8]>::from(answers) {
        let answer = answer?;
        // A caller that is asked to retry later may do so.
        if !matches!(answer.status, 429 | 503) {
            must(cx, &[row(ready.kind.one)], answer.is_created(), || {
                format!("one of eight concurrent requests: {answer}")
            })?;
            let made = answer.record();
            if made.href("person").is_some_and(|who| !named.insert(who)) {
                continue;
            }
            let about = api.about(&ready, &made).await?;
            if !met.iter().any(|known| are_same(known, &about, &person)) {
                met.push(about);
            }
        }
    }
    if met.is_empty() {
        return Err(none(
            "each of eight concurrent requests was asked to retry later",
        ));
    }
    if met.len() > 1 {
        let later = new_person(cx);
        let first = api.about(&ready, &post(&later).await?.record()).await?;
        let second = api.about(&ready, &post(&later).await?.record()).await?;
        if !are_same(&first, &second, &later) {
            return Err(none(format!(
                "one person sent twice is two: {} and {}",
                first.short(),
                second.short()
            )));
        }
    }
    holds(cx, &[ids::HLP_04, ids::HLP_05], met.len() == 1, || {
        let met: Vec<String> = met
            .iter()
            .map(|who| who.link("self").unwrap_or_else(|| who.short()))
            .collect();
        let count = met.len();
        format!(
            "{name}: one new person sent eight times concurrently is {count}, but one if sent sequentially: {}",
            met.join(", ")
        )
    });
    Ok(())
}

/// People that share nothing that identifies them: no address, or only parts of one. An empty
/// address is an address, and a server may match people by it.
async fn lookalikes(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let signs_up = cx.declared().helps("person_signup");
    let ready = if signs_up {
        api.ready("person_signup").await?
    } else {
        any_helper(&api).await?
    };
    let unique = cx.unique();
    let at = |local: String, domain: &str| json!([{ "address": format!("{local}@{domain}") }]);
    let pairs = [
        [Value::Null, Value::Null],
        [
            at(unique.clone(), "example.org"),
            at(unique.clone(), "example.net"),
        ],
        [
            at(format!("a{unique}"), "example.org"),
            at(format!("b{unique}"), "example.org"),
        ],
    ];
    for mails in pairs {
        let mut met: Vec<Representation> = Vec::new();
        for (mail, name) in mails.into_iter().zip(["Ada", "Grace"]) {
            let mut named = json!({ "given_name": name, "family_name": cx.unique() });
            if mail.is_array() {
                put(&mut named, "email_addresses", mail);
            }
            let person = cx.marked(&part(cx, "person", &named));
            let answer = api.post(&ready.url, &ready.body(cx, Some(&person))).await?;
            if !answer.is_created() {
                break;
            }
            met.push(api.about(&ready, &answer.record()).await?);
        }
        let [before, after] = met.as_slice() else {
            continue;
        };
        let right = before.link("self").is_none() || before.link("self") != after.link("self");
        cx.observe(ids::HLP_03, right, || {
            format!(
                "two people became one: {} and {}",
                before.short(),
                after.short()
            )
        });
        unchanged(&api, before).await?;
    }
    Ok(())
}
