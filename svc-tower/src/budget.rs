//! Memory for request bodies that are not complete yet: one budget for all requests of a service.
//!
//! Requirements: UND-43.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Instant,
};

use bytes::Bytes;

/// Limits the memory that all incomplete request bodies use together.
///
/// The memory of a body counts from the time when its first bytes have arrived until the body is
/// complete, fails or is cut. An announced `Content-Length` reserves nothing. A body that arrives
/// in one piece is never counted.
///
/// When the budget is used up, the server cuts bodies until the received bytes fit. It cuts the
/// slowest of the bodies that use at least the average. Their memory is freed immediately, and the
/// response is 503 `UNAVAILABLE` with `Retry-After`. A body that uses less than the average is
/// never cut, whatever other clients do.
///
/// Clones share one budget, and several services can share one. A program can read the
/// [`usage`](Self::usage) from its clone.
///
/// Requirements: UND-43.
#[derive(Clone)]
pub struct BodyBudget(Arc<Shared>);

/// Memory that incomplete bodies use, and the number of cut bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BodyBudgetUsage {
    /// Maximum number of bytes of all incomplete bodies together.
    pub limit: usize,
    /// Bytes that incomplete bodies use now.
    pub held: usize,
    /// Number of bodies that were cut since the budget was created.
    pub cut: u64,
}

struct Shared {
    limit: usize,
    state: Mutex<BudgetState>,
}

#[derive(Default)]
struct BudgetState {
    held: usize,
    cut: u64,
    next_id: u64,
    bodies: BTreeMap<u64, Holder>,
}

/// Size of the segments in which memory is reserved, in bytes.
const SEGMENT: usize = 16 * 1024;

/// One incomplete body.
struct Holder {
    bytes: usize,
    since: Instant,
    buffer: Arc<Buffer>,
}

/// The received bytes of a body; `None` once the body is cut.
type Buffer = Mutex<Option<Arrived>>;

/// Segments of one size leave no gaps in memory when bodies are cut, unlike growing buffers.
#[derive(Default)]
struct Arrived {
    segments: Vec<Vec<u8>>,
    length: usize,
    waker: Option<Waker>,
}

/// Error: the budget was used up and this body was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut;

impl BodyBudget {
    /// Creates a budget of this many bytes. No body can be larger than the budget.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(Shared {
            limit: bytes,
            state: Mutex::default(),
        }))
    }

    /// Returns the memory that incomplete bodies use now, and the number of cut bodies.
    #[must_use]
    pub fn usage(&self) -> BodyBudgetUsage {
        let state = self.state();
        BodyBudgetUsage {
            limit: self.0.limit,
            held: state.held,
            cut: state.cut,
        }
    }

    pub(crate) fn limit(&self) -> usize {
        self.0.limit
    }

    fn state(&self) -> MutexGuard<'_, BudgetState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn register(&self, buffer: Arc<Buffer>) -> u64 {
        let mut state = self.state();
        let id = state.next_id;
        state.next_id = id.wrapping_add(1);
        state.bodies.insert(
            id,
            Holder {
                bytes: 0,
                since: Instant::now(),
                buffer,
            },
        );
        id
    }

    /// Counts more bytes of a body, and cuts bodies until the received bytes fit.
    fn charge(&self, id: u64, more: usize, now: Instant) -> Result<(), Cut> {
        let mut cut = Vec::new();
        let result = self.state().charge(id, more, self.0.limit, now, &mut cut);
        // The lock is released before memory is freed and tasks are woken, which can take longer.
        for holder in cut {
            let arrived = lock(&holder.buffer).take();
            if let Some(waker) = arrived.and_then(|arrived| arrived.waker) {
                waker.wake();
            }
        }
        result
    }
}

impl BudgetState {
    fn charge(
        &mut self,
        id: u64,
        more: usize,
        limit: usize,
        now: Instant,
        cut: &mut Vec<Holder>,
    ) -> Result<(), Cut> {
        while self.bodies.contains_key(&id) && self.held.saturating_add(more) > limit {
            let victim = self.slowest(now).unwrap_or(id);
            cut.extend(self.remove(victim));
            self.cut = self.cut.saturating_add(1);
        }
        let holder = self.bodies.get_mut(&id).ok_or(Cut)?;
        holder.bytes = holder.bytes.saturating_add(more);
        self.held = self.held.saturating_add(more);
        Ok(())
    }

    /// Returns the slowest body of those that use at least the average; of equally slow bodies, the
    /// newest.
    fn slowest(&self, now: Instant) -> Option<u64> {
        let is_average =
            |holder: &Holder| holder.bytes.saturating_mul(self.bodies.len()) >= self.held;
        let time_per_byte = |holder: &Holder| {
            let picoseconds = now
                .saturating_duration_since(holder.since)
                .as_nanos()
                .saturating_mul(1000);
            picoseconds.checked_div(u128::try_from(holder.bytes).unwrap_or(u128::MAX))
        };
        let candidates = self.bodies.iter().filter(|(_, holder)| is_average(holder));
        candidates
            .max_by_key(|(_, holder)| time_per_byte(holder))
            .map(|(id, _)| *id)
    }

