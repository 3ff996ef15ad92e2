//! The records, in memory, separate for each tenant.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::kinds::{NestedCollection, ServerKind};

/// The number of a record, unique over all tenants.
pub(super) type RecordNumber = u64;

/// One record.
#[derive(Debug, Clone)]
pub(super) struct RecordData {
    pub(super) number: RecordNumber,
    pub(super) kind: &'static ServerKind,
    pub(super) body: Map<String, Value>,
    /// The identifiers of other systems.
    pub(super) identifiers: Vec<String>,
    pub(super) created: i64,
    pub(super) modified: i64,
    /// The links to other records, such as the container and the person.
    pub(super) links: BTreeMap<&'static str, RecordNumber>,
    /// The number of updates.
    pub(super) updates: u32,
}

impl RecordData {
    /// Returns a text of the body.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.body.get(name).and_then(Value::as_str)
    }

    /// Returns the objects in a list of the body.
    pub(super) fn list(&self, name: &str) -> &[Value] {
        self.body
            .get(name)
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }
}

/// All data of one tenant, in order of creation.
#[derive(Debug, Clone, Default)]
pub(super) struct TenantData {
    /// The records. Each write copies this map; the copy shares the records.
    pub(super) records: BTreeMap<RecordNumber, Arc<RecordData>>,
    /// The number of deleted records that belonged to each record.
    pub(super) thinned: BTreeMap<RecordNumber, u32>,
}

impl TenantData {
    /// Returns a record of a kind.
    pub(super) fn of(&self, kind: &str, number: RecordNumber) -> Option<&RecordData> {
        self.records
            .get(&number)
            .map(Arc::as_ref)
            .filter(|record| record.kind.one == kind)
    }

    /// Returns every record of a kind.
    pub(super) fn all(&self, kind: &'static ServerKind) -> Vec<&RecordData> {
        self.records
            .values()
            .map(Arc::as_ref)
            .filter(|record| record.kind.one == kind.one)
            .collect()
    }

    /// Returns the members of a collection below a record.
    pub(super) fn below(&self, owner: RecordNumber, below: &NestedCollection) -> Vec<&RecordData> {
        let member = |record: &&RecordData| {
            record.kind.one == below.of && record.links.get(below.by) == Some(&owner)
        };
        self.records
            .values()
            .map(Arc::as_ref)
            .filter(member)
            .collect()
    }

    /// Returns the sold tickets of an event, with their prices.
    pub(super) fn tickets(&self, event: RecordNumber) -> Vec<&Value> {
        let members = self
            .records
            .values()
            .filter(|record| record.kind.one == "attendance");
        let of_event = members.filter(|record| record.links.get("event") == Some(&event));
        of_event.flat_map(|record| record.list("tickets")).collect()
    }

    /// Counts a deleted record for the records that it belonged to.
    pub(super) fn thin(&mut self, record: &RecordData) {
        for number in record.links.values() {
            let count = self.thinned.entry(*number).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// Removes a record with everything that is recorded under it or by it.
    pub(super) fn remove(&mut self, number: RecordNumber) {
        let Some(record) = self.records.remove(&number) else {
            return;
        };
        self.thin(&record);
        let depends = |record: &RecordData| {
            let under = |name: &str| record.links.get(name) == Some(&number);
            record.kind.container.is_some_and(under) || under("person") || under("target")
        };
        let dependents: Vec<RecordNumber> = self
            .records
            .values()
            .filter(|record| depends(record))
            .map(|record| record.number)
            .collect();
        for dependent in dependents {
            self.remove(dependent);
        }
        for record in self
            .records
            .values_mut()
            .filter(|record| record.links.values().any(|linked| *linked == number))
        {
            Arc::make_mut(record)
                .links
                .retain(|_, linked| *linked != number);
        }
    }
}

/// The data and the counters of all tenants.
#[derive(Debug, Clone, Default)]
pub(super) struct AllTenants {
    pub(super) all: BTreeMap<String, TenantData>,
    pub(super) last: RecordNumber,
    pub(super) last_time: i64,
    /// The last record that the current request finds when it matches people, or `None` if it finds
    /// all.
    pub(super) found_to: Option<RecordNumber>,
    /// The number of requests.
    pub(super) requests: u64,
}

impl AllTenants {
    /// Returns the next number of a record.
    pub(super) fn next(&mut self) -> RecordNumber {
        self.last = self.last.saturating_add(1);
        self.last
    }

    /// Returns a timestamp that is later than all previous ones.
    pub(super) fn tick(&mut self, now: i64) -> i64 {
        self.last_time = now.max(self.last_time.saturating_add(1));
        self.last_time
    }
}
