//! The content of the documentation pages as plain data, without a layout. `svc-docs` renders it as
//! HTML for people and as HAL for programs.
//!
//! Requirements: ENT-22, HAL-18.

mod access;
mod batch;
mod changes;
mod codes;
mod compare;
mod duplicates;
mod entry_point;
mod fields;
mod filters;
mod hal;
mod map;
mod merges;
mod navigation;
mod relation;
mod topics;
mod types;
mod webhooks;

use std::borrow::Cow;

use serde::Serialize;
use svc_core::{
    api::Api, context::BaseUrl, error::ErrorCode, helper::FunctionName, link::Target,
    page::QueryParameter, read::Json, value::ClosedEnum,
};

use super::example::{ExampleRequest, Examples};

/// The subject of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DocSubject {
    /// The whole server.
    Start,
    /// The entry point.
    ///
    /// Requirements: ENT-01.
    EntryPoint,
    /// An address without a page.
    ///
    /// Requirements: UND-35.
    Missing,
    /// A map of kinds, links and helpers.
    Map,
    /// A comparison with another server.
    Compare,
    /// One kind of record.
    ///
    /// Requirements: HAL-14.
    Resource,
    /// A collection.
    ///
    /// Requirements: COL-01.
    Collection,
    /// A helper.
    ///
    /// Requirements: HLP-11 to HLP-22.
    Helper,
    /// A link whose name is not that of a kind, collection or helper.
    Link,
    /// A helper action function.
    ///
    /// Requirements: HAF-01.
    Function,
    /// The error object.
    ///
    /// Requirements: ERR-18.
    ErrorObject,
    /// One error code.
    ///
    /// Requirements: ERR-24.
    ErrorCode,
    /// A field type.
    ///
    /// Requirements: TYP-01 to TYP-12.
    Type,
    /// A concept that applies to every request.
    Topic,
}

/// A documentation page. Each part may be empty. In prose, backticks mark code.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DocPage {
    /// The last part of its address; empty for the start page.
    pub name: Cow<'static, str>,
    /// The heading.
    pub title: String,
    /// The subject.
    pub subject: DocSubject,
    /// A one-sentence summary.
    pub summary: String,
    /// Paragraphs of prose.
    pub notes: Vec<String>,
    /// Tables of names with their meaning.
    pub tables: Vec<DocTable>,
    /// The operations that this server offers on the subject.
    pub operations: Vec<DocOperation>,
    /// The heading of the table of fields, such as `Body`.
    pub fields_title: &'static str,
    /// The fields.
    pub fields: Vec<DocField>,
    /// The links.
    pub links: Vec<DocLink>,
    /// Example requests that this server accepts.
    pub requests: Vec<ExampleRequest>,
    /// An example document, if no request has it as response.
    pub example: Option<Json>,
    /// Other pages and documents.
    pub link_groups: Vec<DocLinkGroup>,
}

/// A table of names with their meaning.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DocTable {
    /// The heading.
    pub title: &'static str,
    /// The names, each with its meaning.
    pub rows: Vec<(String, String)>,
}

impl DocTable {
    /// Returns a table of names on the wire, each with its meaning.
    fn of_names<T: Into<String>>(
        title: &'static str,
        rows: impl IntoIterator<Item = (&'static str, T)>,
    ) -> Self {
        let rows = rows.into_iter();
        Self {
            title,
            rows: rows
                .map(|(name, text)| (format!("`{name}`"), text.into()))
                .collect(),
        }
    }

    /// Returns a table of query parameters.
    fn of_parameters(parameters: Vec<QueryParameter>) -> Self {
        let rows = parameters.into_iter().map(|it| (it.name, it.text));
        Self::of_names("Parameters", rows)
    }
}

/// An operation that this server offers.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DocOperation {
    /// The name, as in the capability document.
    pub name: &'static str,
    /// The method.
    pub method: &'static str,
    /// The absolute address, with placeholders such as `PERSON_ID` for ids.
    pub address: String,
    /// `needed`, `optional` or `not needed`.
    pub key: &'static str,
}

/// A field, and how this server supports it.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one flag of the capability document"
)]
pub struct DocField {
    /// The name on the wire.
    pub name: String,
    /// The type, in the terms of the specification.
    ///
    /// Requirements: TYP-01 to TYP-12.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The address of the page of the type.
    pub type_href: String,
    /// An example value; `None` if the field has listed values or only the server sets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
    /// The listed values.
    ///
    /// Requirements: TYP-08, TYP-09.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// Whether representations contain the field.
    pub readable: bool,
    /// Whether clients may set the field.
    ///
    /// Requirements: CAP-06.
    pub writable: bool,
    /// Whether the server computes the value.
    pub computed: bool,
    /// Whether a create must contain the field.
    ///
    /// Requirements: CAP-05.
    pub required: bool,
    /// The value if a create omits the field.
    ///
    /// Requirements: CAP-08.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The meaning, and the rules beyond the type.
    pub text: String,
    /// The requirement of the field, if requirements have pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<DocRequirement>,
}

/// A link.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DocLink {
    /// The kind whose records have the link, if the page is not about one kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<DocReference>,
    /// The relation.
    pub relation: DocReference,
    /// The target.
    pub target: DocReference,
    /// Who sets the link.
    pub set_by: &'static str,
    /// The meaning.
    pub text: String,
    /// The requirement of the link, if requirements have pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<DocRequirement>,
}

/// A requirement that a field or link fulfils.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DocRequirement {
    /// The id, such as `RES-person-16`.
    pub id: &'static str,
    /// The address of its page.
    pub href: String,
}

