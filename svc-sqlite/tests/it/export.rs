//! Export of a whole file as changes. Another store that applies them has equal data, equal
//! responses, and equal results of later writes.

use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use svc_core::{
    Context, ListRequest, Result, Tenant,
    auth::Caller,
    link::{RecordAddress, Scope},
    model::Kind,
    page::PageRequest,
    raw::{RawPage, RawRecord},
    store::{
        Change, Lookup, LookupKey, LookupSource as _, Store as _, StoredRecord, WriteOperation,
        WriteOutcome, WriteRequest,
    },
    value::{Id, Timestamp},
};
use svc_sqlite::{KeyOptions, KeyWebhooks, SqliteOptions, SqliteStore};
use svc_store::{
    compare::{ScanPage, ScanRecords, StoreDigest, compare_stores},
    memory::MemoryStore,
    store_testkit::StoreTests,
    transfer::{ExportBatch, ExportPosition},
};

/// A store in memory whose records can be read one by one: the imported ones that still exist.
#[derive(Default)]
struct Memory {
    store: MemoryStore,
    came: Vec<(Kind, Id)>,
}

impl Memory {
    fn commit(&mut self, tenant: &Tenant, changes: &[Change]) {
        let time = self.store.next_timestamp(tenant);
        self.store.commit(tenant, time, changes).unwrap();
        self.came
            .extend(changes.iter().filter_map(|change| match change {
                Change::Insert(insert) => {
                    Some((insert.record.kind(), insert.record.meta().id.clone()))
                }
                _ => None,
            }));
    }
}

#[async_trait]
impl svc_core::store::Store for Memory {
    async fn list(&self, cx: &Context, kind: Kind, request: &ListRequest) -> Result<RawPage> {
        self.store.list(cx, kind, request).await
    }

    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<RawRecord>> {
        self.store.get(cx, at).await
    }

    async fn find(&self, cx: &Context, key: &LookupKey) -> Result<Option<RawRecord>> {
        self.store.find(cx, key).await
    }

    async fn write(&self, cx: &Context, call: WriteRequest) -> Result<WriteOutcome> {
        self.store.write(cx, call).await
    }
}

#[async_trait]
impl ScanRecords for Memory {
    async fn scan(&self, tenant: &Tenant, kind: Kind, after: i64, most: u32) -> Result<ScanPage> {
        let of_kind = self.came.iter().filter(|(of, _)| *of == kind);
        let keys: Vec<LookupKey> = of_kind
            .map(|(_, id)| LookupKey::Id(kind, id.clone()))
            .collect();
        let wanted: Vec<Lookup> = keys.iter().cloned().map(Lookup::Record).collect();
        let mut records = self.store.lookup_all(tenant, &wanted);
        let found = keys
            .iter()
            .filter_map(|key| records.record(key).expect("a fetched record"));
        let mut found: Vec<StoredRecord> = found.filter(|stored| stored.row > after).collect();
        found.sort_by_key(|stored| stored.row);
        let is_last = found.len() <= most as usize;
        found.truncate(most as usize);
        Ok(ScanPage {
            records: found,
            is_last,
        })
    }
}

fn open(folder: &tempfile::TempDir) -> SqliteStore {
    SqliteStore::open(SqliteOptions::new(folder.path().join("data.db"))).unwrap()
}

/// Returns a file with tenants of random histories: all kinds, tickets with holders, parts,
/// schedules, deleted people.
async fn filled(folder: &tempfile::TempDir) -> SqliteStore {
    let (store, made) = (open(folder), AtomicU32::new(0));
    let histories = StoreTests::new().histories(32).calls(60).seed(4_000);
    let checked = histories.check(async || {
        let number = made.fetch_add(1, Ordering::Relaxed);
        let one = store.ensure_tenant(&format!("one{number}")).await.unwrap();
        (
            store.clone(),
            [
                one,
                store.ensure_tenant(&format!("two{number}")).await.unwrap(),
            ],
        )
    });
    checked.await.unwrap();
    store
}

