//! Which person a posted person is (HLP-04), and the look-up table of e-mail addresses.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension};
use svc_core::{
    error::Result,
    helper::{MatchKey, emails},
    model::Kind,
    read::Object,
};

use crate::{
    identifiers::{hash, row_with},
    schema::table,
    session::Session,
};

/// The row of the oldest person with this key.
pub(crate) fn person_with(file: &Connection, tenant: i64, key: &MatchKey) -> rusqlite::Result<Option<i64>> {
    match key {
        MatchKey::Identifier(identifier) => row_with(file, tenant, table(Kind::Person), identifier),
        MatchKey::Email(address) => file
            .prepare_cached("SELECT seq FROM email WHERE tenant = ?1 AND hash = ?2 ORDER BY seq LIMIT 1")?
            .query_row((tenant, hash(address)), |row| row.get(0))
            .optional(),
        _ => Ok(None),
    }
}

fn hashes(person: &Object) -> BTreeSet<[u8; 16]> {
    emails(person).map(|address| hash(&address)).collect()
}

impl Session<'_> {
    /// Makes a person found by its addresses, and no longer by those it had before.
    pub(crate) fn tie_emails(&self, seq: i64, before: Option<&Object>, after: Option<&Object>) -> Result<()> {
        let before = before.map(hashes).unwrap_or_default();
        let after = after.map(hashes).unwrap_or_default();
        for gone in before.difference(&after) {
            self.file.prepare_cached("DELETE FROM email WHERE tenant = ?1 AND hash = ?2 AND seq = ?3")?.execute((
                self.tenant,
                gone,
                seq,
            ))?;
        }
        for new in after.difference(&before) {
            self.file.prepare_cached("INSERT INTO email (tenant, hash, seq) VALUES (?1, ?2, ?3)")?.execute((
                self.tenant,
                new,
                seq,
            ))?;
        }
        Ok(())
    }
}
