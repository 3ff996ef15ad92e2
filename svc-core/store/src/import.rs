//! Names the record of an import that was rejected.

use svc_core::error::{Error, Problem};
use svc_core::store::{WriteOperation, WriteRequest};

/// Adds the kind and id of an imported record to the error, because an import has many records.
#[must_use]
pub fn with_import_address(call: &WriteRequest, error: Error) -> Error {
    let WriteOperation::Import(load) = &call.operation else {
        return error;
    };
    let (kind, id) = (load.draft.kind.singular(), &load.id);
    let named = |problem: Problem| problem.with_subject(&format!("{kind} {id}"));
    if error.is_not_found() {
        return Error::unexpected("the container of the record does not exist")
            .with_address(format!("{kind} {id}"));
    }
    error.map_problems(|problems| problems.into_iter().map(named).collect())
}
