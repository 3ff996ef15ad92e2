//! What calls ask to be sent: entries of the outbox, their delivery, and the notification that
//! there are new ones.

mod backoff;
mod bell;
mod deliver;

pub use backoff::Backoff;
pub use bell::{Notifier, Subscription};
pub use deliver::{Deliver, DeliveryOutcome, OutboxEntry, OutboxPayload};
