//! Two people next to each other in the explorer: the result of a merge, the merge, and its undo.
//!
//! Requirements: MRG-19, MRG-20, DUP-06.

use serde_json::{Value, json};

use crate::browser::conditional_writes::assert_open_to_all;
use crate::browser::{ENTER, Session};
use crate::support::TestResult;
use crate::support::client::{Client, link};
use crate::support::program::KEY;

/// The rows of a table, by its caption.
fn rows(caption: &str) -> String {
    format!(
        "return [...document.querySelectorAll('caption')].filter(caption => caption.textContent === {caption:?}).flatMap(caption => \
         [...caption.parentNode.querySelectorAll('tbody tr')].map(row => [...row.children].map(cell => cell.textContent)));"
    )
}

/// Creates two people who may be the same person, and returns their URLs.
async fn create_pair(session: &Session, client: &mut Client) -> TestResult<[String; 2]> {
    let people = format!("{}people", session.demo.base_url);
    let email = |status: &str| json!([{"address": "ada@lovelace.example", "status": status}]);
    let one = json!({"given_name": "Ada", "family_name": "Lovelace", "source": "a stall",
        "email_addresses": email("subscribed")});
    let other = json!({"given_name": "Augusta", "family_name": "Lovelace", "honorific_prefix": "Countess",
        "email_addresses": email("unsubscribed")});
    let one = client.post(&people, &one).await?;
    let other = client.post(&people, &other).await?;
    Ok([link(&one, "self")?, link(&other, "self")?])
}

fn path_of(session: &Session, address: &str) -> TestResult<String> {
    let path = address.strip_prefix(&session.demo.base_url);
    Ok(path.ok_or("elsewhere")?.to_owned())
}

async fn status(client: &mut Client, address: &str) -> TestResult<u16> {
    Ok(client.send("GET", address, None).await?.status)
}

