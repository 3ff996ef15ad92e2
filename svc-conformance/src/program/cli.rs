//! The command line.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::formats::Format;
use crate::kinds;
use crate::profile::Profile;
use crate::settings::Intensity;

const AFTER: &str = "Exit codes:
  0  the server conforms (or, for other commands, all is well)
  1  a row does not hold, a waiver is broken, or the profile needs more than is declared
  2  the arguments or a file make no sense, or the server refuses a key
  3  a MUST row could not be decided, or nothing was selected
  4  the target cannot be reached, was stopped during the run, or is no entry point
  5  the suite itself broke, or was interrupted
  6  the server conforms, but clean-up left records that could have been deleted
  7  the server conforms, but chose otherwise than --pins says

A first run against a server on this machine, then one against another machine, which is only read until writes are allowed:
  svc-conformance run http://127.0.0.1:8080/api/v1/ --key K
  svc-conformance run https://crm.example.org/api/v1/ --key K --allow-writes --report html=report.html

The options of every run of a project are in svc-conformance.toml, which init writes:
  svc-conformance init http://127.0.0.1:8080/api/v1/
  svc-conformance run

A server that publishes no declaration is judged against a file, TOML or JSON in the same form; probe writes a first one:
  svc-conformance probe http://127.0.0.1:8080/api/v1/ --key K --allow-writes --write declaration.toml
  svc-conformance run http://127.0.0.1:8080/api/v1/ --key K --declaration declaration.toml";

/// Checks row by row whether a server conforms to the Activist Data Exchange API.
#[derive(Debug, Clone, Parser)]
#[command(name = "svc-conformance", version, max_term_width = 110, after_help = AFTER)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Clone, Subcommand)]
pub(super) enum Command {
    /// Writes svc-conformance.toml, the file with the options of a project, for a server
    Init(InitOptions),
    /// Checks a server and reports
    Run(Box<RunArgs>),
    /// Runs, waits until the server was restarted, runs what failed again, and says what turned
    /// green or red
    Watch(Box<WatchArgs>),
    /// Shows what a run would look at and send, and sends nothing but the reading of the
    /// declaration
    Plan(Box<RunArgs>),
    /// Finds out what a server supports that publishes no declaration, and writes one
    Probe(ProbeArgs),
    /// Sends the steps of a failure again, then the check that found it
    Replay(ReplayArgs),
    /// Removes what a run left behind, from its journal
    Clean(CleanUpArgs),
    /// Lists the rows of the catalogue and the checks
    List(ListArgs),
    /// Lists the profiles, the claims that a run can judge
    Profiles(ProfilesOptions),
    /// Writes the catalogue as pages for a browser, one for each row
    Catalogue {
        /// The folder of the pages
        folder: PathBuf,
    },
    /// Lists the result files of a folder, and writes a page of them: who conforms
    Results(ResultsOptions),
    /// Explains a row or a check
    Explain {
        /// The id of a row such as COL-23, or of a check
        what: String,
    },
    /// Shows what can be exchanged between two servers, field by field, and what is lost, from
    /// their capability documents or reports
    Compare(CompareArgs),
    /// Compares two JSON reports of one server; exit code 1 if a row of the second is worse
    /// (`compare` is for two servers)
    Diff {
        /// The report before
        old: PathBuf,
        /// The report after
        new: PathBuf,
    },
}

/// What a command needs to send requests to a server.
#[derive(Debug, Clone, Args)]
pub(super) struct AccessOptions {
    /// The file with options, over which the command line wins [default: svc-conformance.toml,
    /// where the current folder has it]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,

    /// Read no file with options
    #[arg(long, conflicts_with = "config")]
    pub(super) no_config: bool,

    /// The key that may do everything the server declares
    #[arg(
        long,
        value_name = "K",
        env = "SVC_CONFORMANCE_KEY",
        hide_env_values = true
    )]
    pub(super) key: Option<String>,

    /// A key whose data is apart from that of the first
    #[arg(
        long,
        value_name = "K",
        env = "SVC_CONFORMANCE_OTHER_KEY",
        hide_env_values = true
    )]
    pub(super) other_key: Option<String>,

    /// A key that lacks one operation, such as K=people.create
    #[arg(
        long,
        value_name = "K=OPERATION",
        env = "SVC_CONFORMANCE_RESTRICTED_KEY",
        hide_env_values = true
    )]
    pub(super) restricted_key: Option<String>,

    /// Trust the authority with this certificate (PEM), in addition to those that this machine
    /// trusts; repeatable
    #[arg(long, value_name = "FILE")]
    pub(super) ca: Vec<PathBuf>,

    /// The certificate of the client (PEM), for a server that requires one
    #[arg(long, value_name = "FILE", requires = "client_key")]
    pub(super) client_cert: Option<PathBuf>,

    /// The private key of the client's certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    pub(super) client_key: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(super) struct InitOptions {
    /// The address of the entry point
    pub(super) url: String,

    #[command(flatten)]
    pub(super) access: AccessOptions,
}

