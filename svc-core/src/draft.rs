//! What a client sent, validated: a record to create, or a change of one (CRU-01 to CRU-19).

use std::{collections::HashSet, fmt, marker::PhantomData, ops::Deref};

use crate::{
    describe::MemberWriter,
    error::Problem,
    field_set::{FieldKey, FieldSet, LinkKey},
    json::{Json, Object, merge_patch},
    link::{Address, ShareNames},
    model::{Kind, Resource},
    record::Record,
    schema::Mode,
    schema::Rules,
    value::{Id, Identifier, Timestamp},
};

/// A record to create, validated, without the type of its kind.
#[derive(Clone)]
#[non_exhaustive]
pub struct RawDraft {
    /// The kind.
    pub kind: Kind,
    /// The fields under the names of the tables, each valid; computed ones, identifiers and links apart.
    pub fields: Object,
    /// Foreign identifiers, each once (TYP-13, TYP-14).
    pub identifiers: Vec<Identifier>,
    /// The id that an identifier in the server's own namespace names. Only in a helper's person or action, where it
    /// means that very record; a plain create with one was refused (UND-24).
    pub own: Option<Id>,
    /// The people that identifiers in the server's own namespace name as holders of the tickets at these places
    /// (RES-attendance-14). In `fields` those identifiers are left out.
    pub holders: Vec<(usize, Id)>,
    /// The records it links to by link name, the container among them. They have the right kind; whether they exist
    /// only the store knows (CRU-02).
    pub links: Vec<(&'static str, Address)>,
}

impl fmt::Debug for RawDraft {
    /// Without values: they are personal data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.fields.iter().map(|(name, _)| name).collect();
        f.debug_struct("Draft").field("kind", &self.kind).field("fields", &names).finish_non_exhaustive()
    }
}

impl RawDraft {
    /// An empty draft.
    #[must_use]
    pub fn empty(kind: Kind) -> Self {
        Self { kind, fields: Object::new(), identifiers: Vec::new(), own: None, holders: Vec::new(), links: Vec::new() }
    }

    /// The same draft with these fields, under the names of the tables.
    #[must_use]
    pub fn with_fields(mut self, fields: Object) -> Self {
        self.fields = fields;
        self
    }

    /// The same draft with these links, the container among them.
    #[must_use]
    pub fn with_links(mut self, links: Vec<(&'static str, Address)>) -> Self {
        self.links = links;
        self
    }

    /// The record that a link leads to.
    #[must_use]
    pub fn link(&self, name: &str) -> Option<&Address> {
        self.links.iter().find(|(link, _)| *link == name).map(|(_, address)| address)
    }

    /// The container it is created under.
    #[must_use]
    pub fn container(&self) -> Option<&Address> {
        self.link(self.kind.schema().parent?)
    }

    /// The change that a repeated helper call makes of the action that an earlier try recorded with these identifiers
    /// (UND-24): what is sent now, with the identifiers of both. A time of receipt that nobody sent changes nothing.
    #[must_use]
    pub fn repeated(self, mut recorded: Vec<Identifier>, now: Timestamp) -> RawPatch {
        let (mut fields, received) = (self.fields, Json::from(now));
        for field in self.kind.schema().fields.fields.iter().filter(|field| field.mode == Mode::ReceiptTime) {
            if fields.get(field.name) == Some(&received) {
                fields.remove(field.name);
            }
        }
        // A body may hold very many.
        let known: HashSet<Identifier> = recorded.iter().cloned().collect();
        recorded.extend(self.identifiers.into_iter().filter(|identifier| !known.contains(identifier)));
        let identifiers = (recorded.len() > known.len()).then_some(recorded);
        RawPatch { kind: self.kind, fields, identifiers, links: Vec::new() }
    }

    /// Sets the values of omitted fields that have a default (CAP-08), and applies the rules between fields.
    ///
    /// Called by the library before a backend sees the draft. Problems are returned, not raised.
    pub fn complete(&mut self, now: Timestamp) -> Vec<Problem> {
        let schema = self.kind.schema();
        for field in schema.fields.fields {
            let value = match field.mode {
                Mode::Default(value) => Json::from(value),
                Mode::ReceiptTime => Json::from(now.to_string()),
                _ => continue,
            };
            if !self.fields.contains(field.name) {
                self.fields.insert(field.name, value);
            }
        }
        let mut problems = Vec::new();
        (schema.rules)(&mut Rules::new(&mut self.fields, &mut problems, now));
        problems
    }
}

/// A record to create: [`RawDraft`] with a typed view.
pub struct Draft<R> {
    raw: RawDraft,
    kind: PhantomData<fn() -> R>,
}

impl<R: Resource> Draft<R> {
    /// A draft of these fields, for tests and for programs that create records themselves.
    pub fn new(fields: &R) -> Self {
        Self::from_raw(RawDraft { fields: to_object(fields), ..RawDraft::empty(R::KIND) })
    }

