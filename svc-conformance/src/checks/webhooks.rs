//! Webhooks, as far as the API shows them.
//!
//! Requirements: HOOK-01 to HOOK-14.

use http::Method;

use super::prelude::*;
use crate::{address, kinds::kind_of};

pub(super) const CHECKS: &[Check] = &[
    check!("hook/link", [HOOK_01], link),
    check!("hook/life", [HOOK_01, HOOK_02, HOOK_06, HOOK_09], life).needs("webhooks"),
    check!("hook/key", [HOOK_03], key).needs("webhooks and auth"),
    check!("hook/errors", [HOOK_04], errors).needs("webhooks"),
    check!("hook/private", [HOOK_05], private).needs("webhooks and not private_webhooks"),
    check!("hook/redeliver", [HOOK_10], redeliver).needs("webhooks and changes"),
    check!("hook/tenants", [HOOK_14], tenants).needs("webhooks and auth.multi_key"),
];

/// The right that a key needs.
const RIGHT: &str = "webhooks.manage";

/// Every type of private address, in the notations that programs read, and names.
const WITHIN: [&str; 28] = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "0xa9fea9fe",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::a00:1]",
    "[2002:7f00:1::1]",
    "[fd00::1]",
    "[fe80::1]",
    "[ff02::1]",
    "localhost",
    "x.localhost",
    "metadata.google.internal",
];

/// Returns the URL of the webhooks. The primary key must have the right to them.
pub(super) async fn hooks(api: &CheckClient<'_>) -> Result<String, CheckStop> {
    let url = api
        .cx
        .declared()
        .extension_href(&api.entry().await?, "webhooks");
    let url = url.ok_or_else(|| none("the entry point has no link webhooks"))?;
    match api.get(&url).await?.status {
        403 => Err(none(format!("the key lacks the right {RIGHT}"))),
        _ => Ok(url),
    }
}

/// Returns all webhooks, and verifies their structure.
async fn list(api: &CheckClient<'_>, url: &str) -> Result<Vec<Representation>, CheckStop> {
    let (cx, answer) = (api.cx, api.get(url).await?);
    let all = answer.record();
    let count = |part: &str| {
        all[part]
            .get(cx.declared().extension(&all, part, "webhooks")?)
            .and_then(Value::as_array)
            .map(Vec::len)
    };
    let is_one = answer.status == 200
        && count("_embedded").is_some()
        && count("_embedded") == count("_links");
    cx.must(ids::HOOK_01, is_one, || {
        format!("not a list of webhooks: {answer}")
    })?;
    Ok(answer.record().embedded())
}

/// Returns the URL of a receiver that does not exist.
fn receiver(cx: &CheckContext) -> String {
    format!("https://hooks.example.org/{}", cx.unique())
}

/// Creates a webhook that sends nothing.
async fn make(api: &CheckClient<'_>, url: &str) -> Result<TestResponse, CheckStop> {
    let body =
        json!({ "url": receiver(api.cx), "events": ["created", "deleted"], "status": "paused" });
    let answer = api.post(url, &body).await?;
    let is_made = answer.status == 201 && answer.json.is_object();
    api.cx.must(ids::HOOK_02, is_made, || {
        format!("a webhook is not created: {answer}")
    })?;
    Ok(answer)
}

async fn link(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let (declared, link) = (
        cx.declared().behaves("webhooks"),
        cx.declared()
            .extension_href(&api.entry().await?, "webhooks"),
    );
    cx.observe(ids::HOOK_01, link.is_some() == declared, || {
        format!(
            "webhooks are {}declared, but the link is {}",
            if declared { "" } else { "not " },
            json!(link)
        )
    });
    if declared {
        let url = hooks(&api).await?;
        list(&api, &url).await?;
    }
    Ok(())
}

/// Returns the secret in a response, in the form of the standard.
fn secret(answer: &TestResponse) -> Option<&str> {
    let secret = answer["secret"].as_str()?;
    let digits = secret.strip_prefix("whsec_")?.trim_end_matches('=');
    let is_base64 = digits
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
    (is_base64 && (32..=86).contains(&digits.len())).then_some(secret)
}

