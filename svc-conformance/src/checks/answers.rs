//! Answers to questions that a helper records for its person.
//!
//! Requirements: HAF-07 to HAF-10.

use super::functions::{about, any_helper, below, call, note_rest};
use super::helper_calls::new_person;
use super::prelude::*;
use crate::generate::with;

pub(super) const CHECKS: &[Check] = &[
    check!("haf/answers", [HAF_07, HAF_08, HAF_09, HAF_10], answers)
        .needs("haf.add_questions_responses_uri and helper.*.shows_person and questions.create"),
    check!("haf/wrong-answers", [HAF_09], wrong_answers)
        .needs("haf.add_questions_responses_uri and helper.*.shows_person and questions.create"),
    check!("res/how-many-responses", [RES_QUESTION_06], how_many).needs("answers.create"),
];

/// Creates a question of a type. Questions with choices have three.
pub(super) async fn question(
    api: &CheckClient<'_>,
    sort: &str,
) -> Result<Representation, CheckStop> {
    let responses = json!([{"key": "a1", "name": "yes"}, {"key": "b2", "name": "no"}, {"key": "c3", "name": "maybe"}]);
    let fields = match sort {
        "Paragraph" => json!({ "question_type": sort }),
        _ => json!({"question_type": sort, "responses": responses}),
    };
    let kind = crate::kinds::kind("question").ok_or_else(|| none("no questions"))?;
    needs(api.cx, "question", "create")?;
    api.create(kind, &api.cx.marked(&fields)).await
}

/// One answer per element, with questions by URL and by identifier, with keys and free text.
///
/// Requirements: HAF-07 to HAF-10.
async fn answers(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = any_helper(&api).await?;
    let sorts = ["SingleChoice", "MultiChoice", "Paragraph"];
    let mut asked = Vec::new();
    for sort in sorts {
        asked.push(question(&api, sort).await?);
    }
    let [single, multi, text] = asked.as_slice() else {
        return Ok(());
    };
    let by_identifier = |question: &Representation| -> Result<Value, CheckStop> {
        match question.identifiers().first() {
            Some(identifier) => Ok(json!(identifier)),
            None => Ok(json!(question.self_url()?)),
        }
    };
    let elements = json!([
        {"question": single.self_url()?, "responses": ["b2"]},
        {"question": by_identifier(multi)?, "responses": ["a1", "c3"]},
        {"question": text.self_url()?, "value": "In my own words"},
    ]);
    let called = call(
        cx,
        &ready,
        &json!({ "add_questions_responses_uri": elements }),
    )
    .await?;
    holds(
        cx,
        &[ids::HAF_07, ids::HAF_08, ids::HAF_09, ids::HAF_10],
        called.person.is_some(),
        || called.answer.to_string(),
    );
    let Some(person) = called.person else {
        return Err(CheckStop::Failed);
    };
    if cx.declared().lists_below("person", "answers") {
        let found = below(&api, &person, "answers").await?;
        cx.observe(ids::HAF_07, found.len() == 3, || {
            format!("{} answers instead of 3 of {}", found.len(), person.short())
        });
    }
    if !cx.declared().lists_below("question", "answers") {
        return Ok(());
    }
    for (question, row, keys, value) in [
        (single, ids::HAF_08, json!(["b2"]), None),
        (multi, ids::HAF_08, json!(["a1", "c3"]), None),
        (text, ids::HAF_10, json!([]), Some("In my own words")),
    ] {
        let found = below(&api, question, "answers").await?;
        holds(cx, &[row, ids::HAF_07], found.len() == 1, || {
            format!(
                "{} answers instead of 1 of {}",
                found.len(),
                question.short()
            )
        });
        let Some(answer) = found.first() else {
            continue;
        };
        let declared = |name: &str| {
            cx.declared()
                .field("answer", name)
                .is_some_and(|field| field.readable)
        };
        if keys.as_array().is_some_and(|keys| !keys.is_empty()) && declared("responses") {
            cx.observe(ids::HAF_09, answer["responses"] == keys, || {
                format!("the keys {keys} were sent: {}", answer.short())
            });
        }
        if let Some(value) = value.filter(|_| declared("value")) {
            cx.observe(ids::HAF_10, answer["value"] == value, || {
                format!("the text {} was sent: {}", json!(value), answer.short())
            });
        }
        if let Some(right) = about(&api, &found, "answer", "person", &person).await? {
            cx.observe(ids::HAF_07, right, || {
                format!("an answer of another person: {}", answer.short())
            });
        }
    }
    Ok(())
}

/// It is an error to send a key that the question does not have, two keys where one is allowed, or
/// none.
///
/// Requirements: HAF-09.
async fn wrong_answers(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = any_helper(&api).await?;
    for (sort, given) in [
        ("SingleChoice", json!({"responses": ["zz"]})),
        ("SingleChoice", json!({"responses": ["a1", "b2"]})),
        ("SingleChoice", json!({"responses": []})),
        ("MultiChoice", json!({})),
        ("Paragraph", json!({})),
    ] {
        let element = with(
            &given,
            &json!({"question": question(&api, sort).await?.self_url()?}),
        );
        let person = new_person(cx);
        let mut body = ready.body(cx, Some(&person));
        put(&mut body, "add_questions_responses_uri", json!([element]));
        let answer = api.post(&ready.url, &body).await?;
        note_rest(&api, &ready, &answer, &body, &person).await?;
        if sort == "Paragraph" {
            // The specification does not require free text.
            cx.chose(
                "an answer to a Paragraph without text",
                answer.status.to_string(),
            );
        } else {
            cx.observe(ids::HAF_09, answer.is_refused(), || {
                format!("{given} for a {sort} question: {answer}")
            });
        }
    }
    Ok(())
}

/// A single choice requires exactly one response, a multiple choice at least one. Other numbers are
/// rejected.
///
/// Requirements: RES-question-06.
async fn how_many(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    if cx
        .declared()
        .field("answer", "responses")
        .is_none_or(|field| !field.writable)
    {
        return Err(none("answer.responses is not declared writable"));
    }
    let person = api.person().await?.self_url()?;
    for (sort, keys, right) in [
        ("SingleChoice", json!([]), false),
        ("SingleChoice", json!(["a1", "b2"]), false),
        ("MultiChoice", json!([]), false),
        ("MultiChoice", json!(["a1", "b2"]), true),
    ] {
        let asked = question(&api, sort).await?;
        let body = api.linked(&cx.marked(&json!({ "responses": keys })), "person", &person);
        let answer = api.post(&asked.require_link("answers")?, &body).await?;
        let holds = if right {
            answer.is_created()
        } else {
            answer.is_refused()
        };
        cx.observe(ids::RES_QUESTION_06, holds, || {
            format!("{keys} for a {sort} question: {answer}")
        });
    }
    Ok(())
}
