//! Sent and received data is shown unchanged, and the view is up to date (F3, F4, F6, F7, F9, F11
//! of the pages).

use serde_json::{Value, json};

use crate::browser::Session;
use crate::support::TestResult;
use crate::support::client::link;
use crate::support::program::KEY;

/// Responds to requests for one path with a text, until the page is left.
pub(crate) fn answering(path: &str, text: &str) -> String {
    let (path, text) = (json!(path), json!(text));
    format!(
        "const whole = window.fetch; window.fetch = async (address, how) => String(address).endsWith({path})
            ? new Response({text}, {{ headers: {{ 'Content-Type': 'application/hal+json' }} }}) : whole(address, how);"
    )
}

const BODY: &str =
    "return document.querySelector('.exchange [aria-label=\"Body of the response\"]').textContent;";

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn f3_the_exchange_of_a_write_stays_beside_the_record_it_led_to() -> TestResult {
    let mut session = Session::at_form("tags", "Create a tag").await?;
    session.browser.enter("name *", "seen").await?;
    session
        .browser
        .enter("description", "To be emptied")
        .await?;
    session.browser.press("Send").await?;
    session.browser.click("//a[.='Open seen']").await?;
    session
        .browser
        .wait_for("document.querySelector('h1').textContent === 'seen'")
        .await?;
    let shown = "return document.querySelector('.exchange').innerText;";
    let exchange = session.browser.run(shown).await?;
    let exchange = exchange.as_str().unwrap_or_default();
    assert!(
        exchange.contains("POST ")
            && exchange.contains("\"name\": \"seen\"")
            && exchange.contains("201"),
        "{exchange}"
    );
    // The same for a change: the merge patch with its null, its response, and the copy of its
    // request.
    session.browser.press("Change a tag").await?;
    session.browser.enter("description", "").await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelector('.exchange')?.innerText.includes('PUT ')")
        .await?;
    let exchange = session.browser.run(shown).await?;
    let exchange = exchange.as_str().unwrap_or_default();
    for part in [
        "Your change",
        "{\"description\": null}",
        "200 OK",
        "If-Match: ",
        "GET ",
    ] {
        assert!(exchange.contains(part), "{part}: {exchange}");
    }
    session
        .browser
        .click("(//section[@class='exchange']//button[.='Copy as curl'])[1]")
        .await?;
    session
        .browser
        .wait_for("document.querySelector('.copies pre').textContent.includes('-X PUT')")
        .await?;
    // On other pages it is not shown.
    session.open("people").await?;
    session
        .browser
        .wait_for("!document.querySelector('.exchange').innerText.includes('PUT ')")
        .await?;
    session.end(&[]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn f4_bytes_are_shown_as_they_were_received() -> TestResult {
    let mut session = Session::start().await?;
    session.use_key(KEY).await?;
    let text = "{\"name\": \"gnp\u{202E}x\",  \"amount\": 10.50, \"large\": 9007199254740993, \"small\": 1E-7,\n \"escaped\": \"\\u00e9\"}";
    session.browser.run(&answering("/tags/odd", text)).await?;
    session.open("tags/odd").await?;
    session
        .browser
        .wait_for("document.querySelector('.properties')")
        .await?;
    let body = session.browser.run(BODY).await?;
    let body = body.as_str().unwrap_or_default();
    for part in [
        "\"amount\": 10.50",
        "\"large\": 9007199254740993",
        "\"small\": 1E-7",
        "\"\\u00e9\"",
        "\"gnpU+202Ex\"",
    ] {
        assert!(body.contains(part), "{part}: {body}");
    }
    let cells =
        "return [...document.querySelectorAll('.properties td')].map(cell => cell.textContent);";
    let cells = session.browser.run(cells).await?;
    assert_eq!(
        cells,
        json!(["gnpU+202Ex", "10.50", "9007199254740993", "1E-7", "é"])
    );
    // No text on the page, including the title, changes the text direction. A copy has every byte.
    let turning = "return [document.body.textContent.includes('\\u202E'), document.title.includes('\\u202E')];";
    assert_eq!(session.browser.run(turning).await?, json!([false, false]));
    session.browser.press("Copy response").await?;
    session
        .browser
        .wait_for(&format!(
            "document.querySelector('.copies pre').textContent === {}",
            json!(text)
        ))
        .await?;
    session.end(&[]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn f6_what_was_deleted_is_gone_and_totals_are_those_of_now() -> TestResult {
    let mut session = Session::start().await?;
    session.use_key(KEY).await?;
    session.open("tags").await?;
    let total = "return Number(document.querySelector('.paging span').textContent.match(/(\\d+) in all/)[1]);";
    let before = session
        .browser
        .run(total)
        .await?
        .as_u64()
        .ok_or("no total")?;
    session.browser.press("Create a tag").await?;
    session.browser.enter("name *", "short-lived").await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelector('.panel').innerText.includes('Done: 201')")
        .await?;
    assert_eq!(session.browser.run(total).await?, before + 1, "F6");
    session.browser.click("//a[.='Open short-lived']").await?;
    session.browser.press("Delete a tag").await?;
    session.browser.press("Delete").await?;
    session
        .browser
        .wait_for("document.querySelector('h1').textContent === 'Deleted: short-lived'")
        .await?;
    let left = "return ['.properties', '.actions', '.panel', '.links'].filter(part => document.querySelector(part));";
    assert_eq!(session.browser.run(left).await?, json!([]));
    assert!(
        session.browser.text().await?.contains("DELETE "),
        "its exchange stays"
    );
    assert_eq!(
        session
            .browser
            .run("return document.activeElement.localName;")
            .await?,
        "h1"
    );
    session.browser.click("//a[.='Go to tags']").await?;
    session
        .browser
        .wait_for("document.querySelector('h1').textContent === 'tags'")
        .await?;
    assert_eq!(session.browser.run(total).await?, before);
    session.end(&[]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn f7_nested_objects_are_indented_and_f11_a_huge_document_is_folded() -> TestResult {
    let mut session = Session::start().await?;
    session.use_key(KEY).await?;
    session.open("petitions").await?;
    session
        .browser
        .click("(//table[@class='records']//tbody//a)[1]")
        .await?;
    session
        .browser
        .wait_for("document.querySelector('.properties')")
        .await?;
    let inset =
        "const at = name => [...document.querySelectorAll('.properties dt')].find(node => node.textContent === name)
        .getBoundingClientRect().left; return at('subject') - at('email_share');";
    assert!(
        session
            .browser
            .run(inset)
            .await?
            .as_f64()
            .is_some_and(|inset| inset >= 8.0),
        "F7"
    );
    session.open("docs/capabilities").await?;
    session
        .browser
        .wait_for("document.querySelector('.folded')")
        .await?;
    let height = session
        .browser
        .run("return document.documentElement.scrollHeight;")
        .await?;
    assert!(
        height.as_f64().is_some_and(|height| height < 6000.0),
        "F11: {height}"
    );
    // Folded content is created when it is opened.
    session
        .browser
        .click("//th[.='collections']/following-sibling::td//summary")
        .await?;
    session
        .browser
        .wait_for("document.querySelector('.folded[open]').innerText.includes('people')")
        .await?;
    // For a huge response, only the visible part has nodes.
    let records = (0..50_000).map(|at| {
        format!("{{\"a\": [{at}, \"a text that is long enough for a line of its own\"]}}")
    });
    let huge = format!("{{\"all\": [{}]}}", records.collect::<Vec<_>>().join(","));
    session.browser.run(&answering("/tags/huge", &huge)).await?;
    session.open("tags/huge").await?;
    session
        .browser
        .wait_for("document.querySelector('.exchange details')")
        .await?;
    let nodes = session
        .browser
        .run("return document.querySelectorAll('*').length;")
        .await?;
    assert!(nodes.as_u64().is_some_and(|nodes| nodes < 3000), "{nodes}");
    session.end(&[]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn f9_a_key_is_kept_in_the_tab_only_where_somebody_asks_for_it() -> TestResult {
    let mut session = Session::start().await?;
    session.use_key(KEY).await?;
    session.open("people").await?;
    let kept =
        "return [sessionStorage.length, Object.values(sessionStorage).includes(arguments[0])];";
    let kept = kept.replace("arguments[0]", &json!(KEY).to_string());
    assert_eq!(
        session.browser.run(&kept).await?,
        json!([0, false]),
        "in memory only"
    );
    session
        .browser
        .click("//label[.='Remember in this tab']")
        .await?;
    assert_eq!(session.browser.run(&kept).await?, json!([1, true]));
    let reload = "location.reload();";
    session.browser.run(reload).await?;
    session
        .browser
        .wait_for("document.querySelectorAll('.records tbody tr').length === 25")
        .await?;
    assert_eq!(
        session
            .browser
            .run("return document.getElementById('keep').checked;")
            .await?,
        true
    );
    // A forgotten key is removed immediately and permanently.
    session.browser.press("Forget key").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('This needs a key')")
        .await?;
    assert_eq!(session.browser.run(&kept).await?, json!([0, false]));
    session.browser.run(reload).await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('This needs a key')")
        .await?;
    session.end(&[401]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn f11_back_leads_where_one_was() -> TestResult {
    let mut session = Session::start().await?;
    session.use_key(KEY).await?;
    session.open("people").await?;
    session.browser.run("scrollTo(0, 700);").await?;
    session.browser.wait_for("scrollY === 700").await?;
    session
        .browser
        .run(
            "return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));",
        )
        .await?;
    session
        .browser
        .run("document.querySelectorAll('.records tbody a')[9].click();")
        .await?;
    session
        .browser
        .wait_for("document.querySelector('.properties') && scrollY === 0")
        .await?;
    session.browser.turn("history.back();").await?;
    session
        .browser
        .wait_for("document.querySelector('h1').textContent === 'people' && scrollY === 700")
        .await?;
    session.browser.turn("history.forward();").await?;
    session
        .browser
        .wait_for("document.querySelector('.properties') && scrollY === 0")
        .await?;
    session.end(&[]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn all_exchanges_of_the_tab_are_listed_and_a_write_is_repeated_on_request_only() -> TestResult
{
    let mut session = Session::start().await?;
    let mut client = session.client().await?;
    session.use_key(KEY).await?;
    session.open("petitions").await?;
    let petitions = client
        .get(&format!("{}petitions", session.demo.base_url))
        .await?;
    let signatures = link(
        &petitions["_embedded"]["svc:petitions"][0],
        "svc:signatures",
    )?;
    let before = client.get(&signatures).await?["total_records"]
        .as_u64()
        .ok_or("no total")?;
    session
        .browser
        .click("(//table[@class='records']//tbody//a)[1]")
        .await?;
    session
        .browser
        .press("Record a signature on a petition")
        .await?;
    session.browser.enter("given_name", "Ida").await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelectorAll('.steps > li').length === 2")
        .await?;
    session
        .browser
        .click("//summary[starts-with(., 'Exchanges of this tab')]")
        .await?;
    // The browser reports the first view a short time later.
    session
        .browser
        .wait_for("document.querySelector('.journal tbody tr')")
        .await?;
    let rows = "return [...document.querySelectorAll('.journal tbody tr')].map(row => [...row.cells].slice(0, 3).map(cell => cell.textContent));";
    let rows = session.browser.run(rows).await?;
    let rows = rows.as_array().ok_or("no rows")?;
    let post = rows.iter().find(|row| row[0] == "POST").ok_or("no write")?;
    assert!(
        post[1]
            .as_str()
            .is_some_and(|path| path.ends_with("/record_signature_helper"))
            && post[2] == "200",
        "{post}"
    );
    assert!(
        rows.iter()
            .any(|row| row == &json!(["GET", "/petitions", "200"])),
        "{rows:?}"
    );
    let row = "//table[contains(., 'newest first')]//tr[td[1]='POST']";
    // An exchange is shown again, and copied.
    session
        .browser
        .click(&format!("({row}//button[.='Open'])[1]"))
        .await?;
    session
        .browser
        .wait_for("document.querySelector('.exchange').innerText.includes('Earlier exchange')")
        .await?;
    session
        .browser
        .click(&format!("({row}//button[.='Copy'])[1]"))
        .await?;
    session
        .browser
        .wait_for(
            "document.querySelector('.journal pre:not([hidden])')?.textContent.includes('-X POST')",
        )
        .await?;
    assert!(
        !session.browser.text().await?.contains(KEY),
        "the key is in none of it"
    );
    // A write is repeated only after a confirmation. With its key, nothing is done twice.
    session
        .browser
        .click(&format!("({row}//button[.='Repeat'])[1]"))
        .await?;
    session.browser.press("Cancel").await?;
    session
        .browser
        .wait_for("!document.querySelector('dialog[open]')")
        .await?;
    assert_eq!(client.get(&signatures).await?["total_records"], before + 1);
    session
        .browser
        .click(&format!("({row}//button[.='Repeat'])[1]"))
        .await?;
    session.browser.press("Get the first response").await?;
    session
        .browser
        .wait_for(
            "document.querySelector('.exchange').innerText.includes('nothing was done twice')",
        )
        .await?;
    assert_eq!(
        client.get(&signatures).await?["total_records"],
        before + 1,
        "IDM-01"
    );
    session
        .browser
        .click(&format!("({row}//button[.='Repeat'])[1]"))
        .await?;
    session.browser.press("Execute it again").await?;
    session
        .browser
        .wait_for(
            "!document.querySelector('.exchange').innerText.includes('nothing was done twice')",
        )
        .await?;
    assert_eq!(client.get(&signatures).await?["total_records"], before + 2);
    session.end(&[]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn idm_01_a_changed_body_has_a_key_of_its_own() -> TestResult {
    let mut session = Session::at_form("tags", "Create a tag").await?;
    session.browser.enter("name *", "first-text").await?;
    let key = "return document.querySelector('.panel').innerText.match(/Idempotency-Key: (\\S+)/)?.[1] ?? null;";
    let first = session.browser.run(key).await?;
    let lose = "const whole = window.fetch; window.fetch = async (...request) => {\
                await whole(...request); window.fetch = whole; throw new TypeError('lost'); };";
    session.browser.run(lose).await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('The server cannot be reached: lost')")
        .await?;
    session.browser.enter("name *", "second-text").await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelector('.panel').innerText.includes('Done: 201')")
        .await?;
    let sent =
        "return document.querySelector('.exchange').innerText.match(/Idempotency-Key: (\\S+)/)[1];";
    let second = session.browser.run(sent).await?;
    assert!(first != second && first != Value::Null, "{first} {second}");
    session.end(&[]).await
}
