//! Safe and visible writes: one request at a time, a correct focus, and rejections with a hint.
//!
//! Requirements: IDM-01, AUT-03, AUT-04.

use serde_json::json;

use crate::browser::Session;
use crate::support::TestResult;

/// A key that the demo does not know.
pub(crate) const WRONG: &str =
    "svck_0000000000000000000000000000000000000000000000000000000000000000";
/// A read-only key of the demo.
pub(crate) const READS: &str = "browser-key-that-may-only-read";

const FOCUSED: &str = "return document.activeElement.textContent;";

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn idm_01_what_is_clicked_three_times_is_sent_once_and_the_focus_goes_on() -> TestResult {
    let mut session = Session::at_form("tags", "Create a tag").await?;
    session.browser.enter("name *", "clicked-thrice").await?;
    let thrice =
        "const send = document.querySelector('.panel button[type=submit]'); [1, 2, 3].forEach(() => send.click());
                  return send.getAttribute('aria-disabled');";
    assert_eq!(session.browser.run(thrice).await?, "true");
    session
        .browser
        .wait_for("document.querySelector('.panel').innerText.includes('Done: 201')")
        .await?;
    let sent = session.browser.requested_bodies().await?;
    assert_eq!(
        sent.iter()
            .filter(|body| body.contains("clicked-thrice"))
            .count(),
        1,
        "{sent:?}"
    );
    let focused = session.browser.run(FOCUSED).await?;
    assert!(
        focused
            .as_str()
            .is_some_and(|text| text.starts_with("Done: 201")),
        "{focused}"
    );
    // Closing a form moves the focus to where it was opened.
    session.browser.press("Create a tag").await?;
    session.browser.press("Close").await?;
    assert_eq!(session.browser.run(FOCUSED).await?, "Create a tag");
    // A rejected request can be sent again.
    session.browser.press("Create a tag").await?;
    session.browser.enter("name *", "volunteer").await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelector('.panel .errors strong')")
        .await?;
    session.browser.enter("name *", "mended").await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelector('.panel').innerText.includes('Done: 201')")
        .await?;
    // Past the end there is no page.
    session.open("tags?page=99").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('There is no page 99: the last one is ')")
        .await?;
    session.end(&[400]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn aut_03_a_wrong_key_no_key_and_a_missing_right_are_told_apart() -> TestResult {
    let mut session = Session::with(&["--read-key", &format!("demo={READS}")]).await?;
    let leads_on =
        "document.querySelector('main a[href$=authentication]')?.textContent === 'About keys'";
    session.open("people").await?;
    session
        .browser
        .wait_for("document.querySelector('p.bad')?.innerText.includes('This needs a key')")
        .await?;
    session.browser.wait_for(leads_on).await?;
    session.use_key(WRONG).await?;
    session
        .browser
        .wait_for("document.querySelector('p.bad')?.innerText.includes('This key is not valid')")
        .await?;
    session.browser.wait_for(leads_on).await?;
    session.use_key(READS).await?;
    session
        .browser
        .wait_for("document.querySelectorAll('.records tbody tr').length === 25")
        .await?;
    session.browser.press("Create a person").await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelector('.panel [role=alert]').innerText.includes('This key lacks the required right')")
        .await?;
    session.browser.wait_for(leads_on).await?;
    assert_eq!(
        session
            .browser
            .run("return document.querySelectorAll('.panel form').length;")
            .await?,
        json!(1)
    );
    session.end(&[401, 403]).await
}

/// F6: the response to a write does not change the view if the user has opened another page.
#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn f6_an_answer_that_comes_late_does_not_take_the_place_of_what_is_shown() -> TestResult {
    let mut session = Session::at_form("tags", "Create a tag").await?;
    session.browser.enter("name *", "left-behind").await?;
    session.browser.press("Send").await?;
    session.browser.click("//a[.='Open left-behind']").await?;
    session.browser.press("Delete a tag").await?;
    // The response arrives after the other page is ready.
    let hold = "const whole = window.fetch; window.fetch = async (address, how) => {
        const answer = await whole(address, how);
        const stands = () => document.querySelectorAll('.records tbody tr').length === 25;
        if (how?.method === 'DELETE') await new Promise((done) => {
            const look = () => (stands() ? done() : requestAnimationFrame(look));
            look();
        });
        return answer; };
        document.querySelector('.panel button[type=submit]').click(); location.hash = '#/people';";
    session.browser.run(hold).await?;
    session
        .browser
        .wait_for("document.querySelector('.said').textContent.endsWith('returned 204.')")
        .await?;
    assert_eq!(
        session
            .browser
            .run("return document.querySelector('h1').textContent;")
            .await?,
        "people"
    );
    session.end(&[]).await
}
