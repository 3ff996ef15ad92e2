//! Batches: several calls of a helper in one request, if that is declared.
//!
//! Requirements: BAT-01 to BAT-10, STR-09.

use http::{HeaderName, Method};

use super::functions::fresh_tag;
use super::helper_calls::{PreparedHelper, declared_helpers, new_person};
use super::prelude::*;
use super::record_comparison::adopt;
use super::strict::{STRICT, Spoiled, prefer};
use crate::counted::may_be_of;
use crate::generate::without;
use crate::response::Representation;

const PREFER: HeaderName = HeaderName::from_static("prefer");
const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const JSON: &str = "application/json";
const LINES: [&str; 2] = ["application/x-ndjson", "application/jsonl"];
/// The maximum number of entries of an array.
const MOST: usize = 1000;

pub(super) const CHECKS: &[Check] = &[
    check!("bat/entries", [BAT_01, BAT_02, BAT_04], entries)
        .needs("batch and helper.*.but_schedule"),
    check!("bat/order", [BAT_03], order)
        .needs("batch and helper.match_person and helper.person_signup"),
    check!("bat/refused", [BAT_05], refused).needs("batch and helper.*.but_schedule"),
    check!("bat/again", [BAT_06], again)
        .needs("batch and idempotency_keys and helper.*.but_schedule"),
    check!("bat/lines", [BAT_08], lines).needs("batch and helper.*.but_schedule"),
    check!("bat/short", [BAT_09], short).needs("batch and helper.*.but_schedule"),
    check!("bat/strict", [STR_09], strict)
        .needs("strict_handling and batch and helper.*.but_schedule"),
    check!("bat/strangers", [BAT_10], strangers).needs("batch and auth and helper.*.but_schedule"),
];

/// A helper, and the URL of its batches.
struct BatchHelper {
    ready: PreparedHelper,
    url: String,
}

impl BatchHelper {
    async fn of(api: &CheckClient<'_>, name: &'static str) -> Result<Self, CheckStop> {
        let ready = api.ready(name).await?;
        let url = format!("{}/batch", ready.url.trim_end_matches('/'));
        Ok(Self { ready, url })
    }

    /// Returns some of the declared helpers, first the sign-up helper, whose responses contain the
    /// person.
    async fn some(
        cx: &CheckContext,
        api: &CheckClient<'_>,
        most: usize,
    ) -> Result<Vec<Self>, CheckStop> {
        let mut all = Vec::new();
        for name in declared_helpers(cx).into_iter().rev().take(most) {
            all.push(Self::of(api, name).await?);
        }
        Ok(all)
    }

    async fn one(cx: &CheckContext, api: &CheckClient<'_>) -> Result<Self, CheckStop> {
        Self::some(cx, api, 1)
            .await?
            .pop()
            .ok_or_else(|| none("no helper that records something is declared"))
    }

    /// Returns a valid call with a new person.
    fn good(&self, cx: &CheckContext) -> Value {
        self.ready.body(cx, Some(&new_person(cx)))
    }

    /// Returns invalid calls. The last one has two errors.
    fn bad(&self) -> [Value; 4] {
        let part = if self.ready.name == "record_canvass" {
            "canvass"
        } else {
            "person"
        };
        [
            json!({ part: 7 }),
            json!(7),
            json!(["not an object"]),
            json!({ part: 7, "add_tags": 7 }),
        ]
    }

    /// Returns the collection with the records of the helper, and its total. `None` if no such
    /// collection is declared.
    async fn listed(
        &self,
        api: &CheckClient<'_>,
    ) -> Result<Option<(String, Option<u64>)>, CheckStop> {
        let Some(url) = api
            .home(self.ready.kind.one, self.ready.container.as_ref())
            .await?
        else {
            return Ok(None);
        };
        let total = api.total(&url).await?;
        Ok(Some((url, total)))
    }

