//! Recording the action of a helper call, once however often the call is repeated (UND-24).

use std::collections::HashSet;

use svc_core::{
    draft::RawDraft,
    error::{Problem, Result},
    helper::Merge,
    link::Address,
};

use crate::{
    identifiers::{self, row_with},
    ops::create::{Holders, New},
    record_id::RecordId,
    rows::{Stored, by_row, find},
    schema::table,
    session::Session,
};

impl Session<'_> {
    /// Records an action, or finds and updates the one that an earlier try recorded (`false`).
    pub(super) fn record(&mut self, draft: RawDraft, anonymous: bool) -> Result<(Stored, bool)> {
        let prefix = if draft.kind == svc_core::model::Kind::Canvass { "canvass." } else { "" };
        match self.recorded(&draft, prefix)? {
            // A stranger leaves what is recorded as it is.
            Some(stored) if anonymous => Ok((stored, false)),
            Some(stored) => Ok((self.repeat(stored, draft)?, false)),
            None => {
                let merge = if anonymous { Merge::Fill } else { Merge::Replace };
                let new = New { prefix, holders: Holders::Recognise(merge), ..New::default() };
                self.create(RawDraft { own: None, ..draft }, &new)
            }
        }
    }

    /// The action that was recorded before under the same container: by its own id, or by an identifier.
    fn recorded(&mut self, draft: &RawDraft, prefix: &str) -> Result<Option<Stored>> {
        let table = table(draft.kind);
        let container = draft.container().and_then(|address| RecordId::parse(&address.id));
        let mut recorded: Option<Stored> = None;
        let own = match &draft.own {
            Some(own) => {
                let address = Address { kind: draft.kind, id: own.clone(), parent: None };
                Some(find(self.file, self.tenant, &address)?.map(|found| found.seq))
            }
            None => None,
        };
        let foreign = draft.identifiers.iter().map(|identifier| row_with(self.file, self.tenant, table, identifier));
        let rows: Vec<Option<i64>> = foreign.collect::<rusqlite::Result<_>>()?;
        let own_place = own.iter().map(|row| (0, *row, true));
        let foreign = rows.into_iter().enumerate().map(|(place, row)| (place, row, false));
        // Rows under other containers, each read once however many identifiers lead to it.
        let mut elsewhere: HashSet<i64> = HashSet::new();
        for (place, row, is_own) in own_place.chain(foreign).collect::<Vec<_>>() {
            // The library names each by its place in the body.
            let property =
                if is_own { format!("{prefix}identifiers") } else { format!("{prefix}identifiers[{place}]") };
            match (row, &recorded) {
                (None, _) if is_own => self.problem(Problem::identifier_in_use(&property)),
                (None, _) => {}
                (Some(row), Some(known)) if known.seq == row => {}
                (Some(_), Some(_)) => self.problem(Problem::identifier_in_use(&property)),
                (Some(row), None) if elsewhere.contains(&row) => self.problem(Problem::identifier_in_use(&property)),
                (Some(row), None) => match by_row(self.file, self.tenant, draft.kind, row)? {
                    Some(stored) if stored.parent() == container => recorded = Some(stored),
                    _ => {
                        elsewhere.insert(row);
                        self.problem(Problem::identifier_in_use(&property));
                    }
                },
            }
        }
        self.check()?;
        Ok(recorded)
    }

    /// Updates a recorded action by what the repeated call sent.
    fn repeat(&mut self, stored: Stored, draft: RawDraft) -> Result<Stored> {
        let person = draft.links.iter().find(|(name, _)| *name == "person").map(|(_, address)| address.id.clone());
        let patch = draft.repeated(identifiers::parse(&stored.identifiers), self.now);
        let mut stored = self.update(stored, &patch)?;
        // An action that had no person gets the one that is named now; another one's is not taken away.
        let column = stored.table().column("person");
        if let (Some(_), None, Some(person)) =
            (column, stored.link("person"), person.and_then(|id| RecordId::parse(&id)))
        {
            self.set_column(&stored, "person", Some(person))?;
            stored.set_link("person", Some(person));
            self.count_under(stored.table(), svc_core::model::Kind::Person, person, stored.seq, true)?;
        }
        Ok(stored)
    }
}
