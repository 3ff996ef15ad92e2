//! How an error that PostgreSQL reports is handled, by its SQLSTATE.
//!
//! An error is retried only if the same statements can succeed later. Every other error is reported
//! immediately. A retry would hide the cause with a 503, and the other writes of the tenant would
//! wait for it.

use tokio_postgres::error::SqlState;

/// The handling of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// The transaction is retried until the deadline of its requests.
    Retry,
    /// The connection is closed, and the transaction is retried on another one until the deadline.
    Reconnect,
    /// All idle connections are closed, and the transaction is retried once on a new one. A second
    /// error fails.
    RetryOnce,
    /// The requests get 503 immediately.
    Unavailable,
    /// The requests get 500 immediately, with a reference code.
    Fail,
}

/// SQLSTATEs or their prefixes, with the handling. The longest matching prefix is used, and a state
/// that is not listed fails.
const REMEDIES: &[(&str, Remedy)] = &[
    // Connection exceptions. A pooler reports its own errors with this class, and Citus a worker
    // that cannot be reached.
    ("08", Remedy::Reconnect),
    // `cached plan must not change result type`, after another process has altered a table.
    ("0A000", Remedy::RetryOnce),
    // Another transaction has changed a value that this one relies on. `StoreError::is_conflict`
    // limits the attempts.
    ("23505", Remedy::Retry),
    // The connection is to a server that was the primary before.
    ("25006", Remedy::Reconnect),
    // The server has ended a session that was idle in a transaction, or whose transaction took too
    // long.
    ("25P03", Remedy::Reconnect),
    ("25P04", Remedy::Reconnect),
    // A pooler has changed the server connection: the prepared statements are gone.
    ("26000", Remedy::RetryOnce),
    // Serialization failures and deadlocks.
    ("40", Remedy::Retry),
    // Insufficient resources: connections, memory.
    ("53", Remedy::Retry),
    // The disk is full, which does not change while a caller waits.
    ("53100", Remedy::Unavailable),
    // `lock_timeout` has passed.
    ("55P03", Remedy::Retry),
    // An administrator or `statement_timeout` has cancelled the statement. It would be cancelled
    // again.
    ("57014", Remedy::Unavailable),
    // The server shuts down, has crashed, starts, or has ended an idle session.
    ("57P01", Remedy::Reconnect),
    ("57P02", Remedy::Reconnect),
    ("57P03", Remedy::Reconnect),
    ("57P05", Remedy::Reconnect),
    // Citus reports a worker that was lost at COMMIT with this state, and PostgreSQL a row that was
    // updated concurrently.
    ("XX000", Remedy::RetryOnce),
];

/// Returns the handling of an SQLSTATE.
pub(crate) fn remedy(state: &SqlState) -> Remedy {
    let fits = REMEDIES
        .iter()
        .filter(|(prefix, _)| state.code().starts_with(prefix));
    fits.max_by_key(|(prefix, _)| prefix.len())
        .map_or(Remedy::Fail, |(_, remedy)| *remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_pass_is_retried_until_the_deadline() {
        let expected = [
            (
                Remedy::Retry,
                &[
                    "40001", "40P01", "53200", "53300", "53400", "55P03", "23505",
                ][..],
            ),
            (
                Remedy::Reconnect,
                &[
                    "08000", "08001", "08003", "08006", "08P01", "25006", "25P03", "25P04",
                ],
            ),
            (Remedy::Reconnect, &["57P01", "57P02", "57P03", "57P05"]),
            (Remedy::RetryOnce, &["0A000", "26000", "XX000"]),
            (Remedy::Unavailable, &["53100", "57014"]),
            (
                Remedy::Fail,
                &[
                    "22001", "22003", "22P02", "22021", "23502", "23503", "23514", "23P01",
                ],
            ),
            (
                Remedy::Fail,
                &[
                    "42501", "42601", "42703", "42704", "42883", "42P01", "3D000", "3F000",
                    "28000", "28P01",
                ],
            ),
            (
                Remedy::Fail,
                &[
                    "XX001", "XX002", "54000", "54001", "55000", "55006", "57P04", "58030",
                    "P0001", "25P02",
                ],
            ),
        ];
        for (remedy_expected, states) in expected {
            for state in states {
                assert_eq!(
                    remedy(&SqlState::from_code(state)),
                    remedy_expected,
                    "{state}"
                );
            }
        }
    }

    #[test]
    fn each_line_of_the_table_is_once_there_and_decides_something() {
        for (index, (prefix, line)) in REMEDIES.iter().enumerate() {
            assert!(
                !REMEDIES
                    .iter()
                    .skip(index + 1)
                    .any(|(other, _)| other == prefix),
                "{prefix}"
            );
            assert_ne!(*line, Remedy::Fail, "{prefix}: an unlisted state fails");
            let state = SqlState::from_code(&format!("{prefix:0<5}"));
            assert_eq!(remedy(&state), *line, "{prefix}");
        }
    }
}
