//! Totals that differ between a collection and the record itself, and totals after changes.

use std::collections::{HashMap, HashSet};

use svc_conformance::ids;

use super::table::MutationStep::{Above, Add, Cut, Drop, Set};
use super::table::MutationTarget::{Answers, Members, Records};
use super::table::TriggerRequest::Record;
use super::table::{MutationRow, line, table};
use super::{Mutant, MutationPoint, set};
use crate::interceptor::Interceptor;
use crate::link_map::{self, ResourceKind};

/// The totals of containers: kind, total, its requirement.
const TOTALS: [(&str, &str, &str); 5] = [
    ("petition", "total_signatures", ids::RES_PETITION_10),
    ("form", "total_submissions", ids::RES_FORM_10),
    (
        "fundraising_page",
        "total_donations",
        ids::RES_FUNDRAISING_PAGE_09,
    ),
    ("event", "total_accepted", ids::RES_EVENT_18),
    (
        "advocacy_campaign",
        "total_outreaches",
        ids::RES_ADVOCACY_CAMPAIGN_12,
    ),
];

const LINES: &[MutationRow] = &[
    line(
        "petitions are listed without signatures",
        "RES-petition-10 COL-28",
        Members("petition"),
        &[Set("total_signatures", "0")],
    ),
    line(
        "petitions are listed with one signature more",
        "RES-petition-10 COL-28",
        Members("petition"),
        &[Add("total_signatures", 1)],
    )
    .on_reference(),
    line(
        "petitions are listed with one signature at most",
        "RES-petition-10 COL-28",
        Members("petition"),
        &[Above("total_signatures", 1.0), Set("total_signatures", "1")],
    ),
    line(
        "forms are listed without submissions",
        "RES-form-10 COL-28",
        Members("form"),
        &[Set("total_submissions", "0")],
    )
    .on_reference(),
    line(
        "forms are listed without their total",
        "RES-form-10 COL-28",
        Members("form"),
        &[Drop("total_submissions")],
    ),
    line(
        "pages are listed without donations",
        "RES-fundraising_page-09 COL-28",
        Members("fundraising_page"),
        &[Set("total_donations", "0")],
    ),
    line(
        "pages are listed without their amount",
        "RES-fundraising_page-10 COL-28",
        Members("fundraising_page"),
        &[Set("total_amount", "0")],
    )
    .on_reference(),
    line(
        "pages are listed with a cent more",
        "RES-fundraising_page-10 COL-28",
        Members("fundraising_page"),
        &[Above("total_amount", 0.0), Add("total_amount", 1)],
    ),
    line(
        "events are listed without who accepted",
        "RES-event-18 COL-28",
        Members("event"),
        &[Set("total_accepted", "0")],
    ),
    line(
        "events are listed with one who accepted at most",
        "RES-event-18 COL-28",
        Members("event"),
        &[Above("total_accepted", 1.0), Set("total_accepted", "1")],
    )
    .on_reference(),
    line(
        "events are listed without tickets",
        "RES-event-19 COL-28",
        Members("event"),
        &[Set("total_tickets", "0")],
    ),
    line(
        "events are listed without money",
        "RES-event-20 COL-28",
        Members("event"),
        &[Set("total_amount", "0")],
    )
    .on_reference(),
    line(
        "levels are listed without tickets",
        "RES-event-16 COL-28",
        Members("event"),
        &[Set("ticket_levels[].total_tickets", "0")],
    ),
    line(
        "levels are listed without money",
        "RES-event-17 COL-28",
        Members("event"),
        &[Set("ticket_levels[].total_amount", "0")],
    )
    .on_reference(),
    line(
        "levels are listed up to the first",
        "RES-event-16 RES-event-17 COL-28",
        Members("event"),
        &[Cut("ticket_levels", 1)],
    ),
    line(
        "campaigns are listed without outreaches",
        "RES-advocacy_campaign-12 COL-28",
        Members("advocacy_campaign"),
        &[Set("total_outreaches", "0")],
    ),
    line(
        "an update of a petition answers no signatures",
        "RES-petition-10 ERR-15",
        Answers("PUT", Record("petition")),
        &[Above("total_signatures", 0.0), Set("total_signatures", "0")],
    ),
    line(
        "an update of a page answers no amount",
        "RES-fundraising_page-10 ERR-15",
        Answers("PUT", Record("fundraising_page")),
        &[Above("total_amount", 0.0), Set("total_amount", "0")],
    )
    .on_reference(),
    line(
        "an update of an event answers no tickets",
        "RES-event-19 ERR-15",
        Answers("PUT", Record("event")),
        &[Above("total_tickets", 0.0), Set("total_tickets", "0")],
    ),
    line(
        "signatures are counted up to 20",
        ids::RES_PETITION_10,
        Records("petition"),
        &[
            Above("total_signatures", 20.0),
            Set("total_signatures", "20"),
        ],
    ),
    line(
        "signatures are counted from one",
        ids::RES_PETITION_10,
        Records("petition"),
        &[Add("total_signatures", 1)],
    ),
    line(
        "submissions are counted from one",
        ids::RES_FORM_10,
        Records("form"),
        &[Add("total_submissions", 1)],
    )
    .on_reference(),
    line(
        "an amount begins with a fee",
        ids::RES_FUNDRAISING_PAGE_10,
        Records("fundraising_page"),
        &[Add("total_amount", 3)],
    ),
    line(
        "donations are counted from one",
        ids::RES_FUNDRAISING_PAGE_09,
        Records("fundraising_page"),
        &[Add("total_donations", 1)],
    ),
    line(
        "outreaches are counted from one",
        ids::RES_ADVOCACY_CAMPAIGN_12,
        Records("advocacy_campaign"),
        &[Add("total_outreaches", 1)],
    )
    .on_reference(),
    line(
        "tickets are counted from one",
        ids::RES_EVENT_19,
        Records("event"),
        &[Add("total_tickets", 1)],
    ),
];

