//! Stores of a posted person the entries that fit into its lists.
//!
//! Requirements: CAP-04, HLP-04.

use super::{
    MergePolicy,
    entries::{MergedList, entry_key, is_primary, strictness},
    merge_person,
};
use crate::{
    error::{ErrorCode, Problem, PropertyPath},
    json::{Json, Object},
    schema::{Constraint, Constraints, EntryValues},
};

/// Entries of a posted list that were not stored, because the list can only have a certain number of
/// entries.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OmittedEntries {
    /// The path of the list in the posted person.
    pub property: PropertyPath,
    /// The number of omitted entries.
    pub entries: usize,
    /// The maximum number of entries of the list.
    pub max_items: u32,
}

impl From<OmittedEntries> for Problem {
    /// Returns the warning about the entries.
    fn from(omitted: OmittedEntries) -> Self {
        let OmittedEntries {
            property,
            entries,
            max_items,
        } = omitted;
        let (noun, verb) = match entries {
            1 => ("entry", "was"),
            _ => ("entries", "were"),
        };
        let text = format!(
            "{entries} {noun} of {{property}} {verb} omitted. The list can have at most {max_items}."
        );
        Self::new(ErrorCode::EntriesOmitted, property, text)
    }
}

/// Merges a posted person into the fields of an existing one, as [`merge_person`] does, and omits the
/// new entries that exceed the maximum number of a list. Returns the omitted entries.
///
/// The entries of the existing person remain. Of the new ones, a primary one comes first, then the
/// others in their order. If a posted primary entry is omitted, the stored one remains primary.
///
/// ```
/// use svc_core::{helper::{MergePolicy, merge_fitting}, read::{Json, JsonLimits, Object}, schema::Constraints};
///
/// let object = |text: &str| match Json::read(text.as_bytes(), &JsonLimits::default()) {
///     Ok(Json::Object(object)) => object,
///     _ => Object::new(),
/// };
/// let mut constraints = Constraints::default();
/// constraints.entry(&["email_addresses"]).max_items = Some(2);
/// let mut known = object(r#"{"email_addresses":[{"address":"a@example.org"}]}"#);
/// let posted = object(r#"{"email_addresses":[{"address":"b@example.org"},{"address":"c@example.org"}]}"#);
///
/// let omitted = merge_fitting(&mut known, &posted, MergePolicy::Replace, &constraints);
/// assert_eq!(known, object(r#"{"email_addresses":[{"address":"a@example.org"},{"address":"b@example.org"}]}"#));
/// assert_eq!((omitted[0].entries, omitted[0].max_items), (1, 2));
/// ```
///
/// Requirements: CAP-04, HLP-04.
#[must_use]
pub fn merge_fitting(
    known: &mut Object,
    posted: &Object,
    merge: MergePolicy,
    constraints: &Constraints,
) -> Vec<OmittedEntries> {
    let mut omitted = Vec::new();
    if !has_limit(constraints) {
        merge_person(known, posted, merge);
        return omitted;
    }
    // Entries are compared as they are stored, so their own lists are shortened first.
    let mut posted = posted.clone();
    shorten_inner(
        &mut posted,
        constraints,
        &PropertyPath::default(),
        &mut omitted,
    );
    let limited = constraints.members().filter_map(|(name, constraint)| {
        let stored = known.get(name).and_then(Json::as_array);
        let stored = stored.unwrap_or_default().to_vec();
        Some((name, constraint, constraint.max_items?, stored))
    });
    let limited: Vec<_> = limited.collect();
    merge_person(known, &posted, merge);
    for (name, constraint, most, stored) in limited {
        let Some(Json::Array(merged)) = known.get_mut(name) else {
            continue;
        };
        // The entries of another list are replaced.
        let existing = MergedList::of(name).map_or(0, |_| stored.len());
        let had_primary = merged.iter().any(is_marked);
        let repeated = remove_repeated(merged, &stored, existing, constraint);
        let entries = shorten(merged, existing, most).saturating_add(repeated);
        if merge == MergePolicy::Replace {
            share_values(name, merged, posted.get(name), constraint);
        }
        if had_primary && !merged.iter().any(is_marked) {
            restore_primary(merged, &stored);
        }
        note(
            PropertyPath::member(name.to_owned()),
            entries,
            most,
            &mut omitted,
        );
    }
    omitted
}

