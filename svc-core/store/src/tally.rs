//! What the calls of a transaction come to beside the records themselves: a store may keep it in
//! memory, and write it once.

use std::collections::BTreeMap;

use svc_core::store::{CollectionId, PendingChanges};
use svc_core::{
    model::Kind,
    value::{Id, Timestamp},
};

/// The clocks of tenants, and how many records their collections have won, within one transaction.
#[derive(Debug, Default)]
pub struct TenantDeltas(BTreeMap<i64, TenantDelta>);

#[derive(Debug, Default)]
struct TenantDelta {
    /// The moment of the last turn that changed something.
    last: Option<Timestamp>,
    /// Nothing but counts.
    won: PendingChanges,
}

impl TenantDeltas {
    fn of(&mut self, tenant: i64) -> &mut TenantDelta {
        self.0.entry(tenant).or_default()
    }

    /// The moment of the tenant's last turn that changed something; `None` where the transaction
    /// has none.
    #[must_use]
    pub fn last(&self, tenant: i64) -> Option<Timestamp> {
        self.0.get(&tenant).and_then(|of| of.last)
    }

    /// Notes the moment of a turn: the next one is later. A moment of a turn that is undone does no
    /// harm.
    ///
    /// Requirements: TYP-16.
    pub fn set_last(&mut self, tenant: i64, time: Timestamp) {
        self.of(tenant).last = Some(time);
    }

    /// The last moment of each tenant that had a turn.
    pub fn clocks(&self) -> impl Iterator<Item = (i64, Timestamp)> {
        self.0
            .iter()
            .filter_map(|(tenant, of)| Some((*tenant, of.last?)))
    }

    /// Records of a kind come into the collection of all, or that under a record; with a number
    /// below 0 they leave it. A call that is undone must not have counted anything.
    pub fn count(&mut self, tenant: i64, members: Kind, under: Option<(Kind, &Id)>, by: i64) {
        self.of(tenant).won.counts.add(members, under, by);
    }

    /// What the rulebook must know of a tenant while its counts are not written.
    pub fn won(&mut self, tenant: i64) -> &PendingChanges {
        &self.of(tenant).won
    }

    /// Hands over what the collections of each tenant have won, to be added to their totals, and
    /// begins anew.
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

    /// COL-23: what the collections of each tenant win is handed over once, and what they lost
    /// again not at all.
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
            tally.count(tenant, Kind::Signature, under, by);
        }
        assert_eq!(tally.won(1).counts.won(Kind::Signature, None), 2);
        assert_eq!(tally.won(1).counts.won(Kind::Signature, petition), 0);
        let all = (Kind::Signature, None);
        assert_eq!(
            tally.take_counts().collect::<Vec<_>>(),
            [(1, all.clone(), 2), (2, all, 1)]
        );
        assert!(tally.won(1).counts.is_empty() && tally.take_counts().next().is_none());
    }

    /// TYP-16: a tenant has its own clock.
    #[test]
    fn tenants_have_clocks_of_their_own() {
        let mut tally = TenantDeltas::default();
        tally.count(1, Kind::Tag, None, 1);
        tally.set_last(2, Timestamp::from_micros(7));
        assert_eq!(
            [tally.last(1), tally.last(2)],
            [None, Some(Timestamp::from_micros(7))]
        );
        assert_eq!(
            tally.clocks().collect::<Vec<_>>(),
            [(2, Timestamp::from_micros(7))]
        );
    }
}
