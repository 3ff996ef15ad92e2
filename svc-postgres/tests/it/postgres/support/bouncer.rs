//! pgbouncer in transaction mode before a server.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::free_port;
use super::place::Place;
use super::server::{self, Server};

/// A pooler on loopback. A client that comes back after a commit may meet another connection to the
/// server.
pub(crate) struct Bouncer {
    place: Place,
    port: u16,
}

impl Bouncer {
    /// With this many connections to the server, however many clients there are.
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

    /// Whether it is installed.
    pub(crate) fn is_installed() -> bool {
        version().is_some()
    }

    /// Whether it knows named statements in transaction mode: since 1.21.
    pub(crate) fn knows_named() -> bool {
        version().is_some_and(|version| version >= (1, 21))
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        server::url(self.port)
    }

    /// Its temporary folder.
    pub(crate) fn folder(&self) -> PathBuf {
        self.place.path("")
    }

    /// What it has logged since it was first started.
    pub(crate) fn log(&self) -> String {
        self.place.log()
    }

    /// Starts it after [`Self::kill`], on the same port; returns when it accepts connections.
    #[track_caller]
    pub(crate) fn start_again(&self) {
        let mut command = self.place.command(&program());
        command.arg("pgbouncer.ini");
        // That somebody answers on the port is not enough: it may be somebody else.
        let is_up = |id: u32| self.log().contains(&format!("[{id}] LOG process up"));
        self.place.start(command, |id| {
            is_up(id) && TcpStream::connect(("127.0.0.1", self.port)).is_ok()
        });
    }

    /// Kills it. Whoever is connected is cut off, and so is the server.
    #[track_caller]
    pub(crate) fn kill(&self) {
        self.place.kill();
    }

    /// What `psql` answers through it, or what went wrong.
    pub(crate) fn try_psql(&self, sql: &str) -> Result<String, String> {
        server::psql(&self.place, &self.url(), sql)
    }

    /// What it answers itself, to `SHOW POOLS` and the like.
    #[track_caller]
    pub(crate) fn admin(&self, command: &str) -> String {
        let url = format!("postgres://svc@127.0.0.1:{}/pgbouncer", self.port);
        server::psql(&self.place, &url, command)
            .unwrap_or_else(|error| panic!("{command}: {error}"))
    }
}

/// Debian has it where only root's PATH leads.
fn program() -> PathBuf {
    let debian = Path::new("/usr/sbin/pgbouncer");
    if debian.exists() {
        debian.to_owned()
    } else {
        "pgbouncer".into()
    }
}

/// Its version, when it is installed: `PgBouncer 1.18.0` is its first line.
fn version() -> Option<(u32, u32)> {
    let answer = Command::new(program()).arg("--version").output().ok()?;
    let answer = String::from_utf8(answer.stdout).ok()?;
    let mut numbers = answer.split_whitespace().nth(1)?.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}
