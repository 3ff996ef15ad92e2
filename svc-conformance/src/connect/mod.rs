//! Connections to a server: plain, and with the feature `https` also behind TLS.

#[cfg(feature = "https")]
mod tls;

use std::time::Duration;

use hyper_util::client::legacy::connect::HttpConnector;

#[cfg(feature = "https")]
pub(crate) use self::tls::{Connector, connector};

/// What makes the connections.
#[cfg(not(feature = "https"))]
pub(crate) type Connector = HttpConnector;

/// Makes the connections, of which none is behind TLS.
///
/// # Errors
/// The server is.
#[cfg(not(feature = "https"))]
pub(crate) fn connector(is_https: bool, _authorities: Option<&[u8]>) -> Result<Connector, String> {
    if is_https {
        return Err("it is behind TLS, and this suite was built without the feature `https`".to_owned());
    }
    Ok(plain())
}

/// Connections without TLS.
pub(crate) fn plain() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(Duration::from_secs(5)));
    connector
}
