//! The frame of the documentation in a browser: the search by keyboard, and the pages on a
//! telephone (point 2 of the pages).

use serde_json::json;

use crate::browser::{ENTER, Session};
use crate::support::TestResult;

const SLASH: char = '/';
const DOWN: char = '\u{E015}';
const ESCAPE: char = '\u{E00C}';

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn point_2_names_fields_and_codes_are_found_by_keys_alone() -> TestResult {
    let mut session = Session::start().await?;
    let start = format!("{}docs/", session.demo.base_url);
    let shown = "document.querySelector('dialog.search')?.open";
    for (text, path, hash) in [
        ("given_name", "/docs/v1/person", "#field-given_name"),
        ("KEY_NOT_ALLOWED", "/docs/v1/KEY_NOT_ALLOWED", ""),
        ("record sign", "/docs/v1/record_signature_helper", ""),
        ("broken connection", "/docs/v1/idempotency", ""),
    ] {
        session.browser.open(&start).await?;
        session
            .browser
            .wait_for("document.getElementById('search').hidden === false")
            .await?;
        session.browser.key(SLASH).await?;
        session.browser.wait_for(shown).await?;
        session.browser.type_into("//dialog//input", text).await?;
        session
            .browser
            .wait_for("document.querySelectorAll('.found a').length > 0")
            .await?;
        session.browser.key(DOWN).await?;
        session
            .browser
            .wait_for("document.activeElement === document.querySelector('.found a')")
            .await?;
        session.browser.key(ENTER).await?;
        let there = format!(
            "location.pathname.endsWith({}) && location.hash === {}",
            json!(path),
            json!(hash)
        );
        session.browser.wait_for(&there).await?;
    }
    // Without results there is a message, and a key returns.
    session.browser.key(SLASH).await?;
    session.browser.type_into("//dialog//input", "qqqq").await?;
    session
        .browser
        .wait_for("document.querySelector('dialog [role=status]').textContent === '0 found'")
        .await?;
    session.browser.key(ESCAPE).await?;
    session
        .browser
        .wait_for("!document.querySelector('dialog.search').open")
        .await?;
    session.end(&[]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn point_2_on_a_telephone_the_pages_stand_behind_a_button_and_fields_are_lists() -> TestResult
{
    let mut session = Session::start().await?;
    let person = format!("{}docs/v1/person", session.demo.base_url);
    let is_shown = "return getComputedStyle(document.getElementById('pages')).display !== 'none';";
    session.browser.open(&person).await?;
    assert_eq!(
        session.browser.run(is_shown).await?,
        true,
        "next to the text"
    );
    session.browser.narrow().await?;
    session.browser.open(&person).await?;
    assert_eq!(session.browser.run(is_shown).await?, false);
    session.browser.press("Pages").await?;
    session
        .browser
        .wait_for("document.getElementById('pages').matches(':popover-open')")
        .await?;
    session
        .browser
        .click("//nav[@id='pages']//a[.='Petition']")
        .await?;
    session
        .browser
        .wait_for("location.pathname.endsWith('/docs/v1/petition')")
        .await?;
    let fits =
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth;";
    assert_eq!(session.browser.run(fits).await?, true);
    let seen = "const cells = [...document.querySelectorAll('.fields td')];
        return cells.length > 0 && cells.every((cell) => cell.getBoundingClientRect().right <= innerWidth);";
    assert_eq!(
        session.browser.run(seen).await?,
        true,
        "every cell of every field is seen"
    );
    session.end(&[]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn f14_a_browser_finds_its_way_from_the_entry_point_and_from_what_is_mistyped() -> TestResult
{
    let mut session = Session::start().await?;
    let base = session.demo.base_url.clone();
    session.browser.open(&base).await?;
    session
        .browser
        .wait_for("document.querySelector('h1').textContent.includes('entry point')")
        .await?;
    session
        .browser
        .open(&format!("{base}docs/v1/persn"))
        .await?;
    session
        .browser
        .click("//section[@id='did-you-mean']//a[.='svc:person']")
        .await?;
    session
        .browser
        .wait_for("location.pathname.endsWith('/docs/v1/person')")
        .await?;
    // From a request on the page to the explorer.
    session
        .browser
        .click("//a[@aria-label='Try it in the explorer: List people']")
        .await?;
    session
        .browser
        .wait_for("document.querySelector('h1')?.textContent === 'people'")
        .await?;
    session.end(&[404, 401]).await
}
