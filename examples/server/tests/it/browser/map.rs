//! The map: a picture without scripts in the documentation, and a map around a record with counts
//! in the explorer.
//!
//! Requirements: ENT-22.

use serde_json::json;

use crate::browser::{ENTER, Session};
use crate::support::TestResult;
use crate::support::client::link;
use crate::support::program::KEY;

/// Opens the map of the current page of the explorer.
async fn show_map(session: &mut Session) -> TestResult {
    session
        .browser
        .click("//summary[.='Show related records']")
        .await?;
    session
        .browser
        .wait_for("document.querySelector('.map svg')")
        .await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn ent_22_the_map_is_a_picture_with_links_that_needs_no_script() -> TestResult {
    let mut session = Session::start().await?;
    session
        .browser
        .open(&format!("{}docs/v1/map", session.demo.base_url))
        .await?;
    // The texts of all nodes are inside them, also with the fonts of this machine.
    let outside = "return [...document.querySelectorAll('.map-box a')].filter(a => {
        const [box, text] = [a.querySelector('rect').getBoundingClientRect(), a.querySelector('text').getBoundingClientRect()];
        // The picture scales with its column, and so does the space above and below letters.
        const room = 2 * box.width / a.querySelector('rect').width.baseVal.value;
        return text.left < box.left || text.right > box.right || text.top < box.top - room || text.bottom > box.bottom + room;
    }).map(a => a.textContent);";
    assert_eq!(session.browser.run(outside).await?, json!([]));
    // Links have names, screen readers ignore lines, and scrollable boxes can be focused.
    let unnamed = "return [...document.querySelectorAll('.map-box a')].filter(a => !a.textContent.trim() || a.getAttribute('href') === null).length;";
    assert_eq!(session.browser.run(unnamed).await?, 0);
    let hidden = "return [...document.querySelectorAll('.map-box path')].every(path => path.closest('[aria-hidden=true]'));";
    assert_eq!(session.browser.run(hidden).await?, true);
    assert_eq!(
        session
            .browser
            .run("return document.querySelectorAll('.map [style], .map script').length;")
            .await?,
        0
    );
    // With the keyboard: its box, then its links.
    session.reach("Petition").await?;
    session.browser.key(ENTER).await?;
    session
        .browser
        .wait_for("location.pathname.endsWith('/docs/v1/petition')")
        .await?;
    // On a telephone, the picture scrolls in its own box, and the page does not scroll.
    session.browser.narrow().await?;
    session
        .browser
        .open(&format!("{}docs/v1/map", session.demo.base_url))
        .await?;
    let scrolls =
        "const box = document.querySelector('.map-box'); return box.scrollWidth > box.clientWidth
        && document.documentElement.scrollWidth <= document.documentElement.clientWidth;";
    assert_eq!(session.browser.run(scrolls).await?, true);
    session.end(&[]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn ent_22_the_explorer_maps_the_entry_point_and_counts_on_a_press() -> TestResult {
    let mut session = Session::start().await?;
    show_map(&mut session).await?;
    // Without a key nothing is counted, and a message states this.
    let count = "//button[starts-with(., 'Count the records')]";
    session.browser.click(count).await?;
    session
        .browser
        .wait_for(
            "document.querySelector('.map [role=status]').textContent.includes('needs a key')",
        )
        .await?;
    session.use_key(KEY).await?;
    show_map(&mut session).await?;
    session.browser.requested().await?;
    session.browser.click(count).await?;
    session
        .browser
        .wait_for("document.querySelector('.map [role=status]').textContent.includes('Counted.')")
        .await?;
    assert_eq!(
        session
            .browser
            .run("return document.querySelector('.map a[data-kind=people] .count').textContent;")
            .await?,
        "60"
    );
    let asked = session.browser.requested().await?;
    let collections = session
        .browser
        .run("return document.querySelectorAll('.map .count').length;")
        .await?;
    assert_eq!(
        json!(
            asked
                .iter()
                .filter(|address| address.ends_with("?per_page=1"))
                .count()
        ),
        collections,
        "{asked:?}"
    );
    // Bars by day, with the same numbers as a table. The sum of all days is the number of records
    // of these days.
    session.browser.press("Records by day …").await?;
    session.browser.press("Show 14 days (16 requests)").await?;
    session
        .browser
        .wait_for("document.querySelector('.days[role=img]')")
        .await?;
    let bars = session
        .browser
        .run("return document.querySelectorAll('.days rect').length;")
        .await?;
    assert_eq!(bars, 14);
    let table = "return [...document.querySelectorAll('.by-day td')].map(cell => Number(cell.textContent));";
    let days = session.browser.run(table).await?;
    let days: Vec<u64> = days
        .as_array()
        .ok_or("no table")?
        .iter()
        .filter_map(serde_json::Value::as_u64)
        .collect();
    let mut client = session.client().await?;
    let dates = session
        .browser
        .run("return [...document.querySelectorAll('.by-day tbody th')].map(cell => cell.textContent);")
        .await?;
    let donations = client
        .walk(&format!("{}donations", session.demo.base_url))
        .await?;
    let of_day = |day: &serde_json::Value| {
        let is_of = |donation: &&serde_json::Value| {
            donation["created_date"]
                .as_str()
                .is_some_and(|date| date.starts_with(day.as_str().unwrap_or("?")))
        };
        donations.iter().filter(is_of).count() as u64
    };
    let expected: Vec<u64> = dates
        .as_array()
        .ok_or("no dates")?
        .iter()
        .map(of_day)
        .collect();
    assert_eq!(days, expected, "{dates}");
    assert!(
        days.last().is_some_and(|newest| *newest > 0),
        "the last day is that of the newest record"
    );
    // A node is a link.
    session
        .browser
        .click("//*[name()='a'][@data-kind='petitions']")
        .await?;
    session
        .browser
        .wait_for("document.querySelector('h1').textContent === 'petitions'")
        .await?;
    session.end(&[401]).await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn ent_22_around_a_record_stands_what_its_links_lead_to() -> TestResult {
    let mut session = Session::start().await?;
    session.use_key(KEY).await?;
    let mut client = session.client().await?;
    let petitions = client
        .get(&format!("{}petitions", session.demo.base_url))
        .await?;
    let petition = link(&petitions["_embedded"]["svc:petitions"][0], "self")?;
    // The title of a record is shown as text. It is shortened, and cannot change the text
    // direction.
    let name = format!("<img src=x>\u{202E}{}", "long ".repeat(20));
    let changed = client
        .send("PUT", &petition, Some(&json!({ "title": name })))
        .await?;
    assert_eq!(changed.status, 200);
    let path = petition
        .strip_prefix(&session.demo.base_url)
        .ok_or("elsewhere")?
        .to_owned();
    session.open(&path).await?;
    show_map(&mut session).await?;
    let home = session
        .browser
        .run("return document.querySelector('.near .home text').textContent;")
        .await?;
    let home = home.as_str().ok_or("no record")?;
    assert!(
        home.starts_with("<img src=x>\u{FFFD}long") && home.chars().count() <= 22,
        "{home}"
    );
    let nodes = "return [...document.querySelectorAll('.near a')].map(a => [a.getAttribute('class'), a.textContent]);";
    let expected = json!([
        ["kind", "creator, modified by"],
        ["kind", "signatures"],
        ["helper", "record signature helper"]
    ]);
    assert_eq!(session.browser.run(nodes).await?, expected);
    session
        .browser
        .press("Count the records (one request)")
        .await?;
    session
        .browser
        .wait_for("document.querySelector('.near .count')")
        .await?;
    let total = client
        .get(&format!("{petition}/signatures?per_page=1"))
        .await?["total_records"]
        .clone();
    assert_eq!(
        session
            .browser
            .run("return document.querySelector('.near .count').textContent;")
            .await?,
        total.to_string()
    );
    // With the keyboard to the collection.
    session.reach(&format!("signatures {total}")).await?;
    session.browser.key(ENTER).await?;
    session
        .browser
        .wait_for("document.querySelector('h1').textContent === 'signatures'")
        .await?;
    // On a telephone, all of it is below the record, within the window.
    session.browser.narrow().await?;
    session.open(&path).await?;
    show_map(&mut session).await?;
    session
        .browser
        .wait_for("document.querySelector('.narrow')")
        .await?;
    let fits =
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth;";
    assert_eq!(session.browser.run(fits).await?, true);
    session.end(&[]).await
}
