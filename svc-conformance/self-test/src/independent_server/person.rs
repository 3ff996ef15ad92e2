//! The person of a helper request: how it is matched, and which of its fields change.
//!
//! Requirements: HLP-04.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::defects::Defect;
use super::kinds;
use super::options::AnonymousEffect;
use super::store::{RecordData, RecordNumber};
use super::write::{Links, TenantWrite};

impl TenantWrite<'_> {
    /// Returns the posted person: matched by e-mail address if the options say so, otherwise a new
    /// one.
    pub(super) fn person(
        &mut self,
        fields: Map<String, Value>,
        identifiers: Vec<String>,
        has_key: bool,
    ) -> (RecordNumber, u16) {
        let Some(kind) = kinds::kind("person") else {
            return (0, 500);
        };
        let strangers = if has_key {
            AnonymousEffect::Change
        } else {
            self.options.strangers
        };
        let is_exact = self.options.matches_exact_case;
        let wanted = address(&fields, is_exact)
            .filter(|_| self.options.matches_people && strangers != AnonymousEffect::MatchNobody);
        let found_to = self.tenants.found_to;
        let known = |record: &&RecordData| {
            wanted.is_some()
                && found_to.is_none_or(|last| record.number <= last)
                && address(&record.body, is_exact) == wanted
        };
        if let Some(number) = self
            .data
            .all(kind)
            .into_iter()
            .find(known)
            .map(|record| record.number)
        {
            match strangers {
                AnonymousEffect::Change => self.merge(number, fields, identifiers),
                _ => self.damage_known(number, &fields, &identifiers),
            }
            return (number, 200);
        }
        if !has_key && self.options.has(Defect::StrangersNameByIdentifier) {
            let named = |record: &&RecordData| {
                identifiers
                    .iter()
                    .any(|one| record.identifiers.contains(one))
            };
            if let Some(number) = self
                .data
                .all(kind)
                .into_iter()
                .find(named)
                .map(|record| record.number)
            {
                self.merge(number, only(&fields, "given_name"), Vec::new());
            }
        }
        let number = self
            .insert(kind, fields, identifiers, Links::new())
            .unwrap_or_default();
        (number, 201)
    }

    fn merge(
        &mut self,
        number: RecordNumber,
        fields: Map<String, Value>,
        identifiers: Vec<String>,
    ) {
        let modified = self.tenants.tick(self.now);
        if let Some(record) = self.data.records.get_mut(&number).map(Arc::make_mut) {
            record.body.extend(fields);
            let new = identifiers
                .into_iter()
                .filter(|one| !record.identifiers.contains(one))
                .collect::<Vec<_>>();
            record.identifiers.extend(new);
            record.modified = modified;
        }
    }

    /// Subscribes every e-mail address of a person.
    fn subscribe(&mut self, number: RecordNumber) {
        let Some(record) = self.data.records.get_mut(&number).map(Arc::make_mut) else {
            return;
        };
        let addresses = record
            .body
            .get_mut("email_addresses")
            .and_then(Value::as_array_mut);
        for address in addresses
            .into_iter()
            .flatten()
            .filter_map(Value::as_object_mut)
        {
            address.insert("status".to_owned(), "subscribed".into());
        }
    }

    /// Applies the faults that let an anonymous caller change a known person.
    fn damage_known(
        &mut self,
        number: RecordNumber,
        fields: &Map<String, Value>,
        identifiers: &[String],
    ) {
        for defect in self.options.defects.clone() {
            match defect {
                Defect::StrangersChange("identifiers") => {
                    self.merge(number, Map::new(), identifiers.to_vec());
                }
                Defect::StrangersChange(name) => self.merge(number, only(fields, name), Vec::new()),
                Defect::AnonymousSubscribes => self.subscribe(number),
                _ => {}
            }
        }
    }
}

/// Returns the first e-mail address of a person, in lower case unless the case is distinguished; an
/// empty one is ignored.
fn address(body: &Map<String, Value>, is_exact: bool) -> Option<String> {
    let first = body
        .get("email_addresses")?
        .as_array()?
        .first()?
        .get("address")?
        .as_str()?;
    let first = if is_exact {
        first.to_owned()
    } else {
        first.to_lowercase()
    };
    Some(first).filter(|address| !address.trim().is_empty())
}

/// Returns one field of a body.
fn only(fields: &Map<String, Value>, name: &str) -> Map<String, Value> {
    fields
        .get_key_value(name)
        .map(|(name, value)| (name.clone(), value.clone()))
        .into_iter()
        .collect()
}
