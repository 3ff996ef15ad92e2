//! The store as the library calls it.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use svc_core::{
    Context, Error, ListRequest, Result, Tenant,
    api::ApiBuilder,
    auth::AnonymousTenant,
    helper::PersonMatching,
    link::{Address, Scope},
    model::Kind,
    raw::{RawPage, RawRecord},
    store::{
        self, Answer, Call, Key, KindTable, Outcome, Question,
        cursor::{Cursors, Start},
        new_tenant,
        offset_index::collection,
    },
};
use uuid::Uuid;

use crate::{
    error::{self, StoreError},
    fetch::{Query, fetch, run, values},
    layout::{SLOTS, layout},
    migrate::{ConnectError, is_schema, migrate},
    options::Options,
    pool::Pool,
    rows::{code, stored, uuid},
    statements::Statements,
    turns::Turns,
};

/// People, petitions and everything else in PostgreSQL. Cheap to clone; clones share the connections.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) pool: Pool,
    pub(crate) statements: Statements,
    pub(crate) options: Options,
    pub(crate) turns: Turns,
    tenants: Mutex<HashMap<Tenant, i64>>,
    cursors: Cursors,
}

impl Store {
    /// Connects, and brings the tables up to date.
    ///
    /// # Errors
    ///
    /// One clear line: the database cannot be reached, its tables are newer, or damaged.
    pub async fn connect(options: Options) -> Result<Self, ConnectError> {
        if !is_schema(&options.schema) {
            return Err(ConnectError::Schema(options.schema));
        }
        let (mut client, connection) = options.config.connect(tokio_postgres::NoTls).await?;
        let connected = tokio::spawn(connection);
        migrate(&mut client, &options.schema, (options.now)()).await?;
        drop(client);
        _ = connected.await;
        let statements = Statements::of(&options.schema);
        let pool = Pool::new(options.config.clone(), options.connections, options.patience);
        // The same for every process: what a cursor hides is a row's number, no secret of somebody else's.
        let cursors = Cursors::new(&[0; 32]);
        let inner = Inner { pool, statements, options, turns: Turns::default(), tenants: Mutex::default(), cursors };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Registers every kind and all eight helpers: see [`ApiBuilder::store`].
    #[must_use]
    pub fn register_all(&self, api: ApiBuilder) -> ApiBuilder {
        api.store(&Arc::new(self.clone()))
    }

    /// Makes a tenant unless it exists (AUT-02).
    ///
    /// # Errors
    ///
    /// Trouble with the database, or a name that is empty, longer than 64 bytes, or has control characters or spaces.
    pub async fn ensure_tenant(&self, name: &str) -> Result<Tenant> {
        let tenant = new_tenant(name)?;
        if self.number(&tenant).await?.is_none() {
            let texts = &self.inner.statements;
            // Numbers are drawn, and hold 63 bits: no two processes have to agree on the next one.
            let number = i64::try_from(Uuid::new_v4().as_u128() >> 65).unwrap_or(1).max(1);
            let created = (self.inner.options.now)().micros();
            self.ask(&[
                Query::new(&texts.make_tenant, values![number, name.to_owned(), created]),
                Query::new(&texts.make_ledger, values![name.to_owned()]),
            ])
            .await?;
        }
        Ok(tenant)
    }

    /// Every tenant.
    ///
    /// # Errors
    ///
    /// Trouble with the database.
    pub async fn tenants(&self) -> Result<Vec<Tenant>> {
        let rows = self.ask(&[Query::new(&self.inner.statements.tenants, Vec::new())]).await?;
        let names =
            rows.iter().flatten().map(|row| Ok(Tenant::new(row.try_get::<_, String>(0).map_err(StoreError::from)?)));
        names.collect()
    }

    async fn number(&self, tenant: &Tenant) -> error::Result<Option<i64>> {
        let known = |inner: &Inner| inner.tenants.lock().unwrap_or_else(PoisonError::into_inner).get(tenant).copied();
        if let Some(number) = known(&self.inner) {
            return Ok(Some(number));
        }
        let text = &self.inner.statements.tenant;
        let rows = self.ask(&[Query::new(text, values![tenant.as_str().to_owned()])]).await?;
        let Some(row) = rows.first().and_then(|rows| rows.first()) else { return Ok(None) };
        let number: i64 = row.try_get(0)?;
        self.inner.tenants.lock().unwrap_or_else(PoisonError::into_inner).insert(tenant.clone(), number);
        Ok(Some(number))
    }

    async fn tenant(&self, cx: &Context) -> error::Result<i64> {
        let number = self.number(&cx.tenant).await?;
        number.ok_or_else(|| StoreError::unexpected("this database has no such tenant"))
    }

    /// Runs statements that change nothing that others wait for, in one round trip.
    async fn ask(&self, queries: &[Query<'_>]) -> error::Result<Vec<Vec<tokio_postgres::Row>>> {
        let mut lent = self.inner.pool.get().await?;
        let rows = run(&mut lent, queries).await;
        if !lent.client().is_closed() {
            self.inner.pool.done(lent);
        }
        rows
    }

    async fn record(&self, cx: &Context, key: &Key) -> error::Result<Option<store::Stored>> {
        let tenant = self.tenant(cx).await?;
        let mut lent = self.inner.pool.get().await?;
        let answers = fetch(&mut lent, &self.inner.statements, tenant, vec![Question::Record(key.clone())]).await;
        if !lent.client().is_closed() {
            self.inner.pool.done(lent);
        }
        match answers?.into_iter().next() {
            Some((_, Answer::Record(stored))) => Ok(stored),
            _ => Ok(None),
        }
    }

    async fn page(&self, cx: &Context, kind: Kind, request: &ListRequest) -> error::Result<RawPage> {
        let ListRequest { scope, page, .. } = request;
        let tenant = self.tenant(cx).await?;
        let texts = &self.inner.statements;
        let (slot, of, owner) = match scope {
            Scope::All => (None, 0, Uuid::nil()),
            Scope::Under(at) => {
                let column = layout(kind).scope(at.kind).ok_or_else(Error::not_found)?;
                let slot = SLOTS.iter().position(|slot| *slot == column);
                (slot, code(at.kind), uuid(&at.id).ok_or_else(Error::not_found)?)
            }
            _ => return Err(StoreError::unexpected("a scope that this store does not know")),
        };
        let pick = |all: &str, under: &[String; 4]| match slot {
            None => all.to_owned(),
            Some(slot) => under.get(slot).cloned().unwrap_or_default(),
        };
        let of_owner = (slot.is_some()).then(|| (scope_kind(scope), owner));
        let collection = collection(tenant, kind, of_owner.as_ref().map(|(kind, id)| (*kind, &id.as_bytes()[..])));
        let after = match self.inner.cursors.start(tenant, &collection, page) {
            Start::After(row) => row,
            Start::At(position) => {
                let text = pick(&texts.nth, &texts.nth_under);
                let mut bound = values![tenant, code(kind), i64::try_from(position).unwrap_or(i64::MAX)];
                if slot.is_some() {
                    bound.extend(values![owner]);
                }
                let rows = self.ask(&[Query::new(&text, bound)]).await?;
                match rows.first().and_then(|rows| rows.first()) {
                    Some(row) => row.try_get::<_, i64>(0)?.saturating_sub(1),
                    None => i64::MAX,
                }
            }
        };
        let text = pick(&texts.page, &texts.page_under);
        let limit = i64::from(page.size).saturating_add(1);
        let rows = self.ask(&[Query::new(&text, values![tenant, code(kind), after, limit, of, owner])]).await?;
        let rows = rows.into_iter().next().unwrap_or_default();
        let first = rows.first().ok_or_else(|| StoreError::unexpected("a page without a row"))?;
        if let Scope::Under(at) = scope {
            let there: Option<Vec<Option<Uuid>>> = first.try_get(1)?;
            let parent = layout(at.kind).parent().and_then(|column| SLOTS.iter().position(|slot| *slot == column));
            let parent_of = |links: &Vec<Option<Uuid>>| Some(links.get(parent?).copied().flatten()?.into());
            let is_there = there.as_ref().is_some_and(|links| at.admits_parent(parent_of(links).as_ref()));
            if !is_there {
                return Err(Error::not_found().into());
            }
        }
        let total: i64 = first.try_get(0)?;
        let mut records = Vec::new();
        let mut last = None;
        let size = usize::try_from(page.size).unwrap_or(usize::MAX);
        for row in &rows {
            if row.try_get::<_, Option<i16>>(2)?.is_none() {
                continue;
            }
            if records.len() >= size {
                let next = self.inner.cursors.next(tenant, &collection, page, last);
                return Ok(RawPage::new(records, u64::try_from(total).unwrap_or_default()).with_next(next));
            }
            let stored = stored(row, 2)?;
            last = Some(stored.row);
            records.push(stored.record);
        }
        let next = self.inner.cursors.next(tenant, &collection, page, None);
        Ok(RawPage::new(records, u64::try_from(total).unwrap_or_default()).with_next(next))
    }
}

fn scope_kind(scope: &Scope) -> Kind {
    match scope {
        Scope::Under(at) => at.kind,
        _ => Kind::Person,
    }
}

#[async_trait]
impl store::Store for Store {
    async fn list(&self, cx: &Context, kind: Kind, request: &ListRequest) -> Result<RawPage> {
        Ok(self.page(cx, kind, request).await?)
    }

    async fn get(&self, cx: &Context, at: &Address) -> Result<Option<RawRecord>> {
        let record = self.record(cx, &Key::from(at)).await?.map(|stored| stored.record);
        Ok(record.filter(|record| at.admits_parent(record.parent())))
    }

    async fn find(&self, cx: &Context, key: &Key) -> Result<Option<RawRecord>> {
        Ok(self.record(cx, key).await?.map(|stored| stored.record))
    }

    async fn write(&self, cx: &Context, call: Call) -> Result<Outcome> {
        let tenant = self.tenant(cx).await?;
        Ok(Turns::write(&self.inner, tenant, call, cx.deadline).await?)
    }

    fn matching(&self) -> Arc<dyn PersonMatching> {
        Arc::clone(&self.inner.options.matching)
    }
}

#[async_trait]
impl AnonymousTenant for Store {
    async fn tenant_of(&self, container: &Address) -> Result<Option<Tenant>> {
        let Some(id) = uuid(&container.id).filter(|_| KindTable::of(container.kind).is_container()) else {
            return Ok(None);
        };
        let text = &self.inner.statements.owners;
        let rows = self.ask(&[Query::new(text, values![id, code(container.kind)])]).await?;
        match rows.first().map_or(&[][..], Vec::as_slice) {
            // Only loaded data can give two tenants records of one id. Whose is meant cannot be told then.
            [row] => Ok(Some(Tenant::new(row.try_get::<_, String>(0).map_err(StoreError::from)?))),
            _ => Ok(None),
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("schema", &self.inner.options.schema).finish_non_exhaustive()
    }
}
