//! Faults of a backend: limits, schedules, sums, clocks.

use serde_json::{Value, json};
use svc_conformance::ids;

use super::{BaseServer, Mutant, MutationPoint, set};
use crate::independent_server::Defect;
use crate::independent_server::{ServerOptions, SimulatedClock};
use crate::interceptor::Interceptor;

/// A fault in the backend of the second service.
fn behind(name: &'static str, rows: &[&str], set_up: fn(&mut ServerOptions)) -> Mutant {
    Mutant::new("backend", name, rows, Interceptor::default)
        .over(BaseServer::SecondServer(set_up))
        .at(MutationPoint::Backend)
}

/// A clock that is wrong.
fn clock(name: &'static str, rows: &[&str], set_up: fn(&mut ServerOptions)) -> Mutant {
    Mutant::new("clock", name, rows, Interceptor::default)
        .over(BaseServer::SecondServer(set_up))
        .at(MutationPoint::Clock)
}

/// A clock that is wrong by `seconds`.
fn off_by(seconds: i64) -> SimulatedClock {
    let right = SimulatedClock::system();
    SimulatedClock::new(move || {
        right
            .now()
            .saturating_add(seconds.saturating_mul(1_000_000))
    })
}

pub(super) fn faults() -> Vec<Mutant> {
    vec![
        behind("one attendance too many", &[ids::LIM_04], |options| {
            options.defects.push(Defect::CapacityOffByOne);
        }),
        behind("tickets are sold out and sold", &[ids::LIM_05], |options| {
            options.defects.push(Defect::TicketLimitIgnored);
        }),
        behind("a cancelled schedule stays", &[ids::SCH_04], |options| {
            options.defects.push(Defect::ScheduleNotCancelled);
        }),
        behind(
            "a helper forgets its taggings",
            &[
                ids::HAF_02,
                ids::HAF_04,
                ids::HAF_05,
                ids::HAF_06,
                ids::HAF_01,
            ],
            |options| {
                options.defects.push(Defect::HelperWithoutTagging);
            },
        ),
        behind(
            "the second foreign identifier is dropped",
            &[ids::TYP_13, "CRU-*"],
            |options| {
                options.defects.push(Defect::DropsSecondIdentifier);
            },
        ),
        behind(
            "custom fields under an undeclared prefix",
            &[ids::RES_PERSON_36],
            |options| {
                options.custom_field_prefix.push_str("vendor_");
            },
        )
        .and_undeclared(),
        clock(
            "a clock of next year",
            &[ids::TYP_15, ids::TYP_16],
            |options| options.clock = off_by(31_536_000),
        ),
        clock("a clock that is an hour late", &[ids::TYP_15], |options| {
            options.clock = off_by(-3600);
        }),
        Mutant::new(
            "backend",
            "sums through 32 bits",
            &[
                ids::RES_FUNDRAISING_PAGE_10,
                ids::RES_EVENT_20,
                ids::RES_EVENT_17,
            ],
            || {
                Interceptor::records("*", |record, _| {
                    let Some(total) = record.get("total_amount").and_then(Value::as_f64) else {
                        return;
                    };
                    if let Ok(narrow) = total.to_string().parse::<f32>() {
                        set(record, "total_amount", json!(f64::from(narrow)));
                    }
                })
            },
        ),
        Mutant::new(
            "backend",
            "sums in whole units",
            &[ids::RES_FUNDRAISING_PAGE_10, ids::RES_EVENT_20],
            || {
                Interceptor::records("*", |record, _| {
                    if let Some(total) = record.get("total_amount").and_then(Value::as_f64) {
                        set(record, "total_amount", json!(total.trunc()));
                    }
                })
            },
        )
        .on_reference(),
        behind(
            "credits are subtracted twice from the total of a page",
            &[ids::RES_FUNDRAISING_PAGE_10],
            |options| {
                options.defects.push(Defect::CreditsTakenOffTwice);
            },
        ),
        Mutant::new(
            "backend",
            "amounts in cents",
            &[ids::RES_DONATION_03, ids::RES_FUNDRAISING_PAGE_10],
            || {
                Interceptor::records("donation", |record, _| {
                    if let Some(amount) = record.get("amount").and_then(Value::as_f64) {
                        set(record, "amount", json!(amount * 100.0));
                    }
                })
            },
        ),
        Mutant::new(
            "backend",
            "accepted are counted twice",
            &[ids::RES_EVENT_18],
            || {
                Interceptor::records("event", |record, _| {
                    if let Some(total) = record.get("total_accepted").and_then(Value::as_i64) {
                        set(record, "total_accepted", total.saturating_mul(2));
                    }
                })
            },
        )
        .on_reference(),
        Mutant::new(
            "backend",
            "a voided donation has no date",
            &[ids::RES_DONATION_17],
            || Interceptor::records("donation", |record, _| drop(record.remove("voided_date"))),
        )
        .on_reference(),
    ]
}

impl Mutant {
    /// Declares an empty prefix of custom fields as well.
    fn and_undeclared(mut self) -> Self {
        self.twist = std::sync::Arc::new(|| declared("custom_field_prefix"));
        self
    }
}

/// Sets a member of the declaration to an empty text.
fn declared(name: &'static str) -> Interceptor {
    Interceptor::after(move |_, answer, _| {
        if let Ok(Value::Object(mut document)) = serde_json::from_slice::<Value>(&answer.body)
            && document.contains_key("declaration_version")
        {
            set(&mut document, name, "");
            answer.set_json(&Value::Object(document));
        }
    })
}
