//! TLS for connections to the server.

use std::sync::Arc;

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::ConnectError;

/// Returns a connector that verifies certificates with the authorities of the system.
pub(crate) fn of_the_system() -> Result<MakeRustlsConnect, ConnectError> {
    // Unreadable ones are left out. A system without any trusts no server.
    connecting(rustls_native_certs::load_native_certs().certs)
}

/// Returns a connector that verifies certificates with these authorities, in PEM.
pub(crate) fn trusting(certificates: &[u8]) -> Result<MakeRustlsConnect, ConnectError> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificates).collect();
    let read = read.map_err(|error| ConnectError::Tls(error.to_string()))?;
    if read.is_empty() {
        return Err(ConnectError::Tls("the text has no certificate".to_owned()));
    }
    connecting(read)
}

fn connecting(
    authorities: Vec<CertificateDer<'static>>,
) -> Result<MakeRustlsConnect, ConnectError> {
    let failed = |error: rustls::Error| ConnectError::Tls(error.to_string());
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(authorities);
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(failed)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
