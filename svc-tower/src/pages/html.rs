//! Writes HTML: every text is escaped where it is written.

use std::fmt::Write as _;

/// A page in the making.
#[derive(Debug)]
pub(super) struct Page {
    out: String,
}

/// A cell of a table.
#[derive(Debug)]
pub(super) enum Cell {
    /// Prose, in which backticks mark code.
    Prose(String),
    /// Code.
    Code(String),
    /// A link to an address, with a text that is code.
    Link(String, String),
    /// Prose, and a link to a part of the same page, named by its heading's id.
    Part(String, String),
}

impl Page {
    /// A page with this title, and the address of the style sheet.
    pub(super) fn new(title: &str, style: &str) -> Self {
        let mut page = Self { out: String::with_capacity(16 * 1024) };
        page.out.push_str("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        page.out.push_str("<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
        page.text(&title.replace('`', ""));
        page.out.push_str("</title>\n<link rel=\"stylesheet\" href=\"");
        page.text(style);
        page.out.push_str("\">\n</head>\n<body>\n<h1>");
        page.prose(title);
        page.out.push_str("</h1>\n");
        page
    }

    /// The finished page.
    pub(super) fn finish(mut self) -> String {
        self.out.push_str("</body>\n</html>\n");
        self.out
    }

    /// A heading that can be linked to.
    pub(super) fn heading(&mut self, id: &str, text: &str) {
        self.out.push_str("<h2 id=\"");
        self.text(id);
        self.out.push_str("\">");
        self.prose(text);
        self.out.push_str("</h2>\n");
    }

    /// A paragraph of prose.
    pub(super) fn paragraph(&mut self, text: &str) {
        self.out.push_str("<p>");
        self.prose(text);
        self.out.push_str("</p>\n");
    }

    /// A paragraph of prose with a link at its end.
    pub(super) fn pointer(&mut self, text: &str, relation: Option<&str>, href: &str, name: &str) {
        self.out.push_str("<p>");
        self.prose(text);
        self.out.push_str(" <a");
        if let Some(relation) = relation {
            self.out.push_str(" rel=\"");
            self.text(relation);
            self.out.push('"');
        }
        self.out.push_str(" href=\"");
        self.text(href);
        self.out.push_str("\">");
        self.prose(name);
        self.out.push_str("</a></p>\n");
    }

    /// A list of links.
    pub(super) fn links(&mut self, links: impl IntoIterator<Item = (String, String)>) {
        self.out.push_str("<ul class=\"index\">\n");
        for (href, name) in links {
            self.out.push_str("<li>");
            self.cell(&Cell::Link(href, name));
            self.out.push_str("</li>\n");
        }
        self.out.push_str("</ul>\n");
    }

    /// A table; nothing when it has no rows.
    pub(super) fn table<const N: usize>(&mut self, heads: [&str; N], rows: impl IntoIterator<Item = [Cell; N]>) {
        let mut rows = rows.into_iter().peekable();
        if rows.peek().is_none() {
            return;
        }
        self.out.push_str("<table>\n<thead><tr>");
        for head in heads {
            self.out.push_str("<th>");
            self.text(head);
            self.out.push_str("</th>");
        }
        self.out.push_str("</tr></thead>\n<tbody>\n");
        for row in rows {
            self.out.push_str("<tr>");
            for cell in &row {
                self.out.push_str("<td>");
                self.cell(cell);
                self.out.push_str("</td>");
            }
            self.out.push_str("</tr>\n");
        }
        self.out.push_str("</tbody>\n</table>\n");
    }

    fn cell(&mut self, cell: &Cell) {
        match cell {
            Cell::Prose(text) => self.prose(text),
            Cell::Code(text) => self.code(text),
            Cell::Link(href, text) => {
                self.out.push_str("<a href=\"");
                self.text(href);
                self.out.push_str("\">");
                self.code(text);
                self.out.push_str("</a>");
            }
            Cell::Part(before, id) => {
                self.prose(before);
                self.out.push(' ');
                self.cell(&Cell::Link(format!("#{id}"), id.clone()));
            }
        }
    }

    fn code(&mut self, text: &str) {
        self.out.push_str("<code>");
        self.text(text);
        self.out.push_str("</code>");
    }

    /// Prose in which pairs of backticks mark code; a single one stays a backtick.
    fn prose(&mut self, text: &str) {
        let mut rest = text;
        while let Some((before, code, after)) = split_code(rest) {
            self.text(before);
            self.code(code);
            rest = after;
        }
        self.text(rest);
    }

    /// Text, escaped for content and for quoted attributes.
    fn text(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\'' => self.out.push_str("&#39;"),
                control if control.is_control() && control != '\n' => {
                    // Writing into a string cannot fail.
                    let _ = write!(self.out, "\u{fffd}");
                }
                other => self.out.push(other),
            }
        }
    }
}

/// What comes before, in, and after the first pair of backticks.
fn split_code(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('`')?;
    let (code, after) = rest.split_once('`')?;
    Some((before, code, after))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(write: impl FnOnce(&mut Page)) -> String {
        let mut page = Page { out: String::new() };
        write(&mut page);
        page.out
    }

    #[test]
    fn ent_22_backticks_mark_code_and_everything_is_escaped() {
        let out = written(|page| page.paragraph("`<a>` & `b` or ` \"c\""));
        assert_eq!(out, "<p><code>&lt;a&gt;</code> &amp; <code>b</code> or ` &quot;c&quot;</p>\n");
        let out = written(|page| page.pointer("x", Some("r\"y"), "\"><script>", "'n'"));
        assert_eq!(out, "<p>x <a rel=\"r&quot;y\" href=\"&quot;&gt;&lt;script&gt;\">&#39;n&#39;</a></p>\n");
        assert_eq!(written(|page| page.table(["a"], [])), "");
    }

    proptest! {
        #[test]
        fn ent_22_no_text_becomes_markup(text in ".{0,60}") {
            let out = written(|page| page.links([(text.clone(), text.clone())]));
            let plain = out.replace("<code>", "").replace("</code>", "");
            prop_assert_eq!(plain.matches('<').count(), 6);
            prop_assert_eq!(plain.matches('"').count(), 4);
        }
    }
}