/// A webhook from its creation to its deletion.
async fn life(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let url = hooks(&api).await?;
    let made = make(&api, &url).await?;
    let first = secret(&made).map(str::to_owned);
    cx.must(ids::HOOK_02, first.is_some(), || {
        format!(
            "a new webhook has no secret of the form `whsec_…`: {}",
            made.status
        )
    })?;
    let first = first.unwrap_or_default();
    let another = make(&api, &url).await?;
    cx.observe(
        ids::HOOK_02,
        secret(&another) != Some(first.as_str()),
        || "two new webhooks have one secret".to_owned(),
    );
    let another = another.record();
    let webhook = made.record();
    let own = webhook.self_url()?;
    cx.observe(ids::HOOK_02, made.header("location") == Some(&own), || {
        format!(
            "a new webhook is {own}, but Location is {:?}",
            made.header("location")
        )
    });
    let all = list(&api, &url).await?;
    let listed = all
        .iter()
        .find(|one| one.link("self").as_ref() == Some(&own));
    cx.must(ids::HOOK_01, listed.is_some(), || {
        format!("{own} is not in the list")
    })?;
    for rel in ["redeliver", "rotate_secret"] {
        cx.must(
            ids::HOOK_01,
            cx.declared().extension_href(&webhook, rel).is_some(),
            || format!("{own} has no link {rel}"),
        )?;
    }
    let is_whole = made["url"].is_string()
        && made["kinds"].is_array()
        && made["events"] == json!(["created", "deleted"]);
    cx.observe(ids::HOOK_01, is_whole && made["status"] == "paused", || {
        format!("not what was sent: {}", webhook.short())
    });
    // Only the response that created the webhook shows the secret.
    let shows = |text: &str, secret: &str| text.contains(secret) || text.contains("whsec_");
    let (read, all) = (api.get(&own).await?, api.get(&url).await?);
    for answer in [&read, &all] {
        cx.observe(
            ids::HOOK_02,
            answer.status == 200 && !shows(&answer.text(), &first),
            || {
                format!(
                    "the secret of a webhook is returned again, or nothing is: {} to {}",
                    answer.status, answer.request
                )
            },
        );
    }
    changed(cx, &api, &read).await?;
    rotated(cx, &api, &webhook, &first).await?;
    let gone = api.delete(&own).await?;
    cx.must(ids::HOOK_06, gone.is_removal(), || {
        format!("a webhook is not deleted: {gone}")
    })?;
    for answer in [
        api.get(&own).await?,
        api.put(&own, &json!({ "status": "paused" })).await?,
        api.delete(&own).await?,
    ] {
        cx.observe(ids::HOOK_06, answer.status == 404, || {
            format!("after it was deleted: {answer}")
        });
    }
    let left: Vec<Option<String>> = list(&api, &url)
        .await?
        .iter()
        .map(|one| one.link("self"))
        .collect();
    cx.observe(ids::HOOK_01, !left.contains(&Some(own.clone())), || {
        format!("{own} was deleted and is listed")
    });
    let other = another.self_url()?;
    cx.observe(ids::HOOK_01, left.contains(&Some(other.clone())), || {
        format!("{own} was deleted, and {other} is no longer listed")
    });
    api.remove(&another).await.map(drop)
}

/// Changes one member after another, and checks the others.
async fn changed(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    read: &TestResponse,
) -> Result<(), CheckStop> {
    let own = read.record().self_url()?;
    let mut before = read.record();
    // The last step pauses it again, because there is no receiver.
    let steps = [
        ("url", json!(receiver(cx))),
        ("events", json!(["changed"])),
        ("status", json!("active")),
        ("status", json!("paused")),
    ];
    for (name, value) in steps {
        let answer = api.put(&own, &json!({ name: value })).await?;
        let after = api.get(&own).await?.record();
        let others = ["url", "kinds", "events", "status"]
            .into_iter()
            .filter(|other| *other != name);
        let is_kept = others.clone().all(|other| after[other] == before[other]);
        cx.observe(
            ids::HOOK_06,
            answer.status == 200 && after[name] == value && is_kept,
            || {
                format!(
                    "{name} was set to {value}: {answer}; then it is {}",
                    after.short()
                )
            },
        );
        cx.observe(ids::HOOK_02, !answer.text().contains("whsec_"), || {
            "the answer to a change shows a secret".to_owned()
        });
        before = after;
    }
    Ok(())
}

/// A rotation returns a new secret once.
async fn rotated(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    webhook: &Representation,
    first: &str,
) -> Result<(), CheckStop> {
    let url = cx.declared().extension_leads(webhook, "rotate_secret")?;
    let answer = api.send(Method::POST, &url, None).await?;
    let is_other = secret(&answer).is_some_and(|secret| secret != first);
    cx.observe(ids::HOOK_09, answer.status == 200 && is_other, || {
        format!("no new secret: {} to {}", answer.status, answer.request)
    });
    let read = api.get(&webhook.self_url()?).await?;
    cx.observe(ids::HOOK_09, !read.text().contains("whsec_"), || {
        "a secret that was shown once is shown again".to_owned()
    });
    Ok(())
}

