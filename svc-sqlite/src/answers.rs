//! What may be answered to a question, where an answer is recorded by itself (HAF-09, UND-12).

use svc_core::{
    error::Result,
    helper::Choices,
    model::Kind,
    read::{Json, Object},
};

use crate::{record_id::RecordId, rows::by_id, session::Session};

/// The member of an answer that holds the chosen keys.
const RESPONSES: &str = "responses";

impl Session<'_> {
    /// Notes response keys of an answer that its question does not have, and more of them than it takes.
    ///
    /// Keys that stay as they were are not looked at again: the question may have changed since.
    pub(crate) fn settle_answer(&mut self, question: RecordId, before: Option<&Object>, after: &Object) -> Result<()> {
        let chosen = |answer: &Object| -> Vec<String> {
            let keys = answer.get(RESPONSES).and_then(Json::as_array).unwrap_or_default();
            keys.iter().filter_map(Json::as_str).map(str::to_owned).collect()
        };
        let keys = chosen(after);
        if keys.is_empty() || before.is_some_and(|before| chosen(before) == keys) {
            return Ok(());
        }
        // A question that is not there is told by the link.
        let Some(question) = by_id(self.file, self.tenant, Kind::Question, question)? else { return Ok(()) };
        for problem in Choices::of(&question.fields(self.names())?).check(&keys, RESPONSES) {
            self.problem(problem);
        }
        Ok(())
    }
}
