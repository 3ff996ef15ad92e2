//! Undone merges that lose data, and merges that must not be undone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderValue, Method, header};
use serde_json::{Map, Value, json};
use svc_conformance::ids;

use super::merges::{
    API_KEY, DETAILS, MergeFaults, accepted, both, change, deleting, is_merge, json_map, merging,
    objects, only, read, reverse_lists, unlink,
};
use super::{BaseServer, Mutant, add, members, set};
use crate::interceptor::{InterceptedServer, Interceptor};
use crate::link_map;
use crate::transport::{BufferedRequest, BufferedResponse, address};

const FAMILY: MergeFaults = MergeFaults {
    family: "undone merges",
    server: merging,
};
const LINK: &str = "ext:undo_merge_helper";
const LIST: &str = "ext:merges";

/// Returns whether a request undoes a merge.
fn is_undo(call: &BufferedRequest) -> bool {
    let path = call.uri.path();
    call.method == Method::POST && path.contains("/merges/") && path.ends_with("/undo")
}

/// The two people of a merge: their URLs, and the document of the remaining person after the merge.
#[derive(Debug, Clone)]
struct MergedPeople {
    remaining: String,
    merged: String,
    after: Map<String, Value>,
}

/// The merges so far, each by the address that undoes it.
#[derive(Clone, Default)]
struct Undos {
    merges: Arc<Mutex<HashMap<String, MergedPeople>>>,
    /// The merges that were undone, each by the address of the merged person.
    undone: Arc<Mutex<HashMap<String, MergedPeople>>>,
    /// The number of undone merges when a record was first seen, by its address.
    seen: Arc<Mutex<HashMap<String, usize>>>,
}

