//! Validated helper requests as plain data.

use std::marker::PhantomData;

use super::{ActionFunctions, HelperSpec, MergePolicy, RawHelperRequest};
use crate::{
    draft::Draft,
    error::{Error, ErrorCode, Problem, Result},
    link::RecordAddress,
    model::Person,
    value::Timestamp,
};

/// What remains of a helper request if one part fails.
///
/// Requirements: ERR-29, ERR-34.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Atomicity {
    /// Each resource by itself: what could be stored remains, and the response reports the result
    /// of each resource.
    #[default]
    PerResource,
    /// All or nothing.
    WholeCall,
}

/// The change that a request to the schedule helper makes.
///
/// Requirements: SCH-01, SCH-04.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleChange {
    /// Sets the dates.
    Set {
        /// When sending starts.
        start: Timestamp,
        /// When sending stops.
        stop: Option<Timestamp>,
    },
    /// Clears the dates.
    Cancel,
}

/// A request to the helper `H`.
///
/// The request is validated. The backend checks what only the store knows, such as whether a tag
/// exists or an event is full.
///
/// Requirements: HLP-02.
#[derive(Debug)]
pub struct HelperRequest<H> {
    raw: RawHelperRequest,
    helper: PhantomData<fn() -> H>,
}

impl<H: HelperSpec> HelperRequest<H> {
    /// Converts a raw request for this helper.
    #[must_use]
    pub fn from_raw(raw: RawHelperRequest) -> Self {
        Self {
            raw,
            helper: PhantomData,
        }
    }

    /// Returns the inline person.
    ///
    /// Requirements: HLP-03.
    #[must_use]
    pub fn person(&self) -> Option<Draft<Person>> {
        self.raw.person.clone().map(Draft::from_raw)
    }

    /// Returns the inline person, for a backend that requires one. A sign-up always contains it.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorCode::FieldRequired`] for `person`.
    pub fn required_person(&self) -> Result<Draft<Person>> {
        let missing = || {
            Problem::new(
                ErrorCode::FieldRequired,
                "person",
                "{property} is required.",
            )
        };
        self.person().ok_or_else(|| Error::invalid(missing()))
    }

    /// Returns the action to record; `None` for person signup and schedule.
    #[must_use]
    pub fn action(&self) -> Option<Draft<H::Record>> {
        self.raw.action.clone().map(Draft::from_raw)
    }

    /// Returns the record that the helper belongs to; `None` for person signup.
    #[must_use]
    pub fn container(&self) -> Option<&RecordAddress> {
        self.raw.container.as_ref()
    }

    /// Returns the action functions.
    ///
    /// Requirements: HAF-01.
    #[must_use]
    pub fn functions(&self) -> &ActionFunctions {
        &self.raw.functions
    }

    /// Returns the change of the schedule helper.
    ///
    /// Requirements: SCH-01, SCH-04.
    #[must_use]
    pub fn schedule(&self) -> Option<ScheduleChange> {
        self.raw.schedule
    }

    /// Returns whether the request must succeed completely or not be stored at all. A failed
    /// request then returns [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) with every problem.
    ///
    /// Requirements: ERR-34.
    #[must_use]
    pub fn is_atomic(&self) -> bool {
        self.raw.atomicity == Atomicity::WholeCall
    }

    /// Returns whether the caller is anonymous.
    ///
    /// An anonymous request never changes an action that was recorded before. Of its identifiers, its
    /// action gets only those that no other record has: see `rules::without_claimed_identifiers`.
    ///
    /// Requirements: HLP-07, UND-24.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.raw.anonymous
    }

    /// Returns how the posted person is merged into an existing one.
    ///
    /// Requirements: HLP-04.
    #[must_use]
    pub fn merge(&self) -> MergePolicy {
        self.raw.merge
    }

    /// Returns a reference to the raw request.
    #[must_use]
    pub fn as_raw(&self) -> &RawHelperRequest {
        &self.raw
    }

    /// Returns the raw request.
    #[must_use]
    pub fn into_raw(self) -> RawHelperRequest {
        self.raw
    }
}
