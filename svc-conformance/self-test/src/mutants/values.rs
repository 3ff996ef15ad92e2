//! Values that are returned differently from what was sent, and common fields.

use serde_json::{Map, Value, json};
use svc_conformance::ids;

use super::{Mutant, MutationPoint, links, set};
use crate::interceptor::Interceptor;
use crate::link_map::ResourceKind;

/// Requirements that may fail for a damaged value, in any field.
const TEXT: [&str; 2] = [ids::TYP_01, "RES-*"];

/// Calls a function with every value of a record, at any depth, and the name of its field.
fn every_value(record: &mut Map<String, Value>, act: &mut dyn FnMut(&str, &mut Value)) {
    const OWN: [&str; 7] = [
        "_links",
        "identifiers",
        "created_date",
        "modified_date",
        "id",
        "number",
        "question",
    ];
    for (name, value) in record
        .iter_mut()
        .filter(|(name, _)| !OWN.contains(&name.as_str()))
    {
        walk(name, value, act);
    }
}

fn walk(name: &str, value: &mut Value, act: &mut dyn FnMut(&str, &mut Value)) {
    match value {
        Value::Object(object) => every_value(object, act),
        Value::Array(list) if list.iter().any(Value::is_object) => {
            for value in list {
                walk(name, value, act);
            }
        }
        Value::Array(list) => {
            for value in &mut *list {
                act(name, value);
            }
            act(name, &mut Value::Null);
        }
        value => act(name, value),
    }
}

/// Damages every text.
fn text(name: &'static str, change: fn(&str) -> String) -> Mutant {
    Mutant::new("text damaged", name, &TEXT, move || {
        Interceptor::records("*", move |record, _| {
            every_value(record, &mut |_, value| {
                if let Value::String(text) = value {
                    *text = change(text);
                }
            });
        })
    })
}

/// Damages every number.
fn number(name: &'static str, rows: &[&str], change: fn(&Value) -> Option<Value>) -> Mutant {
    Mutant::new("number damaged", name, rows, move || {
        Interceptor::records("*", move |record, _| {
            every_value(record, &mut |name, value| {
                if value.is_number()
                    && !name.starts_with("total_")
                    && let Some(changed) = change(value)
                {
                    *value = changed;
                }
            });
        })
    })
}

/// A change to texts that are timestamps or dates.
fn date(
    name: &'static str,
    rows: &[&str],
    is_it: fn(&str) -> bool,
    change: fn(&str) -> String,
) -> Mutant {
    Mutant::new("date shifted", name, rows, move || {
        Interceptor::records("*", move |record, _| {
            every_value(record, &mut |name, value| {
                if let Value::String(text) = value
                    && name.ends_with("_date")
                    && is_it(text)
                {
                    *text = change(text);
                }
            });
        })
    })
}

fn is_timestamp(text: &str) -> bool {
    text.len() > 18 && text.contains('T') && text.ends_with('Z')
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.bytes().filter(|byte| *byte == b'-').count() == 2
}

/// Calls a function with the lists of a record.
fn lists(record: &mut Map<String, Value>, act: &mut dyn FnMut(&str, &mut Vec<Value>)) {
    for (name, value) in record
        .iter_mut()
        .filter(|(name, _)| !["_links", "identifiers"].contains(&name.as_str()))
    {
        if let Value::Array(list) = value {
            act(name, list);
        }
    }
}

fn list(name: &'static str, rows: &[&str], change: fn(&mut Vec<Value>)) -> Mutant {
    Mutant::new("list damaged", name, rows, move || {
        Interceptor::records("*", move |record, _| {
            lists(record, &mut |_, list| change(list));
        })
    })
}

/// A change to a common field of every record.
fn common(name: &'static str, rows: &[&str], change: fn(&mut Map<String, Value>)) -> Mutant {
    Mutant::new("common field", name, rows, move || {
        Interceptor::records("*", move |record, _| change(record))
    })
}

fn identifiers(record: &mut Map<String, Value>) -> Option<&mut Vec<Value>> {
    record.get_mut("identifiers").and_then(Value::as_array_mut)
}

pub(super) fn faults() -> Vec<Mutant> {
    let mut faults = texts();
    faults.extend(numbers());
    faults.extend(commons());
    faults
}

