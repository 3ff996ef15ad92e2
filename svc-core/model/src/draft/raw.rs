//! Drafts and patches without the type of their kind, for stores and programs that handle every
//! kind alike.

use std::{borrow::Cow, collections::HashSet, fmt};

use crate::{
    error::Problem,
    helper::MergePolicy,
    json::{Json, Object, has_same_members, merge_patch},
    link::{LinkValue, RecordAddress, ShareNames},
    names::Kind,
    record::{RawRecord, RecordState},
    schema::{FieldMode, RecordValidator},
    value::{Id, Identifier, Timestamp},
};

/// A validated record to create, without the type of its kind.
#[derive(Clone)]
#[non_exhaustive]
pub struct RawDraft {
    /// The kind.
    pub kind: Kind,
    /// The valid fields, under the names of the tables. Computed fields, identifiers and links are
    /// excluded.
    pub fields: Object,
    /// The names of fields that were not sent and have a default of this server. They do not change
    /// a record that already exists.
    ///
    /// Requirements: CAP-08.
    pub unsent: Vec<String>,
    /// Foreign identifiers, each once.
    ///
    /// Requirements: TYP-13, TYP-14.
    pub identifiers: Vec<Identifier>,
    /// The id from an identifier in the server's own namespace.
    ///
    /// It exists only for the person or action of a helper request, where it means exactly that
    /// record. A plain create with such an identifier is rejected.
    ///
    /// Requirements: UND-24.
    pub own: Option<Id>,
    /// The ids from further identifiers in the server's own namespace, for a person of a helper
    /// request. Each must be that of [`own`](Self::own), or of a person who was merged into it.
    ///
    /// Only a store that merges people gets them.
    ///
    /// Requirements: UND-24.
    pub further_own: Vec<Id>,
    /// The people that are the holders of tickets, each with the index of its ticket.
    ///
    /// They are sent as identifiers in the server's own namespace, which `fields` does not contain.
    ///
    /// Requirements: RES-attendance-14.
    pub holders: Vec<(usize, Id)>,
    /// How the new attendance changes existing people that are the holders of its tickets. A plain
    /// create replaces their fields, and a helper request has its own policy.
    ///
    /// Requirements: HLP-04, RES-attendance-14.
    pub holder_merge: MergePolicy,
    /// The linked records by link name, including the container. Their kinds are correct; only the
    /// store knows whether they exist.
    ///
    /// Requirements: CRU-02.
    pub links: Vec<(&'static str, RecordAddress)>,
    /// The submission or canvass whose helper request creates this record. The answer or tagging is
    /// then also listed under it. A plain create has none.
    ///
    /// Requirements: COL-10, RES-canvass-12.
    pub recorded_by: Option<RecordAddress>,
}

impl fmt::Debug for RawDraft {
    /// Omits the values, because they are personal data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.fields.iter().map(|(name, _)| name).collect();
        f.debug_struct("RawDraft")
            .field("kind", &self.kind)
            .field("fields", &names)
            .finish_non_exhaustive()
    }
}

impl RawDraft {
    /// Creates an empty draft.
    #[must_use]
    pub fn empty(kind: Kind) -> Self {
        Self {
            kind,
            fields: Object::new(),
            unsent: Vec::new(),
            identifiers: Vec::new(),
            own: None,
            further_own: Vec::new(),
            holders: Vec::new(),
            holder_merge: MergePolicy::Replace,
            links: Vec::new(),
            recorded_by: None,
        }
    }

    /// Sets the fields, under the names of the tables.
    #[must_use]
    pub fn with_fields(mut self, fields: Object) -> Self {
        self.fields = fields;
        self
    }

