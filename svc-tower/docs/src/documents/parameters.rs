//! What the query of an address can have.

use svc_core::{
    api::Api,
    link::{Scope, Target},
    operation::ResponseBodyKind,
    page::QueryParameter,
};

/// The parameters of a collection, with filters and an order where it has all records of a kind, or
/// of the change feed.
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
        _ => Vec::new(),
    }
}
