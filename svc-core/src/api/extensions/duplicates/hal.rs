//! Pairs of people as HAL.
//!
//! Requirements: DUP-02 to DUP-06.

use std::fmt;

use super::NAME;
use crate::{
    duplicates::Evidence,
    hal::{Hal, close, record},
    json::write_string,
    link::{RecordAddress, Target},
    model::Kind,
    store::{DuplicatePair, DuplicatesEntry, DuplicatesPage},
    value::Id,
};

/// A page with the request for it.
pub(super) struct DuplicatesView<'a> {
    pub(super) page: &'a DuplicatesPage,
    /// The target: all pairs, or those of a person.
    pub(super) target: &'a Target,
    /// The requested cursor.
    pub(super) after: Option<&'a str>,
    pub(super) per_page: u32,
    /// The query parameters that every link repeats, such as `&per_page=10`.
    pub(super) repeated: &'a str,
    /// Whether clients can read the field of evidence.
    pub(super) shows: &'a (dyn Fn(Evidence) -> bool + Sync),
}

impl fmt::Debug for DuplicatesView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DuplicatesView").finish_non_exhaustive()
    }
}

/// Writes a page. It has no total, because counting the pairs would compare all of them.
pub(super) fn duplicates(hal: &Hal<'_>, view: &DuplicatesView<'_>, out: &mut Vec<u8>) {
    let here = hal.href(view.target);
    let after = |cursor: &str| format!("{here}?after={cursor}{}", view.repeated);
    let first = match view.repeated.strip_prefix('&') {
        Some(query) => format!("{here}?{query}"),
        None => here.clone(),
    };
    let next = view.page.next.as_deref().map(after);
    let head = format!(
        "{{\"per_page\":{},\"has_more\":{},\"_links\":{{",
        view.per_page,
        next.is_some()
    );
    out.extend_from_slice(head.as_bytes());
    hal.write_extended_curies(out);
    let own = view.after.map_or_else(|| first.clone(), after);
    for (name, href) in [
        ("self", Some(&own)),
        ("first", Some(&first)),
        ("next", next.as_ref()),
    ] {
        if let Some(href) = href {
            out.push(b',');
            write_string(name, out);
            out.extend_from_slice(b":{\"href\":");
            write_string(href, out);
            out.push(b'}');
        }
    }
    out.push(b',');
    let relation = hal.relations.dialect.relation(NAME.relation());
    write_string(&relation, out);
    out.extend_from_slice(b":[");
    for entry in &view.page.entries {
        if let DuplicatesEntry::Pair(pair) = entry {
            hal.write_link(&pair_target(people_of(pair)), out);
            out.push(b',');
        }
    }
    close(out, b']');
    out.extend_from_slice(b"},\"_embedded\":{");
    write_string(&relation, out);
    out.extend_from_slice(b":[");
    for entry in &view.page.entries {
        match entry {
            DuplicatesEntry::Pair(pair) => embedded_pair(hal, view, pair, out),
            DuplicatesEntry::Crowd { evidence, .. } if !(view.shows)(*evidence) => continue,
            DuplicatesEntry::Crowd { evidence, people } => {
                let field = evidence.as_str();
                let entry = format!("{{\"crowd\":{people},\"field\":\"{field}\"}}");
                out.extend_from_slice(entry.as_bytes());
            }
        }
        out.push(b',');
    }
    close(out, b']');
    out.extend_from_slice(b"}}");
}

fn embedded_pair(
    hal: &Hal<'_>,
    view: &DuplicatesView<'_>,
    pair: &DuplicatePair,
    out: &mut Vec<u8>,
) {
    let comparison = &pair.comparison;
    let reasons = comparison.reasons.iter();
    let shown: Vec<_> = reasons
        .filter(|(evidence, _)| (view.shows)(*evidence))
        .collect();
    let head = format!(
        "{{\"strength\":\"{}\",\"score\":{},\"reasons\":[",
        comparison.strength.as_str(),
        shown.iter().map(|(_, weight)| *weight).sum::<i32>()
    );
    out.extend_from_slice(head.as_bytes());
    for (evidence, weight) in shown {
        let field = evidence.as_str();
        let reason = format!("{{\"field\":\"{field}\",\"weight\":{weight}}},");
        out.extend_from_slice(reason.as_bytes());
    }
    close(out, b']');
    out.extend_from_slice(b",\"_links\":{\"self\":");
    let people = people_of(pair);
    hal.write_link(&pair_target(people), out);
    out.push(b',');
    people_links(hal, people, out);
    out.extend_from_slice(b"},\"_embedded\":{");
    write_string(&hal.relations.dialect.relation(Kind::Person.plural()), out);
    out.extend_from_slice(b":[");
    record(hal, &pair.older, false, out);
    out.push(b',');
    record(hal, &pair.younger, false, out);
    out.extend_from_slice(b"]}}");
}

/// Writes a pair without its people: whether it is dismissed.
pub(super) fn pair(hal: &Hal<'_>, people: [&Id; 2], is_dismissed: bool, out: &mut Vec<u8>) {
    let head = format!("{{\"dismissed\":{is_dismissed},\"_links\":{{");
    out.extend_from_slice(head.as_bytes());
    hal.write_extended_curies(out);
    out.extend_from_slice(b",\"self\":");
    hal.write_link(&pair_target(people), out);
    out.push(b',');
    people_links(hal, people, out);
    out.extend_from_slice(b"}}");
}

fn people_links(hal: &Hal<'_>, people: [&Id; 2], out: &mut Vec<u8>) {
    write_string(&hal.relations.dialect.relation(Kind::Person.plural()), out);
    out.extend_from_slice(b":[");
    for id in people {
        let person = RecordAddress::without_parent(Kind::Person, id.clone());
        hal.write_link(&Target::Record(person), out);
        out.push(b',');
    }
    close(out, b']');
}

fn people_of(pair: &DuplicatePair) -> [&Id; 2] {
    [&pair.older.meta().id, &pair.younger.meta().id]
}

fn pair_target([one, other]: [&Id; 2]) -> Target {
    Target::DuplicatePair(one.clone(), other.clone())
}
