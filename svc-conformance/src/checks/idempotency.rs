//! Requests that are repeated with their `Idempotency-Key`, if that is declared: they are executed
//! once, and the response is the same.
//!
//! Requirements: IDM-01 to IDM-08.

use http::{HeaderName, Method};

use super::helper_calls::{PreparedHelper, declared_helpers, new_person};
use super::prelude::*;
use super::subject::touch;
use crate::fixtures::full;

pub(super) const KEY: HeaderName = HeaderName::from_static("idempotency-key");
pub(super) const REPLAYED: &str = "idempotency-replayed";

pub(super) const CHECKS: &[Check] = &[
    check!("idm/again", [IDM_01, IDM_02, IDM_04], again)
        .needs("idempotency_keys and *.create or idempotency_keys and helper.*"),
    check!("idm/at-once", [IDM_03], at_once)
        .needs("idempotency_keys and *.create or idempotency_keys and helper.*"),
    check!("idm/no-key", [IDM_05], no_key)
        .needs("idempotency_keys and *.create or idempotency_keys and helper.*"),
    check!("idm/callers", [IDM_07], callers)
        .needs("idempotency_keys and auth.multi_key and *.create"),
    check!("idm/erased", [IDM_08], erased)
        .needs("idempotency_keys and people.create and people.delete"),
];

/// A request that can be repeated.
struct RepeatableRequest {
    url: String,
    body: String,
    /// The same body with other identifiers, if it has any.
    other: String,
    /// The kind of the created record.
    kind: CatalogueKind,
    /// Shows how often the request was executed: the helper, whose person is new.
    ready: Option<PreparedHelper>,
}

impl RepeatableRequest {
    async fn send(&self, api: &CheckClient<'_>, key: &str) -> Result<TestResponse, CheckStop> {
        api.send_with(
            Method::POST,
            &self.url,
            Some(self.body.clone()),
            &[(KEY, key)],
        )
        .await
    }
}

/// Returns a new key.
pub(super) fn key(cx: &CheckContext) -> String {
    format!("\"again-{}\"", cx.unique())
}

/// Returns the kinds that can be created without a container.
fn creatable(cx: &CheckContext) -> impl Iterator<Item = CatalogueKind> {
    let declared = cx.declared();
    declared
        .kinds()
        .filter(|kind| kind.under.is_none() && declared.offers(kind.one, "create"))
}

/// Returns a create of a record of a kind.
async fn create(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    kind: CatalogueKind,
) -> Result<RepeatableRequest, CheckStop> {
    let body = || cx.marked(&full(cx, kind.one, &json!({}))).to_string();
    Ok(RepeatableRequest {
        url: api.collection(kind.many).await?,
        body: body(),
        other: body(),
        kind,
        ready: None,
    })
}

/// Returns a helper call with a new person.
async fn call(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    name: &'static str,
) -> Result<RepeatableRequest, CheckStop> {
    let ready = api.ready(name).await?;
    let person = new_person(cx);
    let body = || ready.body(cx, Some(&person)).to_string();
    let (body, other) = (
        body(),
        if name == "person_signup" {
            String::new()
        } else {
            body()
        },
    );
    Ok(RepeatableRequest {
        url: ready.url.clone(),
        body,
        other,
        kind: ready.kind,
        ready: Some(ready),
    })
}

/// Returns requests that can be repeated: at most `creates` creates, each of another kind, and
/// `helpers` helper calls.
async fn posts(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    creates: usize,
    helpers: usize,
) -> Result<Vec<RepeatableRequest>, CheckStop> {
    let mut posts = Vec::new();
    for kind in creatable(cx).take(creates) {
        posts.push(create(cx, api, kind).await?);
    }
    for name in declared_helpers(cx).into_iter().take(helpers) {
        posts.push(call(cx, api, name).await?);
    }
    Ok(posts)
}

/// Returns how many actions the person of a call has. `None` if the server does not show it.
async fn done(
    api: &CheckClient<'_>,
    post: &RepeatableRequest,
    made: &Representation,
) -> Result<Option<u64>, CheckStop> {
    let Some(ready) = post
        .ready
        .as_ref()
        .filter(|ready| ready.kind.one != "person")
    else {
        return Ok(None);
    };
    let container = match ready.name {
        // Its person is the record in the path, which is also new.
        "record_canvass" => ready.container.clone(),
        _ => Some(api.about(ready, made).await?),
    };
    match container.and_then(|it| it.href(post.kind.many)) {
        Some(url) => Ok(api.get(&url).await?["total_records"].as_u64()),
        None => Ok(None),
    }
}

