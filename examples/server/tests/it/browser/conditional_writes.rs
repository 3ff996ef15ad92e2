//! The filters and orders of the explorer, and its safe writes.
//!
//! Requirements: FLT-01, ETG-07, IDM-01.

use serde_json::{Value, json};

use crate::browser::Session;
use crate::browser::driver::Browser;
use crate::support::TestResult;
use crate::support::client::{Client, link};
use crate::support::program::KEY;

/// Barriers for people who do not see the page: controls without a name, duplicate ids, references
/// to missing elements, and table heads without a scope.
const BARRIERS: &str = "
    const named = node => node.labels?.length || node.ariaLabel || node.textContent.trim();
    const ids = [...document.querySelectorAll('[id]')].map(node => node.id);
    const refers = node => ['aria-describedby', 'aria-labelledby', 'for'].map(name => node.getAttribute(name)).filter(Boolean);
    const tabbed = node => !['pre', 'div'].includes(node.localName) || node.ariaLabel;
    return [
        ...[...document.querySelectorAll('input, select, textarea, button, summary, a')].filter(node => !named(node)),
        ...[...document.querySelectorAll('*')].filter(node => refers(node).some(id => !document.getElementById(id))),
        ...[...document.querySelectorAll('th:not([scope]), table:not(:has(caption)), form:not([aria-label], [aria-labelledby], .key)')],
        ...[...document.querySelectorAll('[tabindex=\"0\"]')].filter(node => !tabbed(node)),
    ].map(node => node.outerHTML.slice(0, 100)).concat(ids.filter((id, at) => ids.indexOf(id) !== at));";

pub(crate) async fn assert_open_to_all(browser: &mut Browser) -> TestResult {
    assert_eq!(browser.run(BARRIERS).await?, json!([]));
    Ok(())
}

