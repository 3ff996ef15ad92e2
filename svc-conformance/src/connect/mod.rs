//! Connections to a server: plain, and with the feature `https` also over TLS.

#[cfg(feature = "https")]
mod tls;

use std::time::Duration;

use hyper_util::client::legacy::connect::HttpConnector;

#[cfg(feature = "https")]
pub use self::tls::{CertificatesError, Tls};
#[cfg(feature = "https")]
pub(crate) use self::tls::{Connector, connector, failure};

/// The certificates of connections over TLS; without the feature `https` there are none.
#[cfg(not(feature = "https"))]
#[derive(Debug)]
pub(crate) struct Tls;

#[cfg(not(feature = "https"))]
impl Tls {
    /// No certificates.
    pub(crate) const fn system() -> Self {
        Self
    }
}

/// What makes the connections.
#[cfg(not(feature = "https"))]
pub(crate) type Connector = HttpConnector;

/// Returns a connector for plain connections.
///
/// # Errors
/// The address needs TLS.
#[cfg(not(feature = "https"))]
pub(crate) fn connector(is_https: bool, _: Tls) -> Result<Connector, String> {
    if is_https {
        return Err(
            "it needs TLS, and this suite was built without the feature `https`".to_owned(),
        );
    }
    Ok(plain())
}

/// Returns why a connection over TLS failed: never, because there is none.
#[cfg(not(feature = "https"))]
pub(crate) const fn failure(_: &(dyn std::error::Error + 'static)) -> Option<String> {
    None
}

/// Connections without TLS.
pub(crate) fn plain() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(Duration::from_secs(5)));
    connector
}
