//! Validated input of a client: a record to create, or a change of a record.
//!
//! Requirements: CRU-01 to CRU-19.

pub(crate) mod raw;

use std::{fmt, marker::PhantomData};

use crate::{
    field_set::{FieldKey, FieldSet, LinkKey},
    json::{Json, Object},
    link::{RecordAddress, ShareNames},
    model::Resource,
    record::Record,
    types::MemberWriter,
    value::{Id, Identifier, Timestamp},
};

pub use raw::{RawDraft, RawPatch};

/// A validated record to create.
///
/// Requirements: CRU-01 to CRU-14.
pub struct Draft<R> {
    raw: RawDraft,
    kind: PhantomData<fn() -> R>,
}

impl<R: Resource> Draft<R> {
    /// Creates a draft with these fields, for tests and for programs that create records
    /// themselves.
    pub fn new(fields: &R) -> Self {
        Self::from_raw(RawDraft {
            fields: to_object(fields),
            ..RawDraft::empty(R::KIND)
        })
    }

    /// Converts a raw draft of this kind.
    #[must_use]
    pub fn from_raw(raw: RawDraft) -> Self {
        Self {
            raw,
            kind: PhantomData,
        }
    }

    /// Sets a link to a record, replacing the previous one.
    #[must_use]
    pub fn with_link(mut self, key: LinkKey<R>, to: RecordAddress) -> Self {
        self.raw.links.retain(|(known, _)| *known != key.name());
        self.raw.links.push((key.name(), to));
        self
    }

    /// Returns the change for a repeated helper request whose action an earlier request recorded;
    /// see [`RawDraft::into_repeat_patch`](crate::raw::RawDraft::into_repeat_patch).
    ///
    /// Requirements: UND-24.
    #[must_use]
    pub fn to_repeat_patch(&self, recorded: &Record<R>, now: Timestamp) -> Patch<R> {
        Patch::from_raw(
            self.raw
                .clone()
                .into_repeat_patch(recorded.meta().identifiers.to_vec(), now),
        )
    }

    /// Returns the fields that were sent or have a default. Computed fields are `None`.
    #[must_use]
    pub fn fields(&self) -> R {
        R::from_object(&self.raw.fields)
    }

    /// Returns the foreign identifiers that were sent, without duplicates.
    ///
    /// Requirements: TYP-13, TYP-14.
    #[must_use]
    pub fn identifiers(&self) -> &[Identifier] {
        &self.raw.identifiers
    }

    /// Returns the id from an identifier in the server's own namespace.
    ///
    /// It exists only for the person or action of a helper request, where it means exactly that
    /// record.
    ///
    /// Requirements: UND-24.
    #[must_use]
    pub fn own_id(&self) -> Option<&Id> {
        self.raw.own.as_ref()
    }

    /// Returns the record that a link points to.
    ///
    /// Its kind is correct; only the store knows whether it exists.
    ///
    /// Requirements: CRU-02.
    #[must_use]
    pub fn link(&self, key: LinkKey<R>) -> Option<&RecordAddress> {
        self.raw.link(key.name())
    }

    /// Returns every link by its name, including the container.
    #[must_use]
    pub fn links(&self) -> &[(&'static str, RecordAddress)] {
        &self.raw.links
    }

    /// Returns the container that the record is created under.
    #[must_use]
    pub fn container(&self) -> Option<&RecordAddress> {
        self.raw.container()
    }

    /// Returns the submission or canvass whose helper request creates this record.
    ///
    /// The answer or tagging is then also listed under it. A plain create has none.
    ///
    /// Requirements: COL-10, RES-canvass-12.
    #[must_use]
    pub fn recorded_by(&self) -> Option<&RecordAddress> {
        self.raw.recorded_by.as_ref()
    }

    /// Returns a reference to the raw draft.
    #[must_use]
    pub fn as_raw(&self) -> &RawDraft {
        &self.raw
    }

    /// Returns the raw draft.
    #[must_use]
    pub fn into_raw(self) -> RawDraft {
        self.raw
    }
}

impl<R> fmt::Debug for Draft<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}

/// A validated change of a record, with the meaning of JSON Merge Patch: an absent member, `null`
/// and a value are different.
///
/// # Examples
///
/// ```
/// use svc_core::{Patch, fields, model::{Kind, Person, person}, raw::RawPatch, read::{Json, JsonLimits}, value::Timestamp};
///
/// let body = Json::read(br#"{"given_name":"Ada","family_name":null}"#, &JsonLimits::default());
/// let Ok(Json::Object(fields)) = body else { return };
/// let patch = Patch::<Person>::from_raw(RawPatch::new(Kind::Person, fields));
///
/// assert_eq!(patch.sent_fields(), fields!(person::{ given_name, family_name }));
/// assert!(patch.is_cleared(person::key::family_name) && !patch.is_cleared(person::key::source));
///
/// let before = Person::default().family_name("Byron").source("web");
/// let after = patch.apply(&before, Timestamp::now()).unwrap();
/// assert_eq!(after, Person::default().given_name("Ada").source("web"));
/// ```
///
/// Requirements: CRU-15, CRU-17, UND-21.
pub struct Patch<R> {
    raw: RawPatch,
    kind: PhantomData<fn() -> R>,
}

impl<R: Resource> Patch<R> {
    /// Converts a raw patch of this kind.
    #[must_use]
    pub fn from_raw(raw: RawPatch) -> Self {
        Self {
            raw,
            kind: PhantomData,
        }
    }

