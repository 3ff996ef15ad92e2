//! The HTML page of a list of results: one file without a script, in which every value of a result
//! is escaped.

use std::fmt::Write as _;

use super::Named;
use crate::catalogue::Catalogue;
use crate::formats::{STYLE, escaped};
use crate::outcome::RequirementOutcome;

/// The columns of the table.
const COLUMNS: [&str; 9] = [
    "Server",
    "Profile",
    "Verdict",
    "Passed",
    "Failed",
    "Waived",
    "Undecided or excluded",
    "Declares",
    "Run",
];

pub(super) fn written(results: &[Named]) -> String {
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <title>Who conforms</title>\n<style>\n{STYLE}</style></head><body><main>\n<h1>Who conforms</h1>\n\
         <p>Results of the conformance suite of the Activist Data Exchange API, as the operators of these servers submitted them \
         ({} results, catalogue {}).</p>\n<table>\n<caption>Results by server</caption>\n<thead><tr>",
        results.len(),
        Catalogue::hash(Catalogue::TEXT)
    );
    for column in COLUMNS {
        let _ = write!(text, "<th scope=\"col\">{column}</th>");
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for result in results {
        line(&mut text, result);
    }
    text.push_str("</tbody>\n</table>\n</main></body></html>\n");
    text
}

fn line(text: &mut String, Named { name, result }: &Named) {
    let class = match result.verdict.as_str() {
        "conformant" => "pass",
        "not conformant" => "fail",
        _ => "inconclusive",
    };
    let open = result
        .count(RequirementOutcome::Inconclusive)
        .saturating_add(result.count(RequirementOutcome::Disabled));
    let run = format!(
        "{}, {}, svc-conformance {}",
        result.date,
        result.intensity.as_str(),
        result.suite
    );
    let _ = writeln!(
        text,
        "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"{class}\">{}</td><td>{}</td><td>{}</td><td>{}</td>\
         <td>{open}</td><td>{}</td><td>{}</td></tr>",
        escaped(name),
        result.profile.as_str(),
        escaped(&result.verdict),
        result.count(RequirementOutcome::Pass),
        counted(
            result.count(RequirementOutcome::Fail),
            &[&result.failed[..], &result.lacks].concat()
        ),
        counted(result.count(RequirementOutcome::Waived), &result.waived),
        counted(
            result
                .collections
                .len()
                .saturating_add(result.helpers.len()),
            &[&result.collections[..], &result.helpers].concat()
        ),
        escaped(&run),
    );
}

/// Returns a number with an expandable list of what it counts.
fn counted(count: usize, names: &[String]) -> String {
    if names.is_empty() {
        return count.to_string();
    }
    format!(
        "<details><summary>{count}</summary>{}</details>",
        escaped(&names.join(", "))
    )
}
