//! Connections to a server: plain, and with the feature `https` also over TLS.

#[cfg(feature = "https")]
mod tls;

use std::time::Duration;

use hyper_util::client::legacy::connect::HttpConnector;

#[cfg(feature = "https")]
pub use self::tls::{CertificatesError, Tls};
#[cfg(feature = "https")]
pub(crate) use self::tls::{Connector, connector, failure};

/// The certificates of TLS connections. Without the feature `https` there are none.
#[cfg(not(feature = "https"))]
#[derive(Debug)]
pub(crate) struct Tls;

#[cfg(not(feature = "https"))]
impl Tls {
    /// Returns no certificates.
    pub(crate) const fn system() -> Self {
        Self
    }
}

/// The type that opens connections.
#[cfg(not(feature = "https"))]
pub(crate) type Connector = HttpConnector;

/// Returns a connector for plain connections.
///
/// # Errors
/// Returns an error if the URL needs TLS.
#[cfg(not(feature = "https"))]
pub(crate) fn connector(is_https: bool, _: Tls) -> Result<Connector, String> {
    if is_https {
        return Err(
            "it needs TLS, and this suite was built without the feature `https`".to_owned(),
        );
    }
    Ok(plain())
}

/// Returns why a TLS connection failed. Always `None`, because there are none.
#[cfg(not(feature = "https"))]
pub(crate) const fn failure(_: &(dyn std::error::Error + 'static)) -> Option<String> {
    None
}

/// Returns a connector for connections without TLS.
pub(crate) fn plain() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(Duration::from_secs(5)));
    connector
}
