//! A server behind TLS is reached with the feature `https`, if an authority that is trusted vouches for it; another one is not
//! sent anything. The certificates are made here.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use svc_conformance::{Keys, Remote, Suite, Target, TargetError};
use svc_self_test::second_server::{Options, SecondServer};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tower::ServiceExt;

/// The second service behind TLS, on a port of its own.
struct Server {
    runtime: Runtime,
    address: SocketAddr,
    base: String,
    /// The certificate of the authority that vouches for it, as PEM.
    authority: String,
    /// How many requests it was sent.
    asked: Arc<AtomicUsize>,
}

/// The certificate of an authority as PEM, and one by it for a name, with its key.
fn certificates(name: &str) -> (String, CertificateDer<'static>, PrivateKeyDer<'static>) {
    let mut of_authority = CertificateParams::new(Vec::new()).expect("parameters");
    of_authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let authority = of_authority.self_signed(&key).expect("a certificate").pem();
    let issuer = Issuer::new(of_authority, key);
    let key = KeyPair::generate().expect("a key");
    let of_server = CertificateParams::new(vec![name.to_owned()]).expect("parameters");
    let of_server = of_server.signed_by(&key, &issuer).expect("a certificate");
    (authority, of_server.der().clone(), PrivateKeyDer::try_from(key.serialize_der()).expect("a key"))
}

impl Server {
    /// A server whose certificate is for this name.
    fn named(name: &str) -> Self {
        let (authority, certificate, key) = certificates(name);
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().expect("versions").with_no_client_auth();
        let config = config.with_single_cert(vec![certificate], key).expect("a certificate with its key");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let address = listener.local_addr().expect("an address");
        let base = format!("https://{address}/rest/");
        let second_server = SecondServer::new(Options { base: base.clone(), ..Options::default() });
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (second_server, acceptor, counted) =
                    (second_server.clone(), acceptor.clone(), Arc::clone(&counted));
                tokio::spawn(async move {
                    // Nobody who distrusts the certificate comes further.
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let answer = service_fn(move |request: Request<Incoming>| {
                        counted.fetch_add(1, Ordering::SeqCst);
                        answer(second_server.clone(), request)
                    });
                    let connection = hyper::server::conn::http1::Builder::new();
                    let _ = connection.serve_connection(TokioIo::new(stream), answer).await;
                });
            }
        });
        Self { runtime, address, base, authority, asked }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// Reads the entry point.
    fn read(&self, remote: &Remote) -> Result<Response<Bytes>, TargetError> {
        let request = Request::get(remote.base()).body(Bytes::new()).expect("a request");
        self.runtime.block_on(remote.send(request, 1 << 20, Duration::from_secs(5 * 60)))
    }
}

async fn answer(
    second_server: SecondServer,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Box<dyn std::error::Error + Send + Sync>> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    Ok(second_server.oneshot(Request::from_parts(parts, Full::new(body))).await?)
}

#[test]
fn a_server_that_a_given_authority_vouches_for_is_checked() {
    let server = Server::named("127.0.0.1");
    let remote = Remote::trusting(&server.base, server.authority.as_bytes()).expect("a target");
    assert!(remote.is_local() && remote.base() == server.base);
    let suite = Suite::new(remote).timeout(Duration::from_secs(5 * 60)).only(["ENT", "HAL", "CRU-13"]);
    let suite = suite.keys(Keys::primary("k-one").other_tenant("k-two"));
    let report = server.runtime.block_on(suite.run()).expect("a report");
    report.assert_conformant();
    assert!(server.asked() > 50 && report.row("CRU-13").is_some_and(|row| row.observations > 0), "{report}");
}

#[test]
fn a_server_that_nobody_vouches_for_is_sent_nothing() {
    let (server, other, elsewhere) =
        (Server::named("127.0.0.1"), Server::named("127.0.0.1"), Server::named("crm.example.org"));
    let refused = |server: &Server, remote: Result<Remote, TargetError>| {
        let remote = remote.expect("a target");
        let refused = server.read(&remote).expect_err("no answer");
        assert!(matches!(&refused, TargetError::Unreachable(text) if text.contains("certificate")), "{refused:?}");
        assert_eq!(server.asked(), 0, "{refused:?}");
    };
    refused(&server, Remote::trusting(&server.base, other.authority.as_bytes()));
    refused(&elsewhere, Remote::trusting(&elsewhere.base, elsewhere.authority.as_bytes()));
    refused(&server, Remote::new(&server.base));
    // With the right one, the same server answers.
    let trusted = Remote::trusting(&server.base, server.authority.as_bytes()).expect("a target");
    assert_eq!(server.read(&trusted).map(|answer| answer.status().as_u16()), Ok(200));
    assert!(Remote::trusting(&server.base, b"").is_err() && Remote::trusting(&server.base, b"nothing").is_err());
}

#[test]
fn a_server_without_tls_has_no_https() {
    let (plain, server) = (crate::support::Server::good(), Server::named("127.0.0.1"));
    let base = plain.base.replacen("http://", "https://", 1);
    let remote = Remote::trusting(base, server.authority.as_bytes()).expect("a target");
    assert!(matches!(server.read(&remote), Err(TargetError::Unreachable(_))));
    // The other way round, what comes is no HTTP.
    let remote = Remote::new(format!("http://{}/rest/", server.address)).expect("a target");
    assert!(matches!(server.read(&remote), Err(TargetError::Broken(_))));
}

#[test]
fn the_program_checks_a_server_behind_tls_by_the_authorities_of_its_environment() {
    let (server, folder) = (Server::named("127.0.0.1"), tempfile::tempdir().expect("a folder"));
    std::fs::write(folder.path().join("authority.pem"), &server.authority).expect("written");
    let run = |authorities: &str| {
        let mut program = crate::support::program(folder.path());
        program.env("SSL_CERT_FILE", authorities).env_remove("SSL_CERT_DIR");
        let arguments = ["run", &server.base, "--key", "k-one", "--quiet", "--timeout", "5m"];
        let arguments = [&arguments[..], &["--only", "ENT-01", "--only", "ENT-09"]].concat();
        crate::support::ended(&program.args(arguments).output().expect("the program"))
    };
    let (code, said) = run("authority.pem");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("RESULT conformant: "), "{said}");
    let (code, said) = run("missing.pem");
    assert!(matches!(code, 2 | 4), "{code} {said}");
    assert!(said.contains("this machine trusts no authority"), "{said}");
}
