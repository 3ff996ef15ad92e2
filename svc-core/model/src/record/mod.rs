//! What a backend hands over: a record as a typed value or as wire-ready bytes.

pub(crate) mod raw;
mod state;

use std::marker::PhantomData;

use bytes::Bytes;

use crate::{
    describe::MemberWriter,
    field_set::{FieldKey, LinkKey},
    json::{Json, write_string},
    link::{LinkValue, RecordAddress, ShareNames, is_relation_name},
    model::{Kind, Resource},
    schema::ComputedSource,
    value::{Amount, Id, Identifier, Timestamp},
};

pub use raw::{FieldBytes, RawRecord, members_object};
pub use state::RecordState;

/// What every record has besides its fields.
///
/// Requirements: TYP-13 to TYP-16.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Meta {
    /// The id. It is also the record's identifier in the server's namespace.
    ///
    /// Requirements: UND-41, ENT-08.
    pub id: Id,
    /// When it was created.
    ///
    /// Requirements: TYP-15.
    pub created: Timestamp,
    /// When it was last changed.
    ///
    /// Requirements: TYP-16.
    pub modified: Timestamp,
    /// Its foreign identifiers.
    pub identifiers: Identifiers,
    /// The number of its state, where its table counts one: another one after each change. It is
    /// never sent; entity tags and conditions depend on it.
    ///
    /// Requirements: ETG-01, ETG-07.
    pub version: Option<i64>,
}

impl Meta {
    /// A record made at this moment, without foreign identifiers.
    #[must_use]
    pub fn new(id: Id, created: Timestamp) -> Self {
        Self {
            id,
            created,
            modified: created,
            identifiers: Identifiers::default(),
            version: None,
        }
    }

    /// With the moment of its last change.
    #[must_use]
    pub fn with_modified(mut self, modified: Timestamp) -> Self {
        self.modified = modified;
        self
    }

    /// With its foreign identifiers.
    #[must_use]
    pub fn with_identifiers(mut self, identifiers: &[Identifier]) -> Self {
        self.identifiers = Identifiers::from_slice(identifiers);
        self
    }

    /// With the number that its table counts with each change.
    #[must_use]
    pub fn with_version(mut self, version: i64) -> Self {
        self.version = Some(version);
        self
    }

    /// The state that a change is made from.
    #[must_use]
    pub fn state(&self) -> RecordState {
        RecordState {
            modified: self.modified,
            version: self.version,
        }
    }
}

/// The foreign identifiers of a record, ready for the wire.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identifiers(String);

impl Identifiers {
    /// These identifiers.
    #[must_use]
    pub fn from_slice(identifiers: &[Identifier]) -> Self {
        let mut json = Vec::new();
        for (place, identifier) in identifiers.iter().enumerate() {
            if place > 0 {
                json.push(b',');
            }
            write_string(identifier.as_str(), &mut json);
        }
        Self(String::from_utf8(json).unwrap_or_default())
    }

    /// Elements of a JSON array of strings, separated by commas, as [`Identifiers::as_json`] gave
    /// them.
    #[must_use]
    pub fn from_stored(json: String) -> Self {
        Self(json)
    }

