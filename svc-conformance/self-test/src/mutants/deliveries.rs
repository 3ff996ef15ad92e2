//! Webhook messages that are signed incorrectly, contain too much, do not arrive, or arrive at the
//! wrong address.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderValue, Method, StatusCode, header};
use serde_json::{Map, Value};
use svc_conformance::ids;

use super::{BaseServer, Mutant, MutationPoint, set};
use crate::interceptor::Interceptor;
use crate::relay::{Letter, RelayedReceiver, Reply, key, relayed, signature, whole};
use crate::transport::BoxFuture;

const FAMILY: &str = "deliveries";

/// A server whose messages pass through this relay.
fn passed<P>(
    name: &'static str,
    rows: &[&str],
    pass: impl Fn() -> P + Send + Sync + 'static,
) -> Mutant
where
    P: Fn(Letter, RelayedReceiver) -> BoxFuture<Reply> + Send + Sync + 'static,
{
    Mutant::new(FAMILY, name, rows, move || relayed(pass()))
        .over(BaseServer::Sending)
        .at(MutationPoint::Backend)
}

/// A server that changes each message before it sends it.
fn changed(name: &'static str, rows: &[&str], change: fn(&mut Letter, &RelayedReceiver)) -> Mutant {
    passed(name, rows, move || {
        move |mut letter: Letter, receiver: RelayedReceiver| -> BoxFuture<Reply> {
            Box::pin(async move {
                change(&mut letter, &receiver);
                receiver.send(&letter).await
            })
        }
    })
}

/// A server that treats a response of a receiver as a different one.
fn mistaken(name: &'static str, rows: &[&str], mistake: fn(StatusCode) -> StatusCode) -> Mutant {
    passed(name, rows, move || {
        move |letter: Letter, receiver: RelayedReceiver| -> BoxFuture<Reply> {
            Box::pin(async move {
                let reply = receiver.send(&letter).await;
                Reply {
                    status: mistake(reply.status),
                    ..reply
                }
            })
        }
    })
}

/// A server that sends a changed message again after some responses.
fn repeated(
    name: &'static str,
    rows: &[&str],
    is_repeated: fn(&Reply) -> bool,
    change: fn(&mut Letter, &RelayedReceiver),
) -> Mutant {
    passed(name, rows, move || {
        move |mut letter: Letter, receiver: RelayedReceiver| -> BoxFuture<Reply> {
            Box::pin(async move {
                let reply = receiver.send(&letter).await;
                if is_repeated(&reply) {
                    change(&mut letter, &receiver);
                    receiver.send(&letter).await
                } else {
                    reply
                }
            })
        }
    })
}

/// A server that does not send messages of some events.
fn lost(name: &'static str, rows: &[&str], is_lost: fn(&str) -> bool) -> Mutant {
    passed(name, rows, move || {
        move |letter: Letter, receiver: RelayedReceiver| -> BoxFuture<Reply> {
            Box::pin(async move {
                if is_lost(&letter.event()) {
                    Reply::of(StatusCode::NO_CONTENT)
                } else {
                    receiver.send(&letter).await
                }
            })
        }
    })
}

/// Changes the body of a message, then signs it.
fn with_body(letter: &mut Letter, receiver: &RelayedReceiver, change: fn(&mut Map<String, Value>)) {
    if let Ok(mut body) = serde_json::from_slice::<Map<String, Value>>(&letter.body) {
        change(&mut body);
        letter.body = Value::Object(body).to_string().into();
    }
    receiver.sign(letter);
}

/// Sets a header of a message, then signs it.
fn with_header(letter: &mut Letter, receiver: &RelayedReceiver, name: &'static str, value: &str) {
    letter.set(name, value);
    receiver.sign(letter);
}

/// Signs other bytes than those of the message.
fn sign_over(letter: &mut Letter, receiver: &RelayedReceiver, signed: &[u8]) {
    letter.set(
        "webhook-signature",
        &signature(&key(receiver.secret()), signed),
    );
}

pub(super) fn faults() -> Vec<Mutant> {
    [messages(), signatures(), answers(), receivers()].concat()
}

