//! The demo's command line. Every option also reads the environment: `SVC_DEMO_` and the option in
//! capitals.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

use super::import::Import;

/// The Activist Data Exchange API on an embedded database or on PostgreSQL, with data in it, on
/// this machine.
#[derive(Debug, Clone, Parser)]
#[command(name = "svc-demo", version, max_term_width = 110)]
#[command(
    after_help = "Every option also reads an environment variable: SVC_DEMO_ and its name, such as SVC_DEMO_PORT."
)]
pub struct Cli {
    /// What to do instead of serving.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The options of the server.
    #[command(flatten)]
    pub options: ServerArgs,
}

/// The options of the server.
#[derive(Debug, Clone, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line of its own"
)]
pub struct ServerArgs {
    /// Listen on this address; another one than this machine's own (loopback) needs --base-url
    #[arg(
        long,
        env = "SVC_DEMO_LISTEN",
        value_name = "ADDR",
        default_value = "127.0.0.1"
    )]
    pub listen: String,

    /// Listen on this port (0: any free one) [default: 8080, or the next free one]
    #[arg(long, env = "SVC_DEMO_PORT", value_name = "PORT")]
    pub port: Option<u16>,

    /// The public address that links begin with [default: the address it listens on]
    #[arg(long, env = "SVC_DEMO_BASE_URL", value_name = "URL")]
    pub base_url: Option<String>,

    /// The address of a proxy in front: links follow its `Forwarded` headers, and its connections
    /// are not limited to 256; repeatable
    #[arg(
        long,
        env = "SVC_DEMO_TRUSTED_PROXY",
        value_name = "ADDR",
        value_delimiter = ','
    )]
    pub trusted_proxy: Vec<IpAddr>,

    /// The data file [default: demo.db in the user's cache folder]
    #[arg(long, env = "SVC_DEMO_DATA", value_name = "FILE", global = true)]
    pub data: Option<PathBuf>,

    /// A PostgreSQL database to use in place of the data file; its password is shown nowhere
    #[arg(
        long,
        env = "SVC_DEMO_DATABASE",
        value_name = "postgres://...",
        global = true,
        hide_env_values = true
    )]
    pub database: Option<DatabaseUrl>,

    /// The schema of the tables in the database [default: svc]
    #[arg(long, env = "SVC_DEMO_SCHEMA", value_name = "NAME", global = true)]
    pub schema: Option<String>,

    /// Connections to the database, at most [default: 16]
    #[arg(long, env = "SVC_DEMO_CONNECTIONS", value_name = "N", value_parser = clap::value_parser!(u16).range(2..=1000), global = true)]
    pub connections: Option<u16>,

    /// How statements reach the database; unnamed for a pooler that knows no names [default: named]
    #[arg(long, env = "SVC_DEMO_STATEMENTS", value_name = "HOW", global = true)]
    pub statements: Option<StatementModeArg>,

    /// A replica of the database, which answers reads
    #[arg(
        long,
        env = "SVC_DEMO_READ_FROM",
        value_name = "postgres://...",
        global = true,
        hide_env_values = true
    )]
    pub read_from: Option<DatabaseUrl>,

    /// The database is the coordinator of a Citus cluster, which distributes the tables by tenant
    #[arg(long, env = "SVC_DEMO_CLUSTER", value_parser = FalseyValueParser::new(), global = true)]
    pub cluster: bool,

    /// Delete the data first: the file, if it is one of this program, or the tables in the database
    #[arg(long, env = "SVC_DEMO_FRESH", value_parser = FalseyValueParser::new())]
    pub fresh: bool,

    /// People in the first tenant of a new file (at most 100 in every other one) [default: 5000]
    #[arg(long, env = "SVC_DEMO_PEOPLE", value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_000_000))]
    pub people: Option<u32>,

    /// The prefix of relations, of the key header and of the version field
    #[arg(long, env = "SVC_DEMO_PREFIX", value_name = "PREFIX")]
    pub prefix: Option<String>,

    /// The prefix of relations that the specification does not define, instead of `ext`
    #[arg(long, env = "SVC_DEMO_EXTENSION_PREFIX", value_name = "PREFIX")]
    pub extension_prefix: Option<String>,

    /// The namespace of the identifiers that the server gives
    #[arg(long, env = "SVC_DEMO_NAMESPACE", value_name = "NAME")]
    pub namespace: Option<String>,

    /// Response style: as the specification's table of codes, or as its examples
    #[arg(
        long,
        env = "SVC_DEMO_STYLE",
        value_name = "STYLE",
        default_value = "table"
    )]
    pub style: ResponseStyleArg,

    /// Collections that the entry point lists: all, or those the specification lists there
    #[arg(
        long,
        env = "SVC_DEMO_ENTRY_LINKS",
        value_name = "WHICH",
        default_value = "all"
    )]
    pub entry_links: EntryLinksArg,

    /// Send the error object with 401, 403 and 404, too
    #[arg(long, env = "SVC_DEMO_ERROR_BODIES", value_parser = FalseyValueParser::new())]
    pub error_bodies: bool,

    /// Change and delete records with `If-Match` only, and answer 428 without it
    #[arg(long, env = "SVC_DEMO_REQUIRE_IF_MATCH", value_parser = FalseyValueParser::new())]
    pub require_if_match: bool,

    /// Let pages of this origin call the record helpers ("any": of every origin); repeatable
    #[arg(
        long,
        env = "SVC_DEMO_CORS",
        value_name = "ORIGIN",
        value_delimiter = ','
    )]
    pub cors: Vec<String>,

    /// A fixed key of a tenant, who exists then; at least 20 characters, which the demo neither
    /// shows nor keeps; repeatable
    #[arg(
        long,
        env = "SVC_DEMO_KEY",
        value_name = "TENANT=TOKEN",
        value_delimiter = ',',
        hide_env_values = true
    )]
    pub key: Vec<KeyArg>,

    /// The same, for a key that may only read; repeatable
    #[arg(
        long,
        env = "SVC_DEMO_READ_KEY",
        value_name = "TENANT=TOKEN",
        value_delimiter = ',',
        hide_env_values = true
    )]
    pub read_key: Vec<KeyArg>,

    /// Whether the record helpers may be called without a key
    #[arg(
        long,
        env = "SVC_DEMO_ANONYMOUS_HELPERS",
        value_name = "SWITCH",
        default_value = "on"
    )]
    pub anonymous_helpers: Switch,

    /// Helpers leave nothing behind when a part of them fails
    #[arg(long, env = "SVC_DEMO_ATOMIC_HELPERS", value_parser = FalseyValueParser::new())]
    pub atomic_helpers: bool,

    /// Serve helpers only: no collections, no records
    #[arg(long, env = "SVC_DEMO_HELPERS_ONLY", value_parser = FalseyValueParser::new())]
    pub helpers_only: bool,

    /// Do not serve this capability, such as people.delete or helper.schedule; repeatable
    #[arg(
        long,
        env = "SVC_DEMO_WITHOUT",
        value_name = "CAPABILITY",
        value_delimiter = ','
    )]
    pub without: Vec<String>,

    /// Take PATCH on a record as PUT
    #[arg(long, env = "SVC_DEMO_PATCH_IS_PUT", value_parser = FalseyValueParser::new())]
    pub patch_is_put: bool,

    /// Let webhooks send to this machine and to private networks, also by http: where nobody else
    /// may make any
    #[arg(long, env = "SVC_DEMO_PRIVATE_WEBHOOKS", value_parser = FalseyValueParser::new(), global = true)]
    pub private_webhooks: bool,

    /// Memory in MiB that incomplete request bodies may hold together; beyond it 503 with
    /// `Retry-After`
    #[arg(long, env = "SVC_DEMO_BODY_BUDGET", value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub body_budget: u32,

    /// Whether /healthz and /metrics are served beside the interface [default: on where it listens
    /// on loopback and has no --base-url]
    #[arg(long, env = "SVC_DEMO_METRICS", value_name = "SWITCH")]
    pub metrics: Option<Switch>,

    /// The names of the two network share objects; fixed in the file when it is made
    #[arg(long, env = "SVC_DEMO_SHARE_NAMES", value_name = "A,B")]
    pub share_names: Option<String>,
}

