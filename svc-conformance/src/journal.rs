//! The journal: every record that a run creates, so that clean-up removes exactly those, also after
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
    /// A request that may create records with these markers is about to be sent.
    Sending { markers: Vec<String>, url: String },
    /// Those markers are on no record: the request was refused.
    Refused { markers: Vec<String> },
    /// A record was created: its address and its marker, and which key can remove it.
    Created {
        own: String,
        marker: Option<String>,
        key: usize,
    },
    /// A record is gone.
    Removed { own: String },
}

/// What a run is known by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JournalHeader {
    /// It is in every marker.
    pub(crate) token: String,
    /// Address of the entry point.
    pub(crate) base: String,
    /// Prefix of relations.
    pub(crate) prefix: String,
    /// Name of the key header.
    pub(crate) key_header: String,
    /// Whether the server keeps identifiers of the client.
    pub(crate) identifiers: bool,
    /// When it began, by the clock of the suite.
    pub(crate) began: String,
}

/// A record that is not known to be gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftoverRecord {
    pub(crate) own: String,
    pub(crate) marker: Option<String>,
    /// 0 for the primary key, 1 for that of the other tenant, 2 for the restricted one.
    pub(crate) key: usize,
}

/// Every record that the run created.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    state: Mutex<JournalState>,
}

#[derive(Debug, Default)]
struct JournalState {
    file: Option<File>,
    started: JournalHeader,
    lines: Vec<JournalLine>,
    /// Markers that were sent and are on no record that was seen, each with the address that it was
    /// sent to.
    open: BTreeMap<String, String>,
    /// Addresses and markers of records that were seen.
    known: BTreeSet<String>,
    created: usize,
    /// The file could not be written.
    write_error: Option<String>,
}

impl Journal {
    /// A journal on disk, in a new or an empty file, or in memory without a path.
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

    /// The journal of an earlier run, which goes on in its file.
    pub(crate) fn resume(path: &Path) -> std::io::Result<Self> {
        let text = std::fs::read_to_string(path)?;
        let mut lines = read(&text).into_iter();
        let Some(JournalLine::Run(started)) = lines.next() else {
            return Err(std::io::Error::new(
                std::io::ErrorKind::InvalidData,
                "the file is no journal of a run",
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

    /// Notes that a request is about to be sent, so that what it creates is found again even if its
    /// answer is never seen.
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

    /// Notes what an answer created or removed.
    pub(crate) fn note(&self, answer: &TestResponse, body: &str, key: usize) {
        if answer.method == Method::DELETE && matches!(answer.status, 200 | 204) {
            self.write(JournalLine::Removed {
                own: answer.url.clone(),
            });
        }
        if answer.method != Method::POST {
            return;
        }
        // A partly failed helper shows what it created beside the error (ERR-32).
        let records = std::iter::once(&answer.json)
            .chain(answer.json.as_object().into_iter().flat_map(|o| o.values()));
        for json in records {
            let Some(own) = linked(answer, json, "self") else {
                continue;
            };
            let marker = self.marker(json);
            // A record without our marker may have been there before, unless this server keeps no
            // identifiers.
            if marker.is_some() || (answer.status == 201 && !self.started().identifiers) {
                self.created_at(own, marker, key);
            }
        }
        // A helper shows the person that it made by a link alone.
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

    /// Notes that a body, or one entry of a batch, was refused: its markers are on no record.
    pub(crate) fn refused(&self, body: &str) {
        let markers = self.fresh(body);
        if !markers.is_empty() {
            self.write(JournalLine::Refused { markers });
        }
    }

    /// Notes a record unless it is known.
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

    /// The run's own markers in a text that are on no record which was seen.
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

    /// The first marker of this run that a representation carries.
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

    /// What was created and is not known to be gone, newest first.
    pub(crate) fn left(&self) -> Vec<LeftoverRecord> {
        left(&self.lock().lines)
    }

    /// Markers that may be on records which were never seen, each with the address that it was sent
    /// to.
    pub(crate) fn open_markers(&self) -> BTreeMap<String, String> {
        self.lock().open.clone()
    }

    /// How many records were created.
    pub(crate) fn created(&self) -> usize {
        self.lock().created
    }

    /// Whether the file could not be written.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.lock().write_error.clone()
    }

    pub(crate) fn write(&self, line: JournalLine) {
        let mut state = self.lock();
        if let Some(file) = &mut state.file {
            let mut text = serde_json::to_string(&line).unwrap_or_default();
            text.push('\n');
            // One write for one line: a crash cuts off the last line at most.
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

/// The address under a relation of a representation in an answer.
fn linked(answer: &TestResponse, json: &Value, rel: &str) -> Option<String> {
    address::resolve(
        &answer.url,
        json.get("_links")?.get(rel)?.get("href")?.as_str()?,
    )
    .map(String::from)
}

/// What the lines of a journal say is still there, newest first.
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

/// Reads a journal; a last line that a crash cut off is left out.
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
        // Another run must not take the file over.
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