    /// Verifies a requirement: no entry of the rejected batches was recorded.
    async fn nothing_done(
        &self,
        api: &CheckClient<'_>,
        row: &str,
        listed: Option<(String, Option<u64>)>,
        entries: &[Value],
    ) -> Result<(), CheckStop> {
        let Some((url, before)) = listed else {
            return Ok(());
        };
        let record = |entry: &Value| match self.ready.name {
            "person_signup" => entry["person"].clone(),
            "record_canvass" => entry["canvass"].clone(),
            _ => entry.clone(),
        };
        let records: Vec<Value> = entries.iter().map(record).collect();
        let is_done = api
            .has_grown_by(&url, before, may_be_of(api.cx, &records))
            .await?;
        api.cx.observe(row, !is_done, || {
            format!("an entry of a rejected batch is in {url}")
        });
        Ok(())
    }

    async fn single(&self, api: &CheckClient<'_>, body: &Value) -> Result<TestResponse, CheckStop> {
        api.send(Method::POST, &self.ready.url, Some(body.to_string()))
            .await
    }

    /// Sends entries as an array, and checks the structure of the response.
    async fn send(
        &self,
        api: &CheckClient<'_>,
        row: &str,
        entries: &[Value],
        headers: &[(HeaderName, &str)],
    ) -> Result<Vec<BatchResult>, CheckStop> {
        let cx = api.cx;
        let body = Value::from(entries).to_string();
        let answer = api
            .send_with(Method::POST, &self.url, Some(body), headers)
            .await?;
        cx.must(row, answer.status == 200 && answer.json.is_object(), || {
            format!("an array of entries: {answer}")
        })?;
        let results = answer["results"].as_array().cloned().unwrap_or_default();
        let results: Vec<BatchResult> = results.into_iter().map(BatchResult).collect();
        is_whole(cx, row, &results, &answer.json, entries.len(), &answer)?;
        for (entry, sent) in results.iter().zip(entries) {
            self.adopt(api, entry, &answer).await?;
            if (400..500).contains(&entry.status()) {
                cx.run.journal.refused(&sent.to_string());
            }
        }
        Ok(results)
    }

    /// Records for clean-up what an entry created.
    async fn adopt(
        &self,
        api: &CheckClient<'_>,
        entry: &BatchResult,
        answer: &TestResponse,
    ) -> Result<(), CheckStop> {
        let Some(href) = entry.href().filter(|_| entry.is_success()) else {
            return Ok(());
        };
        let record = if api.cx.declared().offers(self.ready.kind.one, "read") {
            api.get(href).await?.record()
        } else {
            Representation::new(
                answer.url.clone(),
                entry.told("body").clone(),
                answer.prefix.clone(),
            )
        };
        adopt(api.cx, &record);
        api.about(&self.ready, &record)
            .await
            .map(drop)
            .or_else(super::helper_calls::ignored)
    }
}

/// The result of an entry.
#[derive(Debug, Clone, PartialEq)]
struct BatchResult(Value);

impl BatchResult {
    /// Returns a member of it, or `null` if there is none.
    fn told(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or(&Value::Null)
    }

    fn status(&self) -> u64 {
        self.told("status").as_u64().unwrap_or_default()
    }

    fn is_success(&self) -> bool {
        (200..300).contains(&self.status())
    }

    fn href(&self) -> Option<&str> {
        self.told("href").as_str()
    }

    /// Whether the result has the same response as an earlier one. The effect of a repeated entry can differ.
    fn repeats(&self, earlier: &Self) -> bool {
        ["index", "status", "href", "body", "code"]
            .iter()
            .all(|name| self.told(name) == earlier.told(name))
    }

    /// Whether the result equals the response to a single call, apart from its position.
    fn is_as(&self, single: &TestResponse) -> bool {
        self.status() == u64::from(single.status)
            && (single.is_success() || *self.told("body") == single.json)
    }
}

