//! The default runner: a plan over the registered operations, one after the other (HLP-10, ERR-29 to ERR-33).

mod known;

use std::collections::{BTreeMap, BTreeSet};

use super::{
    FunctionName, HelperName, Named, PersonMatching, QuestionRef, RawOutcome, RawPlan, ResponseInput,
    outcome::EntryStatus,
};
use crate::{
    api::KindSlots,
    context::Context,
    draft::RawDraft,
    error::{Code, Error, Problem, Result},
    helper::MatchKey,
    link::{Address, ShareNames},
    model::Kind,
    ops::FindKey,
    read::{Json, Object},
    record::RawRecord,
};

/// Runs plans over the registered operations; not atomic.
pub(crate) struct Composed<'a> {
    pub(crate) slots: &'a [KindSlots],
    pub(crate) matching: &'a dyn PersonMatching,
}

impl Composed<'_> {
    /// What a helper needs and is not registered, in words.
    pub(crate) fn missing(helper: HelperName, kinds: &BTreeMap<Kind, KindSlots>) -> Vec<String> {
        let mut missing = Vec::new();
        let mut need = |kind: Kind, operation: &str, has: fn(&KindSlots) -> bool| {
            if !kinds.get(&kind).is_some_and(has) {
                missing.push(format!("{}.{operation}", kind.plural()));
            }
        };
        if helper == HelperName::Schedule {
            return vec!["a store that runs it: scheduling is no operation on fields".to_owned()];
        }
        if let Some(container) = helper.container() {
            need(container, "get", |slots| slots.get.is_some());
            need(helper.records(), "create", |slots| slots.create.is_some());
        }
        if helper.takes_person() {
            need(Kind::Person, "create", |slots| slots.create.is_some());
            need(Kind::Person, "update", |slots| slots.update.is_some());
        }
        missing
    }

    /// Whether an action function can be composed.
    pub(crate) fn supports(function: FunctionName, kinds: &BTreeMap<Kind, KindSlots>) -> bool {
        let has = |kind: Kind, has: fn(&KindSlots) -> bool| kinds.get(&kind).is_some_and(has);
        let creates = |slots: &KindSlots| slots.create.is_some();
        let both = |named, made| has(named, |slots| slots.find.is_some()) && has(made, creates);
        match function {
            FunctionName::AddTags | FunctionName::AddTagsUri => both(Kind::Tag, Kind::Tagging),
            FunctionName::AddLists | FunctionName::AddListsUri => both(Kind::List, Kind::Item),
            FunctionName::AddQuestionsResponsesUri => both(Kind::Question, Kind::Answer),
            FunctionName::Triggers => false,
        }
    }

    fn slots(&self, kind: Kind) -> Result<&KindSlots> {
        self.slots.get(kind as usize).ok_or_else(|| Error::unexpected("a kind has no slots"))
    }

    /// Does what the plan says.
    pub(crate) async fn run(&self, cx: &Context, plan: RawPlan) -> Result<RawOutcome> {
        let mut outcome = RawOutcome::default();
        let mut person = None;
        if plan.helper == HelperName::RecordCanvass {
            person.clone_from(&plan.container);
        }
        if let Some(draft) = plan.person {
            let record =
                self.person(cx, draft, plan.anonymous, &mut outcome).await.map_err(|error| error.within("person"))?;
            person = Some(record.address());
            outcome.person = Some(record);
        }
        if let Some(mut draft) = plan.action {
            if let (Some(person), true) = (&person, plan.helper.takes_person()) {
                draft.links.push((Kind::Person.singular(), person.clone()));
            }
            let part = if plan.helper == HelperName::RecordCanvass { "canvass" } else { "" };
            match self.action(cx, draft, plan.anonymous).await.map_err(|error| error.within(part)) {
                Ok((record, status)) => {
                    outcome.entry(record.kind(), status);
                    outcome.action = Some(record);
                }
                // The person is there: the action alone failed, and what hangs on it is not tried (HLP-10).
                Err(Error::Invalid(problems)) if outcome.person.is_some() => {
                    outcome.entry(plan.helper.records(), EntryStatus::Failed(problems));
                    return Ok(outcome);
                }
                Err(error) => return Err(error),
            }
        }
        let functions = plan.functions;
        for (named, kinds) in [(&functions.tags, MEMBERSHIPS.0), (&functions.lists, MEMBERSHIPS.1)] {
            for named in named {
                let status = self.membership(cx, person.as_ref(), named, kinds).await?;
                outcome.entry(kinds.member, status);
            }
        }
        for response in &functions.responses {
            let status = self.answer(cx, person.as_ref(), response).await?;
            outcome.entry(Kind::Answer, status);
        }
        Ok(outcome)
    }

    async fn create(&self, cx: &Context, draft: RawDraft) -> Result<(RawRecord, EntryStatus)> {
        let slots = self.slots(draft.kind)?;
        let Some(create) = &slots.create else { return Err(Error::NotImplemented) };
        let created = create.create(cx, draft).await?;
        Ok((created.record, EntryStatus::stored(created.is_new)))
    }

    /// A tagging or an item (HAF-02 to HAF-06).
    async fn membership(
        &self,
        cx: &Context,
        person: Option<&Address>,
        named: &Named,
        kinds: Membership,
    ) -> Result<EntryStatus> {
        let Some(person) = person else { return Ok(needs_person(kinds.property(named))) };
        let group = match named {
            Named::Name(name) => match &self.slots(kinds.group)?.find {
                Some(find) => find.find(cx, &FindKey::Name(name.clone())).await?.map(|record| record.address()),
                None => None,
            },
            Named::Address(Some(id)) => {
                let address = Address::top(kinds.group, id.clone());
                match &self.slots(kinds.group)?.get {
                    Some(get) => get.get(cx, &address).await?.map(|record| record.address()),
                    None => Some(address),
                }
            }
            Named::Address(None) => None,
        };
        let Some(group) = group else { return Ok(EntryStatus::Failed(vec![kinds.unknown(named)])) };
        let mut draft = RawDraft::empty(kinds.member);
        draft.links = vec![(kinds.group.singular(), group), (Kind::Person.singular(), person.clone())];
        self.entry(cx, draft).await
    }

    async fn answer(&self, cx: &Context, person: Option<&Address>, response: &ResponseInput) -> Result<EntryStatus> {
        let Some(person) = person else { return Ok(needs_person(&response.path)) };
        let slots = self.slots(Kind::Question)?;
        let question = match (&response.question, &slots.get, &slots.find) {
            (QuestionRef::Id(id), Some(get), _) => get.get(cx, &Address::top(Kind::Question, id.clone())).await?,
            (QuestionRef::Identifier(identifier), _, Some(find)) => {
                find.find(cx, &FindKey::Match(MatchKey::Identifier(identifier.clone()))).await?
            }
            _ => None,
        };
        let Some(question) = question else {
            return Ok(EntryStatus::Failed(vec![unknown_question(response)]));
        };
        let choices = Choices::of(&question.fields_object(&ShareNames::default()));
        let problems = choices.check(&response.responses, &format!("{}.responses", response.path));
        if !problems.is_empty() {
            return Ok(EntryStatus::Failed(problems));
        }
        let mut draft = answer_draft(response);
        draft.links = vec![("question", question.address()), (Kind::Person.singular(), person.clone())];
        draft.complete(cx.now);
        self.entry(cx, draft).await
    }

    /// Creates one entry; what the store refuses fails the entry alone.
    async fn entry(&self, cx: &Context, draft: RawDraft) -> Result<EntryStatus> {
        match self.create(cx, draft).await {
            Ok((_, status)) => Ok(status),
            Err(Error::Invalid(problems)) => Ok(EntryStatus::Failed(problems)),
            Err(error) => Err(error),
        }
    }
}

