//! What a call is sure to ask, known before it runs: a store that fetches asks it together, so that
//! one run is enough.

use std::collections::HashSet;

use super::{
    functions::{group_key, question_key},
    holders::posted_holder,
    lists::list,
    person::person_key,
    trigger_limit::contact_keys,
};
use crate::{
    draft::RawDraft,
    helper::{HelperName, MatchKey, Memberships, Named, PersonMatching, RawPlan, Triggers},
    json::Object,
    link::Address,
    model::Kind,
    schema::OnDelete,
    store::{Call, Key, Question, Work},
    value::Id,
};

/// The questions that a call begins with, each once.
#[must_use]
pub fn first_questions(call: &Call, matching: &dyn PersonMatching) -> Vec<Question> {
    first_questions_once(call, matching, &[])
}

/// The same in a store that has one record of these kinds for each person in a container
/// ([`Turn::once_per_person`](crate::store::Turn::once_per_person)).
#[must_use]
pub fn first_questions_once(
    call: &Call,
    matching: &dyn PersonMatching,
    once: &[Kind],
) -> Vec<Question> {
    let mut first = First {
        questions: Vec::new(),
        seen: HashSet::new(),
        matching,
        once,
    };
    if let Some(keep) = &call.keep {
        first.ask(Question::Kept(keep.key().clone()));
    }
    if let Some(caller) = &call.caller {
        first.ask(Question::Find(Key::Id(Kind::Person, caller.clone())));
    }
    match &call.work {
        Work::Create(draft) => {
            first.create(draft);
            if let Some(of) = &draft.recorded_by {
                first.ask(Question::Record(of.into()));
            }
        }
        Work::Load(load) => {
            first.ask(Question::Find(Key::Id(load.draft.kind, load.id.clone())));
            first.create(&load.draft);
            if let Some(of) = &load.draft.recorded_by {
                first.ask(Question::Find(of.into()));
            }
        }
        Work::Update(at, patch) => {
            first.ask(Question::Record(at.into()));
            for address in patch.links.iter().filter_map(|(_, to)| to.as_ref()) {
                first.ask(Question::Find(address.into()));
            }
            for identifier in patch.identifiers.iter().flatten() {
                first.ask(Question::Find(Key::Identifier(at.kind, identifier.clone())));
            }
            first.name(at.kind, &patch.fields);
            first.holders(&patch.fields, &patch.holders);
            match at.kind {
                Kind::Event if patch.fields.contains("ticket_levels") => {
                    first.ask(Question::Parts(at.into()));
                }
                Kind::FundraisingPage if patch.fields.contains("currency") => {
                    first.ask(Question::Parts(at.into()));
                }
                kind => first.settles(kind, Some(at)),
            }
        }
        Work::Delete(at) => {
            first.ask(Question::Record(at.into()));
            first.settles(at.kind, Some(at));
            for member in Kind::ALL {
                let holds = |it: &&crate::schema::Reference| {
                    it.kind == at.kind && it.on_delete == OnDelete::Restrict
                };
                for _ in member.schema().references().iter().filter(holds) {
                    first.ask(Question::Count {
                        kind: *member,
                        of: at.into(),
                    });
                }
            }
            if at.kind == Kind::Person {
                first.ask(Question::Holdings(at.id.clone()));
            }
        }
        Work::Help(plan) => first.help(plan),
    }
    first.questions
}

/// What a helper over a vendor's operations looks up first.
pub fn first_keys(plan: &RawPlan, matching: &dyn PersonMatching) -> Vec<Key> {
    let mut first = First {
        questions: Vec::new(),
        seen: HashSet::new(),
        matching,
        once: &[],
    };
    first.named(plan);
    let key = |question| match question {
        Question::Find(key) | Question::Record(key) => Some(key),
        _ => None,
    };
    let mut keys: Vec<Key> = first.questions.into_iter().filter_map(key).collect();
    let mut known = HashSet::new();
    keys.retain(|key| known.insert(key.clone()));
    keys
}

struct First<'a> {
    questions: Vec<Question>,
    seen: HashSet<Question>,
    matching: &'a dyn PersonMatching,
    /// The kinds of which a container has one record for each person, besides those of which it is
    /// so by the interface.
    once: &'a [Kind],
}

