//! A record with what a table shows in addition to it.

use svc_core::json::{Json, Object};

/// A record with its person, tags and lists, as far as they are known.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ExportRecord {
    /// The record as the server sends it.
    pub record: Object,
    /// The person of an action.
    pub person: Object,
    /// The names of the tags of a person.
    pub tags: Vec<String>,
    /// The names of the lists of a person.
    pub lists: Vec<String>,
}

impl ExportRecord {
    /// Creates a record without a person, tags and lists.
    #[must_use]
    pub fn new(record: Object) -> Self {
        Self {
            record,
            ..Self::default()
        }
    }

    /// Reads a record from a line that [`ExportRecord::line`] wrote.
    #[must_use]
    pub fn from_line(line: &[u8]) -> Option<Self> {
        let Json::Array(parts) = Json::read_kept(line)? else {
            return None;
        };
        let mut parts = parts.into_iter();
        match (parts.next()?, parts.next()?, parts.next()) {
            (Json::Object(record), Json::Object(person), None) => Some(Self {
                record,
                person,
                ..Self::default()
            }),
            _ => None,
        }
    }

    /// Appends the record and its person as a line of JSON. Tags and lists are not part of it.
    pub fn line(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        self.record.write(out);
        out.push(b',');
        self.person.write(out);
        out.extend_from_slice(b"]\n");
    }

    /// Returns the id of the record, from its own link.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        Self::linked(&self.record, "self")
    }

    /// Returns the URL of a link of a record, by its relation without the prefix.
    #[must_use]
    pub fn link<'r>(record: &'r Object, relation: &str) -> Option<&'r str> {
        let links = record.get("_links")?.as_object()?;
        let mut links = links.iter();
        let (_, link) = links.find(|(name, _)| {
            *name == relation
                || name
                    .split_once(':')
                    .is_some_and(|(_, rest)| rest == relation)
        })?;
        link.as_object()?.get("href")?.as_str()
    }

    /// Returns the id of the record to which a link leads.
    #[must_use]
    pub fn linked<'r>(record: &'r Object, relation: &str) -> Option<&'r str> {
        let href = Self::link(record, relation)?;
        let path = href.split(['?', '#']).next()?.trim_end_matches('/');
        let (_, id) = path.rsplit_once('/')?;
        Some(id)
    }
}
