//! The trait of a native helper.

use async_trait::async_trait;

use crate::{
    context::Context,
    error::Result,
    helper::{HelperOutcome, HelperRequest, HelperSpec},
};

/// Executes a helper natively.
///
/// # Behaviour
///
/// - A missing container is [`ErrorKind::NotFound`](crate::ErrorKind::NotFound). If
///   [`Get`](crate::Get) is registered and [`checks_container`](Self::checks_container) is `false`,
///   the library has already checked it.
/// - If an action cannot be stored, store nothing and return
///   [`ErrorKind::Invalid`](crate::ErrorKind::Invalid). If the store rejects a tag, a list, a
///   question or a response key, only that entry of the outcome fails. Person and action are
///   stored, unless [`HelperRequest::is_atomic`] is `true`.
/// - The request has only action functions that are registered with
///   [`ApiBuilder::action_functions`](crate::ApiBuilder::action_functions). The library reports the
///   others.
/// - If the same container already has an action with the identifier, update that action instead of
///   recording a second one. This makes retries safe.
///
/// # Examples
///
/// ```
/// # use std::{collections::BTreeMap, sync::{Mutex, PoisonError}};
/// # use async_trait::async_trait;
/// # use svc_core::{*, auth::{Caller, Rights}, helper::*, model::{Kind, Person}, raw::RawHelperRequest, record::Meta, value::Timestamp};
/// /// Subscriber numbers by e-mail address.
/// #[derive(Default)]
/// struct Newsletter(Mutex<BTreeMap<String, i64>>);
///
/// #[async_trait]
/// impl Helper<PersonSignup> for Newsletter {
///     async fn run(&self, cx: &Context, plan: HelperRequest<PersonSignup>) -> Result<HelperOutcome<PersonSignup>> {
///         let person = plan.required_person()?;
///         let missing = || Problem::new(ErrorCode::FieldRequired, "person.email_addresses", "An address is required.");
///         let email = person.emails().next().ok_or_else(|| Error::invalid(missing()))?;
///         // One lock for both steps, so that two concurrent sign-ups create one subscriber.
///         let mut subscribers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
///         let next = i64::try_from(subscribers.len())?;
///         let no = *subscribers.entry(email).or_insert(next);
///         let record = Record::new(Meta::new(no.into(), cx.received_at()), person.fields());
///         Ok(HelperOutcome::person(record, EntryStatus::from_is_new(no == next)))
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # use svc_core::model::shared::EmailAddress;
/// # let cx = Context::new(Tenant::new("acme"), Caller::with_rights(Rights::all()), Timestamp::from_micros(0));
/// # let newsletter = Newsletter::default();
///
/// let email = EmailAddress::default().address("ada@example.org");
/// let person = Draft::new(&Person::default().email_addresses([email]));
/// let mut plan = RawHelperRequest::empty(HelperName::PersonSignup);
/// plan.person = Some(person.into_raw());
/// for is_new in [true, false] {
///     let outcome = newsletter.run(&cx, HelperRequest::from_raw(plan.clone())).await?;
///     assert_eq!(outcome.was_created(Kind::Person), is_new);
/// }
/// # Ok(())
/// # }
/// ```
///
/// Requirements: HLP-01 to HLP-23, HLP-10, ERR-34, ERR-38, UND-24.
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot execute the helper `{H}`",
    label = "missing `impl Helper<{H}> for {Self}`",
    note = "implement `svc_core::Helper<{H}>` for `{Self}`, or register it with `.compose_helper::<{H}>()`"
)]
pub trait Helper<H: HelperSpec>: Send + Sync {
    /// Executes a helper request.
    async fn run(&self, cx: &Context, plan: HelperRequest<H>) -> Result<HelperOutcome<H>>;

    /// Returns whether [`run`](Self::run) itself returns
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) for a missing container.
    ///
    /// The library then checks the container with [`Get`](crate::Get) only if it rejects the
    /// request itself.
    ///
    /// If this method returns `true`, even a 404 response needs write access. A store that cannot write, because
    /// another process has locked its file, returns 503 instead. The default is `false`.
    ///
    /// Requirements: HLP-23, UND-39, UND-36.
    fn checks_container(&self) -> bool {
        false
    }
}
