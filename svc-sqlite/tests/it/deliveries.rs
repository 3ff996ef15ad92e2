//! Deliveries of server responses and scheduled messages, from a real file, with a clock that the
//! test sets.
//!
//! Requirements: HAF-11, SCH-01.

use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use svc_core::{
    Deliver, Result, Tenant,
    api::{Api, ApiBuilder, Atomicity, Vendor},
    backend::{DeliveryOutcome, OutboxEntry, OutboxPayload},
    helper::{AnonymousPolicy, RecordSignature},
    value::Timestamp,
};
use svc_sqlite::{KeyOptions, SqliteOptions, SqliteStore};
use svc_tower::{DeliveryWorker, SvcService};
use tower::ServiceExt;

const BASE: &str = "http://localhost/";

/// A clock that changes only when the test sets it.
#[derive(Clone)]
struct Clock(Arc<AtomicI64>);

impl Clock {
    fn new() -> Self {
        Self(Arc::new(AtomicI64::new(1_800_000_000_000_000)))
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::Relaxed))
    }

    fn ahead(&self, time: Duration) -> Timestamp {
        self.0
            .fetch_add(i64::try_from(time.as_micros()).unwrap(), Ordering::Relaxed);
        self.now()
    }

    fn set(&self, now: Timestamp) {
        self.0.store(now.as_micros(), Ordering::Relaxed);
    }
}

type Answers = dyn Fn(usize) -> Result<DeliveryOutcome> + Send + Sync;

/// Records deliveries, and returns results by the number of the attempt.
#[derive(Clone)]
struct Noted {
    sent: Arc<Mutex<Vec<OutboxEntry>>>,
    answer: Arc<Answers>,
}

impl Noted {
    fn new(answer: impl Fn(usize) -> Result<DeliveryOutcome> + Send + Sync + 'static) -> Self {
        Self {
            sent: Arc::default(),
            answer: Arc::new(answer),
        }
    }

    fn well() -> Self {
        Self::new(|_| Ok(DeliveryOutcome::Sent))
    }

    /// Returns the entries that were delivered since the last call.
    fn take(&self) -> Vec<OutboxEntry> {
        std::mem::take(&mut *self.sent.lock().unwrap())
    }

    fn names(&self) -> Vec<&'static str> {
        self.take().iter().map(OutboxEntry::log_label).collect()
    }
}

#[async_trait::async_trait]
impl Deliver for Noted {
    async fn deliver(&self, _: &Tenant, dispatch: &OutboxEntry) -> Result<DeliveryOutcome> {
        let attempt = {
            let mut sent = self.sent.lock().unwrap();
            sent.push(dispatch.clone());
            sent.len()
        };
        (self.answer)(attempt)
    }
}

struct Served {
    service: SvcService,
    deliveries: Option<DeliveryWorker>,
    key: String,
    clock: Clock,
    noted: Noted,
}

impl Served {
    async fn open(
        file: &Path,
        clock: &Clock,
        noted: &Noted,
        set: impl FnOnce(ApiBuilder) -> ApiBuilder,
    ) -> Self {
        let (told, of_requests) = (clock.clone(), clock.clone());
        let store = SqliteStore::open(SqliteOptions::new(file).clock(move || told.now())).unwrap();
        let tenant = store.ensure_tenant("demo").await.unwrap();
        let key = store
            .create_key(&tenant, KeyOptions::new("test"))
            .await
            .unwrap()
            .token;
        let api = store
            .register_all(Api::builder(Vendor::new("Test", "Test")))
            .base_url(BASE);
        let api = set(api.authenticator(store.clone()).anonymous_helpers(store))
            .build()
            .unwrap();
        let service = SvcService::new(api).clock(move || of_requests.now());
        let deliveries = service.delivery_worker();
        Self {
            service,
            deliveries,
            key,
            clock: clock.clone(),
            noted: noted.clone(),
        }
    }

    /// Creates a server on a file that is deleted when the test ends.
    async fn new(noted: Noted) -> (tempfile::TempDir, Self) {
        let folder = tempfile::tempdir().unwrap();
        let deliver = noted.clone();
        let set = |api: ApiBuilder| api.delivery(deliver).atomicity(Atomicity::WholeCall);
        let served = Self::open(&folder.path().join("data.db"), &Clock::new(), &noted, set).await;
        (folder, served)
    }

