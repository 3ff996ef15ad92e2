//! Sums of donations as exact decimals.
//!
//! Requirements: RES-fundraising_page-09, RES-fundraising_page-10.

use crate::server::Server;
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

/// RES-fundraising_page-10, RES-donation-16: voided donations and other currencies do not count,
/// and changes are followed.
#[tokio::test]
async fn what_counts() {
    let server = Server::start().await;
    let page = server
        .make("fundraising_pages", json!({"currency": "USD"}))
        .await;
    let person = server.make("people", json!({})).await;
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
    server
        .make(&donations, give(json!({"amount": 5, "currency": "EUR"})))
        .await;
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
    server
        .put(
            &one,
            json!({"voided": null, "amount": 1.5, "currency": "eur"}),
        )
        .await;
    assert_eq!(
        sum_of(&server, &page).await.1,
        "0.2",
        "RES-fundraising_page-10"
    );
    let put = server.put(&page, json!({"currency": "EUR"})).await;
    assert_eq!(
        put.json["total_amount"],
        json!(6.7),
        "RES-fundraising_page-10: the page's currency changed"
    );
    assert_eq!(
        put.json["total_donations"], 4,
        "RES-fundraising_page-09: count and sum include the same donations"
    );
    server.put(&page, json!({"currency": null})).await;
    assert_eq!(
        sum_of(&server, &page).await.1,
        "6.7",
        "RES-fundraising_page-10: no currency counts as equal"
    );
    assert_eq!(server.delete(&one).await.status, 204);
    assert_eq!(
        Amount::parse(&sum_of(&server, &page).await.1),
        Amount::parse("5.2"),
        "RES-fundraising_page-10"
    );
    let huge = json!({"amount": 9_999_999_999_999_999_u64, "currency": "EUR"});
    assert_eq!(server.post(&donations, give(huge)).await.status, 201);
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
        (0..4_u8, 0..6_usize, 0..10_000_000_i64, 0..7_u32, 0..3_usize, any::<bool>()), 1..30,
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
                match what {
                    0 | 1 => {
                        let made = server.post(&format!("{page}/record_donation_helper"), body).await;
                        assert_eq!(made.status, 200, "{}", made.json);
                        model.push((made.self_link(), amount, currencies[currency], voided));
                    }
                    2 if !model.is_empty() => {
                        let at = which % model.len();
                        assert_eq!(server.put(&model[at].0, body).await.status, 200);
                        model[at] = (model[at].0.clone(), amount, currencies[currency], voided);
                    }
                    3 if !model.is_empty() && voided => {
                        let gone = model.remove(which % model.len());
                        assert_eq!(server.delete(&gone.0).await.status, 204);
                    }
                    _ => {
                        of_page = currencies[currency];
                        server.put(&page, json!({"currency": of_page})).await;
                    }
                }
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
