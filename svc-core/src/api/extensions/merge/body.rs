//! Reads and validates the body of a merge, and reports all problems.
//!
//! Requirements: MRG-02, UND-22.

use crate::{
    error::{ErrorCode, Problem, PropertyPath},
    helper::ConsentMerge,
    json::{Json, Object},
    link::RecordAddress,
    model::Kind,
    read::{BodyReader, BodyReport, LINKS, PERSON},
};

const MERGED_TAG: &str = "merged_etag";
const CONSENT: &str = "consent";
const PREVIEW: &str = "preview";

/// The values of `consent`.
const CONSENTS: [(&str, ConsentMerge); 2] = [
    ("each", ConsentMerge::Each),
    ("strictest", ConsentMerge::Strictest),
];

/// The members of the body of a merge, except the fields of the person.
#[derive(Debug, Default)]
pub(super) struct MergeBody {
    /// The person to merge.
    pub(super) merged: Option<RecordAddress>,
    /// The entity tag of that person.
    pub(super) merged_tag: Option<String>,
    pub(super) consent: ConsentMerge,
    pub(super) is_preview: bool,
    /// Whether the body has fields of the remaining person.
    pub(super) has_person: bool,
}

impl MergeBody {
    /// Reads a body. `has_tags` is whether the server has entity tags.
    pub(super) fn read(
        reader: &BodyReader<'_>,
        body: &Object,
        has_tags: bool,
    ) -> (Self, BodyReport) {
        let (mut read, mut report) = (Self::default(), BodyReport::default());
        let problems = &mut report.problems;
        if let Some(links) = body.get(LINKS).filter(|links| links.as_object().is_none()) {
            let text = format!("{{property}} must be an object, not {}.", links.kind_name());
            let property = PropertyPath::member(LINKS);
            problems.push(Problem::new(ErrorCode::FieldInvalid, property, text));
        } else {
            let link = reader.links.required(body, Kind::Person, PERSON, problems);
            read.merged = link;
        }
        let sent = |name: &str| body.get(name).filter(|value| !value.is_null());
        let mut wrong = |name: &'static str, text: &'static str| {
            problems.push(Problem::new(ErrorCode::FieldInvalid, name, text));
        };
        match sent(MERGED_TAG).filter(|_| has_tags) {
            None => {}
            Some(Json::String(tag)) if !tag.is_empty() => read.merged_tag = Some(tag.clone()),
            Some(_) => wrong(
                MERGED_TAG,
                "{property} must be the `ETag` of the person to merge.",
            ),
        }
        match sent(PERSON) {
            None => {}
            Some(Json::Object(_)) => read.has_person = true,
            Some(_) => wrong(
                PERSON,
                "{property} must be an object with fields of a person.",
            ),
        }
        if let Some(value) = sent(CONSENT) {
            let known = CONSENTS
                .iter()
                .find(|(name, _)| value.as_str() == Some(name));
            match known {
                Some((_, consent)) => read.consent = *consent,
                None => wrong(CONSENT, "{property} must be `each` or `strictest`."),
            }
        }
        match sent(PREVIEW) {
            None => {}
            Some(Json::Bool(preview)) => read.is_preview = *preview,
            Some(_) => wrong(PREVIEW, "{property} must be `true` or `false`."),
        }
        let known = [LINKS, PERSON, CONSENT, PREVIEW]
            .into_iter()
            .chain(has_tags.then_some(MERGED_TAG));
        let known: Vec<&str> = known.collect();
        report.ignored = reader.unknown_members(body, &known, &[PERSON]);
        (read, report)
    }
}
