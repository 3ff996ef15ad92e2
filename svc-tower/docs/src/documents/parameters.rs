//! What the query of an address can have.

use svc_core::{
    api::Api,
    link::{Scope, Target},
    operation::ResponseBodyKind,
    page::QueryParameter,
};

/// The parameters of a collection (COL-29, UND-14), with filters and an order where it has all
/// records of a kind (FLT-01, FLT-09), or of the change feed (SYN-05).
pub(super) fn parameters(
    api: &Api,
    output: ResponseBodyKind,
    target: &Target,
) -> Vec<QueryParameter> {
    match (output, target) {
        (
            ResponseBodyKind::Collection,
            Target::Collection {
                kind,
                scope: Scope::All,
            },
        ) => api
            .parameters()
            .into_iter()
            .chain(api.filter_parameters(*kind))
            .collect(),
        (ResponseBodyKind::Collection, _) => api.parameters(),
        (ResponseBodyKind::Changes, _) => api.changes_parameters(),
        _ => Vec::new(),
    }
}
