//! `init`: writes the file with the options of a project.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use super::cli::{AccessOptions, InitOptions};
use super::{ProgramError, config, say, settings};
use crate::declared::DeclaredApi;
use crate::error::SuiteError;
use crate::suite::Suite;
use crate::values::display_text;

/// The members that a new file contains as comments, in this order, each with an example value.
const EXAMPLES: [(&str, &str); 14] = [
    ("declaration", "\"declaration.toml\""),
    ("profile", "\"all\""),
    ("intensity", "\"quick\""),
    ("seed", "42"),
    ("rate", "\"20/s\""),
    ("timeout", "\"30s\""),
    ("allow_writes", "true"),
    ("allow_side_effects", "true"),
    ("webhook_receiver", "true"),
    ("waivers", "\"waivers.toml\""),
    ("pins", "\"pins.toml\""),
    (
        "fixture",
        "{ event = \"https://crm.example.org/api/v1/events/17\" }",
    ),
    ("server_name", "\"Example CRM\""),
    (
        "report",
        "{ html = \"conformance.html\", junit = \"conformance.xml\" }",
    ),
];

const HEAD: &str = "# Options of svc-conformance for one server. Options on the command line have \
precedence over this file.
# `svc-conformance run` and `svc-conformance watch` read it from the \
current folder; paths are relative to that folder.
# Every option of `svc-conformance run --help` \
can be written here, with `_` for `-`. Keys cannot: name their environment variables.
";

pub(super) async fn init(options: InitOptions) -> Result<u8, ProgramError> {
    let path = options
        .access
        .config
        .clone()
        .unwrap_or_else(|| config::FILE.into());
    say(&written(&path, &options).await?);
    Ok(0)
}

/// Writes the file, which must not exist, and returns the message for the user.
pub(super) async fn written(path: &Path, options: &InitOptions) -> Result<String, ProgramError> {
    let broken = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => ProgramError::usage(format!(
            "{} already exists; `init` does not overwrite it",
            path.display()
        )),
        _ => ProgramError::new(5, format!("{} cannot be written: {error}", path.display())),
    };
    if path.exists() {
        return Err(broken(std::io::ErrorKind::AlreadyExists.into()));
    }
    let found = found(options).await?;
    let text = text(&options.url, &options.access, &found);
    let mut file = File::create_new(path).map_err(broken)?;
    file.write_all(text.as_bytes()).map_err(broken)?;
    let key = match key_variables(&options.access, &found).first() {
        Some((_, variable)) => {
            format!("; the key is read from the environment variable {variable}")
        }
        None => String::new(),
    };
    Ok(format!(
        "{} is written. Next: svc-conformance run{key}\n{}",
        path.display(),
        found.advice()
    ))
}

/// The result of asking a server for its declaration.
enum Found {
    Declared(Box<DeclaredApi>),
    /// The server publishes no capability document.
    Nothing,
    /// The server does not respond, for this reason.
    Silent(String),
}

impl Found {
    /// Returns what the user must do before a first run.
    fn advice(&self) -> String {
        match self {
            Self::Declared(_) => String::new(),
            Self::Nothing => {
                "The server publishes no capability document, so a run needs a declaration file: \
                              svc-conformance probe --allow-writes --write declaration.toml\n"
                    .to_owned()
            }
            Self::Silent(why) => format!(
                "The server does not respond yet: {}\n",
                display_text(why, 300)
            ),
        }
    }
}

