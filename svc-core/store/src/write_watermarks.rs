//! The last writes of this process, which a replica must contain before it can serve clients that
//! expect to see them.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

/// The number of each tenant's last write that this process knows.
#[derive(Debug, Default)]
pub struct WriteWatermarks(Mutex<HashMap<i64, i64>>);

impl WriteWatermarks {
    /// Stores the number that the tenant's data has after a write or a read.
    pub fn advance(&self, tenant: i64, number: i64) {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = written.entry(tenant).or_default();
        *last = number.max(*last);
    }

    /// Returns whether data with this number contains all known writes. `None` contains no writes.
    #[must_use]
    pub fn is_caught_up(&self, tenant: i64, number: Option<i64>) -> bool {
        let written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        number.is_some_and(|number| written.get(&tenant).is_none_or(|last| number >= *last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_written_does_not_see_less() {
        let written = WriteWatermarks::default();
        assert!(written.is_caught_up(1, Some(0)) && !written.is_caught_up(1, None));
        written.advance(1, 7);
        written.advance(1, 5);
        assert!(
            !written.is_caught_up(1, Some(6))
                && written.is_caught_up(1, Some(7))
                && written.is_caught_up(1, Some(8))
        );
        assert!(
            written.is_caught_up(2, Some(0)),
            "another tenant has no writes"
        );
    }
}