fn texts() -> Vec<Mutant> {
    vec![
        text("texts are in small letters", str::to_lowercase).on_reference(),
        text("texts lose what is beyond 16 bits", |text| {
            text.chars()
                .filter(|one| u32::from(*one) < 0x1_0000)
                .collect()
        }),
        text("texts lose what is beyond ASCII", |text| {
            text.chars()
                .map(|one| if one.is_ascii() { one } else { '?' })
                .collect()
        })
        .on_reference(),
        text("texts are escaped for HTML", |text| {
            text.replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;")
                .replace('"', "&quot;")
        }),
        text("texts have doubled quotes", |text| {
            text.replace('\'', "''").replace('"', "\"\"")
        }),
        text("texts are cut at 40 characters", |text| {
            text.chars().take(40).collect()
        }),
        text("combining marks are lost", |text| {
            text.chars()
                .filter(|one| !('\u{300}'..='\u{36f}').contains(one))
                .collect()
        }),
        text("combining marks are composed", |text| {
            text.replace("e\u{301}", "é")
                .replace("a\u{308}", "ä")
                .replace("u\u{308}", "ü")
                .replace("n\u{303}", "ñ")
        }),
        text("line ends become spaces", |text| {
            text.replace(['\n', '\t'], " ")
        }),
        text("runs of spaces become one", |text| {
            text.split(' ')
                .filter(|word| !word.is_empty())
                .collect::<Vec<_>>()
                .join(" ")
        }),
        Mutant::new(
            "text damaged",
            "an empty text is null",
            &[ids::TYP_01, "RES-*", "CRU-*"],
            || {
                Interceptor::records("*", |record, _| {
                    every_value(record, &mut |_, value| {
                        if value.as_str() == Some("") {
                            *value = "(none)".into();
                        }
                    });
                })
            },
        ),
        date(
            "timestamps are shifted by an hour",
            &[ids::TYP_06, "RES-*"],
            is_timestamp,
            |text| {
                let hour: u32 = text
                    .get(11..13)
                    .and_then(|hour| hour.parse().ok())
                    .unwrap_or_default();
                let (before, after) = (
                    text.get(..11).unwrap_or_default(),
                    text.get(13..).unwrap_or_default(),
                );
                format!("{before}{:02}{after}", (hour + 1) % 24)
            },
        )
        .on_reference(),
        date(
            "timestamps lose their time",
            &[ids::TYP_06, "RES-*"],
            is_timestamp,
            |text| format!("{}T00:00:00Z", text.get(..10).unwrap_or_default()),
        ),
        date(
            "timestamps are texts for people",
            &[ids::TYP_06, "RES-*"],
            is_timestamp,
            |text| {
                text.get(..10)
                    .unwrap_or_default()
                    .split('-')
                    .rev()
                    .collect::<Vec<_>>()
                    .join(".")
            },
        ),
        date(
            "dates are a day early",
            &[ids::TYP_07, ids::RES_EVENT_25],
            is_date,
            |text| {
                let day: u32 = text.get(8..).and_then(|day| day.parse().ok()).unwrap_or(1);
                format!(
                    "{}{:02}",
                    text.get(..8).unwrap_or_default(),
                    if day > 1 { day - 1 } else { 2 }
                )
            },
        ),
        date(
            "dates are timestamps",
            &[ids::TYP_07, ids::RES_EVENT_25],
            is_date,
            |text| format!("{text}T00:00:00Z"),
        )
        .on_reference(),
        date(
            "no 29th of February",
            &[ids::TYP_07, ids::RES_EVENT_25],
            is_date,
            |text| text.replace("-02-29", "-03-01"),
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table of faults")]
fn numbers() -> Vec<Mutant> {
    vec![
        number(
            "numbers pass through 32 bits",
            &[ids::TYP_03, ids::TYP_04, "RES-*"],
            |value| {
                let float = value.as_f64().filter(|float| float.fract() != 0.0)?;
                // As text, so that no cast hides the change.
                let narrow: f32 = float.to_string().parse().ok()?;
                Some(json!(f64::from(narrow)))
            },
        ),
        number(
            "numbers lose their fraction",
            &[ids::TYP_03, ids::TYP_04, "RES-*"],
            |value| {
                let float = value.as_f64().filter(|float| float.fract() != 0.0)?;
                Some(json!(float.trunc()))
            },
        )
        .on_reference(),
        number(
            "numbers have two decimals",
            &[ids::TYP_03, "RES-postal_address-*"],
            |value| {
                let float = value.as_f64().filter(|float| float.fract() != 0.0)?;
                Some(json!((float * 100.0).round() / 100.0))
            },
        ),
        number(
            "integers have a fraction",
            &[ids::TYP_02, "RES-*"],
            |value| {
                value
                    .as_i64()
                    .and_then(|whole| format!("{whole}.5").parse().ok())
            },
        ),
        number("integers keep 16 bits", &[ids::TYP_02, "RES-*"], |value| {
            value
                .as_i64()
                .filter(|whole| *whole > 0x7fff)
                .map(|whole| json!(whole & 0x7fff))
        }),
        number(
            "negative numbers lose their sign",
            &[ids::TYP_02, ids::TYP_03, "RES-*"],
            |value| {
                value
                    .as_f64()
                    .filter(|float| *float < 0.0)
                    .map(|float| json!(-float))
            },
        )
        .on_reference(),
        Mutant::new(
            "number damaged",
            "what is false is left out",
            &[ids::TYP_05, "RES-*"],
            || {
                Interceptor::records("*", |record, _| {
                    every_value(record, &mut |_, value| {
                        if *value == Value::Bool(false) {
                            *value = Value::Null;
                        }
                    });
                })
            },
        ),
        Mutant::new(
            "number damaged",
            "what is false is true",
            &[ids::TYP_05, "RES-*"],
            || {
                Interceptor::records("*", |record, _| {
                    every_value(record, &mut |_, value| {
                        if *value == Value::Bool(false) {
                            *value = true.into();
                        }
                    });
                })
            },
        )
        .on_reference(),
        list(
            "lists are reversed",
            &[ids::TYP_12, ids::CRU_18, "RES-*"],
            |list| list.reverse(),
        ),
        list(
            "lists keep three at most",
            &[ids::TYP_12, ids::CRU_18, "RES-*"],
            |list| list.truncate(3),
        ),
        list(
            "lists keep two at most",
            &[ids::TYP_12, ids::CRU_18, ids::RES_SHARE_OPTIONS_02, "RES-*"],
            |list| {
                list.truncate(2);
            },
        ),
        list(
            "share options and all lists keep one",
            &[ids::RES_SHARE_OPTIONS_02, ids::TYP_12, ids::CRU_18, "RES-*"],
            |list| {
                list.truncate(1);
            },
        )
        .on_reference(),
        list(
            "lists repeat their first",
            &[ids::TYP_12, ids::CRU_18, "RES-*"],
            |list| {
                if let Some(first) = list.first().cloned() {
                    list.push(first);
                }
            },
        ),
        repeated("ethnicities", ids::RES_PERSON_16),
        repeated("languages_spoken", ids::RES_PERSON_17),
        primaries("postal_addresses", ids::RES_POSTAL_ADDRESS_02, json!(true)),
        primaries("email_addresses", ids::RES_EMAIL_ADDRESS_02, json!(true)),
        primaries("phone_numbers", ids::RES_PHONE_NUMBER_02, json!("true")),
        Mutant::new(
            "shared object",
            "phone numbers with a plus",
            &[ids::RES_PHONE_NUMBER_03, ids::LIM_03],
            || {
                Interceptor::records("*", |record, _| {
                    for phone in record
                        .get_mut("phone_numbers")
                        .and_then(Value::as_array_mut)
                        .into_iter()
                        .flatten()
                    {
                        if let Some(Value::String(number)) = phone.get_mut("number") {
                            number.insert(0, '+');
                        }
                    }
                })
            },
        ),
        Mutant::new(
            "shared object",
            "network names of others",
            &[ids::HAL_11, "RES-share_options-*"],
            || {
                Interceptor::records("*", |record, _| {
                    for option in record
                        .get_mut("share_options")
                        .and_then(Value::as_array_mut)
                        .into_iter()
                        .flatten()
                    {
                        let Some(option) = option.as_object_mut() else {
                            continue;
                        };
                        for (own, other) in [
                            ("network_a_share", "facebook_share"),
                            ("network_b_share", "twitter_share"),
                        ] {
                            if let Some(share) = option.remove(own) {
                                set(option, other, share);
                            }
                        }
                    }
                })
            },
        )
        .on_reference(),
        Mutant::new(
            "shared object",
            "handles begin with an at sign",
            &[ids::RES_PERSON_35],
            || {
                Interceptor::records("person", |record, _| {
                    for profile in record
                        .get_mut("profiles")
                        .and_then(Value::as_array_mut)
                        .into_iter()
                        .flatten()
                    {
                        if let Some(Value::String(handle)) = profile.get_mut("handle") {
                            handle.insert(0, '@');
                        }
                    }
                })
            },
        ),
        Mutant::new(
            "shared object",
            "keys of responses with a dash",
            &[ids::RES_QUESTION_08],
            || {
                Interceptor::records("question", |record, _| {
                    for response in record
                        .get_mut("responses")
                        .and_then(Value::as_array_mut)
                        .into_iter()
                        .flatten()
                    {
                        if let Some(Value::String(key)) = response.get_mut("key") {
                            key.insert(0, '-');
                        }
                    }
                })
            },
        ),
        Mutant::new(
            "shared object",
            "gender does not follow a plain identity",
            &[ids::RES_PERSON_08],
            || gender(true),
        ),
        Mutant::new(
            "shared object",
            "gender does not follow a compound identity",
            &[ids::RES_PERSON_09],
            || gender(false),
        ),
        referrer("referrer data of attendances are lost", "attendance"),
        referrer("referrer data of outreaches are lost", "outreach"),
        Mutant::new(
            "shared object",
            "targets of outreaches are lost",
            &[ids::RES_TARGET_01, ids::RES_OUTREACH_09],
            || Interceptor::records("outreach", |record, _| drop(record.remove("targets"))),
        ),
        Mutant::new(
            "shared object",
            "share options of share pages are lost",
            &[ids::RES_SHARE_OPTIONS_01, ids::RES_SHARE_PAGE_10],
            || {
                Interceptor::records("share_page", |record, _| {
                    drop(record.remove("share_options"));
                })
            },
        ),
    ]
}

fn referrer(name: &'static str, kind: &'static str) -> Mutant {
    Mutant::new(
        "shared object",
        name,
        &[
            ids::RES_REFERRER_DATA_01,
            ids::RES_ATTENDANCE_07,
            ids::RES_OUTREACH_08,
        ],
        move || Interceptor::records(kind, |record, _| drop(record.remove("referrer_data"))),
    )
}

/// Removes `gender`, which the server derives: for the identities `Female` and `Male` if `plain`,
/// otherwise for all other ones.
fn gender(plain: bool) -> Interceptor {
    Interceptor::records("person", move |record, _| {
        let identity = record
            .get("gender_identity")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if !identity.is_empty() && matches!(identity, "Female" | "Male") == plain {
            record.remove("gender");
        }
    })
}

/// Repeats the first value of a list of unique values.
fn repeated(field: &'static str, row: &'static str) -> Mutant {
    Mutant::new(
        "list damaged",
        format!("{field} twice"),
        &[row],
        move || {
            Interceptor::records("person", move |record, _| {
                if let Some(list) = record.get_mut(field).and_then(Value::as_array_mut)
                    && let Some(first) = list.first().cloned()
                {
                    list.push(first);
                }
            })
        },
    )
}

/// Marks every element of a list as the primary one.
fn primaries(field: &'static str, row: &'static str, primary: Value) -> Mutant {
    Mutant::new(
        "shared object",
        format!("all {field} are primary"),
        &[row],
        move || {
            let primary = primary.clone();
            Interceptor::records("person", move |record, _| {
                for one in record
                    .get_mut(field)
                    .and_then(Value::as_array_mut)
                    .into_iter()
                    .flatten()
                {
                    if let Some(one) = one.as_object_mut() {
                        set(one, "primary", primary.clone());
                    }
                }
            })
        },
    )
}

fn commons() -> Vec<Mutant> {
    vec![
        common("no identifiers", &[ids::TYP_13, ids::ENT_08, "CRU-*", ids::HAL_16], |record| drop(record.remove("identifiers"))),
        common("identifiers without a system", &[ids::TYP_13, ids::ENT_08, "CRU-*"], |record| {
            for one in identifiers(record).into_iter().flatten() {
                if let Value::String(text) = one {
                    *text = text.rsplit(':').next().unwrap_or_default().to_owned();
                }
            }
        }),
        common("an identifier without an id", &[ids::TYP_13], |record| {
            if let Some(list) = identifiers(record) {
                list.push("legacy:".into());
            }
        })
        .on_reference(),
        common("identifiers twice", &[ids::TYP_14], |record| {
            if let Some(list) = identifiers(record) {
                list.extend(list.clone());
            }
        }),
        common("identifiers of others are lost", &[ids::TYP_13, "CRU-*"], |record| {
            if let Some(list) = identifiers(record) {
                let own = list.iter().position(|one| one.as_str().is_some_and(|one| one.starts_with("second:")));
                *list = own.and_then(|at| list.get(at).cloned()).into_iter().collect();
            }
        }),
        common("the server's own identifier is missing", &[ids::ENT_08, ids::CRU_03], |record| {
            if let Some(list) = identifiers(record) {
                list.retain(|one| !one.as_str().is_some_and(|one| one.starts_with("second:")));
            }
        }),
        common("no created_date", &[ids::TYP_15, ids::CRU_03], |record| drop(record.remove("created_date"))),
        common("no modified_date", &[ids::TYP_16, ids::CRU_03], |record| drop(record.remove("modified_date"))).on_reference(),
        common("created_date in seconds", &[ids::TYP_15, ids::TYP_06], |record| set(record, "created_date", 1_767_603_600)),
        common("created_date of long ago", &[ids::TYP_15], |record| set(record, "created_date", "2001-02-03T04:05:06Z")),
        common("modified before it was created", &[ids::TYP_16], |record| set(record, "modified_date", "2001-02-03T04:05:06Z")),
        common("created_date moves with modified_date", &[ids::TYP_15], |record| {
            if let Some(modified) = record.get("modified_date").cloned() {
                set(record, "created_date", modified);
            }
        }),
        sent_dates("created_date is taken from the client", "created_date", ids::TYP_15),
        sent_dates("modified_date is taken from the client", "modified_date", ids::TYP_16),
        Mutant::new("common field", "helpers take created_date", &[ids::TYP_17, ids::TYP_15], || taken("created_date", true)).at(MutationPoint::Backend),
        Mutant::new("common field", "omitted fields are filled", &[ids::CAP_08], || {
            Interceptor::alone("*", |call, record, _| {
                if call.method == "POST" && !record.contains_key("summary") {
                    set(record, "summary", "No summary yet");
                }
            })
        }),
        Mutant::new("common field", "a create with few fields is refused", &[ids::CAP_08, "CRU-*", ids::ERR_13], || {
            Interceptor::before(|call, sight| {
                let body = call.json()?;
                let is_create = call.method == "POST" && matches!(sight.what(call), Some(ResourceKind::Collection("petition" | "event" | "form")));
                (is_create && !body.contains_key("title")).then(|| {
                    crate::transport::BufferedResponse::document(400, &json!({ sight.rel("error"): {
                        "request_type": "atomic", "response_code": 400, "resource_status": [{
                            "resource": sight.rel("petition"), "response_code": 400, "error_descriptions": [{
                                "error_code": "TITLE_MISSING", "description": "A title is needed.", "properties": ["title"]
                            }]
                        }]
                    }}))
                })
            })
        })
        .at(MutationPoint::Request),
        Mutant::new("common field", "a person's id is a number", &[ids::HLP_20], || {
            Interceptor::records("person", |record, _| set(record, "id", 17))
        }),
        Mutant::new("common field", "a person has no id", &[ids::HLP_20], || Interceptor::records("person", |record, _| drop(record.remove("id")))).on_reference(),
        Mutant::new("link missing", "embedded records without self", &[ids::HAL_08, ids::COL_25, ids::HAL_16, "RES-*"], || {
            Interceptor::pages(|_, page, _| {
                for member in super::members(page).into_iter().flatten().filter_map(Value::as_object_mut) {
                    drop(links(member).and_then(|links| links.remove("self")));
                }
            })
        }),
    ]
}

fn sent_dates(name: &'static str, field: &'static str, row: &'static str) -> Mutant {
    Mutant::new(
        "common field",
        name,
        &[row, ids::CRU_16, ids::CAP_06],
        move || taken(field, false),
    )
    .at(MutationPoint::Backend)
}

/// Returns a date that clients sent instead of the server's.
fn taken(field: &'static str, only_helpers: bool) -> Interceptor {
    let mut sent: Vec<(String, Value)> = Vec::new();
    Interceptor::after(move |call, answer, sight| {
        let Some(Value::Object(mut document)) = answer.json() else {
            return;
        };
        if call.is_write()
            && answer.is_success()
            && (!only_helpers || matches!(sight.what(call), Some(ResourceKind::Helper(_))))
        {
            let body = call.json().unwrap_or_default();
            let value = body.get(field).or_else(|| body.get("person")?.get(field));
            if let (Some(value), Some(own)) = (value, crate::link_map::href(&document, "self")) {
                sent.push((own.to_owned(), value.clone()));
            }
        }
        let mut changed = false;
        sight.each_record(call, &mut document, &mut |_, record| {
            let own = crate::link_map::href(record, "self")
                .unwrap_or_default()
                .to_owned();
            if let Some((_, value)) = sent.iter().rev().find(|(known, _)| *known == own) {
                set(record, field, value.clone());
                changed = true;
            }
        });
        if changed {
            answer.set_json(&Value::Object(document));
        }
    })
}
