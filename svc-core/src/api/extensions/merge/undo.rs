//! Undo of merges of people: the operations, their link, their setting and their capability name.
//!
//! Requirements: MRG-20, MRG-21.

use std::time::Duration;

use async_trait::async_trait;
use http::{HeaderValue, Method, StatusCode, header::CACHE_CONTROL};

use super::hal::{self, UndoneMergeView};
use crate::{
    api::{
        Api, ApiBuilder, Response, WriteRenderer, admitted::AuthorizedParts, extensions::Extension,
        preferences::Warnings, write::WriteInput, write_response::ResponseForm,
    },
    auth::Right,
    context::Context,
    error::{Error, Result},
    hal::RecordLink,
    link::{RecordAddress, Target},
    model::Kind,
    operation::{
        ExtensionName, Handler, OperationSpec, RequestBodyKind, RequiredRight, ResponseBodyKind,
        TargetShape, always,
    },
    read::BodyReport,
    store::{UndoMergeOutcome, UndoMergeRequest, WriteOperation},
    value::Id,
};

const NAME: ExtensionName = ExtensionName::UndoMerge;

/// How long a merge can be undone by default: 30 days.
const DEFAULT_PERIOD: Duration = Duration::from_secs(30 * 24 * 60 * 60);

pub(in super::super) static OPERATIONS: &[OperationSpec] = &[
    OperationSpec {
        name: "merges",
        method: Method::GET,
        shape: TargetShape::PersonMerges,
        need: RequiredRight::MergePeople,
        input: RequestBodyKind::Nothing,
        answers: always(
            StatusCode::OK,
            ResponseBodyKind::Merges,
            "The newest 100 merges, the newest first.",
        ),
        id: "list_merges",
        summary: "Lists the merges of other people into this one.",
        handler: Handler::Extension(NAME),
    },
    OperationSpec {
        name: "undo_merge",
        method: Method::POST,
        shape: TargetShape::UndoMerge,
        need: RequiredRight::MergePeople,
        input: RequestBodyKind::UndoMerge,
        answers: always(
            StatusCode::OK,
            ResponseBodyKind::UndoneMerge,
            "The remaining person, with what was undone.",
        ),
        id: "undo_merge",
        summary: "Undoes a merge of another person into this one.",
        handler: Handler::Extension(NAME),
    },
];

static LINKS: &[RecordLink] = &[RecordLink {
    relation: NAME.relation(),
    kind: Kind::Person,
    right: Right::MergePeople,
    target: Target::PersonMerges,
}];

/// The setting for how long merges can be undone.
#[derive(Default)]
pub(crate) struct UndoMerges {
    /// The configured period; `None` for the default.
    configured: Option<Duration>,
    /// Whether the API merges people, in a store that undoes merges.
    is_supported: bool,
}

impl UndoMerges {
    /// Returns how long merges can be undone; `None` if they cannot be undone.
    fn period(&self) -> Option<Duration> {
        let period = self.configured.unwrap_or(DEFAULT_PERIOD);
        Some(period).filter(|period| self.is_supported && !period.is_zero())
    }

    /// Returns the setting if merges can be undone.
    pub(in crate::api) fn offered(&self) -> Option<&Self> {
        self.period().map(|_| self)
    }

    /// Sets whether the API merges people, in a store that undoes merges.
    pub(in crate::api) fn set_supported(&mut self, is_supported: bool) {
        self.is_supported = is_supported;
    }

    /// Returns the problem of a period that was configured and has no effect.
    pub(in crate::api) fn contradiction(&self, merges_people: bool) -> Option<&'static str> {
        let period = self.configured?;
        if !merges_people {
            return Some(
                "`.undo_merges_for(...)` has no effect without merges of people: call `.merge_people()`, or remove `.undo_merges_for(...)`",
            );
        }
        (!period.is_zero() && !self.is_supported).then_some(
            "merges cannot be undone: register a store that undoes merges, or remove `.undo_merges_for(...)`",
        )
    }
}

