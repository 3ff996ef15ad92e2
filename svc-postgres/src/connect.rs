//! Connections to a server: plain, or with TLS if the feature `tls` is on.

use std::{
    fmt,
    hash::{BuildHasher as _, RandomState},
    net::SocketAddr,
    pin::Pin,
    time::Duration,
};

use tokio_postgres::{
    Client, Config, NoTls,
    config::{Host, LoadBalanceHosts},
};

use crate::error::ConnectError;

/// The task of a connection that sends and receives. It ends with the connection.
pub(crate) type ConnectionIo = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Opens connections to one server.
#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) config: Config,
    /// The maximum time until a connection is open, over all addresses.
    limit: Option<Duration>,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<tokio_postgres_rustls::MakeRustlsConnect>,
}

impl Connector {
    /// Returns a connector for a configuration.
    #[cfg(feature = "tls")]
    pub(crate) fn new(config: Config) -> Result<Self, ConnectError> {
        let is_plain = config.get_ssl_mode() == tokio_postgres::config::SslMode::Disable;
        let tls = if is_plain {
            None
        } else {
            Some(crate::tls::of_the_system()?)
        };
        Ok(Self {
            config,
            limit: None,
            tls,
        })
    }

    /// Returns a connector for a configuration.
    #[cfg(not(feature = "tls"))]
    pub(crate) fn new(config: Config) -> Result<Self, ConnectError> {
        if config.get_ssl_mode() == tokio_postgres::config::SslMode::Require {
            return Err(ConnectError::TlsUnavailable);
        }
        Ok(Self {
            config,
            limit: None,
        })
    }

    /// Returns the connector with a limit of the time until a connection is open. Each address gets
    /// an equal part of it, unless the URL has a `connect_timeout`.
    pub(crate) fn within(&self, time: Duration) -> Self {
        Self {
            limit: Some(time),
            ..self.clone()
        }
    }

    /// Returns the connector for only one host of the URL.
    fn to_host(&self, index: usize) -> Self {
        let known = &self.config;
        let mut other = self.without_hosts();
        let of = |ports: &[u16]| ports.get(index).or(ports.first()).copied();
        let config = &mut other.config;
        match known.get_hosts().get(index) {
            Some(Host::Tcp(name)) => _ = config.host(name),
            #[cfg(unix)]
            Some(Host::Unix(path)) => _ = config.host_path(path),
            None => {}
        }
        known
            .get_hostaddrs()
            .get(index)
            .map(|address| config.hostaddr(*address));
        of(known.get_ports()).map(|port| config.port(port));
        other
    }

    /// Returns the connector for another server of the same cluster.
    pub(crate) fn to(&self, host: &str, port: u16) -> Self {
        let mut other = self.without_hosts();
        other.config.host(host).port(port);
        other
    }

    /// Returns the configuration without hosts.
    fn without_hosts(&self) -> Self {
        let mut other = self.clone();
        let known = std::mem::take(&mut other.config);
        let config = &mut other.config;
        config
            .ssl_mode(known.get_ssl_mode())
            .ssl_negotiation(known.get_ssl_negotiation());
        config
            .channel_binding(known.get_channel_binding())
            .target_session_attrs(known.get_target_session_attrs());
        config
            .keepalives(known.get_keepalives())
            .keepalives_idle(known.get_keepalives_idle());
        // Absent settings remain absent.
        known
            .get_keepalives_interval()
            .map(|time| config.keepalives_interval(time));
        known
            .get_keepalives_retries()
            .map(|retries| config.keepalives_retries(retries));
        known
            .get_tcp_user_timeout()
            .map(|time| config.tcp_user_timeout(*time));
        known
            .get_connect_timeout()
            .map(|time| config.connect_timeout(*time));
        known.get_user().map(|user| config.user(user));
        known
            .get_password()
            .map(|password| config.password(password));
        known.get_dbname().map(|name| config.dbname(name));
        known.get_options().map(|options| config.options(options));
        known
            .get_application_name()
            .map(|name| config.application_name(name));
        other
    }

