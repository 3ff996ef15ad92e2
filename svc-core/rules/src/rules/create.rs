//! Creates a record.
//!
//! Requirements: CRU-01, UND-12, UND-24, UND-38.

use std::{borrow::Cow, collections::HashSet};

use super::{CreateOptions, RuleContext, RuleResult, check};
use crate::{
    draft::RawDraft,
    error::{Error, ErrorCode, Problem, quoted},
    filter::name_key,
    helper::{GroupKind, GroupRef},
    json::{Json, Object},
    link::{LinkValue, RecordAddress},
    model::Kind,
    record::{Identifiers, Meta, RawRecord},
    rules::TicketHolderPolicy,
    schema::fill_nested_computed,
    store::{Change, ImportedRecord, IndexValues, InsertRecord, LookupKey, StoredRecord},
    value::{Id, Identifier, Timestamp},
};

impl RuleContext<'_> {
    /// Creates a record outside of a helper request. In a helper request the lookups were executed
    /// before, once each.
    pub(super) fn create_standalone(
        &mut self,
        draft: &RawDraft,
    ) -> RuleResult<(StoredRecord, bool)> {
        let draft = &self.below(draft)?;
        if draft.kind == Kind::Answer
            && let Some(question) = draft.container().cloned()
        {
            let mut wrong = self.wrong_answer(&question.id, None, &draft.fields)?;
            if draft.link("person").is_none() {
                wrong.push(Problem::link_not_found(Kind::Person, "person"));
            }
            return self.create_unless(wrong, draft, &CreateOptions::default());
        }
        let new = CreateOptions {
            holders: TicketHolderPolicy::Match(draft.holder_merge),
            ..CreateOptions::default()
        };
        self.create(draft, &new)
    }

    /// Completes a draft that is created below a record other than its container. The draft gets
    /// the person of that record, unless it names another one.
    ///
    /// Requirements: RES-submission-07.
    fn below<'d>(&mut self, draft: &'d RawDraft) -> RuleResult<Cow<'d, RawDraft>> {
        let Some(of) = &draft.recorded_by else {
            return Ok(Cow::Borrowed(draft));
        };
        let stored = self.ledger.record(&LookupKey::from(of))?;
        let stored = stored
            .filter(|stored| of.matches_parent(stored.record.parent()))
            .ok_or_else(Error::not_found)?;
        let mut draft = draft.clone();
        draft.recorded_by = Some(stored.record.address());
        if draft.link("person").is_none() {
            draft.links.extend(
                stored
                    .record
                    .link("person")
                    .map(|person| ("person", person.clone())),
            );
        }
        Ok(Cow::Owned(draft))
    }

    /// Imports a record from another store. Returns `false` with the existing membership if there
    /// already is one.
    ///
    /// Requirements: UND-38.
    pub(super) fn load(&mut self, load: &ImportedRecord) -> RuleResult<(StoredRecord, bool)> {
        let mut draft = load.draft.clone();
        if self
            .ledger
            .find(&LookupKey::Id(draft.kind, load.id.clone()))?
            .is_some()
        {
            return Err(
                Error::unexpected("an imported record has the id of an existing record").into(),
            );
        }
        let mut dates = [None; 2];
        if draft.kind == Kind::Message {
            for (date, field) in dates
                .iter_mut()
                .zip(["scheduled_start_date", "scheduled_stop_date"])
            {
                *date = draft
                    .fields
                    .remove(field)
                    .as_ref()
                    .and_then(Json::as_str)
                    .and_then(Timestamp::parse);
            }
        }
        if let Some(action) = &mut draft.recorded_by {
            *action = self
                .find_at(action)?
                .ok_or_else(Error::not_found)?
                .address();
        }
        let given = Some((load.id.clone(), load.created));
        let new = CreateOptions {
            given,
            holders: TicketHolderPolicy::LinkKnown,
            ..CreateOptions::default()
        };
        let (stored, is_new) = self.create(&draft, &new)?;
        if let [Some(start), stop] = dates {
            // Only a start in the future is scheduled. The other store has sent everything before.
            let stored = if start > self.call.received_at {
                self.set_schedule(stored, Some(start), stop)
            } else {
                self.set_dates(stored, Some(start), stop)
            };
            return Ok((stored, is_new));
        }
        Ok((stored, is_new))
    }

    /// Creates a record, or returns the existing one with `false`.
    ///
    /// Requirements: UND-38.
    pub(super) fn create(
        &mut self,
        draft: &RawDraft,
        new: &CreateOptions,
    ) -> RuleResult<(StoredRecord, bool)> {
        match self.turn.steps {
            Some(steps) => self.create_in_step(steps, draft, new),
            None => self.create_unless(Vec::new(), draft, new),
        }
    }

    /// Creates a record unless there are problems. Problems found earlier are reported with the new
    /// ones.
    fn create_unless(
        &mut self,
        wrong: Vec<Problem>,
        draft: &RawDraft,
        new: &CreateOptions,
    ) -> RuleResult<(StoredRecord, bool)> {
        let schema = draft.kind.schema();
        let mut record = self.empty_record(draft, new);
        let mut problems = wrong;
        problems.extend(self.follow_links(draft, new, &mut record)?);
        let is_once =
            schema.unique_links().is_some() || self.turn.one_per_person.contains(&draft.kind);
        if is_once
            && let (Some(group), Some(person)) =
                (record.parent().cloned(), record.link("person").cloned())
            && let Some(existing) = self.ledger.member(draft.kind, &group, &person.id)?
        {
            return Ok((existing, false));
        }
        problems.extend(self.used_identifiers(draft.kind, &draft.identifiers, None)?);
        let mut fields = Cow::Borrowed(&draft.fields);
        let name = match new.given {
            Some(_) => self.imported_name(draft.kind, &fields, &mut problems)?,
            None => self.unique_name(draft.kind, &fields, None, &mut problems)?,
        };
        if schema.fields.has_nested_computed() {
            fill_nested_computed(schema.fields, fields.to_mut());
        }
        match (draft.kind, record.parent().cloned()) {
            (Kind::Attendance, Some(event)) => {
                self.apply_attendance(&event, None, Some(fields.to_mut()), true, &mut problems)?;
            }
            // Another store can have donations in several currencies.
            (Kind::Donation, Some(page)) if new.given.is_none() => {
                self.apply_donation(&page, None, &fields, &mut problems)?;
            }
            _ => self.measure(&record, None, Some(&fields))?,
        }
        let holders = match draft.kind {
            Kind::Attendance => {
                self.recognise_holders(fields.to_mut(), &draft.holders, new.holders, &mut problems)?
            }
            _ => Vec::new(),
        };
        check(problems)?;
        record.meta_mut().identifiers = Identifiers::from_slice(&draft.identifiers);
        record.set_fields(self.names().wire_members(&fields));
        let stored = StoredRecord {
            row: StoredRecord::UNSAVED_ROW,
            record,
        };
        self.ledger.change(Change::Insert(Box::new(InsertRecord {
            record: stored.record.clone(),
            identifiers: draft.identifiers.clone(),
            name,
            index: IndexValues::of(draft.kind, &fields),
        })));
        self.add_ticket_holder(&stored, holders);
        Ok((stored, true))
    }

    /// Returns a record without fields that is linked to the caller.
    fn empty_record(&mut self, draft: &RawDraft, new: &CreateOptions) -> RawRecord {
        let kind = draft.kind;
        let (id, created) = match &new.given {
            Some(given) => given.clone(),
            None => (self.next_id(), self.turn.timestamp),
        };
        let mut record = RawRecord::from_wire(kind, Meta::new(id, created), bytes::Bytes::new());
        let schema = kind.schema();
        for name in ["creator", "modified_by"] {
            if let Some(link) = schema.link(name) {
                record.set_link(link.name, self.link_to_caller());
            }
        }
        if let Some(of) = &draft.recorded_by
            && let Some(reference) = schema
                .references()
                .iter()
                .find(|it| it.is_scope && it.kind == of.kind)
        {
            record.set_link(reference.name, Some(LinkValue::Local(of.clone())));
        }
        record.reset_computed();
        record
    }

    /// Looks up the targets of the links of a draft.
    ///
    /// Requirements: CRU-02.
    pub(super) fn follow_links(
        &mut self,
        draft: &RawDraft,
        new: &CreateOptions,
        record: &mut RawRecord,
    ) -> RuleResult<Vec<Problem>> {
        let mut problems = Vec::new();
        let person = new.person.iter().map(|person| ("person", person));
        let named = draft.links.iter().map(|(name, address)| (*name, address));
        for (name, address) in named
            .filter(|(name, _)| new.person.is_none() || *name != "person")
            .chain(person)
        {
            match self.find_at(address)? {
                Some(found) => record.set_link(name, Some(found.address().into())),
                // Below another record, the container is a link of the body.
                // Requirements: RES-submission-07.
                None if Some(name) == draft.kind.schema().parent
                    && (draft.recorded_by.is_none() || new.given.is_some()) =>
                {
                    return Err(Error::not_found().into());
                }
                None => problems.push(Problem::link_not_found(address.kind, name)),
            }
        }
        Ok(problems)
    }

    /// Returns a problem for each identifier that a record other than `own` has. Those of `own` itself
    /// are not looked up.
    ///
    /// Requirements: UND-24.
    pub(super) fn used_identifiers(
        &mut self,
        kind: Kind,
        identifiers: &[Identifier],
        own: Option<&RawRecord>,
    ) -> RuleResult<Vec<Problem>> {
        let had: HashSet<Identifier> = own
            .map(|own| own.meta().identifiers.to_vec())
            .unwrap_or_default()
            .into_iter()
            .collect();
        let mut problems = Vec::new();
        let new = identifiers.iter().enumerate();
        for (place, identifier) in new.filter(|(_, identifier)| !had.contains(identifier)) {
            let owner = self
                .ledger
                .find(&LookupKey::Identifier(kind, identifier.clone()))?;
            if owner.is_some_and(|owner| own.is_none_or(|own| own.meta().id != owner.id)) {
                problems.push(Problem::identifier_in_use(place));
            }
        }
        Ok(problems)
    }

    /// Returns the unique name of a record, and adds a problem if it is blank, or if another record
    /// of the kind has it.
    ///
    /// `own` is the address of an existing record together with its fields before the change. An
    /// unchanged name is not checked again.
    ///
    /// Requirements: UND-02, UND-03.
    pub(super) fn unique_name(
        &mut self,
        kind: Kind,
        fields: &Object,
        own: Option<(&RecordAddress, &Object)>,
        problems: &mut Vec<Problem>,
    ) -> RuleResult<Option<String>> {
        let Some((field, name)) = name_of(kind, fields) else {
            return Ok(None);
        };
        if own.is_some_and(|(_, before)| before.get(field) == fields.get(field)) {
            return Ok(Some(name.to_owned()));
        }
        if let Some(blank) = blank_name(kind, None, fields) {
            problems.push(blank);
            return Ok(Some(name.to_owned()));
        }
        let other = self.ledger.find(&LookupKey::Name(kind, name.to_owned()))?;
        if other.is_some_and(|other| own.is_none_or(|(own, _)| own.id != other.id)) {
            problems.push(name_in_use(kind, field, name));
        }
        Ok(Some(name.to_owned()))
    }

    /// Returns the unique name of an imported record, and adds a problem if another record of the
    /// kind has exactly this name. Earlier versions accepted names that differ only in case.
    fn imported_name(
        &mut self,
        kind: Kind,
        fields: &Object,
        problems: &mut Vec<Problem>,
    ) -> RuleResult<Option<String>> {
        let Some((field, name)) = name_of(kind, fields) else {
            return Ok(None);
        };
        let key = LookupKey::Name(kind, name.to_owned());
        if let Some(other) = self.ledger.record(&key)?
            && self.fields(&other.record)?.get(field) == fields.get(field)
        {
            problems.push(name_in_use(kind, field, name));
        }
        Ok(Some(name.to_owned()))
    }
}

