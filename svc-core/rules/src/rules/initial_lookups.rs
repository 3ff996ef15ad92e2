//! The lookups that a request certainly needs. A store that fetches data executes them together
//! before the first run of the rules, so one run is usually enough.

use std::collections::HashSet;

use super::{
    functions::{group_key, question_key},
    holders::posted_holder,
    lists::list,
    measures, merge,
    person::person_key,
    shared_addresses::PostedAddresses,
    trigger_limit::contact_keys,
};
use crate::{
    draft::RawDraft,
    helper::{
        GroupKind, GroupRef, HelperName, MatchKey, PersonMatching, RawHelperRequest, Triggers,
    },
    json::{Json, Object},
    link::RecordAddress,
    model::Kind,
    schema::OnDelete,
    store::{Lookup, LookupKey, WriteOperation, WriteRequest},
    value::{Id, Identifier},
};

/// Returns the initial lookups of a request, each once.
#[must_use]
pub fn initial_lookups(call: &WriteRequest, matching: &dyn PersonMatching) -> Vec<Lookup> {
    initial_lookups_one_per_person(call, matching, &[])
}

/// Returns the initial lookups in a store that allows one record of these kinds for each person in
/// a container. See
/// [`TransactionContext::one_per_person`](crate::store::TransactionContext::one_per_person).
#[must_use]
pub fn initial_lookups_one_per_person(
    call: &WriteRequest,
    matching: &dyn PersonMatching,
    once: &[Kind],
) -> Vec<Lookup> {
    let mut first = InitialLookups {
        questions: Vec::new(),
        seen: HashSet::new(),
        matching,
        once,
    };
    if let Some(keep) = &call.response_recorder {
        first.add(Lookup::StoredResponse(keep.key().clone()));
    }
    if let Some(caller) = &call.caller {
        first.add(Lookup::Find(LookupKey::Id(Kind::Person, caller.clone())));
    }
    match &call.operation {
        WriteOperation::Create(draft) => {
            first.create(draft);
            if let Some(of) = &draft.recorded_by {
                first.add(Lookup::Record(of.into()));
            }
        }
        WriteOperation::Import(load) => {
            first.add(Lookup::Find(LookupKey::Id(
                load.draft.kind,
                load.id.clone(),
            )));
            first.create(&load.draft);
            if let Some(name) = unique_name(load.draft.kind, &load.draft.fields) {
                first.add(Lookup::Record(name));
            }
            if let Some(of) = &load.draft.recorded_by {
                first.add(Lookup::Find(of.into()));
            }
        }
        WriteOperation::Update(at, patch) => {
            first.add(Lookup::Record(at.into()));
            let linked = patch.links.iter().filter_map(|(_, to)| to.as_ref());
            let identifiers = patch.identifiers.as_deref().unwrap_or_default();
            first.targets(at.kind, linked, identifiers);
            first.name(at.kind, &patch.fields);
            first.holders(&patch.fields, &patch.holders);
            first.settles(at.kind, Some(at));
            let parent = at.kind.schema().parent;
            let moved = patch.links.iter().find(|(name, _)| Some(*name) == parent);
            if let Some((_, Some(container))) = moved {
                first.container(at.kind, &container.into());
            }
            let is_sent = |field: &str| patch.fields.contains(field);
            let selects = measures::selecting(at.kind).any(is_sent);
            let list = measures::PartList::of(at.kind);
            if selects && measures::has_own_values(at.kind) {
                first.add(Lookup::Totals(at.into()));
            }
            if selects || list.is_some_and(|list| is_sent(list.field)) {
                first.add(Lookup::PartTotals(at.into()));
            }
        }
        WriteOperation::Delete(at) => {
            first.add(Lookup::Record(at.into()));
            first.settles(at.kind, Some(at));
            for member in Kind::ALL {
                let holds = |it: &&crate::schema::ReferenceSpec| {
                    it.kind == at.kind && it.on_delete == OnDelete::Restrict
                };
                for _ in member.schema().references().iter().filter(holds) {
                    first.add(Lookup::Count {
                        kind: *member,
                        of: at.into(),
                    });
                }
            }
            if at.kind == Kind::Person {
                first.add(Lookup::HeldTickets(at.id.clone()));
            }
        }
        WriteOperation::Helper(plan) => first.help(plan),
        WriteOperation::Merge(request) => {
            let (remaining, merged) = (&request.remaining, &request.merged);
            first.add(Lookup::Record(remaining.into()));
            first.add(Lookup::Record(merged.into()));
            first.add(merge::count_lookup(request));
            if request.undo_for.is_some() {
                first.add(Lookup::ForwardedTo(merged.id.clone()));
            }
            let identifiers = request
                .patch
                .iter()
                .filter_map(|it| it.identifiers.as_deref());
            first.targets(Kind::Person, [].into_iter(), identifiers.flatten());
        }
        WriteOperation::UndoMerge(request) => {
            first.add(Lookup::Record((&request.remaining).into()));
            first.add(Lookup::StoredMerge {
                remaining: request.remaining.id.clone(),
                merge: request.merge.clone(),
            });
        }
    }
    for (_, address) in PostedAddresses::of(call).addresses {
        first.add(Lookup::EmailHolders(address));
    }
    first.questions
}

