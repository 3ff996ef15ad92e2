// Responses as tables and lists.

import { el } from "./dom.js";
import { isNested } from "./json.js";
import { hashOf, isOurs } from "./server.js";

const RESERVED = new Set(["_links", "_embedded"]);

/** Values with more leaves are folded: their nodes are created when they are opened. */
const MANY = 30;


/** Returns the fields of a document as a table. */
export function properties(json) {
  const rows = Object.entries(json).filter(([name]) => !RESERVED.has(name));
  if (rows.length === 0) return null;
  return el(
    "table",
    { class: "properties" },
    el("caption", {}, "Properties"),
    el("tbody", {}, rows.map(([name, inner]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value(inner))))),
  );
}

/** Returns the number of leaves of a value, counted up to a limit. */
function leaves(inner, limit = MANY + 1) {
  if (!isNested(inner)) return 1;
  let count = 1;
  for (const member of Object.values(inner)) {
    if (count >= limit) break;
    count += leaves(member, limit - count);
  }
  return count;
}

/** Returns a value: nested ones as lists, long ones folded. */
export function value(inner) {
  if (inner === null) return el("span", { class: "soft" }, "null");
  if (!isNested(inner)) return isOurs(inner) ? el("a", { href: hashOf(inner) }, inner) : String(inner);
  const members = Object.entries(inner);
  if (members.length === 0) return el("span", { class: "soft" }, "empty");
  if (leaves(inner) > MANY) return folded(inner, members.length);
  return list(inner, members);
}

function list(inner, members) {
  if (!Array.isArray(inner)) return el("dl", {}, members.map(([name, member]) => pair(name, member)));
  if (!inner.some(isNested)) return inner.map(String).join(", ");
  return el("ol", { class: "nested" }, inner.map((item) => el("li", {}, value(item))));
}

const pair = (name, member) =>
  el("div", { class: isNested(member) && "deep" }, el("dt", {}, name), el("dd", {}, value(member)));

/** The number of members of a folded value that are shown at a time. */
const STEP = 100;

function folded(inner, count) {
  const rest = Object.entries(inner);
  const node = el("details", { class: "folded" }, el("summary", {}, `${count} ${Array.isArray(inner) ? "element" : "member"}${count === 1 ? "" : "s"}`));
  const more = el("button", { type: "button", class: "small", onclick: () => show() }, "Show more");
  const show = () => {
    const next = rest.splice(0, STEP);
    const nodes = Array.isArray(inner) ? list(next.map(([, member]) => member), next) : list(Object.fromEntries(next), next);
    node.append(el("div", {}, nodes));
    if (rest.length > 0) node.append(more);
    else more.remove();
  };
  node.addEventListener("toggle", show, { once: true });
  return node;
}

const words = (inner) => (isNested(inner) ? "" : String(inner ?? ""));

/** Returns the two people of a pair of duplicates; null for another record. */
export const pairOf = (record) => (typeof record.dismissed === "boolean" && record._embedded ? Object.values(record._embedded).flat() : null);

/** Returns a short title for a record. */
export function title(record) {
  const people = pairOf(record);
  if (people !== null) return people.map(title).join(" and ");
  const name = [record.given_name, record.family_name].map(words).filter(Boolean).join(" ");
  const first = [record.title, record.name, name, record.comments, record.value, record.identifiers?.[0]].map(words).find(Boolean);
  return first ?? "record";
}
