//! What the self-test runs.

use std::ops::Range;

use svc_conformance::Intensity;

/// What is run.
#[derive(Debug, Clone)]
pub struct SelfTestSettings {
    /// The seeds; each faulty server is run with each.
    pub seeds: Range<u64>,
    /// The seeds with which each faulty server is run at the least intensity, too.
    pub quick_seeds: Range<u64>,
    /// The seeds of the odd servers' full runs at the same intensity.
    pub odd_seeds: Range<u64>,
    /// The seeds of the odd servers' full runs at the least intensity.
    pub odd_quick_seeds: Range<u64>,
    /// How much each run does.
    pub intensity: Intensity,
    /// Only servers whose name or family contains this.
    pub only: Option<String>,
    /// Runs at the same time.
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
