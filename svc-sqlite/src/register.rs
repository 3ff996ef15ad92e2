//! What this store offers: every kind and every helper, with exactly the operations that it supports (CAP-04, UND-12,
//! UND-13, UND-38).

use std::sync::Arc;

use svc_core::api::ApiBuilder;

use crate::store::Store;

impl Store {
    /// Registers all 21 kinds and all eight helpers, which run natively in one transaction each; full events and ticket
    /// levels are declared as enforced (LIM-04, LIM-05), and the store's own matching method is published (HLP-05).
    ///
    /// ```no_run
    /// use svc_core::api::{Api, Vendor};
    /// let store = svc_sqlite::Store::open(svc_sqlite::Options::new("people.db"))?;
    /// let api = store
    ///     .register_all(Api::builder(Vendor::new("Acme", "Acme CRM")))
    ///     .authenticator(store.clone())
    ///     .anonymous_helpers(store.clone())
    ///     .build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn register_all(&self, api: ApiBuilder) -> ApiBuilder {
        api.store(&Arc::new(self.clone()))
    }
}
