//! The contract of person matching: sign-ups never create two people with equal e-mail addresses, and
//! totals are the numbers of members after merges, undone merges, moves and deletions.

use std::{pin::Pin, time::Duration};

use svc_core::{
    auth::Caller,
    context::{Context, Tenant},
    draft::{RawDraft, RawPatch},
    error::{Error, Result},
    filter::{Filter, FilterField},
    helper::{HelperName, RawHelperRequest},
    json::Object,
    link::{RecordAddress, Scope},
    model::Kind,
    page::{ListRequest, PageRequest},
    record::RawRecord,
    store::{MergeRequest, Store, UndoMergeRequest, WriteOperation, WriteOutcome, WriteRequest},
    value::{Id, Timestamp},
};

use super::{
    ContractViolation, StoreTests,
    concurrency::poll_all,
    generator::{Rng, object},
};

/// The mailboxes, each in several spellings.
const MAILBOXES: [[&str; 3]; 4] = [
    [
        "ada@bücher.example",
        "ADA@BÜCHER.example",
        "Ada@xn--bcher-kva.EXAMPLE",
    ],
    [
        "jos\u{e9}@x.example",
        "JOSE\u{301}@X.EXAMPLE",
        "jose\u{301}@x.example",
    ],
    [
        "eve+news@x.example",
        " Eve+News@x.example ",
        "EVE+NEWS@x.example",
    ],
    [
        "o'brien@x.example",
        "O'Brien@x.example",
        "o'brien@\u{ff58}.example",
    ],
];

/// The requests of a history.
const REQUESTS: usize = 16;

/// The number of histories that have merges, and merges that are undone.
const HISTORIES_WITH_MERGES: u64 = 50;

impl StoreTests {
    /// Checks histories of sign-ups with differently spelled addresses, of which some are simultaneous, of
    /// signatures that move to another person, of deletions, and of merges and undone merges if the store
    /// supports them. The number of requests and the exclusions have no effect.
    ///
    /// After each history, another tenant has no people, and no two people have equal addresses, except after an undone merge, which may
    /// divide an address. The total of a petition is the number of its signatures, and those with a person
    /// are the signatures of all people.
    ///
    /// # Errors
    ///
    /// Returns the first violation.
    ///
    /// Requirements: HLP-04, HLP-05, UND-46, MRG-06, MRG-20.
    pub async fn check_matching<S: Store>(
        self,
        make: impl AsyncFn() -> (S, [Tenant; 2]),
    ) -> Result<(), ContractViolation> {
        let (mut executed, mut can) = ((0_u64, 0_u64), (false, false));
        for seed in (self.seed..).take(usize::try_from(self.histories).unwrap_or(usize::MAX)) {
            let (store, tenants) = make().await;
            let [cx, other] =
                tenants.map(|tenant| Context::new(tenant, Caller::anonymous(), Timestamp::now()));
            can = (store.merges_people(), store.undoes_merges());
            let mut history = MatchingHistory {
                store: &store,
                cx: &cx,
                seed,
                dice: Rng::new(seed),
                petition: None,
                people: Vec::new(),
                signatures: Vec::new(),
                merges: Vec::new(),
                is_undone: false,
                executed,
            };
            for step in 0..REQUESTS {
                let written = history.step().await;
                let failed = |error| history.broken(step, format!("a request failed: {error:?}"));
                written.map_err(failed)?;
            }
            let wrong = history.wrong().await;
            let failed = |error| history.broken(REQUESTS, format!("a read failed: {error:?}"));
            if let Some(text) = wrong.map_err(failed)? {
                return Err(history.broken(REQUESTS, text));
            }
            let request = ListRequest::all(PageRequest::new(1, 1));
            let of_other = store.list(&other, Kind::Person, &request).await;
            if of_other.map_or(true, |page| page.total > 0) {
                let text = "another tenant has people".to_owned();
                return Err(history.broken(REQUESTS, text));
            }
            executed = history.executed;
        }
        let ((merges, undone), (merges_people, undoes_merges)) = (executed, can);
        let is_long = self.histories >= HISTORIES_WITH_MERGES;
        if is_long && (merges_people && merges == 0 || undoes_merges && undone == 0) {
            return Err(ContractViolation {
                law: "matching",
                seed: self.seed,
                step: 0,
                text: format!("{merges} merges and {undone} undone merges in all histories"),
            });
        }
        Ok(())
    }
}

