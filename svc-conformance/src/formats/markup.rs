//! Text as markup.

use svc_declaration::visible;

/// Escapes text of the suite, in which names are between backticks.
pub(crate) fn marked(text: &str) -> String {
    let parts = text.split('`').map(escaped).enumerate();
    parts
        .map(|(at, part)| {
            if at % 2 == 1 {
                format!("<code>{part}</code>")
            } else {
                part
            }
        })
        .collect()
}

/// Escapes text of the server or the suite that contains no markup. Invisible characters are shown
/// by name.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn what_servers_send_is_no_markup() {
        let text = escaped("<script>alert('1')</script>\"&\u{1b}[31m\u{202e}");
        assert!(
            !text.contains(['<', '>', '"', '\'', '\u{1b}', '\u{202e}']),
            "{text}"
        );
        assert!(text.ends_with("[U+001B][31m[U+202E]"), "{text}");
    }
}
