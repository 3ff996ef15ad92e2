//! Compares the server with another one: the browser compares another capability document, and
//! shows all its content as text.
//!
//! Requirements: CAP-04.

use serde_json::{Value, json};

use crate::browser::{Session, TAB};
use crate::support::TestResult;
use crate::support::program::Program;

/// Sets a text in the field and submits the form, until there is a result or an error.
async fn compare(session: &mut Session, document: &str) -> TestResult {
    let script = format!(
        "document.querySelector('#compare textarea').value = {}; document.querySelector('#compare form').requestSubmit();",
        json!(document)
    );
    session.browser.run(&script).await?;
    session
        .browser
        .wait_for("document.querySelector('#compare .errors li, #compare .found h2')")
        .await
}

/// Returns the errors, each as a sentence.
async fn said(session: &mut Session) -> TestResult<Vec<String>> {
    let found = session
        .browser
        .run("return [...document.querySelectorAll('#compare .errors li')].map(item => item.textContent);")
        .await?;
    Ok(serde_json::from_value(found)?)
}

/// Returns the rows of a table as texts.
async fn rows(session: &mut Session, title: &str) -> TestResult<Value> {
    let script = format!(
        "const section = [...document.querySelectorAll('#compare section')].find(section => section.querySelector('h3').textContent === {});
         return section ? [...section.querySelectorAll('tbody tr')].map(row => [...row.children].map(cell => cell.textContent)) : null;",
        json!(title)
    );
    session.browser.run(&script).await
}

async fn open() -> TestResult<Session> {
    let mut session = Session::start().await?;
    session
        .browser
        .open(&format!("{}docs/v1/compare", session.demo.base_url))
        .await?;
    session
        .browser
        .wait_for("document.querySelector('#compare textarea')")
        .await?;
    Ok(session)
}