pub(super) fn faults() -> Vec<Mutant> {
    let mut faults = table("totals", LINES);
    faults.extend(TOTALS.map(|(kind, total, row)| {
        Mutant::new(
            "totals",
            format!("an update of a {kind} forgets its {total}"),
            &[row],
            move || forgotten(kind, total),
        )
        .at(MutationPoint::Backend)
    }));
    let amount = (
        "fundraising_page",
        "total_amount",
        ids::RES_FUNDRAISING_PAGE_10,
    );
    faults.extend(
        TOTALS
            .into_iter()
            .chain([amount])
            .map(|(kind, total, row)| {
                Mutant::new(
                    "totals",
                    format!("{total} of a {kind} never fall"),
                    &[row],
                    move || rising(kind, total),
                )
                .at(MutationPoint::Backend)
            }),
    );
    faults.extend(TOTALS.map(|(kind, total, row)| {
        Mutant::new(
            "totals",
            format!("{total} are those of every {kind}"),
            &[row],
            move || shared(kind, total),
        )
        .at(MutationPoint::Backend)
    }));
    faults
}

/// Sets a total to zero once the record was updated.
fn forgotten(kind: &'static str, total: &'static str) -> Interceptor {
    let mut updated: HashSet<String> = HashSet::new();
    Interceptor::documents(move |call, document, status, sight| {
        if call.method == "PUT"
            && status == 200
            && sight.what(call) == Some(ResourceKind::Record(kind))
        {
            updated.extend(link_map::href(document, "self").map(ToOwned::to_owned));
        }
        sight.each_record(call, document, &mut |one, record| {
            if one == kind
                && link_map::href(record, "self").is_some_and(|own| updated.contains(own))
            {
                set(record, total, 0);
            }
        });
    })
}

/// Sets a total to the highest value that the record ever had.
fn rising(kind: &'static str, total: &'static str) -> Interceptor {
    let mut most: HashMap<String, f64> = HashMap::new();
    Interceptor::records(kind, move |record, _| {
        let own = link_map::href(record, "self").map(ToOwned::to_owned);
        let (Some(own), Some(now)) = (own, record.get(total).and_then(serde_json::Value::as_f64))
        else {
            return;
        };
        let known = most.entry(own).or_insert(now);
        if *known > now {
            set(record, total, *known);
        } else {
            *known = now;
        }
    })
}

/// Sets a total to the highest value that any record of the kind had.
fn shared(kind: &'static str, total: &'static str) -> Interceptor {
    let mut most = 0;
    Interceptor::records(kind, move |record, _| {
        most = most.max(
            record
                .get(total)
                .and_then(serde_json::Value::as_i64)
                .unwrap_or_default(),
        );
        set(record, total, most);
    })
}
