//! One HTML page to read and to print. It has no script and uses no other file, and everything that
//! a server sent is escaped.

use std::fmt::Write as _;

use super::markup::{escaped, marked};
use super::picture;
use crate::catalogue::Catalogue;
use crate::outcome::RequirementOutcome;
use crate::recorder::Exchange;
use crate::replay::Replay;
use crate::report::{
    AREAS, AreaSummary, CauseReport, CheckReport, Report, RequirementReport, Score, area, source,
};

/// The maximum number of exchanges shown for one check.
const MOST: usize = 60;
/// The maximum number of characters shown of a body.
const BODY: usize = 4000;

/// The style sheet of a page.
pub(crate) const STYLE: &str = include_str!("html.css");

pub(super) fn written(report: &Report) -> String {
    let verdict = report.verdict();
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <title>Conformance: {verdict}</title>\n<style>\n{STYLE}</style></head><body><main>\n"
    );
    head(&mut text, report);
    causes(&mut text, &report.causes);
    let mut failed = report.with_outcome(RequirementOutcome::Fail).peekable();
    if failed.peek().is_some() {
        text.push_str("<h2 id=\"failures\">Failures</h2>\n");
    }
    failed.for_each(|row| failure(&mut text, report, row));
    areas(&mut text, report);
    text.push_str(&picture::trend(report));
    choices(&mut text, report);
    for (name, title) in AREAS {
        let mut rows = report
            .rows
            .iter()
            .filter(|row| area(&row.id) == *name)
            .peekable();
        if rows.peek().is_none() {
            continue;
        }
        let _ = writeln!(
            text,
            "<h2 id=\"{name}\">{name}: {title}</h2>\n<table>\n<caption>Requirements of {title}</caption>"
        );
        columns(
            &mut text,
            &["Id", "Level", "Outcome", "Requirement", "Observed"],
        );
        rows.for_each(|row| line(&mut text, row, report.page(&row.id)));
        text.push_str("</tbody>\n</table>\n");
    }
    let mut traced = report
        .checks
        .iter()
        .filter(|check| !check.trace.is_empty())
        .peekable();
    if traced.peek().is_some() {
        text.push_str("<h2 class=\"traffic\">Traffic of checks that failed</h2>\n");
    }
    traced.for_each(|check| traffic(&mut text, check));
    text.push_str("</main></body></html>\n");
    text
}

/// Writes the verdict and the figures of the run.
fn head(text: &mut String, report: &Report) {
    let class = match report.verdict() {
        "conformant" => "good",
        "not conformant" => "bad",
        _ => "open",
    };
    let (passed, failed) = (
        report.count(RequirementOutcome::Pass),
        report.count(RequirementOutcome::Fail),
    );
    let _ = writeln!(
        text,
        "<header class=\"{class}\"><h1>Conformance: {}</h1>\n<p class=\"lead\">{passed} of {} requirements pass, {failed} fail.</p>\n{}</header>\n<dl>",
        report.verdict(),
        report.judged_count(),
        picture::badge(report)
    );
    let run = format!(
        "profile {}, intensity {}, seed {}; {} requests in {:.1} s",
        report.profile.as_str(),
        report.intensity.as_str(),
        report.seed,
        report.requests,
        report.seconds
    );
    let suite = format!(
        "svc-conformance {}, catalogue {}; {}",
        report.suite,
        report.catalogue,
        Score::built_in_text()
    );
    let cleaned = format!(
        "{} of {} records removed",
        report.clean_up.removed, report.clean_up.created
    );
    for (name, value) in [
        ("Server", report.target.as_str()),
        ("API version", &report.interface),
        ("Declaration", source(report.declaration)),
        ("Started", &report.began),
        ("Run", &run),
        ("Clean-up", &cleaned),
        ("Suite", &suite),
    ] {
        let _ = writeln!(text, "<dt>{name}</dt><dd>{}</dd>", escaped(value));
    }
    text.push_str("</dl>\n");
    for (check, cut) in report.timed_out_checks() {
        let _ = writeln!(
            text,
            "<p class=\"inconclusive\">Cut off: {}: {}</p>",
            escaped(&check.id),
            escaped(&cut.said(MOST))
        );
    }
    for problem in report.broken_waivers.iter().chain(&report.profile_lacks) {
        let _ = writeln!(text, "<p class=\"fail\">{}</p>", escaped(problem));
    }
}

