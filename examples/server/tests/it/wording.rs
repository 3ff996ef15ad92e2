//! The wording of everything that people read: comments, messages, pages, READMEs, scripts.
//!
//! `tests/wording/phrases.tsv` has the phrases that are not used, each with what to write instead,
//! and longer phrases that are correct although they contain one of them.
//! `tests/wording/allowed.tsv` has the files in which a phrase is correct nevertheless.
//!
//! `cargo test -p svc-server --test it wording`. The module needs only the standard library, so
//! that `rustc --test` builds it alone, and `WORDING_UNDER=svc-core/rules cargo test …` reports one
//! folder.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

/// A piece of text with the line that it starts on.
struct Passage {
    line: usize,
    text: String,
    /// Whether its sentences are counted: documentation comments and Markdown.
    is_documentation: bool,
}

/// The folder of the workspace: the current folder if the module is built alone.
fn workspace() -> PathBuf {
    option_env!("CARGO_MANIFEST_DIR")
        .map_or_else(|| ".".into(), |package| Path::new(package).join("../.."))
}

/// The files whose wording is checked, relative to the workspace's folder and in order.
fn files(workspace: &Path) -> Vec<String> {
    const FORMATS: [&str; 11] = [
        "rs", "md", "toml", "js", "mjs", "css", "py", "sql", "sh", "tsv", "yml",
    ];
    /// Made by a program from texts that are checked, or data. Stores compare the digest of a
    /// migration, so its text cannot change.
    const NOT_READ: [&str; 6] = [
        "target",
        "node_modules",
        "golden",
        "snapshots",
        "pictures",
        "migrations",
    ];
    /// Made by programs: the names of mutants with the requirements that fail for them, and pins.
    const GENERATED: [&str; 2] = [
        "svc-conformance/known-faults.tsv",
        "svc-sqlite/tests/reference.toml",
    ];
    let mut found = Vec::new();
    let mut folders = vec![workspace.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the workspace can be read") {
            let entry = entry.expect("an entry of a folder can be read");
            let (path, name) = (
                entry.path(),
                entry.file_name().to_string_lossy().into_owned(),
            );
            if entry.file_type().expect("an entry has a type").is_dir() {
                if !NOT_READ.contains(&name.as_str()) && (!name.starts_with('.') || name == ".ci") {
                    folders.push(path);
                }
                continue;
            }
            let format = name.rsplit_once('.').map_or("", |(_, format)| format);
            let is_script = folder.file_name().is_some_and(|name| name == ".ci");
            let relative = path
                .strip_prefix(workspace)
                .expect("the path is below the workspace");
            let relative = relative.to_string_lossy().replace('\\', "/");
            if (FORMATS.contains(&format) || is_script) && !GENERATED.contains(&relative.as_str()) {
                found.push(relative);
            }
        }
    }
    found.sort();
    found
}

/// The texts of a file that people read.
fn texts(path: &str, content: &str) -> Vec<Passage> {
    match path.rsplit_once('.').map_or("", |(_, format)| format) {
        "rs" => code(content, "//", true),
        "js" | "mjs" => code(content, "//", false),
        "md" => markdown(content),
        "css" => code(content, "\0", false),
        "sql" => code(content, "--", false),
        "py" => code(content, "#", false),
        _ => plain(content),
    }
}

/// Every line of a file whose format is not known: scripts and tables.
fn plain(content: &str) -> Vec<Passage> {
    let line = |(line, text): (usize, &str)| Passage {
        line: line + 1,
        text: text.to_owned(),
        is_documentation: false,
    };
    content.lines().enumerate().map(line).collect()
}

/// The paragraphs, list items and table cells of a Markdown file, without code.
fn markdown(content: &str) -> Vec<Passage> {
    paragraphs(
        content
            .lines()
            .enumerate()
            .map(|(line, text)| (line + 1, text)),
    )
}

