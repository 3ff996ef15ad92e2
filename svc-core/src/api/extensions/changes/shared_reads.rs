//! Requests that wait for the same changes share one read of the feed.
//!
//! One of them, the leader, subscribes and reads; the others wait for its result. If the leader is
//! dropped before it has a result, another request becomes the leader. It starts with a read, so
//! that nothing is missed. A woken request must be polled or dropped, as async runtimes do, because
//! others wait for it.
//!
//! The result wakes only [a few](WOKEN_TOGETHER) requests, and each of them wakes another one when
//! it has taken the result. If hundreds of requests of one tenant were woken together, they would
//! delay every other task of the runtime.
//!
//! Requirements: SYN-11.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use crate::{
    backend::{FeedRequest, FeedResponse},
    context::Tenant,
};

/// The maximum number of requests of a group that are woken but have not taken the result yet.
const WOKEN_TOGETHER: usize = 16;

/// The key of a group: what its requests wait for.
type GroupKey = (Tenant, FeedRequest);

/// The groups of waiting requests.
#[derive(Clone, Default)]
pub(super) struct SharedReads(Arc<Mutex<HashMap<GroupKey, Arc<Mutex<Group>>>>>);

#[derive(Default)]
struct Group {
    members: usize,
    has_leader: bool,
    result: Option<ReadResult>,
    last_number: u64,
    wakers: BTreeMap<u64, Waker>,
}

/// A waiting request.
pub(super) struct Member {
    reads: SharedReads,
    key: GroupKey,
    group: Arc<Mutex<Group>>,
    number: u64,
    is_leader: bool,
}

/// The result of the leader.
#[derive(Debug, Clone)]
pub(super) enum ReadResult {
    Read(FeedResponse),
    /// The leader failed. The others read themselves.
    Failed,
}

/// The next step of a waiting request.
pub(super) enum Step {
    /// It is the leader: it reads and [publishes](Member::publish) the result.
    Read,
    /// It takes the result of the leader.
    Take(ReadResult),
}

/// Nothing panics while it holds a lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedReads {
    /// Joins the requests of a tenant that wait for the same entries.
    pub(super) fn join(&self, tenant: &Tenant, request: &FeedRequest) -> Member {
        let key = (tenant.clone(), request.clone());
        let mut groups = lock(&self.0);
        let group = Arc::clone(groups.entry(key.clone()).or_default());
        let mut state = lock(&group);
        state.members = state.members.saturating_add(1);
        state.last_number = state.last_number.wrapping_add(1);
        let number = state.last_number;
        drop(state);
        Member {
            reads: self.clone(),
            key,
            group,
            number,
            is_leader: false,
        }
    }
}

impl Member {
    /// Waits for the result of the leader, or until this request is the leader.
    pub(super) fn poll_step(&mut self, cx: &Context<'_>) -> Poll<Step> {
        let mut group = lock(&self.group);
        if let Some(result) = &group.result {
            return Poll::Ready(Step::Take(result.clone()));
        }
        if !group.has_leader {
            group.has_leader = true;
            self.is_leader = true;
            return Poll::Ready(Step::Read);
        }
        group.wakers.insert(self.number, cx.waker().clone());
        Poll::Pending
    }

    /// Publishes the result to the others. Later requests form a new group.
    pub(super) fn publish(self, result: ReadResult) {
        self.close(&mut lock(&self.reads.0));
        let mut group = lock(&self.group);
        group.result = Some(result);
        let woken: Vec<_> = (0..WOKEN_TOGETHER)
            .map_while(|_| group.wakers.pop_first())
            .collect();
        drop(group);
        for (_, waker) in woken {
            waker.wake();
        }
    }

