//! What the rules of helpers stand on: the ledger of a store, or a vendor's operations one by one.

use std::sync::Arc;

use crate::{
    draft::{RawDraft, RawPatch},
    helper::{Merge, PersonMatching, Scheduling},
    json::Object,
    link::{Address, ShareNames},
    model::Kind,
    outbox::ToSend,
    store::{Found, Key, Pause, Stored},
    value::{Id, Timestamp},
};

/// What a rule gets, or why it has to stop.
pub type Asked<T> = Result<T, Pause>;

/// The questions and changes of the rules of helpers.
///
/// Every method fails with [`Pause`]: an answer is missing, or the call fails.
#[expect(
    clippy::missing_errors_doc,
    reason = "the documentation of the trait names the errors of all methods"
)]
pub trait Ground {
    /// The record at an address, without reading it; one with another parent is not there (COL-19).
    fn find_at(&mut self, address: &Address) -> Asked<Option<Found>>;
    /// Whether there is such a record, and where.
    fn find(&mut self, key: &Key) -> Asked<Option<Found>>;
    /// The record itself.
    fn record(&mut self, key: &Key) -> Asked<Option<Stored>>;
    /// What a person has answered to these questions; nothing where that cannot be told.
    fn answered(&mut self, person: &Id, questions: Vec<Key>) -> Asked<Vec<Stored>>;
    /// Creates a record; `false` beside the one that was there already (UND-38).
    fn create(&mut self, draft: &RawDraft, new: &New) -> Asked<(Stored, bool)>;
    /// Changes a record whose fields are `before`.
    fn update(&mut self, stored: Stored, before: &Object, patch: &RawPatch) -> Asked<Stored>;
    /// Sets or clears the dates of a message (SCH-01, SCH-04).
    fn schedule(&mut self, message: &Address, dates: Scheduling) -> Asked<Stored>;
    /// Notes a server response to send (HAF-11).
    fn trigger(&mut self, response: ToSend) -> Asked<()>;
    /// Notes a server response to send to a person, at most once in 24 hours for each of these keys
    /// (HAF-14).
    fn trigger_once_a_day(&mut self, response: ToSend, person: &Id, keys: &[Arc<str>])
    -> Asked<()>;
    /// Whether nothing of a call stays that is refused at its action, and all of its problems are
    /// told together.
    fn is_whole(&self) -> bool;
    /// Whether the rules go on behind what is refused, to tell everything that is wrong (ERR-39):
    /// nothing of it stays.
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
pub struct New {
    /// The person that the action is by, whoever the draft names.
    pub person: Option<Address>,
    /// Its id and moment, where they are given.
    pub(crate) given: Option<(Id, Timestamp)>,
    /// What is done about people named in tickets.
    pub(crate) holders: Holders,
}

/// What is done about people named in the tickets of a new attendance (RES-attendance-14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holders {
    /// They are recognised or made, as a posted person is.
    Recognise(Merge),
    /// Those who are known are noted, nobody is changed or made.
    Note,
}

impl Default for Holders {
    fn default() -> Self {
        Self::Recognise(Merge::Replace)
    }
}