fn causes(text: &mut String, causes: &[CauseReport]) {
    if causes.is_empty() {
        return;
    }
    text.push_str("<h2 id=\"causes\">Causes</h2>\n");
    for cause in causes {
        let links: Vec<String> = cause
            .rows
            .iter()
            .map(|id| format!("<a href=\"#{id}\">{id}</a>"))
            .collect();
        let (sentence, remedy) = (marked(&cause.sentence()), marked(&cause.remedy));
        let like = match &*cause.like {
            [] => String::new(),
            like => format!(
                "<p>A known fault that causes these failures: {}</p>",
                marked(&like.join("; "))
            ),
        };
        let _ = writeln!(
            text,
            "<div class=\"card\"><p><strong>{sentence}</strong> {remedy}</p><p>Expected: {}</p><p>Received: {}</p>{like}<p>{}</p></div>",
            marked(&cause.expected),
            escaped(&cut(&cause.received, 400)),
            links.join(", ")
        );
    }
}

/// Writes a failed requirement with its smallest case and its replay files.
fn failure(text: &mut String, report: &Report, row: &RequirementReport) {
    let id = &row.id;
    let _ = writeln!(
        text,
        "<div class=\"card\"><h3><a href=\"#{id}\">{id}</a> <span class=\"fail\">{}</span></h3><p>{}</p><p>{}</p>",
        row.level,
        marked(statement(row)),
        escaped(&cut(&row.reason, 1500))
    );
    if let Some(finding) = row
        .findings
        .iter()
        .find(|finding| !finding.smallest.is_empty())
    {
        let steps = finding.smallest.iter().enumerate();
        let steps: Vec<String> = steps
            .map(|(at, step)| format!("{:>3} {step}", at.saturating_add(1)))
            .collect();
        let _ = writeln!(
            text,
            "<p>Smallest case:</p><pre>{}</pre>",
            escaped(&steps.join("\n"))
        );
    }
    if let Some(replay) = Replay::from_report(report, id) {
        let script = escaped(&cut(&replay.to_curl(), BODY));
        let _ = writeln!(
            text,
            "<details><summary>As <code>curl</code> commands</summary><pre>{script}</pre></details>"
        );
    }
    text.push_str("</div>\n");
}

/// Writes the head of a table and the start of its body.
fn columns(text: &mut String, names: &[&str]) {
    text.push_str("<thead><tr>");
    for name in names {
        let _ = write!(text, "<th scope=\"col\">{name}</th>");
    }
    text.push_str("</tr></thead>\n<tbody>\n");
}

