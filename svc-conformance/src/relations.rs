//! What the addresses of a run lead to, learned from the relations of the links that name them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::kinds::{KINDS, Kind, kind, kind_of};

/// Addresses that are kept at most.
const MOST: usize = 200_000;

/// What an address leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// One record of a kind.
    Record(Kind),
    /// A collection of a kind.
    Collection(Kind),
    /// A helper that makes records of a kind.
    Helper(Kind),
}

/// Every address with what it leads to.
#[derive(Debug, Default)]
pub(crate) struct Relations(Mutex<HashMap<String, Known>>);

impl Relations {
    /// What an address leads to; the query does not matter.
    pub(crate) fn of(&self, url: &str) -> Option<Known> {
        let plain = url.split('?').next().unwrap_or_default();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(plain).copied()
    }

    pub(crate) fn learn(&self, url: &str, known: Known) {
        let plain = url.split('?').next().unwrap_or_default();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Most links were met before.
        if let Some(met) = all.get_mut(plain) {
            *met = known;
        } else if all.len() < MOST {
            all.insert(plain.to_owned(), known);
        }
    }
}

/// Whether the specification has a relation or an object with this name, without prefix.
pub(crate) fn is_standard(name: &str) -> bool {
    matches!(name, "attendance" | "target" | "error" | "schedule_helper") || meaning(name, None).is_some()
}

/// What a relation without prefix leads to, from a record of a kind or from anything else.
pub(crate) fn meaning(name: &str, from: Option<Kind>) -> Option<Known> {
    // On a person `attendance` is a second name of a collection (HLP-21).
    if name == "attendance" && from.is_some_and(|from| from.one == "person") {
        return kind_of("attendances").map(Known::Collection);
    }
    if matches!(name, "creator" | "modified_by" | "organizer" | "canvasser") {
        return kind("person").map(Known::Record);
    }
    // The container of an advocacy outreach and the person that a canvass is about.
    if name == "target" && from.is_some_and(|from| from.one == "canvass") {
        return kind("person").map(Known::Record);
    }
    if let Some(helper) = name.strip_suffix("_helper") {
        let helper = if helper == "record_canvas" { "record_canvass" } else { helper };
        return KINDS.iter().copied().find(|kind| kind.helper == Some(helper)).map(Known::Helper);
    }
    kind(name).map(Known::Record).or_else(|| kind_of(name).map(Known::Collection))
}
