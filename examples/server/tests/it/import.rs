//! `svc-demo import`: imports a table of people, reports each rejected row, and a repeated
//! import does nothing twice.
//!
//! Requirements: BAT-06, BAT-08.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::Value;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::support::TestResult;
use crate::support::client::Client;
use crate::support::program::{KEY, Program, outcome};

pub(crate) fn demo(folder: &Path) -> TestResult<Program> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svc-demo"));
    command
        .args(["--port", "0", "--seed-people", "0", "--key"])
        .arg(format!("test={KEY}"));
    Program::start(command.arg("--data").arg(folder.join("demo.db")))?.loaded()
}

pub(crate) fn import(
    to: &str,
    file: &Path,
    key: &str,
    more: &[&str],
) -> TestResult<(bool, String)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svc-demo"));
    command.arg("import").arg(file).args(["--url", to]);
    let (status, out, errors) = outcome(command.args(more).env("SVC_DEMO_IMPORT_KEY", key))?;
    Ok((status.success(), out + &errors))
}

async fn people(demo: &Program) -> TestResult<u64> {
    let mut client = Client::connect(demo.address()?, Some(KEY)).await?;
    Ok(
        client.get("/api/v1/people?per_page=1").await?["total_records"]
            .as_u64()
            .ok_or("no total")?,
    )
}

/// Returns the rows of a file next to a table, each with its columns by name.
pub(crate) fn report(file: &Path, ending: &str) -> TestResult<Vec<BTreeMap<String, String>>> {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    let text = fs::read_to_string(Path::new(&name))?;
    let text = text.strip_prefix('\u{FEFF}').ok_or("no mark")?;
    let mut rows = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(text.as_bytes());
    let head = rows.headers()?.clone();
    let named = |row: csv::StringRecord| {
        let cells = head.iter().zip(&row);
        cells
            .map(|(name, cell)| (name.to_owned(), cell.to_owned()))
            .collect()
    };
    Ok(rows
        .records()
        .map(|row| row.map(named))
        .collect::<Result<_, _>>()?)
}

/// Each row has one result: new, updated, unchanged, incomplete, rejected or empty. A repeated import changes
/// nothing.
#[tokio::test]
async fn a_table_of_people_is_imported_once() -> TestResult {
    let folder = tempfile::tempdir()?;
    let demo = demo(folder.path())?;
    let file = folder.path().join("people.csv");
    let mut table = "First,family_name,E-Mail,gender,Shoe size\n".to_owned();
    for row in 0..600 {
        let gender = if row % 100 == 7 { "nothing known" } else { "" };
        writeln!(
            table,
            "Ada,\"King,\n{row}\",ada.{row}@example.org,{gender},38"
        )?;
    }
    // An empty row, one with a quote that is not closed, one with more cells, and one without a value that has a
    // member.
    table.push_str(
        "\n,,,,\nBob,\"King,bob@example.org,,\nEve,King,eve@example.org,,38,more\n,,,,38\n",
    );
    fs::write(&file, &table)?;
    let (is_done, said) = import(&demo.base_url, &file, KEY, &["--dry-run"])?;
    assert!(
        is_done
            && said.contains("\"address\": \"ada.0@example.org\"")
            && said.contains("CSV in UTF-8, separated by `,`")
            && said.contains("rows         601, 2 empty, 2 that cannot be read")
            && said.contains("left out     E (Shoe size)"),
        "{said}"
    );
    let before = people(&demo).await?;
    let (is_done, said) = import(&demo.base_url, &file, KEY, &[])?;
    assert!(
        !is_done && said.contains("3 of 603 rows rejected"),
        "{said}"
    );
    for line in [
        "new          594 rows",
        "incomplete   6 rows",
        "rejected     3 rows",
        "empty        2 rows",
    ] {
        assert!(said.contains(line), "{said}");
    }
    assert_eq!(people(&demo).await? - before, 600);
    let incomplete = report(&file, ".incomplete.csv")?;
    assert_eq!(incomplete.len(), 6);
    assert_eq!(incomplete[0]["family_name"], "King,\n7");
    let expected = "Row 9: `nothing known` in column D is not one of Female, Male, Other.";
    assert_eq!(incomplete[0]["error"], expected);
    let rejected = report(&file, ".rejected.csv")?;
    let reasons: Vec<&str> = rejected.iter().map(|row| row["error"].as_str()).collect();
    assert_eq!(reasons[0], "Row 604: A quotation mark is not closed.");
    assert_eq!(
        reasons[1],
        "Row 605: The row has 6 cells, but the first row has 5."
    );
    assert!(reasons[2].starts_with("Row 606: "), "{reasons:?}");
    let (_, again) = import(&demo.base_url, &file, KEY, &[])?;
    assert!(
        again.contains("unchanged    594 rows") && !again.contains("new  "),
        "{again}"
    );
    assert_eq!(
        people(&demo).await? - before,
        600,
        "BAT-06: nothing is imported twice"
    );
    // The rejected rows are corrected in their file, which is imported.
    let rejected = folder.path().join("people.csv.rejected.csv");
    let corrected = fs::read_to_string(&rejected)?
        .replace("\"\"\"King\"", "King")
        .replace(",more", "")
        .replace(",,,,38", "Zoe,,zoe@example.org,,38");
    fs::write(&rejected, corrected)?;
    let (is_done, said) = import(&demo.base_url, &rejected, KEY, &[])?;
    assert!(is_done && said.contains("new          3 rows"), "{said}");
    assert_eq!(people(&demo).await? - before, 603);
    // All values or none.
    let (_, said) = import(&demo.base_url, &file, KEY, &["--strict"])?;
    assert!(said.contains("rejected     9 rows"), "{said}");
    // A column of objections is never left out silently.
    let text = "First,E-Mail,Unsubscribed from events\nAda,ada@example.org,yes\n";
    fs::write(&file, text)?;
    let (is_done, said) = import(&demo.base_url, &file, KEY, &[])?;
    assert!(
        !is_done && said.contains("set no member: C (Unsubscribed from events)"),
        "{said}"
    );
    // Such a mapping is not saved, because the next import would lose the objections.
    let saved = folder.path().join("mapping.toml");
    let saved_path = saved.display().to_string();
    import(&demo.base_url, &file, KEY, &["--save-mapping", &saved_path])?;
    assert!(!saved.exists());
    let (is_done, said) = import(&demo.base_url, &file, KEY, &["--map", "ignored=c"])?;
    assert!(is_done && said.contains("ignored      C"), "{said}");
    Ok(())
}

