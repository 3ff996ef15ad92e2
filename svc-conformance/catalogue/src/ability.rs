//! What a declaration lets a client do with the records of a kind.

/// What a declaration lets a client do with records of a kind: more than one operation, or one with
/// fields that it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// Make one: by a create, or by its helper.
    Create,
    /// Make one with fields of its own.
    Send,
    /// Make one without a field, and see that it is not set.
    Omit,
    /// Change fields of one that was made, and read it again.
    Change,
    /// Empty a field of one that was made.
    Clear,
    /// Replace a list of one that was made.
    ReplaceArrays,
    /// Create one without a field that is required.
    OmitRequired,
    /// Send a field of one that breaks a rule.
    Invalid,
    /// Send fields of a new one that break a rule each.
    TwoInvalid,
}

/// The abilities, as `<collection>.<ability>`.
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
    /// What must be declared for it, in words.
    pub(super) const fn describe(self) -> &'static str {
        match self {
            Self::Create => "no create and no helper that makes one",
            Self::Send => "no way to make one with a field that a client may send",
            Self::Omit => "no way to make one without a field that it shows",
            Self::Change => {
                "no way to make, read and update one with a field that a client may send"
            }
            Self::Clear => "no update of a field that may be empty",
            Self::ReplaceArrays => "no update of a list",
            Self::OmitRequired => "no create with a required field",
            Self::Invalid => "no create and no update of a field that a rule is declared for",
            Self::TwoInvalid => "no create with two fields that a rule is declared for",
        }
    }
}