/// Returns the first person of the demo with an e-mail address: its URL, and the address.
async fn create_person(session: &Session, client: &mut Client) -> TestResult<(String, String)> {
    let people = client
        .get(&format!("{}people", session.demo.base_url))
        .await?;
    let people = people["_embedded"]["svc:people"]
        .as_array()
        .ok_or("no people")?;
    let address = |person: &&Value| person["email_addresses"][0]["address"].is_string();
    let person = people
        .iter()
        .find(address)
        .ok_or("no person with an address")?;
    let email = person["email_addresses"][0]["address"]
        .as_str()
        .ok_or("no address")?
        .to_owned();
    Ok((link(person, "self")?, email))
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn flt_03_a_collection_is_filtered_and_what_is_wrong_stands_at_the_filter() -> TestResult {
    let mut session = Session::start().await?;
    let mut client = session.client().await?;
    let (_, email) = create_person(&session, &mut client).await?;
    session.use_key(KEY).await?;
    session.open("people").await?;
    session.browser.click("//summary[.='Filter']").await?;
    session
        .browser
        .enter("filter", &format!("email_address eq '{email}'"))
        .await?;
    session.browser.press("Apply").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('Page 1 of 1')")
        .await?;
    session
        .browser
        .wait_for("document.querySelectorAll('.records tbody tr').length === 1")
        .await?;
    assert!(session.browser.text().await?.contains(&email));
    assert_open_to_all(&mut session.browser).await?;
    // The error of the server is at the field, with the typed text.
    session.browser.enter("filter", "shoe_size eq '42'").await?;
    session.browser.press("Apply").await?;
    session
        .browser
        .wait_for(
            "document.querySelector('.query [aria-invalid=true]')?.value === \"shoe_size eq '42'\"",
        )
        .await?;
    let said = "return [...document.querySelectorAll('.query .errors li')].map(problem => problem.textContent);";
    let said = session.browser.run(said).await?;
    let said = said[0].as_str().ok_or("no error text")?;
    assert!(
        said.starts_with("FILTER_INVALID")
            && said.contains("at character 1")
            && said.contains("email_address"),
        "{said}"
    );
    assert_eq!(
        session
            .browser
            .run("return document.activeElement.value;")
            .await?,
        "shoe_size eq '42'"
    );
    assert_open_to_all(&mut session.browser).await?;
    // Ordered by a date, with the following pages; then all records again.
    session.browser.enter("filter", "").await?;
    session.browser.choose("order", "modified_date").await?;
    session.browser.press("Apply").await?;
    session.browser.press("Next page").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('Page 2 of 3')")
        .await?;
    let hash = session.browser.run("return location.hash;").await?;
    assert!(
        hash.as_str()
            .is_some_and(|hash| hash.contains("order=modified_date") && hash.contains("page=2")),
        "{hash}"
    );
    session.browser.press("Show all").await?;
    session
        .browser
        .wait_for("location.hash === '#/people' && document.querySelectorAll('.records tbody tr').length === 25")
        .await?;
    // A collection without filters has no form.
    session.open("people/nobody/signatures").await?;
    assert_eq!(
        session
            .browser
            .run("return document.querySelector('.query');")
            .await?,
        Value::Null
    );
    session.end(&[400, 404]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn etg_07_what_somebody_changed_meanwhile_is_shown_and_not_overwritten() -> TestResult {
    let mut session = Session::start().await?;
    let mut client = session.client().await?;
    let (person, _) = create_person(&session, &mut client).await?;
    let path = person
        .strip_prefix(&session.demo.base_url)
        .ok_or("elsewhere")?
        .to_owned();
    session.use_key(KEY).await?;
    session.open(&path).await?;
    session.browser.press("Change a person").await?;
    // The entity tag of the record is shown, and the form sends it.
    let tags = "const tag = document.querySelector('.tag').textContent;\
                return tag.startsWith('\"') && document.querySelector('.panel').innerText.includes(`If-Match: ${tag}`);";
    assert_eq!(session.browser.run(tags).await?, true);
    session.browser.enter("source", "a stall").await?;
    let meanwhile = client
        .send(
            "PUT",
            &person,
            Some(&json!({"given_name": "Meanwhile", "source": "the post"})),
        )
        .await?;
    assert_eq!(meanwhile.status, 200);
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelector('.panel').innerText.includes('This record has been changed since you read it')")
        .await?;
    let cells = "return [...document.querySelectorAll('.conflict tbody tr')].map(row => [...row.children].map(cell => cell.textContent));";
    let cells = session.browser.run(cells).await?;
    let cells = cells.as_array().ok_or("no table")?;
    let row = |name: &str| cells.iter().find(|row| row[0] == name).ok_or("no such row");
    assert_eq!(
        (&row("given_name")?[2], &row("given_name")?[3]),
        (&json!("Meanwhile"), &json!("–"))
    );
    assert_eq!(
        (&row("source")?[2], &row("source")?[3]),
        (&json!("the post"), &json!("a stall"))
    );
    assert_eq!(
        client.get(&person).await?["source"],
        "the post",
        "nothing was overwritten"
    );
    // The same for a form that is opened again: it has the record as it was read, with its tag.
    session.browser.press("Close").await?;
    session.browser.press("Change a person").await?;
    session.browser.enter("source", "a stall").await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelector('.panel').innerText.includes('This record has been changed since you read it')")
        .await?;
    assert_eq!(
        client.get(&person).await?["source"],
        "the post",
        "nor with the tag of a version that was not shown"
    );
    assert_open_to_all(&mut session.browser).await?;
    // Only the typed values are changed in the current version.
    session.browser.press("Apply to the current record").await?;
    session
        .browser
        .wait_for("document.querySelector('.properties')?.innerText.includes('a stall')")
        .await?;
    let now = client.get(&person).await?;
    assert_eq!(
        (&now["given_name"], &now["source"]),
        (&json!("Meanwhile"), &json!("a stall"))
    );
    let sent = session.browser.requested_bodies().await?;
    assert_eq!(sent, ["{\"source\": \"a stall\"}"; 3]);
    // A record that was changed since it was read is not deleted without a warning, either.
    session.browser.press("Delete a person").await?;
    assert_eq!(
        client
            .send("PUT", &person, Some(&json!({"source": "a fair"})))
            .await?
            .status,
        200
    );
    session.browser.press("Delete").await?;
    session
        .browser
        .wait_for("document.querySelector('.conflict')?.innerText.includes('a fair')")
        .await?;
    assert_open_to_all(&mut session.browser).await?;
    session.browser.press("Delete the current record").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('Done: 204')")
        .await?;
    session.end(&[412]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn idm_01_a_form_whose_answer_was_lost_makes_one_record() -> TestResult {
    let mut session = Session::start().await?;
    let mut client = session.client().await?;
    let tags = format!("{}tags", session.demo.base_url);
    let before = client.get(&tags).await?["total_records"]
        .as_u64()
        .ok_or("no total")?;
    session.use_key(KEY).await?;
    session.open("tags").await?;
    session.browser.press("Create a tag").await?;
    session.browser.enter("name *", "Harbour festival").await?;
    let key = "return document.querySelector('.panel').innerText.match(/Idempotency-Key: (\\S+)/)?.[1] ?? null;";
    let first = session.browser.run(key).await?;
    assert!(first.as_str().is_some_and(|key| key.len() >= 32), "{first}");
    // The server executes the request, and the response is lost.
    let lose = "const whole = window.fetch; window.fetch = async (...request) => {\
                await whole(...request); window.fetch = whole; throw new TypeError('lost'); };";
    session.browser.run(lose).await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('The server cannot be reached: lost')")
        .await?;
    assert_eq!(session.browser.run(key).await?, first, "no answer came");
    assert_open_to_all(&mut session.browser).await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelector('.panel').innerText.includes('Done before: 201')")
        .await?;
    assert!(
        session
            .browser
            .text()
            .await?
            .contains("nothing was done twice")
    );
    assert_eq!(
        client.get(&tags).await?["total_records"],
        before + 1,
        "IDM-01"
    );
    // Another form has another key, and so has a form after a response.
    session.browser.press("Create a tag").await?;
    let second = session.browser.run(key).await?;
    session.browser.enter("name *", "Harbour festival").await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelector('.panel .errors strong')")
        .await?;
    let third = session.browser.run(key).await?;
    assert!(
        first != second && second != third && third.is_string(),
        "{first} {second} {third}"
    );
    session.end(&[400]).await
}