    async fn call(&self, method: Method, address: &str, body: &Value) -> (u16, Value) {
        self.call_with(Some(&self.key), method, address, body).await
    }

    async fn call_with(
        &self,
        key: Option<&str>,
        method: Method,
        address: &str,
        body: &Value,
    ) -> (u16, Value) {
        let path = address.strip_prefix(BASE).unwrap_or(address);
        let request = Request::builder().method(method).uri(format!("/{path}"));
        let request = key
            .into_iter()
            .fold(request, |request, key| request.header("SVC-API-Token", key));
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let request = request
            .header("content-type", "application/json")
            .body(Full::new(bytes::Bytes::from(body)));
        let response = self
            .service
            .clone()
            .oneshot(request.unwrap())
            .await
            .unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    async fn make(&self, collection: &str, body: Value) -> String {
        let (status, json) = self.call(Method::POST, collection, &body).await;
        assert!(matches!(status, 200 | 201), "{status} {json}");
        json["_links"]["self"]["href"].as_str().unwrap().to_owned()
    }

    /// Signs up a person, with these triggers.
    async fn sign_up(&self, more: Value) -> (u16, Value) {
        let mut body = json!({"person": {"email_addresses": [{"address": "ada@example.org"}]}});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        self.call(Method::POST, "people/person_signup", &body).await
    }

    /// Delivers what is due now, and returns when the next entry is due.
    async fn send(&self) -> Option<Timestamp> {
        self.deliveries.as_ref().unwrap().run_due().await.unwrap()
    }
}

/// HAF-11 to HAF-13: each requested response is delivered once after the commit, with the data of
/// the request.
#[tokio::test]
async fn haf_11_what_is_triggered_is_sent_once() {
    let (_folder, served) = Served::new(Noted::well()).await;
    let triggers = json!({"triggers": {
        "autoresponse": {"enabled": true, "identifiers": ["mail:welcome"]},
        "sms_response": {"enabled": false, "identifiers": ["sms:welcome"]},
        "call_response": {"identifiers": ["phone:1"]},
    }});
    let (status, json) = served.sign_up(triggers).await;
    assert_eq!(status, 200, "{json}");
    assert_eq!(served.send().await, None, "no entry is left");
    let mut sent = served.noted.take();
    sent.sort_by_key(OutboxEntry::log_label);
    let texts = |dispatch: &OutboxEntry| match &dispatch.payload {
        OutboxPayload::Response {
            identifiers,
            person: Some(person),
            action: None,
            ..
        } => {
            assert!(
                json["_links"]["self"]["href"]
                    .as_str()
                    .unwrap()
                    .ends_with(person.as_str())
            );
            identifiers.clone()
        }
        other => panic!("{other:?}"),
    };
    let named: Vec<_> = sent
        .iter()
        .map(|it| {
            (
                it.log_label(),
                texts(it),
                it.received_at == served.clock.now(),
            )
        })
        .collect();
    let expected = [
        ("autoresponse", "mail:welcome"),
        ("call_response", "phone:1"),
    ];
    assert_eq!(
        named,
        expected.map(|(name, text)| (name, vec![text.to_owned()], true))
    );
    assert_ne!(sent[0].id, sent[1].id);
    served.send().await;
    assert_eq!(served.noted.names(), [""; 0], "it is delivered once");
}

/// HAF-11, ERR-34: responses that a rolled-back request triggers are never delivered.
#[tokio::test]
async fn haf_11_what_a_call_asks_for_that_is_undone_is_not_sent() {
    let (_folder, served) = Served::new(Noted::well()).await;
    let body =
        json!({"triggers": {"autoresponse": {"enabled": true}}, "add_tags": ["there is none"]});
    assert_eq!(served.sign_up(body.clone()).await.0, 400);
    assert_eq!(served.send().await, None);
    assert_eq!(served.noted.names(), [""; 0]);
    served.make("tags", json!({"name": "there is none"})).await;
    assert_eq!(served.sign_up(body).await.0, 200);
    served.send().await;
    assert_eq!(served.noted.names(), ["autoresponse"]);
}

/// UND-26: nothing is delivered to a person who was deleted in between.
#[tokio::test]
async fn und_26_nothing_is_sent_to_who_is_gone() {
    let (_folder, served) = Served::new(Noted::well()).await;
    let (_, person) = served
        .sign_up(json!({"triggers": {"autoresponse": {"enabled": true}}}))
        .await;
    let person = person["_links"]["self"]["href"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        served.call(Method::DELETE, &person, &Value::Null).await.0,
        204
    );
    assert_eq!(served.send().await, None);
    assert_eq!(served.noted.names(), [""; 0]);
}

/// HAF-11: if a process ends during a delivery, the next process delivers the entry again with the
/// same id. It does so after the claim has expired.
#[tokio::test]
async fn haf_11_what_was_begun_comes_again_under_its_id() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::new());
    let file = folder.path().join("data.db");
    // The delivery never ends, as if the process had been killed between sending and recording it.
    let first = Noted::well();
    let hangs = first.clone();
    let hanging = Hanging(hangs);
    let served = Served::open(&file, &clock, &first, |api| api.delivery(hanging)).await;
    assert_eq!(
        served
            .sign_up(json!({"triggers": {"autoresponse": {"enabled": true}}}))
            .await
            .0,
        200
    );
    let mut running = Box::pin(served.deliveries.clone().unwrap().run());
    let begun = loop {
        // Until the entry is handed over.
        tokio::select! {
            () = &mut running => unreachable!("the delivery never ends"),
            () = tokio::task::yield_now() => {}
        }
        if let Some(begun) = first.take().pop() {
            break begun;
        }
    };
    drop((running, served));
    // The runtime drops the cancelled tasks, and with them the file.
    tokio::task::yield_now().await;

    let second = Noted::well();
    let deliver = second.clone();
    let served = Served::open(&file, &clock, &second, |api| api.delivery(deliver)).await;
    let next = served
        .send()
        .await
        .expect("it waits until the claim of the other process ends");
    assert!(second.take().is_empty() && next > clock.now());
    clock.set(next);
    assert_eq!(served.send().await, None);
    assert_eq!(second.take(), [begun]);
}

