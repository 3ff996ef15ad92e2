//! The HTML page of a report: its content, and that it is a single file without external resources.

use std::collections::BTreeMap;

use serde_json::json;
use svc_conformance::{EarlierReport, Format, Report, Score};

fn report() -> Report {
    let finding = json!({
        "check": "ent/document",
        "message": "Content-Type \"text/plain\" on GET http://crm.example.org/ -> 200 <script>alert(1)</script>",
        "exchange": 2,
        "smallest": ["GET / 200 text/plain"],
        "cause": {"flaw": "header", "subject": "Content-Type"},
    });
    let exchange = json!({
        "number": 2, "check": "ent/document", "method": "GET", "url": "http://crm.example.org/",
        "headers": [["svc-api-token", "<key>"]], "body": "", "micros": 310,
        "answer": {"status": 200, "headers": [["content-type", "text/plain"]], "body": "{\"motd\":\"<b>Welcome</b>\"}"},
    });
    let row = |id: &str, outcome: &str, reason: &str| json!({"id": id, "level": "MUST", "outcome": outcome, "reason": reason, "observations": 3, "checks": ["ent/document"]});
    let mut failed = row("HAL-03", "fail", "Content-Type \"text/plain\"");
    failed["findings"] = json!([finding]);
    let report = json!({
        "suite": "0.1.0", "catalogue": "0123456789abcdef", "target": "http://crm.example.org/", "interface": "1.2.0",
        "declaration": "published", "profile": "all", "intensity": "quick", "seed": 42, "began": "2026-01-05T09:00:00Z",
        "causes": [{
            "flaw": "header", "subjects": ["Content-Type"], "what": "the header `Content-Type` is not as the specification requires",
            "remedy": "Set it for all successful responses in one place.", "rows": ["HAL-03"],
        }],
        "rows": [
            row("ENT-01", "pass", ""), failed, row("ENT-09", "inconclusive", "ent/document: not met"),
            row("UND-40", "not_applicable", "capabilities is not declared"),
        ],
        "checks": [{"id": "ent/document", "end": "done", "requests": 2, "records": 0, "trace": [exchange]}],
        "choices": {"a create answers": ["201"]}, "requests": 7, "digest": "0123456789abcdef", "seconds": 1.25,
        "clean_up": {"created": 3, "removed": 3, "left": [], "failed": false}, "broken_waivers": [], "profile_lacks": [],
    });
    serde_json::from_value(report).expect("a report")
}

#[test]
fn the_page_has_the_verdict_first_and_everything_else_after_it() {
    let mut report = report();
    report.earlier = vec![EarlierReport::from_report(&report)];
    report.earlier[0].began = "2026-01-04T09:00:00Z".to_owned();
    report.earlier[0].failed = 2;
    let page = report
        .to_format(Format::Html)
        .replace(&Score::built_in_text(), "SCORE");
    insta::assert_snapshot!(page);
}

/// The page is one file that loads no other file and runs no script. It escapes all markup that a
/// server sent, and its tables have headers.
#[test]
fn the_page_is_one_file_and_its_tables_have_captions_and_scopes() {
    let page = report().to_format(Format::Html);
    for foreign in [
        "<script",
        "src=",
        "url(",
        "@import",
        "<link",
        "<iframe",
        "onload",
        "<b>Welcome",
    ] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    let count = |text: &str| page.matches(text).count();
    assert!(count("<table>") >= 4);
    assert_eq!(count("<table>"), count("<caption>"));
    assert_eq!(count("<th>"), 0, "each head has its scope");
    assert!(!page.contains("Earlier reports"), "there are none");
    for (open, close) in [
        ("<table>", "</table>"),
        ("<details", "</details>"),
        ("<div", "</div>"),
        ("<tr", "</tr>"),
    ] {
        assert_eq!(count(open), count(close), "{open}");
    }
}

/// Returns the relative luminance of a colour such as `#1a1c1f` (WCAG 2.2).
fn luminance(color: &str) -> f64 {
    let part = |at: usize| {
        f64::from(u8::from_str_radix(&color[at..at + 2], 16).expect("a colour")) / 255.0
    };
    let linear = |part: f64| {
        if part <= 0.040_45 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * linear(part(1)) + 0.7152 * linear(part(3)) + 0.0722 * linear(part(5))
}

/// Every text colour has a contrast of 4.5 to 1 with each background (WCAG AA), light and dark.
#[test]
fn colours_can_be_told_apart() {
    let page = report().to_format(Format::Html);
    let sets: Vec<BTreeMap<&str, &str>> = page
        .split("--page:")
        .skip(1)
        .map(|set| {
            let set = set.split('}').next().expect("a set").split(';');
            let pairs = set.filter_map(|one| one.rsplit_once(": ").or(Some(("--page", one))));
            pairs
                .map(|(name, value)| (name.trim(), value.trim()))
                .filter(|(_, value)| value.starts_with('#'))
                .collect()
        })
        .collect();
    assert_eq!(sets.len(), 2);
    for set in sets {
        for (ground, text) in ["--page", "--panel"].iter().flat_map(|ground| {
            ["--text", "--quiet", "--link", "--good", "--bad", "--note"].map(|text| (*ground, text))
        }) {
            let (one, other) = (luminance(set[ground]), luminance(set[text]));
            let contrast = (one.max(other) + 0.05) / (one.min(other) + 0.05);
            assert!(contrast >= 4.5, "{text} on {ground}: {contrast:.2}");
        }
    }
}
