//! Foreign identifiers: each belongs to one record of its kind and tenant (UND-24).

use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest, Sha256};
use svc_core::{
    error::{Problem, Result},
    read::{Json, Limits},
    record::Identifiers,
    value::Identifier,
};

use crate::{schema::Table, session::Session};

/// What a text is looked up by: nothing of it can be read from the file (UND-26).
pub(crate) fn hash(text: &str) -> [u8; 16] {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    digest.first_chunk().copied().unwrap_or_default()
}

/// The row of the record that has this identifier.
pub(crate) fn row_with(
    file: &Connection,
    tenant: i64,
    table: &Table,
    identifier: &Identifier,
) -> rusqlite::Result<Option<i64>> {
    file.prepare_cached("SELECT seq FROM identifier WHERE tenant = ?1 AND kind = ?2 AND hash = ?3")?
        .query_row((tenant, table.code, hash(identifier.as_str())), |row| row.get(0))
        .optional()
}

/// The identifiers in their stored form.
pub(crate) fn parse(stored: &str) -> Vec<Identifier> {
    match Json::read(format!("[{stored}]").as_bytes(), &Limits::own()) {
        Ok(Json::Array(list)) => list.iter().filter_map(Json::as_str).filter_map(Identifier::parse).collect(),
        _ => Vec::new(),
    }
}

/// Their stored form.
pub(crate) fn text(identifiers: &[Identifier]) -> String {
    Identifiers::of(identifiers).as_json().to_owned()
}

impl Session<'_> {
    /// Notes each identifier that another record than `own` has; `prefix` is where they stand in the body.
    pub(crate) fn check_identifiers(
        &mut self,
        table: &Table,
        identifiers: &[Identifier],
        own: Option<i64>,
        prefix: &str,
    ) -> Result<()> {
        for (place, identifier) in identifiers.iter().enumerate() {
            let row = row_with(self.file, self.tenant, table, identifier)?;
            if row.is_some_and(|row| Some(row) != own) {
                self.problem(Problem::identifier_in_use(&format!("{prefix}identifiers[{place}]")));
            }
        }
        Ok(())
    }

    /// Ties identifiers to a row.
    pub(crate) fn tie_identifiers(&self, table: &Table, identifiers: &[Identifier], seq: i64) -> Result<()> {
        for identifier in identifiers {
            self.file
                .prepare_cached("INSERT INTO identifier (tenant, kind, hash, seq) VALUES (?1, ?2, ?3, ?4)")?
                .execute((self.tenant, table.code, hash(identifier.as_str()), seq))?;
        }
        Ok(())
    }

    /// Frees identifiers.
    pub(crate) fn free_identifiers(&self, table: &Table, identifiers: &[Identifier]) -> Result<()> {
        for identifier in identifiers {
            self.file
                .prepare_cached("DELETE FROM identifier WHERE tenant = ?1 AND kind = ?2 AND hash = ?3")?
                .execute((self.tenant, table.code, hash(identifier.as_str())))?;
        }
        Ok(())
    }
}