    /// The identifiers one by one.
    #[must_use]
    pub fn to_vec(&self) -> Vec<Identifier> {
        match Json::read_kept(format!("[{}]", self.0).as_bytes()) {
            Some(Json::Array(list)) => list
                .iter()
                .filter_map(Json::as_str)
                .filter_map(Identifier::parse)
                .collect(),
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
pub enum ComputedValue {
    /// A number of things.
    Count(i64),
    /// A sum of money.
    Amount(Amount),
    /// A moment.
    Timestamp(Timestamp),
    /// The relation of a kind, sent with the dialect's prefix.
    ///
    /// Requirements: UND-05.
    Relation(Kind),
}

impl ComputedValue {
    /// The computed fields of a record that was just made.
    #[must_use]
    pub fn of_new(kind: Kind) -> Vec<(&'static str, Self)> {
        let at_first = |source| match source {
            ComputedSource::Outside
            | ComputedSource::Count(_)
            | ComputedSource::Accepted(_)
            | ComputedSource::Number(_) => Some(Self::Count(0)),
            ComputedSource::Sum(_) => Some(Self::Amount(Amount::ZERO)),
            ComputedSource::Relation(kind) => Some(Self::Relation(kind)),
            ComputedSource::Clock
            | ComputedSource::ScheduledStart
            | ComputedSource::ScheduledStop => None,
        };
        let fields = kind.schema().fields.fields.iter();
        fields
            .filter_map(|field| Some((field.name, field.source().and_then(at_first)?)))
            .collect()
    }
}

/// A record on its way to the wire.
///
/// A backend that keeps typed data hands over [`Record::new`]; one that keeps wire-ready JSON
/// [`Record::from_wire`], and nothing is parsed on the way.
///
/// # Examples
///
/// ```
/// use svc_core::{Record, link::RecordAddress, model::{Kind, Petition, Signature, petition, signature}, record::{ComputedValue, Meta}, value::{Id, Timestamp}};
///
/// let id = |text| Id::new(text).ok_or("id");
/// let now = Timestamp::from_micros(0);
///
/// // HasSqlType, with a computed field and where its links lead.
/// let petition = Petition::default().title("More trees");
/// let petition = Record::new(Meta::new(id("p1")?, now), petition)
///     .with_computed(petition::key::total_signatures, ComputedValue::Count(1));
///
/// // As a store keeps it: the inside of a JSON object.
/// let signature = Record::<Signature>::from_wire(Meta::new(id("s1")?, now), Box::from(*br#""comments":"Yes!""#))
///     .with_link(signature::link::petition, RecordAddress::top(Kind::Petition, id("p1")?))
///     .with_link(signature::link::person, RecordAddress::top(Kind::Person, id("a")?));
/// assert_eq!(signature.address(), RecordAddress::under(Kind::Signature, id("p1")?, id("s1")?));
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
    #[allow(
        clippy::needless_pass_by_value,
        reason = "a record is handed over, not lent"
    )]
    pub fn new(meta: Meta, fields: R) -> Self {
        let mut bytes = Vec::new();
        let names = ShareNames::default();
        fields.write_members(&mut MemberWriter::new(&mut bytes, &names));
        bytes.pop();
        let mut raw = RawRecord::from_wire(R::KIND, meta, Bytes::new());
        raw.fields = FieldBytes::Typed(bytes.into());
        Self::from_raw(raw)
    }

    /// A record whose fields are stored wire-ready: `"name":value` pairs separated by commas,
    /// without braces, without identifiers, dates, computed fields of the top level and links.
    #[must_use]
    pub fn from_wire(meta: Meta, fields: impl Into<Bytes>) -> Self {
        Self::from_raw(RawRecord::from_wire(R::KIND, meta, fields))
    }

    /// The typed view of a record of this kind.
    #[must_use]
    pub fn from_raw(raw: RawRecord) -> Self {
        Self {
            raw,
            kind: PhantomData,
        }
    }

    /// With the value of a computed field.
    #[must_use]
    pub fn with_computed(mut self, key: FieldKey<R>, value: ComputedValue) -> Self {
        if let Some(field) = key.field() {
            self.raw.add_computed(field.name, value);
        }
        self
    }

    /// With where a link to one record leads. The container's link gives the record its address.
    ///
    /// Requirements: COL-19.
    #[must_use]
    pub fn with_link(mut self, key: LinkKey<R>, to: impl Into<LinkValue>) -> Self {
        self.raw.add_link(key.name(), to.into());
        self
    }

    /// With a link under a relation of the vendor's own: `name` is 1 to 64 of `[a-z0-9_-]`. It is
    /// sent where the API has `VendorRelations`; another name is dropped, and of one name the last
    /// link counts.
    ///
    /// Requirements: ENT-27.
    #[must_use]
    pub fn with_vendor_link(mut self, name: &str, href: impl Into<String>) -> Self {
        if is_relation_name(name) {
            self.raw.own_links.retain(|(known, _)| known != name);
            self.raw.own_links.push((name.to_owned(), href.into()));
        }
        self
    }

    /// The fields as a typed value again. Share objects of stored bytes are read under their names
    /// in the tables.
    #[must_use]
    pub fn fields(&self) -> R {
        R::from_object(&self.raw.to_fields_lossy(&ShareNames::default()))
    }

    /// Id, dates and identifiers.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        &self.raw.meta
    }

    /// Its address.
    ///
    /// Requirements: COL-19.
    #[must_use]
    pub fn address(&self) -> RecordAddress {
        self.raw.address()
    }

    /// The id of the container it lives in.
    #[must_use]
    pub fn parent(&self) -> Option<&Id> {
        self.raw.parent()
    }

    /// Where a link to one record leads, when it is a record of this server.
    #[must_use]
    pub fn link(&self, key: LinkKey<R>) -> Option<&RecordAddress> {
        self.raw.link(key.name())
    }

    /// The record without its type, lent.
    #[must_use]
    pub fn as_raw(&self) -> &RawRecord {
        &self.raw
    }

    /// The record without its type.
    #[must_use]
    pub fn into_raw(self) -> RawRecord {
        self.raw
    }
}
