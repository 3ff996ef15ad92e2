//! Checks the code in the guides.

/// Returns a fenced block of a guide.
fn block<'t>(guide: &'t str, fence: &str) -> &'t str {
    let (_, rest) = guide.split_once(&format!("```{fence}\n")).unwrap();
    rest.split_once("\n```").unwrap().0
}

/// The diff in the first guide results in the program that the guide compiles.
#[test]
fn the_diff_leads_to_the_program_that_is_compiled() {
    let guide = include_str!("../../src/guide/add_the_endpoints.md");
    let (diff, after) = (block(guide, "diff"), block(guide, "rust,no_run"));
    let kept = diff.lines().filter(|line| !line.starts_with('-'));
    let result: Vec<&str> = kept.map(|line| line.get(1..).unwrap_or_default()).collect();
    assert_eq!(result.join("\n"), after);
}
