//! Records that a backend returns: as typed values or as JSON bytes.

pub(crate) mod raw;
mod state;

use std::marker::PhantomData;

use bytes::Bytes;

use crate::{
    field_set::{FieldKey, LinkKey},
    json::{Json, write_string},
    link::{LinkValue, RecordAddress, ShareNames, is_relation_name},
    model::{Kind, Resource},
    schema::{Aggregate, ComputedSource, Measure},
    types::MemberWriter,
    value::{Amount, Id, Identifier, Timestamp},
};

pub use raw::{FieldBytes, RawRecord, members_object};
pub use state::RecordState;

/// The properties that every record has in addition to its fields.
///
/// Requirements: TYP-13 to TYP-16.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Meta {
    /// The id. It is also the id of the record's identifier in the namespace of the server.
    ///
    /// Requirements: UND-41, ENT-08.
    pub id: Id,
    /// The time when the record was created.
    ///
    /// Requirements: TYP-15.
    pub created: Timestamp,
    /// The time when the record was last changed.
    ///
    /// Requirements: TYP-16.
    pub modified: Timestamp,
    /// The foreign identifiers.
    pub identifiers: Identifiers,
    /// The version of the record, if its table has one. It must differ after each change.
    ///
    /// It is never sent. Entity tags and preconditions depend on it.
    ///
    /// Requirements: ETG-01, ETG-07.
    pub version: Option<i64>,
}

impl Meta {
    /// Creates the metadata of a record that was created at this time, without foreign identifiers.
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

    /// Sets the time of the last change.
    #[must_use]
    pub fn with_modified(mut self, modified: Timestamp) -> Self {
        self.modified = modified;
        self
    }

    /// Sets the foreign identifiers.
    #[must_use]
    pub fn with_identifiers(mut self, identifiers: &[Identifier]) -> Self {
        self.identifiers = Identifiers::from_slice(identifiers);
        self
    }

    /// Sets the version, which the table must change with each write.
    #[must_use]
    pub fn with_version(mut self, version: i64) -> Self {
        self.version = Some(version);
        self
    }

    /// Returns the state of the record, which a change can be based on.
    #[must_use]
    pub fn state(&self) -> RecordState {
        RecordState {
            modified: self.modified,
            version: self.version,
        }
    }
}

/// The foreign identifiers of a record as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identifiers(String);

impl Identifiers {
    /// Creates the JSON of these identifiers.
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

    /// Creates identifiers from elements of a JSON array of strings, separated by commas, as
    /// [`Identifiers::as_json`] returned them.
    #[must_use]
    pub fn from_stored(json: String) -> Self {
        Self(json)
    }

    /// Returns the identifiers as a list.
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

    /// Returns the elements of a JSON array of strings, separated by commas.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

/// A computed value of a record that is returned as bytes.
#[derive(Debug, Clone, PartialEq)]
pub enum ComputedValue {
    /// A count.
    Count(i64),
    /// A sum of money.
    Amount(Amount),
    /// A timestamp.
    Timestamp(Timestamp),
    /// The relation of a kind, sent with the prefix of the dialect.
    ///
    /// Requirements: UND-05.
    Relation(Kind),
}

impl ComputedValue {
    /// Returns the value of a measure. A number that is counted has no digits after the decimal
    /// point.
    #[must_use]
    pub fn of_measure(measure: Measure, value: Amount) -> Self {
        match measure.aggregate {
            Aggregate::Count => Self::Count(i64::try_from(value.mantissa()).unwrap_or(i64::MAX)),
            Aggregate::Sum => Self::Amount(value),
        }
    }

