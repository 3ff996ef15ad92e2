//! The journal: every record that a run creates, so that clean-up removes exactly those, also after a crash.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use http::Method;
use serde::{Deserialize, Serialize};

use crate::address;
use crate::check::Cx;
use crate::session::Answer;

/// The system name of marker identifiers (TYP-13).
pub(crate) const SYSTEM: &str = "svc-conformance";

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    /// The run: its token, which every marker has, and the target.
    Run { token: String, base: String },
    /// A record was created: its address and its marker.
    Created { own: String, marker: Option<String>, key: usize },
    /// A record is gone.
    Removed { own: String },
}

/// Every record that the run created.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    file: Option<File>,
    lines: Vec<Line>,
    /// The file could not be written.
    trouble: Option<String>,
}

impl Journal {
    /// A journal on disk, or in memory without a path.
    pub(crate) fn open(path: Option<&Path>, token: &str, base: &str) -> std::io::Result<Self> {
        let file = path.map(File::create).transpose()?;
        let journal = Self { state: Mutex::new(State { file, ..State::default() }) };
        journal.write(Line::Run { token: token.to_owned(), base: base.to_owned() });
        Ok(journal)
    }

    /// Notes what an answer created or removed.
    pub(crate) fn note(&self, cx: &Cx, answer: &Answer) {
        if answer.method == Method::DELETE && matches!(answer.status, 200 | 204) {
            self.write(Line::Removed { own: answer.url.clone() });
        }
        if answer.method != Method::POST {
            return;
        }
        // A partly failed helper shows what it created beside the error (ERR-32).
        let records = std::iter::once(&answer.json).chain(answer.json.as_object().into_iter().flat_map(|o| o.values()));
        for json in records {
            let Some(href) = json["_links"]["self"]["href"].as_str() else { continue };
            let Some(own) = address::resolve(&answer.url, href) else { continue };
            let marker = json["identifiers"].as_array().into_iter().flatten().filter_map(|entry| entry.as_str());
            let ours = format!("{SYSTEM}:{}-", cx.run.token);
            let marker = marker.into_iter().find(|marker| marker.starts_with(&ours)).map(ToOwned::to_owned);
            // A record without our marker may have been there before, unless this server keeps no identifiers.
            if marker.is_some() || (answer.status == 201 && !cx.declared().has_identifiers()) {
                self.write(Line::Created { own, marker, key: 0 });
            }
        }
    }

    /// What was created and is not known to be gone, newest first.
    pub(crate) fn left(&self) -> Vec<(String, Option<String>)> {
        left(&self.lock().lines)
    }

    /// Whether the file could not be written.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.lock().trouble.clone()
    }

    pub(crate) fn write(&self, line: Line) {
        let mut state = self.lock();
        if let Some(file) = &mut state.file {
            let text = serde_json::to_string(&line).unwrap_or_default();
            if let Err(error) = writeln!(file, "{text}") {
                state.trouble = Some(error.to_string());
            }
        }
        state.lines.push(line);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the lines of a journal say is still there, newest first.
pub(crate) fn left(lines: &[Line]) -> Vec<(String, Option<String>)> {
    let mut left: Vec<(String, Option<String>)> = Vec::new();
    for line in lines {
        match line {
            Line::Run { .. } => {}
            Line::Created { own, marker, .. } => {
                left.retain(|(other, _)| other != own);
                left.push((own.clone(), marker.clone()));
            }
            Line::Removed { own } => left.retain(|(other, _)| other != own),
        }
    }
    left.reverse();
    left
}

/// Reads a journal; a last line that a crash cut off is left out.
pub(crate) fn read(text: &str) -> Vec<Line> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
