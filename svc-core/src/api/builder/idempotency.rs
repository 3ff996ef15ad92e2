//! Registers that calls may come again, and that many of them may come in one request.

use std::sync::Arc;

use super::ApiBuilder;
use crate::{api::KeptBy, ops::Idempotency};

impl ApiBuilder {
    /// Keeps the answers of creates and helper calls that come with `Idempotency-Key`, and declares
    /// it (IDM): who sends such a request again gets the same answer, and nothing is done twice.
    ///
    /// For operations of a vendor's own; a [`Store`](crate::store::Store) keeps answers itself, and
    /// [`store`](Self::store) declares that.
    #[must_use]
    pub fn idempotency<T: Idempotency + 'static>(mut self, answers: &Arc<T>) -> Self {
        self.settings.idempotency = Some(KeptBy::Vendor(Arc::<T>::clone(answers)));
        self
    }

    /// Takes many calls of a record helper in one request, and declares it (BAT-01): at the
    /// helper's address with `/batch` behind it, each entry is answered as the single call would
    /// be, in order.
    ///
    /// Every backend can be served so. A [`Store`](crate::store::Store) is given many entries at
    /// once, which share its transactions; operations of a vendor's own are asked for one entry
    /// after the other.
    #[must_use]
    pub fn batches(mut self) -> Self {
        self.settings.batches = true;
        self
    }
}