#[derive(Debug, Clone, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line of its own"
)]
pub(super) struct RunArgs {
    /// The address of the entry point
    pub(super) url: String,

    #[command(flatten)]
    pub(super) access: AccessOptions,

    /// What the server supports, TOML or JSON (-: from standard input) [default: as the server
    /// publishes it]
    #[arg(long, value_name = "FILE")]
    pub(super) declaration: Option<PathBuf>,

    /// A record that the run may use where it may not create one, such as event=/api/v1/events/17,
    /// or the address of a helper, such as
    /// `helper.record_signature=/api/v1/petitions/17/record_signature_helper`; repeatable
    #[arg(long, value_name = "NAME=ADDRESS", value_parser = fixture)]
    pub(super) fixture: Vec<(String, String)>,

    /// The claim that is judged; `profiles` lists them
    #[arg(long, value_enum, default_value_t = Profile::All)]
    pub(super) profile: Profile,

    /// How much the run does
    #[arg(long, value_enum, default_value_t = Intensity::Default)]
    pub(super) intensity: Intensity,

    /// The seed of everything random: the same seed sends the same requests, with other identifiers
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub(super) seed: u64,

    /// Only these rows, areas or checks; `*` stands for anything; repeatable
    #[arg(long, value_name = "PATTERN")]
    pub(super) only: Vec<String>,

    /// Without these rows, areas or checks; repeatable
    #[arg(long, value_name = "PATTERN")]
    pub(super) except: Vec<String>,

    /// Deviations that are accepted: TOML with [[waiver]] row, reason, expires
    #[arg(long, value_name = "FILE")]
    pub(super) waivers: Option<PathBuf>,

    /// Requests in a second at most, such as 20/s
    #[arg(long, value_name = "N/s", value_parser = rate)]
    pub(super) rate: Option<f64>,

    /// Write to a target that is not on this machine
    #[arg(long)]
    pub(super) allow_writes: bool,

    /// Use triggers and scheduling, which may send messages to people
    #[arg(long)]
    pub(super) allow_side_effects: bool,

    /// Records that the run creates at most
    #[arg(long, value_name = "N")]
    pub(super) max_records: Option<usize>,

    /// Longest wait for one answer, such as 10s or 500ms
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(super) timeout: Duration,

    /// Longest time for one check, for a server that takes more than some 30 ms for a request
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = duration)]
    pub(super) check_timeout: Duration,

    /// Start a receiver of webhooks at this address, and judge what the server sends there [ADDR:
    /// 127.0.0.1:0, any free port]
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:0", value_parser = listen)]
    pub(super) webhook_receiver: Option<String>,

    /// The URL by which the server reaches the receiver, where that is another one, such as that of
    /// a tunnel
    #[arg(long, value_name = "URL", requires = "webhook_receiver", value_parser = web)]
    pub(super) webhook_receiver_url: Option<String>,

    /// Longest wait for one message of a webhook, another attempt included; a third of
    /// --check-timeout at most
    #[arg(long, value_name = "TIME", default_value = "40s", value_parser = duration)]
    pub(super) webhook_timeout: Duration,

    /// A report: text, json, junit, tap, html, markdown, matrix, badge or costs, and its file;
    /// repeatable
    #[arg(long, value_name = "FORMAT=PATH", value_parser = report)]
    pub(super) report: Vec<(Format, PathBuf)>,

    /// A small file with the result of a whole run, to publish it: no traffic, keys or addresses;
    /// `results` lists such files
    #[arg(long, value_name = "FILE", conflicts_with_all = ["only", "except", "fail_fast"])]
    pub(super) result: Option<PathBuf>,

    /// The name of the server in the result file
    #[arg(long, value_name = "NAME")]
    pub(super) server_name: Option<String>,

    /// An earlier JSON report, whose rows the HTML page shows beside those of this run; repeatable,
    /// the oldest first
    #[arg(long, value_name = "REPORT.json")]
    pub(super) earlier: Vec<PathBuf>,
    /// Where the pages that `catalogue` writes can be read: the HTML and Markdown reports link each
    /// row to its page
    #[arg(long, value_name = "URL")]
    pub(super) catalogue_url: Option<String>,

    /// Compare the server's documents with those kept in this folder; a difference is none of
    /// conformance
    #[arg(long, value_name = "DIR")]
    pub(super) snapshots: Option<PathBuf>,

    /// Keep the server's documents as they are now
    #[arg(long, requires = "snapshots")]
    pub(super) update_snapshots: bool,

    /// Compare what the server chose, where the interface leaves a choice, with what this file
    /// pins; a difference is none of conformance (exit code 7)
    #[arg(long, value_name = "FILE")]
    pub(super) pins: Option<PathBuf>,

    /// Pin what the server chose in this run
    #[arg(long, requires = "pins")]
    pub(super) update_pins: bool,

    /// The prefix of relations, where it is not the declared one
    #[arg(long)]
    pub(super) prefix: Option<String>,

    /// The name of the key header, where it is not the declared one
    #[arg(long, value_name = "NAME")]
    pub(super) key_header: Option<String>,

    /// The folder for the journal and for what replays failures
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub(super) out: PathBuf,

    /// End at the first failure of a MUST row, once it is confirmed; what was not run is reported
    /// as such
    #[arg(long)]
    pub(super) fail_fast: bool,

    /// Leave what was created; `clean` removes it later
    #[arg(long)]
    pub(super) keep: bool,

    /// No progress
    #[arg(long, short)]
    pub(super) quiet: bool,
}

