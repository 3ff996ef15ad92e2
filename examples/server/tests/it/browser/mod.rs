//! The explorer, the documentation and the campaign page in a browser. Needs Chromium and
//! chromedriver: `.ci/browser` runs it.
//!
//! Requirements: ENT-22, HLP-08.

mod axe;
mod campaign_page;
mod compare;
mod conditional_writes;
mod driver;
mod exchange_view;
mod first_view;
mod frame;
mod import_page;
mod keyboard;
mod map;
mod merging;
mod page_weight;
mod partial_retry;
mod readme_pictures;
mod reflow;
mod request_preview;
mod safe_writes;
mod screenshots;
mod states;
mod step_export;
mod tables;

use serde_json::{Value, json};

use crate::browser::driver::Browser;
use crate::support::TestResult;
use crate::support::client::{Client, link};
use crate::support::program::{KEY, Program};

/// The keys that move the focus, as `WebDriver` names them.
const TAB: char = '\u{E004}';
const ENTER: char = '\u{E007}';

const HOSTILE: &str = "<img src=x onerror=document.title=1>";

/// A demo, and a browser with its explorer.
struct Session {
    demo: Program,
    browser: Browser,
    /// The URL of the explorer.
    explorer: String,
    _folder: tempfile::TempDir,
}

impl Session {
    async fn start() -> TestResult<Self> {
        Self::with(&[]).await
    }

    /// Opens a session with more arguments for the demo.
    async fn with(arguments: &[&str]) -> TestResult<Self> {
        let folder = tempfile::tempdir()?;
        let arguments = [
            &["--seed-people", "60", "--anonymous-helpers", "on"],
            arguments,
        ]
        .concat();
        let demo = Program::demo(&folder.path().join("browser.db"), &arguments)?;
        let explorer = format!("{}docs/explorer", demo.base_url);
        let mut session = Self {
            demo,
            browser: Browser::start().await?,
            explorer,
            _folder: folder,
        };
        session.browser.open(&session.explorer).await?;
        session
            .browser
            .wait_for("document.querySelector('h1')?.textContent === 'Entry point'")
            .await?;
        Ok(session)
    }

    /// Opens a session with the key of the demo, at the form of an action at a path below the entry
    /// point.
    async fn at_form(path: &str, action: &str) -> TestResult<Self> {
        let mut session = Self::start().await?;
        session.use_key(KEY).await?;
        session.open(path).await?;
        session.browser.press(action).await?;
        Ok(session)
    }

    /// Opens a path below the entry point in the current explorer.
    async fn open(&mut self, path: &str) -> TestResult {
        self.browser
            .turn(&format!("location.hash = {};", json!(format!("#/{path}"))))
            .await
    }

    async fn use_key(&mut self, key: &str) -> TestResult {
        self.browser.enter("API key", key).await?;
        self.browser.press("Use key").await
    }

    /// Presses the tab key until the element with this text has the focus.
    async fn reach(&mut self, text: &str) -> TestResult {
        for _ in 0..200 {
            self.browser.key(TAB).await?;
            let focused = self
                .browser
                .run("return document.activeElement.textContent.trim();")
                .await?;
            if focused == text {
                return Ok(());
            }
        }
        Err(format!("the keyboard does not reach {text}").into())
    }

    async fn client(&self) -> TestResult<Client> {
        Client::connect(self.demo.address()?, Some(KEY)).await
    }