/// Omits the entries of a new person that exceed the maximum number of a list. Returns the omitted
/// entries.
///
/// A primary entry comes first, then the others in their order.
///
/// Requirements: CAP-04, HLP-04.
#[must_use]
pub fn fit_entries(person: &mut Object, constraints: &Constraints) -> Vec<OmittedEntries> {
    let mut omitted = Vec::new();
    let at = PropertyPath::default();
    shorten_inner(person, constraints, &at, &mut omitted);
    shorten_lists(person, constraints, &at, &mut omitted);
    omitted
}

/// Gives all entries of a merged person the strictest value of a member that they have in common, or
/// the value of the first entry.
///
/// Requirements: CAP-04, MRG-03.
pub fn share_strictest(person: &mut Object, constraints: &Constraints) {
    for (name, constraint) in constraints.members() {
        let shared = constraint.members.members();
        let shared = shared.filter(|(_, member)| member.in_entries == Some(EntryValues::Same));
        for (member, _) in shared {
            let Some(Json::Array(list)) = person.get_mut(name) else {
                continue;
            };
            let values = list
                .iter()
                .filter_map(|entry| entry.as_object()?.get(member));
            let values: Vec<Json> = values.filter(|value| !value.is_null()).cloned().collect();
            let strictest = values.iter().rev().max_by_key(|value| strictness(value));
            let Some(strictest) = strictest.cloned() else {
                continue;
            };
            for entry in list.iter_mut() {
                if let Json::Object(entry) = entry {
                    entry.insert(member, strictest.clone());
                }
            }
        }
    }
}

/// Returns whether a list has a maximum number of entries.
fn has_limit(constraints: &Constraints) -> bool {
    let limited = |it: &Constraint| it.max_items.is_some() || has_limit(&it.members);
    constraints.members().any(|(_, it)| limited(it))
}

/// Shortens the lists in the objects and in the entries of an object, but not the lists of the object
/// itself.
fn shorten_inner(
    object: &mut Object,
    constraints: &Constraints,
    at: &PropertyPath,
    omitted: &mut Vec<OmittedEntries>,
) {
    for (name, constraint) in constraints.members() {
        if !has_limit(&constraint.members) {
            continue;
        }
        let at = at.clone().push_member(name.to_owned());
        let mut shorten_all = |inner: &mut Object, at: &PropertyPath| {
            shorten_lists(inner, &constraint.members, at, omitted);
            shorten_inner(inner, &constraint.members, at, omitted);
        };
        match object.get_mut(name) {
            Some(Json::Object(inner)) => shorten_all(inner, &at),
            Some(Json::Array(list)) => {
                for (place, entry) in list.iter_mut().enumerate() {
                    if let Json::Object(entry) = entry {
                        shorten_all(entry, &at.clone().push_index(place));
                    }
                }
            }
            _ => {}
        }
    }
}

/// Shortens the lists of an object.
fn shorten_lists(
    object: &mut Object,
    constraints: &Constraints,
    at: &PropertyPath,
    omitted: &mut Vec<OmittedEntries>,
) {
    for (name, constraint) in constraints.members() {
        if let (Some(most), Some(Json::Array(list))) = (constraint.max_items, object.get_mut(name))
        {
            let repeated = remove_repeated(list, &[], 0, constraint);
            let entries = shorten(list, 0, most).saturating_add(repeated);
            note(
                at.clone().push_member(name.to_owned()),
                entries,
                most,
                omitted,
            );
        }
    }
}

/// Shortens a list to its maximum number of entries, but not below the number of existing ones. The
/// new entries follow the existing ones. Returns the number of omitted entries.
fn shorten(list: &mut Vec<Json>, existing: usize, most: u32) -> usize {
    let room = usize::try_from(most).unwrap_or(usize::MAX).max(existing);
    let omitted = list.len().saturating_sub(room);
    if omitted == 0 {
        return 0;
    }
    let mut new = list.split_off(existing.min(list.len()));
    let free = room.saturating_sub(existing);
    let primary = new
        .iter()
        .position(is_marked)
        .filter(|place| *place >= free);
    // The primary entry is the last one, because only the entries before it have its place.
    if let (Some(place), Some(last)) = (primary, free.checked_sub(1)) {
        new.swap(place, last);
    }
    new.truncate(free);
    list.append(&mut new);
    omitted
}

