//! Renders a page of a collection.
//!
//! Requirements: COL-20 to COL-31, UND-32.

use std::ops::Range;

use super::{
    Hal, close,
    record::{SelfHref, expected, record_at},
};
use crate::{
    helper::HelperName,
    json::write_string,
    link::{Scope, Target},
    model::Kind,
    page::{NextPage, PageRequest, RawPage},
};

/// A page and its request.
#[derive(Debug)]
pub(crate) struct CollectionView<'a> {
    pub(crate) kind: Kind,
    pub(crate) scope: &'a Scope,
    pub(crate) request: &'a PageRequest,
    /// Whether the request contained the page number, which the `self` link then repeats.
    ///
    /// Requirements: COL-27.
    pub(crate) names_page: bool,
    /// The parameters that every link repeats, such as `&per_page=10`.
    pub(crate) repeated: &'a str,
    pub(crate) page: &'a RawPage,
    /// Whether the person signup helper belongs to this collection.
    ///
    /// Requirements: RES-person-49.
    pub(crate) signup: bool,
}

/// Writes a page of a collection.
pub(crate) fn collection(hal: &Hal<'_>, view: &CollectionView<'_>, out: &mut Vec<u8>) {
    let Some(relations) = hal.relations.kind(view.kind) else {
        return;
    };
    let size = u64::from(view.request.size.max(1));
    let total_pages = view.page.total.div_ceil(size);
    let here = hal.href(&Target::Collection {
        kind: view.kind,
        scope: view.scope.clone(),
    });
    out.reserve(expected_of_page(hal, view, &here));
    for (name, number) in [
        (b"{\"total_pages\":".as_slice(), total_pages),
        (b",\"per_page\":", size),
        (b",\"page\":", view.request.number),
        (b",\"total_records\":", view.page.total),
    ] {
        out.extend_from_slice(name);
        out.extend_from_slice(number.to_string().as_bytes());
    }
    out.extend_from_slice(b",\"_links\":{");
    hal.write_record_curies(relations, out);
    page_links(view, total_pages, &here, out);
    if view.signup {
        let relation = hal
            .relations
            .dialect
            .relation(HelperName::PersonSignup.relation());
        out.push(b',');
        write_string(&relation, out);
        out.push(b':');
        hal.write_link(
            &Target::Helper {
                helper: HelperName::PersonSignup,
                container: None,
            },
            out,
        );
    }
    out.push(b',');
    out.extend_from_slice(&relations.plural);
    out.push(b'[');
    let addresses = member_links(hal, view, out);
    close(out, b']');
    out.extend_from_slice(b"},\"_embedded\":{");
    out.extend_from_slice(&relations.plural);
    out.push(b'[');
    for (member, at) in view.page.records.iter().zip(addresses) {
        record_at(hal, member, &SelfHref::Written(at), false, out);
        out.push(b',');
    }
    close(out, b']');
    out.extend_from_slice(b"}}");
}

/// Returns an estimate of the size of a page in bytes, rather too large. It assumes that all
/// members have URLs as long as the first one.
fn expected_of_page(hal: &Hal<'_>, view: &CollectionView<'_>, here: &str) -> usize {
    let first = view.page.records.first();
    let address = first.map_or(0, |member| {
        hal.href(&Target::Record(member.address())).len()
    });
    let of_links = here
        .len()
        .saturating_add(view.repeated.len())
        .saturating_mul(5)
        .saturating_add(1024);
    let of_member = |member| {
        expected(hal, member, address)
            .saturating_add(address)
            .saturating_add(16)
    };
    view.page
        .records
        .iter()
        .map(of_member)
        .fold(of_links, usize::saturating_add)
}

/// Writes the links to the members, each with a trailing comma. Returns the position of each URL in
/// `out`.
fn member_links(hal: &Hal<'_>, view: &CollectionView<'_>, out: &mut Vec<u8>) -> Vec<Range<usize>> {
    let mut href = String::new();
    let mut addresses = Vec::with_capacity(view.page.records.len());
    for member in &view.page.records {
        href.clear();
        hal.push_href(&Target::Record(member.address()), &mut href);
        out.extend_from_slice(b"{\"href\":");
        let start = out.len().saturating_add(1);
        write_string(&href, out);
        addresses.push(start..out.len().saturating_sub(1));
        out.extend_from_slice(b"},");
    }
    addresses
}

/// Writes `self`, `next`, and both names of the link to the previous page.
///
/// Requirements: COL-24, COL-27, UND-32.
fn page_links(view: &CollectionView<'_>, total_pages: u64, here: &str, out: &mut Vec<u8>) {
    let (number, repeated) = (view.request.number, view.repeated);
    let to_page = |number: u64| [here, "?page=", &number.to_string(), repeated].concat();
    let own = match (view.names_page, repeated.strip_prefix('&')) {
        (true, _) => to_page(number),
        (false, Some(query)) => [here, "?", query].concat(),
        (false, None) => here.to_owned(),
    };
    link("self", &own, out);
    let next = match &view.page.next {
        NextPage::Cursor(after) => {
            Some([&to_page(number.saturating_add(1)), "&after=", after].concat())
        }
        NextPage::Number if number < total_pages => Some(to_page(number.saturating_add(1))),
        _ => None,
    };
    if let Some(next) = next {
        link("next", &next, out);
    }
    if number > 1 {
        let before = number.saturating_sub(1).min(total_pages.max(1));
        let before = to_page(before);
        link("previous", &before, out);
        link("prev", &before, out);
    }
}

fn link(name: &str, href: &str, out: &mut Vec<u8>) {
    out.push(b',');
    write_string(name, out);
    out.extend_from_slice(b":{\"href\":");
    write_string(href, out);
    out.push(b'}');
}
