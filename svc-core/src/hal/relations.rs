//! What an API's documents are written with, made once when it is built: prefixed names of
//! relations, and which links each kind sends.

use std::{ops::Deref, sync::Arc};

use super::shown::filter;
use crate::{
    field_set::FieldBits,
    json::{MemberFilter, write_string},
    link::{Dialect, Layout, RecordAddress, Scope, Target, VendorRelations},
    model::Kind,
    schema::{Constraints, LinkSpec, LinkTarget},
    value::Id,
};

/// What all documents of an API have in common.
#[derive(Debug)]
pub(crate) struct RelationNames {
    documents: DocumentSettings,
    kinds: Vec<KindRelations>,
}

/// What is set for all documents.
#[derive(Debug)]
pub(crate) struct DocumentSettings {
    pub(crate) dialect: Dialect,
    pub(crate) namespace: Arc<str>,
    /// An own documentation address in place of the built-in pages.
    ///
    /// Requirements: ENT-22.
    pub(crate) docs: Option<ExternalDocs>,
    /// The vendor's own relations.
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

/// Where an own documentation lies.
#[derive(Debug, Clone)]
pub(crate) struct ExternalDocs {
    pub(crate) start: String,
    /// The address in front of a relation.
    pub(crate) pages: String,
}

/// What is written of one kind.
#[derive(Debug)]
pub(crate) struct KindRelations {
    /// The links that its records send.
    pub(crate) links: Vec<LinkRelation>,
    /// What may leave the server; `None` when all may, so that stored bytes pass unread.
    pub(crate) shown: Option<MemberFilter>,
    /// `"svc:people":`
    pub(crate) plural: Vec<u8>,
    /// `"svc:person"`, as a JSON string.
    pub(crate) singular: Vec<u8>,
}

/// One link that is sent.
#[derive(Debug)]
pub(crate) struct LinkRelation {
    pub(crate) name: &'static str,
    pub(crate) target: LinkTarget,
    /// `"svc:signatures":{"href":`
    pub(crate) key: Vec<u8>,
    /// What stands behind the record's own address in this link's, such as `/signatures`; `None`
    /// where the layout does not put the one behind the other.
    pub(crate) below: Option<String>,
}

impl RelationNames {
    /// `readable` has the fields of a kind that may leave the server, and what is narrower of it.
    pub(crate) fn new<'n>(
        documents: DocumentSettings,
        layout: &dyn Layout,
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

    /// What is written of a kind. The list has every kind, in the order of [`Kind::ALL`].
    pub(crate) fn kind(&self, kind: Kind) -> Option<&KindRelations> {
        self.kinds.get(kind as usize)
    }
}

/// What a layout puts behind the address of a record to make the address of a collection or helper
/// below it, when it does so whatever the ids are: the conventional one does.
fn below(layout: &dyn Layout, kind: Kind, target: LinkTarget) -> Option<String> {
    if !layout.is_conventional() {
        return None;
    }
    let behind = |id: &str, parent: &str| {
        let parent = kind
            .schema()
            .home
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
        // It is written as it is.
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
