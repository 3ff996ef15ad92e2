//! Progress: a bar on a terminal, otherwise a few lines.

use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};

use crate::progress::Progress;
use crate::suite::Suite;

/// Returns the suite with a display of its progress.
pub(super) fn shown(suite: Suite) -> Suite {
    if std::io::stderr().is_terminal() {
        with_bar(suite)
    } else {
        with_lines(suite)
    }
}

fn with_bar(suite: Suite) -> Suite {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {elapsed}  {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    suite.on_progress(move |progress| {
        if let Some(notice) = &progress.notice {
            bar.println(notice);
        }
        bar.set_length(u64::try_from(progress.all).unwrap_or_default());
        bar.set_position(u64::try_from(progress.done).unwrap_or_default());
        bar.set_message(words(progress));
        if progress.done == progress.all {
            bar.finish_and_clear();
        }
    })
}

/// Prints a line after each tenth of the checks.
fn with_lines(suite: Suite) -> Suite {
    let last = Mutex::new(None);
    suite.on_progress(move |progress| {
        if let Some(notice) = &progress.notice {
            eprintln!("{notice}");
        }
        let tenth = progress.done.saturating_mul(10).checked_div(progress.all);
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if *last != tenth {
            *last = tenth;
            eprintln!("{}/{}  {}", progress.done, progress.all, words(progress));
        }
    })
}

fn words(progress: &Progress) -> String {
    let broken = match progress.broken {
        0 => String::new(),
        1 => ", 1 requirement failed".to_owned(),
        rows => format!(", {rows} requirements failed"),
    };
    let check = if progress.check.is_empty() {
        "clean-up"
    } else {
        &progress.check
    };
    format!("{check}  {} requests{broken}", progress.requests)
}
