//! Executes merges of people: the library decides about the fields, and the backend stores them.
//!
//! Requirements: MRG-02 to MRG-05, MRG-08, MRG-14, MRG-16, MRG-19.

use std::borrow::Cow;

use super::{OperationStore, erased::with_operation};
use crate::{
    api::registration::KindBackend,
    backend::{MergePeople, PeopleMerge},
    context::Context,
    draft::RawPatch,
    error::{Error, ErrorCode, Problem, Result},
    link::{RecordAddress, ShareNames},
    model::Kind,
    record::RawRecord,
    rules::{MergePlan, other_people, with_merged_identifiers},
    store::{MergeOutcome, MergeRequest, Store, WriteRequest},
};

/// How often the people are read again after a concurrent change.
const CONFLICTS: usize = 8;

/// The two people of a merge, and what it makes of them.
struct PlannedMerge {
    remaining: RawRecord,
    merged: RawRecord,
    plan: MergePlan,
}

impl OperationStore {
    fn merges_in_backend(&self) -> Option<&dyn MergePeople> {
        match self.backend(Kind::Person) {
            KindBackend::Operations(operations) => operations.merge.as_deref(),
            KindBackend::Store(_) => None,
        }
    }

    /// Merges two people. A preview needs a transaction, which the caller rolls back.
    pub(super) async fn merge(
        &self,
        cx: &Context,
        call: &WriteRequest,
        request: &MergeRequest,
    ) -> Result<MergeOutcome> {
        let Some(backend) = self.merges_in_backend() else {
            return Err(Error::not_implemented());
        };
        if request.is_preview && self.transactions.is_none() {
            return Err(Error::invalid(no_preview()));
        }
        let mut conflicts = 0;
        loop {
            let planned = self.planned_merge(cx, call, request).await?;
            let PlannedMerge {
                remaining,
                merged,
                plan,
            } = planned;
            let work = PeopleMerge::new(&remaining, &merged, &plan);
            let done = backend.merge(cx, work).await;
            let done = done.map_err(with_operation(Kind::Person, "merge"));
            match done.map_err(|error| self.errors.map(error)) {
                Err(error) if error.is_conflict() && conflicts < CONFLICTS => conflicts += 1,
                done => {
                    let done = done?;
                    let mut outcome = MergeOutcome::new(done.person.into_raw(), merged.address());
                    outcome.is_preview = request.is_preview;
                    outcome.moved = done.moved;
                    outcome.folded = done.folded;
                    outcome.overruled = plan.overruled;
                    outcome.tightened = plan.tightened;
                    return Ok(outcome);
                }
            }
        }
    }

    /// Checks a merge, and determines what it makes of the two people.
    async fn planned_merge(
        &self,
        cx: &Context,
        call: &WriteRequest,
        request: &MergeRequest,
    ) -> Result<PlannedMerge> {
        let remaining = self.get(cx, &request.remaining).await?;
        let remaining = remaining.ok_or_else(Error::not_found)?;
        request.check_two_people(&remaining)?;
        let merged = self.get(cx, &request.merged).await?.ok_or_else(|| {
            let problem = Problem::link_not_found(Kind::Person, MergeRequest::LINK);
            Error::invalid(problem)
        })?;
        request.check_merged(&merged)?;
        if let Some(condition) = &call.precondition {
            condition.check(&remaining)?;
        }
        let names = ShareNames::default();
        let fields = [&remaining, &merged].map(|person| person.to_fields(&names));
        let [before, lost] = fields;
        let (before, lost) = (before?, lost?);
        let plan = MergePlan::new(call, request, (&remaining, &before), (&merged, &lost));
        if !plan.problems.is_empty() {
            return Err(Error::invalid_all(plan.problems));
        }
        Ok(PlannedMerge {
            remaining,
            merged,
            plan,
        })
    }

    /// Returns the problems of a merge that is already rejected.
    pub(super) async fn merge_problems(
        &self,
        cx: &Context,
        call: &WriteRequest,
        request: &MergeRequest,
    ) -> Result<Vec<Problem>> {
        if self.merges_in_backend().is_none() {
            return Ok(Vec::new());
        }
        crate::rules::problems_of(self.planned_merge(cx, call, request).await)
    }

    /// Returns a change of a person in which the own identifiers of merged people remain.
    ///
    /// Requirements: MRG-08.
    pub(super) async fn with_merged_people(
        &self,
        cx: &Context,
        call: &WriteRequest,
        at: &RecordAddress,
        patch: RawPatch,
    ) -> Result<RawPatch> {
        let Some(sent) = &patch.identifiers else {
            return Ok(patch);
        };
        if at.kind != Kind::Person || self.merges_in_backend().is_none() {
            return Ok(patch);
        }
        let Some(person) = self.get(cx, at).await? else {
            return Ok(patch);
        };
        let namespace = &*call.namespace;
        let problems = other_people(namespace, &patch.own, sent.len(), &[&person]);
        if !problems.is_empty() {
            return Err(Error::invalid_all(problems));
        }
        Ok(match with_merged_identifiers(namespace, &person, &patch) {
            Cow::Owned(patch) => patch,
            Cow::Borrowed(_) => patch,
        })
    }
}

/// Returns the problem of a preview that the backend cannot execute.
fn no_preview() -> Problem {
    let text = "{property} must not be true. This server cannot preview merges.";
    Problem::new(ErrorCode::FieldInvalid, "preview", text)
}
