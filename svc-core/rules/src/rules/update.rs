//! Changes a record.
//!
//! Requirements: CRU-04, CRU-15 to CRU-20, UND-25, UND-38.

use std::{borrow::Cow, collections::HashSet};

use super::{
    RuleContext, RuleResult, TicketHolderPolicy, check, create::other_people,
    donation::changes_money, limits::exceeded_limits,
};
use crate::{
    draft::RawPatch,
    error::{Error, ErrorCode, Problem, PropertyPath},
    json::{Object, is_same},
    link::{LinkValue, RecordAddress},
    model::Kind,
    record::{Identifiers, RawRecord},
    schema::fill_nested_computed,
    store::{Change, IndexValues, ReplaceRecord, StoredRecord},
    value::{Id, Identifier},
};

impl RuleContext<'_> {
    /// Changes the record at an address. Returns `None` if it does not exist.
    pub(super) fn update_at(
        &mut self,
        at: &RecordAddress,
        patch: &RawPatch,
    ) -> RuleResult<Option<StoredRecord>> {
        let Some(stored) = self.own_record(at)? else {
            return Ok(None);
        };
        if patch
            .if_match
            .is_some_and(|seen| !seen.matches(stored.record.meta()))
        {
            return Err(Error::conflict().into());
        }
        self.call.check(&stored.record)?;
        let before = match self.fields(&stored.record) {
            // The new fields replace a damaged body. This is not possible for members of a total,
            // because their old contribution is only known from a backup.
            Err(_) if !matches!(at.kind, Kind::Attendance | Kind::Donation) => Object::new(),
            fields => fields?,
        };
        self.update(stored, &before, patch).map(Some)
    }

    /// Changes a record by a merge patch, including everything that depends on its fields. A patch
    /// without a different value changes nothing.
    ///
    /// Requirements: CRU-19.
    pub(super) fn update(
        &mut self,
        mut stored: StoredRecord,
        before: &Object,
        patch: &RawPatch,
    ) -> RuleResult<StoredRecord> {
        if let Some(steps) = self.turn.steps {
            return self.update_in_step(steps, stored, before, patch);
        }
        let kind = stored.record.kind();
        let own = stored.record.address();
        let (links, mut problems) = self.follow_changed_links(patch)?;
        let moved = MovedRecord::of(&stored.record, &links);
        problems.extend(self.second_of_person(kind, &own, &moved)?);
        let named = self.people(&patch.holders, &mut problems)?;
        let (mut after, broken) = patch.applied_to(before, self.call.received_at);
        problems.extend(broken);
        match kind {
            Kind::Event => {
                let sold = &patch.sold_tickets;
                problems.extend(self.continue_levels(&own.id, before, &mut after, sold)?);
                // Levels can have got the currency of their tickets.
                let levels = after.get("ticket_levels").cloned();
                if let Some(levels) = levels.filter(|_| patch.fields.contains("ticket_levels")) {
                    let mut patch = patch.clone();
                    patch.fields.insert("ticket_levels", levels);
                    let (_, broken) = patch.applied_to(before, self.call.received_at);
                    let new = broken.into_iter().filter(|it| !problems.contains(it));
                    problems.extend(new.collect::<Vec<_>>());
                }
            }
            Kind::Question => {
                problems.extend(self.change_question(&own.id, before, &after)?);
            }
            _ => {}
        }
        problems.extend(exceeded_limits(
            self.call,
            &stored.record,
            before,
            &after,
            patch,
        ));
        self.name_holders(&mut after, &named);
        // Tickets that are sent back unchanged are not checked again. Their level may no longer
        // exist.
        let tickets_sent = patch.fields.contains("tickets")
            && match (before.get("tickets"), after.get("tickets")) {
                (Some(before), Some(after)) => !is_same(before, after),
                (before, after) => before != after,
            };
        if let Some(identifiers) = &patch.identifiers {
            problems.extend(self.used_identifiers(kind, identifiers, Some(&stored.record))?);
            let others = identifiers.len();
            problems.extend(other_people(
                &self.call.namespace,
                &patch.own,
                others,
                &[&stored.record],
            ));
        }
        let name = self.unique_name(kind, &after, Some((&own, before)), &mut problems)?;
        self.ledger.note(&stored);
        let mut new_holders = None;
        match (kind, stored.record.parent().cloned()) {
            (Kind::Attendance, Some(event)) => {
                self.apply_attendance(
                    &event,
                    Some(before),
                    Some(&mut after),
                    tickets_sent,
                    &mut problems,
                )?;
                if tickets_sent {
                    let sent = after.clone();
                    let known = self.recognise_holders(
                        &mut after,
                        &named,
                        TicketHolderPolicy::LinkKnown,
                        &mut problems,
                    )?;
                    new_holders = Some((sent, known));
                }
            }
            (Kind::Donation, _) if moved.changes_container => {
                let page = moved.container.as_ref();
                self.move_donation(&stored.record, page, before, &after, &mut problems)?;
            }
            (Kind::Donation, Some(page)) if changes_money(before, &after) => {
                self.apply_donation(&page, Some(before), &after, &mut problems)?;
            }
            (Kind::Answer, Some(question)) => {
                problems.extend(self.wrong_answer(&question, Some(before), &after)?);
            }
            _ => self.measure(&stored.record, Some(before), Some(&after))?,
        }
        self.measure_again(&mut stored, before, &mut after)?;
        check(problems)?;
        fill_nested_computed(kind.schema().fields, &mut after);
        let patch = &*with_merged_identifiers(&self.call.namespace, &stored.record, patch);
        if patch.leaves_unchanged(&stored.record, (before, &after), &links) {
            return Ok(stored);
        }
        if let Some((sent, known)) = new_holders {
            self.move_holders(&stored, before, &sent);
            self.add_ticket_holder(&stored, known);
        }
        self.replace(
            &mut stored,
            before,
            &after,
            patch.identifiers.as_deref(),
            name,
        );
        for (link, to) in links {
            self.retarget_link(&mut stored, link, to);
        }
        Ok(stored)
    }

    /// Looks up the new targets of the links of a patch. Returns a problem for each target that
    /// does not exist.
    ///
    /// Requirements: CRU-16.
    pub(super) fn follow_changed_links(
        &mut self,
        patch: &RawPatch,
    ) -> RuleResult<(ChangedLinks, Vec<Problem>)> {
        let (mut links, mut problems) = (Vec::new(), Vec::new());
        for (name, to) in &patch.links {
            let found = match to {
                Some(address) => self.find_at(address)?.map(|found| found.address()),
                None => None,
            };
            if let (Some(address), None) = (to, &found) {
                problems.push(Problem::link_not_found(address.kind, name));
            }
            links.push((*name, found));
        }
        Ok((links, problems))
    }

    /// Returns the problem of a record that moves to a person or a container. There is one if the store
    /// allows one record of a person in a container, and the move would add a second one.
    ///
    /// Requirements: UND-38.
    fn second_of_person(
        &mut self,
        kind: Kind,
        own: &RecordAddress,
        moved: &MovedRecord,
    ) -> RuleResult<Option<Problem>> {
        let is_moved = moved.changes_container || moved.changes_person;
        let (Some(container), Some(person)) = (&moved.container, &moved.person) else {
            return Ok(None);
        };
        if !is_moved || !self.turn.one_per_person.contains(&kind) {
            return Ok(None);
        }
        let other = self.ledger.member(kind, container, person)?;
        let is_other = other.is_some_and(|other| other.record.meta().id != own.id);
        Ok(is_other.then(|| {
            let text = format!(
                "{{property}} cannot change, because the person already has {} there.",
                kind.with_article()
            );
            let link = kind.schema().parent.filter(|_| !moved.changes_person);
            let property = PropertyPath::link(link.unwrap_or(Kind::Person.singular()));
            Problem::new(ErrorCode::FieldInvalid, property, text)
        }))
    }

    pub(super) fn replace(
        &mut self,
        stored: &mut StoredRecord,
        before: &Object,
        after: &Object,
        identifiers: Option<&[Identifier]>,
        name: Option<String>,
    ) {
        let (mut freed, mut tied) = (Vec::new(), Vec::new());
        if let Some(identifiers) = identifiers {
            let had = stored.record.meta().identifiers.to_vec();
            let (old, new): (HashSet<&Identifier>, HashSet<&Identifier>) =
                (had.iter().collect(), identifiers.iter().collect());
            freed = had.iter().filter(|it| !new.contains(it)).cloned().collect();
            tied = identifiers
                .iter()
                .filter(|it| !old.contains(it))
                .cloned()
                .collect();
            stored.record.meta_mut().identifiers = Identifiers::from_slice(identifiers);
        }
        let kind = stored.record.kind();
        let (had, has) = (IndexValues::of(kind, before), IndexValues::of(kind, after));
        let fields = self.names().wire_members(after);
        self.advance_date(stored);
        if let Some(link) = stored.record.kind().schema().link("modified_by") {
            stored.record.set_link(link.name, self.link_to_caller());
        }
        stored.record.set_fields(fields.clone());
        self.ledger.change(Change::Replace(Box::new(ReplaceRecord {
            target: stored.at(),
            parent: stored.record.address().parent,
            modified: stored.record.meta().modified,
            modified_by: self.caller.clone(),
            fields,
            identifiers: stored.record.meta().identifiers.clone(),
            removed_identifiers: freed,
            added_identifiers: tied,
            name,
            removed: had.without(&has),
            added: has.without(&had),
        })));
    }

    /// Sets the modification date of a record that is about to change.
    ///
    /// The date always increases, even if the clock does not. A record that changes twice in one
    /// request gets one date only, because the next one may belong to the next request.
    ///
    /// Requirements: CRU-19.
    pub(super) fn advance_date(&self, stored: &mut StoredRecord) {
        let meta = stored.record.meta();
        if !self.ledger.has_dated(stored.record.kind(), &meta.id) {
            let modified = self.turn.timestamp.at_least_after(meta.modified);
            stored.record.meta_mut().modified = modified;
        }
    }

    /// Changes the target of a link.
    ///
    /// Requirements: CRU-16.
    fn retarget_link(
        &mut self,
        stored: &mut StoredRecord,
        link: &'static str,
        to: Option<RecordAddress>,
    ) {
        let from = stored.record.link(link).map(|address| address.id.clone());
        let now = to.as_ref().map(|address| address.id.clone());
        if from != now {
            self.ledger.change(Change::SetLink {
                at: stored.at(),
                link,
                from,
                to: now,
            });
        }
        stored.record.set_link(link, to.map(LinkValue::Local));
    }
}

