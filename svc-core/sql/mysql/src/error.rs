//! Errors of the client and of the server.

use mysql_async::{Error, ServerError};
use svc_sql::DatabaseError;

/// Converts an error to the category that determines the handling: retry here, let the client retry,
/// or fail.
pub(crate) fn database_error(error: &Error) -> DatabaseError {
    match error {
        Error::Server(server) => of_server(server),
        Error::Io(_) | Error::Driver(_) => {
            DatabaseError::Unavailable(format!("the connection failed: {error}").into())
        }
        Error::Other(_) | Error::Url(_) => DatabaseError::Other(error.to_string().into()),
    }
}

/// Returns whether a connection cannot be used after an error.
pub(crate) fn is_lost(error: &Error) -> bool {
    match error {
        // The server shuts down, or has ended the session.
        Error::Server(server) => matches!(server.code, 1053 | 1079 | 1927 | 4031),
        _ => true,
    }
}

fn of_server(error: &ServerError) -> DatabaseError {
    let cause = describe(error).into();
    match error.code {
        // Duplicate keys; foreign keys.
        1022 | 1062 | 1169 | 1586 | 1216 | 1217 | 1451 | 1452 | 1557 | 1761 | 1762 => {
            DatabaseError::ConstraintViolation(cause)
        }
        // Deadlocks; rows that have changed since the snapshot; tables that have changed since the
        // statement was prepared.
        1020 | 1213 | 1412 | 1613 | 1614 | 1615 => DatabaseError::Conflict(cause),
        // NULL, a missing value, a range, a length, a format, JSON or a CHECK.
        1048 | 1264 | 1265 | 1292 | 1364 | 1366 | 1406 | 1411 | 1690 | 3140 | 3141 | 3156
        | 3819 | 4025 => DatabaseError::InvalidValue(cause),
        // Connections, limits of time, disk space and a server that only reads.
        1021
        | 1040
        | 1041
        | 1053
        | 1079
        | 1129
        | 1135
        | 1158..=1161
        | 1203
        | 1205
        | 1226
        | 1290
        | 1317
        | 1836
        | 1927
        | 1969
        | 3024
        | 3572
        | 4031 => DatabaseError::Unavailable(cause),
        _ => DatabaseError::Other(cause),
    }
}

/// Returns the text of an error. Messages of the server can contain values of clients, so only those
/// about statements, tables and rights are part of it.
fn describe(error: &ServerError) -> String {
    let ServerError {
        code,
        message,
        state,
    } = error;
    let has_no_values = state.starts_with("42") || matches!(code, 1093 | 1235 | 1267 | 3819 | 4025);
    if has_no_values {
        format!("MySQL {code} ({state}): {message}")
    } else {
        format!("MySQL {code} ({state})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: u16, state: &str) -> ServerError {
        ServerError {
            code,
            message: "Duplicate entry 'ada@example.org' for key 'address'".to_owned(),
            state: state.to_owned(),
        }
    }

    #[test]
    fn errors_are_assigned_to_their_handling() {
        let of = |code| of_server(&error(code, "HY000"));
        assert!(matches!(of(1062), DatabaseError::ConstraintViolation(_)));
        assert!(matches!(of(1213), DatabaseError::Conflict(_)));
        assert!(matches!(of(4025), DatabaseError::InvalidValue(_)));
        assert!(matches!(of(1205), DatabaseError::Unavailable(_)));
        assert!(matches!(of(1064), DatabaseError::Other(_)));
    }

    /// A message of the server is logged only if it cannot contain personal data.
    #[test]
    fn values_are_not_described() {
        assert_eq!(describe(&error(1062, "23000")), "MySQL 1062 (23000)");
        assert!(describe(&error(1054, "42S22")).contains(": "));
    }
}
