//! Result files: their content, the rejected ones, and the page "who conforms".

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use svc_conformance::Report;
use svc_conformance::catalogue::Catalogue;

use crate::support::{Server, assert_contains_all, ended, folder, program, run};

/// A declaration of so little that a complete run is short.
const LITTLE: &str = "declaration_version = 1\ninterface_version = \"1.2.0\"\n\
                      [collections.tags]\nsingular = \"tag\"\noperations = [\"list\", \"read\"]\n";

/// Returns a report with these requirements.
fn report(rows: &[(&str, &str)]) -> Report {
    let row = |(id, outcome): &(&str, &str)| json!({"id": id, "level": "MUST", "outcome": outcome, "reason": "r", "observations": 1, "checks": []});
    let report = json!({
        "suite": "0.1.0", "catalogue": Catalogue::hash(Catalogue::TEXT), "target": "http://crm.example.org/",
        "interface": "1.2.0", "declaration": "published", "profile": "crm", "intensity": "quick", "seed": 42,
        "began": "2026-01-05T09:00:00Z", "causes": [], "rows": rows.iter().map(row).collect::<Vec<_>>(), "checks": [],
        "choices": {}, "requests": 7, "digest": "0123456789abcdef", "seconds": 1.25,
        "clean_up": {"created": 3, "removed": 3, "left": [], "failed": false}, "broken_waivers": [], "profile_lacks": [],
        "capabilities": {"declaration_version": 1, "collections": {"people": {"singular": "person"}}, "helpers": {"person_signup": {}}},
    });
    serde_json::from_value(report).expect("a report")
}

fn results(folder: &Path, arguments: &[&str]) -> (i32, String) {
    ended(
        &program(folder)
            .args(["results", "all"])
            .args(arguments)
            .output()
            .expect("the program"),
    )
}

#[test]
fn a_run_without_an_answer_leaves_no_files() {
    let folder = folder();
    let call = [
        "run",
        "http://127.0.0.1:9/api/v1/",
        "--no-config",
        "--quiet",
        "--result",
        "result.json",
        "--report",
        "json=r.json",
    ];
    let (code, said) = ended(
        &program(folder.path())
            .args(call)
            .output()
            .expect("the program"),
    );
    assert_eq!(code, 4, "{said}");
    assert_eq!(
        fs::read_dir(folder.path()).expect("a folder").count(),
        0,
        "{said}"
    );
}

#[test]
fn a_run_writes_a_result_file_that_results_accepts() {
    let (server, folder) = (Server::good(), folder());
    fs::write(folder.path().join("little.toml"), LITTLE).expect("written");
    fs::create_dir(folder.path().join("all")).expect("a folder");
    let arguments = [
        "--declaration",
        "little.toml",
        "--intensity",
        "quick",
        "--profile",
        "read",
        "--result",
        "all/ours.json",
    ];
    let (code, said) = run(
        folder.path(),
        &server.base,
        &[&arguments[..], &["--server-name", "Our CRM"]].concat(),
    );
    let text = fs::read_to_string(folder.path().join("all/ours.json"))
        .unwrap_or_else(|error| panic!("{error}: {said}"));
    let result: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (&result["name"], &result["profile"]),
        (&json!("Our CRM"), &json!("read"))
    );
    assert_eq!(
        (&result["collections"], &result["helpers"]),
        (&json!(["tags"]), &json!([]))
    );
    let counted: u64 = result["counts"]
        .as_object()
        .expect("counts")
        .values()
        .filter_map(Value::as_u64)
        .sum();
    assert_eq!(
        usize::try_from(counted).ok(),
        Some(Catalogue::built_in().expect("one").requirements().len())
    );
    assert_eq!(result["verdict"] == "conformant", code == 0, "{said}");
    assert!(text.len() < 4096, "{} bytes", text.len());
    for private in ["k-one", "127.0.0.1", "_links"] {
        assert!(!text.contains(private), "{private}: {text}");
    }
    let (code, said) = results(folder.path(), &[]);
    assert!(
        code == 0 && said.contains("Our CRM") && said.contains("1 results"),
        "{said}"
    );
}

