//! Records the action of a helper request exactly once, even if the request is repeated, and at most
//! one action for each person if the helper has this option.
//!
//! Requirements: UND-24, HLP-04.

use super::{CreateOptions, RuleContext, RuleResult, TicketHolderPolicy, check, lists::list};
use crate::{
    draft::{Draft, RawDraft},
    error::{Error, Problem, Result},
    helper::RawHelperRequest,
    json::{Object, has_same_members},
    link::{RecordAddress, ShareNames},
    model::{Kind, Resource},
    record::Record,
    store::{LookupKey, RecordLocation, RuleError, StoredRecord},
    value::{Id, Identifier},
};

/// What a helper request did with its action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recording {
    /// It recorded a new action.
    New,
    /// It changed the action of the person.
    ///
    /// Requirements: HLP-04.
    Changed,
    /// The action of the person already has the values of the request.
    ///
    /// Requirements: HLP-04.
    Unchanged,
    /// An earlier attempt of the request recorded the action.
    ///
    /// Requirements: UND-24.
    Repeated,
    /// It executed the failed parts of an earlier request again.
    ///
    /// Requirements: IDM-02.
    Resumed,
}

impl Recording {
    /// Returns whether the action is new.
    pub(super) fn is_new(self) -> bool {
        self == Self::New
    }

    /// Returns whether the request is a further one for the action of a person.
    pub(super) fn is_further(self) -> bool {
        matches!(self, Self::Changed | Self::Unchanged)
    }

    /// Returns whether the request triggers server responses.
    pub(super) fn triggers_responses(self) -> bool {
        matches!(self, Self::New | Self::Changed)
    }
}

/// The fields of an action that do not distinguish two requests of an anonymous caller.
const CIRCUMSTANCES: [&str; 3] = ["action_date", "origin_system", "referrer_data"];

/// Records an action, or updates the one that an earlier attempt recorded. If a person has one action
/// in the container, updates this action.
///
/// The person of the request becomes the person of the action, even if the draft names another one.
/// Without a key, no existing action changes. The new action gets only those identifiers that no
/// other record has, so an anonymous caller neither changes nor discovers existing records.
pub(super) fn record(
    context: &mut RuleContext<'_>,
    draft: &RawDraft,
    person: Option<RecordAddress>,
    plan: &RawHelperRequest,
) -> RuleResult<(StoredRecord, Recording)> {
    let new = CreateOptions {
        person,
        holders: TicketHolderPolicy::Match(plan.merge),
        ..CreateOptions::default()
    };
    if plan.anonymous {
        let mut draft = draft.clone();
        let mut unclaimed = Vec::with_capacity(draft.identifiers.len());
        for identifier in draft.identifiers {
            // If the store cannot look up identifiers, this one may belong to another record.
            if context.supports_find(draft.kind)
                && context
                    .ledger
                    .find(&LookupKey::Identifier(draft.kind, identifier.clone()))?
                    .is_none()
            {
                unclaimed.push(identifier);
            }
        }
        draft.identifiers = unclaimed;
        return record_anonymously(context, &draft, &new, plan);
    }
    match find_recorded_action(context, draft) {
        Ok(Some(stored)) => {
            let stored = repeat(context, stored, draft, new.person)?;
            Ok((stored, Recording::Repeated))
        }
        Ok(None) => {
            if let Some(newest) = newest_action(context, draft, &new, plan)? {
                let stored = repeat(context, newest, draft, new.person)?;
                let is_changed = context
                    .ledger
                    .has_dated(draft.kind, &stored.record.meta().id);
                let recording = if is_changed {
                    Recording::Changed
                } else {
                    Recording::Unchanged
                };
                return Ok((stored, recording));
            }
            match context.create(draft, &new)? {
                (stored, true) => Ok((stored, Recording::New)),
                // The store has one action for each person: that action is updated.
                // Requirements: HLP-04.
                (stored, false) => {
                    let stored = repeat(context, stored, draft, new.person)?;
                    Ok((stored, Recording::Repeated))
                }
            }
        }
        // Other problems are reported together with those of the identifiers.
        // Requirements: ERR-39.
        Err(RuleError::Failed(error)) if context.collects_all_problems() => {
            let mut problems = error.into_problems()?;
            let mut rest = draft.clone();
            rest.identifiers = Vec::new();
            rest.own = None;
            let done = match newest_action(context, &rest, &new, plan)? {
                Some(newest) => repeat(context, newest, &rest, new.person).map(drop),
                None => context.create(&rest, &new).map(drop),
            };
            match done {
                Err(RuleError::Failed(error)) => problems.extend(error.into_problems()?),
                done => done?,
            }
            Err(Error::invalid_all(problems).into())
        }
        Err(pause) => Err(pause),
    }
}

