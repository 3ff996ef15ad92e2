//! The clocks of tenants within one transaction: its jobs take their moments from memory, and the last is stored once.

use std::collections::HashMap;

use rusqlite::Connection;
use svc_core::value::Timestamp;

/// The moments of the last turns that changed something.
#[derive(Debug, Default)]
pub(crate) struct Turns(HashMap<i64, Timestamp>);

impl Turns {
    /// The moment of the tenant's last turn.
    pub(crate) fn last(&self, file: &Connection, tenant: i64) -> rusqlite::Result<Timestamp> {
        if let Some(last) = self.0.get(&tenant) {
            return Ok(*last);
        }
        let mut clock = file.prepare_cached("SELECT clock FROM tenant WHERE id = ?1")?;
        clock.query_row([tenant], |row| row.get(0)).map(Timestamp::from_micros)
    }

    /// Notes the moment of a turn: the next one is later. Only when its job cannot fail any more: it is not undone with the
    /// job, though a moment too late would do no harm.
    pub(crate) fn set_last(&mut self, tenant: i64, time: Timestamp) {
        self.0.insert(tenant, time);
    }

    /// Keeps the moments in the file, right before COMMIT.
    pub(crate) fn store(&self, file: &Connection) -> rusqlite::Result<()> {
        self.0.iter().try_for_each(|(tenant, last)| {
            let mut update = file.prepare_cached("UPDATE tenant SET clock = ?2 WHERE id = ?1")?;
            update.execute((tenant, last.micros())).map(drop)
        })
    }
}
