//! The command line of the demo. Every option of the server can also be set with an environment
//! variable: `SVC_DEMO_` and the option in capitals. Former names of options, commands and
//! variables are hidden aliases.

#![expect(
    clippy::doc_markdown,
    reason = "doc comments are the texts of --help, which show backticks as they are"
)]

use std::net::IpAddr;
use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::{Arg, ArgMatches, Args, FromArgMatches, Parser, Subcommand, ValueEnum};
use svc_core::model::Kind;

use super::import::Import;
use super::records::RecordsExport;

/// The examples at the end of `--help`.
const EXAMPLES: &str = "\
Examples:
  svc-demo                                     Start with generated data, on the first free port from 8080
  svc-demo --reset --seed-people 100000        Delete the data and generate 100,000 people
  svc-demo --database postgres://localhost/crm Store the data in PostgreSQL
  svc-demo keys create --read-only             Create another API key

Each option of the server can also be set with an environment variable: SVC_DEMO_ and the option
name in capitals, such as SVC_DEMO_BASE_URL. The command line takes precedence.";

/// Demo server for the Activist Data Exchange API
///
/// Without a command, svc-demo starts a server with generated data. It stores the data in one
/// SQLite file or in PostgreSQL.
///
/// The data belongs to tenants: customers that cannot see each other's data. Unless --key names
/// others, new data has one tenant, demo. A helper is an endpoint that performs several writes in
/// one request, such as a signature together with its person.
#[derive(Debug, Clone, Parser)]
#[command(name = "svc-demo", version, max_term_width = 110, after_help = EXAMPLES)]
pub struct Cli {
    /// The command; without one, a server starts.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The options of the server.
    #[command(flatten)]
    pub options: ServerArgs,
}

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

/// Returns the global options of the server, all hidden except for `shown`: the help of a command
/// shows only the options that it uses.
fn globals(shown: &[&str]) -> Vec<Arg> {
    let server = ServerArgs::augment_args(clap::Command::default());
    let options = server.get_arguments().filter(|it| it.is_global_set());
    options
        .map(|it| it.clone().hide(!shown.contains(&it.get_id().as_str())))
        .collect()
}

/// Like [`globals`], for `export schema`, which has its own `--citus`.
fn globals_of_schema() -> Vec<Arg> {
    let mut options = globals(&["schema"]);
    for option in &mut options {
        if option.get_id() == "cluster" {
            *option = option.clone().long("citus-cluster");
        }
    }
    options
}

/// The options of commands that open the data.
const OF_DATA: &[&str] = &["data", "database", "schema", "statements", "cluster"];
/// The options of commands about webhooks.
const OF_WEBHOOKS: &[&str] = &[
    "data",
    "database",
    "schema",
    "statements",
    "cluster",
    "private_webhooks",
];
/// The options of commands that write only to a database.
const OF_DATABASE: &[&str] = &["schema", "connections", "statements", "cluster"];

