//! Batches that are executed or answered differently from single requests.

use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderName, HeaderValue};
use serde_json::{Map, Value, json};
use svc_conformance::ids;

use super::{Mutant, MutationPoint, set};
use crate::interceptor::Interceptor;
use crate::transport::{BufferedRequest, BufferedResponse};

const FAMILY: &str = "batch";
const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const PREFER: HeaderName = HeaderName::from_static("prefer");
const TOKEN: HeaderName = HeaderName::from_static("svc-api-token");

fn is_batch(call: &BufferedRequest) -> bool {
    call.uri.path().ends_with("/batch")
}

fn fault(
    name: &'static str,
    row: &'static str,
    twist: impl Fn() -> Interceptor + Send + Sync + 'static,
) -> Mutant {
    Mutant::new(FAMILY, name, &[row], twist).on_reference()
}

/// A change to the request of a batch.
fn sent(name: &'static str, row: &'static str, change: fn(&mut BufferedRequest)) -> Mutant {
    fault(name, row, move || {
        Interceptor::before(move |call, _| {
            if is_batch(call) {
                change(call);
            }
            None
        })
    })
    .at(MutationPoint::Request)
}

/// A change to the entries of an array.
fn entries(name: &'static str, row: &'static str, change: fn(&mut Vec<Value>)) -> Mutant {
    fault(name, row, move || {
        Interceptor::before(move |call, _| {
            if is_batch(call)
                && let Ok(Value::Array(mut entries)) = serde_json::from_slice(&call.body)
            {
                change(&mut entries);
                call.body = Value::Array(entries).to_string().into();
                call.headers.remove(CONTENT_LENGTH);
            }
            None
        })
    })
    .at(MutationPoint::Request)
}

/// A change to the result document of a batch.
fn told(name: &'static str, row: &'static str, change: fn(&mut Map<String, Value>)) -> Mutant {
    fault(name, row, move || {
        Interceptor::documents(move |call, document, status, _| {
            if is_batch(call) && status == 200 {
                change(document);
            }
        })
    })
}

/// A change to each result of a batch. The function also gets the number of failed results before
/// it.
fn results(
    name: &'static str,
    row: &'static str,
    change: fn(&mut Map<String, Value>, usize),
) -> Mutant {
    fault(name, row, move || {
        Interceptor::documents(move |call, document, _, _| {
            let list = document
                .get_mut("results")
                .and_then(Value::as_array_mut)
                .filter(|_| is_batch(call));
            let mut failed = 0_usize;
            for result in list.into_iter().flatten().filter_map(Value::as_object_mut) {
                change(result, failed);
                failed = failed.saturating_add(usize::from(!is_success(result)));
            }
        })
    })
}

fn is_success(result: &Map<String, Value>) -> bool {
    result
        .get("status")
        .and_then(Value::as_u64)
        .is_some_and(|status| status < 300)
}

/// A change to the response to lines.
fn lines(name: &'static str, row: &'static str, change: fn(&mut BufferedResponse)) -> Mutant {
    fault(name, row, move || {
        Interceptor::after(move |call, answer, _| {
            if is_batch(call) && answer.is_success() && !answer.is_hal() {
                change(answer);
            }
        })
    })
}

/// Replaces the key of one caller by that of another.
fn taken_for_owner(call: &mut BufferedRequest, key: Option<&str>) {
    if call.headers.get(&TOKEN).map(HeaderValue::as_bytes) == key.map(str::as_bytes) {
        call.headers
            .insert(TOKEN, HeaderValue::from_static("k-one"));
    }
}

/// A batch that is rejected although one of its entries is executed.
fn done_anyway(
    name: &'static str,
    row: &'static str,
    entry: fn(&BufferedRequest) -> Option<Value>,
) -> Mutant {
    fault(name, row, move || {
        Interceptor::around(move |call, server| {
            Box::pin(async move {
                let entry = entry(&call).filter(|entry| is_batch(&call) && entry.is_object());
                if let Some(entry) = entry {
                    let mut single = call.clone();
                    single.redirect(call.uri.to_string().trim_end_matches("/batch"));
                    single.body = entry.to_string().into();
                    single.headers.remove(CONTENT_LENGTH);
                    single
                        .headers
                        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                    single
                        .headers
                        .insert(TOKEN, HeaderValue::from_static("k-one"));
                    server.send(single).await;
                }
                server.send(call).await
            })
        })
    })
    .at(MutationPoint::Backend)
}

/// Returns the first entry of a batch, even if the array is incomplete.
fn first(call: &BufferedRequest) -> Option<Value> {
    let entries = call.body.strip_prefix(b"[")?;
    serde_json::Deserializer::from_slice(entries)
        .into_iter()
        .next()?
        .ok()
}

