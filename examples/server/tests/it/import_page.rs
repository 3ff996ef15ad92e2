//! The page *Import* and its endpoints: a table is sent in parts, its columns are corrected, its rows are imported
//! with the rights of the key, and no file remains.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::client::{Client, link};
use crate::support::demo::demo;
use crate::support::program::{KEY, Program};
use crate::support::{Answer, Raw, TestResult};

/// Keys of other tenants and of the same one.
const KEYS: [&str; 5] = [
    "other-key-1-of-twenty-and-more",
    "other-key-2-of-twenty-and-more",
    "other-key-3-of-twenty-and-more",
    "other-key-4-of-twenty-and-more",
    "other-key-5-of-twenty-and-more",
];

/// A key that may only read.
const READ_KEY: &str = "other-key-r-of-twenty-and-more";

/// A German table in Windows-1252, whose last column has a misleading name.
const TABLE: &[u8] = b"Vorname;Nachname;Mobil;Stra\xDFe;Ort\n\
    J\xFCrgen;M\xFCller;juergen@example.org;Am Ring 1;K\xF6ln\n\
    Zo\xEB;Gro\xDF;zoe@example.org;Am Ring 2;Bonn\n\
    ;;;;\n\
    Udo;Klein;udo at example;Am Ring 3;Bonn\n";

struct Page {
    demo: Program,
    raw: Raw,
    key: &'static str,
}

impl Page {
    async fn start(folder: &Path, more: &[&str]) -> TestResult<Self> {
        let mut command = demo(&folder.join("import.db"));
        command.env("TMPDIR", folder.join("temporary"));
        std::fs::create_dir(folder.join("temporary"))?;
        command.args([
            "--port",
            "0",
            "--seed-people",
            "0",
            "--anonymous-helpers",
            "on",
        ]);
        command.arg("--key").arg(format!("demo={KEY}"));
        for (number, key) in KEYS.iter().enumerate() {
            let tenant = if number == 0 { "demo" } else { "others" };
            command.arg("--key").arg(format!("{tenant}={key}"));
        }
        command.arg("--read-key").arg(format!("demo={READ_KEY}"));
        let demo = Program::start(command.args(more))?.loaded()?;
        let raw = Raw::connect(demo.address()?).await?;
        let key = KEY;
        Ok(Self { demo, raw, key })
    }

    /// Sends a request on a new connection, because errors close it.
    async fn send(&mut self, method: &str, path: &str, body: &[u8]) -> TestResult<Answer> {
        self.raw = Raw::connect(self.demo.address()?).await?;
        let key = match self.key {
            "" => String::new(),
            key => format!("SVC-API-Token: {key}\r\n"),
        };
        let head = format!(
            "{method} /import{path} HTTP/1.1\r\nHost: localhost\r\n{key}Content-Length: {}\r\n\r\n",
            body.len()
        );
        self.raw.send([head.as_bytes(), body].concat()).await?;
        self.raw.answer().await
    }

    async fn json(&mut self, method: &str, path: &str, body: &Value) -> TestResult<Value> {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let answer = self.send(method, path, body.as_bytes()).await?;
        assert!(
            answer.status < 300,
            "{method} {path}: {} {}",
            answer.status,
            answer.text()
        );
        Ok(serde_json::from_slice(&answer.body)?)
    }

    /// Sends a table. Returns the path of its import.
    async fn upload(&mut self, table: &[u8]) -> TestResult<String> {
        let begun = self
            .json("POST", "/files", &json!({ "size": table.len() }))
            .await?;
        let path = format!("/files/{}", begun["id"].as_str().ok_or("no id")?);
        for (number, part) in table.chunks(40).enumerate() {
            let part = self
                .send("POST", &format!("{path}/parts?at={}", 40 * number), part)
                .await?;
            assert_eq!(part.status, 200, "{}", part.text());
        }
        Ok(path)
    }