/// Records deliveries, and never ends.
struct Hanging(Noted);

#[async_trait::async_trait]
impl Deliver for Hanging {
    async fn deliver(&self, tenant: &Tenant, dispatch: &OutboxEntry) -> Result<DeliveryOutcome> {
        self.0.deliver(tenant, dispatch).await?;
        std::future::pending().await
    }
}

/// HAF-11: a panic ends one attempt, not the delivery worker. A failed delivery is repeated with
/// the same id.
#[tokio::test]
async fn haf_11_a_panic_ends_one_attempt() {
    let noted = Noted::new(|attempt| {
        if attempt == 1 {
            panic!("the mail program has crashed")
        } else {
            Ok(DeliveryOutcome::Sent)
        }
    });
    let (_folder, served) = Served::new(noted).await;
    served
        .sign_up(json!({"triggers": {"autoresponse": {"enabled": true}}}))
        .await;
    let next = served.send().await.expect("the delivery is repeated");
    served.clock.set(next);
    assert_eq!(served.send().await, None);
    let sent = served.noted.take();
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[0], sent[1]);
}

/// HAF-11: a failing delivery is attempted ten times, on the schedule, and then abandoned.
#[tokio::test]
async fn haf_11_what_always_fails_is_given_up() {
    let (_folder, served) = Served::new(Noted::new(|_| {
        Err(svc_core::Error::unexpected("no mail today"))
    }))
    .await;
    served
        .sign_up(json!({"triggers": {"autoresponse": {"enabled": true}}}))
        .await;
    let mut pauses = Vec::new();
    while let Some(next) = served.send().await {
        pauses.push((next.as_micros() - served.clock.now().as_micros()) / 1_000_000);
        served.clock.set(next);
    }
    let least = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
    assert_eq!(pauses.len(), least.len(), "{pauses:?}");
    for (pause, least) in pauses.iter().zip(least) {
        assert!(
            (least..least * 6 / 5).contains(pause),
            "{pause} seconds, expected at least {least}"
        );
    }
    assert_eq!(served.noted.take().len(), 10);
    let counts = served.deliveries.as_ref().unwrap().stats();
    assert_eq!((counts.sent, counts.retried, counts.abandoned), (0, 9, 1));
}

