//! Totals, kept exact in the transaction that changes what they count (COL-23, RES-petition-10).

use rusqlite::OptionalExtension;
use svc_core::{
    error::{Error, Result},
    value::Amount,
};

use crate::{
    record_id::RecordId,
    rows::Stored,
    schema::{Table, table},
    session::{Session, collection},
};

/// What the attendances of an event or the donations of a page come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sum {
    pub(crate) accepted: i64,
    pub(crate) tickets: i64,
    pub(crate) amount: Amount,
}

/// The owner of the collection of all records.
const ALL: &[u8] = &[];

impl Session<'_> {
    /// A record is new: it counts in every collection it is in.
    pub(crate) fn count(&mut self, stored: &Stored) -> Result<()> {
        self.count_in_all(stored, true)
    }

    /// A record goes: it counts no more.
    pub(crate) fn discount(&mut self, stored: &Stored) -> Result<()> {
        self.count_in_all(stored, false)
    }

    fn count_in_all(&mut self, stored: &Stored, is_member: bool) -> Result<()> {
        let table = stored.table();
        if table.kind.schema().has_collection() {
            self.add_records(table, 0, ALL, is_member)?;
            self.moved(collection(self.tenant, table, None), stored.seq, is_member);
        }
        for (column, link) in table.columns.iter().zip(&stored.links) {
            if let Some(owner) = link.filter(|_| column.is_scope) {
                self.count_under(table, column.kind, owner, stored.seq, is_member)?;
            }
        }
        Ok(())
    }

    /// A record comes under another, or leaves it.
    pub(crate) fn count_under(
        &mut self,
        members: &Table,
        kind: svc_core::model::Kind,
        owner: RecordId,
        seq: i64,
        is_member: bool,
    ) -> Result<()> {
        let of = table(kind);
        self.add_records(members, of.code, owner.as_bytes(), is_member)?;
        self.moved(collection(self.tenant, members, Some((of, owner))), seq, is_member);
        Ok(())
    }

    fn add_records(&self, members: &Table, scope: i64, owner: &[u8], is_member: bool) -> Result<()> {
        let change: i64 = if is_member { 1 } else { -1 };
        self.file
            .prepare_cached(
                "INSERT INTO total (tenant, kind, scope, owner, records) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT DO UPDATE SET records = records + excluded.records",
            )?
            .execute((self.tenant, members.code, scope, owner, change))?;
        Ok(())
    }

    /// How many records of a kind are under a record.
    pub(crate) fn records_under(&self, members: &Table, owner: &Table, id: RecordId) -> Result<u64> {
        Ok(records(self.file, self.tenant, members, Some((owner, id)))?)
    }

    /// What the counted members of a record come to.
    pub(crate) fn sum(&self, members: &Table, owner: &Table, id: RecordId) -> Result<Sum> {
        let row = self
            .file
            .prepare_cached(
                "SELECT accepted, tickets, amount FROM total WHERE tenant = ?1 AND kind = ?2 AND scope = ?3 AND owner = ?4",
            )?
            .query_row((self.tenant, members.code, owner.code, id), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?))
            })
            .optional()?;
        let Some((accepted, tickets, amount)) = row else { return Ok(Sum::default()) };
        Ok(Sum { accepted, tickets, amount: stored_amount(&amount)? })
    }

    /// Sets what the counted members of a record come to.
    pub(crate) fn set_sum(&self, members: &Table, owner: &Table, id: RecordId, sum: Sum) -> Result<()> {
        self.file
            .prepare_cached(
                "INSERT INTO total (tenant, kind, scope, owner, accepted, tickets, amount)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE
                 SET accepted = excluded.accepted, tickets = excluded.tickets, amount = excluded.amount",
            )?
            .execute((self.tenant, members.code, owner.code, id, sum.accepted, sum.tickets, sum.amount.to_string()))?;
        Ok(())
    }

    /// One part of such a sum: a currency of a page, a ticket level of an event.
    pub(crate) fn part(&self, owner: RecordId, name: &str) -> Result<Sum> {
        let row = self
            .file
            .prepare_cached("SELECT tickets, amount FROM part WHERE tenant = ?1 AND owner = ?2 AND name = ?3")?
            .query_row((self.tenant, owner, name), |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))
            .optional()?;
        let Some((tickets, amount)) = row else { return Ok(Sum::default()) };
        Ok(Sum { accepted: 0, tickets, amount: stored_amount(&amount)? })
    }

    /// Sets one part of such a sum.
    pub(crate) fn set_part(&self, owner: RecordId, name: &str, part: Sum) -> Result<()> {
        self.file
            .prepare_cached(
                "INSERT INTO part (tenant, owner, name, tickets, amount) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT DO UPDATE SET tickets = excluded.tickets, amount = excluded.amount",
            )?
            .execute((self.tenant, owner, name, part.tickets, part.amount.to_string()))?;
        Ok(())
    }

    /// Every part of a sum, by name.
    pub(crate) fn parts(&self, owner: RecordId) -> Result<Vec<(String, Sum)>> {
        let mut statement = self
            .file
            .prepare_cached("SELECT name, tickets, amount FROM part WHERE tenant = ?1 AND owner = ?2 ORDER BY name")?;
        let mut rows = statement.query((self.tenant, owner))?;
        let mut parts = Vec::new();
        while let Some(row) = rows.next()? {
            let amount = stored_amount(row.get_ref(2)?.as_str()?)?;
            parts.push((row.get(0)?, Sum { accepted: 0, tickets: row.get(1)?, amount }));
        }
        Ok(parts)
    }

    /// Forgets every total of the collections under a record that goes.
    pub(crate) fn forget_totals(&self, owner: &Table, id: RecordId) -> Result<()> {
        for member in svc_core::model::Kind::ALL {
            let members = table(*member);
            if members.scope(owner.kind).is_some() {
                self.file
                    .prepare_cached("DELETE FROM total WHERE tenant = ?1 AND kind = ?2 AND scope = ?3 AND owner = ?4")?
                    .execute((self.tenant, members.code, owner.code, id))?;
            }
        }
        self.file.prepare_cached("DELETE FROM part WHERE tenant = ?1 AND owner = ?2")?.execute((self.tenant, id))?;
        Ok(())
    }
}

/// How many records a collection has.
pub(crate) fn records(
    file: &rusqlite::Connection,
    tenant: i64,
    members: &Table,
    owner: Option<(&Table, RecordId)>,
) -> rusqlite::Result<u64> {
    let (scope, id) = owner.as_ref().map_or((0, ALL), |(of, id)| (of.code, id.as_bytes()));
    let records: Option<i64> = file
        .prepare_cached("SELECT records FROM total WHERE tenant = ?1 AND kind = ?2 AND scope = ?3 AND owner = ?4")?
        .query_row((tenant, members.code, scope, id), |row| row.get(0))
        .optional()?;
    Ok(records.and_then(|records| u64::try_from(records).ok()).unwrap_or_default())
}

fn stored_amount(text: &str) -> Result<Amount> {
    Amount::parse(text).ok_or_else(|| Error::unexpected("a stored sum is not an amount"))
}