    fn remove(&mut self, id: u64) -> Option<Holder> {
        let holder = self.bodies.remove(&id)?;
        self.held = self.held.saturating_sub(holder.bytes);
        Some(holder)
    }
}

impl Arrived {
    /// Returns the number of bytes that fit into the reserved memory.
    fn room(&self) -> usize {
        self.segments
            .last()
            .map_or(0, |last| last.capacity().saturating_sub(last.len()))
    }

    fn push(&mut self, data: &[u8]) {
        if let Some(last) = self.segments.last_mut() {
            last.extend_from_slice(data);
            self.length = self.length.saturating_add(data.len());
        }
    }

    fn into_bytes(mut self) -> Bytes {
        if self.segments.len() <= 1 {
            return self.segments.pop().unwrap_or_default().into();
        }
        let mut all = Vec::with_capacity(self.length);
        for segment in self.segments {
            all.extend_from_slice(&segment);
        }
        all.into()
    }
}

/// The bytes of one incomplete body. Dropping it returns its share to the budget.
pub(crate) struct PartialBody {
    budget: BodyBudget,
    id: u64,
    buffer: Arc<Buffer>,
    /// The maximum size that the complete body is expected to have.
    expected: usize,
    reserved: usize,
}

impl PartialBody {
    pub(crate) fn new(budget: BodyBudget, expected: usize) -> Self {
        let buffer = Arc::new(Mutex::new(Some(Arrived::default())));
        let id = budget.register(Arc::clone(&buffer));
        Self {
            budget,
            id,
            buffer,
            expected,
            reserved: 0,
        }
    }

    /// Adds received bytes.
    pub(crate) fn extend(&mut self, mut data: &[u8]) -> Result<(), Cut> {
        while !data.is_empty() {
            let room = self.arrived(|arrived| arrived.room())?;
            if room == 0 {
                self.reserve(data.len())?;
            } else if let Some((now, later)) = data.split_at_checked(room.min(data.len())) {
                self.arrived(|arrived| arrived.push(now))?;
                data = later;
            }
        }
        Ok(())
    }

    /// Reserves memory for one more segment. The reserved memory is never more than one segment
    /// larger than the received bytes.
    fn reserve(&mut self, needed: usize) -> Result<(), Cut> {
        let size = match self.expected.saturating_sub(self.reserved) {
            0 => needed.min(SEGMENT),
            more => more.min(SEGMENT),
        };
        self.budget.charge(self.id, size, Instant::now())?;
        self.reserved = self.reserved.saturating_add(size);
        self.arrived(|arrived| arrived.segments.push(Vec::with_capacity(size)))
    }

    fn arrived<T>(&self, change: impl FnOnce(&mut Arrived) -> T) -> Result<T, Cut> {
        lock(&self.buffer).as_mut().map(change).ok_or(Cut)
    }

    /// Returns the number of received bytes.
    pub(crate) fn len(&self) -> usize {
        self.arrived(|arrived| arrived.length).unwrap_or_default()
    }

    /// Is ready once the body is cut.
    pub(crate) fn poll_cut(&self, cx: &Context<'_>) -> Poll<Cut> {
        match self.arrived(|arrived| arrived.waker = Some(cx.waker().clone())) {
            Ok(()) => Poll::Pending,
            Err(cut) => Poll::Ready(cut),
        }
    }

    /// Returns the complete body.
    pub(crate) fn finish(self) -> Result<Bytes, Cut> {
        lock(&self.buffer)
            .take()
            .map(Arrived::into_bytes)
            .ok_or(Cut)
    }
}

impl Drop for PartialBody {
    fn drop(&mut self) {
        self.budget.state().remove(self.id);
    }
}

fn lock(buffer: &Buffer) -> MutexGuard<'_, Option<Arrived>> {
    buffer.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for BodyBudget {
    /// Returns a budget of 64 MiB.
    fn default() -> Self {
        Self::new(64 * 1024 * 1024)
    }
}

