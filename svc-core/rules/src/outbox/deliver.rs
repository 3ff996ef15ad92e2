//! Sending what helper calls ask for and what is scheduled: the vendor's part of it.

use std::time::Duration;

use async_trait::async_trait;

use crate::{
    context::Tenant,
    error::Result,
    helper::{HelperName, TriggerName},
    json::{Json, Object},
    value::{ClosedEnum, Id, Timestamp},
};

/// Sends server responses that helper calls trigger, and messages whose scheduled start has come.
///
/// `ApiBuilder::delivery` registers one. With it the action function
/// `triggers` and the schedule helper of a store are offered, and without it neither is: nobody
/// would send what is asked for.
///
/// # Behaviour
///
/// - A dispatch is noted in the transaction of the call that asks for it, and handed over once that
///   is committed: never for a call that was refused or undone.
/// - It is handed over **at least once**: again where a process ended before it could note that it
///   was done, or took longer than its time. [`OutboxEntry::id`] stays the same, to tell those
///   apart.
/// - What fails or is put off is tried again ten times within three days, then given up: see
///   [`Backoff`](super::Backoff).
/// - Nothing is handed over of a person who was deleted, nor of a message that was deleted or whose
///   schedule was cancelled, but for what was handed over in that very moment.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use svc_core::{Deliver, Result, Tenant, ops::{DeliveryOutcome, OutboxEntry, OutboxPayload}};
/// # async fn max_queued_writes(_: &Tenant, _: &str, _: &str, _: &str) -> Result<bool> { Ok(true) }
///
/// /// Puts responses into the queue of the vendor's mail program.
/// struct Mail;
///
/// #[async_trait::async_trait]
/// impl Deliver for Mail {
///     async fn deliver(&self, tenant: &Tenant, dispatch: &OutboxEntry) -> Result<DeliveryOutcome> {
///         let OutboxPayload::Response { identifiers, person: Some(person), .. } = &dispatch.payload else {
///             return Ok(DeliveryOutcome::Abandoned("only responses to a person are sent"));
///         };
///         for template in identifiers {
///             // Under the same id again it is there already.
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
    message = "`{Self}` cannot send what helper calls trigger",
    label = "missing `impl Deliver for {Self}`",
    note = "implement `svc_core::Deliver` for it, or leave `.delivery(...)` out: then triggers and schedules are not offered"
)]
pub trait Deliver: Send + Sync + 'static {
    /// Sends one thing of a tenant, or hands it to whoever does.
    ///
    /// # Errors
    ///
    /// What stood in the way; it is tried again. The error is for the log and may hold no personal
    /// data.
    async fn deliver(&self, tenant: &Tenant, dispatch: &OutboxEntry) -> Result<DeliveryOutcome>;
}

/// A function that only puts it somewhere.
#[async_trait]
impl<F> Deliver for F
where
    F: Fn(&Tenant, &OutboxEntry) -> Result<DeliveryOutcome> + Send + Sync + 'static,
{
    async fn deliver(&self, tenant: &Tenant, dispatch: &OutboxEntry) -> Result<DeliveryOutcome> {
        self(tenant, dispatch)
    }
}

/// What became of a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeliveryOutcome {
    /// It was sent, or is somebody else's now.
    Sent,
    /// Not now: it is tried again when it is its turn by the schedule, and not before this time has
    /// passed.
    RetryAfter(Duration),
    /// It will never be sent, for this reason. It is for the log, and the same for everybody: so it
    /// holds no personal data.
    Abandoned(&'static str),
}

/// Something to send.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutboxEntry {
    /// Its id: the same however often it is handed over, and no other dispatch has it.
    pub id: Id,
    /// When the call that asks for it was received.
    pub received_at: Timestamp,
    /// What is to be sent.
    pub payload: OutboxPayload,
}

/// What is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutboxPayload {
    /// A server response that a helper call triggers.
    ///
    /// Requirements: HAF-11.
    Response {
        /// Which one: an e-mail, a text message, a call.
        trigger: TriggerName,
        /// Which text, as `<system_name>:<id>`: in words of the server that sends it.
        ///
        /// Requirements: HAF-13.
        identifiers: Vec<String>,
        /// Which helper was called.
        helper: HelperName,
        /// For whom.
        person: Option<Id>,
        /// About which action, of the kind that the helper [records](HelperName::records).
        action: Option<Id>,
    },
    /// A message whose sending starts.
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
    /// Something to send that was asked for at this moment.
    #[must_use]
    pub fn new(id: Id, received: Timestamp, what: OutboxPayload) -> Self {
        Self {
            id,
            received_at: received,
            payload: what,
        }
    }

    /// When it is to be sent: a response at once, a message when its sending starts.
    #[must_use]
    pub fn due_at(&self) -> Timestamp {
        match &self.payload {
            OutboxPayload::Response { .. } => self.received_at,
            OutboxPayload::Message { start, .. } => *start,
        }
    }

    /// Whether it is too late: a message is not sent when its sending has stopped.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        matches!(&self.payload, OutboxPayload::Message { stop: Some(stop), .. } if *stop < now)
    }

    /// The person whom it is for: with the person it goes.
    ///
    /// Requirements: UND-26.
    #[must_use]
    pub fn recipient(&self) -> Option<&Id> {
        match &self.payload {
            OutboxPayload::Response { person, .. } => person.as_ref(),
            OutboxPayload::Message { .. } => None,
        }
    }

    /// The message that it is about: with its schedule it goes.
    ///
    /// Requirements: SCH-04.
    #[must_use]
    pub fn message(&self) -> Option<&Id> {
        match &self.payload {
            OutboxPayload::Response { .. } => None,
            OutboxPayload::Message { message, .. } => Some(message),
        }
    }

    /// What of it a log may say: kinds and ids.
    #[must_use]
    pub fn log_label(&self) -> &'static str {
        match &self.payload {
            OutboxPayload::Response { trigger, .. } => trigger.as_str(),
            OutboxPayload::Message { .. } => "message",
        }
    }

    /// All of it as a text that a store keeps.
    #[must_use]
    pub fn serialize(&self) -> String {
        let mut all = Object::new();
        let id = |id: &Id| Json::String(id.as_str().to_owned());
        all.insert("id", id(&self.id));
        all.insert("received", Json::integer(self.received_at.micros()));
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
                all.insert("start", Json::integer(start.micros()));
                if let Some(stop) = stop {
                    all.insert("stop", Json::integer(stop.micros()));
                }
            }
        }
        String::from_utf8_lossy(&Json::Object(all).to_vec()).into_owned()
    }

    /// The dispatch that a store has kept; `None` for a text that says none.
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

    /// HAF-11, SCH-01: what is kept comes back whole, and another text is none.
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

    /// SCH-01: a message is due when its sending starts, and no more once it has stopped.
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
