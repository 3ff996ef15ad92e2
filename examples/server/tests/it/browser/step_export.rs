//! The requests of a tab become a program (point 6 of the pages): a walk by forms is exported in
//! five languages. The programs in shell, Python and JavaScript run here as they were downloaded,
//! each against a fresh demo. The two in Rust are those that `tests/it/walk` compiles and runs. All
//! of them print the same records.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::Command;
use std::thread;

use serde_json::json;

use crate::browser::Session;
use crate::browser::exchange_view::answering;
use crate::support::TestResult;
use crate::support::client::link;
use crate::support::program::{KEY, outcome};
use crate::support::walk::{RECORDS, fresh_demo, told};

/// Stores the next saved file, instead of using a folder for downloads.
const KEEP: &str = "
    window.saved = [];
    URL.createObjectURL = (blob) => { blob.text().then((text) => window.saved.push(text)); return '#'; };
    HTMLAnchorElement.prototype.click = function () { window.savedAs = this.download; };";

/// The exported programs with the names of their files, and the tools that run scripts.
const PROGRAMS: [(&str, &str, &[&str]); 5] = [
    (
        "Shell script with curl",
        "recorded_walk.sh",
        &["sh", "curl", "jq"],
    ),
    ("Python", "recorded_walk.py", &["python3"]),
    ("JavaScript", "recorded_walk.mjs", &["node"]),
    ("Rust test", "recorded_walk.rs", &[]),
    ("Check of the conformance suite", "recorded_check.rs", &[]),
];

/// Signs up, signs with a tag that does not exist, changes with `null`, deletes.
async fn do_the_walk(session: &mut Session) -> TestResult {
    let browser = &mut session.browser;
    browser.press("Sign a person up").await?;
    browser
        .enter("given_name", "Ida \"O'Neil\" \\ $HOME")
        .await?;
    browser.enter("family_name", "Wells").await?;
    browser.click("//summary[.='email_addresses']").await?;
    browser.press("Add email_addresses").await?;
    browser
        .enter_in("email_addresses 1", "address", "ida@example.org")
        .await?;
    browser.press("Send").await?;
    browser
        .wait_for("document.querySelectorAll('.good-step').length === 1")
        .await?;
    browser.press("svc:petitions").await?;
    browser
        .click("(//table[@class='records']//tbody//a)[1]")
        .await?;
    browser.press("Record a signature on a petition").await?;
    browser.click("//summary[.='email_addresses']").await?;
    browser.press("Add email_addresses").await?;
    browser
        .enter_in("email_addresses 1", "address", "ida@example.org")
        .await?;
    browser.click("//summary[.='add_tags']").await?;
    browser.press("Add add_tags").await?;
    browser.enter("add_tags 1", "no-such-tag").await?;
    browser.press("Send").await?;
    browser
        .wait_for("document.querySelectorAll('.bad-step').length === 1")
        .await?;
    browser
        .click("//li[contains(., 'Person found')]//a[starts-with(., 'Open Ida')]")
        .await?;
    browser.press("Change a person").await?;
    browser.enter("family_name", "").await?;
    browser.press("Send").await?;
    browser
        .wait_for(
            "document.querySelector('.exchange').innerText.includes('{\"family_name\": null}')",
        )
        .await?;
    browser.press("Delete a person").await?;
    browser.press("Delete").await?;
    browser
        .wait_for("document.querySelector('h1').textContent.startsWith('Deleted: ')")
        .await
}

/// Returns the program in one language, as it is downloaded.
async fn downloaded(session: &mut Session, language: &str, file: &str) -> TestResult<String> {
    session.browser.choose("Program format", language).await?;
    session.browser.run("window.saved.length = 0;").await?;
    session.browser.press("Download program").await?;
    session
        .browser
        .wait_for("window.saved.length === 1")
        .await?;
    let saved = session
        .browser
        .run("return [window.savedAs, window.saved[0]];")
        .await?;
    assert_eq!(saved[0], file, "{language}");
    Ok(saved[1].as_str().ok_or("no text")?.to_owned())
}

