//! What this store offers: every kind and every helper, with exactly the operations that it supports (CAP-04, UND-12,
//! UND-13, UND-38).

use std::sync::Arc;

use svc_core::{
    api::{ApiBuilder, Behaviour},
    each_kind,
    helper::{
        FunctionName, HelperName, MatchKey, PersonMatching, PersonSignup, RecordAttendance, RecordCanvass,
        RecordDonation, RecordOutreach, RecordSignature, RecordSubmission, Schedule,
    },
    model::Kind,
    read::Object,
    value::Identifier,
};

use crate::store::Store;

impl Store {
    /// Registers all 21 kinds and all eight helpers, which run natively in one transaction each; full events and ticket
    /// levels are declared as enforced (LIM-04, LIM-05), and the store's own matching method is published (HLP-05).
    ///
    /// ```no_run
    /// use svc_core::api::{Api, Vendor};
    /// let store = svc_sqlite::Store::open(svc_sqlite::Options::new("people.db"))?;
    /// let api = store
    ///     .register_all(Api::builder(Vendor::new("Acme", "Acme CRM")))
    ///     .authenticator(store.clone())
    ///     .anonymous_helpers(store.clone())
    ///     .build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn register_all(&self, api: ApiBuilder) -> ApiBuilder {
        let store = &Arc::new(self.clone());
        helpers(store, kinds(store, api))
            .matching(MatchingOf(self.clone()))
            .functions(FunctionName::all())
            .declares(Behaviour::CapacityEnforced)
            .declares(Behaviour::TicketLimitEnforced)
            .declares(Behaviour::MatchesPeople)
    }
}

/// The matching method of a store, so that what is published is what is done (HLP-05).
#[derive(Debug)]
struct MatchingOf(Store);

impl PersonMatching for MatchingOf {
    fn keys(&self, identifiers: &[Identifier], person: &Object) -> Vec<MatchKey> {
        self.0.matching().keys(identifiers, person)
    }

    fn text(&self) -> &str {
        self.0.matching().text()
    }
}

/// Every kind, with every operation that the interface has for it. Only these are looked up by what a client names them
/// by: people, questions, what has a name of its own, and what a helper records.
fn kinds(store: &Arc<Store>, mut api: ApiBuilder) -> ApiBuilder {
    macro_rules! register {
        (() $($kind:ident)+) => { $(
            api = api.resource::<svc_core::model::$kind, _>(store, |r| {
                let r = r.complete();
                if is_looked_up(Kind::$kind) { r.find() } else { r }
            });
        )+ };
    }
    each_kind!(register());
    api
}

fn is_looked_up(kind: Kind) -> bool {
    let is_recorded = HelperName::recording(kind).is_some();
    matches!(kind, Kind::Person | Kind::Question) || kind.schema().unique_name().is_some() || is_recorded
}

fn helpers(store: &Arc<Store>, api: ApiBuilder) -> ApiBuilder {
    api.helper::<RecordSignature>(store)
        .helper::<RecordSubmission>(store)
        .helper::<RecordDonation>(store)
        .helper::<RecordOutreach>(store)
        .helper::<RecordAttendance>(store)
        .helper::<RecordCanvass>(store)
        .helper::<PersonSignup>(store)
        .helper::<Schedule>(store)
}
