//! Ways to a server: plain, or with TLS where the feature `tls` is on.

use std::fmt;

use tokio_postgres::{Client, Config, NoTls};

use crate::error::ConnectError;

/// Makes connections to one server.
#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) config: Config,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<tokio_postgres_rustls::MakeRustlsConnect>,
}

impl Connector {
    /// The way that a configuration names.
    #[cfg(feature = "tls")]
    pub(crate) fn new(config: Config) -> Result<Self, ConnectError> {
        let is_plain = config.get_ssl_mode() == tokio_postgres::config::SslMode::Disable;
        let tls = if is_plain { None } else { Some(crate::tls::of_the_system()?) };
        Ok(Self { config, tls })
    }

    /// The way that a configuration names.
    #[cfg(not(feature = "tls"))]
    pub(crate) fn new(config: Config) -> Result<Self, ConnectError> {
        if config.get_ssl_mode() == tokio_postgres::config::SslMode::Require {
            return Err(ConnectError::NoTls);
        }
        Ok(Self { config })
    }

    /// A connection; its own task speaks to the server until the client is dropped.
    pub(crate) async fn connect(&self) -> Result<Client, tokio_postgres::Error> {
        #[cfg(feature = "tls")]
        if let Some(tls) = self.tls.clone() {
            let (client, connection) = self.config.connect(tls).await?;
            tokio::spawn(ended(connection));
            return Ok(client);
        }
        let (client, connection) = self.config.connect(NoTls).await?;
        tokio::spawn(ended(connection));
        Ok(client)
    }
}

async fn ended(connection: impl Future<Output = Result<(), tokio_postgres::Error>>) {
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection to PostgreSQL has ended");
    }
}

impl fmt::Debug for Connector {
    /// Without the configuration: it may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").finish_non_exhaustive()
    }
}
