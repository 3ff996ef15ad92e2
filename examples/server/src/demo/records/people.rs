//! The people of actions.

use std::collections::HashMap;

use svc_core::json::{Json, Object};
use svc_core::model::Kind;
use svc_import::{ExportColumns, ExportRecord};

use super::source::{ExportSource, Reply};

/// The maximum number of people that are cached.
const MAX_CACHED: usize = 10_000;

/// Reads the person of each action, once for actions of the same person.
#[derive(Debug)]
pub(super) struct People {
    /// The name of the link from an action to its person.
    link: &'static str,
    cached: HashMap<String, Object>,
}

impl People {
    /// Creates a reader for a kind whose records have a person.
    pub(super) fn new(kind: Kind) -> Option<Self> {
        Some(Self {
            link: ExportColumns::person_link(kind)?,
            cached: HashMap::new(),
        })
    }

    /// Returns the names and the first e-mail address of the person of an action; an empty object if
    /// the action no longer has a person.
    ///
    /// # Errors
    ///
    /// Returns why the server does not return the person.
    pub(super) async fn of(
        &mut self,
        source: &ExportSource,
        action: &Object,
        embedded: Option<&Json>,
    ) -> Result<Object, String> {
        if let Some(person) = self.embedded(embedded) {
            return Ok(summary(person));
        }
        let Some(url) = ExportRecord::link(action, self.link) else {
            return Ok(Object::new());
        };
        if let Some(known) = self.cached.get(url) {
            return Ok(known.clone());
        }
        let person = match source.read(url).await? {
            Reply::Document(person) => summary(&person),
            Reply::Rejected(reply) if reply.is_gone() => Object::new(),
            Reply::Rejected(reply) => return Err(format!("a person cannot be read: {reply}")),
        };
        if self.cached.len() >= MAX_CACHED {
            self.cached.clear();
        }
        self.cached.insert(url.to_owned(), person.clone());
        Ok(person)
    }

    fn embedded<'j>(&self, embedded: Option<&'j Json>) -> Option<&'j Object> {
        let mut records = embedded?.as_object()?.iter();
        let (_, person) = records.find(|(name, _)| {
            name.split_once(':')
                .is_some_and(|(_, name)| name == self.link)
        })?;
        person.as_object()
    }
}

/// Returns the members of a person that a table of actions shows.
fn summary(person: &Object) -> Object {
    let mut summary = Object::new();
    for name in ["given_name", "family_name"] {
        if let Some(value) = person.get(name) {
            summary.insert(name, value.clone());
        }
    }
    let addresses = person.get("email_addresses").and_then(Json::as_array);
    if let Some(first) = addresses.and_then(<[Json]>::first) {
        summary.insert("email_addresses", Json::Array(vec![first.clone()]));
    }
    summary
}