    /// The typed view of a draft of this kind.
    #[must_use]
    pub fn from_raw(raw: RawDraft) -> Self {
        Self { raw, kind: PhantomData }
    }

    /// With a link to a record; it takes the place of where that link led before.
    #[must_use]
    pub fn linked(mut self, key: LinkKey<R>, to: Address) -> Self {
        self.raw.links.retain(|(known, _)| *known != key.name());
        self.raw.links.push((key.name(), to));
        self
    }

    /// The change that a repeated helper call makes of the action that an earlier try recorded (UND-24); see
    /// [`RawDraft::repeated`].
    #[must_use]
    pub fn repeated_on(&self, recorded: &Record<R>, now: Timestamp) -> Patch<R> {
        Patch::from_raw(self.raw.clone().repeated(recorded.meta().identifiers.to_vec(), now))
    }

    /// The fields that were sent or have a default; computed ones are `None`.
    #[must_use]
    pub fn fields(&self) -> R {
        R::from_object(&self.raw.fields)
    }

    /// The draft without its type.
    #[must_use]
    pub fn into_raw(self) -> RawDraft {
        self.raw
    }
}

impl<R> Deref for Draft<R> {
    type Target = RawDraft;

    fn deref(&self) -> &RawDraft {
        &self.raw
    }
}

impl<R> fmt::Debug for Draft<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}

/// A change of a record with the meaning of a JSON Merge Patch (CRU-15, CRU-17, UND-21), without the type of its kind.
#[derive(Clone)]
#[non_exhaustive]
pub struct RawPatch {
    /// The kind.
    pub kind: Kind,
    /// The fields that were sent, under the names of the tables, each valid; `null` empties.
    pub fields: Object,
    /// The foreign identifiers to keep, when any were sent (UND-25).
    pub identifiers: Option<Vec<Identifier>>,
    /// The links that were sent and may be changed; `None` clears (CRU-16).
    pub links: Vec<(&'static str, Option<Address>)>,
}

impl fmt::Debug for RawPatch {
    /// Without values: they are personal data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.fields.iter().map(|(name, _)| name).collect();
        f.debug_struct("Patch").field("kind", &self.kind).field("fields", &names).finish_non_exhaustive()
    }
}

impl RawPatch {
    /// A change of these fields, and of nothing else.
    #[must_use]
    pub fn new(kind: Kind, fields: Object) -> Self {
        Self { kind, fields, identifiers: None, links: Vec::new() }
    }

    /// The same change, with the foreign identifiers to keep.
    #[must_use]
    pub fn with_identifiers(mut self, identifiers: Vec<Identifier>) -> Self {
        self.identifiers = Some(identifiers);
        self
    }

