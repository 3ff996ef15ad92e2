//! One page per requirement, and an index of all requirements. The pages have one style sheet and
//! no script, and load nothing from other sites.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;

use super::page;
use crate::catalogue::{Catalogue, Requirement};
use crate::formats::{escaped, marked};

/// The style sheet of every page.
const STYLE: &str = "\
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1a1a1a; background: #fff }
table { border-collapse: collapse; width: 100% }
td, th { border-bottom: 1px solid #ddd; padding: .25rem .5rem; text-align: left; vertical-align: top; overflow-wrap: anywhere }
td:first-child { white-space: nowrap }
dt { font-weight: 600; margin-top: .75rem }
dd { margin: 0 }
code { background: #f2f2f2; padding: 0 .2rem }
nav a { margin-right: 1rem }
fieldset { border: 1px solid #ddd; margin: 1rem 0 }
body:has(#must:checked) tbody tr:not(.must), body:has(#should:checked) tbody tr:not(.should),
body:has(#may:checked) tbody tr:not(.may) { display: none }
@media (prefers-color-scheme: dark) {
  body { color: #eee; background: #111 }
  a { color: #8ab4ff }
  code { background: #2a2a2a }
  td, th, fieldset { border-color: #444 }
}
";

/// The abbreviations that requirements use for common observations.
pub(super) const WORDS: &[(&str, &str)] = &[
    ("TC", "the value has the stated type (type check)"),
    ("RT", "what is sent is read back (round trip)"),
    (
        "EN",
        "every value of the closed list is read back, and a value outside it is rejected (enum)",
    ),
    (
        "FX",
        "every listed value and free text are read back (flexible enum)",
    ),
    ("CP", "the server sets the value (computed)"),
    (
        "LK",
        "the link is present if it is declared, and its target is as stated",
    ),
    (
        "HL",
        "the link to a helper is present if it is declared, and the helper responds",
    ),
    (
        "store",
        "the value is accepted, stored and returned unchanged",
    ),
    ("compute", "the server sets the value"),
    ("emit", "the link is always present"),
    ("as stated", "does what the requirement states"),
    ("-", "nothing to implement"),
];

const HEAD: &str = "<thead><tr><th scope=\"col\">Id<th scope=\"col\">Level<th scope=\"col\">Requirement</thead><tbody>";

/// What the self-test observed of mutants.
#[derive(Debug, Default, Deserialize)]
struct SelfTestResults {
    date: String,
    catalogue: String,
    /// The requirements that each mutant failed, joined by spaces.
    failed: BTreeMap<String, String>,
}

/// The data from which the pages are generated.
#[derive(Debug)]
pub(super) struct PageInputs<'c> {
    catalogue: &'c Catalogue,
    results: SelfTestResults,
}

impl<'c> PageInputs<'c> {
    /// Returns the pages of a catalogue, with the results of the self-test.
    pub(super) fn new(catalogue: &'c Catalogue, results: &str) -> Self {
        Self {
            catalogue,
            results: serde_json::from_str(results).unwrap_or_default(),
        }
    }

    /// Returns every file by its name.
    pub(super) fn all(&self) -> BTreeMap<String, String> {
        let rows = self.catalogue.requirements();
        let mut files: BTreeMap<String, String> = rows
            .iter()
            .map(|row| (page(&row.id), self.row(row)))
            .collect();
        files.insert("index.html".to_owned(), self.index());
        files.insert("style.css".to_owned(), STYLE.to_owned());
        files
    }

    fn row(&self, row: &Requirement) -> String {
        let (id, level) = (&row.id, row.level);
        let mut text = begun(id);
        let at = self
            .catalogue
            .requirements()
            .iter()
            .position(|other| other.id == *id)
            .unwrap_or_default();
        let near = |at: Option<usize>| at.and_then(|at| self.catalogue.requirements().get(at));
        text.push_str("<nav aria-label=\"Requirements\">");
        for (name, row) in [
            ("Previous", near(at.checked_sub(1))),
            ("Next", near(at.checked_add(1))),
        ] {
            if let Some(row) = row {
                let _ = write!(text, "<a href=\"{}\">{name}: {}</a>", page(&row.id), row.id);
            }
        }
        let _ = writeln!(
            text,
            "<a href=\"index.html#{area}\">Area {area}</a><a href=\"index.html\">All requirements</a><a href=\"index.html#words\">Abbreviations</a></nav>",
            area = row.area()
        );
        let _ = writeln!(
            text,
            "<main>\n<h1>{id} <small>{level}</small></h1>\n<p>{}</p>\n<dl>",
            marked(&row.statement)
        );
        let mut entry = |name: &str, html: &str| {
            let _ = writeln!(text, "<dt>{name}</dt><dd>{html}</dd>");
        };
        entry("Section", &marked(&row.section));
        entry(
            "Applies when",
            &format!(
                "{} (<code>{}</code>)",
                marked(&row.applies_if.describe()),
                escaped(&row.condition)
            ),
        );
        for behaviour in self
            .catalogue
            .behaviours()
            .iter()
            .filter(|one| row.applies_if.contains_word(&one.name))
        {
            entry(
                &format!("Behaviour <code>{}</code>", escaped(&behaviour.name)),
                &marked(&behaviour.means),
            );
        }
        if let Some(field) = row.field() {
            entry(
                "Field",
                &format!(
                    "<code>{}.{}</code> of type <code>{}</code>",
                    field.owner, field.path, field.kind
                ),
            );
        }
        if let Some(link) = row.link() {
            entry(
                "Link",
                &format!("<code>{}</code> of <code>{}</code>", link.name, link.owner),
            );
        }
        entry("How it is observed", &marked(&row.observed));
        entry("Reference server", &marked(&row.reference));
        let checks: Vec<String> = row
            .checks
            .iter()
            .map(|check| format!("<li><code>{}</code>", escaped(check)))
            .collect();
        entry("Checks", &format!("<ul>{}</ul>", checks.concat()));
        entry("Mutants that failed it", &self.faulty(id));
        text.push_str("</dl>\n</main>\n</body></html>\n");
        text
    }

    fn faulty(&self, id: &str) -> String {
        let failed = self
            .results
            .failed
            .iter()
            .filter(|(_, rows)| rows.split(' ').any(|row| row == id));
        let names: Vec<String> = failed
            .map(|(name, _)| format!("<li>{}", escaped(name)))
            .collect();
        if names.is_empty() {
            return "none".to_owned();
        }
        let (date, digest) = (
            escaped(&self.results.date),
            escaped(&self.results.catalogue),
        );
        let of = format!(
            "{}, as measured on {date} with catalogue <code>{digest}</code>",
            names.len()
        );
        format!(
            "<details><summary>{of}</summary><ul>{}</ul></details>",
            names.concat()
        )
    }

    fn index(&self) -> String {
        let mut text = begun("Catalogue");
        let (count, areas) = (self.catalogue.requirements().len(), self.catalogue.areas());
        let _ = writeln!(
            text,
            "<main>\n<h1>Requirements for a server</h1>\n<p>{count} requirements in {} areas:</p>\n<ul>",
            areas.len()
        );
        for (area, count) in &areas {
            let _ = writeln!(text, "<li><a href=\"#{area}\">{area}</a> ({count})");
        }
        text.push_str("</ul>\n<fieldset><legend>Level</legend>\n");
        for (id, name) in [
            ("every", "all"),
            ("must", "MUST"),
            ("should", "SHOULD"),
            ("may", "MAY"),
        ] {
            let checked = if id == "every" { " checked" } else { "" };
            let _ = writeln!(
                text,
                "<label><input type=\"radio\" name=\"level\" id=\"{id}\"{checked}> {name}</label>"
            );
        }
        text.push_str("</fieldset>\n");
        for (area, _) in &areas {
            let _ = writeln!(text, "<h2 id=\"{area}\">{area}</h2>\n<table>\n{HEAD}");
            for row in self
                .catalogue
                .requirements()
                .iter()
                .filter(|row| row.area() == *area)
            {
                let class = row.level.as_str().to_lowercase();
                let link = format!("<a href=\"{}\">{}</a>", page(&row.id), row.id);
                let _ = writeln!(
                    text,
                    "<tr class=\"{class}\"><td>{link}<td>{}<td>{}",
                    row.level,
                    marked(&row.statement)
                );
            }
            text.push_str("</tbody></table>\n");
        }
        text.push_str("<h2 id=\"words\">Abbreviations</h2>\n<dl>\n");
        for (word, means) in WORDS {
            let _ = writeln!(text, "<dt>{word}</dt><dd>{means}</dd>");
        }
        text.push_str("</dl>\n<h2>Behaviours that a declaration may list</h2>\n<dl>\n");
        for behaviour in self.catalogue.behaviours() {
            let _ = writeln!(
                text,
                "<dt><code>{}</code></dt><dd>{}</dd>",
                escaped(&behaviour.name),
                marked(&behaviour.means)
            );
        }
        text.push_str("</dl>\n</main>\n</body></html>\n");
        text
    }
}

fn begun(title: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'self'\">\
         <title>{title}: Activist Data Exchange API</title><link rel=\"stylesheet\" href=\"style.css\"></head>\n<body>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::PageInputs;
    use crate::catalogue::Catalogue;

    const SMALL: &str = include_str!("../../../tests/golden/pages.toml");

    const RESULTS: &str = r#"{"date": "2026-01-02", "catalogue": "0123456789abcdef",
        "failed": {"a page is <too> long": "COL-01 COL-02", "every page is empty": "COL-01", "another": "COL-011"}}"#;

    #[test]
    fn a_page_and_the_index_look_like_this() {
        let catalogue = Catalogue::parse(SMALL).expect("a catalogue");
        let files = PageInputs::new(&catalogue, RESULTS).all();
        assert_eq!(files.len(), 5);
        insta::with_settings!({ snapshot_path => "../../../tests/golden", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!("page", files["COL-01.html"]);
            insta::assert_snapshot!("page-of-a-field", files["RES-person-01.html"]);
            insta::assert_snapshot!("index", files["index.html"]);
        });
    }
}
