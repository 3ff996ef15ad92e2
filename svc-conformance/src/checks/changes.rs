//! Changes of records: of some fields, to null, and of arrays.
//!
//! Requirements: CRU-15 to CRU-19, CAP-06, ERR-15.

use std::time::Duration;

use serde_json::Map;

use super::prelude::*;
use super::record_comparison::whole_seconds;
use super::subject::{body, is_default, subject};
use crate::declared::FIRM;
use crate::fields::{self, ValueShape};
use crate::generate::{self, BodyVariant};
use crate::values::{instant, is_unset};

/// The requirements for changes of a kind.
#[rustfmt::skip]
pub(super) const ROWS: &[&str] = &[
    ids::CRU_04, ids::CRU_08, ids::CRU_11, ids::CRU_15, ids::CRU_16, ids::CRU_17, ids::CRU_18, ids::CRU_19, ids::CAP_06,
    ids::ERR_15, ids::TYP_15, ids::TYP_16, "field:petition.total_signatures", "field:form.total_submissions",
    "field:fundraising_page.total_donations", "field:fundraising_page.total_amount", "field:event.total_accepted",
    "field:event.total_tickets", "field:event.total_amount", "field:advocacy_campaign.total_outreaches",
];

/// A change of some fields changes only those. Fields that the server sets cannot be changed.
///
/// Requirements: CRU-15, CRU-16, CRU-19, CAP-06.
pub(super) async fn changes(cx: &CheckContext) -> Result<(), CheckStop> {
    let one = subject(cx)?;
    needs(cx, one, "update")?;
    let api = cx.api();
    let mut before = api
        .make(one, &body(cx, BodyVariant::All(0), "all")?)
        .await?;
    before = api.reread(&before).await?;
    let mut times = 0_usize;
    let most = cx.cases(3, 8, 30);
    for case in 0..most {
        let mut sent = body(cx, BodyVariant::Some, &format!("change {case}"))?;
        independent(one, &mut sent);
        if sent.as_object().is_none_or(Map::is_empty) {
            continue;
        }
        // If dates have whole seconds, only a change after the next second is visible.
        let waits = whole_seconds(&before) && times < 2;
        if waits {
            cx.run.target.wait(Duration::from_millis(1100)).await;
        }
        let answered = api.change(&before, &sent).await?;
        let after = api.reread(&answered).await?;
        times = times.saturating_add(1);
        full(cx, one, &answered, &after);
        changed(cx, one, &sent, &before, &after);
        let is_different = generate::differs(cx, one, &sent, &before.json);
        let may_be_equal = !is_different || (whole_seconds(&after) && !waits);
        dated(cx, &before, &after, may_be_equal);
        before = after;
    }
    kept(cx, &api, one, &before).await
}

/// Removes what a rule between fields could forbid together with the stored record.
fn independent(one: &str, sent: &mut Value) {
    let dependent: &[&str] = match one {
        "person" => &["gender", "gender_identity"],
        "question" => &["question_type", "responses"],
        "event" => &["type", "ticket_levels", "start_date", "end_date"],
        "attendance" => &["tickets", "attended"],
        "donation" => &[
            "voided",
            "voided_date",
            "amount",
            "credited_amount",
            "currency",
        ],
        _ => &[],
    };
    if let Some(members) = sent.as_object_mut() {
        members.retain(|name, _| !dependent.contains(&name.as_str()));
    }
}

/// The response to a change is the full updated resource.
///
/// Requirements: ERR-15, CRU-04, CRU-08, CRU-11.
fn full(cx: &CheckContext, one: &str, answered: &Representation, after: &Representation) {
    let row = match one {
        "signature" => Some(ids::CRU_04),
        "submission" => Some(ids::CRU_08),
        "question" => Some(ids::CRU_11),
        _ => None,
    };
    for (name, _) in cx.declared().fields(one).into_iter().flatten() {
        let same = generate::restored(&after[name], answered.json.get(name));
        let found = || {
            format!(
                "the response to a change has {name} {}, but a read returns {}",
                answered[name], after[name]
            )
        };
        cx.observe(ids::ERR_15, same, found);
        if let Some(row) = row {
            cx.observe(row, same, found);
        }
    }
}

