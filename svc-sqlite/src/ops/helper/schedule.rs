//! Scheduling a message, and cancelling it (SCH-01 to SCH-08).

use svc_core::{
    error::{Code, Error, Problem, Result},
    helper::{EntryStatus, RawOutcome, RawPlan, Scheduling},
    model::Kind,
    value::Timestamp,
};

use crate::{rows::at, session::Session};

impl Session<'_> {
    /// Sets or clears the dates of a message; neither is a change of the message itself (TYP-16).
    pub(super) fn schedule(&mut self, plan: &RawPlan) -> Result<RawOutcome> {
        let message = match &plan.container {
            Some(address) => at(self.file, self.tenant, address)?,
            None => None,
        };
        let message = message.ok_or(Error::NotFound)?;
        let (start, stop) = match plan.schedule {
            Some(Scheduling::Set { start, stop }) => (Some(start), stop),
            Some(Scheduling::Cancel) => {
                if !message.computed.iter().any(|(name, _)| *name == "scheduled_start_date") {
                    let problem = Problem::general(Code::MessageNotScheduled, "The message is not scheduled.");
                    return Err(Error::invalid(problem));
                }
                (None, None)
            }
            None => return Err(Error::unexpected("a schedule call without what it asks for")),
        };
        self.set_schedule(message.seq, start, stop)?;
        let message = self.refreshed(message)?;
        let mut outcome = RawOutcome::default();
        outcome.entry(Kind::Message, EntryStatus::Existing);
        outcome.action = Some(message.into_raw());
        Ok(outcome)
    }

    /// Writes the dates of a message.
    pub(crate) fn set_schedule(&self, seq: i64, start: Option<Timestamp>, stop: Option<Timestamp>) -> Result<()> {
        self.file
            .prepare_cached(
                "UPDATE messages SET scheduled_start = ?3, scheduled_stop = ?4 WHERE tenant = ?1 AND seq = ?2",
            )?
            .execute((self.tenant, seq, start.map(Timestamp::micros), stop.map(Timestamp::micros)))?;
        Ok(())
    }
}