    /// Sets the links, including the container.
    #[must_use]
    pub fn with_links(mut self, links: Vec<(&'static str, RecordAddress)>) -> Self {
        self.links = links;
        self
    }

    /// Returns the record that a link points to.
    #[must_use]
    pub fn link(&self, name: &str) -> Option<&RecordAddress> {
        self.links
            .iter()
            .find(|(link, _)| *link == name)
            .map(|(_, address)| address)
    }

    /// Returns the container that the record is created under.
    #[must_use]
    pub fn container(&self) -> Option<&RecordAddress> {
        self.link(self.kind.schema().parent?)
    }

    /// Returns the fields without those that were not sent and have a default.
    #[must_use]
    pub fn fields_without_defaults(&self) -> Cow<'_, Object> {
        if self.unsent.is_empty() {
            return Cow::Borrowed(&self.fields);
        }
        let mut fields = self.fields.clone();
        fields.retain(|name, _| !self.unsent.iter().any(|unsent| unsent == name));
        Cow::Owned(fields)
    }

    /// Returns the change for a repeated helper request whose action an earlier request recorded
    /// with these identifiers.
    ///
    /// The change contains the sent fields and the identifiers of both requests. A default or a
    /// time of receipt that was not sent changes nothing.
    ///
    /// Requirements: UND-24.
    #[must_use]
    pub fn into_repeat_patch(self, mut recorded: Vec<Identifier>, now: Timestamp) -> RawPatch {
        let (mut fields, received) = (self.fields_without_defaults().into_owned(), Json::from(now));
        for field in self
            .kind
            .schema()
            .fields
            .fields
            .iter()
            .filter(|field| field.mode == FieldMode::ReceiptTime)
        {
            if fields.get(field.name) == Some(&received) {
                fields.remove(field.name);
            }
        }
        // A body may contain many identifiers.
        let known: HashSet<Identifier> = recorded.iter().cloned().collect();
        recorded.extend(
            self.identifiers
                .into_iter()
                .filter(|identifier| !known.contains(identifier)),
        );
        let identifiers = (recorded.len() > known.len()).then_some(recorded);
        RawPatch {
            identifiers,
            holders: self.holders,
            ..RawPatch::new(self.kind, fields)
        }
    }

    /// Sets the defaults of omitted fields, applies the rules between fields, and returns the
    /// problems.
    ///
    /// The library calls this before a backend gets the draft.
    ///
    /// Requirements: CAP-08.
    pub fn apply_defaults(&mut self, now: Timestamp) -> Vec<Problem> {
        let schema = self.kind.schema();
        for field in schema.fields.fields {
            let value = match field.mode {
                FieldMode::Default(value) => Json::from(value),
                FieldMode::ReceiptTime => Json::from(String::from(now)),
                _ => continue,
            };
            if !self.fields.contains(field.name) {
                self.fields.add(field.name, value);
            }
        }
        let mut problems = Vec::new();
        (schema.rules)(&mut RecordValidator::new(
            &mut self.fields,
            None,
            &mut problems,
            now,
        ));
        problems
    }
}

/// A validated change of a record with the meaning of JSON Merge Patch, without the type of its
/// kind.
///
/// Requirements: CRU-15, CRU-17, UND-21.
#[derive(Clone)]
#[non_exhaustive]
pub struct RawPatch {
    /// The kind.
    pub kind: Kind,
    /// The valid fields that were sent, under the names of the tables; `null` clears a field.
    pub fields: Object,
    /// The new foreign identifiers, or `None` if none were sent.
    ///
    /// Requirements: UND-25.
    pub identifiers: Option<Vec<Identifier>>,
    /// The ids from identifiers in the server's own namespace, for a change of a person. Each must be
    /// that of the person, or of a person who was merged into it.
    ///
    /// Only a store that merges people gets them.
    ///
    /// Requirements: UND-24.
    pub own: Vec<Id>,
    /// The people that are the holders of tickets, each with the index of its ticket. They are sent
    /// as identifiers in the server's own namespace, which `fields` does not contain.
    ///
    /// Requirements: RES-attendance-14.
    pub holders: Vec<(usize, Id)>,
    /// The `total_tickets` that were sent with ticket levels, each with the index of its level. The
    /// sent `limit` of a level is the number of remaining tickets when so many were sold.
    ///
    /// Requirements: RES-event-15.
    pub sold_tickets: Vec<(usize, i64)>,
    /// The links that were sent and may be changed; `None` clears a link.
    ///
    /// Requirements: CRU-16.
    pub links: Vec<(&'static str, Option<RecordAddress>)>,
    /// The state of the record that the change is based on; `None` if it is based on no state.
    pub if_match: Option<RecordState>,
}

impl fmt::Debug for RawPatch {
    /// Omits the values, because they are personal data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.fields.iter().map(|(name, _)| name).collect();
        f.debug_struct("RawPatch")
            .field("kind", &self.kind)
            .field("fields", &names)
            .finish_non_exhaustive()
    }
}

