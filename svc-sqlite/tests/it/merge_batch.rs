//! Batches of merges into one person over the whole API, on the store in memory and on the store in a
//! file.
//!
//! Requirements: MRG-24.

use http::Method;
use serde_json::{Value, json};
use svc_core::{
    api::{ApiBuilder, IfMatchPolicy},
    auth::{Identity, Right, Rights},
};

use crate::both_stores::{self, Answer, Subject, rights};

fn configured(api: ApiBuilder, if_match: IfMatchPolicy) -> ApiBuilder {
    api.merge_people().conditional_requests(if_match).batches()
}

/// Runs a check on both stores.
async fn each(check: impl AsyncFn(&Subject)) {
    both_stores::each(|api| configured(api, IfMatchPolicy::Optional), check).await;
}

/// Returns the body of a merge of a person.
fn entry(merged: &str) -> Value {
    json!({"_links": {"svc:person": {"href": merged}}})
}

fn batch_of(remaining: &str) -> String {
    format!("{remaining}/merge_helper/batch")
}

/// Returns the statuses of the entries of a batch.
#[track_caller]
fn statuses(batch: &Answer) -> Vec<u64> {
    assert_eq!(batch.status, 200, "{}", batch.json);
    let results = batch.json["results"].as_array().unwrap();
    let status = |result: &Value| result["status"].as_u64().unwrap();
    results.iter().map(status).collect()
}

fn body(batch: &Answer, index: usize) -> &Value {
    &batch.json["results"][index]["body"]
}

/// Returns the first error of an entry.
fn error(batch: &Answer, index: usize) -> &Value {
    &body(batch, index)["svc:error"]["resource_status"][0]["error_descriptions"][0]
}

impl Subject {
    async fn batch(&self, remaining: &str, headers: &[(&str, &str)], entries: Value) -> Answer {
        let address = batch_of(remaining);
        self.send(self.full_key(), Method::POST, &address, headers, &entries)
            .await
    }

    /// Returns the entity tag of a person.
    async fn tag(&self, person: &str) -> String {
        let answer = self.get(person).await;
        answer.header("etag").unwrap().to_owned()
    }

    async fn statuses_of<const N: usize>(&self, people: [&String; N]) -> [u16; N] {
        let mut all = [0; N];
        for (status, person) in all.iter_mut().zip(people) {
            *status = self.get(person).await.status;
        }
        all
    }
}

/// Each entry is executed on its own: one that fails has the error of a single merge and does not affect
/// the others.
#[tokio::test]
async fn a_batch_merges_many_people_into_one() {
    each(async |subject| {
        let [one, second, third, fourth] = subject.named(["Ada"; 4]).await;
        let alone = subject.merge_with(&one, &one, json!({})).await;
        let entries = json!([
            entry(&second),
            entry(&one),
            entry(&third),
            {"consent": "loose"},
            entry(&fourth),
        ]);
        let batch = subject.batch(&one, &[], entries).await;
        let at = format!("{}: {}", subject.name, batch.json);
        assert_eq!(statuses(&batch), [200, 400, 200, 400, 200], "{at}");
        let totals = ["total", "succeeded", "failed"].map(|name| batch.json[name].as_u64());
        assert_eq!(totals, [Some(5), Some(3), Some(2)], "{at}");
        assert_eq!(body(&batch, 1), &alone.json, "{at}");
        assert_eq!(error(&batch, 1)["error_code"], "MERGE_SAME_PERSON", "{at}");
        for (index, merged) in [(0, &second), (2, &third), (4, &fourth)] {
            let result = &batch.json["results"][index];
            assert_eq!(result["href"], one, "{at}");
            let links = &result["body"]["ext:merge"]["_links"];
            assert_eq!(links["ext:merged"]["href"], *merged, "{at}");
        }
        let people = [&one, &second, &third, &fourth];
        assert_eq!(subject.statuses_of(people).await, [200, 301, 301, 301]);
        let person = subject.read(&one).await;
        assert_eq!(person["identifiers"].as_array().unwrap().len(), 4, "{at}");
        // The merges are undone one by one, the latest first.
        let merges = subject.read(&format!("{one}/merges")).await;
        let merges = merges["_embedded"]["ext:merges"].as_array().unwrap();
        assert_eq!(merges.len(), 3, "{at}");
        let undo = &merges[0]["_links"]["ext:undo_merge_helper"]["href"];
        let undone = subject
            .call(Method::POST, undo.as_str().unwrap(), &json!({}))
            .await;
        assert_eq!(undone.status, 200, "{}", undone.json);
        assert_eq!(subject.statuses_of(people).await, [200, 301, 301, 200]);
    })
    .await;
}

