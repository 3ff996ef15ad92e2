//! The outbox: its entries, their delivery, and the notification of new entries.

mod backoff;
mod notifier;
mod deliver;

pub use backoff::Backoff;
pub use notifier::{Notifier, Subscription};
pub use deliver::{Deliver, DeliveryOutcome, OutboxEntry, OutboxPayload};
