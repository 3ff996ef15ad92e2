//! The short text report.

use std::fmt::{self, Write};

use svc_declaration::visible;

use super::{Report, RequirementReport, Score};
use crate::catalogue::Catalogue;
use crate::declared::DeclarationSource;
use crate::outcome::RequirementOutcome;
use crate::values::display_text;

/// The number of causes that are shown with all details.
const WHOLE: usize = 3;

/// The areas of the report, with their names.
pub(crate) const AREAS: &[(&str, &str)] = &[
    ("CAP", "declaration"),
    ("HAL", "hypermedia"),
    ("ENT", "entry point"),
    ("COL", "collections"),
    ("TYP", "types"),
    ("RES", "fields and links"),
    ("CRU", "create update delete"),
    ("HLP", "helpers"),
    ("HAF", "action functions"),
    ("SCH", "scheduling"),
    ("AUT", "authentication"),
    ("ERR", "errors"),
    ("LIM", "limits"),
    ("VER", "versions"),
    ("ETG", "conditional requests"),
    ("IDM", "repeated requests"),
    ("FLT", "filters"),
    ("BAT", "batch requests"),
    ("SYN", "changes"),
    ("HOOK", "webhooks"),
    ("STR", "strict handling"),
    ("DUP", "duplicates"),
    ("UND", "open choices"),
];

/// Returns the area of a requirement: its id up to the first dash.
pub(crate) fn area(id: &str) -> &str {
    id.split('-').next().unwrap_or_default()
}

/// The requirements of one area.
pub(crate) struct AreaSummary<'r>(Vec<&'r RequirementReport>);

impl<'r> AreaSummary<'r> {
    pub(crate) fn of(report: &'r Report, name: &str) -> Self {
        Self(
            report
                .rows
                .iter()
                .filter(|row| area(&row.id) == name)
                .collect(),
        )
    }

    pub(crate) fn count(&self, outcome: RequirementOutcome) -> usize {
        self.0.iter().filter(|row| row.outcome == outcome).count()
    }

    /// Returns the number of requirements that apply and were to be checked.
    pub(crate) fn due(&self) -> usize {
        let apart = self
            .count(RequirementOutcome::NotApplicable)
            .saturating_add(self.count(RequirementOutcome::Disabled));
        self.0.len().saturating_sub(apart)
    }

    /// Returns the number of those without a failure.
    pub(crate) fn good(&self) -> usize {
        self.count(RequirementOutcome::Pass)
            .saturating_add(self.count(RequirementOutcome::Warn))
    }

    /// Returns the number of those that pass although a check was cut off that would have observed
    /// more.
    fn in_part(&self) -> usize {
        self.0.iter().filter(|row| row.is_in_part()).count()
    }
}

/// Returns the source of the declaration, as text.
pub(crate) const fn source(source: DeclarationSource) -> &'static str {
    match source {
        DeclarationSource::Given => "given by the program",
        DeclarationSource::Published => "published by the server",
        DeclarationSource::File => "read from a file",
        DeclarationSource::Probed => "probed",
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(&mut text)?;
        f.write_str(&visible(&text))
    }
}

