//! The table of all operations of the specification. Access checks, dispatch, `Allow`, `OpenAPI`,
//! the documentation and its example requests use it.
//!
//! [`Api::operation`](crate::Api::operation) and [`Api::operations`](crate::Api::operations) return
//! the operations that a server offers.

mod table;
mod text;

use http::{Method, StatusCode};

pub(crate) use table::{CREATED, DELETED, OPERATIONS, always};

use crate::{
    auth::{Operation, Right},
    helper::HelperName,
    link::{RecordAddress, Target},
    model::Kind,
};

/// The form of responses where the specification's examples and its table of response codes differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ResponseStyle {
    /// Create 201, delete 204 without body, `error_descriptions` in non-atomic entries.
    ///
    /// Requirements: CRU-13, CRU-14, ERR-33.
    #[default]
    Table,
    /// Create 200, delete 200 with `notice`, `errors` and `code` in non-atomic entries.
    Examples,
}

/// An operation of the specification: a method on a type of target.
#[derive(Debug)]
#[non_exhaustive]
pub struct OperationSpec {
    /// The name, as in the capability document: `list`, `read`, `create`, `update`, `delete`.
    /// Helpers have `call` and `cancel`, and other operations have the name of the document.
    pub name: &'static str,
    /// The method. A server also supports `HEAD` if this is `GET`, and may support `PATCH` if this
    /// is `PUT`.
    pub method: Method,
    /// The type of target.
    pub shape: TargetShape,
    /// The required right.
    pub need: RequiredRight,
    /// The request body.
    pub input: RequestBodyKind,
    pub(crate) answers: SuccessResponses,
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) handler: Handler,
}

impl OperationSpec {
    /// Returns whether the operation accepts a body. The body of any other request is not read.
    ///
    /// Requirements: UND-39.
    #[must_use]
    pub fn accepts_body(&self) -> bool {
        self.input != RequestBodyKind::Nothing
    }

    /// Returns whether the operation reads a document about the server: the documentation, the
    /// supported features, the schemas.
    ///
    /// No backend is called for it. Another layer must serve these documents; an
    /// [`Api`](crate::Api) itself serves only the capability document.
    ///
    /// Requirements: ENT-22, UND-40.
    #[must_use]
    pub fn is_document(&self) -> bool {
        matches!(self.handler, Handler::Document | Handler::Capabilities)
    }

    /// Returns the responses of successful requests in a response style, the usual one first.
    ///
    /// Requirements: CRU-13, CRU-14.
    pub fn successes(&self, style: ResponseStyle) -> impl Iterator<Item = SuccessResponse> + use<> {
        let StyleResponses { usual, otherwise } = self.answers.of(style);
        std::iter::once(usual).chain(otherwise)
    }

    /// Returns the usual response of a successful request in a response style.
    #[must_use]
    pub fn default_success(&self, style: ResponseStyle) -> SuccessResponse {
        self.answers.of(style).usual
    }

    /// Returns the required right for a target; `None` if no key is required.
    #[must_use]
    pub fn right(&self, target: &Target) -> Option<Right> {
        match (self.need, target) {
            (
                RequiredRight::Operation(operation),
                Target::Collection { kind, .. } | Target::Record(RecordAddress { kind, .. }),
            ) => Some(Right::Operation(*kind, operation)),
            (
                RequiredRight::Helper,
                Target::Helper { helper, .. } | Target::Batch { helper, .. },
            ) => Some(Right::Helper(*helper)),
            (RequiredRight::Webhooks, _) => Some(Right::Webhooks),
            (RequiredRight::MergePeople, _) => Some(Right::MergePeople),
            (RequiredRight::People(operation), _) => {
                Some(Right::Operation(Kind::Person, operation))
            }
            _ => None,
        }
    }

    /// Returns whether the specification allows the operation without a key, if the server also
    /// allows it.
    ///
    /// Requirements: AUT-06.
    #[must_use]
    pub fn allows_anonymous(&self, target: &Target) -> bool {
        match (self.need, target) {
            (RequiredRight::None, _) => true,
            (RequiredRight::Helper, Target::Helper { helper, .. }) => helper.allows_anonymous(),
            _ => false,
        }
    }
}

