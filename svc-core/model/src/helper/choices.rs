//! What may be answered to a question, and the answer that a response asks for.
//!
//! Requirements: HAF-07 to HAF-10.

use std::collections::BTreeSet;

use super::AnswerInput;
use crate::{
    draft::RawDraft,
    error::{ErrorCode, Problem, PropertyPath},
    json::{Json, Object},
    model::{Kind, question::QuestionType},
    value::ClosedEnum,
};

/// The answer that a response asks for, without its links.
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

/// What may be answered to a question; found out once for however many answers.
///
/// Requirements: HAF-09.
#[derive(Debug, Clone)]
pub struct AllowedAnswers {
    keys: BTreeSet<String>,
    /// `None` for a question of a type that is not known.
    question_type: Option<QuestionType>,
}

impl AllowedAnswers {
    /// Those of a question with these fields.
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

    /// What is wrong with the response keys of an answer that stands at `place` of a body: one that
    /// the question does not have, more than one where one is taken, none where one is needed.
    ///
    /// Requirements: HAF-09.
    #[must_use]
    pub fn wrong_keys(&self, keys: &[String], place: &PropertyPath) -> Vec<Problem> {
        let mut problems = Vec::new();
        let responses = || place.clone().then("responses");
        for (at, key) in keys.iter().enumerate() {
            if !self.keys.contains(key) {
                let code = ErrorCode::ResponseKeyDoesNotExist;
                problems.push(Problem::new(code, responses().element(at), code.meaning()));
            }
        }
        match self.question_type {
            Some(QuestionType::Singlechoice) if keys.len() > 1 => {
                let code = ErrorCode::TooManyResponses;
                problems.push(Problem::new(code, responses(), code.meaning()));
            }
            Some(QuestionType::Singlechoice | QuestionType::Multichoice) if keys.is_empty() => {
                let text = "{property} is required: an answer to this question names one of its responses.";
                problems.push(Problem::new(ErrorCode::FieldRequired, responses(), text));
            }
            _ => {}
        }
        problems
    }

    /// What is wrong with the text of an answer that stands at `place` of a body: none where it is
    /// the answer.
    ///
    /// Requirements: HAF-10.
    #[must_use]
    pub fn wrong_value(&self, value: Option<&str>, place: &PropertyPath) -> Option<Problem> {
        let is_missing = value.is_none_or(|value| value.trim().is_empty());
        let text = "{property} is required: it is the answer to a Paragraph question.";
        (is_missing && self.question_type == Some(QuestionType::Paragraph))
            .then(|| Problem::new(ErrorCode::FieldRequired, place.clone().then("value"), text))
    }
}
