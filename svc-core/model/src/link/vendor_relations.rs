//! Relations that a vendor adds to those of the specification.
//!
//! Requirements: ENT-27.

use http::Uri;

/// Relations that the specification does not define, under the vendor's namespace: `acme:shop`.
///
/// Clients that do not know them ignore them. Their curie links to a page of the vendor for each
/// relation.
///
/// # Examples
///
/// ```
/// use svc_core::api::VendorRelations;
///
/// let own = VendorRelations::new("https://crm.example.org/relations/").link("shop", "https://crm.example.org/shop", "Our shop");
/// // Api::builder(Vendor::new("Acme", "Acme CRM").namespace("acme")).vendor_relations(own) ...
/// // Entry point: "acme:shop": {"href": "https://crm.example.org/shop", "title": "Our shop"}
/// // Its page:    https://crm.example.org/relations/shop
/// # let _ = own;
/// ```
///
/// Requirements: ENT-07, ENT-27.
#[derive(Debug, Clone)]
pub struct VendorRelations {
    pages: String,
    links: Vec<VendorLink>,
}

/// A link of the entry point under a relation of the vendor.
#[derive(Debug, Clone)]
pub struct VendorLink {
    /// The name of the relation, without a prefix.
    pub name: String,
    /// The URL.
    pub href: String,
    /// The title for human readers.
    pub title: String,
}

impl VendorRelations {
    /// Returns the URL before `{rel}` in the template of the curie.
    #[must_use]
    pub fn pages(&self) -> &str {
        &self.pages
    }

    /// Returns the links of the entry point.
    #[must_use]
    pub fn links(&self) -> &[VendorLink] {
        &self.links
    }

    /// Creates vendor relations. The URL of a relation's page is `pages` followed by the curie's
    /// `{rel}`.
    pub fn new(pages: impl Into<String>) -> Self {
        Self {
            pages: pages.into(),
            links: Vec::new(),
        }
    }

    /// Adds a link to the entry point.
    ///
    /// Use [`Record::with_vendor_link`](crate::Record::with_vendor_link) to add links to a record.
    #[must_use]
    pub fn link(
        mut self,
        name: impl Into<String>,
        href: impl Into<String>,
        title: impl Into<String>,
    ) -> Self {
        self.links.push(VendorLink {
            name: name.into(),
            href: href.into(),
            title: title.into(),
        });
        self
    }

    /// Returns the problems of the relations in an API with this namespace and these prefixes.
    #[must_use]
    pub fn problems(&self, namespace: &str, prefixes: [&str; 2]) -> Vec<String> {
        let mut problems = Vec::new();
        if prefixes.contains(&namespace) {
            problems
                .push(format!("vendor relations require a namespace other than the dialect's prefixes, and `{namespace}` is one of them: choose another with `Vendor::namespace`"));
        }
        for link in self.links.iter().filter(|link| !is_name(&link.name)) {
            problems.push(format!(
                "`{}` is not a valid relation name: use 1 to 64 of the characters `a-z0-9_-`",
                link.name
            ));
        }
        for (place, link) in self.links.iter().enumerate() {
            if self
                .links
                .iter()
                .take(place)
                .any(|before| before.name == link.name)
            {
                problems.push(format!(
                    "the vendor relation `{}` is added twice: use a different name for each",
                    link.name
                ));
            }
        }
        for href in std::iter::once(&self.pages).chain(self.links.iter().map(|link| &link.href)) {
            let uri: Option<Uri> = href.parse().ok();
            if !uri.is_some_and(|uri| {
                matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some()
            }) {
                problems.push(format!(
                    "`{href}` is not a valid URL of a vendor relation: use an absolute http or https URL"
                ));
            }
        }
        problems
    }
}

/// Returns whether a text is a valid name of a relation.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ent_27_own_relations_are_checked_when_the_api_is_built() {
        let good = VendorRelations::new("https://a.example/r/").link(
            "shop",
            "https://a.example/shop?x=1",
            "Shop",
        );
        assert_eq!(good.problems("acme", ["svc", "ext"]), Vec::<String>::new());
        for taken in ["svc", "ext"] {
            assert_eq!(
                good.problems(taken, ["svc", "ext"]).len(),
                1,
                "HAL-09, HAL-19"
            );
        }
        let bad = VendorRelations::new("/r/")
            .link("a:b", "ftp://a.example/", "")
            .link("", "https://a.example/", "");
        assert_eq!(bad.problems("acme", ["svc", "ext"]).len(), 4);
        let twice = good.link("shop", "https://a.example/other", "Other shop");
        assert_eq!(
            twice.problems("acme", ["svc", "ext"]),
            ["the vendor relation `shop` is added twice: use a different name for each"]
        );
    }
}
