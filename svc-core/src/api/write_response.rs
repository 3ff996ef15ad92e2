//! Turns the outcome of a write request into its response.
//!
//! Requirements: CRU-13, HLP-07, ERR-30.

use http::StatusCode;

use super::{
    Api, Response, extensions::idempotency::stored_response, preferences::Warnings, shown::shown,
};
use crate::{
    context::Context,
    error::{Error, Problem, PropertyPath, Result},
    hal,
    helper::{EntryStatus, RawHelperOutcome, WriteEffect},
    json::Object,
    link::Target,
    model::Kind,
    operation::{CREATED, DELETED, ResponseBodyKind},
    record::RawRecord,
    store::WriteOutcome,
};

/// How to render the outcome of a write request.
///
/// It is determined before the transaction starts, so that the response can be stored in the same
/// transaction.
#[derive(Debug, Clone)]
pub(super) struct WriteRenderer {
    form: ResponseForm,
    /// The kind of the record.
    kind: Kind,
    /// The member of the body that contains the record, if it is not the body itself.
    envelope: Option<&'static str>,
    /// The warnings about the body.
    warnings: Warnings,
    /// Whether the response is stored. It then names no other people than those of the request,
    /// because it is not deleted with them.
    ///
    /// Requirements: IDM-08.
    pub(super) is_stored: bool,
    /// Action functions that were not executed, because this server does not support them.
    ///
    /// Requirements: ERR-38.
    unsupported: Vec<(Kind, Problem)>,
}

/// The content of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResponseForm {
    /// The record that was created or changed.
    Record,
    /// The record that was created together with its person.
    CreatedWithPerson,
    /// The record of a helper; an empty object for an anonymous caller.
    Called,
    /// A confirmation text.
    Notice(&'static str),
}

impl WriteRenderer {
    pub(super) fn new(form: ResponseForm, kind: Kind) -> Self {
        Self {
            form,
            kind,
            envelope: None,
            warnings: Warnings::default(),
            is_stored: false,
            unsupported: Vec::new(),
        }
    }

    /// Adds the warnings about the body, and the member that contains the record.
    pub(super) fn warning(self, warnings: &Warnings, envelope: Option<&'static str>) -> Self {
        Self {
            envelope,
            warnings: warnings.clone(),
            ..self
        }
    }

    /// Adds action functions that were not executed.
    pub(super) fn reporting(self, unsupported: Vec<(Kind, Problem)>) -> Self {
        Self {
            unsupported,
            ..self
        }
    }
}

impl Api {
    /// Returns the response for an outcome. It depends on nothing else, so it can be rendered
    /// again.
    pub(super) fn answer_to(
        &self,
        cx: &Context,
        answering: &WriteRenderer,
        body: &Object,
        outcome: WriteOutcome,
    ) -> Result<Response> {
        let (outcome, found) = outcome.split_warnings();
        let part = answering.envelope.map(PropertyPath::member);
        let part = part.unwrap_or_default();
        let found = found.into_iter().map(|warning| {
            let mut warning = warning.within(&part);
            if answering.is_stored {
                warning.other = None;
            }
            warning
        });
        let mut warnings = answering.warnings.clone();
        warnings.extend(self.bodies(cx).as_sent(body, found.collect()));
        let mut reply = self.rendered(cx, answering, body, outcome)?;
        self.warn(cx, &warnings, &mut reply);
        Ok(reply)
    }

    /// Returns the response for an outcome without its warnings.
    fn rendered(
        &self,
        cx: &Context,
        answering: &WriteRenderer,
        body: &Object,
        outcome: WriteOutcome,
    ) -> Result<Response> {
        match outcome {
            WriteOutcome::Created { record, is_new } => {
                Ok(self.written_reply(cx, self.created_status(is_new), &record))
            }
            WriteOutcome::Updated(Some(record)) => {
                Ok(self.written_reply(cx, StatusCode::OK, &record))
            }
            WriteOutcome::Deleted(true) => Ok(self.deleted_reply(answering.kind)),
            WriteOutcome::Merged(outcome) => Ok(self.merged_reply(cx, &outcome)),
            WriteOutcome::MergeUndone(outcome) => Ok(self.undone_reply(cx, &outcome)),
            WriteOutcome::Updated(None) | WriteOutcome::Deleted(false) => Err(Error::not_found()),
            WriteOutcome::HelperDone(outcome) => {
                let outcome = self.render_report(cx, answering, body, outcome);
                let mut reply = self.answer_help(cx, answering, &outcome)?;
                reply.effect = effect_of(&outcome, answering.kind);
                Ok(reply)
            }
            WriteOutcome::Resumed(outcome) => {
                let outcome = self.render_report(cx, answering, body, outcome);
                let mut reply = self.answer_help(cx, answering, &outcome)?;
                reply.effect = Some(WriteEffect::Updated);
                Ok(reply)
            }
            WriteOutcome::Replayed(kept) => Ok(stored_response(&kept)?.1),
            WriteOutcome::Warned(outcome, _) => self.rendered(cx, answering, body, *outcome),
        }
    }

