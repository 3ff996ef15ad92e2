//! The modules of the suite as layers: what a module imports never leads back to it, so that each can be read and tested with
//! those below it alone. Only parent and child may know each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A module by its path, such as `["checks", "crud"]`.
type Module = Vec<String>;

/// Every module of a crate with its source, comments and unit tests apart.
fn modules(root: &Path) -> BTreeMap<Module, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![(root.to_path_buf(), Module::new())];
    while let Some((folder, module)) = folders.pop() {
        for path in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let mut own = module.clone();
            if path.is_dir() {
                own.push(name);
                folders.push((path, own));
            } else if path.extension().is_some_and(|extension| extension == "rs") && name != "main" {
                if !matches!(name.as_str(), "mod" | "lib") {
                    own.push(name);
                }
                found.insert(own, code(&fs::read_to_string(path).expect("a source")));
            }
        }
    }
    found
}

/// A source without comments and unit tests.
fn code(source: &str) -> String {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = source.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n").replace("$crate::", "")
}

/// Every path that a source names after `crate`, `self` or `super`, and every path of its `use`s.
fn paths(code: &str) -> Vec<Module> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let tree = code[at + "use ".len()..].split(';').next().unwrap_or_default();
        let begins = code[..at].trim_end_matches(|c: char| c == ' ' || c == ')' || c == '(' || c.is_alphanumeric());
        if begins.is_empty() || begins.ends_with(['\n', '{', ';']) {
            expand(&[], tree, &mut found);
        }
    }
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            let end = code[at..].find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
            let path = &code[at..end.map_or(code.len(), |end| at + end)];
            found.push(path.split("::").filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect());
        }
    }
    found
}

/// The paths of one tree of a `use`.
fn expand(before: &[String], tree: &str, found: &mut Vec<Module>) {
    let tree = tree.trim();
    let (path, group) = tree.split_once('{').map_or((tree, None), |(path, group)| (path, Some(group)));
    let path = path.split(" as ").next().unwrap_or_default();
    let words = path.split("::").map(str::trim).filter(|word| !word.is_empty()).map(ToOwned::to_owned);
    let whole: Module = before.iter().cloned().chain(words).collect();
    let Some(group) = group else { return found.push(whole) };
    let (mut depth, mut begin) = (0, 0);
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                expand(&whole, &group[begin..at], found);
                begin = at + 1;
            }
            _ => {}
        }
    }
}

/// What each module imports of its own crate: the deepest module that a path names.
fn imports(modules: &BTreeMap<Module, String>) -> BTreeMap<&Module, BTreeSet<&Module>> {
    let resolved = |from: &Module, path: &Module| {
        let mut full = from.clone();
        let mut rest = path.as_slice();
        match rest.first().map(String::as_str) {
            Some("crate") => (full, rest) = (Module::new(), &rest[1..]),
            Some("self") => rest = &rest[1..],
            Some("super") => {}
            Some(word) if modules.contains_key(&[from.as_slice(), &[word.to_owned()]].concat()) => {}
            _ => return None,
        }
        while rest.first().is_some_and(|word| word == "super") {
            full.pop();
            rest = &rest[1..];
        }
        full.extend(rest.iter().cloned());
        let found = (1..=full.len()).rev().find_map(|length| modules.get_key_value(&full[..length]));
        found.map(|(module, _)| module).filter(|module| *module != from)
    };
    let of = |from, code: &String| paths(code).iter().filter_map(|path| resolved(from, path)).collect();
    modules.iter().filter(|(module, _)| !module.is_empty()).map(|(module, code)| (module, of(module, code))).collect()
}

/// Circles among the modules of one parent, at every depth: what a module imports counts for its ancestors, too.
fn circles(modules: &BTreeMap<Module, String>) -> Vec<String> {
    let mut siblings: BTreeMap<Module, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (from, targets) in imports(modules) {
        for to in targets {
            let shared = from.iter().zip(to).take_while(|(one, other)| one == other).count();
            if let (Some(one), Some(other)) = (from.get(shared), to.get(shared)) {
                let group = siblings.entry(from[..shared].to_vec()).or_default();
                group.entry(one.clone()).or_default().insert(other.clone());
            }
        }
    }
    let mut found = Vec::new();
    for (parent, mut group) in siblings {
        // What imports nothing that is left is a layer; what cannot be taken away is a circle or lies above one.
        loop {
            let left: BTreeSet<String> = group.keys().cloned().collect();
            let before = group.len();
            for targets in group.values_mut() {
                targets.retain(|target| left.contains(target));
            }
            group.retain(|_, targets| !targets.is_empty());
            if group.len() == before {
                break;
            }
        }
        if !group.is_empty() {
            found.push(format!("a circle in `{}`: {group:?}", parent.join("::")));
        }
    }
    found
}

#[test]
fn no_module_leads_back_to_itself() {
    for folder in ["src", "catalogue/src", "self-test/src"] {
        let modules = modules(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
        assert!(imports(&modules).values().any(|imported| !imported.is_empty()), "no import was found in {folder}");
        let found = circles(&modules);
        assert!(found.is_empty(), "{folder}: {found:#?}");
    }
}

/// Circles by `crate`, by `super`, by groups, by inline paths and through children are found; parent and child are none.
#[test]
fn a_circle_is_found() {
    let planted = |sources: &[(&str, &str)]| {
        let module = |path: &str| path.split("::").filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect();
        circles(&sources.iter().map(|(path, source)| (module(path), code(source))).collect())
    };
    let circle = ["a circle in ``: {\"a\": {\"b\"}, \"b\": {\"a\"}}"];
    assert_eq!(planted(&[("a", "use crate::b::B;"), ("b", "fn f() { crate::a::g(); }")]), circle);
    assert_eq!(planted(&[("a", "use crate::{c::C, b::{self, B}};"), ("b", "use super::a;"), ("c", "")]), circle);
    assert_eq!(
        planted(&[("a", "mod x;"), ("a::x", "use crate::b::B;"), ("b", "pub(crate) use crate::a::x::X;")]),
        circle
    );
    let within = "a circle in `a`: {\"x\": {\"y\"}, \"y\": {\"x\"}}";
    assert_eq!(planted(&[("a", ""), ("a::x", "use super::y::Y;"), ("a::y", "use crate::a::x;")]), [within]);
    let fair: &[(&str, &str)] = &[
        ("a", "mod x;\nuse x::X; // use crate::b::B;"),
        ("a::x", "use super::A;"),
        ("b", "use crate::a::A;\n#[cfg(test)]\nmod tests {\n    use crate::c::C;\n}"),
        ("c", "use crate::b::B;"),
    ];
    assert_eq!(planted(fair), [""; 0]);
}
