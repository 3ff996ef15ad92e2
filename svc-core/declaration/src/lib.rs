//! The form of the capability document: what a server says it supports.
//!
//! Servers and the conformance suite share this crate and nothing else: its types, and [`visible`],
//! which makes text of another program safe to print.
//!
//! Types of other crates in this API: `serde` (what the document is read and written with).
//!
//! Requirements: CAP-04, UND-40.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "text")]
mod text;
mod visible;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use visible::visible;

/// What a server supports, as its capability document says it.
///
/// The same type is read from JSON (what a server publishes) and from TOML (what a vendor writes by
/// hand). Whatever a document leaves out is not supported; members that this version does not know
/// are ignored.
///
/// Requirements: CAP-04, UND-40.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Declaration {
    /// Version of this form; 1.
    pub declaration_version: u32,
    /// Version of the interface, as the entry point reports it.
    ///
    /// Requirements: VER-01.
    pub interface_version: String,
    /// Address of the entry point, with a slash at the end.
    ///
    /// Requirements: HAL-01.
    pub base_url: String,
    /// Prefix of the identifiers that the server generates.
    ///
    /// Requirements: ENT-07.
    pub namespace: String,
    /// Names that stand in for the interface maker's own.
    ///
    /// Requirements: HAL-09 to HAL-11.
    pub dialect: DeclaredDialect,
    /// `table` or `examples`: which of the two forms of an answer is used.
    ///
    /// Requirements: CRU-13, CRU-14, ERR-33.
    pub response_style: String,
    /// Sizes of pages.
    ///
    /// Requirements: LIM-01.
    pub limits: DeclaredLimits,
    /// Whether keys are needed.
    ///
    /// Requirements: AUT-01.
    pub authentication: DeclaredAuthentication,
    /// What the entry point has; `None` leaves it to what is found there.
    ///
    /// Requirements: ENT-02 to ENT-26.
    pub entry_point: Option<DeclaredEntryPoint>,
    /// What is supported of each kind, under the name of its collection such as `people`.
    pub collections: BTreeMap<String, DeclaredCollection>,
    /// The helpers, under names such as `record_signature`.
    ///
    /// Requirements: HLP-11 to HLP-22.
    pub helpers: BTreeMap<String, DeclaredHelper>,
    /// The helper action functions.
    ///
    /// Requirements: HAF-01.
    pub action_functions: Vec<String>,
    /// How persons are matched, in words; empty or absent where they are not.
    ///
    /// Requirements: HLP-05.
    pub person_matching: Option<String>,
    /// What the server puts before the keys of custom fields.
    ///
    /// Requirements: RES-person-37.
    pub custom_field_prefix: String,
    /// Declared behaviours in the capability vocabulary, such as `validates_enums` or
    /// `helper.non_atomic`.
    pub behaviours: Vec<String>,
    /// Address of the `OpenAPI` document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub openapi: Option<String>,
    /// Addresses of the JSON Schemas, each under the name of what it describes, such as `person`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub schemas: BTreeMap<String, String>,
    /// An address below the base that leads nowhere, for checks of what a missing record answers.
    ///
    /// Requirements: ERR-11.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_address: Option<String>,
    /// Records that a run of the conformance suite may use where it may not create them, each by
    /// its address or an identifier, under the name of its kind such as `event`, or under
    /// `ticketed_event`; the address of a helper under a name such as `helper.record_signature`.
    /// What a vendor writes; no server publishes any.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fixture: BTreeMap<String, String>,
    /// Where it was read from, as `self`.
    ///
    /// Requirements: HAL-13.
    #[serde(rename = "_links", skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, DeclaredLink>,
}

/// A link of the declaration itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DeclaredLink {
    /// Where it leads.
    pub href: String,
}

/// Relations and members of the API that the specification does not define, without prefix.
///
/// Requirements: HAL-19.
pub const EXTENSIONS: [&str; 5] = [
    "changes",
    "webhooks",
    "redeliver",
    "rotate_secret",
    "warnings",
];

/// Names that a deployment sets.
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
    /// Field of the entry point with the version of the interface.
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

/// Sizes of pages; zero where a server does not say.
///
/// Requirements: LIM-01.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DeclaredLimits {
    /// Most records of a page.
    pub max_pagesize: u32,
    /// Records of a page that asks for no size.
    pub per_page: u32,
}

/// Whether keys are needed.
///
/// Requirements: AUT-01.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DeclaredAuthentication {
    /// Requests but those to the entry point, the documentation and anonymous helpers need a key.
    pub required: bool,
}

impl Default for DeclaredAuthentication {
    fn default() -> Self {
        Self { required: true }
    }
}

/// What the entry point has.
///
/// Requirements: ENT-02 to ENT-26.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DeclaredEntryPoint {
    /// Its fields.
    pub fields: Vec<String>,
    /// Its links besides `self`, `curies`, collections and helpers.
    pub links: Vec<String>,
}

/// What is supported of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DeclaredCollection {
    /// Relation of one record without prefix, such as `person`.
    ///
    /// Requirements: HAL-14.
    pub singular: String,
    /// `list`, `read`, `create`, `update`, `delete`.
    pub operations: Vec<String>,
    /// Collections below a record, such as `signatures`.
    ///
    /// Requirements: COL-04 to COL-18.
    pub sub: Vec<String>,
    /// Its fields, the common ones apart.
    pub fields: BTreeMap<String, DeclaredField>,
    /// The links that its records send, without prefix.
    pub links: Vec<String>,
    /// What its collection can be filtered by, such as `modified_date`.
    ///
    /// Requirements: FLT-01.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<String>,
    /// What its collection can be ordered by, such as `modified_date`.
    ///
    /// Requirements: FLT-09.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
    /// Address of its collection, where it is listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub href: Option<String>,
}

/// One field and who sets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one flag of the document"
)]
pub struct DeclaredField {
    /// Type in the interface's vocabulary, such as `string[]`.
    ///
    /// Requirements: TYP-01 to TYP-12.
    #[serde(rename = "type")]
    pub kind: String,
    /// It is sent in representations.
    pub readable: bool,
    /// A client may set it.
    ///
    /// Requirements: CAP-06.
    pub writable: bool,
    /// The server keeps it.
    pub computed: bool,
    /// A create must have it.
    ///
    /// Requirements: CAP-05.
    pub required: bool,
    /// The listed values of a closed or flexible enum.
    ///
    /// Requirements: TYP-08, TYP-09.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
    /// What it is when a create leaves it out.
    ///
    /// Requirements: CAP-08.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The least whole number or amount, as decimal text such as `0`; none where the interface's
    /// holds.
    ///
    /// Requirements: TYP-02, TYP-04.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<String>,
    /// The greatest whole number or amount, as decimal text such as `2147483647`; none where the
    /// interface's holds.
    ///
    /// Requirements: TYP-02, TYP-04.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<String>,
    /// How many characters a text, or each text of a list, has at most; none where the interface's
    /// holds.
    ///
    /// Requirements: TYP-01.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
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
            fields: None,
        }
    }
}

/// One helper.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DeclaredHelper {
    /// Relation with prefix that leads to it.
    pub relation: String,
    /// It may be called without a key.
    ///
    /// Requirements: AUT-06.
    pub anonymous: bool,
}
