//! Merges that lose data, loosen consent, or affect other people, and old addresses that are wrong.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, header};
use serde_json::{Map, Value, json};
use svc_conformance::ids;
use svc_core::ApiBuilder;

use super::conditional::{conditional, strict};
use super::feed::is_feed;
use super::{BaseServer, Mutant, MutationPoint, add, links, members, set};
use crate::interceptor::{InterceptedServer, Interceptor};
use crate::link_map::{self, LinkMap, ResourceKind};
use crate::transport::{BufferedRequest, BufferedResponse, address};

const FAMILY: MergeFaults = MergeFaults {
    family: "merges",
    server: merging,
};
const LINK: &str = "ext:merge_helper";
pub(super) const DETAILS: &str = "ext:merge";
const POINTER: &str = "ext:merged_into";
pub(super) const API_KEY: HeaderName = HeaderName::from_static("svc-api-token");
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The reference server with conditional requests, which merges people.
pub(super) fn merging(api: ApiBuilder) -> ApiBuilder {
    conditional(api).merge_people()
}

/// That server with batches.
fn in_batches(api: ApiBuilder) -> ApiBuilder {
    merging(api).batches()
}

/// Returns whether a request merges people.
pub(super) fn is_merge(call: &BufferedRequest) -> bool {
    call.method == Method::POST && call.uri.path().ends_with("/merge_helper")
}

/// Returns the URLs of the remaining person and of the merged person in a request.
pub(super) fn both(call: &BufferedRequest, person: &str) -> Option<(String, String)> {
    let body = call.json().filter(|_| is_merge(call))?;
    let merged = body.get("_links")?.get(person)?["href"].as_str()?;
    let url = call.uri.to_string();
    Some((
        url.strip_suffix("/merge_helper")?.to_owned(),
        merged.to_owned(),
    ))
}

/// Returns the URLs of the two people in a request to a server.
fn pair(call: &BufferedRequest, server: &InterceptedServer) -> Option<(String, String)> {
    both(call, &server.rel("person"))
}

/// Returns whether a request is for a preview.
fn is_preview(call: &BufferedRequest) -> bool {
    let body = call.json().unwrap_or_default();
    is_merge(call) && body.get("preview") == Some(&json!(true))
}

/// The merges so far: the address of each merged person, with that of the remaining one.
#[derive(Clone, Default)]
struct Merges {
    all: Arc<Mutex<HashMap<String, String>>>,
    /// The number of merges when a record was first seen, by its address.
    seen: Arc<Mutex<HashMap<String, usize>>>,
}

