// The page Import: sends a table to the server in parts, shows what its columns contain, and imports its rows.

import { el, fill, newId } from "./dom.js";
import { auth, keyForm } from "./key.js";
import { save } from "./save.js";
import { server } from "./server.js";

const { docs, explorer, keyHeader } = document.body.dataset;
const members = document.getElementById("members").content.querySelector("select");
server.header = keyHeader;

/** The sizes that the server accepts, in bytes. */
const PART = 1024 * 1024;
const LONGEST = 256 * PART;
/** The time between two requests for the progress. */
const PAUSE = 500;

const said = el("p", { class: "said", role: "status" });
const step = el("section", { "aria-label": "Import" });
const main = el("main", { id: "main", tabindex: "-1" }, el("h1", {}, "Import people"), said, step);

/** The number of the current step: what arrives for an earlier one is dropped. */
let turn = 0;
/** The progress of the shown import, while it runs. */
let shown = null;
let fileName = "";

const busy = (is) => (is ? main.setAttribute("aria-busy", "true") : main.removeAttribute("aria-busy"));
const count = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
const rows = (number) => count(number, "row", "rows");

/** An error with a text for the user; `status` is 0 if there is no response. */
class Rejected extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

/** Sends a request about the imports of the key. */
async function call(method, path, body) {
  const key = auth();
  const headers = key === null ? {} : { [key.header]: key.value };
  if (typeof body === "string") headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(`/import/files${path}`, { method, headers, body, cache: "no-store", redirect: "error", credentials: "omit" });
  } catch {
    throw new Rejected(0, "The server cannot be reached, or the file can no longer be read. Check your connection, and try again.");
  }
  if (response.ok) return response;
  const text = await response.json().then(({ problem }) => problem, () => `The server returned the status ${response.status}.`);
  throw new Rejected(response.status, text);
}

const ask = async (...request) => (await call(...request)).json();

/** Shows a step instead of the previous one. */
function present(title, ...nodes) {
  const heading = el("h2", { tabindex: "-1" }, title);
  const isFirst = step.childElementCount === 0;
  shown = null;
  fill(step, heading, nodes);
  if (!isFirst) heading.focus();
}

const button = (text, use, kind) => el("button", { type: "button", class: kind, onclick: use }, text);
const alert = (text) => el("p", { class: "problem", role: "alert" }, text ?? "");

/** Runs work for the current step; `failed` shows its error. */
async function during(work, failed) {
  turn += 1;
  const mine = turn;
  const isCurrent = () => mine === turn;
  busy(true);
  try {
    await work(isCurrent);
  } catch (error) {
    if (!(error instanceof Rejected)) throw error;
    if (!isCurrent()) return;
    if (error.status === 401 || error.status === 403) showNoKey(error.message);
    else failed(error.message);
  } finally {
    if (isCurrent()) busy(false);
  }
}

function showNoKey(problem) {
  present(
    "1. Enter your API key",
    problem === undefined ? null : alert(problem),
    el("p", {}, "Enter your API key at the top of this page, and press “Use key”. The key decides which organisation the people belong to. If you have no key, ask the person who runs this server. The key needs the right ", el("code", {}, "helper.person_signup"), "."),
  );
}

function showChoice(problem) {
  const id = newId();
  const input = el("input", { id, type: "file", accept: ".csv,.tsv,.txt,.xlsx,.xls,.ods,.gz,.zip", "aria-describedby": `${id}-help`, onchange: () => upload(input.files[0]) });
  const drop = el("div", { class: "drop" }, el("label", { for: id }, "Drop your table here, or choose it"), input);
  const over = (is) => (event) => {
    event.preventDefault();
    drop.classList.toggle("over", is);
  };
  drop.addEventListener("dragover", over(true));
  drop.addEventListener("dragleave", over(false));
  drop.addEventListener("drop", (event) => {
    over(false)(event);
    upload(event.dataTransfer.files[0]);
  });
  present(
    "2. Choose a table of people",
    problem === undefined ? null : alert(problem),
    el("p", { id: `${id}-help` }, "Use an Excel file (.xlsx, .xls), an OpenDocument spreadsheet (.ods), or a CSV file, as your spreadsheet program or your CRM saves it. The first row must have the names of the columns. The file can have up to 256 MB. Nothing is imported before you have seen what the columns contain."),
    drop,
  );
}

