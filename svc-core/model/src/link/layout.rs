//! The mapping between targets and paths, in both directions.

use std::fmt;

use super::Target;

/// The mapping between targets and URL paths below the base URL. No other code writes or reads
/// paths.
///
/// # Behaviour
///
/// - `route(path(t)) == Some(t)` must hold for every target `t` whose
///   [`RecordAddress`](super::RecordAddress)es are complete. `ApiBuilder::build` checks it with one
///   offered target of each type.
/// - `path` appends a path without a leading slash. The path of the entry point is empty.
/// - `route` receives a path without a leading slash and without a query. It must ignore a trailing
///   slash.
/// - `route` returns `None` for a path that is not part of the API.
///
/// # Examples
///
/// ```
/// use svc_core::{link::{RecordAddress, ConventionalLayout, Layout, Target}, model::Kind, value::Id};
///
/// let (petition, signature) = (Id::new("p1").ok_or("id")?, Id::new("s1").ok_or("id")?);
/// let target = Target::Record(RecordAddress::with_parent(Kind::Signature, petition, signature));
/// let mut path = String::new();
/// ConventionalLayout.path(&target, &mut path);
/// assert_eq!(path, "petitions/p1/signatures/s1");
/// assert_eq!(ConventionalLayout.route("petitions/p1/signatures/s1/"), Some(target));
/// assert_eq!(ConventionalLayout.route("petitions/p1/nothing"), None);
/// # Ok::<(), &str>(())
/// ```
///
/// A custom layout uses other paths. The simplest one adds a prefix:
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

    /// Returns the target of a path.
    fn route(&self, path: &str) -> Option<Target>;

    /// Returns whether the paths are those of the examples in the specification. The capability
    /// document declares this.
    ///
    /// Requirements: COL-19.
    fn is_conventional(&self) -> bool {
        false
    }
}
