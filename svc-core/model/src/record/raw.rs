//! Records without the type of their kind, for stores that handle every kind alike.

use std::fmt;

use bytes::Bytes;

use super::{ComputedValue, Identifiers, Meta};
use crate::{
    error::{Error, Result},
    json::{Json, Object, is_items, is_members},
    link::{LinkValue, RecordAddress, ShareNames},
    names::Kind,
    schema::ComputedSource,
    value::Id,
};

/// The fields of a record as JSON.
#[derive(Clone, PartialEq)]
pub enum FieldBytes {
    /// `"name":value` pairs separated by commas, without braces, with the names that
    /// responses use.
    Stored(Bytes),
    /// The same, including computed fields, but with the share objects named as in the tables.
    Typed(Bytes),
}

impl fmt::Debug for FieldBytes {
    /// Omits the values, because they are personal data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (form, bytes) = match self {
            Self::Stored(bytes) => ("Stored", bytes),
            Self::Typed(bytes) => ("Typed", bytes),
        };
        f.debug_tuple(form)
            .field(&format_args!("{} bytes", bytes.len()))
            .finish()
    }
}

/// A record that a backend returns, without the type of its kind.
#[derive(Debug, Clone, PartialEq)]
pub struct RawRecord {
    pub(crate) kind: Kind,
    pub(crate) meta: Meta,
    pub(crate) fields: FieldBytes,
    pub(crate) computed: Vec<(&'static str, ComputedValue)>,
    pub(crate) links: Vec<(&'static str, LinkValue)>,
    pub(crate) own_links: Vec<(String, String)>,
}

impl RawRecord {
    /// Creates a record from JSON bytes: `"name":value` pairs separated by commas, without braces.
    ///
    /// They must not contain identifiers, dates, top-level computed fields or links.
    #[must_use]
    pub fn from_wire(kind: Kind, meta: Meta, fields: impl Into<Bytes>) -> Self {
        let fields = FieldBytes::Stored(fields.into());
        Self {
            kind,
            meta,
            fields,
            computed: Vec::new(),
            links: Vec::new(),
            own_links: Vec::new(),
        }
    }

    /// Returns the record with id, dates and links only.
    #[must_use]
    pub fn without_fields(&self) -> Self {
        Self {
            kind: self.kind,
            meta: Meta {
                identifiers: Identifiers::default(),
                ..self.meta.clone()
            },
            fields: FieldBytes::Stored(Bytes::new()),
            computed: Vec::new(),
            links: self.links.clone(),
            own_links: Vec::new(),
        }
    }

    /// Sets a computed field, replacing a value among the typed fields.
    pub fn add_computed(&mut self, name: &'static str, value: ComputedValue) {
        self.computed.retain(|(known, _)| *known != name);
        if let FieldBytes::Typed(bytes) = &self.fields {
            let mut members = members_object(bytes);
            if members.remove(name).is_some() {
                let mut bytes = Vec::new();
                members.write_members(&mut bytes);
                self.fields = FieldBytes::Typed(bytes.into());
            }
        }
        self.computed.push((name, value));
    }

    /// Adds the target of a link to one record.
    pub fn add_link(&mut self, name: &'static str, to: LinkValue) {
        self.links.push((name, to));
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns id, dates and identifiers.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Returns id, dates and identifiers for changes.
    pub fn meta_mut(&mut self) -> &mut Meta {
        &mut self.meta
    }

    /// Returns the fields as they were given.
    #[must_use]
    pub fn fields(&self) -> &FieldBytes {
        &self.fields
    }

    /// Replaces the fields; the format is that of [`from_wire`](Self::from_wire).
    pub fn set_fields(&mut self, fields: Bytes) {
        self.fields = FieldBytes::Stored(fields);
    }

    /// Returns the computed fields and their values.
    #[must_use]
    pub fn computed(&self) -> &[(&'static str, ComputedValue)] {
        &self.computed
    }

    /// Sets all computed fields to the values of a new record.
    pub fn reset_computed(&mut self) {
        self.computed = ComputedValue::of_new(self.kind);
    }

    /// Sets the computed field with this source, or removes it. Does nothing for a kind without
    /// such a field.
    pub fn set_computed(&mut self, source: ComputedSource, value: Option<ComputedValue>) {
        let Some(field) = self.kind.schema().computed_from(source) else {
            return;
        };
        self.computed.retain(|(name, _)| *name != field.name);
        self.computed.extend(value.map(|value| (field.name, value)));
    }

    /// Returns the links to one record, including hidden ones, and their targets.
    #[must_use]
    pub fn links(&self) -> &[(&'static str, LinkValue)] {
        &self.links
    }

    /// Sets the target of a link to one record, or removes the link.
    pub fn set_link(&mut self, name: &'static str, to: Option<LinkValue>) {
        self.links.retain(|(known, _)| *known != name);
        self.links.extend(to.map(|to| (name, to)));
    }

    /// Returns the names and URLs of the vendor links.
    #[must_use]
    pub fn own_links(&self) -> &[(String, String)] {
        &self.own_links
    }

    /// Returns the target of a link to one record if it is a record of this server.
    #[must_use]
    pub fn link(&self, name: &str) -> Option<&RecordAddress> {
        self.links.iter().find_map(|(link, to)| match to {
            LinkValue::Local(address) if *link == name => Some(address),
            _ => None,
        })
    }

    /// Returns the id of the parent record.
    #[must_use]
    pub fn parent(&self) -> Option<&Id> {
        self.link(self.kind.schema().parent?)
            .map(|address| &address.id)
    }

    /// Returns the fields under the names of the tables. `names` are those of the stored bytes.
    #[must_use]
    pub fn to_fields_lossy(&self, names: &ShareNames) -> Object {
        let (FieldBytes::Stored(members) | FieldBytes::Typed(members)) = &self.fields;
        let mut object = members_object(members);
        if matches!(self.fields, FieldBytes::Stored(_)) {
            names.rename_from_wire(&mut object);
        }
        object
    }

    /// Returns the fields as a store stores them: `"name":value` pairs separated by commas, without
    /// braces.
    #[must_use]
    pub fn wire_fields(&self) -> &[u8] {
        let (FieldBytes::Stored(members) | FieldBytes::Typed(members)) = &self.fields;
        members
    }

    /// Returns the fields under the names of the tables, for a store that reads its own data.
    ///
    /// # Errors
    ///
    /// Returns an error if the stored bytes are not members of a JSON object. The store must not
    /// overwrite such a record, because its data would be lost.
    pub fn to_fields(&self, names: &ShareNames) -> Result<Object> {
        let (FieldBytes::Stored(members) | FieldBytes::Typed(members)) = &self.fields;
        let mut object = parse_members(members)
            .ok_or_else(|| Error::unexpected("a stored record is not JSON"))?;
        if matches!(self.fields, FieldBytes::Stored(_)) {
            names.rename_from_wire(&mut object);
        }
        Ok(object)
    }

    /// Returns whether the stored fields and identifiers are JSON.
    ///
    /// A record that is not well formed is never sent; it can be the result of a damaged file or
    /// database.
    #[must_use]
    pub fn is_well_formed(&self) -> bool {
        is_members(self.wire_fields()) && is_items(self.meta.identifiers.as_json().as_bytes())
    }

    /// Returns the value of the computed field with this source.
    pub fn computed_value(&self, source: ComputedSource) -> Option<&ComputedValue> {
        let field = self.kind.schema().computed_from(source)?;
        self.computed
            .iter()
            .find(|(name, _)| *name == field.name)
            .map(|(_, value)| value)
    }

    /// Returns the address.
    ///
    /// Requirements: COL-19.
    #[must_use]
    pub fn address(&self) -> RecordAddress {
        let parent = self
            .kind
            .schema()
            .path_parent
            .and_then(|_| self.parent().cloned());
        RecordAddress {
            kind: self.kind,
            id: self.meta.id.clone(),
            parent,
        }
    }
}

/// Converts `"name":value` pairs, separated by commas and without braces, into an object.
#[must_use]
pub fn members_object(members: &[u8]) -> Object {
    parse_members(members).unwrap_or_default()
}

fn parse_members(members: &[u8]) -> Option<Object> {
    let mut json = Vec::with_capacity(members.len().saturating_add(2));
    json.push(b'{');
    json.extend_from_slice(members);
    json.push(b'}');
    match Json::read_kept(&json) {
        Some(Json::Object(object)) => Some(object),
        _ => None,
    }
}
