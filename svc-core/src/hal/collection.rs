//! A page of a collection (COL-20 to COL-31, UND-32).

use std::ops::Range;

use super::{
    Hal, close,
    record::{Own, expected, record_at},
};
use crate::{
    helper::HelperName,
    json::write_string,
    link::{Scope, Target},
    model::Kind,
    page::{Next, PageRequest, RawPage},
};

/// A page and what was asked for.
#[derive(Debug)]
pub(crate) struct CollectionView<'a> {
    pub(crate) kind: Kind,
    pub(crate) scope: &'a Scope,
    pub(crate) request: &'a PageRequest,
    /// Whether the request named its page: the `self` link repeats what was asked for (COL-27).
    pub(crate) names_page: bool,
    /// What every link repeats, such as `&per_page=10`.
    pub(crate) repeated: &'a str,
    pub(crate) page: &'a RawPage,
    /// Whether the person signup helper belongs to this collection (RES-person-49).
    pub(crate) signup: bool,
}

/// Writes a page of a collection.
pub(crate) fn collection(hal: &Hal<'_>, view: &CollectionView<'_>, out: &mut Vec<u8>) {
    let Some(relations) = hal.relations.kind(view.kind) else { return };
    let size = u64::from(view.request.size.max(1));
    let total_pages = view.page.total.div_ceil(size);
    let head = format!(
        "{{\"total_pages\":{total_pages},\"per_page\":{size},\"page\":{},\"total_records\":{},\"_links\":{{",
        view.request.number, view.page.total
    );
    out.extend_from_slice(head.as_bytes());
    hal.write_curies(out);
    let here = hal.href(&Target::Collection { kind: view.kind, scope: view.scope.clone() });
    page_links(view, total_pages, &here, out);
    if view.signup {
        let relation = hal.relations.dialect.relation(HelperName::PersonSignup.relation());
        out.push(b',');
        write_string(&relation, out);
        out.push(b':');
        hal.write_link(&Target::Helper { helper: HelperName::PersonSignup, container: None }, out);
    }
    out.push(b',');
    out.extend_from_slice(&relations.plural);
    out.push(b'[');
    let addresses = member_links(hal, view, out);
    close(out, b']');
    out.extend_from_slice(b"},\"_embedded\":{");
    out.extend_from_slice(&relations.plural);
    out.push(b'[');
    let bytes = view.page.records.iter().zip(&addresses).map(|(member, at)| expected(hal, member, at.len()));
    out.reserve(bytes.fold(64, usize::saturating_add));
    for (member, at) in view.page.records.iter().zip(addresses) {
        record_at(hal, member, &Own::Written(at), false, out);
        out.push(b',');
    }
    close(out, b']');
    out.extend_from_slice(b"}}");
}

/// The links to the members, each with a comma behind it; where the address of each stands in `out`.
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

/// `self`, `next`, and both names of the page before (COL-24, COL-27, UND-32).
fn page_links(view: &CollectionView<'_>, total_pages: u64, here: &str, out: &mut Vec<u8>) {
    let (number, repeated) = (view.request.number, view.repeated);
    let own = match (view.names_page, repeated.strip_prefix('&')) {
        (true, _) => format!("{here}?page={number}{repeated}"),
        (false, Some(query)) => format!("{here}?{query}"),
        (false, None) => here.to_owned(),
    };
    link("self", &own, out);
    let next = match &view.page.next {
        Next::After(after) => Some(format!("{here}?page={}{repeated}&after={after}", number.saturating_add(1))),
        Next::ByNumber if number < total_pages => Some(format!("{here}?page={}{repeated}", number.saturating_add(1))),
        _ => None,
    };
    if let Some(next) = next {
        link("next", &next, out);
    }
    if number > 1 {
        let before = number.saturating_sub(1).min(total_pages.max(1));
        let before = format!("{here}?page={before}{repeated}");
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
