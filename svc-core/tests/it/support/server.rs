//! An API over the in-memory backend, and a client that calls it without HTTP.

use std::sync::Arc;

use async_trait::async_trait;
use http::{HeaderMap, Method};
use serde_json::Value;
use svc_core::{
    Api, ApiBuilder, BaseUrl, Context, Tenant, Vendor,
    api::{Request, ResourceConfig, Response},
    auth::{Authenticator, Caller, Credentials, Identity, Principal, Rights, TenantResolver},
    helper::{
        PersonSignup, RecordAttendance, RecordCanvass, RecordDonation, RecordOutreach,
        RecordSignature, RecordSubmission,
    },
    link::RecordAddress,
    model::{
        AdvocacyCampaign, Event, Form, FundraisingPage, List, Person, Petition, Question,
        Submission, Tag,
    },
    read::{Json, JsonLimits},
    value::Timestamp,
};

use super::typed_backend::Memory;

/// Accepts every key for one tenant. Anonymous callers may only call helpers.
#[derive(Debug)]
pub(crate) struct Door;

#[async_trait]
impl Authenticator for Door {
    async fn authenticate(&self, _: Credentials<'_>) -> svc_core::Result<Option<Principal>> {
        Ok(Some(Principal::new(
            Tenant::new("one"),
            Caller::with_rights(Rights::all()),
        )))
    }
}

#[async_trait]
impl TenantResolver for Door {
    async fn tenant_of(&self, _: &RecordAddress) -> svc_core::Result<Option<Tenant>> {
        Ok(Some(Tenant::new("one")))
    }
}

/// Returns a builder with the settings that every API needs.
pub(crate) fn builder() -> ApiBuilder {
    Api::builder(Vendor::new("Example Vendor", "Example CRM").namespace("crm"))
        .base_url("https://crm.example.org/api/v1/")
        .authenticator(Door)
        .anonymous_helpers(Door)
}

/// Registers every kind with all operations of the specification, and composes every helper that
/// can be composed.
///
/// A kind at the top level has every operation. For the other kinds the operations are listed.
pub(crate) fn everything(builder: ApiBuilder, store: &Arc<Memory>) -> ApiBuilder {
    registered(builder, store, |people| people)
}

/// Registers every kind, people with further operations.
fn registered(
    mut builder: ApiBuilder,
    store: &Arc<Memory>,
    of_people: impl FnOnce(ResourceConfig<Person, Memory>) -> ResourceConfig<Person, Memory>,
) -> ApiBuilder {
    macro_rules! offered {
        ($x:ident Person) => { of_people(offered!($x Top).find()) };
        ($x:ident Question) => { offered!($x Top).find() };
        ($x:ident Tag) => { offered!($x Top).find() };
        ($x:ident List) => { offered!($x Top).find() };
        ($x:ident Query) => { $x.list().get().update() };
        ($x:ident Donation) => { offered!($x Top).list_under::<FundraisingPage>().list_under::<Person>() };
        ($x:ident Signature) => { offered!($x Below).list_under::<Petition>() };
        ($x:ident Submission) => { offered!($x Below).list_under::<Form>() };
        ($x:ident Attendance) => { offered!($x Below).list_under::<Event>() };
        ($x:ident Outreach) => { offered!($x Below).list_under::<AdvocacyCampaign>() };
        ($x:ident Answer) => { offered!($x Below).list_under::<Question>().list_under::<Submission>() };
        ($x:ident Canvass) => { offered!($x Below) };
        ($x:ident Tagging) => { $x.list_under::<Tag>().list_under::<Person>().get().create().delete() };
        ($x:ident Item) => { $x.list_under::<List>().list_under::<Person>().get().create().delete() };
        ($x:ident Below) => { $x.list_under::<Person>().get().create().update().delete() };
        ($x:ident $top:ident) => { $x.list().get().create().update().delete() };
    }
    macro_rules! register {
        ($args:tt $($name:ident)+) => {
            $( builder = builder.resource::<svc_core::model::$name, _>(store, |x| offered!(x $name)); )+
        };
    }
    svc_core::each_kind!(register());
    builder
        .compose_helper::<PersonSignup>()
        .compose_helper::<RecordSignature>()
        .compose_helper::<RecordSubmission>()
        .compose_helper::<RecordDonation>()
        .compose_helper::<RecordOutreach>()
        .compose_helper::<RecordAttendance>()
        .compose_helper::<RecordCanvass>()
}

