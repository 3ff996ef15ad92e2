//! Data for rendering the documents of an API, computed once when the API is built: prefixed
//! relation names, and the links of each kind.

use std::{ops::Deref, sync::Arc};

use super::visible_fields::filter;
use crate::{
    auth::{Caller, Right},
    field_set::FieldBits,
    json::{MemberFilter, write_string},
    link::{Dialect, Layout, RecordAddress, Scope, Target, VendorRelations},
    model::Kind,
    schema::{Constraints, LinkSpec, LinkTarget},
    value::Id,
};

/// The data that all documents of an API share.
#[derive(Debug)]
pub(crate) struct RelationNames {
    documents: DocumentSettings,
    kinds: Vec<KindRelations>,
}

/// The settings for all documents.
#[derive(Debug)]
pub(crate) struct DocumentSettings {
    pub(crate) dialect: Dialect,
    pub(crate) namespace: Arc<str>,
    /// The URL of external documentation that replaces the built-in pages.
    ///
    /// Requirements: ENT-22.
    pub(crate) docs: Option<ExternalDocs>,
    /// The vendor relations.
    ///
    /// Requirements: ENT-27.
    pub(crate) own: Option<VendorRelations>,
}

impl Deref for RelationNames {
    type Target = DocumentSettings;

    fn deref(&self) -> &DocumentSettings {
        &self.documents
    }
}

/// The URLs of external documentation.
#[derive(Debug, Clone)]
pub(crate) struct ExternalDocs {
    pub(crate) start: String,
    /// The URL that precedes the name of a relation.
    pub(crate) pages: String,
}

/// The data for rendering one kind.
#[derive(Debug)]
pub(crate) struct KindRelations {
    /// The links that the records contain.
    pub(crate) links: Vec<LinkRelation>,
    /// The links to operations of extensions that the records contain for a caller with the right.
    pub(super) operations: Vec<OperationLink>,
    /// A filter of the members to send; `None` if all members are sent, so that stored bytes are
    /// copied.
    pub(crate) shown: Option<MemberFilter>,
    /// `"svc:people":`
    pub(crate) plural: Vec<u8>,
    /// `"svc:person"`, as a JSON string.
    pub(crate) singular: Vec<u8>,
}

/// A link that records contain.
#[derive(Debug)]
pub(crate) struct LinkRelation {
    pub(crate) name: &'static str,
    pub(crate) target: LinkTarget,
    /// `"svc:signatures":{"href":`
    pub(crate) key: Vec<u8>,
    /// The suffix of the record's URL in the URL of this link, such as `/signatures`. `None` if the
    /// layout does not append a suffix.
    pub(crate) below: Option<String>,
}

/// A link from the records of a kind to an operation of an extension.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordLink {
    /// The relation, without prefix.
    pub(crate) relation: &'static str,
    /// The kind of the records.
    pub(crate) kind: Kind,
    /// The right to the operation. The records contain the link only for callers that have it.
    pub(crate) right: Right,
    /// Returns the target for a record.
    pub(crate) target: fn(RecordAddress) -> Target,
}

/// A link to an operation of an extension, with its key as it is written.
#[derive(Debug)]
pub(super) struct OperationLink {
    pub(super) right: Right,
    /// `"ext:merge_helper":{"href":`
    pub(super) key: Vec<u8>,
    pub(super) target: fn(RecordAddress) -> Target,
}

impl RelationNames {
    /// Computes the data. `readable` returns the fields of a kind to send, and the constraints.
    pub(crate) fn new<'n>(
        documents: DocumentSettings,
        layout: &dyn Layout,
        operations: &[RecordLink],
        readable: impl Fn(Kind) -> Option<(Option<FieldBits>, Option<&'n Constraints>)>,
        is_sent: impl Fn(Kind, &LinkSpec) -> bool,
    ) -> Self {
        let dialect = &documents.dialect;
        let kinds = Kind::ALL.iter().map(|&kind| {
            let links = kind
                .schema()
                .links
                .iter()
                .filter(|link| is_sent(kind, link));
            KindRelations {
                links: links
                    .map(|link| {
                        let mut key = key(dialect, link.name);
                        key.extend_from_slice(b"{\"href\":");
                        LinkRelation {
                            name: link.name,
                            target: link.target,
                            key,
                            below: below(layout, kind, link.target),
                        }
                    })
                    .collect(),
                operations: operations
                    .iter()
                    .filter(|link| link.kind == kind)
                    .map(|link| {
                        let mut key = key(dialect, link.relation);
                        key.extend_from_slice(b"{\"href\":");
                        let RecordLink { right, target, .. } = *link;
                        OperationLink { right, key, target }
                    })
                    .collect(),
                shown: readable(kind).and_then(|(readable, narrowing)| {
                    filter(kind, readable, narrowing, dialect.share_names())
                }),
                plural: key(dialect, kind.plural()),
                singular: quoted(&dialect.relation(kind.singular())),
            }
        });
        let kinds = kinds.collect();
        Self { documents, kinds }
    }

    /// Returns the data for rendering a kind. The list contains every kind, in the order of
    /// [`Kind::ALL`].
    pub(crate) fn kind(&self, kind: Kind) -> Option<&KindRelations> {
        self.kinds.get(kind as usize)
    }

    /// Returns a number that differs for callers whose records have different links.
    pub(crate) fn variant(&self, caller: &Caller) -> u64 {
        let links = self.kinds.iter().flat_map(|kind| &kind.operations);
        links.fold(0, |variant, link| {
            (variant << 1) | u64::from(caller.has_right(link.right))
        })
    }
}

/// Returns the suffix that a layout appends to the URL of a record for a collection or helper under
/// it.
///
/// The suffix must not depend on the ids, as in the conventional layout.
fn below(layout: &dyn Layout, kind: Kind, target: LinkTarget) -> Option<String> {
    if !layout.is_conventional() {
        return None;
    }
    let behind = |id: &str, parent: &str| {
        let parent = kind
            .schema()
            .path_parent
            .map(|_| Id::new(parent))
            .map_or(Some(None), |parent| parent.map(Some))?;
        let record = RecordAddress::new(kind, Id::new(id)?, parent);
        let there = match target {
            LinkTarget::Many { kind, .. } => Target::Collection {
                kind,
                scope: Scope::Under(record.clone()),
            },
            LinkTarget::Helper(helper) => Target::Helper {
                helper,
                container: Some(record.clone()),
            },
            LinkTarget::One { .. } => return None,
        };
        let path = |target| {
            let mut path = String::new();
            layout.path(&target, &mut path);
            path
        };
        let below = path(there)
            .strip_prefix(&path(Target::Record(record)))?
            .to_owned();
        // The suffix is written without escaping.
        below
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-'))
            .then_some(below)
    };
    behind("0", "1").filter(|below| Some(below) == behind("another-id", "another-parent").as_ref())
}

fn key(dialect: &Dialect, name: &str) -> Vec<u8> {
    let mut key = quoted(&dialect.relation(name));
    key.push(b':');
    key
}

fn quoted(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len().saturating_add(2));
    write_string(text, &mut out);
    out
}
