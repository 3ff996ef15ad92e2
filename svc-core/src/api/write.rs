//! Executes requests that write: create, update, delete and helpers.

use http::HeaderMap;

use super::{
    Api, Response, WriteRenderer,
    extensions::idempotency::{IdempotentRequest, mark_resumed},
    operation_store::{with_helper, with_operation},
    preferences::{HandlingPreference, Warnings},
    response::kind_of,
    shown::shown,
    write_response::ResponseForm,
};
use crate::{
    auth::{Operation, Right},
    context::Context,
    draft::RawPatch,
    error::{Error, ErrorCode, Problem, PropertyPath, Result},
    hal,
    helper::{Atomicity, HelperName, RawHelperRequest, ScheduleChange},
    json::{Json, Object},
    link::{LinkValue, RecordAddress, Scope, Target},
    model::Kind,
    read::{
        AcceptedMembers, BodyReader, BodyReport, HelperBodyOptions, PERSON, is_enveloped, read_only,
    },
    record::RawRecord,
    store::{WriteOperation, WriteOutcome, WriteRequest},
};

/// The parsed body, or the response to a request that is rejected before the backend is called.
type BodyResult = std::result::Result<Object, Response>;

/// A write request with its parsed body.
#[derive(Clone, Copy)]
pub(super) struct WriteInput<'a> {
    pub(super) target: &'a Target,
    pub(super) body: &'a Object,
    /// The member of the body that contains the record of a change, if it is not the body itself.
    pub(super) envelope: Option<&'static str>,
    pub(super) headers: &'a HeaderMap,
    pub(super) handling: HandlingPreference,
    /// The idempotency key, if the request has one.
    pub(super) idempotent: Option<&'a IdempotentRequest>,
}

