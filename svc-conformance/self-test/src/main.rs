//! Runs the suite against mutants, and against unusual but conformant servers.

use std::io::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use svc_conformance::Intensity;
use svc_self_test::progress::Progress;
use svc_self_test::{known, score, settings::SelfTestSettings, triples};

/// Run the conformance suite against mutants and unusual servers, and report its score
///
/// A mutant is a server with one planted fault, which the suite must detect. An unusual server
/// conforms to the specification in an uncommon way, and the suite must accept it. A seed is a
/// number that determines the random data of a run. A range such as 0..20 contains the seeds 0 to
/// 19, and each server runs once with each seed.
///
/// Exit codes: 0 the suite detects the mutants and accepts the unusual servers; 1 it does not; 2
/// invalid usage; 3 --only selects no server; 5 a file cannot be written
#[derive(Debug, Parser)]
#[command(name = "svc-self-test", version)]
struct SelfTestArgs {
    /// Seeds of the runs against mutants
    #[arg(long, value_name = "A..B", default_value = "0..20", value_parser = seeds)]
    seeds: Range<u64>,

    /// Seeds of additional runs against mutants, at the lowest intensity (quick)
    #[arg(long, value_name = "A..B", default_value = "0..1", value_parser = more_seeds)]
    quick_seeds: Range<u64>,

    /// Seeds of the runs against unusual servers
    #[arg(long, value_name = "A..B", default_value = "0..3", value_parser = seeds)]
    odd_seeds: Range<u64>,

    /// Seeds of additional runs against unusual servers, at the lowest intensity (quick)
    #[arg(long, value_name = "A..B", default_value = "0..20", value_parser = more_seeds)]
    odd_quick_seeds: Range<u64>,

    /// Intensity of the runs with --seeds and --odd-seeds: quick, default or deep; a higher
    /// intensity sends more requests
    #[arg(long, value_name = "HOW", default_value = "default", value_parser = intensity)]
    intensity: Intensity,

    /// Run only mutants and unusual servers whose name or family (group of similar faults) contains
    /// this text
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Number of simultaneous runs
    #[arg(long, value_name = "N", default_value_t = 2)]
    workers: usize,

    /// Instead, run this number of servers with three random faults each; the report of a run must
    /// have one cause for each fault
    #[arg(long, value_name = "N", conflicts_with_all = ["only", "out"])]
    triples: Option<usize>,

    /// With --triples: report as if the suite had no data about the planted faults
    #[arg(long, requires = "triples")]
    strange: bool,

    /// Instead, run each mutant once at the intensity quick with the first seed, and write the
    /// failed requirements to this file. With --only, the lines of other mutants do not change
    #[arg(long, value_name = "FILE", conflicts_with_all = ["triples", "out"])]
    known: Option<PathBuf>,

    /// Append the result of each server to this file when its runs end. Do not run the servers whose
    /// results are in it. The file must be of this program, with the same seeds, intensity and
    /// selection
    #[arg(long, value_name = "FILE", conflicts_with_all = ["triples", "known"])]
    resume: Option<PathBuf>,

    /// JSON file to write the results to
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(SelfTestArgs::parse()).await {
        Ok(code) => ExitCode::from(code),
        Err((code, trouble)) => {
            eprintln!("svc-self-test: {trouble}");
            ExitCode::from(code)
        }
    }
}