/// Returns the output of a script about the records of a fresh demo, or `None` for a program that
/// no tool of this test runs.
fn run(program: &str, file: &str, tools: &[&str]) -> TestResult<Option<String>> {
    if tools.is_empty() {
        return Ok(None);
    }
    let (demo, folder) = fresh_demo()?;
    let path = folder.path().join(file);
    std::fs::write(&path, program)?;
    let mut command = Command::new(tools[0]);
    let (status, said, errors) = outcome(
        command
            .arg(&path)
            .env("SVC_BASE", &demo.base_url)
            .env("SVC_KEY", KEY),
    )
    .map_err(|error| format!("{file} needs {}: {error}", tools.join(", ")))?;
    assert!(status.success(), "{file}: {said}{errors}");
    Ok(Some(told(&said, program)))
}

/// Compares a text with a golden file; `BLESS=1` writes the file.
fn is_golden(name: &str, text: &str) -> TestResult {
    let path = format!("{}/tests/it/walk/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, text)?;
    }
    assert_eq!(
        text,
        std::fs::read_to_string(&path)?,
        "run with BLESS=1: {path}"
    );
    Ok(())
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn point_6_a_walk_is_exported_as_five_programs_that_tell_the_same_records() -> TestResult {
    let mut session = Session::start().await?;
    session.use_key(KEY).await?;
    session.browser.run(KEEP).await?;
    do_the_walk(&mut session).await?;
    open_program(&mut session).await?;
    let mut records = Vec::new();
    for (language, file, tools) in PROGRAMS {
        let program = downloaded(&mut session, language, file).await?;
        assert!(
            !program.contains(KEY) && !program.contains("127.0.0.1"),
            "neither key nor URL: {program}"
        );
        if tools.is_empty() {
            is_golden(file, &program)?;
        } else {
            records.extend(run(&program, file, tools)?.map(|told| (file, told)));
        }
    }
    if std::env::var_os("BLESS").is_some() {
        is_golden(
            "records.txt",
            &records.first().ok_or("nothing runs a program")?.1,
        )?;
        return Ok(());
    }
    for (file, told) in records {
        assert_eq!(told, RECORDS, "{file}");
    }
    for (language, file, tools) in PROGRAMS
        .into_iter()
        .filter(|(_, _, tools)| !tools.is_empty())
    {
        let program = downloaded(&mut session, language, file).await?;
        for steps_up in [
            "../../elsewhere",
            "%2e%2E/.%2e/elsewhere",
            "petitions/../../../elsewhere",
        ] {
            let asked = asked_of_a_server_that_leads_out(&program, file, tools, steps_up)?;
            assert_eq!(asked, ["/api/v1/"], "{file}: {steps_up}");
        }
    }
    session.end(&[400, 401]).await
}

/// Returns the paths that a script requests from a server whose entry point links to this URL
/// outside of it.
fn asked_of_a_server_that_leads_out(
    program: &str,
    file: &str,
    tools: &[&str],
    below: &str,
) -> TestResult<Vec<String>> {
    const END: &str = "/end";
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let base = format!("http://{address}/api/v1/");
    let link = json!({ "href": format!("{base}{below}") });
    let entry_point =
        json!({ "_links": { "svc:person_signup_helper": link, "svc:petitions": link } })
            .to_string();
    let server = thread::spawn(move || -> std::io::Result<Vec<String>> {
        let mut asked = Vec::new();
        loop {
            let (stream, _) = listener.accept()?;
            let mut lines = BufReader::new(&stream).lines();
            let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
            while lines
                .next()
                .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
            {}
            let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
            if path == END {
                return Ok(asked);
            }
            asked.push(path);
            let length = entry_point.len();
            write!(
                &stream,
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{entry_point}"
            )?;
        }
    });
    let folder = tempfile::tempdir()?;
    let path = folder.path().join(file);
    std::fs::write(&path, program)?;
    let (status, _, errors) = outcome(
        Command::new(tools[0])
            .arg(&path)
            .env("SVC_BASE", &base)
            .env("SVC_KEY", "key-of-nobody"),
    )?;
    assert!(
        !status.success() && errors.contains("is not an address of"),
        "{file}: {errors}"
    );
    write!(TcpStream::connect(address)?, "GET {END} HTTP/1.1\r\n\r\n")?;
    Ok(server.join().map_err(|_| "the server panicked")??)
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn point_6_a_program_says_that_earlier_steps_are_no_longer_kept() -> TestResult {
    let mut session = Session::start().await?;
    // More than the maximum number of stored exchanges.
    let many = |count: &str| {
        format!(
            "const {{ name }} = performance.getEntriesByType('resource').find(({{ name }}) => name.includes('/journal'));
            import(name).then(({{ note, noted, forgotten }}) => {{
                const request = {{ method: 'GET', address: `${{document.body.dataset.base}}tags`, guards: {{}} }};
                const one = {{ request, status: 200, reason: '', headers: [], milliseconds: 1, text: '{{}}', json: {{}}, tag: null }};
                for (let left = {count}; left > 0; left -= 1) note(one);
                done(forgotten());
            }});"
        )
    };
    session.use_key(KEY).await?;
    session.open("tags").await?;
    session
        .browser
        .wait_for("document.querySelector('table.records')")
        .await?;
    open_program(&mut session).await?;
    let hint = "document.querySelector('.walk').parentElement.previousElementSibling";
    let is_seen = session
        .browser
        .run(&format!("return {hint}.checkVisibility();"))
        .await?;
    assert_eq!(is_seen, false, "nothing is forgotten yet");
    for (count, forgotten, exchanges) in [
        ("201 - noted().length", 1, "exchange"),
        ("9", 10, "exchanges"),
    ] {
        assert_eq!(session.browser.promised(&many(count)).await?, forgotten);
        let text = format!(
            "Not among these steps, because they are no longer stored: {forgotten} earlier {exchanges} of this tab."
        );
        session
            .browser
            .wait_for(&format!(
                "{hint}.checkVisibility() && {hint}.innerText === '{text}'"
            ))
            .await?;
    }
    session.end(&[401]).await
}

/// Opens the list of exchanges, and the program in it.
async fn open_program(session: &mut Session) -> TestResult {
    session
        .browser
        .click("//summary[starts-with(., 'Exchanges of this tab')]")
        .await?;
    session.browser.click("//summary[.='As a program']").await?;
    session
        .browser
        .wait_for("document.querySelector('.walk li')")
        .await
}

/// Selects a step, or removes its selection.
async fn choose_step(session: &mut Session, step: &str) -> TestResult {
    session
        .browser
        .click(&format!(
            "//ul[contains(@class, 'walk')]//label[starts-with(., '{step}')]"
        ))
        .await
}

/// A relation that would end a comment or a text if it were written without escapes.
const HOSTILE: &str = "x'\"\n$(echo INJECTED)\necho INJECTED\u{202E}";

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn point_6_what_a_step_names_is_taken_from_the_answer_that_told_it() -> TestResult {
    let mut session = Session::start().await?;
    let mut client = session.client().await?;
    let base = session.demo.base_url.clone();
    let lists = client.get(&format!("{base}lists")).await?;
    let list = link(&lists["_embedded"]["svc:lists"][0], "self")?;
    let list = list.strip_prefix(&base).ok_or("elsewhere")?.to_owned();
    session.use_key(KEY).await?;
    session.browser.run(KEEP).await?;
    // A listed person, a new tag, and a tagging of both, which names them by URL and by id.
    session.open("people").await?;
    session
        .browser
        .click("(//table[@class='records']//tbody//a)[1]")
        .await?;
    session
        .browser
        .wait_for("document.querySelector('.properties')")
        .await?;
    let person = session
        .browser
        .run("return location.hash.slice(2);")
        .await?;
    let person = person.as_str().ok_or("no address")?.to_owned();
    session.open("tags").await?;
    session.browser.press("Create a tag").await?;
    session.browser.enter("name *", "recorded").await?;
    session.browser.press("Send").await?;
    session.browser.click("//a[.='Open recorded']").await?;
    session.browser.press("svc:taggings").await?;
    let tag = session
        .browser
        .run("return location.hash.split('/')[2];")
        .await?;
    let tag = tag.as_str().ok_or("no id")?.to_owned();
    session.browser.press("Create a tagging of a tag").await?;
    session.browser.press("Edit as JSON").await?;
    let body = json!({ "identifiers": [format!("mine:{tag}-{tag}")], "_links": { "svc:person": { "href": format!("{base}{person}") } } });
    session
        .browser
        .enter("Body as JSON", &body.to_string())
        .await?;
    session.browser.press("Send").await?;
    session
        .browser
        .wait_for("document.querySelector('.panel').innerText.includes('Done: 201')")
        .await?;
    // A URL that the user enters.
    session.open(&list).await?;
    session
        .browser
        .wait_for("document.querySelector('.properties')")
        .await?;
    open_program(&mut session).await?;
    let python = downloaded(&mut session, "Python", "recorded_walk.py").await?;
    assert!(
        !python.contains(&list) && !python.contains("fixed"),
        "no step needs it: {python}"
    );
    choose_step(&mut session, &format!("GET /{list}")).await?;
    let boxes = "return [...document.querySelectorAll('.walk input')].map(box => [box.checked, box.disabled, box.labels[0].textContent]);";
    let boxes = session.browser.run(boxes).await?;
    let of = |step: &str| {
        boxes
            .as_array()
            .into_iter()
            .flatten()
            .find(|one| one[2].as_str().is_some_and(|text| text.starts_with(step)))
    };
    assert_eq!(
        of("GET /people:"),
        Some(&json!([
            true,
            true,
            "GET /people: 200, needed by a later step"
        ])),
        "{boxes}"
    );
    assert_eq!(
        of("POST /tags:"),
        Some(&json!([true, false, "POST /tags: 201"])),
        "{boxes}"
    );
    let (_, list_id) = list.rsplit_once('/').ok_or("no id")?;
    let expected = format!(
        "svc:tag\t#1\nsvc:tag\t#1\nsvc:tagging\t#2\nsvc:person\t#3\nsvc:tag\t#1\nsvc:list\t{list_id}\n"
    );
    for (language, file, tools) in PROGRAMS {
        let program = downloaded(&mut session, language, file).await?;
        assert!(
            program.contains(&format!(
                "{list} (no earlier response contains this address, so it is fixed)"
            )),
            "{program}"
        );
        assert!(
            !program.contains(&tag),
            "the id of the tag is that of the new one: {program}"
        );
        if !tools.is_empty()
            && let Some(told) = run(&program, file, tools)?
        {
            assert_eq!(told, expected, "{program}");
        }
    }
    // Steps that are not selected are in no program, and the names of links of a server cannot
    // change a program.
    choose_step(&mut session, "POST /tags/").await?;
    let odd = json!({ "_links": { "self": { "href": format!("{base}tags/odd") }, HOSTILE: { "href": format!("{base}tags?odd=1") } } });
    session
        .browser
        .run(&answering("/tags/odd", &odd.to_string()))
        .await?;
    session.open("tags/odd").await?;
    session
        .browser
        .wait_for("document.querySelector('ul.links button')")
        .await?;
    session
        .browser
        .run("document.querySelector('ul.links button').click();")
        .await?;
    session
        .browser
        .wait_for("location.hash === '#/tags?odd=1'")
        .await?;
    choose_step(&mut session, "GET /tags?odd=1").await?;
    for (language, file, tools) in PROGRAMS {
        let program = downloaded(&mut session, language, file).await?;
        assert!(
            !program.contains("mine:") && program.contains("INJECTED"),
            "{program}"
        );
        let is_shell = tools.first() == Some(&"sh");
        // In a shell, a text in quotes may have several lines.
        let alone = program
            .lines()
            .filter(|line| line.starts_with("echo INJECTED"))
            .count();
        assert_eq!(alone, usize::from(is_shell), "{program}");
        assert!(!program.contains('\u{202E}') || is_shell, "{program}");
    }
    session.end(&[401]).await
}
