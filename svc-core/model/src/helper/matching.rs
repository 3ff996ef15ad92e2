//! Person matching: whether a posted person already exists, and how the two are merged.
//!
//! Requirements: HLP-04.

use std::collections::BTreeSet;

use super::entries::{MergedList, is_primary, merge_list, merge_member, sameness};
use crate::{
    draft::{Draft, RawPatch, to_object},
    json::{Json, Object},
    model::{Kind, Person, person::gender_of},
    value::{Identifier, Timestamp, email_as_sent, forms},
};

/// A value that a person can be looked up by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MatchKey {
    /// A foreign identifier, compared exactly.
    Identifier(Identifier),
    /// An e-mail address in the form in which it is compared ([`forms::match_form`]), or in its own
    /// notation.
    Email(String),
}

/// The method that decides whether a posted person already exists.
///
/// # Behaviour
///
/// - The method has no side effects and depends only on its arguments. It can be called again for
///   the same request, because a store may repeat a transaction.
///
/// # Examples
///
/// ```
/// use svc_core::{helper::{MatchKey, PersonMatching}, read::Object, value::Identifier};
///
/// /// Families share addresses here, so only identifiers identify a person.
/// #[derive(Debug)]
/// struct ByIdentifier;
///
/// impl PersonMatching for ByIdentifier {
///     fn keys(&self, identifiers: &[Identifier], _: &Object) -> Vec<MatchKey> {
///         identifiers.iter().cloned().map(MatchKey::Identifier).collect()
///     }
///
///     fn description(&self) -> &str {
///         "A posted person is looked up by each foreign identifier. The oldest match wins."
///     }
/// }
///
/// let sent: Vec<_> = Identifier::parse("shop:17").into_iter().collect();
/// assert_eq!(ByIdentifier.keys(&sent, &Object::new()).len(), 1);
/// ```
///
/// Requirements: HLP-04, HLP-05.
pub trait PersonMatching: std::fmt::Debug + Send + Sync {
    /// Returns the keys to look up, in order. The first key that finds a person decides.
    ///
    /// Consecutive e-mail addresses decide together: the oldest person with any of them matches.
    fn keys(&self, identifiers: &[Identifier], person: &Object) -> Vec<MatchKey>;

    /// Returns a description of the method, published on the documentation page and in the
    /// capability document.
    ///
    /// Requirements: HLP-05.
    fn description(&self) -> &str;
}

/// The default method: by foreign identifier, then by e-mail address.
///
/// Requirements: HLP-04.
#[derive(Debug, Clone, Copy, Default)]
pub struct DefaultMatching;

impl PersonMatching for DefaultMatching {
    fn keys(&self, identifiers: &[Identifier], person: &Object) -> Vec<MatchKey> {
        let by_identifier = identifiers.iter().cloned().map(MatchKey::Identifier);
        // A database of a vendor can have the address only in the notation in which it was sent.
        let by_email = addresses(person, |address| {
            let (compared, sent) = (forms::match_form(address), email_as_sent(address));
            let other = (sent != compared).then(|| sent.into_owned());
            std::iter::once(compared.into_owned()).chain(other)
        });
        let by_email = by_email.into_iter().flatten().map(MatchKey::Email);
        by_identifier.chain(by_email).collect()
    }

    fn description(&self) -> &'static str {
        "A posted person is looked up first by each foreign identifier, then by each e-mail address, ignoring the case of Latin letters and the notation of the domain. \
         The oldest match wins, and the posted person is merged into it. Scalar fields that are sent replace existing values, and objects are \
         merged member by member. E-mail addresses, phone numbers and postal addresses are merged by address, number \
         and extension, or address lines. An empty object or array changes nothing."
    }
}

/// Returns the e-mail addresses of a person in normal form, the primary one first.
pub fn emails(person: &Object) -> impl Iterator<Item = String> {
    addresses(person, |address| forms::match_form(address).into_owned()).into_iter()
}

