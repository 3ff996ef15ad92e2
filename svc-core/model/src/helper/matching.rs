//! Person matching: whether a posted person already exists, and how the two are merged.
//!
//! Requirements: HLP-04.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    draft::{Draft, RawPatch, to_object},
    json::{Json, Object},
    model::{Kind, Person, person::gender_of, shared::EmailStatus},
    value::{ClosedEnum as _, Identifier, Timestamp, email_as_sent, forms},
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

fn merge_member(known: &mut Object, name: &str, value: &Json) {
    if value.is_empty() || matches!(value, Json::Null) {
        return;
    }
    match (known.get_mut(name), value) {
        (Some(Json::Object(inner)), Json::Object(sent)) => {
            for (name, value) in sent {
                merge_member(inner, name, value);
            }
        }
        _ => {
            known.insert(name, value.clone());
        }
    }
}

/// A list whose entries are merged by their addresses or numbers.
struct MergedList {
    name: &'static str,
    /// Returns the key of an entry. Entries with equal keys are merged.
    key: fn(&Object) -> Option<String>,
    /// The members that a known entry keeps as they are, because their notation can differ.
    notation: &'static [&'static str],
}

const MERGED_LISTS: [MergedList; 3] = [
    MergedList {
        name: "email_addresses",
        key: |entry| Some(forms::match_form(text(entry, "address")?).into_owned()),
        notation: &["address"],
    },
    MergedList {
        name: "phone_numbers",
        key: phone_key,
        notation: &["number", "extension"],
    },
    MergedList {
        name: "postal_addresses",
        key: lines_form,
        notation: &["address_lines"],
    },
];

impl MergedList {
    fn of(field: &str) -> Option<&'static Self> {
        MERGED_LISTS.iter().find(|list| list.name == field)
    }
}

fn text<'a>(entry: &'a Object, name: &str) -> Option<&'a str> {
    entry.get(name)?.as_str()
}

/// Returns the form of a phone number with its extension, or its digits if it has no form.
fn phone_key(entry: &Object) -> Option<String> {
    let number = text(entry, "number")?;
    let extension = text(entry, "extension").filter(|text| !text.is_empty());
    let form = forms::phone(number, extension, text(entry, "country"));
    Some(form.unwrap_or_else(|| match extension {
        Some(extension) => format!("{number};{extension}"),
        None => number.to_owned(),
    }))
}

fn lines_form(entry: &Object) -> Option<String> {
    let lines = entry.get("address_lines")?.as_array()?;
    forms::address_lines(lines.iter().filter_map(Json::as_str))
}

fn merge_list(known: &mut Object, list: &MergedList, sent: &[Json]) {
    if sent.is_empty() {
        return;
    }
    let MergedList {
        name: field,
        key,
        notation,
    } = *list;
    if !matches!(known.get(field), Some(Json::Array(_))) {
        known.insert(field, Json::Array(Vec::new()));
    }
    let Some(Json::Array(stored)) = known.get_mut(field) else {
        return;
    };
    let mut takes_primary = false;
    // The index of each entry, or of the first one of several. A body can contain very many
    // entries.
    let mut places = BTreeMap::new();
    for (place, item) in stored.iter().enumerate() {
        if let Some(item) = item.as_object() {
            places.entry(sameness(item, key)).or_insert(place);
        }
    }
    for entry in sent.iter().filter_map(Json::as_object) {
        let what = sameness(entry, key);
        // A posted primary entry replaces the stored primary entry.
        let is_new_primary = is_primary(entry);
        if is_new_primary && !takes_primary {
            takes_primary = true;
            stored
                .iter_mut()
                .filter_map(Json::as_object_mut)
                .for_each(clear_primary);
        }
        let place = places.get(&what).copied();
        let Some(item) = place
            .and_then(|place| stored.get_mut(place))
            .and_then(Json::as_object_mut)
        else {
            places.insert(what, stored.len());
            stored.push(Json::Object(entry.clone()));
            continue;
        };
        for (name, value) in entry.iter().filter(|(name, _)| !notation.contains(name)) {
            merge_member(item, name, value);
        }
        if is_new_primary {
            set_primary(item, entry);
        }
    }
}

/// Merges the entries of a sent list that have the same address into the first of them. Each value that
/// the first one has remains, but of several statuses the strictest does.
pub fn merge_equal_entries(field: &str, entries: &mut Vec<Json>) {
    let Some(list) = MergedList::of(field).filter(|_| entries.len() > 1) else {
        return;
    };
    let mut merged: Vec<Json> = Vec::with_capacity(entries.len());
    let mut places = BTreeMap::new();
    for entry in std::mem::take(entries) {
        let place = entry.as_object().and_then(list.key).and_then(|key| {
            let next = merged.len();
            let place = *places.entry(key).or_insert(next);
            (place < next).then_some(place)
        });
        let first = place
            .and_then(|place| merged.get_mut(place))
            .and_then(Json::as_object_mut);
        let (Some(first), Some(again)) = (first, entry.as_object()) else {
            merged.push(entry);
            continue;
        };
        for (name, value) in again {
            let replaces = match name {
                "primary" => !is_primary(first),
                "status" => strictness(value) > first.get("status").and_then(strictness),
                _ => first.get(name).is_none_or(Json::is_empty_value),
            };
            if replaces {
                merge_member(first, name, value);
            }
        }
    }
    *entries = merged;
}

/// Returns the rank of the status of an e-mail address. Higher ranks are stricter.
fn strictness(status: &Json) -> Option<u8> {
    Some(match EmailStatus::parse(status.as_str()?)? {
        EmailStatus::Subscribed => 0,
        EmailStatus::Bouncing => 1,
        EmailStatus::Unsubscribed => 2,
        EmailStatus::SpamComplaints => 3,
    })
}

/// Returns whether an entry is marked as primary, as a boolean or as text.
///
/// Requirements: RES-phone_number-02.
#[must_use]
pub fn is_primary(entry: &Object) -> bool {
    match entry.get("primary") {
        Some(Json::Bool(primary)) => *primary,
        Some(Json::String(text)) => text == "true",
        _ => false,
    }
}

/// Returns the key by which two entries of this list are compared.
///
/// # Errors
///
/// Returns an error that names the missing member if the entry has no key.
pub fn entry_key(field: &str, entry: &Object) -> Result<String, String> {
    sameness(
        entry,
        MergedList::of(field).map_or(|_| None, |list| list.key),
    )
}

/// Returns the key of an entry: its address or number. An entry without one is compared by all its
/// members except `primary`.
fn sameness(entry: &Object, key: fn(&Object) -> Option<String>) -> Result<String, String> {
    let unmarked = || {
        entry
            .iter()
            .filter(|(name, _)| *name != "primary")
            .collect::<BTreeMap<&str, &Json>>()
    };
    let text = || {
        unmarked()
            .into_iter()
            .map(|(name, value)| (name, value.clone()))
            .collect::<Object>()
    };
    key(entry).ok_or_else(|| Json::Object(text()).to_string())
}

fn clear_primary(entry: &mut Object) {
    let cleared = match entry.get("primary") {
        Some(Json::Bool(true)) => Json::Bool(false),
        Some(Json::String(text)) if text == "true" => Json::from("false"),
        _ => return,
    };
    entry.insert("primary", cleared);
}

fn set_primary(item: &mut Object, sent: &Object) {
    if let Some(primary) = sent.get("primary") {
        item.insert("primary", primary.clone());
    }
}