fn changed(
    cx: &CheckContext,
    one: &str,
    sent: &Value,
    before: &Representation,
    after: &Representation,
) {
    let prefix = &cx.declared().text.custom_field_prefix;
    for (name, field) in cx.declared().fields(one).into_iter().flatten() {
        if field.computed || !field.readable {
            continue;
        }
        let (old, new) = (before.json.get(name), after.json.get(name));
        match (sent.get(name), fields::find(one, name)) {
            (Some(value), Some(known)) => {
                let same = generate::same(known, value, new, prefix);
                let found = || {
                    format!(
                        "{name} was changed to {value}, reads {}",
                        after[name.as_str()]
                    )
                };
                cx.observe_with_cause(known.row, same, found, || {
                    generate::lost(cx, one, &json!({ name: value }), &after.json, &[])
                });
            }
            (Some(_), None) => {}
            (None, _) => {
                let same = old == new || (is_unset(old) && is_unset(new));
                cx.observe(ids::CRU_15, same, || {
                    format!(
                        "{name} was not sent; it was {} and is {}; sent {sent}",
                        json!(old),
                        json!(new)
                    )
                });
            }
        }
    }
}

/// The date of the last change increases. It may be equal if no value is different, or if the clock has
/// whole seconds. The date of the creation stays the same.
///
/// Requirements: CRU-19, TYP-15, TYP-16.
fn dated(cx: &CheckContext, before: &Representation, after: &Representation, may_be_equal: bool) {
    let (old, new) = (
        before["modified_date"].as_str(),
        after["modified_date"].as_str(),
    );
    if let (Some(old), Some(new)) = (old.and_then(instant), new.and_then(instant)) {
        let advanced = new > old || (may_be_equal && new == old);
        let found = || format!("modified_date was {old} before the change and is {new}");
        holds(cx, &[ids::CRU_19, ids::TYP_16], advanced, found);
    }
    let (old, new) = (&before["created_date"], &after["created_date"]);
    if !old.is_null() {
        cx.observe(ids::TYP_15, old == new, || {
            format!("created_date was {old} before the change and is {new}")
        });
    }
}

/// Values sent for fields that the server sets have no effect.
async fn kept(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    one: &str,
    before: &Representation,
) -> Result<(), CheckStop> {
    let declared = cx.declared();
    let mut sent =
        json!({"created_date": "2001-02-03T04:05:06Z", "modified_date": "2001-02-03T04:05:06Z"});
    for (name, field) in declared
        .fields(one)
        .into_iter()
        .flatten()
        .filter(|(_, field)| field.computed || !field.writable)
    {
        let known = fields::find(one, name).map(|known| known.shape);
        let value = match known {
            Some(ValueShape::Integer | ValueShape::Float | ValueShape::Number) => json!(987_654),
            Some(ValueShape::Text) => json!("not mine"),
            _ if field.kind == "integer" => json!(987_654),
            _ => continue,
        };
        put(&mut sent, name, value);
    }
    let answer = api.put(&before.self_url()?, &sent).await?;
    let refused = answer.status == 400 && declared.behaves("rejects_read_only");
    cx.observe(ids::CRU_16, answer.status == 200 || refused, || {
        answer.to_string()
    });
    let after = api.reread(before).await?;
    for (name, value) in sent
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| *name != "modified_date")
    {
        let same = before.json.get(name) == after.json.get(name);
        let found = || {
            format!(
                "{name} was {}, a client sent {value}, it reads {}",
                before[name], after[name]
            )
        };
        cx.observe(ids::CRU_16, same, found);
        cx.observe(ids::CAP_06, same, found);
        if name == "created_date" {
            cx.observe(ids::TYP_15, same, found);
        }
        if let Some(field) =
            fields::find(one, name).filter(|field| field.way == fields::ObservationMethod::Computed)
        {
            cx.observe(field.row, same, found);
        }
    }
    let modified = after["modified_date"].as_str().and_then(instant);
    let taken = modified.is_some() && modified == instant("2001-02-03T04:05:06Z");
    cx.observe(ids::TYP_16, !taken, || {
        format!(
            "the server stored the modified_date of a client: {}",
            after["modified_date"]
        )
    });
    Ok(())
}

