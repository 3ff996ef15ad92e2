//! The links of a body. Their URLs are resolved by the layout, and never fetched.
//!
//! Requirements: CRU-02.

use super::{Json, Object, identifiers::part_of, value_path::ValuePath};
use crate::{
    error::{ErrorCode, PathSegment, Problem, PropertyPath},
    link::{BaseUrl, Dialect, Layout, RecordAddress, Target},
    model::Kind,
    schema::{KindSchema, LinkSpec, LinkTarget, LinkUpdate, LinkWrite},
};

/// Resolves URLs that a client sends.
#[derive(Debug, Clone, Copy)]
pub struct LinkReader<'a> {
    /// The base URL of the request.
    pub base: &'a BaseUrl,
    /// The layout.
    pub layout: &'a dyn Layout,
    /// The relation prefix.
    pub dialect: &'a Dialect,
}

impl LinkReader<'_> {
    /// Returns the address of the record that a URL identifies, if it is a record of this server.
    #[must_use]
    pub fn parse(&self, href: &str) -> Option<RecordAddress> {
        match self.target(href)? {
            Target::Record(address) => Some(address),
            _ => None,
        }
    }

    /// Returns the target of a URL of this server.
    fn target(&self, href: &str) -> Option<Target> {
        let base = self.base.as_str();
        // The part after scheme and host.
        let path = base.splitn(4, '/').nth(3)?;
        let below = href
            .strip_prefix(base)
            .or_else(|| href.strip_prefix('/')?.strip_prefix(path))?;
        self.layout.route(below)
    }

    /// Returns whether two URLs are equal, or identify the same target of this server.
    pub(super) fn is_same_target(&self, one: &str, other: &str) -> bool {
        match (self.target(one), self.target(other)) {
            (Some(Target::Record(one)), Some(Target::Record(other))) => {
                let is_short = one.parent.is_none() || other.parent.is_none();
                (one.kind, &one.id) == (other.kind, &other.id)
                    && (is_short || one.parent == other.parent)
            }
            (Some(one), Some(other)) => one == other,
            _ => one == other,
        }
    }

    /// Returns the address of the record of this kind that a URL identifies, if it is a record of
    /// this server.
    #[must_use]
    pub fn parse_kind(&self, kind: Kind, href: &str) -> Option<RecordAddress> {
        self.parse(href).filter(|address| address.kind == kind)
    }

    /// Reads the links of a body that a client may send, each with its target, or `None` for
    /// `null`.
    ///
    /// `unlinked` are the links that the server does not store. They are unknown here.
    pub(crate) fn read(
        &self,
        schema: &'static KindSchema,
        body: &Object,
        path: &ValuePath<'_>,
        purpose: LinkPurpose,
        unlinked: &[&'static str],
        problems: &mut Vec<Problem>,
    ) -> Vec<(&'static str, Option<RecordAddress>)> {
        let links = body.get("_links").and_then(Json::as_object);
        let mut found = Vec::new();
        for link in schema.links {
            let LinkTarget::One {
                kind,
                write,
                update,
                ..
            } = link.target
            else {
                continue;
            };
            if !purpose.accepts(schema, link) || unlinked.contains(&link.name) {
                continue;
            }
            // The person who submitted also answers, unless the body contains another link.
            let is_required = match purpose {
                LinkPurpose::Create => write == LinkWrite::Required,
                LinkPurpose::Below => Some(link.name) == schema.parent,
                _ => false,
            };
            let can_clear = match purpose {
                LinkPurpose::Update { .. } => update != LinkUpdate::Move,
                _ => !is_required,
            };
            let inside = links.and_then(|links| self.named(links, link.name));
            // The links of a donation helper can also be at the top level, and so can the canvasser
            // of a canvass. Requirements: RES-donation-22.
            let beside = if purpose == LinkPurpose::Helper && inside.is_none() {
                self.named(body, link.name)
            } else {
                None
            };
            let property = || match &beside {
                Some((name, _)) => path.property().push_member((*name).to_owned()),
                None => PropertyPath::link(link.name).prefixed_with(&path.property()),
            };
            match inside.or(beside).map(|(_, value)| value) {
                None if is_required => {
                    let text = format!(
                        "{{property}} must be an object with the `href` of an existing {}.",
                        kind.singular()
                    );
                    problems.push(Problem::new(ErrorCode::not_found(kind), property(), text));
                }
                Some(Json::Null) if !can_clear => {
                    let text = "{property} is required.";
                    problems.push(Problem::new(ErrorCode::not_found(kind), property(), text));
                }
                None => {}
                Some(Json::Null) => found.push((link.name, None)),
                Some(value) if inside.is_some() && !is_link(value) => {
                    let text = "{property} must be an object with `href`.";
                    let problem = Problem::new(ErrorCode::FieldInvalid, property(), text);
                    problems.push(problem.with_hint(r#"{"href": "..."}"#));
                }
                Some(value) => {
                    if let Some(address) = href(value).and_then(|href| self.parse_kind(kind, href))
                    {
                        found.push((link.name, Some(address)));
                    } else {
                        let text = format!(
                            "{{property}} does not identify {} of this server.",
                            kind.with_article()
                        );
                        problems.push(Problem::new(ErrorCode::not_found(kind), property(), text));
                    }
                }
            }
        }
        found
    }

    /// Reads a link that a body must have and that is not a link of a record.
    pub(crate) fn required(
        &self,
        body: &Object,
        kind: Kind,
        name: &'static str,
        problems: &mut Vec<Problem>,
    ) -> Option<RecordAddress> {
        let links = body.get("_links").and_then(Json::as_object);
        let sent = links.and_then(|links| self.named(links, name));
        let property = PropertyPath::link(name);
        let sent = sent.map(|(_, value)| value).filter(|it| !it.is_null());
        let (code, text) = match sent {
            Some(value) if !is_link(value) => (
                ErrorCode::FieldInvalid,
                "{property} must be an object with `href`.".to_owned(),
            ),
            Some(value) => {
                let address = href(value).and_then(|href| self.parse_kind(kind, href));
                if address.is_some() {
                    return address;
                }
                let one = kind.with_article();
                let text = format!("{{property}} does not identify {one} of this server.");
                (ErrorCode::not_found(kind), text)
            }
            None => {
                let one = kind.singular();
                let text =
                    format!("{{property}} must be an object with the `href` of an existing {one}.");
                (ErrorCode::not_found(kind), text)
            }
        };
        problems.push(Problem::new(code, property, text));
        None
    }

    /// Returns the position of a link that a store names. It is in `_links` or next to the fields
    /// of its part, otherwise in `_links` of the whole body.
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
                PropertyPath::member(sent.to_owned())
                    .prefixed_with(&path.iter().cloned().collect()),
            );
        }
        is_inside(body).then(|| PropertyPath::link(name.clone()))
    }

    /// Returns a link, with or without prefix, and the name that the client sent.
    pub(super) fn named<'a>(
        &self,
        place: &'a Object,
        name: &'a str,
    ) -> Option<(&'a str, &'a Json)> {
        let is_relation = |(sent, _): &(&str, &Json)| self.dialect.strip_prefix(sent) == Some(name);
        place
            .iter()
            .find(is_relation)
            .or_else(|| Some((name, place.get(name)?)))
    }
}

