//! The open connections, their number for each peer address, and the choice of an idle one to close
//! for a new one.
//!
//! Requirements: UND-44.

use std::{
    collections::{BTreeMap, HashMap},
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

use super::{limits::ServerLimits, monitor::ConnectionMonitor};

/// All open connections of a server.
#[derive(Debug)]
pub(super) struct ConnectionSlots {
    limits: ServerLimits,
    /// Addresses without a limit, in canonical form.
    trusted_proxies: Vec<IpAddr>,
    state: Mutex<OpenConnections>,
    /// Notified when a connection has ended or become idle.
    changed: Arc<Notify>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    next_id: u64,
    open: BTreeMap<u64, Open>,
    /// Number of connections of each network that has any.
    counts: HashMap<IpAddr, u32>,
}

#[derive(Debug)]
struct Open {
    /// `None` for trusted proxies.
    network: Option<IpAddr>,
    watch: Arc<ConnectionMonitor>,
}

/// The decision about a new connection.
#[derive(Debug)]
pub(super) enum Admission {
    Admitted(Arc<ConnectionMonitor>, ConnectionSlot),
    /// All connections are in use; one of them must end or become idle first.
    Full,
    /// Its peer address has the maximum number of connections, and all of them are in use.
    Refused,
}

/// The slot of one connection, until it is dropped.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    slots: Arc<ConnectionSlots>,
    id: u64,
}

impl ConnectionSlots {
    pub(super) fn new(limits: ServerLimits, trusted_proxies: Vec<IpAddr>) -> Arc<Self> {
        Arc::new(Self {
            limits,
            trusted_proxies,
            state: Mutex::default(),
            changed: Arc::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, OpenConnections> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Assigns a slot to a new connection of this peer, if necessary that of the connection that
    /// has been idle longest.
    pub(super) fn admit(self: &Arc<Self>, peer: IpAddr) -> Admission {
        let peer = peer.to_canonical();
        let network = (!self.trusted_proxies.contains(&peer)).then(|| network(peer));
        let mut state = self.state();
        let count = network
            .and_then(|network| state.counts.get(&network))
            .copied()
            .unwrap_or_default();
        if count >= self.limits.address_slots() && !state.close_longest_idle(network) {
            return Admission::Refused;
        }
        if state.open.len() >= self.limits.slots() && !state.close_longest_idle(None) {
            return Admission::Full;
        }
        let id = state.next_id;
        state.next_id = id.wrapping_add(1);
        if let Some(network) = network {
            let count = state.counts.entry(network).or_default();
            *count = count.saturating_add(1);
        }
        let watch = ConnectionMonitor::new(self.limits, Arc::clone(&self.changed));
        state.open.insert(
            id,
            Open {
                network,
                watch: Arc::clone(&watch),
            },
        );
        Admission::Admitted(
            watch,
            ConnectionSlot {
                slots: Arc::clone(self),
                id,
            },
        )
    }

    /// Waits until a connection has ended or become idle since the last wait.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl OpenConnections {
    /// Closes the connection that has been idle longest, of one network or of all. It is no longer
    /// counted. Returns whether there was one.
    fn close_longest_idle(&mut self, network: Option<IpAddr>) -> bool {
        loop {
            let open = self
                .open
                .iter()
                .filter(|(_, open)| network.is_none() || open.network == network);
            let idle = open.filter_map(|(id, open)| Some((open.watch.idle_since()?, *id)));
            let Some((_, id)) = idle.min() else {
                return false;
            };
            // It may have received a request in between.
            if self
                .open
                .get(&id)
                .is_some_and(|open| open.watch.close_if_idle())
            {
                self.remove(id);
                return true;
            }
        }
    }

    fn remove(&mut self, id: u64) {
        let Some(network) = self.open.remove(&id).and_then(|open| open.network) else {
            return;
        };
        let left = self
            .counts
            .get(&network)
            .copied()
            .unwrap_or_default()
            .saturating_sub(1);
        match left {
            0 => self.counts.remove(&network),
            _ => self.counts.insert(network, left),
        };
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.slots.state().remove(self.id);
        self.slots.changed.notify_one();
    }
}

/// Returns what counts as one peer address: an IPv4 address, or the first 64 bits of an IPv6
/// address, which belong to one subscriber.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(trusted: &[&str]) -> Arc<ConnectionSlots> {
        let trusted = trusted
            .iter()
            .map(|address| address.parse().unwrap())
            .collect();
        ConnectionSlots::new(
            ServerLimits::default()
                .max_connections(5)
                .connections_per_address(2),
            trusted,
        )
    }

    /// Returns the decisions about connections of these peers, all of which stay in use.
    fn admitted(slots: &Arc<ConnectionSlots>, peers: &[&str]) -> (String, Vec<ConnectionSlot>) {
        let mut held = Vec::new();
        let letter = |peer: &&str| match slots.admit(peer.parse().unwrap()) {
            Admission::Admitted(_, slot) => {
                held.push(slot);
                'A'
            }
            Admission::Full => 'F',
            Admission::Refused => 'R',
        };
        let letters = peers.iter().map(letter).collect();
        (letters, held)
    }

    #[test]
    fn und_44_addresses_have_limits_of_their_own() {
        let slots = slots(&["10.0.0.9"]);
        let (letters, held) = admitted(
            &slots,
            &["10.0.0.1", "::ffff:10.0.0.1", "10.0.0.1", "10.0.0.2"],
        );
        assert_eq!(letters, "AARA");
        drop(held);
        assert_eq!(
            admitted(&slots, &["10.0.0.1", "10.0.0.1"]).0,
            "AA",
            "ended connections are not counted"
        );
        assert!(slots.state().counts.is_empty() && slots.state().open.is_empty());
        assert_eq!(
            admitted(&slots, &["::ffff:10.0.0.9"; 6]).0,
            "AAAAAF",
            "a trusted proxy"
        );
        let same = [
            "2001:db8:0:1::1",
            "2001:db8:0:1:ffff::2",
            "2001:db8:0:1::3",
            "2001:db8:0:2::1",
        ];
        assert_eq!(admitted(&slots, &same).0, "AARA", "IPv6 counts by /64");
    }
}
