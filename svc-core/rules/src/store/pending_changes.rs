//! What the calls of one transaction have changed, as later calls see it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::{
    Change, CountDeltas, InsertRecord, LookupKey, ReplaceRecord, StoredRecord, StoredResponse,
    Totals,
};
use crate::{
    model::Kind,
    record::{ComputedValue, RawRecord},
    schema::ComputedSource,
    value::Id,
};

/// What the calls of one transaction have changed so far.
///
/// A store that applies the changes of each call at once needs none: it hands an empty one to every
/// call, or one with nothing but the [`counts`](Self::counts) that it writes later.
#[derive(Debug, Clone, Default)]
pub struct PendingChanges {
    /// Records as they are now, but for the members that [`counts`](Self::counts) has; `None` for
    /// one that is gone.
    pub(super) records: HashMap<(Kind, Id), Option<StoredRecord>>,
    /// Whom names, identifiers and e-mail addresses lead to now; `None` for nobody.
    pub(super) keys: HashMap<LookupKey, Option<(Kind, Id)>>,
    /// How many members collections have won.
    pub counts: CountDeltas,
    /// New memberships, by group and person.
    pub(super) members: HashMap<(Kind, Id, Id), Id>,
    /// New answers, by person.
    pub(super) answers: HashMap<Id, Vec<Id>>,
    pub(super) sums: HashMap<(Kind, Id), Totals>,
    pub(super) parts: HashMap<(Kind, Id), BTreeMap<String, Totals>>,
    /// Answers that are kept, by their keys.
    pub(super) kept: HashMap<Arc<str>, StoredResponse>,
    /// Something was changed that cannot be told apart from what is stored: see
    /// [`RuleError::UnflushedChanges`].
    pub(super) unsettled: bool,
}

impl PendingChanges {
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty() && !self.unsettled
    }

    /// Takes over what a call has changed.
    pub fn absorb(&mut self, changes: &[Change]) {
        for change in changes {
            self.apply(change);
        }
    }

    pub(super) fn apply(&mut self, change: &Change) {
        match change {
            Change::Insert(insert) => self.insert(insert),
            Change::Replace(replace) => self.replace(replace),
            Change::SetFields { at, fields } => {
                self.edit(at.kind, &at.id, |record| record.set_fields(fields.clone()));
            }
            Change::SetSchedule { at, start, stop } => self.edit(at.kind, &at.id, |record| {
                for (source, date) in [
                    (ComputedSource::ScheduledStart, start),
                    (ComputedSource::ScheduledStop, stop),
                ] {
                    record.set_computed(source, date.map(ComputedValue::Timestamp));
                }
            }),
            Change::SetTotals { of, members, sum } => {
                self.sums.insert(of.clone(), *sum);
                self.edit(of.0, &of.1, |record| sum.show_on(record, *members));
            }
            Change::SetPartTotals { of, name, sum } => {
                self.parts
                    .entry(of.clone())
                    .or_default()
                    .insert(name.clone(), *sum);
            }
            Change::StoreResponse(kept) => _ = self.kept.insert(Arc::clone(&kept.key), (**kept).clone()),
            Change::Enqueue(_) | Change::CancelMessage(_) => {}
            // Sets, collections, and what tickets note, are known to the store alone.
            Change::Delete(_)
            | Change::SetLink { .. }
            | Change::ClearLink { .. }
            | Change::AddTicketHolder { .. }
            | Change::MoveTicketHolders { .. }
            | Change::ErasePersonTraces(_) => self.unsettled = true,
        }
    }

    fn insert(&mut self, insert: &InsertRecord) {
        let record = &insert.record;
        let (kind, id) = (record.kind(), record.meta().id.clone());
        let own = Some((kind, id.clone()));
        for identifier in &insert.identifiers {
            self.keys
                .insert(LookupKey::Identifier(kind, identifier.clone()), own.clone());
        }
        if let Some(name) = &insert.name {
            self.keys
                .insert(LookupKey::Name(kind, name.clone()), own.clone());
        }
        self.records.insert(
            (kind, id.clone()),
            Some(StoredRecord::new(StoredRecord::UNSAVED_ROW, record.clone())),
        );
        for email in &insert.emails {
            self.tie_email(email, kind, &id);
        }
        if let Some([group, person]) = kind.schema().unique_links()
            && let (Some(group), Some(person)) = (record.link(group), record.link(person))
        {
            self.members
                .insert((kind, group.id.clone(), person.id.clone()), id.clone());
        }
        if kind == Kind::Answer
            && let Some(person) = record.link(Kind::Person.singular())
        {
            self.answers.entry(person.id.clone()).or_default().push(id);
        }
        for reference in kind
            .schema()
            .references()
            .iter()
            .filter(|reference| reference.is_scope)
        {
            if let Some(owner) = record.link(reference.name) {
                self.counts.add(kind, Some((reference.kind, &owner.id)), 1);
            }
        }
    }

    /// Makes a person found by an address, unless an older one is.
    fn tie_email(&mut self, email: &str, kind: Kind, id: &Id) {
        let row = |of: &(Kind, Id)| {
            self.records
                .get(of)
                .and_then(Option::as_ref)
                .map_or(StoredRecord::UNSAVED_ROW, |it| it.row)
        };
        let key = LookupKey::Email(email.to_owned());
        let own = (kind, id.clone());
        let has_older = self
            .keys
            .get(&key)
            .and_then(Option::as_ref)
            .is_some_and(|known| row(known) <= row(&own));
        if !has_older {
            self.keys.insert(key, Some(own));
        }
    }

    fn replace(&mut self, replace: &ReplaceRecord) {
        let (kind, id) = (replace.target.kind, &replace.target.id);
        let own = Some((kind, id.clone()));
        for identifier in &replace.removed_identifiers {
            self.keys
                .insert(LookupKey::Identifier(kind, identifier.clone()), None);
        }
        for identifier in &replace.added_identifiers {
            self.keys
                .insert(LookupKey::Identifier(kind, identifier.clone()), own.clone());
        }
        if let Some(name) = &replace.name {
            self.keys.insert(LookupKey::Name(kind, name.clone()), own);
        }
        for email in &replace.added_emails {
            self.tie_email(email, kind, id);
        }
        // Who else has an address that is freed is known to the store alone; and so is who has a
        // name that is free now.
        let renames = kind.schema().unique_name().is_some();
        self.unsettled |= renames || !replace.removed_emails.is_empty();
        self.edit(kind, id, |record| {
            record.meta_mut().modified = replace.modified;
            record.meta_mut().identifiers = replace.identifiers.clone();
            record.set_fields(replace.fields.clone());
        });
    }

    /// Changes a record that is known here.
    fn edit(&mut self, kind: Kind, id: &Id, edit: impl FnOnce(&mut RawRecord)) {
        match self.records.get_mut(&(kind, id.clone())) {
            Some(Some(stored)) => edit(&mut stored.record),
            // The rule had it in hand, and has noted it before: see [`Ledger::note`].
            _ => self.unsettled = true,
        }
    }
}
