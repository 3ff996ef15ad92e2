//! What a server accepts: records that the suite creates with every field of the catalogue.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use svc_declaration::Declaration;

use super::{ProbeState, candidate_fields, reading};
use crate::check::CheckContext;
use crate::client::CheckClient;
use crate::fields;
use crate::generate::{self, BodyVariant, minimal_body, with};
use crate::kinds::{CatalogueKind, KINDS, kind};
use crate::outcome::CheckStop;
use crate::response::{Representation, TestResponse};
use crate::values::is_unset;

/// The number of bodies that are combined for a create.
const TURNS: usize = 6;
/// The maximum number of repetitions of a create without the rejected fields.
const TRIES: usize = 6;

/// Returns the largest declaration that is consistent with what was read. Bodies are generated from
/// it, and records are found with it.
pub(super) fn assumed(found: &ProbeState) -> Declaration {
    let mut text = found.text.clone();
    for kind in KINDS
        .iter()
        .filter(|kind| found.text.collections.contains_key(kind.many) || kind.under.is_some())
    {
        let collection = text.collections.entry(kind.many.to_owned()).or_default();
        collection.fields = candidate_fields::fields(kind.one, &found.text.dialect);
        collection.operations = ["list", "read", "create", "update", "delete"]
            .map(ToOwned::to_owned)
            .to_vec();
    }
    text
}

/// Creates, changes and deletes one record of each reachable kind, and calls each helper once.
pub(super) async fn write(cx: &CheckContext, found: &mut ProbeState) -> Result<(), CheckStop> {
    let api = cx.api();
    let entry = api.entry().await?;
    let mut made: BTreeMap<&'static str, Representation> = BTreeMap::new();
    for kind in KINDS.iter() {
        let url = match kind.under {
            None => entry.href(kind.many),
            Some(above) => made.get(above).and_then(|above| above.href(kind.many)),
        };
        let Some(url) = url else { continue };
        let person = made
            .get("person")
            .filter(|_| kind.under.is_some())
            .and_then(|person| person.link("self"));
        if let Some(record) = create(&api, *kind, &url, person.as_deref(), found).await? {
            made.insert(kind.one, record);
        }
    }
    values(&api, &made, &entry, found).await?;
    helpers(&api, &made, &entry, found).await?;
    for (one, record) in made.iter().rev() {
        let (Some(kind), Some(own)) = (kind(one), record.link("self")) else {
            continue;
        };
        let answer = api.delete(&own).await?;
        if matches!(answer.status, 200 | 204) {
            reading::offers(found, kind, "delete");
        }
    }
    Ok(())
}

/// Creates a record with as many fields as the server accepts, and records which of them it
/// returns.
async fn create(
    api: &CheckClient<'_>,
    kind: CatalogueKind,
    url: &str,
    person: Option<&str>,
    found: &mut ProbeState,
) -> Result<Option<Representation>, CheckStop> {
    let cx = api.cx;
    let marked = |body: &Value| {
        let body = cx.marked(body);
        person.map_or_else(
            || body.clone(),
            |person| api.linked(&body, "person", person),
        )
    };
    let mut body = with(&full_body(cx, kind.one), &minimal_body(cx, kind.one));
    for _ in 0..TRIES {
        let answer = api.post(url, &marked(&body)).await?;
        if answer.is_created() && answer.json.is_object() {
            reading::offers(found, kind, "create");
            let style = if answer.status == 201 {
                "table"
            } else {
                "examples"
            };
            style.clone_into(&mut found.text.response_style);
            let record = shown(api, kind, &body, &answer, found).await?;
            let least = minimal_body(cx, kind.one);
            let bare = api.post(url, &marked(&least)).await?;
            if bare.is_created() {
                defaults(kind, &least, &bare.json, found);
            } else {
                required(kind, &refused(&bare), found);
            }
            for (name, value) in empty_objects(kind, found) {
                let answer = api
                    .post(url, &marked(&with(&body, &json!({ &name: value }))))
                    .await?;
                if answer.status == 400 {
                    required_inside(kind, &name, &answer, found);
                }
            }
            return Ok(Some(record));
        }
        let refused = refused(&answer);
        let Some(members) = body.as_object_mut().filter(|_| answer.status == 400) else {
            found.notes.push(format!(
                "a create in {} returns {}: not declared",
                kind.many, answer.status
            ));
            return Ok(None);
        };
        for name in refused.iter().filter(|name| members.contains_key(*name)) {
            found.notes.push(format!(
                "{}.{name} was rejected: not declared as writable",
                kind.one
            ));
        }
        let before = members.len();
        members.retain(|name, _| !refused.contains(name));
        if members.len() == before {
            body = minimal_body(cx, kind.one);
        }
    }
    found.notes.push(format!(
        "a create in {} was rejected {TRIES} times: not declared",
        kind.many
    ));
    Ok(None)
}

