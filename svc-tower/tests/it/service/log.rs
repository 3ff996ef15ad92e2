//! What the service says in its log, in every test of this program (UND-42).

use std::{
    fmt::{Debug, Write as _},
    sync::{Mutex, Once, PoisonError},
};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

use crate::service::backend::KEY;

/// Lines that have what no line may have.
static LEAKS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Listens to the whole process from now on.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Listener).unwrap());
}

/// Fails if a key or a planted value was said.
pub(crate) fn assert_clean() {
    let leaks = LEAKS.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(leaks.is_empty(), "the log has a key or a planted value: {leaks:?}");
}

struct Listener;

/// The fields of one span or event.
#[derive(Default)]
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, "{field}={value:?} ");
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // The text of an error is for the log; a client never sees it.
        let planted = ["planted-", "PLANTED", "evil", "example.org"];
        if [KEY].into_iter().chain(planted).any(|secret| self.0.contains(secret)) {
            LEAKS.lock().unwrap_or_else(PoisonError::into_inner).push(std::mem::take(&mut self.0));
        }
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("svc_")
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Line::default());
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Line::default());
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        event.record(&mut Line::default());
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}
