//! Separating two people after a merge.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    ConsentMember, EntryMerge, FIELDS, FieldMerge, clear_primary, has_rank, is_primary, is_same,
    is_stricter, key_of, value,
};
use crate::{
    error::PropertyPath,
    json::{Json, Object},
};

/// The fields of two people before and after they were merged.
#[derive(Debug, Clone, Copy)]
pub struct MergeFields<'a> {
    /// The fields of the remaining person before the merge.
    pub before: &'a Object,
    /// The fields of the remaining person after the merge.
    pub after: &'a Object,
    /// The fields of the merged person before the merge.
    pub merged: &'a Object,
}

/// The fields of two people after their merge is undone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SeparatedPeople {
    /// The fields of the person that remained.
    pub remaining: Object,
    /// The fields of the person that was merged.
    pub merged: Object,
    /// The properties of [`remaining`](Self::remaining) that were changed after the merge. A list is named
    /// itself if one of its entries was removed.
    pub left: Vec<PropertyPath>,
}

/// Returns the fields of two people whose merge is undone. `now` has the current fields of the remaining
/// person.
///
/// Each value, and each entry of a list by the form of its value, that is as it was after the merge becomes
/// what it was before. Any other value was changed since, and stays. If the consent of an address or a
/// number was changed since, it becomes on both people the stricter one of before the merge and now.
///
/// # Examples
///
/// ```
/// use svc_core::{helper::{MergeFields, separate_people}, read::{Json, JsonLimits, Object}};
///
/// let person = |text: &str| {
///     let json = Json::read(text.as_bytes(), &JsonLimits::default()).ok();
///     json.and_then(|json| json.into_object().ok()).unwrap_or_default()
/// };
/// let (before, merged) = (person(r#"{"given_name":"Ada"}"#), person(r#"{"source":"web"}"#));
/// let after = person(r#"{"given_name":"Ada","source":"web"}"#);
/// let now = person(r#"{"given_name":"Augusta","source":"web"}"#);
///
/// let fields = MergeFields { before: &before, after: &after, merged: &merged };
/// let people = separate_people(&now, fields);
/// assert_eq!(Json::Object(people.remaining).to_string(), r#"{"given_name":"Augusta"}"#);
/// assert_eq!(people.left[0].to_string(), "given_name");
/// ```
///
/// Requirements: MRG-20.
#[must_use]
pub fn separate_people(now: &Object, fields: MergeFields<'_>) -> SeparatedPeople {
    let mut result = SeparatedPeople {
        remaining: now.clone(),
        merged: fields.merged.clone(),
        left: Vec::new(),
    };
    let all = [now, fields.after, fields.before];
    let names: BTreeSet<&str> = all.into_iter().flat_map(Object::keys).collect();
    let mut done = BTreeSet::new();
    for name in names {
        if !done.insert(name) {
            continue;
        }
        match FIELDS.iter().find(|(names, _)| names.contains(&name)) {
            Some((group, FieldMerge::Group)) => {
                done.extend(group.iter().copied());
                result.separate_values(group, now, fields);
            }
            Some((_, FieldMerge::Members)) => result.separate_members(name, now, fields),
            Some((_, FieldMerge::Entries(rule))) => {
                result.separate_entries(name, now, fields, rule);
            }
            Some((_, FieldMerge::Date)) | None => result.separate_values(&[name], now, fields),
        }
    }
    result
}

/// Returns whether a member has equal values in two objects. An empty value is none.
fn has_same(one: &Object, other: &Object, name: &str) -> bool {
    match (value(one, name), value(other, name)) {
        (Some(one), Some(other)) => is_same(one, other),
        (None, None) => true,
        _ => false,
    }
}

/// Sets a member to its value in another object, or removes it.
fn revert(object: &mut Object, name: &str, before: &Object) {
    match before.get(name) {
        Some(value) => _ = object.insert(name, value.clone()),
        None => _ = object.remove(name),
    }
}

/// Returns a member of an object that is an object.
fn inner(object: &Object, name: &str) -> Object {
    let inner = object.get(name).and_then(Json::as_object);
    inner.cloned().unwrap_or_default()
}