/// The options of the server.
#[derive(Debug, Clone, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a separate switch of the command line"
)]
pub struct ServerArgs {
    /// IP address to listen on; any address other than loopback requires --base-url
    #[arg(
        long,
        env = "SVC_DEMO_LISTEN",
        value_name = "ADDR",
        default_value = "127.0.0.1",
        help_heading = "Network"
    )]
    pub listen: String,

    /// Port to listen on; 0 selects any free port [default: 8080, or the next free port]
    #[arg(
        long,
        env = "SVC_DEMO_PORT",
        value_name = "PORT",
        help_heading = "Network"
    )]
    pub port: Option<u16>,

    /// Public URL of the entry point (the first page of the API), with which all links start
    /// [default: http://ADDR:PORT/api/v1/]
    #[arg(
        long,
        env = "SVC_DEMO_BASE_URL",
        value_name = "URL",
        help_heading = "Network"
    )]
    pub base_url: Option<String>,

    /// IP address of a reverse proxy, which may open more than 256 connections and whose
    /// `Forwarded` and `X-Forwarded-*` headers are trusted; repeatable [default: none]
    #[arg(
        long,
        env = "SVC_DEMO_TRUSTED_PROXY",
        value_name = "ADDR",
        value_delimiter = ',',
        help_heading = "Network"
    )]
    pub trusted_proxy: Vec<IpAddr>,

    /// SQLite file with the data [default: svc-demo/demo.db in the user's cache folder]
    #[arg(
        long,
        env = "SVC_DEMO_DATA",
        value_name = "FILE",
        global = true,
        help_heading = "Data"
    )]
    pub data: Option<PathBuf>,

    /// URL of a PostgreSQL database to use instead of a data file; the password is never printed or
    /// logged
    #[arg(
        long,
        env = "SVC_DEMO_DATABASE",
        value_name = "postgres://...",
        global = true,
        hide_env_values = true,
        help_heading = "PostgreSQL"
    )]
    pub database: Option<DatabaseUrl>,

    /// PostgreSQL schema that contains the tables [default: svc]
    #[arg(
        long,
        env = "SVC_DEMO_SCHEMA",
        value_name = "NAME",
        global = true,
        help_heading = "PostgreSQL"
    )]
    pub schema: Option<String>,

    /// Maximum number of connections to the database, from 2 to 1000 [default: 16]
    #[arg(
        long = "max-connections",
        alias = "connections",
        env = renamed("SVC_DEMO_MAX_CONNECTIONS", "SVC_DEMO_CONNECTIONS"),
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(2..=1000),
        global = true,
        help_heading = "PostgreSQL"
    )]
    pub connections: Option<u16>,

    /// How SQL statements are sent to PostgreSQL [default: prepared]
    #[arg(
        long = "statement-mode",
        alias = "statements",
        env = renamed("SVC_DEMO_STATEMENT_MODE", "SVC_DEMO_STATEMENTS"),
        value_name = "MODE",
        global = true,
        help_heading = "PostgreSQL"
    )]
    pub statements: Option<StatementModeArg>,

    /// URL of a read replica of the database, used to read collections and records [default: none]
    #[arg(
        long = "replica",
        alias = "read-from",
        env = renamed("SVC_DEMO_REPLICA", "SVC_DEMO_READ_FROM"),
        value_name = "postgres://...",
        global = true,
        hide_env_values = true,
        help_heading = "PostgreSQL"
    )]
    pub read_from: Option<DatabaseUrl>,

    /// Use the database as the coordinator of a Citus cluster, and distribute the tables by tenant
    #[arg(
        long = "citus",
        alias = "cluster",
        env = renamed("SVC_DEMO_CITUS", "SVC_DEMO_CLUSTER"),
        value_parser = FalseyValueParser::new(),
        global = true,
        help_heading = "PostgreSQL"
    )]
    pub cluster: bool,

    /// Delete all data before starting: the data file, or the tables in PostgreSQL. Files of other
    /// programs are never deleted
    #[arg(
        long = "reset",
        alias = "fresh",
        env = renamed("SVC_DEMO_RESET", "SVC_DEMO_FRESH"),
        value_parser = FalseyValueParser::new(),
        help_heading = "Data"
    )]
    pub fresh: bool,

    /// Number of people to generate for the first tenant if the data is new, from 0 to 10,000,000;
    /// every other tenant gets at most 100 [default: 5000]
    #[arg(
        long = "seed-people",
        alias = "people",
        env = renamed("SVC_DEMO_SEED_PEOPLE", "SVC_DEMO_PEOPLE"),
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(0..=10_000_000),
        help_heading = "Data"
    )]
    pub people: Option<u32>,

    /// Prefix of link names (svc:people), of the header with the API key (SVC-API-Token) and of the
    /// version field (svc_version) [default: svc]
    #[arg(
        long,
        env = "SVC_DEMO_PREFIX",
        value_name = "PREFIX",
        help_heading = "API"
    )]
    pub prefix: Option<String>,

    /// Prefix of link names and JSON members that the specification does not define, such as
    /// ext:changes [default: ext]
    #[arg(
        long,
        env = "SVC_DEMO_EXTENSION_PREFIX",
        value_name = "PREFIX",
        help_heading = "API"
    )]
    pub extension_prefix: Option<String>,

    /// First part of the identifiers that the server assigns, as in svc_demo:ID [default: svc_demo]
    #[arg(
        long,
        env = "SVC_DEMO_NAMESPACE",
        value_name = "NAME",
        help_heading = "API"
    )]
    pub namespace: Option<String>,

    /// Status codes to use where the specification contradicts itself: those of its table of status
    /// codes, or those of its examples
    #[arg(
        long = "response-style",
        alias = "style",
        env = renamed("SVC_DEMO_RESPONSE_STYLE", "SVC_DEMO_STYLE"),
        value_name = "STYLE",
        default_value = "table",
        help_heading = "API"
    )]
    pub style: ResponseStyleArg,

    /// Collections that the entry point (the first page of the API) links
    #[arg(
        long,
        env = "SVC_DEMO_ENTRY_LINKS",
        value_name = "WHICH",
        default_value = "all",
        help_heading = "API"
    )]
    pub entry_links: EntryLinksArg,

    /// Send the JSON error object in all error responses, including 401, 403 and the 404 of a read
    #[arg(
        long,
        env = "SVC_DEMO_ERROR_BODIES",
        value_parser = FalseyValueParser::new(),
        help_heading = "API"
    )]
    pub error_bodies: bool,

    /// Require the header `If-Match` in each request that changes or deletes a record; requests
    /// without it get 428
    #[arg(
        long,
        env = "SVC_DEMO_REQUIRE_IF_MATCH",
        value_parser = FalseyValueParser::new(),
        help_heading = "API"
    )]
    pub require_if_match: bool,

    /// Origin of a web site (scheme, host and port) whose pages may call the helpers that need no
    /// key; `any` allows every site; repeatable [default: none]
    #[arg(
        long,
        env = "SVC_DEMO_CORS",
        value_name = "ORIGIN",
        value_delimiter = ',',
        help_heading = "Keys and access"
    )]
    pub cors: Vec<String>,

    /// API key of your choice with all rights; creates the tenant if it does not exist. The token
    /// has 20 to 256 characters and is neither printed nor saved; repeatable
    #[arg(
        long,
        env = "SVC_DEMO_KEY",
        value_name = "TENANT=TOKEN",
        value_delimiter = ',',
        hide_env_values = true,
        help_heading = "Keys and access"
    )]
    pub key: Vec<KeyArg>,

    /// Like --key, for a key that can only read; repeatable
    #[arg(
        long,
        env = "SVC_DEMO_READ_KEY",
        value_name = "TENANT=TOKEN",
        value_delimiter = ',',
        hide_env_values = true,
        help_heading = "Keys and access"
    )]
    pub read_key: Vec<KeyArg>,

    /// Allow requests without a key to the helpers that record an action, such as a signature
    #[arg(
        long,
        env = "SVC_DEMO_ANONYMOUS_HELPERS",
        value_name = "SWITCH",
        default_value = "on",
        help_heading = "Keys and access"
    )]
    pub anonymous_helpers: Switch,

    /// Roll back all changes of a helper request if one part of it fails; without this option, the
    /// other parts are stored
    #[arg(
        long,
        env = "SVC_DEMO_ATOMIC_HELPERS",
        value_parser = FalseyValueParser::new(),
        help_heading = "API"
    )]
    pub atomic_helpers: bool,

    /// Offer only the helpers, without collections and records
    #[arg(
        long,
        env = "SVC_DEMO_HELPERS_ONLY",
        value_parser = FalseyValueParser::new(),
        help_heading = "API"
    )]
    pub helpers_only: bool,

    /// Capability (feature of the API) to disable, such as people.delete or helper.schedule;
    /// `export capabilities` lists them; repeatable
    #[arg(
        long = "without-capability",
        alias = "without",
        env = renamed("SVC_DEMO_WITHOUT_CAPABILITY", "SVC_DEMO_WITHOUT"),
        value_name = "CAPABILITY",
        value_delimiter = ',',
        help_heading = "API"
    )]
    pub without: Vec<String>,

    /// Accept PATCH on records, with the same effect as PUT
    #[arg(
        long = "accept-patch",
        alias = "patch-is-put",
        env = renamed("SVC_DEMO_ACCEPT_PATCH", "SVC_DEMO_PATCH_IS_PUT"),
        value_parser = FalseyValueParser::new(),
        help_heading = "API"
    )]
    pub patch_is_put: bool,

    /// Allow webhook receivers on this machine and in private networks, and receivers with http
    /// URLs. Use this option only if you trust everyone who can create webhooks
    #[arg(
        long = "allow-private-webhooks",
        alias = "private-webhooks",
        env = renamed("SVC_DEMO_ALLOW_PRIVATE_WEBHOOKS", "SVC_DEMO_PRIVATE_WEBHOOKS"),
        value_parser = FalseyValueParser::new(),
        global = true,
        help_heading = "Keys and access"
    )]
    pub private_webhooks: bool,

    /// Maximum memory for all incomplete request bodies together, in MiB, from 1 to 1,000,000;
    /// above it, the slowest of the larger requests gets 503 with `Retry-After`
    #[arg(
        long,
        env = "SVC_DEMO_BODY_BUDGET",
        value_name = "MIB",
        default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        help_heading = "Limits and monitoring"
    )]
    pub body_budget: u32,

    /// Serve the health check /healthz and the Prometheus metrics /metrics [default: on with a
    /// loopback address and no --base-url, otherwise off]
    #[arg(
        long,
        env = "SVC_DEMO_METRICS",
        value_name = "SWITCH",
        help_heading = "Limits and monitoring"
    )]
    pub metrics: Option<Switch>,

    /// Names of the JSON objects with the texts to share on two social networks; they cannot change
    /// after the data is created [default: network_a_share,network_b_share]
    #[arg(
        long,
        env = "SVC_DEMO_SHARE_NAMES",
        value_name = "A,B",
        help_heading = "Data"
    )]
    pub share_names: Option<String>,
}

