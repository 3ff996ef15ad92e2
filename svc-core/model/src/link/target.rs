//! The targets of URLs.

use std::borrow::Cow;

use crate::{
    names::{HelperName, Kind},
    value::Id,
};

/// The address of a record: its kind, its id, and the id of the record that its path is under.
///
/// Requirements: COL-19.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RecordAddress {
    /// The kind.
    pub kind: Kind,
    /// The id: 1 to 64 of `[A-Za-z0-9_-]`.
    ///
    /// Requirements: UND-41.
    pub id: Id,
    /// The id of the record that a nested kind is under, such as the petition of a signature.
    ///
    /// It is `None` for other kinds, and for a short path (`/submissions/<id>`), which does not
    /// contain it.
    pub parent: Option<Id>,
}

impl RecordAddress {
    /// Creates the address of a record, with the id of its parent if it has one.
    #[must_use]
    pub fn new(kind: Kind, id: Id, parent: Option<Id>) -> Self {
        Self { kind, id, parent }
    }

    /// Creates the address of a record of a top-level kind.
    #[must_use]
    pub fn without_parent(kind: Kind, id: Id) -> Self {
        Self {
            kind,
            id,
            parent: None,
        }
    }

    /// Creates the address of a record of a nested kind.
    #[must_use]
    pub fn with_parent(kind: Kind, parent: Id, id: Id) -> Self {
        Self {
            kind,
            id,
            parent: Some(parent),
        }
    }

    /// Returns whether a record with this parent has this address. A wrong parent in the path is a
    /// 404.
    ///
    /// Requirements: COL-19.
    #[must_use]
    pub fn matches_parent(&self, parent: Option<&Id>) -> bool {
        self.parent.is_none() || self.parent.as_ref() == parent
    }
}

/// The part of a kind's records that a collection contains.
///
/// Requirements: COL-01, COL-04 to COL-18.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All records of the tenant.
    All,
    /// The records under one record, such as the signatures of a petition or of a person.
    Under(RecordAddress),
}

/// Everything that a URL of the API can identify.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// The entry point.
    ///
    /// Requirements: ENT-01.
    EntryPoint,
    /// A collection, or its part under one record.
    ///
    /// Requirements: COL-01 to COL-18.
    Collection {
        /// The kind of the members.
        kind: Kind,
        /// The part of the records.
        scope: Scope,
    },
    /// One record.
    ///
    /// Requirements: COL-03.
    Record(RecordAddress),
    /// A helper, with the record that it belongs to, except for person signup.
    ///
    /// Requirements: HLP-11 to HLP-22.
    Helper {
        /// Which helper.
        helper: HelperName,
        /// The petition, form, event, person ... whose action it records.
        container: Option<RecordAddress>,
    },
    /// A batch of a helper.
    ///
    /// Requirements: BAT-01.
    Batch {
        /// Which helper.
        helper: HelperName,
        /// The record that it belongs to, as for a single request.
        container: Option<RecordAddress>,
    },
    /// The URL for merging another person into the person at this address.
    ///
    /// Requirements: MRG-01.
    Merge(RecordAddress),
    /// A batch of merges into the person at this address.
    ///
    /// Requirements: MRG-24.
    MergeBatch(RecordAddress),
    /// The merges of other people into the person at this address.
    ///
    /// Requirements: MRG-20.
    PersonMerges(RecordAddress),
    /// The URL for undoing a merge into the person at this address, with the id of the merge.
    ///
    /// Requirements: MRG-20.
    UndoMerge(RecordAddress, Id),
    /// The pairs of people who may be the same person.
    ///
    /// Requirements: DUP-01.
    Duplicates,
    /// The pairs of the person at this address.
    ///
    /// Requirements: DUP-01.
    PersonDuplicates(RecordAddress),
    /// One pair, with the ids of the two people.
    ///
    /// Requirements: DUP-06.
    DuplicatePair(Id, Id),
    /// The change feed.
    ///
    /// Requirements: SYN-01.
    Changes,
    /// The webhooks of the tenant.
    ///
    /// Requirements: HOOK-01.
    Webhooks,
    /// One webhook.
    ///
    /// Requirements: HOOK-01.
    Webhook(Id),
    /// The URL for requesting redelivery of a webhook.
    ///
    /// Requirements: HOOK-10.
    Redelivery(Id),
    /// The URL for rotating the secret of a webhook.
    ///
    /// Requirements: HOOK-09.
    SecretRotation(Id),
    /// The start page of the documentation.
    ///
    /// Requirements: ENT-22.
    Docs,
    /// The page of one relation, which the template of the curie links to.
    ///
    /// Requirements: ENT-22, HAL-18.
    DocsPage(Cow<'static, str>),
    /// The explorer of the documentation, or by its name a file that the explorer and the other
    /// pages use. The page of the explorer has an empty name.
    Explorer(Cow<'static, str>),
    /// The capability document.
    ///
    /// Requirements: UND-40.
    Capabilities,
    /// The `OpenAPI` document.
    OpenApi,
    /// The JSON Schema of a kind, of a helper body, or of another document, by its name.
    JsonSchema(Cow<'static, str>),
    /// The description of a route for forms, by the name of the route; `routes` is the list of all
    /// of them.
    Form(Cow<'static, str>),
}

/// The target of a link: a record of this server, or an external URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkValue {
    /// A record of this server.
    Local(RecordAddress),
    /// An external URL, sent unchanged.
    Foreign(String),
}

impl From<RecordAddress> for LinkValue {
    fn from(address: RecordAddress) -> Self {
        Self::Local(address)
    }
}
