//! Answers requests that write: create, update, delete, helpers (CRU, HLP, SCH).

use http::{HeaderMap, StatusCode};

use super::{
    Api, Reply, ResponseStyle, Runner, composed::Composed, handling::Handling, respond::shown, transaction::unfitting,
};
use crate::{
    auth::{Operation, Right},
    context::Context,
    error::{Code, Error, Problem, Result},
    hal,
    helper::{EntryStatus, HelperName, RawOutcome, RawPlan, Scheduling},
    json::{Json, Object},
    link::{Address, Scope, ShareNames, Target},
    model::Kind,
    operation::{CREATED, DELETED, Output},
    read::{BodyOf, HelperBody, Taken},
    record::RawRecord,
    store::{Condition, Outcome, Work},
};

/// Why a request stops before the backend sees it.
type Stop = std::result::Result<Object, Reply>;

impl Api {
    /// The object in a body; 400 when it is missing (UND-27) or unreadable.
    #[expect(clippy::result_large_err, reason = "a reply is as large as its headers, and made once for a request")]
    pub(super) fn body_object(&self, cx: &Context, kind: Kind, body: &[u8], may_be_empty: bool) -> Stop {
        if body.iter().all(u8::is_ascii_whitespace) {
            if may_be_empty {
                return Ok(Object::new());
            }
            let text = "The request has no body. Fields belong into a JSON body, not into the query.";
            return Err(self.invalid(Some(kind), &[Problem::general(Code::BodyMissing, text)]));
        }
        self.bodies(cx).object(body).map_err(|problems| self.invalid(Some(kind), &problems))
    }