/// A delivery that a vendor defers is repeated after that time, and one that it abandons never.
#[tokio::test]
async fn haf_11_a_vendor_may_put_off_and_give_up() {
    let noted = Noted::new(|attempt| match attempt {
        1 => Ok(DeliveryOutcome::RetryAfter(Duration::from_secs(60 * 60))),
        _ => Ok(DeliveryOutcome::Abandoned("the address no longer exists")),
    });
    let (_folder, served) = Served::new(noted).await;
    served
        .sign_up(json!({"triggers": {"autoresponse": {"enabled": true}}}))
        .await;
    let hour = served
        .clock
        .now()
        .saturating_add(Duration::from_secs(60 * 60));
    assert_eq!(served.send().await, Some(hour));
    served.clock.set(hour);
    assert_eq!(served.send().await, None);
    assert_eq!(served.deliveries.as_ref().unwrap().stats().abandoned, 1);
}

/// SCH-01, SCH-04: a message is delivered once, at its start. It is not delivered earlier, or when
/// its schedule was replaced or cancelled, or it was deleted.
#[tokio::test]
async fn sch_01_a_message_is_sent_when_its_start_has_come() {
    let (_folder, served) = Served::new(Noted::well()).await;
    let now = served.clock.now();
    let at = |hours: u64| now.saturating_add(Duration::from_secs(3_600 * hours));
    let mut messages = Vec::new();
    for start in [1, 1, 1, 1] {
        let message = served.make("messages", json!({"subject": "News"})).await;
        let dates = json!({"scheduled_start_date": at(start).to_string()});
        let (status, json) = served
            .call(Method::POST, &format!("{message}/schedule"), &dates)
            .await;
        assert_eq!(status, 200, "{json}");
        messages.push(message);
    }
    let [kept, replaced, cancelled, deleted] = &messages[..] else {
        unreachable!("four messages")
    };
    let dates = json!({"scheduled_start_date": at(2).to_string()});
    assert_eq!(
        served
            .call(Method::POST, &format!("{replaced}/schedule"), &dates)
            .await
            .0,
        200
    );
    assert_eq!(
        served
            .call(
                Method::DELETE,
                &format!("{cancelled}/schedule"),
                &Value::Null
            )
            .await
            .0,
        200
    );
    assert_eq!(
        served.call(Method::DELETE, deleted, &Value::Null).await.0,
        204
    );
    assert_eq!(served.send().await, Some(at(1)));
    assert!(served.noted.take().is_empty(), "nothing is due yet");
    let mut sent = Vec::new();
    for (hours, next) in [(1, Some(at(2))), (2, None)] {
        served.clock.set(at(hours));
        assert_eq!(served.send().await, next);
        sent.extend(
            served
                .noted
                .take()
                .into_iter()
                .map(|dispatch| match dispatch.payload {
                    OutboxPayload::Message { message, start, .. } => {
                        (format!("{BASE}messages/{message}"), start)
                    }
                    other => panic!("{other:?}"),
                }),
        );
    }
    assert_eq!(sent, [(kept.clone(), at(1)), (replaced.clone(), at(2))]);
    // Its dates remain until a client cancels them (SCH-01, SCH-04).
    let (_, message) = served.call(Method::GET, kept, &Value::Null).await;
    assert_eq!(message["scheduled_start_date"], json!(at(1).to_string()));
    assert_eq!(
        served
            .call(Method::DELETE, &format!("{kept}/schedule"), &Value::Null)
            .await
            .0,
        200
    );
}

/// SCH-01: a message with a past start is due immediately. A message whose stop date has passed is
/// not delivered.
#[tokio::test]
async fn sch_01_what_is_late_is_sent_at_once_or_never() {
    let (_folder, served) = Served::new(Noted::well()).await;
    let now = served.clock.ahead(Duration::from_secs(24 * 60 * 60));
    let before = Timestamp::from_micros(now.as_micros() - 3_600_000_000);
    let message = served.make("messages", json!({"subject": "News"})).await;
    let dates = json!({"scheduled_start_date": before.to_string()});
    assert_eq!(
        served
            .call(Method::POST, &format!("{message}/schedule"), &dates)
            .await
            .0,
        200
    );
    served.send().await;
    assert_eq!(served.noted.names(), ["message"]);
    let dates =
        json!({"scheduled_start_date": now.to_string(), "scheduled_stop_date": now.to_string()});
    assert_eq!(
        served
            .call(Method::POST, &format!("{message}/schedule"), &dates)
            .await
            .0,
        200
    );
    served.clock.ahead(Duration::from_secs(1));
    assert_eq!(served.send().await, None);
    assert_eq!(served.noted.names(), [""; 0]);
    assert_eq!(served.deliveries.as_ref().unwrap().stats().abandoned, 1);
}

