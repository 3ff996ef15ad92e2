//! The tables as constant data: what every resource, nested object, link and helper of the interface looks like.
//!
//! Nothing here is written by hand: [`resource!`](crate::describe) and `object!` fill it, and validation, rendering,
//! routing, the capability declaration, documentation and test generators read it.

use std::sync::LazyLock;

use crate::{
    helper::HelperName,
    model::Kind,
    names::Operation,
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
    /// The link by which records under one container differ: there is one for each record that it leads to (UND-38).
    pub once_per: Option<&'static str>,
    /// The operations that the interface does not have for this kind.
    pub without: &'static [Operation],
    /// What only a few kinds have.
    pub peculiar: &'static [Peculiarity],
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

    /// Whether the interface has an operation for this kind.
    #[must_use]
    pub fn has_operation(&self, operation: Operation) -> bool {
        !self.without.contains(&operation) && (operation != Operation::List || self.has_collection())
    }

    /// Whether the kind has something that only a few have.
    #[must_use]
    pub fn has(&self, peculiarity: Peculiarity) -> bool {
        self.peculiar.contains(&peculiarity)
    }

    /// The field whose value no two records of a tenant may share (UND-02, UND-03).
    #[must_use]
    pub fn unique_name(&self) -> Option<&'static Field> {
        self.fields.fields.iter().find(|field| field.rules.contains(&Rule::UniqueName))
    }

    /// The computed field that this is the source of.
    #[must_use]
    pub fn computed_from(&self, source: Source) -> Option<&'static Field> {
        self.fields.fields.iter().find(|field| field.source() == Some(source))
    }

    /// The two links that no two records share, such as `tag` and `person` of a tagging: the container's first (UND-38).
    #[must_use]
    pub fn unique_links(&self) -> Option<[&'static str; 2]> {
        Some([self.parent?, self.once_per?])
    }

    /// Where records of this kind lead, each to one record: its links, and behind them the containers under which it is
    /// listed and that no link names.
    #[must_use]
    pub fn references(&self) -> &'static [Reference] {
        static OF_EACH_KIND: LazyLock<Vec<Vec<Reference>>> =
            LazyLock::new(|| Kind::ALL.iter().map(|kind| Reference::all_of(kind.schema())).collect());
        OF_EACH_KIND.get(self.kind as usize).map_or(&[], Vec::as_slice)
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

/// What only a few kinds have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Peculiarity {
    /// Its id is sent as a member of its own (HLP-20).
    SendsId,
    /// A link to one that does not exist has an error code of its own (Annex C).
    OwnNotFound,
    /// It lives under another kind, and is addressed without its container, too (COL-05).
    ShortAddress,
    /// The specification's list of the entry point's links does not name it (ENT-10 to ENT-21).
    Unlisted,
}

/// Where each record of a kind leads, to one other record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// The link's name, or the singular relation of the kind where no link names it.
    pub name: &'static str,
    /// The kind it leads to.
    pub kind: Kind,
    /// Whether it is sent as a link. Others are known to the store only, such as the canvass that an answer was
    /// recorded by (UND-01).
    pub is_link: bool,
    /// Whether the records are listed under what it leads to (COL-04 to COL-18).
    pub is_scope: bool,
    /// What becomes of the record when the one that it leads to is deleted.
    pub on_delete: OnDelete,
}

