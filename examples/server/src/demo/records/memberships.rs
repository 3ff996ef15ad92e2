//! The tags and lists of people.

use sha2::{Digest, Sha256};
use svc_core::json::Json;
use svc_core::model::Kind;
use svc_import::ExportRecord;

use super::source::{ExportSource, Reply, records};

/// A digest of the id of a person, which needs less memory.
type PersonKey = [u8; 16];

/// Which people have which tags, or are on which lists. It needs 20 bytes for each membership.
#[derive(Debug, Default)]
pub(super) struct Memberships {
    /// The names of the tags or lists.
    names: Vec<String>,
    /// The people, each with the index of a name, in order.
    people: Vec<(PersonKey, u32)>,
}

impl Memberships {
    /// Reads the members of all tags or lists. There are none if the server does not have them.
    ///
    /// # Errors
    ///
    /// Returns why the server does not return all of them.
    pub(super) async fn read(
        source: &ExportSource,
        container: Kind,
        members: Kind,
    ) -> Result<Self, String> {
        let mut all = Self::default();
        // Each page with the index of the name, if its records are members.
        let first = source.collection(container, None);
        let mut pending: Vec<(Option<u32>, String)> =
            first.map(|url| (None, url)).into_iter().collect();
        while let Some((name, url)) = pending.pop() {
            let page = match source.read(&url).await? {
                Reply::Document(page) => page,
                // It was deleted after its page was read.
                Reply::Rejected(reply) if reply.is_gone() && name.is_some() => continue,
                Reply::Rejected(reply) => {
                    return Err(reply.to_string().trim_end_matches(['.', ' ']).to_owned());
                }
            };
            if let Some(next) = ExportRecord::link(&page, "next") {
                pending.push((name, source.resolved(next)));
            }
            for record in records(&page) {
                if let Some(name) = name {
                    if let Some(id) = ExportRecord::linked(record, Kind::Person.singular()) {
                        all.people.push((key_of(id), name));
                    }
                    continue;
                }
                let link = ExportRecord::link(record, members.plural());
                let name = record.get("name").and_then(Json::as_str);
                if let (Some(link), Some(name)) = (link, name) {
                    let index = u32::try_from(all.names.len()).map_err(|_| "there are too many")?;
                    all.names.push(name.to_owned());
                    pending.push((Some(index), source.with_options(link, None)));
                }
            }
        }
        all.people.sort_unstable();
        all.people.dedup();
        Ok(all)
    }

    /// Returns the names of the tags or lists of a person, in order.
    pub(super) fn names_of(&self, id: &str) -> Vec<String> {
        let key = key_of(id);
        let start = self.people.partition_point(|(person, _)| *person < key);
        let of_person = self
            .people
            .iter()
            .skip(start)
            .take_while(|(person, _)| *person == key);
        let mut names: Vec<String> = of_person
            .filter_map(|(_, index)| self.names.get(usize::try_from(*index).ok()?).cloned())
            .collect();
        names.sort_unstable();
        names
    }
}

fn key_of(id: &str) -> PersonKey {
    let digest = Sha256::digest(id);
    let mut key = PersonKey::default();
    key.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
    key
}