/// Returns the first e-mail address of an entry's person.
fn address(entry: &Value) -> Option<&str> {
    entry.pointer("/person/email_addresses/0/address")?.as_str()
}

/// Replaces the lines of a response.
fn set_lines(answer: &mut BufferedResponse, lines: &[&str]) {
    answer.body = (lines.join("\n") + "\n").into();
    answer.headers.remove(CONTENT_LENGTH);
}

fn text(answer: &BufferedResponse) -> String {
    String::from_utf8_lossy(&answer.body).into_owned()
}

pub(super) fn faults() -> Vec<Mutant> {
    [answers(), refused()].concat()
}

/// Batches that must be rejected, and are executed completely or partly.
fn refused() -> Vec<Mutant> {
    vec![
        sent(
            "an object is taken for a batch of one",
            ids::BAT_05,
            |call| {
                if let Some(object) = call.json() {
                    call.body = json!([object]).to_string().into();
                    call.headers.remove(CONTENT_LENGTH);
                }
            },
        ),
        entries(
            "what is too much of a batch is left out",
            ids::BAT_05,
            |entries| entries.truncate(1000),
        ),
        sent("a batch may be of any type", ids::BAT_05, |call| {
            let is_lines = call
                .headers
                .get(CONTENT_TYPE)
                .is_some_and(|media| media != "text/csv");
            if !is_lines {
                call.headers
                    .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            }
        }),
        sent("a batch needs no key", ids::BAT_10, |call| {
            taken_for_owner(call, None);
        }),
        sent("a batch needs no right", ids::BAT_10, |call| {
            taken_for_owner(call, Some("k-narrow"));
        }),
        sent(
            "a batch reaches containers of other tenants",
            ids::BAT_10,
            |call| taken_for_owner(call, Some("k-two")),
        ),
        done_anyway(
            "the first entry of a batch with too many is done",
            ids::BAT_05,
            |call| {
                let many = serde_json::from_slice::<Vec<Value>>(&call.body)
                    .ok()
                    .filter(|entries| entries.len() > 1000)?;
                many.into_iter().next()
            },
        ),
        done_anyway(
            "the first entry of an array that is cut off is done",
            ids::BAT_05,
            |call| {
                let is_whole = serde_json::from_slice::<Value>(&call.body).is_ok();
                first(call).filter(|_| !is_whole)
            },
        ),
        done_anyway(
            "an object in the place of a batch is refused and done",
            ids::BAT_05,
            |call| call.json().map(Value::Object),
        ),
        done_anyway(
            "an entry of a batch of another type is done",
            ids::BAT_05,
            |call| {
                first(call).filter(|_| {
                    call.headers
                        .get(CONTENT_TYPE)
                        .is_some_and(|media| media == "text/csv")
                })
            },
        ),
        done_anyway(
            "an entry of a batch without a key is done",
            ids::BAT_10,
            |call| first(call).filter(|_| !call.headers.contains_key(&TOKEN)),
        ),
        done_anyway(
            "an entry of a batch without the right is done",
            ids::BAT_10,
            |call| {
                first(call).filter(|_| {
                    call.headers
                        .get(&TOKEN)
                        .is_some_and(|key| key == "k-narrow")
                })
            },
        ),
        done_anyway(
            "an entry for a container of another tenant is done",
            ids::BAT_10,
            |call| {
                first(call).filter(|_| call.headers.get(&TOKEN).is_some_and(|key| key == "k-two"))
            },
        ),
    ]
}

