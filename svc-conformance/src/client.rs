//! A caller of the target: sends requests with one key or none, follows links, never builds an
//! address.

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
use serde_json::{Value, json};

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

/// Pages that a walk reads at most.
const MOST_PAGES: usize = 400;
/// Characters of an answer's body that messages show.
const SHOWN: usize = 600;
/// How often a request is sent again after 429 or 503 with `Retry-After`.
pub(crate) const MOST_RETRIES: usize = 4;

/// How a walk over the pages of a collection ended.
#[derive(Debug)]
pub(crate) enum PageWalkEnd {
    /// At the last page, or where no more was wanted.
    Done,
    /// At `next`, which leads to a page that was read before.
    Repeated(String),
    /// At the most pages that are read.
    TooManyPages,
    /// At a page that was not given.
    Failed(Box<TestResponse>),
}

/// One request, and whether its answer is a document of the interface, to be judged as one.
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
    /// The key; without one the header is not sent.
    key: Option<String>,
    /// Whether changes go without `If-Match` also where the server asks for one.
    ///
    /// Requirements: ETG-09.
    bare: bool,
}

impl CheckContext {
    /// The caller with the primary key; without a key where none is needed.
    pub(crate) fn api(&self) -> CheckClient<'_> {
        match &self.run.keys.primary {
            Some(key) => self.with_key(key),
            None => self.anonymous(),
        }
    }

    /// The caller with a key of another tenant.
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
    /// The same caller, who sends no `If-Match` of itself.
    pub(crate) fn without_if_match(&self) -> Self {
        Self {
            bare: true,
            ..self.clone()
        }
    }

    pub(crate) async fn get(&self, url: &str) -> Result<TestResponse, CheckStop> {
        self.send(Method::GET, url, None).await
    }

    /// Posts a body, with what the objects in it need; that of a helper has what its action and its
    /// person need.
    ///
    /// Requirements: CAP-05.
    pub(crate) async fn post(&self, url: &str, body: &Value) -> Result<TestResponse, CheckStop> {
        self.post_with(url, body, &[]).await
    }

    /// As [`CheckClient::post`], with further headers.
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

    /// Puts a body, with what the objects in it need.
    ///
    /// Requirements: CAP-05.
    pub(crate) async fn put(&self, url: &str, body: &Value) -> Result<TestResponse, CheckStop> {
        self.put_with(url, body, &[]).await
    }

    /// As [`CheckClient::put`], with further headers.
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

    /// Sends one request; the answer passes the recorder and the passive checks.
    pub(crate) async fn send(
        &self,
        method: Method,
        url: &str,
        body: Option<String>,
    ) -> Result<TestResponse, CheckStop> {
        self.send_with(method, url, body, &[]).await
    }

    /// Sends one request with further headers.
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

    /// Sends one request whose answer is no document of the interface (documentation, the
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

    /// Asks for a stream of events that ends with what is there, from behind the event that a
    /// client had last.
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

    /// Posts a body of another type, whose answer is no document of the interface either.
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

    /// Sends one request, and sends it again where the target asks to wait.
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
                    "the server {what}, also after waits: {answer}"
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
                "{url} was there before the run, which neither changes nor deletes it"
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
                    "{url} is on another origin: not followed"
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
                "the fixture {name} is not there: {} -> 404",
                exchange.line()
            )));
        }
        let shown = exchange
            .answer
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
        // What only asks to come later is no answer to the request.
        if judged && waiting(answer.status, &answer.headers, 0).is_none() {
            passive::check_response(cx, &answer);
        }
        cx.pin(|| pins::lines(&answer));
        Ok(answer)
    }

    /// Which of the run's keys the caller uses, as the journal notes it.
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
        *request.uri_mut() = url.parse().map_err(|_| broken("the address"))?;
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

    /// The entry point, read once in an attempt at a check.
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

    /// The address of a collection, from the entry point.
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

    /// Reads a record again by its `self`.
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

    /// Reads what a relation of a record leads to; what is embedded and not linked is there
    /// already.
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
                "the link {name} does not lead to a document: {answer}"
            )));
        }
        Ok(answer.record())
    }

    /// Shows the pages of a collection to somebody, by `next` from the first, until there are no
    /// more or no more are wanted.
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

    /// Every page of a collection; a page met twice breaks COL-24.
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
                    format!("`next` leads back to {url}, which was read before")
                });
            }
            PageWalkEnd::Failed(answer) => {
                self.cx.observe(ids::COL_31, false, || answer.to_string());
            }
        }
        Err(CheckStop::Failed)
    }

    /// Every member of a collection.
    pub(crate) async fn members(&self, url: &str) -> Result<Vec<Representation>, CheckStop> {
        Ok(self
            .pages(url)
            .await?
            .iter()
            .flat_map(Representation::embedded)
            .collect())
    }

    /// The members of a collection that carry one of these markers, and how many members there are.
    pub(crate) async fn total(&self, url: &str) -> Result<Option<u64>, CheckStop> {
        Ok(self.get(url).await?["total_records"].as_u64())
    }

    /// A body with one more link.
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

/// How long the target asks to wait, in seconds or until a date, 30 s at most: with 429, or with
/// 503 that says how long. After 429 without a time, each wait is twice as long as the one before.
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

/// The seconds that `Retry-After` asks for, in an answer of this `Date`.
fn asked(retry_after: Option<&str>, sent: Option<&str>) -> Option<u64> {
    let asked = retry_after?;
    asked.parse::<u64>().ok().or_else(|| {
        // The target's own clock tells how long it is until its date; a date that is past is none
        // to wait for.
        let now = sent
            .and_then(date)
            .unwrap_or_else(|| Utc::now().naive_utc());
        Some(u64::try_from(date(asked)?.signed_duration_since(now).num_seconds()).unwrap_or(0))
    })
}

/// A date of HTTP in each of its three forms (RFC 9110, section 5.6.7).
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

    /// What a 503 with these headers asks for, in seconds.
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

    /// A delay or a date in any form of RFC 9110 (section 5.6.7), which counts from the answer's
    /// own `Date`.
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
        // No longer than 30 s; a second at least, also where the date is past.
        assert_eq!(
            asked(&[date, ("retry-after", "Sun, 06 Nov 1994 09:49:37 GMT")]),
            Some(30)
        );
        assert_eq!(
            asked(&[date, ("retry-after", "Sun, 06 Nov 1994 08:49:07 GMT")]),
            Some(1)
        );
        // Without a `Date`, or with one that is none, the clock of this machine counts.
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

    /// Without a time that is asked for, 503 is an answer like others, and after 429 each wait is
    /// longer.
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
