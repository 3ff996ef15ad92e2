//! The demo as a program: its start, its commands, its end.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::tempdir;

use crate::support::client::{Client, link};
use crate::support::demo::demo;
use crate::support::program::{KEY, Program, outcome};
use crate::support::{Raw, TestResult, own_loopback_address};

/// Starts the demo in an empty folder with few people, so that loading is fast.
fn start(data: &Path, arguments: &[&str]) -> TestResult<Program> {
    Program::demo(data, &[&["--seed-people", "20"], arguments].concat())
}

/// Returns the error message of a start that must fail.
fn refused(data: &Path, arguments: &[&str]) -> TestResult<String> {
    let (status, _, errors) = outcome(demo(data).args(["--port", "0"]).args(arguments))?;
    assert_eq!(status.code(), Some(1), "{errors}");
    assert!(
        errors.contains("  where: ") && errors.contains("  hint: "),
        "{errors}"
    );
    Ok(errors)
}

/// Returns the first word after this word, in the first line that starts with it.
fn said<'a>(text: &'a str, word: &str) -> TestResult<&'a str> {
    let line = text
        .lines()
        .find_map(|line| line.trim_start().strip_prefix(word))
        .ok_or_else(|| text.to_owned())?;
    Ok(line.split_whitespace().next().ok_or("nothing")?)
}

#[tokio::test]
async fn without_arguments_there_are_keys_and_everything_to_look_at() -> TestResult {
    let folder = tempdir()?;
    let data = folder.path().join("demo.db");
    let program = Program::start(demo(&data).args(["--port", "0"]))?.loaded()?;
    let tokens: Vec<_> = program
        .said
        .split_whitespace()
        .filter(|word| word.starts_with("svck_"))
        .collect();
    assert!(
        tokens.len() >= 2 && program.said.contains("(demo, read-only)"),
        "{}",
        program.said
    );
    let mut client = Client::connect(program.address()?, Some(tokens[0])).await?;
    let entry = client.get(&program.base_url).await?;
    let people = client.get(&link(&entry, "svc:people")?).await?;
    assert_eq!(people["total_records"], 5000);
    let petition = &client.walk(&link(&entry, "svc:petitions")?).await?[0];
    let creator = client.get(&link(petition, "svc:creator")?).await?;
    // Records that are written with a key of the demo link to the person of the key.
    let new = client
        .post(
            &link(&entry, "svc:petitions")?,
            &json!({"title": "A new one"}),
        )
        .await?;
    assert_eq!(link(&new, "svc:creator")?, link(&creator, "self")?);
    let mut reader = Client::connect(program.address()?, Some(tokens[1])).await?;
    reader.get(&link(&new, "self")?).await?;
    assert_eq!(
        reader
            .send("DELETE", &link(&new, "self")?, None)
            .await?
            .status,
        403
    );
    drop(client);
    drop(reader);
    let first: Vec<String> = tokens.iter().map(ToString::to_string).collect();
    program.terminate()?;
    let (status, rest) = program.end()?;
    assert_eq!(status.code(), Some(0));
    assert!(rest.contains("loaded       5000 people"), "{rest}");
    // The keys are shown again, and the data still exists.
    let program = Program::start(demo(&data).args(["--port", "0"]))?.loaded()?;
    for token in &first {
        assert!(program.said.contains(&**token), "{}", program.said);
    }
    let mut client = Client::connect(program.address()?, Some(&first[0])).await?;
    // The client uses only the path of a URL: the port has changed.
    assert_eq!(
        client.get(&link(&new, "self")?).await?["title"],
        "A new one"
    );
    Ok(())
}

/// Returns all data of a tenant that must be the same in two runs.
async fn contents(program: &Program) -> TestResult<Vec<(String, Vec<Value>)>> {
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    let entry = client.get(&program.base_url).await?;
    let links = entry["_links"].as_object().ok_or("no links")?;
    let mut all = Vec::new();
    for (name, target) in links {
        let is_collection = name.starts_with("svc:") && !name.ends_with("_helper");
        if let Some(address) = target["href"].as_str().filter(|_| is_collection) {
            all.push((name.clone(), client.walk(address).await?));
        }
    }
    Ok(all)
}

