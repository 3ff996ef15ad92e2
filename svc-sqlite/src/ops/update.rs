//! Changing a record (CRU-04, CRU-15 to CRU-20, UND-25).

use rusqlite::ToSql;
use svc_core::{
    Patch, Update,
    context::Context,
    draft::RawPatch,
    error::{Problem, Result},
    link::Address,
    model::{Kind, Resource},
    read::Object,
    record::Record,
    schema::fill_nested_computed,
    value::{Identifier, Timestamp},
};

use crate::{
    identifiers,
    record_id::RecordId,
    rows::{Stored, at, body},
    session::Session,
    store::Store,
};

#[async_trait::async_trait]
impl<R: Resource> Update<R> for Store {
    async fn update(&self, cx: &Context, address: &Address, patch: Patch<R>) -> Result<Option<Record<R>>> {
        let patch = patch.into_raw();
        let address = Address { kind: R::KIND, ..address.clone() };
        let record = self
            .write(cx, move |session| {
                let Some(stored) = at(session.file, session.tenant, &address)? else { return Ok(None) };
                let stored = session.update(stored, &patch)?;
                Ok(Some(stored.into_raw()))
            })
            .await?;
        Ok(record.map(Record::from_raw))
    }
}

impl Session<'_> {
    /// Changes a record by a merge patch; ends the write when something is wrong.
    pub(crate) fn update(&mut self, stored: Stored, patch: &RawPatch) -> Result<Stored> {
        let mut links = Vec::new();
        for (name, to) in &patch.links {
            let found = match to {
                Some(address) => self.find(address)?.map(|found| found.id),
                None => None,
            };
            if let (Some(address), None) = (to, found) {
                self.problem(Problem::leads_nowhere(address.kind, &format!("_links.{name}")));
            }
            links.push((*name, found));
        }
        let before = stored.fields(self.names())?;
        let mut after = before.clone();
        if let Err(problems) = patch.apply_to(&mut after, self.now) {
            for problem in problems {
                self.problem(problem);
            }
        }
        let stored =
            self.replace(stored, &before, after, patch.identifiers.as_deref(), patch.fields.contains("tickets"))?;
        self.lead_elsewhere(stored, &links)
    }

    /// Replaces the fields of a record, with everything that follows from them.
    pub(crate) fn replace(
        &mut self,
        mut stored: Stored,
        before: &Object,
        mut after: Object,
        identifiers: Option<&[Identifier]>,
        tickets_sent: bool,
    ) -> Result<Stored> {
        let table = stored.table();
        // Tickets that came back as they were read are none that were sent: their level may be gone by now.
        let tickets_sent = tickets_sent && before.get("tickets") != after.get("tickets");
        if let Some(identifiers) = identifiers {
            self.check_identifiers(table, identifiers, Some(stored.seq), "")?;
        }
        let typed = self.typed_value(table, &after, Some(stored.seq))?;
        match (stored.kind, stored.parent()) {
            (Kind::Attendance, Some(event)) => {
                self.settle_attendance(event, Some(before), Some(&mut after), tickets_sent)?;
                if tickets_sent {
                    self.move_holders(stored.seq, before, &after)?;
                }
            }
            (Kind::Donation, Some(page)) => self.settle_donation(page, Some(before), Some(&after))?,
            (Kind::Answer, Some(question)) => self.settle_answer(question, Some(before), &after)?,
            (Kind::Event, _) if before.get("ticket_levels") != after.get("ticket_levels") => {
                self.show_levels(stored.id, &mut after)?;
            }
            (Kind::Person, _) => self.tie_emails(stored.seq, Some(before), Some(&after))?,
            _ => {}
        }
        self.check()?;
        if let Some(identifiers) = identifiers {
            self.free_identifiers(table, &identifiers::parse(&stored.identifiers))?;
            self.tie_identifiers(table, identifiers, stored.seq)?;
            stored.identifiers = identifiers::text(identifiers);
        }
        fill_nested_computed(table.kind.schema().fields, &mut after);
        stored.body = body(&after, self.names());
        // Strictly increasing, whatever the clock does (TYP-16).
        let next = Timestamp::from_micros(stored.modified.micros().saturating_add(1));
        stored.modified = self.now.max(next);
        stored.set_link("modified_by", self.caller);
        let modified = stored.modified.micros();
        let mut values: Vec<&dyn ToSql> = vec![&self.tenant, &stored.seq, &modified, &stored.identifiers, &stored.body];
        if table.column("modified_by").is_some() {
            values.push(&self.caller);
        }
        if table.typed_column().is_some() {
            values.push(&typed);
        }
        self.file.prepare_cached(&table.sql.update)?.execute(&*values)?;
        if stored.kind == Kind::FundraisingPage {
            self.sum_up(stored.id, typed.as_deref().unwrap_or_default())?;
            self.check()?;
        }
        self.refreshed(stored)
    }

    /// Makes links of a record lead elsewhere (CRU-16).
    fn lead_elsewhere(&mut self, mut stored: Stored, links: &[(&'static str, Option<RecordId>)]) -> Result<Stored> {
        for (name, to) in links {
            self.set_column(&stored, name, *to)?;
            stored.set_link(name, *to);
        }
        Ok(stored)
    }

    /// Writes where one column of a row leads.
    pub(crate) fn set_column(&self, stored: &Stored, name: &str, to: Option<RecordId>) -> Result<()> {
        let table = stored.table();
        if let Some(sql) = table.column(name).and_then(|column| table.sql.set_column.get(column)) {
            self.file.prepare_cached(sql)?.execute((self.tenant, stored.seq, to))?;
        }
        Ok(())
    }
}