/// Returns the initial lookups of a request to a backend of single operations, which itself checks
/// the records that it creates. See [`StepLog`](crate::store::StepLog).
///
/// Only a helper request runs the rules. Another request does so only if it is already
/// [rejected](WriteRequest::rejected), to find missing links and identifiers in use.
#[must_use]
pub fn initial_lookups_of_steps(call: &WriteRequest, matching: &dyn PersonMatching) -> Vec<Lookup> {
    let mut first = InitialLookups {
        questions: Vec::new(),
        seen: HashSet::new(),
        matching,
        once: &[],
    };
    match &call.operation {
        WriteOperation::Helper(plan) => {
            first.named(plan);
            for (_, address) in PostedAddresses::of(call).addresses {
                first.add(Lookup::Find(LookupKey::Email(address)));
            }
        }
        WriteOperation::Create(draft) => {
            let linked = draft.links.iter().map(|(_, address)| address);
            first.targets(draft.kind, linked, &draft.identifiers);
        }
        WriteOperation::Update(at, patch) => {
            first.add(Lookup::Record(at.into()));
            let linked = patch.links.iter().filter_map(|(_, to)| to.as_ref());
            let identifiers = patch.identifiers.as_deref().unwrap_or_default();
            first.targets(at.kind, linked, identifiers);
        }
        WriteOperation::Delete(_)
        | WriteOperation::Import(_)
        | WriteOperation::Merge(_)
        | WriteOperation::UndoMerge(_) => {}
    }
    // Answers are looked up by the id of the person, and only for a repeated request.
    first
        .questions
        .retain(|lookup| !matches!(lookup, Lookup::Answers { .. }));
    first.questions
}

struct InitialLookups<'a> {
    questions: Vec<Lookup>,
    seen: HashSet<Lookup>,
    matching: &'a dyn PersonMatching,
    /// The additional kinds of which a container has one record for each person. Other kinds have
    /// this limit by the specification.
    once: &'a [Kind],
}