/// Returns the capability document of a demo.
async fn capabilities(session: &Session) -> TestResult<Value> {
    session
        .client()
        .await?
        .get(&format!("{}docs/capabilities", session.demo.base_url))
        .await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn cap_04_a_server_of_another_dialect_is_compared_field_by_field() -> TestResult {
    let mut session = open().await?;
    let ours = capabilities(&session).await?;
    // Compared with itself, everything is the same.
    compare(&mut session, &ours.to_string()).await?;
    let sentence = "return document.querySelector('.found .summary').textContent;";
    let same = session.browser.run(sentence).await?;
    assert!(
        same.as_str()
            .is_some_and(|text| text.starts_with("Both servers declare the same: ")),
        "{same}"
    );
    // Another document with fewer entries, and one additional field, value and kind.
    let folder = tempfile::tempdir()?;
    let less = [
        "--seed-people",
        "0",
        "--prefix",
        "osdi",
        "--without-capability",
        "helper.record_signature",
        "--without-capability",
        "questions.create",
        "--anonymous-helpers",
        "off",
    ];
    let without: Vec<String> = ["list", "read", "create", "update", "delete"]
        .map(|name| format!("messages.{name}"))
        .into();
    let arguments: Vec<&str> = less
        .into_iter()
        .chain(
            without
                .iter()
                .flat_map(|name| ["--without-capability", name.as_str()]),
        )
        .collect();
    let other = Program::demo(&folder.path().join("other.db"), &arguments)?;
    let mut client = crate::support::client::Client::connect(other.address()?, None).await?;
    let mut theirs = client
        .get(&format!("{}docs/capabilities", other.base_url))
        .await?;
    theirs["collections"]["people"]["fields"]["star_sign"] = json!({ "type": "string" });
    theirs["collections"]["people"]["fields"]["gender"]["values"] = json!(["Female", "Unknown"]);
    theirs["collections"]["people"]["fields"]["family_name"]["max_length"] = json!(40);
    theirs["collections"]["pledges"] = json!({ "operations": ["list"] });
    theirs["limits"]["max_pagesize"] = json!(25);
    compare(&mut session, &theirs.to_string()).await?;
    assert_eq!(said(&mut session).await?, Vec::<String>::new());
    let kinds = rows(&mut session, "Kinds").await?;
    assert_eq!(
        kinds[0],
        json!([
            "messages",
            "list, read, create, update, delete; 9 fields",
            "no",
            "only here"
        ])
    );
    assert_eq!(
        kinds[1],
        json!(["pledges", "no", "list; 0 fields", "only there"])
    );
    assert_eq!(
        rows(&mut session, "Operations").await?,
        json!([["questions: create", "yes", "no", "only here"]])
    );
    let fields = json!([
        [
            "family_name",
            "any length",
            "at most 40 characters",
            "differs"
        ],
        ["gender", "also Male, Other", "also Unknown", "differs"],
        ["star_sign", "no", "string", "only there"],
    ]);
    assert_eq!(
        rows(&mut session, "Fields of people").await?,
        fields,
        "names of dialects do not count as differences"
    );
    let helpers = rows(&mut session, "Helpers").await?;
    let helpers: Vec<&Value> = helpers.as_array().ok_or("no helpers")?.iter().collect();
    assert!(
        helpers.contains(&&json!([
            "record_signature",
            "with or without a key",
            "no",
            "only here"
        ])),
        "{helpers:?}"
    );
    assert!(
        helpers.contains(&&json!([
            "record_donation",
            "with or without a key",
            "with a key",
            "differs"
        ])),
        "{helpers:?}"
    );
    let limits = rows(&mut session, "Limits and names").await?;
    assert_eq!(
        limits[0],
        json!(["prefix of relations", "svc", "osdi", "differs"])
    );
    assert!(
        limits.as_array().is_some_and(|all| all.contains(&json!([
            "maximum records on a page",
            "100",
            "25",
            "differs"
        ]))),
        "{limits}"
    );
    // The map shows the same, by appearance and text.
    let marks = "return Object.fromEntries([...document.querySelectorAll('.map a')].map(a => [a.dataset.kind ?? a.dataset.helper,
        [[...a.classList].at(-1), a.querySelector('.count')?.textContent ?? '', a.getAttribute('aria-label')]]));";
    let marks = session.browser.run(marks).await?;
    assert_eq!(
        marks["messages"],
        json!(["here", "only here", "Message only here"])
    );
    assert_eq!(
        marks["people"],
        json!(["both", "≠ 3", "Person ≠ 3: 3 differences"])
    );
    assert_eq!(marks["tags"], json!(["both", "", "Tag: the same"]));
    assert_eq!(
        marks["record_signature"],
        json!(["here", "only here", "Record signature only here"])
    );
    let arrows =
        "const arrows = [...document.querySelectorAll('.map path[data-of=record_signature]')];
        return arrows.length > 0 && arrows.every(path => path.classList.contains('here'));";
    assert_eq!(session.browser.run(arrows).await?, true);
    // As a text; and equal entries, after a click.
    let text = session
        .browser
        .run("return document.querySelector('.found pre').textContent;")
        .await?;
    let text = text.as_str().ok_or("no text")?;
    for line in [
        "- only there: pledges",
        "- family_name: here any length; there at most 40 characters",
        "- only there: star_sign",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    session
        .browser
        .click("//label[contains(., 'Also show equal rows')]/input")
        .await?;
    session
        .browser
        .wait_for("document.querySelector('#compare tr.same')")
        .await?;
    // No data was sent: every request was a GET to this server, which the end of the session
    // checks.
    assert_eq!(
        session.browser.requested_bodies().await?,
        Vec::<String>::new()
    );
    session.end(&[]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn cap_04_what_is_no_capability_document_is_told_in_words() -> TestResult {
    let mut session = open().await?;
    let mut client = session.client().await?;
    let entry_point = client
        .get(&session.demo.base_url.clone())
        .await?
        .to_string();
    let openapi = client
        .get(&format!("{}docs/openapi.json", session.demo.base_url))
        .await?
        .to_string();
    let long = format!("{{\"collections\":\"{}\"}}", "x".repeat(4_000_000));
    let many = json!({ "collections": { "people": { "fields": (0..20_001).map(|number| (format!("f{number}"), json!({}))).collect::<serde_json::Map<_, _>>() } } });
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    for (document, expected) in [
        ("", "The field is empty"),
        ("{\"collections\":", "This is not JSON: "),
        (
            "[]",
            "This is a list, but a capability document is an object.",
        ),
        ("null", "This is null, "),
        ("\"text\"", "This is a text, "),
        ("{}", "This is JSON, but not a capability document"),
        (
            entry_point.as_str(),
            "This is a HAL document of a server, such as its entry point.",
        ),
        (openapi.as_str(), "This is an OpenAPI document."),
        (
            "{\"svc:error\":{}}",
            "This is an error response of a server.",
        ),
        (
            "{\"collections\":[]}",
            "“collections” is a list, but must be an object.",
        ),
        (
            "{\"collections\":{\"people\":7}}",
            "“collections.people” is a number, but must be an object.",
        ),
        (
            "{\"collections\":{\"people\":{\"operations\":{}}}}",
            "“collections.people.operations” is an object, but must be a list of texts.",
        ),
        (
            "{\"collections\":{\"people\":{\"fields\":{\"name\":{\"required\":\"yes\"}}}}}",
            "“collections.people.fields.name.required” is a text, but must be true or false.",
        ),
        (
            "{\"helpers\":{},\"limits\":{\"per_page\":-1}}",
            "“limits.per_page” is a number, but must be a whole number that is not negative.",
        ),
        (
            long.as_str(),
            "The text is longer than 4,000,000 characters.",
        ),
        (
            many.to_string().as_str(),
            "The document has more fields than this page can compare.",
        ),
        (deep.as_str(), "This is a list, "),
    ] {
        compare(&mut session, document).await?;
        let said = said(&mut session).await?;
        assert!(
            said.first().is_some_and(|text| text.starts_with(expected)),
            "{expected}: {said:?}"
        );
        assert_eq!(
            session
                .browser
                .run("return document.querySelectorAll('.found > *').length;")
                .await?,
            0,
            "{expected}"
        );
        // The error is announced, and is at its field.
        assert_eq!(
            session
                .browser
                .run("return document.querySelector('#compare .errors').getAttribute('role');")
                .await?,
            "alert"
        );
        assert_eq!(
            session
                .browser
                .run("return document.querySelector('#compare textarea').ariaInvalid;")
                .await?,
            "true"
        );
    }
    // A newer format is compared as far as it is known, and so is an old one without a version. The
    // page states both.
    for (document, expected) in [
        (
            "{\"collections\":{},\"declaration_version\":9,\"new\":[1]}",
            "The document has version 9, but this page supports version 1",
        ),
        (
            "{\"helpers\":{}}",
            "The document does not declare its version",
        ),
    ] {
        compare(&mut session, document).await?;
        let note = session
            .browser
            .run("return document.querySelector('.found .note').textContent;")
            .await?;
        assert!(
            note.as_str().is_some_and(|text| text.starts_with(expected)),
            "{note}"
        );
    }
    // Names are always shown as text.
    let hostile = "<img src=x onerror=document.title=1>";
    let kinds = json!({ "__proto__": {}, "constructor": {}, hostile: {}, "\u{202E}elpoep": { "operations": ["list"] } });
    compare(
        &mut session,
        &json!({ "base_url": "javascript:alert(1)", "collections": kinds }).to_string(),
    )
    .await?;
    let found = rows(&mut session, "Kinds").await?;
    let names: Vec<&str> = found
        .as_array()
        .ok_or("no kinds")?
        .iter()
        .filter_map(|row| row[0].as_str())
        .collect();
    for name in ["__proto__", "constructor", hostile, "\u{FFFD}elpoep"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let made = "return [document.querySelectorAll('img, [href^=javascript]').length, document.title.includes('Compare servers')];";
    assert_eq!(session.browser.run(made).await?, json!([0, true]));
    session.end(&[]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn cap_04_the_comparison_is_made_by_keys_and_from_a_file_in_a_narrow_window() -> TestResult {
    let mut session = open().await?;
    session.browser.narrow().await?;
    let ours = capabilities(&session).await?;
    // Each control has a name.
    let named = "return [...document.querySelectorAll('#compare textarea, #compare input')].map(it => it.labels[0]?.textContent);";
    assert_eq!(
        session.browser.run(named).await?,
        json!(["Capability document of the other server", "File"])
    );
    // A selected file is compared immediately.
    let mut theirs = ours.clone();
    theirs["response_style"] = json!("examples");
    let chosen = format!(
        "const [input, files] = [document.querySelector('#compare input[type=file]'), new DataTransfer()];
         files.items.add(new File([{}], 'capabilities.json')); input.files = files.files; input.dispatchEvent(new Event('change'));",
        json!(theirs.to_string())
    );
    session.browser.run(&chosen).await?;
    session
        .browser
        .wait_for("document.querySelector('#compare .found h2')")
        .await?;
    assert_eq!(
        rows(&mut session, "Limits and names").await?,
        json!([["response style", "table", "examples", "differs"]])
    );
    // The focus is at the heading of the result, and continues from there.
    assert_eq!(
        session
            .browser
            .run("return document.activeElement.textContent;")
            .await?,
        "Differences"
    );
    session.browser.key(TAB).await?;
    assert_eq!(
        session
            .browser
            .run("return document.activeElement.textContent;")
            .await?,
        "Copy as text"
    );
    let order = "return [...document.querySelectorAll('h1, h2, h3')].map(it => Number(it.tagName[1])).every((level, at, all) => at === 0 ? level === 1 : level <= all[at - 1] + 1);";
    assert_eq!(
        session.browser.run(order).await?,
        true,
        "headings go down one by one"
    );
    let fits =
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth;";
    assert_eq!(session.browser.run(fits).await?, true);
    // A file that is too large is not read. A dropped file is read.
    let dropped = |text: &str| {
        format!(
            "const files = new DataTransfer(); files.items.add(new File([{text}], 'it.json'));
             document.querySelector('#compare form').dispatchEvent(new DragEvent('drop', {{ dataTransfer: files, cancelable: true }}));"
        )
    };
    session.browser.run(&dropped("'x'.repeat(4000001)")).await?;
    session
        .browser
        .wait_for(
            "document.querySelector('#compare .errors li')?.textContent.startsWith('The file has 4,000,001 bytes')",
        )
        .await?;
    session
        .browser
        .run(&dropped(&json!(ours.to_string()).to_string()))
        .await?;
    session
        .browser
        .wait_for("document.querySelector('.found .summary')?.textContent.startsWith('Both servers declare the same')")
        .await?;
    session.end(&[]).await
}
