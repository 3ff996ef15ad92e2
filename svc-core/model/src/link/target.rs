//! What an address can lead to.

use std::borrow::Cow;

use crate::{
    names::{HelperName, Kind},
    value::Id,
};

/// One record: its kind, its id, and the id of the record in whose path it lives.
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
    /// For a kind with a home, the id of the record it lives under, such as the petition of a
    /// signature. `None` for other kinds, and where a short address (`/submissions/<id>`) does not
    /// say.
    pub parent: Option<Id>,
}

impl RecordAddress {
    /// A record, with the record that it lives under where there is one.
    #[must_use]
    pub fn new(kind: Kind, id: Id, parent: Option<Id>) -> Self {
        Self { kind, id, parent }
    }

    /// A record of a kind that lives at the top.
    #[must_use]
    pub fn top(kind: Kind, id: Id) -> Self {
        Self {
            kind,
            id,
            parent: None,
        }
    }

    /// A record that lives under another.
    #[must_use]
    pub fn under(kind: Kind, parent: Id, id: Id) -> Self {
        Self {
            kind,
            id,
            parent: Some(parent),
        }
    }

    /// Whether a record with this parent is the one that is meant: a wrong parent in the path is 404.
    ///
    /// Requirements: COL-19.
    #[must_use]
    pub fn admits_parent(&self, parent: Option<&Id>) -> bool {
        self.parent.is_none() || self.parent.as_ref() == parent
    }
}

/// Which records of a kind a collection holds.
///
/// Requirements: COL-01, COL-04 to COL-18.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All of the tenant.
    All,
    /// Those under one record, such as the signatures of a petition or of a person.
    Under(RecordAddress),
}

/// Anything that an address of the interface can lead to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// The entry point.
    ///
    /// Requirements: ENT-01.
    EntryPoint,
    /// A collection, or the part of it under one record.
    ///
    /// Requirements: COL-01 to COL-18.
    Collection {
        /// The kind of the members.
        kind: Kind,
        /// Which of them.
        scope: Scope,
    },
    /// One record.
    ///
    /// Requirements: COL-03.
    Record(RecordAddress),
    /// A helper; with the record it belongs to, except for person signup.
    ///
    /// Requirements: HLP-11 to HLP-22.
    Helper {
        /// Which helper.
        helper: HelperName,
        /// The petition, form, event, person ... that it records an action of.
        container: Option<RecordAddress>,
    },
    /// Many calls of a helper in one request.
    ///
    /// Requirements: BAT-01.
    Batch {
        /// Which helper.
        helper: HelperName,
        /// What it belongs to, as for a single call.
        container: Option<RecordAddress>,
    },
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
    /// Where a webhook is told to send again.
    ///
    /// Requirements: HOOK-10.
    Redelivery(Id),
    /// Where a webhook gets another secret.
    ///
    /// Requirements: HOOK-09.
    SecretRotation(Id),
    /// The start page of the documentation.
    ///
    /// Requirements: ENT-22.
    Docs,
    /// The page of one relation, and the template of the curie.
    ///
    /// Requirements: ENT-22, HAL-18.
    DocsPage(Cow<'static, str>),
    /// The explorer of the documentation, and by name each file that it and the other pages consist
    /// of; its page has no name.
    Explorer(Cow<'static, str>),
    /// The capability document.
    ///
    /// Requirements: UND-40.
    Capabilities,
    /// The `OpenAPI` document.
    OpenApi,
    /// The JSON Schema of a kind, of a helper's body, or of another document, by its name.
    JsonSchema(Cow<'static, str>),
    /// What a form has to know of one route, by the route's name; `routes` is the list of them.
    Form(Cow<'static, str>),
}

/// A record that a link leads to: one of this server, or an address elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkValue {
    /// A record of this server.
    Local(RecordAddress),
    /// An address elsewhere, sent as it is.
    Foreign(String),
}

impl From<RecordAddress> for LinkValue {
    fn from(address: RecordAddress) -> Self {
        Self::Local(address)
    }
}
