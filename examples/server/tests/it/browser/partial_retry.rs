//! The response of a helper as steps, of which only failed ones are sent again (F2 of the pages,
//! HLP-10, ERR-29 to ERR-32, IDM-01).

use serde_json::{Value, json};

use crate::browser::Session;
use crate::support::TestResult;
use crate::support::client::{Client, link};
use crate::support::program::KEY;

const STEPS: &str = "return [...document.querySelectorAll('.steps > li')].map(step => step.className + ' ' + step.textContent);";

/// The first petition of the demo.
async fn petition(session: &Session, client: &mut Client) -> TestResult<Value> {
    let petitions = client
        .get(&format!("{}petitions", session.demo.base_url))
        .await?;
    Ok(petitions["_embedded"]["svc:petitions"][0].clone())
}

/// Returns the number of records at a URL.
async fn total(client: &mut Client, address: &str) -> TestResult<u64> {
    Ok(client.get(address).await?["total_records"]
        .as_u64()
        .ok_or("no total")?)
}

/// Opens the form of the helper of the first petition, and enters the signer.
async fn sign(session: &mut Session, email: &str) -> TestResult {
    session.open("petitions").await?;
    session
        .browser
        .click("(//table[@class='records']//tbody//a)[1]")
        .await?;
    session
        .browser
        .press("Record a signature on a petition")
        .await?;
    session.browser.enter("given_name", "Ida").await?;
    session
        .browser
        .click("//summary[.='email_addresses']")
        .await?;
    session.browser.press("Add email_addresses").await?;
    session
        .browser
        .enter_in("email_addresses 1", "address", email)
        .await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn f2_of_a_helper_that_fails_in_parts_only_what_failed_is_sent_again() -> TestResult {
    let mut session = Session::start().await?;
    let mut client = session.client().await?;
    let petition = petition(&session, &mut client).await?;
    let signatures = link(&petition, "svc:signatures")?;
    let before = total(&mut client, &signatures).await?;
    session.use_key(KEY).await?;
    sign(&mut session, "ida@example.org").await?;
    session.browser.click("//summary[.='add_tags']").await?;
    session.browser.press("Add add_tags").await?;
    session.browser.enter("add_tags 1", "no-such-tag").await?;
    session.browser.click("//summary[.='add_lists']").await?;
    session.browser.press("Add add_lists").await?;
    session.browser.enter("add_lists 1", "no-such-list").await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelectorAll('.steps > li').length === 4")
        .await?;
    let steps = session.browser.run(STEPS).await?;
    let step = |at: usize| steps[at].as_str().unwrap_or_default();
    assert!(
        step(0).starts_with("good-step Person created (no match found): 201."),
        "{steps}"
    );
    assert!(
        step(1).starts_with("good-step Signature recorded: 201."),
        "{steps}"
    );
    assert!(
        step(2).starts_with("bad-step Tagging failed: 400. Sent: no-such-tag"),
        "{steps}"
    );
    assert!(
        step(3).starts_with("bad-step Item failed: 400. Sent: no-such-list"),
        "{steps}"
    );
    // The whole form is not offered again.
    assert_eq!(
        session
            .browser
            .run("return document.querySelectorAll('.panel form').length;")
            .await?,
        0
    );
    let links =
        "return [...document.querySelectorAll('.steps a')].map(link => link.getAttribute('href'));";
    let links = session.browser.run(links).await?;
    let links = links.as_array().ok_or("no links")?;
    let leads = |part: &str| {
        links
            .iter()
            .filter_map(Value::as_str)
            .any(|href| href.contains(part))
    };
    for part in [
        "#/people/",
        "/signatures/",
        "docs/v1/TAG_NAME_DOES_NOT_EXIST",
        "docs/v1/LIST_NAME_DOES_NOT_EXIST",
    ] {
        assert!(leads(part), "{part}: {links:?}");
    }
    // Only the tag: an existing one is selected, and the form knows the person.
    session
        .browser
        .click("(//button[.='Retry only this'])[1]")
        .await?;
    session.browser.choose("Which tag", "volunteer").await?;
    session.browser.press("Choose").await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelectorAll('.good-step').length === 3")
        .await?;
    // Only the list: it is created first.
    session.browser.press("Retry only this").await?;
    session.browser.press("Create the list first").await?;
    session.browser.enter("name *", "no-such-list").await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelector('.panel form h3').textContent.endsWith('item of a list')")
        .await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelectorAll('.good-step').length === 4")
        .await?;
    // One signature, and all parts for its person.
    assert_eq!(
        total(&mut client, &signatures).await?,
        before + 1,
        "F2: nothing is recorded twice"
    );
    let people = format!(
        "{}people?filter=email_address%20eq%20'ida@example.org'",
        session.demo.base_url
    );
    let people = client.get(&people).await?;
    assert_eq!(people["total_records"], 1);
    let person = &people["_embedded"]["svc:people"][0];
    assert_eq!(total(&mut client, &link(person, "svc:taggings")?).await?, 1);
    assert_eq!(total(&mut client, &link(person, "svc:items")?).await?, 1);
    session.end(&[400]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn f2_a_helper_that_succeeds_says_who_was_found_and_by_what() -> TestResult {
    let mut session = Session::start().await?;
    session.use_key(KEY).await?;
    sign(&mut session, "ida@example.org").await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelectorAll('.steps > li').length === 2")
        .await?;
    let steps = session.browser.run(STEPS).await?;
    let step = |steps: &Value, at: usize| steps[at].as_str().unwrap_or_default().to_owned();
    assert!(
        step(&steps, 0).starts_with("good-step New person created (no match found)."),
        "{steps}"
    );
    assert!(
        step(&steps, 1).starts_with("good-step Signature recorded."),
        "{steps}"
    );
    // The same signer is found, and the page shows by what and by which rule.
    sign(&mut session, "IDA@example.org").await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelectorAll('.steps > li').length === 2")
        .await?;
    let steps = session.browser.run(STEPS).await?;
    assert!(
        step(&steps, 0).contains("Person found: created "),
        "{steps}"
    );
    // The demo has one signature of each person on a petition.
    assert!(
        step(&steps, 1).starts_with("good-step Signature existed already, and has the data sent."),
        "HLP-04: {steps}"
    );
    assert!(
        step(&steps, 0).contains("Matching values: ida@example.org"),
        "{steps}"
    );
    assert!(
        step(&steps, 0).contains("A posted person is looked up first by each foreign identifier"),
        "{steps}"
    );
    session.end(&[]).await
}

/// The response of a server that stores the person although the action failed, and of one that
/// skips a part.
///
/// Requirements: HLP-10.
const ODD: &str = "
    const whole = window.fetch;
    window.fetch = async (address, how) => {
        if (!String(address).endsWith('record_signature_helper')) return whole(address, how);
        window.fetch = whole;
        const person = await (await whole(PERSON, { headers: { 'SVC-API-Token': KEY } })).json();
        const status = (resource, code, error) => ({ resource, response_code: code,
            error_descriptions: error && [{ error_code: error, description: 'So it is.', properties: [] }] });
        const body = { 'svc:error': { request_type: 'non-atomic', response_code: 400, resource_status: [
            status('svc:person', 200), status('svc:signature', 400, 'CAPACITY_EXCEEDED'), status('svc:tagging', 500, 'NOT_SUPPORTED')] },
            'svc:person': person };
        return new Response(JSON.stringify(body), { status: 400, headers: { 'Content-Type': 'application/hal+json' } });
    };";

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn f2_an_action_that_failed_alone_is_recorded_for_the_person_who_is_there() -> TestResult {
    let mut session = Session::start().await?;
    let mut client = session.client().await?;
    let petition = petition(&session, &mut client).await?;
    let signatures = link(&petition, "svc:signatures")?;
    let before = total(&mut client, &signatures).await?;
    let people = client
        .get(&format!("{}people", session.demo.base_url))
        .await?;
    let person = link(&people["_embedded"]["svc:people"][0], "self")?;
    session.use_key(KEY).await?;
    sign(&mut session, "ida@example.org").await?;
    session.browser.enter("comments", "Once only").await?;
    let odd = ODD
        .replace("PERSON", &json!(person).to_string())
        .replace("KEY", &json!(KEY).to_string());
    session.browser.run(&odd).await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelectorAll('.steps > li').length === 3")
        .await?;
    let steps = session.browser.run(STEPS).await?;
    assert!(
        steps[2]
            .as_str()
            .is_some_and(|step| step.contains("it cannot be retried")),
        "{steps}"
    );
    // Only the action is sent, with a link to its person. No person is created again.
    session.browser.press("Retry only this").await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelectorAll('.good-step').length === 2")
        .await?;
    let sent = session.browser.requested_bodies().await?;
    let expected =
        json!({ "comments": "Once only", "_links": { "svc:person": { "href": person } } });
    assert_eq!(
        serde_json::from_str::<Value>(sent.last().ok_or("nothing")?)?,
        expected
    );
    assert_eq!(total(&mut client, &signatures).await?, before + 1);
    // Without a key, the response does not name the person. No part can be sent alone, and a
    // message states this.
    session.use_key("").await?;
    let path = link(&petition, "svc:record_signature_helper")?;
    let path = path
        .strip_prefix(&session.demo.base_url)
        .ok_or("elsewhere")?
        .to_owned();
    session.open(&path).await?;
    session.browser.click("//summary[.='add_tags']").await?;
    session.browser.press("Add add_tags").await?;
    session.browser.enter("add_tags 1", "no-such-tag").await?;
    session.browser.enter("given_name", "Stranger").await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelector('.bad-step')?.textContent.includes('A user with a key can add it')")
        .await?;
    let buttons = "return [...document.querySelectorAll('.panel button')].length;";
    assert_eq!(session.browser.run(buttons).await?, 0);
    session.end(&[400, 401]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn f1_what_was_done_is_not_sent_again_when_what_follows_cannot_be_read() -> TestResult {
    let mut session = Session::start().await?;
    let mut client = session.client().await?;
    let petition = petition(&session, &mut client).await?;
    let signatures = link(&petition, "svc:signatures")?;
    let before = total(&mut client, &signatures).await?;
    session.use_key(KEY).await?;
    sign(&mut session, "ida@example.org").await?;
    let lose = "const whole = window.fetch; window.fetch = async (address, how) => {
        if (String(address).includes('/people/')) throw new TypeError('lost');
        return whole(address, how); };";
    session.browser.run(lose).await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for(
            "document.querySelector('.said').textContent.startsWith('The write succeeded with 200.')",
        )
        .await?;
    assert_eq!(
        session
            .browser
            .run("return document.querySelector('.panel form');")
            .await?,
        Value::Null
    );
    assert_eq!(total(&mut client, &signatures).await?, before + 1);
    session.end(&[]).await
}
