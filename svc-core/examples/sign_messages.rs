//! Writes signed messages for verifiers that others wrote: as many as are asked for that are to be
//! taken, and as many that were altered and are to be refused. `.ci/webhooks` runs it.

use std::io::{self, BufWriter, Write};

use serde_json::json;
use svc_core::{
    Api, Vendor,
    auth::FixedKeys,
    backend::{ChangeKind, RecordChange},
    link::RecordAddress,
    model::Kind,
    value::{Id, Timestamp},
    webhooks::{Webhook, WebhookEvent},
};

/// A message as a receiver gets it, with the secret that it has.
struct Message {
    secret: String,
    id: String,
    seconds: i64,
    signatures: String,
    body: String,
}

impl Message {
    fn line(&self, how: &str, is_altered: bool) -> String {
        let headers = json!({
            "webhook-id": self.id,
            "webhook-timestamp": self.seconds.to_string(),
            "webhook-signature": self.signatures,
        });
        json!({ "secret": self.secret, "headers": headers, "body": self.body, "is_altered": is_altered, "how": how })
            .to_string()
    }

    /// The same, altered in one of five ways.
    fn altered(mut self, number: usize, other: String) -> (Self, &'static str) {
        let how = match number % 5 {
            0 => {
                self.body = self.body.replacen("20", "19", 1);
                "the body"
            }
            1 => {
                self.id.push('0');
                "the id"
            }
            2 => {
                self.seconds += 1;
                "the time"
            }
            3 => {
                self.signatures = self.signatures.replace("v1,", "v1,A");
                "the signature"
            }
            _ => {
                self.secret = other;
                "the secret"
            }
        };
        (self, how)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: usize = std::env::args().nth(1).ok_or("how many?")?.parse()?;
    let api =
        Api::builder(Vendor::new("Acme", "Acme CRM")).base_url("https://crm.example.org/api/v1/");
    let api = api.authenticator(FixedKeys::new()).build()?;
    let (now, mut out) = (Timestamp::now(), BufWriter::new(io::stdout().lock()));
    for number in 0..count {
        let kind = Kind::ALL
            .get(number % Kind::ALL.len())
            .copied()
            .ok_or("no kind")?;
        let what = ChangeKind::ALL
            .get(number % ChangeKind::ALL.len())
            .copied()
            .ok_or("no change")?;
        let record = RecordAddress::without_parent(kind, Id::from(i64::try_from(number)?));
        let entry = RecordChange::new(what, now, record);
        let new = |cursor: &str| {
            Webhook::new(
                "https://hooks.example.org/".to_owned(),
                vec![kind],
                vec![what.into()],
                cursor.to_owned(),
                now,
            )
        };
        let (mut webhook, other) = (new("c")?, new("c")?);
        let secret = |webhook: &Webhook| {
            webhook
                .secrets
                .first()
                .map(|(secret, _)| secret.reveal().to_owned())
        };
        let before = secret(&webhook).ok_or("no secret")?;
        // Of some the secret is being changed: either one is good.
        if number % 3 == 0 {
            webhook.rotate_secret(now)?;
        }
        let own = if number % 2 == 0 {
            before
        } else {
            secret(&webhook).ok_or("no secret")?
        };
        let (id, body) = (
            WebhookEvent::from(&entry).message_id(&webhook.id),
            api.webhook_message(&webhook, &entry),
        );
        let signatures = webhook.signatures(&id, now, &body);
        let seconds = now.as_micros().div_euclid(1_000_000);
        let message = || Message {
            secret: own.clone(),
            id: id.clone(),
            seconds,
            signatures: signatures.clone(),
            body: String::from_utf8_lossy(&body).into_owned(),
        };
        writeln!(out, "{}", message().line("as it was sent", false))?;
        let (altered, how) = message().altered(number, secret(&other).ok_or("no secret")?);
        writeln!(out, "{}", altered.line(how, true))?;
    }
    out.flush()?;
    Ok(())
}
