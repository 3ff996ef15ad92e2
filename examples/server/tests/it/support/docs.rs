//! The documentation of a server, from link to link.

use std::collections::{BTreeMap, BTreeSet};

use super::{TestResult, client::Client};

/// Every HTML page of one server that a start page leads to, by its path. Each link has to lead
/// somewhere on this server: another one is an error, as is an answer other than 200.
pub(crate) async fn walk(
    client: &mut Client,
    server: &str,
    start: &str,
) -> TestResult<BTreeMap<String, String>> {
    let path = |address: &str| {
        let path = address.strip_prefix(server).unwrap_or(address).to_owned();
        if path.starts_with('/') {
            Ok(path)
        } else {
            Err(format!("elsewhere: {address}"))
        }
    };
    let (mut waiting, mut seen, mut pages) = (vec![path(start)?], BTreeSet::new(), BTreeMap::new());
    while let Some(address) = waiting.pop() {
        if !seen.insert(address.clone()) {
            continue;
        }
        let answer = client.send("GET", &address, None).await?;
        if answer.status != 200 {
            return Err(format!("{address}: {}", answer.status).into());
        }
        // What the explorer leads to is found by its scripts.
        let is_html = answer
            .header("content-type")
            .is_some_and(|media| media.starts_with("text/html"));
        if !is_html || address.ends_with("/explorer") {
            continue;
        }
        let page = answer.text();
        for href in attributes(&page, "href")
            .chain(attributes(&page, "src"))
            .filter(|it| !it.starts_with('#'))
        {
            waiting.push(path(&href)?);
        }
        pages.insert(address, page);
    }
    Ok(pages)
}

/// The values of an attribute, as they were before they were escaped.
fn attributes<'p>(page: &'p str, name: &str) -> impl Iterator<Item = String> + use<'p> {
    let begin = format!(" {name}=\"");
    let values: Vec<&str> = page
        .split(&begin)
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('"')?.0))
        .collect();
    values.into_iter().map(|value| value.replace("&amp;", "&"))
}