/// Runs a function with the value of a lock.
fn locked<T, R>(lock: &Mutex<T>, act: impl FnOnce(&mut T) -> R) -> R {
    act(&mut lock.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Undos {
    /// Learns from the response to a merge or an undo.
    fn learn(&self, call: &BufferedRequest, answer: &BufferedResponse, person: &str) {
        if !answer.is_success() {
            return;
        }
        if let Some(people) = self.people(call) {
            locked(&self.undone, |all| {
                all.insert(address(&people.merged), people)
            });
        }
        if let (Some((remaining, merged)), Some(Value::Object(after))) =
            (both(call, person), answer.json())
        {
            let details = after.get(DETAILS).and_then(Value::as_object);
            let url = details.and_then(|details| link_map::href(details, LINK));
            if let Some(url) = url.map(address) {
                let people = MergedPeople {
                    remaining,
                    merged,
                    after,
                };
                locked(&self.merges, |all| all.insert(url, people));
            }
        }
    }

    /// Returns the people of the merge that a request undoes.
    fn people(&self, call: &BufferedRequest) -> Option<MergedPeople> {
        let url = call.address();
        locked(&self.merges, |all| all.get(&url).cloned()).filter(|_| is_undo(call))
    }

    /// Returns the people of the undone merge of the person at an address.
    fn restored(&self, url: &str) -> Option<MergedPeople> {
        locked(&self.undone, |all| all.get(&address(url)).cloned())
    }

    /// Whether a merge was undone since a record was first seen.
    fn follow(&self, record: &Map<String, Value>) -> bool {
        let now = locked(&self.undone, |all| all.len());
        let own = address(link_map::href(record, "self").unwrap_or_default());
        locked(&self.seen, |seen| now > *seen.entry(own).or_insert(now))
    }
}

/// Forwards a request and learns from it.
async fn passed(
    call: &BufferedRequest,
    server: &InterceptedServer,
    undos: &Undos,
) -> BufferedResponse {
    let answer = server.send(call.clone()).await;
    undos.learn(call, &answer, &server.rel("person"));
    answer
}

/// The fields that are set after an undo.
type Overwritten = fn(&Map<String, Value>) -> Map<String, Value>;

/// Which of the two people is changed, and from which document.
#[derive(Debug, Clone, Copy)]
enum Side {
    /// The remaining person, from its document after the merge.
    RemainingAfterMerge,
    /// The remaining person, from its document before the undo.
    RemainingBeforeUndo,
    /// The restored person, from its document after the undo.
    Restored,
}

/// Overwrites fields of a person after each undo.
async fn overwrite(
    call: BufferedRequest,
    server: InterceptedServer,
    undos: Undos,
    side: Side,
    fields: Overwritten,
) -> BufferedResponse {
    let Some(people) = undos.people(&call) else {
        return passed(&call, &server, &undos).await;
    };
    let before = read(&call, &server, &people.remaining).await;
    let answer = passed(&call, &server, &undos).await;
    if answer.is_success() {
        let (url, document) = match side {
            Side::RemainingAfterMerge => (&people.remaining, people.after.clone()),
            Side::RemainingBeforeUndo => (&people.remaining, before),
            Side::Restored => {
                let document = read(&call, &server, &people.merged).await;
                (&people.merged, document)
            }
        };
        change(&call, &server, url, fields(&document)).await;
    }
    answer
}

fn overwritten(name: &'static str, side: Side, fields: Overwritten) -> Mutant {
    FAMILY.around(name, ids::MRG_20, move |call, server, undos| {
        overwrite(call, server, undos, side, fields)
    })
}

/// Returns the URLs of the records in a collection of a person.
async fn listed(
    call: &BufferedRequest,
    server: &InterceptedServer,
    person: &str,
    many: &str,
) -> Vec<String> {
    let mut page = read(call, server, &format!("{person}/{many}")).await;
    let records = objects(members(&mut page));
    records
        .filter_map(|record| link_map::href(record, "self").map(ToOwned::to_owned))
        .collect()
}

/// Moves all signatures of a person to the other one after each undo.
async fn moved(
    call: BufferedRequest,
    server: InterceptedServer,
    undos: Undos,
    is_to_restored: bool,
) -> BufferedResponse {
    let people = undos.people(&call);
    let answer = passed(&call, &server, &undos).await;
    if let Some(people) = people.filter(|_| answer.is_success()) {
        let (from, to) = if is_to_restored {
            (&people.remaining, &people.merged)
        } else {
            (&people.merged, &people.remaining)
        };
        for url in listed(&call, &server, from, "signatures").await {
            let links = json!({ "_links": { server.rel("person"): { "href": to } } });
            change(&call, &server, &url, json_map(links)).await;
        }
    }
    answer
}

/// Deletes the items of the restored person after each undo.
async fn without_items(
    call: BufferedRequest,
    server: InterceptedServer,
    undos: Undos,
) -> BufferedResponse {
    let people = undos.people(&call);
    let answer = passed(&call, &server, &undos).await;
    if let Some(people) = people.filter(|_| answer.is_success()) {
        for url in listed(&call, &server, &people.merged, "items").await {
            server.send(deleting(&call, &url)).await;
        }
    }
    answer
}

/// Answers an undo as if it was executed.
async fn ignored(
    call: BufferedRequest,
    server: InterceptedServer,
    undos: Undos,
) -> BufferedResponse {
    let key = call.headers.get(API_KEY);
    let is_main = key.is_some_and(|key| key == "k-one");
    match undos.people(&call).filter(|_| is_main) {
        Some(people) => accepted(&call, &server, &people.remaining).await,
        None => passed(&call, &server, &undos).await,
    }
}

/// Redirects from the address of a restored person.
async fn redirected(
    call: BufferedRequest,
    server: InterceptedServer,
    undos: Undos,
) -> BufferedResponse {
    let answer = passed(&call, &server, &undos).await;
    let people = undos.restored(&call.address());
    if let Some(people) = people.filter(|_| call.method == Method::GET)
        && let Ok(target) = HeaderValue::from_str(&people.remaining)
    {
        let mut redirect = BufferedResponse::empty(301);
        redirect.headers.insert(header::LOCATION, target);
        return redirect;
    }
    answer
}

/// Accepts an undo that the server rejects with this status.
async fn accepted_instead(
    call: BufferedRequest,
    server: InterceptedServer,
    undos: Undos,
    status: u16,
) -> BufferedResponse {
    let answer = passed(&call, &server, &undos).await;
    match undos.people(&call).filter(|_| answer.status == status) {
        Some(people) => BufferedResponse::document(200, &Value::Object(people.after)),
        None => answer,
    }
}

/// Changes the remaining person when an undo is rejected.
async fn changed_by_rejection(
    call: BufferedRequest,
    server: InterceptedServer,
    undos: Undos,
) -> BufferedResponse {
    let answer = passed(&call, &server, &undos).await;
    if let Some(people) = undos.people(&call).filter(|_| answer.status == 409) {
        let fields = json_map(json!({ "honorific_suffix": "II" }));
        change(&call, &server, &people.remaining, fields).await;
    }
    answer
}

/// Lets a caller use the main key for undos.
fn lent(name: &'static str, is_lent: fn(&str) -> bool) -> Mutant {
    FAMILY.fault(name, ids::MRG_18, move || {
        Interceptor::before(move |call, _| {
            let key = call.headers.get(API_KEY).and_then(|key| key.to_str().ok());
            if is_undo(call) && is_lent(key.unwrap_or_default()) {
                let main = HeaderValue::from_static("k-one");
                call.headers.insert(API_KEY, main);
            }
            None
        })
    })
}

/// Removes the links to undos from the responses to merges.
fn without_link(call: &BufferedRequest, document: &mut Map<String, Value>) {
    let details = document.get_mut(DETAILS).and_then(Value::as_object_mut);
    if let Some(details) = details.filter(|_| is_merge(call)) {
        unlink(details, LINK);
    }
}

pub(super) fn faults() -> Vec<Mutant> {
    [people(), records(), rejections()].concat()
}

/// Faults of the link and of the two people.
fn people() -> Vec<Mutant> {
    vec![
        FAMILY.fault("no merge links to its undo", ids::MRG_20, || {
            Interceptor::documents(|call, document, _, sight| {
                without_link(call, document);
                sight.each_record(call, document, &mut |_, record| unlink(record, LIST));
            })
        }),
        FAMILY.around("an undo has no effect", ids::MRG_20, ignored),
        overwritten(
            "an undo leaves the phone numbers of the merged person",
            Side::RemainingBeforeUndo,
            |before| only(before, &["phone_numbers"]),
        ),
        overwritten(
            "an undo leaves the names of the merged person",
            Side::RemainingBeforeUndo,
            |before| only(before, &["additional_name", "honorific_suffix"]),
        ),
        overwritten(
            "a restored person has no phone numbers",
            Side::Restored,
            |_| json_map(json!({ "phone_numbers": [] })),
        ),
        overwritten(
            "a restored person loses its identifiers",
            Side::Restored,
            |_| json_map(json!({ "identifiers": [] })),
        ),
        overwritten(
            "an undo loses the name that was changed after the merge",
            Side::RemainingAfterMerge,
            |after| only(after, &["given_name"]),
        ),
        overwritten(
            "an undo subscribes the addresses of the restored person",
            Side::Restored,
            |now| {
                let mut fields = only(now, &["email_addresses"]);
                let list = fields.get_mut("email_addresses");
                for entry in objects(list.and_then(Value::as_array_mut)) {
                    set(entry, "status", "subscribed");
                }
                fields
            },
        ),
        FAMILY.around(
            "the address of a restored person redirects",
            ids::MRG_20,
            redirected,
        ),
    ]
}

/// Faults of what belongs to people.
fn records() -> Vec<Mutant> {
    vec![
        FAMILY.around(
            "an undo leaves signatures with the remaining person",
            ids::MRG_20,
            |call, server, undos| moved(call, server, undos, false),
        ),
        FAMILY.around(
            "an undo moves signatures of the remaining person",
            ids::MRG_20,
            |call, server, undos| moved(call, server, undos, true),
        ),
        FAMILY.around(
            "a restored person is on no list",
            ids::MRG_20,
            without_items,
        ),
        FAMILY.fault("an undo counts signatures twice", ids::MRG_20, || {
            let undos = Undos::default();
            Interceptor::after(move |call, answer, sight| {
                undos.learn(call, answer, &sight.rel("person"));
                answer.edit(|document| {
                    sight.each_record(call, document, &mut |kind, record| {
                        if kind == "petition" && undos.follow(record) {
                            add(record, "total_signatures", 1);
                        }
                    });
                });
            })
        }),
    ]
}

/// Faults of undos that must be rejected.
fn rejections() -> Vec<Mutant> {
    vec![
        lent("a merge is undone without a key", str::is_empty),
        lent("a merge is undone with any valid key", |key| {
            key == "k-narrow"
        }),
        FAMILY.around(
            "an undo before that of a later merge is accepted",
            ids::MRG_21,
            |call, server, undos| accepted_instead(call, server, undos, 409),
        ),
        FAMILY.around(
            "a rejected undo changes the person",
            ids::MRG_21,
            changed_by_rejection,
        ),
        FAMILY.around(
            "an undo after the deletion of the person is accepted",
            ids::MRG_21,
            |call, server, undos| accepted_instead(call, server, undos, 404),
        ),
    ]
}

/// Responds to undos with other codes and without a document. Only the list of merges has their
/// links.
fn other_codes() -> Interceptor {
    Interceptor::after(|call, answer, _| {
        if is_undo(call) {
            match answer.status {
                200 => *answer = BufferedResponse::empty(204),
                404 => *answer = BufferedResponse::empty(410),
                409 => *answer = BufferedResponse::empty(404),
                _ => {}
            }
        }
        answer.edit(|document| without_link(call, document));
    })
}

/// Shows the link to an undo only in the response to the merge. The lists of restored people have
/// another order, and their dates are those of the undo.
fn as_new() -> Interceptor {
    let undos = Undos::default();
    Interceptor::after(move |call, answer, sight| {
        undos.learn(call, answer, &sight.rel("person"));
        answer.edit(|document| {
            let restored = |record: &mut Map<String, Value>| {
                unlink(record, LIST);
                let own = link_map::href(record, "self").unwrap_or_default();
                if undos.restored(own).is_some() {
                    reverse_lists(record);
                    if let Some(list) = record.get_mut("identifiers").and_then(Value::as_array_mut)
                    {
                        list.reverse();
                    }
                    if let Some(date) = record.get("modified_date").cloned() {
                        set(record, "created_date", date);
                    }
                    set(record, "restored", true);
                }
            };
            sight.each_record(call, document, &mut |kind, record| {
                if kind == "person" {
                    restored(record);
                }
            });
            if is_merge(call) || is_undo(call) {
                unlink(document, LIST);
            }
        });
    })
}

/// Behaviour that looks like a fault but is permitted.
pub(super) fn free() -> Vec<Mutant> {
    let unusual = |name, twist: fn() -> Interceptor| {
        Mutant::new(FAMILY.family, name, &[], twist).over(BaseServer::Reference(merging))
    };
    vec![
        unusual("undos have other codes and no document", other_codes),
        unusual(
            "a restored person is the newest, with lists in another order",
            as_new,
        ),
    ]
}
