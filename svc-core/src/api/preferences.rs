//! Ignored members of a body: they are rejected, reported in the response, or ignored silently.
//!
//! Requirements: UND-22.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::{Api, Response};
use crate::{context::Context, error::Problem, hal, read::BodyReport};

pub(super) const PREFER: HeaderName = HeaderName::from_static("prefer");
pub(super) const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// The `handling` preference of a client (RFC 7240, section 4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HandlingPreference {
    /// Ignored members are errors.
    Strict,
    /// Ignored members are not reported, as the client asked.
    Lenient,
    /// The client sent no preference.
    Unspecified,
}

impl HandlingPreference {
    /// Reads the preference from the headers. The first one counts if it is repeated; an unknown
    /// one is ignored.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        match preference(headers, "handling") {
            Some(value) if value.eq_ignore_ascii_case("strict") => Self::Strict,
            Some(value) if value.eq_ignore_ascii_case("lenient") => Self::Lenient,
            _ => Self::Unspecified,
        }
    }

    /// Adds the applied preference to a response.
    pub(super) fn mark(self, reply: &mut Response) {
        reply.insert(
            PREFERENCE_APPLIED,
            self.as_applied().map(HeaderValue::from_static),
        );
    }

    /// Returns the applied preference, if there is one.
    pub(super) const fn as_applied(self) -> Option<&'static str> {
        match self {
            Self::Strict => Some("handling=strict"),
            Self::Lenient => Some("handling=lenient"),
            Self::Unspecified => None,
        }
    }
}

/// The `return` preference of a client (RFC 7240, section 4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReturnPreference {
    /// Only the URL of the record.
    Minimal,
    /// The whole record.
    Representation,
}

impl ReturnPreference {
    /// Reads the preference from the headers, if they have one.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        match preference(headers, "return") {
            Some(value) if value.eq_ignore_ascii_case("minimal") => Some(Self::Minimal),
            Some(value) if value.eq_ignore_ascii_case("representation") => {
                Some(Self::Representation)
            }
            _ => None,
        }
    }

    /// Returns the value for `Preference-Applied`.
    pub(super) const fn applied(self) -> &'static str {
        match self {
            Self::Minimal => "return=minimal",
            Self::Representation => "return=representation",
        }
    }
}

/// Returns the `wait` preference: how long the client waits for a response (RFC 7240, section 4.3).
pub(super) fn wait(headers: &HeaderMap) -> Option<Duration> {
    preference(headers, "wait")?
        .parse()
        .ok()
        .map(Duration::from_secs)
}

/// Adds the maximum waiting time to a response.
pub(super) fn mark_wait(time: Duration, reply: &mut Response) {
    reply.insert(
        PREFERENCE_APPLIED,
        HeaderValue::try_from(format!("wait={}", time.as_secs())).ok(),
    );
}

/// Returns the value of a preference (RFC 7240). The first one counts if it is repeated.
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

/// Splits the value of a header. A separator in quotes belongs to the value.
fn parts(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    text.split(move |letter| {
        is_quoted ^= letter == '"';
        letter == separator && !is_quoted
    })
}

/// The warnings of a response: the members of a body that are ignored, and what the rules report.
#[derive(Debug, Default, Clone)]
pub(super) struct Warnings(Vec<Problem>);

impl Warnings {
    pub(super) fn extend(&mut self, warnings: Vec<Problem>) {
        self.0.extend(warnings);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl HandlingPreference {
    /// Returns whether ignored members are reported. An anonymous caller gets only `{}`.
    pub(super) fn reports_ignored(self, cx: &Context) -> bool {
        self == Self::Strict || !cx.is_anonymous()
    }

    /// Returns the problems of a body. The other ignored members become warnings.
    pub(super) fn problems(self, report: BodyReport, warnings: &mut Warnings) -> Vec<Problem> {
        let mut problems = report.problems;
        if self == Self::Strict {
            problems.extend(report.ignored);
        } else {
            warnings.0.extend(report.ignored);
        }
        problems
    }
}

impl Api {
    /// Adds the warnings to a response.
    pub(super) fn warn(&self, cx: &Context, warnings: &Warnings, reply: &mut Response) {
        if warnings.0.is_empty() {
            return;
        }
        let mut body = Vec::from(std::mem::take(&mut reply.body));
        hal::warnings(&self.hal(cx.base()), &warnings.0, &mut body);
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

    /// SYN-11: other preferences are allowed next to `wait`, and its value must be a number of
    /// seconds.
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
