//! URLs: how a link of a document is resolved, and where a request is sent.

use std::borrow::Cow;

/// Returns the absolute URL of a reference in a document (RFC 3986, section 5). `None` unless it is
/// http or https.
pub(crate) fn resolve<'r>(document: &str, reference: &'r str) -> Option<Cow<'r, str>> {
    let reference = reference.split('#').next().unwrap_or_default();
    let absolute = match scheme(reference) {
        Some(_) => Cow::Borrowed(reference),
        None => Cow::Owned(relative(document, reference)?),
    };
    let (head, _) = split(&absolute)?;
    let host = head
        .strip_prefix("http://")
        .or_else(|| head.strip_prefix("https://"))?;
    let is_clean = !host.is_empty()
        && !host.contains('@')
        && absolute.bytes().all(|byte| byte.is_ascii_graphic());
    is_clean.then_some(absolute)
}

/// Splits a URL into scheme and authority (`http://host:port`), and the rest from the path on.
pub(crate) fn split(absolute: &str) -> Option<(&str, &str)> {
    let start = absolute.find("://")?.checked_add(3)?;
    let rest = absolute.get(start..)?;
    let end = rest
        .find(['/', '?', '#'])
        .map_or(absolute.len(), |at| start.saturating_add(at));
    Some((absolute.get(..end)?, absolute.get(end..)?))
}

/// Returns the authority of an absolute URL.
pub(crate) fn authority(absolute: &str) -> Option<&str> {
    split(absolute)?
        .0
        .split_once("://")
        .map(|(_, authority)| authority)
}

/// Returns the value of a query parameter, verbatim.
pub(crate) fn parameter<'u>(url: &'u str, name: &str) -> Option<&'u str> {
    let (_, query) = url.split_once('?')?;
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .into_iter()
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}

/// Returns a URL with one more query parameter.
pub(crate) fn with_parameter(url: &str, name: &str, value: &str) -> String {
    let mark = if url.contains('?') { '&' } else { '?' };
    format!("{url}{mark}{name}={value}")
}

fn scheme(reference: &str) -> Option<&str> {
    let (scheme, _) = reference.split_once(':')?;
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    (scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(good))
        .then_some(scheme)
}

fn relative(document: &str, reference: &str) -> Option<String> {
    let (head, rest) = split(document)?;
    let (path, _) = rest.split_once('?').unwrap_or((rest, ""));
    if let Some(network) = reference.strip_prefix("//") {
        let scheme = head.split("://").next()?;
        return Some(format!("{scheme}://{network}"));
    }
    if reference.is_empty() {
        return Some(document.to_owned());
    }
    if reference.starts_with('?') {
        return Some(format!("{head}{path}{reference}"));
    }
    let (wanted, query) = reference
        .split_once('?')
        .map_or((reference, None), |(wanted, query)| (wanted, Some(query)));
    let merged = if wanted.starts_with('/') {
        wanted.to_owned()
    } else {
        let folder = path
            .rfind('/')
            .and_then(|at| path.get(..=at))
            .unwrap_or("/");
        format!("{folder}{wanted}")
    };
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    Some(format!("{head}{}{query}", without_dots(&merged)))
}

/// Returns a path without its `.` and `..` segments.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut ends_open = false;
    for segment in path.trim_start_matches('/').split('/') {
        ends_open = matches!(segment, "." | "..");
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            other => kept.push(other),
        }
    }
    let slash = if ends_open && !kept.is_empty() {
        "/"
    } else {
        ""
    };
    format!("/{}{slash}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::{parameter, resolve};

    #[test]
    fn references_resolve_as_in_a_browser() {
        let document = "http://h.example/api/v1/people?page=2";
        for (reference, expected) in [
            ("http://o.example/x", Some("http://o.example/x")),
            ("/people/1", Some("http://h.example/people/1")),
            ("people/1", Some("http://h.example/api/v1/people/1")),
            (
                "./people/1?x=/y",
                Some("http://h.example/api/v1/people/1?x=/y"),
            ),
            ("../v2/", Some("http://h.example/api/v2/")),
            ("..", Some("http://h.example/api/")),
            ("?page=3", Some("http://h.example/api/v1/people?page=3")),
            ("//o.example/x", Some("http://o.example/x")),
            ("", Some("http://h.example/api/v1/people?page=2")),
            ("x#y", Some("http://h.example/api/v1/x")),
            ("mailto:a@example.org", None),
            ("ftp://h.example/x", None),
            ("http://", None),
            ("http://user@h.example/", None),
            ("a b", None),
        ] {
            assert_eq!(
                resolve(document, reference).as_deref(),
                expected,
                "{reference}"
            );
        }
    }

    #[test]
    fn a_parameter_is_found_by_its_whole_name() {
        assert_eq!(parameter("http://h/x?xpage=1&page=2", "page"), Some("2"));
        assert_eq!(parameter("http://h/x", "page"), None);
    }
}
