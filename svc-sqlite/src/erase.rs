//! What else is known of a person that is deleted: inline ticket holders, and server responses asked for (UND-26).

use std::collections::HashMap;

use svc_core::{
    error::Result,
    helper::emails,
    model::Kind,
    read::{Json, Object},
};

use crate::{
    record_id::RecordId,
    rows::{Stored, body, by_row},
    schema::{Table, table},
    session::Session,
};

/// Stands for a ticket whose place is not known any more.
const ANY: i64 = -1;

impl Session<'_> {
    /// Erases a person that goes from the tickets it was recognised in and from the outbox.
    pub(crate) fn erase_traces(&mut self, person: &Stored) -> Result<()> {
        let fields = person.fields(self.names())?;
        let mut attendances: Vec<(i64, Vec<i64>)> = Vec::new();
        for (attendance, place) in self.holdings(person.id)? {
            match attendances.last_mut() {
                Some((last, places)) if *last == attendance => places.push(place),
                _ => attendances.push((attendance, vec![place])),
            }
        }
        for (attendance, places) in attendances {
            if let Some(stored) = by_row(self.file, self.tenant, Kind::Attendance, attendance)? {
                let mut attended = stored.fields(self.names())?;
                erase_holder(&mut attended, &fields, &places);
                self.set_body(stored.table(), stored.seq, &body(&attended, self.names()))?;
            }
        }
        for sql in [
            "DELETE FROM holder WHERE tenant = ?1 AND person = ?2",
            "DELETE FROM outbox WHERE tenant = ?1 AND person = ?2",
        ] {
            self.file.prepare_cached(sql)?.execute((self.tenant, person.id))?;
        }
        Ok(())
    }

    /// The tickets a person was recognised in: attendance and place.
    fn holdings(&self, person: RecordId) -> Result<Vec<(i64, i64)>> {
        let mut statement = self.file.prepare_cached(
            "SELECT attendance, place FROM holder WHERE tenant = ?1 AND person = ?2 ORDER BY attendance, place",
        )?;
        let rows = statement.query_map((self.tenant, person), |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Notes whom a ticket of an attendance names.
    pub(crate) fn hold(&self, attendance: i64, place: i64, person: RecordId) -> Result<()> {
        self.file
            .prepare_cached(
                "INSERT INTO holder (tenant, person, attendance, place) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
            )?
            .execute((self.tenant, person, attendance, place))?;
        Ok(())
    }

    /// Follows the holders of an attendance whose tickets were replaced: they are not recognised again
    /// (RES-attendance-14), but stay known wherever they stand now.
    pub(crate) fn move_holders(&self, attendance: i64, before: &Object, after: &Object) -> Result<()> {
        let mut statement =
            self.file.prepare_cached("SELECT person, place FROM holder WHERE tenant = ?1 AND attendance = ?2")?;
        let rows = statement.query_map((self.tenant, attendance), |row| Ok((row.get(0)?, row.get(1)?)))?;
        let held: Vec<(RecordId, i64)> = rows.collect::<rusqlite::Result<_>>()?;
        if held.is_empty() {
            return Ok(());
        }
        self.file
            .prepare_cached("DELETE FROM holder WHERE tenant = ?1 AND attendance = ?2")?
            .execute((self.tenant, attendance))?;
        let text = |holder: &Object| Json::Object(holder.clone()).to_string();
        let mut places: HashMap<String, usize> = HashMap::new();
        for place in 0..tickets(after).len() {
            if let Some(holder) = holder(after, place) {
                places.entry(text(holder)).or_insert(place);
            }
        }
        for (person, place) in held {
            let known = usize::try_from(place).ok().and_then(|place| holder(before, place));
            let now = known.and_then(|known| places.get(&text(known)).copied());
            let now = now.and_then(|place| i64::try_from(place).ok());
            self.hold(attendance, now.unwrap_or(ANY), person)?;
        }
        Ok(())
    }

    /// The totals of a collection under a person that goes; its members stay.
    pub(crate) fn forget_person_in(&mut self, member: &Table, place: usize, id: RecordId) -> Result<()> {
        let of = table(Kind::Person);
        for seq in self.rows_under(member, place, id)? {
            self.moved(crate::session::collection(self.tenant, member, Some((of, id))), seq, false);
        }
        Ok(())
    }
}

fn tickets(attendance: &Object) -> &[Json] {
    attendance.get("tickets").and_then(Json::as_array).unwrap_or_default()
}

fn holder(attendance: &Object, place: usize) -> Option<&Object> {
    tickets(attendance).get(place)?.as_object()?.get("person")?.as_object()
}

/// Removes a person from the tickets at these places, and from every other that names it.
fn erase_holder(attendance: &mut Object, person: &Object, places: &[i64]) {
    let known: Vec<String> = emails(person).collect();
    let list = attendance.get_mut("tickets").and_then(Json::as_array_mut);
    for (place, ticket) in list.into_iter().flatten().enumerate() {
        let Some(ticket) = ticket.as_object_mut() else { continue };
        let Some(holder) = ticket.get("person").and_then(Json::as_object) else { continue };
        let is_place = i64::try_from(place).is_ok_and(|place| places.contains(&place));
        let has_address = emails(holder).any(|address| known.contains(&address));
        if is_place || has_address || has_same_name(holder, person) {
            ticket.remove("person");
        }
    }
}

fn has_same_name(one: &Object, other: &Object) -> bool {
    let name = |person: &Object| {
        let part = |name| person.get(name).and_then(Json::as_str).map(str::to_lowercase);
        part("given_name").zip(part("family_name"))
    };
    name(one).is_some() && name(one) == name(other)
}