#[tokio::test]
async fn the_same_arguments_give_the_same_data() -> TestResult {
    let folder = tempdir()?;
    let arguments = [
        "--seed-people",
        "150",
        "--key",
        "other=other-key-of-the-tests",
    ];
    let first = Program::demo(&folder.path().join("a.db"), &arguments)?;
    let second = Program::demo(&folder.path().join("b.db"), &arguments)?;
    let told = async |program: &Program| -> TestResult<String> {
        Ok(serde_json::to_string(&contents(program).await?)?.replace(&program.base_url, "/"))
    };
    assert_eq!(told(&first).await?, told(&second).await?);
    Ok(())
}

#[tokio::test]
async fn links_begin_with_the_base_url_and_its_path_leads_to_them() -> TestResult {
    let folder = tempdir()?;
    let arguments = ["--base-url", "http://demo.example.org/api/v1"];
    let program = start(&folder.path().join("a.db"), &arguments)?;
    assert_eq!(program.base_url, "http://demo.example.org/api/v1/");
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    let entry = client.get("/api/v1/").await?;
    assert_eq!(
        link(&entry, "svc:people")?,
        "http://demo.example.org/api/v1/people"
    );
    assert_eq!(client.get("/api/v1/people").await?["total_records"], 20);
    assert_eq!(client.send("GET", "/people", None).await?.status, 404);
    Ok(())
}

#[tokio::test]
async fn each_tenant_has_every_container_also_without_people() -> TestResult {
    let folder = tempdir()?;
    let arguments = [
        "--seed-people",
        "0",
        "--key",
        "other=other-key-of-the-tests",
        "--read-key",
        "other=other-key-that-only-reads",
    ];
    let program = Program::demo(&folder.path().join("demo.db"), &arguments)?;
    let mine = contents(&program).await?;
    assert_eq!(mine.len(), 13, "collections on the entry point");
    for (name, members) in &mine {
        assert_eq!(members.is_empty(), name == "svc:donations", "{name}");
    }
    let mut other = Client::connect(program.address()?, Some("other-key-of-the-tests")).await?;
    for (_, members) in &mine {
        for member in members {
            let address = link(member, "self")?;
            assert_eq!(
                other.send("GET", &address, None).await?.status,
                404,
                "{address}"
            );
        }
    }
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    let owner = client
        .walk(&format!("{}people", program.base_url))
        .await?
        .pop()
        .ok_or("nobody")?;
    let new = client
        .post(
            &format!("{}forms", program.base_url),
            &json!({"title": "A new one"}),
        )
        .await?;
    assert_eq!(
        link(&new, "svc:creator")?,
        link(&owner, "self")?,
        "keys belong to the only person"
    );
    let petitions = other
        .walk(&format!("{}petitions", program.base_url))
        .await?;
    assert_eq!(
        petitions.len(),
        mine.iter()
            .find(|(name, _)| name == "svc:petitions")
            .map_or(0, |(_, all)| all.len())
    );
    Ok(())
}

#[tokio::test]
async fn a_second_server_on_one_file_is_refused() -> TestResult {
    let folder = tempdir()?;
    let data = folder.path().join("demo.db");
    let _running = start(&data, &[])?;
    assert!(refused(&data, &[])?.contains("nother server has this file open"));
    assert!(refused(&data, &["--reset"])?.contains("nother server has this file open"));
    Ok(())
}

#[tokio::test]
async fn a_file_of_another_program_is_neither_used_nor_deleted() -> TestResult {
    let folder = tempdir()?;
    let data = folder.path().join("notes.db");
    std::fs::write(&data, "my notes")?;
    for arguments in [&[][..], &["--reset"]] {
        assert!(refused(&data, arguments)?.contains("another program"));
        assert_eq!(std::fs::read(&data)?, b"my notes");
    }
    Ok(())
}

