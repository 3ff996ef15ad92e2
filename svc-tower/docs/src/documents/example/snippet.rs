//! A request as a text to copy: a command, or a few lines of a program.

use std::fmt::Write as _;

use super::{ExampleRequest, pretty_json::pretty};

/// A language in which a request is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnippetLanguage {
    /// A `curl` command.
    Curl,
    /// Python 3, with its standard library.
    Python,
    /// JavaScript, in a browser or another runtime with `fetch`.
    JavaScript,
    /// Rust, with the crate `ureq`.
    Rust,
}

impl SnippetLanguage {
    /// Every language.
    pub const ALL: [Self; 4] = [Self::Curl, Self::Python, Self::JavaScript, Self::Rust];

    /// Returns the name of the language.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Curl => "curl",
            Self::Python => "Python",
            Self::JavaScript => "JavaScript",
            Self::Rust => "Rust",
        }
    }
}

/// The headers that are sent with a body. With them, a misspelt member is an error and not ignored.
///
/// Requirements: UND-22.
const BODY_HEADERS: [(&str, &str); 2] = [
    ("Content-Type", "application/json"),
    ("Prefer", "handling=strict"),
];

impl ExampleRequest {
    /// Returns the request in a language, with [`ExampleRequest::KEY`] as the key.
    #[must_use]
    pub fn snippet(&self, language: SnippetLanguage) -> String {
        match language {
            SnippetLanguage::Curl => self.curl(),
            SnippetLanguage::Python => self.python(),
            SnippetLanguage::JavaScript => self.javascript(),
            SnippetLanguage::Rust => self.rust(),
        }
    }

    /// Returns the headers in order.
    fn headers(&self) -> Vec<(&str, &str)> {
        let key = self.key_header.as_deref().map(|name| (name, Self::KEY));
        key.into_iter()
            .chain(self.body.iter().flat_map(|_| BODY_HEADERS))
            .collect()
    }

    fn curl(&self) -> String {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
        let method = if self.method == "GET" {
            String::new()
        } else {
            format!("-X {} ", self.method)
        };
        let mut out = format!("curl {method}{}", quoted(&self.address));
        for (name, value) in self.headers() {
            out.push_str(" \\\n  -H ");
            out.push_str(&quoted(&format!("{name}: {value}")));
        }
        if let Some(body) = &self.body {
            out.push_str(" \\\n  -d ");
            out.push_str(&quoted(&pretty(body)));
        }
        out
    }

    fn python(&self) -> String {
        let headers: Vec<String> = self
            .headers()
            .into_iter()
            .map(|(name, value)| format!("{name:?}: {value:?}"))
            .collect();
        let mut out = String::from("import urllib.request\n\n");
        let mut data = "None";
        if let Some(body) = &self.body {
            out.push_str("body = r'''");
            out.push_str(&pretty(body));
            out.push_str("'''\n");
            data = "body.encode()";
        }
        let (address, method) = (&self.address, self.method);
        let _ = write!(
            out,
            "request = urllib.request.Request(\n    {address:?},\n    data={data},\n    headers={{{}}},\n    method={method:?},\n)\n",
            headers.join(", ")
        );
        out.push_str(
            "with urllib.request.urlopen(request) as answer:\n    print(answer.status, answer.read().decode())",
        );
        out
    }

    fn javascript(&self) -> String {
        let headers: Vec<String> = self
            .headers()
            .into_iter()
            .map(|(name, value)| format!("{name:?}: {value:?}"))
            .collect();
        let mut out = format!(
            "const answer = await fetch({:?}, {{\n  method: {:?},\n",
            self.address, self.method
        );
        if !headers.is_empty() {
            let _ = writeln!(out, "  headers: {{ {} }},", headers.join(", "));
        }
        if let Some(body) = &self.body {
            let _ = writeln!(out, "  body: JSON.stringify({}),", pretty(body));
        }
        out.push_str("});\nconsole.log(answer.status, await answer.text());");
        out
    }

    fn rust(&self) -> String {
        let mut out = format!(
            "let mut answer = ureq::{}({:?})",
            self.method.to_ascii_lowercase(),
            self.address
        );
        for (name, value) in self.headers() {
            let _ = write!(out, "\n    .header({name:?}, {value:?})");
        }
        match &self.body {
            Some(body) => drop(write!(out, "\n    .send(r#\"{}\"#)?;\n", pretty(body))),
            None => out.push_str("\n    .call()?;\n"),
        }
        out.push_str("println!(\"{} {}\", answer.status(), answer.body_mut().read_to_string()?);");
        out
    }
}
