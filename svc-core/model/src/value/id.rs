//! Ids of records.

use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

/// The id of a record: 1 to 64 characters of `[A-Za-z0-9_-]`. Cloning does not allocate.
///
/// Requirements: UND-41.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(Arc<str>);

/// The last path segments that have another meaning where an id could be.
///
/// Requirements: UND-41.
const RESERVED: [&str; 2] = ["person_signup", "person_signup_helper"];

impl Id {
    /// The maximum length of an id in characters.
    ///
    /// Requirements: UND-41.
    pub const MAX_LEN: usize = 64;

    /// Creates an id if the text follows the grammar.
    ///
    /// Requirements: UND-41.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let length = (1..=Self::MAX_LEN).contains(&text.len());
        let grammar = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        (length && grammar && !RESERVED.contains(&text)).then(|| Self(Arc::from(text)))
    }

    /// Returns the text of the id, as in URLs.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the number that the id was created from, if the ids of a vendor are numbers.
    ///
    /// Returns `None` for any other text, including other spellings of a number, so that a record
    /// has one URL only.
    ///
    /// ```
    /// # use svc_core::value::Id;
    /// assert_eq!(Id::from(1007).as_number(), Some(1007));
    /// assert_eq!(Id::new("01007").and_then(|id| id.as_number()), None);
    /// ```
    #[must_use]
    pub fn as_number(&self) -> Option<i64> {
        self.0
            .parse()
            .ok()
            .filter(|number: &i64| number.to_string() == *self.0)
    }

    /// Returns the UUID that this id was created [from](Self::from), for a store whose ids are
    /// UUIDs.
    ///
    /// Returns `None` for any other id or spelling, which is then reported as not found.
    ///
    /// ```
    /// # use svc_core::value::Id;
    /// let id = Id::new("0198f000-0000-7000-8000-00000000000a").unwrap();
    /// assert_eq!(Id::from(id.as_uuid().unwrap()), id);
    /// assert_eq!(Id::new("0198F000-0000-7000-8000-00000000000A").and_then(|id| id.as_uuid()), None);
    /// ```
    ///
    /// Requirements: UND-41.
    #[must_use]
    pub fn as_uuid(&self) -> Option<Uuid> {
        let uuid = Uuid::try_parse(self.as_str()).ok()?;
        (uuid
            .as_hyphenated()
            .encode_lower(&mut Uuid::encode_buffer())
            == self.as_str())
        .then_some(uuid)
    }
}

impl From<i64> for Id {
    /// Creates an id from a number, such as a row number of a vendor's table.
    fn from(number: i64) -> Self {
        // Digits and a minus sign follow the grammar, and no reserved word consists of them.
        Self(Arc::from(number.to_string()))
    }
}

impl From<Uuid> for Id {
    /// Creates an id from the canonical text form of a UUID.
    fn from(uuid: Uuid) -> Self {
        // Hexadecimal digits and hyphens follow the grammar, and no reserved word consists of them.
        Self(Arc::from(
            &*uuid
                .as_hyphenated()
                .encode_lower(&mut Uuid::encode_buffer()),
        ))
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
        for good in [
            "a",
            "0",
            "-",
            "_",
            "d91b4b2e-ae0e-4cd3-9ed7-d0ec501b0bc3",
            "person_signup2",
            &longest,
        ] {
            assert_eq!(Id::new(good).as_ref().map(Id::as_str), Some(good), "UND-41");
        }
        let too_long = "x".repeat(65);
        assert_eq!(
            [i64::MIN, -1, 0, i64::MAX].map(|n| Id::from(n).as_number()),
            [i64::MIN, -1, 0, i64::MAX].map(Some)
        );
        for other in ["-0", "007", "9223372036854775808", "7a", "--7", "0198-a"] {
            assert_eq!(
                Id::new(other).and_then(|id| id.as_number()),
                None,
                "UND-41: {other}"
            );
        }
        for bad in [
            "",
            &too_long,
            "a b",
            "a/b",
            "a.b",
            "é",
            "a\0",
            "a%20",
            "person_signup",
            "person_signup_helper",
        ] {
            assert_eq!(Id::new(bad), None, "UND-41: {bad:?}");
        }
    }
}
