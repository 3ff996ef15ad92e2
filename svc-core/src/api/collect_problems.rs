//! Finds further problems of a body that is already rejected, so that one response has all of them.
//!
//! Requirements: ERR-39.

use super::{Api, Response, response::is_of_target, write::WriteInput};
use crate::{
    context::Context,
    error::{Error, Problem, Result},
    link::RecordAddress,
    model::Kind,
    read::MAX_PROBLEMS,
    rules::problems_of,
    store::{WriteOperation, WriteRequest},
};

impl Api {
    /// Returns 404 if the addressed record or container is missing. Otherwise it returns 400 with
    /// the problems of the body and those that the store finds.
    ///
    /// `work` contains the valid part of the body.
    ///
    /// Requirements: UND-39.
    pub(super) async fn rejection_response(
        &self,
        cx: &Context,
        kind: Kind,
        container: Option<&RecordAddress>,
        work: WriteOperation,
        sent: &WriteInput<'_>,
        mut problems: Vec<Problem>,
    ) -> Result<Response> {
        let told = if problems.len() < MAX_PROBLEMS {
            let (store, call) = (&self.inner.store, WriteRequest::new(cx, work).rejected());
            if cx.in_batch() {
                // It sees the changes of the entries before it. Requirements: BAT-01.
                problems_of(store.write(cx, call).await)?
            } else {
                store.find_problems(cx, call).await?
            }
        } else {
            self.container_exists(cx, container).await?;
            Vec::new()
        };
        // The record is at another address, so the body does not matter.
        if let Some(merged) = told.iter().find(|problem| is_of_target(problem)) {
            return Err(Error::invalid(merged.clone()));
        }
        let is_new = |problem: &Problem| !problems.iter().any(|known| known.explains(problem));
        let told: Vec<Problem> = self
            .as_sent(cx, sent, told)
            .into_iter()
            .filter(is_new)
            .collect();
        problems.extend(told);
        Ok(self.invalid_for(cx, Some(kind), &problems))
    }
}
