//! What a client sent without the type of its kind: for stores and runners that serve every kind
//! alike.

use std::{borrow::Cow, collections::HashSet, fmt};

use crate::{
    error::Problem,
    json::{Json, Object, merge_patch},
    link::RecordAddress,
    names::Kind,
    record::RecordState,
    schema::{FieldMode, RecordValidator},
    value::{Id, Identifier, Timestamp},
};

/// A record to create, validated, without the type of its kind.
#[derive(Clone)]
#[non_exhaustive]
pub struct RawDraft {
    /// The kind.
    pub kind: Kind,
    /// The fields under the names of the tables, each valid; computed ones, identifiers and links
    /// apart.
    pub fields: Object,
    /// The names of the fields that have a default of this server because nobody sent them: a
    /// record that is known already keeps what it has.
    ///
    /// Requirements: CAP-08.
    pub unsent: Vec<String>,
    /// Foreign identifiers, each once.
    ///
    /// Requirements: TYP-13, TYP-14.
    pub identifiers: Vec<Identifier>,
    /// The id that an identifier in the server's own namespace names. Only in a helper's person or
    /// action, where it means that very record; a plain create with one was refused.
    ///
    /// Requirements: UND-24.
    pub own: Option<Id>,
    /// The people that identifiers in the server's own namespace name as holders of the tickets at
    /// these places. In `fields` those identifiers are left out.
    ///
    /// Requirements: RES-attendance-14.
    pub holders: Vec<(usize, Id)>,
    /// The records it links to by link name, the container among them. They have the right kind;
    /// whether they exist only the store knows.
    ///
    /// Requirements: CRU-02.
    pub links: Vec<(&'static str, RecordAddress)>,
    /// The submission or canvass whose helper call makes it: an answer or tagging is listed below
    /// it, too. A plain create has none.
    ///
    /// Requirements: COL-10, RES-canvass-12.
    pub recorded_by: Option<RecordAddress>,
}

impl fmt::Debug for RawDraft {
    /// Without values: they are personal data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.fields.iter().map(|(name, _)| name).collect();
        f.debug_struct("Draft")
            .field("kind", &self.kind)
            .field("fields", &names)
            .finish_non_exhaustive()
    }
}

impl RawDraft {
    /// An empty draft.
    #[must_use]
    pub fn empty(kind: Kind) -> Self {
        Self {
            kind,
            fields: Object::new(),
            unsent: Vec::new(),
            identifiers: Vec::new(),
            own: None,
            holders: Vec::new(),
            links: Vec::new(),
            recorded_by: None,
        }
    }

    /// The same draft with these fields, under the names of the tables.
    #[must_use]
    pub fn with_fields(mut self, fields: Object) -> Self {
        self.fields = fields;
        self
    }

    /// The same draft with these links, the container among them.
    #[must_use]
    pub fn with_links(mut self, links: Vec<(&'static str, RecordAddress)>) -> Self {
        self.links = links;
        self
    }

    /// The record that a link leads to.
    #[must_use]
    pub fn link(&self, name: &str) -> Option<&RecordAddress> {
        self.links
            .iter()
            .find(|(link, _)| *link == name)
            .map(|(_, address)| address)
    }

    /// The container it is created under.
    #[must_use]
    pub fn container(&self) -> Option<&RecordAddress> {
        self.link(self.kind.schema().parent?)
    }

    /// The fields without those that have a default because nobody sent them.
    #[must_use]
    pub fn fields_without_defaults(&self) -> Cow<'_, Object> {
        if self.unsent.is_empty() {
            return Cow::Borrowed(&self.fields);
        }
        let mut fields = self.fields.clone();
        fields.retain(|name, _| !self.unsent.iter().any(|unsent| unsent == name));
        Cow::Owned(fields)
    }

    /// The change that a repeated helper call makes of the action that an earlier try recorded with
    /// these identifiers: what is sent now, with the identifiers of both. A default or a time of
    /// receipt that nobody sent changes nothing.
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
        // A body may hold very many.
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

    /// Sets the values of omitted fields that have a default, and applies the rules between fields.
    ///
    /// Called by the library before a backend sees the draft. Problems are returned, not raised.
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

/// A change of a record with the meaning of a JSON Merge Patch, without the type of its kind.
///
/// Requirements: CRU-15, CRU-17, UND-21.
#[derive(Clone)]
#[non_exhaustive]
pub struct RawPatch {
    /// The kind.
    pub kind: Kind,
    /// The fields that were sent, under the names of the tables, each valid; `null` empties.
    pub fields: Object,
    /// The foreign identifiers to keep, when any were sent.
    ///
    /// Requirements: UND-25.
    pub identifiers: Option<Vec<Identifier>>,
    /// The people that identifiers in the server's own namespace name as holders of the tickets at
    /// these places. In `fields` those identifiers are left out.
    ///
    /// Requirements: RES-attendance-14.
    pub holders: Vec<(usize, Id)>,
    /// The links that were sent and may be changed; `None` clears.
    ///
    /// Requirements: CRU-16.
    pub links: Vec<(&'static str, Option<RecordAddress>)>,
    /// The state of the record that the change was made from; `None` where it is made from none.
    pub if_match: Option<RecordState>,
}

impl fmt::Debug for RawPatch {
    /// Without values: they are personal data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.fields.iter().map(|(name, _)| name).collect();
        f.debug_struct("Patch")
            .field("kind", &self.kind)
            .field("fields", &names)
            .finish_non_exhaustive()
    }
}

impl RawPatch {
    /// A change of these fields, and of nothing else.
    #[must_use]
    pub fn new(kind: Kind, fields: Object) -> Self {
        Self {
            kind,
            fields,
            identifiers: None,
            holders: Vec::new(),
            links: Vec::new(),
            if_match: None,
        }
    }

    /// The same change, with the foreign identifiers to keep.
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
    /// Every rule that the changed record would break; `fields` is then not to be stored.
    ///
    /// Requirements: CRU-20.
    pub fn apply_to(&self, fields: &mut Object, now: Timestamp) -> Result<(), Vec<Problem>> {
        merge_patch(fields, &self.fields);
        let mut problems = Vec::new();
        (self.kind.schema().rules)(&mut RecordValidator::new(
            fields,
            Some(&self.fields),
            &mut problems,
            now,
        ));
        if problems.is_empty() {
            Ok(())
        } else {
            Err(problems)
        }
    }
}