impl Merges {
    fn learn(&self, call: &BufferedRequest, status: u16, person: &str) {
        let merged = both(call, person).filter(|_| status == 200 && !is_preview(call));
        if let Some((remaining, merged)) = merged {
            self.with(|all| all.insert(address(&merged), remaining));
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut HashMap<String, String>) -> T) -> T {
        act(&mut self.all.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_empty(&self) -> bool {
        self.with(|all| all.is_empty())
    }

    /// Returns the URL of the person into whom the person at an address was merged.
    fn remaining(&self, merged: &str) -> Option<String> {
        self.with(|all| all.get(&address(merged)).cloned())
    }

    /// Whether another person was merged into the person at an address.
    fn is_remaining(&self, person: &str) -> bool {
        self.with(|all| all.values().any(|one| address(one) == address(person)))
    }

    /// Whether people were merged since a record was first seen.
    fn follow(&self, record: &Map<String, Value>) -> bool {
        let now = self.with(|all| all.len());
        let own = address(link_map::href(record, "self").unwrap_or_default());
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        now > *seen.entry(own).or_insert(now)
    }

    /// Returns the ids of all merged people.
    fn ids(&self) -> Vec<String> {
        let id = |old: &String| old.rsplit('/').next().unwrap_or_default().to_owned();
        self.with(|all| all.keys().map(id).collect())
    }
}

/// The faults of a family: changes of one reference server.
#[derive(Clone, Copy)]
pub(super) struct MergeFaults {
    pub(super) family: &'static str,
    pub(super) server: fn(ApiBuilder) -> ApiBuilder,
}

impl MergeFaults {
    /// A change of requests or responses.
    pub(super) fn fault(
        self,
        name: &'static str,
        row: &str,
        twist: impl Fn() -> Interceptor + Send + Sync + 'static,
    ) -> Mutant {
        Mutant::new(self.family, name, &[row], twist)
            .over(BaseServer::Reference(self.server))
            .at(MutationPoint::Backend)
    }

    /// A change of the whole exchange, with what was learned from earlier ones.
    pub(super) fn around<S, F, A>(self, name: &'static str, row: &str, act: F) -> Mutant
    where
        S: Default + Clone + Send + Sync + 'static,
        F: Fn(BufferedRequest, InterceptedServer, S) -> A + Copy + Send + Sync + 'static,
        A: Future<Output = BufferedResponse> + Send + 'static,
    {
        self.fault(name, row, move || {
            let learned = S::default();
            Interceptor::around(move |call, server| Box::pin(act(call, server, learned.clone())))
        })
    }
}

/// A change of documents, with the merges so far.
fn documents(
    name: &'static str,
    row: &str,
    act: impl Fn(&Merges, &BufferedRequest, &mut Map<String, Value>, &LinkMap)
    + Copy
    + Send
    + Sync
    + 'static,
) -> Mutant {
    FAMILY.fault(name, row, move || {
        let merges = Merges::default();
        Interceptor::documents(move |call, document, status, sight| {
            merges.learn(call, status, &sight.rel("person"));
            act(&merges, call, document, sight);
        })
    })
}

/// A change of records of a kind, with the merges so far; `*` is every kind.
fn records(
    name: &'static str,
    row: &str,
    wanted: &'static str,
    act: fn(&Merges, &mut Map<String, Value>, &LinkMap),
) -> Mutant {
    documents(name, row, move |merges, call, document, sight| {
        sight.each_record(call, document, &mut |kind, record| {
            if wanted == "*" || wanted == kind {
                act(merges, record, sight);
            }
        });
    })
}

/// Forwards a request and learns from it.
async fn passed(
    call: BufferedRequest,
    server: &InterceptedServer,
    merges: &Merges,
) -> BufferedResponse {
    let answer = server.send(call.clone()).await;
    merges.learn(&call, answer.status, &server.rel("person"));
    answer
}

/// Returns the document at a URL.
pub(super) async fn read(
    call: &BufferedRequest,
    server: &InterceptedServer,
    url: &str,
) -> Map<String, Value> {
    let answer = server.send(bare(call).get(url)).await;
    match answer.json() {
        Some(Value::Object(document)) => document,
        _ => Map::new(),
    }
}

/// Returns a request without the headers of this one, except for its key.
pub(super) fn bare(call: &BufferedRequest) -> BufferedRequest {
    let mut bare = BufferedRequest::nowhere();
    bare.uri = call.uri.clone();
    if let Some(key) = call.headers.get(API_KEY) {
        bare.headers.insert(API_KEY, key.clone());
    }
    bare
}

/// Returns a request to delete the record at a URL.
pub(super) fn deleting(call: &BufferedRequest, url: &str) -> BufferedRequest {
    let mut delete = bare(call).get(url);
    delete.method = Method::DELETE;
    delete
}

/// Changes fields of a person.
pub(super) async fn change(
    call: &BufferedRequest,
    server: &InterceptedServer,
    url: &str,
    fields: Map<String, Value>,
) -> BufferedResponse {
    let mut put = bare(call).get(url);
    put.method = Method::PUT;
    let json = HeaderValue::from_static("application/json");
    put.headers.insert(header::CONTENT_TYPE, json);
    put.set_json(fields);
    server.send(put).await
}

/// Returns the fields that are set after a merge, from the remaining person, the merged person, and
/// the result.
type Overwritten =
    fn(&Map<String, Value>, &Map<String, Value>, &Map<String, Value>) -> Map<String, Value>;

/// Overwrites fields of the remaining person after each merge.
async fn overwrite(
    call: BufferedRequest,
    server: InterceptedServer,
    merges: Merges,
    fields: Overwritten,
) -> BufferedResponse {
    let pair = pair(&call, &server).filter(|_| !is_preview(&call));
    let Some((remaining, lost)) = pair.filter(|(_, lost)| merges.remaining(lost).is_none()) else {
        return passed(call, &server, &merges).await;
    };
    let before = [
        read(&call, &server, &remaining).await,
        read(&call, &server, &lost).await,
    ];
    let mut answer = passed(call.clone(), &server, &merges).await;
    let Some(Value::Object(after)) = answer.json().filter(|_| answer.status == 200) else {
        return answer;
    };
    let [first, second] = &before;
    let done = change(&call, &server, &remaining, fields(first, second, &after)).await;
    if let Some(Value::Object(mut document)) = done.json().filter(|_| done.status == 200) {
        if let Some(details) = after.get(DETAILS) {
            set(&mut document, DETAILS, details.clone());
        }
        answer.headers = done.headers;
        answer.set_json(&Value::Object(document));
    }
    answer
}

fn overwritten(name: &'static str, row: &str, fields: Overwritten) -> Mutant {
    FAMILY.around(name, row, move |call, server, merges| {
        overwrite(call, server, merges, fields)
    })
}

/// Returns some members of an object.
pub(super) fn only(object: &Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    let members = names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), object.get(*name)?.clone())));
    members.collect()
}

