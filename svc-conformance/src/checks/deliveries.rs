//! Webhook messages, as the receiver of the run gets them.
//!
//! Requirements: HOOK-03, HOOK-07, HOOK-08, HOOK-11, HOOK-12, MRG-13.

use std::collections::BTreeSet;
use std::time::Duration;

use http::Method;

use super::merges::Pair;
use super::prelude::*;
use super::{change_feed, subject, webhooks};
use crate::address;
use crate::kinds::kind_of;
use crate::receiver::{Inbox, Message, Receiver, Reply, Secret};
use crate::values::instant;

pub(super) const CHECKS: &[Check] = &[
    check!("hook/delivered", [HOOK_07, HOOK_08], delivered).needs(RECEIVED),
    check!("hook/rotated", [HOOK_08], rotated).needs(RECEIVED),
    check!("hook/attempts", [HOOK_07, HOOK_08, HOOK_11], attempts).needs(RECEIVED),
    check!("hook/apart", [HOOK_12], apart).needs(RECEIVED),
    check!("hook/readable", [HOOK_03], readable)
        .needs("webhooks and webhook_receiver and auth.restricted_key"),
    check!("hook/merged", [MRG_13], merged).needs(
        "webhooks and webhook_receiver and merge_people.forwards and people.create and people.read",
    ),
];

const RECEIVED: &str = "webhooks and webhook_receiver";

/// The number of kinds that are created, changed and deleted.
const MOST_KINDS: usize = 3;
/// The seconds of `Retry-After`: more than the first pause of Standard Webhooks.
const RETRY_AFTER: u64 = 8;
/// How much earlier than `Retry-After` a retry may arrive, because of clocks with whole seconds.
const ROUNDING: Duration = Duration::from_secs(1);
/// The maximum number of reads per second of the state of a webhook.
const LOOKS: u32 = 10;
/// How long a message may take while another receiver hangs, before that one is released.
const WHILE_HANGING: Duration = Duration::from_secs(5);
/// The maximum delay of a message that waited only for the release of another receiver.
const AFTER_RELEASE: Duration = Duration::from_secs(2);

/// A webhook whose messages the run receives.
struct Hook {
    own: String,
    inbox: Inbox,
    secret: Secret,
}

impl Hook {
    /// Creates a webhook of these kinds and events, to whose messages the receiver sends these
    /// replies. `None` if the server rejects it.
    async fn offered(
        api: &CheckClient<'_>,
        fields: &Value,
        replies: Vec<Reply>,
    ) -> Result<Result<Self, TestResponse>, CheckStop> {
        let inbox = receiver(api.cx)?.inbox(&api.cx.unique(), replies);
        let url = webhooks::hooks(api).await?;
        let mut body = fields.clone();
        put(&mut body, "url", inbox.url.as_str());
        let answer = api.post(&url, &body).await?;
        if !answer.is_created() {
            return Ok(Err(answer));
        }
        let secret = answer["secret"].as_str().and_then(Secret::read);
        let secret = secret
            .ok_or_else(|| none("a new webhook has no secret to verify messages with (HOOK-02)"))?;
        Ok(Ok(Self {
            own: answer.record().self_url()?,
            inbox,
            secret,
        }))
    }

    /// Same as [`Hook::offered`], but a rejection ends the check.
    async fn new(
        api: &CheckClient<'_>,
        fields: &Value,
        replies: Vec<Reply>,
    ) -> Result<Self, CheckStop> {
        Self::offered(api, fields, replies).await?.map_err(|answer| {
            none(format!(
                "the server does not accept the URL of the receiver. Allow it to send to private \
                 networks, or use --webhook-receiver-url with a public URL: {answer}"
            ))
        })
    }

    async fn remove(&self, api: &CheckClient<'_>) -> Result<(), CheckStop> {
        api.delete(&self.own).await.map(drop)
    }

    /// Returns every message about a record so far.
    fn about(&self, record: &str) -> Vec<Message> {
        self.inbox
            .messages()
            .into_iter()
            .filter(|message| is_about(message, record))
            .collect()
    }

    /// Waits for this number of messages about a record.
    async fn attempts(&self, limit: Duration, record: &str, number: usize) -> bool {
        let enough = |messages: &[Message]| {
            let about = messages
                .iter()
                .filter(|message| is_about(message, record))
                .count();
            (about >= number).then_some(())
        };
        self.inbox.wait(limit, enough).await.is_some()
    }

