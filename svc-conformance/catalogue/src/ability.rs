//! What a declaration allows a client to do with the records of a kind.

/// What a declaration allows a client to do with records of a kind: more than one operation, or one
/// with certain fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// Create a record, directly or with its helper.
    Create,
    /// Create a record with fields of the client.
    Send,
    /// Create a record without a field, and see that it is not set.
    Omit,
    /// Change fields of a created record, and read it again.
    Change,
    /// Clear a field of a created record.
    Clear,
    /// Replace a list of a created record.
    ReplaceArrays,
    /// Create a record without a required field.
    OmitRequired,
    /// Send a field that violates a rule.
    Invalid,
    /// Send two fields of a new record that each violate a rule.
    TwoInvalid,
}

/// The abilities, in the form `<collection>.<ability>`.
pub const ABILITIES: &[(&str, Ability)] = &[
    ("make", Ability::Create),
    ("send", Ability::Send),
    ("omit", Ability::Omit),
    ("change", Ability::Change),
    ("empty", Ability::Clear),
    ("arrays", Ability::ReplaceArrays),
    ("lack", Ability::OmitRequired),
    ("break", Ability::Invalid),
    ("break_two", Ability::TwoInvalid),
];

impl Ability {
    /// Returns what a declaration has that allows it, in words.
    pub(super) const fn describe_declared(self) -> &'static str {
        match self {
            Self::Create => "a create, or a helper that creates one,",
            Self::Send => "a way to create one with a field that a client may send",
            Self::Omit => "a way to create one without a field that it shows",
            Self::Change => {
                "a way to create, read and update one with a field that a client may send"
            }
            Self::Clear => "an update of a field that may be empty",
            Self::ReplaceArrays => "an update of a list",
            Self::OmitRequired => "a create with a required field",
            Self::Invalid => "a create or an update with a field that has a declared rule",
            Self::TwoInvalid => "a create with two fields that have declared rules",
        }
    }

    /// Returns what a declaration lacks that does not allow it, in words.
    pub(super) const fn describe(self) -> &'static str {
        match self {
            Self::Create => "no create and no helper that creates one",
            Self::Send => "no way to create one with a field that a client may send",
            Self::Omit => "no way to create one without a field that it shows",
            Self::Change => {
                "no way to create, read and update one with a field that a client may send"
            }
            Self::Clear => "no update of a field that may be empty",
            Self::ReplaceArrays => "no update of a list",
            Self::OmitRequired => "no create with a required field",
            Self::Invalid => "no create and no update with a field that has a declared rule",
            Self::TwoInvalid => "no create with two fields that have declared rules",
        }
    }
}
