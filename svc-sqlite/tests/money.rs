//! Sums of donations in exact decimals (RES-fundraising_page-09, RES-fundraising_page-10).

mod server;

use http::Method;
use proptest::prelude::*;
use serde_json::json;
use server::Server;
use svc_core::{api::Request, value::Amount};

async fn sum_of(server: &Server, page: &str) -> (u64, String) {
    // The digits as they are sent: a JSON tree of the test's own would pass them through a binary float.
    let read = Request::new(&Method::GET, page.strip_prefix(server::BASE).unwrap());
    let reply = server.api.answer(server.identity(), read).await;
    let text = String::from_utf8(reply.body.to_vec()).unwrap();
    let (_, rest) = text.split_once("\"total_amount\":").unwrap();
    let amount = rest.split(',').next().unwrap().to_owned();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    (json["total_donations"].as_u64().unwrap(), amount)
}

/// RES-fundraising_page-10, RES-donation-16: voided donations and other currencies do not count, changes are followed.
#[tokio::test]
async fn what_counts() {
    let server = Server::start().await;
    let page = server.make("fundraising_pages", json!({"currency": "USD"})).await;
    let person = server.make("people", json!({})).await;
    let give = |more: serde_json::Value| {
        let mut donation = json!({"_links": {"svc:person": {"href": person}}});
        donation.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        donation
    };
    let donations = format!("{page}/donations");
    let one = server.make(&donations, give(json!({"amount": 10.10, "currency": "USD"}))).await;
    server.make(&donations, give(json!({"amount": 0.20}))).await;
    server.make(&donations, give(json!({"amount": 5, "currency": "EUR"}))).await;
    server.make(&donations, give(json!({"amount": 7, "voided": true}))).await;
    server.make(&donations, give(json!({}))).await;
    assert_eq!(sum_of(&server, &page).await, (5, "10.3".to_owned()), "RES-fundraising_page-09, 10");
    server.put(&one, json!({"voided": true})).await;
    assert_eq!(sum_of(&server, &page).await.1, "0.2", "RES-fundraising_page-10");
    server.put(&one, json!({"voided": null, "amount": 1.5, "currency": "eur"})).await;
    assert_eq!(sum_of(&server, &page).await.1, "0.2", "RES-fundraising_page-10");
    let put = server.put(&page, json!({"currency": "EUR"})).await;
    assert_eq!(put.json["total_amount"], json!(6.7), "RES-fundraising_page-10: the page's currency changed");
    server.put(&page, json!({"currency": null})).await;
    assert_eq!(sum_of(&server, &page).await.1, "6.7", "RES-fundraising_page-10: no currency counts as equal");
    assert_eq!(server.delete(&one).await.status, 204);
    assert_eq!(Amount::parse(&sum_of(&server, &page).await.1), Amount::parse("5.2"), "RES-fundraising_page-10");
    let huge = json!({"amount": 9_999_999_999_999_999_999_u64, "currency": "EUR"});
    assert_eq!(server.post(&donations, give(huge)).await.status, 201);
}

/// TYP-03: a sum that would be rounded is refused, and nothing of it stays.
#[tokio::test]
async fn too_many_digits() {
    let server = Server::start().await;
    let page = server.make("fundraising_pages", json!({})).await;
    let helper = format!("{page}/record_donation_helper");
    let helper = helper.strip_prefix(server::BASE).unwrap();
    let give = async |text: &'static str| {
        let call = Request::new(&Method::POST, helper).with_body(text);
        server.api.answer(server.identity(), call).await.status.as_u16()
    };
    assert_eq!(give(r#"{"amount":9007199254740993.01}"#).await, 200);
    assert_eq!(sum_of(&server, &page).await.1, "9007199254740993.01", "design.md 5");
    assert_eq!(give(r#"{"amount":0.0000000000000000000000000001}"#).await, 400, "TYP-03");
    assert_eq!(sum_of(&server, &page).await, (1, "9007199254740993.01".to_owned()), "TYP-03");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 12,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(10),
        ..ProptestConfig::default()
    })]

    /// RES-fundraising_page-10: whatever happens, the sum is that of its members.
    #[test]
    fn the_sum_is_that_of_the_members(steps in proptest::collection::vec(
        (0..4_u8, 0..6_usize, -10_000_000_i64..10_000_000, 0..4_u32, 0..3_usize, any::<bool>()), 1..30,
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
                let sum = model.iter().filter(|one| !one.3 && counts(one.2)).fold(Amount::ZERO, |sum, one| {
                    sum.checked_add(one.1).unwrap()
                });
                let (donations, amount) = sum_of(&server, &page).await;
                assert_eq!(usize::try_from(donations).unwrap(), model.len());
                assert_eq!(Amount::parse(&amount), Some(sum));
            }
        });
    }
}