/// A fixed key as it was given, `TENANT=TOKEN`; no debug output shows it.
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

/// The URL of a database; no debug output shows it, for it may hold a password.
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

/// In angle brackets, as documentation would have it, nobody could copy it.
const TO: &str = "The database, such as postgres://user:password@host/name";

/// What to do instead of serving.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Makes, lists and revokes the keys of the data; a server that runs on it takes notice at once
    Keys {
        /// What to do with them.
        #[command(subcommand)]
        action: KeyAction,
    },
    /// Makes, lists and changes webhooks of the data; a server that runs on it sends
    Hooks {
        /// The tenant whose changes they tell of
        #[arg(long, default_value = "demo", global = true)]
        tenant: String,
        /// What to do with them.
        #[command(subcommand)]
        action: WebhookAction,
    },
    /// Copies the data file, also while a server runs on it (a database is copied by PostgreSQL)
    Backup {
        /// The new file.
        to: PathBuf,
    },
    /// Check the data file for damage, without changing it, while no server runs on it; exit code 1
    /// if there is any
    Check,
    /// Writes the data file anew, so that no byte of what was deleted is left in it; not while a
    /// server runs on it (a database: by PostgreSQL)
    Compact,
    /// Copies a data file into PostgreSQL and verifies every record; stop its server first, or let
    /// nobody write. What was interrupted goes on where it was, and a file that is copied is
    /// compared again. --schema names the schema of its tables
    Copy {
        /// The data file
        #[arg(long, value_name = "FILE")]
        from: PathBuf,
        /// The URL of the database
        #[arg(long, env = "SVC_DEMO_TO", value_name = "URL", hide_env_values = true, help = TO)]
        to: DatabaseUrl,
    },
    /// Brings people from a CSV file into a running server; run it again after a break
    Import(Import),
    /// Shows what a running demo does: its routes with their requests and times, and its store
    Top {
        /// The address on which it listens
        #[arg(default_value = "127.0.0.1:8080")]
        address: String,
        /// Seconds from one look to the next
        #[arg(long, value_name = "SECONDS", default_value_t = 2.0, value_parser = seconds)]
        every: f64,
        /// So many looks [default: until it is stopped]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        times: Option<u32>,
    },
    /// Prints a document about the interface that a server with the same options has
    Export {
        /// Which document.
        #[command(subcommand)]
        document: ExportDocument,
    },
}