impl Report {
    fn write(&self, f: &mut String) -> fmt::Result {
        writeln!(
            f,
            "svc-conformance {} (catalogue r1, {} requirements)   target {}   API version {}",
            self.suite,
            self.rows.len(),
            self.target,
            display_text(&self.interface, 40)
        )?;
        writeln!(
            f,
            "declaration: {} ({} requirements apply)   profile {}   intensity {}   seed {}",
            source(self.declaration),
            self.rows
                .len()
                .saturating_sub(self.count(RequirementOutcome::NotApplicable)),
            self.profile.as_str(),
            self.intensity.as_str(),
            self.seed
        )?;
        areas(f, self)?;
        causes(f, self)?;
        for row in self.with_outcome(RequirementOutcome::Fail) {
            if self
                .causes
                .iter()
                .take(WHOLE)
                .any(|cause| cause.shows == row.id)
            {
                whole(f, row)?;
            } else {
                writeln!(
                    f,
                    "\nFAIL {} {}: {}",
                    row.id,
                    row.level,
                    display_text(&row.reason, 200)
                )?;
            }
        }
        for outcome in [RequirementOutcome::Error, RequirementOutcome::Waived] {
            for row in self.with_outcome(outcome) {
                whole(f, row)?;
            }
        }
        for outcome in [RequirementOutcome::Inconclusive, RequirementOutcome::Warn] {
            for (at, row) in self.with_outcome(outcome).enumerate() {
                let space = if at == 0 { "\n" } else { "" };
                let name = outcome.as_str().to_uppercase();
                writeln!(
                    f,
                    "{space}{name} {} {}: {}",
                    row.id,
                    row.level,
                    display_text(&row.reason, 400)
                )?;
                if !row.advice.is_empty() {
                    writeln!(f, "  {}", row.advice)?;
                }
            }
        }
        for (check, cut) in self.timed_out_checks() {
            writeln!(f, "\nCUT {}: {}", check.id, cut.said(20))?;
        }
        let ended = self
            .checks
            .iter()
            .filter(|check| check.was_left_out_at_failure())
            .count();
        if ended > 0 {
            writeln!(
                f,
                "\nENDED at the first failure: {ended} of {} checks were not run",
                self.checks.len()
            )?;
        }
        for waiver in &self.broken_waivers {
            writeln!(f, "\nWAIVER {waiver}")?;
        }
        for lack in &self.profile_lacks {
            writeln!(f, "\nPROFILE {lack}")?;
        }
        let parts: Vec<String> = RequirementOutcome::ALL
            .iter()
            .filter(|outcome| self.count(**outcome) > 0)
            .map(|outcome| {
                match self
                    .with_outcome(*outcome)
                    .filter(|row| row.is_in_part())
                    .count()
                {
                    0 => format!("{} {}", self.count(*outcome), outcome.as_str()),
                    part => format!(
                        "{} {} ({part} only partly observed: a check was cut off)",
                        self.count(*outcome),
                        outcome.as_str()
                    ),
                }
            })
            .collect();
        let (verdict, parts) = (self.verdict(), parts.join(", "));
        writeln!(
            f,
            "\nRESULT {verdict}: {parts}   {:.1} s, {} requests",
            self.seconds, self.requests
        )?;
        write!(
            f,
            "clean-up: {} of {} records removed      {}      exit {}",
            self.clean_up.removed,
            self.clean_up.created,
            Score::built_in_text(),
            self.exit_code()
        )?;
        for (address, reason) in self.clean_up.left.iter().take(10) {
            write!(
                f,
                "\n  left: {} ({})",
                display_text(address, 200),
                display_text(reason, 300)
            )?;
        }
        match self.clean_up.left.len().saturating_sub(10) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

fn areas(f: &mut String, report: &Report) -> fmt::Result {
    let notes = [
        RequirementOutcome::Fail,
        RequirementOutcome::Error,
        RequirementOutcome::Waived,
        RequirementOutcome::Inconclusive,
        RequirementOutcome::Warn,
    ];
    for (at, (name, title)) in AREAS.iter().enumerate() {
        let tally = AreaSummary::of(report, name);
        if tally.due() == 0 {
            continue;
        }
        let space = if at == 0 { "\n" } else { "" };
        let words: Vec<String> = notes
            .iter()
            .filter(|outcome| tally.count(**outcome) > 0)
            .map(|outcome| {
                let word = if *outcome == RequirementOutcome::Fail {
                    "failed"
                } else {
                    outcome.as_str()
                };
                format!("{} {word}", tally.count(*outcome))
            })
            .chain(
                Some(tally.in_part())
                    .filter(|part| *part > 0)
                    .map(|part| format!("{part} only partly observed: a check was cut off")),
            )
            .collect();
        let line = format!(
            "{space} {name}  {title:<22} {:>9}   {}",
            format!("{}/{}", tally.good(), tally.due()),
            words.join(", ")
        );
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Writes the first causes with what was expected and received, and one line for each of the
/// others.
fn causes(f: &mut String, report: &Report) -> fmt::Result {
    for cause in report.causes.iter().take(WHOLE) {
        writeln!(
            f,
            "\nCAUSE {}\n  {}\n  {}",
            cause.sentence(),
            cause.remedy,
            some(&cause.rows)
        )?;
        writeln!(f, "  expected: {}", display_text(&cause.expected, 400))?;
        writeln!(f, "  received: {}", display_text(&cause.received, 400))?;
        if !cause.like.is_empty() {
            writeln!(
                f,
                "  a known fault that causes these failures: {}",
                cause.like.join("; ")
            )?;
        }
    }
    for (at, cause) in report.causes.iter().skip(WHOLE).enumerate() {
        let space = if at == 0 { "\n" } else { "" };
        writeln!(f, "{space}CAUSE {}", display_text(&cause.sentence(), 200))?;
    }
    match report.causes.len() {
        0..=WHOLE => Ok(()),
        _ => writeln!(
            f,
            "  A report file has all of them with their requirements and requests: --report html=FILE"
        ),
    }
}

/// Writes a requirement with its statement, its findings, and the smallest case.
fn whole(f: &mut String, row: &RequirementReport) -> fmt::Result {
    let statement = Catalogue::built_in()
        .ok()
        .and_then(|catalogue| catalogue.requirement(&row.id))
        .map(|row| &row.statement);
    let check = row
        .findings
        .first()
        .map(|finding| format!(" by {}", finding.check))
        .unwrap_or_default();
    writeln!(
        f,
        "\n{} {}{check}  {}",
        row.outcome.as_str().to_uppercase(),
        row.id,
        row.level
    )?;
    if let Some(statement) = statement {
        writeln!(f, "  {statement}")?;
    }
    writeln!(f, "  {}", display_text(&row.reason, 1500))?;
    for finding in row
        .findings
        .iter()
        .filter(|finding| !finding.smallest.is_empty())
        .take(1)
    {
        writeln!(f, "  smallest case ({} steps):", finding.smallest.len())?;
        for (number, step) in finding.smallest.iter().enumerate() {
            writeln!(
                f,
                "  {:>3} {}",
                number.saturating_add(1),
                display_text(step, 400)
            )?;
        }
    }
    if let Some(replay) = &row.replay {
        let curl = replay.strip_suffix(".replay.json").unwrap_or(replay);
        writeln!(
            f,
            "  replay: svc-conformance replay {replay}     curl: {curl}.sh"
        )?;
    }
    Ok(())
}

/// Returns the first ids of a list.
pub(crate) fn some(rows: &[String]) -> String {
    let first: Vec<&str> = rows.iter().take(12).map(String::as_str).collect();
    let more = rows.len().saturating_sub(12);
    if more == 0 {
        first.join(", ")
    } else {
        format!("{} and {more} more", first.join(", "))
    }
}
