//! Links, and what else leads from one record to another.

use super::{KindFeature, KindSchema};
use crate::{
    error::{ErrorCode, Problem, PropertyPath},
    names::{HelperName, Kind},
};

/// One link of a kind.
#[derive(Debug)]
#[non_exhaustive]
pub struct LinkSpec {
    /// Name on the wire without prefix.
    pub name: &'static str,
    /// The requirement row that it answers, such as `RES-petition-19`.
    pub row: &'static str,
    /// What it is, in a phrase without a full stop.
    pub doc: &'static str,
    /// Where it leads.
    pub target: LinkTarget,
}

/// Where a link leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkTarget {
    /// To the collection of a kind under this record.
    Many {
        /// The kind of the members.
        kind: Kind,
        /// Whether it is a second name of a collection that another link names already.
        ///
        /// Requirements: HLP-21.
        alias: bool,
    },
    /// To one record.
    One {
        /// The kind of the record.
        kind: Kind,
        /// When a client may send it.
        write: LinkWrite,
        /// What becomes of the record when the one that it leads to is deleted.
        on_delete: OnDelete,
    },
    /// To a helper of this record.
    Helper(HelperName),
}

/// When a client may send a link in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkWrite {
    /// Never: the system sets it.
    Never,
    /// On create.
    Create,
    /// On create, and it must.
    ///
    /// Requirements: CRU-02.
    Required,
    /// On create and on update, where `null` clears it.
    ///
    /// Requirements: CRU-16.
    Update,
}

/// What becomes of a record when one is deleted that it leads to.
///
/// Requirements: UND-26.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDelete {
    /// It is deleted, too.
    Cascade,
    /// It keeps the other from being deleted.
    Restrict,
    /// It stays, without the link.
    Clear,
}

/// Where each record of a kind leads, to one other record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReferenceSpec {
    /// The link's name, or the singular relation of the kind where no link names it.
    pub name: &'static str,
    /// The kind it leads to.
    pub kind: Kind,
    /// Whether it is sent as a link. Others are known to the store only, such as the canvass that
    /// an answer was recorded by.
    ///
    /// Requirements: UND-01.
    pub is_link: bool,
    /// Whether the records are listed under what it leads to.
    ///
    /// Requirements: COL-04 to COL-18.
    pub is_scope: bool,
    /// What becomes of the record when the one that it leads to is deleted.
    pub on_delete: OnDelete,
}

impl ReferenceSpec {
    /// The link from the record that it leads to, to the container of that, when that is part of
    /// its address.
    ///
    /// Requirements: COL-19.
    #[must_use]
    pub fn home_link(&self) -> Option<&'static str> {
        let schema = self.kind.schema();
        schema.home.and(schema.parent).filter(|_| self.is_link)
    }

    pub(super) fn all_of(schema: &'static KindSchema) -> Vec<Self> {
        let scopes: Vec<Kind> = schema.scopes().collect();
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
    /// The problem of a link that leads to no record of this tenant; `link` is its name.
    ///
    /// Requirements: CRU-02.
    #[must_use]
    pub fn leads_nowhere(kind: Kind, link: &'static str) -> Self {
        let code = ErrorCode::not_found(kind);
        let text = format!(
            "{{property}} leads to no {} of this server.",
            kind.singular()
        );
        Self::new(code, PropertyPath::link(link), text)
    }
}

impl ErrorCode {
    /// The code of a link that leads to nothing: some kinds have their own (Annex C).
    #[must_use]
    pub fn not_found(kind: Kind) -> Self {
        if kind.schema().has(KindFeature::OwnNotFound) {
            Self::PersonNotFound
        } else {
            Self::LinkNotFound
        }
    }
}
