//! What the demo says when it starts.

use std::fmt::{self, Display};
use std::path::Path;

use super::places::ShownKey;

/// What the demo says when it starts: addresses, keys, and a command to paste.
#[derive(Debug)]
pub struct Banner<'a> {
    /// The address of the entry point.
    pub base_url: &'a str,
    /// The header that carries the key.
    pub key_header: &'a str,
    /// The data file.
    pub data: &'a Path,
    /// The file that keeps the keys.
    pub keys_file: &'a Path,
    /// The keys.
    pub keys: &'a [ShownKey],
    /// What else is to be said, a line each.
    pub notes: &'a [String],
}

impl Display for Banner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "svc-demo {}", env!("CARGO_PKG_VERSION"))?;
        writeln!(f)?;
        writeln!(f, "  entry point  {}", self.base_url)?;
        writeln!(f, "  docs         {}docs/", self.base_url)?;
        writeln!(f, "  data         {}", self.data.display())?;
        for (number, key) in self.keys.iter().enumerate() {
            let name = if number == 0 { "keys" } else { "" };
            let rights = if key.read_only { "reads only" } else { "all rights" };
            writeln!(f, "  {name:<11}  {}  ({}, {rights})", key.token, key.tenant)?;
        }
        if !self.keys.is_empty() {
            writeln!(f, "               (also in {})", self.keys_file.display())?;
        }
        for note in self.notes {
            writeln!(f, "  note         {note}")?;
        }
        writeln!(f)?;
        let header = |key: &ShownKey| quoted(&format!("{}: {}", self.key_header, key.token));
        match self.keys.first() {
            Some(key) => writeln!(f, "  curl -H {} {}", header(key), self.base_url)?,
            None => writeln!(f, "  curl {}", self.base_url)?,
        }
        writeln!(f)
    }
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::{Banner, quoted};
    use crate::demo::places::ShownKey;
    use std::path::Path;

    #[test]
    fn names_addresses_keys_and_a_command_to_paste() {
        let key = |token: &str, read_only| ShownKey {
            id: "1".to_owned(),
            tenant: "demo".to_owned(),
            read_only,
            token: token.to_owned(),
        };
        let banner = Banner {
            base_url: "http://127.0.0.1:8081/",
            key_header: "SVC-API-Token",
            data: Path::new("/tmp/demo.db"),
            keys_file: Path::new("/tmp/demo.db.keys"),
            keys: &[key("one|two", false), key("three", true)],
            notes: &["port 8080 is taken, so this is port 8081".to_owned()],
        };
        let expected = concat!(
            "svc-demo ",
            env!("CARGO_PKG_VERSION"),
            "\n\n",
            "  entry point  http://127.0.0.1:8081/\n",
            "  docs         http://127.0.0.1:8081/docs/\n",
            "  data         /tmp/demo.db\n",
            "  keys         one|two  (demo, all rights)\n",
            "               three  (demo, reads only)\n",
            "               (also in /tmp/demo.db.keys)\n",
            "  note         port 8080 is taken, so this is port 8081\n\n",
            "  curl -H 'SVC-API-Token: one|two' http://127.0.0.1:8081/\n\n",
        );
        assert_eq!(banner.to_string(), expected);
    }

    #[test]
    fn quotes_cannot_break_out_of_the_command() {
        assert_eq!(quoted("a'b"), r"'a'\''b'");
    }
}
