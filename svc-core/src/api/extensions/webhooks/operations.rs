//! The operations on webhooks.

use http::{Method, StatusCode};

use super::NAME;
use crate::operation::{Answers, Handler, Input, Need, OperationSpec, Output, Shape, always};

/// Something about webhooks (HOOK-01).
const fn webhook(
    name: &'static str,
    method: Method,
    shape: Shape,
    input: Input,
    summary: &'static str,
    answers: Answers,
) -> OperationSpec {
    let (need, handler) = (Need::Webhooks, Handler::Extension(NAME));
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

/// The operations on webhooks, those of one shape in the order in which `Allow` names their
/// methods.
pub(in super::super) static OPERATIONS: &[OperationSpec] = &[
    webhook(
        "list_webhooks",
        Method::GET,
        Shape::Webhooks,
        Input::Nothing,
        "Lists the webhooks, without their secrets.",
        always(StatusCode::OK, Output::Webhooks, "The webhooks."),
    ),
    webhook(
        "create_webhook",
        Method::POST,
        Shape::Webhooks,
        Input::NewWebhook,
        "Makes a webhook: a receiver that is told of changes.",
        always(
            StatusCode::CREATED,
            Output::WebhookSecret,
            "The webhook, with its secret.",
        ),
    ),
    webhook(
        "read_webhook",
        Method::GET,
        Shape::Webhook,
        Input::Nothing,
        "Reads a webhook and how its messages arrive.",
        always(StatusCode::OK, Output::Webhook, "The webhook."),
    ),
    webhook(
        "update_webhook",
        Method::PUT,
        Shape::Webhook,
        Input::Webhook,
        "Changes a webhook, pauses it or lets it go on.",
        always(StatusCode::OK, Output::Webhook, "The webhook."),
    ),
    webhook(
        "delete_webhook",
        Method::DELETE,
        Shape::Webhook,
        Input::Nothing,
        "Deletes a webhook.",
        always(StatusCode::NO_CONTENT, Output::Nothing, "It is deleted."),
    ),
    webhook(
        "redeliver",
        Method::POST,
        Shape::Redelivery,
        Input::Redelivery,
        "Sends again what was changed behind a cursor.",
        always(StatusCode::OK, Output::Webhook, "The webhook."),
    ),
    webhook(
        "rotate_secret",
        Method::POST,
        Shape::SecretRotation,
        Input::Nothing,
        "Gives a webhook another secret; the one before signs for a day beside it.",
        always(
            StatusCode::OK,
            Output::WebhookSecret,
            "The webhook, with its new secret.",
        ),
    ),
];
