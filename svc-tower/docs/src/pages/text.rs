//! Texts as HTML. Every text is escaped.

use std::fmt::Write as _;

use maud::{Markup, PreEscaped, Render, html};

/// Returns a title that may be broken into lines within a long name.
pub(super) fn title(text: &str) -> Markup {
    PreEscaped(Prose(text).render().into_string().replace('_', "_<wbr>"))
}

/// Returns a code block that can be scrolled with the keyboard.
pub(super) fn code_block(label: &str, language: &str, text: &str) -> Markup {
    html! { pre tabindex="0" role="group" aria-label=(label) { code class=(language) { (Verbatim(text)) } } }
}

/// Prose in which pairs of backticks mark code. A single backtick remains.
pub(super) struct Prose<'a>(pub(super) &'a str);

impl Render for Prose<'_> {
    fn render(&self) -> Markup {
        self.linked(&|_| None)
    }
}

impl Prose<'_> {
    /// Returns the prose as HTML; code for which `href` returns an address is a link.
    pub(super) fn linked(&self, href: &dyn Fn(&str) -> Option<String>) -> Markup {
        let mut parts = Vec::new();
        let mut rest = self.0;
        while let Some((before, code, after)) = split_code(rest) {
            parts.push((before, code, href(code)));
            rest = after;
        }
        html! {
            @for (before, code, href) in parts {
                (before)
                @if let Some(href) = href { a href=(href) { code { (code) } } } @else { code { (code) } }
            }
            (rest)
        }
    }
}

/// Returns the text before, in, and after the first pair of backticks.
fn split_code(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('`')?;
    let (code, after) = rest.split_once('`')?;
    Some((before, code, after))
}

/// Text between tags, where quotes need no escape. Examples contain many quotes.
struct Verbatim<'a>(&'a str);

impl Render for Verbatim<'_> {
    fn render(&self) -> Markup {
        let mut out = String::with_capacity(self.0.len());
        for letter in self.0.chars() {
            match letter {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                other => drop(out.write_char(other)),
            }
        }
        PreEscaped(out)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ent_22_backticks_mark_code_and_everything_is_escaped() {
        let out = Prose("`<a>` & `b` or ` \"c\"").render().into_string();
        assert_eq!(
            out,
            "<code>&lt;a&gt;</code> &amp; <code>b</code> or ` &quot;c&quot;"
        );
        assert_eq!(
            Verbatim("</pre> & \"x\"").render().into_string(),
            "&lt;/pre&gt; &amp; \"x\""
        );
    }

    proptest! {
        #![proptest_config(crate::testing::config())]

        #[test]
        fn ent_22_no_text_becomes_markup(text in ".{0,60}") {
            let prose = Prose(&text).render().into_string();
            let plain = prose.replace("<code>", "").replace("</code>", "");
            prop_assert!(!plain.contains(['<', '>', '"']));
            prop_assert!(!Verbatim(&text).render().into_string().contains(['<', '>']));
        }
    }
}
