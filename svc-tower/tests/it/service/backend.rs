//! A small backend with typed records in memory, and its keys.

use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use svc_core::{
    Context, Create, CreateRequest, Created, Delete, DeleteRequest, Error, Get, Helper, List,
    ListRequest, Page, Record, Result, Tenant, Update, UpdateRequest,
    api::{Api, ApiBuilder, ResourceConfig, Vendor},
    auth::{Authenticator, Caller, Credentials, Principal, Rights, TenantResolver},
    helper::{
        EntryStatus, FunctionName, HelperOutcome, HelperRequest, PersonSignup, RecordSignature,
    },
    link::RecordAddress,
    model::{Kind, Person, Petition, Signature, Tag, signature},
    page::NextPage,
    record::Meta,
    value::Id,
};

/// The key of tenant `a` with all rights.
pub(crate) const KEY: &str = "good|key";
/// A read-only key of tenant `a`.
pub(crate) const READER: &str = "reader";
/// The key of tenant `b`.
pub(crate) const OTHER: &str = "other";

/// Tags of two tenants, and one petition of tenant `a`.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    tags: Mutex<Vec<(Tenant, Meta, Tag)>>,
    pub(crate) signatures: Mutex<usize>,
}

pub(crate) fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

impl Memory {
    pub(crate) fn new() -> Arc<Self> {
        let memory = Self::default();
        let tag = |name: &str| Tag::default().name(name);
        let now = svc_core::value::Timestamp::from_micros(0);
        let rows = [("a", "t1"), ("a", "t2"), ("b", "t9")];
        let rows =
            rows.map(|(tenant, name)| (Tenant::new(tenant), Meta::new(id(name), now), tag(name)));
        memory.tags.lock().unwrap().extend(rows);
        Arc::new(memory)
    }

    pub(crate) fn count(&self) -> usize {
        self.tags.lock().unwrap().len()
    }
}

#[async_trait]
impl List<Tag> for Memory {
    async fn list(&self, cx: &Context, _: &ListRequest) -> Result<Page<Tag>> {
        let tags = self.tags.lock().unwrap();
        let own = tags.iter().filter(|(tenant, ..)| *tenant == *cx.tenant());
        let records: Vec<_> = own
            .map(|(_, meta, tag)| Record::new(meta.clone(), tag.clone()))
            .collect();
        let total = records.len() as u64;
        Ok(Page::new(records, total).with_next(NextPage::None))
    }
}

#[async_trait]
impl Get<Tag> for Memory {
    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<Record<Tag>>> {
        match at.id.as_str() {
            "panics" => panic!("planted panic"),
            "busy" => return Err(Error::unavailable(Duration::from_secs(7))),
            // Returns the times in the context of the backend.
            "time" => {
                let description = cx.deadline().is_some().then(|| "deadline".to_owned());
                let mut tag = Tag::default();
                tag.description = description;
                return Ok(Some(Record::new(
                    Meta::new(at.id.clone(), cx.received_at()),
                    tag,
                )));
            }
            // A lock that is never released.
            "stuck" => std::future::pending().await,
            "away" => Err(io::Error::new(
                io::ErrorKind::ConnectionRefused,
                "planted address",
            ))?,
            "broken" => return Err(Error::unexpected("planted /var/lib/secret.db")),
            _ => {}
        }
        let tags = self.tags.lock().unwrap();
        let found = tags
            .iter()
            .find(|(tenant, meta, _)| *tenant == *cx.tenant() && meta.id == at.id);
        Ok(found.map(|(_, meta, tag)| Record::new(meta.clone(), tag.clone())))
    }
}

#[async_trait]
impl Create<Tag> for Memory {
    async fn create(&self, cx: &Context, request: CreateRequest<Tag>) -> Result<Created<Tag>> {
        let draft = request.draft;
        if draft.fields().name.as_deref() == Some("taken") {
            Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "planted constraint",
            ))?;
        }
        let meta = Meta::new(id(&cx.request_id().to_string()), cx.received_at());
        self.tags
            .lock()
            .unwrap()
            .push((cx.tenant().clone(), meta.clone(), draft.fields()));
        Ok(Created::new(Record::new(meta, draft.fields())))
    }
}