    /// Opens a connection with its own task, which runs until the client is dropped.
    pub(crate) async fn connect(&self) -> Result<Client, ConnectError> {
        let (client, wire) = self.open().await?;
        tokio::spawn(wire);
        Ok(client)
    }

    /// Opens a connection whose [`ConnectionIo`] the caller polls, to the first address of the
    /// URL's hosts that accepts it.
    ///
    /// Each address has a part of the time until the session is established. A host that accepts
    /// connections and does not answer therefore does not prevent attempts with the others.
    pub(crate) async fn open(&self) -> Result<(Client, ConnectionIo), ConnectError> {
        let addresses = timeout(self.limit, self.addresses())
            .await
            .unwrap_or_default();
        let tries = u32::try_from(addresses.len())
            .unwrap_or(u32::MAX)
            .saturating_add(1);
        let part = self.limit.and_then(|limit| limit.checked_div(tries));
        let part = self.config.get_connect_timeout().copied().or(part);
        let mut failed = ConnectError::Silent;
        for address in addresses {
            match timeout(part, address.open_address()).await {
                Some(Ok(opened)) => return Ok(opened),
                Some(Err(error)) => failed = ConnectError::Postgres(error),
                None => failed = ConnectError::Silent,
            }
        }
        Err(failed)
    }

    /// Returns a connector for each address of each host, in the order of the attempts.
    async fn addresses(&self) -> Vec<Self> {
        let (hosts, fixed, ports) = (
            self.config.get_hosts(),
            self.config.get_hostaddrs(),
            self.config.get_ports(),
        );
        let many = hosts.len().max(fixed.len());
        let differs = |number: usize| number != 0 && number != many;
        if differs(hosts.len()) || differs(fixed.len()) || ports.len() > 1 && differs(ports.len()) {
            // The client reports that their numbers differ.
            return vec![self.clone()];
        }
        let mut all = Vec::new();
        for index in 0..many.max(1) {
            all.extend(self.to_host(index).resolved().await);
        }
        if self.config.get_load_balance_hosts() == LoadBalanceHosts::Random {
            let hasher = RandomState::new();
            let mut numbered: Vec<(usize, Self)> = all.into_iter().enumerate().collect();
            numbered.sort_by_cached_key(|(number, _)| hasher.hash_one(number));
            all = numbered.into_iter().map(|(_, address)| address).collect();
        }
        all
    }

    /// Returns a connector for each address of the name of its only host.
    async fn resolved(self) -> Vec<Self> {
        let port = self.config.get_ports().first().copied().unwrap_or(5432);
        let name = match self.config.get_hosts() {
            [Host::Tcp(name)] if self.config.get_hostaddrs().is_empty() => name.clone(),
            _ => return vec![self],
        };
        let found = tokio::net::lookup_host((name, port))
            .await
            .map(Iterator::collect::<Vec<_>>)
            .unwrap_or_default();
        let to = |address: SocketAddr| {
            let mut one = self.clone();
            one.config.hostaddr(address.ip());
            one
        };
        let all: Vec<Self> = found.into_iter().map(to).collect();
        // The attempt reports an unknown name.
        if all.is_empty() { vec![self] } else { all }
    }

    async fn open_address(&self) -> Result<(Client, ConnectionIo), tokio_postgres::Error> {
        #[cfg(feature = "tls")]
        if let Some(tls) = self.tls.clone() {
            let (client, connection) = self.config.connect(tls).await?;
            return Ok((client, Box::pin(ended(connection))));
        }
        let (client, connection) = self.config.connect(NoTls).await?;
        Ok((client, Box::pin(ended(connection))))
    }
}

/// Returns the result of a step, or `None` if it takes longer than `limit`.
async fn timeout<T>(limit: Option<Duration>, step: impl Future<Output = T>) -> Option<T> {
    match limit {
        Some(limit) => tokio::time::timeout(limit, step).await.ok(),
        None => Some(step.await),
    }
}

async fn ended(connection: impl Future<Output = Result<(), tokio_postgres::Error>>) {
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection to PostgreSQL has ended");
    }
}

impl fmt::Debug for Connector {
    /// Without the configuration, which may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").finish_non_exhaustive()
    }
}
