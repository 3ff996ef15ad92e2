//! What a run says about a row, and what a check saw.

use serde::{Deserialize, Serialize};

use crate::cause::Cause;

/// What a run says about one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RequirementOutcome {
    /// Observed at least once, and every observation was as the row says.
    Pass,
    /// Observed otherwise, and again when tried once more.
    Fail,
    /// As the row says, with something that a reader should know; or a SHOULD row that does not
    /// hold.
    Warn,
    /// The row's condition does not hold: it binds this server to nothing.
    NotApplicable,
    /// The run was told not to look (filters, no writes, no side effects, a lower intensity).
    Disabled,
    /// The row applies, and nothing was observed, or what was observed did not come again.
    Inconclusive,
    /// A check of the suite broke.
    Error,
    /// Failed as a waiver foretold.
    Waived,
}

impl RequirementOutcome {
    /// Every outcome.
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

    /// The outcome in words, such as `not applicable`.
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

/// How one look at one row ended that does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ObservationVerdict {
    Deviates,
    Breaks,
}

/// Everything one check saw of one row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Observations {
    /// Looks that found what the row says.
    pub(crate) passed: usize,
    /// What else was found, each with the number of the last exchange before; the first few only.
    pub(crate) violations: Vec<Finding>,
    pub(crate) deviations: Vec<Finding>,
}

/// Something that a row does not allow, or that a reader should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The check that saw it.
    pub check: String,
    /// What was expected and what was found.
    pub message: String,
    /// Number of the exchange after which it was seen.
    pub exchange: usize,
    /// The fewest steps that show it, each one line; empty where the check has no smaller case than
    /// itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub smallest: Vec<String>,
    /// What is to be mended, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Method and status of the exchange before, where it was refused.
    #[serde(skip)]
    pub(crate) refused: Option<(String, u16)>,
}

/// Why a check ends early.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckStop {
    /// A row does not hold, and without it there is nothing more to see. The finding is recorded
    /// already.
    Failed,
    /// Something that the check builds on is not there.
    Inconclusive(String),
    /// The run was told not to do this.
    Disabled(String),
    /// A step of a check of one's own was answered otherwise than expected.
    UnexpectedResponse(String),
}

/// Ends a check: something that it builds on is not there.
pub(crate) fn none(what: impl Into<String>) -> CheckStop {
    CheckStop::Inconclusive(what.into())
}
