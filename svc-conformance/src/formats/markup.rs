//! Text as markup.

/// Our own text, in which names stand between back quotes.
pub(crate) fn marked(text: &str) -> String {
    let parts = text.split('`').map(escaped).enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { format!("<code>{part}</code>") } else { part }).collect()
}

/// Text of a server or of ours, in which nothing is markup.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.push('\u{fffd}'),
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
        let text = escaped("<script>alert('1')</script>\"&\u{1b}[31m");
        assert!(!text.contains(['<', '>', '"', '\'', '\u{1b}']), "{text}");
    }
}
