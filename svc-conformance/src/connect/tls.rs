//! Connections over TLS, with rustls and ring.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::client::WantsClientCert;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{AlertDescription, CertificateError, ClientConfig, ConfigBuilder, RootCertStore};

use super::plain;

pub(crate) type Connector = HttpsConnector<HttpConnector>;

/// The certificates of TLS connections: the trusted certificate authorities, and the client
/// certificate.
///
/// ```no_run
/// use svc_conformance::{Remote, Tls};
///
/// let tls = Tls::system().authorities(&std::fs::read("ca.pem")?)?;
/// let tls = tls.client(&std::fs::read("client.pem")?, &std::fs::read("client.key")?)?;
/// let target = Remote::with_tls("https://crm.example.org/api/v1/", tls)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Tls {
    system: bool,
    authorities: Vec<CertificateDer<'static>>,
    client: Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
}

/// Error returned when certificates or a key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CertificatesError(String);

impl Tls {
    /// Returns the certificate authorities of this machine. The environment variable
    /// `SSL_CERT_FILE` names a file of others.
    #[must_use]
    pub fn system() -> Self {
        Self {
            system: true,
            ..Self::default()
        }
    }

    /// Returns no certificate authorities. Only those added with [`authorities`](Self::authorities)
    /// are trusted.
    #[must_use]
    pub fn private() -> Self {
        Self::default()
    }

    /// Adds the certificate authorities in `pem`.
    ///
    /// # Errors
    /// Returns an error if `pem` contains no certificate, or an invalid one.
    pub fn authorities(mut self, pem: &[u8]) -> Result<Self, CertificatesError> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(pem)? {
            let broken = |error| {
                CertificatesError(format!(
                    "a certificate cannot be used as an authority: {error}"
                ))
            };
            roots.add(certificate.clone()).map_err(broken)?;
            self.authorities.push(certificate);
        }
        Ok(self)
    }

    /// Sets the client certificate, followed by its intermediate certificates, and its private key.
    ///
    /// # Errors
    /// Returns an error if the certificate or the key is missing, the key is encrypted, or it does
    /// not belong to the certificate.
    pub fn client(mut self, certificate: &[u8], key: &[u8]) -> Result<Self, CertificatesError> {
        let chain = certificates(certificate)?;
        let key = private_key(key)?;
        let broken = |error| CertificatesError(mismatch(&error));
        trusting(RootCertStore::empty())?
            .with_client_auth_cert(chain.clone(), key.clone_key())
            .map_err(broken)?;
        self.client = Some((chain, key));
        Ok(self)
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Tls");
        shown
            .field("system", &self.system)
            .field("authorities", &self.authorities.len());
        shown
            .field("client", &self.client.is_some())
            .finish_non_exhaustive()
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, CertificatesError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found
        .map_err(|error| CertificatesError(format!("a certificate is not valid PEM: {error}")))?;
    if found.is_empty() {
        return Err(CertificatesError(
            "there is no certificate in it: expected PEM with `-----BEGIN CERTIFICATE-----`"
                .to_owned(),
        ));
    }
    Ok(found)
}

fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, CertificatesError> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|_| {
        let is_encrypted = String::from_utf8_lossy(pem).contains("ENCRYPTED");
        CertificatesError(if is_encrypted {
            "the private key is encrypted: decrypt it first, for example with `openssl pkey`"
                .to_owned()
        } else {
            "there is no private key in it: expected PEM with `-----BEGIN PRIVATE KEY-----`"
                .to_owned()
        })
    })
}

fn mismatch(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InconsistentKeys(_) => {
            "the private key does not belong to the certificate".to_owned()
        }
        other => format!("the certificate and the private key cannot be used: {other}"),
    }
}

fn trusting(
    roots: RootCertStore,
) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, CertificatesError> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config
        .with_safe_default_protocol_versions()
        .map_err(|error| CertificatesError(error.to_string()))?;
    Ok(config.with_root_certificates(roots))
}

/// Returns a connector for plain connections and, if `is_https`, for those over TLS.
///
/// # Errors
/// Returns an error if there is no certificate authority to trust.
pub(crate) fn connector(is_https: bool, tls: Tls) -> Result<Connector, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(tls.authorities);
    if is_https && tls.system {
        add_system(&mut roots)?;
    }
    let config = trusting(roots).map_err(|error| error.to_string())?;
    let config = match tls.client {
        Some((chain, key)) => config
            .with_client_auth_cert(chain, key)
            .map_err(|error| mismatch(&error))?,
        None => config.with_no_client_auth(),
    };
    let mut http = plain();
    http.enforce_http(false);
    Ok(HttpsConnectorBuilder::new()
        .with_tls_config(config)
        .https_or_http()
        .enable_http1()
        .wrap_connector(http))
}

fn add_system(roots: &mut RootCertStore) -> Result<(), String> {
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
        let why = if why.is_empty() {
            String::new()
        } else {
            format!(" ({})", why.join("; "))
        };
        return Err(format!(
            "this machine trusts no certificate authority{why}: name the certificate of one with --ca FILE"
        ));
    }
    Ok(())
}

/// Returns why a TLS connection failed and what to do, if that is the reason for the error.
pub(crate) fn failure(error: &(dyn Error + 'static)) -> Option<String> {
    let mut cause = Some(error);
    while let Some(one) = cause {
        if let Some(error) = one.downcast_ref() {
            return Some(explained(error));
        }
        // The source of an `io` error skips the error inside it.
        let inner = one.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        cause = inner
            .map(|inner| inner as &(dyn Error + 'static))
            .or_else(|| one.source());
    }
    None
}

fn explained(error: &rustls::Error) -> String {
    use rustls::Error::{AlertReceived, InvalidCertificate, InvalidMessage};
    let remedy = match error {
        InvalidCertificate(CertificateError::UnknownIssuer) => {
            "no trusted authority issued the server's certificate; name the certificate of its authority with --ca FILE"
        }
        InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => {
            "the server's certificate is for another name; use an address with a name that is in the certificate"
        }
        InvalidCertificate(_) => {
            "the server's certificate is not valid; replace it, or name the certificate of its authority with --ca FILE"
        }
        AlertReceived(alert) if is_about_client(*alert) => {
            "the server requires a trusted client certificate; pass one with --client-cert FILE --client-key FILE"
        }
        InvalidMessage(_) => {
            "the server does not use TLS at this address; try http:// instead of https://"
        }
        _ => {
            "the server and the suite cannot agree on TLS 1.2 or 1.3; check the TLS settings of the server"
        }
    };
    format!("{remedy} ({error})")
}

/// Whether a server sends this alert if a client certificate is missing or not accepted. Servers
/// with TLS 1.2 send `handshake_failure`.
const fn is_about_client(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied
            | AlertDescription::DecryptError
            | AlertDescription::HandshakeFailure
    )
}
