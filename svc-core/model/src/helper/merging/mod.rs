//! Merging two people into one.

mod separating;

use std::collections::BTreeMap;

use super::entries::{
    MergedList, clear_primary, is_primary, lines_form, sameness, strictness, text,
};
use crate::{
    error::PropertyPath,
    json::{ContentLimits, Json, Object, is_same},
    model::shared::EmailStatus,
    value::{ClosedEnum as _, Identifier, Timestamp, forms},
};

pub use separating::{MergeFields, SeparatedPeople, separate_people};

/// How the statuses of e-mail addresses change when two people are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ConsentMerge {
    /// Each address has the stricter status of the two people.
    #[default]
    Each,
    /// As [`Each`](Self::Each). If one address of either person is unsubscribed or has complained, every
    /// address that is subscribed or has no status is also unsubscribed.
    Strictest,
}

/// The fields of a person after another one was merged into it, and what the merge did not take over.
///
/// The properties are paths in [`fields`](Self::fields).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MergedPerson {
    /// The finished fields, without identifiers and dates of the record.
    pub fields: Object,
    /// The values of one person that the fields do not contain.
    pub overruled: Vec<OverruledValue>,
    /// The consents that the remaining person, or an added entry of the merged person, gave and that are
    /// stricter now.
    pub tightened: Vec<TightenedValue>,
}

/// A property in which the two people have different values.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OverruledValue {
    /// The path of the property.
    pub property: PropertyPath,
    /// The value of the remaining person, if there is one.
    pub remaining: Option<Json>,
    /// The value of the merged person, if there is one.
    pub merged: Option<Json>,
}

/// A consent that is stricter after a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TightenedValue {
    /// The path of the property: the status of an e-mail address, or `do_not_call` of a phone number.
    pub property: PropertyPath,
    /// The value before, if there was one.
    pub from: Option<Json>,
    /// The value after the merge.
    pub to: Json,
}

/// How a field of two people is merged. All other fields keep the value of the remaining person unless it
/// is empty.
enum FieldMerge {
    /// All fields of the group come from one person: from the remaining one if it has any of them.
    Group,
    /// The more complete date if the two do not contradict each other, otherwise that of the remaining
    /// person.
    Date,
    /// The members of both, with the values of the remaining person.
    Members,
    /// The entries of both. Entries with equal keys are merged by these rules.
    Entries(&'static EntryMerge),
}

/// A member of which the stricter value remains.
#[derive(Clone, Copy)]
struct ConsentMember {
    name: &'static str,
    /// Returns the rank of a value. Higher ranks are stricter.
    rank: fn(Option<&Json>) -> u8,
}

/// How two entries with equal keys are merged. Each member keeps the value of the remaining person unless
/// it is empty.
struct EntryMerge {
    key: fn(&Object) -> Option<String>,
    consent: Option<ConsentMember>,
    /// Members that come from the person whose second one is the later timestamp.
    verified: &'static [&'static str],
}

const FIELDS: [(&[&str], FieldMerge); 10] = [
    (&["gender", "gender_identity"], FieldMerge::Group),
    (&["employer", "employer_address"], FieldMerge::Group),
    (&["birthdate"], FieldMerge::Date),
    (&["custom_fields"], FieldMerge::Members),
    (
        &["ethnicities", "languages_spoken"],
        FieldMerge::Entries(&EntryMerge {
            key: |_| None,
            consent: None,
            verified: &[],
        }),
    ),
    (
        &["parties"],
        FieldMerge::Entries(&EntryMerge {
            key: party_key,
            consent: None,
            verified: &[],
        }),
    ),
    (
        &["email_addresses"],
        FieldMerge::Entries(&EntryMerge {
            key: |entry| MergedList::of("email_addresses").and_then(|list| (list.key)(entry)),
            consent: Some(ConsentMember {
                name: "status",
                rank: status_rank,
            }),
            verified: &[],
        }),
    ),
    (
        &["phone_numbers"],
        FieldMerge::Entries(&EntryMerge {
            key: |entry| MergedList::of("phone_numbers").and_then(|list| (list.key)(entry)),
            consent: Some(ConsentMember {
                name: "do_not_call",
                rank: do_not_call_rank,
            }),
            verified: &[],
        }),
    ),
    (
        &["postal_addresses"],
        FieldMerge::Entries(&EntryMerge {
            key: place_key,
            consent: None,
            verified: &["status", "last_verified_date"],
        }),
    ),
    (
        &["profiles"],
        FieldMerge::Entries(&EntryMerge {
            key: profile_key,
            consent: None,
            verified: &[],
        }),
    ),
];