#[derive(Debug, Clone, Args)]
pub(super) struct WatchArgs {
    #[command(flatten)]
    pub(super) run: RunArgs,

    /// Run again when this file has changed, such as the program of the server, instead of when the
    /// server went away and is back
    #[arg(long, value_name = "PATH")]
    pub(super) on_change: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(super) struct ProbeArgs {
    /// The address of the entry point
    pub(super) url: String,

    #[command(flatten)]
    pub(super) access: AccessOptions,

    /// Find out by creating, changing and deleting records of its own; without it, the server is
    /// only read
    #[arg(long)]
    pub(super) allow_writes: bool,

    /// The file of the declaration; one that ends in `.json` is JSON, others are TOML [default:
    /// standard output]
    #[arg(long, value_name = "FILE")]
    pub(super) write: Option<PathBuf>,

    /// Requests in a second at most, such as 20/s
    #[arg(long, value_name = "N/s", value_parser = rate)]
    pub(super) rate: Option<f64>,

    /// Longest wait for one answer, such as 10s or 500ms
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(super) timeout: Duration,

    /// The name of the key header [default: guessed from the prefix of relations]
    #[arg(long, value_name = "NAME")]
    pub(super) key_header: Option<String>,

    /// The folder for the journal
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub(super) out: PathBuf,
}

#[derive(Debug, Clone, Args)]
pub(super) struct ReplayArgs {
    /// A file that a run wrote for a failure
    pub(super) file: PathBuf,

    /// The address of the entry point, where it is not that of the run; needed where that is not on
    /// this machine
    #[arg(long, value_name = "URL")]
    pub(super) url: Option<String>,

    #[command(flatten)]
    pub(super) access: AccessOptions,

    /// Write to a target that is not on this machine
    #[arg(long)]
    pub(super) allow_writes: bool,
}

#[derive(Debug, Clone, Args)]
pub(super) struct CleanUpArgs {
    /// The journal of the run
    pub(super) journal: PathBuf,

    /// The address of the entry point, as it was given to the run; needed where it is not on this
    /// machine
    #[arg(long, value_name = "URL")]
    pub(super) url: Option<String>,

    #[command(flatten)]
    pub(super) access: AccessOptions,
}

#[derive(Debug, Clone, Args)]
pub(super) struct ListArgs {
    /// Only these rows, areas or checks; `*` stands for anything
    pub(super) patterns: Vec<String>,

    /// The checks instead of the rows
    #[arg(long)]
    pub(super) checks: bool,
}

#[derive(Debug, Clone, Args)]
pub(super) struct ProfilesOptions {
    /// The form of the list
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(super) format: TableFormat,
}

#[derive(Debug, Clone, Args)]
pub(super) struct ResultsOptions {
    /// The folder of the result files (*.json)
    pub(super) folder: PathBuf,

    /// The page, one file for a browser
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(super) struct CompareArgs {
    /// The capability document (JSON or TOML) or the JSON report of one server
    pub(super) a: PathBuf,

    /// That of the other server
    pub(super) b: PathBuf,

    /// The form of the tables
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
            "`{text}` is not of the form NAME=ADDRESS, where NAME is one of: {}",
            kinds::fixtures().join(", ")
        )),
    }
}

/// A host and a port to listen at.
fn listen(text: &str) -> Result<String, String> {
    let is_address = text.rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty() && !host.contains('/') && port.parse::<u16>().is_ok()
    });
    if is_address {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "`{text}` is not of the form HOST:PORT, such as 127.0.0.1:9000"
        ))
    }
}

/// An `http` or `https` URL without a query.
fn web(text: &str) -> Result<String, String> {
    let host = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    let is_url = host.is_some_and(|host| !host.is_empty() && !host.contains(['?', '#', '@', ' ']));
    if is_url {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "`{text}` is not an http or https URL without a query"
        ))
    }
}

fn rate(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix("/s").unwrap_or(text).trim();
    let rate: f64 = number
        .parse()
        .map_err(|_| format!("`{text}` is no rate: expected such as 20/s"))?;
    if (0.001..=100_000.0).contains(&rate) {
        Ok(rate)
    } else {
        Err(format!("`{text}` is no sensible rate"))
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let broken = || format!("`{text}` is no time: expected such as 10s, 500ms or 1m");
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
        .ok_or_else(|| format!("`{text}` is not of the form FORMAT=PATH"))?;
    let format = format
        .parse()
        .map_err(|error: crate::ParseFormatError| error.to_string())?;
    if path.is_empty() {
        Err(format!("`{text}` names no file"))
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