    /// Removes the group, so that no request can join it.
    fn close(&self, groups: &mut HashMap<GroupKey, Arc<Mutex<Group>>>) {
        if groups
            .get(&self.key)
            .is_some_and(|group| Arc::ptr_eq(group, &self.group))
        {
            groups.remove(&self.key);
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut groups = lock(&self.reads.0);
        let mut group = lock(&self.group);
        group.members = group.members.saturating_sub(1);
        group.wakers.remove(&self.number);
        group.has_leader &= !self.is_leader;
        // A woken request may be gone by then; it wakes the next one.
        let wakes_next = !group.has_leader || group.result.is_some();
        let next = if wakes_next {
            group.wakers.pop_first()
        } else {
            None
        };
        if group.members == 0 {
            self.close(&mut groups);
        }
        drop((group, groups));
        if let Some((_, waker)) = next {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        task::Wake,
    };

    use super::*;

    fn request(after: &str) -> FeedRequest {
        FeedRequest::new(Some(after.to_owned()), Vec::new(), 1)
    }

    fn poll(member: &mut Member) -> Poll<Step> {
        member.poll_step(&Context::from_waker(Waker::noop()))
    }

    /// SYN-11: one request reads for all that wait for the same entries, and no group remains.
    #[test]
    fn syn_11_one_reads_for_all() {
        let (reads, tenant) = (SharedReads::default(), Tenant::new("one"));
        let join = |after: &str| reads.join(&tenant, &request(after));
        let (mut leader, mut other, mut elsewhere) = (join("a"), join("a"), join("b"));
        assert!(matches!(poll(&mut leader), Poll::Ready(Step::Read)));
        assert!(poll(&mut other).is_pending());
        assert!(matches!(poll(&mut elsewhere), Poll::Ready(Step::Read)));
        leader.publish(ReadResult::Read(FeedResponse::ExpiredCursor));
        let mut late = join("a");
        assert!(matches!(
            poll(&mut other),
            Poll::Ready(Step::Take(ReadResult::Read(FeedResponse::ExpiredCursor)))
        ));
        assert!(matches!(poll(&mut late), Poll::Ready(Step::Read)));
        drop((other, elsewhere, late));
        assert!(lock(&reads.0).is_empty());
    }

    /// SYN-11: if the leader is dropped, the next request is woken and leads; if that one is
    /// dropped first, the one after it.
    #[test]
    fn syn_11_another_leads_when_the_leader_goes_away() {
        let (reads, tenant) = (SharedReads::default(), Tenant::new("one"));
        let (count, join) = (Arc::new(Count::default()), || {
            reads.join(&tenant, &request("a"))
        });
        let waker = Waker::from(Arc::clone(&count));
        let (mut leader, mut second, mut third) = (join(), join(), join());
        assert!(matches!(poll(&mut leader), Poll::Ready(Step::Read)));
        assert!(poll(&mut second).is_pending());
        assert!(third.poll_step(&Context::from_waker(&waker)).is_pending());
        drop(leader);
        assert_eq!(count.0.load(Ordering::Relaxed), 0);
        drop(second);
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        assert!(matches!(poll(&mut third), Poll::Ready(Step::Read)));
        drop(third);
        assert!(lock(&reads.0).is_empty());
    }

    /// SYN-11: a result wakes a few requests, and each of them wakes another one after it took the
    /// result.
    #[test]
    fn syn_11_a_result_does_not_wake_all_requests_together() {
        let (reads, tenant) = (SharedReads::default(), Tenant::new("one"));
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let woken = || count.0.load(Ordering::Relaxed);
        let mut leader = reads.join(&tenant, &request("a"));
        assert!(matches!(poll(&mut leader), Poll::Ready(Step::Read)));
        let mut others: Vec<_> = (0..50)
            .map(|_| reads.join(&tenant, &request("a")))
            .collect();
        assert!(
            others
                .iter_mut()
                .all(|other| other.poll_step(&Context::from_waker(&waker)).is_pending())
        );
        leader.publish(ReadResult::Read(FeedResponse::ExpiredCursor));
        // The leader has taken the result.
        let begun = woken();
        assert_eq!(begun, WOKEN_TOGETHER + 1);
        for (done, mut other) in others.drain(..).enumerate() {
            assert_eq!(woken(), 50.min(begun + done));
            assert!(matches!(poll(&mut other), Poll::Ready(Step::Take(_))));
        }
        assert_eq!(woken(), 50);
    }

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}
