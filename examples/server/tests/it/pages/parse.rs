//! Parses the example requests of a page in each language, and compares the languages.

use serde_json::Value;

/// A request on a page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shown {
    pub(crate) method: String,
    pub(crate) address: String,
    /// The header that contains the key.
    pub(crate) key_header: Option<String>,
    pub(crate) body: Option<Value>,
    /// The status on the page.
    pub(crate) status: u16,
    /// The response on the page, if there is one.
    pub(crate) answer: Option<Value>,
}

/// Returns the requests of a page. They must be the same in each language.
pub(crate) fn requests(page: &str) -> Vec<Shown> {
    let shown = page
        .split("</code> returns <strong class=\"status\">")
        .skip(1);
    shown.map(one).collect()
}

fn one(part: &str) -> Shown {
    let status = part.split('<').next().unwrap().parse().unwrap();
    let block = |language: &str| {
        let (_, code) = part
            .split_once(&format!("<code class=\"{language}\">"))
            .unwrap_or_else(|| panic!("{language}: {part}"));
        unescape(code.split_once("</code>").unwrap().0)
    };
    let curl = curl(&block("curl"), status);
    for (language, read) in [
        ("python", python as fn(&str, u16) -> Shown),
        ("javascript", javascript),
        ("rust", rust),
    ] {
        assert_eq!(read(&block(language), status), curl, "{language}");
    }
    let answer = part
        .split_once("<summary>Response</summary>")
        .map(|(_, rest)| {
            let (_, code) = rest
                .split_once("<code class=\"json\">")
                .unwrap_or_else(|| panic!("no response: {rest}"));
            json(&unescape(code.split_once("</code>").unwrap().0))
        });
    Shown { answer, ..curl }
}

fn unescape(text: &str) -> String {
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"");
    text.replace("&#39;", "'").replace("&amp;", "&")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|wrong| panic!("{wrong}: {text}"))
}

fn shown(
    method: &str,
    address: &str,
    headers: &[(String, String)],
    body: Option<Value>,
    status: u16,
) -> Shown {
    let mut key_header = None;
    for (name, value) in headers {
        match value.as_str() {
            "YOUR_KEY" => key_header = Some(name.clone()),
            "application/json" => assert!(name == "Content-Type" && body.is_some()),
            "handling=strict" => assert!(name == "Prefer" && body.is_some(), "UND-22"),
            other => panic!("{name}: {other}"),
        }
    }
    Shown {
        method: method.to_ascii_uppercase(),
        address: address.to_owned(),
        key_header,
        body,
        status,
        answer: None,
    }
}

/// Splits a command into words, as a shell does.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = None::<String>;
    let (mut quoted, mut letters) = (false, command.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            '\\' if !quoted => match letters.next() {
                Some('\n') | None => {}
                Some(next) => word.get_or_insert_default().push(next),
            },
            ' ' | '\n' if !quoted => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    assert!(!quoted, "{command}");
    words.extend(word);
    words
}

fn curl(text: &str, status: u16) -> Shown {
    let mut words = words(text).into_iter();
    assert_eq!(words.next().as_deref(), Some("curl"));
    let (mut method, mut address, mut headers, mut body) =
        ("GET".to_owned(), None, Vec::new(), None);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-X" => method = words.next().unwrap(),
            "-H" => {
                let header = words.next().unwrap();
                let (name, value) = header.split_once(": ").unwrap();
                headers.push((name.to_owned(), value.to_owned()));
            }
            "-d" => body = Some(json(&words.next().unwrap())),
            _ => assert!(address.replace(word).is_none(), "{text}"),
        }
    }
    shown(&method, &address.unwrap(), &headers, body, status)
}

/// Returns the text between two others.
fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    Some(text.split_once(before)?.1.split_once(after)?.0)
}

fn header_object(text: &str) -> Vec<(String, String)> {
    let Value::Object(headers) = json(&format!("{{{text}}}")) else {
        panic!("{text}")
    };
    headers
        .into_iter()
        .map(|(name, value)| (name, value.as_str().unwrap().to_owned()))
        .collect()
}

fn python(text: &str, status: u16) -> Shown {
    let body = between(text, "r'''", "'''").map(json);
    assert_eq!(
        between(text, "data=", ","),
        Some(if body.is_some() {
            "body.encode()"
        } else {
            "None"
        })
    );
    let headers = header_object(between(text, "headers={", "}").unwrap());
    let (method, address) = (
        between(text, "method=\"", "\"").unwrap(),
        between(text, "Request(\n    \"", "\"").unwrap(),
    );
    shown(method, address, &headers, body, status)
}

fn javascript(text: &str, status: u16) -> Shown {
    let headers = between(text, "headers: {", "}")
        .map(header_object)
        .unwrap_or_default();
    let body = between(text, "JSON.stringify(", "),\n});").map(json);
    let (method, address) = (
        between(text, "method: \"", "\"").unwrap(),
        between(text, "fetch(\"", "\"").unwrap(),
    );
    shown(method, address, &headers, body, status)
}

fn rust(text: &str, status: u16) -> Shown {
    let (method, rest) = text
        .split_once("ureq::")
        .unwrap()
        .1
        .split_once("(\"")
        .unwrap();
    let address = rest.split_once('"').unwrap().0;
    let headers = rest.split(".header(\"").skip(1).map(|header| {
        let (name, rest) = header.split_once("\", \"").unwrap();
        (name.to_owned(), rest.split_once('"').unwrap().0.to_owned())
    });
    let body = between(text, ".send(r#\"", "\"#)").map(json);
    assert_eq!(body.is_none(), text.contains(".call()?"));
    shown(method, address, &headers.collect::<Vec<_>>(), body, status)
}