#[async_trait]
impl Update<Tag> for Memory {
    async fn update(
        &self,
        cx: &Context,
        request: UpdateRequest<Tag>,
    ) -> Result<Option<Record<Tag>>> {
        let mut tags = self.tags.lock().unwrap();
        let found = tags
            .iter_mut()
            .find(|(tenant, meta, _)| *tenant == *cx.tenant() && meta.id == request.address.id);
        let Some((_, meta, tag)) = found else {
            return Ok(None);
        };
        *tag = request.patch.apply(tag, cx.received_at())?;
        Ok(Some(Record::new(meta.clone(), tag.clone())))
    }
}

#[async_trait]
impl Delete<Tag> for Memory {
    async fn delete(&self, cx: &Context, request: &DeleteRequest) -> Result<bool> {
        let mut tags = self.tags.lock().unwrap();
        let before = tags.len();
        tags.retain(|(tenant, meta, _)| *tenant != *cx.tenant() || meta.id != request.address.id);
        Ok(tags.len() < before)
    }
}

fn is_the_petition(cx: &Context, id: &Id) -> bool {
    *cx.tenant() == Tenant::new("a") && id.as_str() == "p1"
}

#[async_trait]
impl Get<Petition> for Memory {
    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<Record<Petition>>> {
        let petition = || {
            Record::new(
                Meta::new(at.id.clone(), cx.received_at()),
                Petition::default(),
            )
        };
        Ok(is_the_petition(cx, &at.id).then(petition))
    }
}

#[async_trait]
impl Helper<PersonSignup> for Memory {
    async fn run(
        &self,
        cx: &Context,
        plan: HelperRequest<PersonSignup>,
    ) -> Result<HelperOutcome<PersonSignup>> {
        let fields = plan
            .person()
            .map(|person| person.fields())
            .unwrap_or_default();
        let person = Record::<Person>::new(Meta::new(id("person-1"), cx.received_at()), fields);
        Ok(HelperOutcome::person(person, EntryStatus::Created))
    }
}

#[async_trait]
impl Helper<RecordSignature> for Memory {
    async fn run(
        &self,
        cx: &Context,
        plan: HelperRequest<RecordSignature>,
    ) -> Result<HelperOutcome<RecordSignature>> {
        let container = plan.container().cloned().ok_or_else(Error::not_found)?;
        if !is_the_petition(cx, &container.id) {
            return Err(Error::not_found());
        }
        *self.signatures.lock().unwrap() += 1;
        let signature = Record::new(Meta::new(id("s1"), cx.received_at()), Signature::default())
            .with_link(signature::link::petition, container);
        Ok(HelperOutcome::without_person().with_action(signature, EntryStatus::Created))
    }
}

/// The keys above; other keys cause errors.
#[derive(Debug)]
pub(crate) struct Keys;

#[async_trait]
impl Authenticator for Keys {
    async fn authenticate(&self, credentials: Credentials<'_>) -> Result<Option<Principal>> {
        let known = |tenant: &str, rights| {
            Ok(Some(Principal::new(
                Tenant::new(tenant),
                Caller::with_rights(rights),
            )))
        };
        match credentials.key {
            Some(KEY) => known("a", Rights::all()),
            Some(READER) => known("a", Rights::read_only()),
            Some(OTHER) => known("b", Rights::all()),
            Some("panics") => panic!("planted panic"),
            Some("stuck") => std::future::pending().await,
            Some("away") => Err(io::Error::new(
                io::ErrorKind::ConnectionRefused,
                "planted address",
            ))?,
            Some("trouble") => Err(Error::unavailable(Duration::from_secs(3))),
            _ => Ok(None),
        }
    }
}

/// Returns the tenant of the only petition.
#[derive(Debug)]
pub(crate) struct Containers;

#[async_trait]
impl TenantResolver for Containers {
    async fn tenant_of(&self, container: &RecordAddress) -> Result<Option<Tenant>> {
        let is_known = container.kind == Kind::Petition && container.id.as_str() == "p1";
        Ok(is_known.then(|| Tenant::new("a")))
    }
}

/// Returns the API over a backend: tags with all operations, petitions for reading, sign-ups and
/// signatures.
pub(crate) fn api(memory: &Arc<Memory>) -> ApiBuilder {
    Api::builder(Vendor::new("Example", "Test").namespace("test"))
        .base_url("http://localhost/")
        .authenticator(Keys)
        .anonymous_helpers(Containers)
        .resource::<Tag, _>(memory, |tags| tags.list().get().create().update().delete())
        .resource::<Petition, _>(memory, ResourceConfig::get)
        .helper::<PersonSignup>(memory)
        .helper::<RecordSignature>(memory)
        .action_functions(FunctionName::all())
}