/// Returns the finished fields of a person after another one is merged into it. Neither contains
/// identifiers or dates of the record, which [`merge_identifiers`] merges.
///
/// A vendor's operation stores these fields, and repoints all records of the merged person, in one
/// transaction. Each value of the remaining person stays unless it is empty, and each value of the merged
/// person that is not in the fields is in [`MergedPerson::overruled`], except the mark of a primary entry
/// and a list or object of another JSON type. No address has a looser status, and
/// no number a looser `do_not_call`, than it has on either person. Lists contain the entries of both, in
/// the order of the remaining person. Entries are compared by the [forms] of their values.
///
/// # Examples
///
/// ```
/// use svc_core::{helper::{ConsentMerge, merge_people}, read::{Json, JsonLimits, Object}};
///
/// let person = |text: &str| {
///     let json = Json::read(text.as_bytes(), &JsonLimits::default()).ok();
///     json.and_then(|json| json.into_object().ok()).unwrap_or_default()
/// };
/// let remaining = person(r#"{"given_name":"Ada","email_addresses":[{"address":"ada@x.org","status":"subscribed"}]}"#);
/// let merged = person(r#"{"given_name":"A.","email_addresses":[{"address":"ada@x.org","status":"unsubscribed"}]}"#);
///
/// let result = merge_people(&remaining, &merged, ConsentMerge::Each);
/// assert_eq!(
///     Json::Object(result.fields).to_string(),
///     r#"{"given_name":"Ada","email_addresses":[{"address":"ada@x.org","status":"unsubscribed"}]}"#
/// );
/// assert_eq!(result.overruled[0].property.to_string(), "given_name");
/// assert_eq!(result.tightened[0].property.to_string(), "email_addresses[0].status");
/// ```
#[must_use]
pub fn merge_people(remaining: &Object, merged: &Object, consent: ConsentMerge) -> MergedPerson {
    let mut result = MergedPerson {
        fields: remaining.clone(),
        ..MergedPerson::default()
    };
    for (names, rule) in &FIELDS {
        match rule {
            FieldMerge::Group => result.merge_group(names, merged),
            FieldMerge::Date => {
                for name in *names {
                    result.merge_date(name, merged);
                }
            }
            FieldMerge::Members => {
                for name in *names {
                    result.merge_members(name, merged);
                }
            }
            FieldMerge::Entries(entries) => {
                for name in *names {
                    result.merge_entries(name, merged, entries);
                }
            }
        }
    }
    for (name, value) in merged {
        if !FIELDS.iter().any(|(names, _)| names.contains(&name)) {
            let property = PropertyPath::member(name.to_owned());
            fill(
                &mut result.fields,
                name,
                value,
                property,
                &mut result.overruled,
            );
        }
    }
    if consent == ConsentMerge::Strictest {
        result.unsubscribe();
    }
    result
}

impl MergedPerson {
    /// Checks that no list has more entries, and the record not more bytes, than the limits allow. What the
    /// remaining person already exceeds is allowed. The caller checks the number of identifiers.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) with each list that is too long.
    ///
    /// Requirements: UND-17.
    pub fn check_limits(&self, remaining: &Object, limits: &ContentLimits) -> crate::Result<()> {
        let problems = limits.exceeded_by(remaining, &self.fields);
        if problems.is_empty() {
            Ok(())
        } else {
            Err(crate::Error::invalid_all(problems))
        }
    }

    fn merge_group(&mut self, names: &[&str], merged: &Object) {
        let has_any = names.iter().any(|name| value(&self.fields, name).is_some());
        for name in names {
            let Some(new) = value(merged, name) else {
                continue;
            };
            if has_any {
                self.overrule(PropertyPath::member((*name).to_owned()), name, new);
            } else {
                self.fields.insert(*name, new.clone());
            }
        }
    }

    /// Lists a value of the merged person that differs from the one that remains.
    fn overrule(&mut self, property: PropertyPath, name: &str, merged: &Json) {
        let remaining = value(&self.fields, name);
        if remaining.is_none_or(|remaining| !is_same(remaining, merged)) {
            self.overruled.push(OverruledValue {
                property,
                remaining: remaining.cloned(),
                merged: Some(merged.clone()),
            });
        }
    }