/// A key of the command line, `TENANT=TOKEN`. Debug output does not show it.
#[derive(Clone)]
pub struct KeyArg(pub String);

impl From<String> for KeyArg {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl std::fmt::Debug for KeyArg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyText(..)")
    }
}

/// The URL of a database. Debug output does not show it, because it can contain a password.
#[derive(Clone)]
pub struct DatabaseUrl(pub String);

impl From<String> for DatabaseUrl {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DatabaseUrl(..)")
    }
}

/// Without the angle brackets that rustdoc requires, so that it can be copied.
const TO: &str = "Database, such as postgres://user:password@host/name";

/// The command.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Create, list and revoke API keys (effective immediately on a running server)
    #[command(args = globals(OF_DATA))]
    Keys {
        /// What to do with them.
        #[command(subcommand)]
        action: KeyAction,
    },
    /// Manage webhooks: URLs to which a running server sends a message after each change
    #[command(name = "webhooks", alias = "hooks", args = globals(OF_WEBHOOKS))]
    Hooks {
        /// Tenant that the webhooks belong to
        #[arg(long, default_value = "demo", global = true)]
        tenant: String,
        /// What to do with them.
        #[command(subcommand)]
        action: WebhookAction,
    },
    /// Copy the data file to a new file (safe while a server runs; for PostgreSQL, use pg_dump)
    #[command(args = globals(&["data"]))]
    Backup {
        /// New file; it must not exist yet
        to: PathBuf,
    },
    /// Check the data file for damage without changing it (stop the server first)
    ///
    /// Each finding is printed with a hint. The exit code is 1 if the file is damaged.
    #[command(args = globals(&["data"]))]
    Check,
    /// Rewrite the data file so that no deleted data remains in it (stop the server first)
    #[command(args = globals(&["data"]))]
    Compact,
    /// Copy a data file into PostgreSQL and compare every record
    ///
    /// Stop the server of the file first, or make sure that no client writes. Run the command again
    /// to resume an interrupted copy, or to compare a complete copy with the file again.
    #[command(args = globals(OF_DATABASE))]
    Copy {
        /// Data file to copy
        #[arg(long, value_name = "FILE")]
        from: PathBuf,
        /// URL of the database
        #[arg(long, env = "SVC_DEMO_TO", value_name = "URL", hide_env_values = true, help = TO)]
        to: DatabaseUrl,
    },
    /// Import the people of a table into a running server
    ///
    /// If the import is interrupted, run the same command again. Within 24 hours, no row is imported
    /// twice.
    #[command(args = globals(&[]))]
    Import(Import),
    /// Show live metrics of a running server: requests per route and the state of the store
    #[command(args = globals(&[]))]
    Top {
        /// Host and port that the server listens on
        #[arg(default_value = "127.0.0.1:8080")]
        address: String,
        /// Seconds between two refreshes, from 0.01 to 3600
        #[arg(long = "interval", alias = "every", value_name = "SECONDS", default_value_t = 2.0, value_parser = seconds)]
        every: f64,
        /// Number of refreshes [default: until stopped]
        #[arg(long = "count", alias = "times", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        times: Option<u32>,
    },
    /// Write the records of a running server to a file, or print a document about the API
    ///
    /// If the export of records is interrupted, run the same command again.
    ///
    /// A document (the OpenAPI document, a JSON Schema or the capability document) describes a server
    /// with the same options. Put these options before `export`, as in `svc-demo --without-capability
    /// people.delete export openapi`.
    #[command(args = globals(&[]))]
    Export {
        /// Which records or document.
        #[command(subcommand)]
        what: ExportCommand,
    },
}

