//! HAL documents, written straight into bytes: no JSON tree on the way (HAL-01 to HAL-18).

mod batch;
mod changes;
mod collection;
mod entry_point;
mod failure;
mod record;
mod relations;
mod shown;
#[cfg(feature = "webhooks")]
mod webhooks;

pub(crate) use batch::{ResultView, batch, entry_result, totals};
pub(crate) use changes::{CHANGES, ChangesView, begin_anew, changes};
pub(crate) use collection::{CollectionView, collection};
pub(crate) use entry_point::{EntryPointView, entry_point};
pub(crate) use failure::{FailureView, ReportView, failure, non_atomic, notice, warnings};
pub(crate) use record::record;
pub(crate) use relations::{DocsAddress, Documents, RelationNames};
#[cfg(feature = "webhooks")]
pub(crate) use webhooks::{message, webhook, webhooks};

use crate::{
    json::write_string,
    link::{Layout, Target},
};

/// The relation that leads to the webhooks, and that they stand under, without prefix.
pub(crate) const WEBHOOKS: &str = "webhooks";

/// What every document is written with: the address of the entry point, the layout, and the relations of the API.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hal<'a> {
    pub(crate) base: &'a str,
    pub(crate) layout: &'a dyn Layout,
    pub(crate) relations: &'a RelationNames,
}

impl Hal<'_> {
    /// The absolute address of a target.
    pub(crate) fn href(&self, target: &Target) -> String {
        let mut href = String::with_capacity(self.base.len().saturating_add(96));
        self.push_href(target, &mut href);
        href
    }

    /// Appends the absolute address of a target.
    fn push_href(&self, target: &Target, out: &mut String) {
        out.push_str(self.base);
        self.layout.path(target, out);
    }

    /// Writes an absolute address as a JSON string.
    fn write_href(&self, target: &Target, out: &mut Vec<u8>) {
        write_string(&self.href(target), out);
    }

    /// Writes `{"href":"..."}`.
    fn write_link(&self, target: &Target, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"href\":");
        self.write_href(target, out);
        out.push(b'}');
    }

    /// Writes `"curies":[...]`: the template that leads to the page of each relation (HAL-18), and one for the vendor's
    /// own relations (ENT-27).
    fn write_curies(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\"curies\":[{\"name\":");
        write_string(self.relations.dialect.prefix(), out);
        out.extend_from_slice(b",\"href\":");
        let page = self.href(&Target::DocsPage("".into()));
        write_string(self.relations.docs.as_ref().map_or(&page, |docs| &docs.pages).as_str(), out);
        // The template's placeholder stands behind the address of the pages.
        out.pop();
        out.extend_from_slice(b"{rel}\",\"templated\":true}");
        if let Some(own) = &self.relations.own {
            out.extend_from_slice(b",{\"name\":");
            write_string(&self.relations.namespace, out);
            out.extend_from_slice(b",\"href\":");
            write_string(&own.pages, out);
            out.pop();
            out.extend_from_slice(b"{rel}\",\"templated\":true}");
        }
        out.push(b']');
    }
}

/// Removes a trailing comma and closes an object or array.
fn close(out: &mut Vec<u8>, end: u8) {
    if out.last() == Some(&b',') {
        out.pop();
    }
    out.push(end);
}