/// Removes new entries with a value that another entry must have alone. Existing entries get their
/// stored value back if a posted one is in use. Returns the number of removed entries.
fn remove_repeated(
    list: &mut Vec<Json>,
    stored: &[Json],
    existing: usize,
    constraint: &Constraint,
) -> usize {
    let before = list.len();
    for (name, member) in constraint.members.members() {
        if member.in_entries != Some(EntryValues::Distinct) {
            continue;
        }
        let value = |entry: &Json| {
            let value = entry.as_object().and_then(|entry| entry.get(name));
            value.filter(|value| !value.is_null()).cloned()
        };
        let is_stored = |value: &Json| {
            let values = member.values.as_ref().zip(value.as_str());
            values.is_none_or(|(values, text)| values.iter().any(|known| known == text))
        };
        let mut used: Vec<Json> = Vec::new();
        for (place, entry) in list.iter_mut().enumerate().take(existing) {
            let known = stored.get(place).and_then(value);
            let others = stored
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != place);
            let mut others = others.filter_map(|(_, other)| value(other));
            let posted = value(entry);
            let is_free = posted.as_ref().is_none_or(|posted| {
                is_stored(posted) && !used.contains(posted) && !others.any(|other| other == *posted)
            });
            if let (false, Json::Object(entry)) = (is_free, &mut *entry) {
                entry.insert(name, known.unwrap_or(Json::Null));
            }
            used.extend(value(entry));
        }
        let mut place = 0_usize;
        list.retain(|entry| {
            let is_existing = place < existing;
            place = place.saturating_add(1);
            let value = value(entry);
            let is_repeated = value
                .as_ref()
                .is_some_and(|value| used.contains(value) || !is_stored(value));
            if !is_existing {
                used.extend(value);
            }
            is_existing || !is_repeated
        });
    }
    before.saturating_sub(list.len())
}

/// Gives all entries the posted value of a member that all entries have in common. The value of an
/// omitted entry only counts if it is stricter.
fn share_values(name: &str, list: &mut [Json], posted: Option<&Json>, constraint: &Constraint) {
    let key = |entry: &Json| entry.as_object().map(|entry| entry_key(name, entry));
    let stored: Vec<_> = list.iter().map(key).collect();
    for (name, member) in constraint.members.members() {
        if member.in_entries != Some(EntryValues::Same) {
            continue;
        }
        let entries = posted.and_then(Json::as_array).unwrap_or_default().iter();
        let values = entries.filter_map(|entry| {
            let value = entry.as_object()?.get(name)?;
            let is_kept = stored.contains(&key(entry)) || strictness(value) > Some(0);
            Some(value).filter(|value| is_kept && !value.is_null())
        });
        let values: Vec<&Json> = values.collect();
        let Some(value) = values
            .into_iter()
            .rev()
            .max_by_key(|value| strictness(value))
        else {
            continue;
        };
        for entry in list.iter_mut() {
            if let Json::Object(entry) = entry {
                entry.insert(name, value.clone());
            }
        }
    }
}

/// Marks the entry as primary that was primary before the merge.
fn restore_primary(merged: &mut [Json], stored: &[Json]) {
    let mut both = stored.iter().zip(merged);
    let primary = both.find(|(stored, _)| is_marked(stored));
    if let Some((Json::Object(stored), Json::Object(entry))) = primary
        && let Some(mark) = stored.get("primary")
    {
        entry.insert("primary", mark.clone());
    }
}

fn is_marked(entry: &Json) -> bool {
    entry.as_object().is_some_and(is_primary)
}

