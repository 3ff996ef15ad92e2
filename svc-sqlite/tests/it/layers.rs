//! What a store is made of, read from the source of the crate whose tests these are: its length, the rules of the interface that
//! are in it, and its circles. `svc-postgres` reads itself with the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

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
pub(crate) struct Source {
    pub(crate) name: String,
    text: String,
}

impl Source {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        let code = without_tests(text).into_iter().map(|line| line.split("//").next().unwrap_or_default());
        Self { name: name.to_owned(), text: code.flat_map(|line| [line, "\n"]).collect() }
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
pub(crate) fn flat(tree: &str) -> Vec<String> {
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
pub(crate) fn sources() -> Vec<Source> {
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
pub(crate) fn rules(sources: &[Source], data: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        let name = &source.name;
        let is_data = |path: &str| {
            data.iter()
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
pub(crate) fn uses(sources: &[Source]) -> BTreeMap<&str, BTreeSet<String>> {
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
pub(crate) fn circle<'a>(uses: &BTreeMap<&'a str, BTreeSet<String>>) -> Vec<&'a str> {
    let mut left = uses.clone();
    // Whatever uses nothing that is left is no part of a circle.
    loop {
        let free = |used: &BTreeSet<String>| !used.iter().any(|used| left.contains_key(used.as_str()));
        let Some(free) = left.iter().find(|(_, used)| free(used)).map(|(module, _)| *module) else { break };
        left.remove(free);
    }
    left.into_keys().collect()
}
