//! The graph of the API, from the schema: the kinds, their links, and the helpers with the kinds
//! that they write.
//!
//! Requirements: ENT-22.

use svc_core::{
    api::Api,
    helper::HelperName,
    model::Kind,
    schema::{LinkSpec, LinkTarget},
};

/// The whole API as nodes and edges, with the parts that a server declares.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) kinds: Vec<KindNode>,
    pub(crate) lines: Vec<GraphEdge>,
    pub(crate) helpers: Vec<HelperNode>,
}

/// A kind of record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KindNode {
    pub(crate) kind: Kind,
    pub(crate) declared: bool,
}

/// All links between the records of two kinds, in either direction.
#[derive(Debug)]
pub(crate) struct GraphEdge {
    pub(crate) ends: [Kind; 2],
    pub(crate) links: Vec<EdgeLink>,
    /// Whether one kind is a collection of the other. Other edges only name a person or a related
    /// record.
    pub(crate) lists: bool,
}

/// A link of a kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EdgeLink {
    pub(crate) kind: Kind,
    pub(crate) link: &'static LinkSpec,
    pub(crate) declared: bool,
}

/// A helper, and the kinds that it writes.
#[derive(Debug)]
pub(crate) struct HelperNode {
    pub(crate) helper: HelperName,
    pub(crate) writes: Vec<Kind>,
    pub(crate) declared: bool,
}

impl GraphEdge {
    pub(crate) fn is_declared(&self) -> bool {
        self.links.iter().any(|link| link.declared)
    }

    fn is_between(&self, one: Kind, other: Kind) -> bool {
        self.ends == [one, other] || self.ends == [other, one]
    }
}

impl Graph {
    /// Returns the graph of the API of a server.
    pub(crate) fn new(api: &Api) -> Self {
        let kinds = Kind::ALL
            .iter()
            .map(|&kind| KindNode {
                kind,
                declared: api.shows_kind(kind),
            })
            .collect();
        let mut lines: Vec<GraphEdge> = Vec::new();
        for &kind in Kind::ALL {
            let sent = api.record_links(kind);
            for link in kind.schema().links {
                let Some((other, lists)) = target_kind(link) else {
                    continue;
                };
                let declared = api.shows_kind(kind) && sent.contains(&link.name);
                let found = EdgeLink {
                    kind,
                    link,
                    declared,
                };
                match lines.iter_mut().find(|line| line.is_between(kind, other)) {
                    Some(known) => {
                        known.lists |= lists;
                        known.links.push(found);
                    }
                    None => lines.push(GraphEdge {
                        ends: [kind, other],
                        links: vec![found],
                        lists,
                    }),
                }
            }
        }
        let helper = |&helper: &HelperName| HelperNode {
            helper,
            writes: writes(helper),
            declared: api.helpers().any(|offered| offered == helper),
        };
        Self {
            kinds,
            lines,
            helpers: HelperName::ALL.iter().map(helper).collect(),
        }
    }

    /// Returns whether this server declares the whole API.
    pub(crate) fn is_complete(&self) -> bool {
        self.kinds.iter().all(|node| node.declared)
            && self.helpers.iter().all(|node| node.declared)
            && self.lines.iter().all(GraphEdge::is_declared)
    }
}

/// Returns the kind that is the target of a link, and whether the target is a collection. Returns
/// `None` for a helper, because a helper is not a record.
fn target_kind(link: &LinkSpec) -> Option<(Kind, bool)> {
    match link.target {
        LinkTarget::Many { kind, .. } => Some((kind, true)),
        LinkTarget::One { kind, .. } => Some((kind, false)),
        LinkTarget::Helper(_) => None,
    }
}

/// Returns the kinds that a helper always writes: the action and the person.
fn writes(helper: HelperName) -> Vec<Kind> {
    let person =
        (helper.accepts_person() && helper.recorded_kind() != Kind::Person).then_some(Kind::Person);
    std::iter::once(helper.recorded_kind())
        .chain(person)
        .collect()
}

/// Returns a name of the specification in words: `Fundraising page` for `fundraising_page`.
pub(crate) fn in_words(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first
        .into_iter()
        .chain(letters.map(|letter| if letter == '_' { ' ' } else { letter }))
        .collect()
}