/// Whether there is a result for each entry in the same order, and totals that equal their number.
fn is_whole(
    cx: &CheckContext,
    row: &str,
    results: &[BatchResult],
    totals: &Value,
    entries: usize,
    answer: &TestResponse,
) -> Result<(), CheckStop> {
    let places = results
        .iter()
        .enumerate()
        .all(|(place, entry)| entry.told("index").as_u64() == u64::try_from(place).ok());
    cx.must(row, results.len() == entries && places, || {
        format!(
            "{} results of {entries} entries, or not in their order: {answer}",
            results.len()
        )
    })?;
    let count = |wanted: bool| {
        results
            .iter()
            .filter(|entry| entry.is_success() == wanted)
            .count()
    };
    for (name, number) in [
        ("total", entries),
        ("succeeded", count(true)),
        ("failed", count(false)),
    ] {
        let told = &totals[name];
        cx.observe(row, told.as_u64() == u64::try_from(number).ok(), || {
            format!("`{name}` is {told} but must be {number}: {answer}")
        });
    }
    Ok(())
}

async fn entries(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    each!(many in BatchHelper::some(cx, &api, cx.cases(2, 8, 8)).await? => told(cx, &api, many))
}

/// Sends valid entries between invalid ones, and each of the invalid ones as a single call.
async fn told(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    many: BatchHelper,
) -> Result<(), CheckStop> {
    let good = many.single(api, &many.good(cx)).await?;
    cx.must(ids::BAT_01, good.is_success(), || {
        format!("a single call: {good}")
    })?;
    let mut sent = vec![(many.good(cx), None)];
    for bad in many.bad() {
        let single = many.single(api, &bad).await?;
        sent.push((bad, Some(single)));
        sent.push((many.good(cx), None));
    }
    let mut bodies: Vec<Value> = sent.iter().map(|(body, _)| body.clone()).collect();
    let tag = fresh_tag(api).await?;
    if let Some(tag) = &tag {
        let mut tagged = many.good(cx);
        put(&mut tagged, "add_tags", json!([tag["name"]]));
        bodies.push(tagged);
    }
    let results = many.send(api, ids::BAT_02, &bodies, &[]).await?;
    for (entry, (body, single)) in results.iter().zip(&sent) {
        let single = single.as_ref().unwrap_or(&good);
        let is_good = single.is_success();
        let as_single = entry.is_as(single);
        cx.observe(ids::BAT_01, as_single, || {
            format!("{body} in a batch: {}, as a single call {single}", entry.0)
        });
        if !is_good {
            cx.observe(ids::BAT_02, entry.href().is_none(), || {
                format!("a failed entry has an href: {}", entry.0)
            });
            continue;
        }
        cx.observe(ids::BAT_04, entry.is_success(), || {
            format!("among rejected entries: {}", entry.0)
        });
        let shown = Representation::new(
            many.url.clone(),
            entry.told("body").clone(),
            good.prefix.clone(),
        );
        let has_own = entry.href().is_some() && shown.link("self").as_deref() == entry.href();
        cx.observe(ids::BAT_02, has_own, || {
            format!("`href` is not the URL of the record: {}", entry.0)
        });
        if let Some(href) = entry
            .href()
            .filter(|_| cx.declared().offers(many.ready.kind.one, "read"))
        {
            let read = api.get(href).await?;
            let is_there = read.status == 200;
            cx.observe(ids::BAT_04, is_there, || {
                format!("the `href` of an entry that succeeded: {read}")
            });
            let is_sent = !cx.declared().has_identifiers()
                || markers(body).iter().any(|it| read.record().carries(it));
            cx.observe(ids::BAT_02, !is_there || is_sent, || {
                format!("{read} is not what the entry at this position sent: {body}")
            });
        }
    }
    if let Some(tag) = tag.filter(|_| !cx.declared().behaves("totals_follow_later")) {
        let taggings = api.total(&tag.require_link("taggings")?).await?;
        cx.observe(ids::BAT_01, taggings == Some(1), || {
            format!(
                "{} taggings by an entry with `add_tags`: {:?}",
                json!(taggings),
                results.last()
            )
        });
    }
    Ok(())
}

