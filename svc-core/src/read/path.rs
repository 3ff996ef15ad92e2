//! Where a value stands in a body: `person.email_addresses[0].address` (ERR-26).

use std::fmt;

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
    /// The path of a member as text.
    pub(crate) fn member(&self, name: &str) -> String {
        Path::Member(self, name).to_string()
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Member(Path::Root, name) => f.write_str(name),
            Self::Member(parent, name) => write!(f, "{parent}.{name}"),
            Self::Element(parent, place) => write!(f, "{parent}[{place}]"),
        }
    }
}
