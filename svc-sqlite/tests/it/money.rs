//! Sums of donations as exact decimals.
//!
//! Requirements: RES-fundraising_page-09, RES-fundraising_page-10.

use std::collections::BTreeSet;

use crate::server::{Answer, Server};
use http::Method;
use proptest::prelude::*;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use svc_core::{
    api::Request,
    auth::{Caller, Identity, Principal},
    value::Amount,
};

async fn sum_of(server: &Server, page: &str) -> (u64, String) {
    let donations = server.get(page).await.json["total_donations"]
        .as_u64()
        .unwrap();
    (donations, shown_sum(server, page).await)
}

/// Returns the digits as they are sent. A JSON value in the test would convert them to a binary
/// float.
async fn shown_sum(server: &Server, container: &str) -> String {
    let read = Request::new(
        &Method::GET,
        container.strip_prefix(crate::server::BASE).unwrap(),
    );
    let reply = server.api.handle(server.identity(), read).await;
    let text = String::from_utf8(reply.body.to_vec()).unwrap();
    // The sum of the record follows those of its parts.
    let (_, rest) = text.rsplit_once("\"total_amount\":").unwrap();
    rest.split(',').next().unwrap().to_owned()
}

/// RES-fundraising_page-10, RES-donation-16: voided donations and those in a former currency of the
/// page do not count, and changes are followed.
#[tokio::test]
async fn what_counts() {
    let server = Server::start().await;
    let page = server
        .make("fundraising_pages", json!({"currency": "USD"}))
        .await;
    let person = server.make("people", json!({"given_name": "Ada"})).await;
    let give = |more: serde_json::Value| {
        let mut donation = json!({"_links": {"svc:person": {"href": person}}});
        donation
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        donation
    };
    let donations = format!("{page}/donations");
    let one = server
        .make(
            &donations,
            give(json!({"amount": 10.10, "currency": "USD"})),
        )
        .await;
    server.make(&donations, give(json!({"amount": 0.20}))).await;
    let other = give(json!({"amount": 5, "currency": "EUR"}));
    assert_eq!(
        rejected(&server.post(&donations, other).await),
        ["currency"]
    );
    server
        .make(&donations, give(json!({"amount": 7, "voided": true})))
        .await;
    server.make(&donations, give(json!({}))).await;
    assert_eq!(
        sum_of(&server, &page).await,
        (3, "10.3".to_owned()),
        "RES-fundraising_page-09, 10"
    );
    server.put(&one, json!({"voided": true})).await;
    assert_eq!(
        sum_of(&server, &page).await,
        (2, "0.2".to_owned()),
        "RES-fundraising_page-09, 10"
    );
    let back = json!({"voided": null, "amount": 1.5, "currency": "eur"});
    assert_eq!(
        rejected(&server.put(&one, back.clone()).await),
        ["currency"]
    );
    server.put(&page, json!({"currency": "EUR"})).await;
    assert_eq!(server.put(&one, back).await.status, 200);
    assert_eq!(
        sum_of(&server, &page).await,
        (3, "1.7".to_owned()),
        "RES-fundraising_page-09, 10"
    );
    let put = server.put(&page, json!({"currency": "USD"})).await;
    assert_eq!(
        put.json["total_amount"],
        json!(0.2),
        "RES-fundraising_page-10: the page's currency changed"
    );
    assert_eq!(
        put.json["total_donations"], 2,
        "RES-fundraising_page-09: count and sum include the same donations"
    );
    server.put(&page, json!({"currency": null})).await;
    assert_eq!(
        sum_of(&server, &page).await.1,
        "1.7",
        "RES-fundraising_page-10: no currency counts as equal"
    );
    assert_eq!(server.delete(&one).await.status, 204);
    assert_eq!(
        Amount::parse(&sum_of(&server, &page).await.1),
        Amount::parse("0.2"),
        "RES-fundraising_page-10"
    );
    let huge = json!({"amount": 9_999_999_999_999_999_u64, "currency": "EUR"});
    assert_eq!(server.post(&donations, give(huge)).await.status, 201);
}