/// A group that people are put into by name or address, and what that makes.
#[derive(Debug, Clone, Copy)]
pub struct Membership {
    /// The kind of the group: tag or list.
    pub group: Kind,
    /// The kind of the membership: tagging or item.
    pub member: Kind,
    by_name: (&'static str, Code),
    by_address: (&'static str, Code),
}

/// Tags and lists.
pub const MEMBERSHIPS: (Membership, Membership) = (
    Membership {
        group: Kind::Tag,
        member: Kind::Tagging,
        by_name: ("add_tags", Code::TagNameDoesNotExist),
        by_address: ("add_tags_uri", Code::TagUriDoesNotExist),
    },
    Membership {
        group: Kind::List,
        member: Kind::Item,
        by_name: ("add_lists", Code::ListNameDoesNotExist),
        by_address: ("add_lists_uri", Code::ListUriDoesNotExist),
    },
);

impl Membership {
    /// The member of the body that asked.
    #[must_use]
    pub fn property(&self, named: &Named) -> &'static str {
        match named {
            Named::Name(_) => self.by_name.0,
            Named::Address(_) => self.by_address.0,
        }
    }

    /// The problem of a group that does not exist (HAF-03 to HAF-06).
    #[must_use]
    pub fn unknown(&self, named: &Named) -> Problem {
        let (property, code) = match named {
            Named::Name(_) => self.by_name,
            Named::Address(_) => self.by_address,
        };
        Problem::new(code, property, code.meaning())
    }
}

/// The status of an action function that needs a person where there is none (UND-29).
#[must_use]
pub fn needs_person(property: &str) -> EntryStatus {
    EntryStatus::Failed(vec![Problem::new(Code::PersonRequired, property, Code::PersonRequired.meaning())])
}

/// The problem of a question that does not exist (HAF-08).
#[must_use]
pub fn unknown_question(response: &ResponseInput) -> Problem {
    let code = Code::QuestionDoesNotExist;
    Problem::new(code, format!("{}.question", response.path), code.meaning())
}

/// The answer that a response asks for, without its links.
#[must_use]
pub fn answer_draft(response: &ResponseInput) -> RawDraft {
    let mut draft = RawDraft::empty(Kind::Answer);
    if let Some(value) = &response.value {
        draft.fields.insert("value", Json::from(value.as_str()));
    }
    if !response.responses.is_empty() {
        let keys = response.responses.iter().map(|key| Json::from(key.as_str())).collect();
        draft.fields.insert("responses", Json::Array(keys));
    }
    draft
}

/// What may be answered to a question (HAF-09); found out once for however many answers.
#[derive(Debug, Clone)]
pub struct Choices {
    keys: BTreeSet<String>,
    is_single: bool,
}

impl Choices {
    /// Those of a question with these fields.
    #[must_use]
    pub fn of(question: &Object) -> Self {
        let options = question.get("responses").and_then(Json::as_array).unwrap_or_default();
        let keys = options.iter().filter_map(Json::as_object).filter_map(|option| option.get("key")?.as_str());
        let is_single = question.get("question_type").and_then(Json::as_str) == Some("SingleChoice");
        Self { keys: keys.map(str::to_owned).collect(), is_single }
    }

    /// What is wrong with response keys that stand at `property` of a body (HAF-09): one that the question does not have,
    /// or more than one where one is taken.
    #[must_use]
    pub fn check(&self, keys: &[String], property: &str) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (place, key) in keys.iter().enumerate() {
            if !self.keys.contains(key) {
                let property = format!("{property}[{place}]");
                let code = Code::ResponseKeyDoesNotExist;
                problems.push(Problem::new(code, property, code.meaning()));
            }
        }
        if self.is_single && keys.len() > 1 {
            let code = Code::TooManyResponses;
            problems.push(Problem::new(code, property, code.meaning()));
        }
        problems
    }
}
