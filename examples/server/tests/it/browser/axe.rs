//! Checks all states with axe-core, in light and dark, wide and narrow (WCAG 2.2 A and AA, and best
//! practice): `.ci/axe`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::browser::Session;
use crate::browser::states::{self, Visitor};
use crate::support::TestResult;

/// The window, colour scheme and rules of each run. The scheme matters only for rules about
/// colours.
const LOOKS: [(u32, &str, Rules); 4] = [
    (1280, "light", Rules::All),
    (1280, "dark", Rules::Colours),
    (360, "light", Rules::Others),
    (360, "dark", Rules::Colours),
];

#[derive(Clone, Copy)]
enum Rules {
    All,
    /// Rules about colours, which are slow.
    Colours,
    Others,
}

impl Rules {
    /// Returns a JavaScript condition: whether a rule with these `tags` belongs to the set.
    const fn condition(self) -> &'static str {
        match self {
            Self::All => "true",
            Self::Colours => "tags.includes('cat.color')",
            Self::Others => "!tags.includes('cat.color')",
        }
    }
}

/// Disabled rules, with reasons. All others are enabled, including those of best practice and the
/// experimental ones, except for deprecated rules.
const OFF: &[(&str, &str)] = &[
    (
        "color-contrast-enhanced",
        "level AAA: seven to one, but these pages conform to AA",
    ),
    ("identical-links-same-purpose", "level AAA"),
    (
        "hidden-content",
        "experimental: reports every page with hidden elements, which are checked in separate states",
    ),
    (
        "focus-order-semantics",
        "experimental: rejects scrollable boxes with role=group, which need keyboard access for scrolling",
    ),
];

/// Results that axe leaves to people, with the result of their review. Any other such result needs
/// a review first.
const JUDGED: &[Judged] = &[
    Judged {
        rule: "label-content-name-mismatch",
        key: "label-content-name-mismatch",
        state: "explorer",
        part: "class=\"about\"",
        seen: "a question mark is a symbol, not a text label; the accessible name has its meaning",
    },
    Judged {
        rule: "color-contrast",
        key: "bgOverlap",
        state: "",
        part: "<text ",
        seen: PICTURE,
    },
    Judged {
        rule: "color-contrast",
        key: "imgNode",
        state: "",
        part: "<text ",
        seen: PICTURE,
    },
    Judged {
        rule: "color-contrast",
        key: "bgOverlap",
        state: "docs-menu",
        part: "",
        seen: "the menu covers the page, which is also checked without the menu",
    },
    Judged {
        rule: "color-contrast",
        key: "elmPartiallyObscured cut",
        state: "",
        part: "",
        seen: CUT,
    },
    Judged {
        rule: "color-contrast",
        key: "elmPartiallyObscuring cut",
        state: "",
        part: "",
        seen: CUT,
    },
];

const PICTURE: &str = "letters in a picture, whose contrast this test computes itself";
const CUT: &str =
    "clipped by the edge of its scrollable box, with the same colours as the visible part";

/// Computes the contrast of letters in pictures, which axe does not check: to the shape under them,
/// or to the page.
const PICTURES: &str = "
    const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
    const over = ([red, green, blue, alpha = 1], back, opacity) =>
        [red, green, blue].map((one, at) => one * alpha * opacity + back[at] * (1 - alpha * opacity));
    const light = (colour) => colour.map((one) => one / 255).map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
        .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
    const contrast = (one, other) => { const [low, high] = [light(one), light(other)].toSorted((a, b) => a - b); return (high + 0.05) / (low + 0.05); };
    const page = numbers(getComputedStyle(document.body).backgroundColor).slice(0, 3);
    const opacity = (node) => (node instanceof SVGElement ? Number(getComputedStyle(node).opacity) * opacity(node.parentElement) : 1);
    const seen = (node, back) => {
        const { fill, fillOpacity } = getComputedStyle(node);
        return fill === 'none' ? back : over(numbers(fill), back, Number(fillOpacity) * opacity(node));
    };
    const all = [...document.querySelectorAll('svg text')].filter((text) => text.checkVisibility());
    const ratio = (text) => {
        // The numbers of a chart are next to its bars.
        const form = text.closest('.days') ? null : text.parentElement.querySelector(':scope > rect');
        const back = form === null ? page : seen(form, page);
        return contrast(seen(text, back), back);
    };
    return { count: all.length, faint: all.map((text) => [ratio(text), text.outerHTML.slice(0, 120)]).filter(([ratio]) => ratio < 4.5) };";

