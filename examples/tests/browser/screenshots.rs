//! Pictures of each sort of page and of each state of the explorer, in light and dark, wide and narrow, for people to look at:
//! `.ci/screenshots FOLDER`.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::Session;
use crate::support::TestResult;
use crate::support::client::link;
use crate::support::program::KEY;

const WIDTHS: [u32; 2] = [1280, 390];
const SCHEMES: [&str; 2] = ["light", "dark"];

/// Of longer pages, so many pixels are in the picture.
const LONGEST: f64 = 6000.0;

/// One page of each sort, by the end of its address.
const PAGES: &[(&str, &str)] = &[
    ("start", "docs/"),
    ("kind", "docs/v1/person"),
    ("collection", "docs/v1/people"),
    ("helper", "docs/v1/record_signature_helper"),
    ("link", "docs/v1/creator"),
    ("function", "docs/v1/add_tags"),
    ("type", "docs/v1/type-postal_address"),
    ("relations", "docs/v1/relations"),
    ("errors", "docs/v1/error"),
    ("error-code", "docs/v1/FIELD_INVALID"),
    ("topic", "docs/v1/authentication"),
    ("filters", "docs/v1/filters"),
    ("changes", "docs/v1/changes"),
    ("webhooks", "docs/v1/webhooks"),
    ("map", "docs/v1/map"),
    ("compare", "docs/v1/compare"),
];

/// A folder of pictures.
struct Album(PathBuf);

impl Album {
    /// What the browser shows, four times.
    async fn take(&self, session: &mut Session, name: &str) -> TestResult {
        for width in WIDTHS {
            for scheme in SCHEMES {
                session.browser.look(width, scheme).await?;
                let picture = decoded(&session.browser.picture(LONGEST).await?).ok_or("no base64")?;
                std::fs::write(self.0.join(format!("{name}-{width}-{scheme}.png")), picture)?;
            }
        }
        session.browser.look(1280, "light").await
    }
}

/// The bytes that stand in base64.
fn decoded(text: &str) -> Option<Vec<u8>> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Option<Vec<u32>> = text
        .trim_end_matches('=')
        .bytes()
        .map(|byte| DIGITS.iter().position(|digit| *digit == byte).and_then(|place| u32::try_from(place).ok()))
        .collect();
    let group = |digits: &[u32]| {
        let bits = digits.iter().chain(&[0; 3]).take(4).fold(0, |bits, digit| bits << 6 | digit);
        let [_, bytes @ ..] = bits.to_be_bytes();
        bytes.into_iter().take(digits.len() - 1).collect::<Vec<u8>>()
    };
    Some(digits?.chunks(4).flat_map(group).collect())
}

#[test]
fn pictures_are_read_from_base64() {
    for (text, bytes) in
        [("", &b""[..]), ("TQ==", b"M"), ("TWE=", b"Ma"), ("TWFu", b"Man"), ("/+8AgA==", b"\xFF\xEF\x00\x80")]
    {
        assert_eq!(decoded(text).as_deref(), Some(bytes), "{text}");
    }
    assert_eq!(decoded("T Q"), None);
}

#[tokio::test]
#[ignore = "writes pictures into a folder: .ci/screenshots FOLDER"]
async fn pictures_of_all_pages() -> TestResult {
    let folder = std::env::var_os("SVC_SCREENSHOTS").ok_or("SVC_SCREENSHOTS names no folder")?;
    std::fs::create_dir_all(&folder)?;
    let album = Album(Path::new(&folder).to_owned());
    let mut session = Session::start().await?;
    for (name, path) in PAGES {
        session.browser.open(&format!("{}{path}", session.demo.base_url)).await?;
        album.take(&mut session, &format!("docs-{name}")).await?;
    }
    compared(&album, &mut session).await?;
    explored(&album, &mut session).await?;
    // A refused key was asked for.
    session.end(&[401, 400]).await
}

/// The comparison with a server that has other things.
async fn compared(album: &Album, session: &mut Session) -> TestResult {
    let mut client = session.client().await?;
    let mut theirs = client.get(&format!("{}docs/capabilities", session.demo.base_url)).await?;
    let collections = theirs["collections"].as_object_mut().ok_or("no collections")?;
    collections.remove("messages");
    collections.insert("pledges".to_owned(), json!({ "operations": ["list", "read"] }));
    theirs["collections"]["people"]["fields"]["gender"]["values"] = json!(["Female", "Unknown"]);
    theirs["helpers"].as_object_mut().ok_or("no helpers")?.remove("record_canvass");
    session.browser.open(&format!("{}docs/v1/compare", session.demo.base_url)).await?;
    for (name, document, is_shown) in
        [("wrong", "{\"collections\":[]}".to_owned(), ".errors li"), ("compared", theirs.to_string(), ".found h2")]
    {
        let fill = format!(
            "document.querySelector('#compare textarea').value = {}; document.querySelector('#compare form').requestSubmit();",
            json!(document)
        );
        session.browser.wait_for("document.querySelector('#compare textarea')").await?;
        session.browser.run(&fill).await?;
        session.browser.wait_for(&format!("document.querySelector('#compare {is_shown}')")).await?;
        album.take(session, &format!("docs-compare-{name}")).await?;
    }
    Ok(())
}

/// The states of the explorer.
async fn explored(album: &Album, session: &mut Session) -> TestResult {
    session.browser.open(&session.explorer.clone()).await?;
    session.browser.wait_for("document.querySelector('h1')?.textContent === 'Entry point'").await?;
    album.take(session, "explorer-entry-point").await?;
    session.open("people").await?;
    session.browser.wait_for("document.body.innerText.includes('This needs a key')").await?;
    album.take(session, "explorer-no-key").await?;
    session.use_key(KEY).await?;
    session.browser.wait_for("document.querySelector('main a[href*=\"#/people/\"]')").await?;
    album.take(session, "explorer-collection").await?;
    session.browser.press("Create a person").await?;
    album.take(session, "explorer-form").await?;
    let mut client = session.client().await?;
    for collection in ["people", "petitions"] {
        let page = client.get(&format!("{}{collection}?per_page=1", session.demo.base_url)).await?;
        let address = link(&page["_embedded"][format!("svc:{collection}")][0], "self")?;
        let path = address.strip_prefix(&session.demo.base_url).ok_or("elsewhere")?.to_owned();
        session.open(&path).await?;
        session.browser.click("//summary[.='Show what this leads to']").await?;
        session.browser.wait_for("document.querySelector('.map svg')").await?;
        album.take(session, &format!("explorer-record-{collection}")).await?;
    }
    session.browser.press("Record a signature on a petition").await?;
    album.take(session, "explorer-helper").await?;
    session.open("").await?;
    session.browser.click("//summary[.='Show what this leads to']").await?;
    session.browser.click("//button[starts-with(., 'Count the records')]").await?;
    session.browser.wait_for("document.querySelector('.map [role=status]').textContent.includes('Counted.')").await?;
    session.browser.press("Records by day …").await?;
    session.browser.press("Show 14 days (16 requests)").await?;
    session.browser.wait_for("document.querySelector('.days[role=img]')").await?;
    album.take(session, "explorer-map").await?;
    session.open("questions").await?;
    session.browser.press("Create a question").await?;
    session.browser.press("Send").await?;
    session.browser.wait_for("document.querySelector('.panel .errors strong')").await?;
    album.take(session, "explorer-errors").await?;
    session.browser.click("//summary[starts-with(., 'Exchanges of this tab')]").await?;
    session.browser.click("//summary[.='As a program']").await?;
    session.browser.wait_for("document.querySelector('.walk li')").await?;
    album.take(session, "explorer-program").await
}
