//! How a store is opened.

use std::{fmt, sync::Arc, time::Duration};

use svc_core::{
    helper::{DefaultMatching, PersonMatching},
    link::ShareNames,
    value::Timestamp,
};
use tokio_postgres::Config;

use crate::{connect::Connector, error::ConnectError};

/// Tells the time.
pub(crate) type ClockFn = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// How long what was sent may stay without a sign that it has arrived, before a connection counts
/// as lost.
const SILENCE: Duration = Duration::from_secs(10);

/// How statements reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum StatementMode {
    /// Prepared once a connection, by name: the fastest. Needs a connection that stays the same
    /// server session, or a pooler that knows names (pgbouncer 1.21 and later with
    /// `max_prepared_statements`).
    #[default]
    Named,
    /// Sent whole each time: for poolers in transaction mode that know no names. Still one round
    /// trip.
    Unnamed,
}

/// How a store is opened. Everything but where the database is has a default.
///
/// ```
/// let options = svc_postgres::PostgresOptions::new("postgres://svc@localhost/crm")?.schema("svc").connections(16);
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
    /// The database that a URL names, such as `postgres://user@localhost/crm`.
    ///
    /// With the feature `tls` the way is encrypted unless the URL says `sslmode=disable`, and the
    /// server's certificate is checked against those of the system; without it `sslmode=require` is
    /// refused. `verify-ca` and `verify-full` are the same as `require`, which always verifies
    /// certificate and name.
    ///
    /// # Errors
    ///
    /// What is wrong with the URL.
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

    /// Reads go to this server, a replica of the first; see the guide. A caller of this process
    /// sees its own writes: where the replica has not got them yet, the first server answers.
    ///
    /// # Errors
    ///
    /// What is wrong with the URL.
    pub fn read_from(mut self, url: &str) -> Result<Self, ConnectError> {
        self.replica = Some(connector(url)?);
        Ok(self)
    }

    /// Trusts these authorities, in PEM, instead of those of the system, for every server of these
    /// options.
    ///
    /// # Errors
    ///
    /// A text that holds no certificate.
    #[cfg(feature = "tls")]
    pub fn trusting(mut self, certificates: &[u8]) -> Result<Self, ConnectError> {
        let tls = crate::tls::trusting(certificates)?;
        for connector in [Some(&mut self.primary), self.replica.as_mut()]
            .into_iter()
            .flatten()
        {
            connector.tls = Some(tls.clone());
        }
        Ok(self)
    }

    /// The schema of the tables, made when there is none: lower-case letters, digits and
    /// underscores; `svc` unless set.
    #[must_use]
    pub fn schema(mut self, name: &str) -> Self {
        name.clone_into(&mut self.schema);
        self
    }

    /// Connections to a server at most (default: 16; at least 2). Writes leave a quarter of them to
    /// reads.
    #[must_use]
    pub fn connections(mut self, most: usize) -> Self {
        self.connections = most.max(2);
        self
    }

    /// How long a call waits for a connection, and for a lock that somebody else holds, before that
    /// is tried again or the call is 503; a read waits twice as long for its answer (default: two
    /// seconds). A write is tried again until the deadline of its call, or for half a minute.
    ///
    /// Requirements: UND-36.
    #[must_use]
    pub fn patience(mut self, time: Duration) -> Self {
        self.patience = time;
        self
    }

    /// How many writes may wait; more are refused as unavailable (default: 8192). A batch has up to
    /// 512 of its entries here.
    #[must_use]
    pub fn queue(mut self, writes: usize) -> Self {
        self.queue = writes.max(1);
        self
    }

    /// How many writes of one tenant share one transaction at most (default: 64); with 1 each has
    /// its own.
    #[must_use]
    pub fn batch(mut self, calls: usize) -> Self {
        self.batch = calls.max(1);
        self
    }

    /// How long what was read of a key may be used again (default: not at all). A key that is
    /// revoked is taken for so much longer; each request saves a round trip.
    #[must_use]
    pub fn key_cache(mut self, time: Duration) -> Self {
        self.key_cache = time;
        self
    }

    /// How statements reach the server.
    #[must_use]
    pub fn statements(mut self, how: StatementMode) -> Self {
        self.statements = how;
        self
    }

    /// The database is the coordinator of a Citus cluster, which distributes the tables by tenant.
    /// Tables that are missing are made and distributed when the store is opened. Tables that are
    /// not distributed are refused then; without this option, distributed tables are.
    ///
    /// The statements of a tenant go directly to the worker that has its shard, over
    /// [`PostgresOptions::connections`] to each worker. The cluster must name its workers as this
    /// machine reaches them. If a worker cannot be reached, and for everything that belongs to no
    /// tenant, the coordinator is asked. Statements are always [`StatementMode::Unnamed`]. A record
    /// that is committed while a page is read may be on a page whose total does not count it yet.
    #[must_use]
    pub fn cluster(mut self) -> Self {
        self.cluster = true;
        self
    }

    /// How long changes stay in the change feed (default: for ever). A cursor of before is then
    /// 410, so let clients come back much sooner; the oldest go with later writes of their tenant.
    ///
    /// Requirements: SYN-08.
    #[must_use]
    pub fn keep_changes(mut self, time: Duration) -> Self {
        self.keep_changes = Some(time);
        self
    }

    /// A second fence between tenants: the server itself shows rows of the tenant of a transaction
    /// only. The tables get policies when the store is opened; the role must be neither a superuser
    /// nor one with `BYPASSRLS`, for whom they do not hold.
    #[must_use]
    pub fn row_level_security(mut self) -> Self {
        self.row_level_security = true;
        self
    }

    /// How it is decided whether a posted person is known already; [`DefaultMatching`] unless set.
    /// It must have no effects of its own: it is asked again when the transaction of a call is done
    /// again.
    ///
    /// Requirements: HLP-04.
    #[must_use]
    pub fn matching(mut self, matching: impl PersonMatching + 'static) -> Self {
        self.matching = Arc::new(matching);
        self
    }

    /// What the two share objects are called on the wire; fixed in the database when the tables are
    /// made.
    ///
    /// Requirements: HAL-11.
    #[must_use]
    pub fn share_names(mut self, names: ShareNames) -> Self {
        self.share_names = names;
        self
    }

    /// Tells the time from `clock` instead of the system.
    #[must_use]
    pub fn now(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.now = Arc::new(clock);
        self
    }
}

/// The URL with `sslmode=require` for the modes that the client does not know: it verifies
/// certificate and name in any case.
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
/// [`ConnectError::Url`] if it cannot be read.
pub fn read_url(url: &str) -> Result<Config, ConnectError> {
    verified(url).parse().map_err(ConnectError::Url)
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
    /// Without the configuration: it may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
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
            assert!(matches!(refused, ConnectError::NoTls), "{mode}: {refused}");
        }
        let options = PostgresOptions::new("postgres://svc@localhost/crm").unwrap();
        assert_eq!(options.primary.config.get_ssl_mode(), SslMode::Prefer);
    }
}
