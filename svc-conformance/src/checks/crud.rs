//! Create, update and delete (CRU). `round_trip` checks values and their changes.

use chrono::{TimeDelta, Utc};

use super::prelude::*;
use super::record_comparison::identified;
use crate::fields::{self, ValueShape};
use crate::generate;
use crate::generate::minimal_body;
use crate::values::instant;

pub(super) const CHECKS: &[Check] = &[
    check!(
        "cru/create-signature",
        [CRU_01, CRU_02, CRU_03, CRU_13, ERR_13],
        action
    )
    .about("signature")
    .needs("signatures.create"),
    check!(
        "cru/create-submission",
        [CRU_06, CRU_07, CRU_13, ERR_13],
        action
    )
    .about("submission")
    .needs("submissions.create"),
    check!("cru/create-question", [CRU_10, CRU_13, ERR_13], top)
        .about("question")
        .needs("questions.create"),
    check!("cru/create-share-page", [CRU_12, CRU_13, ERR_13], top)
        .about("share_page")
        .needs("share_pages.create"),
    check!("cru/update-signature", [CRU_04, ERR_15], update)
        .about("signature")
        .needs("signatures.update"),
    check!("cru/update-submission", [CRU_08, ERR_15], update)
        .about("submission")
        .needs("submissions.update"),
    check!("cru/update-question", [CRU_11, ERR_15], update)
        .about("question")
        .needs("questions.update"),
    check!("cru/delete-signature", [CRU_05, CRU_14, ERR_17], delete)
        .about("signature")
        .needs("signatures.delete"),
    check!("cru/delete-submission", [CRU_09, CRU_14, ERR_17], delete)
        .about("submission")
        .needs("submissions.delete"),
    check!(
        "cru/created-is-there",
        [CRU_13, CRU_22, ERR_13, TYP_15],
        created
    )
    .needs("*.create"),
    check!("cru/deleted-is-gone", [CRU_14, ERR_17, ERR_11], deleted).needs("*.delete"),
    check!("cru/put-back", [CRU_15, CRU_16], put_back).needs("*.update"),
];

/// Returns the body of an action.
fn fields_of(one: &str) -> Value {
    let mut body = json!({
        "origin_system": "Elsewhere", "action_date": "2026-01-05T09:00:00Z",
        "referrer_data": {"source": "mail-3", "website": "example.org"},
    });
    if one == "signature" {
        super::record_comparison::put(&mut body, "comments", "Yes, \u{e9} & \u{1f600}");
    }
    body
}

/// An action is created in the collection of its container, with a link to an existing person.
async fn action(cx: &CheckContext) -> Result<(), CheckStop> {
    let one = cx.check.subject;
    let Some((kind, under)) = kind(one).and_then(|kind| Some((kind, kind.under?))) else {
        return Ok(());
    };
    let (create, person_row, identifier): (&[&str], &[&str], &[&str]) = match one {
        "signature" => (&[ids::CRU_01], &[ids::CRU_02], &[ids::CRU_03]),
        _ => (&[ids::CRU_06], &[ids::CRU_06], &[ids::CRU_06]),
    };
    let api = cx.api();
    let container = api.make(under, &json!({})).await?;
    let person = api.person().await?;
    let sent = identified(cx, cx.marked(&part(cx, one, &fields_of(one))));
    let url = container.require_link(kind.many)?;
    let answer = api
        .post(&url, &api.linked(&sent, "person", &person.self_url()?))
        .await?;
    must(
        cx,
        create,
        answer.is_created() && answer.json.is_object(),
        || answer.to_string(),
    )?;
    let made = api.created(kind, &answer)?;
    compare_stored(cx, create, &sent, &made);
    generated(cx, identifier, &sent, &made);
    if cx.declared().links(one, "person") {
        api.check_link(person_row, &made, "person", &person, "person")
            .await?;
    }
    api.is_listed(person_row, &person, "person", kind.many, &made)
        .await?;
    api.is_listed(create, &container, under, kind.many, &made)
        .await?;
    if one == "submission" {
        links_of_submission(cx, &api, &made, &container, &person).await?;
    }
    let read = api.as_read(one, made).await?;
    compare_stored(cx, create, &sent, &read);
    let Some(missing_person) = api.missing_person().await? else {
        return Ok(());
    };
    let refused = api
        .post(
            &url,
            &api.linked(&cx.marked(&json!({})), "person", &missing_person),
        )
        .await?;
    holds(cx, person_row, refused.is_refused(), || {
        format!("a link to a missing person is not rejected: {refused}")
    });
    Ok(())
}

