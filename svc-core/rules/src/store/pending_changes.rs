//! The changes of a transaction, as its later requests see them.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::{
    Change, ChangeTarget, CountDeltas, InsertRecord, LookupKey, ReplaceRecord, StoredRecord,
    StoredResponse, Totals,
};
use crate::{
    filter::name_key,
    link::{LinkValue, RecordAddress},
    model::Kind,
    record::{ComputedValue, RawRecord},
    schema::ComputedSource,
    value::Id,
};

/// The changes of the requests of one transaction so far.
///
/// A store that applies the changes of each request immediately does not need them. It passes an
/// empty value to every request, or one that only contains the [`counts`](Self::counts) it writes
/// later.
#[derive(Debug, Clone, Default)]
pub struct PendingChanges {
    /// The current records, except for the members that depend on [`counts`](Self::counts). `None`
    /// for a deleted record.
    pub(super) records: HashMap<(Kind, Id), Option<StoredRecord>>,
    /// The record for each name, identifier and e-mail address. `None` if no record has it. The form in
    /// which the name of a new record is compared is a key, too.
    pub(super) keys: HashMap<LookupKey, Option<(Kind, Id)>>,
    /// The people who got an e-mail address, in order.
    pub(super) email_holders: HashMap<String, Vec<Id>>,
    /// The changes of collection counts.
    pub counts: CountDeltas,
    /// The new memberships and the newest new actions, by group and person.
    pub(super) members: HashMap<(Kind, Id, Id), Id>,
    /// The new answers, by person.
    pub(super) answers: HashMap<Id, Vec<Id>>,
    pub(super) sums: HashMap<(Kind, Id), Totals>,
    pub(super) parts: HashMap<(Kind, Id), BTreeMap<String, Totals>>,
    /// The stored responses, by key.
    pub(super) kept: HashMap<Arc<str>, StoredResponse>,
    /// Whether there are changes that cannot be combined with stored data: see
    /// [`RuleError::UnflushedChanges`].
    pub(super) unsettled: bool,
}

impl PendingChanges {
    /// Returns the record with a key other than an id, if these changes determine it.
    pub(super) fn keyed(&self, key: &LookupKey) -> Option<&Option<(Kind, Id)>> {
        let same_name = || match key {
            LookupKey::Name(kind, name) => {
                let form = name_key(*kind, name)?.text().to_owned();
                self.keys.get(&LookupKey::Name(*kind, form))
            }
            _ => None,
        };
        self.keys.get(key).or_else(same_name)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty() && !self.unsettled
    }

    /// Adds the changes of a request.
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
            Change::SetSchedule {
                at,
                modified,
                start,
                stop,
            } => self.edit(at.kind, &at.id, |record| {
                record.meta_mut().modified = *modified;
                for (source, date) in [
                    (ComputedSource::ScheduledStart, start),
                    (ComputedSource::ScheduledStop, stop),
                ] {
                    record.set_computed(source, date.map(ComputedValue::Timestamp));
                }
            }),
            Change::SetLink { at, link, to, .. } => self.set_link(at, link, to.as_ref()),
            Change::SetTotals { of, sum } => {
                self.sums.insert(of.clone(), sum.clone());
                self.edit(of.0, &of.1, |record| sum.show_on(record));
            }
            Change::SetPartTotals { of, name, sum } => {
                self.parts
                    .entry(of.clone())
                    .or_default()
                    .insert(name.clone(), sum.clone());
            }
            Change::StoreResponse(kept) => {
                _ = self.kept.insert(Arc::clone(&kept.key), (**kept).clone());
            }
            Change::Enqueue(_)
            | Change::CancelMessage(_)
            | Change::AddIndexValues { .. }
            | Change::StoreMerge(_)
            | Change::SetApart(_) => {}
            // Only the store knows sets, collections and ticket holders.
            Change::Delete(_)
            | Change::ClearLink { .. }
            | Change::AddTicketHolder { .. }
            | Change::MoveTicketHolders { .. }
            | Change::ErasePersonTraces(_)
            | Change::ForwardPerson { .. }
            | Change::RestorePerson(_) => self.unsettled = true,
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
            if let Some(form) = name_key(kind, name) {
                let form = LookupKey::Name(kind, form.text().to_owned());
                self.keys.entry(form).or_insert_with(|| own.clone());
            }
            self.keys
                .insert(LookupKey::Name(kind, name.clone()), own.clone());
        }
        self.records.insert(
            (kind, id.clone()),
            Some(StoredRecord::new(StoredRecord::UNSAVED_ROW, record.clone())),
        );
        for email in &insert.index.emails {
            self.tie_email(email, kind, &id);
        }
        if let (Some(group), Some(person)) = (record.parent(), record.link(Kind::Person.singular()))
        {
            self.members
                .insert((kind, group.clone(), person.id.clone()), id.clone());
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

    /// Assigns an e-mail address to a person, unless an older person has it.
    fn tie_email(&mut self, email: &str, kind: Kind, id: &Id) {
        let holders = self.email_holders.entry(email.to_owned());
        holders.or_default().push(id.clone());
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
        for email in &replace.added.emails {
            self.tie_email(email, kind, id);
        }
        // Only the store knows who else has a removed address, or who has a name that is now free.
        let renames = kind.schema().unique_name().is_some();
        self.unsettled |= renames || !replace.removed.emails.is_empty();
        self.edit(kind, id, |record| {
            record.meta_mut().modified = replace.modified;
            record.meta_mut().identifiers = replace.identifiers.clone();
            record.set_fields(replace.fields.clone());
            if let Some(link) = kind.schema().link("modified_by") {
                let person = replace.modified_by.clone();
                let person = person.map(|id| RecordAddress::without_parent(Kind::Person, id));
                record.set_link(link.name, person.map(LinkValue::Local));
            }
        });
    }

    /// Changes the target of a link. Only the store knows the collections of both targets.
    fn set_link(&mut self, at: &ChangeTarget, link: &'static str, to: Option<&Id>) {
        let references = at.kind.schema().references();
        if let Some(reference) = references.iter().find(|it| it.name == link) {
            let target = to.map(|to| RecordAddress::without_parent(reference.kind, to.clone()));
            let target = target.map(LinkValue::Local);
            self.edit(at.kind, &at.id, |record| record.set_link(link, target));
        }
        self.unsettled = true;
    }

    /// Changes a record that is part of the pending changes.
    fn edit(&mut self, kind: Kind, id: &Id, edit: impl FnOnce(&mut RawRecord)) {
        match self.records.get_mut(&(kind, id.clone())) {
            Some(Some(stored)) => edit(&mut stored.record),
            // The rule has read the record and noted it before: see [`TransactionView::note`].
            _ => self.unsettled = true,
        }
    }
}
