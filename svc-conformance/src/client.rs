//! A caller of the target: sends requests with one key or without a key, and follows links. It
//! never constructs a URL.

use std::collections::BTreeSet;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use chrono::{NaiveDateTime, Utc};
use http::header::{
    ACCEPT, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, IF_MATCH, RETRY_AFTER,
};
use http::{Method, Request, StatusCode};
use serde_json::{Map, Value, json};

use crate::address;
use crate::catalogue::Encounter;
use crate::check::CheckContext;
use crate::generate::{complete, minimal_body, with};
use crate::ids;
use crate::linked_resources::LinkedResource;
use crate::outcome::CheckStop;
use crate::passive;
use crate::pins;
use crate::presence::{GONE, is_of_gateway};
use crate::response::{Representation, ResponseParts, TestResponse};
use crate::target::TargetError;

/// The maximum number of pages of a collection that are read.
const MOST_PAGES: usize = 400;
/// The maximum number of characters of a response body in messages.
const SHOWN: usize = 600;
/// The maximum number of retries after 429, or after 503 with `Retry-After`.
pub(crate) const MOST_RETRIES: usize = 4;

/// How reading the pages of a collection ended.
#[derive(Debug)]
pub(crate) enum PageWalkEnd {
    /// At the last page, or when no more pages were needed.
    Done,
    /// At a `next` link to a page that was read before.
    Repeated(String),
    /// At the maximum number of pages.
    TooManyPages,
    /// At a page that the server did not return.
    Failed(Box<TestResponse>),
}

/// A request, and whether its response is a document of the API, which must be judged.
#[derive(Debug, Clone, Copy)]
struct ClientRequest<'m> {
    method: &'m Method,
    url: &'m str,
    body: Option<&'m str>,
    headers: &'m [(HeaderName, &'m str)],
    judged: bool,
}

/// One caller within one check.
#[derive(Debug, Clone)]
pub(crate) struct CheckClient<'c> {
    pub(crate) cx: &'c CheckContext,
    /// The key. Without a key, the header is not sent.
    key: Option<String>,
    /// Whether changes are sent without `If-Match` even if the server requires it.
    ///
    /// Requirements: ETG-09.
    bare: bool,
}

impl CheckContext {
    /// Returns the caller with the primary key, or without a key if none is needed.
    pub(crate) fn api(&self) -> CheckClient<'_> {
        match &self.run.keys.primary {
            Some(key) => self.with_key(key),
            None => self.anonymous(),
        }
    }

    /// Returns the caller with a key of another tenant.
    pub(crate) fn other(&self) -> Option<CheckClient<'_>> {
        self.run
            .keys
            .other_tenant
            .as_ref()
            .map(|key| self.with_key(key))
    }

    pub(crate) fn with_key(&self, key: &str) -> CheckClient<'_> {
        CheckClient {
            cx: self,
            key: Some(key.to_owned()),
            bare: false,
        }
    }

    pub(crate) const fn anonymous(&self) -> CheckClient<'_> {
        CheckClient {
            cx: self,
            key: None,
            bare: false,
        }
    }
}

