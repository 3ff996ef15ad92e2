//! The README's `curl` lines are sent as they stand there, to a demo that was started as it says.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;
use svc_conformance::catalogue::{Catalogue, Level};

use crate::support::demo::demo;
use crate::support::program::Program;
use crate::support::{Answer, Raw, TestResult};

/// Where the README says that the demo listens.
const ADDRESS: &str = "http://127.0.0.1:8080";

/// A request of the journey.
#[derive(Debug, Default)]
struct Request {
    method: Option<String>,
    address: String,
    headers: Vec<String>,
    body: Option<String>,
    /// The status that the README promises.
    status: u16,
}

/// The words of a command line, as a POSIX shell would make them, with one variable.
fn words(line: &str, key: &str) -> TestResult<Vec<String>> {
    let mut words = vec![];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, Some(open)) if letter == open => quote = None,
            ('\\', None) => word
                .get_or_insert_default()
                .push(letters.next().ok_or("a line ends with \\")?),
            ('$', None | Some('"')) => {
                if !letters.as_str().starts_with("KEY") {
                    return Err(format!("an unknown variable: {line}").into());
                }
                letters.by_ref().take(3).for_each(drop);
                word.get_or_insert_default().push_str(key);
            }
            (' ', None) => words.extend(word.take()),
            ('&' | '|' | ';' | '<' | '>' | '*' | '?' | '(' | ')' | '`' | '#', None) => {
                return Err(format!("`{letter}` without quotes: {line}").into());
            }
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Ok(words)
}

/// What curl would send.
fn request(line: &str, key: &str, status: u16) -> TestResult<Request> {
    let mut request = Request {
        status,
        ..Request::default()
    };
    let mut words = words(line, key)?.into_iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-i" => {}
            "-X" => request.method = words.next(),
            "-H" => request.headers.extend(words.next()),
            "-d" => request.body = words.next(),
            _ if word.starts_with('-') => {
                return Err(format!("{word} is not known to this test").into());
            }
            _ => request.address = word,
        }
    }
    Ok(request)
}

/// The `curl` lines of the README, in order, each with the status that the text before it promises.
fn journey(readme: &str, key: &str) -> TestResult<Vec<Request>> {
    let mut requests = Vec::new();
    let mut text = "";
    for (number, part) in readme.split("```").enumerate() {
        if number % 2 == 0 {
            text = part.trim().rsplit("\n\n").next().unwrap_or_default();
            continue;
        }
        let Some(commands) = part.strip_prefix("sh\n") else {
            continue;
        };
        for line in commands
            .replace("\\\n", " ")
            .lines()
            .filter(|line| line.starts_with("curl "))
        {
            let status = text
                .split('`')
                .skip(1)
                .step_by(2)
                .find_map(|code| code.parse().ok());
            let status = status.ok_or_else(|| format!("no status is promised for {line}"))?;
            requests.push(request(line, key, status)?);
        }
    }
    Ok(requests)
}

async fn send(program: &Program, request: &Request) -> TestResult<Answer> {
    let path = request
        .address
        .strip_prefix(ADDRESS)
        .ok_or_else(|| format!("{request:?} goes elsewhere"))?;
    let body = request.body.as_deref().unwrap_or_default();
    let method = request
        .method
        .as_deref()
        .unwrap_or(if body.is_empty() { "GET" } else { "POST" });
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n");
    for header in &request.headers {
        write!(head, "{header}\r\n")?;
    }
    // curl labels a body so, unless it is told otherwise.
    if request.body.is_some()
        && !request
            .headers
            .iter()
            .any(|header| header.starts_with("Content-Type:"))
    {
        head.push_str("Content-Type: application/x-www-form-urlencoded\r\n");
    }
    let mut raw = Raw::connect(program.address()?).await?;
    raw.send(format!(
        "{head}Content-Length: {}\r\n\r\n{body}",
        body.len()
    ))
    .await?;
    raw.answer().await
}

