//! The command line. Former names of options, commands and variables are hidden aliases.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::formats::Format;
use crate::kinds;
use crate::profile::Profile;
use crate::settings::Intensity;

const AFTER: &str = "Exit codes:
  0  the server conforms (for other commands: success)
  1  a requirement failed, a waiver is broken, or the declaration lacks something that the profile requires
  2  the arguments or a file are invalid, or the server rejects a key
  3  a MUST requirement could not be decided, or nothing was selected
  4  the server cannot be reached, was stopped during the run, or the URL is not an entry point
  5  the suite itself failed, or was interrupted
  6  the server conforms, but clean-up left records that could have been deleted
  7  the server conforms, but its choices differ from --pins

Run the suite against a server on this machine, or on another machine, which is only read without --allow-writes:
  svc-conformance run http://127.0.0.1:8080/api/v1/ --key K
  svc-conformance run https://crm.example.org/api/v1/ --key K --allow-writes --report html=report.html

Store the options of a project in svc-conformance.toml:
  svc-conformance init http://127.0.0.1:8080/api/v1/
  svc-conformance run

If the server publishes no declaration, the suite needs a file (TOML or JSON). Create a draft with probe:
  svc-conformance probe http://127.0.0.1:8080/api/v1/ --key K --allow-writes --output declaration.toml
  svc-conformance run http://127.0.0.1:8080/api/v1/ --key K --declaration declaration.toml";

/// Returns the environment variable of an option: the new name, or the former one if only that is
/// set.
fn renamed(new: &'static str, former: &'static str) -> &'static str {
    let is_set = |name| std::env::var_os(name).is_some();
    if !is_set(new) && is_set(former) {
        former
    } else {
        new
    }
}

/// Check requirement by requirement whether a server conforms to the Activist Data Exchange API.
#[derive(Debug, Clone, Parser)]
#[command(name = "svc-conformance", version, max_term_width = 110, after_help = AFTER)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Clone, Subcommand)]
pub(super) enum Command {
    /// Write svc-conformance.toml, the file with the options of a project, for a server
    Init(InitOptions),
    /// Check a server and report the results
    Run(Box<RunArgs>),
    /// Run, wait until the server restarts, run what failed again, and report which requirements
    /// turned green or red
    Watch(Box<WatchArgs>),
    /// Show what a run would check and send. Only the declaration is requested from the server
    Plan(Box<RunArgs>),
    /// Find out what a server supports that publishes no declaration, and write a declaration
    Probe(ProbeArgs),
    /// Send the requests of a failure again, then run the check that found it
    Replay(ReplayArgs),
    /// Delete the records that a run left on the server, from its journal
    #[command(alias = "clean")]
    CleanUp(CleanUpArgs),
    /// List the requirements of the catalogue, or the checks
    List(ListArgs),
    /// List the profiles, the claims that a run can verify
    Profiles(ProfilesOptions),
    /// Write the catalogue as HTML pages, one per requirement
    Catalogue {
        /// The folder for the pages
        folder: PathBuf,
    },
    /// List the result files of a folder, and optionally write an HTML page of them
    Results(ResultsOptions),
    /// Explain a requirement or a check
    Explain {
        /// The id of a requirement such as COL-23, or of a check
        what: String,
    },
    /// Show field by field what two servers can exchange and what would be lost, from their
    /// capability documents or reports
    Compare(CompareArgs),
    /// Compare two JSON reports of one server; the exit code is 1 if a requirement is worse in the
    /// second (`compare` compares two servers)
    Diff {
        /// The earlier report
        old: PathBuf,
        /// The later report
        new: PathBuf,
    },
}

/// The options of every command that sends requests to a server.
#[derive(Debug, Clone, Args)]
pub(super) struct AccessOptions {
    /// The file with options; the command line has precedence [default: svc-conformance.toml in the
    /// current folder, if it exists]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,

    /// Do not read a file with options
    #[arg(long, conflicts_with = "config")]
    pub(super) no_config: bool,

