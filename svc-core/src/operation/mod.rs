//! The operations of the interface as one table: admission, dispatch, `Allow`, `OpenAPI`, the
//! documentation and its example requests read it.
//!
//! What a server offers of them is asked of its [`Api`](crate::Api):
//! [`Api::operation`](crate::Api::operation) and [`Api::operations`](crate::Api::operations).

mod table;
mod text;

use http::{Method, StatusCode};

pub(crate) use table::{CREATED, DELETED, OPERATIONS, always};

use crate::{
    auth::{Operation, Right},
    helper::HelperName,
    link::{RecordAddress, Target},
};

/// How responses look where the specification's examples and its response-code table disagree.
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

/// One operation of the interface: a method on a shape of address.
#[derive(Debug)]
#[non_exhaustive]
pub struct OperationSpec {
    /// Its name, as in the capability document: `list`, `read`, `create`, `update`, `delete`;
    /// `call` and `cancel` for helpers; the document for the rest.
    pub name: &'static str,
    /// Its method. A server answers `HEAD` where this is `GET`, and may take `PATCH` where it is
    /// `PUT`.
    pub method: Method,
    /// What it is called on.
    pub shape: TargetShape,
    /// The right that it needs.
    pub need: RequiredRight,
    /// The body that it takes.
    pub input: RequestBodyKind,
    pub(crate) answers: SuccessResponses,
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) handler: Handler,
}

impl OperationSpec {
    /// Whether it takes a body; of a request to any other, none is read.
    ///
    /// Requirements: UND-39.
    #[must_use]
    pub fn takes_body(&self) -> bool {
        self.input != RequestBodyKind::Nothing
    }

    /// Whether it reads a document about the server: the documentation, what is supported, the
    /// schemas.
    ///
    /// No backend is asked for it, and whoever serves documents answers it itself: an
    /// [`Api`](crate::Api) by itself has the capability document only.
    ///
    /// Requirements: ENT-22, UND-40.
    #[must_use]
    pub fn is_document(&self) -> bool {
        matches!(self.handler, Handler::Document | Handler::Capabilities)
    }

    /// What a success is answered with in a response style, the usual answer first.
    ///
    /// Requirements: CRU-13, CRU-14.
    pub fn successes(&self, style: ResponseStyle) -> impl Iterator<Item = SuccessResponse> + use<> {
        let StyleResponses { usual, otherwise } = self.answers.of(style);
        std::iter::once(usual).chain(otherwise)
    }

    /// What a success is usually answered with in a response style.
    #[must_use]
    pub fn success(&self, style: ResponseStyle) -> SuccessResponse {
        self.answers.of(style).usual
    }

    /// The right that it needs on a target; `None` where no key is needed.
    #[must_use]
    pub fn right(&self, target: &Target) -> Option<Right> {
        match (self.need, target) {
            (
                RequiredRight::On(operation),
                Target::Collection { kind, .. } | Target::Record(RecordAddress { kind, .. }),
            ) => Some(Right::Operation(*kind, operation)),
            (RequiredRight::Call, Target::Helper { helper, .. } | Target::Batch { helper, .. }) => {
                Some(Right::Helper(*helper))
            }
            (RequiredRight::Webhooks, _) => Some(Right::Webhooks),
            _ => None,
        }
    }

    /// Whether the interface lets it be called without a key, where the server does, too.
    ///
    /// Requirements: AUT-06.
    #[must_use]
    pub fn may_be_anonymous(&self, target: &Target) -> bool {
        match (self.need, target) {
            (RequiredRight::Nothing, _) => true,
            (RequiredRight::Call, Target::Helper { helper, .. }) => helper.may_be_anonymous(),
            _ => false,
        }
    }
}

