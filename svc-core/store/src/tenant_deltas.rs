//! Effects of a transaction other than its records. A store can collect them in memory and write
//! them once.

use std::collections::BTreeMap;

use svc_core::store::{CollectionId, PendingChanges};
use svc_core::{
    model::Kind,
    value::{Id, Timestamp},
};

/// What one transaction changes: the clocks of tenants, and the numbers of records in their
/// collections.
#[derive(Debug, Default)]
pub struct TenantDeltas(BTreeMap<i64, TenantDelta>);

#[derive(Debug, Default)]
struct TenantDelta {
    /// The time of the last request that changed something.
    last: Option<Timestamp>,
    /// The pending changes, which only contain counts.
    won: PendingChanges,
}

impl TenantDeltas {
    fn of(&mut self, tenant: i64) -> &mut TenantDelta {
        self.0.entry(tenant).or_default()
    }

    /// Returns the time of the tenant's last request that changed something; `None` if there is
    /// none in the transaction.
    #[must_use]
    pub fn last_timestamp(&self, tenant: i64) -> Option<Timestamp> {
        self.0.get(&tenant).and_then(|of| of.last)
    }

    /// Sets the time of a request. The next request gets a later time. The time of a request that
    /// is rolled back has no effect otherwise.
    ///
    /// Requirements: TYP-16.
    pub fn set_last_timestamp(&mut self, tenant: i64, time: Timestamp) {
        self.of(tenant).last = Some(time);
    }

    /// Returns the last time of each tenant with a request in the transaction.
    pub fn clocks(&self) -> impl Iterator<Item = (i64, Timestamp)> {
        self.0
            .iter()
            .filter_map(|(tenant, of)| Some((*tenant, of.last?)))
    }

    /// Adds a number of records to a collection: all records of a kind, or those under a record. A
    /// negative number removes records. A request that is rolled back must not be counted.
    pub fn add_count(&mut self, tenant: i64, members: Kind, under: Option<(Kind, &Id)>, by: i64) {
        self.of(tenant).won.counts.add(members, under, by);
    }

    /// Returns the unwritten counts of a tenant, which the rules need.
    pub fn pending(&mut self, tenant: i64) -> &PendingChanges {
        &self.of(tenant).won
    }

    /// Returns the count changes of each tenant, which the store adds to its totals, and resets
    /// them to zero.
    pub fn take_counts(&mut self) -> impl Iterator<Item = (i64, CollectionId, i64)> {
        let counts = self
            .0
            .iter_mut()
            .map(|(tenant, of)| (*tenant, of.won.counts.take()));
        counts.flat_map(|(tenant, won)| won.map(move |(collection, won)| (tenant, collection, won)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The count changes of each tenant are returned once. Changes that sum to zero are omitted.
    ///
    /// Requirements: COL-23.
    #[test]
    fn tenants_are_counted_apart() {
        let (mut tally, id) = (TenantDeltas::default(), Id::new("p").unwrap());
        let petition = Some((Kind::Petition, &id));
        for (tenant, under, by) in [
            (2, None, 1),
            (1, petition, 1),
            (1, None, 1),
            (1, petition, -1),
            (1, None, 1),
        ] {
            tally.add_count(tenant, Kind::Signature, under, by);
        }
        assert_eq!(tally.pending(1).counts.delta(Kind::Signature, None), 2);
        assert_eq!(tally.pending(1).counts.delta(Kind::Signature, petition), 0);
        let all = CollectionId::new(Kind::Signature, None);
        assert_eq!(
            tally.take_counts().collect::<Vec<_>>(),
            [(1, all.clone(), 2), (2, all, 1)]
        );
        assert!(tally.pending(1).counts.is_empty() && tally.take_counts().next().is_none());
    }

    /// Each tenant has its own clock.
    ///
    /// Requirements: TYP-16.
    #[test]
    fn tenants_have_clocks_of_their_own() {
        let mut tally = TenantDeltas::default();
        tally.add_count(1, Kind::Tag, None, 1);
        tally.set_last_timestamp(2, Timestamp::from_micros(7));
        assert_eq!(
            [tally.last_timestamp(1), tally.last_timestamp(2)],
            [None, Some(Timestamp::from_micros(7))]
        );
        assert_eq!(
            tally.clocks().collect::<Vec<_>>(),
            [(2, Timestamp::from_micros(7))]
        );
    }
}
