//! Options for opening a store.

use std::{fmt, sync::Arc, time::Duration};

use svc_core::{
    helper::{DefaultMatching, PersonMatching},
    link::ShareNames,
    value::Timestamp,
};
use tokio_postgres::Config;

use crate::{connect::Connector, error::ConnectError};

/// Returns the current time.
pub(crate) type ClockFn = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Maximum time without an acknowledgement of sent data, after which a connection is considered
/// lost.
const SILENCE: Duration = Duration::from_secs(10);

/// How statements are sent to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum StatementMode {
    /// Prepared once per connection, by name. This is the fastest mode.
    ///
    /// It needs connections that stay on one server session, or a pooler that supports prepared
    /// statements (pgbouncer 1.21 and later with `max_prepared_statements`).
    #[default]
    Prepared,
    /// Sent completely each time, for poolers in transaction mode without prepared statements. It
    /// is still one round trip.
    Unnamed,
}

/// Options for opening a store. Everything except the URL of the database has a default.
///
/// ```
/// let options = svc_postgres::PostgresOptions::new("postgres://svc@localhost/crm")?.schema("svc").max_connections(16);
/// # Ok::<(), svc_postgres::ConnectError>(())
/// ```
#[derive(Clone)]
pub struct PostgresOptions {
    pub(crate) primary: Connector,
    pub(crate) replica: Option<Connector>,
    pub(crate) schema: String,
    pub(crate) connections: usize,
    pub(crate) patience: Duration,
    pub(crate) queue: usize,
    pub(crate) batch: usize,
    pub(crate) key_cache: Duration,
    pub(crate) statements: StatementMode,
    pub(crate) cluster: bool,
    pub(crate) row_level_security: bool,
    pub(crate) share_names: ShareNames,
    pub(crate) matching: Arc<dyn PersonMatching>,
    pub(crate) keep_changes: Option<Duration>,
    pub(crate) now: ClockFn,
}

impl PostgresOptions {
    /// Creates options for the database of a URL, such as `postgres://user@localhost/crm`.
    ///
    /// With the feature `tls`, the connection is encrypted unless the URL has `sslmode=disable`,
    /// and the server's certificate is verified with the authorities of the system. Without the
    /// feature, `sslmode=require` is rejected. `verify-ca` and `verify-full` are the same as
    /// `require`, which always verifies certificate and name.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL is invalid.
    pub fn new(url: &str) -> Result<Self, ConnectError> {
        Ok(Self {
            primary: connector(url)?,
            replica: None,
            schema: "svc".to_owned(),
            connections: 16,
            patience: Duration::from_secs(2),
            queue: 8192,
            batch: 64,
            key_cache: Duration::ZERO,
            statements: StatementMode::default(),
            cluster: false,
            row_level_security: false,
            share_names: ShareNames::default(),
            matching: Arc::new(DefaultMatching),
            keep_changes: None,
            now: Arc::new(Timestamp::now),
        })
    }

    /// Sends reads to this server, a replica of the primary; see the guide.
    ///
    /// A caller of this process sees its own writes: if the replica has not applied them yet, the
    /// primary answers.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL is invalid.
    pub fn replica(mut self, url: &str) -> Result<Self, ConnectError> {
        self.replica = Some(connector(url)?);
        Ok(self)
    }

    /// Trusts these authorities, in PEM, instead of those of the system, for every server of these
    /// options.
    ///
    /// # Errors
    ///
    /// Returns an error if the text has no certificate.
    #[cfg(feature = "tls")]
    pub fn root_certificates(mut self, certificates: &[u8]) -> Result<Self, ConnectError> {
        let tls = crate::tls::trusting(certificates)?;
        for connector in [Some(&mut self.primary), self.replica.as_mut()]
            .into_iter()
            .flatten()
        {
            connector.tls = Some(tls.clone());
        }
        Ok(self)
    }

    /// Sets the schema of the tables (default: `svc`). It is created if it does not exist. The name
    /// has lower-case letters, digits and underscores.
    #[must_use]
    pub fn schema(mut self, name: &str) -> Self {
        name.clone_into(&mut self.schema);
        self
    }

    /// Sets the maximum number of connections to a server (default: 16; at least 2). Writes leave a
    /// quarter of them to reads.
    #[must_use]
    pub fn max_connections(mut self, most: usize) -> Self {
        self.connections = most.max(2);
        self
    }

    /// Sets how long a request waits for a connection, or for a lock of another session (default:
    /// two seconds). It is then retried or gets 503.
    ///
    /// A read waits twice as long for its result. A write is retried until the deadline of its
    /// request, or for half a minute.
    ///
    /// Requirements: UND-36.
    #[must_use]
    pub fn busy_timeout(mut self, time: Duration) -> Self {
        self.patience = time;
        self
    }

    /// Sets the maximum number of waiting writes (default: 8192). Further writes are rejected as
    /// unavailable. A batch has up to 512 of its entries here.
    #[must_use]
    pub fn max_queued_writes(mut self, writes: usize) -> Self {
        self.queue = writes.max(1);
        self
    }

    /// Sets the maximum number of writes of one tenant that share a transaction (default: 64). With
    /// 1, each write has its own transaction.
    #[must_use]
    pub fn max_batch_size(mut self, calls: usize) -> Self {
        self.batch = calls.max(1);
        self
    }

    /// Sets how long a key may be cached (default: not at all). A revoked key is accepted for up to
    /// this time, and each request saves a round trip.
    #[must_use]
    pub fn key_cache_ttl(mut self, time: Duration) -> Self {
        self.key_cache = time;
        self
    }

