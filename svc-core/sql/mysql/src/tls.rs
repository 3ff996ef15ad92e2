//! TLS for connections to the server.

use mysql_async::SslOpts;
use rustls::crypto::{CryptoProvider, ring};

use crate::options::UrlError;

/// Returns options that verify certificates with the authorities of the system.
pub(crate) fn verified(options: SslOpts) -> Result<SslOpts, UrlError> {
    // The client uses the provider of the process. Without one, and with two in the build, it would
    // panic.
    if CryptoProvider::get_default().is_none() {
        let _ = ring::default_provider().install_default();
    }
    // Unreadable ones are left out.
    let known = rustls_native_certs::load_native_certs().certs;
    if known.is_empty() {
        let text = "`require_ssl` needs certificates of authorities, and the system has none";
        return Err(UrlError(text.to_owned()));
    }
    let authorities = known.into_iter().map(|known| known.to_vec().into());
    Ok(options
        .with_root_certs(authorities.collect())
        .with_disable_built_in_roots(true))
}
