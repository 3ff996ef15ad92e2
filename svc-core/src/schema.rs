//! The tables as constant data: what every resource, nested object, link and helper of the interface looks like.
//!
//! Nothing here is written by hand: [`resource!`](crate::describe) and `object!` fill it, and validation, rendering,
//! routing, the capability declaration, documentation and test generators read it.

use crate::{
    helper::HelperName,
    model::Kind,
    read::{Object, Rules},
};

/// Everything the interface says about one kind of resource.
#[derive(Debug)]
pub struct KindSchema {
    /// The kind.
    pub kind: Kind,
    /// Singular relation without prefix, such as `person` (HAL-14).
    pub singular: &'static str,
    /// Plural relation without prefix, also the name of the collection, such as `people` (HAL-14).
    pub plural: &'static str,
    /// What it is, in a sentence.
    pub doc: &'static str,
    /// The kind in whose path its records live, such as `Petition` for a signature; `None` at the top (COL-19).
    pub home: Option<Kind>,
    /// The link that leads to the container a record is created under, such as `petition` for a signature.
    pub parent: Option<&'static str>,
    /// Its fields, the common ones apart.
    pub fields: &'static ObjectSchema,
    /// Its links, in the order in which they are sent.
    pub links: &'static [LinkSpec],
    /// Rules between fields, run on the whole record after a write.
    pub rules: fn(&mut Rules<'_>),
}

impl KindSchema {
    /// The link of this name.
    #[must_use]
    pub fn link(&self, name: &str) -> Option<&'static LinkSpec> {
        self.links.iter().find(|link| link.name == name)
    }

    /// The kind of the container that a record is created under.
    #[must_use]
    pub fn parent_kind(&self) -> Option<Kind> {
        match self.link(self.parent?)?.target {
            LinkTarget::One { kind, .. } => Some(kind),
            _ => None,
        }
    }

    /// Whether there is a collection of all records of this kind (COL-01).
    #[must_use]
    pub fn has_collection(&self) -> bool {
        self.home.is_none()
    }

    /// The kinds below which records of this kind are listed (COL-04 to COL-18).
    pub fn scopes(&self) -> impl Iterator<Item = Kind> + '_ {
        Kind::ALL.iter().copied().filter(|parent| {
            let many = |link: &LinkSpec| link.target == LinkTarget::Many { kind: self.kind, alias: false };
            parent.schema().links.iter().any(many)
        })
    }
}

/// The fields of a resource or of a nested object.
#[derive(Debug)]
pub struct ObjectSchema {
    /// Name of the object in the interface's terms, such as `postal_address`.
    pub name: &'static str,
    /// Its fields, in the order in which they are sent.
    pub fields: &'static [Field],
}

impl ObjectSchema {
    /// The field of this wire name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// One field of the interface.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Name on the wire.
    pub name: &'static str,
    /// The doc comment of the table, which ends with the requirement row in brackets.
    pub doc: &'static str,
    /// Its type.
    pub ty: Type,
    /// Who sets it, and when.
    pub mode: Mode,
    /// Rules beyond the type.
    pub rules: &'static [Rule],
}

impl Field {
    /// Whether the system keeps the value, so that a client's value is ignored.
    #[must_use]
    pub const fn is_computed(&self) -> bool {
        matches!(self.mode, Mode::Computed)
    }

    /// The requirement row named at the end of the doc comment, such as `RES-petition-02`.
    #[must_use]
    pub fn row(&self) -> Option<&'static str> {
        let (_, row) = self.doc.trim().strip_suffix(").")?.rsplit_once('(')?;
        Some(row)
    }

    /// The doc comment without the requirement row.
    #[must_use]
    pub fn text(&self) -> &'static str {
        let doc = self.doc.trim();
        doc.rsplit_once(" (").map_or(doc, |(text, _)| text)
    }
}

/// Who sets a field, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The client may set it.
    Stored,
    /// The client must set it on create (CAP-05).
    Required,
    /// The client may set it; omitted on create it has this value (CAP-08).
    Default(&'static str),
    /// The client may set it; omitted on create it is the time of receipt (CAP-08).
    ReceiptTime,
    /// The system keeps it; a value sent by a client is ignored (CAP-06).
    Computed,
}