async fn run(options: SelfTestArgs) -> Result<u8, (u8, String)> {
    if let Some(path) = &options.out {
        let broken = |error| (2, format!("{} cannot be written: {error}", path.display()));
        std::fs::File::options()
            .append(true)
            .create(true)
            .open(path)
            .map_err(broken)?;
    }
    if let Some(count) = options.triples {
        let how = triples::How {
            seed: options.seeds.start,
            workers: options.workers,
            are_known: !options.strange,
        };
        return Ok(triples(count, how).await);
    }
    if let Some(path) = options.known {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let tell = |name: &str, rows: &str| say(&format!("{name}: {rows}"));
        let (only, seed) = (options.only.as_deref(), options.seeds.start);
        let (text, result) = known::updated(&text, only, seed, options.workers, tell).await;
        let broken = |error| (5, format!("{} cannot be written: {error}", path.display()));
        std::fs::write(&path, text).map_err(broken)?;
        return result
            .map(|()| 0)
            .map_err(|runs| (1, format!("these runs failed: {runs}")));
    }
    let settings = SelfTestSettings {
        seeds: options.seeds,
        quick_seeds: options.quick_seeds,
        odd_seeds: options.odd_seeds,
        odd_quick_seeds: options.odd_quick_seeds,
        intensity: options.intensity,
        only: options.only,
        workers: options.workers,
    };
    let mut progress = Progress::default();
    if let Some(path) = &options.resume {
        let broken = |error| (2, format!("--resume {}: {error}", path.display()));
        progress = Progress::open(path, &settings).map_err(broken)?;
        say(&format!("{} results are read", progress.remaining()));
    }
    let score = score::run(&settings, &mut progress, say).await;
    let score = score.map_err(|error| (5, format!("the file of --resume: {error}")))?;
    say(&format!(
        "\nkill score {}/{} at {}, {}/{} at quick   false alarms {}/{} unusual servers in {} runs   \
            {} s",
        score.killed,
        score.runs,
        score.intensity.as_str(),
        score.quick_killed,
        score.quick_runs,
        score.accused,
        score.odd,
        score.odd_runs,
        score.seconds
    ));
    if let Some(path) = &options.out {
        let broken = |error| (5, format!("{} cannot be written: {error}", path.display()));
        std::fs::write(path, score.to_json() + "\n").map_err(broken)?;
    }
    Ok(if score.runs == 0 && score.odd == 0 {
        3
    } else {
        u8::from(!score.is_enough())
    })
}

/// Runs triples of faults; returns 0 if the findings match the faults in nine of ten triples.
async fn triples(count: usize, how: triples::How) -> u8 {
    let all = triples::run(triples::chosen(count, how.seed), how, |triple| {
        let said = match (&triple.trouble, triple.is_right()) {
            (Some(_), _) => "not evaluated",
            (None, true) => "right",
            (None, false) => "WRONG",
        };
        say(&format!("{said:<10}  {}", triple.faults.join(" + ")));
        for (fault, rows) in triple
            .faults
            .iter()
            .zip(&triple.alone)
            .filter(|_| !triple.is_right())
        {
            say(&format!(
                "          {fault}: {}",
                rows.iter().cloned().collect::<Vec<_>>().join(", ")
            ));
        }
        for (what, rows) in triple.findings.iter().filter(|_| !triple.is_right()) {
            say(&format!(
                "        * {what}: {}",
                rows.iter().cloned().collect::<Vec<_>>().join(", ")
            ));
        }
        if let Some(trouble) = &triple.trouble {
            say(&format!("        {trouble}"));
        }
    });
    let all = all.await;
    let right = all.iter().filter(|triple| triple.is_right()).count();
    let judged = all.iter().filter(|triple| triple.trouble.is_none()).count();
    say(&format!(
        "\n{right} of {judged} triples have one cause for each fault; {} were not evaluated",
        all.len().saturating_sub(judged)
    ));
    u8::from(right.saturating_mul(10) < judged.saturating_mul(9))
}

/// Writes a line to standard output. Errors, such as a closed pipe, are ignored.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

fn intensity(text: &str) -> Result<Intensity, String> {
    let known = [Intensity::Quick, Intensity::Default, Intensity::Deep];
    let found = known.into_iter().find(|known| known.as_str() == text);
    found.ok_or_else(|| format!("`{text}` is not an intensity. Use quick, default or deep."))
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let range = more_seeds(text)?;
    if range.is_empty() {
        Err(format!("`{text}` contains no seed."))
    } else {
        Ok(range)
    }
}

/// Parses a range like [`seeds`], which may be empty.
fn more_seeds(text: &str) -> Result<Range<u64>, String> {
    let broken = || format!("`{text}` is not a range of seeds. Use a range such as 0..20.");
    let (start, end) = text.split_once("..").ok_or_else(broken)?;
    Ok(start.parse().map_err(|_| broken())?..end.parse().map_err(|_| broken())?)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::{SelfTestArgs, intensity, seeds};

    #[test]
    fn the_command_line_is_sound_and_its_values_are_read() {
        SelfTestArgs::command().debug_assert();
        assert_eq!(seeds("3..5"), Ok(3..5));
        for text in ["", "3", "5..3", "3..3", "-1..2"] {
            assert!(seeds(text).is_err(), "{text}");
        }
        assert!(intensity("quick").is_ok() && intensity("Quick").is_err());
    }
}
