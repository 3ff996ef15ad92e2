//! Merges a person into another one.
//!
//! Every record that points to the merged person then points to the person that remains. Records of
//! which a container has only one for each person are folded: the older one remains.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fmt,
};

use bytes::Bytes;

use super::{
    RuleContext, RuleResult, check,
    create::other_people,
    delete::removal,
    initial_lookups::container_lookups,
    limits::exceeded_limits,
    undo_merge::{FormerFold, FormerPeople, FormerRecord},
};
use crate::{
    draft::RawPatch,
    error::{Error, ErrorCode, PathSegment, Problem, PropertyPath},
    helper::{OverruledValue, TightenedValue, merge_people, share_strictest},
    json::{Json, Object},
    link::{LinkValue, RecordAddress},
    model::Kind,
    record::{Identifiers, RawRecord},
    schema::fill_nested_computed,
    store::{
        Change, FoldedRecord, IndexValues, Lookup, LookupKey, MergeOutcome, MergeRequest,
        RecordSet, ReplaceRecord, RuleError, StoredRecord, WriteRequest, person_links,
    },
    value::{Id, Identifier, Timestamp},
};

/// Links to the person who created, changed or organizes a record. The record gets no new modification
/// date when such a link changes.
const UNDATED_LINKS: [&str; 3] = ["modified_by", "creator", "organizer"];

/// Returns whether a container has one record of the kind for each person.
fn is_once(kind: Kind, once: &[Kind]) -> bool {
    kind.schema().unique_links().is_some() || once.contains(&kind)
}

/// Returns the number up to which records are counted and read. It is higher than the limit by three: the
/// two people can be among the records, but are not part of the limit, and one more record shows that there
/// are too many.
fn counted(request: &MergeRequest) -> u32 {
    request.max_records.saturating_add(3)
}

/// Returns the lookup for the number of records that name the merged person.
pub(super) fn count_lookup(request: &MergeRequest) -> Lookup {
    Lookup::LinkedCount {
        person: request.merged.id.clone(),
        most: counted(request),
    }
}

/// Returns the lookups for the records that name the merged person, and for those of the remaining
/// person that they can be folded with.
fn linked_lookups(request: &MergeRequest, once: &[Kind]) -> Vec<Lookup> {
    let most = counted(request);
    let lookup = |kind, link, person: &Id| Lookup::Linked {
        kind,
        link,
        person: person.clone(),
        most,
    };
    let moved = person_links().map(|(kind, link)| lookup(kind, link, &request.merged.id));
    let folded = person_links()
        .filter(|(kind, link)| *link == MergeRequest::LINK && is_once(*kind, once))
        .map(|(kind, link)| lookup(kind, link, &request.remaining.id));
    let held = Lookup::HeldTickets(request.merged.id.clone());
    moved.chain(folded).chain([held]).collect()
}

/// A record that points to the merged person, with the links that do.
pub(super) struct LinkedRecord {
    pub(super) stored: StoredRecord,
    pub(super) links: Vec<&'static str>,
}

impl LinkedRecord {
    fn is_dated(&self) -> bool {
        self.links.iter().any(|link| !UNDATED_LINKS.contains(link))
    }
}

/// Attendances by their ids, each with the fields in which the tickets name another person.
pub(super) type RenamedHolders = BTreeMap<Id, (StoredRecord, Bytes)>;

/// Two records of one container, the older one first.
type RecordPair = (StoredRecord, StoredRecord);

/// What a merge makes of two people, before it reads other records.
#[non_exhaustive]
pub struct MergePlan {
    /// The fields of the remaining person after the merge.
    pub fields: Object,
    /// The identifiers of the remaining person after the merge, without its own one.
    pub identifiers: Vec<Identifier>,
    /// The values that the remaining person does not have.
    pub overruled: Vec<OverruledValue>,
    /// The consents that are stricter now.
    pub tightened: Vec<TightenedValue>,
    /// Why the request is rejected.
    pub problems: Vec<Problem>,
}

impl fmt::Debug for MergePlan {
    /// Omits the values, because they are personal data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MergePlan")
            .field("problems", &self.problems)
            .finish_non_exhaustive()
    }
}

