//! The position of a value in a body: `person.email_addresses[0].address`.
//!
//! Requirements: ERR-26.

use crate::error::{PathSegment, PropertyPath};

/// A path, as a linked list that lives as long as the traversal that creates it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValuePath<'a> {
    /// The body itself.
    Root,
    /// A member of an object.
    Member(&'a ValuePath<'a>, &'a str),
    /// An element of an array, counted from zero.
    Element(&'a ValuePath<'a>, usize),
}

impl ValuePath<'_> {
    /// Returns the property at this path.
    pub(crate) fn property(&self) -> PropertyPath {
        fn push(path: &ValuePath<'_>, segments: &mut Vec<PathSegment>) {
            match path {
                ValuePath::Root => {}
                ValuePath::Member(parent, name) => {
                    push(parent, segments);
                    segments.push(PathSegment::Member((*name).to_owned().into()));
                }
                ValuePath::Element(parent, place) => {
                    push(parent, segments);
                    segments.push(PathSegment::Element(*place));
                }
            }
        }
        let mut segments = Vec::new();
        push(self, &mut segments);
        segments.into_iter().collect()
    }
}
