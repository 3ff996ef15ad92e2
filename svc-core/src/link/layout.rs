//! The two directions between targets and paths.

use std::fmt;

use super::Target;

/// How addresses look below the base URL: writing and reading them, and nothing else in the code does either.
///
/// # Behaviour
///
/// - The law: `route(path(t)) == Some(t)` for every target `t` whose [`Address`](super::Address)es are complete.
/// - `path` appends a path without a leading slash; the entry point's is empty.
/// - `route` takes a path without a leading slash and without a query. A trailing slash makes no difference (CRU-01).
/// - `route` answers `None` for a path that is no part of the interface (UND-35).
pub trait Layout: fmt::Debug + Send + Sync {
    /// Appends the path of a target.
    fn path(&self, target: &Target, out: &mut String);

    /// The target of a path.
    fn route(&self, path: &str) -> Option<Target>;

    /// Whether the paths are those of the specification's examples, which the capability document then declares (COL-19).
    fn is_conventional(&self) -> bool {
        false
    }
}