struct MatchingHistory<'s, S> {
    store: &'s S,
    cx: &'s Context,
    seed: u64,
    dice: Rng,
    petition: Option<RecordAddress>,
    people: Vec<RecordAddress>,
    signatures: Vec<RecordAddress>,
    /// The merges that can be undone, each with the remaining person.
    merges: Vec<(RecordAddress, Id)>,
    is_undone: bool,
    /// The numbers of merges and of undone merges in all histories so far.
    executed: (u64, u64),
}

impl<S: Store> MatchingHistory<'_, S> {
    async fn step(&mut self) -> Result<()> {
        let Some(petition) = self.petition.clone() else {
            return self.petition().await;
        };
        let is_merging = self.store.merges_people();
        match self.dice.below(10) {
            0 | 1 if is_merging => {
                let (Some(remaining), Some(merged)) = (self.person(), self.person()) else {
                    return Ok(());
                };
                let mut request = MergeRequest::new(remaining, merged);
                let period = Duration::from_secs(86_400);
                request.undo_for = self.store.undoes_merges().then_some(period);
                self.try_write(WriteOperation::Merge(Box::new(request)))
                    .await
            }
            2 if is_merging => {
                let Some((remaining, merge)) = self.merges.pop() else {
                    return Ok(());
                };
                let request = UndoMergeRequest::new(remaining, merge);
                self.try_write(WriteOperation::UndoMerge(request)).await
            }
            3 => {
                let at = self.dice.below(self.signatures.len());
                let (Some(signature), Some(person)) =
                    (self.signatures.get(at).cloned(), self.person())
                else {
                    return Ok(());
                };
                let mut patch = RawPatch::new(Kind::Signature, Object::new());
                patch.links = vec![("person", Some(person))];
                self.try_write(WriteOperation::Update(signature, patch))
                    .await
            }
            4 => match self.person().filter(|_| self.dice.one_in(2)) {
                Some(person) => self.try_write(WriteOperation::Delete(person)).await,
                None => Ok(()),
            },
            5 => {
                let mailbox = self.dice.below(MAILBOXES.len());
                let both = [self.sign_up(mailbox, None), self.sign_up(mailbox, None)];
                let both = both.map(|operation| self.request(operation));
                let (store, cx) = (self.store, self.cx);
                let both = both.map(|request| -> Pin<Box<dyn Future<Output = _> + Send>> {
                    Box::pin(store.write(cx, request))
                });
                for outcome in poll_all(both.into_iter().collect()).await {
                    self.learn(outcome?);
                }
                Ok(())
            }
            number => {
                let mailbox = self.dice.below(MAILBOXES.len());
                let petition = (number > 6).then_some(&petition);
                let operation = self.sign_up(mailbox, petition);
                let outcome = self.store.write(self.cx, self.request(operation)).await?;
                self.learn(outcome);
                Ok(())
            }
        }
    }

    async fn petition(&mut self) -> Result<()> {
        let draft = RawDraft::empty(Kind::Petition);
        let request = self.request(WriteOperation::Create(draft));
        let (record, _) = self
            .store
            .write(self.cx, request)
            .await?
            .into_written()
            .ok_or_else(|| Error::unexpected("a create without a record"))?;
        self.petition = Some(record.address());
        Ok(())
    }

    /// Returns a person of the history. It may be deleted or merged.
    fn person(&mut self) -> Option<RecordAddress> {
        let at = self.dice.below(self.people.len());
        self.people.get(at).cloned()
    }

    /// Returns a sign-up, or a signature of a petition, with an address of a mailbox.
    fn sign_up(&mut self, mailbox: usize, petition: Option<&RecordAddress>) -> WriteOperation {
        let name = ["Ada", "Eve", "Kim"].map(str::to_owned);
        let name = name.get(self.dice.below(name.len())).cloned();
        let spelling = self.dice.below(3);
        let spellings = MAILBOXES.get(mailbox).copied().unwrap_or_default();
        let address = spellings.get(spelling).copied().unwrap_or_default();
        let text = format!(
            r#"{{"given_name":"{}","email_addresses":[{{"address":"{address}"}}]}}"#,
            name.unwrap_or_default()
        );
        let person = RawDraft::empty(Kind::Person).with_fields(object(&text));
        let mut plan = RawHelperRequest::empty(HelperName::PersonSignup);
        if let Some(petition) = petition {
            plan = RawHelperRequest::empty(HelperName::RecordSignature);
            plan.container = Some(petition.clone());
            let links = vec![("petition", petition.clone())];
            plan.action = Some(RawDraft::empty(Kind::Signature).with_links(links));
            plan.one_action_per_person = self.dice.one_in(2);
        }
        plan.person = Some(person);
        WriteOperation::Helper(Box::new(plan))
    }

    fn request(&self, operation: WriteOperation) -> WriteRequest {
        WriteRequest::new(self.cx, operation)
    }

    /// Sends a request that the store may reject.
    async fn try_write(&mut self, operation: WriteOperation) -> Result<()> {
        match self.store.write(self.cx, self.request(operation)).await {
            Ok(outcome) => self.learn(outcome),
            Err(error) if error.is_not_found() || !error.problems().is_empty() => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn learn(&mut self, outcome: WriteOutcome) {
        let (outcome, _) = outcome.split_warnings();
        match outcome {
            WriteOutcome::HelperDone(helped) => {
                self.people
                    .extend(helped.person.iter().map(RawRecord::address));
                let signatures = helped.action.iter().map(RawRecord::address);
                self.signatures.extend(signatures);
            }
            WriteOutcome::Merged(merged) => {
                self.executed.0 = self.executed.0.saturating_add(1);
                let undo = merged.undo.map(|undo| undo.id);
                let remaining = merged.person.address();
                self.merges.extend(undo.map(|id| (remaining, id)));
            }
            WriteOutcome::MergeUndone(_) => {
                self.is_undone = true;
                self.executed.1 = self.executed.1.saturating_add(1);
            }
            _ => {}
        }
    }

    /// Returns what is wrong after the history.
    async fn wrong(&self) -> Result<Option<String>> {
        for mailbox in MAILBOXES {
            let mut found = Vec::new();
            for spelling in mailbox {
                let address = spelling.trim().replace('\'', "''");
                let text = format!("email_address eq '{address}'");
                let filter = Filter::parse(&text, &[FilterField::EmailAddress], "laws");
                let filter = filter.map_err(|wrong| Error::unexpected(wrong.to_string()))?;
                let request = ListRequest::all(PageRequest::new(1, 25)).with_filter(filter);
                let page = self.store.list(self.cx, Kind::Person, &request).await?;
                let ids: Vec<Id> = page.records.iter().map(|it| it.meta().id.clone()).collect();
                found.push(ids);
            }
            let first = found.first().cloned().unwrap_or_default();
            if found.iter().any(|ids| *ids != first) {
                return Ok(Some(format!(
                    "spellings of {mailbox:?} find different people: {found:?}"
                )));
            }
            if first.len() > 1 && !self.is_undone {
                return Ok(Some(format!(
                    "{mailbox:?} belongs to several people: {first:?}"
                )));
            }
        }
        let Some(petition) = &self.petition else {
            return Ok(None);
        };
        let of_petition = self.signatures_of(petition).await?;
        let computed = self.store.get(self.cx, petition).await?;
        let computed = computed.map(|it| format!("{:?}", it.computed()));
        let total = format!("(\"total_signatures\", Count({}))", of_petition.len());
        if !computed.as_ref().is_some_and(|all| all.contains(&total)) {
            return Ok(Some(format!(
                "{} signatures, but {computed:?}",
                of_petition.len()
            )));
        }
        let mut of_people = Vec::new();
        let mut people: Vec<&RecordAddress> = self.people.iter().collect();
        people.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        people.dedup();
        for person in people {
            if self.store.get(self.cx, person).await?.is_some() {
                of_people.extend(self.signatures_of(person).await?);
            }
        }
        // The signatures of deleted people have no person.
        let mut signed = of_petition;
        signed.retain(|signature| signature.link("person").is_some());
        let [signed, of_people] = [signed, of_people].map(|signatures| {
            let mut ids: Vec<Id> = signatures.iter().map(|it| it.meta().id.clone()).collect();
            ids.sort_unstable();
            ids
        });
        let is_equal = signed == of_people;
        Ok((!is_equal).then(|| format!("{signed:?} of the petition, {of_people:?} of people")))
    }

    async fn signatures_of(&self, owner: &RecordAddress) -> Result<Vec<RawRecord>> {
        let scope = Scope::Under(owner.clone());
        let request = ListRequest::new(scope, PageRequest::new(1, 100));
        let page = self.store.list(self.cx, Kind::Signature, &request).await?;
        if page.total != u64::try_from(page.records.len()).unwrap_or(u64::MAX) {
            return Err(Error::unexpected(
                "a total that is not the number of members",
            ));
        }
        Ok(page.records)
    }

    fn broken(&self, step: usize, text: String) -> ContractViolation {
        ContractViolation {
            law: "matching",
            seed: self.seed,
            step,
            text,
        }
    }
}