    /// Returns the fields that were sent, as a value or as `null`.
    #[must_use]
    pub fn sent_fields(&self) -> FieldSet<R> {
        FieldSet::from_fn(|field| self.raw.fields.contains(field.name))
    }

    /// Returns whether the field was sent as `null`, which clears it.
    ///
    /// Requirements: CRU-17.
    #[must_use]
    pub fn is_cleared(&self, key: FieldKey<R>) -> bool {
        key.spec()
            .is_some_and(|field| matches!(self.raw.fields.get(field.name), Some(Json::Null)))
    }

    /// Returns the values that were sent.
    ///
    /// A nested object contains only the members that were sent; [`Patch::apply`] merges them.
    #[must_use]
    pub fn fields(&self) -> R {
        R::from_object(&self.raw.fields)
    }

    /// Returns the record after the change, with the rules between fields applied.
    ///
    /// The change has the meaning of RFC 7396.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) with every rule that the changed
    /// record would violate.
    ///
    /// Requirements: ERR-35, UND-21.
    pub fn apply(&self, record: &R, now: Timestamp) -> crate::Result<R> {
        let mut fields = to_object(record);
        self.raw
            .apply_to(&mut fields, now)
            .map_err(crate::Error::invalid_all)?;
        Ok(R::from_object(&fields))
    }

    /// Returns whether the change leaves every value of a record as it is: fields, identifiers and
    /// links. The record must have every value that clients can send.
    ///
    /// The library compares this before it calls the update of a vendor, if clients can read every
    /// value that they can send. Other updates and native helpers can call it themselves.
    ///
    /// # Examples
    ///
    /// ```
    /// use svc_core::{Draft, Patch, Record, model::{Kind, Person}, raw::RawPatch, record::Meta, value::{Id, Timestamp}};
    ///
    /// let now = Timestamp::from_micros(0);
    /// let id = Id::new("a").ok_or("id")?;
    /// let ada = Record::new(Meta::new(id, now), Person::default().given_name("Ada").source("web"));
    /// let patch = |name: &str| {
    ///     let sent = Draft::new(&Person::default().given_name(name)).into_raw().fields;
    ///     Patch::<Person>::from_raw(RawPatch::new(Kind::Person, sent))
    /// };
    /// assert!(patch("Ada").is_empty_against(&ada, now));
    /// assert!(!patch("Grace").is_empty_against(&ada, now));
    /// # Ok::<(), &str>(())
    /// ```
    ///
    /// Requirements: CRU-19.
    #[must_use]
    pub fn is_empty_against(&self, before: &Record<R>, now: Timestamp) -> bool {
        self.raw.is_empty_against(before.as_raw(), now)
    }

    /// Returns the new foreign identifiers, or `None` if none were sent.
    ///
    /// Requirements: UND-25.
    #[must_use]
    pub fn identifiers(&self) -> Option<&[Identifier]> {
        self.raw.identifiers.as_deref()
    }

    /// Returns the new target of a link that was sent; `Some(None)` clears the link.
    ///
    /// Requirements: CRU-16.
    #[must_use]
    pub fn link(&self, key: LinkKey<R>) -> Option<Option<&RecordAddress>> {
        self.raw
            .links
            .iter()
            .find(|(name, _)| *name == key.name())
            .map(|(_, to)| to.as_ref())
    }

    /// Returns every changed link with its new target.
    #[must_use]
    pub fn links(&self) -> &[(&'static str, Option<RecordAddress>)] {
        &self.raw.links
    }

    /// Returns a reference to the raw patch.
    #[must_use]
    pub fn as_raw(&self) -> &RawPatch {
        &self.raw
    }

    /// Returns the raw patch.
    #[must_use]
    pub fn into_raw(self) -> RawPatch {
        self.raw
    }
}

impl<R> fmt::Debug for Patch<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}

/// Converts the fields of a typed record into an object with the names of the tables.
pub(crate) fn to_object<R: Resource>(record: &R) -> Object {
    let names = ShareNames::default();
    let mut bytes = Vec::new();
    MemberWriter::new(&mut bytes, &names).object(|out| record.write_members(out));
    match Json::read_kept(&bytes) {
        Some(Json::Object(object)) => object,
        _ => Object::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{
            Kind, Person,
            shared::{Geocode, PostalAddress},
        },
        types::StringMap,
    };

    /// CRU-15: a store may contain values from earlier versions that no client could send today. A
    /// change must not lose them.
    #[test]
    fn cru_15_a_change_keeps_what_a_client_could_not_send() {
        let location = Geocode {
            latitude: Some(1e300),
            ..Geocode::default()
        };
        let before = Person {
            given_name: Some("A\0da".into()),
            custom_fields: Some(StringMap(vec![
                ("k".into(), "1".into()),
                ("k".into(), "2".into()),
            ])),
            postal_addresses: Some(vec![PostalAddress {
                location: Some(location),
                ..PostalAddress::default()
            }]),
            ..Person::default()
        };
        let fields = Object::from_iter([("family_name", "Lovelace")]);
        let patch = RawPatch::new(Kind::Person, fields);
        let after = Patch::<Person>::from_raw(patch)
            .apply(&before, Timestamp::from_micros(0))
            .unwrap();
        let custom_fields = Some(StringMap(vec![("k".into(), "1".into())]));
        assert_eq!(
            after,
            Person {
                family_name: Some("Lovelace".into()),
                custom_fields,
                ..before
            },
            "CRU-15"
        );
    }
}
