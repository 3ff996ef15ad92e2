//! The data access of the helper rules: through a store, or through the operations of a vendor.

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

/// The result of a rule, or the reason why the rule must stop.
pub type RuleResult<T> = Result<T, RuleError>;

/// The lookups and changes of the helper rules.
///
/// Every method fails with [`RuleError`] if a lookup result is missing or the request fails.
#[expect(
    clippy::missing_errors_doc,
    reason = "the documentation of the trait names the errors of all methods"
)]
pub trait RuleContext {
    /// Returns the location of the record at an address. A record with another parent is not found.
    ///
    /// Requirements: COL-19.
    fn find_at(&mut self, address: &RecordAddress) -> RuleResult<Option<RecordLocation>>;
    /// Returns the location of a record, or `None` if it does not exist.
    fn find(&mut self, key: &LookupKey) -> RuleResult<Option<RecordLocation>>;
    /// Returns the whole record.
    fn record(&mut self, key: &LookupKey) -> RuleResult<Option<StoredRecord>>;
    /// Returns the answers of a person to these questions, or none if they cannot be determined.
    fn find_answers(
        &mut self,
        person: &Id,
        questions: Vec<LookupKey>,
    ) -> RuleResult<Vec<StoredRecord>>;
    /// Creates a record, or returns the existing one with `false`.
    ///
    /// Requirements: UND-38.
    fn create(&mut self, draft: &RawDraft, new: &CreateOptions)
    -> RuleResult<(StoredRecord, bool)>;
    /// Changes a record whose current fields are `before`.
    fn update(
        &mut self,
        stored: StoredRecord,
        before: &Object,
        patch: &RawPatch,
    ) -> RuleResult<StoredRecord>;
    /// Sets or clears the schedule dates of a message.
    ///
    /// Requirements: SCH-01, SCH-04.
    fn schedule(
        &mut self,
        message: &RecordAddress,
        dates: ScheduleChange,
    ) -> RuleResult<StoredRecord>;
    /// Adds a server response to the outbox.
    ///
    /// Requirements: HAF-11.
    fn trigger(&mut self, response: OutboxPayload) -> RuleResult<()>;
    /// Adds a server response to a person to the outbox, at most once in 24 hours for each of these
    /// keys.
    ///
    /// Requirements: HAF-14.
    fn trigger_once_a_day(
        &mut self,
        response: OutboxPayload,
        person: &Id,
        keys: &[Arc<str>],
    ) -> RuleResult<()>;
    /// Returns whether a request with a rejected action changes nothing and reports all problems
    /// together.
    fn is_atomic(&self) -> bool;
    /// Returns whether the rules continue after a rejection to report every problem. No changes are
    /// stored in that case.
    ///
    /// Requirements: ERR-39.
    fn collects_all_problems(&self) -> bool;
    /// Returns whether the body is already rejected. A missing part may then be the invalid one.
    fn is_refused(&self) -> bool;
    /// Returns whether records of a kind can be found by their identifiers.
    fn supports_find(&self, kind: Kind) -> bool;
    /// Returns the method of person matching.
    fn matching(&self) -> &dyn PersonMatching;
    /// Returns the names of the share objects in the fields of records.
    fn share_names(&self) -> &ShareNames;
    /// Returns when the request was received.
    fn received(&self) -> Timestamp;
}

/// Options for a new record.
#[derive(Debug, Clone, Default)]
pub struct CreateOptions {
    /// The person of the action, which overrides the person of the draft.
    pub person: Option<RecordAddress>,
    /// The id and creation time, if they are given.
    pub(crate) given: Option<(Id, Timestamp)>,
    /// How the people named in tickets are handled.
    pub(crate) holders: TicketHolderPolicy,
}

/// How the people named in the tickets of a new attendance are handled.
///
/// Requirements: RES-attendance-14.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TicketHolderPolicy {
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
