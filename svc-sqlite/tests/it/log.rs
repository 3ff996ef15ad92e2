//! What the service logs during the tests of this program. Each line is checked when it is logged.
//! Only lines with a secret or a planted value are stored.
//!
//! Requirements: UND-42.

use std::cell::Cell;
use std::fmt::{Debug, Write as _};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;

use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, span};

/// Lines with a secret or a planted value, each with the name of its thread.
static LEAKS: Mutex<Vec<(Option<String>, String)>> = Mutex::new(Vec::new());

/// Personal values that the tests plant, and the prefix of every random key.
const PLANTED: &[&str] = &[
    "@example.org",
    "Lovelace",
    "1555010",
    "Key holder",
    "In my own words",
    "PLANTED",
    "planted",
    "svck_",
];

thread_local! {
    /// The number of lines that this thread has logged.
    static LINES: Cell<usize> = const { Cell::new(0) };
}

/// Installs the subscriber of this program.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        tracing::subscriber::set_global_default(Listener).expect("the only global subscriber");
    });
}

/// The number of lines that this thread has logged.
pub(crate) fn lines() -> usize {
    LINES.get()
}

/// Fails if this test, or a thread that runs no test, has logged a key or a planted personal value.
pub(crate) fn assert_clean() {
    let current = thread::current();
    let is_ours = |name: &str| Some(name) == current.name() || !is_of_a_test(name);
    let leaks = leaks();
    let ours: Vec<_> = leaks
        .iter()
        .filter(|(name, _)| name.as_deref().is_none_or(is_ours))
        .collect();
    assert!(
        ours.is_empty(),
        "the log has a key or a planted value: {ours:?}"
    );
}

/// Whether a thread of this name runs a test: libtest names it after the test, which has the path
/// of its module.
fn is_of_a_test(name: &str) -> bool {
    name.contains("::")
}

fn leaks() -> MutexGuard<'static, Vec<(Option<String>, String)>> {
    LEAKS.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Listener;

/// The fields of one event or span.
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Line {
    fn check(self) {
        LINES.set(LINES.get() + 1);
        if PLANTED.iter().any(|secret| self.0.contains(secret)) {
            leaks().push((thread::current().name().map(str::to_owned), self.0));
        }
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("svc")
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        let mut line = Line(span.metadata().name().to_owned());
        span.record(&mut line);
        line.check();
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        let mut line = Line(String::new());
        values.record(&mut line);
        line.check();
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().target().to_owned());
        event.record(&mut line);
        line.check();
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// A leak is found in the test that logs it, and in no other.
#[test]
fn a_leak_fails_its_own_test_only() {
    listen();
    let before = lines();
    let line = || tracing::info!(target: "svc_sqlite_log_test", address = "ada@example.org");
    let other = thread::Builder::new().name("log::another_test".to_owned());
    let lines_of_other = other.spawn(move || {
        line();
        lines()
    });
    assert_eq!(
        (lines_of_other.unwrap().join().unwrap(), lines() - before),
        (1, 0)
    );
    assert_clean();
    let own = thread::Builder::new().name("log::a_test_that_leaks".to_owned());
    let found = own.spawn(move || {
        line();
        assert_clean();
    });
    assert!(found.unwrap().join().is_err(), "the leak is not found");
}
