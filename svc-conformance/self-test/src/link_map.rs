//! The target of each address, learned from the links of earlier responses. Paths are never parsed,
//! so that this works with every server.

use std::collections::HashMap;

use serde_json::{Map, Value};
use svc_declaration::EXTENSIONS;

use super::transport::{BufferedRequest, BufferedResponse, address};

/// Singular and plural names.
pub(super) const NAMES: [(&str, &str); 21] = [
    ("person", "people"),
    ("petition", "petitions"),
    ("event", "events"),
    ("form", "forms"),
    ("fundraising_page", "fundraising_pages"),
    ("donation", "donations"),
    ("tag", "tags"),
    ("list", "lists"),
    ("query", "queries"),
    ("question", "questions"),
    ("share_page", "share_pages"),
    ("advocacy_campaign", "advocacy_campaigns"),
    ("message", "messages"),
    ("signature", "signatures"),
    ("submission", "submissions"),
    ("attendance", "attendances"),
    ("outreach", "outreaches"),
    ("answer", "answers"),
    ("tagging", "taggings"),
    ("item", "items"),
    ("canvass", "canvasses"),
];

/// The target of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceKind {
    /// The entry point.
    Entry,
    /// A record of a kind.
    Record(&'static str),
    /// A collection of a kind.
    Collection(&'static str),
    /// A helper that creates records of a kind.
    Helper(&'static str),
}

impl ResourceKind {
    /// Returns the kind of the record, of the members, or of the record that the helper creates.
    #[must_use]
    pub const fn kind(self) -> Option<&'static str> {
        match self {
            Self::Entry => None,
            Self::Record(kind) | Self::Collection(kind) | Self::Helper(kind) => Some(kind),
        }
    }
}

/// The known addresses of a server.
#[derive(Debug, Clone)]
pub struct LinkMap {
    prefix: String,
    known: HashMap<String, ResourceKind>,
    /// The addresses of the nested collections, each with the record that it belongs to.
    pub(super) nested: HashMap<String, (String, String)>,
}

impl LinkMap {
    /// Creates a map that contains only the entry point.
    #[must_use]
    pub fn new(prefix: &str, base: &str) -> Self {
        let known = HashMap::from([(address(base), ResourceKind::Entry)]);
        Self {
            prefix: prefix.to_owned(),
            known,
            nested: HashMap::new(),
        }
    }

    /// Returns a relation name with the prefix of the server, or an extension with that of the
    /// reference server.
    #[must_use]
    pub fn rel(&self, name: &str) -> String {
        if EXTENSIONS.contains(&name) {
            return format!("ext:{name}");
        }
        format!("{}:{name}", self.prefix)
    }

    /// Returns the target of a request.
    #[must_use]
    pub fn what(&self, call: &BufferedRequest) -> Option<ResourceKind> {
        let address = call.address();
        let bare = || address.split('?').next().unwrap_or_default();
        self.known
            .get(&address)
            .or_else(|| self.known.get(bare()))
            .copied()
    }

    /// Returns the kind of the record at an address.
    #[must_use]
    pub fn kind_at(&self, address: &str) -> Option<&'static str> {
        self.known
            .get(address)
            .copied()
            .and_then(ResourceKind::kind)
    }

    /// Returns the shortest known address of a target.
    #[must_use]
    pub fn place(&self, wanted: ResourceKind) -> Option<String> {
        let places = self
            .known
            .iter()
            .filter(|(_, what)| **what == wanted)
            .map(|(address, _)| address);
        places
            .min_by_key(|address| (address.len(), address.as_str()))
            .cloned()
    }

    /// Adds the links of a response.
    pub fn learn(&mut self, call: &BufferedRequest, answer: &BufferedResponse) {
        let Some(Value::Object(document)) = answer.json() else {
            return;
        };
        let what = self.what(call);
        if let Some(members) = document.get("_embedded").and_then(Value::as_object) {
            for (rel, list) in members {
                let Some(kind) = self.plural(rel) else {
                    continue;
                };
                for member in list
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_object)
                {
                    self.learn_record(member, kind);
                }
            }
        }
        for (rel, value) in &document {
            if let (Some(kind), Some(record)) = (self.singular(rel), value.as_object()) {
                self.learn_record(record, kind);
            }
        }
        match what {
            Some(ResourceKind::Collection(kind)) if document.contains_key("_embedded") => {
                self.learn_pages(&document, kind, &call.address());
            }
            Some(
                ResourceKind::Record(kind)
                | ResourceKind::Collection(kind)
                | ResourceKind::Helper(kind),
            ) => {
                self.learn_record(&document, kind);
            }
            Some(ResourceKind::Entry) => self.learn_links(&document, ""),
            None => {}
        }
    }

    fn learn_pages(&mut self, document: &Map<String, Value>, kind: &'static str, from: &str) {
        let nested = self.nested.get(from).cloned();
        for rel in ["self", "next", "previous", "prev"] {
            if let Some(href) = href(document, rel) {
                self.known
                    .insert(address(href), ResourceKind::Collection(kind));
                if let Some(nested) = &nested {
                    self.nested.insert(address(href), nested.clone());
                }
            }
        }
    }

    fn learn_record(&mut self, record: &Map<String, Value>, kind: &'static str) {
        if let Some(href) = href(record, "self") {
            self.known.insert(address(href), ResourceKind::Record(kind));
        }
        self.learn_links(record, kind);
    }

    fn learn_links(&mut self, document: &Map<String, Value>, kind: &str) {
        let own = href(document, "self").map(address);
        let links = document.get("_links").and_then(Value::as_object);
        for (rel, link) in links.into_iter().flatten() {
            let Some(href) = link.get("href").and_then(Value::as_str) else {
                continue;
            };
            let place = address(href);
            if let Some(member) = self.plural(rel).or_else(|| self.attendance(rel, kind)) {
                if let (Some(own), Some(name)) = (&own, rel.split_once(':').map(|(_, name)| name)) {
                    self.nested
                        .insert(place.clone(), (own.clone(), name.to_owned()));
                }
                self.known.insert(place, ResourceKind::Collection(member));
            } else if let Some(one) = self.singular(rel) {
                self.known.entry(place).or_insert(ResourceKind::Record(one));
            } else if let Some(made) = self.helper(rel) {
                self.known.insert(place, ResourceKind::Helper(made));
            }
        }
    }

    /// Returns the kind of `svc:attendance` on a person, which is a collection.
    ///
    /// Requirements: HAL-14.
    fn attendance(&self, rel: &str, kind: &str) -> Option<&'static str> {
        (kind == "person" && rel == self.rel("attendance")).then_some("attendance")
    }

    /// Returns the kind with this plural relation.
    #[must_use]
    pub fn plural(&self, rel: &str) -> Option<&'static str> {
        let name = rel.strip_prefix(&self.prefix)?.strip_prefix(':')?;
        NAMES
            .iter()
            .find(|(_, many)| *many == name)
            .map(|(one, _)| *one)
    }

    fn singular(&self, rel: &str) -> Option<&'static str> {
        let name = rel.strip_prefix(&self.prefix)?.strip_prefix(':')?;
        if ["creator", "modified_by", "organizer", "canvasser", "target"].contains(&name) {
            return Some("person");
        }
        NAMES
            .iter()
            .find(|(one, _)| *one == name)
            .map(|(one, _)| *one)
    }

    fn helper(&self, rel: &str) -> Option<&'static str> {
        let name = rel
            .strip_prefix(&self.prefix)?
            .strip_prefix(':')?
            .strip_suffix("_helper")?;
        let made = match name {
            "person_signup" => "person",
            "schedule" => "message",
            "record_canvas" => "canvass",
            other => other.strip_prefix("record_")?,
        };
        NAMES
            .iter()
            .find(|(one, _)| *one == made)
            .map(|(one, _)| *one)
    }

    /// Calls a function with each record of a response and its kind.
    pub fn each_record(
        &self,
        call: &BufferedRequest,
        document: &mut Map<String, Value>,
        act: &mut dyn FnMut(&'static str, &mut Map<String, Value>),
    ) {
        if let Some(Value::Object(members)) = document.get_mut("_embedded") {
            for (rel, list) in members {
                let Some(kind) = self.plural(rel) else {
                    continue;
                };
                for member in list
                    .as_array_mut()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_object_mut)
                {
                    act(kind, member);
                }
            }
            return;
        }
        if document.contains_key(&self.rel("error")) {
            for (rel, value) in document.iter_mut() {
                if let (Some(kind), Some(record)) = (self.singular(rel), value.as_object_mut()) {
                    act(kind, record);
                }
            }
            return;
        }
        match self.what(call).and_then(ResourceKind::kind) {
            Some(kind)
                if document.contains_key("identifiers")
                    || document.contains_key("created_date") =>
            {
                act(kind, document);
            }
            _ => {}
        }
    }
}

/// Returns the href of a link of a document.
pub(super) fn href<'d>(document: &'d Map<String, Value>, rel: &str) -> Option<&'d str> {
    document.get("_links")?.get(rel)?.get("href")?.as_str()
}