impl MergePlan {
    /// Merges two people, each with its fields: the person that remains, and the other one.
    ///
    /// Requirements: MRG-03, MRG-04, MRG-05, MRG-08.
    #[must_use]
    pub fn new(
        call: &WriteRequest,
        request: &MergeRequest,
        (remaining, before): (&RawRecord, &Object),
        (merged, lost): (&RawRecord, &Object),
    ) -> Self {
        let mut result = merge_people(before, lost, request.consent);
        share_strictest(&mut result.fields, &call.person_constraints);
        let (mut overruled, mut tightened) = (result.overruled, result.tightened);
        // What the request sends replaces the result of the merge.
        let patch = request.patch.as_ref();
        let is_left = |property: &PropertyPath| match property.segments().first() {
            Some(PathSegment::Member(name)) => {
                !patch.is_some_and(|patch| patch.fields.contains(name))
            }
            _ => true,
        };
        overruled.retain(|it| is_left(&it.property));
        tightened.retain(|it| is_left(&it.property));
        let identifiers = merged_identifiers(&call.namespace, request, remaining, merged);
        let mut patch = patch
            .cloned()
            .unwrap_or_else(|| RawPatch::new(Kind::Person, Object::new()));
        let sent = patch.identifiers.take().unwrap_or_default();
        let (mut fields, mut problems) = patch.applied_to(&result.fields, call.received_at);
        patch.identifiers = Some(identifiers.clone());
        problems.extend(exceeded_limits(call, remaining, before, &fields, &patch));
        let people = [remaining, merged];
        problems.extend(other_people(
            &call.namespace,
            &patch.own,
            sent.len(),
            &people,
        ));
        if request.patch.is_some() {
            problems = problems.into_iter().map(in_person).collect();
        }
        fill_nested_computed(Kind::Person.schema().fields, &mut fields);
        Self {
            fields,
            identifiers,
            overruled,
            tightened,
            problems,
        }
    }
}

/// Returns the identifiers of the remaining person, those of the request instead if it sends any,
/// followed by the own identifier and the others of the merged person.
fn merged_identifiers(
    namespace: &str,
    request: &MergeRequest,
    remaining: &RawRecord,
    merged: &RawRecord,
) -> Vec<Identifier> {
    let sent = request.patch.as_ref();
    let sent = sent.and_then(|patch| patch.identifiers.clone());
    let mut all = sent.unwrap_or_else(|| remaining.meta().identifiers.to_vec());
    let own = match namespace {
        "" => None,
        namespace => Identifier::parse(&format!("{namespace}:{}", merged.meta().id)),
    };
    let mut seen: HashSet<Identifier> = all.iter().cloned().collect();
    // Those of people who were merged into the remaining person before.
    let earlier = remaining.meta().identifiers.to_vec().into_iter();
    let earlier = earlier.filter(|it| it.system() == namespace);
    let others = merged.meta().identifiers.to_vec();
    let new = earlier.chain(own).chain(others);
    all.extend(new.filter(|identifier| seen.insert(identifier.clone())));
    all
}

/// Returns a problem of a person as one of the member with the person.
fn in_person(problem: Problem) -> Problem {
    problem.within(&PropertyPath::member(Kind::Person.singular()))
}

