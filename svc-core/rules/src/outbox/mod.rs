//! The outbox: its entries, their delivery, and the notification of new entries.

mod backoff;
mod deliver;
mod notifier;

pub use backoff::Backoff;
pub use deliver::{Deliver, DeliveryOutcome, OutboxEntry, OutboxPayload};
pub use notifier::{Notifier, Subscription};
