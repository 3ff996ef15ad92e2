//! A check that was stopped at its time limit: every report shows it, and no requirement passes by
//! it alone.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use serde_json::{Value, json};
use svc_conformance::{
    Format, InProcess, Keys, Report, RequirementOutcome, Suite, read_declaration,
};
use tower::service_fn;

/// Runs against a server whose entry point responds, and whose collection never responds.
async fn report() -> Report {
    let text = "declaration_version = 1\n[collections.people]\nsingular = \"person\"\noperations = [\"list\"]\n";
    let service = service_fn(|request: Request<Full<Bytes>>| async move {
        if request.uri().path() != "/" {
            std::future::pending::<()>().await;
        }
        let entry =
            json!({ "_links": { "self": { "href": "/" }, "svc:people": { "href": "/people" } } });
        let mut response = Response::new(Full::<Bytes>::from(entry.to_string()));
        response.headers_mut().insert(
            "content-type",
            "application/hal+json".parse().expect("a value"),
        );
        Ok::<_, Infallible>(response)
    });
    Suite::new(InProcess::new(service))
        .declaration(read_declaration(text).expect("a declaration"))
        .keys(Keys::primary("k-one"))
        .timeout(Duration::from_secs(60 * 60))
        .check_timeout(Duration::from_millis(50))
        .only(["COL-20", "ENT-01"])
        .run()
        .await
        .expect("a report")
}

#[tokio::test]
async fn a_check_that_is_cut_is_told_and_decides_nothing() {
    let report = report().await;
    assert_eq!(
        report.requirement("COL-20").map(|row| row.outcome),
        Some(RequirementOutcome::Inconclusive),
        "{report}"
    );
    assert_eq!(report.exit_code(), 3, "{report}");
    let (check, cut) = report
        .timed_out_checks()
        .find(|(check, _)| check.id == "col/pages")
        .expect("a check that was stopped");
    assert!(
        (cut.seconds - 0.05).abs() < 1e-9 && cut.passed.is_empty(),
        "{cut:?}"
    );
    let line = format!(
        "\nCUT {}: it was cut off after 0.1 s, before it finished; to allow more time, use --check-timeout\n",
        check.id
    );
    assert!(report.to_string().contains(&line), "{report}");
    let json: Value = serde_json::from_str(&report.to_format(Format::Json)).expect("JSON");
    let schema: Value = serde_json::from_str(Format::SCHEMA).expect("a schema");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let problems: Vec<String> = validator
        .iter_errors(&json)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(problems, Vec::<String>::new());
}

/// A requirement that passes although a check was stopped is not a plain pass in any report for
/// people.
#[tokio::test]
async fn a_row_that_passes_beside_a_check_that_was_cut_is_marked() {
    let mut json: Value =
        serde_json::from_str(&report().await.to_format(Format::Json)).expect("JSON");
    let reason =
        "it passes because of other checks, but a/check: the check did not finish within 120s";
    for row in json["rows"].as_array_mut().expect("rows") {
        if row["id"] == "ENT-01" {
            row["outcome"] = json!("pass");
            row["reason"] = json!(reason);
        }
    }
    let checks = json["checks"].as_array_mut().expect("checks");
    let check = checks
        .iter_mut()
        .find(|check| check["cut"].is_object())
        .expect("a check that was stopped");
    check["cut"]["passed"] = json!(["ENT-01"]);
    let report: Report = serde_json::from_value(json).expect("a report");
    let text = report.to_format(Format::Text);
    assert!(
        text.contains(
            "before it finished; these requirements pass because of other checks: ENT-01; to allow more time, use --check-timeout"
        ),
        "{text}"
    );
    assert!(
        text.contains("1 pass (1 only partly observed: a check was cut off)"),
        "{text}"
    );
    let area = text
        .lines()
        .find(|line| line.starts_with(" ENT "))
        .unwrap_or_default();
    assert!(
        area.ends_with("1 only partly observed: a check was cut off"),
        "{text}"
    );
    for format in [Format::Markdown, Format::Html] {
        let text = report.to_format(format);
        assert!(
            text.contains("these requirements pass because of other checks: ENT-01"),
            "{text}"
        );
    }
    for format in [Format::Junit, Format::Html, Format::Matrix] {
        let text = report.to_format(format);
        assert!(text.contains(reason), "{text}");
    }
}
