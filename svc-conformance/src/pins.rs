//! Pins: what the interface leaves open and a server chose, held against what it chose on another
//! day. A difference is none of conformance.

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

/// What each check saw this server choose: by the id of the check, one line for each kind of answer
/// and each choice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PinnedChoices {
    /// Another seed or intensity sends other requests, whose answers say nothing about these.
    seed: u64,
    intensity: Intensity,
    checks: BTreeMap<String, BTreeSet<String>>,
}

/// The file of the pins of a server, and whether a run writes it.
#[derive(Debug, Clone)]
pub(crate) struct PinFile {
    pub(crate) path: PathBuf,
    pub(crate) update: bool,
}

impl PinFile {
    /// What is pinned, before anything is sent: a file that is not there or is of another run is
    /// told at once.
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
            "{}: the pins are of a run with seed {} and intensity {}, this one has seed {} and intensity {}; run with \
             theirs, or pin anew",
            self.path.display(),
            pinned.seed,
            pinned.intensity.as_str(),
            settings.seed,
            settings.intensity.as_str()
        )))
    }

    /// Where a run differs from what is pinned, a sentence each; with `update`, what was seen is
    /// pinned instead.
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

/// Replaces a file so that its name always leads to the former text or the new one, also after a
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

/// Syncs the directory of `path`, which makes a renaming durable. A copy of
/// `svc_sqlite::sync_directory`: the suite depends on no store.
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

/// What the differences mean and what to do about them; nothing where there are none.
pub(crate) fn explain(drift: &[String]) -> String {
    if drift.is_empty() {
        return String::new();
    }
    let mut text = format!("pins: {} differences, none of conformance\n", drift.len());
    for line in drift {
        let _ = writeln!(text, "  {line}");
    }
    text + "  if the server is to be so: pin what it does now with --update-pins, in tests with UPDATE_PINS=1\n"
}

/// Whether a check was left out or did not come to its end: what it did not see says nothing.
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
                    .map(|line| format!("{id}: pinned, and not seen: {line}{why}")),
            );
            found.extend(
                one.pins
                    .difference(pinned)
                    .map(|line| format!("{id}: seen, and not pinned: {line}")),
            );
        }
        let gone = self
            .checks
            .keys()
            .filter(|id| all.iter().all(|check| check.id != id.as_str()));
        found.extend(gone.map(|id| format!("{id}: pinned, but the suite has no such check")));
        found
    }

    /// The file, in the order of the ids and lines.
    fn written(&self) -> String {
        let mut text = format!(
            "# What this server chose where the interface leaves a choice, as the conformance suite saw it: by check.\n\
             # Written by a run with UPDATE_PINS=1 or --update-pins; not by hand.\n\
             seed = {}\nintensity = \"{}\"\n\n[checks]\n",
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

/// What an answer shows of the server's choices: status and type, and of a refusal the outcome of
/// each resource and each description. Nothing in it depends on a clock, an address, or other
/// records.
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
