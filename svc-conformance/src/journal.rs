//! The journal: every record that a run creates, so that clean-up deletes exactly those, even after
//! a crash.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::address;
use crate::private_file;
use crate::response::TestResponse;

/// The system name of marker identifiers.
///
/// Requirements: TYP-13.
pub(crate) const SYSTEM: &str = "svc-conformance";

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JournalLine {
    /// The run.
    Run(JournalHeader),
    /// A request is about to be sent that may create records with these markers.
    Sending { markers: Vec<String>, url: String },
    /// No record has these markers, because the request was rejected.
    Refused { markers: Vec<String> },
    /// A record was created: its URL, its marker, and which key can delete it.
    Created {
        own: String,
        marker: Option<String>,
        key: usize,
    },
    /// A record was deleted.
    Removed { own: String },
}

/// The identity of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JournalHeader {
    /// Part of every marker.
    pub(crate) token: String,
    /// The URL of the entry point.
    pub(crate) base: String,
    /// The prefix of relations.
    pub(crate) prefix: String,
    /// The name of the key header.
    pub(crate) key_header: String,
    /// Whether the server stores identifiers of the client.
    pub(crate) identifiers: bool,
    /// The start time, by the clock of the suite.
    pub(crate) began: String,
}

/// A record that is not known to be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftoverRecord {
    pub(crate) own: String,
    pub(crate) marker: Option<String>,
    /// 0 for the primary key, 1 for the key of the other tenant, 2 for the restricted key.
    pub(crate) key: usize,
}

/// All records that the run created.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    state: Mutex<JournalState>,
}

#[derive(Debug, Default)]
struct JournalState {
    file: Option<File>,
    started: JournalHeader,
    lines: Vec<JournalLine>,
    /// Markers that were sent and are on no record seen so far, each with the URL to which it was
    /// sent.
    open: BTreeMap<String, String>,
    /// The URLs and markers of records that were seen.
    known: BTreeSet<String>,
    created: usize,
    /// The error, if the file could not be written.
    write_error: Option<String>,
}

impl Journal {
    /// Opens a journal in a new or empty file, or in memory if there is no path.
    pub(crate) fn open(path: Option<&Path>, started: JournalHeader) -> std::io::Result<Self> {
        let file = path
            .map(|path| private_file::open(path, File::options().append(true).create(true)))
            .transpose()?;
        if let Some(file) = &file
            && file.metadata()?.len() > 0
        {
            return Err(std::io::ErrorKind::AlreadyExists.into());
        }
        let journal = Self {
            state: Mutex::new(JournalState {
                file,
                started: started.clone(),
                ..JournalState::default()
            }),
        };
        journal.write(JournalLine::Run(started));
        match journal.trouble() {
            Some(trouble) => Err(std::io::Error::other(trouble)),
            None => Ok(journal),
        }
    }

    /// Opens the journal of an earlier run, and continues it in its file.
    pub(crate) fn resume(path: &Path) -> std::io::Result<Self> {
        let text = std::fs::read_to_string(path)?;
        let mut lines = read(&text).into_iter();
        let Some(JournalLine::Run(started)) = lines.next() else {
            return Err(std::io::Error::new(
                std::io::ErrorKind::InvalidData,
                "the file is not a journal of a run",
            ));
        };
        let mut file = File::options().append(true).open(path)?;
        if !text.ends_with('\n') {
            writeln!(file)?;
        }
        let journal = Self {
            state: Mutex::new(JournalState {
                started: started.clone(),
                ..JournalState::default()
            }),
        };
        journal.write(JournalLine::Run(started));
        lines.for_each(|line| journal.write(line));
        journal.lock().file = Some(file);
        Ok(journal)
    }

    pub(crate) fn started(&self) -> JournalHeader {
        self.lock().started.clone()
    }

    /// Records that a request is about to be sent, so that what it creates can be found even if its
    /// response is lost.
    pub(crate) fn expect(&self, method: &Method, url: &str, body: &str) {
        if *method != Method::POST {
            return;
        }
        let markers = self.fresh(body);
        if !markers.is_empty() {
            self.write(JournalLine::Sending {
                markers,
                url: url.to_owned(),
            });
        }
    }