    /// Waits for the first message about a record. Without it, the check cannot observe anything.
    async fn first(&self, cx: &CheckContext, record: &str) -> Result<(), CheckStop> {
        let arrived = self.attempts(limit(cx), record, 1).await;
        cx.must(ids::HOOK_07, arrived, || {
            format!(
                "no message about {record} arrived within {:?} after it was created",
                limit(cx)
            )
        })
    }

    /// Checks every message so far.
    fn judge(&self, cx: &CheckContext) {
        let mut subjects: Vec<(String, Value)> = Vec::new();
        for message in self.inbox.messages() {
            judge(cx, &message, &self.secret);
            let (Some(id), Some(body)) = (message.id(), body(&message)) else {
                continue;
            };
            let other = subjects
                .iter()
                .find(|(known, about)| known == id && *about != body);
            cx.observe(ids::HOOK_07, other.is_none(), || {
                format!("two messages have the `webhook-id` {id} and different bodies: {body} and {other:?}")
            });
            subjects.push((id.to_owned(), body));
        }
    }
}

fn receiver(cx: &CheckContext) -> Result<&Receiver, CheckStop> {
    cx.run
        .receiver
        .as_ref()
        .ok_or_else(|| none("there is no receiver"))
}

/// Returns the maximum time to wait for one message.
fn limit(cx: &CheckContext) -> Duration {
    let third = cx
        .run
        .settings
        .check_timeout
        .checked_div(3)
        .unwrap_or_default();
    cx.run.settings.webhook_timeout.min(third)
}

fn body(message: &Message) -> Option<Value> {
    serde_json::from_slice(message.body.as_ref()?).ok()
}

/// Whether a message contains the URL of a record. Its host may differ from that of the request
/// that created the record.
fn is_about(message: &Message, record: &str) -> bool {
    let mut found = false;
    leaves(
        &body(message).unwrap_or_default(),
        &mut Vec::new(),
        &mut |_, value| {
            found |= value.as_str().is_some_and(|url| is_same_path(url, record));
        },
    );
    found
}

/// Whether two URLs have one path.
fn is_same_path(one: &str, other: &str) -> bool {
    let path = |url| address::split(url).map(|(_, path)| path);
    path(one).is_some() && path(one) == path(other)
}

/// Passes every value within a value that is neither an object nor an array to a function, with the
/// path of member names.
fn leaves<'v>(value: &'v Value, path: &mut Vec<&'v str>, see: &mut dyn FnMut(&[&str], &'v Value)) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                path.push(name);
                leaves(value, path, see);
                path.pop();
            }
        }
        Value::Array(list) => list.iter().for_each(|value| leaves(value, path, see)),
        value => see(path, value),
    }
}

/// Returns what a body contains in addition to `type`, `timestamp`, one link, and the link of a merged
/// person to the remaining one.
fn surplus(cx: &CheckContext, body: &Value) -> Vec<String> {
    let into = merged_into(cx, body).map(|(rel, _)| rel);
    let (mut more, mut rels) = (Vec::new(), BTreeSet::new());
    leaves(body, &mut Vec::new(), &mut |path, _| match path {
        ["type" | "timestamp"] | [.., "_links", "self" | "curies", _] => {}
        [.., "_links", rel, "href" | "templated"] if Some(*rel) == into => {}
        [.., "_links", rel, "href" | "templated"] => drop(rels.insert((*rel).to_owned())),
        path => more.push(path.join(".")),
    });
    if rels.len() > 1 {
        more.extend(rels);
    }
    more
}

/// Returns the name and the URL of the link from a merged person to the remaining one, in any `_links` of a
/// message.
fn merged_into<'b>(cx: &CheckContext, value: &'b Value) -> Option<(&'b str, &'b str)> {
    let object = value.as_object()?;
    let own = object.get("_links").and_then(|links| {
        let rel = cx.declared().extension_of(links, "merged_into")?;
        Some((rel, links.get(rel)?.get("href")?.as_str()?))
    });
    own.or_else(|| object.values().find_map(|inner| merged_into(cx, inner)))
}