/// Returns the e-mail addresses that a person can be found by, without duplicates.
#[must_use]
pub fn distinct_emails(person: &Object) -> Vec<String> {
    let mut addresses: Vec<String> = emails(person).collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

/// Returns the e-mail addresses of a person, each converted by `form`.
pub fn addresses<T>(person: &Object, form: impl Fn(&str) -> T) -> Vec<T> {
    let list = person
        .get("email_addresses")
        .and_then(Json::as_array)
        .unwrap_or_default();
    let objects = list.iter().filter_map(Json::as_object);
    let (primary, others): (Vec<&Object>, Vec<&Object>) =
        objects.partition(|object| is_primary(object));
    let address = |object: &Object| object.get("address").and_then(Json::as_str).map(&form);
    primary
        .into_iter()
        .chain(others)
        .filter_map(address)
        .collect()
}

/// How a posted person is merged into an existing one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergePolicy {
    /// With a key that may change people: sent values replace existing ones.
    Replace,
    /// Without such a key: the existing person remains unchanged.
    KeepExisting,
    /// Without such a key, if the server enables it: empty texts, numbers and booleans are filled,
    /// and postal addresses are added.
    FillEmpty,
    /// Without a key, if the server enables it: a new person is always created.
    AlwaysCreate,
}

/// Merges a posted person into the fields of an existing one. Neither contains `identifiers` or
/// dates.
///
/// Requirements: HLP-04.
pub fn merge_person(known: &mut Object, posted: &Object, merge: MergePolicy) {
    match merge {
        MergePolicy::KeepExisting | MergePolicy::AlwaysCreate => {}
        MergePolicy::FillEmpty => fill(known, posted),
        MergePolicy::Replace => {
            for (name, value) in posted {
                match (MergedList::of(name), value) {
                    (Some(list), Json::Array(items)) => merge_list(known, list, items),
                    _ => merge_member(known, name, value),
                }
            }
        }
    }
}

/// Fills empty texts, numbers and booleans, and adds postal addresses. An added address is never
/// primary.
fn fill(known: &mut Object, posted: &Object) {
    for (name, value) in posted {
        match (name, value) {
            ("postal_addresses", Json::Array(sent)) => {
                let mut sent = sent.clone();
                for entry in sent.iter_mut().filter_map(Json::as_object_mut) {
                    entry.retain(|name, _| !matches!(name, "primary" | "status"));
                }
                add_places(known, name, sent);
            }
            (_, Json::Array(_) | Json::Object(_) | Json::Null) => {}
            ("gender_identity", _) if overwrites_gender(known, value) => {}
            _ if !value.is_empty() && known.get(name).is_none_or(Json::is_empty_value) => {
                known.insert(name, value.clone());
            }
            _ => {}
        }
    }
}

/// Adds the entries that the list does not contain.
fn add_places(known: &mut Object, field: &str, sent: Vec<Json>) {
    let Some(MergedList { key, .. }) = MergedList::of(field) else {
        return;
    };
    let stored = known
        .get(field)
        .and_then(Json::as_array)
        .unwrap_or_default();
    let mut met: BTreeSet<_> = stored
        .iter()
        .filter_map(Json::as_object)
        .map(|entry| sameness(entry, *key))
        .collect();
    let is_new = |entry: &Json| {
        entry
            .as_object()
            .is_some_and(|entry| met.insert(sameness(entry, *key)))
    };
    let new: Vec<Json> = sent.into_iter().filter(is_new).collect();
    if new.is_empty() {
        return;
    }
    let all = stored.iter().cloned().chain(new).collect();
    known.insert(field, Json::Array(all));
}

impl Draft<Person> {
    /// Returns the sent e-mail addresses in normal form, the primary one first; see [`emails`].
    pub fn emails(&self) -> impl Iterator<Item = String> {
        emails(&self.as_raw().fields)
    }

    /// Returns the existing person after merging this posted one and applying the rules between
    /// fields.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) with every rule that the merged
    /// person would violate.
    ///
    /// Requirements: HLP-04.
    pub fn merged_into(
        &self,
        known: &Person,
        merge: MergePolicy,
        now: Timestamp,
    ) -> crate::Result<Person> {
        let mut fields = to_object(known);
        merge_person(&mut fields, &self.as_raw().fields, merge);
        let rules = RawPatch::new(Kind::Person, Object::new());
        rules
            .apply_to(&mut fields, now)
            .map_err(crate::Error::invalid_all)?;
        Ok(Person::from_object(&fields))
    }
}

/// Returns whether filling in this gender identity would change the known gender, which depends on
/// it.
///
/// Requirements: RES-person-08.
fn overwrites_gender(known: &Object, identity: &Json) -> bool {
    let stored = known
        .get("gender")
        .and_then(Json::as_str)
        .filter(|gender| !gender.is_empty());
    let follows = identity.as_str().and_then(gender_of);
    stored
        .zip(follows)
        .is_some_and(|(stored, follows)| stored != follows)
}
