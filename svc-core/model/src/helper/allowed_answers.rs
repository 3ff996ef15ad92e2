//! The allowed answers to a question, and the answer that a response requests.
//!
//! Requirements: HAF-07 to HAF-10.

use std::collections::BTreeSet;

use super::AnswerInput;
use crate::{
    draft::RawDraft,
    error::{ErrorCode, Problem, PropertyPath, quoted},
    json::{Json, Object},
    model::{Kind, question::QuestionType},
    value::ClosedEnum,
};

/// Returns the draft of the answer that a response requests, without its links.
#[must_use]
pub fn answer_draft(response: &AnswerInput) -> RawDraft {
    let mut draft = RawDraft::empty(Kind::Answer);
    if let Some(value) = &response.value {
        draft.fields.insert("value", Json::from(value.as_str()));
    }
    if !response.responses.is_empty() {
        let keys = response
            .responses
            .iter()
            .map(|key| Json::from(key.as_str()))
            .collect();
        draft.fields.insert("responses", Json::Array(keys));
    }
    draft
}

/// The allowed answers to a question, computed once for any number of answers.
///
/// Requirements: HAF-09.
#[derive(Debug, Clone)]
pub struct AllowedAnswers {
    keys: BTreeSet<String>,
    /// `None` for a question of unknown type.
    question_type: Option<QuestionType>,
}

impl AllowedAnswers {
    /// Returns the allowed answers to a question with these fields.
    #[must_use]
    pub fn of(question: &Object) -> Self {
        let options = question
            .get("responses")
            .and_then(Json::as_array)
            .unwrap_or_default();
        let keys = options
            .iter()
            .filter_map(Json::as_object)
            .filter_map(|option| option.get("key")?.as_str());
        let question_type = question
            .get("question_type")
            .and_then(Json::as_str)
            .and_then(QuestionType::parse);
        Self {
            keys: keys.map(str::to_owned).collect(),
            question_type,
        }
    }

    /// Returns the problems of the response keys of an answer at `place` of a body.
    ///
    /// A key that the question does not have is a problem. So is more than one key if only one is
    /// allowed, and no key if one is required.
    ///
    /// Requirements: HAF-09.
    #[must_use]
    pub fn wrong_keys(&self, keys: &[String], place: &PropertyPath) -> Vec<Problem> {
        let mut problems = Vec::new();
        let responses = || place.clone().push_member("responses");
        for (at, key) in keys.iter().enumerate() {
            if !self.keys.contains(key) {
                let text = format!("The question has no response with the key {}.", quoted(key));
                problems.push(Problem::new(
                    ErrorCode::ResponseKeyDoesNotExist,
                    responses().push_index(at),
                    text,
                ));
            }
        }
        match self.question_type {
            Some(QuestionType::Singlechoice) if keys.len() > 1 => {
                let text = format!(
                    "{{property}} contains {} keys, but a `SingleChoice` question accepts one.",
                    keys.len()
                );
                problems.push(Problem::new(ErrorCode::TooManyResponses, responses(), text));
            }
            Some(QuestionType::Singlechoice | QuestionType::Multichoice) if keys.is_empty() => {
                let text = "{property} is required: an answer to this question must contain a key of its responses.";
                problems.push(Problem::new(ErrorCode::FieldRequired, responses(), text));
            }
            _ => {}
        }
        problems
    }

    /// Returns the problem of the text of an answer at `place` of a body, if the text is required
    /// and missing.
    ///
    /// Requirements: HAF-10.
    #[must_use]
    pub fn wrong_value(&self, value: Option<&str>, place: &PropertyPath) -> Option<Problem> {
        let is_missing = value.is_none_or(|value| value.trim().is_empty());
        let text = "{property} is required: it contains the answer to a Paragraph question.";
        (is_missing && self.question_type == Some(QuestionType::Paragraph)).then(|| {
            Problem::new(
                ErrorCode::FieldRequired,
                place.clone().push_member("value"),
                text,
            )
        })
    }
}
