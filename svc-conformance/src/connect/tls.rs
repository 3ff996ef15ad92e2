//! Connections to a server behind TLS, by rustls and ring.

use std::sync::Arc;

use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use super::plain;

pub(crate) type Connector = HttpsConnector<HttpConnector>;

/// Makes the connections. A server behind `https` needs one of these authorities to vouch for it, certificates as PEM; without
/// any given, one that this machine trusts.
///
/// # Errors
/// No authority can be read.
pub(crate) fn connector(is_https: bool, authorities: Option<&[u8]>) -> Result<Connector, String> {
    let roots = match authorities {
        Some(pem) => given(pem)?,
        None if is_https => of_this_machine()?,
        None => RootCertStore::empty(),
    };
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let mut http = plain();
    http.enforce_http(false);
    Ok(HttpsConnectorBuilder::new().with_tls_config(config).https_or_http().enable_http1().wrap_connector(http))
}

fn given(pem: &[u8]) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| format!("a certificate of an authority is none: {error}"))?;
        roots.add(certificate).map_err(|error| format!("a certificate of an authority is none: {error}"))?;
    }
    if roots.is_empty() { Err("there is no certificate of an authority".to_owned()) } else { Ok(roots) }
}

fn of_this_machine() -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
        return Err(format!("this machine trusts no authority, so none vouches for the server: {}", why.join("; ")));
    }
    Ok(roots)
}