/// The identifier that the server assigns, and its dates.
///
/// Requirements: CRU-03.
fn generated(cx: &CheckContext, rows: &[&str], sent: &Value, made: &Representation) {
    let declared = cx.declared();
    if declared.has_field("*", "identifiers") {
        let ours = sent["identifiers"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        let more = made
            .identifiers()
            .iter()
            .filter(|one| !ours.iter().any(|our| our == *one))
            .count();
        holds(cx, rows, more > 0, || {
            format!("no identifier assigned by the server in {}", made.short())
        });
    }
    for name in ["created_date", "modified_date"] {
        if declared.has_field("*", name) {
            let dated = made[name].as_str().and_then(instant).is_some();
            holds(cx, rows, dated, || {
                format!("{name} is {} in {}", made[name], made.short())
            });
        }
    }
}

async fn links_of_submission(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    made: &Representation,
    form: &Representation,
    person: &Representation,
) -> Result<(), CheckStop> {
    let declared = cx.declared();
    cx.observe(ids::CRU_07, made.link("self").is_some(), || {
        format!("no link self in {}", made.short())
    });
    for (name, to) in [("form", form), ("person", person)] {
        if declared.links("submission", name) {
            api.check_link(&[ids::CRU_07], made, name, to, name).await?;
        }
    }
    if declared.links("submission", "answers") {
        let href = made.href("answers");
        cx.must(ids::CRU_07, href.is_some(), || {
            format!("no link answers in {}", made.short())
        })?;
        let answer = api.get(&href.unwrap_or_default()).await?;
        cx.observe(ids::CRU_07, is_page(&answer), || {
            format!("the target of the link answers is not a collection: {answer}")
        });
    }
    Ok(())
}

/// Whether a response is a page of a collection. An empty page may be `{}`.
///
/// Requirements: COL-30.
pub(super) fn is_page(answer: &TestResponse) -> bool {
    let empty = answer
        .json
        .as_object()
        .is_some_and(serde_json::Map::is_empty);
    answer.status == 200 && (answer["total_records"].is_number() || empty)
}

/// A question or a share page is created in its collection.
async fn top(cx: &CheckContext) -> Result<(), CheckStop> {
    let one = cx.check.subject;
    let Some(kind) = kind(one) else { return Ok(()) };
    let row: &[&str] = if one == "question" {
        &[ids::CRU_10]
    } else {
        &[ids::CRU_12]
    };
    let api = cx.api();
    let named = json!({"name": "colour", "title": "Which colour?", "description": "<b>Pick</b> & go", "summary": "One"});
    let more = match one {
        "question" => json!({"question_type": "SingleChoice", "responses": [
            {"key": "r1", "name": "red", "title": "Red"}, {"key": "g2", "name": "green", "title": "Green"}]}),
        _ => json!({"origin_system": "Elsewhere", "share_url": "https://example.org/t",
            "share_options": [{"email_share": {"subject": "Look"}}]}),
    };
    let sent = crate::generate::with(
        &minimal_body(cx, one),
        &part(cx, one, &crate::generate::with(&named, &more)),
    );
    let sent = identified(cx, cx.marked(&sent));
    let url = api.collection(kind.many).await?;
    let answer = api.post(&url, &sent).await?;
    must(
        cx,
        row,
        answer.is_created() && answer.json.is_object(),
        || answer.to_string(),
    )?;
    let made = api.created(kind, &answer)?;
    compare_stored(cx, row, &sent, &made);
    if !cx.declared().helpers_only() {
        must(cx, row, made.link("self").is_some(), || {
            format!("no link self in {}", made.short())
        })?;
    }
    if one == "question" && cx.declared().links(one, "answers") {
        let href = made.href("answers");
        must(cx, row, href.is_some(), || {
            format!("no link answers in {}", made.short())
        })?;
        let answer = api.get(&href.unwrap_or_default()).await?;
        holds(cx, row, is_page(&answer), || {
            format!("the target of the link answers is not a collection: {answer}")
        });
    }
    if cx.declared().offers(one, "read") {
        compare_stored(cx, row, &sent, &api.reread(&made).await?);
    }
    Ok(())
}

/// Returns the top-level text fields of a kind that may be changed freely.
fn texts(cx: &CheckContext, one: &str) -> Vec<&'static str> {
    let free = |name: &str| {
        !name.ends_with("_date") && !name.ends_with("_url") && !matches!(name, "name" | "type")
    };
    let listed = fields::of(one)
        .filter(|field| field.shape == ValueShape::Text && !field.path.contains('.'));
    let writable = |name: &str| {
        let field = cx.declared().field(one, name);
        field.is_some_and(|field| field.writable && field.readable && !field.computed)
    };
    listed
        .map(|field| field.path)
        .filter(|name| free(name) && writable(name))
        .collect()
}