/// Returns a list of an object after a change of each entry.
fn each(
    object: &Map<String, Value>,
    list: &str,
    act: fn(&mut Map<String, Value>),
) -> Map<String, Value> {
    let mut fields = only(object, &[list]);
    objects(fields.get_mut(list).and_then(Value::as_array_mut)).for_each(act);
    fields
}

/// Returns the document of the remaining person to a merge that was rejected.
pub(super) async fn accepted(
    call: &BufferedRequest,
    server: &InterceptedServer,
    url: &str,
) -> BufferedResponse {
    let document = read(call, server, url).await;
    BufferedResponse::document(200, &Value::Object(document))
}

/// Returns the person before the merge.
async fn merged_one(
    call: BufferedRequest,
    server: InterceptedServer,
    merges: Merges,
) -> BufferedResponse {
    let pair = pair(&call, &server).filter(|_| !is_preview(&call));
    let Some((_, lost)) = pair else {
        return passed(call, &server, &merges).await;
    };
    let document = read(&call, &server, &lost).await;
    let mut answer = passed(call, &server, &merges).await;
    if answer.status == 200 && !document.is_empty() {
        answer.set_json(&Value::Object(document));
    }
    answer
}

/// Removes the own identifiers of merged people, also from filters.
async fn without_own_identifiers(
    mut call: BufferedRequest,
    server: InterceptedServer,
    merges: Merges,
) -> BufferedResponse {
    let query = call.uri.query().unwrap_or_default().to_owned();
    for id in merges.ids() {
        if query.contains(&id) {
            let url = call.uri.to_string().replace(&id, "no-such-person");
            call.redirect(&url);
        }
    }
    let mut answer = passed(call, &server, &merges).await;
    let lost: Vec<String> = merges.ids().iter().map(|id| format!(":{id}")).collect();
    let mut strip = |record: &mut Map<String, Value>| {
        if let Some(list) = record.get_mut("identifiers").and_then(Value::as_array_mut) {
            list.retain(|one| {
                let text = one.as_str().unwrap_or_default();
                !lost.iter().any(|end| text.ends_with(end))
            });
        }
    };
    answer.edit(|document| {
        strip(document);
        objects(members(document)).for_each(&mut strip);
    });
    answer
}

/// Sends a request to the address of a merged person to that of the remaining one.
async fn on_remaining(
    mut call: BufferedRequest,
    server: InterceptedServer,
    merges: Merges,
    method: Method,
) -> BufferedResponse {
    let remaining = merges.remaining(&call.address());
    if let Some(remaining) = remaining.filter(|_| call.method == method) {
        call.redirect(&remaining);
    }
    passed(call, &server, &merges).await
}

/// Rejects links to merged people.
async fn unknown_links(
    call: BufferedRequest,
    server: InterceptedServer,
    merges: Merges,
) -> BufferedResponse {
    let body = call
        .json()
        .filter(|_| call.method == Method::POST && !is_merge(&call));
    let rel = server.rel("person");
    let linked = body
        .as_ref()
        .and_then(|body| body.get("_links")?.get(&rel)?["href"].as_str());
    if linked.is_some_and(|url| merges.remaining(url).is_some()) {
        let description = json!({ "error_code": "PERSON_NOT_FOUND",
            "description": "The person does not exist.", "properties": [format!("_links.{rel}")] });
        return BufferedResponse::rejected(|name| server.rel(name), "signature", &description);
    }
    passed(call, &server, &merges).await
}

/// Changes the remaining person when a merge is repeated.
async fn changed_again(
    call: BufferedRequest,
    server: InterceptedServer,
    merges: Merges,
) -> BufferedResponse {
    if let Some((remaining, merged)) = pair(&call, &server)
        && merges.remaining(&merged).as_deref() == Some(&remaining)
    {
        let fields = json_map(json!({ "honorific_suffix": "II" }));
        change(&call, &server, &remaining, fields).await;
    }
    passed(call, &server, &merges).await
}

pub(super) fn json_map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Accepts a merge of a person with itself.
async fn with_itself(
    call: BufferedRequest,
    server: InterceptedServer,
    merges: Merges,
) -> BufferedResponse {
    match pair(&call, &server) {
        Some((remaining, lost)) if address(&remaining) == address(&lost) => {
            accepted(&call, &server, &remaining).await
        }
        _ => passed(call, &server, &merges).await,
    }
}

