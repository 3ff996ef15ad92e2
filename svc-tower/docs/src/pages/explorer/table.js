// A collection as a table: its columns, its pages, its export.

import { Columns } from "./columns.js";
import { el, fill, newId } from "./dom.js";
import { exportForm, pageOf } from "./export.js";
import { go } from "./go.js";
import { hashOf, isOurs, plainPath, routeOf, server } from "./server.js";
import { title, value } from "./values.js";

/** The offered page sizes, as far as the server allows them. */
const SIZES = [10, 25, 50, 100, 250, 500];

/** Returns the page of a collection: the navigation, the records, and the tools. */
export function collection(done, address) {
  const { records } = pageOf(done);
  const self = records[0]?._links?.self?.href;
  const kind = (isOurs(self) && routeOf(self)?.kind("get", "200")) || plainPath(address);
  const columns = new Columns(kind, records);
  const region = el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Records" });
  const show = () => fill(region, table(records, columns.chosen));
  show();
  const nothing = el("p", { class: "soft" }, "No records.");
  const tools = el("div", { class: "tools" }, columns.form(show), exportForm(done, address, columns));
  const turns = paging(done.json, address, "Pages");
  turns.append(...jumps(done.json, address));
  return { node: el("div", {}, turns, records.length === 0 ? nothing : [tools, region, paging(done.json, address, "Pages (below the records)")]) };
}

function table(records, columns) {
  const row = (record) => {
    const href = record._links?.self?.href;
    const head = el("th", { scope: "row" }, isOurs(href) ? el("a", { href: hashOf(href) }, title(record)) : title(record));
    return el("tr", {}, head, columns.map((column) => el("td", {}, cell(column, record))));
  };
  return el(
    "table",
    { class: "records" },
    el("caption", {}, "Records of this page"),
    el("thead", {}, el("tr", {}, ["record", ...columns.map((column) => column.name)].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, records.map(row)),
  );
}

function cell(column, record) {
  const inner = column.of(record);
  return inner === undefined ? null : value(inner);
}

/** Returns an address with other query parameters. */
function asking(address, parameters) {
  const other = new URL(address);
  other.searchParams.delete("after");
  for (const [name, text] of Object.entries(parameters)) other.searchParams.set(name, text);
  return other.href;
}

/** Returns the number of the page and of all pages; a collection without numbers is navigated by its links. */
const numbersOf = (json) => [Number(json.page), Math.max(Number(json.total_pages), 1)];

function paging(json, address, label) {
  const to = (href, text) => el("button", { type: "button", disabled: !isOurs(href), onclick: () => go(href) }, text);
  const link = (...names) => names.map((name) => json._links?.[name]?.href).find(isOurs);
  const [page, pages] = numbersOf(json);
  const previous = to(link("previous", "prev"), "Previous page");
  const next = to(link("next"), "Next page");
  if (Number.isNaN(page) || Number.isNaN(pages)) {
    return el("nav", { class: "paging", "aria-label": label }, to(link("first"), "First"), previous, next, to(link("last"), "Last"));
  }
  const which = page > pages ? `There is no page ${page}: the last one is ${pages}` : `Page ${page} of ${pages}`;
  const at = (number) => (number === page ? undefined : asking(address, { page: number }));
  return el(
    "nav",
    { class: "paging", "aria-label": label },
    to(at(1), "First"),
    previous,
    el("span", {}, `${which}, ${json.total_records} in all`),
    next,
    to(at(pages), "Last"),
  );
}

/** Returns controls to go to any page and to change the page size. */
function jumps(json, address) {
  const [page, pages] = numbersOf(json);
  return Number.isNaN(page) || Number.isNaN(pages) ? [] : [jump(address, page, pages), size(address, Number(json.per_page))];
}

/** Returns a form to go to a page by its number. */
function jump(address, page, pages) {
  const id = newId();
  const field = el("input", { id, inputmode: "numeric", size: 4, autocomplete: "off" });
  field.value = String(page);
  const submit = (event) => {
    event.preventDefault();
    const wanted = Math.min(Math.max(Number.parseInt(field.value, 10) || 1, 1), pages);
    go(asking(address, { page: wanted }));
  };
  return el("form", { class: "jump", onsubmit: submit, "aria-label": "Go to a page" }, el("label", { for: id }, "Page"), field, el("button", { type: "submit", class: "small" }, "Go"));
}

/** Returns a control for the number of records on a page. */
function size(address, now) {
  const id = newId();
  const sizes = [...new Set([...SIZES.filter((one) => server.pageSize === 0 || one <= server.pageSize), now])].filter((one) => one > 0).toSorted((one, other) => one - other);
  const select = el("select", { id, onchange: () => go(asking(address, { per_page: select.value, page: 1 })) }, sizes.map((one) => el("option", { selected: one === now }, one)));
  return el("span", { class: "keep" }, el("label", { for: id }, "Per page"), select);
}
