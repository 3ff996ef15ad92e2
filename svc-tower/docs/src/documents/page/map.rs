//! The page of the map, with the content of the map as text.
//!
//! Requirements: ENT-22.

use svc_core::helper::HelperName;

use super::{DocLinkGroup, DocPage, DocPages, DocReference, DocSubject, open};
use crate::documents::graph::{EdgeLink, Graph, HelperNode, in_words};

pub(super) const NAME: &str = "map";

/// The note on anything that this server does not support.
const ABSENT: &str = "not on this server";

pub(super) fn page(docs: &DocPages<'_>) -> DocPage {
    let graph = Graph::new(docs.api);
    let summary =
        "Kinds of records, the links between them, and the records that each helper writes.";
    let mut page = open(NAME, DocSubject::Map, "Map".to_owned(), summary);
    page.notes.push("People are in the middle of the picture. Around them are their actions, and outside are the records that actions belong to, such as petitions. The lists below have the same content as the picture.".to_owned());
    let kinds = graph.kinds.iter().map(|node| {
        let links = graph.lines.iter().flat_map(|line| {
            let [one, other] = line.ends;
            let of_kind = line.links.iter().filter(move |of| of.kind == node.kind);
            of_kind.map(move |of| (of, if one == node.kind { other } else { one }))
        });
        let leads = |(EdgeLink { link, declared, .. }, to): (&EdgeLink, svc_core::model::Kind)| {
            let absent = if *declared || !node.declared {
                String::new()
            } else {
                format!(" ({ABSENT})")
            };
            if link.name == to.singular() || link.name == to.plural() {
                format!("`{}`{absent}", link.name)
            } else {
                format!(
                    "`{}` ({}){absent}",
                    link.name,
                    in_words(to.singular()).to_lowercase()
                )
            }
        };
        let links: Vec<String> = links.map(leads).collect();
        let absent = if node.declared {
            ""
        } else {
            "not on this server; "
        };
        let leads = if links.is_empty() {
            "no links to other kinds".to_owned()
        } else {
            format!("links to {}", links.join(", "))
        };
        DocReference::new(
            docs.href(node.kind.singular()),
            in_words(node.kind.singular()),
        )
        .text(format!("{absent}{leads}"))
    });
    page.link_groups.push(DocLinkGroup {
        title: "Kinds and their links",
        entries: kinds.collect(),
    });
    let helpers = graph.helpers.iter().map(|node| helper(docs, node));
    page.link_groups.push(DocLinkGroup {
        title: "Helpers and the records they write",
        entries: helpers.collect(),
    });
    page
}

fn helper(
    docs: &DocPages<'_>,
    HelperNode {
        helper,
        writes,
        declared,
    }: &HelperNode,
) -> DocReference {
    let absent = if *declared {
        ""
    } else {
        "not on this server; "
    };
    let place = match helper.container_kind() {
        Some(kind) => format!("of {}, ", in_words(kind.plural()).to_lowercase()),
        None => String::new(),
    };
    let written: Vec<String> = writes
        .iter()
        .map(|kind| in_words(kind.singular()).to_lowercase())
        .collect();
    let more = if HelperName::accepts_action_functions(*helper) {
        "; action functions write more"
    } else {
        ""
    };
    let text = format!("{absent}{place}writes {}{more}", written.join(" and "));
    DocReference::new(docs.href(helper.relation()), in_words(helper.as_str())).text(text)
}
