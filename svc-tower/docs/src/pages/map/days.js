// Bars with the number of records of a kind that were created on each day. The server counts, with one request for each day.

import { each, total } from "./counting.js";
import { readCapabilities } from "./declared.js";
import { el, fill, newId } from "./dom.js";
import { label, shape } from "./picture.js";
import { isOurs } from "./server.js";

const DAYS = 14;
const DAY = 86_400_000;

const dateOf = (time) => new Date(time).toISOString().slice(0, 10);

const inWords = (name) => label(name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " "), 40);

/** Returns the collections that can be filtered by the creation date; collections of actions are first. */
async function countable(picture) {
  const { collections } = await readCapabilities();
  const all = Object.entries(collections ?? {}).filter(([, it]) => Array.isArray(it?.filter) && it.filter.includes("created_date") && isOurs(it.href));
  const isAction = (name) => picture.querySelector(`a[data-kind="${CSS.escape(name)}"]`)?.dataset.under !== undefined;
  return all.map(([name, it]) => ({ name, href: it.href })).toSorted((one, other) => isAction(other.name) - isAction(one.name));
}

/** Returns the day of the newest record, which is the last one; undefined if there is none. */
async function lastDay(href, read) {
  const count = await total(href, read);
  if (count === null) throw new Error("This needs a key with the right to list these records.");
  if (count === 0) return undefined;
  const address = new URL(href);
  address.search = new URLSearchParams({ per_page: 1, page: count });
  const { json } = await read(address.href);
  const newest = Object.values(json?._embedded ?? {}).flat()[0];
  const time = Date.parse(newest?.created_date);
  return Number.isNaN(time) ? undefined : Math.floor(time / DAY) * DAY;
}

async function counts(href, read) {
  const last = await lastDay(href, read);
  if (last === undefined) return [];
  const days = Array.from({ length: DAYS }, (_, place) => ({ from: last - (DAYS - 1 - place) * DAY, count: 0 }));
  await each(days, async (day) => {
    const [from, to] = [day.from, day.from + DAY].map((time) => new Date(time).toISOString());
    day.count = await total(href, read, { filter: `created_date ge '${from}' and created_date lt '${to}'` });
  });
  return days;
}

/** Returns the bars, and the same data as a table. */
function bars(name, days) {
  const most = Math.max(1, ...days.map(({ count }) => count ?? 0));
  const sum = days.reduce((all, { count }) => all + (count ?? 0), 0);
  const said = `${name} by day, ${dateOf(days[0].from)} to ${dateOf(days.at(-1).from)}: ${sum} in all, at most ${most} on one day`;
  const columns = days.flatMap(({ from, count }, place) => {
    const high = Math.round((80 * (count ?? 0)) / most);
    const x = 8 + place * 34;
    return [
      shape("rect", { x, y: 100 - high, width: 24, height: Math.max(high, 1) }),
      shape("text", { x: x + 12, y: 94 - high }, count === null ? "?" : String(count)),
      shape("text", { x: x + 12, y: 116, class: "detail" }, dateOf(from).slice(8)),
    ];
  });
  const rows = days.map(({ from, count }) => el("tr", {}, el("th", { scope: "row" }, dateOf(from)), el("td", {}, count ?? "not known")));
  return [
    shape("svg", { class: "days", viewBox: `0 0 ${DAYS * 34 + 8} 122`, role: "img", "aria-label": said }, ...columns),
    el("p", { class: "soft" }, `${said}. Days are in UTC.`),
    el("details", {}, el("summary", {}, "As a table"), el("table", {}, el("caption", {}, `${name} by day`), el("tbody", {}, rows))),
  ];
}

/** Returns a choice of collections, with the bars of the chosen one. */
export async function byDay(picture, read) {
  const collections = await countable(picture);
  if (collections.length === 0) return el("p", { class: "soft" }, "No collection of this server can be filtered by created_date.");
  const out = el("div", {});
  const said = el("p", { class: "soft", role: "status" });
  const id = newId();
  const choice = el("select", { id }, collections.map(({ name }, place) => el("option", { value: place }, inWords(name))));
  let turn = 0;
  const show = async (event) => {
    event.preventDefault();
    turn += 1;
    const mine = turn;
    const { name, href } = collections[Number(choice.value)];
    said.textContent = "Counting …";
    try {
      const days = await counts(href, read);
      if (mine !== turn) return;
      fill(out, days.length === 0 ? el("p", {}, "No records yet.") : bars(inWords(name), days));
      said.textContent = "";
    } catch (error) {
      if (mine === turn) said.textContent = error.message;
    }
  };
  return el("form", { class: "by-day", onsubmit: show }, el("label", { for: id }, "Records of"), choice, el("button", { type: "submit" }, `Show ${DAYS} days (${DAYS + 2} requests)`), said, out);
}