async fn once(
    cx: &CheckContext,
    row: &str,
    api: &CheckClient<'_>,
    post: &RepeatableRequest,
    made: &Representation,
) -> Result<(), CheckStop> {
    let done = done(api, post, made).await?;
    cx.observe(row, done.is_none_or(|done| done == 1), || {
        format!(
            "{} of one person, with one key: {}",
            post.kind.many,
            done.unwrap_or_default()
        )
    });
    Ok(())
}

async fn again(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    each!(post in posts(cx, &api, cx.cases(3, 12, 12), 8).await? => repeated(cx, &api, post))
}

/// Sends a request twice with one key, then another one with the same key.
async fn repeated(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    post: RepeatableRequest,
) -> Result<(), CheckStop> {
    let key = key(cx);
    let first = post.send(api, &key).await?;
    cx.must(
        ids::IDM_01,
        first.is_created() && first.json.is_object(),
        || format!("with a new key: {first}"),
    )?;
    let replayed = first.header(REPLAYED);
    cx.observe(ids::IDM_02, replayed != Some("true"), || {
        format!("{first} has the replay header {replayed:?} for a new key")
    });
    for round in 0..2 {
        if round > 0 {
            touch(api, post.kind.one, &first.record()).await?;
        }
        let second = post.send(api, &key).await?;
        cx.must(
            ids::IDM_01,
            second.is_created() && second.json.is_object(),
            || format!("again: {second}"),
        )?;
        let (one, other) = (first.record().self_url()?, second.record().self_url()?);
        cx.observe(ids::IDM_01, one == other, || {
            format!("two records with one key: {one} and {other}")
        });
        let is_same = second.status == first.status && second.body == first.body;
        cx.observe(ids::IDM_02, is_same, || {
            format!("not the same response: {first}, and again {second}")
        });
        let (before, after) = (first.header("location"), second.header("location"));
        cx.observe(ids::IDM_02, before == after, || {
            format!("Location was {before:?}, and again {after:?}")
        });
        let replayed = second.header(REPLAYED);
        cx.observe(ids::IDM_02, replayed == Some("true"), || {
            format!("{second}, again, has the replay header {replayed:?}")
        });
    }
    once(cx, ids::IDM_01, api, &post, &first.record()).await?;
    elsewhere(cx, api, &post, &key).await?;
    if post.other.is_empty() || post.other == post.body {
        return Ok(());
    }
    let other = RepeatableRequest {
        body: post.other.clone(),
        ..post
    };
    let refused = other.send(api, &key).await?;
    cx.observe(ids::IDM_04, refused.status == 422, || {
        format!("another body with the same key: {refused}")
    });
    once(cx, ids::IDM_04, api, &other, &first.record()).await?;
    let renewed = other.send(api, &self::key(cx)).await?;
    let replayed = renewed.header(REPLAYED);
    cx.observe(ids::IDM_04, replayed != Some("true"), || {
        format!("{renewed} has the replay header {replayed:?} for another key")
    });
    Ok(())
}

/// The same key and body at the helper of another container is another request. It is rejected with
/// 422 and not executed.
async fn elsewhere(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    post: &RepeatableRequest,
    key: &str,
) -> Result<(), CheckStop> {
    let is_new = |ready: &&PreparedHelper| {
        ready
            .kind
            .under
            .is_some_and(|under| cx.declared().makes_alone(under))
    };
    let Some(known) = post.ready.as_ref().filter(is_new) else {
        return Ok(());
    };
    let other = api.ready(known.name).await?;
    if other.url == known.url {
        // The only container is a fixture.
        return Ok(());
    }
    let refused = api
        .send_with(
            Method::POST,
            &other.url,
            Some(post.body.clone()),
            &[(KEY, key)],
        )
        .await?;
    cx.observe(ids::IDM_04, refused.status == 422, || {
        format!("the same body with the same key at another helper: {refused}")
    });
    if let Some(url) = api.home(post.kind.one, other.container.as_ref()).await? {
        let total = api.total(&url).await?;
        cx.observe(ids::IDM_04, total.unwrap_or_default() == 0, || {
            format!(
                "{} {} from a rejected request: {refused}",
                json!(total),
                post.kind.many
            )
        });
    }
    Ok(())
}