/// Returns the field with the unique name of a record, and the name.
fn name_of(kind: Kind, fields: &Object) -> Option<(&'static str, &str)> {
    let field = kind.schema().unique_name()?.name;
    Some((field, fields.get(field).and_then(Json::as_str)?))
}

/// Returns the problem of a unique name without visible characters. A name that was stored before
/// is not checked again.
///
/// Requirements: UND-02, UND-03.
pub(super) fn blank_name(kind: Kind, before: Option<&Object>, after: &Object) -> Option<Problem> {
    let (field, name) = name_of(kind, after)?;
    let is_stored = before.is_some_and(|before| before.get(field) == after.get(field));
    (!is_stored && name_key(kind, name).is_none()).then(|| {
        let text = "{property} is blank. Send a name with at least one visible character.";
        Problem::new(ErrorCode::FieldRequired, field, text)
    })
}

/// Returns the problem of a name that another record of the kind has.
fn name_in_use(kind: Kind, field: &'static str, name: &str) -> Problem {
    let one = kind.singular();
    let text = format!(
        "Another {one} is named {}. Names that differ only in case are equal.",
        quoted(name)
    );
    let problem = Problem::new(ErrorCode::NameInUse, field, text);
    let named = GroupRef::Name(name.to_owned());
    match [GroupKind::TAGS, GroupKind::LISTS]
        .iter()
        .find(|kinds| kinds.group == kind)
    {
        Some(kinds) => problem.with_hint(format!(
            "Use another name, or the existing {one}: `{}` of a helper finds it by its name.",
            kinds.property(&named)
        )),
        None => problem,
    }
}

/// Returns a problem for each of the sent ids in the server's own namespace that is neither that of one of
/// the people, nor that of a person who was merged into one of them. The positions follow `others`, the
/// number of identifiers before them.
///
/// Requirements: UND-24.
#[must_use]
pub fn other_people(
    namespace: &str,
    sent: &[Id],
    others: usize,
    people: &[&RawRecord],
) -> Vec<Problem> {
    if sent.is_empty() {
        return Vec::new();
    }
    let identifiers = people.iter().flat_map(|it| it.meta().identifiers.to_vec());
    let merged = identifiers.filter(|it| it.system() == namespace);
    let merged: HashSet<String> = merged.map(|it| it.id().to_owned()).collect();
    let is_other =
        |id: &Id| !people.iter().any(|it| it.meta().id == *id) && !merged.contains(id.as_str());
    let sent = (others..).zip(sent).filter(|(_, id)| is_other(id));
    let problem = |place| {
        let hint = "Omit identifiers of the server's own namespace.";
        Problem::identifier_in_use(place).with_hint(hint)
    };
    sent.map(|(place, _)| problem(place)).collect()
}
