//! Updates that link an action to another person, and are executed only in part.

use std::collections::{HashMap, HashSet};

use http::Method;
use serde_json::{Map, Value};
use svc_conformance::ids;

use super::{BaseServer, Mutant, MutationPoint, add, links};
use crate::interceptor::Interceptor;
use crate::link_map::{self, LinkMap, ResourceKind};
use crate::transport::{BufferedRequest, address};

const FAMILY: &str = "moves";

fn fault(
    name: &'static str,
    rows: &[&str],
    twist: impl Fn() -> Interceptor + Send + Sync + 'static,
) -> Mutant {
    Mutant::new(FAMILY, name, rows, twist).at(MutationPoint::Backend)
}

/// Returns the link to a person in an update of a record.
fn sent_person(call: &BufferedRequest, sight: &LinkMap) -> Option<Value> {
    let is_update = call.method == Method::PUT
        && matches!(sight.what(call), Some(ResourceKind::Record(kind)) if kind != "person");
    let links = call.json().filter(|_| is_update)?.remove("_links")?;
    links.get(sight.rel("person")).cloned()
}

/// Replaces the link to the person.
fn show(record: &mut Map<String, Value>, person: &Value, sight: &LinkMap) {
    if let Some(links) = links(record) {
        links.insert(sight.rel("person"), person.clone());
    }
}

/// Returns the address of a link of a record.
fn linked(record: &Map<String, Value>, rel: &str) -> Option<String> {
    link_map::href(record, rel).map(address)
}

/// Links to the new person in every representation, but lists the action for the old one.
fn only_the_link() -> Interceptor {
    let mut moved: HashMap<String, Value> = HashMap::new();
    Interceptor::documents(move |call, document, status, sight| {
        if let Some(person) = sent_person(call, sight).filter(|_| status == 200) {
            moved.insert(call.address(), person);
        }
        sight.each_record(call, document, &mut |_, record| {
            if let Some(person) = linked(record, "self").and_then(|own| moved.get(&own)) {
                show(record, person, sight);
            }
        });
    })
}

/// Links to the new person only in the response to the update.
fn only_the_answer() -> Interceptor {
    Interceptor::documents(|call, document, status, sight| {
        if let Some(person) = sent_person(call, sight).filter(|_| status == 200) {
            show(document, &person, sight);
        }
    })
}

/// Counts a moved action also for the person who had it.
fn former_total() -> Interceptor {
    let mut people: HashMap<String, String> = HashMap::new();
    let mut former: HashSet<(String, &'static str)> = HashSet::new();
    Interceptor::documents(move |call, document, status, sight| {
        let is_move = status == 200 && sent_person(call, sight).is_some();
        sight.each_record(call, document, &mut |kind, record| {
            let (own, person) = (linked(record, "self"), linked(record, &sight.rel("person")));
            if let (Some(own), Some(person)) = (own, person) {
                let known = people.insert(own, person.clone());
                if is_move && let Some(known) = known.filter(|known| *known != person) {
                    former.remove(&(person, kind));
                    former.insert((known, kind));
                }
            }
        });
        let listed = sight.nested.get(&call.address());
        if let (Some((owner, _)), Some(ResourceKind::Collection(kind))) = (listed, sight.what(call))
            && former.contains(&(owner.clone(), kind))
        {
            add(document, "total_records", 1);
        }
    })
}

pub(super) fn faults() -> Vec<Mutant> {
    vec![
        fault(
            "another person has the link and not the action",
            &["COL-*"],
            only_the_link,
        ),
        fault(
            "an update shows another person once",
            &[ids::ERR_15],
            only_the_answer,
        ),
        fault(
            "a moved action is also counted for its former person",
            &[ids::COL_23],
            former_total,
        )
        .over(BaseServer::SecondServer(|options| {
            options.moves_actions = true;
        })),
    ]
}