    /// Ends the session. The browser reported no error and sent no request to another server.
    /// `refused` are the error statuses that the test caused, which the console reports.
    async fn end(mut self, refused: &[u16]) -> TestResult {
        let is_expected = |entry: &Value| {
            let text = entry["message"].as_str().unwrap_or_default();
            let is_refusal =
                |status: &u16| text.contains(&format!("responded with a status of {status} "));
            entry["source"] == "network" && refused.iter().any(is_refusal)
        };
        let complaints: Vec<Value> = self.browser.log("browser").await?;
        let complaints: Vec<&Value> = complaints
            .iter()
            .filter(|entry| !is_expected(entry))
            .collect();
        assert!(complaints.is_empty(), "{complaints:#?}");
        let host = self
            .demo
            .base_url
            .split('/')
            .take(3)
            .collect::<Vec<_>>()
            .join("/");
        let requested = self.browser.all_requested().await?;
        assert!(!requested.is_empty());
        for address in requested {
            // The pages of the browser itself come from the browser.
            let is_own = address.starts_with("chrome://") || address.starts_with("data:");
            assert!(
                is_own || address.starts_with(&format!("{host}/")),
                "{address}"
            );
            assert!(
                !address.contains("elsewhere") || address.contains('#'),
                "{address}"
            );
        }
        let kept = "return [localStorage.length, sessionStorage.length, document.cookie, location.href.includes(arguments[0])];";
        let kept = self
            .browser
            .run(&kept.replace("arguments[0]", &format!("{KEY:?}")))
            .await?;
        assert_eq!(kept, json!([0, 0, "", false]), "the key is in memory only");
        self.browser.end().await
    }
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn ent_22_from_the_entry_point_to_a_person_and_from_page_to_page() -> TestResult {
    let mut session = Session::start().await?;
    // From the time of a click on a button, a link or a form, the explorer marks its view as busy.
    for clicked in ["ul.links button", "nav ol a", "form.key button"] {
        let click = format!(
            "document.querySelector({clicked:?}).click(); return document.querySelector('.columns').ariaBusy;"
        );
        assert_eq!(session.browser.run(&click).await?, "true", "{clicked}");
        assert_eq!(
            session
                .browser
                .run("return document.querySelector('.columns').ariaBusy;")
                .await?,
            json!(null)
        );
    }
    // Without a key, collections are rejected, and the explorer shows what to do.
    session.browser.press("svc:people").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('This needs a key')")
        .await?;
    session.use_key(KEY).await?;
    session
        .browser
        .wait_for("document.querySelectorAll('.records tbody tr').length === 25")
        .await?;
    session.browser.press("Next page").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('Page 2 of 3')")
        .await?;
    assert!(
        session
            .browser
            .run("return location.hash;")
            .await?
            .as_str()
            .is_some_and(|hash| hash.contains("page=2"))
    );
    session.browser.press("Previous page").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('Page 1 of 3')")
        .await?;
    session
        .browser
        .click("(//table[@class='records']//tbody//a)[1]")
        .await?;
    session
        .browser
        .wait_for("document.querySelector('.properties th + td')")
        .await?;
    let text = session.browser.text().await?;
    for expected in [
        "given_name",
        "email_addresses",
        "svc:signatures",
        "Change a person",
        "Record an attempt to reach a person",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let crumbs = session
        .browser
        .run("return [...document.querySelectorAll('nav ol a')].map(a => a.textContent);")
        .await?;
    assert_eq!(
        (&crumbs[0], &crumbs[1]),
        (&json!("Entry point"), &json!("people"))
    );
    // The unchanged exchange, and a copy of its request without the key.
    assert!(
        text.contains("200 OK in ") && text.contains("Headers"),
        "{text}"
    );
    for language in ["curl", "Python", "JavaScript", "Rust"] {
        session
            .browser
            .press(&format!("Copy as {language}"))
            .await?;
        session
            .browser
            .wait_for("document.querySelector('.copies pre').textContent.includes('SVC-API-Token')")
            .await?;
        let copy = session
            .browser
            .run("return document.querySelector('.copies pre').textContent;")
            .await?;
        assert!(
            copy.as_str()
                .is_some_and(|copy| copy.contains("YOUR_KEY") && !copy.contains(KEY)),
            "{copy}"
        );
    }
    // A deep link shows the same view.
    let hash = session.browser.run("return location.hash;").await?;
    session.browser.press("svc:signatures").await?;
    session
        .browser
        .wait_for("document.querySelector('h1').textContent === 'signatures'")
        .await?;
    session.browser.turn("history.back();").await?;
    session
        .browser
        .wait_for(&format!(
            "location.hash === {hash} && document.querySelector('.properties')"
        ))
        .await?;
    // The explorer does not request a URL outside of the API, and does not send it the key.
    session.open("../../elsewhere").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('This is not an address of the API')")
        .await?;
    let crumbs = "return [document.querySelector('h1').textContent, ...[...document.querySelectorAll('nav ol a')].map(a => a.textContent)];";
    assert_eq!(
        session.browser.run(crumbs).await?,
        json!(["Nothing to show", "Entry point"])
    );
    session.end(&[401]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn err_26_what_is_wrong_with_a_question_stands_beside_its_fields() -> TestResult {
    let mut session = Session::at_form("questions", "Create a question").await?;
    session
        .browser
        .choose("question_type *", "Paragraph")
        .await?;
    session.browser.enter("title", "Which days?").await?;
    session.browser.click("//summary[.='responses']").await?;
    session.browser.press("Add responses").await?;
    session
        .browser
        .enter_in("responses 1", "key *", "a b")
        .await?;
    session
        .browser
        .enter_in("responses 1", "name", "one two")
        .await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelectorAll('.panel .errors strong').length >= 4")
        .await?;
    let beside = "return [...document.querySelectorAll('.field')].filter(field => field.querySelector('.errors li')).map(field => \
                  [field.querySelector('label').textContent, field.querySelector('.errors strong').textContent]);";
    let beside = session.browser.run(beside).await?;
    for expected in [
        json!(["question_type *", "PARAGRAPH_CANNOT_HAVE_RESPONSES"]),
        json!(["key *", "RESPONSE_KEY_INVALID"]),
        json!(["name", "RESPONSE_NAME_INVALID"]),
    ] {
        assert!(
            beside.as_array().is_some_and(|all| all.contains(&expected)),
            "{expected} in {beside}"
        );
    }
    let invalid = session
        .browser
        .run("return document.querySelectorAll('[aria-invalid=true]').length;")
        .await?;
    assert_eq!(invalid, 3);
    // After a correction the record is accepted, and can be opened.
    session
        .browser
        .choose("question_type *", "SingleChoice")
        .await?;
    session
        .browser
        .enter_in("responses 1", "key *", "yes")
        .await?;
    session
        .browser
        .enter_in("responses 1", "name", "yes")
        .await?;
    session.browser.press("Send").await?;
    session.browser.click("//a[.='Open Which days?']").await?;
    session
        .browser
        .wait_for("document.querySelector('h1').textContent === 'Which days?'")
        .await?;
    // A change sends only the changed fields.
    session.browser.press("Change a question").await?;
    session.browser.enter("summary", "About the week.").await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelector('.properties')?.innerText.includes('About the week.')")
        .await?;
    let sent = session.browser.requested_bodies().await?;
    assert_eq!(
        sent.last().map(String::as_str),
        Some("{\"summary\": \"About the week.\"}")
    );
    session.browser.press("Delete a question").await?;
    session.browser.press("Delete").await?;
    session
        .browser
        .wait_for("document.body.innerText.includes('Done: 204')")
        .await?;
    session.end(&[400]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn hlp_01_a_helper_is_used_with_a_key_and_without_one() -> TestResult {
    let mut session = Session::start().await?;
    session.use_key(KEY).await?;
    session.browser.press("svc:petitions").await?;
    session
        .browser
        .click("(//table[@class='records']//tbody//a)[1]")
        .await?;
    session
        .browser
        .press("Record a signature on a petition")
        .await?;
    session.browser.enter("given_name", HOSTILE).await?;
    session
        .browser
        .enter("comments", "Signed in a browser")
        .await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelector('.panel').innerText.includes('Done: 200')")
        .await?;
    // Text of an anonymous caller is always shown as text.
    session
        .browser
        .click("//a[.='Open Signed in a browser']")
        .await?;
    session.browser.press("svc:person").await?;
    session
        .browser
        .wait_for(&format!(
            "document.querySelector('.properties')?.innerText.includes({HOSTILE:?})"
        ))
        .await?;
    assert_eq!(
        session
            .browser
            .run("return document.querySelectorAll('img').length;")
            .await?,
        0
    );
    // The response to a request without a key reveals nothing.
    let mut client = session.client().await?;
    let petitions = client
        .get(&format!("{}petitions", session.demo.base_url))
        .await?;
    let petition = &petitions["_embedded"]["svc:petitions"][0];
    let helper = link(petition, "svc:record_signature_helper")?;
    session.use_key("").await?;
    let path = helper
        .strip_prefix(&session.demo.base_url)
        .ok_or("elsewhere")?
        .to_owned();
    session.open(&path).await?;
    session
        .browser
        .wait_for("document.querySelector('.panel form')")
        .await?;
    session.browser.enter("given_name", "Stranger").await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelector('.panel').innerText.includes('Done: 200')")
        .await?;
    let body = session
        .browser
        .run("return document.querySelector('.exchange [aria-label=\"Body of the response\"]').textContent;")
        .await?;
    assert_eq!(body, "{}", "HLP-07");
    session.end(&[401]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn ent_22_the_pages_are_read_with_the_keyboard_in_a_narrow_window() -> TestResult {
    let mut session = Session::start().await?;
    session.browser.narrow().await?;
    let fits = "return window.innerWidth === 360 && document.documentElement.scrollWidth <= document.documentElement.clientWidth;";
    for path in [
        "docs/",
        "docs/v1/person",
        "docs/v1/record_signature_helper",
        "docs/v1/FIELD_INVALID",
    ] {
        session
            .browser
            .open(&format!("{}{path}", session.demo.base_url))
            .await?;
        session
            .browser
            .wait_for(
                "document.styleSheets.length === 1 && document.styleSheets[0].cssRules.length > 20",
            )
            .await?;
        // The first key press focuses a visible link, which skips the navigation that is on every
        // page.
        session.browser.key(TAB).await?;
        let skips = "document.activeElement.className === 'skip' && document.activeElement.getBoundingClientRect().left >= 0";
        session.browser.wait_for(skips).await?;
        session.browser.key(ENTER).await?;
        session
            .browser
            .wait_for("location.hash === '#main'")
            .await?;
        session.browser.key(TAB).await?;
        session
            .browser
            .wait_for("document.getElementById('main').contains(document.activeElement)")
            .await?;
        assert_eq!(
            session.browser.run(fits).await?,
            true,
            "{path} is wider than its window"
        );
    }
    // The same for the explorer: to a person and its form by keyboard only, with each action once.
    session.browser.open(&session.explorer).await?;
    session.use_key(KEY).await?;
    session.reach("svc:people").await?;
    session.browser.key(ENTER).await?;
    session
        .browser
        .wait_for("document.activeElement.textContent === 'people'")
        .await?;
    let first = session
        .browser
        .run("return document.querySelector('.records tbody a').textContent;")
        .await?;
    session.reach(first.as_str().ok_or("no name")?).await?;
    session.browser.key(ENTER).await?;
    session
        .browser
        .wait_for(&format!("document.activeElement.textContent === {first}"))
        .await?;
    session.reach("Change a person").await?;
    session.browser.key(ENTER).await?;
    session
        .browser
        .wait_for("document.activeElement.closest('.panel form')")
        .await?;
    assert_eq!(
        session.browser.run(fits).await?,
        true,
        "the explorer is wider than its window"
    );
    let actions = "return [...document.querySelectorAll('.actions button')].map(button => button.textContent);";
    let actions = session.browser.run(actions).await?;
    let expected = json!([
        "Change a person",
        "Delete a person",
        "Record an attempt to reach a person",
        "Merge another person into this one"
    ]);
    assert_eq!(
        actions, expected,
        "RES-person-48: two relations link to one helper"
    );
    session.end(&[]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn cap_04_the_explorer_offers_what_the_server_declares_and_no_more() -> TestResult {
    let mut session = Session::with(&[
        "--without-capability",
        "people.delete,helper.record_canvass",
    ])
    .await?;
    session.use_key(KEY).await?;
    session.browser.press("svc:people").await?;
    session
        .browser
        .click("(//table[@class='records']//tbody//a)[1]")
        .await?;
    session.browser.press("Change a person").await?;
    let actions = "return [...document.querySelectorAll('.actions button')].map(button => button.textContent);";
    assert_eq!(
        session.browser.run(actions).await?,
        json!(["Change a person", "Merge another person into this one"]),
        "CAP-04"
    );
    // A field has the control of its type: a list, an open list, a group. Fields that only the
    // server sets have no control.
    let options = |label: &str| {
        format!(
            "return [...document.getElementById([...document.querySelectorAll('.panel label')].find(label => \
             label.textContent === {label:?}).htmlFor).options].map(option => option.textContent);"
        )
    };
    assert_eq!(
        session.browser.run(&options("gender")).await?,
        json!(["–", "Female", "Male", "Other"]),
        "TYP-08"
    );
    let parties = session
        .browser
        .run(&options("party_identification"))
        .await?;
    assert_eq!(
        parties.as_array().and_then(|all| all.last()),
        Some(&json!("other …")),
        "TYP-09: {parties}"
    );
    let labels =
        "return [...document.querySelectorAll('.panel label')].map(label => label.textContent);";
    let labels = session.browser.run(labels).await?;
    assert!(
        !labels
            .as_array()
            .ok_or("no labels")?
            .contains(&json!("created_date")),
        "{labels}"
    );
    session
        .browser
        .choose("party_identification", "other …")
        .await?;
    let other = "//input[@aria-label='party_identification: other value']";
    session.browser.type_into(other, "Harbour List").await?;
    // Free keys are one on a line. An array element that was added and removed is not sent.
    session
        .browser
        .enter("custom_fields", "colour = green")
        .await?;
    session.browser.press("Add email_addresses").await?;
    session.browser.press("Remove email_addresses 2").await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelector('.properties')?.innerText.includes('Harbour List')")
        .await?;
    let sent = session.browser.requested_bodies().await?;
    let changed =
        r#"{"party_identification": "Harbour List", "custom_fields": {"colour": "green"}}"#;
    assert_eq!(sent.last().map(String::as_str), Some(changed));
    session.end(&[]).await
}
