//! Pins: the choices of a server where the specification leaves a choice, compared with those of an
//! earlier run. Differences do not affect conformance.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::check::Check;
use crate::error::SuiteError;
use crate::response::TestResponse;
use crate::runner::{CheckEnd, CheckResult};
use crate::settings::{Intensity, RunSettings};

/// The choices of the server by check: one line for each kind of response and each choice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PinnedChoices {
    /// Runs with another seed or intensity send other requests and cannot be compared.
    seed: u64,
    intensity: Intensity,
    checks: BTreeMap<String, BTreeSet<String>>,
}

/// The file with the pins of a server, and whether a run writes it.
#[derive(Debug, Clone)]
pub(crate) struct PinFile {
    pub(crate) path: PathBuf,
    pub(crate) update: bool,
}

impl PinFile {
    /// Reads the pins before anything is sent. A file that does not exist or belongs to another
    /// kind of run is an immediate error.
    pub(crate) fn read(&self, settings: &RunSettings) -> Result<PinnedChoices, SuiteError> {
        let pinned: PinnedChoices = match fs::read_to_string(&self.path) {
            Ok(text) => toml::from_str(&text).map_err(|error| self.broken(&error))?,
            Err(error) if self.update && error.kind() == ErrorKind::NotFound => {
                PinnedChoices::default()
            }
            Err(error) => return Err(self.broken(&error)),
        };
        if self.update || (pinned.seed, pinned.intensity) == (settings.seed, settings.intensity) {
            return Ok(pinned);
        }
        Err(SuiteError::Usage(format!(
            "{}: the pins belong to a run with seed {} and intensity {}, but this run has seed {} \
             and intensity {}. Run with the same values, or write new pins",
            self.path.display(),
            pinned.seed,
            pinned.intensity.as_str(),
            settings.seed,
            settings.intensity.as_str()
        )))
    }

    /// Returns the differences between a run and its pins, one sentence each. With `update`, writes
    /// the choices of the run as pins instead.
    pub(crate) fn drift(
        &self,
        mut pinned: PinnedChoices,
        all: &[Check],
        settings: &RunSettings,
        ran: &[CheckResult],
    ) -> Vec<String> {
        if !self.update {
            return pinned.differences(all, ran);
        }
        let alike = (pinned.seed, pinned.intensity) == (settings.seed, settings.intensity);
        pinned
            .checks
            .retain(|id, _| alike && all.iter().any(|check| check.id == id));
        (pinned.seed, pinned.intensity) = (settings.seed, settings.intensity);
        for one in ran.iter().filter(|one| !is_open(one)) {
            pinned.checks.remove(one.check.id);
            if !one.pins.is_empty() {
                pinned
                    .checks
                    .insert(one.check.id.to_owned(), one.pins.clone());
            }
        }
        let written = replace(&self.path, &pinned.written(), sync_directory);
        written
            .err()
            .map(|error| self.broken(&error).to_string())
            .into_iter()
            .collect()
    }

    fn broken(&self, why: &dyn std::fmt::Display) -> SuiteError {
        SuiteError::Usage(format!(
            "the pins in {}: {why}; --update-pins writes them",
            self.path.display()
        ))
    }
}

