//! Recognising a posted person, or making a new one, in the same transaction as the action (HLP-04).

use std::collections::HashSet;

use svc_core::{
    draft::{RawDraft, RawPatch},
    error::{Problem, Result},
    helper::{Merge, merge_person, oldest},
    link::Address,
    model::Kind,
    read::{Json, Object},
    value::{Id, Identifier},
};

use crate::{
    identifiers::{self, row_with},
    matching::person_with,
    ops::create::{Holders, New},
    rows::{Found, Stored, at, by_row},
    schema::table,
    session::Session,
};

impl Session<'_> {
    /// The person that a call posts: a known one with what was posted merged in, or a new one (`true`).
    pub(crate) fn recognise(&mut self, posted: RawDraft, merge: Merge, prefix: &str) -> Result<(Stored, bool)> {
        match self.known(&posted, merge, prefix)? {
            Some(known) => {
                self.knows(Kind::Person, Found { seq: known.seq, id: known.id, parent: None });
                Ok((self.merge(known, &posted, merge, prefix)?, false))
            }
            None => self.create(RawDraft { own: None, ..posted }, &New { prefix, ..New::default() }),
        }
    }

    /// The person that is meant: by its own id, else by the keys of the matching method.
    fn known(&mut self, posted: &RawDraft, merge: Merge, prefix: &str) -> Result<Option<Stored>> {
        if let Some(own) = &posted.own {
            let found = at(self.file, self.tenant, &Address::top(Kind::Person, own.clone()))?;
            if found.is_none() && merge == Merge::Replace {
                self.problem(Problem::identifier_in_use(&format!("{prefix}identifiers")));
            }
            if found.is_some() {
                return Ok(found);
            }
        }
        let keys = self.store.matching().keys(&posted.identifiers, &posted.fields);
        oldest(keys, |key| person_with(self.file, self.tenant, key))?
            .map(|row| by_row(self.file, self.tenant, Kind::Person, row))
            .transpose()
            .map(Option::flatten)
            .map_err(Into::into)
    }

    fn merge(&mut self, known: Stored, posted: &RawDraft, merge: Merge, prefix: &str) -> Result<Stored> {
        let before = known.fields(self.names())?;
        let mut after = before.clone();
        merge_person(&mut after, &posted.fields, merge);
        let rules = RawPatch { kind: Kind::Person, fields: Object::new(), identifiers: None, links: Vec::new() };
        if let Err(problems) = rules.apply_to(&mut after, self.now) {
            for problem in problems {
                self.problem(problem);
            }
        }
        let identifiers = self.more_identifiers(&known, &posted.identifiers, merge, prefix)?;
        // Who sees the record with a key sees by its dates that it was known (HLP-04); a stranger's call that brings
        // nothing new leaves no trace.
        if merge == Merge::Fill && identifiers.is_none() && after == before {
            return Ok(known);
        }
        self.replace(known, &before, after, identifiers.as_deref(), false)
    }

    /// The identifiers of a known person with those that were posted; `None` when there are no new ones.
    fn more_identifiers(
        &mut self,
        known: &Stored,
        posted: &[Identifier],
        merge: Merge,
        prefix: &str,
    ) -> Result<Option<Vec<Identifier>>> {
        let mut all = identifiers::parse(&known.identifiers);
        let before = all.len();
        let stored: HashSet<Identifier> = all.iter().cloned().collect();
        for (place, identifier) in posted.iter().enumerate() {
            if stored.contains(identifier) {
                continue;
            }
            match row_with(self.file, self.tenant, table(Kind::Person), identifier)? {
                // Somebody else's: a stranger does not learn that.
                Some(_) if merge == Merge::Fill => {}
                Some(_) => self.problem(Problem::identifier_in_use(&format!("{prefix}identifiers[{place}]"))),
                None => all.push(identifier.clone()),
            }
        }
        Ok((all.len() > before).then_some(all))
    }

    /// Recognises the holders named in the tickets of a new attendance (RES-attendance-14).
    ///
    /// `named` are the people that the server's own identifiers name, with the place of their ticket.
    pub(crate) fn recognise_holders(
        &mut self,
        attendance: i64,
        fields: &Object,
        named: &[(usize, Id)],
        holders: Holders,
    ) -> Result<()> {
        let list = fields.get("tickets").and_then(Json::as_array).unwrap_or_default();
        for (place, ticket) in list.iter().enumerate() {
            let holder = ticket.as_object().and_then(|ticket| ticket.get("person")).and_then(Json::as_object);
            let Some(holder) = holder else { continue };
            let mut posted = RawDraft { fields: holder.clone(), ..RawDraft::empty(Kind::Person) };
            let identifiers = posted.fields.remove("identifiers");
            let identifiers = identifiers.as_ref().and_then(Json::as_array).unwrap_or_default();
            posted.identifiers = identifiers.iter().filter_map(Json::as_str).filter_map(Identifier::parse).collect();
            posted.own = named.iter().find(|(of, _)| *of == place).map(|(_, id)| id.clone());
            if posted.fields.is_empty() && posted.identifiers.is_empty() && posted.own.is_none() {
                continue;
            }
            let person = match holders {
                Holders::Recognise(merge) => {
                    for problem in posted.complete(self.now) {
                        self.problem(problem);
                    }
                    Some(self.recognise(posted, merge, &format!("tickets[{place}].person."))?.0)
                }
                Holders::Note => self.known(&posted, Merge::Fill, "")?,
            };
            if let Some(person) = person {
                self.hold(attendance, i64::try_from(place).unwrap_or_default(), person.id)?;
            }
        }
        Ok(())
    }
}
