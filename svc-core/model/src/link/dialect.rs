//! The names that stand in for the interface maker's own.
//!
//! Requirements: HAL-09 to HAL-11.

use svc_declaration::EXTENSIONS;

use crate::schema::ShareNames;

/// The names of a deployment: relation prefixes, key header, version field, share objects.
///
/// The specification writes `svc`, `SVC-API-Token`, `svc_version`, `network_a_share` and
/// `network_b_share`, which is the default here, and says that they stand in for the interface
/// maker's own; a real deployment sets others.
///
/// Relations and members that the specification does not define have a prefix of their own, `ext`
/// by default. Published clients stop at a relation with the specification's prefix that they do
/// not know.
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
/// assert_eq!(dialect.share_object_names(names).share_names().to_wire("network_a_share"), "birdsite_share");
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
    /// A dialect whose names all follow from the prefix: `abc` gives `ABC-API-Token` and
    /// `abc_version`.
    ///
    /// `None` unless the prefix is 1 to 32 of `[a-z0-9_]`, beginning with a letter.
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

    /// With another prefix of extensions.
    ///
    /// `None` unless the prefix is 1 to 32 of `[a-z0-9_]`, beginning with a letter. When the API is
    /// built, a prefix is an error that is also the one of the specification, or the vendor's
    /// namespace if the API has own relations.
    ///
    /// Requirements: HAL-19.
    #[must_use]
    pub fn with_extension_prefix(self, prefix: &str) -> Option<Self> {
        is_prefix(prefix).then(|| Self {
            extension_prefix: prefix.to_owned(),
            ..self
        })
    }

    /// With another name of the key header.
    ///
    /// Requirements: HAL-10.
    #[must_use]
    pub fn key_header_name(mut self, name: http::HeaderName) -> Self {
        self.key_header = name;
        self
    }

    /// With another name of the version field on the entry point.
    ///
    /// Requirements: ENT-06.
    #[must_use]
    pub fn version_field_name(mut self, name: impl Into<String>) -> Self {
        self.version_field = name.into();
        self
    }

    /// With other names of the two network share objects.
    ///
    /// Requirements: HAL-11.
    #[must_use]
    pub fn share_object_names(mut self, names: ShareNames) -> Self {
        self.share_names = names;
        self
    }

    /// The relation prefix.
    ///
    /// Requirements: HAL-09.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The prefix of [extensions](svc_declaration::EXTENSIONS).
    ///
    /// Requirements: HAL-19.
    #[must_use]
    pub fn extension_prefix(&self) -> &str {
        &self.extension_prefix
    }

    /// The header that carries the API key. Header names are matched without case.
    ///
    /// Requirements: HAL-10.
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

    /// The name of the version field on the entry point.
    ///
    /// Requirements: ENT-06.
    #[must_use]
    pub fn version_field(&self) -> &str {
        &self.version_field
    }

    /// The names of the two network share objects.
    ///
    /// Requirements: HAL-11.
    #[must_use]
    pub fn share_names(&self) -> &ShareNames {
        &self.share_names
    }

    /// A relation with its prefix: `svc:person` for `person`, `ext:changes` for `changes`.
    #[must_use]
    pub fn relation(&self, name: &str) -> String {
        format!("{}:{name}", self.prefix_of(name))
    }

    /// The name of a relation with its prefix: `person` for `svc:person`, `changes` for
    /// `ext:changes`.
    #[must_use]
    pub fn without_prefix<'a>(&self, relation: &'a str) -> Option<&'a str> {
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
            assert_eq!(dialect.without_prefix(&dialect.relation(name)), Some(name));
        }
        for other in [
            "more:person",
            "osdi:changes",
            "person",
            "changes",
            "svc:person",
        ] {
            assert_eq!(dialect.without_prefix(other), None, "{other}");
        }
        assert!(
            ["", "Ext", "1x", "a:b"]
                .iter()
                .all(|bad| Dialect::default().with_extension_prefix(bad).is_none())
        );
    }
}
