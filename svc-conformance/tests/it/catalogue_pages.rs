//! The catalogue as pages: one for each requirement, and every link has one of them as its target.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use svc_conformance::catalogue::Catalogue;

#[test]
fn every_link_leads_to_a_page_and_nothing_comes_from_elsewhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("new").join("pages");
    let mut program = Command::new(env!("CARGO_BIN_EXE_svc-conformance"));
    let done = program
        .arg("catalogue")
        .arg(&place)
        .output()
        .expect("the program");
    assert!(done.status.success(), "{done:?}");
    let mut pages: BTreeMap<String, String> = BTreeMap::new();
    for entry in fs::read_dir(&place).expect("the pages") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        pages.insert(name, fs::read_to_string(path).expect("a page"));
    }
    let rows = Catalogue::built_in().expect("a catalogue").requirements();
    assert_eq!(pages.len(), rows.len() + 2);
    for row in rows {
        assert!(
            pages["index.html"].contains(&format!("href=\"{}.html\"", row.id)),
            "{}",
            row.id
        );
    }
    for (name, text) in &pages {
        assert!(
            !text.contains("<script") && !text.contains("src="),
            "{name}"
        );
        for link in text
            .split("href=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
        {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = pages.get(if file.is_empty() { name.as_str() } else { file });
            let there = target.is_some_and(|page| {
                anchor.is_empty() || page.contains(&format!("id=\"{anchor}\""))
            });
            assert!(there, "{name} links {link}");
        }
    }
}
