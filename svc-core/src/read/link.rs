//! Addresses in a body: they go through the layout, and are never fetched.
//!
//! Requirements: CRU-02.

use super::{Json, Object, identifiers::part_of, path::ValuePath};
use crate::{
    error::{ErrorCode, PathSegment, Problem, PropertyPath},
    link::{BaseUrl, Dialect, Layout, RecordAddress, Target},
    model::Kind,
    schema::{KindSchema, LinkTarget, LinkWrite},
};

/// Reads addresses that a client sends back.
#[derive(Debug, Clone, Copy)]
pub struct LinkReader<'a> {
    /// The address of the entry point under which the request came.
    pub base: &'a BaseUrl,
    /// The layout.
    pub layout: &'a dyn Layout,
    /// The relation prefix.
    pub dialect: &'a Dialect,
}

impl LinkReader<'_> {
    /// The record that an address leads to, when it is one of this server.
    #[must_use]
    pub fn address(&self, href: &str) -> Option<RecordAddress> {
        let base = self.base.as_str();
        // Behind scheme and host.
        let path = base.splitn(4, '/').nth(3)?;
        let below = href
            .strip_prefix(base)
            .or_else(|| href.strip_prefix('/')?.strip_prefix(path))?;
        match self.layout.route(below)? {
            Target::Record(address) => Some(address),
            _ => None,
        }
    }

    /// The record of a kind that an address leads to, when it is one of this server.
    #[must_use]
    pub fn address_of(&self, kind: Kind, href: &str) -> Option<RecordAddress> {
        self.address(href).filter(|address| address.kind == kind)
    }

    /// The links of a body that a client may send, each with the record it leads to, or `None` for
    /// `null`.
    ///
    /// `unlinked` are those that the server does not keep: they are not known here.
    pub(crate) fn read(
        &self,
        schema: &'static KindSchema,
        body: &Object,
        path: &ValuePath<'_>,
        (wanted, unlinked): (LinkPurpose, &[&'static str]),
        problems: &mut Vec<Problem>,
    ) -> Vec<(&'static str, Option<RecordAddress>)> {
        let links = body.get("_links").and_then(Json::as_object);
        let mut found = Vec::new();
        for link in schema.links {
            let LinkTarget::One { kind, write, .. } = link.target else {
                continue;
            };
            let may = match wanted {
                LinkPurpose::Create => write != LinkWrite::Never,
                LinkPurpose::Below => write != LinkWrite::Never || Some(link.name) == schema.parent,
                // An inline person takes the place of a required link, and there is none without it
                // (UND-29).
                LinkPurpose::Helper => matches!(write, LinkWrite::Create | LinkWrite::Update),
                LinkPurpose::Update => write == LinkWrite::Update,
            };
            if !may || unlinked.contains(&link.name) {
                continue;
            }
            // Whoever submitted answers it, unless the body says otherwise.
            let is_required = match wanted {
                LinkPurpose::Create => write == LinkWrite::Required,
                LinkPurpose::Below => Some(link.name) == schema.parent,
                _ => false,
            };
            let inside = links.and_then(|links| self.named(links, link.name));
            // A donation helper's links may also stand at the top level (RES-donation-22), a
            // canvass's canvasser too.
            let beside = if wanted == LinkPurpose::Helper && inside.is_none() {
                self.named(body, link.name)
            } else {
                None
            };
            let property = || match &beside {
                Some((name, _)) => path.property().then((*name).to_owned()),
                None => PropertyPath::link(link.name).within(&path.property()),
            };
            match inside.or(beside).map(|(_, value)| value) {
                None if is_required => {
                    let text = format!(
                        "{{property}} must be an object with the `href` of an existing {}.",
                        kind.singular()
                    );
                    problems.push(Problem::new(ErrorCode::not_found(kind), property(), text));
                }
                Some(Json::Null) if is_required => {
                    let text = "{property} is required.";
                    problems.push(Problem::new(ErrorCode::not_found(kind), property(), text));
                }
                None => {}
                Some(Json::Null) => found.push((link.name, None)),
                Some(value) if inside.is_some() && !is_link(value) => {
                    let text = "{property} must be an object with `href`.";
                    let problem = Problem::new(ErrorCode::FieldInvalid, property(), text);
                    problems.push(problem.hint(r#"{"href": "..."}"#));
                }
                Some(value) => {
                    if let Some(address) = href(value).and_then(|href| self.address_of(kind, href))
                    {
                        found.push((link.name, Some(address)));
                    } else {
                        let text = format!(
                            "{{property}} leads to no {} of this server.",
                            kind.singular()
                        );
                        problems.push(Problem::new(ErrorCode::not_found(kind), property(), text));
                    }
                }
            }
        }
        found
    }

    /// Where a link that a store names stands in a body: in `_links` or beside the fields of its
    /// part, else in `_links` of the whole body.
    ///
    /// Requirements: RES-donation-22, RES-canvass-07.
    pub(crate) fn as_sent(&self, body: &Object, property: &PropertyPath) -> Option<PropertyPath> {
        let (PathSegment::Link(name), path) = property.segments().split_last()? else {
            return None;
        };
        let is_inside = |part: &Object| {
            part.get("_links")
                .and_then(Json::as_object)
                .is_some_and(|links| self.named(links, name).is_some())
        };
        let part = part_of(body, path)?;
        if is_inside(part) {
            return None;
        }
        if let Some((sent, _)) = self.named(part, name) {
            return Some(
                PropertyPath::member(sent.to_owned()).within(&path.iter().cloned().collect()),
            );
        }
        is_inside(body).then(|| PropertyPath::link(name.clone()))
    }

    /// A link, with or without prefix, and the name that it has.
    fn named<'a>(&self, place: &'a Object, name: &'a str) -> Option<(&'a str, &'a Json)> {
        let is_relation =
            |(sent, _): &(&str, &Json)| self.dialect.without_prefix(sent) == Some(name);
        place
            .iter()
            .find(is_relation)
            .or_else(|| Some((name, place.get(name)?)))
    }
}

/// Which links of a body are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkPurpose {
    /// Those of a create.
    Create,
    /// Those of a create below a record that is not its container: the container is one of them.
    Below,
    /// Those of a helper's action, where an inline person takes the place of a link.
    Helper,
    /// Those of an update.
    Update,
}

/// Whether it is a link as HAL has it.
///
/// Requirements: HAL-13.
fn is_link(value: &Json) -> bool {
    value
        .as_object()
        .and_then(|link| link.get("href"))
        .is_some_and(|href| href.as_str().is_some())
}

/// The address in a link: an object with `href`, or the address itself.
pub(crate) fn href(value: &Json) -> Option<&str> {
    match value {
        Json::Object(link) => link.get("href")?.as_str(),
        Json::String(href) => Some(href),
        _ => None,
    }
}
