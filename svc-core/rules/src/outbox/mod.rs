//! What calls ask to be sent: entries of the outbox, their delivery, and the notification that
//! there are new ones.

mod backoff;
mod notifier;
mod deliver;

pub use backoff::Backoff;
pub use notifier::{Notifier, Subscription};
pub use deliver::{Deliver, DeliveryOutcome, OutboxEntry, OutboxPayload};
