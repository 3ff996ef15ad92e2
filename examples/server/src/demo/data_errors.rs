//! Errors about a file or a database that cannot be used, for the person who runs the demo.

use svc_core::error::{Error, ErrorKind};
use svc_postgres::ConnectError;
use svc_sqlite::FileError;

use super::location::SchemaLocation;
use super::startup_error::StartupError;

/// Returns the error for a data file that cannot be used.
pub(super) fn about_file(error: &FileError) -> StartupError {
    let text = error.to_string();
    // The text is "file: what" or "file: what; what to do".
    let (place, said) = text.split_once(": ").unwrap_or(("the data file", &text));
    let (what, remedy) = match said.split_once("; ") {
        Some((what, remedy)) => (sentence(what), sentence(remedy)),
        None => (
            format!("The data file cannot be used: {}.", said.trim_end_matches('.')),
            "Check that the folder exists and that you have read and write permission for the folder and the file, or choose another file with --data."
                .to_owned(),
        ),
    };
    StartupError::new(what, place, remedy)
}

/// Returns the error for a database that cannot be used.
pub(super) fn about_server(server: &SchemaLocation, error: &ConnectError) -> StartupError {
    let place = server.to_string();
    let said = error.to_string();
    match error {
        ConnectError::Postgres(postgres) => {
            let state = postgres.code().map(|state| state.code().to_owned());
            StartupError::new(
                format!("The database cannot be used: {said}."),
                place,
                remedy(state.as_deref(), &said, server.schema()),
            )
        }
        ConnectError::InvalidSchemaName(_) => {
            let remedy =
                "Use 1 to 63 lower-case letters, digits and underscores, starting with a letter.";
            StartupError::new(
                format!("`{}` is not a valid schema name.", server.schema()),
                format!("--schema {}", server.schema()),
                remedy,
            )
        }
        // The text is "what" or "what; what to do".
        _ => {
            let (what, remedy) = said
                .split_once("; ")
                .unwrap_or((&said, "check the log of PostgreSQL, then try again"));
            let remedy = match error {
                ConnectError::ShareNames(_) => "choose another schema with --schema",
                _ => remedy,
            };
            StartupError::new(sentence(what), place, sentence(remedy))
        }
    }
}

/// Returns the hint for an error of PostgreSQL, or of the connection if PostgreSQL reports no
/// error.
fn remedy(state: Option<&str>, said: &str, schema: &str) -> String {
    match state {
        None if said.contains("does not support TLS") => {
            "Enable TLS on the database server (ssl = on). If the network is trusted, set sslmode=disable in the URL.".to_owned()
        }
        None if said.contains("TLS") => {
            "Install a certificate for the host name in the URL on the database server, issued by an authority that this system \
             trusts. To trust another authority, set the environment variable SSL_CERT_FILE to its certificate file. If the \
             network is trusted, set sslmode=disable in the URL."
                .to_owned()
        }
        None => "Check the host and port in the URL, and that PostgreSQL is running and accepts connections from this machine."
            .to_owned(),
        Some(state) if state.starts_with("28") => {
            "Check the user and password in the URL, and that pg_hba.conf allows this user to connect.".to_owned()
        }
        Some("3D000") => "Create the database with createdb, or use another database in the URL.".to_owned(),
        Some("42501" | "3F000") => {
            format!("Ask an administrator to create the schema for this user with CREATE SCHEMA {schema} AUTHORIZATION followed by the user name.")
        }
        Some("53300") => "Use fewer connections with --max-connections, or raise max_connections in PostgreSQL.".to_owned(),
        Some("XX001" | "XX002") => "The database is damaged. Restore a backup.".to_owned(),
        Some(_) => "Check the log of PostgreSQL, then try again.".to_owned(),
    }
}

/// Returns the message of an error of a store.
pub(super) fn said(error: &Error, unavailable: &str) -> String {
    match error.kind() {
        ErrorKind::Unavailable { .. } => unavailable.to_owned(),
        ErrorKind::Invalid(problems) => {
            let all: Vec<_> = problems
                .iter()
                .map(svc_core::Problem::description)
                .collect();
            all.join("; ")
        }
        _ => format!("{error:#}"),
    }
}

/// Returns the text with a capital letter at the start and a full stop at the end.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else {
        return String::new();
    };
    let text: String = first.to_uppercase().chain(letters).collect();
    if text.ends_with('.') {
        text
    } else {
        format!("{text}.")
    }
}
