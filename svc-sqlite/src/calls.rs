//! The store as the library calls it: reads, and calls that have their turn in the writer's transaction.

use std::sync::Arc;

use rusqlite::Connection;
use svc_core::{
    PageRequest, Tenant,
    auth::Caller,
    context::Context,
    error::{Error, Problem, Result},
    link::{Address, Scope},
    model::Kind,
    page::RawPage,
    record::RawRecord,
    rules::decide,
    store::{self, Call, Ids, Key, Load, Outcome, Overlay, Pause, Turn, Work},
    value::Timestamp,
};

use crate::{
    apply::Apply,
    fetch::{Direct, record},
    rows::raw_at,
    store::Store,
    writer::Job,
};

#[async_trait::async_trait]
impl store::Store for Store {
    async fn list(&self, cx: &Context, kind: Kind, scope: &Scope, page: &PageRequest) -> Result<RawPage> {
        self.page(cx, kind, scope, page).await
    }

    async fn get(&self, cx: &Context, at: &Address) -> Result<Option<RawRecord>> {
        let tenant = self.tenant_in(cx)?;
        self.readers().with(|file| Ok(raw_at(file, tenant, at)?))
    }

    async fn find(&self, cx: &Context, key: &Key) -> Result<Option<RawRecord>> {
        let tenant = self.tenant_in(cx)?;
        let stored = self.readers().with(|file| Ok(record(file, tenant, key)?))?;
        Ok(stored.map(|stored| stored.record))
    }

    async fn write(&self, cx: &Context, call: Call) -> Result<Outcome> {
        let (store, tenant) = (self.clone(), self.tenant_in(cx)?);
        self.writer().run(cx.deadline, move |job| store.have_turn(job, tenant, std::slice::from_ref(&call))).await
    }
}

impl Store {
    /// The number of the tenant that a request works on.
    pub(crate) fn tenant_in(&self, cx: &Context) -> Result<i64> {
        self.tenant_id(&cx.tenant)?.ok_or_else(|| Error::unexpected("this file has no such tenant"))
    }

    /// Gives calls their turn, one after the other, in the transaction of a job: all of them or none. The outcome is that of
    /// the last.
    fn have_turn(&self, job: &mut Job<'_>, tenant: i64, calls: &[Call]) -> Result<Outcome> {
        let (before, mut ids) = (Overlay::default(), Ids::default());
        let time = self.now().after(last_turn(job, tenant)?);
        let mut apply = Apply::new(job, tenant);
        let mut last = None;
        for call in calls {
            let turn = Turn { time, ids: &ids, share_names: self.share_names(), matching: self.matching() };
            let decision =
                decide(call, &turn, &mut Direct { file: job, tenant }, &before).map_err(|pause| match pause {
                    Pause::Failed(error) => at_fault(call, error),
                    other => Error::unexpected(other.to_string()),
                })?;
            for change in &decision.changes {
                apply.change(change)?;
            }
            last = Some(decision.outcome);
            ids = Ids::default();
        }
        apply.turn(time)?;
        let moves = apply.into_moves();
        if !moves.is_empty() {
            let positions = Arc::clone(self.positions());
            job.after_commit(move || positions.follow(&moves));
        }
        last.ok_or_else(|| Error::unexpected("a turn without a call"))
    }

    /// Loads records in this order, all of them in one transaction; containers and people stand before what names them.
    ///
    /// Nobody is matched: every person is a new one. Some thousands of records in one call go fastest.
    ///
    /// # Errors
    /// [`Error::Invalid`] with what a create would answer, and storage trouble; nothing of the call is then stored.
    pub async fn seed(&self, tenant: &Tenant, rows: Vec<Load>) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let cx = Context::new(tenant.clone(), Caller::anonymous(), self.now());
        let calls: Vec<Call> = rows.into_iter().map(|row| Call::new(&cx, Work::Load(Box::new(row)))).collect();
        let (store, tenant) = (self.clone(), self.tenant_in(&cx)?);
        self.writer().run(None, move |job| store.have_turn(job, tenant, &calls).map(drop)).await
    }
}

/// The moment of the tenant's last turn.
fn last_turn(file: &Connection, tenant: i64) -> Result<Timestamp> {
    let micros =
        file.prepare_cached("SELECT clock FROM tenant WHERE id = ?1")?.query_row([tenant], |row| row.get(0))?;
    Ok(Timestamp::from_micros(micros))
}

/// Says which record of a load was refused.
fn at_fault(call: &Call, error: Error) -> Error {
    let Work::Load(load) = &call.work else { return error };
    let (kind, id) = (load.draft.kind.singular(), &load.id);
    let named = |problem: Problem| Problem { description: format!("{kind} {id}: {}", problem.description), ..problem };
    match error {
        Error::Invalid(problems) => Error::Invalid(problems.into_iter().map(named).collect()),
        Error::NotFound => Error::unexpected(format!("{kind} {id}: its container is not there")),
        other => other,
    }
}
