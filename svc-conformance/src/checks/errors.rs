//! Status codes and error codes.
//!
//! Requirements: CAP-07, ERR-07, ERR-10 to ERR-17, ERR-29 to ERR-40, LIM-06.

use super::functions::any_helper;
use super::helper_calls::PreparedHelper;
use super::prelude::*;
use super::record_comparison;
use crate::address;
use crate::client::PageWalkEnd;
use crate::generate::minimal_body;
use crate::response::descriptions;
use crate::values::first;

pub(super) const CHECKS: &[Check] = &[
    check!("err/unsupported", [ERR_07, CAP_07], unsupported).needs("unsupported.operation"),
    check!("err/gone", [ERR_10, ERR_11, ERR_16, ERR_17], gone).needs("*.delete"),
    check!("err/missing-address", [ERR_11], missing_address)
        .needs("fixture.missing_address")
        .only_reads(),
    check!("err/paragraph", [ERR_35], paragraph).needs("questions.create"),
    check!("err/response-names", [ERR_36], response_names)
        .needs("questions.create and rule.response_name"),
    check!("err/response-keys", [ERR_40, LIM_06], response_keys).needs("questions.create"),
    check!(
        "err/partial",
        [ERR_29, ERR_30, ERR_31, ERR_32, ERR_33, ERR_37],
        partial
    )
    .needs("helper.non_atomic and haf.add_tags and helper.*.with_person"),
    check!("err/atomic-helper", [ERR_34, ERR_37], atomic)
        .needs("helper.*.with_person and haf.add_tags and not helper.non_atomic"),
    check!("err/unsupported-function", [ERR_38], unsupported_function)
        .needs("helper.*.with_person and unsupported.haf"),
];

/// What is declared as unsupported is rejected with 500 and a code. Only records of this run are
/// used.
async fn unsupported(cx: &CheckContext) -> Result<(), CheckStop> {
    let (api, declared) = (cx.api(), cx.declared());
    let entry = api.entry().await?;
    let (mut each, mut is_seen) = (SubjectLoop::default(), false);
    for (of, operation) in declared.unsupported() {
        let sent = match (operation, entry.href(of.many)) {
            ("create", Some(url)) => Ok(Some(
                api.post(&url, &cx.marked(&minimal_body(cx, of.one)))
                    .await?,
            )),
            ("create", None) => Ok(None),
            _ => on_record(cx, &api, of, operation).await,
        };
        let answer = match sent {
            Ok(Some(answer)) => answer,
            Ok(None) => continue,
            Err(stop) => {
                each.took(Err(stop))?;
                continue;
            }
        };
        is_seen = true;
        let coded = answer
            .problems()
            .iter()
            .any(|problem| !problem.code.is_empty());
        if answer.is_success() {
            cx.prefers(ids::CAP_07, false, || {
                format!("{} {operation} is not declared: {answer}", of.one)
            });
            continue;
        }
        holds(
            cx,
            &[ids::ERR_07, ids::CAP_07],
            answer.status == 500 && coded,
            || format!("{} {operation} is not declared: {answer}", of.one),
        );
    }
    if is_seen {
        return Ok(());
    }
    each.end()?;
    Err(none("no URL of an unsupported feature is known"))
}

/// An operation that is not declared, on a record that this run created.
async fn on_record(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    of: CatalogueKind,
    operation: &str,
) -> Result<Option<TestResponse>, CheckStop> {
    let record = api.make(of.one, &json!({})).await?;
    let Some(own) = record.link("self") else {
        return Ok(None);
    };
    let answer = match operation {
        "read" => api.get(&own).await?,
        "update" => {
            api.put(&own, &json!({ "origin_system": cx.unique() }))
                .await?
        }
        _ => api.delete(&own).await?,
    };
    Ok(Some(answer))
}