    /// Returns the computed fields of a new record.
    #[must_use]
    pub fn of_new(kind: Kind) -> Vec<(&'static str, Self)> {
        let at_first = |source| match source {
            ComputedSource::AlwaysZero | ComputedSource::Count(_) => Some(Self::Count(0)),
            ComputedSource::Measure(measure) => Some(Self::of_measure(measure, Amount::ZERO)),
            ComputedSource::Relation(kind) => Some(Self::Relation(kind)),
            ComputedSource::Clock
            | ComputedSource::AlwaysAbsent
            | ComputedSource::Part(_)
            | ComputedSource::Former(_)
            | ComputedSource::ScheduledStart
            | ComputedSource::ScheduledStop => None,
        };
        let fields = kind.schema().fields.fields.iter();
        fields
            .filter_map(|field| Some((field.name, field.source().and_then(at_first)?)))
            .collect()
    }
}

/// A record that a backend returns.
///
/// A backend with typed data uses [`Record::new`]. A backend that stores JSON uses
/// [`Record::from_wire`], which needs no parsing.
///
/// # Examples
///
/// ```
/// use svc_core::{Record, link::RecordAddress, model::{Kind, Petition, Signature, petition, signature}, record::{ComputedValue, Meta}, value::{Id, Timestamp}};
///
/// let id = |text| Id::new(text).ok_or("id");
/// let now = Timestamp::from_micros(0);
///
/// // From typed data, with a computed field.
/// let petition = Petition::default().title("More trees");
/// let petition = Record::new(Meta::new(id("p1")?, now), petition)
///     .with_computed(petition::key::total_signatures, ComputedValue::Count(1));
///
/// // From the members of a JSON object, as a store stores them.
/// let signature = Record::<Signature>::from_wire(Meta::new(id("s1")?, now), Box::from(*br#""comments":"Yes!""#))
///     .with_link(signature::link::petition, RecordAddress::without_parent(Kind::Petition, id("p1")?))
///     .with_link(signature::link::person, RecordAddress::without_parent(Kind::Person, id("a")?));
/// assert_eq!(signature.address(), RecordAddress::with_parent(Kind::Signature, id("p1")?, id("s1")?));
/// # let _ = petition;
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Record<R> {
    raw: RawRecord,
    kind: PhantomData<fn() -> R>,
}

impl<R: Resource> Record<R> {
    /// Creates a record from typed fields, including computed ones.
    #[must_use]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "a record takes ownership of its fields"
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

    /// Creates a record from JSON bytes: `"name":value` pairs separated by commas, without braces.
    ///
    /// They must not contain identifiers, dates, top-level computed fields or links.
    #[must_use]
    pub fn from_wire(meta: Meta, fields: impl Into<Bytes>) -> Self {
        Self::from_raw(RawRecord::from_wire(R::KIND, meta, fields))
    }

    /// Converts a raw record of this kind.
    #[must_use]
    pub fn from_raw(raw: RawRecord) -> Self {
        Self {
            raw,
            kind: PhantomData,
        }
    }

    /// Sets the value of a computed field.
    #[must_use]
    pub fn with_computed(mut self, key: FieldKey<R>, value: ComputedValue) -> Self {
        if let Some(field) = key.spec() {
            self.raw.add_computed(field.name, value);
        }
        self
    }

    /// Sets the target of a link to one record. The link to the container determines the address of
    /// the record.
    ///
    /// Requirements: COL-19.
    #[must_use]
    pub fn with_link(mut self, key: LinkKey<R>, to: impl Into<LinkValue>) -> Self {
        self.raw.add_link(key.name(), to.into());
        self
    }

    /// Adds a link with a vendor relation. `name` must consist of 1 to 64 characters of
    /// `[a-z0-9_-]`.
    ///
    /// The link is sent only if the API has `VendorRelations`. A link with an invalid name is
    /// dropped. If a name is added twice, the last link is used.
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

    /// Returns the fields as a typed value. Share objects in stored bytes are read by their names
    /// in the tables.
    #[must_use]
    pub fn fields(&self) -> R {
        R::from_object(&self.raw.to_fields_lossy(&ShareNames::default()))
    }

    /// Returns id, dates and identifiers.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        &self.raw.meta
    }

    /// Returns the address.
    ///
    /// Requirements: COL-19.
    #[must_use]
    pub fn address(&self) -> RecordAddress {
        self.raw.address()
    }

    /// Returns the id of the parent record.
    #[must_use]
    pub fn parent(&self) -> Option<&Id> {
        self.raw.parent()
    }

    /// Returns the target of a link to one record if it is a record of this server.
    #[must_use]
    pub fn link(&self, key: LinkKey<R>) -> Option<&RecordAddress> {
        self.raw.link(key.name())
    }

    /// Returns a reference to the raw record.
    #[must_use]
    pub fn as_raw(&self) -> &RawRecord {
        &self.raw
    }

    /// Returns the raw record.
    #[must_use]
    pub fn into_raw(self) -> RawRecord {
        self.raw
    }
}
