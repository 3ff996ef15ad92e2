//! Conditional requests, if they are declared: unchanged data is not sent again, and unknown
//! changes are not overwritten.
//!
//! Requirements: ETG-01 to ETG-11.

use std::time::Duration;

use http::{
    HeaderName, Method,
    header::{IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE},
};

use super::collections::place;
use super::prelude::*;
use super::subject::touch;
use crate::client::date;
use crate::fixtures::full;
use crate::values::instant;

/// The maximum number of repetitions of a read that another client may have changed.
const TRIES: usize = 5;
/// The maximum difference in milliseconds of a date without its fraction.
const SECOND: i64 = 1000;
/// A tag that no server has issued.
const OF_NOTHING: &str = "\"no-such-tag\"";

pub(super) const CHECKS: &[Check] = &[
    check!("etg/reads", [ETG_01, ETG_02, ETG_03, ETG_05, ETG_06], reads)
        .needs("conditional_requests"),
    check!("etg/tags", [ETG_04, ETG_06, ETG_08], tags)
        .needs("conditional_requests and *.create and *.read"),
    check!("etg/totals", [ETG_04, ETG_06], totals)
        .needs("conditional_requests and field:petition.total_signatures and petitions.read"),
    check!(
        "etg/changes",
        [ETG_03, ETG_04, ETG_06, ETG_07, ETG_08],
        changes
    )
    .needs("conditional_requests and *.update and *.read"),
    check!("etg/deletes", [ETG_07, ETG_08], deletes)
        .needs("conditional_requests and *.update and *.delete and *.read"),
    check!("etg/required", [ETG_09], required).needs("require_if_match and *.update and *.read"),
    check!("etg/race", [ETG_10], race).needs("conditional_requests and *.update and *.read"),
    check!("etg/dates", [ETG_11], dates)
        .needs("conditional_requests and not require_if_match and *.update and *.read"),
];

/// Sends a request with one condition.
async fn ask(
    api: &CheckClient<'_>,
    method: Method,
    url: &str,
    body: Option<&Value>,
    condition: (HeaderName, &str),
) -> Result<TestResponse, CheckStop> {
    api.send_with(method, url, body.map(Value::to_string), &[condition])
        .await
}

/// Returns the tag of a response. An invalid tag ends the check.
fn tag(cx: &CheckContext, row: &str, answer: &TestResponse) -> Result<String, CheckStop> {
    let tag = answer.header("etag").unwrap_or_default();
    cx.must(row, is_tag(tag), || {
        format!("{answer} has the ETag {tag:?}")
    })?;
    Ok(tag.to_owned())
}

/// Whether a text is an entity tag (RFC 9110, section 8.8.3).
fn is_tag(text: &str) -> bool {
    let opaque = text.strip_prefix("W/").unwrap_or(text);
    let inside = opaque
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inside.is_some_and(|inside| {
        inside
            .bytes()
            .all(|byte| byte == 0x21 || (0x23..0x7f).contains(&byte) || byte >= 0x80)
    })
}

/// Returns the weak form of a tag.
fn weak(tag: &str) -> String {
    format!("W/{}", tag.strip_prefix("W/").unwrap_or(tag))
}

/// A read record has a tag, and is not sent again to a client that names the tag.
///
/// Requirements: ETG-01, ETG-02, ETG-05, ETG-06.
async fn reads(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    unsent(cx, &api, ids::ETG_02, cx.run.target.base()).await?;
    let declared = cx.declared();
    if let Some(kind) = declared.first_with(&["list"]) {
        unsent(cx, &api, ids::ETG_02, &api.collection(kind.many).await?).await?;
    }
    let readable = |kind: &CatalogueKind| kind.under.is_none() && declared.offers(kind.one, "read");
    let makeable = |kind: &CatalogueKind| readable(kind) && declared.offers(kind.one, "create");
    let Some(kind) = declared
        .kinds()
        .find(makeable)
        .or_else(|| declared.kinds().find(readable))
    else {
        return Ok(());
    };
    let url = api.make(kind.one, &json!({})).await?.self_url()?;
    unsent(cx, &api, ids::ETG_01, &url).await?;
    let record = api.get(&url).await?;
    if declared.offers(kind.one, "update") {
        let tag = tag(cx, ids::ETG_01, &record)?;
        cx.observe(ids::ETG_01, !tag.starts_with("W/"), || {
            format!("{record} can be changed, but its ETag is {tag}")
        });
    }
    dated(cx, &record);
    if declared.text.authentication.required {
        let tag = tag(cx, ids::ETG_01, &record)?;
        for named in [tag.as_str(), "*"] {
            let answer = ask(
                &cx.anonymous(),
                Method::GET,
                &url,
                None,
                (IF_NONE_MATCH, named),
            )
            .await?;
            cx.observe(ids::ETG_05, answer.status == 401, || {
                format!("without a key: {answer}")
            });
        }
    }
    if let Some(other) = cx.other() {
        let tag = tag(cx, ids::ETG_01, &record)?;
        let plain = other.get(&url).await?;
        let answer = ask(&other, Method::GET, &url, None, (IF_NONE_MATCH, &tag)).await?;
        cx.observe(
            ids::ETG_05,
            plain.is_success() || answer.status == plain.status,
            || format!("with the key of another tenant: {answer}, without If-None-Match: {plain}"),
        );
    }
    Ok(())
}

