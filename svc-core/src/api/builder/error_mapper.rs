//! Maps errors of the vendor.

use std::{error::Error as StdError, sync::Arc};

use super::ApiBuilder;
use crate::{api::classify::ErrorMapper, error::Error};

impl ApiBuilder {
    /// Sets the function that maps errors of the vendor.
    ///
    /// With it, operations, the authenticator and transactions can use `?` on everything that
    /// fails. The function gets the cause of each [unexpected](crate::ErrorKind::Unexpected) error,
    /// usually an error of a database driver. It returns the error that the cause means, or `None`
    /// if the error is unexpected (500). The log contains the cause in any case.
    ///
    /// ```
    /// use std::time::Duration;
    /// use svc_core::{ErrorCode, Error, Problem, api::{Api, Vendor}};
    ///
    /// # #[derive(Debug, thiserror::Error)] #[error("a database error")] struct DbError(&'static str);
    /// # impl DbError { fn code(&self) -> &str { self.0 } }
    /// let api = Api::builder(Vendor::new("Acme", "Acme CRM")).map_errors(|error| {
    ///     Some(match error.downcast_ref::<DbError>()?.code() {
    ///         // The database is unavailable: 503 with `Retry-After`.
    ///         "08006" | "57P03" => Error::unavailable(Duration::from_secs(2)),
    ///         // A deadlock or a serialization failure: the library repeats the request.
    ///         "40001" | "40P01" => Error::rolled_back(),
    ///         "23505" => Error::invalid(Problem::new(ErrorCode::NameInUse, "name", ErrorCode::NameInUse.meaning())),
    ///         _ => return None,
    ///     })
    /// });
    /// # drop(api);
    /// ```
    ///
    /// Requirements: ERR-05, UND-36.
    #[must_use]
    pub fn map_errors(
        mut self,
        meaning: impl Fn(&(dyn StdError + 'static)) -> Option<Error> + Send + Sync + 'static,
    ) -> Self {
        self.settings.classify = ErrorMapper(Some(Arc::new(meaning)));
        self
    }
}
