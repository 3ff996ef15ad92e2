//! The checked options of the command line. Each error names the problem, the option and a hint.

use std::net::{IpAddr, Ipv4Addr};

use http::Uri;
use svc_store::keys::StoredKey;

use super::cli::{EntryLinksArg, ResponseStyleArg, ServerArgs, Switch};
use super::startup_error::StartupError;

/// Default number of people in the first tenant of a new file.
const PEOPLE: u32 = 5000;

/// The settings of the server, without contradictions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a separate switch of the command line"
)]
pub struct ServerSettings {
    /// The address to listen on.
    pub listen: IpAddr,
    /// The port, if it is set.
    pub port: Option<u16>,
    /// The public base URL with a slash at the end, if it is set.
    pub base_url: Option<String>,
    /// The trusted proxies.
    pub trusted_proxies: Vec<IpAddr>,
    /// Whether to delete the data file first.
    pub fresh: bool,
    /// People in the first tenant of a new file.
    pub people: u32,
    /// Whether this number is set.
    pub people_asked: bool,
    /// The prefix of the dialect.
    pub prefix: Option<String>,
    /// The prefix of extensions of the dialect.
    pub extension_prefix: Option<String>,
    /// The namespace of the identifiers of the server.
    pub namespace: Option<String>,
    /// The names of the two network share objects.
    pub share_names: Option<(String, String)>,
    /// The response style.
    pub style: ResponseStyleArg,
    /// Which collections the entry point lists.
    pub entry_links: EntryLinksArg,
    /// Whether 401, 403 and 404 responses have error bodies.
    pub error_bodies: bool,
    /// Whether changing and deleting records requires `If-Match`.
    pub require_if_match: bool,
    /// The origins that may call the record helpers from a browser.
    pub cors: CorsSetting,
    /// Keys of the command line in its order: those with all rights first.
    pub keys: Vec<FixedKey>,
    /// Whether the record helpers may be called without a key.
    pub anonymous_helpers: bool,
    /// Whether helpers are atomic.
    pub atomic_helpers: bool,
    /// Whether only helpers are served.
    pub helpers_only: bool,
    /// Disabled capabilities.
    pub without: Vec<String>,
    /// Whether PATCH has the effect of PUT.
    pub patch_is_put: bool,
    /// Whether webhooks may send to this machine, to private networks, and to http URLs.
    pub private_webhooks: bool,
    /// Maximum number of bytes of all incomplete request bodies together.
    pub body_budget: usize,
    /// Whether `/healthz` and `/metrics` are served.
    pub metrics: bool,
}

/// Origins whose pages may call the record helpers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CorsSetting {
    /// None.
    Off,
    /// Every origin.
    Any,
    /// These origins.
    Origins(Vec<String>),
}

/// A key whose token was given on the command line.
#[derive(Clone, PartialEq, Eq)]
pub struct FixedKey {
    /// The tenant that the key gives access to.
    pub tenant: String,
    /// The token.
    pub token: String,
    /// Whether the key is read-only.
    pub read_only: bool,
}

impl std::fmt::Debug for FixedKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FixedKey")
            .field("tenant", &self.tenant)
            .field("read_only", &self.read_only)
            .finish_non_exhaustive()
    }
}