/// Checks the content and the signature of one message.
fn judge(cx: &CheckContext, message: &Message, secret: &Secret) {
    cx.observe(ids::HOOK_07, message.method == Method::POST, || {
        format!("a message was sent as {}", message.method)
    });
    cx.observe(ids::HOOK_07, message.id().is_some(), || {
        "a message has no `webhook-id`".to_owned()
    });
    let body = body(message);
    let is_formed = body.as_ref().is_some_and(|body| {
        let is_dated = body["timestamp"].as_str().and_then(instant).is_some();
        body["type"].as_str().is_some_and(|text| !text.is_empty()) && is_dated
    });
    let shown = || {
        body.as_ref()
            .map_or_else(|| "not JSON of at most 64 KiB".to_owned(), Value::to_string)
    };
    cx.observe(ids::HOOK_07, is_formed, || {
        format!("a body without `type` or `timestamp`: {}", shown())
    });
    let more = body.as_ref().map(|body| surplus(cx, body));
    let more = more.unwrap_or_default();
    cx.observe(ids::HOOK_07, more.is_empty(), || {
        format!(
            "a body has more than `type`, `timestamp` and the link of the record: {more:?} in {}",
            shown()
        )
    });
    let at = message
        .headers
        .get("webhook-timestamp")
        .and_then(|at| at.to_str().ok());
    let tolerance = cx.run.settings.clock_tolerance.as_secs();
    let is_now = at
        .and_then(|at| at.parse::<i64>().ok())
        .is_some_and(|at| at.abs_diff(message.seconds) <= tolerance);
    cx.observe(ids::HOOK_08, is_now, || {
        format!(
            "`webhook-timestamp` is {at:?}, but must be the time of the attempt in seconds, {} here",
            message.seconds
        )
    });
    is_signed(cx, message, secret, "the secret of the webhook");
}

/// Checks the signature of a message, and returns whether it is made with a secret.
fn is_signed(cx: &CheckContext, message: &Message, secret: &Secret, which: &str) -> bool {
    cx.observe(ids::HOOK_08, secret.signs(message), || {
        let mistake = secret.mistake(message).map(|mistake| format!(": {mistake}")).unwrap_or_default();
        format!("no `v1` signature over `<webhook-id>.<webhook-timestamp>.<body>` is made with {which}{mistake}")
    })
}

/// Returns the kinds of which a run can create records.
fn subjects(cx: &CheckContext) -> Vec<CatalogueKind> {
    let wanted = [
        "person", "tag", "list", "form", "petition", "event", "question",
    ]
    .into_iter()
    .filter_map(kind);
    wanted
        .filter(|of| cx.declared().offers_all(of.one, &["create", "read"]))
        .take(MOST_KINDS)
        .collect()
}

fn names(kinds: &[CatalogueKind]) -> Vec<&'static str> {
    kinds.iter().map(|kind| kind.one).collect()
}

/// Records of several kinds are created, changed and deleted, and a message about each change
/// arrives.
async fn delivered(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let kinds = subjects(cx);
    if kinds.is_empty() {
        return Err(none("no kind has create and read"));
    }
    let hook = Hook::new(
        &api,
        &json!({ "kinds": names(&kinds) }),
        vec![Reply::Status(204)],
    )
    .await?;
    let arrived = each_change(cx, &api, &hook, &kinds).await;
    hook.judge(cx);
    hook.remove(&api).await?;
    arrived
}

/// A record with the ids of the messages about it so far.
struct Watched {
    of: CatalogueKind,
    record: Representation,
    own: String,
    ids: BTreeSet<String>,
}

async fn each_change(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    hook: &Hook,
    kinds: &[CatalogueKind],
) -> Result<(), CheckStop> {
    let mut all = Vec::new();
    for of in kinds {
        let record = api.reread(&api.make(of.one, &json!({})).await?).await?;
        all.push(Watched {
            of: *of,
            own: record.self_url()?,
            record,
            ids: BTreeSet::new(),
        });
    }
    for watched in &mut all {
        arrives(cx, hook, watched, "created").await?;
    }
    for operation in ["update", "delete"] {
        let mut changed = Vec::new();
        for watched in all
            .iter_mut()
            .filter(|watched| cx.declared().offers(watched.of.one, operation))
        {
            let is_done = if operation == "delete" {
                api.delete(&watched.own).await?.is_removal()
            } else {
                subject::touch(api, watched.of.one, &watched.record)
                    .await?
                    .is_some()
            };
            changed.extend(is_done.then_some(watched));
        }
        for watched in changed {
            arrives(
                cx,
                hook,
                watched,
                if operation == "delete" {
                    "deleted"
                } else {
                    "changed"
                },
            )
            .await?;
        }
    }
    Ok(())
}