    fn merge_date(&mut self, name: &str, merged: &Object) {
        let Some(new) = value(merged, name) else {
            return;
        };
        let property = PropertyPath::member(name.to_owned());
        let (Some(Json::Object(stored)), Json::Object(date)) = (value(&self.fields, name), new)
        else {
            return fill(&mut self.fields, name, new, property, &mut self.overruled);
        };
        let contains = |one: &Object, other: &Object| {
            let mut members = other.iter().filter(|(_, it)| !it.is_empty_value());
            members.all(|(name, value)| one.get(name).is_some_and(|it| is_same(it, value)))
        };
        let contradicts = stored.iter().any(|(name, known)| {
            let other = value(date, name).filter(|_| !known.is_empty_value());
            other.is_some_and(|other| !is_same(other, known))
        });
        let members = |date: &Object| date.iter().filter(|(_, it)| !it.is_empty_value()).count();
        let takes_new = !contradicts && members(date) > members(stored);
        let (from, other) = if takes_new {
            (date, stored)
        } else {
            (stored, date)
        };
        if !contains(from, other) {
            self.overruled.push(OverruledValue {
                property,
                remaining: Some(Json::Object(stored.clone())),
                merged: Some(new.clone()),
            });
        }
        if takes_new {
            self.fields.insert(name, new.clone());
        }
    }

    fn merge_members(&mut self, name: &str, merged: &Object) {
        let Some(Json::Object(new)) = value(merged, name) else {
            return;
        };
        if !matches!(self.fields.get(name), Some(Json::Object(_))) {
            self.fields.insert(name, Json::Object(Object::new()));
        }
        if let Some(Json::Object(members)) = self.fields.get_mut(name) {
            for (member, new) in new {
                let property = PropertyPath::member(name.to_owned()).push_member(member.to_owned());
                fill(members, member, new, property, &mut self.overruled);
            }
        }
    }

    fn merge_entries(&mut self, name: &str, merged: &Object, rule: &EntryMerge) {
        let Some(Json::Array(new)) = value(merged, name) else {
            return;
        };
        if !matches!(self.fields.get(name), Some(Json::Array(_))) {
            self.fields.insert(name, Json::Array(Vec::new()));
        }
        let Some(Json::Array(entries)) = self.fields.get_mut(name) else {
            return;
        };
        let is_marked = |entry: &Json| entry.as_object().is_some_and(is_primary);
        let mut has_primary = entries.iter().any(is_marked);
        let mut places = BTreeMap::new();
        for (place, entry) in entries.iter().enumerate() {
            places.entry(key_of(entry, rule)).or_insert(place);
        }
        for entry in new {
            let next = entries.len();
            let place = *places.entry(key_of(entry, rule)).or_insert(next);
            let takes_primary = !has_primary && is_marked(entry);
            let Some(known) = entries.get_mut(place) else {
                let mut entry = entry.clone();
                if let Json::Object(entry) = &mut entry
                    && !takes_primary
                {
                    clear_primary(entry);
                }
                entries.push(entry);
                has_primary |= takes_primary;
                continue;
            };
            if let (Json::Object(known), Json::Object(entry)) = (known, entry) {
                let at = PropertyPath::member(name.to_owned()).push_index(place);
                let mut step = EntryStep {
                    at: &at,
                    overruled: &mut self.overruled,
                    tightened: &mut self.tightened,
                };
                step.merge(known, entry, rule);
                if let Some(mark) = entry.get("primary").filter(|_| takes_primary) {
                    known.insert("primary", mark.clone());
                    has_primary = true;
                }
            }
        }
        // A list can have several entries with one key.
        if let Some(consent) = rule.consent {
            let at = PropertyPath::member(name.to_owned());
            tighten_equal(entries, rule, consent, &at, &mut self.tightened);
        }
    }

    /// Sets addresses without a stricter status to unsubscribed if one address of the two people is.
    ///
    /// The status of an address is already the stricter one of both.
    fn unsubscribe(&mut self) {
        let unsubscribed = EmailStatus::Unsubscribed.as_str();
        let limit = status_rank(Some(&Json::from(unsubscribed)));
        let Some(Json::Array(entries)) = self.fields.get_mut("email_addresses") else {
            return;
        };
        let rank = |entry: &Object| status_rank(entry.get("status"));
        let mut ranks = entries.iter().filter_map(Json::as_object).map(rank);
        if !ranks.any(|rank| rank >= limit) {
            return;
        }
        let bouncing = status_rank(Some(&Json::from(EmailStatus::Bouncing.as_str())));
        for (place, entry) in entries.iter_mut().enumerate() {
            let Json::Object(entry) = entry else { continue };
            if rank(entry) >= bouncing {
                continue;
            }
            let from = value(entry, "status").cloned();
            entry.insert("status", unsubscribed);
            let property = PropertyPath::member("email_addresses").push_index(place);
            self.tightened.push(TightenedValue {
                property: property.push_member("status"),
                from,
                to: Json::from(unsubscribed),
            });
        }
    }
}

