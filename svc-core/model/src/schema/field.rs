//! Fields: their types, rules and modes, and the sources of computed fields.

use super::{Measure, ObjectSchema};
use crate::names::Kind;

/// A field of the specification.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FieldSpec {
    /// The name in JSON.
    pub name: &'static str,
    /// The id of its requirement, such as `RES-petition-02`.
    pub requirement: &'static str,
    /// The meaning, as a phrase without a full stop.
    pub doc: &'static str,
    /// The type.
    pub ty: ValueType,
    /// Who sets the field, and when.
    pub mode: FieldMode,
    /// The rules in addition to the type.
    pub rules: &'static [FieldRule],
}

impl FieldSpec {
    /// Returns whether the server computes the value. A value from a client is then ignored.
    #[must_use]
    pub const fn is_computed(&self) -> bool {
        matches!(self.mode, FieldMode::Computed(_))
    }

    /// Returns whether the value is an e-mail address or a phone number.
    #[must_use]
    pub fn is_address(&self) -> bool {
        self.rules.contains(&FieldRule::Email) || self.is_phone_number()
    }

    /// Returns whether the value is a phone number.
    pub(crate) const fn is_phone_number(&self) -> bool {
        let mut rest = self.rules;
        while let [rule, more @ ..] = rest {
            if matches!(rule, FieldRule::PhoneNumber) {
                return true;
            }
            rest = more;
        }
        false
    }

    /// Returns whether an empty text means that the field has no value. It is a value of names and
    /// other free texts, and wrong in an object or array.
    #[must_use]
    pub fn has_no_empty_text(&self) -> bool {
        match self.ty {
            ValueType::String => self.rules.iter().any(FieldRule::is_of_code_or_address),
            ValueType::Object(_)
            | ValueType::StringMap
            | ValueType::Array(_)
            | ValueType::OneOrMany(_) => false,
            _ => true,
        }
    }

    /// Returns the source of a computed value.
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
    /// The client may set it; otherwise a create sets this value.
    ///
    /// Requirements: CAP-08.
    Default(&'static str),
    /// The client may set it; otherwise a create sets the time of receipt.
    ///
    /// Requirements: CAP-08.
    ReceiptTime,
    /// The server computes it; a value sent by a client is ignored.
    ///
    /// Requirements: CAP-06.
    Computed(ComputedSource),
}

/// The source of a computed field.
///
/// A store matches it without a wildcard. A new source therefore does not compile until each store
/// supports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComputedSource {
    /// The clock of the store at the time of the write.
    Clock,
    /// The API does not contain the counted data, so the value is always 0.
    AlwaysZero,
    /// The API does not contain the counted data, and the field is absent until a backend of a
    /// vendor has a value.
    ///
    /// Requirements: UND-04.
    AlwaysAbsent,
    /// The relation of a kind, the same for every record.
    ///
    /// Requirements: UND-05, UND-06.
    Relation(Kind),
    /// The number of records of the kind under this record.
    Count(Kind),
    /// What a measure computes over the records under this record.
    ///
    /// Requirements: RES-event-18 to RES-event-20, RES-fundraising_page-09,
    /// RES-fundraising_page-10.
    Measure(Measure),
    /// In an element of an array: the part of the measure of the record with this name.
    ///
    /// Requirements: RES-event-16, RES-event-17.
    Part(&'static str),
    /// In an element of an array with parts: the former values of the member that names its part. It
    /// is absent if there are none.
    ///
    /// Requirements: RES-event-11.
    Former(&'static str),
    /// The time when sending starts.
    ///
    /// Requirements: RES-message-01.
    ScheduledStart,
    /// The time when sending stops.
    ///
    /// Requirements: RES-message-02.
    ScheduledStop,
}

impl ComputedSource {
    /// Returns the kind whose records under this one are counted or summed.
    #[must_use]
    pub const fn measured_kind(self) -> Option<Kind> {
        match self {
            Self::Count(kind) => Some(kind),
            Self::Measure(measure) => Some(measure.of),
            Self::Clock
            | Self::AlwaysZero
            | Self::AlwaysAbsent
            | Self::Relation(_)
            | Self::Part(_)
            | Self::Former(_)
            | Self::ScheduledStart
            | Self::ScheduledStop => None,
        }
    }
}

/// The type of a JSON value.
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
    /// Listed values or any other string.
    ///
    /// Requirements: TYP-09.
    FlexEnum(&'static [&'static str]),
    /// A flag, sent as a boolean or as one of the strings `true` and `false`.
    ///
    /// Requirements: RES-phone_number-01.
    Flag,
    /// A URL or an identifier of a record: a string, or an object with `href`.
    ///
    /// Requirements: RES-canvass-09.
    Reference,
    /// An object with arbitrary keys and string values.
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
    /// Returns the table of the object, or of the objects of an array.
    #[must_use]
    pub const fn object(&self) -> Option<&'static ObjectSchema> {
        match self {
            Self::Object(schema) => Some(schema),
            Self::Array(item) | Self::OneOrMany(item) => item.object(),
            _ => None,
        }
    }
}