/// The shape of an address: what it leads to, without the ids in it.
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
    /// Where a webhook is told to send again.
    ///
    /// Requirements: HOOK-10.
    Redelivery,
    /// Where a webhook gets another secret.
    ///
    /// Requirements: HOOK-09.
    SecretRotation,
    /// The start page of the documentation.
    ///
    /// Requirements: ENT-22.
    Docs,
    /// Another page of the documentation.
    ///
    /// Requirements: ENT-22.
    DocsPage,
    /// The explorer, and each file of it.
    Explorer,
    /// The capability document.
    ///
    /// Requirements: UND-40.
    Capabilities,
    /// The `OpenAPI` document.
    OpenApi,
    /// A JSON Schema.
    JsonSchema,
    /// What a form has to know of a route.
    Form,
    /// A collection, or the part of one under a record.
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
    /// Many calls of a helper in one request.
    ///
    /// Requirements: BAT-01.
    Batch,
    /// The schedule of a message.
    ///
    /// Requirements: SCH-01.
    Schedule,
}

impl TargetShape {
    /// The shape of a target.
    #[must_use]
    pub const fn of(target: &Target) -> Self {
        match target {
            Target::EntryPoint => Self::EntryPoint,
            Target::Changes => Self::Changes,
            Target::Webhooks => Self::Webhooks,
            Target::Webhook(_) => Self::Webhook,
            Target::Redelivery(_) => Self::Redelivery,
            Target::SecretRotation(_) => Self::SecretRotation,
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
        }
    }
}

/// What a caller needs for an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequiredRight {
    /// Nothing: it is public.
    ///
    /// Requirements: ENT-01, ENT-22, UND-40.
    Nothing,
    /// The right to read the records of at least one kind.
    ///
    /// Requirements: SYN-06.
    ReadAny,
    /// The right to an operation on the kind of its target.
    On(Operation),
    /// The right to call the helper of its target.
    Call,
    /// The right to webhooks.
    ///
    /// Requirements: HOOK-03.
    Webhooks,
}

/// The body that an operation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestBodyKind {
    /// None.
    Nothing,
    /// A record to create, perhaps with its person.
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
    /// Many bodies of a helper.
    ///
    /// Requirements: BAT-01.
    Batch,
    /// A webhook to make.
    ///
    /// Requirements: HOOK-02.
    NewWebhook,
    /// A change of a webhook.
    ///
    /// Requirements: HOOK-06.
    Webhook,
    /// From where on a webhook sends again.
    ///
    /// Requirements: HOOK-10.
    Redelivery,
}

/// What the body of an answer is.
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
    /// A record.
    Record,
    /// What a helper recorded; without a key, an empty object.
    ///
    /// Requirements: HLP-07.
    Recorded,
    /// What became of each entry of a batch.
    ///
    /// Requirements: BAT-02.
    Batch,
    /// A sentence for a reader.
    ///
    /// Requirements: SCH-02, CRU-05.
    Notice,
    /// No body.
    Nothing,
}

/// One way in which an operation succeeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SuccessResponse {
    /// The status.
    pub status: StatusCode,
    /// What the body is.
    pub output: ResponseBodyKind,
    /// What the answer is, in a sentence.
    pub text: &'static str,
}

/// Whether a request needs a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyRequirement {
    /// None.
    ///
    /// Requirements: ENT-01, ENT-22, UND-40.
    NotNeeded,
    /// It may come without one.
    ///
    /// Requirements: AUT-06.
    Optional,
    /// One with the right.
    Needed,
}

impl KeyRequirement {
    /// In words, as the documentation has it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotNeeded => "not needed",
            Self::Optional => "optional",
            Self::Needed => "needed",
        }
    }
}

/// The successes of an operation in both response styles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SuccessResponses {
    table: StyleResponses,
    examples: StyleResponses,
}

/// The successes of an operation in one response style.
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

    /// The usual success.
    pub(crate) fn usual(self, style: ResponseStyle) -> SuccessResponse {
        self.of(style).usual
    }
}

/// What answers an operation.
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

/// An extension that has operations of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExtensionName {
    Batch,
    Changes,
    Webhooks,
}

impl ExtensionName {
    /// The relation of its documents, without prefix.
    pub(crate) const fn relation(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Changes => "changes",
            Self::Webhooks => "webhooks",
        }
    }
}
