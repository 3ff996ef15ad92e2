//! Which record of a load was refused.

use svc_core::error::{Error, Problem};
use svc_core::store::{WriteOperation, WriteRequest};

/// Names the record in what a call was refused for, where the call loads one: a load has many.
#[must_use]
pub fn at_fault(call: &WriteRequest, error: Error) -> Error {
    let WriteOperation::Load(load) = &call.work else {
        return error;
    };
    let (kind, id) = (load.draft.kind.singular(), &load.id);
    let named = |problem: Problem| problem.about(&format!("{kind} {id}"));
    if error.is_not_found() {
        return Error::unexpected("its container does not exist").at(format!("{kind} {id}"));
    }
    error.map_problems(|problems| problems.into_iter().map(named).collect())
}