/// The columns of five products, and a row with typical values. `{...}` is replaced.
const PRODUCTS: [(&str, &str); 5] = [
    (
        "first_name,last_name,email,can2_phone,address,city,can2_state_abbreviated,zip_code,country,can2_subscription_status,can2_user_tags",
        "{given},{family},{email},{phone},{street},Boston,MA,02110,US,subscribed,\"volunteer, \"\"host, local\"\"\"",
    ),
    (
        "nationbuilder_id,first_name,last_name,email1,email2,email_opt_in,phone_number,mobile_number,primary_address1,primary_city,primary_state,primary_zip,primary_country_code,tag_list,sex,born_at",
        "{number},{given},{family},{email},second.{email},true,{phone},,{street},Boston,Massachusetts,02110,US,\"volunteer,host\",F,{date}",
    ),
    (
        "Email Address,First Name,Last Name,Address,Phone Number,Birthday,MEMBER_RATING,OPTIN_TIME,LEID,TAGS",
        "{email},{given},{family},{street},{phone},{date},2,2026-01-02 03:04:05,{number},\"\"\"volunteer\"\",\"\"host\"\"\"",
    ),
    (
        "VANID,LastName,FirstName,Address,City,State/Province,Zip/Postal,HomePhone,CellPhone,Preferred Email,DOB,Sex,Party",
        "{number},{family},{given},{street},Boston,MA,02110,{phone},,{email},{date},F,D",
    ),
    (
        "Contact ID,Contact Type,First Name,Last Name,Birth Date,Street Address,City,Postal Code,State,Country,Phone,Email,Do Not Email,Tag(s),Current Employer",
        "{number},Individual,{given},{family},{date},{street},Boston,02110,Massachusetts,United States,{phone},{email},No,volunteer,Analytical Engines",
    ),
];

/// Given and family names in nine scripts.
const NAMES: [(&str, &str); 9] = [
    ("Ada", "King"),
    ("Zoë", "Müller-Lüdenscheidt"),
    ("Łukasz", "Żółć"),
    ("Анна", "Кузнецова"),
    ("Ελένη", "Παπαδοπούλου"),
    ("ليلى", "حداد"),
    ("נועה", "כהן"),
    ("伟", "王"),
    ("प्रिया", "शर्मा"),
];

const PHONES: [&str; 6] = [
    "(555) 010-0199",
    "+44 20 7946 0958",
    "0049 30 123456",
    "555.010.0199 x12",
    "tel:+1-555-010-0199",
    "",
];

