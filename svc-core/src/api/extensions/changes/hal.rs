//! A page of the change feed as HAL.
//!
//! Requirements: SYN-02 to SYN-06.

use super::NAME;
use crate::{
    backend::{FeedEntry, FeedPage},
    hal::{Hal, MERGED_INTO, close},
    json::write_string,
    link::Target,
};

/// A page with the request for it.
#[derive(Debug)]
pub(super) struct ChangesView<'a> {
    pub(super) page: &'a FeedPage,
    /// The requested cursor.
    pub(super) after: Option<&'a str>,
    pub(super) per_page: u32,
    /// The query parameters that every link repeats, such as `&per_page=10`.
    pub(super) repeated: &'a str,
}

/// Writes a page of the change feed.
///
/// `next` is present only if there are more entries, so that a client that follows it reaches an
/// end. `last` is always present: its cursor is after the last entry.
pub(super) fn changes(hal: &Hal<'_>, view: &ChangesView<'_>, out: &mut Vec<u8>) {
    let here = hal.href(&Target::Changes);
    let behind = |cursor: &str| format!("{here}?after={cursor}{}", view.repeated);
    let begin = match view.repeated.strip_prefix('&') {
        Some(query) => format!("{here}?{query}"),
        None => here.clone(),
    };
    let head = format!(
        "{{\"per_page\":{},\"has_more\":{},\"_links\":{{",
        view.per_page, view.page.has_more
    );
    out.extend_from_slice(head.as_bytes());
    hal.write_extended_curies(out);
    let own = view.after.map_or_else(|| begin.clone(), behind);
    let next = behind(&view.page.next_cursor);
    // On the last page, `last` equals `next`.
    let last = if view.page.has_more {
        behind(&view.page.last_cursor)
    } else {
        next.clone()
    };
    for (name, href) in [
        ("self", &own),
        ("first", &begin),
        ("next", &next),
        ("last", &last),
    ] {
        if name != "next" || view.page.has_more {
            out.push(b',');
            link(name, href, out);
        }
    }
    out.push(b',');
    write_string(&hal.relations.dialect.relation(NAME.relation()), out);
    out.extend_from_slice(b":[");
    for entry in &view.page.entries {
        out.extend_from_slice(b"{\"href\":");
        write_string(&own_page(&here, entry), out);
        out.extend_from_slice(b"},");
    }
    close(out, b']');
    out.extend_from_slice(b"},\"_embedded\":{");
    write_string(&hal.relations.dialect.relation(NAME.relation()), out);
    out.extend_from_slice(b":[");
    for entry in &view.page.entries {
        write_entry(hal, &here, entry, out);
        out.push(b',');
    }
    close(out, b']');
    out.extend_from_slice(b"}}");
}

/// Returns the URL of the page with only this entry.
fn own_page(feed: &str, entry: &FeedEntry) -> String {
    format!("{feed}?after={}&per_page=1", entry.after)
}

/// Writes one entry, with nothing of its record but the address, and the address of the record that it
/// was merged into.
fn write_entry(hal: &Hal<'_>, feed: &str, entry: &FeedEntry, out: &mut Vec<u8>) {
    let change = &entry.change;
    let kind = change.address.kind.singular();
    out.extend_from_slice(
        format!(
            "{{\"what\":\"{}\",\"kind\":\"{kind}\",\"at\":",
            change.change
        )
        .as_bytes(),
    );
    write_string(&change.changed_at.to_string(), out);
    out.extend_from_slice(b",\"_links\":{");
    link("self", &own_page(feed, entry), out);
    out.push(b',');
    hal.write_relation(kind, &Target::Record(change.address.clone()), out);
    if let Some(into) = &change.merged_into {
        out.push(b',');
        hal.write_relation(MERGED_INTO, &Target::Record(into.clone()), out);
    }
    out.extend_from_slice(b"}}");
}

/// Adds the links for a restart to an error object.
///
/// Requirements: SYN-08.
pub(super) fn write_restart_links(hal: &Hal<'_>, out: &mut Vec<u8>) {
    if out.pop() == Some(b'}') {
        out.extend_from_slice(b",\"_links\":{");
        link("first", &hal.href(&Target::Changes), out);
        out.push(b',');
        link("start", &hal.href(&Target::EntryPoint), out);
        out.extend_from_slice(b"}}");
    }
}

fn link(name: &str, href: &str, out: &mut Vec<u8>) {
    write_string(name, out);
    out.extend_from_slice(b":{\"href\":");
    write_string(href, out);
    out.push(b'}');
}
