//! What a declaration lets a client do with the records of a kind.

/// What a declaration lets a client do with records of a kind: more than one operation, or one with
/// fields that it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// Make one: by a create, or by its helper.
    Make,
    /// Make one with fields of its own.
    Send,
    /// Make one without a field, and see that it is not set.
    Omit,
    /// Change fields of one that was made, and read it again.
    Change,
    /// Empty a field of one that was made.
    Empty,
    /// Replace a list of one that was made.
    Arrays,
    /// Create one without a field that is required.
    Lack,
    /// Send a field of one that breaks a rule.
    Break,
    /// Send fields of a new one that break a rule each.
    BreakTwo,
}

/// The abilities, as `<collection>.<ability>`.
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
    /// What must be declared for it, in words.
    pub(super) const fn said(self) -> &'static str {
        match self {
            Self::Make => "no create and no helper that makes one",
            Self::Send => "no way to make one with a field that a client may send",
            Self::Omit => "no way to make one without a field that it shows",
            Self::Change => {
                "no way to make, read and update one with a field that a client may send"
            }
            Self::Empty => "no update of a field that may be empty",
            Self::Arrays => "no update of a list",
            Self::Lack => "no create with a required field",
            Self::Break => "no create and no update of a field that a rule is declared for",
            Self::BreakTwo => "no create with two fields that a rule is declared for",
        }
    }
}
