//! Servers with an `https` address. The suite sends requests only if a trusted authority issued the
//! server's certificate. It presents a client certificate to servers that require one. The tests
//! create the certificates.

use std::net::SocketAddr;
use std::path::Path;
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
use svc_conformance::{Keys, Remote, Suite, Target, TargetError, Tls};
use svc_self_test::independent_server::{IndependentServer, ServerOptions};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use tower::ServiceExt;

/// The second service with TLS, on a separate port.
struct Server {
    runtime: Runtime,
    address: SocketAddr,
    base: String,
    /// The certificate of the authority that issued the server's certificate, as PEM.
    authority: String,
    /// The number of requests that it received.
    asked: Arc<AtomicUsize>,
}

/// An authority that issues certificates.
struct Authority {
    certificate: rcgen::Certificate,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut parameters = CertificateParams::new(Vec::new()).expect("parameters");
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let certificate = parameters.self_signed(&key).expect("a certificate");
        Self {
            certificate,
            issuer: Issuer::new(parameters, key),
        }
    }

    /// Issues a certificate for a name. Returns it with its key.
    fn issue(&self, name: &str) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().expect("a key");
        let parameters = CertificateParams::new(vec![name.to_owned()]).expect("parameters");
        (
            parameters
                .signed_by(&key, &self.issuer)
                .expect("a certificate"),
            key,
        )
    }
}

impl Server {
    /// Starts a server with a certificate for this name.
    fn named(name: &str) -> Self {
        Self::start(name, None)
    }

    /// Starts a server that requires a client certificate by this authority.
    fn for_clients_of(clients: &Authority) -> Self {
        Self::start("127.0.0.1", Some(clients))
    }

    fn start(name: &str, clients: Option<&Authority>) -> Self {
        let authority = Authority::new();
        let (certificate, key) = authority.issue(name);
        let authority = authority.certificate.pem();
        let provider = Arc::new(ring::default_provider());
        let config = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let config = config
            .with_safe_default_protocol_versions()
            .expect("versions");
        let config = match clients {
            Some(clients) => {
                let mut roots = RootCertStore::empty();
                roots
                    .add(clients.certificate.der().clone())
                    .expect("an authority");
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                config.with_client_cert_verifier(verifier.build().expect("a verifier"))
            }
            None => config.with_no_client_auth(),
        };
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
        let config = config
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("a certificate with its key");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let listener = runtime
            .block_on(TcpListener::bind("127.0.0.1:0"))
            .expect("a port");
        let address = listener.local_addr().expect("an address");
        let base = format!("https://{address}/rest/");
        let second_server = IndependentServer::new(ServerOptions {
            base: base.clone(),
            ..ServerOptions::default()
        });
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (second_server, acceptor, counted) = (
                    second_server.clone(),
                    acceptor.clone(),
                    Arc::clone(&counted),
                );
                tokio::spawn(async move {
                    let stream = match acceptor.accept(stream).into_fallible().await {
                        Ok(stream) => stream,
                        // Reads the bytes that the client has already sent: an earlier close could
                        // discard the alert.
                        Err((_, mut stream)) => {
                            let _ = stream.read_to_end(&mut Vec::new()).await;
                            return;
                        }
                    };
                    let answer = service_fn(move |request: Request<Incoming>| {
                        counted.fetch_add(1, Ordering::SeqCst);
                        answer(second_server.clone(), request)
                    });
                    let connection = hyper::server::conn::http1::Builder::new();
                    let _ = connection
                        .serve_connection(TokioIo::new(stream), answer)
                        .await;
                });
            }
        });
        Self {
            runtime,
            address,
            base,
            authority,
            asked,
        }
    }

    /// Returns a target that trusts only the server's authority.
    fn trusted(&self) -> Remote {
        trusting(&self.base, &self.authority)
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// Reads the entry point.
    fn read(&self, remote: &Remote) -> Result<Response<Bytes>, TargetError> {
        let request = Request::get(remote.base())
            .body(Bytes::new())
            .expect("a request");
        self.runtime
            .block_on(remote.send(request, 1 << 20, Duration::from_secs(5 * 60)))
    }
}

/// Returns a target that trusts one authority.
fn trusting(base: &str, authority: &str) -> Remote {
    let tls = Tls::private()
        .authorities(authority.as_bytes())
        .expect("an authority");
    Remote::with_tls(base, tls).expect("a target")
}

