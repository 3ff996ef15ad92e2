//! The page on which two servers are compared (CAP-04).

use super::{DocPage, DocPages, Entry, Listing, Subject, map, open};

pub(super) const NAME: &str = "compare";

pub(super) fn page(docs: &DocPages<'_>) -> DocPage {
    let summary = "What another server has that this one lacks, and the other way round: by what each declares.";
    let mut page = open(
        NAME,
        Subject::Compare,
        "Two servers side by side".to_owned(),
        summary,
    );
    let see = [
        ("capabilities", "Capability declaration"),
        (map::NAME, "Map"),
    ];
    let entries = see
        .map(|(name, title)| Entry::new(docs.href(name), title))
        .into();
    page.lists.push(Listing {
        title: "See also",
        entries,
    });
    page
}