/// A run of a part has no result for the whole.
#[test]
fn a_result_file_is_of_a_whole_run() {
    for option in [
        &["--only", "ENT-01"][..],
        &["--exclude", "ENT-01"],
        &["--fail-fast"],
    ] {
        let arguments = [&["--result", "result.json"][..], option].concat();
        let (code, said) = run(folder().path(), "http://127.0.0.1:9/", &arguments);
        assert!(
            code == 2 && said.contains("cannot be used with"),
            "{option:?}: {said}"
        );
    }
}

#[test]
fn a_file_that_was_changed_or_has_another_catalogue_is_refused() {
    let folder = folder();
    let all = folder.path().join("all");
    fs::create_dir(&all).expect("a folder");
    let good = report(&[("ENT-01", "pass"), ("ENT-02", "fail")]).result_file(Some("Good"));
    let mut older = report(&[("ENT-01", "pass")]);
    older.catalogue = "0123456789abcdef".to_owned();
    let older = older.result_file(None);
    let unknown = good.replacen('{', "{\"traffic\": [],", 1);
    for (name, text) in [
        ("good.json", good.as_str()),
        ("edited.json", &good.replace("not conformant", "conformant")),
        ("fewer.json", &good.replace("\"ENT-02\"", "")),
        ("older.json", &older),
        ("unknown.json", &unknown),
        ("nonsense.json", "[]"),
        ("readme.txt", "no result"),
    ] {
        fs::write(all.join(name), text).expect("written");
    }
    let (code, said) = results(folder.path(), &["--html", "page.html"]);
    assert_eq!(code, 1, "{said}");
    let sentences = [
        "edited.json is skipped: its digest is wrong: the file was changed after the run that wrote it.",
        "fewer.json is skipped: its digest is wrong",
        "older.json is skipped: its catalogue 0123456789abcdef is not the catalogue ",
        "unknown.json is skipped: it is not a result file of this version: unknown field `traffic`",
        "nonsense.json is skipped: it is not a result file of this version",
        "1 results",
    ];
    assert_contains_all(&said, &sentences);
    assert!(!said.contains("readme.txt"), "{said}");
    let page = fs::read_to_string(folder.path().join("page.html")).expect("a page");
    assert!(
        page.contains("<td class=\"fail\">not conformant</td>") && page.contains("ENT-02"),
        "{page}"
    );
    assert_eq!(page.matches("<tr>").count(), 2, "{page}");
    assert_eq!(
        results(folder.path(), &["--html", "no/such/page.html"]).0,
        5
    );
    assert_eq!(
        ended(
            &program(folder.path())
                .args(["results", "missing"])
                .output()
                .expect("the program")
        )
        .0,
        2
    );
}

/// A file with a valid digest may contain anything: none of it becomes markup.
#[test]
fn every_value_is_escaped_on_the_page() {
    let folder = folder();
    let all = folder.path().join("all");
    fs::create_dir(&all).expect("a folder");
    let markup = "<script>alert('1')</script>\"&";
    let mut hostile = report(&[("ENT-01", "pass")]);
    hostile.suite = markup.to_owned();
    hostile.interface = markup.to_owned();
    hostile.began = markup.to_owned();
    hostile.profile_lacks = vec![markup.to_owned()];
    hostile.rows[0].id = markup.to_owned();
    for (name, outcome) in [("failed", "fail"), ("waived", "waived")] {
        hostile.rows[0].outcome = serde_json::from_value(json!(outcome)).expect("an outcome");
        fs::write(
            all.join(format!("{name}.json")),
            hostile.result_file(Some(markup)),
        )
        .expect("written");
    }
    let (code, said) = results(folder.path(), &["--html", "page.html"]);
    assert_eq!(code, 0, "{said}");
    let page = fs::read_to_string(folder.path().join("page.html")).expect("a page");
    assert!(
        !page.contains("<script") && page.contains("&lt;script&gt;alert(&#39;1&#39;)"),
        "{page}"
    );
    for foreign in ["src=", "url(", "@import", "<link", "<iframe"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
}
