//! Running helpers.

use async_trait::async_trait;

use crate::{
    context::Context,
    error::Result,
    helper::{HelperOutcome, HelperRequest, HelperSpec},
};

/// Runs a helper natively.
///
/// # Behaviour
///
/// - A missing container is [`ErrorKind::NotFound`](crate::ErrorKind::NotFound); where
///   [`Get`](crate::Get) is registered and [`checks_container`](Self::checks_container) is not
///   true, the library has looked before the call.
/// - An action that cannot be stored stores nothing:
///   [`ErrorKind::Invalid`](crate::ErrorKind::Invalid). What only the store knows of a tag, a list,
///   a question or a response key fails its own entry of the outcome; person and action stay,
///   unless [`HelperRequest::is_atomic`].
/// - Functions that were not named with
///   [`ApiBuilder::action_functions`](crate::ApiBuilder::action_functions) are not in the plan: the
///   library reports them.
/// - An action identifier that is known under the same container updates that action instead of
///   recording a second one, so that a retry is safe.
///
/// # Examples
///
/// ```
/// # use std::{collections::BTreeMap, sync::{Mutex, PoisonError}};
/// # use async_trait::async_trait;
/// # use svc_core::{*, auth::{Caller, Rights}, helper::*, model::{Kind, Person}, raw::RawHelperRequest, record::Meta, value::Timestamp};
/// /// The numbers of subscribers by address.
/// #[derive(Default)]
/// struct Newsletter(Mutex<BTreeMap<String, i64>>);
///
/// #[async_trait]
/// impl Helper<PersonSignup> for Newsletter {
///     async fn run(&self, cx: &Context, plan: HelperRequest<PersonSignup>) -> Result<HelperOutcome<PersonSignup>> {
///         let person = plan.required_person()?;
///         let missing = || Problem::new(ErrorCode::FieldRequired, "person.email_addresses", "An address is required.");
///         let email = person.emails().next().ok_or_else(|| Error::invalid(missing()))?;
///         // One lock around both: two sign-ups at once are one subscriber.
///         let mut subscribers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
///         let next = i64::try_from(subscribers.len())?;
///         let no = *subscribers.entry(email).or_insert(next);
///         let record = Record::new(Meta::new(no.into(), cx.received_at), person.fields());
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
/// Requirements: HLP-01 to HLP-23, HLP-23, HLP-10, ERR-34, ERR-38, UND-24.
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not run the helper `{H}`",
    label = "missing `impl Helper<{H}> for {Self}`",
    note = "implement `svc_core::Helper<{H}>` for `{Self}`, or register it with `.compose_helper::<{H}>()`"
)]
pub trait Helper<H: HelperSpec>: Send + Sync {
    /// Does what the plan says.
    async fn run(&self, cx: &Context, plan: HelperRequest<H>) -> Result<HelperOutcome<H>>;

    /// Whether [`run`](Self::run) itself answers
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) where there is no such container. The
    /// library then asks [`Get`](crate::Get) for it only before calls that it refuses itself.
    ///
    /// Even the 404 then needs what a write needs: a store that cannot write now, because another
    /// process holds its file, answers 503.
    ///
    /// Requirements: HLP-23, UND-39, UND-36.
    fn checks_container(&self) -> bool {
        false
    }
}
