//! Conditional requests (RFC 9110, section 13): what clients have is not sent again, and what they
//! do not know is not overwritten.
//!
//! Requirements: ETG-01 to ETG-11.

mod entity_tag;

use std::cmp::Ordering;

use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{CONTENT_LOCATION, ETAG, IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE, LAST_MODIFIED},
};

pub use self::entity_tag::{EntityTag, EntityTagCondition};
use self::entity_tag::{http_date, seconds};
use super::Extension;
use crate::{
    api::{Api, ApiBuilder, Response, shown::shown},
    context::Context,
    error::ErrorCode,
    hal,
    link::Target,
    record::RawRecord,
    store::Precondition,
    value::Timestamp,
};

/// A second in microseconds.
const SECOND: i64 = 1_000_000;

/// Whether a server that answers conditional requests takes changes without `If-Match`.
///
/// Requirements: ETG-09.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum IfMatchPolicy {
    /// It does: who sends no condition changes whatever is there.
    #[default]
    Optional,
    /// `PUT` and `DELETE` on a record without `If-Match` are answered 428.
    Required,
}

impl Extension for IfMatchPolicy {
    fn behaviours(&self) -> Vec<&'static str> {
        let required = (*self == Self::Required).then_some("require_if_match");
        std::iter::once("conditional_requests")
            .chain(required)
            .collect()
    }
}

impl ApiBuilder {
    /// Answers conditional requests, and declares it (ETG): answers have an `ETag`, a client that
    /// has one already is answered 304, and a change with `If-Match` is made to the record that its
    /// client knows, or not at all: 412.
    ///
    /// Every backend can be served so. A [`Store`](crate::store::Store) compares in the turn of the
    /// change. Operations of a vendor's own are asked by
    /// [`UpdateRequest::expected_state`](crate::UpdateRequest::expected_state) and
    /// [`DeleteRequest::expected_state`](crate::DeleteRequest::expected_state) whether the record
    /// is still the one that was read, and have to answer that in the transaction of the change.
    /// With [`response_cache`](Self::response_cache) a read that is answered 304 asks the backend
    /// for nothing but its revision.
    #[must_use]
    pub fn conditional_requests(mut self, if_match: IfMatchPolicy) -> Self {
        self.settings.extensions.conditional = Some(if_match);
        self
    }
}

/// What a client compares its copy of an answer with.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::api) struct Validators {
    tag: HeaderValue,
    last_modified: Option<HeaderValue>,
}

impl Validators {
    /// Those of an answer, where it has any.
    pub(in crate::api) fn of(reply: &Response) -> Option<Self> {
        let last_modified = reply.headers.get(LAST_MODIFIED).cloned();
        Some(Self {
            tag: reply.headers.get(ETAG)?.clone(),
            last_modified,
        })
    }

    /// An answer that has them.
    pub(in crate::api) fn on(&self, mut reply: Response) -> Response {
        reply.insert(ETAG, Some(self.tag.clone()));
        reply.insert(LAST_MODIFIED, self.last_modified.clone());
        reply
    }
}

/// What a request asks of what is there.
#[derive(Debug, Clone)]
#[expect(clippy::struct_field_names, reason = "the names of the headers")]
pub(in crate::api) struct RequestConditions {
    if_match: Option<EntityTagCondition>,
    if_unmodified_since: Option<i64>,
    if_none_match: Option<EntityTagCondition>,
}

/// What becomes of a request by its conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::api) enum ConditionOutcome {
    /// It is done.
    Done,
    /// Its client has the answer already: 304 to a read.
    Known,
    /// What is there is not what it is for: 412.
    Failed,
}

impl RequestConditions {
    /// Those of a request; `None` where it has none.
    ///
    /// `If-Modified-Since` is none of them: sums and links of a record change without its date, and
    /// twice in a second.
    pub(in crate::api) fn of(headers: &HeaderMap) -> Option<Self> {
        let if_match = EntityTagCondition::from_headers(headers, &IF_MATCH);
        let if_none_match = EntityTagCondition::from_headers(headers, &IF_NONE_MATCH);
        let if_unmodified_since = seconds(headers, &IF_UNMODIFIED_SINCE);
        let any = if_match.is_some() || if_none_match.is_some() || if_unmodified_since.is_some();
        any.then_some(Self {
            if_match,
            if_unmodified_since,
            if_none_match,
        })
    }

    /// Judges them in the order of RFC 9110, section 13.2.2, for a representation with this tag.
    /// `is_unmodified` is asked whether it is unmodified since the date of the request.
    fn judge(&self, tag: &[u8], is_unmodified: impl FnOnce(i64) -> bool) -> ConditionOutcome {
        match (&self.if_match, self.if_unmodified_since) {
            (Some(named), _) if !named.matches_strong(tag) => return ConditionOutcome::Failed,
            (None, Some(date)) if !is_unmodified(date) => return ConditionOutcome::Failed,
            _ => {}
        }
        let is_known = self
            .if_none_match
            .as_ref()
            .is_some_and(|named| named.matches_weak(tag));
        if is_known {
            ConditionOutcome::Known
        } else {
            ConditionOutcome::Done
        }
    }

    /// Judges them for a read that is answered with these validators.
    pub(in crate::api) fn of_read(&self, validators: &Validators) -> ConditionOutcome {
        let modified = || {
            let headers =
                HeaderMap::from_iter([(LAST_MODIFIED, validators.last_modified.clone()?)]);
            seconds(&headers, &LAST_MODIFIED)
        };
        self.judge(validators.tag.as_bytes(), |date| {
            modified().is_none_or(|modified| modified <= date)
        })
    }