/// Moves a tenant in batches of up to `most` records.
fn moved(from: &SqliteStore, to: &mut Memory, tenant: &Tenant, most: usize) -> (u64, Vec<Change>) {
    let (mut next, mut records, mut all) = (Some(ExportPosition::start()), 0, Vec::new());
    while let Some(position) = next {
        // As after a restart.
        let position: ExportPosition = position.to_string().parse().unwrap();
        let ExportBatch {
            changes,
            records: more,
            next: behind,
            ..
        } = from.export(tenant, position, most).unwrap();
        assert!(usize::try_from(more).unwrap() <= most);
        to.commit(tenant, &changes);
        (next, records) = (behind, records + more);
        all.extend(changes);
    }
    (records, all)
}

async fn same(one: &SqliteStore, other: &Memory, tenant: &Tenant) -> StoreDigest {
    let compared = compare_stores(one, other, tenant, |_| {}).await.unwrap();
    compared.unwrap_or_else(|difference| panic!("{}: {difference}", tenant.as_str()))
}

/// Returns every page of a tenant's data as text, including the small ones below every record.
async fn pages(store: &impl svc_core::store::Store, tenant: &Tenant) -> Result<Vec<String>> {
    let cx = Context::new(tenant.clone(), Caller::anonymous(), Timestamp::MAX);
    let mut wanted: Vec<(Kind, Scope)> = Vec::new();
    wanted.extend(
        Kind::ALL
            .iter()
            .filter(|kind| kind.schema().has_collection())
            .map(|kind| (*kind, Scope::All)),
    );
    let mut pages = Vec::new();
    let mut place = 0;
    while let Some((kind, scope)) = wanted.get(place).cloned() {
        place += 1;
        let page = store
            .list(
                &cx,
                kind,
                &ListRequest::new(scope.clone(), PageRequest::new(1, 1000)),
            )
            .await?;
        assert!(page.total <= 1000);
        pages.push(format!("{kind:?} {scope:?}: {}", page.total));
        for record in &page.records {
            let (meta, at) = (record.meta(), record.address());
            let computed = record.to_fields_lossy(&svc_core::link::ShareNames::default());
            pages.push(format!("  {at:?} {meta:?} {computed:?}"));
            for kind in Kind::ALL
                .iter()
                .filter(|kind| kind.schema().scope_kinds().any(|of| of == at.kind))
            {
                let below = (*kind, Scope::Under(at.clone()));
                if !wanted.contains(&below) {
                    wanted.push(below);
                }
            }
        }
    }
    Ok(pages)
}

#[tokio::test]
async fn what_another_store_applies_is_the_same_and_stays_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (file, mut all, mut kinds) = (filled(&folder).await, 0, [0; 5]);
    for (number, tenant) in file.tenants().unwrap().iter().enumerate() {
        let mut memory = Memory::default();
        // Small and large batches.
        let (records, changes) = moved(&file, &mut memory, tenant, [3, 17, 1000][number % 3]);
        assert_eq!(records, file.count_records(tenant).unwrap());
        assert_eq!(same(&file, &memory, tenant).await.records, records);
        assert_eq!(
            pages(&file, tenant).await.unwrap(),
            pages(&memory, tenant).await.unwrap()
        );
        let outbox = |change: &&Change| matches!(change, Change::Enqueue(_));
        assert_eq!(
            memory.store.outbox_entries(tenant).len(),
            changes.iter().filter(outbox).count()
        );
        for change in &changes {
            let place = match change {
                Change::SetTotals { .. } => 0,
                Change::SetPartTotals { .. } => 1,
                Change::SetSchedule { .. } => 2,
                Change::AddTicketHolder { .. } => 3,
                Change::Enqueue(_) => 4,
                _ => continue,
            };
            kinds[place] += 1;
        }
        all += records;
        if number % 4 == 0 {
            goes_on_alike(&file, &memory, tenant).await;
        }
    }
    assert!(
        all > 500 && kinds.iter().all(|count| *count > 0),
        "too little data was exported: {all} {kinds:?}"
    );
}

