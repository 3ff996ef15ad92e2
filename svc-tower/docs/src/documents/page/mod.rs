//! What the documentation pages say, as plain data without a form: `svc-docs` writes HTML of it,
//! and machines get it as HAL.
//!
//! Requirements: ENT-22, HAL-18.

mod access;
mod batch;
mod changes;
mod codes;
mod compare;
mod entry_point;
mod fields;
mod filters;
mod machine;
mod map;
mod navigation;
mod relation;
mod topics;
mod types;
mod webhooks;

use std::borrow::Cow;

use serde::Serialize;
use svc_core::{
    api::Api, context::BaseUrl, error::ErrorCode, helper::FunctionName, link::Target, read::Json,
    value::ClosedEnum,
};

use super::example::{ExampleRequest, Examples};

/// What a page is about.
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
    /// An address at which there is nothing.
    ///
    /// Requirements: UND-35.
    Missing,
    /// How its kinds and helpers hang together.
    Map,
    /// Another server beside it.
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
    /// A link that no kind, collection or helper is named after.
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
    /// A type of fields.
    ///
    /// Requirements: TYP-01 to TYP-12.
    Type,
    /// Something that holds for every request.
    Topic,
}

/// One page: each part may be empty. In prose, backticks mark code.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DocPage {
    /// The last part of its address; empty for the start page.
    pub name: Cow<'static, str>,
    /// Its heading.
    pub title: String,
    /// What it is about.
    pub subject: DocSubject,
    /// What that is, in a sentence.
    pub summary: String,
    /// Paragraphs of prose.
    pub notes: Vec<String>,
    /// Tables of names and what they mean.
    pub facts: Vec<DocTable>,
    /// What this server does with it.
    pub operations: Vec<DocOperation>,
    /// What the fields are fields of, such as `Body`.
    pub fields_title: &'static str,
    /// Its fields.
    pub fields: Vec<DocField>,
    /// Its links.
    pub links: Vec<DocLink>,
    /// Requests that this server takes.
    pub requests: Vec<ExampleRequest>,
    /// How it looks, where no request answers with it.
    pub example: Option<Json>,
    /// Other pages and documents.
    pub lists: Vec<DocLinkGroup>,
}

/// A table of names and what they mean.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DocTable {
    /// Its heading.
    pub title: &'static str,
    /// Names, and what each means.
    pub rows: Vec<(String, String)>,
}

/// Something that this server does.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DocOperation {
    /// What it is called, as in the capability document.
    pub name: &'static str,
    /// The method.
    pub method: &'static str,
    /// The absolute address, with words such as `PERSON_ID` for ids.
    pub address: String,
    /// `needed`, `optional` or `not needed`.
    pub key: &'static str,
}

/// One field, and what this server does with it.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one flag of the capability document"
)]
pub struct DocField {
    /// Its name on the wire.
    pub name: String,
    /// Its type in the interface's vocabulary.
    ///
    /// Requirements: TYP-01 to TYP-12.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The address of the page of its type.
    pub type_href: String,
    /// A value as it may be; none where the listed values say it, or of what only the server sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
    /// The values that are listed.
    ///
    /// Requirements: TYP-08, TYP-09.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// It is sent in representations.
    pub readable: bool,
    /// Clients may set it.
    ///
    /// Requirements: CAP-06.
    pub writable: bool,
    /// The server keeps it.
    pub computed: bool,
    /// A create must have it.
    ///
    /// Requirements: CAP-05.
    pub required: bool,
    /// What it is when a create leaves it out.
    ///
    /// Requirements: CAP-08.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// What it means, and the rules beyond its type.
    pub text: String,
    /// Its row, where the rows have pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<DocRequirement>,
}

/// One link.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DocLink {
    /// The kind whose records have it, where the page is not about one kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<DocReference>,
    /// Its relation.
    pub relation: DocReference,
    /// What it leads to.
    pub target: DocReference,
    /// Who sets it.
    pub set_by: &'static str,
    /// What it means.
    pub text: String,
    /// Its row, where the rows have pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<DocRequirement>,
}

