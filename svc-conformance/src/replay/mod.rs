//! Failures as steps that can be sent again, by this program or with `curl`.
//!
//! In a step, `${base}` is the URL of the entry point, and `${run}` is the part of every marker of
//! the run. `${3:/_links/self/href}` is the URL at a position of the response to step 3.

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
    /// The version of this format; 1.
    pub replay_version: u32,
    /// The failed requirement.
    pub row: String,
    /// The check that found it.
    pub check: String,
    /// The finding.
    pub message: String,
    /// The URL of the entry point.
    pub base: String,
    /// The name of the key header.
    pub key_header: String,
    /// The seed of the run.
    pub seed: u64,
    /// The intensity of the run.
    pub intensity: Intensity,
    /// The smallest case in words, if the check searched for one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub smallest: Vec<String>,
    /// The requests, in their order.
    pub steps: Vec<ReplayStep>,
    /// The declaration against which the server was judged.
    pub declaration: Declaration,
}

/// One request of a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReplayStep {
    /// The method of the request.
    pub method: String,
    /// Its URL.
    pub url: String,
    /// Its headers. `<key>`, `<other key>` and `<restricted key>` are placeholders for the keys.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: String,
    /// The recorded status. `None` if there was no response.
    pub status: Option<u16>,
    /// The recorded body of the response, or why there was none.
    pub answer: String,
}

/// The result of sending the steps again.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplayReport {
    /// Each step with its result.
    pub lines: Vec<String>,
    /// Whether every response has its recorded status.
    pub same: bool,
}

impl fmt::Display for ReplayReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            writeln!(f, "{line}")?;
        }
        f.write_str(if self.same {
            "every response has its recorded status"
        } else {
            "some responses have another status"
        })
    }
}

impl Replay {
    /// Reads the output of [`Replay::to_json`].
    ///
    /// # Errors
    /// Returns an error if the text does not have this format or version.
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

    /// Returns the steps as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Returns the steps as a shell script of `curl` commands.
    #[must_use]
    pub fn to_curl(&self) -> String {
        curl::script(self)
    }

    /// Whether a step does more than read.
    #[must_use]
    pub fn has_writes(&self) -> bool {
        self.steps.iter().any(ReplayStep::writes)
    }

    /// Returns a suite that runs only the check, with the seed and the declaration of the failure.
    pub fn suite(&self, target: Arc<dyn Target>, keys: Keys) -> Suite {
        Suite::from_shared(target)
            .declaration_from(self.declaration.clone(), DeclarationSource::File)
            .keys(keys)
            .profile(Profile::All)
            .intensity(self.intensity)
            .seed(self.seed)
            // The requirement may be observed in all traffic, and no check names it.
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
    /// The URL at a position of the response to a step, counted from 1.
    Of(usize, &'t str),
}

/// Splits a text of a step into its parts.
fn parts(text: &str) -> Vec<StepTextPart<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let known = after
            .split_once('}')
            .and_then(|(name, tail)| Some((part(name)?, tail)));
        let Some((part, tail)) = known else {
            // Not a placeholder.
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
