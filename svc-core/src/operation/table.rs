//! The table of all operations.

use http::{Method, StatusCode};

use super::{
    Handler, OperationSpec, RequestBodyKind, RequiredRight, ResponseBodyKind, StyleResponses,
    SuccessResponse, SuccessResponses, TargetShape,
};
use crate::auth::Operation;

/// Returns a response that is the same in both response styles.
pub(crate) const fn always(
    status: StatusCode,
    output: ResponseBodyKind,
    text: &'static str,
) -> SuccessResponses {
    let usual = StyleResponses {
        usual: SuccessResponse {
            status,
            body: output,
            description: text,
        },
        otherwise: None,
    };
    SuccessResponses {
        table: usual,
        examples: usual,
    }
}

/// The response for a record that was created or already existed.
///
/// Requirements: CRU-13, UND-38.
pub(crate) const CREATED: SuccessResponses = SuccessResponses {
    table: StyleResponses {
        usual: SuccessResponse {
            status: StatusCode::CREATED,
            body: ResponseBodyKind::Record,
            description: "The new record.",
        },
        otherwise: Some(SuccessResponse {
            status: StatusCode::OK,
            body: ResponseBodyKind::Record,
            description: "The existing record.",
        }),
    },
    examples: always(StatusCode::OK, ResponseBodyKind::Record, "The record.").examples,
};

/// The response for a deleted record.
///
/// Requirements: CRU-14.
pub(crate) const DELETED: SuccessResponses = SuccessResponses {
    table: always(
        StatusCode::NO_CONTENT,
        ResponseBodyKind::Nothing,
        "The record is deleted.",
    )
    .table,
    examples: always(
        StatusCode::OK,
        ResponseBodyKind::Notice,
        "The record is deleted.",
    )
    .examples,
};

/// Returns a public operation.
const fn public(
    name: &'static str,
    shape: TargetShape,
    handler: Handler,
    summary: &'static str,
    output: ResponseBodyKind,
    text: &'static str,
) -> OperationSpec {
    OperationSpec {
        name,
        method: Method::GET,
        shape,
        need: RequiredRight::None,
        input: RequestBodyKind::Nothing,
        answers: always(StatusCode::OK, output, text),
        id: name,
        summary,
        handler,
    }
}

/// Every operation of the specification. Operations on the same type of target are in the order in
/// which `Allow` lists their methods.
///
/// Ids and summaries contain placeholders:
///
/// - `{one}` and `{many}` are the names of the kind, and `{any}` is its name with an article.
/// - `{of}` is the record that a collection is under, and `{below}` is such a record that is not
///   the container.
/// - `{helper}` and `{text}` are the name and purpose of the helper.
pub(crate) static OPERATIONS: &[OperationSpec] = &[
    public(
        "entry_point",
        TargetShape::EntryPoint,
        Handler::EntryPoint,
        "The entry point, which links to everything else.",
        ResponseBodyKind::EntryPoint,
        "The entry point.",
    ),
    public(
        "docs",
        TargetShape::Docs,
        Handler::Document,
        "The start page of the documentation.",
        ResponseBodyKind::Page,
        "The page.",
    ),
    public(
        "docs_page",
        TargetShape::DocsPage,
        Handler::Document,
        "The page of a relation or of an error code.",
        ResponseBodyKind::Page,
        "The page.",
    ),
    public(
        "explorer",
        TargetShape::Explorer,
        Handler::Document,
        "The explorer, if available.",
        ResponseBodyKind::Explorer,
        "The page.",
    ),
    public(
        "capabilities",
        TargetShape::Capabilities,
        Handler::Capabilities,
        "What this server supports, in machine-readable form.",
        ResponseBodyKind::Capabilities,
        "The capability document.",
    ),
    public(
        "openapi",
        TargetShape::OpenApi,
        Handler::Document,
        "This document.",
        ResponseBodyKind::Document,
        "The document.",
    ),
    public(
        "json_schema",
        TargetShape::JsonSchema,
        Handler::Document,
        "A JSON Schema, by its name.",
        ResponseBodyKind::Document,
        "The document.",
    ),
    public(
        "form",
        TargetShape::Form,
        Handler::Document,
        "The description of a route for forms; `routes` lists all routes.",
        ResponseBodyKind::Document,
        "The document.",
    ),
    OperationSpec {
        name: Operation::List.as_str(),
        method: Method::GET,
        shape: TargetShape::Collection,
        need: RequiredRight::Operation(Operation::List),
        input: RequestBodyKind::Nothing,
        answers: always(
            StatusCode::OK,
            ResponseBodyKind::Collection,
            "A page of the collection.",
        ),
        id: "list_{many}{of}",
        summary: "Lists the {many}{of}.",
        handler: Handler::List,
    },
    OperationSpec {
        name: Operation::Create.as_str(),
        method: Method::POST,
        shape: TargetShape::Collection,
        need: RequiredRight::Operation(Operation::Create),
        input: RequestBodyKind::Create,
        answers: CREATED,
        id: "create_{one}{below}",
        summary: "Creates {any}{of}.",
        handler: Handler::Create,
    },
    OperationSpec {
        name: Operation::Read.as_str(),
        method: Method::GET,
        shape: TargetShape::Record,
        need: RequiredRight::Operation(Operation::Read),
        input: RequestBodyKind::Nothing,
        answers: always(StatusCode::OK, ResponseBodyKind::Record, "The record."),
        id: "read_{one}",
        summary: "Reads {any}.",
        handler: Handler::Read,
    },
    OperationSpec {
        name: Operation::Update.as_str(),
        method: Method::PUT,
        shape: TargetShape::Record,
        need: RequiredRight::Operation(Operation::Update),
        input: RequestBodyKind::Update,
        answers: always(StatusCode::OK, ResponseBodyKind::Record, "The record."),
        id: "update_{one}",
        summary: "Changes {any}.",
        handler: Handler::Update,
    },
    OperationSpec {
        name: Operation::Delete.as_str(),
        method: Method::DELETE,
        shape: TargetShape::Record,
        need: RequiredRight::Operation(Operation::Delete),
        input: RequestBodyKind::Nothing,
        answers: DELETED,
        id: "delete_{one}",
        summary: "Deletes {any}.",
        handler: Handler::Delete,
    },
    OperationSpec {
        name: "call",
        method: Method::POST,
        shape: TargetShape::Helper,
        need: RequiredRight::Helper,
        input: RequestBodyKind::Call,
        answers: always(
            StatusCode::OK,
            ResponseBodyKind::Recorded,
            "The recorded action or person; without a key, an empty object.",
        ),
        id: "{helper}",
        summary: "{text}",
        handler: Handler::Call,
    },
    OperationSpec {
        name: "call",
        method: Method::POST,
        shape: TargetShape::Schedule,
        need: RequiredRight::Helper,
        input: RequestBodyKind::Call,
        answers: always(
            StatusCode::OK,
            ResponseBodyKind::Notice,
            "The message is scheduled.",
        ),
        id: "{helper}",
        summary: "Schedules a message.",
        handler: Handler::Call,
    },
    OperationSpec {
        name: "cancel",
        method: Method::DELETE,
        shape: TargetShape::Schedule,
        need: RequiredRight::Helper,
        input: RequestBodyKind::Nothing,
        answers: always(
            StatusCode::OK,
            ResponseBodyKind::Notice,
            "The schedule is cancelled.",
        ),
        id: "cancel_{helper}",
        summary: "Cancels the schedule of a message.",
        handler: Handler::Cancel,
    },
];
