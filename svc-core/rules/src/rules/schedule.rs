//! Scheduling a message, and cancelling it (SCH-01 to SCH-08). Neither is a change of the message
//! itself (TYP-16).

use super::{Asked, Case};
use crate::{
    error::{Code, Error, Problem},
    helper::Scheduling,
    link::Address,
    outbox::ToSend,
    record::Computed,
    schema::Source,
    store::{Change, Key, Stored},
    value::Timestamp,
};

impl Case<'_> {
    /// Sets or clears the dates of a message.
    pub(super) fn schedule_message(
        &mut self,
        message: &Address,
        dates: Scheduling,
    ) -> Asked<Stored> {
        let message = self
            .ledger
            .record(&Key::from(message))?
            .ok_or_else(Error::not_found)?;
        match dates {
            Scheduling::Set { start, stop } => Ok(self.set_schedule(message, Some(start), stop)),
            Scheduling::Cancel
                if message
                    .record
                    .computed_value(Source::ScheduledStart)
                    .is_some() =>
            {
                Ok(self.set_schedule(message, None, None))
            }
            Scheduling::Cancel => {
                let problem =
                    Problem::general(Code::MessageNotScheduled, "The message is not scheduled.");
                Err(Error::invalid(problem).into())
            }
        }
    }

    pub(super) fn set_schedule(
        &mut self,
        message: Stored,
        start: Option<Timestamp>,
        stop: Option<Timestamp>,
    ) -> Stored {
        self.recall(&message);
        if let Some(start) = start {
            self.send(ToSend::Message {
                message: message.record.meta().id.clone(),
                start,
                stop,
            });
        }
        self.set_dates(message, start, stop)
    }

    /// Nothing is sent any more by the schedule that a message has.
    pub(super) fn recall(&mut self, message: &Stored) {
        if message
            .record
            .computed_value(Source::ScheduledStart)
            .is_some()
        {
            self.ledger
                .change(Change::Recall(message.record.meta().id.clone()));
        }
    }

    /// The dates alone, of a schedule that somebody else has kept.
    pub(super) fn set_dates(
        &mut self,
        mut message: Stored,
        start: Option<Timestamp>,
        stop: Option<Timestamp>,
    ) -> Stored {
        self.ledger.note(&message);
        self.ledger.change(Change::SetSchedule {
            at: message.at(),
            start,
            stop,
        });
        for (source, date) in [
            (Source::ScheduledStart, start),
            (Source::ScheduledStop, stop),
        ] {
            message
                .record
                .set_computed(source, date.map(Computed::Timestamp));
        }
        message
    }
}
