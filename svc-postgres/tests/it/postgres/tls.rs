//! The connection to the server is encrypted, and is opened only to the server that the URL names.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::Path,
};

use super::{
    server::{Server, options},
    support,
};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use serde_json::json;
use svc_postgres::{ConnectError, PostgresStore};

/// Returns the certificate of an authority, and that of a server of this name with its key, all in
/// PEM.
fn certificates(name: &str) -> (String, String, String) {
    let (authority_key, key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let own = authority.self_signed(&authority_key).unwrap();
    let issuer = Issuer::from_params(&authority, &authority_key);
    let server = CertificateParams::new([name.to_owned()])
        .unwrap()
        .signed_by(&key, &issuer)
        .unwrap();
    (own.pem(), server.pem(), key.serialize_pem())
}

/// Writes a file that only the user of the server can read, as the server requires.
fn give(folder: &Path, name: &str, text: &str) {
    let (path, owner) = (folder.join(name), fs::metadata(folder).unwrap());
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    chown(&path, Some(owner.uid()), Some(owner.gid())).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn the_way_is_encrypted() {
    let database = support::server::Server::start();
    let (authority, certificate, key) = certificates("localhost");
    let folder = database.folder().join("data");
    give(&folder, "server.crt", &certificate);
    give(&folder, "server.key", &key);
    database.psql("ALTER SYSTEM SET ssl = on");
    database.restart();
    let named = database.url().replace("127.0.0.1", "localhost");

    for url in [format!("{named}?sslmode=require"), named.clone()] {
        let server = Server::open(
            options(&url)
                .root_certificates(authority.as_bytes())
                .unwrap(),
        )
        .await;
        let tag = server.make("tags", json!({"name": url})).await;
        assert_eq!(server.get(&tag).await.status, 200);
        let ways = "SELECT string_agg(DISTINCT s.ssl || ' ' || s.version, ',') FROM pg_stat_ssl s JOIN pg_stat_activity a \
                    USING (pid) WHERE a.application_name = 'svc-postgres'";
        assert_eq!(database.psql(ways), "true TLSv1.3", "{url}");
    }

    // The certificate has another name, or its authority is not trusted: nothing is sent to that
    // server.
    let elsewhere = options(&database.url())
        .root_certificates(authority.as_bytes())
        .unwrap();
    let (other, ..) = certificates("localhost");
    let forged = options(&named).root_certificates(other.as_bytes()).unwrap();
    for options in [elsewhere, forged, options(&named)] {
        let refused = PostgresStore::connect(options).await.unwrap_err();
        assert!(matches!(refused, ConnectError::Postgres(_)), "{refused}");
        assert!(refused.to_string().contains("TLS"), "{refused}");
    }

    // A server without TLS: if TLS is required, it is rejected; if TLS is preferred, which is the
    // default, it is used without TLS.
    database.psql("ALTER SYSTEM SET ssl = off");
    database.restart();
    let trusting = |url: &str| {
        options(url)
            .root_certificates(authority.as_bytes())
            .unwrap()
    };
    let refused = PostgresStore::connect(trusting(&format!("{named}?sslmode=require")))
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("TLS"), "{refused}");
    PostgresStore::connect(trusting(&named)).await.unwrap();
}