struct Judged {
    rule: &'static str,
    /// The reason why axe cannot decide. `cut` is added if the element exceeds a box that clips it.
    key: &'static str,
    /// A part of the name of the state that was reviewed.
    state: &'static str,
    /// A part of the element.
    part: &'static str,
    /// The reason why it is not a fault.
    seen: &'static str,
}

/// Starts axe and returns its results, without unused parts. A single letter is also checked for
/// contrast.
const RUN: &str = "
    axe.configure({ checks: [{ id: 'color-contrast', options: { ...axe._audit.checks['color-contrast'].options, ignoreLength: true } }] });
    const rules = axe.getRules().filter(({ ruleId, tags }) => CONDITION && !OFF.includes(ruleId) && !tags.includes('deprecated'))
        .map(({ ruleId }) => ruleId);
    const key = (checks) => checks.map(({ id, data }) => data?.messageKey ?? id).join();
    const clips = (box) => ['overflowX', 'overflowY'].some((way) => getComputedStyle(box)[way] !== 'visible');
    const isWithin = (one, other) => one.left >= other.left && one.right <= other.right && one.top >= other.top && one.bottom <= other.bottom;
    const isCut = (element) => {
        for (let box = element.parentElement; box !== null; box = box.parentElement) {
            if (clips(box) && !isWithin(element.getBoundingClientRect(), box.getBoundingClientRect())) return true;
        }
        return false;
    };
    const node = ({ any, all, none, target, html, failureSummary, element }) =>
        ({ key: key([...any, ...all, ...none]) + (isCut(element) ? ' cut' : ''), target: target.join(' '), html: html.slice(0, 200), why: failureSummary });
    const short = ({ id, nodes }) => ({ id, nodes: nodes.map(node) });
    axe.run(document, { elementRef: true, runOnly: { type: 'rule', values: rules } }).then(({ violations, incomplete, passes }) => done({
        rules, violations: violations.map(short), incomplete: incomplete.map(short), passes: passes.map(({ id }) => id),
    }), error => done({ error: String(error) }));";

/// The results so far.
#[derive(Default)]
struct Audit {
    /// The script of axe-core.
    script: String,
    states: usize,
    runs: usize,
    rules: BTreeSet<String>,
    passed: BTreeSet<String>,
    violations: Vec<String>,
    /// Number of checked texts in pictures.
    letters: u64,
    /// Results that axe leaves to people: their number, by rule and review.
    judged: BTreeMap<(String, &'static str), usize>,
    /// Results without a review.
    unjudged: Vec<String>,
}

impl Audit {
    fn new() -> TestResult<Self> {
        let path = std::env::var_os("SVC_AXE").ok_or("SVC_AXE must be the path of axe.min.js")?;
        Ok(Self {
            script: std::fs::read_to_string(path)?,
            ..Self::default()
        })
    }

    /// Returns the results of axe for the current page and these rules.
    async fn run(&self, session: &mut Session, rules: Rules) -> TestResult<Value> {
        if session.browser.now("return typeof axe;").await? != "object" {
            session.browser.now(&self.script).await?;
        }
        let off: Vec<_> = OFF.iter().map(|(rule, _)| rule).collect();
        let run = RUN
            .replace("OFF", &json!(off).to_string())
            .replace("CONDITION", rules.condition());
        let found = session.browser.promised(&run).await?;
        match found["error"].as_str() {
            Some(error) => Err(format!("axe: {error}").into()),
            None => Ok(found),
        }
    }
}

/// Returns the names in a list.
fn names(list: &Value) -> impl Iterator<Item = String> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
}

/// Returns each element of each rule.
fn elements(found: &Value) -> impl Iterator<Item = (&str, &Value)> {
    found.as_array().into_iter().flatten().flat_map(|rule| {
        let nodes = rule["nodes"].as_array().into_iter().flatten();
        nodes.map(|node| (rule["id"].as_str().unwrap_or_default(), node))
    })
}

impl Visitor for Audit {
    async fn visit(&mut self, session: &mut Session, state: &str) -> TestResult {
        self.states += 1;
        for (width, scheme, rules) in LOOKS {
            session.browser.look(width, scheme).await?;
            let found = self.run(session, rules).await?;
            self.runs += 1;
            let pictures = session.browser.now(PICTURES).await?;
            self.letters += pictures["count"].as_u64().ok_or("no count")?;
            for faint in pictures["faint"].as_array().into_iter().flatten() {
                self.violations.push(format!(
                    "{state} {width} {scheme}: contrast in a picture {faint}"
                ));
            }
            self.rules.extend(names(&found["rules"]));
            self.passed.extend(names(&found["passes"]));
            for (rule, node) in elements(&found["violations"]) {
                self.violations
                    .push(format!("{state} {width} {scheme}: {rule} {node:#}"));
            }
            for (rule, node) in elements(&found["incomplete"]) {
                let has = |name: &str, part: &str| {
                    node[name].as_str().is_some_and(|text| text.contains(part))
                };
                let is_it = |judged: &&Judged| {
                    judged.rule == rule
                        && state.contains(judged.state)
                        && has("key", judged.key)
                        && has("html", judged.part)
                };
                match JUDGED.iter().find(is_it) {
                    Some(Judged { seen, .. }) => {
                        *self.judged.entry((rule.to_owned(), seen)).or_default() += 1;
                    }
                    None => self
                        .unjudged
                        .push(format!("{state} {width} {scheme}: {rule} {node:#}")),
                }
            }
        }
        session.browser.look(1280, "light").await
    }
}

