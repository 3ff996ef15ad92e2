//! What a backend hands over: a record as a typed value or as wire-ready bytes.

use std::{fmt, marker::PhantomData, ops::Deref};

use bytes::Bytes;

use crate::{
    describe::MemberWriter,
    error::{Error, Result},
    field_set::{FieldKey, LinkKey},
    json::{Json, Object, write_string},
    link::{Ref, ShareNames, is_relation_name},
    model::{Kind, Resource},
    schema::Source,
    value::{Amount, Id, Identifier, Timestamp},
};

/// What every record has besides its fields (TYP-13 to TYP-16).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Meta {
    /// The id (UND-41). It is also the record's identifier in the server's namespace (ENT-08).
    pub id: Id,
    /// When it was created (TYP-15).
    pub created: Timestamp,
    /// When it was last changed (TYP-16).
    pub modified: Timestamp,
    /// Its foreign identifiers.
    pub identifiers: Identifiers,
}

impl Meta {
    /// A record made at this moment, without foreign identifiers.
    #[must_use]
    pub fn new(id: Id, created: Timestamp) -> Self {
        Self { id, created, modified: created, identifiers: Identifiers::default() }
    }

    /// With the moment of its last change.
    #[must_use]
    pub fn modified(mut self, modified: Timestamp) -> Self {
        self.modified = modified;
        self
    }

    /// With its foreign identifiers.
    #[must_use]
    pub fn identifiers(mut self, identifiers: &[Identifier]) -> Self {
        self.identifiers = Identifiers::of(identifiers);
        self
    }
}

/// The foreign identifiers of a record, ready for the wire.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identifiers(String);

impl Identifiers {
    /// These identifiers.
    #[must_use]
    pub fn of(identifiers: &[Identifier]) -> Self {
        let mut json = Vec::new();
        for (place, identifier) in identifiers.iter().enumerate() {
            if place > 0 {
                json.push(b',');
            }
            write_string(identifier.as_str(), &mut json);
        }
        Self(String::from_utf8(json).unwrap_or_default())
    }

    /// Elements of a JSON array of strings, separated by commas, as [`Identifiers::as_json`] gave them.
    #[must_use]
    pub fn from_stored(json: String) -> Self {
        Self(json)
    }

    /// The identifiers one by one.
    #[must_use]
    pub fn to_vec(&self) -> Vec<Identifier> {
        match Json::read_kept(format!("[{}]", self.0).as_bytes()) {
            Some(Json::Array(list)) => list.iter().filter_map(Json::as_str).filter_map(Identifier::parse).collect(),
            _ => Vec::new(),
        }
    }

    /// The elements of a JSON array of strings, separated by commas.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

/// A computed value, for a record that is handed over as bytes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Computed {
    /// A number of things.
    Count(i64),
    /// A sum of money.
    Amount(Amount),
    /// A moment.
    Timestamp(Timestamp),
    /// The relation of a kind, sent with the dialect's prefix (UND-05).
    Relation(Kind),
}

/// The fields of a record, ready for the wire.
#[derive(Clone, PartialEq)]
pub(crate) enum Fields {
    /// `"name":value` pairs separated by commas, without braces, under wire names.
    Stored(Bytes),
    /// The same, but share objects under the names of the tables, computed fields among them.
    Typed(Bytes),
}

impl fmt::Debug for Fields {
    /// Without values: they are personal data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (form, bytes) = match self {
            Self::Stored(bytes) => ("Stored", bytes),
            Self::Typed(bytes) => ("Typed", bytes),
        };
        f.debug_tuple(form).field(&format_args!("{} bytes", bytes.len())).finish()
    }
}

