//! Deleting a record, and what goes or stays with it (CRU-05, UND-26).

use svc_core::{
    Delete,
    context::Context,
    error::{Code, Error, Problem, Result},
    link::Address,
    model::{Kind, Resource},
};

use crate::{
    identifiers,
    record_id::RecordId,
    rows::{Stored, at, by_row},
    schema::{Table, table},
    session::Session,
    store::Store,
};

#[async_trait::async_trait]
impl<R: Resource> Delete<R> for Store {
    async fn delete(&self, cx: &Context, address: &Address) -> Result<bool> {
        let address = Address { kind: R::KIND, ..address.clone() };
        self.write(cx, move |session| {
            let Some(stored) = at(session.file, session.tenant, &address)? else { return Ok(false) };
            session.delete(&stored)?;
            Ok(true)
        })
        .await
    }
}

/// What becomes of the records that lead to one that goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// They go, too.
    Go,
    /// They keep it from going.
    Hold,
    /// They stay, without the link.
    Stay,
}

/// What becomes of a record whose `column` leads to a record that goes (UND-26).
fn fate(member: &Table, place: usize) -> Fate {
    let Some(column) = member.columns.get(place) else { return Fate::Stay };
    let is_parent = member.parent == Some(place);
    match (column.kind, member.kind) {
        (Kind::Person, Kind::Tagging | Kind::Item | Kind::Answer) if column.name == "person" => Fate::Go,
        (Kind::Tag | Kind::List | Kind::Person, _) if is_parent => Fate::Go,
        _ if is_parent => Fate::Hold,
        _ => Fate::Stay,
    }
}

impl Session<'_> {
    /// Deletes a record, or ends the write when others hold it.
    pub(crate) fn delete(&mut self, stored: &Stored) -> Result<()> {
        let owner = stored.table();
        for member in Kind::ALL.iter().map(|kind| table(*kind)) {
            for (place, column) in member.columns.iter().enumerate().filter(|(_, column)| column.kind == stored.kind) {
                match fate(member, place) {
                    Fate::Hold => {
                        if self.records_under(member, owner, stored.id)? > 0 {
                            let text = format!("The {} still has {}.", owner.kind.singular(), member.kind.plural());
                            return Err(Error::invalid(Problem::general(Code::HasDependents, text)));
                        }
                    }
                    Fate::Go => self.delete_all(member, place, stored.id)?,
                    Fate::Stay => {
                        if column.name == "person" {
                            self.forget_person_in(member, place, stored.id)?;
                        }
                        if let Some(sql) = member.sql.clear_column.get(place) {
                            self.file.prepare_cached(sql)?.execute((self.tenant, stored.id))?;
                        }
                    }
                }
            }
        }
        if stored.kind == Kind::Person {
            self.erase_traces(stored)?;
        }
        self.remove(stored)
    }

    /// Deletes every record whose column leads to `id`.
    fn delete_all(&mut self, member: &Table, place: usize, id: RecordId) -> Result<()> {
        for seq in self.rows_under(member, place, id)? {
            if let Some(stored) = by_row(self.file, self.tenant, member.kind, seq)? {
                self.delete(&stored)?;
            }
        }
        Ok(())
    }

    /// Every row whose column leads to `id`.
    pub(crate) fn rows_under(&self, member: &Table, place: usize, id: RecordId) -> Result<Vec<i64>> {
        let Some(sql) = member.sql.scan_under.get(place) else { return Ok(Vec::new()) };
        let mut statement = self.file.prepare_cached(sql)?;
        let rows = statement.query_map((self.tenant, id), |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Removes a row, everything that finds it, and what it counts for.
    fn remove(&mut self, stored: &Stored) -> Result<()> {
        let table = stored.table();
        let is_settled = matches!(stored.kind, Kind::Attendance | Kind::Donation | Kind::Person);
        let fields = if is_settled { Some(stored.fields(self.names())?) } else { None };
        match (stored.kind, stored.parent()) {
            (Kind::Attendance, Some(event)) => {
                self.settle_attendance(event, fields.as_ref(), None, false)?;
                self.file
                    .prepare_cached("DELETE FROM holder WHERE tenant = ?1 AND attendance = ?2")?
                    .execute((self.tenant, stored.seq))?;
            }
            (Kind::Donation, Some(page)) => self.settle_donation(page, fields.as_ref(), None)?,
            (Kind::Person, _) => self.tie_emails(stored.seq, fields.as_ref(), None)?,
            _ => {}
        }
        self.check()?;
        self.discount(stored)?;
        self.free_identifiers(table, &identifiers::parse(&stored.identifiers))?;
        self.forget_totals(table, stored.id)?;
        self.file.prepare_cached(&table.sql.delete)?.execute((self.tenant, stored.seq))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// UND-26: the whole table of who goes, who holds and who stays.
    #[test]
    fn fates() {
        let fate_of = |member: Kind, column: &str| fate(table(member), table(member).column(column).unwrap());
        for member in [Kind::Signature, Kind::Submission, Kind::Donation, Kind::Attendance, Kind::Outreach] {
            assert_eq!(fate_of(member, "person"), Fate::Stay, "{member:?}");
            let parent = member.schema().parent.unwrap();
            assert_eq!(fate_of(member, parent), Fate::Hold, "{member:?}");
        }
        assert_eq!(fate_of(Kind::Answer, "question"), Fate::Hold);
        for (member, column) in [
            (Kind::Answer, "person"),
            (Kind::Tagging, "person"),
            (Kind::Item, "person"),
            (Kind::Tagging, "tag"),
            (Kind::Item, "list"),
            (Kind::Canvass, "target"),
        ] {
            assert_eq!(fate_of(member, column), Fate::Go, "{member:?} {column}");
        }
        for (member, column) in [
            (Kind::Answer, "submission"),
            (Kind::Answer, "canvass"),
            (Kind::Tagging, "canvass"),
            (Kind::Canvass, "canvasser"),
            (Kind::Donation, "attendance"),
            (Kind::Event, "organizer"),
            (Kind::Petition, "creator"),
            (Kind::Person, "modified_by"),
        ] {
            assert_eq!(fate_of(member, column), Fate::Stay, "{member:?} {column}");
        }
    }
}
