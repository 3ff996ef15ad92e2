//! The state of the rules for one write request: its lookups, its changes, and how it writes.

use crate::{
    error::{Error, Problem},
    helper::MergePolicy,
    json::Object,
    link::{LinkValue, RecordAddress, ShareNames},
    model::Kind,
    outbox::{OutboxEntry, OutboxPayload},
    record::RawRecord,
    store::{
        Change, LookupKey, RecordLocation, RuleError, StoredRecord, TransactionContext,
        TransactionView, WriteOperation, WriteRequest,
    },
    value::{Id, Timestamp},
};

/// The result of a rule, or the reason why the rule must stop.
pub(super) type RuleResult<T> = Result<T, RuleError>;

/// The state of the rules for one write request.
pub(super) struct RuleContext<'a> {
    pub(super) ledger: TransactionView<'a>,
    pub(super) call: &'a WriteRequest,
    pub(super) turn: &'a TransactionContext<'a>,
    /// The person that is bound to the caller's key, if that person exists.
    ///
    /// Requirements: RES-petition-17.
    pub(super) caller: Option<Id>,
    /// The number of ids used so far, for new records and outbox entries.
    pub(super) made: usize,
    /// The number of [steps](crate::store::Step) that this run has passed.
    pub(super) steps: usize,
    /// The warnings about entries of people that were omitted.
    ///
    /// Requirements: HLP-04.
    pub(super) omitted: Vec<Problem>,
}

impl RuleContext<'_> {
    pub(super) fn names(&self) -> &ShareNames {
        self.turn.share_names
    }

    /// Returns the fields of a record under the names of the schema.
    pub(super) fn fields(&self, record: &RawRecord) -> Result<Object, Error> {
        record.to_fields(self.turn.share_names)
    }

    /// Returns the location of the record at an address. A record with another parent is not found.
    ///
    /// Requirements: COL-19.
    pub(super) fn find_at(
        &mut self,
        address: &RecordAddress,
    ) -> RuleResult<Option<RecordLocation>> {
        let found = self.ledger.find(&LookupKey::from(address))?;
        // The parent of a record that cannot be read is unknown.
        let is_known = |found: &RecordLocation| self.turn.steps.is_none() || found.parent.is_some();
        Ok(found.filter(|found| !is_known(found) || address.matches_parent(found.parent.as_ref())))
    }

    /// Returns the record at an address, to change or delete it. The address of a merged person is
    /// rejected, because the caller has read another record.
    pub(super) fn own_record(
        &mut self,
        address: &RecordAddress,
    ) -> RuleResult<Option<StoredRecord>> {
        let stored = self.ledger.record(&LookupKey::from(address))?;
        let Some(stored) = stored.filter(|it| address.matches_parent(it.record.parent())) else {
            return Ok(None);
        };
        if stored.record.meta().id != address.id {
            return Err(Error::invalid(Problem::person_merged(stored.record.address())).into());
        }
        Ok(Some(stored))
    }

    /// Returns the warnings about omitted entries of people. They would reveal to an anonymous caller
    /// what is stored.
    ///
    /// Requirements: HLP-04, HLP-07.
    pub(super) fn omitted_entries(&mut self) -> Vec<Problem> {
        let omitted = std::mem::take(&mut self.omitted);
        match &self.call.operation {
            WriteOperation::Helper(plan) if plan.anonymous => Vec::new(),
            _ => omitted,
        }
    }

    /// Returns the next id of the transaction.
    pub(super) fn next_id(&mut self) -> Id {
        let id = self.turn.ids.nth(self.made);
        self.made = self.made.saturating_add(1);
        id
    }

    /// Adds an entry to the outbox.
    pub(super) fn send(&mut self, what: OutboxPayload) {
        let dispatch = OutboxEntry::new(self.next_id(), self.call.received_at, what);
        self.ledger.change(Change::Enqueue(Box::new(dispatch)));
    }

    /// Looks up the person that is bound to the caller's key.
    pub(super) fn find_caller(&mut self) -> RuleResult<()> {
        if let Some(id) = &self.call.caller {
            self.caller = self
                .ledger
                .find(&LookupKey::Id(Kind::Person, id.clone()))?
                .map(|found| found.id);
        }
        Ok(())
    }

    /// Returns the link to the person that is bound to the caller's key.
    pub(super) fn link_to_caller(&self) -> Option<LinkValue> {
        self.caller
            .clone()
            .map(|id| RecordAddress::without_parent(Kind::Person, id).into())
    }

    /// Returns whether a request with a rejected action changes nothing and reports all problems
    /// together.
    pub(super) fn is_atomic(&self) -> bool {
        self.turn.steps.is_none_or(|steps| steps.is_atomic)
    }

    /// Returns whether the rules continue after a rejection to report every problem. They do not if
    /// they could execute a further step.
    ///
    /// Requirements: ERR-39.
    pub(super) fn collects_all_problems(&self) -> bool {
        self.turn.steps.is_none() || self.call.is_rejected
    }

    /// Returns whether records of a kind can be found by their identifiers.
    pub(super) fn supports_find(&self, kind: Kind) -> bool {
        self.turn
            .steps
            .is_none_or(|steps| steps.findable.contains(&kind))
    }
}

/// Options for a new record.
#[derive(Debug, Clone, Default)]
pub(super) struct CreateOptions {
    /// The person of the action, which overrides the person of the draft.
    pub(super) person: Option<RecordAddress>,
    /// The id and creation time, if they are given.
    pub(super) given: Option<(Id, Timestamp)>,
    /// How the people named in tickets are handled.
    pub(super) holders: TicketHolderPolicy,
}

/// How the people named in the tickets of a new attendance are handled.
///
/// Requirements: RES-attendance-14.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TicketHolderPolicy {
    /// Match or create them, like a posted person.
    Match(MergePolicy),
    /// Record only existing people. No person is changed or created.
    LinkKnown,
}

impl Default for TicketHolderPolicy {
    fn default() -> Self {
        Self::Match(MergePolicy::Replace)
    }
}