/// A message about a record arrives with an id that no earlier message had.
async fn arrives(
    cx: &CheckContext,
    hook: &Hook,
    watched: &mut Watched,
    what: &str,
) -> Result<(), CheckStop> {
    let Watched { own, ids, .. } = watched;
    let before = hook.about(own).len();
    // A message without an id is judged with the others.
    let is_new = |message: &Message| {
        is_about(message, own) && message.id().is_none_or(|id| !ids.contains(id))
    };
    let arrived = hook
        .inbox
        .wait(limit(cx), |messages| {
            messages.iter().any(is_new).then_some(())
        })
        .await;
    cx.must(ids::HOOK_07, arrived.is_some(), || {
        let repeated = hook.about(own).len() > before;
        let repeated = if repeated {
            "; one arrived with the `webhook-id` of an earlier change"
        } else {
            ""
        };
        format!(
            "no message arrived within {:?} after {own} was {what}{repeated}",
            limit(cx)
        )
    })?;
    // A body that needs more than one request can cause several changes.
    ids.extend(
        hook.about(own)
            .iter()
            .filter_map(Message::id)
            .map(str::to_owned),
    );
    Ok(())
}

/// After the rotation of the secret of a webhook, the new secret signs.
async fn rotated(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let of = change_feed::subject(cx, &[])?;
    let hook = Hook::new(
        &api,
        &json!({ "kinds": [of.one] }),
        vec![Reply::Status(204)],
    )
    .await?;
    let webhook = api.get(&hook.own).await?.record();
    let answer = api
        .send(
            Method::POST,
            &cx.declared().extension_leads(&webhook, "rotate_secret")?,
            None,
        )
        .await?;
    let secret = answer["secret"].as_str().and_then(Secret::read);
    let secret = secret.ok_or_else(|| {
        none(format!(
            "no new secret was returned: {} (HOOK-09)",
            answer.status
        ))
    })?;
    let own = api.make(of.one, &json!({})).await?.self_url()?;
    let arrived = hook.first(cx, &own).await;
    for message in hook.about(&own) {
        is_signed(cx, &message, &secret, "the new secret");
        let both = if hook.secret.signs(&message) {
            "also the previous one"
        } else {
            "only the new one"
        };
        cx.chose("secrets that sign after a rotation", both);
    }
    hook.remove(&api).await?;
    arrived
}

/// Several receivers of one change, each with its own replies.
struct Receivers {
    /// Replies 204.
    well: Hook,
    /// Replies 500, then 204.
    fails: Hook,
    /// Replies 503 with `Retry-After`, then 204.
    busy: Hook,
    /// Redirects to `elsewhere`, then replies 204.
    moved: Hook,
    elsewhere: Inbox,
    /// Replies 410.
    gone: Hook,
}

/// Checks the retries of rejected messages.
async fn attempts(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let of = change_feed::subject(cx, &[])?;
    let fields = json!({ "kinds": [of.one], "events": ["created"] });
    let later = |first: Reply| vec![first, Reply::Status(204)];
    let elsewhere = receiver(cx)?.inbox(&cx.unique(), vec![Reply::Status(204)]);
    let redirect = Reply::Redirect(elsewhere.url.clone());
    let all = Receivers {
        well: Hook::new(&api, &fields, vec![Reply::Status(204)]).await?,
        fails: Hook::new(&api, &fields, later(Reply::Status(500))).await?,
        busy: Hook::new(&api, &fields, later(Reply::RetryAfter(RETRY_AFTER))).await?,
        moved: Hook::new(&api, &fields, later(redirect)).await?,
        gone: Hook::new(&api, &fields, vec![Reply::Status(410)]).await?,
        elsewhere,
    };
    let judged = all.judge(cx, &api, of.one).await;
    for hook in [&all.well, &all.fails, &all.busy, &all.moved, &all.gone] {
        hook.judge(cx);
        hook.remove(&api).await?;
    }
    judged
}

impl Receivers {
    async fn judge(
        &self,
        cx: &CheckContext,
        api: &CheckClient<'_>,
        one: &str,
    ) -> Result<(), CheckStop> {
        let own = api.make(one, &json!({})).await?.self_url()?;
        for hook in [&self.well, &self.fails, &self.busy, &self.moved, &self.gone] {
            hook.first(cx, &own).await?;
        }
        self.ends(cx, api, one).await?;
        self.stays(cx)?;
        self.rests(cx, &own)?;
        let (limit, asked) = (limit(cx), Duration::from_secs(RETRY_AFTER));
        let (fails, moved, busy) = tokio::join!(
            self.fails.attempts(limit, &own, 2),
            self.moved.attempts(limit, &own, 2),
            self.busy.attempts(limit.saturating_add(asked), &own, 2),
        );
        for (again, hook, answered) in [
            (fails, &self.fails, "500"),
            (moved, &self.moved, "302"),
            (busy, &self.busy, "503"),
        ] {
            cx.observe(ids::HOOK_11, again, || {
                format!(
                    "a message that received {answered} was not sent again within {limit:?} (--webhook-timeout)"
                )
            });
            let ids: BTreeSet<String> = hook
                .about(&own)
                .iter()
                .filter_map(Message::id)
                .map(str::to_owned)
                .collect();
            cx.observe(ids::HOOK_07, ids.len() <= 1, || {
                format!("attempts at one message, which received {answered}, have different `webhook-id`s: {ids:?}")
            });
        }
        self.rests(cx, &own)?;
        self.stays(cx)
    }

