//! The text that the demo prints when it starts.

use std::fmt::{self, Display};
use std::path::Path;

use super::paths::ShownKey;
use super::settings::{CorsSetting, FixedKey, ServerSettings};

/// The text that the demo prints when it starts: addresses, keys, and a command to copy.
#[derive(Debug)]
pub struct Banner<'a> {
    /// The URL of the entry point.
    pub base_url: &'a str,
    /// The header that contains the key.
    pub key_header: &'a str,
    /// The location of the data.
    pub data: &'a str,
    /// The file that stores the keys.
    pub keys_file: &'a Path,
    /// The keys that the demo created.
    pub keys: &'a [ShownKey],
    /// The settings: the keys that were given, whose tokens are not shown, and the sites that may
    /// call the helpers.
    pub settings: &'a ServerSettings,
    /// Further notes, one line each.
    pub notes: &'a [String],
}

impl Display for Banner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "svc-demo {}", env!("CARGO_PKG_VERSION"))?;
        writeln!(f)?;
        writeln!(f, "  entry point  {}", self.base_url)?;
        writeln!(f, "  docs         {}docs/", self.base_url)?;
        writeln!(f, "  data         {}", self.data)?;
        let made = self
            .keys
            .iter()
            .map(|key| (&*key.token, &key.tenant, key.read_only));
        let given = self.settings.keys.iter().map(|key: &FixedKey| {
            (
                if key.read_only {
                    "given by --read-key"
                } else {
                    "given by --key"
                },
                &key.tenant,
                key.read_only,
            )
        });
        for (number, (shown, tenant, read_only)) in made.chain(given).enumerate() {
            let name = if number == 0 { "keys" } else { "" };
            let rights = if read_only { "read-only" } else { "all rights" };
            writeln!(f, "  {name:<11}  {shown}  ({tenant}, {rights})")?;
        }
        if !self.keys.is_empty() {
            writeln!(f, "               (saved in {})", self.keys_file.display())?;
        }
        writeln!(f, "  CORS         {}", other_sites(self.settings))?;
        for note in self.notes {
            writeln!(f, "  note         {note}")?;
        }
        writeln!(f)?;
        let header = |key: &ShownKey| quoted(&format!("{}: {}", self.key_header, key.token));
        match (self.keys.first(), &*self.settings.keys) {
            (Some(key), _) => writeln!(f, "  curl -H {} {}", header(key), self.base_url)?,
            (None, []) => writeln!(f, "  curl {}", self.base_url)?,
            (None, _) => writeln!(
                f,
                "  curl -H \"{}: $KEY\" {}",
                self.key_header, self.base_url
            )?,
        }
        writeln!(f)
    }
}

/// Returns whether pages of other sites may call the helpers, and how to allow it.
///
/// Requirements: HLP-08.
fn other_sites(settings: &ServerSettings) -> String {
    match &settings.cors {
        _ if !settings.anonymous_helpers => {
            "off, because the helpers require a key (--anonymous-helpers off)".to_owned()
        }
        CorsSetting::Off => {
            "off; add --cors https://your-site.example to let pages of that site call the helpers"
                .to_owned()
        }
        CorsSetting::Any => "pages of any site may call the helpers".to_owned(),
        CorsSetting::Origins(origins) => {
            format!("pages of {} may call the helpers", origins.join(", "))
        }
    }
}

/// Quotes a word for a POSIX shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::{Banner, other_sites, quoted};
    use crate::demo::cli::Cli;
    use crate::demo::paths::ShownKey;
    use crate::demo::settings::ServerSettings;
    use clap::Parser;
    use std::path::Path;

    fn settings(arguments: &[&str]) -> ServerSettings {
        let arguments = ["svc-demo"].iter().chain(arguments);
        ServerSettings::check(&Cli::try_parse_from(arguments).expect("parses").options)
            .expect("is good")
    }

    #[test]
    fn hlp_08_whoever_starts_it_sees_which_pages_may_call_the_helpers() {
        assert!(other_sites(&settings(&[])).contains("off; add --cors https://your-site.example"));
        assert_eq!(
            other_sites(&settings(&["--cors", "any"])),
            "pages of any site may call the helpers"
        );
        let two = ["--cors", "https://a.example", "--cors", "https://b.example"];
        assert_eq!(
            other_sites(&settings(&two)),
            "pages of https://a.example, https://b.example may call the helpers"
        );
        assert!(
            other_sites(&settings(&["--cors", "any", "--anonymous-helpers", "off"]))
                .contains("require a key")
        );
    }

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
            data: "/tmp/demo.db",
            keys_file: Path::new("/tmp/demo.db.keys"),
            keys: &[key("one|two", false), key("three", true)],
            settings: &settings(&[
                "--read-key",
                "other=planted-and-long-enough",
                "--cors",
                "any",
            ]),
            notes: &["port 8080 is in use, so the server uses port 8081".to_owned()],
        };
        let expected = concat!(
            "svc-demo ",
            env!("CARGO_PKG_VERSION"),
            "\n\n",
            "  entry point  http://127.0.0.1:8081/\n",
            "  docs         http://127.0.0.1:8081/docs/\n",
            "  data         /tmp/demo.db\n",
            "  keys         one|two  (demo, all rights)\n",
            "               three  (demo, read-only)\n",
            "               given by --read-key  (other, read-only)\n",
            "               (saved in /tmp/demo.db.keys)\n",
            "  CORS         pages of any site may call the helpers\n",
            "  note         port 8080 is in use, so the server uses port 8081\n\n",
            "  curl -H 'SVC-API-Token: one|two' http://127.0.0.1:8081/\n\n",
        );
        assert_eq!(banner.to_string(), expected);
        let given = Banner {
            keys: &[],
            ..banner
        }
        .to_string();
        assert!(
            given.contains("  curl -H \"SVC-API-Token: $KEY\" http://127.0.0.1:8081/\n"),
            "{given}"
        );
        assert!(
            !given.contains(".keys") && !given.contains("planted"),
            "{given}"
        );
    }

    #[test]
    fn quotes_cannot_break_out_of_the_command() {
        assert_eq!(quoted("a'b"), r"'a'\''b'");
    }
}
