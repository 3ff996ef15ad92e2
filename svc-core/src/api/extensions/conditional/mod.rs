//! Conditional requests (RFC 9110, section 13): they save bandwidth and prevent lost updates.
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

/// Whether a server with conditional requests accepts changes without `If-Match`.
///
/// Requirements: ETG-09.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum IfMatchPolicy {
    /// It does. A change without a condition applies to any state of the record.
    #[default]
    Optional,
    /// `PUT` and `DELETE` on a record without `If-Match` get a 428 response.
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
    /// Enables conditional requests and declares them.
    ///
    /// Responses have an `ETag`. A read gets a 304 response if the client already has the current
    /// state. A change with `If-Match` gets a 412 response if the record has changed.
    ///
    /// Every backend can support this. A [`Store`](crate::store::Store) compares the record in the
    /// transaction of the change. Operations of a vendor get the expected state in
    /// [`UpdateRequest::expected_state`](crate::UpdateRequest::expected_state) and
    /// [`DeleteRequest::expected_state`](crate::DeleteRequest::expected_state). They must compare
    /// it in the transaction of the change.
    ///
    /// With [`response_cache`](Self::response_cache), a read with a 304 response needs only the
    /// revision from the backend.
    ///
    /// Requirements: ETG-01 to ETG-11.
    #[must_use]
    pub fn conditional_requests(mut self, if_match: IfMatchPolicy) -> Self {
        self.settings.extensions.conditional = Some(if_match);
        self
    }
}

/// The validators of a response, which a client compares with its copy.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::api) struct Validators {
    tag: HeaderValue,
    last_modified: Option<HeaderValue>,
}

impl Validators {
    /// Returns the validators of a response, if it has an entity tag.
    pub(in crate::api) fn of(reply: &Response) -> Option<Self> {
        let last_modified = reply.headers.get(LAST_MODIFIED).cloned();
        Some(Self {
            tag: reply.headers.get(ETAG)?.clone(),
            last_modified,
        })
    }

    /// Adds the validators to a response.
    pub(in crate::api) fn on(&self, mut reply: Response) -> Response {
        reply.insert(ETAG, Some(self.tag.clone()));
        reply.insert(LAST_MODIFIED, self.last_modified.clone());
        reply
    }
}

/// The conditions of a request.
#[derive(Debug, Clone)]
#[expect(clippy::struct_field_names, reason = "the names of the headers")]
pub(in crate::api) struct RequestConditions {
    if_match: Option<EntityTagCondition>,
    if_unmodified_since: Option<i64>,
    if_none_match: Option<EntityTagCondition>,
}

/// The result of evaluating the conditions of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::api) enum ConditionOutcome {
    /// The conditions hold: execute the request.
    Proceed,
    /// The client already has the current state: 304 for a read.
    NotModified,
    /// The current state does not satisfy the conditions: 412.
    PreconditionFailed,
}

impl RequestConditions {
    /// Reads the conditions of a request; returns `None` if it has none.
    ///
    /// `If-Modified-Since` is not supported: totals and links of a record can change without its
    /// date, and a record can change twice in a second.
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

    /// Evaluates the conditions in the order of RFC 9110, section 13.2.2, for a representation with
    /// this tag.
    ///
    /// `is_unmodified` returns whether the representation is unmodified since the date of the
    /// request.
    fn evaluate(&self, tag: &[u8], is_unmodified: impl FnOnce(i64) -> bool) -> ConditionOutcome {
        match (&self.if_match, self.if_unmodified_since) {
            (Some(named), _) if !named.matches_strong(tag) => {
                return ConditionOutcome::PreconditionFailed;
            }
            (None, Some(date)) if !is_unmodified(date) => {
                return ConditionOutcome::PreconditionFailed;
            }
            _ => {}
        }
        let is_known = self
            .if_none_match
            .as_ref()
            .is_some_and(|named| named.matches_weak(tag));
        if is_known {
            ConditionOutcome::NotModified
        } else {
            ConditionOutcome::Proceed
        }
    }

    /// Evaluates the conditions for a read whose response has these validators.
    pub(in crate::api) fn for_read(&self, validators: &Validators) -> ConditionOutcome {
        let modified = || {
            let headers =
                HeaderMap::from_iter([(LAST_MODIFIED, validators.last_modified.clone()?)]);
            seconds(&headers, &LAST_MODIFIED)
        };
        self.evaluate(validators.tag.as_bytes(), |date| {
            modified().is_none_or(|modified| modified <= date)
        })
    }

    /// Returns whether the conditions depend on the state of the record. Only `If-Match: *` does
    /// not.
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
    /// Returns the policy for `If-Match`, or `None` if conditional requests are disabled.
    ///
    /// Requirements: ETG-01, ETG-09.
    #[must_use]
    pub fn if_match_policy(&self) -> Option<IfMatchPolicy> {
        self.extensions().conditional
    }

