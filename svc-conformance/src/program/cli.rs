//! The command line. Former names of options, commands and variables are hidden aliases.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use clap::{Arg, Args, Parser, Subcommand, ValueEnum};

use crate::formats::Format;
use crate::kinds;
use crate::profile::Profile;
use crate::settings::Intensity;

const AFTER: &str = "Exit codes:
  0  the server conforms (for other commands: success)
  1  a requirement failed, a waiver expired or is not needed, or the declaration lacks something that the
     profile requires
  2  the arguments or a file are invalid, or the server rejects a key
  3  a MUST requirement is inconclusive (it applies, but the run could not decide whether the server
     fulfils it), or no requirement was checked
  4  the server cannot be reached, was stopped during the run, or the URL is not an entry point
  5  the suite itself failed, or was interrupted
  6  the server conforms, but clean-up left records that could have been deleted
  7  the server conforms, but its choices differ from those in the file of --pins

Check a server on this machine. The run creates records on it and deletes them again:
  svc-conformance run http://127.0.0.1:8080/api/v1/ --key KEY

Check a server on another machine. Without --allow-writes, the run only reads from it:
  svc-conformance run https://crm.example.org/api/v1/ --key KEY --allow-writes --report html=report.html

Store the options of a project in svc-conformance.toml:
  svc-conformance init http://127.0.0.1:8080/api/v1/
  svc-conformance run

A declaration lists what a server supports. If the server publishes none, create a draft and review it:
  svc-conformance probe http://127.0.0.1:8080/api/v1/ --key KEY --allow-writes --output declaration.toml
  svc-conformance run http://127.0.0.1:8080/api/v1/ --key KEY --declaration declaration.toml";

/// The end of the help of a command that checks a server.
const SEE: &str = "Exit codes and examples: svc-conformance --help";

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

/// Check whether a server conforms to the Activist Data Exchange API, requirement by requirement
#[derive(Debug, Clone, Parser)]
#[command(name = "svc-conformance", version, max_term_width = 110, after_help = AFTER)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Clone, Subcommand)]
pub(super) enum Command {
    /// Write svc-conformance.toml, a file with options for `run` and other commands
    #[command(
        mut_arg("config", |arg| arg.help("The file to write [default: svc-conformance.toml]")),
        mut_arg("no_config", |arg| arg.hide(true))
    )]
    Init(InitOptions),
    /// Check a server and report the results
    #[command(after_help = SEE)]
    Run(Box<RunArgs>),
    /// Check a server, then check what failed again after each restart of the server, until Ctrl-C
    #[command(after_help = SEE)]
    Watch(Box<WatchArgs>),
    /// Show what a run with the same options would check and send; only the declaration is requested
    #[command(mut_args = of_plan)]
    Plan(Box<RunArgs>),
    /// Find out what a server supports, and write it as a draft of a declaration
    Probe(ProbeArgs),
    /// Send the requests of a failure again, then run the check that found the failure
    Replay(ReplayArgs),
    /// Delete the records that a run left on the server, as listed in the journal of the run
    #[command(alias = "clean")]
    CleanUp(CleanUpArgs),
    /// List the requirements, or the checks (the tests that observe them)
    List(ListArgs),
    /// List the profiles (a profile is a claim about a server that a run can verify)
    Profiles(ProfilesOptions),
    /// Write all requirements as HTML pages, one per requirement
    Catalogue {
        /// The folder for the pages; it is created if it does not exist
        folder: PathBuf,
    },
    /// List the result files in a folder (from `run --result`), and optionally write them as an HTML
    /// page
    Results(ResultsOptions),
    /// Explain a requirement or a check
    Explain {
        /// The id of a requirement, such as COL-23, or of a check, such as col/pages
        what: String,
    },
    /// Show what two servers can exchange, and what would be lost
    Compare(CompareArgs),
    /// Compare two reports of one server, requirement by requirement; the exit code is 1 if one
    /// became worse
    Diff {
        /// The earlier report, written with `run --report json=FILE`
        old: PathBuf,
        /// The later report, written with `run --report json=FILE`
        new: PathBuf,
    },
}