/// Joins the lines of Markdown to paragraphs.
fn paragraphs<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Vec<Passage> {
    let mut found: Vec<Passage> = Vec::new();
    let mut in_code = false;
    let mut is_open = false;
    for (line, text) in lines {
        let text = text.trim();
        if text.starts_with("```") {
            in_code = !in_code;
            is_open = false;
            continue;
        }
        if in_code {
            continue;
        }
        if text.starts_with('|') {
            is_open = false;
            let cell = |text: &str| Passage {
                line,
                text: text.to_owned(),
                is_documentation: true,
            };
            found.extend(
                text.split('|')
                    .filter(|cell| !cell.trim().is_empty())
                    .map(cell),
            );
            continue;
        }
        let begins = text.starts_with(['#', '>'])
            || ["- ", "* "].iter().any(|mark| text.starts_with(mark))
            || numbered(text);
        match found.last_mut() {
            Some(last) if is_open && !begins && !text.is_empty() => {
                last.text.push(' ');
                last.text.push_str(text);
            }
            _ if !text.is_empty() => {
                found.push(Passage {
                    line,
                    text: text.to_owned(),
                    is_documentation: true,
                });
            }
            _ => {}
        }
        is_open = !text.is_empty() && !text.starts_with('#');
    }
    found
}

/// Whether a line begins a numbered list item.
fn numbered(text: &str) -> bool {
    text.split_once(". ").is_some_and(|(number, _)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The comments and the strings of a program. A string without a space is data.
fn code(content: &str, comment: &str, is_rust: bool) -> Vec<Passage> {
    let mut found = Vec::new();
    let mut documentation: Vec<(usize, &str)> = Vec::new();
    let bytes = content.as_bytes();
    let (mut at, mut line) = (0, 1);
    while at < bytes.len() {
        let rest = &content[at..];
        if rest.starts_with(comment) {
            let end = rest.find('\n').map_or(content.len(), |end| at + end);
            let text = &content[at + comment.len()..end];
            match text.strip_prefix(['/', '!']) {
                Some(text) if is_rust => {
                    if documentation
                        .last()
                        .is_some_and(|(last, _)| last + 1 != line)
                    {
                        found.extend(paragraphs(documentation.drain(..)));
                    }
                    documentation.push((line, text));
                }
                _ => found.push(Passage {
                    line,
                    text: text.to_owned(),
                    is_documentation: false,
                }),
            }
            at = end;
            continue;
        }
        if rest.starts_with("/*") {
            let end = rest.find("*/").map_or(content.len(), |end| at + end + 2);
            found.push(Passage {
                line,
                text: content[at..end].to_owned(),
                is_documentation: false,
            });
            line += content[at..end].matches('\n').count();
            at = end;
            continue;
        }
        let string = if is_rust {
            rust_string(content, at)
        } else {
            script_string(content, at)
        };
        if let Some((text, end)) = string {
            if text.contains(' ') {
                // A line of a string that ends with a backslash continues on the next.
                let text = text
                    .replace("\\\n", " ")
                    .replace("\\n", " ")
                    .replace("\\\"", "\"");
                found.push(Passage {
                    line,
                    text,
                    is_documentation: false,
                });
            }
            line += content[at..end].matches('\n').count();
            at = end;
            continue;
        }
        line += usize::from(bytes[at] == b'\n');
        at += rest.chars().next().map_or(1, char::len_utf8);
    }
    found.extend(paragraphs(documentation.into_iter()));
    found
}

/// The text and the end of the Rust string, raw string or character that begins here.
fn rust_string(content: &str, at: usize) -> Option<(&str, usize)> {
    let rest = &content[at..];
    let is_word = content[..at]
        .chars()
        .next_back()
        .is_some_and(|before| before.is_alphanumeric() || before == '_');
    if let Some(raw) = rest.strip_prefix('r').filter(|_| !is_word) {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let body = raw[hashes..].strip_prefix('"')?;
        let end = body.find(&format!("\"{}", "#".repeat(hashes)))?;
        return Some((&body[..end], at + 1 + hashes + 1 + end + 1 + hashes));
    }
    if rest.starts_with('\'') {
        // A character, or the name of a lifetime.
        let mut characters = rest.char_indices().skip(1);
        let (_, first) = characters.next()?;
        let length = if first == '\\' {
            rest[2..].find('\'').map(|end| end + 3)?
        } else {
            characters.next().filter(|(_, last)| *last == '\'')?.0 + 1
        };
        return Some((
            "",
            at + length.max(if rest.starts_with("'\\''") { 4 } else { 0 }),
        ));
    }
    quoted(content, at, '"')
}

/// The text and the end of the string of a script that begins here.
fn script_string(content: &str, at: usize) -> Option<(&str, usize)> {
    const TRIPLE: &str = "\"\"\"";
    if let Some(body) = content[at..].strip_prefix(TRIPLE) {
        let end = body.find(TRIPLE)?;
        return Some((&body[..end], at + end + 2 * TRIPLE.len()));
    }
    let quote = content[at..]
        .chars()
        .next()
        .filter(|first| "\"'`".contains(*first))?;
    let found = quoted(content, at, quote)?;
    // An apostrophe in a text, or a quote in a regular expression.
    (quote == '`' || !found.0.contains('\n')).then_some(found)
}

/// The text and the end of the string in these quotes that begins here.
fn quoted(content: &str, at: usize, quote: char) -> Option<(&str, usize)> {
    let body = content[at..].strip_prefix(quote)?;
    let mut is_escaped = false;
    for (place, character) in body.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == quote => return Some((&body[..place], at + 1 + place + 1)),
            _ => {}
        }
    }
    None
}

