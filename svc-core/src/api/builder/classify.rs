//! Takes what a vendor's errors mean.

use std::{error::Error as StdError, sync::Arc};

use super::ApiBuilder;
use crate::{api::classify::ErrorMapper, error::Error};

impl ApiBuilder {
    /// What errors of the vendor mean, in one place: operations, authenticator and transactions may
    /// then use `?` on everything that fails. It sees the cause of each
    /// [unexpected](crate::ErrorKind::Unexpected) error, most often that of a database driver, and
    /// says what it is, or `None` where it is unexpected after all: 500. The cause stays in the
    /// log, whatever is said of it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use svc_core::{ErrorCode, Error, Problem, api::{Api, Vendor}};
    ///
    /// # #[derive(Debug, thiserror::Error)] #[error("a database error")] struct DbError(&'static str);
    /// # impl DbError { fn code(&self) -> &str { self.0 } }
    /// let api = Api::builder(Vendor::new("Acme", "Acme CRM")).map_errors(|error| {
    ///     Some(match error.downcast_ref::<DbError>()?.code() {
    ///         // The database is away: 503 with `Retry-After` (UND-36).
    ///         "08006" | "57P03" => Error::unavailable(Duration::from_secs(2)),
    ///         // A deadlock, or two transactions that cannot both be: the call runs again.
    ///         "40001" | "40P01" => Error::rolled_back(),
    ///         "23505" => Error::invalid(Problem::new(ErrorCode::NameInUse, "name", ErrorCode::NameInUse.meaning())),
    ///         _ => return None,
    ///     })
    /// });
    /// # drop(api);
    /// ```
    ///
    /// Requirements: ERR-05.
    #[must_use]
    pub fn map_errors(
        mut self,
        meaning: impl Fn(&(dyn StdError + 'static)) -> Option<Error> + Send + Sync + 'static,
    ) -> Self {
        self.settings.classify = ErrorMapper(Some(Arc::new(meaning)));
        self
    }
}