/// Options of `run` that `plan` accepts but does not need, because it checks nothing.
const NOT_OF_PLAN: &[&str] = &[
    "waivers",
    "rate",
    "check_timeout",
    "webhook_timeout",
    "report",
    "result",
    "server_name",
    "previous_report",
    "catalogue_url",
    "snapshots",
    "update_snapshots",
    "pins",
    "update_pins",
    "output_dir",
    "fail_fast",
    "no_clean_up",
];

/// Hides an option in the help of `plan` if that command does not need it.
fn of_plan(option: Arg) -> Arg {
    let is_hidden = NOT_OF_PLAN.contains(&option.get_id().as_str());
    option.hide(is_hidden)
}

/// The options of every command that sends requests to a server.
#[derive(Debug, Clone, Args)]
pub(super) struct AccessOptions {
    /// A file with options, as `init` writes it; the command line has precedence [default:
    /// svc-conformance.toml in the current folder, if it exists]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,

    /// Do not read svc-conformance.toml from the current folder
    #[arg(long, conflicts_with = "config")]
    pub(super) no_config: bool,

    /// The API key; it needs all rights for what the server declares
    #[arg(
        long,
        value_name = "KEY",
        env = "SVC_CONFORMANCE_KEY",
        hide_env_values = true
    )]
    pub(super) key: Option<String>,

    /// An API key of another tenant, to check that tenants do not see each other's data
    #[arg(
        long,
        alias = "other-key",
        value_name = "KEY",
        env = renamed("SVC_CONFORMANCE_OTHER_TENANT_KEY", "SVC_CONFORMANCE_OTHER_KEY"),
        hide_env_values = true
    )]
    pub(super) other_tenant_key: Option<String>,

    /// A restricted key: an API key that has every right except one, and the missing right, such as
    /// KEY=people.create
    #[arg(
        long,
        value_name = "KEY=RIGHT",
        env = "SVC_CONFORMANCE_RESTRICTED_KEY",
        hide_env_values = true
    )]
    pub(super) restricted_key: Option<String>,

    /// The certificate of an authority to trust (PEM), in addition to those of the system;
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
    /// The URL of the entry point, such as `http://127.0.0.1:8080/api/v1/`
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
    /// The URL of the entry point, such as `http://127.0.0.1:8080/api/v1/`. It can be omitted if
    /// the file of `--config` has it as `address`
    pub(super) url: Option<String>,

    #[command(flatten)]
    pub(super) access: AccessOptions,

    /// A file that declares what the server supports, in TOML or JSON; `-` reads standard input
    /// [default: the capability document of the server]
    #[arg(long, value_name = "FILE")]
    pub(super) declaration: Option<PathBuf>,

    /// An existing record (fixture) in which the run may record actions, such as
    /// event=/api/v1/events/17; needed if the run cannot create such a record. It can also be the
    /// URL of a helper, such as
    /// `helper.record_signature=/api/v1/petitions/17/record_signature_helper`; repeatable
    #[arg(long, value_name = "NAME=ADDRESS", value_parser = fixture)]
    pub(super) fixture: Vec<(String, String)>,

    /// The claim about the server to verify; the command `profiles` explains each
    #[arg(long, value_enum, default_value_t = Profile::All)]
    pub(super) profile: Profile,

    /// How thorough the run is: quick checks each requirement once, default also tries generated
    /// bodies and sequences, deep tries more of them and concurrent requests
    #[arg(long, value_enum, default_value_t = Intensity::Default)]
    pub(super) intensity: Intensity,

    /// The seed of all random choices; two runs with the same seed send the same requests, except
    /// for identifiers, names and addresses
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub(super) seed: u64,

    /// The random part of the identifiers, names and addresses of this run: 8 to 32 lower-case letters
    /// and digits; to repeat the requests of a run exactly, pass the `nonce` of its report
    #[arg(long, value_name = "WORD")]
    pub(super) nonce: Option<String>,

    /// Check only these requirements, areas or checks, such as COL-23, COL or col/pages; `*` matches
    /// any text; repeatable
    #[arg(long, value_name = "PATTERN")]
    pub(super) only: Vec<String>,

    /// Do not check these requirements, areas or checks; `*` matches any text; repeatable
    #[arg(long, alias = "except", value_name = "PATTERN")]
    pub(super) exclude: Vec<String>,

    /// A TOML file of failures that you accept until a date, each a `[[waiver]]` with `row` (the id of
    /// the requirement), `reason` and `expires` (YYYY-MM-DD)
    #[arg(long, value_name = "FILE")]
    pub(super) waivers: Option<PathBuf>,

    /// The maximum number of requests per second, such as 20/s [default: unlimited]
    #[arg(long, value_name = "N/s", value_parser = rate)]
    pub(super) rate: Option<f64>,

    /// Allow writes to a server on another machine. The run then creates records there, changes them,
    /// and deletes them at the end. Without this option, it only reads from such a server. A server
    /// on this machine needs no permission
    #[arg(long)]
    pub(super) allow_writes: bool,

    /// Allow the run to use triggers and scheduling, with which the server can send messages to
    /// people
    #[arg(long)]
    pub(super) allow_side_effects: bool,

    /// The maximum number of records that the run creates [default: 50000]
    #[arg(long, value_name = "N")]
    pub(super) max_records: Option<usize>,

    /// The maximum time to wait for one response, such as 500ms, 10s or 1m
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(super) timeout: Duration,

    /// The maximum time for one check, such as 90s or 5m; raise it if the server needs more than
    /// about 30 ms per request
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = duration)]
    pub(super) check_timeout: Duration,

    /// Start a webhook receiver on this host and port, and check the messages that the server sends
    /// to it; without ADDR, it listens on any free port of 127.0.0.1 [default: no receiver]
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:0", value_parser = listen)]
    pub(super) webhook_receiver: Option<String>,

    /// The URL at which the server reaches the webhook receiver, such as the URL of a tunnel
    /// [default: the address of --webhook-receiver]
    #[arg(long, value_name = "URL", requires = "webhook_receiver", value_parser = web)]
    pub(super) webhook_receiver_url: Option<String>,

    /// The maximum time to wait for one webhook message, including one retry, such as 40s or 2m; at
    /// most a third of --check-timeout
    #[arg(long, value_name = "TIME", default_value = "40s", value_parser = duration)]
    pub(super) webhook_timeout: Duration,

    /// Write a report to a file, or to standard output if PATH is `-`; repeatable. FORMAT is text,
    /// json, junit, tap, html, markdown, matrix (CSV, one line per requirement), badge (JSON for
    /// shields.io) or costs (CSV, requests and records per check)
    #[arg(long, value_name = "FORMAT=PATH", value_parser = report)]
    pub(super) report: Vec<(Format, PathBuf)>,

    /// Write a summary of the run to publish; it contains no requests, responses, keys or URLs. The
    /// command `results` lists such files
    #[arg(long, value_name = "FILE", conflicts_with_all = ["only", "exclude", "fail_fast"])]
    pub(super) result: Option<PathBuf>,

    /// The name of the server in the file of --result
    #[arg(long, value_name = "NAME")]
    pub(super) server_name: Option<String>,

    /// A JSON report of an earlier run, whose numbers the HTML report shows next to those of this
    /// run; repeatable, oldest first
    #[arg(long, alias = "earlier", value_name = "REPORT.json")]
    pub(super) previous_report: Vec<PathBuf>,

    /// The URL at which you published the pages of the command `catalogue`; HTML and Markdown
    /// reports then link each requirement to its page
    #[arg(long, value_name = "URL")]
    pub(super) catalogue_url: Option<String>,

    /// Compare documents of the server with the files in this folder, and print the differences,
    /// which do not affect the verdict. The documents are its declaration, its entry point, an error
    /// and a record of each kind
    #[arg(long, value_name = "DIR")]
    pub(super) snapshots: Option<PathBuf>,

    /// Write the current documents of the server to the folder of --snapshots
    #[arg(long, requires = "snapshots")]
    pub(super) update_snapshots: bool,

    /// Compare the choices of the server with the pins in this file. Differences do not affect the
    /// verdict, but a conformant server then has exit code 7
    #[arg(long, value_name = "FILE")]
    pub(super) pins: Option<PathBuf>,

    /// Write what the server chose in this run to the file of --pins
    #[arg(long, requires = "pins")]
    pub(super) update_pins: bool,

    /// The prefix of relations, such as svc in svc:people [default: the declared one]
    #[arg(long)]
    pub(super) prefix: Option<String>,

    /// The name of the HTTP header that carries the API key [default: the declared one]
    #[arg(long, value_name = "NAME")]
    pub(super) key_header: Option<String>,

    /// The folder for the journal (a list of the created records) and the replay files (the requests
    /// of each failure)
    #[arg(long, alias = "out", value_name = "DIR", default_value = "out")]
    pub(super) output_dir: PathBuf,

    /// End the run at the first confirmed failure; the report lists the checks that were not run
    #[arg(long)]
    pub(super) fail_fast: bool,

    /// Do not delete the created records at the end; the command `clean-up` deletes them later
    #[arg(long, alias = "keep")]
    pub(super) no_clean_up: bool,

    /// Do not print progress
    #[arg(long, short)]
    pub(super) quiet: bool,
}