/// A deleted record is not found, neither by a read nor by a second delete.
async fn gone(cx: &CheckContext) -> Result<(), CheckStop> {
    let (api, declared) = (cx.api(), cx.declared());
    let mut looked = false;
    for of in declared
        .kinds()
        .filter(|kind| declared.offers(kind.one, "create") && declared.offers(kind.one, "delete"))
    {
        if of.under.is_some_and(|under| {
            !record_comparison::can_make(cx, under) || !record_comparison::can_make(cx, "person")
        }) {
            continue;
        }
        looked = true;
        let record = api.make(of.one, &json!({})).await?;
        let own = record.self_url()?;
        if declared.offers(of.one, "read") {
            let answer = api.get(&own).await?;
            cx.observe(
                ids::ERR_10,
                answer.status == 200 && is_one(&answer.record(), &record),
                || answer.to_string(),
            );
        }
        api.remove(&record).await?;
        if declared.offers(of.one, "read") {
            not_found(cx, &api.get(&own).await?);
        }
        let again = api.delete(&own).await?;
        let said = again.status == 404 && !again.problems().is_empty();
        cx.observe(ids::ERR_16, said, || {
            format!("the second delete of a {}: {again}", of.one)
        });
    }
    if looked {
        Ok(())
    } else {
        Err(none("no record can be created and deleted"))
    }
}

/// Checks for 404 without a body. An error body is a deviation.
fn not_found(cx: &CheckContext, answer: &TestResponse) {
    let formed = answer.body.is_empty() || !answer.problems().is_empty();
    if cx.observe(ids::ERR_11, answer.status == 404 && formed, || {
        format!("of a record that does not exist: {answer}")
    }) {
        cx.prefers(ids::ERR_11, answer.body.is_empty(), || {
            format!("a 404 of a read has a body: {answer}")
        });
    }
}

async fn missing_address(cx: &CheckContext) -> Result<(), CheckStop> {
    let missing = cx.declared().text.missing_address.as_ref();
    let url = missing.and_then(|missing| address::resolve(cx.run.target.base(), missing));
    let url = url.ok_or_else(|| none("the declared missing address is not a valid URL"))?;
    not_found(cx, &cx.api().get(&url).await?);
    Ok(())
}

/// A question whose type has no choices contains no responses.
async fn paragraph(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let url = api.collection("questions").await?;
    let body = cx.marked(
        &json!({"question_type": "Paragraph", "responses": [{"key": "a1", "name": "yes"}]}),
    );
    let answer = api.post(&url, &body).await?;
    let code = "PARAGRAPH_CANNOT_HAVE_RESPONSES";
    let both = |answer: &TestResponse| {
        answer.refuses(code, "question_type") && answer.refuses(code, "responses")
    };
    cx.observe(ids::ERR_35, both(&answer), || answer.to_string());
    if !cx.declared().offers("question", "update") {
        return Ok(());
    }
    let text = api
        .make("question", &json!({"question_type": "Paragraph"}))
        .await?;
    let body = json!({"question_type": "Paragraph", "responses": [{"key": "a1", "name": "yes"}]});
    let answer = api.put(&text.self_url()?, &body).await?;
    cx.observe(ids::ERR_35, both(&answer), || answer.to_string());
    Ok(())
}

/// An invalid name is reported with its position, anywhere in the array.
async fn response_names(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let url = api.collection("questions").await?;
    for (place, bad) in [
        (0_usize, "not allowed!"),
        (1, "trailing "),
        (10, "gr\u{f6}\u{df}e"),
    ] {
        let name = |at: usize| if at == place { bad } else { "allowed" };
        let list: Vec<Value> = (0..11)
            .map(|at| json!({"key": format!("k{at}"), "name": name(at)}))
            .collect();
        let answer = api
            .post(
                &url,
                &cx.marked(&json!({"question_type": "MultiChoice", "responses": list})),
            )
            .await?;
        let property = format!("responses[{place}].name");
        let right = answer.refuses("RESPONSE_NAME_INVALID", &property);
        if cx.observe(ids::ERR_36, right, || {
            format!("without {property}: {answer}")
        }) {
            let hinted = answer
                .problems()
                .iter()
                .any(|problem| problem.hint.is_some());
            cx.prefers(ids::ERR_36, hinted, || {
                format!("the error has no hint: {answer}")
            });
        }
    }
    if !cx.declared().offers("question", "update") {
        return Ok(());
    }
    let made = api.make("question", &json!({})).await?;
    let list = json!([{"key": "a1", "name": "allowed"}, {"key": "b2", "name": "not allowed!"}]);
    let answer = api
        .put(&made.self_url()?, &json!({ "responses": list }))
        .await?;
    let right = answer.refuses("RESPONSE_NAME_INVALID", "responses[1].name");
    cx.observe(ids::ERR_36, right, || {
        format!("an update without responses[1].name: {answer}")
    });
    Ok(())
}

