//! The capability document: the description of what a server supports.
//!
//! Its content is the *declaration* ([`Declaration`]). This crate is the only code that servers and
//! the conformance suite share. It contains the types of the document, and [`visible`], which makes
//! text of another program safe to print.
//!
//! Types of other crates in this API: `serde` (serialization of the document).
//!
//! Requirements: CAP-04, UND-40.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "text")]
mod text;
mod visible;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use visible::visible;

/// The content of the capability document: what a server supports.
///
/// The type is read from JSON, as a server publishes it, and from TOML, as a vendor writes it
/// manually. What a document omits is not supported. Unknown members are ignored.
///
/// Requirements: CAP-04, UND-40.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Declaration {
    /// Version of this format; 1.
    pub declaration_version: u32,
    /// Version of the specification, as the entry point reports it.
    ///
    /// Requirements: VER-01.
    pub interface_version: String,
    /// URL of the entry point, with a slash at the end.
    ///
    /// Requirements: HAL-01.
    pub base_url: String,
    /// System name of the identifiers that the server assigns.
    ///
    /// Requirements: ENT-07.
    pub namespace: String,
    /// Names that the deployment chooses.
    ///
    /// Requirements: HAL-09 to HAL-11.
    pub dialect: DeclaredDialect,
    /// `table` or `examples`: the response style.
    ///
    /// Requirements: CRU-13, CRU-14, ERR-33.
    pub response_style: String,
    /// Sizes of pages.
    ///
    /// Requirements: LIM-01.
    pub limits: DeclaredLimits,
    /// Whether keys are required.
    ///
    /// Requirements: AUT-01.
    pub authentication: DeclaredAuthentication,
    /// The content of the entry point; `None` means that it is unspecified.
    ///
    /// Requirements: ENT-02 to ENT-26.
    pub entry_point: Option<DeclaredEntryPoint>,
    /// The supported features of each kind, under the name of its collection such as `people`.
    pub collections: BTreeMap<String, DeclaredCollection>,
    /// The helpers, under names such as `record_signature`.
    ///
    /// Requirements: HLP-11 to HLP-22.
    pub helpers: BTreeMap<String, DeclaredHelper>,
    /// The helper action functions.
    ///
    /// Requirements: HAF-01.
    pub action_functions: Vec<String>,
    /// A description of the person matching; empty or absent if the server does not match people.
    ///
    /// Requirements: HLP-05.
    pub person_matching: Option<String>,
    /// The prefix that the server adds to the keys of custom fields.
    ///
    /// Requirements: RES-person-37.
    pub custom_field_prefix: String,
    /// Declared behaviours in the capability vocabulary, such as `validates_enums` or
    /// `helper.non_atomic`.
    pub behaviours: Vec<String>,
    /// URL of the `OpenAPI` document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub openapi: Option<String>,
    /// URLs of the JSON Schemas, each under the name of what it describes, such as `person`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub schemas: BTreeMap<String, String>,
    /// A URL below the base URL that does not exist, for checks of the response to a missing
    /// record.
    ///
    /// Requirements: ERR-11.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_address: Option<String>,
    /// Records that the conformance suite may use where it cannot create them.
    ///
    /// The keys are names of kinds such as `event`, or `ticketed_event`, and the values are URLs or
    /// identifiers. A key such as `helper.record_signature` contains the URL of a helper. A vendor
    /// writes this member; servers do not publish it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fixture: BTreeMap<String, String>,
    /// The URL of the document, as `self`.
    ///
    /// Requirements: HAL-13.
    #[serde(rename = "_links", skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, DeclaredLink>,
}

/// A link of the declaration.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DeclaredLink {
    /// The URL.
    pub href: String,
}

/// Relations and members of the API that the specification does not define, without prefix.
///
/// Requirements: HAL-19.
pub const EXTENSIONS: [&str; 15] = [
    "changes",
    "duplicates",
    "webhooks",
    "redeliver",
    "rotate_secret",
    "warnings",
    "merged_into",
    "merge_helper",
    "merge",
    "remaining",
    "merged",
    "merges",
    "undo_merge_helper",
    "undone_merge",
    "restored",
];

/// Names that a deployment chooses.
///
/// Requirements: HAL-09 to HAL-11, HAL-19.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DeclaredDialect {
    /// Prefix of relations.
    ///
    /// Requirements: HAL-09.
    pub prefix: String,
    /// Prefix of relations and members that the specification does not define.
    ///
    /// Requirements: HAL-19.
    pub extension_prefix: String,
    /// Request header of the key.
    ///
    /// Requirements: HAL-10.
    pub key_header: String,
    /// Field of the entry point with the version of the specification.
    ///
    /// Requirements: ENT-06.
    pub version_field: String,
    /// Share object of the first network.
    ///
    /// Requirements: HAL-11.
    pub network_a_share: String,
    /// Share object of the second network.
    ///
    /// Requirements: HAL-11.
    pub network_b_share: String,
}

