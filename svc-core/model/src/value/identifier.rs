//! Identifiers of records in any system.

use std::fmt;

/// An entry of `identifiers`: `<system_name>:<id>`, split at its first colon.
///
/// Requirements: TYP-13, UND-41.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identifier {
    text: Box<str>,
    colon: usize,
}

impl Identifier {
    /// Parses an identifier: a system name of `[A-Za-z0-9_.-]+`, a colon and a non-empty id.
    ///
    /// Requirements: TYP-13, UND-41.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (system, id) = text.split_once(':')?;
        let good = Self::is_system_name(system) && !id.is_empty();
        good.then(|| Self {
            text: Box::from(text),
            colon: system.len(),
        })
    }

    /// Returns whether the text is a valid system name or namespace: `[A-Za-z0-9_.-]+`.
    ///
    /// Requirements: UND-41.
    #[must_use]
    pub fn is_system_name(text: &str) -> bool {
        !text.is_empty()
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
    }

    /// Returns the system name: the part before the first colon.
    ///
    /// Requirements: UND-41.
    #[must_use]
    pub fn system(&self) -> &str {
        self.text
            .split_at_checked(self.colon)
            .map_or("", |(system, _)| system)
    }

    /// Returns the id in that system: the part after the first colon.
    ///
    /// Requirements: UND-41.
    #[must_use]
    pub fn id(&self) -> &str {
        self.text
            .split_at_checked(self.colon)
            .and_then(|(_, rest)| rest.strip_prefix(':'))
            .unwrap_or("")
    }

    /// Returns the whole text as it was sent.
    ///
    /// Requirements: TYP-13.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl fmt::Debug for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identifier({:?})", self.text)
    }
}

impl AsRef<str> for Identifier {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typ_13_und_41_split_at_the_first_colon() {
        let identifier = Identifier::parse("my.system-1_a:a:b:é").unwrap();
        assert_eq!(
            (identifier.system(), identifier.id()),
            ("my.system-1_a", "a:b:é"),
            "UND-41"
        );
        assert_eq!(identifier.as_str(), "my.system-1_a:a:b:é", "TYP-13");
        for bad in ["", ":", "a:", ":a", "a", "a b:c", "é:c", "a/b:c"] {
            assert_eq!(Identifier::parse(bad), None, "TYP-13: {bad:?}");
        }
    }
}