/// Records the action of an anonymous caller, unless the newest action of the person has the same
/// content.
///
/// The action is created in both cases, so that the response does not depend on the actions of the
/// person.
///
/// Requirements: HLP-04, HLP-07.
fn record_anonymously(
    context: &mut RuleContext<'_>,
    draft: &RawDraft,
    new: &CreateOptions,
    plan: &RawHelperRequest,
) -> RuleResult<(StoredRecord, Recording)> {
    let newest = newest_action(context, draft, new, plan)?;
    let before = newest.as_ref().map(|_| context.ledger.save());
    let (made, is_new) = context.create(draft, new)?;
    if let (Some(newest), Some(before)) = (newest, before)
        && has_same_members(&content(context, &newest)?, &content(context, &made)?)
    {
        context.ledger.restore(before);
        return Ok((newest, Recording::Unchanged));
    }
    let recording = if is_new {
        Recording::New
    } else {
        Recording::Repeated
    };
    Ok((made, recording))
}

/// Returns the fields of an action that distinguish it from another one of the same person.
fn content(context: &RuleContext<'_>, action: &StoredRecord) -> Result<Object> {
    let mut fields = context.fields(&action.record)?;
    fields.retain(|name, _| !CIRCUMSTANCES.contains(&name));
    Ok(fields)
}

/// Returns the newest action of the person in the container, if a person has one action there.
///
/// Requirements: HLP-04.
fn newest_action(
    context: &mut RuleContext<'_>,
    draft: &RawDraft,
    new: &CreateOptions,
    plan: &RawHelperRequest,
) -> RuleResult<Option<StoredRecord>> {
    let person = new.person.as_ref().or_else(|| draft.link("person"));
    let (Some(container), Some(person), true) =
        (draft.container(), person, plan.one_action_per_person)
    else {
        return Ok(None);
    };
    if draft.kind == Kind::Attendance && context.sells_tickets(&container.id, &draft.fields)? {
        return Ok(None);
    }
    let newest = context
        .ledger
        .member(draft.kind, &container.id, &person.id)?;
    Ok(newest.filter(|newest| {
        // An event can have sold tickets before its levels were removed.
        let fields = newest.record.to_fields_lossy(&ShareNames::default());
        list(&fields, "tickets").is_empty()
    }))
}

/// Returns the action that was already recorded under the same container. It is found by its own id
/// or by an identifier.
fn find_recorded_action(
    context: &mut RuleContext<'_>,
    draft: &RawDraft,
) -> RuleResult<Option<StoredRecord>> {
    let mut met = ActionMatch::new(draft);
    if let Some(own) = &draft.own {
        met.resolve_own(
            context
                .ledger
                .find(&LookupKey::Id(draft.kind, own.clone()))?,
            place_of,
        );
    }
    for (place, identifier) in draft.identifiers.iter().enumerate() {
        met.identifier(
            place,
            context
                .ledger
                .find(&LookupKey::Identifier(draft.kind, identifier.clone()))?,
            place_of,
        );
    }
    match met.recorded()? {
        Some(found) => context.ledger.record(&LookupKey::Id(draft.kind, found.id)),
        None => Ok(None),
    }
}

fn place_of(found: &RecordLocation) -> (&Id, Option<&Id>) {
    (&found.id, found.parent.as_ref())
}