/// Deletes all records one by one. The effects of each deletion depend on holders, sums, parts and
/// e-mail addresses, and do not change any date.
async fn goes_on_alike(file: &SqliteStore, memory: &Memory, tenant: &Tenant) {
    let cx = Context::new(tenant.clone(), Caller::anonymous(), Timestamp::MAX);
    for kind in [
        Kind::Person,
        Kind::Event,
        Kind::FundraisingPage,
        Kind::Canvass,
    ] {
        let first = ListRequest::all(PageRequest::new(1, 1000));
        let Ok(page) = file.list(&cx, kind, &first).await else {
            continue;
        };
        for at in page.records.iter().map(RawRecord::address) {
            let delete =
                |at: &RecordAddress| WriteRequest::new(&cx, WriteOperation::Delete(at.clone()));
            let told = file.write(&cx, delete(&at)).await;
            let meant = memory.write(&cx, delete(&at)).await;
            assert_eq!(told.is_ok(), meant.is_ok(), "{at:?}: {told:?} {meant:?}");
            same(file, memory, tenant).await;
        }
    }
}

/// A write after the start of a copy is detected by the clock.
#[tokio::test]
async fn a_write_is_seen_by_the_clock() {
    let folder = tempfile::tempdir().unwrap();
    let file = filled(&folder).await;
    let tenant = &file.tenants().unwrap()[0];
    let clock = |store: &SqliteStore| {
        store
            .export(tenant, ExportPosition::start(), 1)
            .unwrap()
            .clock
    };
    let before = clock(&file);
    assert_eq!(clock(&file), before);
    let cx = Context::new(tenant.clone(), Caller::anonymous(), Timestamp::MAX);
    let draft = svc_core::raw::RawDraft::empty(Kind::Person);
    file.write(&cx, WriteRequest::new(&cx, WriteOperation::Create(draft)))
        .await
        .unwrap();
    assert!(clock(&file) > before);
    drop(file);
    assert!(clock(&open(&folder)) > before);
}

/// UND-15: keys are exported with their hashes, including revoked ones, and marks with their names.
#[tokio::test]
async fn keys_and_marks_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    let tenant = store.ensure_tenant("acme").await.unwrap();
    let key = store
        .create_key(&tenant, KeyOptions::new("a").read_only())
        .await
        .unwrap();
    let gone = store
        .create_key(&tenant, KeyOptions::new("b"))
        .await
        .unwrap();
    store
        .revoke_key(&gone.id, KeyWebhooks::Disable)
        .await
        .unwrap();
    store.set_metadata("seed.acme", "all of it").await.unwrap();
    let keys = store.export_keys().unwrap();
    let infos: Vec<_> = keys.iter().map(|key| key.info.clone()).collect();
    assert_eq!(infos, store.list_keys(None).unwrap());
    assert!(
        keys[0]
            .hash
            .matches(svc_store::keys::TokenHash::from_token(&key.token).as_bytes())
    );
    assert!(keys[1].info.revoked.is_some());
    assert_eq!(
        store.metadata_entries().unwrap(),
        [("seed.acme".to_owned(), "all of it".to_owned())]
    );
}

/// UND-42: a difference names the record, and nothing of its contents.
#[tokio::test]
async fn differences_are_seen_and_name_no_person() {
    let folder = tempfile::tempdir().unwrap();
    let file = filled(&folder).await;
    for tenant in file.tenants().unwrap() {
        let cx = Context::new(tenant.clone(), Caller::anonymous(), Timestamp::MAX);
        let (_, changes) = moved(&file, &mut Memory::default(), &tenant, 1000);
        for (place, change) in changes
            .iter()
            .enumerate()
            .filter(|(place, _)| place % 5 == 0)
        {
            // All changes except one.
            let (mut memory, mut left) = (Memory::default(), changes.clone());
            left.remove(place);
            memory.commit(&tenant, &left);
            let seen = compare_stores(&file, &memory, &tenant, |_| {})
                .await
                .unwrap();
            match change {
                Change::Insert(insert) => {
                    let difference = seen.expect_err("a record is missing").to_string();
                    let fields = String::from_utf8_lossy(insert.record.wire_fields()).into_owned();
                    assert!(
                        fields.is_empty() || !difference.contains(&fields),
                        "{difference}"
                    );
                    let key = LookupKey::Id(insert.record.kind(), insert.record.meta().id.clone());
                    assert!(file.find(&cx, &key).await.unwrap().is_some());
                }
                Change::SetSchedule { .. } => assert!(seen.is_err(), "{change:?}"),
                _ => {}
            }
        }
    }
}
