//! Whether two stores have the same: every record of a tenant, one by one.

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

/// A store whose records can be read one after the other, whatever collections they are in.
#[async_trait]
pub trait ScanRecords: Store {
    /// Records of a kind behind a row, in the order of creation, with hidden references: so many at
    /// most, one at least where there is one; and whether they are the last ones.
    ///
    /// # Errors
    ///
    /// Storage trouble, or an unknown tenant.
    async fn scan(
        &self,
        tenant: &Tenant,
        kind: Kind,
        after: i64,
        most: u32,
    ) -> Result<(Vec<StoredRecord>, bool)>;
}

/// What two stores have alike.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreDigest {
    /// How many records.
    pub records: u64,
    /// SHA-256 over all of them, in hex digits: the same for stores that have the same.
    pub digest: String,
}

/// The first thing that two stores do not have alike. It names a record, and nothing of what the
/// record says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreDifference {
    /// The kind.
    pub kind: Kind,
    /// The record; `None` where it is about the kind as a whole.
    pub id: Option<Id>,
    /// What differs.
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

/// Records that are read at once.
const PAGE: u32 = 500;

/// Compares everything that two stores say of a tenant's records, in the order of creation: ids,
/// dates, identifiers, fields, links and hidden references, computed values; and the total of each
/// collection of all. Of each page one record is also looked up by what finds it, and the totals
/// under it are compared. `progress` is told how many records it were so far.
///
/// Where the records have the same fields written otherwise, they differ: stores keep them as they
/// are sent.
///
/// # Errors
///
/// Trouble of one of the stores.
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
            // One side has nothing left of what was read.
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
                    "only one of both has it".to_owned(),
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
                let what = format!("the totals are {a} and {b}, the records {counted}");
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

/// What was read of one store and not compared yet.
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
            let (page, is_end) = store.scan(tenant, kind, self.after, PAGE).await?;
            self.ends = is_end;
            self.after = page.last().map_or(self.after, |last| last.row);
            self.records.extend(page);
        }
        Ok(())
    }
}

/// A record in parts that can be told apart without saying what is in them.
fn parts(record: &RawRecord) -> [(&'static str, Vec<u8>); 7] {
    let (meta, schema) = (record.meta(), record.kind().schema());
    let (mut links, mut computed) = (String::new(), String::new());
    for reference in schema.references() {
        if let Some(to) = record.link(reference.name) {
            // Writing into a text does not fail.
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
            "its date of creation",
            meta.created.as_micros().to_string().into_bytes(),
        ),
        (
            "its date of change",
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

/// Looks a record up by what finds it in both stores, and compares the totals of the collections
/// under it.
async fn sampled<A: ScanRecords + ?Sized, B: ScanRecords + ?Sized>(
    one: &A,
    other: &B,
    cx: &Context,
    record: &RawRecord,
) -> Result<Option<StoreDifference>> {
    let kind = record.kind();
    let differs = |what: String| Ok(Some(StoreDifference::about(record, what)));
    let (name, emails) = found_by(record)?;
    let identifiers = record
        .meta()
        .identifiers
        .to_vec()
        .into_iter()
        .map(|it| LookupKey::Identifier(kind, it));
    let names = name.map(|name| LookupKey::Name(kind, name));
    for key in identifiers
        .chain(names)
        .chain(emails.into_iter().map(LookupKey::Email))
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
            return differs(format!("whom {by} finds differs"));
        }
    }
    for members in Kind::ALL
        .iter()
        .filter(|members| members.schema().scope_kinds().any(|of| of == kind))
    {
        let [a, b] = totals(one, other, cx, *members, &Scope::Under(record.address())).await?;
        if a != b {
            return differs(format!(
                "the totals of its {} are {a} and {b}",
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
