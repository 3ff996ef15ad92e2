//! Runs the rules for a store that fetches the lookup results, until there is a decision.

use async_trait::async_trait;

use super::Decision;
use crate::{
    error::Error,
    store::{Lookup, RuleError, Step},
};

/// A transaction of a store that cannot execute lookups while the rules run: it fetches the missing
/// results, and [`run_rules`] runs the rules again.
#[async_trait]
pub trait RuleRunner: Send {
    /// The error of the store.
    type Error: From<Error> + Send;

    /// Runs the rules once with the results so far: calls [`decide`](super::decide).
    ///
    /// # Errors
    ///
    /// Those of `decide`.
    fn decide(&mut self) -> Result<Decision, RuleError>;

    /// Fetches the results of lookups.
    async fn fetch(&mut self, missing: Vec<Lookup>) -> Result<(), Self::Error>;

    /// Writes the changes of earlier requests of the transaction, so that lookups see them. A store
    /// with one request in each transaction does not need this.
    async fn flush(&mut self) -> Result<(), Self::Error> {
        Err(Error::unexpected("a transaction with one request has no earlier changes").into())
    }

    /// Executes an operation and adds its result to the [`StepLog`](crate::store::StepLog). A store
    /// that applies changes does not need this.
    async fn execute(&mut self, step: Step) -> Result<(), Self::Error> {
        let _ = step;
        Err(Error::unexpected("a store that applies changes has no steps").into())
    }
}

/// Runs the rules until all lookup results are available and all steps are executed.
///
/// The inner error is that of the rules, which reject the request.
///
/// # Errors
///
/// An error of the store.
pub async fn run_rules<R: RuleRunner>(runner: &mut R) -> Result<Result<Decision, Error>, R::Error> {
    loop {
        match runner.decide() {
            Ok(decision) => return Ok(Ok(decision)),
            Err(RuleError::MissingLookups(missing)) => runner.fetch(missing).await?,
            Err(RuleError::UnflushedChanges) => runner.flush().await?,
            Err(RuleError::NextStep(step)) => runner.execute(step).await?,
            Err(RuleError::Failed(error)) => return Ok(Err(error)),
        }
    }
}
