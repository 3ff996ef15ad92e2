//! Which types of other crates the public API promises: the list on each crate's first page, and no others.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The crates, each with its folder beside this one.
const CRATES: [&str; 3] = ["svc-core", "svc-tower", "svc-sqlite"];

/// What begins the list on a crate's first page.
const LIST: &str = "//! Types of other crates in this API:";

/// The dependencies that a manifest names, as the code calls them.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let section = manifest.split("\n[dependencies]").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    let name = |line: &str| line.split(['.', ' ', '=']).next().unwrap_or_default().replace('-', "_");
    section.lines().map(name).filter(|name| !name.is_empty() && !name.starts_with('#')).collect()
}

/// The crates that the list on the first page names.
fn promised(first_page: &str) -> BTreeSet<String> {
    let list = first_page.split(LIST).nth(1).unwrap_or_default();
    let list = list.split("\n//!\n").next().unwrap_or_default();
    list.split('`').skip(1).step_by(2).filter_map(|path| path.split("::").next()).map(str::to_owned).collect()
}

/// The dependencies of which a public item of this source names a type.
fn named(source: &str, dependencies: &BTreeSet<String>) -> BTreeSet<String> {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines: Vec<&str> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let text = lines.join("\n");
    let mut imported = BTreeMap::new();
    for dependency in dependencies {
        for import in text.split(&format!("use {dependency}::")).skip(1) {
            let import = import.split(';').next().unwrap_or_default();
            imported.extend(words(import).filter(|word| is_type(word)).map(|word| (word, dependency)));
        }
    }
    let mut found = BTreeSet::new();
    for signature in signatures(&text) {
        found.extend(words(&signature).filter_map(|word| imported.get(&word)).map(|name| (*name).clone()));
        let whole = |dependency: &&String| {
            signature.contains(&format!(" {dependency}::")) || signature.contains(&format!("<{dependency}::"))
        };
        found.extend(dependencies.iter().filter(whole).cloned());
    }
    found
}

/// The signatures of public functions, the types of public fields, and public aliases.
fn signatures(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    let is_public = |line: &str| line.trim_start().starts_with("pub ");
    let starts = lines.iter().enumerate().filter(|(_, line)| is_public(line)).map(|(at, _)| at);
    let whole = starts.map(|at| {
        let is_function = lines.get(at).is_some_and(|line| line.contains("fn "));
        let mut signature = String::new();
        for line in lines.iter().skip(at).take(12) {
            signature.push_str(line);
            signature.push(' ');
            if line.ends_with(['{', ';', '}']) || (!is_function && line.ends_with(',')) {
                break;
            }
        }
        let declared = signature.split(" {").next().unwrap_or_default();
        declared.split(" = ").next().unwrap_or_default().to_owned()
    });
    // What a struct has inside is public where a field says so.
    let is_other = |signature: &str| {
        let begins = |with| signature.trim_start().starts_with(&format!("pub {with} "));
        ["use", "mod", "struct", "enum", "trait"].into_iter().any(begins)
    };
    whole.filter(|signature| !is_other(signature)).collect()
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).map(str::to_owned)
}

fn is_type(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_uppercase())
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            sources(&entry, files);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            files.push(entry);
        }
    }
}

#[test]
fn every_external_type_is_promised() {
    for name in CRATES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
        let dependencies = dependencies(&fs::read_to_string(folder.join("Cargo.toml")).unwrap());
        let promised = promised(&fs::read_to_string(folder.join("src/lib.rs")).unwrap());
        assert!(!promised.is_empty(), "{name}: the first page has no list that begins `{LIST}`");
        let unknown: Vec<_> = promised.iter().filter(|name| !dependencies.contains(*name)).collect();
        assert!(unknown.is_empty(), "{name} promises types of what it does not depend on: {unknown:?}");
        let mut files = Vec::new();
        sources(&folder.join("src"), &mut files);
        for file in files.iter().filter(|file| !file.components().any(|part| part.as_os_str() == "tests")) {
            let named = named(&fs::read_to_string(file).unwrap(), &dependencies);
            let extra: Vec<_> = named.difference(&promised).collect();
            assert!(extra.is_empty(), "{}: a public item names types of {extra:?}", file.display());
        }
    }
}

#[test]
fn the_check_can_fail() {
    let dependencies = BTreeSet::from(["http".to_owned(), "bytes".to_owned()]);
    let source = "use bytes::{Buf, Bytes};\npub fn a(&self,\n    b: Bytes) -> u8 {\nfn c(d: http::Uri) {}\npub(crate) fn e(f: http::Uri) {}";
    assert_eq!(named(source, &dependencies), BTreeSet::from(["bytes".to_owned()]));
    let source = "pub struct A {\n    pub uri: http::Uri,\n}";
    assert_eq!(named(source, &dependencies), BTreeSet::from(["http".to_owned()]));
    assert_eq!(
        promised("//! Types of other crates in this API: `http::Uri` and\n//! `bytes::Bytes`.\n//!\n//! `x`"),
        dependencies
    );
}
