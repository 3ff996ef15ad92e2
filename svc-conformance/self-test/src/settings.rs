//! The settings of the self-test.

use std::ops::Range;

use serde::Serialize;

use svc_conformance::Intensity;

/// The settings of the self-test.
#[derive(Debug, Clone, Serialize)]
pub struct SelfTestSettings {
    /// The seeds of the runs of each mutant at [`Self::intensity`].
    pub seeds: Range<u64>,
    /// The seeds of additional runs of each mutant at the lowest intensity.
    pub quick_seeds: Range<u64>,
    /// The seeds of the runs of each unusual server at [`Self::intensity`].
    pub odd_seeds: Range<u64>,
    /// The seeds of additional runs of each unusual server at the lowest intensity.
    pub odd_quick_seeds: Range<u64>,
    /// The intensity of the runs.
    pub intensity: Intensity,
    /// Runs only servers whose name or family contains this text.
    pub only: Option<String>,
    /// The number of simultaneous runs.
    #[serde(skip)]
    pub workers: usize,
}

impl Default for SelfTestSettings {
    fn default() -> Self {
        Self {
            seeds: 0..20,
            quick_seeds: 0..1,
            odd_seeds: 0..3,
            odd_quick_seeds: 0..20,
            intensity: Intensity::Default,
            only: None,
            workers: 2,
        }
    }
}
