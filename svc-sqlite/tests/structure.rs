//! What this crate is made of, read from its source: short, without a rule of the interface, and without a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Lines of this crate without unit tests, at most.
const LINES: usize = 4_250;

/// What a file may take from `svc_core`: plain data, how a store is asked, and nothing that decides anything. Whatever
/// begins with one of these paths.
const DATA: [&str; 28] = [
    "Revision",
    "Context",
    "Error",
    "ErrorKind",
    "ListRequest",
    "Result",
    "Tenant",
    "api::ApiBuilder",
    "auth",
    "context::Context",
    "error::Error",
    "error::Result",
    "helper::PersonMatching",
    "helper::StockMatching",
    "link::Address",
    "link::Scope",
    "link::ShareNames",
    "model::Kind",
    "model::PerKind",
    "raw::RawPage",
    "raw::RawRecord",
    "record",
    "rules::Repair",
    "rules::decide",
    "schema::Reference",
    "schema::Source",
    "store",
    "value",
];

/// Words that only a rule of the interface needs: what is wrong with a request, and what a record means.
const RULES: [&str; 11] = [
    "Problem",
    "Code::",
    "Error::invalid",
    "Error::refused",
    "ErrorKind::Invalid",
    "into_problems",
    "Peculiarity",
    "OnDelete",
    "RawDraft",
    "RawPatch",
    "RawPlan",
];

/// A source file: its name from `src` on, and its text without comments and unit tests.
struct Source {
    name: String,
    text: String,
    lines: usize,
}

impl Source {
    fn new(name: &str, text: &str) -> Self {
        let lines: Vec<&str> = without_tests(text);
        let code = lines.iter().map(|line| line.split("//").next().unwrap_or_default());
        let code: String = code.flat_map(|line| [line, "\n"]).collect();
        Self { name: name.to_owned(), text: code, lines: lines.len() }
    }

    /// The module of `src` that it belongs to.
    fn module(&self) -> &str {
        self.name.split('/').next().unwrap_or_default().trim_end_matches(".rs")
    }

    /// Whether it has the text of a statement.
    fn speaks_sql(&self) -> bool {
        ["SELECT ", "INSERT ", "UPDATE ", "DELETE "].iter().any(|word| self.text.contains(word))
    }

    /// Everything that it takes from a crate: in `use`, and with the whole path in its code.
    fn paths(&self, root: &str) -> BTreeSet<String> {
        let prefix = format!("{root}::");
        self.text.match_indices(&prefix).flat_map(|(at, _)| flat(&self.text[at + prefix.len()..])).collect()
    }
}

/// The lines above the unit tests; none of a module that is one as a whole.
fn without_tests(text: &str) -> Vec<&str> {
    text.lines().take_while(|line| line.trim_end() != "#[cfg(test)]").collect()
}

/// `a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`.
fn flat(tree: &str) -> Vec<String> {
    let end =
        tree.find(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != ':').unwrap_or(tree.len());
    let head = &tree[..end];
    if !tree[end..].starts_with('{') {
        return vec![head.trim_end_matches(':').to_owned()];
    }
    let (mut depth, mut part, mut parts) = (0_usize, String::new(), Vec::new());
    for letter in tree[end..].chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        match letter {
            '{' if depth == 1 => {}
            ',' if depth == 1 => parts.push(std::mem::take(&mut part)),
            '}' if depth == 0 => break,
            _ => part.push(letter),
        }
    }
    parts.push(part);
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.flat_map(flat).map(|part| format!("{head}{part}")).collect()
}

