//! Loads the invented data of a tenant in steps. After an interruption, the next start resumes.

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

/// Number of records in one transaction. A database can be remote, and has a timeout for each
/// transaction.
const STEP: usize = 4000;
const SERVER_STEP: usize = 500;
/// Time for which a process waits for a step that another process probably loads, and the interval
/// of its checks.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(100);
/// Duration of the lease, which a process renews after each step, and the interval at which another
/// process tries to take over.
const LEASE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(500);

/// The data of one tenant that is still to be loaded.
#[derive(Debug)]
pub struct SeedLoad {
    tenant: Tenant,
    people: u32,
}

/// The state of the data when a process can start to load.
enum Ready {
    /// `done` rows are loaded, of the data for `people` people.
    From { people: u32, done: usize },
    /// All rows are loaded.
    Loaded,
    /// The process was stopped before.
    Stopped,
}

/// The progress of loading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadProgress {
    /// Number of people created so far.
    pub people: u32,
    /// Number of records created so far.
    pub records: usize,
}

/// The stored state of loading a tenant.
struct LoadMarker {
    people: u32,
    /// Number of loaded rows; `None` if all are loaded.
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

/// Returns the name of the marker of a tenant.
fn name(tenant: &str) -> String {
    format!("seed.{tenant}")
}

impl SeedLoad {
    /// Creates a tenant for this number of people. It has an owner from now on; its data is still
    /// to be loaded.
    pub(super) async fn begin(store: &DemoStore, tenant: &str, people: u32) -> Result<Self> {
        let owner = SeedRecords::new(tenant, people).owner().id.to_string();
        // The marker is stored first. A tenant without one was not created by this program, and no
        // data is loaded into it.
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

    /// Returns the data of an existing tenant that is still to be loaded, or `None` if all is
    /// loaded.
    pub(super) async fn resume(store: &DemoStore, tenant: &str) -> Result<Option<Self>> {
        let Some(mark) = LoadMarker::read(store, tenant).await? else {
            return Ok(None);
        };
        Ok(mark.done.map(|_| Self {
            tenant: Tenant::new(tenant),
            people: mark.people,
        }))
    }

    /// Returns the person that the keys of a tenant belong to, or `None` for a tenant that this
    /// program did not create.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    pub async fn owner(store: &DemoStore, tenant: &str) -> Result<Option<Id>> {
        Ok(LoadMarker::read(store, tenant)
            .await?
            .and_then(|mark| Id::new(&mark.owner)))
    }

    /// Returns the tenant.
    #[must_use]
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// Returns the number of people that the tenant will have.
    #[must_use]
    pub fn people(&self) -> u32 {
        self.people
    }

    /// Loads all data, and reports the progress after each step. If the callback returns false,
    /// loading stops early and can be resumed. Returns whether all data is loaded.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails. Loaded data remains, and the next start resumes.
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
            // Another demo may have started with another number.
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
            // A step is stored as a whole. It already exists if the program ended between the step
            // and its marker, or if another process loads the same database and was faster.
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
                    // The other process is at the next step by now.
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
            // If the process has lost the lease in between, two processes load. No row is stored
            // twice.
            store.take_lease(&name(self.tenant.as_str()), LEASE).await?;
            if !go_on(LoadProgress {
                people: seed.people_made(),
                records: done,
            }) {
                store.end_lease(&name(self.tenant.as_str())).await?;
                return Ok(false);
            }
            // On a machine with one core, this lets other tasks handle requests and signals.
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

    /// Waits while another process loads the same tenant. Returns the number of rows that are
    /// loaded then.
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

    /// Returns whether a record exists, or is created before the timeout.
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

    /// Returns the number of people of the tenant.
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
        // The second step is in the file and its marker is not, as after a power failure between
        // the two.
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