/// A response with its body parsed as JSON.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    /// The body; `null` if it is empty.
    pub(crate) json: Value,
    pub(crate) text: String,
    pub(crate) location: Option<String>,
    /// The value of `Retry-After`.
    pub(crate) retry_after: Option<String>,
    /// The value of `Preference-Applied`.
    pub(crate) applied: Option<String>,
}

impl Answered {
    fn of(reply: &Response) -> Self {
        let text = String::from_utf8(reply.body.to_vec()).expect("bodies are UTF-8");
        if !text.is_empty() {
            // Strict: rejects duplicate members.
            Json::read(text.as_bytes(), &JsonLimits::trusted()).expect("bodies are strict JSON");
        }
        let json = if text.is_empty() {
            Value::Null
        } else {
            serde_json::from_str(&text).expect("bodies are JSON")
        };
        let header = |name: &str| reply.header(name).map(str::to_owned);
        let (location, retry_after) = (header("location"), header("retry-after"));
        let applied = header("preference-applied");
        Self {
            status: reply.status.as_u16(),
            json,
            text,
            location,
            retry_after,
            applied,
        }
    }

    /// Returns the entries of an error object: relation, status, and each description as
    /// `CODE property,property`.
    pub(crate) fn entries(&self) -> Vec<(String, u64, Vec<String>)> {
        let error = self
            .json
            .as_object()
            .and_then(|body| body.iter().find(|(name, _)| name.ends_with(":error")));
        let statuses = error
            .and_then(|(_, error)| error["resource_status"].as_array())
            .cloned()
            .unwrap_or_default();
        let entry = |status: &Value| {
            let list = status
                .get("error_descriptions")
                .or_else(|| status.get("errors"));
            let described = list
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .map(|it| {
                    let code = it
                        .get("error_code")
                        .or_else(|| it.get("code"))
                        .and_then(Value::as_str)
                        .unwrap_or("?");
                    let properties = it["properties"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter_map(Value::as_str);
                    format!("{code} {}", properties.collect::<Vec<_>>().join(","))
                });
            let resource = status["resource"].as_str().unwrap_or("?").to_owned();
            (
                resource,
                status["response_code"].as_u64().unwrap_or(0),
                described.collect(),
            )
        };
        statuses.iter().map(entry).collect()
    }

    /// Returns the descriptions of an atomic failure.
    pub(crate) fn problems(&self) -> Vec<String> {
        self.entries()
            .into_iter()
            .flat_map(|(_, _, problems)| problems)
            .collect()
    }

    /// Returns the URL of a link.
    pub(crate) fn link(&self, name: &str) -> Option<&str> {
        self.json["_links"][name]["href"].as_str()
    }
}

/// An API and its backend.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) api: Api,
    pub(crate) store: Arc<Memory>,
}

impl Server {
    /// Creates a server with everything registered and further settings.
    pub(crate) fn with(settings: impl FnOnce(ApiBuilder) -> ApiBuilder) -> Self {
        Self::over(Memory::default(), settings)
    }

    /// Creates a server with everything registered over this backend.
    pub(crate) fn over(store: Memory, settings: impl FnOnce(ApiBuilder) -> ApiBuilder) -> Self {
        let store = Arc::new(store);
        let api = settings(everything(builder(), &store))
            .build()
            .expect("an API without contradictions");
        Self { api, store }
    }

    /// Creates a server whose operations merge people, with further settings.
    pub(crate) fn merging(settings: impl FnOnce(ApiBuilder, &Arc<Memory>) -> ApiBuilder) -> Self {
        let store = Arc::new(Memory::default());
        let builder = registered(builder(), &store, ResourceConfig::merge).merge_people();
        let api = settings(builder, &store)
            .build()
            .expect("an API without contradictions");
        Self { api, store }
    }

