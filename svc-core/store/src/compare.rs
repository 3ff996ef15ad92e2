//! Compares all records of a tenant in two stores.

use std::{collections::VecDeque, fmt, fmt::Write as _};

use async_trait::async_trait;
use sha2::{Digest, Sha256};
use svc_core::store::{LookupKey, Store, StoredRecord};
use svc_core::{
    auth::Caller,
    context::{Context, Tenant},
    error::Result,
    link::Scope,
    model::Kind,
    page::{ListRequest, PageRequest},
    record::{ComputedValue, RawRecord},
    value::{Id, Timestamp},
};

use crate::{
    hex,
    transfer::{found_by, kinds_in_dependency_order},
};

/// A store whose records can be read in sequence, independently of collections.
#[async_trait]
pub trait ScanRecords: Store {
    /// Returns the records of a kind after a row, in creation order and with hidden references.
    ///
    /// Returns at most the given number of records, and at least one if there is any.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails or the tenant is unknown.
    async fn scan(&self, tenant: &Tenant, kind: Kind, after: i64, most: u32) -> Result<ScanPage>;
}

/// Records that [`ScanRecords::scan`] returns.
#[derive(Debug, Clone)]
pub struct ScanPage {
    /// The records, in creation order.
    pub records: Vec<StoredRecord>,
    /// Whether no record of the kind follows.
    pub is_last: bool,
}

/// The result for two equal stores.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreDigest {
    /// The number of records.
    pub records: u64,
    /// SHA-256 over all records, in hex digits. It is the same for stores with equal records.
    pub digest: String,
}

/// The first difference between two stores. It names a record, but not its content.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreDifference {
    /// The kind of the record.
    pub kind: Kind,
    /// The record; `None` if the difference is not about a single record.
    pub id: Option<Id>,
    /// A description of the difference.
    pub what: String,
}

impl StoreDifference {
    fn about(record: &RawRecord, what: String) -> Self {
        Self {
            kind: record.kind(),
            id: Some(record.meta().id.clone()),
            what,
        }
    }
}

impl fmt::Display for StoreDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.id {
            Some(id) => write!(f, "{} {id}: {}", self.kind.singular(), self.what),
            None => write!(f, "{}: {}", self.kind.plural(), self.what),
        }
    }
}

/// The number of records in one read.
const PAGE: u32 = 500;

/// Compares all records of a tenant in two stores, in creation order.
///
/// The comparison includes ids, dates, identifiers, fields, links, hidden references, computed
/// values, and the total of each collection of a kind. For one record of each page it also compares
/// lookups by key and the totals of the collections under the record. `progress` receives the
/// number of compared records.
///
/// Fields are compared as stored text. Equal fields in different notation are therefore a
/// difference.
///
/// # Errors
///
/// Returns an error if one of the stores fails.
pub async fn compare_stores<A: ScanRecords + ?Sized, B: ScanRecords + ?Sized>(
    one: &A,
    other: &B,
    tenant: &Tenant,
    mut progress: impl FnMut(u64) + Send,
) -> Result<Result<StoreDigest, StoreDifference>> {
    let cx = Context::new(tenant.clone(), Caller::anonymous(), Timestamp::now());
    let (mut digest, mut records) = (Sha256::new(), 0_u64);
    for kind in kinds_in_dependency_order() {
        let (mut here, mut there) = (ScanBuffer::default(), ScanBuffer::default());
        let before = records;
        loop {
            here.fill(one, tenant, *kind).await?;
            there.fill(other, tenant, *kind).await?;
            let sample = here.records.front().map(|stored| stored.record.clone());
            while let Some((a, b)) = here.records.front().zip(there.records.front()) {
                let [told, meant] = [&a.record, &b.record].map(parts);
                if let Some(((what, _), _)) =
                    told.iter().zip(&meant).find(|(told, meant)| told != meant)
                {
                    return Ok(Err(StoreDifference::about(
                        &a.record,
                        format!("{what} differs"),
                    )));
                }
                for (_, text) in told {
                    digest.update((text.len() as u64).to_be_bytes());
                    digest.update(text);
                }
                records = records.saturating_add(1);
                here.records.pop_front();
                there.records.pop_front();
            }
            progress(records);
            // One store has no more records to compare.
            let alone = if there.ends {
                here.records.front()
            } else {
                None
            };
            if let Some(alone) = alone.or(if here.ends {
                there.records.front()
            } else {
                None
            }) {
                return Ok(Err(StoreDifference::about(
                    &alone.record,
                    "only one of the two stores has this record".to_owned(),
                )));
            }
            if let Some(sample) = sample
                && let Some(difference) = sampled(one, other, &cx, &sample).await?
            {
                return Ok(Err(difference));
            }
            if here.ends && there.ends {
                break;
            }
        }
        if kind.schema().has_collection() {
            let [a, b] = totals(one, other, &cx, *kind, &Scope::All).await?;
            let counted = records.saturating_sub(before);
            if [a, b] != [counted; 2] {
                let what = format!("the totals are {a} and {b}, but there are {counted} records");
                return Ok(Err(StoreDifference {
                    kind: *kind,
                    id: None,
                    what,
                }));
            }
        }
    }
    Ok(Ok(StoreDigest {
        records,
        digest: hex::encode(&digest.finalize()),
    }))
}