/// Requests the capability document of the server.
async fn found(options: &InitOptions) -> Result<Found, ProgramError> {
    let keys = settings::keys(&options.access)?;
    let suite = Suite::from_shared(settings::target(&options.url, &options.access)?).keys(keys);
    match suite.prepare().await {
        Ok(run) => Ok(Found::Declared(Box::new(run.declared.clone()))),
        Err(SuiteError::NotPublished(_)) => Ok(Found::Nothing),
        Err(SuiteError::Target(error)) => Ok(Found::Silent(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

fn text(url: &str, access: &AccessOptions, found: &Found) -> String {
    let mut text = HEAD.to_owned();
    if let Found::Declared(declared) = found {
        text += &declares(declared);
    }
    let _ = writeln!(
        text,
        "\n# {}\n{} = {}",
        help("url"),
        config::ADDRESS,
        toml(url)
    );
    let used = key_variables(access, found);
    for (name, option) in config::KEYS {
        let variable = used
            .iter()
            .find(|(used, _)| *used == name)
            .map(|(_, variable)| *variable);
        let (off, variable) =
            variable.map_or(("# ", default_variable(name)), |variable| ("", variable));
        let _ = writeln!(
            text,
            "\n# The environment variable with this key: {}\n{off}{name} = {}",
            help(option),
            toml(variable)
        );
    }
    let certificates: Vec<String> = access
        .ca
        .iter()
        .map(|path| toml(&path.display().to_string()))
        .collect();
    if !certificates.is_empty() {
        let _ = writeln!(
            text,
            "\n# {}\nca = [{}]",
            help("ca"),
            certificates.join(", ")
        );
    }
    for (name, path) in [
        ("client_cert", &access.client_cert),
        ("client_key", &access.client_key),
    ] {
        if let Some(path) = path {
            let _ = writeln!(
                text,
                "\n# {}\n{name} = {}",
                help(name),
                toml(&path.display().to_string())
            );
        }
    }
    for (name, example) in EXAMPLES {
        let off = if name == "declaration" && matches!(found, Found::Nothing) {
            ""
        } else {
            "# "
        };
        let _ = writeln!(text, "\n# {}\n{off}{name} = {example}", help(name));
    }
    text
}

/// Returns what the server declares, as comments.
fn declares(declared: &DeclaredApi) -> String {
    let joined = |names: Vec<&str>| {
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        }
    };
    let kinds = joined(declared.kinds().map(|kind| kind.many).collect());
    let helpers = joined(declared.text.helpers.keys().map(String::as_str).collect());
    let version = &declared.text.interface_version;
    let lines = format!(
        "#\n# The server declares version {version}.\n# Its collections: {kinds}.\n# Its helpers: {helpers}.\n"
    );
    // The name of a server cannot end its comment.
    let lines: Vec<String> = lines.lines().map(|line| display_text(line, 1000)).collect();
    lines.join("\n") + "\n"
}

/// Returns the members that name a key, with their variables, for the keys that the server needs or
/// the user gave.
fn key_variables(access: &AccessOptions, found: &Found) -> Vec<(&'static str, &'static str)> {
    let needs = match found {
        Found::Declared(declared) => declared.text.authentication.required,
        Found::Nothing | Found::Silent(_) => true,
    };
    let given = [
        needs || access.key.is_some(),
        access.other_tenant_key.is_some(),
        access.restricted_key.is_some(),
    ];
    let names = config::KEYS
        .into_iter()
        .map(|(name, _)| (name, default_variable(name)));
    names
        .zip(given)
        .filter(|(_, given)| *given)
        .map(|(name, _)| name)
        .collect()
}

fn default_variable(member: &str) -> &'static str {
    match member {
        "other_tenant_key_variable" => "SVC_CONFORMANCE_OTHER_TENANT_KEY",
        "restricted_key_variable" => "SVC_CONFORMANCE_RESTRICTED_KEY",
        _ => "SVC_CONFORMANCE_KEY",
    }
}

/// Returns the description of an option of `run`.
fn help(option: &str) -> String {
    let cli = config::built();
    let run = cli.find_subcommand("run");
    let argument = run.and_then(|run| {
        run.get_arguments()
            .find(|argument| argument.get_id() == option)
    });
    argument
        .and_then(clap::Arg::get_help)
        .map(ToString::to_string)
        .unwrap_or_default()
}

fn toml(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::{EXAMPLES, help};
    use crate::program::config;

    #[test]
    fn every_example_is_a_member_with_a_description() {
        let members = config::members();
        for (name, _) in EXAMPLES {
            assert!(members.contains(name) && !help(name).is_empty(), "{name}");
        }
    }
}