impl Session {
    /// Returns the row of a field in the comparison of two people.
    async fn field(&mut self, name: &str) -> TestResult<Vec<Value>> {
        let all = self.browser.run(&rows("Fields of both people")).await?;
        let all = all.as_array().ok_or("no rows")?;
        let row = all.iter().find(|row| row[0] == name);
        let row = row.and_then(Value::as_array);
        Ok(row
            .ok_or_else(|| format!("no row of {name}: {all:?}"))?
            .clone())
    }
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn mrg_19_a_pair_is_compared_merged_and_separated_again() -> TestResult {
    let mut session = Session::start().await?;
    let mut client = session.client().await?;
    let [one, other] = create_pair(&session, &mut client).await?;
    session.use_key(KEY).await?;
    let duplicates = format!("{}/duplicates", path_of(&session, &one)?);
    session.open(&duplicates).await?;
    let pair = "//table[@class='records']//tbody//a[.='Ada Lovelace and Augusta Lovelace']";
    session.browser.click(pair).await?;
    session
        .browser
        .wait_for("document.querySelector('h1').textContent === 'Ada Lovelace and Augusta Lovelace' && document.querySelector('.conflict')")
        .await?;
    assert_open_to_all(&mut session.browser).await?;
    // The result is that of a preview.
    assert_eq!(
        session.field("given_name").await?,
        [
            "given_name",
            "Ada",
            "Augusta",
            "Ada",
            "a value is overruled"
        ]
    );
    assert_eq!(
        session.field("honorific_prefix").await?,
        ["honorific_prefix", "–", "Countess", "Countess", "changes"]
    );
    let stricter = session.browser.run(&rows("Stricter values")).await?;
    assert_eq!(
        stricter,
        json!([["email_addresses[0].status", "subscribed", "unsubscribed"]])
    );
    assert_eq!(status(&mut client, &other).await?, 200, "only a preview");
    // The other one remains.
    session.browser.press("Exchange who remains").await?;
    session
        .browser
        .wait_for("document.activeElement.textContent === 'Exchange who remains'")
        .await?;
    assert_eq!(
        session.field("given_name").await?,
        [
            "given_name",
            "Augusta",
            "Ada",
            "Augusta",
            "a value is overruled"
        ]
    );
    // A change since then is not lost.
    let change = json!({"source": "the post"});
    assert_eq!(client.send("PUT", &one, Some(&change)).await?.status, 200);
    session.browser.press("Merge").await?;
    session
        .browser
        .wait_for("document.querySelector('.errors')?.innerText.includes('Nothing was done')")
        .await?;
    assert_eq!(session.field("source").await?[2], "the post");
    assert_open_to_all(&mut session.browser).await?;
    // The focus is on the message, so that a key that is still pressed does not merge.
    session
        .browser
        .wait_for("document.activeElement.classList.contains('errors')")
        .await?;
    session.browser.key(ENTER).await?;
    assert_eq!(status(&mut client, &one).await?, 200, "nothing is merged");
    // With the keyboard.
    let focus =
        "[...document.querySelectorAll('button')].find((it) => it.textContent === 'Merge').focus()";
    session.browser.run(focus).await?;
    session.browser.key(ENTER).await?;
    session
        .browser
        .wait_for(
            "document.body.innerText.includes('Ada Lovelace is merged into Augusta Lovelace')",
        )
        .await?;
    assert_eq!(status(&mut client, &one).await?, 301);
    assert_eq!(client.get(&other).await?["source"], "the post");
    assert_open_to_all(&mut session.browser).await?;
    session.browser.press("Undo").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('Both people exist again') && document.querySelector('.conflict')")
        .await?;
    assert_eq!(client.get(&one).await?["given_name"], "Ada");
    assert_eq!(client.get(&other).await?["given_name"], "Augusta");
    assert_open_to_all(&mut session.browser).await?;
    // The undo has dismissed the pair, which is listed again, and dismissed again.
    session.browser.press("They may be the same person").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('The pair is listed again')")
        .await?;
    let pairs = format!("{one}/duplicates");
    let listed = client.get(&pairs).await?;
    assert_eq!(listed["_embedded"]["ext:duplicates"][0]["dismissed"], false);
    session.browser.press("These are different people").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('The pair is no longer listed')")
        .await?;
    let listed = client.get(&pairs).await?;
    assert_eq!(listed["_embedded"]["ext:duplicates"], json!([]));
    session.end(&[412]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn mrg_19_the_people_of_a_merge_form_are_compared_first() -> TestResult {
    let mut session = Session::start().await?;
    let mut client = session.client().await?;
    let [one, other] = create_pair(&session, &mut client).await?;
    session.use_key(KEY).await?;
    let path = path_of(&session, &one)?;
    session.open(&path).await?;
    session
        .browser
        .press("Merge another person into this one")
        .await?;
    session.browser.press("Compare both people").await?;
    session
        .browser
        .wait_for("document.querySelector('.said').innerText.includes('URL of the other person')")
        .await?;
    let field = "//*[@role='group'][starts-with(@aria-label, '_links')]//label[starts-with(normalize-space(), 'svc:person')]";
    session
        .browser
        .type_into(&format!("//*[@id={field}/@for]"), &other)
        .await?;
    session.browser.press("Compare both people").await?;
    session
        .browser
        .wait_for("document.querySelector('.panel .conflict')")
        .await?;
    assert_eq!(session.field("given_name").await?[3], "Ada");
    let consent = "If one address is unsubscribed, all are";
    session.browser.choose("Consent", consent).await?;
    session
        .browser
        .wait_for("document.querySelector('.panel select')?.value === 'strictest'")
        .await?;
    session.browser.press("Merge").await?;
    session
        .browser
        .wait_for(
            "document.querySelector('.panel').innerText.includes('is merged into Ada Lovelace')",
        )
        .await?;
    assert_eq!(status(&mut client, &other).await?, 301);
    let sent = session.browser.requested_bodies().await?;
    let last = sent.last().ok_or("no body")?;
    assert!(
        last.contains("strictest") && last.contains("merged_etag") && !last.contains("preview"),
        "{last}"
    );
    // The shown person has the new values.
    session
        .browser
        .wait_for("document.querySelector('.properties')?.innerText.includes('Countess')")
        .await?;
    session.browser.press("Undo").await?;
    session
        .browser
        .wait_for("document.querySelector('.panel').innerText.includes('Both people exist again')")
        .await?;
    assert_eq!(status(&mut client, &other).await?, 200);
    session.browser.press("Close").await?;
    session
        .browser
        .wait_for("document.activeElement.textContent === 'Merge another person into this one'")
        .await?;
    session.end(&[]).await
}
