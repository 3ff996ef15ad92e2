//! Loading a tenant's invented data, in steps that a start-up after an interruption goes on from.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use svc_core::auth::{Caller, Rights};
use svc_core::error::{Error, Result};
use svc_core::link::RecordAddress;
use svc_core::store;
use svc_core::value::{Id, Timestamp};
use svc_core::{Context, Tenant};

use super::database::DemoStore;
use super::seed::{SeedRecords, SeedRow};

/// Records in one transaction: of a file, and of a database, which may be far away and has a time
/// limit for each.
const STEP: usize = 4000;
const SERVER_STEP: usize = 500;
/// How long a step is waited for that another process is likely to load, and how often it is looked
/// for.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(100);
/// How long a process loads before it renews its lease, which it does after each step; and how
/// often another one tries to take over.
const LEASE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(500);

/// The data of one tenant that is still to be loaded.
#[derive(Debug)]
pub struct SeedLoad {
    tenant: Tenant,
    people: u32,
}

/// What a process finds when it may load.
enum Ready {
    /// So many rows of so many people are there.
    From { people: u32, done: usize },
    /// Everything is.
    Loaded,
    /// The process has stopped before.
    Stopped,
}

/// How far a load is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadProgress {
    /// People made so far.
    pub people: u32,
    /// Records made so far.
    pub records: usize,
}

/// What the store remembers of a tenant's load.
struct LoadMarker {
    people: u32,
    /// `None`: all of them.
    done: Option<usize>,
    owner: String,
}

impl LoadMarker {
    async fn read(store: &DemoStore, tenant: &str) -> Result<Option<Self>> {
        let Some(text) = store.read_mark(&name(tenant)).await? else {
            return Ok(None);
        };
        let members: HashMap<_, _> = text
            .split(' ')
            .filter_map(|member| member.split_once('='))
            .collect();
        let damaged = || {
            Error::unexpected(format!(
                "the stored loading state of the tenant {tenant} is damaged: {text}"
            ))
        };
        let member = |name: &str| members.get(name).copied().ok_or_else(damaged);
        Ok(Some(Self {
            people: member("people")?.parse().map_err(|_| damaged())?,
            done: match member("done")? {
                "all" => None,
                rows => Some(rows.parse().map_err(|_| damaged())?),
            },
            owner: member("owner")?.to_owned(),
        }))
    }

    async fn write(&self, store: &DemoStore, tenant: &str) -> Result<()> {
        let done = self
            .done
            .map_or_else(|| "all".to_owned(), |rows| rows.to_string());
        let text = format!("people={} done={done} owner={}", self.people, self.owner);
        store.mark(&name(tenant), &text).await
    }
}

/// The name of a tenant's mark.
fn name(tenant: &str) -> String {
    format!("seed.{tenant}")
}

impl SeedLoad {
    /// A new tenant with so many people. It exists and has an owner from now on; its data is still
    /// to be loaded.
    pub(super) async fn begin(store: &DemoStore, tenant: &str, people: u32) -> Result<Self> {
        let owner = SeedRecords::new(tenant, people).owner().id.to_string();
        // The mark comes first: a tenant without one was not made by this program, and nothing is
        // loaded into it.
        LoadMarker {
            people,
            done: Some(0),
            owner,
        }
        .write(store, tenant)
        .await?;
        let tenant = store.ensure_tenant(tenant).await?;
        Ok(Self { tenant, people })
    }

    /// What is left to load of a tenant that exists; `None` when that is nothing.
    pub(super) async fn resume(store: &DemoStore, tenant: &str) -> Result<Option<Self>> {
        let Some(mark) = LoadMarker::read(store, tenant).await? else {
            return Ok(None);
        };
        Ok(mark.done.map(|_| Self {
            tenant: Tenant::new(tenant),
            people: mark.people,
        }))
    }