/// The container and the person of a record after its links are changed.
struct MovedRecord {
    container: Option<Id>,
    person: Option<Id>,
    changes_container: bool,
    changes_person: bool,
}

impl MovedRecord {
    fn of(record: &RawRecord, links: &[(&'static str, Option<RecordAddress>)]) -> Self {
        let target = |link: Option<&'static str>| {
            let before = link.and_then(|link| record.link(link)).map(|to| &to.id);
            let sent = links.iter().find(|(name, _)| Some(*name) == link);
            let after = sent.map_or(before, |(_, to)| to.as_ref().map(|to| &to.id));
            (after.cloned(), before != after)
        };
        let (container, changes_container) = target(record.kind().schema().parent);
        let (person, changes_person) = target(Some(Kind::Person.singular()));
        Self {
            container,
            person,
            changes_container,
            changes_person,
        }
    }
}

/// Links of a patch by name, with their new targets.
type ChangedLinks = Vec<(&'static str, Option<RecordAddress>)>;

/// Returns a patch that keeps the identifiers of people who were merged into the record.
#[must_use]
pub fn with_merged_identifiers<'p>(
    namespace: &str,
    record: &RawRecord,
    patch: &'p RawPatch,
) -> Cow<'p, RawPatch> {
    let Some(sent) = patch.identifiers.as_ref().filter(|_| !namespace.is_empty()) else {
        return Cow::Borrowed(patch);
    };
    let stored = record.meta().identifiers.to_vec();
    let is_removed = |it: &Identifier| it.system() == namespace && !sent.contains(it);
    let removed = stored
        .into_iter()
        .enumerate()
        .filter(|(_, it)| is_removed(it));
    let mut identifiers = sent.clone();
    // Each has its former position, so that a request without another change changes nothing.
    for (position, identifier) in removed {
        identifiers.insert(position.min(identifiers.len()), identifier);
    }
    if identifiers.len() == sent.len() {
        return Cow::Borrowed(patch);
    }
    let mut patch = patch.clone();
    patch.identifiers = Some(identifiers);
    Cow::Owned(patch)
}