#[tokio::test]
async fn a_damaged_file_is_reported_as_damaged_and_left_unchanged() -> TestResult {
    let folder = tempdir()?;
    let data = folder.path().join("demo.db");
    let program = start(&data, &[])?;
    program.terminate()?;
    assert_eq!(program.end()?.0.code(), Some(0));
    let sound = std::fs::read(&data)?;
    let keys: i64 = rusqlite::Connection::open(&data)?.query_row(
        "SELECT (rootpage - 1) * 4096 FROM sqlite_schema WHERE name = 'api_key'",
        (),
        |row| row.get(0),
    )?;
    let keys = usize::try_from(keys)?;
    let one_bit = |at: usize| (at..at + 1, sound[at] ^ 1);
    let harms = [
        ("one bit of the magic", one_bit(3)),
        ("one bit of the page size", one_bit(16)),
        ("one bit of the application id", one_bit(68)),
        (
            "a page that opening does not read",
            (keys..keys + 4096, 0xAA),
        ),
        ("every page but the first", (4096..sound.len(), 0xAA)),
    ];
    for (harm, (place, byte)) in harms {
        let mut bytes = sound.clone();
        bytes[place].fill(byte);
        std::fs::write(&data, &bytes)?;
        let errors = refused(&data, &[])?;
        assert!(
            errors.contains("damaged") && errors.contains("Restore a backup"),
            "{harm}: {errors}"
        );
        assert_eq!(std::fs::read(&data)?, bytes, "{harm}");
    }
    std::fs::write(&data, &sound)?;
    start(&data, &[]).map(drop)
}

#[tokio::test]
async fn the_check_needs_the_file_for_itself_and_fails_on_damage() -> TestResult {
    let folder = tempdir()?;
    let data = folder.path().join("demo.db");
    assert!(refused_command(&data, &["check"])?.contains("he data file does not exist"));
    let mut program = start(&data, &[])?;
    assert!(refused_command(&data, &["check"])?.contains("nother server has this file open"));
    program.kill()?;
    let (status, said, errors) = outcome(demo(&data).arg("check"))?;
    assert!(
        status.success() && said.ends_with(": no damage found.\n"),
        "{said}{errors}"
    );
    let log = folder.path().join("demo.db-wal");
    let mut bytes = std::fs::read(&log)?;
    // The first frame, which affects all commits, and one in the middle.
    for frame in [0, (bytes.len() - 32) / (24 + 4096) / 2] {
        let place = 32 + frame * (24 + 4096) + 100;
        bytes[place] ^= 1;
        std::fs::write(&log, &bytes)?;
        let (status, said, errors) = outcome(demo(&data).arg("check"))?;
        assert_eq!(status.code(), Some(1), "{said}{errors}");
        assert!(
            said.contains("frames of the write-ahead log") && errors.contains("is damaged"),
            "{said}{errors}"
        );
        bytes[place] ^= 1;
    }
    Ok(())
}

#[tokio::test]
async fn an_emptied_file_is_new_with_fresh_only() -> TestResult {
    let folder = tempdir()?;
    let data = folder.path().join("demo.db");
    // Without a key in its arguments, the demo creates two, which are in the keys file.
    let program =
        Program::start(demo(&data).args(["--port", "0", "--seed-people", "20"]))?.loaded()?;
    program.terminate()?;
    assert_eq!(program.end()?.0.code(), Some(0));
    let keys = std::fs::read(folder.path().join("demo.db.keys"))?;
    std::fs::write(&data, "")?;
    for command in [&["--port", "0"][..], &["keys", "list"], &["compact"]] {
        let errors = refused_command(&data, command)?;
        assert!(
            errors.contains("The data file is empty") && errors.contains("Restore a backup"),
            "{errors}"
        );
        assert_eq!(std::fs::metadata(&data)?.len(), 0);
    }
    assert_eq!(std::fs::read(folder.path().join("demo.db.keys"))?, keys);
    start(&data, &["--reset"]).map(drop)
}