/// A batch needs the right of a merge, and each entry the rights of its members.
#[tokio::test]
async fn a_batch_of_merges_needs_the_right() {
    each(async |subject| {
        let [one, other, third] = subject.named(["Ada"; 3]).await;
        let send = async |identity: Identity, entries: Value| {
            subject
                .send(identity, Method::POST, &batch_of(&one), &[], &entries)
                .await
        };
        let others = Rights::only(Right::all().filter(|right| *right != Right::MergePeople));
        let entries = json!([entry(&other)]);
        for (identity, status) in [
            (Identity::Anonymous, 401),
            (Identity::InvalidKey, 401),
            (subject.key(others), 403),
            (subject.other_key(), 404),
        ] {
            let answer = send(identity, entries.clone()).await;
            assert_eq!(answer.status, status, "{}", answer.json);
            assert_eq!(subject.get(&other).await.status, 200);
        }
        let merging = || subject.key(rights(&["people.read", "people.merge"]));
        let mut changed = entry(&other);
        changed["person"] = json!({"given_name": "Augusta"});
        let batch = send(merging(), json!([changed, entry(&third)])).await;
        assert_eq!(statuses(&batch), [403, 200], "{}", batch.json);
        let more = json!({"person": {"given_name": "Augusta"}});
        let alone = subject.merge_as(merging(), &one, &other, more, &[]).await;
        assert_eq!((alone.status, body(&batch, 0)), (403, &alone.json));
        assert_eq!(subject.get(&other).await.status, 200);
        assert_eq!(subject.read(&one).await["given_name"], "Ada");
        // Without the right to read people, the results contain no fields.
        let batch = send(
            subject.key(rights(&["people.merge"])),
            json!([entry(&other)]),
        )
        .await;
        assert_eq!(statuses(&batch), [200], "{}", batch.json);
        assert_eq!(body(&batch, 0).get("given_name"), None);
    })
    .await;
}

/// Merges in sequence: into a person who was merged, and of people who were merged.
#[tokio::test]
async fn merged_people_in_a_batch_have_the_responses_of_single_merges() {
    each(async |subject| {
        let [one, second, third, fourth] = subject.named(["Ada"; 4]).await;
        let first = subject.batch(&second, &[], json!([entry(&third)])).await;
        assert_eq!(statuses(&first), [200], "{}", first.json);
        // The second person was merged by then, and the URL of the third one means the first.
        let entries = json!([entry(&second), entry(&second), entry(&third)]);
        let batch = subject.batch(&one, &[], entries).await;
        assert_eq!(statuses(&batch), [200; 3], "{}", batch.json);
        let already = |index: usize| body(&batch, index)["ext:merge"]["already"].clone();
        assert_eq!(
            [already(0), already(1), already(2)],
            [json!(false), json!(true), json!(true)]
        );
        let alone = subject.merge_with(&second, &fourth, json!({})).await;
        let batch = subject.batch(&second, &[], json!([entry(&fourth)])).await;
        assert_eq!((alone.status, batch.status), (410, 410), "{}", batch.json);
        assert_eq!(batch.json, alone.json);
        batch.assert_rejected(410, "PERSON_MERGED", &[]);
        let alone = subject.merge_with(&fourth, &third, json!({})).await;
        let batch = subject.batch(&fourth, &[], json!([entry(&third)])).await;
        assert_eq!(statuses(&batch), [400], "{}", batch.json);
        assert_eq!(body(&batch, 0), &alone.json);
        let unknown = subject
            .batch("people/none", &[], json!([entry(&fourth)]))
            .await;
        assert_eq!(unknown.status, 404, "{}", unknown.json);
        assert_eq!(subject.get(&fourth).await.status, 200);
    })
    .await;
}