/// Executes the entries of a batch of merges up to the first rejected one, and rejects the others in the
/// same way.
async fn until_rejected(call: BufferedRequest, server: InterceptedServer) -> BufferedResponse {
    let is_batch = call.uri.path().ends_with("/merge_helper/batch");
    let entries: Option<Vec<Value>> = serde_json::from_slice(&call.body).ok();
    let Some(entries) = entries.filter(|_| is_batch) else {
        return server.send(call).await;
    };
    let mut results: Vec<Value> = Vec::new();
    let is_success = |result: &Value| result.get("status") == Some(&json!(200));
    for (index, entry) in entries.into_iter().enumerate() {
        let rejected = results.iter().find(|result| !is_success(result));
        let mut result = if let Some(rejected) = rejected {
            rejected.clone()
        } else {
            let mut one = call.clone();
            one.body = json!([entry]).to_string().into();
            one.headers.remove(header::CONTENT_LENGTH);
            let answer = server.send(one).await;
            let document = answer.json().filter(|_| answer.status == 200);
            match document.as_ref().and_then(|it| it.pointer("/results/0")) {
                Some(result) => result.clone(),
                None => return answer,
            }
        };
        if let Some(result) = result.as_object_mut() {
            set(result, "index", json!(index));
        }
        results.push(result);
    }
    let succeeded = results.iter().filter(|result| is_success(result)).count();
    let totals = json!({
        "total": results.len(), "succeeded": succeeded, "failed": results.len().saturating_sub(succeeded),
        "results": results, "_links": {"self": {"href": call.uri.to_string()}},
    });
    BufferedResponse::document(200, &totals)
}

/// Accepts a merge of a person who was merged into another one.
async fn merged_twice(
    call: BufferedRequest,
    server: InterceptedServer,
    merges: Merges,
) -> BufferedResponse {
    if let Some((remaining, merged)) = pair(&call, &server)
        && merges
            .remaining(&merged)
            .is_some_and(|known| known != remaining)
    {
        return accepted(&call, &server, &remaining).await;
    }
    passed(call, &server, &merges).await
}

/// Merges a person of another tenant: the person is deleted there.
async fn across_tenants(
    call: BufferedRequest,
    server: InterceptedServer,
    merges: Merges,
) -> BufferedResponse {
    let answer = passed(call.clone(), &server, &merges).await;
    if answer.status == 400
        && let Some((remaining, merged)) = pair(&call, &server)
    {
        let mut delete = deleting(&call, &merged);
        delete
            .headers
            .insert(API_KEY, HeaderValue::from_static("k-two"));
        if server.send(delete).await.is_success() {
            return accepted(&call, &server, &remaining).await;
        }
    }
    answer
}

/// Whether a merge was rejected because the person in its path was merged.
fn is_crossing(call: &BufferedRequest, answer: &BufferedResponse) -> bool {
    is_merge(call) && answer.status == 410
}

/// Answers the second of two crossing merges as if it was executed.
async fn both_succeed(
    call: BufferedRequest,
    server: InterceptedServer,
    merges: Merges,
) -> BufferedResponse {
    let answer = passed(call.clone(), &server, &merges).await;
    match pair(&call, &server) {
        Some((_, other)) if is_crossing(&call, &answer) => accepted(&call, &server, &other).await,
        _ => answer,
    }
}

/// Deletes the remaining person at the second of two crossing merges.
async fn both_gone(
    call: BufferedRequest,
    server: InterceptedServer,
    merges: Merges,
) -> BufferedResponse {
    let answer = passed(call.clone(), &server, &merges).await;
    if is_crossing(&call, &answer)
        && let Some((_, other)) = pair(&call, &server)
    {
        server.send(deleting(&call, &other)).await;
    }
    answer
}

/// Shows the merged person at the old address after the remaining person was deleted.
async fn shown_after_delete(
    call: BufferedRequest,
    server: InterceptedServer,
    merges: Merges,
) -> BufferedResponse {
    if let Some((_, merged)) = pair(&call, &server).filter(|_| !is_preview(&call))
        && merges.remaining(&merged).is_none()
    {
        let before = server.send(bare(&call).get(&merged)).await;
        server.remember(address(&merged), &before);
    }
    let answer = passed(call.clone(), &server, &merges).await;
    let is_old = call.method == Method::GET && merges.remaining(&call.address()).is_some();
    match server.remembered(&call.address()) {
        Some(known) if is_old && answer.status == 404 => known,
        _ => answer,
    }
}

/// Redirects from the old address also after the remaining person was deleted.
async fn redirected_after_delete(
    call: BufferedRequest,
    server: InterceptedServer,
    merges: Merges,
) -> BufferedResponse {
    let answer = passed(call.clone(), &server, &merges).await;
    match merges.remaining(&call.address()) {
        Some(remaining) if call.method == Method::GET && answer.status == 404 => {
            let mut redirect = BufferedResponse::empty(301);
            if let Ok(target) = HeaderValue::from_str(&remaining) {
                redirect.headers.insert(header::LOCATION, target);
            }
            redirect
        }
        _ => answer,
    }
}