/// `Last-Modified` of a record, if it is sent, is its `modified_date` in whole seconds.
///
/// Requirements: ETG-03.
fn dated(cx: &CheckContext, record: &TestResponse) {
    let sent = record.header("last-modified");
    let modified = record["modified_date"].as_str().and_then(instant);
    let apart = match (sent.map(date), modified) {
        (None, _) | (Some(Some(_)), None) => Some(0),
        (Some(None), _) => None,
        (Some(Some(sent)), Some(modified)) => Some(
            modified
                .naive_utc()
                .signed_duration_since(sent)
                .num_milliseconds(),
        ),
    };
    cx.observe(
        ids::ETG_03,
        apart.is_some_and(|apart| apart.abs() < SECOND),
        || {
            format!(
                "Last-Modified is {sent:?}, but modified_date is {}: {record}",
                record["modified_date"]
            )
        },
    );
}

/// Waits until a change of a record gets another `Last-Modified`, which has whole seconds.
async fn next_second(cx: &CheckContext, record: &TestResponse) {
    let modified = record["modified_date"]
        .as_str()
        .and_then(instant)
        .filter(|_| record.header("last-modified").is_some());
    let Some(modified) = modified else { return };
    let rest = Duration::from_secs(1).saturating_sub(Duration::from_millis(
        modified.timestamp_subsec_millis().into(),
    ));
    cx.run.target.wait(rest).await;
}

/// Reads a URL with conditions that must return nothing new, and with some that must return it.
async fn unsent(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    row: &str,
    url: &str,
) -> Result<(), CheckStop> {
    let known: [fn(&str) -> String; 4] = [
        ToOwned::to_owned,
        weak,
        |tag| format!("{OF_NOTHING}, {tag}, \"a, b\""),
        |_| "*".to_owned(),
    ];
    for (way, named) in known.into_iter().enumerate() {
        for method in [Method::GET, Method::HEAD] {
            let Some((answer, tag)) = settled(cx, api, row, url, &method, named).await? else {
                continue;
            };
            let is_bare = answer.status == 304 && answer.body.is_empty();
            cx.observe(ids::ETG_05, is_bare, || {
                format!("with If-None-Match: {}: {answer}", named(&tag))
            });
            let has = answer.header("etag");
            let is_same = has.is_some_and(|has| weak(has) == weak(&tag));
            cx.observe(ids::ETG_05, way > 0 || is_same, || {
                format!("{answer} has the ETag {has:?}, not {tag}")
            });
        }
    }
    let first = api.get(url).await?;
    for named in [OF_NOTHING, "W/\"no-such-tag\", \"\""] {
        let answer = ask(api, Method::GET, url, None, (IF_NONE_MATCH, named)).await?;
        // Another client may delete the record in between.
        if answer.status == 404 && api.expect_not_found(url).await?.0 {
            return Ok(());
        }
        let is_whole = answer.status == 200 && answer.json.is_object();
        cx.observe(ids::ETG_06, is_whole, || {
            format!("with If-None-Match: {named}: {answer}; without: {first}")
        });
    }
    Ok(())
}

/// Returns the response to a conditional read of something that is the same before and after it,
/// and its tag. `None` if it never is, because other clients write.
async fn settled(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    row: &str,
    url: &str,
    method: &Method,
    named: fn(&str) -> String,
) -> Result<Option<(TestResponse, String)>, CheckStop> {
    for _ in 0..TRIES {
        let before = api.get(url).await?;
        let known = tag(cx, row, &before)?;
        let answer = ask(
            api,
            method.clone(),
            url,
            None,
            (IF_NONE_MATCH, &named(&known)),
        )
        .await?;
        let after = api.get(url).await?;
        cx.observe(
            ids::ETG_04,
            before.body == after.body || tag(cx, row, &after)? != known,
            || format!("two different responses have the ETag {known}: {before} and {after}"),
        );
        if before.body == after.body && after.header("etag") == Some(&known) {
            return Ok(Some((answer, known)));
        }
    }
    Ok(None)
}