/// Replaces a file so that its name always refers to the former text or the new one, even after a
/// power loss.
fn replace(path: &Path, text: &str, sync: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let new = PathBuf::from(name);
    let mut file = File::create(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    sync(path)
}

/// Syncs the directory of `path`, which makes a rename durable. A copy of
/// `svc_sqlite::sync_directory`, because the suite depends on no store.
fn sync_directory(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Returns what the differences mean and what to do. Empty if there are none.
pub(crate) fn explain(drift: &[String]) -> String {
    if drift.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "pins: {} differences; they do not affect conformance\n",
        drift.len()
    );
    for line in drift {
        let _ = writeln!(text, "  {line}");
    }
    text + "  if the change is intended, accept it with --update-pins, or in tests with UPDATE_PINS=1\n"
}

/// Whether a check was left out or did not finish. What it did not observe is then unknown.
fn is_open(ran: &CheckResult) -> bool {
    matches!(
        ran.end,
        CheckEnd::Disabled(_) | CheckEnd::TimedOut { .. } | CheckEnd::Error(_)
    )
}

impl PinnedChoices {
    fn differences(&self, all: &[Check], ran: &[CheckResult]) -> Vec<String> {
        let none = BTreeSet::new();
        let mut found = Vec::new();
        for one in ran.iter().filter(|one| !is_open(one)) {
            let (id, pinned) = (one.check.id, self.checks.get(one.check.id).unwrap_or(&none));
            let why = one.end.reason();
            let why = if why.is_empty() {
                String::new()
            } else {
                format!(" ({why})")
            };
            found.extend(
                pinned
                    .difference(&one.pins)
                    .map(|line| format!("{id}: pinned, but not observed: {line}{why}")),
            );
            found.extend(
                one.pins
                    .difference(pinned)
                    .map(|line| format!("{id}: observed, but not pinned: {line}")),
            );
        }
        let gone = self
            .checks
            .keys()
            .filter(|id| all.iter().all(|check| check.id != id.as_str()));
        found.extend(gone.map(|id| format!("{id}: pinned, but the suite has no such check")));
        found
    }

    /// Returns the text of the file, sorted by ids and lines.
    fn written(&self) -> String {
        let mut text = format!(
            "# The choices of this server where the specification leaves a choice, by check of the \
             conformance suite.\n# Generated by a run with UPDATE_PINS=1 or --update-pins; do not \
             edit.\nseed = {}\nintensity = \"{}\"\n\n[checks]\n",
            self.seed,
            self.intensity.as_str()
        );
        for (id, lines) in &self.checks {
            let _ = writeln!(text, "{} = [", toml::Value::from(id.as_str()));
            for line in lines {
                let _ = writeln!(text, "  {},", toml::Value::from(line.as_str()));
            }
            text.push_str("]\n");
        }
        text
    }
}

/// Returns what a response shows of the choices of the server: status and type. For an error, it
/// also returns the outcome of each resource and each description. Nothing in it depends on a
/// clock, a URL, or other records.
pub(crate) fn lines(answer: &TestResponse) -> Vec<String> {
    let (method, status) = (&answer.method, answer.status);
    let media = answer.header("content-type").unwrap_or("no content");
    let mut head = format!("{method} {status} {media}");
    for name in ["allow", "www-authenticate", "content-encoding"] {
        if let Some(value) = answer.header(name) {
            let _ = write!(head, ", {name}: {value}");
        }
    }
    if let Some(location) = answer.header("location") {
        let own = answer
            .json
            .pointer("/_links/self/href")
            .is_some_and(|own| own == location);
        head.push_str(if own {
            ", location: as self"
        } else {
            ", location: elsewhere"
        });
    }
    let mut lines = vec![head];
    if let Some(error) = answer.error() {
        let mut line = format!("{method} {status} {}", text(&error["request_type"]));
        for entry in answer.entries() {
            let _ = write!(
                line,
                " {}={}",
                text(&entry["resource"]),
                entry["response_code"]
            );
        }
        lines.push(line);
    }
    if answer.is_success() {
        return lines;
    }
    for (problem, description) in answer.problems().iter().zip(answer.descriptions()) {
        let mut line = format!("{method} {status} {}", problem.code);
        for name in &problem.properties {
            let _ = write!(line, " {name}");
        }
        let _ = write!(line, ": {}", text(&description["description"]));
        if let Some(hint) = &problem.hint {
            let _ = write!(line, " Hint: {hint}");
        }
        if description["reference_code"].is_string() {
            line.push_str(" (with a reference)");
        }
        lines.push(line);
    }
    lines
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::replace;
    use std::fs;

    #[test]
    fn the_file_is_replaced_before_its_folder_is_synced_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pins.toml");
        let mut syncs = Vec::new();
        for text in ["first", "second"] {
            let sync = |path: &std::path::Path| {
                syncs.push(fs::read_to_string(path)?);
                Ok(())
            };
            replace(&path, text, sync).expect("it is written");
        }
        assert_eq!(syncs, ["first", "second"]);
        let names: Vec<_> = fs::read_dir(folder.path())
            .expect("a folder")
            .map(|entry| entry.expect("one").file_name())
            .collect();
        assert_eq!(names, ["pins.toml"]);
    }
}