/// The same request from four concurrent callers.
async fn at_once(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    for _ in 0..cx.cases(1, 3, 10) {
        for post in posts(cx, &api, 1, 1).await? {
            let key = key(cx);
            let send = || post.send(&api, &key);
            let (a, b, c, d) = tokio::join!(send(), send(), send(), send());
            let answers = [a?, b?, c?, d?];
            let all = || {
                answers
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join("; ")
            };
            let done: Vec<&TestResponse> = answers
                .iter()
                .filter(|answer| answer.is_created())
                .collect();
            let is_told = answers
                .iter()
                .all(|answer| answer.is_created() || answer.status == 409);
            cx.must(ids::IDM_03, is_told && !done.is_empty(), || {
                format!("four concurrent requests with one key: {}", all())
            })?;
            let addresses = done
                .iter()
                .map(|answer| answer.record().self_url())
                .collect::<Result<Vec<_>, _>>()?;
            let is_one = addresses
                .iter()
                .all(|address| Some(address) == addresses.first());
            cx.observe(ids::IDM_03, is_one, || {
                format!(
                    "four concurrent requests with one key have created {}",
                    addresses.join(", ")
                )
            });
            let fresh = done
                .iter()
                .filter(|answer| answer.header(REPLAYED) != Some("true"))
                .count();
            cx.observe(ids::IDM_03, fresh == 1, || {
                format!(
                    "{fresh} of four concurrent responses claim to be the first: {}",
                    all()
                )
            });
            if let Some(first) = done.first() {
                once(cx, ids::IDM_03, &api, &post, &first.record()).await?;
            }
        }
    }
    Ok(())
}

/// A header without a key is rejected, and nothing is executed.
async fn no_key(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let Some(post) = posts(cx, &api, 1, 1).await?.into_iter().next() else {
        return Ok(());
    };
    let refused = post.send(&api, "\"\"").await?;
    cx.observe(ids::IDM_05, refused.status == 400, || {
        format!("with an empty key: {refused}")
    });
    let answer = post.send(&api, &key(cx)).await?;
    let replayed = answer.header(REPLAYED);
    let is_first = answer.is_created() && replayed != Some("true");
    cx.observe(ids::IDM_05, is_first, || {
        format!("after a request with an empty key, with a new one: {answer}, {replayed:?}")
    });
    if answer.is_created() {
        once(cx, ids::IDM_05, &api, &post, &answer.record()).await?;
    }
    Ok(())
}

/// A key of one tenant has no meaning for another tenant.
async fn callers(cx: &CheckContext) -> Result<(), CheckStop> {
    let (api, other) = (
        cx.api(),
        cx.other()
            .ok_or_else(|| none("there is no key of another tenant"))?,
    );
    let Some(kind) = creatable(cx).next() else {
        return Ok(());
    };
    let post = create(cx, &api, kind).await?;
    let theirs = RepeatableRequest {
        url: other.collection(post.kind.many).await?,
        ..post
    };
    let key = key(cx);
    let first = theirs.send(&api, &key).await?;
    cx.must(ids::IDM_01, first.is_created(), || first.to_string())?;
    let second = theirs.send(&other, &key).await?;
    let replayed = second.header(REPLAYED);
    let is_own = second.is_created()
        && replayed != Some("true")
        && second.record().self_url()? != first.record().self_url()?;
    cx.observe(ids::IDM_07, is_own, || {
        format!("the key of a request of another tenant: {second}, {replayed:?}")
    });
    let again = theirs.send(&api, &key).await?;
    let is_first = again.is_created() && again.record().self_url()? == first.record().self_url()?;
    cx.observe(ids::IDM_07, is_first, || {
        format!("after the same key of another tenant: {again}")
    });
    Ok(())
}

/// A stored response does not contain a person that was deleted.
async fn erased(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let person = new_person(cx);
    let url = api.collection("people").await?;
    let kind = kind("person").ok_or_else(|| none("there are no people"))?;
    let post = RepeatableRequest {
        url,
        body: person.to_string(),
        other: String::new(),
        kind,
        ready: None,
    };
    let key = key(cx);
    let first = post.send(&api, &key).await?;
    cx.must(ids::IDM_01, first.is_created(), || first.to_string())?;
    let erased = first.record().self_url()?;
    api.remove(&first.record()).await?;
    let again = post.send(&api, &key).await?;
    let is_gone = !again.is_created() || again.record().self_url()? != erased;
    cx.observe(ids::IDM_08, is_gone, || {
        format!("the key of a request whose person was deleted: {again}")
    });
    let is_told = again.text().contains(&erased);
    cx.observe(ids::IDM_08, !is_told, || {
        format!("{again} names {erased}, who was deleted")
    });
    Ok(())
}