/// Faults of the content.
fn messages() -> Vec<Mutant> {
    vec![
        lost(
            "messages about tags are never sent",
            &[ids::HOOK_07],
            |event| event.starts_with("tag."),
        ),
        lost("deletions are not sent", &[ids::HOOK_07], |event| {
            event.ends_with(".deleted")
        }),
        lost("merges are not sent", &[ids::MRG_13], |event| {
            event.ends_with(".merged")
        }),
        changed(
            "messages about merged people have no link to the remaining person",
            &[ids::MRG_13],
            |letter, receiver| {
                with_body(letter, receiver, |body| {
                    let links = body.get_mut("data").and_then(|data| data.get_mut("_links"));
                    if let Some(links) = links.and_then(Value::as_object_mut) {
                        links.retain(|rel, _| !rel.ends_with(":merged_into"));
                    }
                });
            },
        ),
        changed(
            "messages are sent with PUT",
            &[ids::HOOK_07],
            |letter, _| letter.method = Method::PUT,
        ),
        changed(
            "messages have no webhook-id",
            &[ids::HOOK_07],
            |letter, receiver| {
                letter.headers.remove("webhook-id");
                receiver.sign(letter);
            },
        ),
        changed(
            "all messages have one webhook-id",
            &[ids::HOOK_07],
            |letter, receiver| {
                with_header(letter, receiver, "webhook-id", "msg_1");
            },
        ),
        changed(
            "messages have a field of the record",
            &[ids::HOOK_07],
            |letter, receiver| {
                with_body(letter, receiver, |body| {
                    if let Some(data) = body.get_mut("data").and_then(Value::as_object_mut) {
                        set(data, "given_name", "Ada");
                    }
                });
            },
        ),
        changed(
            "messages have no date",
            &[ids::HOOK_07],
            |letter, receiver| {
                with_body(letter, receiver, |body| drop(body.remove("timestamp")));
            },
        ),
    ]
}

/// Faults of the signature.
fn signatures() -> Vec<Mutant> {
    vec![
        changed(
            "the body alone is signed",
            &[ids::HOOK_08],
            |letter, receiver| {
                let signed = letter.body.clone();
                sign_over(letter, receiver, &signed);
            },
        ),
        changed(
            "the timestamp of a message is not signed",
            &[ids::HOOK_08],
            |letter, receiver| {
                let signed = [letter.header("webhook-id").as_bytes(), b".", &letter.body].concat();
                sign_over(letter, receiver, &signed);
            },
        ),
        changed(
            "the id of a message is not signed",
            &[ids::HOOK_08],
            |letter, receiver| {
                let signed = [
                    letter.header("webhook-timestamp").as_bytes(),
                    b".",
                    &letter.body,
                ]
                .concat();
                sign_over(letter, receiver, &signed);
            },
        ),
        changed(
            "a body is changed after it was signed",
            &[ids::HOOK_08],
            |letter, _| {
                letter.body = [letter.body.as_ref(), b"\n"].concat().into();
            },
        ),
        changed(
            "the text of the secret is the key of signatures",
            &[ids::HOOK_08],
            |letter, receiver| {
                let signed = whole(letter);
                letter.set(
                    "webhook-signature",
                    &signature(receiver.secret().as_bytes(), &signed),
                );
            },
        ),
        changed(
            "timestamps of messages are in milliseconds",
            &[ids::HOOK_08],
            |letter, receiver| {
                let at = format!("{}000", letter.header("webhook-timestamp"));
                with_header(letter, receiver, "webhook-timestamp", &at);
            },
        ),
        changed(
            "the first secret of a webhook never expires",
            &[ids::HOOK_08],
            |letter, receiver| {
                let signed = whole(letter);
                letter.set(
                    "webhook-signature",
                    &signature(&key(receiver.first_secret()), &signed),
                );
            },
        ),
    ]
}