#[async_trait]
impl Extension for UndoMerges {
    fn behaviours(&self) -> Vec<&'static str> {
        vec!["merge_people.undo"]
    }

    fn name(&self) -> Option<ExtensionName> {
        Some(NAME)
    }

    fn record_links(&self) -> &'static [RecordLink] {
        LINKS
    }

    async fn answer(&self, call: &AuthorizedParts<'_>) -> Result<Response> {
        match &*call.target {
            Target::PersonMerges(person) => call.api.list_merges(&call.context, person).await,
            _ => call.api.change_merged(call).await,
        }
    }
}

impl ApiBuilder {
    /// Sets how long a merge of two people can be undone. The default is 30 days.
    ///
    /// A caller with the right `people.merge` gets a link in each person to the merges into this person,
    /// each with a link that undoes it. The store deletes the data for the undo within about a day after this
    /// period, when the server gets a request. [`Duration::ZERO`] means that merges cannot be undone.
    ///
    /// This needs [`merge_people`](Self::merge_people), and a [`Store`](crate::store::Store) that
    /// [undoes merges](crate::store::Store::undoes_merges), otherwise it is a build error.
    ///
    /// Requirements: MRG-20.
    #[must_use]
    pub fn undo_merges_for(mut self, period: Duration) -> Self {
        self.settings.extensions.undo_merges.configured = Some(period);
        self
    }
}

impl Api {
    /// Returns how long a merge of two people can be undone; `None` if it cannot be undone.
    ///
    /// Requirements: MRG-20.
    #[must_use]
    pub fn undo_period(&self) -> Option<Duration> {
        self.extensions().undo_merges.period()
    }

    /// Returns the newest merges of other people into a person.
    async fn list_merges(&self, cx: &Context, person: &RecordAddress) -> Result<Response> {
        if self.get(cx, person).await?.is_none() {
            return Err(Error::not_found());
        }
        let merges = self.inner.store.merges(cx, &person.id).await?;
        let mut body = Vec::with_capacity(1024);
        hal::merges(
            &self.hal_for(cx),
            person,
            &merges,
            cx.received_at(),
            &mut body,
        );
        let mut reply = Response::hal(StatusCode::OK, body);
        // Whether a merge can be undone depends on the time.
        reply.insert(CACHE_CONTROL, Some(HeaderValue::from_static("no-store")));
        Ok(reply)
    }

    /// Undoes a merge into the person at an address.
    pub(in crate::api) async fn undo_merge(
        &self,
        cx: &Context,
        sent: &WriteInput<'_>,
        at: &RecordAddress,
        merge: &Id,
        warnings: &mut Warnings,
    ) -> Result<Response> {
        let report = BodyReport {
            ignored: self.reader(cx, sent).unknown_members(sent.body, &[], &[]),
            ..BodyReport::default()
        };
        let problems = sent.handling.problems(report, warnings);
        let request = UndoMergeRequest::new(at.clone(), merge.clone());
        let work = WriteOperation::UndoMerge(request);
        if !problems.is_empty() {
            return self
                .rejection_response(cx, Kind::Person, None, work, sent, problems)
                .await;
        }
        let renderer = WriteRenderer::new(ResponseForm::Record, Kind::Person);
        self.execute_write(cx, sent, work, renderer, warnings).await
    }

    /// Returns the response to an undone merge: the remaining person, with what was undone as far as the
    /// caller may see it.
    ///
    /// Requirements: MRG-20, AUT-04.
    pub(in crate::api) fn undone_reply(
        &self,
        cx: &Context,
        outcome: &UndoMergeOutcome,
    ) -> Response {
        let mut reply = self.written_reply(cx, StatusCode::OK, &outcome.person);
        let moved = outcome.moved.iter().copied();
        let folded = outcome.folded.iter();
        let left = outcome.left.iter();
        let view = UndoneMergeView {
            restored: outcome.restored.address(),
            moved: moved.filter(|(kind, _)| cx.may_read(*kind)).collect(),
            folded: folded
                .filter(|pair| cx.may_read(pair.remaining.kind))
                .collect(),
            left: left
                .filter(|property| self.shows_property(cx, property))
                .collect(),
        };
        let mut body = Vec::from(std::mem::take(&mut reply.body));
        hal::undone_merge(&self.hal_for(cx), &view, &mut body);
        reply.body = body.into();
        reply
    }
}