impl Reference {
    /// The link from the record that it leads to, to the container of that, when that is part of its address (COL-19).
    #[must_use]
    pub fn home_link(&self) -> Option<&'static str> {
        let schema = self.kind.schema();
        schema.home.and(schema.parent).filter(|_| self.is_link)
    }

    fn all_of(schema: &'static KindSchema) -> Vec<Self> {
        let scopes: Vec<Kind> = schema.scopes().collect();
        let links = schema.links.iter().filter_map(|link| match link.target {
            LinkTarget::One { kind, on_delete, .. } => Some((link.name, kind, on_delete)),
            _ => None,
        });
        let mut all: Vec<Self> = links
            .map(|(name, kind, on_delete)| {
                // A canvass is listed under its target, not under the canvasser.
                let names_scope = Some(name) == schema.parent || name == kind.singular();
                Self { name, kind, is_link: true, is_scope: names_scope && scopes.contains(&kind), on_delete }
            })
            .collect();
        for kind in scopes {
            if !all.iter().any(|known| known.kind == kind && known.is_scope) {
                let on_delete = OnDelete::Clear;
                all.push(Self { name: kind.singular(), kind, is_link: false, is_scope: true, on_delete });
            }
        }
        all
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
    /// The requirement row that it answers, such as `RES-petition-02`.
    pub row: &'static str,
    /// What it is, in a phrase without a full stop.
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
        matches!(self.mode, Mode::Computed(_))
    }

    /// Where the value comes from, when the system keeps it.
    #[must_use]
    pub const fn source(&self) -> Option<Source> {
        match self.mode {
            Mode::Computed(source) => Some(source),
            _ => None,
        }
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
    Computed(Source),
}

/// Where the value of a computed field comes from.
///
/// A store matches it without a wildcard: a source that is added here does not compile until each store has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The clock of the store, at the write.
    Clock,
    /// Nothing of the interface: what is counted lies outside of it, so that the value is always 0.
    Outside,
    /// The relation of a kind, the same for every record (UND-05, UND-06).
    Relation(Kind),
    /// The number of records of the kind under this one.
    Count(Kind),
    /// The records of the kind under this one that accept (RES-event-18).
    Accepted(Kind),
    /// The tickets that records of the kind under this one bought; in a part of this record, those of that part
    /// (RES-event-16, RES-event-19).
    Tickets(Kind),
    /// The money of the records of the kind under this one; in a part of this record, that of that part (RES-event-17,
    /// RES-event-20, RES-fundraising_page-10).
    Sum(Kind),
    /// When sending starts (RES-message-01).
    ScheduledStart,
    /// When sending stops (RES-message-02).
    ScheduledStop,
}

impl Source {
    /// The kind whose records under this one are added up; `None` where nothing is.
    #[must_use]
    pub const fn adds_up(self) -> Option<Kind> {
        match self {
            Self::Count(kind) | Self::Accepted(kind) | Self::Tickets(kind) | Self::Sum(kind) => Some(kind),
            Self::Clock | Self::Outside | Self::Relation(_) | Self::ScheduledStart | Self::ScheduledStop => None,
        }
    }
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
    /// No two records of a tenant have the same (UND-02, UND-03).
    UniqueName,
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
    /// The requirement row that it answers, such as `RES-petition-19`.
    pub row: &'static str,
    /// What it is, in a phrase without a full stop.
    pub doc: &'static str,
    /// Where it leads.
    pub target: LinkTarget,
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
        /// What becomes of the record when the one that it leads to is deleted.
        on_delete: OnDelete,
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

/// What becomes of a record when one is deleted that it leads to (UND-26).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDelete {
    /// It is deleted, too.
    Cascade,
    /// It keeps the other from being deleted.
    Restrict,
    /// It stays, without the link.
    Clear,
}

/// The fields that every resource has (TYP-13 to TYP-16).
pub const COMMON: &ObjectSchema = &ObjectSchema {
    name: "common",
    fields: &[
        Field {
            name: "identifiers",
            row: "TYP-13",
            doc: "Identifiers of the form `<system_name>:<id>`",
            ty: Type::Array(&Type::String),
            mode: Mode::Stored,
            rules: &[Rule::Identifiers, Rule::Unique],
        },
        Field {
            name: "created_date",
            row: "TYP-15",
            doc: "When the record was created",
            ty: Type::Timestamp,
            mode: Mode::Computed(Source::Clock),
            rules: &[],
        },
        Field {
            name: "modified_date",
            row: "TYP-16",
            doc: "When the record was last changed",
            ty: Type::Timestamp,
            mode: Mode::Computed(Source::Clock),
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
