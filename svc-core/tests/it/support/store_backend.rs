//! A backend of typed operations over a store in memory. Each operation is one request to the
//! store, so differences between an API over these operations and the store itself are those of the
//! library.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use svc_core::{
    ApiBuilder, Context, Create, CreateRequest, Created, Delete, DeleteRequest, Error, Find,
    FindKey, Get, Helper, IdempotencyStore, List, ListRequest, Page, Record, Result, Tenant,
    Transactions, Update, UpdateRequest,
    backend::SavepointAction,
    helper::{
        HelperOutcome, HelperRequest, PersonSignup, RecordAttendance, RecordCanvass,
        RecordDonation, RecordOutreach, RecordSignature, RecordSubmission, Schedule,
    },
    link::RecordAddress,
    model::Resource,
    store::{LookupKey, Store, StoredResponse, WriteOperation, WriteOutcome, WriteRequest},
};
use svc_store::memory::MemoryStore;

/// The tenant and the key of a stored response.
type ResponseKey = (Tenant, Arc<str>);

/// The backend.
#[derive(Default)]
pub(crate) struct StoreBackend {
    store: Mutex<MemoryStore>,
    /// The stored responses by tenant and key. Storing one is the last step of a transaction.
    responses: Mutex<HashMap<ResponseKey, Vec<u8>>>,
}

/// A transaction: the store as it was before it, and at its savepoint.
pub(crate) struct Before {
    store: MemoryStore,
    savepoint: Mutex<Option<MemoryStore>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StoreBackend {
    fn store(&self) -> MemoryStore {
        lock(&self.store).clone()
    }

    async fn write(&self, cx: &Context, operation: WriteOperation) -> Result<WriteOutcome> {
        let request = WriteRequest::new(cx, operation);
        self.store().write(cx, request).await
    }
}

#[async_trait]
impl<R: Resource> List<R> for StoreBackend {
    async fn list(&self, cx: &Context, request: &ListRequest) -> Result<Page<R>> {
        let page = self.store().list(cx, R::KIND, request).await?;
        Ok(Page::from_raw(page))
    }
}

#[async_trait]
impl<R: Resource> Get<R> for StoreBackend {
    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<Record<R>>> {
        let found = Store::get(&self.store(), cx, at).await?;
        Ok(found.map(Record::from_raw))
    }
}

#[async_trait]
impl<R: Resource> Find<R> for StoreBackend {
    async fn find(&self, cx: &Context, key: &FindKey) -> Result<Option<Record<R>>> {
        let key = match key.clone() {
            FindKey::Name(name) => LookupKey::Name(R::KIND, name),
            FindKey::Identifier(identifier) => LookupKey::Identifier(R::KIND, identifier),
            FindKey::Email(email) => LookupKey::Email(email),
            other => return Err(Error::unexpected(format!("an unknown key: {other:?}"))),
        };
        let found = self.store().find(cx, &key).await?;
        Ok(found.map(Record::from_raw))
    }
}

#[async_trait]
impl<R: Resource> Create<R> for StoreBackend {
    async fn create(&self, cx: &Context, request: CreateRequest<R>) -> Result<Created<R>> {
        let operation = WriteOperation::Create(request.draft.into_raw());
        let written = self.write(cx, operation).await?.into_written();
        let (record, is_new) = written.ok_or_else(|| Error::unexpected("no record"))?;
        let record = Record::from_raw(record);
        Ok(if is_new {
            Created::new(record)
        } else {
            Created::existing(record)
        })
    }
}

#[async_trait]
impl<R: Resource> Update<R> for StoreBackend {
    async fn update(&self, cx: &Context, request: UpdateRequest<R>) -> Result<Option<Record<R>>> {
        let operation = WriteOperation::Update(request.address, request.patch.into_raw());
        let written = self.write(cx, operation).await?.into_written();
        Ok(written.map(|(record, _)| Record::from_raw(record)))
    }
}

#[async_trait]
impl<R: Resource> Delete<R> for StoreBackend {
    async fn delete(&self, cx: &Context, request: &DeleteRequest) -> Result<bool> {
        let operation = WriteOperation::Delete(request.address.clone());
        let outcome = self.write(cx, operation).await?;
        Ok(matches!(outcome, WriteOutcome::Deleted(true)))
    }
}

#[async_trait]
impl Helper<Schedule> for StoreBackend {
    async fn run(
        &self,
        cx: &Context,
        plan: HelperRequest<Schedule>,
    ) -> Result<HelperOutcome<Schedule>> {
        let operation = WriteOperation::Helper(Box::new(plan.into_raw()));
        match self.write(cx, operation).await? {
            WriteOutcome::HelperDone(outcome) => Ok(HelperOutcome::from_raw(outcome)),
            other => Err(Error::unexpected(format!("no helper outcome: {other:?}"))),
        }
    }
}

/// The transactions must not overlap: each one ends with the whole store.
#[async_trait]
impl Transactions for StoreBackend {
    type Open = Before;

