//! The resources that the URLs of a run identify, learned from the relations of links.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::kinds::{CatalogueKind, KINDS, kind, kind_of};

/// The maximum number of stored URLs.
const MOST: usize = 200_000;

/// The resource that a URL identifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkedResource {
    /// One record of a kind.
    Record(CatalogueKind),
    /// A collection of a kind.
    Collection(CatalogueKind),
    /// A helper that creates records of a kind.
    Helper(CatalogueKind),
}

/// Parameters that a client adds to the URL of a collection.
const ADDED: &[&str] = &["page", "per_page", "filter", "order"];

/// All known URLs with their resources.
///
/// A server may distinguish its records by the query: `r/1` can be a petition, and
/// `r/1?part=signatures` its signatures. The parameters that a client adds, such as `page`, do not
/// change the resource.
#[derive(Debug, Default)]
pub(crate) struct LinkedResources(Mutex<HashMap<String, LinkedResource>>);

impl LinkedResources {
    /// Returns the resource of a URL. The order of its parameters and the parameters that a client
    /// adds do not matter.
    pub(crate) fn of(&self, url: &str) -> Option<LinkedResource> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(url) {
            return Some(*known);
        }
        let (path, query) = url.split_once('?')?;
        let all_of_it = parameters(query);
        let is_own =
            |parameter: &&&str| !ADDED.contains(&parameter.split('=').next().unwrap_or_default());
        let own: Vec<&str> = all_of_it.iter().filter(is_own).copied().collect();
        let known =
            |parameters: &[&str]| all.get(&address(path, parameters.iter().copied())).copied();
        known(&all_of_it).or_else(|| known(&own))
    }

    pub(crate) fn learn(&self, url: &str, known: LinkedResource) {
        // Most links are known already.
        if self.of(url) == Some(known) {
            return;
        }
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let address = address(path, parameters(query).into_iter());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < MOST || all.contains_key(&address) {
            all.insert(address, known);
        }
    }
}

/// Returns the parameters of a query in a fixed order.
fn parameters(query: &str) -> Vec<&str> {
    let mut all: Vec<&str> = query
        .split('&')
        .filter(|parameter| !parameter.is_empty())
        .collect();
    all.sort_unstable();
    all
}

/// Returns the normalized URL.
fn address<'p>(path: &str, parameters: impl Iterator<Item = &'p str>) -> String {
    let mut address = path.to_owned();
    for (at, parameter) in parameters.enumerate() {
        address.push(if at == 0 { '?' } else { '&' });
        address.push_str(parameter);
    }
    address
}

/// Whether the specification has a relation or an object with this name, without prefix.
pub(crate) fn is_standard(name: &str) -> bool {
    matches!(name, "attendance" | "target" | "error" | "schedule_helper")
        || meaning(name, None).is_some()
}

/// Returns the resource of a relation without prefix, from a record of a kind or from anything
/// else.
pub(crate) fn meaning(name: &str, from: Option<CatalogueKind>) -> Option<LinkedResource> {
    // On a person, `attendance` is a second name of a collection.
    // Requirements: HLP-21.
    if name == "attendance" && from.is_some_and(|from| from.one == "person") {
        return kind_of("attendances").map(LinkedResource::Collection);
    }
    if matches!(name, "creator" | "modified_by" | "organizer" | "canvasser") {
        return kind("person").map(LinkedResource::Record);
    }
    // The container of an advocacy outreach, or the person that a canvass is about.
    if name == "target" && from.is_some_and(|from| from.one == "canvass") {
        return kind("person").map(LinkedResource::Record);
    }
    if let Some(helper) = name.strip_suffix("_helper") {
        let helper = if helper == "record_canvas" {
            "record_canvass"
        } else {
            helper
        };
        return KINDS
            .iter()
            .copied()
            .find(|kind| kind.helper == Some(helper))
            .map(LinkedResource::Helper);
    }
    kind(name)
        .map(LinkedResource::Record)
        .or_else(|| kind_of(name).map(LinkedResource::Collection))
}

#[cfg(test)]
mod tests {
    use super::{LinkedResource, LinkedResources};
    use crate::kinds::kind;

    #[test]
    fn the_query_tells_addresses_apart_and_pages_do_not() {
        let known = LinkedResources::default();
        let petition = LinkedResource::Record(kind("petition").expect("a kind"));
        let signatures = LinkedResource::Collection(kind("signature").expect("a kind"));
        known.learn("http://h/r/1", petition);
        known.learn("http://h/r/1?part=signatures", signatures);
        known.learn("http://h/rest?id=7&of=petitions", petition);
        for (url, expected) in [
            ("http://h/r/1", Some(petition)),
            ("http://h/r/1?filter=x", Some(petition)),
            ("http://h/r/1?part=signatures", Some(signatures)),
            ("http://h/r/1?part=signatures&page=2", Some(signatures)),
            ("http://h/r/1?page=2&part=signatures", Some(signatures)),
            ("http://h/r/2", None),
            ("http://h/rest?of=petitions&id=7", Some(petition)),
            ("http://h/rest?of=petitions", None),
            ("http://h/rest?id=7&of=petitions&part=signatures", None),
            ("http://h/rest?id=78&of=petitions", None),
        ] {
            assert_eq!(known.of(url), expected, "{url}");
        }
        known.learn("http://h/r/1?part=signatures", petition);
        assert_eq!(known.of("http://h/r/1?part=signatures"), Some(petition));
    }
}
