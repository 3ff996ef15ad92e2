//! One page for a browser: no script, no other file, everything that a server sent escaped.

use std::fmt::Write as _;

use super::text::{AREAS, Tally, area, source};
use super::{CheckReport, Report, RowReport, Score};
use crate::catalogue::Catalogue;
use crate::outcome::Outcome;
use crate::recorder::Exchange;

/// Exchanges of one check that are shown at most.
const MOST: usize = 60;
/// Characters of a body that are shown.
const BODY: usize = 4000;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;\
color:#1a1a1a;background:#fff}table{border-collapse:collapse;width:100%;margin:.5rem 0}td,th{border-bottom:1px solid #ddd;\
padding:.25rem .5rem;text-align:left;vertical-align:top;overflow-wrap:anywhere}pre{background:#f5f5f5;padding:.5rem;\
overflow:auto;white-space:pre-wrap}.pass{color:#0a6b2d}.fail,.error{color:#a4000f;font-weight:600}\
.warn,.inconclusive,.waived{color:#7a4b00}.not-applicable,.disabled{color:#666}\
@media(prefers-color-scheme:dark){body{color:#eee;background:#111}pre{background:#222}td,th{border-color:#444}\
.pass{color:#5fd38a}.fail,.error{color:#ff8a8a}.warn,.inconclusive,.waived{color:#ffcf7a}\
.not-applicable,.disabled{color:#999}}";

pub(super) fn written(report: &Report) -> String {
    let verdict = report.verdict();
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <title>Conformance: {verdict}</title><style>{STYLE}</style></head><body>\n<h1>Conformance: {verdict}</h1>\n"
    );
    let _ = writeln!(
        text,
        "<p>{} with interface {}. Declaration {}, profile {}, intensity {}, seed {}. svc-conformance {}, catalogue {}; {}. \
         {:.1} s, {} requests; {} of {} records removed.</p>",
        escaped(&report.target),
        escaped(&report.interface),
        source(report.declaration),
        report.profile.as_str(),
        report.intensity.as_str(),
        report.seed,
        report.suite,
        report.catalogue,
        Score::built_in(),
        report.seconds,
        report.requests,
        report.clean_up.removed,
        report.clean_up.created
    );
    for (check, cut) in report.cut() {
        let _ =
            writeln!(text, "<p class=\"inconclusive\">Cut: {}: {}</p>", escaped(&check.id), escaped(&cut.said(MOST)));
    }
    for problem in report.broken_waivers.iter().chain(&report.profile_lacks) {
        let _ = writeln!(text, "<p class=\"fail\">{}</p>", escaped(problem));
    }
    text.push_str("<table><tr><th>Area<th><th>Passed");
    let columns = [Outcome::Fail, Outcome::Error, Outcome::Inconclusive, Outcome::Warn, Outcome::NotApplicable];
    for outcome in columns {
        let _ = write!(text, "<th>{}", outcome.as_str());
    }
    text.push('\n');
    for (name, title) in AREAS {
        let tally = Tally::of(report, name);
        let _ = write!(text, "<tr><td><a href=\"#{name}\">{name}</a><td>{title}<td>{}/{}", tally.good, tally.due);
        for outcome in columns {
            let _ = write!(text, "<td>{}", tally.count(outcome));
        }
        text.push('\n');
    }
    text.push_str("</table>\n");
    choices(&mut text, report);
    for (name, title) in AREAS {
        let _ = writeln!(text, "<h2 id=\"{name}\">{name}: {title}</h2>\n<table>");
        for row in report.rows.iter().filter(|row| area(&row.id) == *name) {
            line(&mut text, row, report.page(&row.id));
        }
        text.push_str("</table>\n");
    }
    text.push_str("<h2>Traffic of checks that failed</h2>\n");
    for check in report.checks.iter().filter(|check| !check.trace.is_empty()) {
        traffic(&mut text, check);
    }
    text.push_str("</body></html>\n");
    text
}

fn choices(text: &mut String, report: &Report) {
    if report.choices.is_empty() {
        return;
    }
    text.push_str("<h2>Choices of this server</h2>\n<table>\n");
    for (what, forms) in &report.choices {
        let _ = writeln!(text, "<tr><td>{}<td>{}", escaped(what), escaped(&forms.join(", ")));
    }
    text.push_str("</table>\n");
}

fn line(text: &mut String, row: &RowReport, page: Option<String>) {
    let statement =
        Catalogue::built_in().ok().and_then(|catalogue| catalogue.row(&row.id)).map_or("", |row| &row.statement);
    let outcome = row.outcome.as_str();
    let _ = write!(
        text,
        "<tr id=\"{id}\"><td>{name}<td>{level}<td class=\"{class}\">{outcome}<td>{statement}",
        id = row.id,
        name = page.map_or_else(|| row.id.clone(), |page| format!("<a href=\"{}\">{}</a>", escaped(&page), row.id)),
        level = row.level,
        class = outcome.replace(' ', "-"),
        statement = escaped(statement)
    );
    if !row.reason.is_empty() {
        let _ = write!(text, "<br><small>{}</small>", escaped(&cut(&row.reason, 1500)));
    }
    for finding in &row.findings {
        let _ =
            write!(text, "<details><summary>{}</summary><pre>{}", escaped(&finding.check), escaped(&finding.message));
        for (number, step) in finding.smallest.iter().enumerate() {
            let _ = write!(text, "\n{:>3} {}", number.saturating_add(1), escaped(step));
        }
        let _ = write!(text, "</pre><a href=\"#{}\">traffic</a></details>", anchor(&finding.check));
    }
    let _ = writeln!(text, "<td><small>{} observed</small>", row.observations);
}

fn traffic(text: &mut String, check: &CheckReport) {
    let _ = writeln!(
        text,
        "<details id=\"{}\"><summary>{} ({} exchanges)</summary>",
        anchor(&check.id),
        escaped(&check.id),
        check.trace.len()
    );
    let skipped = check.trace.len().saturating_sub(MOST);
    if skipped > 0 {
        let _ = writeln!(text, "<p>The first {skipped} are left out.</p>");
    }
    for exchange in check.trace.iter().skip(skipped) {
        let _ = writeln!(text, "<pre>{}</pre>", escaped(&shown(exchange)));
    }
    text.push_str("</details>\n");
}

/// An exchange as it would stand on the wire.
fn shown(exchange: &Exchange) -> String {
    let mut text = format!("#{} {} {}\n", exchange.number, exchange.method, exchange.url);
    for (name, value) in &exchange.headers {
        let _ = writeln!(text, "{name}: {value}");
    }
    if !exchange.body.is_empty() {
        let _ = writeln!(text, "\n{}", cut(&exchange.body, BODY));
    }
    match &exchange.answer {
        Err(reason) => {
            let _ = write!(text, "\nno answer: {reason}");
        }
        Ok(answer) => {
            let _ = writeln!(text, "\n{} after {} us", answer.status, exchange.micros);
            for (name, value) in &answer.headers {
                let _ = writeln!(text, "{name}: {value}");
            }
            let _ = write!(text, "\n{}", cut(&answer.body, BODY));
        }
    }
    text
}

fn anchor(check: &str) -> String {
    format!("check-{}", check.replace(|c: char| !c.is_ascii_alphanumeric(), "-"))
}

fn cut(text: &str, most: usize) -> String {
    let mut out: String = text.chars().take(most).collect();
    if text.chars().nth(most).is_some() {
        out.push_str(" ...");
    }
    out
}

pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn what_servers_send_is_no_markup() {
        let text = escaped("<script>alert('1')</script>\"&\u{1b}[31m");
        assert!(!text.contains(['<', '>', '"', '\'', '\u{1b}']), "{text}");
    }
}