/// The use of the links of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkPurpose {
    /// The links of a create.
    Create,
    /// The links of a create under a record that is not its container, including the container.
    Below,
    /// The links of a helper's action, where an inline person replaces a link.
    Helper,
    /// The links of an update.
    Update {
        /// Whether the update may move the record: see [`LinkUpdate::Move`].
        moves: bool,
    },
}

impl LinkPurpose {
    /// Returns whether a client may send a link.
    pub(super) fn accepts(self, schema: &KindSchema, link: &LinkSpec) -> bool {
        let LinkTarget::One { write, update, .. } = link.target else {
            return false;
        };
        match self {
            Self::Create => write != LinkWrite::Never,
            Self::Below => write != LinkWrite::Never || Some(link.name) == schema.parent,
            // An inline person replaces a required link, and without the person there is no link.
            // Requirements: UND-29.
            Self::Helper => write == LinkWrite::Create,
            Self::Update { moves } => update.accepts(moves),
        }
    }
}

/// Returns whether the value is a HAL link.
///
/// Requirements: HAL-13.
fn is_link(value: &Json) -> bool {
    value
        .as_object()
        .and_then(|link| link.get("href"))
        .is_some_and(|href| href.as_str().is_some())
}

/// Returns the URL of a link: an object with `href`, or the URL itself.
pub(crate) fn href(value: &Json) -> Option<&str> {
    match value {
        Json::Object(link) => link.get("href")?.as_str(),
        Json::String(href) => Some(href),
        _ => None,
    }
}
