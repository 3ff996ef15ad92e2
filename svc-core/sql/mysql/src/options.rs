//! Options of the connections.

use std::{fmt, time::Duration};

#[cfg(not(feature = "tls"))]
use mysql_async::SslOpts;
use mysql_async::{Opts, OptsBuilder};

#[cfg(feature = "tls")]
use crate::tls::verified;

/// How many statements of a connection are cached as prepared statements.
const PREPARED: usize = 256;
/// How long a connection without data is considered to be alive.
const SILENCE: Duration = Duration::from_secs(10);

/// Error raised when the URL of a database is invalid.
#[derive(Debug, thiserror::Error)]
#[error("the URL of the database is invalid: {0}")]
pub struct UrlError(pub(crate) String);

/// The URL of a database, and options of its connections.
///
/// ```
/// let options = svc_mysql::MysqlOptions::new("mysql://crm@localhost/crm")?.max_connections(8);
/// # Ok::<(), svc_mysql::UrlError>(())
/// ```
#[derive(Clone)]
pub struct MysqlOptions {
    pub(crate) opts: Opts,
    pub(crate) connections: usize,
    pub(crate) patience: Duration,
}

impl MysqlOptions {
    /// Creates options for the database of a URL, such as `mysql://user@localhost/crm`.
    ///
    /// With the feature `tls`, `?require_ssl=true` encrypts the connection, and the system must trust
    /// the certificate of the server. Without the feature, it is rejected.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL is invalid, or names no database.
    pub fn new(url: &str) -> Result<Self, UrlError> {
        let opts = Opts::from_url(url).map_err(|error| UrlError(error.to_string()))?;
        if opts.db_name().is_none_or(str::is_empty) {
            return Err(UrlError("it names no database".to_owned()));
        }
        // A connection through another socket would not be that of the URL.
        let mut builder = OptsBuilder::from_opts(opts.clone())
            .prefer_socket(false)
            .stmt_cache_size(PREPARED)
            .tcp_keepalive(Some(SILENCE));
        if let Some(tls) = opts.ssl_opts() {
            builder = builder.ssl_opts(verified(tls.clone())?);
        }
        Ok(Self {
            opts: builder.into(),
            connections: 16,
            patience: Duration::from_secs(2),
        })
    }

    /// Sets the maximum number of connections (default: 16; at least 2). Write requests leave a quarter of
    /// them to reads.
    #[must_use]
    pub fn max_connections(mut self, most: usize) -> Self {
        self.connections = most.max(2);
        self
    }

    /// Sets how long a request waits for a connection, or for a lock of another session (default: two
    /// seconds). It then gets 503. The deadline of a request replaces it for locks of rows.
    #[must_use]
    pub fn busy_timeout(mut self, most: Duration) -> Self {
        self.patience = most;
        self
    }
}

impl fmt::Debug for MysqlOptions {
    /// Omits the URL, which can contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MysqlOptions")
            .field("max_connections", &self.connections)
            .field("busy_timeout", &self.patience)
            .finish_non_exhaustive()
    }
}

#[cfg(not(feature = "tls"))]
fn verified(_: SslOpts) -> Result<SslOpts, UrlError> {
    let text = "`require_ssl` needs the feature `tls` of `svc-mysql`";
    Err(UrlError(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_database() {
        assert!(MysqlOptions::new("mysql://crm@localhost/crm").is_ok());
        for wrong in [
            "mysql://crm@localhost",
            "postgres://crm@localhost/crm",
            "crm",
        ] {
            assert!(MysqlOptions::new(wrong).is_err(), "{wrong}");
        }
    }
}
