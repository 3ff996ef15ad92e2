//! Collections as tables: columns, pages, and exported files (point 3 of the pages).

use serde_json::{Value, json};

use crate::browser::Session;
use crate::browser::driver::Browser;
use crate::support::TestResult;
use crate::support::program::KEY;

const HEADS: &str =
    "return [...document.querySelectorAll('.records thead th')].map(head => head.textContent);";

/// Stores saved files in the page instead of writing them.
pub(crate) const KEEP: &str = "window.files = []; window.names = [];
    URL.createObjectURL = blob => { files.push(blob); return 'blob:none'; };
    HTMLAnchorElement.prototype.click = function () { names.push(this.download); };";

/// Returns the name and text of the last saved file.
async fn file(browser: &mut Browser) -> TestResult<(String, String)> {
    browser.run("window.text = null; files.at(-1).arrayBuffer().then(bytes => { window.text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes); });").await?;
    browser.wait_for("window.text !== null").await?;
    let seen = browser.run("return [names.at(-1), window.text];").await?;
    Ok((
        seen[0].as_str().ok_or("no name")?.to_owned(),
        seen[1].as_str().ok_or("no text")?.to_owned(),
    ))
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn point_3_columns_are_chosen_and_kept_without_personal_data() -> TestResult {
    let mut session = Session::start().await?;
    session.use_key(KEY).await?;
    session.open("people").await?;
    session
        .browser
        .wait_for("document.querySelectorAll('.records tbody tr').length === 25")
        .await?;
    let heads = session.browser.run(HEADS).await?;
    let heads = heads.as_array().ok_or("no heads")?.clone();
    assert_eq!(
        (&heads[0], &heads[1]),
        (&json!("record"), &json!("email_addresses[0].address")),
        "{heads:?}"
    );
    assert_eq!(heads.last(), Some(&json!("created_date")));
    // Columns that no record of the page has come from the schema. A nested column is expanded.
    session
        .browser
        .click("//summary[starts-with(., 'Columns')]")
        .await?;
    for name in ["birthdate.year", "employer_address.locality"] {
        session
            .browser
            .click(&format!("//label[.='{name}']"))
            .await?;
    }
    session.browser.click("//label[.='gender']").await?;
    let chosen = session.browser.run(HEADS).await?;
    let chosen = chosen.as_array().ok_or("no heads")?.clone();
    assert!(
        chosen.contains(&json!("birthdate.year"))
            && chosen.contains(&json!("employer_address.locality"))
    );
    assert!(!chosen.contains(&json!("gender")), "{chosen:?}");
    let years = "const at = [...document.querySelectorAll('.records thead th')].findIndex(head => head.textContent === 'birthdate.year');
        return [...document.querySelectorAll('.records tbody tr')].filter(row => /^\\d{4}$/.test(row.cells[at].textContent)).length > 0;";
    assert_eq!(session.browser.run(years).await?, true);
    // Only names of columns are stored.
    let kept = "return Object.entries(localStorage).map(([place, text]) => [place.startsWith('explorer-columns '), JSON.parse(text)]);";
    let kept = session.browser.run(kept).await?;
    let names: Vec<Value> = chosen.iter().skip(1).cloned().collect();
    assert_eq!(kept, json!([[true, names]]));
    session.browser.run("location.reload();").await?;
    session.use_key(KEY).await?;
    session
        .browser
        .wait_for("document.querySelector('.records')")
        .await?;
    assert_eq!(session.browser.run(HEADS).await?, json!(chosen));
    session
        .browser
        .click("//summary[starts-with(., 'Columns')]")
        .await?;
    session.browser.press("Reset columns").await?;
    assert_eq!(session.browser.run(HEADS).await?, json!(heads));
    session.end(&[401]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn point_3_any_page_is_reached_in_any_size() -> TestResult {
    let mut session = Session::start().await?;
    session.use_key(KEY).await?;
    session.open("people").await?;
    session.browser.choose("Per page", "10").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('Page 1 of 6')")
        .await?;
    session.browser.press("Last").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('Page 6 of 6')")
        .await?;
    session.browser.enter("Page", "4").await?;
    session.browser.press("Go").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('Page 4 of 6')")
        .await?;
    let hash = session.browser.run("return location.hash;").await?;
    assert!(
        hash.as_str()
            .is_some_and(|hash| hash.contains("page=4") && hash.contains("per_page=10")),
        "{hash}"
    );
    session.browser.press("First").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('Page 1 of 6')")
        .await?;
    // The filter remains when another page number is opened.
    session
        .open("people?filter=modified_date%20gt%20'2020-01-01T00:00:00Z'")
        .await?;
    session.browser.press("Last").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('Page 3 of 3')")
        .await?;
    let hash = session.browser.run("return location.hash;").await?;
    assert!(
        hash.as_str()
            .is_some_and(|hash| hash.contains("filter=") && hash.contains("page=3")),
        "{hash}"
    );
    session.end(&[]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn point_3_what_is_seen_and_everything_become_files_that_no_spreadsheet_runs() -> TestResult {
    let mut session = Session::start().await?;
    let mut client = session.client().await?;
    let hostile = json!({ "given_name": "Eve", "source": "=HYPERLINK(\"http://elsewhere\")", "languages_spoken": ["en"],
        "email_addresses": [{ "address": "eve@example.org" }], "custom_fields": { "note": "-1+1\nsecond, \"line\"" } });
    assert_eq!(
        client
            .send(
                "POST",
                &format!("{}people", session.demo.base_url),
                Some(&hostile)
            )
            .await?
            .status,
        201
    );
    session.use_key(KEY).await?;
    session.browser.run(KEEP).await?;
    session
        .open("people?filter=email_address%20eq%20'eve@example.org'")
        .await?;
    session
        .browser
        .wait_for("document.querySelectorAll('.records tbody tr').length === 1")
        .await?;
    session
        .browser
        .click("//summary[starts-with(., 'Columns')]")
        .await?;
    session
        .browser
        .click("//label[.='custom_fields.note']")
        .await?;
    session.browser.click("//summary[.='Export']").await?;
    session.browser.press("Export this page").await?;
    let (name, text) = file(&mut session.browser).await?;
    assert_eq!(name, "people.csv");
    let (head, rows) = text.split_once("\r\n").ok_or("no head")?;
    assert!(
        head.starts_with("\u{FEFF}id,given_name,family_name,email_addresses[1].address,source,"),
        "{head}"
    );
    assert!(head.ends_with(",custom_fields.note"), "{head}");
    assert!(
        rows.contains(",Eve,,eve@example.org,\"'=HYPERLINK(\"\"http://elsewhere\"\")\""),
        "{rows}"
    );
    assert!(rows.contains("\"'-1+1\nsecond, \"\"line\"\"\""), "{rows}");
    session.browser.run("localStorage.clear();").await?;
    // All records, page by page and unchanged.
    session.open("people?per_page=10").await?;
    session
        .browser
        .wait_for("document.querySelectorAll('.records tbody tr').length === 10")
        .await?;
    session.browser.click("//summary[.='Export']").await?;
    session.browser.choose("Format", "NDJSON").await?;
    session.browser.press("Export everything").await?;
    session
        .browser
        .wait_for("document.querySelector('.tools').innerText.includes('61 records saved.')")
        .await?;
    let (name, text) = file(&mut session.browser).await?;
    assert_eq!(name, "people.ndjson");
    let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    let all = client
        .walk(&format!("{}people", session.demo.base_url))
        .await?;
    assert_eq!(lines?, all, "the same records in the same order");
    session.end(&[]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn point_3_an_export_is_stopped_and_what_was_read_can_be_saved() -> TestResult {
    let mut session = Session::start().await?;
    session.use_key(KEY).await?;
    session.browser.run(KEEP).await?;
    session.open("people").await?;
    session
        .browser
        .wait_for("document.querySelector('.tools')")
        .await?;
    session.browser.click("//summary[.='Export']").await?;
    // Pages of ten. The second one waits until the test releases it.
    let slow = "const whole = window.fetch; let count = 0; window.fetch = async (address, how) => {
        count += 1;
        if (count === 2) { document.querySelector('.tools progress').dataset.waits = '1'; await new Promise(done => { window.letGo = done; }); }
        return whole(String(address).replace('per_page=100', 'per_page=10'), how); };";
    session.browser.run(slow).await?;
    session.browser.press("Export everything").await?;
    session
        .browser
        .wait_for("document.querySelector('.tools progress').dataset.waits")
        .await?;
    let seen = "const bar = document.querySelector('.tools progress'); return [bar.hidden, bar.value > 0.1 && bar.value < 0.3, document.querySelector('.tools [role=status]').textContent];";
    assert_eq!(
        session.browser.run(seen).await?,
        json!([false, true, "10 of 60 records read."])
    );
    session.browser.press("Stop").await?;
    session.browser.run("letGo();").await?;
    session.browser.press("Save these 20 records").await?;
    let (_, text) = file(&mut session.browser).await?;
    assert_eq!(text.lines().count(), 21);
    session.end(&[]).await
}
