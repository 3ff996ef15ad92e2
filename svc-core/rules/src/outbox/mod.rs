//! The outbox: its entries, their delivery, and the notification of new entries.

mod backoff;
mod delivery;
mod notifier;

pub use backoff::Backoff;
pub use delivery::{Deliver, DeliveryOutcome, OutboxEntry, OutboxPayload};
pub use notifier::{Notifier, Subscription};