    async fn begin(&self, _: &Context) -> Result<Before> {
        Ok(Before {
            store: self.store().fork(),
            savepoint: Mutex::default(),
        })
    }

    async fn savepoint(&self, open: &Before, savepoint: SavepointAction) -> Result<()> {
        let mut saved = lock(&open.savepoint);
        match savepoint {
            SavepointAction::Set => *saved = Some(self.store().fork()),
            SavepointAction::Rollback => {
                let saved = saved.take();
                *lock(&self.store) = saved.ok_or_else(|| Error::unexpected("no savepoint"))?;
            }
            _ => *saved = None,
        }
        Ok(())
    }

    async fn commit(&self, _: Before) -> Result<()> {
        Ok(())
    }

    async fn rollback(&self, before: Before) -> Result<()> {
        *lock(&self.store) = before.store;
        Ok(())
    }
}

#[async_trait]
impl IdempotencyStore for StoreBackend {
    async fn load(&self, cx: &Context, key: &Arc<str>) -> Result<Option<Vec<u8>>> {
        let key = (cx.tenant().clone(), Arc::clone(key));
        Ok(lock(&self.responses).get(&key).cloned())
    }

    async fn save(&self, cx: &Context, kept: StoredResponse) -> Result<()> {
        let body = kept.body.to_vec();
        match lock(&self.responses).insert((cx.tenant().clone(), kept.key), body) {
            None => Ok(()),
            Some(_) => Err(Error::rolled_back()),
        }
    }

    fn replaces(&self) -> bool {
        true
    }

    async fn replace(&self, cx: &Context, before: &[u8], kept: StoredResponse) -> Result<()> {
        let key = (cx.tenant().clone(), kept.key);
        match lock(&self.responses).get_mut(&key) {
            Some(stored) if stored == before => *stored = kept.body.to_vec(),
            _ => return Err(Error::rolled_back()),
        }
        Ok(())
    }
}

/// Registers every kind with all operations of the specification, and every helper: the schedule
/// helper is an operation, and the others are composed.
pub(crate) fn everything(mut builder: ApiBuilder, backend: &Arc<StoreBackend>) -> ApiBuilder {
    macro_rules! offered {
        // Only the helper creates canvasses.
        ($x:ident Canvass) => {
            $x.all_operations().create().find()
        };
        ($x:ident $name:ident) => {
            $x.all_operations().find()
        };
    }
    macro_rules! register {
        ($args:tt $($name:ident)+) => {
            $( builder = builder.resource::<svc_core::model::$name, _>(backend, |x| offered!(x $name)); )+
        };
    }
    svc_core::each_kind!(register());
    builder
        .helper::<Schedule>(backend)
        .compose_helper::<PersonSignup>()
        .compose_helper::<RecordSignature>()
        .compose_helper::<RecordSubmission>()
        .compose_helper::<RecordDonation>()
        .compose_helper::<RecordOutreach>()
        .compose_helper::<RecordAttendance>()
        .compose_helper::<RecordCanvass>()
}