/// What to export.
#[derive(Debug, Clone)]
pub enum ExportCommand {
    /// A document about the API.
    Document(ExportDocument),
    /// The records of a kind.
    Records(Kind, RecordsExport),
}

impl FromArgMatches for ExportCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let of_kind = matches.subcommand().and_then(|(name, arguments)| {
            let mut kinds = Kind::ALL.iter();
            let kind = kinds.find(|kind| kind.plural() == name)?;
            Some((*kind, arguments))
        });
        match of_kind {
            Some((kind, arguments)) => {
                let records = RecordsExport::from_arg_matches(arguments)?;
                Ok(Self::Records(kind, records))
            }
            None => ExportDocument::from_arg_matches(matches).map(Self::Document),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for ExportCommand {
    fn augment_subcommands(command: clap::Command) -> clap::Command {
        let kinds = Kind::ALL.iter().map(|kind| {
            let name = kind.plural();
            let command = RecordsExport::augment_args(clap::Command::default().name(name));
            command.about(format!("Write {name} to a file"))
        });
        ExportDocument::augment_subcommands(command.subcommands(kinds))
    }

    fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        Kind::ALL.iter().any(|kind| kind.plural() == name) || ExportDocument::has_subcommand(name)
    }
}

/// The document about the API to print.
#[derive(Debug, Clone, Subcommand)]
pub enum ExportDocument {
    /// Print the OpenAPI 3.1 document of all operations
    Openapi,
    /// Print the JSON Schema (2020-12) of a kind or of a helper body
    #[command(args = globals_of_schema())]
    Schema {
        /// Name of the schema, such as person [default: list all names]
        name: Option<String>,
        /// Instead, print the SQL statements that create the tables on a Citus cluster, distributed
        /// by tenant
        #[arg(long, conflicts_with = "name")]
        citus: bool,
    },
    /// Print the capability document, which lists what the server supports
    Capabilities,
}