    /// Returns the conditions of a request, if conditional requests are enabled.
    pub(in crate::api) fn conditions(&self, headers: &HeaderMap) -> Option<RequestConditions> {
        self.if_match_policy()
            .and_then(|_| RequestConditions::of(headers))
    }

    /// Adds the entity tag of the body to a response, if entity tags are enabled.
    ///
    /// Requirements: ETG-01, ETG-02.
    pub(in crate::api) fn tagged(&self, mut reply: Response) -> Response {
        if self.if_match_policy().is_some() {
            reply.insert(ETAG, EntityTag::from_bytes(&reply.body).to_header());
        }
        reply
    }

    /// Adds the entity tag and `Last-Modified` to the response with a record.
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

    /// Adds `Content-Location`: the URL of the record that the body and the entity tag of a write
    /// belong to (RFC 9110, section 8.7).
    ///
    /// Requirements: ETG-08.
    pub(in crate::api) fn located(
        &self,
        cx: &Context,
        mut reply: Response,
        record: &RawRecord,
    ) -> Response {
        if self.if_match_policy().is_some() {
            let href = self.hal(cx.base()).href(&Target::Record(record.address()));
            reply.insert(CONTENT_LOCATION, HeaderValue::try_from(href).ok());
        }
        reply
    }

    /// Returns the precondition for the record that a request changes or deletes, as its caller
    /// sees it.
    ///
    /// Requirements: ETG-07.
    pub(in crate::api) fn condition(
        &self,
        cx: &Context,
        headers: &HeaderMap,
    ) -> Option<Precondition> {
        Some(self.precondition(cx, self.conditions(headers)?))
    }

    /// Returns the precondition for a record with the entity tag that a caller read, in quotes or
    /// without them.
    pub(in crate::api) fn tag_condition(&self, cx: &Context, tag: &str) -> Precondition {
        let tag = match tag.strip_prefix('"') {
            Some(_) => tag.as_bytes().into(),
            None => format!("\"{tag}\"").into_bytes(),
        };
        let strong = vec![tag.into_boxed_slice()];
        let weak = Vec::new();
        let conditions = RequestConditions {
            if_match: Some(EntityTagCondition::Listed { strong, weak }),
            if_unmodified_since: None,
            if_none_match: None,
        };
        self.precondition(cx, conditions)
    }

    fn precondition(&self, cx: &Context, conditions: RequestConditions) -> Precondition {
        let (api, cx) = (self.clone(), cx.clone());
        Precondition::new(conditions.is_of_state(), move |record| {
            let mut body = Vec::new();
            hal::record(&api.hal_for(&cx), &shown(&cx, record), true, &mut body);
            let tag = EntityTag::of_record(&body, record).to_string();
            let is_unmodified =
                |date| is_unmodified(record.meta().modified, date, cx.received_at());
            conditions.evaluate(tag.as_bytes(), is_unmodified) == ConditionOutcome::Proceed
        })
    }

    /// Returns a 428 response to a change without the required `If-Match`.
    ///
    /// Requirements: ETG-09.
    pub(in crate::api) fn require_if_match(
        &self,
        target: &Target,
        headers: &HeaderMap,
    ) -> Option<Response> {
        let is_missing = self.if_match_policy() == Some(IfMatchPolicy::Required)
            && !headers.contains_key(IF_MATCH);
        let code = ErrorCode::PreconditionRequired;
        is_missing.then(|| self.error_response(Some(target), code, code.meaning()))
    }

    /// Applies the conditions of the request to the response of a read.
    ///
    /// Requirements: ETG-05, ETG-06.
    pub(in crate::api) fn condition_response(
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

    /// Returns the 304 or 412 response to a read, or `None` if the conditions hold.
    pub(in crate::api) fn answered(
        &self,
        target: &Target,
        conditions: &RequestConditions,
        validators: &Validators,
    ) -> Option<Response> {
        match conditions.for_read(validators) {
            ConditionOutcome::Proceed => None,
            ConditionOutcome::NotModified => {
                Some(validators.on(Response::empty(StatusCode::NOT_MODIFIED)))
            }
            ConditionOutcome::PreconditionFailed => Some(self.error_response(
                Some(target),
                ErrorCode::PreconditionFailed,
                ErrorCode::PreconditionFailed.meaning(),
            )),
        }
    }
}

/// Returns whether a record that was modified at this time is unmodified since a date in whole
/// seconds.
///
/// Within the same second, this is certain only one second after the modification. Until then the
/// date is a weak validator (RFC 9110, section 8.8.2.2).
///
/// Requirements: ETG-11.
fn is_unmodified(modified: Timestamp, date: i64, now: Timestamp) -> bool {
    let (modified, now) = (modified.as_micros(), now.as_micros());
    match modified.div_euclid(SECOND).cmp(&date) {
        Ordering::Less => true,
        Ordering::Equal => now.saturating_sub(modified) >= SECOND,
        Ordering::Greater => false,
    }
}
