//! `svc-conformance.toml`: the options of a project. Its members are the options of the command
//! line, which has precedence. Each option is therefore defined once, in [`cli`](super::cli). A
//! former name of an option is also a former name of its member.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ContextKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory as _, Parser as _};
use toml::de::{DeTable, DeValue};

use super::cli::Cli;
use super::{ProgramError, note, settings};
use crate::address;

/// The name of the file in the current folder.
pub(super) const FILE: &str = "svc-conformance.toml";

/// Options that belong to one run instead of a project, and options that have another name in the
/// file.
const NOT_IN_FILE: [&str; 17] = [
    "config",
    "no_config",
    "key",
    "other_tenant_key",
    "restricted_key",
    "url",
    "update_pins",
    "update_snapshots",
    "no_clean_up",
    "result",
    "quiet",
    "file",
    "journal",
    "nonce",
    "output",
    "help",
    "version",
];

/// The member with the URL of the entry point.
pub(super) const ADDRESS: &str = "address";

/// The members that name the environment variable of a key, each with its option.
pub(super) const KEYS: [(&str, &str); 3] = [
    ("key_variable", "key"),
    ("other_tenant_key_variable", "other_tenant_key"),
    ("restricted_key_variable", "restricted_key"),
];

/// Parses the command line of the process, completed by the file.
pub(super) fn cli(given: &[OsString]) -> Result<Cli, ProgramError> {
    let Some(added) = Added::read(given)? else {
        return Ok(Cli::parse_from(given));
    };
    let head = given.len().min(2);
    let (program, rest) = given.split_at(head);
    let all = program
        .iter()
        .cloned()
        .chain(added.arguments.iter().map(OsString::from))
        .chain(rest.iter().cloned());
    match Cli::try_parse_from(all) {
        Ok(cli) => {
            if !added.is_quiet {
                note(&format!(
                    "options from {}: {}\n",
                    added.path.display(),
                    added.names.join(", ")
                ));
            }
            Ok(cli)
        }
        Err(error) => match added.place(&error) {
            Some(place) => Err(ProgramError::usage(format!(
                "{place}: {}",
                in_one_line(&error)
            ))),
            None => error.exit(),
        },
    }
}

/// Returns the URL of the entry point, which is from the command line or the file.
pub(super) fn entry_point(url: Option<&str>) -> Result<&str, ProgramError> {
    url.ok_or_else(|| {
        ProgramError::usage(format!(
            "The URL of the entry point is missing. Add it to the command line, or add `{ADDRESS}` to {FILE} or to the file of --config."
        ))
    })
}

/// The options that a file adds to a command line.
struct Added {
    path: PathBuf,
    arguments: Vec<String>,
    /// The used members, in the order of the file.
    names: Vec<String>,
    /// The line of each member.
    lines: BTreeMap<String, usize>,
    is_quiet: bool,
}

impl Added {
    /// Reads the options of the file. Returns `None` if there is no file or the command uses none.
    fn read(given: &[OsString]) -> Result<Option<Self>, ProgramError> {
        let lenient = Cli::command()
            .ignore_errors(true)
            .try_get_matches_from(given);
        let Ok(matches) = lenient else {
            return Ok(None);
        };
        let Some((name, matches)) = matches.subcommand() else {
            return Ok(None);
        };
        let cli = built();
        let Some(command) = cli
            .find_subcommand(name)
            .filter(|command| has_file(command))
        else {
            return Ok(None);
        };
        if is_given(matches, "no_config") {
            return Ok(None);
        }
        let path = match matches.get_one::<PathBuf>("config") {
            Some(path) => path.clone(),
            None if Path::new(FILE).is_file() => PathBuf::from(FILE),
            None => return Ok(None),
        };
        let text = settings::text(&path)?;
        Self::of(path, &text, command, matches, |name| {
            std::env::var(name).ok()
        })
        .map(Some)
    }