/// What to do with keys.
#[derive(Debug, Clone, Subcommand)]
pub enum KeyAction {
    /// Create a key and print it once
    Create {
        /// Tenant that the key belongs to
        #[arg(long, default_value = "demo")]
        tenant: String,
        /// Text that describes the key, shown by `keys list`
        #[arg(long, default_value = "")]
        label: String,
        /// Allow reads only
        #[arg(long)]
        read_only: bool,
        /// Right of the key, such as people.create or helper.schedule; repeatable [default: all
        /// rights]
        #[arg(long = "right", value_name = "RIGHT", value_delimiter = ',')]
        rights: Vec<String>,
        /// Id of the person who uses the key; records that the key creates or changes link to this
        /// person [default: the owner of the tenant]
        #[arg(long, value_name = "ID")]
        person: Option<String>,
        /// Expiry date and time in UTC, such as 2030-01-31T12:00:00Z [default: never]
        #[arg(long, value_name = "TIMESTAMP")]
        expires: Option<String>,
    },
    /// List all keys, without their tokens
    List,
    /// Revoke a key and disable its webhooks (effective immediately on a running server)
    Revoke {
        /// Id of the key, as shown by `keys list`
        id: String,
        /// Do not disable webhooks of the key: those that it created, whose URL it set, or that
        /// name it in `changed_by`
        #[arg(long)]
        keep_webhooks: bool,
    },
}

