//! `svc-demo import --as`: imports the actions of people, each once.
//!
//! Requirements: BAT-06, BAT-08, UND-24.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::import::{demo, import, report};
use crate::support::TestResult;
use crate::support::client::{Client, link};
use crate::support::program::{KEY, Program};

/// Creates a record, and returns its URL.
async fn create(client: &mut Client, collection: &str, record: &Value) -> TestResult<String> {
    let created = client
        .post(&format!("/api/v1/{collection}"), record)
        .await?;
    link(&created, "self")
}

/// Imports a table twice. The second time must change nothing: it returns both outputs.
fn import_twice(demo: &Program, file: &Path, more: &[&str]) -> TestResult<(bool, String, String)> {
    let (is_done, first) = import(&demo.base_url, file, KEY, more)?;
    let (_, second) = import(&demo.base_url, file, KEY, more)?;
    assert!(
        !second.contains("  new  ") && !second.contains("  updated  "),
        "{second}"
    );
    Ok((is_done, first, second))
}

async fn total(client: &mut Client, url: &str) -> TestResult<u64> {
    let page = client.get(&format!("{url}?per_page=1")).await?;
    Ok(page["total_records"].as_u64().ok_or("no total")?)
}

#[tokio::test]
async fn signatures_are_imported_once() -> TestResult {
    let folder = tempfile::tempdir()?;
    let demo = demo(folder.path())?;
    let mut client = Client::connect(demo.address()?, Some(KEY)).await?;
    let petition = json!({"title": "Save the Park", "name": "park"});
    let petition = create(&mut client, "petitions", &petition).await?;
    let file = folder.path().join("signatures.csv");
    fs::write(
        &file,
        "Vorname;E-Mail;Datum;Kommentar;Tags\n\
         Ada;ada@example.org;31.05.2024 14:03;Für den Park;volunteer-x\n\
         Bob;bob@example.org;1.6.2024;;\n\
         Eve;;2.6.2024;;\n\
         Zoe;zoe@example.org;bald;;\n",
    )?;
    let options = [
        "--as",
        "signatures",
        "--petition",
        "SAVE the park",
        "--create-tags",
    ];
    let (is_done, said, _) = import_twice(&demo, &file, &options)?;
    assert!(!is_done && said.contains("1 of 4 rows rejected"), "{said}");
    for line in [
        "new          2 rows",
        "incomplete   1 row",
        "rejected     1 row",
    ] {
        assert!(said.contains(line), "{said}");
    }
    let signatures = format!("{petition}/signatures");
    assert_eq!(total(&mut client, &signatures).await?, 3);
    assert_eq!(client.get(&petition).await?["total_signatures"], 3);
    let all = client.walk(&signatures).await?;
    let first = all.iter().find(|one| one["comments"] == "Für den Park");
    let first = first.ok_or("no such signature")?;
    assert_eq!(first["action_date"], "2024-05-31T14:03:00Z");
    let person = client.get(&link(first, "svc:person")?).await?;
    assert_eq!(person["given_name"], "Ada");
    // A changed table changes the signature of a person, and adds none.
    let changed = fs::read_to_string(&file)?.replace("1.6.2024;;", "1.6.2024;Ja;");
    fs::write(&file, changed)?;
    let (_, said) = import(&demo.base_url, &file, KEY, &options)?;
    assert!(said.contains("updated      1 row"), "{said}");
    assert_eq!(total(&mut client, &signatures).await?, 3);
    Ok(())
}