/// Every source file but unit tests.
fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut found) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            let is_test = path.file_stem().is_some_and(|name| name == "tests");
            if is_test {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
                found.push(Source::new(&name, &fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

/// What comes after a word, each time that it is not the end of a longer one.
fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    let places = text.match_indices(word).map(|(at, _)| at);
    let whole = places.filter(|at| !text[..*at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_'));
    whole.map(|at| &text[at + word.len()..])
}

/// What of the interface's rules is in these files.
fn rules(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        let name = &source.name;
        let is_data = |path: &str| {
            DATA.iter()
                .any(|data| path.strip_prefix(data).is_some_and(|rest| rest.is_empty() || rest.starts_with("::")))
        };
        let paths = source.paths("svc_core");
        found.extend(paths.iter().filter(|path| !is_data(path)).map(|path| format!("{name}: svc_core::{path}")));
        let has_word = |word: &&&str| words(&source.text, word).next().is_some();
        found.extend(RULES.iter().filter(has_word).map(|word| format!("{name}: {word}")));
        // Only who writes the text of a statement knows one kind from another; `Kind::$name` stands for all of them.
        let is_one = |rest: &str| !rest.starts_with("ALL") && !rest.starts_with('$');
        if words(&source.text, "Kind::").any(is_one) && !source.speaks_sql() {
            found.push(format!("{name}: knows one kind from another"));
        }
    }
    found
}

/// Which module of `src` uses which others.
fn uses(sources: &[Source]) -> BTreeMap<&str, BTreeSet<String>> {
    let modules: BTreeSet<&str> = sources.iter().map(Source::module).collect();
    let mut graph: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    // `lib.rs` names all of them, and hands some of their types on under its own name.
    for source in sources.iter().filter(|source| source.module() != "lib") {
        let others = graph.entry(source.module()).or_default();
        for path in source.paths("crate") {
            let other = path.split("::").next().unwrap_or_default();
            assert!(modules.contains(other), "{}: `crate::{path}` is in no module: name it where it is", source.name);
            if other != source.module() {
                others.insert(other.to_owned());
            }
        }
    }
    graph
}

/// The modules that lead back to themselves.
fn circle<'a>(uses: &BTreeMap<&'a str, BTreeSet<String>>) -> Vec<&'a str> {
    let mut left = uses.clone();
    // Whatever uses nothing that is left is no part of a circle.
    loop {
        let free = |used: &BTreeSet<String>| !used.iter().any(|used| left.contains_key(used.as_str()));
        let Some(free) = left.iter().find(|(_, used)| free(used)).map(|(module, _)| *module) else { break };
        left.remove(free);
    }
    left.into_keys().collect()
}

#[test]
fn the_crate_is_small() {
    let sources = sources();
    let lines: usize = sources.iter().map(|source| source.lines).sum();
    println!("{lines} lines in {} files, without unit tests", sources.len());
    assert!(lines > 2_000, "the count is wrong: {lines}");
    assert!(lines <= LINES, "{lines} lines: what another store would write, too, belongs into svc-core");
    for source in &sources {
        assert!(source.lines <= 400, "{}: {} lines", source.name, source.lines);
    }
}

/// Every rule of the interface is in `svc-core`: no file has what a rule needs, and none but those that speak SQL knows one
/// kind from another.
#[test]
fn no_file_decides_a_rule() {
    assert_eq!(rules(&sources()), Vec::<String>::new());
}

#[test]
fn no_module_leads_back_to_itself() {
    let sources = sources();
    let uses = uses(&sources);
    assert_eq!(circle(&uses), Vec::<&str>::new());
    assert!(uses["store"].contains("writer") && uses["writer"].contains("batch"), "{uses:?}");
}

#[test]
fn the_checks_can_fail() {
    let rule = Source::new(
        "people.rs",
        "use svc_core::{Error, helper::{PersonMatching, merge}, store::Call};\n\
         fn refuse() -> Error { Error::invalid(Problem::new(Code::NameInUse, \"name\", \"\")) }\n\
         // Kind::Person in a comment\nfn is(kind: Kind) -> bool { kind == Kind::Person }\n",
    );
    let found = rules(&[rule]);
    let expected = ["svc_core::helper::merge", "Problem", "Code::", "Error::invalid", "knows one kind from another"];
    assert_eq!(found, expected.map(|what| format!("people.rs: {what}")));
    // A file that speaks SQL may name a kind; a whole path in the code counts as an import does.
    let sql = Source::new("fetch.rs", "const A: &str = \"SELECT 1\";\nlet k = Kind::Tag; svc_core::rules::known(k);");
    assert_eq!(rules(&[sql]), ["fetch.rs: svc_core::rules::known"]);

    let source = |name, text| Source::new(name, text);
    let files = [
        source("a.rs", "use crate::{b::{B, Other}, d};"),
        source("b.rs", "fn f() { crate::c::g() }"),
        source("c/inner.rs", "use super::C;\nuse crate::a::A;"),
        source("d.rs", "use std::fmt;\n#[cfg(test)]\nmod tests { use crate::a::A; }"),
        source("e.rs", "use crate::a;"),
    ];
    assert_eq!(circle(&uses(&files)), ["a", "b", "c", "e"]);
    assert_eq!(circle(&uses(&[source("a.rs", "use crate::d::D;"), source("d.rs", "")])), Vec::<&str>::new());
    assert_eq!(flat("a::{b, c::{d, e as f}, self}; more"), ["a::b", "a::c::d", "a::c::e", "a::self"]);
    assert_eq!(source("a.rs", "one\ntwo\n#[cfg(test)]\nmod tests;\n").lines, 2);
}
