//! What a client sent, validated: a record to create, or a change of one.
//!
//! Requirements: CRU-01 to CRU-19.

pub(crate) mod raw;

use std::{fmt, marker::PhantomData};

use crate::{
    describe::MemberWriter,
    field_set::{FieldKey, FieldSet, LinkKey},
    json::{Json, Object},
    link::{RecordAddress, ShareNames},
    model::Resource,
    record::Record,
    value::{Id, Identifier, Timestamp},
};

pub use raw::{RawDraft, RawPatch};

/// A record to create, validated.
///
/// Requirements: CRU-01 to CRU-14.
pub struct Draft<R> {
    raw: RawDraft,
    kind: PhantomData<fn() -> R>,
}

impl<R: Resource> Draft<R> {
    /// A draft of these fields, for tests and for programs that create records themselves.
    pub fn new(fields: &R) -> Self {
        Self::from_raw(RawDraft {
            fields: to_object(fields),
            ..RawDraft::empty(R::KIND)
        })
    }

    /// The typed view of a draft of this kind.
    #[must_use]
    pub fn from_raw(raw: RawDraft) -> Self {
        Self {
            raw,
            kind: PhantomData,
        }
    }

    /// With a link to a record; it takes the place of where that link led before.
    #[must_use]
    pub fn with_link(mut self, key: LinkKey<R>, to: RecordAddress) -> Self {
        self.raw.links.retain(|(known, _)| *known != key.name());
        self.raw.links.push((key.name(), to));
        self
    }

    /// The change that a repeated helper call makes of the action that an earlier try recorded; see
    /// [`RawDraft::into_repeat_patch`](crate::raw::RawDraft::into_repeat_patch).
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

    /// The fields that were sent or have a default; computed ones are `None`.
    #[must_use]
    pub fn fields(&self) -> R {
        R::from_object(&self.raw.fields)
    }

    /// The foreign identifiers that were sent, each once.
    ///
    /// Requirements: TYP-13, TYP-14.
    #[must_use]
    pub fn identifiers(&self) -> &[Identifier] {
        &self.raw.identifiers
    }

    /// The id that an identifier in the server's own namespace names, where it means that very
    /// record: in a helper's person or action.
    ///
    /// Requirements: UND-24.
    #[must_use]
    pub fn own_id(&self) -> Option<&Id> {
        self.raw.own.as_ref()
    }

    /// The record that a link leads to. It has the right kind; whether it exists only the store
    /// knows.
    ///
    /// Requirements: CRU-02.
    #[must_use]
    pub fn link(&self, key: LinkKey<R>) -> Option<&RecordAddress> {
        self.raw.link(key.name())
    }

    /// Every link by its name, the container among them.
    #[must_use]
    pub fn links(&self) -> &[(&'static str, RecordAddress)] {
        &self.raw.links
    }

    /// The container it is created under.
    #[must_use]
    pub fn container(&self) -> Option<&RecordAddress> {
        self.raw.container()
    }

    /// The submission or canvass whose helper call makes it: an answer or tagging is listed below
    /// it, too. A plain create has none.
    ///
    /// Requirements: COL-10, RES-canvass-12.
    #[must_use]
    pub fn recorded_by(&self) -> Option<&RecordAddress> {
        self.raw.recorded_by.as_ref()
    }

    /// The draft without its type, lent.
    #[must_use]
    pub fn as_raw(&self) -> &RawDraft {
        &self.raw
    }

    /// The draft without its type.
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

/// A change of a record with the meaning of a JSON Merge Patch: absent, `null` and a value stay
/// apart.
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
    /// The typed view of a patch of this kind.
    #[must_use]
    pub fn from_raw(raw: RawPatch) -> Self {
        Self {
            raw,
            kind: PhantomData,
        }
    }

    /// The fields that were sent, whether as a value or as `null`.
    #[must_use]
    pub fn sent_fields(&self) -> FieldSet<R> {
        FieldSet::matching(|field| self.raw.fields.contains(field.name))
    }

    /// Whether the field was sent as `null`, which empties it.
    ///
    /// Requirements: CRU-17.
    #[must_use]
    pub fn is_cleared(&self, key: FieldKey<R>) -> bool {
        key.field()
            .is_some_and(|field| matches!(self.raw.fields.get(field.name), Some(Json::Null)))
    }

    /// The values that were sent. A nested object holds only its sent members: [`Patch::apply`]
    /// merges them.
    #[must_use]
    pub fn fields(&self) -> R {
        R::from_object(&self.raw.fields)
    }

    /// The record after the change (RFC 7396, UND-21), with the rules between fields applied.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) with every rule that the changed record
    /// would break.
    ///
    /// Requirements: ERR-35.
    pub fn apply(&self, record: &R, now: Timestamp) -> crate::Result<R> {
        let mut fields = to_object(record);
        self.raw
            .apply_to(&mut fields, now)
            .map_err(crate::Error::refused)?;
        Ok(R::from_object(&fields))
    }

    /// The foreign identifiers to keep, when any were sent.
    ///
    /// Requirements: UND-25.
    #[must_use]
    pub fn identifiers(&self) -> Option<&[Identifier]> {
        self.raw.identifiers.as_deref()
    }

    /// Where a link that was sent leads from now on; `Some(None)` clears it.
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

    /// Every link that is changed, and where it leads then.
    #[must_use]
    pub fn links(&self) -> &[(&'static str, Option<RecordAddress>)] {
        &self.raw.links
    }

    /// The patch without its type, lent.
    #[must_use]
    pub fn as_raw(&self) -> &RawPatch {
        &self.raw
    }

    /// The patch without its type.
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

/// The fields of a typed record as an object under the names of the tables.
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
        describe::StringMap,
        model::{
            Kind, Person,
            shared::{Geocode, PostalAddress},
        },
    };

    /// CRU-15: what a store has kept for years may be what no client could send today; it is no
    /// reason to lose a record.
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
