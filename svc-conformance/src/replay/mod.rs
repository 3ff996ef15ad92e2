//! Failures as steps that can be sent again, by this program or with `curl`.
//!
//! In a step, `${base}` stands for the address of the entry point, `${run}` for what is in every
//! marker of the run, and `${3:/_links/self/href}` for the address at a place of the answer to step
//! 3.

mod build;
mod curl;
mod send;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::declared::{Declaration, DeclarationSource};
use crate::keys::Keys;
use crate::profile::Profile;
use crate::settings::Intensity;
use crate::suite::Suite;
use crate::target::Target;

/// The steps that showed a failure, with the check that found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Replay {
    /// Version of this form; 1.
    pub replay_version: u32,
    /// The row that does not hold.
    pub row: String,
    /// The check that found it.
    pub check: String,
    /// What it found.
    pub message: String,
    /// Address of the entry point.
    pub base: String,
    /// Name of the key header.
    pub key_header: String,
    /// Seed of the run.
    pub seed: u64,
    /// Intensity of the run.
    pub intensity: Intensity,
    /// The smallest case in words, where the check looked for one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub smallest: Vec<String>,
    /// The requests, in their order.
    pub steps: Vec<ReplayStep>,
    /// What the server was judged against.
    pub declaration: Declaration,
}

/// One request of a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReplayStep {
    /// Method of the request.
    pub method: String,
    /// Its address.
    pub url: String,
    /// Its headers; `<key>`, `<other key>` and `<restricted key>` stand for the keys.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: String,
    /// The status that it had; `None` where there was no answer.
    pub status: Option<u16>,
    /// The body of the answer that it had, or why there was none.
    pub answer: String,
}

/// What came of sending the steps again.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplayReport {
    /// Each step with what came of it.
    pub lines: Vec<String>,
    /// Whether every answer had the status that it had before.
    pub same: bool,
}

impl fmt::Display for ReplayReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            writeln!(f, "{line}")?;
        }
        f.write_str(if self.same {
            "every answer has the status it had"
        } else {
            "some answers have another status"
        })
    }
}

impl Replay {
    /// Reads what [`Replay::to_json`] wrote.
    ///
    /// # Errors
    /// The text is not of this form or version.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let replay: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if replay.replay_version != 1 {
            return Err(format!(
                "the file has version {}; this suite reads version 1",
                replay.replay_version
            ));
        }
        Ok(replay)
    }

    /// The steps as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// The steps as a shell script of `curl` lines.
    #[must_use]
    pub fn to_curl(&self) -> String {
        curl::script(self)
    }

    /// Whether a step does more than read.
    #[must_use]
    pub fn has_writes(&self) -> bool {
        self.steps.iter().any(ReplayStep::writes)
    }

    /// A run of the check alone, with the seed and the declaration of the failure.
    pub fn suite(&self, target: Arc<dyn Target>, keys: Keys) -> Suite {
        Suite::from_shared(target)
            .declaration_from(self.declaration.clone(), DeclarationSource::File)
            .keys(keys)
            .profile(Profile::All)
            .intensity(self.intensity)
            .seed(self.seed)
            // The row may be one that is seen in all traffic, which no check names.
            .only([self.check.as_str(), self.row.as_str()])
    }
}

impl ReplayStep {
    fn writes(&self) -> bool {
        !matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS")
    }
}

/// A part of a text of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
enum StepTextPart<'t> {
    Text(&'t str),
    Base,
    Run,
    /// The address at a place of the answer to a step, counted from 1.
    Of(usize, &'t str),
}

/// A text of a step in its parts.
fn parts(text: &str) -> Vec<StepTextPart<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let known = after
            .split_once('}')
            .and_then(|(name, tail)| Some((part(name)?, tail)));
        let Some((part, tail)) = known else {
            // Not one of ours.
            let cut = before.len().saturating_add(2);
            parts.push(StepTextPart::Text(rest.get(..cut).unwrap_or_default()));
            rest = rest.get(cut..).unwrap_or_default();
            continue;
        };
        parts.extend([StepTextPart::Text(before), part]);
        rest = tail;
    }
    parts.push(StepTextPart::Text(rest));
    parts.retain(|part| *part != StepTextPart::Text(""));
    parts
}

fn part(name: &str) -> Option<StepTextPart<'_>> {
    match name {
        "base" => Some(StepTextPart::Base),
        "run" => Some(StepTextPart::Run),
        _ => {
            let (step, pointer) = name.split_once(':')?;
            Some(StepTextPart::Of(step.parse().ok()?, pointer))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{StepTextPart, parts};

    #[test]
    fn texts_of_steps_have_parts() {
        let of = parts("${base}x/${12:/_links/self/href}?a=${b}${run}$");
        let expected = [
            StepTextPart::Base,
            StepTextPart::Text("x/"),
            StepTextPart::Of(12, "/_links/self/href"),
            StepTextPart::Text("?a=${"),
            StepTextPart::Text("b}"),
            StepTextPart::Run,
            StepTextPart::Text("$"),
        ];
        assert_eq!(of, expected);
        assert_eq!(parts(""), []);
        assert_eq!(parts("${"), [StepTextPart::Text("${")]);
    }
}