/// Whether two responses of one URL follow the rules for tags: different content has different
/// tags, and the first tag does not match the second response.
///
/// Requirements: ETG-04, ETG-06.
async fn apart(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    row: &str,
    before: &TestResponse,
    after: &TestResponse,
) -> Result<(), CheckStop> {
    if before.body == after.body {
        return Ok(());
    }
    let (old, new) = (tag(cx, row, before)?, tag(cx, row, after)?);
    cx.observe(ids::ETG_04, old != new, || {
        format!("two different responses have the ETag {old}: {before} and {after}")
    });
    let again = ask(api, Method::GET, &after.url, None, (IF_NONE_MATCH, &old)).await?;
    // A change of another client may restore the earlier content.
    let is_restored = again.status == 304 && api.get(&after.url).await?.body == before.body;
    cx.observe(ids::ETG_06, again.status == 200 || is_restored, || {
        format!("with the ETag from before a change, {old}: {again}")
    });
    Ok(())
}

/// The tag of a collection changes after a create and after a change of a member. The response to a
/// create has the tag of the record.
async fn tags(cx: &CheckContext) -> Result<(), CheckStop> {
    let Some(kind) = cx.declared().first_with(&["create", "read", "list"]) else {
        return Err(none(
            "no kind that can be created, read and listed is declared",
        ));
    };
    let api = cx.api();
    let url = api.collection(kind.many).await?;
    let before = api.get(&url).await?;
    let created = api
        .post(&url, &cx.marked(&full(cx, kind.one, &json!({}))))
        .await?;
    let made = api.created(kind, &created)?;
    apart(cx, &api, ids::ETG_02, &before, &api.get(&url).await?).await?;
    same_tag(cx, &created, &api.get(&made.self_url()?).await?);
    member(cx, &api).await
}

/// The tag of a collection changes after a change of a member.
async fn member(cx: &CheckContext, api: &CheckClient<'_>) -> Result<(), CheckStop> {
    let place = place(cx, api).await?;
    if !cx
        .declared()
        .offers_all(place.kind.one, &["create", "update"])
    {
        return Ok(());
    }
    let member = place.add(cx, api).await?;
    let before = api.get(&place.url).await?;
    match touch(api, place.kind.one, &member).await? {
        Some(_) => apart(cx, api, ids::ETG_02, &before, &api.get(&place.url).await?).await,
        None => Ok(()),
    }
}

/// The tag of a record changes after a change of its totals.
async fn totals(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let petition = api.make("petition", &json!({})).await?;
    let url = petition.self_url()?;
    let before = api.get(&url).await?;
    let person = api.person().await?;
    api.act(&petition, "signature", &person, &cx.marked(&json!({})))
        .await?;
    apart(cx, &api, ids::ETG_01, &before, &api.get(&url).await?).await
}

