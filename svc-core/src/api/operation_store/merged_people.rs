//! Finds the person into whom another one was merged by an operation of a vendor. The remaining person has
//! the own identifier of the merged person among its identifiers.
//!
//! Requirements: MRG-09 to MRG-12.

use std::collections::BTreeMap;

use super::{HelperBackend, OperationStore};
use crate::{
    context::Context,
    draft::RawDraft,
    error::{Error, ErrorCode, ErrorKind, Result},
    link::RecordAddress,
    model::Kind,
    record::RawRecord,
    store::{LookupKey, Store, WriteOperation, WriteRequest},
    value::{Id, Identifier},
};

/// How an operation reports a link to a person that does not exist.
const NOT_FOUND: [ErrorCode; 2] = [ErrorCode::PersonNotFound, ErrorCode::LinkNotFound];

impl OperationStore {
    /// Returns whether the people into whom others were merged are found with operations of a vendor.
    pub(super) fn finds_merged_people(&self) -> bool {
        let people = self.backend(Kind::Person);
        people.store().is_none() && people.forwards_merged_people()
    }

    /// Returns the id of the person into whom another person was merged, after several merges the last one.
    ///
    /// `Find` is also used for person matching, so it can find a person that this caller may not read. That
    /// person is therefore also read.
    pub(super) async fn remaining_person(&self, cx: &Context, id: &Id) -> Result<Option<Id>> {
        let own = own_identifier(cx.namespace(), id).filter(|_| self.finds_merged_people());
        let Some(own) = own else {
            return Ok(None);
        };
        let has_merged = |person: &RawRecord| {
            let meta = person.meta();
            meta.id != *id && meta.identifiers.to_vec().contains(&own)
        };
        let key = LookupKey::Identifier(Kind::Person, own.clone());
        let found = match self.find(cx, &key).await {
            Ok(found) => found,
            // The operation does not look up identifiers.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::NotFound | ErrorKind::NotImplemented
                ) =>
            {
                None
            }
            Err(error) => return Err(error),
        };
        let Some(found) = found.filter(has_merged) else {
            return Ok(None);
        };
        let merged = RecordAddress::without_parent(Kind::Person, id.clone());
        let read = self.get_all(cx, &[found.address(), merged]).await?;
        Ok(match read.as_slice() {
            [Some(person), None] if has_merged(person) => Some(person.meta().id.clone()),
            _ => None,
        })
    }

    /// Returns a copy of a request that can be executed again if it names a merged person; `None` if it
    /// names no person, or if a part of it can already be stored.
    pub(super) fn forwardable(&self, call: &mut WriteRequest) -> Option<WriteRequest> {
        if !self.finds_merged_people() || self.store_of(call).is_some() {
            return None;
        }
        let may_be_partial = match &call.operation {
            WriteOperation::Helper(plan) => {
                let helper = self.helpers.get(&plan.helper);
                let is_composed = matches!(helper, Some(HelperBackend::Composed));
                is_composed && plan.person.is_some() && self.transactions.is_none()
            }
            _ => false,
        };
        (!may_be_partial && !people_of(&mut call.operation, false).is_empty()).then(|| call.clone())
    }

    /// Returns a rejected request with the remaining people instead of the merged ones that it names.
    ///
    /// # Errors
    ///
    /// Returns the error of the request if it names no merged person, or if the error has another reason.
    pub(super) async fn forwarded_request(
        &self,
        cx: &Context,
        error: Error,
        call: Option<WriteRequest>,
    ) -> Result<WriteRequest> {
        let error = self.errors.map(error);
        let has = |codes: &[ErrorCode]| {
            let mut problems = error.problems().iter();
            problems.any(|problem| codes.contains(&problem.code))
        };
        let names_unknown = error.is_not_found() || has(&NOT_FOUND);
        // The own identifier of a merged person.
        let names_other = has(&[ErrorCode::IdentifierInUse]);
        let Some(mut call) = call.filter(|_| names_unknown || names_other) else {
            return Err(error);
        };
        let mut known: BTreeMap<Id, Option<Id>> = BTreeMap::new();
        let mut is_changed = false;
        for id in people_of(&mut call.operation, !names_unknown) {
            let remaining = match known.get(id) {
                Some(remaining) => remaining.clone(),
                None => self.remaining_person(cx, id).await?,
            };
            known.insert(id.clone(), remaining.clone());
            if let Some(remaining) = remaining {
                *id = remaining;
                is_changed = true;
            }
        }
        if is_changed { Ok(call) } else { Err(error) }
    }
}

/// Returns the server's own identifier of a record; `None` if the server assigns none.
pub(super) fn own_identifier(namespace: &str, id: &Id) -> Option<Identifier> {
    match namespace {
        "" => None,
        namespace => Identifier::parse(&format!("{namespace}:{id}")),
    }
}

/// Returns the ids of the people that a request names, apart from the person that it changes: all of them, or
/// only those that it names by their own identifiers.
fn people_of(operation: &mut WriteOperation, only_own: bool) -> Vec<&mut Id> {
    match operation {
        WriteOperation::Create(draft) => people_of_draft(draft, only_own),
        WriteOperation::Update(_, patch) if !only_own => {
            let links = patch.links.iter_mut().filter_map(|(_, to)| to.as_mut());
            let holders = patch.holders.iter_mut().map(|(_, id)| id);
            links.filter_map(person_at).chain(holders).collect()
        }
        WriteOperation::Helper(plan) => {
            let drafts = plan.person.iter_mut().chain(&mut plan.action);
            let container = plan.container.iter_mut().filter_map(person_at);
            let container = container.filter(|_| !only_own);
            container
                .chain(drafts.flat_map(|draft| people_of_draft(draft, only_own)))
                .collect()
        }
        _ => Vec::new(),
    }
}

fn people_of_draft(draft: &mut RawDraft, only_own: bool) -> Vec<&mut Id> {
    let own = draft.own.iter_mut().chain(&mut draft.further_own);
    let is_person = draft.kind == Kind::Person;
    let links = draft.links.iter_mut().map(|(_, to)| to);
    let holders = draft.holders.iter_mut().map(|(_, id)| id);
    let others = links.filter_map(person_at).chain(holders);
    own.filter(|_| is_person)
        .chain(others.filter(|_| !only_own))
        .collect()
}

fn person_at(at: &mut RecordAddress) -> Option<&mut Id> {
    (at.kind == Kind::Person).then_some(&mut at.id)
}
