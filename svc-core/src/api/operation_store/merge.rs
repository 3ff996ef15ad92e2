//! Executes merges of people: the library decides about the fields, and the backend stores them.
//!
//! Requirements: MRG-02 to MRG-05, MRG-08, MRG-14 to MRG-16, MRG-19.

use super::{OperationStore, erased::with_operation, transaction::is_past_deadline};
use crate::{
    api::registration::KindBackend,
    backend::{MergePeople, PeopleMerge},
    context::Context,
    draft::{RawDraft, RawPatch},
    error::{Error, ErrorCode, PathSegment, Problem, PropertyPath, Result},
    link::{RecordAddress, ShareNames},
    model::Kind,
    record::RawRecord,
    rules::{MergePlan, other_people, with_merged_identifiers},
    store::{MergeOutcome, MergeRequest, Store, WriteRequest},
    value::Identifier,
};

/// How often the people are read again after a concurrent change.
const CONFLICTS: usize = 8;

/// The person that remains, and the other one with what the merge makes of them. There is no other one if
/// it was already merged into the remaining person.
struct PlannedMerge {
    remaining: RawRecord,
    merged: Option<(RawRecord, MergePlan)>,
}

impl OperationStore {
    fn merges_in_backend(&self) -> Option<&dyn MergePeople> {
        match self.backend(Kind::Person) {
            KindBackend::Operations(operations) => operations.merge.as_deref(),
            KindBackend::Store(_) => None,
        }
    }

    /// Merges two people. A preview needs a transaction, which the caller rolls back. A conflict in a
    /// transaction is an error after which the caller begins another one.
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
            let PlannedMerge { remaining, merged } = self.planned_merge(cx, call, request).await?;
            let Some((merged, plan)) = merged else {
                let mut outcome = MergeOutcome::new(remaining, request.merged.clone());
                outcome.is_preview = request.is_preview;
                outcome.is_repeated = true;
                return Ok(outcome);
            };
            let work = PeopleMerge::new(&remaining, &merged, &plan);
            let done = backend.merge(cx, work).await;
            let done = done.map_err(with_operation(Kind::Person, "merge"));
            match done.map_err(|error| self.errors.map(error)) {
                // The transaction can already have changes, and its reads can be outdated.
                Err(error) if error.is_conflict() && self.transactions.is_some() => {
                    return Err(Error::rolled_back().with_source(error));
                }
                Err(error)
                    if error.is_conflict() && conflicts < CONFLICTS && !is_past_deadline(cx) =>
                {
                    conflicts += 1;
                }
                Err(error) => return Err(as_sent(error, request)),
                Ok(done) => {
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
        let merged = match self.get(cx, &request.merged).await {
            Err(error) if error.is_not_found() => None,
            found => found?,
        };
        let Some(merged) = merged else {
            let into = self.remaining_person(cx, &request.merged.id).await?;
            let into = into.ok_or_else(|| {
                let problem = Problem::link_not_found(Kind::Person, MergeRequest::LINK);
                Error::invalid(problem)
            })?;
            if into == remaining.meta().id {
                return Ok(PlannedMerge {
                    remaining,
                    merged: None,
                });
            }
            let into = RecordAddress::without_parent(Kind::Person, into);
            return Err(MergeRequest::merged_elsewhere(into));
        };
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
            merged: Some((merged, plan)),
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
        namespace: &str,
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
        let problems = other_people(namespace, &patch.own, sent.len(), &[&person]);
        if !problems.is_empty() {
            return Err(Error::invalid_all(problems));
        }
        let mut patch = with_merged_identifiers(namespace, &person, &patch).into_owned();
        if self.transactions.is_none() {
            // A concurrent merge can add identifiers.
            let state = person.meta().state();
            patch.if_match.get_or_insert(state);
        }
        Ok(patch)
    }

    /// Checks that the further own identifiers of the person of a helper request are those of people who
    /// were merged into it.
    ///
    /// Requirements: UND-24.
    pub(super) async fn check_further_own(
        &self,
        cx: &Context,
        namespace: &str,
        posted: Option<&RawDraft>,
    ) -> Result<()> {
        let Some(posted) = posted.filter(|posted| !posted.further_own.is_empty()) else {
            return Ok(());
        };
        let own = posted
            .own
            .clone()
            .map(|id| RecordAddress::without_parent(Kind::Person, id));
        let person = match &own {
            Some(own) => self.get(cx, own).await?,
            None => None,
        };
        let others = posted.identifiers.len().saturating_add(1);
        let people: Vec<&RawRecord> = person.iter().collect();
        let problems = other_people(namespace, &posted.further_own, others, &people);
        if problems.is_empty() {
            return Ok(());
        }
        let part = PropertyPath::member(Kind::Person.singular());
        let problems = problems.into_iter().map(|problem| problem.within(&part));
        Err(Error::invalid_all(problems.collect()))
    }
}

/// Returns an error of a backend about the stored identifiers of a person as one about those that were sent.
/// The own identifiers of merged people are stored between them.
///
/// Requirements: MRG-08, UND-24.
pub(super) fn identifiers_as_sent(
    error: Error,
    sent: Option<Vec<Identifier>>,
    stored: Option<Vec<Identifier>>,
) -> Error {
    let (Some(sent), Some(stored)) = (sent, stored) else {
        return error;
    };
    if sent == stored {
        return error;
    }
    let position = |problem: &Problem| {
        let property = problem.properties.first()?;
        let [PathSegment::Member(_), PathSegment::Element(place)] = property.segments() else {
            return None;
        };
        let identifier = stored.get(*place)?;
        sent.iter().position(|it| it == identifier)
    };
    error.map_problems(|mut problems| {
        let in_use = |it: &&mut Problem| it.code == ErrorCode::IdentifierInUse;
        for problem in problems.iter_mut().filter(in_use) {
            if let Some(place) = position(problem) {
                problem.properties = Problem::identifier_in_use(place).properties;
            }
        }
        problems
    })
}

/// Returns an error of a backend about the identifiers of the remaining person as one about the member of
/// the request that contains them.
fn as_sent(error: Error, request: &MergeRequest) -> Error {
    if !error.is_invalid() || request.patch.is_none() {
        return error;
    }
    let part = PropertyPath::member(Kind::Person.singular());
    match error.into_problems() {
        Ok(problems) => {
            let problems = problems.into_iter().map(|problem| match problem.code {
                ErrorCode::IdentifierInUse => problem.within(&part),
                _ => problem,
            });
            Error::invalid_all(problems.collect())
        }
        Err(error) => error,
    }
}

/// Returns the problem of a preview that the backend cannot execute.
fn no_preview() -> Problem {
    let text = "{property} must not be true. This server cannot preview merges.";
    Problem::new(ErrorCode::FieldInvalid, "preview", text)
}
