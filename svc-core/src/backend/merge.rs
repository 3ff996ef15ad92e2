//! The trait of merges of people.

use async_trait::async_trait;

use crate::{
    context::Context,
    error::{Error, Result},
    json::Object,
    link::RecordAddress,
    model::{Kind, Person},
    record::{RawRecord, Record, RecordState},
    rules::MergePlan,
    store::FoldedRecord,
    value::Identifier,
};

/// Merges two people.
///
/// The library reads both people, checks preconditions, and decides which fields and identifiers the
/// remaining person has. The backend stores them, and moves the records.
///
/// # Behaviour
///
/// - The merge is all or nothing, and it is durable before the method returns.
/// - Lock the rows of both people first, in the order of their ids, such as with
///   `SELECT ... FOR UPDATE`. Otherwise an action that is recorded concurrently can lose its person.
/// - Then call [`PeopleMerge::check_expected_states`], before the first change.
/// - The remaining person gets [`PeopleMerge::person`] and [`PeopleMerge::identifiers`] instead of its
///   own. Its `modified` strictly increases, and its `created` does not change. Fields that the kind does
///   not have stay as they are. If a third person has one of the identifiers, return
///   [`ErrorCode::IdentifierInUse`](crate::ErrorCode::IdentifierInUse) and name `identifiers[<n>]`.
/// - Every record of the merged person then belongs to the remaining person, also in tables that the API
///   does not offer. Moved actions get a new modification date.
/// - All other links to the merged person then have the remaining person: the canvasser of a canvass,
///   creators, organizers and editors, and the tickets of other people, which contain its own identifier.
/// - If both people have a tag or are on a list, the older membership remains with the identifiers of
///   both, and the other one is deleted. If two other records cannot both belong to the remaining person, change nothing and return
///   [`ErrorCode::MergeConflict`](crate::ErrorCode::MergeConflict).
/// - Delete the merged person. Responses that are stored for it belong to the remaining person, so that
///   a repeated request is not executed again.
/// - With [`Find`](crate::Find) for people, the former address of the merged person finds the remaining
///   one. The library finds it by the own identifier of the merged person, which is one of
///   [`PeopleMerge::identifiers`], so you store no former addresses. Do not assign the id of the merged
///   person again. Without [`Find`](crate::Find), the former address finds nothing.
/// - If an operation or a helper returns an error because it does not find a person that was merged, the
///   library replaces that person by the remaining one, and calls it again. An error must therefore mean that
///   nothing was stored.
/// - With [`Transactions`](crate::Transactions), a request with `preview` is executed in a transaction
///   that is then rolled back. Without them, previews are not offered, and the backend gets none.
///
/// # Examples
///
/// ```
/// # use std::{collections::BTreeMap, sync::{Mutex, PoisonError}};
/// # use async_trait::async_trait;
/// # use svc_core::{*, backend::{MergePeople, MergedPeople, PeopleMerge}, model::{Kind, Person}, record::Meta};
/// /// Members by number, and the number of the member of each gift.
/// struct Club { members: Mutex<BTreeMap<i64, (Person, Meta)>>, gifts: Mutex<Vec<i64>> }
///
/// #[async_trait]
/// impl MergePeople for Club {
///     async fn merge(&self, cx: &Context, request: PeopleMerge) -> Result<MergedPeople> {
///         let (Some(to), Some(from)) = (request.remaining.id.as_number(), request.merged.id.as_number()) else {
///             return Err(Error::not_found());
///         };
///         // One lock for all steps. A database has a transaction.
///         let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
///         let (Some((_, meta)), Some((_, merged))) = (members.get(&to), members.get(&from)) else {
///             return Err(Error::conflict());
///         };
///         request.check_expected_states(meta.modified, merged.modified)?;
///         let meta = Meta::new(to.into(), meta.created)
///             .with_modified(cx.received_at().at_least_after(meta.modified))
///             .with_identifiers(&request.identifiers);
///         members.remove(&from);
///         members.insert(to, (request.person(), meta.clone()));
///         let mut moved = 0;
///         for owner in self.gifts.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
///             if *owner == from {
///                 (*owner, moved) = (to, moved + 1);
///             }
///         }
///         Ok(MergedPeople::new(Record::new(meta, request.person())).moved(Kind::Donation, moved))
///     }
/// }
/// ```
///
/// Requirements: MRG-02 to MRG-12, MRG-14 to MRG-17, MRG-22, MRG-23, MRG-25, MRG-26.
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot merge people, so `.merge()` cannot be registered for `Person`",
    label = "missing `impl MergePeople for {Self}`",
    note = "implement `svc_core::backend::MergePeople` for `{Self}`, or do not register the operation: the server then does not offer it"
)]
pub trait MergePeople: Send + Sync {
    /// Merges the two people, and returns the remaining person.
    async fn merge(&self, cx: &Context, request: PeopleMerge) -> Result<MergedPeople>;
}