async fn answer(
    second_server: IndependentServer,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Box<dyn std::error::Error + Send + Sync>> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    Ok(second_server
        .oneshot(Request::from_parts(parts, Full::new(body)))
        .await?)
}

#[test]
fn a_server_that_a_given_authority_vouches_for_is_checked() {
    let server = Server::named("127.0.0.1");
    let remote = server.trusted();
    assert!(remote.is_local() && remote.base() == server.base);
    let suite = Suite::new(remote)
        .timeout(Duration::from_secs(5 * 60))
        .only(["ENT", "HAL", "CRU-13"]);
    let suite = suite.keys(Keys::primary("k-one").other_tenant("k-two"));
    let report = server.runtime.block_on(suite.run()).expect("a report");
    report.assert_conformant();
    assert!(
        server.asked() > 50
            && report
                .requirement("CRU-13")
                .is_some_and(|row| row.observations > 0),
        "{report}"
    );
}

#[test]
fn a_server_that_nobody_vouches_for_is_sent_nothing() {
    let (server, other, elsewhere) = (
        Server::named("127.0.0.1"),
        Server::named("127.0.0.1"),
        Server::named("crm.example.org"),
    );
    let refused = |server: &Server, remote: &Remote, remedy: &str| {
        let refused = server.read(remote).expect_err("no response");
        assert!(
            matches!(&refused, TargetError::Tls(text) if text.contains(remedy)),
            "{refused:?}"
        );
        assert_eq!(server.asked(), 0, "{refused:?}");
    };
    refused(
        &server,
        &trusting(&server.base, &other.authority),
        "--ca FILE",
    );
    refused(
        &elsewhere,
        &trusting(&elsewhere.base, &elsewhere.authority),
        "for another name",
    );
    refused(
        &server,
        &Remote::new(&server.base).expect("a target"),
        "--ca FILE",
    );
    // With the right authority, the same server responds.
    assert_eq!(
        server
            .read(&server.trusted())
            .map(|answer| answer.status().as_u16()),
        Ok(200)
    );
    assert!(
        Tls::private().authorities(b"").is_err() && Tls::private().authorities(b"nothing").is_err()
    );
}

#[test]
fn a_server_without_tls_has_no_https() {
    let (plain, server) = (crate::support::Server::good(), Server::named("127.0.0.1"));
    let base = plain.base.replacen("http://", "https://", 1);
    let refused = server
        .read(&trusting(&base, &server.authority))
        .expect_err("no response");
    assert!(
        matches!(&refused, TargetError::Tls(text) if text.contains("try http://")),
        "{refused:?}"
    );
    // In the opposite case, the response is not HTTP.
    let remote = Remote::new(format!("http://{}/rest/", server.address)).expect("a target");
    assert_eq!(
        server.read(&remote).map(|_| ()),
        Err(TargetError::OtherProtocol)
    );
}

#[test]
fn the_program_checks_a_server_behind_tls_by_the_authorities_of_its_environment() {
    let (server, folder) = (
        Server::named("127.0.0.1"),
        tempfile::tempdir().expect("a folder"),
    );
    std::fs::write(folder.path().join("authority.pem"), &server.authority).expect("written");
    let run = |authorities: &str| {
        let mut program = crate::support::program(folder.path());
        program
            .env("SSL_CERT_FILE", authorities)
            .env_remove("SSL_CERT_DIR");
        let arguments = [
            "run",
            &server.base,
            "--key",
            "k-one",
            "--quiet",
            "--timeout",
            "5m",
        ];
        let arguments = [&arguments[..], &["--only", "ENT-01", "--only", "ENT-09"]].concat();
        crate::support::ended(&program.args(arguments).output().expect("the program"))
    };
    let (code, said) = run("authority.pem");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("RESULT conformant: "), "{said}");
    let (code, said) = run("missing.pem");
    assert!(matches!(code, 2 | 4), "{code} {said}");
    assert!(
        said.contains("this machine trusts no certificate authority"),
        "{said}"
    );
}

/// Runs the program in a folder, with a command and two short requirements.
fn program(folder: &Path, command: &str, arguments: &[&str]) -> (i32, String) {
    let mut program = crate::support::program(folder);
    program
        .arg(command)
        .args(["--key", "k-one"])
        .args(arguments);
    if command == "run" {
        program.args([
            "--quiet",
            "--timeout",
            "5m",
            "--only",
            "ENT-01",
            "--only",
            "ENT-09",
        ]);
    }
    crate::support::ended(&program.output().expect("the program"))
}

