//! The location of the data: a file, or a schema of a PostgreSQL database. The password in the URL
//! of a database is never shown.

use std::fmt::{self, Display, Write as _};
use std::path::PathBuf;

use sha2::{Digest, Sha256};
use svc_postgres::StatementMode;
use svc_sqlite::remove_data_file;
use tokio_postgres::config::Host;

use super::cli::{DatabaseUrl, ServerArgs, StatementModeArg};
use super::data_errors::{about_file, about_server};
use super::paths::{KeysFile, cache_folder, data_file};
use super::startup_error::StartupError;

/// The schema of the tables if `--schema` is not set.
const SCHEMA: &str = "svc";

/// The location of the data.
#[derive(Debug, Clone)]
pub enum DataLocation {
    /// In this file.
    File(PathBuf),
    /// In this database.
    Server(Box<SchemaLocation>),
}

/// A schema of a database.
#[derive(Debug, Clone)]
pub struct SchemaLocation {
    options: svc_postgres::PostgresOptions,
    /// The host, port and database.
    place: String,
    schema: String,
    /// The host, port and database of the replica for reads.
    replica: Option<String>,
}

impl DataLocation {
    /// Returns the location of the options, or the file in the cache folder of the user.
    ///
    /// # Errors
    ///
    /// Returns an error if the options contradict each other, the URL is invalid, or there is no
    /// folder for the file.
    pub fn of(options: &ServerArgs) -> Result<Self, StartupError> {
        match (&options.database, &options.data) {
            (Some(_), Some(_)) => Err(StartupError::new(
                "`--data` and `--database` cannot be used together.",
                "--data, --database (or SVC_DEMO_DATA, SVC_DEMO_DATABASE)",
                "Omit one of them.",
            )),
            (Some(url), None) => Ok(Self::Server(Box::new(SchemaLocation::of(
                "--database",
                url,
                options,
            )?))),
            (None, data) => {
                let given = [
                    ("--schema", options.schema.is_some()),
                    ("--max-connections", options.connections.is_some()),
                    ("--statement-mode", options.statements.is_some()),
                    ("--replica", options.read_from.is_some()),
                    ("--citus", options.cluster),
                ];
                if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
                    return Err(StartupError::new(
                        format!("`{option}` requires `--database`."),
                        option,
                        "Add --database with the URL of a PostgreSQL database, or omit the option.",
                    ));
                }
                Ok(Self::File(data_file(data.as_deref())?))
            }
        }
    }

    /// Returns the file that stores the keys of this data in plain text.
    pub(super) fn keys_file(&self) -> Result<KeysFile, StartupError> {
        Ok(match self {
            Self::File(path) => KeysFile::beside(path),
            Self::Server(server) => {
                let folder = cache_folder(
                    "Set the environment variable HOME or XDG_CACHE_HOME to a folder.",
                )?;
                KeysFile::beside(&folder.join(format!("postgres-{}", server.id())))
            }
        })
    }

    /// Returns the word for the object that `--reset` creates again.
    pub(super) fn noun(&self) -> &'static str {
        match self {
            Self::File(_) => "file",
            Self::Server(_) => "schema",
        }
    }

    /// Removes the data, if it belongs to this program.
    pub(super) async fn remove(&self) -> Result<(), StartupError> {
        match self {
            Self::File(path) => remove_data_file(path)
                .map(drop)
                .map_err(|error| about_file(&error)),
            Self::Server(server) => server.remove().await,
        }
    }

    /// Returns notes for the user who starts a server.
    pub(super) fn notes(&self) -> Vec<String> {
        match self {
            Self::File(_) => Vec::new(),
            Self::Server(server) => server
                .replica
                .iter()
                .map(|replica| format!("the server sends reads to the replica {replica}"))
                .collect(),
        }
    }
}

impl Display for DataLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Server(server) => server.fmt(f),
        }
    }
}

impl SchemaLocation {
    /// Returns a schema of the database with this URL. `option` is the option of the URL.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL is not the URL of a database.
    pub fn at(
        option: &'static str,
        url: &DatabaseUrl,
        schema: Option<&str>,
    ) -> Result<Self, StartupError> {
        let schema = schema.unwrap_or(SCHEMA);
        Ok(Self {
            place: place(url).ok_or_else(|| unreadable(option))?,
            options: svc_postgres::PostgresOptions::new(&url.0)
                .map_err(|error| about_url(option, &error))?
                .schema(schema),
            // A valid name is not changed by this.
            schema: schema.escape_debug().to_string(),
            replica: None,
        })
    }