impl CheckClient<'_> {
    /// Returns the same caller without automatic `If-Match` headers.
    pub(crate) fn without_if_match(&self) -> Self {
        Self {
            bare: true,
            ..self.clone()
        }
    }

    pub(crate) async fn get(&self, url: &str) -> Result<TestResponse, CheckStop> {
        self.send(Method::GET, url, None).await
    }

    /// Posts a body, completed by what its objects require. The body of a helper gets what its
    /// action and its person require.
    ///
    /// Requirements: CAP-05.
    pub(crate) async fn post(&self, url: &str, body: &Value) -> Result<TestResponse, CheckStop> {
        self.post_with(url, body, &[]).await
    }

    /// Same as [`CheckClient::post`], with additional headers.
    pub(crate) async fn post_with(
        &self,
        url: &str,
        body: &Value,
        headers: &[(HeaderName, &str)],
    ) -> Result<TestResponse, CheckStop> {
        let mut whole = match self.cx.run.relations.of(url) {
            Some(LinkedResource::Helper(kind))
                if kind.under.is_some_and(|under| under != "person") && body.is_object() =>
            {
                complete(
                    self.cx,
                    kind.one,
                    with(&minimal_body(self.cx, kind.one), body),
                )
            }
            Some(LinkedResource::Collection(kind)) => complete(self.cx, kind.one, body.clone()),
            _ => body.clone(),
        };
        if let Some(person) = whole.get_mut("person").filter(|person| person.is_object()) {
            *person = complete(
                self.cx,
                "person",
                with(&minimal_body(self.cx, "person"), person),
            );
        }
        self.send_with(Method::POST, url, Some(whole.to_string()), headers)
            .await
    }

    /// Puts a body, completed by what its objects require.
    ///
    /// Requirements: CAP-05.
    pub(crate) async fn put(&self, url: &str, body: &Value) -> Result<TestResponse, CheckStop> {
        self.put_with(url, body, &[]).await
    }

    /// Same as [`CheckClient::put`], with additional headers.
    pub(crate) async fn put_with(
        &self,
        url: &str,
        body: &Value,
        headers: &[(HeaderName, &str)],
    ) -> Result<TestResponse, CheckStop> {
        let body = match self.cx.run.relations.of(url) {
            Some(LinkedResource::Record(kind)) => complete(self.cx, kind.one, body.clone()),
            _ => body.clone(),
        };
        self.send_with(Method::PUT, url, Some(body.to_string()), headers)
            .await
    }

    pub(crate) async fn delete(&self, url: &str) -> Result<TestResponse, CheckStop> {
        self.send(Method::DELETE, url, None).await
    }

    /// Sends one request. The response is recorded and checked by the passive checks.
    pub(crate) async fn send(
        &self,
        method: Method,
        url: &str,
        body: Option<String>,
    ) -> Result<TestResponse, CheckStop> {
        self.send_with(method, url, body, &[]).await
    }

    /// Sends one request with additional headers.
    pub(crate) async fn send_with(
        &self,
        method: Method,
        url: &str,
        body: Option<String>,
        headers: &[(HeaderName, &str)],
    ) -> Result<TestResponse, CheckStop> {
        self.patiently(ClientRequest {
            method: &method,
            url,
            body: body.as_deref(),
            headers,
            judged: true,
        })
        .await
    }

    /// Sends one request whose response is not a document of the API (documentation, the
    /// declaration).
    pub(crate) async fn fetch(&self, url: &str) -> Result<TestResponse, CheckStop> {
        self.patiently(ClientRequest {
            method: &Method::GET,
            url,
            body: None,
            headers: &[],
            judged: false,
        })
        .await
    }

    /// Requests an event stream that ends with the current entries, after the last event that a
    /// client received.
    ///
    /// Requirements: SYN-12.
    pub(crate) async fn events(
        &self,
        url: &str,
        last: Option<&str>,
    ) -> Result<TestResponse, CheckStop> {
        let mut headers = vec![
            (ACCEPT, "text/event-stream"),
            (HeaderName::from_static("prefer"), "wait=0"),
        ];
        headers.extend(last.map(|last| (HeaderName::from_static("last-event-id"), last)));
        self.patiently(ClientRequest {
            method: &Method::GET,
            url,
            body: None,
            headers: &headers,
            judged: false,
        })
        .await
    }

    /// Posts a body of another media type, whose response is not a document of the API either.
    pub(crate) async fn post_as(
        &self,
        media: &str,
        url: &str,
        body: String,
        headers: &[(HeaderName, &str)],
    ) -> Result<TestResponse, CheckStop> {
        let headers: Vec<_> = headers
            .iter()
            .cloned()
            .chain([(CONTENT_TYPE, media)])
            .collect();
        self.patiently(ClientRequest {
            method: &Method::POST,
            url,
            body: Some(&body),
            headers: &headers,
            judged: false,
        })
        .await
    }

    /// Sends one request, and repeats it if the target asks the client to wait.
    async fn patiently(&self, message: ClientRequest<'_>) -> Result<TestResponse, CheckStop> {
        let mut tries = 0_usize;
        loop {
            let answer = self.once(message).await?;
            let delays = &self.cx.run.delays;
            let Some(wait) = waiting(answer.status, &answer.headers, tries) else {
                delays.gave_up(false);
                return Ok(answer);
            };
            if tries >= MOST_RETRIES || delays.has_given_up() {
                delays.gave_up(true);
                let what = if answer.status == 429 {
                    "limits the rate"
                } else {
                    "is unavailable"
                };
                return Err(CheckStop::Inconclusive(format!(
                    "the server {what}, even after waiting: {answer}"
                )));
            }
            tries = tries.saturating_add(1);
            self.cx.run.wait_for_target(answer.status, wait).await;
        }
    }

    async fn once(&self, message: ClientRequest<'_>) -> Result<TestResponse, CheckStop> {
        let cx = self.cx;
        let ClientRequest {
            method,
            url,
            judged,
            ..
        } = message;
        let sent_body = message.body.unwrap_or_default();
        cx.may_send(method)?;
        if matches!(*method, Method::PUT | Method::DELETE) && cx.run.is_protected(url) {
            return Err(CheckStop::Inconclusive(format!(
                "{url} existed before the run, which neither changes nor deletes it"
            )));
        }
        let request = self.request(message)?;
        let sent = request.clone();
        let began = Instant::now();
        let settings = &cx.run.settings;
        cx.run.journal.expect(method, url, sent_body);
        cx.run.wait_for_rate().await;
        let answer = cx
            .run
            .target
            .send(request, settings.body_limit, settings.timeout)
            .await;
        let took = began.elapsed();
        cx.run.delays.answered(took);
        cx.run.report_delays();
        let exchange = cx.run.recorder.record(&cx.id(), &sent, &answer, took);
        cx.saw(exchange.number);
        let response = match answer {
            Ok(response) => response,
            Err(TargetError::Elsewhere(_)) => {
                return Err(CheckStop::Inconclusive(format!(
                    "{url} is on another origin and is not requested"
                )));
            }
            Err(error @ TargetError::TooLarge(_)) => {
                cx.observe(ids::HAL_02, false, || {
                    format!("{}: {error}", exchange.line())
                });
                return Err(CheckStop::Failed);
            }
            Err(error @ TargetError::Closed(_)) => {
                cx.run.closed.fetch_add(1, Ordering::Relaxed);
                return Err(CheckStop::Inconclusive(format!(
                    "{}: {error}",
                    exchange.line()
                )));
            }
            Err(error) => {
                if cx
                    .run
                    .is_gone(&cx.id(), &exchange, &error.to_string())
                    .await
                {
                    return Err(CheckStop::Inconclusive(GONE.to_owned()));
                }
                cx.observe(ids::ERR_01, false, || {
                    format!("{}: {error}", exchange.line())
                });
                return Err(CheckStop::Failed);
            }
        };
        let (parts, body) = response.into_parts();
        if is_of_gateway(parts.status)
            && waiting(parts.status.as_u16(), &parts.headers, 0).is_none()
            && cx
                .run
                .is_gone(&cx.id(), &exchange, &format!("status {}", parts.status))
                .await
        {
            return Err(CheckStop::Inconclusive(GONE.to_owned()));
        }
        if *method == Method::POST
            && let Some(name) = cx.run.helper_fixture_at(url)
            && !cx.run.has_worked(url, parts.status.is_success())
            && parts.status == StatusCode::NOT_FOUND
        {
            return Err(CheckStop::Inconclusive(format!(
                "the fixture {name} does not exist: {} -> 404",
                exchange.line()
            )));
        }
        let shown = exchange
            .response
            .as_ref()
            .map(|answer| answer.body.chars().take(SHOWN).collect())
            .unwrap_or_default();
        let json = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let answer = TestResponse::from(ResponseParts {
            shown,
            method: method.clone(),
            request: exchange.line(),
            status: parts.status.as_u16(),
            headers: parts.headers,
            body,
            document: Representation::new(
                url.to_owned(),
                json,
                cx.declared().text.dialect.prefix.clone(),
            ),
        });
        cx.run.journal.note(&answer, sent_body, self.which_key());
        // A response that only asks the client to wait is not judged.
        if judged && waiting(answer.status, &answer.headers, 0).is_none() {
            passive::check_response(cx, &answer);
        }
        cx.pin(|| pins::lines(&answer));
        Ok(answer)
    }

    /// Returns which key of the run the caller uses, as stored in the journal.
    fn which_key(&self) -> usize {
        let keys = &self.cx.run.keys;
        let Some(key) = &self.key else { return 0 };
        if keys.other_tenant.as_ref() == Some(key) {
            1
        } else {
            usize::from(
                keys.restricted
                    .as_ref()
                    .is_some_and(|(restricted, _)| restricted == key),
            )
            .saturating_mul(2)
        }
    }

    fn request(&self, message: ClientRequest<'_>) -> Result<Request<Bytes>, CheckStop> {
        let ClientRequest {
            method,
            url,
            body,
            headers,
            ..
        } = message;
        let broken = |what: &str| CheckStop::Inconclusive(format!("{what} cannot be sent: {url}"));
        let mut request = Request::new(Bytes::new());
        *request.method_mut() = method.clone();
        *request.uri_mut() = url.parse().map_err(|_| broken("the URL"))?;
        let out = request.headers_mut();
        if let Some(key) = &self.key {
            let name =
                HeaderName::from_bytes(self.cx.declared().text.dialect.key_header.as_bytes());
            out.insert(
                name.map_err(|_| broken("the key header"))?,
                HeaderValue::from_str(key).map_err(|_| broken("the key"))?,
            );
        }
        if body.is_some() {
            out.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if matches!(*method, Method::PUT | Method::DELETE)
            && !self.bare
            && self.cx.declared().behaves("require_if_match")
        {
            out.insert(IF_MATCH, HeaderValue::from_static("*"));
        }
        for (name, value) in headers {
            out.insert(
                name,
                HeaderValue::from_str(value).map_err(|_| broken("a header"))?,
            );
        }
        *request.body_mut() = Bytes::from(body.unwrap_or_default().to_owned());
        Ok(request)
    }

    /// Returns the entry point, which is read once per attempt at a check.
    ///
    /// Requirements: ENT-01.
    pub(crate) async fn entry(&self) -> Result<Representation, CheckStop> {
        let read = || {
            self.cx
                .entry_points
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(entry) = read().get(&self.key) {
            return Ok(entry.clone());
        }
        let answer = self.get(self.cx.run.target.base()).await?;
        let is_there = answer.status == 200 && answer.json.is_object();
        self.cx
            .observe(ids::HAL_01, is_there, || answer.to_string());
        self.cx.must(ids::ENT_01, is_there, || answer.to_string())?;
        if let Some(most) = answer["max_pagesize"]
            .as_u64()
            .filter(|_| self.key == self.cx.run.keys.primary)
        {
            self.cx.run.learn_page_limit(most);
        }
        Ok(read()
            .entry(self.key.clone())
            .or_insert_with(|| answer.record())
            .clone())
    }

    /// Returns the URL of a collection, from the entry point.
    pub(crate) async fn collection(&self, many: &str) -> Result<String, CheckStop> {
        let entry = self.entry().await?;
        let declared = self.cx.declared();
        let href = declared
            .collection(many)
            .and_then(|collection| collection.href.clone());
        let href = entry
            .href(many)
            .or_else(|| address::resolve(&entry.url, &href?).map(String::from));
        href.ok_or_else(|| {
            CheckStop::Inconclusive(format!("the entry point has no link to {many}"))
        })
    }

    /// Reads a record again by its `self` link.
    pub(crate) async fn reread(
        &self,
        record: &Representation,
    ) -> Result<Representation, CheckStop> {
        let own = record.self_url()?;
        let answer = self.get(&own).await?;
        self.cx.must(
            ids::HAL_16,
            answer.status == 200 && answer.json.is_object(),
            || format!("GET of the record's `self`: {answer}"),
        )?;
        Ok(answer.record())
    }

    /// Reads the target of a relation of a record. A record that is embedded but not linked is not
    /// requested.
    pub(crate) async fn follow(
        &self,
        record: &Representation,
        name: &str,
    ) -> Result<Representation, CheckStop> {
        let is_without_links = self.cx.declared().helpers_only() && record.href(name).is_none();
        if let Some(embedded) = record.embeds(name).filter(|_| is_without_links) {
            return Ok(embedded);
        }
        let href = record.require_link(name)?;
        let answer = self.get(&href).await?;
        if answer.status != 200 || !answer.json.is_object() {
            return Err(CheckStop::Inconclusive(format!(
                "the target of the link {name} is not a document: {answer}"
            )));
        }
        Ok(answer.record())
    }

    /// Passes the pages of a collection to a function, from the first along `next`, until there are
    /// no more or the function stops.
    pub(crate) async fn walk(
        &self,
        url: &str,
        mut wants_more: impl FnMut(&Representation) -> bool,
    ) -> Result<PageWalkEnd, CheckStop> {
        let mut met = BTreeSet::new();
        let mut next = Some(url.to_owned());
        while let Some(url) = next {
            if met.contains(&url) {
                return Ok(PageWalkEnd::Repeated(url));
            }
            if met.len() >= MOST_PAGES {
                return Ok(PageWalkEnd::TooManyPages);
            }
            if !met.is_empty() {
                self.cx.run.met.add(Encounter::SecondPage);
            }
            let answer = self.get(&url).await?;
            if answer.status != 200 {
                return Ok(PageWalkEnd::Failed(Box::new(answer)));
            }
            met.insert(url);
            let page = answer.record();
            let goes_on = wants_more(&page);
            next = page.link("next").filter(|_| goes_on);
        }
        Ok(PageWalkEnd::Done)
    }

    /// Returns every page of a collection. A page that appears twice is a failure.
    ///
    /// Requirements: COL-24.
    pub(crate) async fn pages(&self, url: &str) -> Result<Vec<Representation>, CheckStop> {
        let mut pages = Vec::new();
        let walked = self.walk(url, |page| {
            pages.push(page.clone());
            true
        });
        match walked.await? {
            PageWalkEnd::Done => return Ok(pages),
            PageWalkEnd::TooManyPages => {
                return Err(CheckStop::Inconclusive(format!(
                    "the collection has more than {MOST_PAGES} pages"
                )));
            }
            PageWalkEnd::Repeated(url) => {
                self.cx.observe(ids::COL_24, false, || {
                    format!("`next` links back to {url}, which was read before")
                });
            }
            PageWalkEnd::Failed(answer) => {
                self.cx.observe(ids::COL_31, false, || answer.to_string());
            }
        }
        Err(CheckStop::Failed)
    }

    /// Returns every member of a collection.
    pub(crate) async fn members(&self, url: &str) -> Result<Vec<Representation>, CheckStop> {
        Ok(self
            .pages(url)
            .await?
            .iter()
            .flat_map(Representation::embedded)
            .collect())
    }

    /// Returns the number of members of a collection. Some servers send an empty object for an empty
    /// collection.
    pub(crate) async fn total(&self, url: &str) -> Result<Option<u64>, CheckStop> {
        let collection = self.get(url).await?;
        let is_empty = collection.json.as_object().is_some_and(Map::is_empty);
        Ok(collection["total_records"]
            .as_u64()
            .or(is_empty.then_some(0)))
    }

    /// Returns a body with one more link.
    pub(crate) fn linked(&self, body: &Value, name: &str, href: &str) -> Value {
        let mut body = body.clone();
        let rel = self.cx.declared().rel(name);
        if let Some(members) = body.as_object_mut() {
            let links = members.entry("_links").or_insert_with(|| json!({}));
            if let Some(links) = links.as_object_mut() {
                links.insert(rel, json!({ "href": href }));
            }
        }
        body
    }
}

/// Returns how long the target asks the client to wait, in seconds or until a date, at most 30 s.
/// This is the case with 429, or with 503 and a time. After 429 without a time, each wait is twice
/// as long as the previous one.
pub(crate) fn waiting(status: u16, headers: &HeaderMap, tries: usize) -> Option<Duration> {
    if !matches!(status, 429 | 503) {
        return None;
    }
    let text = |name| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::trim)
    };
    let asked = asked(text(RETRY_AFTER), text(DATE));
    let doubled = || Some(1 << tries.min(4)).filter(|_| status == 429);
    Some(Duration::from_secs(asked.or_else(doubled)?.clamp(1, 30)))
}