    /// Whether all of them are but `If-Match: *`, which any record fulfils.
    fn is_of_state(&self) -> bool {
        let Self {
            if_match,
            if_unmodified_since,
            if_none_match,
        } = self;
        let any = |named: &Option<EntityTagCondition>| {
            matches!(named, None | Some(EntityTagCondition::Any))
        };
        !any(if_match) || if_none_match.is_some() || if_unmodified_since.is_some()
    }
}

impl Api {
    /// Whether conditional requests are answered, and which changes need one.
    ///
    /// Requirements: ETG-01, ETG-09.
    #[must_use]
    pub fn if_match_policy(&self) -> Option<IfMatchPolicy> {
        self.extensions().conditional
    }

    /// The conditions of a request, where they count here.
    pub(in crate::api) fn conditions(&self, headers: &HeaderMap) -> Option<RequestConditions> {
        self.if_match_policy()
            .and_then(|_| RequestConditions::of(headers))
    }

    /// The answer with the tag of its body, where there are tags.
    ///
    /// Requirements: ETG-01, ETG-02.
    pub(in crate::api) fn tagged(&self, mut reply: Response) -> Response {
        if self.if_match_policy().is_some() {
            reply.insert(ETAG, EntityTag::from_bytes(&reply.body).to_header());
        }
        reply
    }

    /// The same for the answer with a record, which also says when that was changed.
    ///
    /// Requirements: ETG-03.
    pub(in crate::api) fn tagged_record(
        &self,
        mut reply: Response,
        record: &RawRecord,
    ) -> Response {
        if self.if_match_policy().is_some() {
            reply.insert(ETAG, EntityTag::of_record(&reply.body, record).to_header());
            reply.insert(LAST_MODIFIED, http_date(record.meta().modified));
        }
        reply
    }

    /// Says of the answer to a write which record its body and its tag are those of (ETG-08; RFC
    /// 9110, section 8.7).
    pub(in crate::api) fn located(
        &self,
        cx: &Context,
        mut reply: Response,
        record: &RawRecord,
    ) -> Response {
        if self.if_match_policy().is_some() {
            let href = self.hal(&cx.base).href(&Target::Record(record.address()));
            reply.insert(CONTENT_LOCATION, HeaderValue::try_from(href).ok());
        }
        reply
    }

    /// What has to be true of the record that a request changes or deletes, as its caller sees it.
    ///
    /// Requirements: ETG-07.
    pub(in crate::api) fn condition(
        &self,
        cx: &Context,
        headers: &HeaderMap,
    ) -> Option<Precondition> {
        let conditions = self.conditions(headers)?;
        let (api, cx) = (self.clone(), cx.clone());
        Some(Precondition::new(conditions.is_of_state(), move |record| {
            let mut body = Vec::new();
            hal::record(&api.hal(&cx.base), &shown(&cx, record), true, &mut body);
            let tag = EntityTag::of_record(&body, record).to_string();
            let is_unmodified = |date| is_unmodified(record.meta().modified, date, cx.received_at);
            conditions.judge(tag.as_bytes(), is_unmodified) == ConditionOutcome::Done
        }))
    }

    /// 428 to a change without the `If-Match` that it needs.
    ///
    /// Requirements: ETG-09.
    pub(in crate::api) fn unconditional(
        &self,
        target: &Target,
        headers: &HeaderMap,
    ) -> Option<Response> {
        let is_missing = self.if_match_policy() == Some(IfMatchPolicy::Required)
            && !headers.contains_key(IF_MATCH);
        let code = ErrorCode::PreconditionRequired;
        is_missing.then(|| self.error_response(Some(target), code, code.meaning()))
    }

    /// The answer to a read, by the conditions of its request.
    ///
    /// Requirements: ETG-05, ETG-06.
    pub(in crate::api) fn by_conditions(
        &self,
        target: &Target,
        conditions: &RequestConditions,
        reply: Response,
    ) -> Response {
        match Validators::of(&reply).filter(|_| reply.status == StatusCode::OK) {
            Some(validators) => self
                .answered(target, conditions, &validators)
                .unwrap_or(reply),
            None => reply,
        }
    }

    /// The answer to a read that is not done; `None` where it is.
    pub(in crate::api) fn answered(
        &self,
        target: &Target,
        conditions: &RequestConditions,
        validators: &Validators,
    ) -> Option<Response> {
        match conditions.of_read(validators) {
            ConditionOutcome::Done => None,
            ConditionOutcome::Known => {
                Some(validators.on(Response::empty(StatusCode::NOT_MODIFIED)))
            }
            ConditionOutcome::Failed => Some(self.error_response(
                Some(target),
                ErrorCode::PreconditionFailed,
                ErrorCode::PreconditionFailed.meaning(),
            )),
        }
    }
}

/// Whether a record that was modified at this time is unmodified since a date in whole seconds. In
/// the named second itself that is known only one second after the modification: until then the
/// date is a weak validator (RFC 9110, section 8.8.2.2).
///
/// Requirement: ETG-11.
fn is_unmodified(modified: Timestamp, date: i64, now: Timestamp) -> bool {
    let (modified, now) = (modified.micros(), now.micros());
    match modified.div_euclid(SECOND).cmp(&date) {
        Ordering::Less => true,
        Ordering::Equal => now.saturating_sub(modified) >= SECOND,
        Ordering::Greater => false,
    }
}