/// A row of the requirements that a field or link answers.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DocRequirement {
    /// Its id, such as `RES-person-16`.
    pub id: &'static str,
    /// The address of its page.
    pub href: String,
}

/// Links to other pages under a heading.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DocLinkGroup {
    /// Its heading.
    pub title: &'static str,
    /// The links.
    pub entries: Vec<DocReference>,
}

/// A link to another page or document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DocReference {
    /// Its address.
    pub href: String,
    /// What it is called.
    pub name: String,
    /// A relation that the link has, such as that of the capability document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rel: Option<String>,
    /// What it is about; empty when the name says it.
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

/// The documentation of one API under one base.
#[derive(Debug, Clone, Copy)]
pub struct DocPages<'a> {
    api: &'a Api,
    base: &'a BaseUrl,
    body_limit: usize,
    anonymous_body_limit: Option<usize>,
}

impl<'a> DocPages<'a> {
    /// The documentation of a server that takes bodies of at most `body_limit` bytes.
    #[must_use]
    pub fn new(api: &'a Api, base: &'a BaseUrl, body_limit: usize) -> Self {
        Self {
            api,
            base,
            body_limit,
            anonymous_body_limit: None,
        }
    }

    /// With the largest body of an anonymous call, in bytes.
    #[must_use]
    pub fn anonymous_body_limit(self, bytes: usize) -> Self {
        Self {
            anonymous_body_limit: Some(bytes),
            ..self
        }
    }

    /// The start page: what this server supports, and where the rest is.
    ///
    /// Requirements: ENT-22.
    #[must_use]
    pub fn start(&self) -> DocPage {
        topics::start(self)
    }

    /// The page of this name, with or without the dialect's prefix; `None` for a name that nothing
    /// has.
    #[must_use]
    pub fn page(&self, name: &str) -> Option<DocPage> {
        let name = self.api.dialect().without_prefix(name).unwrap_or(name);
        relation::page(self, name)
            .or_else(|| topics::page(self, name))
            .or_else(|| codes::page(self, name))
            .or_else(|| types::page(self, name))
    }

    /// The names of every page: relations, action functions, topics, error codes, types.
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

    /// The entry point for people: `answer` is what programs get there.
    pub(crate) fn entry_point(&self, answer: &[u8]) -> DocPage {
        entry_point::page(self, answer)
    }

    /// The page of an address at which there is nothing; `near` is what was perhaps meant.
    pub(crate) fn missing(&self, near: Vec<DocReference>) -> DocPage {
        entry_point::missing(self, near)
    }

    /// The way from a page to others: groups of pages.
    pub(crate) fn navigation(&self, page: &DocPage) -> Vec<DocLinkGroup> {
        navigation::groups(self, page)
    }

    /// The address under which a page stands in the navigation.
    pub(crate) fn place(&self, page: &DocPage) -> String {
        navigation::place(self, page)
    }

    /// A link to the page of this name, called as it is on the wire.
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

    /// The address of a page.
    fn href(&self, name: &str) -> String {
        self.api
            .url(self.base, &Target::DocsPage(Cow::Owned(name.to_owned())))
    }

    /// A link to a page that is called what its name is.
    fn entry(&self, name: &str) -> DocReference {
        DocReference::new(self.href(name), name)
    }

    /// A link to the page of a relation.
    fn relation(&self, name: &str) -> DocReference {
        DocReference::new(self.href(name), self.api.dialect().relation(name))
    }
}

/// An empty page of something that holds for every request.
fn topic(name: &'static str, title: &str, summary: &str) -> DocPage {
    open(name, DocSubject::Topic, title.to_owned(), summary)
}

/// An empty page.
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
        facts: Vec::new(),
        operations: Vec::new(),
        fields_title: "Fields",
        fields: Vec::new(),
        links: Vec::new(),
        requests: Vec::new(),
        example: None,
        lists: Vec::new(),
    }
}
