//! What may be answered to a question, and the answer that a response asks for (HAF-07 to HAF-10).

use std::collections::BTreeSet;

use super::ResponseInput;
use crate::{
    draft::RawDraft,
    error::{Code, Problem},
    json::{Json, Object},
    model::Kind,
};

/// The answer that a response asks for, without its links.
#[must_use]
pub(crate) fn answer_draft(response: &ResponseInput) -> RawDraft {
    let mut draft = RawDraft::empty(Kind::Answer);
    if let Some(value) = &response.value {
        draft.fields.insert("value", Json::from(value.as_str()));
    }
    if !response.responses.is_empty() {
        let keys = response.responses.iter().map(|key| Json::from(key.as_str())).collect();
        draft.fields.insert("responses", Json::Array(keys));
    }
    draft
}

/// What may be answered to a question (HAF-09); found out once for however many answers.
#[derive(Debug, Clone)]
pub(crate) struct Choices {
    keys: BTreeSet<String>,
    is_single: bool,
}

impl Choices {
    /// Those of a question with these fields.
    #[must_use]
    pub(crate) fn of(question: &Object) -> Self {
        let options = question.get("responses").and_then(Json::as_array).unwrap_or_default();
        let keys = options.iter().filter_map(Json::as_object).filter_map(|option| option.get("key")?.as_str());
        let is_single = question.get("question_type").and_then(Json::as_str) == Some("SingleChoice");
        Self { keys: keys.map(str::to_owned).collect(), is_single }
    }

    /// What is wrong with response keys that stand at `property` of a body (HAF-09): one that the question does not have,
    /// or more than one where one is taken.
    #[must_use]
    pub(crate) fn check(&self, keys: &[String], property: &str) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (place, key) in keys.iter().enumerate() {
            if !self.keys.contains(key) {
                let property = format!("{property}[{place}]");
                let code = Code::ResponseKeyDoesNotExist;
                problems.push(Problem::new(code, property, code.meaning()));
            }
        }
        if self.is_single && keys.len() > 1 {
            let code = Code::TooManyResponses;
            problems.push(Problem::new(code, property, code.meaning()));
        }
        problems
    }
}
