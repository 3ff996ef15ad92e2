//! Registers that many calls may come in one request.

use super::ApiBuilder;

impl ApiBuilder {
    /// Takes many calls of a record helper in one request, and declares it (BAT-01): at the helper's address with `/batch`
    /// behind it, each entry is answered as the single call would be, in order.
    ///
    /// Every backend can be served so. A [`Store`](crate::store::Store) is given many entries at once, which share its
    /// transactions; operations of a vendor's own are asked for one entry after the other.
    #[must_use]
    pub fn batches(mut self) -> Self {
        self.settings.batches = true;
        self
    }
}
