//! Reads and validates the body that dismisses a pair.
//!
//! Requirements: DUP-06, UND-22.

use crate::{
    error::{ErrorCode, Problem, PropertyPath},
    json::{Json, Object, is_stored},
    read::{BodyReport, LINKS, read_only},
};

/// The member that a client sets.
const DISMISSED: &str = "dismissed";

/// Members that the server sets. A client may send them back unchanged, as in records.
const READ_ONLY: [&str; 5] = ["strength", "score", "reasons", LINKS, "_embedded"];

/// The body that dismisses a pair.
#[derive(Debug, Default)]
pub(super) struct PairBody {
    pub(super) is_dismissed: bool,
}

impl PairBody {
    /// Reads a body. `stored` is the document of the pair. The members that the server sets are reported
    /// as ignored, except those that are equal to the members of the document. A pair on a page has fewer
    /// links than the document.
    ///
    /// Unknown members are problems.
    pub(super) fn read(body: &Object, stored: Option<&Object>) -> (Self, BodyReport) {
        let (mut read, mut report) = (Self::default(), BodyReport::default());
        let is_equal = |name: &str, sent: &Json| {
            let stored = stored.and_then(|stored| stored.get(name));
            match (sent, stored) {
                (Json::Object(sent), Some(Json::Object(stored))) if name == LINKS => {
                    let mut links = sent.iter();
                    links.all(|(name, link)| is_stored(link, stored.get(name)))
                }
                _ => is_stored(sent, stored),
            }
        };
        for (name, sent) in body.iter().filter(|(name, _)| *name != DISMISSED) {
            if !READ_ONLY.contains(&name) {
                let text = "{property} is unknown. The allowed property is `dismissed`.";
                let problem = Problem::new(ErrorCode::PropertyUnknown, name.to_owned(), text);
                report.problems.push(problem);
            } else if !is_equal(name, sent) {
                report
                    .ignored
                    .push(read_only(PropertyPath::member(name.to_owned())));
            }
        }
        let (code, text) = match body.get(DISMISSED) {
            Some(Json::Bool(value)) => {
                read.is_dismissed = *value;
                return (read, report);
            }
            None => (
                ErrorCode::FieldRequired,
                "{property} is missing. Send `true` or `false`.",
            ),
            Some(_) => (
                ErrorCode::FieldInvalid,
                "{property} must be `true` or `false`.",
            ),
        };
        report.problems.push(Problem::new(code, DISMISSED, text));
        (read, report)
    }
}