impl RuleContext<'_> {
    /// Merges a person into another one.
    pub(super) fn merge(&mut self, request: &MergeRequest) -> RuleResult<MergeOutcome> {
        let Some(mut remaining) = self.own_record(&request.remaining)? else {
            return Err(Error::not_found().into());
        };
        let mut outcome = MergeOutcome::new(remaining.record.clone(), request.merged.clone());
        outcome.is_preview = request.is_preview;
        let Some(merged) = self.merged_person(request, &remaining)? else {
            outcome.is_repeated = true;
            return Ok(outcome);
        };
        // The first merge has changed the person, so a repeated one does not check this.
        self.call.check(&remaining.record)?;
        let from = merged.record.meta().id.clone();
        let to = remaining.record.address();
        // The caller can be the merged person.
        if self.caller.as_ref() == Some(&from) {
            self.caller = Some(to.id.clone());
        }
        let before = self.fields(&remaining.record)?;
        let (lost, plan) = self.planned(request, &remaining, &merged, &before)?;
        (outcome.overruled, outcome.tightened) = (plan.overruled, plan.tightened);
        let (after, identifiers) = (plan.fields, plan.identifiers);
        self.check_size(request, [&remaining, &merged])?;
        let linked = self.linked_records(request, &from)?;
        let mut former = FormerPeople::new(FormerRecord::new(&merged.record, &lost));
        let mut renamed = self.renamed_holders(&from, &to.id, &mut former)?;
        let (moved, folds) = self.folds(request, linked)?;
        let undo_for = request.undo_for.filter(|_| !request.is_preview);
        if undo_for.is_some() {
            former.forwarded = self.ledger.forwarded_to(&from)?;
            for record in &moved {
                former.add_moved(record);
            }
        }
        former.before.1 = remaining.record.meta().identifiers.to_vec();

        self.ledger.note(&remaining);
        self.replace(&mut remaining, &before, &after, None, None);
        let mut counts: BTreeMap<Kind, u64> = BTreeMap::new();
        for record in moved {
            let count = counts.entry(record.stored.record.kind()).or_default();
            *count = count.saturating_add(1);
            let id = &record.stored.record.meta().id;
            let renamed = match record.stored.record.kind() {
                Kind::Attendance => renamed.remove(id).map(|(_, fields)| fields),
                _ => None,
            };
            self.move_record(record, &from, &to, renamed);
        }
        outcome.moved = counts.into_iter().collect();
        for (older, younger) in folds {
            let pair = FoldedRecord::new(older.record.address(), younger.record.address());
            former.folds.push(self.fold(older, &younger, &from, &to)?);
            outcome.folded.push(pair);
        }
        for (attendance, fields) in renamed.into_values() {
            self.ledger.change(Change::SetFields {
                at: attendance.at(),
                fields,
            });
        }
        self.ledger
            .change(Change::ForwardPerson { from, to: to.id });
        let index = IndexValues::of(Kind::Person, &lost);
        self.ledger
            .change(Change::Delete(RecordSet::One(merged.at(), index)));
        // The identifiers of the merged person are free now.
        if identifiers != remaining.record.meta().identifiers.to_vec() {
            self.replace(&mut remaining, &after, &after, Some(&identifiers), None);
        }
        if let Some(undo_for) = undo_for {
            former.before.0 = before;
            former.after = (after, identifiers);
            outcome.undo = Some(self.store_merge(request, undo_for, &former));
        }
        outcome.person = remaining.record;
        Ok(outcome)
    }

    /// Returns the person to merge; `None` if the person was already merged into the other one.
    fn merged_person(
        &mut self,
        request: &MergeRequest,
        remaining: &StoredRecord,
    ) -> RuleResult<Option<StoredRecord>> {
        request.check_two_people(&remaining.record)?;
        let Some(merged) = self.ledger.record(&(&request.merged).into())? else {
            let problem = Problem::link_not_found(Kind::Person, MergeRequest::LINK);
            return Err(Error::invalid(problem).into());
        };
        let id = &merged.record.meta().id;
        if *id == request.merged.id {
            request.check_merged(&merged.record)?;
            return Ok(Some(merged));
        }
        if *id == remaining.record.meta().id {
            return Ok(None);
        }
        Err(MergeRequest::merged_elsewhere(merged.record.address()).into())
    }

    /// Returns the fields of the merged person, and what the merge makes of both people.
    fn planned(
        &mut self,
        request: &MergeRequest,
        remaining: &StoredRecord,
        merged: &StoredRecord,
        before: &Object,
    ) -> RuleResult<(Object, MergePlan)> {
        let lost = self.fields(&merged.record)?;
        let (kept, gone) = ((&remaining.record, before), (&merged.record, &lost));
        let mut plan = MergePlan::new(self.call, request, kept, gone);
        let sent = request.patch.as_ref();
        let sent = sent.and_then(|patch| patch.identifiers.clone());
        let sent = sent.unwrap_or_default();
        let of_merged = merged.record.meta().identifiers.to_vec();
        let used = self.used_identifiers(Kind::Person, &sent, Some(&remaining.record))?;
        let is_of_merged = |problem: &Problem| {
            let place = sent.iter().enumerate().find(|(place, _)| {
                Problem::identifier_in_use(*place).properties == problem.properties
            });
            place.is_some_and(|(_, identifier)| of_merged.contains(identifier))
        };
        let used = used.into_iter().filter(|problem| !is_of_merged(problem));
        plan.problems.extend(used.map(in_person));
        check(std::mem::take(&mut plan.problems))?;
        Ok((lost, plan))
    }

    /// Rejects a merge that would change too many records, before one of them is read.
    fn check_size(&mut self, request: &MergeRequest, people: [&StoredRecord; 2]) -> RuleResult<()> {
        let merged = &request.merged.id;
        let is_own = |person: &&&StoredRecord| {
            let mut links = person_links().filter(|(kind, _)| *kind == Kind::Person);
            links.any(|(_, link)| person.record.link(link).is_some_and(|to| to.id == *merged))
        };
        let own = people.iter().filter(is_own).count();
        let count = self.ledger.linked_count(merged, counted(request))?;
        let changed = count.saturating_sub(u64::try_from(own).unwrap_or_default());
        if changed > u64::from(request.max_records) {
            return Err(too_large(request).into());
        }
        Ok(())
    }

    /// Returns the records that point to the merged person, each once, apart from the two people.
    fn linked_records(
        &mut self,
        request: &MergeRequest,
        merged: &Id,
    ) -> RuleResult<Vec<LinkedRecord>> {
        let most = counted(request);
        let once = self.turn.one_per_person;
        let people = [merged, &request.remaining.id];
        let mut found: BTreeMap<(Kind, i64, Id), LinkedRecord> = BTreeMap::new();
        for (kind, link) in person_links() {
            let records = self.ledger.linked(kind, link, merged, most);
            let records = records.map_err(|pause| match pause {
                // One fetch for all of them.
                RuleError::MissingLookups(_) => {
                    RuleError::MissingLookups(linked_lookups(request, once))
                }
                other => other,
            });
            for stored in records? {
                let id = stored.record.meta().id.clone();
                if kind == Kind::Person && people.contains(&&id) {
                    continue;
                }
                let record = found.entry((kind, stored.row, id));
                let record = record.or_insert_with(|| LinkedRecord {
                    stored,
                    links: Vec::new(),
                });
                record.links.push(link);
            }
        }
        Ok(found.into_values().collect())
    }

    /// Returns the attendances with tickets that name the merged person, with the fields in which the
    /// tickets name the remaining person.
    fn renamed_holders(
        &mut self,
        from: &Id,
        to: &Id,
        former: &mut FormerPeople,
    ) -> RuleResult<RenamedHolders> {
        let namespace = self.call.namespace.clone();
        let mut renamed = BTreeMap::new();
        for held in self.ledger.holdings(from)? {
            let attendance = held.attendance;
            let mut fields = self.fields(&attendance.record)?;
            let mut places: BTreeSet<i64> = held.positions.into_iter().flatten().collect();
            let named = rename_holder(&mut fields, &namespace, from, to);
            places.extend(named.iter().filter_map(|place| i64::try_from(*place).ok()));
            let id = attendance.record.meta().id.clone();
            former.add_tickets(&id, &places, &fields);
            if !named.is_empty() {
                let fields = self.names().wire_members(&fields);
                renamed.insert(id, (attendance, fields));
            }
        }
        Ok(renamed)
    }

    /// Separates the records that the remaining person also has in the same container. Returns the
    /// others, and each pair with the older record first.
    fn folds(
        &mut self,
        request: &MergeRequest,
        linked: Vec<LinkedRecord>,
    ) -> RuleResult<(Vec<LinkedRecord>, Vec<RecordPair>)> {
        let once = self.turn.one_per_person;
        let most = counted(request);
        let kinds: BTreeSet<Kind> = linked
            .iter()
            .map(|record| record.stored.record.kind())
            .filter(|kind| is_once(*kind, once))
            .collect();
        let mut others: BTreeMap<(Kind, Id), StoredRecord> = BTreeMap::new();
        for kind in kinds {
            let known =
                self.ledger
                    .linked(kind, MergeRequest::LINK, &request.remaining.id, most)?;
            if known.len() > usize::try_from(request.max_records).unwrap_or(usize::MAX) {
                return Err(too_large(request).into());
            }
            for stored in known {
                if let Some(container) = stored.record.parent().cloned() {
                    others.insert((kind, container), stored);
                }
            }
        }
        let (mut moved, mut folds, mut conflicts) = (Vec::new(), Vec::new(), Vec::new());
        for record in linked {
            let kind = record.stored.record.kind();
            let container = record.stored.record.parent().cloned();
            let other = container.and_then(|container| others.remove(&(kind, container)));
            let Some(other) = other else {
                moved.push(record);
                continue;
            };
            let mut pair = [record.stored, other];
            pair.sort_by(|one, other| one.location().by_age(&other.location()));
            let [older, younger] = pair;
            if self.cannot_fold(&older, &younger)? {
                conflicts.push(conflict(kind));
            }
            folds.push((older, younger));
        }
        conflicts.dedup();
        check(conflicts)?;
        // One fetch for the containers of all pairs.
        let containers = folds.iter().filter_map(|(older, _)| {
            let parent = older.record.parent().cloned()?;
            let kind = older.record.kind();
            Some((kind, LookupKey::Id(kind.schema().parent_kind()?, parent)))
        });
        let lookups =
            containers.flat_map(|(kind, key)| container_lookups(kind, &key).collect::<Vec<_>>());
        self.ledger.require(lookups)?;
        Ok((moved, folds))
    }

    /// Returns whether a fold of two records would lose money or tickets.
    fn cannot_fold(&self, older: &StoredRecord, younger: &StoredRecord) -> RuleResult<bool> {
        let has_tickets = |stored: &StoredRecord| -> RuleResult<bool> {
            let fields = self.fields(&stored.record)?;
            let tickets = fields.get("tickets").and_then(Json::as_array);
            Ok(tickets.is_some_and(|tickets| !tickets.is_empty()))
        };
        Ok(match older.record.kind() {
            Kind::Donation => true,
            Kind::Attendance => has_tickets(older)? || has_tickets(younger)?,
            _ => false,
        })
    }

    /// Points the links of a record to another person.
    pub(super) fn move_record(
        &mut self,
        record: LinkedRecord,
        from: &Id,
        to: &RecordAddress,
        fields: Option<Bytes>,
    ) {
        let is_dated = record.is_dated();
        let LinkedRecord { mut stored, links } = record;
        for link in links {
            self.point_to(&mut stored, link, Some(from), Some(to));
        }
        if let Some(fields) = fields {
            stored.record.set_fields(fields);
        }
        if is_dated {
            let identifiers = stored.record.meta().identifiers.to_vec();
            self.replace_whole(&mut stored, &identifiers);
        }
    }

    pub(super) fn point_to(
        &mut self,
        stored: &mut StoredRecord,
        link: &'static str,
        from: Option<&Id>,
        to: Option<&RecordAddress>,
    ) {
        self.ledger.change(Change::SetLink {
            at: stored.at(),
            link,
            from: from.cloned(),
            to: to.map(|to| to.id.clone()),
        });
        stored
            .record
            .set_link(link, to.cloned().map(LinkValue::Local));
    }

    /// Replaces a record by its current fields and these identifiers, with a new modification date. The
    /// record can be found by nothing but its address and its identifiers.
    pub(super) fn replace_whole(&mut self, stored: &mut StoredRecord, identifiers: &[Identifier]) {
        self.advance_date(stored);
        let known = stored.record.meta().identifiers.to_vec();
        let is_new = |identifier: &&Identifier| !known.contains(identifier);
        let added = identifiers.iter().filter(is_new).cloned().collect();
        let is_old = |identifier: &&Identifier| !identifiers.contains(identifier);
        let removed = known.iter().filter(is_old).cloned().collect();
        stored.record.meta_mut().identifiers = Identifiers::from_slice(identifiers);
        self.ledger.change(Change::Replace(Box::new(ReplaceRecord {
            target: stored.at(),
            parent: stored.record.address().parent,
            modified: stored.record.meta().modified,
            modified_by: self.caller.clone(),
            fields: Bytes::copy_from_slice(stored.record.wire_fields()),
            identifiers: stored.record.meta().identifiers.clone(),
            removed_identifiers: removed,
            added_identifiers: added,
            name: None,
            removed: IndexValues::default(),
            added: IndexValues::default(),
        })));
    }

    /// Deletes the younger of two records. The older one then belongs to the remaining person, and gets
    /// the identifiers and the other links of the younger one, and its fields that it does not have. Returns
    /// what both were before.
    fn fold(
        &mut self,
        mut older: StoredRecord,
        younger: &StoredRecord,
        from: &Id,
        to: &RecordAddress,
    ) -> RuleResult<FormerFold> {
        let kind = older.record.kind();
        let before = self.fields(&older.record)?;
        let lost = self.fields(&younger.record)?;
        let former = [(&older.record, &before), (&younger.record, &lost)];
        let former = former.map(|(record, fields)| FormerRecord::new(record, fields));
        let mut after = folded_fields(kind, &before, &lost);
        let mut problems = Vec::new();
        if let (Kind::Attendance, Some(event)) = (kind, older.record.parent().cloned()) {
            // The places were counted before, so the capacity does not reject them.
            self.apply_attendance(&event, Some(&lost), None, false, &mut problems)?;
            let after = Some(&mut after);
            self.apply_attendance(&event, Some(&before), after, false, &mut problems)?;
        } else {
            self.measure_deleted(&younger.record)?;
            self.measure(&older.record, Some(&before), Some(&after))?;
        }
        for change in removal(RecordSet::One(younger.at(), IndexValues::default())) {
            self.ledger.change(change);
        }
        let mut is_changed = before != after;
        for reference in kind.schema().references() {
            let (had, has) = (
                older.record.link(reference.name).cloned(),
                younger.record.link(reference.name).cloned(),
            );
            match (had, has) {
                (Some(had), _) if had.kind == Kind::Person && had.id == *from => {
                    self.point_to(&mut older, reference.name, Some(from), Some(to));
                    is_changed = true;
                }
                (None, Some(has)) if has.kind != Kind::Person => {
                    self.point_to(&mut older, reference.name, None, Some(&has));
                    is_changed = true;
                }
                _ => {}
            }
        }
        let mut identifiers = older.record.meta().identifiers.to_vec();
        for identifier in younger.record.meta().identifiers.to_vec() {
            if !identifiers.contains(&identifier) {
                identifiers.push(identifier);
                is_changed = true;
            }
        }
        if is_changed {
            older.record.set_fields(self.names().wire_members(&after));
            self.replace_whole(&mut older, &identifiers);
        }
        let [older, younger] = former;
        Ok(FormerFold {
            kind,
            older,
            younger,
            after,
            identifiers,
        })
    }
}

