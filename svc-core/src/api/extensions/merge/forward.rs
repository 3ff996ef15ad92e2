//! The former address of a merged person.
//!
//! Requirements: MRG-11, MRG-12.

use http::{
    HeaderValue, Method,
    header::{CACHE_CONTROL, LOCATION},
};

use crate::{
    api::{Api, Response, admitted::AuthorizedParts, response::kind_of},
    context::Context,
    error::{ErrorCode, Problem, Result},
    link::{RecordAddress, Scope, Target},
    model::Kind,
    value::Id,
};

/// The status of a read at the address of a merged person.
const MOVED: u16 = 301;

impl Api {
    /// Returns the response to a request that found nothing at the address of a merged person or
    /// below it; `None` if there is no such person.
    ///
    /// A read is redirected to the remaining person if the caller may read people. A change gets a
    /// 410 response.
    ///
    /// Requirements: MRG-11, MRG-12.
    pub(in crate::api) async fn forwarded(
        &self,
        call: &AuthorizedParts<'_>,
    ) -> Result<Option<Response>> {
        let (cx, target) = (&call.context, &*call.target);
        if call.operation.method != Method::GET {
            return self.merged_away(cx, target).await;
        }
        if !cx.may_read(Kind::Person) {
            return Ok(None);
        }
        let Some(to) = self.remaining_of(cx, target).await? else {
            return Ok(None);
        };
        let mut reply = self.merged_response(cx, target, &to, MOVED);
        let mut href = self.url(cx.base(), &with_person(target, &to));
        // A cursor of pairs is only valid for its person.
        let is_paged = matches!(target, Target::PersonDuplicates(_));
        if let Some(query) = call.request.query.filter(|_| !is_paged) {
            href.push('?');
            href.push_str(query);
        }
        reply.insert(LOCATION, HeaderValue::try_from(href).ok());
        // The merge can be undone.
        reply.insert(CACHE_CONTROL, Some(HeaderValue::from_static("no-store")));
        Ok(Some(reply))
    }

    /// Returns the response to a change at the address of a merged person or below it; `None` if there
    /// is no such person.
    ///
    /// Requirements: MRG-12.
    pub(in crate::api) async fn merged_away(
        &self,
        cx: &Context,
        target: &Target,
    ) -> Result<Option<Response>> {
        let status = ErrorCode::PersonMerged.status();
        let to = self.remaining_of(cx, target).await?;
        Ok(to.map(|to| self.merged_response(cx, target, &to, status)))
    }

    /// Returns the id of the person into whom the person of a target was merged.
    async fn remaining_of(&self, cx: &Context, target: &Target) -> Result<Option<Id>> {
        match person_of(target).filter(|_| self.merges_people()) {
            Some(id) => self.inner.store.forwarded_person(cx, id).await,
            None => Ok(None),
        }
    }

    fn merged_response(&self, cx: &Context, target: &Target, to: &Id, status: u16) -> Response {
        let remaining = RecordAddress::without_parent(Kind::Person, to.clone());
        let problem = Problem::person_merged(remaining);
        self.problems(cx.base(), kind_of(target), status, &[problem])
    }
}

/// Returns the id of the person that the path of a record contains.
fn person_in(at: &RecordAddress) -> Option<&Id> {
    match at.kind {
        Kind::Person => Some(&at.id),
        kind if kind.schema().path_parent == Some(Kind::Person) => at.parent.as_ref(),
        _ => None,
    }
}

/// Returns the id of the person that a target is at or below.
fn person_of(target: &Target) -> Option<&Id> {
    match target {
        Target::Record(at)
        | Target::Merge(at)
        | Target::MergeBatch(at)
        | Target::PersonMerges(at)
        | Target::UndoMerge(at, _)
        | Target::PersonDuplicates(at)
        | Target::Collection {
            scope: Scope::Under(at),
            ..
        } => person_in(at),
        _ => None,
    }
}

/// Returns the same target at or below another person.
fn with_person(target: &Target, to: &Id) -> Target {
    let renamed = |at: &RecordAddress| match at.kind {
        Kind::Person => RecordAddress::without_parent(Kind::Person, to.clone()),
        kind => RecordAddress::with_parent(kind, to.clone(), at.id.clone()),
    };
    match target {
        Target::Record(at) => Target::Record(renamed(at)),
        Target::PersonMerges(at) => Target::PersonMerges(renamed(at)),
        Target::PersonDuplicates(at) => Target::PersonDuplicates(renamed(at)),
        Target::Collection {
            kind,
            scope: Scope::Under(at),
        } => Target::Collection {
            kind: *kind,
            scope: Scope::Under(renamed(at)),
        },
        other => other.clone(),
    }
}
