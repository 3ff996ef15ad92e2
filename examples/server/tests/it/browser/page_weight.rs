//! The transfer size of the explorer as the browser counts it: headers and bodies, for the first
//! and the second view (F10 and point 9 of the pages).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::browser::Session;
use crate::browser::driver::Browser;
use crate::support::TestResult;
use crate::support::program::KEY;

/// Returns the received bytes for each URL since the last call.
pub(crate) async fn received(browser: &mut Browser) -> TestResult<Vec<(String, u64)>> {
    let mut addresses = BTreeMap::new();
    let mut received = Vec::new();
    for entry in browser.log("performance").await? {
        let message: Value = serde_json::from_str(entry["message"].as_str().unwrap_or_default())?;
        let parameters = &message["message"]["params"];
        let id = parameters["requestId"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        match message["message"]["method"].as_str() {
            Some("Network.requestWillBeSent") => {
                let address = parameters["request"]["url"].as_str().unwrap_or_default();
                addresses.insert(id, address.to_owned());
            }
            Some("Network.loadingFinished") => {
                let Some(address) = addresses
                    .get(&id)
                    .filter(|address| address.starts_with("http"))
                else {
                    continue;
                };
                let bytes = parameters["encodedDataLength"]
                    .as_f64()
                    .ok_or("no length")?;
                received.push((address.clone(), format!("{bytes:.0}").parse()?));
            }
            _ => {}
        }
    }
    Ok(received)
}

pub(crate) fn sum(received: &[(String, u64)]) -> u64 {
    received.iter().map(|(_, bytes)| bytes).sum()
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn point_9_the_explorer_opens_with_60_kb_and_again_with_5() -> TestResult {
    let mut session = Session::start().await?;
    let first = received(&mut session.browser).await?;
    println!(
        "first opening: {} bytes, {} requests",
        sum(&first),
        first.len()
    );
    assert!(first.len() > 5, "{first:?}");
    assert!(sum(&first) > 5_000 && sum(&first) <= 60_000, "{first:#?}");
    session.browser.open("about:blank").await?;
    let explorer = session.explorer.clone();
    session.browser.open(&explorer).await?;
    session
        .browser
        .wait_for("document.querySelector('h1')?.textContent === 'Entry point'")
        .await?;
    let second = received(&mut session.browser).await?;
    println!(
        "second opening: {} bytes, {} requests",
        sum(&second),
        second.len()
    );
    // Repeated requests get 304, and versioned files are not requested again.
    assert!(
        second.iter().any(|(_, bytes)| *bytes > 0) && sum(&second) <= 5_000,
        "{second:#?}"
    );
    let asked: Vec<_> = second
        .iter()
        .filter(|(_, bytes)| *bytes > 0)
        .map(|(address, _)| address.as_str())
        .collect();
    assert!(
        !asked.iter().any(|address| address.contains("/explorer/")),
        "{asked:?}"
    );
    // A form needs its own route once, and no whole document.
    session.use_key(KEY).await?;
    session.open("people").await?;
    session
        .browser
        .wait_for("document.querySelectorAll('.records tbody tr').length === 25")
        .await?;
    session.browser.press("Create a person").await?;
    session
        .browser
        .wait_for("document.querySelector('.panel form')")
        .await?;
    let form = received(&mut session.browser).await?;
    // In addition to the files of the explorer, which are loaded on their first use.
    let is_described =
        |address: &str| address.contains("/docs/") && !address.contains("/docs/explorer/");
    let described: Vec<_> = form
        .iter()
        .filter(|(address, _)| is_described(address))
        .collect();
    assert!(
        matches!(&described[..], [(address, 1..=20_000)] if address.ends_with("/docs/forms/people.json")),
        "{form:#?}"
    );
    session.browser.open(&explorer).await?;
    session.end(&[]).await
}