/// Returns the seconds of `Retry-After` in a response with this `Date`.
fn asked(retry_after: Option<&str>, sent: Option<&str>) -> Option<u64> {
    let asked = retry_after?;
    asked.parse::<u64>().ok().or_else(|| {
        // The time until a date is measured with the clock of the target. A date in the past needs
        // no wait.
        let now = sent
            .and_then(date)
            .unwrap_or_else(|| Utc::now().naive_utc());
        Some(u64::try_from(date(asked)?.signed_duration_since(now).num_seconds()).unwrap_or(0))
    })
}

/// Parses an HTTP date in each of its three formats (RFC 9110, section 5.6.7).
pub(crate) fn date(text: &str) -> Option<NaiveDateTime> {
    let forms = [
        "%a, %d %b %Y %H:%M:%S GMT",
        "%A, %d-%b-%y %H:%M:%S GMT",
        "%a %b %e %H:%M:%S %Y",
    ];
    forms
        .iter()
        .find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::HeaderMap;

    use super::waiting;

    /// Returns the wait of a 503 with these headers, in seconds.
    fn asked(headers: &[(&'static str, &str)]) -> Option<u64> {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| {
                (
                    name.parse().expect("a name"),
                    value.parse().expect("a value"),
                )
            })
            .collect();
        waiting(503, &headers, 0).map(|wait: Duration| wait.as_secs())
    }

    /// A delay, or a date in any format of RFC 9110 (section 5.6.7), relative to the `Date` of the
    /// response.
    #[test]
    fn retry_after_is_a_delay_or_a_date() {
        let date = ("date", "Sun, 06 Nov 1994 08:49:30 GMT");
        for value in [
            "7",
            " 7 ",
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(asked(&[date, ("retry-after", value)]), Some(7), "{value}");
        }
        // At most 30 s, and at least one second, even if the date is in the past.
        assert_eq!(
            asked(&[date, ("retry-after", "Sun, 06 Nov 1994 09:49:37 GMT")]),
            Some(30)
        );
        assert_eq!(
            asked(&[date, ("retry-after", "Sun, 06 Nov 1994 08:49:07 GMT")]),
            Some(1)
        );
        // Without a valid `Date`, the clock of this machine is used.
        assert_eq!(
            asked(&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")]),
            Some(1)
        );
        assert_eq!(
            asked(&[
                ("date", "soon"),
                ("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")
            ]),
            Some(30)
        );
        assert_eq!(asked(&[date, ("retry-after", "soon")]), None);
        assert_eq!(asked(&[date]), None);
    }

    /// Without a time, a 503 is an ordinary response, and after 429 each wait is longer.
    #[test]
    fn without_a_time_the_waits_grow() {
        let waits = |status| {
            (0..6).map(move |tries| {
                waiting(status, &HeaderMap::new(), tries).map(|wait| wait.as_secs())
            })
        };
        assert!(waits(429).eq([1, 2, 4, 8, 16, 16].map(Some)));
        assert!(waits(503).chain(waits(500)).all(|wait| wait.is_none()));
    }
}