impl Default for DeclaredDialect {
    fn default() -> Self {
        let text = str::to_owned;
        Self {
            prefix: text("svc"),
            extension_prefix: text("ext"),
            key_header: text("SVC-API-Token"),
            version_field: text("svc_version"),
            network_a_share: text("network_a_share"),
            network_b_share: text("network_b_share"),
        }
    }
}

/// Sizes of pages; zero if the server does not declare them.
///
/// Requirements: LIM-01.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DeclaredLimits {
    /// Maximum number of records on a page.
    pub max_pagesize: u32,
    /// Default number of records on a page.
    pub per_page: u32,
}

/// Whether keys are required.
///
/// Requirements: AUT-01.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DeclaredAuthentication {
    /// Whether all requests require a key, except those to the entry point, the documentation and
    /// anonymous helpers.
    pub required: bool,
}

impl Default for DeclaredAuthentication {
    fn default() -> Self {
        Self { required: true }
    }
}

/// The content of the entry point.
///
/// Requirements: ENT-02 to ENT-26.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DeclaredEntryPoint {
    /// The fields.
    pub fields: Vec<String>,
    /// The links other than `self`, `curies`, collections and helpers.
    pub links: Vec<String>,
}

/// The supported features of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DeclaredCollection {
    /// Relation of one record without prefix, such as `person`.
    ///
    /// Requirements: HAL-14.
    pub singular: String,
    /// Any of `list`, `read`, `create`, `update` and `delete`.
    pub operations: Vec<String>,
    /// Collections under a record, such as `signatures`.
    ///
    /// Requirements: COL-04 to COL-18.
    pub sub: Vec<String>,
    /// The fields, without the common ones.
    pub fields: BTreeMap<String, DeclaredField>,
    /// The links that the records contain, without prefix.
    pub links: Vec<String>,
    /// The fields that the collection can be filtered by, such as `modified_date`.
    ///
    /// Requirements: FLT-01.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<String>,
    /// The fields that the collection can be ordered by, such as `modified_date`.
    ///
    /// Requirements: FLT-09.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
    /// URL of the collection, if it can be listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub href: Option<String>,
}

/// A field and who sets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one flag of the document"
)]
pub struct DeclaredField {
    /// Type in the vocabulary of the specification, such as `string[]`.
    ///
    /// Requirements: TYP-01 to TYP-12.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether responses contain the field.
    pub readable: bool,
    /// Whether a client may set it.
    ///
    /// Requirements: CAP-06.
    pub writable: bool,
    /// Whether the server computes it.
    pub computed: bool,
    /// Whether a create requires it.
    ///
    /// Requirements: CAP-05.
    pub required: bool,
    /// The listed values of a closed or flexible enum.
    ///
    /// Requirements: TYP-08, TYP-09.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
    /// The value if a create omits it.
    ///
    /// Requirements: CAP-08.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The minimum of a whole number or amount, as decimal text such as `0`; `None` if the
    /// specification applies.
    ///
    /// Requirements: TYP-02, TYP-04.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<String>,
    /// The maximum of a whole number or amount, as decimal text such as `2147483647`; `None` if the
    /// specification applies.
    ///
    /// Requirements: TYP-02, TYP-04.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<String>,
    /// The maximum length in characters of a text, or of each text of a list; `None` if the
    /// specification applies.
    ///
    /// Requirements: TYP-01.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
    /// The maximum number of entries of a list; `None` if the specification applies.
    ///
    /// Requirements: CAP-04.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u32>,
    /// How the values of a member in the entries of a list depend on each other: `same` in all entries,
    /// `distinct` in each entry, or true in the `first` entry only.
    ///
    /// Requirements: CAP-04.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_entries: Option<String>,
    /// The members of an object, or of the objects of an array.
    ///
    /// Requirements: TYP-11.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<BTreeMap<String, DeclaredField>>,
}

impl Default for DeclaredField {
    fn default() -> Self {
        Self {
            kind: String::new(),
            readable: true,
            writable: true,
            computed: false,
            required: false,
            values: None,
            default: None,
            minimum: None,
            maximum: None,
            max_length: None,
            max_items: None,
            in_entries: None,
            fields: None,
        }
    }
}

/// A helper.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DeclaredHelper {
    /// The relation of the helper, with prefix.
    pub relation: String,
    /// Whether it can be called without a key.
    ///
    /// Requirements: AUT-06.
    pub anonymous: bool,
}
