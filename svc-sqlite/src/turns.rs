//! The clocks of tenants within one transaction: its jobs take their moments from memory, and the last is stored once.

use std::collections::{HashMap, hash_map::Entry};

use rusqlite::Connection;
use svc_core::value::Timestamp;

/// The clocks of the tenants whose calls had their turn.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    clocks: HashMap<i64, Clock>,
}

#[derive(Debug, Clone, Copy)]
struct Clock {
    last: Timestamp,
    is_stored: bool,
}

impl Turns {
    /// The moment of the tenant's last turn.
    pub(crate) fn last(&mut self, file: &Connection, tenant: i64) -> rusqlite::Result<Timestamp> {
        let clock = match self.clocks.entry(tenant) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let mut clock = file.prepare_cached("SELECT clock FROM tenant WHERE id = ?1")?;
                let last = Timestamp::from_micros(clock.query_row([tenant], |row| row.get(0))?);
                unknown.insert(Clock { last, is_stored: true })
            }
        };
        Ok(clock.last)
    }

    /// Notes the moment of a turn: the next one is later.
    pub(crate) fn set_last(&mut self, tenant: i64, time: Timestamp) {
        self.clocks.insert(tenant, Clock { last: time, is_stored: false });
    }

    /// Keeps the moments in the file, right before COMMIT.
    pub(crate) fn store(&self, file: &Connection) -> rusqlite::Result<()> {
        for (tenant, clock) in self.clocks.iter().filter(|(_, clock)| !clock.is_stored) {
            let mut update = file.prepare_cached("UPDATE tenant SET clock = ?2 WHERE id = ?1")?;
            update.execute((tenant, clock.last.micros()))?;
        }
        Ok(())
    }
}
