//! What a helper call asks for, validated, as plain data.

use std::marker::PhantomData;

use super::{ActionFunctions, HelperSpec, MergePolicy, RawHelperRequest};
use crate::{
    draft::Draft,
    error::{Error, ErrorCode, Problem, Result},
    link::RecordAddress,
    model::Person,
    value::Timestamp,
};

/// What the schedule helper asks for.
///
/// Requirements: SCH-01, SCH-04.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleChange {
    /// To set the dates.
    Set {
        /// When sending starts.
        start: Timestamp,
        /// When sending stops.
        stop: Option<Timestamp>,
    },
    /// To clear the dates.
    Cancel,
}

/// A call of the helper `H`.
///
/// Everything in it was validated: what only the store can know (whether a tag exists, whether an
/// event is full) is left to the runner.
///
/// Requirements: HLP-02.
#[derive(Debug)]
pub struct HelperRequest<H> {
    raw: RawHelperRequest,
    helper: PhantomData<fn() -> H>,
}

impl<H: HelperSpec> HelperRequest<H> {
    /// The typed view of a plan for this helper.
    #[must_use]
    pub fn from_raw(raw: RawHelperRequest) -> Self {
        Self {
            raw,
            helper: PhantomData,
        }
    }

    /// The inline person.
    ///
    /// Requirements: HLP-03.
    #[must_use]
    pub fn person(&self) -> Option<Draft<Person>> {
        self.raw.person.clone().map(Draft::from_raw)
    }

    /// The inline person, for a runner that cannot do without one; a sign-up always has it.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::FieldRequired`], naming `person`.
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

    /// The action to record; `None` for person signup and schedule.
    #[must_use]
    pub fn action(&self) -> Option<Draft<H::Records>> {
        self.raw.action.clone().map(Draft::from_raw)
    }

    /// The record that the helper belongs to; `None` for person signup.
    #[must_use]
    pub fn container(&self) -> Option<&RecordAddress> {
        self.raw.container.as_ref()
    }

    /// The action functions.
    ///
    /// Requirements: HAF-01.
    #[must_use]
    pub fn functions(&self) -> &ActionFunctions {
        &self.raw.functions
    }

    /// What the schedule helper asks for.
    ///
    /// Requirements: SCH-01, SCH-04.
    #[must_use]
    pub fn schedule(&self) -> Option<ScheduleChange> {
        self.raw.schedule
    }

    /// Whether all of it must succeed or nothing be stored; the report is then an
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) with every problem.
    ///
    /// Requirements: ERR-34.
    #[must_use]
    pub fn is_atomic(&self) -> bool {
        self.raw.atomic
    }

    /// Whether the call has no key: then it finds no action that was recorded before, and its
    /// action keeps those of its identifiers that nothing else has: see `unclaimed`.
    ///
    /// Requirements: HLP-07, UND-24.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.raw.anonymous
    }

    /// What becomes of the posted person when it is known already.
    ///
    /// Requirements: HLP-04.
    #[must_use]
    pub fn merge(&self) -> MergePolicy {
        self.raw.merge
    }

    /// The plan without its type, lent.
    #[must_use]
    pub fn as_raw(&self) -> &RawHelperRequest {
        &self.raw
    }

    /// The plan without its type.
    #[must_use]
    pub fn into_raw(self) -> RawHelperRequest {
        self.raw
    }
}