/// Returns a body with every field of a kind. A variant may contain an empty value, so each field
/// has its first value that is not empty.
fn full_body(cx: &CheckContext, one: &str) -> Value {
    let mut whole = json!({});
    for turn in 0..TURNS {
        let strategy = generate::body(cx.declared(), one, BodyVariant::All(turn), &cx.unique());
        let more = strategy.and_then(|strategy| generate::sample(&strategy, cx.seed(one)));
        fill(&mut whole, &more.unwrap_or_else(|| json!({})));
    }
    whole
}

/// Copies what is not set yet, also in objects and the objects of arrays.
fn fill(into: &mut Value, more: &Value) {
    if is_unset(Some(into)) {
        *into = more.clone();
        return;
    }
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (name, value) in more {
                fill(into.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (Value::Array(into), Value::Array(more)) => {
            for (one, value) in into.iter_mut().zip(more).filter(|(one, _)| one.is_object()) {
                fill(one, value);
            }
        }
        _ => {}
    }
}

/// Records fields that have a value although none was sent.
///
/// Requirements: CAP-08.
fn defaults(kind: CatalogueKind, sent: &Value, got: &Value, found: &mut ProbeState) {
    for (name, field) in &mut reading::declared(found, kind).fields {
        let Some(value) = got
            .get(name)
            .filter(|value| !is_unset(Some(value)) && field.writable)
        else {
            continue;
        };
        if sent.get(name).is_none() && !value.is_object() && !value.is_array() {
            let time = value
                .as_str()
                .filter(|text| crate::values::instant(text).is_some())
                .map(|_| "time of receipt");
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), ToOwned::to_owned);
            field.default = Some(time.map_or(text, ToOwned::to_owned));
        }
    }
}

/// Finds the fields without which nothing is created.
///
/// Requirements: CAP-05.
fn required(kind: CatalogueKind, names: &[String], found: &mut ProbeState) {
    for (name, field) in &mut reading::declared(found, kind).fields {
        field.required = names.contains(name);
    }
}

/// Returns each field that contains objects, with an object without members.
fn empty_objects(kind: CatalogueKind, found: &mut ProbeState) -> Vec<(String, Value)> {
    let fields = &reading::declared(found, kind).fields;
    let nested = fields
        .iter()
        .filter(|(_, field)| field.writable && field.fields.is_some());
    nested
        .map(|(name, field)| {
            (
                name.clone(),
                if field.kind.ends_with("[]") {
                    json!([{}])
                } else {
                    json!({})
                },
            )
        })
        .collect()
}

/// Finds the members that the objects in a field require: those that the error for an empty object
/// names.
///
/// Requirements: CAP-05.
fn required_inside(kind: CatalogueKind, name: &str, answer: &TestResponse, found: &mut ProbeState) {
    let Some(field) = reading::declared(found, kind).fields.get_mut(name) else {
        return;
    };
    for problem in answer.problems() {
        for property in &problem.properties {
            let inner = property
                .strip_prefix(name)
                .and_then(|rest| rest.strip_prefix("[0].").or(rest.strip_prefix('.')));
            if let Some(inner) = inner.and_then(|inner| field.fields.as_mut()?.get_mut(inner)) {
                inner.required = true;
            }
        }
    }
}