/// Keys of responses are unique within their question.
async fn response_keys(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let url = api.collection("questions").await?;
    let list = json!([{"key": "a1", "name": "one"}, {"key": "b2", "name": "two"}, {"key": "a1", "name": "three"}]);
    let mut answers = vec![
        api.post(
            &url,
            &cx.marked(&json!({"question_type": "MultiChoice", "responses": list})),
        )
        .await?,
    ];
    if cx.declared().offers("question", "update") {
        let made = api.make("question", &json!({})).await?;
        answers.push(
            api.put(&made.self_url()?, &json!({ "responses": list }))
                .await?,
        );
    }
    for answer in answers {
        let problems = answer.problems();
        let named = problems
            .iter()
            .flat_map(|problem| &problem.properties)
            .any(|name| name.starts_with("responses"));
        holds(
            cx,
            &[ids::ERR_40, ids::LIM_06],
            answer.status == 400 && named,
            || format!("two responses with one key: {answer}"),
        );
    }
    Ok(())
}

/// Two responses with one key are rejected.
///
/// Requirements: RES-question-08.
pub(super) async fn keys(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let url = api.collection("questions").await?;
    let ask = |keys: [&str; 2]| {
        let responses: Vec<Value> = keys
            .iter()
            .map(|key| json!({"key": key, "name": "yes"}))
            .collect();
        cx.marked(&json!({"question_type": "MultiChoice", "responses": responses}))
    };
    let answer = api.post(&url, &ask(["a1", "a1"])).await?;
    cx.observe(ids::RES_QUESTION_08, answer.status == 400, || {
        format!("two responses have the key a1: {answer}")
    });
    for key in ["a-1", "", "a1 "] {
        let answer: TestResponse = api.post(&url, &ask([key, "b2"])).await?;
        if answer.is_created() {
            let got = first(&answer.json, "responses[].key").and_then(Value::as_str);
            let right =
                got.is_none_or(|got| !got.is_empty() && got.chars().all(char::is_alphanumeric));
            cx.observe(ids::RES_QUESTION_08, right, || {
                format!("the key {} is not alphanumeric: {answer}", json!(got))
            });
        }
    }
    Ok(())
}

/// Calls a helper with a new person and one action function, and returns the marker of the person.
async fn call(
    api: &CheckClient<'_>,
    ready: &PreparedHelper,
    function: &str,
    value: Value,
) -> Result<(TestResponse, String), CheckStop> {
    let person = api.cx.marked(&json!({}));
    let marker = person
        .pointer("/identifiers/0")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let answer = api
        .post(
            &ready.url,
            &api.cx.marked(&json!({"person": person, function: value})),
        )
        .await?;
    Ok((answer, marker))
}

/// Returns the person with a marker, if all people can be read.
async fn find(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    marker: &str,
) -> Result<Option<Option<Representation>>, CheckStop> {
    if marker.is_empty() || !cx.declared().offers("person", "list") {
        return Ok(None);
    }
    let mut found = None;
    let people = api.collection("people").await?;
    let walked = api.walk(&people, |page| {
        found = page
            .embedded()
            .into_iter()
            .find(|member| member.carries(marker));
        found.is_none()
    });
    Ok(matches!(walked.await?, PageWalkEnd::Done).then_some(found))
}