/// One field after another is changed. The response is the whole resource, and nothing else
/// changes.
async fn update(cx: &CheckContext) -> Result<(), CheckStop> {
    let one = cx.check.subject;
    let rows: &[&str] = match one {
        "signature" => &[ids::CRU_04],
        "submission" => &[ids::CRU_08],
        _ => &[ids::CRU_11],
    };
    let api = cx.api();
    let first = part(cx, one, &fields_of(one));
    let made = api.make(one, &first).await?;
    let names = texts(cx, one);
    if names.is_empty() {
        return Err(none(format!("no text field of {one} is declared writable")));
    }
    let mut before = api.as_read(one, made.clone()).await?;
    for (turn, name) in names.iter().chain(names.first()).enumerate() {
        let value = format!("Changed {turn}");
        let answer = api
            .put(&before.self_url()?, &json!({ *name: value }))
            .await?;
        must(
            cx,
            rows,
            answer.status == 200 && answer.json.is_object(),
            || answer.to_string(),
        )?;
        let answered = answer.record();
        let mut after = vec![answered.clone()];
        if cx.declared().offers(one, "read") {
            after.push(api.reread(&before).await?);
        }
        for after in &after {
            for (other, field) in cx
                .declared()
                .fields(one)
                .into_iter()
                .flatten()
                .filter(|(_, field)| field.readable)
            {
                let expected = if other == name {
                    &json!(value)
                } else {
                    &before[other.as_str()]
                };
                let right = generate::restored(expected, after.json.get(other)) || field.computed;
                holds(cx, rows, right, || {
                    format!(
                        "{name} was changed to {value:?}; {other} is {}, not {expected}",
                        after[other.as_str()]
                    )
                });
            }
            holds(cx, rows, is_one(after, &before), || {
                format!("another record: {}", after.short())
            });
        }
        before = after.pop().unwrap_or(answered);
    }
    Ok(())
}

