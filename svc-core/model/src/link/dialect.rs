//! The names that a deployment chooses.
//!
//! Requirements: HAL-09 to HAL-11.

use svc_declaration::EXTENSIONS;

use crate::schema::ShareNames;

/// The names of a deployment: relation prefixes, key header, version field, share objects.
///
/// The specification writes `svc`, `SVC-API-Token`, `svc_version`, `network_a_share` and
/// `network_b_share` as placeholders. They are the defaults here, and a real deployment sets other
/// names.
///
/// Relations and members that the specification does not define have a separate prefix, `ext` by
/// default. The reason is that published clients stop at an unknown relation with the prefix of the
/// specification.
///
/// # Examples
///
/// ```
/// use svc_core::link::{Dialect, ShareNames};
///
/// let dialect = Dialect::with_prefix("abc").ok_or("prefix")?;
/// assert_eq!(dialect.relation("people"), "abc:people");
/// assert_eq!(dialect.relation("changes"), "ext:changes");
/// assert_eq!(dialect.key_header_text(), "ABC-API-Token");
/// assert_eq!(dialect.version_field(), "abc_version");
///
/// let names = ShareNames::new("birdsite_share", "facesite_share").ok_or("names")?;
/// assert_eq!(dialect.with_share_names(names).share_names().to_wire("network_a_share"), "birdsite_share");
/// # Ok::<(), &str>(())
/// ```
///
/// Requirements: HAL-09, HAL-10, HAL-11, HAL-19.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialect {
    prefix: String,
    extension_prefix: String,
    key_header: http::HeaderName,
    version_field: String,
    share_names: ShareNames,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            prefix: "svc".to_owned(),
            extension_prefix: "ext".to_owned(),
            key_header: http::HeaderName::from_static("svc-api-token"),
            version_field: "svc_version".to_owned(),
            share_names: ShareNames::default(),
        }
    }
}

impl Dialect {
    /// Creates a dialect whose names are derived from the prefix: `abc` gives `ABC-API-Token` and
    /// `abc_version`.
    ///
    /// Returns `None` unless the prefix consists of 1 to 32 characters of `[a-z0-9_]` and starts
    /// with a letter.
    #[must_use]
    pub fn with_prefix(prefix: &str) -> Option<Self> {
        is_prefix(prefix).then_some(())?;
        Some(Self {
            prefix: prefix.to_owned(),
            key_header: format!("{prefix}-api-token").parse().ok()?,
            version_field: format!("{prefix}_version"),
            ..Self::default()
        })
    }

    /// Sets the prefix of extensions.
    ///
    /// Returns `None` unless the prefix consists of 1 to 32 characters of `[a-z0-9_]` and starts
    /// with a letter. Building the API fails if the prefix is also the one of the specification. It
    /// also fails if it is the namespace of the vendor and the API has vendor relations.
    ///
    /// Requirements: HAL-19.
    #[must_use]
    pub fn with_extension_prefix(self, prefix: &str) -> Option<Self> {
        is_prefix(prefix).then(|| Self {
            extension_prefix: prefix.to_owned(),
            ..self
        })
    }

    /// Sets the name of the key header.
    ///
    /// Requirements: HAL-10.
    #[must_use]
    pub fn with_key_header(mut self, name: http::HeaderName) -> Self {
        self.key_header = name;
        self
    }

    /// Sets the name of the version field of the entry point.
    ///
    /// Requirements: ENT-06.
    #[must_use]
    pub fn with_version_field(mut self, name: impl Into<String>) -> Self {
        self.version_field = name.into();
        self
    }

    /// Sets the names of the two network share objects.
    ///
    /// Requirements: HAL-11.
    #[must_use]
    pub fn with_share_names(mut self, names: ShareNames) -> Self {
        self.share_names = names;
        self
    }

    /// Returns the relation prefix.
    ///
    /// Requirements: HAL-09.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns the prefix of [extensions](svc_declaration::EXTENSIONS).
    ///
    /// Requirements: HAL-19.
    #[must_use]
    pub fn extension_prefix(&self) -> &str {
        &self.extension_prefix
    }

    /// Returns the header that carries the API key. Header names are case-insensitive.
    ///
    /// Requirements: HAL-10.
    #[must_use]
    pub fn key_header(&self) -> &http::HeaderName {
        &self.key_header
    }

    /// Returns the key header in its usual capitalization: `SVC-API-Token`.
    #[must_use]
    pub fn key_header_text(&self) -> String {
        match self.key_header.as_str().strip_suffix("-api-token") {
            Some(prefix) => format!("{}-API-Token", prefix.to_ascii_uppercase()),
            None => self.key_header.as_str().to_owned(),
        }
    }

    /// Returns the name of the version field of the entry point.
    ///
    /// Requirements: ENT-06.
    #[must_use]
    pub fn version_field(&self) -> &str {
        &self.version_field
    }

    /// Returns the names of the two network share objects.
    ///
    /// Requirements: HAL-11.
    #[must_use]
    pub fn share_names(&self) -> &ShareNames {
        &self.share_names
    }

    /// Adds the prefix to a relation: `svc:person` for `person`, `ext:changes` for `changes`.
    #[must_use]
    pub fn relation(&self, name: &str) -> String {
        format!("{}:{name}", self.prefix_of(name))
    }

    /// Removes the prefix from a relation: `person` for `svc:person`, `changes` for `ext:changes`.
    #[must_use]
    pub fn strip_prefix<'a>(&self, relation: &'a str) -> Option<&'a str> {
        let (prefix, name) = relation.split_once(':')?;
        (prefix == self.prefix_of(name)).then_some(name)
    }

    fn prefix_of(&self, name: &str) -> &str {
        if EXTENSIONS.contains(&name) {
            &self.extension_prefix
        } else {
            &self.prefix
        }
    }
}

fn is_prefix(text: &str) -> bool {
    let begins = text.bytes().next().is_some_and(|b| b.is_ascii_lowercase());
    begins
        && text.len() <= 32
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{helper::HelperName, model::Kind};

    #[test]
    fn hal_19_no_extension_has_a_name_of_the_specification() {
        let kinds = Kind::ALL.iter().flat_map(|kind| {
            let links = kind.schema().links.iter().map(|link| link.name);
            [kind.singular(), kind.plural()].into_iter().chain(links)
        });
        let helpers = HelperName::ALL.iter().map(|helper| helper.relation());
        for name in kinds.chain(helpers).chain(["error"]) {
            assert!(!EXTENSIONS.contains(&name), "{name}");
        }
    }

    #[test]
    fn hal_19_a_relation_is_read_with_its_own_prefix_only() {
        let dialect = Dialect::with_prefix("osdi")
            .unwrap()
            .with_extension_prefix("more")
            .unwrap();
        for name in ["person", "changes"] {
            assert_eq!(dialect.strip_prefix(&dialect.relation(name)), Some(name));
        }
        for other in [
            "more:person",
            "osdi:changes",
            "person",
            "changes",
            "svc:person",
        ] {
            assert_eq!(dialect.strip_prefix(other), None, "{other}");
        }
        assert!(
            ["", "Ext", "1x", "a:b"]
                .iter()
                .all(|bad| Dialect::default().with_extension_prefix(bad).is_none())
        );
    }
}