/// Returns the top-level names that a response reports as wrong.
fn refused(answer: &TestResponse) -> Vec<String> {
    let problems = answer.problems();
    let names = problems.iter().flat_map(|problem| &problem.properties);
    names
        .filter_map(|name| name.split(['.', '[']).next())
        .map(ToOwned::to_owned)
        .collect()
}

/// Examines a new record: its fields, whether it can be read and changed, and its links.
async fn shown(
    api: &CheckClient<'_>,
    kind: CatalogueKind,
    sent: &Value,
    answer: &TestResponse,
    found: &mut ProbeState,
) -> Result<Representation, CheckStop> {
    let mut record = answer.record();
    if let Some(own) = record.link("self") {
        let again = api.get(&own).await?;
        if again.status == 200 {
            reading::offers(found, kind, "read");
            record = again.record();
        }
        let changed = api.put(&own, &json!({})).await?;
        if changed.status == 200 {
            reading::offers(found, kind, "update");
        }
    }
    let all = candidate_fields::fields(kind.one, &found.text.dialect);
    let fields = candidate_fields::visible_fields(&all, &record.json, Some(sent));
    for (name, field) in &fields {
        let known = fields::find(kind.one, name);
        let differs = known.is_some_and(|known| {
            !generate::same(known, &sent[name.as_str()], record.json.get(name), "")
        });
        if field.writable && differs {
            found.notes.push(format!(
                "{}.{name} was sent but is returned differently; declared as writable",
                kind.one
            ));
        }
    }
    // What was sent and read back is more reliable than what other clients stored there.
    reading::declared(found, kind).fields = fields;
    for name in ["identifiers", "created_date", "modified_date"] {
        let word = format!("without.{name}");
        if record.json.get(name).is_none() && !found.text.behaviours.contains(&word) {
            found.text.behaviours.push(word);
        }
    }
    reading::record(api, kind, &record, found).await?;
    Ok(record)
}

/// Finds out whether wrong types and unlisted values are rejected.
///
/// Requirements: CAP-09.
async fn values(
    api: &CheckClient<'_>,
    made: &BTreeMap<&'static str, Representation>,
    entry: &Representation,
    found: &mut ProbeState,
) -> Result<(), CheckStop> {
    for (word, shape, wrong) in [
        ("validates_types", "string", json!(7)),
        ("validates_enums", "enum", json!("no such value")),
    ] {
        for one in made.keys() {
            let Some(kind) = kind(one) else { continue };
            let Some(url) = entry.href(kind.many) else {
                continue;
            };
            let fields = &reading::declared(found, kind).fields;
            let name = fields
                .iter()
                .find(|(_, field)| field.kind == shape && field.writable)
                .map(|(name, _)| name.clone());
            let Some(name) = name else { continue };
            let body = with(&minimal_body(api.cx, one), &json!({ name: wrong.clone() }));
            let answer = api.post(&url, &api.cx.marked(&body)).await?;
            if answer.status == 400 && !found.text.behaviours.iter().any(|known| known == word) {
                found.text.behaviours.push(word.to_owned());
            }
            break;
        }
    }
    Ok(())
}

/// A helper that can be called.
struct ReachableHelper {
    name: String,
    url: String,
}

/// Calls each helper once with a key and once without. The schedule helper is not called.
async fn helpers(
    api: &CheckClient<'_>,
    made: &BTreeMap<&'static str, Representation>,
    entry: &Representation,
    found: &mut ProbeState,
) -> Result<(), CheckStop> {
    let mut reached = Vec::new();
    let names: Vec<(String, String)> = found
        .text
        .helpers
        .iter()
        .map(|(name, helper)| (name.clone(), helper.relation.clone()))
        .collect();
    for (name, relation) in names {
        let records = std::iter::once(entry).chain(made.values());
        let Some(url) = records
            .into_iter()
            .find_map(|record| record.link(&relation))
        else {
            found.notes.push(format!(
                "the helper {name} is not linked from any record that could be created: not called"
            ));
            continue;
        };
        if name == "schedule" {
            found
                .notes
                .push("the helper schedule was not called: it may send messages".to_owned());
            continue;
        }
        let answer = api.post(&url, &body(api.cx, &name)).await?;
        if !answer.is_success() {
            found.notes.push(format!(
                "the helper {name} returns {}: not declared",
                answer.status
            ));
            found.text.helpers.remove(&name);
            continue;
        }
        let open = api
            .cx
            .anonymous()
            .post(&url, &body(api.cx, &name))
            .await?
            .is_success();
        if let Some(helper) = found.text.helpers.get_mut(&name) {
            helper.anonymous = open;
        }
        reached.push(ReachableHelper { name, url });
    }
    let signup = reached.iter().find(|helper| helper.name == "person_signup");
    let Some(helper) = signup.or_else(|| {
        reached
            .iter()
            .find(|helper| helper.name != "record_canvass")
    }) else {
        return Ok(());
    };
    functions(api, helper, found).await?;
    matching(api, helper, found).await
}