/// A request to merge two people.
#[derive(Debug)]
#[non_exhaustive]
pub struct PeopleMerge {
    /// The address of the person that remains.
    pub remaining: RecordAddress,
    /// The address of the person that is merged into it.
    pub merged: RecordAddress,
    /// The identifiers of the remaining person after the merge, without its own one. One of them is the
    /// own identifier of the merged person.
    pub identifiers: Vec<Identifier>,
    fields: Fields,
    expected_states: [RecordState; 2],
}

impl PeopleMerge {
    pub(crate) fn new(remaining: &RawRecord, merged: &RawRecord, plan: &MergePlan) -> Self {
        Self {
            remaining: remaining.address(),
            merged: merged.address(),
            identifiers: plan.identifiers.clone(),
            fields: Fields(plan.fields.clone()),
            expected_states: [remaining, merged].map(|person| person.meta().state()),
        }
    }

    /// Returns the fields of the remaining person after the merge.
    #[must_use]
    pub fn person(&self) -> Person {
        Person::from_object(&self.fields.0)
    }

    /// Checks that both people still have the state that the merge is based on: the remaining person, and
    /// the merged one.
    ///
    /// The state comes from the [`Meta`](crate::record::Meta) of the person, or is the time of its last
    /// change if the table has no version.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Conflict`](crate::ErrorKind::Conflict) if a state differs. The library then
    /// reads both people again, in a new transaction.
    pub fn check_expected_states(
        &self,
        remaining: impl Into<RecordState>,
        merged: impl Into<RecordState>,
    ) -> Result<()> {
        let now = [remaining.into(), merged.into()];
        let are_equal = self
            .expected_states
            .iter()
            .zip(now)
            .all(|(seen, now)| seen.matches(now));
        if are_equal {
            Ok(())
        } else {
            Err(Error::conflict())
        }
    }
}

/// Fields whose values are not printed, because they are personal data.
struct Fields(Object);

impl std::fmt::Debug for Fields {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
    }
}

/// The result of a merge of two people.
#[derive(Debug)]
#[non_exhaustive]
pub struct MergedPeople {
    /// The person that remains.
    pub person: Record<Person>,
    /// The number of records of each kind that now belong to the remaining person.
    pub moved: Vec<(Kind, u64)>,
    /// The memberships of both people, of which one was deleted.
    pub folded: Vec<FoldedRecord>,
}

impl MergedPeople {
    /// Returns the result of a merge that moved no records.
    #[must_use]
    pub fn new(person: Record<Person>) -> Self {
        Self {
            person,
            moved: Vec::new(),
            folded: Vec::new(),
        }
    }

    /// Adds the number of moved records of a kind.
    #[must_use]
    pub fn moved(mut self, kind: Kind, records: u64) -> Self {
        if records > 0 {
            self.moved.push((kind, records));
        }
        self
    }

    /// Adds the membership that remains, and the deleted one.
    #[must_use]
    pub fn folded(mut self, remaining: RecordAddress, merged: RecordAddress) -> Self {
        self.folded.push(FoldedRecord::new(remaining, merged));
        self
    }
}
