//! Follows the links of the documentation of a server.

use std::collections::{BTreeMap, BTreeSet};

use super::{TestResult, client::Client};

/// Returns every HTML page of a server that a start page links directly or indirectly, by its path.
/// A link to another server is an error, and so is a status other than 200.
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
        // The scripts of the explorer find its links.
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

/// Returns the unescaped values of an attribute.
fn attributes<'p>(page: &'p str, name: &str) -> impl Iterator<Item = String> + use<'p> {
    let begin = format!(" {name}=\"");
    let values: Vec<&str> = page
        .split(&begin)
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('"')?.0))
        .collect();
    values.into_iter().map(|value| value.replace("&amp;", "&"))
}
