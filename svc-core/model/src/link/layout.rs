//! The two directions between targets and paths.

use std::fmt;

use super::Target;

/// How addresses look below the base URL: writing and reading them, and nothing else in the code
/// does either.
///
/// # Behaviour
///
/// - The law: `route(path(t)) == Some(t)` for every target `t` whose
///   [`RecordAddress`](super::RecordAddress)es are complete. `ApiBuilder::build` tries it on one
///   target of each sort that is offered.
/// - `path` appends a path without a leading slash; the entry point's is empty.
/// - `route` takes a path without a leading slash and without a query. A trailing slash makes no
///   difference.
/// - `route` answers `None` for a path that is no part of the interface.
///
/// # Examples
///
/// ```
/// use svc_core::{link::{RecordAddress, ConventionalLayout, Layout, Target}, model::Kind, value::Id};
///
/// let (petition, signature) = (Id::new("p1").ok_or("id")?, Id::new("s1").ok_or("id")?);
/// let target = Target::Record(RecordAddress::under(Kind::Signature, petition, signature));
/// let mut path = String::new();
/// ConventionalLayout.path(&target, &mut path);
/// assert_eq!(path, "petitions/p1/signatures/s1");
/// assert_eq!(ConventionalLayout.route("petitions/p1/signatures/s1/"), Some(target));
/// assert_eq!(ConventionalLayout.route("petitions/p1/nothing"), None);
/// # Ok::<(), &str>(())
/// ```
///
/// A layout of one's own writes and reads other paths; the easiest one puts something in front:
///
/// ```
/// # use svc_core::link::{ConventionalLayout, Layout, Target};
/// #[derive(Debug)]
/// struct Shard(&'static str);
///
/// impl Layout for Shard {
///     fn path(&self, target: &Target, out: &mut String) {
///         out.push_str(self.0);
///         out.push('/');
///         ConventionalLayout.path(target, out);
///     }
///
///     fn route(&self, path: &str) -> Option<Target> {
///         ConventionalLayout.route(path.strip_prefix(self.0)?.strip_prefix('/')?)
///     }
/// }
///
/// let mut path = String::new();
/// Shard("eu").path(&Target::EntryPoint, &mut path);
/// assert_eq!((path.as_str(), Shard("eu").route(&path)), ("eu/", Some(Target::EntryPoint)));
/// ```
///
/// Requirements: CRU-01, UND-35.
pub trait Layout: fmt::Debug + Send + Sync {
    /// Appends the path of a target.
    fn path(&self, target: &Target, out: &mut String);

    /// The target of a path.
    fn route(&self, path: &str) -> Option<Target>;

    /// Whether the paths are those of the specification's examples, which the capability document
    /// then declares.
    ///
    /// Requirements: COL-19.
    fn is_conventional(&self) -> bool {
        false
    }
}
