//! Checks what the service logs in the tests of this module.
//!
//! Requirements: UND-42.

use std::{
    cell::RefCell,
    fmt::{Debug, Write as _},
    sync::Once,
};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

use crate::service::backend::KEY;

thread_local! {
    /// The lines with a key or a planted value that this thread has logged. Each test of this
    /// module runs on one thread.
    static LEAKS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Installs the subscriber of this program.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Listener).unwrap());
}

/// Fails if this test has logged a key or a planted value.
pub(crate) fn assert_clean() {
    LEAKS.with_borrow(|leaks| {
        assert!(
            leaks.is_empty(),
            "the log has a key or a planted value: {leaks:?}"
        );
    });
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
        // The text of an error is only for the log; a client never gets it.
        let planted = ["planted-", "PLANTED", "evil", "example.org"];
        if [KEY]
            .into_iter()
            .chain(planted)
            .any(|secret| self.0.contains(secret))
        {
            LEAKS.with_borrow_mut(|leaks| leaks.push(std::mem::take(&mut self.0)));
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

/// The check detects a leak.
#[test]
#[should_panic(expected = "the log has a key")]
fn a_leak_fails_the_test() {
    listen();
    tracing::info!(target: "svc_tower_log_test", key = KEY);
    assert_clean();
}
