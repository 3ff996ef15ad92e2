//! A MariaDB server on the loopback interface.

use std::{
    path::PathBuf,
    process::Command,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use rustix::process::Signal;

use crate::postgres::support::{
    free_port,
    temp_program::{Place, output},
    wait_until,
};

/// A server in a temporary folder, with the user `root` without a password.
pub(crate) struct Server {
    place: Place,
    port: u16,
    databases: AtomicU32,
}

/// The server that the tests of this program share. The first call starts it.
pub(crate) fn server() -> &'static Server {
    static SHARED: OnceLock<Server> = OnceLock::new();
    SHARED.get_or_init(Server::start)
}

impl Server {
    #[track_caller]
    pub(crate) fn start() -> Self {
        let server = Self {
            place: Place::new(),
            port: free_port(),
            databases: AtomicU32::new(0),
        };
        let mut install = server.command("mariadb-install-db");
        install.arg(format!("--datadir={}", server.data())).args([
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--skip-name-resolve",
        ]);
        output(install).unwrap_or_else(|error| panic!("mariadb-install-db: {error}"));
        server.start_again();
        server
    }

    /// Starts it after [`Self::stop`], with the same data on the same port. Returns when it accepts
    /// connections.
    #[track_caller]
    pub(crate) fn start_again(&self) {
        let mut mariadb = self.command("mariadbd");
        let folder = self.place.path("");
        let folder = folder.display();
        mariadb.args([
            format!("--datadir={}", self.data()),
            format!("--socket={folder}/socket"),
            format!("--pid-file={folder}/pid"),
            format!("--port={}", self.port),
        ]);
        mariadb.args([
            "--bind-address=127.0.0.1",
            "--skip-name-resolve",
            "--max-connections=300",
            "--innodb-buffer-pool-size=64M",
        ]);
        self.place
            .start(mariadb, |_| self.try_sql("SELECT 1").is_ok());
    }

    #[track_caller]
    pub(crate) fn stop(&self) {
        self.place.stop(Signal::TERM);
    }

    /// Creates a database with the default collation of Debian, and returns its URL and its name.
    pub(crate) fn database(&self) -> (String, String) {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.sql(&format!(
            "CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"
        ));
        (format!("mysql://root@127.0.0.1:{}/{name}", self.port), name)
    }

    /// Returns the output of the client: a line for each row, with tabs between the columns.
    #[track_caller]
    pub(crate) fn sql(&self, sql: &str) -> String {
        self.try_sql(sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    fn try_sql(&self, sql: &str) -> Result<String, String> {
        let mut client = self.command("mariadb");
        client.arg(format!("--port={}", self.port)).args([
            "--host=127.0.0.1",
            "--user=root",
            "--batch",
            "--skip-column-names",
            "--execute",
            sql,
        ]);
        output(client)
    }

    fn data(&self) -> String {
        self.place.path("data").display().to_string()
    }

    /// Returns a command of MariaDB, without files with options.
    fn command(&self, name: &str) -> Command {
        let folders = ["/usr/sbin", "/usr/bin", "/usr/local/bin"].map(PathBuf::from);
        let mut programs = folders.iter().map(|folder| folder.join(name));
        let program = programs
            .find(|program| program.exists())
            .unwrap_or_else(|| panic!("{name} is not installed"));
        let mut command = self.place.command(&program);
        // The user of the server cannot write to the folder of the user who runs the tests.
        command.env("TMPDIR", self.place.path(""));
        command.arg("--no-defaults");
        command
    }
}

/// Waits until a query returns `1`.
#[track_caller]
pub(crate) fn wait_for(server: &Server, sql: &str) {
    wait_until(sql, || server.sql(sql) == "1");
}