    /// Sets how statements are sent to the server.
    #[must_use]
    pub fn statement_mode(mut self, how: StatementMode) -> Self {
        self.statements = how;
        self
    }

    /// Declares that the database is the coordinator of a Citus cluster, which distributes the
    /// tables by tenant.
    ///
    /// Opening the store creates and distributes missing tables, and rejects tables that are not
    /// distributed. Without this option, distributed tables are rejected.
    ///
    /// The statements of a tenant go directly to the worker that has its shard, over
    /// [`PostgresOptions::max_connections`] to each worker. The cluster must name its workers as this
    /// machine reaches them. The coordinator is used if a worker cannot be reached, and for
    /// everything that belongs to no tenant. Statements are always [`StatementMode::Unnamed`]. A
    /// record that is committed while a page is read may be on a page whose total does not count it
    /// yet.
    #[must_use]
    pub fn cluster(mut self) -> Self {
        self.cluster = true;
        self
    }

    /// Sets how long entries stay in the change feed (default: forever).
    ///
    /// An older cursor gets 410, so clients should poll much more often. Expired entries are
    /// deleted with later writes of their tenant.
    ///
    /// Requirements: SYN-08.
    #[must_use]
    pub fn change_feed_retention(mut self, time: Duration) -> Self {
        self.keep_changes = Some(time);
        self
    }

    /// Adds a second barrier between tenants: PostgreSQL itself shows only rows of the tenant of a
    /// transaction.
    ///
    /// Opening the store adds policies to the tables. The role must not be a superuser or have
    /// `BYPASSRLS`, because policies do not apply to such roles.
    #[must_use]
    pub fn row_level_security(mut self) -> Self {
        self.row_level_security = true;
        self
    }

    /// Sets the method that decides whether a posted person already exists (default:
    /// [`DefaultMatching`]). It must have no side effects: it runs again if the transaction of a
    /// request is repeated.
    ///
    /// Requirements: HLP-04.
    #[must_use]
    pub fn person_matching(mut self, matching: impl PersonMatching + 'static) -> Self {
        self.matching = Arc::new(matching);
        self
    }

    /// Sets the names of the two network share objects in the API. They are fixed when the tables
    /// are created.
    ///
    /// Requirements: HAL-11.
    #[must_use]
    pub fn share_names(mut self, names: ShareNames) -> Self {
        self.share_names = names;
        self
    }

    /// Sets the clock, instead of that of the system.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.now = Arc::new(clock);
        self
    }
}

/// Returns the URL with `sslmode=require` in place of the modes that the client does not support.
/// It verifies certificate and name in any case.
fn verified(url: &str) -> String {
    let known = |parameter: &str| match parameter {
        "sslmode=verify-full" | "sslmode=verify-ca" => "sslmode=require".to_owned(),
        other => other.to_owned(),
    };
    let all = |parameters: &str, between: &str| {
        parameters
            .split(between)
            .map(known)
            .collect::<Vec<_>>()
            .join(between)
    };
    match url.split_once('?') {
        Some((place, query)) if url.starts_with("postgres") => {
            format!("{place}?{}", all(query, "&"))
        }
        _ if url.starts_with("postgres") => url.to_owned(),
        _ => all(url, " "),
    }
}

/// Reads a URL as [`PostgresOptions::new`] does.
///
/// # Errors
///
/// Returns [`ConnectError::InvalidUrl`] if the URL is invalid.
pub fn read_url(url: &str) -> Result<Config, ConnectError> {
    verified(url).parse().map_err(ConnectError::InvalidUrl)
}

fn connector(url: &str) -> Result<Connector, ConnectError> {
    let mut config = read_url(url)?;
    if config.get_application_name().is_none() {
        config.application_name("svc-postgres");
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(SILENCE);
    }
    Connector::new(config)
}

impl fmt::Debug for PostgresOptions {
    /// Without the configuration, which may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::SslMode;

    use super::*;

    #[test]
    #[cfg(feature = "tls")]
    fn the_words_of_libpq_for_verified_tls_are_known() {
        for mode in ["require", "verify-ca", "verify-full"] {
            let options =
                PostgresOptions::new(&format!("postgres://svc@localhost/crm?sslmode={mode}"))
                    .unwrap();
            assert_eq!(
                options.primary.config.get_ssl_mode(),
                SslMode::Require,
                "{mode}"
            );
        }
        let words =
            PostgresOptions::new("host=localhost user=svc sslmode=verify-full dbname=crm").unwrap();
        assert_eq!(words.primary.config.get_ssl_mode(), SslMode::Require);
        let password =
            "postgres://svc:sslmode=verify-ca@localhost/crm?connect_timeout=1&sslmode=verify-ca";
        let config = PostgresOptions::new(password).unwrap().primary.config;
        assert_eq!(config.get_password(), Some(&b"sslmode=verify-ca"[..]));
        assert_eq!(config.get_ssl_mode(), SslMode::Require);
    }

    #[test]
    #[cfg(not(feature = "tls"))]
    fn verified_tls_is_refused_without_the_feature() {
        for mode in ["require", "verify-ca", "verify-full"] {
            let refused =
                PostgresOptions::new(&format!("postgres://svc@localhost/crm?sslmode={mode}"))
                    .unwrap_err();
            assert!(
                matches!(refused, ConnectError::TlsUnavailable),
                "{mode}: {refused}"
            );
        }
        let options = PostgresOptions::new("postgres://svc@localhost/crm").unwrap();
        assert_eq!(options.primary.config.get_ssl_mode(), SslMode::Prefer);
    }
}
