//! Where a value stands in a body.
//!
//! Requirements: ERR-26.

use std::{borrow::Cow, fmt};

/// Where a value stands in a body, step by step: `responses[2].name` is a member, an element and a
/// member.
///
/// A store names what a draft has: `identifiers[0]` is its first identifier, `_links.person` its
/// link. The library names it to the client as it was sent.
///
/// # Examples
///
/// ```
/// use svc_core::error::PropertyPath;
///
/// let name = PropertyPath::member("responses").element(2).then("name");
/// assert_eq!(name.to_string(), "responses[2].name");
/// assert_eq!(name, PropertyPath::from("responses[2].name"));
/// assert_eq!(PropertyPath::link("person").within(&PropertyPath::member("canvass")).to_string(), "canvass._links.person");
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
    /// A link of the object, by its name in the table: a member of `_links`, under its relation.
    Link(Cow<'static, str>),
}

impl PropertyPath {
    /// A member of the body.
    pub fn member(name: impl Into<Cow<'static, str>>) -> Self {
        Self(vec![PathSegment::Member(name.into())])
    }

    /// A link of the body, by its name in the table.
    pub fn link(name: impl Into<Cow<'static, str>>) -> Self {
        Self(vec![PathSegment::Link(name.into())])
    }

    /// A member of the object here.
    #[must_use]
    pub fn then(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.0.push(PathSegment::Member(name.into()));
        self
    }

    /// An element of the array here.
    #[must_use]
    pub fn element(mut self, place: usize) -> Self {
        self.0.push(PathSegment::Element(place));
        self
    }

    /// The same in a part of a body: what stands in `person`, named from the top.
    #[must_use]
    pub fn within(mut self, part: &Self) -> Self {
        self.0.splice(0..0, part.0.iter().cloned());
        self
    }

    /// Whether the other one is this one, or stands in it.
    pub(crate) fn holds(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// Its steps.
    #[must_use]
    pub fn segments(&self) -> &[PathSegment] {
        &self.0
    }

    /// The text of it, with each link spelled as told.
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
    /// The property that a text such as `tickets[0].title` or `_links.person` names.
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
            // An element is one of something.
            segments.insert(0, PathSegment::Member("first".into()));
            PropertyPath(segments)
        })
    }

    proptest! {
        #![proptest_config(crate::value::testing::config())]

        /// ERR-26: a property and its text are the same.
        #[test]
        fn err_26_a_text_names_its_property(property in any_property()) {
            prop_assert_eq!(PropertyPath::from(property.to_string()), property);
        }
    }
}