/// The merge of two entries with equal keys.
struct EntryStep<'a> {
    at: &'a PropertyPath,
    overruled: &'a mut Vec<OverruledValue>,
    tightened: &'a mut Vec<TightenedValue>,
}

impl EntryStep<'_> {
    fn merge(&mut self, known: &mut Object, entry: &Object, rule: &EntryMerge) {
        let is_later = is_later(known, entry, rule.verified);
        for name in rule.verified {
            let (before, new) = (value(known, name).cloned(), value(entry, name));
            let other = if is_later { before.as_ref() } else { new };
            let from = if is_later { new } else { before.as_ref() };
            let is_lost = |other: &Json| from.is_none_or(|from| !is_same(from, other));
            if other.is_some_and(is_lost) {
                self.overruled.push(OverruledValue {
                    property: self.at.clone().push_member((*name).to_owned()),
                    remaining: before.clone(),
                    merged: new.cloned(),
                });
            }
            if is_later {
                match new {
                    Some(new) => _ = known.insert(*name, new.clone()),
                    None => _ = known.remove(name),
                }
            }
        }
        for (name, new) in entry {
            if name == "primary" || rule.verified.contains(&name) {
                continue;
            }
            let property = self.at.clone().push_member(name.to_owned());
            if let Some(ConsentMember { name: member, rank }) = rule.consent
                && member == name
                && rank(Some(new)) > rank(known.get(name))
                && has_rank(known, ConsentMember { name: member, rank })
            {
                let from = value(known, name).cloned();
                known.insert(name, new.clone());
                if is_stricter(new) {
                    let to = new.clone();
                    self.tightened.push(TightenedValue { property, from, to });
                }
                continue;
            }
            fill(known, name, new, property, self.overruled);
        }
    }
}

/// Returns whether an entry has no consent, or one with a rank. A text of another program can have none,
/// and remains.
fn has_rank(entry: &Object, consent: ConsentMember) -> bool {
    value(entry, consent.name).is_none_or(|known| (consent.rank)(Some(known)) > 0)
}

/// Gives all entries with one key the strictest consent of them.
fn tighten_equal(
    entries: &mut [Json],
    rule: &EntryMerge,
    consent: ConsentMember,
    at: &PropertyPath,
    tightened: &mut Vec<TightenedValue>,
) {
    let rank = |entry: &Object| (consent.rank)(entry.get(consent.name));
    let mut strictest: BTreeMap<_, (u8, Json)> = BTreeMap::new();
    for entry in entries.iter() {
        let Json::Object(object) = entry else {
            continue;
        };
        if let Some(given) = value(object, consent.name).filter(|given| is_stricter(given)) {
            let known = strictest.entry(key_of(entry, rule)).or_default();
            if rank(object) > known.0 {
                *known = (rank(object), given.clone());
            }
        }
    }
    for (place, entry) in entries.iter_mut().enumerate() {
        let Some((least, to)) = strictest.get(&key_of(entry, rule)) else {
            continue;
        };
        if let Json::Object(entry) = entry
            && rank(entry) < *least
            && has_rank(entry, consent)
        {
            let from = value(entry, consent.name).cloned();
            entry.insert(consent.name, to.clone());
            let property = at.clone().push_index(place).push_member(consent.name);
            let to = to.clone();
            tightened.push(TightenedValue { property, from, to });
        }
    }
}

/// Returns whether a consent is stricter than none at all.
fn is_stricter(consent: &Json) -> bool {
    match consent {
        Json::Bool(consent) => *consent,
        status => strictness(status).is_some_and(|rank| rank > 0),
    }
}