impl First<'_> {
    fn ask(&mut self, question: Question) {
        if self.seen.insert(question.clone()) {
            self.questions.push(question);
        }
    }

    fn create(&mut self, draft: &RawDraft) {
        for (_, address) in &draft.links {
            self.ask(Question::Find(address.into()));
        }
        for identifier in &draft.identifiers {
            self.ask(Question::Find(Key::Identifier(
                draft.kind,
                identifier.clone(),
            )));
        }
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

    /// What the holders of tickets are looked up by.
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

    /// What a record takes from its container, or says to it.
    fn container(&mut self, kind: Kind, container: &Key) {
        match kind {
            Kind::Attendance => {
                self.ask(Question::Record(container.clone()));
                self.ask(Question::Sum(container.clone()));
                self.ask(Question::Parts(container.clone()));
            }
            Kind::Donation => {
                self.ask(Question::Record(container.clone()));
                self.ask(Question::Parts(container.clone()));
            }
            Kind::Answer => self.ask(Question::Record(container.clone())),
            _ => {}
        }
    }

    /// The same for a record that is there.
    fn settles(&mut self, kind: Kind, at: Option<&Address>) {
        if let (Some(parent), Some(at)) = (kind.schema().parent, at) {
            self.container(kind, &Key::Link(kind, at.id.clone(), parent));
        }
    }

    fn name(&mut self, kind: Kind, fields: &Object) {
        if let Some(field) = kind.schema().unique_name()
            && let Some(name) = fields.get(field.name).and_then(crate::json::Json::as_str)
        {
            self.ask(Question::Find(Key::Name(kind, name.to_owned())));
        }
    }

    /// What a posted person is looked up by.
    fn person(&mut self, posted: &RawDraft) -> Vec<Key> {
        let own = posted.own.clone().map(|id| Key::Id(Kind::Person, id));
        let posted_keys = self.matching.keys(&posted.identifiers, &posted.fields);
        let identifiers = posted.identifiers.iter().cloned().map(MatchKey::Identifier);
        let keys: Vec<Key> = own
            .into_iter()
            .chain(
                posted_keys
                    .into_iter()
                    .chain(identifiers)
                    .map(|key| person_key(&key)),
            )
            .collect();
        for key in &keys {
            self.ask(Question::Record(key.clone()));
        }
        keys
    }

    fn members(&mut self, kind: Kind, groups: Vec<Key>, people: Vec<Key>) {
        for group in &groups {
            self.ask(Question::Find(group.clone()));
        }
        if !groups.is_empty() && !people.is_empty() {
            self.ask(Question::Members {
                kind,
                groups,
                people,
            });
        }
    }

    fn help(&mut self, plan: &RawPlan) {
        if let Some(container) = &plan.container {
            self.ask(Question::Find(container.into()));
            if plan.helper == HelperName::Schedule {
                self.ask(Question::Record(container.into()));
            }
        }
        if let Some(draft) = &plan.action {
            self.create(draft);
        }
        let triggers = plan.functions.triggers.iter().filter(|_| plan.anonymous);
        for key in triggers
            .flat_map(Triggers::wanted)
            .flat_map(|(trigger, _)| contact_keys(plan, trigger))
        {
            self.ask(Question::Kept(key));
        }
        self.named(plan);
    }

    /// What the rules of helpers ask by themselves: who and what a plan names.
    fn named(&mut self, plan: &RawPlan) {
        let mut people = plan
            .person
            .as_ref()
            .map(|posted| self.person(posted))
            .unwrap_or_default();
        if let Some(draft) = &plan.action {
            let own = draft
                .own
                .as_ref()
                .map(|id: &Id| Key::Id(draft.kind, id.clone()));
            let identifiers = draft
                .identifiers
                .iter()
                .map(|it| Key::Identifier(draft.kind, it.clone()));
            for key in own.into_iter().chain(identifiers) {
                self.ask(if plan.anonymous {
                    Question::Find(key)
                } else {
                    Question::Record(key)
                });
            }
            people.extend(draft.link("person").map(Key::from));
            if let Some(container) = plan
                .container
                .as_ref()
                .filter(|_| self.once.contains(&draft.kind))
            {
                self.members(draft.kind, vec![container.into()], people.clone());
            }
        }
        if plan.helper == HelperName::RecordCanvass {
            people = plan.container.iter().map(Key::from).collect();
        }
        for (kinds, named) in [
            (Memberships::TAGS, &plan.functions.tags),
            (Memberships::LISTS, &plan.functions.lists),
        ] {
            let groups: Vec<Key> = named
                .iter()
                .filter_map(|named: &Named| group_key(&kinds, named))
                .collect();
            self.members(kinds.member, groups, people.clone());
        }
        let questions: Vec<Key> = plan
            .functions
            .responses
            .iter()
            .filter_map(|it| question_key(&it.question))
            .collect();
        for question in &questions {
            self.ask(Question::Record(question.clone()));
        }
        let named = |draft: &RawDraft| draft.own.is_some() || !draft.identifiers.is_empty();
        let may_repeat = !plan.anonymous && plan.action.as_ref().is_some_and(named);
        if may_repeat && !questions.is_empty() && !people.is_empty() {
            self.ask(Question::Answered { people, questions });
        }
    }
}
