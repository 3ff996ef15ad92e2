//! Responds to requests about webhooks.
//!
//! Requirements: HOOK-01 to HOOK-10.

use http::{HeaderValue, Method, StatusCode, header::LOCATION};

use super::{
    WebhookSources,
    body::{WebhookBody, redelivery},
    hal,
};
use crate::{
    api::{
        Api, Response,
        admitted::AuthorizedParts,
        preferences::{HandlingPreference, Warnings},
    },
    backend::{FeedPage, FeedRequest, FeedResponse, StoredWebhook, WebhookStore, WebhookWrite},
    context::Context,
    error::{Error, ErrorCode, Problem, Result},
    json::{Json, Object},
    link::Target,
    model::Kind,
    value::{Id, Timestamp},
    webhooks::{EventType, LEASE_DURATION, MAX_WEBHOOKS, TRIES, Webhook, WebhookStatus},
};

/// The problems of a request, or the error while it was executed.
enum WebhookRequestError {
    Problems(Vec<Problem>),
    /// The caller may not read a kind of the webhook.
    NotAllowed,
    Expired(Box<Response>),
    Failed(Error),
}

impl From<Error> for WebhookRequestError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Api {
    pub(super) async fn answer_about_webhooks(
        &self,
        call: &AuthorizedParts<'_>,
    ) -> Result<Response> {
        let (cx, target, body) = (&call.context, &*call.target, call.body());
        let Some(parts) = self.webhook_sources() else {
            return Err(Error::not_implemented());
        };
        let about = WebhookHandler {
            api: self,
            cx,
            parts: &parts,
            handling: HandlingPreference::of(call.request.headers),
        };
        let answer = match (&call.operation.method, target) {
            (&Method::GET, Target::Webhooks) => about.list().await,
            (&Method::POST, Target::Webhooks) => about.create(body).await,
            (&Method::GET, Target::Webhook(id)) => about.read(id).await,
            (&Method::PUT, Target::Webhook(id)) => about.update(id, body).await,
            (&Method::DELETE, Target::Webhook(id)) => about.delete(id).await,
            (_, Target::Redelivery(id)) => about.redeliver(id, body).await,
            (_, Target::SecretRotation(id)) => about.rotate(id).await,
            _ => Err(Error::not_implemented().into()),
        };
        match answer {
            Ok(reply) => Ok(reply),
            Err(WebhookRequestError::Problems(problems)) => {
                let mut reply = self.invalid(None, &problems);
                about.handling.mark(&mut reply);
                Ok(reply)
            }
            Err(WebhookRequestError::NotAllowed) => {
                let text = "This API key may not read every kind of this webhook. Use a key with these rights.";
                Ok(self.error_response(Some(target), ErrorCode::KeyNotAllowed, text))
            }
            Err(WebhookRequestError::Expired(reply)) => Ok(*reply),
            Err(WebhookRequestError::Failed(error)) => Err(error),
        }
    }
}

/// A request about webhooks.
struct WebhookHandler<'a> {
    api: &'a Api,
    cx: &'a Context,
    parts: &'a WebhookSources,
    handling: HandlingPreference,
}