/// A deleted action is not found, and neither its container nor its person lists it.
async fn delete(cx: &CheckContext) -> Result<(), CheckStop> {
    let one = cx.check.subject;
    let Some((kind, under)) = kind(one).and_then(|kind| Some((kind, kind.under?))) else {
        return Ok(());
    };
    let rows: &[&str] = if one == "signature" {
        &[ids::CRU_05]
    } else {
        &[ids::CRU_09]
    };
    let api = cx.api();
    let container = api.make(under, &json!({})).await?;
    let person = api.person().await?;
    // A person may be limited to one action.
    let is_alone = cx.declared().has_one_per_person(kind);
    let neighbour = if is_alone {
        api.person().await?
    } else {
        person.clone()
    };
    let other = api
        .act(&container, one, &neighbour, &cx.marked(&json!({})))
        .await?;
    let made = api
        .act(&container, one, &person, &cx.marked(&json!({})))
        .await?;
    let own = made.self_url()?;
    let answer = api.delete(&own).await?;
    let rows_of_form: Vec<&str> = rows
        .iter()
        .copied()
        .chain([ids::CRU_14, ids::ERR_17])
        .collect();
    must(cx, &rows_of_form, answer.is_removal(), || {
        answer.to_string()
    })?;
    if cx.declared().offers(one, "read") {
        let (gone, answer) = api.expect_not_found(&own).await?;
        holds(cx, rows, gone, || format!("after its deletion: {answer}"));
    }
    for (owner, record) in [(under, &container), ("person", &person)] {
        let Some(url) = record
            .href(kind.many)
            .filter(|_| cx.declared().lists_below(owner, kind.many))
        else {
            continue;
        };
        let ghost = api.find_in(&url, &made).await?;
        holds(cx, rows, ghost.is_none(), || {
            format!("{} contain the deleted record", record.short())
        });
        if owner == "person" && is_alone {
            continue;
        }
        let there = api.find_in(&url, &other).await?;
        holds(cx, rows, there.is_some(), || {
            format!(
                "{} do not contain a record that was not deleted",
                record.short()
            )
        });
    }
    Ok(())
}

/// Every created record can be read at its `self` link, and is listed. Each operation always uses
/// the same status.
///
/// Requirements: CRU-22, CRU-13.
async fn created(cx: &CheckContext) -> Result<(), CheckStop> {
    let mut each = SubjectLoop::default();
    for kind in cx
        .declared()
        .kinds()
        .filter(|kind| cx.declared().offers(kind.one, "create"))
    {
        // An earlier listing must not be returned for the next one.
        let rounds = if kind.under.is_none() && cx.declared().offers(kind.one, "list") {
            2
        } else {
            1
        };
        for _ in 0..rounds {
            each.took(there(cx, kind).await)?;
        }
    }
    each.end()
}

async fn there(cx: &CheckContext, kind: CatalogueKind) -> Result<(), CheckStop> {
    let (one, declared) = (kind.one, cx.declared());
    let api = cx.api();
    let sample = part(
        cx,
        one,
        &json!({"origin_system": "Elsewhere", "title": "A title", "given_name": "Ada"}),
    );
    let began = Utc::now();
    let made = api.make(one, &sample).await?;
    let new = kind.under.is_some() || declared.offers(one, "create") || one == "person";
    if let Some(created) = made["created_date"]
        .as_str()
        .and_then(instant)
        .filter(|_| new)
    {
        let tolerance = TimeDelta::from_std(cx.run.settings.clock_tolerance).unwrap_or_default();
        let fits = created >= began - tolerance && created <= Utc::now() + tolerance;
        cx.observe(ids::TYP_15, fits, || {
            format!(
                "created after {began}, but created_date is {created}: {}",
                made.short()
            )
        });
    }
    if declared.offers(one, "read") {
        let answer = api.get(&made.self_url()?).await?;
        let found = answer.status == 200 && answer.json.is_object();
        cx.must(ids::CRU_22, found, || {
            format!("a created {one} is not at its `self`: {answer}")
        })?;
        let read = answer.record();
        for (name, _) in declared
            .fields(one)
            .into_iter()
            .flatten()
            .filter(|(_, field)| field.readable && !field.computed)
        {
            let same = generate::restored(&made[name.as_str()], read.json.get(name));
            cx.observe(ids::CRU_22, same, || {
                format!(
                    "{name} of a created {one} was returned as {}, but reads {}",
                    made[name.as_str()],
                    read[name.as_str()]
                )
            });
        }
        cx.observe(ids::CRU_22, is_one(&made, &read), || {
            format!("the target of `self` is another record: {}", read.short())
        });
        let (then, now) = (&made["created_date"], &read["created_date"]);
        cx.observe(ids::CRU_22, generate::restored(then, Some(now)), || {
            format!("created_date was {then} and is {now}")
        });
    }
    let container = match kind
        .under
        .and_then(|under| made.href(if under == "person" { "target" } else { under }))
    {
        Some(href) => Some(api.get(&href).await?)
            .filter(|answer| answer.status == 200)
            .map(|answer| answer.record()),
        None => None,
    };
    if let Some(url) = api.home(one, container.as_ref()).await? {
        let listed = api.find_in(&url, &made).await?;
        cx.observe(ids::CRU_22, listed.is_some(), || {
            format!(
                "the collection does not contain the created {}",
                made.short()
            )
        });
    }
    Ok(())
}