/// Updates a recorded action with the content of the repeated request.
fn repeat(
    context: &mut RuleContext<'_>,
    stored: StoredRecord,
    draft: &RawDraft,
    person: Option<RecordAddress>,
) -> RuleResult<StoredRecord> {
    let person = person.or_else(|| draft.link("person").cloned());
    let mut patch = draft.clone().into_repeat_patch(
        stored.record.meta().identifiers.to_vec(),
        context.call.received_at,
    );
    // An action without a person gets the named one. An existing person is never replaced.
    if stored.record.link("person").is_none()
        && let Some(person) = person
    {
        let person = RecordAddress::without_parent(person.kind, person.id);
        patch.links.push(("person", Some(person)));
    }
    let before = context.fields(&stored.record)?;
    context.update(stored, &before, &patch)
}

/// Returns the action that an earlier attempt of the same request recorded under the same
/// container.
///
/// The action is found by its own id or by an identifier. Only a request with a key can find one:
/// see [`without_claimed_identifiers`]. To make a retry safe, change the found action with [`Draft::to_repeat_patch`]
/// instead of recording a second one.
///
/// `found` contains the actions of this kind and tenant, in any container, that have the own id of
/// the draft or one of its identifiers.
///
/// # Errors
///
/// `IdentifierInUse` for each identifier of an action in another container or of a second action,
/// and for an own id that no action has.
///
/// Requirements: UND-24.
pub fn recorded<'a, R: Resource>(
    action: &Draft<R>,
    found: &'a [Record<R>],
) -> Result<Option<&'a Record<R>>> {
    fn raw<'r, R: Resource>(record: &'r &Record<R>) -> (&'r Id, Option<&'r Id>) {
        (&record.meta().id, record.parent())
    }
    let mut met = ActionMatch::new(action.as_raw());
    if let Some(own) = action.own_id() {
        met.resolve_own(found.iter().find(|record| record.meta().id == *own), raw);
    }
    for (place, identifier) in action.identifiers().iter().enumerate() {
        let has = |record: &&Record<R>| record.meta().identifiers.to_vec().contains(identifier);
        met.identifier(place, found.iter().find(has), raw);
    }
    met.recorded()
}

/// Returns the action of an anonymous caller with only those identifiers that no other record has.
///
/// Record the result as a new action, even if a similar one exists. An anonymous caller then
/// neither changes nor discovers existing records.
///
/// `found` contains the actions of this kind and tenant, in any container, that have one of its
/// identifiers.
///
/// Requirements: UND-24, HLP-07.
#[must_use]
pub fn without_claimed_identifiers<R: Resource>(action: Draft<R>, found: &[Record<R>]) -> Draft<R> {
    let mut raw = action.into_raw();
    raw.own = None;
    let taken: Vec<Identifier> = found
        .iter()
        .flat_map(|record| record.meta().identifiers.to_vec())
        .collect();
    raw.identifiers
        .retain(|identifier| !taken.contains(identifier));
    Draft::from_raw(raw)
}

/// The action that the identifiers of a draft have matched so far.
struct ActionMatch<T> {
    container: Option<Id>,
    /// The action, and its id.
    recorded: Option<(T, Id)>,
    problems: Vec<Problem>,
}

impl<T> ActionMatch<T> {
    fn new(action: &RawDraft) -> Self {
        let container = action.container().map(|container| container.id.clone());
        Self {
            container,
            recorded: None,
            problems: Vec::new(),
        }
    }

    /// Adds the lookup result of the action's own id. The id must match an action.
    fn resolve_own(&mut self, found: Option<T>, raw: fn(&T) -> (&Id, Option<&Id>)) {
        match found {
            None => self.problems.push(Problem::own_identifier_in_use()),
            found => self.add_match(found, None, raw),
        }
    }

    /// Adds the lookup result of the foreign identifier at this position.
    fn identifier(&mut self, place: usize, found: Option<T>, raw: fn(&T) -> (&Id, Option<&Id>)) {
        self.add_match(found, Some(place), raw);
    }

    /// An action in another container, or a second one in this container, is a problem.
    fn add_match(
        &mut self,
        found: Option<T>,
        place: Option<usize>,
        raw: fn(&T) -> (&Id, Option<&Id>),
    ) {
        let Some(found) = found else { return };
        let (id, parent) = raw(&found);
        match &self.recorded {
            Some((_, recorded)) if recorded == id => {}
            None if parent == self.container.as_ref() => {
                let id = id.clone();
                self.recorded = Some((found, id));
            }
            _ => self.problems.push(
                place.map_or_else(Problem::own_identifier_in_use, Problem::identifier_in_use),
            ),
        }
    }