    /// Applies the change to the fields of a record (under the names of the tables), then the rules between fields.
    ///
    /// # Errors
    ///
    /// Every rule that the changed record would break; `fields` is then not to be stored (CRU-20).
    pub fn apply_to(&self, fields: &mut Object, now: Timestamp) -> Result<(), Vec<Problem>> {
        merge_patch(fields, &self.fields);
        let mut problems = Vec::new();
        (self.kind.schema().rules)(&mut Rules::new(fields, &mut problems, now));
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

/// A change of a record: [`RawPatch`] with a typed view. Absent, `null` and a value stay apart.
///
/// # Examples
///
/// ```
/// use svc_core::{Patch, draft::RawPatch, fields, model::{Kind, Person, person}, read::{Json, Limits}, value::Timestamp};
///
/// let body = Json::read(br#"{"given_name":"Ada","family_name":null}"#, &Limits::default());
/// let Ok(Json::Object(fields)) = body else { return };
/// let patch = Patch::<Person>::from_raw(RawPatch::new(Kind::Person, fields));
///
/// assert_eq!(patch.sent(), fields!(person::{ given_name, family_name }));
/// assert!(patch.clears(person::key::family_name) && !patch.clears(person::key::source));
///
/// let before = Person { family_name: Some("Byron".into()), source: Some("web".into()), ..Person::default() };
/// let after = patch.apply(&before, Timestamp::now()).unwrap();
/// let expected = Person { given_name: Some("Ada".into()), source: Some("web".into()), ..Person::default() };
/// assert_eq!(after, expected);
/// ```
pub struct Patch<R> {
    raw: RawPatch,
    kind: PhantomData<fn() -> R>,
}

impl<R: Resource> Patch<R> {
    /// The typed view of a patch of this kind.
    #[must_use]
    pub fn from_raw(raw: RawPatch) -> Self {
        Self { raw, kind: PhantomData }
    }

    /// The fields that were sent, whether as a value or as `null`.
    #[must_use]
    pub fn sent(&self) -> FieldSet<R> {
        FieldSet::matching(|field| self.raw.fields.contains(field.name))
    }

    /// Whether the field was sent as `null`, which empties it (CRU-17).
    #[must_use]
    pub fn clears(&self, key: FieldKey<R>) -> bool {
        key.field().is_some_and(|field| matches!(self.raw.fields.get(field.name), Some(Json::Null)))
    }

    /// The values that were sent. A nested object holds only its sent members: [`Patch::apply`] merges them.
    #[must_use]
    pub fn fields(&self) -> R {
        R::from_object(&self.raw.fields)
    }

    /// The record after the change (RFC 7396, UND-21), with the rules between fields applied.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) with every rule that the changed record would break (ERR-35).
    pub fn apply(&self, record: &R, now: Timestamp) -> crate::Result<R> {
        let mut fields = to_object(record);
        self.raw.apply_to(&mut fields, now).map_err(crate::Error::refused)?;
        Ok(R::from_object(&fields))
    }

    /// The patch without its type.
    #[must_use]
    pub fn into_raw(self) -> RawPatch {
        self.raw
    }
}

impl<R> Deref for Patch<R> {
    type Target = RawPatch;

    fn deref(&self) -> &RawPatch {
        &self.raw
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
            Person,
            shared::{Geocode, PostalAddress},
        },
    };

    /// CRU-15: what a store has kept for years may be what no client could send today; it is no reason to lose a record.
    #[test]
    fn cru_15_a_change_keeps_what_a_client_could_not_send() {
        let location = Geocode { latitude: Some(1e300), ..Geocode::default() };
        let before = Person {
            given_name: Some("A\0da".into()),
            custom_fields: Some(StringMap(vec![("k".into(), "1".into()), ("k".into(), "2".into())])),
            postal_addresses: Some(vec![PostalAddress { location: Some(location), ..PostalAddress::default() }]),
            ..Person::default()
        };
        let fields = Object::from_iter([("family_name", "Lovelace")]);
        let patch = RawPatch { kind: Kind::Person, fields, identifiers: None, links: Vec::new() };
        let after = Patch::<Person>::from_raw(patch).apply(&before, Timestamp::from_micros(0)).unwrap();
        let custom_fields = Some(StringMap(vec![("k".into(), "1".into())]));
        assert_eq!(after, Person { family_name: Some("Lovelace".into()), custom_fields, ..before }, "CRU-15");
    }
}