#[tokio::test]
async fn fresh_makes_a_new_file() -> TestResult {
    let folder = tempdir()?;
    let data = folder.path().join("demo.db");
    let mut program = start(&data, &[])?;
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    let tags = format!("{}tags", program.base_url);
    let before = client.get(&tags).await?["total_records"].clone();
    client.post(&tags, &json!({"name": "new"})).await?;
    program.kill()?;
    let program = start(&data, &["--reset"])?;
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    assert_eq!(
        client.get(&format!("{}tags", program.base_url)).await?["total_records"],
        before
    );
    Ok(())
}

#[tokio::test]
async fn nothing_is_made_or_deleted_for_options_that_cannot_be_followed() -> TestResult {
    let folder = tempdir()?;
    let data = folder.path().join("demo.db");
    let program = start(&data, &[])?;
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    client
        .post(
            &format!("{}tags", program.base_url),
            &json!({"name": "kept"}),
        )
        .await?;
    program.terminate()?;
    program.end()?;
    let long = "x".repeat(40);
    for wrong in [
        ["--without-capability", "people.fly"],
        ["--prefix", &long],
        ["--cors", "x"],
        ["--listen", "0.0.0.0"],
    ] {
        refused(&data, &[&["--reset"], &wrong[..]].concat())?;
        let other = folder.path().join("other.db");
        refused(&other, &wrong)?;
        assert!(!other.exists(), "{wrong:?}");
    }
    let program = Program::demo(&data, &[])?;
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    let tags = client.walk(&format!("{}tags", program.base_url)).await?;
    assert!(
        tags.iter().any(|tag| tag["name"] == "kept"),
        "the data was not deleted"
    );
    Ok(())
}

#[tokio::test]
async fn options_for_new_files_are_ignored_on_others_and_a_line_says_so() -> TestResult {
    let folder = tempdir()?;
    let data = folder.path().join("demo.db");
    let mut program = start(&data, &["--share-names", "a_share,b_share"])?;
    assert!(!program.said.contains("ignored"), "{}", program.said);
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    assert_eq!(
        client.get(&format!("{}people", program.base_url)).await?["total_records"],
        20
    );
    program.kill()?;
    let arguments = [
        "--seed-people",
        "30",
        "--share-names",
        "c_share,d_share",
        "--key",
        "late=late-key-of-the-tests",
    ];
    let program = Program::demo(&data, &arguments)?;
    assert!(
        program
            .said
            .contains("--share-names applies to a new file only"),
        "{}",
        program.said
    );
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    assert_eq!(
        client.get(&format!("{}people", program.base_url)).await?["total_records"],
        20
    );
    let pages = client
        .walk(&format!("{}petitions", program.base_url))
        .await?;
    assert!(
        pages[0]["share_options"][0]["a_share"].is_object(),
        "{}",
        pages[0]
    );
    // A tenant that a later start names is added with its data.
    let mut late = Client::connect(program.address()?, Some("late-key-of-the-tests")).await?;
    assert_eq!(
        late.get(&format!("{}people", program.base_url)).await?["total_records"],
        30
    );
    drop(program);
    let program = Program::demo(&data, &["--seed-people", "30"])?;
    assert!(
        program
            .said
            .contains("--seed-people applies to a new file only"),
        "{}",
        program.said
    );
    Ok(())
}

