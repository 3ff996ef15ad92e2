//! What this store offers: every kind and every helper, with exactly the operations that it supports (CAP-04, UND-12,
//! UND-13, UND-38).

use std::sync::Arc;

use svc_core::{
    api::{ApiBuilder, Behaviour},
    helper::{
        FunctionName, MatchKey, PersonMatching, PersonSignup, RecordAttendance, RecordCanvass, RecordDonation,
        RecordOutreach, RecordSignature, RecordSubmission, Schedule,
    },
    model::{
        AdvocacyCampaign, Answer, Attendance, Canvass, Donation, Event, Form, FundraisingPage, Item, List, Message,
        Outreach, Person, Petition, Query, Question, SharePage, Signature, Submission, Tag, Tagging,
    },
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
        let api = helpers(store, containers(store, api));
        actions(store, api)
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

/// The kinds that live at the top.
fn containers(store: &Arc<Store>, api: ApiBuilder) -> ApiBuilder {
    api.resource::<Person, _>(store, |r| r.list().get().create().update().delete().find())
        .resource::<Petition, _>(store, |r| r.list().get().create().update().delete())
        .resource::<Event, _>(store, |r| r.list().get().create().update().delete())
        .resource::<Form, _>(store, |r| r.list().get().create().update().delete())
        .resource::<FundraisingPage, _>(store, |r| r.list().get().create().update().delete())
        .resource::<AdvocacyCampaign, _>(store, |r| r.list().get().create().update().delete())
        .resource::<SharePage, _>(store, |r| r.list().get().create().update().delete())
        .resource::<Question, _>(store, |r| r.list().get().create().update().delete().find())
        .resource::<Tag, _>(store, |r| r.list().get().create().update().delete().find())
        .resource::<List, _>(store, |r| r.list().get().create().update().delete().find())
        .resource::<Message, _>(store, |r| r.list().get().create().update().delete())
        .resource::<Query, _>(store, |r| r.list().get().update())
}

/// The kinds that live below them.
fn actions(store: &Arc<Store>, api: ApiBuilder) -> ApiBuilder {
    api.resource::<Signature, _>(store, |r| {
        r.under::<Petition>().under::<Person>().get().create().update().delete().find()
    })
    .resource::<Submission, _>(store, |r| r.under::<Form>().under::<Person>().get().create().update().delete().find())
    .resource::<Donation, _>(store, |r| {
        r.list().under::<FundraisingPage>().under::<Person>().get().create().update().delete().find()
    })
    .resource::<Attendance, _>(store, |r| r.under::<Event>().under::<Person>().get().create().update().delete().find())
    .resource::<Outreach, _>(store, |r| {
        r.under::<AdvocacyCampaign>().under::<Person>().get().create().update().delete().find()
    })
    .resource::<Answer, _>(store, |r| {
        let r = r.under::<Question>().under::<Person>().under::<Submission>().under::<Canvass>();
        r.get().create().update().delete()
    })
    .resource::<Tagging, _>(store, |r| r.under::<Tag>().under::<Person>().under::<Canvass>().get().create().delete())
    .resource::<Item, _>(store, |r| r.under::<List>().under::<Person>().get().create().delete())
    .resource::<Canvass, _>(store, |r| r.under::<Person>().get().update().delete().find())
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