/// Links to other pages under a heading.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DocLinkGroup {
    /// The heading.
    pub title: &'static str,
    /// The links.
    pub entries: Vec<DocReference>,
}

/// A link to another page or document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DocReference {
    /// The address.
    pub href: String,
    /// The text of the link.
    pub name: String,
    /// The relation of the link, such as that of the capability document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rel: Option<String>,
    /// A description; empty if the name is sufficient.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

impl DocReference {
    fn new(href: String, name: impl Into<String>) -> Self {
        Self {
            href,
            name: name.into(),
            rel: None,
            text: String::new(),
        }
    }

    fn text(self, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..self
        }
    }
}

/// The documentation pages of an API under a base URL.
#[derive(Debug, Clone, Copy)]
pub struct DocPages<'a> {
    api: &'a Api,
    base: &'a BaseUrl,
    body_limit: usize,
    anonymous_body_limit: Option<usize>,
}

impl<'a> DocPages<'a> {
    /// Returns the documentation of a server that accepts bodies of at most `body_limit` bytes.
    #[must_use]
    pub fn new(api: &'a Api, base: &'a BaseUrl, body_limit: usize) -> Self {
        Self {
            api,
            base,
            body_limit,
            anonymous_body_limit: None,
        }
    }

    /// Sets the maximum size of the body of an anonymous request, in bytes.
    #[must_use]
    pub fn anonymous_body_limit(self, bytes: usize) -> Self {
        Self {
            anonymous_body_limit: Some(bytes),
            ..self
        }
    }

    /// Returns the start page: what this server supports, and links to the other pages.
    ///
    /// Requirements: ENT-22.
    #[must_use]
    pub fn start(&self) -> DocPage {
        topics::start(self)
    }

    /// Returns the page with this name, with or without the prefix of the dialect. Returns `None`
    /// for an unknown name.
    #[must_use]
    pub fn page(&self, name: &str) -> Option<DocPage> {
        let name = self.api.dialect().strip_prefix(name).unwrap_or(name);
        relation::page(self, name)
            .or_else(|| topics::page(self, name))
            .or_else(|| codes::page(self, name))
            .or_else(|| types::page(self, name))
    }

    /// Returns the names of all pages: relations, action functions, topics, error codes and types.
    #[must_use]
    pub fn names(&self) -> Vec<Cow<'static, str>> {
        let functions = FunctionName::VALUES.iter().copied();
        let codes = ErrorCode::ALL.iter().map(|code| code.as_str());
        let topics = topics::names(self.api);
        let fixed = relation::names()
            .into_iter()
            .chain(functions)
            .chain(topics)
            .chain(codes);
        fixed
            .map(Cow::Borrowed)
            .chain(types::names().map(Cow::Owned))
            .collect()
    }

    /// Returns the page of the entry point; `answer` is the response that programs get.
    pub(crate) fn entry_point(&self, answer: &[u8]) -> DocPage {
        entry_point::page(self, answer)
    }

    /// Returns the page for an address without a page; `near` has links to similar names.
    pub(crate) fn missing(&self, near: Vec<DocReference>) -> DocPage {
        entry_point::missing(self, near)
    }

    /// Returns the navigation of a page: groups of links.
    pub(crate) fn navigation(&self, page: &DocPage) -> Vec<DocLinkGroup> {
        navigation::groups(self, page)
    }

    /// Returns the address of a page as it is in the navigation.
    pub(crate) fn place(&self, page: &DocPage) -> String {
        navigation::place(self, page)
    }

    /// Returns a link to the page of this name, with the name that is used on the wire.
    pub(crate) fn entry_of(&self, name: &str) -> DocReference {
        if relation::names().contains(&name) {
            self.relation(name)
        } else {
            self.entry(name)
        }
    }

    fn examples(&self) -> Examples<'a> {
        Examples {
            api: self.api,
            base: self.base,
        }
    }

    /// Returns the address of a page.
    fn href(&self, name: &str) -> String {
        self.api
            .url(self.base, &Target::DocsPage(Cow::Owned(name.to_owned())))
    }

    /// Returns a link to a page, with its name as the text.
    fn entry(&self, name: &str) -> DocReference {
        DocReference::new(self.href(name), name)
    }

    /// Returns links to the pages of error codes.
    fn errors(&self, codes: &[ErrorCode]) -> DocLinkGroup {
        let entries = codes.iter().map(|code| self.entry(code.as_str()));
        DocLinkGroup {
            title: "Errors",
            entries: entries.collect(),
        }
    }

    /// Returns a link to the page of a relation.
    fn relation(&self, name: &str) -> DocReference {
        DocReference::new(self.href(name), self.api.dialect().relation(name))
    }
}

/// Returns an empty page of a concept.
fn topic(name: &'static str, title: &str, summary: &str) -> DocPage {
    open(name, DocSubject::Topic, title.to_owned(), summary)
}

/// Returns an empty page.
fn open(
    name: impl Into<Cow<'static, str>>,
    subject: DocSubject,
    title: String,
    summary: &str,
) -> DocPage {
    DocPage {
        name: name.into(),
        title,
        subject,
        summary: summary.trim().to_owned(),
        notes: Vec::new(),
        tables: Vec::new(),
        operations: Vec::new(),
        fields_title: "Fields",
        fields: Vec::new(),
        links: Vec::new(),
        requests: Vec::new(),
        example: None,
        link_groups: Vec::new(),
    }
}