    /// The key with all rights that the server declares
    #[arg(
        long,
        value_name = "K",
        env = "SVC_CONFORMANCE_KEY",
        hide_env_values = true
    )]
    pub(super) key: Option<String>,

    /// The key of another tenant
    #[arg(
        long,
        alias = "other-key",
        value_name = "K",
        env = renamed("SVC_CONFORMANCE_OTHER_TENANT_KEY", "SVC_CONFORMANCE_OTHER_KEY"),
        hide_env_values = true
    )]
    pub(super) other_tenant_key: Option<String>,

    /// A key without one right, with the name of the operation that it lacks, such as
    /// K=people.create
    #[arg(
        long,
        value_name = "K=OPERATION",
        env = "SVC_CONFORMANCE_RESTRICTED_KEY",
        hide_env_values = true
    )]
    pub(super) restricted_key: Option<String>,

    /// Trust this certificate authority (PEM), in addition to those that the system trusts;
    /// repeatable
    #[arg(long, value_name = "FILE")]
    pub(super) ca: Vec<PathBuf>,

    /// The client certificate (PEM), if the server requires one
    #[arg(long, value_name = "FILE", requires = "client_key")]
    pub(super) client_cert: Option<PathBuf>,

    /// The private key of the client certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    pub(super) client_key: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(super) struct InitOptions {
    /// The URL of the entry point
    pub(super) url: String,

    #[command(flatten)]
    pub(super) access: AccessOptions,
}

#[derive(Debug, Clone, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a separate switch of the command line"
)]
pub(super) struct RunArgs {
    /// The URL of the entry point
    pub(super) url: String,

    #[command(flatten)]
    pub(super) access: AccessOptions,

    /// The file that declares what the server supports, TOML or JSON (-: standard input) [default:
    /// the declaration that the server publishes]
    #[arg(long, value_name = "FILE")]
    pub(super) declaration: Option<PathBuf>,

    /// A record that the run may use if it cannot create one, such as event=/api/v1/events/17, or
    /// the address of a helper, such as
    /// `helper.record_signature=/api/v1/petitions/17/record_signature_helper`; repeatable
    #[arg(long, value_name = "NAME=ADDRESS", value_parser = fixture)]
    pub(super) fixture: Vec<(String, String)>,

    /// The claim to verify; `profiles` lists them
    #[arg(long, value_enum, default_value_t = Profile::All)]
    pub(super) profile: Profile,

    /// How many requests and variants the run tries
    #[arg(long, value_enum, default_value_t = Intensity::Default)]
    pub(super) intensity: Intensity,

    /// The seed of all random choices. The same seed sends the same requests, except for
    /// identifiers, names and addresses
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub(super) seed: u64,

    /// Only these requirements, areas or checks; `*` matches any text; repeatable
    #[arg(long, value_name = "PATTERN")]
    pub(super) only: Vec<String>,

    /// All but these requirements, areas or checks; repeatable
    #[arg(long, alias = "except", value_name = "PATTERN")]
    pub(super) exclude: Vec<String>,

    /// Accepted deviations: a TOML file with [[waiver]] row, reason, expires
    #[arg(long, value_name = "FILE")]
    pub(super) waivers: Option<PathBuf>,

    /// The maximum number of requests per second, such as 20/s
    #[arg(long, value_name = "N/s", value_parser = rate)]
    pub(super) rate: Option<f64>,

    /// Write to a server that is not on this machine
    #[arg(long)]
    pub(super) allow_writes: bool,

    /// Use triggers and scheduling, which can send messages to people
    #[arg(long)]
    pub(super) allow_side_effects: bool,

    /// The maximum number of records that the run creates
    #[arg(long, value_name = "N")]
    pub(super) max_records: Option<usize>,

    /// The maximum time to wait for one response, such as 10s or 500ms
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(super) timeout: Duration,