fn areas(text: &mut String, report: &Report) {
    let outcomes = [
        RequirementOutcome::Fail,
        RequirementOutcome::Error,
        RequirementOutcome::Inconclusive,
        RequirementOutcome::Warn,
        RequirementOutcome::NotApplicable,
    ];
    text.push_str(
        "<h2 id=\"areas\">Areas</h2>\n<table>\n<caption>Requirements by area and outcome</caption>\n",
    );
    columns(
        text,
        &[
            "Area",
            "About",
            "Passed",
            "Fail",
            "Error",
            "Inconclusive",
            "Warn",
            "Not applicable",
        ],
    );
    for (name, title) in AREAS
        .iter()
        .filter(|(name, _)| report.rows.iter().any(|row| area(&row.id) == *name))
    {
        let tally = AreaSummary::of(report, name);
        let _ = write!(
            text,
            "<tr><th scope=\"row\"><a href=\"#{name}\">{name}</a></th><td>{title}</td><td>{}/{}</td>",
            tally.good(),
            tally.due()
        );
        for outcome in outcomes {
            match tally.count(outcome) {
                0 => text.push_str("<td class=\"quiet\">0</td>"),
                count => {
                    let _ = write!(text, "<td class=\"{}\">{count}</td>", class(outcome));
                }
            }
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody>\n</table>\n");
}

fn choices(text: &mut String, report: &Report) {
    if report.choices.is_empty() {
        return;
    }
    text.push_str(
        "<h2>Choices of this server</h2>\n<table>\n<caption>Where the specification accepts several forms</caption>\n",
    );
    columns(text, &["Where", "Form"]);
    for (what, forms) in &report.choices {
        let (what, forms) = (escaped(what), escaped(&forms.join(", ")));
        let _ = writeln!(
            text,
            "<tr><th scope=\"row\">{what}</th><td>{forms}</td></tr>"
        );
    }
    text.push_str("</tbody>\n</table>\n");
}

fn line(text: &mut String, row: &RequirementReport, page: Option<String>) {
    let _ = write!(
        text,
        "<tr id=\"{id}\"><th scope=\"row\">{name}</th><td>{level}</td><td class=\"{class}\">{outcome}</td><td>{statement}",
        id = row.id,
        name = page.map_or_else(
            || row.id.clone(),
            |page| format!("<a href=\"{}\">{}</a>", escaped(&page), row.id)
        ),
        level = row.level,
        class = class(row.outcome),
        outcome = row.outcome,
        statement = marked(statement(row))
    );
    if !row.reason.is_empty() {
        let _ = write!(
            text,
            "<br><small>{}</small>",
            escaped(&cut(&row.explanation(), 1500))
        );
    }
    for finding in &row.findings {
        let (check, found) = (escaped(&finding.check), escaped(&finding.message));
        let _ = write!(
            text,
            "<details><summary>{check}</summary><pre>{found}</pre>"
        );
        let _ = write!(
            text,
            "<a href=\"#{}\">traffic</a></details>",
            anchor(&finding.check)
        );
    }
    let _ = writeln!(text, "</td><td>{}</td></tr>", row.observations);
}

fn traffic(text: &mut String, check: &CheckReport) {
    let _ = writeln!(
        text,
        "<details class=\"traffic\" id=\"{}\"><summary>{} ({} exchanges)</summary>",
        anchor(&check.id),
        escaped(&check.id),
        check.trace.len()
    );
    let skipped = check.trace.len().saturating_sub(MOST);
    if skipped > 0 {
        let _ = writeln!(text, "<p>The first {skipped} are omitted.</p>");
    }
    for exchange in check.trace.iter().skip(skipped) {
        let _ = writeln!(text, "<pre>{}</pre>", escaped(&shown(exchange)));
    }
    text.push_str("</details>\n");
}

/// Returns an exchange in the form of HTTP/1.1 messages.
fn shown(exchange: &Exchange) -> String {
    let mut text = format!(
        "#{} {} {}\n",
        exchange.number, exchange.method, exchange.url
    );
    for (name, value) in &exchange.headers {
        let _ = writeln!(text, "{name}: {value}");
    }
    if !exchange.body.is_empty() {
        let _ = writeln!(text, "\n{}", cut(&exchange.body, BODY));
    }
    match &exchange.response {
        Err(reason) => {
            let _ = write!(text, "\nno response: {reason}");
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

fn statement(row: &RequirementReport) -> &'static str {
    Catalogue::built_in()
        .ok()
        .and_then(|catalogue| catalogue.requirement(&row.id))
        .map_or("", |row| &row.statement)
}

fn class(outcome: RequirementOutcome) -> String {
    outcome.as_str().replace(' ', "-")
}

fn anchor(check: &str) -> String {
    format!(
        "check-{}",
        check.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
    )
}

fn cut(text: &str, most: usize) -> String {
    let mut out: String = text.chars().take(most).collect();
    if text.chars().nth(most).is_some() {
        out.push_str(" ...");
    }
    out
}
