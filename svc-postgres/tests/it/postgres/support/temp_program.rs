//! A temporary folder with one program that runs in it. Both are removed at the end of the test,
//! even if it is killed.

use std::fs::{self, File};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, Signal, getuid, kill_process};

/// Waits until the process at the other end of its input has ended or closed it. Then kills the
/// processes in the folder `$1`, the first process of a server first, so that it starts no others.
///
/// A killed PostgreSQL leaves a small System V shared memory segment, which its lock file names.
/// Removing the files takes a second or two, for which no one waits.
const WATCH: &str = r#"
trap '' INT TERM HUP
read -r _
lock=$1/data/postmaster.pid
if [ -f "$lock" ]; then
  first=$(sed -n 1p "$lock")
  memory=$(sed -n '7s/.* //p' "$lock")
fi
is_there() {
  [ "/proc/$1/cwd" -ef "$2" ] || [ "/proc/$1/cwd" -ef "$2/data" ]
}
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  if [ -n "$first" ] && is_there "$first" "$1"; then kill -9 "$first"; fi
  left=
  for process in /proc/[0-9]*; do
    process=${process#/proc/}
    if is_there "$process" "$1"; then left=$process; kill -9 "$process"; fi
  done
  if [ -z "$left" ]; then break; fi
  sleep 0.05
done
if [ -n "$memory" ]; then ipcrm -m "$memory"; fi
exec >&-
rm -rf -- "$1"
"#;

/// A folder and its program.
pub(crate) struct Place {
    folder: PathBuf,
    /// The user of the programs, if this process is root.
    user: Option<(u32, u32)>,
    program: Mutex<Option<Child>>,
    /// The watch acts when this is closed for any reason.
    end: Option<ChildStdin>,
    /// Ends when all processes are killed.
    killed: Option<ChildStdout>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("svc-postgres-")
            .tempdir()
            .expect("a folder");
        let path = folder.path().canonicalize().expect("its path");
        let user = user();
        if let Some((user, group)) = user {
            chown(&path, Some(user), Some(group)).expect("a folder of the user's own");
        }
        let mut watch = Command::new("sh");
        watch
            .args(["-c", WATCH, "watch"])
            .arg(&path)
            .current_dir("/")
            .process_group(0);
        watch
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut watch = watch.spawn().expect("a shell");
        let (end, killed) = (watch.stdin.take(), watch.stdout.take());
        std::thread::spawn(move || watch.wait());
        // From now on the watch removes the folder.
        let _ = folder.keep();
        Self {
            folder: path,
            user,
            program: Mutex::new(None),
            end,
            killed,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns the output of the program until now.
    pub(crate) fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.path("log")).unwrap_or_default()).into_owned()
    }

    /// Returns a command in this folder, as a user that may start a server, and without environment
    /// variables for PostgreSQL.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("PG") || name.starts_with("LC_") || name.starts_with("LANG") {
                command.env_remove(&*name);
            }
        }
        command
            .current_dir(&self.folder)
            .env("HOME", &self.folder)
            .stdin(Stdio::null())
            .process_group(0);
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command
    }

    /// Starts the program and waits until it is ready, which `is_ready` checks with its process id.
    /// If its port is in use, the start is repeated.
    #[track_caller]
    pub(crate) fn start(&self, mut command: Command, is_ready: impl Fn(u32) -> bool) {
        let mut program = self.program();
        assert!(program.is_none(), "it is already running");
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.path("log"))
            .expect("a log");
        command
            .stdout(log.try_clone().expect("the log"))
            .stderr(log);
        let spawn = |command: &mut Command| {
            command
                .spawn()
                .unwrap_or_else(|error| panic!("{command:?}: {error}"))
        };
        let mut said = self.log().len();
        let child = program.insert(spawn(&mut command));
        super::wait_until("the program is ready", || {
            if let Some(end) = child.try_wait().expect("its state") {
                let log = self.log();
                let now = log.get(said..).unwrap_or_default();
                // A port that was just released, or that a client uses for a short time.
                assert!(
                    now.contains("Address already in use"),
                    "{command:?}: {end:?}: {log}"
                );
                said = log.len();
                *child = spawn(&mut command);
            }
            is_ready(child.id())
        });
    }

    /// Kills the program with all its processes, as a power failure would.
    #[track_caller]
    pub(crate) fn kill(&self) {
        let mut program = self.program();
        if let Some(child) = program.as_mut() {
            child.kill().expect("it is killed");
        }
        super::wait_until("all its processes have ended", || {
            let left = self.processes();
            for process in &left {
                // It may have ended already.
                let _ = kill_process(*process, Signal::KILL);
            }
            left.is_empty()
        });
        if let Some(mut child) = program.take() {
            child.wait().expect("its end");
        }
    }

    /// Sends a signal to the program, and waits for its end.
    #[track_caller]
    pub(crate) fn stop(&self, signal: Signal) {
        let mut program = self.program().take().expect("it runs");
        let id = i32::try_from(program.id())
            .ok()
            .and_then(Pid::from_raw)
            .expect("its id");
        kill_process(id, signal).expect("the signal is sent");
        super::wait_until("the program has ended", || {
            program.try_wait().expect("its state").is_some()
        });
    }

    /// Returns the processes whose working folder is this one, or is in it.
    pub(crate) fn processes(&self) -> Vec<Pid> {
        let all = fs::read_dir("/proc")
            .expect("a list of processes")
            .filter_map(Result::ok);
        let here = all.filter(|it| {
            fs::read_link(it.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&self.folder))
        });
        here.filter_map(|it| Pid::from_raw(it.file_name().to_str()?.parse().ok()?))
            .collect()
    }

    fn program(&self) -> std::sync::MutexGuard<'_, Option<Child>> {
        self.program.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(self.end.take());
        // Errors are ignored, because nothing can be done about them here.
        let _ = self.killed.take().map(std::io::read_to_string);
        if let Some(mut child) = self.program().take() {
            let _ = child.wait();
        }
    }
}

/// Returns the output of a program that ends by itself.
#[track_caller]
pub(crate) fn output(mut command: Command) -> Result<String, String> {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim_end().to_owned();
    if output.status.success() {
        Ok(text(output.stdout))
    } else {
        Err(text(output.stderr))
    }
}

/// Returns the user of Debian's package, or one without rights, if this process is root. A server
/// cannot be started as root.
fn user() -> Option<(u32, u32)> {
    let number = |what: &str, name: &str| -> Option<u32> {
        let mut command = Command::new("id");
        command.args([what, name]);
        output(command).ok()?.parse().ok()
    };
    let numbers = |name: &&str| Some((number("-u", name)?, number("-g", name)?));
    getuid().is_root().then(|| {
        ["postgres", "nobody"]
            .iter()
            .find_map(numbers)
            .expect("a user other than root")
    })
}
