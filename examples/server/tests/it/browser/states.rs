//! A table of every type of page and every state of the explorer, which visitors go through. Each
//! row has the steps from the previous row.

use serde_json::json;

use crate::browser::Session;
use crate::browser::driver::Browser;
use crate::browser::safe_writes::{READS, WRONG};
use crate::support::TestResult;
use crate::support::program::KEY;

/// A visitor of each state.
pub(crate) trait Visitor {
    /// Visits the current state, at any width and in any colours.
    async fn visit(&mut self, session: &mut Session, state: &str) -> TestResult;
}

/// A step to a state.
#[derive(Clone, Copy)]
enum Step {
    /// Opens the page at this path below the entry point.
    Page(&'static str),
    /// Opens a path without a page.
    Lost(&'static str),
    /// Opens the explorer again, at its start.
    Explorer,
    /// Opens this path in the current explorer.
    Turn(&'static str),
    UseKey(&'static str),
    Press(&'static str),
    Click(&'static str),
    /// Types into the field with a label.
    Enter(&'static str, &'static str),
    /// Types into the field with a label in a group.
    EnterIn(&'static str, &'static str, &'static str),
    Choose(&'static str, &'static str),
    /// Types into the element of an `XPath`.
    Type(&'static str, &'static str),
    /// Runs a script in the page; it replaces `KEY` by the key as a text.
    Run(&'static str),
    /// Runs a script in a page that may be busy.
    RunBusy(&'static str),
    /// Waits until an expression is true.
    Until(&'static str),
}

use Step::{
    Choose, Click, Enter, EnterIn, Explorer, Lost, Page, Press, Run, RunBusy, Turn, Type, Until,
    UseKey,
};

const UNFOLD: &str = "document.querySelectorAll('details:not(.journal)').forEach(details => { details.open = true; });";
const UNFOLD_FORM: &str =
    "document.querySelectorAll('.panel details').forEach(details => { details.open = true; });";
const FIRST_RECORD: &str = "(//table[@class='records']//tbody//a)[1]";
const RECORDS: &str = "document.querySelectorAll('.records tbody tr').length === 3";
const PEOPLE: &str = "people?per_page=3";
const RECORD: &str = "document.querySelector('.properties')";

/// The capability document of another server, derived from the document of this one: some entries
/// are missing, and some are added.
const COMPARE: &str =
    "fetch(new URL('../capabilities', location)).then(answer => answer.json()).then(theirs => {
    delete theirs.collections.messages;
    delete theirs.helpers.record_canvass;
    theirs.collections.pledges = { operations: ['list', 'read'] };
    theirs.collections.people.fields.gender.values = ['Female', 'Unknown'];
    document.querySelector('#compare textarea').value = JSON.stringify(theirs);
    document.querySelector('#compare form').requestSubmit(); });";

/// Another client changes the shown record.
const MEANWHILE: &str = "const address = document.body.dataset.base + location.hash.slice(2);
    const key = { 'SVC-API-Token': KEY };
    const change = { ...key, 'If-Match': '*', 'Content-Type': 'application/json' };
    window.changed = false;
    fetch(address, { method: 'PUT', headers: change, body: JSON.stringify({ source: `the post ${performance.now()}` }) })
        .then(answer => { window.changed = answer.status; });";

/// Requests lose their `If-Match`.
const WITHOUT_TAG: &str = "const whole = window.fetch; window.fetch = (address, how) => {
    const headers = new Headers(how?.headers); headers.delete('If-Match');
    return whole(address, { ...how, headers }); };";

/// The pages of the documentation, and those of its frame.
const PAGES: &[(&str, &[Step])] = &[
    ("entry-point", &[Page("")]),
    ("missing", &[Lost("docs/v1/persn")]),
    ("docs-start", &[Page("docs/")]),
    (
        "docs-search",
        &[
            Until("document.getElementById('search').hidden === false"),
            Click("//button[@id='search']"),
            Type("//dialog//input", "given_name"),
            Until("document.querySelectorAll('.found a').length > 0"),
        ],
    ),
    (
        "docs-search-nothing",
        &[
            Type("//dialog//input", "qqqq"),
            Until("document.querySelector('dialog [role=status]').textContent === '0 found'"),
        ],
    ),
    ("docs-kind", &[Page("docs/v1/person")]),
    (
        "docs-menu",
        &[
            Run("document.getElementById('pages').showPopover();"),
            Until("document.getElementById('pages').matches(':popover-open')"),
        ],
    ),
    ("docs-collection", &[Page("docs/v1/people")]),
    ("docs-helper", &[Page("docs/v1/record_signature_helper")]),
    ("docs-helper-unfolded", &[Run(UNFOLD)]),
    ("docs-link", &[Page("docs/v1/creator")]),
    ("docs-function", &[Page("docs/v1/add_tags")]),
    ("docs-type", &[Page("docs/v1/type-postal_address")]),
    ("docs-relations", &[Page("docs/v1/relations")]),
    ("docs-errors", &[Page("docs/v1/error")]),
    ("docs-error-code", &[Page("docs/v1/FIELD_INVALID")]),
    ("docs-topic", &[Page("docs/v1/authentication")]),
    ("docs-filters", &[Page("docs/v1/filters")]),
    ("docs-changes", &[Page("docs/v1/changes")]),
    ("docs-webhooks", &[Page("docs/v1/webhooks")]),
    ("docs-map", &[Page("docs/v1/map")]),
    (
        "docs-compare",
        &[
            Page("docs/v1/compare"),
            Until("document.querySelector('#compare textarea')"),
        ],
    ),
    (
        "docs-compare-wrong",
        &[
            Run(
                "document.querySelector('#compare textarea').value = '{\"collections\":[]}';
                 document.querySelector('#compare form').requestSubmit();",
            ),
            Until("document.querySelector('#compare .errors li')"),
        ],
    ),
    (
        "docs-compare-found",
        &[
            Run(COMPARE),
            Until("document.querySelector('#compare .found h2')"),
        ],
    ),
    ("docs-compare-unfolded", &[Run(UNFOLD)]),
];

/// The states of the explorer for reading.
const READING: &[(&str, &[Step])] = &[
    ("explorer-entry-point", &[Explorer]),
    (
        "explorer-no-key",
        &[
            Turn(PEOPLE),
            Until("document.body.innerText.includes('This needs a key')"),
        ],
    ),
    (
        "explorer-wrong-key",
        &[
            UseKey(WRONG),
            Until("document.body.innerText.includes('This key is not valid')"),
        ],
    ),
    ("explorer-collection", &[UseKey(KEY), Until(RECORDS)]),
    (
        "explorer-columns",
        &[
            Click("//summary[starts-with(., 'Columns')]"),
            Until("document.querySelector('.choice input')"),
        ],
    ),
    ("explorer-filter", &[Click("//summary[.='Filter']")]),
    (
        "explorer-filter-wrong",
        &[
            Enter("filter", "shoe_size eq '42'"),
            Press("Apply"),
            Until("document.querySelector('.query [aria-invalid=true]')"),
        ],
    ),
    (
        "explorer-nothing",
        &[
            Turn("people?filter=email_address%20eq%20'nobody@example.org'"),
            Until("document.body.innerText.includes('No records.')"),
        ],
    ),
    (
        "explorer-export",
        &[Turn(PEOPLE), Until(RECORDS), Click("//summary[.='Export']")],
    ),
    (
        "explorer-exported",
        &[
            Run(crate::browser::tables::KEEP),
            Press("Export everything"),
            Until("document.querySelector('.tools').innerText.includes('60 records saved.')"),
        ],
    ),
    (
        "explorer-past-the-end",
        &[
            Turn("tags?page=99"),
            Until("document.body.innerText.includes('There is no page 99')"),
        ],
    ),
    (
        "explorer-not-found",
        &[
            Turn("people/nobody"),
            Until("document.body.innerText.includes('404')"),
        ],
    ),
    (
        "explorer-elsewhere",
        &[
            Turn("../../elsewhere"),
            Until("document.body.innerText.includes('This is not an address of the API')"),
        ],
    ),
    (
        "explorer-record",
        &[Turn(PEOPLE), Click(FIRST_RECORD), Until(RECORD)],
    ),
    (
        "explorer-copies",
        &[
            Press("Copy as Python"),
            Until("document.querySelector('.copies pre').textContent.includes('urllib')"),
        ],
    ),
    (
        "explorer-unfolded",
        &[Run(UNFOLD), Until("document.querySelector('.map svg')")],
    ),
    (
        "explorer-json",
        &[
            Turn("petitions?per_page=2"),
            Until("document.querySelector('.exchange .json')"),
            Run(UNFOLD),
        ],
    ),
    (
        "explorer-record-map",
        &[
            Click(FIRST_RECORD),
            Until(RECORD),
            Click("//summary[.='Show related records']"),
            Press("Count the records (one request)"),
            Until("document.querySelector('.near .count')"),
        ],
    ),
    (
        "explorer-map",
        &[
            Turn(""),
            Click("//summary[.='Show related records']"),
            Click("//button[starts-with(., 'Count the records')]"),
            Until("document.querySelector('.map [role=status]').textContent.includes('Counted.')"),
            Press("Records by day …"),
            Press("Show 14 days (16 requests)"),
            Until("document.querySelector('.days[role=img]')"),
        ],
    ),
    (
        "explorer-exchanges",
        &[
            Click("//summary[starts-with(., 'Exchanges of this tab')]"),
            Until("document.querySelector('.journal tbody tr')"),
        ],
    ),
    (
        "explorer-program",
        &[
            Click("//summary[.='As a program']"),
            Until("document.querySelector('.walk li')"),
        ],
    ),
    (
        "explorer-exchange-of-before",
        &[
            Click("(//details[contains(@class, 'journal')]//button[.='Open'])[last()]"),
            Until("document.querySelector('.exchange').innerText.includes('Earlier exchange')"),
        ],
    ),
];

/// The states of the explorer for writing.
const WRITING: &[(&str, &[Step])] = &[
    (
        "explorer-form",
        &[
            Explorer,
            UseKey(KEY),
            Turn(PEOPLE),
            Press("Create a person"),
            Until("document.querySelector('.sample pre')"),
        ],
    ),
    (
        "explorer-form-unfolded",
        &[
            Press("Close"),
            Press("Create a person"),
            Run(UNFOLD_FORM),
            Press("Add email_addresses"),
        ],
    ),
    (
        "explorer-form-as-json",
        &[
            Press("Edit as JSON"),
            Until("document.querySelector('.panel textarea')"),
        ],
    ),
    (
        "explorer-form-no-json",
        &[
            Enter("Body as JSON", "{\n  oops\n}"),
            Press("Send"),
            Until("document.querySelector('.panel .errors button')"),
        ],
    ),
    (
        "explorer-errors",
        &[
            Turn("questions"),
            Press("Create a question"),
            Choose("question_type *", "Paragraph"),
            Enter("title", "Which days?"),
            Click("//summary[.='responses']"),
            Press("Add responses"),
            EnterIn("responses 1", "key *", "a b"),
            EnterIn("responses 1", "name", "one two"),
            Press("Send"),
            Until("document.querySelectorAll('.panel .errors strong').length >= 4"),
        ],
    ),
    (
        "explorer-created",
        &[
            Turn("tags"),
            Press("Create a tag"),
            Enter("name *", "looked-at"),
            Enter("description", "To be emptied"),
            Press("Send"),
            Until("document.querySelector('.panel').innerText.includes('Done: 201')"),
        ],
    ),
    (
        "explorer-exchange-of-a-write",
        &[
            Click("//a[.='Open looked-at']"),
            Until("document.querySelector('h1').textContent === 'looked-at'"),
        ],
    ),
    (
        "explorer-changed",
        &[
            Press("Change a tag"),
            Enter("description", ""),
            Press("Send"),
            Until("document.querySelector('.exchange')?.innerText.includes('PUT ')"),
        ],
    ),
    (
        "explorer-delete",
        &[
            Press("Delete a tag"),
            Until("document.querySelector('.panel button.delete')"),
        ],
    ),
    (
        "explorer-deleted",
        &[
            Press("Delete"),
            Until("document.querySelector('h1').textContent === 'Deleted: looked-at'"),
        ],
    ),
    (
        "explorer-conflict",
        &[
            Turn(PEOPLE),
            Click(FIRST_RECORD),
            Press("Change a person"),
            Enter("source", "a stall"),
            Run(MEANWHILE),
            Until("window.changed === 200"),
            Press("Send"),
            Until("document.querySelector('.conflict')"),
        ],
    ),
    (
        "explorer-conflict-of-a-deletion",
        &[
            Press("Delete a person"),
            Press("Delete"),
            Until(
                "document.querySelector('.conflict') && document.querySelector('.panel button.delete')",
            ),
        ],
    ),
    (
        "explorer-precondition-required",
        &[
            Turn("petitions"),
            Click(FIRST_RECORD),
            Press("Change a petition"),
            Enter("title", "Without a tag"),
            Run(WITHOUT_TAG),
            Press("Send"),
            Until(
                "document.querySelector('.exchange')?.innerText.includes('428')
                && document.querySelector('.panel [role=alert]').innerText !== ''",
            ),
        ],
    ),
    (
        "explorer-helper",
        &[
            // A new page: requests have their entity tags again.
            Explorer,
            UseKey(KEY),
            Turn("petitions"),
            Click(FIRST_RECORD),
            Press("Record a signature on a petition"),
            Enter("given_name", "Ida"),
            Click("//summary[.='add_tags']"),
            Press("Add add_tags"),
            Enter("add_tags 1", "no-such-tag"),
        ],
    ),
    (
        "explorer-steps",
        &[
            Press("Send"),
            Until(
                "document.querySelectorAll('.steps > li').length === 3 && document.querySelector('.bad-step')",
            ),
        ],
    ),
    (
        "explorer-steps-choice",
        &[
            Press("Retry only this"),
            Until("document.querySelector('.panel select')"),
        ],
    ),
    (
        "explorer-steps-done",
        &[
            Choose("Which tag", "volunteer"),
            Press("Choose"),
            Press("Send"),
            Until("document.querySelectorAll('.good-step').length === 3"),
        ],
    ),
    (
        "explorer-repeat",
        &[
            Click("//summary[starts-with(., 'Exchanges of this tab')]"),
            Click(
                "(//details[contains(@class, 'journal')]//tr[td[1]='POST']//button[.='Repeat'])[1]",
            ),
            Until("document.querySelector('dialog[open]')"),
        ],
    ),
    (
        "explorer-missing-right",
        &[
            Press("Cancel"),
            UseKey(READS),
            Turn(PEOPLE),
            Press("Create a person"),
            Press("Send"),
            Until(
                "document.querySelector('.panel [role=alert]').innerText.includes('This key lacks the required right')",
            ),
        ],
    ),
    (
        "explorer-unreachable",
        &[
            Run("window.fetch = () => Promise.reject(new TypeError('lost'));"),
            Turn("tags"),
            Until("document.body.innerText.includes('The server cannot be reached')"),
        ],
    ),
    (
        "explorer-busy",
        &[
            Explorer,
            UseKey(KEY),
            Turn(PEOPLE),
            Until(RECORDS),
            Run("window.fetch = () => new Promise(() => {});"),
            RunBusy(
                "[...document.querySelectorAll('button')].find(button => button.textContent === 'Next page').click();",
            ),
            RunBusy(
                "if (document.querySelector('[aria-busy=true]') === null) throw new Error('nothing is busy');",
            ),
        ],
    ),
];

/// Drops a file with a text on the page *Import*.
macro_rules! dropped {
    ($text:literal) => {
        Run(concat!(
            "const data = new DataTransfer(); data.items.add(new File([",
            $text,
            "], 'people.csv')); const how = { dataTransfer: data, bubbles: true, cancelable: true };
             document.querySelector('.drop').dispatchEvent(new DragEvent('drop', how));"
        ))
    };
}

/// An import that is being sent.
const RUNNING: &str = "const running = { id: 'x', state: 'running', all: 1200, total: 3000, counts: { rejected: 7 } };
    window.fetch = () => Promise.resolve(new Response(JSON.stringify(running)));";

/// The states of the page *Import*.
const IMPORTING: &[(&str, &[Step])] = &[
    (
        "import-no-key",
        &[
            Page("../../import/"),
            Until("document.querySelector('h2')?.textContent === '1. Enter your API key'"),
        ],
    ),
    (
        "import-wrong-key",
        &[
            UseKey(WRONG),
            Until("document.querySelector('.problem')?.textContent.includes('does not know')"),
        ],
    ),
    (
        "import-choice",
        &[UseKey(KEY), Until("document.querySelector('.drop input')")],
    ),
    (
        "import-unusable",
        &[
            dropped!("'\\n\\n'"),
            Until("document.querySelector('.problem')?.textContent.includes('no table')"),
        ],
    ),
    (
        "import-questions",
        &[
            dropped!(
                "'Vorname,geboren am,Unsubscribed from events,Tags\\nIda,3/4/1990,yes,no-such-tag\\n'"
            ),
            Until("document.querySelectorAll('.question').length === 4"),
            Run(UNFOLD),
        ],
    ),
    (
        "import-preview",
        &[
            Click("//label[.='The day: 3 April 1990, as in most countries']"),
            Click("//label[.='Import the people anyway']"),
            Click("//select[starts-with(@aria-label, 'Column C')]/option[.='Leave out']"),
            Press("Show what would change"),
            Until("document.querySelector('.counts')"),
        ],
    ),
    (
        "import-two-columns",
        &[
            Click("//select[starts-with(@aria-label, 'Column B')]//option[.='First name']"),
            Press("Import 1 row"),
            Until("document.querySelector('.problem')?.textContent.includes('only one')"),
        ],
    ),
    (
        "import-running",
        &[
            Run(RUNNING),
            Press("Import 1 row"),
            Until("document.querySelector('progress')?.value === 1200"),
        ],
    ),
    (
        "import-result",
        &[
            Page("../../import/"),
            UseKey(KEY),
            Press("Choose another table"),
            dropped!(
                "'Vorname,E-Mail,Geschlecht\\nIda,ida@example.org,x y\\nUdo,udo at example,\\nEve,eve@example.org,\\n'"
            ),
            Press("Import 3 rows"),
            Until(
                "document.querySelector('h2')?.textContent === '5. The import is complete' && document.querySelectorAll('.question').length === 2",
            ),
        ],
    ),
];

/// The error statuses that the states cause.
pub(crate) const REFUSED: &[u16] = &[400, 401, 403, 404, 412, 428];

/// Returns the number of states.
pub(crate) fn count() -> usize {
    [PAGES, READING, WRITING, IMPORTING]
        .iter()
        .map(|part| part.len())
        .sum()
}

/// Takes a visitor through all states, in its own browser and demo. A state that cannot be reached
/// is an error.
pub(crate) async fn walk(visitor: &mut impl Visitor) -> TestResult {
    let mut session =
        Session::with(&["--read-key", &format!("demo={READS}"), "--require-if-match"]).await?;
    for (state, steps) in [PAGES, READING, WRITING, IMPORTING].into_iter().flatten() {
        for step in *steps {
            take(&mut session, *step)
                .await
                .map_err(|error| format!("{state}: {error}"))?;
        }
        visitor
            .visit(&mut session, state)
            .await
            .map_err(|error| format!("{state}: {error}"))?;
    }
    take(&mut session, Explorer).await?;
    session.end(REFUSED).await
}

/// Opens a page, and checks the status of its response.
async fn visit_page(browser: &mut Browser, address: &str, status: u16) -> TestResult {
    browser.open(address).await?;
    browser
        .wait_for("document.styleSheets.length > 0 && document.querySelector('main h1')")
        .await?;
    let answered = browser
        .run("return performance.getEntriesByType('navigation')[0].responseStatus;")
        .await?;
    if answered == status {
        Ok(())
    } else {
        Err(format!("the response of {address} is {answered}").into())
    }
}

async fn take(session: &mut Session, step: Step) -> TestResult {
    let browser = &mut session.browser;
    match step {
        Page(path) => visit_page(browser, &format!("{}{path}", session.demo.base_url), 200).await,
        Lost(path) => visit_page(browser, &format!("{}{path}", session.demo.base_url), 404).await,
        Explorer => {
            browser.open(&session.explorer).await?;
            browser
                .wait_for("document.querySelector('h1')?.textContent === 'Entry point'")
                .await
        }
        Turn(path) => session.open(path).await,
        UseKey(key) => session.use_key(key).await,
        Press(text) => browser.press(text).await,
        Click(path) => browser.click(path).await,
        Enter(label, text) => browser.enter(label, text).await,
        EnterIn(group, label, text) => browser.enter_in(group, label, text).await,
        Choose(label, value) => browser.choose(label, value).await,
        Type(path, text) => browser.type_into(path, text).await,
        Run(script) => browser
            .run(&script.replace("KEY", &json!(KEY).to_string()))
            .await
            .map(drop),
        RunBusy(script) => browser.now(script).await.map(drop),
        Until(expression) => browser.wait_for(expression).await,
    }
}
