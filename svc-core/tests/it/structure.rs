//! The floors of the crate: what a module imports lies below it, so that no circle can come about.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The top modules, from the bottom up: each imports from those before it only.
const FLOORS: &[&str] = &[
    "value",
    "error",
    "json",
    "names",
    "schema",
    "describe",
    "model",
    "field_set",
    "link",
    "fair_queue",
    "auth",
    "context",
    "record",
    "draft",
    "helper",
    "filter",
    "page",
    "raw",
    "ops",
    "webhook",
    "read",
    "hal",
    "store",
    "rules",
    "mapped",
    "operation",
    "capability",
    "api",
    "internal",
    "memory",
    "laws",
];

/// What imports what it may not, in words.
fn upward(floors: &[&str], sources: &[(String, String)]) -> Vec<String> {
    let floor = |module: &str| floors.iter().position(|known| *known == module);
    let mut wrong = Vec::new();
    for (module, source) in sources {
        let Some(own) = floor(module) else {
            wrong.push(format!("`{module}` has no floor: add it to the list"));
            continue;
        };
        for import in imports(source) {
            if floor(&import).is_some_and(|other| other > own) {
                wrong.push(format!("`{module}` imports `{import}`, which lies above it"));
            }
        }
    }
    wrong
}

/// The top modules that a source names after `crate::`, its unit tests, comments and macros apart.
fn imports(source: &str) -> BTreeSet<String> {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    // What a macro names counts where it is used.
    let text = lines.collect::<Vec<_>>().join("\n").replace("$crate::", "");
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = text.get(at + "crate::".len()..).unwrap_or_default();
        match rest.strip_prefix('{') {
            Some(group) => found.extend(first_words(group)),
            None => found.extend(word(rest)),
        }
    }
    found
}

/// The first word of each member of a group, whose closing brace is found.
fn first_words(group: &str) -> Vec<String> {
    let (mut depth, mut begins, mut words) = (1, true, Vec::new());
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => begins = true,
            _ if begins && !letter.is_whitespace() => {
                begins = false;
                words.extend(group.get(at..).and_then(word));
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    words
}

fn word(text: &str) -> Option<String> {
    let end = text.find(|letter: char| !(letter.is_ascii_lowercase() || letter == '_')).unwrap_or(text.len());
    let word = text.get(..end)?;
    (!word.is_empty()).then(|| word.to_owned())
}

/// Every source file below a folder, with the name of its top module.
fn sources() -> Vec<(String, String)> {
    fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                collect(&entry, files);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                files.push(entry);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    let named = files.into_iter().filter_map(|path| {
        let first = path.strip_prefix(&root).ok()?.components().next()?.as_os_str().to_str()?;
        let module = first.trim_end_matches(".rs").to_owned();
        (module != "lib").then(|| (module, fs::read_to_string(path).unwrap()))
    });
    named.collect()
}

#[test]
fn no_module_imports_from_above() {
    let wrong = upward(FLOORS, &sources());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The check finds what is planted: in a group, in a path, and in a module without a floor.
#[test]
fn the_check_can_fail() {
    let source = |module: &str, text: &str| (module.to_owned(), text.to_owned());
    let planted = [
        source("low", "use crate::{\n    middle::{A, B},\n    high::C,\n};"),
        source("middle", "fn f() { crate::high::g(); crate::low::h(); }"),
        source("high", "use crate::low::X; // crate::nowhere\n#[cfg(test)]\nuse crate::high::Y;"),
        source("new", ""),
    ];
    let wrong = upward(&["low", "middle", "high"], &planted);
    let expected = [
        "`low` imports `high`, which lies above it",
        "`low` imports `middle`, which lies above it",
        "`middle` imports `high`, which lies above it",
        "`new` has no floor: add it to the list",
    ];
    assert_eq!(wrong, expected);
}

/// The rules are the rulebook's: who a posted person is, which identifiers join, and what was recorded before is decided in
/// one file each, and no other crate does it again.
#[test]
fn identity_rules_exist_once() {
    let deciding = ["fn recognise", "fn known", "fn joined", "fn recorded_before"];
    let files = sources();
    for rule in deciding {
        let places: Vec<&str> = files
            .iter()
            .filter(|(_, source)| source.contains(&format!("{rule}<")))
            .map(|(module, _)| module.as_str())
            .collect();
        assert_eq!(places, ["rules"], "{rule}");
    }
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    assert!(!manifest.contains("rusqlite"), "no store in the core");
}
