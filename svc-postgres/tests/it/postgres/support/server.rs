//! A PostgreSQL server on the loopback interface.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::process::Signal;

use super::temp_program::{Place, output};
use super::{PATIENCE, free_port, wait_until};

/// A server in a temporary folder, with the superuser `svc` and the database `postgres`. Its
/// durability settings are those of a real server.
pub(crate) struct Server {
    place: Place,
    port: u16,
    options: Vec<(String, String)>,
    schemas: AtomicU32,
}

impl Server {
    #[track_caller]
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    /// Starts a server with settings of `postgresql.conf`.
    #[track_caller]
    pub(crate) fn with(options: &[(&str, &str)]) -> Self {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let server = Self::without_data(options.iter().map(own).collect());
        let mut initdb = server.place.command(&server_program("initdb"));
        // Without sync, which affects only the empty cluster.
        initdb.args([
            "-D",
            "data",
            "-U",
            "svc",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
        ]);
        output(initdb).unwrap_or_else(|error| panic!("initdb: {error}"));
        server.start_again();
        server
    }

    fn without_data(options: Vec<(String, String)>) -> Self {
        Self {
            place: Place::new(),
            port: free_port(),
            options,
            schemas: AtomicU32::new(0),
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        url(self.port)
    }

    /// Returns its temporary folder. The data is in `data`.
    pub(crate) fn folder(&self) -> PathBuf {
        self.place.path("")
    }

    /// Returns its log since the first start.
    pub(crate) fn log(&self) -> String {
        self.place.log()
    }

    /// Returns the number of its processes.
    pub(crate) fn processes(&self) -> usize {
        self.place.processes().len()
    }

    /// Returns a new name for a schema. The schema is not created.
    pub(crate) fn schema(&self) -> String {
        format!("test_{}", self.schemas.fetch_add(1, Ordering::Relaxed))
    }

    /// Starts it after [`Self::kill`] or [`Self::stop`], with the same data on the same port.
    /// Returns when it accepts connections.
    #[track_caller]
    pub(crate) fn start_again(&self) {
        let lock = self.place.path("data/postmaster.pid");
        // The lock file of a killed server. Its process id may now be that of another server.
        let _ = fs::remove_file(&lock);
        let mut postgres = self.place.command(&server_program("postgres"));
        let port = self.port.to_string();
        let mine = [
            ("listen_addresses", "127.0.0.1"),
            ("port", &port),
            ("unix_socket_directories", ""),
            // In the folder, so that a killed server leaves no files elsewhere.
            ("dynamic_shared_memory_type", "mmap"),
            // After a crash it syncs all files together, not each file: this takes a quarter of a
            // second instead of three.
            ("recovery_init_sync_method", "syncfs"),
            // A standby without its primary sleeps for this time. The default is 5 s, and a
            // promotion may then take as long.
            ("wal_retrieve_retry_interval", "100ms"),
        ];
        let theirs = self
            .options
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        postgres.args(["-D", "data"]);
        for (name, value) in mine.into_iter().chain(theirs) {
            postgres.arg("-c").arg(format!("{name}={value}"));
        }
        self.place.start(postgres, |id| is_ready(&lock, id));
    }

    /// Kills it with all its processes, as a power failure would. The data remains.
    #[track_caller]
    pub(crate) fn kill(&self) {
        self.place.kill();
    }

    /// Shuts it down in the fast mode, which ends all connections.
    #[track_caller]
    pub(crate) fn stop(&self) {
        self.place.stop(Signal::INT);
    }

    /// Shuts it down and starts it again.
    #[track_caller]
    pub(crate) fn restart(&self) {
        self.stop();
        self.start_again();
    }

    /// Starts a standby of this server with this `name`. Returns when it is streaming.
    ///
    /// It answers reads. It has a copy of the settings of `ALTER SYSTEM`, such as those of
    /// [`Self::synchronous`].
    #[track_caller]
    pub(crate) fn standby(&self, name: &str) -> Self {
        let standby = Self::without_data(self.options.clone());
        let mut copy = standby.place.command(&server_program("pg_basebackup"));
        let source = format!(
            "host=127.0.0.1 port={} user=svc application_name={name}",
            self.port
        );
        copy.args([
            "-d",
            &source,
            "-D",
            "data",
            "-R",
            "-X",
            "stream",
            "-c",
            "fast",
            "--no-sync",
        ]);
        output(copy).unwrap_or_else(|error| panic!("pg_basebackup: {error}"));
        standby.start_again();
        self.wait_for(&format!(
            "SELECT count(*) = 1 FROM pg_stat_replication WHERE application_name = '{name}' AND state = 'streaming'"
        ));
        standby
    }

    /// Makes each commit wait for the standby of this name, or for none. Returns when the setting
    /// is effective.
    #[track_caller]
    pub(crate) fn synchronous(&self, standby: Option<&str>) {
        let name = standby.unwrap_or_default();
        self.psql(&format!(
            "ALTER SYSTEM SET synchronous_standby_names = '{name}'"
        ));
        self.psql("SELECT pg_reload_conf()");
        self.wait_for(&format!(
            "SELECT current_setting('synchronous_standby_names') = '{name}'"
        ));
        if standby.is_some() {
            self.wait_for(&format!(
                "SELECT count(*) > 0 FROM pg_stat_replication WHERE application_name = '{name}' AND sync_state = 'sync'"
            ));
        }
    }

    /// Promotes a standby. Returns when it accepts writes.
    #[track_caller]
    pub(crate) fn promote(&self) {
        let promote = format!("SELECT pg_promote(true, {})", PATIENCE.as_secs());
        assert_eq!(self.psql(&promote), "t", "{}", self.log());
        self.wait_for("SELECT NOT pg_is_in_recovery()");
    }

    /// Creates a role for which this server looks like the coordinator of a Citus cluster whose
    /// only worker is on `port`.
    ///
    /// The catalogue and the functions of Citus that the store uses are tables and functions of a
    /// schema that only this role searches. The role may create schemas, and row-level security
    /// applies to it.
    pub(crate) fn cluster_role(&self, port: u16) -> String {
        let role = self.schema().replace("test", "cluster");
        self.cluster_role_of(&role, port);
        role
    }

    /// Creates the same role with a name.
    pub(crate) fn cluster_role_of(&self, role: &str, port: u16) {
        // Two simultaneous grants on one database fail with `tuple concurrently updated`.
        static GRANTING: Mutex<()> = Mutex::new(());
        let _granting = GRANTING.lock().unwrap_or_else(PoisonError::into_inner);
        self.psql(&format!(
            "CREATE ROLE {role} LOGIN; GRANT CREATE ON DATABASE postgres TO {role}; CREATE SCHEMA {role} AUTHORIZATION {role}; \
             ALTER ROLE {role} SET search_path = {role}; \
             CREATE TABLE {role}.pg_dist_partition (logicalrelid regclass, partmethod \"char\", repmodel \"char\"); \
             CREATE TABLE {role}.pg_dist_node (groupid int, nodename text, nodeport int, noderole text, isactive bool); \
             CREATE TABLE {role}.pg_dist_placement (shardid bigint, groupid int); \
             INSERT INTO {role}.pg_dist_node VALUES (0, '127.0.0.1', {port}, 'primary', true); \
             INSERT INTO {role}.pg_dist_placement VALUES (100, 0); \
             CREATE FUNCTION {role}.get_shard_id_for_distribution_column(regclass, bigint) RETURNS bigint LANGUAGE sql \
             AS 'SELECT 100::bigint'; \
             CREATE FUNCTION {role}.create_reference_table(regclass) RETURNS void LANGUAGE sql \
             AS $$INSERT INTO {role}.pg_dist_partition VALUES ($1, 'n', 't')$$; \
             CREATE FUNCTION {role}.create_distributed_table(regclass, text, colocate_with text DEFAULT '') RETURNS void \
             LANGUAGE sql AS $$INSERT INTO {role}.pg_dist_partition VALUES ($1, 'h', 's')$$; \
             GRANT ALL ON ALL TABLES IN SCHEMA {role} TO {role}"
        ));
    }

    /// Returns the output of `psql`: a line for each row, with `|` between the columns.
    #[track_caller]
    pub(crate) fn psql(&self, sql: &str) -> String {
        self.try_psql(sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Returns the same output, or the error.
    pub(crate) fn try_psql(&self, sql: &str) -> Result<String, String> {
        psql(&self.place, &self.url(), sql)
    }

    #[track_caller]
    pub(crate) fn wait_for(&self, sql: &str) {
        wait_until(sql, || self.psql(sql) == "t");
    }
}

/// Returns the URL of the database on a port of this machine.
pub(super) fn url(port: u16) -> String {
    url_of("svc", port)
}

/// Returns the same URL for a role.
pub(crate) fn url_of(role: &str, port: u16) -> String {
    format!("postgres://{role}@127.0.0.1:{port}/postgres")
}

/// Executes SQL on the database of a URL. Each `;` ends a statement, and all are in one transaction
/// unless they define others.
pub(super) fn psql(place: &Place, url: &str, sql: &str) -> Result<String, String> {
    let mut psql = place.command(&client_program("psql"));
    psql.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql]);
    output(psql)
}

/// The last line of the server's lock file shows whether it is ready.
fn is_ready(lock: &Path, id: u32) -> bool {
    let text = fs::read_to_string(lock).unwrap_or_default();
    let mut lines = text.lines();
    lines.next().is_some_and(|first| first.parse() == Ok(id))
        && lines.nth(6).is_some_and(|state| state.trim() == "ready")
}

/// Returns the path of a program of the tested server.
fn server_program(name: &str) -> PathBuf {
    let folder = folders().into_iter().next();
    let program = folder
        .expect("PostgreSQL is not installed: set SVC_POSTGRES_BIN to the folder of its programs")
        .join(name);
    assert!(program.exists(), "{} does not exist", program.display());
    program
}

/// Returns the path of a client program, which works with servers of any version. Some packages of
/// the server do not contain it.
fn client_program(name: &str) -> PathBuf {
    folders()
        .into_iter()
        .map(|folder| folder.join(name))
        .find(|it| it.exists())
        .unwrap_or_else(|| name.into())
}

/// Returns the folders that may have PostgreSQL's programs: that of `SVC_POSTGRES_BIN`, otherwise
/// those of Debian, the newest first, otherwise that of `pg_config`.
fn folders() -> Vec<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let mut versions: Vec<u32> = versions
        .filter_map(|it| it.file_name().to_str()?.parse().ok())
        .collect();
    versions.sort_unstable_by(|one, other| other.cmp(one));
    let debian = versions
        .iter()
        .map(|version| PathBuf::from(format!("/usr/lib/postgresql/{version}/bin")));
    let debian = debian.filter(|folder| folder.join("postgres").exists());
    let mut config = Command::new("pg_config");
    let config = config
        .arg("--bindir")
        .output()
        .map(|it| String::from_utf8_lossy(&it.stdout).trim().to_owned());
    let named = std::env::var_os("SVC_POSTGRES_BIN").map(PathBuf::from);
    named
        .into_iter()
        .chain(debian)
        .chain(config.ok().map(PathBuf::from))
        .collect()
}