    /// What is taken of a kind from bodies.
    pub(super) fn taken(&self, kind: Kind) -> Taken<'_> {
        self.registered(kind).taken()
    }

    /// Answers a request that writes what its body says.
    pub(super) async fn write(&self, cx: &Context, target: &Target, body: &[u8], headers: &HeaderMap) -> Reply {
        let handling = Handling::of(headers);
        let (kind, may_be_empty) = match target {
            Target::Collection { kind, .. } => (*kind, false),
            Target::Record(at) => (at.kind, false),
            Target::Helper { helper, .. } => (helper.records(), true),
            _ => return self.error_reply(Some(target), Error::not_implemented()),
        };
        let mut reply = match self.body_object(cx, kind, body, may_be_empty) {
            Ok(body) => self.write_object(cx, target, &body, headers).await,
            Err(unreadable) => unreadable,
        };
        handling.mark(&mut reply);
        reply
    }

    async fn write_object(&self, cx: &Context, target: &Target, body: &Object, headers: &HeaderMap) -> Reply {
        let of = match target {
            Target::Collection { kind, scope: Scope::Under(of) } if kind.schema().is_recorded_below(of.kind) => {
                BodyOf::Below(*kind)
            }
            Target::Collection { kind, .. } => {
                helper_for_create(*kind, body).map_or(BodyOf::Create(*kind), BodyOf::Call)
            }
            Target::Record(at) => BodyOf::Update(at.kind),
            Target::Helper { helper, .. } => BodyOf::Call(*helper),
            _ => return self.error_reply(Some(target), Error::not_implemented()),
        };
        let settled = self.with_identity(cx, target, body).await;
        let mut surplus = self.surplus(cx, Handling::of(headers), of, settled.as_ref().unwrap_or(body));
        let refused = std::mem::take(&mut surplus.refused);
        let done = match target {
            Target::Collection { kind, scope } => self.create(cx, *kind, scope, body, refused).await,
            Target::Record(at) => self.update(cx, at, body, refused, self.condition(cx, headers).as_ref()).await,
            Target::Helper { helper, container } => self.help(cx, *helper, container.as_ref(), body, refused).await,
            _ => Err(Error::not_implemented()),
        };
        let mut reply = done.unwrap_or_else(|error| self.error_reply(Some(target), error));
        self.warn(cx, &surplus, &mut reply);
        reply
    }

    /// A change of a person with the identity that is stored, where that decides the gender that is sent (RES-person-08).
    async fn with_identity(&self, cx: &Context, target: &Target, body: &Object) -> Option<Object> {
        let Target::Record(at) = target else { return None };
        let (gender, identity) = ("gender", "gender_identity");
        let asks = at.kind == Kind::Person && body.contains(gender) && !body.contains(identity) && cx.may_read(at.kind);
        let get = self.registered(at.kind).get.as_ref().filter(|_| asks)?;
        // Where it cannot be read, the change says why.
        let record = get.get(cx, at).await.ok()??;
        let stored = record.read_fields(&ShareNames::default()).ok()?.get(identity)?.clone();
        let mut body = body.clone();
        body.insert(identity, stored);
        Some(body)
    }

    async fn create(
        &self,
        cx: &Context,
        kind: Kind,
        scope: &Scope,
        body: &Object,
        refused: Vec<Problem>,
    ) -> Result<Reply> {
        let container = match scope {
            Scope::All => None,
            Scope::Under(container) => Some(container),
        };
        if let Some(helper) = helper_for_create(kind, body) {
            self.container_exists(cx, container).await?;
            return self.create_with_person(cx, helper, container, body, refused).await;
        }
        let (draft, mut problems) = self.bodies(cx).draft(kind, self.taken(kind), body, container);
        problems.extend(refused);
        if !problems.is_empty() {
            return self.refuse(cx, kind, container, Work::Create(draft), body, problems).await;
        }
        let Some(create) = &self.registered(kind).create else { return Err(Error::not_implemented()) };
        if !create.finds_container() {
            self.container_exists(cx, container).await?;
        }
        let done = self.perform(cx, Work::Create(draft)).await.map_err(|error| self.as_sent(cx, body, error))?;
        let Outcome::Created { record, is_new } = done else { return Err(unfitting()) };
        Ok(self.written_reply(cx, self.created_status(is_new), &record))
    }

    /// The answer with the record that a call wrote.
    fn written_reply(&self, cx: &Context, status: StatusCode, record: &RawRecord) -> Reply {
        self.located(cx, self.record_reply(cx, status, record), record)
    }

    /// Not found where the record that something is made under does not exist (HLP-23, UND-39).
    pub(super) async fn container_exists(&self, cx: &Context, container: Option<&Address>) -> Result<()> {
        match container {
            Some(container) if !self.record_exists(cx, container).await? => Err(Error::not_found()),
            _ => Ok(()),
        }
    }

    /// 201, or 200 for what was there already and under the style `examples` (CRU-13, UND-38).
    fn created_status(&self, is_new: bool) -> StatusCode {
        if is_new { CREATED.usual(self.inner.settings.style).status } else { StatusCode::OK }
    }

    /// Creates what comes with an inline `person`; not supported where its helper is not (ERR-07): a create that leaves
    /// the person out is not what was asked for.
    async fn create_with_person(
        &self,
        cx: &Context,
        helper: HelperName,
        container: Option<&Address>,
        body: &Object,
        refused: Vec<Problem>,
    ) -> Result<Reply> {
        if !self.inner.helpers.contains_key(&helper) {
            return Err(Error::not_implemented());
        }
        let kind = helper.records();
        let (plan, mut problems) = self.plan(cx, helper, container, body);
        problems.extend(refused);
        let name = Kind::Person.singular();
        let relation = self.dialect().relation(name);
        let links = body.get("_links").and_then(Json::as_object);
        let linked = links.and_then(|links| links.get(&relation).or_else(|| links.get(name)));
        if helper != HelperName::PersonSignup && linked.is_some_and(|link| !link.is_null()) {
            let properties = ["person", &format!("_links.{name}")];
            let text = "A request has either an inline person or a link to one, not both.";
            problems.push(Problem::between(Code::FieldInvalid, &properties, text));
        }
        if !problems.is_empty() {
            return self.refuse(cx, kind, container, Work::Help(Box::new(plan)), body, problems).await;
        }
        let outcome = self.run(cx, plan, body).await?;
        if outcome.has_failures() {
            return Ok(self.report(cx, &outcome));
        }
        let is_new = outcome.was_created(kind);
        match outcome.action.as_ref().or(outcome.person.as_ref()) {
            Some(record) => Ok(self.written_reply(cx, self.created_status(is_new), record)),
            None => Err(Error::unexpected("a helper answered without what it recorded")),
        }
    }

    async fn update(
        &self,
        cx: &Context,
        at: &Address,
        body: &Object,
        refused: Vec<Problem>,
        condition: Option<&Condition>,
    ) -> Result<Reply> {
        let kind = at.kind;
        let (patch, mut problems) = self.bodies(cx).patch(at, self.taken(kind), body);
        problems.extend(refused);
        if !problems.is_empty() {
            return self.refuse(cx, kind, None, Work::Update(at.clone(), patch), body, problems).await;
        }
        let done = self.perform_if(cx, Work::Update(at.clone(), patch), condition).await;
        let Outcome::Updated(updated) = done.map_err(|error| self.as_sent(cx, body, error))? else {
            return Err(unfitting());
        };
        let record = updated.ok_or_else(Error::not_found)?;
        Ok(self.written_reply(cx, StatusCode::OK, &record))
    }

    pub(super) async fn delete(&self, cx: &Context, at: &Address, headers: &HeaderMap) -> Result<Reply> {
        let condition = self.condition(cx, headers);
        let done = self.perform_if(cx, Work::Delete(at.clone()), condition.as_ref()).await?;
        let Outcome::Deleted(was_there) = done else {
            return Err(unfitting());
        };
        if !was_there {
            return Err(Error::not_found());
        }
        let success = DELETED.usual(self.inner.settings.style);
        match success.output {
            Output::Nothing => Ok(Reply::empty(success.status)),
            _ => Ok(notice(&format!("The {} was deleted.", in_words(at.kind)))),
        }
    }

    async fn help(
        &self,
        cx: &Context,
        helper: HelperName,
        container: Option<&Address>,
        body: &Object,
        refused: Vec<Problem>,
    ) -> Result<Reply> {
        let kind = helper.records();
        let (plan, mut problems) = self.plan(cx, helper, container, body);
        problems.extend(refused);
        if !problems.is_empty() {
            return self.refuse(cx, kind, container, Work::Help(Box::new(plan)), body, problems).await;
        }
        let finds_container = match self.inner.helpers.get(&helper) {
            Some(Runner::Native(runner)) => runner.finds_container(),
            _ => false,
        };
        if !finds_container {
            self.container_exists(cx, container).await?;
        }
        let outcome = self.run(cx, plan, body).await?;
        if outcome.has_failures() {
            return Ok(self.report(cx, &outcome));
        }
        if helper == HelperName::Schedule {
            return Ok(notice("The message is scheduled."));
        }
        if cx.is_anonymous() {
            return Ok(Reply::hal(StatusCode::OK, b"{}".to_vec()));
        }
        match outcome.action.as_ref().or(outcome.person.as_ref()) {
            Some(record) => Ok(self.written_reply(cx, StatusCode::OK, record)),
            None => Err(Error::unexpected("a helper answered without what it recorded")),
        }
    }

    pub(super) async fn cancel(&self, cx: &Context, message: &Address) -> Result<Reply> {
        let (mut plan, _) = self.plan(cx, HelperName::Schedule, Some(message), &Object::new());
        plan.schedule = Some(Scheduling::Cancel);
        self.run(cx, plan, &Object::new()).await?;
        Ok(notice("The message is no longer scheduled."))
    }

    fn plan(
        &self,
        cx: &Context,
        helper: HelperName,
        container: Option<&Address>,
        body: &Object,
    ) -> (RawPlan, Vec<Problem>) {
        let call = HelperBody {
            helper,
            container,
            action: self.taken(helper.records()),
            person: self.taken(Kind::Person),
            functions: &self.inner.functions,
            atomic: self.inner.settings.atomic,
            strangers: cx.is_anonymous().then_some(&self.inner.settings.strangers),
            changes_people: cx.caller.may(Right::On(Kind::Person, Operation::Update)),
        };
        let (mut plan, mut problems) = self.bodies(cx).plan(&call, body);
        // Where all of it fails, what is not supported fails with it (ERR-38).
        if plan.atomic {
            problems.extend(plan.functions.unsupported.drain(..).map(|(_, problem)| problem));
        }
        (plan, problems)
    }

    async fn run(&self, cx: &Context, mut plan: RawPlan, body: &Object) -> Result<RawOutcome> {
        // Runners do not see what is not registered, so that none can forget to report it (ERR-38).
        let unsupported = std::mem::take(&mut plan.functions.unsupported);
        let done = self.perform(cx, Work::Help(Box::new(plan))).await.map_err(|error| self.as_sent(cx, body, error))?;
        let Outcome::Helped(mut outcome) = done else { return Err(unfitting()) };
        for (kind, problem) in unsupported {
            outcome.refused_function(kind, problem);
        }
        for entry in &mut outcome.entries {
            if let EntryStatus::Failed(problems) = &mut entry.status {
                *problems = self.bodies(cx).as_sent(body, std::mem::take(problems));
            }
        }
        Ok(outcome)
    }

    /// The registered operations, for rules that stand on them.
    pub(super) fn composed(&self) -> Composed<'_> {
        let settings = &self.inner.settings;
        Composed {
            registered: &self.inner.registered,
            matching: settings.matching.as_ref(),
            transactions: settings.transactions.as_deref(),
            classify: &settings.classify,
        }
    }

    /// What a store refused, named as the client wrote it (ERR-26).
    fn as_sent(&self, cx: &Context, body: &Object, error: Error) -> Error {
        self.classified(error).map_problems(|problems| self.bodies(cx).as_sent(body, problems))
    }

    /// 400 with one entry for each resource (ERR-30, ERR-31).
    ///
    /// What failed alone failed as a whole (ERR-20).
    fn report(&self, cx: &Context, outcome: &RawOutcome) -> Reply {
        if let [entry] = outcome.entries.as_slice() {
            return self.invalid(Some(entry.kind), &outcome.problems());
        }
        let mut body = Vec::with_capacity(2048);
        let examples = self.inner.settings.style == ResponseStyle::Examples;
        let is_shown = |record: &&RawRecord| cx.may_read(record.kind()) || outcome.was_created(record.kind());
        let embedded: Vec<_> = [&outcome.person, &outcome.action]
            .into_iter()
            .flatten()
            .filter(|record| !cx.is_anonymous() && is_shown(record))
            .map(|record| shown(cx, record))
            .collect();
        let view =
            hal::ReportView { entries: &outcome.entries, embedded: &embedded, anonymous: cx.is_anonymous(), examples };
        hal::non_atomic(&self.hal(&cx.base), &view, &mut body);
        Reply::hal(StatusCode::BAD_REQUEST, body)
    }
}

/// The helper whose plan a create with an inline `person` is (HLP-19, UND-31).
fn helper_for_create(kind: Kind, body: &Object) -> Option<HelperName> {
    body.get("person").filter(|person| !person.is_null())?;
    HelperName::creating(kind)
}

fn notice(text: &str) -> Reply {
    let mut body = Vec::new();
    hal::notice(text, &mut body);
    Reply::hal(StatusCode::OK, body)
}

fn in_words(kind: Kind) -> String {
    kind.singular().replace('_', " ")
}
