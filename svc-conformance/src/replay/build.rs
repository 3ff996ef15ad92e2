//! Converts the traffic of a failed check to steps. What the failure does not need is removed, and
//! URLs from a response are replaced by references to that response.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use serde_json::Value;

use super::{Replay, ReplayStep};
use crate::address;
use crate::outcome::RequirementOutcome;
use crate::recorder::Exchange;
use crate::report::Report;

/// The minimum length of a nonce that can be distinguished from other text.
const LEAST: usize = 8;

/// The maximum number of URLs of responses that are searched, so that a trace with large pages is
/// limited.
const MOST: usize = 100_000;

impl Replay {
    /// Returns the steps of the first finding of a failed requirement. `None` for another
    /// requirement, or if no traffic was stored.
    #[must_use]
    pub fn from_report(report: &Report, row: &str) -> Option<Self> {
        let row = report.requirement(row).filter(|row| {
            matches!(
                row.outcome,
                RequirementOutcome::Fail | RequirementOutcome::Waived
            )
        })?;
        let traced = |check: &str| {
            report
                .checks
                .iter()
                .find(|one| one.id == check)
                .filter(|one| !one.trace.is_empty())
        };
        let (finding, check) = row
            .findings
            .iter()
            .find_map(|found| Some((found, traced(&found.check)?)))?;
        let until = check
            .trace
            .iter()
            .position(|exchange| exchange.number == finding.exchange);
        let until = until.map_or(check.trace.len(), |at| at.saturating_add(1));
        let trace = check.trace.get(..until).unwrap_or_default();
        Some(Self {
            replay_version: 1,
            row: row.id.clone(),
            check: check.id.clone(),
            message: finding.message.clone(),
            base: report.target.clone(),
            key_header: report.declared.dialect.key_header.clone(),
            seed: report.seed,
            intensity: report.intensity,
            smallest: finding.smallest.clone(),
            steps: steps(trace, &report.target, &report.nonce),
            declaration: report.declared.clone(),
        })
    }
}

/// Where a URL first appeared: the exchange, and the pointer in its response.
type UrlOrigins = HashMap<String, (usize, String)>;

fn steps(trace: &[Exchange], base: &str, token: &str) -> Vec<ReplayStep> {
    let mut given = UrlOrigins::new();
    // For each exchange, the earlier responses from which it uses something.
    let mut sources: Vec<BTreeSet<usize>> = Vec::new();
    let mut texts: Vec<(TemplateText, TemplateText)> = Vec::new();
    for (at, exchange) in trace.iter().enumerate() {
        let url = address_in(&exchange.url, &given, base);
        let body = body_in(&exchange.body, &given);
        sources.push(url.sources().chain(body.sources()).collect());
        texts.push((url, body));
        learn(exchange, at, &mut given);
    }
    let kept = needed(trace, &sources);
    let number: HashMap<usize, usize> = kept
        .iter()
        .enumerate()
        .map(|(new, old)| (*old, new.saturating_add(1)))
        .collect();
    let step = |at: &usize| {
        let (exchange, (url, body)) = (trace.get(*at)?, texts.get(*at)?);
        let (status, answer) = match &exchange.response {
            Ok(answer) => (Some(answer.status), answer.body.clone()),
            Err(reason) => (None, reason.clone()),
        };
        Some(ReplayStep {
            method: exchange.method.clone(),
            url: url.written(&number, token),
            headers: exchange.headers.clone(),
            body: body.written(&number, token),
            status,
            answer,
        })
    };
    kept.iter().filter_map(step).collect()
}

/// Returns the exchanges on which the last one depends: every write, the sources of their URLs, and
/// earlier reads of the same URL.
fn needed(trace: &[Exchange], sources: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let Some(last) = trace.last() else {
        return BTreeSet::new();
    };
    let reads =
        |exchange: &Exchange| matches!(exchange.method.as_str(), "GET" | "HEAD" | "OPTIONS");
    let first = |(at, exchange): (usize, &Exchange)| {
        let is_last = at.saturating_add(1) == trace.len();
        (is_last || !reads(exchange) || exchange.url == last.url).then_some(at)
    };
    let mut open: Vec<usize> = trace.iter().enumerate().filter_map(first).collect();
    let mut kept = BTreeSet::new();
    while let Some(at) = open.pop() {
        if kept.insert(at) {
            open.extend(sources.get(at).into_iter().flatten());
        }
    }
    kept
}

/// A text with references to earlier responses.
#[derive(Debug, Default)]
struct TemplateText(Vec<TemplatePiece>);

#[derive(Debug)]
enum TemplatePiece {
    Plain(String),
    Base,
    Of(usize, String),
}

impl TemplateText {
    fn sources(&self) -> impl Iterator<Item = usize> {
        self.0.iter().filter_map(|piece| match piece {
            TemplatePiece::Of(at, _) => Some(*at),
            _ => None,
        })
    }

