//! The README's table of the self-test is generated from its results file. `BLESS=1` writes it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

const BEGIN: &str = "<!-- made from self-test.json -->\n";
const END: &str = "<!-- end -->";

fn table(results: &Value) -> String {
    let number = |value: &Value, name: &str| value[name].as_u64().unwrap_or_default();
    let of = |value: &Value, part: &str, whole: &str| {
        format!("{} of {}", number(value, part), number(value, whole))
    };
    if number(results, "runs") == 0 {
        return "Not measured yet.\n".to_owned();
    }
    let text = |name: &str| results[name].as_str().unwrap_or_default();
    let mut out = format!(
        "{}, catalogue `{}`, version {}, {} seeds, {} s of simultaneous runs:\n\n| Servers | How many | Runs that found the fault |\n|---|---|---|\n",
        text("date"),
        text("catalogue"),
        text("suite"),
        results["seeds"][1].as_u64().unwrap_or_default()
            - results["seeds"][0].as_u64().unwrap_or_default(),
        number(results, "seconds"),
    );
    for family in results["families"].as_array().into_iter().flatten() {
        let name = family["family"].as_str().unwrap_or_default();
        let _ = writeln!(
            out,
            "| {name} | {} | {} |",
            number(family, "servers"),
            of(family, "killed", "runs")
        );
    }
    let _ = writeln!(
        out,
        "| **all mutants** | {} | {} |",
        number(results, "servers"),
        of(results, "killed", "runs")
    );
    let rows = results["seen"].as_object().map_or(0, serde_json::Map::len);
    let unseen = results["unseen"].as_array().map_or(0, Vec::len);
    let of_rows = format!("{rows} of {}", rows + unseen);
    let quick = of(results, "quick_killed", "quick_runs");
    let _ = writeln!(
        out,
        "| the same at `quick`, one seed | {} | {quick} |",
        number(results, "servers")
    );
    out.push_str("\n| Planted fault | Steps needed | Found | Steps of the longest case found |\n|---|---|---|---|\n");
    for one in results["smallest"].as_array().into_iter().flatten() {
        let (name, shortest) = (
            one["name"].as_str().unwrap_or_default(),
            number(one, "shortest"),
        );
        let _ = writeln!(
            out,
            "| {name} | {shortest} | {} | {} |",
            of(one, "found", "seeds"),
            number(one, "longest")
        );
    }
    let _ = writeln!(
        out,
        "\nMUST requirements that failed for a mutant: {of_rows}. Unusual but conformant servers \
            with a failed requirement: {}, in {} runs.",
        of(results, "accused", "odd"),
        number(results, "odd_runs")
    );
    out
}

#[test]
fn the_table_is_that_of_the_results_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let results = fs::read_to_string(folder.join("self-test.json")).expect("the results");
    let results: Value = serde_json::from_str(&results).expect("JSON");
    let path = folder.join("README.md");
    let readme = fs::read_to_string(&path).expect("the README");
    let (before, rest) = readme
        .split_once(BEGIN)
        .expect("the README has a place for the table");
    let (shown, after) = rest.split_once(END).expect("the table has an end");
    let table = table(&results);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}"))
            .expect("the README can be written");
    } else {
        assert_eq!(shown, table, "run with BLESS=1");
    }
}

#[test]
fn the_results_are_of_ten_seeds_at_least_and_enough() {
    let results = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("self-test.json"))
        .expect("the results");
    let results: Value = serde_json::from_str(&results).expect("JSON");
    let number = |name: &str| {
        results[name]
            .as_u64()
            .unwrap_or_else(|| panic!("no {name}"))
    };
    let seeds = results["seeds"][1].as_u64().expect("the last seed");
    assert_eq!(
        (&results["intensity"], &results["seeds"]),
        (&json!("default"), &json!([0, seeds]))
    );
    assert!(seeds >= 10 && number("servers") >= 980 && number("runs") == seeds * number("servers"));
    assert_eq!(number("killed"), number("runs"), "{}", results["survivors"]);
    assert!(
        10 * number("quick_killed") >= 9 * number("quick_runs")
            && number("quick_runs") >= number("servers")
    );
    assert!(number("odd") >= 27 && number("odd_runs") >= 13 * number("odd"));
    assert_eq!(
        (number("accused"), number("broken")),
        (0, 0),
        "{}",
        results["accusations"]
    );
    assert_eq!(results["unseen"], json!([]));
    let smallest = results["smallest"].as_array().expect("planted faults");
    assert_eq!(smallest.len(), 5);
    for one in smallest {
        let steps = |name: &str| {
            one[name]
                .as_u64()
                .unwrap_or_else(|| panic!("no {name}: {one}"))
        };
        assert_eq!((steps("seeds"), steps("found")), (seeds, seeds), "{one}");
        assert!(steps("longest") <= steps("shortest") + 1, "{one}");
    }
}