/// `If-Match` is the state before the first merge; each further merge requires the state that the merge
/// before it left. `merged_etag` is part of each entry.
#[tokio::test]
async fn conditions_apply_to_each_merge_of_a_batch() {
    for policy in [IfMatchPolicy::Optional, IfMatchPolicy::Required] {
        both_stores::each(
            |api| configured(api, policy),
            async |subject| {
                let [one, second, third] = subject.named(["Ada", "Kim", "Sam"]).await;
                let tagged = async |merged: &String| {
                    let mut entry = entry(merged);
                    entry["merged_etag"] = json!(subject.tag(merged).await);
                    entry
                };
                let old = subject.tag(&one).await;
                let old_second = tagged(&second).await;
                for person in [&one, &second] {
                    let tag = subject.tag(person).await;
                    let answer = subject
                        .send(
                            subject.full_key(),
                            Method::PUT,
                            person,
                            &[("if-match", &tag)],
                            &json!({"source": "s"}),
                        )
                        .await;
                    assert_eq!(answer.status, 200, "{}", answer.json);
                }
                let entries = json!([tagged(&second).await, tagged(&third).await]);
                let stale = [("if-match", &*old)];
                let batch = subject.batch(&one, &stale, entries.clone()).await;
                assert_eq!(statuses(&batch), [412, 412], "{}", batch.json);
                if policy == IfMatchPolicy::Required {
                    let batch = subject.batch(&one, &[], entries.clone()).await;
                    batch.assert_rejected(428, "PRECONDITION_REQUIRED", &[]);
                }
                let people = [&one, &second, &third];
                assert_eq!(subject.statuses_of(people).await, [200; 3]);
                // One entry has an earlier tag; the others succeed, also a preview between them.
                let current = subject.tag(&one).await;
                let mut preview = tagged(&third).await;
                preview["preview"] = json!(true);
                let entries = json!([
                    old_second,
                    tagged(&second).await,
                    preview,
                    entry(&third),
                    tagged(&third).await,
                ]);
                let batch = subject
                    .batch(&one, &[("if-match", &current)], entries)
                    .await;
                let (untagged, last) = match policy {
                    IfMatchPolicy::Required => (428, None),
                    _ => (200, Some(true)),
                };
                let at = format!("{}: {}", subject.name, batch.json);
                assert_eq!(
                    error(&batch, 0)["properties"],
                    json!(["merged_etag"]),
                    "{at}"
                );
                assert_eq!(statuses(&batch)[..4], [412, 200, 200, untagged], "{at}");
                assert_eq!(
                    body(&batch, 4)["ext:merge"]["already"]
                        .as_bool()
                        .filter(|it| *it),
                    last,
                    "{at}"
                );
                assert_eq!(subject.statuses_of(people).await, [200, 301, 301], "{at}");
            },
        )
        .await;
    }
}

/// A repeated batch with its key returns the first responses, and executes the entries that were added.
#[tokio::test]
async fn a_repeated_batch_of_merges_is_executed_once() {
    each(async |subject| {
        let [one, second, third, fourth] = subject.named(["Ada"; 4]).await;
        let tag = subject.tag(&one).await;
        let headers = [("idempotency-key", "k1"), ("if-match", &*tag)];
        let mut entries = vec![entry(&second), entry(&third)];
        let first = subject.batch(&one, &headers, json!(entries)).await;
        assert_eq!(statuses(&first), [200, 200], "{}", first.json);
        entries.push(entry(&fourth));
        let again = subject.batch(&one, &headers, json!(entries)).await;
        let at = format!("{}: {}", subject.name, again.json);
        assert_eq!(statuses(&again), [200; 3], "{at}");
        for index in [0, 1] {
            assert_eq!(body(&again, index), body(&first, index), "{at}");
        }
        assert_eq!(body(&again, 2)["ext:merge"]["already"], false, "{at}");
        let merges = subject.read(&format!("{one}/merges")).await;
        let merges = merges["_embedded"]["ext:merges"].as_array().unwrap().len();
        assert_eq!(merges, 3, "{at}");
        entries.swap(0, 1);
        let other = subject.batch(&one, &headers, json!(entries)).await;
        assert_eq!(statuses(&other), [422, 422, 200], "{}", other.json);
    })
    .await;
}