    fn written(&self, number: &HashMap<usize, usize>, token: &str) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                // A short word may be part of something else.
                TemplatePiece::Plain(plain) if token.len() < LEAST => text.push_str(plain),
                TemplatePiece::Plain(plain) => text.push_str(&plain.replace(token, "${run}")),
                TemplatePiece::Base => text.push_str("${base}"),
                TemplatePiece::Of(at, pointer) => {
                    let number = number.get(at).copied().unwrap_or_default();
                    let _ = write!(text, "${{{number}:{pointer}}}");
                }
            }
        }
        text
    }
}

/// Converts a URL: one from a response, or one below the base URL.
fn address_in(url: &str, given: &UrlOrigins, base: &str) -> TemplateText {
    let place = |url: &str| {
        given
            .get(url)
            .map(|(at, pointer)| TemplatePiece::Of(*at, pointer.clone()))
    };
    if let Some(piece) = place(url) {
        return TemplateText(vec![piece]);
    }
    if let Some((path, query)) = url.split_once('?')
        && let Some(piece) = place(path)
    {
        return TemplateText(vec![piece, TemplatePiece::Plain(format!("?{query}"))]);
    }
    match url.strip_prefix(base) {
        Some(rest) => TemplateText(vec![
            TemplatePiece::Base,
            TemplatePiece::Plain(rest.to_owned()),
        ]),
        None => TemplateText(vec![TemplatePiece::Plain(url.to_owned())]),
    }
}

/// Converts a body: its strings that are URLs from a response.
fn body_in(body: &str, given: &UrlOrigins) -> TemplateText {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    for (at, part) in body.split('"').enumerate() {
        if at > 0 {
            plain.push('"');
        }
        if let Some((at, pointer)) = given.get(part) {
            pieces.push(TemplatePiece::Plain(std::mem::take(&mut plain)));
            pieces.push(TemplatePiece::Of(*at, pointer.clone()));
        } else {
            plain.push_str(part);
        }
    }
    pieces.push(TemplatePiece::Plain(plain));
    TemplateText(pieces)
}

/// Stores every URL of a response.
fn learn(exchange: &Exchange, at: usize, given: &mut UrlOrigins) {
    let Ok(answer) = &exchange.response else {
        return;
    };
    let Ok(json) = serde_json::from_str::<Value>(&answer.body) else {
        return;
    };
    let mut open = vec![(String::new(), &json)];
    while let Some((pointer, value)) = open.pop() {
        if given.len() >= MOST {
            return;
        }
        let below =
            |name: &str| format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
        match value {
            Value::Object(members) => {
                if let Some(url) = value["href"]
                    .as_str()
                    .and_then(|href| address::resolve(&exchange.url, href))
                {
                    given
                        .entry(url.into_owned())
                        .or_insert_with(|| (at, below("href")));
                }
                open.extend(members.iter().map(|(name, value)| (below(name), value)));
            }
            Value::Array(values) => {
                open.extend(
                    values
                        .iter()
                        .enumerate()
                        .map(|(index, value)| (below(&index.to_string()), value)),
                );
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::steps;
    use crate::recorder::{Exchange, RecordedResponse};

    fn exchange(number: usize, method: &str, url: &str, body: &str, answer: &str) -> Exchange {
        Exchange {
            number,
            check: "a/b".to_owned(),
            method: method.to_owned(),
            url: format!("http://h.example/{url}"),
            headers: Vec::new(),
            body: body.to_owned(),
            response: Ok(RecordedResponse {
                status: 200,
                headers: Vec::new(),
                body: answer.to_owned(),
            }),
            micros: 0,
        }
    }

    #[test]
    fn addresses_become_places_and_needless_reads_go() {
        let tags = r#"{"_links":{"x:tags":{"href":"/tags"},"x:people":{"href":"/people"}}}"#;
        let trace = [
            exchange(1, "GET", "", "", tags),
            exchange(2, "GET", "people", "", "{}"),
            exchange(
                3,
                "POST",
                "tags",
                r#"{"name":"nonce000-1"}"#,
                r#"{"_links":{"self":{"href":"http://h.example/tags/7"}}}"#,
            ),
            exchange(4, "GET", "tags?page=1", "", "{}"),
            exchange(
                5,
                "PUT",
                "tags/7",
                r#"{"_links":{"up":{"href":"http://h.example/tags"}}}"#,
                "{}",
            ),
            exchange(6, "GET", "tags/7", "", "{}"),
        ];
        let steps = steps(&trace, "http://h.example/", "nonce000");
        let texts: Vec<String> = steps
            .iter()
            .map(|step| format!("{} {} {}", step.method, step.url, step.body))
            .collect();
        assert_eq!(
            texts,
            [
                "GET ${base} ",
                "POST ${1:/_links/x:tags/href} {\"name\":\"${run}-1\"}",
                "PUT ${2:/_links/self/href} {\"_links\":{\"up\":{\"href\":\"${1:/_links/x:tags/href}\"}}}",
                "GET ${2:/_links/self/href} ",
            ]
        );
    }
}