/// What to do with webhooks.
#[derive(Debug, Clone, Subcommand)]
pub enum WebhookAction {
    /// List the webhooks and the state of their deliveries
    List,
    /// Create a webhook and print its signing secret once
    Add {
        /// URL of the receiver
        url: String,
        /// Kind of records to report, such as person; repeatable [default: all]
        #[arg(long = "kind", value_name = "KIND", value_delimiter = ',')]
        kinds: Vec<String>,
        /// Change to report: created, changed, deleted or merged; repeatable [default: all]
        #[arg(long = "event", value_name = "EVENT", value_delimiter = ',')]
        events: Vec<String>,
    },
    /// Delete a webhook
    Remove {
        /// Id of the webhook, as shown by `webhooks list`
        id: String,
    },
    /// Pause a webhook (changes during the pause are sent after `resume`)
    Pause {
        /// Id of the webhook, as shown by `webhooks list`
        id: String,
    },
    /// Resume a webhook that is paused, ended or disabled
    Resume {
        /// Id of the webhook, as shown by `webhooks list`
        id: String,
    },
    /// Send all changes again that follow a position in the change feed
    Redeliver {
        /// Id of the webhook, as shown by `webhooks list`
        id: String,
        /// Position in the change feed, as a cursor of the server [default: the start of the feed]
        #[arg(long, value_name = "CURSOR")]
        after: Option<String>,
    },
    /// Replace the signing secret of a webhook and print the new secret once
    ///
    /// For one day, messages are signed with both the previous and the new secret.
    #[command(name = "rotate-secret", alias = "rotate")]
    Rotate {
        /// Id of the webhook, as shown by `webhooks list`
        id: String,
    },
}

/// Response styles, where the specification's table of codes and its examples disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ResponseStyleArg {
    /// Create a record: 201. Delete a record: 204 without a body
    Table,
    /// Create a record: 200. Delete a record: 200 with a notice
    Examples,
}

/// How statements reach a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatementModeArg {
    /// Prepare each statement once per connection
    #[value(name = "prepared", alias = "named")]
    Named,
    /// Send the text of a statement each time, for a connection pooler without prepared statements
    Unnamed,
}

/// Which collections the entry point lists.
///
/// Requirements: ENT-21.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EntryLinksArg {
    /// All collections that the server offers
    All,
    /// Only the collections that the specification lists there
    Listed,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// On.
    #[value(help = None::<&'static str>)]
    On,
    /// Off.
    #[value(help = None::<&'static str>)]
    Off,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text
        .parse()
        .ok()
        .filter(|seconds| (0.01..=3600.0).contains(seconds));
    seconds.ok_or_else(|| "must be a number of seconds from 0.01 to 3600".to_owned())
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::{CommandFactory, Parser};

    #[test]
    fn und_42_no_debug_output_shows_a_key() {
        let cli = Cli::try_parse_from([
            "svc-demo",
            "--key",
            "demo=planted-one",
            "--read-key",
            "planted-two",
        ]);
        let shown = format!("{:?}", cli.expect("it parses"));
        assert!(
            shown.contains("KeyText") && !shown.contains("planted"),
            "{shown}"
        );
    }

    #[test]
    fn und_42_no_debug_output_shows_the_url_of_a_database() {
        let url = "postgres://ada:planted@localhost/crm";
        let cli = Cli::try_parse_from(["svc-demo", "--database", url, "--replica", url])
            .expect("it parses");
        let shown = format!("{cli:?}");
        assert!(
            shown.contains("DatabaseUrl") && !shown.contains("planted"),
            "{shown}"
        );
    }

    #[test]
    fn every_option_of_the_server_also_reads_the_environment() {
        let command = Cli::command();
        command.clone().debug_assert();
        let mut options = 0;
        for option in command
            .get_arguments()
            .filter(|option| !matches!(option.get_id().as_str(), "help" | "version"))
        {
            let name = option
                .get_long()
                .expect("a name")
                .to_uppercase()
                .replace('-', "_");
            let expected = format!("SVC_DEMO_{name}");
            assert_eq!(
                option.get_env().and_then(|env| env.to_str()),
                Some(expected.as_str())
            );
            options += 1;
        }
        assert_eq!(options, 32);
    }
}
