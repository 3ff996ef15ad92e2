//! The names that stand in for the interface maker's own (HAL-09 to HAL-11).

use crate::schema::ShareNames;

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
