//! Measures a first view here, and with Swagger UI, Scalar and Redoc on our `OpenAPI` document:
//! `.ci/first-view`.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::browser::Session;
use crate::browser::driver::Browser;
use crate::browser::page_weight::{received, sum};
use crate::support::TestResult;
use crate::support::program::KEY;

/// The other pages: the folder of their package, their name, and a condition that is true once an
/// operation or its group is shown.
const OTHERS: [(&str, &str, &str); 4] = [
    (
        "swagger-ui",
        "Swagger UI",
        "document.getElementById('operations-people-list_people')",
    ),
    (
        "scalar",
        "Scalar",
        "[...document.querySelectorAll('h3')].some(head => head.textContent.includes('Lists the people'))",
    ),
    (
        "redoc",
        "Redoc",
        "[...document.querySelectorAll('h2')].some(head => head.textContent.trim() === 'people')",
    ),
    (
        "redoc-2",
        "Redoc",
        "document.getElementById('tag/people/operation/list_people')",
    ),
];

/// The text next to the table.
const SAID: &str = "\
One browser with a window of 1280 by 1000 and an empty cache; headers and bodies as it counts them. Pages, scripts, styles and
the document are compressed with gzip everywhere; the records that our explorer reads are not. \"Again\" is a second view. Nodes
are those of the page and its shadow trees, once it no longer changes. Swagger UI, Scalar and Redoc are set up as in their
documentation, with no option except the URL of the document. Their packages can be cached permanently, and the document is
requested again. They load the whole document; Redoc 2 shows all of it, the others show later parts when the user scrolls.
Our explorer shows the entry point, and loads the form of an operation when it is opened, as in the last row.
The last column has the requests to other servers during the first view. The bytes include their responses.";

/// The size of one view.
struct Cost {
    name: String,
    bytes: u64,
    requests: usize,
    nodes: u64,
    again: u64,
    /// Bytes of the `OpenAPI` document.
    document: u64,
    /// Requests to other servers.
    elsewhere: Vec<String>,
    /// Errors in the console, except for unreachable servers.
    errors: Vec<String>,
}

/// The server of the other pages.
struct Others(Child, String);