/// The type of a target: a target without its ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TargetShape {
    /// The entry point.
    ///
    /// Requirements: ENT-01.
    EntryPoint,
    /// The change feed.
    ///
    /// Requirements: SYN-01.
    Changes,
    /// The webhooks.
    ///
    /// Requirements: HOOK-01.
    Webhooks,
    /// One webhook.
    ///
    /// Requirements: HOOK-01.
    Webhook,
    /// The URL for requesting redelivery of a webhook.
    ///
    /// Requirements: HOOK-10.
    Redelivery,
    /// The URL for rotating the secret of a webhook.
    ///
    /// Requirements: HOOK-09.
    SecretRotation,
    /// The pairs of people who may be the same person.
    ///
    /// Requirements: DUP-01.
    Duplicates,
    /// The pairs of one person.
    ///
    /// Requirements: DUP-01.
    PersonDuplicates,
    /// One pair.
    ///
    /// Requirements: DUP-06.
    DuplicatePair,
    /// The start page of the documentation.
    ///
    /// Requirements: ENT-22.
    Docs,
    /// Another page of the documentation.
    ///
    /// Requirements: ENT-22.
    DocsPage,
    /// The explorer, and each of its files.
    Explorer,
    /// The capability document.
    ///
    /// Requirements: UND-40.
    Capabilities,
    /// The `OpenAPI` document.
    OpenApi,
    /// A JSON Schema.
    JsonSchema,
    /// The description of a route for forms.
    Form,
    /// A collection, or its part under a record.
    ///
    /// Requirements: COL-01.
    Collection,
    /// One record.
    ///
    /// Requirements: COL-03.
    Record,
    /// A helper that records something.
    ///
    /// Requirements: HLP-11 to HLP-22.
    Helper,
    /// A batch of a helper.
    ///
    /// Requirements: BAT-01.
    Batch,
    /// The schedule of a message.
    ///
    /// Requirements: SCH-01.
    Schedule,
    /// The URL for merging another person into a person.
    ///
    /// Requirements: MRG-01.
    Merge,
    /// A batch of merges into a person.
    ///
    /// Requirements: MRG-24.
    MergeBatch,
    /// The merges of other people into a person.
    ///
    /// Requirements: MRG-20.
    PersonMerges,
    /// The URL for undoing a merge.
    ///
    /// Requirements: MRG-20.
    UndoMerge,
}

impl TargetShape {
    /// Returns the type of a target.
    #[must_use]
    pub const fn from_target(target: &Target) -> Self {
        match target {
            Target::EntryPoint => Self::EntryPoint,
            Target::Changes => Self::Changes,
            Target::Webhooks => Self::Webhooks,
            Target::Webhook(_) => Self::Webhook,
            Target::Redelivery(_) => Self::Redelivery,
            Target::SecretRotation(_) => Self::SecretRotation,
            Target::Duplicates => Self::Duplicates,
            Target::PersonDuplicates(_) => Self::PersonDuplicates,
            Target::DuplicatePair(..) => Self::DuplicatePair,
            Target::Docs => Self::Docs,
            Target::DocsPage(_) => Self::DocsPage,
            Target::Explorer(_) => Self::Explorer,
            Target::Capabilities => Self::Capabilities,
            Target::OpenApi => Self::OpenApi,
            Target::JsonSchema(_) => Self::JsonSchema,
            Target::Form(_) => Self::Form,
            Target::Collection { .. } => Self::Collection,
            Target::Record(_) => Self::Record,
            Target::Helper {
                helper: HelperName::Schedule,
                ..
            } => Self::Schedule,
            Target::Helper { .. } => Self::Helper,
            Target::Batch { .. } => Self::Batch,
            Target::Merge(_) => Self::Merge,
            Target::MergeBatch(_) => Self::MergeBatch,
            Target::PersonMerges(_) => Self::PersonMerges,
            Target::UndoMerge(..) => Self::UndoMerge,
        }
    }
}

/// The right that an operation requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequiredRight {
    /// None: the operation is public.
    ///
    /// Requirements: ENT-01, ENT-22, UND-40.
    None,
    /// The right to read the records of at least one kind.
    ///
    /// Requirements: SYN-06.
    ReadAny,
    /// The right to an operation on the kind of its target.
    Operation(Operation),
    /// The right to call the helper of its target.
    Helper,
    /// The right to manage webhooks.
    ///
    /// Requirements: HOOK-03.
    Webhooks,
    /// The right to merge people.
    ///
    /// Requirements: MRG-01.
    MergePeople,
    /// The right to an operation on people.
    ///
    /// Requirements: DUP-03.
    People(Operation),
}

