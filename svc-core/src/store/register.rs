//! What a store of all kinds offers, registered in one call (CAP-04, UND-12, UND-13, UND-38).

use std::sync::Arc;

use super::Store;
use crate::{
    api::{ApiBuilder, Behaviour},
    helper::{FunctionName, MatchKey, PersonMatching},
    read::Object,
    value::Identifier,
};

/// Registers all 21 kinds and all eight helpers of a store that runs the rulebook in one transaction for each call.
///
/// Full events and ticket levels are declared as enforced (LIM-04, LIM-05). `matching` is what the store gives each
/// [`Turn`](super::Turn), so that what is published is what is done (HLP-05).
#[must_use]
pub fn register_all<S: Store>(api: ApiBuilder, store: &Arc<S>, matching: Arc<dyn PersonMatching>) -> ApiBuilder {
    api.store(store)
        .matching(Shared(matching))
        .functions(FunctionName::all())
        .declares(Behaviour::CapacityEnforced)
        .declares(Behaviour::TicketLimitEnforced)
        .declares(Behaviour::MatchesPeople)
}

#[derive(Debug)]
struct Shared(Arc<dyn PersonMatching>);

impl PersonMatching for Shared {
    fn keys(&self, identifiers: &[Identifier], person: &Object) -> Vec<MatchKey> {
        self.0.keys(identifiers, person)
    }

    fn text(&self) -> &str {
        self.0.text()
    }
}
