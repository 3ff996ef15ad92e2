//! Renders HAL documents directly as bytes, without a JSON tree.
//!
//! Requirements: HAL-01 to HAL-19.

mod collection;
mod entry_point;
mod error;
mod record;
mod relations;
mod visible_fields;

pub(crate) use collection::{CollectionView, collection};
pub(crate) use entry_point::{EntryLink, EntryPointView, entry_point};
pub(crate) use error::{FailureView, ReportView, failure, non_atomic, notice, warnings};
pub(crate) use record::record;
pub(crate) use relations::{DocumentSettings, ExternalDocs, RecordLink, RelationNames};

use std::borrow::Cow;

use crate::{
    auth::Caller,
    json::write_string,
    link::{Layout, Target},
};
use relations::{KindRelations, OperationLink};

/// The relation of the record that a deleted record was merged into.
pub(crate) const MERGED_INTO: &str = "merged_into";

/// The context for rendering a document: the base URL, the layout, and the relations of the API.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hal<'a> {
    pub(crate) base: &'a str,
    pub(crate) layout: &'a dyn Layout,
    pub(crate) relations: &'a RelationNames,
    /// The caller, whose rights decide which links to operations records have; `None` for none.
    pub(crate) caller: Option<&'a Caller>,
}

impl Hal<'_> {
    /// Returns the links to operations that the records of a kind have for the caller.
    fn operation_links<'k>(
        &self,
        relations: &'k KindRelations,
    ) -> impl Iterator<Item = &'k OperationLink> + use<'k, '_> {
        let caller = self.caller;
        let links = relations.operations.iter();
        links.filter(move |link| caller.is_some_and(|caller| caller.has_right(link.right)))
    }

    /// Writes the curies of a document with records of a kind.
    fn write_record_curies(&self, relations: &KindRelations, out: &mut Vec<u8>) {
        if self.operation_links(relations).next().is_some() {
            self.write_extended_curies(out);
        } else {
            self.write_curies(out);
        }
    }

    /// Returns the absolute URL of a target.
    pub(crate) fn href(&self, target: &Target) -> String {
        let mut href = String::with_capacity(self.base.len().saturating_add(96));
        self.push_href(target, &mut href);
        href
    }

    /// Appends the absolute URL of a target.
    pub(crate) fn push_href(&self, target: &Target, out: &mut String) {
        out.push_str(self.base);
        self.layout.path(target, out);
    }

    /// Writes an absolute URL as a JSON string.
    pub(crate) fn write_href(&self, target: &Target, out: &mut Vec<u8>) {
        write_string(&self.href(target), out);
    }

    /// Writes `{"href":"..."}`.
    pub(crate) fn write_link(&self, target: &Target, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"href\":");
        self.write_href(target, out);
        out.push(b'}');
    }

    /// Writes a relation with a link, such as `"svc:person":{"href":"..."}`. `name` has no prefix.
    pub(crate) fn write_relation(&self, name: &str, target: &Target, out: &mut Vec<u8>) {
        write_string(&self.relations.dialect.relation(name), out);
        out.push(b':');
        self.write_link(target, out);
    }

    /// Writes `"curies":[...]`: the template for the pages of relations, and one for the vendor
    /// relations.
    ///
    /// Requirements: HAL-18, ENT-27.
    pub(crate) fn write_curies(&self, out: &mut Vec<u8>) {
        let dialect = &self.relations.dialect;
        out.extend_from_slice(b"\"curies\":[");
        curie(dialect.prefix(), &self.docs_pages(), out);
        if let Some(own) = &self.relations.own {
            out.push(b',');
            curie(&self.relations.namespace, own.pages(), out);
        }
        out.push(b']');
    }

    /// Writes `"curies":[...]` for a document with relations that the specification does not
    /// define.
    ///
    /// Requirements: HAL-19.
    pub(crate) fn write_extended_curies(&self, out: &mut Vec<u8>) {
        self.write_curies(out);
        out.pop();
        self.write_extension_curie(out);
        out.push(b']');
    }

    /// Adds the curie of the extensions to a written document if its curies do not contain it.
    ///
    /// Requirements: HAL-19.
    pub(crate) fn extend_curies(&self, document: &mut Vec<u8>) {
        let mut curies = Vec::new();
        self.write_curies(&mut curies);
        if let Some(start) = document
            .windows(curies.len())
            .position(|window| window == curies)
        {
            let end = start.saturating_add(curies.len()).saturating_sub(1);
            let mut extension = Vec::new();
            self.write_extension_curie(&mut extension);
            document.splice(end..end, extension);
        }
    }

    fn write_extension_curie(&self, out: &mut Vec<u8>) {
        out.push(b',');
        curie(
            self.relations.dialect.extension_prefix(),
            &self.docs_pages(),
            out,
        );
    }

    /// Returns the URL that precedes the name of a relation in the URL of its page.
    fn docs_pages(&self) -> Cow<'_, str> {
        match &self.relations.docs {
            Some(docs) => docs.pages.as_str().into(),
            None => self.href(&Target::DocsPage("".into())).into(),
        }
    }
}

/// Writes a curie; `pages` is the URL of its template without `{rel}`.
fn curie(name: &str, pages: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"name\":");
    write_string(name, out);
    out.extend_from_slice(b",\"href\":");
    write_string(pages, out);
    // The placeholder is inserted before the closing quote.
    out.pop();
    out.extend_from_slice(b"{rel}\",\"templated\":true}");
}

/// Writes a member with a text or `null`, and a trailing comma.
pub(crate) fn text_member(name: &str, value: Option<&str>, out: &mut Vec<u8>) {
    write_string(name, out);
    out.push(b':');
    match value {
        Some(value) => write_string(value, out),
        None => out.extend_from_slice(b"null"),
    }
    out.push(b',');
}

/// Removes a trailing comma and closes an object or array.
pub(crate) fn close(out: &mut Vec<u8>, end: u8) {
    if out.last() == Some(&b',') {
        out.pop();
    }
    out.push(end);
}