    /// Records what a request created or deleted, from its response.
    pub(crate) fn note(&self, answer: &TestResponse, body: &str, key: usize) {
        if answer.method == Method::DELETE && matches!(answer.status, 200 | 204) {
            self.write(JournalLine::Removed {
                own: answer.url.clone(),
            });
        }
        if answer.method != Method::POST {
            return;
        }
        // A partly failed helper returns what it created together with the error.
        // Requirements: ERR-32.
        let records = std::iter::once(&answer.json)
            .chain(answer.json.as_object().into_iter().flat_map(|o| o.values()));
        for json in records {
            let Some(own) = linked(answer, json, "self") else {
                continue;
            };
            let marker = self.marker(json);
            // A record without our marker may be older than the run, unless this server stores no
            // identifiers.
            if marker.is_some() || (answer.status == 201 && !self.started().identifiers) {
                self.created_at(own, marker, key);
            }
        }
        // A helper shows the person that it created only by a link.
        if let Some(own) = linked(answer, &answer.json, &format!("{}:person", answer.prefix))
            && let Ok(sent) = serde_json::from_str::<Value>(body)
            && let Some(marker) = sent.get("person").and_then(|person| self.marker(person))
        {
            self.created_at(own, Some(marker), key);
        }
        if matches!(answer.status, 400..=499) {
            self.refused(body);
        }
    }

    /// Records that a body, or one entry of a batch, was rejected: no record has its markers.
    pub(crate) fn refused(&self, body: &str) {
        let markers = self.fresh(body);
        if !markers.is_empty() {
            self.write(JournalLine::Refused { markers });
        }
    }

    /// Records a record unless it is known.
    pub(crate) fn created_at(&self, own: String, marker: Option<String>, key: usize) {
        let known = self.lock().known.contains(&own);
        if known {
            if let Some(marker) = marker {
                self.lock().open.remove(&marker);
            }
        } else {
            self.write(JournalLine::Created { own, marker, key });
        }
    }