    fn of(
        path: PathBuf,
        text: &str,
        command: &Command,
        given: &ArgMatches,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ProgramError> {
        let table = DeTable::parse(text)
            .map_err(|error| ProgramError::usage(format!("{}: {error}", path.display())))?;
        let (known, former) = (members(), former_members());
        let mut added = Self {
            path,
            arguments: Vec::new(),
            names: Vec::new(),
            lines: BTreeMap::new(),
            is_quiet: is_given(given, "quiet"),
        };
        let mut problems = Vec::new();
        let is_elsewhere = is_elsewhere(table.get_ref(), given);
        let mut members: Vec<_> = table.get_ref().iter().collect();
        members.sort_by_key(|(name, _)| name.span().start);
        for (name, value) in members {
            let (written_name, line) = (name.get_ref().as_ref(), line(text, name.span().start));
            let place = format!("{}, line {line}", added.path.display());
            let name = former.get(written_name).map_or(written_name, |name| name);
            added.lines.insert(name.to_owned(), line);
            if !known.contains(name) {
                problems.push(format!("{place}: {}", unknown(written_name, name, &known)));
                continue;
            }
            let option = option_of(name);
            let argument = command
                .get_arguments()
                .find(|argument| argument.get_id() == option);
            let Some(argument) = argument.filter(|_| !is_given(given, option)) else {
                continue;
            };
            // Only the option `--url` on the command line allows requests to another machine; a
            // file cannot.
            if name == ADDRESS && argument.get_long().is_some()
                || is_elsewhere && is_of_the_address(name)
            {
                continue;
            }
            let is_key = option != name && name != ADDRESS;
            let written = if is_key {
                variable(value.get_ref(), &environment)
            } else {
                Ok(None)
            };
            let written = written.and_then(|key| match key {
                Some(key) => Ok(vec![Some(key)]),
                None => values(argument, value.get_ref()),
            });
            match written {
                Ok(values) if values.is_empty() => {}
                Ok(values) => {
                    added
                        .arguments
                        .extend(values.into_iter().map(|value| argued(argument, value)));
                    added.names.push(name.to_owned());
                }
                Err(problem) => problems.push(format!("{place}: `{written_name}` {problem}")),
            }
        }
        if problems.is_empty() {
            Ok(added)
        } else {
            Err(ProgramError::usage(problems.join("\n")))
        }
    }

    /// Returns the line of the member that caused an error of the command line. Returns `None` if
    /// the error is not from the file.
    fn place(&self, error: &clap::Error) -> Option<String> {
        let about = error.get(ContextKind::InvalidArg)?.to_string();
        let option = about
            .trim_start_matches('-')
            .split([' ', '='])
            .next()?
            .replace('-', "_");
        let name = self.names.iter().find(|name| option_of(name) == option)?;
        Some(format!(
            "{}, line {}",
            self.path.display(),
            self.lines.get(name)?
        ))
    }
}

/// Returns the command line with everything that clap derives.
pub(super) fn built() -> Command {
    let mut cli = Cli::command();
    cli.build();
    cli
}

/// Whether a command reads the file.
fn has_file(command: &Command) -> bool {
    command.get_name() != "init"
        && command
            .get_arguments()
            .any(|argument| argument.get_id() == "config")
}

/// Returns the options of all commands that read the file.
fn options(cli: &Command) -> impl Iterator<Item = &Arg> {
    let commands = cli.get_subcommands().filter(|command| has_file(command));
    commands.flat_map(Command::get_arguments)
}

/// Returns the former names of members with their current names.
fn former_members() -> BTreeMap<String, String> {
    let cli = built();
    let mut former = BTreeMap::new();
    for option in options(&cli) {
        let name = option.get_id().as_str();
        for alias in option.get_all_aliases().unwrap_or_default() {
            let alias = alias.replace('-', "_");
            if let Some((member, _)) = KEYS.iter().find(|(_, option)| *option == name) {
                former.insert(format!("{alias}_variable"), (*member).to_owned());
            }
            former.insert(alias, name.to_owned());
        }
    }
    former
}

/// Returns every member that the file can have.
pub(super) fn members() -> BTreeSet<String> {
    let cli = built();
    options(&cli)
        .map(|option| option.get_id().to_string())
        .filter(|option| !NOT_IN_FILE.contains(&option.as_str()))
        .chain(KEYS.map(|(name, _)| name.to_owned()))
        .chain([ADDRESS.to_owned()])
        .collect()
}

/// Whether the command line names a different server than the file.
fn is_elsewhere(file: &DeTable<'_>, given: &ArgMatches) -> bool {
    let own = file
        .get(ADDRESS)
        .and_then(|address| address.get_ref().as_str());
    let other = is_given(given, "url")
        .then(|| given.get_raw("url"))
        .flatten()
        .and_then(|mut all| all.next()?.to_str());
    let server = |address: &str| address::split(address).map(|(server, _)| server.to_owned());
    matches!((own, other), (Some(own), Some(other)) if server(own) != server(other))
}

/// Whether a member applies only to the server of the file: keys, permissions and addresses are not
/// used for another server.
fn is_of_the_address(name: &str) -> bool {
    KEYS.iter().any(|(member, _)| *member == name)
        || matches!(
            name,
            "client_cert" | "client_key" | "allow_writes" | "allow_side_effects" | "fixture"
        )
}

/// Returns the option that a member sets.
fn option_of(name: &str) -> &str {
    let key = KEYS.iter().find(|(member, _)| *member == name);
    key.map_or(if name == ADDRESS { "url" } else { name }, |(_, option)| {
        option
    })
}

fn unknown(written_name: &str, name: &str, known: &BTreeSet<String>) -> String {
    if let Some((member, _)) = KEYS.iter().find(|(_, option)| *option == name) {
        return format!(
            "`{written_name}` is not allowed, because keys must not be in a file. Name an environment variable with `{member}`."
        );
    }
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    format!(
        "`{written_name}` is not a member of this file. Allowed: {}",
        known.join(", ")
    )
}

/// Whether the command line itself contains an option.
fn is_given(given: &ArgMatches, option: &str) -> bool {
    given.try_contains_id(option).is_ok()
        && given.value_source(option) == Some(ValueSource::CommandLine)
}

/// Returns the key in the environment variable that a member names.
fn variable(
    value: &DeValue<'_>,
    environment: &impl Fn(&str) -> Option<String>,
) -> Result<Option<String>, String> {
    let name = value
        .as_str()
        .ok_or("must be the name of an environment variable")?;
    let key = environment(name).filter(|key| !key.is_empty());
    key.map(Some)
        .ok_or_else(|| format!("names the environment variable `{name}`, which is not set"))
}

/// Returns the values of a member in the form of the command line; `true` has no value.
fn values(argument: &Arg, value: &DeValue<'_>) -> Result<Vec<Option<String>>, String> {
    let is_switch = matches!(argument.get_action(), ArgAction::SetTrue);
    let is_repeatable = matches!(argument.get_action(), ArgAction::Append);
    let is_optional = argument
        .get_num_args()
        .is_some_and(|count| count.min_values() == 0);
    match value {
        DeValue::Boolean(on) if is_switch || is_optional => {
            Ok(if *on { vec![None] } else { Vec::new() })
        }
        _ if is_switch => Err("must be true or false".to_owned()),
        DeValue::Array(list) if is_repeatable => list
            .iter()
            .map(|one| scalar(one.get_ref()).map(Some))
            .collect(),
        DeValue::Table(table) if is_repeatable && is_pair(argument) => table
            .iter()
            .map(|(name, value)| {
                scalar(value.get_ref()).map(|value| Some(format!("{}={value}", name.get_ref())))
            })
            .collect(),
        other => scalar(other).map(|value| vec![Some(value)]),
    }
}

/// Whether an option takes a name and a value.
fn is_pair(argument: &Arg) -> bool {
    argument
        .get_value_names()
        .into_iter()
        .flatten()
        .any(|name| name.contains('='))
}

fn scalar(value: &DeValue<'_>) -> Result<String, String> {
    match value {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) => Ok(number.to_string()),
        DeValue::Float(number) => Ok(number.to_string()),
        other => Err(format!("cannot be of type {}", other.type_str())),
    }
}

/// Returns a value as an argument of the command line.
fn argued(argument: &Arg, value: Option<String>) -> String {
    match (argument.get_long(), value) {
        (Some(long), Some(value)) => format!("--{long}={value}"),
        (Some(long), None) => format!("--{long}"),
        (None, value) => value.unwrap_or_default(),
    }
}

/// Returns the line of a byte position of a text, counted from 1.
fn line(text: &str, at: usize) -> usize {
    text.bytes()
        .take(at)
        .filter(|byte| *byte == b'\n')
        .count()
        .saturating_add(1)
}

/// Returns the message of a command-line error, without its usage.
fn in_one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text
        .split("\n\n")
        .next()
        .unwrap_or_default()
        .trim_start_matches("error: ");
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}
