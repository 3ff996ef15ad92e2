//! The page that compares two servers.
//!
//! Requirements: CAP-04.

use super::{DocLinkGroup, DocPage, DocPages, DocReference, DocSubject, map, open};

pub(super) const NAME: &str = "compare";

pub(super) fn page(docs: &DocPages<'_>) -> DocPage {
    let summary = "The differences between this server and another one, according to their capability documents.";
    let mut page = open(
        NAME,
        DocSubject::Compare,
        "Compare servers".to_owned(),
        summary,
    );
    let see = [("capabilities", "Capability document"), (map::NAME, "Map")];
    let entries = see
        .map(|(name, title)| DocReference::new(docs.href(name), title))
        .into();
    page.link_groups.push(DocLinkGroup {
        title: "See also",
        entries,
    });
    page
}