/// Records of one store that were read but not compared yet.
#[derive(Default)]
struct ScanBuffer {
    records: VecDeque<StoredRecord>,
    after: i64,
    ends: bool,
}

impl ScanBuffer {
    async fn fill<S: ScanRecords + ?Sized>(
        &mut self,
        store: &S,
        tenant: &Tenant,
        kind: Kind,
    ) -> Result<()> {
        if self.records.is_empty() && !self.ends {
            let page = store.scan(tenant, kind, self.after, PAGE).await?;
            self.ends = page.is_last;
            self.after = page.records.last().map_or(self.after, |last| last.row);
            self.records.extend(page.records);
        }
        Ok(())
    }
}

/// Returns the parts of a record with their names, so that a difference can be reported without the
/// content.
fn parts(record: &RawRecord) -> [(&'static str, Vec<u8>); 7] {
    let (meta, schema) = (record.meta(), record.kind().schema());
    let (mut links, mut computed) = (String::new(), String::new());
    for reference in schema.references() {
        if let Some(to) = record.link(reference.name) {
            // Writing to a string cannot fail.
            _ = write!(links, "{}={} ", reference.name, to.id);
        }
    }
    for field in schema.fields.fields {
        if let Some((_, value)) = record
            .computed()
            .iter()
            .find(|(name, _)| *name == field.name)
        {
            let value = match value {
                ComputedValue::Count(count) => count.to_string(),
                ComputedValue::Amount(amount) => amount.to_string(),
                ComputedValue::Timestamp(moment) => moment.as_micros().to_string(),
                ComputedValue::Relation(kind) => kind.singular().to_owned(),
            };
            _ = write!(computed, "{}={value} ", field.name);
        }
    }
    [
        (
            "the id or the order",
            format!("{} {}", record.kind().singular(), meta.id).into_bytes(),
        ),
        (
            "the creation date",
            meta.created.as_micros().to_string().into_bytes(),
        ),
        (
            "the modification date",
            meta.modified.as_micros().to_string().into_bytes(),
        ),
        (
            "an identifier",
            meta.identifiers.as_json().as_bytes().to_vec(),
        ),
        ("a field", record.wire_fields().to_vec()),
        ("a link", links.into_bytes()),
        ("a computed value", computed.into_bytes()),
    ]
}

/// Looks up a record by its keys in both stores, and compares the totals of the collections under
/// it.
async fn sampled<A: ScanRecords + ?Sized, B: ScanRecords + ?Sized>(
    one: &A,
    other: &B,
    cx: &Context,
    record: &RawRecord,
) -> Result<Option<StoreDifference>> {
    let kind = record.kind();
    let differs = |what: String| Ok(Some(StoreDifference::about(record, what)));
    let (name, index) = found_by(record)?;
    let identifiers = record
        .meta()
        .identifiers
        .to_vec()
        .into_iter()
        .map(|it| LookupKey::Identifier(kind, it));
    let names = name.map(|name| LookupKey::Name(kind, name));
    for key in identifiers
        .chain(names)
        .chain(index.emails.into_iter().map(LookupKey::Email))
    {
        let (here, there) = (one.find(cx, &key).await?, other.find(cx, &key).await?);
        let [here, there] =
            [&here, &there].map(|found| found.as_ref().map(|found| &found.meta().id));
        if here.is_none() || here != there {
            let by = match key {
                LookupKey::Identifier(..) => "an identifier",
                LookupKey::Name(..) => "its name",
                _ => "an e-mail address",
            };
            return differs(format!("the record found by {by} differs"));
        }
    }
    for members in Kind::ALL
        .iter()
        .filter(|members| members.schema().scope_kinds().any(|of| of == kind))
    {
        let [a, b] = totals(one, other, cx, *members, &Scope::Under(record.address())).await?;
        if a != b {
            return differs(format!(
                "the totals of its {} differ: {a} and {b}",
                members.plural()
            ));
        }
    }
    Ok(None)
}

async fn totals<A: ScanRecords + ?Sized, B: ScanRecords + ?Sized>(
    one: &A,
    other: &B,
    cx: &Context,
    kind: Kind,
    scope: &Scope,
) -> Result<[u64; 2]> {
    let request = ListRequest::new(scope.clone(), PageRequest::new(1, 1));
    Ok([
        one.list(cx, kind, &request).await?.total,
        other.list(cx, kind, &request).await?.total,
    ])
}
