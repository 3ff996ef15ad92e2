//! What may be answered to a question (HAF-09, UND-12).

use super::{Asked, Case, update::list};
use crate::{
    error::Problem,
    helper::Choices,
    json::{Json, Object},
    model::Kind,
    store::Key,
    value::Id,
};

/// The member of an answer that holds the chosen keys.
const RESPONSES: &str = "responses";

impl Case<'_> {
    /// Response keys of an answer that its question does not have, and more of them than it takes.
    ///
    /// Keys that stay as they were are not looked at again: the question may have changed since.
    pub(super) fn wrong_answer(
        &mut self,
        question: &Id,
        before: Option<&Object>,
        after: &Object,
    ) -> Asked<Vec<Problem>> {
        let keys = chosen(after);
        if keys.is_empty() || before.is_some_and(|before| chosen(before) == keys) {
            return Ok(Vec::new());
        }
        // A question that is not there is told by the link.
        let question = self.ledger.record(&Key::Id(Kind::Question, question.clone()))?;
        let Some(question) = question else { return Ok(Vec::new()) };
        Ok(Choices::of(&self.fields(&question.record)?).check(&keys, RESPONSES))
    }
}

fn chosen(answer: &Object) -> Vec<String> {
    list(answer, RESPONSES).iter().filter_map(Json::as_str).map(str::to_owned).collect()
}