    /// The person to whom a tenant's keys are bound; `None` for a tenant that was not made by this
    /// program.
    ///
    /// # Errors
    ///
    /// Storage trouble.
    pub async fn owner(store: &DemoStore, tenant: &str) -> Result<Option<Id>> {
        Ok(LoadMarker::read(store, tenant)
            .await?
            .and_then(|mark| Id::new(&mark.owner)))
    }

    /// The tenant.
    #[must_use]
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// The people it will have.
    #[must_use]
    pub fn people(&self) -> u32 {
        self.people
    }

    /// Loads everything, and tells after each step how far it is; ends early, to be resumed, when
    /// that says so. Whether all of it is loaded now.
    ///
    /// # Errors
    ///
    /// Storage trouble. What was loaded stays, and the next start goes on from there.
    pub async fn run(
        self,
        store: &DemoStore,
        mut go_on: impl FnMut(LoadProgress) -> bool + Send,
    ) -> Result<bool> {
        let most = match store {
            DemoStore::File(_) => STEP,
            DemoStore::Server(..) => SERVER_STEP,
        };
        let (all, done) = match self.ready(store, &mut go_on).await? {
            // Another demo may have begun with another number.
            Ready::From { people, done } => (people, done),
            Ready::Loaded => {
                store.end_lease(&name(self.tenant.as_str())).await?;
                return Ok(true);
            }
            Ready::Stopped => return Ok(false),
        };
        let mut seed = SeedRecords::new(self.tenant.as_str(), all);
        let owner = seed.owner().id.to_string();
        let mut patience = Duration::ZERO;
        let mut done = seed.by_ref().take(done).count();
        loop {
            let step: Vec<SeedRow> = seed.by_ref().take(most).collect();
            let Some(first) = step.first().map(|row| row.address.clone()) else {
                break;
            };
            let rows = step.len();
            // A step is stored as a whole. It is there already when the program ended between the
            // step and its mark, or when another process loads the same database and was faster.
            if !self.comes_within(store, &first, patience).await? {
                patience = Duration::ZERO;
                if let Err(error) = store
                    .seed(
                        &self.tenant,
                        step.into_iter().map(store::ImportedRecord::from).collect(),
                    )
                    .await
                {
                    if !self.comes_within(store, &first, patience).await? {
                        return Err(error);
                    }
                    // That process is at the next step by now.
                    patience = PATIENCE;
                }
            }
            done += rows;
            let mark = LoadMarker {
                people: all,
                done: Some(done),
                owner: owner.clone(),
            };
            mark.write(store, self.tenant.as_str()).await?;
            // If the process has lost the lease meanwhile, two processes load, and neither stores a
            // row twice.
            store.take_lease(&name(self.tenant.as_str()), LEASE).await?;
            if !go_on(LoadProgress {
                people: seed.people_made(),
                records: done,
            }) {
                store.end_lease(&name(self.tenant.as_str())).await?;
                return Ok(false);
            }
            // On a machine with one core the requests and signals that came meanwhile have their
            // turn.
            tokio::task::yield_now().await;
        }
        LoadMarker {
            people: all,
            done: None,
            owner,
        }
        .write(store, self.tenant.as_str())
        .await?;
        store.end_lease(&name(self.tenant.as_str())).await?;
        Ok(true)
    }

    /// Waits while another process loads the same tenant. Returns how many rows are there then.
    async fn ready(
        &self,
        store: &DemoStore,
        go_on: &mut (impl FnMut(LoadProgress) -> bool + Send),
    ) -> Result<Ready> {
        while !store.take_lease(&name(self.tenant.as_str()), LEASE).await? {
            if !go_on(LoadProgress {
                people: 0,
                records: 0,
            }) {
                return Ok(Ready::Stopped);
            }
            tokio::time::sleep(PAUSE).await;
        }
        let mark = LoadMarker::read(store, self.tenant.as_str()).await?;
        Ok(match mark {
            Some(LoadMarker {
                people,
                done: Some(done),
                ..
            }) => Ready::From { people, done },
            _ => Ready::Loaded,
        })
    }