    /// Returns the markers of this run in a text that are on no record seen so far.
    fn fresh(&self, text: &str) -> Vec<String> {
        let state = self.lock();
        let begin = format!("{SYSTEM}:{}-", state.started.token);
        let mut found = BTreeSet::new();
        for (at, _) in text.match_indices(&begin) {
            let rest = text.get(at..).unwrap_or_default();
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == ':'))
                .unwrap_or(rest.len());
            found.insert(rest.get(..end).unwrap_or_default().to_owned());
        }
        found
            .into_iter()
            .filter(|marker| !state.known.contains(marker))
            .collect()
    }

    /// Returns the first marker of this run in a representation.
    pub(crate) fn marker(&self, json: &Value) -> Option<String> {
        let ours = format!("{SYSTEM}:{}-", self.lock().started.token);
        let identifiers = json["identifiers"]
            .as_array()?
            .iter()
            .filter_map(Value::as_str);
        identifiers
            .into_iter()
            .find(|marker| marker.starts_with(&ours))
            .map(ToOwned::to_owned)
    }

    /// Returns the records that were created and are not known to be deleted, newest first.
    pub(crate) fn left(&self) -> Vec<LeftoverRecord> {
        left(&self.lock().lines)
    }

    /// Returns the markers that may be on records never seen, each with the URL to which it was
    /// sent.
    pub(crate) fn open_markers(&self) -> BTreeMap<String, String> {
        self.lock().open.clone()
    }

    /// Returns the number of created records.
    pub(crate) fn created(&self) -> usize {
        self.lock().created
    }

    /// Returns the error, if the file could not be written.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.lock().write_error.clone()
    }

    pub(crate) fn write(&self, line: JournalLine) {
        let mut state = self.lock();
        if let Some(file) = &mut state.file {
            let mut text = serde_json::to_string(&line).unwrap_or_default();
            text.push('\n');
            // Each line is one write, so a crash truncates at most the last line.
            if let Err(error) = file.write_all(text.as_bytes()) {
                state.write_error = Some(error.to_string());
            }
        }
        match &line {
            JournalLine::Run(_) | JournalLine::Removed { .. } => {}
            JournalLine::Sending { markers, url } => {
                state
                    .open
                    .extend(markers.iter().map(|marker| (marker.clone(), url.clone())));
            }
            JournalLine::Refused { markers } => {
                state.open.retain(|marker, _| !markers.contains(marker));
            }
            JournalLine::Created { own, marker, .. } => {
                state.created = state.created.saturating_add(1);
                state.known.insert(own.clone());
                if let Some(marker) = marker {
                    state.open.remove(marker);
                    state.known.insert(marker.clone());
                }
            }
        }
        state.lines.push(line);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, JournalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the URL of a relation of a representation in a response.
fn linked(answer: &TestResponse, json: &Value, rel: &str) -> Option<String> {
    address::resolve(
        &answer.url,
        json.get("_links")?.get(rel)?.get("href")?.as_str()?,
    )
    .map(String::from)
}

/// Returns the records that still exist according to the lines of a journal, newest first.
fn left(lines: &[JournalLine]) -> Vec<LeftoverRecord> {
    let mut left: Vec<LeftoverRecord> = Vec::new();
    for line in lines {
        match line {
            JournalLine::Run(_) | JournalLine::Sending { .. } | JournalLine::Refused { .. } => {}
            JournalLine::Created { own, marker, key } => {
                left.retain(|other| other.own != *own);
                left.push(LeftoverRecord {
                    own: own.clone(),
                    marker: marker.clone(),
                    key: *key,
                });
            }
            JournalLine::Removed { own } => left.retain(|other| other.own != *own),
        }
    }
    left.reverse();
    left
}

/// Reads a journal. A truncated last line is ignored.
fn read(text: &str) -> Vec<JournalLine> {
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::{Journal, JournalHeader, JournalLine, LeftoverRecord};

    fn started() -> JournalHeader {
        JournalHeader {
            token: "t0".to_owned(),
            base: "http://localhost/".to_owned(),
            ..JournalHeader::default()
        }
    }

    fn created(own: &str) -> JournalLine {
        JournalLine::Created {
            own: own.to_owned(),
            marker: Some(format!("svc-conformance:t0-{own}")),
            key: 1,
        }
    }

    #[test]
    fn a_journal_goes_on_after_a_crash() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal.jsonl");
        let journal = Journal::open(Some(&path), started()).expect("a journal");
        for own in ["a", "b", "c"] {
            journal.write(created(own));
        }
        journal.expect(
            &Method::POST,
            "/x",
            r#"{"identifiers":["svc-conformance:t0-new-1","svc-conformance:other-1"]}"#,
        );
        journal.write(JournalLine::Removed {
            own: "b".to_owned(),
        });
        drop(journal);
        // Another run must not overwrite the file.
        assert!(Journal::open(Some(&path), started()).is_err());
        let cut = std::fs::read_to_string(&path).expect("a text") + "{\"created\":{\"own";
        std::fs::write(&path, cut).expect("written");
        let journal = Journal::resume(&path).expect("a journal");
        let own: Vec<String> = journal
            .left()
            .into_iter()
            .map(|LeftoverRecord { own, .. }| own)
            .collect();
        assert_eq!(own, ["c", "a"]);
        assert_eq!(
            journal.open_markers().into_keys().collect::<Vec<_>>(),
            ["svc-conformance:t0-new-1"]
        );
        journal.write(JournalLine::Removed {
            own: "a".to_owned(),
        });
        drop(journal);
        assert_eq!(Journal::resume(&path).expect("a journal").left().len(), 1);
    }

    #[test]
    fn a_refused_request_leaves_nothing_open() {
        let journal = Journal::open(None, started()).expect("a journal");
        let markers = vec!["svc-conformance:t0-1".to_owned()];
        journal.expect(&Method::POST, "/x", "\"svc-conformance:t0-1\"");
        assert_eq!(journal.open_markers().len(), 1);
        journal.write(JournalLine::Refused { markers });
        assert!(journal.open_markers().is_empty());
    }
}
