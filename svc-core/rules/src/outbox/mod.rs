//! The outbox: its entries, their delivery, and the notification of new entries.

mod backoff;
mod bell;
mod deliver;

pub use backoff::Backoff;
pub use bell::{Notifier, Subscription};
pub use deliver::{Deliver, DeliveryOutcome, OutboxEntry, OutboxPayload};
