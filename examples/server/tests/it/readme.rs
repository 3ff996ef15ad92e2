//! Tests of the README files of the repository and of the demo: their `curl` commands are sent
//! unchanged to a demo, the demo parses their `cargo run` commands, and the links of all these
//! pages exist.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use serde_json::Value;
use svc_conformance::catalogue::Catalogue;
use svc_server::demo::cli::Cli;

use crate::support::demo::demo;
use crate::support::program::Program;
use crate::support::{Answer, Raw, TestResult};

/// The address of the demo in the pages.
const ADDRESS: &str = "http://127.0.0.1:8080";
/// The page of the repository.
const README: &str = "README.md";
/// The page of the demo, with its first requests.
const DEMO: &str = "examples/server/README.md";
/// The guide that lists requirements and limits.
const SUPPORTED: &str = "svc-tower/src/guide/supported.md";
/// The pages whose links are relative to their files.
const PAGES: [&str; 7] = [
    README,
    DEMO,
    "BENCHMARKS.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "examples/README.md",
    "examples/vendors/README.md",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(path: &str) -> TestResult<String> {
    Ok(fs::read_to_string(root().join(path)).map_err(|error| format!("{path}: {error}"))?)
}

/// A request of the page.
#[derive(Debug, Default)]
struct Request {
    method: Option<String>,
    address: String,
    headers: Vec<String>,
    body: Option<String>,
    /// The status on the page.
    status: u16,
}

/// Splits a command line into words, as a POSIX shell does, with one variable.
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

/// Returns the request that curl sends.
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
                return Err(format!("{word} is not supported by this test").into());
            }
            _ => request.address = word,
        }
    }
    Ok(request)
}

/// Returns the `curl` commands of a page, in order, with the status in the text before each.
fn requests(page: &str, key: &str) -> TestResult<Vec<Request>> {
    let mut requests = Vec::new();
    let mut text = "";
    for (number, part) in page.split("```").enumerate() {
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
            let status = status.ok_or_else(|| format!("no status is given for {line}"))?;
            requests.push(request(line, key, status)?);
        }
    }
    Ok(requests)
}