/// Which document about the interface to print.
#[derive(Debug, Clone, Subcommand)]
pub enum ExportDocument {
    /// Every route, method and body, in version 3.1 of that form
    Openapi,
    /// The JSON Schema (2020-12) of a kind of record or of a helper's body; or the tables of a
    /// cluster
    Schema {
        /// What it describes, such as person; without one, the names that there are
        name: Option<String>,
        /// Instead, the statements that make the tables on a cluster of Citus, spread by tenant;
        /// --schema names theirs
        #[arg(long, conflicts_with = "name")]
        citus: bool,
    },
    /// What the server supports: the capability document
    Capabilities,
}

/// What to do with the keys.
#[derive(Debug, Clone, Subcommand)]
pub enum KeyAction {
    /// Makes a key and prints it; it cannot be shown again
    Create {
        /// The tenant whose data it opens
        #[arg(long, default_value = "demo")]
        tenant: String,
        /// A note to know it by
        #[arg(long, default_value = "")]
        label: String,
        /// It may only read
        #[arg(long)]
        read_only: bool,
        /// It may do only this, such as people.create or helper.schedule; repeatable
        #[arg(long = "right", value_name = "RIGHT", value_delimiter = ',')]
        rights: Vec<String>,
        /// The id of the person who works with it, for the links to who made and changed a record
        #[arg(long, value_name = "ID")]
        person: Option<String>,
        /// The instant after which it is refused, such as 2030-01-31T12:00:00Z
        #[arg(long, value_name = "INSTANT")]
        expires: Option<String>,
    },
    /// Lists the keys without the secret part
    List,
    /// Revoke a key and disable its webhooks (effective immediately on a running server)
    Revoke {
        /// The key's id, as the list shows it
        id: String,
        /// Leave the webhooks active that the key created or was the last to change
        #[arg(long)]
        keep_webhooks: bool,
    },
}

/// What to do with the webhooks.
#[derive(Debug, Clone, Subcommand)]
pub enum WebhookAction {
    /// Lists the webhooks and how their messages arrive
    List,
    /// Makes a webhook and prints its secret, which cannot be shown again
    Add {
        /// Where messages go
        url: String,
        /// Kinds of records that it tells of, such as person [default: all]; repeatable
        #[arg(long = "kind", value_name = "KIND", value_delimiter = ',')]
        kinds: Vec<String>,
        /// Changes that it tells of: created, changed, deleted [default: all]; repeatable
        #[arg(long = "event", value_name = "EVENT", value_delimiter = ',')]
        events: Vec<String>,
    },
    /// Deletes a webhook
    Remove {
        /// Its id, as the list shows it
        id: String,
    },
    /// Lets a webhook send nothing; it sends later what is changed meanwhile
    Pause {
        /// Its id, as the list shows it
        id: String,
    },
    /// Lets a webhook go on that was paused or has ended
    Resume {
        /// Its id, as the list shows it
        id: String,
    },
    /// Sends again what was changed behind a cursor of the change feed
    Redeliver {
        /// Its id, as the list shows it
        id: String,
        /// The cursor [default: the beginning]
        #[arg(long)]
        after: Option<String>,
    },
    /// Gives a webhook another secret and prints it; the one before signs for a day beside it
    Rotate {
        /// Its id, as the list shows it
        id: String,
    },
}

/// Response styles, where the specification's table of codes and its examples disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ResponseStyleArg {
    /// Create 201, delete 204 without a body.
    Table,
    /// Create 200, delete 200 with a notice.
    Examples,
}

/// How statements reach a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatementModeArg {
    /// Prepared once a connection, by name.
    Named,
    /// Sent whole each time.
    Unnamed,
}

/// Which collections the entry point lists (ENT-21).
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EntryLinksArg {
    /// Every collection that is served.
    All,
    /// Those that the specification lists there.
    Listed,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text
        .parse()
        .ok()
        .filter(|seconds| (0.01..=3600.0).contains(seconds));
    seconds.ok_or_else(|| format!("`{text}` is no number of seconds from 0.01 to 3600"))
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
        let cli = Cli::try_parse_from(["svc-demo", "--database", url, "--read-from", url])
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