/// Callers without access to webhooks.
async fn key(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let url = hooks(&api).await?;
    let made = make(&api, &url).await?.record();
    let own = made.self_url()?;
    let body = json!({ "url": receiver(cx), "status": "paused" }).to_string();
    let lacks = |(key, lacks): (String, String)| (lacks == RIGHT).then_some(key);
    let restricted = cx.run.keys.restricted.clone();
    let narrow = restricted.clone().and_then(lacks);
    let mut others = vec![
        ("without a key", cx.anonymous(), 401),
        ("with an invalid key", cx.with_key("no-such-key-0000"), 401),
    ];
    others.extend(
        narrow
            .iter()
            .map(|key| ("with a key without the right", cx.with_key(key), 403)),
    );
    for (who, client, status) in others {
        for (method, url, body) in [
            (Method::GET, &url, None),
            (Method::GET, &own, None),
            (Method::POST, &url, Some(body.clone())),
            (Method::PUT, &own, Some(body.clone())),
            (Method::DELETE, &own, None),
        ] {
            let answer = client.send(method, url, body).await?;
            let is_refused =
                answer.status == status || (who == "without a key" && answer.status == 403);
            cx.observe(ids::HOOK_03, is_refused, || format!("{who}: {answer}"));
        }
    }
    api.delete(&own).await?;
    let restricted = restricted.filter(|(_, lacks)| cx.declared().offers_right(lacks));
    let unreadable = restricted
        .as_ref()
        .and_then(|(key, lacks)| Some((key, unreadable_kind(lacks)?)));
    if let Some((key, kind)) = unreadable {
        unreadable_kinds(&api, &cx.with_key(key), &url, kind).await?;
    }
    Ok(())
}

/// Returns a kind that a key without this right may not read.
fn unreadable_kind(lacks: &str) -> Option<&'static str> {
    kind_of(lacks.strip_suffix(".read")?).map(|kind| kind.one)
}

/// A webhook of a kind that a key may not read: the key neither sees nor changes it.
async fn unreadable_kinds(
    api: &CheckClient<'_>,
    narrow: &CheckClient<'_>,
    url: &str,
    kind: &str,
) -> Result<(), CheckStop> {
    let cx = api.cx;
    let body = json!({ "url": receiver(cx), "kinds": [kind], "status": "paused" });
    let made = api.post(url, &body).await?;
    cx.must(ids::HOOK_02, made.is_created(), || {
        format!("a webhook is not created: {made}")
    })?;
    let made = made.record();
    let own = made.self_url()?;
    let listed = narrow.get(url).await?;
    cx.observe(ids::HOOK_03, !listed.text().contains(&own), || {
        format!("{own} is listed for a key that may not read its kind")
    });
    for (method, url, body) in [
        (Method::GET, own.clone(), None),
        (
            Method::PUT,
            own.clone(),
            Some(json!({ "url": receiver(cx) }).to_string()),
        ),
        (
            Method::POST,
            cx.declared().extension_leads(&made, "redeliver")?,
            Some("{}".to_owned()),
        ),
        (
            Method::POST,
            cx.declared().extension_leads(&made, "rotate_secret")?,
            None,
        ),
        (Method::DELETE, own.clone(), None),
    ] {
        let answer = narrow.send(method, &url, body).await?;
        cx.observe(ids::HOOK_03, matches!(answer.status, 403 | 404), || {
            format!("with a key that may not read {kind}: {answer}")
        });
    }
    api.remove(&made).await.map(drop)
}

/// Rejects a body, and creates nothing.
async fn refused(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    url: &str,
    body: &Value,
    named: &[&str],
) -> Result<(), CheckStop> {
    let before = list(api, url).await?.len();
    let answer = api.post(url, body).await?;
    let problems = answer.problems();
    let told: Vec<&str> = problems
        .iter()
        .flat_map(|problem| problem.properties.iter())
        .map(String::as_str)
        .collect();
    let missing: Vec<&&str> = named.iter().filter(|name| !told.contains(name)).collect();
    cx.observe(
        ids::HOOK_04,
        answer.status == 400 && missing.is_empty(),
        || format!("{body}: {answer}, which does not name {missing:?}"),
    );
    let after = list(api, url).await?.len();
    cx.observe(ids::HOOK_04, after == before, || {
        format!("{body} was rejected, but there are {after} webhooks instead of {before}")
    });
    Ok(())
}