/// Every deletion is confirmed, and the record is not found afterwards.
async fn deleted(cx: &CheckContext) -> Result<(), CheckStop> {
    let mut each = SubjectLoop::default();
    let api = cx.api();
    for kind in cx
        .declared()
        .kinds()
        .filter(|kind| cx.declared().offers(kind.one, "delete"))
    {
        each.took(gone(cx, &api, kind).await)?;
    }
    each.end()
}

async fn gone(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    kind: CatalogueKind,
) -> Result<(), CheckStop> {
    let made = api.make(kind.one, &json!({})).await?;
    // A record that existed before is not deleted.
    if kind.under.is_none() && !cx.declared().offers(kind.one, "create") && kind.helper.is_none() {
        return Err(none(format!("no {} can be created", kind.one)));
    }
    api.remove(&made).await?;
    if cx.declared().offers(kind.one, "read") {
        let (gone, answer) = api.expect_not_found(&made.self_url()?).await?;
        cx.observe(ids::ERR_11, gone, || {
            format!("a deleted {} still exists: {answer}", kind.one)
        });
    }
    Ok(())
}

/// A whole representation is sent back with one change, as clients do that read before they write.
async fn put_back(cx: &CheckContext) -> Result<(), CheckStop> {
    let mut each = SubjectLoop::default();
    let kinds = cx.declared().kinds().filter(|kind| {
        let made = kind.under.is_some() || cx.declared().offers(kind.one, "create");
        made && cx.declared().offers(kind.one, "update") && cx.declared().offers(kind.one, "read")
    });
    for kind in kinds {
        each.took(whole(cx, kind.one).await)?;
    }
    each.end()
}

async fn whole(cx: &CheckContext, one: &str) -> Result<(), CheckStop> {
    let api = cx.api();
    let Some(name) = texts(cx, one).first().copied() else {
        return Err(none(format!("no text field of {one} is declared writable")));
    };
    let before = api.make(one, &json!({ name: "As it was" })).await?;
    let before = api.reread(&before).await?;
    let mut body = before.json.clone();
    super::record_comparison::put(&mut body, name, "Put back");
    let answer = api.put(&before.self_url()?, &body).await?;
    if answer.status == 400 && cx.declared().behaves("rejects_read_only") {
        cx.prefers(ids::CRU_16, true, String::new);
        return Ok(());
    }
    if !cx.prefers(ids::CRU_16, answer.status == 200, || {
        format!("a {one} sent back as it was read: {answer}")
    }) {
        return Ok(());
    }
    let after = api.reread(&before).await?;
    for (other, field) in cx
        .declared()
        .fields(one)
        .into_iter()
        .flatten()
        .filter(|(_, field)| field.readable)
    {
        let expected = if other == name {
            &json!("Put back")
        } else {
            &before[other.as_str()]
        };
        let right = field.computed || generate::restored(expected, after.json.get(other));
        let now = &after[other.as_str()];
        let found = || {
            format!("a {one} was sent back with another {name}; {other} is {now}, not {expected}")
        };
        let cause = || generate::lost_in(cx, &after, name, expected).filter(|_| other == name);
        cx.observe_with_cause(ids::CRU_15, right, found, cause);
    }
    Ok(())
}