impl WebhookHandler<'_> {
    fn store(&self) -> &dyn WebhookStore {
        &*self.parts.webhooks
    }

    async fn list(&self) -> Result<Response, WebhookRequestError> {
        let all = self.store().list_webhooks(self.cx.tenant()).await?;
        let mut all = all
            .iter()
            .map(Webhook::from_stored)
            .collect::<Result<Vec<_>>>()?;
        all.retain(|webhook| self.may_read(webhook));
        let mut body = Vec::with_capacity(all.len().saturating_mul(1_024).saturating_add(1_024));
        hal::webhooks(&self.api.hal(self.cx.base()), &all, &mut body);
        Ok(Response::hal(StatusCode::OK, body))
    }

    async fn create(&self, body: &[u8]) -> Result<Response, WebhookRequestError> {
        let (asked, warnings) = self.parse_body(body, None)?;
        let now = self.cx.received_at();
        let url = asked.url.unwrap_or_default();
        let kinds = asked.kinds.unwrap_or_else(|| self.readable());
        let events = asked.events.unwrap_or_else(|| EventType::ALL.to_vec());
        // It sends only changes from now on.
        let end = self.feed(None).await?.last_cursor;
        let mut webhook = Webhook::new(url, kinds, events, end, now)?;
        webhook.status = asked.status.unwrap_or(WebhookStatus::Active);
        webhook.created_by = self.cx.caller().key_name().map(str::to_owned);
        webhook.url_set_by.clone_from(&webhook.created_by);
        let stored = webhook.to_stored(1, None, now)?;
        match self.store().put_webhook(self.cx.tenant(), &stored).await? {
            WebhookWrite::Written => {}
            WebhookWrite::Conflict => return Err(Error::conflict().into()),
            WebhookWrite::LimitReached => {
                let text = format!(
                    "The limit of {MAX_WEBHOOKS} webhooks is reached. Delete one that is not needed."
                );
                return Err(WebhookRequestError::Problems(vec![Problem::for_request(
                    ErrorCode::FieldInvalid,
                    text,
                )]));
            }
        }
        let mut reply = self.render(StatusCode::CREATED, &webhook, true);
        let href = self
            .api
            .hal(self.cx.base())
            .href(&Target::Webhook(webhook.id.clone()));
        reply.insert(LOCATION, HeaderValue::try_from(href).ok());
        Ok(self.handled(reply, &warnings))
    }

    async fn read(&self, id: &Id) -> Result<Response, WebhookRequestError> {
        Ok(self.render(StatusCode::OK, &self.stored(id).await?.1, false))
    }

    async fn update(&self, id: &Id, body: &[u8]) -> Result<Response, WebhookRequestError> {
        // A missing webhook is reported first, before the problems of the body.
        // Requirements: UND-39.
        let (_, stored) = self.stored(id).await?;
        let (asked, warnings) = self.parse_body(body, Some(&stored))?;
        let changed = self.change(id, |webhook| {
            let resumes = webhook.status == WebhookStatus::Disabled && asked.status.is_some();
            let is_redirected = asked.url.as_ref().is_some_and(|url| *url != webhook.url)
                || asked
                    .kinds
                    .as_ref()
                    .is_some_and(|kinds| *kinds != webhook.kinds);
            if resumes || is_redirected {
                webhook.note_change(self.cx.caller().key_name(), self.cx.received_at());
            }
            if let Some(url) = asked.url.as_ref().filter(|url| **url != webhook.url) {
                webhook.url.clone_from(url);
                webhook.url_set_by = self.cx.caller().key_name().map(str::to_owned);
                // The new receiver may work, so the pause after failures does not apply to it.
                webhook.paused_until = None;
            }
            if let Some(kinds) = &asked.kinds {
                webhook.kinds.clone_from(kinds);
            }
            if let Some(events) = &asked.events {
                webhook.events.clone_from(events);
            }
            webhook.status = asked.status.unwrap_or(webhook.status);
            Ok(())
        });
        let reply = self.render(StatusCode::OK, &changed.await?, false);
        Ok(self.handled(reply, &warnings))
    }

    async fn delete(&self, id: &Id) -> Result<Response, WebhookRequestError> {
        self.stored(id).await?;
        if self.store().delete(self.cx.tenant(), id).await? {
            return Ok(Response::empty(StatusCode::NO_CONTENT));
        }
        Err(Error::not_found().into())
    }

    async fn redeliver(&self, id: &Id, body: &[u8]) -> Result<Response, WebhookRequestError> {
        self.stored(id).await?;
        let after = redelivery(&self.object(body, true)?).map_err(WebhookRequestError::Problems)?;
        if after.is_some() {
            self.feed(after.clone()).await?;
        }
        let changed = self.change(id, |webhook| {
            webhook.redeliver(after.clone());
            Ok(())
        });
        Ok(self.render(StatusCode::OK, &changed.await?, false))
    }

    async fn rotate(&self, id: &Id) -> Result<Response, WebhookRequestError> {
        let changed = self
            .change(id, |webhook| webhook.rotate_secret(self.cx.received_at()))
            .await?;
        Ok(self.render(StatusCode::OK, &changed, true))
    }

    /// Changes the current version of a webhook, and repeats this after a concurrent change.
    async fn change(
        &self,
        id: &Id,
        change: impl Fn(&mut Webhook) -> Result<()>,
    ) -> Result<Webhook, WebhookRequestError> {
        for _ in 0..TRIES {
            let (stored, mut webhook) = self.stored(id).await?;
            change(&mut webhook)?;
            webhook.modified = self
                .cx
                .received_at()
                .at_least_after(Timestamp::from_micros(webhook.modified))
                .as_micros();
            // A sender that has claimed the webhook keeps its lease. A longer pause is shortened,
            // so that a sender checks it again.
            let leased = stored
                .due_at
                .map(|next| next.min(self.cx.received_at().saturating_add(LEASE_DURATION)));
            let next = webhook.to_stored(
                stored.version.saturating_add(1),
                leased,
                self.cx.received_at(),
            )?;
            if self.store().put_webhook(self.cx.tenant(), &next).await? == WebhookWrite::Written {
                return Ok(webhook);
            }
        }
        Err(Error::conflict().into())
    }

    /// Returns a webhook, if the caller may read all of its kinds.
    ///
    /// Requirements: HOOK-15.
    async fn stored(&self, id: &Id) -> Result<(StoredWebhook, Webhook), WebhookRequestError> {
        let stored = self
            .store()
            .get_webhook(self.cx.tenant(), id)
            .await?
            .ok_or_else(Error::not_found)?;
        let webhook = Webhook::from_stored(&stored)?;
        if self.may_read(&webhook) {
            Ok((stored, webhook))
        } else {
            Err(WebhookRequestError::NotAllowed)
        }
    }

    /// Returns whether the caller may read every kind of a webhook.
    fn may_read(&self, webhook: &Webhook) -> bool {
        webhook.kinds.iter().all(|kind| self.cx.may_read(*kind))
    }

    fn render(&self, status: StatusCode, webhook: &Webhook, with_secret: bool) -> Response {
        let secret = webhook
            .secrets
            .first()
            .filter(|_| with_secret)
            .map(|(secret, _)| secret.reveal());
        let mut body = Vec::with_capacity(1_024);
        hal::webhook(
            &self.api.hal(self.cx.base()),
            webhook,
            secret,
            true,
            &mut body,
        );
        Response::hal(status, body)
    }

    /// Returns the kinds that the caller may read.
    fn readable(&self) -> Vec<Kind> {
        Kind::ALL
            .iter()
            .copied()
            .filter(|kind| self.cx.may_read(*kind))
            .collect()
    }

    fn object(&self, body: &[u8], may_be_empty: bool) -> Result<Object, WebhookRequestError> {
        if body.iter().all(u8::is_ascii_whitespace) {
            if may_be_empty {
                return Ok(Object::new());
            }
            let text =
                "The request has no body. Send fields in a JSON body, not in the query string.";
            return Err(WebhookRequestError::Problems(vec![Problem::for_request(
                ErrorCode::BodyMissing,
                text,
            )]));
        }
        self.api
            .bodies(self.cx)
            .object(body)
            .map_err(WebhookRequestError::Problems)
    }

    /// Reads the body of a create, or of a change of a stored webhook. Read-only members of a change
    /// that are equal to those of the webhook are accepted.
    fn parse_body(
        &self,
        body: &[u8],
        stored: Option<&Webhook>,
    ) -> Result<(WebhookBody, Warnings), WebhookRequestError> {
        let mut object = self.object(body, false)?;
        // A client sent an earlier response back.
        let dialect = self.api.dialect();
        object.retain(|name, _| dialect.strip_prefix(name) != Some("warnings"));
        let (kinds, reach) = (self.readable(), self.parts.receiver_policy);
        let document = stored.map(|stored| self.render(StatusCode::OK, stored, true).body);
        let document = document.and_then(|document| Json::read_kept(&document));
        let stored = document.as_ref().and_then(Json::as_object);
        let (asked, report) = WebhookBody::read(&object, stored, &kinds, reach);
        let mut warnings = Warnings::default();
        let problems = self.handling.problems(report, &mut warnings);
        if problems.is_empty() {
            Ok((asked, warnings))
        } else {
            Err(WebhookRequestError::Problems(problems))
        }
    }

    /// Adds to a response how the ignored members of the body were handled.
    ///
    /// Requirements: UND-22.
    fn handled(&self, mut reply: Response, warnings: &Warnings) -> Response {
        self.api.warn(self.cx, warnings, &mut reply);
        self.handling.mark(&mut reply);
        reply
    }

    /// Reads one entry of the feed after a cursor.
    async fn feed(&self, after: Option<String>) -> Result<FeedPage, WebhookRequestError> {
        let request = FeedRequest::new(after, self.readable(), 1);
        match self.parts.changes.read(self.cx, &request).await? {
            FeedResponse::Page(page) => Ok(page),
            FeedResponse::UnknownCursor => {
                let text = "{property} is not a cursor of this tenant's change feed. Use one from a `next` or `last` link, or omit it to start from the beginning.";
                Err(WebhookRequestError::Problems(vec![Problem::new(
                    ErrorCode::CursorInvalid,
                    "after",
                    text,
                )]))
            }
            FeedResponse::ExpiredCursor => Err(WebhookRequestError::Expired(Box::new(
                self.api.expired_cursor(self.cx),
            ))),
        }
    }
}
