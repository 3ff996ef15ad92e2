//! The outcome of a requirement, and the observations of a check.

use serde::{Deserialize, Serialize};

use crate::cause::Cause;

/// The outcome of a requirement in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RequirementOutcome {
    /// The run observed the requirement at least once, and the requirement held each time.
    Pass,
    /// The server violates the requirement, and did so again when the check was repeated.
    Fail,
    /// The requirement holds, with something that a reader should know, or the server violates a
    /// requirement of the level SHOULD.
    Warn,
    /// The server does not declare what the requirement is about, or no declared feature can show
    /// it.
    NotApplicable,
    /// The requirement was excluded, or the run may not write or send what it needs.
    Disabled,
    /// The requirement applies, but the run could not decide whether the server fulfils it.
    ///
    /// The run observed nothing, a failure did not occur again, or only checks that were cut off
    /// observed the requirement.
    Inconclusive,
    /// A check of the suite failed with an internal error of the suite.
    Error,
    /// The requirement fails, and a [`Waiver`](crate::Waiver) accepts this until a date.
    Waived,
}

impl RequirementOutcome {
    /// All outcomes.
    pub const ALL: [Self; 8] = [
        Self::Pass,
        Self::Fail,
        Self::Warn,
        Self::NotApplicable,
        Self::Disabled,
        Self::Inconclusive,
        Self::Error,
        Self::Waived,
    ];

    /// Returns the outcome in words, such as `not applicable`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Warn => "warn",
            Self::NotApplicable => "not applicable",
            Self::Disabled => "disabled",
            Self::Inconclusive => "inconclusive",
            Self::Error => "error",
            Self::Waived => "waived",
        }
    }
}

impl std::fmt::Display for RequirementOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The verdict of an observation that does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ObservationVerdict {
    #[serde(rename = "deviates")]
    Deviation,
    #[serde(rename = "breaks")]
    Violation,
}

/// All observations of one requirement by one check.
#[derive(Debug, Clone, Default)]
pub(crate) struct Observations {
    /// The number of observations that hold.
    pub(crate) passed: usize,
    /// The violations, each with the number of the last exchange before it. Only the first few are
    /// stored.
    pub(crate) violations: Vec<Finding>,
    pub(crate) deviations: Vec<Finding>,
}

/// A violation of a requirement, or something that a reader should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The check that found it.
    pub check: String,
    /// What was expected and what was found.
    pub message: String,
    /// The number of the exchange after which it was found.
    pub exchange: usize,
    /// The shortest sequence of steps that shows it, one per line. Empty if there is no smaller
    /// case than the check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub smallest: Vec<String>,
    /// What to fix, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The method and status of the previous exchange, if it was rejected.
    #[serde(skip)]
    pub(crate) refused: Option<(String, u16)>,
}

/// Why a check ends early.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckStop {
    /// A requirement does not hold, and the check cannot continue without it. The finding is
    /// recorded already.
    Failed,
    /// Something that the check requires is missing.
    Inconclusive(String),
    /// The settings of the run do not allow it.
    Disabled(String),
    /// The response to a step of a custom check was not as expected.
    UnexpectedResponse(String),
}

/// Ends a check because something that it requires is missing.
pub(crate) fn none(what: impl Into<String>) -> CheckStop {
    CheckStop::Inconclusive(what.into())
}
