//! Runs the suite against its faulty and odd servers: `--seeds A..B`, `--odd-seeds A..B`, `--quick`, `--only TEXT`,
//! `--workers N`, `--out FILE`.

use std::ops::Range;

use svc_conformance::Intensity;
use svc_conformance::self_test::score::{self, Settings};

fn range(text: &str) -> Option<Range<u64>> {
    let (start, end) = text.split_once("..")?;
    Some(start.parse().ok()?..end.parse().ok()?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut settings = Settings::default();
    let mut out = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--quick" => settings.intensity = Intensity::Quick,
            "--seeds" => settings.seeds = range(&value()?).ok_or("a range is A..B")?,
            "--odd-seeds" => settings.odd_seeds = range(&value()?).ok_or("a range is A..B")?,
            "--only" => settings.only = Some(value()?),
            "--workers" => settings.workers = value()?.parse()?,
            "--out" => out = Some(value()?),
            other => return Err(format!("{other} is no argument").into()),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(settings.workers).enable_all().build()?;
    let score = runtime.block_on(score::run(&settings, |line| println!("{line}")));
    println!(
        "kill score {}/{}, accused {}/{} odd servers, {:.0} s",
        score.killed, score.runs, score.accused, score.odd, score.seconds
    );
    if let Some(out) = out {
        std::fs::write(out, score.to_json())?;
    }
    if score.is_perfect() { Ok(()) } else { Err("not every fault was found, or somebody was accused".into()) }
}