/// Returns a member of an object that is a list.
fn entries<'a>(object: &'a Object, name: &str) -> &'a [Json] {
    let list = object.get(name).and_then(Json::as_array);
    list.unwrap_or_default()
}

/// The key of an entry of a list, and how many entries before it have the same key.
type NumberedKey = (Result<String, String>, usize);

/// Returns the entries of a list with their keys.
fn numbered<'a>(list: &'a [Json], rule: &EntryMerge) -> Vec<(NumberedKey, &'a Json)> {
    let mut known: BTreeMap<Result<String, String>, usize> = BTreeMap::new();
    let mut all = Vec::with_capacity(list.len());
    for entry in list {
        let key = key_of(entry, rule);
        let count = known.entry(key.clone()).or_default();
        all.push(((key, *count), entry));
        *count = count.saturating_add(1);
    }
    all
}

impl SeparatedPeople {
    /// Reverts fields together: none of them if one was changed.
    fn separate_values(&mut self, names: &[&str], now: &Object, fields: MergeFields<'_>) {
        let changed = names
            .iter()
            .filter(|name| !has_same(now, fields.after, name));
        let changed = changed.map(|name| PropertyPath::member((*name).to_owned()));
        let changed: Vec<PropertyPath> = changed.collect();
        if changed.is_empty() {
            for name in names {
                revert(&mut self.remaining, name, fields.before);
            }
        }
        self.left.extend(changed);
    }

    fn separate_members(&mut self, name: &str, now: &Object, fields: MergeFields<'_>) {
        let [now, after, before] = [now, fields.after, fields.before].map(|it| inner(it, name));
        let mut members = now.clone();
        let all = [&now, &after, &before];
        let names: BTreeSet<&str> = all.into_iter().flat_map(Object::keys).collect();
        for member in names {
            if has_same(&now, &after, member) {
                revert(&mut members, member, &before);
            } else {
                let property = PropertyPath::member(name.to_owned()).push_member(member.to_owned());
                self.left.push(property);
            }
        }
        if members.is_empty() && !fields.before.contains(name) {
            self.remaining.remove(name);
        } else {
            self.remaining.insert(name, Json::Object(members));
        }
    }

    fn separate_entries(
        &mut self,
        name: &str,
        now: &Object,
        fields: MergeFields<'_>,
        rule: &EntryMerge,
    ) {
        if has_same(now, fields.after, name) {
            revert(&mut self.remaining, name, fields.before);
            return;
        }
        let by_key = |of: &'_ Object| -> BTreeMap<NumberedKey, Json> {
            let entries = numbered(entries(of, name), rule).into_iter();
            entries.map(|(key, entry)| (key, entry.clone())).collect()
        };
        let (mut after, before) = (by_key(fields.after), by_key(fields.before));
        // The request of the merge can have removed entries.
        let mut removed = before.clone();
        removed.retain(|key, _| !after.contains_key(key));
        // Each entry, and whether it was changed after the merge.
        let mut kept: Vec<(Json, bool)> = Vec::new();
        for (key, entry) in numbered(entries(now, name), rule) {
            let was = after.remove(&key);
            removed.remove(&key);
            if was.as_ref().is_some_and(|was| is_same(was, entry)) {
                kept.extend(before.get(&key).map(|entry| (entry.clone(), false)));
                continue;
            }
            let mut entry = entry.clone();
            if let (Some(consent), Json::Object(entry)) = (rule.consent, &mut entry) {
                let was = was.as_ref().and_then(Json::as_object);
                if was.is_none_or(|was| !has_same(was, entry, consent.name)) {
                    self.tighten(name, &key.0, entry, rule, consent);
                    let before = before.get(&key).and_then(Json::as_object);
                    if let Some(before) = before.and_then(|it| value(it, consent.name)) {
                        tighten(entry, before, consent);
                    }
                }
            }
            let property = PropertyPath::member(name.to_owned()).push_index(kept.len());
            self.left.push(property);
            kept.push((entry, true));
        }
        kept.extend(removed.into_values().map(|entry| (entry, false)));
        if !after.is_empty() {
            self.left.push(PropertyPath::member(name.to_owned()));
        }
        let is_marked = |entry: &Json| entry.as_object().is_some_and(is_primary);
        let has_primary = kept.iter().any(|(it, is_left)| *is_left && is_marked(it));
        let kept = kept.into_iter().map(|(mut entry, is_left)| {
            if let Json::Object(entry) = &mut entry
                && has_primary
                && !is_left
            {
                clear_primary(entry);
            }
            entry
        });
        let kept: Vec<Json> = kept.collect();
        if kept.is_empty() && !fields.before.contains(name) {
            self.remaining.remove(name);
        } else {
            self.remaining.insert(name, Json::Array(kept));
        }
    }

    /// Gives the entries of the merged person with this key the consent of an entry if it is stricter.
    fn tighten(
        &mut self,
        name: &str,
        key: &Result<String, String>,
        entry: &Object,
        rule: &EntryMerge,
        consent: ConsentMember,
    ) {
        let list = self.merged.get_mut(name).and_then(Json::as_array_mut);
        let Some(given) = value(entry, consent.name) else {
            return;
        };
        for known in list.into_iter().flatten() {
            let is_equal = key_of(known, rule) == *key;
            if let Json::Object(known) = known
                && is_equal
            {
                tighten(known, given, consent);
            }
        }
    }
}

