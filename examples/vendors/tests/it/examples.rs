//! Runs each example as a program, and tests what the README of the package describes.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::TestResult;
use crate::support::client::{Client, link};
use crate::support::docs::walk;
use crate::support::program::Program;

/// Starts an example on a free port, and a client with the key that it prints.
async fn start(command: &mut Command) -> TestResult<(Program, Client)> {
    let program = Program::start(command)?;
    let (_, rest) = program.said.split_once("-H '").ok_or("no key")?;
    let (header, rest) = rest.split_once(": ").ok_or("no key")?;
    let key = rest.split('\'').next().ok_or("no quote")?;
    let client = Client::connect(program.address()?, Some(key))
        .await?
        .key_header(header);
    Ok((program, client))
}

/// Returns the entries of a report: relation, status, and the code of the first problem.
fn entries(error: &Value) -> Vec<(&str, u64, Option<&str>)> {
    let entry = |entry| {
        let entry: &Value = entry;
        let code = entry["error_descriptions"][0]["error_code"].as_str();
        (
            entry["resource"].as_str().unwrap_or("?"),
            entry["response_code"].as_u64().unwrap_or(0),
            code,
        )
    };
    error["resource_status"]
        .as_array()
        .into_iter()
        .flatten()
        .map(entry)
        .collect()
}

/// Returns whether only the owner of a file can read it.
fn is_private(file: &Path) -> TestResult<bool> {
    #[cfg(unix)]
    return Ok(
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(file)?.permissions()) & 0o777
            == 0o600,
    );
    #[cfg(not(unix))]
    Ok(file.try_exists()?)
}