/// Returns the problem of a merge that would change more records than allowed.
fn too_large(request: &MergeRequest) -> Error {
    let text = format!(
        "More than {} records would have to change.",
        request.max_records
    );
    let problem = Problem::new(
        ErrorCode::MergeTooLarge,
        PropertyPath::link(MergeRequest::LINK),
        text,
    );
    Error::invalid(problem.with_hint("Merge the two people the other way round."))
}

/// Returns the problem of records that both people have in a container, and of which neither can be
/// deleted.
fn conflict(kind: Kind) -> Problem {
    let text = format!(
        "Both people have {} in the same {}, which accepts one for each person.",
        kind.with_article(),
        kind.schema()
            .parent_kind()
            .map_or("container", Kind::singular)
    );
    Problem::new(
        ErrorCode::MergeConflict,
        PropertyPath::link(MergeRequest::LINK),
        text,
    )
}

/// Returns the fields of the older of two records after the younger one is deleted. Of an attendance and
/// an answer, the values of the one with the later `action_date` count; without it, of the younger one.
fn folded_fields(kind: Kind, older: &Object, younger: &Object) -> Object {
    let date = |fields: &Object| Timestamp::parse(fields.get("action_date")?.as_str()?);
    let is_later = match (date(older), date(younger)) {
        (Some(older), Some(younger)) => younger >= older,
        _ => true,
    };
    let is_latest_valid = is_later && matches!(kind, Kind::Attendance | Kind::Answer);
    let is_empty = |value: &Json| match value {
        Json::Null => true,
        Json::String(text) => text.is_empty(),
        Json::Array(list) => list.is_empty(),
        Json::Object(object) => object.is_empty(),
        _ => false,
    };
    let mut fields = older.clone();
    for (name, value) in younger {
        let was_attended = name == "attended" && fields.get(name) == Some(&Json::Bool(true));
        let has_value = fields.get(name).is_some_and(|known| !is_empty(known));
        if !is_empty(value) && !was_attended && (is_latest_valid || !has_value) {
            fields.insert(name, value.clone());
        }
    }
    fields
}

