//! A service to run the suite against, with the keys that the suite gets.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::Value;
use svc_core::api::{ApiBuilder, BuildError, Vendor};
use svc_core::auth::{Authenticator, Credentials, Operation, Principal, Right};
use svc_core::backend::{DeliveryOutcome, OutboxEntry};
use svc_core::link::{RecordAddress, Target};
use svc_core::model::Kind;
use svc_core::raw::RawDraft;
use svc_core::store::ImportedRecord;
use svc_core::value::{Id, Timestamp};
use svc_core::webhooks::ReceiverPolicy;
use svc_core::{Api, Tenant};
use svc_sqlite::{FileError, KeyError, KeyOptions, SqliteStore};
use svc_tower::SvcService;
use svc_tower::webhooks::WebhookSender;
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::independent_server::{IndependentServer, ServerKey, ServerOptions, SimulatedTime};
use super::transport::{BufferedRequest, Transport};

/// Base URL of the reference server.
const REFERENCE: &str = "http://reference.example.org/api/v1/";

/// A service with the information that the suite needs.
pub struct TestSubject {
    /// The service.
    pub wire: Transport,
    /// The base URL.
    pub base: String,
    /// The prefix of relations.
    pub prefix: String,
    /// The main key of the run.
    pub key: String,
    /// A key to other data.
    pub other_key: Option<String>,
    /// A key that lacks a right, with that right.
    pub restricted_key: Option<(String, String)>,
    /// The fixtures of a run: names with addresses.
    pub fixtures: Vec<(String, String)>,
    /// The simulated time, if time can pass without waiting.
    pub time: Option<SimulatedTime>,
    /// The worker that sends the messages of the webhooks while the service runs.
    sender: JoinSet<()>,
    /// Not deleted while the service runs.
    _folder: Option<TempDir>,
}

impl fmt::Debug for TestSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestSubject")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

