//! What the query of an address can have.

use svc_core::{
    api::Api,
    link::{Scope, Target},
    operation::Output,
    page::Parameter,
};

/// The parameters of a collection (COL-29, UND-14), with filters and an order where it has all
/// records of a kind (FLT-01, FLT-09), or of the change feed (SYN-05).
pub(super) fn parameters(api: &Api, output: Output, target: &Target) -> Vec<Parameter> {
    match (output, target) {
        (
            Output::Collection,
            Target::Collection {
                kind,
                scope: Scope::All,
            },
        ) => api
            .parameters()
            .into_iter()
            .chain(api.filter_parameters(*kind))
            .collect(),
        (Output::Collection, _) => api.parameters(),
        (Output::Changes, _) => api.changes_parameters(),
        _ => Vec::new(),
    }
}