    /// Returns the schema with the other options of the command line.
    pub(super) fn of(
        option: &'static str,
        url: &DatabaseUrl,
        options: &ServerArgs,
    ) -> Result<Self, StartupError> {
        let mut server = Self::at(option, url, options.schema.as_deref())?;
        if let Some(most) = options.connections {
            server.options = server.options.max_connections(most.into());
        }
        if options.statements == Some(StatementModeArg::Unnamed) {
            server.options = server.options.statement_mode(StatementMode::Unnamed);
        }
        if options.cluster {
            server.options = server.options.cluster();
        }
        if let Some(url) = &options.read_from {
            server.replica = Some(self::place(url).ok_or_else(|| unreadable("--replica"))?);
            server.options = server
                .options
                .replica(&url.0)
                .map_err(|error| about_url("--replica", &error))?;
        }
        Ok(server)
    }

    /// Returns the options for opening it.
    #[must_use]
    pub fn options(&self) -> svc_postgres::PostgresOptions {
        self.options.clone()
    }

    /// Returns a copy with this maximum number of connections.
    pub(super) fn with_connections(&self, most: usize) -> Self {
        Self {
            options: self.options().max_connections(most),
            ..self.clone()
        }
    }

    /// Returns the schema of the tables.
    pub(super) fn schema(&self) -> &str {
        &self.schema
    }

    /// Returns a name that is the same for the same data, for every user.
    fn id(&self) -> String {
        let digest = Sha256::digest(format!("{}\n{}", self.place, self.schema));
        digest.iter().take(8).fold(String::new(), |mut name, byte| {
            // Writing to a string does not fail.
            let _ = write!(name, "{byte:02x}");
            name
        })
    }

    async fn remove(&self) -> Result<(), StartupError> {
        match svc_postgres::PostgresStore::drop_tables(&self.options).await {
            Ok(()) | Err(svc_postgres::ConnectError::ForeignSchema(_)) => Ok(()),
            Err(error) => Err(about_server(self, &error)),
        }
    }

    /// Returns the error of `backup` for a database.
    pub(super) fn no_backup(&self) -> StartupError {
        StartupError::new(
            "`backup` copies a data file only. Use the tools of PostgreSQL to back up a database.",
            self.to_string(),
            format!(
                "Run pg_dump --schema={} with the URL of the database, also while a server runs. Restore with pg_restore or psql.",
                self.schema
            ),
        )
    }

    /// Returns the error of `check` for a database.
    pub(super) fn no_check(&self) -> StartupError {
        StartupError::new(
            "`check` checks a data file only. Use the tools of PostgreSQL to check a database.",
            self.to_string(),
            "Run pg_amcheck with the URL of the database, or pg_checksums while PostgreSQL is stopped.",
        )
    }

    /// Returns the error of `compact` for a database.
    pub(super) fn no_compact(&self) -> StartupError {
        StartupError::new(
            "`compact` rewrites a data file only. Use PostgreSQL to rewrite the tables of a database.",
            self.to_string(),
            format!(
                "Run VACUUM (FULL) on the tables of the schema {} with psql while no client writes.",
                self.schema
            ),
        )
    }
}

impl Display for SchemaLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "postgres://{}, schema {}", self.place, self.schema)
    }
}

/// Returns the hosts with their ports, and the database, which are the parts of a URL that may be
/// shown. Returns `None` if the URL is invalid, or if a part of the password could be mistaken for
/// one of them.
fn place(url: &DatabaseUrl) -> Option<String> {
    let rest = url
        .0
        .strip_prefix("postgres://")
        .or_else(|| url.0.strip_prefix("postgresql://"))?;
    if rest.matches('@').count() > 1 {
        return None;
    }
    let config = svc_postgres::read_url(&url.0).ok()?;
    let mut hosts: Vec<String> = config.get_hosts().iter().map(host).collect();
    if hosts.is_empty() {
        hosts = config
            .get_hostaddrs()
            .iter()
            .map(ToString::to_string)
            .collect();
    }
    let is_host = |host: &String| {
        host.chars()
            .all(|it| it.is_alphanumeric() || matches!(it, '.' | '-' | '_' | ':' | '/'))
    };
    let database = config
        .get_dbname()
        .or(config.get_user())
        .unwrap_or_default();
    if hosts.is_empty() || !hosts.iter().all(is_host) || database.contains(['@', '=', '&', '?']) {
        return None;
    }
    let ports = config.get_ports();
    let with_port = |(number, host): (usize, &String)| {
        let port = ports.get(number).or(ports.first()).copied().unwrap_or(5432);
        if host.contains(':') {
            format!("[{host}]:{port}")
        } else {
            format!("{host}:{port}")
        }
    };
    let hosts: Vec<String> = hosts.iter().enumerate().map(with_port).collect();
    Some(format!("{}/{}", hosts.join(","), database.escape_debug()))
}

fn host(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    }
}

/// The message of the parser is not shown, because it could contain a part of the password.
fn unreadable(option: &str) -> StartupError {
    StartupError::new(
        format!("The database URL in `{option}` cannot be read."),
        option,
        "Write it as postgres://user:password@host:5432/database. In a password, write @ as %40, / as %2F, : as %3A and % as %25.",
    )
}