/// Returns the properties that a response rejects.
fn rejected(answer: &Answer) -> Vec<Value> {
    let problems = answer.descriptions();
    let properties = problems
        .iter()
        .filter_map(|one| one["properties"].as_array());
    properties.flatten().cloned().collect()
}

/// RES-donation-03: a donation without an amount has the sum of its recipients' amounts, and counts
/// with it.
#[tokio::test]
async fn recipients_only() {
    let server = Server::start().await;
    let page = server.make("fundraising_pages", json!({})).await;
    let helper = format!("{page}/record_donation_helper");
    let recipients = json!([{"amount": 30}, {"display_name": "B"}, {"amount": 20.5}]);
    let given = server
        .post(
            &helper,
            json!({"currency": "EUR", "recipients": recipients}),
        )
        .await;
    assert_eq!((given.status, &given.json["amount"]), (200, &json!(50.5)));
    assert_eq!(sum_of(&server, &page).await, (1, "50.5".to_owned()));
    let gift = given.self_link();
    let one = json!({"recipients": [{"amount": 1}]});
    let put = server.put(&gift, one.clone()).await;
    assert_eq!(put.json["amount"], json!(50.5), "CRU-15");
    let cleared = server.put(&gift, json!({"amount": null})).await;
    assert!(cleared.json.get("amount").is_none(), "CRU-17");
    assert_eq!(server.put(&gift, one).await.json["amount"], json!(1));
    assert_eq!(sum_of(&server, &page).await.0, 1);
    let voided = server
        .put(&gift, json!({"voided_date": "2026-01-05T09:00:00Z"}))
        .await;
    assert_eq!(voided.json["voided"], true, "RES-donation-18");
    assert_eq!(sum_of(&server, &page).await.0, 0);
    let counted = server.put(&gift, json!({"voided": null})).await;
    assert_eq!(counted.json["voided_date"], Value::Null, "RES-donation-18");
    let again = server.put(&gift, counted.json.clone()).await;
    assert_eq!(
        again.json["voided"],
        Value::Null,
        "what was read changes nothing"
    );
    assert_eq!(sum_of(&server, &page).await.0, 1);
}

/// RES-fundraising_page-11, RES-donation-06: a page takes the currency of its first donation, in the
/// transaction of the donation.
#[tokio::test]
async fn a_page_takes_the_currency_of_its_first_donation() {
    let server = Server::start().await;
    let page = server.make("fundraising_pages", json!({})).await;
    let helper = format!("{page}/record_donation_helper");
    let currency = async || server.get(&page).await.json["currency"].clone();
    let without = server.post(&helper, json!({"amount": 1.005})).await;
    assert_eq!(without.status, 200);
    let missing = format!(
        "{}people/01980000-0000-7000-8000-000000000000",
        crate::server::BASE
    );
    let wrong =
        json!({"amount": 1, "currency": "EUR", "_links": {"svc:person": {"href": missing}}});
    let refused = server.post(&format!("{page}/donations"), wrong).await;
    assert_eq!(refused.codes(), ["PERSON_NOT_FOUND"]);
    assert_eq!(currency().await, Value::Null);
    let modified = server.get(&page).await.json["modified_date"].clone();
    let first = json!({"amount": 5, "currency": "eur", "voided": true});
    assert_eq!(server.post(&helper, first).await.status, 200);
    assert_eq!(currency().await, "EUR");
    assert_eq!(
        server.get(&page).await.json["modified_date"],
        modified,
        "TYP-16"
    );

    let dollars = server
        .post(&helper, json!({"amount": 5, "currency": "USD"}))
        .await;
    assert_eq!(
        dollars.descriptions()[0]["description"],
        "`currency` must be EUR, the currency of the fundraising page or of its donations, but is USD."
    );
    let digits = json!({"amount": 5.005, "recipients": [{"amount": 1.001}]});
    assert_eq!(
        rejected(&server.post(&helper, digits).await),
        ["amount", "recipients[0].amount"]
    );
    // The earlier donation keeps its amount.
    let gift = without.self_link();
    for same in [
        json!({"url": "https://example.org/"}),
        json!({"amount": 1.005}),
    ] {
        assert_eq!(server.put(&gift, same).await.status, 200);
    }
    assert_eq!(
        rejected(&server.put(&gift, json!({"amount": 1.006})).await),
        ["amount"]
    );
    assert_eq!(
        rejected(&server.put(&gift, json!({"currency": "USD"})).await),
        ["amount", "currency"]
    );
    assert_eq!(sum_of(&server, &page).await, (1, "1.005".to_owned()));
}