impl ServerSettings {
    /// Checks the options.
    ///
    /// # Errors
    ///
    /// Returns an error for the first invalid option, with a hint.
    pub fn check(options: &ServerArgs) -> Result<Self, StartupError> {
        let listen = listen(&options.listen)?;
        let base_url = options.base_url.as_deref().map(base_url).transpose()?;
        if !listen.is_loopback() && base_url.is_none() {
            return Err(StartupError::new(
                format!(
                    "`--listen {listen}` requires `--base-url`, because links need a URL that clients can reach."
                ),
                format!("--listen {listen} without --base-url"),
                "Add the URL that clients use, such as --base-url http://demo.example.org:8080/api/v1/.",
            ));
        }
        if options.metrics == Some(Switch::On) && base_url.as_deref().is_some_and(is_root) {
            return Err(StartupError::new(
                "`--metrics on` requires a base URL with a path, because /healthz and /metrics are at the root of the host.",
                format!(
                    "--metrics on --base-url {}",
                    printable(base_url.as_deref().unwrap_or_default())
                ),
                "Add a path to the base URL, such as --base-url http://demo.example.org:8080/api/v1/.",
            ));
        }
        for (option, prefix) in [
            ("--prefix", &options.prefix),
            ("--extension-prefix", &options.extension_prefix),
        ] {
            let Some(prefix) = prefix else { continue };
            let good = prefix.starts_with(|first: char| first.is_ascii_lowercase())
                && prefix
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
            rule(
                good,
                &format!(
                    "`{option}` must have 1 to 32 lower-case letters and digits and start with a letter."
                ),
                option,
                prefix,
            )?;
        }
        let prefix = options.prefix.as_deref().unwrap_or("svc");
        let differs = prefix != options.extension_prefix.as_deref().unwrap_or("ext");
        rule(
            differs,
            "`--prefix` and `--extension-prefix` must be different.",
            &format!("--prefix {prefix} --extension-prefix"),
            prefix,
        )?;
        if let Some(namespace) = &options.namespace {
            let good = !namespace.is_empty() && namespace.chars().all(is_system_name);
            rule(
                good,
                "`--namespace` must consist of letters, digits, `_`, `.` and `-`.",
                "--namespace",
                namespace,
            )?;
        }
        Ok(Self {
            listen,
            port: options.port,
            base_url,
            trusted_proxies: options.trusted_proxy.clone(),
            fresh: options.fresh,
            people: options.people.unwrap_or(PEOPLE),
            people_asked: options.people.is_some(),
            prefix: options.prefix.clone(),
            extension_prefix: options.extension_prefix.clone(),
            namespace: options.namespace.clone(),
            share_names: options
                .share_names
                .as_deref()
                .map(share_names)
                .transpose()?,
            style: options.style,
            entry_links: options.entry_links,
            error_bodies: options.error_bodies,
            require_if_match: options.require_if_match,
            cors: cors(&options.cors)?,
            keys: fixed_keys(options)?,
            anonymous_helpers: options.anonymous_helpers == Switch::On,
            atomic_helpers: options.atomic_helpers,
            helpers_only: options.helpers_only,
            without: options.without.clone(),
            patch_is_put: options.patch_is_put,
            private_webhooks: options.private_webhooks,
            body_budget: usize::try_from(options.body_budget)
                .unwrap_or(usize::MAX)
                .saturating_mul(1024 * 1024),
            // A base URL means that there is a proxy in front, even if the server listens on this
            // machine only.
            metrics: options
                .metrics
                .map_or(listen.is_loopback() && options.base_url.is_none(), |it| {
                    it == Switch::On
                }),
        })
    }
}

fn rule(good: bool, what: &str, option: &str, value: &str) -> Result<(), StartupError> {
    if good {
        return Ok(());
    }
    Err(StartupError::new(
        what,
        format!("{option} {}", printable(value)),
        "Change the value, or omit the option.",
    ))
}

/// Returns a value that is safe to show in a terminal.
fn printable(value: &str) -> String {
    value
        .chars()
        .take(80)
        .flat_map(char::escape_debug)
        .collect()
}

fn is_system_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

fn listen(text: &str) -> Result<IpAddr, StartupError> {
    if text == "localhost" {
        return Ok(Ipv4Addr::LOCALHOST.into());
    }
    text.trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .map_err(|_| {
            StartupError::new(
                "`--listen` must be an IP address or `localhost`.",
                format!("--listen {}", printable(text)),
                "Use an IP address, such as 127.0.0.1, ::1 or 0.0.0.0. Set the port with --port.",
            )
        })
}

/// Returns whether a URL ends with its host.
fn is_root(url: &str) -> bool {
    url.splitn(4, '/').nth(3).is_none_or(str::is_empty)
}

fn base_url(text: &str) -> Result<String, StartupError> {
    let wrong = |what: &str| {
        let remedy =
            "Use a URL such as http://demo.example.org:8080/ or https://example.org/api/v1/.";
        StartupError::new(what, format!("--base-url {}", printable(text)), remedy)
    };
    let uri: Uri = text
        .parse()
        .map_err(|_| wrong("`--base-url` must be a URL."))?;
    let authority = uri
        .authority()
        .ok_or_else(|| wrong("`--base-url` must have a scheme and a host."))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(wrong("`--base-url` must start with http:// or https://."));
    }
    if authority.as_str().contains('@') || authority.host().is_empty() {
        return Err(wrong("`--base-url` must have a host and no user name."));
    }
    if uri.query().is_some() || text.contains('#') {
        return Err(wrong("`--base-url` must have no query and no fragment."));
    }
    Ok(if text.ends_with('/') {
        text.to_owned()
    } else {
        format!("{text}/")
    })
}

