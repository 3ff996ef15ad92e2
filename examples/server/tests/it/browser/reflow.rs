//! Checks every state in a narrow window (WCAG 2.2, 1.4.10 Reflow): the page itself never scrolls
//! sideways. Only tables and code scroll in their boxes.

use serde_json::Value;

use crate::browser::Session;
use crate::browser::states::{self, Visitor};
use crate::support::TestResult;

/// The width of a telephone, and the smallest width at which no content may be lost.
const WIDTHS: [u32; 2] = [360, 320];

/// Returns faults in a narrow window. The whole page is too wide. An element other than a table,
/// code or a picture scrolls sideways. An element exceeds the window. A word of a button or a
/// heading is split.
const FAULTS: &str = "
    const named = (node) => `${node.localName}.${node.className?.baseVal ?? node.className} ${node.scrollWidth} > ${node.clientWidth}`;
    const root = document.documentElement;
    const may = (node) => node.matches('pre, textarea, input, select, .json, .map-box') || (node.matches('.wide') && node.querySelector('table'));
    const scrolls = (node) => node.scrollWidth > node.clientWidth && ['auto', 'scroll'].includes(getComputedStyle(node).overflowX);
    // Folded elements have no size.
    const wide = [...document.body.querySelectorAll('*')].filter((node) => node.checkVisibility() && scrolls(node) && !may(node));
    // Elements over the page do not make it wider.
    const sticksOut = (node) => node.getBoundingClientRect().left < 0 || node.getBoundingClientRect().right > innerWidth;
    const over = [...document.querySelectorAll('dialog[open], :popover-open')].filter(sticksOut);
    const lines = (node) => {
        const range = document.createRange();
        range.selectNodeContents(node);
        return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
    };
    const isWord = (node) => /^\\w+$/.test(node.textContent.trim());
    const broken = [...document.querySelectorAll('button, thead th')].filter((node) => node.checkVisibility() && isWord(node) && lines(node) > 1);
    return [
        ...(innerWidth === WIDTH ? [] : [`the window is ${innerWidth} wide`]),
        ...(root.scrollWidth > root.clientWidth ? [named(root)] : []),
        ...[...wide, ...over].map(named),
        ...broken.map((node) => `${node.textContent} is broken`),
    ];";

#[derive(Default)]
struct Narrow {
    states: usize,
    faults: Vec<String>,
    scrolling: usize,
}

impl Visitor for Narrow {
    async fn visit(&mut self, session: &mut Session, state: &str) -> TestResult {
        self.states += 1;
        for width in WIDTHS {
            session.browser.look(width, "light").await?;
            let wide = session
                .browser
                .now(&FAULTS.replace("WIDTH", &width.to_string()))
                .await?;
            let wide = wide.as_array().ok_or("no list")?;
            self.faults.extend(
                wide.iter()
                    .filter_map(Value::as_str)
                    .map(|wide| format!("{state} at {width}: {wide}")),
            );
        }
        let inner = "return [...document.querySelectorAll('.wide, pre')].some(node => node.scrollWidth > node.clientWidth);";
        self.scrolling += usize::from(session.browser.now(inner).await? == true);
        session.browser.look(1280, "light").await
    }
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn no_state_scrolls_sideways_at_360_and_320_pixels_but_in_its_tables_and_code() -> TestResult
{
    let mut narrow = Narrow::default();
    states::walk(&mut narrow).await?;
    assert_eq!(narrow.states, states::count());
    assert!(narrow.faults.is_empty(), "{:#?}", narrow.faults);
    assert!(
        narrow.scrolling > 0,
        "no table is wider than its box, so that this test checks nothing"
    );
    Ok(())
}