    /// Waits until an import does nothing.
    async fn settled(&mut self, path: &str) -> TestResult<Value> {
        for _ in 0..600 {
            let job = self.json("GET", path, &Value::Null).await?;
            if !["reading", "running"].contains(&job["state"].as_str().unwrap_or_default()) {
                return Ok(job);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Err("the import does not end".into())
    }

    async fn people(&self) -> TestResult<Vec<Value>> {
        let mut client = Client::connect(self.demo.address()?, Some(self.key)).await?;
        let people = link(&client.get(&self.demo.base_url).await?, "svc:people")?;
        client.walk(&people).await
    }
}

/// Returns the numbers of files below a folder, and of open files without a name in it.
fn files(folder: &Path, process: u32) -> TestResult<(usize, usize)> {
    let named = std::fs::read_dir(folder)?.count();
    let open = std::fs::read_dir(format!("/proc/{process}/fd"))?
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter(|target| target.starts_with(folder))
        .count();
    Ok((named, open))
}

#[tokio::test]
async fn a_table_is_corrected_and_imported_and_no_file_remains() -> TestResult {
    let folder = tempfile::tempdir()?;
    let mut page = Page::start(folder.path(), &[]).await?;
    let temporary = folder.path().join("temporary");
    // The tenant has a person.
    let before = page.people().await?.len();
    let path = page.upload(TABLE).await?;
    let job = page.settled(&path).await?;
    assert_eq!(job["state"], "ready", "{job}");
    let table = &job["table"];
    assert_eq!(
        table["format"],
        "CSV table, columns separated by semicolons"
    );
    assert_eq!((&table["rows"], &table["empty"]), (&json!(3), &json!(1)));
    let columns = table["columns"].as_array().ok_or("no columns")?;
    assert_eq!(columns[0]["title"], "First name");
    assert_eq!(columns[0]["examples"], json!(["Jürgen", "Zoë", "Udo"]));
    assert_eq!(columns[2]["member"], "phone_numbers[Mobile].number");
    let (named, open) = files(&temporary, page.demo.id())?;
    assert_eq!(named, 0, "the file has no name");
    assert!(open > 0, "the file is open");

    // Two columns for one member, and a member that does not exist.
    let choose = |third: &str, dates: &str| json!({ "members": ["given_name", "family_name", third, "postal_addresses[1].address_lines[1]", "custom"], "dates": dates });
    for (third, text) in [
        ("given_name", "A and C both contain"),
        ("shoe", "not possible"),
    ] {
        let body = choose(third, "unknown").to_string();
        let answer = page
            .send("POST", &format!("{path}/run"), body.as_bytes())
            .await?;
        assert!(
            answer.status == 400 && answer.text().contains(text),
            "{}",
            answer.text()
        );
    }
    // No person can be recognised, so the page asks.
    page.json(
        "POST",
        &format!("{path}/run"),
        &choose("ignored", "unknown"),
    )
    .await?;
    let job = page.settled(&path).await?;
    assert_eq!(
        (&job["state"], &job["table"]["questions"]["identity"]),
        (&json!("ready"), &json!(true))
    );
    assert_eq!(page.people().await?.len(), before);

    let chosen = choose("email_addresses[1].address", "day-first");
    page.json("POST", &format!("{path}/preview"), &chosen)
        .await?;
    let job = page.settled(&path).await?;
    let preview = &job["table"]["preview"];
    assert_eq!(
        (&preview["created"], &preview["rejected"]),
        (&json!(2), &json!(1)),
        "{job}"
    );
    assert_eq!(
        page.people().await?.len(),
        before,
        "a preview stores nothing"
    );
    page.json("POST", &format!("{path}/run"), &chosen).await?;
    let job = page.settled(&path).await?;
    assert_eq!(job["state"], "done", "{job}");
    let counts = json!({ "created": 2, "updated": 0, "unchanged": 0, "imported": 0, "incomplete": 0, "rejected": 1, "empty": 1 });
    assert_eq!(job["counts"], counts);
    let people = page.people().await?;
    let first = people
        .iter()
        .find(|one| one["given_name"] == "Jürgen")
        .ok_or("no person")?;
    assert_eq!(
        first["postal_addresses"][0]["address_lines"][0],
        "Am Ring 1"
    );
    assert_eq!(first["custom_fields"]["Ort"], "Köln");
    assert_eq!(
        files(&temporary, page.demo.id())?.0,
        0,
        "reports have no names"
    );

    // The rejected rows are corrected, and imported.
    let rejected = page.send("GET", &format!("{path}/rejected"), b"").await?;
    let text = rejected.text();
    assert!(
        text.contains("Udo;Klein;udo at example;Am Ring 3;Bonn;") && text.contains(";error"),
        "{text}"
    );
    assert_eq!(
        page.send("GET", &format!("{path}/incomplete"), b"")
            .await?
            .status,
        404
    );
    let path = page
        .upload(text.replace("udo at example", "udo@example.org").as_bytes())
        .await?;
    page.settled(&path).await?;
    let members = json!({ "members": ["given_name", "family_name", "email_addresses[1].address", "ignored", "ignored", "ignored"] });
    page.json("POST", &format!("{path}/run"), &members).await?;
    let job = page.settled(&path).await?;
    assert_eq!(
        (&job["state"], &job["counts"]["created"]),
        (&json!("done"), &json!(1)),
        "{job}"
    );
    assert_eq!(page.people().await?.len(), before + 3);

    page.json("DELETE", &path, &Value::Null).await?;
    assert_eq!(page.send("GET", &path, b"").await?.status, 404);
    for _ in 0..100 {
        if files(&temporary, page.demo.id())? == (0, 0) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err(format!("files remain: {:?}", files(&temporary, page.demo.id())?).into())
}

#[tokio::test]
async fn an_import_belongs_to_its_key() -> TestResult {
    let folder = tempfile::tempdir()?;
    let mut page = Page::start(folder.path(), &[]).await?;
    let size = json!({ "size": 10 }).to_string();
    for (key, status) in [
        ("", 401),
        ("not-a-key-of-this-server", 401),
        (READ_KEY, 403),
    ] {
        page.key = key;
        for (method, path) in [("POST", "/files"), ("GET", "/files"), ("GET", "/files/1")] {
            let answer = page.send(method, path, size.as_bytes()).await?;
            assert_eq!(answer.status, status, "{method} {path}: {}", answer.text());
        }
    }
    page.key = KEY;
    let path = page.upload(TABLE).await?;
    page.settled(&path).await?;
    assert_eq!(
        page.json("GET", "/files", &Value::Null).await?["import"]["state"],
        "ready"
    );
    // Another key of the same tenant, and one of another tenant.
    for key in [KEYS[0], KEYS[1]] {
        page.key = key;
        for (method, action) in [
            ("GET", ""),
            ("DELETE", ""),
            ("POST", "/parts?at=0"),
            ("POST", "/run"),
            ("POST", "/stop"),
            ("GET", "/rejected"),
        ] {
            let answer = page.send(method, &format!("{path}{action}"), b"").await?;
            assert_eq!(answer.status, 404, "{method} {action}");
        }
        assert_eq!(
            page.json("GET", "/files", &Value::Null).await?,
            json!({ "import": null })
        );
    }
    page.key = KEY;
    assert_eq!(
        page.json("GET", &path, &Value::Null).await?["state"],
        "ready"
    );
    Ok(())
}

#[tokio::test]
async fn sizes_and_numbers_of_imports_are_limited() -> TestResult {
    let folder = tempfile::tempdir()?;
    let mut page = Page::start(folder.path(), &[]).await?;
    for (size, status, text) in [(268_435_457_u64, 413, "256 MB"), (0, 400, "empty")] {
        let body = json!({ "size": size }).to_string();
        let answer = page.send("POST", "/files", body.as_bytes()).await?;
        assert!(
            answer.status == status && answer.text().contains(text),
            "{}",
            answer.text()
        );
    }
    let size = json!({ "size": 3 });
    let begun = page.json("POST", "/files", &size).await?;
    let path = format!("/files/{}", begun["id"].as_str().ok_or("no id")?);
    // A part that does not follow, and one that is larger than announced.
    for (at, part, status) in [(1, "ab", 409), (0, "abcd", 413)] {
        let answer = page
            .send("POST", &format!("{path}/parts?at={at}"), part.as_bytes())
            .await?;
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    let large = vec![b'a'; 1024 * 1024 + 1];
    let answer = page
        .send("POST", &format!("{path}/parts?at=0"), &large)
        .await?;
    assert_eq!(answer.status, 413);
    let busy = page
        .send("POST", "/files", size.to_string().as_bytes())
        .await?;
    assert_eq!((busy.status, busy.header("retry-after")), (429, Some("60")));
    for key in &KEYS[..3] {
        page.key = key;
        page.json("POST", "/files", &size).await?;
    }
    page.key = KEYS[3];
    let busy = page
        .send("POST", "/files", size.to_string().as_bytes())
        .await?;
    assert_eq!((busy.status, busy.header("retry-after")), (503, Some("60")));
    // A file without a table is reported, and its key can begin again.
    page.key = KEY;
    let answer = page
        .send("POST", &format!("{path}/parts?at=0"), b"\n\n\n")
        .await?;
    assert_eq!(answer.status, 200);
    let job = page.settled(&path).await?;
    assert_eq!(job["state"], "unusable", "{job}");
    assert!(
        job["problem"]
            .as_str()
            .is_some_and(|text| text.contains("no table")),
        "{job}"
    );
    page.json("POST", "/files", &size).await?;
    Ok(())
}

#[tokio::test]
async fn the_page_is_linked_and_loads_only_from_the_server() -> TestResult {
    let folder = tempfile::tempdir()?;
    let mut page = Page::start(folder.path(), &[]).await?;
    page.key = "";
    let html = page.send("GET", "/", b"").await?;
    assert_eq!(html.status, 200);
    let policy = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    assert_eq!(html.header("content-security-policy"), Some(policy));
    assert_eq!(html.header("referrer-policy"), Some("no-referrer"));
    assert!(!html.text().contains('{'), "{}", html.text());
    assert!(
        html.text()
            .contains("<option value=\"email_addresses[2].address\">2nd e-mail address</option>")
    );
    let script = page.send("GET", "/import.js", b"").await?.text();
    // Every file that the page and its script name exists.
    let text = html.text() + &script;
    let named = text
        .split(['"', '\''])
        .filter(|part| part.starts_with('/') && part.ends_with(['s', 'g']) && part.contains('.'));
    let mut count = 0;
    for file in named {
        let mut raw = Raw::connect(page.demo.address()?).await?;
        raw.send(format!("GET {file} HTTP/1.1\r\nHost: localhost\r\n\r\n"))
            .await?;
        assert_eq!(raw.answer().await?.status, 200, "{file}");
        count += 1;
    }
    assert_eq!(count, 8, "{text}");
    assert_eq!(page.send("POST", "/", b"").await?.status, 405);
    let mut raw = Raw::connect(page.demo.address()?).await?;
    raw.send("GET /api/v1/docs/ HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n")
        .await?;
    let docs = raw.answer().await?.text();
    assert!(docs.contains("<a href=\"/import/\">Import</a>"));
    Ok(())
}

#[tokio::test]
async fn tags_are_created_if_the_user_decides_so() -> TestResult {
    for (more, state) in [
        (&[][..], "done"),
        (&["--without-capability", "tags.create"][..], "ready"),
    ] {
        let folder = tempfile::tempdir()?;
        let mut page = Page::start(folder.path(), more).await?;
        let path = page
            .upload(b"E-Mail,Tags\nada@example.org,reads-tables\n")
            .await?;
        let job = page.settled(&path).await?;
        assert_eq!(job["table"]["groups"], json!(["reads-tables"]));
        let members = ["email_addresses[1].address", "tags"];
        let chosen = json!({ "members": members, "creates_groups": true });
        page.json("POST", &format!("{path}/run"), &chosen).await?;
        let job = page.settled(&path).await?;
        assert_eq!(job["state"], state, "{job}");
        let problem = job["table"]["problem"].as_str().unwrap_or_default();
        if state == "done" {
            assert_eq!(job["counts"]["created"], 1, "{job}");
        } else {
            assert!(problem.contains("tags cannot be created"), "{job}");
        }
    }
    Ok(())
}

/// A server without the helper, and one at the root of its host, have no page.
#[tokio::test]
async fn servers_without_sign_ups_have_no_page() -> TestResult {
    for more in [
        ["--without-capability", "helper.person_signup"],
        ["--base-url", "http://localhost/"],
    ] {
        let folder = tempfile::tempdir()?;
        let mut page = Page::start(folder.path(), &more).await?;
        assert_eq!(page.send("GET", "/", b"").await?.status, 404, "{more:?}");
    }
    Ok(())
}
