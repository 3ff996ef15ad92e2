//! A vendor that offers a part of the API with svc-store's memory store, and the suite against it.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use http::{HeaderMap, HeaderValue, Method};
use serde_json::Value;
use svc_conformance::{InProcess, Keys, Suite};
use svc_core::api::{Api, ApiBuilder, Vendor};
use svc_core::auth::{FixedKeys, Operation, Right, Rights};
use svc_core::helper::{EntryStatus, HelperName, HelperOutcome, HelperRequest, PersonSignup};
use svc_core::link::RecordAddress;
use svc_core::model::{Kind, Person, Resource};
use svc_core::store::{self, LookupKey, Store, WriteOperation, WriteOutcome as Done};
use svc_core::{
    Context, Create, CreateRequest, Created, Delete, DeleteRequest, Find, FindKey, Get, Helper,
    List, ListRequest, Page, Record, Result, Tenant, Update, UpdateRequest,
};
use svc_self_test::transport::{BufferedRequest, Transport};
use svc_store::memory::MemoryStore;
use svc_tower::SvcService;

/// The base URL for the suite.
pub(crate) const BASE: &str = "http://localhost/api/v1/";

/// A vendor whose operations each test selects.
pub(crate) struct Narrow(MemoryStore);

impl Narrow {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(MemoryStore::new()))
    }

    async fn write(&self, cx: &Context, work: WriteOperation) -> Result<Done> {
        self.0.write(cx, store::WriteRequest::new(cx, work)).await
    }

    /// Creates a record that exists before the run, such as one from the vendor's own pages, and
    /// returns its address.
    pub(crate) async fn holds(
        &self,
        many: &str,
        fields: &Value,
    ) -> std::result::Result<String, Box<dyn Error>> {
        let made = self
            .send(Method::POST, &format!("{BASE}{many}"), &fields.to_string())
            .await?;
        Ok(made["_links"]["self"]["href"]
            .as_str()
            .ok_or_else(|| made.to_string())?
            .to_owned())
    }

    /// Registers everything except writes and the helpers that record actions. People can be
    /// created, changed and deleted if `writes_people` is set.
    pub(crate) fn only_read(&self, api: ApiBuilder, writes_people: bool) -> ApiBuilder {
        let mut api = self.0.register_all(api);
        for kind in Kind::ALL {
            if writes_people && *kind == Kind::Person {
                continue;
            }
            for operation in [Operation::Create, Operation::Update, Operation::Delete] {
                if kind.schema().has_operation(operation) {
                    api = api.without_capability(&Right::Operation(*kind, operation).to_string());
                }
            }
        }
        for helper in HelperName::ALL {
            let is_kept = match helper {
                HelperName::PersonSignup => writes_people,
                // Without delivery it is not registered.
                HelperName::Schedule => true,
                _ => false,
            };
            if !is_kept {
                api = api.without_capability(&format!("helper.{}", helper.as_str()));
            }
        }
        api
    }

    /// Returns the vendor's record at an address.
    pub(crate) async fn shows(&self, url: &str) -> std::result::Result<Value, Box<dyn Error>> {
        self.send(Method::GET, url, "").await
    }

    /// Sends a request to the complete API over the same data.
    async fn send(
        &self,
        method: Method,
        url: &str,
        body: &str,
    ) -> std::result::Result<Value, Box<dyn Error>> {
        let api = self
            .0
            .register_all(Api::builder(Vendor::new("Acme", "Acme CRM")))
            .base_url(BASE);
        let api = api
            .authenticator(FixedKeys::new().with_key("own", Tenant::new("acme"), Rights::all()))
            .build()?;
        let mut call = BufferedRequest {
            method,
            uri: url.parse()?,
            headers: HeaderMap::new(),
            body: body.to_owned().into(),
        };
        call.headers
            .insert("svc-api-token", HeaderValue::from_static("own"));
        call.headers
            .insert("content-type", HeaderValue::from_static("application/json"));
        let answer = Transport::of(
            SvcService::new(api)
                .with_docs(svc_docs::Docs::new())
                .mounted_at("/api/v1"),
        )
        .send(call)
        .await;
        Ok(serde_json::from_slice(&answer.body)?)
    }

    /// Returns the suite against the vendor with the operations that `offer` registers.
    pub(crate) fn suite(
        offer: impl FnOnce(ApiBuilder) -> ApiBuilder,
    ) -> Result<Suite, Box<dyn Error>> {
        let keys = FixedKeys::new()
            .with_key("primary", Tenant::new("acme"), Rights::all())
            .with_key("other", Tenant::new("other"), Rights::all())
            .with_key("restricted", Tenant::new("acme"), Rights::read_only());
        let api = Api::builder(Vendor::new("Acme", "Acme CRM").namespace("acme"))
            .base_url(BASE)
            .authenticator(keys);
        let service = SvcService::new(offer(api).build()?)
            .with_docs(svc_docs::Docs::new())
            .mounted_at("/api/v1");
        let keys = Keys::primary("primary")
            .other_tenant("other")
            .restricted("restricted", "people.create");
        Ok(Suite::new(InProcess::new(service).base_url(BASE))
            .keys(keys)
            .seed(42))
    }
}

