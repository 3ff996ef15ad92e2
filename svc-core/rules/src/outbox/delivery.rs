//! The delivery of server responses and scheduled messages, which a vendor implements.

use std::time::Duration;

use async_trait::async_trait;

use crate::{
    context::Tenant,
    error::Result,
    helper::{HelperName, TriggerName},
    json::{Json, Object},
    value::{ClosedEnum, Id, Timestamp},
};

/// Delivers server responses that helper requests trigger, and messages at their scheduled start.
///
/// Register it with `ApiBuilder::delivery`. Without it, a store offers neither the action function
/// `triggers` nor the schedule helper.
///
/// # Behaviour
///
/// - An outbox entry is stored in the transaction of its request and delivered after the commit. An
///   entry of a rejected or rolled-back request is never delivered.
/// - Each entry is delivered **at least once**. It is delivered again if a process ended before it
///   could record the result, or if the attempt exceeded its time limit. [`OutboxEntry::id`] stays
///   the same, so that the receiver can detect duplicates.
/// - A delivery that fails or is postponed has ten attempts within three days and is then
///   abandoned: see [`Backoff`](super::Backoff).
/// - Entries of a deleted person, a deleted message, or a cancelled schedule are not delivered.
///   Only a delivery that has already started continues.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use svc_core::{Deliver, Result, Tenant, backend::{DeliveryOutcome, OutboxEntry, OutboxPayload}};
/// # async fn max_queued_writes(_: &Tenant, _: &str, _: &str, _: &str) -> Result<bool> { Ok(true) }
///
/// /// Adds responses to the queue of the vendor's mail program.
/// struct Mail;
///
/// #[async_trait::async_trait]
/// impl Deliver for Mail {
///     async fn deliver(&self, tenant: &Tenant, dispatch: &OutboxEntry) -> Result<DeliveryOutcome> {
///         let OutboxPayload::Response { identifiers, person: Some(person), .. } = &dispatch.payload else {
///             return Ok(DeliveryOutcome::Abandoned("only responses to a person are sent"));
///         };
///         for template in identifiers {
///             // The queue ignores an id that it already contains.
///             if !max_queued_writes(tenant, dispatch.id.as_str(), template, person.as_str()).await? {
///                 return Ok(DeliveryOutcome::RetryAfter(Duration::from_secs(60)));
///             }
///         }
///         Ok(DeliveryOutcome::Sent)
///     }
/// }
/// ```
///
/// Requirements: HAF-11, SCH-01, UND-26, SCH-04.
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot deliver what helper requests trigger or what is scheduled",
    label = "missing `impl Deliver for {Self}`",
    note = "implement `svc_core::Deliver` for it, or omit `.delivery(...)`; the API then offers neither triggers nor schedules"
)]
pub trait Deliver: Send + Sync + 'static {
    /// Delivers one entry of a tenant, or passes it to another system that does.
    ///
    /// # Errors
    ///
    /// Returns the reason of the failure. The delivery is then retried. The error is logged, so it
    /// must not contain personal data.
    async fn deliver(&self, tenant: &Tenant, dispatch: &OutboxEntry) -> Result<DeliveryOutcome>;
}

/// A synchronous function, for example one that adds entries to a queue.
#[async_trait]
impl<F> Deliver for F
where
    F: Fn(&Tenant, &OutboxEntry) -> Result<DeliveryOutcome> + Send + Sync + 'static,
{
    async fn deliver(&self, tenant: &Tenant, dispatch: &OutboxEntry) -> Result<DeliveryOutcome> {
        self(tenant, dispatch)
    }
}

/// The result of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeliveryOutcome {
    /// The entry was sent, or another system has accepted it.
    Sent,
    /// The entry cannot be sent now. It is retried at its next attempt, but not before this
    /// duration has passed.
    RetryAfter(Duration),
    /// The entry will never be sent, for this reason. The reason is logged and must not contain
    /// personal data.
    Abandoned(&'static str),
}

/// An entry of the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutboxEntry {
    /// The id of the entry. It is unique and the same for each delivery.
    pub id: Id,
    /// When the request that created the entry was received.
    pub received_at: Timestamp,
    /// The content of the entry.
    pub payload: OutboxPayload,
}

/// The content of an outbox entry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutboxPayload {
    /// A server response that a helper request triggers.
    ///
    /// Requirements: HAF-11.
    Response {
        /// The type of the response: an e-mail, a text message or a call.
        trigger: TriggerName,
        /// The identifiers of the text to send, as `<system_name>:<id>`. The server that sends it
        /// defines them.
        ///
        /// Requirements: HAF-13.
        identifiers: Vec<String>,
        /// The helper that was called.
        helper: HelperName,
        /// The recipient.
        person: Option<Id>,
        /// The action of the request, of the kind that the helper [records](HelperName::recorded_kind).
        action: Option<Id>,
    },
    /// A message whose scheduled start has come.
    ///
    /// Requirements: SCH-01.
    Message {
        /// The message.
        message: Id,
        /// When sending starts.
        start: Timestamp,
        /// When sending stops.
        stop: Option<Timestamp>,
    },
}

impl OutboxEntry {
    /// Creates an entry for a request that was received at this time.
    #[must_use]
    pub fn new(id: Id, received: Timestamp, what: OutboxPayload) -> Self {
        Self {
            id,
            received_at: received,
            payload: what,
        }
    }

    /// Returns when the entry is due: a response immediately, a message at its start.
    #[must_use]
    pub fn due_at(&self) -> Timestamp {
        match &self.payload {
            OutboxPayload::Response { .. } => self.received_at,
            OutboxPayload::Message { start, .. } => *start,
        }
    }