/// The body of a batch has the limits of other batches. A server without batches or without merges offers
/// none.
#[tokio::test]
async fn batches_of_merges_have_limits() {
    each(async |subject| {
        let [one, other] = subject.named(["Ada"; 2]).await;
        for (entries, status, code) in [
            (Value::Null, 400, "BODY_MISSING"),
            (entry(&other), 400, "JSON_INVALID"),
            (json!(vec![entry(&other); 1001]), 413, "BODY_TOO_LARGE"),
        ] {
            let answer = subject.batch(&one, &[], entries).await;
            answer.assert_rejected(status, code, &[]);
        }
        assert_eq!(subject.get(&other).await.status, 200);
        let empty = subject.batch(&one, &[], json!([])).await;
        assert_eq!(statuses(&empty), [0; 0], "{}", empty.json);
    })
    .await;
    let configurations: [fn(ApiBuilder) -> ApiBuilder; 2] =
        [ApiBuilder::merge_people, ApiBuilder::batches];
    for configure in configurations {
        both_stores::each(configure, async |subject| {
            let [one, other] = subject.named(["Ada"; 2]).await;
            let answer = subject.batch(&one, &[], json!([entry(&other)])).await;
            answer.assert_rejected(500, "NOT_IMPLEMENTED", &[]);
        })
        .await;
    }
}

/// A merge that was executed before does not make a later change of the person acceptable.
#[tokio::test]
async fn a_merge_without_an_effect_changes_no_condition() {
    each(async |subject| {
        let [one, second, third] = subject.named(["Ada"; 3]).await;
        assert_eq!(subject.merge(&one, &second).await.status, 200);
        let old = subject.tag(&one).await;
        let change = json!({"source": "s"});
        let changed = subject.call(Method::PUT, &one, &change).await;
        assert_eq!(changed.status, 200, "{}", changed.json);
        let entries = json!([entry(&second), entry(&third)]);
        let batch = subject.batch(&one, &[("if-match", &old)], entries).await;
        assert_eq!(statuses(&batch), [200, 412], "{}", batch.json);
        assert_eq!(subject.get(&third).await.status, 200);
    })
    .await;
}

/// A batch whose entries failed is continued with its key and the state that the client has read since.
#[tokio::test]
async fn a_batch_is_continued_with_a_later_state() {
    each(async |subject| {
        let [one, second, third] = subject.named(["Ada"; 3]).await;
        let tag = subject.tag(&one).await;
        let headers = |tag| [("idempotency-key", "k1"), ("if-match", tag)];
        let first = subject
            .batch(&one, &headers(&*tag), json!([entry(&second)]))
            .await;
        assert_eq!(statuses(&first), [200], "{}", first.json);
        let change = json!({"source": "s"});
        let changed = subject.call(Method::PUT, &one, &change).await;
        assert_eq!(changed.status, 200, "{}", changed.json);
        let entries = json!([entry(&second), entry(&third)]);
        let stale = subject.batch(&one, &headers(&*tag), entries.clone()).await;
        assert_eq!(statuses(&stale), [200, 412], "{}", stale.json);
        let now = subject.tag(&one).await;
        let batch = subject.batch(&one, &headers(&*now), entries).await;
        assert_eq!(statuses(&batch), [200, 200], "{}", batch.json);
        assert_eq!(body(&batch, 0), body(&first, 0));
    })
    .await;
}

/// A repeated batch returns its first responses also after the person was merged into another one.
#[tokio::test]
async fn a_repeated_batch_has_its_responses_after_a_merge_of_the_person() {
    each(async |subject| {
        let [one, second, third] = subject.named(["Ada"; 3]).await;
        let headers = [("idempotency-key", "k1")];
        let entries = json!([entry(&second)]);
        let first = subject.batch(&one, &headers, entries.clone()).await;
        assert_eq!(subject.merge(&third, &one).await.status, 200);
        let again = subject.batch(&one, &headers, entries).await;
        assert_eq!(statuses(&again), [200], "{}", again.json);
        assert_eq!(body(&again, 0), body(&first, 0));
        let other = subject
            .batch(&one, &[("idempotency-key", "k2")], json!([entry(&third)]))
            .await;
        assert_eq!(statuses(&other), [410], "{}", other.json);
    })
    .await;
}
