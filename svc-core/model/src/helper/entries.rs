//! Entries of the lists of a person, and how equal ones are merged.
//!
//! Requirements: HLP-04.

use std::collections::BTreeMap;

use crate::{
    json::{Json, Object},
    model::shared::EmailStatus,
    value::{ClosedEnum as _, forms},
};

pub(super) fn merge_member(known: &mut Object, name: &str, value: &Json) {
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
pub(super) struct MergedList {
    name: &'static str,
    /// Returns the key of an entry. Entries with equal keys are merged.
    pub(super) key: fn(&Object) -> Option<String>,
    /// The members that a known entry keeps as they are, because their notation can differ.
    notation: &'static [&'static str],
    /// Whether `;` and an extension can follow in a key. The only posted and the only known entry of a
    /// number are also the same if one of them has no extension.
    has_extension: bool,
}

const MERGED_LISTS: [MergedList; 3] = [
    MergedList {
        name: "email_addresses",
        key: |entry| Some(forms::match_form(text(entry, "address")?).into_owned()),
        notation: &["address"],
        has_extension: false,
    },
    MergedList {
        name: "phone_numbers",
        key: phone_key,
        notation: &["number", "extension"],
        has_extension: true,
    },
    MergedList {
        name: "postal_addresses",
        key: lines_form,
        notation: &["address_lines"],
        has_extension: false,
    },
];

impl MergedList {
    pub(super) fn of(field: &str) -> Option<&'static Self> {
        MERGED_LISTS.iter().find(|list| list.name == field)
    }

    /// Returns the number of a key if the key can have an extension.
    fn number<'k>(&self, key: &'k Result<String, String>) -> Option<&'k str> {
        let key = key.as_ref().ok().filter(|_| self.has_extension)?;
        Some(key.split_once(';').map_or(key, |(number, _)| number))
    }
}

pub(super) fn text<'a>(entry: &'a Object, name: &str) -> Option<&'a str> {
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

pub(super) fn lines_form(entry: &Object) -> Option<String> {
    let lines = entry.get("address_lines")?.as_array()?;
    forms::address_lines(lines.iter().filter_map(Json::as_str))
}

/// The entries of one phone number.
#[derive(Default)]
struct PhoneEntries {
    /// The indexes of the known ones.
    known: Vec<usize>,
    /// The number of posted ones.
    posted: usize,
}

pub(super) fn merge_list(known: &mut Object, list: &MergedList, sent: &[Json]) {
    if sent.is_empty() {
        return;
    }
    let MergedList {
        name: field,
        key,
        notation,
        ..
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
    let mut numbers: BTreeMap<String, PhoneEntries> = BTreeMap::new();
    for (place, item) in stored.iter().enumerate() {
        if let Some(item) = item.as_object() {
            let what = sameness(item, key);
            if let Some(number) = list.number(&what) {
                let known = numbers.entry(number.to_owned()).or_default();
                known.known.push(place);
            }
            places.entry(what).or_insert(place);
        }
    }
    for entry in sent.iter().filter_map(Json::as_object) {
        if let Some(number) = list.number(&sameness(entry, key)) {
            let posted = numbers.entry(number.to_owned()).or_default();
            posted.posted = posted.posted.saturating_add(1);
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
        let place = places.get(&what).copied().or_else(|| {
            let number = list.number(&what)?;
            let PhoneEntries { known, posted: 1 } = numbers.get(number)? else {
                return None;
            };
            let [place] = known.as_slice() else {
                return None;
            };
            let has_none = what.as_deref() == Ok(number);
            (has_none || places.contains_key(&Ok(number.to_owned()))).then_some(*place)
        });
        let Some(item) = place
            .and_then(|place| stored.get_mut(place))
            .and_then(Json::as_object_mut)
        else {
            places.insert(what, stored.len());
            stored.push(Json::Object(entry.clone()));
            continue;
        };
        for (name, value) in entry {
            let is_known = item.get(name).is_some_and(|known| !known.is_empty_value());
            if is_known && notation.contains(&name) {
                continue;
            }
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
pub(super) fn strictness(status: &Json) -> Option<u8> {
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
/// Returns an entry without a key as JSON, without `primary`.
pub fn entry_key(field: &str, entry: &Object) -> Result<String, String> {
    sameness(
        entry,
        MergedList::of(field).map_or(|_| None, |list| list.key),
    )
}

/// Returns the number of a [key](entry_key) of an entry with a phone number, whose extension can change.
#[must_use]
pub fn entry_number<'k>(field: &str, key: &'k Result<String, String>) -> Option<&'k str> {
    MergedList::of(field)?.number(key)
}

/// Returns the key of an entry: its address or number. An entry without one is compared by all its
/// members except `primary`.
pub(super) fn sameness(
    entry: &Object,
    key: fn(&Object) -> Option<String>,
) -> Result<String, String> {
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

pub(super) fn clear_primary(entry: &mut Object) {
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
