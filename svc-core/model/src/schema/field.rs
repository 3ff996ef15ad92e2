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
    pub row: &'static str,
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
    /// The client must set it on create.
    ///
    /// Requirements: CAP-05.
    Required,
    /// The client may set it; omitted on create it has this value.
    ///
    /// Requirements: CAP-08.
    Default(&'static str),
    /// The client may set it; omitted on create it is the time of receipt.
    ///
    /// Requirements: CAP-08.
    ReceiptTime,
    /// The system keeps it; a value sent by a client is ignored.
    ///
    /// Requirements: CAP-06.
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
    Outside,
    /// The relation of a kind, the same for every record.
    ///
    /// Requirements: UND-05, UND-06.
    Relation(Kind),
    /// The number of records of the kind under this one.
    Count(Kind),
    /// The records of the kind under this one that accept.
    ///
    /// Requirements: RES-event-18.
    Accepted(Kind),
    /// How many the sum of the records of the kind under this one is made of: the tickets that
    /// attendances bought, or the donations that are summed; in a part of this record, of that
    /// part.
    ///
    /// Requirements: RES-event-16, RES-event-19, RES-fundraising_page-09.
    Number(Kind),
    /// The money of the records of the kind under this one; in a part of this record, that of that
    /// part.
    ///
    /// Requirements: RES-event-17, RES-event-20, RES-fundraising_page-10.
    Sum(Kind),
    /// When sending starts.
    ///
    /// Requirements: RES-message-01.
    ScheduledStart,
    /// When sending stops.
    ///
    /// Requirements: RES-message-02.
    ScheduledStop,
}

impl ComputedSource {
    /// The kind whose records under this one are added up; `None` where nothing is.
    #[must_use]
    pub const fn adds_up(self) -> Option<Kind> {
        match self {
            Self::Count(kind) | Self::Accepted(kind) | Self::Number(kind) | Self::Sum(kind) => {
                Some(kind)
            }
            Self::Clock
            | Self::Outside
            | Self::Relation(_)
            | Self::ScheduledStart
            | Self::ScheduledStop => None,
        }
    }
}

/// The type of a value on the wire.
///
/// Requirements: TYP-01 to TYP-12.
#[derive(Debug, Clone, Copy)]
pub enum ValueType {
    /// JSON string.
    ///
    /// Requirements: TYP-01.
    String,
    /// JSON number without a fraction, 64-bit.
    ///
    /// Requirements: TYP-02.
    Integer,
    /// JSON number, 64-bit float.
    ///
    /// Requirements: TYP-03.
    Float,
    /// JSON number, exact decimal.
    ///
    /// Requirements: TYP-03, TYP-04.
    Amount,
    /// JSON true or false.
    ///
    /// Requirements: TYP-05.
    Boolean,
    /// ISO 8601 timestamp.
    ///
    /// Requirements: TYP-06.
    Timestamp,
    /// ISO 8601 calendar date.
    ///
    /// Requirements: TYP-07.
    Date,
    /// Closed list of values.
    ///
    /// Requirements: TYP-08.
    Enum(&'static [&'static str]),
    /// Listed values plus any other string.
    ///
    /// Requirements: TYP-09.
    FlexEnum(&'static [&'static str]),
    /// A flag that is sent as a boolean or as the strings `true` and `false`.
    ///
    /// Requirements: RES-phone_number-01.
    Flag,
    /// An address or an identifier of a record: a string, or an object with `href`.
    ///
    /// Requirements: RES-canvass-09.
    Reference,
    /// Object with string values under free keys.
    ///
    /// Requirements: RES-person-36.
    StringMap,
    /// JSON array of one type.
    ///
    /// Requirements: TYP-12.
    Array(&'static ValueType),
    /// One object or an array of such objects.
    ///
    /// Requirements: RES-canvass-08.
    OneOrMany(&'static ValueType),
    /// JSON object with the fields of a table.
    ///
    /// Requirements: TYP-11.
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
    /// An e-mail address: has an `@` and no control characters.
    ///
    /// Requirements: RES-email_address-03.
    Email,
    /// Text without control characters, such as line breaks: it may become the header of a mail.
    ///
    /// Requirements: RES-event-43, UND-10.
    OneLine,
    /// Two letters, ISO 3166-1 alpha-2.
    ///
    /// Requirements: RES-postal_address-09.
    CountryCode,
    /// A code of ISO 4217 in any case, kept in capitals.
    ///
    /// Requirements: RES-fundraising_page-11.
    CurrencyCode,
    /// Two letters, the last part of a code of ISO 3166-2.
    ///
    /// Requirements: RES-postal_address-07.
    RegionCode,
    /// Two or three letters, ISO 639.
    ///
    /// Requirements: RES-postal_address-10.
    LanguageCode,
    /// A well-formed tag of RFC 5646, or a list of them.
    ///
    /// Requirements: RES-person-17, RES-person-18.
    LanguageTag,
    /// Elements whose `number` begins with the country code of their `country`.
    ///
    /// Requirements: RES-phone_number-03.
    CountryCalls,
    /// Digits only; a JSON number and the usual separators are accepted.
    ///
    /// Requirements: RES-phone_number-03.
    PhoneNumber,
    /// One leading `@` is removed.
    ///
    /// Requirements: RES-person-35.
    WithoutAt,
    /// Duplicates are collapsed, the first stays.
    ///
    /// Requirements: RES-person-16.
    Unique,
    /// No two records of a tenant have the same.
    ///
    /// Requirements: UND-02, UND-03.
    UniqueName,
    /// At most one element has `primary` true.
    ///
    /// Requirements: RES-postal_address-02.
    OnePrimary,
    /// Letters and digits only.
    ///
    /// Requirements: RES-question-08.
    ResponseKey,
    /// Letters, digits and underscore only.
    ///
    /// Requirements: RES-question-09.
    ResponseName,
    /// Elements have different `key` members.
    ///
    /// Requirements: ERR-40.
    UniqueKeys,
    /// Entries of the form `<system_name>:<id>`.
    ///
    /// Requirements: TYP-13.
    Identifiers,
}