fn note(property: PropertyPath, entries: usize, max_items: u32, omitted: &mut Vec<OmittedEntries>) {
    if entries > 0 {
        omitted.push(OmittedEntries {
            property,
            entries,
            max_items,
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{json::JsonLimits, value::proptest_config::config};

    fn object(text: &str) -> Object {
        match Json::read(text.as_bytes(), &JsonLimits::default()) {
            Ok(Json::Object(object)) => object,
            other => panic!("{other:?}"),
        }
    }

    fn limits(most: u32) -> Constraints {
        let mut constraints = Constraints::default();
        constraints.entry(&["email_addresses"]).max_items = Some(most);
        constraints.entry(&["languages_spoken"]).max_items = Some(most);
        constraints
            .entry(&["postal_addresses", "address_lines"])
            .max_items = Some(most);
        constraints
    }

    /// A person with these addresses. `*` marks the primary one.
    fn person(addresses: &[String]) -> Object {
        let entry = |text: &String| {
            let (address, mark) = match text.strip_suffix('*') {
                Some(address) => (address, r#","primary":true"#),
                None => (text.as_str(), ""),
            };
            format!(r#"{{"address":"{address}@x.org"{mark}}}"#)
        };
        let all: Vec<String> = addresses.iter().map(entry).collect();
        object(&format!(r#"{{"email_addresses":[{}]}}"#, all.join(",")))
    }

    fn addresses(person: &Object) -> Vec<String> {
        let list = person.get("email_addresses").and_then(Json::as_array);
        let text = |entry: &Json| {
            let entry = entry.as_object().unwrap();
            let address = entry.get("address").and_then(Json::as_str).unwrap();
            let mark = if is_primary(entry) { "*" } else { "" };
            format!("{}{mark}", address.strip_suffix("@x.org").unwrap())
        };
        list.unwrap_or_default().iter().map(text).collect()
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    /// HLP-04: existing entries remain, then a primary one comes first, then the others in order.
    #[test]
    fn hlp_04_entries_that_fit_are_stored() {
        for (known, posted, most, stored, omitted) in [
            (&[][..], &["a", "b", "c"][..], 2, &["a", "b"][..], 1),
            (&[], &["a", "b", "c*"], 2, &["a", "c*"], 1),
            (&[], &["a", "b*"], 1, &["b*"], 1),
            (&["a*"], &["b", "c"], 2, &["a*", "b"], 1),
            (&["a*"], &["b", "c*"], 2, &["a", "c*"], 1),
            (&["a*", "b"], &["c*"], 2, &["a*", "b"], 1),
            (&["a*", "b"], &["a", "c*"], 2, &["a*", "b"], 1),
            (&["a*", "b"], &["c", "b*"], 2, &["a", "b*"], 1),
            (&["a", "b"], &["c*"], 2, &["a", "b"], 1),
            (&["a", "b", "c"], &["b", "d"], 2, &["a", "b", "c"], 1),
            (&["a"], &["a"], 1, &["a"], 0),
        ] {
            let mut fields = person(&owned(known));
            let left = merge_fitting(
                &mut fields,
                &person(&owned(posted)),
                MergePolicy::Replace,
                &limits(most),
            );
            assert_eq!(addresses(&fields), stored, "{known:?} + {posted:?}");
            let left: Vec<_> = left.iter().map(|it| (it.entries, it.max_items)).collect();
            let expected: Vec<_> = (omitted > 0)
                .then_some((omitted, most))
                .into_iter()
                .collect();
            assert_eq!(left, expected, "{known:?} + {posted:?}");
        }
    }

    /// HLP-04: the stored entry remains primary, even if the request also unmarks it.
    #[test]
    fn hlp_04_a_person_has_a_primary_entry_if_the_new_one_is_omitted() {
        let mut fields = person(&owned(&["a*"]));
        let posted = r#"{"email_addresses":[{"address":"a@x.org","primary":false},{"address":"b@x.org","primary":true}]}"#;
        let posted = object(posted);
        let omitted = merge_fitting(&mut fields, &posted, MergePolicy::Replace, &limits(1));
        assert_eq!(omitted.len(), 1);
        assert_eq!(fields, person(&owned(&["a*"])));
    }

    /// HLP-04: the lists of an entry are shortened before it is compared with stored ones.
    #[test]
    fn hlp_04_a_repeated_request_finds_the_shortened_entry() {
        let posted = object(
            r#"{"postal_addresses":[{"address_lines":["1 Main St","Floor 2","Room 3"]}],"languages_spoken":["en","fr","de"]}"#,
        );
        let mut new = posted.clone();
        let omitted = fit_entries(&mut new, &limits(2));
        let paths: Vec<String> = omitted.iter().map(|it| it.property.to_string()).collect();
        assert_eq!(
            paths,
            ["postal_addresses[0].address_lines", "languages_spoken"]
        );
        let mut again = new.clone();
        let same = merge_fitting(&mut again, &posted, MergePolicy::Replace, &limits(2));
        assert_eq!((again, same), (new, omitted));
    }

    /// HLP-04: a caller who may not change people does not change a status that all entries share.
    #[test]
    fn hlp_04_a_shared_status_remains_without_the_right_to_change_it() {
        let mut constraints = limits(2);
        constraints.entry(&["email_addresses", "status"]).in_entries = Some(EntryValues::Same);
        let known =
            object(r#"{"email_addresses":[{"address":"a@x.org","status":"unsubscribed"}]}"#);
        let posted = object(r#"{"email_addresses":[{"address":"a@x.org","status":"subscribed"}]}"#);
        for merge in [MergePolicy::FillEmpty, MergePolicy::KeepExisting] {
            let mut fields = known.clone();
            let omitted = merge_fitting(&mut fields, &posted, merge, &constraints);
            assert_eq!((fields, omitted), (known.clone(), vec![]), "{merge:?}");
        }
    }

    /// HLP-04: the status of an omitted entry does not subscribe the others.
    #[test]
    fn hlp_04_an_omitted_entry_subscribes_no_other() {
        let mut constraints = limits(1);
        constraints.entry(&["email_addresses", "status"]).in_entries = Some(EntryValues::Same);
        let known =
            object(r#"{"email_addresses":[{"address":"a@x.org","status":"unsubscribed"}]}"#);
        let posted = object(r#"{"email_addresses":[{"address":"b@x.org","status":"subscribed"}]}"#);
        let mut fields = known.clone();
        let omitted = merge_fitting(&mut fields, &posted, MergePolicy::Replace, &constraints);
        assert_eq!(omitted.len(), 1);
        assert_eq!(fields, known);
    }

    fn entries() -> impl Strategy<Value = Vec<String>> {
        let letters = proptest::sample::subsequence(vec!["a", "b", "c", "d", "e", "f"], 0..=6);
        (letters.prop_shuffle(), proptest::option::of(0_usize..6)).prop_map(|(letters, primary)| {
            let mark = |(place, letter): (usize, &str)| {
                let mark = if primary == Some(place) { "*" } else { "" };
                format!("{letter}{mark}")
            };
            letters.into_iter().enumerate().map(mark).collect()
        })
    }

    fn count(addresses: &[String]) -> usize {
        addresses.iter().filter(|it| it.ends_with('*')).count()
    }

    fn bare(addresses: &[String]) -> Vec<&str> {
        addresses
            .iter()
            .map(|it| it.trim_end_matches('*'))
            .collect()
    }

    proptest! {
        #![proptest_config(config())]

        /// HLP-04: a list has never more entries than its maximum or than it had, existing entries
        /// remain, entries are omitted exactly if they do not fit, and a primary entry remains.
        #[test]
        fn hlp_04_a_merge_stores_what_fits(known in entries(), posted in entries(), most in 1_u32..5) {
            let (before, sent) = (person(&known), person(&posted));
            let mut whole = before.clone();
            merge_person(&mut whole, &sent, MergePolicy::Replace);
            let mut fitting = before.clone();
            let omitted = merge_fitting(&mut fitting, &sent, MergePolicy::Replace, &limits(most));
            let (stored, all) = (addresses(&fitting), addresses(&whole));
            let room = known.len().max(usize::try_from(most).unwrap());
            prop_assert_eq!(stored.len(), all.len().min(room));
            prop_assert!(bare(&stored).starts_with(&bare(&known)));
            prop_assert!(bare(&stored).iter().all(|it| bare(&all).contains(it)));
            let left: usize = omitted.iter().map(|it| it.entries).sum();
            prop_assert_eq!(left, all.len() - stored.len());
            prop_assert_eq!(count(&stored).max(count(&known)), count(&stored));
            prop_assert!(count(&stored) <= 1);
            if left == 0 {
                prop_assert_eq!(&fitting, &whole);
            }
            let mut again = fitting.clone();
            let _ = merge_fitting(&mut again, &sent, MergePolicy::Replace, &limits(most));
            prop_assert_eq!(again, fitting);
        }

        /// HLP-04: a new person gets as many entries as fit, in order, and the primary one.
        #[test]
        fn hlp_04_a_new_person_gets_what_fits(posted in entries(), most in 1_u32..5) {
            let mut fields = person(&posted);
            let omitted = fit_entries(&mut fields, &limits(most));
            let stored = addresses(&fields);
            let most = usize::try_from(most).unwrap();
            prop_assert_eq!(stored.len(), posted.len().min(most));
            prop_assert_eq!(count(&stored), count(&posted));
            let places = stored.iter().map(|it| posted.iter().position(|sent| sent == it));
            prop_assert!(places.collect::<Option<Vec<_>>>().is_some_and(|it| it.is_sorted()));
            let left: usize = omitted.iter().map(|it| it.entries).sum();
            prop_assert_eq!(left, posted.len() - stored.len());
        }
    }
}