#[tokio::test]
async fn a_load_that_was_cut_off_is_completed() -> TestResult {
    let folder = tempdir()?;
    let arguments = ["--seed-people", "2000"];
    let data = folder.path().join("demo.db");
    let mut whole = Program::demo(&folder.path().join("whole.db"), &arguments)?;
    for _ in 0..3 {
        // The banner is printed before the data is loaded.
        Program::loading_demo(&data, &arguments)?.kill()?;
    }
    let mut resumed = Program::demo(&data, &[])?;
    let (whole_data, resumed_data) = (contents(&whole).await?, contents(&resumed).await?);
    for ((name, whole), (_, resumed)) in whole_data.iter().zip(&resumed_data) {
        let ids = |members: &[Value]| {
            members
                .iter()
                .map(|member| member["identifiers"].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(whole), ids(resumed), "{name}");
    }
    whole.kill()?;
    resumed.kill()
}

#[tokio::test]
async fn und_15_a_key_revoked_by_another_process_is_refused_at_once() -> TestResult {
    let folder = tempdir()?;
    let data = folder.path().join("demo.db");
    let program = start(&data, &[])?;
    let people = format!("{}people", program.base_url);
    for _ in 0..5 {
        let (status, out, errors) =
            outcome(demo(&data).args(["keys", "create", "--label", "web form"]))?;
        assert!(status.success(), "{errors}");
        let (id, token) = (
            said(&out, "Created key ")?.to_owned(),
            out.lines().nth(1).ok_or("no token")?.to_owned(),
        );
        let mut client = Client::connect(program.address()?, Some(&token)).await?;
        client.get(&people).await?;
        let (status, ..) = outcome(demo(&data).args(["keys", "revoke", &id]))?;
        assert!(status.success());
        assert_eq!(client.send("GET", &people, None).await?.status, 401);
        let (_, list, _) = outcome(demo(&data).args(["keys", "list"]))?;
        let line = list
            .lines()
            .find(|line| line.starts_with(&id))
            .ok_or("not listed")?;
        assert!(
            line.contains("revoked") && line.contains("web form") && !list.contains(&token),
            "{list}"
        );
        assert!(
            refused_command(&data, &["keys", "revoke", &id])?.contains("There is no active key")
        );
    }
    Ok(())
}

#[tokio::test]
async fn hook_16_a_revoked_key_takes_its_webhooks_with_it() -> TestResult {
    let folder = tempdir()?;
    let data = folder.path().join("demo.db");
    let program = start(&data, &[])?;
    let cases = [
        (
            &[][..],
            "disabled",
            " 2 webhooks of the key are now disabled.",
        ),
        (&["--keep-webhooks"], "active", ""),
    ];
    for (options, state, ending) in cases {
        let (_, out, _) = outcome(demo(&data).args(["keys", "create", "--label", "hooks"]))?;
        let (id, token) = (
            said(&out, "Created key ")?.to_owned(),
            out.lines().nth(1).ok_or("no token")?.to_owned(),
        );
        let mut client = Client::connect(program.address()?, Some(&token)).await?;
        let mut webhooks = Vec::new();
        for number in 0..2 {
            let body = json!({"url": format!("https://hooks.example.org/{number}")});
            webhooks.push(link(
                &client.post("/api/v1/webhooks", &body).await?,
                "self",
            )?);
        }
        let (status, out, errors) =
            outcome(demo(&data).args(["keys", "revoke", &id]).args(options))?;
        assert!(status.success(), "{errors}");
        assert_eq!(out, format!("Revoked key {id}.{ending}\n"));
        let (_, list, _) = outcome(demo(&data).args(["webhooks", "list"]))?;
        for webhook in webhooks {
            let own = webhook.rsplit('/').next().ok_or("no id")?;
            let line = list
                .lines()
                .find(|line| line.starts_with(own))
                .ok_or("not listed")?;
            assert!(line.contains(state) && line.contains(&id), "{line}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn und_15_keys_that_are_given_are_long_and_neither_shown_nor_kept() -> TestResult {
    let folder = tempdir()?;
    let data = folder.path().join("demo.db");
    for option in ["--key", "--read-key"] {
        let said = refused(&data, &[option, "demo=given-planted-token"])?;
        assert!(
            said.contains("20 to 256")
                && said.contains("openssl rand")
                && !said.contains("planted"),
            "{said}"
        );
    }
    assert!(!data.exists(), "nothing is created");
    let keys = folder.path().join("demo.db.keys");
    let given = [
        "--seed-people",
        "1",
        "--key",
        "demo=given-PLANTED-token-1",
        "--read-key",
        "demo=given-PLANTED-token-2",
    ];
    let program = Program::start(demo(&data).args(["--port", "0"]).args(given))?.loaded()?;
    assert!(
        !program.said.contains("PLANTED")
            && program
                .said
                .contains("given by --read-key  (demo, read-only)")
    );
    assert!(
        !keys.exists() && !program.said.contains("there is no key to show"),
        "{}",
        program.said
    );
    let people = format!("{}people", program.base_url);
    for token in ["given-PLANTED-token-1", "given-PLANTED-token-2"] {
        Client::connect(program.address()?, Some(token))
            .await?
            .get(&people)
            .await?;
    }
    program.terminate()?;
    program.end()?;
    // Earlier versions stored them.
    let (_, list, _) = outcome(demo(&data).args(["keys", "list"]))?;
    let id = list
        .lines()
        .nth(1)
        .and_then(|line| line.split(' ').next())
        .ok_or("no key")?;
    std::fs::write(&keys, format!("{id}\tdemo\tall\tgiven-PLANTED-token-1\n"))?;
    let program = Program::start(demo(&data).args(["--port", "0"]))?.loaded()?;
    assert!(
        !program.said.contains("PLANTED") && program.said.contains("there is no key to show"),
        "{}",
        program.said
    );
    assert!(!stands_in(folder.path(), "PLANTED-token")?);
    Ok(())
}

fn refused_command(data: &Path, arguments: &[&str]) -> TestResult<String> {
    let (status, _, errors) = outcome(demo(data).args(arguments))?;
    assert_eq!(status.code(), Some(1), "{errors}");
    Ok(errors)
}

#[tokio::test]
async fn keys_can_be_bound_restricted_and_dated() -> TestResult {
    let folder = tempdir()?;
    let data = folder.path().join("demo.db");
    assert!(refused_command(&data, &["keys", "list"])?.contains("he data file does not exist"));
    let program = start(&data, &[])?;
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    let person = client
        .walk(&format!("{}people", program.base_url))
        .await?
        .pop()
        .ok_or("nobody")?;
    let id = link(&person, "self")?
        .rsplit('/')
        .next()
        .map(str::to_owned)
        .ok_or("no id")?;
    let token = |arguments: &[&str]| -> TestResult<String> {
        let (status, out, errors) = outcome(demo(&data).args(["keys", "create"]).args(arguments))?;
        assert!(status.success(), "{errors}");
        Ok(out.lines().nth(1).ok_or("no token")?.to_owned())
    };
    let mut bound = Client::connect(program.address()?, Some(&token(&["--person", &id])?)).await?;
    let petition = bound
        .post(
            &format!("{}petitions", program.base_url),
            &json!({"title": "Mine"}),
        )
        .await?;
    assert_eq!(link(&petition, "svc:creator")?, link(&person, "self")?);
    let mut tags = Client::connect(
        program.address()?,
        Some(&token(&["--right", "tags.create"])?),
    )
    .await?;
    tags.post(
        &format!("{}tags", program.base_url),
        &json!({"name": "new"}),
    )
    .await?;
    assert_eq!(tags.send("GET", "/api/v1/people", None).await?.status, 403);
    let mut expired = Client::connect(
        program.address()?,
        Some(&token(&["--expires", "2020-01-01T00:00:00Z"])?),
    )
    .await?;
    assert_eq!(
        expired.send("GET", "/api/v1/people", None).await?.status,
        401
    );
    for (option, value) in [
        ("--right", "people.fly"),
        ("--expires", "soon"),
        ("--tenant", "nobody"),
        ("--person", "x"),
    ] {
        assert!(
            refused_command(&data, &["keys", "create", option, value])?.contains(option),
            "{option}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_backup_of_a_running_server_opens() -> TestResult {
    let folder = tempdir()?;
    let (data, copy) = (folder.path().join("demo.db"), folder.path().join("copy.db"));
    let program = start(&data, &[])?;
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    client
        .post(
            &format!("{}tags", program.base_url),
            &json!({"name": "new"}),
        )
        .await?;
    let copied = copy.to_str().ok_or("no text")?;
    let (status, _, errors) = outcome(demo(&data).args(["backup", copied]))?;
    assert!(status.success(), "{errors}");
    assert!(refused_command(&data, &["backup", copied])?.contains("exists already"));
    let restored = Program::demo(&copy, &[])?;
    let mut client = Client::connect(restored.address()?, Some(KEY)).await?;
    let names: Vec<_> = client.walk(&format!("{}tags", restored.base_url)).await?;
    assert!(names.iter().any(|tag| tag["name"] == "new"));
    #[cfg(unix)]
    for name in [
        "demo.db",
        "demo.db-wal",
        "demo.db-shm",
        "copy.db",
        "copy.db-wal",
    ] {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(folder.path().join(name))?
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    Ok(())
}

/// Returns whether a file of a folder contains a text.
fn stands_in(folder: &Path, text: &str) -> TestResult<bool> {
    for file in std::fs::read_dir(folder)? {
        let bytes = std::fs::read(file?.path())?;
        if bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
        {
            return Ok(true);
        }
    }
    Ok(false)
}

#[tokio::test]
async fn und_26_compacting_leaves_nothing_of_the_deleted_and_needs_the_file_for_itself()
-> TestResult {
    let folder = tempdir()?;
    let data = folder.path().join("demo.db");
    assert!(refused_command(&data, &["compact"])?.contains("he data file does not exist"));
    assert!(!data.exists(), "nothing is created");
    let program = start(&data, &["--share-names", "a_share,b_share"])?;
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    let people = format!("{}people", program.base_url);
    let person = client
        .post(
            &people,
            &json!({"given_name": "PLANTED", "source": "PLANTED ".repeat(500)}),
        )
        .await?;
    // Other records before and after it, so that rows move between pages.
    for number in 0..40 {
        client
            .post(
                &people,
                &json!({"given_name": "Ada", "source": "x".repeat(number * 97)}),
            )
            .await?;
        let longer = json!({"custom_fields": {"grows": "PLANTED ".repeat(number * 10)}});
        assert_eq!(
            client
                .send("PUT", &link(&person, "self")?, Some(&longer))
                .await?
                .status,
            200
        );
    }
    assert_eq!(
        client
            .send("DELETE", &link(&person, "self")?, None)
            .await?
            .status,
        204
    );
    let total = client.get(&people).await?["total_records"].clone();
    let busy = refused_command(&data, &["compact"])?;
    assert!(
        busy.contains("nother server has this file open") && busy.contains("hint:"),
        "{busy}"
    );
    program.terminate()?;
    assert_eq!(program.end()?.0.code(), Some(0));
    let (status, said, errors) = outcome(demo(&data).arg("compact"))?;
    assert!(
        status.success() && said.starts_with("Compacted "),
        "{said}{errors}"
    );
    assert!(!stands_in(folder.path(), "PLANTED")?);
    let program = Program::demo(&data, &["--share-names", "a_share,b_share"])?;
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    assert_eq!(
        client.get(&format!("{}people", program.base_url)).await?["total_records"],
        total
    );
    Ok(())
}

#[tokio::test]
async fn helpers_can_be_all_that_is_served_and_atomic() -> TestResult {
    let folder = tempdir()?;
    let program = start(
        &folder.path().join("demo.db"),
        &["--helpers-only", "--atomic-helpers"],
    )?;
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    let entry = client.get(&program.base_url).await?;
    assert!(entry["_links"]["svc:people"].is_null(), "{entry}");
    let helper = link(&entry, "svc:person_signup_helper")?;
    let person = json!({"given_name": "Ada", "email_addresses": [{"address": "ada@example.org"}]});
    let answer = client
        .send(
            "POST",
            &helper,
            Some(&json!({"person": person, "add_tags": ["no such tag"]})),
        )
        .await?;
    let error: Value = serde_json::from_slice(&answer.body)?;
    assert_eq!(
        (answer.status, error["svc:error"]["request_type"].as_str()),
        (400, Some("atomic")),
        "{error}"
    );
    client.post(&helper, &json!({"person": person})).await?;
    Ok(())
}

/// Returns the path of the URL of a record.
fn path(record: &Value) -> TestResult<String> {
    Ok(link(record, "self")?
        .splitn(4, '/')
        .nth(3)
        .map(|path| format!("/{path}"))
        .ok_or("no path")?)
}

#[tokio::test]
async fn switches_reach_the_service() -> TestResult {
    let folder = tempdir()?;
    let data = folder.path().join("demo.db");
    let arguments = [
        "--prefix",
        "abc",
        "--namespace",
        "here",
        "--response-style",
        "examples",
        "--entry-links",
        "listed",
        "--error-bodies",
        "--without-capability",
        "people.delete",
        "--accept-patch",
        "--anonymous-helpers",
        "off",
    ];
    let program = start(&data, &arguments)?;
    assert!(program.said.contains("ABC-API-Token: "), "{}", program.said);
    let mut raw = Raw::connect(program.address()?).await?;
    let mut send = async |method: &str, path: &str, body: &str| {
        let length = body.len();
        raw.send(format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nABC-API-Token: {KEY}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        ))
        .await?;
        let answer = raw.answer().await?;
        TestResult::Ok((
            answer.status,
            serde_json::from_slice::<Value>(&answer.body).unwrap_or_default(),
        ))
    };
    let (_, entry) = send("GET", "/api/v1/", "").await?;
    assert!(
        entry["abc_version"].is_string() && entry["namespace"] == "here",
        "{entry}"
    );
    assert!(
        entry["_links"]["abc:messages"].is_null() && entry["_links"]["abc:people"].is_object(),
        "{entry}"
    );
    let (status, tag) = send("POST", "/api/v1/tags", r#"{"name":"new"}"#).await?;
    assert_eq!(status, 200, "style examples");
    let (status, _) = send("PATCH", &path(&tag)?, r#"{"name":"b"}"#).await?;
    assert_eq!(status, 200);
    let (_, people) = send("GET", "/api/v1/people?per_page=1", "").await?;
    let person = path(&people["_embedded"]["abc:people"][0])?;
    let (status, error) = send("DELETE", &person, "").await?;
    assert_eq!(status, 500, "{error}");
    let (status, error) = send("GET", "/api/v1/people/nobody", "").await?;
    assert!(status == 404 && error["abc:error"].is_object(), "{error}");
    assert!(
        refused(
            &folder.path().join("b.db"),
            &["--without-capability", "people.fly"]
        )?
        .contains("people.fly")
    );
    Ok(())
}

#[tokio::test]
async fn und_42_sigterm_answers_sixteen_requests_in_flight_and_exits_0() -> TestResult {
    let folder = tempdir()?;
    let listen = own_loopback_address().ip().to_string();
    let program = start(&folder.path().join("demo.db"), &["--listen", &listen])?;
    let address = program.address()?;
    let mut clients = Vec::new();
    for number in 0..16 {
        let mut raw = Raw::connect(address).await?;
        let body = json!({"name": format!("tag {number:02}")}).to_string();
        raw.send(format!(
            "POST /api/v1/tags HTTP/1.1\r\nHost: x\r\nSVC-API-Token: {KEY}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nExpect: 100-continue\r\n\r\n",
            body.len()
        ))
        .await?;
        // The interim response is sent when the service starts to read the body: the request is in
        // progress.
        assert_eq!(raw.answer().await?.status, 100);
        clients.push((raw, body));
    }
    program.terminate()?;
    while Raw::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    for (raw, body) in &mut clients {
        raw.send(&*body).await?;
        let answer = raw.answer().await?;
        assert_eq!(
            (answer.status, answer.header("connection")),
            (201, Some("close")),
            "{}",
            answer.text()
        );
    }
    let (status, log) = program.end()?;
    assert_eq!(status.code(), Some(0));
    assert_eq!(
        log.lines()
            .filter(|line| line.starts_with("POST    201 "))
            .count(),
        16,
        "{log}"
    );
    assert!(!log.contains(KEY), "{log}");
    Ok(())
}

#[tokio::test]
async fn und_42_sigint_ends_an_idle_server_with_0() -> TestResult {
    let folder = tempdir()?;
    let program = start(&folder.path().join("demo.db"), &[])?;
    program.signal(rustix::process::Signal::INT)?;
    assert_eq!(program.end()?.0.code(), Some(0));
    Ok(())
}
