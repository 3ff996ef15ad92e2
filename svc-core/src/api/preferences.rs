//! What becomes of members of a body that are not taken: refused, told beside the answer, or passed
//! over (UND-22, STR).

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::{Api, Response};
use crate::{
    context::Context,
    error::{ErrorCode, Problem},
    hal,
    json::Object,
    read::BodyPurpose,
};

pub(super) const PREFER: HeaderName = HeaderName::from_static("prefer");
pub(super) const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// How a client wants its mistakes handled: the preference `handling` (RFC 7240, section 4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HandlingPreference {
    /// What is not taken is an error.
    Strict,
    /// What is not taken is passed over; the client asked for it.
    Lenient,
    /// The client says nothing of it.
    Unspecified,
}

impl HandlingPreference {
    /// Of the headers of a request: of preferences that are sent twice the first counts, one that
    /// is not known does not.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        match preference(headers, "handling") {
            Some(value) if value.eq_ignore_ascii_case("strict") => Self::Strict,
            Some(value) if value.eq_ignore_ascii_case("lenient") => Self::Lenient,
            _ => Self::Unspecified,
        }
    }

    /// Says in an answer which preference counted.
    pub(super) fn mark(self, reply: &mut Response) {
        reply.insert(
            PREFERENCE_APPLIED,
            self.as_applied().map(HeaderValue::from_static),
        );
    }

    /// The preference that counted, where there is one.
    pub(super) const fn as_applied(self) -> Option<&'static str> {
        match self {
            Self::Strict => Some("handling=strict"),
            Self::Lenient => Some("handling=lenient"),
            Self::Unspecified => None,
        }
    }
}

/// How much a client wants to be told of what succeeded: the preference `return` (RFC 7240, section
/// 4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReturnPreference {
    /// Where it is.
    Minimal,
    /// What it is, too.
    Representation,
}

impl ReturnPreference {
    /// Of the headers of a request, where it says so.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        match preference(headers, "return") {
            Some(value) if value.eq_ignore_ascii_case("minimal") => Some(Self::Minimal),
            Some(value) if value.eq_ignore_ascii_case("representation") => {
                Some(Self::Representation)
            }
            _ => None,
        }
    }

    /// The preference, as an answer says that it counted.
    pub(super) const fn applied(self) -> &'static str {
        match self {
            Self::Minimal => "return=minimal",
            Self::Representation => "return=representation",
        }
    }
}

/// How long a client would wait for something to answer with (RFC 7240, section 4.3).
pub(super) fn wait(headers: &HeaderMap) -> Option<Duration> {
    preference(headers, "wait")?
        .parse()
        .ok()
        .map(Duration::from_secs)
}

/// Says in an answer how long it was waited at most.
pub(super) fn mark_wait(time: Duration, reply: &mut Response) {
    reply.insert(
        PREFERENCE_APPLIED,
        HeaderValue::try_from(format!("wait={}", time.as_secs())).ok(),
    );
}

/// The value of a preference (RFC 7240): of those that are sent twice the first counts.
fn preference<'h>(headers: &'h HeaderMap, wanted: &str) -> Option<&'h str> {
    let lines = headers
        .get_all(PREFER)
        .iter()
        .filter_map(|line| line.to_str().ok());
    let mut all = lines.flat_map(|line| parts(line, ',')).map(|preference| {
        let preference = parts(preference, ';').next().unwrap_or_default();
        preference.split_once('=').unwrap_or((preference, ""))
    });
    let (_, value) = all.find(|(name, _)| name.trim().eq_ignore_ascii_case(wanted))?;
    Some(value.trim().trim_matches('"'))
}

/// The parts of a header's value; a separator in quotes is part of a value.
fn parts(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    text.split(move |letter| {
        is_quoted ^= letter == '"';
        letter == separator && !is_quoted
    })
}

/// The members of a body that are not taken, and what becomes of them.
#[derive(Debug, Default)]
pub(super) struct IgnoredMembers {
    /// They are errors.
    pub(super) refused: Vec<Problem>,
    told: Vec<Problem>,
}

impl Api {
    /// What of a body is not taken.
    pub(super) fn surplus(
        &self,
        cx: &Context,
        handling: HandlingPreference,
        of: BodyPurpose,
        body: &Object,
    ) -> IgnoredMembers {
        // A stranger is told nothing beside `{}` (HLP-07).
        if handling != HandlingPreference::Strict && cx.is_anonymous() {
            return IgnoredMembers::default();
        }
        let mut surplus = self.bodies(cx).ignored_members(of, &|kind| self.accepted_members(kind), body);
        if handling == HandlingPreference::Strict {
            return IgnoredMembers {
                refused: surplus,
                told: Vec::new(),
            };
        }
        // A record that was read is sent back with all that is in it.
        if matches!(of, BodyPurpose::Update(_)) {
            surplus.retain(|problem| problem.code != ErrorCode::PropertyReadOnly);
        }
        IgnoredMembers {
            refused: Vec::new(),
            told: surplus,
        }
    }

    /// Adds to an answer what of the body was not taken.
    pub(super) fn warn(&self, cx: &Context, surplus: &IgnoredMembers, reply: &mut Response) {
        if surplus.told.is_empty() {
            return;
        }
        let mut body = Vec::from(std::mem::take(&mut reply.body));
        hal::warnings(&self.hal(&cx.base), &surplus.told, &mut body);
        reply.body = Bytes::from(body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handling(lines: &[&str]) -> HandlingPreference {
        let lines = lines
            .iter()
            .map(|line| (PREFER, HeaderValue::from_str(line).expect("a header")));
        HandlingPreference::of(&lines.collect())
    }

    /// SYN-11: beside other preferences, and nothing that is no number of seconds.
    #[test]
    fn syn_11_a_client_says_how_long_it_waits() {
        let waits = |line: &str| {
            wait(
                &[(PREFER, HeaderValue::from_str(line).expect("a header"))]
                    .into_iter()
                    .collect(),
            )
        };
        assert_eq!(
            waits("handling=strict, wait=30"),
            Some(Duration::from_secs(30))
        );
        assert_eq!(
            waits("Wait = \"5\"; a=b, wait=6"),
            Some(Duration::from_secs(5))
        );
        for none in [
            "wait",
            "wait=",
            "wait=-1",
            "wait=1.5",
            "waiting=3",
            "wait=99999999999999999999",
        ] {
            assert_eq!(waits(none), None, "{none}");
        }
    }

    #[test]
    fn und_22_a_client_says_how_its_mistakes_are_handled() {
        assert_eq!(handling(&[]), HandlingPreference::Unspecified);
        assert_eq!(handling(&["handling=strict"]), HandlingPreference::Strict);
        assert_eq!(
            handling(&["respond-async, Handling = \"strict\"; foo=1"]),
            HandlingPreference::Strict
        );
        assert_eq!(
            handling(&["return=minimal", "handling=lenient, handling=strict"]),
            HandlingPreference::Lenient
        );
        assert_eq!(
            handling(&["foo=\"a, handling=strict\""]),
            HandlingPreference::Unspecified
        );
        assert_eq!(
            handling(&["foo=\"a, b\", handling=strict"]),
            HandlingPreference::Strict
        );
        assert_eq!(handling(&["handling"]), HandlingPreference::Unspecified);
        assert_eq!(
            handling(&["mishandling=strict, handling=other"]),
            HandlingPreference::Unspecified
        );
    }
}
