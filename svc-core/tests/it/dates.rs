//! Dates of change.
//!
//! Requirements: CRU-19, TYP-16.

use svc_core::{
    Context, Tenant,
    auth::Caller,
    draft::Draft,
    link::RecordAddress,
    model::{Kind, Person, Tag},
    raw::RawPatch,
    store::{ImportedRecord, Store, WriteOperation, WriteOutcome, WriteRequest},
    value::{Id, Timestamp},
};
use svc_store::memory::MemoryStore;

/// CRU-19: each update has a later date than the previous one. This also holds if a record was
/// loaded with a future date that the tenant's clock then reaches.
#[tokio::test]
async fn cru_19_dates_of_a_record_from_the_future_increase() {
    let begin = Timestamp::from_micros(1_000_000);
    let store = MemoryStore::new().clock(move || begin);
    let cx = Context::new(Tenant::new("one"), Caller::anonymous(), begin);
    let write = async |work| {
        store
            .write(&cx, WriteRequest::new(&cx, work))
            .await
            .unwrap()
    };
    let id = Id::from(7);
    let tag = Draft::new(&Tag::default().name("a tag")).into_raw();
    write(WriteOperation::Import(Box::new(ImportedRecord::new(
        id.clone(),
        Timestamp::from_micros(1_000_004),
        tag,
    ))))
    .await;
    let mut dates = vec![1_000_004];
    for number in 0..12 {
        if number % 4 > 0 {
            write(WriteOperation::Create(
                Draft::new(&Person::default()).into_raw(),
            ))
            .await;
            continue;
        }
        let named = Draft::new(&Tag::default().name(format!("name {number}"))).into_raw();
        let patch = RawPatch::new(Kind::Tag, named.fields);
        let changed = write(WriteOperation::Update(
            RecordAddress::without_parent(Kind::Tag, id.clone()),
            patch,
        ))
        .await;
        let WriteOutcome::Updated(Some(record)) = changed else {
            panic!("the tag exists")
        };
        dates.push(record.meta().modified.as_micros());
    }
    assert!(dates.is_sorted_by(|one, next| one < next), "{dates:?}");
}
