//! The words of one API, made once when it is built: prefixed relations, and which links each kind sends.

use crate::{field_set::FieldBits, link::Dialect, model::Kind, read::write_string, schema::LinkTarget};

/// What all documents of an API have in common.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) dialect: Dialect,
    pub(crate) namespace: String,
    /// An own documentation address in place of the built-in pages (ENT-22).
    pub(crate) docs: Option<DocsAddress>,
    kinds: Vec<KindWords>,
}

/// Where an own documentation lies.
#[derive(Debug, Clone)]
pub(crate) struct DocsAddress {
    pub(crate) start: String,
    /// The address in front of a relation.
    pub(crate) pages: String,
}

/// The words of one kind.
#[derive(Debug)]
pub(crate) struct KindWords {
    /// The links that its records send.
    pub(crate) links: Vec<LinkWord>,
    /// The fields that may leave the server; `None` when all may, so that stored bytes pass unread.
    pub(crate) readable: Option<FieldBits>,
    /// `"svc:people":`
    pub(crate) plural: Vec<u8>,
    /// `"svc:person"`, as a JSON string.
    pub(crate) singular: Vec<u8>,
}

/// One link that is sent.
#[derive(Debug)]
pub(crate) struct LinkWord {
    pub(crate) name: &'static str,
    pub(crate) target: LinkTarget,
    /// `"svc:signatures":`
    pub(crate) key: Vec<u8>,
}

impl Words {
    pub(crate) fn new(
        dialect: Dialect,
        namespace: String,
        docs: Option<DocsAddress>,
        readable: impl Fn(Kind) -> Option<FieldBits>,
        is_sent: impl Fn(Kind, LinkTarget) -> bool,
    ) -> Self {
        let kinds = Kind::ALL.iter().map(|&kind| {
            let links = kind.schema().links.iter().filter(|link| is_sent(kind, link.target));
            KindWords {
                links: links
                    .map(|link| LinkWord { name: link.name, target: link.target, key: key(&dialect, link.name) })
                    .collect(),
                readable: readable(kind),
                plural: key(&dialect, kind.plural()),
                singular: quoted(&dialect.relation(kind.singular())),
            }
        });
        let kinds = kinds.collect();
        Self { dialect, namespace, docs, kinds }
    }

    /// The words of a kind. The list has every kind, in the order of [`Kind::ALL`].
    pub(crate) fn kind(&self, kind: Kind) -> Option<&KindWords> {
        self.kinds.get(kind as usize)
    }
}

fn key(dialect: &Dialect, name: &str) -> Vec<u8> {
    let mut key = quoted(&dialect.relation(name));
    key.push(b':');
    key
}

fn quoted(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    write_string(text, &mut out);
    out
}
