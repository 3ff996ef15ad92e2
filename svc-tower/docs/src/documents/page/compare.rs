//! The page on which two servers are compared.
//!
//! Requirements: CAP-04.

use super::{DocLinkGroup, DocPage, DocPages, DocReference, DocSubject, map, open};

pub(super) const NAME: &str = "compare";

pub(super) fn page(docs: &DocPages<'_>) -> DocPage {
    let summary = "What another server has that this one lacks, and the other way round: by what each declares.";
    let mut page = open(
        NAME,
        DocSubject::Compare,
        "Two servers side by side".to_owned(),
        summary,
    );
    let see = [
        ("capabilities", "Capability declaration"),
        (map::NAME, "Map"),
    ];
    let entries = see
        .map(|(name, title)| DocReference::new(docs.href(name), title))
        .into();
    page.lists.push(DocLinkGroup {
        title: "See also",
        entries,
    });
    page
}