    fn recorded(self) -> Result<Option<T>> {
        check(self.problems)?;
        Ok(self.recorded.map(|(action, _)| action))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        error::ErrorCode,
        model::{Signature, signature},
        record::Meta,
        value::Timestamp,
    };

    fn all(texts: &[&str]) -> Vec<Identifier> {
        texts
            .iter()
            .filter_map(|text| Identifier::parse(text))
            .collect()
    }

    fn petition(number: i64) -> RecordAddress {
        RecordAddress::without_parent(Kind::Petition, number.into())
    }

    fn action(under: i64, identifiers: &[&str], own: Option<i64>) -> Draft<Signature> {
        let mut raw = RawDraft::empty(Kind::Signature);
        raw.identifiers = all(identifiers);
        raw.own = own.map(Id::from);
        Draft::<Signature>::from_raw(raw).with_link(signature::link::petition, petition(under))
    }

    fn known(number: i64, identifiers: &[&str]) -> Record<Signature> {
        let meta =
            Meta::new(number.into(), Timestamp::from_micros(0)).with_identifiers(&all(identifiers));
        Record::new(meta, Signature::default()).with_link(signature::link::petition, petition(1))
    }

    fn in_use(result: Result<Option<&Record<Signature>>>) -> Vec<String> {
        let problems = result.unwrap_err().into_problems().unwrap();
        assert!(
            problems
                .iter()
                .all(|problem| problem.code == ErrorCode::IdentifierInUse),
            "{problems:?}"
        );
        problems
            .into_iter()
            .flat_map(|problem| problem.properties)
            .map(|it| it.to_string())
            .collect()
    }

    #[test]
    fn und_24_an_action_is_recorded_once_under_its_container() {
        let found = [known(7, &["web:1"])];
        let id = |found: Option<&Record<Signature>>| found.map(|record| record.meta().id.clone());
        assert_eq!(
            id(recorded(&action(1, &["web:0", "web:1"], None), &found).unwrap()),
            Some(7.into())
        );
        assert_eq!(
            id(recorded(&action(1, &["web:1"], Some(7)), &found).unwrap()),
            Some(7.into())
        );
        assert_eq!(
            id(recorded(&action(1, &["web:2"], None), &found).unwrap()),
            None
        );
        assert_eq!(id(recorded(&action(1, &[], None), &found).unwrap()), None);
        assert_eq!(
            in_use(recorded(&action(2, &["web:1"], None), &found)),
            ["identifiers[0]"],
            "another container"
        );
        assert_eq!(
            in_use(recorded(&action(1, &[], Some(9)), &found)),
            ["identifiers"],
            "an own id that no action has"
        );
    }

    #[test]
    fn und_24_of_two_recorded_actions_the_second_is_somebody_elses() {
        let found = [known(7, &["web:1"]), known(8, &["web:2"])];
        assert_eq!(
            in_use(recorded(&action(1, &["web:1", "web:2"], None), &found)),
            ["identifiers[1]"]
        );
        assert_eq!(
            in_use(recorded(&action(1, &["web:1"], Some(8)), &found)),
            ["identifiers[0]"]
        );
    }

    #[test]
    fn und_24_a_strangers_action_keeps_what_nothing_else_has() {
        let action = action(2, &["web:1", "web:2"], Some(7));
        let action = without_claimed_identifiers(action, &[known(7, &["web:1"])]);
        assert_eq!(
            (action.identifiers(), action.own_id()),
            (all(&["web:2"]).as_slice(), None)
        );
    }

    #[test]
    fn und_24_a_repeated_action_has_the_identifiers_of_both() {
        let again = action(1, &["web:1", "web:2"], None);
        let patch = again.to_repeat_patch(&known(7, &["web:1"]), Timestamp::from_micros(0));
        assert_eq!(
            patch.identifiers(),
            Some(all(&["web:1", "web:2"]).as_slice())
        );
    }
}
