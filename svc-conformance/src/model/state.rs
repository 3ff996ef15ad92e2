//! What the model knows about each record.

use serde_json::{Map, Value};

use crate::journal::SYSTEM;
use crate::kinds::CatalogueKind;
use crate::response::Representation;

/// A record of the model.
#[derive(Debug, Clone)]
pub(super) struct ModelRecord {
    /// The step that created it.
    pub(super) id: usize,
    pub(super) kind: CatalogueKind,
    /// Its last representation, which contains its links.
    pub(super) record: Representation,
    pub(super) own: String,
    /// Its `created_date`, which must not change.
    ///
    /// Requirements: TYP-15.
    pub(super) created: Value,
    pub(super) marker: Option<String>,
    /// The last sent value of each field.
    pub(super) fields: Map<String, Value>,
    pub(super) container: Option<usize>,
    pub(super) person: Option<usize>,
    pub(super) alive: bool,
}

impl ModelRecord {
    /// Returns what identifies the record: its marker, or its URL if the server stores no
    /// identifiers.
    pub(super) fn name(&self) -> String {
        self.marker.clone().unwrap_or_else(|| self.own.clone())
    }
}

/// Returns what identifies a member of a collection, in the same way as [`ModelRecord::name`].
pub(super) fn name(member: &Representation) -> Option<String> {
    let marker = member
        .identifiers()
        .into_iter()
        .find(|one| one.split(':').next() == Some(SYSTEM));
    marker
        .map(ToOwned::to_owned)
        .or_else(|| member.link("self"))
}

/// All records of a sequence.
#[derive(Debug, Default)]
pub(super) struct ModelState {
    pub(super) all: Vec<ModelRecord>,
    /// The containers in which a record was deleted.
    pub(super) thinned: Vec<usize>,
}

impl ModelState {
    pub(super) fn get(&self, id: usize) -> Option<&ModelRecord> {
        self.all.iter().find(|known| known.id == id)
    }

    pub(super) fn get_mut(&mut self, id: usize) -> Option<&mut ModelRecord> {
        self.all.iter_mut().find(|known| known.id == id)
    }

    /// Returns the existing records of a kind in a container.
    pub(super) fn under(&self, container: usize, kind: CatalogueKind) -> Vec<&ModelRecord> {
        self.living(kind)
            .filter(|known| known.container == Some(container))
            .collect()
    }

    /// Returns the existing records of a kind of a person.
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