/// Inserts a value where the object has none, and lists a different value.
fn fill(
    known: &mut Object,
    name: &str,
    new: &Json,
    property: PropertyPath,
    overruled: &mut Vec<OverruledValue>,
) {
    if new.is_empty_value() {
        return;
    }
    match value(known, name) {
        None => _ = known.insert(name, new.clone()),
        Some(stored) if is_same(stored, new) => {}
        Some(stored) => overruled.push(OverruledValue {
            property,
            remaining: Some(stored.clone()),
            merged: Some(new.clone()),
        }),
    }
}

/// Returns the value of a member unless it is empty.
fn value<'a>(object: &'a Object, name: &str) -> Option<&'a Json> {
    object.get(name).filter(|value| !value.is_empty_value())
}

/// Returns the key of an entry. Entries without one are compared as a whole.
fn key_of(entry: &Json, rule: &EntryMerge) -> Result<String, String> {
    match entry {
        Json::Object(entry) => sameness(entry, rule.key),
        other => Err(other.to_string()),
    }
}

/// Returns whether the pair of the merged entry was verified later than that of the known one, or is the
/// only one.
fn is_later(known: &Object, entry: &Object, pair: &[&str]) -> bool {
    let has_any = |object: &Object| pair.iter().any(|name| value(object, name).is_some());
    let date = |object: &Object| {
        pair.last()
            .and_then(|name| Timestamp::parse(text(object, name)?))
    };
    match (date(known), date(entry)) {
        (None, None) => !has_any(known) && has_any(entry),
        (known, entry) => entry > known,
    }
}

/// Returns the rank of the status of an e-mail address. No status has the lowest rank.
fn status_rank(status: Option<&Json>) -> u8 {
    status
        .and_then(strictness)
        .map_or(0, |rank| rank.saturating_add(1))
}

fn do_not_call_rank(flag: Option<&Json>) -> u8 {
    match flag {
        Some(Json::Bool(flag)) => u8::from(*flag).saturating_add(1),
        _ => 0,
    }
}

fn party_key(entry: &Object) -> Option<String> {
    let [name, date] = ["identification", "last_verified_date"].map(|name| value(entry, name));
    let text = |value: Option<&Json>| value.map(ToString::to_string).unwrap_or_default();
    (name.is_some() || date.is_some()).then(|| format!("{}\n{}", text(name), text(date)))
}

fn place_key(entry: &Object) -> Option<String> {
    let lines = lines_form(entry)?;
    let country = text(entry, "country").filter(|country| !country.is_empty());
    let code = text(entry, "postal_code").unwrap_or_default();
    let code = forms::postal_code(code, country).unwrap_or_else(|| code.trim().to_uppercase());
    // Without a postal code, the same lines can be in two towns.
    let town = text(entry, "locality").filter(|_| code.is_empty());
    let town = forms::address_lines(town).unwrap_or_default();
    let country = country.unwrap_or_default().to_uppercase();
    Some(format!("{lines}\n{code}\n{town}\n{country}"))
}

fn profile_key(entry: &Object) -> Option<String> {
    forms::profile(
        text(entry, "provider")?,
        text(entry, "id"),
        text(entry, "handle"),
    )
}

/// The identifiers of a person that is merged.
#[derive(Debug, Clone, Copy)]
pub struct PersonIdentifiers<'a> {
    /// The identifier in the server's own namespace.
    pub own: &'a Identifier,
    /// The other identifiers. They contain those of the people that were merged into this person.
    pub others: &'a [Identifier],
}

/// Returns the identifiers of a person after another one is merged into it, each once: its own one, its
/// other ones, the own one of the merged person, and the others of the merged person.
///
/// # Examples
///
/// ```
/// use svc_core::{helper::{PersonIdentifiers, merge_identifiers}, value::Identifier};
///
/// let all: Vec<_> = ["svc:1", "shop:7", "svc:2", "crm:9"].iter().filter_map(|text| Identifier::parse(text)).collect();
/// let remaining = PersonIdentifiers { own: &all[0], others: &all[1..2] };
/// let merged = PersonIdentifiers { own: &all[2], others: &all[3..] };
/// assert_eq!(merge_identifiers(remaining, merged), all);
/// ```
///
/// Requirements: UND-24.
#[must_use]
pub fn merge_identifiers(
    remaining: PersonIdentifiers<'_>,
    merged: PersonIdentifiers<'_>,
) -> Vec<Identifier> {
    let mut all = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for person in [remaining, merged] {
        for identifier in std::iter::once(person.own).chain(person.others) {
            if seen.insert(identifier) {
                all.push(identifier.clone());
            }
        }
    }
    all
}

#[cfg(test)]
mod tests;
