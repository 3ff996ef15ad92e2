//! Executes merges of people.
//!
//! Requirements: MRG-02 to MRG-10.

use http::{
    StatusCode,
    header::{CONTENT_LOCATION, ETAG, LAST_MODIFIED},
};

use super::{
    body::MergeBody,
    hal::{self, MergeView},
};
use crate::{
    api::{
        Api, IfMatchPolicy, Response, WriteRenderer, admitted::AuthorizedParts,
        preferences::Warnings, write::WriteInput, write_response::ResponseForm,
    },
    auth::{Operation, Right},
    context::Context,
    error::{Error, ErrorCode, PathSegment, Problem, PropertyPath, Result},
    helper::{OverruledValue, WriteEffect},
    json::{Json, Object, is_same},
    link::RecordAddress,
    model::Kind,
    read::PERSON,
    schema::Constraints,
    store::{MergeOutcome, MergeRequest, WriteOperation},
};

impl Api {
    /// Merges a person into the person of the target, or undoes a merge.
    pub(super) async fn change_merged(&self, call: &AuthorizedParts<'_>) -> Result<Response> {
        let (target, headers) = (&*call.target, call.request.headers);
        if let Some(reply) = self.require_if_match(target, headers) {
            return Ok(reply);
        }
        Ok(self
            .write(&call.context, target, call.body(), headers)
            .await)
    }

    /// Merges a person into the person at an address.
    pub(in crate::api) async fn merge_into(
        &self,
        cx: &Context,
        sent: &WriteInput<'_>,
        at: &RecordAddress,
        warnings: &mut Warnings,
    ) -> Result<Response> {
        let has_tags = self.if_match_policy().is_some();
        let (body, mut report) = MergeBody::read(&self.reader(cx, sent), sent.body, has_tags);
        let update = Right::Operation(Kind::Person, Operation::Update);
        if body.has_person && !cx.caller().has_right(update) {
            let text = format!(
                "This API key does not have the permission `{update}`, which `{PERSON}` requires."
            );
            let code = ErrorCode::KeyNotAllowed;
            return Ok(self.error_response(Some(sent.target), code, &text));
        }
        let mut patch = None;
        if let Some(person) = sent.body.get(PERSON).filter(|_| body.has_person) {
            // The fields are read like those of a change whose body has them in the same member.
            let mut envelope = Object::new();
            envelope.insert(PERSON, person.clone());
            let of_person = WriteInput {
                body: &envelope,
                ..*sent
            };
            let (read, found, _) = self.read_patch(cx, &of_person, at).await?;
            patch = Some(read);
            report.problems.extend(found.problems);
            report.ignored.extend(found.ignored);
        }
        let problems = sent.handling.problems(report, warnings);
        let Some(merged) = body.merged else {
            if self.get(cx, at).await?.is_none() {
                return Err(Error::not_found());
            }
            return Ok(self.invalid_for(cx, Some(Kind::Person), &problems));
        };
        let mut request = MergeRequest::new(at.clone(), merged);
        request.patch = patch;
        request.consent = body.consent;
        request.is_preview = body.is_preview;
        request.undo_for = self.undo_period();
        request.key_name = cx.caller().key_name().map(str::to_owned);
        let is_required = self.if_match_policy() == Some(IfMatchPolicy::Required);
        let lacks_tag = is_required && body.merged_tag.is_none();
        let tag = body.merged_tag.as_deref();
        request.merged_condition = tag.map(|tag| self.tag_condition(cx, tag));
        let is_preview = request.is_preview;
        let work = WriteOperation::Merge(Box::new(request));
        if !problems.is_empty() {
            return self
                .rejection_response(cx, Kind::Person, None, work, sent, problems)
                .await;
        }
        if lacks_tag {
            let code = ErrorCode::PreconditionRequired;
            let text = "{property} is required. Send the `ETag` of the person to merge.";
            let problem = Problem::new(code, "merged_etag", text);
            let kind = Some(Kind::Person);
            return Ok(self.problems(cx.base(), kind, code.status(), &[problem]));
        }
        // Nothing of a preview is stored, and neither is its response.
        let sent = &WriteInput {
            idempotent: sent.idempotent.filter(|_| !is_preview),
            ..*sent
        };
        let renderer = WriteRenderer::new(ResponseForm::Record, Kind::Person);
        self.execute_write(cx, sent, work, renderer, warnings).await
    }

