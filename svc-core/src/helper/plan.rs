//! What a helper call asks for, validated, as plain data.

use std::{marker::PhantomData, ops::Deref};

use super::{Functions, HelperName, HelperSpec, Merge};
use crate::{
    draft::{Draft, RawDraft},
    error::{Code, Error, Problem, Result},
    link::Address,
    model::Person,
    value::Timestamp,
};

/// A helper call as plain data (HLP-02).
///
/// Everything in it was validated: what only the store can know (whether a tag exists, whether an event is full) is left
/// to the runner.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RawPlan {
    /// Which helper.
    pub helper: HelperName,
    /// The record it belongs to; `None` for person signup.
    pub container: Option<Address>,
    /// The inline person (HLP-03).
    pub person: Option<RawDraft>,
    /// The action to record; `None` for person signup and schedule.
    pub action: Option<RawDraft>,
    /// The action functions (HAF-01).
    pub functions: Functions,
    /// What the schedule helper asks for (SCH-01, SCH-04).
    pub schedule: Option<Scheduling>,
    /// Whether all of it must succeed or nothing be stored (ERR-34); the report is then an
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) with every problem.
    pub atomic: bool,
    /// Whether the call has no key: then it may match a person, but only fills what is empty (HLP-04), and leaves a
    /// stored action as it is (UND-24).
    pub anonymous: bool,
}

impl RawPlan {
    /// A call with a key that asks for nothing, for tests of runners.
    #[must_use]
    pub fn empty(helper: HelperName) -> Self {
        Self {
            helper,
            container: None,
            person: None,
            action: None,
            functions: Functions::default(),
            schedule: None,
            atomic: false,
            anonymous: false,
        }
    }

    /// How the posted person is merged into a known one: without a key only what is empty is filled (HLP-04).
    #[must_use]
    pub const fn merge(&self) -> Merge {
        if self.anonymous { Merge::Fill } else { Merge::Replace }
    }
}

/// What the schedule helper asks for (SCH-01, SCH-04).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheduling {
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

/// A call of the helper `H`; reads like a [`RawPlan`], with typed views of the person and the action.
#[derive(Debug)]
pub struct Plan<H> {
    raw: RawPlan,
    helper: PhantomData<fn() -> H>,
}

impl<H: HelperSpec> Plan<H> {
    /// The typed view of a plan for this helper.
    #[must_use]
    pub fn from_raw(raw: RawPlan) -> Self {
        Self { raw, helper: PhantomData }
    }

    /// The inline person (HLP-03).
    #[must_use]
    pub fn person(&self) -> Option<Draft<Person>> {
        self.raw.person.clone().map(Draft::from_raw)
    }

    /// The inline person, for a runner that cannot do without one; a sign-up always has it.
    ///
    /// # Errors
    ///
    /// [`Code::FieldRequired`], naming `person`.
    pub fn required_person(&self) -> Result<Draft<Person>> {
        let missing = || Problem::new(Code::FieldRequired, "person", "{property} is required.");
        self.person().ok_or_else(|| Error::invalid(missing()))
    }

    /// The action to record; `None` for person signup and schedule.
    #[must_use]
    pub fn action(&self) -> Option<Draft<H::Records>> {
        self.raw.action.clone().map(Draft::from_raw)
    }

    /// The plan without its type.
    #[must_use]
    pub fn into_raw(self) -> RawPlan {
        self.raw
    }
}

impl<H> Deref for Plan<H> {
    type Target = RawPlan;

    fn deref(&self) -> &RawPlan {
        &self.raw
    }
}
