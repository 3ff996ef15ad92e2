//! From the page at the entry point to a recorded signature with the keyboard only (WCAG 2.2:
//! 2.1.1, 2.1.2, 2.4.3, 2.4.7, 2.4.11). The test does not click, and its scripts only read.

use serde_json::{Value, json};

use crate::browser::{ENTER, Session, TAB};
use crate::support::TestResult;
use crate::support::client::link;
use crate::support::program::KEY;

const SHIFT: char = '\u{E008}';
const DOWN: char = '\u{E015}';
const SPACE: char = ' ';

/// Maximum number of key presses from one element to the next.
const FARTHEST: usize = 60;

/// Returns the text or name of the focused element, and faults of its focus: it must have an
/// outline, be in the window, and not be covered.
const FOCUSED: &str = "
    const node = document.activeElement;
    const style = getComputedStyle(node);
    const box = node.getClientRects()[0];
    const wrong = [];
    if (node === document.body) wrong.push('nothing has the focus');
    else if (!node.matches(':focus-visible')) wrong.push('the browser does not mark it');
    else if (style.outlineStyle === 'none' || Number.parseFloat(style.outlineWidth) < 2) wrong.push('it has no outline');
    if (!box || box.width === 0 || box.height === 0) wrong.push('it has no size');
    else {
        const [x, y] = [Math.min(box.left + box.width / 2, innerWidth - 1), Math.max(0, Math.min(box.top + Math.min(box.height, innerHeight) / 2, innerHeight - 1))];
        const over = document.elementFromPoint(x, y);
        if (box.bottom <= 0 || box.top >= innerHeight || box.right <= 0 || box.left >= innerWidth) wrong.push('it is outside the window');
        else if (!over || !(node.contains(over) || over.contains(node))) wrong.push(`${over?.outerHTML.slice(0, 80)} lies over it`);
    }
    const name = node.labels?.[0]?.textContent ?? node.ariaLabel ?? node.textContent;
    return { name: name.trim(), html: node.outerHTML.slice(0, 120), wrong };";

/// A user with a keyboard only.
struct Hands<'s> {
    session: &'s mut Session,
    presses: usize,
    stops: usize,
    typed: usize,
}

impl Hands<'_> {
    async fn press(&mut self, key: char) -> TestResult {
        self.presses += 1;
        self.session.browser.key(key).await
    }

    /// Returns the focused element, which must be visible.
    async fn stop(&mut self) -> TestResult<String> {
        self.stops += 1;
        let focused = self.session.browser.run(FOCUSED).await?;
        assert_eq!(focused["wrong"], json!([]), "{focused:#}");
        Ok(focused["name"].as_str().ok_or("no name")?.to_owned())
    }

    /// Moves the focus forward to the element with this name.
    async fn reach(&mut self, name: &str) -> TestResult {
        let mut passed = Vec::new();
        for _ in 0..FARTHEST {
            self.press(TAB).await?;
            let focused = self.stop().await?;
            if focused == name {
                return Ok(());
            }
            passed.push(focused);
        }
        Err(format!("the keyboard does not reach {name}; it passes {passed:#?}").into())
    }

    /// Moves the focus back by one element.
    async fn back(&mut self) -> TestResult<String> {
        self.presses += 1;
        self.session.browser.key_with(SHIFT, TAB).await?;
        self.stop().await
    }

    async fn type_text(&mut self, text: &str) -> TestResult {
        self.typed += text.chars().count();
        for letter in text.chars() {
            self.session.browser.key(letter).await?;
        }
        Ok(())
    }

    async fn until(&mut self, expression: &str) -> TestResult {
        self.session.browser.wait_for(expression).await
    }
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn from_the_entry_point_to_a_recorded_signature_by_keys_alone() -> TestResult {
    let mut session = Session::start().await?;
    let mut client = session.client().await?;
    let petitions = client
        .get(&format!("{}petitions", session.demo.base_url))
        .await?;
    let petition = &petitions["_embedded"]["svc:petitions"][0];
    let signatures = link(petition, "svc:signatures")?;
    let title = petition["title"].as_str().ok_or("no title")?.to_owned();
    let before = client.get(&signatures).await?["total_records"]
        .as_u64()
        .ok_or("no total")?;
    let entry_point = session.demo.base_url.clone();
    session.browser.open(&entry_point).await?;
    session
        .browser
        .wait_for("document.querySelector('h1').textContent.includes('entry point')")
        .await?;

    let mut hands = Hands {
        session: &mut session,
        presses: 0,
        stops: 0,
        typed: 0,
    };
    hands.reach("Explorer").await?;
    hands.press(ENTER).await?;
    hands
        .until("document.querySelector('h1')?.textContent === 'Entry point'")
        .await?;
    // The focus is at the heading; the key field is before it.
    for _ in 0..FARTHEST {
        if hands.back().await? == "API key" {
            break;
        }
    }
    assert_eq!(hands.stop().await?, "API key");
    hands.type_text(KEY).await?;
    hands.press(ENTER).await?;
    hands
        .until("document.activeElement.localName === 'h1'")
        .await?;
    hands.reach("svc:petitions").await?;
    hands.press(SPACE).await?;
    hands
        .until("document.activeElement.textContent === 'petitions'")
        .await?;
    hands.reach(&title).await?;
    hands.press(ENTER).await?;
    hands
        .until("document.querySelector('.properties') && document.activeElement.localName === 'h1'")
        .await?;
    hands.reach("Record a signature on a petition").await?;
    hands.press(ENTER).await?;
    hands
        .until("document.activeElement.closest('.panel form')")
        .await?;
    // The focus of the form is at its first field, the name of the person.
    assert_eq!(hands.stop().await?, "given_name");
    hands.type_text("Keyed").await?;
    hands.reach("email_addresses").await?;
    hands.press(ENTER).await?;
    hands.reach("Add email_addresses").await?;
    hands.press(ENTER).await?;
    // The new group is before the button.
    for _ in 0..FARTHEST {
        if hands.back().await? == "address" {
            break;
        }
    }
    hands.type_text("keyed@example.org").await?;
    hands.reach("gender").await?;
    hands.press(DOWN).await?;
    hands.reach("Send").await?;
    hands.press(ENTER).await?;
    hands
        .until("document.querySelectorAll('.steps > li.good-step').length === 2")
        .await?;
    hands
        .until("document.querySelector('.panel').innerText.includes('Done: 200')")
        .await?;
    // The focus continues at the result.
    hands
        .until("document.activeElement.textContent.startsWith('Done: 200')")
        .await?;
    println!(
        "{} presses, {} characters typed, {} stops, each seen",
        hands.presses, hands.typed, hands.stops
    );
    assert!(hands.presses <= 90, "{} presses", hands.presses);

    // The signature exists, and so does the person.
    let recorded = client.get(&format!("{signatures}?per_page=100")).await?;
    assert_eq!(recorded["total_records"], before + 1);
    let mut people = Vec::new();
    for signature in recorded["_embedded"]["svc:signatures"]
        .as_array()
        .ok_or("no signatures")?
    {
        people.push(client.get(&link(signature, "svc:person")?).await?);
    }
    let signed: Vec<&Value> = people
        .iter()
        .filter(|person| person["given_name"] == "Keyed")
        .collect();
    assert!(
        matches!(&signed[..], [person] if person["email_addresses"][0]["address"] == "keyed@example.org"
        && person["gender"] == "Female"),
        "{signed:#?}"
    );
    session.end(&[401]).await
}