#[tokio::test]
async fn donations_are_imported_once() -> TestResult {
    let folder = tempfile::tempdir()?;
    let demo = demo(folder.path())?;
    let mut client = Client::connect(demo.address()?, Some(KEY)).await?;
    let page = json!({"title": "New Engine", "currency": "EUR"});
    let page = create(&mut client, "fundraising_pages", &page).await?;
    let file = folder.path().join("donations.csv");
    let table = "Donor First Name,Donor Email,Date,Amount,Currency,Receipt ID\n\
        Ada,ada@example.org,2024-05-31 14:03:22,\"1,234.50\",EUR,AB1\n\
        Ada,ada@example.org,6/1/2024,\"1.234,50\",EUR,AB2\n\
        Bob,bob@example.org,6/13/2024,12 €,,AB3\n\
        Eve,eve@example.org,6/1/2024,$12,,AB4\n\
        Eve,eve@example.org,6/1/2024,twelve,EUR,AB5\n\
        Eve,eve@example.org,6/1/2024,,EUR,AB6\n\
        Zoe,zoe@example.org,6/2/2024,1,EUR,AB1\n";
    fs::write(&file, table)?;
    let options = ["--as", "donations", "--fundraising-page", &page];
    let (is_done, said, _) = import_twice(&demo, &file, &options)?;
    assert!(!is_done && said.contains("new          3 rows"), "{said}");
    let rejected = report(&file, ".rejected.csv")?;
    let reasons: Vec<&str> = rejected.iter().map(|row| row["error"].as_str()).collect();
    assert!(
        reasons[0].starts_with("Row 5: `currency` must be EUR"),
        "{reasons:?}"
    );
    assert_eq!(
        reasons[1..],
        [
            "Row 6: `twelve` in column D is not an amount, such as 1234.50.",
            "Row 7: Column D is empty.",
            "Row 8: An earlier row has the identifier `actblue:AB1` and other values.",
        ]
    );
    let donations = format!("{page}/donations");
    assert_eq!(total(&mut client, &donations).await?, 3);
    let record = client.get(&page).await?;
    assert_eq!(record["total_donations"], 3, "{record}");
    assert_eq!(record["total_amount"], 2481.0);
    let all = client.walk(&donations).await?;
    let amounts: Vec<String> = all
        .iter()
        .map(|one| {
            format!(
                "{} {} {}",
                one["amount"], one["currency"], one["action_date"]
            )
        })
        .collect();
    for expected in [
        "12 \"EUR\" \"2024-06-13T00:00:00Z\"",
        "1234.5 \"EUR\" \"2024-05-31T14:03:22Z\"",
        "1234.5 \"EUR\" \"2024-06-01T00:00:00Z\"",
    ] {
        assert!(amounts.iter().any(|one| one == expected), "{amounts:?}");
    }
    // With identifiers, another table with the same donations adds only the new one.
    let more = table.replace("twelve", "5").replace("12 €", "13 €");
    fs::write(&file, more)?;
    let (_, said) = import(&demo.base_url, &file, KEY, &options)?;
    for line in [
        "new          1 row",
        "updated      1 row",
        "unchanged    2 rows",
    ] {
        assert!(said.contains(line), "{said}");
    }
    assert_eq!(total(&mut client, &donations).await?, 4);
    assert_eq!(client.get(&page).await?["total_amount"], 2487.0);
    // A donation of another page has the identifier of the second row, which therefore stores nothing.
    let other = json!({"title": "Old Engine", "currency": "USD"});
    let other = create(&mut client, "fundraising_pages", &other).await?;
    fs::write(
        &file,
        "Email,Amount,Receipt ID\neve@example.org,\"$1,000.50\",AB4\nann@example.org,5,AB1\n",
    )?;
    let options = ["--as", "donations", "--fundraising-page", &other];
    let (is_done, said) = import(&demo.base_url, &file, KEY, &options)?;
    assert!(!is_done && said.contains("new          1 row"), "{said}");
    let rejected = report(&file, ".rejected.csv")?;
    let reason = rejected.first().ok_or("no row")?["error"].as_str();
    let expected = "Row 3: `identifiers[0]` is the identifier of another record.";
    assert_eq!(reason, expected);
    let record = client.get(&other).await?;
    assert_eq!(record["total_donations"], 1, "{record}");
    assert_eq!(record["total_amount"], 1000.5);
    Ok(())
}