/** Sends a file to the server. */
function upload(file) {
  if (file === undefined) return;
  if (file.size === 0) {
    showChoice("The file is empty. Choose a file with a table.");
    return;
  }
  if (file.size > LONGEST) {
    showChoice("The file is larger than 256 MB. Divide the table into several files, and import one after the other.");
    return;
  }
  fileName = file.name;
  let id = null;
  const bar = el("progress", { max: file.size, value: 0, "aria-label": "Progress of the upload" });
  const discard = () => (id === null ? null : call("DELETE", `/${id}`).catch(() => null));
  const cancel = async () => {
    turn += 1;
    await discard();
    busy(false);
    showChoice();
  };
  present("2. Choose a table of people", el("p", {}, "Sending ", el("strong", {}, file.name), " to the server …"), bar, el("p", { class: "actions" }, button("Cancel", cancel)));
  during(async (isCurrent) => {
    let job = await ask("POST", "", JSON.stringify({ size: file.size }));
    id = job.id;
    for (let at = 0; at < file.size && isCurrent(); at += PART) {
      job = await ask("POST", `/${id}/parts?at=${at}`, file.slice(at, at + PART));
      bar.value = Math.min(at + PART, file.size);
    }
    if (isCurrent()) show(job);
  }, async (problem) => {
    await discard();
    showChoice(problem);
  });
}

/** Shows the state of an import, and follows its progress. */
function show(job) {
  const isSame = shown !== null && shown.id === job.id && shown.state === job.state;
  if (job.state === "reading") {
    if (!isSame) {
      present("Reading the table …", el("p", {}, "A large table needs some minutes."));
      shown = { id: job.id, state: job.state };
    }
    busy(true);
    follow(job);
    return;
  }
  busy(false);
  if (job.state === "running") {
    if (!isSame) showRunning(job);
    shown.update(job);
    follow(job);
  } else if (job.state === "receiving") showUnfinished(job);
  else if (job.state === "ready") showTable(job);
  else if (job.state === "unusable") showChoice(job.problem);
  else showResult(job);
}

/** Reads the state of an import again after a pause. */
function follow({ id }) {
  turn += 1;
  const mine = turn;
  setTimeout(async () => {
    if (mine !== turn) return;
    try {
      const job = await ask("GET", `/${id}`);
      if (mine === turn) show(job);
    } catch (error) {
      if (!(error instanceof Rejected)) throw error;
      if (mine !== turn) return;
      if (error.status === 404) {
        busy(false);
        showChoice("The server no longer has this import. Choose the table again. Within 24 hours, no person is imported a second time.");
      } else if ([401, 403].includes(error.status)) {
        busy(false);
        showNoKey(error.message);
      } else {
        said.textContent = error.message;
        follow({ id });
      }
    }
  }, PAUSE);
}

function restart(id) {
  during(async () => {
    await call("DELETE", `/${id}`);
    fileName = "";
    showChoice();
  }, showChoice);
}

function showUnfinished({ id }) {
  present(
    "An upload has not ended",
    el("p", {}, "A table was being sent to the server with this key, perhaps in another window. If it is still being sent there, wait until it ends."),
    el("p", { class: "actions" }, button("Discard it, and choose a table", () => restart(id))),
  );
}

/** Returns the list of what a column can contain. */
function choice(column, isObjection, hint) {
  const select = members.cloneNode(true);
  select.setAttribute("aria-label", `Column ${column.letters}${column.name === "" ? "" : `, ${column.name}`}: contains`);
  if (column.member !== "" && ![...select.options].some(({ value }) => value === column.member)) {
    select.append(el("option", { value: column.member }, column.title ?? column.member));
  }
  select.value = column.member === "" ? "ignored" : column.member;
  if (isObjection) {
    select.prepend(el("option", { value: "" }, "Choose …"));
    select.value = "";
    select.setAttribute("aria-invalid", "true");
    select.setAttribute("aria-describedby", hint);
    select.addEventListener("change", () => select.removeAttribute("aria-invalid"), { once: true });
  }
  return select;
}

/** Returns a box to tick with its text. */
function check(text, isChecked) {
  const input = el("input", { id: newId(), type: "checkbox" });
  input.checked = isChecked;
  return { input, node: el("div", { class: "check" }, input, el("label", { for: input.id }, text)) };
}

/** Returns the question for the order of day and month. */
function dateQuestion(letters, chosen) {
  const name = newId();
  const radio = (value, text) => {
    const input = el("input", { id: newId(), type: "radio", name, value });
    input.checked = value === chosen;
    return el("div", { class: "check" }, input, el("label", { for: input.id }, text));
  };
  const where = letters.length === 0 ? "The table" : `Column ${letters.join(" and ")}`;
  return el(
    "fieldset",
    { class: "question" },
    el("legend", {}, `${where} has dates such as 3/4/1990. What is the first number?`),
    radio("day-first", "The day: 3 April 1990, as in most countries"),
    radio("month-first", "The month: March 4, 1990, as in the United States"),
  );
}

