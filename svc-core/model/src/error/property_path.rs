//! The position of a value in a body.
//!
//! Requirements: ERR-26.

use std::{borrow::Cow, fmt};

/// The position of a value in a body, as a path. `responses[2].name` consists of a member, an
/// element and a member.
///
/// A store names properties as the draft has them: `identifiers[0]` is the first identifier, and
/// `_links.person` is a link. The library converts the path to the names that the client sent.
///
/// # Examples
///
/// ```
/// use svc_core::error::PropertyPath;
///
/// let name = PropertyPath::member("responses").push_index(2).push_member("name");
/// assert_eq!(name.to_string(), "responses[2].name");
/// assert_eq!(name, PropertyPath::from("responses[2].name"));
/// assert_eq!(PropertyPath::link("person").prefixed_with(&PropertyPath::member("canvass")).to_string(), "canvass._links.person");
/// ```
///
/// Requirements: ERR-26.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct PropertyPath(Vec<PathSegment>);

/// One step of a [`PropertyPath`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PathSegment {
    /// A member of an object.
    Member(Cow<'static, str>),
    /// An element of an array, counted from zero.
    Element(usize),
    /// A link of the object, by its name in the table. In a body it is a member of `_links`, named
    /// by its relation.
    Link(Cow<'static, str>),
}

impl PropertyPath {
    /// Creates the path of a member of the body.
    pub fn member(name: impl Into<Cow<'static, str>>) -> Self {
        Self(vec![PathSegment::Member(name.into())])
    }

    /// Creates the path of a link of the body, by its name in the table.
    pub fn link(name: impl Into<Cow<'static, str>>) -> Self {
        Self(vec![PathSegment::Link(name.into())])
    }

    /// Appends a member of the object at this path.
    #[must_use]
    pub fn push_member(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.0.push(PathSegment::Member(name.into()));
        self
    }

    /// Appends an element of the array at this path.
    #[must_use]
    pub fn push_index(mut self, place: usize) -> Self {
        self.0.push(PathSegment::Element(place));
        self
    }

    /// Prefixes the path with the path of a part of the body, such as `person`.
    #[must_use]
    pub fn prefixed_with(mut self, part: &Self) -> Self {
        self.0.splice(0..0, part.0.iter().cloned());
        self
    }

    /// Returns whether the other path is equal to this one or below it.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// Returns the segments of the path.
    #[must_use]
    pub fn segments(&self) -> &[PathSegment] {
        &self.0
    }

    /// Returns the path as text, with each link written by `relation`.
    pub fn spelled(&self, relation: impl Fn(&str) -> String) -> String {
        let mut text = String::new();
        for segment in &self.0 {
            match segment {
                PathSegment::Element(place) => {
                    text.push('[');
                    text.push_str(&place.to_string());
                    text.push(']');
                    continue;
                }
                _ if text.is_empty() => {}
                _ => text.push('.'),
            }
            match segment {
                PathSegment::Member(name) => text.push_str(name),
                PathSegment::Link(name) => {
                    text.push_str("_links.");
                    text.push_str(&relation(name));
                }
                PathSegment::Element(_) => {}
            }
        }
        text
    }
}

impl FromIterator<PathSegment> for PropertyPath {
    fn from_iter<I: IntoIterator<Item = PathSegment>>(segments: I) -> Self {
        Self(segments.into_iter().collect())
    }
}

impl fmt::Display for PropertyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelled(str::to_owned))
    }
}

impl From<&str> for PropertyPath {
    /// Parses a text such as `tickets[0].title` or `_links.person`.
    fn from(text: &str) -> Self {
        let mut segments = Vec::new();
        let mut is_link = false;
        for member in text.split('.').filter(|member| !member.is_empty()) {
            if member == "_links" && !is_link {
                is_link = true;
                continue;
            }
            let (name, places) = member.split_at(member.find('[').unwrap_or(member.len()));
            if !name.is_empty() {
                let name = name.to_owned().into();
                segments.push(if is_link {
                    PathSegment::Link(name)
                } else {
                    PathSegment::Member(name)
                });
            }
            is_link = false;
            let places = places
                .split('[')
                .filter_map(|place| place.strip_suffix(']')?.parse().ok());
            segments.extend(places.map(PathSegment::Element));
        }
        Self(segments)
    }
}

impl From<String> for PropertyPath {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_property() -> impl Strategy<Value = PropertyPath> {
        let member = "[a-z_]{1,8}".prop_filter("no links", |name| name != "_links");
        let segment = prop_oneof![
            3 => member.clone().prop_map(|name| PathSegment::Member(name.into())),
            1 => (0_usize..99).prop_map(PathSegment::Element),
            1 => member.prop_map(|name| PathSegment::Link(name.into())),
        ];
        prop::collection::vec(segment, 0..5).prop_map(|mut segments| {
            // An element always follows a member.
            segments.insert(0, PathSegment::Member("first".into()));
            PropertyPath(segments)
        })
    }

    proptest! {
        #![proptest_config(crate::value::proptest_config::config())]

        /// ERR-26: converting a path to text and back returns the same path.
        #[test]
        fn err_26_a_text_names_its_property(property in any_property()) {
            prop_assert_eq!(PropertyPath::from(property.to_string()), property);
        }
    }
}