/// Each field is cleared by `null`, and the others stay the same.
///
/// Requirements: CRU-17.
pub(super) async fn nothing(cx: &CheckContext) -> Result<(), CheckStop> {
    let one = subject(cx)?;
    needs(cx, one, "update")?;
    let api = cx.api();
    let all = body(cx, BodyVariant::All(2), "all")?;
    let record = api.make(one, &all).await?;
    let own = cx.declared().fields(one);
    let names: Vec<&String> = own
        .into_iter()
        .flatten()
        .filter(|(_, field)| field.writable && !field.computed && !field.required && field.readable)
        .map(|(name, _)| name)
        // Excludes fields that another field of the record needs, and members that are not fields.
        .filter(|name| !FIRM.contains(&(one, name.as_str())))
        // Each of them may be derived from the other.
        .filter(|name| !(one == "person" && *name == "gender"))
        .collect();
    let mut before = api.reread(&record).await?;
    let each = cx.cases(4, 100, 100);
    let mut rng = cx.rng("nulls");
    for (number, name) in names.iter().enumerate() {
        // At the lowest intensity some of them one by one, then the others together.
        if number >= each && !rng.one_in(4) {
            continue;
        }
        let mut sent = Map::new();
        sent.insert((*name).clone(), Value::Null);
        api.change(&before, &Value::Object(sent)).await?;
        let after = api.reread(&before).await?;
        emptied(cx, one, name, &after);
        for other in names.iter().filter(|other| *other != name) {
            let (old, new) = (before.json.get(*other), after.json.get(*other));
            let same = old == new || (is_unset(old) && is_unset(new));
            cx.observe(ids::CRU_17, same, || {
                format!(
                    "{name} was cleared; {other} was {} and is {}",
                    json!(old),
                    json!(new)
                )
            });
        }
        before = after;
    }
    let rest: Map<String, Value> = names
        .iter()
        .map(|name| ((*name).clone(), Value::Null))
        .collect();
    if !rest.is_empty() {
        api.change(&before, &Value::Object(rest)).await?;
        let after = api.reread(&before).await?;
        for name in &names {
            emptied(cx, one, name, &after);
        }
    }
    Ok(())
}

fn emptied(cx: &CheckContext, one: &str, name: &str, after: &Representation) {
    let field = cx.declared().field(one, name);
    let got = after.json.get(name);
    let default = field
        .and_then(|field| field.default.as_deref())
        .is_some_and(|default| is_default(default, got));
    cx.observe(ids::CRU_17, is_unset(got) || default, || {
        format!("{name} was set to null and reads {}", after[name])
    });
}

/// An array is replaced by what was sent last: permuted, shortened, or empty.
///
/// Requirements: CRU-18.
pub(super) async fn arrays(cx: &CheckContext) -> Result<(), CheckStop> {
    let one = subject(cx)?;
    needs(cx, one, "update")?;
    let api = cx.api();
    let mut record = api
        .make(one, &body(cx, BodyVariant::All(1), "all")?)
        .await?;
    let prefix = cx.declared().text.custom_field_prefix.clone();
    let long = body(cx, BodyVariant::All(0), "long")?;
    for (name, list) in long.as_object().into_iter().flatten() {
        let Some(list) = list.as_array().filter(|list| list.len() > 1) else {
            continue;
        };
        let Some(field) = fields::find(one, name) else {
            continue;
        };
        if (one == "attendance" && name == "tickets")
            || !cx
                .declared()
                .field(one, name)
                .is_some_and(|field| field.readable)
        {
            continue;
        }
        let reversed: Vec<Value> = list.iter().rev().cloned().collect();
        let short: Vec<Value> = list.iter().skip(1).cloned().collect();
        let mut forms = vec![
            list.clone(),
            reversed,
            short,
            Vec::new(),
            list.iter().take(1).cloned().collect(),
        ];
        // The values of some members decide the order of the entries.
        if generate::has_order(cx.declared(), one, name) {
            forms = vec![
                list.clone(),
                Vec::new(),
                list.iter().take(1).cloned().collect(),
            ];
        }
        for form in forms {
            // A question with choices keeps at least the responses that it needs.
            if form.is_empty() && one == "question" {
                continue;
            }
            let form = Value::Array(form);
            api.change(&record, &json!({ name: form })).await?;
            let after = api.reread(&record).await?;
            let got = after.json.get(name);
            let same = generate::same(field, &form, got, &prefix)
                && length(&form) == got.map_or(0, length);
            let found = || {
                format!(
                    "{name} was replaced by {form}, reads {}",
                    after[name.as_str()]
                )
            };
            for row in [ids::CRU_18, ids::TYP_12] {
                cx.observe_with_cause(row, same, found, || {
                    generate::lost(cx, one, &json!({ name: form }), &after.json, &[])
                });
            }
            record = after.clone();
        }
    }
    Ok(())
}

fn length(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}