impl InitialLookups<'_> {
    fn add(&mut self, question: Lookup) {
        if self.seen.insert(question.clone()) {
            self.questions.push(question);
        }
    }

    /// Adds the lookups for links and identifiers.
    fn targets<'t>(
        &mut self,
        kind: Kind,
        linked: impl Iterator<Item = &'t RecordAddress>,
        identifiers: impl IntoIterator<Item = &'t Identifier>,
    ) {
        for address in linked {
            self.add(Lookup::Find(address.into()));
        }
        for identifier in identifiers {
            self.add(Lookup::Find(LookupKey::Identifier(
                kind,
                identifier.clone(),
            )));
        }
    }

    fn create(&mut self, draft: &RawDraft) {
        let linked = draft.links.iter().map(|(_, address)| address);
        self.targets(draft.kind, linked, &draft.identifiers);
        self.name(draft.kind, &draft.fields);
        let is_once =
            draft.kind.schema().unique_links().is_some() || self.once.contains(&draft.kind);
        if is_once && let (Some(group), Some(person)) = (draft.container(), draft.link("person")) {
            self.members(draft.kind, vec![group.into()], vec![person.into()]);
        }
        if let Some(container) = draft.container() {
            self.container(draft.kind, &container.into());
        }
        self.holders(&draft.fields, &draft.holders);
    }

    /// Adds the lookups for the holders of tickets.
    fn holders(&mut self, fields: &Object, named: &[(usize, Id)]) {
        for (place, ticket) in list(fields, "tickets").iter().enumerate() {
            let own = named
                .iter()
                .find(|(of, _)| *of == place)
                .map(|(_, id)| id.clone());
            if let Some(holder) = posted_holder(ticket, own) {
                self.person(&holder);
            }
        }
    }

    /// Adds the lookups for data that a record reads from its container or changes there.
    fn container(&mut self, kind: Kind, container: &LookupKey) {
        for lookup in container_lookups(kind, container) {
            self.add(lookup);
        }
    }

    /// Adds the same lookups for an existing record.
    fn settles(&mut self, kind: Kind, at: Option<&RecordAddress>) {
        if let (Some(parent), Some(at)) = (kind.schema().parent, at) {
            self.container(kind, &LookupKey::Link(kind, at.id.clone(), parent));
        }
    }

    fn name(&mut self, kind: Kind, fields: &Object) {
        if let Some(name) = unique_name(kind, fields) {
            self.add(Lookup::Find(name));
        }
    }

    /// Adds the lookups for a posted person, and returns their keys.
    fn person(&mut self, posted: &RawDraft) -> Vec<LookupKey> {
        let own = posted.own.clone().map(|id| LookupKey::Id(Kind::Person, id));
        let posted_keys = self.matching.keys(&posted.identifiers, &posted.fields);
        let identifiers = posted.identifiers.iter().cloned().map(MatchKey::Identifier);
        let keys: Vec<LookupKey> = own
            .into_iter()
            .chain(
                posted_keys
                    .into_iter()
                    .chain(identifiers)
                    .map(|key| person_key(&key)),
            )
            .collect();
        for key in &keys {
            self.add(Lookup::Record(key.clone()));
        }
        keys
    }

    fn members(&mut self, kind: Kind, groups: Vec<LookupKey>, people: Vec<LookupKey>) {
        for group in &groups {
            self.add(Lookup::Find(group.clone()));
        }
        if !groups.is_empty() && !people.is_empty() {
            self.add(Lookup::Members {
                kind,
                groups,
                people,
            });
        }
    }

    fn help(&mut self, plan: &RawHelperRequest) {
        if let Some(container) = &plan.container {
            self.add(Lookup::Find(container.into()));
            if plan.helper == HelperName::Schedule {
                self.add(Lookup::Record(container.into()));
            }
        }
        if let Some(draft) = &plan.action {
            self.create(draft);
        }
        let triggers = plan.functions.triggers.iter().filter(|_| plan.anonymous);
        for key in triggers
            .flat_map(Triggers::requested)
            .flat_map(|(trigger, _)| contact_keys(plan, trigger))
        {
            self.add(Lookup::StoredResponse(key));
        }
        self.named(plan);
    }

    /// Adds the lookups that the helper rules execute themselves, for everything that a request
    /// names.
    fn named(&mut self, plan: &RawHelperRequest) {
        let mut people = plan
            .person
            .as_ref()
            .map(|posted| self.person(posted))
            .unwrap_or_default();
        if let Some(draft) = &plan.action {
            let own = draft
                .own
                .as_ref()
                .map(|id: &Id| LookupKey::Id(draft.kind, id.clone()));
            let identifiers = draft
                .identifiers
                .iter()
                .map(|it| LookupKey::Identifier(draft.kind, it.clone()));
            for key in own.into_iter().chain(identifiers) {
                self.add(if plan.anonymous {
                    Lookup::Find(key)
                } else {
                    Lookup::Record(key)
                });
            }
            people.extend(draft.link("person").map(LookupKey::from));
            if let Some(container) = plan
                .container
                .as_ref()
                .filter(|_| plan.one_action_per_person || self.once.contains(&draft.kind))
            {
                self.members(draft.kind, vec![container.into()], people.clone());
            }
        }
        if plan.helper == HelperName::RecordCanvass {
            people = plan.container.iter().map(LookupKey::from).collect();
        }
        for (kinds, named) in [
            (GroupKind::TAGS, &plan.functions.tags),
            (GroupKind::LISTS, &plan.functions.lists),
        ] {
            let groups: Vec<LookupKey> = named
                .iter()
                .filter_map(|named: &GroupRef| group_key(&kinds, named))
                .collect();
            self.members(kinds.member, groups, people.clone());
        }
        let questions: Vec<LookupKey> = plan
            .functions
            .responses
            .iter()
            .filter_map(|it| question_key(&it.question))
            .collect();
        for question in &questions {
            self.add(Lookup::Record(question.clone()));
        }
        let named = |draft: &RawDraft| draft.own.is_some() || !draft.identifiers.is_empty();
        let is_named = !plan.anonymous && plan.action.as_ref().is_some_and(named);
        let may_repeat = is_named || plan.one_action_per_person;
        if may_repeat && !questions.is_empty() && !people.is_empty() {
            self.add(Lookup::Answers { people, questions });
        }
    }
}
/// Returns the key of the unique name of a record.
fn unique_name(kind: Kind, fields: &Object) -> Option<LookupKey> {
    let field = kind.schema().unique_name()?;
    let name = fields.get(field.name).and_then(Json::as_str)?;
    Some(LookupKey::Name(kind, name.to_owned()))
}

/// Returns the lookups for data that a record reads from its container or changes there.
pub(super) fn container_lookups(kind: Kind, container: &LookupKey) -> impl Iterator<Item = Lookup> {
    let of = measures::measuring_kind(kind);
    let lookup = |is_needed: bool, lookup: fn(LookupKey) -> Lookup| {
        is_needed.then(|| lookup(container.clone()))
    };
    let all = [
        lookup(of.is_some() || kind == Kind::Answer, Lookup::Record),
        lookup(of.is_some_and(measures::has_own_values), Lookup::Totals),
        lookup(
            of.is_some_and(|of| of.schema().has_parts()),
            Lookup::PartTotals,
        ),
    ];
    all.into_iter().flatten()
}