#[tokio::test]
#[ignore = "needs axe-core: .ci/axe"]
async fn no_state_has_a_violation() -> TestResult {
    let mut audit = Audit::new()?;
    states::walk(&mut audit).await?;
    println!(
        "axe: {} states, {} runs; {} rules, of which {} found something that they passed; {} violations",
        audit.states,
        audit.runs,
        audit.rules.len(),
        audit.passed.len(),
        audit.violations.len()
    );
    println!(
        "axe: {} texts in pictures have sufficient contrast",
        audit.letters
    );
    for ((rule, seen), count) in &audit.judged {
        println!("axe: {rule} was reviewed by people {count} times: {seen}");
    }
    assert_eq!(
        (audit.states, audit.runs),
        (states::count(), states::count() * LOOKS.len())
    );
    assert!(
        audit.rules.len() > 90 && audit.passed.len() > 50 && audit.letters > 100,
        "{:?}",
        audit.passed
    );
    assert!(
        audit.violations.is_empty(),
        "{}",
        audit.violations.join("\n")
    );
    assert!(
        audit.unjudged.is_empty(),
        "not reviewed: {}",
        audit.unjudged.join("\n")
    );
    Ok(())
}

/// Checks every page of the documentation, not only one of each type, with the rules that are not
/// about colours. Colours, and the results that axe leaves to people, are the same on all pages of
/// a type.
#[tokio::test]
#[ignore = "needs axe-core: .ci/axe"]
async fn no_page_has_a_violation() -> TestResult {
    let audit = Audit::new()?;
    let mut session = Session::start().await?;
    let start = format!("{}docs/", session.demo.base_url);
    session.browser.open(&start).await?;
    let pages = session
        .browser
        .run("return [...document.querySelectorAll('#pages a')].map(link => link.href);")
        .await?;
    let pages: BTreeSet<_> = names(&pages).collect();
    assert!(pages.len() > 100, "{pages:?}");
    let mut violations = Vec::new();
    for page in &pages {
        session.browser.open(page).await?;
        session
            .browser
            .wait_for("document.querySelector('main h1')")
            .await?;
        let found = audit.run(&mut session, Rules::Others).await?;
        violations.extend(
            elements(&found["violations"]).map(|(rule, node)| format!("{page}: {rule} {node:#}")),
        );
    }
    println!(
        "axe: {} pages of the documentation; {} violations",
        pages.len(),
        violations.len()
    );
    assert!(violations.is_empty(), "{}", violations.join("\n"));
    session.end(&[]).await
}

/// Tests the check itself: planted faults are found, by the violated rule only.
#[tokio::test]
#[ignore = "needs axe-core: .ci/axe"]
async fn what_is_planted_is_found() -> TestResult {
    let audit = Audit::new()?;
    let mut session = Session::start().await?;
    let found = audit.run(&mut session, Rules::All).await?;
    assert_eq!(found["violations"], json!([]));
    for (plant, rules, rule) in [
        (
            "document.querySelector('label[for=key]').remove(); document.getElementById('key').removeAttribute('placeholder');",
            Rules::All,
            "label",
        ),
        (
            "document.querySelector('main').append(Object.assign(document.createElement('h5'), { textContent: 'Deep' }));",
            Rules::Others,
            "heading-order",
        ),
        (
            "document.querySelector('main p').style.color = '#999';",
            Rules::Colours,
            "color-contrast",
        ),
    ] {
        let explorer = session.explorer.clone();
        session.browser.open(&explorer).await?;
        session
            .browser
            .wait_for("document.querySelector('h1')?.textContent === 'Entry point'")
            .await?;
        session.browser.run(plant).await?;
        let found = audit.run(&mut session, rules).await?;
        let broken: BTreeSet<_> = elements(&found["violations"])
            .map(|(rule, _)| rule)
            .collect();
        assert_eq!(broken, BTreeSet::from([rule]), "{found:#}");
    }
    session.end(&[]).await
}