const question = (title, ...nodes) => el("div", { class: "question", role: "group", "aria-label": title }, el("h3", {}, title), nodes);

function showTable(job) {
  const { table } = job;
  const { questions } = table;
  const hint = newId();
  const selects = table.columns.map((column) => choice(column, questions.objections.includes(column.letters), hint));
  const unknown = check(
    questions.identity ? "Import the people anyway" : "Also import rows without an e-mail address, a phone number, and a number in another system. If you import them again, these people are created a second time",
    table.accepts_unknown,
  );
  const strict = check("Do not import a row if one of its values cannot be used. Otherwise, only that value is left out", table.is_strict);
  const groups = check("Create the tags and lists that do not exist yet", table.creates_groups);
  const asksDates = questions.dates.length > 0 || table.dates !== "unknown";
  const dates = asksDates ? dateQuestion(questions.dates, table.dates) : null;
  const wrong = alert(table.problem);
  const asked = [
    questions.objections.length === 0 ? null : question(
      "Who must not be contacted?",
      el("p", { id: hint }, `Column ${questions.objections.join(" and ")} probably shows who does not want e-mails, calls or messages. Choose below what it contains. If it is about something else, choose “Leave out”.`),
    ),
    questions.identity ? question(
      "How are people recognised?",
      el("p", {}, "No column contains an e-mail address, a phone number, or a number in another system. If there is such a column, choose it below. Without one, a repeated import creates every person a second time."),
      unknown.node,
    ) : null,
    dates,
    table.groups.length === 0 ? null : question(
      "Tags and lists",
      el("p", {}, `The people get these tags and lists: ${table.groups.join(", ")}${table.groups.length === 20 ? " and others" : ""}. Those that do not exist are left out, unless you create them.`),
      groups.node,
    ),
  ];
  const send = (action) => during(async () => {
    const decision = {
      members: selects.map(({ value }) => value),
      dates: dates?.querySelector(":checked")?.value ?? "unknown",
      is_strict: strict.input.checked,
      accepts_unknown: unknown.input.checked,
      creates_groups: groups.input.checked,
    };
    show(await ask("POST", `/${job.id}/${action}`, JSON.stringify(decision)));
  }, (problem) => { wrong.textContent = problem; });
  const preview = el("div", {}, table.preview === null ? null : question("If you import now", counted(table.preview)));
  const row = (column, at) => el(
    "tr",
    {},
    el("th", { scope: "row" }, column.name === "" ? "(no name)" : column.name, " ", el("span", { class: "letters" }, `(${column.letters})`)),
    el("td", {}, column.examples.length === 0 ? el("span", { class: "soft" }, "no value in the first rows") : el("ul", {}, column.examples.map((text) => el("li", {}, text)))),
    el("td", {}, selects[at]),
  );
  const notes = [
    table.empty > 0 ? `${rows(table.empty)} ${table.empty === 1 ? "is" : "are"} empty.` : "",
    table.damaged > 0 ? `${rows(table.damaged)} cannot be read. They are in the list of rows that are not imported.` : "",
  ];
  present(
    "3. Check what the columns contain",
    el("p", {}, [`${table.format}, ${rows(table.rows)}.`, ...notes.filter(Boolean)].join(" ")),
    el("p", {}, "Compare the examples with the choice for each column, and correct the choice if it is wrong. If letters such as é, ñ or ü look wrong, open the table in your spreadsheet program, save it as an Excel file, and choose that file."),
    asked,
    el(
      "table",
      { class: "mapping" },
      el("caption", {}, "The columns of your table"),
      el("thead", {}, el("tr", {}, ["Column", "Examples", "Contains"].map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, table.columns.map(row)),
    ),
    el("details", {}, el("summary", {}, "More options"), strict.node, questions.identity ? null : unknown.node),
    preview,
    wrong,
    el(
      "p",
      { class: "actions" },
      button(`Import ${rows(table.rows)}`, () => send("run"), "primary"),
      table.can_preview ? button("Show what would change", () => send("preview")) : null,
      button("Choose another table", () => restart(job.id)),
    ),
  );
  // Another choice has other results.
  step.querySelector(".mapping").addEventListener("change", () => preview.remove(), { once: true });
  said.textContent = asked.some((node) => node !== null) ? "Read the questions above the list of columns." : "";
}

function showRunning(job) {
  const bar = el("progress", { max: Math.max(job.total, 1), value: 0, "aria-label": "Progress of the import" });
  const text = el("p", {});
  const stop = button("Stop", async () => {
    stop.disabled = true;
    await call("POST", `/${job.id}/stop`).catch((error) => { said.textContent = error.message; });
  });
  present("4. Importing …", text, bar, el("p", {}, "You can close this window. To see the result, open this page again within 30 minutes, and enter the same key."), el("p", { class: "actions" }, stop));
  shown = {
    id: job.id,
    state: job.state,
    update: ({ all, total, counts }) => {
      bar.value = all;
      text.textContent = `${all.toLocaleString("en")} of ${rows(total)}${counts.rejected > 0 ? `, ${counts.rejected.toLocaleString("en")} not imported` : ""}`;
    },
  };
}

/** The results of rows, in plain words. */
const RESULTS = [
  ["created", "new people"],
  ["updated", "people who existed, with new values"],
  ["unchanged", "people who existed, with nothing new"],
  ["imported", "imported"],
  ["incomplete", "imported without some of their values"],
  ["rejected", "not imported"],
  ["empty", "empty rows"],
];

/** Returns a list of the results that rows have. */
function counted(counts) {
  const found = RESULTS.filter(([result]) => counts[result] > 0);
  const row = ([result, text]) => el("div", {}, el("dt", {}, text), el("dd", {}, counts[result].toLocaleString("en")));
  return found.length === 0 ? null : el("dl", { class: "counts" }, found.map(row));
}

const TITLES = {
  done: "5. The import is complete",
  stopped: "5. The import was stopped",
  failed: "5. The import was interrupted",
};

function showResult(job) {
  const { counts } = job;
  const wrong = alert(job.problem);
  const name = fileName.replace(/\.[^.]*$/, "");
  const download = (report, ending) => () => during(async () => {
    const response = await call("GET", `/${job.id}/${report}`);
    save([await response.blob()], "text/csv", name === "" ? `${ending}.csv` : `${name}-${ending}.csv`);
    said.textContent = "The browser has saved the file.";
  }, (problem) => { wrong.textContent = problem; });
  const resume = () => during(async () => show(await ask("POST", `/${job.id}/run`)), (problem) => { wrong.textContent = problem; });
  const hasEnded = job.state === "done";
  present(
    TITLES[job.state],
    wrong,
    hasEnded ? null : el("p", {}, `${job.all.toLocaleString("en")} of ${rows(job.total)} are done. If you continue within 24 hours, no person is imported a second time.`),
    counted(counts),
    counts.rejected === 0 ? null : question(
      `${rows(counts.rejected)} not imported`,
      el("p", {}, "Nothing of these rows is stored. Download them and open the file in your spreadsheet program. The last column, “error”, shows what is wrong with each row. Correct the rows, save the file, and import it here."),
      button("Download the rows that were not imported", download("rejected", "not-imported")),
    ),
    counts.incomplete === 0 ? null : question(
      `${rows(counts.incomplete)} imported without some values`,
      el("p", {}, "The people are stored, but not the values that the column “error” names. If you need these values, correct them in the file, and import it. The people then get them."),
      job.accepts_unknown ? el("p", {}, "Before that, delete the rows without an e-mail address, a phone number, and a number in another system. Otherwise, these people are created a second time.") : null,
      button("Download the incomplete rows", download("incomplete", "incomplete")),
    ),
    counts.rejected + counts.incomplete === 0 ? null : el("p", { class: "soft" }, "The server deletes these lists when you import another table, and at the latest after 30 minutes."),
    el(
      "p",
      { class: "actions" },
      hasEnded ? null : button("Continue the import", resume, "primary"),
      button("Import another table", () => restart(job.id)),
    ),
  );
  said.textContent = "";
}

/** Shows the import of the key, or asks for a table. */
function begin() {
  said.textContent = "";
  if (auth() === null) {
    turn += 1;
    busy(false);
    showNoKey();
    return;
  }
  during(async (isCurrent) => {
    const { import: job } = await ask("GET", "");
    if (!isCurrent()) return;
    if (job === null) showChoice();
    else show(job);
  }, showNoKey);
}

const skip = (event) => {
  event.preventDefault();
  main.focus();
};
fill(
  document.body,
  el("a", { class: "skip", href: "#main", onclick: skip }, "Skip to the content"),
  el("header", {}, el("strong", {}, "Import"), el("a", { href: docs }, "Documentation"), el("a", { href: explorer }, "Explorer"), keyForm(begin)),
  main,
);
begin();
