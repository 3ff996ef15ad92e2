//! The intensity and the permissions of a run.

use std::collections::BTreeSet;
use std::time::Duration;

/// How many requests and variants a run tries.
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
    /// A few seconds: every requirement once.
    Quick,
    /// Also generated bodies and sequences.
    #[default]
    Default,
    /// More of them, and concurrent callers.
    Deep,
}

impl Intensity {
    /// Returns the name of the intensity on the command line: `quick`, `default` or `deep`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Default => "default",
            Self::Deep => "deep",
        }
    }
}

/// The limits and permissions of a run.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate switch")]
pub(crate) struct RunSettings {
    pub(crate) seed: u64,
    pub(crate) intensity: Intensity,
    pub(crate) writes: bool,
    pub(crate) side_effects: bool,
    /// The maximum time to wait for one response.
    pub(crate) timeout: Duration,
    /// The maximum time for one attempt at one check.
    pub(crate) check_timeout: Duration,
    /// The maximum time to wait for one webhook message.
    pub(crate) webhook_timeout: Duration,
    pub(crate) body_limit: usize,
    pub(crate) requests: usize,
    pub(crate) requests_per_check: usize,
    pub(crate) records: usize,
    /// The maximum number of requests per second.
    pub(crate) rate: Option<f64>,
    /// The maximum difference between the clock of the server and the local clock.
    ///
    /// Requirements: TYP-15.
    pub(crate) clock_tolerance: Duration,
    /// The requirements at whose first confirmed failure the run ends. Any MUST requirement if none
    /// is named.
    pub(crate) stop_at: Option<BTreeSet<String>>,
    /// Whether the choices of the server are recorded, to compare them with pins.
    pub(crate) pins: bool,
    /// Whether the run ends at the first failure of any requirement that is selected and not
    /// waived.
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
