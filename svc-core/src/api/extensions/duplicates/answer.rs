//! Responds to requests for people who may be the same person.
//!
//! Requirements: DUP-01 to DUP-06.

use http::{HeaderValue, Method, StatusCode, header::CACHE_CONTROL};

use super::hal::{self, DuplicatesView};
use crate::{
    api::{Api, Response, admitted::AuthorizedParts},
    context::Context,
    duplicates::Evidence,
    error::{Error, ErrorCode, Problem, Result},
    json::{Json, Object},
    link::Target,
    model::Kind,
    page::PageRequest,
    store::{ApartPeople, DuplicatesRequest, DuplicatesResponse, Store},
    value::Id,
};

/// The query parameter of the cursor.
const AFTER: &str = "after";

/// The member of a pair that a client sets.
const DISMISSED: &str = "dismissed";

impl Api {
    pub(super) async fn answer_about_duplicates(
        &self,
        call: &AuthorizedParts<'_>,
    ) -> Result<Response> {
        let backend = &self.registered(Kind::Person).backend;
        let store = backend.store().ok_or_else(Error::not_implemented)?;
        let (cx, target) = (&call.context, &*call.target);
        let mut reply = match (&call.operation.method, target) {
            (&Method::GET, Target::Duplicates) => {
                self.list_duplicates(call, &**store, None).await?
            }
            (&Method::GET, Target::PersonDuplicates(person)) => {
                self.list_duplicates(call, &**store, Some(&person.id))
                    .await?
            }
            (&Method::PUT, Target::DuplicatePair(one, other)) => {
                self.dismiss_duplicate(cx, &**store, [one, other], call.body())
                    .await?
            }
            _ => return Err(Error::not_implemented()),
        };
        // Requirements: DUP-03.
        reply.insert(CACHE_CONTROL, Some(HeaderValue::from_static("no-store")));
        Ok(reply)
    }

    async fn list_duplicates(
        &self,
        call: &AuthorizedParts<'_>,
        store: &dyn Store,
        person: Option<&Id>,
    ) -> Result<Response> {
        let (cx, query) = (&call.context, call.request.query);
        let sizes = self.limits();
        let asked = match PageRequest::read(query, sizes.default_page_size, sizes.max_page_size) {
            Ok(asked) => asked,
            Err(problems) => return Ok(self.invalid(None, &problems)),
        };
        let after = PageRequest::parameter(query, AFTER);
        // A value that is not a cursor was dropped there, and would restart from the beginning.
        if after != asked.request.cursor {
            return Ok(self.unknown_pair_cursor());
        }
        let mut request = DuplicatesRequest::new(asked.request.size);
        request.person = person.cloned();
        request.after.clone_from(&after);
        let page = match store.duplicates(cx, &request).await? {
            DuplicatesResponse::Page(page) => page,
            DuplicatesResponse::UnknownCursor => return Ok(self.unknown_pair_cursor()),
        };
        let view = DuplicatesView {
            page: &page,
            target: &call.target,
            after: after.as_deref(),
            per_page: asked.request.size,
            repeated: &asked.repeated,
            shows: &|evidence| self.shows_evidence(evidence),
        };
        let mut body = Vec::with_capacity(1024);
        hal::duplicates(&self.hal(cx.base()), &view, &mut body);
        Ok(Response::hal(StatusCode::OK, body))
    }

    /// Returns whether clients can read the field that evidence is from.
    ///
    /// Requirements: DUP-03.
    fn shows_evidence(&self, evidence: Evidence) -> bool {
        let shows = |field| self.registered(Kind::Person).shows(Kind::Person, field);
        match evidence {
            Evidence::Name => shows("given_name") && shows("family_name"),
            other => shows(other.as_str()),
        }
    }

    fn unknown_pair_cursor(&self) -> Response {
        let text = "{property} is not a cursor of these pairs. Follow `next` links unchanged.";
        self.invalid(None, &[Problem::new(ErrorCode::CursorInvalid, AFTER, text)])
    }

    /// Records whether two people are different people.
    ///
    /// Requirements: DUP-06.
    async fn dismiss_duplicate(
        &self,
        cx: &Context,
        store: &dyn Store,
        [one, other]: [&Id; 2],
        body: &[u8],
    ) -> Result<Response> {
        if one == other {
            return Err(Error::not_found());
        }
        if body.iter().all(u8::is_ascii_whitespace) {
            let text = "The request has no body. Send `dismissed` in a JSON body.";
            let problem = Problem::for_request(ErrorCode::BodyMissing, text);
            return Ok(self.invalid(None, &[problem]));
        }
        let is_dismissed = match self
            .bodies(cx)
            .object(body)
            .and_then(|body| dismissed(&body))
        {
            Ok(is_dismissed) => is_dismissed,
            Err(problems) => return Ok(self.invalid(None, &problems)),
        };
        let since = is_dismissed.then(|| cx.received_at());
        let apart = ApartPeople::new(one.clone(), other.clone(), since);
        if !store.set_apart(cx, &apart).await? {
            return Err(Error::not_found());
        }
        let mut document = Vec::with_capacity(512);
        hal::pair(
            &self.hal(cx.base()),
            [one, other],
            is_dismissed,
            &mut document,
        );
        Ok(Response::hal(StatusCode::OK, document))
    }
}

/// Returns the member of a body. Links are accepted, because a client can send a response back.
fn dismissed(body: &Object) -> std::result::Result<bool, Vec<Problem>> {
    let mut problems: Vec<Problem> = body
        .keys()
        .filter(|name| ![DISMISSED, "_links"].contains(name))
        .map(|name| {
            let text = "{property} is unknown. The allowed property is `dismissed`.";
            Problem::new(ErrorCode::PropertyUnknown, name.to_owned(), text)
        })
        .collect();
    let value = match body.get(DISMISSED) {
        Some(Json::Bool(value)) => Some(*value),
        None => {
            let text = "{property} is missing. Send `true` or `false`.";
            problems.push(Problem::new(ErrorCode::FieldRequired, DISMISSED, text));
            None
        }
        Some(_) => {
            let text = "{property} must be `true` or `false`.";
            problems.push(Problem::new(ErrorCode::FieldInvalid, DISMISSED, text));
            None
        }
    };
    value.filter(|_| problems.is_empty()).ok_or(problems)
}
