//! The short text report.

use std::fmt;

use super::{Report, RowReport};
use crate::catalogue::Catalogue;
use crate::outcome::Outcome;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let applied = self.rows.iter().filter(|row| row.outcome != Outcome::NotApplicable).count();
        writeln!(
            f,
            "svc-conformance {} (catalogue r1, {} rows)   target {}   interface {}",
            self.suite,
            self.rows.len(),
            self.target,
            self.interface
        )?;
        writeln!(
            f,
            "declaration: {:?} ({applied} rows apply)   profile {:?}   intensity {:?}   seed {}",
            self.declaration, self.profile, self.intensity, self.seed
        )?;
        for outcome in [Outcome::Fail, Outcome::Error, Outcome::Waived, Outcome::Inconclusive, Outcome::Warn] {
            for row in self.with(outcome) {
                one(f, row)?;
            }
        }
        for waiver in &self.broken_waivers {
            writeln!(f, "\nWAIVER {waiver}")?;
        }
        let parts: Vec<String> = Outcome::ALL
            .iter()
            .filter(|outcome| self.count(**outcome) > 0)
            .map(|outcome| format!("{} {}", self.count(*outcome), outcome.as_str()))
            .collect();
        let verdict = match (self.is_conformant(), self.count(Outcome::Waived)) {
            (true, 0) => "conformant",
            (true, _) => "conformant with deviations",
            (false, _) if self.exit_code() == 1 => "not conformant",
            (false, _) => "undecided",
        };
        writeln!(f, "\nRESULT {verdict}: {}   {:.1} s, {} requests", parts.join(", "), self.seconds, self.requests)?;
        write!(f, "clean-up: {} of {} records removed", self.clean_up.removed, self.clean_up.created)?;
        for (address, reason) in self.clean_up.left.iter().take(10) {
            write!(f, "\n  left: {address} ({reason})")?;
        }
        Ok(())
    }
}

fn one(f: &mut fmt::Formatter<'_>, row: &RowReport) -> fmt::Result {
    let statement = Catalogue::built_in().ok().and_then(|catalogue| catalogue.row(&row.id)).map(|row| &row.statement);
    let check = row.findings.first().map(|finding| format!("/{}", finding.check)).unwrap_or_default();
    writeln!(f, "\n{} {}{check}  {}", row.outcome.as_str().to_uppercase(), row.id, row.level)?;
    if let Some(statement) = statement {
        writeln!(f, "  {statement}")?;
    }
    let reason: String = row.reason.chars().take(1500).collect();
    writeln!(f, "  {reason}")?;
    for finding in row.findings.iter().filter(|finding| !finding.smallest.is_empty()).take(1) {
        writeln!(f, "  smallest case ({} steps):", finding.smallest.len())?;
        for (number, step) in finding.smallest.iter().enumerate() {
            writeln!(f, "  {:>3} {step}", number.saturating_add(1))?;
        }
    }
    Ok(())
}