/// Returns the body of a helper with a new person.
fn body(cx: &CheckContext, helper: &str) -> Value {
    let person = cx.marked(&json!({ "given_name": "Probe", "family_name": cx.unique() }));
    match helper {
        "record_canvass" => json!({ "canvass": cx.marked(&json!({})) }),
        "person_signup" => json!({ "person": person }),
        _ => with(&cx.marked(&json!({})), &json!({ "person": person })),
    }
}

/// Finds out which action functions are supported. An unsupported one is rejected as such; for a
/// supported one, the error names the missing record.
///
/// Requirements: ERR-38.
async fn functions(
    api: &CheckClient<'_>,
    helper: &ReachableHelper,
    found: &mut ProbeState,
) -> Result<(), CheckStop> {
    let cx = api.cx;
    let nowhere = format!("{}nowhere-{}", cx.run.target.base(), cx.unique());
    let tries = [
        ("add_tags", json!([cx.unique()])),
        ("add_tags_uri", json!([nowhere])),
        ("add_lists", json!([cx.unique()])),
        ("add_lists_uri", json!([nowhere])),
        (
            "add_questions_responses_uri",
            json!([{"question": nowhere, "responses": ["a1"]}]),
        ),
    ];
    for (function, value) in tries {
        let answer = api
            .post(
                &helper.url,
                &with(&body(cx, &helper.name), &json!({ function: value })),
            )
            .await?;
        let entries = answer.entries();
        let codes = entries
            .iter()
            .filter_map(|entry| entry.get("response_code")?.as_u64());
        let is_unknown = answer.status >= 500 || codes.into_iter().any(|code| code >= 500);
        if answer.status == 400 && !is_unknown {
            found.text.action_functions.push(function.to_owned());
        }
        let sort = answer
            .error()
            .and_then(|error| error.get("request_type")?.as_str());
        if sort == Some("non-atomic")
            && !found
                .text
                .behaviours
                .iter()
                .any(|word| word == "helper.non_atomic")
        {
            found.text.behaviours.push("helper.non_atomic".to_owned());
        }
        if answer.is_success() {
            found.notes.push(format!(
                "{function} with a missing record was accepted without an error: not declared"
            ));
        }
    }
    found
        .notes
        .push("triggers were not called: they may send messages".to_owned());
    Ok(())
}

/// Finds out whether the same e-mail address refers to the same person.
///
/// Requirements: HLP-04.
async fn matching(
    api: &CheckClient<'_>,
    helper: &ReachableHelper,
    found: &mut ProbeState,
) -> Result<(), CheckStop> {
    let email = format!("{}@example.org", api.cx.unique());
    let mut people = Vec::new();
    for _ in 0..2 {
        let mut body = body(api.cx, &helper.name);
        if let Some(person) = body.get_mut("person").and_then(Value::as_object_mut) {
            person.insert("email_addresses".to_owned(), json!([{ "address": email }]));
        }
        let record = api.post(&helper.url, &body).await?.record();
        people.push(if helper.name == "person_signup" {
            record.link("self")
        } else {
            record.href("person")
        });
    }
    if let [Some(one), Some(other)] = &people[..]
        && one == other
    {
        found.text.behaviours.push("helper.match_person".to_owned());
        found.text.person_matching = Some("by e-mail address; found out by trying".to_owned());
    }
    Ok(())
}
