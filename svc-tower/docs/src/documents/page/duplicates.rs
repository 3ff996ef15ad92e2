//! The page of people who may be the same person.
//!
//! Requirements: DUP-01 to DUP-06.

use svc_core::{
    duplicates::{Evidence, MAX_PEOPLE_OF_KEY},
    error::ErrorCode,
    link::Target,
};

use super::{DocPage, DocPages, DocSubject, DocTable, open};

/// The name of the page: that of the relation, without prefix.
pub(super) const NAME: &str = "duplicates";

pub(super) fn page(docs: &DocPages<'_>) -> DocPage {
    let api = docs.api;
    let summary = "Pairs of people who may be the same person.";
    let mut page = open(NAME, DocSubject::Link, api.duplicates_relation(), summary);
    if !api.has_duplicates() {
        page.notes
            .push("This server does not look for duplicates.".to_owned());
        return page;
    }
    page.notes = vec![
        "The link on the entry point has the pairs of all people. `duplicates` below a person has the pairs of this \
         person. A pair is a suggestion: people can share an address or a phone number."
            .to_owned(),
        "Two people are compared if they have a profile, an e-mail address or a phone number in common, or a name and either a \
         date of birth or a postal code. The comparison ignores case, accents and notation."
            .to_owned(),
        "`score` is the sum of the weights of the reasons. A pair is `strong` if a profile, an e-mail address or a phone \
         number is the same and the score is at least 8. It is `weak` if the name is the same and the score is at \
         least 12. Other pairs are not listed."
            .to_owned(),
        "Each pair is on one page. Follow `next` until `has_more` is false. A page can have fewer entries than `per_page`, or none, \
         although more follow."
            .to_owned(),
        format!(
            "If more than {MAX_PEOPLE_OF_KEY} people have a value in common, such as the phone number of an office, they are \
             not compared by it. One entry has the number of people as `crowd`, and the field of the value as `field`. The \
             number is counted up to 1 000."
        ),
        "GET of the `self` link of a pair returns this pair, also if it is dismissed. It returns 404 if the two people are \
         not a pair, or if one of them does not exist."
            .to_owned(),
        "To dismiss a pair, send `{\"dismissed\": true}` with PUT to its `self` link. The pair is then no longer listed. \
         `false` lists it again. PUT also accepts the whole pair, and changes only `dismissed`. This needs the right \
         `people.update`. The response has the people only for keys with the right `people.read`."
            .to_owned(),
    ];
    let signed = |weight: i32| match weight {
        0 => "-".to_owned(),
        weight => format!("{weight:+}"),
    };
    let weights = Evidence::ALL.map(|evidence| {
        let (same, different) = evidence.weights();
        let text = format!("same: {}; different: {}", signed(same), signed(different));
        (evidence.as_str(), text)
    });
    page.tables.push(DocTable::of_names("Weights", weights));
    let rows = [
        ("dismissed", "whether it was dismissed"),
        ("strength", "`strong` or `weak`"),
        ("score", "the sum of the weights"),
        ("reasons", "each reason with its `field` and its `weight`"),
        ("_embedded", "the two people, the older one first"),
        (
            "_links",
            "`self` is the URL of the pair; the others are the URLs of the two people",
        ),
    ];
    page.tables.push(DocTable::of_names("Pair", rows));
    page.tables
        .push(DocTable::of_parameters(api.duplicates_parameters()));
    page.requests = docs
        .examples()
        .public("List duplicates", &Target::Duplicates)
        .into_iter()
        .collect();
    page.link_groups.push(docs.errors(&[
        ErrorCode::CursorInvalid,
        ErrorCode::PageInvalid,
        ErrorCode::FieldInvalid,
        ErrorCode::FieldRequired,
        ErrorCode::PropertyUnknown,
        ErrorCode::PropertyReadOnly,
        ErrorCode::KeyNotAllowed,
    ]));
    page
}