async fn errors(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let url = hooks(&api).await?;
    let all_wrong = json!({ "kinds": ["person", "no_such_kind"], "events": ["no_such_event"] });
    refused(
        cx,
        &api,
        &url,
        &all_wrong,
        &["url", "kinds[1]", "events[0]"],
    )
    .await?;
    for wrong in [
        json!("no url"),
        json!("https://user:secret@hooks.example.org/"),
        json!("ftp://hooks.example.org/"),
        json!(7),
    ] {
        refused(cx, &api, &url, &json!({ "url": wrong }), &["url"]).await?;
    }
    refused(
        cx,
        &api,
        &url,
        &json!({ "url": receiver(cx), "status": "no_such_status" }),
        &["status"],
    )
    .await
}

async fn private(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let url = hooks(&api).await?;
    for host in WITHIN {
        let body = json!({ "url": format!("https://{host}/{}", cx.unique()), "status": "paused" });
        let answer = api.post(&url, &body).await?;
        let names = answer
            .problems()
            .iter()
            .any(|problem| problem.properties.iter().any(|name| name == "url"));
        cx.observe(ids::HOOK_05, answer.status == 400 && names, || {
            format!("{host}: {answer}")
        });
        if answer.is_created() {
            api.remove(&answer.record()).await?;
        }
    }
    let webhook = make(&api, &url).await?.record();
    let own = webhook.self_url()?;
    for host in WITHIN.iter().step_by(cx.cases(9, 1, 1)) {
        let answer = api
            .put(
                &own,
                &json!({ "url": format!("https://{host}/{}", cx.unique()) }),
            )
            .await?;
        let names = answer
            .problems()
            .iter()
            .any(|problem| problem.properties.iter().any(|name| name == "url"));
        cx.observe(ids::HOOK_05, answer.status == 400 && names, || {
            format!("a change to {host}: {answer}")
        });
    }
    let after = api.get(&own).await?.record();
    cx.observe(ids::HOOK_05, after["url"] == webhook["url"], || {
        format!(
            "changes of {} were rejected, but it is {}",
            webhook["url"],
            after.short()
        )
    });
    api.remove(&webhook).await.map(drop)
}

async fn redeliver(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let url = hooks(&api).await?;
    let made = make(&api, &url).await?.record();
    let again = cx.declared().extension_leads(&made, "redeliver")?;
    let feed = cx
        .declared()
        .extension_leads(&api.entry().await?, "changes")?;
    let last = api
        .get(&feed)
        .await?
        .record()
        .link("last")
        .unwrap_or_default();
    let last = address::parameter(&last, "after").unwrap_or_default();
    for body in [json!({}), json!({ "after": last })] {
        let answer = api.post(&again, &body).await?;
        cx.observe(ids::HOOK_10, answer.status == 200, || {
            format!("{body}: {answer}")
        });
    }
    for wrong in [
        format!("{last}zz"),
        "no-such-cursor".to_owned(),
        "a b".to_owned(),
    ] {
        let answer = api.post(&again, &json!({ "after": wrong })).await?;
        let names = answer
            .problems()
            .iter()
            .any(|problem| problem.properties.iter().any(|name| name == "after"));
        cx.observe(ids::HOOK_10, answer.status == 400 && names, || {
            format!("with the cursor `{wrong}`: {answer}")
        });
    }
    api.remove(&made).await.map(drop)
}

async fn tenants(cx: &CheckContext) -> Result<(), CheckStop> {
    let Some(other) = cx.other() else {
        return Ok(());
    };
    let api = cx.api();
    let url = hooks(&api).await?;
    let theirs = hooks(&other).await?;
    let made = make(&api, &url).await?.record();
    let own = made.self_url()?;
    let all = list(&other, &theirs).await?;
    let is_listed = all
        .iter()
        .any(|one| one.link("self").as_ref() == Some(&own));
    cx.observe(ids::HOOK_14, !is_listed, || {
        format!("{own} is listed for another tenant")
    });
    let (again, rotate) = (
        cx.declared().extension_leads(&made, "redeliver")?,
        cx.declared().extension_leads(&made, "rotate_secret")?,
    );
    for (method, url, body) in [
        (Method::GET, &own, None),
        (
            Method::PUT,
            &own,
            Some(json!({ "events": ["created"] }).to_string()),
        ),
        (Method::POST, &again, Some("{}".to_owned())),
        (Method::POST, &rotate, None),
        (Method::DELETE, &own, None),
    ] {
        let answer = other.send(method, url, body).await?;
        cx.observe(ids::HOOK_14, answer.status == 404, || {
            format!("with the key of another tenant: {answer}")
        });
    }
    api.remove(&made).await.map(drop)
}