fn about_url(option: &str, error: &svc_postgres::ConnectError) -> StartupError {
    match error {
        svc_postgres::ConnectError::InvalidUrl(_) => unreadable(option),
        svc_postgres::ConnectError::TlsUnavailable => StartupError::new(
            format!(
                "The database URL in `{option}` requires TLS (sslmode=require), but this program was built without TLS."
            ),
            option,
            "Build the program with the feature `tls` of svc-postgres. If the network is trusted, set sslmode=disable in the URL.",
        ),
        other => StartupError::new(
            format!("The database cannot be used: {other}."),
            option,
            "Change the URL.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{DataLocation, place};
    use crate::demo::cli::{Cli, DatabaseUrl};
    use clap::Parser;

    fn location(arguments: &[&str]) -> Result<DataLocation, String> {
        let arguments = ["svc-demo"].iter().chain(arguments);
        let options = Cli::try_parse_from(arguments).expect("parses").options;
        DataLocation::of(&options).map_err(|trouble| trouble.to_string())
    }

    fn shown(url: &str) -> Option<String> {
        place(&DatabaseUrl::from(url.to_owned()))
    }

    #[test]
    fn host_port_and_database_are_shown_and_nothing_else() {
        for (url, expected) in [
            (
                "postgres://ada:planted@db.example.org:6432/crm",
                "db.example.org:6432/crm",
            ),
            (
                "postgresql://ada:plan%40ted@localhost/crm?password=planted",
                "localhost:5432/crm",
            ),
            (
                "postgres://ada:planted@one,two:6000/crm?sslmode=require",
                "one:5432,two:6000/crm",
            ),
            ("postgres://ada:planted@[::1]/crm", "[::1]:5432/crm"),
            (
                "postgres://ada:planted@%2Frun%2Fpostgresql/crm",
                "/run/postgresql:5432/crm",
            ),
            ("postgres://ada@localhost", "localhost:5432/ada"),
        ] {
            assert_eq!(shown(url).as_deref(), Some(expected), "{url}");
        }
    }

    #[test]
    fn a_url_that_cannot_be_read_is_not_repeated() {
        for url in [
            "planted",
            "host=localhost password=planted",
            "mysql://ada:planted@localhost/crm",
            "postgres://ada:planted@",
            "postgres:///crm?password=planted",
            "postgres://ada:plan@planted@localhost/crm",
            "postgres://ada:planted/crm",
            "postgres://localhost/crm&password=planted",
            "postgres://localhost/crm?passwort=planted",
        ] {
            for option in [
                &["--database", url][..],
                &["--database", "postgres://localhost/crm", "--replica", url],
            ] {
                let said = location(option).expect_err(url);
                assert!(
                    said.contains(option[option.len() - 2]) && said.contains("%40"),
                    "{said}"
                );
                assert!(!said.contains("planted"), "{said}");
            }
        }
    }

    #[test]
    fn no_debug_output_shows_a_password() {
        let url = "postgres://ada:planted@localhost/crm";
        let shown = location(&["--database", url, "--replica", url]).expect("it is good");
        assert!(
            !format!("{shown:?} {shown}").contains("planted"),
            "{shown:?}"
        );
        assert_eq!(
            shown.to_string(),
            "postgres://localhost:5432/crm, schema svc"
        );
        assert_eq!(
            shown.notes(),
            ["the server sends reads to the replica localhost:5432/crm"]
        );
    }

    #[test]
    fn each_place_has_keys_of_its_own_whoever_asks() {
        let name = |arguments: &[&str]| {
            let Ok(DataLocation::Server(server)) = location(arguments) else {
                panic!("{arguments:?}")
            };
            server.id()
        };
        let url = "postgres://ada:planted@localhost/crm";
        let first = name(&["--database", url]);
        assert_eq!(
            first,
            name(&[
                "--database",
                "postgres://grace@localhost:5432/crm",
                "--schema",
                "svc"
            ])
        );
        for other in [
            &["--database", url, "--schema", "other"][..],
            &["--database", "postgres://ada@localhost/other"],
            &["--database", "postgres://ada@localhost:6432/crm"],
        ] {
            assert_ne!(first, name(other));
        }
    }

    #[test]
    fn options_that_contradict_each_other_are_named() {
        let both = location(&["--data", "a.db", "--database", "postgres://localhost/crm"])
            .expect_err("both");
        assert!(both.contains("--data, --database"), "{both}");
        for option in [
            ["--schema", "a"],
            ["--max-connections", "4"],
            ["--statement-mode", "prepared"],
            ["--replica", "planted"],
        ] {
            let said = location(&option).expect_err("no database");
            assert!(
                said.contains(option[0]) && !said.contains("planted"),
                "{said}"
            );
        }
    }
}