#[tokio::test]
async fn signup_only_takes_sign_ups_into_its_table() -> TestResult {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("newsletter.db");
    let mut command = Command::new(env!("CARGO_BIN_EXE_signup_only"));
    let (_program, mut client) = start(command.arg("127.0.0.1:0").arg(&file)).await?;
    let entry = client.get("/api/v1/").await?;
    let helper = link(&entry, "svc:person_signup_helper")?;
    assert!(
        link(&entry, "svc:people").is_err(),
        "collections that do not exist are not linked: {entry}"
    );
    let person = |name: &str| json!({"person": {"given_name": name, "family_name": "L", "email_addresses": [{"address": "Ada@example.org"}]}});
    let refused = client.send("POST", &helper, Some(&person("Ada"))).await?;
    assert!(
        refused.status == 400
            && refused
                .text()
                .contains("`person.family_name` is read-only on this server"),
        "UND-22: {}",
        refused.text()
    );
    let mut client = client.lenient();
    let first = client.post(&helper, &person("Ada")).await?;
    let again = client.post(&helper, &person("Augusta")).await?;
    assert_eq!(
        (&first["id"], &again["given_name"]),
        (&json!("1"), &json!("Augusta"))
    );
    assert_eq!(
        (&again["id"], again.get("family_name")),
        (&first["id"], None),
        "fields that the table cannot store are not accepted"
    );

    let nobody = client
        .send(
            "POST",
            &helper,
            Some(&json!({"person": {"given_name": "Ada"}})),
        )
        .await?;
    let nobody: Value = serde_json::from_slice(&nobody.body)?;
    assert_eq!(
        entries(&nobody["svc:error"]),
        [("svc:person", 400, Some("FIELD_REQUIRED"))]
    );
    // The response states that tags are not supported, although the code of the example has nothing
    // about tags (ERR-38).
    let mut tagged = person("Ada");
    tagged["add_tags"] = json!(["volunteer"]);
    let tagged = client.send("POST", &helper, Some(&tagged)).await?;
    let tagged: Value = serde_json::from_slice(&tagged.body)?;
    assert_eq!(
        entries(&tagged["svc:error"]),
        [
            ("svc:person", 200, None),
            ("svc:tagging", 500, Some("NOT_SUPPORTED"))
        ]
    );

    assert!(is_private(&file)?);
    let table = rusqlite::Connection::open(&file)?;
    let rows: (i64, String, String) =
        table.query_row("SELECT count(*), email, name FROM subscribers", (), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
    assert_eq!(rows, (1, "ada@example.org".to_owned(), "Ada".to_owned()));
    Ok(())
}

#[tokio::test]
async fn composed_reports_resource_by_resource() -> TestResult {
    let mut command = Command::new(env!("CARGO_BIN_EXE_composed"));
    let (program, mut client) = start(command.arg("127.0.0.1:0")).await?;
    let said: Value = serde_json::from_str(program.said.lines().next().unwrap_or_default())?;
    let expected = [
        ("svc:person", 201, None),
        ("svc:signature", 201, None),
        ("svc:tagging", 400, Some("TAG_NAME_DOES_NOT_EXIST")),
    ];
    assert_eq!(
        (
            &said["svc:error"]["request_type"],
            &entries(&said["svc:error"])[..]
        ),
        (&json!("non-atomic"), &expected[..])
    );
    let petition = client
        .post("/api/v1/petitions", &json!({"title": "More trees"}))
        .await?;
    client
        .post("/api/v1/tags", &json!({"name": "volunteer"}))
        .await?;
    let helper = link(&petition, "svc:record_signature_helper")?;
    let person = json!({"given_name": "Ada", "email_addresses": [{"address": "ada@example.org"}]});
    let signed = client
        .post(
            &helper,
            &json!({"comments": "Yes", "person": person, "add_tags": ["volunteer"]}),
        )
        .await?;
    assert_eq!(signed["comments"], "Yes");

    // One step fails, and the results of the others remain (ERR-29 to ERR-32).
    let partly =
        json!({"comments": "Again", "person": person, "add_tags": ["volunteer", "unknown"]});
    let answer = client.send("POST", &helper, Some(&partly)).await?;
    let document: Value = serde_json::from_slice(&answer.body)?;
    let error = &document["svc:error"];
    assert_eq!(
        (answer.status, &error["request_type"]),
        (400, &json!("non-atomic")),
        "ERR-30"
    );
    let expected = [
        ("svc:person", 200, None),
        ("svc:signature", 201, None),
        ("svc:tagging", 201, None),
        ("svc:tagging", 400, Some("TAG_NAME_DOES_NOT_EXIST")),
    ];
    assert_eq!(entries(error), expected, "ERR-31");
    let signature = link(&document["svc:signature"], "self")?;
    assert_eq!(
        client.get(&signature).await?["comments"],
        "Again",
        "ERR-32: it exists"
    );
    assert!(signature.starts_with(&program.base_url));
    Ok(())
}

#[tokio::test]
async fn custom_layout_is_followed_by_links() -> TestResult {
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_custom_layout"));
    let (program, mut client) =
        start(command.arg("127.0.0.1:0").arg(folder.path().join("a.db"))).await?;
    let entry = client.get("/hub/").await?;
    assert_eq!(entry["acme_release"], "1.2.0", "ENT-06");
    let petitions = link(&entry, "acme:petitions")?;
    assert_eq!(
        petitions,
        format!("{}all/petitions", program.base_url),
        "HAL-05"
    );
    let petition = client
        .post(&petitions, &json!({"title": "More trees"}))
        .await?;
    let person = json!({"given_name": "Ada", "email_addresses": [{"address": "ada@example.org"}]});
    let signed = client
        .post(
            &link(&petition, "acme:record_signature_helper")?,
            &json!({"person": person}),
        )
        .await?;
    let address = link(&signed, "self")?;
    assert!(
        address.contains("/hub/one/signatures/") && address.contains('.'),
        "{address}"
    );
    assert_eq!(
        client.get(&address).await?["identifiers"],
        signed["identifiers"]
    );
    let person = link(&signed, "acme:person")?;
    let of_person = link(&client.get(&person).await?, "acme:signatures")?;
    assert!(
        of_person.starts_with(&person.replace("/one/", "/of/")),
        "{of_person}"
    );
    assert_eq!(client.get(&of_person).await?["total_records"], 1);

    // The custom relation: a link, and a page at its curie (ENT-27).
    let shop = client.send("GET", &link(&entry, "crm:shop")?, None).await?;
    assert_eq!(shop.text(), "Badges and banners.");
    let curies = entry["_links"]["curies"].as_array().ok_or("no curies")?;
    let curie = curies
        .iter()
        .find(|curie| curie["name"] == "crm")
        .ok_or("no curie")?;
    let page = curie["href"]
        .as_str()
        .ok_or("no template")?
        .replace("{rel}", "shop");
    assert_eq!(client.send("GET", &page, None).await?.status, 200);
    // The documentation links to the vendor's page, and none of its links is broken (ENT-22,
    // HAL-18).
    let site = program
        .base_url
        .strip_suffix("/hub/")
        .ok_or("another base")?;
    let pages = walk(&mut client, site, &link(&entry, "docs")?).await?;
    let shop = "<a href=\"/relations/shop\">crm:shop</a>: Shop for supporters";
    assert!(
        pages["/hub/docs/v1/relations"].contains(shop),
        "{}",
        pages["/hub/docs/v1/relations"]
    );
    assert!(
        pages.contains_key("/hub/docs/v1/person") && pages.len() > 120,
        "{}",
        pages.len()
    );
    Ok(())
}

#[tokio::test]
async fn crm_is_mounted_beside_what_was_there() -> TestResult {
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_crm"));
    let (_program, mut client) =
        start(command.arg("127.0.0.1:0").arg(folder.path().join("crm.db"))).await?;
    let petition = client
        .post("/api/v1/petitions", &json!({"title": "More trees"}))
        .await?;
    let person = json!({"given_name": "Ada", "email_addresses": [{"address": "ada@example.org"}]});
    let helper = link(&petition, "svc:record_signature_helper")?;
    let body = json!({"person": person, "identifiers": ["web:1"]});
    let (first, again) = (
        client.post(&helper, &body).await?,
        client.post(&helper, &body).await?,
    );
    assert_eq!(
        first["identifiers"], again["identifiers"],
        "UND-24: a retry is safe"
    );
    assert_eq!(
        client.get(&link(&petition, "self")?).await?["total_signatures"],
        1
    );
    // The pages show no data of customers.
    let text = client.send("GET", "/", None).await?.text();
    assert_eq!(text, "Campaigns that you can support: 1");
    for name in ["crm.db", "crm.db-wal"] {
        assert!(is_private(&folder.path().join(name))?, "{name}");
    }
    Ok(())
}

/// The README of the package has the command of each example.
#[test]
fn every_example_is_in_the_readme() -> TestResult {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin");
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md"))?;
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        let name = path.file_stem().ok_or("a name")?.to_string_lossy();
        assert!(
            readme.contains(&format!("--bin {name}")),
            "README.md of the package lacks the example {name}"
        );
    }
    Ok(())
}

/// The examples that the pages name exist.
#[test]
fn every_named_example_exists() -> TestResult {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for page in ["README.md", "../../README.md"] {
        let text = std::fs::read_to_string(package.join(page))?;
        for rest in text.split("--bin ").skip(1) {
            let name = rest.split([' ', '`', '\n']).next().ok_or("a name")?;
            let file = package.join(format!("src/bin/{name}.rs"));
            assert!(file.exists(), "{page}: {name}");
            count += 1;
        }
    }
    assert!(count > 10, "{count} examples");
    Ok(())
}

/// The example over PostgreSQL does not change the tables of the vendor.
#[test]
fn the_tables_of_the_vendor_are_unchanged() {
    let hash = Sha256::digest(include_str!("../../src/postgres/tables.sql"));
    let hash = hash
        .iter()
        .fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    assert_eq!(
        hash,
        "dd99205f23b066e626e34c5baff9dffda5dd7dc412fcfc1f61b02d7400ac22f7"
    );
}
