//! Schedules, and updates without another value, whose dates and entries of the feed do not agree.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use svc_conformance::ids;

use super::feed::{about, is_feed};
use super::{Mutant, MutationPoint, members, set};
use crate::interceptor::Interceptor;
use crate::link_map;
use crate::transport::address;

const FAMILY: &str = "changes";

fn fault(
    name: &'static str,
    rows: &[&str],
    twist: impl Fn() -> Interceptor + Send + Sync + 'static,
) -> Mutant {
    Mutant::new(FAMILY, name, rows, twist)
        .on_reference()
        .at(MutationPoint::Backend)
}

/// Removes the entries of messages that are changed by their helper.
fn no_schedules() -> Interceptor {
    let mut updated: HashSet<String> = HashSet::new();
    Interceptor::documents(move |call, document, _, _| {
        if call.method == "PUT" {
            updated.insert(call.address());
        }
        if let Some(entries) = members(document).filter(|_| is_feed(call)) {
            entries.retain(|entry| {
                entry["kind"] != "message"
                    || entry["what"] != "changed"
                    || about(entry).is_some_and(|own| updated.contains(&own))
            });
        }
    })
}

/// Shows a message whose schedule was cancelled with the date of its schedule.
fn date_of_schedule() -> Interceptor {
    let mut scheduled: HashMap<String, Value> = HashMap::new();
    Interceptor::records("message", move |record, _| {
        let (Some(own), Some(date)) = (
            link_map::href(record, "self").map(address),
            record.get("modified_date").cloned(),
        ) else {
            return;
        };
        if record.contains_key("scheduled_start_date") {
            scheduled.insert(own, date);
        } else if let Some(date) = scheduled.get(&own) {
            set(record, "modified_date", date.clone());
        }
    })
}

/// Shows a later date after an update without another value.
fn later_date() -> Interceptor {
    let mut dates: HashMap<String, Value> = HashMap::new();
    let mut later: HashMap<String, Value> = HashMap::new();
    Interceptor::documents(move |call, document, status, sight| {
        let is_update = call.method == "PUT" && status == 200;
        sight.each_record(call, document, &mut |_, record| {
            let (Some(own), Some(date)) = (
                link_map::href(record, "self").map(address),
                record.get("modified_date").cloned(),
            ) else {
                return;
            };
            if is_update && dates.get(&own) == Some(&date) {
                later.insert(own.clone(), date.clone());
            }
            if later.get(&own) == Some(&date) {
                set(record, "modified_date", next(&date));
            }
            dates.insert(own, date);
        });
    })
}

/// Returns the smallest later date of the same form.
fn next(date: &Value) -> Value {
    let later = || {
        let (seconds, fraction) = date.as_str()?.strip_suffix('Z')?.split_once('.')?;
        let width = fraction.len();
        let more = fraction.parse::<u64>().ok()?.checked_add(1)?;
        Some(json!(format!("{seconds}.{more:0width$}Z")))
            .filter(|_| more.to_string().len() <= width)
    };
    later().unwrap_or_else(|| date.clone())
}

pub(super) fn faults() -> Vec<Mutant> {
    vec![
        fault(
            "the feed lacks messages that are scheduled",
            &[ids::SYN_02],
            no_schedules,
        ),
        fault(
            "a cancelled schedule has no date of its own",
            &[ids::CRU_19, ids::SYN_02],
            date_of_schedule,
        ),
        fault(
            "an update without another value has a date and no entry",
            &[ids::SYN_02],
            later_date,
        ),
    ]
}