#[derive(Debug, Clone, Args)]
pub(super) struct WatchArgs {
    #[command(flatten)]
    pub(super) run: RunArgs,

    /// Check again when this file changes, such as the executable of the server [default: check
    /// again when the server restarts]
    #[arg(long, value_name = "PATH")]
    pub(super) on_change: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(super) struct ProbeArgs {
    /// The URL of the entry point, such as `http://127.0.0.1:8080/api/v1/`. It can be omitted if
    /// the file of `--config` has it as `address`
    pub(super) url: Option<String>,

    #[command(flatten)]
    pub(super) access: AccessOptions,

    /// Allow writes, also to a server on this machine. The command then creates a record of each kind,
    /// changes it, calls each helper, and deletes the records again. Without this option, it only
    /// reads
    #[arg(long)]
    pub(super) allow_writes: bool,

    /// Write the declaration to this file, as JSON if its name ends in `.json`, otherwise as TOML
    /// [default: standard output]
    #[arg(long, alias = "write", value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// The maximum number of requests per second, such as 20/s [default: unlimited]
    #[arg(long, value_name = "N/s", value_parser = rate)]
    pub(super) rate: Option<f64>,

    /// The maximum time to wait for one response, such as 500ms, 10s or 1m
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(super) timeout: Duration,

    /// The name of the HTTP header that carries the API key [default: guessed from the prefix of
    /// relations]
    #[arg(long, value_name = "NAME")]
    pub(super) key_header: Option<String>,

    /// The folder for the journal (a list of the created records)
    #[arg(long, alias = "out", value_name = "DIR", default_value = "out")]
    pub(super) output_dir: PathBuf,
}

#[derive(Debug, Clone, Args)]
pub(super) struct ReplayArgs {
    /// A replay file, which a run wrote for a failure (`*.replay.json` in the folder of `run --output-dir`)
    pub(super) file: PathBuf,

    /// The URL of the entry point; required if the server is not on this machine [default: the URL
    /// of the run]
    #[arg(long, value_name = "URL")]
    pub(super) url: Option<String>,

    #[command(flatten)]
    pub(super) access: AccessOptions,

    /// Allow writes to a server on another machine. The requests of the failure can create and change
    /// records. The check deletes those that it creates itself. A server on this machine needs no
    /// permission
    #[arg(long)]
    pub(super) allow_writes: bool,
}

#[derive(Debug, Clone, Args)]
pub(super) struct CleanUpArgs {
    /// The journal of the run, a list of the records that it created (in the folder of `run --output-dir`)
    pub(super) journal: PathBuf,

    /// The URL of the entry point, as it was given to the run; required if the server is not on this
    /// machine [default: the URL of the run]
    #[arg(long, value_name = "URL")]
    pub(super) url: Option<String>,

    #[command(flatten)]
    pub(super) access: AccessOptions,
}

#[derive(Debug, Clone, Args)]
pub(super) struct ListArgs {
    /// List only these requirements, areas or checks, such as COL-23, COL or col/pages; `*` matches
    /// any text
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
    /// The folder with the result files (*.json)
    pub(super) folder: PathBuf,

    /// Also write the list to this file, as an HTML page
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