#[tokio::test]
async fn the_journey_of_the_readme_goes_as_it_says() -> TestResult {
    let folder = tempfile::tempdir()?;
    let program =
        Program::start(demo(&folder.path().join("demo.db")).args(["--port", "0"]))?.loaded()?;
    let key = program
        .said
        .split_whitespace()
        .find(|word| word.starts_with("svck_"))
        .ok_or("no key")?;
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md"))?;
    let journey = journey(&readme, key)?;
    assert!(journey.len() >= 10, "{} requests", journey.len());
    let page = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../campaign_page/index.html"),
    )?;
    let is_signed = |request: &Request| page.contains(&format!("action=\"{}\"", request.address));
    assert!(
        journey.iter().any(is_signed),
        "the campaign's page signs another petition"
    );
    let mut signatures = Vec::new();
    for request in &journey {
        let answer = send(&program, request).await?;
        assert_eq!(
            answer.status,
            request.status,
            "{request:?}: {}",
            answer.text()
        );
        let document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        signatures.extend(document["total_signatures"].as_u64());
        if request.address.ends_with("/people/person_signup") {
            let names = (&document["given_name"], &document["family_name"]);
            assert_eq!(
                (names.0.as_str(), names.1.as_str()),
                (Some("Ada"), Some("Byron")),
                "{document}"
            );
        }
        if answer.status == 201 {
            assert!(answer.header("location").is_some());
        }
        if answer.status == 400 {
            let problems = &document["svc:error"]["resource_status"][0]["error_descriptions"];
            assert_eq!(problems.as_array().map(Vec::len), Some(2), "{document}");
        }
    }
    let first: Value = send(&program, &journey[2])
        .await
        .map(|answer| serde_json::from_slice(&answer.body))??;
    let now = first["_embedded"]["svc:petitions"][0]["total_signatures"].as_u64();
    assert_eq!(
        signatures.first().copied(),
        now,
        "it is the first petition that is signed"
    );
    Ok(())
}

#[test]
fn every_place_that_the_readme_links_to_is_there() -> TestResult {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md"))?;
    let named = |before: &'static str, end: char| {
        readme
            .split(before)
            .skip(1)
            .filter_map(move |rest| rest.split(end).next().map(str::to_owned))
    };
    let links: Vec<String> = named("](", ')')
        .chain(named("href=\"", '"'))
        .chain(named("src=\"", '"'))
        .collect();
    let anchor = |line: &str| {
        let letters = line
            .trim_start_matches('#')
            .trim()
            .to_lowercase()
            .replace(' ', "-");
        letters.replace(|c: char| !c.is_alphanumeric() && c != '-', "")
    };
    for link in &links {
        let (path, heading) = link.split_once('#').unwrap_or((link, ""));
        let file = root.join(if path.is_empty() { "README.md" } else { path });
        assert!(file.exists(), "{link}");
        if !heading.is_empty() {
            let text = fs::read_to_string(file)?;
            assert!(
                text.lines()
                    .any(|line| line.starts_with("##") && anchor(line) == heading),
                "{link}"
            );
        }
    }
    assert!(
        links.len() > 40
            && links
                .iter()
                .any(|link| link == "examples/pictures/explorer.png"),
        "{links:?}"
    );
    Ok(())
}

#[test]
fn every_row_that_the_readme_names_is_in_the_catalogue() -> TestResult {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md"))?;
    let catalogue = Catalogue::built_in()?;
    let rows: Vec<_> = readme
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-')
        .collect();
    let is_row = |word: &&str| {
        let (area, number) = word.split_once('-').unwrap_or_default();
        area.len() == 3
            && area.bytes().all(|b| b.is_ascii_uppercase())
            && number.bytes().all(|b| b.is_ascii_digit())
    };
    let rows: Vec<_> = rows
        .into_iter()
        .filter(is_row)
        .filter(|word| !word.ends_with('-'))
        .collect();
    assert!(rows.len() > 30, "{rows:?}");
    for row in rows {
        assert!(catalogue.row(row).is_some(), "{row}");
    }
    let said = format!(
        "{} rows, {} of them MUST",
        catalogue.rows().len(),
        catalogue.count(Level::Must)
    );
    assert!(readme.contains(&said), "{said}");
    Ok(())
}