fn share_names(text: &str) -> Result<(String, String), StartupError> {
    let good = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    match text.split_once(',') {
        Some((a, b))
            if a != b && good(a) && good(b) && a != "email_share" && b != "email_share" =>
        {
            Ok((a.to_owned(), b.to_owned()))
        }
        _ => Err(StartupError::new(
            "`--share-names` must be two different names of lower-case letters, digits and `_`, other than `email_share`.",
            format!("--share-names {}", printable(text)),
            "Separate the names with a comma, such as network_a_share,network_b_share.",
        )),
    }
}

fn cors(values: &[String]) -> Result<CorsSetting, StartupError> {
    if values.is_empty() {
        return Ok(CorsSetting::Off);
    }
    if values.iter().any(|value| value == "any") {
        rule(
            values.len() == 1,
            "`--cors any` cannot be combined with other origins.",
            "--cors",
            &values.join(","),
        )?;
        return Ok(CorsSetting::Any);
    }
    for value in values {
        let origin = value
            .strip_prefix("https://")
            .or_else(|| value.strip_prefix("http://"));
        let good = origin.is_some_and(|host| {
            !host.is_empty()
                && host
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']'))
        });
        let what = "`--cors` must be `any` or an origin without a path or a trailing slash, such as https://www.example.org.";
        rule(good, what, "--cors", value)?;
    }
    Ok(CorsSetting::Origins(values.to_vec()))
}