    /// Returns a context with a fixed time.
    pub(crate) fn context(&self, caller: Caller) -> Context {
        let now = Timestamp::parse("2026-01-05T09:00:00Z").expect("a timestamp");
        Context::new(Tenant::new("one"), caller, now).with_base(self.base())
    }

    /// Hides a person from all callers.
    pub(crate) fn hide_person(&self, id: &str) {
        self.store.hide(id);
    }

    /// Gives a person to another tenant.
    pub(crate) fn give_person_away(&self, id: &str) {
        self.store.give_away(id);
    }

    fn base(&self) -> BaseUrl {
        self.api.base_url().clone()
    }

    /// Sends a request with a key; `to` is a URL or a path relative to the base URL.
    pub(crate) fn send(&self, method: &Method, to: &str, body: &str) -> Answered {
        self.send_as(Caller::with_rights(Rights::all()), method, to, body)
    }

    pub(crate) fn send_as(
        &self,
        caller: Caller,
        method: &Method,
        to: &str,
        body: &str,
    ) -> Answered {
        self.send_with(&HeaderMap::new(), caller, method, to, body)
    }

    pub(crate) fn send_with(
        &self,
        headers: &HeaderMap,
        caller: Caller,
        method: &Method,
        to: &str,
        body: &str,
    ) -> Answered {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        Answered::of(&runtime.block_on(self.reply(headers, caller, method, to, body)))
    }

    /// Sends the same request twice concurrently.
    pub(crate) fn post_twice_at_once(&self, to: &str, body: &str) -> [Answered; 2] {
        let (headers, runtime) = (
            HeaderMap::new(),
            tokio::runtime::Builder::new_current_thread().build(),
        );
        let one = || {
            self.reply(
                &headers,
                Caller::with_rights(Rights::all()),
                &Method::POST,
                to,
                body,
            )
        };
        let (one, other) = runtime
            .expect("a runtime")
            .block_on(async { tokio::join!(one(), one()) });
        [one, other].map(|reply| Answered::of(&reply))
    }

    async fn reply(
        &self,
        headers: &HeaderMap,
        caller: Caller,
        method: &Method,
        to: &str,
        body: &str,
    ) -> Response {
        let base = self.base();
        let path = to.strip_prefix(base.as_str()).unwrap_or(to);
        let (path, query) = path
            .split_once('?')
            .map_or((path, None), |(path, query)| (path, Some(query)));
        assert!(
            self.api.route(path).is_some(),
            "`{path}` is not a path of the API"
        );
        let context = self.context(caller);
        let request = Request::new(method, path)
            .with_query(query)
            .with_received_at(context.received_at())
            .with_base_url(context.base().clone());
        let request = request.with_headers(headers);
        let identity = Identity::Authenticated(Principal::new(
            context.tenant().clone(),
            context.caller().clone(),
        ));
        self.api
            .handle(identity, request.with_body(body.to_owned()))
            .await
    }

    pub(crate) fn get(&self, to: &str) -> Answered {
        self.send(&Method::GET, to, "")
    }

    pub(crate) fn post(&self, to: &str, body: &str) -> Answered {
        self.send(&Method::POST, to, body)
    }

    pub(crate) fn put(&self, to: &str, body: &str) -> Answered {
        self.send(&Method::PUT, to, body)
    }

    pub(crate) fn delete(&self, to: &str) -> Answered {
        self.send(&Method::DELETE, to, "")
    }

    /// Sends a request without a key.
    pub(crate) fn post_unknown(&self, to: &str, body: &str) -> Answered {
        self.send_as(Caller::anonymous(), &Method::POST, to, body)
    }

    /// Creates a record and returns its URL.
    pub(crate) fn made(&self, to: &str, body: &str) -> String {
        let answer = self.post(to, body);
        assert!(
            matches!(answer.status, 200 | 201),
            "POST {to}: {} {}",
            answer.status,
            answer.text
        );
        answer.link("self").expect("a self link").to_owned()
    }
}
