// Saves records as a file: those of the page, or all by `next`, as CSV or as lines of JSON.

import { el, fill, newId } from "./dom.js";
import { send } from "./http.js";
import { Digits, itemsOf } from "./json.js";
import { auth } from "./key.js";
import { save } from "./save.js";
import { isOurs, nameOf, server } from "./server.js";

/** A text that a spreadsheet would read as a formula gets a mark. */
const FORMULA = /^[\s]*[=+\-@＝＋－＠]|^[\t\r\n]/;

/** Returns a text as a cell. */
function textCell(text) {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n;]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Returns the value of a column in a record. A number is not a formula, even with a sign. */
function cell(column, record) {
  const inner = column.of(record);
  return inner instanceof Digits ? inner.text : textCell(column.textOf(record));
}

/** How a page of records is written: a head, then a text for each page. */
const FORMATS = {
  CSV: {
    ending: "csv",
    type: "text/csv;charset=utf-8",
    // The byte order mark lets spreadsheets detect the encoding.
    head: (columns) => `\uFEFF${columns.map((column) => textCell(column.head)).join(",")}\r\n`,
    page: (columns, page) => page.records.map((record) => `${columns.map((column) => cell(column, record)).join(",")}\r\n`).join(""),
  },
  NDJSON: {
    ending: "ndjson",
    type: "application/x-ndjson",
    head: () => "",
    // Byte for byte as received; a line break in JSON is never part of a value.
    page: (_, page) => itemsOf(page.text, "_embedded", page.name).map((item) => `${item.replace(/[\r\n]\s*/g, "")}\n`).join(""),
  },
};

/** Returns a page of a collection as `{ text, name, records }`. */
export const pageOf = (done) => {
  const [name, records] = Object.entries(done.json?._embedded ?? {})[0] ?? ["", []];
  return { text: done.text, name, records: [records].flat(), total: Number(done.json?.total_records), next: done.json?._links?.next?.href };
};

/** Returns the form: format, extent and progress. `columns` returns the columns chosen at the start. */
export function exportForm(seen, address, columns) {
  const id = newId();
  const format = el("select", { id }, Object.keys(FORMATS).map((name) => el("option", {}, name)));
  const status = el("p", { role: "status" });
  const bar = el("progress", { max: 1, value: 0, hidden: true, "aria-label": "Progress of the export" });
  const stop = el("button", { type: "button", hidden: true }, "Stop");
  const saved = el("p", {});
  const writer = () => {
    const { ending, type, head, page } = FORMATS[format.value];
    const chosen = columns.ofFile();
    const parts = [head(chosen)];
    const name = `${nameOf(address)}.${ending}`;
    return { add: (one) => parts.push(page(chosen, one)), save: () => save(parts, type, name) };
  };
  const page = () => {
    const file = writer();
    file.add(pageOf(seen));
    file.save();
    fill(saved);
    fill(status, `${count(pageOf(seen).records.length)} of this page saved.`);
  };
  const everything = async () => {
    const file = writer();
    let isStopped = false;
    stop.onclick = () => { isStopped = true; };
    for (const node of [stop, bar]) node.hidden = false;
    for (const button of buttons) button.disabled = true;
    fill(saved);
    stop.focus();
    let read = 0;
    try {
      const tell = (one) => {
        read += one.records.length;
        bar.value = one.total > 0 ? read / one.total : 0;
        fill(status, `${read} of ${Number.isNaN(one.total) ? "?" : one.total} records read.`);
      };
      // Leaving the page also stops the export.
      await walk(begin(address), (one) => { file.add(one); tell(one); }, () => (isStopped ||= !bar.isConnected));
      if (!isStopped) file.save();
      fill(status, isStopped ? `Stopped after ${count(read)}.` : `${count(read)} saved.`);
    } catch (error) {
      isStopped = true;
      fill(status, `${error.message} ${count(read)} read before that.`);
    }
    if (isStopped && read > 0) fill(saved, el("button", { type: "button", onclick: file.save }, `Save these ${count(read)}`));
    for (const node of [stop, bar]) node.hidden = true;
    for (const button of buttons) button.disabled = false;
    buttons[1].focus();
  };
  const buttons = [
    el("button", { type: "button", onclick: page }, "Export this page"),
    el("button", { type: "button", onclick: everything }, "Export everything"),
  ];
  return el(
    "details",
    {},
    el("summary", {}, "Export"),
    el("p", { class: "hint" }, "CSV has the id, the names and the address of people, and the visible columns; NDJSON has every record as received, one on each line."),
    el("div", { class: "copies" }, el("label", { for: id }, "Format"), format, buttons, stop),
    bar,
    status,
    saved,
  );
}

const count = (number) => `${number} record${number === 1 ? "" : "s"}`;

/** Returns the first page, as large as the server allows, with the current filter and order. */
function begin(address) {
  const first = new URL(address);
  for (const name of ["page", "after"]) first.searchParams.delete(name);
  if (server.pageSize > 0) first.searchParams.set("per_page", server.pageSize);
  return first.href;
}

/** Reads all pages, until the last one or until the user stops. */
async function walk(first, use, isStopped) {
  const seen = new Set();
  const key = auth();
  for (let next = first; next !== undefined && !isStopped(); ) {
    if (!isOurs(next) || seen.has(next)) throw new Error("The link to the next page is invalid.");
    seen.add(next);
    const done = await send({ method: "GET", address: next }, key);
    if (done.status !== 200 || done.json === null) throw new Error(`The server returned ${done.status}.`);
    const page = pageOf(done);
    use(page);
    next = page.next;
  }
}