fn fixed_keys(options: &ServerArgs) -> Result<Vec<FixedKey>, StartupError> {
    let all = options.key.iter().map(|key| ("--key", &key.0, false));
    let reading = options
        .read_key
        .iter()
        .map(|key| ("--read-key", &key.0, true));
    let mut keys: Vec<FixedKey> = Vec::new();
    for (option, text, read_only) in all.chain(reading) {
        // The token is not repeated in a message, because messages are logged. A value without a
        // tenant may be a token.
        let wrong = |what: &str| {
            let place = text.split_once('=').map_or_else(
                || format!("{option} ..."),
                |(tenant, _)| format!("{option} {}=...", printable(tenant)),
            );
            StartupError::new(
                what,
                place,
                format!(
                    "Use a tenant and a random token, such as {option} demo=$(openssl rand -hex 20)."
                ),
            )
        };
        let (tenant, token) = text
            .split_once('=')
            .ok_or_else(|| wrong(&format!("`{option}` must have the form TENANT=TOKEN.")))?;
        if tenant.is_empty() || tenant.len() > 64 || !tenant.chars().all(is_system_name) {
            return Err(wrong(&format!(
                "The tenant in `{option}` must have 1 to 64 letters, digits, `_`, `.` or `-`."
            )));
        }
        if !(StoredKey::MIN_TOKEN_LENGTH..=256).contains(&token.len())
            || !token.chars().all(|c| c.is_ascii_graphic())
        {
            return Err(wrong(&format!(
                "The token in `{option}` must have 20 to 256 visible ASCII characters and no comma."
            )));
        }
        if keys.iter().any(|key| key.token == token) {
            return Err(wrong(&format!(
                "The token in `{option}` is used twice. Each token must be different."
            )));
        }
        keys.push(FixedKey {
            tenant: tenant.to_owned(),
            token: token.to_owned(),
            read_only,
        });
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::{CorsSetting, ServerSettings};
    use crate::demo::StartupError;
    use crate::demo::cli::Cli;
    use clap::Parser;

    fn check(arguments: &[&str]) -> Result<ServerSettings, StartupError> {
        let arguments = ["svc-demo"].iter().chain(arguments);
        ServerSettings::check(
            &Cli::try_parse_from(arguments)
                .expect("the arguments parse")
                .options,
        )
    }

    fn refused(arguments: &[&str]) -> String {
        check(arguments)
            .expect_err("the arguments are rejected")
            .to_string()
    }

    #[test]
    fn nothing_asked_for_is_the_demo_on_this_machine() {
        let settings = check(&[]).expect("the defaults are good");
        assert!(settings.listen.is_loopback());
        assert_eq!(
            (settings.port, settings.people, settings.cors),
            (None, 5000, CorsSetting::Off)
        );
        assert!(settings.anonymous_helpers && !settings.atomic_helpers && settings.keys.is_empty());
    }

    #[test]
    fn another_address_needs_a_base_url() {
        assert!(refused(&["--listen", "0.0.0.0"]).contains("--base-url"));
        assert!(refused(&["--listen", "192.0.2.1"]).contains("--base-url"));
        let settings = check(&[
            "--listen",
            "0.0.0.0",
            "--base-url",
            "http://demo.example.org/api",
        ])
        .expect("is good");
        assert_eq!(
            settings.base_url.as_deref(),
            Some("http://demo.example.org/api/")
        );
        assert!(check(&["--listen", "::1"]).is_ok());
        assert!(check(&["--listen", "localhost"]).is_ok());
    }

    #[test]
    fn metrics_need_a_place_beside_the_interface() {
        assert!(
            refused(&["--metrics", "on", "--base-url", "http://127.0.0.1:8080"])
                .contains("--metrics")
        );
        assert!(
            check(&[
                "--metrics",
                "on",
                "--base-url",
                "http://127.0.0.1:8080/api/v1"
            ])
            .is_ok_and(|all| all.metrics)
        );
    }

    #[test]
    fn a_base_url_is_an_address_without_user_query_and_fragment() {
        for url in [
            "demo",
            "/api",
            "ftp://example.org/",
            "http://a@example.org/",
            "http://a/?b",
            "http://a/#b",
        ] {
            assert!(
                refused(&["--base-url", url]).contains("--base-url"),
                "{url}"
            );
        }
    }

    #[test]
    fn fixed_keys_name_a_tenant_and_their_tokens_are_not_repeated() {
        let (one, two, three) = (
            "one|two-of-twenty-and-more",
            "x=y-of-exactly-twent",
            "three-of-twenty-and-more",
        );
        let (first, second, third) = (format!("a={one}"), format!("b={two}"), format!("a={three}"));
        let settings =
            check(&["--key", &first, "--key", &second, "--read-key", &third]).expect("is good");
        let keys: Vec<_> = settings
            .keys
            .iter()
            .map(|key| (&*key.tenant, &*key.token, key.read_only))
            .collect();
        assert_eq!(
            keys,
            [("a", one, false), ("b", two, false), ("a", three, true)]
        );
        assert!(!format!("{settings:?}").contains("three"));
        let long = "planted".repeat(4);
        let spaced = format!("a={long} {long}");
        for bad in [
            &long,
            &format!("={long}"),
            &format!("a b={long}"),
            "a=",
            &spaced,
            "a=planted-of-nineteen",
        ] {
            assert!(!refused(&["--key", bad]).contains("plant"), "{bad}");
        }
        let short = refused(&["--key", "a=of-nineteen-letters"]);
        assert!(
            short.contains("20 to 256") && short.contains("openssl rand -hex 20"),
            "{short}"
        );
        assert!(
            refused(&[
                "--key",
                &format!("a={long}"),
                "--read-key",
                &format!("b={long}")
            ])
            .contains("twice")
        );
    }

    #[test]
    fn names_and_origins_follow_their_grammar() {
        for bad in [
            ["--prefix", "S"],
            ["--prefix", "1a"],
            ["--extension-prefix", "a:b"],
            ["--extension-prefix", "svc"],
            ["--prefix", "ext"],
            ["--namespace", "a b"],
            ["--share-names", "a"],
            ["--share-names", "a,a"],
            ["--share-names", "a,email_share"],
            ["--cors", "example.org"],
            ["--cors", "https://example.org/"],
            ["--cors", "any,https://example.org"],
            ["--listen", "example.org"],
            ["--listen", "127.0.0.1:80"],
        ] {
            assert!(refused(&bad).contains(bad[0]), "{bad:?}");
        }
        let settings = check(&[
            "--cors",
            "https://a.example.org",
            "--cors",
            "http://localhost:3000",
        ])
        .expect("is good");
        assert!(matches!(settings.cors, CorsSetting::Origins(origins) if origins.len() == 2));
    }
}
