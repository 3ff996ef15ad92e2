//! What the service says in its log while the tests of a program run (UND-42).

use std::fmt::{Debug, Write as _};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, span};

/// Everything that was said.
static SAID: Mutex<String> = Mutex::new(String::new());

/// Keys that must not be said, besides those that look like one.
static KEYS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Personal values that the tests plant, and what every random key begins with.
const PLANTED: &[&str] =
    &["@example.org", "Lovelace", "1555010", "Key holder", "In my own words", "PLANTED", "planted", "svck_"];

/// Listens to the whole process from now on.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Listener).expect("nobody else listens"));
}

/// Remembers a key.
pub(crate) fn keep_secret(key: &str) {
    lock(&KEYS).push(key.to_owned());
}

/// How many lines were said.
pub(crate) fn lines() -> usize {
    lock(&SAID).lines().count()
}

/// Fails if a key or a planted personal value was said.
pub(crate) fn assert_clean() {
    let said = lock(&SAID);
    let keys = lock(&KEYS);
    for secret in keys.iter().map(String::as_str).chain(PLANTED.iter().copied()) {
        let at = said.lines().find(|line| line.contains(secret));
        assert!(at.is_none(), "the log has {secret:?}: {at:?}");
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Listener;

/// Writes the fields of one event or span.
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Line {
    fn say(self) {
        let mut said = lock(&SAID);
        said.push_str(&self.0);
        said.push('\n');
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("svc")
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        let mut line = Line(span.metadata().name().to_owned());
        span.record(&mut line);
        line.say();
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        let mut line = Line(String::new());
        values.record(&mut line);
        line.say();
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().target().to_owned());
        event.record(&mut line);
        line.say();
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}