fn unfitting() -> svc_core::Error {
    svc_core::Error::unexpected("the outcome belongs to another request")
}

#[async_trait]
impl<R: Resource> List<R> for Narrow {
    async fn list(&self, cx: &Context, request: &ListRequest) -> Result<Page<R>> {
        self.0.list(cx, R::KIND, request).await.map(Page::from_raw)
    }
}

#[async_trait]
impl<R: Resource> Get<R> for Narrow {
    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<Record<R>>> {
        Ok(self.0.get(cx, at).await?.map(Record::from_raw))
    }
}

#[async_trait]
impl<R: Resource> Find<R> for Narrow {
    async fn find(&self, cx: &Context, key: &FindKey) -> Result<Option<Record<R>>> {
        let key = match key.clone() {
            FindKey::Name(name) => LookupKey::Name(R::KIND, name),
            FindKey::Identifier(identifier) => LookupKey::Identifier(R::KIND, identifier),
            FindKey::Email(address) => LookupKey::Email(address),
            _ => return Ok(None),
        };
        Ok(self.0.find(cx, &key).await?.map(Record::from_raw))
    }
}

#[async_trait]
impl<R: Resource> Create<R> for Narrow {
    async fn create(&self, cx: &Context, request: CreateRequest<R>) -> Result<Created<R>> {
        match self
            .write(cx, WriteOperation::Create(request.draft.into_raw()))
            .await?
        {
            Done::Created { record, is_new } if is_new => {
                Ok(Created::new(Record::from_raw(record)))
            }
            Done::Created { record, .. } => Ok(Created::existing(Record::from_raw(record))),
            _ => Err(unfitting()),
        }
    }
}

#[async_trait]
impl<R: Resource> Update<R> for Narrow {
    async fn update(&self, cx: &Context, request: UpdateRequest<R>) -> Result<Option<Record<R>>> {
        match self
            .write(
                cx,
                WriteOperation::Update(request.address, request.patch.into_raw()),
            )
            .await?
        {
            Done::Updated(record) => Ok(record.map(Record::from_raw)),
            _ => Err(unfitting()),
        }
    }
}

#[async_trait]
impl<R: Resource> Delete<R> for Narrow {
    async fn delete(&self, cx: &Context, request: &DeleteRequest) -> Result<bool> {
        match self
            .write(cx, WriteOperation::Delete(request.address.clone()))
            .await?
        {
            Done::Deleted(was_there) => Ok(was_there),
            _ => Err(unfitting()),
        }
    }
}

/// A sign-up that accepts only the person.
#[async_trait]
impl Helper<PersonSignup> for Narrow {
    async fn run(
        &self,
        cx: &Context,
        plan: HelperRequest<PersonSignup>,
    ) -> Result<HelperOutcome<PersonSignup>> {
        let draft = plan.required_person()?.into_raw();
        match self.write(cx, WriteOperation::Create(draft)).await? {
            Done::Created { record, is_new } => Ok(HelperOutcome::person(
                Record::<Person>::from_raw(record),
                EntryStatus::from_is_new(is_new),
            )),
            _ => Err(unfitting()),
        }
    }
}
