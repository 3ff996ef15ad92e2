//! The measurements of the benchmarks: medians of interleaved runs, CPU time of a thread, and a
//! line for each bound.

use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The bound of a ratio.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

/// The lines of one benchmark, and whether any bound was missed.
#[derive(Debug, Default)]
pub(crate) struct Report {
    missed: bool,
}

impl Report {
    /// Prints a measured value and its bound; `detail` explains the ratio.
    pub(crate) fn line(
        &mut self,
        what: &str,
        bound: Bound,
        measured: f64,
        unit: &str,
        detail: &str,
    ) {
        let (word, limit, kept) = match bound {
            Bound::AtMost(limit) => ("at most", limit, measured <= limit),
            Bound::AtLeast(limit) => ("at least", limit, measured >= limit),
        };
        let verdict = if kept { "ok" } else { "MISSED" };
        self.missed |= !kept;
        println!(
            "{what:<54} {word:>8} {limit:>5.2}{unit}   measured {measured:>6.2}{unit}   {verdict:<6}  ({detail})"
        );
    }

    /// Returns exit code 1 if a bound was missed.
    pub(crate) fn finish(self) -> ExitCode {
        if self.missed {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        }
    }
}

/// Returns whether the command line selects this part of a benchmark. It names parts, or none for
/// all of them.
pub(crate) fn is_asked_for(part: &str) -> bool {
    let mut named = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .peekable();
    named.peek().is_none() || named.any(|name| name == part)
}

/// Runs the sides alternately, `rounds` times after one warm-up round, and returns the median of
/// each.
pub(crate) fn interleaved<const N: usize>(
    rounds: usize,
    mut sides: [&mut dyn FnMut() -> f64; N],
) -> [f64; N] {
    let mut runs = [const { Vec::new() }; N];
    for round in 0..=rounds {
        for (side, of_side) in sides.iter_mut().zip(&mut runs) {
            let run = side();
            if round > 0 {
                of_side.push(run);
            }
        }
    }
    runs.map(median)
}

pub(crate) fn median(mut runs: Vec<f64>) -> f64 {
    runs.sort_by(f64::total_cmp);
    runs.get(runs.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Returns the CPU time of this thread in microseconds for each of `count` units of work.
pub(crate) fn cpu_each(count: u32, work: impl FnOnce()) -> f64 {
    let watch = CpuWatch::start();
    work();
    watch.micros() / f64::from(count)
}

/// Measures the CPU time of the thread that started it.
#[derive(Debug)]
pub(crate) struct CpuWatch(Duration);

impl CpuWatch {
    pub(crate) fn start() -> Self {
        Self(thread_cpu())
    }

    pub(crate) fn micros(&self) -> f64 {
        thread_cpu().saturating_sub(self.0).as_secs_f64() * 1e6
    }
}

/// Returns the units of work per second.
pub(crate) fn per_second(count: u32, work: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    work();
    f64::from(count) / begin.elapsed().as_secs_f64()
}

#[cfg(unix)]
fn thread_cpu() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(
        now.tv_sec.try_into().unwrap_or(0),
        now.tv_nsec.try_into().unwrap_or(0),
    )
}

/// Without such a clock, measures elapsed time.
#[cfg(not(unix))]
fn thread_cpu() -> Duration {
    static BEGIN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed()
}
