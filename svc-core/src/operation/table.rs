//! The table.

use http::{Method, StatusCode};

use super::{Answers, Handler, Input, Need, OperationSpec, Output, Shape, StyleAnswers, Success};
use crate::auth::Operation;

/// A success in the same form in both response styles.
pub(crate) const fn always(status: StatusCode, output: Output, text: &'static str) -> Answers {
    let usual = StyleAnswers {
        usual: Success {
            status,
            output,
            text,
        },
        otherwise: None,
    };
    Answers {
        table: usual,
        examples: usual,
    }
}

/// A record that was created, or was there before (CRU-13, UND-38).
pub(crate) const CREATED: Answers = Answers {
    table: StyleAnswers {
        usual: Success {
            status: StatusCode::CREATED,
            output: Output::Record,
            text: "The record, which is new.",
        },
        otherwise: Some(Success {
            status: StatusCode::OK,
            output: Output::Record,
            text: "The record, which was there already.",
        }),
    },
    examples: always(StatusCode::OK, Output::Record, "The record.").examples,
};

/// A record that was deleted (CRU-14).
pub(crate) const DELETED: Answers = Answers {
    table: always(StatusCode::NO_CONTENT, Output::Nothing, "It is deleted.").table,
    examples: always(StatusCode::OK, Output::Notice, "It is done.").examples,
};

/// Something that everybody may read.
const fn public(
    name: &'static str,
    shape: Shape,
    handler: Handler,
    summary: &'static str,
    output: Output,
    text: &'static str,
) -> OperationSpec {
    OperationSpec {
        name,
        method: Method::GET,
        shape,
        need: Need::Nothing,
        input: Input::Nothing,
        answers: always(StatusCode::OK, output, text),
        id: name,
        summary,
        handler,
    }
}

/// Every operation of the specification, those of one shape in the order in which `Allow` names their
/// methods.
///
/// In ids and summaries `{one}` and `{many}` stand for the names of the kind, `{any}` for one with
/// its article, `{of}` for the record that a collection is under, `{below}` for one that is not its
/// container, `{helper}` and `{text}` for name and purpose of the helper.
pub(crate) static OPERATIONS: &[OperationSpec] = &[
    public(
        "entry_point",
        Shape::EntryPoint,
        Handler::EntryPoint,
        "The entry point: where the links begin.",
        Output::EntryPoint,
        "The entry point.",
    ),
    public(
        "docs",
        Shape::Docs,
        Handler::Document,
        "The documentation's start page.",
        Output::Page,
        "A page.",
    ),
    public(
        "docs_page",
        Shape::DocsPage,
        Handler::Document,
        "The page of a relation or of an error code.",
        Output::Page,
        "A page.",
    ),
    public(
        "explorer",
        Shape::Explorer,
        Handler::Document,
        "The explorer, where there is one.",
        Output::Explorer,
        "A page.",
    ),
    public(
        "capabilities",
        Shape::Capabilities,
        Handler::Capabilities,
        "What this server supports, for machines.",
        Output::Capabilities,
        "What is supported.",
    ),
    public(
        "openapi",
        Shape::OpenApi,
        Handler::Document,
        "This document.",
        Output::Document,
        "The document.",
    ),
    public(
        "json_schema",
        Shape::JsonSchema,
        Handler::Document,
        "The JSON Schema of one thing.",
        Output::Document,
        "The document.",
    ),
    public(
        "form",
        Shape::Form,
        Handler::Document,
        "What a form has to know of one route; `routes` is the list of them.",
        Output::Document,
        "The document.",
    ),
    OperationSpec {
        name: Operation::List.as_str(),
        method: Method::GET,
        shape: Shape::Collection,
        need: Need::On(Operation::List),
        input: Input::Nothing,
        answers: always(StatusCode::OK, Output::Collection, "A page."),
        id: "list_{many}{of}",
        summary: "Lists the {many}{of}.",
        handler: Handler::List,
    },
    OperationSpec {
        name: Operation::Create.as_str(),
        method: Method::POST,
        shape: Shape::Collection,
        need: Need::On(Operation::Create),
        input: Input::Create,
        answers: CREATED,
        id: "create_{one}{below}",
        summary: "Creates {any}{of}.",
        handler: Handler::Create,
    },
    OperationSpec {
        name: Operation::Read.as_str(),
        method: Method::GET,
        shape: Shape::Record,
        need: Need::On(Operation::Read),
        input: Input::Nothing,
        answers: always(StatusCode::OK, Output::Record, "The record."),
        id: "read_{one}",
        summary: "Reads {any}.",
        handler: Handler::Read,
    },
    OperationSpec {
        name: Operation::Update.as_str(),
        method: Method::PUT,
        shape: Shape::Record,
        need: Need::On(Operation::Update),
        input: Input::Update,
        answers: always(StatusCode::OK, Output::Record, "The record."),
        id: "update_{one}",
        summary: "Changes {any}.",
        handler: Handler::Update,
    },
    OperationSpec {
        name: Operation::Delete.as_str(),
        method: Method::DELETE,
        shape: Shape::Record,
        need: Need::On(Operation::Delete),
        input: Input::Nothing,
        answers: DELETED,
        id: "delete_{one}",
        summary: "Deletes {any}.",
        handler: Handler::Delete,
    },
    OperationSpec {
        name: "call",
        method: Method::POST,
        shape: Shape::Helper,
        need: Need::Call,
        input: Input::Call,
        answers: always(
            StatusCode::OK,
            Output::Recorded,
            "What was recorded; without a key, an empty object.",
        ),
        id: "{helper}",
        summary: "{text}",
        handler: Handler::Call,
    },
    OperationSpec {
        name: "call",
        method: Method::POST,
        shape: Shape::Schedule,
        need: Need::Call,
        input: Input::Call,
        answers: always(StatusCode::OK, Output::Notice, "It is done."),
        id: "{helper}",
        summary: "Schedules a message.",
        handler: Handler::Call,
    },
    OperationSpec {
        name: "cancel",
        method: Method::DELETE,
        shape: Shape::Schedule,
        need: Need::Call,
        input: Input::Nothing,
        answers: always(StatusCode::OK, Output::Notice, "It is done."),
        id: "cancel_{helper}",
        summary: "Cancels the schedule of a message.",
        handler: Handler::Cancel,
    },
];