impl Others {
    fn start(tools: &Path, document: &Path) -> TestResult<Self> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.ci/first-view.mjs");
        let mut child = Command::new("node")
            .arg(script)
            .args([tools, document])
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        Ok(Self(child, line.trim().to_owned()))
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the number of nodes after it has not changed for a second.
const NODES: &str = "
    const count = root => [...root.querySelectorAll('*')].reduce((sum, node) => sum + 1 + (node.shadowRoot ? count(node.shadowRoot) : 0), 0);
    let [last, same] = [0, 0];
    const look = () => {
        const now = count(document);
        same = now === last ? same + 1 : 0;
        last = now;
        if (same === 10) done(now);
        else setTimeout(look, 100);
    };
    look();";

/// Opens a page twice and returns its size.
async fn cost(
    browser: &mut Browser,
    name: String,
    address: &str,
    is_shown: &str,
) -> TestResult<Cost> {
    browser.open("about:blank").await?;
    received(browser).await?;
    browser.requested().await?;
    browser.log("browser").await?;
    browser.open(address).await?;
    browser.wait_for(is_shown).await?;
    let nodes = browser.promised(NODES).await?.as_u64().ok_or("no number")?;
    let first = received(browser).await?;
    let host = address.split('/').take(3).collect::<Vec<_>>().join("/");
    let is_elsewhere =
        |address: &String| address.starts_with("http") && !address.starts_with(&format!("{host}/"));
    let mut elsewhere: Vec<String> = browser
        .requested()
        .await?
        .into_iter()
        .filter(is_elsewhere)
        .collect();
    elsewhere.sort();
    let errors = browser.log("browser").await?;
    let errors = errors
        .iter()
        .filter(|entry| entry["level"] == "SEVERE" && entry["source"] != "network");
    let errors = errors.map(|entry| entry["message"].to_string()).collect();
    browser.open("about:blank").await?;
    received(browser).await?;
    browser.open(address).await?;
    browser.wait_for(is_shown).await?;
    browser.promised(NODES).await?;
    let again = sum(&received(browser).await?);
    let document = first
        .iter()
        .filter(|(address, _)| address.ends_with("openapi.json"))
        .map(|(_, bytes)| bytes)
        .sum();
    Ok(Cost {
        name,
        bytes: sum(&first),
        requests: first.len(),
        nodes,
        again,
        document,
        elsewhere,
        errors,
    })
}

/// Returns the name and version of a package.
fn version(folder: &Path) -> TestResult<String> {
    let package: Value = serde_json::from_slice(&std::fs::read(folder.join("package.json"))?)?;
    Ok(package["version"].as_str().ok_or("no version")?.to_owned())
}

/// Measures the explorer with a key, up to the form of a person: the total size, with an empty
/// cache.
async fn form() -> TestResult<Cost> {
    let mut session = Session::start().await?;
    session.use_key(KEY).await?;
    session.open("people").await?;
    session.browser.press("Create a person").await?;
    session
        .browser
        .wait_for("document.querySelector('.panel form') && document.querySelector('.sample pre')")
        .await?;
    let nodes = session
        .browser
        .promised(NODES)
        .await?
        .as_u64()
        .ok_or("no number")?;
    let first = received(&mut session.browser).await?;
    let explorer = session.explorer.clone();
    session.browser.open(&explorer).await?;
    session.end(&[]).await?;
    let name = "Our explorer, with 25 people and a form".to_owned();
    let (bytes, requests) = (sum(&first), first.len());
    Ok(Cost {
        name,
        bytes,
        requests,
        nodes,
        again: 0,
        document: 0,
        elsewhere: Vec::new(),
        errors: Vec::new(),
    })
}

fn print(costs: &[Cost]) {
    println!(
        "\n{:<40} {:>9} {:>9} {:>8} {:>7} {:>10}",
        "First view", "bytes", "requests", "nodes", "again", "elsewhere"
    );
    for Cost {
        name,
        bytes,
        requests,
        nodes,
        again,
        elsewhere,
        ..
    } in costs
    {
        // The last row has no second view.
        let again = if *again == 0 {
            "–".to_owned()
        } else {
            again.to_string()
        };
        println!(
            "{name:<40} {bytes:>9} {requests:>9} {nodes:>8} {again:>7} {:>10}",
            elsewhere.len()
        );
    }
    println!("\n{SAID}");
    for Cost {
        name,
        elsewhere,
        errors,
        ..
    } in costs
    {
        let mut asked: Vec<_> = elsewhere
            .iter()
            .map(|address| address.split('?').next().unwrap_or(address))
            .collect();
        asked.dedup();
        if !asked.is_empty() {
            println!(
                "{name} sends requests to other servers: {}.",
                asked.join(", ")
            );
        }
        for error in errors {
            println!(
                "{name} reports {}",
                error.chars().take(300).collect::<String>()
            );
        }
    }
}

#[tokio::test]
#[ignore = "needs packages from npm: .ci/first-view"]
async fn ours_is_the_lightest() -> TestResult {
    let tools = PathBuf::from(
        std::env::var_os("SVC_FIRST_VIEW")
            .ok_or("SVC_FIRST_VIEW must be the folder of the packages")?,
    );
    let mut session = Session::start().await?;
    let mut client = session.client().await?;
    let capabilities = client
        .get(&format!("{}docs/capabilities", session.demo.base_url))
        .await?;
    let document = client
        .send(
            "GET",
            capabilities["openapi"].as_str().ok_or("no document")?,
            None,
        )
        .await?;
    let paths: Value = serde_json::from_slice(&document.body)?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("openapi.json");
    std::fs::write(&file, &document.body)?;
    let others = Others::start(&tools, &file)?;
    let base = session.demo.base_url.clone();
    let mut browser = Browser::start().await?;
    let heading =
        |text: &str| format!("document.querySelector('h1')?.textContent.includes('{text}')");
    let mut costs = vec![
        cost(
            &mut browser,
            "Our documentation, its start".to_owned(),
            &format!("{base}docs/"),
            &heading(""),
        )
        .await?,
        cost(
            &mut browser,
            "Our explorer".to_owned(),
            &session.explorer,
            &heading("Entry point"),
        )
        .await?,
    ];
    let ours = costs.len();
    for (package, name, is_shown) in OTHERS {
        let name = format!("{name} {}", version(&tools.join(package))?);
        costs.push(
            cost(
                &mut browser,
                name,
                &format!("{}{package}/", others.1),
                is_shown,
            )
            .await?,
        );
    }
    browser.end().await?;
    session.browser.open("about:blank").await?;
    costs.push(form().await?);
    print(&costs);
    println!(
        "Our OpenAPI document has {} paths and {} bytes; {} on the wire, with their headers.",
        paths["paths"].as_object().map_or(0, serde_json::Map::len),
        document.body.len(),
        costs[ours].document
    );
    let explorer = &costs[1];
    let lightest = costs[ours..costs.len() - 1]
        .iter()
        .map(|cost| cost.bytes)
        .min()
        .ok_or("no other page")?;
    assert!(
        explorer.bytes > 5_000 && explorer.bytes <= 60_000,
        "{}",
        explorer.bytes
    );
    assert!(
        explorer.again > 0 && explorer.again <= 5_000,
        "{}",
        explorer.again
    );
    // The first views have at most a third of the smallest other page, and at most half of it with
    // records and a form.
    for (own, times) in costs[..ours]
        .iter()
        .map(|own| (own, 3))
        .chain(costs.last().map(|own| (own, 2)))
    {
        assert!(
            own.bytes * times <= lightest,
            "{}: {} bytes, compared with {lightest}",
            own.name,
            own.bytes
        );
        assert!(
            own.elsewhere.is_empty() && own.errors.is_empty(),
            "{:?} {:?}",
            own.elsewhere,
            own.errors
        );
    }
    Ok(())
}
