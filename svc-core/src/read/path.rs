//! Where a value stands in a body: `person.email_addresses[0].address` (ERR-26).

use crate::error::{PathSegment, PropertyPath};

/// A path, as a chain that lives as long as the walk that builds it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Path<'a> {
    /// The body itself.
    Root,
    /// A member of an object.
    Member(&'a Path<'a>, &'a str),
    /// An element of an array, counted from zero.
    Element(&'a Path<'a>, usize),
}

impl Path<'_> {
    /// The property that stands here.
    pub(crate) fn property(&self) -> PropertyPath {
        fn push(path: &Path<'_>, segments: &mut Vec<PathSegment>) {
            match path {
                Path::Root => {}
                Path::Member(parent, name) => {
                    push(parent, segments);
                    segments.push(PathSegment::Member((*name).to_owned().into()));
                }
                Path::Element(parent, place) => {
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