/// Returns a table of a product with 100 rows: two repeat an e-mail address, two have no e-mail address, two a
/// wrong one, and every tenth has a line break.
fn product(head: &str, row: &str) -> String {
    let mut table = format!("{head}\r\n");
    for number in 0..100 {
        let (given, family) = NAMES[number % NAMES.len()];
        let email = match number {
            40 | 41 => "person.1@example.org".to_owned(),
            50 | 51 => String::new(),
            60 | 61 => "none".to_owned(),
            _ => format!("person.{number}@example.org"),
        };
        let street = if number % 10 == 3 {
            "\"12 Main St,\nUnit 5\""
        } else {
            "12 Main St"
        };
        let date = format!(
            "{}/{}/19{}",
            number % 12 + 1,
            number % 28 + 1,
            number % 50 + 40
        );
        let row = row
            .replace("{given}", given)
            .replace("{family}", family)
            .replace("{email}", &email)
            .replace("{phone}", PHONES[number % PHONES.len()])
            .replace("{street}", street)
            .replace("{number}", &number.to_string())
            .replace("{date}", &date);
        table.push_str(&row.replace("second.,", ",").replace("second.none", ""));
        table.push_str("\r\n");
    }
    table
}

#[tokio::test]
async fn tables_of_five_products_need_no_mapping() -> TestResult {
    let folder = tempfile::tempdir()?;
    for (place, (head, row)) in PRODUCTS.into_iter().enumerate() {
        let folder = folder.path().join(place.to_string());
        fs::create_dir(&folder)?;
        let demo = demo(&folder)?;
        let mut client = Client::connect(demo.address()?, Some(KEY)).await?;
        for tag in ["host, local"] {
            client
                .post("/api/v1/tags", &serde_json::json!({"name": tag}))
                .await?;
        }
        let before = people(&demo).await?;
        let file = folder.join("people.csv");
        fs::write(&file, product(head, row))?;
        let (is_done, said) = import(&demo.base_url, &file, KEY, &[])?;
        assert!(is_done, "{said}");
        let stored = people(&demo).await? - before;
        assert!((95..=100).contains(&stored), "{stored} people: {said}");
        let dates = |people: Vec<Value>| -> Vec<Value> {
            let dates = people.iter().map(|person| person["modified_date"].clone());
            dates.collect()
        };
        let first = dates(client.walk("/api/v1/people").await?);
        let (_, again) = import(&demo.base_url, &file, KEY, &[])?;
        assert!(
            again.contains("  unchanged  ")
                && !again.contains("  new  ")
                && !again.contains("  updated  "),
            "{again}"
        );
        let second = dates(client.walk("/api/v1/people").await?);
        assert!(
            first == second,
            "the second import has changed people: {head}"
        );
    }
    Ok(())
}

