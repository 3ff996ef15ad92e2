//! The names that stand in for the interface maker's own (HAL-09 to HAL-11).

use crate::read::{Json, Object};

/// The names of a deployment: relation prefix, key header, version field, share objects (HAL-09, HAL-10, HAL-11).
///
/// The specification writes `svc`, `SVC-API-Token`, `svc_version`, `network_a_share` and `network_b_share`, which is the
/// default here, and says that they stand in for the interface maker's own; a real deployment sets others.
///
/// # Examples
///
/// ```
/// use svc_core::link::{Dialect, ShareNames};
///
/// let dialect = Dialect::with_prefix("abc").ok_or("prefix")?;
/// assert_eq!(dialect.relation("people"), "abc:people");
/// assert_eq!(dialect.key_header_text(), "ABC-API-Token");
/// assert_eq!(dialect.version_field(), "abc_version");
///
/// let names = ShareNames::new("birdsite_share", "facesite_share").ok_or("names")?;
/// assert_eq!(dialect.share_object_names(names).share_names().to_wire("network_a_share"), "birdsite_share");
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialect {
    prefix: String,
    key_header: http::HeaderName,
    version_field: String,
    share_names: ShareNames,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            prefix: "svc".to_owned(),
            key_header: http::HeaderName::from_static("svc-api-token"),
            version_field: "svc_version".to_owned(),
            share_names: ShareNames::default(),
        }
    }
}

impl Dialect {
    /// A dialect whose names all follow from the prefix: `abc` gives `ABC-API-Token` and `abc_version`.
    ///
    /// `None` unless the prefix is 1 to 32 of `[a-z0-9_]`, beginning with a letter.
    #[must_use]
    pub fn with_prefix(prefix: &str) -> Option<Self> {
        let letters = |text: &str| text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        let begins = prefix.bytes().next().is_some_and(|b| b.is_ascii_lowercase());
        if prefix.len() > 32 || !begins || !letters(prefix) {
            return None;
        }
        Some(Self {
            prefix: prefix.to_owned(),
            key_header: format!("{prefix}-api-token").parse().ok()?,
            version_field: format!("{prefix}_version"),
            share_names: ShareNames::default(),
        })
    }

    /// With another name of the key header (HAL-10).
    #[must_use]
    pub fn key_header_name(mut self, name: http::HeaderName) -> Self {
        self.key_header = name;
        self
    }

    /// With another name of the version field on the entry point (ENT-06).
    #[must_use]
    pub fn version_field_name(mut self, name: impl Into<String>) -> Self {
        self.version_field = name.into();
        self
    }

    /// With other names of the two network share objects (HAL-11).
    #[must_use]
    pub fn share_object_names(mut self, names: ShareNames) -> Self {
        self.share_names = names;
        self
    }

    /// The relation prefix (HAL-09).
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The header that carries the API key (HAL-10). Header names are matched without case.
    #[must_use]
    pub fn key_header(&self) -> &http::HeaderName {
        &self.key_header
    }

    /// The key header in the capitals people write: `SVC-API-Token`.
    #[must_use]
    pub fn key_header_text(&self) -> String {
        match self.key_header.as_str().strip_suffix("-api-token") {
            Some(prefix) => format!("{}-API-Token", prefix.to_ascii_uppercase()),
            None => self.key_header.as_str().to_owned(),
        }
    }

    /// The name of the version field on the entry point (ENT-06).
    #[must_use]
    pub fn version_field(&self) -> &str {
        &self.version_field
    }

    /// The names of the two network share objects (HAL-11).
    #[must_use]
    pub fn share_names(&self) -> &ShareNames {
        &self.share_names
    }

    /// A relation with the prefix: `svc:person` for `person`.
    #[must_use]
    pub fn relation(&self, name: &str) -> String {
        format!("{}:{name}", self.prefix)
    }

    /// The name behind the prefix: `person` for `svc:person`.
    #[must_use]
    pub fn without_prefix<'a>(&self, relation: &'a str) -> Option<&'a str> {
        relation.strip_prefix(self.prefix.as_str())?.strip_prefix(':')
    }
}

/// What the two network share objects are called on the wire (HAL-11).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareNames {
    network_a: String,
    network_b: String,
}

const NETWORK_A: &str = "network_a_share";
const NETWORK_B: &str = "network_b_share";

impl Default for ShareNames {
    fn default() -> Self {
        Self { network_a: NETWORK_A.to_owned(), network_b: NETWORK_B.to_owned() }
    }
}

impl ShareNames {
    /// Names for the first and the second network.
    ///
    /// `None` unless both are 1 to 64 of `[A-Za-z0-9_]`, different from each other and from `email_share`.
    #[must_use]
    pub fn new(network_a: &str, network_b: &str) -> Option<Self> {
        let good = |name: &str| {
            (1..=64).contains(&name.len())
                && name != "email_share"
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        let names = Self { network_a: network_a.to_owned(), network_b: network_b.to_owned() };
        (good(network_a) && good(network_b) && network_a != network_b).then_some(names)
    }

    /// The name of the first network's share object.
    #[must_use]
    pub fn network_a(&self) -> &str {
        &self.network_a
    }

    /// The name of the second network's share object.
    #[must_use]
    pub fn network_b(&self) -> &str {
        &self.network_b
    }

    /// The wire name for a name of the tables; any other name stays.
    #[must_use]
    pub fn to_wire<'a>(&'a self, name: &'a str) -> &'a str {
        match name {
            NETWORK_A => &self.network_a,
            NETWORK_B => &self.network_b,
            other => other,
        }
    }

    /// The name of the tables for a wire name; any other name stays.
    #[must_use]
    pub fn from_wire<'a>(&self, name: &'a str) -> &'a str {
        if name == self.network_a {
            NETWORK_A
        } else if name == self.network_b {
            NETWORK_B
        } else {
            name
        }
    }

    /// Whether the names are those of the tables, so that nothing has to be renamed.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.network_a == NETWORK_A && self.network_b == NETWORK_B
    }

    /// Renames the share objects in a record's fields from the names of the tables to those of the wire.
    pub fn rename_to_wire(&self, fields: &mut Object) {
        self.rename(fields, |names, name| names.to_wire(name).to_owned());
    }

    /// Renames the share objects in a record's fields from the names of the wire to those of the tables.
    pub fn rename_from_wire(&self, fields: &mut Object) {
        self.rename(fields, |names, name| names.from_wire(name).to_owned());
    }

    fn rename(&self, fields: &mut Object, name_of: impl Fn(&Self, &str) -> String) {
        if self.is_default() {
            return;
        }
        let Some(Json::Array(options)) = fields.get_mut("share_options") else { return };
        for option in options {
            if let Json::Object(members) = option {
                let renamed = std::mem::take(members).into_iter().map(|(name, value)| (name_of(self, &name), value));
                *members = renamed.collect();
            }
        }
    }
}