/// Sets the consent of an entry if another one is stricter.
fn tighten(entry: &mut Object, given: &Json, consent: ConsentMember) {
    let is_looser = (consent.rank)(entry.get(consent.name)) < (consent.rank)(Some(given));
    if is_looser && is_stricter(given) && has_rank(entry, consent) {
        entry.insert(consent.name, given.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        helper::{ConsentMerge, merge_people},
        json::JsonLimits,
    };

    fn object(text: &str) -> Object {
        let json = Json::read(text.as_bytes(), &JsonLimits::default()).unwrap();
        json.into_object().unwrap()
    }

    /// Merges two people, replaces the fields of the remaining one by those that `change` returns, and
    /// separates them.
    fn separate(
        before: &str,
        merged: &str,
        change: impl FnOnce(Object) -> Object,
    ) -> (String, String, Vec<String>) {
        let (before, merged) = (object(before), object(merged));
        let after = merge_people(&before, &merged, ConsentMerge::Each).fields;
        let fields = MergeFields {
            before: &before,
            after: &after,
            merged: &merged,
        };
        let people = separate_people(&change(after.clone()), fields);
        (
            Json::Object(people.remaining).to_string(),
            Json::Object(people.merged).to_string(),
            people.left.iter().map(PropertyPath::to_string).collect(),
        )
    }

    const ADA: &str = r#"{"given_name":"Ada","gender":"Female","email_addresses":[{"address":"ada@x.org","status":"subscribed","primary":true}],"custom_fields":{"a":"1"}}"#;
    const EVE: &str = r#"{"employer":"E","email_addresses":[{"address":"ADA@x.org","status":"unsubscribed"},{"address":"a@y.org","status":"subscribed"}],"phone_numbers":[{"number":"441632960001"}],"custom_fields":{"a":"2","b":"3"},"birthdate":{"year":1990},"languages_spoken":["fr"]}"#;

    #[test]
    fn people_are_as_before_without_a_change() {
        let (remaining, merged, left) = separate(ADA, EVE, |after| after);
        assert_eq!(object(&remaining), object(ADA), "{remaining}");
        assert_eq!(merged, EVE);
        assert_eq!(left, Vec::<String>::new());
    }

    /// S5 of the design.
    #[test]
    fn later_changes_stay_and_are_named() {
        let (remaining, merged, left) = separate(ADA, EVE, |mut now| {
            now.insert("given_name", "Augusta");
            now.insert(
                "employer_address",
                Json::Object(object(r#"{"locality":"Paris"}"#)),
            );
            let list = now.get_mut("email_addresses").and_then(Json::as_array_mut);
            let entry = list.unwrap()[1].as_object_mut().unwrap();
            entry.insert("status", "unsubscribed");
            now.remove("phone_numbers");
            now.get_mut("custom_fields")
                .and_then(Json::as_object_mut)
                .unwrap()
                .insert("c", "4");
            now
        });
        let remaining = object(&remaining);
        let expected = object(
            r#"{"given_name":"Augusta","gender":"Female","email_addresses":[{"address":"ada@x.org","status":"subscribed","primary":true},{"address":"a@y.org","status":"unsubscribed"}],"custom_fields":{"a":"1","c":"4"},"employer":"E","employer_address":{"locality":"Paris"}}"#,
        );
        assert!(
            is_same(
                &Json::Object(remaining.clone()),
                &Json::Object(expected.clone())
            ),
            "{}",
            Json::Object(remaining)
        );
        let addresses = r#"[{"address":"ADA@x.org","status":"unsubscribed"},{"address":"a@y.org","status":"unsubscribed"}]"#;
        assert!(merged.contains(addresses), "{merged}");
        assert_eq!(
            left,
            [
                "custom_fields.c",
                "email_addresses[1]",
                "employer_address",
                "given_name",
                "phone_numbers"
            ]
        );
    }

    /// A consent that was changed since the merge is the stricter one of before and now.
    #[test]
    fn a_changed_consent_is_never_looser_than_before() {
        let person = |status: &str| {
            format!(r#"{{"email_addresses":[{{"address":"a@x","status":"{status}"}}]}}"#)
        };
        for (before, merged, now, of_remaining, of_merged) in [
            (
                "subscribed",
                "unsubscribed",
                "subscribed",
                "subscribed",
                "unsubscribed",
            ),
            (
                "unsubscribed",
                "subscribed",
                "subscribed",
                "unsubscribed",
                "subscribed",
            ),
            (
                "subscribed",
                "subscribed",
                "unsubscribed",
                "unsubscribed",
                "unsubscribed",
            ),
            (
                "bouncing",
                "subscribed",
                "spam complaints",
                "spam complaints",
                "spam complaints",
            ),
        ] {
            let change = |_| object(&person(now));
            let found = separate(&person(before), &person(merged), change);
            assert_eq!(
                (found.0, found.1),
                (person(of_remaining), person(of_merged)),
                "{before}, {merged}, {now}"
            );
        }
        let number = |flag: bool| {
            format!(r#"{{"phone_numbers":[{{"number":"441632960001","do_not_call":{flag}}}]}}"#)
        };
        let found = separate(&number(false), &number(false), |_| object(&number(true)));
        assert_eq!((found.0, found.1), (number(true), number(true)));
    }

    /// An entry that becomes what it was before is not a second primary one.
    #[test]
    fn one_entry_is_primary() {
        let before = r#"{"email_addresses":[{"address":"a@x","primary":true}]}"#;
        let merged = r#"{"email_addresses":[{"address":"A@x","name":"Work"}]}"#;
        let now = r#"{"email_addresses":[{"address":"a@x","name":"Work","primary":true},{"address":"b@x"}]}"#;
        let (remaining, _, left) = separate(before, merged, |_| object(now));
        assert_eq!(
            remaining,
            r#"{"email_addresses":[{"address":"a@x","primary":true},{"address":"b@x"}]}"#
        );
        assert_eq!(left, ["email_addresses[1]"]);
    }

    /// Entries that the request of the merge removed are there again.
    #[test]
    fn removed_entries_are_restored() {
        let before = object(r#"{"email_addresses":[{"address":"old@x.org"}],"source":"web"}"#);
        let after = object(r#"{"email_addresses":[{"address":"new@x.org"}],"source":"web"}"#);
        let separated = |now: &Object| {
            let fields = MergeFields {
                before: &before,
                after: &after,
                merged: &Object::new(),
            };
            let people = separate_people(now, fields);
            let left = people.left.iter().map(PropertyPath::to_string);
            (Json::Object(people.remaining).to_string(), left.collect())
        };
        let (remaining, left): (String, Vec<String>) = separated(&after);
        assert_eq!(remaining, Json::Object(before.clone()).to_string());
        assert_eq!(left, [""; 0]);
        let now = r#"{"email_addresses":[{"address":"new@x.org"},{"address":"later@x.org"}],"source":"web"}"#;
        let (remaining, left) = separated(&object(now));
        assert_eq!(
            remaining,
            r#"{"email_addresses":[{"address":"later@x.org"},{"address":"old@x.org"}],"source":"web"}"#
        );
        assert_eq!(left, ["email_addresses[0]"]);
    }
}