/// Batches that are executed or answered differently.
fn answers() -> Vec<Mutant> {
    vec![
        results(
            "entries of a batch are refused with a status of their own",
            ids::BAT_01,
            |result, _| {
                if !is_success(result) {
                    set(result, "status", 422);
                }
            },
        ),
        results(
            "entries of a batch are refused without a reason",
            ids::BAT_01,
            |result, _| {
                if !is_success(result) {
                    result.remove("body");
                }
            },
        ),
        told(
            "a batch counts what failed as done",
            ids::BAT_02,
            |document| {
                let total = document.get("total").cloned().unwrap_or_default();
                set(document, "succeeded", total);
            },
        ),
        told(
            "the results of a batch begin with the last",
            ids::BAT_02,
            |document| {
                if let Some(list) = document.get_mut("results").and_then(Value::as_array_mut) {
                    list.reverse();
                }
            },
        ),
        told(
            "a batch returns only failed entries",
            ids::BAT_02,
            |document| {
                if let Some(list) = document.get_mut("results").and_then(Value::as_array_mut) {
                    list.retain(|result| {
                        result.as_object().is_some_and(|result| !is_success(result))
                    });
                }
            },
        ),
        results(
            "results of a batch have dangling links",
            ids::BAT_02,
            |result, _| {
                if let Some(Value::String(href)) = result.get_mut("href") {
                    href.push_str("/batch");
                }
            },
        ),
        // A repeated entry does not find the record of the first one, and so matches no person.
        entries(
            "entries of a batch do not see each other",
            ids::BAT_03,
            |entries| {
                let sent = entries.clone();
                for (place, entry) in entries.iter_mut().enumerate() {
                    let is_again = sent
                        .iter()
                        .take(place)
                        .any(|before| before == entry && before.is_object());
                    if let Some(person) = entry
                        .get_mut("person")
                        .and_then(Value::as_object_mut)
                        .filter(|_| is_again)
                    {
                        person.remove("identifiers");
                        person.remove("email_addresses");
                    }
                }
            },
        ),
        entries(
            "entries of a batch do not see each other's addresses",
            ids::BAT_03,
            |entries| {
                let sent = entries.clone();
                for (place, entry) in entries.iter_mut().enumerate() {
                    let is_known = address(entry).is_some_and(|own| {
                        sent.iter().take(place).any(|one| address(one) == Some(own))
                    });
                    if let Some(person) = entry
                        .get_mut("person")
                        .and_then(Value::as_object_mut)
                        .filter(|_| is_known)
                    {
                        person.remove("email_addresses");
                    }
                }
            },
        ),
        entries(
            "entries of a batch call no functions",
            ids::BAT_01,
            |entries| {
                for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
                    entry.retain(|name, _| !name.starts_with("add_"));
                }
            },
        ),
        results(
            "an entry of a batch shows its first error only",
            ids::BAT_01,
            |result, _| {
                let entries = result
                    .get_mut("body")
                    .and_then(Value::as_object_mut)
                    .into_iter()
                    .flat_map(Map::values_mut);
                let entries = entries
                    .filter_map(|error| error.get_mut("resource_status")?.as_array_mut())
                    .flatten();
                for list in
                    entries.filter_map(|entry| entry.get_mut("error_descriptions")?.as_array_mut())
                {
                    list.truncate(1);
                }
            },
        ),
        sent("lines with CR LF are refused", ids::BAT_08, |call| {
            let text = String::from_utf8_lossy(&call.body).replace("\r\n", "\u{1}\n");
            call.body = text.into();
            call.headers.remove(CONTENT_LENGTH);
        }),
        results(
            "an entry of a batch that is refused ends it",
            ids::BAT_04,
            |result, failed| {
                if failed > 0 {
                    set(result, "status", 424);
                    result.remove("href");
                }
            },
        ),
        sent("batches ignore idempotency keys", ids::BAT_06, |call| {
            drop(call.headers.remove(KEY));
        }),
        lines(
            "lines are answered as another type",
            ids::BAT_08,
            |answer| {
                answer
                    .headers
                    .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            },
        ),
        lines("lines end without totals", ids::BAT_08, |answer| {
            let text = text(answer);
            let lines: Vec<&str> = text.lines().collect();
            set_lines(answer, lines.split_last().map_or(&[], |(_, rest)| rest));
        }),
        lines(
            "a batch of lines omits failed entries",
            ids::BAT_08,
            |answer| {
                let text = text(answer);
                let lines: Vec<&str> = text
                    .lines()
                    .filter(|line| !line.contains("\"status\":400"))
                    .collect();
                set_lines(answer, &lines);
            },
        ),
        sent("batches ignore preferences", ids::BAT_09, |call| {
            drop(call.headers.remove(PREFER));
        }),
    ]
}

/// Behaviour that looks like a fault but is permitted.
pub(super) fn free() -> Vec<Mutant> {
    let free = |name: &'static str, fault: Mutant| Mutant {
        name: name.to_owned(),
        rows: Vec::new(),
        ..fault
    };
    vec![
        free(
            "results say more",
            results("", "", |result, failed| {
                set(result, "failed_before", failed);
            }),
        ),
        free(
            "lines say what they are written in",
            lines("", "", |answer| {
                let media = answer
                    .headers
                    .get(CONTENT_TYPE)
                    .and_then(|media| media.to_str().ok())
                    .unwrap_or_default();
                let media = HeaderValue::try_from(format!("{media}; charset=utf-8"));
                if let Ok(media) = media {
                    answer.headers.insert(CONTENT_TYPE, media);
                }
            }),
        ),
    ]
}