/// The request body of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestBodyKind {
    /// None.
    Nothing,
    /// A record to create, optionally with its person.
    ///
    /// Requirements: CRU-01, HLP-19.
    Create,
    /// A change of a record.
    ///
    /// Requirements: CRU-04.
    Update,
    /// The body of a helper.
    ///
    /// Requirements: HLP-02, SCH-01.
    Call,
    /// A batch of bodies of a helper or of merges.
    ///
    /// Requirements: BAT-01, MRG-24.
    Batch,
    /// A webhook to create.
    ///
    /// Requirements: HOOK-02.
    NewWebhook,
    /// A change of a webhook.
    ///
    /// Requirements: HOOK-06.
    Webhook,
    /// The position in the feed from which a webhook sends again.
    ///
    /// Requirements: HOOK-10.
    Redelivery,
    /// The person to merge, and how.
    ///
    /// Requirements: MRG-02.
    Merge,
    /// An empty object.
    ///
    /// Requirements: MRG-20.
    UndoMerge,
    /// Whether two people are different people.
    ///
    /// Requirements: DUP-06.
    DuplicatePair,
}

/// The type of a response body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResponseBodyKind {
    /// The entry point.
    EntryPoint,
    /// A page of the documentation, for people or for machines.
    ///
    /// Requirements: ENT-22.
    Page,
    /// The explorer.
    Explorer,
    /// The capability document.
    Capabilities,
    /// Another JSON document.
    Document,
    /// A page of a collection.
    Collection,
    /// A page of the change feed.
    Changes,
    /// The webhooks.
    Webhooks,
    /// A webhook.
    Webhook,
    /// A webhook with its new secret.
    WebhookSecret,
    /// A page of people who may be the same person.
    Duplicates,
    /// A pair of people, and whether they are different people.
    DuplicatePair,
    /// A record.
    Record,
    /// The record that a helper created; for an anonymous caller, an empty object.
    ///
    /// Requirements: HLP-07.
    Recorded,
    /// The results of the entries of a batch.
    ///
    /// Requirements: BAT-02.
    Batch,
    /// The person that remains after a merge, with what the merge changed.
    ///
    /// Requirements: MRG-02.
    Merge,
    /// The merges of other people into a person.
    ///
    /// Requirements: MRG-20.
    Merges,
    /// The person that remained after a merge, with what was undone.
    ///
    /// Requirements: MRG-20.
    UndoneMerge,
    /// A sentence for human readers.
    ///
    /// Requirements: SCH-02, CRU-05.
    Notice,
    /// No body.
    Nothing,
}

/// A response of a successful request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SuccessResponse {
    /// The status.
    pub status: StatusCode,
    /// The type of the body.
    pub body: ResponseBodyKind,
    /// The meaning of the response, as a sentence.
    pub description: &'static str,
}

/// Whether a request requires a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyRequirement {
    /// No key is required.
    ///
    /// Requirements: ENT-01, ENT-22, UND-40.
    None,
    /// A key is optional.
    ///
    /// Requirements: AUT-06.
    Optional,
    /// A key with the right is required.
    Required,
}

impl KeyRequirement {
    /// Returns the text for the documentation.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "not needed",
            Self::Optional => "optional",
            Self::Required => "needed",
        }
    }
}

/// The responses of successful requests in both response styles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SuccessResponses {
    table: StyleResponses,
    examples: StyleResponses,
}

/// The responses of successful requests in one response style.
#[derive(Debug, Clone, Copy)]
struct StyleResponses {
    usual: SuccessResponse,
    otherwise: Option<SuccessResponse>,
}

impl SuccessResponses {
    fn of(self, style: ResponseStyle) -> StyleResponses {
        match style {
            ResponseStyle::Table => self.table,
            ResponseStyle::Examples => self.examples,
        }
    }

    /// Returns the usual response of a successful request.
    pub(crate) fn usual(self, style: ResponseStyle) -> SuccessResponse {
        self.of(style).usual
    }
}

/// The handler of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handler {
    EntryPoint,
    Capabilities,
    Document,
    Extension(ExtensionName),
    List,
    Read,
    Create,
    Update,
    Delete,
    Call,
    Cancel,
}

/// An extension with its own operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExtensionName {
    Batch,
    Changes,
    Merge,
    UndoMerge,
    Duplicates,
    Webhooks,
}

impl ExtensionName {
    /// Returns the relation of its documents, without prefix.
    pub(crate) const fn relation(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Changes => "changes",
            Self::Merge => "merge_helper",
            Self::UndoMerge => "merges",
            Self::Duplicates => "duplicates",
            Self::Webhooks => "webhooks",
        }
    }
}