/// RES-event-14, RES-attendance-11: a ticket without a currency has the digits of its level.
#[tokio::test]
async fn tickets_have_the_digits_of_their_level() {
    let server = Server::start().await;
    let level = json!({"title": "A", "amount": 500, "currency": "JPY"});
    let event = json!({"type": "ticketed", "ticket_levels": [level]});
    let event = server.make("events", event).await;
    let helper = format!("{event}/record_attendance_helper");
    let ticket = |amount: f64| json!({"tickets": [{"title": "A", "amount": amount}]});
    assert_eq!(
        rejected(&server.post(&helper, ticket(0.5)).await),
        ["tickets[0].amount"]
    );
    assert_eq!(server.post(&helper, ticket(400.0)).await.status, 200);
    let other = json!({"ticket_levels": [{"title": "A", "currency": "JPY"}, {"title": "B", "currency": "EUR"}]});
    assert_eq!(
        rejected(&server.put(&event, other).await),
        ["ticket_levels[1].currency"]
    );
}

/// TYP-03: amounts have up to 16 digits before the point and 6 after it, and are not negative. A
/// rejected amount changes nothing.
#[tokio::test]
async fn what_money_is() {
    let server = Server::start().await;
    let page = server.make("fundraising_pages", json!({})).await;
    let event = json!({"type": "ticketed", "ticket_levels": [{"title": "Standard"}]});
    let event = server.make("events", event).await;
    let send = async |caller: Identity, path: String, body: String| {
        let call = Request::new(
            &Method::POST,
            path.strip_prefix(crate::server::BASE).unwrap(),
        );
        server
            .api
            .handle(caller, call.with_body(body))
            .await
            .status
            .as_u16()
    };
    let stranger =
        || Identity::Authenticated(Principal::new(server.tenant.clone(), Caller::anonymous()));
    for bad in [
        "-1",
        "-1000000",
        "-0.000001",
        "1e16",
        "1e-7",
        "1e-25",
        "9.9e25",
        "0.0000000000000000000000000001",
    ] {
        for caller in [stranger(), server.identity()] {
            let donation = format!(r#"{{"amount":{bad}}}"#);
            assert_eq!(
                send(
                    caller.clone(),
                    format!("{page}/record_donation_helper"),
                    donation
                )
                .await,
                400,
                "TYP-03 {bad}"
            );
            let ticket = format!(r#"{{"tickets":[{{"title":"Standard","amount":{bad}}}]}}"#);
            assert_eq!(
                send(caller, format!("{event}/record_attendance_helper"), ticket).await,
                400,
                "TYP-03 {bad}"
            );
        }
        let level = json!({"ticket_levels": [{"title": "A", "amount": serde_json::from_str::<Value>(bad).unwrap()}]});
        assert_eq!(
            server.post("events", level).await.codes(),
            ["FIELD_INVALID"],
            "TYP-03 {bad}"
        );
    }
    assert_eq!(sum_of(&server, &page).await, (0, "0".to_owned()), "CRU-21");
    for good in [
        "9007199254740993.01",
        "9999999999999999.999999",
        "0.000001",
        "1e15",
    ] {
        let donation = format!(r#"{{"amount":{good}}}"#);
        assert_eq!(
            send(
                stranger(),
                format!("{page}/record_donation_helper"),
                donation
            )
            .await,
            200,
            "TYP-03 {good}"
        );
    }
    assert_eq!(
        sum_of(&server, &page).await,
        (4, "20007199254740993.010000".to_owned()),
        "RES-fundraising_page-10"
    );
}

/// TYP-03: zero is sent as `0`, whatever digits the client sent, and a sum of zero as well.
#[tokio::test]
async fn zero_has_no_digits() {
    let server = Server::start().await;
    let page = server.make("fundraising_pages", json!({})).await;
    let helper = format!("{page}/record_donation_helper");
    let helper = helper.strip_prefix(crate::server::BASE).unwrap();
    for zero in ["0.00", "-0", "-0.000", "0E-2", "0e5"] {
        let body = format!(r#"{{"amount":{zero}}}"#);
        let call = Request::new(&Method::POST, helper).with_body(body);
        let reply = server.api.handle(server.identity(), call).await;
        let text = String::from_utf8(reply.body.to_vec()).unwrap();
        assert!(text.contains(r#""amount":0,"#), "TYP-03 {zero}: {text}");
    }
    assert_eq!(sum_of(&server, &page).await, (5, "0".to_owned()), "TYP-03");
    let person = server.make("people", json!({"given_name": "Ada"})).await;
    let donation = json!({"amount": 10.25, "_links": {"svc:person": {"href": person}}});
    let donation = server.make(&format!("{page}/donations"), donation).await;
    assert_eq!(sum_of(&server, &page).await, (6, "10.25".to_owned()));
    assert_eq!(server.delete(&donation).await.status, 204);
    assert_eq!(sum_of(&server, &page).await, (5, "0".to_owned()), "TYP-03");
}

/// Ten thousand donations and tickets in random order, with voids and deletions. None is rejected,
/// and the sums equal those of a decimal library.
///
/// Requirements: RES-fundraising_page-10, RES-event-20.
#[tokio::test]
async fn ten_thousand_amounts() {
    let server = Server::start().await;
    let page = server.make("fundraising_pages", json!({})).await;
    let event =
        json!({"type": "ticketed", "ticket_levels": [{"title": "Standard"}, {"title": "Balcony"}]});
    let event = server.make("events", event).await;
    let mut random = 7_u64;
    let mut below = |end: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        random.rotate_left(29) % end
    };
    let mut kept: Vec<(String, Decimal)> = Vec::new();
    let mut sums = [Decimal::ZERO; 2];
    for number in 0..10_000 {
        let length = u32::try_from(below(17)).unwrap();
        let whole = below(10_u64.pow(length));
        let digits = usize::try_from(below(7)).unwrap();
        let text = match digits {
            0 => whole.to_string(),
            digits => format!(
                "{whole}.{:0digits$}",
                below(10_u64.pow(u32::try_from(digits).unwrap()))
            ),
        };
        let amount: Decimal = text.parse().unwrap();
        let (of, path, body) = if below(2) == 0 {
            (
                0,
                format!("{page}/record_donation_helper"),
                format!(r#"{{"amount":{text}}}"#),
            )
        } else {
            let title = if below(2) == 0 { "Standard" } else { "Balcony" };
            let ticket = format!(r#"{{"tickets":[{{"title":"{title}","amount":{text}}}]}}"#);
            (1, format!("{event}/record_attendance_helper"), ticket)
        };
        let call = Request::new(
            &Method::POST,
            path.strip_prefix(crate::server::BASE).unwrap(),
        )
        .with_body(body.clone());
        let reply = server.api.handle(server.identity(), call).await;
        assert_eq!(
            reply.status.as_u16(),
            200,
            "{number}: {body} {:?}",
            reply.body
        );
        sums[of] += amount;
        if of == 0 {
            let made: Value = serde_json::from_slice(&reply.body).unwrap();
            kept.push((
                made["_links"]["self"]["href"].as_str().unwrap().to_owned(),
                amount,
            ));
        }
        if below(4) == 0 && !kept.is_empty() {
            let place = below(kept.len() as u64);
            let (address, amount) = kept.swap_remove(usize::try_from(place).unwrap());
            sums[0] -= amount;
            if below(2) == 0 {
                assert_eq!(server.delete(&address).await.status, 204);
            } else {
                assert_eq!(
                    server.put(&address, json!({"voided": true})).await.status,
                    200
                );
            }
        }
    }
    assert_eq!(
        server.get(&page).await.json["total_donations"],
        kept.len(),
        "RES-fundraising_page-09"
    );
    for (address, sum) in [(&page, sums[0]), (&event, sums[1])] {
        let shown: Decimal = shown_sum(&server, address).await.parse().unwrap();
        assert_eq!(shown, sum, "RES-fundraising_page-10, RES-event-20");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 12,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(10),
        ..ProptestConfig::default()
    })]

    /// RES-fundraising_page-09, -10: after any sequence of writes, count and sum include the same
    /// donations.
    #[test]
    fn the_sum_is_that_of_the_members(steps in proptest::collection::vec(
        (0..4_u8, 0..6_usize, 0..10_000_000_i64, 0..3_u32, 0..3_usize, any::<bool>()), 1..30,
    )) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let server = Server::start().await;
            let page = server.make("fundraising_pages", json!({"currency": "USD"})).await;
            let currencies = [None, Some("USD"), Some("EUR")];
            let mut model: Vec<(String, Amount, Option<&str>, bool)> = Vec::new();
            let mut of_page = Some("USD");
            for (what, which, cents, scale, currency, voided) in steps {
                let amount = Amount::new(cents.into(), scale).unwrap();
                let number: serde_json::Value = serde_json::from_str(&amount.to_string()).unwrap();
                let body = json!({"amount": number, "currency": currencies[currency], "voided": voided});
                let sent = currencies[currency];
                let is_update = what == 2 && !model.is_empty();
                let before = is_update.then(|| model[which % model.len()].2).flatten();
                // The currencies that the donation may have; several if the page had several.
                let known: BTreeSet<&str> = match of_page {
                    Some(currency) => BTreeSet::from([currency]),
                    None => model.iter().filter(|one| !one.3).filter_map(|one| one.2).collect(),
                };
                let is_other = known.len() == 1 && sent.is_some_and(|sent| !known.contains(sent));
                let expected = if is_other && before != sent { 400 } else { 200 };
                let taken = sent.filter(|_| expected == 200 && of_page.is_none() && known.len() < 2 && before != sent);
                match what {
                    0 | 1 => {
                        let made = server.post(&format!("{page}/record_donation_helper"), body).await;
                        assert_eq!(made.status, expected, "{}", made.json);
                        if expected == 200 {
                            model.push((made.self_link(), amount, sent, voided));
                            of_page = of_page.or(taken);
                        }
                    }
                    2 if is_update => {
                        let at = which % model.len();
                        assert_eq!(server.put(&model[at].0, body).await.status, expected);
                        if expected == 200 {
                            model[at] = (model[at].0.clone(), amount, sent, voided);
                            of_page = of_page.or(taken);
                        }
                    }
                    3 if !model.is_empty() && voided => {
                        let gone = model.remove(which % model.len());
                        assert_eq!(server.delete(&gone.0).await.status, 204);
                    }
                    _ => {
                        of_page = sent;
                        server.put(&page, json!({"currency": of_page})).await;
                    }
                }
                assert_eq!(server.get(&page).await.json.get("currency").and_then(Value::as_str), of_page);
                let counts = |currency: Option<&str>| currency.is_none() || of_page.is_none() || currency == of_page;
                let summed: Vec<_> = model.iter().filter(|one| !one.3 && counts(one.2)).collect();
                let sum = summed.iter().fold(Amount::ZERO, |sum, one| sum.checked_add(one.1).unwrap());
                let (donations, amount) = sum_of(&server, &page).await;
                assert_eq!(usize::try_from(donations).unwrap(), summed.len());
                assert_eq!(Amount::parse(&amount), Some(sum));
            }
        });
    }
}