/// A change is executed only if the record is as the client knows it.
async fn changes(cx: &CheckContext) -> Result<(), CheckStop> {
    let (kind, text) = changeable(cx)?;
    let api = cx.api();
    let record = api.make(kind.one, &json!({ text: "first" })).await?;
    let url = record.self_url()?;
    let first = api.get(&url).await?;
    let old = tag(cx, ids::ETG_01, &first)?;
    next_second(cx, &first).await;
    let changed = ask(
        &api,
        Method::PUT,
        &url,
        Some(&json!({ text: "second" })),
        (IF_MATCH, &old),
    )
    .await?;
    cx.must(ids::ETG_08, changed.status == 200, || {
        format!("with If-Match: {old}, the current ETag: {changed}")
    })?;
    let second = api.get(&url).await?;
    same_tag(cx, &changed, &second);
    apart(cx, &api, ids::ETG_01, &first, &second).await?;
    dated(cx, &second);
    let current = tag(cx, ids::ETG_01, &second)?;
    let unquoted = old.trim_matches('"').to_owned();
    let others = [
        unquoted,
        old,
        OF_NOTHING.to_owned(),
        weak(&current),
        format!("{OF_NOTHING}, \"{text}\""),
    ];
    for (number, named) in others.iter().enumerate() {
        let answer = ask(
            &api,
            Method::PUT,
            &url,
            Some(&json!({ text: "lost" })),
            (IF_MATCH, named),
        )
        .await?;
        // A value without quotes is not a tag: 400 is also correct, and so is 428 of a server that
        // requires a tag.
        let is_refused =
            answer.status == 412 || (number == 0 && matches!(answer.status, 400 | 428));
        cx.observe(ids::ETG_07, is_refused, || {
            format!("PUT with If-Match: {named}, not {current}: {answer}")
        });
        let after = api.get(&url).await?;
        cx.must(ids::ETG_07, after[text] == second[text], || {
            format!(
                "PUT with If-Match: {named}, not {current}, has set {text} to {}",
                after[text]
            )
        })?;
    }
    for (round, form) in [
        |tag: &str| format!("{OF_NOTHING} , {tag}"),
        |_: &str| "*".to_owned(),
    ]
    .into_iter()
    .enumerate()
    {
        let named = form(&tag(cx, ids::ETG_01, &api.get(&url).await?)?);
        let body = json!({ text: format!("round {round}") });
        let answer = ask(&api, Method::PUT, &url, Some(&body), (IF_MATCH, &named)).await?;
        let is_done = answer.status == 200 && Some(&answer[text]) == body.get(text);
        cx.observe(ids::ETG_08, is_done, || {
            format!("PUT with If-Match: {named}: {answer}")
        });
        same_tag(cx, &answer, &api.get(&url).await?);
    }
    Ok(())
}

/// The tag in the response to a write, if there is one, is the tag of the next read.
///
/// Requirements: ETG-08.
fn same_tag(cx: &CheckContext, written: &TestResponse, read: &TestResponse) {
    let (sent, now) = (written.header("etag"), read.header("etag"));
    // The server may have changed the record in between.
    let is_changed = written["modified_date"] != read["modified_date"];
    cx.observe(
        ids::ETG_08,
        sent.is_none() || sent == now || is_changed,
        || format!("{written} has the ETag {sent:?}, but the next read has {now:?}"),
    );
}

/// A record is deleted only if it is as the client knows it.
async fn deletes(cx: &CheckContext) -> Result<(), CheckStop> {
    let (kind, text) = changeable(cx)?;
    needs(cx, kind.one, "delete")?;
    let api = cx.api();
    let record = api.make(kind.one, &json!({ text: "first" })).await?;
    let url = record.self_url()?;
    let old = tag(cx, ids::ETG_01, &api.get(&url).await?)?;
    api.change(&record, &json!({ text: "second" })).await?;
    for named in [old.as_str(), OF_NOTHING] {
        let answer = ask(&api, Method::DELETE, &url, None, (IF_MATCH, named)).await?;
        cx.observe(ids::ETG_07, answer.status == 412, || {
            format!("DELETE with If-Match: {named}: {answer}")
        });
        let after = api.get(&url).await?;
        cx.must(ids::ETG_07, after.status == 200, || {
            format!("after a rejected DELETE: {after}")
        })?;
    }
    let current = tag(cx, ids::ETG_01, &api.get(&url).await?)?;
    let answer = ask(&api, Method::DELETE, &url, None, (IF_MATCH, &current)).await?;
    cx.must(ids::ETG_08, answer.is_removal(), || {
        format!("DELETE with If-Match: {current}, the current: {answer}")
    })?;
    for named in [current.as_str(), "*"] {
        let body = json!({ text: "third" });
        for answer in [
            ask(&api, Method::DELETE, &url, None, (IF_MATCH, named)).await?,
            ask(&api, Method::PUT, &url, Some(&body), (IF_MATCH, named)).await?,
        ] {
            let is_missing = matches!(answer.status, 404 | 410 | 412);
            cx.observe(ids::ETG_07, is_missing, || {
                format!("after the deletion, with If-Match: {named}: {answer}")
            });
        }
    }
    Ok(())
}

/// Nothing is changed without `If-Match` if it is required.
async fn required(cx: &CheckContext) -> Result<(), CheckStop> {
    let (kind, text) = changeable(cx)?;
    let api = cx.api();
    let url = api
        .make(kind.one, &json!({ text: "first" }))
        .await?
        .self_url()?;
    let answer = api
        .without_if_match()
        .put(&url, &json!({ text: "second" }))
        .await?;
    cx.observe(ids::ETG_09, answer.status == 428, || {
        format!("PUT without If-Match: {answer}")
    });
    if cx.declared().offers(kind.one, "delete") {
        let answer = api.without_if_match().delete(&url).await?;
        cx.observe(ids::ETG_09, answer.status == 428, || {
            format!("DELETE without If-Match: {answer}")
        });
    }
    let after = api.get(&url).await?;
    let is_kept = after.status == 200 && after[text] == "first";
    cx.observe(ids::ETG_09, is_kept, || {
        format!("after a PUT and a DELETE without If-Match: {after}")
    });
    Ok(())
}