/// HAF-11, HLP-22, CAP-04: without deliveries, server responses and scheduling are neither declared
/// nor executed.
#[tokio::test]
async fn cap_04_what_nobody_sends_is_not_offered() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::open(
        &folder.path().join("data.db"),
        &Clock::new(),
        &Noted::well(),
        |api| api,
    )
    .await;
    assert!(served.deliveries.is_none());
    let (_, document) = served
        .call(Method::GET, "docs/capabilities", &Value::Null)
        .await;
    assert_eq!(document["helpers"]["schedule"], Value::Null, "{document}");
    let functions = document["action_functions"].as_array().unwrap();
    assert!(
        !functions.is_empty() && !functions.contains(&json!("triggers")),
        "{functions:?}"
    );
    let message = served.make("messages", json!({"subject": "News"})).await;
    let dates = json!({"scheduled_start_date": served.clock.now().to_string()});
    let (status, refused) = served
        .call(Method::POST, &format!("{message}/schedule"), &dates)
        .await;
    assert_eq!(status, 500, "{refused}");
    let (_, answer) = served
        .sign_up(json!({"triggers": {"autoresponse": {"enabled": true}}}))
        .await;
    assert!(answer.to_string().contains("NOT_SUPPORTED"), "{answer}");
}

/// Starts a server that accepts anonymous requests under this policy, with two petitions.
async fn signed_without_key(
    strangers: AnonymousPolicy,
) -> (tempfile::TempDir, Served, [String; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let noted = Noted::well();
    let deliver = noted.clone();
    let set = |api: ApiBuilder| api.delivery(deliver).anonymous_policy(strangers);
    let served = Served::open(&folder.path().join("data.db"), &Clock::new(), &noted, set).await;
    let petitions = [
        served.make("petitions", json!({})).await,
        served.make("petitions", json!({})).await,
    ];
    (
        folder,
        served,
        petitions.map(|petition| format!("{petition}/record_signature_helper")),
    )
}

fn signature(person: &Value, trigger: &str) -> Value {
    json!({"person": person, "triggers": {trigger: {"enabled": true}}})
}

/// HLP-04, HAF-11: a second signature of a person triggers a server response if it changes the first.
#[tokio::test]
async fn hlp_04_only_a_changed_signature_triggers_again() {
    let folder = tempfile::tempdir().unwrap();
    let noted = Noted::well();
    let deliver = noted.clone();
    let set = |api: ApiBuilder| {
        api.delivery(deliver)
            .one_action_per_person::<RecordSignature>()
    };
    let served = Served::open(&folder.path().join("data.db"), &Clock::new(), &noted, set).await;
    let petition = served.make("petitions", json!({})).await;
    let helper = format!("{petition}/record_signature_helper");
    let ada = json!({"email_addresses": [{"address": "ada@example.org"}]});
    let mut delivered = Vec::new();
    for comment in ["One", "Two", "Two"] {
        let mut body = signature(&ada, "autoresponse");
        body["comments"] = json!(comment);
        let (status, json) = served.call(Method::POST, &helper, &body).await;
        assert_eq!(status, 200, "{json}");
        served.send().await;
        delivered.push(noted.names().len());
    }
    assert_eq!(delivered, [1, 1, 0]);
}

/// HAF-14: a request without a key triggers nothing unless the vendor allows it, whether the person
/// exists or not.
#[tokio::test]
async fn haf_14_an_anonymous_call_triggers_nothing() {
    let (_folder, served, [helper, _]) = signed_without_key(AnonymousPolicy::new()).await;
    let [ada, eve] = ["ada@example.org", "eve@example.org"]
        .map(|it| json!({"email_addresses": [{"address": it}]}));
    served.make("people", ada.clone()).await;
    let known = served
        .call_with(
            None,
            Method::POST,
            &helper,
            &signature(&ada, "autoresponse"),
        )
        .await;
    let unknown = served
        .call_with(
            None,
            Method::POST,
            &helper,
            &signature(&eve, "autoresponse"),
        )
        .await;
    assert_eq!(known, unknown);
    assert!(known.1.to_string().contains("NOT_SUPPORTED"), "{known:?}");
    served.send().await;
    assert_eq!(served.noted.names(), [""; 0]);
    assert_eq!(
        served
            .call(Method::POST, &helper, &signature(&ada, "autoresponse"))
            .await
            .0,
        200
    );
    served.send().await;
    assert_eq!(served.noted.names(), ["autoresponse"], "with a key");
}

/// HAF-14: if allowed, a response is delivered once in 24 hours for each person, trigger and
/// container. The HTTP response is the same.
#[tokio::test]
async fn haf_14_an_anonymous_call_triggers_a_response_once_a_day() {
    let (_folder, served, [one, other]) =
        signed_without_key(AnonymousPolicy::new().with_triggers()).await;
    let by = |addresses: &[&str]| {
        let addresses: Vec<Value> = addresses
            .iter()
            .map(|address| json!({"address": address}))
            .collect();
        json!({"email_addresses": addresses})
    };
    let ada = by(&["ada@example.org"]);
    served
        .make("people", by(&["ada@example.org", "lovelace@example.org"]))
        .await;
    let number = |number: &str| json!({"phone_numbers": [{"number": number}]});
    let minute = Duration::from_secs(60);
    let hours = |hours: u32| minute * 60 * hours;
    for (ahead, helper, person, trigger, is_sent, what) in [
        (
            minute,
            &one,
            ada.clone(),
            "autoresponse",
            true,
            "an existing person",
        ),
        (
            minute,
            &one,
            ada.clone(),
            "autoresponse",
            false,
            "the same request again",
        ),
        (
            minute,
            &one,
            by(&["ADA@example.org "]),
            "autoresponse",
            false,
            "the same address",
        ),
        (
            minute,
            &one,
            by(&["lovelace@example.org"]),
            "autoresponse",
            false,
            "another address of the person",
        ),
        (
            minute,
            &one,
            ada.clone(),
            "sms_response",
            true,
            "another trigger",
        ),
        (
            minute,
            &other,
            ada.clone(),
            "autoresponse",
            true,
            "another container",
        ),
        (
            minute,
            &one,
            by(&["new@example.org"]),
            "autoresponse",
            true,
            "a new person",
        ),
        (
            minute,
            &one,
            by(&["new@example.org"]),
            "autoresponse",
            false,
            "the same new person",
        ),
        (
            minute,
            &one,
            number("15550100"),
            "sms_response",
            true,
            "a number, by which no person is matched",
        ),
        (
            minute,
            &one,
            number("15550100"),
            "sms_response",
            false,
            "the same number of a new person",
        ),
        (
            minute,
            &one,
            json!({"given_name": "Ada"}),
            "autoresponse",
            true,
            "a person without an address",
        ),
        (
            hours(23),
            &one,
            ada.clone(),
            "autoresponse",
            false,
            "within 24 hours",
        ),
        (
            hours(1),
            &one,
            ada.clone(),
            "autoresponse",
            true,
            "after 24 hours",
        ),
        (
            hours(23),
            &one,
            ada.clone(),
            "autoresponse",
            false,
            "within 24 hours of the last one",
        ),
    ] {
        served.clock.ahead(ahead);
        let answer = served
            .call_with(None, Method::POST, helper, &signature(&person, trigger))
            .await;
        assert_eq!(answer, (200, json!({})), "{what}");
        served.send().await;
        assert_eq!(served.noted.names().len(), usize::from(is_sent), "{what}");
    }
    for _ in 0..2 {
        assert_eq!(
            served
                .call(Method::POST, &one, &signature(&ada, "autoresponse"))
                .await
                .0,
            200
        );
        served.send().await;
        assert_eq!(served.noted.names(), ["autoresponse"], "with a key");
    }
}
