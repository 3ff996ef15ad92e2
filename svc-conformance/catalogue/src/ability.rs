//! What a declaration allows a client to do with the records of a kind.

/// What a declaration allows a client to do with records of a kind: more than one operation, or one
/// with certain fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// Create a record, directly or with its helper.
    Make,
    /// Create a record with fields of the client.
    Send,
    /// Create a record without a field, and see that it is not set.
    Omit,
    /// Change fields of a created record, and read it again.
    Change,
    /// Clear a field of a created record.
    Empty,
    /// Replace a list of a created record.
    Arrays,
    /// Create a record without a required field.
    Lack,
    /// Send a field that violates a rule.
    Break,
    /// Send two fields of a new record that each violate a rule.
    BreakTwo,
}

/// The abilities, in the form `<collection>.<ability>`.
pub const ABILITIES: &[(&str, Ability)] = &[
    ("make", Ability::Make),
    ("send", Ability::Send),
    ("omit", Ability::Omit),
    ("change", Ability::Change),
    ("empty", Ability::Empty),
    ("arrays", Ability::Arrays),
    ("lack", Ability::Lack),
    ("break", Ability::Break),
    ("break_two", Ability::BreakTwo),
];

impl Ability {
    /// Returns what must be declared for it, in words.
    pub(super) const fn said(self) -> &'static str {
        match self {
            Self::Make => "no create and no helper that creates one",
            Self::Send => "no way to create one with a field that a client may send",
            Self::Omit => "no way to create one without a field that it shows",
            Self::Change => {
                "no way to create, read and update one with a field that a client may send"
            }
            Self::Empty => "no update of a field that may be empty",
            Self::Arrays => "no update of a list",
            Self::Lack => "no create with a required field",
            Self::Break => "no create and no update with a field that has a declared rule",
            Self::BreakTwo => "no create with two fields that have declared rules",
        }
    }
}
