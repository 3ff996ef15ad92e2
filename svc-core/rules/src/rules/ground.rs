//! What the rules of helpers stand on: the ledger of a store, or a vendor's operations one by one.

use std::sync::Arc;

use crate::{
    draft::{RawDraft, RawPatch},
    helper::{MergePolicy, PersonMatching, ScheduleChange},
    json::Object,
    link::{RecordAddress, ShareNames},
    model::Kind,
    outbox::OutboxPayload,
    store::{LookupKey, RecordLocation, RuleError, StoredRecord},
    value::{Id, Timestamp},
};

/// What a rule gets, or why it has to stop.
pub type RuleResult<T> = Result<T, RuleError>;

/// The questions and changes of the rules of helpers.
///
/// Every method fails with [`RuleError`]: an answer is missing, or the call fails.
#[expect(
    clippy::missing_errors_doc,
    reason = "the documentation of the trait names the errors of all methods"
)]
pub trait RuleContext {
    /// The record at an address, without reading it; one with another parent is not there.
    ///
    /// Requirements: COL-19.
    fn find_at(&mut self, address: &RecordAddress) -> RuleResult<Option<RecordLocation>>;
    /// Whether there is such a record, and where.
    fn find(&mut self, key: &LookupKey) -> RuleResult<Option<RecordLocation>>;
    /// The record itself.
    fn record(&mut self, key: &LookupKey) -> RuleResult<Option<StoredRecord>>;
    /// What a person has answered to these questions; nothing where that cannot be told.
    fn answered(&mut self, person: &Id, questions: Vec<LookupKey>)
    -> RuleResult<Vec<StoredRecord>>;
    /// Creates a record; `false` beside the one that was there already.
    ///
    /// Requirements: UND-38.
    fn create(&mut self, draft: &RawDraft, new: &CreateOptions)
    -> RuleResult<(StoredRecord, bool)>;
    /// Changes a record whose fields are `before`.
    fn update(
        &mut self,
        stored: StoredRecord,
        before: &Object,
        patch: &RawPatch,
    ) -> RuleResult<StoredRecord>;
    /// Sets or clears the dates of a message.
    ///
    /// Requirements: SCH-01, SCH-04.
    fn schedule(
        &mut self,
        message: &RecordAddress,
        dates: ScheduleChange,
    ) -> RuleResult<StoredRecord>;
    /// Notes a server response to send.
    ///
    /// Requirements: HAF-11.
    fn trigger(&mut self, response: OutboxPayload) -> RuleResult<()>;
    /// Notes a server response to send to a person, at most once in 24 hours for each of these
    /// keys.
    ///
    /// Requirements: HAF-14.
    fn trigger_once_a_day(
        &mut self,
        response: OutboxPayload,
        person: &Id,
        keys: &[Arc<str>],
    ) -> RuleResult<()>;
    /// Whether nothing of a call stays that is refused at its action, and all of its problems are
    /// told together.
    fn is_whole(&self) -> bool;
    /// Whether the rules go on behind what is refused, to tell everything that is wrong: nothing of
    /// it stays.
    ///
    /// Requirements: ERR-39.
    fn goes_on(&self) -> bool;
    /// Whether the body is refused already: what it lacks may be what was wrong with it.
    fn is_refused(&self) -> bool;
    /// Whether records of a kind can be found by their identifiers.
    fn finds(&self, kind: Kind) -> bool;
    /// How people are matched.
    fn matching(&self) -> &dyn PersonMatching;
    /// What the share objects are called in the fields of its records.
    fn share_names(&self) -> &ShareNames;
    /// When the call was received.
    fn received(&self) -> Timestamp;
}

/// How a new record comes about.
#[derive(Debug, Clone, Default)]
pub struct CreateOptions {
    /// The person that the action is by, whoever the draft names.
    pub person: Option<RecordAddress>,
    /// Its id and moment, where they are given.
    pub(crate) given: Option<(Id, Timestamp)>,
    /// What is done about people named in tickets.
    pub(crate) holders: TicketHolderPolicy,
}

/// What is done about people named in the tickets of a new attendance.
///
/// Requirements: RES-attendance-14.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TicketHolderPolicy {
    /// They are recognised or made, as a posted person is.
    Recognise(MergePolicy),
    /// Those who are known are noted, nobody is changed or made.
    Note,
}

impl Default for TicketHolderPolicy {
    fn default() -> Self {
        Self::Recognise(MergePolicy::Replace)
    }
}
