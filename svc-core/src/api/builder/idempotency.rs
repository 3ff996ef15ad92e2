//! Registers that calls may come again.

use std::sync::Arc;

use super::ApiBuilder;
use crate::{api::KeptBy, ops::Idempotency};

impl ApiBuilder {
    /// Keeps the answers of creates and helper calls that come with `Idempotency-Key`, and declares it (IDM): who sends such a
    /// request again gets the same answer, and nothing is done twice.
    ///
    /// For operations of a vendor's own; a [`Store`](crate::store::Store) keeps answers itself, and [`store`](Self::store) declares
    /// that.
    #[must_use]
    pub fn idempotency<T: Idempotency + 'static>(mut self, answers: &Arc<T>) -> Self {
        self.settings.idempotency = Some(KeptBy::Vendor(Arc::<T>::clone(answers)));
        self
    }
}
