//! What the model knows of each record.

use serde_json::{Map, Value};

use crate::journal::SYSTEM;
use crate::kinds::CatalogueKind;
use crate::response::Representation;

/// One record of the model.
#[derive(Debug, Clone)]
pub(super) struct ModelRecord {
    /// The step that made it.
    pub(super) id: usize,
    pub(super) kind: CatalogueKind,
    /// What it was last seen as; its links lead on.
    pub(super) record: Representation,
    pub(super) own: String,
    /// Its `created_date`, which stays.
    ///
    /// Requirements: TYP-15.
    pub(super) created: Value,
    pub(super) marker: Option<String>,
    /// What was sent last for each field.
    pub(super) fields: Map<String, Value>,
    pub(super) container: Option<usize>,
    pub(super) person: Option<usize>,
    pub(super) alive: bool,
}

impl ModelRecord {
    /// What tells the record from others: its marker, or its address where identifiers are not
    /// kept.
    pub(super) fn name(&self) -> String {
        self.marker.clone().unwrap_or_else(|| self.own.clone())
    }
}

/// What tells a member of a collection from others; as [`ModelRecord::name`].
pub(super) fn name(member: &Representation) -> Option<String> {
    let marker = member
        .identifiers()
        .into_iter()
        .find(|one| one.split(':').next() == Some(SYSTEM));
    marker
        .map(ToOwned::to_owned)
        .or_else(|| member.link("self"))
}

/// Every record of a sequence.
#[derive(Debug, Default)]
pub(super) struct ModelState {
    pub(super) all: Vec<ModelRecord>,
    /// Containers below which something was deleted.
    pub(super) thinned: Vec<usize>,
}

impl ModelState {
    pub(super) fn get(&self, id: usize) -> Option<&ModelRecord> {
        self.all.iter().find(|known| known.id == id)
    }

    pub(super) fn get_mut(&mut self, id: usize) -> Option<&mut ModelRecord> {
        self.all.iter_mut().find(|known| known.id == id)
    }

    /// The living records of a kind under a container.
    pub(super) fn under(&self, container: usize, kind: CatalogueKind) -> Vec<&ModelRecord> {
        self.living(kind)
            .filter(|known| known.container == Some(container))
            .collect()
    }

    /// The living records of a kind of a person.
    pub(super) fn of_person(&self, person: usize, kind: CatalogueKind) -> Vec<&ModelRecord> {
        self.living(kind)
            .filter(|known| known.person == Some(person))
            .collect()
    }

    fn living(&self, kind: CatalogueKind) -> impl Iterator<Item = &ModelRecord> {
        self.all
            .iter()
            .filter(move |known| known.alive && known.kind == kind)
    }
}