    /// Attempts at the message that received 503 are not sooner than `Retry-After` asks.
    fn rests(&self, cx: &CheckContext, own: &str) -> Result<(), CheckStop> {
        let attempts = self.busy.about(own);
        let after = |again: &Message| {
            attempts
                .first()
                .map(|first| again.at.saturating_duration_since(first.at))
        };
        let Some(soonest) = attempts.iter().skip(1).filter_map(after).min() else {
            return Ok(());
        };
        cx.must(ids::HOOK_11, soonest.saturating_add(ROUNDING) >= Duration::from_secs(RETRY_AFTER), || {
            format!("the reply was 503 with `Retry-After: {RETRY_AFTER}`, but the message was sent again after {soonest:?}")
        })
    }

    /// Redirects are not followed.
    fn stays(&self, cx: &CheckContext) -> Result<(), CheckStop> {
        let followed = !self.elsewhere.messages().is_empty();
        cx.must(ids::HOOK_11, !followed, || {
            "the reply to a message was 302, and the redirect was followed".to_owned()
        })
    }

    /// 410 ends a webhook: its status shows it, and no more messages are sent to it.
    async fn ends(
        &self,
        cx: &CheckContext,
        api: &CheckClient<'_>,
        one: &str,
    ) -> Result<(), CheckStop> {
        let mut state = json!("active");
        let looks = u32::try_from(limit(cx).as_secs())
            .unwrap_or(u32::MAX)
            .saturating_mul(LOOKS)
            .max(1);
        for _ in 0..looks {
            let answer = api.get(&self.gone.own).await?;
            state = if answer.status == 200 {
                answer["status"].clone()
            } else {
                json!(answer.status)
            };
            if state != "active" {
                break;
            }
            cx.run
                .target
                .wait(
                    Duration::from_secs(1)
                        .checked_div(LOOKS)
                        .unwrap_or_default(),
                )
                .await;
        }
        cx.must(ids::HOOK_11, state != "active", || {
            format!(
                "the reply to a message was 410, but the webhook is still active after {:?}",
                limit(cx)
            )
        })?;
        let before = self.gone.inbox.messages().len();
        let own = api.make(one, &json!({})).await?.self_url()?;
        self.well.first(cx, &own).await?;
        let more = self.gone.inbox.messages().len() > before;
        cx.must(ids::HOOK_11, !more, || {
            "the reply to a message was 410, but more was sent there".to_owned()
        })
    }
}

/// While one receiver hangs, messages reach another one. A message counts as delayed only if it
/// arrives as soon as the other request ends, twice. Some servers collect messages before they
/// send.
async fn apart(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let of = change_feed::subject(cx, &[])?;
    let fields = json!({ "kinds": [of.one], "events": ["created"] });
    let hangs = Hook::new(&api, &fields, vec![Reply::Hang]).await?;
    let well = Hook::new(&api, &fields, vec![Reply::Status(204)]).await?;
    let judged = is_apart(cx, &api, &hangs, &well, of.one).await;
    hangs.inbox.hold(false);
    hangs.remove(&api).await?;
    well.remove(&api).await?;
    judged
}

async fn is_apart(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    hangs: &Hook,
    well: &Hook,
    one: &str,
) -> Result<(), CheckStop> {
    for _ in 0..2 {
        hangs.inbox.hold(true);
        api.make(one, &json!({})).await?;
        if !hangs.inbox.hangs(true, limit(cx)).await {
            return Err(none("no message arrived at the hanging receiver"));
        }
        let own = api.make(one, &json!({})).await?.self_url()?;
        let arrived = |limit| {
            well.inbox.wait(limit, |all| {
                all.iter().any(|one| is_about(one, &own)).then_some(())
            })
        };
        let first = tokio::select! {
            biased;
            arrived = arrived(WHILE_HANGING) => arrived.is_some(),
            given_up = hangs.inbox.hangs(false, WHILE_HANGING) => { let _ = given_up; false }
        };
        if first {
            cx.observe(ids::HOOK_12, true, String::new);
            return Ok(());
        }
        hangs.inbox.hold(false);
        if arrived(AFTER_RELEASE).await.is_none() {
            return Err(none(format!(
                "no message arrived within {WHILE_HANGING:?}, whether or not another receiver hangs"
            )));
        }
    }
    cx.must(ids::HOOK_12, false, || {
        "a message arrived only when the request to a hanging receiver had ended, twice".to_owned()
    })
}

