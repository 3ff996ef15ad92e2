//! One write of one caller inside the writer's transaction: what every rule and every operation is told.

use std::sync::Arc;

use rusqlite::Connection;
use svc_core::{
    Context,
    error::{Error, Problem, Result},
    link::{Address, ShareNames},
    model::Kind,
    value::Timestamp,
};

use crate::{
    pages::{Change, Collection},
    record_id::RecordId,
    rows::{Found, find},
    schema::Table,
    store::Store,
    writer::Job,
};

/// Records that a write remembers; a helper call has fewer.
const KNOWN: usize = 16;

/// A write under way.
pub(crate) struct Session<'a> {
    /// The writing connection, inside its transaction.
    pub(crate) file: &'a Connection,
    pub(crate) store: &'a Store,
    pub(crate) tenant: i64,
    /// The time of receipt.
    pub(crate) now: Timestamp,
    /// The person that the caller's key is bound to, when there is such a person (RES-petition-17).
    pub(crate) caller: Option<RecordId>,
    /// The last records that this write has looked up or made.
    known: Vec<(Kind, Found)>,
    /// Members that collections win and lose.
    changes: Vec<Change>,
    /// What is wrong with the request, as far as only the store knows (ERR-39).
    problems: Vec<Problem>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(file: &'a Connection, store: &'a Store, tenant: i64, now: Timestamp) -> Self {
        Self { file, store, tenant, now, caller: None, known: Vec::new(), changes: Vec::new(), problems: Vec::new() }
    }

    /// The share objects' names in this file.
    pub(crate) fn names(&self) -> &ShareNames {
        self.store.share_names()
    }

    /// Whether there is a record at an address. What this write has found or made is not looked up again.
    pub(crate) fn find(&mut self, address: &Address) -> Result<Option<Found>> {
        let id = RecordId::parse(&address.id);
        let known = self.known.iter().find(|(kind, found)| *kind == address.kind && Some(found.id) == id);
        if let Some((_, found)) = known.filter(|_| address.parent.is_none()) {
            return Ok(Some(*found));
        }
        let found = find(self.file, self.tenant, address)?;
        if let Some(found) = found {
            self.knows(address.kind, found);
        }
        Ok(found)
    }

    /// Notes a record that this write has found or made.
    pub(crate) fn knows(&mut self, kind: Kind, found: Found) {
        if self.known.len() >= KNOWN {
            self.known.remove(0);
        }
        self.known.push((kind, found));
    }

    /// Notes what is wrong; the write goes on until everything that is wrong is known.
    pub(crate) fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Ends the write when something is wrong.
    pub(crate) fn check(&mut self) -> Result<()> {
        if self.problems.is_empty() { Ok(()) } else { Err(Error::Invalid(std::mem::take(&mut self.problems))) }
    }

    /// Notes that a row became a member of a collection, or is one no longer.
    pub(crate) fn moved(&mut self, collection: Collection, seq: i64, is_member: bool) {
        self.changes.push(Change { collection, seq, is_member });
    }
}

/// Names a collection: of all records of a kind, or of those under one record.
pub(crate) fn collection(tenant: i64, table: &Table, owner: Option<(&Table, RecordId)>) -> Collection {
    let mut key = Vec::with_capacity(26);
    key.extend_from_slice(&tenant.to_be_bytes());
    key.push(u8::try_from(table.code).unwrap_or_default());
    if let Some((of, id)) = owner {
        key.push(u8::try_from(of.code).unwrap_or_default());
        key.extend_from_slice(id.as_bytes());
    }
    key.into()
}

impl Store {
    /// The number of the tenant that a request works on.
    pub(crate) fn tenant_in(&self, cx: &Context) -> Result<i64> {
        self.tenant_id(&cx.tenant)?.ok_or_else(|| Error::unexpected("this file has no such tenant"))
    }

    /// Runs a write for a caller: everything or nothing of it is stored, and it is durable before the answer (ERR-04).
    /// It may be done again; see [`Writer::run`](crate::writer::Writer::run).
    pub(crate) async fn write<T, F>(&self, cx: &Context, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: Fn(&mut Session<'_>) -> Result<T> + Send + 'static,
    {
        let tenant = self.tenant_in(cx)?;
        let (store, now) = (self.clone(), cx.now);
        let caller = cx.caller.person().cloned();
        let job = move |job: &mut Job<'_>| {
            let mut session = Session::new(job, &store, tenant, now);
            if let Some(id) = &caller {
                session.caller = session.find(&Address::top(Kind::Person, id.clone()))?.map(|found| found.id);
            }
            let done = work(&mut session)?;
            session.check()?;
            let changes = session.changes;
            if !changes.is_empty() {
                let positions = Arc::clone(store.positions());
                job.after_commit(move || positions.follow(&changes));
            }
            Ok(done)
        };
        self.writer().run(cx.deadline, job).await
    }
}
