//! The page *Import* as an organiser uses it: a table with a misleading column name is dropped, corrected and
//! imported. The rejected row is downloaded, corrected and imported.

use serde_json::json;

use crate::browser::{ENTER, Session};
use crate::support::TestResult;
use crate::support::client::link;
use crate::support::program::KEY;

/// A German table in Windows-1252. The column `Mobil` contains e-mail addresses.
const TABLE: &[u8] = b"Vorname;Nachname;Mobil;Stra\xDFe;Ort\n\
    J\xFCrgen;M\xFCller;juergen@example.org;Am Ring 1;K\xF6ln\n\
    Zo\xEB;Gro\xDF;zoe@example.org;Am Ring 2;Bonn\n\
    Udo;Klein;udo at example;Am Ring 3;Bonn\n";

/// Stores the next saved file, instead of using a folder for downloads.
const KEEP: &str = "URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return '#'; };
    HTMLAnchorElement.prototype.click = function () { window.savedAs = this.download; };";

async fn drop_file(session: &mut Session, name: &str, bytes: &[u8]) -> TestResult {
    let script = format!(
        "const data = new DataTransfer(); data.items.add(new File([new Uint8Array({})], {}));
         const how = {{ dataTransfer: data, bubbles: true, cancelable: true }};
         document.querySelector('.drop').dispatchEvent(new DragEvent('drop', how));",
        json!(bytes),
        json!(name)
    );
    session.browser.run(&script).await?;
    Ok(())
}

async fn heading(session: &mut Session, text: &str) -> TestResult {
    let expression = format!(
        "document.querySelector('h2')?.textContent === {}",
        json!(text)
    );
    session.browser.wait_for(&expression).await
}

async fn choose(session: &mut Session, column: &str, title: &str) -> TestResult {
    let option = format!("//select[@aria-label='{column}: contains']//option[.='{title}']");
    session.browser.click(&option).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn a_table_is_dropped_corrected_and_imported() -> TestResult {
    let mut session = Session::start().await?;
    let docs = format!("{}docs/", session.demo.base_url);
    session.browser.open(&docs).await?;
    session.browser.click("//header//a[.='Import']").await?;
    heading(&mut session, "1. Enter your API key").await?;
    session.use_key("not-a-key-of-this-server").await?;
    session
        .browser
        .wait_for("document.querySelector('.problem')?.textContent === 'The server does not know this API key.'")
        .await?;
    session.use_key(KEY).await?;
    heading(&mut session, "2. Choose a table of people").await?;

    drop_file(&mut session, "leute.csv", TABLE).await?;
    heading(&mut session, "3. Check what the columns contain").await?;
    let text = session.browser.text().await?;
    for expected in [
        "CSV table, columns separated by semicolons, 3 rows.",
        "Jürgen",
        "Zoë",
        "Köln",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let chosen = "return [...document.querySelectorAll('.mapping select')].map(select => select.selectedOptions[0].textContent);";
    assert_eq!(
        session.browser.run(chosen).await?,
        json!([
            "First name",
            "Last name",
            "Mobile phone number",
            "Street and house number",
            "City"
        ])
    );
    choose(&mut session, "Column C, Mobil", "E-mail address").await?;
    choose(&mut session, "Column E, Ort", "Keep as custom field").await?;
    session.browser.press("Show what would change").await?;
    session
        .browser
        .wait_for("document.querySelector('.counts')?.textContent === 'new people2not imported1'")
        .await?;
    // By keyboard.
    session.reach("Import 3 rows").await?;
    session.browser.key(ENTER).await?;
    heading(&mut session, "5. The import is complete").await?;
    let counts = "return [...document.querySelectorAll('.counts > div')].map(row => [row.children[0].textContent, row.children[1].textContent]);";
    assert_eq!(
        session.browser.run(counts).await?,
        json!([["new people", "2"], ["not imported", "1"]])
    );

    session.browser.run(KEEP).await?;
    session
        .browser
        .press("Download the rows that were not imported")
        .await?;
    session.browser.wait_for("window.saved").await?;
    let saved = session
        .browser
        .run("return [window.savedAs, window.saved];")
        .await?;
    assert_eq!(saved[0], "leute-not-imported.csv");
    let rejected = saved[1].as_str().ok_or("no text")?;
    assert!(
        rejected.contains("Vorname;Nachname;Mobil;Straße;Ort;error"),
        "{rejected}"
    );
    assert!(rejected.contains("Udo;Klein;udo at example;"), "{rejected}");

    let corrected = rejected.replace("udo at example", "udo@example.org");
    session.browser.press("Import another table").await?;
    heading(&mut session, "2. Choose a table of people").await?;
    drop_file(&mut session, "leute-not-imported.csv", corrected.as_bytes()).await?;
    choose(&mut session, "Column C, Mobil", "E-mail address").await?;
    session.browser.press("Import 1 row").await?;
    heading(&mut session, "5. The import is complete").await?;
    assert_eq!(
        session.browser.run(counts).await?,
        json!([["new people", "1"]])
    );

    // The page shows the result again after it was closed.
    let page = session.browser.run("return location.href;").await?;
    session
        .browser
        .open(page.as_str().ok_or("no page")?)
        .await?;
    session.use_key(KEY).await?;
    heading(&mut session, "5. The import is complete").await?;

    let mut client = session.client().await?;
    let people = link(&client.get(&session.demo.base_url).await?, "svc:people")?;
    for (name, address) in [("Jürgen", "juergen"), ("Zoë", "zoe"), ("Udo", "udo")] {
        let found = client
            .get(&format!(
                "{people}?filter=email_address%20eq%20'{address}@example.org'"
            ))
            .await?;
        assert_eq!(
            found["_embedded"]["svc:people"][0]["given_name"], name,
            "{found}"
        );
    }
    session.end(&[401]).await
}