    /// Whether a record is there, or is before this time is over.
    async fn comes_within(
        &self,
        store: &DemoStore,
        address: &RecordAddress,
        patience: Duration,
    ) -> Result<bool> {
        let cx = Context::new(
            self.tenant.clone(),
            Caller::with_rights(Rights::all()),
            Timestamp::now(),
        );
        let begun = Instant::now();
        loop {
            let is_there = store.get(&cx, address).await?.is_some();
            if is_there || begun.elapsed() >= patience {
                return Ok(is_there);
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

impl From<SeedRow> for store::ImportedRecord {
    fn from(row: SeedRow) -> Self {
        Self::new(row.address.id, row.created, row.draft)
    }
}

#[cfg(test)]
mod tests {
    use super::{LoadMarker, STEP, SeedLoad};
    use std::path::Path;
    use svc_core::auth::{Caller, Rights};
    use svc_core::context::Context;
    use svc_core::error::{Error, Result};
    use svc_core::model::Kind;
    use svc_core::page::{ListRequest, PageRequest};
    use svc_core::store::Store as _;
    use svc_core::value::Timestamp;
    use svc_sqlite::{SqliteOptions, SqliteStore};

    use crate::demo::database::DemoStore;

    const PEOPLE: u32 = 2500;

    fn opened(folder: &Path) -> Result<DemoStore> {
        Ok(DemoStore::File(SqliteStore::open(SqliteOptions::new(
            folder.join("a.db"),
        ))?))
    }

    /// How many people the tenant has.
    async fn people(store: &DemoStore) -> Result<u64> {
        let tenant = store.ensure_tenant("demo").await?;
        let cx = Context::new(tenant, Caller::with_rights(Rights::all()), Timestamp::now());
        let first = ListRequest::all(PageRequest::new(1, 1));
        let DemoStore::File(store) = store else {
            return Err(Error::unexpected("no file"));
        };
        Ok(store.list(&cx, Kind::Person, &first).await?.total)
    }

    /// Loads one step, then stops.
    async fn one_step(store: &DemoStore, load: SeedLoad) -> Result<usize> {
        let mut steps = 0;
        let complete = load
            .run(store, |_| {
                steps += 1;
                false
            })
            .await?;
        assert!(!complete);
        Ok(steps)
    }

    #[tokio::test]
    async fn a_load_goes_on_where_it_ended() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let store = opened(folder.path())?;
        let load = SeedLoad::begin(&store, "demo", PEOPLE).await?;
        let owner = SeedLoad::owner(&store, "demo")
            .await?
            .expect("an owner")
            .to_string();
        assert_eq!(one_step(&store, load).await?, 1);
        let half = people(&store).await?;
        assert!(0 < half && half < PEOPLE.into(), "{half}");
        // The second step is in the file, and its mark is not, as after a power failure between the
        // two.
        let load = SeedLoad::resume(&store, "demo")
            .await?
            .expect("a part is left");
        assert_eq!(one_step(&store, load).await?, 1);
        LoadMarker {
            people: PEOPLE,
            done: Some(STEP),
            owner,
        }
        .write(&store, "demo")
        .await?;
        let load = SeedLoad::resume(&store, "demo")
            .await?
            .expect("a part is left");
        assert!(load.run(&store, |_| true).await?);
        assert_eq!(people(&store).await?, u64::from(PEOPLE));
        assert!(SeedLoad::resume(&store, "demo").await?.is_none());
        Ok(())
    }

    #[tokio::test]
    async fn a_tenant_that_was_not_made_here_is_left_alone() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let store = opened(folder.path())?;
        store.ensure_tenant("demo").await?;
        assert!(SeedLoad::resume(&store, "demo").await?.is_none());
        assert!(SeedLoad::owner(&store, "demo").await?.is_none());
        Ok(())
    }
}
