//! The operations on webhooks.

use http::{Method, StatusCode};

use super::NAME;
use crate::operation::{
    Handler, OperationSpec, RequestBodyKind, RequiredRight, ResponseBodyKind, SuccessResponses,
    TargetShape, always,
};

/// Returns the specification of an operation on webhooks.
///
/// Requirements: HOOK-01.
const fn webhook(
    name: &'static str,
    method: Method,
    shape: TargetShape,
    input: RequestBodyKind,
    summary: &'static str,
    answers: SuccessResponses,
) -> OperationSpec {
    let (need, handler) = (RequiredRight::Webhooks, Handler::Extension(NAME));
    OperationSpec {
        name,
        method,
        shape,
        need,
        input,
        answers,
        id: name,
        summary,
        handler,
    }
}

/// The operations on webhooks. Operations of one shape are in the order in which `Allow` names
/// their methods.
pub(in super::super) static OPERATIONS: &[OperationSpec] = &[
    webhook(
        "list_webhooks",
        Method::GET,
        TargetShape::Webhooks,
        RequestBodyKind::Nothing,
        "Lists the webhooks, without their secrets.",
        always(StatusCode::OK, ResponseBodyKind::Webhooks, "The webhooks."),
    ),
    webhook(
        "create_webhook",
        Method::POST,
        TargetShape::Webhooks,
        RequestBodyKind::NewWebhook,
        "Creates a webhook, which sends changes to a receiver.",
        always(
            StatusCode::CREATED,
            ResponseBodyKind::WebhookSecret,
            "The webhook, with its secret.",
        ),
    ),
    webhook(
        "read_webhook",
        Method::GET,
        TargetShape::Webhook,
        RequestBodyKind::Nothing,
        "Reads a webhook with the state of its deliveries.",
        always(StatusCode::OK, ResponseBodyKind::Webhook, "The webhook."),
    ),
    webhook(
        "update_webhook",
        Method::PUT,
        TargetShape::Webhook,
        RequestBodyKind::Webhook,
        "Changes, pauses or resumes a webhook.",
        always(StatusCode::OK, ResponseBodyKind::Webhook, "The webhook."),
    ),
    webhook(
        "delete_webhook",
        Method::DELETE,
        TargetShape::Webhook,
        RequestBodyKind::Nothing,
        "Deletes a webhook.",
        always(
            StatusCode::NO_CONTENT,
            ResponseBodyKind::Nothing,
            "The webhook was deleted.",
        ),
    ),
    webhook(
        "redeliver",
        Method::POST,
        TargetShape::Redelivery,
        RequestBodyKind::Redelivery,
        "Sends the changes after a cursor again.",
        always(StatusCode::OK, ResponseBodyKind::Webhook, "The webhook."),
    ),
    webhook(
        "rotate_secret",
        Method::POST,
        TargetShape::SecretRotation,
        RequestBodyKind::Nothing,
        "Creates a new secret. For one day, messages are also signed with the previous one.",
        always(
            StatusCode::OK,
            ResponseBodyKind::WebhookSecret,
            "The webhook, with its new secret.",
        ),
    ),
];
