//! Responds to requests for people who may be the same person.
//!
//! Requirements: DUP-01 to DUP-06.

use http::{HeaderValue, Method, StatusCode, header::CACHE_CONTROL};

use super::{
    body::PairBody,
    hal::{self, DuplicatesView, PairView},
};
use crate::{
    api::{
        Api, Response,
        admitted::AuthorizedParts,
        preferences::{HandlingPreference, Warnings},
    },
    context::Context,
    duplicates::Evidence,
    error::{Error, ErrorCode, Problem, Result},
    json::Json,
    link::Target,
    model::Kind,
    page::PageRequest,
    store::{ApartPeople, DuplicatesRequest, DuplicatesResponse, Store, StoredPair},
    value::Id,
};

/// The query parameter of the cursor.
const AFTER: &str = "after";

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
            (&Method::GET, Target::DuplicatePair(one, other)) => {
                self.read_duplicate(cx, &**store, [one, other]).await?
            }
            (&Method::PUT, Target::DuplicatePair(one, other)) => {
                self.dismiss_duplicate(call, &**store, [one, other]).await?
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
        request.hidden = self.hidden_evidence();
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
        };
        let mut body = Vec::with_capacity(1024);
        hal::duplicates(&self.hal_for(cx), &view, &mut body);
        Ok(Response::hal(StatusCode::OK, body))
    }

    /// Returns the evidence from values that clients cannot read. It has no effect on a response.
    ///
    /// Requirements: DUP-03.
    fn hidden_evidence(&self) -> Vec<Evidence> {
        let people = self.registered(Kind::Person);
        let is_hidden_value = |path: &&[&str]| !people.shows_path(Kind::Person, path);
        let is_hidden = |evidence: &Evidence| evidence.values().iter().any(is_hidden_value);
        Evidence::ALL.into_iter().filter(is_hidden).collect()
    }

    fn unknown_pair_cursor(&self) -> Response {
        let text = "{property} is not a cursor of these pairs. Follow `next` links unchanged.";
        self.invalid(None, &[Problem::new(ErrorCode::CursorInvalid, AFTER, text)])
    }

    /// Returns a pair: two people who may be the same person, or who are dismissed.
    ///
    /// Requirements: DUP-06.
    async fn read_duplicate(
        &self,
        cx: &Context,
        store: &dyn Store,
        people: [&Id; 2],
    ) -> Result<Response> {
        let pair = stored_pair(cx, store, people).await?;
        let is_pair = pair.is_dismissed || pair.compare_without(&self.hidden_evidence()).is_some();
        if !is_pair {
            return Err(Error::not_found());
        }
        Ok(Response::hal(StatusCode::OK, self.pair_document(cx, &pair)))
    }

    /// Records whether two people are different people.
    ///
    /// Requirements: DUP-06.
    async fn dismiss_duplicate(
        &self,
        call: &AuthorizedParts<'_>,
        store: &dyn Store,
        people: [&Id; 2],
    ) -> Result<Response> {
        let (cx, body) = (&call.context, call.body());
        let handling = HandlingPreference::of(call.request.headers);
        let mut pair = stored_pair(cx, store, people).await?;
        let refused = |problems: &[Problem]| {
            let mut reply = self.invalid(None, problems);
            handling.mark(&mut reply);
            Ok(reply)
        };
        if body.iter().all(u8::is_ascii_whitespace) {
            let text = "The request has no body. Send `dismissed` in a JSON body.";
            return refused(&[Problem::for_request(ErrorCode::BodyMissing, text)]);
        }
        let mut body = match self.bodies(cx).object(body) {
            Ok(body) => body,
            Err(problems) => return refused(&problems),
        };
        // A client sent an earlier response back.
        let dialect = self.dialect();
        body.retain(|name, _| dialect.strip_prefix(name) != Some("warnings"));
        let stored = Json::read_kept(&self.pair_document(cx, &pair));
        let stored = stored.as_ref().and_then(Json::as_object);
        let (body, report) = PairBody::read(&body, stored);
        let mut warnings = Warnings::default();
        let problems = handling.problems(report, &mut warnings);
        if !problems.is_empty() {
            return refused(&problems);
        }
        pair.is_dismissed = body.is_dismissed;
        let since = body.is_dismissed.then(|| cx.received_at());
        let [one, other] = people.map(Id::clone);
        let apart = ApartPeople::new(one, other, since);
        if !store.set_apart(cx, &apart).await? {
            return Err(Error::not_found());
        }
        let mut reply = Response::hal(StatusCode::OK, self.pair_document(cx, &pair));
        self.warn(cx, &warnings, &mut reply);
        handling.mark(&mut reply);
        Ok(reply)
    }

    /// Returns the document of a pair. A caller without the right to read people gets it without them.
    ///
    /// Requirements: AUT-04.
    fn pair_document(&self, cx: &Context, pair: &StoredPair) -> Vec<u8> {
        let comparison = pair.compare_without(&self.hidden_evidence());
        let view = PairView {
            people: [&pair.older, &pair.younger],
            comparison: comparison.as_ref(),
            is_dismissed: pair.is_dismissed,
        };
        let mut document = Vec::with_capacity(2048);
        let has_people = cx.may_read(Kind::Person);
        hal::pair(&self.hal_for(cx), &view, has_people, true, &mut document);
        document
    }
}

/// Returns two stored people, or the error of an unknown address.
async fn stored_pair(cx: &Context, store: &dyn Store, people: [&Id; 2]) -> Result<StoredPair> {
    let [one, other] = people;
    if one == other {
        return Err(Error::not_found());
    }
    let pair = store.duplicate_pair(cx, people).await?;
    pair.ok_or_else(Error::not_found)
}
