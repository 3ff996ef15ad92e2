//! How much a run does, and what it may do.

use std::collections::BTreeSet;
use std::time::Duration;

/// How much a run does.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Intensity {
    /// A few seconds: every row once.
    Quick,
    /// Generated bodies and sequences.
    #[default]
    Default,
    /// More of them, and callers at the same time.
    Deep,
}

impl Intensity {
    /// The intensity as the program takes it: `quick`, `default` or `deep`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Default => "default",
            Self::Deep => "deep",
        }
    }
}

/// Bounds and permissions of a run.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct RunSettings {
    pub(crate) seed: u64,
    pub(crate) intensity: Intensity,
    pub(crate) writes: bool,
    pub(crate) side_effects: bool,
    /// Longest wait for one answer.
    pub(crate) timeout: Duration,
    /// Longest time for one attempt at one check.
    pub(crate) check_timeout: Duration,
    /// Longest wait for one message of a webhook.
    pub(crate) webhook_timeout: Duration,
    pub(crate) body_limit: usize,
    pub(crate) requests: usize,
    pub(crate) requests_per_check: usize,
    pub(crate) records: usize,
    /// Requests in a second at most.
    pub(crate) rate: Option<f64>,
    /// How far the server's clock may be from this one.
    ///
    /// Requirements: TYP-15.
    pub(crate) clock_tolerance: Duration,
    /// The rows at whose first confirmed failure the run ends; any MUST row where none is named.
    pub(crate) stop_at: Option<BTreeSet<String>>,
    /// Whether what the server chose is noted, to be held against pins.
    pub(crate) pins: bool,
    /// Whether the run ends at the first failure of any row that is selected and not waived.
    pub(crate) fail_fast: bool,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            seed: 0,
            intensity: Intensity::Default,
            writes: true,
            side_effects: true,
            timeout: Duration::from_secs(10),
            check_timeout: Duration::from_secs(2 * 60),
            webhook_timeout: Duration::from_secs(40),
            body_limit: 8 * 1024 * 1024,
            requests: 200_000,
            requests_per_check: 20_000,
            records: 50_000,
            rate: None,
            clock_tolerance: Duration::from_secs(5 * 60),
            stop_at: None,
            pins: false,
            fail_fast: false,
        }
    }
}