/// Faults of the handling of responses.
fn answers() -> Vec<Mutant> {
    vec![
        mistaken("500 of a receiver is success", &[ids::HOOK_11], |status| {
            if status == StatusCode::INTERNAL_SERVER_ERROR {
                StatusCode::NO_CONTENT
            } else {
                status
            }
        }),
        mistaken(
            "a redirect of a receiver is success",
            &[ids::HOOK_11],
            |status| {
                if status.is_redirection() {
                    StatusCode::NO_CONTENT
                } else {
                    status
                }
            },
        ),
        mistaken(
            "410 of a receiver is a failure as others",
            &[ids::HOOK_11],
            |status| {
                if status == StatusCode::GONE {
                    StatusCode::INTERNAL_SERVER_ERROR
                } else {
                    status
                }
            },
        ),
        repeated(
            "an attempt has another webhook-id than the one before",
            &[ids::HOOK_07],
            |reply| reply.status == StatusCode::INTERNAL_SERVER_ERROR,
            |letter, receiver| {
                let id = format!("{}_again", letter.header("webhook-id"));
                with_header(letter, receiver, "webhook-id", &id);
            },
        ),
        repeated(
            "Retry-After of a receiver is not respected",
            &[ids::HOOK_11],
            |reply| reply.headers.contains_key(header::RETRY_AFTER),
            |_, _| {},
        ),
        repeated(
            "retries are not signed again",
            &[ids::HOOK_08],
            |reply| reply.status == StatusCode::INTERNAL_SERVER_ERROR,
            |letter, _| letter.set("webhook-timestamp", "1614265330"),
        ),
        passed(
            "redirects of receivers are followed",
            &[ids::HOOK_11],
            || {
                |letter: Letter, receiver: RelayedReceiver| -> BoxFuture<Reply> {
                    Box::pin(async move {
                        let reply = receiver.send(&letter).await;
                        match reply
                            .headers
                            .get(header::LOCATION)
                            .and_then(|to| to.to_str().ok())
                        {
                            Some(to) if reply.status.is_redirection() => {
                                receiver.send_to(to, &letter).await
                            }
                            _ => reply,
                        }
                    })
                }
            },
        ),
    ]
}

/// Faults of the recipients and the time.
fn receivers() -> Vec<Mutant> {
    vec![
        passed(
            "what is sent elsewhere is also sent to a receiver that wanted no more",
            &[ids::HOOK_11],
            || {
                let gone = Arc::new(Mutex::new(Vec::<String>::new()));
                move |letter: Letter, receiver: RelayedReceiver| -> BoxFuture<Reply> {
                    let gone = Arc::clone(&gone);
                    Box::pin(async move {
                        let all = || gone.lock().unwrap_or_else(PoisonError::into_inner);
                        let told = all().clone();
                        for url in told {
                            receiver.send_to(&url, &letter).await;
                        }
                        let reply = receiver.send(&letter).await;
                        if reply.status == StatusCode::GONE {
                            all().push(receiver.url);
                        }
                        reply
                    })
                }
            },
        ),
        passed(
            "receivers are sent to one after the other",
            &[ids::HOOK_12],
            || {
                let turn = Arc::new(tokio::sync::Mutex::new(()));
                move |letter: Letter, receiver: RelayedReceiver| -> BoxFuture<Reply> {
                    let turn = Arc::clone(&turn);
                    Box::pin(async move {
                        let _turn = turn.lock().await;
                        receiver.send(&letter).await
                    })
                }
            },
        ),
        Mutant::new(
            FAMILY,
            "webhooks of any key receive every kind",
            &[ids::HOOK_03],
            || {
                Interceptor::before(|call, _| {
                    let is_narrow = call
                        .headers
                        .get("svc-api-token")
                        .is_some_and(|key| key == "k-narrow");
                    if is_narrow
                        && call.uri.path().ends_with("/webhooks")
                        && call.json()?.get("kinds").is_none()
                    {
                        call.headers
                            .insert("svc-api-token", HeaderValue::from_static("k-one"));
                    }
                    None
                })
            },
        )
        .over(BaseServer::Sending)
        .at(MutationPoint::Backend),
    ]
}

/// Behaviour that is permitted: messages that are late or repeated, with headers and signatures
/// that are not in the standard.
pub(super) fn free() -> Vec<Mutant> {
    vec![passed(
        "messages come late and twice, with more headers and signatures",
        &[],
        || {
            let sent = Arc::new(AtomicUsize::new(0));
            move |mut letter: Letter, receiver: RelayedReceiver| -> BoxFuture<Reply> {
                let number = sent.fetch_add(1, Ordering::Relaxed);
                Box::pin(async move {
                    // Not in the order of the changes.
                    let later = if number.is_multiple_of(2) { 700 } else { 100 };
                    tokio::time::sleep(Duration::from_millis(later)).await;
                    let signatures =
                        format!("v1a,x v1,AAAA {} v9,y", letter.header("webhook-signature"));
                    letter.set("webhook-signature", &signatures);
                    letter.set("webhook-attempt", "1");
                    let reply = receiver.send(&letter).await;
                    if reply.status.is_success() {
                        receiver.send(&letter).await
                    } else {
                        reply
                    }
                })
            }
        },
    )]
}