/// A webhook receives nothing that its key may not read.
async fn readable(cx: &CheckContext) -> Result<(), CheckStop> {
    let Some((key, lacks)) = cx.run.keys.restricted.clone() else {
        return Ok(());
    };
    let hidden = lacks
        .strip_suffix(".read")
        .and_then(kind_of)
        .filter(|of| cx.declared().offers(of.one, "create"));
    let others = subjects(cx)
        .into_iter()
        .filter(|of| Some(of.one) != hidden.map(|hidden| hidden.one));
    let (Some(hidden), Some(other)) = (hidden, others.into_iter().next()) else {
        return Ok(());
    };
    let (api, narrow) = (cx.api(), cx.with_key(&key));
    // A key without the right to manage webhooks has none.
    let Ok(of_narrow) = Hook::offered(&narrow, &json!({}), vec![Reply::Status(204)]).await? else {
        return Ok(());
    };
    let wide = Hook::new(
        &api,
        &json!({ "kinds": [hidden.one, other.one] }),
        vec![Reply::Status(204)],
    )
    .await?;
    let judged = is_kept_from(cx, &api, &of_narrow, &wide, hidden, other).await;
    of_narrow.remove(&api).await?;
    wide.remove(&api).await?;
    judged
}

async fn is_kept_from(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    narrow: &Hook,
    wide: &Hook,
    hidden: CatalogueKind,
    other: CatalogueKind,
) -> Result<(), CheckStop> {
    let secret = api.make(hidden.one, &json!({})).await?.self_url()?;
    let missing = |record: &str| {
        none(format!(
            "no message about {record} arrived within {:?}",
            limit(cx)
        ))
    };
    if !wide.attempts(limit(cx), &secret, 1).await {
        return Err(missing(&secret));
    }
    // A later change, so that a message about the first one would have arrived before.
    let open = api.make(other.one, &json!({})).await?.self_url()?;
    if !narrow.attempts(limit(cx), &open, 1).await {
        return Err(missing(&open));
    }
    let told = narrow.about(&secret).len();
    cx.must(ids::HOOK_03, told == 0, || {
        format!(
            "a webhook of a key without the right to read a {} received a message about {secret}",
            hidden.one
        )
    })
}

/// Checks the messages about a merged person, to a webhook that selects every event, and to one that selects
/// only deletions.
async fn merged(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let fields = [
        json!({ "kinds": ["person"] }),
        json!({ "kinds": ["person"], "events": ["deleted"] }),
    ];
    let mut hooks = Vec::new();
    for fields in &fields {
        hooks.push(Hook::new(&api, fields, vec![Reply::Status(204)]).await?);
    }
    let judged = names_both(cx, &api, &hooks).await;
    for hook in &hooks {
        hook.judge(cx);
        hook.remove(&api).await?;
    }
    judged
}

/// A message links the merged person to the remaining one.
async fn names_both(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    hooks: &[Hook],
) -> Result<(), CheckStop> {
    let pair = Pair::named(api).await?;
    pair.merge(api).await?;
    let remaining = pair.remaining.self_url()?;
    let is_linked = |message: &Message| {
        let body = body(message).unwrap_or_default();
        let into = merged_into(cx, &body).map(|(_, url)| url);
        is_about(message, &pair.old) && into.is_some_and(|url| is_same_path(url, &remaining))
    };
    for hook in hooks {
        let arrived = hook.inbox.wait(limit(cx), |messages| {
            messages.iter().any(is_linked).then_some(())
        });
        let arrived = arrived.await.is_some();
        cx.observe(ids::MRG_13, arrived, || {
            let bodies: Vec<Value> = hook.about(&pair.old).iter().filter_map(body).collect();
            format!(
                "no message about {}, which was merged into {remaining}, has the link merged_into \
                 to it after {:?}: {bodies:?}",
                pair.old,
                limit(cx)
            )
        });
    }
    Ok(())
}