async fn send(program: &Program, request: &Request) -> TestResult<Answer> {
    let path = request
        .address
        .strip_prefix(ADDRESS)
        .ok_or_else(|| format!("{request:?} is for another server"))?;
    let body = request.body.as_deref().unwrap_or_default();
    let method = request
        .method
        .as_deref()
        .unwrap_or(if body.is_empty() { "GET" } else { "POST" });
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n");
    for header in &request.headers {
        write!(head, "{header}\r\n")?;
    }
    // curl sets this media type unless another one is given.
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
async fn the_requests_of_the_pages_get_the_promised_responses() -> TestResult {
    let folder = tempfile::tempdir()?;
    let program =
        Program::start(demo(&folder.path().join("demo.db")).args(["--port", "0"]))?.loaded()?;
    let key = program
        .said
        .split_whitespace()
        .find(|word| word.starts_with("svck_"))
        .ok_or("no key")?;
    let journey = requests(&page(DEMO)?, key)?;
    assert!(journey.len() >= 15, "{} requests", journey.len());
    let campaign = page("examples/campaign_page/index.html")?;
    let is_signed =
        |request: &Request| campaign.contains(&format!("action=\"{}\"", request.address));
    assert!(
        journey.iter().any(is_signed),
        "the campaign page signs another petition"
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
    let first = requests(&page(README)?, key)?;
    assert!(
        first.len() == 1 && is_signed(&first[0]) && !first[0].headers.concat().contains(key),
        "the README signs the same petition without a key: {first:?}"
    );
    let answer = send(&program, &first[0]).await?;
    assert_eq!(answer.status, first[0].status, "{}", answer.text());
    Ok(())
}

/// Returns the arguments of each `cargo run` of a page, in a block of commands or between
/// backticks.
fn runs(page: &str) -> Vec<String> {
    page.split("cargo run")
        .skip(1)
        .filter_map(|rest| rest.split(['`', '\n', '#']).next())
        .map(|arguments| arguments.trim().to_owned())
        .collect()
}

#[test]
fn the_demo_has_the_commands_of_the_pages() -> TestResult {
    let mut count = 0;
    for path in [README, DEMO] {
        for arguments in runs(&page(path)?) {
            let arguments = arguments.strip_prefix("--bin").map_or_else(
                || arguments.trim_start_matches("--release").trim().to_owned(),
                |_| String::new(),
            );
            let words = words(arguments.trim_start_matches("-- "), "")?;
            if let Err(error) =
                Cli::try_parse_from(["svc-demo".to_owned()].into_iter().chain(words))
            {
                // `--help` is an error with the exit code 0.
                assert_eq!(
                    error.exit_code(),
                    0,
                    "{path}: cargo run {arguments}: {error}"
                );
            }
            count += 1;
        }
    }
    assert!(count > 20, "{count} commands");
    Ok(())
}

/// Returns the anchor of a heading.
fn anchor(heading: &str) -> String {
    let letters = heading
        .trim_start_matches('#')
        .trim()
        .to_lowercase()
        .replace(' ', "-");
    letters.replace(|c: char| !c.is_alphanumeric() && c != '-' && c != '_', "")
}

/// Returns the targets of the links and pictures of a page, without those on other hosts.
fn links(page: &str) -> Vec<String> {
    let named = |before: &'static str, end: char| {
        page.split(before)
            .skip(1)
            .filter_map(move |rest| rest.split(end).next().map(str::to_owned))
    };
    named("](", ')')
        .chain(named("href=\"", '"'))
        .chain(named("src=\"", '"'))
        .filter(|link| !link.starts_with("https://"))
        .collect()
}

#[test]
fn every_link_of_the_pages_has_a_target() -> TestResult {
    let mut all = Vec::new();
    for path in PAGES {
        let file = root().join(path);
        let folder = file.parent().ok_or("a page without a folder")?;
        for link in links(&page(path)?) {
            let (target, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = if target.is_empty() {
                file.clone()
            } else {
                folder.join(target)
            };
            assert!(target.exists(), "{path}: {link}");
            if !heading.is_empty() {
                let text = fs::read_to_string(target)?;
                assert!(
                    text.lines()
                        .any(|line| line.starts_with("##") && anchor(line) == heading),
                    "{path}: {link}"
                );
            }
            all.push(link);
        }
    }
    assert!(
        all.len() > 80
            && all
                .iter()
                .any(|link| link == "examples/pictures/explorer.png"),
        "{all:?}"
    );
    Ok(())
}

#[test]
fn every_requirement_that_the_pages_name_is_in_the_catalogue() -> TestResult {
    let text = page(README)? + &page(DEMO)? + &page(SUPPORTED)? + &page("BENCHMARKS.md")?;
    let catalogue = Catalogue::built_in()?;
    let is_id = |word: &&str| {
        let (area, number) = word.split_once('-').unwrap_or_default();
        (3..=4).contains(&area.len())
            && area.bytes().all(|b| b.is_ascii_uppercase())
            && !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit())
    };
    let ids: Vec<_> = text
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-')
        .filter(is_id)
        .collect();
    assert!(ids.len() > 60, "{ids:?}");
    for id in ids {
        assert!(catalogue.requirement(id).is_some(), "{id}");
    }
    Ok(())
}

/// The README of the repository is the first page that a visitor reads.
#[test]
fn the_readme_is_short_and_starts_with_the_two_commands() -> TestResult {
    let readme = page(README)?;
    assert!(readme.lines().count() <= 120, "more than 120 lines");
    let (_, first) = readme.split_once("```sh\n").ok_or("no command")?;
    assert!(first.starts_with("cargo run ") && first.contains("\ncargo test "));
    Ok(())
}