/// Replaces the own identifier of a person in the tickets of an attendance. Returns the positions of the
/// tickets that had it.
fn rename_holder(attendance: &mut Object, namespace: &str, from: &Id, to: &Id) -> Vec<usize> {
    let tickets = attendance.get_mut("tickets").and_then(Json::as_array_mut);
    let tickets = tickets.into_iter().flatten().enumerate();
    let mut rename = |(place, ticket)| {
        let is_renamed = rename_ticket_holder(ticket, namespace, from, to);
        is_renamed.then_some(place)
    };
    tickets.filter_map(&mut rename).collect()
}

/// Replaces the own identifier of a person in a ticket. Returns whether the ticket has it.
pub(super) fn rename_ticket_holder(ticket: &mut Json, namespace: &str, from: &Id, to: &Id) -> bool {
    if namespace.is_empty() {
        return false;
    }
    let [from, to] = [from, to].map(|id| Json::from(format!("{namespace}:{id}")));
    let mut is_renamed = false;
    let holder = ticket
        .as_object_mut()
        .and_then(|ticket| ticket.get_mut("person"));
    let holder = holder.and_then(Json::as_object_mut);
    let identifiers = holder.and_then(|holder| holder.get_mut("identifiers")?.as_array_mut());
    for identifier in identifiers.into_iter().flatten() {
        if *identifier == from {
            *identifier = to.clone();
            is_renamed = true;
        }
    }
    is_renamed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of the attendance with the later date count, whichever record is older.
    #[test]
    fn the_later_values_of_folded_records_count() {
        let attendance = |date: &str, status: &str| {
            let json = format!("{{\"action_date\":\"{date}\",\"status\":\"{status}\"}}");
            match Json::read_kept(json.as_bytes()) {
                Some(Json::Object(fields)) => fields,
                other => panic!("{other:?}"),
            }
        };
        let new = attendance("2026-01-02T00:00:00Z", "accepted");
        let old = attendance("2020-01-02T00:00:00.5Z", "declined");
        for (older, younger) in [(&new, &old), (&old, &new)] {
            assert_eq!(folded_fields(Kind::Attendance, older, younger), new);
        }
    }

    /// A merge moves every link to a person. A new one must be added to one of these lists.
    #[test]
    fn every_link_to_a_person_is_moved() {
        let links = |is_dated: bool| -> Vec<String> {
            let links = person_links()
                .filter(|(_, link)| UNDATED_LINKS.contains(link) != is_dated)
                .map(|(kind, link)| format!("{} {link}", kind.singular()));
            let mut links: Vec<String> = links.collect();
            links.sort_unstable();
            links
        };
        assert_eq!(
            links(true),
            [
                "answer person",
                "attendance person",
                "canvass canvasser",
                "canvass target",
                "donation person",
                "item person",
                "outreach person",
                "signature person",
                "submission person",
                "tagging person",
            ]
        );
        assert_eq!(
            links(false),
            [
                "advocacy_campaign creator",
                "advocacy_campaign modified_by",
                "event creator",
                "event modified_by",
                "event organizer",
                "form creator",
                "form modified_by",
                "fundraising_page creator",
                "fundraising_page modified_by",
                "list creator",
                "list modified_by",
                "person modified_by",
                "petition creator",
                "petition modified_by",
                "query creator",
                "query modified_by",
                "question creator",
                "question modified_by",
                "share_page creator",
                "share_page modified_by",
                "tag creator",
                "tag modified_by",
            ]
        );
    }
}