    /// Returns the response to a merge: the remaining person, with what the merge changed.
    ///
    /// The entity tag is that of the person alone, as for the next read. The person of a preview is
    /// not stored, so it has no entity tag.
    ///
    /// Requirements: MRG-02, MRG-08.
    pub(in crate::api) fn merged_reply(&self, cx: &Context, outcome: &MergeOutcome) -> Response {
        let mut reply = self.written_reply(cx, StatusCode::OK, &outcome.person);
        if outcome.is_preview {
            for name in [ETAG, LAST_MODIFIED, CONTENT_LOCATION] {
                reply.headers.remove(name);
            }
        }
        let mut body = Vec::from(std::mem::take(&mut reply.body));
        hal::merge(&self.hal_for(cx), &self.merge_view(cx, outcome), &mut body);
        reply.body = body.into();
        reply.effect = match outcome {
            MergeOutcome {
                is_preview: true, ..
            } => None,
            MergeOutcome {
                is_repeated: true, ..
            } => Some(WriteEffect::Unchanged),
            _ => Some(WriteEffect::Updated),
        };
        reply
    }

    /// Returns the part of an outcome that the caller may see: fields of people, and numbers and
    /// addresses of records, only with the right to read them. Members that the server hides are
    /// omitted.
    ///
    /// Requirements: AUT-04, CAP-04.
    fn merge_view<'o>(&self, cx: &Context, outcome: &'o MergeOutcome) -> MergeView<'o> {
        let narrowing = self.registered(Kind::Person).constraints.as_ref();
        let is_shown = |property: &PropertyPath| self.shows_property(cx, property);
        let moved = outcome.moved.iter().copied();
        let folded = outcome.folded.iter();
        let overruled = outcome.overruled.iter();
        let tightened = outcome.tightened.iter();
        MergeView {
            is_preview: outcome.is_preview,
            is_repeated: outcome.is_repeated,
            merged: &outcome.merged,
            moved: moved.filter(|(kind, _)| cx.may_read(*kind)).collect(),
            folded: folded
                .filter(|pair| cx.may_read(pair.remaining.kind))
                .collect(),
            overruled: overruled
                .filter(|it| is_shown(&it.property))
                .filter_map(|it| visible(it, narrowing))
                .collect(),
            tightened: tightened.filter(|it| is_shown(&it.property)).collect(),
            undo: outcome.undo.as_ref(),
        }
    }

    /// Returns whether the caller may see a property of a person.
    pub(super) fn shows_property(&self, cx: &Context, property: &PropertyPath) -> bool {
        let people = self.registered(Kind::Person);
        cx.may_read(Kind::Person) && people.shows_path(Kind::Person, &names(property))
    }
}

/// Returns the names of a path, without positions in lists.
fn names(property: &PropertyPath) -> Vec<&str> {
    let segments = property.segments().iter();
    segments
        .filter_map(|segment| match segment {
            PathSegment::Member(name) => Some(&**name),
            _ => None,
        })
        .collect()
}

/// Returns an overruled value without hidden members; `None` if the two people differ only in these.
fn visible(it: &OverruledValue, narrowing: Option<&Constraints>) -> Option<OverruledValue> {
    let narrow = narrowing.and_then(|narrowing| narrowing.get(&names(&it.property)));
    let mut it = it.clone();
    let Some(narrow) = narrow.filter(|narrow| !narrow.members.is_empty()) else {
        return Some(it);
    };
    for value in [&mut it.remaining, &mut it.merged].into_iter().flatten() {
        *value = without_hidden(value, &narrow.members);
    }
    let is_equal = match (&it.remaining, &it.merged) {
        (Some(remaining), Some(merged)) => is_same(remaining, merged),
        (remaining, merged) => remaining == merged,
    };
    (!is_equal).then_some(it)
}

/// Returns a value without the members that the server hides.
fn without_hidden(value: &Json, narrowing: &Constraints) -> Json {
    match value {
        Json::Object(members) => {
            let shown = members.iter().filter_map(|(name, value)| {
                let value = match narrowing.member(name) {
                    Some(narrow) if narrow.hidden => return None,
                    Some(narrow) => without_hidden(value, &narrow.members),
                    None => value.clone(),
                };
                Some((name, value))
            });
            Json::Object(shown.collect())
        }
        Json::Array(items) => {
            let items = items.iter().map(|item| without_hidden(item, narrowing));
            Json::Array(items.collect())
        }
        other => other.clone(),
    }
}