impl Api {
    /// Returns the object in a body, or a 400 response if the body is missing or invalid.
    ///
    /// Requirements: UND-27.
    #[expect(
        clippy::result_large_err,
        reason = "a response is as large as its headers, and is created once for each request"
    )]
    pub(super) fn body_object(
        &self,
        cx: &Context,
        kind: Kind,
        body: &[u8],
        may_be_empty: bool,
    ) -> BodyResult {
        if body.iter().all(u8::is_ascii_whitespace) {
            if may_be_empty {
                return Ok(Object::new());
            }
            let text =
                "The request has no body. Send fields in a JSON body, not in the query string.";
            return Err(self.invalid(
                Some(kind),
                &[Problem::for_request(ErrorCode::BodyMissing, text)],
            ));
        }
        self.bodies(cx)
            .object(body)
            .map_err(|problems| self.invalid(Some(kind), &problems))
    }

    /// Returns the members that are accepted for a kind.
    pub(super) fn accepted_members(&self, kind: Kind) -> AcceptedMembers<'_> {
        self.registered(kind).accepted_members()
    }

    /// Executes a write request.
    pub(super) async fn write(
        &self,
        cx: &Context,
        target: &Target,
        body: &[u8],
        headers: &HeaderMap,
    ) -> Response {
        let key = match (target, kind_of(target)) {
            (
                Target::Collection { .. }
                | Target::Helper { .. }
                | Target::Merge(_)
                | Target::UndoMerge(..),
                Some(kind),
            ) => self.idempotency_key(kind, headers),
            _ => Ok(None),
        };
        self.write_keyed(cx, target, body, headers, key).await
    }

    /// Executes a write request with an optional idempotency key.
    pub(super) async fn write_keyed(
        &self,
        cx: &Context,
        target: &Target,
        body: &[u8],
        headers: &HeaderMap,
        key: std::result::Result<Option<&str>, Response>,
    ) -> Response {
        let handling = HandlingPreference::of(headers);
        let may_be_empty = matches!(target, Target::Helper { .. } | Target::UndoMerge(..));
        let object = match kind_of(target) {
            Some(kind) => self.body_object(cx, kind, body, may_be_empty),
            None => Err(self.backend_error_response(Some(target), Error::not_implemented())),
        };
        let mut reply = match (object, key) {
            (Ok(object), Ok(key)) => {
                let idempotent = key.map(|key| self.idempotent(cx, target, key, body));
                let sent = WriteInput {
                    target,
                    body: &object,
                    envelope: None,
                    headers,
                    handling,
                    idempotent: idempotent.as_ref(),
                };
                self.write_object(cx, &sent).await
            }
            (Err(refused), _) | (_, Err(refused)) => refused,
        };
        handling.mark(&mut reply);
        reply
    }

    async fn write_object(&self, cx: &Context, sent: &WriteInput<'_>) -> Response {
        let mut warnings = Warnings::default();
        let done = match sent.target {
            Target::Collection { kind, scope } => {
                self.create(cx, sent, *kind, scope, &mut warnings).await
            }
            Target::Record(at) => self.update(cx, sent, at, &mut warnings).await,
            Target::Merge(at) => self.merge_into(cx, sent, at, &mut warnings).await,
            Target::UndoMerge(at, merge) => {
                self.undo_merge(cx, sent, at, merge, &mut warnings).await
            }
            Target::Helper { helper, container } => {
                self.help(cx, sent, *helper, container.as_ref(), &mut warnings)
                    .await
            }
            _ => Err(Error::not_implemented()),
        };
        let mut reply = done.unwrap_or_else(|error| self.failed(cx, sent.target, error));
        self.warn(cx, &warnings, &mut reply);
        reply
    }

    /// Returns the reader of a body.
    pub(super) fn reader<'a>(&'a self, cx: &'a Context, sent: &WriteInput<'_>) -> BodyReader<'a> {
        BodyReader {
            reports_ignored: sent.handling.reports_ignored(cx),
            ..self.bodies(cx)
        }
    }

    /// Returns the stored record that a change is compared with; `None` if there is none or it cannot
    /// be read with this backend.
    async fn compared_record(&self, cx: &Context, at: &RecordAddress) -> Result<Option<RawRecord>> {
        let backend = &self.registered(at.kind).backend;
        if !backend.has(at.kind, Operation::Read) {
            return Ok(None);
        }
        let read = self.get(cx, at).await;
        read.map_err(|error| self.classified(error))
    }

    /// Returns a stored record as the caller reads it, also in a response with warnings.
    ///
    /// Requirements: UND-22.
    fn stored_document(&self, cx: &Context, record: &RawRecord) -> Option<Object> {
        let (hal, mut document) = (self.hal_for(cx), Vec::new());
        hal::record(&hal, &shown(cx, record), true, &mut document);
        hal::warnings(&hal, &[], &mut document);
        match Json::read_kept(&document)? {
            Json::Object(document) => Some(document),
            _ => None,
        }
    }

    /// Executes a write operation and returns its response.
    pub(super) async fn execute_write(
        &self,
        cx: &Context,
        sent: &WriteInput<'_>,
        work: WriteOperation,
        answering: WriteRenderer,
        warnings: &mut Warnings,
    ) -> Result<Response> {
        let mut answering = answering.warning(warnings, sent.envelope);
        answering.is_stored = sent.idempotent.is_some();
        let condition = match work {
            WriteOperation::Update(..)
            | WriteOperation::Delete(_)
            | WriteOperation::Merge(_)
            | WriteOperation::UndoMerge(_) => self.condition(cx, sent.headers),
            _ => None,
        };
        let links = match &work {
            WriteOperation::Update(_, patch) if sent.handling.reports_ignored(cx) => {
                patch.links.clone()
            }
            _ => Vec::new(),
        };
        let mut call = WriteRequest::new(cx, work).only_if(condition.as_ref());
        call.reports_shared_addresses &= {
            let people = &self.registered(Kind::Person).backend;
            people.has(Kind::Person, Operation::Read)
        };
        call.response_recorder = sent
            .idempotent
            .map(|asked| self.response_recorder(cx, asked, &answering, sent.body));
        let outcome = self
            .perform(cx, call)
            .await
            .map_err(|error| self.classified(error))
            .map_err(|error| error.map_problems(|problems| self.as_sent(cx, sent, problems)))?;
        let reply = match (outcome, sent.idempotent) {
            (WriteOutcome::Replayed(kept), Some(asked)) => {
                self.replay(sent.target, asked, &kept)?
            }
            (outcome, _) => {
                let ignored = ignored_links(&outcome, &links);
                let outcome = outcome.with_warnings(ignored);
                let is_resumed = matches!(outcome.without_warnings(), WriteOutcome::Resumed(_));
                let mut reply = self.answer_to(cx, &answering, sent.body, outcome)?;
                if is_resumed {
                    mark_resumed(&mut reply);
                }
                reply
            }
        };
        // The response contains them.
        warnings.clear();
        Ok(reply)
    }

    async fn create(
        &self,
        cx: &Context,
        sent: &WriteInput<'_>,
        kind: Kind,
        scope: &Scope,
        warnings: &mut Warnings,
    ) -> Result<Response> {
        let body = sent.body;
        let container = match scope {
            Scope::All => None,
            Scope::Under(container) => Some(container),
        };
        if let Some(helper) = helper_for_create(kind, body) {
            return self
                .create_with_person(cx, sent, helper, container, warnings)
                .await;
        }
        let taken = self.accepted_members(kind);
        let (draft, report) = self.reader(cx, sent).draft(kind, taken, body, container);
        let problems = sent.handling.problems(report, warnings);
        if !problems.is_empty() {
            return self
                .rejection_response(
                    cx,
                    kind,
                    container,
                    WriteOperation::Create(draft),
                    sent,
                    problems,
                )
                .await;
        }
        self.execute_write(
            cx,
            sent,
            WriteOperation::Create(draft),
            WriteRenderer::new(ResponseForm::Record, kind),
            warnings,
        )
        .await
    }

    /// Returns a not-found error if the container does not exist.
    ///
    /// Requirements: HLP-23, UND-39.
    pub(super) async fn container_exists(
        &self,
        cx: &Context,
        container: Option<&RecordAddress>,
    ) -> Result<()> {
        match container {
            Some(container) if !self.record_exists(cx, container).await? => Err(Error::not_found()),
            _ => Ok(()),
        }
    }

    /// Creates a record with an inline `person`.
    ///
    /// This is an error if the helper is not supported, because a create must not ignore the
    /// person.
    ///
    /// Requirements: ERR-07.
    async fn create_with_person(
        &self,
        cx: &Context,
        sent: &WriteInput<'_>,
        helper: HelperName,
        container: Option<&RecordAddress>,
        warnings: &mut Warnings,
    ) -> Result<Response> {
        let body = sent.body;
        if !self.inner.helpers.contains_key(&helper) {
            self.container_exists(cx, container).await?;
            return Err(Error::not_implemented());
        }
        let kind = helper.recorded_kind();
        let (plan, report) = self.plan(cx, sent, helper, container);
        let mut problems = sent.handling.problems(report, warnings);
        let name = Kind::Person.singular();
        let relation = self.dialect().relation(name);
        let links = body.get("_links").and_then(Json::as_object);
        let linked = links.and_then(|links| links.get(&relation).or_else(|| links.get(name)));
        if helper != HelperName::PersonSignup && linked.is_some_and(|link| !link.is_null()) {
            let properties = ["person", &format!("_links.{name}")];
            let text = "A request has either an inline person or a link to one, not both.";
            problems.push(Problem::for_properties(
                ErrorCode::FieldInvalid,
                &properties,
                text,
            ));
        }
        if !problems.is_empty() {
            return self
                .rejection_response(
                    cx,
                    kind,
                    container,
                    WriteOperation::Helper(Box::new(plan)),
                    sent,
                    problems,
                )
                .await;
        }
        self.run(cx, sent, plan, ResponseForm::CreatedWithPerson, warnings)
            .await
    }

    async fn update(
        &self,
        cx: &Context,
        sent: &WriteInput<'_>,
        at: &RecordAddress,
        warnings: &mut Warnings,
    ) -> Result<Response> {
        let sent = &WriteInput {
            envelope: is_enveloped(at.kind, sent.body).then_some(PERSON),
            ..*sent
        };
        let (patch, report, stored) = self.read_patch(cx, sent, at).await?;
        let problems = sent.handling.problems(report, warnings);
        let is_read_only = |problem: &Problem| problem.code == ErrorCode::PropertyReadOnly;
        if let Some(stored) = stored.filter(|_| problems.iter().all(is_read_only))
            && let Some(condition) = self.condition(cx, sent.headers)
        {
            // The values that differ are those of an earlier state. Requirements: ETG-07.
            condition.check(&stored)?;
        }
        let work = WriteOperation::Update(at.clone(), patch);
        if !problems.is_empty() {
            return self
                .rejection_response(cx, at.kind, None, work, sent, problems)
                .await;
        }
        self.execute_write(
            cx,
            sent,
            work,
            WriteRenderer::new(ResponseForm::Record, at.kind),
            warnings,
        )
        .await
    }

    /// Reads the change of the record at an address. Also returns the stored record if the change was
    /// compared with it.
    pub(super) async fn read_patch(
        &self,
        cx: &Context,
        sent: &WriteInput<'_>,
        at: &RecordAddress,
    ) -> Result<(RawPatch, BodyReport, Option<RawRecord>)> {
        let reader = self.reader(cx, sent);
        // A move to another person requires the right to create the record for that person.
        let create = Right::Operation(at.kind, Operation::Create);
        let taken = AcceptedMembers {
            moves: cx.caller().has_right(create),
            ..self.accepted_members(at.kind)
        };
        let (mut patch, mut report) = reader.patch(at, taken, sent.body, None);
        let stored = if report.needs_stored {
            self.compared_record(cx, at).await?
        } else {
            None
        };
        if let Some(document) = stored
            .as_ref()
            .and_then(|stored| self.stored_document(cx, stored))
        {
            (patch, report) = reader.patch(at, taken, sent.body, Some(&document));
        }
        Ok((patch, report, stored))
    }

    pub(super) async fn delete(
        &self,
        cx: &Context,
        target: &Target,
        at: &RecordAddress,
        headers: &HeaderMap,
    ) -> Result<Response> {
        let sent = WriteInput {
            target,
            body: &Object::new(),
            envelope: None,
            headers,
            handling: HandlingPreference::Unspecified,
            idempotent: None,
        };
        let work = WriteOperation::Delete(at.clone());
        self.execute_write(
            cx,
            &sent,
            work,
            WriteRenderer::new(ResponseForm::Record, at.kind),
            &mut Warnings::default(),
        )
        .await
    }

    async fn help(
        &self,
        cx: &Context,
        sent: &WriteInput<'_>,
        helper: HelperName,
        container: Option<&RecordAddress>,
        warnings: &mut Warnings,
    ) -> Result<Response> {
        let kind = helper.recorded_kind();
        let (mut plan, report) = self.plan(cx, sent, helper, container);
        // A key changes the action that an e-mail address finds only with the right to change actions.
        let may_change = Right::Operation(kind, Operation::Update);
        let may_change = cx.is_anonymous() || cx.caller().has_right(may_change);
        let mut limited = self.inner.settings.one_action.iter();
        plan.one_action_per_person = may_change && limited.any(|(limited, _)| *limited == helper);
        let problems = sent.handling.problems(report, warnings);
        if !problems.is_empty() {
            return self
                .rejection_response(
                    cx,
                    kind,
                    container,
                    WriteOperation::Helper(Box::new(plan)),
                    sent,
                    problems,
                )
                .await;
        }
        let is_schedule = helper == HelperName::Schedule;
        self.run(
            cx,
            sent,
            plan,
            if is_schedule {
                ResponseForm::Notice("The message is scheduled.")
            } else {
                ResponseForm::Called
            },
            warnings,
        )
        .await
    }

    pub(super) async fn cancel(
        &self,
        cx: &Context,
        target: &Target,
        message: &RecordAddress,
    ) -> Result<Response> {
        let sent = WriteInput {
            target,
            body: &Object::new(),
            envelope: None,
            headers: &HeaderMap::new(),
            handling: HandlingPreference::Unspecified,
            idempotent: None,
        };
        let (mut plan, _) = self.plan(cx, &sent, HelperName::Schedule, Some(message));
        plan.schedule = Some(ScheduleChange::Cancel);
        self.run(
            cx,
            &sent,
            plan,
            ResponseForm::Notice("The message is no longer scheduled."),
            &mut Warnings::default(),
        )
        .await
    }

    fn plan(
        &self,
        cx: &Context,
        sent: &WriteInput<'_>,
        helper: HelperName,
        container: Option<&RecordAddress>,
    ) -> (RawHelperRequest, BodyReport) {
        let (action, person) = (
            self.accepted_members(helper.recorded_kind()),
            self.accepted_members(Kind::Person),
        );
        let call = HelperBodyOptions {
            atomicity: self.inner.settings.atomicity,
            anonymous_policy: cx.is_anonymous().then_some(&self.inner.settings.strangers),
            may_change_people: cx
                .caller()
                .has_right(Right::Operation(Kind::Person, Operation::Update)),
            ..HelperBodyOptions::new(helper, container, action, person, &self.inner.functions)
        };
        let (mut plan, mut report) = self.reader(cx, sent).helper_request(&call, sent.body);
        plan.is_preview = cx.is_preview();
        // If the request is atomic, unsupported functions are problems of the whole request.
        // Requirements: ERR-38.
        if plan.atomicity == Atomicity::WholeCall {
            report.problems.extend(
                plan.functions
                    .unsupported
                    .drain(..)
                    .map(|(_, problem)| problem),
            );
        }
        (plan, report)
    }

    async fn run(
        &self,
        cx: &Context,
        sent: &WriteInput<'_>,
        mut plan: RawHelperRequest,
        form: ResponseForm,
        warnings: &mut Warnings,
    ) -> Result<Response> {
        // Backends do not get unsupported functions, so that none can forget to report them.
        // Requirements: ERR-38.
        let unsupported = std::mem::take(&mut plan.functions.unsupported);
        let renderer = WriteRenderer::new(form, plan.helper.recorded_kind());
        self.execute_write(
            cx,
            sent,
            WriteOperation::Helper(Box::new(plan)),
            renderer.reporting(unsupported),
            warnings,
        )
        .await
    }

    /// Executes a write request in the store.
    pub(super) async fn perform(&self, cx: &Context, call: WriteRequest) -> Result<WriteOutcome> {
        let operation = match &call.operation {
            WriteOperation::Create(draft) => Ok((draft.kind, "create")),
            WriteOperation::Update(at, _) => Ok((at.kind, "update")),
            WriteOperation::Delete(at) => Ok((at.kind, "delete")),
            WriteOperation::Merge(request) => Ok((request.remaining.kind, "merge")),
            WriteOperation::UndoMerge(request) => Ok((request.remaining.kind, "undo merge")),
            WriteOperation::Import(load) => Ok((load.draft.kind, "import")),
            WriteOperation::Helper(plan) => Err(plan.helper),
        };
        let outcome = self.inner.store.write(cx, call).await;
        outcome.map_err(|error| match operation {
            Ok((kind, operation)) => with_operation(kind, operation)(error),
            Err(helper) => with_helper(helper)(error),
        })
    }

    /// Renames the properties in problems of the backend to those that the client sent.
    ///
    /// Requirements: ERR-26.
    pub(super) fn as_sent(
        &self,
        cx: &Context,
        sent: &WriteInput<'_>,
        problems: Vec<Problem>,
    ) -> Vec<Problem> {
        let part = sent.envelope.map(PropertyPath::member).unwrap_or_default();
        let problems = problems.into_iter().map(|problem| problem.within(&part));
        self.bodies(cx).as_sent(sent.body, problems.collect())
    }
}

/// Returns the warnings about links of an update that the backend did not change. A record without
/// the link causes none, because a backend need not return it.
///
/// Requirements: CRU-16, UND-22.
fn ignored_links(
    outcome: &WriteOutcome,
    sent: &[(&'static str, Option<RecordAddress>)],
) -> Vec<Problem> {
    let WriteOutcome::Updated(Some(record)) = outcome.without_warnings() else {
        return Vec::new();
    };
    let differs = |(name, to): &&(&'static str, Option<RecordAddress>)| {
        let mut links = record.links().iter().filter(|(link, _)| link == name);
        links.any(|(_, stored)| match (stored, to) {
            (LinkValue::Local(stored), Some(to)) => stored.id != to.id,
            _ => true,
        })
    };
    let ignored = sent.iter().filter(differs);
    ignored
        .map(|(name, _)| read_only(PropertyPath::link(*name)))
        .collect()
}

/// Returns the helper that executes a create with an inline `person`.
///
/// Requirements: HLP-19, UND-31.
fn helper_for_create(kind: Kind, body: &Object) -> Option<HelperName> {
    body.get("person").filter(|person| !person.is_null())?;
    HelperName::for_nested_create(kind)
}