/// Replays a merge also after the remaining person was deleted.
async fn replayed_after_delete(
    call: BufferedRequest,
    server: InterceptedServer,
    merges: Merges,
) -> BufferedResponse {
    let key = call.headers.get(KEY).filter(|_| is_merge(&call));
    let Some(name) = key.map(|key| format!("{key:?} {}", call.uri)) else {
        return passed(call, &server, &merges).await;
    };
    if let Some(mut known) = server.remembered(&name) {
        known.headers.insert(
            HeaderName::from_static("idempotency-replayed"),
            HeaderValue::from_static("true"),
        );
        return known;
    }
    let answer = passed(call, &server, &merges).await;
    if answer.is_success() {
        server.remember(name, &answer);
    }
    answer
}

/// Executes requests again after a merge.
async fn forgotten(
    mut call: BufferedRequest,
    server: InterceptedServer,
    merges: Merges,
) -> BufferedResponse {
    if !merges.is_empty() && !is_merge(&call) {
        call.headers.remove(KEY);
    }
    passed(call, &server, &merges).await
}

/// Shows the tickets of an attendance as they were.
async fn tickets_stay(call: BufferedRequest, server: InterceptedServer) -> BufferedResponse {
    let answer = server.send(call.clone()).await;
    if call.method != Method::GET || server.what(&call) != Some(ResourceKind::Record("attendance"))
    {
        return answer;
    }
    let names_holder = |answer: &BufferedResponse| {
        let document = answer.json();
        let tickets = document
            .as_ref()
            .and_then(|document| document.get("tickets"));
        let list = tickets.and_then(Value::as_array);
        list.is_some_and(|all| {
            all.iter()
                .any(|one| one.pointer("/person/identifiers").is_some())
        })
    };
    if names_holder(&answer) {
        server.remember(call.address(), &answer);
        return answer;
    }
    server.remembered(&call.address()).unwrap_or(answer)
}

/// Removes a member of the bodies of merges.
fn unsent(name: &'static str, row: &str, member: &'static str) -> Mutant {
    FAMILY.fault(name, row, move || {
        Interceptor::sent(move |call, _, body, _| {
            if is_merge(call) {
                body.remove(member);
            }
        })
    })
}

/// Lets a caller use the main key for merges.
fn lent(name: &'static str, is_lent: fn(&str) -> bool) -> Mutant {
    FAMILY.fault(name, ids::MRG_18, move || {
        Interceptor::before(move |call, _| {
            let key = call.headers.get(API_KEY).and_then(|key| key.to_str().ok());
            if is_merge(call) && is_lent(key.unwrap_or_default()) {
                call.headers
                    .insert(API_KEY, HeaderValue::from_static("k-one"));
            }
            None
        })
    })
}

/// Whether a request is to a collection of a kind.
fn is_of_kind(call: &BufferedRequest, sight: &LinkMap, kind: &str) -> bool {
    matches!(sight.what(call), Some(ResourceKind::Collection(one)) if one == kind)
}

/// Removes all members of the collection of a kind of people into whom others were merged.
fn emptied(name: &'static str, row: &str, kind: &'static str) -> Mutant {
    documents(name, row, move |merges, call, page, sight| {
        let owner = sight.nested.get(&call.address());
        let is_merged = owner.is_some_and(|(owner, _)| merges.is_remaining(owner));
        if is_merged && is_of_kind(call, sight, kind) {
            members(page).into_iter().for_each(Vec::clear);
            set(page, "total_records", 0);
        }
    })
}

/// Repeats the membership of a person into whom another one was merged.
fn doubled(name: &'static str, row: &str, kind: &'static str) -> Mutant {
    documents(name, row, move |merges, call, page, sight| {
        let person = sight.rel("person");
        let is_remaining = |member: &&Value| {
            let href = member
                .as_object()
                .and_then(|it| link_map::href(it, &person));
            href.is_some_and(|href| merges.is_remaining(href))
        };
        let list = members(page).filter(|_| is_of_kind(call, sight, kind));
        if let Some(list) = list
            && let Some(member) = list.iter().find(is_remaining).cloned()
        {
            list.push(member);
            add(page, "total_records", 1);
        }
    })
}

/// A change of the entries of the feed after a merge.
fn feed_entries(name: &'static str, change: fn(&mut Vec<Value>)) -> Mutant {
    documents(name, ids::MRG_12, move |merges, call, page, _| {
        if is_feed(call) && !merges.is_empty() {
            members(page).into_iter().for_each(change);
        }
    })
}

/// Whether an entry of the feed is the deletion of a merged person.
fn is_merged(entry: &Value) -> bool {
    entry["_links"].get(POINTER).is_some()
}