impl fmt::Debug for BodyBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BodyBudget").field(&self.usage()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    /// Returns a budget of 100 bytes, bodies with these numbers of bytes, and the instant at which
    /// all of them started.
    fn bodies(bytes: &[usize]) -> (BodyBudget, Vec<PartialBody>, Instant) {
        let budget = BodyBudget::new(100);
        let bodies: Vec<_> = bytes
            .iter()
            .map(|_| PartialBody::new(budget.clone(), 100))
            .collect();
        let now = Instant::now();
        for (body, bytes) in bodies.iter().zip(bytes) {
            since(body, now);
            assert_eq!(budget.charge(body.id, *bytes, now), Ok(()));
        }
        (budget, bodies, now)
    }

    fn since(body: &PartialBody, instant: Instant) {
        body.budget.state().bodies.get_mut(&body.id).unwrap().since = instant;
    }

    fn is_cut(body: &PartialBody) -> bool {
        body.poll_cut(&Context::from_waker(Waker::noop()))
            .is_ready()
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn und_43_the_slowest_large_body_is_cut() {
        let (budget, bodies, now) = bodies(&[40, 30, 26, 4]);
        since(&bodies[2], now + SECOND);
        assert_eq!(budget.charge(bodies[3].id, 10, now + 2 * SECOND), Ok(()));
        assert_eq!(
            bodies.iter().map(is_cut).collect::<Vec<_>>(),
            [false, true, false, false],
            "30 bytes in 2 seconds"
        );
        assert_eq!(
            budget.usage(),
            BodyBudgetUsage {
                limit: 100,
                held: 80,
                cut: 1
            }
        );
    }

    #[test]
    fn und_43_a_small_body_is_not_cut_however_slow() {
        let (budget, bodies, now) = bodies(&[1, 50, 49, 0]);
        since(&bodies[1], now + SECOND);
        since(&bodies[2], now + SECOND);
        assert_eq!(budget.charge(bodies[3].id, 60, now + 2 * SECOND), Ok(()));
        assert_eq!(
            bodies.iter().map(is_cut).collect::<Vec<_>>(),
            [false, true, true, false]
        );
        assert_eq!(budget.usage().held, 61);
    }

    #[test]
    fn und_43_a_body_that_is_itself_the_slowest_is_cut() {
        let (budget, mut bodies, now) = bodies(&[60, 40]);
        since(&bodies[1], now + SECOND);
        assert_eq!(budget.charge(bodies[0].id, 1, now + 2 * SECOND), Err(Cut));
        assert_eq!(
            (bodies[0].extend(b"1"), is_cut(&bodies[1])),
            (Err(Cut), false)
        );
        assert_eq!(budget.usage().cut, 1);
    }

    #[test]
    fn und_43_what_is_announced_is_not_reserved() {
        let (part, whole) = (vec![b'x'; SEGMENT], 3 * SEGMENT + 1);
        let budget = BodyBudget::new(whole);
        let mut body = PartialBody::new(budget.clone(), whole);
        assert_eq!(budget.usage().held, 0);
        for arrived in 1..=3 {
            assert_eq!(body.extend(&part), Ok(()));
            assert_eq!(budget.usage().held, arrived * SEGMENT);
        }
        assert_eq!(body.extend(b"y"), Ok(()));
        assert_eq!(
            (budget.usage().held, body.len()),
            (whole, whole),
            "no more than the body is expected to have"
        );
        let complete = body.finish().unwrap();
        assert!(complete.len() == whole && complete.ends_with(b"xxy"));
        assert_eq!(
            budget.usage(),
            BodyBudgetUsage {
                limit: whole,
                held: 0,
                cut: 0
            }
        );
    }

    #[test]
    fn und_43_a_body_longer_than_announced_is_counted() {
        let budget = BodyBudget::new(100);
        let mut body = PartialBody::new(budget.clone(), 2);
        assert_eq!((body.extend(b"12"), body.extend(b"345")), (Ok(()), Ok(())));
        assert_eq!(
            (budget.usage().held, body.finish().as_deref()),
            (5, Ok(&b"12345"[..]))
        );
    }

    proptest! {
        #![proptest_config(crate::testing::config())]

        /// UND-43: in any order of arrival, the budget holds, and it counts exactly the bytes that
        /// are present.
        #[test]
        fn und_43_the_budget_is_never_exceeded(steps in proptest::collection::vec((0..6_usize, 0..50_usize), 0..60)) {
            let budget = BodyBudget::new(100);
            let mut bodies: Vec<Option<PartialBody>> = (0..6).map(|_| None).collect();
            for (index, bytes) in steps {
                let slot = &mut bodies[index];
                let body = slot.get_or_insert_with(|| PartialBody::new(budget.clone(), 100));
                let has_room = bytes <= 100 - body.len();
                if bytes == 0 || !has_room || body.extend(&vec![0; bytes]).is_err() {
                    *slot = None;
                }
                let there: usize = bodies.iter().flatten().map(PartialBody::len).sum();
                let usage = budget.usage();
                prop_assert!(there <= usage.held && usage.held <= 100, "{there} {usage:?}");
            }
            drop(bodies);
            prop_assert_eq!(budget.usage().held, 0);
        }
    }
}