#[test]
fn every_command_trusts_a_private_authority_by_ca() {
    let (server, folder) = (
        Server::named("127.0.0.1"),
        tempfile::tempdir().expect("a folder"),
    );
    std::fs::write(folder.path().join("ca.pem"), &server.authority).expect("written");
    for command in ["run", "plan", "probe"] {
        let (code, said) = program(folder.path(), command, &[&server.base, "--ca", "ca.pem"]);
        assert_eq!(code, 0, "{command}: {said}");
        let asked = server.asked();
        let (code, said) = program(folder.path(), command, &[&server.base]);
        assert_eq!(code, 4, "{command}: {said}");
        assert!(
            said.contains("--ca FILE") && said.lines().count() == 1,
            "{command}: {said}"
        );
        assert_eq!(server.asked(), asked, "{command}");
    }
    // Of several authorities, the right one suffices.
    let other = Authority::new().certificate.pem();
    std::fs::write(folder.path().join("other.pem"), other).expect("written");
    let (code, said) = program(
        folder.path(),
        "run",
        &[&server.base, "--ca", "other.pem", "--ca", "ca.pem"],
    );
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_client_certificate_is_shown_to_a_server_that_requires_one() {
    let (clients, folder) = (Authority::new(), tempfile::tempdir().expect("a folder"));
    let server = Server::for_clients_of(&clients);
    let written =
        |name: &str, text: String| std::fs::write(folder.path().join(name), text).expect("written");
    for (name, authority) in [("client", &clients), ("stranger", &Authority::new())] {
        let (certificate, key) = authority.issue("client.example.org");
        written(&format!("{name}.pem"), certificate.pem());
        written(&format!("{name}.key"), key.serialize_pem());
    }
    written("ca.pem", server.authority.clone());
    let run = |more: &[&str]| {
        program(
            folder.path(),
            "run",
            &[&[&*server.base, "--ca", "ca.pem"], more].concat(),
        )
    };
    for refused in [
        &[][..],
        &[
            "--client-cert",
            "stranger.pem",
            "--client-key",
            "stranger.key",
        ],
    ] {
        let (code, said) = run(refused);
        assert_eq!(code, 4, "{said}");
        assert!(
            said.contains("--client-cert FILE --client-key FILE") && said.lines().count() == 1,
            "{said}"
        );
    }
    assert_eq!(server.asked(), 0);
    let (code, said) = run(&["--client-cert", "client.pem", "--client-key", "client.key"]);
    assert_eq!(code, 0, "{said}");
    assert!(server.asked() > 0);
}

#[test]
fn files_of_certificates_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new();
    let ((certificate, key), (_, other)) = (
        authority.issue("a.example.org"),
        authority.issue("b.example.org"),
    );
    let encrypted =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n-----END ENCRYPTED PRIVATE KEY-----\n";
    for (name, text) in [
        ("a.pem", certificate.pem()),
        ("a.key", key.serialize_pem()),
        ("b.key", other.serialize_pem()),
        ("encrypted.key", encrypted.to_owned()),
        ("empty.pem", String::new()),
        ("broken.pem", certificate.pem().replace("MII", "???")),
    ] {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    for (arguments, told) in [
        (&["--ca", "missing.pem"][..], "missing.pem cannot be read"),
        (
            &["--ca", "empty.pem"],
            "empty.pem: there is no certificate in it",
        ),
        (&["--ca", "a.key"], "a.key: there is no certificate in it"),
        (&["--ca", "broken.pem"], "broken.pem: "),
        (&["--client-cert", "a.pem"], "--client-key <FILE>"),
        (
            &["--client-cert", "a.pem", "--client-key", "missing.key"],
            "missing.key cannot be read",
        ),
        (
            &["--client-cert", "a.pem", "--client-key", "a.pem"],
            "there is no private key in it",
        ),
        (
            &["--client-cert", "a.pem", "--client-key", "encrypted.key"],
            "the private key is encrypted",
        ),
        (
            &["--client-cert", "a.pem", "--client-key", "b.key"],
            "does not belong to the certificate",
        ),
    ] {
        let (code, said) = program(
            folder.path(),
            "run",
            &[&["https://127.0.0.1:1/"], arguments].concat(),
        );
        assert_eq!(code, 2, "{arguments:?}: {said}");
        assert!(said.contains(told), "{arguments:?}: {said}");
    }
}