/// Of concurrent changes from one state of a record, exactly one is executed.
async fn race(cx: &CheckContext) -> Result<(), CheckStop> {
    let (kind, text) = changeable(cx)?;
    let api = cx.api();
    let url = api
        .make(kind.one, &json!({ text: "first" }))
        .await?
        .self_url()?;
    for round in 0..cx.cases(2, 4, 20) {
        let known = tag(cx, ids::ETG_01, &api.get(&url).await?)?;
        let bodies = ["a", "b", "c", "d"].map(|name| json!({ text: format!("{name} {round}") }));
        let change = |body| {
            ask(
                &api,
                Method::PUT,
                &url,
                Some(body),
                (IF_MATCH, known.as_str()),
            )
        };
        let [a, b, c, d] = &bodies;
        let (a, b, c, d) = tokio::join!(change(a), change(b), change(c), change(d));
        let answers = [a?, b?, c?, d?];
        let all = || {
            answers
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("; ")
        };
        let count = |status| {
            answers
                .iter()
                .filter(|answer| answer.status == status)
                .count()
        };
        cx.must(ids::ETG_10, count(200) == 1 && count(412) == 3, || {
            format!("four changes of {known}: {}", all())
        })?;
        let after = api.get(&url).await?;
        let made = answers
            .iter()
            .zip(&bodies)
            .find(|(answer, _)| answer.status == 200);
        let is_kept = made.is_some_and(|(_, body)| Some(&after[text]) == body.get(text));
        cx.observe(ids::ETG_10, is_kept, || {
            format!("four changes: {}; then {}", all(), after[text])
        });
    }
    Ok(())
}

/// Of changes with the same date, at most one is executed.
async fn dates(cx: &CheckContext) -> Result<(), CheckStop> {
    let (kind, text) = changeable(cx)?;
    let api = cx.api();
    let record = api.make(kind.one, &json!({ text: "first" })).await?;
    let url = record.self_url()?;
    for round in 0..cx.cases(2, 4, 20) {
        let before = api.get(&url).await?;
        let Some(date) = before.header("last-modified").map(ToOwned::to_owned) else {
            return Err(none("records have no `Last-Modified`"));
        };
        let mut done: Vec<TestResponse> = Vec::new();
        for name in ["a", "b"] {
            let body = json!({ text: format!("{name} {round}") });
            let answer = ask(
                &api,
                Method::PUT,
                &url,
                Some(&body),
                (IF_UNMODIFIED_SINCE, &date),
            )
            .await?;
            let after = api.get(&url).await?;
            let is_kept = answer.status != 412 || Some(&after[text]) != body.get(text);
            cx.observe(ids::ETG_11, is_kept, || {
                format!(
                    "PUT with If-Unmodified-Since: {date}: {answer}; then {text} is {}",
                    after[text]
                )
            });
            done.extend(Some(answer).filter(TestResponse::is_success));
        }
        let all = || {
            done.iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("; ")
        };
        cx.must(ids::ETG_11, done.len() < 2, || {
            format!(
                "both PUTs with If-Unmodified-Since: {date} succeeded: {}",
                all()
            )
        })?;
        // The next round must start with a change in this second.
        api.change(&record, &json!({ text: format!("c {round}") }))
            .await?;
    }
    Ok(())
}

/// Returns the first kind with a text field that can be changed.
fn changeable(cx: &CheckContext) -> Result<(CatalogueKind, &'static str), CheckStop> {
    let declared = cx.declared();
    let texts = [
        ("person", "given_name"),
        ("petition", "title"),
        ("form", "title"),
        ("event", "title"),
        ("fundraising_page", "title"),
        ("question", "title"),
        ("message", "subject"),
        ("advocacy_campaign", "title"),
    ];
    let found = texts.into_iter().find_map(|(one, text)| {
        let writable = declared
            .field(one, text)
            .is_some_and(|field| field.writable && field.readable);
        let offered = declared.offers_all(one, &["create", "read", "update"]);
        (writable && offered).then_some((kind(one)?, text))
    });
    found.ok_or_else(|| none("no kind with a text field that can be changed is declared"))
}
