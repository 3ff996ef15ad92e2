//! The query parameters of an address.

use svc_core::{
    api::Api,
    link::{Scope, Target},
    operation::ResponseBodyKind,
    page::QueryParameter,
};

/// Returns the parameters of a collection or of the change feed. A collection of all records of a
/// kind can have a filter and an order.
///
/// Requirements: COL-29, UND-14, FLT-01, FLT-09, SYN-05.
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
            .collection_parameters()
            .into_iter()
            .chain(api.filter_parameters(*kind))
            .collect(),
        (ResponseBodyKind::Collection, _) => api.collection_parameters(),
        (ResponseBodyKind::Changes, _) => api.change_feed_parameters(),
        (ResponseBodyKind::Duplicates, _) => api.duplicates_parameters(),
        (ResponseBodyKind::Batch, Target::Batch { .. }) => api.batch_parameters(),
        _ => Vec::new(),
    }
}
