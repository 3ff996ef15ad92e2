//! The request while the user types, and JSON that is shown and edited (points 4 and 5 of the
//! pages).

use serde_json::json;

use crate::browser::Session;
use crate::support::TestResult;
use crate::support::program::KEY;

const CODE: &str = "return document.querySelector('.sample pre').textContent;";

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn point_4_the_request_stands_beside_its_form_while_one_types() -> TestResult {
    let mut session = Session::at_form("tags", "Create a tag").await?;
    session
        .browser
        .wait_for("document.querySelector('.sample pre')")
        .await?;
    for (language, begins) in [
        ("curl", "curl -X POST '"),
        ("Python", "import urllib.request"),
        ("JavaScript", "const answer = await fetch("),
        ("Rust", "let mut answer = ureq::post("),
    ] {
        session.browser.choose("Language", language).await?;
        let name = format!("typed in {language}");
        session.browser.enter("name *", &name).await?;
        let code = session.browser.run(CODE).await?;
        let code = code.as_str().ok_or("no code")?;
        assert!(code.starts_with(begins) && code.contains(&name), "{code}");
        assert!(
            code.contains("YOUR_KEY") && !code.contains(KEY),
            "{language}: the key is included only on request"
        );
        assert!(code.contains("Idempotency-Key"), "{code}");
    }
    session.browser.click("//label[.='With my key']").await?;
    let code = session.browser.run(CODE).await?;
    assert!(
        code.as_str()
            .is_some_and(|code| code.contains(KEY) && !code.contains("YOUR_KEY")),
        "{code}"
    );
    // The next form starts without the key, in the selected language.
    session.browser.press("Create a tag").await?;
    session
        .browser
        .wait_for("document.querySelector('.sample pre').textContent.includes('YOUR_KEY')")
        .await?;
    let code = session.browser.run(CODE).await?;
    assert!(
        code.as_str()
            .is_some_and(|code| code.starts_with("let mut answer") && !code.contains(KEY)),
        "{code}"
    );
    // It is closed together with the form.
    session.browser.press("Close").await?;
    assert_eq!(
        session
            .browser
            .run("return document.querySelector('.sample');")
            .await?,
        json!(null)
    );
    session.end(&[]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn point_4_a_form_is_edited_as_json_and_back_with_errors_at_their_place() -> TestResult {
    let mut session = Session::at_form("questions", "Create a question").await?;
    session
        .browser
        .choose("question_type *", "SingleChoice")
        .await?;
    session.browser.enter("title", "Which days?").await?;
    session.browser.press("Edit as JSON").await?;
    let text = "return document.querySelector('.panel textarea').value;";
    let written = session.browser.run(text).await?;
    let written: serde_json::Value = serde_json::from_str(written.as_str().ok_or("no text")?)?;
    assert_eq!(
        written,
        json!({ "question_type": "SingleChoice", "title": "Which days?" })
    );
    // Text that is not JSON is not sent: the position of the error is shown and marked.
    session
        .browser
        .enter(
            "Body as JSON",
            "{\n  \"title\": \"Which days?\",\n  oops\n}",
        )
        .await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for(
            "document.querySelector('.panel .errors button')?.textContent === 'Line 3, column 3'",
        )
        .await?;
    assert!(session.browser.requested_bodies().await?.is_empty());
    let marked =
        "return [document.activeElement.localName, document.activeElement.selectionStart];";
    assert_eq!(session.browser.run(marked).await?, json!(["textarea", 30]));
    // Errors of the server also link to their position.
    let wrong = "{\n  \"question_type\": \"SingleChoice\",\n  \"title\": \"Which days?\",\n  \"responses\": [\n    {\"key\": \"a\", \"name\": \"a\"},\n    {\"key\": \"b\", \"name\": \"one two\"}\n  ]\n}";
    session.browser.enter("Body as JSON", wrong).await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelector('.panel .errors li')?.textContent.startsWith('RESPONSE_NAME_INVALID')")
        .await?;
    let marked = "const { value, selectionStart, selectionEnd } = document.activeElement; return value.slice(selectionStart, selectionEnd);";
    assert_eq!(session.browser.run(marked).await?, "\"one two\"");
    // Members that no field can show are not lost.
    session
        .browser
        .enter(
            "Body as JSON",
            &wrong
                .replace("one two", "b")
                .replace("\"title\"", "\"shoe_size\": 42, \"title\""),
        )
        .await?;
    session.browser.press("Edit as fields").await?;
    session
        .browser
        .wait_for(
            "document.querySelector('.panel .errors li')?.textContent.includes('The fields cannot show shoe_size')",
        )
        .await?;
    session
        .browser
        .enter("Body as JSON", &wrong.replace("one two", "b"))
        .await?;
    session.browser.press("Edit as fields").await?;
    session
        .browser
        .wait_for("document.querySelectorAll('.panel .group .group').length === 2")
        .await?;
    session.browser.press("Send").await?;
    session.browser.click("//a[.='Open Which days?']").await?;
    // A change is also a merge patch as text, in which null clears a field. Digits stay as they are
    // typed.
    session.browser.press("Change a question").await?;
    session.browser.press("Edit as JSON").await?;
    assert_eq!(session.browser.run(text).await?, "{}");
    session
        .browser
        .enter(
            "Body as JSON",
            "{\"summary\": \"About the week.\", \"title\": null}",
        )
        .await?;
    session.browser.press("Edit as fields").await?;
    let title = "return document.getElementById([...document.querySelectorAll('.panel label')].find(label => label.textContent === 'title').htmlFor).value;";
    assert_eq!(session.browser.run(title).await?, "");
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelector('.properties')?.innerText.includes('About the week.')")
        .await?;
    let sent = session.browser.requested_bodies().await?;
    let sent: serde_json::Value = serde_json::from_str(sent.last().ok_or("nothing")?)?;
    assert_eq!(sent, json!({ "title": null, "summary": "About the week." }));
    session.end(&[400]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn point_5_json_is_folded_and_its_addresses_and_relations_are_links() -> TestResult {
    let mut session = Session::start().await?;
    session.use_key(KEY).await?;
    session.open("petitions").await?;
    session
        .browser
        .wait_for("document.querySelector('.exchange .json')")
        .await?;
    let kinds = "return ['name', 'string', 'number'].map(kind => document.querySelectorAll(`.json .${kind}`).length > 0);";
    assert_eq!(session.browser.run(kinds).await?, json!([true, true, true]));
    // A relation links to its page, also in an error. A URL opens in the explorer.
    let page = "return [...document.querySelectorAll('.json a.name')].find(link => link.textContent === '\"svc:petitions\"').href;";
    assert_eq!(
        session.browser.run(page).await?,
        json!(format!("{}docs/v1/petitions", session.demo.base_url))
    );
    let templates = "const links = [...document.querySelectorAll('.json a.string')];
        return links.length > 0 && !links.some(link => link.textContent.includes('{'));";
    assert_eq!(
        session.browser.run(templates).await?,
        true,
        "a template is not a URL"
    );
    // A folded part shows its size, and its content is created when it is opened.
    let folds = "const first = [...document.querySelectorAll('.json details')].find(node => node.previousSibling?.previousSibling?.textContent === '\"_embedded\"');
        first.querySelector('summary').click(); return first.open ? '' : first.innerText;";
    let folded = session.browser.run(folds).await?;
    assert!(
        folded
            .as_str()
            .is_some_and(|text| text.contains("1 member }")),
        "{folded}"
    );
    session
        .browser
        .click("(//div[@class='json']//a[@class='string'][contains(., '/petitions/')])[1]")
        .await?;
    session
        .browser
        .wait_for(
            "location.hash.startsWith('#/petitions/') && document.querySelector('.properties')",
        )
        .await?;
    session.end(&[]).await
}