    /// The maximum time for one check; raise it if the server needs more than about 30 ms per
    /// request
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = duration)]
    pub(super) check_timeout: Duration,

    /// Start a webhook receiver at this address, and check what the server sends there [ADDR:
    /// 127.0.0.1:0, any free port]
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:0", value_parser = listen)]
    pub(super) webhook_receiver: Option<String>,

    /// The URL at which the server reaches the receiver, if it differs, such as the URL of a tunnel
    #[arg(long, value_name = "URL", requires = "webhook_receiver", value_parser = web)]
    pub(super) webhook_receiver_url: Option<String>,

    /// The maximum time to wait for one webhook message, including one retry; at most a third of
    /// --check-timeout
    #[arg(long, value_name = "TIME", default_value = "40s", value_parser = duration)]
    pub(super) webhook_timeout: Duration,

    /// Write a report. The format is text, json, junit, tap, html, markdown, matrix, badge or
    /// costs; repeatable
    #[arg(long, value_name = "FORMAT=PATH", value_parser = report)]
    pub(super) report: Vec<(Format, PathBuf)>,

    /// Write a small file with the result of a whole run, for publication. It contains no traffic,
    /// keys or addresses; `results` lists such files
    #[arg(long, value_name = "FILE", conflicts_with_all = ["only", "exclude", "fail_fast"])]
    pub(super) result: Option<PathBuf>,

    /// The name of the server in the result file
    #[arg(long, value_name = "NAME")]
    pub(super) server_name: Option<String>,

    /// An earlier JSON report, which the HTML page compares with this run; repeatable, oldest first
    #[arg(long, alias = "earlier", value_name = "REPORT.json")]
    pub(super) previous_report: Vec<PathBuf>,

    /// The URL of the pages that `catalogue` writes. HTML and Markdown reports link each
    /// requirement to its page
    #[arg(long, value_name = "URL")]
    pub(super) catalogue_url: Option<String>,

    /// Compare the documents of the server with the snapshots in this folder; differences do not
    /// affect conformance
    #[arg(long, value_name = "DIR")]
    pub(super) snapshots: Option<PathBuf>,

    /// Replace the snapshots with the current documents of the server
    #[arg(long, requires = "snapshots")]
    pub(super) update_snapshots: bool,

    /// Compare the choices of the server, where the specification leaves a choice, with this file;
    /// differences do not affect conformance (exit code 7)
    #[arg(long, value_name = "FILE")]
    pub(super) pins: Option<PathBuf>,

    /// Write the choices of this run to the file of --pins
    #[arg(long, requires = "pins")]
    pub(super) update_pins: bool,

    /// The prefix of relations, if it differs from the declared one
    #[arg(long)]
    pub(super) prefix: Option<String>,

    /// The name of the key header, if it differs from the declared one
    #[arg(long, value_name = "NAME")]
    pub(super) key_header: Option<String>,

    /// The folder for the journal and the replay files
    #[arg(long, alias = "out", value_name = "DIR", default_value = "out")]
    pub(super) output_dir: PathBuf,

    /// Stop at the first confirmed failure of a MUST requirement; the report lists the checks that
    /// were not run
    #[arg(long)]
    pub(super) fail_fast: bool,

    /// Do not delete the created records; `clean-up` deletes them later
    #[arg(long, alias = "keep")]
    pub(super) no_clean_up: bool,

    /// Do not show progress
    #[arg(long, short)]
    pub(super) quiet: bool,
}

#[derive(Debug, Clone, Args)]
pub(super) struct WatchArgs {
    #[command(flatten)]
    pub(super) run: RunArgs,

    /// Run again when this file changes, such as the executable of the server. By default, a run
    /// starts after the server restarts
    #[arg(long, value_name = "PATH")]
    pub(super) on_change: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(super) struct ProbeArgs {
    /// The URL of the entry point
    pub(super) url: String,

    #[command(flatten)]
    pub(super) access: AccessOptions,

    /// Create, change and delete records to find out more; without this option, the server is only
    /// read
    #[arg(long)]
    pub(super) allow_writes: bool,

    /// The file for the declaration: JSON if its name ends in `.json`, otherwise TOML [default:
    /// standard output]
    #[arg(long, alias = "write", value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// The maximum number of requests per second, such as 20/s
    #[arg(long, value_name = "N/s", value_parser = rate)]
    pub(super) rate: Option<f64>,

    /// The maximum time to wait for one response, such as 10s or 500ms
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(super) timeout: Duration,

    /// The name of the key header [default: guessed from the prefix of relations]
    #[arg(long, value_name = "NAME")]
    pub(super) key_header: Option<String>,

    /// The folder for the journal
    #[arg(long, alias = "out", value_name = "DIR", default_value = "out")]
    pub(super) output_dir: PathBuf,
}

#[derive(Debug, Clone, Args)]
pub(super) struct ReplayArgs {
    /// A replay file that a run wrote for a failure
    pub(super) file: PathBuf,

    /// The URL of the entry point, if it differs from that of the run; required if the server is
    /// not on this machine
    #[arg(long, value_name = "URL")]
    pub(super) url: Option<String>,

    #[command(flatten)]
    pub(super) access: AccessOptions,

    /// Write to a server that is not on this machine
    #[arg(long)]
    pub(super) allow_writes: bool,
}

#[derive(Debug, Clone, Args)]
pub(super) struct CleanUpArgs {
    /// The journal of the run
    pub(super) journal: PathBuf,

    /// The URL of the entry point, as given to the run; required if the server is not on this
    /// machine
    #[arg(long, value_name = "URL")]
    pub(super) url: Option<String>,

    #[command(flatten)]
    pub(super) access: AccessOptions,
}

#[derive(Debug, Clone, Args)]
pub(super) struct ListArgs {
    /// Only these requirements, areas or checks; `*` matches any text
    pub(super) patterns: Vec<String>,

    /// List the checks instead of the requirements
    #[arg(long)]
    pub(super) checks: bool,
}

#[derive(Debug, Clone, Args)]
pub(super) struct ProfilesOptions {
    /// The format of the list
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(super) format: TableFormat,
}

#[derive(Debug, Clone, Args)]
pub(super) struct ResultsOptions {
    /// The folder of the result files (*.json)
    pub(super) folder: PathBuf,