/// The type of a value on the wire (TYP-01 to TYP-12).
#[derive(Debug, Clone, Copy)]
pub enum Type {
    /// JSON string (TYP-01).
    String,
    /// JSON number without a fraction, 64-bit (TYP-02).
    Integer,
    /// JSON number, 64-bit float (TYP-03).
    Float,
    /// JSON number, exact decimal (TYP-03, TYP-04).
    Amount,
    /// JSON true or false (TYP-05).
    Boolean,
    /// ISO 8601 timestamp (TYP-06).
    Timestamp,
    /// ISO 8601 calendar date (TYP-07).
    Date,
    /// Closed list of values (TYP-08).
    Enum(&'static [&'static str]),
    /// Listed values plus any other string (TYP-09).
    FlexEnum(&'static [&'static str]),
    /// A flag that is sent as a boolean or as the strings `true` and `false` (RES-phone_number-01).
    Flag,
    /// An address or an identifier of a record: a string, or an object with `href` (RES-canvass-09).
    Reference,
    /// Object with string values under free keys (RES-person-36).
    StringMap,
    /// JSON array of one type (TYP-12).
    Array(&'static Type),
    /// One object or an array of such objects (RES-canvass-08).
    OneOrMany(&'static Type),
    /// JSON object with the fields of a table (TYP-11).
    Object(&'static ObjectSchema),
}

impl Type {
    /// The object table of this type, also inside an array.
    #[must_use]
    pub fn object(&self) -> Option<&'static ObjectSchema> {
        match self {
            Self::Object(schema) => Some(schema),
            Self::Array(item) | Self::OneOrMany(item) => item.object(),
            _ => None,
        }
    }
}

/// A rule on one field beyond its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// A number between two bounds, both included.
    Between(i64, i64),
    /// A number that is not below zero.
    NotNegative,
    /// An e-mail address: has an `@` (RES-email_address-03).
    Email,
    /// Two letters, ISO 3166-1 alpha-2 (RES-postal_address-09).
    CountryCode,
    /// Three letters, ISO 4217 (RES-fundraising_page-11).
    CurrencyCode,
    /// Digits only; a JSON number and the usual separators are accepted (RES-phone_number-03).
    PhoneNumber,
    /// One leading `@` is removed (RES-person-35).
    WithoutAt,
    /// Duplicates are collapsed, the first stays (RES-person-16).
    Unique,
    /// At most one element has `primary` true (RES-postal_address-02).
    OnePrimary,
    /// Letters and digits only (RES-question-08).
    ResponseKey,
    /// Letters, digits and underscore only (RES-question-09).
    ResponseName,
    /// Elements have different `key` members (ERR-40).
    UniqueKeys,
    /// Entries of the form `<system_name>:<id>` (TYP-13).
    Identifiers,
}

/// One link of a kind.
#[derive(Debug)]
pub struct LinkSpec {
    /// Name on the wire without prefix.
    pub name: &'static str,
    /// The doc comment of the table, which ends with the requirement row in brackets.
    pub doc: &'static str,
    /// Where it leads.
    pub target: LinkTarget,
}

impl LinkSpec {
    /// The requirement row named at the end of the doc comment.
    #[must_use]
    pub fn row(&self) -> Option<&'static str> {
        let (_, row) = self.doc.trim().strip_suffix(").")?.rsplit_once('(')?;
        Some(row)
    }
}

/// Where a link leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkTarget {
    /// To the collection of a kind under this record.
    Many {
        /// The kind of the members.
        kind: Kind,
        /// Whether it is a second name of a collection that another link names already (HLP-21).
        alias: bool,
    },
    /// To one record.
    One {
        /// The kind of the record.
        kind: Kind,
        /// When a client may send it.
        write: LinkWrite,
    },
    /// To a helper of this record.
    Helper(HelperName),
}

/// When a client may send a link in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkWrite {
    /// Never: the system sets it.
    Never,
    /// On create.
    Create,
    /// On create, and it must (CRU-02).
    Required,
    /// On create and on update, where `null` clears it (CRU-16).
    Update,
}

/// The fields that every resource has (TYP-13 to TYP-16).
pub const COMMON: &ObjectSchema = &ObjectSchema {
    name: "common",
    fields: &[
        Field {
            name: "identifiers",
            doc: "Identifiers of the form `<system_name>:<id>` (TYP-13).",
            ty: Type::Array(&Type::String),
            mode: Mode::Stored,
            rules: &[Rule::Identifiers, Rule::Unique],
        },
        Field {
            name: "created_date",
            doc: "When the record was created (TYP-15).",
            ty: Type::Timestamp,
            mode: Mode::Computed,
            rules: &[],
        },
        Field {
            name: "modified_date",
            doc: "When the record was last changed (TYP-16).",
            ty: Type::Timestamp,
            mode: Mode::Computed,
            rules: &[],
        },
    ],
};

/// No rules between fields.
pub fn no_rules(_: &mut Rules<'_>) {}

/// Adds the nested computed members that are missing, each as zero, so that stored bytes are ready for the wire.
///
/// Computed fields of the top level are not touched: they are spliced in by the renderer.
pub fn fill_nested_computed(schema: &ObjectSchema, object: &mut Object) {
    for (name, value) in object.iter_mut() {
        let Some(inner) = schema.field(name).and_then(|field| field.ty.object()) else { continue };
        for member in value.objects_mut() {
            for field in inner.fields.iter().filter(|field| field.is_computed()) {
                if !member.contains(field.name) {
                    member.insert(field.name, crate::read::Json::integer(0));
                }
            }
            fill_nested_computed(inner, member);
        }
    }
}