/// A rule for a field in addition to its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldRule {
    /// A number between two bounds, inclusive.
    Between(i64, i64),
    /// A number that is not negative.
    NotNegative,
    /// One e-mail address; it is stored without white space at both ends. See
    /// [`stored_email`](crate::value::stored_email).
    ///
    /// Requirements: RES-email_address-03.
    Email,
    /// Text without control characters such as line breaks, because it may become an e-mail header.
    ///
    /// Requirements: RES-event-43, UND-10.
    OneLine,
    /// A code of ISO 3166-1 alpha-2; it is case-insensitive and stored in capitals.
    ///
    /// Requirements: RES-postal_address-09.
    CountryCode,
    /// A code of ISO 4217; it is case-insensitive and stored in capitals.
    ///
    /// Requirements: RES-fundraising_page-11.
    CurrencyCode,
    /// The last part of an ISO 3166-2 code: one to three letters or digits, stored in capitals.
    ///
    /// Requirements: RES-postal_address-07.
    RegionCode,
    /// Addresses whose `region` is possible in their `country`.
    ///
    /// Requirements: RES-postal_address-07.
    CountryRegions,
    /// Two or three letters, ISO 639.
    ///
    /// Requirements: RES-postal_address-10.
    LanguageCode,
    /// A well-formed RFC 5646 tag, or a list of them.
    ///
    /// Requirements: RES-person-17, RES-person-18.
    LanguageTag,
    /// Elements whose `number` starts with the country code of their `country`.
    ///
    /// Requirements: RES-phone_number-03.
    CountryCalls,
    /// Digits only; a JSON number, and the notations of [`stored_phone`](crate::value::stored_phone), are
    /// accepted.
    ///
    /// Requirements: RES-phone_number-03.
    PhoneNumber,
    /// Every leading `@` is removed.
    ///
    /// Requirements: RES-person-35.
    WithoutAt,
    /// Duplicates are removed; the first one remains.
    ///
    /// Requirements: RES-person-16.
    Unique,
    /// Not blank, and unique among the records of a tenant, without regard to case and composition. See
    /// [`name_key`](crate::filter::name_key).
    ///
    /// Requirements: UND-02, UND-03.
    UniqueName,
    /// Elements with the same address are merged into the first of them.
    ///
    /// Requirements: RES-person-29.
    MergedEntries,
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
    /// Elements must have different `key` members.
    ///
    /// Requirements: ERR-40.
    UniqueKeys,
    /// Entries of the form `<system_name>:<id>`.
    ///
    /// Requirements: TYP-13.
    Identifiers,
}

impl FieldRule {
    /// Returns whether texts are stored exactly as they are sent, with white space at both ends.
    ///
    /// Requirements: UND-49.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        matches!(
            self,
            Self::Identifiers | Self::ResponseKey | Self::ResponseName
        )
    }

    /// Returns whether an empty text means that there is no value, as in forms and tables.
    const fn is_of_code_or_address(&self) -> bool {
        matches!(
            self,
            Self::Email
                | Self::PhoneNumber
                | Self::CountryCode
                | Self::CurrencyCode
                | Self::RegionCode
                | Self::LanguageCode
                | Self::LanguageTag
        )
    }
}