impl RawPatch {
    /// Creates a change of these fields only.
    #[must_use]
    pub fn new(kind: Kind, fields: Object) -> Self {
        Self {
            kind,
            fields,
            identifiers: None,
            own: Vec::new(),
            holders: Vec::new(),
            sold_tickets: Vec::new(),
            links: Vec::new(),
            if_match: None,
        }
    }

    /// Sets the new foreign identifiers.
    #[must_use]
    pub fn with_identifiers(mut self, identifiers: Vec<Identifier>) -> Self {
        self.identifiers = Some(identifiers);
        self
    }

    /// Applies the change to the fields of a record (under the names of the tables), then the rules
    /// between fields.
    ///
    /// # Errors
    ///
    /// Returns every rule that the changed record would violate. Do not store `fields` then.
    ///
    /// Requirements: CRU-20.
    pub fn apply_to(&self, fields: &mut Object, now: Timestamp) -> Result<(), Vec<Problem>> {
        let (after, problems) = self.applied_to(fields, now);
        *fields = after;
        if problems.is_empty() {
            Ok(())
        } else {
            Err(problems)
        }
    }

    /// Returns the fields of a record after the change, with every rule that they violate.
    #[must_use]
    pub fn applied_to(&self, before: &Object, now: Timestamp) -> (Object, Vec<Problem>) {
        let (mut after, mut problems) = (before.clone(), Vec::new());
        merge_patch(&mut after, &self.fields);
        (self.kind.schema().rules)(&mut RecordValidator::new(
            &mut after,
            Some((before, &self.fields)),
            &mut problems,
            now,
        ));
        (after, problems)
    }

    /// Returns whether the change leaves every value of a complete record as it is: fields,
    /// identifiers and links. Sent holders of tickets and sold tickets count as a change.
    ///
    /// Requirements: CRU-19.
    #[must_use]
    pub fn is_empty_against(&self, before: &RawRecord, now: Timestamp) -> bool {
        let Ok(fields) = before.to_fields(&ShareNames::default()) else {
            return false;
        };
        let (after, problems) = self.applied_to(&fields, now);
        problems.is_empty()
            && self.holders.is_empty()
            && self.sold_tickets.is_empty()
            && self.leaves_unchanged(before, (&fields, &after), &self.links)
    }

    /// Returns whether a record with these fields before and after the change, and with these new
    /// targets of links, has every value as before. Values are compared as they are stored. A
    /// damaged record is never unchanged.
    ///
    /// Requirements: CRU-19.
    #[must_use]
    pub fn leaves_unchanged(
        &self,
        record: &RawRecord,
        (before, after): (&Object, &Object),
        links: &[(&'static str, Option<RecordAddress>)],
    ) -> bool {
        let has_target = |(name, to): &(&str, Option<RecordAddress>)| {
            let mut known = record.links().iter();
            match (known.find(|(known, _)| known == name), to) {
                (None, None) => true,
                (Some((_, LinkValue::Local(from))), Some(to)) => from.id == to.id,
                _ => false,
            }
        };
        let identifiers = self.identifiers.as_ref();
        has_same_members(before, after)
            && identifiers.is_none_or(|new| *new == record.meta().identifiers.to_vec())
            && links.iter().all(has_target)
            && record.is_well_formed()
    }
}