/// Text without what is between backticks or braces, and without the addresses of links.
fn prose(text: &str) -> String {
    let mut prose = String::new();
    for (position, part) in text.split('`').enumerate() {
        prose.push_str(if position % 2 == 0 { part } else { " CODE " });
    }
    for (start, end, instead) in [("](", ")", " "), ("{", "}", " VALUE ")] {
        let mut rest = std::mem::take(&mut prose);
        while let Some((before, after)) = rest.split_once(start) {
            prose.push_str(before);
            prose.push_str(instead);
            rest = after
                .split_once(end)
                .map_or_else(String::new, |(_, after)| after.to_owned());
        }
        prose.push_str(&rest);
    }
    prose
}

/// The words of a text in lower case. A full stop, a colon and the like are words: no phrase
/// crosses them.
fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    for character in text.chars().chain([' ']) {
        if character.is_alphanumeric() || "_'’-".contains(character) {
            word.extend(character.to_lowercase());
            continue;
        }
        let complete = std::mem::take(&mut word);
        let complete = complete.trim_matches(['\'', '’']);
        if !complete.is_empty() {
            found.push(complete.to_owned());
        }
        if ".:;,()".contains(character) {
            found.push(character.to_string());
        }
    }
    found
}

/// The phrases of `phrases.tsv`: their words and what to write instead, `None` for one that is
/// correct.
fn phrases(table: &str) -> Vec<(Vec<String>, Option<String>)> {
    let row = |line: &str| {
        let (phrase, instead) = line
            .split_once('\t')
            .unwrap_or_else(|| panic!("phrases.tsv: no tab in {line:?}"));
        (
            words(phrase),
            (instead != "correct").then(|| instead.to_owned()),
        )
    };
    table.lines().skip(1).map(row).collect()
}

