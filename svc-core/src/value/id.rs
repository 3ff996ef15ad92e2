//! Ids of records.

use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

/// The id of a record in its own address (UND-41): 1 to 64 of `[A-Za-z0-9_-]`. A clone costs no allocation.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(Arc<str>);

/// Last path segments that mean something else where an id could stand (UND-41).
const RESERVED: [&str; 2] = ["person_signup", "person_signup_helper"];

impl Id {
    /// The longest id, in characters (UND-41).
    pub const MAX_LEN: usize = 64;

    /// The id with this text, if the text follows the grammar (UND-41).
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let length = (1..=Self::MAX_LEN).contains(&text.len());
        let grammar = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        (length && grammar && !RESERVED.contains(&text)).then(|| Self(Arc::from(text)))
    }

    /// The text of the id, as it stands in addresses.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Uuid> for Id {
    /// The UUID in its canonical text form.
    fn from(uuid: Uuid) -> Self {
        // Hex digits and hyphens follow the grammar, and no reserved word looks like that.
        Self(Arc::from(&*uuid.as_hyphenated().encode_lower(&mut Uuid::encode_buffer())))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({})", self.0)
    }
}

impl AsRef<str> for Id {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn und_41_ids_follow_the_grammar() {
        let longest = "x".repeat(64);
        for good in ["a", "0", "-", "_", "d91b4b2e-ae0e-4cd3-9ed7-d0ec501b0bc3", "person_signup2", &longest] {
            assert_eq!(Id::new(good).as_ref().map(Id::as_str), Some(good), "UND-41");
        }
        let too_long = "x".repeat(65);
        for bad in ["", &too_long, "a b", "a/b", "a.b", "é", "a\0", "a%20", "person_signup", "person_signup_helper"] {
            assert_eq!(Id::new(bad), None, "UND-41: {bad:?}");
        }
    }
}