#[tokio::test]
async fn attendances_are_imported_once() -> TestResult {
    let folder = tempfile::tempdir()?;
    let demo = demo(folder.path())?;
    let mut client = Client::connect(demo.address()?, Some(KEY)).await?;
    let event = create(&mut client, "events", &json!({"title": "Picnic"})).await?;
    let file = folder.path().join("attendances.csv");
    fs::write(
        &file,
        "Name,Email,RSVP,Comment\n\
         Ada King,ada@example.org,Yes,with cake\n\
         Bob King,bob@example.org,NO,\n\
         Eve King,eve@example.org,Maybe,\n\
         Zoe King,zoe@example.org,invited,\n\
         Ann King,ann@example.org,if it is dry,\n\
         Joe King,joe@example.org,,\n",
    )?;
    let options = ["--as", "attendances", "--event", "picnic"];
    let (is_done, said, _) = import_twice(&demo, &file, &options)?;
    assert!(
        !is_done && said.contains("new          4 rows") && said.contains("rejected     2 rows"),
        "{said}"
    );
    let record = client.get(&event).await?;
    assert_eq!(record["total_accepted"], 1, "{record}");
    let all = client.walk(&format!("{event}/attendances")).await?;
    let mut states: Vec<&str> = all
        .iter()
        .filter_map(|one| one["status"].as_str())
        .collect();
    states.sort_unstable();
    assert_eq!(
        states,
        ["accepted", "declined", "needs action", "tentative"]
    );
    assert!(all.iter().any(|one| one["comment"] == "with cake"));
    Ok(())
}

#[tokio::test]
async fn submissions_are_imported_once() -> TestResult {
    let folder = tempfile::tempdir()?;
    let demo = demo(folder.path())?;
    let mut client = Client::connect(demo.address()?, Some(KEY)).await?;
    let form = create(&mut client, "forms", &json!({"title": "Join us"})).await?;
    let file = folder.path().join("submissions.csv");
    fs::write(
        &file,
        "First,Email,Submitted at,Source code,submission.identifiers\n\
         Ada,ada@example.org,2024-05-31T14:03:22+02:00,flyer,web:1\n\
         Bob,bob@example.org,2024-05-31,,web:2\n",
    )?;
    let options = ["--as", "submissions", "--form", "join us"];
    let (is_done, said, again) = import_twice(&demo, &file, &options)?;
    assert!(is_done && said.contains("new          2 rows"), "{said}");
    assert!(again.contains("unchanged    2 rows"), "{again}");
    let submissions = format!("{form}/submissions");
    assert_eq!(total(&mut client, &submissions).await?, 2);
    let all = client.walk(&submissions).await?;
    let first = all
        .iter()
        .find(|one| one["referrer_data"]["source"] == "flyer");
    let first = first.ok_or("no such submission")?;
    assert_eq!(first["action_date"], "2024-05-31T12:03:22Z");
    Ok(())
}

#[tokio::test]
async fn a_container_that_is_missing_or_ambiguous_is_an_error() -> TestResult {
    let folder = tempfile::tempdir()?;
    let demo = demo(folder.path())?;
    let mut client = Client::connect(demo.address()?, Some(KEY)).await?;
    let mut all = Vec::new();
    for title in ["Rivers", "rivers", "Trees"] {
        all.push(create(&mut client, "petitions", &json!({"title": title})).await?);
    }
    let file = folder.path().join("people.csv");
    fs::write(&file, "First,E-Mail,Comment\nAda,ada@example.org,Yes\n")?;
    let before = total(&mut client, "/api/v1/people").await?;
    for (options, expected) in [
        (
            "--as signatures",
            "It is not known which petition gets the signatures. The server has ",
        ),
        ("--as signatures", "`Rivers`, `rivers`, and 1 more."),
        (
            "--as signatures --petition Park",
            "No petition has this title, name or URL. The server has ",
        ),
        (
            "--as signatures --petition RIVERS",
            "Several petitions have this title, name or URL: http",
        ),
        (
            "--as signatures --event Trees",
            "--event is not possible with these actions",
        ),
        ("--petition Trees", "Use --as signatures."),
        (
            "--as donations --fundraising-page Trees",
            "no column sets `donation.amount`",
        ),
        (
            "--map signature.comments=Comment",
            "`signature.comments` can be set only if signatures are imported",
        ),
        ("--as canvasses", "possible values: people, signatures"),
    ] {
        let options: Vec<&str> = options.split(' ').collect();
        let (is_done, said) = import(&demo.base_url, &file, KEY, &options)?;
        assert!(!is_done && said.contains(expected), "{options:?}: {said}");
    }
    assert_eq!(total(&mut client, "/api/v1/people").await?, before);
    let options = ["--as", "signatures", "--petition", &all[1]];
    let (is_done, said) = import(&demo.base_url, &file, KEY, &options)?;
    assert!(is_done && said.contains("new          1 row"), "{said}");
    assert_eq!(client.get(&all[1]).await?["total_signatures"], 1);
    Ok(())
}