/// Returns the identifiers in the body of a call, of its action or its person.
fn markers(body: &Value) -> Vec<String> {
    let parts = [body, &body["person"], &body["canvass"]];
    let lists = parts
        .into_iter()
        .filter_map(|part| part["identifiers"].as_array());
    lists
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// The same new people several times in one batch.
async fn order(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let many = BatchHelper::of(&api, "person_signup").await?;
    let people: Vec<Value> = (0..cx.cases(3, 8, 20)).map(|_| many.good(cx)).collect();
    // Every person once, and then all of them again.
    let entries: Vec<Value> = people
        .iter()
        .flat_map(|one| [one.clone(), one.clone()])
        .chain(people.clone())
        .collect();
    let results = many.send(&api, ids::BAT_03, &entries, &[]).await?;
    let hrefs: Vec<Option<&str>> = results.iter().map(BatchResult::href).collect();
    let (twice, again) = hrefs.split_at(people.len().saturating_mul(2));
    for (pair, later) in twice.chunks(2).zip(again) {
        let is_one = later.is_some() && pair.iter().all(|href| href == later);
        cx.observe(ids::BAT_03, is_one, || {
            format!("one new person in three entries is {pair:?} and {later:?}")
        });
    }
    by_address(cx, &api, &many).await
}

/// Two entries with one new person that share the e-mail address but no identifier, if two such
/// single calls create one person.
async fn by_address(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    many: &BatchHelper,
) -> Result<(), CheckStop> {
    let people = || {
        let person = new_person(cx);
        let again = cx.marked(&without(&person, &["identifiers"]));
        [person, again].map(|person| json!({ "person": person }))
    };
    let known = people();
    if known
        .iter()
        .any(|entry| entry["person"].get("email_addresses").is_none())
    {
        return Ok(());
    }
    let mut owns = Vec::new();
    for entry in &known {
        owns.push(many.single(api, entry).await?.record().link("self"));
    }
    if owns.iter().any(Option::is_none) || owns.first() != owns.last() {
        return Ok(());
    }
    let results = many.send(api, ids::BAT_03, &people(), &[]).await?;
    let hrefs: Vec<Option<&str>> = results.iter().map(BatchResult::href).collect();
    let is_one = hrefs.iter().all(Option::is_some) && hrefs.first() == hrefs.last();
    cx.observe(ids::BAT_03, is_one, || {
        format!(
            "two entries with one new address created {hrefs:?}, but single calls create one person"
        )
    });
    Ok(())
}

/// Bodies that are not a batch, although their entries are valid: no entry is executed.
async fn refused(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let many = BatchHelper::one(cx, &api).await?;
    let listed = many.listed(&api).await?;
    let good: [Value; 6] = std::array::from_fn(|_| many.good(cx));
    let [object, cut, closed, first, last, typed] = &good;
    let mut long = vec![json!(7); MOST.saturating_sub(1)];
    long.insert(0, first.clone());
    long.push(last.clone());
    for (body, statuses) in [
        (object.to_string(), &[400][..]),
        (format!("[{cut}"), &[400]),
        (format!("[{closed}]]"), &[400]),
        (Value::from(long).to_string(), &[400, 413]),
    ] {
        let answer = api.send(Method::POST, &many.url, Some(body)).await?;
        cx.observe(ids::BAT_05, statuses.contains(&answer.status), || {
            format!("a body that is not a batch: {answer}")
        });
    }
    let csv = api
        .post_as("text/csv", &many.url, format!("[{typed}]"), &[])
        .await?;
    cx.observe(ids::BAT_05, csv.status == 415, || {
        format!("a batch as text/csv: {csv}")
    });
    many.nothing_done(&api, ids::BAT_05, listed, &good).await
}

/// Repeats a batch, with more entries at the end, and with other entries in the positions of
/// executed ones.
async fn again(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let many = BatchHelper::one(cx, &api).await?;
    let name = format!("\"batch-{}\"", cx.unique());
    let key = [(KEY, name.as_str())];
    let entries = [many.good(cx), many.good(cx), many.good(cx)];
    let (begun, rest) = entries.split_at(2);
    let first = many.send(&api, ids::BAT_06, begun, &key).await?;
    let whole = many.send(&api, ids::BAT_06, &entries, &key).await?;
    let is_same = whole
        .iter()
        .zip(&first)
        .filter(|(now, then)| now.repeats(then))
        .count()
        == 2;
    cx.observe(ids::BAT_06, is_same, || {
        format!("the first two entries of a repeated batch: {first:?}, and then {whole:?}")
    });
    let is_new = whole
        .last()
        .is_some_and(|last| last.is_success() && first.iter().all(|one| one.href() != last.href()));
    cx.observe(ids::BAT_06, is_new, || {
        format!("the entry after the executed ones: {:?}", whole.last())
    });
    let others = [begun, rest].concat().into_iter().rev().collect::<Vec<_>>();
    let other = many.send(&api, ids::BAT_06, &others, &key).await?;
    let is_told = other.first().is_some_and(|entry| entry.status() == 422);
    cx.observe(ids::BAT_06, is_told, || {
        format!(
            "another entry in the position of an executed one: {:?}",
            other.first()
        )
    });
    Ok(())
}

/// Valid and invalid lines, with both media types.
async fn lines(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let many = BatchHelper::one(cx, &api).await?;
    let [bad, ..] = many.bad();
    let single = many.single(&api, &bad).await?;
    // JSON ignores white space around a text, so lines may also end with CR LF.
    for (media, end) in LINES.into_iter().zip(["\n", "\r\n"]) {
        let body = format!(
            "{}{end}\n{bad}{end}{{broken{end}{}",
            many.good(cx),
            many.good(cx)
        );
        let answer = api.post_as(media, &many.url, body, &[]).await?;
        let told = answer.header("content-type").unwrap_or_default().to_owned();
        cx.must(ids::BAT_08, answer.status == 200, || {
            format!("{media}: {answer}")
        })?;
        let is_same = told
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .eq_ignore_ascii_case(media);
        cx.observe(ids::BAT_08, is_same, || {
            format!("Content-Type {told:?} of the response to {media}")
        });
        let text = answer.text();
        let read = text
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<Vec<Value>, _>>();
        let mut lines = read.unwrap_or_default();
        let totals = lines.pop().unwrap_or_default();
        let results: Vec<BatchResult> = lines.into_iter().map(BatchResult).collect();
        is_whole(cx, ids::BAT_08, &results, &totals, 4, &answer)?;
        for (place, entry) in results.iter().enumerate() {
            many.adopt(&api, entry, &answer).await?;
            let is_good = matches!(place, 0 | 3);
            let is_told = entry.is_success() == is_good && entry.href().is_some() == is_good;
            cx.observe(ids::BAT_08, is_told, || {
                format!("line {place} of {media}: {}", entry.0)
            });
        }
        let is_single = results.get(1).is_some_and(|entry| entry.is_as(&single));
        cx.observe(ids::BAT_08, is_single, || {
            format!(
                "{bad} as a line: {:?}, as a single call {single}",
                results.get(1)
            )
        });
    }
    Ok(())
}

/// A client can ask for a short response.
async fn short(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let many = BatchHelper::one(cx, &api).await?;
    let [bad, ..] = many.bad();
    let body = Value::from(vec![many.good(cx), bad]).to_string();
    let answer = api
        .send_with(
            Method::POST,
            &many.url,
            Some(body),
            &[(PREFER, "return=minimal")],
        )
        .await?;
    cx.must(ids::BAT_09, answer.status == 200, || answer.to_string())?;
    let applied = answer.header("preference-applied").unwrap_or_default();
    cx.observe(ids::BAT_09, applied.contains("return=minimal"), || {
        format!("`Preference-Applied` is {applied:?} on {answer}")
    });
    let mut results = answer["results"]
        .as_array()
        .cloned()
        .unwrap_or_default()
        .into_iter()
        .map(BatchResult);
    let (Some(good), Some(bad)) = (results.next(), results.next()) else {
        cx.observe(ids::BAT_09, false, || {
            format!("results are missing: {answer}")
        });
        return Ok(());
    };
    many.adopt(&api, &good, &answer).await?;
    let is_short = good.is_success() && good.href().is_some() && good.0.get("body").is_none();
    cx.observe(ids::BAT_09, is_short, || {
        format!("with `Prefer: return=minimal`: {}", good.0)
    });
    cx.observe(ids::BAT_09, bad.told("body").is_object(), || {
        format!("a failed entry has no body: {}", bad.0)
    });
    Ok(())
}

/// Sends an entry with an unknown member between others, with and without the preference for strict
/// handling.
async fn strict(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    each!(many in BatchHelper::some(cx, &api, cx.cases(1, 8, 8)).await? => spoiled(cx, &api, many))
}

async fn spoiled(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    many: BatchHelper,
) -> Result<(), CheckStop> {
    let header = prefer(STRICT);
    for is_strict in [true, false] {
        let unknown = Spoiled::new(cx, &many.good(cx));
        let entries = [many.good(cx), unknown.body.clone(), many.good(cx)];
        let results = many
            .send(
                api,
                ids::STR_09,
                &entries,
                if is_strict { &header } else { &[] },
            )
            .await?;
        let [first, told, last] = results.as_slice() else {
            continue;
        };
        for good in [first, last] {
            cx.observe(ids::STR_09, good.is_success(), || {
                format!(
                    "a valid entry next to one with an unknown member: {}",
                    good.0
                )
            });
        }
        let is_right = if is_strict {
            told.status() == 400
        } else {
            told.is_success()
        };
        cx.observe(
            ids::STR_09,
            is_right && unknown.is_in(told.told("body")),
            || {
                let how = if is_strict { "with" } else { "without" };
                format!(
                    "an entry with an unknown member, {how} `Prefer: handling=strict`: {}",
                    told.0
                )
            },
        );
    }
    let listed = many.listed(api).await?;
    let alone = [Spoiled::new(cx, &many.good(cx)).body];
    many.send(api, ids::STR_09, &alone, &header).await?;
    many.nothing_done(api, ids::STR_09, listed, &alone).await
}

/// Callers that may not call the helper, and callers that may call no helper of this tenant.
async fn strangers(cx: &CheckContext) -> Result<(), CheckStop> {
    let (api, anonymous, wrong) = (cx.api(), cx.anonymous(), cx.with_key("no-such-key-0000"));
    for many in BatchHelper::some(cx, &api, 2).await? {
        let narrow = cx
            .run
            .keys
            .restricted
            .as_ref()
            .map(|(key, _)| cx.with_key(key));
        let may_not_call = match &narrow {
            Some(narrow) => many.single(narrow, &many.good(cx)).await?.status == 403,
            None => false,
        };
        let listed = many.listed(&api).await?;
        let mut sent = Vec::new();
        let mut good = || {
            sent.push(many.good(cx));
            sent.last().cloned().unwrap_or_default()
        };
        for (who, what) in [
            (&anonymous, "without a key"),
            (&wrong, "with an invalid key"),
        ] {
            for media in [JSON, LINES[0]] {
                let body = if media == JSON {
                    format!("[{}]", good())
                } else {
                    good().to_string()
                };
                let answer = who.post_as(media, &many.url, body, &[]).await?;
                cx.observe(ids::BAT_10, answer.status == 401, || {
                    format!("a batch {what}: {answer}")
                });
            }
        }
        if let Some(narrow) = narrow.filter(|_| may_not_call) {
            let answer = narrow
                .post_as(JSON, &many.url, format!("[{}]", good()), &[])
                .await?;
            cx.observe(ids::BAT_10, answer.status == 403, || {
                format!("a batch with a key without the right to the helper: {answer}")
            });
        }
        if let Some(other) = cx.other().filter(|_| many.ready.container.is_some()) {
            let answer = other
                .post_as(JSON, &many.url, format!("[{}]", good()), &[])
                .await?;
            cx.observe(ids::BAT_10, answer.status == 404, || {
                format!("a batch for a container of another tenant: {answer}")
            });
        }
        many.nothing_done(&api, ids::BAT_10, listed, &sent).await?;
    }
    Ok(())
}