/// The places of the forbidden phrases in these words.
fn forbidden<'a>(
    words: &[String],
    phrases: &'a [(Vec<String>, Option<String>)],
) -> Vec<(String, &'a str)> {
    let places = |phrase: &[String]| -> Vec<usize> {
        words
            .windows(phrase.len().max(1))
            .enumerate()
            .filter(|(_, window)| *window == phrase)
            .map(|(place, _)| place)
            .collect()
    };
    let correct: Vec<(usize, usize)> = phrases
        .iter()
        .filter(|(_, instead)| instead.is_none())
        .flat_map(|(phrase, _)| {
            places(phrase)
                .into_iter()
                .map(|place| (place, place + phrase.len()))
        })
        .collect();
    let mut found = Vec::new();
    for (phrase, instead) in phrases {
        let Some(instead) = instead else { continue };
        for place in places(phrase) {
            let end = place + phrase.len();
            if !correct
                .iter()
                .any(|(from, to)| *from <= place && end <= *to)
            {
                found.push((phrase.join(" "), instead.as_str()));
            }
        }
    }
    found
}

/// The sentences of a paragraph.
fn sentences(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let characters: Vec<char> = text.chars().collect();
    for (place, character) in characters.iter().enumerate() {
        found
            .last_mut()
            .expect("there is a sentence")
            .push(*character);
        if ".?!:".contains(*character)
            && characters
                .get(place + 1)
                .is_some_and(|next| next.is_whitespace())
        {
            found.push(String::new());
        }
    }
    found
}

#[test]
fn plain_words_are_used() {
    const LONGEST: usize = 30;
    let workspace = workspace();
    let read = |name: &str| {
        fs::read_to_string(workspace.join("examples/server/tests/wording").join(name))
            .expect("the table can be read")
    };
    let phrases = phrases(&read("phrases.tsv"));
    let mut allowed: BTreeMap<(String, String), usize> = read("allowed.tsv")
        .lines()
        .skip(1)
        .map(|line| {
            let columns: Vec<&str> = line.split('\t').collect();
            let [file, phrase, number, _reason] = columns[..] else {
                panic!("allowed.tsv: not four columns in {line:?}")
            };
            (
                (file.to_owned(), phrase.to_owned()),
                number.parse().expect("a number of occurrences"),
            )
        })
        .collect();
    let under = std::env::var("WORDING_UNDER").unwrap_or_default();
    let (mut report, mut long) = (String::new(), String::new());
    let (mut found, mut all_sentences, mut long_sentences) = (0, 0, 0);
    for file in files(&workspace).iter().filter(|file| {
        file.starts_with(&under) && !file.starts_with("examples/server/tests/wording/")
    }) {
        let content = fs::read_to_string(workspace.join(file)).expect("a source is text");
        for Passage {
            line,
            text,
            is_documentation,
        } in texts(file, &content)
        {
            let text = prose(&text);
            for (phrase, instead) in forbidden(&words(&text), &phrases) {
                if let Some(left) = allowed
                    .get_mut(&(file.clone(), phrase.clone()))
                    .filter(|left| **left > 0)
                {
                    *left -= 1;
                    continue;
                }
                found += 1;
                let _ = writeln!(
                    report,
                    "{file}:{line}: \"{phrase}\" (write: {instead}): {}",
                    text.split_whitespace().collect::<Vec<_>>().join(" ")
                );
            }
            if !is_documentation {
                continue;
            }
            for sentence in sentences(&text) {
                let length = sentence
                    .split_whitespace()
                    .filter(|word| word.chars().any(char::is_alphanumeric))
                    .count();
                all_sentences += usize::from(length > 2);
                if length > LONGEST {
                    long_sentences += 1;
                    let _ = writeln!(
                        long,
                        "{file}:{line}: {length} words: {}",
                        sentence.split_whitespace().collect::<Vec<_>>().join(" ")
                    );
                }
            }
        }
    }
    if under.is_empty() {
        for ((file, phrase), _) in allowed.iter().filter(|(_, left)| **left > 0) {
            found += 1;
            let _ = writeln!(
                report,
                "{file}: \"{phrase}\" is allowed more often than it occurs"
            );
        }
    }
    println!(
        "{report}{long}{found} phrases; {long_sentences} of {all_sentences} sentences of more than {LONGEST} words"
    );
    assert!(
        found == 0 && long_sentences * 100 <= all_sentences,
        "see above"
    );
}
