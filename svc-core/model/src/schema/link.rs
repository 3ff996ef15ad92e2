//! Links and other references from one record to another.

use super::{KindFeature, KindSchema};
use crate::{
    error::{ErrorCode, Problem, PropertyPath},
    names::{HelperName, Kind},
};

/// A link of a kind.
#[derive(Debug)]
#[non_exhaustive]
pub struct LinkSpec {
    /// The name in JSON without prefix.
    pub name: &'static str,
    /// The id of its requirement, such as `RES-petition-19`.
    pub requirement: &'static str,
    /// The meaning, as a phrase without a full stop.
    pub doc: &'static str,
    /// The target.
    pub target: LinkTarget,
}

/// The target of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkTarget {
    /// The collection of a kind under this record.
    Many {
        /// The kind of the members.
        kind: Kind,
        /// Whether it is another name of a collection that another link already names.
        ///
        /// Requirements: HLP-21.
        alias: bool,
    },
    /// A single record.
    One {
        /// The kind of the record.
        kind: Kind,
        /// When a client may send the link in a create.
        write: LinkWrite,
        /// What a client may do with the link in an update.
        update: LinkUpdate,
        /// What happens to the record when the linked record is deleted.
        on_delete: OnDelete,
    },
    /// A helper of this record.
    Helper(HelperName),
}

/// When a client may send a link in the body of a create.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkWrite {
    /// Never: the server sets it, or it is the container in the address of the collection.
    Never,
    /// Always.
    Create,
    /// Always, and it is required.
    ///
    /// Requirements: CRU-02.
    Required,
}

/// What a client may do with a link in the body of an update.
///
/// Requirements: CRU-16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkUpdate {
    /// Nothing: the link is read-only.
    Never,
    /// Change it, or clear it with `null`.
    Change,
    /// Move the record to another target. The caller also needs the right to create records of the
    /// kind; without it, the link is read-only.
    ///
    /// Requirements: AUT-04.
    Move,
}

impl LinkUpdate {
    /// Returns whether an update may send the link. `moves` is whether the caller may move records.
    #[must_use]
    pub fn accepts(self, moves: bool) -> bool {
        match self {
            Self::Never => false,
            Self::Change => true,
            Self::Move => moves,
        }
    }
}

/// What happens to a record when a record that it links to is deleted.
///
/// Requirements: UND-26.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDelete {
    /// The record is also deleted.
    Cascade,
    /// The linked record cannot be deleted.
    Restrict,
    /// The link is removed.
    Clear,
}

/// A reference from each record of a kind to one other record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReferenceSpec {
    /// The name of the link, or the singular relation of the kind if the reference is not a link.
    pub name: &'static str,
    /// The kind of the referenced record.
    pub kind: Kind,
    /// Whether it is sent as a link. Only the store knows other references, such as the canvass
    /// that recorded an answer.
    ///
    /// Requirements: UND-01.
    pub is_link: bool,
    /// Whether the records are listed under the referenced record.
    ///
    /// Requirements: COL-04 to COL-18.
    pub is_scope: bool,
    /// What happens to the record when the referenced record is deleted.
    pub on_delete: OnDelete,
}

impl ReferenceSpec {
    /// Returns the link from the referenced record to its container, if the container is part of
    /// its address.
    ///
    /// Requirements: COL-19.
    #[must_use]
    pub fn container_link(&self) -> Option<&'static str> {
        let schema = self.kind.schema();
        schema
            .path_parent
            .and(schema.parent)
            .filter(|_| self.is_link)
    }

    pub(super) fn all_of(schema: &'static KindSchema) -> Vec<Self> {
        let scopes: Vec<Kind> = schema.scope_kinds().collect();
        let links = schema.links.iter().filter_map(|link| match link.target {
            LinkTarget::One {
                kind, on_delete, ..
            } => Some((link.name, kind, on_delete)),
            _ => None,
        });
        let mut all: Vec<Self> = links
            .map(|(name, kind, on_delete)| {
                // A canvass is listed under its target, not under the canvasser.
                let names_scope = Some(name) == schema.parent || name == kind.singular();
                Self {
                    name,
                    kind,
                    is_link: true,
                    is_scope: names_scope && scopes.contains(&kind),
                    on_delete,
                }
            })
            .collect();
        for kind in scopes {
            if !all.iter().any(|known| known.kind == kind && known.is_scope) {
                let on_delete = OnDelete::Clear;
                all.push(Self {
                    name: kind.singular(),
                    kind,
                    is_link: false,
                    is_scope: true,
                    on_delete,
                });
            }
        }
        all
    }
}

impl Problem {
    /// Creates the problem of a link to a record that does not exist for this tenant; `link` is its
    /// name.
    ///
    /// Requirements: CRU-02.
    #[must_use]
    pub fn link_not_found(kind: Kind, link: &'static str) -> Self {
        let code = ErrorCode::not_found(kind);
        let text = format!(
            "{{property}} does not identify {} of this server.",
            kind.with_article()
        );
        Self::new(code, PropertyPath::link(link), text)
    }
}

impl ErrorCode {
    /// Returns the code for a link to a missing record. Some kinds have their own code (Annex C).
    #[must_use]
    pub fn not_found(kind: Kind) -> Self {
        if kind.schema().has_feature(KindFeature::HasNotFoundCode) {
            Self::PersonNotFound
        } else {
            Self::LinkNotFound
        }
    }
}
