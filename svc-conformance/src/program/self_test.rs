//! `self-test`: the suite against servers that are known to be faulty, and against odd but conformant ones.

use super::Trouble;
use super::cli::SelfTestOptions;

#[cfg(feature = "self-test")]
pub(super) async fn self_test(options: SelfTestOptions) -> Result<u8, Trouble> {
    use crate::self_test::{score, settings::Settings};

    if let Some(path) = &options.out {
        let broken = |error| Trouble::usage(format!("{} cannot be written: {error}", path.display()));
        std::fs::File::options().append(true).create(true).open(path).map_err(broken)?;
    }
    let settings = Settings {
        seeds: options.seeds,
        quick_seeds: options.quick_seeds,
        odd_seeds: options.odd_seeds,
        odd_quick_seeds: options.odd_quick_seeds,
        intensity: options.intensity,
        only: options.only,
        workers: options.workers,
    };
    let score = score::run(&settings, |line| super::say(&format!("{line}\n"))).await;
    super::say(&format!(
        "\nkill score {}/{} at {}, {}/{} at quick   false alarms {}/{} odd servers in {} runs   {} s\n",
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
        let broken = |error| Trouble::new(5, format!("{} cannot be written: {error}", path.display()));
        std::fs::write(path, score.to_json() + "\n").map_err(broken)?;
    }
    Ok(if score.runs == 0 && score.odd == 0 { 3 } else { u8::from(!score.is_enough()) })
}

#[cfg(not(feature = "self-test"))]
#[expect(clippy::unused_async, reason = "as where the feature is on")]
pub(super) async fn self_test(_: SelfTestOptions) -> Result<u8, Trouble> {
    let how = "cargo run --release -p svc-conformance --features self-test -- self-test";
    Err(Trouble::usage(format!("this program was built without its faulty servers: {how}")))
}
