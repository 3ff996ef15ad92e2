//! Names the record of an import that was rejected.

use svc_core::error::{Error, Problem};
use svc_core::store::{WriteOperation, WriteRequest};

/// Adds the kind and id of an imported record to the error, because an import has many records.
#[must_use]
pub fn at_fault(call: &WriteRequest, error: Error) -> Error {
    let WriteOperation::Load(load) = &call.work else {
        return error;
    };
    let (kind, id) = (load.draft.kind.singular(), &load.id);
    let named = |problem: Problem| problem.about(&format!("{kind} {id}"));
    if error.is_not_found() {
        return Error::unexpected("the container of the record does not exist")
            .at(format!("{kind} {id}"));
    }
    error.map_problems(|problems| problems.into_iter().map(named).collect())
}
