//! Schedules a message and cancels its schedule. Both are changes of the message.
//!
//! Requirements: SCH-01 to SCH-08, TYP-16.

use super::{RuleContext, RuleResult};
use crate::{
    error::{Error, ErrorCode, Problem},
    helper::ScheduleChange,
    link::RecordAddress,
    outbox::OutboxPayload,
    record::ComputedValue,
    schema::ComputedSource,
    store::{Change, LookupKey, StoredRecord},
    value::Timestamp,
};

impl RuleContext<'_> {
    /// Sets or clears the schedule dates of a message.
    pub(super) fn schedule_message(
        &mut self,
        message: &RecordAddress,
        dates: ScheduleChange,
    ) -> RuleResult<StoredRecord> {
        let message = self
            .ledger
            .record(&LookupKey::from(message))?
            .ok_or_else(Error::not_found)?;
        match dates {
            ScheduleChange::Set { start, stop } => {
                Ok(self.set_schedule(message, Some(start), stop))
            }
            ScheduleChange::Cancel
                if message
                    .record
                    .computed_value(ComputedSource::ScheduledStart)
                    .is_some() =>
            {
                Ok(self.set_schedule(message, None, None))
            }
            ScheduleChange::Cancel => {
                let problem = Problem::for_request(
                    ErrorCode::MessageNotScheduled,
                    "The message is not scheduled.",
                );
                Err(Error::invalid(problem).into())
            }
        }
    }

    /// Sets the dates of a schedule, and its outbox entry. The same dates do not change the message. If
    /// the start is past, its outbox entry can be gone, so it gets a new one.
    pub(super) fn set_schedule(
        &mut self,
        message: StoredRecord,
        start: Option<Timestamp>,
        stop: Option<Timestamp>,
    ) -> StoredRecord {
        let is_waiting = start.is_none_or(|start| start > self.turn.timestamp);
        if is_waiting && has_dates(&message, start, stop) {
            return message;
        }
        self.recall(&message);
        if let Some(start) = start {
            self.send(OutboxPayload::Message {
                message: message.record.meta().id.clone(),
                start,
                stop,
            });
        }
        self.set_dates(message, start, stop)
    }

    /// Removes the outbox entry of the schedule of a message.
    pub(super) fn recall(&mut self, message: &StoredRecord) {
        if message
            .record
            .computed_value(ComputedSource::ScheduledStart)
            .is_some()
        {
            self.ledger
                .change(Change::CancelMessage(message.record.meta().id.clone()));
        }
    }

    /// Sets only the dates of a schedule, without an outbox entry. Used for imported records.
    pub(super) fn set_dates(
        &mut self,
        mut message: StoredRecord,
        start: Option<Timestamp>,
        stop: Option<Timestamp>,
    ) -> StoredRecord {
        if has_dates(&message, start, stop) {
            return message;
        }
        self.ledger.note(&message);
        self.advance_date(&mut message);
        self.ledger.change(Change::SetSchedule {
            at: message.at(),
            modified: message.record.meta().modified,
            start,
            stop,
        });
        for (source, date) in schedule(start, stop) {
            message.record.set_computed(source, date);
        }
        message
    }
}

/// Returns whether a message has these dates.
fn has_dates(message: &StoredRecord, start: Option<Timestamp>, stop: Option<Timestamp>) -> bool {
    schedule(start, stop)
        .iter()
        .all(|(source, date)| message.record.computed_value(*source) == date.as_ref())
}

/// Returns the computed values of a schedule.
fn schedule(
    start: Option<Timestamp>,
    stop: Option<Timestamp>,
) -> [(ComputedSource, Option<ComputedValue>); 2] {
    [
        (ComputedSource::ScheduledStart, start),
        (ComputedSource::ScheduledStop, stop),
    ]
    .map(|(source, date)| (source, date.map(ComputedValue::Timestamp)))
}