/// Only the tag that does not exist fails: the person exists, and the response lists both outcomes.
async fn partial(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = any_helper(&api).await?;
    let (answer, marker) = call(&api, &ready, "add_tags", json!([cx.unique()])).await?;
    let error = answer.error().cloned().unwrap_or_default();
    let is = |name: &str, value: Value| error.get(name) == Some(&value);
    let right = answer.status == 400
        && is("request_type", "non-atomic".into())
        && is("response_code", 400.into());
    cx.observe(ids::ERR_30, right, || answer.to_string());
    let has = |name: &str, codes: &[u64]| {
        let rel = cx.declared().rel(name);
        let mut entries = answer
            .entries()
            .iter()
            .filter(|entry| entry["resource"] == rel.as_str());
        entries.any(|entry| {
            entry["response_code"]
                .as_u64()
                .is_some_and(|code| codes.contains(&code))
        })
    };
    cx.observe(
        ids::ERR_31,
        has("person", &[200, 201]) && has("tagging", &[400]),
        || answer.to_string(),
    );
    let refused = answer
        .entries()
        .iter()
        .filter(|entry| entry["response_code"] == 400);
    let spelt: Vec<&Value> = refused.flat_map(descriptions).collect();
    cx.observe(ids::ERR_33, !spelt.is_empty(), || {
        format!("a failed entry has no descriptions: {answer}")
    });
    let named = answer.refuses("TAG_NAME_DOES_NOT_EXIST", "add_tags");
    cx.observe(ids::ERR_37, named, || answer.to_string());
    let rel = cx.declared().rel("person");
    if let Some(beside) = answer
        .json
        .get(rel.as_str())
        .filter(|beside| beside.is_object())
    {
        let beside = answer.document.beside(beside.clone());
        if cx.declared().offers("person", "read") && beside.link("self").is_some() {
            let read = api.get(&beside.self_url()?).await?;
            let right = read.status == 200 && is_one(&read.record(), &beside);
            cx.observe(ids::ERR_32, right, || {
                format!("`self` of the person next to the error: {read}")
            });
            cx.observe(ids::ERR_29, right, || {
                format!("the person does not exist: {read}")
            });
            return Ok(());
        }
    }
    if let Some(found) = find(cx, &api, &marker).await? {
        cx.observe(ids::ERR_29, found.is_some(), || {
            format!("the person does not exist after {answer}")
        });
    }
    Ok(())
}

/// A failed atomic request has no effect.
async fn atomic(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = any_helper(&api).await?;
    let (answer, marker) = call(&api, &ready, "add_tags", json!([cx.unique()])).await?;
    let right = answer.status == 400
        && answer
            .error()
            .is_some_and(|error| error["request_type"] == "atomic");
    cx.observe(ids::ERR_34, right, || answer.to_string());
    let named = answer.refuses("TAG_NAME_DOES_NOT_EXIST", "add_tags");
    cx.observe(ids::ERR_37, named, || answer.to_string());
    if let Some(found) = find(cx, &api, &marker).await? {
        cx.observe(ids::ERR_34, found.is_none(), || {
            format!("a person was created in spite of {answer}")
        });
    }
    Ok(())
}

/// An action function that is not declared fails for its entry.
async fn unsupported_function(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = any_helper(&api).await?;
    let base = cx.run.target.base();
    for (function, value) in [
        ("add_tags", json!([cx.unique()])),
        ("add_tags_uri", json!([base])),
        ("add_lists", json!([cx.unique()])),
        ("add_lists_uri", json!([base])),
        (
            "add_questions_responses_uri",
            json!([{"question": base, "responses": ["a1"]}]),
        ),
    ] {
        if cx.declared().acts(function) {
            continue;
        }
        let (answer, _) = call(&api, &ready, function, value).await?;
        let says = |entry: &Value| {
            let code = |one: &Value| {
                one.get("error_code").or_else(|| one.get("code")) == Some(&json!("NOT_SUPPORTED"))
            };
            entry["response_code"] == 500 && descriptions(entry).iter().any(code)
        };
        cx.observe(ids::ERR_38, answer.entries().iter().any(says), || {
            format!("{function} is not declared: {answer}")
        });
    }
    Ok(())
}