    /// The HTML page to write
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(super) struct CompareArgs {
    /// The capability document (JSON or TOML) or the JSON report of the first server
    pub(super) a: PathBuf,

    /// The capability document or the JSON report of the second server
    pub(super) b: PathBuf,

    /// The format of the tables
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(super) format: TableFormat,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum TableFormat {
    Text,
    Markdown,
    Json,
}

impl ValueEnum for Profile {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<Profile>> = LazyLock::new(|| Profile::every().collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(
            clap::builder::PossibleValue::new(self.as_str())
                .aliases(self.former().iter().map(String::as_str)),
        )
    }
}

impl ValueEnum for Intensity {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Quick, Self::Default, Self::Deep]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.as_str()))
    }
}

fn fixture(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, address)) if kinds::fixtures().contains(&name) && !address.is_empty() => {
            Ok((name.to_owned(), address.to_owned()))
        }
        _ => Err(format!(
            "`{text}` must have the form NAME=ADDRESS, where NAME is one of: {}",
            kinds::fixtures().join(", ")
        )),
    }
}

/// Parses a host and a port to listen on.
fn listen(text: &str) -> Result<String, String> {
    let is_address = text.rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty() && !host.contains('/') && port.parse::<u16>().is_ok()
    });
    if is_address {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "`{text}` must have the form HOST:PORT, such as 127.0.0.1:9000"
        ))
    }
}

/// Parses an `http` or `https` URL without a query.
fn web(text: &str) -> Result<String, String> {
    let host = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    let is_url = host.is_some_and(|host| !host.is_empty() && !host.contains(['?', '#', '@', ' ']));
    if is_url {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "`{text}` must be an http or https URL without a query"
        ))
    }
}

fn rate(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix("/s").unwrap_or(text).trim();
    let rate: f64 = number
        .parse()
        .map_err(|_| format!("`{text}` is not a rate: expected a value such as 20/s"))?;
    if (0.001..=100_000.0).contains(&rate) {
        Ok(rate)
    } else {
        Err(format!(
            "`{text}` is out of range: a rate is between 0.001/s and 100000/s"
        ))
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let broken = || {
        format!(
            "`{text}` is not a valid time: expected a value such as 10s, 500ms or 1m, at most 60m"
        )
    };
    let (number, unit) = text.split_at(
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len()),
    );
    let number: u64 = number.parse().map_err(|_| broken())?;
    let millis = match unit {
        "ms" => Some(number),
        "s" | "" => number.checked_mul(1000),
        "m" => number.checked_mul(60_000),
        _ => None,
    };
    millis
        .filter(|millis| (1..=3_600_000).contains(millis))
        .map(Duration::from_millis)
        .ok_or_else(broken)
}

fn report(text: &str) -> Result<(Format, PathBuf), String> {
    let (format, path) = text
        .split_once('=')
        .ok_or_else(|| format!("`{text}` must have the form FORMAT=PATH"))?;
    let format = format
        .parse()
        .map_err(|error: crate::ParseFormatError| error.to_string())?;
    if path.is_empty() {
        Err(format!("`{text}` has no file after `=`"))
    } else {
        Ok((format, PathBuf::from(path)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::CommandFactory;

    use super::{Cli, duration, listen, rate, report, web};

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn values_are_read() {
        assert_eq!(duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(2 * 60)));
        for text in [
            "",
            "s",
            "-1s",
            "0s",
            "10h",
            "999999999999999999999s",
            "99999999999m",
        ] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert_eq!(
            rate("20/s").map(|rate| (rate - 20.0).abs() < 1e-9),
            Ok(true)
        );
        for text in ["", "0", "-1/s", "NaN", "inf", "20/m"] {
            assert!(rate(text).is_err(), "{text}");
        }
        for text in ["127.0.0.1:0", "[::1]:9000", "localhost:9000"] {
            assert!(listen(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "9000",
            "localhost",
            "http://127.0.0.1:8080/",
            "127.0.0.1:99999",
            ":0",
        ] {
            assert!(listen(text).is_err(), "{text}");
        }
        assert!(web("https://tunnel.example.org/hooks").is_ok());
        for text in [
            "",
            "tunnel.example.org",
            "https://",
            "https://a/?b",
            "ftp://a",
        ] {
            assert!(web(text).is_err(), "{text}");
        }
        assert!(report("html=a=b.html").is_ok());
        for text in ["html", "html=", "pdf=x", "=x"] {
            assert!(report(text).is_err(), "{text}");
        }
    }
}
