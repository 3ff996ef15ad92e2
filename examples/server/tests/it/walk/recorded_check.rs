//! Requests recorded in the explorer.
//! Run it with `Suite::new(Remote::new(base)?).keys(Keys::primary(key)).run_custom(RECORDED_WALK).await?.assert_complete()`.

use svc_conformance::custom_check::{Check, CheckContext, CheckStop, id_from_url};

/// The suite also applies its general checks to every response.
pub(crate) const RECORDED_WALK: Check = Check::custom("own/recorded-walk", |walk| Box::pin(recorded_walk(walk)));

async fn recorded_walk(walk: &CheckContext) -> Result<(), CheckStop> {
    // 0. GET the entry point
    let step_0 = walk
        .request(0, "GET", walk.base())
        .send_expecting(200, &[]).await?;

    // 1. POST svc:person_signup_helper
    let key_1 = walk.new_idempotency_key();
    let step_1 = walk
        .request(1, "POST", &step_0.url_at(&["_links", "svc:person_signup_helper", "href"])?)
        .header("Idempotency-Key", &key_1)
        .body(r#"{"person": {"given_name": "Ida \"O'Neil\" \\ $HOME", "family_name": "Wells", "email_addresses": [{"address": "ida@example.org"}]}}"#)
        .send_expecting(200, &[]).await?;

    // 2. GET svc:petitions
    let step_2 = walk
        .request(2, "GET", &step_0.url_at(&["_links", "svc:petitions", "href"])?)
        .send_expecting(200, &[]).await?;

    // 3. GET self of one of svc:petitions of 2
    let step_3 = walk
        .request(3, "GET", &step_2.item("svc:petitions", "svc_demo:019b9051-6e6e-7523-90a7-b4181adb74b4")?.url_at(&["_links", "self", "href"])?)
        .send_expecting(200, &[]).await?;

    // 4. POST svc:record_signature_helper of 3
    let key_2 = walk.new_idempotency_key();
    let step_4 = walk
        .request(4, "POST", &step_3.url_at(&["_links", "svc:record_signature_helper", "href"])?)
        .header("Idempotency-Key", &key_2)
        .body(r#"{"person": {"email_addresses": [{"address": "ida@example.org"}]}, "add_tags": ["no-such-tag"]}"#)
        .send_expecting(400, &["TAG_NAME_DOES_NOT_EXIST"]).await?;

    // 5. GET self of 1
    let step_5 = walk
        .request(5, "GET", &step_1.url_at(&["_links", "self", "href"])?)
        .send_expecting(200, &[]).await?;

    // 6. PUT self of 1
    let step_6 = walk
        .request(6, "PUT", &step_1.url_at(&["_links", "self", "href"])?)
        .header("If-Match", &step_5.tag)
        .body(r#"{"family_name": null}"#)
        .send_expecting(200, &[]).await?;

    // 7. GET self of 1
    let step_7 = walk
        .request(7, "GET", &step_1.url_at(&["_links", "self", "href"])?)
        .send_expecting(200, &[]).await?;

    // 8. DELETE self of 1
    walk
        .request(8, "DELETE", &step_1.url_at(&["_links", "self", "href"])?)
        .header("If-Match", &step_7.tag)
        .send_expecting(204, &[]).await?;

    // The records, with their relations.
    let records = [
        ("svc:person", step_1.url_at(&["_links", "self", "href"])?),
        ("svc:petition", step_3.url_at(&["_links", "self", "href"])?),
        ("svc:person", step_4.url_at(&["svc:person", "_links", "self", "href"])?),
        ("svc:signature", step_4.url_at(&["svc:signature", "_links", "self", "href"])?),
        ("svc:person", step_4.url_at(&["svc:signature", "_links", "svc:person", "href"])?),
        ("svc:petition", step_4.url_at(&["svc:signature", "_links", "svc:petition", "href"])?),
        ("svc:person", step_5.url_at(&["_links", "self", "href"])?),
        ("svc:person", step_6.url_at(&["_links", "self", "href"])?),
        ("svc:person", step_7.url_at(&["_links", "self", "href"])?),
        ("svc:person", step_1.url_at(&["_links", "self", "href"])?),
    ];
    for (relation, address) in records {
        println!("{relation}\t{}", id_from_url(&address));
    }
    Ok(())
}
