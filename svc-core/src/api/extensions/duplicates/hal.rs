//! Pairs of people as HAL.
//!
//! Requirements: DUP-02 to DUP-06.

use super::NAME;
use crate::{
    duplicates::Comparison,
    hal::{Hal, close, record},
    json::write_string,
    link::{RecordAddress, Target},
    model::Kind,
    record::RawRecord,
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
            DuplicatesEntry::Pair(found) => {
                let view = PairView {
                    people: [&found.older, &found.younger],
                    comparison: Some(&found.comparison),
                    is_dismissed: false,
                };
                pair(hal, &view, true, false, out);
            }
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

/// Two people, and what is known about them as a pair.
pub(super) struct PairView<'a> {
    /// The two people, the older one first.
    pub(super) people: [&'a RawRecord; 2],
    /// `None` for dismissed people who are not likely the same person.
    pub(super) comparison: Option<&'a Comparison>,
    pub(super) is_dismissed: bool,
}

/// Writes the document of a pair. Those on a page have no curies. `has_people` is whether it has the
/// people, and how they compare.
pub(super) fn pair(
    hal: &Hal<'_>,
    view: &PairView<'_>,
    has_people: bool,
    is_top: bool,
    out: &mut Vec<u8>,
) {
    let people = view.people;
    out.extend_from_slice(format!("{{\"dismissed\":{}", view.is_dismissed).as_bytes());
    if let Some(comparison) = view.comparison.filter(|_| has_people) {
        let head = format!(
            ",\"strength\":\"{}\",\"score\":{},\"reasons\":[",
            comparison.strength.as_str(),
            comparison.score
        );
        out.extend_from_slice(head.as_bytes());
        for (evidence, weight) in &comparison.reasons {
            let field = evidence.as_str();
            let reason = format!("{{\"field\":\"{field}\",\"weight\":{weight}}},");
            out.extend_from_slice(reason.as_bytes());
        }
        close(out, b']');
    }
    out.extend_from_slice(b",\"_links\":{");
    if is_top {
        hal.write_extended_curies(out);
        out.push(b',');
    }
    let ids = people.map(|person| &person.meta().id);
    out.extend_from_slice(b"\"self\":");
    hal.write_link(&pair_target(ids), out);
    out.push(b',');
    people_links(hal, ids, out);
    out.push(b'}');
    if has_people {
        out.extend_from_slice(b",\"_embedded\":{");
        write_string(&hal.relations.dialect.relation(Kind::Person.plural()), out);
        out.extend_from_slice(b":[");
        for person in people {
            record(hal, person, false, out);
            out.push(b',');
        }
        close(out, b']');
        out.push(b'}');
    }
    out.push(b'}');
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
