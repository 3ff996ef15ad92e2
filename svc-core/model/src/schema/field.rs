//! Fields: type, rules, who sets them, and where computed ones come from.

use super::ObjectSchema;
use crate::names::Kind;

/// One field of the interface.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FieldSpec {
    /// Name on the wire.
    pub name: &'static str,
    /// The requirement row that it answers, such as `RES-petition-02`.
    pub requirement: &'static str,
    /// What it is, in a phrase without a full stop.
    pub doc: &'static str,
    /// Its type.
    pub ty: ValueType,
    /// Who sets it, and when.
    pub mode: FieldMode,
    /// Rules beyond the type.
    pub rules: &'static [FieldRule],
}

impl FieldSpec {
    /// Whether the system keeps the value, so that a client's value is ignored.
    #[must_use]
    pub const fn is_computed(&self) -> bool {
        matches!(self.mode, FieldMode::Computed(_))
    }

    /// Where the value comes from, when the system keeps it.
    #[must_use]
    pub const fn source(&self) -> Option<ComputedSource> {
        match self.mode {
            FieldMode::Computed(source) => Some(source),
            _ => None,
        }
    }
}

/// Who sets a field, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldMode {
    /// The client may set it.
    Stored,
    /// The client must set it on create (CAP-05).
    Required,
    /// The client may set it; omitted on create it has this value (CAP-08).
    Default(&'static str),
    /// The client may set it; omitted on create it is the time of receipt (CAP-08).
    ReceiptTime,
    /// The system keeps it; a value sent by a client is ignored (CAP-06).
    Computed(ComputedSource),
}

/// Where the value of a computed field comes from.
///
/// A store matches it without a wildcard: a source that is added here does not compile until each
/// store has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComputedSource {
    /// The clock of the store, at the write.
    Clock,
    /// Nothing of the interface: what is counted lies outside of it, so that the value is always 0.
    AlwaysZero,
    /// The relation of a kind, the same for every record (UND-05, UND-06).
    Relation(Kind),
    /// The number of records of the kind under this one.
    Count(Kind),
    /// The records of the kind under this one that accept (RES-event-18).
    Accepted(Kind),
    /// How many the sum of the records of the kind under this one is made of: the tickets that
    /// attendances bought, or the donations that are summed; in a part of this record, of that part
    /// (RES-event-16, RES-event-19, RES-fundraising_page-09).
    SummedCount(Kind),
    /// The money of the records of the kind under this one; in a part of this record, that of that
    /// part (RES-event-17, RES-event-20, RES-fundraising_page-10).
    SummedAmount(Kind),
    /// When sending starts (RES-message-01).
    ScheduledStart,
    /// When sending stops (RES-message-02).
    ScheduledStop,
}

impl ComputedSource {
    /// The kind whose records under this one are added up; `None` where nothing is.
    #[must_use]
    pub const fn summed_kind(self) -> Option<Kind> {
        match self {
            Self::Count(kind) | Self::Accepted(kind) | Self::SummedCount(kind) | Self::SummedAmount(kind) => {
                Some(kind)
            }
            Self::Clock
            | Self::AlwaysZero
            | Self::Relation(_)
            | Self::ScheduledStart
            | Self::ScheduledStop => None,
        }
    }
}

/// The type of a value on the wire (TYP-01 to TYP-12).
#[derive(Debug, Clone, Copy)]
pub enum ValueType {
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
    /// An address or an identifier of a record: a string, or an object with `href`
    /// (RES-canvass-09).
    Reference,
    /// Object with string values under free keys (RES-person-36).
    StringMap,
    /// JSON array of one type (TYP-12).
    Array(&'static ValueType),
    /// One object or an array of such objects (RES-canvass-08).
    OneOrMany(&'static ValueType),
    /// JSON object with the fields of a table (TYP-11).
    Object(&'static ObjectSchema),
}

impl ValueType {
    /// The object table of this type, also inside an array.
    #[must_use]
    pub const fn object(&self) -> Option<&'static ObjectSchema> {
        match self {
            Self::Object(schema) => Some(schema),
            Self::Array(item) | Self::OneOrMany(item) => item.object(),
            _ => None,
        }
    }
}

/// A rule on one field beyond its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldRule {
    /// A number between two bounds, both included.
    Between(i64, i64),
    /// A number that is not below zero.
    NotNegative,
    /// An e-mail address: has an `@` and no control characters (RES-email_address-03).
    Email,
    /// Text without control characters, such as line breaks: it may become the header of a mail
    /// (RES-event-43, UND-10).
    OneLine,
    /// Two letters, ISO 3166-1 alpha-2 (RES-postal_address-09).
    CountryCode,
    /// A code of ISO 4217 in any case, kept in capitals (RES-fundraising_page-11).
    CurrencyCode,
    /// Two letters, the last part of a code of ISO 3166-2 (RES-postal_address-07).
    RegionCode,
    /// Two or three letters, ISO 639 (RES-postal_address-10).
    LanguageCode,
    /// A well-formed tag of RFC 5646, or a list of them (RES-person-17, RES-person-18).
    LanguageTag,
    /// Elements whose `number` begins with the country code of their `country`
    /// (RES-phone_number-03).
    CountryCalls,
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