    /// Returns whether the entry is too old to send. A message expires when its sending stops.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        matches!(&self.payload, OutboxPayload::Message { stop: Some(stop), .. } if *stop < now)
    }

    /// Returns the recipient. The entry is deleted together with that person.
    ///
    /// Requirements: UND-26.
    #[must_use]
    pub fn recipient(&self) -> Option<&Id> {
        match &self.payload {
            OutboxPayload::Response { person, .. } => person.as_ref(),
            OutboxPayload::Message { .. } => None,
        }
    }

    /// Returns the action of the request that triggers a response.
    #[must_use]
    pub fn action(&self) -> Option<&Id> {
        match &self.payload {
            OutboxPayload::Response { action, .. } => action.as_ref(),
            OutboxPayload::Message { .. } => None,
        }
    }

    /// Returns the entry for another recipient.
    #[must_use]
    pub fn with_recipient(mut self, to: &Id) -> Self {
        if let OutboxPayload::Response { person, .. } = &mut self.payload {
            *person = Some(to.clone());
        }
        self
    }

    /// Returns the message to send. The entry is deleted together with the schedule of the message.
    ///
    /// Requirements: SCH-04.
    #[must_use]
    pub fn message(&self) -> Option<&Id> {
        match &self.payload {
            OutboxPayload::Response { .. } => None,
            OutboxPayload::Message { message, .. } => Some(message),
        }
    }

    /// Returns a label for logs, without personal data.
    #[must_use]
    pub fn log_label(&self) -> &'static str {
        match &self.payload {
            OutboxPayload::Response { trigger, .. } => trigger.as_str(),
            OutboxPayload::Message { .. } => "message",
        }
    }

    /// Returns the entry as text for a store.
    #[must_use]
    pub fn serialize(&self) -> String {
        let mut all = Object::new();
        let id = |id: &Id| Json::String(id.as_str().to_owned());
        all.insert("id", id(&self.id));
        all.insert("received", Json::integer(self.received_at.as_micros()));
        match &self.payload {
            OutboxPayload::Response {
                trigger,
                identifiers,
                helper,
                person,
                action,
            } => {
                all.insert("trigger", Json::String(trigger.as_str().to_owned()));
                all.insert(
                    "identifiers",
                    Json::Array(identifiers.iter().cloned().map(Json::String).collect()),
                );
                all.insert("helper", Json::String(helper.as_str().to_owned()));
                for (name, of) in [("person", person), ("action", action)] {
                    if let Some(of) = of {
                        all.insert(name, id(of));
                    }
                }
            }
            OutboxPayload::Message {
                message,
                start,
                stop,
            } => {
                all.insert("message", id(message));
                all.insert("start", Json::integer(start.as_micros()));
                if let Some(stop) = stop {
                    all.insert("stop", Json::integer(stop.as_micros()));
                }
            }
        }
        String::from_utf8_lossy(&Json::Object(all).to_vec()).into_owned()
    }

    /// Parses an entry that a store returns. `None` if the text is not a valid entry.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let all = Json::read_kept(text.as_bytes())?;
        let all = all.as_object()?;
        let text = |name: &str| all.get(name).and_then(Json::as_str);
        let id = |name: &str| text(name).and_then(Id::new);
        let moment = |name: &str| {
            all.get(name)
                .and_then(Json::as_i64)
                .map(Timestamp::from_micros)
        };
        let what = match id("message") {
            Some(message) => OutboxPayload::Message {
                message,
                start: moment("start")?,
                stop: moment("stop"),
            },
            None => OutboxPayload::Response {
                trigger: TriggerName::parse(text("trigger")?)?,
                identifiers: all
                    .get("identifiers")?
                    .as_array()?
                    .iter()
                    .filter_map(Json::as_str)
                    .map(str::to_owned)
                    .collect(),
                helper: *HelperName::ALL
                    .iter()
                    .find(|known| Some(known.as_str()) == text("helper"))?,
                person: id("person"),
                action: id("action"),
            },
        };
        Some(Self {
            id: id("id")?,
            received_at: moment("received")?,
            payload: what,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn id(text: &str) -> Id {
        Id::new(text).unwrap()
    }

    /// An entry is unchanged after it is written and parsed, and invalid text is rejected.
    ///
    /// Requirements: HAF-11, SCH-01.
    #[test]
    fn haf_11_what_is_kept_comes_back() {
        let response = |person, action| OutboxPayload::Response {
            trigger: TriggerName::SmsResponse,
            identifiers: vec!["mail:welcome".to_owned(), "\"quoted\":7".to_owned()],
            helper: HelperName::ALL[0],
            person,
            action,
        };
        let message = |stop| OutboxPayload::Message {
            message: id("m1"),
            start: at(7),
            stop,
        };
        let all = [
            response(Some(id("p1")), Some(id("a1"))),
            response(None, None),
            message(None),
            message(Some(at(9))),
        ];
        for what in all {
            let dispatch = OutboxEntry::new(id("d1"), at(5), what);
            assert_eq!(OutboxEntry::parse(&dispatch.serialize()), Some(dispatch));
        }
        for text in [
            "",
            "{}",
            "[]",
            r#"{"id":"d1","received":5,"trigger":"smoke_signal"}"#,
        ] {
            assert_eq!(OutboxEntry::parse(text), None, "{text}");
        }
    }

    /// A message is due when its sending starts, and no longer due when it has stopped.
    ///
    /// Requirements: SCH-01.
    #[test]
    fn sch_01_a_message_is_due_between_its_dates() {
        let what = OutboxPayload::Message {
            message: id("m1"),
            start: at(70),
            stop: Some(at(90)),
        };
        let message = OutboxEntry::new(id("d1"), at(5), what);
        assert_eq!(message.due_at(), at(70));
        assert!(!message.is_expired(at(90)) && message.is_expired(at(91)));
    }
}