/// A record on its way to the wire, without the type of its kind.
#[derive(Debug, Clone, PartialEq)]
pub struct RawRecord {
    pub(crate) kind: Kind,
    pub(crate) meta: Meta,
    pub(crate) fields: Fields,
    pub(crate) computed: Vec<(&'static str, Computed)>,
    pub(crate) links: Vec<(&'static str, Ref)>,
    pub(crate) own_links: Vec<(String, String)>,
}

impl RawRecord {
    /// A record whose fields are stored wire-ready: `"name":value` pairs separated by commas, without braces, without
    /// identifiers, dates, computed fields of the top level and links.
    #[must_use]
    pub fn stored(kind: Kind, meta: Meta, fields: impl Into<Bytes>) -> Self {
        let fields = Fields::Stored(fields.into());
        Self { kind, meta, fields, computed: Vec::new(), links: Vec::new(), own_links: Vec::new() }
    }

    /// Sets a computed field; a value among typed fields gives way.
    pub fn add_computed(&mut self, name: &'static str, value: Computed) {
        self.computed.retain(|(known, _)| *known != name);
        if let Fields::Typed(bytes) = &self.fields {
            let mut members = members_object(bytes);
            if members.remove(name).is_some() {
                let mut bytes = Vec::new();
                members.write_members(&mut bytes);
                self.fields = Fields::Typed(bytes.into());
            }
        }
        self.computed.push((name, value));
    }

    /// Adds where a link to one record leads.
    pub fn add_link(&mut self, name: &'static str, to: Ref) {
        self.links.push((name, to));
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Id, dates and identifiers.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Where a link to one record leads, when it is a record of this server.
    #[must_use]
    pub fn link(&self, name: &str) -> Option<&crate::link::Address> {
        self.links.iter().find_map(|(link, to)| match to {
            Ref::Local(address) if *link == name => Some(address),
            _ => None,
        })
    }

    /// The id of the container it lives in.
    #[must_use]
    pub fn parent(&self) -> Option<&Id> {
        self.link(self.kind.schema().parent?).map(|address| &address.id)
    }

    /// Its fields under the names of the tables; `names` are those of the stored bytes.
    #[must_use]
    pub fn fields_object(&self, names: &ShareNames) -> Object {
        let (Fields::Stored(members) | Fields::Typed(members)) = &self.fields;
        let mut object = members_object(members);
        if matches!(self.fields, Fields::Stored(_)) {
            names.rename_from_wire(&mut object);
        }
        object
    }

    /// Its fields as a store keeps them: `"name":value` pairs separated by commas, without braces.
    #[must_use]
    pub fn stored_fields(&self) -> &[u8] {
        let (Fields::Stored(members) | Fields::Typed(members)) = &self.fields;
        members
    }

    /// Its fields under the names of the tables, for a store that reads what it has stored itself.
    ///
    /// # Errors
    ///
    /// When the stored bytes are not members of a JSON object: nothing may be made of them, or it would be lost.
    pub fn read_fields(&self, names: &ShareNames) -> Result<Object> {
        let (Fields::Stored(members) | Fields::Typed(members)) = &self.fields;
        let mut object = parse_members(members).ok_or_else(|| Error::unexpected("a stored record is not JSON"))?;
        if matches!(self.fields, Fields::Stored(_)) {
            names.rename_from_wire(&mut object);
        }
        Ok(object)
    }

    /// The value of the computed field with this source.
    pub(crate) fn computed_value(&self, source: Source) -> Option<&Computed> {
        let field = self.kind.schema().computed_from(source)?;
        self.computed.iter().find(|(name, _)| *name == field.name).map(|(_, value)| value)
    }

    /// Its address (COL-19).
    #[must_use]
    pub fn address(&self) -> crate::link::Address {
        let parent = self.kind.schema().home.and_then(|_| self.parent().cloned());
        crate::link::Address { kind: self.kind, id: self.meta.id.clone(), parent }
    }
}

/// `"name":value` pairs separated by commas, without braces, as an object.
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

/// A record on its way to the wire.
///
/// A backend that keeps typed data hands over [`Record::new`]; one that keeps wire-ready JSON [`Record::stored`], and
/// nothing is parsed on the way.
///
/// # Examples
///
/// ```
/// use svc_core::{Record, link::Address, model::{Kind, Petition, Signature, petition, signature}, record::{Computed, Meta}, value::{Id, Timestamp}};
///
/// let id = |text| Id::new(text).ok_or("id");
/// let now = Timestamp::from_micros(0);
///
/// // Typed, with a computed field and where its links lead.
/// let petition = Petition { title: Some("More trees".into()), ..Petition::default() };
/// let petition = Record::new(Meta::new(id("p1")?, now), petition)
///     .computed(petition::key::total_signatures, Computed::Count(1));
///
/// // As a store keeps it: the inside of a JSON object.
/// let signature = Record::<Signature>::stored(Meta::new(id("s1")?, now), Box::from(*br#""comments":"Yes!""#))
///     .link(signature::link::petition, Address::top(Kind::Petition, id("p1")?))
///     .link(signature::link::person, Address::top(Kind::Person, id("a")?));
/// assert_eq!(signature.into_raw().address(), Address::under(Kind::Signature, id("p1")?, id("s1")?));
/// # let _ = petition;
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Record<R> {
    raw: RawRecord,
    kind: PhantomData<fn() -> R>,
}

impl<R: Resource> Record<R> {
    /// A record of typed fields, computed ones among them.
    #[must_use]
    #[allow(clippy::needless_pass_by_value, reason = "a record is handed over, not lent")]
    pub fn new(meta: Meta, fields: R) -> Self {
        let mut bytes = Vec::new();
        let names = ShareNames::default();
        fields.write_members(&mut MemberWriter::new(&mut bytes, &names));
        bytes.pop();
        let mut raw = RawRecord::stored(R::KIND, meta, Bytes::new());
        raw.fields = Fields::Typed(bytes.into());
        Self::from_raw(raw)
    }

    /// A record whose fields are stored wire-ready; see [`RawRecord::stored`].
    #[must_use]
    pub fn stored(meta: Meta, fields: impl Into<Bytes>) -> Self {
        Self::from_raw(RawRecord::stored(R::KIND, meta, fields))
    }

    /// The typed view of a record of this kind.
    #[must_use]
    pub fn from_raw(raw: RawRecord) -> Self {
        Self { raw, kind: PhantomData }
    }

    /// With the value of a computed field.
    #[must_use]
    pub fn computed(mut self, key: FieldKey<R>, value: Computed) -> Self {
        if let Some(field) = key.field() {
            self.raw.add_computed(field.name, value);
        }
        self
    }

    /// With where a link to one record leads. The container's link gives the record its address (COL-19).
    #[must_use]
    pub fn link(mut self, key: LinkKey<R>, to: impl Into<Ref>) -> Self {
        self.raw.add_link(key.name(), to.into());
        self
    }

    /// With a link under a relation of the vendor's own (ENT-27): `name` is 1 to 64 of `[a-z0-9_-]`. It is sent where the
    /// API has [`OwnRelations`](crate::api::OwnRelations); another name is dropped, and of one name the last link counts.
    #[must_use]
    pub fn own_link(mut self, name: &str, href: impl Into<String>) -> Self {
        if is_relation_name(name) {
            self.raw.own_links.retain(|(known, _)| known != name);
            self.raw.own_links.push((name.to_owned(), href.into()));
        }
        self
    }

    /// The fields as a typed value again. Share objects of stored bytes are read under their names in the tables.
    #[must_use]
    pub fn fields(&self) -> R {
        R::from_object(&self.raw.fields_object(&ShareNames::default()))
    }

    /// The record without its type.
    #[must_use]
    pub fn into_raw(self) -> RawRecord {
        self.raw
    }
}

impl<R> Deref for Record<R> {
    type Target = RawRecord;

    fn deref(&self) -> &RawRecord {
        &self.raw
    }
}
