//! Checks whether an answer fits its question.
//!
//! Requirements: HAF-09, UND-12.

use super::{RuleContext, RuleResult, lists::list};
use crate::{
    error::{Problem, PropertyPath},
    helper::AllowedAnswers,
    json::{Json, Object},
    model::Kind,
    store::LookupKey,
    value::Id,
};

impl RuleContext<'_> {
    /// Returns the problems of an answer: what its question does not allow, and what is missing.
    ///
    /// Unchanged values are not checked again, because the question may have changed since.
    pub(super) fn wrong_answer(
        &mut self,
        question: &Id,
        before: Option<&Object>,
        after: &Object,
    ) -> RuleResult<Vec<Problem>> {
        let (keys, value) = (keys_of(after), value_of(after));
        let has_keys = before.is_none_or(|before| keys_of(before) != keys);
        let has_value = before.is_none_or(|before| value_of(before) != value);
        if !has_keys && !has_value {
            return Ok(Vec::new());
        }
        // The link check reports a question that does not exist.
        let question = self
            .ledger
            .record(&LookupKey::Id(Kind::Question, question.clone()))?;
        let Some(question) = question else {
            return Ok(Vec::new());
        };
        let choices = AllowedAnswers::of(&self.fields(&question.record)?);
        let mut problems = if has_keys {
            choices.wrong_keys(&keys, &PropertyPath::default())
        } else {
            Vec::new()
        };
        problems.extend(
            choices
                .wrong_value(value, &PropertyPath::default())
                .filter(|_| has_value),
        );
        Ok(problems)
    }
}

fn keys_of(answer: &Object) -> Vec<String> {
    list(answer, "responses")
        .iter()
        .filter_map(Json::as_str)
        .map(str::to_owned)
        .collect()
}

fn value_of(answer: &Object) -> Option<&str> {
    answer.get("value").and_then(Json::as_str)
}