/// Error raised when a service does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubjectError {
    /// The folder for its data cannot be created.
    #[error("no folder for the data: {0}")]
    Folder(#[from] std::io::Error),
    /// The data file cannot be used.
    #[error("the data file: {0}")]
    File(#[from] FileError),
    /// The keys are invalid.
    #[error("the keys: {0}")]
    Key(#[from] KeyError),
    /// The API cannot be built.
    #[error("the API: {0}")]
    Build(#[from] BuildError),
    /// The service does not publish a valid declaration.
    #[error("the service does not publish a valid declaration")]
    Declaration,
    /// The first records cannot be created.
    #[error("the first records: {0:?}")]
    Store(svc_core::Error),
}

impl TestSubject {
    /// Returns the second service.
    #[must_use]
    pub fn second_server(options: ServerOptions) -> Self {
        Self::of_second_server(&IndependentServer::new(ServerOptions::default()), options)
    }

    /// Returns a service with the data of a second service and other options.
    #[must_use]
    pub fn of_second_server(second_server: &IndependentServer, mut options: ServerOptions) -> Self {
        let time = SimulatedTime::default();
        options.clock = options.clock.with(&time);
        let (base, prefix) = (options.base.clone(), options.prefix.clone());
        let key_at = |at: usize| options.keys.get(at).map(|key| key.token.clone());
        let key = key_at(0).unwrap_or_default();
        let other_key = key_at(1);
        let lacks = |key: &ServerKey| {
            let right = ["people.read", "people.create"]
                .into_iter()
                .find(|right| key.only.iter().all(|one| one != right));
            (key.token.clone(), right.unwrap_or_default().to_owned())
        };
        let restricted_key = options.keys.get(2).map(lacks);
        let service = second_server.set_up_as(options);
        let fixtures = service.fixtures();
        let wire = Transport::of(service);
        Self {
            wire,
            base,
            prefix,
            key,
            other_key,
            restricted_key,
            fixtures,
            time: Some(time),
            sender: JoinSet::new(),
            _folder: None,
        }
    }

    /// Starts the reference server with a new data file; its key is bound to a person.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created.
    pub async fn reference(
        set_up: impl FnOnce(ApiBuilder) -> ApiBuilder,
    ) -> Result<Self, SubjectError> {
        Ok(Self::of_reference(set_up, |right| {
            ["people.list", "people.read"].contains(&right)
        })
        .await?
        .0)
    }

    /// Starts the reference server, which also sends the messages of its webhooks to receivers on
    /// this machine. Its restricted key has every right except reading tags.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created.
    pub async fn sending(
        set_up: impl FnOnce(ApiBuilder) -> ApiBuilder,
    ) -> Result<Self, SubjectError> {
        let reach = ReceiverPolicy::PUBLIC
            .allow_http(true)
            .allow_private_networks(true);
        let hidden = "tags.read";
        let set_up = |api: ApiBuilder| set_up(api.webhook_receiver_policy(reach).merge_people());
        let (mut subject, api) = Self::of_reference(set_up, |right| right != hidden).await?;
        if let Some((_, lacks)) = &mut subject.restricted_key {
            hidden.clone_into(lacks);
        }
        if let Some(sender) = WebhookSender::new(&api) {
            subject
                .sender
                .spawn(sender.run_until(std::future::pending()));
        }
        Ok(subject)
    }

    /// Returns whether the service sends the messages of its webhooks.
    #[must_use]
    pub fn sends(&self) -> bool {
        !self.sender.is_empty()
    }

    /// Starts the reference server; the restricted key has the rights with these names.
    async fn of_reference(
        set_up: impl FnOnce(ApiBuilder) -> ApiBuilder,
        may: impl Fn(&str) -> bool,
    ) -> Result<(Self, Api), SubjectError> {
        let folder = tempfile::tempdir()?;
        let store = SqliteStore::open(
            svc_sqlite::SqliteOptions::new(folder.path().join("self-test.db")).relaxed_durability(),
        )?;
        let one = store
            .ensure_tenant("one")
            .await
            .map_err(SubjectError::Store)?;
        let two = store
            .ensure_tenant("two")
            .await
            .map_err(SubjectError::Store)?;
        let key = |label: &str| KeyOptions::new(label);
        let bound = match seed(&store, &one).await? {
            Some(person) => key("one").person(person),
            None => key("one"),
        };
        store
            .create_key_with_token(&one, &long("k-one"), bound)
            .await?;
        store
            .create_key_with_token(&two, &long("k-two"), key("two"))
            .await?;
        let rights = Right::all().filter(|right| may(&right.to_string()));
        store
            .create_key_with_token(&one, &long("k-narrow"), key("narrow").rights(rights))
            .await?;
        let api = store.register_all(Api::builder(Vendor::new("Example", "Reference")));
        let shared = Arc::new(store.clone());
        let api: ApiBuilder = api
            .change_feed(&shared)
            .webhooks(&shared)
            .batches()
            .base_url(REFERENCE);
        // Every delivery succeeds: the API only shows that it is accepted.
        let api = api.delivery(|_: &Tenant, _: &OutboxEntry| Ok(DeliveryOutcome::Sent));
        let api = set_up(
            api.authenticator(KeyAliases(store.clone()))
                .anonymous_helpers(store.clone()),
        )
        .build()?;
        let prefix = api.dialect().prefix().to_owned();
        let fixtures = furnish(&store, &one, &api).await?;
        let subject = Self {
            wire: Transport::of(
                SvcService::new(api.clone())
                    .with_docs(svc_docs::Docs::new())
                    .mounted_at("/api/v1"),
            ),
            base: REFERENCE.to_owned(),
            prefix,
            key: "k-one".to_owned(),
            other_key: Some("k-two".to_owned()),
            restricted_key: Some(("k-narrow".to_owned(), "people.create".to_owned())),
            fixtures,
            time: None,
            sender: JoinSet::new(),
            _folder: Some(folder),
        };
        Ok((subject, api))
    }

    /// Reads a JSON document with the main key.
    pub(super) async fn get(&self, url: &str) -> Option<Value> {
        let (header, value) = (
            HeaderName::from_static("svc-api-token"),
            HeaderValue::from_str(&self.key).ok()?,
        );
        let headers = HeaderMap::from_iter([(header, value)]);
        let call = BufferedRequest {
            method: Method::GET,
            uri: url.parse().ok()?,
            headers,
            body: Bytes::new(),
        };
        serde_json::from_slice(&self.wire.send(call).await.body).ok()
    }

    /// Returns the service with a layer around it.
    #[must_use]
    pub fn behind(self, wrap: impl FnOnce(Transport, &str) -> Transport) -> Self {
        Self {
            wire: wrap(self.wire, &self.prefix),
            ..self
        }
    }
}

/// The keys of all subjects have the same short names, but the reference server accepts only long
/// keys.
struct KeyAliases(SqliteStore);

#[async_trait]
impl Authenticator for KeyAliases {
    async fn authenticate(
        &self,
        credentials: Credentials<'_>,
    ) -> svc_core::Result<Option<Principal>> {
        let key = credentials.key.map(long);
        let Credentials {
            headers,
            extensions,
            now,
            ..
        } = credentials;
        self.0
            .authenticate(Credentials::new(key.as_deref(), headers, extensions, now))
            .await
    }
}

/// Returns the key of the reference server for a short name.
fn long(name: &str) -> String {
    format!("{name}-of-the-self-test")
}

/// Creates what requests cannot create: the person that the reference server's key is bound to, and
/// a stored query.
async fn seed(store: &SqliteStore, tenant: &Tenant) -> Result<Option<Id>, SubjectError> {
    let person = seeded_id(1);
    let records = [
        (Kind::Person, person.clone(), "given_name"),
        (Kind::Query, seeded_id(2), "name"),
    ];
    let loads = records
        .into_iter()
        .filter_map(|(kind, id, field)| Some(seeded(kind, id?, field)));
    store
        .import_records(tenant, loads.collect())
        .await
        .map_err(SubjectError::Store)?;
    Ok(person)
}

/// Stores a container for each helper whose containers clients cannot create. Returns the addresses
/// of these helpers, each with the name of its fixture.
async fn furnish(
    store: &SqliteStore,
    tenant: &Tenant,
    api: &Api,
) -> Result<Vec<(String, String)>, SubjectError> {
    let (mut loads, mut fixtures) = (Vec::new(), Vec::new());
    for (number, helper) in (3..).zip(api.helpers()) {
        let container = helper
            .container_kind()
            .filter(|kind| !api.offers(*kind, Operation::Create));
        let Some((kind, id)) = container.zip(seeded_id(number)) else {
            continue;
        };
        let title = match kind {
            Kind::Person => "given_name",
            Kind::Message => "subject",
            _ => "title",
        };
        let target = Target::Helper {
            helper,
            container: Some(RecordAddress::without_parent(kind, id.clone())),
        };
        fixtures.push((
            format!("helper.{}", helper.as_str()),
            api.url(api.base_url(), &target),
        ));
        loads.push(seeded(kind, id, title));
    }
    store
        .import_records(tenant, loads)
        .await
        .map_err(SubjectError::Store)?;
    Ok(fixtures)
}

/// Returns the id of a record that exists before the first request.
fn seeded_id(number: u8) -> Option<Id> {
    Id::new(&format!("0198f000-0000-7000-8000-{number:012}"))
}

/// Returns a record with one field.
fn seeded(kind: Kind, id: Id, field: &'static str) -> ImportedRecord {
    let mut draft = RawDraft::empty(kind);
    draft.fields.insert(field, "Self test");
    ImportedRecord::new(id, Timestamp::now(), draft)
}