/// A row can change a person, or change nothing. Missing tags and lists are created on request.
#[tokio::test]
async fn rows_are_new_or_change_a_person_or_nothing() -> TestResult {
    let folder = tempfile::tempdir()?;
    let demo = demo(folder.path())?;
    let file = folder.path().join("people.csv");
    fs::write(
        &file,
        "First,E-Mail\nAda,ada@example.org\nBob,bob@example.org\n",
    )?;
    let (is_done, said) = import(&demo.base_url, &file, KEY, &[])?;
    assert!(is_done && said.contains("new          2 rows"), "{said}");
    fs::write(
        &file,
        "First,E-Mail,Tags,Lists\nAda,ada@example.org,,\nRobert,bob@example.org,,\nEve,eve@example.org,\"x, y\",News\n",
    )?;
    let before = people(&demo).await?;
    let (is_done, said) = import(&demo.base_url, &file, KEY, &["--dry-run"])?;
    assert!(is_done && said.contains("The import would have"), "{said}");
    for line in [
        "updated      1 row",
        "unchanged    1 row",
        "incomplete   1 row",
    ] {
        assert!(said.contains(line), "{said}");
    }
    assert_eq!(people(&demo).await?, before, "a dry run stores nothing");
    let (is_done, said) = import(&demo.base_url, &file, KEY, &[])?;
    assert!(is_done, "{said}");
    for line in [
        "updated      1 row",
        "unchanged    1 row",
        "incomplete   1 row",
    ] {
        assert!(said.contains(line), "{said}");
    }
    let (is_done, said) = import(&demo.base_url, &file, KEY, &["--create-tags"])?;
    assert!(is_done, "{said}");
    for line in [
        "tags         2 created: x, y",
        "lists        1 created: News",
        "updated      1 row",
        "unchanged    2 rows",
    ] {
        assert!(said.contains(line), "{said}");
    }
    // Names are compared without their case.
    fs::write(
        &file,
        "First,E-Mail,Tags\nZoe,zoe@example.org,\"X, x, Y\"\n",
    )?;
    let (is_done, said) = import(&demo.base_url, &file, KEY, &["--create-tags"])?;
    assert!(is_done && !said.contains("created"), "{said}");
    assert!(said.contains("new          1 row"), "{said}");
    fs::write(&file, "First,E-Mail\nAda,ada@example.org\n")?;
    // The mapping is saved, changed, and used again.
    let saved = folder.path().join("mapping.toml");
    let saved_path = saved.display().to_string();
    let (_, said) = import(
        &demo.base_url,
        &file,
        KEY,
        &["--save-mapping", &saved_path, "--dry-run"],
    )?;
    assert!(said.contains("mapping      saved in "), "{said}");
    let changed =
        fs::read_to_string(&saved)?.replace("First = \"given_name\"", "First = \"family_name\"");
    fs::write(&saved, changed)?;
    let (_, said) = import(
        &demo.base_url,
        &file,
        KEY,
        &["--mapping", &saved_path, "--dry-run"],
    )?;
    assert!(said.contains("\"family_name\": \"Ada\""), "{said}");
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_imported_says_why() -> TestResult {
    let folder = tempfile::tempdir()?;
    let demo = demo(folder.path())?;
    let file = folder.path().join("people.csv");
    fs::write(&file, "First,E-Mail\nAda,ada@example.org\n")?;
    let (is_done, said) = import(&demo.base_url, &file, "another-key", &[])?;
    assert!(
        !is_done && said.contains("401") && said.contains("SVC_DEMO_IMPORT_KEY"),
        "{said}"
    );
    let (is_done, said) = import(&demo.base_url, &file, "", &[])?;
    assert!(
        !is_done && said.contains("There is no API key in "),
        "{said}"
    );
    let (is_done, said) = import(&demo.base_url, &file, KEY, &["--map", "family_name=Last"])?;
    assert!(
        !is_done && said.contains("no column `Last`, only A (First), B (E-Mail)"),
        "{said}"
    );
    let (is_done, said) = import(&demo.base_url, &file, KEY, &["--map", "ignored=E-Mail"])?;
    assert!(!is_done && said.contains("--no-identity"), "{said}");
    // A reserved port without a server.
    let reserved = TcpSocket::new_v4()?;
    reserved.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    let (is_done, said) = import(
        &format!("http://{}/", reserved.local_addr()?),
        &file,
        KEY,
        &[],
    )?;
    assert!(!is_done && said.contains("The server at "), "{said}");
    Ok(())
}

/// Accepts encrypted connections for a demo, as a proxy does. Returns its URL and its certificate as PEM.
async fn encrypted(demo: &Program) -> TestResult<(String, String)> {
    let key = rcgen::KeyPair::generate()?;
    let parameters = rcgen::CertificateParams::new(vec!["localhost".to_owned()])?;
    let certificate = parameters.self_signed(&key)?;
    let key = PrivateKeyDer::try_from(key.serialize_der())?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)?;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let (port, to) = (listener.local_addr()?.port(), demo.address()?);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let mut client = acceptor.accept(stream).await.ok()?;
                let mut server = TcpStream::connect(to).await.ok()?;
                copy_bidirectional(&mut client, &mut server).await.ok()
            });
        }
    });
    Ok((
        format!("https://localhost:{port}/api/v1/"),
        certificate.pem(),
    ))
}

/// A server is reached over HTTPS if this computer trusts its certificate.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_with_encryption() -> TestResult {
    let folder = tempfile::tempdir()?;
    let demo = demo(folder.path())?;
    let (url, certificate) = encrypted(&demo).await?;
    let file = folder.path().join("people.csv");
    fs::write(&file, "First,E-Mail\nAda,ada@example.org\n")?;
    let trusted = folder.path().join("trusted.pem");
    fs::write(&trusted, certificate)?;
    let import = async |trusts| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_svc-demo"));
        command.arg("import").arg(&file).args(["--url", &url]);
        command.env("SVC_DEMO_IMPORT_KEY", KEY);
        if trusts {
            command.env("SSL_CERT_FILE", &trusted);
        }
        let outcome = tokio::task::spawn_blocking(move || {
            outcome(&mut command).map_err(|error| error.to_string())
        });
        TestResult::Ok(outcome.await??)
    };
    let (status, out, errors) = import(true).await?;
    assert!(
        status.success() && out.contains("new          1 row"),
        "{out}{errors}"
    );
    let (status, out, errors) = import(false).await?;
    assert!(
        !status.success() && errors.contains("certificate"),
        "{out}{errors}"
    );
    Ok(())
}