/// Returns the objects in a list.
pub(super) fn objects(
    list: Option<&mut Vec<Value>>,
) -> impl Iterator<Item = &mut Map<String, Value>> {
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

pub(super) fn unlink(record: &mut Map<String, Value>, rel: &str) {
    if let Some(links) = links(record) {
        links.remove(rel);
    }
}

pub(super) fn faults() -> Vec<Mutant> {
    [
        people(),
        actions(),
        old_addresses(),
        rejections(),
        after_deletes(),
    ]
    .concat()
}

/// Faults of the link and of the fields.
fn people() -> Vec<Mutant> {
    vec![
        records(
            "a key without the right gets a link to merges",
            ids::MRG_01,
            "person",
            |_, record, _| {
                let own = link_map::href(record, "self").map(ToOwned::to_owned);
                if let (Some(own), Some(links)) = (own, links(record)) {
                    let link = json!({ "href": format!("{own}/merge_helper") });
                    links.entry(LINK).or_insert(link);
                }
            },
        ),
        records(
            "no person links to merges",
            ids::MRG_01,
            "*",
            |_, record, _| unlink(record, LINK),
        ),
        FAMILY.around("a merge returns the merged person", ids::MRG_02, merged_one),
        FAMILY.fault(
            "the tag of a merge is that of no state",
            ids::MRG_02,
            || {
                Interceptor::after(|call, answer, _| {
                    if is_merge(call) && answer.headers.contains_key(header::ETAG) {
                        let tag = HeaderValue::from_static("\"before\"");
                        answer.headers.insert(header::ETAG, tag);
                    }
                })
            },
        ),
        overwritten(
            "a merge loses the phone numbers of the merged person",
            ids::MRG_03,
            |first, _, _| only(first, &["phone_numbers"]),
        ),
        overwritten(
            "a merge loses the custom fields of the remaining person",
            ids::MRG_03,
            |first, _, _| {
                let mut fields = only(first, &["custom_fields"]);
                let all = fields
                    .get_mut("custom_fields")
                    .and_then(Value::as_object_mut);
                all.into_iter()
                    .flat_map(|all| all.values_mut())
                    .for_each(|value| *value = Value::Null);
                fields
            },
        ),
        overwritten(
            "the names of the merged person win",
            ids::MRG_04,
            |_, second, _| only(second, &["given_name", "family_name"]),
        ),
        overwritten("a merge fills no name", ids::MRG_04, |_, _, _| {
            json_map(json!({ "additional_name": null, "honorific_suffix": null }))
        }),
        overwritten(
            "a merge subscribes every address",
            ids::MRG_05,
            |_, _, after| {
                each(after, "email_addresses", |entry| {
                    set(entry, "status", "subscribed");
                })
            },
        ),
        overwritten(
            "of two addresses, that of the remaining person wins",
            ids::MRG_05,
            |first, _, after| {
                let mut fields = only(after, &["email_addresses"]);
                let own = first.get("email_addresses").and_then(Value::as_array);
                let all = fields
                    .get_mut("email_addresses")
                    .and_then(Value::as_array_mut);
                for entry in all.into_iter().flatten() {
                    let mut own = own.into_iter().flatten();
                    if let Some(own) = own.find(|one| one["address"] == entry["address"]) {
                        *entry = own.clone();
                    }
                }
                fields
            },
        ),
        overwritten("a merge permits calls", ids::MRG_05, |_, _, after| {
            each(after, "phone_numbers", |entry| {
                set(entry, "do_not_call", false);
            })
        }),
        FAMILY.around(
            "a merge loses the own identifier of the merged person",
            ids::MRG_08,
            without_own_identifiers,
        ),
        unsent("a preview is stored", ids::MRG_19, "preview"),
        FAMILY.fault(
            "a preview shows no status that gets stricter",
            ids::MRG_19,
            || {
                Interceptor::documents(|call, document, _, _| {
                    let details = document.get_mut(DETAILS).and_then(Value::as_object_mut);
                    if let Some(details) = details.filter(|_| is_preview(call)) {
                        set(details, "tightened", json!([]));
                    }
                })
            },
        ),
    ]
}

/// Faults of what belongs to people.
fn actions() -> Vec<Mutant> {
    vec![
        emptied(
            "signatures of a merged person are not listed",
            ids::MRG_06,
            "signature",
        ),
        records(
            "a moved signature is counted twice",
            ids::MRG_06,
            "petition",
            |merges, record, _| {
                if merges.follow(record) {
                    add(record, "total_signatures", 1);
                }
            },
        ),
        doubled("a merged person is on a list twice", ids::MRG_07, "item"),
        doubled("a merged person has a tag twice", ids::MRG_07, "tagging"),
        feed_entries("the feed lacks moved actions", |entries| {
            entries.retain(|entry| entry["kind"] == "person" || entry["what"] != "changed");
        }),
        feed_entries("the feed has no link to the remaining person", |entries| {
            for entry in objects(Some(entries)) {
                unlink(entry, POINTER);
            }
        }),
        feed_entries(
            "the merged person is deleted before its actions move",
            |entries| {
                entries.sort_by_key(|entry| !is_merged(entry));
            },
        ),
        records(
            "a merge removes the canvasser of a canvass",
            ids::MRG_26,
            "*",
            |merges, record, sight| {
                let rel = sight.rel("canvasser");
                if link_map::href(record, &rel).is_some_and(|url| merges.is_remaining(url)) {
                    unlink(record, &rel);
                }
            },
        ),
        emptied(
            "canvasses of a merged person are not listed",
            ids::MRG_26,
            "canvass",
        ),
        records(
            "a merge removes the holder of a ticket",
            ids::MRG_25,
            "*",
            |merges, record, _| {
                if merges.follow(record) {
                    let tickets = record.get_mut("tickets").and_then(Value::as_array_mut);
                    for ticket in objects(tickets) {
                        ticket.remove("person");
                    }
                }
            },
        ),
        FAMILY.around(
            "a ticket names a deleted person",
            ids::MRG_25,
            |call, server, ()| tickets_stay(call, server),
        ),
    ]
}

/// Faults of the old address.
fn old_addresses() -> Vec<Mutant> {
    vec![
        FAMILY.fault("a merged person is not found", ids::MRG_09, || {
            Interceptor::after(|_, answer, _| {
                if answer.status == 301 {
                    *answer = BufferedResponse::empty(404);
                }
            })
        }),
        FAMILY.fault(
            "a collection of a merged person redirects to a person",
            ids::MRG_09,
            || {
                Interceptor::after(|_, answer, _| {
                    let target = answer.headers.get(header::LOCATION);
                    let target = target
                        .and_then(|target| target.to_str().ok())
                        .unwrap_or_default();
                    let Some((people, rest)) = target.split_once("/people/") else {
                        return;
                    };
                    let id = rest.split(['/', '?']).next().unwrap_or_default();
                    let person = HeaderValue::from_str(&format!("{people}/people/{id}"));
                    if let Some(person) = person.ok().filter(|_| answer.status == 301) {
                        answer.headers.insert(header::LOCATION, person);
                    }
                })
            },
        ),
        FAMILY.around(
            "an update of a merged person changes the remaining one",
            ids::MRG_10,
            |call, server, merges| on_remaining(call, server, merges, Method::PUT),
        ),
        FAMILY.around(
            "a delete of a merged person deletes the remaining one",
            ids::MRG_10,
            |call, server, merges| on_remaining(call, server, merges, Method::DELETE),
        ),
        FAMILY.around(
            "a link to a merged person is rejected",
            ids::MRG_11,
            unknown_links,
        ),
        FAMILY.around("a merge forgets stored responses", ids::MRG_23, forgotten),
    ]
}

/// Faults of merges that must be rejected.
fn rejections() -> Vec<Mutant> {
    vec![
        unsent(
            "the tag of the merged person is ignored",
            ids::MRG_14,
            "merged_etag",
        ),
        FAMILY.fault(
            "the tag of the remaining person is ignored",
            ids::MRG_14,
            || {
                Interceptor::before(|call, _| {
                    if is_merge(call) {
                        call.headers.remove(header::IF_MATCH);
                    }
                    None
                })
            },
        ),
        FAMILY.around(
            "a repeated merge changes the person",
            ids::MRG_15,
            changed_again,
        ),
        FAMILY.around("a person is merged with itself", ids::MRG_16, with_itself),
        FAMILY.around(
            "a merged person is merged into another one",
            ids::MRG_16,
            merged_twice,
        ),
        FAMILY.around(
            "people of different tenants are merged",
            ids::MRG_16,
            across_tenants,
        ),
        FAMILY
            .fault(
                "a batch of merges stops at a rejected one",
                ids::MRG_24,
                || Interceptor::around(|call, server| Box::pin(until_rejected(call, server))),
            )
            .over(BaseServer::Reference(in_batches)),
        FAMILY.around(
            "both of two crossing merges succeed",
            ids::MRG_17,
            both_succeed,
        ),
        FAMILY.around(
            "two crossing merges delete both people",
            ids::MRG_17,
            both_gone,
        ),
        lent("people are merged without a key", str::is_empty),
        lent("people are merged with any valid key", |key| {
            key == "k-narrow"
        }),
    ]
}

/// Faults after the remaining person was deleted.
fn after_deletes() -> Vec<Mutant> {
    vec![
        FAMILY.around(
            "the old address of a deleted person shows a name",
            ids::MRG_22,
            shown_after_delete,
        ),
        FAMILY.around(
            "the old address of a deleted person redirects",
            ids::MRG_22,
            redirected_after_delete,
        ),
        FAMILY.around(
            "a merge is replayed after the person was deleted",
            ids::MRG_22,
            replayed_after_delete,
        ),
    ]
}

/// Returns 404 for old addresses, and does not declare that they forward.
fn without_forwards() -> Interceptor {
    Interceptor::after(|call, answer, _| {
        if answer.status == 301 {
            *answer = BufferedResponse::empty(404);
        }
        let Ok(Value::Object(mut document)) = serde_json::from_slice::<Value>(&answer.body) else {
            return;
        };
        let before = document.clone();
        if let Some(all) = document.get_mut("behaviours").and_then(Value::as_array_mut) {
            all.retain(|one| one != "merge_people.forwards");
        }
        if is_feed(call) {
            for entry in objects(members(&mut document)) {
                unlink(entry, POINTER);
            }
        }
        if document != before {
            answer.set_json(&Value::Object(document));
        }
    })
}

/// Returns other codes than the reference server: 308 for redirects, 409 without a body for writes
/// to old addresses and for merges that are not possible.
fn other_codes() -> Interceptor {
    Interceptor::after(|call, answer, _| {
        if answer.status == 301 {
            answer.status = 308;
            answer.body = Bytes::new();
            answer.headers.remove(header::CONTENT_LENGTH);
            answer.headers.remove(header::CONTENT_TYPE);
        }
        let is_merged = answer.status == 410 && matches!(call.method, Method::PUT | Method::DELETE);
        if is_merged || (is_merge(call) && matches!(answer.status, 400 | 410)) {
            *answer = BufferedResponse::empty(409);
        }
        if call.uri.path().ends_with("/merge_helper/batch") {
            answer.edit(|batch| {
                let results = batch.get_mut("results").and_then(Value::as_array_mut);
                for result in objects(results) {
                    if matches!(
                        result.get("status").and_then(Value::as_u64),
                        Some(400 | 410)
                    ) {
                        set(result, "status", 409);
                        result.remove("body");
                    }
                }
            });
        }
    })
}

/// Shows only what is required: links on single reads, and no details of a merge.
fn sparse() -> Interceptor {
    Interceptor::documents(|call, document, _, _| {
        if is_merge(call) {
            document.remove(DETAILS);
        }
        for member in objects(members(document)) {
            unlink(member, LINK);
        }
    })
}

/// Rejects a repeated merge, and returns the lists of merged people in another order.
fn once() -> Interceptor {
    let merges = Merges::default();
    Interceptor::after(move |call, answer, sight| {
        let details = answer
            .json()
            .and_then(|mut it| Some(it.get_mut(DETAILS)?.take()));
        if details.is_some_and(|details| details.get("already") == Some(&json!(true))) {
            *answer = BufferedResponse::empty(410);
            return;
        }
        merges.learn(call, answer.status, &sight.rel("person"));
        answer.edit(|document| {
            sight.each_record(call, document, &mut |_, record| {
                let own = link_map::href(record, "self");
                if own.is_some_and(|own| merges.is_remaining(own)) {
                    reverse_lists(record);
                }
            });
            if is_merge(call) {
                reverse_lists(document);
            }
        });
    })
}

/// Reverses the lists of a person.
pub(super) fn reverse_lists(person: &mut Map<String, Value>) {
    for name in ["phone_numbers", "email_addresses"] {
        if let Some(list) = person.get_mut(name).and_then(Value::as_array_mut) {
            list.reverse();
        }
    }
}

/// Returns 410 without a body for the old address of a deleted person.
async fn gone(
    call: BufferedRequest,
    server: InterceptedServer,
    merges: Merges,
) -> BufferedResponse {
    let answer = passed(call.clone(), &server, &merges).await;
    let is_old = merges.remaining(&call.address()).is_some();
    if is_old && call.method == Method::GET && answer.status == 404 {
        return BufferedResponse::empty(410);
    }
    answer
}

/// Behaviour that looks like a fault but is permitted.
pub(super) fn free() -> Vec<Mutant> {
    let unusual = |name, twist: fn() -> Interceptor| {
        Mutant::new(FAMILY.family, name, &[], twist).over(BaseServer::Reference(merging))
    };
    vec![
        unusual(
            "old addresses of merged people are not found, as declared",
            without_forwards,
        ),
        unusual("merges have other codes", other_codes),
        unusual("merges show what is required", sparse),
        unusual(
            "a merge is possible once, and lists have another order",
            once,
        ),
        unusual(
            "merges are strict about consent, and old addresses are gone",
            || {
                let merges = Merges::default();
                let sent = Interceptor::sent(|call, _, body, _| {
                    if is_merge(call) {
                        set(body, "consent", "strictest");
                    }
                });
                sent.joined(Interceptor::around(move |call, server| {
                    Box::pin(gone(call, server, merges.clone()))
                }))
            },
        ),
        unusual("people are merged, with tags", Interceptor::default),
        unusual(
            "people are merged, with tags in each change",
            Interceptor::default,
        )
        .over(BaseServer::Reference(|api| strict(api).merge_people())),
    ]
}
