//! The table.

use http::{Method, StatusCode};

use super::{
    Handler, OperationSpec, RequestBodyKind, RequiredRight, ResponseBodyKind, StyleResponses,
    SuccessResponse, SuccessResponses, TargetShape,
};
use crate::auth::Operation;

/// A success in the same form in both response styles.
pub(crate) const fn always(
    status: StatusCode,
    output: ResponseBodyKind,
    text: &'static str,
) -> SuccessResponses {
    let usual = StyleResponses {
        usual: SuccessResponse {
            status,
            output,
            text,
        },
        otherwise: None,
    };
    SuccessResponses {
        table: usual,
        examples: usual,
    }
}

/// A record that was created, or was there before.
///
/// Requirements: CRU-13, UND-38.
pub(crate) const CREATED: SuccessResponses = SuccessResponses {
    table: StyleResponses {
        usual: SuccessResponse {
            status: StatusCode::CREATED,
            output: ResponseBodyKind::Record,
            text: "The record, which is new.",
        },
        otherwise: Some(SuccessResponse {
            status: StatusCode::OK,
            output: ResponseBodyKind::Record,
            text: "The record, which was there already.",
        }),
    },
    examples: always(StatusCode::OK, ResponseBodyKind::Record, "The record.").examples,
};

/// A record that was deleted.
///
/// Requirements: CRU-14.
pub(crate) const DELETED: SuccessResponses = SuccessResponses {
    table: always(
        StatusCode::NO_CONTENT,
        ResponseBodyKind::Nothing,
        "It is deleted.",
    )
    .table,
    examples: always(StatusCode::OK, ResponseBodyKind::Notice, "It is done.").examples,
};

/// Something that everybody may read.
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
        need: RequiredRight::Nothing,
        input: RequestBodyKind::Nothing,
        answers: always(StatusCode::OK, output, text),
        id: name,
        summary,
        handler,
    }
}

/// Every operation of the specification, those of one shape in the order in which `Allow` names
/// their methods.
///
/// In ids and summaries `{one}` and `{many}` stand for the names of the kind, `{any}` for one with
/// its article, `{of}` for the record that a collection is under, `{below}` for one that is not its
/// container, `{helper}` and `{text}` for name and purpose of the helper.
pub(crate) static OPERATIONS: &[OperationSpec] = &[
    public(
        "entry_point",
        TargetShape::EntryPoint,
        Handler::EntryPoint,
        "The entry point: where the links begin.",
        ResponseBodyKind::EntryPoint,
        "The entry point.",
    ),
    public(
        "docs",
        TargetShape::Docs,
        Handler::Document,
        "The documentation's start page.",
        ResponseBodyKind::Page,
        "A page.",
    ),
    public(
        "docs_page",
        TargetShape::DocsPage,
        Handler::Document,
        "The page of a relation or of an error code.",
        ResponseBodyKind::Page,
        "A page.",
    ),
    public(
        "explorer",
        TargetShape::Explorer,
        Handler::Document,
        "The explorer, where there is one.",
        ResponseBodyKind::Explorer,
        "A page.",
    ),
    public(
        "capabilities",
        TargetShape::Capabilities,
        Handler::Capabilities,
        "What this server supports, for machines.",
        ResponseBodyKind::Capabilities,
        "What is supported.",
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
        "The JSON Schema of one thing.",
        ResponseBodyKind::Document,
        "The document.",
    ),
    public(
        "form",
        TargetShape::Form,
        Handler::Document,
        "What a form has to know of one route; `routes` is the list of them.",
        ResponseBodyKind::Document,
        "The document.",
    ),
    OperationSpec {
        name: Operation::List.as_str(),
        method: Method::GET,
        shape: TargetShape::Collection,
        need: RequiredRight::On(Operation::List),
        input: RequestBodyKind::Nothing,
        answers: always(StatusCode::OK, ResponseBodyKind::Collection, "A page."),
        id: "list_{many}{of}",
        summary: "Lists the {many}{of}.",
        handler: Handler::List,
    },
    OperationSpec {
        name: Operation::Create.as_str(),
        method: Method::POST,
        shape: TargetShape::Collection,
        need: RequiredRight::On(Operation::Create),
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
        need: RequiredRight::On(Operation::Read),
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
        need: RequiredRight::On(Operation::Update),
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
        need: RequiredRight::On(Operation::Delete),
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
        need: RequiredRight::Call,
        input: RequestBodyKind::Call,
        answers: always(
            StatusCode::OK,
            ResponseBodyKind::Recorded,
            "What was recorded; without a key, an empty object.",
        ),
        id: "{helper}",
        summary: "{text}",
        handler: Handler::Call,
    },
    OperationSpec {
        name: "call",
        method: Method::POST,
        shape: TargetShape::Schedule,
        need: RequiredRight::Call,
        input: RequestBodyKind::Call,
        answers: always(StatusCode::OK, ResponseBodyKind::Notice, "It is done."),
        id: "{helper}",
        summary: "Schedules a message.",
        handler: Handler::Call,
    },
    OperationSpec {
        name: "cancel",
        method: Method::DELETE,
        shape: TargetShape::Schedule,
        need: RequiredRight::Call,
        input: RequestBodyKind::Nothing,
        answers: always(StatusCode::OK, ResponseBodyKind::Notice, "It is done."),
        id: "cancel_{helper}",
        summary: "Cancels the schedule of a message.",
        handler: Handler::Cancel,
    },
];
