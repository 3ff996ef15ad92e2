//! Troubles with the data, for the person who runs the demo: a file or a database that cannot be
//! used.

use svc_core::error::{Error, ErrorKind};
use svc_postgres::ConnectError;
use svc_sqlite::FileError;

use super::location::SchemaLocation;
use super::trouble::StartupError;

/// A data file that cannot be used.
pub(super) fn about_file(error: &FileError) -> StartupError {
    let text = error.to_string();
    // The text is "file: what" or "file: what; what to do".
    let (place, said) = text.split_once(": ").unwrap_or(("the data file", &text));
    let otherwise = "See that its folder exists and that you may read and write both, or name another file with --data.";
    let (what, remedy) = said
        .split_once("; ")
        .map_or((said, otherwise.to_owned()), |(what, remedy)| {
            (what, sentence(remedy))
        });
    StartupError::new(sentence(what), place, remedy)
}

/// A database that cannot be used.
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
        ConnectError::Schema(_) => {
            let remedy =
                "Use 1 to 63 lower-case letters, digits and underscores, beginning with a letter.";
            StartupError::new(
                "The schema has no name that can be one.",
                format!("--schema {}", server.schema()),
                remedy,
            )
        }
        // The text is "what" or "what; what to do".
        _ => {
            let (what, remedy) = said
                .split_once("; ")
                .unwrap_or((&said, "see what PostgreSQL has logged, then start again"));
            let remedy = match error {
                ConnectError::ShareNames(_) => "name another schema with --schema",
                _ => remedy,
            };
            StartupError::new(sentence(what), place, sentence(remedy))
        }
    }
}

/// What to do about what PostgreSQL reports, or about the way to it where it reports nothing.
fn remedy(state: Option<&str>, said: &str, schema: &str) -> String {
    match state {
        None if said.contains("does not support TLS") => {
            "Turn TLS on at the server (ssl = on). If the network is safe without it, set sslmode=disable in the URL.".to_owned()
        }
        None if said.contains("TLS") => {
            "The server needs a certificate for the host name in the URL, of an authority that this system trusts. The environment \
             variable SSL_CERT_FILE names a file with another authority. If the network is safe without TLS, set sslmode=disable \
             in the URL."
                .to_owned()
        }
        None => "See that PostgreSQL runs there and takes connections from this machine, and that host and port are right."
            .to_owned(),
        Some(state) if state.starts_with("28") => {
            "See that user and password of the URL are right, and that pg_hba.conf lets this user in.".to_owned()
        }
        Some("3D000") => "Make the database with createdb, or name another one in the URL.".to_owned(),
        Some("42501" | "3F000") => {
            format!("Let an administrator make the schema for this user: CREATE SCHEMA {schema} AUTHORIZATION the user.")
        }
        Some("53300") => "Give it fewer with --connections, or allow more with max_connections.".to_owned(),
        Some("XX001" | "XX002") => "The database is damaged. Restore a backup.".to_owned(),
        Some(_) => "See what PostgreSQL has logged, then start again.".to_owned(),
    }
}

/// What an error of a store says.
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

/// With a capital at its beginning and a full stop at its end.
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
