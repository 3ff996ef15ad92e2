//! pgbouncer in transaction mode in front of a server.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::free_port;
use super::server::{self, Server};
use super::temp_program::Place;

/// A pooler on the loopback interface. A client may get another server connection after a commit.
pub(crate) struct Bouncer {
    place: Place,
    port: u16,
}

impl Bouncer {
    /// Starts it with this many server connections, however many clients there are.
    #[track_caller]
    pub(crate) fn start(server: &Server, pool_size: usize) -> Self {
        let bouncer = Self {
            place: Place::new(),
            port: free_port(),
        };
        fs::write(
            bouncer.place.path("users"),
            "\"svc\" \"\"\n\"fenced\" \"\"\n",
        )
        .expect("a list of users");
        let settings = bouncer.settings(server.port(), pool_size);
        fs::write(bouncer.place.path("pgbouncer.ini"), settings).expect("settings");
        bouncer.start_again();
        bouncer
    }

    fn settings(&self, server: u16, pool_size: usize) -> String {
        let named = if Self::knows_named() {
            "max_prepared_statements = 200"
        } else {
            ""
        };
        let port = self.port;
        format!(
            "[databases]\n\
             * = host=127.0.0.1 port={server}\n\
             [pgbouncer]\n\
             listen_addr = 127.0.0.1\n\
             listen_port = {port}\n\
             unix_socket_dir =\n\
             auth_type = trust\n\
             auth_file = users\n\
             admin_users = svc\n\
             pool_mode = transaction\n\
             default_pool_size = {pool_size}\n\
             max_client_conn = 500\n\
             ; how long it leaves a server alone that was not there; 15 s unless set\n\
             server_login_retry = 1\n\
             {named}\n"
        )
    }

    /// Returns whether it is installed.
    pub(crate) fn is_installed() -> bool {
        version().is_some()
    }

    /// Returns whether it supports named statements in transaction mode: since 1.21.
    pub(crate) fn knows_named() -> bool {
        version().is_some_and(|version| version >= (1, 21))
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        server::url(self.port)
    }

    /// Returns its temporary folder.
    pub(crate) fn folder(&self) -> PathBuf {
        self.place.path("")
    }

    /// Returns its log since the first start.
    pub(crate) fn log(&self) -> String {
        self.place.log()
    }

    /// Starts it after [`Self::kill`] on the same port. Returns when it accepts connections.
    #[track_caller]
    pub(crate) fn start_again(&self) {
        let mut command = self.place.command(&program());
        command.arg("pgbouncer.ini");
        // An answer on the port is not sufficient, because another program may use it.
        let is_up = |id: u32| self.log().contains(&format!("[{id}] LOG process up"));
        self.place.start(command, |id| {
            is_up(id) && TcpStream::connect(("127.0.0.1", self.port)).is_ok()
        });
    }

    /// Kills it, which cuts all connections of clients and to the server.
    #[track_caller]
    pub(crate) fn kill(&self) {
        self.place.kill();
    }

    /// Returns the output of `psql` through it, or the error.
    pub(crate) fn try_psql(&self, sql: &str) -> Result<String, String> {
        server::psql(&self.place, &self.url(), sql)
    }

    /// Returns its own answer to `SHOW POOLS` and similar commands.
    #[track_caller]
    pub(crate) fn admin(&self, command: &str) -> String {
        let url = format!("postgres://svc@127.0.0.1:{}/pgbouncer", self.port);
        server::psql(&self.place, &url, command)
            .unwrap_or_else(|error| panic!("{command}: {error}"))
    }
}

/// Debian installs it in a folder that is only in root's PATH.
fn program() -> PathBuf {
    let debian = Path::new("/usr/sbin/pgbouncer");
    if debian.exists() {
        debian.to_owned()
    } else {
        "pgbouncer".into()
    }
}

/// Returns its version if it is installed. The first line is `PgBouncer 1.18.0`.
fn version() -> Option<(u32, u32)> {
    let answer = Command::new(program()).arg("--version").output().ok()?;
    let answer = String::from_utf8(answer.stdout).ok()?;
    let mut numbers = answer.split_whitespace().nth(1)?.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}