    fn answer_help(
        &self,
        cx: &Context,
        answering: &WriteRenderer,
        outcome: &RawHelperOutcome,
    ) -> Result<Response> {
        if outcome.has_failures() {
            return Ok(self.report(cx, outcome));
        }
        let status = match answering.form {
            ResponseForm::Notice(text) => return Ok(notice(text)),
            ResponseForm::CreatedWithPerson => {
                self.created_status(outcome.was_created(answering.kind))
            }
            _ if cx.is_anonymous() => return Ok(Response::hal(StatusCode::OK, b"{}".to_vec())),
            _ => StatusCode::OK,
        };
        match outcome.action.as_ref().or(outcome.person.as_ref()) {
            Some(record) if cx.is_minimal() => Ok(self.link_reply(cx, status, record)),
            Some(record) => Ok(self.written_reply(cx, status, record)),
            None => Err(Error::unexpected("a helper returned no record")),
        }
    }

    /// Completes the outcome of a helper: adds unsupported functions, and names properties as the
    /// client wrote them.
    ///
    /// Requirements: ERR-26, ERR-38.
    fn render_report(
        &self,
        cx: &Context,
        answering: &WriteRenderer,
        body: &Object,
        mut outcome: RawHelperOutcome,
    ) -> RawHelperOutcome {
        for (kind, problem) in &answering.unsupported {
            outcome.refused_function(*kind, problem.clone());
        }
        for entry in &mut outcome.entries {
            if let EntryStatus::Failed(problems) = &mut entry.status {
                *problems = self.bodies(cx).as_sent(body, std::mem::take(problems));
            }
        }
        outcome
    }

    /// Returns the response with the record of a write.
    pub(super) fn written_reply(
        &self,
        cx: &Context,
        status: StatusCode,
        record: &RawRecord,
    ) -> Response {
        self.located(cx, self.record_reply(cx, status, record), record)
    }

    /// Returns a response that has only the link to the record of a write.
    ///
    /// Requirements: BAT-09.
    fn link_reply(&self, cx: &Context, status: StatusCode, record: &RawRecord) -> Response {
        let mut body = b"{\"_links\":{\"self\":".to_vec();
        let hal = self.hal(cx.base());
        hal.write_link(&Target::Record(record.address()), &mut body);
        body.extend_from_slice(b"}}");
        Response::hal(status, body)
    }

    /// Returns the response to a delete.
    fn deleted_reply(&self, kind: Kind) -> Response {
        let success = DELETED.usual(self.inner.settings.style);
        match success.body {
            ResponseBodyKind::Nothing => Response::empty(success.status),
            _ => notice(&format!(
                "The {} was deleted.",
                kind.singular().replace('_', " ")
            )),
        }
    }

    /// Returns 201, or 200 for a record that already existed and in the response style `examples`.
    ///
    /// Requirements: CRU-13, UND-38.
    fn created_status(&self, is_new: bool) -> StatusCode {
        if is_new {
            CREATED.usual(self.inner.settings.style).status
        } else {
            StatusCode::OK
        }
    }

    /// Returns a 400 response with one entry for each resource.
    ///
    /// If there is only one entry, the response is a plain error.
    ///
    /// Requirements: ERR-30, ERR-31, ERR-20.
    fn report(&self, cx: &Context, outcome: &RawHelperOutcome) -> Response {
        if let [entry] = outcome.entries.as_slice() {
            return self.invalid(Some(entry.kind), &outcome.problems());
        }
        let mut body = Vec::with_capacity(2048);
        let is_shown =
            |record: &&RawRecord| cx.may_read(record.kind()) || outcome.was_created(record.kind());
        let embedded: Vec<_> = [&outcome.person, &outcome.action]
            .into_iter()
            .flatten()
            .filter(|record| !cx.is_anonymous() && is_shown(record))
            .map(|record| shown(cx, record))
            .collect();
        let view = hal::ReportView {
            entries: &outcome.entries,
            embedded: &embedded,
            anonymous: cx.is_anonymous(),
            style: self.inner.settings.style,
        };
        hal::non_atomic(&self.hal_for(cx), &view, &mut body);
        Response::hal(StatusCode::BAD_REQUEST, body)
    }
}

/// Returns what a helper has changed, if it is known.
///
/// Requirements: BAT-12.
fn effect_of(outcome: &RawHelperOutcome, kind: Kind) -> Option<WriteEffect> {
    if outcome.was_created(kind) {
        return Some(WriteEffect::Created);
    }
    Some(if outcome.is_unchanged? {
        WriteEffect::Unchanged
    } else {
        WriteEffect::Updated
    })
}

/// Returns a response with a confirmation text.
fn notice(text: &str) -> Response {
    let mut body = Vec::new();
    hal::notice(text, &mut body);
    Response::hal(StatusCode::OK, body)
}
