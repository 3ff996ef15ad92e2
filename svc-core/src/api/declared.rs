//! What an API offers, for the documents about it (CAP-04).

use super::{Api, ResponseStyle};
use crate::{
    auth::Operation,
    helper::{FunctionName, HelperName},
    model::Kind,
};

impl Api {
    /// Whether an operation on a kind is offered; for lists, that of all records.
    #[must_use]
    pub fn offers(&self, kind: Kind, operation: Operation) -> bool {
        self.slots(kind).offers(operation)
    }

    /// Whether records of a kind are listed under those of another.
    #[must_use]
    pub fn offers_under(&self, kind: Kind, parent: Kind) -> bool {
        let slots = self.slots(kind);
        slots.list.is_some() && slots.under.contains(&parent)
    }

    /// Whether records of a kind are listed at all.
    #[must_use]
    pub fn is_listed_anywhere(&self, kind: Kind) -> bool {
        self.offers(kind, Operation::List) || !self.slots(kind).under.is_empty()
    }

    /// Whether the field at a place of a kind's table leaves the server.
    #[must_use]
    pub fn is_readable(&self, kind: Kind, place: usize) -> bool {
        self.slots(kind).readable.is_none_or(|readable| readable.contains(place))
    }

    /// Whether the field at a place of a kind's table is taken from clients, computed ones apart.
    #[must_use]
    pub fn is_writable(&self, kind: Kind, place: usize) -> bool {
        self.slots(kind).writable.is_none_or(|writable| writable.contains(place))
    }

    /// The links that records of a kind send, `self` apart, without prefix.
    #[must_use]
    pub fn sent_links(&self, kind: Kind) -> Vec<&'static str> {
        let words = self.inner.words.kind(kind);
        words.map(|words| words.links.iter().map(|link| link.name).collect()).unwrap_or_default()
    }

    /// The helpers that are offered.
    pub fn helpers(&self) -> impl Iterator<Item = HelperName> + '_ {
        self.inner.helpers.keys().copied()
    }

    /// The action functions that helpers support.
    #[must_use]
    pub fn functions(&self) -> &[FunctionName] {
        &self.inner.functions
    }

    /// The declared behaviours, in the capability vocabulary.
    #[must_use]
    pub fn behaviours(&self) -> Vec<&'static str> {
        // What validation does is the same for every backend; the layout may be another.
        let paths = self.inner.layout.is_conventional().then_some("conventional_paths");
        let own = ["validates_enums", "validates_types"].into_iter().chain(paths);
        own.chain(self.inner.behaviours.iter().map(|behaviour| behaviour.as_str())).collect()
    }

    /// The response style by name.
    #[must_use]
    pub fn style_name(&self) -> &'static str {
        match self.inner.style {
            ResponseStyle::Table => "table",
            ResponseStyle::Examples => "examples",
        }
    }
}
